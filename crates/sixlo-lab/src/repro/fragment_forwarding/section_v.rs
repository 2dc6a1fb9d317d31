//! The set-up of section V as runs: F-B, congestion control of six sources behind one forwarder.

use sixlo_sim::config::{Config, Control, MarkWhen};

use super::setups::{base, labels};
use crate::repro::Extent;
use crate::scenario::Point;

/// The first label of the points of section V.
pub const F_B: &str = "F-B";

/// Payloads of section V: 2 to 13 fragments.
pub const PAYLOADS: [u16; 12] = [112, 208, 304, 400, 496, 592, 688, 784, 880, 976, 1_072, 1_168];

/// Of these, 2, 3, 6, 7, 12 and 13 fragments.
const QUICK: [u16; 6] = [112, 208, 496, 592, 1_072, 1_168];

/// Datagrams of each source.
const DATAGRAMS: u32 = 1_200;

/// The text of set-up F-B.
const TEXT: &str = include_str!("../../../../../experiments/f-b.toml");

/// How the set-up is varied.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// As labels, tables and figures call it.
    pub name: &'static str,
    /// What is other than in the paper's text, and why.
    pub about: &'static str,
    /// A claim is about it, so that the quick runs have all payloads.
    decides: bool,
    change: fn(&mut Config),
}

/// The rate of the paper.
pub const LOAD: &str = "load of the paper";
/// Half of it.
pub const HALF: &str = "half load";
/// Twice as much.
pub const DOUBLE: &str = "double load";
/// No node marks.
pub const NO_ECN: &str = "without ECN";
/// No gap between frames but that of a control that paces.
pub const NO_GAP: &str = "without a gap";

/// All of them, that of the paper first.
pub const COURSES: [Course; 7] = [
    Course {
        name: LOAD,
        about: "as the paper has it",
        decides: true,
        change: |_| {},
    },
    Course {
        name: HALF,
        about: "a datagram every 500 to 1500 ms",
        decides: true,
        change: |config| pause(config, 500, 1_500),
    },
    Course {
        name: DOUBLE,
        about: "a datagram every 125 to 375 ms",
        decides: true,
        change: |config| pause(config, 125, 375),
    },
    Course {
        name: NO_ECN,
        about: "no node marks what met congestion",
        decides: true,
        change: |config| config.stack.mark.when = MarkWhen::Never,
    },
    Course {
        name: NO_GAP,
        about: "no gap, as the stack that the authors published behaves: it takes the time since the last frame with the wrong \
                sign, and sends what waits for the gap at once. A control that paces still does",
        decides: false,
        change: |config| config.stack.fragment_gap_us = Some(0),
    },
    Course {
        name: "reassembly 60 s",
        about: "the longest time-out of RFC 4944. The paper's 10 s begin anew with each fragment in the authors' stack, with the \
                first one here (RFC 4944 section 5.3)",
        decides: false,
        change: |config| config.stack.reassembly_timeout_ms = 60_000,
    },
    Course {
        name: "queues of table 4",
        about: "a send queue of 4 and 64 datagrams under recovery",
        decides: false,
        change: |config| {
            config.stack.send_queue = 4;
            config.stack.fragmentation_entries = 64;
        },
    },
];

/// Sets the time between two datagrams of a source.
fn pause(config: &mut Config, min_ms: u64, max_ms: u64) {
    for traffic in &mut config.traffic {
        traffic.gap_min_ms = min_ms;
        traffic.gap_max_ms = max_ms;
    }
}

/// The set-up, varied, with as many datagrams as the file has.
fn varied(base: &Config, course: &Course, control: Control, payload: u16) -> Config {
    let mut config = base.clone();
    (course.change)(&mut config);
    config.stack.recover.control = control;
    for traffic in &mut config.traffic {
        traffic.payload_bytes = payload;
    }
    config
}

/// The set-up in the variant with this name.
pub(super) fn config(name: &str, control: Control, payload: u16) -> Config {
    let course = COURSES.iter().find(|course| course.name == name);
    varied(
        &base("f-b", TEXT),
        course.unwrap_or(&COURSES[0]),
        control,
        payload,
    )
}

/// The runs; the quick ones with as many datagrams as the file has.
pub(super) fn points(extent: &Extent) -> Vec<Point> {
    let base = base("f-b", TEXT);
    let mut points = Vec::new();
    for course in &COURSES {
        for control in Control::ALL {
            for payload in PAYLOADS {
                if extent.quick && !course.decides && !QUICK.contains(&payload) {
                    continue;
                }
                let mut config = varied(&base, course, control, payload);
                if !extent.quick {
                    config
                        .traffic
                        .iter_mut()
                        .for_each(|traffic| traffic.count = DATAGRAMS);
                }
                points.push(Point {
                    labels: labels(F_B, course.name, control.name(), payload),
                    config,
                    seeds: extent.deciding(),
                });
            }
        }
    }
    points
}
