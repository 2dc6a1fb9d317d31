//! Radios and media under a medium access without a stack: what happens on the air, held against arithmetic.

mod at86rf23x;
#[path = "../support/csma_theory.rs"]
mod csma_theory;
mod hidden_terminals;
#[path = "../support/raw_mac.rs"]
mod raw_mac;
mod theory;
