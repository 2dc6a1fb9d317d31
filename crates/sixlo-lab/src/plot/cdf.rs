//! Cumulative distributions, side by side.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::extent;
use super::{
    Axis, Canvas, Drawn, Margins, NORMAL, SMALL, Unit, WIDE, bold, chart, colour, figure, horizontal_axis,
    nothing, place, stroke, text, units, vertical_axis,
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

impl CdfPanels {
    /// Draws the panels, two in a row, all with the same scale.
    pub fn draw(&self) -> Markup {
        let distributions = self.panels.iter().flat_map(|panel| &panel.distributions);
        let Some((min, max)) = extent(distributions.flat_map(|one| &one.values).copied()) else {
            return nothing(WIDE, &self.title);
        };
        let scale = Axis::logarithmic(min, max);
        let columns = self.panels.len().min(2);
        let rows = self.panels.len().div_ceil(columns);
        let height = TOP + PANEL_HEIGHT * rows as f64;
        figure(WIDE, height, &self.title, |canvas| {
            let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
            canvas.draw_text(&self.y_title, &title, place(56.0, 18.0))?;
            let (_, below) = canvas.split_vertically(units(TOP));
            for (panel, area) in self.panels.iter().zip(below.split_evenly((rows, columns))) {
                panel.draw(&area, &scale, &self.x_title)?;
            }
            Ok(Vec::new())
        })
    }
}

impl CdfPanel {
    fn draw(&self, area: &Canvas<'_>, scale: &Axis, x_title: &str) -> Drawn<()> {
        let margins = Margins {
            left: 56.0,
            top: 26.0,
            right: 24.0,
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
        let (columns, _) = chart.plotting_area().get_pixel_range();
        // Names stand where there is more room: above the fastest or below the slowest.
        let ends = |p| {
            self.distributions
                .iter()
                .filter_map(move |one| quantile(&one.values, p))
        };
        let at = |value: f64| chart.backend_coord(&(value, 0.0)).0;
        let left_room = extent(ends(0.0)).map_or(0, |(min, _)| at(min) - columns.start);
        let right_room = extent(ends(0.3)).map_or(0, |(_, max)| columns.end - at(max));
        chart
            .configure_series_labels()
            .position(if left_room > right_room {
                SeriesLabelPosition::UpperLeft
            } else {
                SeriesLabelPosition::LowerRight
            })
            .margin(units(6.0))
            .legend_area_size(units(26.0))
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
