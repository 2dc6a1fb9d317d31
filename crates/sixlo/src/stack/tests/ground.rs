//! What the ground promises: buffer, leaks, identities, deadlines (claims G4, G6, G7, G8).

use std::boxed::Box;
use std::vec::Vec;

use super::net::{IFACE, Log, Net, eui, global, lent, link_local};
use super::packets::udp_packet;
use crate::lowpan::Reassembly;
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::{Caps, FRAME_LEN_MAX, RxInfo, TxOutcome, TxReport};
use crate::netif::{IfaceConfig, Interface};
use crate::netreg::Entry;
use crate::pktbuf::{Class, Meta, Seg, Slot};
use crate::sock::Mailbox;
use crate::stack::{Config, Memory, Stack};
use crate::time::{Duration, Instant};
use crate::timers::Timer;
#[cfg(feature = "trace")]
use crate::trace::Event;
use crate::trace::{End, Module, PktId, Reason};
use crate::wire::addr::LinkAddr;
use crate::wire::lowpan::IPV6;

/// Bytes of packet buffer that one datagram of 1280 bytes takes: itself and the header of its chunk.
const ARENA_LEN: usize = 1280 + 4;

/// A stack with one packet, no further segment, and `ARENA_LEN` bytes.
fn tiny(k: usize) -> Stack<'static> {
    let memory = Memory {
        bytes: lent(ARENA_LEN, || 0),
        segs: lent(0, || Seg::EMPTY),
        slots: lent(1, || Slot::EMPTY),
        receivers: lent(1, || Entry::EMPTY),
        timers: lent(1 + Memory::OWN_TIMERS, || Timer::EMPTY),
        ifaces: lent(1, || Interface::EMPTY),
        seen: &mut [],
        reassemblies: lent(1, || Reassembly::EMPTY),
        contexts: &mut [],
        vrbs: &mut [],
        peers: &mut [],
        transfers: &mut [],
        inbounds: &mut [],
        addresses: lent(1, || crate::ipv6::Address::EMPTY),
        neighbors: &mut [],
        routes: &mut [],
        partials: &mut [],
        mailboxes: lent(1, || Mailbox::EMPTY),
        connections: &mut [],
        listeners: &mut [],
        backlog: &mut [],
        tcp_receive: &mut [],
        loans: &mut [],
    };
    let mut stack = Stack::new(memory, &Config::new(k as u64)).expect("it suffices");
    let config = IfaceConfig {
        caps: Caps {
            csma: true,
            fcs: true,
        },
        ..IfaceConfig::new(eui(k))
    };
    stack.bring_up(IFACE, config).expect("a place");
    stack
}

/// GNRC's packet buffer of 1676 bytes holds one datagram of 1280 bytes, one fragment of it and what describes both.
#[test]
fn g4_a_datagram_of_1280_bytes_with_one_fragment_takes_no_more_than_1676_bytes() {
    let in_all = ARENA_LEN + size_of::<Slot>() + FRAME_LEN_MAX + size_of::<Reassembly>();
    assert!(in_all <= 1676, "{in_all} bytes");
    let (mut a, mut b) = (tiny(1), tiny(2));
    let (now, mut log) = (Instant::ZERO, Log::default());
    let (from, to) = (a.udp_bind(5000, 1).unwrap(), b.udp_bind(5001, 1).unwrap());
    let payload: Vec<u8> = (0..1232).map(|i| i as u8).collect();
    a.udp_send_to(now, from, (link_local(2), 5001), &payload, &mut log)
        .expect("room");
    let mut frame = [0; FRAME_LEN_MAX];
    let mut frames = 0;
    while let Some(info) = a.transmit(now, IFACE, &mut frame, &mut log) {
        b.frame(now, IFACE, &frame[..info.len], RxInfo::default(), &mut log);
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        a.transmitted(now, IFACE, report, &mut log);
        frames += 1;
    }
    assert_eq!(frames, 13);
    let mut out = [0; 1232];
    let received = b.udp_receive(now, to, &mut out, &mut log).expect("delivered");
    assert_eq!((received.len, &out[..]), (1232, &payload[..]));
    assert_eq!(
        (a.buffer().high_water(), b.buffer().high_water()),
        (ARENA_LEN, ARENA_LEN)
    );
}

#[test]
fn g6_central_buffer_takes_what_a_packet_is_long_and_gives_it_back() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    let mut sum = 0;
    for len in [0, 1, 2, 100, 1232] {
        net.send(1, a, (link_local(2), 5001), &std::vec![0; len]);
        sum += 4 + (48 + len).next_multiple_of(4);
        assert_eq!(net.node(1).stack.buffer().used(), sum);
    }
    net.settle();
    net.assert_idle();
}

