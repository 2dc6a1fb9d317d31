//! Generic header compression (RFC 7400): a bytecode for headers and header-like payloads that have no compressed form
//! of their own.
//!
//! What is compressed is preceded, on both sides, by a [`dictionary`] of the packet's addresses and 16 fixed bytes, to
//! which the bytecode can refer as to what it wrote already. ICMPv6 messages and UDP payloads end with the packet
//! ([`compress`], [`decompress`]); an extension header ends with a stop code ([`compress_header`],
//! [`decompress_header`]).

use core::net::Ipv6Addr;

use super::ParseError;

#[cfg(test)]
mod tests;

/// The type of the 6LoWPAN capability indication option of neighbour discovery (RFC 7400 section 4).
pub const CAPABILITY_OPTION: u8 = 36;

/// The G bit in the first 16 flags of that option: its sender takes packets with GHC (RFC 7400 section 3.3).
pub const CAPABILITY_GHC: u16 = 0x0001;

/// Bytes of the dictionary.
pub const DICTIONARY_LEN: usize = 48;

/// The fixed part of the dictionary (RFC 7400 figure 1).
const STATIC_DICTIONARY: [u8; 16] = [
    0x16, 0xfe, 0xfd, 0x17, 0xfe, 0xfd, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
];

/// The most bytes that one literal code takes (RFC 7400 table 1: k < 96).
const LITERAL_MAX: usize = 95;

/// The most zeroes that one code stands for.
const ZEROES_MAX: usize = 17;

/// The fewest bytes that a code for zeroes or a backreference stands for.
const COPY_MIN: usize = 2;

/// The code that ends an extension header.
const STOP: u8 = 0x90;

/// How far to the left the compressor looks for what it could refer to, in bytes. Further back a reference takes four
/// bytes and more.
const REACH: usize = 256;

/// What a byte of next header compression says about GHC (RFC 7400 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nhc {
    /// `10110EEN`: an extension header without its length, ended by a stop code.
    Extension {
        /// Which extension header: 0 to 3 (RFC 6282 section 4.2: hop-by-hop options, routing, fragment, destination
        /// options).
        eid: u8,
        /// The next header is compressed as well, and its number is left out.
        next_compressed: bool,
    },
    /// `11010CPP`: a UDP header as RFC 6282 section 4.3 has it, with a compressed payload.
    Udp {
        /// The checksum is left out.
        checksum_elided: bool,
        /// Which form the ports have, 0 to 3.
        ports: u8,
    },
    /// `11011111`: an ICMPv6 message.
    Icmpv6,
}

impl Nhc {
    /// What the byte says; none if it is not of GHC.
    pub const fn parse(byte: u8) -> Option<Self> {
        match byte {
            0b1011_0000..=0b1011_0111 => Some(Self::Extension {
                eid: byte >> 1 & 0b11,
                next_compressed: byte & 1 != 0,
            }),
            0b1101_0000..=0b1101_0111 => Some(Self::Udp {
                checksum_elided: byte & 0b100 != 0,
                ports: byte & 0b11,
            }),
            0b1101_1111 => Some(Self::Icmpv6),
            _ => None,
        }
    }

    /// The byte that says this. Of `eid` and `ports` the lowest two bits count.
    pub const fn emit(self) -> u8 {
        match self {
            Self::Extension { eid, next_compressed } => {
                0b1011_0000 | (eid & 0b11) << 1 | next_compressed as u8
            }
            Self::Udp {
                checksum_elided,
                ports,
            } => 0b1101_0000 | (checksum_elided as u8) << 2 | ports & 0b11,
            Self::Icmpv6 => 0b1101_1111,
        }
    }
}

/// The dictionary of a packet from `source` to `destination` (RFC 7400 section 2).
pub fn dictionary(source: &Ipv6Addr, destination: &Ipv6Addr) -> [u8; DICTIONARY_LEN] {
    let mut bytes = [0; DICTIONARY_LEN];
    let parts = source.octets().into_iter().chain(destination.octets());
    for (to, from) in bytes.iter_mut().zip(parts.chain(STATIC_DICTIONARY)) {
        *to = from;
    }
    bytes
}

/// Expands `input`, the compressed payload of a packet, into `out`; says how many bytes it became.
///
/// The work is bounded by the bytes of `input` and of `out`, whatever the bytecode says.
///
/// # Errors
///
/// [`Truncated`](ParseError::Truncated) if the input ends in a literal, [`Reserved`](ParseError::Reserved) for a reserved
/// code, [`Length`](ParseError::Length) for a reference to before the dictionary and for bytes behind a stop code,
/// [`NoRoom`](ParseError::NoRoom) if `out` is too short.
pub fn decompress(
    dictionary: &[u8; DICTIONARY_LEN],
    input: &[u8],
    out: &mut [u8],
) -> Result<usize, ParseError> {
    match expand(dictionary, input, out)? {
        (len, None | Some([])) => Ok(len),
        (_, Some(_)) => Err(ParseError::Length),
    }
}

