//! Averages and probabilities against the arithmetic of Floyd and Jacobson (1993), and an interface whose queue follows
//! a script.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::ground::{Core, Cx};
use crate::lowpan::Gap;
use crate::mac::duplicates::Duplicates;
use crate::netapi::{Msg, Next, Ty};
use crate::netdev::{Caps, FRAME_LEN_MAX, TxOutcome, TxReport};
use crate::netif::IfaceConfig;
use crate::netreg::Registry;
use crate::pktbuf::{Class, PktBuf, Seg, Slot};
use crate::timers::{Timer, Timers};
use crate::trace::{End, Module};
use crate::wire::addr::LinkAddr;

const IFACE: IfaceId = IfaceId(0);
const CAPACITY: u16 = 8;

fn red() -> Congestion {
    Congestion::EMPTY
}

fn average(state: &Congestion) -> f64 {
    f64::from(state.average) / ONE as f64
}

/// avg = (1 - w) avg + w q for each packet that joins.
#[test]
fn the_average_follows_the_queue_by_the_weight() {
    for shift in [0, 1, 4, 10] {
        let weight = 0.5_f64.powi(shift.into());
        let (mut state, mut expected) = (red(), 0.0);
        for step in 0..2_000_usize {
            let queue_len = (step * 7919) % 64;
            state.sample(queue_len, shift);
            expected += (queue_len as f64 - expected) * weight;
            assert!((average(&state) - expected).abs() < 0.02, "step {step}");
        }
    }
    let mut state = red();
    state.sample(usize::MAX, 0);
    assert_eq!(average(&state), 65_535.0);
}

/// The average after a burst of L packets into an empty queue is L + 1 + ((1 - w)^(L + 1) - 1) / w.
#[test]
fn a_burst_that_fills_an_empty_queue_is_not_congestion() {
    let (config, mut state) = (Red::default(), red());
    for queue_len in 1..=CAPACITY {
        state.sample(queue_len.into(), config.weight_shift);
    }
    let by_equation = 9.0 + ((15.0_f64 / 16.0).powi(9) - 1.0) * 16.0;
    assert!((average(&state) - by_equation).abs() < 0.01);
    let mut rng = Rng::new(1);
    assert!(!state.red(&config, CAPACITY, &mut rng));
    // A queue that stays full is.
    for _ in 0..100 {
        state.sample(CAPACITY.into(), config.weight_shift);
    }
    assert!(state.red(&config, CAPACITY, &mut rng));
}

/// m packets could have been sent while the queue was empty: avg = (1 - w)^m avg.
#[test]
fn the_average_falls_with_the_packets_that_could_have_been_sent() {
    for shift in [0, 1, 4, 10] {
        for packets in [0, 1, 2, 3, 7, 30, 255, 1_000] {
            let mut state = red();
            state.average = 40 << 16;
            state.decay(packets, shift);
            let expected = 40.0 * (1.0 - 0.5_f64.powi(shift.into())).powi(packets as i32);
            assert!(
                (average(&state) - expected).abs() < 0.3,
                "{packets} by 2^-{shift}"
            );
        }
        let mut state = red();
        state.average = u32::MAX;
        state.decay(u64::MAX, shift);
        assert_eq!(state.average, 0);
    }
}

/// Packets from one mark to the next, with this average.
fn gaps(config: &Red, average: u32, count: usize) -> Vec<usize> {
    let (mut state, mut rng) = (red(), Rng::new(7));
    state.average = average;
    let mut gaps = vec![0; count];
    for gap in &mut gaps {
        *gap = 1;
        while !state.red(config, CAPACITY, &mut rng) {
            *gap += 1;
            assert!(*gap <= 1_000, "no mark");
        }
    }
    gaps
}

