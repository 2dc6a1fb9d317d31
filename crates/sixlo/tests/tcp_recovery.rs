//! What TCP does about losses, and about congestion that it is told of: one test for each mechanism.

#[path = "support/tcp.rs"]
mod tcp;

use sixlo::tcp::TcpError;
use tcp::{Trace, recv, send, ticks};

/// Ten segments under way, of 100 bytes each, sent at 0 ms.
fn ten_segments(options: &str, change: impl Fn(&mut sixlo::stack::Config)) -> Trace {
    let mut t = Trace::established_with(
        |config| {
            config.tcp.send_buffer = 4000;
            change(config);
        },
        options,
    );
    let usual = if options.contains("ts") { 12 } else { 0 };
    assert_eq!(t.stack.tcp_connection(t.id()).unwrap().mss(), 100 - usual);
    t.write(10 * u32::from(100 - usual));
    t
}

#[test]
fn a_hole_is_filled_at_the_third_duplicate_acknowledgement() {
    let mut t = ten_segments("<mss 100>", |_| ());
    for seq in (1..900).step_by(100) {
        recv!(t, 0, ". {seq}(100) ack 1");
    }
    recv!(t, 0, "P. 901(100) ack 1");
    send!(t, 50, ". 1 ack 101 win 4096");
    t.write(1000);
    // The window grew by a segment.
    recv!(t, 50, ". 1001(100)");
    recv!(t, 50, ". 1101(100)");
    // RFC 3042: two duplicates let two new segments go.
    send!(t, 60, ". 1 ack 101 win 4096");
    recv!(t, 60, ". 1201(100)");
    send!(t, 61, ". 1 ack 101 win 4096");
    recv!(t, 61, ". 1301(100)");
    send!(t, 62, ". 1 ack 101 win 4096");
    recv!(t, 62, ". 101(100)");
    for ms in 63..=68 {
        send!(t, ms, ". 1 ack 101 win 4096");
    }
    // Nine segments have left the network, four are under way, and the window takes five and a half.
    recv!(t, 68, ". 1401(100)");
    // RFC 6582 section 3.2: a partial acknowledgement shows the next hole.
    send!(t, 80, ". 1 ack 301 win 4096");
    recv!(t, 80, ". 301(100)");
    recv!(t, 80, ". 1501(100)");
    send!(t, 100, ". 1 ack 1401 win 4096");
    for seq in [1601, 1701, 1801] {
        recv!(t, 100, ". {seq}(100)");
    }
    assert_eq!(t.stack.tcp_connection(t.id()).unwrap().congestion().window(), 550);
}

#[test]
fn holes_are_filled_as_selective_acknowledgements_show_them() {
    let mut t = ten_segments("<mss 100 sackok>", |config| config.tcp.sack = true);
    t.settle();
    t.seen.clear();
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-201>");
    send!(t, 51, ". 1 ack 1 win 4096 <sack 101-201 301-401>");
    t.quiet(52);
    send!(t, 52, ". 1 ack 1 win 4096 <sack 101-201 301-501>");
    recv!(t, 52, ". 1(100) ack 1");
    // RFC 6675: half of ten segments may be under way, and six are outstanding and not lost.
    send!(t, 53, ". 1 ack 1 win 4096 <sack 101-201 301-801>");
    recv!(t, 53, ". 201(100) ack 1");
    send!(t, 70, ". 1 ack 201 win 4096 <sack 301-801>");
    // Rule 4 of NextSeg: the rescue.
    recv!(t, 70, "P. 901(100) ack 1");
    t.quiet(80);
    send!(t, 90, ". 1 ack 1001 win 4096");
    t.quiet(2000);
    assert_eq!(t.stack.tcp_connection(t.id()).unwrap().congestion().window(), 500);
}

#[test]
fn a_time_out_sends_everything_again_but_what_arrived_since() {
    let mut t = ten_segments("<mss 100 sackok>", |config| config.tcp.sack = true);
    t.settle();
    t.seen.clear();
    recv!(t, 1000, ". 1(100) ack 1");
    // What the peer has beyond is not sent again.
    send!(t, 1100, ". 1 ack 101 win 4096 <sack 301-1001>");
    recv!(t, 1100, ". 101(100) ack 1");
    recv!(t, 1100, ". 201(100) ack 1");
    send!(t, 1200, ". 1 ack 1001 win 4096");
    t.quiet(9000);
}

