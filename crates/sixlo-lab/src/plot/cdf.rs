//! Cumulative distributions, side by side.

use maud::{Markup, html};

use super::{Area, Horizontal, Scale, WIDE, bold, colour, figure, line, n, text};
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
    pub colour: String,
    /// The values, ascending, all above 0.
    pub values: Vec<f64>,
}

/// Points of a curve; more cannot be seen.
const POINTS: usize = 160;
const PANEL_HEIGHT: f64 = 296.0;

impl CdfPanels {
    /// Draws the panels, two in a row, all with the same scale.
    pub fn draw(&self) -> Markup {
        let all = || {
            self.panels
                .iter()
                .flat_map(|panel| &panel.distributions)
                .flat_map(|one| &one.values)
        };
        let min = all().copied().fold(f64::MAX, f64::min);
        let max = all().copied().fold(f64::MIN, f64::max);
        let scale = if min <= max {
            Scale::logarithmic(min, max)
        } else {
            Scale::logarithmic(1.0, 1_000.0)
        };
        let columns = self.panels.len().clamp(1, 2);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let width = (WIDE - 56.0 - 16.0) / columns as f64;
        let content = html! {
            (bold(56.0, 22.0, "start", colour::INK, &self.y_title))
            @for (number, panel) in self.panels.iter().enumerate() {
                @let area = Area {
                    left: 56.0 + width * (number % columns) as f64,
                    right: 56.0 + width * (number % columns + 1) as f64 - 40.0,
                    top: 56.0 + PANEL_HEIGHT * (number / columns) as f64,
                    bottom: 56.0 + PANEL_HEIGHT * (number / columns) as f64 + PANEL_HEIGHT - 84.0,
                };
                (panel.draw(area, &scale, number % columns == 0, &self.x_title))
            }
        };
        figure(WIDE, 22.0 + PANEL_HEIGHT * rows as f64, &self.title, &content)
    }
}

impl CdfPanel {
    fn draw(&self, area: Area, scale: &Scale, leftmost: bool, x_title: &str) -> Markup {
        let share = Scale::share();
        let x = Horizontal::Numbers(*scale, scale.ticks());
        html! {
            (bold(area.left, area.top - 10.0, "start", colour::MUTED, &self.title))
            @for tick in share.ticks() {
                @let at = share.at(tick, area.bottom, area.top);
                (line(area.left, at, area.right, at, colour::GRID, 1.0))
                @if leftmost { (text(area.left - 8.0, at + 4.0, "end", colour::MUTED, &share.label(tick))) }
            }
            (line(area.left, area.bottom, area.right, area.bottom, colour::AXIS, 1.0))
            @for (at, label) in x.ticks(area.left, area.right) {
                (line(at, area.bottom, at, area.bottom + 4.0, colour::AXIS, 1.0))
                (text(at, area.bottom + 17.0, "middle", colour::MUTED, &label))
            }
            (bold((area.left + area.right) / 2.0, area.bottom + 35.0, "middle", colour::INK, x_title))
            @for distribution in &self.distributions {
                polyline points=(distribution.points(area, scale)) fill="none" stroke=(distribution.colour)
                    stroke-width="2" stroke-linejoin="round" {
                    title { (distribution.label) }
                }
            }
            (self.names(area, scale))
        }
    }
}

impl CdfPanel {
    /// The names of the distributions where there is more room: below the slowest or above the fastest.
    fn names(&self, area: Area, scale: &Scale) -> Markup {
        let low = self
            .distributions
            .iter()
            .filter_map(|one| one.values.first())
            .copied()
            .fold(f64::MAX, f64::min);
        let high = self
            .distributions
            .iter()
            .filter_map(|one| quantile(&one.values, 0.3))
            .fold(f64::MIN, f64::max);
        let left_room = scale.at(low, area.left, area.right) - area.left;
        let right_room = area.right - scale.at(high, area.left, area.right);
        let upper_left = left_room > right_room;
        let count = self.distributions.len();
        html! {
            g font-size="11.5" {
                @for (number, one) in self.distributions.iter().enumerate() {
                    @if upper_left {
                        (bold(area.left + 6.0, area.top + 14.0 + 15.0 * number as f64, "start", &one.colour, &one.label))
                    } @else {
                        @let y = area.bottom - 9.0 - 15.0 * (count - 1 - number) as f64;
                        (bold(area.right - 4.0, y, "end", &one.colour, &one.label))
                    }
                }
            }
        }
    }
}

impl Distribution {
    fn points(&self, area: Area, scale: &Scale) -> String {
        let share = Scale::share();
        let count = POINTS.min(self.values.len().max(2));
        let place = |i: usize| {
            let p = i as f64 / (count - 1) as f64;
            let x = scale.at(quantile(&self.values, p)?, area.left, area.right);
            Some(format!("{},{}", n(x), n(share.at(p, area.bottom, area.top))))
        };
        (0..count).filter_map(place).collect::<Vec<_>>().join(" ")
    }
}
