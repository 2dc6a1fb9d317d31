//! The figures of a report.

use std::collections::BTreeMap;

use maud::Markup;

use super::layout::{Layout, point_name, some_of, title, with_unit};
use crate::campaign::PointResult;
use crate::plot::{
    Bar, CdfPanel, CdfPanels, Distribution, Horizontal, LineChart, Map, MapNode, Origin, Series, StackedBars,
    Unit, Value, colour,
};
use crate::results::Node;
use crate::scenario::Scenario;
use crate::stats::Estimate;

/// A figure with what is said about it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its file, without ending.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// It takes the whole width of the page.
    pub wide: bool,
    /// The drawing.
    pub svg: Markup,
}

/// More lines than this cannot be told apart.
const LINES_MAX: usize = 8;
/// Panels of the latency figure.
const PANELS_MAX: usize = 4;
/// Categories of a bar; the rarest are put together beyond.
const CATEGORIES_MAX: usize = 9;

/// All figures that the results allow.
pub(super) fn all(scenario: &Scenario, points: &[PointResult]) -> Vec<Figure> {
    let layout = Layout::of(&scenario.axes, points);
    let mut figures = Vec::new();
    figures.extend(topology(scenario, points));
    if layout.x.is_some() {
        figures.push(delivery(scenario, points, &layout));
    }
    figures.extend(delivery_by_hops(scenario, points));
    figures.extend(latency(scenario, points));
    if layout.x.is_some() && layout.lines.len() == 1 {
        figures.push(latency_over_axis(scenario, points, &layout));
    }
    figures.extend(lost(scenario, points));
    if layout.x.is_some() {
        figures.push(retransmissions(scenario, points, &layout));
    }
    figures.extend(radio(scenario, points));
    figures
}

fn topology(scenario: &Scenario, points: &[PointResult]) -> Option<Figure> {
    let point = points.iter().rev().find(|point| !point.nodes.is_empty())?;
    let map = Map {
        title: format!("Map of the {} nodes", point.nodes.len()),
        nodes: point.nodes.iter().map(map_node).collect(),
    };
    let varied = if scenario.axes.is_empty() {
        String::new()
    } else {
        format!(", {}", point_name(&scenario.axes, point))
    };
    Some(Figure {
        name: "topology",
        title: "The network".to_owned(),
        caption: format!(
            "Where the {} nodes stand, and the route of each to the sink. The colour of a link is the share of the \
             node's transmissions to its parent that were acknowledged (first run{varied}); grey links carried nothing. \
             Numbers are those of the nodes in tables and traces; nodes that would hide each other are drawn a little apart.",
            point.nodes.len()
        ),
        wide: true,
        svg: map.draw(),
    })
}

fn map_node(node: &Node) -> MapNode {
    let quality =
        (node.link_transmissions > 0).then(|| node.link_acknowledged as f64 / node.link_transmissions as f64);
    let link = match (node.parent, quality) {
        (Some(parent), Some(quality)) => format!(
            "\nto node {parent}: {} frames acknowledged of {} transmissions ({:.1} %)",
            node.link_acknowledged,
            node.link_transmissions,
            quality * 100.0
        ),
        (Some(parent), None) => format!("\nto node {parent}: nothing sent"),
        (None, _) => "\nthe sink".to_owned(),
    };
    MapNode {
        number: node.node,
        at_m: [node.x_m, node.y_m, node.z_m],
        parent: node.parent,
        hops: node.hops,
        quality,
        tooltip: format!(
            "node {} ({}), {} hops\n{} of {} datagrams delivered{link}",
            node.node, node.name, node.hops, node.delivered, node.sent
        ),
    }
}

