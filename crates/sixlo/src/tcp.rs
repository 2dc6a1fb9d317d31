//! TCP (RFC 9293), over IPv6 only.

pub mod isn;
pub mod receive;
pub mod scoreboard;

pub use crate::wire::tcp::seq;
