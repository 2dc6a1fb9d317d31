//! Claims T1 to T10 and T18.

use super::model;
use super::setups::{BUFFER, DELAY, DELAY_BY_DEFAULTS, DELAYS_MS, DOWN, MSS, ONE_SEGMENT, UP, labels};
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{Verdict, above, all as worst, not_above};
use crate::results::Transfer;
use crate::stats::mean;

/// The transfers at a point, one a run.
fn runs<'r>(
    findings: &Findings<'r>,
    varied: &str,
    hops: u16,
    direction: &str,
    value: u16,
) -> Vec<&'r Transfer> {
    let labels = labels(varied, hops, direction, value);
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let point = findings.at(&labels);
    point.map_or_else(Vec::new, |point| point.transfers.iter().flatten().collect())
}

/// The goodputs at a point in kb/s, one a run.
pub(super) fn goodputs(
    findings: &Findings<'_>,
    varied: &str,
    hops: u16,
    direction: &str,
    value: u16,
) -> Vec<f64> {
    let runs = runs(findings, varied, hops, direction, value);
    runs.iter().map(|run| run.goodput_kbps.unwrap_or(0.0)).collect()
}

/// The shares of segments that were lost at a point, one a run.
pub(super) fn segment_losses(
    findings: &Findings<'_>,
    varied: &str,
    hops: u16,
    direction: &str,
    value: u16,
) -> Vec<f64> {
    let runs = runs(findings, varied, hops, direction, value);
    let share = |run: &&Transfer| run.segments_lost as f64 / run.segments.max(1) as f64;
    runs.iter().map(share).collect()
}

fn times(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

fn kbps(values: &[f64]) -> String {
    mean(values).map_or("nothing".to_owned(), |mean| format!("{mean:.1} kb/s"))
}

fn percent(values: &[f64]) -> String {
    mean(values).map_or("nothing".to_owned(), |mean| format!("{:.1} %", mean * 100.0))
}

fn part(name: &str, published: &str, measured: String, verdict: Verdict) -> Part {
    Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured,
        verdict,
    }
}

const fn claim(id: &'static str, title: &'static str, parts: Vec<Part>) -> Claim {
    Claim { id, title, parts }
}

/// Decides all claims.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Claim> {
    vec![
        state(),
        claim(
            "T2",
            "Memory of zero-copy send and in-place reassembly",
            vec![Part::not_measured(
                "all",
                "half of the send side, 38 % of the receive side less",
                "not measured beside a copying build; a receive buffer takes a ninth more than its window for the bits",
            )],
        ),
        segment_size(findings),
        buffers(findings),
        one_hop(findings),
        delays(findings),
        claim(
            "T7",
            "The congestion window is nearly always full",
            windows(findings),
        ),
        models(findings),
        one_segment(findings),
        claim(
            "T10",
            "Features of table 9 and those named beside it",
            vec![Part::not_measured(
                "all",
                "eight features, and seven more",
                "held by the conformance tests of the stack (docs/tcp.md), not by runs",
            )],
        ),
        claim(
            "T18",
            "One-shot timers, none dropped, no periodic tick",
            vec![Part::not_measured(
                "all",
                "by design",
                "held by tests of the stack: an idle connection has no deadline",
            )],
        ),
    ]
}

fn state() -> Claim {
    let sizes = [
        (
            "an active connection",
            "364 B",
            size_of::<sixlo::tcp::Connection>(),
            364,
        ),
        ("a listener", "12 B", size_of::<sixlo::tcp::Listener>(), 12),
    ];
    let parts = sizes.map(|(name, published, bytes, bar)| {
        let verdict = Verdict::exact(bytes <= bar);
        part(
            name,
            published,
            format!("{bytes} B, as this program has it"),
            verdict,
        )
    });
    claim("T1", "State of the protocol", parts.to_vec())
}

