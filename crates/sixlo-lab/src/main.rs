//! The program `sixlo`.
fn main() {}
