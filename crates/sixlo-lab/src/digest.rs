//! Digests that tell runs and builds apart. They guard against mistakes, not against malice.

use std::fmt;

/// 128 bits that differ where the input differs (FNV-1a with the constants of its authors).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

impl Digest {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

    /// The digest of a list of parts. Where one part ends and the next begins counts.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut state = Self::BASIS;
        for part in parts {
            for byte in (part.len() as u64).to_le_bytes().iter().chain(*part) {
                state = (state ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
            }
        }
        Self(state)
    }
}

impl fmt::Display for Digest {
    /// 16 hexadecimal digits: half of it is enough to tell runs apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", (self.0 >> 64) as u64 ^ self.0 as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_differ_in_their_border_alone_have_different_digests() {
        let digests = [
            Digest::of(&[b"ab", b"c"]),
            Digest::of(&[b"a", b"bc"]),
            Digest::of(&[b"abc"]),
            Digest::of(&[b"abc", b""]),
            Digest::of(&[]),
        ];
        for (i, a) in digests.iter().enumerate() {
            for b in &digests[..i] {
                assert_ne!(a, b);
                assert_ne!(a.to_string(), b.to_string());
            }
        }
    }

    #[test]
    fn the_step_is_that_of_fnv_1a() {
        // The published hash of "a" with 128 bits.
        let one = (Digest::BASIS ^ u128::from(b'a')).wrapping_mul(Digest::PRIME);
        assert_eq!(one, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
