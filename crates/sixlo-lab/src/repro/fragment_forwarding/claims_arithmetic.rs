//! Claims F1 and F2: what follows from header sizes, and whether the stack sends just so.

use sixlo_sim::config::{Addresses, Chain, Config, Disc, Medium, Strategy, Topology, Traffic};
use sixlo_sim::run::run;

use super::arithmetic::{Cutting, Frames, Place, end_to_end_mtu, saved};
use super::setups::STRATEGIES;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::Verdict;

/// All of them.
pub(super) fn all() -> Vec<Claim> {
    vec![savings(), fragments()]
}

/// The frames of the paper.
const FRAMES: Frames = Frames::Published;

fn savings() -> Claim {
    let of = |place, first| saved(FRAMES, place, first);
    let exact = |name: &str, published: &str, found: usize, wanted: usize| Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured: format!("{found} bytes"),
        verdict: Verdict::exact(found == wanted),
    };
    let mtu = end_to_end_mtu(FRAMES);
    let later = [Place::Source, Place::Forwarder].map(|place| of(place, true) - of(place, false));
    Claim {
        id: "F1",
        title: "Bytes that header compression saves on an IPv6 fragment",
        parts: vec![
            exact(
                "first fragment at a forwarder",
                "22 bytes (table 2)",
                of(Place::Forwarder, true),
                22,
            ),
            exact(
                "first fragment at the source",
                "30 bytes: its own address is elided too",
                of(Place::Source, true),
                30,
            ),
            Part {
                name: "later fragments".to_owned(),
                published: "one or two bytes fewer".to_owned(),
                measured: format!("{} at the source, {} at a forwarder fewer", later[0], later[1]),
                verdict: Verdict::exact(later.iter().all(|fewer| (1..=2).contains(fewer))),
            },
            Part {
                name: "MTU".to_owned(),
                published: "124 bytes of MTU, frame payload and 22; no fragment may overflow a frame"
                    .to_owned(),
                measured: format!(
                    "{mtu} bytes: frame payload {} and the least saving {}",
                    FRAMES.payload_len(),
                    mtu - FRAMES.payload_len()
                ),
                verdict: Verdict::exact(no_fragment_overflows(mtu)),
            },
        ],
    }
}

/// Whether every full fragment, compressed, fits a frame.
fn no_fragment_overflows(mtu: usize) -> bool {
    let places = [Place::Source, Place::Forwarder];
    let mut all = places
        .into_iter()
        .flat_map(|place| [(place, true), (place, false)]);
    // All fragments but the last end at a multiple of 8 bytes.
    let full = 48 + (mtu - 48) / 8 * 8;
    all.all(|(place, first)| full.max(mtu) - saved(FRAMES, place, first) <= FRAMES.payload_len())
}

/// A row of the legend of Fig. 14: a strategy, and the payloads from which one fragment more is needed.
struct Legend {
    strategy: Strategy,
    name: &'static str,
    slack: usize,
    mtu: usize,
    bounds: &'static [usize],
    published: &'static str,
}

/// The MTU of the paper: 102 bytes and 22.
const PUBLISHED_MTU: usize = 124;

const LEGEND: [Legend; 5] = [
    Legend {
        strategy: Strategy::HopWise,
        name: "HWR",
        slack: 0,
        mtu: 1_280,
        bounds: &[96, 192, 288, 384, 480, 576, 672, 768, 864, 960],
        published: "96, 176, 288, then every 96 (176 is a misprint for 192)",
    },
    Legend {
        strategy: Strategy::Forward,
        name: "FF",
        slack: 0,
        mtu: 1_280,
        bounds: &[96, 112, 208, 304, 400, 496, 592, 688, 784, 880, 976],
        published: "64, 112, 208, then every 96 (64 is a misprint for 96)",
    },
    Legend {
        strategy: Strategy::Recover,
        name: "SFR with 31 bytes of slack",
        slack: 31,
        mtu: 1_280,
        bounds: &[96, 160, 256, 352, 448, 544, 640, 736, 832, 928, 1_024],
        published: "80, 160, 256, then every 96 (80 is a misprint for 96)",
    },
    Legend {
        strategy: Strategy::Recover,
        name: "SFR with 9 bytes of slack",
        slack: 9,
        mtu: 1_280,
        bounds: &[96, 176, 272, 368, 464, 560, 656, 752, 848, 944],
        published: "not run; by RFC 8931's minimum 96, 176, 272, then every 96",
    },
    Legend {
        strategy: Strategy::EndToEnd,
        name: "E2E",
        slack: 0,
        mtu: PUBLISHED_MTU,
        bounds: &[
            80, 144, 224, 288, 368, 432, 512, 576, 656, 720, 800, 864, 944, 1_008,
        ],
        published: "96, 144, 224, 288, then by 64 to 80 (96 is a misprint for 80)",
    },
];