fn segment_size(findings: &Findings<'_>) -> Claim {
    let of = |direction, frames| goodputs(findings, MSS, 1, direction, frames);
    let mut parts = Vec::new();
    for direction in [UP, DOWN] {
        let (one, five, eight) = (of(direction, 1), of(direction, 5), of(direction, 8));
        parts.push(part(
            &format!("5 frames over 1, {direction}"),
            "4 to 5 times",
            format!("{} and {}", kbps(&five), kbps(&one)),
            above(&five, &times(&one, 4.0)),
        ));
        parts.push(part(
            &format!("8 frames over 5, {direction}"),
            "flat: at most a tenth more",
            format!("{} and {}", kbps(&eight), kbps(&five)),
            not_above(&eight, &times(&five, 1.1)),
        ));
    }
    claim("T3", "Segments larger than a frame", parts)
}

fn buffers(findings: &Findings<'_>) -> Claim {
    let of = |direction, segments| goodputs(findings, BUFFER, 1, direction, segments);
    let mut parts: Vec<Part> = [UP, DOWN]
        .map(|direction| {
            let (four, six) = (of(direction, 4), of(direction, 6));
            part(
                &format!("6 segments over 4, {direction}"),
                "levels off at 3 to 4 segments",
                format!("{} and {}", kbps(&six), kbps(&four)),
                not_above(&six, &times(&four, 1.1)),
            )
        })
        .to_vec();
    let (down, up) = (of(DOWN, 1), of(UP, 1));
    parts.push(part(
        "one segment down over one segment up",
        "faster: a full receive buffer is acknowledged at once",
        format!("{} and {}", kbps(&down), kbps(&up)),
        above(&down, &up),
    ));
    claim("T4", "Goodput over the size of the buffers", parts)
}

fn one_hop(findings: &Findings<'_>) -> Claim {
    let measured = goodputs(findings, DELAY, 1, UP, 0);
    let segment = mean_segment(&runs(findings, DELAY, 1, UP, 0));
    // Five frames of 7.2 ms, and half an acknowledgement of one frame, which is as long on the air as its 90 bytes and takes the
    // rest of a full frame's time beside that.
    let ack_s = 7.2e-3 - (127.0 - 60.0) * 32e-6;
    let bound = segment.map(|bytes| 8.0 * bytes / (5.0 * 7.2e-3 + ack_s / 2.0) / 1_000.0);
    let verdict = bound.map_or(Verdict::NotMeasured, |bound| {
        above(&measured, &vec![bound * 0.9; measured.len()])
    });
    let bound = bound.map_or(String::new(), |bound| format!(", bound {bound:.1} kb/s"));
    claim(
        "T5",
        "Goodput of one hop",
        vec![part(
            "one hop",
            "75 kb/s of 95; here at least 90 % of the bound",
            format!("{}{bound}", kbps(&measured)),
            verdict,
        )],
    )
}

/// Bytes of data in a segment, mean over all that were sent for the first time.
fn mean_segment(runs: &[&Transfer]) -> Option<f64> {
    let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
    let segments: u64 = runs.iter().map(|run| run.segments - run.segments_again).sum();
    (segments > 0).then(|| bytes as f64 / segments as f64)
}

fn delays(findings: &Findings<'_>) -> Claim {
    let goodput = |hops, delay| goodputs(findings, DELAY, hops, UP, delay);
    let loss = |hops, delay| segment_losses(findings, DELAY, hops, UP, delay);
    let published = [
        (1, "64.1 kb/s", 64.1),
        (2, "28.3 kb/s", 28.3),
        (3, "19.5 kb/s", 19.5),
        (4, "17.5 kb/s", 17.5),
    ];
    let mut parts: Vec<Part> = published
        .map(|(hops, text, kb)| {
            let measured = goodput(hops, 40);
            let bar = vec![kb; measured.len()];
            part(
                &format!("{hops} hops at 40 ms"),
                &format!("{text}; here no less"),
                format!(
                    "{}; {} with the link's defaults",
                    kbps(&measured),
                    kbps(&goodputs(findings, DELAY_BY_DEFAULTS, hops, UP, 40))
                ),
                above(&measured, &bar),
            )
        })
        .to_vec();
    let (zero, thirty) = (loss(3, 0), loss(3, 30));
    parts.push(part(
        "segment loss over 3 hops",
        "6 % at 0 ms, below 1 % from 30 ms on",
        format!(
            "{} at 0 ms, {} at 30 ms; {} at 0 ms with the link's defaults",
            percent(&zero),
            percent(&thirty),
            percent(&segment_losses(findings, DELAY_BY_DEFAULTS, 3, UP, 0))
        ),
        worst([above(&zero, &thirty), above(&vec![0.01; thirty.len()], &thirty)]),
    ));
    let (zero, hundred) = (goodput(1, 0), goodput(1, 100));
    parts.push(part(
        "one hop over the delay",
        "loses goodput as it grows",
        format!("{} at 0 ms, {} at 100 ms", kbps(&zero), kbps(&hundred)),
        above(&zero, &hundred),
    ));
    claim("T6", "A delay before each retry of the link", parts)
}

