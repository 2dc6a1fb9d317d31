//! Hostile segments, by the identifiers of the list of hostile inputs. XT3, XT4, XT10 to XT12, XT17 and XT20 are with the
//! families that they belong to.

use std::collections::BTreeSet;

use sixlo::tcp::{State, TcpError};
use sixlo::wire::ipv6::{Ecn, NextHeader};

use crate::tcp::{Line, PEER_ISS, PORT, Trace, addr, at, ip_packet, recv, send, show};
use crate::{another, swap};

/// The same packet with another byte at this place of the segment, and its checksum made right.
fn with_byte(packet: &[u8], place: usize, byte: u8) -> Vec<u8> {
    let mut upper = packet[40..].to_vec();
    upper[place] = byte;
    finished(&upper, addr(2), addr(1))
}

fn finished(upper: &[u8], src: std::net::Ipv6Addr, dst: std::net::Ipv6Addr) -> Vec<u8> {
    let mut upper = upper.to_vec();
    upper[16..18].fill(0);
    let mut sum =
        sixlo::wire::checksum::Checksum::pseudo_header(&src, &dst, NextHeader::TCP, upper.len() as u32);
    sum.add(&upper);
    upper[16..18].copy_from_slice(&sum.finish().to_be_bytes());
    ip_packet(src, dst, Ecn::NotCapable, NextHeader::TCP, &upper)
}

fn assert_untouched(t: &mut Trace) {
    t.quiet(10);
    assert_eq!(
        (t.state(), t.read(100)),
        (State::Established, Err(TcpError::WouldBlock))
    );
}

#[test]
fn xt1_a_data_offset_that_is_too_small_or_beyond_the_segment_is_met_with_silence() {
    for words in 0..16_u8 {
        let mut t = Trace::established(|_| ());
        let packet = t.packet(&Line::parse("P. 1(20) ack 1 win 4096"));
        t.inject(&with_byte(&packet, 12, words << 4));
        t.settle();
        // 40 bytes are there: five words of header, and as much data as options could take.
        if (5..=10).contains(&words) {
            let taken = t.stack.tcp_connection(t.id()).unwrap().readable();
            assert_eq!(taken, 40 - 4 * usize::from(words));
        } else {
            assert_untouched(&mut t);
        }
        t.seen.clear();
    }
}

#[test]
fn xt1_a_segment_shorter_than_its_header_is_met_with_silence() {
    for len in 0..20 {
        let mut t = Trace::established(|_| ());
        let packet = t.packet(&Line::parse("P. 1 ack 1 win 4096"));
        let cut = ip_packet(
            addr(2),
            addr(1),
            Ecn::NotCapable,
            NextHeader::TCP,
            &packet[40..40 + len],
        );
        t.inject(&cut);
        assert_untouched(&mut t);
    }
}

#[test]
fn xt2_options_with_wrong_lengths_end_the_list_and_do_no_harm() {
    // RFC 9293 section 3.1, MUST-7. Length 0 and 1, beyond the end, all no-operations, the kind alone at the end.
    for raw in [
        "02000000",
        "02010000",
        "020401f4fd000000",
        "01010102",
        "010101fd",
        "fdff0000",
        "08040000",
        "0101080a00000001",
    ] {
        let mut t = Trace::listening(|_| ());
        send!(t, 0, "S 0 win 4096 <raw {raw}>");
        recv!(t, 0, "S. 0 ack 1");
        send!(t, 10, "P. 1(10) ack 1 win 4096 <raw {raw}>");
        t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
        assert_eq!(t.read(100), Ok(10), "{raw}");
    }
}

#[test]
fn xt2_forty_no_operations_are_passed_over() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <raw {}>", "01".repeat(40));
    recv!(t, 0, "S. 0 ack 1");
}

#[test]
fn xt2_of_several_segment_sizes_the_last_counts() {
    let mut t = Trace::established_with(|_| (), "<raw 0204020002040064>");
    t.write(300);
    recv!(t, 0, ". 1(100) ack 1");
    recv!(t, 0, ". 101(100) ack 1");
    recv!(t, 0, "P. 201(100) ack 1");
}

#[test]
fn xt2_a_segment_size_of_nothing_counts_as_64() {
    for size in [0, 1, 8, 63, 64] {
        let mut t = Trace::established_with(|_| (), &format!("<mss {size}>"));
        t.write(128);
        recv!(t, 0, ". 1(64) ack 1");
        recv!(t, 0, "P. 65(64) ack 1");
    }
}

