//! MAC frames, frame check sequences and the headers of RFC 4944 against those of scapy 2.8, both ways: scapy takes
//! apart what is written here, and puts it together again from the fields it found.
//!
//! What both know: data, command and beacon frames with a destination address or none in beacons, auxiliary security
//! headers, immediate acknowledgements, beacons without guaranteed time slots, frame check sequences; fragment, mesh
//! and broadcast headers. What scapy does not know, or otherwise than the standard, and what is therefore left out here:
//! - versions: it takes version 2015 for the older ones, so that only those layouts are compared that are the same;
//! - data and command frames without destination: it looks for a destination PAN identifier all the same;
//! - the list of guaranteed time slots, which it takes for the pending addresses;
//! - the end of the payload of a secured frame: it leaves the message integrity code in it;
//! - a mesh header with addresses of two kinds: it reads the final destination by the flag of the originator (RFC 4944
//!   section 5.2 has a flag for each), and the deep form of hops left;
//! - the extension byte of RFC 6282 and pages.

mod support;

use std::fmt::Write;

use sixlo::wire::addr::LinkAddr;
use sixlo::wire::fcs;
use sixlo::wire::ieee802154::beacon::{Beacon, Superframe};
use sixlo::wire::ieee802154::security::{KeyId, Level, Security};
use sixlo::wire::ieee802154::{FrameType, Header, Version};
use sixlo::wire::lowpan::frag::Fragment;
use sixlo::wire::lowpan::mesh::{Broadcast, Mesh};
use support::{hex, scapy};

/// For each line of a kind and bytes in hexadecimal, writes the fields found in them, `|`, and the bytes made of those
/// fields.
const SCRIPT: &str = r#"
import sys, logging
logging.getLogger("scapy").setLevel(logging.CRITICAL)
from scapy.config import conf
from scapy.packet import Raw
from scapy.layers.dot15d4 import *
from scapy.layers.sixlowpan import *
conf.dot15d4_protocol = "sixlowpan"

def fields(layer):
    return {f.name: layer.getfieldval(f.name) for f in layer.fields_desc if layer.getfieldval(f.name) is not None}

def again(layer, rest):
    return type(layer)(**{k: v for k, v in fields(layer).items()}) / Raw(rest)

def mode(m, a):
    return "-" if m == 0 else ("%04x" if m == 2 else "%016x") % a

def security(p):
    if not p.underlayer.fcf_security: return "-"
    a = p.aux_sec_header
    source = {2: lambda: "%08x" % a.sec_keyid_keysource, 3: lambda: "%016x" % a.sec_keyid_keysource}
    key = source.get(a.sec_sc_keyidmode, lambda: "")()
    if a.sec_sc_keyidmode: key += "/%02x" % a.sec_keyid_keyindex
    return "%d,%08x,%s" % (a.sec_sc_seclevel, a.sec_framecounter, key)

def mac(b):
    p = Dot15d4(b)
    if p.fcf_frametype == 2:
        head = type(p)(**fields(p))
        return "2 %d %d" % (p.fcf_pending, p.seqnum), bytes(head)
    q = p.payload
    rest = bytes(q.payload.original)
    if p.fcf_frametype == 0:
        text = "- - %04x %s" % (q.src_panid, mode(p.fcf_srcaddrmode, q.src_addr))
        text += " %d %d %d %d%d%d gts%d%d" % (q.sf_beaconorder, q.sf_sforder, q.sf_finalcapslot,
            q.sf_battlifeextend, q.sf_pancoord, q.sf_assocpermit, q.gts_spec_permit, q.gts_spec_desccount)
        text += " %s" % ",".join(["%04x" % a for a in q.pa_short_addresses] + ["%016x" % a for a in q.pa_long_addresses])
    else:
        src_pan = "%04x" % q.src_panid if p.fcf_srcaddrmode and not p.fcf_panidcompress else "-"
        src = mode(p.fcf_srcaddrmode, q.src_addr) if p.fcf_srcaddrmode else "-"
        text = "%04x %s %s %s" % (q.dest_panid, mode(p.fcf_destaddrmode, q.dest_addr), src_pan, src)
    if p.fcf_frametype == 3:
        rest = b[len(b) - len(q.payload.original):]
        text += " cmd%02x" % q.cmd_id
    text = "%d %d %d %d %s %s %s" % (p.fcf_frametype, p.fcf_pending, p.fcf_ackreq, p.seqnum, text, security(q), rest.hex())
    return text, bytes(type(p)(**fields(p)) / again(q, rest))

