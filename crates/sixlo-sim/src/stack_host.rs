//! The stack on a node of the simulation: its memory, its configuration, and the sockets of its applications.

use std::net::Ipv6Addr;

use sixlo::ipv6::Route;
use sixlo::lowpan::Eviction;
use sixlo::mac::csma::CsmaConfig;
use sixlo::netapi::{Msg, Ty};
use sixlo::netdev::{Caps, CsmaParams, IfaceId, RxInfo, TxInfo, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::sock::{MailboxId, SendError};
use sixlo::stack::{Memory, Opt, Stack, Target};
use sixlo::tcp::TcpError;
use sixlo::time::{Duration, Instant};
use sixlo::trace::{PktId, Reason, Sink};
use sixlo::wire::checksum::Checksum;
use sixlo::wire::icmpv6;
use sixlo::wire::iphc::Context;
use sixlo::wire::ipv6::NextHeader;

use crate::config::{self, Addresses, Config, Problem};
use crate::host::{Host, Service};
use crate::observer::Occupancy;
use crate::rng::{Purpose, Rng};
use crate::stream::{self, News, Stream};
use crate::world::Plan;

mod border;
mod heap;
mod routes;
mod services;
mod streams;

pub use border::OUTSIDE_MTU;
pub use heap::Heap;
pub use routes::address;
use routes::routes;
use services::Offer;
use streams::Streams;

/// The interface of a node to the mesh.
const IFACE: IfaceId = IfaceId(0);

/// That of a border router to the outside.
const OUTSIDE: IfaceId = IfaceId(1);

/// The ICMPv6 type of an echo reply (RFC 4443 section 4.2).
const ECHO_REPLY: u16 = 129;

/// Connections that peers may be opening to a port at the same time.
const BACKLOG: u8 = 8;

/// How the stack of a node is set up, at the start and after each reboot.
#[derive(Clone, Debug)]
pub struct Setup {
    index: u16,
    stack: sixlo::stack::Config,
    iface: IfaceConfig,
    prefix: Ipv6Addr,
    address: Ipv6Addr,
    context: bool,
    routes: Vec<Route>,
    /// UDP ports of its applications.
    ports: Vec<u16>,
    socket_queue: u16,
    /// Datagrams come in for its applications.
    listens: bool,
    /// It sends echo requests.
    echoes: bool,
    /// TCP ports of its applications.
    tcp_ports: Vec<u16>,
    /// Connections that its applications have at most.
    connections: usize,
    rng: Rng,
    /// It is the border router.
    border: Option<config::Border>,
    /// It offers services.
    services: bool,
}

/// The identifier of echo requests.
const ECHO_IDENTIFIER: u16 = 0x6c6f;

impl Setup {
    /// The set-ups of all nodes.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let routes = routes(plan);
        let of = |(index, routes): (u16, Vec<Route>)| Self::new(plan, index, routes);
        (0..plan.nodes()).zip(routes).map(of).collect()
    }

    fn new(plan: &Plan, index: u16, routes: Vec<Route>) -> Self {
        let config = &plan.config;
        let mut rng = Rng::new(plan.seed, Purpose::Stack, u64::from(index));
        let mut stack = sixlo::stack::Config::new(rng.bits());
        stack.ipv6.hop_limit = config.stack.hop_limit;
        stack.ipv6.fragment.timeout = Duration::from_millis(u64::from(config.stack.reassembly_timeout_ms));
        let reassembly = &mut stack.lowpan.reassembly;
        reassembly.timeout = Duration::from_millis(u64::from(config.stack.reassembly_timeout_ms));
        reassembly.remember = Duration::from_micros(u64::from(config.stack.reassembly_remember_us));
        reassembly.eviction = if config.stack.reassembly_eviction {
            Eviction::Stalest
        } else {
            Eviction::Never
        };

        let border = config.border.clone().filter(|border| border.node == index + 1);
        stack.ipv6.border = border.as_ref().map(|border| border.of_stack(config.link.prefix));
        stack.lowpan.forward = config.stack.forward.of_stack();
        stack.lowpan.recover = config.stack.recover.of_stack();
        stack.tcp = config.stack.tcp.of_stack();

        let number = index + 1;
        let depth = plan.routes.depth(index);
        let sends = |set: &config::NodeSet, to: u16| to != number && set.contains(number, depth);
        let mut ports = Vec::new();
        for traffic in &config.traffic {
            let own = [
                (sends(&traffic.from, traffic.to), traffic.source_port),
                (traffic.to == number, traffic.port),
            ];
            ports.extend(
                own.iter()
                    .filter(|(of_this_node, _)| *of_this_node)
                    .map(|&(_, port)| port),
            );
        }
        ports.sort_unstable();
        ports.dedup();
        let bulk = |bulk: &&config::Bulk| bulk.to == number;
        let mut tcp_ports: Vec<u16> = config.bulk.iter().filter(bulk).map(|bulk| bulk.port).collect();
        tcp_ports.sort_unstable();
        tcp_ports.dedup();
        let connections = streams_of(plan, index).count();
        let echoes = config.echo.iter().any(|echo| sends(&echo.from, echo.to));
        Self {
            index,
            stack,
            iface: interface(plan, index),
            prefix: config.link.prefix,
            address: address(plan, index),
            context: config.link.prefix_is_context,
            routes,
            ports,
            socket_queue: config.stack.socket_queue,
            listens: echoes || config.traffic.iter().any(|traffic| traffic.to == number),
            echoes,
            tcp_ports,
            connections,
            rng,
            border,
            services: config.services,
        }
    }

    /// The routes that the node starts with.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Puts the stack together.
    fn build<'m>(&self, memory: Memory<'m>) -> (Stack<'m>, Vec<(u16, MailboxId)>, Option<MailboxId>) {
        let enough = "the memory is as large as its user asks for";
        let mut stack = Stack::new(memory, &self.stack).expect(enough);
        stack.bring_up(IFACE, self.iface).expect(enough);
        stack.add_address(IFACE, self.address).expect(enough);
        if let Some(border) = &self.border {
            border::bring_up(&mut stack, border, &self.iface);
        }
        if self.context {
            stack.set_context(0, Some(Context::new(self.prefix.octets(), 64)));
        }
        for &route in &self.routes {
            stack.add_route(route).expect(enough);
        }
        let bind = |&port: &u16| (port, stack.udp_bind(port, self.socket_queue).expect(enough));
        let sockets = self.ports.iter().map(bind).collect();
        let replies = self.echoes.then(|| {
            let mailbox = stack.open_mailbox(self.socket_queue).expect(enough);
            stack
                .register(mailbox, Msg::up(Ty::Icmpv6, ECHO_REPLY), false)
                .expect(enough);
            mailbox
        });
        (stack, sockets, replies)
    }
}

