use super::*;
use proptest::prelude::*;
use std::vec::Vec;

/// A point in time, in milliseconds.
pub(super) const fn ms(ms: u64) -> Instant {
    Instant::from_micros(ms * 1_000)
}

/// A transfer and the settings it runs with.
pub(super) struct Run {
    pub(super) params: Params,
    pub(super) state: Congestion,
    pub(super) now: Instant,
}

impl Run {
    pub(super) fn new(params: Params) -> Self {
        Self {
            state: Congestion::new(&params),
            params,
            now: ms(1),
        }
    }

    pub(super) fn window(&self) -> u32 {
        self.state.window()
    }

    pub(super) fn wait(&mut self, millis: u64) -> &mut Self {
        self.now += Duration::from_millis(millis);
        self
    }

    pub(super) fn report(&mut self, report: Report) -> Option<Change> {
        self.state.report(&self.params, self.now, &report)
    }

    /// Sends one message and says when.
    pub(super) fn send(&mut self, size: u32) -> Instant {
        self.report(Report::Sent { size });
        self.now
    }

    pub(super) fn acked(&mut self, size: u32, sent_at: Instant) -> Option<Change> {
        self.report(Report::Acked {
            batch: Batch::one(size, sent_at),
            limited: false,
        })
    }

    pub(super) fn lost(&mut self, size: u32, sent_at: Instant) -> Option<Change> {
        self.report(Report::Lost(Batch::one(size, sent_at)))
    }

    pub(super) fn timed_out(&mut self, size: u32, sent_at: Instant) -> Option<Change> {
        self.report(Report::TimedOut(Batch::one(size, sent_at)))
    }

    pub(super) fn ecn(&mut self, sent_at: Instant) -> Option<Change> {
        self.report(Report::Ecn { sent_at })
    }

    /// Sends a message, which is acknowledged 10 ms later.
    pub(super) fn round(&mut self, size: u32) -> Option<Change> {
        let sent_at = self.send(size);
        self.wait(10).acked(size, sent_at)
    }
}

#[test]
fn a_transfer_takes_48_bytes_of_which_12_are_the_round_trip_time() {
    assert_eq!(size_of::<Rtt>(), 12);
    assert!(size_of::<Control>() <= 32, "{}", size_of::<Control>());
    assert!(size_of::<Congestion>() <= 48, "{}", size_of::<Congestion>());
}

#[test]
fn what_is_under_way_is_what_was_sent_and_not_yet_heard_of() {
    for kind in Kind::ALL {
        let mut run = Run::new(Params::bytes(kind, 100));
        let sent_at = run.send(100);
        run.send(100);
        run.send(80);
        run.send(60);
        run.send(50);
        assert_eq!(run.state.flight(), 390);
        run.report(Report::Discarded { size: 80 });
        run.wait(5).acked(100, sent_at);
        run.lost(100, sent_at);
        run.timed_out(60, sent_at);
        assert_eq!(run.state.flight(), 50, "{kind:?}");
        run.acked(60, sent_at);
        assert_eq!(run.state.flight(), 0, "more acknowledged than sent");
    }
}

#[test]
fn room_is_what_the_window_leaves() {
    let mut run = Run::new(Params::fragments(Kind::Reno));
    assert_eq!(run.state.room(), 4);
    run.send(1);
    assert_eq!(run.state.room(), 3);
    run.send(30);
    assert_eq!(run.state.room(), 0);
}

#[test]
fn mechanisms_start_with_the_windows_of_lenders_2021_section_v() {
    let windows: Vec<u32> = Kind::ALL
        .iter()
        .map(|kind| Congestion::new(&Params::fragments(*kind)).window())
        .collect();
    assert_eq!(windows, [2, 4, 4, 2, 1]);
}

#[test]
fn only_quic_and_calm_pace() {
    let pacing: Vec<bool> = Kind::ALL
        .iter()
        .map(|kind| {
            let params = Params::fragments(*kind);
            Congestion::new(&params).interval(&params, 1).is_some()
        })
        .collect();
    assert_eq!(pacing, [false, false, false, true, true]);
}

#[test]
fn a_report_gives_window_gap_and_cause_also_where_nothing_changed_and_what_is_sent_gives_nothing() {
    let mut run = Run::new(Params::fragments(Kind::AppendixC));
    let sent_at = run.now;
    assert_eq!(run.report(Report::Sent { size: 1 }), None);
    let after = |window, told| {
        Some(Change {
            window,
            gap: None,
            told,
        })
    };
    assert_eq!(run.wait(10).acked(1, sent_at), after(2, Told::Acked));
    let sent_at = run.send(1);
    assert_eq!(run.wait(2500).timed_out(1, sent_at), after(1, Told::TimedOut));
    // The window is minimal already.
    assert_eq!(run.ecn(sent_at), after(1, Told::Ecn));
    assert_eq!(run.report(Report::Discarded { size: 1 }), None);

    let mut run = Run::new(Params::fragments(Kind::Quic));
    let start = run.state.state(&run.params, Told::Start);
    assert_eq!(start.gap, Some(Duration::from_micros(133_200)));
    let change = run.round(1).expect("window and pace move");
    assert_eq!((change.window, change.told), (3, Told::Acked));
    // ( 10 ms * 1 / 3 ) / 1.25
    assert_eq!(change.gap, Some(Duration::from_micros(2_666)));
}

