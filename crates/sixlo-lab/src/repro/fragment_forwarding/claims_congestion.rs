//! Claim F9: congestion control for selective fragment recovery, four kinds.

use sixlo::congure::{Kind, Params};
use sixlo_sim::config::Control;

use super::section_v::{COURSES, F_B, LOAD, NO_ECN, PAYLOADS};
use super::view::shown;
use crate::campaign::PointResult;
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{self, Verdict, about_equal, above, not_above};
use crate::results::Run;
use crate::stats::mean;

/// The four of the paper.
pub(super) const FOUR: [Control; 4] = [Control::Rfc8931, Control::Reno, Control::Abe, Control::Quic];

/// The runs of set-up F-B in one of its variants.
#[derive(Clone, Copy)]
pub(super) struct Course<'f> {
    findings: &'f Findings<'f>,
    name: &'static str,
}

impl<'f> Course<'f> {
    pub(super) const fn new(findings: &'f Findings<'f>, name: &'static str) -> Self {
        Self { findings, name }
    }

    pub(super) fn at(&self, control: Control, payload: u16) -> Option<&'f PointResult> {
        self.findings
            .at(&[F_B, self.name, control.name(), &payload.to_string()])
    }

    /// What each run of a control found at a payload.
    pub(super) fn values(&self, control: Control, payload: u16, value: fn(&Run) -> Option<f64>) -> Vec<f64> {
        let runs = self.at(control, payload).map(|point| point.runs.as_slice());
        runs.unwrap_or_default().iter().filter_map(value).collect()
    }

    pub(super) fn pdr(&self, control: Control, payload: u16) -> Vec<f64> {
        self.values(control, payload, |run| run.pdr)
    }

    /// The payloads that were run, with the number of their fragments.
    pub(super) fn payloads(&self) -> Vec<(usize, u16)> {
        let all = PAYLOADS.into_iter().enumerate();
        let run = all.filter(|(_, payload)| !self.pdr(Control::Quic, *payload).is_empty());
        run.map(|(number, payload)| (number + 2, payload)).collect()
    }

    /// The mean delivery of each seed over some counts of fragments.
    fn over(&self, control: Control, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let payloads = self.payloads().into_iter();
        let wanted = payloads.filter(|(count, _)| wanted(*count));
        let all: Vec<Vec<f64>> = wanted.map(|(_, payload)| self.pdr(control, payload)).collect();
        let runs = all.iter().map(Vec::len).min().unwrap_or(0);
        let of_seed = |seed: usize| mean(&all.iter().map(|values| values[seed]).collect::<Vec<f64>>());
        (0..runs).filter_map(of_seed).collect()
    }

    /// The same over all counts.
    fn whole(&self, control: Control) -> Vec<f64> {
        self.over(control, |_| true)
    }
}

