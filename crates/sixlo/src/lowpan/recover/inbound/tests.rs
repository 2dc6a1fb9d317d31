//! Places, and when the timer has to be set anew.

use std::vec;

use super::*;

fn inbound(tag: u16, ms: u64) -> Inbound {
    let from = Side {
        iface: IfaceId(0),
        addr: LinkAddr::Short(1),
        tag,
    };
    Inbound::new(
        from,
        400,
        9,
        Instant::ZERO + crate::time::Duration::from_millis(ms),
    )
}

fn tags(inbounds: &Inbounds<'_>) -> vec::Vec<u8> {
    inbounds.table.iter().map(|entry| entry.tag).collect()
}

#[test]
fn of_complete_datagrams_the_first_one_gives_its_place_and_none_that_is_being_put_together() {
    let mut table = vec![Inbound::EMPTY; 3];
    let mut inbounds = Inbounds::new(&mut table);
    for (tag, ms) in [(1, 30), (2, 10), (3, 20)] {
        assert!(inbounds.enter(inbound(tag, ms), |_| false).is_some());
    }
    assert_eq!(inbounds.enter(inbound(4, 40), |_| false), None);
    for (place, ms) in [(0, 30), (2, 20)] {
        inbounds.fill(place, inbound(0, ms).deadline);
    }
    assert_eq!(inbounds.enter(inbound(4, 40), |_| false), Some(2));
    assert_eq!(inbounds.enter(inbound(5, 40), |open| open.tag == 2), Some(1));
    assert_eq!(tags(&inbounds), [1, 5, 4]);
}

#[test]
fn each_change_of_a_deadline_is_told_once() {
    let mut table = vec![Inbound::EMPTY; 2];
    let mut inbounds = Inbounds::new(&mut table);
    let changes: [fn(&mut Inbounds<'_>); 5] = [
        |inbounds| assert_eq!(inbounds.enter(inbound(1, 10), |_| false), Some(0)),
        |inbounds| inbounds.fill(0, inbound(0, 20).deadline),
        |inbounds| assert_eq!(inbounds.enter(inbound(2, 30), |_| false), Some(1)),
        |inbounds| inbounds.free(0),
        |inbounds| inbounds.clear(),
    ];
    let deadlines = [10, 20, 20, 30, 0].map(|ms| (ms > 0).then_some(inbound(0, ms).deadline));
    for (change, deadline) in changes.into_iter().zip(deadlines) {
        assert!(!inbounds.changed());
        change(&mut inbounds);
        assert_eq!(inbounds.deadline(), deadline);
        assert!(inbounds.changed());
    }
}
