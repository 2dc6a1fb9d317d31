//! Captures in pcapng, as Wireshark reads them: one interface a node and one to the outside, times in nanoseconds of simulated time.
//!
//! The format is that of draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet blocks),
//! written as a stream. Little endian on every host, so that the same run gives the same bytes.

use std::io::{self, Write};

/// How frames stand in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// `LINKTYPE_IEEE802_15_4_TAP` (283): before each frame a header with what is known about its reception.
    #[default]
    Tap,
    /// `LINKTYPE_IEEE802_15_4_WITHFCS` (195): bare frames with their check sequence, for older tools.
    WithFcs,
}

impl LinkType {
    const fn number(self) -> u16 {
        match self {
            Self::Tap => 283,
            Self::WithFcs => 195,
        }
    }
}

/// A frame to write.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The interface, counted from 0 in the order in which interfaces were described.
    pub interface: u32,
    /// When the first symbol of the preamble left the antenna, in nanoseconds of simulated time.
    pub time_ns: u64,
    /// Channel number (page 0) for the TAP header.
    pub channel: u16,
    /// Received signal strength for the TAP header, where the frame was received.
    pub rss_dbm: Option<f32>,
    /// The MAC frame with its two bytes of check sequence.
    pub frame: &'a [u8],
    /// A comment that Wireshark shows with the frame; none if empty.
    pub comment: &'a str,
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_EUIADDR: u16 = 7;
const IF_TSRESOL: u16 = 9;

/// The longest comment in bytes: option lengths have 16 bits, and what is longer nobody reads.
const COMMENT_LEN_MAX: usize = 4096;

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    link_type: LinkType,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a capture; `application` names the program and version that made it.
    pub fn new(out: W, link_type: LinkType, application: &str) -> io::Result<Self> {
        let mut writer = Self {
            out,
            link_type,
            interfaces: 0,
            block: Vec::with_capacity(256),
        };
        writer.u32(0x1a2b_3c4d);
        writer.u16(1);
        writer.u16(0);
        writer.block.extend_from_slice(&u64::MAX.to_le_bytes()); // section length: not given
        writer.option(SHB_USERAPPL, application.as_bytes());
        writer.option(OPTION_END, &[]);
        writer.finish(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Describes an interface; gives its number.
    pub fn interface(&mut self, name: &str, eui64: Option<[u8; 8]>) -> io::Result<u32> {
        self.describe(self.link_type.number(), name, eui64)
    }

    /// Describes an interface that carries IP packets as they are (`LINKTYPE_RAW`, 101); gives its number.
    pub fn raw_interface(&mut self, name: &str) -> io::Result<u32> {
        self.describe(101, name, None)
    }

    fn describe(&mut self, link_type: u16, name: &str, eui64: Option<[u8; 8]>) -> io::Result<u32> {
        self.u16(link_type);
        self.u16(0);
        self.u32(0); // no limit on the captured length
        self.option(IF_NAME, name.as_bytes());
        if let Some(eui64) = eui64 {
            self.option(IF_EUIADDR, &eui64);
        }
        self.option(IF_TSRESOL, &[9]);
        self.option(OPTION_END, &[]);
        self.finish(INTERFACE_DESCRIPTION)?;
        let number = self.interfaces;
        self.interfaces += 1;
        Ok(number)
    }

    /// Writes a frame. Its interface must have been described.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        self.enhanced(packet, self.link_type == LinkType::Tap)
    }

    /// Writes what an interface that carries packets as they are has carried.
    pub fn raw_packet(&mut self, interface: u32, time_ns: u64, bytes: &[u8]) -> io::Result<()> {
        let packet = Packet {
            interface,
            time_ns,
            channel: 0,
            rss_dbm: None,
            frame: bytes,
            comment: "",
        };
        self.enhanced(&packet, false)
    }

    fn enhanced(&mut self, packet: &Packet<'_>, with_tap: bool) -> io::Result<()> {
        if packet.interface >= self.interfaces {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a frame of an interface that was not described",
            ));
        }
        self.u32(packet.interface);
        self.u32((packet.time_ns >> 32) as u32);
        self.u32(packet.time_ns as u32);
        let lengths_at = self.block.len();
        self.u32(0);
        self.u32(0);
        let data_at = self.block.len();
        if with_tap {
            self.tap_header(packet);
        }
        self.block.extend_from_slice(packet.frame);
        let len = ((self.block.len() - data_at) as u32).to_le_bytes();
        self.block[lengths_at..lengths_at + 4].copy_from_slice(&len);
        self.block[lengths_at + 4..data_at].copy_from_slice(&len);
        self.pad();
        if !packet.comment.is_empty() {
            self.option(OPTION_COMMENT, shortened(packet.comment).as_bytes());
            self.option(OPTION_END, &[]);
        }
        self.finish(ENHANCED_PACKET)
    }

    /// Hands everything to the operating system and gives the output back.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// The TAP header: version 0, its length, and a list of (type, length, value), each padded to 4 bytes.
    fn tap_header(&mut self, packet: &Packet<'_>) {
        let start = self.block.len();
        self.u32(0);
        self.tlv(0, &[1]); // FCS type: the two bytes of ITU-T CRC-16
        if let Some(rss_dbm) = packet.rss_dbm {
            self.tlv(1, &rss_dbm.to_le_bytes());
        }
        let [low, high] = packet.channel.to_le_bytes();
        self.tlv(3, &[low, high, 0]); // channel and page
        let len = (self.block.len() - start) as u16;
        self.block[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    fn tlv(&mut self, kind: u16, value: &[u8]) {
        self.u16(kind);
        self.u16(value.len() as u16);
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.tlv(code, value);
    }

    fn u16(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    /// Fills up to a multiple of 4 bytes. All that comes before is a multiple of 4 long, so the block's length decides.
    fn pad(&mut self) {
        while !self.block.len().is_multiple_of(4) {
            self.block.push(0);
        }
    }

    /// Writes the collected body between type and the two lengths.
    fn finish(&mut self, kind: u32) -> io::Result<()> {
        let len = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&len)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&len)?;
        self.block.clear();
        Ok(())
    }
}

/// The comment, cut at a character's border if it is too long.
fn shortened(comment: &str) -> &str {
    let mut end = comment.len().min(COMMENT_LEN_MAX);
    while !comment.is_char_boundary(end) {
        end -= 1;
    }
    &comment[..end]
}

#[cfg(test)]
mod tests;
