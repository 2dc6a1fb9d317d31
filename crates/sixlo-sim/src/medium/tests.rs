use super::*;
use crate::config::{Chain, Disc, LinkMatrix, LinkQuality, LogDistance, Place, Topology};

fn chain(nodes: u16, spacing_m: f64) -> Network {
    Network::build(&Topology::Chain(Chain { nodes, spacing_m }), 1).unwrap()
}

fn disc(range_m: f64, interference_range_m: f64, frame_error_rate: f64) -> config::Medium {
    config::Medium::Disc(Disc {
        range_m,
        interference_range_m,
        frame_error_rate,
        ..Disc::default()
    })
}

fn span(from_us: u64, until_us: u64) -> Span {
    Span {
        from: Time::us(from_us),
        until: Time::us(until_us),
    }
}

fn sent(sender: u16, span: Span, number: u64) -> Transmission {
    Transmission {
        sender,
        span,
        is_ack: false,
        number,
    }
}

#[test]
fn on_a_disc_frames_arrive_within_range_and_disturb_beyond_it() {
    let network = chain(4, 5.0);
    let medium = Medium::build(&disc(6.0, 11.0, 0.0), &network, 1).unwrap();
    let mut air = Air::new(4);
    let ear = Ear::default();
    assert_eq!(medium.receivers(1), [0, 2]);
    air.send(1, span(1_000, 2_000));
    let frame = sent(1, span(1_000, 2_000), 1);
    assert!(medium.receive(&air, &ear, &frame, 0).is_ok());
    assert_eq!(medium.receive(&air, &ear, &frame, 3), Err(Loss::Weak));
    // Node 3 is 15 m from node 0 and 5 m from node 2: it disturbs only the latter.
    air.send(3, span(1_999, 3_000));
    assert!(medium.receive(&air, &ear, &frame, 0).is_ok());
    assert_eq!(medium.receive(&air, &ear, &frame, 2), Err(Loss::Collision));
    // Node 2 is 10 m from node 0: out of range, but it disturbs.
    air.send(2, span(500, 1_001));
    assert_eq!(medium.receive(&air, &ear, &frame, 0), Err(Loss::Collision));
}

#[test]
fn frames_that_touch_each_other_do_not_collide() {
    let network = chain(3, 5.0);
    let medium = Medium::build(&disc(6.0, 11.0, 0.0), &network, 1).unwrap();
    let mut air = Air::new(3);
    air.send(2, span(0, 1_000));
    air.send(0, span(1_000, 2_000));
    air.send(2, span(2_000, 3_000));
    assert!(
        medium
            .receive(&air, &Ear::default(), &sent(0, span(1_000, 2_000), 1), 1)
            .is_ok()
    );
}

#[test]
fn an_assessment_finds_what_overlaps_it_and_nothing_else() {
    let network = chain(4, 5.0);
    let medium = Medium::build(&disc(6.0, 11.0, 0.0), &network, 1).unwrap();
    let mut air = Air::new(4);
    air.send(2, span(1_000, 2_000));
    assert!(medium.busy(&air, 0, &span(1_900, 2_028)));
    assert!(!medium.busy(&air, 0, &span(2_000, 2_128)));
    assert!(!medium.busy(&air, 0, &span(872, 1_000)));
    assert!(medium.busy(&air, 0, &span(873, 1_001)));
    air.send(3, span(5_000, 6_000));
    assert!(!medium.busy(&air, 0, &span(5_000, 5_128)), "15 m away");
    assert!(medium.busy(&air, 1, &span(5_000, 5_128)), "10 m away");
}

#[test]
fn a_deaf_receiver_misses_the_frame_for_its_cause() {
    let network = chain(2, 5.0);
    let medium = Medium::build(&disc(6.0, 6.0, 0.0), &network, 1).unwrap();
    let air = Air::new(2);
    let mut ear = Ear::default();
    ear.set(Time::us(1_500), Some(Deaf::BackingOff));
    ear.set(Time::us(1_600), None);
    let frame = sent(0, span(1_000, 2_000), 1);
    assert_eq!(
        medium.receive(&air, &ear, &frame, 1),
        Err(Loss::Deaf(Deaf::BackingOff))
    );
    assert!(
        medium
            .receive(&air, &ear, &sent(0, span(1_600, 2_000), 1), 1)
            .is_ok()
    );
}

#[test]
fn one_attempt_in_forty_fails_on_the_links_of_set_up_f_a() {
    let network = chain(2, 5.0);
    let medium = Medium::build(&config::Medium::default(), &network, 1).unwrap();
    let air = Air::new(2);
    let lost = |is_ack| {
        (0..40_000)
            .map(|number| Transmission {
                is_ack,
                ..sent(0, span(0, 1_000), number)
            })
            .filter(|frame| medium.receive(&air, &Ear::default(), frame, 1) == Err(Loss::FrameError))
            .count()
    };
    // Standard deviation: 31.
    assert!((880..1_120).contains(&lost(false)), "{}", lost(false));
    assert_eq!(lost(true), 0);
    assert_eq!(medium.delivery_ratio(0, 1), 0.975);
}

