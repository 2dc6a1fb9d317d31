//! Bars made of parts.

use maud::{Markup, html};

use super::scale::plain;
use super::{NARROW, Scale, bold, colour, figure, line, n, text, text_width};

/// A bar a condition, a part a category.
#[derive(Clone, Debug)]
pub struct StackedBars {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// Name and unit of the lengths.
    pub x_title: String,
    /// Their scale.
    pub x: Scale,
    /// The categories, in the order of the parts.
    pub categories: Vec<String>,
    /// The bars.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The condition.
    pub label: String,
    /// The length of each category's part.
    pub parts: Vec<f64>,
    /// What stands behind the bar.
    pub remark: String,
}

const ROW: f64 = 34.0;
const THICKNESS: f64 = 20.0;

impl StackedBars {
    /// Draws the bars below a legend.
    pub fn draw(&self) -> Markup {
        let labels = self
            .bars
            .iter()
            .map(|bar| text_width(&bar.label))
            .fold(0.0, f64::max);
        let remarks = self
            .bars
            .iter()
            .map(|bar| text_width(&bar.remark))
            .fold(0.0, f64::max);
        let (left, right) = (24.0 + labels, NARROW - 30.0 - remarks);
        let (legend, legend_bottom) = self.legend();
        let top = legend_bottom + 14.0;
        let bottom = top + ROW * self.bars.len() as f64;
        let content = html! {
            (legend)
            @for tick in self.x.ticks() {
                @let at = self.x.at(tick, left, right);
                (line(at, top, at, bottom, colour::GRID, 1.0))
                (text(at, bottom + 18.0, "middle", colour::MUTED, &self.x.label(tick)))
            }
            @for (number, bar) in self.bars.iter().enumerate() {
                @let y = top + ROW * number as f64 + (ROW - THICKNESS) / 2.0;
                (text(left - 10.0, y + 14.0, "end", colour::INK, &bar.label))
                (self.parts(bar, y, left, right))
            }
            (line(left, top, left, bottom, colour::AXIS, 1.0))
            (bold((left + right) / 2.0, bottom + 38.0, "middle", colour::INK, &self.x_title))
        };
        figure(NARROW, bottom + 52.0, &self.title, &content)
    }

    fn parts(&self, bar: &Bar, y: f64, left: f64, right: f64) -> Markup {
        let mut sum = 0.0;
        let mut places = Vec::new();
        for (number, part) in bar.parts.iter().enumerate() {
            let start = self.x.at(sum, left, right);
            sum += part;
            places.push((number, *part, start, self.x.at(sum, left, right)));
        }
        html! {
            @for (number, part, start, end) in places {
                @if part > 0.0 {
                    @let shown = self.x.label(part);
                    g {
                        title { (self.categories[number]) ": " (shown) }
                        rect x=(n(start)) y=(n(y)) width=(n((end - start).max(0.75))) height=(n(THICKNESS))
                            fill=(colour::series(number)) {}
                        @if end - start > text_width(&shown) + 8.0 {
                            g font-size="11" {
                                (text((start + end) / 2.0, y + 14.0, "middle", colour::PAPER, &shown))
                            }
                        }
                    }
                }
            }
            (text(self.x.at(sum, left, right) + 8.0, y + 14.0, "start", colour::MUTED, &bar.remark))
        }
    }

    /// The names of the categories in as many rows as they need; and where the legend ends.
    fn legend(&self) -> (Markup, f64) {
        let (mut x, mut y) = (14.0, 24.0);
        let mut places = Vec::new();
        for category in &self.categories {
            let width = 22.0 + text_width(category) + 14.0;
            if x > 14.0 && x + width > NARROW - 10.0 {
                (x, y) = (14.0, y + 20.0);
            }
            places.push((x, y));
            x += width;
        }
        let drawn = html! {
            @for (number, (category, (x, y))) in self.categories.iter().zip(places).enumerate() {
                rect x=(n(x)) y=(n(y - 10.0)) width="12" height="12" rx="2" fill=(colour::series(number)) {}
                (text(x + 18.0, y, "start", colour::INK, category))
            }
        };
        (drawn, y)
    }
}

/// A count with its share of a total.
pub(crate) fn count_of(count: u64, total: u64) -> String {
    if total == 0 {
        return plain(count as f64);
    }
    format!("{} of {}", plain(count as f64), plain(total as f64))
}
