//! The paper's figures, as our runs draw them.

use plotters::style::RGBColor;
use sixlo_sim::config::Control;

use super::section_v::{self, F_B};
use super::setups::{self, DEFAULT_GROUND, E2E, F_A, FEW, FF, FF_RFC, GROUNDS, HWR, SFR_1, SFR_5, SFR_8};
use crate::campaign::PointResult;
use crate::plot::{
    CdfPanel, CdfPanels, Distribution, Horizontal, LineChart, Origin, Series, Unit, Value, colour,
};
use crate::report::Figure;
use crate::repro::Findings;
use crate::results::{Hops, Run};
use crate::stats::Estimate;

/// All figures for which there are runs.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Figure> {
    let mut figures = vec![buffer(findings)];
    figures.extend(delivery(findings));
    figures.push(ranges(findings));
    figures.push(latency(findings));
    figures.push(retransmissions(findings));
    figures.push(busy(findings));
    figures.extend(congestion(findings));
    figures.push(super::windows::figure(findings));
    figures
}

/// An estimate at a point.
fn value(point: &PointResult, x: f64, most: f64, of: fn(&Run) -> Option<f64>) -> Option<Value> {
    let values: Vec<f64> = point.runs.iter().filter_map(of).collect();
    let estimate = Estimate::of(&values)?;
    Some(Value {
        x,
        y: estimate.mean,
        interval: estimate.low(0.0).zip(estimate.high(most)),
        tooltip: format!("{}: {:.3}", point.labels.join(", "), estimate.mean),
    })
}

/// The colour of a variant of set-up F-A: the same in all figures, the other variants of recovery behind those that decide.
fn colour_of(variant: &str) -> RGBColor {
    let others = setups::VARIANTS.iter().map(|variant| variant.name);
    let others = others.filter(|name| !setups::DECIDING.contains(name));
    let mut all = setups::DECIDING.into_iter().chain(others);
    colour::series(all.position(|name| name == variant).unwrap_or(0))
}

/// A chart over the payload at the default medium, a line a variant.
fn over_payload(
    findings: &Findings<'_>,
    title: &str,
    unit: Unit,
    variants: &[&str],
    of: fn(&Run) -> Option<f64>,
) -> LineChart {
    let most = if unit == Unit::Share { 1.0 } else { f64::INFINITY };
    let series = variants.iter().map(|variant| {
        let points = findings.beginning(&[F_A, DEFAULT_GROUND, variant]);
        let values = points.filter_map(|point| {
            let payload: f64 = point.labels.last()?.parse().ok()?;
            value(point, payload, most, of)
        });
        Series {
            origin: Origin::Measured,
            label: variant.to_string(),
            colour: colour_of(variant),
            values: values.collect(),
        }
    });
    let series: Vec<Series> = series.filter(|series| !series.values.is_empty()).collect();
    let x = series
        .iter()
        .flat_map(|series| &series.values)
        .map(|value| value.x);
    LineChart {
        title: title.to_owned(),
        x: Horizontal::Numbers(x.collect()),
        x_title: "UDP payload (bytes)".to_owned(),
        unit,
        y_title: title.to_owned(),
        series,
    }
}

fn figure(name: &'static str, title: &str, caption: &str, chart: &LineChart) -> Figure {
    Figure {
        name,
        title: title.to_owned(),
        caption: format!("{caption} Means with 95 % intervals over the runs of each point."),
        wide: false,
        svg: chart.draw(),
    }
}

fn buffer(findings: &Findings<'_>) -> Figure {
    let chart = over_payload(
        findings,
        "Mean use of the packet buffer (%)",
        Unit::Number,
        &[HWR, FF, E2E, SFR_1],
        |run| Some(run.buffer_mean_bytes / 61.44),
    );
    figure(
        "fig-12-buffer",
        "Fig. 12: use of the packet buffer",
        "Share of 6144 bytes, mean over time and nodes. In the paper SFR is lowest, E2E below FF and HWR, FF about 1 % below \
         HWR.",
        &chart,
    )
}

