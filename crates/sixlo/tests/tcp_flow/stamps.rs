//! Timestamps and the protection against wrapped sequence numbers: RFC 7323.

use sixlo::tcp::TcpError;

use super::established;
use super::tcp::{Trace, recv, send, ticks};

/// An established connection with timestamps; the peer's is 700, and segments that we send are 88 bytes.
fn stamped() -> Trace {
    established("<mss 100 ts 700 0>", |config| config.tcp.timestamps = true)
}

#[test]
fn they_are_offered_and_agreed_on() {
    let mut t = Trace::connecting(|config| config.tcp.timestamps = true);
    let syn = t.next_seen().options.timestamps.expect("an offer");
    // RFC 7323 section 3.2: nothing to echo yet.
    assert_eq!(syn.echo, 0);
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 100 ts 900 {}>", syn.value);
    let ack = t.next_seen().options.timestamps.expect("agreed");
    assert_eq!(ack.echo, 900);
}

#[test]
fn who_does_not_offer_them_gets_none() {
    let mut t = Trace::listening(|config| config.tcp.timestamps = true);
    send!(t, 0, "S 0 win 4096 <mss 500>");
    recv!(t, 0, "S. 0 ack 1 <mss 1220>");
}

#[test]
fn an_offer_that_is_not_wanted_is_not_taken() {
    let mut t = Trace::listening(|_| ());
    send!(t, 0, "S 0 win 4096 <mss 500 ts 1 0>");
    recv!(t, 0, "S. 0 ack 1 <mss 1220>");
}

#[test]
fn an_answer_without_them_means_none() {
    let mut t = Trace::connecting(|config| config.tcp.timestamps = true);
    t.next_seen();
    send!(t, 10, "S. 0 ack 1 win 4096 <mss 100>");
    recv!(t, 10, ". 1 ack 1 <>");
    t.write(100);
    recv!(t, 10, "P. 1(100) ack 1 <>");
}

#[test]
fn every_segment_has_them() {
    let mut t = stamped();
    t.write(200);
    // Section 3.2 (TSopt in every segment); they take 12 bytes of the data's room (RFC 6691 section 2).
    recv!(t, 0, ". 1(88) ack 1 <ts {} 700>", ticks(0));
    recv!(t, 0, ". 89(88) ack 1 <ts {} 700>", ticks(0));
    send!(t, 100, "P. 1(10) ack 177 win 4096 <ts 800 {}>", ticks(0));
    recv!(t, 100, "P. 177(24) ack 11 <ts {} 800>", ticks(100));
}

#[test]
fn the_clock_runs_with_time() {
    let mut t = stamped();
    for s in [1, 10, 1000] {
        send!(t, s * 1000, "P. {}(1) ack 1 win 4096 <ts {} 0>", t.read, 700 + s);
        assert_eq!(t.read(1), Ok(1));
        recv!(
            t,
            s * 1000 + 100,
            ". 1 ack {} <ts {} {}>",
            t.read,
            ticks(s * 1000 + 100),
            700 + s
        );
    }
}

#[test]
fn a_delayed_acknowledgement_echoes_the_first_segment() {
    let mut t = stamped();
    // Section 4.3: Last.ACK.sent lies in the first one only.
    send!(t, 0, ". 1(40) ack 1 win 4096 <ts 710 0>");
    send!(t, 50, ". 41(60) ack 1 win 4096 <ts 760 0>");
    recv!(t, 50, ". 1 ack 101 <ts {} 710>", ticks(50));
}

#[test]
fn what_comes_behind_a_hole_is_not_echoed() {
    let mut t = stamped();
    send!(t, 0, ". 101(10) ack 1 win 4096 <ts 710 0>");
    recv!(t, 0, ". 1 ack 1 <ts {} 700>", ticks(0));
}

#[test]
fn what_fills_a_hole_is_echoed() {
    let mut t = stamped();
    send!(t, 0, ". 101(10) ack 1 win 4096 <ts 710 0>");
    recv!(t, 0, ". 1 ack 1 <ts {} 700>", ticks(0));
    send!(t, 10, ". 1(100) ack 1 win 4096 <ts 705 0>");
    recv!(t, 10, ". 1 ack 111 <ts {} 705>", ticks(10));
}

#[test]
fn what_is_sent_again_because_the_acknowledgement_was_lost_is_echoed() {
    let mut t = stamped();
    send!(t, 0, "P. 1(10) ack 1 win 4096 <ts 710 0>");
    recv!(t, 100, ". 1 ack 11 <ts {} 710>", ticks(100));
    send!(t, 1_000, "P. 1(10) ack 1 win 4096 <ts 1710 0>");
    // FreeBSD; else the peer takes all its waiting for a round trip.
    recv!(t, 1_000, ". 1 ack 11 <ts {} 1710>", ticks(1_000));
}

#[test]
fn round_trips_are_measured_also_of_what_was_sent_twice() {
    let mut t = stamped();
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 1");
    recv!(t, 1_000, "P. 1(50) ack 1");
    send!(t, 1_010, ". 1 ack 51 win 4096 <ts 710 {}>", ticks(1_000));
    t.write(50);
    recv!(t, 1_010, "P. 51(50) ack 1");
    // Section 4.1: no doubt about which was acknowledged, so the back-off ends.
    recv!(t, 2_010, "P. 51(50) ack 1");
}

