//! Lines over a parameter, each value with its confidence interval.

use maud::{Markup, html};

use super::{Area, Horizontal, NARROW, Scale, axes, bold, colour, figure, line, n, spread, text_width};

/// Estimates over a parameter, one line a series.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// The parameter.
    pub x: Horizontal,
    /// Its name and unit.
    pub x_title: String,
    /// The scale of the estimates.
    pub y: Scale,
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
    pub colour: String,
    /// Its values, from left to right.
    pub values: Vec<Value>,
}

/// One value with the ends of its interval.
#[derive(Clone, Debug)]
pub struct Value {
    /// The parameter.
    pub x: f64,
    /// The estimate.
    pub y: f64,
    /// The ends of its interval, if it has one.
    pub interval: Option<(f64, f64)>,
    /// What the tooltip says.
    pub tooltip: String,
}

impl LineChart {
    /// Draws the chart.
    pub fn draw(&self) -> Markup {
        const HEIGHT: f64 = 340.0;
        let labels = self
            .series
            .iter()
            .map(|series| text_width(&series.label))
            .fold(0.0, f64::max);
        let area = Area {
            left: 58.0,
            top: 44.0,
            right: NARROW - 24.0 - if labels > 0.0 { labels + 14.0 } else { 0.0 },
            bottom: HEIGHT - 56.0,
        };
        let content = html! {
            (axes(area, &self.x, &self.y, &self.x_title, &self.y_title))
            @for series in &self.series { (self.line(area, series)) }
            (self.labels(area))
        };
        figure(NARROW, HEIGHT, &self.title, &content)
    }

    fn place(&self, area: Area, value: &Value) -> (f64, f64) {
        (
            self.x.at(value.x, area.left, area.right),
            self.y.at(value.y, area.bottom, area.top),
        )
    }

    fn line(&self, area: Area, series: &Series) -> Markup {
        let points: Vec<String> = series
            .values
            .iter()
            .map(|value| self.place(area, value))
            .map(|(x, y)| format!("{},{}", n(x), n(y)))
            .collect();
        html! {
            polyline points=(points.join(" ")) fill="none" stroke=(series.colour) stroke-width="2.25"
                stroke-linejoin="round" {}
            @for value in &series.values {
                @let (x, y) = self.place(area, value);
                g {
                    title { (value.tooltip) }
                    @if let Some((low, high)) = value.interval {
                        @let (bottom, top) = (
                            self.y.at(low, area.bottom, area.top), self.y.at(high, area.bottom, area.top)
                        );
                        (line(x, bottom, x, top, &series.colour, 1.5))
                        (line(x - 5.0, bottom, x + 5.0, bottom, &series.colour, 1.5))
                        (line(x - 5.0, top, x + 5.0, top, &series.colour, 1.5))
                    }
                    circle cx=(n(x)) cy=(n(y)) r="4.5" fill=(series.colour) stroke=(colour::PAPER)
                        stroke-width="1.5" {}
                }
            }
        }
    }

    /// The names of the lines at their ends.
    fn labels(&self, area: Area) -> Markup {
        let ends: Vec<f64> = self
            .series
            .iter()
            .map(|series| {
                series
                    .values
                    .last()
                    .map_or(area.bottom, |value| self.place(area, value).1 + 4.0)
            })
            .collect();
        let places = spread(&ends, 15.0, area.top + 4.0, area.bottom);
        html! {
            @for (series, y) in self.series.iter().zip(places) {
                (bold(area.right + 12.0, y, "start", &series.colour, &series.label))
            }
        }
    }
}
