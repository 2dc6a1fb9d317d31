//! Opening a connection (RFC 9293 section 3.5), and the options of SYN (sections 3.1, 3.2 and 3.7.1).

use sixlo::tcp::{State, TcpError};

use crate::tcp::{Line, OWN_PORT, PORT, Trace, addr, recv, send};

/// Accepts the connection that the peer opened.
fn accept(t: &mut Trace) {
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!(t.state(), State::Established);
}

fn nothing_to_accept(t: &mut Trace) {
    let accepted = t.stack.tcp_accept(t.listener.expect("it listens"));
    assert_eq!(accepted, Err(TcpError::WouldBlock));
}

#[test]
fn three_segments_open_a_connection_that_the_peer_asked_for() {
    // RFC 9293 figure 6, TCP Peer B.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    nothing_to_accept(&mut t);
    send!(t, 10, ". 1 ack 1 win 4096");
    accept(&mut t);
    t.quiet(60_000);
}

#[test]
fn three_segments_open_a_connection_that_we_asked_for() {
    // RFC 9293 figure 6, TCP Peer A.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    assert_eq!(t.state(), State::SynSent);
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 500>");
    recv!(t, 10, ". 1 ack 1");
    assert_eq!(t.state(), State::Established);
    t.quiet(60_000);
}

#[test]
fn xt9_both_sides_may_open_at_once() {
    // RFC 9293 figure 7, MUST-10.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 10, "S 0 win 4096 <mss 500>");
    recv!(t, 10, "S. 0 ack 1 <mss 1220>");
    assert_eq!(t.state(), State::SynReceived);
    send!(t, 20, "S. 0 ack 1 win 4096 <mss 500>");
    assert_eq!(t.state(), State::Established);
    t.write(700);
    recv!(t, 20, ". 1(500) ack 1");
    send!(t, 30, ". 1 ack 501 win 4096");
    recv!(t, 30, "P. 501(200) ack 1");
}

#[test]
fn an_acknowledgement_ends_a_simultaneous_open_too() {
    let mut t = Trace::in_state(State::SynReceived, |_| ());
    send!(t, 20, ". 1 ack 1 win 4096");
    assert_eq!(t.state(), State::Established);
}

#[test]
fn our_syn_of_a_simultaneous_open_is_sent_until_it_is_acknowledged() {
    let mut t = Trace::in_state(State::SynReceived, |_| ());
    recv!(t, 1000, "S. 0 ack 1");
    recv!(t, 3000, "S. 0 ack 1");
    send!(t, 3100, ". 1 ack 1 win 4096");
    assert_eq!(t.state(), State::Established);
}

#[test]
fn an_old_syn_is_taken_back_by_the_reset_that_answers_it() {
    // RFC 9293 figure 8, TCP Peer B.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "R 1");
    t.quiet(20_000);
    nothing_to_accept(&mut t);
    send!(t, 20_000, "S 10 win 4096");
    recv!(t, 20_000, "S. 0 ack 11");
    send!(t, 20_010, ". 11 ack 1 win 4096");
    accept(&mut t);
}

#[test]
fn the_answer_to_an_old_syn_of_ours_is_reset_and_the_open_goes_on() {
    // RFC 9293 figure 8, TCP Peer A.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 10, "S. 0 ack -9 win 4096");
    recv!(t, 10, "R -9");
    assert_eq!(t.state(), State::SynSent);
    send!(t, 20, "S. 100 ack 1 win 4096");
    recv!(t, 20, ". 1 ack 101");
    assert_eq!(t.state(), State::Established);
}

#[test]
fn a_peer_that_has_lost_its_memory_finds_the_old_connection() {
    // RFC 9293 figure 9, TCP Peer B.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "S 5000 win 4096");
    recv!(t, 0, ". 1 ack 1");
    send!(t, 10, "R 1");
    assert_eq!(t.state(), State::Closed);
    assert_eq!(t.read(10), Err(TcpError::Reset));
}

#[test]
fn we_find_an_old_connection_of_the_peer() {
    // RFC 9293 figure 9, TCP Peer A.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 10, ". 300 ack 100 win 4096");
    recv!(t, 10, "R 100");
    assert_eq!(t.state(), State::SynSent);
    recv!(t, 1000, "S 0");
    send!(t, 1010, "S. 0 ack 1 win 4096");
    recv!(t, 1010, ". 1 ack 1");
}

#[test]
fn data_for_a_connection_that_is_no_more_is_reset() {
    // RFC 9293 figure 10.
    let mut t = Trace::new(|_| ());
    send!(t, 0, "P. 300(10) ack 100 win 4096");
    recv!(t, 0, "R 100 win 0");
}

#[test]
fn a_listener_resets_the_answer_to_a_syn_that_it_never_sent() {
    // RFC 9293 figure 11.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S. 50 ack 91 win 4096");
    recv!(t, 0, "R 91");
    send!(t, 10, "R 51");
    t.quiet(10_000);
}

