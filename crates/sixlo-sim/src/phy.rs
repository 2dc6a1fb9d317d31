//! Times of IEEE 802.15.4 at 2.4 GHz with O-QPSK: 250 kb/s, a symbol of 4 bits in 16 us (IEEE 802.15.4-2020, 12.2).

use crate::time::Time;

/// One symbol.
pub const SYMBOL: Time = Time::us(16);

/// One byte on the air: two symbols.
pub const BYTE: Time = Time::us(32);

/// Preamble and start-of-frame delimiter: 10 symbols (table 11-1).
pub const SHR: Time = Time::us(160);

/// Bytes on the air before the PHY payload: preamble 4, delimiter 1, PHY header 1 (12.1).
pub const HEADER_BYTES: u64 = 6;

/// A channel assessment takes 8 symbols (10.2.8).
pub const CCA: Time = Time::us(128);

/// `aTurnaroundTime`: 12 symbols, from reception to transmission, and from the end of a frame to its acknowledgement
/// (table 11-1, 6.7.4.2).
pub const TURNAROUND: Time = Time::us(192);

/// `aUnitBackoffPeriod`: turnaround and channel assessment, 20 symbols (table 8-93).
pub const BACKOFF_PERIOD: Time = Time::us(320);

/// `macAckWaitDuration`: a back-off period, a turnaround, the header of the acknowledgement and 6 more bytes: 20 + 12 +
/// 10 + 12 symbols (8.4.2 of the 2015 edition).
pub const ACK_WAIT: Time = Time::us(864);

/// An acknowledgement: frame control, sequence number, check sequence (7.3.3).
pub const ACK_BYTES: usize = 5;

/// The frame check sequence.
pub const FCS_BYTES: usize = 2;

/// `macSifsPeriod`, after frames of at most `aMaxSifsFrameSize` = 18 bytes (table 8-94).
const SIFS: Time = Time::us(192);

/// `macLifsPeriod`, after longer ones.
const LIFS: Time = Time::us(640);

const SIFS_BYTES_MAX: usize = 18;

/// How long a frame of so many bytes, check sequence included, is on the air.
pub const fn airtime(mpdu_bytes: usize) -> Time {
    Time::us((HEADER_BYTES + mpdu_bytes as u64) * 32)
}

/// The interframe space after a frame of so many bytes, check sequence included (6.2.4).
pub const fn interframe_space(mpdu_bytes: usize) -> Time {
    if mpdu_bytes <= SIFS_BYTES_MAX { SIFS } else { LIFS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn air_times_are_those_of_the_standard() {
        for (bytes, us) in [
            (18, 768),
            (20, 832),
            (40, 1_472),
            (80, 2_752),
            (102, 3_456),
            (127, 4_256),
        ] {
            assert_eq!(airtime(bytes), Time::us(us));
        }
        assert_eq!(airtime(ACK_BYTES), Time::us(352));
        assert_eq!(TURNAROUND + CCA, BACKOFF_PERIOD);
        assert_eq!(BACKOFF_PERIOD + TURNAROUND + SHR + Time::us(12 * 16), ACK_WAIT);
    }
}
