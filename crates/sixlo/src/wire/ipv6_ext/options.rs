//! The headers that carry options: hop-by-hop (RFC 8200 section 4.3) and destination options (section 4.6).

use super::{Extension, units};
use crate::wire::ipv6::NextHeader;
use crate::wire::{ParseError, split};

#[cfg(test)]
mod tests;

/// The type of an option (RFC 8200 section 4.2). Unknown values are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OptionType(pub u8);

impl OptionType {
    /// One byte of padding, with neither length nor data.
    pub const PAD1: Self = Self(0);
    /// Two or more bytes of padding.
    pub const PAD_N: Self = Self(1);
    /// The RPL option that nodes that do not know it skip (RFC 9008 section 11.1).
    pub const RPL: Self = Self(0x23);
    /// The RPL option for which nodes that do not know it discard the packet (RFC 6553 section 3).
    pub const RPL_CRITICAL: Self = Self(0x63);

    /// What a node does with the packet that does not know this option.
    pub const fn action(self) -> Action {
        match self.0 >> 6 {
            0b00 => Action::Skip,
            0b01 => Action::Discard,
            0b10 => Action::Problem,
            _ => Action::ProblemUnlessMulticast,
        }
    }

    /// Whether the data may change on the way.
    pub const fn is_mutable(self) -> bool {
        self.0 & 0x20 != 0
    }
}

/// What a node does with a packet that holds an option which the node does not know (RFC 8200 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Skip the option.
    Skip,
    /// Discard the packet.
    Discard,
    /// Discard the packet and send parameter problem, code 2, that points to the type of the option.
    Problem,
    /// The same, but do not send if the destination was a multicast address.
    ProblemUnlessMulticast,
}

/// The RPL option (RFC 6553 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rpl<'a> {
    /// Nodes that do not know the option discard the packet: the type is [`OptionType::RPL_CRITICAL`].
    pub critical: bool,
    /// The packet goes down (O).
    pub down: bool,
    /// A rank error was met (R).
    pub rank_error: bool,
    /// A node could not forward the packet further down (F).
    pub forwarding_error: bool,
    /// The RPL instance (RPLInstanceID).
    pub instance: u8,
    /// The rank of the node that sent the packet last (SenderRank).
    pub sender_rank: u16,
    /// What follows the fixed fields; nothing of it is known, it is skipped.
    pub sub_tlvs: &'a [u8],
}

impl<'a> Rpl<'a> {
    fn parse(critical: bool, data: &'a [u8]) -> Result<Self, ParseError> {
        let (&[flags, instance, high, low], sub_tlvs) = split(data).map_err(|_| ParseError::Length)?;
        Ok(Self {
            critical,
            down: flags & 0x80 != 0,
            rank_error: flags & 0x40 != 0,
            forwarding_error: flags & 0x20 != 0,
            instance,
            sender_rank: u16::from_be_bytes([high, low]),
            sub_tlvs,
        })
    }

    /// The fixed fields.
    const fn emit(&self) -> [u8; 4] {
        let [high, low] = self.sender_rank.to_be_bytes();
        let flags =
            (self.down as u8) << 7 | (self.rank_error as u8) << 6 | (self.forwarding_error as u8) << 5;
        [flags, self.instance, high, low]
    }
}

/// An option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opt<'a> {
    /// One byte of padding.
    Pad1,
    /// Padding with so many bytes of data: two more in all.
    PadN(u8),
    /// The RPL option.
    Rpl(Rpl<'a>),
    /// An option that is not known here.
    Other {
        /// Its type.
        kind: OptionType,
        /// Its data, at most 255 bytes.
        data: &'a [u8],
    },
}

