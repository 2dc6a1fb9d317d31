//! Recovery by selective acknowledgements: RFC 6675 with the blocks of RFC 2018.

use super::tcp::{recv, send};
use super::{established, under_way, window, with_sack};

#[test]
fn permission_is_asked_for_and_given_as_configured() {
    let mut t = super::Trace::connecting(|config| config.tcp.sack = true);
    recv!(t, 0, "S 0 <mss 1220 sackok>");
    let mut t = super::Trace::listening(|config| config.tcp.sack = true);
    send!(t, 0, "S 0 win 4096 <mss 500 sackok>");
    recv!(t, 0, "S. 0 ack 1 <mss 1220 sackok>");
    // RFC 2018 section 2: only in answer to an offer.
    let mut t = super::Trace::listening(|config| config.tcp.sack = true);
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1 <mss 1220>");
    let mut t = super::Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500 sackok>");
    recv!(t, 0, "S. 0 ack 1 <mss 1220>");
}

#[test]
fn three_segments_above_a_hole_show_it_at_once() {
    let mut t = with_sack(10);
    // RFC 6675 section 5 (2): IsLost (HighACK + 1), before the third duplicate.
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-401>");
    recv!(t, 50, ". 1(100) ack 1");
    t.quiet(60);
}

#[test]
fn three_acknowledgements_that_each_tell_of_more_show_a_hole() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-201>");
    send!(t, 51, ". 1 ack 1 win 4096 <sack 101-251>");
    t.quiet(52);
    send!(t, 52, ". 1 ack 1 win 4096 <sack 101-301>");
    recv!(t, 52, ". 1(100) ack 1");
}

#[test]
fn duplicates_without_news_are_none() {
    let mut t = with_sack(10);
    // RFC 6675 section 2: a duplicate carries a block with something new.
    for ms in 50..60 {
        send!(t, ms, ". 1 ack 1 win 4096 <sack 101-201>");
        send!(t, ms, ". 1 ack 1 win 4096");
    }
    t.quiet(900);
}

#[test]
fn new_data_may_go_when_some_has_arrived() {
    let mut t = with_sack(10);
    t.write(500);
    // RFC 6675 section 5 (3): limited transmit.
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-201>");
    recv!(t, 50, ". 1001(100) ack 1");
    send!(t, 51, ". 1 ack 1 win 4096 <sack 101-301>");
    recv!(t, 51, ". 1101(100) ack 1");
    send!(t, 52, ". 1 ack 1 win 4096 <sack 101-401>");
    recv!(t, 52, ". 1(100) ack 1");
}

#[test]
fn holes_are_filled_in_order_as_the_pipe_has_room() {
    let mut t = with_sack(10);
    // Lost: 1, 301 and 601.
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-301 401-601>");
    recv!(t, 50, ". 1(100) ack 1");
    assert_eq!(window(&t), 500);
    // SetPipe: 601 to 1001 is under way, and 1; 301 is lost by what lies above.
    send!(t, 51, ". 1 ack 1 win 4096 <sack 701-901 101-301 401-601>");
    recv!(t, 51, ". 301(100) ack 1");
    // 601 is not lost yet, but there is room and nothing new: rule 3 of NextSeg.
    recv!(t, 51, ". 601(100) ack 1");
    t.quiet(60);
}

#[test]
fn a_hole_is_filled_once() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-401>");
    recv!(t, 50, ". 1(100) ack 1");
    for n in 0..6 {
        send!(t, 51 + n, ". 1 ack 1 win 4096 <sack 101-{}>", 501 + n * 100);
    }
    // Rule 4 of NextSeg has nothing to rescue, and the window is larger than what is left.
    t.quiet(900);
}

#[test]
fn new_data_follows_when_the_holes_are_filled() {
    let mut t = with_sack(10);
    t.write(1000);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-1001>");
    recv!(t, 50, ". 1(100) ack 1");
    // The hole is all that is under way; 500 may be.
    for seq in [1001, 1101, 1201, 1301] {
        recv!(t, 50, ". {seq}(100) ack 1");
    }
    t.quiet(60);
}