#[test]
fn a_lost_answer_is_sent_again_when_the_syn_comes_again() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 500, "S 0 win 4096");
    recv!(t, 500, "S. 0 ack 1");
    send!(t, 510, ". 1 ack 1 win 4096");
    accept(&mut t);
}

#[test]
fn a_lost_answer_is_sent_again_after_one_two_and_four_seconds_and_then_forgotten() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    recv!(t, 1000, "S. 0 ack 1");
    recv!(t, 3000, "S. 0 ack 1");
    recv!(t, 7000, "S. 0 ack 1");
    t.quiet(60_000);
    // It is nobody's any more.
    send!(t, 60_000, ". 1 ack 1 win 4096");
    recv!(t, 60_000, "R 1");
    t.assert_idle();
}

#[test]
fn data_makes_up_for_the_last_acknowledgement_of_the_handshake() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "P. 1(30) ack 1 win 4096");
    accept(&mut t);
    assert_eq!(t.read(100), Ok(30));
}

#[test]
fn a_fin_may_end_the_handshake() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "F. 1 ack 1 win 4096");
    recv!(t, 10, ". 1 ack 2");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!((t.state(), t.read(10)), (State::CloseWait, Ok(0)));
}

#[test]
fn data_in_a_syn_is_left_to_be_sent_again() {
    // RFC 9293 section 3.10.7.2: it may be queued. It is not, as in FreeBSD.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0(20) win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 10, "P. 1(19) ack 1 win 4096");
    accept(&mut t);
    assert_eq!(t.read(100), Ok(19));
}

#[test]
fn data_behind_the_answer_to_our_syn_is_taken() {
    // RFC 9293 section 3.10.7.3, fourth.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 10, "SP. 0(20) ack 1 win 4096");
    recv!(t, 10, ". 1 ack 21");
    // The bytes of the line begin with that of number 0.
    t.read = 0;
    assert_eq!(t.read(100), Ok(20));
}

#[test]
fn what_is_written_before_the_connection_is_established_goes_out_then() {
    // RFC 9293 section 3.10.2, SYN-SENT.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    t.write(100);
    t.quiet(10);
    send!(t, 10, "S. 0 ack 1 win 4096");
    recv!(t, 10, "P. 1(100) ack 1");
}

#[test]
fn closing_during_a_simultaneous_open_sends_fin_behind_the_handshake() {
    // RFC 9293 section 3.10.4, SYN-RECEIVED: queued until the connection is established.
    let mut t = Trace::in_state(State::SynReceived, |_| ());
    t.shutdown().unwrap();
    t.quiet(10);
    send!(t, 10, ". 1 ack 1 win 4096");
    recv!(t, 10, "F. 1 ack 1");
    assert_eq!(t.state(), State::FinWait1);
}

#[test]
fn closing_before_the_answer_takes_the_open_back() {
    // RFC 9293 section 3.10.4, SYN-SENT: the connection is deleted, nothing is sent.
    let mut t = Trace::in_state(State::SynSent, |_| ());
    t.close().unwrap();
    t.quiet(10);
    send!(t, 10, "S. 0 ack 1 win 4096");
    recv!(t, 10, "R 1");
    t.assert_idle();
}

#[test]
fn an_open_without_answer_ends_after_three_minutes() {
    // RFC 9293 section 3.8.3 (MUST-23): R2 of a SYN is at least 3 minutes.
    let mut t = Trace::connecting(|_| ());
    for ms in [0, 1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000] {
        recv!(t, ms, "S 0");
    }
    t.quiet(179_999);
    assert_eq!(t.state(), State::SynSent);
    t.quiet(180_000);
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
    t.close().unwrap();
    t.assert_idle();
}

#[test]
fn the_segment_size_that_is_announced_is_that_of_the_configuration() {
    let mut t = Trace::listening(|config| config.tcp.mss = Some(536));
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1 <mss 536>");
}

#[test]
fn segments_are_no_larger_than_the_peer_takes() {
    // RFC 9293 section 3.7.1, MUST-16.
    let mut t = Trace::established_with(|_| (), "<mss 100>");
    t.write(250);
    recv!(t, 0, ". 1(100) ack 1");
    recv!(t, 0, ". 101(100) ack 1");
    send!(t, 10, ". 1 ack 201 win 4096");
    recv!(t, 10, "P. 201(50) ack 1");
}

#[test]
fn a_peer_that_announces_no_segment_size_takes_1220_bytes() {
    // RFC 9293 section 3.7.1, MUST-15, over IPv6.
    let mut t = Trace::established_with(|_| (), "");
    t.write(1500);
    recv!(t, 0, ". 1(1220) ack 1");
}

