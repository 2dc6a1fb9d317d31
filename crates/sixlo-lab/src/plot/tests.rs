use proptest::prelude::*;

use super::scale::plain;
use super::*;

#[test]
fn a_linear_scale_has_ticks_at_round_numbers_around_its_values() {
    let scale = Scale::from_zero(1_708.0, 5);
    assert_eq!(scale.ticks(), [0.0, 500.0, 1_000.0, 1_500.0, 2_000.0]);
    assert_eq!(
        Scale::linear(6.5, 32.0, 6).ticks(),
        [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0]
    );
    assert_eq!(scale.at(1_000.0, 0.0, 100.0), 50.0);
    assert_eq!(scale.at(9_000.0, 0.0, 100.0), 100.0);
}

#[test]
fn a_logarithmic_scale_has_ticks_at_one_two_and_five() {
    let scale = Scale::logarithmic(12.0, 180.0);
    assert_eq!((scale.low(), scale.high()), (10.0, 200.0));
    assert_eq!(scale.ticks(), [10.0, 20.0, 50.0, 100.0, 200.0]);
    assert!((scale.at(100.0, 0.0, 1.0) - 0.768_6).abs() < 1e-3);
    // Over many decades only the powers of ten.
    assert_eq!(
        Scale::logarithmic(0.9, 9_000.0).ticks(),
        [1.0, 10.0, 100.0, 1_000.0, 10_000.0]
    );
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
    assert_eq!(n(-0.001), "0");
    assert_eq!(Scale::share().label(0.163_1), "16.3 %");
}

#[test]
fn labels_that_are_numbers_make_a_scale_and_others_make_names() {
    let labels = |labels: &[&str]| labels.iter().map(ToString::to_string).collect::<Vec<_>>();
    let numbers = Horizontal::of(&labels(&["16", "512"]));
    assert!(matches!(numbers, Horizontal::Numbers(..)));
    assert_eq!(numbers.value(1), 512.0);
    let names = Horizontal::of(&labels(&["disc", "16"]));
    assert_eq!((names.value(1), names.at(0.0, 0.0, 100.0)), (1.0, 25.0));
}

fn values(pairs: &[(f64, f64)]) -> Vec<Value> {
    let value = |&(x, y): &(f64, f64)| Value {
        x,
        y,
        interval: Some((y - 0.1, y + 0.1)),
        tooltip: "a < b & c".into(),
    };
    pairs.iter().map(value).collect()
}

fn line_chart() -> LineChart {
    LineChart {
        title: "title \"quoted\"".into(),
        x: Horizontal::of(&["16".into(), "1024".into()]),
        x_title: "Payload (bytes)".into(),
        y: Scale::share(),
        y_title: "PDR".into(),
        series: vec![Series {
            label: "a < b".into(),
            colour: colour::series(0).into(),
            values: values(&[(16.0, 0.9), (1024.0, 0.5)]),
        }],
    }
}

fn drawings() -> Vec<Markup> {
    let node = |number: u16, x: f64, parent: Option<u16>| MapNode {
        number,
        at_m: [x, 0.0, 0.0],
        parent,
        hops: number - 1,
        quality: Some(0.7),
        tooltip: "node <1>".into(),
    };
    let map = Map {
        title: "map".into(),
        nodes: vec![node(1, 0.0, None), node(2, 5.0, Some(1)), node(3, 5.0, Some(9))],
    };
    let distribution = Distribution {
        label: "2 hops".into(),
        colour: colour::ordered(0.5),
        values: vec![1.0, 5.0, 80.0],
    };
    let panel = |distributions| CdfPanel {
        title: "512 bytes".into(),
        distributions,
    };
    let cdf = CdfPanels {
        title: "latency".into(),
        x_title: "ms".into(),
        y_title: "share".into(),
        panels: vec![panel(vec![distribution]), panel(Vec::new())],
    };
    let bars = StackedBars {
        title: "lost".into(),
        x_title: "share".into(),
        x: Scale::share(),
        categories: vec!["no-buffer".into(), "others".into()],
        bars: vec![Bar {
            label: "512".into(),
            parts: vec![0.5, 0.25],
            remark: "3 of 4".into(),
        }],
    };
    vec![map.draw(), cdf.draw(), bars.draw(), line_chart().draw()]
}

