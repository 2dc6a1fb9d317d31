//! Errors of ICMPv6 about segments of a connection (RFC 9293 section 3.9.2.2, RFC 5927), and the path MTU (RFC 8201).

use sixlo::tcp::{State, TcpError};
use sixlo::wire::checksum::Checksum;
use sixlo::wire::ipv6::{Ecn, NextHeader};

use crate::tcp::{Line, Trace, addr, at, ip_packet, recv, send};

/// Destination unreachable, packet too big, time exceeded, parameter problem.
const UNREACHABLE: u8 = 1;
const TOO_BIG: u8 = 2;
const EXCEEDED: u8 = 3;
const PROBLEM: u8 = 4;

/// A segment from the stack to the peer with this relative number, as a router that drops it would quote it.
fn quote(t: &Trace, seq: u32) -> Vec<u8> {
    let mut quoted = t.packet(&Line::parse("S 0"));
    quoted[8..24].copy_from_slice(&addr(1).octets());
    quoted[24..40].copy_from_slice(&addr(2).octets());
    quoted[40..42].copy_from_slice(&t.ports.0.to_be_bytes());
    quoted[42..44].copy_from_slice(&t.ports.1.to_be_bytes());
    quoted[44..48].copy_from_slice(&t.iss.0.wrapping_add(seq).to_be_bytes());
    quoted
}

/// The packet of an error that a router sends.
fn error(kind: u8, code: u8, field: u32, quoted: &[u8]) -> Vec<u8> {
    let [a, b, c, d] = field.to_be_bytes();
    let mut upper = [&[kind, code, 0, 0, a, b, c, d], quoted].concat();
    let mut sum = Checksum::pseudo_header(&addr(3), &addr(1), NextHeader::ICMPV6, upper.len() as u32);
    sum.add(&upper);
    upper[2..4].copy_from_slice(&sum.finish().to_be_bytes());
    ip_packet(addr(3), addr(1), Ecn::NotCapable, NextHeader::ICMPV6, &upper)
}

/// An error about a segment with this number comes in.
fn icmp(t: &mut Trace, kind: u8, code: u8, field: u32, seq: u32) {
    let packet = error(kind, code, field, &quote(t, seq));
    t.inject(&packet);
    t.settle();
}

/// Our SYN is under way.
fn opening() -> Trace {
    Trace::in_state(State::SynSent, |_| ())
}

/// 100 bytes from number 1 on are under way.
fn sending() -> Trace {
    let mut t = Trace::established(|_| ());
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    t
}

