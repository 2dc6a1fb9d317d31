use super::*;
use crate::congure::tests::{Run, ms};
use crate::congure::{Congestion, Kind, Report};
use std::vec::Vec;

fn run() -> Run {
    Run::new(Params::fragments(Kind::Calm))
}

fn gap_us(run: &Run) -> u64 {
    run.state
        .interval(&run.params, 1)
        .expect("always paced")
        .as_micros()
}

/// Sends a message, which is acknowledged after `rtt_ms`.
fn round(run: &mut Run, rtt_ms: u64) {
    let sent_at = run.wait(1).send(1);
    run.wait(rtt_ms).acked(1, sent_at);
}

#[test]
fn the_window_starts_with_one_and_opens_by_one_for_two_windows() {
    let mut run = run();
    let mut windows = Vec::new();
    for _ in 0..12 {
        windows.push(run.window());
        round(&mut run, 100);
    }
    assert_eq!(windows, [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn the_pace_is_kept_from_the_first_message_and_follows_the_round_trip() {
    let mut run = run();
    assert_eq!(gap_us(&run), 266_400, "(333 ms * 1 / 1) / 1.25");
    round(&mut run, 100);
    assert_eq!(gap_us(&run), 80_000);
    run.params.gap = Duration::from_millis(90);
    assert_eq!(gap_us(&run), 90_000, "the air's gap is the least");
}

#[test]
fn a_loss_at_the_shortest_round_trip_is_noise() {
    let mut run = run();
    for _ in 0..3 {
        round(&mut run, 100);
    }
    let before = (run.window(), gap_us(&run));
    let sent_at = run.wait(1).send(2);
    run.wait(100).lost(1, sent_at);
    assert_eq!((run.window(), gap_us(&run)), before);
    run.wait(2_000).timed_out(1, sent_at);
    assert_eq!((run.window(), gap_us(&run)), before);
}

#[test]
fn a_loss_after_longer_round_trips_is_load() {
    let mut run = run();
    for rtt_ms in [100, 100, 100, 170, 180] {
        round(&mut run, rtt_ms);
    }
    assert_eq!(run.window(), 2, "no growth where the round trip grows");
    let smoothed = run.state.rtt().smoothed().expect("measured").as_micros();
    assert_eq!(gap_us(&run), smoothed * 4 / 5 / 2);
    let sent_at = run.wait(1).send(1);
    run.wait(180).lost(1, sent_at);
    assert_eq!(run.window(), 1);
    assert_eq!(
        gap_us(&run),
        smoothed * 4 / 5 * 2,
        "half the rate, and half of it again with the window"
    );
}

#[test]
fn a_round_trip_of_twice_the_shortest_is_load_without_any_loss() {
    let mut run = run();
    for rtt_ms in [100, 100, 100, 320] {
        round(&mut run, rtt_ms);
    }
    assert_eq!(run.window(), 1);
    let smoothed = run.state.rtt().smoothed().expect("measured").as_micros();
    assert_eq!(gap_us(&run), smoothed * 4 / 5 * 2);
}

#[test]
fn a_loss_before_anything_is_known_is_load() {
    let mut run = run();
    let sent_at = run.send(1);
    run.wait(2_500).timed_out(1, sent_at);
    assert_eq!(gap_us(&run), 2 * 266_400);
}

#[test]
fn two_timeouts_in_a_row_are_load_whatever_the_round_trip_was() {
    let mut run = run();
    round(&mut run, 100);
    let gap = gap_us(&run);
    for expected in [gap, 2 * gap, 4 * gap] {
        let sent_at = run.wait(1).send(1);
        run.wait(1_000).timed_out(1, sent_at);
        assert_eq!(gap_us(&run), expected);
    }
    round(&mut run, 100);
    let quieter = gap_us(&run);
    let sent_at = run.wait(1).send(1);
    run.wait(1_000).timed_out(1, sent_at);
    assert_eq!(gap_us(&run), quieter, "an acknowledgment came in between");
}

#[test]
fn an_ecn_mark_is_load_once_for_all_that_was_under_way() {
    let mut run = run();
    round(&mut run, 100);
    let gap = gap_us(&run);
    let sent_at = run.wait(1).send(2);
    run.wait(10).ecn(sent_at);
    run.wait(1).ecn(sent_at);
    assert_eq!(gap_us(&run), 2 * gap);
    let later = run.wait(1).send(1);
    run.wait(10).ecn(later);
    assert_eq!(gap_us(&run), 4 * gap);
}

#[test]
fn the_pace_slows_down_to_a_sixteenth_and_no_further() {
    let mut run = run();
    round(&mut run, 100);
    for _ in 0..20 {
        let sent_at = run.wait(1).send(1);
        run.wait(10).ecn(sent_at);
    }
    assert_eq!(gap_us(&run), 16 * 80_000);
}

#[test]
fn the_rate_comes_back_by_a_thirty_second_of_the_full_one_each_time() {
    let mut run = run();
    round(&mut run, 100);
    let sent_at = run.wait(1).send(1);
    run.wait(10).ecn(sent_at);
    run.report(Report::Discarded { size: 1 });
    let mut rounds = 0;
    while gap_us(&run) > 80_000 {
        assert_eq!(run.window(), 1, "first the pace, then the window");
        round(&mut run, 100);
        rounds += 1;
    }
    assert!((13..=17).contains(&rounds), "half of the rate in {rounds} steps");
}

#[test]
fn a_transfer_starts_at_the_pace_at_which_the_last_one_ended_but_with_the_smallest_window() {
    let mut run = run();
    for rtt_ms in [100, 100, 100, 100, 100, 100] {
        round(&mut run, rtt_ms);
    }
    assert_eq!(run.window(), 3);
    let sent_at = run.wait(1).send(1);
    run.wait(10).ecn(sent_at);
    let next = Congestion::follow(&run.params, &run.state);
    assert_eq!((next.window(), next.flight()), (1, 0));
    assert_eq!(next.interval(&run.params, 1), run.state.interval(&run.params, 1));
}

#[test]
fn a_longer_path_becomes_the_new_measure_in_time() {
    let mut run = run();
    round(&mut run, 100);
    let mut rounds = 0;
    while gap_us(&run) > 241_000 {
        rounds += 1;
        round(&mut run, 300);
        assert!(rounds < 400, "never seen as the path's own");
    }
    for _ in 0..200 {
        round(&mut run, 300);
    }
    assert!(run.window() > 1, "the window opens again");
}

/// A path: 60 ms to go, a queue of up to 10 messages of 20 ms each that it shares with others, whose load comes and
/// goes every two seconds.
struct Path {
    backlog_us: u64,
    at_us: u64,
    shared: bool,
}

impl Path {
    const TRAVEL_US: u64 = 60_000;
    const SERVICE_US: u64 = 20_000;
    const QUEUE_US: u64 = 10 * Self::SERVICE_US;

    /// A message comes at this time. How long until it is acknowledged, `None` if the queue is full.
    fn carry(&mut self, at_us: u64) -> Option<u64> {
        while self.shared && self.at_us + 1_000 <= at_us {
            self.at_us += 1_000;
            let busy = self.at_us / 2_000_000 % 2 == 1;
            let work_us = if busy { 1_150 } else { 300 };
            self.backlog_us = (self.backlog_us + work_us)
                .saturating_sub(1_000)
                .min(Self::QUEUE_US);
        }
        if self.backlog_us + Self::SERVICE_US > Self::QUEUE_US {
            return None;
        }
        Some(Self::TRAVEL_US + Self::SERVICE_US + self.backlog_us)
    }
}

/// What a run of 300 messages came to.
struct Outcome {
    lost: Vec<bool>,
    mean_window: f64,
    mean_gap_ms: f64,
}

/// Sends messages over the path, or over one that is not shared but loses the messages of `noise`.
fn transfer(noise: Option<&[bool]>) -> Outcome {
    let mut run = run();
    let mut path = Path {
        backlog_us: 0,
        at_us: 0,
        shared: noise.is_none(),
    };
    let (mut lost, mut windows, mut gaps) = (Vec::new(), 0.0, 0.0);
    while lost.len() < 300 {
        let index = lost.len();
        let fate = match noise {
            Some(noise) if noise[index] => None,
            _ => path.carry(run.now.as_micros()),
        };
        lost.push(fate.is_none());
        let sent_at = run.send(1);
        windows += f64::from(run.window());
        gaps += gap_us(&run) as f64 / 1_000.0;
        let next = sent_at + Duration::from_micros(gap_us(&run));
        match fate {
            Some(rtt_us) => {
                run.now += Duration::from_micros(rtt_us);
                run.acked(1, sent_at);
            }
            None => {
                run.wait(500).timed_out(1, sent_at);
            }
        }
        run.now = run.now.max(next);
    }
    Outcome {
        mean_window: windows / lost.len() as f64,
        mean_gap_ms: gaps / lost.len() as f64,
        lost,
    }
}

#[test]
fn equal_losses_slow_down_under_load_and_not_under_noise() {
    let load = transfer(None);
    let losses = load.lost.iter().filter(|lost| **lost).count();
    assert!(losses >= 15, "the queue loses {losses}");
    let even: Vec<bool> = (0..300)
        .map(|i| (i + 1) * losses / 300 > i * losses / 300)
        .collect();
    let noise = transfer(Some(&even));
    let noise_losses = noise.lost.iter().filter(|lost| **lost).count();
    assert_eq!(noise_losses, losses, "both lose equally many");
    assert!(load.mean_window < 1.5, "{}", load.mean_window);
    assert!(
        noise.mean_window > 3.0 * load.mean_window,
        "{}",
        noise.mean_window
    );
    assert!(load.mean_gap_ms > 4.0 * noise.mean_gap_ms);
}

#[test]
fn times_that_jump_do_not_matter() {
    let mut run = run();
    run.now = ms(10_000);
    run.acked(1, ms(20_000));
    run.now = Instant::from_micros(u64::MAX);
    run.acked(1, ms(0));
    run.timed_out(1, Instant::from_micros(u64::MAX));
    assert_eq!(run.window(), 1);
    assert!(gap_us(&run) > 0);
}
