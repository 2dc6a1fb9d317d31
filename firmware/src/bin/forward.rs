//! Forwarding with hop-wise reassembly: a datagram of 88 bytes goes over two forwarders, and the second says how long it took
//! from its last fragment in to its first fragment out.
#![no_std]
#![no_main]

use core::net::Ipv6Addr;

use cortex_m_rt::entry;
use sixlo::ipv6::{Neighbor, Route};
use sixlo::netdev::{Caps, IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::time::Instant;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::Context;
use sixlo_firmware::board::{Clock, exit, print, print_number};

type Memory = Fixed<1676, 4, 1, 1, 2>;

const RADIO: IfaceId = IfaceId(0);
const NOW: Instant = Instant::ZERO;
const PAYLOAD: [u8; 88] = [88; 88];

const fn global(node: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, node)
}

/// A node whose packets all go to the node with the next number.
fn node(memory: &'static mut Memory, number: u8) -> Stack<'static> {
    let mut stack = Stack::new(memory.lend(), &Config::new(number.into())).expect("enough memory");
    let mut iface = IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, number]);
    // As on the IoT-LAB M3: the radio does medium access by itself.
    iface.caps = Caps {
        csma: true,
        fcs: true,
    };
    stack.bring_up(RADIO, iface).expect("one interface");
    stack.add_address(RADIO, global(number.into())).expect("room");
    stack.set_context(0, Some(Context::new(global(0).octets(), 64)));
    let next = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, u16::from(number) + 1);
    stack.add_route(Route::default_via(RADIO, next)).expect("room");
    let neighbor = Neighbor {
        iface: RADIO,
        addr: next,
        link: LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, number + 1]),
    };
    stack.add_neighbor(neighbor).expect("room");
    stack
}

/// Takes a frame from a node, as its radio does.
fn transmit(stack: &mut Stack<'_>, frame: &mut [u8; 127]) -> Option<usize> {
    let info = stack.transmit(NOW, RADIO, frame, &mut ())?;
    let report = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 1,
        busy: 0,
    };
    stack.transmitted(NOW, RADIO, report, &mut ());
    Some(info.len)
}

#[entry]
fn main() -> ! {
    static mut MEMORIES: [Memory; 3] = [const { Memory::new() }; 3];

    let clock = Clock::start();
    let [first, second, third] = MEMORIES;
    let (mut source, mut before, mut measured) = (node(first, 1), node(second, 2), node(third, 3));
    let socket = source.udp_bind(5683, 1).expect("a socket");
    let sent = source.udp_send_to(NOW, socket, (global(9), 5683), &PAYLOAD, &mut ());
    sent.expect("room for a datagram");
    let mut frame = [0; 127];
    while let Some(len) = transmit(&mut source, &mut frame) {
        before.frame(NOW, RADIO, &frame[..len], RxInfo::default(), &mut ());
    }
    let (mut frames_in, mut frames_out, mut ticks) = (0, 0, 0);
    let mut out = [0; 127];
    while let Some(len) = transmit(&mut before, &mut frame) {
        frames_in += 1;
        let start = clock.ticks();
        measured.frame(NOW, RADIO, &frame[..len], RxInfo::default(), &mut ());
        let made = measured.transmit(NOW, RADIO, &mut out, &mut ());
        ticks = clock.ticks().wrapping_sub(start);
        frames_out += u32::from(made.is_some());
    }
    let report = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 1,
        busy: 0,
    };
    measured.transmitted(NOW, RADIO, report, &mut ());
    while transmit(&mut measured, &mut out).is_some() {
        frames_out += 1;
    }
    let start = clock.ticks();
    let empty = clock.ticks().wrapping_sub(start);
    for (number, what) in [
        (frames_in, &b" in "[..]),
        (frames_out, b" out "),
        (ticks, b" ticks "),
        (empty, b" empty\n"),
    ] {
        print_number(number);
        print(what);
    }
    exit();
}
