//! A TCP echo server on Linux, with the calls of the stack itself.
//!
//! ```text
//! cargo build -p sixlo-host --examples
//! sudo target/debug/examples/echo &
//! sudo ip -6 address add fd00::2/64 dev sixlo0
//! nc fd00::1 7
//! ```

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::Ipv6Addr;

use sixlo::ipv6::Route;
use sixlo::netdev::IfaceId;
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, TcpError};
use sixlo::time::Instant;
use sixlo_host::driver::Host;
use sixlo_host::tun::Tun;

const TUN: IfaceId = IfaceId(0);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
/// Any neighbour: whoever it is, the kernel gets the packet.
const KERNEL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);

/// 32 KiB of packet buffer, 64 packets, one of each other kind, and of TCP: 4 connections with 8 KiB of receive memory, a
/// listener, and 4 that are being opened.
type Memory = Fixed<32768, 64, 1, 1, 1, 0, 0, 4, 8192, 1, 4>;

fn main() -> io::Result<()> {
    serve(Tun::open("sixlo0")?)
}

/// Serves until the device fails.
pub(crate) fn serve(tun: Tun) -> io::Result<()> {
    let mut memory = Box::new(Memory::new());
    // Sequence numbers that nobody can guess need a seed that nobody can guess.
    let config = Config::new(RandomState::new().hash_one(0));
    let mut stack = Stack::new(memory.lend(), &config).expect("the memory suffices");
    stack
        .bring_up(TUN, IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]))
        .expect("one interface");
    stack.add_address(TUN, ADDRESS).expect("room for one");
    let route = Route::default_via(TUN, KERNEL);
    stack.add_route(route).expect("room for one");

    let listener = stack.tcp_listen(7, 4).expect("one listener");
    let mut clients = Vec::new();
    let mut host = Host::new(stack, TUN, tun);
    loop {
        host.turn(None, &mut ())?;
        let now = host.now();
        while let Ok(client) = host.stack().tcp_accept(listener) {
            clients.push(client);
        }
        clients.retain(|client| {
            let open = echo(host.stack(), now, *client);
            if !open {
                // What is on its way still goes out, and the place is given back.
                let _ = host.stack().tcp_close(now, *client, &mut ());
            }
            open
        });
    }
}

/// Sends back what a client has sent, as far as that can be done now. False if it has ended.
fn echo(stack: &mut Stack<'_>, now: Instant, client: ConnectionId) -> bool {
    let mut piece = [0; 1024];
    loop {
        // What came in is looked at where it lies, and taken when it is on its way back.
        let len = match stack.tcp_peek(client) {
            Ok([]) => return false,
            Ok(bytes) => {
                let len = bytes.len().min(piece.len());
                piece[..len].copy_from_slice(&bytes[..len]);
                len
            }
            Err(error) => return error == TcpError::WouldBlock,
        };
        match stack.tcp_send(now, client, &piece[..len], &mut ()) {
            Ok(sent) => stack.tcp_consume(now, client, sent, &mut ()).expect("open"),
            Err(error) => return matches!(error, TcpError::WouldBlock | TcpError::NoRoom),
        }
    }
}
