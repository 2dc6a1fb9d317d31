//! Claims T1, T2, T10 and T18: what the stack is, whatever the network.

use super::claims::{claim, part};
use crate::repro::Findings;
use crate::repro::ledger::Claim;
use crate::repro::verdict::Verdict;

pub(super) fn state() -> Claim {
    let sizes = [
        (
            "an active connection",
            "364 B",
            size_of::<sixlo::tcp::Connection>(),
            364,
        ),
        ("a listener", "12 B", size_of::<sixlo::tcp::Listener>(), 12),
    ];
    let parts = sizes.map(|(name, published, bytes, bar)| {
        let verdict = Verdict::exact(bytes <= bar);
        part(
            name,
            published,
            format!("{bytes} B, as this program has it"),
            verdict,
        )
    });
    claim("T1", "State of the protocol", parts.to_vec())
}

/// The window of section 7, four segments, and the memory that a receive buffer of this stack takes for it.
fn receive_memory() -> (usize, usize) {
    let window = 4 * usize::from(super::setups::segment_bytes(5));
    let store = (window..).find(|&len| sixlo::tcp::receive::capacity(len) >= window);
    (window, store.unwrap_or(usize::MAX))
}

/// How much less the first is than the second, as a share.
fn less(first: f64, second: f64) -> f64 {
    1.0 - first / second
}

pub(super) fn memory(findings: &Findings<'_>) -> Claim {
    let (window, store) = receive_memory();
    let receive = less(store as f64, (2 * window) as f64);
    let mut parts = vec![part(
        "receive side, the same window",
        "38 % less than with a separate buffer for reassembly",
        format!(
            "{store} B instead of {} B: {:.0} % less",
            2 * window,
            receive * 100.0
        ),
        Verdict::exact(receive >= 0.38),
    )];
    let sending = findings.watched().streams.first();
    let send = sending.map(|stream| stream.send_memory.map(f64::from));
    parts.push(part(
        "send side, highest use in a run over one hop",
        "50 % less than with a copy for each segment",
        send.map_or("nothing".to_owned(), |[ours, copying]| {
            format!(
                "packet buffer {ours} B instead of {copying} B, headers and frames that come in included: {:.0} % less",
                less(ours, copying) * 100.0
            )
        }),
        send.map_or(Verdict::NotMeasured, |[ours, copying]| {
            Verdict::exact(less(ours, copying) >= 0.5)
        }),
    ));
    claim("T2", "Memory of zero-copy send and in-place reassembly", parts)
}

/// What table 9 and appendix B name, and the tests of the stack that hold it.
pub(super) const FEATURES: [(&str, &[&str]); 15] = [
    (
        "flow control",
        &[
            "a_window_that_shrinks_lets_nothing_new_go",
            "what_comes_in_is_never_more_than_the_receive_buffer",
        ],
    ),
    (
        "congestion control",
        &[
            "the_window_grows_by_a_segment_for_each_acknowledgement_in_slow_start",
            "three_duplicates_are_one",
        ],
    ),
    (
        "RTT estimation",
        &[
            "the_first_measurement_makes_the_timer_three_round_trips_long",
            "further_measurements_are_averaged",
        ],
    ),
    (
        "MSS option",
        &[
            "segments_are_no_larger_than_the_peer_takes",
            "the_segment_size_that_is_announced_is_that_of_the_configuration",
        ],
    ),
    (
        "out-of-order reassembly",
        &[
            "xt20_every_order_of_five_pieces_gives_the_stream",
            "xt11_the_buffer_does_what_a_stream_of_single_bytes_does",
        ],
    ),
    (
        "TCP timestamps",
        &[
            "every_segment_has_them",
            "round_trips_are_measured_also_of_what_was_sent_twice",
        ],
    ),
    (
        "selective ACKs",
        &[
            "holes_are_filled_in_order_as_the_pipe_has_room",
            "data_out_of_order_is_acknowledged_at_once_and_told_of",
        ],
    ),
    (
        "delayed ACKs",
        &[
            "an_acknowledgement_waits_for_company",
            "every_second_full_segment_is_acknowledged_at_once",
        ],
    ),
    (
        "ECN",
        &[
            "it_is_offered_with_both_flags_and_taken_with_one",
            "the_window_is_halved_once_for_all_that_was_under_way",
        ],
    ),
    (
        "appropriate byte counting",
        &["xt17_an_acknowledgement_in_pieces_opens_the_window_no_further_than_its_bytes"],
    ),
    (
        "limited transmit",
        &[
            "the_first_two_duplicates_let_a_new_segment_go_each",
            "limited_transmit_keeps_to_the_peer_s_window",
        ],
    ),
    (
        "undo of bad retransmissions",
        &[
            "a_time_out_that_was_not_needed_is_undone_by_timestamps",
            "a_time_out_that_was_needed_is_not_undone",
        ],
    ),
    (
        "header prediction",
        &["a_stream_arrives_whole_over_a_link_that_loses_every_ninth_frame"],
    ),
    (
        "challenge ACKs",
        &[
            "xt5_a_reset_elsewhere_in_the_window_is_challenged",
            "xt5_challenges_are_bounded",
        ],
    ),
    (
        "zero-window probes",
        &[
            "a_closed_window_is_probed_with_a_byte",
            "a_window_that_shrinks_to_nothing_is_probed_and_the_connection_lives",
        ],
    ),
];

/// What holds that timers are of one shot, none is dropped, and nothing ticks.
pub(super) const TIMERS: [(&str, &[&str]); 3] = [
    (
        "no periodic tick",
        &[
            "g8_an_idle_stack_has_no_deadline",
            "the_timer_stops_when_all_is_acknowledged",
        ],
    ),
    (
        "one shot",
        &["timers_expire_in_order_of_their_deadlines_and_once"],
    ),
    (
        "none dropped where all is full",
        &["a_time_out_counts_where_nothing_has_room"],
    ),
];

pub(super) fn features() -> Claim {
    let parts = FEATURES.map(|(name, tests)| held(name, "yes", tests));
    claim(
        "T10",
        "Features of table 9 and those named beside it",
        parts.to_vec(),
    )
}

pub(super) fn timers() -> Claim {
    let parts = TIMERS.map(|(name, tests)| held(name, "by design (appendix A.2)", tests));
    claim(
        "T18",
        "One-shot timers, none dropped, no periodic tick",
        parts.to_vec(),
    )
}

/// A part that tests of the stack hold.
fn held(name: &str, published: &str, tests: &[&str]) -> crate::repro::ledger::Part {
    let plural = if tests.len() == 1 { "" } else { "s" };
    part(
        name,
        published,
        format!("held by the test{plural} {}", tests.join(", ")),
        Verdict::exact(!tests.is_empty()),
    )
}
