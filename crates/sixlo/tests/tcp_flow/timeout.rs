//! The retransmission timer: RFC 6298, and what RFC 5681 section 3.1 says of it.

use sixlo::tcp::{State, TcpConfig, TcpError};
use sixlo::time::Duration;

use super::tcp::{Trace, recv, send};
use super::{established, plain, window};

/// A connection whose handshake took so many milliseconds, which is the first measurement.
fn with_round_trip(ms: u64, change: impl Fn(&mut sixlo::stack::Config)) -> Trace {
    let mut t = Trace::listening(change);
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, ms, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t
}

#[test]
fn a_syn_is_sent_again_after_1_2_4_seconds_and_so_on_until_the_open_times_out() {
    let mut t = Trace::connecting(|_| ());
    // RFC 6298 (2.1), (5.5), (2.5); RFC 9293 section 3.8.3: at least 3 minutes for a SYN.
    for s in [0, 1, 3, 7, 15, 31, 63, 123] {
        recv!(t, s * 1000, "S 0");
    }
    t.quiet(200_000);
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
    t.close().unwrap();
    t.assert_idle();
}

#[test]
fn the_time_to_connect_can_be_shorter() {
    let mut t = Trace::connecting(|config| config.tcp.connect_timeout = Duration::from_secs(10));
    for s in [0, 1, 3, 7] {
        recv!(t, s * 1000, "S 0");
    }
    t.quiet(9_999);
    assert_eq!(t.state(), State::SynSent);
    t.quiet(10_000);
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn an_answer_to_a_syn_is_sent_again_three_times_and_forgotten() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    for s in [0, 1, 3, 7] {
        recv!(t, s * 1000, "S. 0 ack 1");
    }
    t.quiet(14_999);
    t.quiet(15_001);
    t.assert_idle();
    send!(t, 16_000, ". 1 ack 1 win 4096");
    recv!(t, 16_000, "R 1");
}

#[test]
fn data_is_sent_again_with_doubled_intervals_of_at_most_a_minute_until_the_user_time_out() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    // RFC 6298 (2.4): a second at least; (5.5), (2.5).
    for s in [0, 1, 3, 7, 15, 31, 63, 123, 183, 243] {
        recv!(t, s * 1000, "P. 1(100) ack 1");
    }
    // RFC 9293 section 3.9.1.1: five minutes.
    recv!(t, 303_000, "R. 101 ack 1");
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
    t.close().unwrap();
    t.assert_idle();
}

