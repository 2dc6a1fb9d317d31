//! How addresses are compressed: the modes SAC, SAM and M, DAC, DAM (RFC 6282 section 3.1.1).
//!
//! There is one function that restores an address. The compressor asks it, too: a mode fits an address if it restores it.

use super::{Context, Contexts, Iid, Reader, Writer};
use crate::wire::ParseError;

/// SAC or DAC: with a context. Alone, and in a source, it stands for the unspecified address.
pub(super) const STATEFUL: u8 = 0b100;

/// M: the destination is a multicast address.
const MULTICAST: u8 = 0b1000;

/// The mode of a unicast address of which nothing is carried in line.
const ELIDED: u8 = 0b11;

/// What stands in for a context where there is none: link-local addresses begin with `fe80::/64`.
const LINK_LOCAL: Context = Context::new([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 64);

/// The bytes of an address that are carried in line, for each value of M, DAC and DAM (or SAC and SAM): the upper bit
/// stands for the first byte.
const INLINE: [u16; 16] = [
    // All of it, the lower 64 bits, the last 16, nothing.
    0xffff, 0x00ff, 0x0003, 0x0000, //
    // The same with a context; the first is the unspecified address.
    0x0000, 0x00ff, 0x0003, 0x0000, //
    // Multicast: all of it, `ffXX::00XX:XXXX:XXXX`, `ffXX::00XX:XXXX`, `ff02::00XX`.
    0xffff, 0x401f, 0x4007, 0x0001, //
    // `ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX`, and three that are reserved.
    0x600f, 0x0000, 0x0000, 0x0000,
];

/// Whether byte `i` of an address is carried in line.
const fn is_inline(bits: u8, i: usize) -> bool {
    INLINE[bits as usize & 0b1111] << i & 0x8000 != 0
}

/// How an address is compressed.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// SAC and SAM, or M, DAC and DAM.
    pub(super) bits: u8,
    /// The context, 0 also where none is used.
    pub(super) context: u8,
}

impl Form {
    /// The form of a source address.
    pub(super) fn source(address: &[u8; 16], iid: Iid, contexts: &[Context]) -> Self {
        if is_same(address, &[0; 16]) {
            return Self {
                bits: STATEFUL,
                context: 0,
            };
        }
        Self::unicast(address, iid, contexts)
    }

    /// The form of a destination address.
    pub(super) fn destination(address: &[u8; 16], iid: Iid, contexts: &[Context]) -> Self {
        if address[0] == 0xff {
            return Self::multicast(address, contexts);
        }
        Self::unicast(address, iid, contexts)
    }

    #[inline(never)]
    fn unicast(address: &[u8; 16], iid: Iid, contexts: &[Context]) -> Self {
        // Larger modes are shorter, and nothing is shorter than the last.
        let mut best = Self { bits: 0, context: 0 };
        let mut number = 0;
        let (mut context, mut stateful) = (&LINK_LOCAL, 0);
        let mut others = contexts.iter();
        loop {
            if may_cover(context, address) {
                let is_shorter = |mode: &u8| *mode > best.bits & ELIDED;
                let fits = |mode: &u8| fits(stateful | mode, context, iid, address);
                let mode = match usual(context, iid) {
                    Some(usual) if is_same(&usual, address) => Some(ELIDED),
                    _ => [ELIDED, 0b10, 0b01].into_iter().take_while(is_shorter).find(fits),
                };
                if let Some(mode) = mode {
                    best = Self {
                        bits: stateful | mode,
                        context: number,
                    };
                }
            }
            // The first context follows the link-local prefix, which has no number.
            number += stateful >> 2;
            stateful = STATEFUL;
            context = match others.next() {
                Some(context) if best.bits & ELIDED != ELIDED => context,
                _ => return best,
            };
        }
    }

    /// RFC 6282 sections 3.2.3 and 3.2.4.
    #[inline(never)]
    fn multicast(address: &[u8; 16], contexts: &[Context]) -> Self {
        for mode in [0b11, 0b10, 0b01] {
            let bits = MULTICAST | mode;
            if fits(bits, &LINK_LOCAL, None, address) {
                return Self { bits, context: 0 };
            }
        }
        let bits = MULTICAST | STATEFUL;
        for (number, context) in contexts.iter().enumerate() {
            if context.is_set() && context.valid_for_compression && fits(bits, context, None, address) {
                let context = number as u8;
                return Self { bits, context };
            }
        }
        Self {
            bits: MULTICAST,
            context: 0,
        }
    }

    /// Writes what of the address is carried in line.
    pub(super) fn put_inline(self, address: &[u8; 16], out: &mut Writer<'_>) {
        if INLINE[usize::from(self.bits & 0b1111)] == 0 {
            return;
        }
        for (i, byte) in address.iter().enumerate() {
            if is_inline(self.bits, i) {
                out.put(*byte);
            }
        }
    }
}

