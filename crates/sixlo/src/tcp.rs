//! TCP (RFC 9293), over IPv6 only.

pub use crate::wire::tcp::seq;