/// How the interface of a node behaves.
fn interface(plan: &Plan, index: u16) -> IfaceConfig {
    let config = &plan.config;
    let place = &plan.network.nodes[usize::from(index)];
    let mut iface = IfaceConfig::new(place.eui64);
    iface.short = Some(place.short);
    iface.send_from_short = config.link.addresses == Addresses::Short;
    iface.pan = config.link.pan_id;
    iface.pan_id_compression = config.link.pan_id_compression;
    iface.strategy = config.stack.strategy.of_stack();
    iface.fragment_gap = config.stack.gap();
    iface.mtu = config.stack.mtu();
    iface.mark = config.stack.mark.of_stack();
    let hardware = matches!(&config.radio, config::Radio::At86rf23x(at86) if at86.hardware_csma);
    iface.caps = Caps {
        csma: hardware,
        fcs: true,
    };
    iface.csma = CsmaConfig {
        params: CsmaParams {
            min_be: config.mac.min_be,
            max_be: config.mac.max_be,
            max_backoffs: config.mac.max_backoffs,
            max_retries: config.mac.max_retries,
            retry_delay_max: Duration::from_micros(config.mac.retry_delay_max_us),
            retry_busy: config.mac.retry_busy,
        },
        ..CsmaConfig::default()
    };
    iface.queue_capacity = config.stack.send_queue;
    iface
}

/// Whether the sizes and times of the stack can be.
pub(crate) fn check(config: &Config) -> Result<(), Problem> {
    let stack = &config.stack;
    let within = |key: &str, value: u32, low: u32, high: u32, unit: &str| {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(Problem::new(
            format!("stack.{key}"),
            format!("{value}{unit}"),
            format!("{low} to {high}{unit}"),
        ))
    };
    within(
        "packet_buffer_bytes",
        stack.packet_buffer_bytes,
        256,
        256 * 1024,
        " bytes",
    )?;
    within("packets", stack.packets.into(), 4, 16_000, "")?;
    within(
        "reassembly_entries",
        stack.reassembly_entries.into(),
        0,
        1_000,
        "",
    )?;
    within(
        "sink_reassembly_entries",
        stack.sink_reassembly_entries.into(),
        0,
        1_000,
        "",
    )?;
    within(
        "reassembly_timeout_ms",
        stack.reassembly_timeout_ms,
        1,
        60_000,
        " ms",
    )?;
    within("hop_limit", stack.hop_limit.into(), 1, 255, "")?;
    stack.check_fragments()?;
    stack.tcp.check()?;
    config::check_prefix("link.prefix", config.link.prefix)
}

