//! How addresses are compressed: the modes SAC, SAM and M, DAC, DAM (RFC 6282 section 3.1.1).

use super::{Context, Contexts, Iid, Reader, Writer};
use crate::wire::ParseError;
use crate::wire::addr::common_prefix_len;

/// SAC or DAC: with a context. Alone, and in a source, it stands for the unspecified address.
const STATEFUL: u32 = 0b100;

/// M: the destination is a multicast address.
const MULTICAST: u32 = 0b1000;

/// The mode of a unicast address of which nothing is carried in line.
const ELIDED: u32 = 0b11;

/// What stands in for a context where there is none: link-local addresses begin with `fe80::/64`.
const LINK_LOCAL: Context = Context::new([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 64);

/// How many bytes of an address are carried in line, for each value of M, DAC and DAM (or SAC and SAM): the lower digit
/// (of base 32) at its end, the upper digit behind its first byte.
const INLINE: [u8; 16] = [
    // All of it, the lower 64 bits, the last 16, nothing.
    16,
    8,
    2,
    0, //
    // The same with a context; the first is the unspecified address.
    0,
    8,
    2,
    0, //
    // Multicast: all of it, `ffXX::00XX:XXXX:XXXX`, `ffXX::00XX:XXXX`, `ff02::00XX`.
    16,
    32 + 5,
    32 + 3,
    1, //
    // `ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX`, and three that are reserved.
    64 + 4,
    0,
    0,
    0,
];

/// The bytes of an address that are carried in line: where the upper ones end, and where the lower ones begin.
const fn inline(bits: u32) -> (usize, usize) {
    let lens = INLINE[bits as usize % INLINE.len()] as usize;
    (1 + lens / 32, 16 - lens % 32)
}

/// How an address is compressed.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// SAC and SAM, or M, DAC and DAM.
    pub(super) bits: u32,
    /// The context, 0 also where none is used.
    pub(super) context: u32,
}

impl Form {
    /// The form of the unspecified address, in a source.
    pub(super) const UNSPECIFIED: Self = Self {
        bits: STATEFUL,
        context: 0,
    };

