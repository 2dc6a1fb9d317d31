//! Every option by its name (claim G6: get and set; options by name).

use std::vec::Vec;

use super::net::{IFACE, Net, eui, global, link_local};
use super::packets::{self, icmpv6_packet, udp_packet};
use crate::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use crate::sock::MailboxId;
use crate::stack::{Opt, OptionError, Target, Value};
use crate::time::Duration;
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;
use crate::wire::icmpv6::Message;
use crate::wire::ieee802154::Header;

const HERE: Target = Target::Iface(IFACE);

/// What an option can be set to and what not; none for those that are only read. And its target.
type Row = (&'static str, Target, Option<(&'static [Value], &'static [Value])>);

/// One row an option.
const TABLE: &[Row] = &[
    ("pan", HERE, Some((&[0, 0xfffe], &[0xffff, 0x1_0023]))),
    ("short-address", HERE, Some((&[1, 0xfffe, 0xffff], &[0x1_0000]))),
    ("send-from-short", HERE, Some((&[0, 1], &[2]))),
    ("queue-capacity", HERE, Some((&[0, 0xffff], &[0x1_0000]))),
    ("queue-len", HERE, None),
    ("csma-min-be", HERE, Some((&[0, 5], &[6, 256]))),
    ("csma-max-be", HERE, Some((&[8, 5], &[2, 9, 256]))),
    ("csma-max-backoffs", HERE, Some((&[0, 255], &[256]))),
    ("csma-max-retries", HERE, Some((&[0, 255], &[256]))),
    ("retry-delay-max-us", HERE, Some((&[0, 40_000], &[]))),
    ("retry-busy", HERE, Some((&[1, 0], &[2]))),
    ("strategy", HERE, Some((&[0, 1, 2, 3], &[4]))),
    ("fragment-gap-us", HERE, Some((&[0, 170_000, u64::MAX], &[]))),
    ("mtu-bytes", HERE, Some((&[56, 124, 1280], &[55, 1281]))),
    ("mark", HERE, Some((&[1, 2, 3, 0], &[4, u64::MAX]))),
    ("red-min-percent", HERE, Some((&[0, 75, 25], &[76]))),
    ("red-max-percent", HERE, Some((&[25, 100], &[24, 101]))),
    ("red-weight-shift", HERE, Some((&[0, 10], &[11]))),
    ("red-probability-percent", HERE, Some((&[0, 100], &[101]))),
    ("mark-wait-us", HERE, Some((&[0, 100_000], &[]))),
    ("frames-in", HERE, None),
    ("frames-out", HERE, None),
    ("transmissions", HERE, None),
    ("retransmissions", HERE, None),
    ("channel-busy", HERE, None),
    ("frames-no-ack", HERE, None),
    ("frames-channel-busy", HERE, None),
    ("stray-acks", HERE, None),
    (
        "reassembly-timeout-us",
        Target::Stack,
        Some((&[1, 60_000_000], &[60_000_001])),
    ),
    (
        "reassembly-remember-us",
        Target::Stack,
        Some((&[0, 1_000_000], &[0x4000_0001])),
    ),
    ("reassembly-eviction", Target::Stack, Some((&[0, 1], &[2]))),
    ("reassemblies", Target::Stack, None),
    ("forward-fallback", Target::Stack, Some((&[0, 1], &[2]))),
    ("forward-timeout-us", Target::Stack, Some((&[0, 65_000_000], &[]))),
    ("forwards", Target::Stack, None),
    ("forward-fallbacks", Target::Stack, None),
    ("transfers", Target::Stack, None),
    ("recover-window", Target::Stack, Some((&[1, 32], &[0, 33]))),
    (
        "recover-arq-timeout-us",
        Target::Stack,
        Some((&[1, 1_200_000], &[])),
    ),
    (
        "recover-arq-timeout-min-us",
        Target::Stack,
        Some((&[0, 250_000], &[])),
    ),
    (
        "recover-arq-timeout-max-us",
        Target::Stack,
        Some((&[1, 10_000_000], &[])),
    ),
    ("recover-adaptive", Target::Stack, Some((&[0, 1], &[2]))),
    ("recover-fragment-retries", Target::Stack, Some((&[0, 7], &[8]))),
    (
        "recover-datagram-retries",
        Target::Stack,
        Some((&[0, 255], &[256])),
    ),
    ("recover-slack-bytes", Target::Stack, Some((&[0, 255], &[256]))),
    (
        "recover-control",
        Target::Stack,
        Some((&[1, 5, 0], &[6, u64::MAX])),
    ),
    ("recover-ecn", Target::Stack, Some((&[0, 1], &[2]))),
    ("recover-linger-us", Target::Stack, Some((&[0, 4_000_000], &[]))),
    ("forwarding", Target::Stack, Some((&[0, 1], &[2]))),
    ("default-hop-limit", Target::Stack, Some((&[1, 255], &[0, 256]))),
    ("answer-echo", Target::Stack, Some((&[0, 1], &[2]))),
    (
        "icmpv6-error-interval-us",
        Target::Stack,
        Some((&[0, 100_000], &[])),
    ),
    ("icmpv6-error-burst", Target::Stack, Some((&[0, 255], &[256]))),
    ("buffer-used-bytes", Target::Stack, None),
    ("buffer-high-water-bytes", Target::Stack, None),
    ("packets", Target::Stack, None),
];

#[test]
fn g6_every_option_is_read_and_written_by_name_and_refuses_what_it_cannot_be() {
    let mut net = Net::chain(1);
    let stack = &mut net.node(1).stack;
    let named: Vec<&str> = TABLE.iter().map(|(name, ..)| *name).collect();
    let all: Vec<&str> = Opt::ALL.iter().map(|option| option.name()).collect();
    assert_eq!(named, all, "one row an option");
    for &(name, target, writable) in TABLE {
        let option = Opt::from_name(name).expect(name);
        let before = stack.get(target, option).expect(name);
        let elsewhere = match target {
            Target::Stack => HERE,
            Target::Iface(_) => Target::Stack,
        };
        assert_eq!(stack.get(elsewhere, option), Err(OptionError::NotHere), "{name}");
        assert_eq!(stack.set(elsewhere, option, before), Err(OptionError::NotHere));
        let Some((good, bad)) = writable else {
            assert_eq!(
                stack.set(target, option, before),
                Err(OptionError::ReadOnly),
                "{name}"
            );
            continue;
        };
        for value in good {
            assert_eq!(stack.set(target, option, *value), Ok(()), "{name} {value}");
            assert_eq!(stack.get(target, option), Ok(*value), "{name}");
        }
        for value in bad {
            assert_eq!(
                stack.set(target, option, *value),
                Err(OptionError::Range),
                "{name} {value}"
            );
        }
        assert_eq!(stack.get(target, option).ok(), good.last().copied(), "{name}");
        let no_such = Target::Iface(IfaceId(7));
        assert_eq!(stack.get(no_such, option), Err(OptionError::NotHere));
        assert_eq!(stack.set(no_such, option, before), Err(OptionError::NotHere));
    }
    assert_eq!(Opt::from_name("no-such-option"), None);
}

#[test]
fn g6_every_drop_counter_is_an_option_named_as_its_reason() {
    let mut net = Net::chain(1);
    for &reason in Reason::ALL {
        let option = Opt::from_name(reason.name()).expect("a reason");
        assert_eq!(option, Opt::Drops(reason));
        let stack = &mut net.node(1).stack;
        assert_eq!(stack.get(Target::Stack, option), Ok(0));
        assert_eq!(stack.set(Target::Stack, option, 0), Err(OptionError::ReadOnly));
    }
    let now = net.now;
    let node = net.node(1);
    node.stack
        .frame(now, IFACE, &[], RxInfo::default(), &mut node.log);
    let malformed = Opt::from_name("frame-malformed").unwrap();
    assert_eq!(node.stack.get(Target::Stack, malformed), Ok(1));
}

impl Net {
    fn set(&mut self, k: usize, name: &str, value: Value) {
        let option = Opt::from_name(name).expect("an option");
        let target = TABLE.iter().find(|row| row.0 == name).expect("a row").1;
        self.node(k).stack.set(target, option, value).expect("in range");
    }

    fn get(&mut self, k: usize, name: &str) -> Value {
        let option = Opt::from_name(name).expect("an option");
        let target = TABLE.iter().find(|row| row.0 == name).expect("a row").1;
        self.node(k).stack.get(target, option).expect("it is here")
    }

    /// The header of the next frame that node 1 sends to node 2.
    fn header_of_next(&mut self, a: MailboxId) -> (u16, LinkAddr, LinkAddr) {
        self.send(1, a, (link_local(2), 5001), b"x");
        let frame = self.transmit(1).expect("a frame");
        let (header, _) = Header::parse(&frame).expect("our own");
        (header.dst_pan.expect("a PAN"), header.dst, header.src)
    }
}

#[test]
fn g6_options_of_addresses_change_what_is_sent_and_taken() {
    let mut net = Net::chain(2);
    let (a, b) = (net.bind(1, 5000), net.bind(2, 5001));
    let extended = LinkAddr::Extended(eui(1));
    assert_eq!(net.header_of_next(a).0, 0x0023);
    net.set(1, "pan", 0x1234);
    assert_eq!(net.header_of_next(a).0, 0x1234);
    assert_eq!(net.node(2).stack.drops(Reason::FrameForeign), 1);
    net.set(2, "pan", 0x1234);
    net.set(1, "send-from-short", 1);
    assert_eq!(net.header_of_next(a).2, extended, "there is no short one yet");
    net.set(1, "short-address", 0x0a0b);
    assert_eq!(net.header_of_next(a).2, LinkAddr::Short(0x0a0b));
    net.set(1, "send-from-short", 0);
    assert_eq!(net.header_of_next(a).2, extended);
    assert_eq!(net.node(2).stack.waiting(b), 4);

    // A frame to the short address is taken from now on.
    let whole = udp_packet((link_local(2), 5001), (link_local(1), 5000), b"x");
    net.set(1, "pan", 0x0023);
    net.inject_to(1, 2, LinkAddr::Short(0x0a0b), &whole);
    net.inject_to(1, 2, LinkAddr::Short(0x0a0c), &whole);
    assert_eq!(net.node(1).stack.waiting(a), 1);
    assert_eq!(net.node(1).stack.drops(Reason::FrameForeign), 1);
}

#[test]
fn g6_options_of_the_transmit_queue_bound_it() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    net.set(1, "queue-capacity", 2);
    for _ in 0..4 {
        net.send(1, a, (link_local(2), 5001), b"x");
    }
    assert_eq!(net.get(1, "queue-len"), 2, "two behind the one being sent");
    assert_eq!(net.node(1).log.drops(), [Reason::QueueFull]);
}

