//! Reassembly over a sequence of frames, time and neighbours.

use arbitrary::{Arbitrary, Unstructured};
use sixlo::ground::{Core, Cx};
use sixlo::ipv6::{self, Ipv6, Ipv6Config};
use sixlo::lowpan::{Eviction, Lowpan, LowpanConfig, Reassembly, ReassemblyConfig, Tables, Ways};
use sixlo::mac::duplicates::{self, Duplicates};
use sixlo::netapi::Next;
use sixlo::netdev::{IfaceId, RxInfo};
use sixlo::netif::Netif;
use sixlo::netreg::Registry;
use sixlo::pktbuf::{Meta, PktBuf, Seg, Slot};
use sixlo::rng::Rng;
use sixlo::time::{Duration, Instant};
use sixlo::timers::Timers;
use sixlo::trace::{End, Event, Module, Sink};
use sixlo::wire::iphc::Context;
use sixlo::wire::lowpan::{IPV6, frag};

use crate::link::extended;

/// Nodes with smaller numbers send fragments of real datagrams; the others send anything.
const HONEST: u8 = 4;

#[derive(Arbitrary, Debug)]
struct Run<'a> {
    bytes: u16,
    packets: u8,
    entries: u8,
    never: bool,
    per_sender_max: u8,
    steps: Vec<Step<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// Time passes, in milliseconds; the timer is asked or not.
    Wait(u16, bool),
    /// A fragment of the datagram that node, tag and size name.
    Piece {
        node: u8,
        tag: u8,
        size: u8,
        unit: u8,
        units: u8,
    },
    /// Any frame.
    Frame(u8, &'a [u8]),
}

/// Packets that began and did not end yet.
#[derive(Default)]
struct Ledger(usize);

impl Sink for Ledger {
    fn event(&mut self, _now: Instant, event: &Event) {
        match event {
            Event::Start { .. } => self.0 += 1,
            Event::End { .. } => self.0 -= 1,
            _ => {}
        }
    }
}

/// The bytes of a datagram of an honest node. None of them is 0xa5, which stands in memory that nobody has written.
fn content(node: u8, tag: u16, size: usize) -> Vec<u8> {
    let first = usize::from(node) * 31 + usize::from(tag) * 7 + size;
    (0..size).map(|i| ((first + i) % 0xa5) as u8).collect()
}

struct Bench<'a> {
    core: Core<'a>,
    lowpan: Lowpan<'a>,
    ipv6: Ipv6<'a>,
    netif: Netif<'a>,
    ledger: Ledger,
    now: Instant,
}

/// Whatever comes in whatever order: an honest datagram is delivered as it is or not, nothing is lost, and time clears all.
pub fn reassembly(data: &[u8]) {
    let Ok(run) = Run::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let mut bytes = vec![0xa5; usize::from(run.bytes % 4096)];
    let packets = usize::from(run.packets % 64);
    let entries = usize::from(run.entries % 8);
    let mut segs = vec![Seg::EMPTY; packets];
    let mut slots = vec![Slot::EMPTY; packets];
    let mut table: Vec<_> = (0..entries).map(|_| Reassembly::EMPTY).collect();
    let mut contexts = [Context::EMPTY; 16];
    let config = LowpanConfig {
        reassembly: ReassemblyConfig {
            eviction: if run.never {
                Eviction::Never
            } else {
                Eviction::Stalest
            },
            per_sender_max: run.per_sender_max % 4,
            ..ReassemblyConfig::default()
        },
        ..LowpanConfig::default()
    };
    let tables = Tables {
        reassemblies: &mut table,
        contexts: &mut contexts,
        vrbs: &mut [],
        peers: &mut [],
        transfers: &mut [],
        inbounds: &mut [],
    };
    let buf = PktBuf::new(&mut bytes, &mut segs, &mut slots, [0; 2]).expect("no reserve");
    let mut bench = Bench {
        core: Core::new(buf, Registry::new(&mut []), Timers::new(&mut []), Rng::new(1)),
        lowpan: Lowpan::new(tables, config, 0),
        ipv6: Ipv6::new(
            ipv6::Memory {
                addresses: &mut [],
                neighbors: &mut [],
                routes: &mut [],
                partials: &mut [],
            },
            Ipv6Config::default(),
        ),
        netif: Netif::new(&mut [], Duplicates::new(&mut [], duplicates::WINDOW)),
        ledger: Ledger::default(),
        now: Instant::from_micros(1_000_000),
    };
    for step in &run.steps {
        bench.step(step);
        bench.check();
        assert!(bench.lowpan.reassemblies() <= entries);
    }
    bench.now += Duration::from_secs(60);
    bench.expire();
    bench.check();
    assert_eq!((bench.core.buf.live(), bench.core.buf.used()), (0, 0));
    assert_eq!((bench.lowpan.deadline(), bench.lowpan.reassemblies()), (None, 0));
}

