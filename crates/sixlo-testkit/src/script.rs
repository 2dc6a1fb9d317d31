//! A whole node, with everything that can happen to it: frames, time, devices, sockets, options, tables, reboots.

use core::net::Ipv6Addr;

use arbitrary::{Arbitrary, Unstructured};
use sixlo::ipv6::{Neighbor, Route};
use sixlo::netapi::{Dir, Msg, Ty};
use sixlo::netdev::{IfaceId, TxOutcome};
use sixlo::netif::IfaceConfig;
use sixlo::sock::MailboxId;
use sixlo::stack::{Config, Opt, Target};
use sixlo::time::{Duration, Instant};
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::checksum::Checksum;
use sixlo::wire::ieee802154::Header;
use sixlo::wire::ipv6::{self, NextHeader, TrafficClass};
use sixlo::wire::lowpan::{self, frag::Fragment};

use crate::link::{Address, Node as Link, Prefix, extended, global};
use crate::node::{ME, Node, PAN, Sizes, Store, iface_config};

/// Bytes of a datagram that a fragment carries.
const STEP: usize = 88;

#[derive(Arbitrary, Debug)]
struct Script<'a> {
    bytes: u16,
    packets: u8,
    tables: [u8; 4],
    seed: u8,
    reserve: u8,
    steps: Vec<Action<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Action<'a> {
    /// Time passes: microseconds, and tenths of a second.
    Wait(u16, u8),
    /// One call of `poll`, and as many as it wants.
    Poll,
    Settle,
    /// Any bytes as a frame.
    Frame(bool, &'a [u8]),
    /// Any bytes in a frame between two nodes.
    Payload(bool, Link, To, &'a [u8]),
    /// A packet whose lengths and checksum are right, in one frame or in fragments, of which one may be left out.
    Packet(bool, Packet<'a>, Option<u8>),
    /// A fragment.
    Fragment {
        node: u8,
        tag: u8,
        size: u16,
        unit: u8,
        len: u8,
    },
    /// The device asks for a frame, or reports about the one that it has; or does both, so many times.
    Device(bool, Outcome),
    Exchanges(bool, Outcome, u8),
    /// An acknowledgement: of the last frame, or of one so many before it.
    Ack(bool, u8),
    Bind(u8, u8),
    Send(u8, Address, u8, u16),
    SendTransport(Address, u8, &'a [u8]),
    Receive(u8, u8),
    Open(u8),
    Register(u8, u8, u8, u16, bool),
    Unregister(u8, u8, u8, u16),
    Close(u8),
    Option(bool, u8, u64),
    Context(u8, Prefix),
    Route(Address, u8, bool, Option<Address>),
    Neighbor(bool, Address, Link),
    Address(bool, Address, bool),
    BringUp(bool, bool, bool, Option<u8>),
    Reboot(u8),
}

/// Whom a frame is for.
#[derive(Arbitrary, Debug)]
enum To {
    Me,
    All,
    Node(Link),
}

#[derive(Arbitrary, Debug)]
enum Outcome {
    Sent,
    Acked,
    NoAck,
    ChannelBusy,
    Refused,
}

#[derive(Arbitrary, Debug)]
struct Packet<'a> {
    node: u8,
    src: Address,
    dst: To6,
    hop_limit: u8,
    /// Extension headers: type, and what they hold.
    extensions: Vec<(u8, &'a [u8])>,
    upper: Upper<'a>,
    to_all: bool,
}

/// Whom a packet is for.
#[derive(Arbitrary, Debug)]
enum To6 {
    Me,
    MeLocal,
    AllNodes,
    Address(Address),
}

#[derive(Arbitrary, Debug)]
enum Upper<'a> {
    Udp(u8, u16),
    Icmp(u8, u8, &'a [u8]),
    Other(u8, &'a [u8]),
}

/// Whatever happens to a node: no panic, no end of work, no leak, every drop counted and told, every frame readable, and in
/// the end nothing left.
pub fn stack_script(data: &[u8]) {
    let Ok(script) = Script::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let [reassemblies, mailboxes, entries, _] = script.tables;
    let sizes = Sizes {
        bytes: usize::from(script.bytes % 8192),
        packets: usize::from(script.packets % 64),
        reassemblies: usize::from(reassemblies % 6),
        mailboxes: usize::from(mailboxes % 6),
        entries: usize::from(entries % 8),
    };
    let reserve = usize::from(script.reserve) * 4;
    let mut store = Store::new(sizes);
    let config = |seed: u8| Config {
        reserve_bytes: [reserve; 2],
        ..Config::new(seed.into())
    };
    let now = Instant::from_micros(1_000_000);
    let Some(mut node) = Node::boot(store.lend(), &config(script.seed), sizes, now) else {
        return;
    };
    for action in &script.steps {
        if let Action::Reboot(seed) = action {
            node = node.reboot(&config(*seed)).expect("the same memory suffices");
        } else {
            run(&mut node, action);
        }
        node.check();
    }
    node.settle();
    node.drain();
    let rebooted = node.reboot(&config(0)).expect("the same memory suffices");
    rebooted.check();
}

fn iface(second: bool) -> IfaceId {
    IfaceId(second.into())
}

fn run(node: &mut Node<'_>, action: &Action<'_>) {
    match *action {
        Action::Wait(us, tenths) => {
            node.now += Duration::from_micros(u64::from(us) + u64::from(tenths) * 100_000);
        }
        Action::Poll => {
            node.stack.poll(node.now, &mut node.ledger);
        }
        Action::Settle => node.settle(),
        Action::Frame(second, bytes) => node.raw_frame(iface(second), bytes),
        Action::Payload(second, src, ref to, payload) => {
            let dst = to.addr();
            let frame = data_frame(node.next_sequence(), src.addr(), dst, payload);
            node.frame(iface(second), &frame);
        }
        Action::Packet(second, ref packet, missing) => send_packet(node, iface(second), packet, missing),
        Action::Fragment {
            node: from,
            tag,
            size,
            unit,
            len,
        } => {
            let header = Fragment {
                datagram_size: size & 0x7ff,
                datagram_tag: tag.into(),
                datagram_offset: unit,
            };
            let mut payload = vec![0; 5 + 1 + usize::from(len % 104)];
            let written = header.emit(&mut payload).expect("room");
            payload[written] = lowpan::IPV6;
            let frame = data_frame(node.next_sequence(), extended(from), extended(ME), &payload);
            node.frame(IfaceId(0), &frame);
        }
        Action::Device(second, ref outcome) => node.device(iface(second), outcome.value()),
        Action::Exchanges(second, ref outcome, count) => {
            for _ in 0..count % 32 {
                node.device(iface(second), outcome.value());
            }
        }
        Action::Ack(second, before) => node.acknowledge(iface(second), before),
        ref other => application(node, other),
    }
}

/// What an application does: sockets and mailboxes.
fn application(node: &mut Node<'_>, action: &Action<'_>) {
    let (now, sink) = (node.now, &mut node.ledger);
    let stack = &mut node.stack;
    match *action {
        Action::Bind(port, capacity) => {
            let _socket = stack.udp_bind(0xf0b0 + u16::from(port % 8), capacity.into());
        }
        Action::Send(socket, to, port, len) => {
            let to = (to.addr(extended(2)), 0xf0b0 + u16::from(port % 8));
            let payload = vec![7; usize::from(len % 1300)];
            let _sent = stack.udp_send_to(now, mailbox(socket), to, &payload, sink);
        }
        Action::SendTransport(to, next, payload) => {
            let to = to.addr(extended(2));
            let _sent = stack.send_transport(now, to, NextHeader(next), payload, sink);
        }
        Action::Receive(number, room) => {
            let mut out = vec![0; room.into()];
            let before = stack.waiting(mailbox(number));
            let received = stack.udp_receive(now, mailbox(number), &mut out, sink);
            // A mailbox that is no socket keeps what it has.
            let taken = usize::from(received.is_some());
            assert_eq!(stack.waiting(mailbox(number)) + taken, before);
        }
        Action::Open(capacity) => {
            let _mailbox = stack.open_mailbox(capacity.into());
        }
        Action::Register(number, dir, ty, context, any) => {
            let _registered = stack.register(mailbox(number), message(dir, ty, context), any);
        }
        Action::Unregister(number, dir, ty, context) => {
            stack.unregister(mailbox(number), message(dir, ty, context));
        }
        Action::Close(number) => {
            stack.close(now, mailbox(number), sink);
        }
        ref other => administration(node, other),
    }
}

/// What an administrator does: options and tables.
fn administration(node: &mut Node<'_>, action: &Action<'_>) {
    let stack = &mut node.stack;
    match *action {
        Action::Option(of_iface, option, value) => {
            let target = if of_iface {
                Target::Iface(IfaceId(value as u8 % 4))
            } else {
                Target::Stack
            };
            let option = Opt::ALL[usize::from(option) % Opt::ALL.len()];
            if stack.set(target, option, value).is_ok() {
                assert_eq!(stack.get(target, option), Ok(value));
            }
        }
        Action::Context(number, prefix) => node.set_context(number % 18, prefix.context()),
        Action::Route(prefix, len, second, via) => {
            let prefix = prefix.addr(extended(2));
            let _full = match via {
                Some(via) => {
                    let route = Route::via(prefix, len, iface(second), via.addr(extended(2)));
                    stack.add_route(route).is_err()
                }
                None => stack.remove_route(prefix, len),
            };
        }
        Action::Neighbor(second, addr, link) => {
            let neighbor = Neighbor {
                iface: iface(second),
                addr: addr.addr(link.addr()),
                link: link.addr(),
            };
            let _full = stack.add_neighbor(neighbor);
        }
        Action::Address(second, addr, add) => {
            let addr = addr.addr(extended(ME));
            if add {
                let _full = stack.add_address(iface(second), addr);
            } else {
                stack.remove_address(addr);
            }
        }
        Action::BringUp(second, send_from_short, compression, short) => {
            let config = IfaceConfig {
                short: short.map(u16::from),
                send_from_short,
                pan_id_compression: compression,
                ..iface_config(iface(second))
            };
            let _refused = stack.bring_up(iface(second), config);
        }
        _ => {}
    }
}

/// One of a few mailboxes.
fn mailbox(number: u8) -> MailboxId {
    MailboxId(number % 8)
}

fn message(dir: u8, ty: u8, context: u16) -> Msg {
    Msg {
        dir: [Dir::Up, Dir::Down][usize::from(dir % 2)],
        ty: [Ty::Link, Ty::Ipv6, Ty::Transport, Ty::Icmpv6, Ty::Udp][usize::from(ty % 5)],
        context,
    }
}

impl To {
    fn addr(&self) -> LinkAddr {
        match self {
            Self::Me => extended(ME),
            Self::All => LinkAddr::BROADCAST,
            Self::Node(node) => node.addr(),
        }
    }
}

impl Outcome {
    fn value(&self) -> TxOutcome {
        match self {
            Self::Sent => TxOutcome::Sent,
            Self::Acked => TxOutcome::Acked,
            Self::NoAck => TxOutcome::NoAck,
            Self::ChannelBusy => TxOutcome::ChannelBusy,
            Self::Refused => TxOutcome::Refused,
        }
    }
}

/// A data frame of the PAN; nothing if there is no such frame.
fn data_frame(sequence: u8, src: LinkAddr, dst: LinkAddr, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [0; 32];
    let mut header = Header::data(sequence, PAN, dst, src);
    // Without a destination, the source says in which PAN it is.
    if dst.is_empty() {
        (header.dst_pan, header.src_pan) = (None, (!src.is_empty()).then_some(PAN));
    }
    let len = header.emit(&mut bytes).unwrap_or(0);
    [&bytes[..len], payload].concat()
}

impl Packet<'_> {
    /// The bytes of the packet, at most 1280.
    fn bytes(&self) -> Vec<u8> {
        let src = self.src.addr(extended(self.node));
        let dst = match self.dst {
            To6::Me => global(0, ME),
            To6::MeLocal => Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, ME.into()),
            To6::AllNodes => ipv6::ALL_NODES,
            To6::Address(addr) => addr.addr(extended(ME)),
        };
        let (mut next, mut bytes) = self.upper.bytes(&src, &dst);
        for (kind, content) in self.extensions.iter().take(12).rev() {
            let content = &content[..content.len().min(300)];
            let mut header = vec![next, 0];
            header.extend(content);
            header.resize(header.len().next_multiple_of(8), 0);
            header[1] = (header.len() / 8 - 1) as u8;
            next = [0, 43, 44, 60, 135, *kind][usize::from(*kind) % 6];
            header.extend(bytes);
            bytes = header;
        }
        bytes.truncate(ipv6::MTU_MIN - ipv6::HEADER_LEN);
        let header = ipv6::Header {
            traffic_class: TrafficClass(0),
            flow_label: 0,
            payload_len: bytes.len() as u16,
            next_header: NextHeader(next),
            hop_limit: self.hop_limit,
            src,
            dst,
        };
        [&header.emit()[..], &bytes].concat()
    }
}

impl Upper<'_> {
    /// The next header, and the bytes with a checksum that is right.
    fn bytes(&self, src: &Ipv6Addr, dst: &Ipv6Addr) -> (u8, Vec<u8>) {
        let (next, mut bytes, checksum_at) = match *self {
            Self::Udp(port, len) => {
                let len = 8 + len % 1300;
                let [high, low] = len.to_be_bytes();
                let mut bytes = vec![0xf0, 0xb1, 0xf0, 0xb0 + port % 8, high, low, 0, 0];
                bytes.resize(len.into(), port);
                (NextHeader::UDP, bytes, 6)
            }
            Self::Icmp(kind, code, rest) => {
                let rest = &rest[..rest.len().min(1000)];
                (NextHeader::ICMPV6, [&[kind, code, 0, 0][..], rest].concat(), 2)
            }
            Self::Other(next, rest) => return (next, rest[..rest.len().min(1000)].to_vec()),
        };
        let mut sum = Checksum::pseudo_header(src, dst, next, bytes.len() as u32);
        sum.add(&bytes);
        bytes[checksum_at..][..2].copy_from_slice(&sum.finish_udp().to_be_bytes());
        (next.0, bytes)
    }
}

/// A packet comes in, uncompressed, in as many frames as it needs, but for one.
fn send_packet(node: &mut Node<'_>, iface: IfaceId, packet: &Packet<'_>, missing: Option<u8>) {
    let bytes = packet.bytes();
    let src = extended(packet.node);
    let dst = if packet.to_all {
        LinkAddr::BROADCAST
    } else {
        extended(ME)
    };
    let missing = missing.map(usize::from);
    if bytes.len() <= STEP {
        let payload = [&[lowpan::IPV6][..], &bytes].concat();
        let frame = data_frame(node.next_sequence(), src, dst, &payload);
        node.frame(iface, &frame);
        return;
    }
    let tag = node.next_sequence();
    for (number, piece) in bytes.chunks(STEP).enumerate() {
        let header = Fragment {
            datagram_size: bytes.len() as u16,
            datagram_tag: tag.into(),
            datagram_offset: (number * STEP / 8) as u8,
        };
        let mut head = [0; 8];
        let mut len = header.emit(&mut head).expect("a size of 11 bits");
        if number == 0 {
            head[len] = lowpan::IPV6;
            len += 1;
        }
        let payload = [&head[..len], piece].concat();
        let frame = data_frame(node.next_sequence(), src, dst, &payload);
        if missing != Some(number) {
            node.frame(iface, &frame);
        }
        node.check();
    }
}