/// Expands a compressed extension header, which ends at a stop code, into `out`; gives how many bytes it became and what
/// follows the stop code. The header's length, and in [`Nhc::Extension`] its next header, are not among the bytes.
///
/// # Errors
///
/// As [`decompress`]; [`Truncated`](ParseError::Truncated) also if there is no stop code (RFC 7400 section 3.2).
pub fn decompress_header<'i>(
    dictionary: &[u8; DICTIONARY_LEN],
    input: &'i [u8],
    out: &mut [u8],
) -> Result<(usize, &'i [u8]), ParseError> {
    let (len, rest) = expand(dictionary, input, out)?;
    rest.map(|rest| (len, rest)).ok_or(ParseError::Truncated)
}

/// Compresses a payload into `out`; says how many bytes it became: at most one more for each 95 bytes begun.
///
/// # Errors
///
/// [`NoRoom`](ParseError::NoRoom) if `out` is too short.
pub fn compress(
    dictionary: &[u8; DICTIONARY_LEN],
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, ParseError> {
    let history = History { dictionary, payload };
    let mut code = Code { out, len: 0 };
    let (mut done, mut at) = (0, 0);
    while at < payload.len() {
        let best = history.best(at);
        if best.saving() == 0 || history.is_better_later(at, best, done == at) {
            at += 1;
            continue;
        }
        code.literals(payload.get(done..at).unwrap_or_default())?;
        code.piece(best)?;
        at += best.len();
        done = at;
    }
    code.literals(payload.get(done..).unwrap_or_default())?;
    Ok(code.len)
}

/// Compresses an extension header into `out` and ends it with a stop code; says how many bytes it became.
///
/// # Errors
///
/// [`NoRoom`](ParseError::NoRoom) if `out` is too short.
pub fn compress_header(
    dictionary: &[u8; DICTIONARY_LEN],
    header: &[u8],
    out: &mut [u8],
) -> Result<usize, ParseError> {
    let len = compress(dictionary, header, out)?;
    *out.get_mut(len).ok_or(ParseError::NoRoom)? = STOP;
    Ok(len + 1)
}

/// Runs the bytecode of RFC 7400 table 1. Gives the bytes written, and what follows the stop code if there is one.
fn expand<'i>(
    dictionary: &[u8; DICTIONARY_LEN],
    input: &'i [u8],
    out: &mut [u8],
) -> Result<(usize, Option<&'i [u8]>), ParseError> {
    let mut rest = input;
    let mut len = 0;
    let (mut more_back, mut more_len) = (0_usize, 0_usize);
    while let [code, behind @ ..] = rest {
        rest = behind;
        let argument = usize::from(*code);
        match code {
            0x00..0x60 => {
                let (literal, behind) = rest.split_at_checked(argument).ok_or(ParseError::Truncated)?;
                room(out, len, argument)?.copy_from_slice(literal);
                rest = behind;
                len += argument;
            }
            0x80..0x90 => {
                let n = (argument & 0x0f) + COPY_MIN;
                room(out, len, n)?.fill(0);
                len += n;
            }
            &STOP => return Ok((len, Some(rest))),
            0xa0..0xc0 => {
                more_back = more_back.saturating_add((argument & 0x0f) << 3);
                more_len = more_len.saturating_add((argument & 0x10) >> 1);
            }
            0xc0.. => {
                let n = (argument >> 3 & 0x07)
                    .saturating_add(COPY_MIN)
                    .saturating_add(more_len);
                let back = (argument & 0x07).saturating_add(more_back).saturating_add(n);
                refer(dictionary, out, len, back, n)?;
                len += n;
                (more_back, more_len) = (0, 0);
            }
            0x60..0x80 | 0x91..0xa0 => return Err(ParseError::Reserved),
        }
    }
    Ok((len, None))
}

/// The next `n` bytes of `out` behind the first `len`.
fn room(out: &mut [u8], len: usize, n: usize) -> Result<&mut [u8], ParseError> {
    out.get_mut(len..)
        .and_then(|free| free.get_mut(..n))
        .ok_or(ParseError::NoRoom)
}

