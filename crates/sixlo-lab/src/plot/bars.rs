//! Bars made of parts.

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{extent, plain};
use super::{
    Axis, Canvas, Chart, Drawn, Margins, NARROW, NORMAL, SMALL, Tooltip, Unit, chart, colour, figure,
    horizontal_axis, nothing, place, stroke, text, text_width, units, vertical_axis, widest,
};

/// A bar a condition, a part a category.
#[derive(Clone, Debug)]
pub struct StackedBars {
    /// What the figure shows, for those who cannot see it.
    pub title: String,
    /// Name and unit of the lengths.
    pub x_title: String,
    /// What they count.
    pub unit: Unit,
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
    /// The length of each category's part, 0 or more.
    pub parts: Vec<f64>,
    /// What stands behind the bar.
    pub remark: String,
}

const ROW: f64 = 34.0;
/// Half the thickness of a bar, as a share of its row.
const HALF: f64 = 0.3;

impl StackedBars {
    /// Draws the bars below a legend.
    pub fn draw(&self) -> Markup {
        let lengths = self.bars.iter().map(|bar| bar.parts.iter().sum());
        let Some((_, longest)) = extent(lengths).filter(|(_, longest)| *longest > 0.0) else {
            return nothing(NARROW, &self.title);
        };
        let style = text(NORMAL, colour::INK, HPos::Left, VPos::Center);
        let names: Vec<String> = self.bars.iter().map(|bar| bar.label.clone()).collect();
        let legend = self.legend();
        let margins = Margins {
            left: 24.0 + widest(names.iter().map(String::as_str), &style),
            top: legend.last().map_or(0.0, |(_, y)| *y) + 18.0,
            right: 30.0 + widest(self.bars.iter().map(|bar| bar.remark.as_str()), &style),
            bottom: 52.0,
        };
        let height = margins.top + ROW * self.bars.len() as f64 + margins.bottom;
        figure(NARROW, height, &self.title, |canvas| {
            self.draw_legend(canvas, &legend)?;
            let y = Axis::names(&names).reversed();
            let mut chart = chart(canvas, &margins, Axis::from_zero(self.unit, longest), y)?;
            horizontal_axis(&mut chart, &self.x_title, true)?;
            vertical_axis(&mut chart, colour::INK, false)?;
            let mut tooltips = Vec::new();
            for (row, bar) in self.bars.iter().enumerate() {
                tooltips.extend(self.draw_bar(canvas, &mut chart, row as f64, bar)?);
            }
            let ends = [(0.0, -0.5), (0.0, self.bars.len() as f64 - 0.5)];
            chart.draw_series([PathElement::new(ends, stroke(colour::AXIS, 1.0))])?;
            Ok(tooltips)
        })
    }

    fn draw_bar(
        &self,
        canvas: &Canvas<'_>,
        chart: &mut Chart<'_>,
        row: f64,
        bar: &Bar,
    ) -> Drawn<Vec<Tooltip>> {
        let inside = text(SMALL, colour::PAPER, HPos::Center, VPos::Center);
        let mut tooltips = Vec::new();
        let mut end = 0.0;
        for (number, part) in bar.parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            let start = end;
            end += part;
            let ends = [(start, row - HALF), (end, row + HALF)];
            chart.draw_series([Rectangle::new(ends, colour::series(number).filled())])?;
            let corners = ends.map(|end| chart.backend_coord(&end));
            let shown = self.unit.label(*part);
            if corners[1].0 - corners[0].0 > units(text_width(&shown, &inside) + 4.0) {
                let middle = (f64::midpoint(start, end), row);
                chart.draw_series([Text::new(shown.clone(), middle, &inside)])?;
            }
            tooltips.push(Tooltip {
                corners,
                text: format!("{}: {shown}", self.categories[number]),
            });
        }
        let (x, y) = chart.backend_coord(&(end, row));
        let remark = text(NORMAL, colour::MUTED, HPos::Left, VPos::Center);
        canvas.draw_text(&bar.remark, &remark, (x + units(8.0), y))?;
        Ok(tooltips)
    }

    /// Where the names of the categories stand, in as many rows as they need.
    fn legend(&self) -> Vec<(f64, f64)> {
        let style = text(NORMAL, colour::INK, HPos::Left, VPos::Center);
        let (mut x, mut y) = (14.0, 20.0);
        let mut places = Vec::new();
        for category in &self.categories {
            let width = 18.0 + text_width(category, &style) + 18.0;
            if x > 14.0 && x + width > NARROW {
                (x, y) = (14.0, y + 20.0);
            }
            places.push((x, y));
            x += width;
        }
        places
    }

    fn draw_legend(&self, canvas: &Canvas<'_>, places: &[(f64, f64)]) -> Drawn<()> {
        let style = text(NORMAL, colour::INK, HPos::Left, VPos::Center);
        for (number, (category, (x, y))) in self.categories.iter().zip(places).enumerate() {
            let square = [place(*x, y - 6.0), place(x + 12.0, y + 6.0)];
            canvas.draw(&Rectangle::new(square, colour::series(number).filled()))?;
            canvas.draw_text(category, &style, place(x + 18.0, *y))?;
        }
        Ok(())
    }
}

/// A count with its share of a total.
pub(crate) fn count_of(count: u64, total: u64) -> String {
    if total == 0 {
        return plain(count as f64);
    }
    format!("{} of {}", plain(count as f64), plain(total as f64))
}
