//! The map of a network: nodes where they are, links to the parents in the colour of their quality.

use maud::{Markup, html};

use super::{WIDE, bold, colour, figure, line, n, text};

/// The map of a network.
#[derive(Clone, Debug)]
pub struct Map {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// The nodes.
    pub nodes: Vec<MapNode>,
}

/// One node.
#[derive(Clone, Debug)]
pub struct MapNode {
    /// Its number.
    pub number: u16,
    /// Metres east, north and up.
    pub at_m: [f64; 3],
    /// The number of its parent; the sink has none.
    pub parent: Option<u16>,
    /// Hops to the sink.
    pub hops: u16,
    /// The share of its transmissions to the parent that were acknowledged; none if it sent nothing.
    pub quality: Option<f64>,
    /// What the tooltip says.
    pub tooltip: String,
}

const TOP: f64 = 62.0;
const MARGIN: f64 = 26.0;
const HEIGHT_MAX: f64 = 760.0;
const HEIGHT_MIN: f64 = 150.0;

/// The lowest quality that has a colour of its own; below, all links look alike.
const QUALITY_LOW: f64 = 0.5;

impl Map {
    /// Draws the map.
    pub fn draw(&self) -> Markup {
        let extent = |axis: usize| {
            let values = || self.nodes.iter().map(|node| node.at_m[axis]);
            (
                values().fold(f64::MAX, f64::min),
                values().fold(f64::MIN, f64::max),
            )
        };
        let ((west, east), (south, north)) = (extent(0), extent(1));
        let (low, high) = extent(2);
        let (wide, deep) = ((east - west).max(0.1), (north - south).max(0.1));
        let pixels_per_m = ((WIDE - 2.0 * MARGIN) / wide).min((HEIGHT_MAX - TOP - 2.0 * MARGIN) / deep);
        let drawn_height = (deep * pixels_per_m).max(HEIGHT_MIN - 2.0 * MARGIN);
        let left = (WIDE - wide * pixels_per_m) / 2.0;
        let bottom = TOP + MARGIN + (drawn_height + deep * pixels_per_m) / 2.0;
        let levels = high - low > 1.0;
        let middle = (low + high) / 2.0;
        let deepest = self.nodes.iter().map(|node| node.hops).max().unwrap_or(1).max(1);
        let radius = (100.0 / (self.nodes.len() as f64).sqrt()).clamp(3.0, 13.0);
        let to_pixels = |node: &MapNode| {
            let (x_m, y_m) = (node.at_m[0] - west, node.at_m[1] - south);
            (left + x_m * pixels_per_m, bottom - y_m * pixels_per_m)
        };
        let mut places: Vec<(f64, f64)> = self.nodes.iter().map(to_pixels).collect();
        move_apart(&mut places, radius * 2.1);
        let content = html! {
            (self.legend(deepest, levels))
            g stroke-linecap="round" {
                @for (node, from) in self.nodes.iter().zip(&places) { (self.link(node, *from, &places, radius)) }
            }
            @for (node, at) in self.nodes.iter().zip(&places) {
                (Self::node(node, *at, radius, deepest, levels && node.at_m[2] > middle))
            }
            (scale_bar(pixels_per_m, TOP + 2.0 * MARGIN + drawn_height + 10.0))
        };
        figure(
            WIDE,
            TOP + 2.0 * MARGIN + drawn_height + 26.0,
            &self.title,
            &content,
        )
    }

    fn link(&self, node: &MapNode, (x1, y1): (f64, f64), places: &[(f64, f64)], radius: f64) -> Markup {
        let parent = node
            .parent
            .and_then(|number| self.nodes.iter().position(|other| other.number == number));
        let Some(&(x2, y2)) = parent.and_then(|at| places.get(at)) else {
            return html! {};
        };
        let stroke = node
            .quality
            .map_or_else(|| colour::AXIS.to_owned(), quality_colour);
        let width = (radius / 2.6).clamp(1.5, 4.0);
        html! {
            g {
                title { (node.tooltip) }
                (line(x1, y1, x2, y2, &stroke, width))
            }
        }
    }

