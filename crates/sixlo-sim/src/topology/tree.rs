//! Networks grown by the rule of Lenders et al. 2021, section IV.

use super::{NODES_MAX, Network, Place};
use crate::config::{Problem, TreeNetwork};
use crate::rng::Rng;

/// How often a network that died out before it was large enough is grown anew.
const ATTEMPTS: u32 = 200;

pub(super) fn grow(rule: &TreeNetwork, mut rng: Rng) -> Result<Network, Problem> {
    check(rule)?;
    for _ in 0..ATTEMPTS {
        let candidates = candidates(rule, &mut rng);
        if let Some(network) = attempt(rule, &candidates, &mut rng) {
            return Ok(network);
        }
    }
    Err(Problem::new(
        "topology.tree",
        format!(
            "no network of {} nodes came about in {ATTEMPTS} attempts",
            rule.nodes
        ),
        "more candidates, longer links, more children or fewer nodes",
    ))
}

fn check(rule: &TreeNetwork) -> Result<(), Problem> {
    let wrong = |key: &str, what: String, wanted: String| {
        Err(Problem::new(format!("topology.tree.{key}"), what, wanted))
    };
    if !(2..=NODES_MAX).contains(&usize::from(rule.nodes)) {
        return wrong(
            "nodes",
            format!("{} nodes", rule.nodes),
            format!("2 to {NODES_MAX}"),
        );
    }
    if rule.candidates < rule.nodes {
        return wrong(
            "candidates",
            format!("{} candidates", rule.candidates),
            "at least as many as nodes".to_owned(),
        );
    }
    if rule.children_max == 0 || rule.sink_children == 0 {
        return wrong("children_max", "no children".to_owned(), "at least 1".to_owned());
    }
    for (key, metres) in [
        ("width_m", rule.width_m),
        ("depth_m", rule.depth_m),
        ("grid_m", rule.grid_m),
        ("link_max_m", rule.link_max_m),
    ] {
        if !(metres > 0.0 && metres < 1e5) {
            return wrong(
                key,
                format!("{metres} m"),
                "more than 0, less than 100 km".to_owned(),
            );
        }
    }
    if grid_points(rule) > 1_000_000.0 {
        return wrong(
            "grid_m",
            format!("{} m", rule.grid_m),
            "a grid of at most a million points".to_owned(),
        );
    }
    Ok(())
}

fn columns_and_rows(rule: &TreeNetwork) -> (f64, f64) {
    (
        (rule.width_m / rule.grid_m).ceil() + 1.0,
        (rule.depth_m / rule.grid_m).ceil() + 1.0,
    )
}

fn grid_points(rule: &TreeNetwork) -> f64 {
    let (columns, rows) = columns_and_rows(rule);
    2.0 * columns * rows
}

/// The points of a grid that covers the site on two levels, each moved a little but not out of the site; of these a
/// uniform sample.
fn candidates(rule: &TreeNetwork, rng: &mut Rng) -> Vec<[f64; 3]> {
    let (columns, rows) = columns_and_rows(rule);
    let start = |extent: f64, points: f64| (extent - (points - 1.0) * rule.grid_m) / 2.0;
    let (x0, y0) = (start(rule.width_m, columns), start(rule.depth_m, rows));
    let mut points = Vec::new();
    for level in [0.0, rule.level_m] {
        for row in 0..rows as u32 {
            for column in 0..columns as u32 {
                let mut moved = |from: f64, extent: f64| {
                    (from + (rng.unit() * 2.0 - 1.0) * rule.jitter_m).clamp(0.0, extent)
                };
                let x = moved(x0 + f64::from(column) * rule.grid_m, rule.width_m);
                let y = moved(y0 + f64::from(row) * rule.grid_m, rule.depth_m);
                points.push([x, y, level]);
            }
        }
    }
    sample(&mut points, usize::from(rule.candidates), rng);
    points
}

/// Leaves a uniform sample of `n` in `from`, in random order (Fisher and Yates).
fn sample<T>(from: &mut Vec<T>, n: usize, rng: &mut Rng) {
    let n = n.min(from.len());
    for i in 0..n {
        let chosen = i + rng.below((from.len() - i) as u64) as usize;
        from.swap(i, chosen);
    }
    from.truncate(n);
}

fn attempt(rule: &TreeNetwork, candidates: &[[f64; 3]], rng: &mut Rng) -> Option<Network> {
    let square = |a: [f64; 3], b: [f64; 3]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
    let middle = [rule.width_m / 2.0, rule.depth_m / 2.0, 0.0];
    let sink = (0..candidates.len())
        .min_by(|&a, &b| square(candidates[a], middle).total_cmp(&square(candidates[b], middle)))?;

    let mut free = vec![true; candidates.len()];
    free[sink] = false;
    // Breadth-first: the list of nodes is the queue.
    let mut chosen: Vec<(usize, Option<u16>)> = vec![(sink, None)];
    let mut next = 0;
    while next < chosen.len() && chosen.len() < usize::from(rule.nodes) {
        let at = candidates[chosen[next].0];
        let mut near: Vec<usize> = (0..candidates.len())
            .filter(|&c| free[c])
            .filter(|&c| (rule.link_min_m..=rule.link_max_m).contains(&square(candidates[c], at).sqrt()))
            .collect();
        let children = match next {
            0 => u64::from(rule.sink_children),
            _ => rng.between(1, u64::from(rule.children_max)),
        };
        sample(&mut near, children as usize, rng);
        near.truncate(usize::from(rule.nodes) - chosen.len());
        for child in near {
            free[child] = false;
            chosen.push((child, Some(next as u16)));
        }
        next += 1;
    }
    (chosen.len() == usize::from(rule.nodes)).then(|| Network {
        nodes: chosen
            .iter()
            .enumerate()
            .map(|(i, &(candidate, parent))| {
                Place::new(i, (i + 1).to_string(), candidates[candidate], parent)
            })
            .collect(),
    })
}