#[test]
fn g6_options_of_medium_access_reach_the_device() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    for (name, value) in [
        ("csma-min-be", 1),
        ("csma-max-be", 6),
        ("csma-max-backoffs", 7),
        ("csma-max-retries", 0),
        ("retry-delay-max-us", 1_500),
        ("retry-busy", 1),
    ] {
        net.set(1, name, value);
    }
    net.send(1, a, (link_local(2), 5001), b"x");
    let now = net.now;
    let node = net.node(1);
    let mut out = [0; 127];
    let info = node.stack.transmit(now, IFACE, &mut out, &mut node.log).unwrap();
    let csma = info.csma;
    assert_eq!(
        (csma.min_be, csma.max_be, csma.max_backoffs, csma.max_retries),
        (1, 6, 7, 0)
    );
    assert_eq!(csma.retry_delay_max, Duration::from_micros(1_500));
    assert!(csma.retry_busy);
}

#[test]
fn g6_counters_of_an_interface_count_what_its_device_reports() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let outcomes = [
        (TxOutcome::Acked, 3, 2),
        (TxOutcome::NoAck, 4, 0),
        (TxOutcome::ChannelBusy, 0, 5),
        (TxOutcome::Refused, 0, 0),
    ];
    for (outcome, attempts, busy) in outcomes {
        net.send(1, a, (link_local(2), 5001), b"x");
        let now = net.now;
        let node = net.node(1);
        let mut out = [0; 127];
        node.stack.transmit(now, IFACE, &mut out, &mut node.log).unwrap();
        let report = TxReport {
            outcome,
            attempts,
            busy,
        };
        node.stack.transmitted(now, IFACE, report, &mut node.log);
    }
    let ack = Header::immediate_ack(9, false);
    let mut frame = [0; 3];
    ack.emit(&mut frame).unwrap();
    let now = net.now;
    let node = net.node(1);
    node.stack
        .frame(now, IFACE, &frame, RxInfo::default(), &mut node.log);
    net.inject(1, 2, &udp_packet((link_local(2), 1), (link_local(1), 5000), b"x"));
    let counted = [
        ("frames-in", 1),
        ("frames-out", 4),
        ("transmissions", 7),
        ("retransmissions", 5),
        ("channel-busy", 7),
        ("frames-no-ack", 1),
        ("frames-channel-busy", 1),
        ("stray-acks", 1),
    ];
    for (name, value) in counted {
        assert_eq!(net.get(1, name), value, "{name}");
    }
    let dropped = [Reason::LinkNoAck, Reason::LinkChannelBusy, Reason::LinkRefused];
    assert_eq!(net.node(1).log.drops(), dropped);
}

