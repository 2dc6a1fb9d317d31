//! Link-layer addresses and the IPv6 interface identifiers made of them.

use core::fmt;
use core::net::Ipv6Addr;

/// A link-layer address of IEEE 802.15.4, or none.
///
/// The empty value is all-zero bits, so that tables of addresses lie in `.bss`.
#[derive(Clone, Copy, Default, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "the comparison is the derived one, but a function of its own on the chip"
)]
// Both kinds of address begin at the same place: where they overlap in part, the compiler moves them about in pieces.
#[repr(C, u8)]
pub enum LinkAddr {
    /// No address: the frame has no such field.
    #[default]
    None = 0,
    /// A 16-bit short address.
    Short(u16) = 1,
    /// A 64-bit extended address (EUI-64), most significant byte first.
    Extended([u8; 8]) = 2,
}

impl PartialEq for LinkAddr {
    // 36 bytes of code at each of ten places.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Short(one), Self::Short(other)) => one == other,
            (Self::Extended(one), Self::Extended(other)) => one == other,
            _ => false,
        }
    }
}

impl LinkAddr {
    /// The short address that all nodes hear (IEEE 802.15.4-2020, 7.2.2).
    pub const BROADCAST: Self = Self::Short(0xffff);

    /// Bytes that the address takes in a frame: 0, 2 or 8.
    pub const fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Short(_) => 2,
            Self::Extended(_) => 8,
        }
    }

    /// Whether there is no address.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Whether all nodes are meant.
    pub const fn is_broadcast(&self) -> bool {
        matches!(self, Self::Short(0xffff))
    }

    /// The interface identifier made of this address: RFC 4944 section 6 with the universal/local bit inverted for an
    /// extended address, RFC 6282 section 3.2.2 (`0000:00ff:fe00:XXXX`) for a short one.
    #[cfg_attr(target_os = "none", inline(never))]
    pub const fn interface_id(&self) -> Option<[u8; 8]> {
        match *self {
            Self::None => None,
            Self::Short(short) => {
                let [high, low] = short.to_be_bytes();
                Some([0, 0, 0, 0xff, 0xfe, 0, high, low])
            }
            Self::Extended(mut eui) => {
                eui[0] ^= 0x02;
                Some(eui)
            }
        }
    }

    /// The link-local IPv6 address of an interface with this address (RFC 4944 section 7).
    pub const fn link_local(&self) -> Option<Ipv6Addr> {
        match self.interface_id() {
            None => None,
            Some([a, b, c, d, e, f, g, h]) => Some(Ipv6Addr::from_octets([
                0xfe, 0x80, 0, 0, 0, 0, 0, 0, a, b, c, d, e, f, g, h,
            ])),
        }
    }

    /// The address from which an interface identifier was made: the inverse of [`interface_id`](Self::interface_id).
    #[cfg_attr(target_os = "none", inline(never))]
    pub const fn from_interface_id(iid: [u8; 8]) -> Self {
        let number = u64::from_be_bytes(iid);
        if number >> 16 == 0xff_fe00 {
            return Self::Short(number as u16);
        }
        let mut eui = iid;
        eui[0] ^= 0x02;
        Self::Extended(eui)
    }
}

/// How many bits two addresses of IPv6 have in common at their beginning.
#[cfg_attr(target_os = "none", inline(never))]
pub(crate) fn common_prefix_len(a: &[u8; 16], b: &[u8; 16]) -> u32 {
    // By words of the machine.
    let ((a, _), (b, _)) = (a.as_chunks(), b.as_chunks());
    let mut len = 0;
    for (a, b) in a.iter().zip(b) {
        let differs = usize::from_be_bytes(*a) ^ usize::from_be_bytes(*b);
        len += differs.leading_zeros();
        if differs != 0 {
            break;
        }
    }
    len
}

impl fmt::Display for LinkAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("-"),
            Self::Short(short) => write!(f, "{short:04x}"),
            Self::Extended(eui) => {
                for (i, byte) in eui.iter().enumerate() {
                    write!(f, "{}{byte:02x}", if i == 0 { "" } else { ":" })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for LinkAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
