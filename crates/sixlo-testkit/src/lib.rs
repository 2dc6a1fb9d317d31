//! Bodies of fuzz targets, as plain functions of the input.
//!
//! `fuzz/` calls them from libFuzzer, and the tests of this crate with every file of the corpora that are checked in there.
//! A body panics where the code under it breaks a promise; it returns for every input that keeps them all.

mod formats;
mod headers;
mod link;
mod mesh;
mod node;
mod reassembly;
mod script;
mod segment;
mod tcp_script;

pub use formats::{ghc, mac_frame};
pub use headers::{iphc_decode, iphc_roundtrip};
pub use mesh::mesh;
pub use reassembly::reassembly;
pub use script::stack_script;
pub use segment::tcp_segment;
pub use tcp_script::tcp_script;

/// The body of a target.
pub type Target = fn(&[u8]);

/// All targets: the name, which is also that of the folder with the corpus, and the body.
pub const TARGETS: [(&str, Target); 9] = [
    ("mac_frame", mac_frame),
    ("iphc_decode", iphc_decode),
    ("iphc_roundtrip", iphc_roundtrip),
    ("ghc", ghc),
    ("mesh", mesh),
    ("reassembly", reassembly),
    ("stack_script", stack_script),
    ("tcp_segment", tcp_segment),
    ("tcp_script", tcp_script),
];
