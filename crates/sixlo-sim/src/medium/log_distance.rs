//! Log-distance path loss with shadowing, SINR over the segments of a frame, and capture.

use std::cell::RefCell;

use super::oqpsk::Survival;
use super::{Lists, Loss, Signal, Transmission, bits, check};
use crate::air::{Air, Ear, Span};
use crate::config::{self, Problem};
use crate::phy;
use crate::rng::{Chance, Purpose, Rng};
use crate::time::Time;
use crate::topology::Network;

/// What is this much weaker than the noise is neither sensed nor counted as interference, in dB.
const NEGLIGIBLE_DB: f64 = 10.0;

/// A receiver is asked about frames whose mean strength is below its sensitivity by at most so many standard deviations
/// of the fading.
const FADING_REACH: f64 = 4.0;

/// The longest time on the air: 127 bytes.
const FRAME_MAX: Time = phy::airtime(127);

/// Quantiles of the fading that are tabulated.
const FADES: usize = 1_024;

#[derive(Clone, Copy, Debug)]
struct Heard {
    from: u16,
    /// Mean strength in mW.
    power: f64,
}

#[derive(Debug)]
pub(super) struct LogDistance {
    /// Whom a node hears, and how strongly.
    heard: Lists<Heard>,
    receivers: Lists<u16>,
    survival: Survival,
    /// Factors of the strength, all equally likely.
    fades: Vec<f64>,
    noise: f64,
    sensitivity: f64,
    cca_threshold: f64,
    lock_sinr: f64,
    capture: Option<f64>,
    link_success_min: f64,
    /// The signals at the receiver that is being asked about: kept, so that nothing is allocated for a frame.
    scratch: RefCell<Vec<At>>,
}

