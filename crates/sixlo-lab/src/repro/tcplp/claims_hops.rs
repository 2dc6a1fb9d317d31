//! Claims T6, T7 and T8: several hops.

use super::claims::{
    bar, claim, count, fast_retransmits, full_windows, goodputs, kbps, losses, mean_segment, part, percent,
    round_trips, runs, time_outs,
};
use super::claims_one_hop::bound_kbps;
use super::model;
use super::setups::{At, DELAYS_MS, Setup, Varied};
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{Verdict, above, all as worst, not_above};
use crate::stats::mean;

/// Published goodputs at 40 ms, in kb/s (section 7.2).
pub(super) const PUBLISHED_KBPS: [(u16, f64); 4] = [(1, 64.1), (2, 28.3), (3, 19.5), (4, 17.5)];

const fn at(hops: u16, delay_ms: u16) -> At {
    At::paper(Varied::Delay, hops, delay_ms)
}

pub(super) fn delays(findings: &Findings<'_>) -> Claim {
    let goodput = |at: At| goodputs(findings, at);
    let bound = bound_kbps(findings);
    let mut parts: Vec<Part> = PUBLISHED_KBPS
        .map(|(hops, published)| {
            let measured = goodput(at(hops, 40));
            let of_bound = bound.zip(mean(&measured)).map_or(String::new(), |(bound, mean)| {
                let bound = model::chain_bound(bound, hops);
                format!(", {:.0} % of the bound {bound:.1}", mean / bound * 100.0)
            });
            part(
                &format!("{hops} hops at 40 ms"),
                &format!("{published} kb/s; here no less"),
                format!(
                    "{}{of_bound}; {} with the standard link, {} with the ideal radio",
                    kbps(&measured),
                    kbps(&goodput(at(hops, 40).with(Setup::StandardLink))),
                    kbps(&goodput(at(hops, 40).with(Setup::IdealRadio)))
                ),
                above(&measured, &bar(&measured, published)),
            )
        })
        .to_vec();
    let loss = |delay| losses(findings, at(3, delay));
    let (zero, thirty) = (loss(0), loss(30));
    let standard = |delay| losses(findings, at(3, delay).with(Setup::StandardLink));
    let heard = |delay| losses(findings, at(3, delay).with(Setup::NothingHidden));
    parts.push(part(
        "segment loss over 3 hops",
        "6 % at 0 ms, below 1 % from 30 ms on",
        format!(
            "{} at 0 ms, {} at 30 ms; {} and {} with the standard link, {} and {} where no terminal is hidden",
            percent(&zero),
            percent(&thirty),
            percent(&standard(0)),
            percent(&standard(30)),
            percent(&heard(0)),
            percent(&heard(30))
        ),
        worst([above(&zero, &thirty), above(&bar(&thirty, 0.01), &thirty)]),
    ));
    let (zero, thirty) = (goodput(at(3, 0)), goodput(at(3, 30)));
    let none_hidden = |delay| goodput(at(3, delay).with(Setup::NothingHidden));
    parts.push(part(
        "goodput over 3 hops",
        "almost the same at 0 and 30 ms: within a tenth",
        format!(
            "{} and {}; {} and {} where no terminal is hidden",
            kbps(&zero),
            kbps(&thirty),
            kbps(&none_hidden(0)),
            kbps(&none_hidden(30))
        ),
        worst([
            not_above(&thirty, &super::claims::times(&zero, 1.1)),
            not_above(&zero, &super::claims::times(&thirty, 1.1)),
        ]),
    ));
    let (zero, hundred) = (goodput(at(1, 0)), goodput(at(1, 100)));
    parts.push(part(
        "one hop over the delay",
        "loses goodput as it grows",
        format!("{} at 0 ms, {} at 100 ms", kbps(&zero), kbps(&hundred)),
        above(&zero, &hundred),
    ));
    claim("T6", "A delay before each retry of the link", parts)
}

pub(super) fn windows(findings: &Findings<'_>) -> Claim {
    let full = |delay| full_windows(findings, at(3, delay));
    let fast = |delay| fast_retransmits(findings, at(3, delay));
    let late = |delay| time_outs(findings, at(3, delay));
    let parts = vec![
        part(
            "window over 3 hops at 0 ms",
            "almost always maxed out (capped at the send buffer)",
            format!(
                "{} of the time, {} at 40 ms; {} at 0 ms where no terminal is hidden",
                percent(&full(0)),
                percent(&full(40)),
                percent(&full_windows(findings, at(3, 0).with(Setup::NothingHidden)))
            ),
            above(&full(0), &bar(&full(0), 0.8)),
        ),
        part(
            "fast retransmissions over 3 hops",
            "fall with the delay",
            format!(
                "in 100 s {} at 0 ms, {} at 40 ms",
                count(&fast(0)),
                count(&fast(40))
            ),
            above(&fast(0), &fast(40)),
        ),
        part(
            "time-outs over 3 hops",
            "do not fall with the delay",
            format!(
                "in 100 s {} at 0 ms, {} at 40 ms",
                count(&late(0)),
                count(&late(40))
            ),
            not_above(&late(0), &late(40)),
        ),
    ];
    claim("T7", "The congestion window is nearly always full", parts)
}

/// What both models and the runs say of a point: our own, the law of the square root, the measured goodput, in kb/s.
pub(super) fn modelled(findings: &Findings<'_>, at: At) -> Option<[f64; 3]> {
    let mss = mean_segment(&runs(findings, at))?;
    let rtt_s = mean(&round_trips(findings, at))? / 1_000.0;
    let loss = mean(&losses(findings, at))?;
    let measured = mean(&goodputs(findings, at))?;
    Some([
        model::small_window(mss, rtt_s, 4.0, loss) / 1_000.0,
        model::square_root(mss, rtt_s, loss) / 1_000.0,
        measured,
    ])
}

pub(super) fn models(findings: &Findings<'_>) -> Claim {
    let parts = [1, 3].map(|hops| {
        let modelled: Vec<[f64; 3]> = DELAYS_MS
            .iter()
            .filter_map(|&delay| modelled(findings, at(hops, delay)))
            .collect();
        let error = |model: f64, measured: f64| (model - measured).abs() / measured;
        let ours: Vec<f64> = modelled.iter().map(|&[ours, _, is]| error(ours, is)).collect();
        let square = modelled.iter().map(|&[_, square, is]| error(square, is));
        let worse = ours
            .iter()
            .zip(square)
            .filter(|(ours, square)| *ours >= square)
            .count();
        let holds = mean(&ours).is_some_and(|error| error < 0.15) && worse == 0;
        part(
            &format!("{hops} hops"),
            "MSS/RTT / (1/w + 2p) predicts the goodput, the law of the square root does not",
            format!(
                "relative error {}, worse than the law of the square root at {worse} of {} delays",
                percent(&ours),
                ours.len()
            ),
            mean(&ours).map_or(Verdict::NotMeasured, |_| Verdict::exact(holds)),
        )
    });
    claim("T8", "A model of the goodput", parts.to_vec())
}