#[test]
fn a_time_out_that_was_not_needed_is_undone_by_timestamps() {
    let mut t = ten_segments("<mss 100 ts 700 0>", |config| config.tcp.timestamps = true);
    t.settle();
    t.seen.clear();
    recv!(t, 1000, ". 1(88) ack 1 <ts {} 700>", ticks(1000));
    // RFC 3522: the acknowledgement of the first transmission comes late.
    send!(t, 1010, ". 1 ack 89 win 4096 <ts 1710 0>");
    let window = t.stack.tcp_connection(t.id()).unwrap().congestion().window();
    assert!(window >= 880, "{window}");
    t.quiet(1500);
}

#[test]
fn a_time_out_that_was_not_needed_is_undone_by_what_comes_after_it() {
    let mut t = ten_segments("<mss 100>", |_| ());
    t.settle();
    t.seen.clear();
    t.write(1000);
    recv!(t, 1000, ". 1(100) ack 1");
    // RFC 5682 section 2.1, step 2 (b): two new segments.
    send!(t, 1010, ". 1 ack 101 win 4096");
    recv!(t, 1010, ". 1001(100) ack 1");
    recv!(t, 1010, ". 1101(100) ack 1");
    // Step 3 (b).
    send!(t, 1020, ". 1 ack 201 win 4096");
    let window = t.stack.tcp_connection(t.id()).unwrap().congestion().window();
    assert!(window >= 1000, "{window}");
}

#[test]
fn congestion_that_the_peer_tells_of_halves_the_window_and_is_answered_once() {
    let mut t = Trace::listening(|config| config.tcp.ecn = true);
    send!(t, 0, "SEW 0 win 4096 <mss 100>");
    recv!(t, 0, "SE. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 4096");
    t.id = Some(t.stack.tcp_accept(t.listener.unwrap()).unwrap());
    t.write(1000);
    for seq in (1..900).step_by(100) {
        recv!(t, 0, ". {seq}(100) ack 1 ecn ect0");
    }
    recv!(t, 0, "P. 901(100) ack 1 ecn ect0");
    send!(t, 50, "E. 1 ack 501 win 4096");
    t.write(500);
    send!(t, 60, "E. 1 ack 1001 win 4096");
    recv!(t, 60, "W. 1001(100) ack 1 ecn ect0");
    for seq in [1101, 1201, 1301] {
        recv!(t, 60, ". {seq}(100) ack 1 ecn ect0");
    }
    recv!(t, 60, "P. 1401(100) ack 1 ecn ect0");
    // And the other way: until CWR comes.
    send!(t, 70, "P. 1(10) ack 1501 win 4096 ecn ce");
    recv!(t, 170, "E. 1501 ack 11 ecn not");
    send!(t, 180, "WP. 11(10) ack 1501 win 4096 ecn ect0");
    recv!(t, 280, ". 1501 ack 21 ecn not");
}

#[test]
fn xt5_a_reset_in_the_window_is_challenged_and_challenges_are_few() {
    let mut t = Trace::established(|_| ());
    let mut answers = 0;
    for seq in 2..100 {
        for line in [format!("R {seq}"), format!("S {seq} win 100")] {
            t.send(10, &line);
            answers += t.seen.len();
            t.seen.clear();
        }
    }
    assert!((5..10).contains(&answers), "{answers}");
    send!(t, 20, "R 1");
    assert_eq!(t.read(1), Err(TcpError::Reset));
}

#[test]
fn a_quiet_connection_is_probed_and_ends_if_nobody_answers() {
    let mut t = Trace::established(|_| ());
    t.stack.tcp_set_keep_alive(t.now, t.id(), true, &mut ()).unwrap();
    recv!(t, 7_200_000, ". 0 ack 1");
    send!(t, 7_200_100, ". 1 ack 1 win 4096");
    recv!(t, 14_400_100, ". 0 ack 1");
    for n in 1..8 {
        recv!(t, 14_400_100 + n * 75_000, ". 0 ack 1");
    }
    recv!(t, 14_400_100 + 8 * 75_000, "R. 1 ack 1");
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut t = Trace::established(|config| config.tcp.send_buffer = 4000);
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    send!(t, 0, ". 1 ack 101 win 0");
    t.write(50);
    // The shortest probe interval is 5 s.
    recv!(t, 5_000, ". 101(1) ack 1");
    send!(t, 5_010, ". 1 ack 101 win 0");
    recv!(t, 10_000, ". 101(1) ack 1");
    send!(t, 10_010, ". 1 ack 102 win 0");
    recv!(t, 15_000, ". 102(1) ack 1");
    send!(t, 16_000, ". 1 ack 102 win 4096");
    recv!(t, 16_000, "P. 102(49) ack 1");
}
