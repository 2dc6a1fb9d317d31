//! MAC frames of IEEE 802.15.4: the header of data, acknowledgement, command and beacon frames in the versions of
//! 2003, 2006 and 2015, with every addressing mode.
//!
//! Section numbers are those of IEEE 802.15.4-2020, where nothing else is said. Fields are little-endian on the air.
//! Frames come and go without their frame check sequence, which is [`fcs`](super::fcs)'s. A secured frame is recognised
//! and its header skipped; nothing is decrypted or verified here.

pub mod beacon;
pub mod command;
pub mod ie;
pub mod security;

use super::addr::LinkAddr;
use super::{ParseError, put, put_slice, split};
use crate::netdev::{FCS_LEN, FRAME_LEN_MAX};
use ie::{HeaderIes, PayloadIes};
use security::Security;

/// The PAN identifier that all PANs hear (7.2.2.5).
pub const PAN_BROADCAST: u16 = 0xffff;

/// What a frame is for (7.2.2.2). Multipurpose, fragment and extended frames are not known here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameType {
    /// A beacon: see [`beacon`] for its payload up to version 2006.
    Beacon = 0,
    /// Data of the next higher layer.
    #[default]
    Data = 1,
    /// An acknowledgement: immediate up to version 2006 (control and sequence number only), enhanced in version 2015.
    Ack = 2,
    /// A MAC command: see [`command`] for its payload.
    Command = 3,
}

/// The format of a frame (7.2.2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Version {
    /// IEEE 802.15.4-2003.
    V2003 = 0,
    /// IEEE 802.15.4-2006.
    #[default]
    V2006 = 1,
    /// IEEE 802.15.4-2015 and later.
    V2015 = 2,
}

/// The header of a MAC frame.
///
/// A PAN identifier that compression left out is `None`, as it is in the frame: where both addresses are there and
/// `src_pan` is not, the source is in the PAN of the destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// What the frame is for.
    pub frame_type: FrameType,
    /// The format of the frame.
    pub version: Version,
    /// The sender has more data for the receiver.
    pub frame_pending: bool,
    /// The receiver shall acknowledge the frame.
    pub ack_request: bool,
    /// The sequence number. Only version 2015 can do without.
    pub sequence: Option<u8>,
    /// The PAN identifier of the destination.
    pub dst_pan: Option<u16>,
    /// The link-layer address of the destination.
    pub dst: LinkAddr,
    /// The PAN identifier of the source.
    pub src_pan: Option<u16>,
    /// The link-layer address of the source.
    pub src: LinkAddr,
    /// The auxiliary security header, if the frame is secured.
    pub security: Option<Security>,
    /// Header information elements. Only version 2015 has such.
    pub header_ies: HeaderIes<'a>,
    /// Payload information elements. Only version 2015 has such. Where the payload is encrypted, so are they: they are
    /// then a part of the payload.
    pub payload_ies: PayloadIes<'a>,
}

// Frame control field (7.2.2).
const FRAME_TYPE: u16 = 0x0007;
const SECURITY_ENABLED: u16 = 1 << 3;
const FRAME_PENDING: u16 = 1 << 4;
const ACK_REQUEST: u16 = 1 << 5;
const PAN_COMPRESSION: u16 = 1 << 6;
const SEQUENCE_SUPPRESSION: u16 = 1 << 8;
const IE_PRESENT: u16 = 1 << 9;
const DST_MODE_SHIFT: u16 = 10;
const VERSION_SHIFT: u16 = 12;
const SRC_MODE_SHIFT: u16 = 14;

// Addressing modes (table 7-3); 1 is reserved.
const MODE_NONE: u16 = 0;
const MODE_SHORT: u16 = 2;
const MODE_EXTENDED: u16 = 3;

/// Data of version 2006 within one PAN, both addresses extended.
const DATA_EXTENDED: u16 = FrameType::Data as u16
    | PAN_COMPRESSION
    | (Version::V2006 as u16) << VERSION_SHIFT
    | MODE_EXTENDED << DST_MODE_SHIFT
    | MODE_EXTENDED << SRC_MODE_SHIFT;
