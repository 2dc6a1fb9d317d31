//! The map of a network: nodes where they are, links to the parents in the colour of their quality.

use std::ops::Range;

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{extent, one_two_five, plain};
use super::{
    Axis, Canvas, Chart, Drawn, Margins, NORMAL, SMALL, Tooltip, WIDE, bold, chart, colour, figure, nothing,
    place, stroke, text, units,
};

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

/// Height of the legend.
const TOP: f64 = 62.0;
/// Height of the scale bar.
const BOTTOM: f64 = 26.0;
/// Around the outermost nodes.
const MARGIN: f64 = 26.0;
const HEIGHT_MAX: f64 = 700.0;
const HEIGHT_MIN: f64 = 150.0;

/// The lowest quality that has a colour of its own; below, all links look alike.
const QUALITY_LOW: f64 = 0.5;

/// Metres east and north.
type PlaceM = (f64, f64);

/// How the nodes of a map are shown.
struct Look {
    /// Of a node that is not the sink, in pixels.
    radius: f64,
    /// Hops of the farthest node.
    deepest: u16,
    /// Nodes above this height are on an upper level, if there are levels.
    upper_m: Option<f64>,
}

/// The part of the world that the map shows, with the same scale in both directions.
struct Frame {
    x_m: Range<f64>,
    y_m: Range<f64>,
    pixels_per_m: f64,
    height: f64,
}

impl Frame {
    fn around(places: &[PlaceM]) -> Self {
        let (west, east) = extent(places.iter().map(|place| place.0)).unwrap_or_default();
        let (south, north) = extent(places.iter().map(|place| place.1)).unwrap_or_default();
        // A network of one node has a place, but no size.
        let (wide, deep) = ((east - west).max(1.0), (north - south).max(0.01));
        let room = WIDE - 2.0 * MARGIN;
        let pixels_per_m = (room / wide).min((HEIGHT_MAX - 2.0 * MARGIN) / deep);
        let height = (deep * pixels_per_m + 2.0 * MARGIN).max(HEIGHT_MIN);
        let around = |low: f64, high: f64, pixels: f64| {
            let (middle, half) = (f64::midpoint(low, high), pixels / pixels_per_m / 2.0);
            middle - half..middle + half
        };
        Self {
            x_m: around(west, east, WIDE),
            y_m: around(south, north, height),
            pixels_per_m,
            height,
        }
    }
}

impl Map {
    /// Draws the map.
    pub fn draw(&self) -> Markup {
        let heights = self.nodes.iter().map(|node| node.at_m[2]);
        let Some((low, high)) = extent(heights) else {
            return nothing(WIDE, &self.title);
        };
        let look = Look {
            radius: (100.0 / (self.nodes.len() as f64).sqrt()).clamp(3.0, 13.0),
            deepest: self.nodes.iter().map(|node| node.hops).max().unwrap_or(1).max(1),
            upper_m: (high - low > 1.0).then(|| f64::midpoint(low, high)),
        };
        let mut places: Vec<PlaceM> = self
            .nodes
            .iter()
            .map(|node| (node.at_m[0], node.at_m[1]))
            .collect();
        let gap_m = look.radius * 2.1 / Frame::around(&places).pixels_per_m;
        move_apart(&mut places, gap_m);
        let frame = Frame::around(&places);
        figure(WIDE, TOP + frame.height + BOTTOM, &self.title, |canvas| {
            look.legend(canvas)?;
            let margins = Margins {
                left: 0.0,
                top: TOP,
                right: 0.0,
                bottom: BOTTOM,
            };
            let (x, y) = (Axis::bare(frame.x_m.clone()), Axis::bare(frame.y_m.clone()));
            let mut chart = chart(canvas, &margins, x, y)?;
            self.links(&mut chart, &places, &look)?;
            let mut tooltips = Vec::new();
            for (node, at) in self.nodes.iter().zip(&places) {
                look.node(&mut chart, node, *at)?;
                tooltips.push(Tooltip::around(
                    chart.backend_coord(at),
                    look.radius,
                    &node.tooltip,
                ));
            }
            scale_bar(canvas, frame.pixels_per_m, TOP + frame.height + BOTTOM / 2.0)?;
            Ok(tooltips)
        })
    }

    fn links(&self, chart: &mut Chart<'_>, places: &[PlaceM], look: &Look) -> Drawn<()> {
        let width = (look.radius / 2.6).clamp(1.5, 4.0);
        chart.draw_series(self.nodes.iter().zip(places).filter_map(|(node, from)| {
            let parent = node.parent?;
            let at = self.nodes.iter().position(|other| other.number == parent)?;
            let colour = node.quality.map_or(colour::AXIS, quality_colour);
            Some(PathElement::new([*from, places[at]], stroke(colour, width)))
        }))?;
        Ok(())
    }
}

