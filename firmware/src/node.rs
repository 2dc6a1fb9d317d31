//! A whole node for the measurement of its size: each table is a static of its own, so that the image tells what it takes.

use core::net::Ipv6Addr;

use sixlo::ipv6::{Neighbor, Route};
use sixlo::netdev::{FRAME_LEN_MAX, IfaceId, RxInfo};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::Stack;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::iphc::Context;

use crate::board::Clock;
use crate::link::Link;

const RADIO: IfaceId = IfaceId(0);
const EUI: [u8; 8] = [2, 0, 0, 0, 0, 0, 0, 2];
const PREFIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);

/// Brings the node up: a router with a prefix, a neighbour, a context and a socket.
pub fn bring_up(stack: &mut Stack<'_>) -> Option<MailboxId> {
    stack.bring_up(RADIO, IfaceConfig::new(EUI)).ok()?;
    stack.add_address(RADIO, ADDRESS).ok()?;
    stack.add_route(Route::default_via(RADIO, ROUTER)).ok()?;
    let link = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 1]);
    let router = Neighbor {
        iface: RADIO,
        addr: ROUTER,
        link,
    };
    stack.add_neighbor(router).ok()?;
    stack.set_context(0, Some(Context::new(PREFIX.octets(), 64)));
    stack.udp_bind(7, 1).ok()
}

/// Echoes datagrams for ever: everything that a driver and an application call is called.
pub fn run(
    stack: &mut Stack<'_>,
    socket: MailboxId,
    payload: &mut [u8],
    clock: &mut Clock,
    link: &mut Link,
) -> ! {
    let mut frame = [0; FRAME_LEN_MAX];
    loop {
        let now = clock.now();
        if let Some(received) = link.receive() {
            stack.frame(now, RADIO, received, RxInfo::default(), &mut ());
        }
        if let Some(request) = stack.udp_receive(now, socket, payload, &mut ())
            && let Some(payload) = payload.get(..request.len)
        {
            let to = (request.src, request.src_port);
            if stack.udp_send_to(now, socket, to, payload, &mut ()).is_err() {
                stack.close(now, socket, &mut ());
            }
        }
        let deadline = stack.poll(now, &mut ());
        if let Some(info) = stack.transmit(now, RADIO, &mut frame, &mut ()) {
            let report = link.send(frame.get(..info.len).unwrap_or_default());
            stack.transmitted(now, RADIO, report, &mut ());
        } else if deadline.is_none_or(|at| at > now) {
            clock.sleep_until(deadline);
        }
    }
}

/// The `main` of such a node: the packet buffer in bytes, packets (and as many further segments), reassemblies at once,
/// datagrams that are forwarded by their fragments at once, datagrams that are sent in recoverable fragments at once.
#[macro_export]
macro_rules! node {
    (bytes: $bytes:literal, packets: $packets:literal, reassemblies: $reassemblies:literal, vrbs: $vrbs:literal, transfers: $transfers:literal) => {
        use sixlo::{ipv6, lowpan, mac, netif, netreg, pktbuf, sock, stack, timers, wire};

        #[cortex_m_rt::entry]
        fn main() -> ! {
            static mut BYTES: [u8; $bytes] = [0; $bytes];
            static mut SEGS: [pktbuf::Seg; $packets] = [pktbuf::Seg::EMPTY; $packets];
            static mut SLOTS: [pktbuf::Slot; $packets] = [pktbuf::Slot::EMPTY; $packets];
            static mut RECEIVERS: [netreg::Entry; 1] = [netreg::Entry::EMPTY; 1];
            static mut TIMERS: [timers::Timer; stack::Memory::OWN_TIMERS + 1] =
                [timers::Timer::EMPTY; stack::Memory::OWN_TIMERS + 1];
            static mut IFACES: [netif::Interface; 1] = [netif::Interface::EMPTY];
            static mut SEEN: [mac::duplicates::Seen; 8] = [mac::duplicates::Seen::EMPTY; 8];
            static mut REASSEMBLIES: [lowpan::Reassembly; $reassemblies] =
                [const { lowpan::Reassembly::EMPTY }; $reassemblies];
            static mut CONTEXTS: [wire::iphc::Context; 16] = [wire::iphc::Context::EMPTY; 16];
            static mut VRBS: [lowpan::Vrb; $vrbs] = [lowpan::Vrb::EMPTY; $vrbs];
            static mut PEERS: [lowpan::Peer; 2 * $vrbs] = [lowpan::Peer::EMPTY; 2 * $vrbs];
            static mut TRANSFERS: [lowpan::Transfer; $transfers] =
                [const { lowpan::Transfer::EMPTY }; $transfers];
            static mut INBOUNDS: [lowpan::Inbound; if $transfers > 0 { $reassemblies } else { 0 }] =
                [const { lowpan::Inbound::EMPTY }; if $transfers > 0 { $reassemblies } else { 0 }];
            static mut ADDRESSES: [ipv6::Address; 2] = [ipv6::Address::EMPTY; 2];
            static mut NEIGHBORS: [ipv6::Neighbor; 4] = [ipv6::Neighbor::EMPTY; 4];
            static mut ROUTES: [ipv6::Route; 4] = [ipv6::Route::EMPTY; 4];
            static mut MAILBOXES: [sock::Mailbox; 1] = [sock::Mailbox::EMPTY];
            static mut STACK: core::mem::MaybeUninit<stack::Stack<'static>> =
                core::mem::MaybeUninit::uninit();
            static mut PAYLOAD: [u8; sock::UDP_PAYLOAD_LEN_MAX] = [0; sock::UDP_PAYLOAD_LEN_MAX];

            let mut clock = $crate::board::Clock::start();
            let mut link = $crate::link::Link::start();
            let memory = stack::Memory {
                bytes: BYTES,
                segs: SEGS,
                slots: SLOTS,
                receivers: RECEIVERS,
                timers: TIMERS,
                ifaces: IFACES,
                seen: SEEN,
                reassemblies: REASSEMBLIES,
                contexts: CONTEXTS,
                vrbs: VRBS,
                peers: PEERS,
                transfers: TRANSFERS,
                inbounds: INBOUNDS,
                addresses: ADDRESSES,
                neighbors: NEIGHBORS,
                routes: ROUTES,
                partials: &mut [],
                mailboxes: MAILBOXES,
                connections: &mut [],
                listeners: &mut [],
                backlog: &mut [],
                tcp_receive: &mut [],
                loans: &mut [],
            };
            if let Ok(stack) = stack::Stack::new(memory, &stack::Config::new(2)) {
                // As in a program that learns at run time where its stack lies. Else the address of the static stands in every
                // function that the compiler makes for this one stack, eight bytes each time.
                let stack = core::hint::black_box(STACK.write(stack));
                if let Some(socket) = $crate::node::bring_up(stack) {
                    $crate::node::run(stack, socket, PAYLOAD, &mut clock, &mut link);
                }
            }
            $crate::board::exit();
        }
    };
}