/// With the probability p, the packets to the next mark are uniform over 1 to 1/p.
#[test]
fn marks_come_after_a_uniform_number_of_packets() {
    let config = Red {
        probability_percent: 20,
        ..Red::default()
    };
    // Half way between 2 and 6 packets: p is 0.1.
    let gaps = gaps(&config, 4 << 16, 10_000);
    let mut counts = [0; 11];
    for gap in gaps {
        // Rounding down leaves a little for the one behind the last.
        counts[gap.min(11) - 1] += 1;
    }
    // The standard deviation of each is 30.
    assert!(
        counts[..10].iter().all(|count| (850..1_150).contains(count)),
        "{counts:?}"
    );
    assert!(counts[10] < 20);
}

#[test]
fn the_probability_grows_linearly_between_the_thresholds() {
    let config = Red::default();
    for eighths in 1..8 {
        let average = (2 << 16) + eighths * (4 << 16) / 8;
        let gaps = gaps(&config, average, 4_000);
        let mean = gaps.iter().sum::<usize>() as f64 / 4_000.0;
        let chance = 0.1 * f64::from(eighths) / 8.0;
        let expected = f64::midpoint(1.0, 1.0 / chance);
        assert!(
            (mean / expected - 1.0).abs() < 0.04,
            "{eighths} eighths: {mean} instead of {expected}"
        );
    }
}

#[test]
fn nothing_is_marked_below_the_first_threshold_and_everything_from_the_second_on() {
    let (config, mut rng) = (Red::default(), Rng::new(3));
    let unused = rng.clone().next_u32();
    let mut state = red();
    for (average, marked) in [
        (0, false),
        ((2 << 16) - 1, false),
        (6 << 16, true),
        (7 << 16, true),
    ] {
        state.average = average;
        assert!((0..100).all(|_| state.red(&config, CAPACITY, &mut rng) == marked));
    }
    // No random number was needed for that.
    assert_eq!(rng.next_u32(), unused);
    // A queue for nothing is never long, and thresholds without a way between them are one.
    state.average = 0;
    assert!(!state.red(&config, 0, &mut rng));
    let one = Red {
        min_percent: 50,
        max_percent: 50,
        ..config
    };
    for (average, marked) in [((4 << 16) - 1, false), (4 << 16, true)] {
        state.average = average;
        assert_eq!(state.red(&one, CAPACITY, &mut rng), marked);
    }
}

/// The count begins anew when the average has been below the first threshold.
#[test]
fn packets_are_counted_only_while_the_average_is_between_the_thresholds() {
    let (config, mut rng, mut state) = (Red::default(), Rng::new(3), red());
    state.average = (2 << 16) + 1;
    assert!((0..50).all(|_| !state.red(&config, CAPACITY, &mut rng)));
    assert_eq!(state.unmarked, 50);
    state.average = 1 << 16;
    assert!(!state.red(&config, CAPACITY, &mut rng));
    assert_eq!(state.unmarked, 0);
}

/// An interface alone, its queue in the test's hand.
struct Bench<'a> {
    core: Core<'a>,
    netif: Netif<'a>,
    now: Instant,
}

fn with<R>(mark: MarkConfig, test: impl FnOnce(&mut Bench<'_>) -> R) -> R {
    let (mut bytes, mut segs, mut slots) = (vec![0; 4_096], vec![Seg::EMPTY; 64], vec![Slot::EMPTY; 64]);
    let (mut ifaces, mut timers) = ([Interface::EMPTY], [const { Timer::EMPTY }; 2]);
    let buf = PktBuf::new(&mut bytes, &mut segs, &mut slots, [0; 2]).expect("no reserve");
    let mut netif = Netif::new(&mut ifaces, Duplicates::new(&mut [], Duration::ZERO));
    let config = IfaceConfig {
        caps: Caps {
            csma: true,
            fcs: true,
        },
        queue_capacity: CAPACITY,
        fragment_gap: Gap::Fixed(Duration::ZERO),
        mark,
        ..IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, 1])
    };
    assert!(netif.bring_up(IFACE, config, 0));
    let mut bench = Bench {
        core: Core::new(buf, Registry::new(&mut []), Timers::new(&mut timers), Rng::new(1)),
        netif,
        now: Instant::from_micros(1_000_000),
    };
    test(&mut bench)
}

