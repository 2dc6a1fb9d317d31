//! Which frames are taken, and several interfaces of one node.

use super::*;

#[test]
fn frames_to_each_of_its_addresses_are_taken_and_to_no_other() {
    let mut rig = Rig::new(IfaceConfig {
        short: Some(0x0001),
        ..plain()
    });
    let datagram = udp_packet((link_local(2), 1), (link_local(1), 5000), b"x");
    let payload = [&[IPV6], &datagram[..]].concat();
    let cases = [
        (ME, true),
        (LinkAddr::Short(1), true),
        (LinkAddr::BROADCAST, true),
        (LinkAddr::Short(2), false),
        (PEER, false),
    ];
    for (number, (dst, taken)) in cases.into_iter().enumerate() {
        let before = rig.stack.waiting(rig.socket);
        rig.frame_in(IFACE, &frame(LinkAddr::Short(7), dst, number as u8, &payload));
        assert_eq!(rig.stack.waiting(rig.socket) > before, taken, "{dst}");
    }
    assert_eq!(rig.stack.drops(Reason::FrameForeign), 2);
}

#[test]
fn frames_of_our_pan_and_of_all_pans_are_taken() {
    let mut rig = Rig::new(plain());
    let datagram = udp_packet((link_local(2), 1), (link_local(1), 5000), b"x");
    let payload = [&[IPV6], &datagram[..]].concat();
    for (number, (pan, taken)) in [(0x0023, 1), (0xffff, 2), (0x0024, 2)].into_iter().enumerate() {
        let mut frame = frame(PEER, ME, number as u8, &payload);
        frame[3..5].copy_from_slice(&u16::to_le_bytes(pan));
        rig.frame_in(IFACE, &frame);
        assert_eq!(rig.stack.waiting(rig.socket), taken, "PAN {pan:04x}");
    }
}

/// GNRC sends both PAN identifiers: 23 bytes of header.
#[test]
fn without_compression_both_pan_identifiers_are_sent_and_taken() {
    let mut rig = Rig::new(IfaceConfig {
        pan_id_compression: false,
        ..plain()
    });
    rig.send(link_local(2), 8);
    let (_, frame, _) = rig.next_frame();
    let (header, payload) = Header::parse(&frame).unwrap();
    assert_eq!((header.dst_pan, header.src_pan), (Some(0x0023), Some(0x0023)));
    assert_eq!(frame.len() - payload.len(), 23);
    let mut peer = Rig::new(IfaceConfig::new(eui(2)));
    let whole = peer.stack.open_mailbox(1).unwrap();
    let any = crate::netapi::Msg::up(crate::netapi::Ty::Udp, 0);
    peer.stack.register(whole, any, true).unwrap();
    peer.frame_in(IFACE, &frame);
    assert_eq!(peer.stack.waiting(whole), 1);
}

#[test]
fn frames_of_types_that_carry_no_data_are_refused() {
    let mut rig = Rig::new(plain());
    let mut bytes = frame(PEER, ME, 1, &[IPV6]);
    for kind in [FrameType::Beacon, FrameType::Command] {
        bytes[0] = bytes[0] & !7 | kind as u8;
        rig.frame_in(IFACE, &bytes);
    }
    assert_eq!(rig.stack.drops(Reason::FrameUnsupported), 2);
}

#[test]
fn a_retransmission_that_came_in_before_is_dropped() {
    let mut rig = Rig::new(plain());
    let datagram = udp_packet((link_local(2), 1), (link_local(1), 5000), b"x");
    let bytes = frame(PEER, ME, 1, &[&[IPV6], &datagram[..]].concat());
    rig.frame_in(IFACE, &bytes);
    rig.pass(4_000);
    rig.frame_in(IFACE, &bytes);
    assert_eq!(rig.stack.waiting(rig.socket), 1);
    assert_eq!(rig.stack.drops(Reason::FrameDuplicate), 1);
}

