//! Recovery without selective acknowledgements: RFC 5681 section 3.2 and RFC 6582; limited transmit (RFC 3042); counting of
//! bytes (RFC 3465).

use super::tcp::{recv, send};
use super::{established, plain, press, window};

#[test]
fn two_duplicates_are_no_loss() {
    let mut t = plain(5);
    send!(t, 50, ". 1 ack 1 win 4096");
    send!(t, 51, ". 1 ack 1 win 4096");
    t.quiet(999);
    assert_eq!(window(&t), 1000);
}

#[test]
fn three_duplicates_are_one() {
    let mut t = plain(10);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    // RFC 5681 equation (4).
    assert_eq!(window(&t), 500);
    t.quiet(60);
}

#[test]
fn what_carries_data_is_no_duplicate() {
    let mut t = plain(5);
    // RFC 5681 section 2 (b).
    for n in 0..5 {
        press(&mut t, 50, &format!("P. {}(1) ack 1 win 4096", 1 + n));
        assert!(t.seen.iter().all(|(_, seg)| seg.data.is_empty()), "{:?}", t.seen);
    }
    t.run_until(super::tcp::at(200));
    t.seen.clear();
    t.quiet(999);
}

#[test]
fn what_changes_the_window_is_no_duplicate() {
    let mut t = plain(5);
    // RFC 5681 section 2 (e).
    for n in 0..6 {
        send!(t, 50, ". 1 ack 1 win {}", 4097 + n);
    }
    t.quiet(999);
}

#[test]
fn what_comes_while_nothing_is_under_way_is_no_duplicate() {
    let mut t = plain(2);
    send!(t, 10, ". 1 ack 201 win 4096");
    // RFC 5681 section 2 (a).
    for _ in 0..6 {
        send!(t, 20, ". 1 ack 201 win 4096");
    }
    t.write(100);
    recv!(t, 20, "P. 201(100) ack 1");
    send!(t, 30, ". 1 ack 201 win 4096");
    send!(t, 31, ". 1 ack 201 win 4096");
    t.quiet(900);
}

#[test]
fn the_first_two_duplicates_let_a_new_segment_go_each() {
    let mut t = plain(10);
    t.write(500);
    // RFC 3042 section 2: cwnd is not changed by that.
    send!(t, 50, ". 1 ack 1 win 4096");
    recv!(t, 50, ". 1001(100) ack 1");
    assert_eq!(window(&t), 1000);
    send!(t, 51, ". 1 ack 1 win 4096");
    recv!(t, 51, ". 1101(100) ack 1");
    send!(t, 52, ". 1 ack 1 win 4096");
    recv!(t, 52, ". 1(100) ack 1");
}

#[test]
fn limited_transmit_keeps_to_the_peer_s_window() {
    let mut t = established("<mss 100>", |_| ());
    send!(t, 0, "P. 1(1) ack 1 win 4096");
    recv!(t, 100, ". 1 ack 2");
    send!(t, 100, ". 2 ack 1 win 1000");
    t.write(1500);
    t.settle();
    assert_eq!(t.seen.len(), 10);
    t.seen.clear();
    send!(t, 110, ". 2 ack 1 win 1000");
    send!(t, 111, ". 2 ack 1 win 1000");
    t.quiet(112);
    send!(t, 112, ". 2 ack 1 win 1000");
    recv!(t, 112, ". 1(100) ack 2");
}

#[test]
fn a_partial_acknowledgement_shows_the_next_hole() {
    let mut t = plain(10);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    // RFC 6582 section 3.2 step 3.
    send!(t, 60, ". 1 ack 301 win 4096");
    recv!(t, 60, ". 301(100) ack 1");
    send!(t, 70, ". 1 ack 601 win 4096");
    recv!(t, 70, ". 601(100) ack 1");
    send!(t, 80, ". 1 ack 1001 win 4096");
    t.quiet(2_000);
    assert_eq!(window(&t), 500);
}

#[test]
fn the_timer_starts_anew_at_the_first_partial_acknowledgement_only() {
    let mut t = plain(10);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    send!(t, 500, ". 1 ack 201 win 4096");
    recv!(t, 500, ". 201(100) ack 1");
    send!(t, 900, ". 1 ack 401 win 4096");
    recv!(t, 900, ". 401(100) ack 1");
    // RFC 6582 section 4, "Impatient": 1 s from 500 ms on.
    recv!(t, 1_500, ". 401(100) ack 1");
}

#[test]
fn duplicates_of_the_recovery_before_begin_no_other() {
    let mut t = plain(10);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    send!(t, 60, ". 1 ack 1001 win 4096");
    t.write(300);
    t.settle();
    t.seen.clear();
    // RFC 6582 section 3.2 step 2: the acknowledgement covers no more than "recover".
    for ms in 61..66 {
        send!(t, ms, ". 1 ack 1001 win 4096");
    }
    t.quiet(900);
    assert_eq!(window(&t), 500);
}

#[test]
fn after_a_time_out_duplicates_of_what_was_sent_before_begin_no_recovery() {
    let mut t = plain(10);
    recv!(t, 1_000, ". 1(100) ack 1");
    send!(t, 1_010, ". 1 ack 101 win 4096");
    recv!(t, 1_010, ". 101(100) ack 1");
    recv!(t, 1_010, ". 201(100) ack 1");
    let before = window(&t);
    for ms in 1_011..1_016 {
        send!(t, ms, ". 1 ack 101 win 4096");
    }
    // RFC 6582 section 3.2 step 4.
    assert_eq!(window(&t), before);
}

#[test]
fn a_time_out_ends_recovery() {
    let mut t = plain(10);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    recv!(t, 1_052, ". 1(100) ack 1");
    assert_eq!(window(&t), 100);
    send!(t, 1_100, ". 1 ack 1001 win 4096");
    t.quiet(9_000);
}

#[test]
fn the_window_grows_by_a_segment_for_each_acknowledgement_in_slow_start() {
    let mut t = plain(10);
    // RFC 5681 equation (2): min (N, SMSS).
    send!(t, 50, ". 1 ack 401 win 4096");
    assert_eq!(window(&t), 1100);
    send!(t, 51, ". 1 ack 451 win 4096");
    assert_eq!(window(&t), 1150);
}

#[test]
fn the_first_window_is_ten_segments_or_the_send_buffer() {
    assert_eq!(window(&plain(1)), 1000);
    let t = established("<mss 100>", |config| config.tcp.send_buffer = 640);
    assert_eq!(window(&t), 640);
    let t = established("<mss 1000>", |config| config.tcp.send_buffer = 640);
    // RFC 5681: a segment at least.
    assert_eq!(window(&t), 1000);
}

#[test]
fn a_small_flight_halves_to_two_segments() {
    let mut t = plain(3);
    for ms in 50..53 {
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    recv!(t, 52, ". 1(100) ack 1");
    // RFC 5681 equation (4): max (FlightSize / 2, 2 * SMSS).
    assert_eq!(window(&t), 200);
}
