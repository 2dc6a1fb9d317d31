//! Lines over a parameter, each value with its confidence interval.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::extent;
use super::{
    Axis, Canvas, Chart, Drawn, Horizontal, Margins, NARROW, NORMAL, Tooltip, Unit, bold, chart, colour,
    figure, horizontal_axis, nothing, place, spread, stroke, units, vertical_axis, widest,
};

/// Estimates over a parameter, one line a series.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// The parameter.
    pub x: Horizontal,
    /// Its name and unit.
    pub x_title: String,
    /// What the estimates count.
    pub unit: Unit,
    /// Their name and unit.
    pub y_title: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name, which stands at its end; empty if there is only one.
    pub label: String,
    /// Its colour.
    pub colour: RGBColor,
    /// How it is drawn.
    pub origin: Origin,
    /// Its values, from left to right.
    pub values: Vec<Value>,
}

/// Where a line comes from, as it can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// From runs: drawn through, each value marked.
    #[default]
    Measured,
    /// From a publication: hollow marks, and nothing between them.
    Published,
    /// From a model: dots, no marks.
    Modelled,
}

/// One value with the ends of its interval.
#[derive(Clone, Debug)]
pub struct Value {
    /// The parameter.
    pub x: f64,
    /// The estimate, 0 or more.
    pub y: f64,
    /// The ends of its interval, if it has one; 0 or more.
    pub interval: Option<(f64, f64)>,
    /// What the tooltip says.
    pub tooltip: String,
}

const HEIGHT: f64 = 340.0;
/// Between the names of lines.
const LINE_GAP: f64 = 15.0;
/// Values of a line that are marked one by one.
const MARKED_MAX: usize = 40;

impl LineChart {
    /// Draws the chart.
    pub fn draw(&self) -> Markup {
        if self.values().next().is_none() {
            return nothing(NARROW, &self.title);
        }
        figure(NARROW, HEIGHT, &self.title, |canvas| {
            let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
            let names = widest(self.series.iter().map(|series| series.label.as_str()), &title);
            let margins = Margins {
                left: 58.0,
                top: 44.0,
                right: 24.0 + if names > 0.0 { names + 14.0 } else { 0.0 },
                bottom: 56.0,
            };
            canvas.draw_text(&self.y_title, &title, place(margins.left, 26.0))?;
            let (x, y) = self.axes();
            let mut chart = chart(canvas, &margins, x, y)?;
            vertical_axis(&mut chart, colour::MUTED, true)?;
            horizontal_axis(&mut chart, &self.x_title, false)?;
            let mut tooltips = Vec::new();
            for series in &self.series {
                tooltips.extend(series.draw(&mut chart)?);
            }
            self.names(canvas, &chart, NARROW - margins.right + 12.0)?;
            Ok(tooltips)
        })
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        self.series.iter().flat_map(|series| &series.values)
    }

    /// Axes that hold all values and intervals.
    pub(super) fn axes(&self) -> (Axis, Axis) {
        let x = match &self.x {
            Horizontal::Names(names) => Axis::names(names),
            Horizontal::Numbers(_) => Axis::around(self.values().map(|value| value.x)),
        };
        let heights = self
            .values()
            .map(|value| value.interval.map_or(value.y, |(_, high)| high.max(value.y)));
        let highest = extent(heights).map_or(0.0, |(_, max)| max);
        let whole = if self.unit == Unit::Share { 1.0 } else { 0.0 };
        (x, Axis::from_zero(self.unit, highest.max(whole)))
    }

    /// The names of the lines at their ends.
    fn names(&self, canvas: &Canvas<'_>, chart: &Chart<'_>, x: f64) -> Drawn<()> {
        let (_, rows) = chart.plotting_area().get_pixel_range();
        let ends: Vec<i32> = self
            .series
            .iter()
            .map(|series| series.values.last())
            .map(|last| last.map_or(rows.end, |value| chart.backend_coord(&(value.x, value.y)).1))
            .collect();
        let heights = spread(&ends, units(LINE_GAP), rows.start, rows.end);
        for (series, y) in self.series.iter().zip(heights) {
            let style = bold(NORMAL, series.colour, HPos::Left, VPos::Center);
            canvas.draw_text(&series.label, &style, (units(x), y))?;
        }
        Ok(())
    }
}

impl Series {
    fn draw(&self, chart: &mut Chart<'_>) -> Drawn<Vec<Tooltip>> {
        let points = || self.values.iter().map(|value| (value.x, value.y));
        match self.origin {
            Origin::Measured => {
                chart.draw_series(LineSeries::new(points(), stroke(self.colour, 2.2)))?;
            }
            Origin::Modelled => {
                let (dot, gap) = (units(2.0), units(4.0));
                let style = stroke(self.colour, 1.8);
                chart.draw_series(DashedLineSeries::new(points(), dot, gap, style))?;
            }
            // What lies between single values that a text gives is not known.
            Origin::Published => {}
        }
        chart.draw_series(self.values.iter().filter_map(|value| {
            let (low, high) = value.interval?;
            let style = stroke(self.colour, 1.5);
            Some(ErrorBar::new_vertical(
                value.x,
                low,
                value.y,
                high,
                style,
                units(10.0).unsigned_abs(),
            ))
        }))?;
        // A ring of paper keeps points of several lines apart. Where they would touch each other the line is enough.
        let marked = self.values.len() <= MARKED_MAX && self.origin != Origin::Modelled;
        let circles = match self.origin {
            Origin::Published => [(5.0, self.colour), (3.2, colour::PAPER)],
            _ => [(5.2, colour::PAPER), (4.0, self.colour)],
        };
        for (radius, fill) in circles {
            let marks = points().filter(|_| marked);
            chart.draw_series(marks.map(|point| Circle::new(point, units(radius), fill.filled())))?;
        }
        let tooltip = |value: &Value| {
            let at = chart.backend_coord(&(value.x, value.y));
            Tooltip::around(at, 9.0, &value.tooltip)
        };
        Ok(self.values.iter().map(tooltip).collect())
    }
}
