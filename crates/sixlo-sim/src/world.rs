//! The world of a run: its nodes, the air between them, and the loop that lets one event follow the other.

use std::collections::{BTreeMap, VecDeque};

use sixlo::netdev::TxReport;
use sixlo::trace::PktId;
use sixlo::wire::addr::LinkAddr;

use crate::air::{Air, Deaf, Ear, Span};
use crate::app::{self, Flow};
use crate::config::{self, Addresses, Config, Problem};
use crate::cpu::Costs;
use crate::faults::Faults;
use crate::frames::{Frames, Slot, To};
use crate::host::Host;
use crate::ledger::{Imbalance, Ledger, Record};
use crate::medium::{Loss, Medium, Signal};
use crate::observer::{AppEvent, Observer, Occupancy};
use crate::queue::{Class, Queue};
use crate::radio::{Counters, Device};
use crate::result::{NodeResult, RunResult, StackCounters};
use crate::rng::{Purpose, Rng};
use crate::stream::{self, News, Stream};
use crate::time::Time;
use crate::topology::{Network, Routes};

mod driver;
mod ended;
mod outside;
mod power;
mod steer;
mod steps;
mod streams;
mod tap;

pub use steer::NodeNow;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The stack of a node wants to run.
    Wake {
        /// The index of the node.
        node: u16,
    },
    /// The CPU of a node is free again.
    Cpu {
        /// The index of the node.
        node: u16,
    },
    /// The timer of a radio is due.
    Radio {
        /// The index of the node.
        node: u16,
        /// The radio set it in this generation.
        generation: u32,
    },
    /// A transmission ends.
    Ended {
        /// The frame.
        slot: Slot,
    },
    /// A source sends.
    App {
        /// The index of its flow.
        flow: u16,
    },
    /// The sender of a transfer opens its connection.
    Stream {
        /// The number of the transfer.
        number: u16,
    },
    /// A frame that was held back reaches the stack.
    Late {
        /// The index of the node.
        node: u16,
        /// The frame.
        slot: Slot,
    },
    /// A node loses its memory.
    Off {
        /// The index of the reboot in the configuration.
        reboot: u32,
    },
    /// A node starts anew.
    On {
        /// The index of the node.
        node: u16,
    },
}

/// Room for a payload, and for the header that is taken off it.
const PAYLOAD_ROOM: usize = 1_280;

/// All of a run that is fixed before it starts.
#[derive(Debug)]
pub struct Plan {
    /// What was asked for.
    pub config: Config,
    /// The seed.
    pub seed: u64,
    /// Where the nodes are.
    pub network: Network,
    /// Which way packets go.
    pub routes: Routes,
    /// The medium.
    pub medium: Medium,
}

impl Plan {
    /// Builds network, medium and routes.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with the configuration.
    pub fn new(config: &Config, seed: u64) -> Result<Self, Problem> {
        let network = Network::build(&config.topology, seed)?;
        let medium = Medium::build(&config.medium, &network, seed)?;
        let routes = Routes::build(&network, config.routes, |a, b| medium.linked(a, b))?;
        let plan = Self {
            config: config.clone(),
            seed,
            network,
            routes,
            medium,
        };
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), Problem> {
        let nodes = self.nodes();
        crate::stack_host::check(&self.config)?;
        if let Some(border) = &self.config.border {
            border.check(self.config.link.prefix, nodes)?;
        }
        // What these build is built again by the run; here they are asked whether it can be.
        app::flows(&self.config, &self.routes, nodes, self.seed)?;
        stream::streams(&self.config, &self.routes, nodes, self.seed)?;
        Faults::new(&self.config, &self.routes, nodes, self.seed)?;
        for (i, reboot) in self.config.reboots.iter().enumerate() {
            if !(1..=nodes).contains(&reboot.node) {
                let key = format!("reboot.{i}.node");
                return Err(Problem::new(
                    key,
                    format!("no node {}", reboot.node),
                    format!("1 to {nodes}"),
                ));
            }
        }
        let mac = &self.config.mac;
        if mac.min_be > mac.max_be || mac.max_be > 8 {
            let what = format!("back-off exponents {} to {}", mac.min_be, mac.max_be);
            return Err(Problem::new("mac.min_be", what, "min_be <= max_be <= 8"));
        }
        let clock = match self.config.cpu {
            config::Cpu::CortexM3(cpu) => Some(("cpu.cortex-m3.clock_mhz", cpu.clock_mhz)),
            config::Cpu::CortexM0plus(cpu) => Some(("cpu.cortex-m0plus.clock_mhz", cpu.clock_mhz)),
            _ => None,
        };
        if let Some((key, clock_mhz)) = clock
            && !(1..=1000).contains(&clock_mhz)
        {
            return Err(Problem::new(key, clock_mhz.to_string(), "1 to 1000"));
        }
        let hardware = matches!(&self.config.radio, config::Radio::At86rf23x(at86) if at86.hardware_csma);
        if hardware && mac.retry_delay_max_us > 0 {
            return Err(Problem::new(
                "mac.retry_delay_max_us",
                "a radio that retries by itself cannot delay its retries",
                "radio.ideal, or radio.at86rf23x with hardware_csma = false",
            ));
        }
        if hardware && mac.retry_busy {
            return Err(Problem::new(
                "mac.retry_busy",
                "a radio that does CSMA/CA by itself gives up a frame where the channel is always busy",
                "radio.ideal, or radio.at86rf23x with hardware_csma = false",
            ));
        }
        if let config::Radio::At86rf23x(at86) = &self.config.radio
            && at86.spi_kbytes_per_s == 0
        {
            return Err(Problem::new(
                "radio.at86rf23x.spi_kbytes_per_s",
                "0",
                "more than 0",
            ));
        }
        Ok(())
    }

