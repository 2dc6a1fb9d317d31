//! TCP from the handshake to the end: two stacks against each other, and one against a peer that the test plays.

#[path = "support/tcp.rs"]
mod tcp;

use sixlo::tcp::{State, TcpError};
use sixlo::time::Duration;
use tcp::{Fate, PORT, Pair, Trace, addr, bytes, recv, send, ticks};

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

#[test]
fn data_out_of_order_waits_in_place_and_is_reported_where_both_understand_it() {
    let mut t = Trace::established_with(|config| config.tcp.sack = true, "<mss 500 sackok>");
    send!(t, 10, ". 101(100) ack 1 win 4096");
    recv!(t, 10, ". 1 ack 1 win 1024 <sack 101-201>");
    send!(t, 20, "F. 301(100) ack 1 win 4096");
    recv!(t, 20, ". 1 ack 1 win 1024 <sack 301-401 101-201>");
    // RFC 2883 section 4: what came twice comes first.
    send!(t, 30, ". 101(50) ack 1 win 4096");
    recv!(t, 30, ". 1 ack 1 win 1024 <sack 101-151 101-201 301-401>");
    send!(t, 40, ". 1(100) ack 1 win 4096");
    recv!(t, 40, ". 1 ack 201 win 824 <sack 301-401>");
    send!(t, 50, ". 201(100) ack 1 win 4096");
    recv!(t, 50, ". 1 ack 402 win 624");
    assert_eq!(t.read(1000), Ok(400));
    assert_eq!(t.read(1000), Ok(0));
}

#[test]
fn timestamps_are_echoed_measured_and_protect_against_old_segments() {
    let mut t = Trace::established_with(|config| config.tcp.timestamps = true, "<mss 500 ts 700 0>");
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1 <ts 0 700>");
    let now = ticks(40);
    send!(t, 40, "P. 1(10) ack 101 win 4096 <ts 740 0>");
    send!(t, 50, "P. 11(10) ack 101 win 4096 <ts 750 {now}>");
    // The first of the two that are acknowledged is echoed (RFC 7323 section 4.3, case (A)).
    recv!(t, 50, ". 101 ack 21 <ts {} 740>", ticks(50));
    send!(t, 60, "P. 21(10) ack 101 win 4096 <ts 739 {now}>");
    // RFC 7323 section 5.3, R1: it is old.
    recv!(t, 60, ". 101 ack 21 <ts {} 740>", ticks(60));
    assert_eq!(t.read(100), Ok(20));
    send!(t, 70, "P. 21(10) ack 101 win 4096");
    t.quiet(1000);
}

/// What a node has in its program.
static PAGE: [u8; 3000] = {
    let mut page = [0; 3000];
    let mut n = 0;
    while n < page.len() {
        let number = n as u32 + 101;
        page[n] = (number ^ number >> 8 ^ 0x5a) as u8;
        n += 1;
    }
    page
};

#[test]
fn what_is_lent_is_sent_from_where_it_lies_between_what_is_copied() {
    let mut t = Trace::established(|config| config.tcp.send_buffer = 4000);
    t.write(100);
    assert_eq!(t.stack.tcp_lend(t.now, t.id(), &PAGE, &mut ()), Ok(3000));
    t.written += 3000;
    t.write(50);
    // 150 bytes of copies, and headers.
    assert!(
        t.stack.buffer().high_water() < 1500,
        "{}",
        t.stack.buffer().high_water()
    );
    recv!(t, 0, "P. 1(100) ack 1");
    for seq in (101..2601).step_by(500) {
        recv!(t, 0, ". {seq}(500) ack 1");
    }
    recv!(t, 0, "P. 2601(500) ack 1");
    // What is lost is sent again from there.
    send!(t, 10, ". 1 ack 101 win 4096");
    recv!(t, 1010, ". 101(500) ack 1");
    send!(t, 1100, ". 1 ack 3101 win 4096");
    recv!(t, 1100, "P. 3101(50) ack 1");
    t.abort().unwrap();
    t.seen.clear();
    t.assert_idle();
}
