//! Interfaces over a device that senses the channel once and does no more, driven by hand. Times are those of O-QPSK at
//! 2.4 GHz: unit back-off 320 us, wait for an acknowledgement 864 us, long interframe space 640 us.

use std::vec::Vec;

use super::*;
use crate::ipv6::Route;
use crate::lowpan::Reassembly;
use crate::mac::duplicates::Seen;
use crate::netreg::Entry;
use crate::pktbuf::{Seg, Slot};
use crate::sock::{Mailbox, MailboxId};
use crate::stack::tests::net::{IFACE, Log, eui, global, lent, link_local};
use crate::stack::tests::packets::{frame, packet, udp_packet};
use crate::stack::{Config, Memory, Stack};
use crate::time::{Duration, Instant};
use crate::timers::Timer;
use crate::wire::ipv6::{ALL_NODES, NextHeader};
use crate::wire::lowpan::IPV6;

mod packets;
mod reception;

const UNIT_BACKOFF_US: u64 = 320;
const ACK_WAIT_US: u64 = 864;
const LIFS_US: u64 = 640;
const OTHER: IfaceId = IfaceId(1);
const ME: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 1]);
const PEER: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]);

/// Memory for two interfaces.
fn memory() -> Memory<'static> {
    Memory {
        bytes: lent(4096, || 0),
        segs: lent(8, || Seg::EMPTY),
        slots: lent(16, || Slot::EMPTY),
        receivers: lent(4, || Entry::EMPTY),
        timers: lent(2 + Memory::OWN_TIMERS, || Timer::EMPTY),
        ifaces: lent(2, || Interface::EMPTY),
        seen: lent(4, || Seen::EMPTY),
        reassemblies: lent(2, || Reassembly::EMPTY),
        contexts: &mut [],
        vrbs: &mut [],
        peers: &mut [],
        transfers: &mut [],
        inbounds: &mut [],
        addresses: lent(6, || crate::ipv6::Address::EMPTY),
        neighbors: &mut [],
        routes: lent(4, || Route::EMPTY),
        partials: &mut [],
        mailboxes: lent(2, || Mailbox::EMPTY),
        connections: &mut [],
        listeners: &mut [],
        backlog: &mut [],
        tcp_receive: &mut [],
        loans: &mut [],
    }
}

/// Node 1 with two interfaces, of which none is up.
fn stack(seed: u64) -> Stack<'static> {
    Stack::new(memory(), &Config::new(seed)).expect("it suffices")
}

/// Node 1 with a plain device on each interface that is up, in virtual time.
struct Rig {
    stack: Stack<'static>,
    log: Log,
    now: Instant,
    out: [u8; FRAME_LEN_MAX],
    socket: MailboxId,
    software_fcs: bool,
}

impl Rig {
    fn new(config: IfaceConfig) -> Self {
        Self::seeded(config, 1)
    }

    fn seeded(config: IfaceConfig, seed: u64) -> Self {
        let mut stack = stack(seed);
        stack.bring_up(IFACE, config).expect("a place");
        let socket = stack.udp_bind(5000, 4).expect("a socket");
        Self {
            stack,
            log: Log::default(),
            now: Instant::from_micros(1_000),
            out: [0; FRAME_LEN_MAX],
            socket,
            software_fcs: !config.caps.fcs,
        }
    }

    fn send(&mut self, dst: core::net::Ipv6Addr, len: usize) {
        let payload = std::vec![0x5a; len];
        self.stack
            .udp_send_to(self.now, self.socket, (dst, 5001), &payload, &mut self.log)
            .expect("room");
    }

    /// Lets time pass to the next deadline; how long that took, in microseconds.
    fn wait(&mut self) -> u64 {
        let at = self.stack.next_deadline(self.now).expect("a deadline");
        let waited = at.since(self.now).as_micros();
        self.now = at;
        self.stack.poll(at, &mut self.log);
        waited
    }

    fn pass(&mut self, us: u64) {
        self.now += Duration::from_micros(us);
        self.stack.poll(self.now, &mut self.log);
    }

