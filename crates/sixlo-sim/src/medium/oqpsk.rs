//! Bit errors of 2.4 GHz O-QPSK (IEEE 802.15.4-2006, annex E.4.1.8).

/// The bit error rate at a ratio of signal to interference and noise (linear, not dB).
pub fn bit_error_rate(sinr: f64) -> f64 {
    /// C(16, k) for k = 2..=16.
    const BINOMIAL: [f64; 15] = [
        120.0, 560.0, 1820.0, 4368.0, 8008.0, 11440.0, 12870.0, 11440.0, 8008.0, 4368.0, 1820.0, 560.0,
        120.0, 16.0, 1.0,
    ];
    let mut sum = 0.0;
    let mut sign = 1.0;
    for (k, binomial) in (2..).zip(BINOMIAL) {
        sum += sign * binomial * libm::exp(20.0 * sinr * (1.0 / f64::from(k) - 1.0));
        sign = -sign;
    }
    (8.0 / 15.0 * (1.0 / 16.0) * sum).clamp(0.0, 0.5)
}

/// Steps of the table an octave of the ratio: each is 0.05 dB wide.
const STEP_BITS: u32 = 6;
/// The table spans ratios from 2^LOW to 2^HIGH: -36 to +18 dB.
const LOW: i32 = -12;
const HIGH: i32 = 6;
const SIZE: usize = ((HIGH - LOW) << STEP_BITS) as usize;
const BIAS: i32 = 127;

/// The logarithm of the probability that a bit survives, by ratio.
#[derive(Debug)]
pub(super) struct Survival(Vec<f64>);

impl Survival {
    pub(super) fn new() -> Self {
        let table = (0..SIZE).map(|at| {
            let from = |at: usize| f64::from(f32::from_bits((at as u32 + Self::base()) << (23 - STEP_BITS)));
            libm::log1p(-bit_error_rate((from(at) + from(at + 1)) / 2.0))
        });
        Self(table.collect())
    }

    const fn base() -> u32 {
        ((BIAS + LOW) as u32) << STEP_BITS
    }

    /// For one bit at this ratio. Outside the table the value at its nearer end holds.
    #[inline]
    pub(super) fn ln(&self, sinr: f64) -> f64 {
        // The upper bits of a positive float are its logarithm in steps.
        let step = (sinr as f32).max(0.0).to_bits() >> (23 - STEP_BITS);
        let at = (step.saturating_sub(Self::base()) as usize).min(SIZE - 1);
        self.0[at]
    }
}
