use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
use proptest::prelude::*;

use super::axis::plain;
use super::*;

/// Values and labels of the ticks of an axis.
fn ticks(axis: &Axis) -> Vec<(f64, String)> {
    let values = axis.key_points(BoldPoints(6));
    values
        .into_iter()
        .map(|value| (value, axis.format_ext(&value)))
        .collect()
}

fn labels(axis: &Axis) -> Vec<String> {
    ticks(axis).into_iter().map(|(_, label)| label).collect()
}

#[test]
fn an_axis_from_zero_ends_at_a_round_number_above_its_values() {
    let axis = Axis::from_zero(Unit::Number, 1_708.0);
    assert_eq!(axis.range(), 0.0..2_000.0);
    assert_eq!(labels(&axis), ["0", "500", "1000", "1500", "2000"]);
    assert_eq!(axis.map(&1_000.0, (0, 100)), 50);
    assert_eq!(
        labels(&Axis::from_zero(Unit::Share, 1.0)),
        ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
    );
    assert_eq!(Axis::from_zero(Unit::Share, 0.163).range(), 0.0..0.2);
    assert_eq!(Axis::from_zero(Unit::Number, 0.0).range(), 0.0..1.0);
}

#[test]
fn an_axis_of_numbers_has_ticks_at_its_values_or_if_they_stand_too_close_at_round_ones() {
    assert_eq!(labels(&Axis::around([32.0, 6.5, 13.0])), ["6.5", "13", "32"]);
    let close = Axis::around((0..100).map(f64::from));
    assert_eq!(labels(&close), ["0", "20", "40", "60", "80", "100"]);
    assert_eq!(labels(&Axis::around([7.0])), ["7"]);
    let none = Axis::around([f64::NAN, f64::INFINITY]);
    assert!(none.range().start < none.range().end && ticks(&none).is_empty());
}

#[test]
fn a_logarithmic_axis_has_ticks_at_one_two_and_five() {
    let axis = Axis::logarithmic(12.0, 180.0);
    assert_eq!(labels(&axis), ["10", "20", "50", "100", "200"]);
    assert_eq!(axis.range(), 10.0..200.0);
    // log10(100 / 10) / log10(200 / 10)
    assert_eq!(axis.map(&100.0, (0, 1_000)), 768);
    // Over many decades only the powers of ten.
    let wide = Axis::logarithmic(0.9, 9_000.0);
    assert!(
        ticks(&wide)
            .iter()
            .all(|(value, _)| libm::log10(*value).fract().abs() < 1e-9)
    );
    assert!(labels(&wide).contains(&"1000".to_owned()), "{wide:?}");
}

#[test]
fn names_are_spaced_evenly_and_can_run_from_top_to_bottom() {
    let names = ["disc", "log", "list"].map(str::to_owned);
    let axis = Axis::names(&names);
    assert_eq!(labels(&axis), names);
    let places = |axis: &Axis| [0.0, 1.0, 2.0].map(|value| axis.map(&value, (0, 600)));
    assert_eq!(places(&axis), [100, 300, 500]);
    assert_eq!(places(&axis.reversed()), [500, 300, 100]);
}

#[test]
fn labels_that_are_numbers_make_a_scale_and_others_make_names() {
    let of = |labels: [&str; 2]| Horizontal::of(&labels.map(str::to_owned));
    assert_eq!(of(["16", "512"]), Horizontal::Numbers(vec![16.0, 512.0]));
    assert_eq!(of(["16", "512"]).value(1), 512.0);
    assert_eq!(of(["disc", "16"]).value(1), 1.0);
    assert!(matches!(of(["inf", "16"]), Horizontal::Names(_)));
}

#[test]
fn numbers_are_shown_without_needless_digits() {
    for (value, shown) in [
        (0.0, "0"),
        (0.25, "0.25"),
        (1.5, "1.5"),
        (12.345, "12.35"),
        (1_024.0, "1024"),
        (12_345.6, "12\u{202f}346"),
        (-1_234_567.0, "-1\u{202f}234\u{202f}567"),
    ] {
        assert_eq!(plain(value), shown);
    }
    assert_eq!(Unit::Share.label(0.163_1), "16.3 %");
}