    /// The frame that the device is given once the back-off is over, and how long that took.
    fn next_frame(&mut self) -> (TxInfo, Vec<u8>, u64) {
        let mut waited = 0;
        while !self.stack.wants_transmit(IFACE) {
            waited += self.wait();
        }
        let info = self
            .stack
            .transmit(self.now, IFACE, &mut self.out, &mut self.log)
            .expect("it was wanted");
        (info, self.out[..info.len].to_vec(), waited)
    }

    fn report(&mut self, outcome: TxOutcome) {
        let report = TxReport {
            outcome,
            attempts: 1,
            busy: 0,
        };
        self.stack.transmitted(self.now, IFACE, report, &mut self.log);
    }

    fn frame_in(&mut self, iface: IfaceId, frame: &[u8]) {
        self.stack
            .frame(self.now, iface, frame, RxInfo::default(), &mut self.log);
    }

    fn ack(&mut self, sequence: u8) {
        let mut bytes = [0; 5];
        let len = Header::immediate_ack(sequence, false).emit(&mut bytes).unwrap();
        let len = if self.software_fcs {
            fcs::append(&mut bytes, len).unwrap()
        } else {
            len
        };
        self.frame_in(IFACE, &bytes[..len]);
    }

    fn counters(&self) -> Counters {
        *self.stack.counters(IFACE).unwrap()
    }

    /// How frames ended: outcome, attempts, busy assessments.
    fn done(&self) -> Vec<(TxOutcome, u8, u8)> {
        let done = |(_, event): &(Instant, Event)| match *event {
            Event::FrameDone {
                outcome,
                attempts,
                busy,
                ..
            } => Some((outcome, attempts, busy)),
            _ => None,
        };
        self.log.0.iter().filter_map(done).collect()
    }

    fn assert_idle(&self) {
        assert_eq!(
            (self.stack.buffer().live(), self.stack.next_deadline(self.now)),
            (0, None)
        );
    }
}

fn sequence(frame: &[u8]) -> u8 {
    frame[2]
}

fn plain() -> IfaceConfig {
    IfaceConfig::new(eui(1))
}

fn software_fcs() -> IfaceConfig {
    let caps = Caps {
        csma: false,
        fcs: false,
    };
    IfaceConfig { caps, ..plain() }
}

#[test]
fn a_frame_is_backed_off_sent_and_acknowledged() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    let (info, frame, waited) = rig.next_frame();
    // IEEE 802.15.4-2020, 6.2.5.1: 0 to 7 unit back-off periods.
    assert!(waited <= 7 * UNIT_BACKOFF_US && waited.is_multiple_of(UNIT_BACKOFF_US));
    assert!(info.ack_request && !info.again);
    rig.pass(1_000);
    rig.report(TxOutcome::Sent);
    let at = rig.now + Duration::from_micros(ACK_WAIT_US);
    assert_eq!(rig.stack.next_deadline(rig.now), Some(at));
    rig.pass(544);
    rig.ack(sequence(&frame));
    assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 0)]);
    rig.assert_idle();
    let counted = Counters {
        frames_out: 1,
        transmissions: 1,
        ..Counters::default()
    };
    assert_eq!(rig.counters(), counted);
}

#[test]
fn the_next_frame_waits_for_the_interframe_space_after_the_acknowledgement() {
    let mut config = plain();
    // No back-off, so that nothing but the pause is left (IEEE 802.15.4-2020, 6.2.4).
    (config.csma.params.min_be, config.csma.params.max_be) = (0, 0);
    let mut rig = Rig::new(config);
    rig.send(link_local(2), 8);
    rig.send(link_local(2), 8);
    let (_, first, waited) = rig.next_frame();
    assert_eq!(waited, 0);
    rig.report(TxOutcome::Sent);
    rig.pass(500);
    rig.ack(sequence(&first));
    let (_, second, waited) = rig.next_frame();
    assert_eq!(waited, LIFS_US);
    assert_eq!(sequence(&second), sequence(&first).wrapping_add(1));
}

