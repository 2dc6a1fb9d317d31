//! What one byte, one fragment or one header more changes.

use super::*;

#[test]
fn xi6_a_packet_of_the_largest_size_is_taken_and_one_byte_more_is_not() {
    with(1, |bench| {
        let config = FragmentConfig::default();
        let beyond = usize::from(config.size_max) + 1 - HEADER_LEN - 1_448;
        assert_eq!(bench.take(&piece(0, 1_448, true)), Fate::Kept);
        let too_large = Fate::Dropped(Reason::DatagramTooLarge);
        assert_eq!(bench.take(&piece(1_448, beyond, false)), too_large);
        let packet = whole(1, config.size_max.into());
        assert_eq!(bench.take(&piece(1_448, beyond - 1, false)), Fate::Whole(packet));
    });
}

#[test]
fn xi6_an_overlap_by_one_unit_is_one_and_touching_is_none() {
    for (at, fate) in [(8, Fate::Dropped(Reason::ReassemblyConflict)), (0, Fate::Kept)] {
        with(1, |bench| {
            bench.take(&piece(16, 24, true));
            assert_eq!(bench.take(&piece(at, 16, true)), fate);
        });
        with(1, |bench| {
            bench.take(&piece(16, 24, true));
            assert_eq!(bench.take(&piece(40 - at, 16, true)), fate);
        });
    }
}

/// RFC 5722 section 4: silently, even where the fragment that remains to know the others by is the first one.
#[test]
fn xi6_an_overlap_with_the_first_fragment_alone_is_told_to_nobody() {
    with(1, |bench| {
        bench.take(&piece(0, 16, true));
        assert_eq!(
            bench.take(&piece(8, 16, true)),
            Fate::Dropped(Reason::ReassemblyConflict)
        );
        bench.now += FragmentConfig::default().timeout;
        assert_eq!(bench.expire(), Some(Fate::Dropped(Reason::ReassemblyConflict)));
    });
}

/// RFC 8200 section 4.5: the headers in front are those of the first fragment, whatever stands before the others.
#[test]
fn xi6_only_the_first_fragment_says_which_headers_come_first() {
    // A fragment with eight bytes of hop-by-hop options in front.
    let mut behind = piece(16, 8, false);
    behind[5] += 8;
    behind[6] = 0;
    behind.splice(40..40, [44, 0, 1, 4, 0, 0, 0, 0]);
    for first_is_first in [true, false] {
        with(1, |bench| {
            let first = piece(0, 16, true);
            let mut fates = Vec::new();
            for is_first in [first_is_first, !first_is_first] {
                fates.push(if is_first {
                    bench.take(&first)
                } else {
                    bench.take_at(&behind, HEADER_LEN + 8, HEADER_LEN)
                });
            }
            assert_eq!(fates, [Fate::Kept, Fate::Whole(whole(1, 64))]);
        });
    }
}

/// Fragments of one packet do not end it themselves when packets run short, however long it has waited.
#[test]
fn xi6_a_packet_does_not_give_way_to_its_own_fragments() {
    with(1, |bench| {
        let mut taken = 0;
        while bench.take(&piece(taken * 8, 8, true)) == Fate::Kept {
            taken += 1;
        }
        assert!(taken > 30, "{taken}");
        bench.now += Duration::from_secs(10);
        assert_eq!(
            bench.take(&piece(taken * 8, 8, true)),
            Fate::Dropped(Reason::NoSlot)
        );
        assert_eq!(bench.drops.0, []);
        // It waits for its time like any other.
        bench.now += FragmentConfig::default().timeout;
        assert!(matches!(
            bench.expire(),
            Some(Fate::Refused(Reason::ReassemblyTimeout, _))
        ));
    });
}