    /// The index of the border router, if there is one.
    pub fn border(&self) -> Option<u16> {
        self.config.border.as_ref().map(|border| border.node - 1)
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u16 {
        self.network.nodes.len() as u16
    }
}

/// A node: its software, its radio, and what goes on between the two.
struct Node<H> {
    host: H,
    device: Device,
    rng: Rng,
    radio: Counters,
    stack: StackCounters,
    /// When the next wake-up is due that is in the queue.
    wake_at: Time,
    /// The CPU is busy until then.
    cpu_until: Time,
    /// The CPU reads a frame out of the radio.
    reading: bool,
    /// The driver waits for the end of a reception to send, and does nothing else meanwhile.
    blocked: bool,
    /// The frame to send was counted as waiting for a reception.
    waited: bool,
    /// The place of the frame to send.
    slot: Slot,
    /// The frame to send was made and not given to the radio yet; true if the radio had it before.
    outgoing: Option<bool>,
    /// The datagram of the frame that the radio was given and has not reported on.
    in_device: Option<PktId>,
    report: Option<TxReport>,
    /// Frames that reach the stack past the radio: copies and late ones.
    late: VecDeque<(Slot, Signal)>,
    up: bool,
    /// Transmissions up to this number were cut short by a reboot.
    cut_off: u64,
    /// Since when packet buffer and reassembly table are as full as they are: the time, bytes, and datagrams.
    full_since: (Time, usize, usize),
    /// What whoever watches was told that the node holds.
    occupancy: Occupancy,
}

/// Everything that changes during a run.
pub struct World<'p, H, O> {
    plan: &'p Plan,
    now: Time,
    queue: Queue<Event>,
    air: Air,
    frames: Frames,
    ears: Vec<Ear>,
    incoming: Vec<Span>,
    transmissions: u64,
    nodes: Vec<Node<H>>,
    costs: Costs,
    faults: Faults,
    ledger: Ledger,
    outside: outside::Outside,
    flows: Vec<Flow>,
    /// Flows that have not sent all.
    active_flows: usize,
    streams: Vec<Stream>,
    accounts: Vec<streams::Account>,
    /// Transfers that are not over.
    active_streams: usize,
    end: Time,
    addresses: BTreeMap<LinkAddr, u16>,
    duplicates: u64,
    undetected: u64,
    observer: &'p mut O,
    // Kept between events, so that nothing is allocated for one.
    overwritten: Vec<Slot>,
    touched: Vec<u16>,
    fates: Vec<(u16, Result<Signal, Loss>)>,
    payload: Vec<u8>,
    news: Vec<(u16, News)>,
}

/// Builds what a radio needs of the world, leaving the rest of the node free.
macro_rules! cx {
    ($world:expr, $node:expr, $index:expr) => {
        $crate::radio::Cx {
            now: $world.now,
            node: $index,
            queue: &mut $world.queue,
            air: &mut $world.air,
            medium: &$world.plan.medium,
            frames: &mut $world.frames,
            ear: &mut $world.ears[usize::from($index)],
            rng: &mut $node.rng,
            mac: &$world.plan.config.mac,
            counters: &mut $node.radio,
            incoming: &mut $world.incoming,
            transmissions: &mut $world.transmissions,
            overwritten: &mut $world.overwritten,
        }
    };
}
use cx;

