//! Unit disc and link matrix: a node either senses another or it does not; what overlaps is lost.

use super::{Lists, Loss, Signal, Transmission, check};
use crate::air::{Air, Span};
use crate::config::{self, ErrorGrowth, Problem};
use crate::rng::Chance;
use crate::topology::Network;

#[derive(Clone, Copy, Debug)]
struct Link {
    success: Chance,
    rssi_dbm: i8,
}

#[derive(Debug)]
pub(super) struct Disc {
    /// Whom a node senses.
    senses: Lists<u16>,
    /// Who may receive what a node sends, in order, and beside it how well.
    receivers: Lists<u16>,
    links: Lists<(Link, f64)>,
    ack_errors: bool,
}

/// The largest distance a scenario may state.
const FAR_M: f64 = 1e6;

/// What the radio would report over a distance: 0 dBm sent, 40.2 dB lost at 1 m, 30 dB a decade.
fn nominal_rssi_dbm(distance_m: f64) -> i8 {
    let rssi = -40.2 - 30.0 * libm::log10(distance_m.max(0.1));
    rssi.clamp(-101.0, 0.0) as i8
}

impl Disc {
    pub(super) fn of_ranges(disc: &config::Disc, network: &Network) -> Result<Self, Problem> {
        check("disc.range_m", disc.range_m, 0.001..=FAR_M, " m")?;
        check(
            "disc.interference_range_m",
            disc.interference_range_m,
            disc.range_m..=FAR_M,
            " m",
        )?;
        check("disc.frame_error_rate", disc.frame_error_rate, 0.0..=1.0, "")?;
        let success = |distance: f64| {
            let errors = match disc.error_growth {
                ErrorGrowth::Constant => disc.frame_error_rate,
                ErrorGrowth::Quadratic => disc.frame_error_rate * (distance / disc.range_m).powi(2),
            };
            1.0 - errors
        };
        let others = |node: u16| network.indices().filter(move |&other| other != node);
        let senses =
            |node| others(node).filter(move |&o| network.distance_m(node, o) <= disc.interference_range_m);
        let hears = |node| others(node).filter(move |&o| network.distance_m(node, o) <= disc.range_m);
        Ok(Self {
            senses: Lists::new(network.indices().map(|node| senses(node).collect())),
            receivers: Lists::new(network.indices().map(|node| hears(node).collect())),
            links: Lists::new(network.indices().map(|node| {
                hears(node)
                    .map(|other| {
                        let distance = network.distance_m(node, other);
                        let ratio = success(distance);
                        let rssi_dbm = nominal_rssi_dbm(distance);
                        (
                            Link {
                                success: Chance::new(ratio),
                                rssi_dbm,
                            },
                            ratio,
                        )
                    })
                    .collect()
            })),
            ack_errors: disc.ack_errors,
        })
    }

    pub(super) fn of_links(matrix: &config::LinkMatrix, network: &Network) -> Result<Self, Problem> {
        let count = network.nodes.len();
        let mut ratio: Vec<Vec<Option<f64>>> = vec![vec![None; count]; count];
        for (i, link) in matrix.links.iter().enumerate() {
            for (key, number) in [("from", link.from), ("to", link.to)] {
                if !(1..=count).contains(&usize::from(number)) {
                    let key = format!("medium.links.link.{i}.{key}");
                    return Err(Problem::new(
                        key,
                        format!("no node {number}"),
                        format!("1 to {count}"),
                    ));
                }
            }
            check(
                &format!("links.link.{i}.delivery_ratio"),
                link.delivery_ratio,
                0.0..=1.0,
                "",
            )?;
            if link.from == link.to {
                let key = format!("medium.links.link.{i}.to");
                return Err(Problem::new(
                    key,
                    "a link from a node to itself",
                    "two different nodes",
                ));
            }
            let (from, to) = (usize::from(link.from) - 1, usize::from(link.to) - 1);
            let ways = if link.both_ways {
                &[(from, to), (to, from)][..]
            } else {
                &[(from, to)]
            };
            for &(from, to) in ways {
                if ratio[from][to].replace(link.delivery_ratio).is_some() {
                    return Err(Problem::new(
                        format!("medium.links.link.{i}"),
                        format!("the link from {} to {} is given twice", from + 1, to + 1),
                        "each direction once",
                    ));
                }
            }
        }
        let ratio = &ratio;
        let hears = |from: usize| {
            (0..count).filter_map(move |to| ratio[from][to].filter(|&r| r > 0.0).map(|r| (to, r)))
        };
        let link = |(_, ratio): (usize, f64)| {
            (
                Link {
                    success: Chance::new(ratio),
                    rssi_dbm: 0,
                },
                ratio,
            )
        };
        Ok(Self {
            senses: Lists::new((0..count).map(|to| {
                (0..count)
                    .filter(|&from| ratio[from][to].is_some())
                    .map(|from| from as u16)
                    .collect()
            })),
            receivers: Lists::new((0..count).map(|from| hears(from).map(|(to, _)| to as u16).collect())),
            links: Lists::new((0..count).map(|from| hears(from).map(link).collect())),
            ack_errors: matrix.ack_errors,
        })
    }

    #[inline]
    pub(super) fn busy(&self, air: &Air, node: u16, span: &Span) -> bool {
        self.senses.of(node).iter().any(|&other| air.sends(other, span))
    }

    #[inline]
    pub(super) fn receivers(&self, sender: u16) -> &[u16] {
        self.receivers.of(sender)
    }

    fn link(&self, from: u16, to: u16) -> Option<&(Link, f64)> {
        let at = self.receivers.of(from).iter().position(|&other| other == to)?;
        self.links.of(from).get(at)
    }

    #[inline]
    pub(super) fn receive(&self, air: &Air, sent: &Transmission, at: u16, luck: u64) -> Result<Signal, Loss> {
        let Some((link, _)) = self.link(sent.sender, at) else {
            return Err(Loss::Weak);
        };
        let mut others = self.senses.of(at).iter().filter(|&&other| other != sent.sender);
        if others.any(|&other| air.sends(other, &sent.span)) {
            return Err(Loss::Collision);
        }
        if (self.ack_errors || !sent.is_ack) && !link.success.strikes(luck) {
            return Err(Loss::FrameError);
        }
        Ok(Signal {
            rssi_dbm: link.rssi_dbm,
            lqi: u8::MAX,
        })
    }

    pub(super) fn delivery_ratio(&self, from: u16, to: u16) -> f64 {
        self.link(from, to).map_or(0.0, |&(_, ratio)| ratio)
    }
}
