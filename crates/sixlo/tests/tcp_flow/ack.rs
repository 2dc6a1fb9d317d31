//! When acknowledgements and small segments go out: RFC 9293 sections 3.8.6.3 and 3.7.4, RFC 5681 section 4.2.

use sixlo::time::Duration;

use super::established;
use super::tcp::{Trace, recv, send};

#[test]
fn an_acknowledgement_waits_for_company() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    t.quiet(99);
    // 100 ms, less than half a second (MUST-40).
    recv!(t, 100, ". 1 ack 11");
}

#[test]
fn every_second_full_segment_is_acknowledged_at_once() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, ". 1(400) ack 1 win 4096");
    send!(t, 10, ". 401(400) ack 1 win 4096");
    // (SHLD-19), RFC 5681 section 4.2.
    recv!(t, 10, ". 1 ack 801");
    t.quiet(500);
}

#[test]
fn data_takes_the_acknowledgement_along() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    t.quiet(50);
    t.write(10);
    recv!(t, 50, "P. 1(10) ack 11");
    send!(t, 60, ". 11 ack 11 win 4096");
    t.quiet(500);
}

#[test]
fn acknowledgements_are_not_acknowledged() {
    let mut t = Trace::established(|_| ());
    t.write(10);
    recv!(t, 0, "P. 1(10) ack 1");
    for n in 0..10 {
        send!(t, 10 + n, ". 1 ack 11 win {}", 4000 + n);
    }
    t.quiet(500);
}

#[test]
fn waiting_can_be_turned_off() {
    let mut t = Trace::established(|config| config.tcp.delayed_ack = Duration::from_secs(0));
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 11");
}

#[test]
fn fin_is_acknowledged_at_once() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    send!(t, 10, "F. 11 ack 1 win 4096");
    recv!(t, 10, ". 1 ack 12");
}

#[test]
fn a_small_segment_waits_for_the_acknowledgement_of_the_one_before() {
    let mut t = established("<mss 100>", |_| ());
    t.write(10);
    recv!(t, 0, "P. 1(10) ack 1");
    t.write(20);
    t.write(30);
    // Section 3.7.4: Nagle.
    t.quiet(500);
    send!(t, 500, ". 1 ack 11 win 4096");
    recv!(t, 500, "P. 11(50) ack 1");
}

#[test]
fn a_full_segment_does_not_wait() {
    let mut t = established("<mss 100>", |_| ());
    t.write(10);
    recv!(t, 0, "P. 1(10) ack 1");
    t.write(60);
    t.quiet(10);
    t.write(60);
    recv!(t, 10, ". 11(100) ack 1");
    t.quiet(20);
    send!(t, 20, ". 1 ack 111 win 4096");
    recv!(t, 20, "P. 111(20) ack 1");
}

#[test]
fn the_last_small_segment_waits_even_behind_full_ones() {
    let mut t = established("<mss 100>", |_| ());
    t.write(250);
    recv!(t, 0, ". 1(100) ack 1");
    recv!(t, 0, ". 101(100) ack 1");
    t.quiet(10);
    send!(t, 10, ". 1 ack 201 win 4096");
    recv!(t, 10, "P. 201(50) ack 1");
}

#[test]
fn nagle_can_be_turned_off() {
    let mut t = established("<mss 100>", |config| config.tcp.nagle = false);
    for n in 0..4 {
        t.write(10);
        recv!(t, 0, "P. {}(10) ack 1", 1 + n * 10);
    }
}

#[test]
fn what_is_left_goes_with_the_fin_without_waiting() {
    let mut t = established("<mss 100>", |_| ());
    t.write(10);
    recv!(t, 0, "P. 1(10) ack 1");
    t.write(20);
    t.shutdown().unwrap();
    recv!(t, 0, "FP. 11(20) ack 1");
}

#[test]
fn data_that_was_written_before_the_handshake_goes_with_its_end() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    t.write(50);
    t.quiet(10);
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 10, "P. 1(50) ack 1");
}

#[test]
fn push_stands_where_the_send_buffer_is_empty() {
    let mut t = established("<mss 100>", |_| ());
    t.write(300);
    recv!(t, 0, ". 1(100) ack 1");
    recv!(t, 0, ". 101(100) ack 1");
    // Section 3.9.1.2.
    recv!(t, 0, "P. 201(100) ack 1");
}