impl<'p, H: Host, O: Observer> World<'p, H, O> {
    /// The world of a plan, with the software of each node.
    pub fn new(plan: &'p Plan, hosts: impl Iterator<Item = H>, observer: &'p mut O) -> Result<Self, Problem> {
        let count = plan.nodes();
        let flows = app::flows(&plan.config, &plan.routes, count, plan.seed)?;
        let streams = stream::streams(&plan.config, &plan.routes, count, plan.seed)?;
        let mut frames = Frames::default();
        let node = |(host, index): (H, u16)| Node {
            host,
            device: Device::new(&plan.config.radio),
            rng: Rng::new(plan.seed, Purpose::Radio, u64::from(index)),
            radio: Counters::default(),
            stack: StackCounters::default(),
            wake_at: Time::NEVER,
            cpu_until: Time::ZERO,
            reading: false,
            blocked: false,
            waited: false,
            slot: frames.allocate(),
            outgoing: None,
            in_device: None,
            report: None,
            late: VecDeque::new(),
            up: true,
            cut_off: 0,
            full_since: (Time::ZERO, 0, 0),
            occupancy: Occupancy::default(),
        };
        let nodes: Vec<Node<H>> = hosts.zip(0..count).map(node).collect();
        let addresses = [Addresses::Extended, Addresses::Short]
            .into_iter()
            .flat_map(|kind| {
                plan.network
                    .indices()
                    .map(move |i| (plan.network.link_addr(i, kind), i))
            })
            .collect();
        let mut world = Self {
            plan,
            now: Time::ZERO,
            queue: Queue::new(),
            air: Air::new(usize::from(count)),
            frames,
            ears: vec![Ear::default(); usize::from(count)],
            incoming: vec![Span::default(); usize::from(count)],
            transmissions: 0,
            nodes,
            costs: Costs::new(&plan.config.cpu),
            faults: Faults::new(&plan.config, &plan.routes, count, plan.seed)?,
            ledger: Ledger::new(),
            outside: outside::Outside::default(),
            active_flows: flows.len(),
            flows,
            active_streams: streams.len(),
            accounts: streams.iter().map(streams::Account::new).collect(),
            streams,
            end: plan.config.end_ms.map_or(Time::NEVER, Time::ms),
            addresses,
            duplicates: 0,
            undetected: 0,
            observer,
            overwritten: Vec::new(),
            touched: Vec::new(),
            fates: Vec::new(),
            payload: vec![0; PAYLOAD_ROOM],
            news: Vec::new(),
        };
        world.schedule();
        Ok(world)
    }

    /// Puts what is known beforehand into the queue.
    fn schedule(&mut self) {
        for (flow, at) in self.flows.iter().zip(0u16..) {
            self.queue.push(flow.start, Class::Rest, Event::App { flow: at });
        }
        self.schedule_streams();
        for (reboot, index) in self.plan.config.reboots.iter().zip(0..) {
            self.queue
                .push(Time::ms(reboot.at_ms), Class::Rest, Event::Off { reboot: index });
        }
        for node in 0..self.nodes.len() as u16 {
            self.service(node);
        }
        if self.flows.is_empty() && self.streams.is_empty() && self.end == Time::NEVER {
            self.end = Time::ms(self.plan.config.drain_ms);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake { node } => {
                let wake_at = &mut self.nodes[usize::from(node)].wake_at;
                if *wake_at == self.now {
                    *wake_at = Time::NEVER;
                }
                self.service(node);
            }
            Event::Cpu { node } => self.service(node),
            Event::Radio {
                node: index,
                generation,
            } => {
                let node = &mut self.nodes[usize::from(index)];
                if node.up {
                    let report = node.device.timer(&mut cx!(self, node, index), generation);
                    node.report = node.report.take().or(report);
                    self.service(index);
                }
            }
            Event::Ended { slot } => self.ended(slot),
            Event::App { flow } => self.application(flow),
            Event::Stream { number } => self.open_stream(number),
            Event::Late { node: index, slot } => {
                let signal = self.frames.get(slot).signal;
                self.nodes[usize::from(index)].late.push_back((slot, signal));
                if self.nodes[usize::from(index)].up {
                    self.service(index);
                } else {
                    self.forget_late(index);
                }
            }
            Event::Off { reboot } => self.reboot(reboot),
            Event::On { node } => self.switch_on(node),
        }
    }

    fn settle(&mut self) {
        let now = self.now;
        let observer = &mut *self.observer;
        self.ledger.settle(|record, from, fate| {
            if O::ON {
                observer.app(now, from, &AppEvent::Lost { record, fate });
            }
        });
    }

