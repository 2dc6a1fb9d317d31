//! How addresses are compressed: the modes SAC, SAM and M, DAC, DAM (RFC 6282 section 3.1.1).

use super::{CONTEXTS_MAX, Context, Contexts, Writer, take};
use crate::wire::{ParseError, split};

/// The upper half of link-local addresses, `fe80::/64`.
const LINK_LOCAL: u64 = 0xfe80 << 48;

/// The lower half of addresses whose last 16 bits only are carried: `0000:00ff:fe00:XXXX`.
const SHORT: u64 = 0x0000_00ff_fe00_0000;

/// SAC or DAC: with a context.
const STATEFUL: u8 = 0b100;

/// M: the destination is a multicast address.
const MULTICAST: u8 = 0b1000;

/// An address as two numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Halves {
    pub(super) high: u64,
    pub(super) low: u64,
}

impl Halves {
    pub(super) fn new(address: &[u8; 16]) -> Result<Self, ParseError> {
        let (high, low) = split(address)?;
        let (low, _) = split(low)?;
        Ok(Self {
            high: u64::from_be_bytes(*high),
            low: u64::from_be_bytes(*low),
        })
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
    fn new(context: &Context) -> Result<Self, ParseError> {
        let Halves { high, low } = Halves::new(&context.prefix)?;
        // The common length needs no mask at all.
        if context.prefix_len == 64 {
            return Ok(Self {
                value: Halves { high, low: 0 },
                low_mask: 0,
            });
        }
        let mask = mask(context.prefix_len);
        let (high_mask, low_mask) = ((mask >> 64) as u64, mask as u64);
        Ok(Self {
            value: Halves {
                high: high & high_mask,
                low: low & low_mask,
            },
            low_mask,
        })
    }
}

/// The first `len` bits.
fn mask(len: u8) -> u128 {
    !u128::MAX.checked_shr(u32::from(len)).unwrap_or(0)
}

/// What of an address is carried in line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inline {
    Nothing,
    /// The last 16 bits.
    Short,
    /// The last 64 bits.
    Iid,
    /// All of it.
    All,
    /// `ff02::00XX`.
    Group8,
    /// `ffXX::00XX:XXXX`.
    Group32,
    /// `ffXX::00XX:XXXX:XXXX`.
    Group48,
    /// `ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX`.
    Prefixed,
}

/// How an address is compressed.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// SAC and SAM, or M, DAC and DAM.
    pub(super) bits: u8,
    /// The context, 0 also where none is used.
    pub(super) context: u8,
    inline: Inline,
}

impl Form {
    /// The form of a source address.
    pub(super) fn source(
        address: Halves,
        iid: Option<u64>,
        contexts: &Contexts<'_>,
    ) -> Result<Self, ParseError> {
        if address.high | address.low == 0 {
            return Ok(Self {
                bits: STATEFUL,
                context: 0,
                inline: Inline::Nothing,
            });
        }
        Self::unicast(address, iid, contexts)
    }

    /// The form of a destination address.
    pub(super) fn destination(
        address: Halves,
        iid: Option<u64>,
        contexts: &Contexts<'_>,
    ) -> Result<Self, ParseError> {
        if address.high >> 56 == 0xff {
            return Self::multicast(address, contexts);
        }
        Self::unicast(address, iid, contexts)
    }

    fn unicast(address: Halves, iid: Option<u64>, contexts: &Contexts<'_>) -> Result<Self, ParseError> {
        let mut best = Self {
            bits: 0,
            context: 0,
            inline: Inline::All,
        };
        if address.high == LINK_LOCAL {
            best = Self::mode(address.low, iid, 0, 0);
        }
        for (number, context) in contexts.0.iter().take(CONTEXTS_MAX).enumerate() {
            if best.inline == Inline::Nothing {
                break;
            }
            if !context.valid_for_compression || !context.is_set() {
                continue;
            }
            let Prefix { value, low_mask } = Prefix::new(context)?;
            if address.high != value.high || address.low & low_mask != value.low {
                continue;
            }
            let form = Self::mode(address.low, iid, low_mask, STATEFUL);
            if form.mode_number() > best.mode_number() {
                best = Self {
                    context: number as u8,
                    ..form
                };
            }
        }
        Ok(best)
    }

    /// SAM or DAM: of those for unicast addresses, the larger is the shorter.
    const fn mode_number(self) -> u8 {
        self.bits & 0b11
    }

    /// The shortest form of the lower half of an address whose upper half is known, as are the bits in `covered`.
    fn mode(low: u64, iid: Option<u64>, covered: u64, stateful: u8) -> Self {
        let open = !covered;
        let elided = match iid {
            Some(iid) => (low ^ iid) & open == 0,
            None => open == 0,
        };
        let (mode, inline) = if elided {
            (0b11, Inline::Nothing)
        } else if (low ^ SHORT) & open & !0xffff == 0 {
            (0b10, Inline::Short)
        } else {
            (0b01, Inline::Iid)
        };
        Self {
            bits: stateful | mode,
            context: 0,
            inline,
        }
    }

