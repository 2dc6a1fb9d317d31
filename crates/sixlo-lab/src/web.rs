//! The page that shows a mesh in a browser: a recorded run, played, or a mesh that runs.
//!
//! A [server](http) of the least that a page needs hands out the [page](assets), what the mesh is ([`messages::Mesh`]) and what
//! happens in it ([`messages::Batch`], lines of JSON). All of a mesh that the page shows is counted by a [`tally::Tally`].

pub mod assets;
pub mod http;
#[cfg(target_os = "linux")]
pub mod live;
pub mod messages;
pub mod replay;
pub mod site;
pub mod tally;
#[cfg(target_os = "linux")]
pub mod tap;
mod trace_tally;
