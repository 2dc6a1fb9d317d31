//! A node without a stack: the medium access of sixlo over frames of one length, so that radios and medium can be held
//! against arithmetic.

use std::cell::RefCell;
use std::rc::Rc;

use sixlo::mac::csma::{Csma, CsmaConfig, Step};
use sixlo::netdev::{CsmaParams, IfaceId, RxInfo, TxInfo, TxReport};
use sixlo::rng::Rng;
use sixlo::time::Instant;
use sixlo::trace::{Event, PktId, Reason, Sink};
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154::{FrameType, Header};
use sixlo_sim::config::{Config, Disc, Medium, Place, Topology};
use sixlo_sim::host::{Host, Service};
use sixlo_sim::observer::Observer;
use sixlo_sim::result::RunResult;
use sixlo_sim::stream::{News, Stream};
use sixlo_sim::world::{Plan, World};

/// Data frames that nodes got: when, at which node, and their sequence numbers.
pub(crate) type Log = Rc<RefCell<Vec<(u64, u16, u8)>>>;

/// What a node sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// The index of the sender.
    pub(crate) from: u16,
    /// The index of the destination; all nodes if it is none.
    pub(crate) to: u16,
    /// Length of each frame, check sequence included.
    pub(crate) mpdu_len: usize,
    pub(crate) ack: bool,
    /// When the first frame is started; the next follow without a pause but the interframe space.
    pub(crate) start_us: u64,
    pub(crate) count: u64,
}

pub(crate) const ALL: u16 = 0xffff;

/// How frames contend for the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// By the stack's CSMA/CA.
    Stack(CsmaParams),
    /// By the radio's.
    Radio,
}

pub(crate) struct RawMac {
    index: u16,
    job: Option<Job>,
    access: Access,
    csma: Csma,
    rng: Rng,
    sequence: u8,
    want: Option<bool>,
    deadline: Option<Instant>,
    log: Log,
}

fn address(index: u16) -> LinkAddr {
    match index {
        ALL => LinkAddr::BROADCAST,
        index => LinkAddr::Short(index + 1),
    }
}

impl RawMac {
    fn config(params: CsmaParams) -> CsmaConfig {
        CsmaConfig {
            params,
            ..CsmaConfig::default()
        }
    }

    fn begin(&mut self, now: Instant, sink: &mut impl Sink) {
        let Some(job) = self.job.filter(|job| job.count > 0) else {
            return;
        };
        self.sequence = self.sequence.wrapping_add(1);
        match self.access {
            Access::Radio => self.want = Some(false),
            Access::Stack(params) => {
                let sequence = job.ack.then_some(self.sequence);
                let step = self
                    .csma
                    .start(now, sequence, &Self::config(params), &mut self.rng);
                self.follow(now, Some(step), sink);
            }
        }
    }

    fn follow(&mut self, now: Instant, step: Option<Step>, sink: &mut impl Sink) {
        match step {
            None => {}
            Some(Step::Wait(at)) => self.deadline = Some(at),
            Some(Step::Transmit { again }) => {
                self.deadline = None;
                self.want = Some(again);
            }
            Some(Step::Finished(report)) => self.finished(now, report, sink),
        }
    }

    fn finished(&mut self, now: Instant, report: TxReport, sink: &mut impl Sink) {
        self.deadline = None;
        let TxReport {
            outcome,
            attempts,
            busy,
        } = report;
        sink.event(
            now,
            &Event::FrameDone {
                id: PktId::NONE,
                iface: IfaceId(0),
                outcome,
                attempts,
                busy,
            },
        );
        if let Some(job) = &mut self.job {
            job.count -= 1;
        }
        self.begin(now, sink);
    }
}

impl Host for RawMac {
    fn frame(&mut self, now: Instant, frame: &[u8], _info: RxInfo, sink: &mut impl Sink) {
        let Ok((header, _)) = Header::parse(frame) else {
            return;
        };
        let sequence = header.sequence.unwrap_or(0);
        if header.frame_type == FrameType::Ack {
            let step = self.csma.acknowledged(now, sequence);
            self.follow(now, step, sink);
        } else {
            self.log
                .borrow_mut()
                .push((now.as_micros(), self.index, sequence));
        }
    }

    fn wants_transmit(&self) -> bool {
        self.want.is_some()
    }