#[test]
fn recovery_ends_when_all_is_acknowledged_that_was_sent_before() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-1001>");
    recv!(t, 50, ". 1(100) ack 1");
    send!(t, 60, ". 1 ack 1001 win 4096");
    assert_eq!(window(&t), 500);
    t.write(1000);
    for seq in [1001, 1101, 1201, 1301, 1401] {
        recv!(t, 60, ". {seq}(100) ack 1");
    }
    // Another loss is another event.
    send!(t, 70, ". 1 ack 1001 win 4096 <sack 1101-1401>");
    recv!(t, 70, ". 1001(100) ack 1");
    assert_eq!(window(&t), 250);
}

#[test]
fn losses_of_one_window_reduce_it_once() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-401>");
    recv!(t, 50, ". 1(100) ack 1");
    send!(t, 51, ". 1 ack 1 win 4096 <sack 101-401 501-1001>");
    recv!(t, 51, ". 401(100) ack 1");
    send!(t, 60, ". 1 ack 401 win 4096 <sack 501-1001>");
    assert_eq!(window(&t), 500);
}

#[test]
fn a_retransmission_that_is_lost_waits_for_the_timer() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-1001>");
    recv!(t, 50, ". 1(100) ack 1");
    // RFC 6675 section 5: the timer starts anew with the retransmission.
    recv!(t, 1_050, ". 1(100) ack 1");
    send!(t, 1_060, ". 1 ack 1001 win 4096");
    t.quiet(9_000);
}

#[test]
fn after_a_time_out_nothing_is_believed_of_what_was_told_before() {
    let mut t = with_sack(4);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 201-301>");
    recv!(t, 1_000, ". 1(100) ack 1");
    // RFC 2018 section 8: the peer may have thrown it away.
    send!(t, 1_010, ". 1 ack 101 win 4096");
    recv!(t, 1_010, ". 101(100) ack 1");
    recv!(t, 1_010, ". 201(100) ack 1");
}

#[test]
fn a_block_below_the_acknowledgement_tells_of_nothing() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 201 win 4096");
    // RFC 2883 section 4: D-SACK, what arrived twice.
    for ms in 51..60 {
        send!(t, ms, ". 1 ack 201 win 4096 <sack 1-101>");
    }
    t.quiet(900);
}

#[test]
fn without_permission_blocks_are_not_looked_at() {
    let mut t = under_way(10, "<mss 100>", |config| config.tcp.sack = true);
    send!(t, 50, ". 1 ack 1 win 4096 <sack 101-901>");
    t.quiet(60);
    send!(t, 60, ". 1 ack 1 win 4096");
    send!(t, 61, ". 1 ack 1 win 4096");
    // The third duplicate.
    recv!(t, 61, ". 1(100) ack 1");
}

#[test]
fn the_fin_is_recovered_as_data_is() {
    let mut t = with_sack(5);
    t.shutdown().unwrap();
    recv!(t, 0, "F. 501 ack 1");
    send!(t, 50, ". 1 ack 401 win 4096");
    recv!(t, 1_050, "FP. 401(100) ack 1");
    send!(t, 1_060, ". 1 ack 502 win 4096");
}

#[test]
fn blocks_with_an_acknowledgement_of_something_new_count_too() {
    let mut t = with_sack(10);
    send!(t, 50, ". 1 ack 101 win 4096 <sack 201-501>");
    recv!(t, 50, ". 101(100) ack 1");
}

#[test]
fn a_retransmission_is_nothing_that_was_never_sent() {
    let mut t = established("<mss 300 sackok>", |config| {
        config.tcp.sack = true;
        config.tcp.nagle = false;
    });
    for _ in 0..5 {
        t.write(20);
    }
    t.settle();
    t.seen.clear();
    send!(t, 10, "P. 1(1) ack 1 win 4096");
    send!(t, 10, ". 2 ack 1 win 100");
    t.write(500);
    send!(t, 50, ". 2 ack 1 win 100 <sack 21-41>");
    send!(t, 51, ". 2 ack 1 win 100 <sack 21-61>");
    t.quiet(51);
    send!(t, 52, ". 2 ack 1 win 100 <sack 21-81>");
    let again = t.next_seen();
    assert_eq!((again.seq, again.data.len() <= 100), (1, true));
}
