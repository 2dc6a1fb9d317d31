use pcap_file::pcapng::{Block, PcapNgReader};
use sixlo_sim::config::{Chain, Topology};

use super::*;
use crate::test_folder::TestFolder;
use crate::trace::Line;

fn network() -> Network {
    let chain = Chain {
        nodes: 3,
        spacing_m: 5.0,
    };
    Network::build(&Topology::Chain(chain), 1).unwrap()
}

fn frame<'a>(
    number: u64,
    from_us: u64,
    until_us: u64,
    to: To,
    bytes: &'a [u8],
    fates: &'a [(u16, Result<Signal, Loss>)],
) -> OnAir<'a> {
    OnAir {
        sender: 0,
        to,
        from: Time::us(from_us),
        until: Time::us(until_us),
        bytes,
        id: PktId::new(7),
        number,
        fates,
    }
}

const HEARD: Result<Signal, Loss> = Ok(Signal {
    rssi_dbm: -60,
    lqi: 200,
});
const DATA: [u8; 5] = [0x01, 0x00, 0x07, 0, 0];
const ACK: [u8; 5] = [0x02, 0x00, 0x07, 0, 0];

/// What a recorder writes about frames: the lines of the trace, and the packets of the capture.
fn recorded(frames: &[OnAir<'_>]) -> (Vec<String>, Vec<(u64, u32, String)>) {
    let folder = TestFolder::new();
    let network = network();
    let mut recorder = Recorder::new(&network, &config::Link::default());
    let (trace, capture) = (folder.path().join("trace"), folder.path().join("capture"));
    recorder.trace(&trace, &network).unwrap();
    recorder
        .capture(&capture, LinkType::WithFcs, 26, &network, None)
        .unwrap();
    for frame in frames {
        recorder.on_air(frame);
    }
    recorder.finish().unwrap();
    let lines = std::fs::read_to_string(trace).unwrap();
    let mut packets = Vec::new();
    let bytes = std::fs::read(capture).unwrap();
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            let comment = format!("{:?}", packet.options);
            packets.push((packet.timestamp.as_micros() as u64, packet.interface_id, comment));
        }
    }
    (lines.lines().skip(1).map(str::to_owned).collect(), packets)
}

#[test]
fn a_capture_is_in_the_order_in_which_frames_began() {
    // The second ends first.
    let frames = [
        frame(2, 1_000, 1_400, To::Nobody, &ACK, &[]),
        frame(1, 500, 4_700, To::Nobody, &DATA, &[]),
        frame(3, 9_000, 9_400, To::Nobody, &ACK, &[]),
    ];
    let (_, packets) = recorded(&frames);
    let times: Vec<u64> = packets.iter().map(|packet| packet.0).collect();
    assert_eq!(times, [500, 1_000, 9_000]);
}

#[test]
fn a_frame_tells_where_it_was_lost_of_those_that_it_was_for() {
    let fates = [(1, Err(Loss::Collision)), (2, Err(Loss::FrameError))];
    let (lines, packets) = recorded(&[frame(1, 0, 500, To::Node(2), &DATA, &fates)]);
    assert_eq!(
        lines,
        [
            "500000,1,7,air,sent,3,kind=data len=5 airtime_ns=500000 carries=other",
            "500000,3,7,air,lost,1,kind=data cause=frame-error"
        ]
    );
    assert!(
        packets[0].2.contains("datagram 7; lost at node 3: frame-error"),
        "{}",
        packets[0].2
    );
    assert!(!packets[0].2.contains("node 2"));
}

#[test]
fn a_broadcast_tells_what_became_of_it_at_every_receiver() {
    let fates = [(1, HEARD), (2, Err(Loss::Weak))];
    let (lines, packets) = recorded(&[frame(1, 0, 500, To::All, &DATA, &fates)]);
    let events: Vec<_> = lines
        .iter()
        .map(|line| Line::parse(line).unwrap().event)
        .collect();
    assert_eq!(events, ["sent", "received", "lost"]);
    assert!(packets[0].2.contains("lost at node 3: below-sensitivity"));
}

#[test]
fn an_acknowledgement_is_for_the_sender_of_the_last_frame() {
    let heard_by_all = [(0, HEARD), (2, HEARD)];
    let data = OnAir {
        sender: 2,
        ..frame(1, 0, 500, To::Node(1), &DATA, &[(1, HEARD)])
    };
    let ack = OnAir {
        sender: 1,
        ..frame(2, 700, 1_100, To::Awaiting, &ACK, &heard_by_all)
    };
    let (lines, _) = recorded(&[data, ack]);
    assert_eq!(
        lines[2],
        "1100000,2,7,air,sent,3,kind=ack len=5 airtime_ns=400000 carries=ack"
    );
    assert_eq!(lines[3], "1100000,3,7,air,received,2,kind=ack");
    assert_eq!(lines.len(), 4);
}

#[test]
fn interfaces_are_named_by_number_and_name() {
    assert_eq!(interface_name(3, "3"), "node 3");
    assert_eq!(interface_name(3, "m3-57"), "node 3 (m3-57)");
}