/// A chart of one estimate over the axis from left to right.
fn over_axis(
    scenario: &Scenario,
    points: &[PointResult],
    layout: &Layout,
    estimate: impl Fn(&PointResult) -> Option<Estimate>,
    ceiling: f64,
    shown: impl Fn(f64) -> String,
) -> (Horizontal, String, Vec<Series>) {
    let axis = layout.x.map(|x| scenario.axes[x].as_str()).unwrap_or_default();
    let x = Horizontal::of(&layout.x_labels);
    let lines = some_of(layout.lines.len(), LINES_MAX);
    let series = lines.iter().enumerate().map(|(place, line)| {
        let (label, numbers) = &layout.lines[*line];
        let value = |number: &usize| {
            let point = &points[*number];
            let estimate = estimate(point)?;
            let label = layout.x.map(|x| &point.labels[x])?;
            let at = layout.x_labels.iter().position(|other| other == label)?;
            let interval = estimate.low(0.0).zip(estimate.high(ceiling));
            let spread = interval.map_or(String::new(), |(low, high)| {
                format!(", 95 % interval {} to {}", shown(low), shown(high))
            });
            Some(Value {
                x: x.value(at),
                y: estimate.mean,
                interval,
                tooltip: format!("{}: {}{spread}", with_unit(axis, label), shown(estimate.mean)),
            })
        };
        let mut values: Vec<Value> = numbers.iter().filter_map(value).collect();
        values.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series {
            origin: Origin::Measured,
            label: label.clone(),
            colour: colour::series(place),
            values,
        }
    });
    let series = series.collect();
    (x, title(axis), series)
}

fn delivery(scenario: &Scenario, points: &[PointResult], layout: &Layout) -> Figure {
    let shown = |value: f64| format!("{:.1} %", value * 100.0);
    let (x, x_title, series) = over_axis(scenario, points, layout, |point| point.estimates.pdr, 1.0, shown);
    let chart = LineChart {
        title: "Packet delivery ratio".to_owned(),
        x,
        x_title,
        unit: Unit::Share,
        y_title: "Packet delivery ratio".to_owned(),
        series,
    };
    Figure {
        name: "pdr",
        title: "Packet delivery ratio".to_owned(),
        caption: format!(
            "Distinct datagrams delivered over datagrams that the applications wanted to send: mean of the runs{}.",
            interval_words(points)
        ),
        wide: false,
        svg: chart.draw(),
    }
}

fn interval_words(points: &[PointResult]) -> String {
    let runs = points.iter().map(|point| point.runs.len()).max().unwrap_or(0);
    if runs < 2 {
        " (a single run has no interval)".to_owned()
    } else {
        format!(" with its 95 % interval (Student's t over {runs} runs)")
    }
}

fn delivery_by_hops(scenario: &Scenario, points: &[PointResult]) -> Option<Figure> {
    let mut hops: Vec<u16> = points
        .iter()
        .flat_map(|point| point.latencies_ms.keys().copied())
        .collect();
    hops.sort_unstable();
    hops.dedup();
    if hops.len() < 2 {
        return None;
    }
    let chosen = some_of(points.len(), LINES_MAX);
    let series = chosen.iter().enumerate().map(|(place, number)| {
        let point = &points[*number];
        let values = point.latencies_ms.iter().map(|(hops, (arrived, missing))| {
            let sent = arrived.len() as u64 + missing;
            let share = arrived.len() as f64 / sent.max(1) as f64;
            Value {
                x: f64::from(*hops),
                y: share,
                interval: None,
                tooltip: format!(
                    "{hops} hops: {} of {sent} delivered ({:.1} %)",
                    arrived.len(),
                    share * 100.0
                ),
            }
        });
        Series {
            origin: Origin::Measured,
            label: if points.len() > 1 {
                point_name(&scenario.axes, point)
            } else {
                String::new()
            },
            colour: colour::series(place),
            values: values.collect(),
        }
    });
    let chart = LineChart {
        title: "Packet delivery ratio by hops".to_owned(),
        x: Horizontal::Numbers(hops.iter().map(|hops| f64::from(*hops)).collect()),
        x_title: "Hops to the receiver".to_owned(),
        unit: Unit::Share,
        y_title: "Packet delivery ratio".to_owned(),
        series: series.collect(),
    };
    Some(Figure {
        name: "pdr-by-hops",
        title: "Delivery by distance".to_owned(),
        caption: "The same by the length of the route, over the datagrams of all runs.".to_owned(),
        wide: false,
        svg: chart.draw(),
    })
}

