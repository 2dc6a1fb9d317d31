use super::*;

/// The values that ns-3, RIOT and the standard agree on.
#[test]
fn the_default_times_are_those_of_the_2450_mhz_band() {
    let PhyTiming {
        unit_backoff,
        ack_wait,
        sifs,
        lifs,
        sifs_len_max,
    } = PhyTiming::default();
    assert_eq!(unit_backoff, Duration::from_micros(320));
    assert_eq!(ack_wait, Duration::from_micros(864));
    assert_eq!(sifs, Duration::from_micros(192));
    assert_eq!(lifs, Duration::from_micros(640));
    assert_eq!(sifs_len_max, 18);
}

/// IEEE 802.15.4-2020, 6.2.4.
#[test]
fn a_short_frame_is_followed_by_the_short_space_and_a_longer_one_by_the_long() {
    let timing = PhyTiming::default();
    for len in 0..=127 {
        let expected = if len <= 18 { 192 } else { 640 };
        assert_eq!(
            timing.interframe_space(len),
            Duration::from_micros(expected),
            "{len} bytes"
        );
    }
}

#[test]
fn a_frame_of_full_length_is_on_the_air_for_4256_us() {
    // IEEE 802.15.4-2020, 12.1: (6 + 127) octets of 32 us.
    assert_eq!(PhyTiming::O_QPSK_2450.on_air(127), Duration::from_micros(4_256));
}
