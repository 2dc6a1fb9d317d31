use std::vec::Vec;

use proptest::prelude::*;

use super::*;

mod answers;

const CONFIG: RecoverConfig = RecoverConfig {
    window: 32,
    arq_timeout: TIMEOUT,
    arq_timeout_min: TIMEOUT,
    arq_timeout_max: Duration::from_secs(10),
    adaptive: false,
    fragment_retries: 3,
    datagram_retries: 1,
    slack_len: 9,
    control: None,
    ecn: true,
    linger: Duration::from_millis(500),
};
const TIMEOUT: Duration = Duration::from_millis(1_200);
/// Room behind the MAC header of a frame, in bytes.
const ROOM: u16 = 100;

/// A sender, its clock and what the other end has received.
struct Bench {
    sender: Sender,
    now: Instant,
    window: u8,
    config: RecoverConfig,
    received: Bitmap,
}

impl Bench {
    /// A datagram of `count` fragments.
    fn new(count: u16) -> Self {
        let total = 85 + (count - 1) * 94;
        let mut sender = Sender::EMPTY;
        sender.begin(Geometry::new(total, 10, ROOM, 9).expect("it fits"));
        Self {
            sender,
            now: Instant::from_micros(1_000_000),
            window: 32,
            config: CONFIG,
            received: Bitmap::NULL,
        }
    }

    fn shoot(&mut self) -> Option<Shot> {
        self.sender.shoot(self.now, self.window, ROOM, &self.config)
    }

    fn settle(&mut self, shot: Shot, sent: bool) {
        let times = (TIMEOUT, Duration::ZERO);
        self.sender.settle(self.now, shot, sent, times, &self.config);
    }

    /// Sends the next fragment over a link that does not fail, and tells its number and whether it asks.
    fn fire(&mut self) -> Option<(u8, bool)> {
        let shot = self.shoot()?;
        self.settle(shot, true);
        match shot {
            Shot::Fragment {
                sequence,
                ack_request,
            } => Some((sequence, ack_request)),
            Shot::Abort => None,
        }
    }

    /// Sends until an answer is needed, and tells the numbers. Those in `losses` do not arrive.
    fn round(&mut self, losses: &[u8]) -> Vec<u8> {
        let mut sent = Vec::new();
        while matches!(self.sender.need(), Need::Frame(_)) {
            let Some((sequence, asks)) = self.fire() else {
                break;
            };
            sent.push(sequence);
            if !losses.contains(&sequence) {
                self.received.0 |= Bitmap::of(sequence).0;
            }
            assert_eq!(asks, matches!(self.sender.need(), Need::Answer(_)));
        }
        sent
    }

    fn ack(&mut self, bitmap: Bitmap) -> Result<News, Lie> {
        let ack = RfragAck {
            bitmap,
            ..RfragAck::default()
        };
        self.sender.acknowledged(self.now, &ack, TIMEOUT, &self.config)
    }

    fn answer(&mut self) -> News {
        self.ack(self.received).expect("true")
    }

    /// Lets the time of an answer pass.
    fn time_out(&mut self) {
        let Need::Answer(until) = self.sender.need() else {
            panic!("nothing is due")
        };
        assert_eq!(
            self.sender.expire(until - Duration::from_micros(1), &self.config),
            0
        );
        self.now = until;
        assert_ne!(self.sender.expire(self.now, &self.config), 0);
    }
}

#[test]
fn the_first_fragment_leaves_slack_and_the_others_fill_their_frames() {
    // RFC 8931 section 4.1.
    let geometry = Geometry::new(300, 10, 100, 9).expect("it fits");
    assert_eq!(geometry.piece(0), Some((0, 85)));
    assert_eq!(geometry.piece(1), Some((85, 94)));
    assert_eq!(geometry.piece(2), Some((179, 94)));
    assert_eq!(geometry.piece(3), Some((273, 27)));
    assert_eq!(geometry.piece(4), None);
    assert_eq!(geometry.all(), Bitmap::first(4));
    // One that just fills its fragments has none that is empty.
    let full = Geometry::new(85 + 94, 10, 100, 9).expect("it fits");
    assert_eq!((full.count(), full.piece(1)), (Some(2), Some((85, 94))));
    let one = Geometry::new(40, 10, 100, 9).expect("it fits");
    assert_eq!((one.count(), one.piece(0)), (Some(1), Some((0, 40))));
}

