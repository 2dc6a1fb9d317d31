//! Hidden terminals really collide.

use sixlo::netdev::CsmaParams;
use sixlo_sim::frames::To;
use sixlo_sim::medium::Loss;
use sixlo_sim::observer::{Observer, OnAir};
use sixlo_sim::time::Time;

use crate::raw_mac::{Access, Job, line, run};

const FOR_EVER: u64 = u64::MAX;
const NO_RETRIES: CsmaParams = {
    let mut params = csma_default();
    params.max_retries = 0;
    params
};

const fn csma_default() -> CsmaParams {
    CsmaParams {
        min_be: 3,
        max_be: 5,
        max_backoffs: 4,
        max_retries: 3,
        retry_delay_max: sixlo::time::Duration::ZERO,
        retry_busy: false,
    }
}

/// Both ends of three nodes in a line, saturated, without acknowledgements and retries. The second starts a little
/// later, so that the two are not on one grid of symbols.
fn ends(mpdu_len: usize, interference_range_m: f64, observer: &mut impl Observer) -> (u64, u64) {
    let job = |from, start_us| Job {
        from,
        to: 1,
        mpdu_len,
        ack: false,
        start_us,
        count: FOR_EVER,
    };
    let jobs = [job(0, 0), job(2, 1_003)];
    let config = line(&[0.0, 5.0, 10.0], 6.0, interference_range_m);
    let (result, heard) = run(config, Access::Stack(NO_RETRIES), &jobs, 600_000, 1, observer);
    let sent: u64 = result.nodes.iter().map(|node| node.radio.frames_sent).sum();
    let lost = &result.nodes[1].radio.lost;
    let collided = lost[Loss::Collision.index()];
    assert_eq!(lost.iter().sum::<u64>(), collided, "nothing but collisions");
    // A frame may be on the air at the end.
    assert!(sent - heard.len() as u64 - collided <= 2);
    (sent, collided)
}

/// A saturated sender repeats: interframe space, back-off, assessment and turnaround, frame. A frame of the other falls
/// at any time of that cycle alike, and survives if it fits into the pause: for a pause G and an airtime T with
/// probability (G - T) / (G + T), weighted by the length of the cycle.
fn expected_loss(mpdu_len: u64) -> f64 {
    let airtime = ((mpdu_len + 6) * 32) as f64;
    let space = if mpdu_len <= 18 { 192.0 } else { 640.0 };
    let pauses = || (0..8).map(|units| space + f64::from(units) * 320.0 + 128.0 + 192.0);
    let free: f64 = pauses().map(|pause| (pause - airtime).max(0.0)).sum();
    let cycles: f64 = pauses().map(|pause| pause + airtime).sum();
    1.0 - free / cycles
}

#[test]
fn the_loss_of_hidden_terminals_is_what_the_overlap_arithmetic_says() {
    for mpdu_len in [12, 20, 40, 60] {
        let (sent, collided) = ends(mpdu_len, 6.0, &mut ());
        let (measured, expected) = (collided as f64 / sent as f64, expected_loss(mpdu_len as u64));
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "{mpdu_len} bytes: {measured} for {expected}"
        );
    }
    // The longest pause is 3.2 ms: a frame of 127 bytes, 4.256 ms, never fits.
    let (sent, collided) = ends(127, 6.0, &mut ());
    assert!(sent - collided <= 2);
    assert_eq!(expected_loss(127), 1.0);
}

/// Checks that frames overlap only if the second began before its sender could hear the first.
#[derive(Default)]
struct Overlaps {
    last: Option<(Time, Time)>,
    blind: u64,
    hidden: u64,
}

impl Observer for Overlaps {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        assert_eq!(frame.to, To::Node(1));
        if let Some((from, until)) = self.last
            && frame.from < until
        {
            // Between the end of its assessment and its first symbol, a sender is blind for 192 us.
            if frame.from.since(from) < Time::us(192) {
                self.blind += 1;
            } else {
                self.hidden += 1;
            }
        }
        self.last = Some((frame.from, frame.until));
    }
}

#[test]
fn the_loss_of_hidden_terminals_vanishes_when_all_are_in_range() {
    let mut overlaps = Overlaps::default();
    let (sent, collided) = ends(40, 11.0, &mut overlaps);
    assert_eq!(
        overlaps.hidden, 0,
        "no frame overlaps another that its sender could have heard"
    );
    assert_eq!(
        collided,
        2 * overlaps.blind,
        "what is left is the blindness of the turnaround"
    );
    assert!(
        sent > 50_000 && (collided as f64) < 0.2 * sent as f64,
        "{collided} of {sent}"
    );
}
