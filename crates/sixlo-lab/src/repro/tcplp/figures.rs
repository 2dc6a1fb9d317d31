//! The paper's figures 3, 5 and 6, with what it published in them and what our runs found.

use super::claims::{fast_retransmits, goodputs, losses, round_trips, time_outs};
use super::claims_hops::{PUBLISHED_KBPS, modelled};
use super::claims_one_hop::bound_kbps;
use super::model::chain_bound;
use super::setups::{At, DELAYS_MS, Direction, FRAMES, SEGMENTS, Setup, Varied, WATCHED, segment_bytes};
use crate::plot::{
    CongestionPanel, CongestionPanels, Event, Horizontal, LineChart, Origin, Series, Unit, Value, colour,
};
use crate::report::Figure;
use crate::repro::Findings;
use crate::repro::transfers::Stream;
use crate::stats::Estimate;

/// The values of the runs at a point.
type Of = fn(&Findings<'_>, At) -> Vec<f64>;

/// A line from runs: its name, the number of its colour, and its point for each value.
type Line<'a> = (&'a str, usize, &'a dyn Fn(u16) -> At);

/// Goodput over one hop in section 6.3, in kb/s.
const ONE_HOP_KBPS: f64 = 75.0;

const MEANS: &str = "Filled marks: our runs, means with 95 % intervals. Hollow marks: published, as far as the paper's text gives values; \
                     its curves are pictures.";

/// All figures.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Figure> {
    vec![
        fig_3a(findings),
        fig_3b(findings),
        fig_5a(findings),
        fig_5b(findings),
        fig_5b_loss(findings),
        fig_5c(findings),
        fig_5d(findings),
        fig_6a(findings),
        fig_6b(findings),
        section_7_2(findings),
    ]
}

/// A chart under construction.
struct Chart<'f, 'r> {
    findings: &'f Findings<'r>,
    xs: &'static [u16],
    series: Vec<Series>,
}

