//! The payload of beacon frames up to version 2006 (IEEE 802.15.4-2020, 7.3.1; beacons of version 2015 hold the same
//! things in information elements).

use super::reversed;
use crate::wire::addr::LinkAddr;
use crate::wire::{ParseError, put, put_slice, split};

/// Entries of the list of guaranteed time slots, and of the list of pending addresses, at most (7.3.1.5, 7.3.1.6).
const LIST_MAX: usize = 7;

/// The superframe specification (7.3.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Superframe {
    /// The beacon interval is 960 symbols times 2 to the power of this; 15 if there are no regular beacons.
    pub beacon_order: u8,
    /// The active portion lasts 960 symbols times 2 to the power of this; 15 if there is none.
    pub superframe_order: u8,
    /// The last slot of the contention access period, 0 to 15.
    pub final_cap_slot: u8,
    /// Frames in the contention access period begin early in a back-off period, to save energy.
    pub battery_life_extension: bool,
    /// The beacon comes from the PAN's coordinator.
    pub pan_coordinator: bool,
    /// The coordinator takes new devices.
    pub association_permit: bool,
}

/// A guaranteed time slot (7.3.1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gts {
    /// The short address of the device that has it.
    pub device: u16,
    /// Its first superframe slot, 0 to 15.
    pub starting_slot: u8,
    /// Its length in superframe slots, 0 to 15.
    pub slots: u8,
    /// The device only receives in it; otherwise it only transmits.
    pub receive: bool,
}

/// What a beacon says before its own payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// How time is divided.
    pub superframe: Superframe,
    /// The coordinator accepts requests for guaranteed time slots.
    pub gts_permit: bool,
    /// The directions of the guaranteed time slots, bit 0 for the first: set where the device only receives.
    pub gts_directions: u8,
    /// The guaranteed time slots as they stand in the frame, at most 7. [`gts`](Self::gts) reads them.
    pub gts_list: &'a [[u8; 3]],
    /// The short addresses for which data waits, as they stand in the frame.
    pub pending_short: &'a [[u8; 2]],
    /// The extended addresses for which data waits, as they stand in the frame; at most 7 with the short ones.
    pub pending_extended: &'a [[u8; 8]],
}

impl<'a> Beacon<'a> {
    /// Reads the fields at the front of a beacon frame's payload, and gives the beacon payload that follows.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the payload ends in a field, [`ParseError::Reserved`] if more than 7 addresses are
    /// pending.
    pub fn parse(payload: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let (&[low, high, gts], mut rest) = split::<3>(payload)?;
        let superframe = Superframe {
            beacon_order: low & 0xf,
            superframe_order: low >> 4,
            final_cap_slot: high & 0xf,
            battery_life_extension: high & 0x10 != 0,
            pan_coordinator: high & 0x40 != 0,
            association_permit: high & 0x80 != 0,
        };
        let mut beacon = Self {
            superframe,
            gts_permit: gts & 0x80 != 0,
            ..Self::default()
        };
        if gts & 7 != 0 {
            // The directions are there only with a list (7.3.1.5).
            let (&[directions], tail) = split::<1>(rest)?;
            beacon.gts_directions = directions & 0x7f;
            (beacon.gts_list, rest) = take(gts & 7, tail)?;
        }
        let (&[pending], tail) = split::<1>(rest)?;
        let (short, extended) = (pending & 7, pending >> 4 & 7);
        if short.saturating_add(extended) > LIST_MAX as u8 {
            return Err(ParseError::Reserved);
        }
        (beacon.pending_short, rest) = take(short, tail)?;
        (beacon.pending_extended, rest) = take(extended, rest)?;
        Ok((beacon, rest))
    }

    /// Writes the fields to the front of `out` and gives their length.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`] if `out` is shorter than [`emit_len`](Self::emit_len), [`ParseError::Reserved`] if a
    /// value does not fit its field or a list is too long.
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        let room = out.len();
        let superframe = self.superframe;
        let (short, extended) = (self.pending_short.len(), self.pending_extended.len());
        if (superframe.beacon_order | superframe.superframe_order | superframe.final_cap_slot) > 0xf
            || self.gts_directions > 0x7f
            || (self.gts_list.is_empty() && self.gts_directions != 0)
            || self.gts_list.len() > LIST_MAX
            || short.saturating_add(extended) > LIST_MAX
        {
            return Err(ParseError::Reserved);
        }
        let low = superframe.beacon_order | superframe.superframe_order << 4;
        let high = superframe.final_cap_slot
            | u8::from(superframe.battery_life_extension) << 4
            | u8::from(superframe.pan_coordinator) << 6
            | u8::from(superframe.association_permit) << 7;
        put(
            &mut out,
            [
                low,
                high,
                self.gts_list.len() as u8 | u8::from(self.gts_permit) << 7,
            ],
        )?;
        if !self.gts_list.is_empty() {
            put(&mut out, [self.gts_directions])?;
            put_slice(&mut out, self.gts_list.as_flattened())?;
        }
        put(&mut out, [short as u8 | (extended as u8) << 4])?;
        put_slice(&mut out, self.pending_short.as_flattened())?;
        put_slice(&mut out, self.pending_extended.as_flattened())?;
        Ok(room.saturating_sub(out.len()))
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn emit_len(&self) -> usize {
        let directions = !self.gts_list.is_empty() as usize;
        4 + directions
            + self.gts_list.as_flattened().len()
            + self.pending_short.as_flattened().len()
            + self.pending_extended.as_flattened().len()
    }

    /// The guaranteed time slots.
    pub fn gts(&self) -> impl Iterator<Item = Gts> + use<'a> {
        let directions = self.gts_directions;
        self.gts_list
            .iter()
            .enumerate()
            .map(move |(i, &[low, high, span])| Gts {
                device: u16::from_le_bytes([low, high]),
                starting_slot: span & 0xf,
                slots: span >> 4,
                receive: directions.unbounded_shr(i as u32) & 1 != 0,
            })
    }

    /// The addresses for which data waits, short ones first.
    pub fn pending(&self) -> impl Iterator<Item = LinkAddr> + use<'a> {
        let short = self
            .pending_short
            .iter()
            .map(|&short| LinkAddr::Short(u16::from_le_bytes(short)));
        let extended = self
            .pending_extended
            .iter()
            .map(|&eui| LinkAddr::Extended(reversed(eui)));
        short.chain(extended)
    }
}

/// Takes a list of `count` entries of `N` bytes off `bytes`.
fn take<const N: usize>(count: u8, bytes: &[u8]) -> Result<(&[[u8; N]], &[u8]), ParseError> {
    let len = usize::from(count).saturating_mul(N);
    let (list, rest) = bytes.split_at_checked(len).ok_or(ParseError::Truncated)?;
    let (entries, _) = list.as_chunks::<N>();
    Ok((entries, rest))
}

#[cfg(test)]
mod tests;
