//! Blind attacks (RFC 5961): segments of somebody who knows the ports and guesses numbers. The window of the connection reaches
//! from 1 to 1024, the peer's is 4096.

use sixlo::tcp::{State, TcpError};

use crate::tcp::{RECEIVE, Trace, recv, send, show};
use crate::{another, swap};

/// What the stack has sent, as lines.
fn sent(t: &mut Trace) -> Vec<String> {
    t.seen.drain(..).map(|(_, seg)| show(&seg)).collect()
}

/// The peer sends these many segments at once; how many answers come.
fn flood(t: &mut Trace, ms: u64, count: u32, line: impl Fn(u32) -> String) -> usize {
    let answers = (0..count).map(|n| {
        t.send(ms, &line(n));
        sent(t).len()
    });
    answers.sum()
}

/// States in which both sides know each other's numbers, with the peer's next one and ours.
const SYNCHRONIZED: [(State, u32, u32); 6] = [
    (State::Established, 1, 1),
    (State::FinWait1, 1, 2),
    (State::FinWait2, 1, 2),
    (State::CloseWait, 2, 1),
    (State::Closing, 2, 2),
    (State::LastAck, 2, 2),
];

/// Data still gets through, both ways.
fn assert_alive(t: &mut Trace, ms: u64) {
    t.write(10);
    let (own, peer) = (t.written - 10, t.read);
    recv!(t, ms, "P. {own}(10) ack {peer}");
    send!(t, ms, "P. {peer}(10) ack {own} win 4096", own = own + 10);
    assert_eq!(t.read(100), Ok(10));
}

// Section 3: RST.

#[test]
fn xt5_a_reset_with_the_next_number_ends_the_connection() {
    // Section 3.2, 2).
    for (state, rcv, _) in SYNCHRONIZED {
        let mut t = Trace::in_state(state, |_| ());
        send!(t, 0, "R {rcv}");
        assert_eq!((t.state(), sent(&mut t).len()), (State::Closed, 0), "{state:?}");
    }
}

#[test]
fn xt5_a_reset_elsewhere_in_the_window_is_challenged() {
    // Section 3.2, 3): <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>.
    for (state, rcv, nxt) in SYNCHRONIZED {
        let mut t = Trace::in_state(state, |_| ());
        send!(t, 0, "R {}", rcv + 1);
        recv!(t, 0, ". {nxt} ack {rcv}");
        assert_eq!(t.state(), state);
    }
}

#[test]
fn a_reset_with_the_last_number_of_the_window_is_challenged() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R {RECEIVE}");
    recv!(t, 0, ". 1 ack 1");
    assert_alive(&mut t, 0);
}

#[test]
fn xt5_a_reset_with_the_number_behind_the_window_is_met_with_silence() {
    // Section 3.2, 1).
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R {}", RECEIVE + 1);
    t.quiet(10);
    assert_alive(&mut t, 10);
}

#[test]
fn a_reset_with_the_number_before_the_window_is_met_with_silence() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R 0");
    t.quiet(10);
    assert_alive(&mut t, 10);
}

#[test]
fn a_reset_from_the_other_half_of_the_numbers_is_met_with_silence() {
    let mut t = Trace::established(|_| ());
    for seq in [0x7fff_ffff_u32, 0x8000_0000, 0x8000_0001, 0x8000_0002] {
        send!(t, 0, "R {seq}");
    }
    t.quiet(10);
    assert_alive(&mut t, 10);
}

#[test]
fn a_reset_may_carry_data() {
    // RFC 9293 section 3.5.3, SHLD-2.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R 1(20)");
    assert_eq!((t.state(), t.read(100)), (State::Closed, Err(TcpError::Reset)));
}

#[test]
fn the_acknowledgement_of_a_reset_is_not_looked_at() {
    // Section 3.2: "validated by checking their SEQ-fields".
    for ack in [0, 1, 9000, 0x8000_0000_u32] {
        let mut t = Trace::established(|_| ());
        send!(t, 0, "R. 1 ack {ack}");
        assert_eq!(t.state(), State::Closed);
    }
}

