//! Calls in any order, at any time and with any parameters.

use super::super::{Csma, CsmaConfig, Step};
use crate::netdev::{CsmaParams, TxOutcome};
use crate::rng::Rng;
use crate::time::{Duration, Instant};
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

/// A call of the machine, in no order that makes sense.
#[derive(Clone, Copy, Debug)]
enum Call {
    Start(usize, Option<u8>),
    Timer,
    Transmitted(TxOutcome),
    Acknowledged(u8),
}

fn any_call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![
        4 => Just(TxOutcome::Sent),
        2 => Just(TxOutcome::ChannelBusy),
        1 => Just(TxOutcome::Acked),
        1 => Just(TxOutcome::NoAck),
        1 => Just(TxOutcome::Refused),
    ];
    prop_oneof![
        1 => (any::<usize>(), proptest::option::of(0..3_u8)).prop_map(|(len, ack)| Call::Start(len, ack)),
        6 => Just(Call::Timer),
        6 => outcome.prop_map(Call::Transmitted),
        1 => (0..3_u8).prop_map(Call::Acknowledged),
    ]
}

fn any_params() -> impl Strategy<Value = CsmaParams> {
    let small_or_any = || prop_oneof![4 => 0..6_u8, 1 => any::<u8>()];
    let delay = prop_oneof![2 => Just(0), 2 => 0..50_000_u64, 1 => any::<u64>()];
    (
        small_or_any(),
        small_or_any(),
        small_or_any(),
        small_or_any(),
        delay,
        any::<bool>(),
    )
        .prop_map(
            |(min_be, max_be, max_backoffs, max_retries, delay, retry_busy)| CsmaParams {
                min_be,
                max_be,
                max_backoffs,
                max_retries,
                retry_delay_max: Duration::from_micros(delay),
                retry_busy,
            },
        )
}

proptest! {
    /// Whatever is called, in whatever order and at whatever time, even with parameters that change: nothing panics, a
    /// frame ends at most once, is never asked for more often than its parameters allow, and no wait lies in the past.
    #[test]
    fn any_order_of_calls_is_harmless(
        params in any_params(),
        calls in proptest::collection::vec((any_call(), any_time()), 0..80),
        seed in any::<u64>(),
    ) {
        let config = CsmaConfig { params, ..CsmaConfig::default() };
        let mut rng = Rng::new(seed);
        let mut csma = Csma::new();
        let (mut running, mut asked, mut now, mut len) = (false, 0_u32, 0_u64, 0);
        for (call, time) in calls {
            now = match time {
                Time::Later(us) => now.saturating_add(us),
                Time::At(us) => us,
            };
            let instant = Instant::from_micros(now);
            let step = match call {
                Call::Start(frame_len, ack) => {
                    len = frame_len;
                    (running, asked) = (true, 0);
                    Some(csma.start(instant, ack, &config, &mut rng))
                }
                Call::Timer => csma.timer(instant, &config, &mut rng),
                Call::Transmitted(outcome) => csma.transmitted(instant, len, outcome, &config, &mut rng),
                Call::Acknowledged(sequence) => csma.acknowledged(instant, sequence),
            };
            prop_assert!(running || step.is_none(), "a step without a frame");
            match step {
                None => {}
                Some(Step::Wait(until)) => prop_assert!(until > instant || now == u64::MAX),
                Some(Step::Transmit { again }) => {
                    prop_assert_eq!(again, asked > 0);
                    asked += 1;
                    let limit = (u32::from(params.max_retries) + 1) * (u32::from(params.max_backoffs) + 1);
                    prop_assert!(asked <= limit);
                }
                Some(Step::Finished(report)) => {
                    prop_assert!(u32::from(report.attempts) + u32::from(report.busy) <= asked);
                    running = false;
                }
            }
            prop_assert_eq!(csma.is_idle(), !running);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Time {
    Later(u64),
    At(u64),
}

fn any_time() -> impl Strategy<Value = Time> {
    prop_oneof![
        8 => (0..20_000_u64).prop_map(Time::Later),
        1 => any::<u64>().prop_map(Time::Later),
        1 => any::<u64>().prop_map(Time::At),
    ]
}
