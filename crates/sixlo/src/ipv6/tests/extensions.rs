//! Extension headers of packets for this node (RFC 8200 section 4).

use super::*;

const PROBLEM: u8 = 0b1000_0000 | 30;
const PROBLEM_UNLESS_MULTICAST: u8 = 0b1100_0000 | 30;
const DISCARD: u8 = 0b0100_0000 | 30;
const SKIP: u8 = 30;

/// An extension header of 8 bytes that names `next` and holds these bytes, padded with Pad1.
fn extension(next: NextHeader, body: &[u8]) -> Vec<u8> {
    let mut bytes = std::vec![next.0, 0];
    bytes.extend(body);
    let len = bytes.len().next_multiple_of(8);
    bytes.resize(len, 0);
    bytes[1] = (len / 8 - 1) as u8;
    bytes
}

/// A packet to `dst` with these headers in front of a UDP datagram to port 5000.
fn chained(dst: Ipv6Addr, first: NextHeader, headers: &[Vec<u8>]) -> Vec<u8> {
    let src = global(1);
    let datagram = udp((src, 1), (dst, 5000), b"behind headers");
    packet(
        header(src, dst, first),
        &[&headers.concat()[..], &datagram].concat(),
    )
}

fn delivers(rig: &mut Rig, packet: &[u8]) -> bool {
    let socket = rig.net.bind(2, 5000);
    assert_eq!(rig.put(packet), (None, None));
    let delivered = rig.net.receive(2, socket).is_some();
    let now = rig.net.now;
    let node = rig.net.node(2);
    assert!(node.stack.close(now, socket, &mut node.log));
    delivered
}

#[test]
fn headers_in_their_order_are_gone_through_to_the_datagram() {
    use NextHeader as N;
    let chain = [
        extension(N::DESTINATION, &[SKIP, 2, 0, 0]),
        extension(N::ROUTING, &[1, 4, 0, 0, 0, 0]),
        // RFC 8200 section 4.4: a routing header of any type with no segments left is passed over.
        extension(N::FRAGMENT, &[77, 0]),
        // RFC 6946: an atomic fragment.
        std::vec![N::DESTINATION.0, 0, 0, 0, 1, 2, 3, 4],
        extension(N::UDP, &[]),
    ];
    assert!(delivers(
        &mut Rig::new(),
        &chained(global(2), N::HOP_BY_HOP, &chain)
    ));
}

/// RFC 8200 section 4.2: the action bits.
#[test]
fn an_option_that_is_not_known_is_treated_by_the_bits_of_its_type() {
    let mut rig = Rig::new();
    for first in [NextHeader::HOP_BY_HOP, NextHeader::DESTINATION] {
        let with = |kind| chained(global(2), first, &[extension(NextHeader::UDP, &[1, 0, kind, 0])]);
        assert!(delivers(&mut rig, &with(SKIP)));
        rig.drops(&with(DISCARD), Reason::Ipv6Option);
        // The pointer: the fixed header, next header and length, PadN of two bytes.
        let message = Message::ParameterProblem {
            problem: Problem::Option,
            pointer: 40 + 2 + 2,
        };
        rig.refuses(&with(PROBLEM), message, Reason::Ipv6Option);
        rig.refuses(&with(PROBLEM_UNLESS_MULTICAST), message, Reason::Ipv6Option);
    }
}

/// RFC 8200 section 4.2, RFC 4443 section 2.4 (e.3): of two kinds of options a multicast packet is told about one.
#[test]
fn an_option_in_a_multicast_packet_is_told_about_only_if_its_type_says_so() {
    let with = |kind| {
        let options = extension(NextHeader::UDP, &[kind, 0]);
        chained(ALL_NODES, NextHeader::HOP_BY_HOP, &[options])
    };
    let mut rig = Rig::new();
    rig.drops_to(
        LinkAddr::BROADCAST,
        &with(PROBLEM_UNLESS_MULTICAST),
        Reason::Ipv6Option,
    );
    let (back, _) = rig.put_to(LinkAddr::BROADCAST, &with(PROBLEM));
    let (message, _) = read_error(&back.expect("an error"));
    let expected = Message::ParameterProblem {
        problem: Problem::Option,
        pointer: 42,
    };
    assert_eq!(message, expected);
}

/// RFC 8200 section 4.3.
#[test]
fn hop_by_hop_options_are_known_only_directly_behind_the_fixed_header() {
    let chain = [
        extension(NextHeader::HOP_BY_HOP, &[]),
        extension(NextHeader::UDP, &[]),
    ];
    let message = Message::ParameterProblem {
        problem: Problem::NextHeader,
        pointer: 40,
    };
    let sent = chained(global(2), NextHeader::DESTINATION, &chain);
    Rig::new().refuses(&sent, message, Reason::NextHeaderUnknown);
}

