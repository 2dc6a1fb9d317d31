//! The one palette of all figures and reports, on paper of light colour.

/// What everything is drawn on.
pub const PAPER: &str = "#ffffff";
/// Titles and values.
pub const INK: &str = "#1d2733";
/// Labels of axes and remarks.
pub const MUTED: &str = "#5f6f80";
/// Axes.
pub const AXIS: &str = "#9aa7b4";
/// Grid lines.
pub const GRID: &str = "#e6ebf0";

/// Series and categories, told apart also by people who confuse red and green.
pub const SERIES: [&str; 10] = [
    "#2c6fb3", "#d9652b", "#2f9e8f", "#8b5fb5", "#c9a227", "#c43e5c", "#58a6d6", "#7d8b3a", "#a0714f",
    "#7b8794",
];

/// The colour of the series with this number.
pub fn series(number: usize) -> &'static str {
    SERIES[number % SERIES.len()]
}

/// A colour on a scale: stops of red, green and blue, evenly spaced from 0 to 1.
fn between(stops: &[[f64; 3]], share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let below = (place.floor() as usize).min(stops.len() - 2);
    let part = place - below as f64;
    let channel = |i: usize| stops[below][i] + (stops[below + 1][i] - stops[below][i]) * part;
    format!(
        "#{:02x}{:02x}{:02x}",
        channel(0).round() as u8,
        channel(1).round() as u8,
        channel(2).round() as u8
    )
}

/// How good something is, 0 to 1: crimson over amber to teal.
pub fn quality(share: f64) -> String {
    between(
        &[
            [178.0, 32.0, 60.0],
            [233.0, 160.0, 52.0],
            [120.0, 178.0, 120.0],
            [24.0, 130.0, 135.0],
        ],
        share,
    )
}

/// How far away something is, 0 to 1: from deep blue to pale.
pub fn depth(share: f64) -> String {
    between(
        &[
            [27.0, 58.0, 107.0],
            [58.0, 117.0, 175.0],
            [138.0, 182.0, 219.0],
            [222.0, 234.0, 245.0],
        ],
        share,
    )
}

/// Numbers in an order, such as hops, 0 to 1: dark violet over blue and green to ochre.
pub fn ordered(share: f64) -> String {
    between(
        &[
            [68.0, 30.0, 110.0],
            [49.0, 96.0, 160.0],
            [32.0, 148.0, 139.0],
            [112.0, 176.0, 72.0],
            [222.0, 170.0, 40.0],
        ],
        share,
    )
}
