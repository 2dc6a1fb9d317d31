use super::*;

fn at(us: u64) -> Instant {
    Instant::from_micros(us)
}

#[test]
fn nothing_armed_has_no_deadline() {
    let mut table = [Timer::EMPTY; 3];
    let mut timers = Timers::new(&mut table);
    assert_eq!(timers.next(), None);
    assert_eq!(timers.expire(at(u64::MAX)), None);
}

#[test]
fn timers_expire_in_order_of_their_deadlines_and_once() {
    let mut table = [Timer::EMPTY; 3];
    let mut timers = Timers::new(&mut table);
    timers.arm(TimerId(0), at(30));
    timers.arm(TimerId(1), at(10));
    timers.arm(TimerId(2), at(20));
    assert_eq!(timers.next(), Some(at(10)));
    assert_eq!(timers.expire(at(9)), None, "none is due before its time");
    assert_eq!(timers.expire(at(30)), Some(TimerId(1)));
    assert_eq!(timers.expire(at(30)), Some(TimerId(2)));
    assert_eq!(timers.expire(at(30)), Some(TimerId(0)));
    assert_eq!(timers.expire(at(30)), None);
    assert_eq!(timers.next(), None);
}

#[test]
fn arming_again_moves_the_deadline_both_ways() {
    let mut table = [Timer::EMPTY; 2];
    let mut timers = Timers::new(&mut table);
    timers.arm(TimerId(0), at(10));
    timers.arm(TimerId(1), at(20));
    timers.arm(TimerId(0), at(40));
    assert_eq!(timers.next(), Some(at(20)));
    timers.arm(TimerId(0), at(5));
    assert_eq!(timers.next(), Some(at(5)));
    timers.disarm(TimerId(0));
    timers.disarm(TimerId(0));
    assert_eq!(timers.next(), Some(at(20)));
}

#[test]
fn a_timer_at_the_origin_of_time_is_armed() {
    let mut table = [Timer::EMPTY; 1];
    let mut timers = Timers::new(&mut table);
    timers.arm(TimerId(0), at(0));
    assert_eq!(timers.next(), Some(at(0)));
    assert_eq!(timers.expire(at(0)), Some(TimerId(0)));
}
