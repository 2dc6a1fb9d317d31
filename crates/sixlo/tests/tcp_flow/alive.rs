//! Keep-alive: RFC 9293 section 3.8.4.

use sixlo::tcp::TcpError;
use sixlo::time::Duration;

use super::tcp::{Trace, recv, send};

/// A connection with keep-alive: probes after 10 s, each second, three of them.
fn kept() -> Trace {
    let mut t = Trace::established(|config| {
        config.tcp.keep_alive_idle = Duration::from_secs(10);
        config.tcp.keep_alive_interval = Duration::from_secs(1);
        config.tcp.keep_alive_probes = 3;
    });
    let id = t.id();
    t.stack.tcp_set_keep_alive(t.now, id, true, &mut ()).unwrap();
    t
}

#[test]
fn it_is_off_at_first() {
    let mut t = Trace::established(|_| ());
    // (MUST-25).
    assert_eq!(t.stack.next_deadline(t.now), None);
    t.quiet(100_000_000);
}

#[test]
fn a_probe_bears_an_old_number_and_no_data() {
    let mut t = kept();
    recv!(t, 10_000, ". 0 ack 1");
    send!(t, 10_010, ". 1 ack 1 win 4096");
    t.quiet(20_009);
    recv!(t, 20_010, ". 0 ack 1");
}

#[test]
fn whatever_comes_puts_it_off() {
    let mut t = kept();
    for s in 1..=5 {
        send!(t, s * 5_000, "P. {}(1) ack 1 win 4096", s);
        recv!(t, s * 5_000 + 100, ". 1 ack {}", s + 1);
    }
    recv!(t, 35_000, ". 0 ack 6");
}

#[test]
fn probes_that_nobody_answers_end_the_connection() {
    let mut t = kept();
    for s in [10, 11, 12] {
        recv!(t, s * 1000, ". 0 ack 1");
    }
    recv!(t, 13_000, "R. 1 ack 1");
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn an_answer_counts_probes_anew() {
    let mut t = kept();
    recv!(t, 10_000, ". 0 ack 1");
    recv!(t, 11_000, ". 0 ack 1");
    send!(t, 11_500, ". 1 ack 1 win 4096");
    for ms in [21_500, 22_500, 23_500] {
        recv!(t, ms, ". 0 ack 1");
    }
    recv!(t, 24_500, "R. 1 ack 1");
}

#[test]
fn a_peer_that_has_started_anew_says_so() {
    let mut t = kept();
    recv!(t, 10_000, ". 0 ack 1");
    send!(t, 10_010, "R 1");
    assert_eq!(t.read(1), Err(TcpError::Reset));
}

#[test]
fn it_can_be_turned_off_again() {
    let mut t = kept();
    let id = t.id();
    t.stack.tcp_set_keep_alive(t.now, id, false, &mut ()).unwrap();
    t.quiet(1_000_000);
}

#[test]
fn xt19_probes_of_the_peer_are_answered_with_and_without_a_byte() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    recv!(t, 100, ". 1 ack 11");
    // (MUST-24): an old number without data, or with a byte of garbage.
    send!(t, 200, ". 10 ack 1 win 4096");
    recv!(t, 200, ". 1 ack 11");
    send!(t, 300, ". 10(1) ack 1 win 4096");
    recv!(t, 300, ". 1 ack 11");
    assert_eq!(t.read(100), Ok(10));
}

#[test]
fn a_peer_that_does_not_know_of_it_answers_in_half_closed_states_too() {
    let mut t = kept();
    send!(t, 1_000, "F. 1 ack 1 win 4096");
    recv!(t, 1_000, ". 1 ack 2");
    recv!(t, 11_000, ". 0 ack 2");
    send!(t, 11_010, ". 2 ack 1 win 4096");
    t.quiet(21_000);
}