/// Appends to the `len` bytes of `out` the `n` bytes that begin `back` bytes before their end, `back` being no less than
/// `n`; the dictionary stands before them.
fn refer(
    dictionary: &[u8; DICTIONARY_LEN],
    out: &mut [u8],
    len: usize,
    back: usize,
    n: usize,
) -> Result<(), ParseError> {
    let (written, free) = out.split_at_mut_checked(len).ok_or(ParseError::NoRoom)?;
    let to = free.get_mut(..n).ok_or(ParseError::NoRoom)?;
    let start = (DICTIONARY_LEN + len)
        .checked_sub(back)
        .ok_or(ParseError::Length)?;
    let old = dictionary.iter().chain(&*written).skip(start);
    for (to, from) in to.iter_mut().zip(old) {
        *to = *from;
    }
    Ok(())
}

/// A way to write the bytes at some place shorter than they are.
#[derive(Clone, Copy)]
enum Piece {
    /// So many zeroes, or none.
    Zeroes(usize),
    /// So many bytes that end `gap` bytes before the place.
    Reference { len: usize, gap: usize },
}

impl Piece {
    fn len(self) -> usize {
        match self {
            Self::Zeroes(len) | Self::Reference { len, .. } => len,
        }
    }

    /// Codes that extend the arguments of the reference: each adds up to 8 to its length and 120 to its distance.
    fn extensions(self) -> usize {
        match self {
            Self::Zeroes(_) => 0,
            Self::Reference { len, gap } => (len.saturating_sub(COPY_MIN) / 8).max((gap / 8).div_ceil(15)),
        }
    }

    /// Bytes that it takes less than its bytes themselves.
    fn saving(self) -> usize {
        self.len().saturating_sub(self.extensions() + 1)
    }
}

/// What the compressor can refer to, and what it still has to write.
struct History<'h> {
    dictionary: &'h [u8; DICTIONARY_LEN],
    payload: &'h [u8],
}

impl History<'_> {
    /// The piece that saves most at byte `at` of the payload; of several the longest.
    fn best(&self, at: usize) -> Piece {
        let ahead = self.payload.get(at..).unwrap_or_default();
        let zeroes = ahead
            .iter()
            .take(ZEROES_MAX)
            .take_while(|&&byte| byte == 0)
            .count();
        let mut best = Piece::Zeroes(zeroes);
        for back in COPY_MIN..=REACH.min(DICTIONARY_LEN + at) {
            let old = self.behind(DICTIONARY_LEN + at - back);
            let len = old
                .zip(ahead)
                .take(back)
                .take_while(|(old, new)| old == new)
                .count();
            if len < COPY_MIN {
                continue;
            }
            let piece = Piece::Reference { len, gap: back - len };
            if (piece.saving(), len) > (best.saving(), best.len()) {
                best = piece;
            }
        }
        best
    }

    /// Whether a literal byte at `at`, and the piece that fits behind it, save more than `best` with the piece that fits
    /// behind that. A literal costs a byte more if it has to be opened.
    fn is_better_later(&self, at: usize, best: Piece, opens: bool) -> bool {
        let later = self.best(at + 1).saving();
        let now = best.saving() + usize::from(opens);
        later > now && later > now + self.best(at + best.len()).saving()
    }

    /// Dictionary and payload, from a place in the dictionary or behind it.
    fn behind(&self, start: usize) -> impl Iterator<Item = &u8> {
        let dictionary = self.dictionary.get(start..).unwrap_or_default();
        let payload = self
            .payload
            .get(start.saturating_sub(DICTIONARY_LEN)..)
            .unwrap_or_default();
        dictionary.iter().chain(payload)
    }
}

/// The bytecode that the compressor has written.
struct Code<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Code<'_> {
    fn byte(&mut self, code: u8) -> Result<(), ParseError> {
        *self.out.get_mut(self.len).ok_or(ParseError::NoRoom)? = code;
        self.len += 1;
        Ok(())
    }

    fn literals(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        for literal in bytes.chunks(LITERAL_MAX) {
            self.byte(literal.len() as u8)?;
            room(self.out, self.len, literal.len())?.copy_from_slice(literal);
            self.len += literal.len();
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece) -> Result<(), ParseError> {
        let (len, gap) = match piece {
            Piece::Zeroes(len) => return self.byte(0x80 | (len - COPY_MIN) as u8),
            Piece::Reference { len, gap } => (len - COPY_MIN, gap),
        };
        let (mut longer, mut further) = (len / 8, gap / 8);
        for _ in 0..piece.extensions() {
            let (n, s) = (longer.min(1), further.min(15));
            self.byte(0xa0 | (n << 4 | s) as u8)?;
            (longer, further) = (longer - n, further - s);
        }
        self.byte(0xc0 | ((len % 8) << 3) as u8 | (gap % 8) as u8)
    }
}