#[test]
fn scales_of_colour_hold_their_ends_and_what_is_outside() {
    assert_eq!(colour::quality(0.0), RGBColor(178, 32, 60));
    assert_eq!(colour::quality(1.0), RGBColor(24, 130, 135));
    assert_eq!(colour::quality(-0.3), colour::quality(0.0));
    assert_eq!(colour::depth(1.5), colour::depth(1.0));
    assert_eq!(colour::ordered(0.125), RGBColor(59, 63, 135));
}

fn line_chart() -> LineChart {
    let value = |(x, y): (f64, f64)| Value {
        x,
        y,
        interval: Some((y - 0.1, y + 0.1)),
        tooltip: format!("a < b & {y}"),
    };
    let series = |number: usize, label: &str, values: [(f64, f64); 2]| Series {
        origin: Origin::Measured,
        label: label.into(),
        colour: colour::series(number),
        values: values.map(value).to_vec(),
    };
    LineChart {
        title: "title \"quoted\"".into(),
        x: Horizontal::of(&["16".into(), "1024".into()]),
        x_title: "Payload (bytes)".into(),
        unit: Unit::Share,
        y_title: "PDR".into(),
        series: vec![
            series(0, "a < b", [(16.0, 0.9), (1024.0, 0.5)]),
            series(1, "c", [(16.0, 0.3), (1024.0, 0.5)]),
        ],
    }
}

fn map() -> Map {
    let node = |number: u16, at_m: [f64; 3], parent: Option<u16>| MapNode {
        number,
        at_m,
        parent,
        hops: number - 1,
        quality: (number != 3).then_some(0.75),
        tooltip: format!("node <{number}>"),
    };
    Map {
        title: "map".into(),
        nodes: vec![
            node(1, [0.0; 3], None),
            node(2, [30.0, 0.0, 0.0], Some(1)),
            node(3, [30.0, 10.0, 3.0], Some(2)),
            node(4, [0.0, 10.0, 0.0], Some(9)),
        ],
    }
}

fn cdf() -> CdfPanels {
    let distribution = |hops: usize, values: &[f64]| Distribution {
        label: format!("{hops} hops (1 of 9 lost)"),
        colour: colour::series(hops),
        values: values.to_vec(),
    };
    let panel = |title: &str, distributions| CdfPanel {
        title: title.into(),
        distributions,
    };
    CdfPanels {
        title: "latency".into(),
        x_title: "Latency (ms)".into(),
        y_title: "share".into(),
        panels: vec![
            panel(
                "16 bytes",
                vec![distribution(2, &[1.0, 5.0, 80.0]), distribution(3, &[9.0])],
            ),
            panel("512 bytes", vec![distribution(4, &[700.0])]),
            panel("1024 bytes", Vec::new()),
        ],
    }
}

fn bars() -> StackedBars {
    StackedBars {
        title: "lost".into(),
        x_title: "Share of all".into(),
        unit: Unit::Share,
        categories: vec!["no-buffer".into(), "others".into()],
        bars: vec![
            Bar {
                label: "512 bytes".into(),
                parts: vec![0.5, 0.25],
                remark: "3 of 4".into(),
            },
            Bar {
                label: "16 bytes".into(),
                parts: vec![0.0, 0.001],
                remark: "1 of 1000".into(),
            },
        ],
    }
}

fn drawings() -> Vec<Markup> {
    vec![
        line_chart().draw(),
        map().draw(),
        cdf().draw(),
        bars().draw(),
        windows().draw(),
    ]
}

/// A figure read back.
struct Read<'a>(roxmltree::Document<'a>);

impl<'a> Read<'a> {
    fn of(drawing: &'a Markup) -> Self {
        Self(roxmltree::Document::parse(&drawing.0).expect("well-formed"))
    }