    fn transmit(&mut self, _now: Instant, out: &mut [u8], _sink: &mut impl Sink) -> Option<TxInfo> {
        let again = self.want.take()?;
        let job = self.job?;
        let len = job.mpdu_len - 2;
        if !again {
            let header = Header::data(self.sequence, 0x23, address(job.to), address(self.index));
            let written = Header {
                ack_request: job.ack,
                ..header
            }
            .emit(out)
            .expect("a header fits");
            out[written..len].fill(0x5a);
        }
        let csma = match self.access {
            Access::Stack(params) => params,
            Access::Radio => CsmaParams::default(),
        };
        Some(TxInfo {
            len,
            ack_request: job.ack,
            again,
            csma,
            id: PktId::NONE,
        })
    }

    fn transmitted(&mut self, now: Instant, report: TxReport, sink: &mut impl Sink) {
        match self.access {
            Access::Radio => self.finished(now, report, sink),
            Access::Stack(params) => {
                let len = self.job.map_or(0, |job| job.mpdu_len);
                let step =
                    self.csma
                        .transmitted(now, len, report.outcome, &Self::config(params), &mut self.rng);
                self.follow(now, step, sink);
            }
        }
    }

    fn poll(&mut self, now: Instant, sink: &mut impl Sink) -> Option<Instant> {
        if self.deadline.is_some_and(|at| at <= now) {
            self.deadline = None;
            match self.access {
                Access::Stack(params) if !self.csma.is_idle() => {
                    let step = self.csma.timer(now, &Self::config(params), &mut self.rng);
                    self.follow(now, step, sink);
                }
                _ => self.begin(now, sink),
            }
        }
        self.deadline
    }

    fn next_deadline(&self, _now: Instant) -> Option<Instant> {
        self.deadline
    }

    fn send(&mut self, _: Instant, _: u16, _: Service, _: &[u8], _: &mut impl Sink) -> Result<PktId, Reason> {
        Err(Reason::NoInterface)
    }

    fn take(&mut self, _: Instant, _: &mut [u8], _: &mut impl Sink) -> Option<usize> {
        None
    }

    fn open_stream(
        &mut self,
        _now: Instant,
        _number: u16,
        _stream: &Stream,
        _sink: &mut impl Sink,
    ) -> Result<(), &'static str> {
        Err("there is no TCP")
    }

    fn pump(&mut self, _now: Instant, _sink: &mut impl Sink, _news: &mut Vec<(u16, News)>) {}

    fn has_streams(&self) -> bool {
        false
    }

    fn listens(&self) -> bool {
        false
    }

    fn reboot(&mut self, _now: Instant, _sink: &mut impl Sink) {
        self.csma = Csma::new();
        self.want = None;
        self.deadline = None;
    }

    fn packets(&self) -> usize {
        0
    }

    fn reachable_packets(&self) -> usize {
        0
    }

    fn buffer_used(&self) -> usize {
        0
    }

    fn reassemblies(&self) -> usize {
        0
    }

    fn occupancy(&self) -> sixlo_sim::observer::Occupancy {
        sixlo_sim::observer::Occupancy::default()
    }

    fn buffer_high_water(&self) -> usize {
        0
    }
}

/// Nodes on a line at these places in metres, that hear each other up to `range_m` and disturb up to
/// `interference_range_m`, without frame errors.
pub(crate) fn line(x_m: &[f64], range_m: f64, interference_range_m: f64) -> Config {
    let place = |&x_m: &f64| Place {
        x_m,
        parent: None,
        ..Place::default()
    };
    let mut config = Config::new(Topology::Nodes(x_m.iter().map(place).collect()));
    config.medium = Medium::Disc(Disc {
        range_m,
        interference_range_m,
        frame_error_rate: 0.0,
        ..Disc::default()
    });
    config
}

/// Runs the jobs until `end_ms`.
pub(crate) fn run(
    mut config: Config,
    access: Access,
    jobs: &[Job],
    end_ms: u64,
    seed: u64,
    observer: &mut impl Observer,
) -> (RunResult, Vec<(u64, u16, u8)>) {
    config.end_ms = Some(end_ms);
    let plan = Plan::new(&config, seed).expect("a valid configuration");
    let log = Log::default();
    let hosts = (0..plan.nodes()).map(|index| {
        let job = jobs.iter().find(|job| job.from == index).copied();
        RawMac {
            index,
            job,
            access,
            csma: Csma::new(),
            rng: Rng::new(seed << 16 | u64::from(index)),
            sequence: 0,
            want: None,
            deadline: job.map(|job| Instant::from_micros(job.start_us)),
            log: Log::clone(&log),
        }
    });
    let mut world = World::new(&plan, hosts, observer).expect("a valid configuration");
    world.run();
    let (result, imbalances) = world.finish();
    assert_eq!(imbalances, []);
    let heard = log.take();
    (result, heard)
}