    fn node(node: &MapNode, (x, y): (f64, f64), radius: f64, deepest: u16, upper: bool) -> Markup {
        let sink = node.parent.is_none();
        let share = f64::from(node.hops.saturating_sub(1)) / f64::from(deepest.max(2) - 1);
        let fill = if sink {
            colour::SERIES[1].to_owned()
        } else {
            colour::depth(share)
        };
        let ink = if sink || share < 0.6 {
            colour::PAPER
        } else {
            colour::INK
        };
        let radius = if sink { radius * 1.35 } else { radius };
        html! {
            g {
                title { (node.tooltip) }
                @if upper {
                    rect x=(n(x - radius * 0.9)) y=(n(y - radius * 0.9)) width=(n(radius * 1.8))
                        height=(n(radius * 1.8)) rx="2" fill=(fill) stroke=(colour::INK) stroke-width="0.75" {}
                } @else {
                    circle cx=(n(x)) cy=(n(y)) r=(n(radius)) fill=(fill) stroke=(colour::INK) stroke-width="0.75" {}
                }
                @if radius >= 8.0 {
                    g font-size=(n(radius * 0.95)) font-weight="600" {
                        (text(x, y + radius * 0.34, "middle", ink, &node.number.to_string()))
                    }
                }
            }
        }
    }

    fn legend(&self, deepest: u16, levels: bool) -> Markup {
        let steps = 24;
        let hops = deepest.min(12);
        html! {
            (bold(14.0, 20.0, "start", colour::INK, "Acknowledged transmissions to the parent"))
            @for step in 0..steps {
                @let share = QUALITY_LOW + (1.0 - QUALITY_LOW) * f64::from(step) / f64::from(steps - 1);
                rect x=(n(14.0 + 7.0 * f64::from(step))) y="28" width="7.2" height="10" fill=(quality_colour(share)) {}
            }
            g font-size="11" {
                (text(14.0, 52.0, "start", colour::MUTED, "50 % or less"))
                (text(14.0 + 7.0 * f64::from(steps), 52.0, "end", colour::MUTED, "100 %"))
            }
            (bold(330.0, 20.0, "start", colour::INK, "Hops to the sink"))
            @for hop in 1..=hops {
                @let share = f64::from(hop - 1) / f64::from(hops.max(2) - 1);
                circle cx=(n(337.0 + 19.0 * f64::from(hop - 1))) cy="34" r="7" fill=(colour::depth(share))
                    stroke=(colour::INK) stroke-width="0.75" {}
            }
            g font-size="11" {
                (text(337.0, 54.0, "middle", colour::MUTED, "1"))
                @if hops > 1 {
                    (text(337.0 + 19.0 * f64::from(hops - 1), 54.0, "middle", colour::MUTED, &deepest.to_string()))
                }
            }
            circle cx="570" cy="16" r="7" fill=(colour::SERIES[1]) stroke=(colour::INK) stroke-width="0.75" {}
            (text(584.0, 20.0, "start", colour::INK, "the sink"))
            @if levels {
                rect x="564" y="32" width="12" height="12" rx="2" fill=(colour::PAPER) stroke=(colour::INK)
                    stroke-width="0.75" {}
                (text(584.0, 42.0, "start", colour::INK, "on the upper level"))
            }
        }
    }
}

/// Moves places that would hide each other apart, a little at a time, until each pair is `gap` away or it has been
/// tried often enough.
fn move_apart(places: &mut [(f64, f64)], gap: f64) {
    for _ in 0..30 {
        let mut moved = false;
        for i in 0..places.len() {
            for j in 0..i {
                let (dx, dy) = (places[i].0 - places[j].0, places[i].1 - places[j].1);
                let distance = (dx * dx + dy * dy).sqrt();
                if distance >= gap {
                    continue;
                }
                // Two in the same place go apart along a line.
                let (ux, uy) = if distance > 0.1 {
                    (dx / distance, dy / distance)
                } else {
                    (1.0, 0.0)
                };
                let way = (gap - distance) / 2.0 + 0.05;
                places[i] = (places[i].0 + ux * way, places[i].1 + uy * way);
                places[j] = (places[j].0 - ux * way, places[j].1 - uy * way);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

fn quality_colour(share: f64) -> String {
    colour::quality((share - QUALITY_LOW) / (1.0 - QUALITY_LOW))
}

/// A bar as long as a round number of metres.
fn scale_bar(pixels_per_m: f64, y: f64) -> Markup {
    let metres = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        .into_iter()
        .find(|metres| metres * pixels_per_m >= 60.0)
        .unwrap_or(1000.0);
    let (right, left) = (WIDE - MARGIN, WIDE - MARGIN - metres * pixels_per_m);
    html! {
        (line(left, y, right, y, colour::INK, 1.5))
        (line(left, y - 4.0, left, y + 4.0, colour::INK, 1.5))
        (line(right, y - 4.0, right, y + 4.0, colour::INK, 1.5))
        (text(left - 8.0, y + 4.0, "end", colour::INK, &format!("{metres} m")))
    }
}
