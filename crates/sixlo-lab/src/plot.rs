//! Figures as SVG: written by hand, so that they need no fonts, carry tooltips, and look the same in a report and alone.
//!
//! Coordinates are pixels of a drawing [`NARROW`] or [`WIDE`] pixels wide, scaled to wherever it is shown.

use maud::{Markup, html};

pub(crate) use bars::count_of;
pub use bars::{Bar, StackedBars};
pub use cdf::{CdfPanel, CdfPanels, Distribution};
pub use lines::{LineChart, Series, Value};
pub use map::{Map, MapNode};
pub use scale::{Horizontal, Scale};

mod bars;
mod cdf;
pub mod colour;
mod lines;
mod map;
mod scale;
#[cfg(test)]
mod tests;

/// Width of a figure that shares a row with another.
pub const NARROW: f64 = 540.0;
/// Width of a figure that has a row to itself.
pub const WIDE: f64 = 960.0;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

/// The drawing area of a figure: its edges.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

/// A whole figure with its content. `title` is what screen readers say.
fn figure(width: f64, height: f64, title: &str, content: &Markup) -> Markup {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (n(width)) " " (n(height)) }
            width=(n(width)) height=(n(height)) font-family=(FONT) font-size="12" role="img" aria-label=(title) {
            rect width="100%" height="100%" fill=(colour::PAPER) {}
            (content)
        }
    }
}

/// A number for an attribute: two decimals at most, the same on every machine.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A horizontal or vertical line.
fn line(x1: f64, y1: f64, x2: f64, y2: f64, stroke: &str, width: f64) -> Markup {
    html! {
        line x1=(n(x1)) y1=(n(y1)) x2=(n(x2)) y2=(n(y2)) stroke=(stroke) stroke-width=(n(width)) {}
    }
}

/// Text at a place; `anchor` is `start`, `middle` or `end`.
fn text(x: f64, y: f64, anchor: &str, fill: &str, words: &str) -> Markup {
    html! { text x=(n(x)) y=(n(y)) text-anchor=(anchor) fill=(fill) { (words) } }
}

/// The same in bold.
fn bold(x: f64, y: f64, anchor: &str, fill: &str, words: &str) -> Markup {
    html! { text x=(n(x)) y=(n(y)) text-anchor=(anchor) fill=(fill) font-weight="600" { (words) } }
}

/// Roughly how wide a text of 12 pixels is.
fn text_width(words: &str) -> f64 {
    6.4 * words.chars().count() as f64
}

/// Moves heights apart until each is at least `gap` below the one before, within `top` and `bottom`; keeps the order
/// of the places, which need not be sorted.
fn spread(places: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let mut spread = places.to_vec();
    let mut least = top;
    for &at in &order {
        spread[at] = spread[at].max(least);
        least = spread[at] + gap;
    }
    let mut most = bottom;
    for &at in order.iter().rev() {
        spread[at] = spread[at].min(most);
        most = spread[at] - gap;
    }
    spread
}

/// Frame of a chart: horizontal grid lines with their labels, the title of the vertical axis above, the horizontal axis
/// with its labels and title below.
fn axes(area: Area, x: &Horizontal, y: &Scale, x_title: &str, y_title: &str) -> Markup {
    html! {
        (bold(area.left, area.top - 14.0, "start", colour::INK, y_title))
        g {
            @for tick in y.ticks() {
                @let at = y.at(tick, area.bottom, area.top);
                (line(area.left, at, area.right, at, colour::GRID, 1.0))
                (text(area.left - 8.0, at + 4.0, "end", colour::MUTED, &y.label(tick)))
            }
        }
        (line(area.left, area.bottom, area.right, area.bottom, colour::AXIS, 1.0))
        g {
            @for (at, label) in x.ticks(area.left, area.right) {
                (line(at, area.bottom, at, area.bottom + 4.0, colour::AXIS, 1.0))
                (text(at, area.bottom + 18.0, "middle", colour::MUTED, &label))
            }
        }
        (bold((area.left + area.right) / 2.0, area.bottom + 38.0, "middle", colour::INK, x_title))
    }
}
