//! Where the nodes are, and which way the routes go.

use serde::{Deserialize, Serialize};

/// Where the nodes are. Node 1 is the sink.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// `topology = "lille-50"`: the 50 nodes of FIT IoT-LAB Lille on which Lenders et al. 2021 measured (section IV),
    /// with the tree that they routed along.
    #[serde(rename = "lille-50")]
    Lille50,
    /// `[topology.tree]`: another network by the same rule, drawn from the seed.
    Tree(TreeNetwork),
    /// `topology = "f-b-t"`: the eight nodes in a T of Lenders et al. 2021, section V: sink, forwarder, two arms of
    /// three.
    #[serde(rename = "f-b-t")]
    FbT,
    /// `[topology.chain]`: nodes in a line, the sink at one end.
    Chain(Chain),
    /// `[topology.grid]`: a grid with jitter, the sink in the middle.
    Grid(Grid),
    /// `[topology.csv]`: positions, and parents where there are any, from a file.
    Csv(Csv),
    /// `[[topology.nodes]]`: positions one by one.
    Nodes(Vec<Place>),
}

/// A network built breadth-first as in Lenders et al. 2021, section IV: candidates on a jittered grid on two levels;
/// from the sink on, a uniform sample of the free candidates at the right distance become children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeNetwork {
    /// Nodes of the network, the sink included. Default 50.
    pub nodes: u16,
    /// Candidates to choose from. Default 300.
    pub candidates: u16,
    /// Extent of the site in metres, east and north. Default 30 x 25.
    pub width_m: f64,
    /// See `width_m`.
    pub depth_m: f64,
    /// Height of the second level in metres. Default 3.5.
    pub level_m: f64,
    /// Distance of the candidates' grid in metres. Default 2.4.
    pub grid_m: f64,
    /// Each candidate is moved by up to this much, east and north, in metres. Default 0.6.
    pub jitter_m: f64,
    /// A child is at least this far from its parent, in metres. Default 2.2.
    pub link_min_m: f64,
    /// A child is at most this far from its parent, in metres. Default 6.5.
    pub link_max_m: f64,
    /// A node gets one to this many children. Default 3.
    pub children_max: u16,
    /// The sink gets this many. Default 2.
    pub sink_children: u16,
    /// Draw the network from this seed rather than from the run's, so that all runs share it.
    pub network_seed: Option<u64>,
}

impl Default for TreeNetwork {
    fn default() -> Self {
        Self {
            nodes: 50,
            candidates: 300,
            width_m: 30.0,
            depth_m: 25.0,
            level_m: 3.5,
            grid_m: 2.4,
            jitter_m: 0.6,
            link_min_m: 2.2,
            link_max_m: 6.5,
            children_max: 3,
            sink_children: 2,
            network_seed: None,
        }
    }
}

/// Nodes in a line: number 1, the sink, at 0 m, and so on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Nodes, the sink included.
    pub nodes: u16,
    /// From a node to the next, in metres. Default 5.
    #[serde(default = "spacing_m")]
    pub spacing_m: f64,
}

const fn spacing_m() -> f64 {
    5.0
}

/// A grid whose nodes are moved a little. The node nearest to the middle is the sink, number 1; the others follow row
/// by row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Nodes, the sink included; the last row may be incomplete.
    pub nodes: u16,
    /// Nodes in a row. Default: as many as make the grid nearly square.
    #[serde(default)]
    pub columns: Option<u16>,
    /// From a node to the next, in metres. Default 5.
    #[serde(default = "spacing_m")]
    pub spacing_m: f64,
    /// Each node is moved by up to this much, east and north, in metres. Default 0.
    #[serde(default)]
    pub jitter_m: f64,
    /// Draw the jitter from this seed rather than from the run's, so that all runs share it.
    #[serde(default)]
    pub network_seed: Option<u64>,
}

/// Nodes from a CSV file with a header line and the columns `node,x_m,y_m` and optionally `z_m,parent`; further
/// columns are ignored. The first row is the sink; a parent is named by its `node`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Csv {
    /// Path of the file; a relative one starts at the folder of the scenario.
    pub file: String,
    /// The text of the file, read by whoever reads the scenario.
    #[serde(skip)]
    pub text: Option<String>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Place {
    /// A name for plots and traces. Default: its number.
    pub name: String,
    /// Metres east.
    pub x_m: f64,
    /// Metres north.
    pub y_m: f64,
    /// Metres up.
    pub z_m: f64,
    /// The number of its parent on the way to the sink, if the route is prescribed.
    pub parent: Option<u16>,
    /// Its EUI-64, as `"02:00:00:00:00:00:00:07"`. Default: 02:00:00:00:00:00 and its number in two bytes.
    pub eui64: Option<String>,
    /// Its short address. Default: its number.
    pub short_address: Option<u16>,
}

/// Which way the static routes go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RouteChoice {
    /// `"auto"`: along the parents where the topology has them, else along shortest paths.
    #[default]
    Auto,
    /// `"parents"`: along the parents; a topology without them is an error.
    Parents,
    /// `"shortest"`: along paths of fewest hops; among equals through the parent with the lowest number.
    Shortest,
}

/// To which nodes there are routes down from the sink. Errors about a datagram reach its source only along such a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Downward {
    /// `"needed"`: to the destinations of the traffic, and to the nodes that wait for echo replies.
    #[default]
    Needed,
    /// `"all"`: to all nodes. A node then has a route for each node behind it.
    All,
}