impl Bench<'_> {
    fn step(&mut self, step: &Step<'_>) {
        match *step {
            Step::Wait(ms, asked) => {
                self.now += Duration::from_millis(ms.into());
                if asked {
                    self.expire();
                    assert!(self.lowpan.deadline().is_none_or(|at| at > self.now));
                }
            }
            Step::Piece {
                node,
                tag,
                size,
                unit,
                units,
            } => {
                let (node, tag) = (node % HONEST, u16::from(tag % 4));
                // Few sizes, so that fragments meet.
                let size = [40, 96, 200, 203, 1000, 1280][usize::from(size) % 6];
                let offset = usize::from(unit) * 8 % size / 8 * 8;
                let end = (offset + 8 + usize::from(units % 12) * 8).min(size);
                let header = frag::Fragment {
                    datagram_size: size as u16,
                    datagram_tag: tag,
                    datagram_offset: (offset / 8) as u8,
                };
                let mut frame = [0; 8];
                let len = header.emit(&mut frame).expect("11 bits of size");
                let dispatch = if offset == 0 { &[IPV6][..] } else { &[] };
                let bytes = &content(node, tag, size)[offset..end];
                self.frame(node, &[&frame[..len], dispatch, bytes].concat());
            }
            Step::Frame(node, payload) => self.frame(HONEST + node % HONEST, payload),
        }
    }

    fn frame(&mut self, node: u8, payload: &[u8]) {
        let meta = Meta {
            link_src: extended(node),
            link_dst: extended(100),
            iface: IfaceId(0),
            ..Meta::EMPTY
        };
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.ledger,
            now: self.now,
        };
        let mut ways = Ways {
            ipv6: &self.ipv6,
            netif: &mut self.netif,
        };
        let next = self
            .lowpan
            .frame(&mut cx, &mut ways, payload, &meta, &RxInfo::default());
        // To a recoverable fragment there is an answer, of which a driver takes care at once, and never more than one.
        if let Some(answer) = self.lowpan.outgoing(cx.core) {
            let _ended = cx.end(answer, Module::Lowpan, End::Sent);
        }
        let Some(next) = next else { return };
        let Next::To(_, packet) = next else {
            panic!("a datagram goes up");
        };
        let mut bytes = vec![0; cx.core.buf.len(&packet)];
        assert_eq!(cx.core.buf.copy_out(&packet, 0, &mut bytes), bytes.len());
        if node < HONEST {
            let len = bytes.len();
            assert!(
                (0..4).any(|tag| bytes == content(node, tag, len)),
                "{len} bytes that node {node} has not sent"
            );
        }
        let _ended = cx.end(packet, Module::Lowpan, End::Delivered);
    }

    fn expire(&mut self) {
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.ledger,
            now: self.now,
        };
        self.lowpan.expire(&mut cx);
    }

    fn check(&self) {
        let buf = &self.core.buf;
        let mut held = 0;
        self.lowpan.holds(buf, &mut |_| held += 1);
        assert_eq!((buf.in_hand(), buf.live(), self.ledger.0), (0, held, held));
        #[cfg(debug_assertions)]
        buf.check();
    }
}
