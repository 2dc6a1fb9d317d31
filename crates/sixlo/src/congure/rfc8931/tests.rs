use crate::congure::tests::{Run, ms};
use crate::congure::{Kind, Params};

#[test]
fn a_timeout_halves_the_window_down_to_one() {
    let mut run = Run::new(Params {
        initial_window: 7,
        ..Params::fragments(Kind::AppendixC)
    });
    for window in [3, 1, 1] {
        let sent_at = run.send(1);
        run.wait(2_500).timed_out(1, sent_at);
        assert_eq!(run.window(), window);
    }
}

#[test]
fn an_ecn_mark_takes_one_from_the_window_down_to_one() {
    let mut run = Run::new(Params {
        initial_window: 3,
        ..Params::fragments(Kind::AppendixC)
    });
    for window in [2, 1, 1] {
        run.ecn(ms(1));
        assert_eq!(run.window(), window);
    }
}

#[test]
fn acknowledgments_open_no_window_and_a_loss_without_timeout_closes_none() {
    let mut run = Run::new(Params::fragments(Kind::AppendixC));
    for _ in 0..40 {
        run.round(1);
        let sent_at = run.send(1);
        run.wait(20).lost(1, sent_at);
        assert_eq!(run.window(), 2);
    }
}

#[test]
fn the_configured_boundaries_are_never_exceeded_rfc8931_7_1() {
    let params = Params {
        minimum_window: 3,
        maximum_window: 6,
        ..Params::fragments(Kind::AppendixC)
    };
    let wide = Params {
        initial_window: 20,
        ..params
    };
    assert_eq!(Run::new(wide).window(), 6);
    let mut run = Run::new(params);
    assert_eq!(run.window(), 3);
    run.timed_out(1, ms(1));
    run.ecn(ms(1));
    assert_eq!(run.window(), 3);
}
