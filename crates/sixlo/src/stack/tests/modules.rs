//! A stack of which modules were left out: what names them is refused, and what would be for them is counted. With all modules
//! it is taken, so both sides are tested by building these with features and without.

use std::vec::Vec;

use super::net::{IFACE, Net, eui, global, stack};
use super::packets;
use crate::lowpan::Strategy;
use crate::netif::IfaceConfig;
use crate::stack::{BringUpError, Config, Opt, OptionError, Target};
use crate::trace::Reason;
use crate::wire::addr::LinkAddr;
use crate::wire::ipv6::NextHeader;
use crate::wire::lowpan::IPV6;
use crate::wire::lowpan::rfrag::Rfrag;

#[test]
fn strategies_are_there_by_feature_and_refused_without() {
    let built = [
        true,
        cfg!(feature = "forward"),
        cfg!(feature = "recover"),
        cfg!(feature = "ipv6-fragments"),
    ];
    let mut stack = stack(1, &Config::new(1));
    for (strategy, built) in Strategy::ALL.into_iter().zip(built) {
        let name = strategy.name();
        let config = IfaceConfig {
            strategy,
            ..IfaceConfig::new(eui(1))
        };
        let up = if built {
            Ok(())
        } else {
            Err(BringUpError::NotBuilt)
        };
        assert_eq!(stack.bring_up(IFACE, config), up, "{name}");
        let set = if built { Ok(()) } else { Err(OptionError::NotBuilt) };
        let value = strategy as u64;
        assert_eq!(
            stack.set(Target::Iface(IFACE), Opt::Strategy, value),
            set,
            "{name}"
        );
    }
}

/// How often node 1 dropped something for this reason.
fn drops(net: &mut Net, reason: Reason) -> u32 {
    net.node(1).stack.drops(reason)
}

#[test]
fn a_recoverable_fragment_is_not_known_without_recovery() {
    let mut net = Net::chain(2);
    let header = Rfrag {
        congested: false,
        tag: 1,
        ack_request: true,
        sequence: 1,
        size: 8,
        offset: 8,
    };
    let mut payload = [0; Rfrag::LEN + 8];
    header.emit(&mut payload).expect("room");
    net.inject_frame(1, 2, LinkAddr::Extended(eui(1)), &payload);
    net.settle();
    let here = cfg!(feature = "recover");
    // RFC 8931 section 6.1.2: of no datagram that is known, so it is answered with the NULL bitmap.
    assert_eq!(drops(&mut net, Reason::FragmentUnknown), here.into());
    assert_eq!(drops(&mut net, Reason::LowpanDispatch), (!here).into());
    assert_eq!(net.frames_of(1), usize::from(here));
}

#[test]
fn a_switch_of_the_page_is_an_unknown_dispatch_without_routing_headers() {
    let mut net = Net::chain(2);
    let receiver = net.bind(1, 7);
    let packet = packets::udp_packet((global(2), 8), (global(1), 7), b"paged");
    // RFC 8025 section 3: to page 1 and back to page 0, in which an uncompressed header is known.
    let payload = [&[0xf1, 0xf0, IPV6][..], &packet].concat();
    net.inject_frame(1, 2, LinkAddr::Extended(eui(1)), &payload);
    net.settle();
    let here = cfg!(feature = "routing-headers");
    assert_eq!(drops(&mut net, Reason::LowpanDispatch), (!here).into());
    assert_eq!(net.receive(1, receiver), here.then(|| b"paged".to_vec()));
}

#[test]
fn an_interface_of_packets_is_there_by_feature_and_refused_without() {
    let mut stack = stack(1, &Config::new(1));
    let up = match cfg!(feature = "packets") {
        true => Ok(()),
        false => Err(BringUpError::NotBuilt),
    };
    assert_eq!(stack.bring_up(IFACE, IfaceConfig::packets(eui(1))), up);
}

#[test]
fn fragments_are_put_together_whatever_is_left_out() {
    let mut net = Net::chain(2);
    let receiver = net.bind(1, 7);
    let sender = net.bind(2, 8);
    let payload: Vec<u8> = (0..400_u16).map(|at| at as u8).collect();
    net.send(2, sender, (global(1), 7), &payload);
    net.settle();
    assert_eq!(net.receive(1, receiver), Some(payload));
}

#[test]
fn the_fragment_header_is_a_next_header_that_is_not_known_without_ipv6_fragments() {
    let mut net = Net::chain(2);
    // Next header UDP, offset 8, more to follow.
    let fragment = [17, 0, 0, 9, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8];
    let header = packets::header(global(2), global(1), NextHeader::FRAGMENT);
    net.inject(1, 2, &packets::packet(header, &fragment));
    net.settle();
    let here = cfg!(feature = "ipv6-fragments");
    // RFC 8200 section 4: an error goes to the source.
    assert_eq!(drops(&mut net, Reason::NextHeaderUnknown), (!here).into());
    assert_eq!(net.frames_of(1), usize::from(!here));
}