/// RFC 8200 section 4.4: code 0, at the type; RFC 5095 for type 0.
#[test]
fn a_routing_header_with_segments_left_is_refused() {
    for kind in [0, 3, 77] {
        let routing = extension(NextHeader::UDP, &[kind, 1, 0, 0]);
        let message = Message::ParameterProblem {
            problem: Problem::Field,
            pointer: 40 + 2,
        };
        let sent = chained(global(2), NextHeader::ROUTING, &[routing]);
        Rig::new().refuses(&sent, message, Reason::Ipv6Option);
    }
}

/// RFC 8200 section 4.5: code 0, at the payload length.
#[test]
fn a_fragment_with_others_behind_it_is_a_multiple_of_eight_bytes_or_refused() {
    let fragment = std::vec![NextHeader::UDP.0, 0, 0, 1, 0, 0, 0, 7];
    let message = Message::ParameterProblem {
        problem: Problem::Field,
        pointer: 4,
    };
    let sent = chained(global(2), NextHeader::FRAGMENT, &[fragment]);
    Rig::new().refuses(&sent, message, Reason::FragmentInvalid);
}

#[test]
fn a_header_longer_than_its_packet_is_refused_at_its_length() {
    let mut long = extension(NextHeader::UDP, &[]);
    long[1] = 10;
    let message = Message::ParameterProblem {
        problem: Problem::Field,
        pointer: 41,
    };
    let sent = chained(global(2), NextHeader::DESTINATION, &[long]);
    Rig::new().refuses(&sent, message, Reason::Ipv6Malformed);
    let cut = packet(header(global(1), global(2), NextHeader::DESTINATION), &[17]);
    Rig::new().drops(&cut, Reason::Ipv6Malformed);
}

#[test]
fn an_option_longer_than_its_header_is_dropped() {
    let options = extension(NextHeader::UDP, &[SKIP, 5]);
    let sent = chained(global(2), NextHeader::DESTINATION, &[options]);
    Rig::new().drops(&sent, Reason::Ipv6Malformed);
}

/// RFC 8504 section 5.3: limits on headers and options. The default is 8 of each.
#[test]
fn more_headers_or_options_than_the_limit_are_dropped() {
    let headers = |count: usize| {
        let mut chain = std::vec![extension(NextHeader::DESTINATION, &[]); count - 1];
        chain.push(extension(NextHeader::UDP, &[]));
        chained(global(2), NextHeader::DESTINATION, &chain)
    };
    let mut rig = Rig::new();
    assert!(delivers(&mut rig, &headers(8)));
    rig.drops(&headers(9), Reason::Ipv6Option);
    let options = |count: usize| {
        // Padding does not count.
        let options = [&[0; 20], &[SKIP, 0].repeat(count)[..]].concat();
        chained(
            global(2),
            NextHeader::DESTINATION,
            &[extension(NextHeader::UDP, &options)],
        )
    };
    assert!(delivers(&mut rig, &options(8)));
    rig.drops(&options(9), Reason::Ipv6Option);
}

#[test]
fn options_that_lie_in_two_pieces_of_the_buffer_are_read_all_the_same() {
    // The fragments come out of order, so that the packet is a chain of pieces, and the option at byte 80 straddles two.
    let options = [&[0; 36], &[PROBLEM, 4, 1, 2, 3, 4][..]].concat();
    let sent = chained(
        global(2),
        NextHeader::DESTINATION,
        &[extension(NextHeader::UDP, &options)],
    );
    let (head, tail) = sent.split_at(80);
    let mut rig = Rig::new();
    let to = LinkAddr::Extended(eui(2));
    let len = sent.len() as u8;
    rig.net
        .inject_frame(2, 1, to, &[&[0xe0, len, 0, 9, 10], tail].concat());
    rig.net
        .inject_frame(2, 1, to, &[&[0xc0, len, 0, 9, 0x41], head].concat());
    rig.net.settle();
    let (_, back) = rig.net.take(1, rig.back).expect("an error");
    let message = Message::ParameterProblem {
        problem: Problem::Option,
        pointer: 78,
    };
    assert_eq!(read_error(&back), (message, sent));
}

#[test]
fn a_router_does_not_look_at_the_headers_of_what_it_forwards() {
    let options = extension(NextHeader::UDP, &[PROBLEM, 0]);
    let mut sent = chained(global(3), NextHeader::DESTINATION, &[options]);
    let mut rig = Rig::new();
    let (_, onwards) = rig.put(&sent);
    sent[7] -= 1;
    assert_eq!(onwards, Some(sent));
}
