//! The settings that are compared.

use sixlo_sim::config::{Addresses, Config, Control, Strategy};

use crate::repro::fragment_forwarding::arithmetic::{self, Frames};

/// A way to set up a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// As tables call it.
    pub name: String,
    /// The strategy.
    strategy: Strategy,
    /// Forwarding falls back to reassembly.
    fallback: bool,
    /// The window of recoverable fragments, where nothing controls it.
    window: u8,
    /// What controls it.
    control: Control,
    /// Link retries.
    max_retries: u8,
}

/// Windows of recoverable fragments.
const WINDOWS: [u8; 3] = [1, 5, 32];
/// Link retries: the standard's default, and the most that it allows (IEEE 802.15.4-2020, table 8-94).
const RETRIES: [u8; 2] = [3, 7];

/// All settings that a scenario does not prescribe: strategies, windows, congestion control and link retries. The retries of a radio that does
/// them by itself are compared too.
pub fn all(strategies: &[Strategy]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for max_retries in RETRIES {
        for &strategy in strategies {
            let plain = Candidate {
                name: format!("{}, {max_retries} link retries", strategy.name()),
                strategy,
                fallback: false,
                window: 1,
                control: Control::None,
                max_retries,
            };
            match strategy {
                Strategy::Recover => {
                    found.extend(WINDOWS.map(|window| Candidate {
                        name: format!("recover, window {window}, {max_retries} link retries"),
                        window,
                        ..plain.clone()
                    }));
                    found.extend(Control::ALL.map(|control| Candidate {
                        name: format!("recover, {} control, {max_retries} link retries", control.name()),
                        control,
                        ..plain.clone()
                    }));
                }
                Strategy::Forward => {
                    let fallback = Candidate {
                        name: format!("forward with fall-back, {max_retries} link retries"),
                        fallback: true,
                        ..plain.clone()
                    };
                    found.extend([plain, fallback]);
                }
                Strategy::HopWise | Strategy::EndToEnd => found.push(plain),
            }
        }
    }
    found
}

impl Candidate {
    /// The configuration of a network with these settings; all else stays.
    pub fn applied(&self, config: &Config) -> Config {
        let mut config = config.clone();
        config.mac.max_retries = self.max_retries;
        let mtu = match self.strategy {
            Strategy::EndToEnd => end_to_end_mtu(&config),
            _ => 1_280,
        };
        let stack = &mut config.stack;
        stack.mtu_bytes = mtu;
        stack.strategy = self.strategy;
        stack.forward.fallback = self.fallback;
        stack.recover.window = self.window;
        stack.recover.control = self.control;
        config
    }
}

/// The MTU with which no IPv6 fragment overflows a frame of this network.
fn end_to_end_mtu(config: &Config) -> u16 {
    let frames = match (config.link.addresses, config.link.pan_id_compression) {
        (Addresses::Extended, true) => Frames::Extended,
        (Addresses::Extended, false) => Frames::Published,
        (Addresses::Short, _) => Frames::Short,
    };
    arithmetic::end_to_end_mtu(frames) as u16
}