/// The transfers that begin or end at a node.
fn streams_of(plan: &Plan, index: u16) -> impl Iterator<Item = Stream> + use<'_> {
    let streams = stream::streams(&plan.config, &plan.routes, plan.nodes(), plan.seed);
    let streams = streams.unwrap_or_default().into_iter();
    streams.filter(move |stream| stream.from == index || stream.to == index)
}

/// Whether anything but errors is sent to a node.
fn is_addressed(plan: &Plan, index: u16) -> bool {
    let (number, depth) = (index + 1, plan.routes.depth(index));
    let config = &plan.config;
    config.traffic.iter().any(|traffic| traffic.to == number)
        || streams_of(plan, index).next().is_some()
        || config
            .echo
            .iter()
            .any(|echo| echo.to == number || echo.from.contains(number, depth))
}

/// The stack on a node.
pub struct StackHost<'m> {
    /// None only while it reboots.
    stack: Option<Stack<'m>>,
    setup: Setup,
    addresses: std::sync::Arc<[Ipv6Addr]>,
    sockets: Vec<(u16, MailboxId)>,
    replies: Option<MailboxId>,
    streams: Streams,
    offer: Option<Offer<'m>>,
}

impl<'m> StackHost<'m> {
    /// The stack of a node over its memory; `addresses` are those of all nodes.
    pub fn new(setup: Setup, memory: &'m mut Heap, addresses: std::sync::Arc<[Ipv6Addr]>) -> Self {
        let (memory, room) = memory.lend();
        let (mut stack, sockets, replies) = setup.build(memory);
        let streams = Streams::listen(&mut stack, &setup.tcp_ports, BACKLOG);
        let offer = room.map(|room| Offer::open(&mut stack, room));
        Self {
            offer,
            stack: Some(stack),
            setup,
            addresses,
            sockets,
            replies,
            streams,
        }
    }

    #[inline]
    fn stack(&self) -> &Stack<'m> {
        self.stack.as_ref().expect("a node that reboots is not asked")
    }

    #[inline]
    fn stack_mut(&mut self) -> &mut Stack<'m> {
        self.stack.as_mut().expect("a node that reboots is not driven")
    }
}

const fn refusal(error: SendError) -> Reason {
    match error {
        SendError::NotOpen => Reason::NoInterface,
        SendError::TooLong => Reason::DatagramTooLarge,
        SendError::NoRoom(reason) => reason,
    }
}

