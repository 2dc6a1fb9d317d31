//! Congestion windows of TCP over time, one below the other, with losses and time-outs.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{
    Axis, Canvas, Drawn, Margins, NORMAL, SMALL, Unit, WIDE, bold, chart, colour, figure, horizontal_axis,
    nothing, place, stroke, text, text_width, units, vertical_axis,
};

/// Panels, one below the other, with the same axes.
#[derive(Clone, Debug)]
pub struct CongestionPanels {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// The panels.
    pub panels: Vec<CongestionPanel>,
    /// Windows are cut at this many bytes: beyond, something else holds back.
    pub cap_bytes: u32,
    /// What the cap is.
    pub cap_name: String,
    /// From when to when, in seconds.
    pub from_s: f64,
    /// See `from_s`.
    pub until_s: f64,
}

/// One transfer.
#[derive(Clone, Debug, Default)]
pub struct CongestionPanel {
    /// What it is.
    pub title: String,
    /// From when on the window is so many bytes, in the order of time.
    pub windows: Vec<(f64, u32)>,
    /// What happened.
    pub events: Vec<(f64, Event)>,
}

/// What happened to a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A segment was found lost by acknowledgements, and sent again.
    FastRetransmit,
    /// The retransmission timer ran out.
    TimeOut,
    /// The last of these was found to be needless, and undone.
    Undone,
}

impl Event {
    /// All of them, as the legend has them.
    pub const ALL: [Self; 3] = [Self::FastRetransmit, Self::TimeOut, Self::Undone];

    const fn name(self) -> &'static str {
        match self {
            Self::FastRetransmit => "fast retransmission",
            Self::TimeOut => "time-out",
            Self::Undone => "undone, no loss",
        }
    }

    fn colour(self) -> RGBColor {
        colour::series(match self {
            Self::FastRetransmit => 1,
            Self::TimeOut => 5,
            Self::Undone => 2,
        })
    }

    /// Where its marks stand, as a share of the cap.
    const fn height(self) -> f64 {
        match self {
            Self::FastRetransmit => 1.12,
            Self::TimeOut => 1.24,
            Self::Undone => 1.36,
        }
    }
}

const PANEL_HEIGHT: f64 = 190.0;
/// Height of the legend above all panels.
const TOP: f64 = 34.0;
/// Height of the title of the time below the last panel.
const BOTTOM: f64 = 44.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 20.0;

impl CongestionPanels {
    /// Draws the panels.
    pub fn draw(&self) -> Markup {
        if self.panels.iter().all(|panel| panel.windows.is_empty()) {
            return nothing(WIDE, &self.title);
        }
        let height = TOP + PANEL_HEIGHT * self.panels.len() as f64 + BOTTOM;
        figure(WIDE, height, &self.title, |canvas| {
            self.legend(canvas)?;
            let (_, mut below) = canvas.split_vertically(units(TOP));
            for (number, panel) in self.panels.iter().enumerate() {
                let is_last = number + 1 == self.panels.len();
                let height = if is_last {
                    PANEL_HEIGHT + BOTTOM
                } else {
                    PANEL_HEIGHT
                };
                let (area, rest) = below.split_vertically(units(height));
                self.panel(&area, panel, is_last)?;
                below = rest;
            }
            Ok(Vec::new())
        })
    }

    fn legend(&self, canvas: &Canvas<'_>) -> Drawn<()> {
        let style = text(SMALL, colour::INK, HPos::Left, VPos::Center);
        let mut x = LEFT;
        let lines = [
            ("congestion window", colour::series(0), 2.2),
            (self.cap_name.as_str(), colour::AXIS, 1.4),
        ];
        for (name, ink, width) in lines {
            let path = vec![place(x, 16.0), place(x + 16.0, 16.0)];
            canvas.draw(&PathElement::new(path, stroke(ink, width)))?;
            canvas.draw_text(name, &style, place(x + 22.0, 16.0))?;
            x += 22.0 + text_width(name, &style) + 22.0;
        }
        for event in Event::ALL {
            canvas.draw(&Circle::new(
                place(x + 8.0, 16.0),
                units(3.4),
                event.colour().filled(),
            ))?;
            canvas.draw_text(event.name(), &style, place(x + 18.0, 16.0))?;
            x += 18.0 + text_width(event.name(), &style) + 22.0;
        }
        Ok(())
    }

    fn panel(&self, area: &Canvas<'_>, panel: &CongestionPanel, is_last: bool) -> Drawn<()> {
        let title = bold(NORMAL, colour::INK, HPos::Left, VPos::Center);
        area.draw_text(&panel.title, &title, place(LEFT, 10.0))?;
        let margins = Margins {
            left: LEFT,
            top: 22.0,
            right: RIGHT,
            bottom: if is_last { BOTTOM + 10.0 } else { 10.0 },
        };
        let cap = f64::from(self.cap_bytes);
        let x = Axis::from_zero(Unit::Number, self.until_s - self.from_s);
        let y = Axis::from_zero(Unit::Number, cap * 1.42);
        let mut chart = chart(area, &margins, x, y)?;
        vertical_axis(&mut chart, colour::MUTED, true)?;
        if is_last {
            horizontal_axis(&mut chart, "Time (s)", false)?;
        }
        let end = self.until_s - self.from_s;
        let cap_line = vec![(0.0, cap), (end, cap)];
        chart.draw_series(LineSeries::new(cap_line, stroke(colour::AXIS, 1.4)))?;
        chart.draw_series(LineSeries::new(self.steps(panel), stroke(colour::series(0), 2.0)))?;
        for kind in Event::ALL {
            let these = panel
                .events
                .iter()
                .filter(|(at, event)| *event == kind && (self.from_s..=self.until_s).contains(at));
            let style = kind.colour().filled();
            chart.draw_series(
                these.map(|(at, _)| Circle::new((at - self.from_s, cap * kind.height()), units(2.6), style)),
            )?;
        }
        Ok(())
    }

    /// The window in steps, cut at the cap and at the ends of the time that is shown.
    fn steps(&self, panel: &CongestionPanel) -> Vec<(f64, f64)> {
        let mut path: Vec<(f64, f64)> = Vec::new();
        for (at, window) in &panel.windows {
            if *at > self.until_s {
                break;
            }
            let at = at.max(self.from_s) - self.from_s;
            let window = f64::from((*window).min(self.cap_bytes));
            path.extend(path.last().map(|(_, before)| (at, *before)));
            path.push((at, window));
        }
        path.extend(path.last().map(|(_, last)| (self.until_s - self.from_s, *last)));
        path
    }
}
