//! Captures as tshark reads them.

#[path = "../../sixlo/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use sixlo_lab::campaign::{CAPTURE, TRACE};
use sixlo_lab::cli::shipped::{self, Shipped};
use sixlo_lab::execute::{Recording, simulate};
use sixlo_lab::pcapng::{LinkType, Packet, Writer};
use sixlo_lab::results::Tables;
use sixlo_lab::trace::Line;
use sixlo_sim::config::{Config, FaultKind};

/// The named fields of each frame, or nothing where tshark is missing.
fn fields_of(capture: &[u8], fields: &str) -> Option<Vec<Vec<String>>> {
    let mut args = vec![
        "-r",
        "-",
        "-T",
        "fields",
        "-E",
        "separator=|",
        "-E",
        "occurrence=l",
    ];
    // Context 0 as every node has it, checksums checked, and the format of the check sequence where no TAP header says it.
    for option in [
        "6lowpan.context0:fd00::/64",
        "udp.check_checksum:TRUE",
        "wpan.fcs_format:ITU-T CRC-16",
    ] {
        args.extend(["-o", option]);
    }
    for field in fields.split_whitespace() {
        args.extend(["-e", field]);
    }
    let out = support::tool("tshark", &args, capture, "apt install tshark")?;
    let text = String::from_utf8(out).unwrap();
    Some(
        text.lines()
            .map(|line| line.split('|').map(str::to_owned).collect())
            .collect(),
    )
}

#[test]
fn tshark_reads_channel_signal_strength_check_sequence_and_comment() {
    let mut writer = Writer::new(Vec::new(), LinkType::Tap, "sixlo test").unwrap();
    for name in ["n1", "n2"] {
        writer.interface(name, None).unwrap();
    }
    let packet = Packet {
        interface: 1,
        time_ns: 5_000_000_123,
        channel: 26,
        rss_dbm: Some(-70.0),
        frame: &[0x02, 0x00, 0x07, 0x07, 0xc1], // an acknowledgement
        comment: "lost at n3: collision",
    };
    writer.packet(&packet).unwrap();
    let capture = writer.into_inner().unwrap();
    let fields = "frame.time_epoch frame.interface_name frame.comment wpan-tap.fcs_type wpan-tap.rss \
                  wpan-tap.ch_num wpan-tap.ch_page wpan.frame_type wpan.seq_no wpan.fcs_ok";
    let Some(frames) = fields_of(&capture, fields) else {
        return;
    };
    let expected = [
        "5.000000123",
        "n2",
        "lost at n3: collision",
        "1",
        "-70",
        "26",
        "0",
        "0x0002",
        "7",
        "1",
    ];
    assert_eq!(frames, [expected]);
}

/// A short run of the configuration: two datagrams a source, without the faults that change bytes.
fn shortened(config: &Config) -> Config {
    let mut config = config.clone();
    for traffic in &mut config.traffic {
        traffic.count = 2;
    }
    for echo in &mut config.echo {
        echo.count = 2;
    }
    config.faults.retain(|fault| fault.kind != FaultKind::Corrupt);
    config.end_ms = config.end_ms.map(|end_ms| end_ms.min(30_000));
    config
}

struct Recorded {
    capture: Vec<u8>,
    trace: String,
    tables: Tables,
}

/// Runs the last point of a scenario, which is the one that its users get a capture of.
fn recorded(shipped: &Shipped, link_type: LinkType) -> Recorded {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("sixlo-tshark-{}-{}", std::process::id(), shipped.name));
    fs::create_dir_all(&folder).unwrap();
    let scenario = shipped.scenario(None).unwrap();
    let config = shortened(&scenario.points.last().unwrap().config);
    let wanted = Recording {
        trace: true,
        capture: Some(link_type),
    };
    let tables = simulate(&config, scenario.seeds[0], wanted, &folder).expect("the run balances");
    let recorded = Recorded {
        capture: fs::read(folder.join(CAPTURE)).unwrap(),
        trace: fs::read_to_string(folder.join(TRACE)).unwrap(),
        tables,
    };
    fs::remove_dir_all(folder).unwrap();
    recorded
}

/// Sender, receiver and tag of a datagram on one hop.
type Hop = (u16, u16, u16);

