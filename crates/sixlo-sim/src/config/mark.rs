//! `[stack.mark]`: when a node says that what it forwards met congestion.

use serde::{Deserialize, Serialize};
use sixlo::netif::{self, MarkConfig};
use sixlo::time::Duration;

use super::fragments::within;
use super::{Problem, Stack};

/// By which rule packets are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarkWhen {
    /// `"never"`.
    #[default]
    Never,
    /// `"half-full"`: while send queue, reassembly table or that of datagrams under recovery is more than half full
    /// (Lenders et al. 2021, section V-A).
    HalfFull,
    /// `"red"`: random early detection by the average send queue (Floyd and Jacobson 1993; RFC 7567).
    Red,
    /// `"waiting"`: while datagrams wait in the send queue for too long.
    Waiting,
}

impl MarkWhen {
    /// What the stack calls it.
    pub const fn of_stack(self) -> netif::Mark {
        match self {
            Self::Never => netif::Mark::Never,
            Self::HalfFull => netif::Mark::HalfFull,
            Self::Red => netif::Mark::Red,
            Self::Waiting => netif::Mark::Waiting,
        }
    }
}

/// When fragments that a node forwards are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mark {
    /// The rule. Default never.
    pub when: MarkWhen,
    /// Random early detection marks nothing below this average queue, in percent of `send_queue`. Default 25.
    pub red_min_percent: u8,
    /// Random early detection marks everything from this average queue on, in percent of `send_queue`. Default 75.
    pub red_max_percent: u8,
    /// Each datagram that joins the queue counts for 2^-n in its average, 0 to 10. Default 4.
    pub red_weight_shift: u8,
    /// How likely a mark is just below `red_max_percent`, in percent. Default 10.
    pub red_probability_percent: u8,
    /// How long a datagram may wait in the queue, in ms. Default 100.
    pub wait_max_ms: u32,
}

impl Default for Mark {
    fn default() -> Self {
        let MarkConfig { red, wait_max, .. } = MarkConfig::default();
        Self {
            when: MarkWhen::Never,
            red_min_percent: red.min_percent,
            red_max_percent: red.max_percent,
            red_weight_shift: red.weight_shift,
            red_probability_percent: red.probability_percent,
            wait_max_ms: (wait_max.as_micros() / 1_000) as u32,
        }
    }
}

impl Mark {
    /// The stack's own.
    pub const fn of_stack(&self) -> MarkConfig {
        MarkConfig {
            when: self.when.of_stack(),
            red: netif::Red {
                min_percent: self.red_min_percent,
                max_percent: self.red_max_percent,
                weight_shift: self.red_weight_shift,
                probability_percent: self.red_probability_percent,
            },
            wait_max: Duration::from_millis(self.wait_max_ms as u64),
        }
    }
}

impl Stack {
    /// Whether what is said about marks can be.
    pub(super) fn check_mark(&self) -> Result<(), Problem> {
        let mark = &self.mark;
        let percent = |key, value: u8, low: u8| within(key, value.into(), (low.into(), 100), " %");
        percent("mark.red_min_percent", mark.red_min_percent, 0)?;
        percent("mark.red_max_percent", mark.red_max_percent, mark.red_min_percent)?;
        percent("mark.red_probability_percent", mark.red_probability_percent, 0)?;
        let shift_max = netif::Red::WEIGHT_SHIFT_MAX.into();
        within(
            "mark.red_weight_shift",
            mark.red_weight_shift.into(),
            (0, shift_max),
            "",
        )?;
        within("mark.wait_max_ms", mark.wait_max_ms, (0, 60_000), " ms")
    }
}
