//! Flow control: RFC 9293 section 3.8.6, with what FreeBSD does about silly windows.

use sixlo::tcp::TcpError;
use sixlo::time::Duration;

use super::tcp::{Trace, recv, send};
use super::{established, plain, press};

/// The peer has closed its window, and 300 bytes wait behind it since 0 ms.
fn closed() -> Trace {
    let mut t = established("<mss 100>", |_| ());
    // The same numbers and less room: FreeBSD, and so we, believe that of something newer only.
    send!(t, 0, "P. 1(1) ack 1 win 4096");
    send!(t, 0, ". 2 ack 1 win 0");
    assert_eq!(t.read(10), Ok(1));
    t.write(300);
    recv!(t, 100, ". 1 ack 2");
    t
}

/// Data has come until the window is closed: the connection's 1024 bytes.
fn full() -> Trace {
    let mut t = Trace::established(|_| ());
    send!(t, 0, ". 1(500) ack 1 win 4096");
    send!(t, 0, ". 501(500) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1001 win 24");
    send!(t, 0, "P. 1001(24) ack 1 win 4096");
    recv!(t, 100, ". 1 ack 1025 win 0");
    t
}

#[test]
fn nothing_is_sent_beyond_the_peer_s_window() {
    let mut t = Trace::listening(|config| config.tcp.send_buffer = 4000);
    send!(t, 0, "S 0 win 1000 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 1000");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t.write(2500);
    recv!(t, 0, ". 1(500) ack 1");
    recv!(t, 0, ". 501(500) ack 1");
    t.quiet(10);
    send!(t, 20, ". 1 ack 501 win 1000");
    recv!(t, 20, ". 1001(500) ack 1");
    send!(t, 30, ". 1 ack 1001 win 500");
    t.quiet(40);
}

#[test]
fn a_closed_window_is_probed_with_a_byte() {
    let mut t = closed();
    // Section 3.8.6.1 (MUST-36): with data. FreeBSD: 5 s at least.
    recv!(t, 5_000, ". 1(1) ack 2");
    send!(t, 5_010, ". 2 ack 1 win 0");
    recv!(t, 10_000, ". 1(1) ack 2");
}

#[test]
fn probes_become_rarer() {
    let mut t = closed();
    // (SHLD-30): the interval grows exponentially: 1 s doubled each time, within 5 s and 60 s.
    for s in [5, 10, 15, 23, 39, 71, 131] {
        recv!(t, s * 1000, ". 1(1) ack 2");
        send!(t, s * 1000, ". 2 ack 1 win 0");
    }
}

#[test]
fn xt10_a_window_that_stays_closed_is_probed_as_long_as_the_peer_answers() {
    let mut t = closed();
    let mut probes = 0;
    for s in 1..=7200 {
        t.run_until(super::tcp::at(s * 1000));
        for (_, probe) in core::mem::take(&mut t.seen) {
            assert_eq!((probe.seq, probe.data.len()), (1, 1));
            probes += 1;
            t.send(s * 1000, ". 2 ack 1 win 0");
        }
    }
    // (MUST-37): it stays open.
    assert!((100..140).contains(&probes), "{probes}");
    send!(t, 7_200_500, ". 2 ack 1 win 4096");
    recv!(t, 7_200_500, ". 1(100) ack 2");
}

#[test]
fn xt10_probes_that_nobody_answers_end_the_connection() {
    let mut t = closed();
    for s in [5, 10, 15, 23, 39, 71, 131, 191, 251] {
        recv!(t, s * 1000, ". 1(1) ack 2");
    }
    recv!(t, 311_000, "R. 2 ack 2");
    assert_eq!(t.try_write(1), Err(TcpError::TimedOut));
}

#[test]
fn a_probe_that_is_taken_moves_on() {
    let mut t = closed();
    recv!(t, 5_000, ". 1(1) ack 2");
    send!(t, 5_010, ". 2 ack 2 win 0");
    recv!(t, 10_000, ". 2(1) ack 2");
    send!(t, 10_020, ". 2 ack 3 win 4096");
    recv!(t, 10_020, ". 3(100) ack 2");
    recv!(t, 10_020, ". 103(100) ack 2");
    send!(t, 10_030, ". 2 ack 203 win 4096");
    recv!(t, 10_030, "P. 203(98) ack 2");
}

