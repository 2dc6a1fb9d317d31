//! Limits: what happens when something is full.

use std::collections::BTreeSet;

use sixlo::stack::Fixed;
use sixlo::tcp::{ConnectionId, ListenerId, State, TcpError};
use sixlo::time::{Duration, Instant};
use sixlo::wire::tcp::Flags;

use crate::tcp::{
    CONNECTIONS, OWN_PORT, PEER_PORT, PORT, Pair, RECEIVE, Seg, Trace, addr, at, bytes, node, recv, send,
};
use crate::{another, swap, with_window};

fn listener(t: &Trace) -> ListenerId {
    t.listener.expect("it listens")
}

/// SYNs from so many ports, beginning with this one; how many are answered.
fn syns(t: &mut Trace, ms: u64, from: u16, count: u16) -> usize {
    let ports = t.ports;
    for port in from..from + count {
        t.ports = (PORT, port);
        // What was answered before is not compared.
        t.seen.clear();
        send!(t, ms, "S 0 win 4096 <mss 500>");
        let (_, seg) = t.seen.front().expect("an answer");
        assert!(seg.flags.contains(Flags::SYN | Flags::ACK));
    }
    t.ports = ports;
    t.seen.clear();
    usize::from(count)
}

#[test]
fn as_many_connections_are_opened_as_there_are_places() {
    let mut t = Trace::new(|_| ());
    let open = |t: &mut Trace, n: u16| {
        let opened = t
            .stack
            .tcp_connect_from(t.now, OWN_PORT + n, (addr(2), PORT), &mut ());
        t.settle();
        opened
    };
    let ids: Vec<ConnectionId> = (0..CONNECTIONS as u16)
        .map(|n| open(&mut t, n).unwrap())
        .collect();
    assert_eq!(open(&mut t, 99), Err(TcpError::NoConnection));
    t.stack.tcp_close(t.now, ids[2], &mut ()).unwrap();
    assert!(open(&mut t, 99).is_ok());
    t.seen.clear();
}

#[test]
fn a_handle_of_a_closed_connection_names_nothing() {
    let mut t = Trace::in_state(State::SynSent, |_| ());
    let old = t.id();
    t.close().unwrap();
    let new = t
        .stack
        .tcp_connect_from(t.now, OWN_PORT, (addr(2), PORT), &mut ());
    assert_ne!(new, Ok(old));
    assert_eq!(t.try_write(10), Err(TcpError::NotOpen));
    assert_eq!(t.abort(), Err(TcpError::NotOpen));
    t.settle();
    t.seen.clear();
}

#[test]
fn a_connection_that_ended_keeps_its_place_until_the_application_knows() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "R 1");
    for n in 1..CONNECTIONS as u16 {
        another(&mut t, 1000 + n);
    }
    // The last place is that of the connection that was reset.
    t.ports = (PORT, 2000);
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 4096");
    let waiting = t.stack.tcp_accept(listener(&t));
    assert_eq!(waiting, Err(TcpError::WouldBlock));
    assert_eq!(t.read(1), Err(TcpError::Reset));
    t.close().unwrap();
    // Our answer goes out again, the peer acknowledges it again.
    recv!(t, 1000, "S. 0 ack 1");
    send!(t, 1010, ". 1 ack 1 win 4096");
    assert!(t.stack.tcp_accept(listener(&t)).is_ok());
}

#[test]
fn listeners_are_bounded_and_each_has_a_port_of_its_own() {
    let mut t = Trace::listening(|_| ());
    assert_eq!(t.stack.tcp_listen(PORT, 1), Err(TcpError::InUse));
    assert_eq!(t.stack.tcp_listen(0, 1), Err(TcpError::PortZero));
    t.stack.tcp_listen(PORT + 1, 1).unwrap();
    assert_eq!(t.stack.tcp_listen(PORT + 2, 1), Err(TcpError::NoListener));
    let first = listener(&t);
    t.stack.tcp_close_listener(t.now, first, &mut ()).unwrap();
    t.stack.tcp_listen(PORT + 2, 1).unwrap();
    assert_eq!(t.stack.tcp_accept(first), Err(TcpError::NotOpen));
}