#[test]
fn g6_central_buffer_marks_headers_and_keeps_them_readable() {
    let mut net = Net::chain(2);
    let socket = net.bind(1, 5000);
    net.inject(
        1,
        2,
        &udp_packet((link_local(2), 77), (link_local(1), 5000), b"marked"),
    );
    let stack = &net.node(1).stack;
    let mut seen = Vec::new();
    stack.modules.holds(&stack.core.buf, &mut |packet| {
        let buf = &stack.core.buf;
        let port: [u8; 2] = buf.read_back(packet, 8).unwrap();
        seen.push((buf.marked(packet), buf.len(packet), u16::from_be_bytes(port)));
    });
    assert_eq!(seen, [(48, 6, 77)]);
    assert!(net.receive(1, socket).is_some());
}

#[test]
fn g6_the_interface_header_travels_with_the_packet_up_to_the_socket() {
    let mut net = Net::chain(2);
    net.bind(1, 5000);
    let packet = udp_packet((link_local(2), 77), (link_local(1), 5000), b"x");
    let payload = [&[IPV6], &packet[..]].concat();
    let (from, to) = (LinkAddr::Extended(eui(2)), LinkAddr::Extended(eui(1)));
    let frame = super::packets::frame(from, to, 1, &payload);
    let info = RxInfo {
        rssi_dbm: -83,
        lqi: 177,
        id: PktId::NONE,
    };
    let now = net.now;
    let node = net.node(1);
    node.stack.frame(now, IFACE, &frame, info, &mut node.log);
    let mut seen = Vec::new();
    let stack = &net.node(1).stack;
    stack.modules.holds(&stack.core.buf, &mut |packet| {
        seen.push(*stack.core.buf.meta(packet));
    });
    let meta = Meta {
        iface: IFACE,
        link_src: from,
        link_dst: to,
        rssi_dbm: -83,
        lqi: 177,
        congested: false,
        multicast: false,
    };
    assert_eq!(seen, [meta]);
}

/// A module as an application might write it, with an error: it ends one packet and says that it took the other.
fn forgetful(cx: &mut crate::ground::Cx<'_, '_, Log>) -> Next {
    let mut make = || cx.new_packet(Module::App, Class::Transmit, 0, 8, PktId::NONE, PktId::NONE);
    let (one, lost) = (make().unwrap(), make().unwrap());
    let done = cx.end(one, Module::App, End::Consumed);
    drop(lost);
    Next::Taken(done)
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "a step lost a packet")]
fn g6_a_packet_that_a_module_loses_is_found_in_the_step_that_loses_it() {
    let mut stack = super::net::stack(1, &Config::new(1));
    let mut log = Log::default();
    let (mut cx, modules) = stack.parts(Instant::ZERO, &mut log);
    let next = forgetful(&mut cx);
    modules.follow(&mut cx, Module::App, next);
    stack.after_step();
}

#[test]
fn g6_a_packet_that_a_module_keeps_and_forgets_is_found_by_the_audit() {
    let mut stack = super::net::stack(1, &Config::new(1));
    let mut log = Log::default();
    let (mut cx, _) = stack.parts(Instant::ZERO, &mut log);
    let packet = cx
        .new_packet(Module::App, Class::Transmit, 0, 8, PktId::NONE, PktId::NONE)
        .unwrap();
    let kept = cx.core.buf.keep(packet);
    drop(kept);
    stack.after_step();
    assert_eq!((stack.audit(), stack.buffer().live()), (0, 1));
}

#[test]
fn an_interface_with_packets_in_it_cannot_start_anew() {
    let mut net = Net::chain(2);
    let a = net.bind(1, 5000);
    net.send(1, a, (link_local(2), 5001), b"x");
    let again = IfaceConfig::new(eui(1));
    assert!(net.node(1).stack.bring_up(IFACE, again).is_err());
    net.settle();
    assert!(net.node(1).stack.bring_up(IFACE, again).is_ok());
    assert_eq!(net.node(1).stack.counters(IFACE).unwrap().frames_out, 0);
}

