//! Models of the goodput of TCP over a low-power radio link.

/// Goodput in bit/s of a transfer whose window is `window` segments of `mss_bytes`, over a round-trip time of `rtt_s`, when a share
/// `loss` of the segments is lost (Kumar et al. 2020, equation 1): MSS/RTT / (1/w + 2p).
///
/// It is [`small_window_with_rest`] with two round trips for each loss, which is what four segments of buffer make of one.
pub fn small_window(mss_bytes: f64, rtt_s: f64, window: f64, loss: f64) -> f64 {
    small_window_with_rest(mss_bytes, rtt_s, window, loss, 2.0)
}

/// The same where each loss costs `rest` round trips in which nothing new is sent (equation 4 there): MSS/RTT / (1/w + lp).
pub fn small_window_with_rest(mss_bytes: f64, rtt_s: f64, window: f64, loss: f64, rest: f64) -> f64 {
    mss_bytes * 8.0 / rtt_s / (1.0 / window + rest * loss)
}

/// The same after the law of the square root (Mathis et al. 1997; equation 2 there): MSS/RTT sqrt(3/2p). Without loss it has no bound.
pub fn square_root(mss_bytes: f64, rtt_s: f64, loss: f64) -> f64 {
    mss_bytes * 8.0 / rtt_s * (1.5 / loss).sqrt()
}

/// The most in bit/s that one hop carries of segments of `mss_bytes` in `frames` full frames, each of which takes `frame_s`, when every
/// second segment is acknowledged, which takes `ack_s` (section 6.3 there).
pub fn one_hop_bound(mss_bytes: f64, frames: f64, frame_s: f64, ack_s: f64) -> f64 {
    mss_bytes * 8.0 / (frames * frame_s + ack_s / 2.0)
}

/// The most that a chain of `hops` carries of what one hop does, where a node hears its neighbours alone (section 7.2 there): a half over
/// two hops, a third over more.
pub fn chain_bound(one_hop: f64, hops: u16) -> f64 {
    one_hop / f64::from(hops.clamp(1, 3))
}