fn mw(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

fn dbm(mw: f64) -> f64 {
    10.0 * libm::log10(mw)
}

/// One signal at a receiver.
#[derive(Clone, Copy, Debug)]
struct At {
    span: Span,
    power: f64,
    wanted: bool,
}

impl LogDistance {
    pub(super) fn new(log: &config::LogDistance, network: &Network, seed: u64) -> Result<Self, Problem> {
        let key = |name: &str| format!("log-distance.{name}");
        check(&key("tx_power_dbm"), log.tx_power_dbm, -60.0..=40.0, " dBm")?;
        check(&key("loss_1m_db"), log.loss_1m_db, 0.0..=120.0, " dB")?;
        check(&key("exponent"), log.exponent, 0.5..=10.0, "")?;
        check(&key("floor_loss_db"), log.floor_loss_db, 0.0..=100.0, " dB")?;
        check(&key("shadowing_db"), log.shadowing_db, 0.0..=30.0, " dB")?;
        check(&key("asymmetry_db"), log.asymmetry_db, 0.0..=30.0, " dB")?;
        check(&key("fading_db"), log.fading_db, 0.0..=30.0, " dB")?;
        check(&key("noise_dbm"), log.noise_dbm, -130.0..=0.0, " dBm")?;
        check(&key("sensitivity_dbm"), log.sensitivity_dbm, -130.0..=0.0, " dBm")?;
        check(
            &key("cca_threshold_dbm"),
            log.cca_threshold_dbm,
            -130.0..=0.0,
            " dBm",
        )?;
        check(&key("lock_sinr_db"), log.lock_sinr_db, -30.0..=30.0, " dB")?;
        check(
            &key("capture_db"),
            log.capture_db.unwrap_or(0.0),
            0.0..=60.0,
            " dB",
        )?;
        check(&key("link_success_min"), log.link_success_min, 0.0001..=1.0, "")?;

        let strength = strengths(log, network, seed);
        let least = log.noise_dbm - NEGLIGIBLE_DB;
        let reach = (log.sensitivity_dbm - FADING_REACH * log.fading_db).max(least);
        let count = network.nodes.len();
        let strength = &strength;
        Ok(Self {
            heard: Lists::new((0..count).map(|to| {
                let of = |from: usize| Heard {
                    from: from as u16,
                    power: mw(strength[from][to]),
                };
                (0..count)
                    .filter(|&from| from != to && strength[from][to] >= least)
                    .map(of)
                    .collect()
            })),
            receivers: Lists::new((0..count).map(|from| {
                (0..count)
                    .filter(|&to| from != to && strength[from][to] >= reach)
                    .map(|to| to as u16)
                    .collect()
            })),
            survival: Survival::new(),
            fades: fades(log.fading_db),
            noise: mw(log.noise_dbm),
            sensitivity: mw(log.sensitivity_dbm),
            cca_threshold: mw(log.cca_threshold_dbm),
            lock_sinr: mw(log.lock_sinr_db),
            capture: log.capture_db.map(mw),
            link_success_min: log.link_success_min,
            scratch: RefCell::new(Vec::new()),
        })
    }

    /// Energy detection (IEEE 802.15.4-2020, 10.2.8, mode 1): the mean energy over the assessment.
    pub(super) fn busy(&self, air: &Air, node: u16, span: &Span) -> bool {
        let length = span.until.since(span.from).as_ns() as f64;
        let mut energy = 0.0;
        for heard in self.heard.of(node) {
            for sent in air.sent(heard.from, *span) {
                energy += heard.power * (sent.common(span).as_ns() as f64 / length);
            }
        }
        energy >= self.cca_threshold
    }

    pub(super) fn receivers(&self, sender: u16) -> &[u16] {
        self.receivers.of(sender)
    }

    pub(super) const fn link_success_min(&self) -> f64 {
        self.link_success_min
    }

    fn power(&self, from: u16, to: u16) -> Option<f64> {
        self.heard
            .of(to)
            .iter()
            .find(|heard| heard.from == from)
            .map(|heard| heard.power)
    }

    pub(super) fn receive(
        &self,
        air: &Air,
        ear: &Ear,
        sent: &Transmission,
        at: u16,
        luck: u64,
    ) -> Result<Signal, Loss> {
        let Some(mean) = self.power(sent.sender, at) else {
            return Err(Loss::Weak);
        };
        let power = mean * self.fades[luck as usize % FADES];
        if power < self.sensitivity || power < self.noise * self.lock_sinr {
            return Err(Loss::Weak);
        }
        // What was on the air when a frame began that may have kept the receiver from this one.
        let from = sent.span.from - FRAME_MAX;
        let window = Span {
            from,
            until: sent.span.until,
        };
        let mut signals = self.scratch.borrow_mut();
        signals.clear();
        signals.push(At {
            span: sent.span,
            power,
            wanted: true,
        });
        for heard in self.heard.of(at) {
            let of_sender = heard.from == sent.sender;
            let spans = air
                .sent(heard.from, window)
                .filter(|span| !(of_sender && *span == sent.span));
            signals.extend(spans.map(|span| At {
                span,
                power: heard.power,
                wanted: false,
            }));
        }
        if signals.len() > 1 {
            signals.sort_by_key(|signal| (signal.span.from, !signal.wanted));
            if !self.locked(ear, &signals) {
                return Err(Loss::Collision);
            }
        }
        let (survives, disturbed) = self.survives(&signals, sent.span, power);
        drop(signals);
        // The lower bits of the luck chose the fading.
        if Chance::new(survives).strikes(luck.rotate_left(32)) {
            let snr_db = dbm(power / self.noise);
            Ok(Signal {
                rssi_dbm: dbm(power).clamp(-127.0, 20.0) as i8,
                lqi: (snr_db * 16.0).clamp(0.0, 255.0) as u8,
            })
        } else {
            Err(if disturbed {
                Loss::Collision
            } else {
                Loss::FrameError
            })
        }
    }

    /// Whether the receiver was locked on the wanted one of `signals`, sorted by their beginning, to its end.
    fn locked(&self, ear: &Ear, signals: &[At]) -> bool {
        let mut lock: Option<&At> = None;
        for (i, signal) in signals.iter().enumerate() {
            let start = signal.span.from;
            let first_instant = Span {
                from: start,
                until: start + Time::ns(1),
            };
            if ear.missed(&first_instant).is_some() {
                continue;
            }
            if let Some(held) = lock.filter(|held| held.span.until > start) {
                let in_preamble = start < held.span.from + phy::SHR;
                if in_preamble
                    && self
                        .capture
                        .is_some_and(|capture| signal.power >= held.power * capture)
                {
                    lock = Some(signal);
                }
                continue;
            }
            let others: f64 = signals[..i]
                .iter()
                .filter(|other| other.span.until > start)
                .map(|other| other.power)
                .sum();
            let sinr = signal.power / (self.noise + others);
            if signal.power >= self.sensitivity && sinr >= self.lock_sinr {
                lock = Some(signal);
            }
        }
        // All of them begin before the wanted one ends: who holds the lock now holds it then.
        lock.is_some_and(|held| held.wanted)
    }

    /// The probability that header and payload survive, and whether anything else was on the air meanwhile.
    fn survives(&self, signals: &[At], span: Span, power: f64) -> (f64, bool) {
        let body = Span {
            from: span.from + phy::SHR,
            until: span.until,
        };
        let others = || {
            signals
                .iter()
                .filter(|other| !other.wanted && other.span.overlaps(&body))
        };
        let mut ln = 0.0;
        let mut from = body.from;
        let mut disturbed = false;
        while from < body.until {
            let mut until = body.until;
            let mut noise = self.noise;
            for other in others() {
                if other.span.from > from {
                    until = until.min(other.span.from);
                } else if other.span.until > from {
                    until = until.min(other.span.until);
                    noise += other.power;
                    disturbed = true;
                }
            }
            ln += bits(until.since(from)) * self.survival.ln(power / noise);
            from = until;
        }
        (libm::exp(ln), disturbed)
    }

    pub(super) fn delivery_ratio(&self, from: u16, to: u16) -> f64 {
        let Some(mean) = self.power(from, to) else {
            return 0.0;
        };
        let body = bits(FRAME_MAX - phy::SHR);
        let of_fade = |fade: &f64| {
            let power = mean * fade;
            if power < self.sensitivity || power < self.noise * self.lock_sinr {
                0.0
            } else {
                libm::exp(body * self.survival.ln(power / self.noise))
            }
        };
        self.fades.iter().map(of_fade).sum::<f64>() / self.fades.len() as f64
    }
}

/// Mean strengths in dBm, by sender and receiver.
fn strengths(log: &config::LogDistance, network: &Network, seed: u64) -> Vec<Vec<f64>> {
    let count = network.nodes.len();
    let mut rng = Rng::new(seed, Purpose::Shadowing, 0);
    let mut strength = vec![vec![f64::NEG_INFINITY; count]; count];
    for a in network.indices() {
        for b in a + 1..count as u16 {
            let level = |node: u16| network.nodes[usize::from(node)].at_m[2];
            let floor = if (level(a) - level(b)).abs() > 0.5 {
                log.floor_loss_db
            } else {
                0.0
            };
            let distance = network.distance_m(a, b).max(0.1);
            let loss = log.loss_1m_db + 10.0 * log.exponent * libm::log10(distance) + floor;
            let mean = log.tx_power_dbm - loss + log.shadowing_db * rng.normal();
            let half = log.asymmetry_db * rng.normal() / 2.0;
            strength[usize::from(a)][usize::from(b)] = mean + half;
            strength[usize::from(b)][usize::from(a)] = mean - half;
        }
    }
    strength
}

/// Factors by which fading changes the strength: equally likely quantiles of a normal distribution in dB.
fn fades(deviation_db: f64) -> Vec<f64> {
    let probability = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let quantile = |p: f64| {
        let (mut low, mut high) = (-8.0, 8.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if probability(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    (0..FADES)
        .map(|i| mw(deviation_db * quantile((i as f64 + 0.5) / FADES as f64)))
        .collect()
}