#[test]
fn xt2_a_segment_size_of_nothing_leaves_room_beside_timestamps() {
    let mut t = Trace::established_with(|config| config.tcp.timestamps = true, "<mss 0 ts 1 0>");
    t.write(200);
    let first = t.next_seen();
    assert!(first.data.len() >= 32, "{}", show(&first));
    t.seen.clear();
}

#[test]
fn xt6_an_acknowledgement_of_what_was_never_sent_or_too_old_is_not_believed() {
    for ack in [2, 100, 0x7fff_ffff, 0x8000_0000, 1_u32.wrapping_sub(4097)] {
        let mut t = Trace::established(|_| ());
        send!(t, 0, "P. 1(10) ack {ack} win 4096");
        recv!(t, 0, ". 1 ack 1");
        assert_untouched(&mut t);
    }
}

#[test]
fn xt7_urgent_data_is_in_line_whatever_the_pointer_says() {
    // RFC 9293 section 3.8.5; `docs/tcp.md`.
    for pointer in [0, 1, 10, 11, 5000, 65_535] {
        let mut t = Trace::established(|_| ());
        send!(t, 0, "PU. 1(10) ack 1 win 4096 urg {pointer}");
        assert_eq!(t.read(100), Ok(10));
        recv!(t, 100, ". 1 ack 11 urg 0");
        send!(t, 110, "P. 11(10) ack 1 win 4096");
        assert_eq!(t.read(100), Ok(10));
    }
}

#[test]
fn xt7_an_urgent_pointer_without_data_and_one_without_its_bit_do_nothing() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "U. 1 ack 1 win 4096 urg 500");
    send!(t, 0, ". 1 ack 1 win 4096 urg 500");
    assert_untouched(&mut t);
}

#[test]
fn xt8_all_combinations_of_control_bits_leave_a_state_of_the_machine() {
    for state in State::ALL.into_iter().filter(|state| *state != State::Closed) {
        for bits in 0..=255_u8 {
            let mut t = Trace::in_state(state, |_| ());
            let packet = t.packet(&Line::parse("- 1(3) ack 1 win 4096"));
            t.inject(&with_byte(&packet, 13, bits));
            t.settle();
            // At most one answer, and none with a RST to a RST.
            assert!(t.seen.len() <= 1, "{state:?} {bits:#x}");
            let reset = bits & 4 != 0;
            let answered = t.seen.iter().any(|(_, seg)| seg.flags.0 & 4 != 0);
            assert!(!(reset && answered), "{state:?} {bits:#x}");
        }
    }
}

#[test]
fn xt8_bits_that_contradict_each_other_open_nothing() {
    for flags in ["SF", "SR", "SFR", "-", "SFRPU.EW", "FPU", "R", "F", "SFPU"] {
        let mut t = Trace::listening(|_| ());
        send!(t, 0, "{flags} 0 win 4096");
        t.quiet(10_000);
        t.assert_idle();
    }
}

#[test]
fn xt8_all_bits_and_none_do_not_touch_a_connection() {
    let mut t = Trace::established(|_| ());
    // RST, beyond the window: silence; no ACK: silence.
    send!(t, 0, "SFRPU.EW 5000 ack 1 win 4096");
    send!(t, 0, "- 1(10) win 4096");
    send!(t, 0, "FPU 1(10) win 4096");
    assert_untouched(&mut t);
}

#[test]
fn xt9_two_that_open_and_close_at_once_end_in_time_wait() {
    // RFC 9293 figures 7 and 13.
    let mut t = Trace::connecting(|_| ());
    recv!(t, 0, "S 0");
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1");
    t.shutdown().unwrap();
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 500>");
    recv!(t, 10, "F. 1 ack 1");
    send!(t, 10, "F. 1 ack 1 win 4096");
    recv!(t, 10, ". 2 ack 2");
    assert_eq!(t.state(), State::Closing);
    send!(t, 20, ". 2 ack 2 win 4096");
    assert_eq!(t.state(), State::TimeWait);
}

#[test]
fn xt9_a_connection_to_ourselves_does_no_harm() {
    let mut t = Trace::listening(|_| ());
    let opened = t.stack.tcp_connect_from(t.now, PORT, (addr(1), PORT), &mut ());
    t.settle();
    if let Ok(id) = opened {
        t.id = Some(id);
        t.run_until(at(600_000));
        t.seen.clear();
        t.close().unwrap();
    }
    t.run_until(at(1_200_000));
    t.seen.clear();
    t.assert_idle();
}

