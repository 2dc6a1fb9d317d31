//! Explicit congestion notification: RFC 3168 section 6.1.

use sixlo::wire::tcp::Flags;

use super::tcp::{Trace, recv, send};
use super::window;

/// An established connection with ECN that the peer opened.
fn capable() -> Trace {
    let mut t = Trace::listening(|config| {
        config.tcp.ecn = true;
        config.tcp.send_buffer = 4000;
    });
    send!(t, 0, "SEW 0 win 4096 <mss 100>");
    recv!(t, 0, "SE. 0 ack 1 ecn not");
    send!(t, 0, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t
}

fn sent(t: &mut Trace) -> Vec<super::tcp::Seg> {
    t.settle();
    core::mem::take(&mut t.seen)
        .into_iter()
        .map(|(_, seg)| seg)
        .collect()
}

#[test]
fn it_is_offered_with_both_flags_and_taken_with_one() {
    // Section 6.1.1.
    let mut t = Trace::connecting(|config| config.tcp.ecn = true);
    recv!(t, 0, "SEW 0 ecn not");
    send!(t, 10, "SE. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 10, ". 1 ack 1 ecn not");
    t.write(50);
    recv!(t, 10, "P. 1(50) ack 1 ecn ect0");
}

#[test]
fn who_does_not_offer_is_not_answered_so() {
    let mut t = Trace::listening(|config| config.tcp.ecn = true);
    send!(t, 0, "S 0 win 4096 <mss 100>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 1 ecn not");
}

#[test]
fn one_flag_alone_is_no_offer() {
    for line in ["SE 0 win 4096", "SW 0 win 4096"] {
        let mut t = Trace::listening(|config| config.tcp.ecn = true);
        send!(t, 0, "{line}");
        recv!(t, 0, "S. 0 ack 1");
    }
}

#[test]
fn an_answer_with_both_flags_refuses_it() {
    // Section 6.1.1: some reflect whatever comes.
    let mut t = Trace::connecting(|config| config.tcp.ecn = true);
    recv!(t, 0, "SEW 0");
    send!(t, 10, "SEW. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 10, ". 1 ack 1");
    t.write(50);
    recv!(t, 10, "P. 1(50) ack 1 ecn not");
}

#[test]
fn an_answer_without_a_flag_refuses_it() {
    let mut t = Trace::connecting(|config| config.tcp.ecn = true);
    recv!(t, 0, "SEW 0");
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 10, ". 1 ack 1");
    t.write(50);
    recv!(t, 10, "P. 1(50) ack 1 ecn not");
}

#[test]
fn a_syn_that_is_sent_again_does_not_offer_it() {
    // Section 6.1.1.1.
    let mut t = Trace::connecting(|config| config.tcp.ecn = true);
    recv!(t, 0, "SEW 0");
    recv!(t, 1_000, "S 0");
    send!(t, 1_010, "S. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 1_010, ". 1 ack 1");
}

#[test]
fn it_can_be_turned_off() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "SEW 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
}

#[test]
fn acknowledgements_are_not_capable() {
    // Section 6.1.4.
    let mut t = capable();
    send!(t, 0, "P. 1(10) ack 1 win 4096 ecn ect0");
    recv!(t, 100, ". 1 ack 11 ecn not");
}

#[test]
fn what_is_sent_again_is_not_capable() {
    // Section 6.1.5.
    let mut t = capable();
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 1 ecn ect0");
    recv!(t, 1_000, "P. 1(50) ack 1 ecn not");
}

#[test]
fn probes_of_a_window_are_not_capable() {
    // Section 6.1.6.
    let mut t = capable();
    send!(t, 0, "P. 1(1) ack 1 win 4096");
    send!(t, 0, ". 2 ack 1 win 0");
    t.write(50);
    recv!(t, 100, ". 1 ack 2");
    recv!(t, 5_000, ". 1(1) ack 2 ecn not");
}

#[test]
fn each_acknowledgement_tells_of_congestion_until_the_peer_has_slowed_down() {
    // Section 6.1.3.
    let mut t = capable();
    send!(t, 0, "P. 1(10) ack 1 win 4096 ecn ce");
    recv!(t, 100, "E. 1 ack 11");
    send!(t, 110, "P. 11(10) ack 1 win 4096 ecn ect0");
    recv!(t, 210, "E. 1 ack 21");
    t.write(10);
    recv!(t, 210, "PE. 1(10) ack 21 ecn ect0");
    send!(t, 220, "PW. 21(10) ack 11 win 4096 ecn ect0");
    recv!(t, 320, ". 11 ack 31");
}

#[test]
fn congestion_after_the_answer_is_told_anew() {
    let mut t = capable();
    send!(t, 0, "P. 1(10) ack 1 win 4096 ecn ce");
    recv!(t, 100, "E. 1 ack 11");
    // The peer slowed down, and this segment met congestion again.
    send!(t, 110, "PW. 11(10) ack 1 win 4096 ecn ce");
    recv!(t, 210, "E. 1 ack 21");
}

#[test]
fn what_is_not_capable_tells_of_no_congestion() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(10) ack 1 win 4096 ecn ce");
    recv!(t, 100, ". 1 ack 11");
}

#[test]
fn the_window_is_halved_once_for_all_that_was_under_way() {
    // Section 6.1.2.
    let mut t = capable();
    t.write(1000);
    assert_eq!(sent(&mut t).len(), 10);
    send!(t, 50, "E. 1 ack 101 win 4096");
    let halved = window(&t);
    assert!((500..=600).contains(&halved), "{halved}");
    for n in 2..=10 {
        send!(t, 50 + n, "E. 1 ack {} win 4096", 1 + n * 100);
    }
    assert!(window(&t) <= halved + 200, "{}", window(&t));
    t.write(500);
    let after = sent(&mut t);
    // The first segment that is new says so.
    let told: Vec<_> = after.iter().map(|seg| seg.flags.contains(Flags::CWR)).collect();
    assert_eq!(told, [true, false, false, false, false]);
}

#[test]
fn congestion_in_the_next_window_halves_it_again() {
    let mut t = capable();
    t.write(1000);
    sent(&mut t);
    send!(t, 50, "E. 1 ack 1001 win 4096");
    t.write(500);
    assert_eq!(sent(&mut t).len(), 5);
    let before = window(&t);
    send!(t, 100, "E. 1 ack 1501 win 4096");
    assert!(window(&t) < before, "{}", window(&t));
}

#[test]
fn congestion_is_not_heeded_where_it_was_not_agreed() {
    let mut t = super::plain(10);
    send!(t, 50, "E. 1 ack 1001 win 4096");
    assert_eq!(window(&t), 1100);
}