def lowpan(b):
    p = SixLoWPAN(b)
    rest = bytes(p.payload.original)
    if isinstance(p, LoWPANFragmentationFirst):
        text = "frag1 %d %04x" % (p.datagramSize, p.datagramTag)
    elif isinstance(p, LoWPANFragmentationSubsequent):
        text = "fragn %d %04x %d" % (p.datagramSize, p.datagramTag, p.datagramOffset)
    elif isinstance(p, LoWPANMesh):
        text = "mesh %d %s %s" % (p.hopsLeft, mode(3 - p.v, p.src), mode(3 - p.f, p.dst))
    elif isinstance(p, LoWPANBroadcast):
        text = "bc0 %d" % p.seq
    else:
        text = type(p).__name__
    return text + " " + rest.hex(), bytes(again(p, rest))

def check(b):
    p = Dot15d4FCS(b)
    return "%04x" % p.fcs, b[:-2] + p.compute_fcs(b[:-2])

out = []
for line in sys.stdin.read().splitlines():
    kind, data = line.split(" ")
    text, built = {"mac": mac, "lowpan": lowpan, "fcs": check}[kind](bytes.fromhex(data))
    out.append(text + "|" + built.hex())
print("\n".join(out))
"#;

/// A case: what scapy gets, and what it should answer.
struct Case {
    kind: &'static str,
    bytes: Vec<u8>,
    answer: String,
}

fn judge(cases: &[Case]) {
    let mut input = String::new();
    for case in cases {
        writeln!(input, "{} {}", case.kind, hex(&case.bytes)).expect("a string takes all");
    }
    let Some(output) = scapy(SCRIPT, input.as_bytes()) else {
        return;
    };
    let output = String::from_utf8(output).expect("text");
    let answers: Vec<_> = output.lines().collect();
    assert_eq!(answers.len(), cases.len(), "one answer a case");
    for (case, answer) in cases.iter().zip(answers) {
        let expected = format!("{}|{}", case.answer, hex(&case.bytes));
        assert_eq!(answer, expected, "{} {}", case.kind, hex(&case.bytes));
    }
}

/// Pseudo-random numbers, so that every run has the same cases (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn bytes(&mut self, bound: u64) -> Vec<u8> {
        let len = self.below(bound);
        (0..len).map(|_| self.next() as u8).collect()
    }

    fn addr(&mut self) -> LinkAddr {
        if self.chance() {
            LinkAddr::Short(self.next() as u16)
        } else {
            LinkAddr::Extended(self.next().to_be_bytes())
        }
    }

    fn security(&mut self) -> Security {
        let levels = [
            Level::None,
            Level::Mic32,
            Level::Mic64,
            Level::Mic128,
            Level::EncMic32,
            Level::EncMic128,
        ];
        let index = self.next() as u8;
        let key = match self.below(4) {
            0 => KeyId::Implicit,
            1 => KeyId::Index(index),
            2 => KeyId::Source4((self.next() as u32).to_be_bytes(), index),
            _ => KeyId::Source8(self.next().to_be_bytes(), index),
        };
        Security {
            level: levels[self.below(levels.len() as u64) as usize],
            key,
            frame_counter: Some(self.next() as u32),
            asn_in_nonce: false,
        }
    }
}

fn addr_text(addr: LinkAddr) -> String {
    match addr {
        LinkAddr::None => "-".into(),
        LinkAddr::Short(short) => format!("{short:04x}"),
        LinkAddr::Extended(eui) => hex(&eui),
    }
}

fn pan_text(pan: Option<u16>) -> String {
    pan.map_or("-".into(), |pan| format!("{pan:04x}"))
}