#[test]
fn headers_that_leave_no_slack_still_go_into_the_first_fragment_whole() {
    // RFC 8931 section 6.1.
    let geometry = Geometry::new(300, 92, 100, 9).expect("it fits");
    assert_eq!(geometry.piece(0), Some((0, 92)));
    assert_eq!(Geometry::new(300, 95, 100, 9), None);
}

#[test]
fn fragments_stay_below_512_bytes_and_32_in_number() {
    // RFC 8931 section 7.1, MaxFragmentSize.
    let geometry = Geometry::new(1280, 10, 2000, 0).expect("it fits");
    assert_eq!(geometry.piece(0), Some((0, 511)));
    assert_eq!(geometry.piece(2), Some((1022, 258)));
    // RFC 8931 section 5.1: sequence numbers 0 to 31.
    assert!(Geometry::new(32 * 40, 10, 46, 0).is_some());
    assert_eq!(Geometry::new(32 * 40 + 1, 10, 46, 0), None);
    assert_eq!(Geometry::new(100, 10, 6, 0), None);
    assert_eq!(Geometry::new(100, 10, 5, 0), None);
    assert_eq!(Geometry::new(u16::MAX, 10, 46, 0), None);
}

#[test]
fn the_last_fragment_of_a_round_asks_for_an_acknowledgement() {
    // RFC 8931 section 6.
    let mut bench = Bench::new(4);
    for sequence in 0..4 {
        assert_eq!(bench.fire(), Some((sequence, sequence == 3)));
    }
    assert_eq!(bench.fire(), None);
    assert_eq!(bench.sender.need(), Need::Answer(bench.now + TIMEOUT));
    bench.received = Bitmap::first(4);
    assert_eq!(bench.answer().acked, 4);
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn the_last_fragment_of_a_window_asks_for_an_acknowledgement() {
    let mut bench = Bench::new(7);
    bench.window = 3;
    assert_eq!(bench.round(&[]), [0, 1, 2]);
    assert_eq!(bench.answer().acked, 3);
    assert_eq!(bench.round(&[]), [3, 4, 5]);
    bench.answer();
    assert_eq!(bench.round(&[]), [6]);
    bench.answer();
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn all_fragments_go_once_before_any_goes_again_and_lost_ones_oldest_first() {
    // RFC 8931 section 6: round-robin.
    let mut bench = Bench::new(6);
    bench.window = 3;
    assert_eq!(bench.round(&[0, 1]), [0, 1, 2]);
    assert_eq!(
        bench.answer(),
        News {
            acked: 1,
            lost: 2,
            timed: true
        }
    );
    assert_eq!(bench.round(&[4]), [3, 4, 5]);
    bench.answer();
    assert_eq!(bench.round(&[1]), [0, 1, 4]);
    assert_eq!(
        bench.answer(),
        News {
            acked: 2,
            lost: 1,
            timed: false
        }
    );
    assert_eq!(bench.round(&[]), [1]);
    bench.answer();
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn xr17_the_fragment_that_asked_is_sent_again_when_no_answer_comes() {
    // RFC 8931 section 6: the fragment with the X flag is retried upon a time-out.
    let mut bench = Bench::new(5);
    assert_eq!(bench.round(&[4]), [0, 1, 2, 3, 4]);
    bench.time_out();
    assert_eq!(bench.sender.back_offs(), 1);
    assert_eq!(bench.round(&[]), [4]);
    // Not timed: nobody knows which of the two is answered (RFC 6298 section 3).
    assert_eq!(
        bench.answer(),
        News {
            acked: 5,
            lost: 0,
            timed: false
        }
    );
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn xr12_without_any_answer_the_sender_gives_up() {
    let mut bench = Bench::new(5);
    for _attempt in 0..2 {
        assert_eq!(bench.round(&[]), [0, 1, 2, 3, 4]);
        for _retry in 0..3 {
            bench.time_out();
            assert_eq!(bench.round(&[]), [4]);
        }
        bench.time_out();
        // RFC 8931 section 6.3: the path is told.
        assert_eq!(bench.shoot(), Some(Shot::Abort));
        bench.settle(Shot::Abort, true);
        if bench.sender.need() == Need::Failed {
            return;
        }
        assert_eq!(bench.sender.need(), Need::Restart(bench.now));
        bench.sender.restart();
        bench.sender.begin(Bench::new(5).sender.geometry);
    }
    panic!("it goes on for ever");
}

#[test]
fn a_fragment_is_not_sent_again_more_often_than_configured() {
    // RFC 8931 section 7.1, MaxFragRetries.
    let mut bench = Bench::new(3);
    assert_eq!(bench.round(&[1]), [0, 1, 2]);
    assert_eq!(bench.answer().lost, 1);
    for _ in 0..3 {
        assert_eq!(bench.round(&[1]), [1]);
        bench.time_out();
    }
    assert_eq!(bench.shoot(), Some(Shot::Abort));
}

#[test]
fn xr7_a_null_bitmap_ends_the_attempt_at_once() {
    // RFC 8931 section 6.3.
    let mut bench = Bench::new(5);
    bench.fire();
    bench.fire();
    assert_eq!(bench.ack(Bitmap::NULL), Ok(News::default()));
    assert_eq!(bench.sender.need(), Need::Restart(bench.now + TIMEOUT));
    assert_eq!(bench.shoot(), None);
    bench.sender.restart();
    bench.sender.begin(Bench::new(5).sender.geometry);
    assert_eq!(bench.fire(), Some((0, false)));
    bench.ack(Bitmap::NULL).expect("true");
    // RFC 8931 section 7.1, MaxDatagramRetries.
    assert_eq!(bench.sender.need(), Need::Failed);
}

#[test]
fn xr6_acknowledgements_of_what_was_never_sent_change_nothing() {
    let mut bench = Bench::new(5);
    bench.window = 3;
    assert_eq!(bench.round(&[]), [0, 1, 2]);
    let before = bench.sender;
    for lie in [
        Bitmap::FULL,
        Bitmap::of(3),
        Bitmap::of(5),
        Bitmap::first(4),
        Bitmap(Bitmap::first(3).0 | 1),
    ] {
        assert_eq!(bench.ack(lie), Err(Lie));
        assert_eq!(bench.sender, before);
    }
    bench.answer();
    assert_eq!(bench.round(&[]), [3, 4]);
    assert!(bench.ack(Bitmap(!1)).is_err());
    assert_eq!(
        bench.ack(Bitmap::FULL),
        Ok(News {
            acked: 2,
            lost: 0,
            timed: true
        })
    );
    assert_eq!(bench.sender.need(), Need::Done);
    // After that, nothing is heard any more.
    assert_eq!(bench.ack(Bitmap::NULL), Err(Lie));
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn an_answer_to_an_earlier_request_does_not_make_fragments_lost() {
    let mut bench = Bench::new(6);
    bench.window = 3;
    bench.round(&[]);
    bench.time_out();
    assert_eq!(bench.round(&[]), [2]);
    bench.answer();
    assert_eq!(bench.round(&[]), [3, 4, 5]);
    // The answer to the second request of the first window comes late.
    assert_eq!(bench.ack(Bitmap::first(3)), Ok(News::default()));
    assert!(matches!(bench.sender.need(), Need::Answer(_)));
    bench.answer();
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn a_first_fragment_that_does_not_reach_the_next_hop_goes_again_before_all_others() {
    let mut bench = Bench::new(3);
    let shot = bench.shoot().expect("the first");
    bench.settle(shot, false);
    assert_eq!(bench.fire(), Some((0, false)));
    assert_eq!(bench.fire(), Some((1, false)));
    // Another one that the link loses is not waited for, but takes its turn; the request with it.
    let last = bench.shoot().expect("the last");
    bench.settle(last, false);
    assert_eq!(bench.fire(), Some((2, true)));
    bench.received = Bitmap::first(3);
    bench.answer();
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn xr11_a_next_hop_that_is_gone_ends_the_attempt_after_all_retries() {
    let mut bench = Bench::new(3);
    for _ in 0..=3 {
        let shot = bench.shoot().expect("a fragment");
        assert!(matches!(shot, Shot::Fragment { sequence: 0, .. }));
        bench.settle(shot, false);
    }
    // No abort: nobody would hear it.
    assert_eq!(bench.sender.need(), Need::Restart(bench.now));
}

#[test]
fn what_the_link_lost_and_yet_arrived_is_not_sent_again() {
    let mut bench = Bench::new(3);
    bench.fire();
    bench.fire();
    let last = bench.shoot().expect("the last");
    // The frame arrived, its link acknowledgement did not, and 1 was lost further on.
    bench.settle(last, false);
    bench
        .ack(Bitmap(Bitmap::of(0).0 | Bitmap::of(2).0))
        .expect("true");
    assert_eq!(bench.fire(), Some((1, true)));
    bench.ack(Bitmap::first(3)).expect("true");
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn an_acknowledgement_may_come_before_the_link_is_done_with_the_frame() {
    let mut bench = Bench::new(1);
    let shot = bench.shoot().expect("a fragment");
    bench.ack(Bitmap::FULL).expect("true");
    bench.settle(shot, true);
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn after_a_change_of_route_the_first_fragment_makes_the_path_and_asks() {
    // RFC 8931 section 6.
    let mut bench = Bench::new(5);
    bench.window = 3;
    bench.round(&[]);
    bench.answer();
    bench.fire();
    bench.sender.reroute();
    assert_eq!(bench.fire(), Some((0, true)));
    // What was under way over the old path is missing.
    assert_eq!(
        bench.answer(),
        News {
            acked: 0,
            lost: 1,
            timed: false
        }
    );
    assert_eq!(bench.round(&[]), [4, 3]);
}

#[test]
fn xr3_fragments_that_became_too_long_go_again_under_unused_numbers() {
    // RFC 8931 section 6.2: the example of sequence number 5.
    let mut bench = Bench::new(6);
    assert_eq!(bench.round(&[3, 5]), [0, 1, 2, 3, 4, 5]);
    bench.time_out();
    assert_eq!(bench.round(&[]), [5]);
    bench.answer();
    let narrow = bench
        .sender
        .shoot(bench.now, 32, ROOM - 4, &CONFIG)
        .expect("a fragment");
    // Fragment 3 began at byte 273; from there on all is cut anew, 90 bytes each, from the first number not used.
    let expected = Shot::Fragment {
        sequence: 6,
        ack_request: false,
    };
    assert_eq!(
        (narrow, bench.sender.geometry.piece(6)),
        (expected, Some((273, 90)))
    );
    bench.settle(narrow, true);
    let mut starts = [273].to_vec();
    while let Some(Shot::Fragment {
        sequence,
        ack_request,
    }) = bench.sender.shoot(bench.now, 32, ROOM - 4, &CONFIG)
    {
        let (start, len) = bench.sender.geometry.piece(sequence).expect("a fragment");
        assert!(sequence > 6 && len <= 90);
        starts.push(start);
        assert_eq!(ack_request, start + len == bench.sender.geometry.total);
    }
    assert_eq!(starts, [273, 363, 453, 543]);
    assert_eq!(bench.ack(Bitmap::FULL).map(|news| news.acked), Ok(4));
    assert_eq!(bench.sender.need(), Need::Done);
}

#[test]
fn a_first_fragment_that_became_too_long_needs_another_tag() {
    let mut bench = Bench::new(3);
    bench.fire();
    assert_eq!(bench.sender.shoot(bench.now, 32, 60, &CONFIG), Some(Shot::Abort));
    bench.settle(Shot::Abort, true);
    assert_eq!(bench.sender.need(), Need::Restart(bench.now));
}

#[test]
fn the_counts_of_retries_of_all_fragments_fit_three_words() {
    let mut sender = Bench::new(32).sender;
    for round in 0..9 {
        for sequence in 0..32 {
            let expected = if sequence % 3 == 0 { round.min(7) } else { 0 };
            assert_eq!(sender.retries(sequence), expected);
        }
        for sequence in (0..32).step_by(3) {
            sender.count_retry(sequence);
        }
    }
}

/// What happens next to a sender.
#[derive(Clone, Copy, Debug)]
enum Step {
    Shoot { sent: bool, arrives: bool },
    Answer,
    Ack(u32),
    Late { ms: u16 },
    Reroute,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (any::<bool>(), any::<bool>()).prop_map(|(sent, arrives)| Step::Shoot { sent, arrives }),
        4 => Just(Step::Answer),
        1 => any::<u32>().prop_map(Step::Ack),
        2 => (0..5_000_u16).prop_map(|ms| Step::Late { ms }),
        1 => Just(Step::Reroute),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #[test]
    fn xr14_whatever_happens_the_sender_ends_or_has_something_to_do(
        count in 1..33_u16, window in 0..40_u8, room in 90..110_u16, steps in steps(),
    ) {
        let mut bench = Bench::new(count);
        bench.window = window;
        for step in steps {
            match step {
                Step::Shoot { sent, arrives } => {
                    let wanted = matches!(bench.sender.need(), Need::Frame(_));
                    let shot = bench.sender.shoot(bench.now, window, room, &CONFIG);
                    prop_assert!(shot.is_none() || wanted);
                    // Nothing to send though a frame was wanted: only if the attempt ended with it.
                    prop_assert!(shot.is_some() || !matches!(bench.sender.need(), Need::Frame(_)));
                    if let Some(Shot::Fragment { sequence, .. }) = shot {
                        let len = bench.sender.geometry.piece(sequence).map_or(0, |(_, len)| len);
                        prop_assert!(len > 0 && len + 6 <= room);
                        if sent && arrives {
                            bench.received.0 |= Bitmap::of(sequence).0;
                        }
                    }
                    if let Some(shot) = shot {
                        bench.settle(shot, sent);
                    }
                    // A first fragment that was lost, and makes the path anew though all of a window is overdue, is one
                    // more (RFC 8931 section 6).
                    let out = bench.sender.outstanding();
                    let most = window.max(1) + u8::from(out.has(0));
                    prop_assert!(out.count() <= most || matches!(bench.sender.need(), Need::Answer(_)));
                }
                Step::Answer => drop(bench.ack(bench.received)),
                Step::Ack(bitmap) => drop(bench.ack(Bitmap(bitmap))),
                Step::Late { ms } => {
                    bench.now += Duration::from_millis(ms.into());
                    bench.sender.expire(bench.now, &CONFIG);
                }
                Step::Reroute => bench.sender.reroute(),
            }
            match bench.sender.need() {
                Need::Restart(_) => {
                    bench.received = Bitmap::NULL;
                    bench.sender.restart();
                    bench.sender.begin(Bench::new(count).sender.geometry);
                }
                Need::Done | Need::Failed => break,
                _ => {}
            }
        }
    }
}

/// RFC 8931 section 6: the back-off ends with an answer.
#[test]
fn an_answer_ends_the_back_off() {
    let mut bench = Bench::new(4);
    bench.round(&[1]);
    bench.time_out();
    assert_eq!(bench.sender.back_offs(), 1);
    bench.fire();
    bench.answer();
    assert_eq!(bench.sender.back_offs(), 0);
}