    /// RFC 6282 sections 3.2.3 and 3.2.4.
    fn multicast(address: Halves, contexts: &Contexts<'_>) -> Result<Self, ParseError> {
        let form = |mode, inline| Self {
            bits: MULTICAST | mode,
            context: 0,
            inline,
        };
        if address.high << 16 == 0 {
            if address.high == 0xff02 << 48 && address.low <= 0xff {
                return Ok(form(0b11, Inline::Group8));
            } else if address.low <= 0xff_ffff {
                return Ok(form(0b10, Inline::Group32));
            } else if address.low <= 0xff_ffff_ffff {
                return Ok(form(0b01, Inline::Group48));
            }
        }
        for (number, context) in contexts.0.iter().take(CONTEXTS_MAX).enumerate() {
            // RFC 3306 section 4 has room for 64 bits of prefix.
            if context.valid_for_compression
                && matches!(context.prefix_len, 1..=64)
                && prefixed(address, context)? == address
            {
                return Ok(Self {
                    context: number as u8,
                    ..form(STATEFUL, Inline::Prefixed)
                });
            }
        }
        Ok(form(0, Inline::All))
    }

    /// Writes what of the address is carried in line.
    pub(super) fn put_inline(self, address: &[u8; 16], out: &mut Writer<'_>) -> Result<(), ParseError> {
        let [_, scope, riid, .., i, j, k, l, m, n, o, p] = *address;
        match self.inline {
            Inline::Nothing => Ok(()),
            Inline::Short => out.put([o, p]),
            Inline::Iid => out.put([i, j, k, l, m, n, o, p]),
            Inline::All => out.put(*address),
            Inline::Group8 => out.put([p]),
            Inline::Group32 => out.put([scope, n, o, p]),
            Inline::Group48 => out.put([scope, l, m, n, o, p]),
            Inline::Prefixed => out.put([scope, riid, m, n, o, p]),
        }
    }
}

/// The multicast address of the form `ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX` with length and prefix of the context and the
/// rest of `address` (RFC 6282 section 3.2.4).
fn prefixed(address: Halves, context: &Context) -> Result<Halves, ParseError> {
    let prefix = Prefix::new(context)?.value.high;
    let high = address.high & 0xffff_ff00 << 32 | u64::from(context.prefix_len) << 32 | prefix >> 32;
    let low = prefix << 32 | address.low & 0xffff_ffff;
    Ok(Halves { high, low })
}

/// Restores a source address: `bits` are SAC and SAM, `context` is the number of the context, if it is needed.
pub(super) fn source(
    bits: u8,
    context: u8,
    iid: Option<u64>,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    if bits == STATEFUL {
        return Ok(Halves { high: 0, low: 0 });
    }
    unicast(bits, context, iid, contexts, input)
}

/// Restores a destination address: `bits` are M, DAC and DAM, none of their reserved combinations.
pub(super) fn destination(
    bits: u8,
    context: u8,
    iid: Option<u64>,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    if bits & MULTICAST == 0 {
        return unicast(bits, context, iid, contexts, input);
    }
    if bits & STATEFUL != 0 {
        let &[scope, riid, a, b, c, d] = take(input)?;
        let context = contexts.get(context)?;
        // There is no such address with a longer prefix (RFC 3306 section 4).
        if context.prefix_len > 64 {
            return Err(ParseError::Forbidden);
        }
        let high = u64::from_be_bytes([0xff, scope, riid, 0, 0, 0, 0, 0]);
        let low = u64::from(u32::from_be_bytes([a, b, c, d]));
        return prefixed(Halves { high, low }, context);
    }
    let (scope, low) = match bits & 0b11 {
        0b00 => return Halves::new(take(input)?),
        0b01 => {
            let &[scope, a, b, c, d, e] = take(input)?;
            (scope, [0, 0, 0, a, b, c, d, e])
        }
        0b10 => {
            let &[scope, a, b, c] = take(input)?;
            (scope, [0, 0, 0, 0, 0, a, b, c])
        }
        _ => {
            let &[a] = take(input)?;
            (0x02, [0, 0, 0, 0, 0, 0, 0, a])
        }
    };
    Ok(Halves {
        high: u64::from_be_bytes([0xff, scope, 0, 0, 0, 0, 0, 0]),
        low: u64::from_be_bytes(low),
    })
}

fn unicast(
    bits: u8,
    context: u8,
    iid: Option<u64>,
    contexts: &Contexts<'_>,
    input: &mut &[u8],
) -> Result<Halves, ParseError> {
    let (high, value, covered) = if bits & STATEFUL != 0 {
        let Prefix { value, low_mask } = Prefix::new(contexts.get(context)?)?;
        (value.high, value.low, low_mask)
    } else {
        (LINK_LOCAL, 0, 0)
    };
    let low = match bits & 0b11 {
        0b00 => return Halves::new(take(input)?),
        0b01 => u64::from_be_bytes(*take(input)?),
        0b10 => SHORT | u64::from(u16::from_be_bytes(*take(input)?)),
        _ => match iid {
            Some(iid) => iid,
            None if covered == u64::MAX => 0,
            // The frame has no address from which to derive it.
            None => return Err(ParseError::Forbidden),
        },
    };
    Ok(Halves {
        high,
        low: value | low & !covered,
    })
}
