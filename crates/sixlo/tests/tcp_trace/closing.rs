//! Closing a connection (RFC 9293 section 3.6, and 3.10.7.4 in the closing states).

use sixlo::tcp::{State, TcpError};

use crate::tcp::{Trace, recv, send};
use crate::with_window;

#[test]
fn we_close_first() {
    // RFC 9293 figure 12, TCP Peer A.
    let mut t = Trace::established(|_| ());
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1 ack 1");
    assert_eq!(t.state(), State::FinWait1);
    send!(t, 10, ". 1 ack 2 win 4096");
    assert_eq!(t.state(), State::FinWait2);
    send!(t, 20, "F. 1 ack 2 win 4096");
    recv!(t, 20, ". 2 ack 2");
    assert_eq!(t.state(), State::TimeWait);
    t.quiet(60_019);
    assert_eq!(t.state(), State::TimeWait);
    t.quiet(60_020);
    assert_eq!(t.state(), State::Closed);
    t.close().unwrap();
    t.assert_idle();
}

#[test]
fn the_peer_closes_first() {
    // RFC 9293 figure 12, TCP Peer B.
    let mut t = Trace::established(|_| ());
    send!(t, 10, "F. 1 ack 1 win 4096");
    recv!(t, 10, ". 1 ack 2");
    assert_eq!((t.state(), t.read(10)), (State::CloseWait, Ok(0)));
    t.close().unwrap();
    recv!(t, 10, "F. 1 ack 2");
    send!(t, 20, ". 2 ack 2 win 4096");
    t.quiet(1000);
    // MUST-13 asks only the side that closed first to wait.
    t.assert_idle();
}

