//! TCP with the Linux kernel as the peer: over a TUN device in a network namespace, with a link between that loses 3 % of the
//! packets each way, doubles 1 %, lets 2 % come late, and takes 1 ms.
//!
//! Each stream is checked byte by byte at its end.
#![cfg(target_os = "linux")]

mod support;

use std::io::{Read, Write};
use std::net::{Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time;

use sixlo::ipv6::Route;
use sixlo::netdev::IfaceId;
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, TcpConfig, TcpError};
use sixlo::time::Duration;
use sixlo_host::driver::Host;
use sixlo_host::tun::Tun;
use support::{BadLink, Faults, KERNELS, OURS, in_namespace};

const IFACE: IfaceId = IfaceId(0);
const PORT: u16 = 7;

/// 96 KiB of packet buffer, two connections with 18 KiB each of receive memory.
type Store = Fixed<98304, 160, 1, 1, 2, 0, 0, 2, 36864, 1, 4>;
type Node = Host<'static, BadLink<Tun>>;

const GOOD: Faults = Faults {
    lost: 0,
    twice: 0,
    late: 0,
    delay: Duration::ZERO,
    seed: 1,
};

const BAD: Faults = Faults {
    lost: 30,
    twice: 10,
    late: 20,
    delay: Duration::from_millis(1),
    seed: 1,
};

/// Our stack behind a link.
fn node(tun: Tun, faults: Faults) -> Node {
    let mut config = Config::new(0x51c0 + faults.seed);
    config.tcp.send_buffer = 16 * 1024;
    config.tcp.timer = TcpConfig::FREEBSD_TIMER;
    let memory = Box::leak(Box::new(Store::new()));
    let mut stack = Stack::new(memory.lend(), &config).expect("the memory suffices");
    let mut iface = IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]);
    iface.queue_capacity = 64;
    stack.bring_up(IFACE, iface).expect("an interface");
    stack.add_address(IFACE, OURS).expect("room");
    // Whatever the next hop is called, the kernel gets it.
    let next_hop = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
    stack
        .add_route(Route::default_via(IFACE, next_hop))
        .expect("room");
    Host::new(stack, IFACE, BadLink::new(tun, faults))
}

/// The bytes of a stream from an offset on: no part of it looks like another one.
fn fill(offset: usize, out: &mut [u8]) {
    for (at, byte) in (offset..).zip(out) {
        *byte = (at ^ at >> 8 ^ at >> 16).wrapping_mul(0x9d) as u8;
    }
}

/// Checks bytes of a stream from an offset on.
fn check(offset: usize, bytes: &[u8]) {
    let mut expected = vec![0; bytes.len()];
    fill(offset, &mut expected);
    let wrong = bytes
        .iter()
        .zip(&expected)
        .position(|(got, expected)| got != expected);
    assert_eq!(wrong.map(|at| offset + at), None, "the first wrong byte");
}

/// The kernel's side: sends `len` bytes and then FIN.
fn kernel_sends(mut stream: &TcpStream, len: usize) {
    let mut piece = [0; 5000];
    for offset in (0..len).step_by(piece.len()) {
        let piece = &mut piece[..(len - offset).min(5000)];
        fill(offset, piece);
        stream.write_all(piece).expect("a connection");
    }
    stream.shutdown(Shutdown::Write).expect("a connection");
}

/// The kernel's side: receives `len` bytes and then FIN.
fn kernel_receives(mut stream: &TcpStream, len: usize) {
    let (mut piece, mut offset) = ([0; 5000], 0);
    loop {
        match stream.read(&mut piece).expect("a connection") {
            0 => break,
            got => {
                check(offset, &piece[..got]);
                offset += got;
            }
        }
    }
    assert_eq!(offset, len);
}

/// Our side of a connection: what was sent and received so far, of how much.
struct Flow {
    connection: ConnectionId,
    sent: usize,
    to_send: usize,
    received: usize,
    shut: bool,
    ended: bool,
}

impl Flow {
    fn new(connection: ConnectionId, to_send: usize) -> Self {
        Self {
            connection,
            sent: 0,
            to_send,
            received: 0,
            shut: false,
            ended: false,
        }
    }

    /// Sends and receives what can be now. True when both streams have ended.
    fn run(&mut self, host: &mut Node) -> bool {
        let (now, id) = (host.now(), self.connection);
        let stack = host.stack();
        let mut piece = [0; 3000];
        while self.sent < self.to_send {
            let piece = &mut piece[..(self.to_send - self.sent).min(3000)];
            fill(self.sent, piece);
            match stack.tcp_send(now, id, piece, &mut ()) {
                Ok(sent) => self.sent += sent,
                Err(TcpError::WouldBlock | TcpError::NoRoom) => break,
                Err(error) => panic!("after {} bytes: {error:?}", self.sent),
            }
        }
        if self.sent == self.to_send && !self.shut {
            stack.tcp_shutdown(now, id, &mut ()).expect("a connection");
            self.shut = true;
        }
        while !self.ended {
            match stack.tcp_recv(now, id, &mut piece, &mut ()) {
                Ok(0) => self.ended = true,
                Ok(got) => {
                    check(self.received, &piece[..got]);
                    self.received += got;
                }
                Err(TcpError::WouldBlock) => break,
                Err(error) => panic!("after {} bytes: {error:?}", self.received),
            }
        }
        self.ended && self.shut
    }
}