/// As the script writes it, which takes key sources for little-endian numbers.
fn security_text(security: Option<Security>) -> String {
    let Some(security) = security else {
        return "-".into();
    };
    let key = match security.key {
        KeyId::Implicit => String::new(),
        KeyId::Index(index) => format!("/{index:02x}"),
        KeyId::Source4(source, index) => format!("{:08x}/{index:02x}", u32::from_le_bytes(source)),
        KeyId::Source8(source, index) => format!("{:016x}/{index:02x}", u64::from_le_bytes(source)),
    };
    format!(
        "{},{:08x},{key}",
        security.level as u8,
        security.frame_counter.unwrap_or_default()
    )
}

/// A frame with this header and payload, and zeros for a message integrity code, and what scapy should find in it:
/// `content` stands between addresses and security.
fn mac_case(header: &Header<'_>, payload: &[u8], content: &str, found: &[u8]) -> Case {
    let mut out = [0; 125];
    let len = header.emit(&mut out).expect("the header can be written");
    let mut bytes = out[..len].to_vec();
    bytes.extend(payload);
    let mic = vec![0; header.security.map_or(0, |security| security.level.mic_len())];
    bytes.extend(&mic);
    assert_eq!(Header::parse(&bytes), Ok((*header, payload)));
    let answer = format!(
        "{} {} {} {} {} {} {} {}{content} {} {}{}",
        header.frame_type as u8,
        u8::from(header.frame_pending),
        u8::from(header.ack_request),
        header.sequence.expect("scapy knows no suppression"),
        pan_text(header.dst_pan),
        addr_text(header.dst),
        pan_text(header.src_pan),
        addr_text(header.src),
        security_text(header.security),
        hex(found),
        hex(&mic),
    );
    Case {
        kind: "mac",
        bytes,
        answer,
    }
}

fn data_and_command_frames(cases: &mut Vec<Case>) {
    let mut numbers = Numbers(1);
    for _ in 0..80 {
        let (dst, src) = (numbers.addr(), numbers.addr());
        let version = [Version::V2003, Version::V2006][numbers.below(2) as usize];
        let mut header = Header {
            version,
            frame_pending: numbers.chance(),
            ack_request: numbers.chance(),
            src_pan: numbers.chance().then(|| numbers.next() as u16),
            ..Header::data(numbers.next() as u8, numbers.next() as u16, dst, src)
        };
        if numbers.below(8) == 0 {
            (header.src, header.src_pan) = (LinkAddr::None, None);
        }
        if version == Version::V2006 && numbers.below(3) == 0 {
            header.security = Some(numbers.security());
        }
        // A dispatch that scapy does not look into.
        let payload = [&[0x00][..], &numbers.bytes(30)].concat();
        cases.push(mac_case(&header, &payload, "", &payload));
        header.frame_type = FrameType::Command;
        // A data request, behind which scapy expects nothing of its own.
        cases.push(mac_case(&header, &[4, 0, 1], " cmd04", &[0, 1]));
    }
}

fn acknowledgements_and_beacons(cases: &mut Vec<Case>) {
    let mut numbers = Numbers(2);
    for _ in 0..50 {
        let (sequence, pending) = (numbers.next() as u8, numbers.chance());
        let mut out = [0; 3];
        Header::immediate_ack(sequence, pending)
            .emit(&mut out)
            .expect("room");
        let answer = format!("2 {} {sequence}", u8::from(pending));
        cases.push(Case {
            kind: "mac",
            bytes: out.to_vec(),
            answer,
        });

        let short: Vec<[u8; 2]> = (0..numbers.below(4))
            .map(|_| (numbers.next() as u16).to_le_bytes())
            .collect();
        let extended: Vec<[u8; 8]> = (0..numbers.below(4))
            .map(|_| numbers.next().to_le_bytes())
            .collect();
        let superframe = Superframe {
            beacon_order: numbers.below(16) as u8,
            superframe_order: numbers.below(16) as u8,
            final_cap_slot: numbers.below(16) as u8,
            battery_life_extension: numbers.chance(),
            pan_coordinator: numbers.chance(),
            association_permit: numbers.chance(),
        };
        let beacon = Beacon {
            superframe,
            gts_permit: numbers.chance(),
            pending_short: &short,
            pending_extended: &extended,
            ..Beacon::default()
        };
        let mut out = [0; 80];
        let len = beacon.emit(&mut out).expect("room");
        let header = Header {
            frame_type: FrameType::Beacon,
            sequence: Some(sequence),
            src_pan: Some(numbers.next() as u16),
            src: numbers.addr(),
            ..Header::default()
        };
        let content = format!(
            " {} {} {} {}{}{} gts{}0 {}",
            superframe.beacon_order,
            superframe.superframe_order,
            superframe.final_cap_slot,
            u8::from(superframe.battery_life_extension),
            u8::from(superframe.pan_coordinator),
            u8::from(superframe.association_permit),
            u8::from(beacon.gts_permit),
            beacon.pending().map(addr_text).collect::<Vec<_>>().join(","),
        );
        cases.push(mac_case(&header, &out[..len], &content, &[]));
    }
}

