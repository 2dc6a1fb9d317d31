//! The set-up of sections 6 and 7 as runs: T-A.

use sixlo_sim::config::{Bulk, Config, Cpu, Mac, Medium, NodeSet, Radio, Timer};

use crate::repro::Extent;
use crate::repro::fragment_forwarding::setups::base;
use crate::scenario::{Output, Point, Scenario, Which};

/// The axes of all points.
const AXES: [&str; 5] = ["set-up", "varied", "hops", "direction", "value"];

/// The text of the set-up.
const TEXT: &str = include_str!("../../../../../experiments/tcp.toml");

/// What is the same for all that is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setup {
    /// The paper's radio and link. Claims are decided with it.
    Paper,
    /// A radio without copy times, with a buffer for each direction.
    IdealRadio,
    /// A link that tries as often as IEEE 802.15.4 has it by default, and gives up where the channel is busy.
    StandardLink,
    /// CSMA/CA and link retries in the radio, which is deaf while it backs off.
    HardwareCsma,
    /// Nodes sense and disturb the neighbours of their neighbours, too, so that no terminal is hidden.
    NothingHidden,
    /// A processor that is as slow as a RIOT node was measured to be by others (Lenders et al. 2021, section IV-C).
    SlowProcessor,
}

impl Setup {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::IdealRadio => "ideal-radio",
            Self::StandardLink => "standard-link",
            Self::HardwareCsma => "hardware-csma",
            Self::NothingHidden => "nothing-hidden",
            Self::SlowProcessor => "slow-processor",
        }
    }

    fn apply(self, config: &mut Config) {
        match self {
            Self::Paper => {}
            Self::IdealRadio => config.radio = Radio::default(),
            Self::StandardLink => config.mac = Mac::default(),
            Self::HardwareCsma => {
                // It does as IEEE 802.15.4 has it.
                config.mac = Mac::default();
                if let Radio::At86rf23x(radio) = &mut config.radio {
                    radio.hardware_csma = true;
                }
            }
            Self::NothingHidden => {
                if let Medium::Disc(disc) = &mut config.medium {
                    disc.interference_range_m = 2.0 * disc.range_m;
                }
            }
            Self::SlowProcessor => config.cpu = Cpu::RiotM3,
        }
    }
}

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Varied {
    /// The frames of a segment, with room for four such segments in each buffer.
    Mss,
    /// The frames of a segment, with buffers that hold four segments of five frames.
    MssInFixedBuffers,
    /// The segments that the buffer of the node that is looked at holds: its send buffer uplink, its receive buffer downlink
    /// (section 6.2). The other end's holds four.
    Buffer,
    /// The longest delay before a retry of the link, in ms.
    Delay,
    /// The frames of a segment of a stack that has but one under way, without timestamps and selective acknowledgements; its peer
    /// is a whole TCP, which delays acknowledgements.
    OneSegment,
    /// The same where the peer is of that kind, too: it has room for one segment and acknowledges each at once.
    OneSegmentBothEnds,
}

impl Varied {
    const fn name(self) -> &'static str {
        match self {
            Self::Mss => "mss_frames",
            Self::MssInFixedBuffers => "mss_frames_fixed_buffers",
            Self::Buffer => "buffer_segments",
            Self::Delay => "retry_delay_ms",
            Self::OneSegment => "one_segment_frames",
            Self::OneSegmentBothEnds => "one_segment_frames_both_ends",
        }
    }
}

/// Which way the data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Towards the sink.
    Up,
    /// Away from it.
    Down,
}