#[test]
fn a_window_that_opens_lets_data_go_at_once() {
    let mut t = closed();
    send!(t, 3_000, ". 2 ack 1 win 250");
    recv!(t, 3_000, ". 1(100) ack 2");
    recv!(t, 3_000, ". 101(100) ack 2");
    // And the retransmission timer runs in place of the other.
    recv!(t, 4_000, ". 1(100) ack 2");
}

#[test]
fn a_probe_that_was_lost_is_sent_again_with_the_rest_when_the_window_opens() {
    let mut t = closed();
    recv!(t, 5_000, ". 1(1) ack 2");
    send!(t, 5_500, ". 2 ack 1 win 4096");
    recv!(t, 5_500, ". 1(100) ack 2");
    recv!(t, 5_500, ". 101(100) ack 2");
    recv!(t, 5_500, "P. 201(100) ack 2");
}

#[test]
fn fin_does_not_wait_for_a_window() {
    let mut t = established("<mss 100>", |_| ());
    send!(t, 0, "P. 1(1) ack 1 win 4096");
    send!(t, 0, ". 2 ack 1 win 0");
    t.shutdown().unwrap();
    // FreeBSD: it takes no room.
    recv!(t, 0, "F. 1 ack 2");
}

#[test]
fn fin_waits_for_the_data_before_it() {
    let mut t = closed();
    t.shutdown().unwrap();
    recv!(t, 5_000, ". 1(1) ack 2");
    send!(t, 5_010, ". 2 ack 2 win 1000");
    recv!(t, 5_010, ". 2(100) ack 2");
    recv!(t, 5_010, ". 102(100) ack 2");
    recv!(t, 5_010, "FP. 202(99) ack 2");
}

#[test]
fn an_abort_behind_a_closed_window_is_told() {
    let mut t = closed();
    t.abort().unwrap();
    recv!(t, 100, "R. 1 ack 2");
    t.assert_idle();
}

#[test]
fn a_window_that_was_closed_from_the_start_is_probed() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 10, "S. 0 ack 1 win 0 <mss 100>");
    recv!(t, 10, ". 1 ack 1");
    t.write(200);
    recv!(t, 5_010, ". 1(1) ack 1");
    send!(t, 5_020, ". 1 ack 2 win 500");
    recv!(t, 5_020, ". 2(100) ack 1");
    send!(t, 5_030, ". 1 ack 102 win 500");
    recv!(t, 5_030, "P. 102(99) ack 1");
}

#[test]
fn a_window_that_shrinks_lets_nothing_new_go() {
    let mut t = established("<mss 100>", |_| ());
    t.write(500);
    t.settle();
    t.seen.clear();
    // Section 3.8.6: a sender is robust against that (MUST-34).
    send!(t, 10, "P. 1(1) ack 101 win 200");
    t.write(500);
    recv!(t, 110, ". 501 ack 2");
    t.quiet(900);
    // (SHLD-15): what is old is sent again as always.
    recv!(t, 1_010, ". 101(100) ack 2");
    send!(t, 1_020, ". 2 ack 501 win 200");
    recv!(t, 1_020, ". 501(100) ack 2");
}

#[test]
fn a_window_that_shrinks_to_nothing_is_probed_and_the_connection_lives() {
    let mut t = plain(3);
    send!(t, 10, "P. 1(1) ack 101 win 0");
    recv!(t, 110, ". 301 ack 2");
    // (MUST-35) and (MUST-36).
    let mut probes = 0;
    for s in 1..=1000 {
        t.run_until(super::tcp::at(s * 1000));
        for (_, probe) in core::mem::take(&mut t.seen) {
            assert_eq!((probe.seq, probe.data.len()), (101, 1));
            probes += 1;
            t.send(s * 1000, ". 2 ack 101 win 0");
        }
    }
    assert!((15..30).contains(&probes), "{probes}");
    send!(t, 1_000_500, ". 2 ack 101 win 4096");
    recv!(t, 1_000_500, ". 101(100) ack 2");
    recv!(t, 1_000_500, "P. 201(100) ack 2");
}

#[test]
fn xt10_a_silly_window_is_not_used() {
    let mut t = closed();
    // Section 3.8.6.2.1: neither a full segment nor half of the largest window.
    send!(t, 1_000, ". 2 ack 1 win 50");
    // The override time-out (5 s of FreeBSD's timer).
    recv!(t, 6_000, ". 1(50) ack 2");
}