impl Look {
    fn node(&self, chart: &mut Chart<'_>, node: &MapNode, at: PlaceM) -> Drawn<()> {
        let sink = node.parent.is_none();
        let share = f64::from(node.hops.saturating_sub(1)) / f64::from(self.deepest.max(2) - 1);
        let (fill, ink) = match sink {
            true => (colour::SERIES[1], colour::PAPER),
            false => (
                colour::depth(share),
                if share < 0.6 { colour::PAPER } else { colour::INK },
            ),
        };
        let radius = if sink { self.radius * 1.35 } else { self.radius };
        let upper = self.upper_m.is_some_and(|upper_m| node.at_m[2] > upper_m);
        chart.plotting_area().draw(&mark(at, radius, fill, upper))?;
        if radius >= 8.0 {
            let style = bold(radius * 0.95, ink, HPos::Center, VPos::Center);
            chart.draw_series([Text::new(node.number.to_string(), at, style)])?;
        }
        Ok(())
    }

    fn legend(&self, canvas: &Canvas<'_>) -> Drawn<()> {
        let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
        let words = text(NORMAL, colour::INK, HPos::Left, VPos::Center);
        let small = |h| text(SMALL, colour::MUTED, h, VPos::Center);
        canvas.draw_text(
            "Acknowledged transmissions to the parent",
            &title,
            place(14.0, 16.0),
        )?;
        for step in 0..56 {
            let left = 14.0 + 3.0 * f64::from(step);
            let colour = quality_colour(QUALITY_LOW + (1.0 - QUALITY_LOW) * f64::from(step) / 55.0);
            let corners = [place(left, 28.0), place(left + 3.2, 38.0)];
            canvas.draw(&Rectangle::new(corners, colour.filled()))?;
        }
        canvas.draw_text("50 % or less", &small(HPos::Left), place(14.0, 48.0))?;
        canvas.draw_text("100 %", &small(HPos::Right), place(182.0, 48.0))?;

        canvas.draw_text("Hops to the sink", &title, place(330.0, 16.0))?;
        let hops = self.deepest.min(12);
        let at = |hop: u16| 337.0 + 19.0 * f64::from(hop - 1);
        for hop in 1..=hops {
            let share = f64::from(hop - 1) / f64::from(hops.max(2) - 1);
            canvas.draw(&mark(place(at(hop), 34.0), 7.0, colour::depth(share), false))?;
        }
        canvas.draw_text("1", &small(HPos::Center), place(at(1), 50.0))?;
        if hops > 1 {
            let deepest = self.deepest.to_string();
            canvas.draw_text(&deepest, &small(HPos::Center), place(at(hops), 50.0))?;
        }

        canvas.draw(&mark(place(610.0, 16.0), 7.0, colour::SERIES[1], false))?;
        canvas.draw_text("the sink", &words, place(624.0, 16.0))?;
        if self.upper_m.is_some() {
            canvas.draw(&mark(place(610.0, 38.0), 7.0, colour::PAPER, true))?;
            canvas.draw_text("on the upper level", &words, place(624.0, 38.0))?;
        }
        Ok(())
    }
}

/// A node: a filled circle, or a square, with a thin outline.
fn mark<'a, Coord: Clone + 'a>(
    at: Coord,
    radius: f64,
    fill: RGBColor,
    square: bool,
) -> DynElement<'a, SVGBackend<'a>, Coord> {
    let outline = stroke(colour::INK, 0.8);
    if square {
        let half = units(radius * 0.9);
        // The library draws the outline of a rectangle as thin as it can, so a path goes around it.
        let around = [
            (-half, -half),
            (half, -half),
            (half, half),
            (-half, half),
            (-half, -half),
        ];
        let paper = EmptyElement::at(at) + Rectangle::new([around[0], around[2]], fill.filled());
        (paper + PathElement::new(around, outline)).into_dyn()
    } else {
        let paper = EmptyElement::at(at) + Circle::new((0, 0), units(radius), fill.filled());
        (paper + Circle::new((0, 0), units(radius), outline)).into_dyn()
    }
}

/// Moves places that would hide each other apart, a little at a time, until each pair is `gap` away or it has been
/// tried often enough.
fn move_apart(places: &mut [PlaceM], gap: f64) {
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
                let (ux, uy) = if distance > gap / 100.0 {
                    (dx / distance, dy / distance)
                } else {
                    (1.0, 0.0)
                };
                let way = (gap - distance) / 2.0 + gap / 500.0;
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

fn quality_colour(share: f64) -> RGBColor {
    colour::quality((share - QUALITY_LOW) / (1.0 - QUALITY_LOW))
}

/// A bar as long as a round number of metres.
fn scale_bar(canvas: &Canvas<'_>, pixels_per_m: f64, y: f64) -> Drawn<()> {
    let least_m = 60.0 / pixels_per_m;
    let metres = *one_two_five(least_m..least_m * 10.0).first().unwrap_or(&least_m);
    let (right, left) = (WIDE - MARGIN, WIDE - MARGIN - metres * pixels_per_m);
    let style = stroke(colour::INK, 1.5);
    canvas.draw(&PathElement::new([place(left, y), place(right, y)], style))?;
    for end in [left, right] {
        canvas.draw(&PathElement::new(
            [place(end, y - 4.0), place(end, y + 4.0)],
            style,
        ))?;
    }
    let words = text(NORMAL, colour::INK, HPos::Right, VPos::Center);
    canvas.draw_text(&format!("{} m", plain(metres)), &words, place(left - 8.0, y))
}