#[test]
fn the_user_time_out_is_looked_at_when_the_timer_runs_out() {
    let mut t = Trace::established(|config| config.tcp.user_timeout = Duration::from_secs(5));
    t.write(100);
    for s in [0, 1, 3] {
        recv!(t, s * 1000, "P. 1(100) ack 1");
    }
    recv!(t, 7_000, "R. 101 ack 1");
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn retransmissions_can_be_fewer() {
    let mut t = Trace::established(|config| config.tcp.retries_max = 2);
    t.write(100);
    for s in [0, 1, 3] {
        recv!(t, s * 1000, "P. 1(100) ack 1");
    }
    recv!(t, 7_000, "R. 101 ack 1");
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn what_is_acknowledged_counts_as_progress() {
    let mut t = Trace::established(|config| config.tcp.user_timeout = Duration::from_secs(5));
    t.write(600);
    recv!(t, 0, ". 1(500) ack 1");
    send!(t, 100, ". 1 ack 501 win 4096");
    recv!(t, 100, "P. 501(100) ack 1");
    recv!(t, 1_100, "P. 501(100) ack 1");
    recv!(t, 3_100, "P. 501(100) ack 1");
    // Five seconds from 100 ms on are over at 5.1 s, the timer runs out at 7.1 s.
    recv!(t, 7_100, "R. 601 ack 1");
}

#[test]
fn the_timer_stops_when_all_is_acknowledged() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    send!(t, 999, ". 1 ack 101 win 4096");
    // RFC 6298 (5.2).
    assert_eq!(t.stack.next_deadline(t.now), None);
    t.quiet(100_000);
}

#[test]
fn the_timer_starts_anew_when_something_is_acknowledged() {
    let mut t = plain(3);
    send!(t, 700, ". 1 ack 101 win 4096");
    // RFC 6298 (5.3).
    recv!(t, 1_700, ". 101(100) ack 1");
}

#[test]
fn the_timer_runs_on_when_more_is_sent() {
    let mut t = established("<mss 100>", |config| config.tcp.nagle = false);
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 1");
    t.quiet(600);
    t.write(30);
    recv!(t, 600, "P. 51(30) ack 1");
    // RFC 6298 (5.1): only if it is not running.
    recv!(t, 1_000, "P. 1(80) ack 1");
}

#[test]
fn duplicates_do_not_start_the_timer_anew() {
    let mut t = plain(2);
    send!(t, 400, ". 1 ack 1 win 4096");
    send!(t, 800, ". 1 ack 1 win 4096");
    recv!(t, 1_000, ". 1(100) ack 1");
}

#[test]
fn the_first_measurement_makes_the_timer_three_round_trips_long() {
    let mut t = with_round_trip(400, |_| ());
    t.write(100);
    recv!(t, 400, "P. 1(100) ack 1");
    // RFC 6298 (2.2): SRTT 400, RTTVAR 200, so 400 + 4 * 200.
    recv!(t, 1_600, "P. 1(100) ack 1");
}

#[test]
fn further_measurements_are_averaged() {
    let mut t = with_round_trip(400, |_| ());
    t.write(100);
    recv!(t, 400, "P. 1(100) ack 1");
    send!(t, 1_000, ". 1 ack 101 win 4096");
    t.write(100);
    recv!(t, 1_000, "P. 101(100) ack 1");
    // (2.3): RTTVAR = 3/4 * 200 + 1/4 * |400 - 600|, SRTT = 7/8 * 400 + 1/8 * 600: 425 + 4 * 200.
    recv!(t, 2_225, "P. 101(100) ack 1");
}

#[test]
fn one_segment_is_measured_at_a_time() {
    let mut t = with_round_trip(400, |config| config.tcp.nagle = false);
    t.write(100);
    recv!(t, 400, "P. 1(100) ack 1");
    t.quiet(700);
    t.write(100);
    recv!(t, 700, "P. 101(100) ack 1");
    send!(t, 1_000, ". 1 ack 201 win 4096");
    t.write(100);
    // The first one took 600 ms.
    recv!(t, 1_000, "P. 201(100) ack 1");
    recv!(t, 2_225, "P. 201(100) ack 1");
}

#[test]
fn what_was_sent_twice_is_not_measured_and_the_back_off_stays() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    recv!(t, 1_000, "P. 1(100) ack 1");
    send!(t, 1_900, ". 1 ack 101 win 4096");
    t.write(100);
    recv!(t, 1_900, "P. 101(100) ack 1");
    // Karn: RFC 6298 sections 3 and 5 (5.7): doubled until something new was measured.
    recv!(t, 3_900, "P. 101(100) ack 1");
}

#[test]
fn a_measurement_ends_the_back_off() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    recv!(t, 1_000, "P. 1(100) ack 1");
    send!(t, 1_010, ". 1 ack 101 win 4096");
    t.write(100);
    recv!(t, 1_010, "P. 101(100) ack 1");
    send!(t, 1_020, ". 1 ack 201 win 4096");
    t.write(100);
    recv!(t, 1_020, "P. 201(100) ack 1");
    recv!(t, 2_020, "P. 201(100) ack 1");
}

#[test]
fn a_lost_syn_makes_the_first_timer_three_seconds_long() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    recv!(t, 1_000, "S. 0 ack 1");
    send!(t, 1_100, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t.write(100);
    recv!(t, 1_100, "P. 1(100) ack 1");
    // RFC 6298 (5.7).
    recv!(t, 4_100, "P. 1(100) ack 1");
}

#[test]
fn a_lost_syn_makes_the_first_window_one_segment() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    recv!(t, 1_000, "S 0");
    send!(t, 1_100, "S. 0 ack 1 win 4096 <mss 200>");
    recv!(t, 1_100, ". 1 ack 1");
    t.write(1000);
    // RFC 5681 section 3.1.
    recv!(t, 1_100, ". 1(200) ack 1");
    send!(t, 1_200, ". 1 ack 201 win 4096");
    recv!(t, 1_200, ". 201(200) ack 1");
    recv!(t, 1_200, ". 401(200) ack 1");
}