/// Whether a context may be used to compress an address, as far as a look at its beginning tells.
fn may_cover(context: &Context, address: &[u8; 16]) -> bool {
    let ([a, b, ..], [c, d, ..]) = (context.prefix, *address);
    context.is_set() && context.valid_for_compression && (context.prefix_len < 16 || [a, b] == [c, d])
}

/// The address of which nothing is carried in line, with a prefix as long as prefixes usually are. That the usual is
/// known beforehand is worth a fifth of the instructions of a compression.
fn usual(context: &Context, iid: Iid) -> Option<[u8; 16]> {
    let (&[a, b, c, d, e, f, g, h, ..], [i, j, k, l, m, n, o, p]) = (&context.prefix, iid?);
    let address = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p];
    (context.prefix_len == 64).then_some(address)
}

/// Whether an address comes back if it is compressed so.
#[inline(never)]
fn fits(bits: u8, context: &Context, iid: Iid, address: &[u8; 16]) -> bool {
    let (mut inline, mut restored) = ([0; 16], [0; 16]);
    Form { bits, context: 0 }.put_inline(address, &mut Writer::new(&mut inline));
    restore_with(bits, context, iid, &mut Reader::new(&inline), &mut restored).is_ok()
        && is_same(&restored, address)
}

/// Restores an address: `bits` are SAC and SAM, or M, DAC and DAM, `number` is that of the context, if one is needed.
pub(super) fn restore(
    bits: u8,
    number: u8,
    iid: Iid,
    contexts: &Contexts<'_>,
    input: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), ParseError> {
    let context = match bits & STATEFUL {
        0 => &LINK_LOCAL,
        _ if bits == STATEFUL => &LINK_LOCAL,
        _ => contexts.get(number)?,
    };
    match usual(context, iid) {
        Some(usual) if bits & (MULTICAST | ELIDED) == ELIDED => {
            *address = usual;
            Ok(())
        }
        _ => restore_with(bits, context, iid, input, address),
    }
}

#[inline(never)]
fn restore_with(
    bits: u8,
    context: &Context,
    iid: Iid,
    input: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), ParseError> {
    *address = [0; 16];
    let is_unicast = bits & MULTICAST == 0;
    if !is_unicast {
        address[0] = 0xff;
        if bits & ELIDED == ELIDED {
            address[1] = 0x02;
        } else if bits & STATEFUL != 0 {
            // There is no such address with a longer prefix (RFC 3306 section 4).
            if context.prefix_len > 64 {
                return Err(ParseError::Forbidden);
            }
            let mut prefix = [0; 16];
            overlay(&mut prefix, context);
            let [a, b, c, d, e, f, g, h, ..] = prefix;
            let [_, _, _, len, place @ ..] = address;
            *len = context.prefix_len;
            if let Some(place) = place.first_chunk_mut() {
                *place = [a, b, c, d, e, f, g, h];
            }
        }
    } else if bits & ELIDED == ELIDED {
        let [.., a, b, c, d, e, f, g, h] = address;
        match iid {
            Some(iid) => [*a, *b, *c, *d, *e, *f, *g, *h] = iid,
            // The frame has no address from which to derive it.
            None if context.prefix_len < 128 => return Err(ParseError::Forbidden),
            None => {}
        }
    } else if bits & ELIDED == 0b10 {
        // `0000:00ff:fe00:XXXX`.
        address[11] = 0xff;
        address[12] = 0xfe;
    }
    if INLINE[usize::from(bits & 0b1111)] != 0 {
        for (i, byte) in address.iter_mut().enumerate() {
            if is_inline(bits, i) {
                *byte = input.byte();
            }
        }
    }
    if is_unicast && bits & ELIDED != 0 {
        overlay(address, context);
    }
    Ok(())
}

/// Puts the prefix of a context in the place of the first bits of an address.
#[inline(never)]
fn overlay(address: &mut [u8; 16], context: &Context) {
    let (words, _) = address.as_chunks_mut::<4>();
    let (prefix, _) = context.prefix.as_chunks::<4>();
    let mut left = u32::from(context.prefix_len);
    for (word, prefix) in words.iter_mut().zip(prefix) {
        if left == 0 {
            break;
        }
        let open = u32::MAX.checked_shr(left).unwrap_or(0);
        let known = u32::from_be_bytes(*prefix) & !open;
        *word = (known | u32::from_be_bytes(*word) & open).to_be_bytes();
        left = left.saturating_sub(32);
    }
}

/// Whether two addresses are the same, in a third of what the comparison of slices takes.
fn is_same(a: &[u8; 16], b: &[u8; 16]) -> bool {
    u128::from_ne_bytes(*a) == u128::from_ne_bytes(*b)
}
