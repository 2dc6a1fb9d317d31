//! A node under test: memory, stack, devices, and the promises that hold between any two calls.

use core::net::Ipv6Addr;

use sixlo::ipv6::fragment::Partial;
use sixlo::ipv6::{self, Neighbor, Route};
use sixlo::lowpan::{Inbound, Peer, Reassembly, Transfer, Vrb};
use sixlo::mac::duplicates::Seen;
use sixlo::netdev::{Caps, FCS_LEN, FRAME_LEN_MAX, IfaceId, RxInfo, TxInfo, TxOutcome, TxReport};
use sixlo::netif::{IfaceConfig, Interface};
use sixlo::netreg::Entry;
use sixlo::pktbuf::{Seg, Slot};
use sixlo::sock::{Mailbox, MailboxId};
use sixlo::stack::{Config, Memory, Stack};
use sixlo::time::Instant;
use sixlo::timers::Timer;
use sixlo::trace::{End, Event, FragmentFate, Reason, Sink};
use sixlo::wire::fcs;
use sixlo::wire::ieee802154::{FrameType, Header};
use sixlo::wire::iphc::{self, CONTEXTS_MAX, Context, Contexts, Link};
use sixlo::wire::lowpan::{self, Dispatch, frag::Fragment};

use crate::link::global;

/// This node's number.
pub(crate) const ME: u8 = 1;
/// Its PAN.
pub(crate) const PAN: u16 = 0x23;
/// Interfaces: a device that does CSMA and check sequences by itself, and one that does neither.
pub(crate) const IFACES: usize = 2;

/// Datagrams that are forwarded by their fragments at once.
const VRBS: usize = 3;
/// Packets that are put together from IPv6 fragments at once.
const PARTIALS: usize = 2;
/// Ports that it listens on from the start.
const PORTS: [u16; 2] = [0xf0b0, 0xf0b1];
/// More calls in a row than a stack can ask for.
const CALLS_MAX: usize = 4_000;

/// How much there is of everything.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) bytes: usize,
    pub(crate) packets: usize,
    pub(crate) reassemblies: usize,
    pub(crate) mailboxes: usize,
    pub(crate) entries: usize,
}

/// The memory of a node.
pub(crate) struct Store {
    bytes: Vec<u8>,
    segs: Vec<Seg>,
    slots: Vec<Slot>,
    receivers: Vec<Entry>,
    timers: [Timer; IFACES + Memory::OWN_TIMERS],
    ifaces: [Interface; IFACES],
    seen: Vec<Seen>,
    reassemblies: Vec<Reassembly>,
    contexts: [Context; CONTEXTS_MAX],
    vrbs: [Vrb; VRBS],
    peers: [Peer; VRBS],
    transfers: [Transfer; VRBS],
    inbounds: Vec<Inbound>,
    addresses: Vec<ipv6::Address>,
    neighbors: Vec<Neighbor>,
    routes: Vec<Route>,
    partials: [Partial; PARTIALS],
    mailboxes: Vec<Mailbox>,
}

impl Store {
    pub(crate) fn new(sizes: Sizes) -> Self {
        let Sizes { entries, packets, .. } = sizes;
        Self {
            // What a reused static may hold.
            bytes: vec![0xa5; sizes.bytes],
            segs: vec![Seg::EMPTY; packets],
            slots: vec![Slot::EMPTY; packets],
            receivers: vec![Entry::EMPTY; entries],
            timers: Default::default(),
            ifaces: [const { Interface::EMPTY }; IFACES],
            seen: vec![Seen::EMPTY; entries],
            reassemblies: (0..sizes.reassemblies).map(|_| Reassembly::EMPTY).collect(),
            contexts: [Context::EMPTY; CONTEXTS_MAX],
            vrbs: [Vrb::EMPTY; VRBS],
            peers: [Peer::EMPTY; VRBS],
            transfers: [const { Transfer::EMPTY }; VRBS],
            inbounds: vec![Inbound::EMPTY; sizes.reassemblies],
            addresses: vec![ipv6::Address::EMPTY; entries],
            neighbors: vec![Neighbor::EMPTY; entries],
            routes: vec![Route::EMPTY; entries],
            partials: [const { Partial::EMPTY }; PARTIALS],
            mailboxes: (0..sizes.mailboxes).map(|_| Mailbox::EMPTY).collect(),
        }
    }

    pub(crate) fn lend(&mut self) -> Memory<'_> {
        Memory {
            bytes: &mut self.bytes,
            segs: &mut self.segs,
            slots: &mut self.slots,
            receivers: &mut self.receivers,
            timers: &mut self.timers,
            ifaces: &mut self.ifaces,
            seen: &mut self.seen,
            reassemblies: &mut self.reassemblies,
            contexts: &mut self.contexts,
            vrbs: &mut self.vrbs,
            peers: &mut self.peers,
            transfers: &mut self.transfers,
            inbounds: &mut self.inbounds,
            addresses: &mut self.addresses,
            neighbors: &mut self.neighbors,
            routes: &mut self.routes,
            partials: &mut self.partials,
            mailboxes: &mut self.mailboxes,
            connections: &mut [],
            listeners: &mut [],
            backlog: &mut [],
            tcp_receive: &mut [],
            loans: &mut [],
        }
    }
}

