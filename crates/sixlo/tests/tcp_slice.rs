//! TCP from the handshake to the end: two stacks against each other, and one against a peer that the test plays.

#[path = "support/tcp.rs"]
mod tcp;

use sixlo::tcp::{State, TcpError};
use sixlo::time::Duration;
use tcp::{Fate, PORT, Pair, Trace, addr, bytes, recv, send};

#[test]
fn a_connection_carries_data_both_ways_and_ends_in_good_order() {
    let mut pair = Pair::new(|_| ());
    let ids = pair.connected();
    let up = bytes(1, 5000);
    assert!(pair.carry(ids, 0, &up, Duration::from_secs(60)) == up);
    let down = bytes(77, 7000);
    assert!(pair.carry(ids, 1, &down, Duration::from_secs(60)) == down);
    for (stack, id) in pair.stacks.iter_mut().zip(ids) {
        stack.tcp_close(pair.now, id, &mut ()).expect("open");
    }
    pair.pass(Duration::from_secs(61));
    pair.assert_idle();
}

#[test]
fn a_stream_arrives_whole_over_a_link_that_loses_every_ninth_frame() {
    let mut pair = Pair::new(|config| config.tcp.mss = Some(300));
    let ids = pair.connected();
    pair.fate = Box::new(|n| if n % 9 == 4 { Fate::Lost } else { Fate::Arrives });
    let data = bytes(1, 6000);
    assert!(pair.carry(ids, 0, &data, Duration::from_secs(3000)) == data);
}

#[test]
fn a_peer_opens_sends_and_closes() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1 win 1024 <mss 1220>");
    send!(t, 10, ". 1 ack 1 win 4096");
    t.id = Some(t.stack.tcp_accept(t.listener.unwrap()).expect("established"));
    send!(t, 20, "P. 1(100) ack 1 win 4096");
    // RFC 9293 section 3.8.6.3: the acknowledgement waits.
    recv!(t, 120, ". 1 ack 101 win 924");
    assert_eq!(t.read(200), Ok(100));
    assert_eq!(t.read(200), Err(TcpError::WouldBlock));
    t.write(600);
    recv!(t, 120, ". 1(500) ack 101");
    send!(t, 150, ". 101 ack 501 win 4096");
    recv!(t, 150, "P. 501(100) ack 101");
    send!(t, 160, "F. 101 ack 601 win 4096");
    recv!(t, 160, ". 601 ack 102");
    assert_eq!((t.state(), t.read(10)), (State::CloseWait, Ok(0)));
    t.close().unwrap();
    recv!(t, 160, "F. 601 ack 102");
    send!(t, 170, ". 102 ack 602 win 4096");
    t.assert_idle();
}

#[test]
fn we_open_and_what_is_lost_is_sent_again() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0 win 1024 <mss 1220>");
    // RFC 6298 (2.1): one second, then doubled (5.5).
    recv!(t, 1000, "S 0 win 1024 <mss 1220>");
    recv!(t, 3000, "S 0 win 1024 <mss 1220>");
    send!(t, 3100, "S. 0 ack 1 win 4096 <mss 500>");
    recv!(t, 3100, ". 1 ack 1 win 1024");
    t.write(100);
    recv!(t, 3100, "P. 1(100) ack 1");
    // RFC 6298 (5.7).
    recv!(t, 6100, "P. 1(100) ack 1");
    t.quiet(12_000);
}

#[test]
fn every_state_can_be_made_in_one_call() {
    for state in State::ALL {
        if state != State::Closed {
            assert_eq!(Trace::in_state(state, |_| ()).state(), state);
        }
    }
}

#[test]
fn what_is_reserved_is_sent_once_it_is_committed() {
    let mut t = Trace::established(|_| ());
    let id = t.id();
    let room = t.stack.tcp_reserve(t.now, id, 300, &mut ()).expect("room");
    room[..200].copy_from_slice(&bytes(1, 200));
    t.quiet(100);
    t.stack.tcp_commit(t.now, id, 200, &mut ()).expect("reserved");
    recv!(t, 100, "P. 1(200) ack 1");
    assert_eq!(t.stack.tcp_commit(t.now, id, 1, &mut ()), Err(TcpError::TooLong));
}

#[test]
fn a_closed_port_answers_with_a_reset() {
    let mut t = Trace::new(|_| ());
    send!(t, 0, "S 0 win 4096");
    // RFC 9293 section 3.5.2, group 1. There is no number of ours yet.
    recv!(t, 0, "R. 0 ack 1 win 0");
    let remote = (addr(2), PORT);
    t.ports = (tcp::OWN_PORT, PORT);
    t.id = Some(
        t.stack
            .tcp_connect_from(t.now, tcp::OWN_PORT, remote, &mut ())
            .unwrap(),
    );
    recv!(t, 0, "S 0");
    send!(t, 5, "R. 0 ack 1 win 0");
    assert_eq!(t.read(10), Err(TcpError::Refused));
    t.close().unwrap();
    t.assert_idle();
}
