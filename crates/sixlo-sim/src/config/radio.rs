//! What the radio of a node can do.

use serde::{Deserialize, Serialize};

/// The model of the radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Radio {
    /// `[radio.ideal]`: separate buffers for reception and transmission, no copy times; CSMA/CA and retries are the
    /// stack's.
    Ideal(Ideal),
    /// `[radio.at86rf23x]`: the AT86RF231 and AT86RF233 with their one frame buffer.
    At86rf23x(At86rf23x),
}

impl Default for Radio {
    fn default() -> Self {
        Self::Ideal(Ideal::default())
    }
}

impl Radio {
    /// What the radio draws in its states.
    pub const fn currents(&self) -> &Currents {
        match self {
            Self::Ideal(ideal) => &ideal.currents,
            Self::At86rf23x(at86) => &at86.currents,
        }
    }
}

/// What a radio draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Currents {
    /// While it transmits, in mA. Default 14.0 (AT86RF231 at +3 dBm, BUSY_TX).
    pub transmit_ma: f64,
    /// While it listens or receives, in mA. Default 12.3 (AT86RF231, RX_ON).
    pub listen_ma: f64,
    /// While it is on but neither listens nor sends, in mA. Default 5.6 (AT86RF231, PLL_ON).
    pub deaf_ma: f64,
    /// Supply voltage in V. Default 3.0.
    pub supply_v: f64,
}

impl Default for Currents {
    fn default() -> Self {
        Self {
            transmit_ma: 14.0,
            listen_ma: 12.3,
            deaf_ma: 5.6,
            supply_v: 3.0,
        }
    }
}

/// A radio without weaknesses but that of its antenna: it cannot hear while it sends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ideal {
    /// What it draws.
    pub currents: Currents,
}

/// AT86RF231 and AT86RF233. Each weakness is a switch, so that an experiment can show its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct At86rf23x {
    /// Bytes a second over SPI, in kB/s. Default 625 (5 MHz clock). A frame of n bytes takes n + 2 byte times.
    pub spi_kbytes_per_s: u32,
    /// One frame buffer for both directions: a frame that is uploaded for transmission overwrites a received one that
    /// was not read out yet, although its sender saw an acknowledgement. Default true.
    pub one_buffer: bool,
    /// A received frame is protected until it is read out (dynamic frame buffer protection): meanwhile no frame is
    /// received, and none acknowledged. Default true.
    pub protect_buffer: bool,
    /// What becomes of a frame to send while another is being received. Default `"queue"`.
    pub when_receiving: WhenReceiving,
    /// The radio does CSMA/CA, waits for acknowledgements and retries by itself (TX_ARET). Otherwise the stack does.
    /// Default true.
    pub hardware_csma: bool,
    /// Deaf while it backs off. Only with `hardware_csma`. Default true (Kumar et al. 2020, section 4).
    pub deaf_in_backoff: bool,
    /// Each retry starts CSMA/CA anew. Otherwise a retry follows at once, after one channel assessment. Only with
    /// `hardware_csma`. Default true (TX_ARET).
    pub retry_restarts_csma: bool,
    /// After a frame was sent or received the device stays busy for this long: the driver handles its interrupt.
    /// Default 0; the CPU preset `riot-m3` adds its own.
    pub busy_after_frame_us: u32,
    /// What it draws.
    pub currents: Currents,
}

impl Default for At86rf23x {
    fn default() -> Self {
        Self {
            spi_kbytes_per_s: 625,
            one_buffer: true,
            protect_buffer: true,
            when_receiving: WhenReceiving::Queue,
            hardware_csma: true,
            deaf_in_backoff: true,
            retry_restarts_csma: true,
            busy_after_frame_us: 0,
            currents: Currents::default(),
        }
    }
}

/// What the driver does with a frame to send while the radio receives another or acknowledges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenReceiving {
    /// `"queue"`: it waits in the send queue and is tried again as soon as the radio is free; what was received is read
    /// out first (Lenders et al. 2021, section III: at latest after 5 ms, before which the longest reception is over).
    #[default]
    Queue,
    /// `"block"`: the driver blocks until the reception has ended and then prepares the transmission at once, before
    /// anything is read out (RIOT's driver). With one buffer this overwrites what was received.
    Block,
    /// `"abort"`: the reception is given up.
    Abort,
}
