//! What a datagram costs as a sum: so much for each frame, for each message between modules, for each byte.

use std::collections::BTreeMap;

use sixlo_sim::cpu::CORTEX_M3;

use crate::steps::Steps;
use crate::tools::{self, Failure};
use crate::traverse::{Counts, Way};

/// What one datagram took on the chip, one way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    instructions: f64,
    /// Frames in, frames out, messages, bytes.
    steps: [f64; 4],
}

/// Instructions for each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    pub(crate) frame_in: f64,
    pub(crate) frame_out: f64,
    pub(crate) message: f64,
    pub(crate) byte: f64,
}

/// How far the simulator's figures may be from the tracked ones, in percent of the sum for a datagram.
const DRIFT_PERCENT_MAX: f64 = 3.0;

impl Fit {
    fn of(&self, point: &Point) -> f64 {
        let costs = [self.frame_in, self.frame_out, self.message, self.byte];
        costs
            .iter()
            .zip(point.steps)
            .map(|(cost, count)| cost * count)
            .sum()
    }

    fn errors(&self, points: &[Point]) -> impl Iterator<Item = f64> {
        points
            .iter()
            .map(|point| 100.0 * (self.of(point) - point.instructions).abs() / point.instructions)
    }

    /// Percent by which the sum differs from what was measured, in the mean.
    pub(crate) fn error_mean(&self, points: &[Point]) -> f64 {
        self.errors(points).sum::<f64>() / points.len() as f64
    }

    /// The same at most.
    pub(crate) fn error_max(&self, points: &[Point]) -> f64 {
        self.errors(points).fold(0.0, f64::max)
    }
}

fn point(way: Way, instructions: f64, steps: Steps) -> Point {
    let frames = f64::from(steps.frames);
    let [sender, receiver] = steps.messages.map(f64::from);
    let bytes = f64::from(steps.bytes);
    Point {
        instructions,
        steps: match way {
            Way::Send => [0.0, frames, sender, bytes],
            Way::Receive => [frames, 0.0, receiver, bytes],
        },
    }
}

/// What was measured, with what it is made of.
pub(crate) fn points(counts: &Counts, steps: &BTreeMap<usize, Steps>) -> Vec<Point> {
    let known = counts.iter().filter_map(|((way, payload), count)| {
        let steps = steps.get(payload)?;
        Some(point(*way, f64::from(*count), *steps))
    });
    known.collect()
}

/// The same from docs/measured/traverse.csv.
pub(crate) fn tracked() -> Result<Vec<Point>, Failure> {
    let text = tools::text(&tools::read(tools::root().join("docs/measured/traverse.csv"))?);
    let mut points = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let numbers: Vec<u32> = line.split(',').filter_map(|field| field.parse().ok()).collect();
        let [_, send, receive, _, _, _, _, frames, bytes, sender, receiver] = numbers[..] else {
            return Err(Failure::Wrong(format!(
                "docs/measured/traverse.csv has the line {line}"
            )));
        };
        let steps = Steps {
            frames,
            bytes,
            messages: [sender, receiver],
        };
        points.push(point(Way::Send, send.into(), steps));
        points.push(point(Way::Receive, receive.into(), steps));
    }
    Ok(points)
}

/// The least squares of the relative errors.
pub(crate) fn fit(points: &[Point]) -> Result<Fit, Failure> {
    const N: usize = 4;
    let mut rows = [[0.0; N + 1]; N];
    for point in points {
        let weight = point.instructions.powi(-2);
        for (i, row) in rows.iter_mut().enumerate() {
            for (sum, step) in row.iter_mut().zip(point.steps) {
                *sum += weight * point.steps[i] * step;
            }
            row[N] += weight * point.steps[i] * point.instructions;
        }
    }
    // Gauss and Jordan, with the largest pivot.
    for column in 0..N {
        let pivot = (column..N).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        let head = rows[column];
        if head[column].abs() < 1e-12 {
            return Err(Failure::Wrong("too few payloads to fit a sum to".to_owned()));
        }
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = row[column] / head[column];
            for (value, above) in row.iter_mut().zip(head) {
                *value -= factor * above;
            }
            debug_assert!(i != column);
        }
    }
    let solved = |i: usize| rows[i][N] / rows[i][i];
    Ok(Fit {
        frame_in: solved(0),
        frame_out: solved(1),
        message: solved(2),
        byte: solved(3),
    })
}