/// The initial sequence number of an answer to a SYN from this port, at this time.
fn isn(t: &mut Trace, ms: u64, port: u16) -> u32 {
    t.ports = (PORT, port);
    t.iss.1 = PEER_ISS.wrapping_add(ms as u32);
    send!(t, ms, "S 0 win 4096");
    t.next_seen();
    let isn = t.iss.0;
    send!(t, ms, "R 1");
    isn
}

#[test]
fn xt14_initial_numbers_rise_with_the_clock_for_the_same_ends() {
    // RFC 9293 section 3.4.1: a clock of 4 us and a hash.
    let mut t = Trace::listening(|_| ());
    let first = isn(&mut t, 0, 1000);
    for ms in [1, 10, 1000, 60_000] {
        assert_eq!(isn(&mut t, ms, 1000).wrapping_sub(first), ms as u32 * 250);
    }
}

#[test]
fn xt14_initial_numbers_of_other_ends_cannot_be_told() {
    let mut t = Trace::listening(|_| ());
    let numbers: Vec<u32> = (1000..1200).map(|port| isn(&mut t, 0, port)).collect();
    let different: BTreeSet<u32> = numbers.iter().copied().collect();
    assert_eq!(different.len(), numbers.len());
    // The steps between neighbours do not repeat either.
    let steps: BTreeSet<u32> = numbers
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    assert_eq!(steps.len(), numbers.len() - 1);
}

#[test]
fn xt14_another_stack_has_other_initial_numbers() {
    let mut a = Trace::listening(|_| ());
    let mut b = Trace::listening(|config| *config = sixlo::stack::Config::new(77));
    assert_ne!(isn(&mut a, 0, 1000), isn(&mut b, 0, 1000));
}

#[test]
fn xt15_an_old_syn_does_not_end_time_wait() {
    // RFC 9293 section 3.6.1, RFC 5961 section 4.2.
    for seq in [0, 1, 2, -100_i64] {
        let mut t = Trace::in_state(State::TimeWait, |_| ());
        t.close().unwrap();
        send!(t, 10, "S {seq} win 4096 <mss 500>");
        recv!(t, 10, ". 2 ack 2");
    }
}

#[test]
fn xt15_the_connection_after_time_wait_begins_beyond_the_numbers_of_the_one_before() {
    // RFC 9293 section 3.6.1 (1): larger than the largest number of the previous incarnation.
    let mut t = Trace::established(|_| ());
    t.write(1000);
    t.seen.clear();
    send!(t, 0, ". 1 ack 1001 win 4096");
    t.shutdown().unwrap();
    recv!(t, 0, "F. 1001 ack 1");
    send!(t, 0, "F. 1 ack 1002 win 4096");
    recv!(t, 0, ". 1002 ack 2");
    t.close().unwrap();
    let last = t.iss.0.wrapping_add(1002);
    // Too early: the clock of the numbers has not come so far. The peer tries again.
    send!(t, 1, "S 5000 win 4096 <mss 500>");
    recv!(t, 1, ". 1002 ack 2");
    send!(t, 1001, "S 5000 win 4096 <mss 500>");
    recv!(t, 1001, "S. 0 ack 5001");
    assert!((t.iss.0.wrapping_sub(last) as i32) > 0);
    send!(t, 1010, ". 5001 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    assert_eq!(t.state(), State::Established);
}

#[test]
fn xt15_a_newer_timestamp_ends_time_wait_whatever_the_number() {
    // RFC 6191 section 2: the timestamp counts, not the number.
    for (stamp, seq, taken) in [
        (200, 1, true),
        (200, 9000, true),
        (50, 1, false),
        (50, 9000, false),
    ] {
        let stamps = |config: &mut sixlo::stack::Config| config.tcp.timestamps = true;
        let mut t = Trace::established_with(stamps, "<mss 500 ts 100 0>");
        t.shutdown().unwrap();
        t.seen.clear();
        send!(t, 500, "F. 1 ack 2 win 4096 <ts 100 0>");
        t.seen.clear();
        t.close().unwrap();
        send!(t, 1000, "S {seq} win 4096 <mss 500 ts {stamp} 0>");
        let answer = t.next_seen();
        assert_eq!(answer.flags.0 & 2 != 0, taken, "{stamp} {seq}: {}", show(&answer));
    }
}

#[test]
fn xt15_time_wait_holds_no_packet_and_makes_place_in_time() {
    let mut t = Trace::listening(|_| ());
    for round in 0..20_u16 {
        let mut view = another(&mut t, 2000 + round);
        swap(&mut t, &mut view);
        let ms = 61_000 * u64::from(round);
        t.close().unwrap();
        recv!(t, ms, "F. 1 ack 1");
        send!(t, ms, "F. 1 ack 2 win 4096");
        recv!(t, ms, ". 2 ack 2");
        assert_eq!(t.stack.buffer().used(), 0);
        t.run_until(at(61_000 * u64::from(round + 1)));
        swap(&mut t, &mut view);
    }
    t.assert_idle();
}

#[test]
fn xt18_a_fin_behind_data_beyond_the_window_is_not_heard() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 1(1025) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025 win 0");
    assert_eq!((t.state(), t.read(2000)), (State::Established, Ok(1024)));
    recv!(t, 0, ". 1 ack 1025 win 1024");
    send!(t, 10, "FP. 1025(1) ack 1 win 4096");
    recv!(t, 10, ". 1 ack 1027");
    assert_eq!(
        (t.state(), t.read(2000), t.read(1)),
        (State::CloseWait, Ok(1), Ok(0))
    );
}

