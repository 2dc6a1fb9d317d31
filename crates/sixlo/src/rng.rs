//! Random numbers from a seed: back-offs, jitter, first sequence numbers and tags.

#[cfg(test)]
mod tests;

/// Draws of [`Rng::below`] before it takes the one it has. Each is thrown away with a probability below one half, so
/// the bias that remains is below 2^-32, less than anybody can measure with 32-bit numbers.
const DRAWS_MAX: u8 = 32;

/// A small generator of random numbers: xoshiro128++ (Blackman and Vigna, "Scrambled linear pseudorandom number
/// generators", 2021), its state filled from the seed by SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014).
///
/// The same seed gives the same numbers on every machine. They are **not fit for cryptography**: whoever sees a few of
/// them knows all that follow.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u32; 4],
}

impl Rng {
    /// The generator that belongs to this seed; every seed will do.
    pub const fn new(seed: u64) -> Self {
        // Two outputs of SplitMix64 in a row differ, so the state is never all zero, which xoshiro could not leave.
        let first = split_mix(seed, 1);
        let second = split_mix(seed, 2);
        Self {
            state: [
                first as u32,
                (first >> 32) as u32,
                second as u32,
                (second >> 32) as u32,
            ],
        }
    }

    /// A number uniform over all 32-bit values.
    pub const fn next_u32(&mut self) -> u32 {
        let [a, b, c, d] = self.state;
        let (odd, even) = (d ^ b, c ^ a);
        self.state = [a ^ odd, b ^ even, even ^ (b << 9), odd.rotate_left(11)];
        a.wrapping_add(d).rotate_left(7).wrapping_add(a)
    }

    /// A number uniform over `0..bound`; 0, and nothing drawn, if `bound` is 0 or 1.
    ///
    /// The method is that of Lemire ("Fast random integer generation in an interval", 2019): no bias for any bound.
    pub const fn below(&mut self, bound: u32) -> u32 {
        if bound <= 1 {
            return 0;
        }
        // Of the 2^32 numbers, this many are too many to share out evenly.
        let surplus = bound.wrapping_neg() % bound;
        let mut draws = 1;
        loop {
            let product = self.next_u32() as u64 * bound as u64;
            if product as u32 >= surplus || draws == DRAWS_MAX {
                return (product >> 32) as u32;
            }
            draws += 1;
        }
    }
}

/// The output number `n` of SplitMix64, counted from 1.
const fn split_mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
