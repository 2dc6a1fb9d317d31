//! Single exchanges to the microsecond, the distribution of back-offs, and every course that a frame can take.

use super::*;
use std::collections::BTreeSet;
use std::vec::Vec;

mod any_order;

/// What the device and the air add to an exchange, in microseconds (IEEE 802.15.4-2020, 10.2.8 and table 11-1).
const ASSESSMENT: u64 = 8 * 16;
const TURNAROUND: u64 = 12 * 16;
const ACK_ON_AIR: u64 = 11 * 32;

/// Time of a frame on the air, with the 6 bytes that come before it.
fn airtime(len: usize) -> u64 {
    (len as u64 + 6) * 32
}

/// What comes of the device's being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Air {
    Acknowledged,
    Lost,
    Busy,
    Refused,
}

/// A sender with an ideal device.
struct Sender {
    csma: Csma,
    config: CsmaConfig,
    rng: Rng,
    now: u64,
    /// The frame in hand, in bytes.
    len: usize,
}

/// What an exchange was seen to do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Course {
    /// Every wait before the device was asked, in microseconds.
    back_offs: Vec<u64>,
    /// Whether the device was told that it had the frame.
    again: Vec<bool>,
    report: Option<TxReport>,
}

impl Sender {
    fn new(seed: u64, params: CsmaParams) -> Self {
        let config = CsmaConfig {
            params,
            ..CsmaConfig::default()
        };
        Self {
            csma: Csma::new(),
            config,
            rng: Rng::new(seed),
            now: 1_000_000,
            len: 0,
        }
    }