/// The same, both addresses short.
const DATA_SHORT: u16 = FrameType::Data as u16
    | PAN_COMPRESSION
    | (Version::V2006 as u16) << VERSION_SHIFT
    | MODE_SHORT << DST_MODE_SHIFT
    | MODE_SHORT << SRC_MODE_SHIFT;

impl<'a> Header<'a> {
    /// The header of a data frame of version 2006 within one PAN, as RFC 4944 section 3 wants it: with both addresses.
    pub const fn data(sequence: u8, pan: u16, dst: LinkAddr, src: LinkAddr) -> Self {
        Self {
            frame_type: FrameType::Data,
            version: Version::V2006,
            frame_pending: false,
            ack_request: false,
            sequence: Some(sequence),
            dst_pan: Some(pan),
            dst,
            src_pan: None,
            src,
            security: None,
            header_ies: HeaderIes::EMPTY,
            payload_ies: PayloadIes::EMPTY,
        }
    }

    /// The immediate acknowledgement of the frame with this sequence number (7.3.3).
    pub const fn immediate_ack(sequence: u8, frame_pending: bool) -> Self {
        Self {
            frame_type: FrameType::Ack,
            version: Version::V2003,
            frame_pending,
            dst_pan: None,
            ..Self::data(sequence, 0, LinkAddr::None, LinkAddr::None)
        }
    }

    /// Reads the header of `frame` and gives the payload that follows it, without information elements and without the
    /// message integrity code of a secured frame.
    ///
    /// # Errors
    ///
    /// - [`ParseError::Truncated`] if the frame ends before its header does, or before its message integrity code;
    /// - [`ParseError::Length`] if it is longer than the PHY carries (127 bytes with frame check sequence), or is an
    ///   immediate acknowledgement with something behind the sequence number;
    /// - [`ParseError::Version`] for frame types and versions that are not known here, among them secured frames of
    ///   version 2003, whose security IEEE 802.15.4-2006 withdrew;
    /// - [`ParseError::Reserved`] for addressing modes, combinations of them, security levels and information elements
    ///   that the standard reserves.
    #[inline]
    pub fn parse(frame: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        if frame.len() > FRAME_LEN_MAX - FCS_LEN {
            return Err(ParseError::Length);
        }
        let (&control, rest) = split::<2>(frame)?;
        let control = u16::from_le_bytes(control);
        // All forms are read alike. For the two that nearly all frames have, the compiler is told the form, and decides
        // beforehand what else is decided for each frame: that halves the work.
        match control & !(FRAME_PENDING | ACK_REQUEST) {
            DATA_EXTENDED => Self::read(DATA_EXTENDED, control, rest),
            DATA_SHORT => Self::read(DATA_SHORT, control, rest),
            form => Self::read_any(form, control, rest),
        }
    }

    #[inline(never)]
    fn read_any(form: u16, control: u16, rest: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        Self::read(form, control, rest)
    }

