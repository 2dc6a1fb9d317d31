//! How addresses are compressed: the modes SAC, SAM and M, DAC, DAM (RFC 6282 section 3.1.1).

use super::{Context, Contexts, Iid, Writer, take};
use crate::wire::ParseError;

/// The upper half of link-local addresses, `fe80::/64`.
const LINK_LOCAL: u64 = 0xfe80 << 48;

/// The lower half of addresses whose last 16 bits only are carried: `0000:00ff:fe00:XXXX`.
const SHORT: u64 = 0x0000_00ff_fe00_0000;

/// SAC or DAC: with a context.
const STATEFUL: u8 = 0b100;

/// The modes that leave nothing in line, beside [`STATEFUL`] alone for the unspecified address.
const ELIDED: u8 = 0b11;
const STATEFUL_ELIDED: u8 = STATEFUL | ELIDED;

/// M: the destination is a multicast address.
const MULTICAST: u8 = 0b1000;

/// An address as two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Halves {
    pub(super) high: u64,
    pub(super) low: u64,
}

impl Halves {
    pub(super) const fn new(address: &[u8; 16]) -> Self {
        Self::of(u128::from_be_bytes(*address))
    }

    const fn of(bits: u128) -> Self {
        Self {
            high: (bits >> 64) as u64,
            low: bits as u64,
        }
    }

    pub(super) fn octets(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_be_bytes()
    }
}

/// A context as masked halves, with the mask of the lower one.
struct Prefix {
    value: Halves,
    low_mask: u64,
}

impl Prefix {
    #[inline(always)]
    fn new(context: &Context) -> Self {
        let value = Halves::new(&context.prefix);
        // The common length needs no mask at all.
        if context.prefix_len == 64 {
            return Self {
                value: Halves {
                    high: value.high,
                    low: 0,
                },
                low_mask: 0,
            };
        }
        let mask = mask(context.prefix_len);
        let value = Halves {
            high: value.high & mask.high,
            low: value.low & mask.low,
        };
        Self {
            value,
            low_mask: mask.low,
        }
    }
}

/// The first `len` bits.
#[inline(never)]
fn mask(len: u8) -> Halves {
    Halves::of(!u128::MAX.checked_shr(u32::from(len)).unwrap_or(0))
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
    #[inline(always)]
    pub(super) fn source(address: Halves, iid: Iid, contexts: &[Context]) -> Self {
        if address.high | address.low == 0 {
            return Self {
                bits: STATEFUL,
                context: 0,
            };
        }
        Self::unicast(address, iid, contexts)
    }

    /// The form of a destination address.
    #[inline(always)]
    pub(super) fn destination(address: Halves, iid: Iid, contexts: &[Context]) -> Self {
        if address.high >> 56 == 0xff {
            return Self::multicast(address, contexts);
        }
        Self::unicast(address, iid, contexts)
    }

    #[inline(always)]
    fn unicast(address: Halves, iid: Iid, contexts: &[Context]) -> Self {
        // Larger modes are shorter, and nothing is shorter than the last.
        let mut best = Self { bits: 0, context: 0 };
        if address.high == LINK_LOCAL {
            best.bits = mode(address.low, iid, u64::MAX);
            if best.bits == ELIDED {
                return best;
            }
        }
        for (number, context) in contexts.iter().enumerate() {
            let mode = mode_with(context, address, iid);
            if mode > best.bits & ELIDED {
                best = Self {
                    bits: STATEFUL | mode,
                    context: number as u8,
                };
                if mode == ELIDED {
                    break;
                }
            }
        }
        best
    }

    /// RFC 6282 sections 3.2.3 and 3.2.4.
    #[inline(never)]
    fn multicast(address: Halves, contexts: &[Context]) -> Self {
        let form = |mode| Self {
            bits: MULTICAST | mode,
            context: 0,
        };
        if address.high << 16 == 0 {
            if address.high == 0xff02 << 48 && address.low <= 0xff {
                return form(0b11);
            } else if address.low <= 0xff_ffff {
                return form(0b10);
            } else if address.low <= 0xff_ffff_ffff {
                return form(0b01);
            }
        }
        for (number, context) in contexts.iter().enumerate() {
            // RFC 3306 section 4 has room for 64 bits of prefix.
            if context.valid_for_compression
                && matches!(context.prefix_len, 1..=64)
                && prefixed(address, context) == address
            {
                return Self {
                    bits: MULTICAST | STATEFUL,
                    context: number as u8,
                };
            }
        }
        form(0)
    }

    /// Writes what of the address is carried in line.
    #[inline(always)]
    pub(super) fn put_inline<'a>(
        self,
        address: &[u8; 16],
        out: Writer<'a>,
    ) -> Result<Writer<'a>, ParseError> {
        if matches!(self.bits, ELIDED | STATEFUL_ELIDED | STATEFUL) {
            Ok(out)
        } else {
            put_inline(self.bits, address, out)
        }
    }
}

/// SAM or DAM of the shortest form of a unicast address with this context, 0 if it does not cover the address or must
/// not be used.
#[inline(always)]
fn mode_with(context: &Context, address: Halves, iid: Iid) -> u8 {
    if !context.valid_for_compression {
        return 0;
    }
    if context.prefix_len != 64 {
        return mode_with_any_len(context, address, iid);
    }
    // The common length needs no mask.
    if Halves::new(&context.prefix).high != address.high {
        return 0;
    }
    mode(address.low, iid, u64::MAX)
}

