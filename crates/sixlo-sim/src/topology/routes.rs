//! Static routes: a tree towards the sink.

use std::collections::VecDeque;

use super::Network;
use crate::config::{Problem, RouteChoice};

/// A tree whose root is the sink. Towards the sink a packet follows the parents; towards a node it goes down from the
/// first common ancestor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    parent: Vec<Option<u16>>,
    depth: Vec<u16>,
}

impl Routes {
    /// The routes over a network, where `linked(a, b)` tells whether a and b hear each other.
    pub fn build(
        network: &Network,
        choice: RouteChoice,
        linked: impl Fn(u16, u16) -> bool,
    ) -> Result<Self, Problem> {
        let has_parents = network.nodes.iter().skip(1).all(|node| node.parent.is_some());
        let parent: Vec<Option<u16>> = match choice {
            RouteChoice::Parents if !has_parents => {
                let orphan = network.nodes.iter().skip(1).find(|node| node.parent.is_none());
                return Err(Problem::new(
                    "routes",
                    format!("node {} has no parent", orphan.map_or("?", |node| &node.name)),
                    "a topology that names the parent of each node, or routes = \"shortest\"",
                ));
            }
            RouteChoice::Auto | RouteChoice::Parents if has_parents => {
                let mut parent: Vec<_> = network.nodes.iter().map(|node| node.parent).collect();
                parent[0] = None;
                parent
            }
            _ => shortest(network, &linked),
        };
        let depth = depths(network, &parent)?;
        for child in network.indices() {
            if let Some(parent) = parent[usize::from(child)]
                && !(linked(child, parent) && linked(parent, child))
            {
                let name = |i: u16| &network.nodes[usize::from(i)].name;
                let distance = network.distance_m(child, parent);
                return Err(Problem::new(
                    "routes",
                    format!(
                        "node {} does not reach its parent {}, {distance:.2} m away",
                        name(child),
                        name(parent)
                    ),
                    "parents within range, or a medium that reaches further",
                ));
            }
        }
        Ok(Self { parent, depth })
    }

    /// The next node towards the sink; none at the sink.
    pub fn parent(&self, node: u16) -> Option<u16> {
        self.parent[usize::from(node)]
    }

    /// Hops to the sink.
    pub fn depth(&self, node: u16) -> u16 {
        self.depth[usize::from(node)]
    }

    /// The nodes from `node` to the sink, both included.
    pub fn to_sink(&self, node: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(node), |&node| self.parent(node))
    }

    /// Hops from one node to another.
    pub fn hops(&self, from: u16, to: u16) -> u16 {
        let (mut a, mut b, mut hops) = (from, to, 0);
        while a != b {
            let deeper = if self.depth(a) >= self.depth(b) {
                &mut a
            } else {
                &mut b
            };
            match self.parent(*deeper) {
                Some(parent) => *deeper = parent,
                None => break,
            }
            hops += 1;
        }
        hops
    }

    /// For each node the nodes behind it and the child that leads to each: what it has to know to route downwards.
    pub fn descendants(&self) -> Vec<Vec<(u16, u16)>> {
        let mut all = vec![Vec::new(); self.parent.len()];
        for node in 0..self.parent.len() as u16 {
            let mut via = node;
            while let Some(parent) = self.parent(via) {
                all[usize::from(parent)].push((node, via));
                via = parent;
            }
        }
        all
    }
}

/// Breadth-first from the sink; among parents of the same depth the one with the lowest number.
fn shortest(network: &Network, linked: &impl Fn(u16, u16) -> bool) -> Vec<Option<u16>> {
    let mut parent = vec![None; network.nodes.len()];
    let mut depth = vec![u16::MAX; network.nodes.len()];
    depth[0] = 0;
    let mut queue = VecDeque::from([0u16]);
    while let Some(node) = queue.pop_front() {
        let next = depth[usize::from(node)] + 1;
        for other in network.indices().filter(|&other| other != node) {
            let at = usize::from(other);
            let better = depth[at] > next || (depth[at] == next && parent[at].is_some_and(|p| node < p));
            if better && linked(node, other) && linked(other, node) {
                if depth[at] > next {
                    queue.push_back(other);
                }
                depth[at] = next;
                parent[at] = Some(node);
            }
        }
    }
    parent
}

fn depths(network: &Network, parent: &[Option<u16>]) -> Result<Vec<u16>, Problem> {
    let count = parent.len();
    (0..count)
        .map(|node| {
            // A path longer than the number of nodes runs in a circle.
            let path = std::iter::successors(Some(node), |&at| parent[at].map(usize::from));
            let (hops, last) = path.take(count + 1).fold((0, node), |(n, _), at| (n + 1, at));
            if last == 0 && hops <= count {
                Ok(hops as u16 - 1)
            } else {
                Err(Problem::new(
                    "topology",
                    format!("node {} cannot reach the sink", network.nodes[node].name),
                    "a path of links from every node to the sink",
                ))
            }
        })
        .collect()
}