fn frame_check_sequences(cases: &mut Vec<Case>) {
    let mut numbers = Numbers(3);
    for _ in 0..80 {
        // A command frame's front, so that scapy finds fields in it, and anything.
        let mut bytes = [&[0x03, 0x08, 1, 2, 3, 4, 5, 4][..], &numbers.bytes(110), &[0; 2]].concat();
        let len = bytes.len() - 2;
        fcs::append(&mut bytes, len).expect("room");
        let answer = format!("{:04x}", fcs::compute(&bytes[..len]));
        cases.push(Case {
            kind: "fcs",
            bytes,
            answer,
        });
    }
}

fn headers_of_rfc_4944(cases: &mut Vec<Case>) {
    let mut numbers = Numbers(4);
    for _ in 0..50 {
        let rest = [&[0x00][..], &numbers.bytes(20)].concat();
        let mut case = |text: String, header: &[u8]| {
            let answer = format!("{text} {}", hex(&rest));
            cases.push(Case {
                kind: "lowpan",
                bytes: [header, &rest].concat(),
                answer,
            });
        };
        let fragment = Fragment {
            datagram_size: numbers.below(0x800) as u16,
            datagram_tag: numbers.next() as u16,
            datagram_offset: numbers.below(256) as u8,
        };
        let Fragment {
            datagram_size: size,
            datagram_tag: tag,
            datagram_offset: offset,
        } = fragment;
        let text = if fragment.is_first() {
            format!("frag1 {size} {tag:04x}")
        } else {
            format!("fragn {size} {tag:04x} {offset}")
        };
        let mut out = [0; 18];
        let len = fragment.emit(&mut out).expect("room");
        case(text, &out[..len]);
        let first = Fragment {
            datagram_offset: 0,
            ..fragment
        };
        let len = first.emit(&mut out).expect("room");
        case(format!("frag1 {size} {tag:04x}"), &out[..len]);

        let (originator, final_destination) = if numbers.chance() {
            (
                LinkAddr::Short(numbers.next() as u16),
                LinkAddr::Short(numbers.next() as u16),
            )
        } else {
            (
                LinkAddr::Extended(numbers.next().to_be_bytes()),
                LinkAddr::Extended(numbers.next().to_be_bytes()),
            )
        };
        let mesh = Mesh {
            hops_left: numbers.below(15) as u8,
            originator,
            final_destination,
        };
        let len = mesh.emit(&mut out).expect("room");
        let (from, to) = (addr_text(originator), addr_text(final_destination));
        case(format!("mesh {} {from} {to}", mesh.hops_left), &out[..len]);

        let broadcast = Broadcast {
            sequence: numbers.next() as u8,
        };
        let len = broadcast.emit(&mut out).expect("room");
        case(format!("bc0 {}", broadcast.sequence), &out[..len]);
    }
}

/// One test for all of them, since starting scapy takes longer than the rest.
#[test]
fn scapy_reads_and_writes_the_same_frames_and_headers() {
    let mut cases = Vec::new();
    data_and_command_frames(&mut cases);
    acknowledgements_and_beacons(&mut cases);
    frame_check_sequences(&mut cases);
    headers_of_rfc_4944(&mut cases);
    judge(&cases);
}