#[test]
fn a_syn_that_finds_the_queue_of_the_listener_full_is_met_with_silence() {
    // RFC 9293 section 3.10.7.2 knows no such limit; silence lets the peer try again (FreeBSD).
    let mut t = Trace::new(|_| ());
    t.listener = Some(t.stack.tcp_listen(PORT, 1).unwrap());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 4096");
    t.ports.1 += 1;
    send!(t, 10, "S 0 win 4096");
    t.quiet(20);
    t.stack.tcp_accept(listener(&t)).unwrap();
    send!(t, 1000, "S 0 win 4096");
    recv!(t, 1000, "S. 0 ack 1");
}

#[test]
fn connections_are_accepted_in_the_order_of_their_handshakes() {
    let mut t = Trace::listening(|_| ());
    for port in [30, 10, 20] {
        t.ports = (PORT, port);
        send!(t, 0, "S 0 win 4096");
        recv!(t, 0, "S. 0 ack 1");
        send!(t, 0, ". 1 ack 1 win 4096");
    }
    for port in [30, 10, 20] {
        let id = t.stack.tcp_accept(listener(&t)).unwrap();
        let connection = t.stack.tcp_connection(id).unwrap();
        assert_eq!(connection.endpoints().remote_port, port);
    }
}

#[test]
fn a_listener_that_closes_takes_what_waits_with_it() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 0, ". 1 ack 1 win 4096");
    t.ports.1 += 1;
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    let first = listener(&t);
    t.ports.1 -= 1;
    t.stack.tcp_close_listener(t.now, first, &mut ()).unwrap();
    t.settle();
    // The established one is told, the half open one forgotten.
    let (_, reset) = t.seen.pop_front().expect("a reset");
    assert!(reset.flags.contains(Flags::RST));
    t.quiet(20_000);
    t.assert_idle();
}

#[test]
fn the_oldest_half_open_connection_gives_way_to_a_new_one() {
    let mut t = Trace::listening(|_| ());
    syns(&mut t, 0, 1000, 1);
    syns(&mut t, 10, 1001, CONNECTIONS as u16);
    // The first is forgotten: its acknowledgement is nobody's. The last is not.
    t.ports = (PORT, 1000);
    send!(t, 20, ". 1 ack 1 win 4096");
    recv!(t, 20, "R 1");
    let entries = t.stack.tcp_accept(listener(&t));
    assert_eq!(entries, Err(TcpError::WouldBlock));
}

#[test]
fn xt13_a_flood_of_syns_does_not_touch_established_connections() {
    let mut t = Trace::established(|_| ());
    let ports = t.ports;
    let iss = t.iss;
    for round in 0..20 {
        syns(&mut t, 10 * round, 1000 + 50 * round as u16, 50);
        (t.ports, t.iss) = (ports, iss);
        t.write(10);
        let own = t.written - 10;
        recv!(t, 10 * round, "P. {own}(10) ack {}", t.read);
        send!(t, 10 * round, "P. {}(10) ack {} win 4096", t.read, t.written);
        assert_eq!(t.read(100), Ok(10));
    }
}

#[test]
fn xt13_a_flood_of_syns_costs_no_connection_and_no_packet() {
    let mut t = Trace::listening(|_| ());
    for round in 0..10 {
        syns(&mut t, round, 1000 + 100 * round as u16, 100);
    }
    assert_eq!(t.stack.buffer().used(), 0);
    for n in 0..CONNECTIONS as u16 {
        let opened = t
            .stack
            .tcp_connect_from(t.now, OWN_PORT + n, (addr(2), PORT), &mut ());
        assert!(opened.is_ok());
    }
    t.run_until(at(300_000));
    t.seen.clear();
}

#[test]
fn xt13_a_peer_gets_through_a_flood_of_syns() {
    let mut t = Trace::listening(|_| ());
    syns(&mut t, 0, 1000, 200);
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    send!(t, 1, ". 1 ack 1 win 4096");
    t.id = t.stack.tcp_accept(listener(&t)).ok();
    assert_eq!((t.state(), t.ports.1), (State::Established, PEER_PORT));
    t.run_until(at(60_000));
    t.seen.clear();
}

#[test]
fn the_backlog_of_one_listener_leaves_room_for_another() {
    let mut t = Trace::new(|_| ());
    t.listener = Some(t.stack.tcp_listen(PORT, 2).unwrap());
    let other = t.stack.tcp_listen(PORT + 1, 2).unwrap();
    t.ports = (PORT + 1, 500);
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    let iss = t.iss;
    syns(&mut t, 0, 1000, 50);
    (t.ports, t.iss) = ((PORT + 1, 500), iss);
    send!(t, 10, ". 1 ack 1 win 4096");
    assert!(t.stack.tcp_accept(other).is_ok());
    t.run_until(at(60_000));
    t.seen.clear();
}