    /// Reads what stands behind the control field. The form is the control field but for the bits that say nothing
    /// about what follows.
    #[inline(always)]
    fn read(form: u16, control: u16, mut rest: &'a [u8]) -> Result<(Self, &'a [u8]), ParseError> {
        let frame_type = match form & FRAME_TYPE {
            0 => FrameType::Beacon,
            1 => FrameType::Data,
            2 => FrameType::Ack,
            3 => FrameType::Command,
            _ => return Err(ParseError::Version),
        };
        let version = match form >> VERSION_SHIFT & 3 {
            0 => Version::V2003,
            1 => Version::V2006,
            2 => Version::V2015,
            _ => return Err(ParseError::Version),
        };
        let mut header = Self {
            frame_type,
            version,
            frame_pending: control & FRAME_PENDING != 0,
            ..Self::default()
        };
        // Reserved up to version 2006, and therefore not looked at there (7.2.2.7, 7.2.2.8).
        let form_2015 = if version == Version::V2015 { form } else { 0 };
        if form_2015 & SEQUENCE_SUPPRESSION == 0 {
            let (&[sequence], tail) = split::<1>(rest)?;
            header.sequence = Some(sequence);
            rest = tail;
        }
        if frame_type == FrameType::Ack && version != Version::V2015 {
            // 7.3.3: nothing but the pending bit has a meaning in the control field, and nothing follows.
            return if rest.is_empty() {
                Ok((header, rest))
            } else {
                Err(ParseError::Length)
            };
        }
        header.ack_request = control & ACK_REQUEST != 0;

        let dst_mode = form >> DST_MODE_SHIFT & 3;
        let src_mode = form >> SRC_MODE_SHIFT;
        let (dst_pan, src_pan) = pans(version, dst_mode, src_mode, form & PAN_COMPRESSION != 0)?;
        if dst_pan {
            let (&pan, tail) = split::<2>(rest)?;
            header.dst_pan = Some(u16::from_le_bytes(pan));
            rest = tail;
        }
        (header.dst, rest) = take_addr(dst_mode, rest)?;
        if src_pan {
            let (&pan, tail) = split::<2>(rest)?;
            header.src_pan = Some(u16::from_le_bytes(pan));
            rest = tail;
        }
        (header.src, rest) = take_addr(src_mode, rest)?;
        if (form & SECURITY_ENABLED) | (form_2015 & IE_PRESENT) != 0 {
            rest = header.read_rest(form, rest)?;
        }
        Ok((header, rest))
    }

