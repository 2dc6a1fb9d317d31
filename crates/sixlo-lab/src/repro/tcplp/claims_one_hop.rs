//! Claims T3, T4, T5 and T9: what segments, buffers and the link make of one hop.

use super::claims::{bar, claim, goodputs, kbps, mean_segment, ms, part, ratio, round_trips, runs, times};
use super::model;
use super::setups::{At, Direction, ONE_SEGMENT_FRAMES, Setup, Varied};
use crate::repro::Findings;
use crate::repro::ledger::Claim;
use crate::repro::verdict::{Verdict, above, not_above};
use crate::stats::mean;

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

pub(super) fn segment_size(findings: &Findings<'_>) -> Claim {
    let of = |at: At| goodputs(findings, at);
    let mut parts = Vec::new();
    for direction in DIRECTIONS {
        let frames = |frames| At::paper(Varied::Mss, 1, frames).towards(direction);
        let (one, five, eight) = (of(frames(1)), of(frames(5)), of(frames(8)));
        let beside = |setup| {
            let [one, five] = [1, 5].map(|n| of(frames(n).with(setup)));
            (!one.is_empty()).then(|| {
                format!(
                    "; {} with the {}",
                    ratio(&five, &one),
                    setup.name().replace('-', " ")
                )
            })
        };
        let beside: Vec<String> = [Setup::IdealRadio, Setup::SlowProcessor]
            .into_iter()
            .filter_map(beside)
            .collect();
        parts.push(part(
            &format!("5 frames over 1, {}", direction.name()),
            "4 to 5 times",
            format!(
                "{} and {}: {}{}",
                kbps(&five),
                kbps(&one),
                ratio(&five, &one),
                beside.concat()
            ),
            above(&five, &times(&one, 4.0)),
        ));
        parts.push(part(
            &format!("8 frames over 5, {}", direction.name()),
            "flat: at most a tenth more",
            format!("{} and {}", kbps(&eight), kbps(&five)),
            not_above(&eight, &times(&five, 1.1)),
        ));
    }
    let fixed = |frames| of(At::paper(Varied::MssInFixedBuffers, 1, frames));
    let (one, five, eight) = (fixed(1), fixed(5), fixed(8));
    parts.push(part(
        "8 frames over 5, up, buffers of as many bytes",
        "flat: at most a tenth more",
        format!(
            "{}, {}, and {} with 1 frame",
            kbps(&eight),
            kbps(&five),
            kbps(&one)
        ),
        not_above(&eight, &times(&five, 1.1)),
    ));
    claim("T3", "Segments larger than a frame", parts)
}

pub(super) fn buffers(findings: &Findings<'_>) -> Claim {
    let at = |direction, segments| At::paper(Varied::Buffer, 1, segments).towards(direction);
    let of = |direction, segments| goodputs(findings, at(direction, segments));
    let mut parts = Vec::new();
    for direction in DIRECTIONS {
        let [one, three, four, six] = [1, 3, 4, 6].map(|segments| of(direction, segments));
        parts.push(part(
            &format!("6 segments over 4, {}", direction.name()),
            "levels off at 3 to 4 segments (1386 to 1848 B)",
            format!(
                "{} and {}; {} with 3, {} with 1",
                kbps(&six),
                kbps(&four),
                kbps(&three),
                kbps(&one)
            ),
            not_above(&six, &times(&four, 1.1)),
        ));
    }
    let (down, up) = (of(Direction::Down, 1), of(Direction::Up, 1));
    parts.push(part(
        "one segment down over one segment up",
        "faster: a full receive buffer is acknowledged at once",
        format!("{} and {}", kbps(&down), kbps(&up)),
        above(&down, &up),
    ));
    let trips = |direction| round_trips(findings, at(direction, 1));
    let (down, up) = (trips(Direction::Down), trips(Direction::Up));
    let slow = |direction| round_trips(findings, at(direction, 1).with(Setup::SlowProcessor));
    parts.push(part(
        "its round trip, up over down",
        "about 130 ms and 70 ms",
        format!(
            "{} and {}; {} and {} with the slow processor",
            ms(&up),
            ms(&down),
            ms(&slow(Direction::Up)),
            ms(&slow(Direction::Down))
        ),
        above(&up, &down),
    ));
    claim("T4", "Goodput over the size of the buffers", parts)
}

/// Seconds that a full frame takes with the paper's radio (Fig. 4a).
const FRAME_S: f64 = 7.2e-3;

/// The bound of one hop in kb/s: five frames of 7.2 ms, and half an acknowledgement of one frame, which is as long on the air as its
/// 60 bytes and takes the rest of a full frame's time beside that.
pub(super) fn bound_kbps(findings: &Findings<'_>) -> Option<f64> {
    const ACK_S: f64 = FRAME_S - (127.0 - 60.0) * 32e-6;
    let mss = mean_segment(&runs(findings, At::paper(Varied::Delay, 1, 0)))?;
    Some(model::one_hop_bound(mss, 5.0, FRAME_S, ACK_S) / 1_000.0)
}

pub(super) fn bound(findings: &Findings<'_>) -> Claim {
    let at = At::paper(Varied::Delay, 1, 0);
    let measured = goodputs(findings, at);
    let bound = bound_kbps(findings);
    let verdict = bound.map_or(Verdict::NotMeasured, |bound| {
        above(&measured, &bar(&measured, bound * 0.9))
    });
    let share = bound.zip(mean(&measured)).map_or(String::new(), |(bound, mean)| {
        format!("; bound {bound:.1} kb/s, {:.0} % of it", mean / bound * 100.0)
    });
    let beside = [Setup::IdealRadio, Setup::HardwareCsma, Setup::SlowProcessor].map(|setup| {
        let beside = kbps(&goodputs(findings, at.with(setup)));
        format!("; {beside} with {}", setup.name().replace('-', " "))
    });
    claim(
        "T5",
        "Goodput of one hop",
        vec![part(
            "one hop",
            "75 kb/s of 95; here at least 90 % of the bound",
            format!("{}{share}{}", kbps(&measured), beside.concat()),
            verdict,
        )],
    )
}

pub(super) fn one_segment(findings: &Findings<'_>) -> Claim {
    let mut parts = Vec::new();
    for hops in [1, 3] {
        let full = At::paper(Varied::Delay, hops, if hops == 1 { 0 } else { 40 });
        let whole = goodputs(findings, full);
        for (varied, peer) in [
            (Varied::OneSegment, "a peer that delays acknowledgements"),
            (Varied::OneSegmentBothEnds, "a peer of the same kind"),
        ] {
            for frames in ONE_SEGMENT_FRAMES {
                let at = At::paper(varied, hops, frames);
                let one = goodputs(findings, at);
                let slow = Setup::SlowProcessor;
                let beside = ratio(
                    &goodputs(findings, full.with(slow)),
                    &goodputs(findings, at.with(slow)),
                );
                parts.push(part(
                    &format!("over one segment of {frames} frames and {peer}, {hops} hops"),
                    "5 to 40 times",
                    format!(
                        "{} and {}: {}; {beside} with the slow processor",
                        kbps(&whole),
                        kbps(&one),
                        ratio(&whole, &one)
                    ),
                    above(&whole, &times(&one, 5.0)),
                ));
            }
        }
    }
    claim("T9", "Against stacks with one segment under way", parts)
}
