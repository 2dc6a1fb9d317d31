//! Random numbers: one stream for each purpose and node, all made from the seed of the run, the same on any machine.
//!
//! xoshiro256++ 1.0 (Blackman and Vigna 2019), its state filled by splitmix64. Not for cryptography.

#[cfg(test)]
mod tests;

/// What a stream of random numbers is for. A number never changes its meaning, so that a new purpose leaves the
/// streams of the others as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Where the nodes are.
    Topology = 1,
    /// Shadowing of links.
    Shadowing = 2,
    /// The fate of frames on the air.
    Medium = 3,
    /// Back-offs of the radio.
    Radio = 4,
    /// The stack's own generator.
    Stack = 5,
    /// Start times and gaps of applications.
    Traffic = 6,
    /// Faults.
    Faults = 7,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

/// One step of splitmix64: a bijection that spreads every bit of `x` over the result.
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Rng {
    /// The stream of a purpose at a node.
    pub fn new(seed: u64, purpose: Purpose, node: u64) -> Self {
        let start = mix(mix(mix(seed) ^ purpose as u64) ^ node);
        let mut state = [0; 4];
        for (word, k) in state.iter_mut().zip(0u64..) {
            *word = mix(start.wrapping_add(k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        }
        Self(state)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number uniform in 0 to `n` - 1, without bias; 0 for `n` = 0 (Lemire 2019).
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let reject = n.wrapping_neg() % n;
            while (product as u64) < reject {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// A number uniform in `low` to `high`, both included; `low` if `high` is less.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match high.saturating_sub(low).checked_add(1) {
            Some(n) => low + self.below(n),
            None => self.bits(),
        }
    }

    /// A number uniform in 0 to less than 1, a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

/// A probability, ready to be compared with 64 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// It always happens.
    pub const ALWAYS: Self = Self(u64::MAX);

    /// It happens with this probability; what lies outside 0 to 1 counts as the nearer of the two.
    pub fn new(probability: f64) -> Self {
        if probability >= 1.0 {
            Self::ALWAYS
        } else {
            // The conversion of a float to an integer saturates.
            Self((probability * 18_446_744_073_709_551_616.0) as u64)
        }
    }

    /// Whether it happens, by these random bits.
    #[inline]
    pub const fn strikes(self, bits: u64) -> bool {
        bits < self.0 || self.0 == u64::MAX
    }
}