#[test]
fn the_send_buffer_takes_what_it_has_room_for() {
    let mut t = with_window(0);
    assert_eq!(t.try_write(1000), Ok(1000));
    assert_eq!(t.try_write(1000), Ok(848));
    assert_eq!(t.try_write(1), Err(TcpError::WouldBlock));
    send!(t, 10, ". 1 ack 1 win 4096");
    recv!(t, 10, ". 1(500) ack 1");
    recv!(t, 10, ". 501(500) ack 1");
    recv!(t, 10, ". 1001(500) ack 1");
    assert_eq!(t.try_write(1), Err(TcpError::WouldBlock));
    send!(t, 20, ". 1 ack 1001 win 4096");
    assert_eq!(t.try_write(2000), Ok(1000));
    t.seen.clear();
}

#[test]
fn more_is_never_reserved_than_the_send_buffer_holds() {
    let mut t = Trace::established(|config| config.tcp.send_buffer = 600);
    let (now, id) = (t.now, t.id());
    let stack = &mut t.stack;
    assert_eq!(
        stack.tcp_reserve(now, id, 601, &mut ()).unwrap_err(),
        TcpError::TooLong
    );
    assert_eq!(stack.tcp_reserve(now, id, 600, &mut ()).unwrap().len(), 600);
    assert_eq!(stack.tcp_commit(now, id, 601, &mut ()), Err(TcpError::TooLong));
    // Reserving anew gives the room of before back.
    assert_eq!(stack.tcp_reserve(now, id, 500, &mut ()).unwrap().len(), 500);
    stack.tcp_commit(now, id, 0, &mut ()).unwrap();
    assert_eq!(t.try_write(700), Ok(600));
    t.settle();
    t.seen.clear();
}

#[test]
fn a_peer_that_never_reads_holds_no_more_than_the_send_buffer() {
    let mut t = with_window(0);
    let _taken = t.try_write(5000);
    let held = t.stack.buffer().used();
    assert!((1848..2600).contains(&held), "{held}");
    for ms in [60_000, 600_000] {
        t.run_until(at(ms));
        let _none = t.try_write(5000);
        assert!(t.stack.buffer().used() <= held);
    }
    t.seen.clear();
}

#[test]
fn what_comes_in_is_never_more_than_the_receive_buffer() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, ". 1(600) ack 1 win 4096");
    t.seen.clear();
    send!(t, 0, ". 601(600) ack 1 win 4096");
    t.seen.clear();
    send!(t, 10, ". {}(200) ack 1 win 4096", RECEIVE + 1);
    recv!(t, 10, ". 1 ack {} win 0", RECEIVE + 1);
    assert_eq!(t.read(5000), Ok(RECEIVE as usize));
    // The window opens again, and the peer is told.
    recv!(t, 10, ". 1 ack {0} win {RECEIVE}", RECEIVE + 1);
}

/// Writes until nothing more is taken, and says why.
fn fill(t: &mut Trace) -> TcpError {
    loop {
        if let Err(error) = t.try_write(1000) {
            return error;
        }
    }
}

#[test]
fn data_is_carried_on_when_the_packet_buffer_has_room_again() {
    let mut t = Trace::established(|config| config.tcp.send_buffer = 12_000);
    let mut other = another(&mut t, 1234);
    assert_eq!(fill(&mut t), TcpError::WouldBlock);
    swap(&mut t, &mut other);
    assert_eq!(fill(&mut t), TcpError::NoRoom);
    t.abort().unwrap();
    swap(&mut t, &mut other);
    t.seen.clear();
    let mut top = 1;
    for _ in 0..100 {
        t.run_until(t.now + Duration::from_millis(5000));
        while let Some((_, seg)) = t.seen.pop_front() {
            assert_eq!(seg.data, bytes(seg.seq, seg.data.len() as u32));
            top = top.max(seg.seq + seg.data.len() as u32);
        }
        let ms = (t.now.as_micros() - at(0).as_micros()) / 1000;
        send!(t, ms, ". 1 ack {top} win 4096");
    }
    assert_eq!((top, t.written), (12_001, 12_001));
    t.abort().unwrap();
    t.seen.clear();
    t.assert_idle();
}