    /// All elements of a name that have this colour in `attribute`, in the order drawn.
    fn of_colour(&self, name: &str, attribute: &str, colour: RGBColor) -> Vec<roxmltree::Node<'_, 'a>> {
        let hex = format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
        let elements = self.0.descendants().filter(|node| node.has_tag_name(name));
        elements
            .filter(|node| node.attribute(attribute) == Some(&hex))
            .collect()
    }

    fn texts(&self) -> Vec<&str> {
        let elements = self.0.descendants().filter(|node| node.has_tag_name("text"));
        elements
            .map(|node| node.text().unwrap_or_default().trim())
            .collect()
    }

    fn tooltips(&self) -> Vec<&str> {
        let elements = self.0.descendants().filter(|node| node.has_tag_name("title"));
        elements.map(|node| node.text().unwrap_or_default()).collect()
    }

    fn assert_says(&self, expected: &[&str]) {
        let texts = self.texts();
        for words in expected {
            assert!(texts.contains(words), "{words} is missing in {texts:?}");
        }
    }
}

fn number(node: roxmltree::Node<'_, '_>, attribute: &str) -> f64 {
    node.attribute(attribute)
        .expect(attribute)
        .parse()
        .expect("a number")
}

/// The corners of a line through several places.
fn path(node: roxmltree::Node<'_, '_>) -> Vec<(f64, f64)> {
    let pairs = node.attribute("points").expect("points").split_whitespace();
    pairs
        .map(|pair| pair.split_once(',').expect("a pair"))
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect()
}

#[test]
fn every_figure_is_well_formed_svg_within_its_frame() {
    for drawing in drawings() {
        let read = Read::of(&drawing);
        let root = read.0.root_element();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        assert_eq!(root.attribute("role"), Some("img"));
        let frame: Vec<f64> = root
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        assert_eq!(frame[2], number(root, "width") * FINE);
        let inside = |x: f64, y: f64| (0.0..=frame[2]).contains(&x) && (0.0..=frame[3]).contains(&y);
        for node in read.0.descendants() {
            let places = match node.tag_name().name() {
                "text" => vec![(number(node, "x"), number(node, "y"))],
                "circle" => vec![(number(node, "cx"), number(node, "cy"))],
                "polyline" => path(node),
                "line" => vec![
                    (number(node, "x1"), number(node, "y1")),
                    (number(node, "x2"), number(node, "y2")),
                ],
                "rect" => {
                    let (x, y) = (number(node, "x"), number(node, "y"));
                    vec![(x, y), (x + number(node, "width"), y + number(node, "height"))]
                }
                _ => Vec::new(),
            };
            assert!(places.iter().all(|(x, y)| inside(*x, *y)), "{node:?}");
        }
    }
}

#[test]
fn the_same_figure_has_the_same_bytes() {
    for (one, other) in drawings().into_iter().zip(drawings()) {
        assert_eq!(one.0, other.0);
    }
}

#[test]
fn lines_go_through_their_values_with_names_units_and_intervals() {
    let chart = line_chart();
    let drawing = chart.draw();
    let read = Read::of(&drawing);
    assert_eq!(
        read.0.root_element().attribute("aria-label"),
        Some("title \"quoted\"")
    );
    read.assert_says(&[
        "PDR",
        "Payload (bytes)",
        "a < b",
        "c",
        "16",
        "1024",
        "0 %",
        "60 %",
        "100 %",
    ]);
    assert_eq!(
        read.tooltips(),
        ["a < b & 0.9", "a < b & 0.5", "a < b & 0.3", "a < b & 0.5"]
    );
    let (_, y) = chart.axes();
    let bottom_to_top = (2_839, 440);
    for (number, series) in chart.series.iter().enumerate() {
        let colour = colour::series(number);
        let line = read.of_colour("polyline", "stroke", colour);
        let expected: Vec<f64> = series
            .values
            .iter()
            .map(|value| f64::from(y.map(&value.y, bottom_to_top)))
            .collect();
        let drawn: Vec<f64> = path(line[0]).into_iter().map(|(_, y)| y).collect();
        assert_eq!(drawn, expected);
        // Two caps and what connects them, each value.
        let bars = read.of_colour("line", "stroke", colour);
        assert_eq!(bars.len(), 6);
        let low = f64::from(y.map(&(series.values[0].y - 0.1), bottom_to_top));
        assert!(bars.iter().any(|bar| self::number(*bar, "y1") == low));
    }
    // Both lines end in the same place; their names do not.
    let name = |label: usize| read.of_colour("text", "fill", colour::series(label))[0];
    let gap = (number(name(0), "y") - number(name(1), "y")).abs();
    assert!(gap >= 150.0, "{gap}");
}

