//! Claims F4 to F8: the strategies on 50 nodes.

use super::setups::{E2E, FEW, FF, FF_RFC, HWR, MANY, SFR_1, SFR_5, SFR_8, SOME};
use super::view::{View, alike, below_limit, part, shown, times};
use crate::repro::Findings;
use crate::repro::ledger::{Claim, Part};
use crate::repro::verdict::{self, Verdict, above, below, not_above};

/// The packet buffer of a node in bytes: Fig. 12 shows its use in per cent.
const BUFFER_BYTES: f64 = 6_144.0;

/// All of them.
pub(super) fn all(findings: &Findings<'_>) -> Vec<Claim> {
    vec![
        buffer(findings),
        delivery(findings),
        latency(findings),
        retransmissions(findings),
        fallback(findings),
    ]
}

/// What variants have at payloads, for the ledger: `at 512 bytes HWR 12.3 (11.0 to 13.6), FF 4.56 (4.00 to 5.12)`.
fn told(
    payloads: &[u16],
    variants: &[&str],
    unit: &str,
    scale: f64,
    values: impl Fn(&str, u16) -> Vec<f64>,
) -> String {
    let at = |payload: &u16| {
        let each: Vec<String> = variants
            .iter()
            .map(|variant| format!("{variant} {}", shown(&values(variant, *payload), scale)))
            .collect();
        format!("at {payload} bytes {} {unit}", each.join(", "))
    };
    payloads.iter().map(at).collect::<Vec<_>>().join("; ")
}

/// One verdict over several payloads.
fn over(payloads: &[u16], verdict: impl Fn(u16) -> Verdict) -> Verdict {
    verdict::all(payloads.iter().map(|payload| verdict(*payload)))
}

fn buffer(findings: &Findings<'_>) -> Claim {
    let text = |view: &View<'_>, variants: &[&str]| {
        told(
            &[SOME, MANY],
            variants,
            "%",
            100.0 / BUFFER_BYTES,
            |variant, payload| view.buffer(variant, payload),
        )
    };
    let parts = vec![
        part(findings, "SFR", "SFR (window 1) lowest of all", |view| {
            let verdict = over(&[SOME, MANY], |payload| {
                let others = [HWR, FF, E2E];
                verdict::all(
                    others.map(|other| below(&view.buffer(SFR_1, payload), &view.buffer(other, payload))),
                )
            });
            (verdict, text(view, &[SFR_1, HWR, FF, E2E]))
        }),
        part(findings, "E2E", "E2E below FF and HWR", |view| {
            let verdict = over(&[SOME, MANY], |payload| {
                verdict::all(
                    [HWR, FF].map(|other| below(&view.buffer(E2E, payload), &view.buffer(other, payload))),
                )
            });
            (verdict, text(view, &[E2E, HWR, FF]))
        }),
        part(findings, "FF", "FF about 1 % below HWR", |view| {
            let verdict = over(&[SOME, MANY], |payload| {
                not_above(&view.buffer(FF, payload), &view.buffer(HWR, payload))
            });
            (verdict, text(view, &[FF, HWR]))
        }),
        part(
            findings,
            "fall-backs",
            "FF's use is high because of its fall-backs",
            |view| {
                let verdict = over(&[SOME, MANY], |payload| {
                    above(&view.buffer(FF, payload), &view.buffer(FF_RFC, payload))
                });
                (
                    verdict,
                    format!("{}, fall-backs {}", text(view, &[FF, FF_RFC]), counted(view, FF)),
                )
            },
        ),
    ];
    Claim {
        id: "F4",
        title: "Mean use of the packet buffer",
        parts,
    }
}

/// Fall-backs in all runs at the payloads that decide.
fn counted(view: &View<'_>, variant: &str) -> String {
    let at = |payload: u16| match view.fallbacks(variant, payload) {
        Some(count) => format!("{count} at {payload} bytes"),
        None => "not run".to_owned(),
    };
    [FEW, SOME, MANY].map(at).join(", ")
}