/// Kumar et al. 2020, appendix A.2: a timer that is a message is dropped where the queue of messages is full. Here it is a deadline.
#[test]
fn a_time_out_counts_where_nothing_has_room() {
    let mut t = Trace::established(|config| config.tcp.send_buffer = 12_000);
    let mut other = another(&mut t, 1234);
    assert_eq!(fill(&mut t), TcpError::WouldBlock);
    swap(&mut t, &mut other);
    assert_eq!(fill(&mut t), TcpError::NoRoom);
    swap(&mut t, &mut other);
    t.run_until(at(20_000));
    let sent = |(when, seg): &(Instant, Seg)| {
        (seg.seq == 1 && !seg.data.is_empty()).then(|| (when.as_micros() - at(0).as_micros()) / 1000)
    };
    let sent: Vec<u64> = t.seen.iter().filter_map(sent).collect();
    // Each connection sent its first segment at once, and this one again after times of RFC 6298 (2.1) and (5.5).
    assert_eq!(sent, [0, 0, 1_000, 3_000, 7_000, 15_000]);
}

#[test]
fn ports_of_our_own_are_dynamic_ones_and_hard_to_guess() {
    // RFC 6335 section 6, RFC 6056 section 3.
    let mut ports = BTreeSet::new();
    for k in 0..50 {
        let mut stack = node(k, |_| ());
        let id = stack.tcp_connect(at(0), (addr(200), PORT), &mut ()).unwrap();
        let port = stack.tcp_connection(id).unwrap().endpoints().local_port;
        assert!(port >= 49_152);
        ports.insert(port);
    }
    assert!(ports.len() > 45, "{ports:?}");
}

#[test]
fn ports_of_our_own_are_not_given_twice() {
    let mut t = Trace::new(|_| ());
    let mut ports = BTreeSet::new();
    for _ in 0..CONNECTIONS {
        let id = t.stack.tcp_connect(t.now, (addr(2), PORT), &mut ()).unwrap();
        ports.insert(t.stack.tcp_connection(id).unwrap().endpoints().local_port);
    }
    assert_eq!(ports.len(), CONNECTIONS);
}

#[test]
fn a_stack_without_memory_for_tcp_says_so() {
    type Bare = Fixed<4096, 16, 4, 4, 4>;
    let config = sixlo::stack::Config::new(1);
    let mut memory = Bare::new();
    let mut stack = sixlo::stack::Stack::new(memory.lend(), &config).expect("it suffices");
    assert_eq!(stack.tcp_listen(PORT, 1), Err(TcpError::NoListener));
}

#[test]
fn probes_of_closed_windows_that_cross_are_each_answered_once() {
    // RFC 9293 appendix A.2, "simultaneous window probes".
    let mut t = with_window(0);
    t.write(100);
    send!(t, 0, "P. 1(1024) ack 1 win 0");
    recv!(t, 0, ". 1 ack 1025 win 0");
    recv!(t, 5000, ". 1(1) ack 1025 win 0");
    // The peer's probe, sent before ours came.
    send!(t, 5000, "P. 1025(1) ack 1 win 0");
    recv!(t, 5000, ". 1 ack 1025 win 0");
    // The peer's answer to ours.
    send!(t, 5000, ". 1025 ack 1 win 0");
    t.quiet(5900);
    // Had it gone on behind the probe, it would be heard too.
    send!(t, 5900, ". 1026 ack 1 win 0");
    recv!(t, 5900, ". 1 ack 1025 win 0");
    t.quiet(9000);
}