    /// A source sends.
    fn application(&mut self, index: u16) {
        let now = self.now;
        let flow = &mut self.flows[usize::from(index)];
        let (sequence, again) = flow.next(now);
        match again {
            Some(again) => self.queue.push(again, Class::Rest, Event::App { flow: index }),
            None => {
                self.active_flows -= 1;
                self.sources_done();
            }
        }
        let flow = &mut self.flows[usize::from(index)];
        let (from, to) = (flow.from, flow.to);
        let hops = self.plan.routes.hops(from, to);
        let record = Record::new(from, to, flow.number, sequence, flow.payload_bytes, hops, now);
        let record = self.ledger.record(record);
        flow.records.push(record);
        self.send(index, sequence, record);
        self.service(from);
    }

    /// Where no end is prescribed, the run goes on for a while after all sources are done.
    fn sources_done(&mut self) {
        if self.active_flows == 0 && self.active_streams == 0 && self.end == Time::NEVER {
            self.end = self.now + Time::ms(self.plan.config.drain_ms);
        }
    }

    pub(super) fn forget_late(&mut self, index: u16) {
        while let Some((slot, _)) = self.nodes[usize::from(index)].late.pop_front() {
            self.lose(index, slot, Loss::Deaf(Deaf::Off));
        }
    }

    /// A received frame is lost in a radio.
    pub(super) fn lose(&mut self, node: u16, slot: Slot, loss: Loss) {
        let frame = self.frames.get(slot);
        if frame.to != To::Awaiting {
            let id = frame.id;
            self.nodes[usize::from(node)].radio.lost[loss.index()] += 1;
            self.ledger.lost(id, loss);
            self.ledger.carry(id, -1);
            if O::ON {
                self.observer.lost_in_radio(self.now, node, id, loss);
            }
        }
        self.frames.release(slot);
    }

    /// The run is over: checks that all adds up, and gives the results.
    pub fn finish(mut self) -> (RunResult, Vec<Imbalance>) {
        self.settle();
        let found: u64 = self.nodes.iter().map(|node| node.host.packets() as u64).sum();
        let expected = self.ledger.packets();
        if found != expected {
            self.ledger.imbalance(Imbalance::Packets { expected, found });
        }
        for (node, index) in self.nodes.iter().zip(0..) {
            let packets = node.host.packets().saturating_sub(node.host.reachable_packets());
            if packets > 0 {
                self.ledger.imbalance(Imbalance::Leak { node: index, packets });
            }
            let bytes = node.host.buffer_used();
            if node.host.packets() == 0 && bytes != 0 {
                self.ledger
                    .imbalance(Imbalance::BufferNotEmpty { node: index, bytes });
            }
        }
        let now = self.now;
        let nodes = self.nodes.iter_mut().zip(0u16..).map(|(node, index)| {
            node.note_occupancy(now);
            let ear = &self.ears[usize::from(index)];
            NodeResult {
                depth: self.plan.routes.depth(index),
                parent: self.plan.routes.parent(index),
                stack: std::mem::take(&mut node.stack),
                radio: std::mem::take(&mut node.radio),
                deaf: Deaf::ALL.map(|cause| ear.total(cause, now)),
                buffer_high_water: node.host.buffer_high_water(),
            }
        });
        let nodes = nodes.collect();
        let (events, in_flight) = (
            self.queue.inserted() - self.queue.len() as u64,
            self.ledger.live(),
        );
        let accounts = self.accounts.into_iter().zip(0u16..);
        let streams = accounts.map(|(account, number)| account.into_result(now, number, &self.ledger));
        let streams = streams.collect();
        let (records, imbalances) = self.ledger.into_parts();
        let result = RunResult {
            records,
            streams,
            nodes,
            duration: now,
            transmissions: self.transmissions,
            events,
            duplicates: self.duplicates,
            undetected: self.undetected,
            in_flight: in_flight as u64,
        };
        (result, imbalances)
    }
}

impl<H: Host> Node<H> {
    /// Accounts for the time that packet buffer and reassembly table were as full as they were.
    fn note_occupancy(&mut self, now: Time) {
        let (since, used, reassemblies) = self.full_since;
        let time = u128::from(now.since(since).as_ns());
        self.stack.buffer_byte_ns += used as u128 * time;
        self.stack.reassembly_ns += reassemblies as u128 * time;
        let reassemblies = self.host.reassemblies();
        self.stack.reassemblies_max = self.stack.reassemblies_max.max(reassemblies);
        self.full_since = (now, self.host.buffer_used(), reassemblies);
    }
}