    /// Reads what few frames have: the auxiliary security header and information elements.
    #[cold]
    #[inline(never)]
    fn read_rest(&mut self, form: u16, mut rest: &'a [u8]) -> Result<&'a [u8], ParseError> {
        let mut encrypted = false;
        if form & SECURITY_ENABLED != 0 {
            if self.version == Version::V2003 {
                return Err(ParseError::Version);
            }
            let (security, tail) = Security::parse(self.version, rest)?;
            encrypted = security.level.encrypts();
            let body = tail.len().checked_sub(security.level.mic_len());
            rest = body
                .and_then(|len| tail.get(..len))
                .ok_or(ParseError::Truncated)?;
            self.security = Some(security);
        }
        if self.version == Version::V2015 && form & IE_PRESENT != 0 {
            let payload_ies_follow;
            (self.header_ies, payload_ies_follow, rest) = HeaderIes::parse(rest)?;
            if payload_ies_follow && !encrypted {
                (self.payload_ies, rest) = PayloadIes::parse(rest)?;
            }
        }
        Ok(rest)
    }

    /// Writes the header to the front of `out` and gives its length. The caller puts the payload behind it, and behind
    /// that a message integrity code of [`mic_len`](security::Level::mic_len) bytes if the frame is secured.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`] if `out` is shorter than [`emit_len`](Self::emit_len), [`ParseError::Reserved`] if no
    /// frame has such a header: PAN identifiers that do not go with the addresses, no sequence number before version
    /// 2015, an immediate acknowledgement with anything but sequence number and pending bit, and so on.
    #[inline]
    pub fn emit(&self, mut out: &mut [u8]) -> Result<usize, ParseError> {
        let control = self.control()?;
        let room = out.len();
        put(&mut out, control.to_le_bytes())?;
        if let Some(sequence) = self.sequence {
            put(&mut out, [sequence])?;
        }
        if let Some(pan) = self.dst_pan {
            put(&mut out, pan.to_le_bytes())?;
        }
        put_addr(&mut out, self.dst)?;
        if let Some(pan) = self.src_pan {
            put(&mut out, pan.to_le_bytes())?;
        }
        put_addr(&mut out, self.src)?;
        if self.security.is_some() || self.has_ies() {
            out = self.emit_rest(out)?;
        }
        Ok(room.saturating_sub(out.len()))
    }

    /// Writes what few frames have, and gives what is left of `out`.
    #[cold]
    #[inline(never)]
    fn emit_rest<'b>(&self, mut out: &'b mut [u8]) -> Result<&'b mut [u8], ParseError> {
        if let Some(security) = &self.security {
            security.emit(self.version, &mut out)?;
        }
        if self.has_ies() {
            put_slice(&mut out, self.header_ies.as_bytes())?;
            put(&mut out, self.header_ies.terminator(!self.payload_ies.is_empty()))?;
        }
        if !self.payload_ies.is_empty() {
            put_slice(&mut out, self.payload_ies.as_bytes())?;
            put(&mut out, PayloadIes::TERMINATOR)?;
        }
        Ok(out)
    }

    /// Writes the header of a data frame of version 2006 with both addresses, as RFC 4944 section 3 wants it, in a quarter
    /// of the work: it is what [`emit`](Self::emit) makes of [`data`](Self::data) with these flags, with the PAN
    /// identifier of the source where it is not to be `compressed`. Gives its length.
    ///
    /// # Errors
    ///
    /// [`ParseError::Reserved`] if an address is missing, [`ParseError::NoRoom`] if `out` is too short.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn emit_data(
        addrs: [LinkAddr; 2],
        pan: u16,
        compressed: bool,
        ack_request: bool,
        sequence: u8,
        out: &mut [u8],
    ) -> Result<usize, ParseError> {
        let [dst, src] = addrs;
        if dst.is_empty() || src.is_empty() {
            return Err(ParseError::Reserved);
        }
        let mut control = FrameType::Data as u16 | (Version::V2006 as u16) << VERSION_SHIFT;
        control |= mode(dst) << DST_MODE_SHIFT | mode(src) << SRC_MODE_SHIFT;
        control |= if compressed { PAN_COMPRESSION } else { 0 };
        control |= if ack_request { ACK_REQUEST } else { 0 };
        let ([low, high], [pan_low, pan_high]) = (control.to_le_bytes(), pan.to_le_bytes());
        let (room, mut out) = (out.len(), out);
        put(&mut out, [low, high, sequence, pan_low, pan_high])?;
        put_addr(&mut out, dst)?;
        if !compressed {
            put(&mut out, [pan_low, pan_high])?;
        }
        put_addr(&mut out, src)?;
        Ok(room.saturating_sub(out.len()))
    }

    /// Bytes that [`emit_data`](Self::emit_data) writes: control field, sequence number, PAN identifiers, addresses.
    pub const fn data_len([dst, src]: [LinkAddr; 2], compressed: bool) -> usize {
        2 + 1 + if compressed { 2 } else { 4 } + dst.len() + src.len()
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub fn emit_len(&self) -> usize {
        let mut len = 2 + usize::from(self.sequence.is_some()) + self.dst.len() + self.src.len();
        len += 2 * (usize::from(self.dst_pan.is_some()) + usize::from(self.src_pan.is_some()));
        if let Some(security) = &self.security {
            len += security.emit_len();
        }
        if self.has_ies() {
            len += self.header_ies.as_bytes().len() + 2;
        }
        if !self.payload_ies.is_empty() {
            len += self.payload_ies.as_bytes().len() + 2;
        }
        len
    }

    fn has_ies(&self) -> bool {
        !(self.header_ies.is_empty() && self.payload_ies.is_empty())
    }

    /// The frame control field, if there is one that says this.
    #[inline]
    fn control(&self) -> Result<u16, ParseError> {
        let version = self.version;
        let mut control = self.frame_type as u16 | (version as u16) << VERSION_SHIFT;
        if self.frame_pending {
            control |= FRAME_PENDING;
        }
        if self.frame_type == FrameType::Ack && version != Version::V2015 {
            let bare = Self {
                version,
                ..Self::immediate_ack(self.sequence.unwrap_or(0), self.frame_pending)
            };
            return if *self == bare {
                Ok(control)
            } else {
                Err(ParseError::Reserved)
            };
        }
        if self.ack_request {
            control |= ACK_REQUEST;
        }
        if self.sequence.is_none() {
            control |= SEQUENCE_SUPPRESSION;
        }
        if self.has_ies() {
            control |= IE_PRESENT;
        }
        if version != Version::V2015 && control & (SEQUENCE_SUPPRESSION | IE_PRESENT) != 0 {
            return Err(ParseError::Reserved);
        }
        if let Some(security) = &self.security {
            // Encrypted information elements are the payload's, which is not written here.
            if version == Version::V2003 || security.level.encrypts() && !self.payload_ies.is_empty() {
                return Err(ParseError::Reserved);
            }
            control |= SECURITY_ENABLED;
        }
        let (dst_mode, src_mode) = (mode(self.dst), mode(self.src));
        control |= dst_mode << DST_MODE_SHIFT | src_mode << SRC_MODE_SHIFT;
        let wanted = Ok((self.dst_pan.is_some(), self.src_pan.is_some()));
        if pans(version, dst_mode, src_mode, true) == wanted {
            Ok(control | PAN_COMPRESSION)
        } else if pans(version, dst_mode, src_mode, false) == wanted {
            Ok(control)
        } else {
            Err(ParseError::Reserved)
        }
    }
}

