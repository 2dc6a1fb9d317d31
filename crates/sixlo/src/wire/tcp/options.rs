//! The options of TCP: maximum segment size (RFC 9293 section 3.2), selective acknowledgement (RFC 2018), timestamps (RFC
//! 7323 section 3.2).

use super::seq::Seq;
use super::{Flags, OPTIONS_LEN_MAX};
use crate::wire::ParseError;

#[cfg(test)]
mod tests;

/// Blocks that the longest SACK option holds (RFC 2018 section 3).
pub const SACK_BLOCKS_MAX: usize = 4;

/// End of the list.
const END: u8 = 0;
/// No operation.
const NOP: u8 = 1;
/// Maximum segment size.
const MSS: u8 = 2;
/// Bytes of a maximum segment size.
const MSS_LEN: u8 = 4;
/// Selective acknowledgement is permitted.
const SACK_PERMITTED: u8 = 4;
/// Bytes of that permission.
const SACK_PERMITTED_LEN: u8 = 2;
/// Selective acknowledgement.
const SACK: u8 = 5;
/// Bytes of a block in it.
const SACK_BLOCK_LEN: usize = 8;
/// Timestamps.
const TIMESTAMPS: u8 = 8;
/// Bytes of timestamps.
const TIMESTAMPS_LEN: u8 = 10;

/// The timestamps (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock (`TSval`).
    pub value: u32,
    /// The timestamp that is echoed (`TSecr`), if the segment acknowledges.
    pub echo: u32,
}

/// A block of a selective acknowledgement (RFC 2018 section 3). What came in may be any two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its first sequence number.
    pub left: Seq,
    /// The sequence number behind its last one.
    pub right: Seq,
}

/// The blocks of a selective acknowledgement, in their order, at most [`SACK_BLOCKS_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    blocks: [Block; SACK_BLOCKS_MAX],
    len: u8,
}

impl Blocks {
    /// No block.
    pub const EMPTY: Self = Self {
        blocks: [Block {
            left: Seq(0),
            right: Seq(0),
        }; SACK_BLOCKS_MAX],
        len: 0,
    };