impl Opt<'_> {
    /// Writes the option in front of `out` and says how long it is.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`], also if the data is longer than 255 bytes.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, ParseError> {
        let (kind, fixed, data): (_, &[u8], &[u8]) = match self {
            Self::Pad1 => {
                *out.first_mut().ok_or(ParseError::NoRoom)? = OptionType::PAD1.0;
                return Ok(1);
            }
            Self::PadN(len) => (
                OptionType::PAD_N,
                ZEROS.get(..usize::from(*len)).unwrap_or(&ZEROS),
                &[],
            ),
            Self::Rpl(rpl) if rpl.critical => (OptionType::RPL_CRITICAL, &rpl.emit(), rpl.sub_tlvs),
            Self::Rpl(rpl) => (OptionType::RPL, &rpl.emit(), rpl.sub_tlvs),
            Self::Other { kind, data } => (*kind, &[], *data),
        };
        let len = u8::try_from(fixed.len() + data.len()).map_err(|_| ParseError::NoRoom)?;
        let (out_head, out) = out.split_first_chunk_mut().ok_or(ParseError::NoRoom)?;
        let (out_fixed, out) = out.split_at_mut_checked(fixed.len()).ok_or(ParseError::NoRoom)?;
        let out_data = out.get_mut(..data.len()).ok_or(ParseError::NoRoom)?;
        *out_head = [kind.0, len];
        out_fixed.copy_from_slice(fixed);
        out_data.copy_from_slice(data);
        Ok(2 + usize::from(len))
    }
}

/// The data of the longest padding.
static ZEROS: [u8; 255] = [0; 255];

/// The options of a header, in their order, each with its place.
///
/// An option that runs past the end of the header gives [`ParseError::Length`] and ends the iteration.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Options<'a> {
    /// The options in this header.
    pub const fn new(header: &Extension<'a>) -> Self {
        Self {
            rest: header.body,
            offset: 2,
        }
    }

    fn take(&mut self) -> Result<Opt<'a>, ParseError> {
        let (&[kind], rest) = split(self.rest)?;
        if kind == OptionType::PAD1.0 {
            self.rest = rest;
            return Ok(Opt::Pad1);
        }
        let (&[len], rest) = split(rest)?;
        let (data, rest) = rest
            .split_at_checked(usize::from(len))
            .ok_or(ParseError::Length)?;
        self.rest = rest;
        Ok(match OptionType(kind) {
            OptionType::PAD_N => Opt::PadN(len),
            OptionType::RPL => Opt::Rpl(Rpl::parse(false, data)?),
            OptionType::RPL_CRITICAL => Opt::Rpl(Rpl::parse(true, data)?),
            kind => Opt::Other { kind, data },
        })
    }
}

/// An option and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<'a> {
    /// Where the type of the option lies, in bytes from the beginning of its header.
    pub offset: usize,
    /// The option.
    pub option: Opt<'a>,
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Placed<'a>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (offset, before) = (self.offset, self.rest.len());
        match self.take() {
            Ok(option) => {
                self.offset += before - self.rest.len();
                Some(Ok(Placed { offset, option }))
            }
            Err(_) => {
                self.rest = &[];
                Some(Err(ParseError::Length))
            }
        }
    }
}

/// Writes a header with these options in front of `out`, padded to a multiple of 8 bytes, and says how long it is.
/// Options that must be aligned need padding before them; that is the caller's.
///
/// # Errors
///
/// [`ParseError::NoRoom`], also if the header becomes longer than 2,048 bytes.
pub fn emit(next_header: NextHeader, options: &[Opt<'_>], out: &mut [u8]) -> Result<usize, ParseError> {
    let mut len = 2;
    for option in options {
        len += option.emit(out.get_mut(len..).ok_or(ParseError::NoRoom)?)?;
    }
    let missing = len.next_multiple_of(8) - len;
    let padding = match missing {
        0 => None,
        1 => Some(Opt::Pad1),
        more => Some(Opt::PadN(more as u8 - 2)),
    };
    if let Some(padding) = padding {
        len += padding.emit(out.get_mut(len..).ok_or(ParseError::NoRoom)?)?;
    }
    let head = out.first_chunk_mut().ok_or(ParseError::NoRoom)?;
    *head = [next_header.0, units(len)?];
    Ok(len)
}