/// Which PAN identifiers the frame has: (destination, source).
fn pans(
    version: Version,
    dst_mode: u16,
    src_mode: u16,
    compression: bool,
) -> Result<(bool, bool), ParseError> {
    let (dst, src) = (dst_mode != MODE_NONE, src_mode != MODE_NONE);
    if version == Version::V2015 {
        // Table 7-2.
        return Ok(match (dst, src) {
            (false, false) => (compression, false),
            (true, false) => (!compression, false),
            (false, true) => (false, !compression),
            (true, true) if dst_mode & src_mode == MODE_EXTENDED => (!compression, false),
            (true, true) => (true, !compression),
        });
    }
    // IEEE 802.15.4-2006, 7.2.1.1.5: of two addresses one PAN identifier may be left out, that of a single one never;
    // 7.2.1.1.6 and 7.2.1.1.8: a frame without any address is an acknowledgement.
    match (dst, src) {
        (true, true) => Ok((true, !compression)),
        (false, false) => Err(ParseError::Reserved),
        _ if compression => Err(ParseError::Reserved),
        single => Ok(single),
    }
}

/// Takes an address of this mode off `bytes`.
#[inline(always)]
fn take_addr(mode: u16, bytes: &[u8]) -> Result<(LinkAddr, &[u8]), ParseError> {
    match mode {
        MODE_NONE => Ok((LinkAddr::None, bytes)),
        MODE_SHORT => {
            let (&short, rest) = split::<2>(bytes)?;
            Ok((LinkAddr::Short(u16::from_le_bytes(short)), rest))
        }
        MODE_EXTENDED => {
            let (&eui, rest) = split::<8>(bytes)?;
            Ok((LinkAddr::Extended(reversed(eui)), rest))
        }
        _ => Err(ParseError::Reserved),
    }
}

fn put_addr(out: &mut &mut [u8], addr: LinkAddr) -> Result<(), ParseError> {
    match addr {
        LinkAddr::None => Ok(()),
        LinkAddr::Short(short) => put(out, short.to_le_bytes()),
        LinkAddr::Extended(eui) => put(out, reversed(eui)),
    }
}

/// An extended address goes over the air least significant byte first.
pub(crate) const fn reversed(eui: [u8; 8]) -> [u8; 8] {
    u64::from_le_bytes(eui).to_be_bytes()
}

const fn mode(addr: LinkAddr) -> u16 {
    match addr {
        LinkAddr::None => MODE_NONE,
        LinkAddr::Short(_) => MODE_SHORT,
        LinkAddr::Extended(_) => MODE_EXTENDED,
    }
}

#[cfg(test)]
mod tests;
