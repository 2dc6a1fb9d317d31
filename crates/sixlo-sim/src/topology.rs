//! Where the nodes are, which addresses they have, and which parents are prescribed.

use sixlo::wire::addr::LinkAddr;

use crate::config::{self, Addresses, Problem};
use crate::rng::{Purpose, Rng};

mod csv;
mod routes;
mod shapes;
mod tree;

pub use routes::Routes;

#[cfg(test)]
mod tests;

/// The nodes that Lenders et al. 2021 measured on (section IV), recovered from the map and the list of edges that the
/// authors published: positions in metres, parent, length of the link to it.
const LILLE_50: &str = include_str!("../data/lille-50.csv");

/// The largest network: node numbers are 16 bits, and 0xfffe and 0xffff are no short addresses (IEEE 802.15.4-2020,
/// table 8-94, `macShortAddress`).
pub const NODES_MAX: usize = 4_096;

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name in plots and traces.
    pub name: String,
    /// Metres east, north and up.
    pub at_m: [f64; 3],
    /// The index of its parent, if the topology prescribes one.
    pub parent: Option<u16>,
    /// Its EUI-64.
    pub eui64: [u8; 8],
    /// Its short address.
    pub short: u16,
}

impl Place {
    /// Node number `index + 1`, with the addresses made of that number.
    fn new(index: usize, name: String, at_m: [f64; 3], parent: Option<u16>) -> Self {
        let number = index as u16 + 1;
        let [high, low] = number.to_be_bytes();
        Self {
            name,
            at_m,
            parent,
            eui64: [2, 0, 0, 0, 0, 0, high, low],
            short: number,
        }
    }
}

/// The nodes of a run. Index 0 is the sink; the number of a node, as scenarios and reports show it, is its index + 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The nodes, by index.
    pub nodes: Vec<Place>,
}

impl Network {
    /// The network that a configuration describes, with what is random drawn from `seed`.
    pub fn build(topology: &config::Topology, seed: u64) -> Result<Self, Problem> {
        let draw = |fixed: Option<u64>| Rng::new(fixed.unwrap_or(seed), Purpose::Topology, 0);
        let network = match topology {
            config::Topology::Lille50 => csv::read(LILLE_50),
            config::Topology::Tree(tree) => tree::grow(tree, draw(tree.network_seed)),
            config::Topology::FbT => Ok(shapes::f_b_t()),
            config::Topology::Chain(chain) => shapes::chain(chain),
            config::Topology::Grid(grid) => shapes::grid(grid, draw(grid.network_seed)),
            config::Topology::Csv(file) => match &file.text {
                Some(text) => csv::read(text),
                None => Err(Problem::new(
                    "topology.csv.file",
                    format!("{} was not read", file.file),
                    "read the file into `text` first",
                )),
            },
            config::Topology::Nodes(places) => shapes::places(places),
        }?;
        network.check(matches!(topology, config::Topology::Csv(_)))?;
        Ok(network)
    }

    /// The distance of two nodes in metres.
    pub fn distance_m(&self, a: u16, b: u16) -> f64 {
        let (a, b) = (&self.nodes[usize::from(a)].at_m, &self.nodes[usize::from(b)].at_m);
        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        squares.sqrt()
    }

    /// The link-layer address of a node.
    pub fn link_addr(&self, index: u16, kind: Addresses) -> LinkAddr {
        let node = &self.nodes[usize::from(index)];
        match kind {
            Addresses::Extended => LinkAddr::Extended(node.eui64),
            Addresses::Short => LinkAddr::Short(node.short),
        }
    }

    /// The indices of all nodes.
    pub fn indices(&self) -> std::ops::Range<u16> {
        0..self.nodes.len() as u16
    }

    fn check(&self, from_file: bool) -> Result<(), Problem> {
        let key = |index: usize, what: &str| match from_file {
            true => "topology.csv.file".to_owned(),
            false => format!("topology.nodes.{index}.{what}"),
        };
        if self.nodes.len() < 2 || self.nodes.len() > NODES_MAX {
            return Err(Problem::new(
                "topology",
                format!("{} nodes", self.nodes.len()),
                format!("a network has 2 to {NODES_MAX} nodes"),
            ));
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if node.at_m.iter().any(|metres| !metres.is_finite()) {
                return Err(Problem::new(
                    key(index, "x_m"),
                    format!("the position of node {} is no number", node.name),
                    "metres as a finite number",
                ));
            }
            let before = &self.nodes[..index];
            let twice = |what: &str, shown: String, other: &Place| {
                Err(Problem::new(
                    key(index, what),
                    format!("node {} has the {what} {shown} of node {}", node.name, other.name),
                    "each node needs one of its own",
                ))
            };
            if let Some(other) = before.iter().find(|other| other.eui64 == node.eui64) {
                return twice("eui64", LinkAddr::Extended(node.eui64).to_string(), other);
            }
            if let Some(other) = before.iter().find(|other| other.short == node.short) {
                return twice("short_address", format!("{:#06x}", node.short), other);
            }
            if let Some(other) = before.iter().find(|other| other.name == node.name) {
                return twice("name", format!("\"{}\"", node.name), other);
            }
        }
        Ok(())
    }
}