#[test]
fn a_segment_of_old_is_not_taken_and_answered() {
    let mut t = stamped();
    send!(t, 0, "P. 1(10) ack 1 win 4096 <ts 800 0>");
    recv!(t, 100, ". 1 ack 11");
    // Section 5.3 R1.
    send!(t, 200, "P. 11(10) ack 1 win 4096 <ts 799 0>");
    recv!(t, 200, ". 1 ack 11 <ts {} 800>", ticks(200));
    assert_eq!(t.read(100), Ok(10));
    send!(t, 300, "P. 11(10) ack 1 win 4096 <ts 800 0>");
    assert_eq!(t.read(100), Ok(10));
    recv!(t, 400, ". 1 ack 21");
}

#[test]
fn timestamps_wrap() {
    let mut t = established("<mss 100 ts 4294967290 0>", |config| config.tcp.timestamps = true);
    // Section 5.2: modulo 2^32.
    send!(t, 0, "P. 1(10) ack 1 win 4096 <ts 5 0>");
    recv!(t, 100, ". 1 ack 11 <ts {} 5>", ticks(100));
    send!(t, 200, "P. 11(10) ack 1 win 4096 <ts 4294967295 0>");
    recv!(t, 200, ". 1 ack 11");
}

#[test]
fn a_reset_needs_none() {
    let mut t = stamped();
    // Section 5.2: R1 does not hold for RST.
    send!(t, 0, "R 1");
    assert_eq!(t.read(1), Err(TcpError::Reset));
    let mut t = stamped();
    send!(t, 0, "R. 1 ack 1 <ts 1 0>");
    assert_eq!(t.read(1), Err(TcpError::Reset));
}

#[test]
fn a_segment_without_them_is_not_taken() {
    let mut t = stamped();
    // Section 3.2: should be dropped without a word.
    send!(t, 0, "P. 1(10) ack 1 win 4096");
    t.quiet(200);
    assert_eq!(t.read(100), Err(TcpError::WouldBlock));
}

#[test]
fn xt4_after_24_days_of_silence_an_older_timestamp_is_taken() {
    const DAY_MS: u64 = 24 * 3600 * 1000;
    let mut t = stamped();
    send!(t, 0, "P. 1(10) ack 1 win 4096 <ts 1000 0>");
    recv!(t, 100, ". 1 ack 11");
    send!(t, 23 * DAY_MS, "P. 11(10) ack 1 win 4096 <ts 999 0>");
    recv!(t, 23 * DAY_MS, ". 1 ack 11");
    // Section 5.5: TS.Recent is too old to say anything.
    send!(t, 25 * DAY_MS, "P. 11(10) ack 1 win 4096 <ts 999 0>");
    recv!(
        t,
        25 * DAY_MS + 100,
        ". 1 ack 21 <ts {} 999>",
        ticks(25 * DAY_MS + 100)
    );
}

#[test]
fn xt4_an_echo_that_was_never_sent_measures_nothing() {
    for echo in [0_u64, 1, 0x7fff_ffff, 0xffff_ffff] {
        let mut t = stamped();
        t.write(50);
        recv!(t, 0, "P. 1(50) ack 1");
        send!(t, 10, ". 1 ack 51 win 4096 <ts 710 {echo}>");
        t.write(50);
        recv!(t, 10, "P. 51(50) ack 1");
        // Whatever it is, the timer is within its bounds.
        t.run_until(super::tcp::at(61_000));
        let again = t.seen.len();
        t.seen.clear();
        assert!(again >= 1, "{echo}: {again}");
    }
}

#[test]
fn xt4_a_timestamp_of_zero_is_one_like_others() {
    let mut t = established("<mss 100 ts 0 0>", |config| config.tcp.timestamps = true);
    send!(t, 0, "P. 1(10) ack 1 win 4096 <ts 0 0>");
    recv!(t, 100, ". 1 ack 11 <ts {} 0>", ticks(100));
    send!(t, 200, "P. 11(10) ack 1 win 4096 <ts 4294967295 0>");
    recv!(t, 200, ". 1 ack 11");
}

#[test]
fn xt4_a_forged_timestamp_outside_the_window_is_not_remembered() {
    let mut t = stamped();
    // Section 5.3: R2 comes before R3.
    send!(t, 0, "P. 5000(10) ack 1 win 4096 <ts 2000000000 0>");
    recv!(t, 0, ". 1 ack 1 <ts {} 700>", ticks(0));
    send!(t, 10, "P. -5000(10) ack 1 win 4096 <ts 2000000000 0>");
    recv!(t, 10, ". 1 ack 1 <ts {} 700>", ticks(10));
    send!(t, 20, "P. 1(10) ack 1 win 4096 <ts 701 0>");
    recv!(t, 120, ". 1 ack 11 <ts {} 701>", ticks(120));
}

#[test]
fn they_stay_in_what_is_sent_again() {
    let mut t = stamped();
    t.write(50);
    recv!(t, 0, "P. 1(50) ack 1 <ts {} 700>", ticks(0));
    recv!(t, 1_000, "P. 1(50) ack 1 <ts {} 700>", ticks(1_000));
    t.shutdown().unwrap();
    recv!(t, 1_000, "F. 51 ack 1 <ts {} 700>", ticks(1_000));
}
