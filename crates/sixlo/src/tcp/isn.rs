//! Initial sequence numbers (RFC 9293 section 3.4.1, RFC 6528): a clock of 4 us, and a keyed hash of who talks to whom.
//!
//! So the numbers of a pair of endpoints rise with time, and who does not know the key cannot tell those of another pair. The
//! hash is SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).

use core::net::Ipv6Addr;

use crate::rng::Rng;
use crate::time::Instant;
use crate::wire::tcp::seq::Seq;

#[cfg(test)]
mod tests;

/// Bytes that are hashed: two addresses, two ports.
const INPUT_LEN: usize = 36;

/// Where initial sequence numbers come from: the secret of a stack.
#[derive(Clone, Debug)]
pub struct IsnSource {
    key: [u64; 2],
}

impl IsnSource {
    /// Draws the secret. It is as hard to guess as the seed of `rng`.
    pub const fn new(rng: &mut Rng) -> Self {
        Self {
            key: [draw(rng), draw(rng)],
        }
    }

    /// The initial sequence number of a connection that begins now (RFC 9293 section 3.4.1: `ISN = M + F(..)`).
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn isn(&self, now: Instant, local: (Ipv6Addr, u16), remote: (Ipv6Addr, u16)) -> Seq {
        let clock = (now.as_micros() / 4) as u32;
        Seq(self.hash(local, remote) as u32) + clock
    }

    /// The hash of a pair of endpoints.
    fn hash(&self, local: (Ipv6Addr, u16), remote: (Ipv6Addr, u16)) -> u64 {
        let (local_ip, remote_ip) = (local.0.octets(), remote.0.octets());
        let mut hash = SipHash::new(self.key);
        for half in local_ip.as_chunks().0.iter().chain(remote_ip.as_chunks().0) {
            hash.add(u64::from_le_bytes(*half));
        }
        let [a, b] = local.1.to_be_bytes();
        let [c, d] = remote.1.to_be_bytes();
        hash.finish([a, b, c, d, 0, 0, 0], INPUT_LEN)
    }
}

/// A number of 64 bits.
const fn draw(rng: &mut Rng) -> u64 {
    (rng.next_u32() as u64) << 32 | rng.next_u32() as u64
}

/// SipHash-2-4, fed with words of eight bytes.
struct SipHash {
    state: [u64; 4],
}

impl SipHash {
    const fn new([k0, k1]: [u64; 2]) -> Self {
        Self {
            state: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
        }
    }

    /// The next eight bytes, the first one lowest.
    fn add(&mut self, word: u64) {
        self.state[3] ^= word;
        self.rounds(2);
        self.state[0] ^= word;
    }

    /// The hash, of which the bytes behind the last whole word are these, zeros behind them, and all bytes `len`.
    fn finish(mut self, [a, b, c, d, e, f, g]: [u8; 7], len: usize) -> u64 {
        self.add(u64::from_le_bytes([a, b, c, d, e, f, g, len as u8]));
        self.state[2] ^= 0xff;
        self.rounds(4);
        self.state.iter().fold(0, |all, word| all ^ word)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    fn rounds(&mut self, rounds: u32) {
        let [mut v0, mut v1, mut v2, mut v3] = self.state;
        for _ in 0..rounds {
            v0 = v0.wrapping_add(v1);
            v1 = v1.rotate_left(13) ^ v0;
            v0 = v0.rotate_left(32);
            v2 = v2.wrapping_add(v3);
            v3 = v3.rotate_left(16) ^ v2;
            v0 = v0.wrapping_add(v3);
            v3 = v3.rotate_left(21) ^ v0;
            v2 = v2.wrapping_add(v1);
            v1 = v1.rotate_left(17) ^ v2;
            v2 = v2.rotate_left(32);
        }
        self.state = [v0, v1, v2, v3];
    }
}