    fn instant(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    fn start(&mut self, len: usize, acknowledgement: Option<u8>) -> Step {
        self.len = len;
        self.csma
            .start(self.instant(), acknowledgement, &self.config, &mut self.rng)
    }

    fn transmitted(&mut self, outcome: TxOutcome) -> Option<Step> {
        self.csma
            .transmitted(self.instant(), self.len, outcome, &self.config, &mut self.rng)
    }

    fn timer(&mut self) -> Option<Step> {
        self.csma.timer(self.instant(), &self.config, &mut self.rng)
    }

    /// Sends a frame over an air that does what `air` says, at each asking.
    fn send(&mut self, len: usize, ack_request: bool, mut air: impl FnMut() -> Air) -> Course {
        let mut course = Course::default();
        let mut asked = self.now;
        let mut step = self.start(len, ack_request.then_some(9));
        loop {
            step = match step {
                Step::Wait(until) => {
                    self.now = until.as_micros();
                    self.timer().expect("the timer was set for this instant")
                }
                Step::Transmit { again } => {
                    course.back_offs.push(self.now - asked);
                    course.again.push(again);
                    let step = self.ask_device(len, ack_request, air());
                    asked = self.now;
                    step
                }
                Step::Finished(report) => {
                    course.report = Some(report);
                    return course;
                }
            }
        }
    }

    /// One asking, until the next step after it; an acknowledgement is waited for.
    fn ask_device(&mut self, len: usize, ack_request: bool, air: Air) -> Step {
        self.now += ASSESSMENT;
        let outcome = match air {
            Air::Busy => TxOutcome::ChannelBusy,
            Air::Refused => TxOutcome::Refused,
            Air::Acknowledged | Air::Lost => TxOutcome::Sent,
        };
        if outcome == TxOutcome::Sent {
            self.now += TURNAROUND + airtime(len);
        }
        let step = self.transmitted(outcome).expect("the device was asked");
        if air != Air::Acknowledged || !ack_request {
            let Step::Wait(until) = step else { return step };
            if air != Air::Lost {
                return step;
            }
            assert_eq!(
                until.as_micros(),
                self.now + 864,
                "macAckWaitDuration after the end of the frame"
            );
            self.now = until.as_micros();
            return self.timer().expect("the wait is over");
        }
        self.now += TURNAROUND + ACK_ON_AIR;
        self.csma
            .acknowledged(self.instant(), 9)
            .expect("the acknowledgement is waited for")
    }
}

fn report(outcome: TxOutcome, attempts: u8, busy: u8) -> Option<TxReport> {
    Some(TxReport {
        outcome,
        attempts,
        busy,
    })
}

/// Interframe space 640, back-off 0..7 * 320, assessment 128, turnaround 192, frame 4256, turnaround 192, ACK 352 µs.
#[test]
fn an_exchange_of_the_longest_frame_takes_6880_us_in_the_mean() {
    let mut times = BTreeSet::new();
    for seed in 0..200 {
        let mut sender = Sender::new(seed, CsmaParams::default());
        sender.send(127, true, || Air::Acknowledged);
        let start = sender.now;
        let course = sender.send(127, true, || Air::Acknowledged);
        assert_eq!(course.report, report(TxOutcome::Acked, 1, 0));
        times.insert(sender.now - start);
    }
    let expected: BTreeSet<u64> = (0..8)
        .map(|units| 640 + units * 320 + 128 + 192 + 4256 + 192 + 352)
        .collect();
    assert_eq!(times, expected, "every back-off, each exact to the microsecond");
    assert_eq!(times.iter().sum::<u64>(), 8 * 6_880);
    assert_eq!((times.first(), times.last()), (Some(&5_760), Some(&8_000)));
}

/// IEEE 802.15.4-2020, 6.2.4: the space counts from the end of the frame or of its acknowledgement, its length comes
/// from the frame that was sent, and time that passed anyway counts.
#[test]
fn the_next_frame_keeps_the_interframe_space() {
    for (len, ack_request, pause, expected) in [
        (18, false, 0, 192),
        (19, false, 0, 640),
        (18, true, 0, 192),
        (127, true, 0, 640),
        (127, true, 600, 40),
        (127, true, 640, 0),
        (127, true, 9_999, 0),
        (18, true, 191, 1),
    ] {
        // Without back-off, the wait is what is left of the space.
        let mut sender = Sender::new(
            1,
            CsmaParams {
                min_be: 0,
                ..CsmaParams::default()
            },
        );
        let first = sender.send(len, ack_request, || Air::Acknowledged);
        assert_eq!(first.back_offs, [0], "nothing to keep before the first frame");
        sender.now += pause;
        let second = sender.send(60, true, || Air::Acknowledged);
        assert_eq!(second.back_offs, [expected], "{len} bytes, {pause} us later");
    }
}

#[test]
fn a_busy_channel_leaves_no_space_to_be_kept() {
    let params = CsmaParams {
        min_be: 0,
        max_backoffs: 0,
        ..CsmaParams::default()
    };
    let mut sender = Sender::new(1, params);
    assert_eq!(
        sender.send(127, true, || Air::Busy).report,
        report(TxOutcome::ChannelBusy, 0, 1)
    );
    assert_eq!(sender.send(127, true, || Air::Acknowledged).back_offs, [0]);
}

/// IEEE 802.15.4-2020, 6.2.5.1: BE grows with every busy assessment, from macMinBe to macMaxBe.
#[test]
fn back_offs_are_uniform_over_ranges_that_double() {
    const RUNS: usize = 20_000;
    let mut sender = Sender::new(42, CsmaParams::default());
    let mut counts = [[0_u32; 32]; 5];
    for _ in 0..RUNS {
        let course = sender.send(127, true, || Air::Busy);
        assert_eq!(course.back_offs.len(), 5);
        for (count, back_off) in counts.iter_mut().zip(course.back_offs) {
            assert_eq!(back_off % 320, 0, "whole unit back-off periods");
            count[(back_off / 320) as usize] += 1;
        }
    }
    for (count, range) in counts.iter().zip([8, 16, 32, 32, 32]) {
        let expected = RUNS as f64 / range as f64;
        let (inside, outside) = count.split_at(range);
        assert!(outside.iter().all(|&n| n == 0), "never beyond 2^BE - 1");
        let chi_square: f64 = inside
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected)
            .sum();
        // Five standard deviations of chi square with range - 1 degrees of freedom.
        let freedom = (range - 1) as f64;
        assert!(
            chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(),
            "{chi_square} over {range}"
        );
    }
}

/// IEEE 802.15.4-2020, 6.7.4.3: a retransmission begins with CSMA/CA from its start.
#[test]
fn a_retransmission_starts_with_the_smallest_range_again() {
    let mut largest = [0; 4];
    for seed in 0..500 {
        let mut sender = Sender::new(seed, CsmaParams::default());
        let mut airs = [Air::Busy, Air::Lost, Air::Busy, Air::Lost].into_iter();
        let course = sender.send(127, true, || airs.next().unwrap_or(Air::Acknowledged));
        assert_eq!(course.report, report(TxOutcome::Acked, 3, 2));
        assert_eq!(course.again, [false, true, true, true, true]);
        for (largest, back_off) in largest.iter_mut().zip(course.back_offs) {
            *largest = back_off.max(*largest);
        }
    }
    assert_eq!(largest, [7 * 320, 15 * 320, 7 * 320, 15 * 320]);
}