#[test]
fn an_interval_above_all_values_is_inside_the_axis() {
    let mut chart = line_chart();
    chart.unit = Unit::Number;
    chart.series[0].values[0].interval = Some((0.0, 1_234.0));
    assert_eq!(chart.axes().1.range(), 0.0..1_500.0);
}

#[test]
fn a_map_shows_every_node_its_link_in_the_colour_of_its_quality_and_a_scale() {
    let drawing = map().draw();
    let read = Read::of(&drawing);
    // 30 m are 908 pixels, so 2 m are the least round length above 60.
    read.assert_says(&[
        "1",
        "2",
        "3",
        "4",
        "the sink",
        "on the upper level",
        "Hops to the sink",
        "2 m",
    ]);
    assert_eq!(read.tooltips(), ["node <1>", "node <2>", "node <3>", "node <4>"]);
    let link = |colour| path(read.of_colour("polyline", "stroke", colour)[0]);
    // 75 % lies in the middle between 50 % and 100 %.
    let good = link(colour::quality(0.5));
    assert_eq!(good[0].1, good[1].1, "nodes 1 and 2 are equally far north");
    let length = good[0].0 - good[1].0;
    // The scale is the same in both directions.
    let silent = link(colour::AXIS);
    assert!(
        (silent[1].1 - silent[0].1 - length / 3.0).abs() <= 2.0,
        "{good:?} {silent:?}"
    );
    assert!((length - 9_080.0).abs() < 20.0, "{length}");
    let sink = &read.of_colour("circle", "fill", colour::SERIES[1]);
    assert!(
        sink.iter()
            .any(|sink| (number(*sink, "cx") - good[1].0).abs() < 1.0),
        "{sink:?}"
    );
    // A parent that is not on the map has no link.
    let links = read.of_colour("polyline", "stroke", colour::quality(0.5));
    assert_eq!(links.len(), 1);
}

#[test]
fn nodes_in_the_same_place_are_drawn_apart_and_one_alone_has_a_map_too() {
    let mut map = map();
    for node in &mut map.nodes {
        node.at_m = [5.0, 5.0, 0.0];
    }
    let drawing = map.draw();
    let read = Read::of(&drawing);
    let places: Vec<(f64, f64)> = read
        .0
        .descendants()
        .filter(|node| node.attribute("pointer-events").is_some())
        .map(|node| (number(node, "x"), number(node, "y")))
        .collect();
    for (i, a) in places.iter().enumerate() {
        for b in &places[..i] {
            assert!((a.0 - b.0).hypot(a.1 - b.1) > 200.0, "{places:?}");
        }
    }
    map.nodes.truncate(1);
    Read::of(&map.draw()).assert_says(&["1", "0.1 m"]);
}