/// Where the simulator has them.
const SIMULATED: &str = "crates/sixlo-sim/src/cpu/measured.rs";

/// Gives the simulator what was measured.
pub(crate) fn write(fit: &Fit, cycles: f64) -> Result<(), Failure> {
    let whole = |value: f64| value.round().max(0.0) as u32;
    let text = format!(
        "//! Written by `cargo xtask traverse`, with docs/measured/traverse.csv.

use super::Instructions;

/// The stack on a Cortex-M3 at opt-level s: sums fitted to the instructions of datagrams of 8 to 1232 bytes, and Arm's timing
/// of these instructions (DDI 0337, table 3-1) in memory without wait states.
pub const CORTEX_M3: Instructions = Instructions {{
    frame_in: {},
    frame_out: {},
    message: {},
    byte_hundredths: {},
    cycles_hundredths: {},
}};
",
        whole(fit.frame_in),
        whole(fit.frame_out),
        whole(fit.message),
        whole(fit.byte * 100.0),
        whole(cycles * 100.0),
    );
    tools::write(tools::root().join(SIMULATED), text)
}

/// What the simulator takes for a Cortex-M3.
fn simulated() -> Fit {
    Fit {
        frame_in: CORTEX_M3.frame_in.into(),
        frame_out: CORTEX_M3.frame_out.into(),
        message: CORTEX_M3.message.into(),
        byte: f64::from(CORTEX_M3.byte_hundredths) / 100.0,
    }
}

/// Fails if the simulator's figures are no longer those that were measured.
pub(crate) fn check(points: &[Point], fit: &Fit, cycles: Option<f64>) -> Result<(), Failure> {
    let simulated = simulated();
    let apart = points
        .iter()
        .map(|point| 100.0 * (simulated.of(point) - fit.of(point)).abs() / fit.of(point))
        .fold(0.0, f64::max);
    if apart > DRIFT_PERCENT_MAX {
        return Err(Failure::Wrong(format!(
            "{SIMULATED} is {apart:.1} % off docs/measured/traverse.csv for some datagram: `cargo xtask traverse` writes both"
        )));
    }
    let held = f64::from(CORTEX_M3.cycles_hundredths) / 100.0;
    match cycles {
        Some(cycles) if (held / cycles - 1.0).abs() * 100.0 > DRIFT_PERCENT_MAX => Err(Failure::Wrong(
            format!("{SIMULATED} takes {held:.2} cycles an instruction, Arm's timing gives {cycles:.2}"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_of(frames: u32, bytes: u32, messages: [u32; 2]) -> Steps {
        Steps {
            frames,
            bytes,
            messages,
        }
    }

    #[test]
    fn a_sum_is_found_again() {
        let exact = Fit {
            frame_in: 700.0,
            frame_out: 600.0,
            message: 150.0,
            byte: 2.5,
        };
        let mut points = Vec::new();
        for steps in [
            made_of(1, 60, [4, 5]),
            made_of(2, 180, [4, 6]),
            made_of(3, 300, [5, 7]),
            made_of(13, 1500, [4, 17]),
        ] {
            for way in Way::BOTH {
                let bare = point(way, 0.0, steps);
                points.push(Point {
                    instructions: exact.of(&bare),
                    ..bare
                });
            }
        }
        let found = fit(&points).expect("enough points");
        assert!(found.error_max(&points) < 1e-6, "{found:?}");
        assert!((found.message - exact.message).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn too_few_points_have_no_sum() {
        assert!(fit(&[]).is_err());
    }

    #[test]
    fn the_simulator_computes_with_what_was_measured() {
        let points = tracked().expect("the tracked file");
        let fit = fit(&points).expect("all payloads");
        check(&points, &fit, None).expect("figures of the simulator");
    }
}