#[test]
fn a_frame_without_acknowledgement_is_finished_when_it_is_sent() {
    let mut sender = Sender::new(3, CsmaParams::default());
    let course = sender.send(127, false, || Air::Lost);
    assert_eq!(course.report, report(TxOutcome::Sent, 1, 0));
    assert!(sender.csma.is_idle());
}

/// The four attempts of a frame that nobody acknowledges, to the microsecond.
#[test]
fn giving_up_takes_each_attempt_and_each_wait() {
    let mut sender = Sender::new(3, CsmaParams::default());
    let start = sender.now;
    let course = sender.send(127, true, || Air::Lost);
    assert_eq!(course.report, report(TxOutcome::NoAck, 4, 0));
    let back_offs: u64 = course.back_offs.iter().sum();
    assert_eq!(
        sender.now - start,
        back_offs + 4 * (ASSESSMENT + TURNAROUND + airtime(127) + 864)
    );
}

/// Kumar et al., NSDI 2020, section 7.1: a random duration between 0 and d, in addition to the back-off, before each
/// retransmission and only there.
#[test]
fn the_retry_delay_is_uniform_and_comes_before_retransmissions_only() {
    let d = 40_000;
    let delay = Duration::from_micros(d);
    let mut sender = Sender::new(
        5,
        CsmaParams {
            min_be: 0,
            max_be: 0,
            retry_delay_max: delay,
            ..CsmaParams::default()
        },
    );
    let mut delays = Vec::new();
    for _ in 0..2_000 {
        let mut airs = [Air::Busy, Air::Lost, Air::Busy].into_iter();
        sender.now += 10_000;
        let course = sender.send(127, true, || airs.next().unwrap_or(Air::Acknowledged));
        let [first, after_busy, retry, busy_again] = course.back_offs[..] else {
            panic!("{course:?}")
        };
        assert_eq!((first, after_busy, busy_again), (0, 0, 0));
        delays.push(retry);
    }
    assert!(delays.iter().all(|&delay| delay <= d));
    for tenth in 0..10 {
        let count = delays
            .iter()
            .filter(|&&delay| delay * 10 / (d + 1) == tenth)
            .count();
        // 200 expected, standard deviation 13.4.
        assert!(count.abs_diff(200) < 67, "{count} in tenth {tenth}");
    }
}

/// IEEE 802.15.4-2020, 6.2.5.1, gives the frame up; OpenThread counts it as an attempt that failed, and begins CSMA/CA from its
/// start, without the delay of a retry.
#[test]
fn an_attempt_that_met_a_busy_channel_is_the_last_unless_it_is_to_be_followed_by_others() {
    let params = CsmaParams {
        max_backoffs: 1,
        max_retries: 2,
        retry_delay_max: Duration::from_millis(40),
        ..CsmaParams::default()
    };
    let outcome = |params, seed, air: &[Air]| {
        let mut airs = air.iter().copied();
        let course = Sender::new(seed, params).send(127, true, || airs.next().unwrap_or(Air::Busy));
        (course.report.expect("it is done"), course.back_offs)
    };
    let given_up = |report: TxReport| (report.outcome, report.attempts, report.busy);
    let retrying = CsmaParams {
        retry_busy: true,
        ..params
    };
    let mut largest = [0; 6];
    for seed in 0..200 {
        let (report, _) = outcome(params, seed, &[]);
        assert_eq!(given_up(report), (TxOutcome::ChannelBusy, 0, 2));
        let (report, back_offs) = outcome(retrying, seed, &[]);
        assert_eq!(given_up(report), (TxOutcome::ChannelBusy, 0, 6));
        for (largest, back_off) in largest.iter_mut().zip(back_offs) {
            *largest = back_off.max(*largest);
        }
        // Attempts of both kinds count together.
        let (report, _) = outcome(retrying, seed, &[Air::Busy, Air::Busy, Air::Lost, Air::Lost]);
        assert_eq!(given_up(report), (TxOutcome::NoAck, 2, 2));
        let (report, _) = outcome(
            retrying,
            seed,
            &[Air::Busy, Air::Busy, Air::Lost, Air::Acknowledged],
        );
        assert_eq!(given_up(report), (TxOutcome::Acked, 2, 2));
    }
    assert_eq!(largest, [7 * 320, 15 * 320, 7 * 320, 15 * 320, 7 * 320, 15 * 320]);
}