/// The payloads at which claims are decided.
const ALL: [u16; 3] = [FEW, SOME, MANY];

fn pdr_told(view: &View<'_>, payloads: &[u16], variants: &[&str]) -> String {
    told(payloads, variants, "%", 100.0, |variant, payload| {
        view.pdr(variant, payload)
    })
}

fn delivery(findings: &Findings<'_>) -> Claim {
    let mut parts = vec![
        quarter(findings, FF),
        quarter(findings, E2E),
        zero(findings, FF),
        zero(findings, E2E),
    ];
    parts.extend(delivery_with_recovery(findings));
    parts.push(distant_nodes(findings));
    Claim {
        id: "F5",
        title: "Packet delivery ratio",
        parts,
    }
}

fn quarter(findings: &Findings<'_>, variant: &'static str) -> Part {
    let published = format!("{variant} below a quarter of HWR already at few fragments");
    part(findings, &format!("{variant} and HWR"), &published, |view| {
        let verdict = over(&ALL, |payload| {
            below(&times(&view.pdr(variant, payload), 4.0), &view.pdr(HWR, payload))
        });
        (verdict, pdr_told(view, &ALL, &[variant, HWR]))
    })
}

fn zero(findings: &Findings<'_>, variant: &'static str) -> Part {
    let name = format!("{variant} at many fragments");
    let published = format!("{variant} towards 0 with more fragments (here: below 5 %)");
    part(findings, &name, &published, |view| {
        let verdict = below_limit(&view.pdr(variant, MANY), 0.05);
        (verdict, pdr_told(view, &[MANY], &[variant]))
    })
}

fn delivery_with_recovery(findings: &Findings<'_>) -> [Part; 3] {
    let alike_published = "SFR (window 1) comparable to HWR (here: within 10 points)";
    let better_published = "SFR (window 1) 1 to 2 % above HWR at long payloads";
    let windows_published = "windows above 6 collapse (here: window 8 below half of window 5)";
    [
        part(findings, "SFR and HWR", alike_published, |view| {
            let verdict = over(&ALL, |payload| {
                alike(&view.pdr(SFR_1, payload), &view.pdr(HWR, payload), 0.1)
            });
            (verdict, pdr_told(view, &ALL, &[SFR_1, HWR]))
        }),
        part(findings, "SFR at many fragments", better_published, |view| {
            let verdict = above(&view.pdr(SFR_1, MANY), &view.pdr(HWR, MANY));
            (verdict, pdr_told(view, &[MANY], &[SFR_1, HWR]))
        }),
        part(findings, "large windows", windows_published, |view| {
            let verdict = over(&[SOME, MANY], |payload| {
                below(&times(&view.pdr(SFR_8, payload), 2.0), &view.pdr(SFR_5, payload))
            });
            (verdict, pdr_told(view, &[SOME, MANY], &[SFR_8, SFR_5]))
        }),
    ]
}

fn distant_nodes(findings: &Findings<'_>) -> Part {
    let published = "HWR still delivers some from distant nodes (here: 5 and 6 hops)";
    part(findings, "distant nodes", published, |view| {
        let counts = ALL.map(|payload| view.delivered_from(HWR, payload, 5));
        let verdicts =
            counts.map(|count| count.map_or(Verdict::NotMeasured, |count| Verdict::exact(count > 0)));
        let text = ALL.iter().zip(counts).map(|(payload, count)| {
            let count = count.map_or("not run".to_owned(), |count| count.to_string());
            format!("{count} at {payload} bytes")
        });
        let text = text.collect::<Vec<_>>().join(", ");
        (verdict::all(verdicts), format!("{text}, datagrams in all runs"))
    })
}

