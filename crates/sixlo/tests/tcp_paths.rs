//! What TCP makes of the path: segments that fill frames, errors of ICMPv6, old connections in the way of new ones.

#[path = "support/tcp.rs"]
mod tcp;

use sixlo::netdev::FRAME_LEN_MAX;
use sixlo::tcp::{State, TcpError};
use sixlo::wire::checksum::Checksum;
use sixlo::wire::ipv6::{Ecn, NextHeader};
use tcp::{IFACE, Line, Trace, addr, ip_packet, recv, send};

/// An ICMPv6 error about a segment of the stack with this number, as a router would send it.
fn icmp_error(t: &mut Trace, kind: u8, code: u8, seq: u32) {
    let mut quoted = t.packet(&Line::parse("S 0"));
    // The other way around: from the stack to the peer.
    quoted[8..24].copy_from_slice(&addr(1).octets());
    quoted[24..40].copy_from_slice(&addr(2).octets());
    quoted[40..42].copy_from_slice(&t.ports.0.to_be_bytes());
    quoted[42..44].copy_from_slice(&t.ports.1.to_be_bytes());
    quoted[44..48].copy_from_slice(&t.iss.0.wrapping_add(seq).to_be_bytes());
    let mut upper = [&[kind, code, 0, 0, 0, 0, 5, 0], &quoted[..]].concat();
    let mut sum = Checksum::pseudo_header(&addr(3), &addr(1), NextHeader::ICMPV6, upper.len() as u32);
    sum.add(&upper);
    upper[2..4].copy_from_slice(&sum.finish().to_be_bytes());
    let packet = ip_packet(addr(3), addr(1), Ecn::NotCapable, NextHeader::ICMPV6, &upper);
    t.inject(&packet);
    t.settle();
}

#[test]
fn a_full_segment_fills_five_frames() {
    let mut t = Trace::established(|config| {
        config.tcp.mss = None;
        config.tcp.timestamps = true;
        config.tcp.send_buffer = 4000;
    });
    let mss = u32::from(t.stack.tcp_connection(t.id()).unwrap().mss());
    let data = tcp::bytes(1, mss);
    t.stack.tcp_send(t.now, t.id(), &data, &mut ()).unwrap();
    let mut lens = Vec::new();
    let mut frame = [0; FRAME_LEN_MAX];
    t.stack.poll(t.now, &mut ());
    while let Some(info) = t.stack.transmit(t.now, IFACE, &mut frame, &mut ()) {
        lens.push(info.len);
        let report = sixlo::netdev::TxReport {
            outcome: sixlo::netdev::TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        t.stack.transmitted(t.now, IFACE, report, &mut ());
    }
    // 125 bytes without check sequence; fragments but the last stand for multiples of eight bytes.
    assert_eq!((lens.len(), lens[4]), (5, 125), "{lens:?}");
    assert!(lens.iter().all(|len| *len > 125 - 8), "{lens:?}");
}

#[test]
fn an_error_refuses_an_open_and_no_connection_that_is_established() {
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    // RFC 5927 section 4.1: no number of ours.
    icmp_error(&mut t, 1, 4, 1);
    assert_eq!(t.state(), State::SynSent);
    // RFC 9293 section 3.9.2.2 (MUST-56): no route is a soft error.
    icmp_error(&mut t, 1, 0, 0);
    assert_eq!(t.state(), State::SynSent);
    icmp_error(&mut t, 1, 4, 0);
    assert_eq!(t.read(1), Err(TcpError::Refused));

    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100)");
    icmp_error(&mut t, 1, 4, 1);
    assert_eq!(t.state(), State::Established);
}

#[test]
fn xt15_a_new_syn_takes_the_place_of_time_wait_if_its_number_is_newer() {
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    t.close().unwrap();
    send!(t, 10, "S 1 win 4096 <mss 500>");
    // RFC 5961 section 4.2.
    recv!(t, 10, ". 2 ack 2");
    send!(t, 30, "S 100000 win 4096 <mss 500>");
    recv!(t, 30, "S. 0 ack 100001 win 1024 <mss 1220>");
}

#[test]
fn time_wait_is_not_cut_short_by_a_reset_and_starts_anew_with_a_fin() {
    let mut t = Trace::in_state(State::TimeWait, |_| ());
    t.close().unwrap();
    send!(t, 10, "R 2");
    send!(t, 30_000, "F. 1 ack 2 win 4096");
    recv!(t, 30_000, ". 2 ack 2");
    t.quiet(60_001);
    assert!(t.stack.next_deadline(t.now).is_some());
    t.quiet(90_001);
    t.assert_idle();
}

#[test]
fn a_control_that_paces_keeps_its_interval() {
    let mut t = Trace::connecting(|config| {
        config.tcp.congestion = sixlo::congure::Kind::Quic;
        config.tcp.send_buffer = 4000;
    });
    recv!(t, 0, "S 0");
    send!(t, 100, "S. 0 ack 1 win 4096 <mss 500>");
    recv!(t, 100, ". 1 ack 1");
    t.write(1000);
    recv!(t, 100, ". 1(500) ack 1");
    t.quiet(105);
    // RFC 9002 section 7.7: 100 ms / (4000 / 500) / 1.25.
    recv!(t, 110, "P. 501(500) ack 1");
}