    /// The form of a unicast address; also of any source, except the unspecified address.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn unicast(address: &[u8; 16], iid: &Iid, contexts: &[Context]) -> Self {
        let [_, _, _, _, _, _, _, _, own @ ..] = *address;
        let [.., high, low] = own;
        let short = [0, 0, 0, 0xff, 0xfe, 0, high, low];
        let mode = |context: &Context| {
            let len = u32::from(context.prefix_len).min(128);
            // The prefix must cover what differs from what would be restored.
            let covers = |low: &[u8; 8]| last_difference(address, low) <= len;
            if common_prefix_len(&context.prefix, address) < len {
                0
            } else if iid.as_ref().map_or(len == 128, covers) {
                ELIDED
            } else if covers(&short) {
                0b10
            } else {
                covers(&own).into()
            }
        };
        // Larger modes are shorter, and nothing is shorter than the last.
        let mut best = Self { bits: 0, context: 0 };
        let mut number = 0;
        let (mut context, mut stateful) = (&LINK_LOCAL, 0);
        let mut others = contexts.iter();
        loop {
            if may_compress(context) {
                let mode = mode(context);
                if mode > best.bits & ELIDED {
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

    /// The form of a multicast address (RFC 6282 sections 3.2.3 and 3.2.4).
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn multicast(address: &[u8; 16], contexts: &[Context]) -> Self {
        let mut bits = MULTICAST;
        let mut context = 0;
        // Where the first bit that is not zero lies behind flags and scope.
        let mut group = *address;
        [group[0], group[1]] = [0; 2];
        match common_prefix_len(&group, &[0; 16]) {
            120.. if address[1] == 2 => bits |= 0b11,
            104.. => bits |= 0b10,
            88.. => bits |= 0b01,
            _ => {
                let [_, _, _, len, a, b, c, d, e, f, g, h, ..] = *address;
                let prefix = [a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0];
                if let Some(number) = contexts.iter().position(|context| {
                    may_compress(context)
                        && context.prefix_len == len
                        && len <= 64
                        && common_prefix_len(&context.prefix, &prefix) >= u32::from(len)
                        && last_difference(&prefix, &[0; 8]) <= u32::from(len)
                }) {
                    bits |= STATEFUL;
                    context = number as u32;
                }
            }
        }
        Self { bits, context }
    }

    /// Writes what of the address is carried in line.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn put_inline(self, address: &[u8; 16], out: &mut Writer<'_>) {
        let (high_end, low) = inline(self.bits);
        if low == 16 {
            return;
        }
        out.put_slice(address.get(1..high_end).unwrap_or_default());
        out.put_slice(address.get(low..).unwrap_or_default());
    }
}

/// Whether there is a context, and it serves for compression, too.
const fn may_compress(context: &Context) -> bool {
    context.is_set() && context.valid_for_compression
}

/// Up to which bit an address differs from the one of which only the lower half is not zero.
#[cfg_attr(target_os = "none", inline(never))]
fn last_difference(address: &[u8; 16], low: &[u8; 8]) -> u32 {
    let [a, b, c, d, e, f, g, h] = *low;
    let other = [0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d, e, f, g, h];
    let ((words, _), (others, _)) = (address.as_chunks(), other.as_chunks());
    let mut end = 128;
    for (word, other) in words.iter().zip(others).rev() {
        let differs = usize::from_be_bytes(*word) ^ usize::from_be_bytes(*other);
        end -= differs.trailing_zeros();
        if differs != 0 {
            break;
        }
    }
    end
}

/// Restores an address in a place of zeros: `bits` are SAC and SAM, or M, DAC and DAM, `number` is that of the context, if
/// one is needed.
pub(super) fn restore(
    bits: u32,
    number: u32,
    iid: &Iid,
    contexts: &Contexts<'_>,
    input: &mut Reader<'_>,
    address: &mut [u8; 16],
) -> Result<(), ParseError> {
    let (high_end, low) = inline(bits);
    if low != 16 {
        input.read(address.get_mut(1..high_end).unwrap_or_default());
        input.read(address.get_mut(low..).unwrap_or_default());
    }
    let mode = bits & ELIDED;
    if mode == 0 && bits != MULTICAST | STATEFUL {
        // All of it was in line, or nothing is to be restored.
        return Ok(());
    }
    let context = match bits & STATEFUL {
        0 => &LINK_LOCAL,
        _ => contexts.get(number as u8)?,
    };
    if bits & MULTICAST != 0 {
        address[0] = 0xff;
        if mode == ELIDED {
            address[1] = 0x02;
        } else if mode == 0 {
            // There is no such address with a longer prefix (RFC 3306 section 4).
            if context.prefix_len > 64 {
                return Err(ParseError::Forbidden);
            }
            let mut prefix = [0; 16];
            overlay(&mut prefix, context);
            let [a, b, c, d, e, f, g, h, ..] = prefix;
            let [_, _, _, place @ .., _, _, _, _] = address;
            *place = [context.prefix_len, a, b, c, d, e, f, g, h];
        }
        return Ok(());
    }
    if mode == 0b10 {
        // `0000:00ff:fe00:XXXX`.
        address[11] = 0xff;
        address[12] = 0xfe;
    } else if mode == ELIDED {
        match (iid, address.last_chunk_mut()) {
            (Some(iid), Some(place)) => *place = *iid,
            // The frame has no address from which to derive it.
            _ if context.prefix_len < 128 => return Err(ParseError::Forbidden),
            _ => {}
        }
    }
    overlay(address, context);
    Ok(())
}

/// Puts the prefix of a context in the place of the first bits of an address.
#[cfg_attr(target_os = "none", inline(never))]
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
