//! The frame check sequence of IEEE 802.15.4: 16 bits of ITU-T CRC (IEEE 802.15.4-2020, 7.2.11).
//!
//! The polynomial is x^16 + x^12 + x^5 + 1, the register starts at zero, bits go in least significant first, and the
//! remainder follows the frame least significant byte first. It is computed without a table: the polynomial is sparse
//! enough that a whole byte goes through the register in 10 instructions of a Cortex-M3. With a table of 16 entries
//! that takes 13, with one of 256 entries, 512 bytes of flash, 8.

use super::ParseError;
use crate::netdev::FCS_LEN;

/// The frame check sequence of `frame`, which does not contain it.
pub const fn compute(frame: &[u8]) -> u16 {
    let mut crc = 0;
    let mut rest = frame;
    while let [byte, tail @ ..] = rest {
        crc = step(crc, *byte);
        rest = tail;
    }
    crc
}

/// Shifts one byte through the register: its eight shifts, with the feedback of the polynomial worked out.
const fn step(crc: u16, byte: u8) -> u16 {
    let [low, high] = crc.to_le_bytes();
    let mut mixed = low ^ byte;
    mixed ^= mixed << 4;
    let wide = mixed as u16;
    (high as u16) ^ (wide << 8) ^ (wide << 3) ^ (wide >> 4)
}

/// Computes the frame check sequence of the first `len` bytes of `frame`, writes it behind them, and gives the length
/// with it.
///
/// # Errors
///
/// [`ParseError::NoRoom`] if `frame` does not reach that far.
pub fn append(frame: &mut [u8], len: usize) -> Result<usize, ParseError> {
    let (body, rest) = frame.split_at_mut_checked(len).ok_or(ParseError::NoRoom)?;
    let room = rest.first_chunk_mut::<FCS_LEN>().ok_or(ParseError::NoRoom)?;
    *room = compute(body).to_le_bytes();
    Ok(body.len().saturating_add(FCS_LEN))
}

/// The frame without the frame check sequence at its end, if that fits.
///
/// # Errors
///
/// [`ParseError::Truncated`] if there is no room for a frame check sequence, [`ParseError::Checksum`] if it is wrong.
pub fn check(frame: &[u8]) -> Result<&[u8], ParseError> {
    let (body, &fcs) = frame.split_last_chunk::<FCS_LEN>().ok_or(ParseError::Truncated)?;
    if u16::from_le_bytes(fcs) == compute(body) {
        Ok(body)
    } else {
        Err(ParseError::Checksum)
    }
}

#[cfg(test)]
mod tests;