#[test]
fn errors_can_grow_with_the_square_of_the_distance() {
    let network = chain(3, 3.0);
    let config = config::Medium::Disc(Disc {
        range_m: 6.0,
        frame_error_rate: 0.4,
        error_growth: config::ErrorGrowth::Quadratic,
        ..Disc::default()
    });
    let medium = Medium::build(&config, &network, 1).unwrap();
    assert!((medium.delivery_ratio(0, 1) - 0.9).abs() < 1e-12);
    assert!((medium.delivery_ratio(0, 2) - 0.6).abs() < 1e-12);
}

#[test]
fn a_matrix_links_what_it_lists() {
    let network = chain(3, 100.0);
    let link = |from, to, delivery_ratio, both_ways| LinkQuality {
        from,
        to,
        delivery_ratio,
        both_ways,
    };
    let links = vec![link(1, 2, 1.0, true), link(3, 2, 0.0, false)];
    let config = config::Medium::Links(LinkMatrix {
        links: links.clone(),
        ack_errors: false,
    });
    let medium = Medium::build(&config, &network, 1).unwrap();
    assert!(medium.linked(0, 1) && medium.linked(1, 0) && !medium.linked(2, 1));
    let mut air = Air::new(3);
    let frame = sent(0, span(0, 100), 1);
    assert!(medium.receive(&air, &Ear::default(), &frame, 1).is_ok());
    air.send(2, span(50, 60));
    assert_eq!(
        medium.receive(&air, &Ear::default(), &frame, 1),
        Err(Loss::Collision)
    );
    assert!(!medium.busy(&air, 0, &span(50, 60)));

    let twice = config::Medium::Links(LinkMatrix {
        links: [links, vec![link(2, 1, 0.5, false)]].concat(),
        ack_errors: false,
    });
    let problem = Medium::build(&twice, &network, 1).unwrap_err();
    assert_eq!(problem.key, "medium.links.link.2");
}

#[test]
fn bit_errors_match_the_computed_cliff() {
    // Frame error rates computed from the formula of IEEE 802.15.4-2006, E.4.1.8: 0.5 at -0.7 dB and 0.01 at +1.1 dB for
    // 127 bytes, 0.5 at -2.3 dB for the 11 bytes of an acknowledgement on the air.
    let per = |bytes: i32, db: f64| 1.0 - (1.0 - bit_error_rate(libm::pow(10.0, db / 10.0))).powi(bytes * 8);
    assert!((per(127, -0.7) - 0.5).abs() < 0.05, "{}", per(127, -0.7));
    assert!((per(127, 1.1) - 0.01).abs() < 0.002, "{}", per(127, 1.1));
    assert!((per(11, -2.3) - 0.5).abs() < 0.05, "{}", per(11, -2.3));
    assert!(bit_error_rate(1e-6) <= 0.5);
    assert!(bit_error_rate(100.0) < 1e-100);
}

#[test]
fn the_table_of_bit_errors_follows_the_formula() {
    let table = oqpsk::Survival::new();
    for tenth_db in -60..60 {
        let near = |db: f64| libm::log1p(-bit_error_rate(libm::pow(10.0, db / 10.0)));
        let db = f64::from(tenth_db) / 10.0;
        let got = table.ln(libm::pow(10.0, db / 10.0));
        assert!(near(db - 0.05) <= got && got <= near(db + 0.05), "{db} dB: {got}");
    }
    assert_eq!(table.ln(0.0), table.ln(1e-9));
    assert!(table.ln(1e9) > -1e-100);
}

fn log(spread_db: f64) -> LogDistance {
    LogDistance {
        shadowing_db: spread_db,
        asymmetry_db: 0.0,
        fading_db: 0.0,
        ..LogDistance::default()
    }
}

fn line(x_m: &[f64]) -> Network {
    let places = x_m
        .iter()
        .map(|&x_m| Place {
            x_m,
            ..Place::default()
        })
        .collect();
    Network::build(&Topology::Nodes(places), 1).unwrap()
}

#[test]
fn log_distance_links_reach_as_far_as_the_budget_says() {
    // 0 dBm - 40.2 dB - 30 log d = -101 dBm at 106 m; noise at -105 dBm leaves 4 dB there: no errors.
    let network = line(&[0.0, 100.0, 210.0]);
    let medium = Medium::build(&config::Medium::LogDistance(log(0.0)), &network, 1).unwrap();
    assert_eq!(medium.receivers(1), [0]);
    assert!(medium.linked(0, 1) && !medium.linked(1, 2));
    let signal = medium
        .receive(&Air::new(3), &Ear::default(), &sent(0, span(0, 4_256), 1), 1)
        .unwrap();
    assert_eq!(signal.rssi_dbm, -100);
}

