//! Window and gap of transfers over time, side by side, with what the control was told.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{
    Axis, Canvas, Drawn, Margins, NORMAL, SMALL, Unit, WIDE, bold, chart, colour, figure, horizontal_axis,
    nothing, place, stroke, text, text_width, units, vertical_axis,
};

/// Panels, two in a row.
#[derive(Clone, Debug)]
pub struct WindowPanels {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// The panels, row by row; none where there is nothing to show.
    pub panels: Vec<WindowPanel>,
}

/// One transfer.
#[derive(Clone, Debug, Default)]
pub struct WindowPanel {
    /// What it is.
    pub title: String,
    /// More about it, or why there is none.
    pub subtitle: String,
    /// From when on window (in fragments) and gap (in ms) are what they are.
    pub steps: Vec<(f64, f64, f64)>,
    /// When the transfer ended, in seconds.
    pub end_s: f64,
    /// When something was told, and what.
    pub marks: Vec<(f64, Mark)>,
}

/// What a control was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Fragments were acknowledged.
    Acked,
    /// Fragments are missing by an acknowledgement.
    Lost,
    /// No acknowledgement came in time.
    TimedOut,
    /// Fragments met congestion.
    Ecn,
}

impl Mark {
    /// All of them, as the legend has them.
    pub const ALL: [Self; 4] = [Self::Acked, Self::Ecn, Self::Lost, Self::TimedOut];

    const fn name(self) -> &'static str {
        match self {
            Self::Acked => "acknowledged",
            Self::Lost => "lost",
            Self::TimedOut => "timed out",
            Self::Ecn => "ECN mark",
        }
    }

    /// From which to which share of the height its lines reach, so that what comes at one moment can be told apart.
    const fn band(self) -> (f64, f64) {
        match self {
            Self::TimedOut => (0.0, 1.0),
            Self::Acked => (0.72, 1.0),
            Self::Ecn => (0.44, 0.7),
            Self::Lost => (0.16, 0.42),
        }
    }

    fn colour(self) -> RGBColor {
        colour::series(match self {
            Self::Acked => 2,
            Self::Lost => 1,
            Self::TimedOut => 5,
            Self::Ecn => 3,
        })
    }
}

const PANEL_HEIGHT: f64 = 262.0;
/// Height of the legend above all panels.
const TOP: f64 = 34.0;
/// Beside the drawing area of a panel.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 20.0;
/// Where the chart of the window ends and that of the gap begins.
const UPPER: f64 = 150.0;

impl WindowPanels {
    /// Draws the panels.
    pub fn draw(&self) -> Markup {
        if self.panels.iter().all(|panel| panel.steps.is_empty()) {
            return nothing(WIDE, &self.title);
        }
        let rows = self.panels.len().div_ceil(2);
        let height = TOP + PANEL_HEIGHT * rows as f64;
        figure(WIDE, height, &self.title, |canvas| {
            legend(canvas)?;
            let (_, below) = canvas.split_vertically(units(TOP));
            for (panel, area) in self.panels.iter().zip(below.split_evenly((rows, 2))) {
                panel.draw(&area)?;
            }
            Ok(Vec::new())
        })
    }
}

/// What the lines and marks mean.
fn legend(canvas: &Canvas<'_>) -> Drawn<()> {
    let style = text(SMALL, colour::INK, HPos::Left, VPos::Center);
    let lines = [("window", colour::series(0)), ("gap", colour::INK)];
    let marks = Mark::ALL.map(|mark| (mark.name(), mark.colour()));
    let mut x = LEFT;
    for (number, (name, ink)) in lines.into_iter().chain(marks).enumerate() {
        // Lines lie, marks stand.
        let (from, to) = if number < lines.len() {
            (place(x, 16.0), place(x + 16.0, 16.0))
        } else {
            (place(x + 8.0, 8.0), place(x + 8.0, 24.0))
        };
        let path = PathElement::new(vec![from, to], stroke(ink, 2.4));
        canvas.draw(&path)?;
        canvas.draw_text(name, &style, place(x + 22.0, 16.0))?;
        x += 22.0 + text_width(name, &style) + 22.0;
    }
    Ok(())
}

/// The greatest of the values, or at least so much.
fn highest(values: &[(f64, f64)], least: f64) -> f64 {
    values.iter().fold(least, |most, (_, value)| most.max(*value))
}

impl WindowPanel {
    fn draw(&self, area: &Canvas<'_>) -> Drawn<()> {
        let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
        area.draw_text(&self.title, &title, place(LEFT, 12.0))?;
        let muted = text(SMALL, colour::MUTED, HPos::Left, VPos::Center);
        area.draw_text(&self.subtitle, &muted, place(LEFT, 28.0))?;
        if self.steps.is_empty() {
            return Ok(());
        }
        let (upper, lower) = area.split_vertically(units(UPPER));
        let windows: Vec<(f64, f64)> = self
            .steps
            .iter()
            .map(|(time, window, _)| (*time, *window))
            .collect();
        let gaps: Vec<(f64, f64)> = self.steps.iter().map(|(time, _, gap)| (*time, *gap)).collect();
        // At least as much as the greatest initial window, so that panels can be compared.
        let y = Axis::from_zero(Unit::Number, highest(&windows, 4.0));
        self.draw_line(&upper, "window (fragments)", &windows, y, false)?;
        let y = Axis::low_from_zero(Unit::Number, highest(&gaps, 200.0));
        self.draw_line(&lower, "gap (ms)", &gaps, y, true)
    }

    /// A line in steps, with the marks behind it. The upper one shows windows, the lower one gaps and the time.
    fn draw_line(
        &self,
        area: &Canvas<'_>,
        name: &str,
        values: &[(f64, f64)],
        y: Axis,
        is_lower: bool,
    ) -> Drawn<()> {
        let (top, bottom, ink) = if is_lower {
            (16.0, 50.0, colour::INK)
        } else {
            (38.0, 8.0, colour::series(0))
        };
        let margins = Margins {
            left: LEFT,
            top,
            right: RIGHT,
            bottom,
        };
        let ends = plotters::coord::ranged1d::Ranged::range(&y);
        let x = Axis::from_zero(Unit::Number, self.end_s.max(1e-3));
        let mut chart = chart(area, &margins, x, y)?;
        vertical_axis(&mut chart, colour::MUTED, true)?;
        if is_lower {
            horizontal_axis(&mut chart, "Time (s)", false)?;
        }
        let style = text(SMALL, ink, HPos::Right, VPos::Center);
        area.draw_text(name, &style, place(WIDE / 2.0 - RIGHT, top - 10.0))?;
        for kind in Mark::ALL {
            let these = self.marks.iter().filter(|(_, mark)| *mark == kind);
            let (low, high) = kind.band();
            let (low, high) = (ends.end * low, ends.end * high);
            // Half transparent: darker where several come at about the same time, as in the paper's figure.
            let style = kind.colour().mix(0.5).stroke_width(units(1.6).unsigned_abs());
            chart.draw_series(
                these.map(|(time, _)| PathElement::new(vec![(*time, low), (*time, high)], style)),
            )?;
        }
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (time, value) in values {
            path.extend(path.last().map(|(_, before)| (*time, *before)));
            path.push((*time, *value));
        }
        path.extend(path.last().map(|(_, last)| (self.end_s, *last)));
        chart.draw_series(LineSeries::new(path, stroke(ink, 2.2)))?;
        Ok(())
    }
}
