//! Models of the goodput of TCP.

/// Goodput in bit/s of a transfer whose window is `window` segments of `mss_bytes`, over a round-trip time of `rtt_s`, when a share
/// `loss` of the segments is lost (Kumar et al. 2020, equation 1): MSS/RTT / (1/w + 2p).
pub fn small_window(mss_bytes: f64, rtt_s: f64, window: f64, loss: f64) -> f64 {
    mss_bytes * 8.0 / rtt_s / (1.0 / window + 2.0 * loss)
}

/// The same after the law of the square root (Mathis et al. 1997; equation 2 there): MSS/RTT sqrt(3/2p). Without loss it has no bound.
pub fn square_root(mss_bytes: f64, rtt_s: f64, loss: f64) -> f64 {
    mss_bytes * 8.0 / rtt_s * (1.5 / loss).sqrt()
}