/// Nothing was believed: data goes out again at the time that it would have, and the connection ends as silent peers do.
fn assert_unmoved(t: &mut Trace) {
    recv!(t, 1000, "P. 1(100) ack 1");
    recv!(t, 3000, "P. 1(100) ack 1");
    t.run_until(at(3_600_000));
    t.seen.clear();
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn hard_errors_refuse_an_open() {
    // SHLD-26: prohibited, and port unreachable.
    for code in [1, 4] {
        let mut t = opening();
        icmp(&mut t, UNREACHABLE, code, 0, 0);
        assert_eq!((t.state(), t.read(1)), (State::Closed, Err(TcpError::Refused)));
        t.close().unwrap();
        t.quiet(10_000);
        t.assert_idle();
    }
}

#[test]
fn an_unknown_next_header_refuses_an_open() {
    // Nobody speaks TCP there (RFC 5461 section 4: what is soft later may end an open).
    let mut t = opening();
    icmp(&mut t, PROBLEM, 1, 6, 0);
    assert_eq!(t.read(1), Err(TcpError::Refused));
}

#[test]
fn soft_errors_do_not_end_an_open() {
    // MUST-56.
    for (kind, code) in [
        (UNREACHABLE, 0),
        (UNREACHABLE, 3),
        (EXCEEDED, 0),
        (EXCEEDED, 1),
        (PROBLEM, 0),
        (PROBLEM, 2),
    ] {
        let mut t = opening();
        icmp(&mut t, kind, code, 0, 0);
        assert_eq!(t.state(), State::SynSent, "{kind} {code}");
        recv!(t, 1000, "S 0");
        send!(t, 1010, "S. 0 ack 1 win 4096 <mss 500>");
        recv!(t, 1010, ". 1 ack 1");
    }
}

#[test]
fn a_soft_error_is_told_when_the_open_ends() {
    // SHLD-25: "make the information available to the application".
    for code in [0, 3] {
        let mut t = opening();
        icmp(&mut t, UNREACHABLE, code, 0, 0);
        t.run_until(at(200_000));
        t.seen.clear();
        assert_eq!(t.read(1), Err(TcpError::Unreachable));
    }
}

#[test]
fn a_soft_error_is_told_when_the_connection_times_out() {
    let mut t = sending();
    icmp(&mut t, UNREACHABLE, 0, 0, 1);
    t.run_until(at(3_600_000));
    t.seen.clear();
    assert_eq!(t.read(1), Err(TcpError::Unreachable));
}

#[test]
fn an_error_that_is_over_is_not_told() {
    let mut t = sending();
    icmp(&mut t, UNREACHABLE, 0, 0, 1);
    // The way is there again.
    send!(t, 100, ". 1 ack 101 win 4096");
    t.write(100);
    recv!(t, 100, "P. 101(100) ack 1");
    t.run_until(at(3_600_000));
    t.seen.clear();
    assert_eq!(t.read(1), Err(TcpError::TimedOut));
}

#[test]
fn no_error_ends_a_connection_that_is_established() {
    // RFC 5927 section 5.2: hard errors count as soft ones in the synchronized states.
    for state in [
        State::Established,
        State::CloseWait,
        State::FinWait1,
        State::LastAck,
        State::Closing,
    ] {
        for (kind, codes) in [(UNREACHABLE, 7), (TOO_BIG, 1), (EXCEEDED, 2), (PROBLEM, 3)] {
            for code in 0..codes {
                let mut t = Trace::in_state(state, |_| ());
                if state.may_write() {
                    t.write(10);
                    t.seen.clear();
                }
                icmp(&mut t, kind, code, 1280, 1);
                assert_eq!(t.state(), state, "{kind} {code}");
                t.quiet(10);
            }
        }
    }
}

#[test]
fn an_error_about_a_number_that_is_not_under_way_is_not_believed() {
    // RFC 5927 section 4.1: SND.UNA =< SEG.SEQ < SND.NXT.
    for seq in [0, 101, 102, 5000, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let mut t = sending();
        icmp(&mut t, UNREACHABLE, 0, 0, seq);
        assert_unmoved(&mut t);
    }
    for seq in [1, 2, 5000, u32::MAX] {
        let mut t = opening();
        icmp(&mut t, UNREACHABLE, 4, 0, seq);
        assert_eq!(t.state(), State::SynSent);
    }
}

#[test]
fn the_first_and_the_last_number_under_way_are_believed() {
    for seq in [1, 100] {
        let mut t = sending();
        icmp(&mut t, UNREACHABLE, 0, 0, seq);
        t.run_until(at(3_600_000));
        t.seen.clear();
        assert_eq!(t.read(1), Err(TcpError::Unreachable), "{seq}");
    }
}

#[test]
fn with_nothing_under_way_no_error_is_believed() {
    let mut t = Trace::established(|_| ());
    for seq in [0, 1, 2] {
        icmp(&mut t, UNREACHABLE, 0, 0, seq);
    }
    t.write(100);
    recv!(t, 0, "P. 1(100) ack 1");
    assert_unmoved(&mut t);
}

#[test]
fn an_error_about_another_connection_is_not_believed() {
    // Ports, addresses and protocol of what it quotes: each in turn.
    for place in [6, 8, 23, 24, 39, 40, 41, 42, 43] {
        let mut t = opening();
        let mut quoted = quote(&t, 0);
        quoted[place] ^= 17;
        t.inject(&error(UNREACHABLE, 4, 0, &quoted));
        t.quiet(10);
        assert_eq!(t.state(), State::SynSent, "byte {place}");
    }
}

#[test]
fn an_error_that_quotes_too_little_is_not_believed() {
    let t = opening();
    let quoted = quote(&t, 0);
    for len in 0..48 {
        let mut t = opening();
        t.inject(&error(UNREACHABLE, 4, 0, &quoted[..len]));
        t.quiet(10);
        assert_eq!(t.state(), State::SynSent, "{len} bytes");
    }
    // Ports and number suffice (RFC 4443 section 3.1: as much as fits).
    let mut t = opening();
    let quoted = quote(&t, 0);
    t.inject(&error(UNREACHABLE, 4, 0, &quoted[..48]));
    t.settle();
    assert_eq!(t.state(), State::Closed);
}

#[test]
fn an_error_with_a_wrong_checksum_is_not_believed() {
    // RFC 4443 section 2.3.
    let mut t = opening();
    let mut packet = error(UNREACHABLE, 4, 0, &quote(&t, 0));
    packet[42] ^= 1;
    t.inject(&packet);
    t.quiet(10);
    assert_eq!(t.state(), State::SynSent);
}

#[test]
fn errors_of_unknown_kinds_are_not_believed() {
    // RFC 4443 section 2.4 (a): they are for the upper layer, which knows nothing to do with them.
    for kind in [0, 5, 100, 101, 127] {
        let mut t = opening();
        icmp(&mut t, kind, 4, 0, 0);
        t.quiet(10);
        assert_eq!(t.state(), State::SynSent, "{kind}");
    }
}

#[test]
fn an_error_about_an_answer_to_a_syn_does_not_end_the_handshake() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096");
    recv!(t, 0, "S. 0 ack 1");
    icmp(&mut t, UNREACHABLE, 4, 0, 0);
    send!(t, 10, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!(t.state(), State::Established);
}

#[test]
fn errors_send_nothing_again_and_slow_nothing_down() {
    // RFC 5927 sections 5 to 7: neither a retransmission nor a smaller window can be had by an error.
    let mut t = Trace::established(|config| config.tcp.send_buffer = 8000);
    let window = |t: &Trace| t.stack.tcp_connection(t.id()).unwrap().congestion().window();
    t.write(1000);
    t.seen.clear();
    let before = window(&t);
    for (kind, code) in [(UNREACHABLE, 0), (UNREACHABLE, 4), (TOO_BIG, 0), (EXCEEDED, 0)] {
        icmp(&mut t, kind, code, 1280, 1);
    }
    t.quiet(10);
    assert_eq!(window(&t), before);
}

#[test]
fn xt16_packet_too_big_outside_the_window_is_ignored() {
    for seq in [0, 101, 5000, 0x8000_0000] {
        let mut t = sending();
        icmp(&mut t, TOO_BIG, 0, 600, seq);
        t.write(600);
        recv!(t, 0, ". 101(500) ack 1");
    }
}

#[test]
fn xt16_packet_too_big_does_not_shrink_segments_below_what_every_path_takes() {
    // RFC 8201 section 4: no path takes less than 1280 bytes; no packet of ours is longer.
    for mtu in [0, 1, 68, 500, 1279, 1280, 1500, 65_535, u32::MAX] {
        let mut t = Trace::established_with(|config| config.tcp.send_buffer = 8000, "<mss 1400>");
        t.write(1220);
        recv!(t, 0, "P. 1(1220) ack 1");
        icmp(&mut t, TOO_BIG, 0, mtu, 1);
        send!(t, 10, ". 1 ack 1221 win 4096");
        t.write(1220);
        recv!(t, 10, "P. 1221(1220) ack 1");
    }
}
