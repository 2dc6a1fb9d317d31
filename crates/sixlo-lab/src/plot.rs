//! Figures as SVG, drawn by `plotters` without its fonts: the text stays text, so nothing needs to be installed.
//!
//! Coordinates are pixels of a drawing 540 or 960 pixels wide, scaled to wherever it is shown.

use std::io;

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use axis::Axis;
pub use axis::{Horizontal, Unit};
pub(crate) use bars::count_of;
pub use bars::{Bar, StackedBars};
pub use cdf::{CdfPanel, CdfPanels, Distribution};
pub use congestion::{CongestionPanel, CongestionPanels, Event};
pub use lines::{LineChart, Origin, Series, Value};
pub use map::{Map, MapNode};
pub use windows::{Mark, WindowPanel, WindowPanels};

mod axis;
mod bars;
mod cdf;
pub mod colour;
mod congestion;
mod lines;
mod map;
#[cfg(test)]
mod tests;
mod windows;

/// Width of a figure that shares a row with another.
const NARROW: f64 = 540.0;
/// Width of a figure that has a row to itself.
const WIDE: f64 = 960.0;

/// The library counts in whole units; so many of them make a pixel, for curves without steps.
const FINE: f64 = 10.0;

const FONT: FontFamily<'_> = FontFamily::Name("system-ui, sans-serif");
/// The library writes font sizes divided by this.
const FONT_SCALE: f64 = 1.24;
const SMALL: f64 = 11.0;
const NORMAL: f64 = 12.0;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;
type Drawn<T> = Result<T, DrawingAreaErrorKind<io::Error>>;

/// A place in units of the canvas.
type Place = (i32, i32);

/// What is told of a part of a figure to whoever points at it.
struct Tooltip {
    corners: [Place; 2],
    text: String,
}

impl Tooltip {
    /// Around a place, `radius` pixels in each direction.
    fn around((x, y): Place, radius: f64, text: &str) -> Self {
        let radius = units(radius);
        Self {
            corners: [(x - radius, y - radius), (x + radius, y + radius)],
            text: text.to_owned(),
        }
    }

    fn markup(&self) -> Markup {
        let [(left, top), (right, bottom)] = self.corners;
        html! {
            rect x=(left.max(0)) y=(top.max(0)) width=(right - left) height=(bottom - top) fill="none" pointer-events="all" {
                title { (self.text) }
            }
        }
    }
}

/// A whole figure, drawn by `draw`. `title` is what screen readers say.
fn figure(
    width: f64,
    height: f64,
    title: &str,
    draw: impl FnOnce(&Canvas<'_>) -> Drawn<Vec<Tooltip>>,
) -> Markup {
    let size = (units(width).unsigned_abs(), units(height).unsigned_abs());
    let mut svg = String::new();
    let drawn = {
        let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        canvas
            .fill(&colour::PAPER)
            .and_then(|()| draw(&canvas))
            .and_then(|tooltips| canvas.present().map(|()| tooltips))
    };
    let tooltips = drawn.expect("drawing into memory without fonts has nothing that could fail");
    // The library's outermost element knows neither a size in pixels nor a label, so it gives way to one that does.
    let content = svg.split_once('>').map_or("", |(_, content)| content);
    let content = content.trim_end().trim_end_matches("</svg>").trim_start();
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (size.0) " " (size.1) } width=(width.round())
            height=(height.round()) stroke-linejoin="round" role="img" aria-label=(title) {
            (PreEscaped(content))
            @for tooltip in &tooltips { (tooltip.markup()) }
        }
    }
}

/// A figure of something that there is none of.
fn nothing(width: f64, title: &str) -> Markup {
    const HEIGHT: f64 = 120.0;
    figure(width, HEIGHT, title, |canvas| {
        let style = text(NORMAL, colour::MUTED, HPos::Center, VPos::Center);
        let words = format!("{title}: no data");
        canvas.draw_text(&words, &style, place(width / 2.0, HEIGHT / 2.0))?;
        Ok(Vec::new())
    })
}

