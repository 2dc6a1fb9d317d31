//! Segments as lines of a trace: read, and shown.

use sixlo::wire::ipv6::Ecn;
use sixlo::wire::tcp::Flags;
use sixlo::wire::tcp::options::{Block, Options, Timestamps};
use sixlo::wire::tcp::seq::Seq;

/// A segment, its numbers relative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seg {
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) data: Vec<u8>,
    pub(crate) ack: u32,
    pub(crate) window: u16,
    pub(crate) urgent: u16,
    pub(crate) ecn: Ecn,
    pub(crate) options: Options,
    /// The options as bytes.
    pub(crate) raw: Vec<u8>,
}

/// A line as it was written: what it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(super) flags: Flags,
    pub(super) seq: u32,
    pub(super) len: u32,
    pub(super) ack: Option<u32>,
    pub(super) window: Option<u16>,
    pub(super) urgent: Option<u16>,
    pub(super) ecn: Option<Ecn>,
    pub(super) options: Option<Options>,
    pub(super) raw: Option<Vec<u8>>,
}

fn number(word: Option<&str>) -> u32 {
    let word = word.expect("a number");
    let negative = word.strip_prefix('-').map(|rest| {
        let n: u32 = rest.parse().unwrap_or_else(|_| panic!("a number: {word}"));
        n.wrapping_neg()
    });
    negative.unwrap_or_else(|| word.parse().unwrap_or_else(|_| panic!("a number: {word}")))
}

impl Line {
    pub(crate) fn parse(text: &str) -> Self {
        let mut line = Self::default();
        let (text, options) = match text.split_once('<') {
            Some((head, options)) => (head, Some(options.trim_end().trim_end_matches('>'))),
            None => (text, None),
        };
        let mut words = text.split_whitespace();
        for flag in words.next().expect("flags").chars() {
            line.flags |= match flag {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                '.' => Flags::ACK,
                'U' => Flags::URG,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                '-' => Flags::NONE,
                other => panic!("no flag: {other}"),
            };
        }
        let place = words.next().expect("a sequence number");
        match place.split_once('(') {
            Some((seq, len)) => {
                line.seq = number(Some(seq));
                line.len = number(Some(len.trim_end_matches(')')));
            }
            None => line.seq = number(Some(place)),
        }
        while let Some(word) = words.next() {
            match word {
                "ack" => line.ack = Some(number(words.next())),
                "win" => line.window = Some(number(words.next()) as u16),
                "urg" => line.urgent = Some(number(words.next()) as u16),
                "ecn" => {
                    line.ecn = Some(match words.next() {
                        Some("not") => Ecn::NotCapable,
                        Some("ect0") => Ecn::Capable0,
                        Some("ect1") => Ecn::Capable1,
                        Some("ce") => Ecn::Congestion,
                        other => panic!("no ECN: {other:?}"),
                    });
                }
                other => panic!("not known: {other}"),
            }
        }
        if let Some(text) = options {
            line.take_options(text);
        }
        line
    }

    fn take_options(&mut self, text: &str) {
        let mut options = Options::NONE;
        let mut words = text.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
        while let Some(word) = words.next() {
            match word {
                "mss" => options.mss = Some(number(words.next()) as u16),
                "sackok" => options.sack_permitted = true,
                "ts" => {
                    options.timestamps = Some(Timestamps {
                        value: number(words.next()),
                        echo: number(words.next()),
                    });
                }
                "sack" => {
                    while let Some((left, right)) = words.peek().and_then(|word| word.split_once('-')) {
                        options.sack.push(Block {
                            left: Seq(number(Some(left))),
                            right: Seq(number(Some(right))),
                        });
                        words.next();
                    }
                }
                "nop" | "end" => {}
                "raw" => {
                    let hex = words.next().expect("bytes");
                    let digits: Vec<u32> = hex.chars().map(|c| c.to_digit(16).expect("hex")).collect();
                    self.raw = Some(
                        digits
                            .chunks(2)
                            .map(|pair| (pair[0] << 4 | pair[1]) as u8)
                            .collect(),
                    );
                }
                other => panic!("no option: {other}"),
            }
        }
        self.options = Some(options);
    }
}

/// A segment as a line.
pub(crate) fn show(seg: &Seg) -> String {
    let names = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
        (Flags::URG, 'U'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
    ];
    let flags: String = names
        .iter()
        .filter(|(flag, _)| seg.flags.contains(*flag))
        .map(|(_, name)| *name)
        .collect();
    let data = if seg.data.is_empty() {
        String::new()
    } else {
        format!("({})", seg.data.len())
    };
    let ack = if seg.flags.contains(Flags::ACK) {
        format!(" ack {}", seg.ack)
    } else {
        String::new()
    };
    let mut options = Vec::new();
    options.extend(seg.options.mss.map(|mss| format!("mss {mss}")));
    options.extend(seg.options.sack_permitted.then(|| "sackok".to_owned()));
    options.extend(
        seg.options
            .timestamps
            .map(|ts| format!("ts {} {}", ts.value, ts.echo)),
    );
    if !seg.options.sack.is_empty() {
        let blocks: Vec<String> = seg
            .options
            .sack
            .as_slice()
            .iter()
            .map(|b| format!("{}-{}", b.left.0, b.right.0))
            .collect();
        options.push(format!("sack {}", blocks.join(" ")));
    }
    let options = if options.is_empty() {
        String::new()
    } else {
        format!(" <{}>", options.join(" "))
    };
    format!(
        "{flags} {}{data}{ack} win {}{options}",
        seg.seq as i32, seg.window
    )
}