#[test]
fn a_retry_delay_of_one_microsecond_is_zero_or_one() {
    let params = CsmaParams {
        min_be: 0,
        retry_delay_max: Duration::from_micros(1),
        ..CsmaParams::default()
    };
    let mut sender = Sender::new(5, params);
    let delays: BTreeSet<u64> = (0..50)
        .flat_map(|_| {
            sender.now += 10_000;
            sender
                .send(127, true, || Air::Lost)
                .back_offs
                .into_iter()
                .take(2)
                .skip(1)
        })
        .collect();
    assert_eq!(delays, BTreeSet::from([0, 1]));
}

/// Every course that a frame can take with few retries, against what the standard says in a few lines.
#[test]
fn every_course_ends_with_the_report_that_it_deserves() {
    let params = CsmaParams {
        max_backoffs: 2,
        max_retries: 2,
        ..CsmaParams::default()
    };
    let mut courses = 0;
    let mut open: Vec<Vec<Air>> = Vec::from([Vec::new()]);
    while let Some(script) = open.pop() {
        match deserved(&script, params) {
            None => {
                for air in [Air::Acknowledged, Air::Lost, Air::Busy, Air::Refused] {
                    let mut longer = script.clone();
                    longer.push(air);
                    open.push(longer);
                }
            }
            Some(expected) => {
                courses += 1;
                let mut airs = script.iter().copied();
                let mut sender = Sender::new(courses, params);
                let course = sender.send(127, true, || airs.next().expect("the frame should be finished"));
                assert_eq!(course.report, Some(expected), "{script:?}");
                assert_eq!(airs.next(), None, "finished too early: {script:?}");
                let again: Vec<bool> = (0..script.len()).map(|i| i > 0).collect();
                assert_eq!(course.again, again);
            }
        }
    }
    // An attempt can end in 3 ways for good with 0, 1 or 2 busy assessments, but for the last one that is too busy:
    // 2 * 3 + 1 courses end with it, and 3 go on to the next; the last attempt has no next.
    assert_eq!(courses, 7 + 3 * 7 + 9 * (7 + 3));
}

/// The report after these askings, `None` if the frame goes on.
fn deserved(script: &[Air], params: CsmaParams) -> Option<TxReport> {
    let count = |air| script.iter().filter(|&&other| other == air).count() as u8;
    let (lost, busy) = (count(Air::Lost), count(Air::Busy));
    let busy_in_a_row = script.iter().rev().take_while(|&&air| air == Air::Busy).count();
    let (outcome, attempts) = match script.last()? {
        Air::Acknowledged => (TxOutcome::Acked, lost + 1),
        Air::Refused => (TxOutcome::Refused, lost),
        Air::Lost if lost > params.max_retries => (TxOutcome::NoAck, lost),
        Air::Busy if busy_in_a_row > usize::from(params.max_backoffs) => (TxOutcome::ChannelBusy, lost),
        Air::Lost | Air::Busy => return None,
    };
    report(outcome, attempts, busy)
}

#[test]
fn a_device_that_waits_for_the_acknowledgement_itself_may_say_how_it_went() {
    let mut sender = Sender::new(
        1,
        CsmaParams {
            min_be: 0,
            max_retries: 1,
            ..CsmaParams::default()
        },
    );
    assert_eq!(sender.start(60, Some(9)), Step::Transmit { again: false });
    sender.now += 5_000;
    assert_eq!(
        sender.transmitted(TxOutcome::NoAck),
        Some(Step::Wait(Instant::from_micros(sender.now + 640)))
    );
    sender.now += 640;
    assert_eq!(sender.timer(), Some(Step::Transmit { again: true }));
    let finished = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 2,
        busy: 0,
    };
    assert_eq!(
        sender.transmitted(TxOutcome::Acked),
        Some(Step::Finished(finished))
    );
}

