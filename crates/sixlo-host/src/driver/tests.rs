//! Two hosts, the devices of which are the ends of a pair of datagram sockets.

use std::io;
use std::net::Ipv6Addr;
use std::os::unix::net::UnixDatagram;

use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Fixed};
use sixlo::time::Duration;
use sixlo::trace::Reason;

use super::*;

const IFACE: IfaceId = IfaceId(0);
const PORT: u16 = 5000;

impl Device for UnixDatagram {
    fn receive(&mut self, _now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.recv(buffer) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, _now: Instant, packet: &[u8]) -> io::Result<()> {
        UnixDatagram::send(self, packet).map(drop)
    }
}

fn addr(k: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, k)
}

type Node = Host<'static, UnixDatagram>;

fn node(k: u8, device: UnixDatagram) -> (Node, MailboxId) {
    device.set_nonblocking(true).expect("a socket");
    let memory = Box::leak(Box::new(Fixed::<8192, 16, 1, 2, 1>::new()));
    let mut stack = Stack::new(memory.lend(), &Config::new(k.into())).expect("enough");
    let config = IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, k]);
    stack.bring_up(IFACE, config).expect("an interface");
    let socket = stack.udp_bind(PORT, 4).expect("a socket");
    (Host::new(stack, IFACE, device), socket)
}

fn pair() -> [(Node, MailboxId); 2] {
    let (one, other) = UnixDatagram::pair().expect("sockets");
    [node(1, one), node(2, other)]
}

fn send(host: &mut Node, socket: MailboxId, to: u16, payload: &[u8]) {
    let now = host.now();
    let to = (addr(to), PORT);
    host.stack
        .udp_send_to(now, socket, to, payload, &mut ())
        .expect("room");
}

fn receive(host: &mut Node, socket: MailboxId) -> Option<Vec<u8>> {
    let (now, mut out) = (host.now(), [0; 1280]);
    let received = host.stack.udp_receive(now, socket, &mut out, &mut ())?;
    Some(out[..received.len].to_vec())
}

#[test]
fn what_one_host_sends_the_other_gets() {
    let [(mut one, one_socket), (mut other, other_socket)] = pair();
    for len in [0, 1, 500, 1232] {
        send(&mut one, one_socket, 2, &vec![7; len]);
    }
    let soon = Some(one.now());
    one.turn(soon, &mut ()).unwrap();
    other.turn(None, &mut ()).unwrap();
    for len in [0, 1, 500, 1232] {
        assert_eq!(receive(&mut other, other_socket), Some(vec![7; len]));
    }
    send(&mut other, other_socket, 1, b"answer");
    let soon = Some(other.now());
    other.turn(soon, &mut ()).unwrap();
    one.turn(None, &mut ()).unwrap();
    assert_eq!(receive(&mut one, one_socket), Some(b"answer".to_vec()));
}

#[test]
fn a_host_sleeps_until_it_is_told_to_wake() {
    let [(mut one, _), _other] = pair();
    let until = one.now() + Duration::from_millis(30);
    one.turn(Some(until), &mut ()).unwrap();
    assert!(one.now() >= until, "one turn, and all of the time");
}

#[test]
fn a_packet_that_is_too_long_is_dropped_and_one_that_cannot_be_sent_too() {
    let [(mut one, socket), (other, _)] = pair();
    other.device.send(&[0x60; 2000]).expect("a datagram");
    one.turn(None, &mut ()).unwrap();
    assert_eq!(one.stack.drops(Reason::FrameMalformed), 1);
    drop(other);
    send(&mut one, socket, 2, b"nobody is there");
    let soon = Some(one.now());
    // The other end of a pair is gone: that is an error for good.
    assert!(one.turn(soon, &mut ()).is_err() || one.stack.drops(Reason::LinkRefused) == 1);
    assert_eq!(one.stack.drops(Reason::LinkRefused), 1);
}
