//! Chain, grid, the T of Lenders et al. 2021, and positions one by one.

use super::{NODES_MAX, Network, Place};
use crate::config::{self, Problem};
use crate::rng::Rng;

fn count(key: &str, nodes: u16) -> Result<usize, Problem> {
    let nodes = usize::from(nodes);
    if (2..=NODES_MAX).contains(&nodes) {
        Ok(nodes)
    } else {
        Err(Problem::new(
            key,
            format!("{nodes} nodes"),
            format!("2 to {NODES_MAX}"),
        ))
    }
}

fn positive(key: &str, metres: f64) -> Result<f64, Problem> {
    if metres.is_finite() && metres > 0.0 {
        Ok(metres)
    } else {
        Err(Problem::new(key, format!("{metres} m"), "more than 0"))
    }
}

pub(super) fn chain(chain: &config::Chain) -> Result<Network, Problem> {
    let spacing = positive("topology.chain.spacing_m", chain.spacing_m)?;
    let nodes = (0..count("topology.chain.nodes", chain.nodes)?)
        .map(|i| {
            Place::new(
                i,
                (i + 1).to_string(),
                [i as f64 * spacing, 0.0, 0.0],
                i.checked_sub(1).map(|p| p as u16),
            )
        })
        .collect();
    Ok(Network { nodes })
}

pub(super) fn grid(grid: &config::Grid, mut rng: Rng) -> Result<Network, Problem> {
    let count = count("topology.grid.nodes", grid.nodes)?;
    let spacing = positive("topology.grid.spacing_m", grid.spacing_m)?;
    if !(0.0..=spacing).contains(&grid.jitter_m) {
        return Err(Problem::new(
            "topology.grid.jitter_m",
            format!("{} m", grid.jitter_m),
            "0 to the spacing",
        ));
    }
    let columns = match grid.columns {
        Some(0) => return Err(Problem::new("topology.grid.columns", "0 columns", "at least 1")),
        Some(columns) => usize::from(columns),
        None => (1..).find(|n| n * n >= count).unwrap_or(1),
    };
    let rows = count.div_ceil(columns);
    let mut jitter = || (rng.unit() * 2.0 - 1.0) * grid.jitter_m;
    let mut places: Vec<[f64; 3]> = (0..count)
        .map(|i| {
            let (row, column) = (i / columns, i % columns);
            [
                column as f64 * spacing + jitter(),
                row as f64 * spacing + jitter(),
                0.0,
            ]
        })
        .collect();
    let middle = [
        (columns - 1) as f64 * spacing / 2.0,
        (rows - 1) as f64 * spacing / 2.0,
    ];
    let off = |at: &[f64; 3]| (at[0] - middle[0]).powi(2) + (at[1] - middle[1]).powi(2);
    let sink = (0..count)
        .min_by(|&a, &b| off(&places[a]).total_cmp(&off(&places[b])))
        .unwrap_or(0);
    let sink = places.remove(sink);
    places.insert(0, sink);
    let nodes = places
        .into_iter()
        .enumerate()
        .map(|(i, at)| Place::new(i, (i + 1).to_string(), at, None))
        .collect();
    Ok(Network { nodes })
}

/// Lenders et al. 2021, section V: sink d, forwarder f, two arms of three, about 1 m apart.
pub(super) fn f_b_t() -> Network {
    const PLACES: [(&str, f64, f64, Option<u16>); 8] = [
        ("d", 0.0, 0.0, None),
        ("f", 0.0, 1.0, Some(0)),
        ("a1", -1.0, 1.0, Some(1)),
        ("a2", -2.0, 1.0, Some(2)),
        ("a3", -3.0, 1.0, Some(3)),
        ("b1", 1.0, 1.0, Some(1)),
        ("b2", 2.0, 1.0, Some(5)),
        ("b3", 3.0, 1.0, Some(6)),
    ];
    let nodes = PLACES
        .iter()
        .enumerate()
        .map(|(i, &(name, x, y, parent))| Place::new(i, name.to_owned(), [x, y, 0.0], parent))
        .collect();
    Network { nodes }
}

pub(super) fn places(places: &[config::Place]) -> Result<Network, Problem> {
    let mut nodes = Vec::new();
    for (i, place) in places.iter().take(NODES_MAX + 1).enumerate() {
        let key = |what: &str| format!("topology.nodes.{i}.{what}");
        let name = match place.name.as_str() {
            "" => (i + 1).to_string(),
            name => name.to_owned(),
        };
        let parent = match place.parent {
            None => None,
            Some(number) if (1..=places.len()).contains(&usize::from(number)) => Some(number - 1),
            Some(number) => {
                return Err(Problem::new(
                    key("parent"),
                    format!("no node {number}"),
                    format!("1 to {}", places.len()),
                ));
            }
        };
        let mut node = Place::new(i, name, [place.x_m, place.y_m, place.z_m], parent);
        if let Some(text) = &place.eui64 {
            node.eui64 = eui64(text).ok_or_else(|| {
                Problem::new(
                    key("eui64"),
                    format!("\"{text}\" is no EUI-64"),
                    "eight bytes in hexadecimal with colons, like \"02:00:00:00:00:00:00:07\"",
                )
            })?;
        }
        match place.short_address {
            None => {}
            Some(0xfffe | 0xffff) => {
                return Err(Problem::new(
                    key("short_address"),
                    "0xfffe and 0xffff name no node",
                    "0 to 0xfffd",
                ));
            }
            Some(short) => node.short = short,
        }
        nodes.push(node);
    }
    Ok(Network { nodes })
}

fn eui64(text: &str) -> Option<[u8; 8]> {
    let mut bytes = [0; 8];
    let mut parts = text.split([':', '-']);
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(bytes)
}
