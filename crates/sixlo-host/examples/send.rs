//! Sends bytes to a TCP server of the kernel, as fast as they go, and says how fast that was.
//!
//! ```text
//! cargo build --release -p sixlo-host --examples
//! sudo target/release/examples/send 100000000 &
//! sudo ip -6 address add fd00::2/64 dev sixlo0
//! nc -l fd00::2 5001 | wc -c
//! ```

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::Ipv6Addr;

use sixlo::ipv6::Route;
use sixlo::netdev::IfaceId;
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{State, TcpConfig, TcpError};
use sixlo::time::Duration;
use sixlo_host::driver::Host;
use sixlo_host::tun::Tun;

const TUN: IfaceId = IfaceId(0);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);
/// Any neighbour: whoever it is, the kernel gets the packet.
const KERNEL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
/// Who receives.
const SINK: (Ipv6Addr, u16) = (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2), 5001);

/// What is sent. It lies in the program for ever, so TCP sends it from there.
static DATA: [u8; 65536] = [b'x'; 65536];

/// 96 KiB of packet buffer, 160 packets, one of each other kind, and of TCP one connection with 2 KiB of receive memory.
type Memory = Fixed<98304, 160, 1, 1, 1, 0, 0, 1, 2048, 0, 0>;

fn main() -> io::Result<()> {
    let len = std::env::args().nth(1).map(|arg| arg.parse());
    let Ok(len) = len.unwrap_or(Ok(10_000_000)) else {
        eprintln!("the argument is a number of bytes: send 10000000");
        std::process::exit(2);
    };
    let seconds = send(Tun::open("sixlo0")?, len)?;
    println!(
        "{len} bytes in {seconds:.2} s: {:.1} Mbit/s",
        len as f64 * 8e-6 / seconds
    );
    Ok(())
}

/// Connects, sends so many bytes and ends; says how many seconds it took until all were acknowledged.
pub(crate) fn send(tun: Tun, len: usize) -> io::Result<f64> {
    let mut memory = Box::new(Memory::new());
    let mut config = Config::new(RandomState::new().hash_one(0));
    config.tcp.timer = TcpConfig::FREEBSD_TIMER;
    let mut stack = Stack::new(memory.lend(), &config).expect("the memory suffices");
    let mut iface = IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]);
    iface.queue_capacity = 64;
    stack.bring_up(TUN, iface).expect("one interface");
    stack.add_address(TUN, ADDRESS).expect("room for one");
    let route = Route::default_via(TUN, KERNEL);
    stack.add_route(route).expect("room for one");

    let mut host = Host::new(stack, TUN, tun);
    let mut now = host.now();
    // SYN goes out again and again, until somebody listens.
    let mut connection = host.stack().tcp_connect(now, SINK, &mut ()).expect("a place");
    let (mut start, mut left) = (now, len);
    loop {
        match host
            .stack()
            .tcp_connection(connection)
            .map(|it| (it.state(), it.error()))
        {
            Ok((State::SynSent, _)) => start = now,
            Ok((State::Closed, Some(TcpError::Refused))) => {
                host.stack().tcp_close(now, connection, &mut ()).expect("open");
                connection = host.stack().tcp_connect(now, SINK, &mut ()).expect("a place");
                host.turn(Some(now + Duration::from_millis(200)), &mut ())?;
            }
            Ok((State::Closed, Some(error))) => return Err(io::Error::other(format!("{error}"))),
            // All was acknowledged, our FIN too.
            Ok((State::FinWait2 | State::TimeWait, _)) => break,
            Ok(_) if left > 0 => {
                let piece = &DATA[..left.min(DATA.len())];
                // `WouldBlock` says that enough waits already.
                left -= host
                    .stack()
                    .tcp_lend(now, connection, piece, &mut ())
                    .unwrap_or(0);
                if left == 0 {
                    host.stack().tcp_shutdown(now, connection, &mut ()).expect("open");
                }
            }
            _ => {}
        }
        host.turn(None, &mut ())?;
        now = host.now();
    }
    Ok(now.since(start).as_micros() as f64 * 1e-6)
}