impl<'f, 'r> Chart<'f, 'r> {
    const fn new(findings: &'f Findings<'r>, xs: &'static [u16]) -> Self {
        Self {
            findings,
            xs,
            series: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, number: usize, origin: Origin, values: Vec<Value>) {
        if !values.is_empty() {
            self.series.push(Series {
                label: name.to_owned(),
                colour: colour::series(number),
                origin,
                values,
            });
        }
    }

    /// What the runs found.
    fn measured(mut self, of: Of, lines: &[Line<'_>]) -> Self {
        for &(name, number, at) in lines {
            let value = |&x: &u16| {
                let estimate = Estimate::of(&of(self.findings, at(x)))?;
                Some(Value {
                    x: x.into(),
                    y: estimate.mean,
                    interval: estimate.low(0.0).zip(estimate.high(f64::INFINITY)),
                    tooltip: format!("{name}, {x}: {:.2}", estimate.mean),
                })
            };
            let values = self.xs.iter().filter_map(value).collect();
            self.add(name, number, Origin::Measured, values);
        }
        self
    }

    /// What the paper's text says.
    fn published(mut self, name: &str, number: usize, values: &[(u16, f64)]) -> Self {
        let value = |&(x, y): &(u16, f64)| plain_value(name, x, y);
        self.add(
            name,
            number,
            Origin::Published,
            values.iter().map(value).collect(),
        );
        self
    }

    /// What a model says.
    fn modelled(mut self, name: &str, number: usize, model: impl Fn(u16) -> Option<f64>) -> Self {
        let value = |&x: &u16| Some(plain_value(name, x, model(x)?));
        let values = self.xs.iter().filter_map(value).collect();
        self.add(name, number, Origin::Modelled, values);
        self
    }

    fn figure(self, (name, title): (&'static str, &str), (x, y): (&str, &str), caption: &str) -> Figure {
        let chart = LineChart {
            title: title.to_owned(),
            x: Horizontal::Numbers(self.xs.iter().map(|&x| x.into()).collect()),
            x_title: x.to_owned(),
            unit: Unit::Number,
            y_title: y.to_owned(),
            series: self.series,
        };
        Figure {
            name,
            title: title.to_owned(),
            caption: format!("{caption} {MEANS}"),
            wide: false,
            svg: chart.draw(),
        }
    }
}

fn plain_value(name: &str, x: u16, y: f64) -> Value {
    Value {
        x: x.into(),
        y,
        interval: None,
        tooltip: format!("{name}, {x}: {y:.2}"),
    }
}

const GOODPUT: &str = "Goodput (kb/s)";
const DELAY: &str = "Longest delay before a retry of the link (ms)";

fn fig_3a(findings: &Findings<'_>) -> Figure {
    let at = |frames| At::paper(Varied::Mss, 1, frames);
    Chart::new(findings, &FRAMES)
        .measured(
            goodputs,
            &[
                ("uplink", 0, &at),
                ("downlink", 2, &|frames| at(frames).towards(Direction::Down)),
                ("ideal radio", 3, &|frames| at(frames).with(Setup::IdealRadio)),
                ("slow processor", 9, &|frames| at(frames).with(Setup::SlowProcessor)),
            ],
        )
        // "4-5x higher" than with one frame (table 1).
        .published("published", 1, &[(1, ONE_HOP_KBPS / 4.5), (5, ONE_HOP_KBPS)])
        .figure(
            ("fig-3a-segment-size", "Fig. 3a: goodput over the segment size"),
            ("Frames of a segment", GOODPUT),
            "One hop, buffers of four segments. In the paper goodput grows four to five times up to five frames, from which the hollow mark at \
             one frame follows, and is flat beyond.",
        )
}

fn fig_3b(findings: &Findings<'_>) -> Figure {
    let at = |segments| At::paper(Varied::Buffer, 1, segments);
    let down = |segments| at(segments).towards(Direction::Down);
    Chart::new(findings, &SEGMENTS)
        .measured(
            goodputs,
            &[
                ("uplink", 0, &at),
                ("downlink", 2, &down),
                ("up, ideal radio", 3, &|segments| at(segments).with(Setup::IdealRadio)),
                ("up, slow processor", 9, &|segments| {
                    at(segments).with(Setup::SlowProcessor)
                }),
                ("down, slow", 7, &|segments| down(segments).with(Setup::SlowProcessor)),
            ],
        )
        .published("published", 1, &[(4, ONE_HOP_KBPS)])
        .figure(
            ("fig-3b-buffers", "Fig. 3b: goodput over the buffers"),
            ("Segments of the buffer", GOODPUT),
            "One hop, segments of five frames; the send buffer uplink, the receive buffer downlink. In the paper it levels off at three to \
             four segments, and downlink is faster with one, as a full receive buffer is acknowledged at once.",
        )
}

fn fig_5a(findings: &Findings<'_>) -> Figure {
    let at = |delay| At::paper(Varied::Delay, 1, delay);
    let bound = bound_kbps(findings);
    Chart::new(findings, &DELAYS_MS)
        .measured(
            goodputs,
            &[
                ("1 hop", 0, &at),
                ("ideal radio", 3, &|delay| at(delay).with(Setup::IdealRadio)),
            ],
        )
        .modelled("equation 1", 0, |delay| Some(modelled(findings, at(delay))?[0]))
        .modelled("bound", 9, |_| bound)
        .published("published", 1, &[(0, ONE_HOP_KBPS), (40, 64.1)])
        .figure(
            ("fig-5a-one-hop", "Fig. 5a: goodput of one hop over the delay of retries"),
            (DELAY, GOODPUT),
            "Up to the delay passes, at random, before a retry. Dots: equation 1 with our round-trip times and losses, and the bound of \
             section 6.3 for our headers.",
        )
}

fn fig_5b(findings: &Findings<'_>) -> Figure {
    let at = |delay| At::paper(Varied::Delay, 3, delay);
    let bound = bound_kbps(findings).map(|bound| chain_bound(bound, 3));
    Chart::new(findings, &DELAYS_MS)
        .measured(
            goodputs,
            &[
                ("3 hops", 0, &at),
                ("ideal radio", 3, &|delay| at(delay).with(Setup::IdealRadio)),
            ],
        )
        .modelled("equation 1", 0, |delay| Some(modelled(findings, at(delay))?[0]))
        .modelled("bound B/3", 9, |_| bound)
        // 19.5 at 40 ms; "the same goodput" at 5 ms, "almost the same" at 0 and 30 ms.
        .published(
            "published",
            1,
            &[(0, 19.5), (5, 19.5), (30, 19.5), (40, 19.5)],
        )
        .figure(
            ("fig-5b-three-hops", "Fig. 5b: goodput of three hops over the delay of retries"),
            (DELAY, GOODPUT),
            "The paper gives 19.5 kb/s at 40 ms, and says that it was the same at 5 ms and almost the same at 0 and 30 ms.",
        )
}

fn fig_5b_loss(findings: &Findings<'_>) -> Figure {
    let at = |delay| At::paper(Varied::Delay, 3, delay);
    Chart::new(findings, &DELAYS_MS)
        .measured(
            |findings, at| losses(findings, at).iter().map(|share| share * 100.0).collect(),
            &[
                ("3 hops", 0, &at),
                ("1 hop", 2, &|delay| At::paper(Varied::Delay, 1, delay)),
                ("ideal radio", 3, &|delay| at(delay).with(Setup::IdealRadio)),
                ("standard link", 7, &|delay| at(delay).with(Setup::StandardLink)),
            ],
        )
        .published("published", 1, &[(0, 6.0), (30, 1.0)])
        .figure(
            (
                "fig-5b-segment-loss",
                "Fig. 5b: segments lost over the delay of retries",
            ),
            (DELAY, "Segments lost (%)"),
            "What retries of the link did not mask. The published value at 30 ms is below the mark of 1 %.",
        )
}

fn fig_5c(findings: &Findings<'_>) -> Figure {
    Chart::new(findings, &DELAYS_MS)
        .measured(
            round_trips,
            &[
                ("1 hop", 0, &|delay| At::paper(Varied::Delay, 1, delay)),
                ("3 hops", 2, &|delay| At::paper(Varied::Delay, 3, delay)),
                ("3, ideal radio", 3, &|delay| {
                    At::paper(Varied::Delay, 3, delay).with(Setup::IdealRadio)
                }),
            ],
        )
        .figure(
            ("fig-5c-round-trip", "Fig. 5c: round-trip time over the delay of retries"),
            (DELAY, "Round-trip time (ms)"),
            "As the sender smooths it, mean over time. The text of the paper gives no value of this figure: only that too large a delay \
             raises it, and that it is about three times as long over three hops.",
        )
}

fn fig_5d(findings: &Findings<'_>) -> Figure {
    fn frames(findings: &Findings<'_>, at: At) -> Vec<f64> {
        let labels = at.labels();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let Some(point) = findings.at(&labels) else {
            return Vec::new();
        };
        let of = point.runs.iter().zip(&point.transfers).map(|(run, transfers)| {
            let bytes: u64 = transfers.iter().map(|transfer| transfer.bytes).sum();
            run.link_transmissions as f64 * 1_000.0 / bytes.max(1) as f64
        });
        of.collect()
    }
    Chart::new(findings, &DELAYS_MS)
        .measured(
            frames,
            &[
                ("1 hop", 0, &|delay| At::paper(Varied::Delay, 1, delay)),
                ("3 hops", 2, &|delay| At::paper(Varied::Delay, 3, delay)),
            ],
        )
        .figure(
            ("fig-5d-frames", "Fig. 5d: frames on the air over the delay of retries"),
            (DELAY, "Frames for each 1000 bytes delivered"),
            "Retries and acknowledgements of TCP included. The paper draws the frames of a whole transfer, and its text gives no value.",
        )
}

fn section_7_2(findings: &Findings<'_>) -> Figure {
    const HOPS: [u16; 4] = [1, 2, 3, 4];
    let at = |hops| At::paper(Varied::Delay, hops, 40);
    let bound = bound_kbps(findings);
    Chart::new(findings, &HOPS)
        .measured(
            goodputs,
            &[
                ("uplink", 0, &at),
                ("downlink", 2, &|hops| at(hops).towards(Direction::Down)),
                ("ideal radio", 3, &|hops| at(hops).with(Setup::IdealRadio)),
                ("standard link", 7, &|hops| at(hops).with(Setup::StandardLink)),
                ("slow processor", 9, &|hops| at(hops).with(Setup::SlowProcessor)),
            ],
        )
        .modelled("bound", 9, |hops| Some(chain_bound(bound?, hops)))
        .published("published", 1, &PUBLISHED_KBPS)
        .figure(
            ("section-7-2-hops", "Section 7.2: goodput over the hops"),
            ("Hops", GOODPUT),
            "With up to 40 ms before a retry. Dots: B, B/2, B/3, B/3.",
        )
}

fn fig_6b(findings: &Findings<'_>) -> Figure {
    let at = |delay| At::paper(Varied::Delay, 3, delay);
    Chart::new(findings, &DELAYS_MS)
        .measured(fast_retransmits, &[("fast", 0, &at)])
        .measured(time_outs, &[("time-outs", 5, &at)])
        .figure(
            ("fig-6b-recoveries", "Fig. 6b: how losses were found"),
            (DELAY, "Recoveries in 100 s"),
            "Three hops: fast retransmissions and time-outs. The paper's text gives no values: the former become rarer with the delay, \
             the latter do not.",
        )
}

/// The congestion window over time, as far as the send buffer lets it count.
fn fig_6a(findings: &Findings<'_>) -> Figure {
    let streams = &findings.watched().streams;
    let shown = WATCHED.iter().filter(|at| at.hops == 3);
    let panel = |at: &At| {
        let labels = at.labels();
        let stream = streams.iter().find(|stream| stream.labels == labels);
        stream.map(|stream| panel(stream, at.value)).unwrap_or_default()
    };
    let panels = CongestionPanels {
        title: "Congestion windows over three hops".to_owned(),
        panels: shown.map(panel).collect(),
        cap_bytes: u32::from(4 * segment_bytes(5)),
        cap_name: "send buffer".to_owned(),
        from_s: 10.0,
        until_s: 110.0,
    };
    Figure {
        name: "fig-6a-congestion-window",
        title: "Fig. 6a: the congestion window over three hops".to_owned(),
        caption: "100 s of a run, the window cut at the send buffer as in the paper, whose curve is a picture: at d = 0 nearly always full, \
                  all losses but one found by fast retransmission. Fast retransmissions there set the window to one segment for a while, \
                  an artefact of FreeBSD that is not ours, and what turned out to be no loss was taken out; here it is marked."
            .to_owned(),
        wide: true,
        svg: panels.draw(),
    }
}

fn panel(stream: &Stream, delay_ms: u16) -> CongestionPanel {
    let event = |told: &str| match told {
        "lost" => Some(Event::FastRetransmit),
        "timed-out" => Some(Event::TimeOut),
        "undone" => Some(Event::Undone),
        _ => None,
    };
    let windows = || stream.windows.iter();
    CongestionPanel {
        title: format!("d = {delay_ms} ms, congestion window (bytes)"),
        windows: windows().map(|row| (row.at_s, row.window_bytes)).collect(),
        events: windows()
            .filter_map(|row| Some((row.at_s, event(&row.told)?)))
            .collect(),
    }
}
