//! A border router in a simulated mesh: packets go in and come out, through the mesh and back.

use std::net::Ipv6Addr;

use sixlo::wire::icmpv6;
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};
use sixlo_sim::config::{Border, Chain, Config, Topology};
use sixlo_sim::run::with_world;
use sixlo_sim::stack_host::{StackHost, address};
use sixlo_sim::time::Time;
use sixlo_sim::world::{Plan, World};

const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 2);

/// A chain of nodes, of which this one is the border router.
fn chain(nodes: u16, border: u16) -> Plan {
    let mut config = Config::new(Topology::Chain(Chain {
        nodes,
        spacing_m: 6.0,
    }));
    config.border = Some(Border {
        node: border,
        ..Border::default()
    });
    Plan::new(&config, 1).expect("a plan")
}

/// An ICMPv6 message as a whole packet.
fn message(src: Ipv6Addr, dst: Ipv6Addr, message: icmpv6::Message, data: &[u8]) -> Vec<u8> {
    let mut head = [0; icmpv6::HEADER_LEN];
    let header = icmpv6::Header { message, checksum: 0 };
    let len = header.emit(&mut head).expect("room");
    let mut body = [&head[..len], data].concat();
    let mut sum =
        sixlo::wire::checksum::Checksum::pseudo_header(&src, &dst, NextHeader::ICMPV6, body.len() as u32);
    sum.add(&body);
    body[2..4].copy_from_slice(&sum.finish().to_be_bytes());
    let header = ipv6::Header {
        traffic_class: TrafficClass(0),
        flow_label: 0,
        payload_len: body.len() as u16,
        next_header: NextHeader::ICMPV6,
        hop_limit: 64,
        src,
        dst,
    };
    [&header.emit()[..], &body].concat()
}

fn echo(src: Ipv6Addr, dst: Ipv6Addr, data: &[u8]) -> Vec<u8> {
    let (identifier, sequence) = (7, 1);
    message(
        src,
        dst,
        icmpv6::Message::EchoRequest { identifier, sequence },
        data,
    )
}

/// What comes out within a time after a packet went in: source, destination, hop limit, and the ICMPv6 message with its data.
fn answers(
    world: &mut World<'_, StackHost<'_>, ()>,
    packet: &[u8],
    within: Time,
) -> Vec<(ipv6::Header, icmpv6::Message, Vec<u8>)> {
    assert!(world.packet_in(packet));
    let until = world.now() + within;
    world.run_until(until, usize::MAX, |_| ());
    std::iter::from_fn(|| world.packet_out())
        .map(|packet| {
            let (head, rest) = packet.split_first_chunk().expect("a header");
            let header = ipv6::Header::parse(head).expect("IPv6");
            let (icmp, data) = icmpv6::Header::parse(rest).expect("ICMPv6");
            (header, icmp.message, data.to_vec())
        })
        .collect()
}

fn with(plan: &Plan, test: impl FnOnce(&mut World<'_, StackHost<'_>, ()>)) {
    with_world(plan, &mut (), |mut world| {
        assert!(world.connect_outside());
        test(&mut world);
        world.run_until(world.now() + Time::ms(200_000), usize::MAX, |_| ());
        while world.packet_out().is_some() {}
        assert_eq!(world.finish().1, [], "the balance");
    })
    .expect("a world");
}

#[test]
fn every_node_answers_whichever_node_is_the_border() {
    for border in [1, 3, 5] {
        let plan = chain(5, border);
        with(&plan, |world| {
            for node in 0..5 {
                for len in [8, 1232] {
                    let data: Vec<u8> = (0..len).map(|at| at as u8).collect();
                    let to = address(&plan, node);
                    let answers = answers(world, &echo(HOST, to, &data), Time::ms(5_000));
                    let [(header, reply, echoed)] = &answers[..] else {
                        panic!("border {border}, node {}: {answers:?}", node + 1);
                    };
                    assert_eq!((header.src, header.dst), (to, HOST));
                    let hops = node.abs_diff(border - 1);
                    assert_eq!(header.hop_limit, 64 - hops as u8);
                    let (identifier, sequence) = (7, 1);
                    assert_eq!(*reply, icmpv6::Message::EchoReply { identifier, sequence });
                    assert_eq!(*echoed, data);
                }
            }
        });
    }
}

#[test]
fn xb1_a_packet_larger_than_the_mesh_takes_is_answered_by_the_router_with_its_mtu() {
    let plan = chain(2, 1);
    with(&plan, |world| {
        for (len, answered) in [(1280, false), (1281, true), (1500, true)] {
            let packet = echo(HOST, address(&plan, 1), &vec![7; len - 48]);
            assert_eq!(packet.len(), len);
            let answers = answers(world, &packet, Time::ms(5_000));
            let [(header, message, quoted)] = &answers[..] else {
                panic!("{answers:?}");
            };
            let mtu = 1280;
            assert_eq!(*message == icmpv6::Message::PacketTooBig { mtu }, answered);
            if answered {
                assert_eq!((header.src, header.dst), (ROUTER, HOST));
                assert_eq!(quoted[..], packet[..quoted.len()]);
                assert_eq!(header.payload_len, 1240);
            }
        }
    });
}

#[test]
fn an_address_that_no_node_has_is_answered_once_and_goes_round_nowhere() {
    for border in [1, 3] {
        let plan = chain(3, border);
        with(&plan, |world| {
            let nobody: Ipv6Addr = "fd00::dead".parse().unwrap();
            let answers = answers(world, &echo(HOST, nobody, &[1; 8]), Time::ms(5_000));
            let [(header, message, _)] = &answers[..] else {
                panic!("{answers:?}");
            };
            let code = icmpv6::Unreachable::Address;
            assert_eq!(*message, icmpv6::Message::DestinationUnreachable(code));
            assert_eq!(header.dst, HOST);
        });
    }
}