impl Host for StackHost<'_> {
    #[inline]
    fn frame(&mut self, now: Instant, frame: &[u8], info: RxInfo, sink: &mut impl Sink) {
        self.stack_mut().frame(now, IFACE, frame, info, sink);
    }

    #[inline]
    fn wants_transmit(&self) -> bool {
        self.stack().wants_transmit(IFACE)
    }

    #[inline]
    fn transmit(&mut self, now: Instant, out: &mut [u8], sink: &mut impl Sink) -> Option<TxInfo> {
        self.stack_mut().transmit(now, IFACE, out, sink)
    }

    #[inline]
    fn transmitted(&mut self, now: Instant, report: TxReport, sink: &mut impl Sink) {
        self.stack_mut().transmitted(now, IFACE, report, sink);
    }

    #[inline]
    fn poll(&mut self, now: Instant, sink: &mut impl Sink) -> Option<Instant> {
        if let (Some(stack), Some(offer)) = (&mut self.stack, &mut self.offer)
            && offer.deadline().is_some_and(|at| at <= now)
        {
            offer.turn(stack, now, sink);
        }
        self.stack_mut().poll(now, sink)
    }

    #[inline]
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let offer = self.offer.as_ref().and_then(Offer::deadline);
        [self.stack().next_deadline(now), offer]
            .into_iter()
            .flatten()
            .min()
    }

    fn send(
        &mut self,
        now: Instant,
        to: u16,
        service: Service,
        payload: &[u8],
        sink: &mut impl Sink,
    ) -> Result<PktId, Reason> {
        let dst = self.addresses[usize::from(to)];
        match service {
            Service::Udp { from, to: port } => {
                let socket = self.sockets.iter().find(|(bound, _)| *bound == from);
                let socket = socket.ok_or(Reason::NoInterface)?.1;
                let sent = self
                    .stack_mut()
                    .udp_send_to(now, socket, (dst, port), payload, sink);
                sent.map_err(refusal)
            }
            Service::Echo { sequence } => {
                let mut message = [0; icmpv6::HEADER_LEN + crate::app::PAYLOAD_MAX];
                let len = icmpv6::HEADER_LEN + payload.len();
                let message = message.get_mut(..len).ok_or(Reason::DatagramTooLarge)?;
                message[icmpv6::HEADER_LEN..].copy_from_slice(payload);
                let request = icmpv6::Message::EchoRequest {
                    identifier: ECHO_IDENTIFIER,
                    sequence,
                };
                let header = icmpv6::Header {
                    message: request,
                    checksum: 0,
                };
                header.emit(message).map_err(|_| Reason::DatagramTooLarge)?;
                let mut sum = Checksum::new();
                sum.add(message);
                // What stands there is the sum, which the IPv6 layer completes with the addresses.
                message[2..4].copy_from_slice(&(!sum.finish()).to_be_bytes());
                let sent = self
                    .stack_mut()
                    .send_transport(now, dst, NextHeader::ICMPV6, message, sink);
                sent.map_err(refusal)
            }
        }
    }

    fn take(&mut self, now: Instant, payload: &mut [u8], sink: &mut impl Sink) -> Option<usize> {
        let stack = self.stack.as_mut()?;
        for &(_, socket) in &self.sockets {
            if let Some(received) = stack.udp_receive(now, socket, payload, sink) {
                return Some(received.len);
            }
        }
        let (_, len) = stack.mailbox_receive(now, self.replies?, payload, sink)?;
        let taken = len.min(payload.len());
        payload.copy_within(icmpv6::HEADER_LEN.min(taken)..taken, 0);
        Some(len.saturating_sub(icmpv6::HEADER_LEN))
    }

    fn open_stream(
        &mut self,
        now: Instant,
        number: u16,
        stream: &Stream,
        sink: &mut impl Sink,
    ) -> Result<(), &'static str> {
        let to = self.addresses[usize::from(stream.to)];
        let stack = self.stack.as_mut().expect("a node that reboots is not driven");
        let opened = self.streams.open(stack, now, (number, stream), to, sink);
        opened.map_err(TcpError::name)
    }

    fn pump(&mut self, now: Instant, sink: &mut impl Sink, news: &mut Vec<(u16, News)>) {
        if let Some(stack) = &mut self.stack {
            self.streams.pump(stack, now, sink, news);
            if let Some(offer) = &mut self.offer {
                offer.turn(stack, now, sink);
            }
        }
    }

    #[inline]
    fn has_streams(&self) -> bool {
        self.setup.connections > 0 || self.offer.is_some()
    }

    #[inline]
    fn listens(&self) -> bool {
        self.setup.listens
    }

    fn packet_in(&mut self, now: Instant, packet: &[u8], sink: &mut impl Sink) {
        border::packet_in(self.stack_mut(), now, packet, sink);
    }

    fn packet_out(&mut self, now: Instant, out: &mut [u8], sink: &mut impl Sink) -> Option<usize> {
        border::packet_out(self.stack_mut(), now, out, sink)
    }

    fn reboot(&mut self, now: Instant, sink: &mut impl Sink) {
        if let Some(mut stack) = self.stack.take() {
            let closed = self.offer.take().map(|offer| offer.close(&mut stack, now, sink));
            let memory = stack.into_memory(now, sink);
            // Random numbers must not repeat after a reboot.
            self.setup.stack.seed = self.setup.rng.bits();
            let (mut stack, sockets, replies) = self.setup.build(memory);
            self.streams = Streams::listen(&mut stack, &self.setup.tcp_ports, BACKLOG);
            self.offer = closed.map(|closed| Offer::open_again(&mut stack, closed));
            self.stack = Some(stack);
            self.sockets = sockets;
            self.replies = replies;
        }
    }

    fn packets(&self) -> usize {
        self.stack().buffer().live()
    }

    fn reachable_packets(&self) -> usize {
        self.stack().audit()
    }

    #[inline]
    fn buffer_used(&self) -> usize {
        self.stack().buffer().used()
    }

    #[inline]
    fn reassemblies(&self) -> usize {
        self.stack().reassemblies()
    }

    fn occupancy(&self) -> Occupancy {
        let count = |option| self.stack().get(Target::Stack, option).unwrap_or(0) as usize;
        Occupancy {
            buffer_bytes: self.buffer_used(),
            reassemblies: self.reassemblies(),
            forwards: count(Opt::Forwards),
            transfers: count(Opt::Transfers),
            queued: self.stack().queue_len(IFACE),
        }
    }

    fn buffer_high_water(&self) -> usize {
        self.stack().buffer().high_water()
    }
}