#[test]
fn a_timer_that_expires_is_backed_off_and_another_transfer_starts_afresh() {
    for kind in Kind::ALL {
        let mut run = Run::new(Params::fragments(kind));
        let sent_at = run.send(1);
        run.wait(1000).timed_out(1, sent_at);
        let limits = run.params.timer;
        assert_eq!(run.state.rtt().timeout(&limits), Duration::from_secs(2));
        let next = Congestion::follow(&run.params, &run.state);
        assert_eq!(next.rtt().timeout(&limits), Duration::from_secs(1));
    }
}

#[test]
fn what_was_done_about_congestion_ends_with_the_transfer_as_rfc8931_appendix_c_says() {
    for kind in [Kind::AppendixC, Kind::Reno, Kind::Abe, Kind::Quic] {
        let mut run = Run::new(Params::fragments(kind));
        run.round(1);
        let sent_at = run.send(1);
        run.wait(2500).timed_out(1, sent_at);
        let next = Congestion::follow(&run.params, &run.state);
        assert_eq!(next, Congestion::new(&run.params), "{kind:?}");
    }
}

#[test]
fn a_transfer_whose_interface_changes_the_mechanism_goes_on_with_its_own() {
    let mut run = Run::new(Params::fragments(Kind::Reno));
    run.params = Params::fragments(Kind::Quic);
    run.round(1);
    assert_eq!(run.window(), 5);
    assert_eq!(run.state.interval(&run.params, 1), None);
}

fn any_batch() -> impl Strategy<Value = Batch> {
    let time = prop_oneof![
        0..5_000_000_u64,
        any::<u64>(),
        Just(u64::MAX),
        0..4_000_000_000_u64
    ];
    (
        prop_oneof![0..40_u32, any::<u32>()],
        time.clone(),
        time,
        any::<bool>(),
    )
        .prop_map(|(size, oldest, newest, resent)| Batch {
            size,
            oldest: Instant::from_micros(oldest),
            newest: Instant::from_micros(newest),
            resent,
        })
}

fn any_report() -> impl Strategy<Value = Report> {
    prop_oneof![
        any_batch().prop_map(|batch| Report::Sent { size: batch.size }),
        any_batch().prop_map(|batch| Report::Discarded { size: batch.size }),
        any_batch().prop_map(Report::TimedOut),
        any_batch().prop_map(Report::Lost),
        (any_batch(), any::<bool>()).prop_map(|(batch, limited)| Report::Acked { batch, limited }),
        any_batch().prop_map(|batch| Report::Ecn {
            sent_at: batch.newest
        }),
    ]
}

fn any_params() -> impl Strategy<Value = Params> {
    let number = prop_oneof![0..3_u32, 0..3000_u32, any::<u32>()];
    let windows = (number.clone(), number.clone(), number.clone(), number);
    (0..Kind::ALL.len(), windows, any::<[u64; 4]>()).prop_map(
        |(kind, (unit, initial_window, minimum_window, maximum_window), spans)| Params {
            kind: Kind::ALL[kind],
            unit,
            initial_window,
            minimum_window,
            maximum_window,
            initial_rtt: Duration::from_micros(spans[0]),
            gap: Duration::from_micros(spans[1]),
            timer: RttLimits {
                initial: Duration::from_micros(spans[2]),
                minimum: Duration::from_micros(spans[3]),
                ..RttLimits::RFC6298
            },
        },
    )
}

proptest! {
    #[test]
    fn no_sequence_of_reports_with_any_settings_breaks_a_transfer(
        params in any_params(),
        reports in prop::collection::vec((any_report(), any::<u64>()), 0..40),
    ) {
        let mut state = Congestion::new(&params);
        for (report, now) in reports {
            state.report(&params, Instant::from_micros(now), &report);
            prop_assert!(state.window() >= 1);
            prop_assert!(state.rtt().timeout(&params.timer) <= params.timer.maximum);
            for size in [0, 1, u32::MAX] {
                state.interval(&params, size);
            }
        }
    }

    #[test]
    fn windows_stay_within_their_bounds_and_grow_by_no_more_than_was_acknowledged(
        kind in 0..Kind::ALL.len(),
        unit in 1..1500_u32,
        bytes in any::<bool>(),
        reports in prop::collection::vec((any_report(), 0..3_000_000_u64), 0..60),
    ) {
        let kind = Kind::ALL[kind];
        let params = if bytes {
            Params { maximum_window: 65_535, ..Params::bytes(kind, unit) }
        } else {
            Params::fragments(kind)
        };
        let lowest = if matches!(kind, Kind::Reno | Kind::Abe) { params.unit } else { params.minimum_window };
        let mut state = Congestion::new(&params);
        let mut now = Instant::ZERO;
        for (report, later) in reports {
            now += Duration::from_micros(later);
            let before = state.window();
            state.report(&params, now, &report);
            let after = state.window();
            prop_assert!((lowest..=params.maximum_window).contains(&after), "{after}");
            match report {
                Report::Acked { batch, .. } if after > before => {
                    // A slow start grows by what was acknowledged (RFC 9002 7.3.1), what comes after it by one message.
                    prop_assert!(after - before <= batch.size.max(params.unit));
                }
                Report::Acked { .. } => {}
                _ => prop_assert!(after <= before, "{report:?} opened the window"),
            }
        }
    }
}