fn latency(scenario: &Scenario, points: &[PointResult]) -> Option<Figure> {
    let any = points.iter().any(|point| {
        point
            .latencies_ms
            .values()
            .any(|(arrived, _)| !arrived.is_empty())
    });
    if !any {
        return None;
    }
    let far = points
        .iter()
        .filter_map(|point| point.latencies_ms.keys().last())
        .max()
        .copied()
        .unwrap_or(1);
    let panel = |number: usize| {
        let point = &points[number];
        let some = some_of(point.latencies_ms.len(), LINES_MAX);
        let all: Vec<_> = point.latencies_ms.iter().collect();
        let distributions = some.into_iter().map(|at| {
            let (hops, (arrived, missing)) = all[at];
            let lost = if *missing > 0 {
                format!(" ({missing} of {} lost)", arrived.len() as u64 + missing)
            } else {
                String::new()
            };
            Distribution {
                label: format!("{hops} hop{}{lost}", if *hops == 1 { "" } else { "s" }),
                colour: colour::ordered(f64::from(hops.saturating_sub(1)) / f64::from(far.max(2) - 1)),
                values: arrived.clone(),
            }
        });
        CdfPanel {
            title: if points.len() > 1 {
                point_name(&scenario.axes, point)
            } else {
                String::new()
            },
            distributions: distributions.collect(),
        }
    };
    let panels = CdfPanels {
        title: "Distribution of the latency by hops".to_owned(),
        x_title: "Latency (ms, logarithmic)".to_owned(),
        y_title: "Share of the delivered datagrams that took at most so long".to_owned(),
        panels: some_of(points.len(), PANELS_MAX).into_iter().map(panel).collect(),
    };
    Some(Figure {
        name: "latency",
        title: "Latency by distance".to_owned(),
        caption: "From the call at the source to the delivery at the receiver's socket, over the delivered datagrams of \
                  all runs, by the length of their route. Datagrams that were lost have no latency; their number stands \
                  beside the distribution."
            .to_owned(),
        wide: true,
        svg: panels.draw(),
    })
}

fn latency_over_axis(scenario: &Scenario, points: &[PointResult], layout: &Layout) -> Figure {
    let shown = |value: f64| format!("{value:.1} ms");
    let mut all = Vec::new();
    let mut x = None;
    type Quantity = fn(&PointResult) -> Option<Estimate>;
    let quantities: [(&str, Quantity); 2] = [
        ("median", |point| point.estimates.latency_p50_ms),
        ("90th percentile", |point| point.estimates.latency_p90_ms),
    ];
    for (place, (name, quantity)) in quantities.into_iter().enumerate() {
        let (axis, x_title, series) = over_axis(scenario, points, layout, quantity, f64::INFINITY, shown);
        x = Some((axis, x_title));
        all.extend(series.into_iter().map(|series| Series {
            origin: Origin::Measured,
            label: name.to_owned(),
            colour: colour::series(place),
            ..series
        }));
    }
    let (x, x_title) = x.unwrap_or((Horizontal::Names(Vec::new()), String::new()));
    let chart = LineChart {
        title: "Latency".to_owned(),
        x,
        x_title,
        unit: Unit::Number,
        y_title: "Latency (ms)".to_owned(),
        series: all,
    };
    Figure {
        name: "latency-quantiles",
        title: "Latency".to_owned(),
        caption: format!(
            "Median and 90th percentile over the delivered datagrams of a run: mean of the runs{}.",
            interval_words(points)
        ),
        wide: false,
        svg: chart.draw(),
    }
}

/// Categories with their totals, the most frequent first; beyond the limit they are put together.
fn categories(totals: &BTreeMap<String, u64>) -> Vec<String> {
    let mut sorted: Vec<_> = totals.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let mut names: Vec<String> = sorted.into_iter().map(|(name, _)| name.clone()).collect();
    if names.len() > CATEGORIES_MAX {
        names.truncate(CATEGORIES_MAX - 1);
        names.push(OTHERS.to_owned());
    }
    names
}

const OTHERS: &str = "others";

