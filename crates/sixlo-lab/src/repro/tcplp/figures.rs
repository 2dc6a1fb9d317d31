//! The paper's figures, as our runs draw them.

use super::claims::{goodputs, segment_losses};
use super::setups::{BUFFER, DELAY, DELAYS_MS, DOWN, FRAMES, MSS, SEGMENTS, UP};
use crate::plot::{Horizontal, LineChart, Series, Unit, Value, colour};
use crate::report::Figure;
use crate::repro::Findings;
use crate::stats::Estimate;

/// The values of the runs at a point: what varies, hops, direction, value.
type Of = fn(&Findings<'_>, &str, u16, &str, u16) -> Vec<f64>;

/// A line of a chart: its name, the hops, the direction.
type Line = (&'static str, u16, &'static str);

/// All figures.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Figure> {
    let both: [Line; 2] = [("uplink", 1, UP), ("downlink", 1, DOWN)];
    let hops: [Line; 2] = [("1 hop", 1, UP), ("3 hops", 3, UP)];
    vec![
        figure(
            ("fig-3a-segment-size", "Fig. 3a: goodput over the segment size"),
            "One hop, buffers of four segments. In the paper goodput grows four to five times up to five frames and is flat beyond.",
            chart(
                findings,
                ("Frames of a segment", "Goodput (kb/s)"),
                (MSS, &FRAMES),
                &both,
                goodputs,
            ),
        ),
        figure(
            ("fig-3b-buffers", "Fig. 3b: goodput over the buffers"),
            "One hop, segments of five frames. In the paper it levels off at three to four segments.",
            chart(
                findings,
                ("Segments of a buffer", "Goodput (kb/s)"),
                (BUFFER, &SEGMENTS),
                &both,
                goodputs,
            ),
        ),
        figure(
            (
                "fig-5ab-retry-delay",
                "Fig. 5a, 5b: goodput over the delay of retries",
            ),
            "Up to the delay passes, at random, before each retry of the link. In the paper one hop loses goodput, three hops keep theirs.",
            chart(
                findings,
                ("Longest delay (ms)", "Goodput (kb/s)"),
                (DELAY, &DELAYS_MS),
                &hops,
                goodputs,
            ),
        ),
        figure(
            (
                "fig-5b-segment-loss",
                "Fig. 5b: segments lost over the delay of retries",
            ),
            "In the paper 6 % over three hops without delay, below 1 % from 30 ms on.",
            chart(
                findings,
                ("Longest delay (ms)", "Segments lost (%)"),
                (DELAY, &DELAYS_MS),
                &hops,
                |of, varied, hops, way, value| {
                    let shares = segment_losses(of, varied, hops, way, value);
                    shares.into_iter().map(|share| share * 100.0).collect()
                },
            ),
        ),
    ]
}

fn chart(
    findings: &Findings<'_>,
    (x_title, y_title): (&str, &str),
    (varied, values): (&str, &[u16]),
    lines: &[Line],
    of: Of,
) -> LineChart {
    let series = lines
        .iter()
        .enumerate()
        .map(|(number, &(name, hops, direction))| {
            let at = |&value: &u16| {
                let estimate = Estimate::of(&of(findings, varied, hops, direction, value))?;
                Some(Value {
                    x: value.into(),
                    y: estimate.mean,
                    interval: estimate.low(0.0).zip(estimate.high(f64::INFINITY)),
                    tooltip: format!("{name}, {value}: {:.2}", estimate.mean),
                })
            };
            Series {
                label: name.to_owned(),
                colour: colour::series(number),
                values: values.iter().filter_map(at).collect(),
            }
        });
    LineChart {
        title: y_title.to_owned(),
        x: Horizontal::Numbers(values.iter().map(|&value| value.into()).collect()),
        x_title: x_title.to_owned(),
        unit: Unit::Number,
        y_title: y_title.to_owned(),
        series: series.filter(|series| !series.values.is_empty()).collect(),
    }
}

fn figure((name, title): (&'static str, &str), caption: &str, chart: LineChart) -> Figure {
    Figure {
        name,
        title: title.to_owned(),
        caption: format!("{caption} Means with 95 % intervals over the runs of each point."),
        wide: false,
        svg: chart.draw(),
    }
}