fn windows(findings: &Findings<'_>) -> Vec<Part> {
    let runs = runs(findings, DELAY, 3, UP, 0);
    let buffer = f64::from(4 * super::setups::segment_bytes(5));
    let shares: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.window_mean_bytes)
        .map(|window| (window / buffer).min(1.0))
        .collect();
    let again: Vec<f64> = runs.iter().map(|run| run.segments_again as f64).collect();
    let later: Vec<f64> = self::runs(findings, DELAY, 3, UP, 40)
        .iter()
        .map(|run| run.segments_again as f64)
        .collect();
    vec![
        part(
            "window over 3 hops at 0 ms",
            "almost always maxed out (capped at the send buffer)",
            percent(&shares),
            above(&shares, &vec![0.8; shares.len()]),
        ),
        part(
            "retransmissions over 3 hops",
            "fast ones fall with the delay",
            format!(
                "{:.0} segments sent again at 0 ms, {:.0} at 40 ms",
                mean(&again).unwrap_or(0.0),
                mean(&later).unwrap_or(0.0)
            ),
            above(&again, &later),
        ),
    ]
}

fn models(findings: &Findings<'_>) -> Claim {
    let parts = [1, 3].map(|hops| {
        let (mut ours, mut square) = (Vec::new(), Vec::new());
        for delay in DELAYS_MS {
            let runs = runs(findings, DELAY, hops, UP, delay);
            let rtts: Vec<f64> = runs.iter().filter_map(|run| run.rtt_mean_ms).collect();
            let (Some(mss), Some(rtt), Some(measured), Some(loss)) = (
                mean_segment(&runs),
                mean(&rtts),
                mean(&goodputs(findings, DELAY, hops, UP, delay)),
                mean(&segment_losses(findings, DELAY, hops, UP, delay)),
            ) else {
                continue;
            };
            let (rtt, measured) = (rtt / 1_000.0, measured * 1_000.0);
            let error = |model: f64| (model - measured).abs() / measured;
            ours.push(error(model::small_window(mss, rtt, 4.0, loss)));
            square.push(error(model::square_root(mss, rtt, loss)));
        }
        let worse = ours
            .iter()
            .zip(&square)
            .filter(|(ours, square)| ours >= square)
            .count();
        let error = mean(&ours);
        let holds = error.is_some_and(|error| error < 0.15) && worse == 0;
        part(
            &format!("{hops} hops"),
            "MSS/RTT / (1/w + 2p) predicts the goodput, the law of the square root does not",
            format!(
                "relative error {}, worse than the law of the square root at {worse} of {} delays",
                percent(&ours),
                ours.len()
            ),
            error.map_or(Verdict::NotMeasured, |_| Verdict::exact(holds)),
        )
    });
    claim("T8", "A model of the goodput", parts.to_vec())
}

fn one_segment(findings: &Findings<'_>) -> Claim {
    let mut parts = Vec::new();
    for hops in [1, 3] {
        let full = goodputs(findings, DELAY, hops, UP, if hops == 1 { 0 } else { 40 });
        for frames in super::setups::ONE_SEGMENT_FRAMES {
            let one = goodputs(findings, ONE_SEGMENT, hops, UP, frames);
            parts.push(part(
                &format!("over one segment of {frames} frames, {hops} hops"),
                "5 to 40 times",
                format!("{} and {}", kbps(&full), kbps(&one)),
                above(&full, &times(&one, 5.0)),
            ));
        }
    }
    claim("T9", "Against stacks with one segment under way", parts)
}