/// How much of a bar each category takes.
fn parts(names: &[String], counts: &BTreeMap<String, u64>, of: f64) -> Vec<f64> {
    let mut parts = vec![0.0; names.len()];
    for (name, count) in counts {
        let at = names.iter().position(|other| other == name);
        if let Some(part) = at.or(names.len().checked_sub(1)).and_then(|at| parts.get_mut(at)) {
            *part += *count as f64 / of.max(1.0);
        }
    }
    parts
}

fn lost(scenario: &Scenario, points: &[PointResult]) -> Option<Figure> {
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    for (reason, count) in points.iter().flat_map(|point| &point.lost) {
        *totals.entry(reason.clone()).or_default() += count;
    }
    if totals.is_empty() {
        return None;
    }
    let names = categories(&totals);
    let bar = |point: &PointResult| {
        let sent: u64 = point.runs.iter().map(|run| run.sent).sum();
        let counts: BTreeMap<String, u64> = point.lost.iter().cloned().collect();
        let lost: u64 = counts.values().sum();
        Bar {
            label: point_name(&scenario.axes, point),
            parts: parts(&names, &counts, sent as f64),
            remark: crate::plot::count_of(lost, sent),
        }
    };
    let bars: Vec<Bar> = some_of(points.len(), 24)
        .into_iter()
        .map(|number| bar(&points[number]))
        .collect();
    let chart = StackedBars {
        title: "Lost datagrams by reason".to_owned(),
        x_title: "Share of the datagrams sent".to_owned(),
        unit: Unit::Share,
        categories: names,
        bars,
    };
    Some(Figure {
        name: "lost",
        title: "Why datagrams were lost".to_owned(),
        caption: "The reason with which the last trace of a datagram ended, all runs together. Every datagram ends in \
                  exactly one of these ways or is delivered."
            .to_owned(),
        wide: false,
        svg: chart.draw(),
    })
}

fn retransmissions(scenario: &Scenario, points: &[PointResult], layout: &Layout) -> Figure {
    let estimate = |point: &PointResult| point.estimates.link_retransmissions_per_node;
    let shown = |value: f64| format!("{value:.1}");
    let (x, x_title, series) = over_axis(scenario, points, layout, estimate, f64::INFINITY, shown);
    let chart = LineChart {
        title: "Link-layer retransmissions".to_owned(),
        x,
        x_title,
        unit: Unit::Number,
        y_title: "Link-layer retransmissions a node and run".to_owned(),
        series,
    };
    Figure {
        name: "retransmissions",
        title: "Link-layer retransmissions".to_owned(),
        caption: format!(
            "How often a node sent a frame again because no acknowledgement came: mean of the runs{}.",
            interval_words(points)
        ),
        wide: false,
        svg: chart.draw(),
    }
}

fn radio(scenario: &Scenario, points: &[PointResult]) -> Option<Figure> {
    let counts_of = |point: &PointResult| -> BTreeMap<String, u64> {
        let radio = point.losses.iter().filter(|((kind, _), _)| kind == "radio");
        radio.map(|((_, cause), count)| (cause.clone(), *count)).collect()
    };
    let mut totals: BTreeMap<String, u64> = BTreeMap::new();
    for (cause, count) in points.iter().flat_map(counts_of) {
        *totals.entry(cause).or_default() += count;
    }
    if totals.values().sum::<u64>() == 0 {
        return None;
    }
    let names = categories(&totals);
    let bars: Vec<Bar> = some_of(points.len(), 24)
        .into_iter()
        .map(|number| &points[number])
        .map(|point| Bar {
            label: point_name(&scenario.axes, point),
            parts: parts(&names, &counts_of(point), point.runs.len() as f64),
            remark: String::new(),
        })
        .collect();
    let chart = StackedBars {
        title: "Frames lost on the radio by cause".to_owned(),
        x_title: "Frames a run".to_owned(),
        unit: Unit::Number,
        categories: names,
        bars,
    };
    Some(Figure {
        name: "radio-losses",
        title: "What the radio lost".to_owned(),
        caption: "Frames that were on the air for a node and did not reach its stack, by cause, mean of the runs. The \
                  link layer repeats most of them, so a loss here is seldom the loss of a datagram."
            .to_owned(),
        wide: false,
        svg: chart.draw(),
    })
}