#[test]
fn the_stronger_of_two_frames_survives_if_its_receiver_locks_on_it() {
    // Node 1 hears node 0 from 5 m at -61.2 dBm and node 2 from 20 m at -79.2 dBm.
    let network = line(&[0.0, 5.0, 25.0]);
    let medium = Medium::build(&config::Medium::LogDistance(log(0.0)), &network, 1).unwrap();
    let ear = Ear::default();
    let outcome = |strong: Span, weak: Span| {
        let mut air = Air::new(3);
        air.send(0, strong);
        air.send(2, weak);
        let strong = medium.receive(&air, &ear, &sent(0, strong, 1), 1).map(|_| ());
        let weak = medium.receive(&air, &ear, &sent(2, weak, 2), 1).map(|_| ());
        (strong, weak)
    };
    let lost = Err(Loss::Collision);
    assert_eq!(
        outcome(span(1_000, 3_000), span(2_000, 4_000)),
        (Ok(()), lost),
        "the strong one first"
    );
    assert_eq!(
        outcome(span(1_100, 3_000), span(1_000, 4_000)),
        (Ok(()), lost),
        "captured in the preamble"
    );
    assert_eq!(
        outcome(span(1_200, 3_000), span(1_000, 4_000)),
        (lost, lost),
        "too late to capture"
    );
    assert_eq!(
        outcome(span(1_000, 3_000), span(3_000, 4_000)),
        (Ok(()), Ok(())),
        "one after the other"
    );
}

#[test]
fn without_capture_the_first_frame_keeps_the_receiver() {
    let network = line(&[0.0, 5.0, 25.0]);
    let config = LogDistance {
        capture_db: None,
        ..log(0.0)
    };
    let medium = Medium::build(&config::Medium::LogDistance(config), &network, 1).unwrap();
    let mut air = Air::new(3);
    air.send(0, span(1_100, 3_000));
    air.send(2, span(1_000, 4_000));
    let strong = sent(0, span(1_100, 3_000), 1);
    assert_eq!(
        medium.receive(&air, &Ear::default(), &strong, 1),
        Err(Loss::Collision)
    );
}

#[test]
fn interference_of_equal_strength_destroys_only_while_it_lasts() {
    // Both senders 10 m from node 1: SINR 0 dB, at which a bit fails once in 2000. 25 bits of overlap rarely matter, 900
    // often do.
    let network = line(&[0.0, 10.0, 20.0]);
    let medium = Medium::build(&config::Medium::LogDistance(log(0.0)), &network, 1).unwrap();
    let survivors = |overlap_us: u64| {
        let (first, second) = (span(10_000, 14_000), span(14_000 - overlap_us, 18_000));
        let mut air = Air::new(3);
        air.send(0, first);
        air.send(2, second);
        (0..1_000)
            .filter(|&n| {
                medium
                    .receive(&air, &Ear::default(), &sent(0, first, n), 1)
                    .is_ok()
            })
            .count()
    };
    let expected = |overlap_us: u64| 1_000.0 * (1.0 - bit_error_rate(1.0)).powf(overlap_us as f64 / 4.0);
    for overlap_us in [100, 1_000, 3_600] {
        let got = survivors(overlap_us) as f64;
        assert!(
            (got - expected(overlap_us)).abs() < 60.0,
            "{overlap_us}: {got}, {}",
            expected(overlap_us)
        );
    }
}

#[test]
fn energy_detection_averages_over_the_assessment() {
    // -61.2 dBm against a threshold of -75: an overlap of 5.3 us in 128 reaches it.
    let network = line(&[0.0, 5.0]);
    let medium = Medium::build(&config::Medium::LogDistance(log(0.0)), &network, 1).unwrap();
    let mut air = Air::new(2);
    air.send(1, span(1_000, 2_000));
    assert!(medium.busy(&air, 0, &span(1_500, 1_628)));
    assert!(medium.busy(&air, 0, &span(880, 1_008)));
    assert!(!medium.busy(&air, 0, &span(875, 1_003)));
}

#[test]
fn shadowing_is_fixed_by_the_seed() {
    let network = chain(10, 30.0);
    let ratios = |seed| {
        let medium = Medium::build(&config::Medium::LogDistance(log(6.0)), &network, seed).unwrap();
        (1..10).map(|to| medium.delivery_ratio(0, to)).collect::<Vec<_>>()
    };
    assert_eq!(ratios(1), ratios(1));
    assert_ne!(ratios(1), ratios(2));
}

#[test]
fn a_value_out_of_range_is_named() {
    let network = chain(2, 5.0);
    let problem = Medium::build(&disc(6.0, 5.0, 0.0), &network, 1).unwrap_err();
    assert_eq!(problem.key, "medium.disc.interference_range_m");
    let problem = Medium::build(&disc(6.0, 6.0, 1.5), &network, 1).unwrap_err();
    assert_eq!(problem.key, "medium.disc.frame_error_rate");
    let problem = Medium::build(&disc(f64::NAN, 6.0, 0.0), &network, 1).unwrap_err();
    assert_eq!(problem.key, "medium.disc.range_m");
}

#[test]
fn losses_are_numbered_and_named_without_gaps() {
    let all: Vec<Loss> = Loss::all().collect();
    assert_eq!(all.len(), Loss::COUNT);
    assert!(all.iter().enumerate().all(|(i, loss)| loss.index() == i));
    let names: std::collections::BTreeSet<&str> = all.iter().map(|loss| loss.name()).collect();
    assert_eq!(names.len(), Loss::COUNT);
}
