//! The header of TCP and its options against scapy, both ways.

mod support;

use std::fmt::Write as _;

use sixlo::wire::tcp::options::{Block, Options, Timestamps};
use sixlo::wire::tcp::seq::Seq;
use sixlo::wire::tcp::{Flags, HEADER_LEN, Header};
use support::{hex, scapy, unhex};

/// Reads segments in hexadecimal digits, one a line, and writes what scapy finds in them: a line of numbers for the
/// fields, then the options by name.
const READ: &str = r#"
import sys
from scapy.layers.inet import TCP
for line in sys.stdin:
    t = TCP(bytes.fromhex(line))
    print(t.sport, t.dport, t.seq, t.ack, t.dataofs, t.reserved, int(t.flags), t.window, t.chksum, t.urgptr,
          repr(t.options).replace(" ", ""))
"#;

/// Reads lines of Python that give the arguments of a segment, and writes the bytes.
const WRITE: &str = r#"
import sys
from scapy.layers.inet import TCP
for line in sys.stdin:
    print(bytes(TCP(**eval(line))).hex())
"#;

fn run(script: &str, lines: &str) -> Option<Vec<String>> {
    let out = scapy(script, lines.as_bytes())?;
    let out = String::from_utf8(out).expect("text");
    Some(out.lines().map(str::to_owned).collect())
}

/// Headers and options that take turns: all kinds of options that segments have, all flags.
fn segments() -> Vec<(Header, Options)> {
    let mut segments = Vec::new();
    for turn in 0..=255_u32 {
        let flags = Flags(turn as u8);
        let mut options = Options::NONE;
        if turn & 4 != 0 {
            options.timestamps = Some(Timestamps {
                value: turn.wrapping_mul(0x9e37_79b9),
                echo: !turn,
            });
        }
        if flags.contains(Flags::SYN) {
            options.mss = (turn & 8 != 0).then_some(turn as u16 * 7);
            options.sack_permitted = turn & 16 != 0;
        } else {
            for block in 0..(turn / 8 % 5).min(options.sack_room() as u32) {
                let left = Seq(turn.wrapping_mul(0x1234_5678)) + block * 0x1000;
                options.sack.push(Block {
                    left,
                    right: left + 100,
                });
            }
        }
        let header = Header {
            src_port: turn as u16 * 251,
            dst_port: 5683,
            seq: Seq(turn.wrapping_mul(0x0101_0101)),
            ack: Seq(!turn),
            options_len: options.emit_len() as u8,
            flags,
            window: turn as u16 * 257,
            checksum: 0xabcd,
            urgent: turn as u16 * 3,
        };
        segments.push((header, options));
    }
    segments
}

fn bytes(header: &Header, options: &Options) -> Vec<u8> {
    let mut out = [0; 40];
    let len = options.emit(&mut out).unwrap();
    [&header.emit()[..], &out[..len]].concat()
}

/// The options as scapy lists them, padding apart.
fn listed(options: &Options) -> Vec<String> {
    let mut list = Vec::new();
    if let Some(mss) = options.mss {
        list.push(format!("('MSS',{mss})"));
    }
    if options.sack_permitted {
        list.push("('SAckOK',b'')".to_owned());
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        list.push(format!("('Timestamp',({value},{echo}))"));
    }
    let blocks: Vec<_> = options.sack.as_slice().iter().collect();
    if !blocks.is_empty() {
        let edges: Vec<_> = blocks
            .iter()
            .map(|block| format!("{},{}", block.left.0, block.right.0))
            .collect();
        list.push(format!("('SAck',({}))", edges.join(",")));
    }
    list
}

#[test]
fn scapy_reads_what_we_write() {
    let segments = segments();
    let mut lines = String::new();
    for (header, options) in &segments {
        writeln!(lines, "{}", hex(&bytes(header, options))).unwrap();
    }
    let Some(theirs) = run(READ, &lines) else { return };
    assert_eq!(theirs.len(), segments.len());
    for ((header, options), theirs) in segments.iter().zip(theirs) {
        let offset = header.len() / 4;
        let fields = format!(
            "{} {} {} {} {offset} 0 {} {} {} {} ",
            header.src_port,
            header.dst_port,
            header.seq.0,
            header.ack.0,
            header.flags.0,
            header.window,
            header.checksum,
            header.urgent
        );
        let list = theirs.strip_prefix(&fields);
        let list = list.unwrap_or_else(|| panic!("{theirs} is not {fields}"));
        let inner = list.trim_start_matches('[').trim_end_matches(']');
        let list = inner.replace("('NOP',None)", "").replace("('EOL',None)", "");
        let list: Vec<_> = list.split(',').filter(|part| !part.is_empty()).collect();
        assert_eq!(list.join(","), listed(options).join(","), "{header:?}");
    }
}

#[test]
fn we_read_what_scapy_writes() {
    let segments = segments();
    let mut lines = String::new();
    for (turn, (header, options)) in segments.iter().enumerate() {
        // Scapy's own order and alignment: none at all, with window scale in between.
        let mut list = listed(options);
        list.reverse();
        let taken: usize = options.emit_len();
        if taken <= 32 {
            list.insert(turn % (list.len() + 1), "('WScale',7)".to_owned());
            list.insert(turn % (list.len() + 1), "('NOP',None)".to_owned());
        }
        writeln!(
            lines,
            "dict(sport={},dport={},seq={},ack={},flags={},window={},chksum={},urgptr={},options=[{}])",
            header.src_port,
            header.dst_port,
            header.seq.0,
            header.ack.0,
            header.flags.0,
            header.window,
            header.checksum,
            header.urgent,
            list.join(",")
        )
        .unwrap();
    }
    let Some(theirs) = run(WRITE, &lines) else { return };
    assert_eq!(theirs.len(), segments.len());
    for ((header, options), theirs) in segments.iter().zip(theirs) {
        let theirs = unhex(&theirs);
        let (head, rest) = theirs.split_first_chunk::<HEADER_LEN>().unwrap();
        let parsed = Header::parse(head, theirs.len()).unwrap();
        assert_eq!(parsed.len(), theirs.len());
        let expected = Header {
            options_len: parsed.options_len,
            ..*header
        };
        assert_eq!(parsed, expected);
        assert_eq!(Options::parse(rest, parsed.flags), *options, "{rest:x?}");
    }
}