/// Pixels in units of the canvas.
fn units(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

fn place(x: f64, y: f64) -> Place {
    (units(x), units(y))
}

/// A line of a width in pixels.
fn stroke(colour: RGBColor, width: f64) -> ShapeStyle {
    colour.stroke_width(units(width).unsigned_abs())
}

/// Text of a size in pixels.
fn text(size: f64, colour: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    let font = FontDesc::new(FONT, size * FINE * FONT_SCALE, FontStyle::Normal);
    font.color(&colour).pos(Pos::new(h, v))
}

/// The same in bold.
fn bold(size: f64, colour: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    let style = text(size, colour, h, v);
    TextStyle {
        font: style.font.style(FontStyle::Bold),
        ..style
    }
}

/// Roughly how many pixels wide a text is.
fn text_width(words: &str, style: &TextStyle<'_>) -> f64 {
    let estimate = style.font.box_size(words).map_or(0, |(width, _)| width);
    f64::from(estimate) / FINE
}

/// The widest of some texts.
fn widest<'a>(words: impl IntoIterator<Item = &'a str>, style: &TextStyle<'_>) -> f64 {
    let widths = words.into_iter().map(|words| text_width(words, style));
    widths.fold(0.0, f64::max)
}

/// Pixels between the drawing area of a chart and the edges around it.
struct Margins {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

/// Height of the labels and the title of a horizontal axis.
const BELOW: f64 = 44.0;

/// An empty chart on a part of the canvas, with room for labels left of it and below.
fn chart<'a>(canvas: &Canvas<'a>, margins: &Margins, x: Axis, y: Axis) -> Drawn<Chart<'a>> {
    let below = margins.bottom.min(BELOW);
    ChartBuilder::on(canvas)
        .y_label_area_size(units(margins.left))
        .margin_top(units(margins.top))
        .margin_right(units(margins.right))
        .x_label_area_size(units(below))
        .margin_bottom(units(margins.bottom - below))
        .build_cartesian_2d(x, y)
}

/// Length of the small lines at the values of an axis; labels begin after twice this.
const TICK: f64 = 4.0;

/// The horizontal axis below a chart, with labels and title; with grid lines or with a line along it.
fn horizontal_axis(chart: &mut Chart<'_>, title: &str, grid: bool) -> Drawn<()> {
    let mut mesh = chart.configure_mesh();
    mesh.disable_y_mesh().disable_y_axis();
    if grid {
        mesh.axis_style(TRANSPARENT);
    } else {
        mesh.disable_x_mesh().axis_style(stroke(colour::AXIS, 1.0));
    }
    mesh.set_all_tick_mark_size(0)
        .set_tick_mark_size(LabelAreaPosition::Bottom, units(TICK))
        .bold_line_style(stroke(colour::GRID, 1.0))
        .x_label_style(text(NORMAL, colour::MUTED, HPos::Center, VPos::Top))
        .x_desc(title)
        .axis_desc_style(bold(NORMAL, colour::INK, HPos::Center, VPos::Bottom))
        .draw()
}

/// The labels of the vertical axis left of a chart, with grid lines if wanted.
fn vertical_axis(chart: &mut Chart<'_>, ink: RGBColor, grid: bool) -> Drawn<()> {
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().disable_x_axis();
    if !grid {
        mesh.disable_y_mesh();
    }
    mesh.axis_style(TRANSPARENT)
        .set_all_tick_mark_size(0)
        .set_tick_mark_size(LabelAreaPosition::Left, units(TICK))
        .bold_line_style(stroke(colour::GRID, 1.0))
        .y_label_style(text(NORMAL, ink, HPos::Right, VPos::Center))
        .draw()
}

/// Moves heights apart until each is at least `gap` below the one before, within `top` and `bottom`; keeps the order
/// of the places, which need not be sorted.
fn spread(places: &[i32], gap: i32, top: i32, bottom: i32) -> Vec<i32> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| places[*at]);
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
