//! Counts what a trace tells.

use sixlo_sim::observer::Occupancy;

use super::messages::To;
use super::tally::Tally;
use crate::frame_kind::FrameKind;
use crate::trace::Line;

/// Tells the tally what a line of a trace tells.
pub(super) fn count(tally: &mut Tally, line: &Line<'_>) {
    tally.advance(line.time_ns);
    let number = |key| line.word(key).and_then(|value| value.parse::<u64>().ok());
    match (line.layer, line.event) {
        ("air", "sent") => {
            let to = match line.peer {
                "all" => To::All,
                peer => peer.parse().map_or(To::None, To::Node),
            };
            let kind = line.word("carries").and_then(FrameKind::of_name);
            tally.frame(
                line.node,
                to,
                kind.unwrap_or(FrameKind::Other),
                number("len").unwrap_or(0) as u16,
                number("airtime_ns").unwrap_or(0),
                line.datagram,
            );
        }
        ("air", "received" | "lost") => {
            let is_ack = line.word("kind") == Some("ack");
            if let Ok(sender) = line.peer.parse() {
                tally.heard(line.node, sender, is_ack, line.word("cause"));
            }
        }
        ("air", "lost-in-radio") => {
            tally.lost_in_radio(line.node, line.datagram, line.word("cause").unwrap_or_default());
        }
        ("air", "switched-off") => tally.switched(line.node, false),
        ("air", "switched-on") => tally.switched(line.node, true),
        ("source", _) => tally.sent(line.node, line.datagram),
        ("sink", "delivered") => {
            tally.delivered(line.node, line.datagram, number("payload_bytes").unwrap_or(0));
        }
        ("sink", _) => tally.received(line.node, number("bytes").unwrap_or(0)),
        ("end", _) => tally.lost(line.datagram),
        ("node", _) => {
            let held = |key| number(key).unwrap_or(0) as usize;
            let occupancy = Occupancy {
                buffer_bytes: held("buffer"),
                reassemblies: held("reassemblies"),
                forwards: held("forwards"),
                transfers: held("transfers"),
                queued: held("queued"),
            };
            tally.occupancy(line.node, &occupancy);
        }
        (_, "frame-done") => {
            let outcome = line.word("outcome");
            if !matches!(outcome, Some("acked" | "sent")) {
                tally.given_up(line.node);
            }
        }
        (_, "frame-dropped" | "end" | "fragment-in" | "recoverable-in") => {
            if let Some(reason) = line.word("reason") {
                tally.dropped(line.node, line.datagram, reason);
            }
        }
        _ => {}
    }
}
