//! The traversal experiment on the host, counted by callgrind.

use crate::callgrind;
use crate::tools::Failure;
use crate::traverse::{Counts, Way};

/// Instructions of both stacks.
pub(crate) struct Hosts {
    pub(crate) sixlo: Counts,
    pub(crate) smoltcp: Counts,
}

/// The calls that count, in the order in which the example makes them, each with its stack and way.
const MEASURED: [(&str, bool, Way); 4] = [
    ("traverse::experiment::Node::send", true, Way::Send),
    ("traverse::experiment::Node::receive", true, Way::Receive),
    ("traverse::peer::Peer::send", false, Way::Send),
    ("traverse::peer::Peer::receive", false, Way::Receive),
];

/// The function that the example calls before each measurement.
const BEGIN: &str = "traverse::begin";

/// Runs the example under callgrind, with these payloads, and reads the counts in their order: one when a measurement
/// begins, one when it ends.
pub(crate) fn measure(payloads: &[usize]) -> Result<Hosts, Failure> {
    let arguments: Vec<String> = payloads.iter().map(usize::to_string).collect();
    let dump_after = MEASURED.map(|(function, ..)| function);
    let run = callgrind::run(
        ("sixlo", "traverse"),
        &arguments,
        &[&dump_after[..], &[BEGIN]].concat(),
        &[],
    )?;
    let mut hosts = Hosts {
        sixlo: Counts::new(),
        smoltcp: Counts::new(),
    };
    let mut begun = false;
    let mut seen = [0_usize; MEASURED.len()];
    for (trigger, count) in &run.dumps {
        let measured = MEASURED.iter().position(|(function, ..)| function == trigger);
        if let Some(place) = measured.filter(|_| begun) {
            let (_, ours, way) = MEASURED[place];
            // Three datagrams of each length; the last counts.
            let payload = payloads.get(seen[place] / 3);
            seen[place] += 1;
            let counts = if ours {
                &mut hosts.sixlo
            } else {
                &mut hosts.smoltcp
            };
            if let Some(payload) = payload {
                counts.insert((way, *payload), u32::try_from(*count).unwrap_or(u32::MAX));
            }
        }
        begun = trigger == BEGIN;
    }
    if seen == [3 * payloads.len(); MEASURED.len()] {
        Ok(hosts)
    } else {
        Err(Failure::Wrong(format!(
            "callgrind left {seen:?} counts, not {} of each",
            3 * payloads.len()
        )))
    }
}