    /// Adds a block behind the others, unless there are as many as fit.
    pub fn push(&mut self, block: Block) {
        if let Some(room) = self.blocks.get_mut(usize::from(self.len)) {
            *room = block;
            self.len += 1;
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[Block] {
        self.blocks.get(..usize::from(self.len)).unwrap_or(&self.blocks)
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment that the sender of a SYN receives, as it says: any number.
    pub mss: Option<u16>,
    /// The sender of a SYN understands selective acknowledgement.
    pub sack_permitted: bool,
    /// The timestamps.
    pub timestamps: Option<Timestamps>,
    /// What is selectively acknowledged.
    pub sack: Blocks,
}

impl Options {
    /// No option.
    pub const NONE: Self = Self {
        mss: None,
        sack_permitted: false,
        timestamps: None,
        sack: Blocks::EMPTY,
    };

    /// Reads the options behind a header with these flags.
    ///
    /// An option that is not known is passed over (RFC 9293 section 3.1, MUST-6), and so is one whose length is not its own
    /// or that does not belong there: segment size and SACK permission without SYN (MUST-65; RFC 2018 section 2), SACK with
    /// it. A length that no option can have ends the list (MUST-7). Of several of a kind the last one counts. All of
    /// that as FreeBSD does.
    pub fn parse(bytes: &[u8], flags: Flags) -> Self {
        let mut options = Self::NONE;
        // The form that RFC 7323 appendix A recommends is what nearly every segment of a connection has.
        if let &[NOP, NOP, TIMESTAMPS, TIMESTAMPS_LEN, a, b, c, d, e, f, g, h] = bytes {
            options.timestamps = Some(timestamps([a, b, c, d, e, f, g, h]));
            return options;
        }
        let syn = flags.contains(Flags::SYN);
        let mut rest = bytes;
        loop {
            match *rest {
                [NOP, ref behind @ ..] => rest = behind,
                [kind, len, ..] if kind != END => {
                    let Some((option, behind)) = rest.split_at_checked(usize::from(len)) else {
                        return options;
                    };
                    let [_, _, data @ ..] = option else {
                        return options;
                    };
                    options.take(kind, data, syn);
                    rest = behind;
                }
                _ => return options,
            }
        }
    }

    /// Takes an option in.
    fn take(&mut self, kind: u8, data: &[u8], syn: bool) {
        match (kind, data) {
            (MSS, &[high, low]) if syn => self.mss = Some(u16::from_be_bytes([high, low])),
            (SACK_PERMITTED, []) if syn => self.sack_permitted = true,
            (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                self.timestamps = Some(timestamps([a, b, c, d, e, f, g, h]));
            }
            (SACK, data) if !syn => {
                let (blocks, []) = data.as_chunks::<SACK_BLOCK_LEN>() else {
                    return;
                };
                self.sack = Blocks::EMPTY;
                for &[a, b, c, d, e, f, g, h] in blocks {
                    self.sack.push(Block {
                        left: Seq(u32::from_be_bytes([a, b, c, d])),
                        right: Seq(u32::from_be_bytes([e, f, g, h])),
                    });
                }
            }
            _ => {}
        }
    }

    /// How many SACK blocks fit beside the other options (RFC 2018 section 3): 4, or 3 beside timestamps.
    pub const fn sack_room(&self) -> usize {
        (WORDS_MAX - 1 - self.words_before_sack()) / 2
    }

    /// Words of the options in front of SACK, without a SACK permission that shares the next word with what follows.
    const fn words_before_sack(&self) -> usize {
        self.mss.is_some() as usize + 3 * self.timestamps.is_some() as usize
    }

    /// The SACK blocks that are written.
    fn written_blocks(&self) -> &[Block] {
        let blocks = self.sack.as_slice();
        blocks.get(..self.sack_room()).unwrap_or(blocks)
    }

    /// Bytes that the options take, a multiple of 4.
    pub fn emit_len(&self) -> usize {
        let behind = match self.written_blocks().len() {
            0 => usize::from(self.sack_permitted && self.timestamps.is_none()),
            blocks => 1 + 2 * blocks,
        };
        4 * (self.words_before_sack() + behind)
    }

    /// Writes the options in front of `out` and says how long they are: a multiple of 4, at most [`OPTIONS_LEN_MAX`].
    ///
    /// The layout is FreeBSD's: segment size, SACK permission, timestamps and SACK, the last two behind as many
    /// no-operations as put their numbers on a boundary of 4 bytes; then end of list and zeros where anything is missing.
    /// SACK blocks that find no room are left out, from the last one on.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, ParseError> {
        let len = self.emit_len();
        let room = out.get_mut(..len).ok_or(ParseError::NoRoom)?;
        let mut words = room.as_chunks_mut().0.iter_mut();
        let mut put = |word: u32| {
            if let Some(room) = words.next() {
                *room = word.to_be_bytes();
            }
        };
        if let Some(mss) = self.mss {
            put(MSS_HEAD | u32::from(mss));
        }
        // The first half of the next word.
        let mut half = if self.sack_permitted { PERMISSION } else { NOPS };
        if let Some(Timestamps { value, echo }) = self.timestamps {
            put(half | TIMESTAMPS_HEAD);
            put(value);
            put(echo);
            half = NOPS;
        }
        let blocks = self.written_blocks();
        if !blocks.is_empty() {
            put(half | (SACK_HEAD + (SACK_BLOCK_LEN * blocks.len()) as u32));
            for block in blocks {
                put(block.left.0);
                put(block.right.0);
            }
        } else if half == PERMISSION {
            // With the end of the list.
            put(half);
        }
        Ok(len)
    }
}

/// Words that all options take at most.
const WORDS_MAX: usize = OPTIONS_LEN_MAX / 4;

/// Halves of words: two no-operations, and a SACK permission.
const NOPS: u32 = (NOP as u32) << 24 | (NOP as u32) << 16;
const PERMISSION: u32 = (SACK_PERMITTED as u32) << 24 | (SACK_PERMITTED_LEN as u32) << 16;

/// Kinds and lengths: in the first half of a word, and in the second; that of SACK without its blocks.
const MSS_HEAD: u32 = (MSS as u32) << 24 | (MSS_LEN as u32) << 16;
const TIMESTAMPS_HEAD: u32 = (TIMESTAMPS as u32) << 8 | TIMESTAMPS_LEN as u32;
const SACK_HEAD: u32 = (SACK as u32) << 8 | 2;

/// The data of a timestamps option.
const fn timestamps([a, b, c, d, e, f, g, h]: [u8; 8]) -> Timestamps {
    Timestamps {
        value: u32::from_be_bytes([a, b, c, d]),
        echo: u32::from_be_bytes([e, f, g, h]),
    }
}
