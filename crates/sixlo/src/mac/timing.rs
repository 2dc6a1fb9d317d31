//! Times of the physical layer that medium access needs.

use crate::time::Duration;

/// One symbol of the O-QPSK physical layer at 2.4 GHz: 4 bits at 250 kb/s (IEEE 802.15.4-2020, clause 12).
const SYMBOL: Duration = Duration::from_micros(16);

/// Symbols of an octet.
const OCTET_SYMBOLS: u64 = 2;

/// `aTurnaroundTime` in symbols (IEEE 802.15.4-2020, table 11-1).
const TURNAROUND_SYMBOLS: u64 = 12;

/// `aUnitBackoffPeriod` in symbols (IEEE 802.15.4-2020, 8.4.2).
const UNIT_BACKOFF_SYMBOLS: u64 = 20;

/// Preamble and start-of-frame delimiter in symbols: 5 octets (IEEE 802.15.4-2020, 12.1).
const SHR_SYMBOLS: u64 = 5 * OCTET_SYMBOLS;

/// What an acknowledgement has on the air after its synchronization header, in symbols: a PHY header of one octet and a
/// frame of 5.
const ACK_SYMBOLS: u64 = 6 * OCTET_SYMBOLS;

/// What stands before a frame on the air, in octets: synchronization header of 5 and PHY header of 1.
const PHY_HEADERS_LEN: u64 = 6;

/// Times of the physical layer that medium access needs. The default is that of O-QPSK at 2.4 GHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyTiming {
    /// `aUnitBackoffPeriod`. Default 20 symbols, 320 µs (IEEE 802.15.4-2020, 8.4.2).
    pub unit_backoff: Duration,
    /// `macAckWaitDuration`: how long after the end of its frame a sender waits for the acknowledgement. Default
    /// `aUnitBackoffPeriod` + `aTurnaroundTime` + synchronization header + 6 octets = 54 symbols, 864 µs
    /// (IEEE 802.15.4-2006, 7.4.2; the later editions name the same sum).
    pub ack_wait: Duration,
    /// `macSifsPeriod`: the pause after a short frame, or its acknowledgement. Default 12 symbols, 192 µs
    /// (IEEE 802.15.4-2020, 6.2.4).
    pub sifs: Duration,
    /// `macLifsPeriod`: the pause after any other frame. Default 40 symbols, 640 µs (IEEE 802.15.4-2020, 6.2.4).
    pub lifs: Duration,
    /// `aMaxSifsFrameSize`: the longest short frame in bytes, frame check sequence included. Default 18
    /// (IEEE 802.15.4-2020, 8.4.2).
    pub sifs_len_max: usize,
}

impl PhyTiming {
    /// O-QPSK at 2.4 GHz.
    pub const O_QPSK_2450: Self = Self {
        unit_backoff: SYMBOL.times(UNIT_BACKOFF_SYMBOLS),
        ack_wait: SYMBOL.times(UNIT_BACKOFF_SYMBOLS + TURNAROUND_SYMBOLS + SHR_SYMBOLS + ACK_SYMBOLS),
        sifs: SYMBOL.times(12),
        lifs: SYMBOL.times(40),
        sifs_len_max: 18,
    };

    /// How long a frame of `len` bytes, frame check sequence included, is on the air with its synchronization and PHY
    /// headers. In every physical layer at 2.4 GHz an octet takes a tenth of the unit back-off period.
    pub const fn on_air(&self, len: usize) -> Duration {
        // In 32 bits, as a division of 64 takes 1 KB of code on the chip. No frame is an hour on the air.
        let ten_octets = self.unit_backoff.as_micros() as u32;
        let octets = (len as u32).saturating_add(PHY_HEADERS_LEN as u32);
        Duration::from_micros((ten_octets.saturating_mul(octets) / 10) as u64)
    }

    /// The pause that a sender keeps after a frame of `len` bytes, frame check sequence included, or after the frame's
    /// acknowledgement (IEEE 802.15.4-2020, 6.2.4).
    pub const fn interframe_space(&self, len: usize) -> Duration {
        if len <= self.sifs_len_max {
            self.sifs
        } else {
            self.lifs
        }
    }
}

impl Default for PhyTiming {
    fn default() -> Self {
        Self::O_QPSK_2450
    }
}

#[cfg(test)]
mod tests;
