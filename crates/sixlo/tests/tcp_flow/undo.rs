//! Retransmissions that were not needed: Eifel (RFC 3522, RFC 4015) and F-RTO (RFC 5682).

use super::tcp::{recv, send, ticks};
use super::{plain, under_way, window};

/// Ten segments of 88 bytes with timestamps, and the stack's value at 0 ms.
fn stamped() -> (super::Trace, u64) {
    let t = under_way(10, "<mss 100 ts 700 0>", |config| config.tcp.timestamps = true);
    (t, ticks(0))
}

#[test]
fn segments_that_overtook_each_other_are_no_loss() {
    let (mut t, own) = stamped();
    for n in 0..3 {
        send!(t, 50 + n, ". 1 ack 1 win 4096 <ts 750 {own}>");
    }
    t.settle();
    t.seen.clear();
    assert!(window(&t) < 880);
    // RFC 3522 section 3.2: it answers what was sent at 0 ms, not what was sent again at 52 ms.
    send!(t, 60, ". 1 ack 89 win 4096 <ts 760 {own}>");
    assert!(window(&t) >= 880, "{}", window(&t));
}

#[test]
fn a_loss_is_not_undone() {
    let (mut t, own) = stamped();
    for n in 0..3 {
        send!(t, 50 + n, ". 1 ack 1 win 4096 <ts 750 {own}>");
    }
    t.settle();
    t.seen.clear();
    let reduced = window(&t);
    send!(t, 70, ". 1 ack 881 win 4096 <ts 760 {}>", ticks(52));
    assert!(window(&t) <= reduced + 88, "{}", window(&t));
}

#[test]
fn a_time_out_that_was_needed_is_not_undone() {
    let (mut t, _) = stamped();
    recv!(t, 1_000, ". 1(88) ack 1");
    send!(t, 1_010, ". 1 ack 89 win 4096 <ts 760 {}>", ticks(1_000));
    assert!(window(&t) <= 2 * 88, "{}", window(&t));
}

#[test]
fn two_new_segments_tell_whether_the_time_out_was_needed() {
    let mut t = plain(10);
    t.write(1000);
    t.quiet(999);
    recv!(t, 1_000, ". 1(100) ack 1");
    // RFC 5682 section 2.1 step 2 (b).
    send!(t, 1_010, ". 1 ack 101 win 4096");
    recv!(t, 1_010, ". 1001(100) ack 1");
    recv!(t, 1_010, ". 1101(100) ack 1");
    // Step 3 (b): it was not, and all goes on as before.
    send!(t, 1_020, ". 1 ack 301 win 4096");
    assert!(window(&t) >= 1000, "{}", window(&t));
}

#[test]
fn a_duplicate_after_a_time_out_means_a_loss() {
    let mut t = plain(10);
    t.write(1000);
    t.quiet(999);
    recv!(t, 1_000, ". 1(100) ack 1");
    // Step 2 (a).
    send!(t, 1_010, ". 1 ack 1 win 4096");
    t.quiet(1_020);
    send!(t, 1_020, ". 1 ack 101 win 4096");
    recv!(t, 1_020, ". 101(100) ack 1");
    recv!(t, 1_020, ". 201(100) ack 1");
    assert_eq!(window(&t), 200);
}

#[test]
fn a_duplicate_after_the_new_segments_means_a_loss() {
    let mut t = plain(10);
    t.write(1000);
    t.quiet(999);
    recv!(t, 1_000, ". 1(100) ack 1");
    send!(t, 1_010, ". 1 ack 101 win 4096");
    recv!(t, 1_010, ". 1001(100) ack 1");
    recv!(t, 1_010, ". 1101(100) ack 1");
    // Step 3 (a): conventional recovery, with what follows the acknowledgement.
    send!(t, 1_020, ". 1 ack 101 win 4096");
    recv!(t, 1_020, ". 101(100) ack 1");
    assert!(window(&t) <= 300, "{}", window(&t));
}

#[test]
fn an_acknowledgement_of_all_leaves_nothing_to_find_out() {
    let mut t = plain(10);
    t.write(1000);
    recv!(t, 1_000, ". 1(100) ack 1");
    send!(t, 1_010, ". 1 ack 1001 win 4096");
    // Slow start from one segment.
    recv!(t, 1_010, ". 1001(100) ack 1");
    recv!(t, 1_010, ". 1101(100) ack 1");
    t.quiet(1_020);
}