/// One identity leads through the modules of three nodes, through fragments and reassembly, and from an error to what
/// caused it.
#[test]
#[cfg(feature = "trace")]
fn g7_the_history_of_a_datagram_can_be_followed_through_modules_and_nodes() {
    let mut net = Net::chain(3);
    let a = net.bind(1, 5000);
    net.send(1, a, (global(3), 5001), &[0; 200]);
    let id = PktId::new(1001);
    net.settle();
    let mut stations = Vec::new();
    let mut error = None;
    for (index, node) in net.nodes.iter().enumerate() {
        for (_, event) in &node.log.0 {
            let (of, station) = match *event {
                Event::Start { id: new, cause, .. } if cause == id => {
                    error = Some((index + 1, new));
                    continue;
                }
                Event::Start { id, module, .. } => (id, std::format!("starts in {}", module.name())),
                Event::Hop { id, to, .. } => (id, std::format!("to {}", to.name())),
                Event::FragmentOut { id, offset, .. } => (id, std::format!("cut at {offset}")),
                Event::FragmentIn { id, offset, .. } => (id, std::format!("piece at {offset}")),
                Event::End { id, module, end } => (id, std::format!("{end:?} in {}", module.name())),
                _ => continue,
            };
            if of == id {
                stations.push((index + 1, station));
            }
        }
    }
    let told: Vec<_> = stations.iter().map(|(k, what)| (*k, what.as_str())).collect();
    let told_of = |k: usize| -> Vec<&str> {
        told.iter()
            .filter(|(node, _)| *node == k)
            .map(|(_, what)| *what)
            .collect()
    };
    let sent = ["cut at 0", "cut at 128", "cut at 224", "Sent in netif"];
    let came = [
        "starts in 6lowpan",
        "piece at 0",
        "piece at 128",
        "piece at 224",
        "to ipv6",
    ];
    assert_eq!(
        told_of(1),
        [&["starts in app", "to udp", "to ipv6", "to netif"], &sent[..]].concat()
    );
    assert_eq!(told_of(2), [&came[..], &["to netif"], &sent].concat());
    assert_eq!(
        told_of(3),
        [&came[..], &["to udp", "Dropped(PortUnreachable) in udp"]].concat()
    );
    let (at, answer) = error.expect("an error was sent about it");
    assert_eq!(at, 3, "by the node that dropped it");
    let heard = |(_, event): &(Instant, Event)| {
        let end = End::Dropped(Reason::Icmpv6Unhandled);
        *event
            == Event::End {
                id: answer,
                module: Module::Icmpv6,
                end,
            }
    };
    assert!(
        net.nodes[0].log.0.iter().any(heard),
        "which came back to the source"
    );
}

/// Without the feature an identity takes no room.
#[test]
#[cfg(not(feature = "trace"))]
fn g7_identities_cost_nothing_where_nobody_follows_them() {
    assert_eq!(size_of::<PktId>(), 0);
}

#[test]
fn g8_the_only_deadline_of_a_stack_that_reassembles_is_the_end_of_its_patience() {
    let mut net = Net::chain(2);
    let packet = udp_packet((link_local(2), 1), (link_local(1), 5000), &[0; 200]);
    net.arrives = Box::new(|_| true);
    let begun = net.now;
    let head = [0xc0, packet.len() as u8, 0, 1, IPV6];
    net.inject_frame(
        1,
        2,
        LinkAddr::Extended(eui(1)),
        &[&head[..], &packet[..80]].concat(),
    );
    let end = begun + Duration::from_secs(60);
    let now = begun + Duration::from_secs(1);
    let node = net.node(1);
    assert_eq!(node.stack.poll(now, &mut node.log), Some(end));
    assert_eq!(
        node.stack.poll(end - Duration::from_micros(1), &mut node.log),
        Some(end)
    );
    assert_eq!(node.log.drops(), []);
    assert_eq!(node.stack.poll(end, &mut node.log), None);
    assert_eq!(node.log.drops(), [Reason::ReassemblyTimeout]);
}

#[test]
fn g8_a_datagram_that_is_complete_leaves_no_timer_behind() {
    let mut net = Net::chain(2);
    let socket = net.bind(1, 5000);
    net.inject(
        1,
        2,
        &udp_packet((link_local(2), 1), (link_local(1), 5000), &[0; 200]),
    );
    assert_eq!(net.node(1).stack.waiting(socket), 1);
    let now = net.now;
    assert_eq!(net.node(1).stack.next_deadline(now), None);
}

#[test]
fn g8_a_step_that_is_left_over_is_a_deadline_of_now() {
    let mut net = Net::chain(2);
    net.listen(1, Msg::up(Ty::Ipv6, 0), true);
    net.inject(1, 2, &udp_packet((global(2), 1), (global(1), 5000), b"x"));
    let now = net.now;
    assert_eq!(net.node(1).stack.next_deadline(now), Some(now));
}

/// RFC 4443 section 3.2. No link of today brings such a packet, so it is put in behind the link.
#[test]
fn a_packet_larger_than_the_next_link_takes_is_told_to_its_source_with_the_mtu() {
    let mut net = Net::chain(3);
    let errors = net.listen(1, Msg::up(Ty::Icmpv6, 2), false);
    let large = udp_packet((global(1), 1), (global(3), 2), &[0; 1233]);
    let now = net.now;
    let node = net.node(2);
    let (mut cx, modules) = node.stack.parts(now, &mut node.log);
    let (none, len) = (PktId::NONE, large.len());
    let packet = cx
        .new_packet(Module::Lowpan, Class::Receive, 0, len, none, none)
        .unwrap();
    cx.core.buf.write_bytes(&packet, 0, &large).unwrap();
    modules.follow(&mut cx, Module::Lowpan, Next::To(Msg::up(Ty::Ipv6, 0), packet));
    net.settle();
    let (_, error) = net.take(1, errors).expect("an error");
    assert_eq!(
        (&error[..2], &error[4..8]),
        (&[2, 0][..], &1280_u32.to_be_bytes()[..])
    );
    assert_eq!(error[8..], large[..1280 - 48]);
    assert_eq!(net.node(2).log.drops(), [Reason::PacketTooBig]);
}
