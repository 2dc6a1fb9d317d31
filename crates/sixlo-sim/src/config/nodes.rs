//! Sets of nodes, as a scenario names them.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Some of the nodes: a word, or a list of node numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NodeSet {
    /// `"all"`: every node.
    All,
    /// `"all-but-sink"`: every node but number 1.
    #[default]
    AllButSink,
    /// `"beyond-sink-neighbors"`: every node that is neither the sink nor one hop from it by its route. The sources of
    /// Lenders et al. 2021, section IV.
    BeyondSinkNeighbors,
    /// `"every-other"`: the nodes with even numbers.
    EveryOther,
    /// `[2, 3]`: these.
    List(Vec<u16>),
}

impl NodeSet {
    const WORDS: [(&'static str, Self); 4] = [
        ("all", Self::All),
        ("all-but-sink", Self::AllButSink),
        ("beyond-sink-neighbors", Self::BeyondSinkNeighbors),
        ("every-other", Self::EveryOther),
    ];

    /// Whether the node with this number, so many hops from the sink by its route, is in the set.
    pub fn contains(&self, number: u16, depth: u16) -> bool {
        match self {
            Self::All => true,
            Self::AllButSink => number != 1,
            Self::BeyondSinkNeighbors => depth > 1,
            Self::EveryOther => number.is_multiple_of(2),
            Self::List(list) => list.contains(&number),
        }
    }
}

impl Serialize for NodeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::List(list) => list.serialize(serializer),
            word => {
                let known = Self::WORDS.iter().find(|(_, set)| set == word);
                serializer.serialize_str(known.map_or("all", |(name, _)| name))
            }
        }
    }
}

impl<'de> Deserialize<'de> for NodeSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SetVisitor)
    }
}

struct SetVisitor;

impl<'de> Visitor<'de> for SetVisitor {
    type Value = NodeSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "\"all\", \"all-but-sink\", \"beyond-sink-neighbors\", \"every-other\" or a list of node numbers like [2, 3]",
        )
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<NodeSet, E> {
        NodeSet::WORDS
            .into_iter()
            .find(|(name, _)| *name == word)
            .map(|(_, set)| set)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(word), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NodeSet, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(NodeSet::List(numbers))
    }
}