/// Runs our side until the streams have ended and the kernel's side, too, is satisfied; gives how long that took.
fn run(host: &mut Node, flow: &mut Flow, kernel: JoinHandle<()>, limit: time::Duration) -> time::Duration {
    let start = time::Instant::now();
    while !(flow.run(host) && kernel.is_finished()) {
        if kernel.is_finished() && !flow.shut {
            // It cannot have got everything: it says why not.
            break;
        }
        let until = host.now() + Duration::from_millis(20);
        host.turn(Some(until), &mut ()).expect("a device");
        assert!(
            start.elapsed() < limit,
            "after {limit:?}: {} bytes sent, {} received",
            flow.sent,
            flow.received
        );
    }
    kernel.join().expect("the kernel got what was sent");
    start.elapsed()
}

/// A connection that the kernel opens: it sends so many bytes, and we do.
fn kernel_connects(tun: Tun, faults: Faults, from_kernel: usize, from_us: usize) {
    let mut host = node(tun, faults);
    let listener = host.stack().tcp_listen(PORT, 1).expect("a place");
    let kernel = thread::spawn(move || {
        let stream = TcpStream::connect((OURS, PORT)).expect("a connection");
        both_ways(&stream, from_kernel, from_us);
    });
    let connection = loop {
        let until = host.now() + Duration::from_millis(20);
        host.turn(Some(until), &mut ()).expect("a device");
        match host.stack().tcp_accept(listener) {
            Ok(connection) => break connection,
            Err(TcpError::WouldBlock) => assert!(!kernel.is_finished()),
            Err(error) => panic!("{error:?}"),
        }
    };
    finish(host, connection, kernel, from_kernel, from_us);
}

/// A connection that we open: the kernel sends so many bytes, and we do.
fn we_connect(tun: Tun, faults: Faults, from_kernel: usize, from_us: usize) {
    let mut host = node(tun, faults);
    let listener = TcpListener::bind((KERNELS, PORT)).expect("a port");
    let kernel = thread::spawn(move || {
        let (stream, from) = listener.accept().expect("a connection");
        assert_eq!(from.ip(), OURS);
        both_ways(&stream, from_kernel, from_us);
    });
    let now = host.now();
    let connection = host
        .stack()
        .tcp_connect(now, (KERNELS, PORT), &mut ())
        .expect("a place");
    finish(host, connection, kernel, from_kernel, from_us);
}

fn both_ways(stream: &TcpStream, sends: usize, receives: usize) {
    thread::scope(|scope| {
        scope.spawn(|| kernel_sends(stream, sends));
        kernel_receives(stream, receives);
    });
}

/// Runs both streams of a connection to their ends.
fn finish(
    mut host: Node,
    connection: ConnectionId,
    kernel: JoinHandle<()>,
    from_kernel: usize,
    from_us: usize,
) {
    let mut flow = Flow::new(connection, from_us);
    // A retransmission time-out may be a minute long in the end.
    let limit =
        time::Duration::from_secs(60) + time::Duration::from_micros((from_kernel + from_us) as u64 * 200);
    let took = run(&mut host, &mut flow, kernel, limit);
    assert_eq!((flow.received, flow.sent), (from_kernel, from_us));
    let (now, lost) = (host.now(), host.device().lost);
    println!(
        "{from_kernel} bytes from the kernel and {from_us} from us in {took:?}; {lost} packets were lost"
    );
    host.stack()
        .tcp_close(now, connection, &mut ())
        .expect("a connection");
}

const MB: usize = 1_000_000;

#[test]
fn the_kernel_connects_and_sends_over_a_good_link() {
    in_namespace(|tun| kernel_connects(tun, GOOD, MB, 0));
}

#[test]
fn we_connect_and_send_over_a_good_link() {
    in_namespace(|tun| we_connect(tun, GOOD, 0, MB));
}

#[test]
fn the_kernel_connects_and_sends_over_a_bad_link() {
    in_namespace(|tun| kernel_connects(tun, BAD, MB, 0));
}

#[test]
fn we_connect_and_send_over_a_bad_link() {
    in_namespace(|tun| we_connect(tun, BAD, 0, MB));
}

#[test]
fn both_send_at_once_over_a_bad_link() {
    in_namespace(|tun| kernel_connects(tun, Faults { seed: 2, ..BAD }, MB / 4, MB / 4));
    in_namespace(|tun| we_connect(tun, Faults { seed: 3, ..BAD }, MB / 4, MB / 4));
}

#[test]
#[ignore = "ten times as long: cargo test -p sixlo-host -- --ignored"]
fn ten_megabytes_each_way_over_a_bad_link() {
    in_namespace(|tun| kernel_connects(tun, Faults { seed: 4, ..BAD }, 10 * MB, 0));
    in_namespace(|tun| we_connect(tun, Faults { seed: 5, ..BAD }, 0, 10 * MB));
}