#[test]
fn after_a_time_out_the_window_is_one_segment_and_grows_again() {
    let mut t = plain(8);
    recv!(t, 1_000, ". 1(100) ack 1");
    assert_eq!(window(&t), 100);
    send!(t, 1_100, ". 1 ack 101 win 4096");
    recv!(t, 1_100, ". 101(100) ack 1");
    recv!(t, 1_100, ". 201(100) ack 1");
    send!(t, 1_200, ". 1 ack 301 win 4096");
    // RFC 5681 section 3.1: slow start, one segment an acknowledgement.
    recv!(t, 1_200, ". 301(100) ack 1");
    recv!(t, 1_200, ". 401(100) ack 1");
    recv!(t, 1_200, ". 501(100) ack 1");
    assert_eq!(window(&t), 300);
}

#[test]
fn slow_start_ends_at_half_of_what_was_under_way() {
    let mut t = plain(8);
    recv!(t, 1_000, ". 1(100) ack 1");
    send!(t, 1_100, ". 1 ack 801 win 4096");
    assert_eq!(window(&t), 200);
    let mut grown = Vec::new();
    for n in 0..8_u64 {
        t.write(100);
        t.settle();
        t.seen.clear();
        send!(t, 1_200 + n, ". 1 ack {} win 4096", 901 + n * 100);
        grown.push(window(&t));
    }
    // RFC 5681 equation (4): 400. Then one segment for each window (RFC 3465 section 2.1).
    assert_eq!(grown, [300, 400, 400, 400, 400, 500, 500, 500]);
}

#[test]
fn a_second_time_out_leaves_the_threshold_as_it_is() {
    let mut t = plain(8);
    recv!(t, 1_000, ". 1(100) ack 1");
    recv!(t, 3_000, ". 1(100) ack 1");
    send!(t, 3_100, ". 1 ack 801 win 4096");
    let mut grown = Vec::new();
    for n in 0..4_u64 {
        t.write(100);
        t.settle();
        t.seen.clear();
        send!(t, 3_200 + n, ". 1 ack {} win 4096", 901 + n * 100);
        grown.push(window(&t));
    }
    // RFC 5681 section 3.1: held constant, else it would be 200 now.
    assert_eq!(grown, [300, 400, 400, 400]);
}

#[test]
fn what_is_sent_again_may_be_put_together() {
    let mut t = established("<mss 100>", |config| config.tcp.nagle = false);
    for n in 0..3 {
        t.write(10);
        recv!(t, 0, "P. {}(10) ack 1", 1 + n * 10);
    }
    recv!(t, 1_000, "P. 1(30) ack 1");
}

#[test]
fn what_is_sent_again_acknowledges_what_came_since() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    send!(t, 990, "P. 1(50) ack 1 win 4096");
    recv!(t, 1_000, "P. 1(100) ack 51 win 974");
    t.quiet(1_500);
}

#[test]
fn fin_is_sent_again_alone_or_with_data() {
    let mut t = Trace::established(|_| ());
    t.shutdown().unwrap();
    for s in [0, 1, 3] {
        recv!(t, s * 1000, "F. 1 ack 1");
    }
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    t.shutdown().unwrap();
    recv!(t, 0, "F. 101 ack 1");
    recv!(t, 1_000, "FP. 1(100) ack 1");
}

#[test]
fn the_timer_of_freebsd_is_shorter() {
    let mut t = with_round_trip(20, |config| config.tcp.timer = TcpConfig::FREEBSD_TIMER);
    t.write(100);
    recv!(t, 20, "P. 1(100) ack 1");
    // SRTT 20 ms, RTTVAR 10 ms, and 200 ms of slop in place of 4 * 10.
    recv!(t, 240, "P. 1(100) ack 1");
    recv!(t, 680, "P. 1(100) ack 1");
}

#[test]
fn the_peer_may_acknowledge_what_is_about_to_be_sent_again() {
    let mut t = plain(4);
    recv!(t, 1_000, ". 1(100) ack 1");
    // All four had arrived.
    send!(t, 1_010, ". 1 ack 401 win 4096");
    t.quiet(5_000);
    assert_eq!(t.stack.next_deadline(t.now), None);
}

#[test]
fn a_simultaneous_open_that_was_closed_ends_in_time_too() {
    let mut t = Trace::in_state(State::SynReceived, |_| ());
    t.close().unwrap();
    t.run_until(super::tcp::at(200_000));
    t.seen.clear();
    t.assert_idle();
}
