//! The set-up of section IV as runs: F-A.

use std::path::Path;

use sixlo_sim::config::{Config, LogDistance, Medium, Strategy};

use super::arithmetic::{self, Frames};
use crate::repro::Extent;
use crate::scenario::{Output, Point, Scenario, Source, Which};

/// The axes of all points: set-up, medium, what is compared, payload in bytes.
pub const AXES: [&str; 4] = ["set-up", "medium", "variant", "payload_bytes"];

/// The first label of the points of section IV.
pub const F_A: &str = "F-A";

/// The text of set-up F-A.
const F_A_TEXT: &str = include_str!("../../../../../experiments/f-a.toml");

/// How a set-up is varied.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// As labels, tables and figures call it.
    pub name: &'static str,
    /// The strategy.
    pub strategy: Strategy,
    /// The window of recoverable fragments.
    window: u8,
    /// Their time-out.
    arq_timeout_ms: u32,
    /// Between frames with fragments; none: derived by the stack.
    gap_us: Option<u32>,
    /// Forwarding falls back to reassembly.
    fallback: bool,
}

/// A variant that needs nothing but its strategy.
const fn plain(name: &'static str, strategy: Strategy) -> Variant {
    Variant {
        name,
        strategy,
        window: 1,
        arq_timeout_ms: 1_200,
        gap_us: Some(0),
        fallback: true,
    }
}

/// A variant of selective fragment recovery.
const fn recover(name: &'static str, window: u8, arq_timeout_ms: u32, gap_us: u32) -> Variant {
    Variant {
        window,
        arq_timeout_ms,
        gap_us: Some(gap_us),
        ..plain(name, Strategy::Recover)
    }
}

/// Hop-wise reassembly.
pub const HWR: &str = "HWR";
/// Direct fragment forwarding as the paper has it.
pub const FF: &str = "FF";
/// Direct fragment forwarding as RFC 8930 section 5 wants it.
pub const FF_RFC: &str = "FF by RFC 8930";
/// End-to-end fragmentation.
pub const E2E: &str = "E2E";
/// Selective fragment recovery with a window of one fragment.
pub const SFR_1: &str = "SFR w=1";
/// The same with five.
pub const SFR_5: &str = "SFR w=5";
/// The same with eight.
pub const SFR_8: &str = "SFR w=8";

/// What section IV compares.
pub const VARIANTS: [Variant; 13] = [
    plain(HWR, Strategy::HopWise),
    plain(FF, Strategy::Forward),
    Variant {
        gap_us: None,
        fallback: false,
        ..plain(FF_RFC, Strategy::Forward)
    },
    plain(E2E, Strategy::EndToEnd),
    recover(SFR_1, 1, 1_200, 100),
    recover("SFR w=1, IFG 0.5 ms", 1, 1_200, 500),
    recover("SFR w=1, ARQ 2.4 s", 1, 2_400, 100),
    recover("SFR w=1, ARQ 2.4 s, IFG 0.5 ms", 1, 2_400, 500),
    recover(SFR_5, 5, 1_200, 100),
    recover("SFR w=5, IFG 0.5 ms", 5, 1_200, 500),
    recover("SFR w=5, ARQ 2.4 s", 5, 2_400, 100),
    recover("SFR w=5, ARQ 2.4 s, IFG 0.5 ms", 5, 2_400, 500),
    recover(SFR_8, 8, 1_200, 100),
];

/// The strategies that can be run.
pub const STRATEGIES: &[Strategy] = &Strategy::ALL;

/// Those by which claims are decided.
pub const DECIDING: [&str; 7] = [HWR, FF, FF_RFC, E2E, SFR_1, SFR_5, SFR_8];

/// A medium of set-up F-A.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// As labels call it.
    pub name: &'static str,
    /// How far frames are sensed and disturb; none: path loss instead of a disc.
    interference_range_m: Option<f64>,
}

/// The medium by which a claim is decided.
pub const DEFAULT_GROUND: &str = "R = 13 m";

/// All media. How far nodes disturb each other is not known of the testbed and decides claims F5 to F7.
pub const GROUNDS: [Ground; 5] = [
    Ground {
        name: "R = 6.5 m",
        interference_range_m: Some(6.5),
    },
    Ground {
        name: "R = 9.75 m",
        interference_range_m: Some(9.75),
    },
    Ground {
        name: DEFAULT_GROUND,
        interference_range_m: Some(13.0),
    },
    Ground {
        name: "R = 32 m",
        interference_range_m: Some(32.0),
    },
    Ground {
        name: "path loss",
        interference_range_m: None,
    },
];