#[test]
fn distributions_rise_from_nothing_to_all_in_their_colours_with_their_names() {
    let drawing = cdf().draw();
    let read = Read::of(&drawing);
    read.assert_says(&[
        "share",
        "Latency (ms)",
        "16 bytes",
        "512 bytes",
        "1024 bytes",
        "2 hops (1 of 9 lost)",
        "3 hops (1 of 9 lost)",
        "4 hops (1 of 9 lost)",
        "0 %",
        "100 %",
        "1",
        "1000",
    ]);
    let lines = read.of_colour("polyline", "stroke", colour::series(2));
    assert_eq!(lines.len(), 2, "a curve and its sign beside the name");
    let curve = path(lines[0]);
    assert_eq!(curve.len(), 3);
    assert!(
        curve
            .windows(2)
            .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1),
        "{curve:?}"
    );
    // 1, 5 and 80 on the same logarithmic scale from 1 to 1000.
    let share = (curve[1].0 - curve[0].0) / (curve[2].0 - curve[0].0);
    assert!((share - libm::log(5.0) / libm::log(80.0)).abs() < 0.01, "{share}");
}

#[test]
fn curves_over_the_whole_width_leave_room_for_their_names() {
    let mut figure = cdf();
    figure.panels.truncate(1);
    let distributions = &mut figure.panels[0].distributions;
    distributions[0].values = vec![10.0, 11.0];
    distributions[1].values = vec![90.0, 91.0];
    let drawing = figure.draw();
    let read = Read::of(&drawing);
    let name = read
        .0
        .descendants()
        .find(|node| node.text().is_some_and(|text| text.contains("3 hops")));
    let sign = read.of_colour("polyline", "stroke", colour::series(3))[1];
    let curve = path(read.of_colour("polyline", "stroke", colour::series(3))[0]);
    assert!(path(sign)[0].0 > curve[1].0, "{sign:?} {curve:?}");
    assert!(number(name.unwrap(), "x") < 8_500.0);
    read.assert_says(&["10", "100"]);
}

#[test]
fn stacked_parts_lie_end_to_end_with_their_shares_and_remarks() {
    let drawing = bars().draw();
    let read = Read::of(&drawing);
    read.assert_says(&[
        "no-buffer",
        "others",
        "512 bytes",
        "16 bytes",
        "3 of 4",
        "1 of 1000",
        "50 %",
        "25 %",
    ]);
    read.assert_says(&["Share of all", "0 %", "20 %", "80 %"]);
    assert_eq!(
        read.tooltips(),
        ["no-buffer: 50 %", "others: 25 %", "others: 0.1 %"]
    );
    // The first of each colour is in the legend.
    let part = |category: usize| read.of_colour("rect", "fill", colour::series(category))[1];
    let (first, second) = (part(0), part(1));
    assert_eq!(number(first, "x") + number(first, "width"), number(second, "x"));
    assert!((number(first, "width") - 2.0 * number(second, "width")).abs() <= 2.0);
    assert_eq!(number(first, "y"), number(second, "y"));
    // The first bar is the upper one.
    let other = read.of_colour("rect", "fill", colour::series(1))[2];
    assert!(number(other, "y") > number(second, "y") + number(second, "height"));
}

fn windows() -> WindowPanels {
    let shown = WindowPanel {
        title: "quic, succeeds".into(),
        subtitle: "seed 2".into(),
        steps: vec![(0.0, 2.0, 133.2), (1.0, 1.0, 266.4), (2.0, 3.0, 40.0)],
        end_s: 4.0,
        marks: vec![(1.0, Mark::TimedOut), (2.0, Mark::Acked), (2.0, Mark::Ecn)],
    };
    WindowPanels {
        title: "windows".into(),
        panels: vec![
            shown,
            WindowPanel {
                title: "quic, times out".into(),
                subtitle: "none".into(),
                ..WindowPanel::default()
            },
        ],
    }
}