/// What the events tell: packets that began and did not end, and drops by reason.
pub(crate) struct Ledger {
    live: usize,
    drops: Vec<u32>,
}

impl Sink for Ledger {
    fn event(&mut self, _now: Instant, event: &Event) {
        match *event {
            Event::Start { .. } | Event::Share { .. } => self.live += 1,
            Event::End { end, .. } => {
                self.live -= 1;
                if let End::Dropped(reason) = end {
                    self.drops[reason.place()] += 1;
                }
            }
            Event::FrameDropped { reason, .. }
            | Event::FragmentIn {
                fate: FragmentFate::Dropped(reason),
                ..
            } => self.drops[reason.place()] += 1,
            _ => {}
        }
    }
}

/// What a device holds.
struct Device {
    frame: [u8; FRAME_LEN_MAX],
    sending: Option<TxInfo>,
}

/// A stack with its devices.
pub(crate) struct Node<'a> {
    pub(crate) stack: Stack<'a>,
    pub(crate) ledger: Ledger,
    pub(crate) now: Instant,
    devices: [Device; IFACES],
    /// The contexts that the stack was given.
    contexts: [Context; CONTEXTS_MAX],
    sequence: u8,
    sizes: Sizes,
}

/// The configuration of an interface.
pub(crate) fn iface_config(iface: IfaceId) -> IfaceConfig {
    let by_itself = iface.0 == 0;
    IfaceConfig {
        caps: Caps {
            csma: by_itself,
            fcs: by_itself,
        },
        pan: PAN,
        ..IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, ME])
    }
}

impl<'a> Node<'a> {
    /// A node as it boots; none if the memory does not suffice.
    pub(crate) fn boot(memory: Memory<'a>, config: &Config, sizes: Sizes, now: Instant) -> Option<Self> {
        let mut node = Self {
            stack: Stack::new(memory, config).ok()?,
            ledger: Ledger {
                live: 0,
                drops: vec![0; Reason::ALL.len()],
            },
            now,
            devices: [(); IFACES].map(|()| Device {
                frame: [0; FRAME_LEN_MAX],
                sending: None,
            }),
            contexts: [Context::EMPTY; CONTEXTS_MAX],
            sequence: 0,
            sizes,
        };
        for iface in 0..IFACES as u8 {
            let iface = IfaceId(iface);
            // Where there are few addresses, the second may get none.
            let _up = node.stack.bring_up(iface, iface_config(iface));
        }
        // What most nodes have; where there is little of everything, not all of it.
        let _full = node.stack.add_address(IfaceId(0), global(0, ME));
        let router = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
        let _full = node.stack.add_route(Route::default_via(IfaceId(0), router));
        node.set_context(0, Context::new(global(0, 0).octets(), 64));
        for port in PORTS {
            let _full = node.stack.udp_bind(port, 4);
        }
        Some(node)
    }

    /// Ends every packet and boots again over the same memory.
    pub(crate) fn reboot(self, config: &Config) -> Option<Self> {
        let Self {
            stack,
            mut ledger,
            now,
            sizes,
            ..
        } = self;
        let memory = stack.into_memory(now, &mut ledger);
        assert_eq!(ledger.live, 0, "a reboot ends every packet");
        Self::boot(memory, config, sizes, now)
    }

    /// The next sequence number of a frame that comes in.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// A frame comes in, without check sequence; where the device does not handle it, it is appended.
    pub(crate) fn frame(&mut self, iface: IfaceId, frame: &[u8]) {
        let mut bytes = frame.to_vec();
        bytes.resize(frame.len() + FCS_LEN, 0);
        let handled = iface_config(iface).caps.fcs;
        let len = if handled {
            frame.len()
        } else {
            fcs::append(&mut bytes, frame.len()).expect("there is room")
        };
        self.raw_frame(iface, &bytes[..len]);
    }

    /// Bytes come in as they are.
    pub(crate) fn raw_frame(&mut self, iface: IfaceId, frame: &[u8]) {
        let info = RxInfo::default();
        self.stack.frame(self.now, iface, frame, info, &mut self.ledger);
    }

    /// Sets a context, in the stack and beside it.
    pub(crate) fn set_context(&mut self, number: u8, context: Context) {
        if self.stack.set_context(number, Some(context)) {
            self.contexts[usize::from(number)] = context;
        }
    }