#[inline(never)]
fn mode_with_any_len(context: &Context, address: Halves, iid: Iid) -> u8 {
    let Prefix { value, low_mask } = Prefix::new(context);
    if !context.is_set() || address.high != value.high || address.low & low_mask != value.low {
        return 0;
    }
    mode(address.low, iid, !low_mask)
}

/// SAM or DAM of the shortest form of the lower half of a unicast address, of which the bits in `open` are not known.
#[inline(always)]
const fn mode(low: u64, iid: Iid, open: u64) -> u8 {
    if (low ^ iid.value | iid.unknown) & open == 0 {
        0b11
    } else if (low ^ SHORT) & open & !0xffff == 0 {
        0b10
    } else {
        0b01
    }
}

/// Writes what `bits` (SAC and SAM, or M, DAC and DAM) leave in line of an address.
#[inline(never)]
fn put_inline<'a>(bits: u8, address: &[u8; 16], mut out: Writer<'a>) -> Result<Writer<'a>, ParseError> {
    let [_, scope, riid, .., i, j, k, l, m, n, o, p] = *address;
    match bits {
        // Modes 0, of unicast and multicast addresses without context.
        0b0000 | 0b1000 => out.put(*address)?,
        0b0001 | 0b0101 => out.put([i, j, k, l, m, n, o, p])?,
        0b0010 | 0b0110 => out.put([o, p])?,
        0b1001 => out.put([scope, l, m, n, o, p])?,
        0b1010 => out.put([scope, n, o, p])?,
        0b1011 => out.put([p])?,
        0b1100 => out.put([scope, riid, m, n, o, p])?,
        _ => {}
    }
    Ok(out)
}

/// The multicast address of the form `ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX` with length and prefix of the context
/// and the rest of `address` (RFC 6282 section 3.2.4).
fn prefixed(address: Halves, context: &Context) -> Halves {
    let prefix = Prefix::new(context).value.high;
    let high = address.high & 0xffff_ff00 << 32 | u64::from(context.prefix_len) << 32 | prefix >> 32;
    let low = prefix << 32 | address.low & 0xffff_ffff;
    Halves { high, low }
}

/// Restores a source address: `bits` are SAC and SAM, `context` is the number of the context, if it is needed.
#[inline(always)]
pub(super) fn source(
    bits: u8,
    context: u8,
    iid: Iid,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    if bits == STATEFUL {
        return Ok(Halves { high: 0, low: 0 });
    }
    unicast(bits, context, iid, contexts, input)
}

/// Restores a destination address: `bits` are M, DAC and DAM, none of their reserved combinations.
#[inline(always)]
pub(super) fn destination(
    bits: u8,
    context: u8,
    iid: Iid,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    if bits & MULTICAST == 0 {
        return unicast(bits, context, iid, contexts, input);
    }
    let (address, rest) = multicast(bits, context, contexts, input)?;
    *input = rest;
    Ok(address)
}

#[inline(never)]
fn multicast<'a>(
    bits: u8,
    context: u8,
    contexts: &Contexts<'_>,
    mut input: &'a [u8],
) -> Result<(Halves, &'a [u8]), ParseError> {
    if bits & STATEFUL != 0 {
        let &[scope, riid, a, b, c, d] = take(&mut input)?;
        let context = contexts.get(context)?;
        // There is no such address with a longer prefix (RFC 3306 section 4).
        if context.prefix_len > 64 {
            return Err(ParseError::Forbidden);
        }
        let high = u64::from_be_bytes([0xff, scope, riid, 0, 0, 0, 0, 0]);
        let low = u64::from(u32::from_be_bytes([a, b, c, d]));
        return Ok((prefixed(Halves { high, low }, context), input));
    }
    let (scope, low) = match bits & 0b11 {
        0b00 => return Ok((Halves::new(take(&mut input)?), input)),
        0b01 => {
            let &[scope, a, b, c, d, e] = take(&mut input)?;
            (scope, [0, 0, 0, a, b, c, d, e])
        }
        0b10 => {
            let &[scope, a, b, c] = take(&mut input)?;
            (scope, [0, 0, 0, 0, 0, a, b, c])
        }
        _ => {
            let &[a] = take(&mut input)?;
            (0x02, [0, 0, 0, 0, 0, 0, 0, a])
        }
    };
    let high = u64::from_be_bytes([0xff, scope, 0, 0, 0, 0, 0, 0]);
    Ok((
        Halves {
            high,
            low: u64::from_be_bytes(low),
        },
        input,
    ))
}

#[inline(always)]
fn unicast(
    bits: u8,
    context: u8,
    iid: Iid,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    let Prefix { value, low_mask } = if bits & STATEFUL != 0 {
        Prefix::new(contexts.get(context)?)
    } else {
        Prefix {
            value: Halves {
                high: LINK_LOCAL,
                low: 0,
            },
            low_mask: 0,
        }
    };
    let low = match bits & 0b11 {
        0b00 => return Ok(Halves::new(take(input)?)),
        0b01 => u64::from_be_bytes(*take(input)?),
        0b10 => SHORT | u64::from(u16::from_be_bytes(*take(input)?)),
        // The frame may have no address from which to derive it.
        _ if iid.unknown & !low_mask != 0 => return Err(ParseError::Forbidden),
        _ => iid.value,
    };
    Ok(Halves {
        high: value.high,
        low: value.low | low & !low_mask,
    })
}