#[test]
fn a_lost_acknowledgement_brings_the_same_frame_again() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    let (_, first, _) = rig.next_frame();
    rig.report(TxOutcome::Sent);
    assert_eq!(rig.wait(), ACK_WAIT_US);
    let (info, second, _) = rig.next_frame();
    assert!(info.again);
    assert_eq!(second, first);
    rig.report(TxOutcome::Sent);
    rig.ack(sequence(&first));
    assert_eq!(rig.done(), [(TxOutcome::Acked, 2, 0)]);
    let counters = rig.counters();
    assert_eq!(
        (
            counters.frames_out,
            counters.transmissions,
            counters.retransmissions
        ),
        (1, 2, 1)
    );
    rig.assert_idle();
}

#[test]
fn after_all_retries_the_packet_is_dropped_and_the_next_one_sent() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    rig.send(link_local(3), 9);
    for attempt in 0..4 {
        let (info, ..) = rig.next_frame();
        assert_eq!(info.again, attempt > 0);
        rig.report(TxOutcome::Sent);
        rig.wait();
    }
    // IEEE 802.15.4-2020, 6.7.4.3: `macMaxFrameRetries`, 3 by default, after the first.
    assert_eq!(rig.done(), [(TxOutcome::NoAck, 4, 0)]);
    assert_eq!(rig.log.drops(), [Reason::LinkNoAck]);
    let (info, ..) = rig.next_frame();
    assert!(!info.again, "the other packet");
    let counters = rig.counters();
    assert_eq!(
        (counters.no_ack, counters.transmissions, counters.retransmissions),
        (1, 4, 3)
    );
}

#[test]
fn attempts_are_numbered_in_the_events() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    for _ in 0..3 {
        rig.next_frame();
        rig.report(TxOutcome::Sent);
        rig.wait();
    }
    let attempt = |(_, event): &(Instant, Event)| match *event {
        Event::FrameOut { attempt, .. } => Some(attempt),
        _ => None,
    };
    let attempts: Vec<u8> = rig.log.0.iter().filter_map(attempt).collect();
    assert_eq!(attempts, [0, 1, 2]);
}

#[test]
fn a_busy_channel_is_assessed_again_and_the_frame_given_up_after_the_fifth_time() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    // IEEE 802.15.4-2020, 6.2.5.1: the exponent grows from 3 to 5, `macMaxCsmaBackoffs` is 4.
    for exponent in [3, 4, 5, 5, 5] {
        let (_, _, waited) = rig.next_frame();
        assert!(waited < (1 << exponent) * UNIT_BACKOFF_US);
        rig.report(TxOutcome::ChannelBusy);
    }
    assert_eq!(rig.done(), [(TxOutcome::ChannelBusy, 0, 5)]);
    assert_eq!(rig.log.drops(), [Reason::LinkChannelBusy]);
    let counted = Counters {
        frames_out: 1,
        busy: 5,
        channel_busy: 1,
        ..Counters::default()
    };
    assert_eq!(rig.counters(), counted);
    rig.assert_idle();
}

#[test]
fn a_channel_that_gets_clear_carries_the_frame_as_it_was_written() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    let (_, first, _) = rig.next_frame();
    rig.report(TxOutcome::ChannelBusy);
    let (info, second, _) = rig.next_frame();
    assert!(info.again);
    assert_eq!(first, second);
    rig.report(TxOutcome::Sent);
    rig.ack(sequence(&first));
    assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 1)]);
}

#[test]
fn a_device_that_refuses_a_frame_ends_its_packet() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 8);
    rig.next_frame();
    rig.report(TxOutcome::Refused);
    assert_eq!(rig.log.drops(), [Reason::LinkRefused]);
    rig.assert_idle();
}

/// Kumar et al., NSDI 2020, section 7.1: a time uniform in 0 to d before each link retry.
#[test]
fn the_random_delay_before_a_retry_is_spread_over_its_range() {
    let mut config = plain();
    (config.csma.params.min_be, config.csma.params.max_be) = (0, 0);
    config.csma.params.retry_delay_max = Duration::from_millis(40);
    let delays: Vec<u64> = (0..200)
        .map(|seed| {
            let mut rig = Rig::seeded(config, seed);
            rig.send(link_local(2), 8);
            rig.next_frame();
            rig.report(TxOutcome::Sent);
            rig.wait();
            rig.next_frame().2
        })
        .collect();
    assert!(delays.iter().all(|delay| *delay <= 40_000));
    let mean = delays.iter().sum::<u64>() / 200;
    // The mean of 200 has a standard error of 0.8 ms.
    assert!((16_000..24_000).contains(&mean), "mean delay {mean} us");
    assert!(delays.iter().any(|delay| *delay < 4_000) && delays.iter().any(|delay| *delay > 36_000));
}

