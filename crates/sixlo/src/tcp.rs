//! TCP (RFC 9293), over IPv6 only.

pub mod receive;

pub use crate::wire::tcp::seq;