fn delivery(findings: &Findings<'_>) -> Vec<Figure> {
    let chart = |variants: &[&str]| {
        over_payload(findings, "Packet delivery ratio", Unit::Share, variants, |run| {
            run.pdr
        })
    };
    let of_window = |window: &str| {
        let names = setups::VARIANTS.iter().map(|variant| variant.name);
        names.filter(|name| name.starts_with(window)).collect::<Vec<_>>()
    };
    let mut five = of_window(SFR_5);
    five.push(SFR_8);
    vec![
        figure(
            "fig-13a-delivery",
            "Fig. 13a: delivery without recovery",
            "In the paper FF and E2E have less than a quarter of HWR's PDR already at few fragments and go towards 0. FF by \
             RFC 8930 has the derived gap between fragments and no fall-back; the paper did not run it.",
            &chart(&[HWR, FF, FF_RFC, E2E]),
        ),
        figure(
            "fig-13b-delivery-window-1",
            "Fig. 13b: delivery with SFR, window 1",
            "In the paper SFR with a window of one fragment is comparable to HWR, and 1 to 2 % above it at long payloads.",
            &chart(&of_window(SFR_1)),
        ),
        figure(
            "fig-13c-delivery-window-5",
            "Fig. 13c: delivery with SFR, window 5",
            "The paper's window of 5, and one of 8: above 6 the PDR dropped drastically (not shown there).",
            &chart(&five),
        ),
    ]
}

/// PDR over the medium: what is not known of the testbed.
fn ranges(findings: &Findings<'_>) -> Figure {
    let names: Vec<String> = GROUNDS.iter().map(|ground| ground.name.to_owned()).collect();
    let series = setups::DECIDING.iter().map(|variant| {
        let values = GROUNDS.iter().enumerate().filter_map(|(place, ground)| {
            let point = findings.at(&[F_A, ground.name, variant, &FEW.to_string()])?;
            value(point, place as f64, 1.0, |run| run.pdr)
        });
        Series {
            origin: Origin::Measured,
            label: variant.to_string(),
            colour: colour_of(variant),
            values: values.collect(),
        }
    });
    let chart = LineChart {
        title: "Packet delivery ratio by medium".to_owned(),
        x: Horizontal::Names(names),
        x_title: "How far nodes disturb each other".to_owned(),
        unit: Unit::Share,
        y_title: "Packet delivery ratio".to_owned(),
        series: series.filter(|series| !series.values.is_empty()).collect(),
    };
    figure(
        "delivery-by-medium",
        "What is not known of the testbed",
        "192 bytes of payload. How far nodes disturb each other decides how the strategies compare.",
        &chart,
    )
}

/// Latencies of a point by hops: deciles of all runs, each of which stands for a tenth of its run's datagrams.
fn distributions(point: &PointResult) -> Vec<Distribution> {
    let mut hops: Vec<u16> = point.hops.iter().flatten().map(|row| row.hops).collect();
    hops.sort_unstable();
    hops.dedup();
    let most = f64::from(hops.last().copied().unwrap_or(1).max(2));
    let of = |hops: u16| {
        let rows = || point.hops.iter().flatten().filter(|row| row.hops == hops);
        let mut values: Vec<f64> = rows().filter_map(Hops::deciles_ms).flatten().collect();
        values.sort_by(f64::total_cmp);
        let lost: u64 = rows().map(|row| row.sent - row.delivered).sum();
        Distribution {
            label: format!("{hops} hops, {lost} lost"),
            colour: colour::ordered((f64::from(hops) - 1.0) / (most - 1.0)),
            values,
        }
    };
    hops.into_iter()
        .map(of)
        .filter(|one| !one.values.is_empty())
        .collect()
}