impl Direction {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

pub(super) const FRAMES: [u16; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
pub(super) const SEGMENTS: [u16; 6] = [1, 2, 3, 4, 5, 6];
pub(super) const DELAYS_MS: [u16; 9] = [0, 5, 10, 20, 30, 40, 60, 80, 100];
/// The frames of a segment of uIP and of BLIP, and of the uIP that was extended (table 6).
pub(super) const ONE_SEGMENT_FRAMES: [u16; 2] = [1, 4];

/// The bytes of a segment that fills so many frames, or a few more; the paper's 462 bytes fill five.
pub(super) const fn segment_bytes(frames: u16) -> u16 {
    // What this stack's headers, timestamps included, leave of the first frame and of each that follows.
    72 + (frames - 1) * 96
}

/// A point: one transfer over so many hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) setup: Setup,
    pub(super) varied: Varied,
    pub(super) hops: u16,
    pub(super) direction: Direction,
    pub(super) value: u16,
}

impl At {
    /// With the paper's radio and link, uplink.
    pub(super) const fn paper(varied: Varied, hops: u16, value: u16) -> Self {
        Self {
            setup: Setup::Paper,
            varied,
            hops,
            direction: Direction::Up,
            value,
        }
    }

    /// The same in another set-up.
    pub(super) const fn with(self, setup: Setup) -> Self {
        Self { setup, ..self }
    }

    /// The same, which way the data goes.
    pub(super) const fn towards(self, direction: Direction) -> Self {
        Self { direction, ..self }
    }

    /// The labels of the point.
    pub(super) fn labels(self) -> [String; 5] {
        [
            self.setup.name().to_owned(),
            self.varied.name().to_owned(),
            self.hops.to_string(),
            self.direction.name().to_owned(),
            self.value.to_string(),
        ]
    }

    /// Whether a claim or a figure shows it; the rest is for whoever wants to know more.
    fn is_shown(self) -> bool {
        let direction = self.direction;
        match (self.varied, self.setup) {
            (Varied::Mss, _) => self.hops == 1,
            (Varied::Buffer, setup) => {
                self.hops == 1 && (setup != Setup::IdealRadio || direction == Direction::Up)
            }
            (Varied::Delay, Setup::Paper) if direction == Direction::Down => self.value == 40,
            (Varied::Delay, Setup::IdealRadio) if direction == Direction::Down => false,
            (Varied::Delay, Setup::Paper | Setup::IdealRadio) => {
                matches!(self.hops, 1 | 3) || matches!(self.value, 0 | 40)
            }
            (Varied::Delay, Setup::HardwareCsma) => self.hops == 1,
            (Varied::OneSegment | Varied::OneSegmentBothEnds, setup) => setup != Setup::IdealRadio,
            (Varied::Delay | Varied::MssInFixedBuffers, _) => true,
        }
    }