#[test]
fn xt10_a_window_of_a_byte_does_not_make_a_stream_of_bytes() {
    let mut t = closed();
    let mut segments = 0;
    for n in 0..100 {
        segments += press(&mut t, 1_000 + n * 10, &format!(". 2 ack 1 win {}", 1 + n % 2));
    }
    assert_eq!(segments, 0);
}

#[test]
fn half_of_the_largest_window_is_enough() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 100 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 100");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t.write(300);
    // Section 3.8.6.2.1 (3): the peer has so small a buffer.
    recv!(t, 0, ". 1(100) ack 1");
    send!(t, 10, ". 1 ack 101 win 50");
    recv!(t, 10, ". 101(50) ack 1");
}

#[test]
fn a_window_of_old_is_not_believed() {
    let mut t = established("<mss 100>", |_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4000");
    recv!(t, 100, ". 1 ack 11");
    // Section 3.10.7.4: SND.WL1 and SND.WL2. This came before.
    send!(t, 110, ". 1 ack 1 win 0");
    t.seen.clear();
    t.write(100);
    recv!(t, 110, "P. 1(100) ack 11");
}

#[test]
fn the_receive_window_closes_with_what_waits_and_is_never_taken_back() {
    let mut t = full();
    // Nothing fits any more; the answer tells where we are.
    send!(t, 200, "P. 1025(1) ack 1 win 4096");
    recv!(t, 200, ". 1 ack 1025 win 0");
    assert_eq!(t.read(2000), Ok(1024));
    recv!(t, 200, ". 1 ack 1025 win 1024");
}

#[test]
fn the_acknowledgement_of_a_segment_beyond_a_closed_window_counts() {
    let mut t = full();
    t.write(100);
    recv!(t, 100, "P. 1(100) ack 1025");
    // Section 3.10.7.4: "special allowance should be made to accept valid ACKs".
    send!(t, 200, "P. 1025(1) ack 101 win 4096");
    recv!(t, 200, ". 101 ack 1025 win 0");
    t.quiet(5_000);
}

#[test]
fn xt10_the_receive_window_opens_by_half_of_the_buffer() {
    let mut t = full();
    // FreeBSD: twice a segment or half of the buffer, whatever is less; each byte read opens nothing.
    for _ in 0..511 {
        assert_eq!(t.read(1), Ok(1));
    }
    t.quiet(200);
    assert_eq!(t.read(1), Ok(1));
    recv!(t, 200, ". 1 ack 1025 win 512");
}

#[test]
fn a_little_room_is_not_announced() {
    let mut t = full();
    assert_eq!(t.read(200), Ok(200));
    t.write(10);
    // FreeBSD: less than a quarter of the buffer and than a segment.
    recv!(t, 100, "P. 1(10) ack 1025 win 0");
    send!(t, 200, ". 1025 ack 11 win 4096");
    assert_eq!(t.read(100), Ok(100));
    t.write(10);
    recv!(t, 200, "P. 11(10) ack 1025 win 300");
}

#[test]
fn what_lies_beyond_the_window_is_cut_off() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(1200) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025 win 0");
    assert_eq!(t.read(2000), Ok(1024));
}

#[test]
fn what_lies_wholly_beyond_the_window_is_dropped() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1025(10) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 win 1024");
    assert_eq!(t.read(10), Err(TcpError::WouldBlock));
}

#[test]
fn small_writes_leave_room_for_their_acknowledgements() {
    let mut t = established("<mss 1000>", |config| config.tcp.nagle = false);
    let mut taken = 0;
    // One byte after the other, each a segment, none acknowledged: they take more and more entries of the packet buffer.
    for _ in 0..300 {
        taken += t.try_write(1).map_or(0, |n| n as u32);
    }
    t.settle();
    t.seen.clear();
    assert!(taken > 20, "{taken}");
    send!(t, 100, ". 1 ack {} win 4096", 1 + taken);
    assert_eq!(t.try_write(1), Ok(1));
    t.run_until(super::tcp::at(100) + Duration::from_millis(1));
}

/// RFC 9293 section 3.1 (MUST-1).
#[test]
fn a_window_above_32767_is_not_negative() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, ". 1 ack 1 win 65535");
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
}