/// The fragmented datagrams of which every byte was on the air, by our own trace; and those that were put together.
fn hops_of(trace: &str) -> (BTreeSet<Hop>, BTreeSet<Hop>) {
    let mut current: BTreeMap<u16, (Hop, u16, u16, u16)> = BTreeMap::new();
    let mut sent: BTreeMap<Hop, (u16, BTreeMap<u16, u16>)> = BTreeMap::new();
    let mut completed = BTreeSet::new();
    for line in trace.lines().skip(1) {
        let line = Line::parse(line).unwrap();
        let number = |key| {
            line.word(key)
                .and_then(|word| word.parse::<u16>().ok())
                .unwrap_or(0)
        };
        let peer = line.peer.parse().unwrap_or(0);
        match line.event {
            "fragment-out" => {
                let hop = (line.node, peer, number("tag"));
                current.insert(line.node, (hop, number("size"), number("offset"), number("len")));
            }
            "compressed" => {
                current.remove(&line.node);
            }
            "sent" if line.layer == "air" && line.word("kind") == Some("data") => {
                if let Some((hop, size, offset, len)) = current.get(&line.node) {
                    let (of, pieces) = sent.entry(*hop).or_default();
                    *of = *size;
                    pieces.insert(*offset, *len);
                }
            }
            "fragment-in" if line.word("fate") == Some("completed") => {
                completed.insert((peer, line.node, number("tag")));
            }
            _ => {}
        }
    }
    let whole = sent
        .into_iter()
        .filter(|(_, (size, pieces))| pieces.values().sum::<u16>() == *size);
    (whole.map(|(hop, _)| hop).collect(), completed)
}

/// The number of a node from its EUI-64.
fn node(eui64: &str) -> u16 {
    let (rest, low) = eui64.rsplit_once(':').unwrap();
    let (_, high) = rest.rsplit_once(':').unwrap();
    u16::from_str_radix(&format!("{high}{low}"), 16).unwrap()
}

fn check(shipped: &Shipped, link_type: LinkType) {
    let recorded = recorded(shipped, link_type);
    let name = shipped.name;
    let fields = "_ws.malformed wpan.fcs_ok wpan.src64 wpan.dst64 6lowpan.frag.tag 6lowpan.reassembled.length \
                  udp.checksum.status udp.payload icmpv6.type icmpv6.checksum.status data.data \
                  6lowpan.rfrag.ack_bitmask 6lowpan.rfrag.size";
    let Some(frames) = fields_of(&recorded.capture, fields) else {
        return;
    };
    // Where the run ends in the middle of its traffic, so it may in the middle of a frame, which then is not captured.
    let run = &recorded.tables.run;
    let unfinished = run.transmissions - frames.len() as u64;
    assert!(
        unfinished <= run.in_flight,
        "{name}: {unfinished} frames are missing"
    );
    let (mut reassembled, mut payloads) = (BTreeSet::new(), 0);
    for (number, frame) in (1..).zip(&frames) {
        let [
            malformed,
            fcs,
            from,
            to,
            tag,
            length,
            udp,
            payload,
            icmpv6,
            icmpv6_sum,
            data,
            acknowledged,
            recoverable,
        ] = frame.as_slice()
        else {
            panic!("{name}: frame {number}: {frame:?}")
        };
        // tshark reads one byte too far behind an acknowledgement of RFC 8931 and behind an abort, and takes what comes to
        // port 5683 for CoAP; what such a datagram carries is checked below.
        let known = !acknowledged.is_empty() || recoverable == "0" || udp == "1";
        assert!(
            (malformed.is_empty() || known) && fcs == "1",
            "{name}: frame {number}: {frame:?}"
        );
        if !length.is_empty() && recoverable.is_empty() {
            let tag = u16::from_str_radix(tag.trim_start_matches("0x"), 16).unwrap();
            reassembled.insert((node(from), node(to), tag));
        }
        if !udp.is_empty() {
            assert_eq!(udp, "1", "{name}: frame {number}: the checksum");
            let payload = support::unhex(payload);
            assert!(
                sixlo_sim::app::check(&payload).is_some(),
                "{name}: frame {number}: {payload:02x?}"
            );
            payloads += 1;
        }
        if matches!(icmpv6.as_str(), "128" | "129") {
            assert_eq!(icmpv6_sum, "1", "{name}: frame {number}: the checksum");
            let payload = support::unhex(data);
            assert!(
                sixlo_sim::app::check(&payload).is_some(),
                "{name}: frame {number}: {payload:02x?}"
            );
            payloads += 1;
        }
    }
    let (whole, completed) = hops_of(&recorded.trace);
    assert_eq!(reassembled, whole, "{name}: datagrams a hop");
    assert!(
        completed.is_subset(&whole),
        "{name}: put together from pieces that were not on the air"
    );
    assert!(
        payloads >= recorded.tables.run.delivered,
        "{name}: {payloads} payloads"
    );
    println!(
        "{name}: {} frames, {} reassembled, {payloads} payloads",
        frames.len(),
        whole.len()
    );
}

#[test]
fn tshark_finds_in_every_shipped_scenario_what_our_own_trace_tells() {
    std::thread::scope(|scope| {
        let (even, odd): (Vec<_>, Vec<_>) = (0..).zip(shipped::ALL).partition(|(number, _)| number % 2 == 0);
        for half in [even, odd] {
            scope.spawn(|| {
                for (_, shipped) in half {
                    check(shipped, LinkType::Tap);
                }
            });
        }
    });
}

#[test]
fn tshark_reads_a_capture_without_tap_headers_as_well() {
    check(shipped::find("chain").unwrap(), LinkType::WithFcs);
}
