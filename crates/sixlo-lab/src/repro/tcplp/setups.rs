//! The set-up of sections 6 and 7 as runs: T-A.

use sixlo_sim::config::{Config, Mac, NodeSet, Timer};

use crate::repro::Extent;
use crate::repro::fragment_forwarding::setups::base;
use crate::scenario::{Output, Point, Scenario, Which};

/// The axes of all points: what varies, hops, direction, and the value of what varies.
const AXES: [&str; 4] = ["varied", "hops", "direction", "value"];

/// The text of the set-up.
const TEXT: &str = include_str!("../../../../../experiments/tcp.toml");

/// The segment size in frames.
pub(super) const MSS: &str = "mss_frames";
/// Send and receive buffer in segments.
pub(super) const BUFFER: &str = "buffer_segments";
/// The longest delay before a retry of the link, in ms.
pub(super) const DELAY: &str = "retry_delay_ms";
/// As [`DELAY`], with the defaults of IEEE 802.15.4 for retries and back-offs.
pub(super) const DELAY_BY_DEFAULTS: &str = "retry_delay_ms_default_link";
/// Stacks that have one segment under way: its frames.
pub(super) const ONE_SEGMENT: &str = "one_segment_frames";

/// Towards the sink.
pub(super) const UP: &str = "up";
/// Away from it.
pub(super) const DOWN: &str = "down";

pub(super) const FRAMES: [u16; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
pub(super) const SEGMENTS: [u16; 6] = [1, 2, 3, 4, 5, 6];
pub(super) const DELAYS_MS: [u16; 9] = [0, 5, 10, 20, 30, 40, 60, 80, 100];
/// The frames of a segment of uIP and of BLIP, and of the uIP that was extended (table 6).
pub(super) const ONE_SEGMENT_FRAMES: [u16; 2] = [1, 4];

/// The bytes of a segment that fills so many frames, or a few more; the paper's 462 bytes fill five.
pub(super) const fn segment_bytes(frames: u16) -> u16 {
    // What this stack's headers, timestamps included, leave of the first frame and of each that follows.
    72 + (frames - 1) * 96
}

/// One transfer over so many hops.
struct Case {
    varied: &'static str,
    hops: u16,
    direction: &'static str,
    value: u16,
}

impl Case {
    fn config(&self, base: &Config, extent: &Extent) -> Config {
        let mut config = base.clone();
        let (near, far) = (1, self.hops + 1);
        let bulk = &mut config.bulk[0];
        (bulk.from, bulk.to) = if self.direction == UP {
            (NodeSet::List(vec![far]), near)
        } else {
            (NodeSet::List(vec![near]), far)
        };
        bulk.bytes = 0;
        config.end_ms = Some(if extent.quick { 30_000 } else { 300_000 });
        let (mut frames, mut segments, mut delay_ms) = (5, 4, 0);
        match self.varied {
            MSS => frames = self.value,
            BUFFER => segments = self.value,
            ONE_SEGMENT => (frames, segments) = (self.value, 1),
            _ => delay_ms = self.value,
        }
        if self.varied == DELAY_BY_DEFAULTS {
            config.mac = Mac::default();
        }
        config.mac.retry_delay_max_us = u64::from(delay_ms) * 1_000;
        let tcp = &mut config.stack.tcp;
        tcp.mss_bytes = None;
        tcp.mss_frames = frames as u8;
        tcp.timer = Timer::Freebsd;
        tcp.ecn = false;
        let buffer = segments * segment_bytes(frames);
        (tcp.send_buffer_bytes, tcp.receive_buffer_bytes) = (buffer, buffer);
        config
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for direction in [UP, DOWN] {
        let mut add = |varied, hops, values: &[u16]| {
            cases.extend(values.iter().map(|&value| Case {
                varied,
                hops,
                direction,
                value,
            }));
        };
        add(MSS, 1, &FRAMES);
        add(BUFFER, 1, &SEGMENTS);
        if direction == UP {
            add(DELAY, 1, &DELAYS_MS);
            add(DELAY, 3, &DELAYS_MS);
            add(DELAY, 2, &[0, 40]);
            add(DELAY, 4, &[0, 40]);
            for hops in 1..=4 {
                add(DELAY_BY_DEFAULTS, hops, &[0, 40]);
            }
            add(ONE_SEGMENT, 1, &ONE_SEGMENT_FRAMES);
            add(ONE_SEGMENT, 3, &ONE_SEGMENT_FRAMES);
        }
    }
    cases
}

/// All runs.
pub(super) fn scenario(extent: &Extent) -> Scenario {
    let base = base("tcp", TEXT);
    let seeds = extent.deciding();
    let point = |case: Case| Point {
        labels: labels(case.varied, case.hops, case.direction, case.value).to_vec(),
        config: case.config(&base, extent),
        seeds: seeds.clone(),
    };
    Scenario {
        name: "tcplp".to_owned(),
        title: super::STUDY.title.to_owned(),
        description: super::STUDY.paper.to_owned(),
        output: Output {
            capture: Which::None,
            trace: Which::None,
            ..Output::default()
        },
        axes: AXES.map(str::to_owned).to_vec(),
        points: cases().into_iter().map(point).collect(),
        seeds,
        text: TEXT.to_owned(),
    }
}

/// The labels of a point.
pub(super) fn labels(varied: &str, hops: u16, direction: &str, value: u16) -> [String; 4] {
    [
        varied.to_owned(),
        hops.to_string(),
        direction.to_owned(),
        value.to_string(),
    ]
}
