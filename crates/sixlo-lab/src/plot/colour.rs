//! The one palette of all figures and reports, on paper of light colour.

use plotters::style::RGBColor;
use plotters::style::colors::colormaps::{ColorMap, DerivedColorMap};

/// What everything is drawn on.
pub const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// Titles and values.
pub const INK: RGBColor = RGBColor(0x1d, 0x27, 0x33);
/// Labels of axes and remarks.
pub const MUTED: RGBColor = RGBColor(0x5f, 0x6f, 0x80);
/// Axes.
pub const AXIS: RGBColor = RGBColor(0x9a, 0xa7, 0xb4);
/// Grid lines.
pub const GRID: RGBColor = RGBColor(0xe6, 0xeb, 0xf0);

/// Series and categories, told apart also by people who confuse red and green.
pub const SERIES: [RGBColor; 10] = [
    RGBColor(0x2c, 0x6f, 0xb3),
    RGBColor(0xd9, 0x65, 0x2b),
    RGBColor(0x2f, 0x9e, 0x8f),
    RGBColor(0x8b, 0x5f, 0xb5),
    RGBColor(0xc9, 0xa2, 0x27),
    RGBColor(0xc4, 0x3e, 0x5c),
    RGBColor(0x58, 0xa6, 0xd6),
    RGBColor(0x7d, 0x8b, 0x3a),
    RGBColor(0xa0, 0x71, 0x4f),
    RGBColor(0x7b, 0x87, 0x94),
];

/// The colour of the series with this number.
pub fn series(number: usize) -> RGBColor {
    SERIES[number % SERIES.len()]
}

/// How good something is, 0 to 1: crimson over amber to teal.
pub fn quality(share: f64) -> RGBColor {
    DerivedColorMap::new(&[
        RGBColor(178, 32, 60),
        RGBColor(233, 160, 52),
        RGBColor(120, 178, 120),
        RGBColor(24, 130, 135),
    ])
    .get_color(share)
}

/// How far away something is, 0 to 1: from deep blue to pale.
pub fn depth(share: f64) -> RGBColor {
    DerivedColorMap::new(&[
        RGBColor(27, 58, 107),
        RGBColor(58, 117, 175),
        RGBColor(138, 182, 219),
        RGBColor(222, 234, 245),
    ])
    .get_color(share)
}

/// Numbers in an order, such as hops, 0 to 1: dark violet over blue and green to ochre.
pub fn ordered(share: f64) -> RGBColor {
    DerivedColorMap::new(&[
        RGBColor(68, 30, 110),
        RGBColor(49, 96, 160),
        RGBColor(32, 148, 139),
        RGBColor(112, 176, 72),
        RGBColor(222, 170, 40),
    ])
    .get_color(share)
}
