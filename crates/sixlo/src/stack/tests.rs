//! Whole stacks, driven as a driver would.

mod basics;
mod border;
mod end_to_end;
mod forward;
mod ground;
mod hostile;
mod modules;
pub(crate) mod net;
mod options;
pub(crate) mod packets;
mod recover;
mod registry;
mod script;