#[test]
fn g6_options_of_reassembly_change_how_long_and_for_whom() {
    let mut net = Net::chain(2);
    let first_fragment = |net: &mut Net| {
        net.tag += 1;
        let [high, low] = net.tag.to_be_bytes();
        let head = [0xc0 | 0x01, 0x00, high, low, crate::wire::lowpan::IPV6];
        let packet = udp_packet((link_local(2), 1), (link_local(1), 5000), &[0; 208]);
        net.inject_frame(
            1,
            2,
            LinkAddr::Extended(eui(1)),
            &[&head[..], &packet[..80]].concat(),
        );
    };
    net.set(1, "reassembly-timeout-us", 10_000_000);
    first_fragment(&mut net);
    assert_eq!(net.get(1, "reassemblies"), 1);
    net.pass(Duration::from_micros(9_999_999));
    assert_eq!(net.get(1, "reassemblies"), 1);
    net.pass(Duration::from_micros(1));
    assert_eq!(net.get(1, "reassemblies"), 0);
    assert_eq!(net.node(1).log.drops(), [Reason::ReassemblyTimeout]);

    // A table of 4, full: with eviction the newcomer gets a place, without it none.
    net.set(1, "reassembly-eviction", 0);
    for _ in 0..5 {
        first_fragment(&mut net);
    }
    assert_eq!(net.node(1).stack.drops(Reason::ReassemblyFull), 1);
    net.set(1, "reassembly-eviction", 1);
    net.pass(Duration::from_millis(1));
    first_fragment(&mut net);
    assert_eq!(net.node(1).stack.drops(Reason::ReassemblyEvicted), 1);
    assert_eq!(net.get(1, "reassemblies"), 4);
}