/// Payloads of the figure.
const STEP: usize = 16;
const MOST: usize = 1_024;

fn fragments() -> Claim {
    let mut parts: Vec<Part> = LEGEND.iter().map(Legend::published).collect();
    for legend in &LEGEND {
        if STRATEGIES.contains(&legend.strategy) {
            parts.extend(Frames::ALL.map(|frames| legend.sent(frames)));
        }
    }
    Claim {
        id: "F2",
        title: "Fragments by UDP payload (legend of Fig. 14)",
        parts,
    }
}

impl Legend {
    fn cutting(&self, frames: Frames) -> Cutting {
        Cutting {
            strategy: self.strategy,
            frames,
            slack: self.slack,
            mtu: self.mtu,
        }
    }

    /// The row as published, or as it comes out without misprints.
    fn published(&self) -> Part {
        let found = self.cutting(FRAMES).bounds(Place::Source, STEP, MOST);
        Part {
            name: self.name.to_owned(),
            published: self.published.to_owned(),
            measured: listed(&found),
            verdict: Verdict::exact(found == self.bounds),
        }
    }

    /// What the stack sends around each bound, at the source and at a forwarder.
    fn sent(&self, frames: Frames) -> Part {
        let mut cutting = self.cutting(frames);
        if self.strategy == Strategy::EndToEnd {
            // The published MTU lets later fragments overflow a frame.
            cutting.mtu = end_to_end_mtu(frames);
        }
        let (source, forwarder) = (
            cutting.bounds(Place::Source, STEP, MOST),
            cutting.bounds(Place::Forwarder, STEP, MOST),
        );
        let mut payloads: Vec<usize> = source
            .iter()
            .chain(&forwarder)
            .flat_map(|bound| [bound - STEP, *bound])
            .collect();
        payloads.sort_unstable();
        payloads.dedup();
        let differs = payloads.iter().find_map(|&payload| {
            let expected =
                [Place::Source, Place::Forwarder].map(|place| cutting.frames_of(payload, place) as u64);
            let found = frames_sent(&cutting, payload as u16);
            (found != Some(expected)).then(|| format!("; at {payload} bytes the stack sends {found:?}"))
        });
        Part {
            name: format!("{}, {}", self.name, frames.name()),
            published: "as the headers say".to_owned(),
            measured: format!(
                "{} bytes a frame: at the source {}; at a forwarder {}{}",
                frames.payload_len(),
                listed(&source),
                listed(&forwarder),
                differs.as_deref().unwrap_or("; the stack sends just so")
            ),
            verdict: Verdict::exact(differs.is_none()),
        }
    }
}

/// Bounds as a list, shortened where they go on every 96 bytes.
fn listed(bounds: &[usize]) -> String {
    let gaps: Vec<usize> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let same = gaps
        .iter()
        .rev()
        .take_while(|gap| Some(*gap) == gaps.last())
        .count();
    let text = |bounds: &[usize]| bounds.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if same < 4 {
        return text(bounds);
    }
    let shown = bounds.len() - same;
    format!("{}, then every {}", text(&bounds[..shown]), gaps[gaps.len() - 1])
}

/// The data frames that source and first forwarder of a chain send for one datagram; none if it does not arrive.
fn frames_sent(cutting: &Cutting, payload: u16) -> Option<[u64; 2]> {
    let mut config = Config::new(Topology::Chain(Chain {
        nodes: 4,
        spacing_m: 5.0,
    }));
    // All hear each other and retry often: what counts is that all fragments arrive.
    config.medium = Medium::Disc(Disc {
        frame_error_rate: 0.0,
        interference_range_m: 100.0,
        ..Disc::default()
    });
    config.mac.max_retries = 7;
    config.mac.max_backoffs = 50;
    config.link.pan_id_compression = cutting.frames != Frames::Published;
    if cutting.frames == Frames::Short {
        config.link.addresses = Addresses::Short;
    }
    config.stack.strategy = cutting.strategy;
    config.stack.recover.slack_bytes = cutting.slack as u8;
    if cutting.strategy == Strategy::EndToEnd {
        config.stack.mtu_bytes = cutting.mtu as u16;
    }
    let traffic = format!(
        "from = [4]\npayload_bytes = {payload}\ncount = 1\ngap_min_ms = 1\ngap_max_ms = 1\nport = 5683\nsource_port = 5683\n"
    );
    let traffic: Traffic = toml::from_str(&traffic).ok()?;
    config.traffic = vec![traffic];
    let result = run(&config, 1, &mut ()).ok()?;
    if result.delivered() != (1, 1) {
        return None;
    }
    let frames = |node: usize| result.nodes.get(node).map_or(0, |node| node.stack.frames);
    let source = frames(3);
    // The acknowledgement of all fragments passes the forwarder too.
    let acks = u64::from(cutting.strategy == Strategy::Recover && source > 1);
    Some([source, frames(2) - acks])
}