#[test]
fn xt18_a_fin_that_just_fits_behind_data_is_heard() {
    // FIN takes a number but no room: 1024 bytes and FIN, into a window of 1024.
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 1(1023) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1025");
    assert_eq!(t.state(), State::CloseWait);
}

#[test]
fn xt18_a_fin_before_missing_data_waits_for_it() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    assert_eq!(t.state(), State::Established);
    send!(t, 10, "P. 1(100) ack 1 win 4096");
    recv!(t, 10, ". 1 ack 202");
    assert_eq!(
        (t.state(), t.read(500), t.read(1)),
        (State::CloseWait, Ok(200), Ok(0))
    );
}

#[test]
fn xt18_data_behind_a_fin_is_not_taken() {
    let mut t = Trace::established(|_| ());
    send!(t, 0, "FP. 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    // Behind the FIN, and across it.
    send!(t, 10, "P. 202(100) ack 1 win 4096");
    t.seen.clear();
    send!(t, 20, "P. 1(300) ack 1 win 4096");
    t.seen.clear();
    assert_eq!((t.read(500), t.read(1)), (Ok(200), Ok(0)));
    assert_eq!(t.state(), State::CloseWait);
}

#[test]
fn xt19_keep_alive_probes_of_no_byte_and_of_one_are_answered() {
    // RFC 9293 section 3.8.4: the number before the next, with or without a byte of rubbish.
    let mut t = Trace::established(|_| ());
    for (ms, line) in [(0, ". 0 ack 1 win 4096"), (10, ". 0(1) ack 1 win 4096")] {
        t.send(ms, line);
        recv!(t, ms, ". 1 ack 1");
    }
    assert_untouched(&mut t);
}

#[test]
fn xt19_keep_alive_probes_are_answered_in_every_state_that_lasts() {
    for (state, rcv, nxt) in [
        (State::Established, 1, 1),
        (State::CloseWait, 2, 1),
        (State::FinWait2, 1, 2),
    ] {
        for len in ["", "(1)"] {
            let mut t = Trace::in_state(state, |_| ());
            send!(t, 0, ". {}{len} ack {nxt} win 4096", rcv - 1);
            recv!(t, 0, ". {nxt} ack {rcv}");
            assert_eq!(t.state(), state);
        }
    }
}

#[test]
fn segments_from_and_to_many_are_met_with_silence() {
    // RFC 9293 section 3.9.2.3, MUST-57: only between two nodes.
    let t = Trace::listening(|_| ());
    let syn = t.packet(&Line::parse("S 0 win 4096"));
    for (src, dst) in [
        ("fe80::2", "ff02::1"),
        ("ff02::1", "fe80::1"),
        ("::", "fe80::1"),
        ("::1", "fe80::1"),
    ] {
        let mut t = Trace::listening(|_| ());
        t.inject(&finished(&syn[40..], src.parse().unwrap(), dst.parse().unwrap()));
        t.quiet(10_000);
        t.assert_idle();
    }
}

#[test]
fn a_syn_from_ourselves_to_ourselves_ends() {
    // CERT CA-1997-28 ("land"): source and destination are the same.
    let mut t = Trace::listening(|_| ());
    t.ports.1 = PORT;
    let syn = t.packet(&Line::parse("S 0 win 4096"));
    t.inject(&finished(&syn[40..], addr(1), addr(1)));
    t.run_until(at(60_000));
    assert!(t.seen.len() < 10, "{} segments", t.seen.len());
    t.seen.clear();
    t.assert_idle();
}