    /// The device reports about the frame that it has, or asks for one; with none of both, it reports all the same.
    pub(crate) fn device(&mut self, iface: IfaceId, outcome: TxOutcome) {
        let report = TxReport {
            outcome,
            attempts: 1,
            busy: u8::from(outcome == TxOutcome::ChannelBusy),
        };
        let Some(device) = self.devices.get_mut(usize::from(iface.0)) else {
            return;
        };
        if device.sending.is_none() {
            let wanted = self.stack.wants_transmit(iface);
            device.sending = self
                .stack
                .transmit(self.now, iface, &mut device.frame, &mut self.ledger);
            if let Some(info) = device.sending {
                assert!(wanted, "a frame that nobody announced");
                self.check_frame(iface, info);
                return;
            }
        }
        self.devices[usize::from(iface.0)].sending = None;
        self.stack.transmitted(self.now, iface, report, &mut self.ledger);
    }

    /// An acknowledgement comes in: of the last frame, or of one so many before it.
    pub(crate) fn acknowledge(&mut self, iface: IfaceId, before: u8) {
        let sequence = self.devices[usize::from(iface.0)].frame[2].wrapping_sub(before);
        let mut frame = [0; 3];
        let len = Header::immediate_ack(sequence, false)
            .emit(&mut frame)
            .expect("three bytes");
        self.frame(iface, &frame[..len]);
    }

    /// Whoever gets the frame can read it.
    fn check_frame(&self, iface: IfaceId, info: TxInfo) {
        let bytes = &self.devices[usize::from(iface.0)].frame[..info.len];
        let bytes = if iface_config(iface).caps.fcs {
            bytes
        } else {
            fcs::check(bytes).expect("a check sequence")
        };
        let (header, payload) = Header::parse(bytes).expect("a frame");
        assert_eq!(header.frame_type, FrameType::Data);
        assert_eq!(header.ack_request, !header.dst.is_broadcast());
        assert_eq!(info.ack_request, header.ack_request);
        if info.again {
            return;
        }
        let link = Link {
            src: header.src,
            dst: header.dst,
        };
        let (dispatch, payload, _) = lowpan::strip(payload).expect("a dispatch");
        let readable = |payload: &[u8], size| {
            let mut headers = [0; 2048];
            let read = iphc::decompress(payload, &link, &Contexts(&self.contexts), size, &mut headers);
            let read = read.expect("a compressed header");
            assert_eq!(read.udp_checksum_elided, None);
            read.written + payload.len() - read.consumed
        };
        match dispatch {
            Dispatch::Iphc => {
                readable(payload, None);
            }
            Dispatch::Frag1 | Dispatch::FragN => {
                let (fragment, data) = Fragment::parse(payload).expect("a fragment");
                let len = if fragment.is_first() {
                    readable(data, Some(fragment.datagram_size.into()))
                } else {
                    data.len()
                };
                assert_eq!(fragment.check(len), Ok(()));
            }
            other => panic!("{other:?} is sent"),
        }
    }

    /// Polls as often as the stack wants.
    pub(crate) fn settle(&mut self) {
        for _ in 0..CALLS_MAX {
            let again = self.stack.poll(self.now, &mut self.ledger);
            if again.is_none_or(|at| at > self.now) {
                return;
            }
        }
        panic!("no end of work");
    }

    /// The promises that hold between any two calls.
    pub(crate) fn check(&self) {
        let buf = self.stack.buffer();
        assert_eq!(buf.in_hand(), 0, "a packet is in hand");
        assert_eq!(self.stack.audit(), buf.live(), "a leak");
        assert_eq!(self.ledger.live, buf.live(), "what began and did not end");
        assert!(self.stack.reassemblies() <= self.sizes.reassemblies);
        for reason in Reason::ALL {
            let told = self.ledger.drops[reason.place()];
            assert_eq!(self.stack.drops(*reason), told, "{reason:?} is counted and told");
        }
        // Release builds have no such check.
        #[cfg(debug_assertions)]
        buf.check();
    }

    /// Everything is sent, received or timed out: then nothing is left, and no timer runs.
    pub(crate) fn drain(&mut self) {
        for _ in 0..CALLS_MAX {
            for iface in 0..IFACES as u8 {
                let sending = self.devices[usize::from(iface)].sending;
                let acked = sending.is_some_and(|info| info.ack_request);
                let outcome = if acked { TxOutcome::Acked } else { TxOutcome::Sent };
                if sending.is_some() || self.stack.wants_transmit(IfaceId(iface)) {
                    self.device(IfaceId(iface), outcome);
                }
            }
            for mailbox in 0..self.sizes.mailboxes as u8 {
                let (now, mailbox) = (self.now, MailboxId(mailbox));
                let received = self
                    .stack
                    .mailbox_receive(now, mailbox, &mut [0; 64], &mut self.ledger);
                let _whatever = received;
            }
            self.check();
            let again = self.stack.poll(self.now, &mut self.ledger);
            let sending = self.devices.iter().any(|device| device.sending.is_some());
            match again {
                None if self.stack.buffer().live() == 0 && !sending => {
                    assert_eq!(self.stack.buffer().used(), 0);
                    return;
                }
                // The device goes first.
                Some(at) if !sending => self.now = self.now.max(at),
                _ => {}
            }
        }
        panic!("no end of what is left");
    }
}