/// The path loss exponent with which a frame of 127 bytes succeeds with at least 97.5 % (98 %) over 6.5 m at 0 dBm, all else at its
/// default and without shadowing (the paper's rule leaves no room for it).
pub const FITTED_EXPONENT: f64 = 7.1;

impl Ground {
    fn medium(&self, disc: &Medium) -> Medium {
        let Some(range_m) = self.interference_range_m else {
            return Medium::LogDistance(LogDistance {
                exponent: FITTED_EXPONENT,
                shadowing_db: 0.0,
                asymmetry_db: 0.0,
                ..LogDistance::default()
            });
        };
        let mut medium = disc.clone();
        if let Medium::Disc(disc) = &mut medium {
            disc.interference_range_m = range_m;
        }
        medium
    }
}

/// The payloads at which claims are decided: 3, 6 and 11 fragments of RFC 4944; few, some, many.
pub const FEW: u16 = 192;
/// See [`FEW`].
pub const SOME: u16 = 512;
/// See [`FEW`].
pub const MANY: u16 = 1_024;

/// Payloads of the figures in the whole sweep: 16 to 1024 in steps of 16.
fn payloads(extent: &Extent) -> Vec<u16> {
    if extent.quick {
        return vec![16, 64, 96, 128, FEW, 288, 384, SOME, 640, 768, 896, MANY];
    }
    (1..=64).map(|step| step * 16).collect()
}

/// The runs of the figures: as many as in the paper.
const FIGURE_SEEDS: u64 = 3;

/// The configuration of a shipped scenario without its sweep.
pub(in crate::repro) fn base(name: &str, text: &str) -> Config {
    let source = Source {
        name: format!("{name}.toml"),
        text: text.to_owned(),
    };
    let scenario = Scenario::parse(name, source, Path::new(""), None).expect("a shipped scenario is valid");
    scenario.points[0].config.clone()
}

/// A run of set-up F-A.
fn f_a(base: &Config, ground: &Ground, variant: &Variant, payload: u16) -> Config {
    let mut config = base.clone();
    config.medium = ground.medium(&base.medium);
    let stack = &mut config.stack;
    stack.strategy = variant.strategy;
    stack.fragment_gap_us = variant.gap_us;
    stack.forward.fallback = variant.fallback;
    stack.recover.window = variant.window;
    stack.recover.arq_timeout_ms = variant.arq_timeout_ms;
    if variant.strategy == Strategy::EndToEnd {
        stack.mtu_bytes = arithmetic::end_to_end_mtu(Frames::Published) as u16;
    }
    for traffic in &mut config.traffic {
        traffic.payload_bytes = payload;
    }
    config
}

/// All runs of a study of this extent.
pub fn scenario(extent: &Extent) -> Scenario {
    let base = base("f-a", F_A_TEXT);
    let deciding = extent.deciding();
    let mut points = Vec::new();
    for ground in &GROUNDS {
        let default = ground.name == DEFAULT_GROUND;
        for variant in VARIANTS
            .iter()
            .filter(|variant| STRATEGIES.contains(&variant.strategy))
        {
            let decides = DECIDING.contains(&variant.name);
            for payload in payloads(extent) {
                let seeds = if decides && [FEW, SOME, MANY].contains(&payload) {
                    deciding.clone()
                } else if default && (decides || !extent.quick) {
                    (1..=FIGURE_SEEDS).collect()
                } else {
                    continue;
                };
                points.push(Point {
                    labels: labels(F_A, ground.name, variant.name, payload),
                    config: f_a(&base, ground, variant, payload),
                    seeds,
                });
            }
        }
    }
    points.extend(super::section_v::points(extent));
    Scenario {
        name: "fragment-forwarding".to_owned(),
        title: super::STUDY.title.to_owned(),
        description: super::STUDY.paper.to_owned(),
        seeds: deciding,
        output: Output {
            capture: Which::None,
            trace: Which::None,
            ..Output::default()
        },
        axes: AXES.iter().map(ToString::to_string).collect(),
        points,
        text: F_A_TEXT.to_owned(),
    }
}

/// The labels of a point.
pub(super) fn labels(set_up: &str, ground: &str, variant: &str, payload: u16) -> Vec<String> {
    vec![
        set_up.to_owned(),
        ground.to_owned(),
        variant.to_owned(),
        payload.to_string(),
    ]
}