#[test]
fn the_queue_holds_as_many_as_configured_behind_the_one_being_sent() {
    let mut rig = Rig::new(IfaceConfig {
        queue_capacity: 2,
        ..plain()
    });
    for _ in 0..5 {
        rig.send(link_local(2), 8);
    }
    assert_eq!(rig.log.drops(), [Reason::QueueFull; 2]);
    assert_eq!(rig.stack.queue_len(IFACE), 2);
    let ahead = |(_, event): &(Instant, Event)| match *event {
        Event::Queued { ahead, .. } => Some(ahead),
        _ => None,
    };
    let ahead: Vec<u16> = rig.log.0.iter().filter_map(ahead).collect();
    assert_eq!(ahead, [0, 1, 2]);
}

/// IEEE 802.15.4-2020, 6.7.4.2.
#[test]
fn a_broadcast_asks_for_no_acknowledgement_and_waits_for_none() {
    let mut rig = Rig::new(plain());
    rig.send(ALL_NODES, 8);
    let (info, frame, _) = rig.next_frame();
    let (header, _) = Header::parse(&frame).unwrap();
    assert_eq!(header.dst, LinkAddr::BROADCAST);
    assert!(!info.ack_request && !header.ack_request);
    rig.report(TxOutcome::Sent);
    assert_eq!(rig.done(), [(TxOutcome::Sent, 1, 0)]);
    rig.assert_idle();
}

#[test]
fn acknowledgements_of_other_numbers_and_times_are_counted_and_change_nothing() {
    let mut rig = Rig::new(plain());
    rig.ack(0);
    rig.send(link_local(2), 8);
    rig.ack(0);
    let (_, frame, _) = rig.next_frame();
    rig.ack(sequence(&frame));
    rig.report(TxOutcome::Sent);
    rig.ack(sequence(&frame).wrapping_add(1));
    assert_eq!(rig.counters().stray_acks, 4);
    assert_eq!(rig.done(), []);
    rig.ack(sequence(&frame));
    assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 0)]);
}

#[test]
fn calls_that_come_early_late_or_twice_do_no_harm() {
    let mut rig = Rig::new(plain());
    rig.report(TxOutcome::Acked);
    let mut out = [0; FRAME_LEN_MAX];
    assert!(
        rig.stack
            .transmit(rig.now, IFACE, &mut out, &mut rig.log)
            .is_none()
    );
    rig.send(link_local(2), 8);
    rig.report(TxOutcome::Acked);
    rig.next_frame();
    assert!(
        rig.stack
            .transmit(rig.now, IFACE, &mut out, &mut rig.log)
            .is_none()
    );
    rig.pass(10);
    rig.report(TxOutcome::Sent);
    rig.report(TxOutcome::Sent);
    assert_eq!(rig.done(), []);
    assert_eq!(rig.counters().frames_out, 1);
    let nowhere = IfaceId(9);
    assert!(
        rig.stack
            .transmit(rig.now, nowhere, &mut out, &mut rig.log)
            .is_none()
    );
    assert!(!rig.stack.wants_transmit(nowhere));
    rig.frame_in(nowhere, &[]);
    assert_eq!(rig.stack.drops(Reason::NoInterface), 1);
}

#[test]
fn each_fragment_contends_and_is_acknowledged_by_itself() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 250);
    for number in 1..=3 {
        let (info, frame, _) = rig.next_frame();
        assert!(!info.again);
        rig.report(TxOutcome::Sent);
        assert_eq!(rig.done().len(), number - 1);
        rig.ack(sequence(&frame));
    }
    assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 0); 3]);
    rig.assert_idle();
}