fn each(controls: &[Control], values: impl Fn(Control) -> Vec<f64>) -> String {
    let one = |control: &Control| format!("{} {}", control.name(), shown(&values(*control), 100.0));
    format!("{} %", controls.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// A part, decided at the load and with the gap of the paper; the measured text names the other variants in which it holds.
fn part(
    findings: &Findings<'_>,
    name: &str,
    published: &str,
    check: impl Fn(&Course<'_>) -> (Verdict, String),
) -> Part {
    let (verdict, mut measured) = check(&Course::new(findings, LOAD));
    let others = COURSES.iter().map(|course| course.name);
    let holds: Vec<&str> = others
        .filter(|name| *name != LOAD && check(&Course::new(findings, name)).0 == Verdict::Reproduced)
        .collect();
    if !holds.is_empty() {
        measured.push_str(&format!("; {}holds: {}", also(verdict), holds.join(", ")));
    }
    Part {
        name: name.to_owned(),
        published: published.to_owned(),
        measured,
        verdict,
    }
}

const fn also(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "also ",
        _ => "",
    }
}

/// The payloads with 2, 3 and 6 fragments.
const TWO: u16 = 112;
const THREE: u16 = 208;
const SIX: u16 = 496;

/// The claim.
pub(super) fn claim(findings: &Findings<'_>) -> Claim {
    let others = [Control::Rfc8931, Control::Reno, Control::Abe];
    let tcp = [Control::Reno, Control::Abe];
    let windows = [Kind::Reno, Kind::Abe].map(|kind| Params::fragments(kind).initial_window);
    let mut parts = vec![
        part(
            findings,
            "2 fragments",
            "about 2 % PDR for all (here: 1 to 4 %)",
            |course| {
                let verdicts = FOUR.map(|control| match mean(&course.pdr(control, TWO)) {
                    Some(share) => Verdict::exact((0.01..=0.04).contains(&share)),
                    None => Verdict::NotMeasured,
                });
                (
                    verdict::all(verdicts),
                    each(&FOUR, |control| course.pdr(control, TWO)),
                )
            },
        ),
        part(
            findings,
            "QUIC",
            "paced QUIC the best (here: mean over all counts)",
            |course| {
                let quic = course.whole(Control::Quic);
                let verdict = verdict::all(others.map(|other| above(&quic, &course.whole(other))));
                (verdict, each(&FOUR, |control| course.whole(control)))
            },
        ),
        part(
            findings,
            "appendix C at few fragments",
            "ahead of both TCP kinds (here: 3 fragments)",
            |course| {
                let own = course.pdr(Control::Rfc8931, THREE);
                let verdict = verdict::all(tcp.map(|other| above(&own, &course.pdr(other, THREE))));
                (verdict, each(&others, |control| course.pdr(control, THREE)))
            },
        ),
        part(
            findings,
            "appendix C at 6 fragments",
            "comparable to the TCP kinds or below",
            |course| {
                let own = course.pdr(Control::Rfc8931, SIX);
                let verdict = verdict::all(tcp.map(|other| not_above(&own, &course.pdr(other, SIX))));
                (verdict, each(&others, |control| course.pdr(control, SIX)))
            },
        ),
    ];
    parts.extend(shapes(findings));
    parts.push(Part {
        name: "first window".to_owned(),
        published: "4 with Reno and ABE".to_owned(),
        measured: format!("{} and {}", windows[0], windows[1]),
        verdict: Verdict::exact(windows == [4, 4]),
    });
    parts.push(marks(findings));
    Claim {
        id: "F9",
        title: "Congestion control for SFR, four kinds",
        parts,
    }
}

fn shapes(findings: &Findings<'_>) -> [Part; 2] {
    [
        part(
            findings,
            "saw-tooth",
            "with appendix C odd counts of fragments beat even ones (here: the means of both)",
            |course| {
                let odd = course.over(Control::Rfc8931, |count| count % 2 == 1);
                let even = course.over(Control::Rfc8931, |count| count % 2 == 0);
                let measured = format!("odd {}, even {} %", shown(&odd, 100.0), shown(&even, 100.0));
                (above(&odd, &even), measured)
            },
        ),
        part(findings, "Reno and ABE", "about equal", |course| {
            let tcp = [Control::Reno, Control::Abe];
            let [reno, abe] = tcp.map(|control| course.whole(control));
            (
                about_equal(&reno, &abe),
                each(&tcp, |control| course.whole(control)),
            )
        }),
    ]
}

/// With and without marks by the nodes on the way.
fn marks(findings: &Findings<'_>) -> Part {
    let [with, without] = [LOAD, NO_ECN].map(|name| Course::new(findings, name));
    let verdicts = FOUR.map(|control| about_equal(&with.whole(control), &without.whole(control)));
    Part {
        name: "ECN".to_owned(),
        published: "of little effect (here: mean over all counts with and without, not told apart)"
            .to_owned(),
        measured: format!(
            "with {}; without {}",
            each(&FOUR, |control| with.whole(control)),
            each(&FOUR, |control| without.whole(control))
        ),
        verdict: verdict::all(verdicts),
    }
}
