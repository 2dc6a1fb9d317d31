//! Cumulative distributions, side by side.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::extent;
use super::{
    Axis, Canvas, Drawn, Margins, NORMAL, SMALL, Unit, WIDE, bold, chart, colour, figure, horizontal_axis,
    nothing, place, stroke, text, units, vertical_axis, widest,
};
use crate::stats::quantile;

/// Distributions of one quantity, a panel a condition.
#[derive(Clone, Debug)]
pub struct CdfPanels {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// Name and unit of the quantity.
    pub x_title: String,
    /// Name of the share.
    pub y_title: String,
    /// The panels.
    pub panels: Vec<CdfPanel>,
}

/// One panel.
#[derive(Clone, Debug)]
pub struct CdfPanel {
    /// The condition.
    pub title: String,
    /// Its distributions.
    pub distributions: Vec<Distribution>,
}

/// One distribution.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Its name and what else is to be said of it.
    pub label: String,
    /// Its colour.
    pub colour: RGBColor,
    /// The values, ascending, all above 0.
    pub values: Vec<f64>,
}

/// Points of a curve; more cannot be seen.
const POINTS: usize = 160;
const PANEL_HEIGHT: f64 = 308.0;
/// Height of the title above all panels.
const TOP: f64 = 30.0;
/// Beside the drawing area of a panel.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
/// Width of the sign before a name, and what is left free around all of them.
const SIGN: f64 = 26.0;
const NAMES_MARGIN: f64 = 6.0;
/// The share of a panel's height that a name takes.
const NAME_HEIGHT: f64 = 0.085;

impl CdfPanels {
    /// Draws the panels, two in a row, all with the same scale.
    pub fn draw(&self) -> Markup {
        let distributions = self.panels.iter().flat_map(|panel| &panel.distributions);
        let Some((min, max)) = extent(distributions.flat_map(|one| &one.values).copied()) else {
            return nothing(WIDE, &self.title);
        };
        let columns = self.panels.len().min(2);
        let scale = self.scale(min, max, WIDE / columns as f64 - LEFT - RIGHT);
        let rows = self.panels.len().div_ceil(columns);
        let height = TOP + PANEL_HEIGHT * rows as f64;
        figure(WIDE, height, &self.title, |canvas| {
            let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
            canvas.draw_text(&self.y_title, &title, place(LEFT, 18.0))?;
            let (_, below) = canvas.split_vertically(units(TOP));
            for (panel, area) in self.panels.iter().zip(below.split_evenly((rows, columns))) {
                panel.draw(&area, &scale, &self.x_title)?;
            }
            Ok(Vec::new())
        })
    }
}

impl CdfPanels {
    /// A scale from the least to the greatest value or beyond, so that the names have room in each panel.
    fn scale(&self, min: f64, max: f64, width: f64) -> Axis {
        let style = text(SMALL, colour::INK, HPos::Left, VPos::Top);
        let mut scale = Axis::logarithmic(min, max);
        // More room on the right for one panel is less on the left for another.
        for _ in &self.panels {
            let highest = self.panels.iter().filter_map(|panel| {
                let names = panel.distributions.iter().map(|one| one.label.as_str());
                let needed = (widest(names, &style) + SIGN + 4.0 * NAMES_MARGIN) / width;
                let (left, right) = panel.room(&scale)?;
                // No name is so long that half of the panel were not enough.
                let kept = (1.0 - needed).max(0.5);
                let low = scale.range().start;
                let highest = low * libm::pow(panel.slowest()? / low, 1.0 / kept);
                (left.max(right) < 1.0 - kept).then_some(highest)
            });
            match extent(highest) {
                Some((_, highest)) => scale = Axis::logarithmic(min, highest.max(max)),
                None => break,
            }
        }
        scale
    }
}

impl CdfPanel {
    /// The greatest value of the curves as high as the names reach.
    fn slowest(&self) -> Option<f64> {
        let height = (NAME_HEIGHT * (self.distributions.len() + 1) as f64).min(1.0);
        let values = self
            .distributions
            .iter()
            .filter_map(|one| quantile(&one.values, height));
        extent(values).map(|(_, max)| max)
    }

    /// The shares of the width left of the fastest and right of the slowest curve.
    fn room(&self, scale: &Axis) -> Option<(f64, f64)> {
        let (fastest, _) = extent(
            self.distributions
                .iter()
                .filter_map(|one| one.values.first())
                .copied(),
        )?;
        let share = |value: f64| f64::from(scale.map(&value, (0, 10_000))) / 10_000.0;
        Some((share(fastest), 1.0 - share(self.slowest()?)))
    }

    /// The names stand above the fastest or below the slowest, where there is more room.
    fn upper_left(&self, scale: &Axis) -> bool {
        self.room(scale).is_some_and(|(left, right)| left > right)
    }

    fn draw(&self, area: &Canvas<'_>, scale: &Axis, x_title: &str) -> Drawn<()> {
        let margins = Margins {
            left: LEFT,
            top: 26.0,
            right: RIGHT,
            bottom: 64.0,
        };
        let title = bold(NORMAL, colour::MUTED, HPos::Left, VPos::Center);
        area.draw_text(&self.title, &title, place(margins.left, 12.0))?;
        let mut chart = chart(area, &margins, scale.clone(), Axis::from_zero(Unit::Share, 1.0))?;
        vertical_axis(&mut chart, colour::MUTED, true)?;
        horizontal_axis(&mut chart, x_title, false)?;
        for one in &self.distributions {
            let style = stroke(one.colour, 2.0);
            chart
                .draw_series(LineSeries::new(one.points(), style))?
                .label(&one.label)
                .legend(move |(x, y)| {
                    PathElement::new(
                        [(x, y), (x + units(18.0), y)],
                        style.stroke_width(units(3.0).unsigned_abs()),
                    )
                });
        }
        chart
            .configure_series_labels()
            .position(if self.upper_left(scale) {
                SeriesLabelPosition::UpperLeft
            } else {
                SeriesLabelPosition::LowerRight
            })
            .margin(units(NAMES_MARGIN))
            .legend_area_size(units(SIGN))
            .label_font(text(SMALL, colour::INK, HPos::Left, VPos::Top))
            .draw()
    }
}

impl Distribution {
    /// The curve; as many points as there are values, but no more than can be seen.
    fn points(&self) -> Vec<(f64, f64)> {
        let count = POINTS.min(self.values.len().max(2));
        let point = |i: usize| {
            let p = i as f64 / (count - 1) as f64;
            Some((quantile(&self.values, p)?, p))
        };
        (0..count).filter_map(point).collect()
    }
}