#[test]
fn g6_the_option_of_remembering_decides_about_late_fragments() {
    for (remember_us, late) in [(1_000_000, 1), (0, 0)] {
        let mut net = Net::chain(2);
        let a = net.bind(1, 5000);
        net.set(1, "reassembly-remember-us", remember_us);
        let packet = udp_packet((link_local(2), 1), (link_local(1), 5000), &[0; 100]);
        net.inject(1, 2, &packet);
        assert_eq!(net.node(1).stack.waiting(a), 1);
        // Its last fragment once more, 999 ms later.
        net.pass(Duration::from_millis(999));
        let [high, low] = net.tag.to_be_bytes();
        let head = [0xe0, packet.len() as u8, high, low, 10];
        net.inject_frame(
            1,
            2,
            LinkAddr::Extended(eui(1)),
            &[&head[..], &packet[80..]].concat(),
        );
        assert_eq!(net.node(1).stack.drops(Reason::FragmentLate), late);
        assert_eq!(net.get(1, "reassemblies"), u64::from(1 - late));
    }
}

#[test]
fn g6_options_of_ipv6_change_forwarding_and_hop_limit() {
    let mut net = Net::chain(3);
    let (a, c) = (net.bind(1, 5000), net.bind(3, 5001));
    net.set(1, "default-hop-limit", 17);
    let mut out = [0; 8];
    net.send(1, a, (global(3), 5001), b"x");
    net.settle();
    let now = net.now;
    let node = net.node(3);
    let received = node.stack.udp_receive(now, c, &mut out, &mut node.log).unwrap();
    assert_eq!(received.hop_limit, 16, "one router on the way");
    net.set(2, "forwarding", 0);
    net.send(1, a, (global(3), 5001), b"x");
    net.settle();
    assert_eq!(net.node(3).stack.waiting(c), 0);
    assert_eq!(net.node(2).log.drops(), [Reason::NotForwarding]);
}

#[test]
fn g6_options_of_icmpv6_change_answers_and_their_rate() {
    let mut net = Net::chain(2);
    let request = Message::EchoRequest {
        identifier: 1,
        sequence: 1,
    };
    let ping = icmpv6_packet(link_local(2), link_local(1), request, b"");
    net.inject(1, 2, &ping);
    net.settle();
    assert_eq!(net.frames_of(1), 1);
    net.set(1, "answer-echo", 0);
    net.inject(1, 2, &ping);
    net.settle();
    assert_eq!(net.frames_of(1), 1);

    let stray = packets::udp_packet((link_local(2), 1), (link_local(1), 9), b"");
    net.set(1, "icmpv6-error-burst", 2);
    net.set(1, "icmpv6-error-interval-us", 5_000);
    let mut answered = Vec::new();
    for _ in 0..6 {
        net.inject(1, 2, &stray);
        net.settle();
        answered.push(net.frames_of(1) - 1);
        net.pass(Duration::from_millis(2));
    }
    // Two at once, then one each 5 ms.
    assert_eq!(answered, [1, 2, 2, 3, 3, 4]);
}

#[test]
fn g6_options_of_the_buffer_tell_its_use() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    net.bind(2, 5001);
    net.send(1, a, (link_local(2), 5001), &[0; 100]);
    let whole = 40 + 8 + 100 + 4;
    assert_eq!(net.get(1, "buffer-used-bytes"), whole);
    assert_eq!(net.get(1, "packets"), 1);
    net.settle();
    assert_eq!(net.get(1, "buffer-used-bytes"), 0);
    assert_eq!(net.get(1, "buffer-high-water-bytes"), whole);
    assert_eq!(net.get(1, "packets"), 0);
}