/// Two links, with the same short addresses on both.
fn two_links() -> Rig {
    let config = |pan| IfaceConfig {
        pan,
        short: Some(1),
        send_from_short: true,
        caps: Caps {
            csma: true,
            fcs: true,
        },
        ..IfaceConfig::new(eui(usize::from(pan)))
    };
    let mut rig = Rig::new(config(0x0023));
    rig.stack.bring_up(OTHER, config(0x0024)).expect("a second place");
    rig
}

#[test]
fn a_packet_is_forwarded_from_one_interface_to_another() {
    let mut rig = two_links();
    let peer = LinkAddr::Short(2).link_local().unwrap();
    rig.stack
        .add_route(Route::via(global(9), 128, OTHER, peer))
        .unwrap();
    let datagram = udp_packet((global(8), 1), (global(9), 2), b"x");
    let bytes = frame(
        LinkAddr::Short(2),
        LinkAddr::Short(1),
        1,
        &[&[IPV6], &datagram[..]].concat(),
    );
    rig.frame_in(IFACE, &bytes);
    assert!(rig.stack.wants_transmit(OTHER) && !rig.stack.wants_transmit(IFACE));
    let mut out = [0; FRAME_LEN_MAX];
    let info = rig
        .stack
        .transmit(rig.now, OTHER, &mut out, &mut rig.log)
        .unwrap();
    let (header, _) = Header::parse(&out[..info.len]).unwrap();
    assert_eq!((header.dst_pan, header.dst), (Some(0x0024), LinkAddr::Short(2)));
    assert_eq!(rig.counters().frames_out, 0);
    assert_eq!(rig.stack.counters(OTHER).unwrap().frames_out, 1);
}

#[test]
fn the_same_address_number_and_tag_on_two_links_are_not_confused() {
    let mut rig = two_links();
    let own = LinkAddr::Short(1).link_local().unwrap();
    let peer = LinkAddr::Short(2).link_local().unwrap();
    let datagram = udp_packet((peer, 1), (own, 5000), &[1; 80]);
    // Two fragments, told apart from those of the other link by nothing but the interface.
    let first = [&[0xc0, 128, 0, 7, IPV6], &datagram[..80]].concat();
    let second = [&[0xe0, 128, 0, 7, 10], &datagram[80..]].concat();
    for (number, piece) in [first, second].iter().enumerate() {
        for (iface, pan) in [(IFACE, 0x0023_u16), (OTHER, 0x0024)] {
            let mut bytes = frame(LinkAddr::Short(2), LinkAddr::Short(1), number as u8, piece);
            bytes[3..5].copy_from_slice(&pan.to_le_bytes());
            rig.frame_in(iface, &bytes);
        }
    }
    assert_eq!(rig.stack.waiting(rig.socket), 2);
    assert_eq!(rig.log.drops(), []);
}

#[test]
fn each_interface_has_its_own_timer() {
    let config = plain();
    let mut rig = Rig::new(config);
    rig.stack
        .bring_up(
            OTHER,
            IfaceConfig {
                extended: eui(11),
                pan: 0x0024,
                ..config
            },
        )
        .unwrap();
    let route = |k, iface| Route::via(global(k), 128, iface, link_local(k));
    rig.stack.add_route(route(8, IFACE)).unwrap();
    rig.stack.add_route(route(9, OTHER)).unwrap();
    rig.stack.add_address(IFACE, global(1)).unwrap();
    rig.stack.add_address(OTHER, global(11)).unwrap();
    rig.send(global(8), 8);
    rig.send(global(9), 8);
    while rig.stack.next_deadline(rig.now).is_some() {
        rig.wait();
    }
    assert!(rig.stack.wants_transmit(IFACE) && rig.stack.wants_transmit(OTHER));
}

#[test]
fn an_interface_that_is_not_there_carries_nothing() {
    let mut rig = Rig::new(plain());
    rig.stack
        .add_route(Route::via(global(9), 128, IfaceId(5), link_local(9)))
        .unwrap();
    let message = packet(
        crate::stack::tests::packets::header(global(8), global(9), NextHeader::NONE),
        b"",
    );
    rig.frame_in(IFACE, &frame(PEER, ME, 1, &[&[IPV6], &message[..]].concat()));
    assert_eq!(rig.log.drops(), [Reason::NoInterface]);
}