fn latency(findings: &Findings<'_>) -> Claim {
    let text = |view: &View<'_>, variants: &[&str]| {
        told(&[FEW, SOME], variants, "ms", 1.0, |variant, payload| {
            view.latency(variant, payload)
        })
    };
    let parts = vec![
        part(findings, "SFR", "SFR (window 1) the highest", |view| {
            let verdict = over(&[FEW, SOME], |payload| {
                let others = [HWR, FF, E2E, SFR_5];
                verdict::all(
                    others.map(|other| above(&view.latency(SFR_1, payload), &view.latency(other, payload))),
                )
            });
            (verdict, text(view, &[SFR_1, SFR_5, HWR, FF, E2E]))
        }),
        part(findings, "windows", "window 1 well above window 5", |view| {
            let verdict = above(&view.latency(SFR_1, SOME), &view.latency(SFR_5, SOME));
            (verdict, text(view, &[SFR_1, SFR_5]))
        }),
        part(
            findings,
            "FF and HWR",
            "FF not faster than HWR on this MAC (here: over 2 hops, the least)",
            |view| {
                let verdict = over(&[FEW, SOME], |payload| {
                    not_above(
                        &view.latency_at(HWR, payload, 2),
                        &view.latency_at(FF, payload, 2),
                    )
                });
                let text = told(&[FEW, SOME], &[FF, HWR], "ms", 1.0, |variant, payload| {
                    view.latency_at(variant, payload, 2)
                });
                (verdict, text)
            },
        ),
    ];
    Claim {
        id: "F6",
        title: "Latency",
        parts,
    }
}

fn retransmissions(findings: &Findings<'_>) -> Claim {
    let more = |variant: &'static str| {
        let published = format!("{variant} above HWR");
        part(findings, variant, &published, move |view| {
            let verdict = over(&ALL, |payload| {
                above(
                    &view.retransmissions(variant, payload),
                    &view.retransmissions(HWR, payload),
                )
            });
            let text = told(&ALL, &[variant, HWR], "a node", 1.0, |variant, payload| {
                view.retransmissions(variant, payload)
            });
            (verdict, text)
        })
    };
    let mut parts: Vec<_> = [FF, E2E, SFR_1].map(more).into();
    parts.push(part(
        findings,
        "busy radio",
        "the radio is busy when the next fragment comes, more often than with HWR",
        |view| {
            let verdict = over(&ALL, |payload| {
                above(&view.busy(FF, payload), &view.busy(HWR, payload))
            });
            let share = |variant| {
                let share = view.busy_share(variant, SOME);
                share.map_or("-".to_owned(), |share| format!("{:.0}", share * 100.0))
            };
            let text = told(&ALL, &[FF, HWR], "frames a run", 1.0, |variant, payload| {
                view.busy(variant, payload)
            });
            let shares = format!(
                "; of all frames lost at {SOME} bytes a busy radio lost {} % with FF, {} % with HWR",
                share(FF),
                share(HWR)
            );
            (verdict, text + &shares)
        },
    ));
    Claim {
        id: "F7",
        title: "Link-layer retransmissions a node",
        parts,
    }
}

fn fallback(findings: &Findings<'_>) -> Claim {
    let counts = |name, published, variant, holds: fn(u64) -> bool| {
        part(findings, name, published, |view| {
            let counts = [FEW, SOME, MANY].map(|payload| view.fallbacks(variant, payload));
            let verdict =
                counts.map(|count| count.map_or(Verdict::NotMeasured, |count| Verdict::exact(holds(count))));
            (verdict::all(verdict), counted(view, variant))
        })
    };
    let parts = vec![
        counts(
            "FF falls back",
            "FF reassembles what it cannot forward: an option",
            FF,
            |count| count > 0,
        ),
        counts(
            "FF by RFC 8930 does not",
            "RFC 8930 section 5: such fragments are dropped",
            FF_RFC,
            |count| count == 0,
        ),
        counts(
            "SFR falls back",
            "a node whose VRB is full becomes the reassembling end",
            SFR_1,
            |count| count > 0,
        ),
    ];
    Claim {
        id: "F8",
        title: "Falling back to reassembly",
        parts,
    }
}
