//! Whole stacks, driven as a driver would.

mod basics;
pub(crate) mod net;