#[test]
fn a_peer_that_takes_more_than_the_path_gets_what_fits_the_path() {
    let mut t = Trace::established_with(|_| (), "<mss 65535>");
    t.write(1500);
    recv!(t, 0, ". 1(1220) ack 1");
}

#[test]
fn a_segment_size_outside_a_syn_means_nothing() {
    // RFC 9293 section 3.2, MUST-65.
    let mut t = Trace::established(|_| ());
    send!(t, 0, ". 1 ack 1 win 4096 <raw 02040064>");
    t.write(500);
    recv!(t, 0, "P. 1(500) ack 1");
}

#[test]
fn options_that_are_not_known_are_passed_over() {
    // RFC 9293 section 3.1, MUST-6: kinds 253 and 254 (RFC 6994), then the segment size.
    let mut t = Trace::listening(|_| ());
    send!(
        t,
        0,
        "S 0 win 4096 <raw fd06123456780101fe0401020204006400000000>"
    );
    recv!(t, 0, "S. 0 ack 1 <mss 1220>");
    send!(t, 0, ". 1 ack 1 win 4096");
    accept(&mut t);
    t.write(200);
    recv!(t, 0, ". 1(100) ack 1");
    recv!(t, 0, "P. 101(100) ack 1");
}

#[test]
fn a_window_scale_is_not_taken_up() {
    // As Kumar et al. 2020: no window scaling, so what the peer announces counts as it stands.
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <raw 020401f401030307>");
    recv!(t, 0, "S. 0 ack 1 <raw 020404c4>");
    send!(t, 0, ". 1 ack 1 win 100");
    accept(&mut t);
    t.write(700);
    recv!(t, 0, ". 1(100) ack 1");
}

#[test]
fn our_syn_lays_its_options_out_as_freebsd() {
    let mut t = Trace::connecting(|config| config.tcp.sack = true);
    // Segment size 1220, SACK permitted, end of list.
    recv!(t, 0, "S 0 <raw 020404c404020000>");
}

#[test]
fn our_answer_lays_its_options_out_as_freebsd() {
    let mut t = Trace::listening(|config| config.tcp.sack = true);
    send!(t, 0, "S 0 win 4096 <mss 500 sackok>");
    recv!(t, 0, "S. 0 ack 1 <raw 020404c404020000>");
}

#[test]
fn our_answer_offers_only_what_the_syn_did() {
    // RFC 2018 section 2, RFC 7323 section 3.2.
    let mut t = Trace::listening(|config| {
        config.tcp.sack = true;
        config.tcp.timestamps = true;
    });
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1 <raw 020404c4>");
}

#[test]
fn a_handshake_that_offers_all_agrees_on_all() {
    let mut t = Trace::listening(|config| {
        config.tcp.sack = true;
        config.tcp.timestamps = true;
    });
    send!(t, 0, "S 0 win 4096 <mss 500 sackok ts 7 0>");
    let answer = t.next_seen();
    let stamps = answer.options.timestamps.expect("timestamps");
    assert_eq!((stamps.echo, answer.options.sack_permitted), (7, true));
    // Segment size, SACK permission and timestamps need no padding.
    assert_eq!(
        (answer.raw.len(), &answer.raw[..8]),
        (16, &[2, 4, 4, 0xc4, 4, 2, 8, 10][..])
    );
}

#[test]
fn a_wrong_checksum_is_met_with_silence() {
    // RFC 9293 section 3.1, MUST-3.
    let mut t = Trace::listening(|_| ());
    let mut packet = t.packet(&Line::parse("S 0 win 4096"));
    let at = packet.len() - 1;
    packet[at] ^= 1;
    t.inject(&packet);
    t.quiet(10_000);
    nothing_to_accept(&mut t);
}

#[test]
fn a_connection_to_nobody_is_not_opened() {
    // RFC 9293 section 3.9.2.3, MUST-46.
    let mut t = Trace::new(|_| ());
    let now = t.now;
    let mut open = |address, port| t.stack.tcp_connect(now, (address, port), &mut ()).map(|_| ());
    assert_eq!(open("::".parse().unwrap(), PORT), Err(TcpError::Address));
    assert_eq!(open("ff02::1".parse().unwrap(), PORT), Err(TcpError::Address));
    assert_eq!(open(addr(2), 0), Err(TcpError::PortZero));
    assert_eq!(
        open("2001:db8::1".parse().unwrap(), PORT),
        Err(TcpError::Unreachable)
    );
    t.quiet(10_000);
}

#[test]
fn the_same_connection_is_not_opened_twice() {
    // RFC 9293 section 3.10.1: "connection already exists".
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    let again = t
        .stack
        .tcp_connect_from(t.now, OWN_PORT, (addr(2), PORT), &mut ());
    assert_eq!(again, Err(TcpError::InUse));
    let other = t
        .stack
        .tcp_connect_from(t.now, OWN_PORT, (addr(2), PORT + 1), &mut ());
    assert!(other.is_ok());
}