impl Bench<'_> {
    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// A packet joins: of a fragment, or another.
    fn join(&mut self, ty: Ty) {
        let packet = self.core.buf.alloc(Class::Receive, 0, 8).expect("room");
        let meta = self.core.buf.meta_mut(&packet);
        (meta.iface, meta.link_dst) = (IFACE, LinkAddr::Short(2));
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut (),
            now: self.now,
        };
        let next = self.netif.send(&mut cx, Msg::down(ty, 0), packet);
        assert!(matches!(next, Next::Taken(_)), "the queue is full");
    }

    fn join_many(&mut self, count: usize) {
        for _ in 0..count {
            self.join(Ty::Ipv6);
        }
    }

    /// The packet whose turn it is was sent.
    fn leave(&mut self) {
        let mut out = [0; FRAME_LEN_MAX];
        let (netif, mut cx) = (
            &mut self.netif,
            Cx {
                core: &mut self.core,
                sink: &mut (),
                now: self.now,
            },
        );
        let len = netif.head(&mut cx, IFACE, &mut out).expect("a packet").0.len;
        netif
            .commit(&mut cx, IFACE, &mut out, len, false)
            .expect("a frame");
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        netif.transmitted(&mut cx, IFACE, report);
        if let Some((packet, _)) = netif.settling(&mut cx, IFACE) {
            let _ended = cx.end(packet, Module::Netif, End::Sent);
            netif.next_turn(&mut cx, IFACE);
        }
    }

    fn marks(&mut self) -> bool {
        self.netif.marks(&mut self.core.rng, self.now, IFACE)
    }
}

fn waiting(ms: u64) -> MarkConfig {
    MarkConfig {
        when: Mark::Waiting,
        wait_max: Duration::from_millis(ms),
        ..MarkConfig::default()
    }
}

#[test]
fn nothing_is_marked_by_default() {
    with(MarkConfig::default(), |bench| {
        bench.join_many(9);
        bench.pass(10_000);
        assert!(!bench.marks());
    });
}

/// Lenders et al. 2021, section V-A.
#[test]
fn half_full_means_more_than_half_of_the_capacity() {
    let half_full = MarkConfig {
        when: Mark::HalfFull,
        ..MarkConfig::default()
    };
    with(half_full, |bench| {
        // One is being sent, four wait.
        bench.join_many(5);
        assert!(!bench.marks());
        bench.join(Ty::Link);
        assert!(bench.marks());
        bench.leave();
        assert!(!bench.marks());
    });
}

#[test]
fn a_packet_that_waited_for_too_long_marks_those_that_come_until_one_did_not() {
    with(waiting(100), |bench| {
        // The first is sent at once; the second waits for just as long as it may.
        bench.join_many(2);
        bench.pass(100);
        assert!(!bench.marks());
        bench.leave();
        assert!(!bench.marks());
        // The next one waits for longer.
        bench.join(Ty::Ipv6);
        bench.pass(101);
        assert!(bench.marks(), "it waits for too long already");
        bench.leave();
        assert!(bench.marks(), "it has waited for too long");
        bench.join(Ty::Ipv6);
        assert!(bench.marks());
        bench.pass(50);
        bench.leave();
        assert!(!bench.marks(), "the last one did not");
    });
}

#[test]
fn one_packet_at_a_time_is_watched_at_its_place_in_its_queue() {
    with(waiting(100), |bench| {
        // Four: one is being sent; the second is watched, those behind are not.
        bench.join_many(4);
        bench.pass(60);
        bench.leave();
        assert!(!bench.marks());
        // Of these the third of the queue is watched: it takes three turns.
        bench.join_many(2);
        bench.pass(60);
        bench.leave();
        bench.leave();
        assert!(!bench.marks(), "those that left were not watched");
        bench.pass(60);
        assert!(bench.marks());
        bench.leave();
        assert!(bench.marks());
    });
}