fn latency(findings: &Findings<'_>) -> Figure {
    let panels = [HWR, FF, E2E, SFR_1, SFR_5, FF_RFC].iter().filter_map(|variant| {
        let point = findings.at(&[F_A, DEFAULT_GROUND, variant, &FEW.to_string()])?;
        Some(CdfPanel {
            title: variant.to_string(),
            distributions: distributions(point),
        })
    });
    let chart = CdfPanels {
        title: "Latency by hops".to_owned(),
        x_title: "Latency (ms)".to_owned(),
        y_title: "Share of the delivered datagrams".to_owned(),
        panels: panels.collect(),
    };
    Figure {
        name: "fig-14-latency",
        title: "Fig. 14: latency by the length of the route".to_owned(),
        caption: format!(
            "Cumulative distributions of the latency of delivered datagrams of {FEW} bytes, by hops, with the number of those \
             that were lost; from the deciles of each run. In the paper SFR is slowest, a window of 1 well above one of 5, \
             and FF is not faster than HWR."
        ),
        wide: true,
        svg: chart.draw(),
    }
}

fn retransmissions(findings: &Findings<'_>) -> Figure {
    let chart = over_payload(
        findings,
        "Link retransmissions a node and run",
        Unit::Number,
        &[HWR, FF, FF_RFC, E2E, SFR_1, SFR_5],
        |run| Some(run.link_retransmissions_per_node),
    );
    figure(
        "retransmissions",
        "Link retransmissions a node",
        "In the paper FF, E2E and SFR need significantly more than HWR (not shown there).",
        &chart,
    )
}

/// PDR over the number of fragments, a figure for each variant of the set-up.
fn congestion(findings: &Findings<'_>) -> Vec<Figure> {
    let drawn = section_v::COURSES
        .iter()
        .zip(CONGESTION_NAMES)
        .map(|(course, name)| congestion_at(findings, course, name));
    drawn.collect()
}

/// Names of the files, in the order of the variants.
const CONGESTION_NAMES: [&str; 7] = [
    "fig-18-congestion",
    "congestion-half-load",
    "congestion-double-load",
    "congestion-without-ecn",
    "congestion-without-gap",
    "congestion-reassembly-60-s",
    "congestion-queues-of-table-4",
];

fn congestion_at(findings: &Findings<'_>, course: &section_v::Course, name: &'static str) -> Figure {
    let series = Control::ALL.iter().enumerate().map(|(number, control)| {
        let points = section_v::PAYLOADS
            .iter()
            .zip(2..)
            .filter_map(|(payload, count)| {
                let point = findings.at(&[F_B, course.name, control.name(), &payload.to_string()])?;
                value(point, f64::from(count), 100.0, |run| {
                    run.pdr.map(|share| share * 100.0)
                })
            });
        Series {
            origin: Origin::Measured,
            label: control.name().to_owned(),
            colour: colour::series(number),
            values: points.collect(),
        }
    });
    let series: Vec<Series> = series.filter(|series| !series.values.is_empty()).collect();
    let x = series
        .iter()
        .flat_map(|series| &series.values)
        .map(|value| value.x);
    let chart = LineChart {
        title: format!("Packet delivery ratio, {}", course.name),
        x: Horizontal::Numbers(x.collect()),
        x_title: "Fragments".to_owned(),
        unit: Unit::Number,
        y_title: "Packet delivery ratio (%)".to_owned(),
        series,
    };
    let (title, caption) = match course.name {
        section_v::LOAD => (
            "Fig. 18: delivery with congestion control".to_owned(),
            "Six sources behind one forwarder. In the paper all have about 2 % at 2 fragments, paced QUIC is best, and odd \
             counts beat even ones with appendix C of RFC 8931. Calm is our own."
                .to_owned(),
        ),
        other => (format!("Congestion control, {other}"), format!("The set-up of Fig. 18, but {}.", course.about)),
    };
    figure(name, &title, &caption, &chart)
}

fn busy(findings: &Findings<'_>) -> Figure {
    let chart = over_payload(
        findings,
        "Frames lost to a busy radio a run",
        Unit::Number,
        &[HWR, FF, FF_RFC, E2E, SFR_1, SFR_5],
        |run| Some(run.radio_busy_losses as f64),
    );
    figure(
        "busy-radio",
        "Frames lost because a radio was busy",
        "The cause that the paper gives (Fig. 15): the only frame buffer is in use, or the radio backs off, when the next \
         fragment comes.",
        &chart,
    )
}
