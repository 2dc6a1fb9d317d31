use super::*;

fn span(from_us: u64, until_us: u64) -> Span {
    Span {
        from: Time::us(from_us),
        until: Time::us(until_us),
    }
}

#[test]
fn spans_that_only_touch_do_not_overlap() {
    assert!(!span(0, 10).overlaps(&span(10, 20)));
    assert!(!span(10, 20).overlaps(&span(0, 10)));
    assert!(span(0, 11).overlaps(&span(10, 20)));
    assert!(span(12, 13).overlaps(&span(10, 20)));
    assert_eq!(span(0, 12).common(&span(10, 20)), Time::us(2));
    assert_eq!(span(0, 9).common(&span(10, 20)), Time::ZERO);
}

#[test]
fn a_planned_transmission_does_not_hide_the_one_before() {
    let mut air = Air::new(1);
    air.send(0, span(100, 200));
    air.send(0, span(400, 500));
    assert!(air.sends(0, &span(150, 160)));
    assert!(air.sends(0, &span(199, 300)));
    assert!(!air.sends(0, &span(200, 400)));
    assert!(air.sends(0, &span(200, 401)));
    assert!(!air.sends(0, &span(500, 501)));
    assert_eq!(
        air.sent(0, span(150, 450)).collect::<Vec<_>>(),
        [span(400, 500), span(100, 200)]
    );
}

#[test]
fn an_ear_remembers_why_it_missed_something() {
    let mut ear = Ear::default();
    assert_eq!(ear.missed(&span(0, 5)), None);
    ear.set(Time::us(10), Some(Deaf::BackingOff));
    assert_eq!(ear.deaf(), Some(Deaf::BackingOff));
    assert_eq!(ear.missed(&span(5, 10)), None);
    assert_eq!(ear.missed(&span(5, 11)), Some(Deaf::BackingOff));
    ear.set(Time::us(20), Some(Deaf::Transmitting));
    ear.set(Time::us(30), None);
    assert_eq!(ear.deaf(), None);
    assert_eq!(ear.missed(&span(15, 40)), Some(Deaf::BackingOff));
    assert_eq!(ear.missed(&span(20, 40)), Some(Deaf::Transmitting));
    assert_eq!(ear.missed(&span(30, 40)), None);
    assert_eq!(ear.total(Deaf::BackingOff, Time::us(50)), Time::us(10));
    assert_eq!(ear.total(Deaf::Transmitting, Time::us(50)), Time::us(10));
}

#[test]
fn deafness_that_goes_on_is_one_time() {
    let mut ear = Ear::default();
    ear.set(Time::us(10), Some(Deaf::BackingOff));
    ear.set(Time::us(20), Some(Deaf::BackingOff));
    ear.set(Time::us(30), None);
    ear.set(Time::us(30), Some(Deaf::BackingOff));
    assert_eq!(ear.total(Deaf::BackingOff, Time::us(40)), Time::us(30));
    ear.set(Time::us(40), None);
    assert_eq!(ear.total(Deaf::BackingOff, Time::us(99)), Time::us(30));
    assert_eq!(ear.missed(&span(39, 99)), Some(Deaf::BackingOff));
}

#[test]
fn a_change_in_the_same_instant_leaves_no_trace() {
    let mut ear = Ear::default();
    ear.set(Time::us(10), Some(Deaf::BackingOff));
    ear.set(Time::us(10), Some(Deaf::Busy));
    ear.set(Time::us(12), None);
    assert_eq!(ear.missed(&span(0, 99)), Some(Deaf::Busy));
    assert_eq!(ear.total(Deaf::BackingOff, Time::us(99)), Time::ZERO);
}