#[test]
fn what_leaves_the_other_queue_is_not_the_packet_that_is_watched() {
    with(waiting(100), |bench| {
        // One is being sent, and the fragment is watched. Another fragment waits behind, and two packets beside them.
        bench.join(Ty::Ipv6);
        bench.join(Ty::Link);
        bench.join_many(2);
        bench.pass(101);
        // The fragment's turn comes next, then the packets'.
        bench.leave();
        assert!(bench.marks(), "the fragment has waited for too long");
        // A packet is watched: the fragment that is taken before it says nothing of it.
        bench.join(Ty::Ipv6);
        bench.join(Ty::Link);
        bench.leave();
        bench.leave();
        assert!(bench.marks(), "nothing has been heard of the one that is watched");
        bench.leave();
        bench.leave();
        assert!(!bench.marks());
    });
}

#[test]
fn packets_in_the_other_queue_are_not_ahead_of_the_one_that_is_watched() {
    with(waiting(100), |bench| {
        // One is being sent, the first of three fragments is watched, and leaves.
        bench.join(Ty::Ipv6);
        for _ in 0..3 {
            bench.join(Ty::Link);
        }
        bench.leave();
        // This one is watched, and its turn is before that of the other fragments.
        bench.join(Ty::Ipv6);
        bench.pass(101);
        bench.leave();
        assert!(bench.marks());
        // So the next one can be watched.
        bench.join(Ty::Ipv6);
        bench.leave();
        bench.leave();
        assert!(!bench.marks());
    });
}

#[test]
fn an_interface_with_nothing_to_send_is_not_congested() {
    with(waiting(100), |bench| {
        bench.join_many(2);
        bench.pass(101);
        bench.leave();
        assert!(bench.marks());
        bench.leave();
        assert!(!bench.marks());
        bench.pass(10_000);
        assert!(!bench.marks());
    });
}

#[test]
fn random_early_detection_follows_the_queue_of_the_interface() {
    let mark = MarkConfig {
        when: Mark::Red,
        ..MarkConfig::default()
    };
    with(mark, |bench| {
        bench.join_many(9);
        assert!(!bench.marks(), "a burst");
        // A queue that stays full: each that leaves makes room for one more, which finds seven.
        for _ in 0..100 {
            bench.leave();
            bench.join(Ty::Link);
        }
        assert!((0..20).all(|_| bench.marks()));
        for _ in 0..9 {
            bench.leave();
        }
        // It does not forget at once, but does after a while with nothing to send.
        bench.join(Ty::Ipv6);
        assert!(bench.marks());
        bench.leave();
        bench.pass(1_000);
        bench.join(Ty::Ipv6);
        assert!(!bench.marks());
    });
}

#[test]
fn another_rule_begins_with_what_it_sees_itself() {
    with(waiting(100), |bench| {
        bench.join_many(4);
        bench.pass(101);
        bench.leave();
        assert!(bench.marks());
        assert!(bench.netif.set_mark(IFACE, waiting(100)));
        assert!(!bench.marks());
        assert!(!bench.netif.set_mark(IfaceId(1), waiting(100)));
    });
}

/// A weight that is less than any makes no difference.
#[test]
fn a_weight_beyond_its_bound_is_the_least() {
    let red = Red {
        weight_shift: 255,
        ..Red::default()
    };
    let mark = MarkConfig {
        when: Mark::Red,
        red,
        ..MarkConfig::default()
    };
    with(mark, |bench| {
        bench.join_many(9);
        assert!(!bench.marks());
    });
}

#[test]
fn a_fragment_that_is_sent_before_the_packet_that_is_watched_says_nothing_of_it() {
    with(waiting(100), |bench| {
        // One is being sent, the second is watched.
        bench.join_many(2);
        bench.join(Ty::Link);
        bench.pass(50);
        bench.leave();
        bench.pass(60);
        assert!(bench.marks());
    });
}
