//! Information elements of frames of version 2015 (IEEE 802.15.4-2020, 7.4): found and skipped, and their contents
//! given to who asks. What the contents mean is not known here.

use crate::wire::{ParseError, before, split};

/// One information element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ie<'a> {
    /// Element id of a header information element (table 7-7), group id of a payload information element (table 7-15).
    pub id: u8,
    /// Its content.
    pub content: &'a [u8],
}

/// The header information elements of a frame (7.4.2), without their termination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderIes<'a>(&'a [u8]);

/// The payload information elements of a frame (7.4.3), without their termination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadIes<'a>(&'a [u8]);

/// Ends the header information elements; payload information elements follow (table 7-7).
const HEADER_TERMINATION_1: u8 = 0x7e;
/// Ends the header information elements; the payload follows.
const HEADER_TERMINATION_2: u8 = 0x7f;
/// Ends the payload information elements (table 7-15).
const PAYLOAD_TERMINATION: u8 = 0xf;

impl<'a> HeaderIes<'a> {
    /// No information element.
    pub const EMPTY: Self = Self(&[]);

    /// Information elements that the caller has written one behind the other, each with its descriptor (figure 7-21),
    /// without a termination.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the last one is cut off, [`ParseError::Reserved`] if one is a termination or none
    /// of a header.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ParseError> {
        match Self::parse(bytes)? {
            (ies, _, _) if ies.0.len() == bytes.len() => Ok(ies),
            _ => Err(ParseError::Reserved),
        }
    }

    /// Reads the elements at the front of the frame's body. Gives with them whether payload information elements
    /// follow, and what follows.
    pub(super) fn parse(body: &'a [u8]) -> Result<(Self, bool, &'a [u8]), ParseError> {
        let mut rest = body;
        // Each turn takes at least the two bytes of a descriptor.
        while !rest.is_empty() {
            let (ie, tail) = header_ie(rest)?;
            if matches!(ie.id, HEADER_TERMINATION_1 | HEADER_TERMINATION_2) {
                let list = before(body, rest);
                return terminated(ie).map(|()| (Self(list), ie.id == HEADER_TERMINATION_1, tail));
            }
            rest = tail;
        }
        // 7.4.1: no termination where the frame ends with the list.
        Ok((Self(body), false, rest))
    }

    /// The elements as they stand in the frame, each with its descriptor.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements in their order.
    pub fn iter(&self) -> impl Iterator<Item = Ie<'a>> + use<'a> {
        elements(self.0, header_ie)
    }

    /// The information element that ends this list.
    pub(super) const fn terminator(&self, payload_ies_follow: bool) -> [u8; 2] {
        let id = if payload_ies_follow {
            HEADER_TERMINATION_1
        } else {
            HEADER_TERMINATION_2
        };
        ((id as u16) << 7).to_le_bytes()
    }
}

impl<'a> PayloadIes<'a> {
    /// No information element.
    pub const EMPTY: Self = Self(&[]);

    /// The information element that ends a list.
    pub(super) const TERMINATOR: [u8; 2] = (0x8000 | (PAYLOAD_TERMINATION as u16) << 11).to_le_bytes();

    /// Information elements that the caller has written one behind the other, each with its descriptor (figure 7-47),
    /// without a termination.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the last one is cut off, [`ParseError::Reserved`] if one is a termination or none
    /// of a payload.
    pub fn new(bytes: &'a [u8]) -> Result<Self, ParseError> {
        match Self::parse(bytes)? {
            (ies, _) if ies.0.len() == bytes.len() => Ok(ies),
            _ => Err(ParseError::Reserved),
        }
    }

    /// Reads the elements at the front of the frame's body, and gives what follows.
    pub(super) fn parse(body: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let mut rest = body;
        // Each turn takes at least the two bytes of a descriptor.
        while !rest.is_empty() {
            let (ie, tail) = payload_ie(rest)?;
            if ie.id == PAYLOAD_TERMINATION {
                let list = before(body, rest);
                return terminated(ie).map(|()| (Self(list), tail));
            }
            rest = tail;
        }
        Ok((Self(body), rest))
    }

    /// The elements as they stand in the frame, each with its descriptor.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements in their order.
    pub fn iter(&self) -> impl Iterator<Item = Ie<'a>> + use<'a> {
        elements(self.0, payload_ie)
    }
}

/// Takes a header information element off `bytes` (figure 7-21).
fn header_ie(bytes: &[u8]) -> Result<(Ie<'_>, &[u8]), ParseError> {
    let (&descriptor, rest) = split::<2>(bytes)?;
    let descriptor = u16::from_le_bytes(descriptor);
    if descriptor & 0x8000 != 0 {
        return Err(ParseError::Reserved);
    }
    let len = usize::from(descriptor & 0x7f);
    let (content, rest) = rest.split_at_checked(len).ok_or(ParseError::Truncated)?;
    let [id, _] = (descriptor >> 7).to_le_bytes();
    Ok((Ie { id, content }, rest))
}

/// Takes a payload information element off `bytes` (figure 7-47).
fn payload_ie(bytes: &[u8]) -> Result<(Ie<'_>, &[u8]), ParseError> {
    let (&descriptor, rest) = split::<2>(bytes)?;
    let descriptor = u16::from_le_bytes(descriptor);
    if descriptor & 0x8000 == 0 {
        return Err(ParseError::Reserved);
    }
    let len = usize::from(descriptor & 0x7ff);
    let (content, rest) = rest.split_at_checked(len).ok_or(ParseError::Truncated)?;
    let [id, _] = (descriptor >> 11 & 0xf).to_le_bytes();
    Ok((Ie { id, content }, rest))
}

/// Terminations have no content (7.4.2.17, 7.4.3.2).
fn terminated(termination: Ie<'_>) -> Result<(), ParseError> {
    if termination.content.is_empty() {
        Ok(())
    } else {
        Err(ParseError::Reserved)
    }
}

type Take<'a> = fn(&'a [u8]) -> Result<(Ie<'a>, &'a [u8]), ParseError>;

/// The elements of a list whose form was checked when it was made.
fn elements<'a>(mut list: &'a [u8], take: Take<'a>) -> impl Iterator<Item = Ie<'a>> + use<'a> {
    core::iter::from_fn(move || {
        let (ie, rest) = take(list).ok()?;
        list = rest;
        Some(ie)
    })
}

#[cfg(test)]
mod tests;
