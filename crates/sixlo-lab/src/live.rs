//! A mesh in real time, joined to the outside: what `sixlo live` runs.
//!
//! [`engine::Engine`] lets the simulated time follow the clock and carries packets between the world and its [ports](engine::Ports).
//! Others steer and watch it by a [`command::Handle`] from their own threads: commands go in, pictures of the present and
//! [happenings](command::Happening) come out. Nothing that they do, or fail to do, holds the mesh up.

pub mod clock;
pub mod command;
pub mod engine;
pub mod lateness;
pub mod watch;
