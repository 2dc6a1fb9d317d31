//! Answers, and reports of the link, that come at another time than usual; and what is measured by them.

use super::*;

const MS: Duration = Duration::from_millis(1);

/// The round of RFC 6298 section 3 is timed from where the link was done with the request, and a pause tells how long the
/// fragments since the last answer took.
#[test]
fn a_round_begins_with_its_first_fragment_and_is_timed_from_its_request() {
    let mut bench = Bench::new(6);
    bench.window = 3;
    for _ in 0..2 {
        let begun = bench.now;
        for _ in 0..2 {
            bench.fire();
            bench.now += MS;
        }
        let shot = bench.shoot().expect("a fragment");
        bench.now += MS;
        bench.settle(shot, true);
        let asked = bench.now;
        bench.now += MS;
        assert_eq!(bench.sender.round(bench.now), (begun, asked));
        for sequence in 0..6 {
            bench.received.0 |= bench.sender.tried.0 & Bitmap::of(sequence).0;
        }
        assert!(bench.answer().timed);
    }
    assert_eq!(bench.sender.need(), Need::Done);
}

/// RFC 6298 section 3 (Karn): an answer to what was asked twice tells no time, nor does one after its time.
#[test]
fn only_the_answer_to_a_request_that_was_sent_once_is_timed() {
    let mut bench = Bench::new(4);
    bench.window = 2;
    bench.round(&[]);
    bench.time_out();
    // It comes before the request was sent again.
    let news = bench.answer();
    assert_eq!((news.acked, news.lost, news.timed), (2, 0, false));
    assert_eq!(bench.round(&[]), [2, 3]);
    bench.time_out();
    bench.round(&[]);
    assert!(!bench.answer().timed);
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn what_is_missing_in_an_answer_after_its_time_goes_again() {
    let mut bench = Bench::new(4);
    bench.round(&[1, 2]);
    bench.time_out();
    assert_eq!(bench.answer().lost, 2);
    assert_eq!(bench.round(&[]), [1, 2]);
}

#[test]
fn while_the_link_has_the_request_no_answer_is_overdue() {
    let mut bench = Bench::new(1);
    bench.shoot().expect("a fragment");
    let until = bench.now + CONFIG.arq_timeout_max;
    assert_eq!(bench.sender.need(), Need::Answer(until));
}

#[test]
fn the_gap_passes_between_fragments() {
    let mut bench = Bench::new(3);
    let shot = bench.shoot().expect("a fragment");
    let (gap, config) = (Duration::from_millis(30), bench.config);
    bench
        .sender
        .settle(bench.now, shot, true, (TIMEOUT, gap), &config);
    assert_eq!(bench.sender.need(), Need::Frame(bench.now + gap));
}

/// The acknowledgement of the fragment was faster than that of its frame.
#[test]
fn what_was_acknowledged_is_not_lost_whatever_the_link_says() {
    let mut bench = Bench::new(3);
    bench.window = 1;
    let shot = bench.shoot().expect("a fragment");
    bench.ack(Bitmap::of(0)).expect("true");
    let (now, times, config) = (bench.now, (TIMEOUT, MS), bench.config);
    assert!(!bench.sender.settle(now, shot, false, times, &config));
    assert_eq!(bench.fire(), Some((1, true)));
}

/// RFC 8931 section 6.3: the end of an attempt is not undone, nor counted twice, by a frame that was still under way.
#[test]
fn what_the_link_says_after_the_end_of_an_attempt_changes_nothing() {
    let mut bench = Bench::new(3);
    bench.config.fragment_retries = 0;
    let shot = bench.shoot().expect("a fragment");
    bench.ack(Bitmap::NULL).expect("an abort");
    let need = bench.sender.need();
    assert_eq!(need, Need::Restart(bench.now + TIMEOUT));
    bench.now += MS;
    bench.settle(shot, false);
    assert_eq!(bench.sender.need(), need);
}

/// RFC 8931 section 7.1, MaxFragRetries: also where each answer says that the fragment is missing.
#[test]
fn a_fragment_that_every_answer_misses_is_not_sent_more_often_than_configured() {
    let mut bench = Bench::new(5);
    bench.config.fragment_retries = 2;
    for (sent, losses) in [
        (&[0, 1, 2, 3, 4][..], &[1, 2, 3][..]),
        (&[1, 2, 3], &[1, 2]),
        (&[1, 2], &[1]),
    ] {
        assert_eq!(bench.round(losses), sent);
        bench.answer();
    }
    assert_eq!(bench.shoot(), Some(Shot::Abort));
}

#[test]
fn without_retries_every_fragment_goes_once_all_the_same() {
    let mut bench = Bench::new(3);
    bench.window = 1;
    bench.config.fragment_retries = 0;
    for sequence in 0..3 {
        assert_eq!(bench.round(&[]), [sequence]);
        bench.answer();
    }
    assert_eq!(bench.sender.need(), Need::Done);
}

/// A path that is made anew: nothing else is under way when no answer comes.
#[test]
fn the_first_fragment_that_makes_the_path_anew_is_overdue_though_it_was_acknowledged() {
    let mut bench = Bench::new(3);
    bench.window = 1;
    bench.round(&[]);
    bench.answer();
    bench.sender.reroute();
    assert_eq!(bench.fire(), Some((0, true)));
    assert_eq!(bench.sender.flight(), 0);
    bench.time_out();
    assert_eq!(bench.sender.need(), Need::Frame(bench.now));
}

/// RFC 8931 section 6.2: also where the answer to the old number is overdue.
#[test]
fn a_fragment_that_became_too_long_while_it_was_asked_for_goes_under_an_unused_number() {
    let mut bench = Bench::new(3);
    bench.round(&[2]);
    bench.time_out();
    let (now, config) = (bench.now, bench.config);
    let mut sequences = Vec::new();
    while let Some(Shot::Fragment { sequence, .. }) = bench.sender.shoot(now, 32, ROOM - 4, &config) {
        sequences.push(sequence);
    }
    // Nothing but the first is known to have arrived, if that.
    assert_eq!(sequences, [3, 4, 5]);
}

/// RFC 8931 section 6: another way is looked for where no answer comes, or not even the first fragment gets away.
#[test]
fn a_path_is_in_doubt_before_the_first_fragment_and_while_nothing_is_heard() {
    assert!(Sender::EMPTY.doubts_path());
    let mut bench = Bench::new(3);
    assert!(!bench.sender.doubts_path());
    let shot = bench.shoot().expect("a fragment");
    bench.settle(shot, false);
    assert!(bench.sender.doubts_path());
    bench.round(&[]);
    assert!(!bench.sender.doubts_path());
    bench.time_out();
    assert!(bench.sender.doubts_path());
    bench.answer();
    assert!(!bench.sender.doubts_path());
}

#[test]
fn a_route_that_changes_before_the_first_fragment_or_behind_a_request_makes_nothing_anew() {
    let mut bench = Bench::new(3);
    bench.sender.reroute();
    assert_eq!(bench.round(&[1]), [0, 1, 2]);
    bench.sender.reroute();
    bench.answer();
    assert_eq!(bench.round(&[]), [1]);
}