#[test]
fn every_figure_is_well_formed_svg_within_its_frame() {
    for drawing in drawings() {
        let document = roxmltree::Document::parse(&drawing.0).expect("well-formed");
        let root = document.root_element();
        assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        let frame: Vec<f64> = root
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        for element in document.descendants() {
            for (name, limit) in [
                ("x", frame[2]),
                ("x1", frame[2]),
                ("cx", frame[2]),
                ("y", frame[3]),
                ("cy", frame[3]),
            ] {
                if let Some(value) = element.attribute(name) {
                    let value: f64 = value.parse().expect("a number");
                    assert!((0.0..=limit).contains(&value), "{name}={value} in {element:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_goes_through_its_values_and_carries_their_intervals() {
    let drawing = line_chart().draw();
    let document = roxmltree::Document::parse(&drawing.0).unwrap();
    let circles: Vec<f64> = document
        .descendants()
        .filter(|node| node.has_tag_name("circle"))
        .map(|node| node.attribute("cy").unwrap().parse().unwrap())
        .collect();
    let scale = Scale::share();
    let expected = [0.9, 0.5].map(|y| scale.at(y, 340.0 - 56.0, 44.0));
    assert!(
        (circles[0] - expected[0]).abs() < 0.01 && (circles[1] - expected[1]).abs() < 0.01,
        "{circles:?}"
    );
    let low = n(scale.at(0.8, 340.0 - 56.0, 44.0));
    assert!(
        drawing.0.contains(&format!("y1=\"{low}\"")),
        "the lower end of the interval"
    );
}

#[test]
fn stacked_parts_lie_end_to_end() {
    let drawing = &drawings()[2];
    let document = roxmltree::Document::parse(&drawing.0).unwrap();
    let parts: Vec<(f64, f64)> = document
        .descendants()
        .filter(|node| {
            node.has_tag_name("rect") && node.parent().is_some_and(|parent| parent.has_tag_name("g"))
        })
        .map(|node| {
            let number = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
            (number("x"), number("width"))
        })
        .collect();
    assert_eq!(parts.len(), 2);
    assert!((parts[0].0 + parts[0].1 - parts[1].0).abs() < 0.02, "{parts:?}");
    assert!((parts[0].1 - 2.0 * parts[1].1).abs() < 0.05, "{parts:?}");
}

proptest! {
    #[test]
    fn a_scale_covers_its_values_with_a_few_increasing_ticks(min in -1e6..1e6f64, span in 0.0..1e6f64) {
        let max = min + span;
        let scale = Scale::linear(min, max, 5);
        prop_assert!(scale.low() <= min + 1e-6 && scale.high() >= max - 1e-6 * max.abs().max(1.0));
        let ticks = scale.ticks();
        prop_assert!((2..=8).contains(&ticks.len()), "{:?}", ticks);
        prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_logarithmic_scale_covers_its_values(min in 1e-3..1e4f64, factor in 1.0..1e4f64) {
        let scale = Scale::logarithmic(min, min * factor);
        prop_assert!(scale.low() <= min * 1.000_001 && scale.high() >= min * factor * 0.999_999);
        prop_assert!(scale.ticks().len() >= 2);
    }

    #[test]
    fn labels_are_spread_apart_in_their_order(places in prop::collection::vec(0.0..300.0f64, 1..15)) {
        let spread = spread(&places, 15.0, 0.0, 300.0);
        for i in 0..places.len() {
            prop_assert!(spread[i] >= -1e-9 && spread[i] <= 300.0 + 1e-9);
            for j in 0..i {
                prop_assert!((spread[i] - spread[j]).abs() >= 15.0 - 1e-9);
                prop_assert!(places[i] == places[j] || (places[i] < places[j]) == (spread[i] < spread[j]));
            }
        }
    }
}