#[test]
fn xt9_both_close_at_once() {
    // RFC 9293 figure 13.
    let mut t = Trace::established(|_| ());
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1 ack 1");
    send!(t, 10, "F. 1 ack 1 win 4096");
    recv!(t, 10, ". 2 ack 2");
    assert_eq!(t.state(), State::Closing);
    send!(t, 20, ". 2 ack 2 win 4096");
    assert_eq!(t.state(), State::TimeWait);
    t.quiet(60_020);
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn a_fin_that_acknowledges_ours_skips_fin_wait_2() {
    // RFC 9293 figure 5, note 2.
    let mut t = Trace::in_state(State::FinWait1, |_| ());
    send!(t, 10, "F. 1 ack 2 win 4096");
    recv!(t, 10, ". 2 ack 2");
    assert_eq!(t.state(), State::TimeWait);
}

#[test]
fn fin_goes_out_behind_all_data() {
    // RFC 9293 section 3.10.4, ESTABLISHED: queued until all that was sent before is segmentized.
    let mut t = Trace::established(|_| ());
    t.write(700);
    recv!(t, 0, ". 1(500) ack 1");
    t.shutdown().unwrap();
    recv!(t, 0, "FP. 501(200) ack 1");
    assert_eq!(t.try_write(1), Err(TcpError::ShutDown));
    send!(t, 10, ". 1 ack 702 win 4096");
    assert_eq!(t.state(), State::FinWait2);
}

#[test]
fn fin_waits_for_the_window_as_data_does() {
    let mut t = with_window(300);
    t.write(500);
    recv!(t, 0, ". 1(300) ack 1");
    t.shutdown().unwrap();
    t.quiet(10);
    send!(t, 10, ". 1 ack 301 win 4096");
    recv!(t, 10, "FP. 301(200) ack 1");
}

#[test]
fn fin_alone_is_sent_into_a_closed_window() {
    // It takes no room of the receive buffer; FreeBSD sends it.
    let mut t = with_window(0);
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1 ack 1");
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut t = Trace::established(|_| ());
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1 ack 1");
    recv!(t, 1000, "F. 1 ack 1");
    recv!(t, 3000, "F. 1 ack 1");
    send!(t, 3010, ". 1 ack 2 win 4096");
    assert_eq!(t.state(), State::FinWait2);
    t.quiet(100_000);
}

#[test]
fn a_lost_fin_behind_data_is_sent_again_with_it() {
    let mut t = Trace::established(|_| ());
    t.write(100);
    t.shutdown().unwrap();
    recv!(t, 0, "P. 1(100) ack 1");
    recv!(t, 0, "F. 101 ack 1");
    recv!(t, 1000, "FP. 1(100) ack 1");
}

#[test]
fn the_half_that_is_open_carries_data_to_us() {
    // RFC 9293 section 3.6.1.
    let mut t = Trace::in_state(State::FinWait2, |_| ());
    send!(t, 10, "P. 1(100) ack 2 win 4096");
    assert_eq!(t.read(200), Ok(100));
    recv!(t, 110, ". 2 ack 101");
    send!(t, 120, "FP. 101(50) ack 2 win 4096");
    recv!(t, 120, ". 2 ack 152");
    assert_eq!(t.state(), State::TimeWait);
    // Data that came before the FIN can be read.
    assert_eq!(t.read(200), Ok(50));
    assert_eq!(t.read(200), Ok(0));
}

#[test]
fn the_half_that_is_open_carries_our_data() {
    let mut t = Trace::in_state(State::CloseWait, |_| ());
    t.write(600);
    recv!(t, 0, ". 1(500) ack 2");
    send!(t, 10, ". 2 ack 501 win 4096");
    recv!(t, 10, "P. 501(100) ack 2");
    send!(t, 20, ". 2 ack 601 win 4096");
    t.shutdown().unwrap();
    recv!(t, 20, "F. 601 ack 2");
    assert_eq!(t.state(), State::LastAck);
}

#[test]
fn data_between_two_fins_counts() {
    let mut t = Trace::in_state(State::FinWait1, |_| ());
    send!(t, 10, "P. 1(100) ack 1 win 4096");
    assert_eq!((t.state(), t.read(200)), (State::FinWait1, Ok(100)));
    send!(t, 20, "F. 101 ack 2 win 4096");
    recv!(t, 20, ". 2 ack 102");
    assert_eq!(t.state(), State::TimeWait);
}

#[test]
fn unread_data_survives_the_fin_of_the_peer() {
    // RFC 9293 section 3.10.3, CLOSE-WAIT.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 1(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 102");
    assert_eq!(t.state(), State::CloseWait);
    assert_eq!((t.read(60), t.read(60), t.read(60)), (Ok(60), Ok(40), Ok(0)));
}

#[test]
fn data_after_close_is_reset() {
    // RFC 9293 section 3.6.1 (SHLD-3): nobody will read it.
    for (acked, state) in [(1, "FIN-WAIT-1"), (2, "FIN-WAIT-2")] {
        let mut t = Trace::established(|_| ());
        t.close().unwrap();
        recv!(t, 0, "F. 1 ack 1");
        if acked == 2 {
            send!(t, 10, ". 1 ack 2 win 4096");
        }
        send!(t, 20, "P. 1(10) ack {acked} win 4096");
        let reset = t.next_seen();
        assert_eq!(crate::tcp::show(&reset), format!("R {acked} win 0"), "{state}");
        t.assert_idle();
    }
}

#[test]
fn close_with_unread_data_still_sends_what_is_queued() {
    // `docs/tcp.md`: FIN, as FreeBSD; what comes in afterwards is reset.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(100) ack 1 win 4096");
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 101");
    t.close().unwrap();
    recv!(t, 0, "F. 51 ack 101");
}

#[test]
fn fin_wait_2_without_an_application_lasts_a_minute() {
    // `docs/tcp.md`, FreeBSD's `finwait2_timeout`: else a peer that is gone holds the connection for ever.
    let mut t = Trace::established(|_| ());
    t.close().unwrap();
    recv!(t, 0, "F. 1 ack 1");
    send!(t, 10, ". 1 ack 2 win 4096");
    t.quiet(60_009);
    assert!(t.stack.next_deadline(t.now).is_some());
    t.quiet(60_010);
    t.assert_idle();
}

#[test]
fn fin_wait_2_with_an_application_lasts_as_long_as_the_peer_talks() {
    let mut t = Trace::in_state(State::FinWait2, |_| ());
    t.quiet(3_600_000);
    assert_eq!(t.state(), State::FinWait2);
    send!(t, 3_600_000, "F. 1 ack 2 win 4096");
    recv!(t, 3_600_000, ". 2 ack 2");
    assert_eq!(t.state(), State::TimeWait);
}

#[test]
fn a_peer_that_never_acknowledges_our_fin_is_given_up() {
    // RFC 9293 section 3.8.3 (MUST-20) and 3.6, case 2.
    let mut t = Trace::in_state(State::LastAck, |_| ());
    t.run_until(crate::tcp::at(3_600_000));
    assert_eq!(t.state(), State::Closed);
    let last = t.seen.pop_back().expect("segments");
    assert_eq!(crate::tcp::show(&last.1).split(' ').next(), Some("R."));
    t.seen.clear();
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
    t.close().unwrap();
    t.assert_idle();
}

#[test]
fn a_fin_that_is_sent_again_is_answered_again() {
    for state in [State::CloseWait, State::Closing, State::LastAck] {
        let mut t = Trace::in_state(state, |_| ());
        send!(t, 100, "F. 1 ack 1 win 4096");
        let own = if state == State::CloseWait { 1 } else { 2 };
        recv!(t, 100, ". {own} ack 2");
        assert_eq!(t.state(), state);
    }
}

#[test]
fn a_fin_that_is_sent_again_begins_time_wait_anew() {
    // RFC 9293 section 3.10.7.4, fifth, TIME-WAIT: acknowledge it, and restart the 2 MSL timeout.
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    send!(t, 50_000, "F. 1 ack 2 win 4096");
    recv!(t, 50_000, ". 2 ack 2");
    t.quiet(109_999);
    assert_eq!(t.state(), State::TimeWait);
    t.quiet(110_000);
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn a_fin_behind_data_that_is_sent_again_begins_time_wait_anew() {
    let mut t = Trace::in_state(State::FinWait2, |_| ());
    send!(t, 0, "FP. 1(10) ack 2 win 4096");
    recv!(t, 0, ". 2 ack 12");
    send!(t, 50_000, "FP. 1(10) ack 2 win 4096");
    recv!(t, 50_000, ". 2 ack 12");
    t.quiet(109_999);
    assert_eq!(t.state(), State::TimeWait);
}

#[test]
fn nothing_but_the_fin_begins_time_wait_anew() {
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    // Of old, beyond the window, in it; a FIN behind the FIN.
    for (ms, line) in [
        (10_000, "P. 1(1) ack 2 win 4096"),
        (20_000, "P. 9000(1) ack 2 win 4096"),
        (30_000, "P. 2(1) ack 2 win 4096"),
        (40_000, "F. 2 ack 2 win 4096"),
        (50_000, "F. 300 ack 2 win 4096"),
    ] {
        t.send(ms, line);
        recv!(t, ms, ". 2 ack 2");
    }
    send!(t, 55_000, ". 2 ack 2 win 4096");
    t.quiet(60_000);
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn an_acknowledgement_in_time_wait_is_not_answered() {
    // Else two sides that wait would answer each other for ever.
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    for ms in [10, 20, 30] {
        send!(t, ms, ". 2 ack 2 win 4096");
    }
    t.quiet(1000);
}

#[test]
fn a_reset_does_not_end_time_wait() {
    // `docs/tcp.md`: RFC 1337 section 3 (F1) and FreeBSD, not RFC 9293 section 3.10.7.4.
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    send!(t, 10, "R 2");
    t.quiet(59_999);
    assert_eq!((t.state(), t.read(1)), (State::TimeWait, Ok(0)));
}

#[test]
fn a_reset_tells_the_application_in_the_states_where_something_is_missing() {
    // RFC 9293 section 3.10.7.4, second, and section 3.6 (MUST-12).
    for state in [
        State::Established,
        State::FinWait1,
        State::FinWait2,
        State::CloseWait,
        State::Closing,
        State::LastAck,
    ] {
        let mut t = Trace::in_state(state, |_| ());
        let rcv = if state.may_receive() { 1 } else { 2 };
        send!(t, 10, "R {rcv}");
        assert_eq!(
            (t.state(), t.read(1)),
            (State::Closed, Err(TcpError::Reset)),
            "{state:?}"
        );
        t.close().unwrap();
        t.assert_idle();
    }
}

#[test]
fn data_that_came_before_a_reset_can_be_read() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(100) ack 1 win 4096");
    send!(t, 10, "R 101");
    assert_eq!(t.read(200), Ok(100));
    assert_eq!(t.read(200), Err(TcpError::Reset));
}

#[test]
fn abort_sends_a_reset_and_forgets() {
    // RFC 9293 section 3.10.5: <SEQ=SND.NXT><CTL=RST>. The acknowledgement with it is FreeBSD's.
    for (state, line) in [
        (State::Established, "R. 1 ack 1"),
        (State::FinWait1, "R. 2 ack 1"),
        (State::FinWait2, "R. 2 ack 1"),
        (State::CloseWait, "R. 1 ack 2"),
    ] {
        let mut t = Trace::in_state(state, |_| ());
        t.abort().unwrap();
        t.recv(0, line);
        t.assert_idle();
    }
}

#[test]
fn abort_drops_what_is_not_sent_and_what_is_not_acknowledged() {
    let mut t = with_window(600);
    t.write(1000);
    recv!(t, 0, ". 1(500) ack 1");
    assert!(t.stack.buffer().used() > 0);
    t.abort().unwrap();
    recv!(t, 0, "R. 501 ack 1");
    t.assert_idle();
}

#[test]
fn abort_without_a_connection_at_the_peer_is_silent() {
    // RFC 9293 section 3.10.5, SYN-SENT and TIME-WAIT.
    for state in [State::SynSent, State::TimeWait] {
        let mut t = Trace::in_state(state, |_| ());
        t.abort().unwrap();
        t.quiet(10);
        t.assert_idle();
    }
}

#[test]
fn acknowledgements_of_data_count_in_the_closing_states() {
    let mut t = Trace::in_state(State::CloseWait, |_| ());
    t.write(300);
    recv!(t, 0, "P. 1(300) ack 2");
    t.shutdown().unwrap();
    recv!(t, 0, "F. 301 ack 2");
    // The data, not the FIN.
    send!(t, 10, ". 2 ack 301 win 4096");
    assert_eq!(t.state(), State::LastAck);
    recv!(t, 1010, "F. 301 ack 2");
    send!(t, 1020, ". 2 ack 302 win 4096");
    assert_eq!(t.state(), State::Closed);
    assert_eq!(t.stack.buffer().used(), 0);
}

#[test]
fn data_is_sent_again_in_the_closing_states() {
    for peer_fin in [false, true] {
        let mut t = Trace::established(|_| ());
        t.write(100);
        recv!(t, 0, "P. 1(100) ack 1");
        t.shutdown().unwrap();
        recv!(t, 0, "F. 101 ack 1");
        if peer_fin {
            send!(t, 10, "F. 1 ack 1 win 4096");
            recv!(t, 10, ". 102 ack 2");
            assert_eq!(t.state(), State::Closing);
        }
        let ack = if peer_fin { 2 } else { 1 };
        recv!(t, 1000, "FP. 1(100) ack {ack}");
    }
}

#[test]
fn fin_closes_every_state_that_has_not_heard_one() {
    // RFC 9293 section 3.10.7.4, eighth.
    for (state, ack, next) in [
        (State::SynReceived, 1, State::CloseWait),
        (State::Established, 1, State::CloseWait),
        (State::FinWait1, 1, State::Closing),
        (State::FinWait1, 2, State::TimeWait),
        (State::FinWait2, 2, State::TimeWait),
    ] {
        let mut t = Trace::in_state(state, |_| ());
        send!(t, 10, "F. 1 ack {ack} win 4096");
        assert_eq!(t.state(), next, "from {state:?}");
        let own = if state.is_synchronized() && state != State::Established {
            2
        } else {
            1
        };
        recv!(t, 10, ". {own} ack 2");
    }
}

#[test]
fn a_second_shutdown_sends_no_second_fin() {
    // RFC 9293 section 3.10.4, FIN-WAIT-1.
    let mut t = Trace::established(|_| ());
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1 ack 1");
    assert_eq!(t.shutdown(), Err(TcpError::ShutDown));
    t.quiet(10);
}

#[test]
fn a_fin_ends_the_wait_for_room_in_a_closed_window() {
    let mut t = with_window(0);
    t.write(100);
    t.quiet(10);
    send!(t, 10, "F. 1 ack 1 win 0");
    recv!(t, 10, ". 1 ack 2");
    assert_eq!(t.state(), State::CloseWait);
    send!(t, 20, ". 2 ack 1 win 4096");
    recv!(t, 20, "P. 1(100) ack 2");
}

#[test]
fn what_is_queued_is_delivered_after_close() {
    // RFC 9293 section 3.6: "will reliably deliver all buffers SENT before the connection was CLOSED".
    let mut t = with_window(600);
    t.write(1000);
    recv!(t, 0, ". 1(500) ack 1");
    t.close().unwrap();
    // The first segment is lost, the window opens late.
    recv!(t, 1000, ". 1(500) ack 1");
    send!(t, 1010, ". 1 ack 501 win 200");
    recv!(t, 6010, ". 501(200) ack 1");
    send!(t, 6020, ". 1 ack 701 win 4096");
    recv!(t, 6020, "FP. 701(300) ack 1");
    send!(t, 6030, "F. 1 ack 1002 win 4096");
    recv!(t, 6030, ". 1002 ack 2");
    t.quiet(66_030);
    t.assert_idle();
}

#[test]
fn a_connection_that_nobody_has_ends_by_itself_when_the_peer_is_silent() {
    for state in State::ALL {
        if state == State::Closed {
            continue;
        }
        let mut t = Trace::in_state(state, |_| ());
        if state.may_write() && state.is_synchronized() {
            t.write(100);
        }
        t.close().unwrap();
        t.run_until(crate::tcp::at(3_600_000));
        assert!(t.seen.len() < 20, "{state:?}: {} segments", t.seen.len());
        t.assert_idle();
    }
}

#[test]
fn a_connection_that_nobody_has_does_not_wait_for_a_window_for_ever() {
    // A peer that answers each probe and never reads would hold the place and the data.
    let mut t = with_window(0);
    t.write(100);
    t.close().unwrap();
    let mut probes = 0;
    for second in 1..=3600 {
        t.run_until(crate::tcp::at(1000 * second));
        while let Some((_, seg)) = t.seen.pop_front() {
            if !seg.data.is_empty() {
                probes += 1;
                send!(t, 1000 * second, ". 1 ack 1 win 0");
            }
        }
    }
    assert!((10..20).contains(&probes), "{probes}");
    t.assert_idle();
}

#[test]
fn a_window_that_the_application_waits_for_is_probed_for_ever() {
    // RFC 9293 section 3.8.6.1 (MUST-37): as long as the peer answers, the connection stays.
    let mut t = with_window(0);
    t.write(100);
    for second in 1..=3600 {
        t.run_until(crate::tcp::at(1000 * second));
        if t.seen.drain(..).any(|(_, seg)| !seg.data.is_empty()) {
            send!(t, 1000 * second, ". 1 ack 1 win 0");
        }
    }
    assert_eq!(t.state(), State::Established);
    send!(t, 3_600_000, ". 1 ack 1 win 4096");
    recv!(t, 3_600_000, "P. 1(100) ack 1");
}

#[test]
fn a_fin_is_heard_after_close_though_the_receive_buffer_was_full() {
    // What nobody will read takes no room (FreeBSD flushes it).
    let mut t = Trace::established(|_| ());
    send!(t, 0, "P. 1(1024) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025 win 0");
    t.close().unwrap();
    recv!(t, 0, "F. 1 ack 1025 win 1024");
    send!(t, 10, "F. 1025 ack 2 win 4096");
    recv!(t, 10, ". 2 ack 1026");
    t.quiet(60_010);
    t.assert_idle();
}
