use proptest::prelude::*;

use super::*;

const EDGES: [u32; 7] = [
    0,
    1,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

#[test]
fn xt12_the_order_goes_around_the_circle() {
    for start in EDGES.map(Seq) {
        for ahead in [1, 2, 1000, 0x7fff_fffe, 0x7fff_ffff] {
            let later = start + ahead;
            assert!(start.lt(later) && start.le(later), "{start:?} {ahead}");
            assert!(later.gt(start) && later.ge(start), "{start:?} {ahead}");
            assert!(!start.gt(later) && !start.ge(later) && !later.lt(start) && !later.le(start));
            assert_eq!((start.max(later), later.max(start)), (later, later));
            assert_eq!((start.min(later), later.min(start)), (start, start));
            assert_eq!((later - start, later - ahead), (ahead, start));
            assert_eq!(later.offset_from(start), ahead as i32);
            assert_eq!(start.offset_from(later), -(ahead as i32));
        }
        assert!(start.le(start) && start.ge(start) && !start.lt(start) && !start.gt(start));
    }
}

#[test]
fn xt12_a_window_may_lie_over_the_end_of_the_numbers() {
    let start = Seq(0xffff_fff0);
    assert!(start.is_in(start, 1) && !start.is_in(start, 0));
    assert!(Seq(0xffff_ffff).is_in(start, 32) && Seq(15).is_in(start, 32));
    assert!(!Seq(16).is_in(start, 32) && !Seq(0xffff_ffef).is_in(start, 32));
}

proptest! {
    #[test]
    fn adding_and_taking_away_are_inverse(start: u32, bytes: u32) {
        let mut later = Seq(start);
        later += bytes;
        prop_assert_eq!(later, Seq(start) + bytes);
        prop_assert_eq!(later - bytes, Seq(start));
        prop_assert_eq!(later - Seq(start), bytes);
    }
}