#[test]
fn a_fragment_that_is_given_up_ends_its_datagram() {
    let mut rig = Rig::new(plain());
    rig.send(link_local(2), 250);
    let (_, frame, _) = rig.next_frame();
    rig.report(TxOutcome::Sent);
    rig.ack(sequence(&frame));
    for _ in 0..4 {
        rig.next_frame();
        rig.report(TxOutcome::Sent);
        rig.wait();
    }
    assert_eq!(rig.log.drops(), [Reason::LinkNoAck]);
    assert_eq!(rig.counters().frames_out, 2, "the third is never cut");
    rig.assert_idle();
}

#[test]
fn a_check_sequence_in_software_is_written_and_read() {
    let mut hardware = Rig::new(plain());
    hardware.send(link_local(2), 8);
    let (_, bare, _) = hardware.next_frame();
    let mut rig = Rig::new(software_fcs());
    rig.send(link_local(2), 8);
    let (info, frame, _) = rig.next_frame();
    assert_eq!(info.len, bare.len() + FCS_LEN);
    assert_eq!(fcs::check(&frame), Ok(&bare[..]));
    rig.report(TxOutcome::Sent);
    rig.ack(sequence(&frame));
    assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 0)]);
}

#[test]
fn a_frame_with_a_wrong_check_sequence_is_not_taken() {
    let datagram = udp_packet((link_local(2), 1), (link_local(1), 5000), b"x");
    let mut frame = frame(PEER, ME, 1, &[&[IPV6], &datagram[..]].concat());
    frame.extend([0; FCS_LEN]);
    let len = frame.len() - FCS_LEN;
    fcs::append(&mut frame, len).unwrap();
    let mut rig = Rig::new(software_fcs());
    for bit in 0..frame.len() * 8 {
        let mut bad = frame.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        rig.frame_in(IFACE, &bad);
    }
    assert_eq!(rig.stack.waiting(rig.socket), 0);
    assert_eq!(rig.stack.drops(Reason::FrameMalformed) as usize, frame.len() * 8);
    rig.frame_in(IFACE, &frame);
    assert_eq!(rig.stack.waiting(rig.socket), 1);
}

#[test]
fn a_full_frame_has_127_bytes_whoever_writes_the_check_sequence() {
    for (config, len) in [(plain(), 125), (software_fcs(), 127)] {
        let mut rig = Rig::new(config);
        // Header 21, dispatches and compressed headers 2 + 7, payload: 125.
        rig.send(link_local(2), 125 - 21 - 9);
        assert_eq!(rig.next_frame().0.len, len);
        assert!(
            rig.log
                .0
                .iter()
                .all(|(_, event)| !matches!(event, Event::FragmentOut { .. }))
        );
    }
}

#[test]
fn a_device_buffer_that_is_too_short_gets_no_frame_and_the_packet_stays() {
    for config in [plain(), software_fcs()] {
        let mut rig = Rig::new(config);
        rig.send(link_local(2), 8);
        while !rig.stack.wants_transmit(IFACE) {
            rig.wait();
        }
        for len in [0, 20] {
            let mut short = std::vec![0; len];
            let now = rig.now;
            assert!(rig.stack.transmit(now, IFACE, &mut short, &mut rig.log).is_none());
        }
        assert!(rig.stack.wants_transmit(IFACE));
        // The number of the frame is the one whose acknowledgement is waited for.
        let (_, frame, _) = rig.next_frame();
        rig.report(TxOutcome::Sent);
        rig.ack(sequence(&frame));
        assert_eq!(rig.done(), [(TxOutcome::Acked, 1, 0)]);
    }
}

#[test]
fn frames_go_out_from_the_short_address_if_told_so() {
    let mut rig = Rig::new(IfaceConfig {
        short: Some(0x0001),
        send_from_short: true,
        ..plain()
    });
    // RFC 6282 section 3.2.2: the interface identifiers of short addresses.
    let peer = LinkAddr::Short(2);
    rig.send(peer.link_local().unwrap(), 8);
    let (_, frame, _) = rig.next_frame();
    let (header, payload) = Header::parse(&frame).unwrap();
    assert_eq!((header.src, header.dst), (LinkAddr::Short(1), peer));
    // Both addresses are elided: the source is the one made of the short address.
    assert_eq!(frame.len(), 9 + 2 + 7 + 8);
    assert_eq!(payload[1] & 0b0111_0111, 0b0011_0011);
}