    fn config(self, base: &Config, extent: &Extent) -> Config {
        let mut config = base.clone();
        self.setup.apply(&mut config);
        let (near, far) = (1, self.hops + 1);
        let (from, to) = match self.direction {
            Direction::Up => (far, near),
            Direction::Down => (near, far),
        };
        config.bulk = vec![Bulk {
            from: NodeSet::List(vec![from]),
            to,
            bytes: 0,
            ..config.bulk[0].clone()
        }];
        config.end_ms = Some(if extent.quick { 30_000 } else { 300_000 });
        let (mut frames, mut buffers, mut delay_ms) = (5, [4, 4], 0);
        let value = self.value;
        match self.varied {
            Varied::Mss | Varied::MssInFixedBuffers => frames = value,
            Varied::Buffer => match self.direction {
                Direction::Up => buffers = [value, 4],
                Direction::Down => buffers = [4, value],
            },
            Varied::Delay => delay_ms = value,
            Varied::OneSegment => (frames, buffers) = (value, [1, 4]),
            Varied::OneSegmentBothEnds => (frames, buffers) = (value, [1, 1]),
        }
        config.mac.retry_delay_max_us = u64::from(delay_ms) * 1_000;
        let tcp = &mut config.stack.tcp;
        tcp.mss_bytes = None;
        tcp.mss_frames = frames as u8;
        tcp.timer = Timer::Freebsd;
        tcp.ecn = false;
        let plain = matches!(self.varied, Varied::OneSegment | Varied::OneSegmentBothEnds);
        (tcp.sack, tcp.timestamps) = (!plain, !plain);
        let segment = match self.varied {
            Varied::MssInFixedBuffers => segment_bytes(5),
            // The option that is not there leaves room for as much data.
            Varied::OneSegment | Varied::OneSegmentBothEnds => segment_bytes(frames) + STAMPS_BYTES,
            _ => segment_bytes(frames),
        };
        [tcp.send_buffer_bytes, tcp.receive_buffer_bytes] = buffers.map(|segments| segments * segment);
        config
    }
}

/// The option of timestamps in a segment (RFC 7323 appendix A).
const STAMPS_BYTES: u16 = 12;

/// All points, or those that a claim or a figure shows.
pub(super) fn points(extent: &Extent) -> Vec<At> {
    use Direction::{Down, Up};
    let mut points = Vec::new();
    let mut add = |setup, varied, direction, hops: &[u16], values: &[u16]| {
        for &hops in hops {
            points.extend(values.iter().map(|&value| At {
                setup,
                varied,
                hops,
                direction,
                value,
            }));
        }
    };
    for direction in [Up, Down] {
        for setup in [Setup::Paper, Setup::IdealRadio] {
            add(setup, Varied::Mss, direction, &[1, 3], &FRAMES);
            add(setup, Varied::Buffer, direction, &[1, 3], &SEGMENTS);
            add(setup, Varied::Delay, direction, &[1, 2, 3, 4], &DELAYS_MS);
        }
        add(Setup::SlowProcessor, Varied::Buffer, direction, &[1], &SEGMENTS);
    }
    let paper = Setup::Paper;
    add(paper, Varied::MssInFixedBuffers, Up, &[1], &FRAMES);
    for setup in [Setup::Paper, Setup::IdealRadio, Setup::SlowProcessor] {
        for varied in [Varied::OneSegment, Varied::OneSegmentBothEnds] {
            add(setup, varied, Up, &[1, 3], &ONE_SEGMENT_FRAMES);
        }
    }
    add(Setup::SlowProcessor, Varied::Mss, Up, &[1], &FRAMES);
    add(Setup::SlowProcessor, Varied::Delay, Up, &[1, 2, 3, 4], &[0, 40]);
    add(
        Setup::StandardLink,
        Varied::Delay,
        Up,
        &[1, 2, 3, 4],
        &[0, 30, 40],
    );
    add(Setup::NothingHidden, Varied::Delay, Up, &[3, 4], &[0, 30, 40]);
    add(Setup::HardwareCsma, Varied::Delay, Up, &[1, 2, 3, 4], &[0]);
    points.retain(|at| !extent.quick || at.is_shown());
    points
}

/// The runs that are looked at closely: memory is that of the first, congestion windows are those of the others.
pub(super) const WATCHED: [At; 3] = [
    At::paper(Varied::Delay, 1, 0),
    At::paper(Varied::Delay, 3, 0),
    At::paper(Varied::Delay, 3, 40),
];

/// The configuration of a point.
pub(super) fn config(at: At, extent: &Extent) -> Config {
    at.config(&base("tcp", TEXT), extent)
}

/// All runs.
pub(super) fn scenario(extent: &Extent) -> Scenario {
    let base = base("tcp", TEXT);
    let seeds = extent.deciding();
    let point = |at: At| Point {
        labels: at.labels().to_vec(),
        config: at.config(&base, extent),
        seeds: seeds.clone(),
    };
    Scenario {
        name: "tcplp".to_owned(),
        title: super::STUDY.title.to_owned(),
        description: super::STUDY.paper.to_owned(),
        output: Output {
            capture: Which::None,
            trace: Which::None,
            ..Output::default()
        },
        axes: AXES.map(str::to_owned).to_vec(),
        points: points(extent).into_iter().map(point).collect(),
        seeds,
        text: TEXT.to_owned(),
    }
}
