//! An HTTP/1.1 server on Linux. IPv6, TCP and HTTP are sixlo's; the kernel only brings packets to the device.
//!
//! ```text
//! cargo build -p sixlo-host --examples
//! sudo target/debug/examples/http &
//! sudo ip -6 address add fd00::2/64 dev sixlo0
//! curl 'http://[fd00::1]/'
//! ```

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::Ipv6Addr;

use sixlo::ipv6::Route;
use sixlo::netdev::IfaceId;
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo_host::driver::Host;
use sixlo_host::tun::Tun;
use sixlo_services::{Limits, Node, Room, Sample, Service, Services};

const TUN: IfaceId = IfaceId(0);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
/// Any neighbour: whoever it is, the kernel gets the packet.
const KERNEL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);

/// 96 KiB of packet buffer, 160 packets, one of each other kind, and of TCP: 12 connections with 72 KiB of receive memory, a
/// listener, and 32 that are being opened.
type Memory = Fixed<98304, 160, 1, 1, 1, 0, 0, 12, 73728, 1, 32>;

fn main() -> io::Result<()> {
    serve(Tun::open("sixlo0")?)
}

/// Serves until the device fails.
pub(crate) fn serve(tun: Tun) -> io::Result<()> {
    let mut memory = Box::new(Memory::new());
    // Sequence numbers that nobody can guess need a seed that nobody can guess.
    let mut config = Config::new(RandomState::new().hash_one(0));
    config.tcp.send_buffer = 8192;
    let mut stack = Stack::new(memory.lend(), &config).expect("the memory suffices");
    let mut iface = IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]);
    iface.queue_capacity = 64;
    stack.bring_up(TUN, iface).expect("one interface");
    stack.add_address(TUN, ADDRESS).expect("room for one");
    let route = Route::default_via(TUN, KERNEL);
    stack.add_route(route).expect("room for one");

    let mut samples = [Sample::EMPTY; 60];
    let mut room = Room::<8, 8192>::new();
    let mut services = Services::new(room.lend(), Node::new(Node::PAGES, &mut samples)).with_limits(Limits {
        backlog: 32,
        ..Limits::DEFAULT
    });
    services
        .open(&mut stack, Service::Http, 80)
        .expect("one listener");

    let mut host = Host::new(stack, TUN, tun);
    loop {
        let now = host.now();
        let wake = services.turn(host.stack(), now, &mut ());
        host.turn(wake, &mut ())?;
    }
}
