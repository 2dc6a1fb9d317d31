//! The border router: a node that joins the mesh to another network.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

use super::Problem;

/// The border router of the mesh: a node with a second interface, to the outside, over which IPv6 packets go as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Border {
    /// The number of the node. Default 1, the sink.
    pub node: u16,
    /// The /64 prefix of the link to the outside: the node is ::2 there, the other end ::1. Default fd00:0:0:1::.
    pub outside: Ipv6Addr,
    /// What may enter the mesh on the long run, in kb/s of IPv6 packets; 0: no limit. Default 250, what the radio carries.
    pub enter_kbit_per_s: u32,
    /// After a quiet time, what that rate carries in this time may enter at once. Default 500.
    pub enter_at_once_ms: u32,
}

impl Default for Border {
    fn default() -> Self {
        Self {
            node: 1,
            outside: Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 0),
            enter_kbit_per_s: 250,
            enter_at_once_ms: 500,
        }
    }
}

impl Border {
    /// The address of the node on the link to the outside.
    pub fn own_address(&self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.outside.to_bits() | 2)
    }

    /// The address of the other end of that link.
    pub fn other_address(&self) -> Ipv6Addr {
        Ipv6Addr::from_bits(self.outside.to_bits() | 1)
    }

    /// The time that each byte which enters takes, in us; 0: none. 8 bits at so many kb/s take 8000 / (kb/s) us.
    pub(crate) fn us_per_byte(&self) -> u64 {
        match self.enter_kbit_per_s {
            0 => 0,
            rate => u64::from(8_000_u32.div_ceil(rate)),
        }
    }

    pub(crate) fn check(&self, mesh: Ipv6Addr, nodes: u16) -> Result<(), Problem> {
        if !(1..=nodes).contains(&self.node) {
            let what = format!("no node {}", self.node);
            return Err(Problem::new("border.node", what, format!("1 to {nodes}")));
        }
        super::stack::check_prefix("border.outside", self.outside)?;
        if self.outside == mesh {
            let what = format!("{mesh}/64 is the prefix of the mesh");
            return Err(Problem::new("border.outside", what, "another one"));
        }
        if self.enter_kbit_per_s > 8_000 {
            let what = format!("{} kb/s", self.enter_kbit_per_s);
            let wanted = "0 to 8000 kb/s, a byte in 1 us";
            return Err(Problem::new("border.enter_kbit_per_s", what, wanted));
        }
        Ok(())
    }
}