#[test]
fn a_peer_that_is_gone_answers_the_challenge_with_the_right_number() {
    // Section 3.2, "the remote peer will send a second RST back".
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R 100");
    recv!(t, 0, ". 1 ack 1");
    send!(t, 10, "R 1");
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn the_challenge_bears_the_number_of_what_is_sent_next() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    send!(t, 10, "R 100");
    recv!(t, 10, ". 101 ack 1");
}

#[test]
fn with_data_missing_only_the_first_missing_number_resets() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    send!(t, 10, "R 201");
    recv!(t, 10, ". 1 ack 1");
    send!(t, 20, "R 1");
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn what_counts_is_what_was_received_not_what_was_acknowledged() {
    let mut t = Trace::established(|_| ());
    // The acknowledgement of this waits.
    send!(t, 0, "P. 1(100) ack 1 win 4096");
    send!(t, 10, "R 1");
    recv!(t, 100, ". 1 ack 101");
    send!(t, 110, "R 101");
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn a_full_receive_buffer_can_still_be_reset() {
    // RFC 9293 section 3.10.7.4, first: "special allowance ... to accept valid ACKs, URGs, and RSTs".
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(1024) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025 win 0");
    send!(t, 110, "R 1026");
    send!(t, 120, "R 1024");
    t.quiet(130);
    assert_eq!(t.state(), State::Established);
    send!(t, 130, "R 1025");
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn an_open_is_refused_only_by_whoever_has_seen_it() {
    // Section 3.2, SYN-SENT: "acceptable if the ACK field acknowledges the SYN. In all other cases ... discard".
    let mut t = Trace::in_state(State::SynSent, |_| ());
    send!(t, 10, "R 0");
    send!(t, 20, "R 1");
    send!(t, 30, "R. 0 ack 0");
    send!(t, 40, "R. 0 ack 2");
    send!(t, 50, "R. 0 ack 9000");
    t.quiet(60);
    assert_eq!(t.state(), State::SynSent);
    send!(t, 60, "R. 0 ack 1");
    assert_eq!(t.read(1), Err(TcpError::Refused));
}

#[test]
fn a_connection_that_the_peer_opens_is_not_taken_back_by_a_guess() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "R 100");
    recv!(t, 10, ". 1 ack 1");
    send!(t, 20, "R 0");
    send!(t, 30, "R 5000");
    t.quiet(40);
    send!(t, 40, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!(t.state(), State::Established);
}

// Section 4: SYN.

#[test]
fn xt5_a_syn_is_challenged_whatever_its_number() {
    // Section 4.2, 1): "irrespective of the sequence number".
    for (state, rcv, nxt) in SYNCHRONIZED {
        for offset in [-1_i64, 0, 1, 500, 1023, 1024, 5000, 0x8000_0000] {
            let mut t = Trace::in_state(state, |_| ());
            let seq = (i64::from(rcv) + offset) as u32;
            send!(t, 0, "S {seq} win 4096 <mss 500>");
            recv!(t, 0, ". {nxt} ack {rcv}");
            assert_eq!(t.state(), state);
        }
    }
}

#[test]
fn a_syn_with_acknowledgement_is_challenged() {
    for ack in [0, 1, 2, 5000] {
        let mut t = Trace::established(|_| ());
        send!(t, 0, "S. 1 ack {ack} win 4096");
        recv!(t, 0, ". 1 ack 1");
        assert_alive(&mut t, 0);
    }
}

#[test]
fn the_rest_of_a_syn_is_not_taken() {
    // "MUST drop the unacceptable segment and stop processing further": neither data nor FIN nor window nor acknowledgement.
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    send!(t, 10, "SF. 1(50) ack 101 win 0 <mss 64>");
    recv!(t, 10, ". 101 ack 1");
    assert_eq!(
        (t.state(), t.read(100)),
        (State::Established, Err(TcpError::WouldBlock))
    );
    recv!(t, 1000, "P. 1(100) ack 1");
}

#[test]
fn a_peer_that_began_anew_gets_its_connection_after_the_challenge() {
    // Section 4.2: "rely on SYN retransmission from the remote end to re-establish the connection".
    let mut t = Trace::established(|_| ());
    send!(t, 0, "S 7000 win 4096 <mss 500>");
    recv!(t, 0, ". 1 ack 1");
    send!(t, 10, "R 1");
    assert_eq!(t.state(), State::Closed);
    send!(t, 1000, "S 7000 win 4096 <mss 500>");
    recv!(t, 1000, "S. 0 ack 7001");
    send!(t, 1010, ". 7001 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!(t.state(), State::Established);
}

#[test]
fn a_syn_during_a_simultaneous_open_is_challenged() {
    // RFC 9293 section 3.10.7.4, fourth, SYN-RECEIVED after an active OPEN.
    let mut t = Trace::in_state(State::SynReceived, |_| ());
    send!(t, 10, "S 500 win 4096");
    recv!(t, 10, ". 1 ack 1");
    send!(t, 20, "S. 0 ack 500 win 4096");
    recv!(t, 20, ". 1 ack 1");
    send!(t, 30, "S. 0 ack 1 win 4096");
    assert_eq!(t.state(), State::Established);
}

#[test]
fn another_syn_does_not_take_the_place_of_one_that_is_answered() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "S 700 win 64 <mss 64>");
    recv!(t, 10, "S. 0 ack 1");
    send!(t, 20, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t.write(500);
    recv!(t, 20, "P. 1(500) ack 1");
}

// Section 5: data.

/// A connection with 300 bytes acknowledged, 100 under way, so that SND.UNA is 301, SND.NXT 401 and MAX.SND.WND 4096.
fn busy() -> Trace {
    let mut t = Trace::established(|_| ());
    t.write(300);
    recv!(t, 0, "P. 1(300) ack 1");
    send!(t, 10, ". 1 ack 301 win 4096");
    t.write(100);
    recv!(t, 10, "P. 301(100) ack 1");
    t
}

#[test]
fn data_with_an_acknowledgement_in_range_is_taken() {
    // Section 5.2: (SND.UNA - MAX.SND.WND) <= SEG.ACK <= SND.NXT.
    for ack in [401, 350, 301, 300, 0, 301 - 4096] {
        let mut t = busy();
        send!(t, 20, "P. 1(10) ack {ack} win 4096");
        assert_eq!(t.read(100), Ok(10), "{ack}");
    }
}

#[test]
fn xt6_data_with_an_acknowledgement_out_of_range_is_discarded_and_answered() {
    for ack in [
        402,
        9000,
        i64::from(i32::MAX) + 301,
        i64::from(i32::MIN),
        301 - 4097,
    ] {
        let mut t = busy();
        send!(t, 20, "P. 1(10) ack {ack} win 4096");
        recv!(t, 20, ". 401 ack 1");
        assert_eq!(t.read(100), Err(TcpError::WouldBlock), "{ack}");
    }
}

#[test]
fn the_largest_window_counts_not_the_present_one() {
    let mut t = busy();
    send!(t, 20, ". 1 ack 401 win 100");
    send!(t, 30, "P. 1(10) ack {} win 100", 401 - 4096);
    assert_eq!(t.read(100), Ok(10));
}

#[test]
fn a_fin_with_an_acknowledgement_out_of_range_is_discarded() {
    for (state, rcv, nxt) in SYNCHRONIZED {
        if !state.may_receive() {
            continue;
        }
        for ack in [nxt + 1, nxt.wrapping_sub(5000)] {
            let mut t = Trace::in_state(state, |_| ());
            send!(t, 20, "F. {rcv} ack {ack} win 4096");
            recv!(t, 20, ". {nxt} ack {rcv}");
            assert_eq!(t.state(), state);
        }
    }
}

#[test]
fn a_window_with_an_acknowledgement_out_of_range_is_not_believed() {
    let mut t = busy();
    send!(t, 20, ". 1 ack 402 win 0");
    recv!(t, 20, ". 401 ack 1");
    t.write(500);
    recv!(t, 20, "P. 401(500) ack 1");
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_gives_nothing_free() {
    // RFC 9293 section 3.10.7.4, fifth: "send an ACK, drop the segment".
    let mut t = busy();
    send!(t, 20, ". 1 ack 402 win 4096");
    recv!(t, 20, ". 401 ack 1");
    recv!(t, 1010, "P. 301(100) ack 1");
}

#[test]
fn what_was_sent_before_a_time_out_may_be_acknowledged_after_it() {
    let mut t = Trace::established(|_| ());
    t.write(1200);
    recv!(t, 0, ". 1(500) ack 1");
    recv!(t, 0, ". 501(500) ack 1");
    recv!(t, 1000, ". 1(500) ack 1");
    send!(t, 1010, ". 1 ack 1001 win 4096");
    recv!(t, 1010, "P. 1001(200) ack 1");
}

#[test]
fn a_segment_without_acknowledgement_is_dropped() {
    // RFC 9293 section 3.10.7.4, fifth.
    let mut t = Trace::established(|_| ());
    for line in [
        "P 1(10) win 4096",
        "F 1 win 4096",
        "- 1(10) win 4096",
        "U 1(10) win 4096",
    ] {
        t.send(0, line);
    }
    t.quiet(10);
    assert_eq!(
        (t.state(), t.read(100)),
        (State::Established, Err(TcpError::WouldBlock))
    );
}

#[test]
fn data_beyond_the_window_is_discarded_and_answered() {
    // RFC 9293 section 3.10.7.4, first.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1025(10) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    send!(t, 10, "P. 1(1024) ack 1 win 4096");
    assert_eq!(t.read(2000), Ok(1024));
}

#[test]
fn of_data_that_reaches_beyond_the_window_only_what_lies_in_it_is_taken() {
    // RFC 9293 section 3.10.7.4, first: "trimming off any portions that lie outside the window (including SYN and FIN)".
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 1(1100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025 win 0");
    assert_eq!((t.state(), t.read(2000)), (State::Established, Ok(1024)));
}

#[test]
fn of_data_that_was_partly_received_only_the_rest_is_taken() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(100) ack 1 win 4096");
    send!(t, 10, "P. 51(100) ack 1 win 4096");
    recv!(t, 10, ". 1 ack 151");
    assert_eq!(t.read(1000), Ok(150));
}

// Section 7: throttling.

/// So many resets in the window at once; how many challenges come.
fn challenges(t: &mut Trace, ms: u64, count: u32) -> usize {
    let next = t.read;
    flood(t, ms, count, |n| format!("R {}", next + 1 + n))
}

#[test]
fn xt5_challenges_are_bounded() {
    // Section 7: no more than 10 in any 5 s as an example; ours are at most 9 a second.
    let mut t = Trace::established(|_| ());
    let count = challenges(&mut t, 0, 100);
    assert!((5..10).contains(&count), "{count}");
    let more = challenges(&mut t, 0, 100);
    assert_eq!(more, 0);
}

#[test]
fn every_kind_of_guess_shares_the_bound() {
    let mut t = Trace::established(|_| ());
    challenges(&mut t, 0, 100);
    send!(t, 0, "S 1 win 4096");
    send!(t, 0, "S 9000 win 4096");
    send!(t, 0, ". 1 ack 5000 win 4096");
    send!(t, 0, ". 5000 ack 1 win 4096");
    t.quiet(10);
}

#[test]
fn the_bound_comes_back_with_time() {
    let mut t = Trace::established(|_| ());
    challenges(&mut t, 0, 100);
    assert!(challenges(&mut t, 1100, 100) >= 5);
}

#[test]
fn the_bound_cannot_be_told_beforehand() {
    // A bound that is always the same tells whoever counts whether somebody else's guess was right (Cao et al. 2016).
    let mut t = Trace::established(|_| ());
    let counts: Vec<usize> = (0..20).map(|n| challenges(&mut t, 2000 * n, 100)).collect();
    assert!(counts.iter().any(|count| *count != counts[0]), "{counts:?}");
}

#[test]
fn xt5_the_bound_of_a_connection_tells_nothing_of_another() {
    // Cao et al. 2016: with one bound for all connections, an attacker's own tells of its guesses at others.
    let mut t = Trace::established(|_| ());
    let mut other = another(&mut t, 1234);
    challenges(&mut t, 0, 100);
    swap(&mut t, &mut other);
    assert!(challenges(&mut t, 0, 100) >= 5);
}

#[test]
fn a_connection_works_while_its_challenges_are_spent() {
    let mut t = Trace::established(|_| ());
    challenges(&mut t, 0, 100);
    assert_alive(&mut t, 0);
    send!(t, 10, "P. 500(10) ack 11 win 4096");
    recv!(t, 10, ". 11 ack 11");
    send!(t, 20, "R 11");
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn guesses_at_half_open_connections_are_answered_within_a_bound() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    let count = flood(&mut t, 0, 100, |n| format!("R {}", 2 + n));
    assert_eq!(count, 10);
}

#[test]
fn an_answer_to_a_syn_does_not_make_a_half_open_connection_answer_with_syn() {
    // Else SYNs that are forged to come from each other set two listeners at each other for ever.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    for n in 0..100 {
        send!(t, 0, "S. {} ack 5000 win 4096", 700 + n);
        for line in sent(&mut t) {
            assert!(n < 10 && line.starts_with(". 1 ack 1 "), "{line}");
        }
    }
    send!(t, 10, ". 1 ack 1 win 4096");
    assert!(
        t.listener
            .is_some_and(|listener| t.stack.tcp_accept(listener).is_ok())
    );
}

#[test]
fn segments_for_nobody_are_reset_within_a_bound() {
    let mut t = Trace::new(|_| ());
    let line = |n| format!(". {n} ack 1 win 4096");
    assert_eq!(flood(&mut t, 0, 100, line), 10);
    // One more each 100 ms.
    assert_eq!(flood(&mut t, 350, 100, line), 3);
}

#[test]
fn resets_for_nobody_are_not_answered() {
    let mut t = Trace::new(|_| ());
    for line in [
        "R 0",
        "R 1",
        "R. 1 ack 1",
        "SR 0",
        "FR. 1 ack 1",
        "SFRP.U 1 ack 1",
    ] {
        t.send(0, line);
    }
    t.quiet(10);
}

#[test]
fn a_guess_at_ports_does_not_touch_a_connection() {
    let mut t = Trace::established(|_| ());
    let own = t.ports;
    for ports in [(own.0, own.1 + 1), (own.0 + 1, own.1)] {
        t.ports = ports;
        send!(t, 0, "R 1");
        send!(t, 0, "P. 1(10) ack 1 win 4096");
        assert_eq!(sent(&mut t), ["R 1 win 0"]);
    }
    t.ports = own;
    assert_alive(&mut t, 0);
}

#[test]
fn two_that_have_lost_track_of_each_other_do_not_answer_for_ever() {
    // RFC 9293 appendix A.2. Each answers what is beyond its window; the bound ends it.
    let mut t = Trace::established(|_| ());
    let mut rounds = 0;
    send!(t, 0, ". 5000 ack 1 win 4096");
    while let Some((_, seg)) = t.seen.pop_front() {
        rounds += 1;
        assert_eq!((seg.seq, seg.ack), (1, 1));
        send!(t, 0, ". 5000 ack 1 win 4096");
        assert!(rounds < 20);
    }
}