#[test]
fn calls_that_mean_nothing_change_nothing() {
    let mut sender = Sender::new(1, CsmaParams::default());
    let harmless = |sender: &mut Sender, transmitted: bool, timer: Option<Step>| {
        let before = sender.csma.clone();
        assert_eq!(
            sender.csma.acknowledged(sender.instant(), 8),
            None,
            "of another frame"
        );
        if transmitted {
            assert_eq!(sender.transmitted(TxOutcome::Sent), None);
            assert_eq!(sender.transmitted(TxOutcome::ChannelBusy), None);
        }
        assert_eq!(sender.timer(), timer);
        assert_eq!(sender.timer(), timer, "twice");
        assert_eq!(sender.csma, before);
    };
    harmless(&mut sender, true, None);
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        None,
        "no frame in hand"
    );

    let Step::Wait(until) = sender.start(127, Some(9)) else {
        panic!("this seed backs off")
    };
    assert!(until > sender.instant());
    harmless(&mut sender, true, Some(Step::Wait(until)));
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        None,
        "nothing was sent"
    );

    sender.now = until.as_micros() + 77;
    assert_eq!(
        sender.timer(),
        Some(Step::Transmit { again: false }),
        "late, so at once"
    );
    harmless(&mut sender, false, None);
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        None,
        "nothing was sent yet"
    );

    let Some(Step::Wait(until)) = sender.transmitted(TxOutcome::Sent) else {
        panic!("an ACK is expected")
    };
    assert_eq!(until.as_micros(), sender.now + 864);
    harmless(&mut sender, true, Some(Step::Wait(until)));

    sender.now += 544;
    assert!(matches!(
        sender.csma.acknowledged(sender.instant(), 9),
        Some(Step::Finished(_))
    ));
    harmless(&mut sender, true, None);
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        None,
        "the same once more"
    );
}

#[test]
fn an_acknowledgement_that_the_device_hands_over_late_still_counts() {
    let mut sender = Sender::new(
        1,
        CsmaParams {
            min_be: 0,
            ..CsmaParams::default()
        },
    );
    let _ = sender.start(60, Some(9));
    let _ = sender.transmitted(TxOutcome::Sent);
    sender.now += 2_000;
    let finished = TxReport {
        outcome: TxOutcome::Acked,
        attempts: 1,
        busy: 0,
    };
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        Some(Step::Finished(finished))
    );
}

#[test]
fn a_frame_that_is_started_over_another_begins_anew() {
    let mut sender = Sender::new(
        1,
        CsmaParams {
            min_be: 0,
            max_be: 0,
            ..CsmaParams::default()
        },
    );
    let _ = sender.start(60, Some(9));
    let _ = sender.transmitted(TxOutcome::ChannelBusy);
    let _ = sender.transmitted(TxOutcome::Sent);
    let Step::Wait(until) = sender.start(60, Some(10)) else {
        panic!("the space after the sent frame")
    };
    assert_eq!(
        sender.csma.acknowledged(sender.instant(), 9),
        None,
        "of the frame that was forgotten"
    );
    sender.now = until.as_micros();
    assert_eq!(sender.timer(), Some(Step::Transmit { again: false }));
    let finished = TxReport {
        outcome: TxOutcome::Refused,
        attempts: 0,
        busy: 0,
    };
    assert_eq!(
        sender.transmitted(TxOutcome::Refused),
        Some(Step::Finished(finished))
    );
}

#[test]
fn the_empty_value_is_idle() {
    assert_eq!(Csma::new(), Csma::default());
    assert!(Csma::new().is_idle());
}

#[test]
fn the_largest_parameters_still_come_to_an_end() {
    let delay = Duration::from_micros(u64::MAX);
    let params = CsmaParams {
        min_be: 255,
        max_be: 255,
        max_backoffs: 255,
        max_retries: 255,
        retry_delay_max: delay,
        retry_busy: false,
    };
    let mut sender = Sender::new(1, params);
    let lost = sender.send(127, true, || Air::Lost);
    assert_eq!(lost.report, report(TxOutcome::NoAck, 255, 0));
    assert!(lost.back_offs[0] <= 255 * 320);
    let busy = sender.send(127, true, || Air::Busy);
    assert_eq!(
        (busy.report, busy.back_offs.len()),
        (report(TxOutcome::ChannelBusy, 0, 255), 256)
    );
}