#[test]
fn windows_and_gaps_are_lines_in_steps_and_what_was_told_stands_at_its_time() {
    let drawing = windows().draw();
    let read = Read::of(&drawing);
    read.assert_says(&["quic, succeeds", "seed 2", "quic, times out", "none", "ECN mark"]);
    read.assert_says(&["window (fragments)", "gap (ms)", "Time (s)", "4"]);
    // One in the legend, one in the panel: level, down, level, up, level.
    let lines = read.of_colour("polyline", "stroke", colour::series(0));
    let steps = path(lines[1]);
    assert_eq!(steps.len(), 6);
    for pair in steps.windows(2) {
        assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1, "{steps:?}");
    }
    // 1 s of 4 after the start the window falls, and there the time-out stands over the whole height.
    assert!((4.0 * (steps[1].0 - steps[0].0) - (steps[5].0 - steps[0].0)).abs() <= 4.0);
    let time_out = path(read.of_colour("polyline", "stroke", colour::series(5))[1]);
    assert_eq!((time_out[0].0, time_out[1].0), (steps[1].0, steps[1].0));
    // What comes at one moment does not hide the other.
    let of = |series| path(read.of_colour("polyline", "stroke", colour::series(series))[1]);
    let (acked, marked) = (of(2), of(3));
    assert_eq!(acked[0].0, marked[0].0);
    assert!(acked[0].1.min(acked[1].1) < marked[0].1.min(marked[1].1));
    assert!(acked[0].1.max(acked[1].1) < marked[0].1.min(marked[1].1));
}

#[test]
fn a_low_axis_has_three_ticks_or_two() {
    let low = |max| labels(&Axis::low_from_zero(Unit::Number, max));
    assert_eq!(low(200.0), ["0", "100", "200"]);
    assert_eq!(low(266.0), ["0", "150", "300"]);
    assert_eq!(low(1.0), ["0", "1"]);
}

#[test]
fn a_figure_without_data_says_so() {
    let mut lines = line_chart();
    for series in &mut lines.series {
        series.values.clear();
    }
    let mut bars = bars();
    for bar in &mut bars.bars {
        bar.parts = vec![0.0; 2];
    }
    let mut cdf = cdf();
    cdf.panels.truncate(1);
    cdf.panels[0].distributions.clear();
    let map = Map {
        title: "map".into(),
        nodes: Vec::new(),
    };
    let mut empty = windows();
    empty.panels.remove(0);
    for (drawing, words) in [
        (lines.draw(), "title \"quoted\": no data"),
        (bars.draw(), "lost: no data"),
        (cdf.draw(), "latency: no data"),
        (map.draw(), "map: no data"),
        (empty.draw(), "windows: no data"),
    ] {
        assert_eq!(Read::of(&drawing).texts(), [words]);
    }
}

proptest! {
    #[test]
    fn an_axis_from_zero_covers_its_values_with_a_few_ticks(max in 1e-6..1e9f64) {
        let axis = Axis::from_zero(Unit::Number, max);
        prop_assert!(axis.range().end >= max * (1.0 - 1e-6) && axis.range().end <= max * 2.5);
        prop_assert!((2..=8).contains(&ticks(&axis).len()), "{:?}", axis);
    }

    #[test]
    fn an_axis_of_numbers_covers_them(values in prop::collection::vec(-1e6..1e6f64, 1..20)) {
        let axis = Axis::around(values.iter().copied());
        prop_assert!(values.iter().all(|value| axis.range().contains(value)));
        let range = axis.range();
        prop_assert!(ticks(&axis).iter().all(|(tick, _)| range.contains(tick)));
        prop_assert!(!ticks(&axis).is_empty());
    }

    #[test]
    fn a_logarithmic_axis_covers_its_values(min in 1e-3..1e4f64, factor in 1.0..1e4f64) {
        let axis = Axis::logarithmic(min, min * factor);
        prop_assert!(axis.range().start <= min * 1.000_001 && axis.range().end >= min * factor * 0.999_999);
        prop_assert!((2..=8).contains(&ticks(&axis).len()), "{:?}", axis);
    }

    #[test]
    fn labels_are_spread_apart_in_their_order(places in prop::collection::vec(0..3_000i32, 1..15)) {
        let spread = spread(&places, 150, 0, 3_000);
        for i in 0..places.len() {
            prop_assert!((0..=3_000).contains(&spread[i]));
            for j in 0..i {
                prop_assert!((spread[i] - spread[j]).abs() >= 150);
                prop_assert!(places[i] == places[j] || (places[i] < places[j]) == (spread[i] < spread[j]));
            }
        }
    }
}