#[test]
fn two_that_never_read_probe_each_other_within_bounds_and_go_on_when_they_read() {
    // RFC 9293 section 3.8.6.1 and appendix A.2: simultaneous window probes.
    let mut pair = Pair::new(|config| config.tcp.mss = Some(300));
    let ids = pair.connected();
    let data = bytes(1, 6000);
    let mut written = [0; 2];
    for (n, stack) in pair.stacks.iter_mut().enumerate() {
        written[n] = stack.tcp_send(pair.now, ids[n], &data, &mut ()).unwrap();
    }
    pair.pass(Duration::from_secs(60));
    let before = pair.frames;
    pair.pass(Duration::from_secs(600));
    // Each probes once a minute, each probe is answered: a frame or two each.
    let frames = pair.frames - before;
    assert!((20..100).contains(&frames), "{frames} frames in ten minutes");
    let mut arrived: [Vec<u8>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..100 {
        for (n, stack) in pair.stacks.iter_mut().enumerate() {
            let mut out = [0; 500];
            if let Ok(len) = stack.tcp_recv(pair.now, ids[n], &mut out, &mut ()) {
                arrived[n].extend(&out[..len]);
            }
        }
        pair.pass(Duration::from_millis(500));
    }
    assert_eq!([arrived[0].len(), arrived[1].len()], [written[1], written[0]]);
    assert!(arrived[0] == data[..written[1]] && arrived[1] == data[..written[0]]);
}

#[test]
fn time_wait_makes_place_when_all_places_are_taken() {
    // `docs/tcp.md`: the one that has waited longest, as FreeBSD.
    let mut t = Trace::listening(|_| ());
    for n in 0..CONNECTIONS as u16 {
        let ms = 10 * u64::from(n);
        t.run_until(at(ms));
        let mut view = another(&mut t, 2000 + n);
        swap(&mut t, &mut view);
        t.close().unwrap();
        recv!(t, ms, "F. 1 ack 1");
        send!(t, ms, "F. 1 ack 2 win 4096");
        recv!(t, ms, ". 2 ack 2");
    }
    t.ports.1 = 3000;
    send!(t, 100, "S 0 win 4096 <mss 500>");
    recv!(t, 100, "S. 0 ack 1");
    send!(t, 100, ". 1 ack 1 win 4096");
    t.id = t.stack.tcp_accept(listener(&t)).ok();
    assert_eq!(t.state(), State::Established);
    // The first one gave way, the second waits on.
    for (port, gone) in [(2000, true), (2001, false)] {
        t.ports.1 = port;
        send!(t, 200, "F. 1 ack 2 win 4096");
        let (_, seg) = t.seen.pop_front().expect("an answer");
        assert_eq!(seg.flags.contains(Flags::RST), gone, "{port}");
    }
}

#[test]
fn fin_wait_2_makes_place_too_once_no_application_has_it() {
    let mut t = Trace::listening(|_| ());
    for n in 0..CONNECTIONS as u16 {
        let ms = 10 * u64::from(n);
        t.run_until(at(ms));
        let mut view = another(&mut t, 2000 + n);
        swap(&mut t, &mut view);
        match n {
            0 => t.shutdown().unwrap(),
            _ => t.close().unwrap(),
        }
        recv!(t, ms, "F. 1 ack 1");
        send!(t, ms, ". 1 ack 2 win 4096");
    }
    t.ports.1 = 3000;
    send!(t, 100, "S 0 win 4096 <mss 500>");
    recv!(t, 100, "S. 0 ack 1");
    send!(t, 100, ". 1 ack 1 win 4096");
    t.id = t.stack.tcp_accept(listener(&t)).ok();
    assert_eq!(t.state(), State::Established);
    // The first one is the application's, the second gave way, the third waits on.
    for (port, gone) in [(2000, false), (2001, true), (2002, false)] {
        t.ports.1 = port;
        send!(t, 200, "F. 1 ack 2 win 4096");
        let (_, seg) = t.seen.pop_front().expect("an answer");
        assert_eq!(seg.flags.contains(Flags::RST), gone, "{port}");
    }
}

#[test]
fn a_place_that_the_application_has_is_not_given_away() {
    let mut t = Trace::listening(|_| ());
    for n in 0..CONNECTIONS as u16 {
        let mut view = another(&mut t, 2000 + n);
        swap(&mut t, &mut view);
        t.shutdown().unwrap();
        recv!(t, 0, "F. 1 ack 1");
        send!(t, 0, "F. 1 ack 2 win 4096");
        recv!(t, 0, ". 2 ack 2");
    }
    let opened = t.stack.tcp_connect(t.now, (addr(2), 99), &mut ());
    assert_eq!(opened, Err(TcpError::NoConnection));
}

/// RFC 9293 section 3.9.1.1 (MUST-41, MUST-42).
#[test]
fn a_port_is_listened_on_while_a_connection_is_opened_from_it() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    assert!(t.stack.tcp_listen(OWN_PORT, 1).is_ok());
    send!(t, 0, "S. 0 ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    assert_eq!(t.state(), State::Established);
}
