//! Fragments in, packets out, time by hand.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::ground::Core;
use crate::netreg::Registry;
use crate::pktbuf::{Class, Seg, Slot};
use crate::rng::Rng;
use crate::timers::Timers;
use proptest::prelude::*;

mod limits;

/// What became of a fragment or a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Whole(Vec<u8>),
    Dropped(Reason),
    Refused(Reason, ErrorMessage),
}

/// Reasons of the packets that were dropped inside.
#[derive(Default)]
struct Drops(Vec<Reason>);

impl Sink for Drops {
    fn event(&mut self, _now: Instant, event: &Event) {
        if let Event::End {
            end: End::Dropped(reason),
            ..
        } = *event
        {
            self.0.push(reason);
        }
    }
}

struct Bench<'a> {
    core: Core<'a>,
    reassembler: Reassembler<'a>,
    now: Instant,
    drops: Drops,
}

/// Runs a test with room for this many packets to be put together.
fn with<R>(entries: usize, test: impl FnOnce(&mut Bench<'_>) -> R) -> R {
    let (mut bytes, mut segs, mut slots) = (vec![0xa5; 16_384], vec![Seg::EMPTY; 64], vec![Slot::EMPTY; 64]);
    let mut table: Vec<Partial> = (0..entries).map(|_| Partial::EMPTY).collect();
    let buf = PktBuf::new(&mut bytes, &mut segs, &mut slots, [0; 2]).expect("no reserve");
    let mut bench = Bench {
        core: Core::new(buf, Registry::new(&mut []), Timers::new(&mut []), Rng::new(1)),
        reassembler: Reassembler::new(&mut table, FragmentConfig::default()),
        now: Instant::from_micros(1_000_000),
        drops: Drops::default(),
    };
    let result = test(&mut bench);
    bench.give_up();
    result
}

impl Bench<'_> {
    fn packet(&mut self, bytes: &[u8]) -> Pkt {
        let packet = self.core.buf.alloc(Class::Receive, 0, bytes.len()).expect("room");
        self.core.buf.write_bytes(&packet, 0, bytes).expect("unshared");
        packet
    }

    /// Takes the bytes of a packet and ends it.
    fn bytes(&mut self, packet: Pkt) -> Vec<u8> {
        let mut bytes = vec![0; self.core.buf.len(&packet)];
        self.core.buf.copy_out(&packet, 0, &mut bytes);
        let _ended = self.core.buf.release(packet);
        bytes
    }

    fn fate(&mut self, next: Next) -> Fate {
        let fate = match next {
            Next::Taken(_done) => Fate::Kept,
            Next::To(msg, packet) => {
                assert_eq!(msg, Msg::up(Ty::Ipv6, 0));
                Fate::Whole(self.bytes(packet))
            }
            Next::Drop(packet, reason) => {
                let _ended = self.core.buf.release(packet);
                Fate::Dropped(reason)
            }
            Next::Refuse(packet, reason, message) => {
                let _ended = self.core.buf.release(packet);
                Fate::Refused(reason, message)
            }
        };
        assert_eq!(self.core.buf.in_hand(), 0);
        let mut held = 0;
        self.reassembler.holds(&self.core.buf, &mut |_| held += 1);
        assert_eq!(held, self.core.buf.live(), "every packet is in the table");
        fate
    }

    /// Takes a fragment packet whose fragment header is at `at` and named at `named_at`.
    fn take_at(&mut self, bytes: &[u8], at: usize, named_at: usize) -> Fate {
        let packet = self.packet(bytes);
        assert!(self.core.buf.mark(&packet, at));
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.drops,
            now: self.now,
        };
        let next = self.reassembler.insert(&mut cx, packet, named_at);
        self.fate(next)
    }

    fn take(&mut self, bytes: &[u8]) -> Fate {
        self.take_at(bytes, HEADER_LEN, 6)
    }

    fn expire(&mut self) -> Option<Fate> {
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.drops,
            now: self.now,
        };
        let next = self.reassembler.expire(&mut cx)?;
        Some(self.fate(next))
    }

    fn give_up(&mut self) {
        let mut cx = Cx {
            core: &mut self.core,
            sink: &mut self.drops,
            now: self.now,
        };
        self.reassembler.give_up_all(&mut cx, Reason::TornDown);
        assert_eq!(self.core.buf.live(), 0, "nothing is left");
        assert_eq!(self.core.buf.used(), 0);
    }

    /// Cuts a packet for an MTU.
    fn cut(&mut self, bytes: &[u8], mtu: u16, identification: u32) -> Vec<Vec<u8>> {
        let packet = self.packet(bytes);
        let (mut fragments, mut at) = (Vec::new(), Some(0));
        while let Some(offset) = at {
            let (fragment, next) =
                cut(&mut self.core.buf, &packet, offset, mtu, identification).expect("room");
            fragments.push(self.bytes(fragment));
            at = next;
        }
        assert_eq!(self.bytes(packet), bytes, "the packet is as it was");
        fragments
    }
}

/// A UDP packet of `len` bytes from node `src`.
fn whole(src: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(((len - 40) as u16).to_be_bytes());
    bytes.extend([17, 64]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, src]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa]);
    bytes.extend((40..len).map(|i| (i % 0xa5) as u8));
    bytes
}

/// A fragment packet of node 1 with identification 7 and `len` bytes of data at `offset`.
fn piece(offset: u16, len: usize, more: bool) -> Vec<u8> {
    let data: Vec<u8> = (0..len)
        .map(|i| ((usize::from(offset) + i + 40) % 0xa5) as u8)
        .collect();
    let mut bytes = whole(1, 40);
    bytes[4..6].copy_from_slice(&((len + 8) as u16).to_be_bytes());
    bytes[6] = 44;
    let header = fragment::Header {
        next_header: NextHeader::UDP,
        offset: offset / 8,
        more,
        identification: 7,
    };
    bytes.extend(header.emit());
    bytes.extend(data);
    bytes
}

#[test]
fn an_entry_takes_at_most_48_bytes() {
    assert!(size_of::<Partial>() <= 48, "{}", size_of::<Partial>());
}

#[test]
fn a_packet_is_cut_at_multiples_of_eight_bytes_and_put_together_again_rfc8200_4_5() {
    with(1, |bench| {
        let packet = whole(1, 200);
        let fragments = bench.cut(&packet, 124, 7);
        // 124 - 48 = 76 bytes of room are 72 usable ones: 160 = 72 + 72 + 16.
        let lens: Vec<usize> = fragments.iter().map(Vec::len).collect();
        assert_eq!(lens, [120, 120, 64]);
        assert_eq!(fragments[0], piece(0, 72, true));
        assert_eq!(fragments[1], piece(72, 72, true));
        assert_eq!(fragments[2], piece(144, 16, false));
        assert_eq!(bench.take(&fragments[0]), Fate::Kept);
        assert_eq!(bench.take(&fragments[1]), Fate::Kept);
        assert_eq!(bench.take(&fragments[2]), Fate::Whole(packet));
        assert_eq!(bench.reassembler.deadline(), None);
    });
}

#[test]
fn a_link_that_takes_no_eight_bytes_of_data_takes_no_fragment() {
    with(1, |bench| {
        let packet = bench.packet(&whole(1, 200));
        let cut_for = |bench: &mut Bench<'_>, mtu| {
            cut(&mut bench.core.buf, &packet, 0, mtu, 7)
                .map(|(fragment, next)| (bench.bytes(fragment).len(), next))
        };
        assert_eq!(cut_for(bench, 0), Err(Reason::PacketTooBig));
        assert_eq!(cut_for(bench, 55), Err(Reason::PacketTooBig));
        assert_eq!(cut_for(bench, 56), Ok((56, Some(8))));
        let _ended = bench.core.buf.release(packet);
    });
}

#[test]
fn all_orders_of_four_fragments_give_the_packet() {
    let packet = whole(1, 240);
    for order in 0..24_usize {
        with(1, |bench| {
            let mut left = bench.cut(&packet, 104, 7);
            assert_eq!(left.len(), 4);
            let mut code = order;
            for n in (2..=4).rev() {
                let fragment = left.remove(code % n);
                code /= n;
                assert_eq!(bench.take(&fragment), Fate::Kept);
            }
            assert_eq!(bench.take(&left[0]), Fate::Whole(packet.clone()));
        });
    }
}

#[test]
fn packets_of_other_sources_and_identifications_do_not_mix_rfc8200_4_5() {
    with(3, |bench| {
        let (one, two) = (whole(1, 200), whole(2, 200));
        let (a, b, c) = (
            bench.cut(&one, 124, 7),
            bench.cut(&two, 124, 7),
            bench.cut(&one, 124, 8),
        );
        for n in 0..2 {
            for fragments in [&a, &b, &c] {
                assert_eq!(bench.take(&fragments[n]), Fate::Kept);
            }
        }
        assert_eq!(bench.take(&c[2]), Fate::Whole(one.clone()));
        assert_eq!(bench.take(&b[2]), Fate::Whole(two));
        assert_eq!(bench.take(&a[2]), Fate::Whole(one));
    });
}

#[test]
fn headers_before_the_fragment_header_stay_and_the_last_of_them_names_what_follows_rfc8200_4_5() {
    with(1, |bench| {
        // A destination options header of eight bytes, all padding, in the first fragment only.
        let mut first = piece(0, 16, true);
        first[6] = 60;
        first[5] += 8;
        first.splice(40..40, [44, 0, 1, 4, 0, 0, 0, 0]);
        let last = piece(16, 5, false);
        assert_eq!(bench.take(&last), Fate::Kept);
        let mut expected = first.clone();
        expected.drain(48..56);
        expected[40] = 17;
        expected.extend(&last[48..]);
        expected[5] = (expected.len() - 40) as u8;
        assert_eq!(bench.take_at(&first, 48, 40), Fate::Whole(expected));
    });
}

#[test]
fn time_runs_from_the_first_arriving_fragment_and_the_source_is_told_if_the_first_came_rfc8200_4_5() {
    with(1, |bench| {
        bench.take(&piece(72, 8, true));
        bench.now += Duration::from_secs(59);
        bench.take(&piece(0, 16, true));
        assert_eq!(bench.expire(), None);
        bench.now += Duration::from_secs(1);
        assert_eq!(bench.reassembler.deadline(), Some(bench.now));
        assert_eq!(
            bench.take(&piece(16, 8, true)),
            Fate::Dropped(Reason::FragmentLate)
        );
        let told = ErrorMessage::time_exceeded(Exceeded::Reassembly);
        assert_eq!(
            bench.expire(),
            Some(Fate::Refused(Reason::ReassemblyTimeout, told))
        );
        assert_eq!(bench.expire(), None);
        assert_eq!(bench.drops.0, [Reason::ReassemblyTimeout]);
    });
}

#[test]
fn without_the_first_fragment_a_timeout_is_silent_rfc8200_4_5() {
    with(1, |bench| {
        bench.take(&piece(16, 8, true));
        bench.now += TIMEOUT;
        assert_eq!(bench.expire(), Some(Fate::Dropped(Reason::ReassemblyTimeout)));
    });
}

#[test]
fn xi6_overlapping_fragments_drop_the_whole_packet_and_what_still_comes() {
    for overlapping in [
        piece(8, 16, true),
        piece(24, 8, true),
        piece(24, 16, true),
        piece(0, 64, true),
        piece(16, 32, false),
    ] {
        with(1, |bench| {
            assert_eq!(bench.take(&piece(0, 16, true)), Fate::Kept);
            assert_eq!(bench.take(&piece(16, 24, true)), Fate::Kept);
            let conflict = Reason::ReassemblyConflict;
            assert_eq!(bench.take(&overlapping), Fate::Dropped(conflict));
            assert_eq!(bench.drops.0, [conflict]);
            // RFC 5722 section 4: those not yet received as well.
            let late = Fate::Dropped(Reason::FragmentLate);
            assert_eq!(bench.take(&piece(40, 8, false)), late);
            assert_eq!(bench.take(&piece(0, 16, true)), late);
            bench.now += TIMEOUT;
            assert_eq!(
                bench.expire(),
                Some(Fate::Dropped(conflict)),
                "no ICMP error is sent"
            );
            assert_eq!(bench.take(&piece(0, 16, true)), Fate::Kept);
        });
    }
}

#[test]
fn xi6_fragments_behind_the_last_one_and_a_second_last_one_drop_the_whole_packet() {
    let pairs = [
        (piece(32, 8, false), piece(40, 8, true)),
        (piece(32, 8, false), piece(40, 8, false)),
        (piece(32, 8, true), piece(16, 8, false)),
        (piece(32, 8, false), piece(16, 8, false)),
    ];
    for (first, second) in pairs {
        with(1, |bench| {
            assert_eq!(bench.take(&first), Fate::Kept);
            assert_eq!(bench.take(&second), Fate::Dropped(Reason::ReassemblyConflict));
        });
    }
}

#[test]
fn xi6_an_exact_duplicate_is_dropped_and_the_others_stay() {
    with(1, |bench| {
        let packet = whole(1, 200);
        let fragments = bench.cut(&packet, 124, 7);
        bench.take(&fragments[0]);
        bench.take(&fragments[2]);
        let duplicate = Fate::Dropped(Reason::FragmentDuplicate);
        assert_eq!(bench.take(&fragments[0]), duplicate);
        assert_eq!(bench.take(&fragments[2]), duplicate);
        assert_eq!(bench.take(&fragments[1]), Fate::Whole(packet));
    });
}

#[test]
fn xi6_a_first_fragment_without_all_headers_is_refused() {
    let problem = |pointer| {
        let problem = Problem::FirstFragment;
        Fate::Refused(Reason::FragmentInvalid, ErrorMessage::problem(problem, pointer))
    };
    with(1, |bench| {
        // Destination options follow, and eight bytes of UDP no longer.
        let mut short = piece(0, 8, true);
        short[40] = 60;
        short[48..56].copy_from_slice(&[17, 0, 1, 4, 0, 0, 0, 0]);
        assert_eq!(bench.take(&short), problem(0));
        let mut long = piece(0, 16, true);
        long[40] = 60;
        long[48..56].copy_from_slice(&[17, 0, 1, 4, 0, 0, 0, 0]);
        assert_eq!(bench.take(&long), Fate::Kept);
        // Options that go on beyond the fragment, and headers without end.
        let mut endless = piece(0, 80, true);
        endless[40] = 60;
        for at in (48..128).step_by(8) {
            endless[at..at + 8].copy_from_slice(&[60, 0, 1, 4, 0, 0, 0, 0]);
        }
        endless[44..48].copy_from_slice(&[0, 0, 0, 9]);
        assert_eq!(bench.take(&endless), problem(0));
        endless[49] = 255;
        assert_eq!(bench.take(&endless), problem(0));
    });
}

#[test]
fn xi6_a_length_that_is_no_multiple_of_eight_is_refused_but_at_the_end() {
    with(1, |bench| {
        let message = ErrorMessage::problem(Problem::Field, 4);
        assert_eq!(
            bench.take(&piece(0, 20, true)),
            Fate::Refused(Reason::FragmentInvalid, message)
        );
        assert_eq!(bench.take(&piece(24, 3, false)), Fate::Kept);
    });
}

#[test]
fn xi6_a_packet_of_more_than_65535_bytes_is_refused() {
    with(1, |bench| {
        let message = ErrorMessage::problem(Problem::Field, 42);
        assert_eq!(
            bench.take(&piece(65_528, 8, false)),
            Fate::Refused(Reason::FragmentInvalid, message)
        );
        assert_eq!(
            bench.take(&piece(65_520, 15, false)),
            Fate::Dropped(Reason::DatagramTooLarge),
            "that one would have 65,535 bytes of payload"
        );
        assert_eq!(
            bench.take(&piece(1456, 8, false)),
            Fate::Dropped(Reason::DatagramTooLarge)
        );
        assert_eq!(
            bench.take(&piece(1456, 4, false)),
            Fate::Kept,
            "1500 bytes are taken"
        );
    });
}

#[test]
fn xi6_a_fragment_without_data_or_without_its_header_is_dropped() {
    with(1, |bench| {
        let invalid = Fate::Dropped(Reason::FragmentInvalid);
        assert_eq!(bench.take(&piece(0, 0, true)), invalid);
        assert_eq!(bench.take(&piece(16, 0, false)), invalid);
        let cut = &piece(16, 8, false)[..47];
        assert_eq!(bench.take(cut), Fate::Dropped(Reason::Ipv6Malformed));
    });
}

#[test]
fn first_fragments_that_never_get_on_evict_each_other_and_not_what_is_received() {
    with(2, |bench| {
        let packet = whole(9, 200);
        let fragments = bench.cut(&packet, 124, 7);
        bench.take(&fragments[0]);
        bench.take(&fragments[1]);
        for flood in 0..20 {
            bench.now += Duration::from_millis(50);
            let mut first = piece(0, 16, true);
            first[23] = 100 + flood;
            assert_eq!(bench.take(&first), Fate::Kept);
        }
        assert_eq!(bench.drops.0, [Reason::ReassemblyEvicted; 19]);
        assert_eq!(bench.take(&fragments[2]), Fate::Whole(packet));
    });
}

#[test]
fn a_full_table_of_packets_that_make_progress_takes_no_other() {
    with(1, |bench| {
        bench.take(&piece(0, 16, true));
        bench.take(&piece(16, 16, true));
        let mut other = piece(0, 16, true);
        other[23] = 2;
        assert_eq!(bench.take(&other), Fate::Dropped(Reason::ReassemblyFull));
        bench.now += Duration::from_millis(2_001);
        assert_eq!(bench.take(&other), Fate::Kept);
    });
    with(0, |bench| {
        assert_eq!(
            bench.take(&piece(0, 16, true)),
            Fate::Dropped(Reason::ReassemblyFull)
        );
    });
}

#[test]
fn fragments_take_at_most_half_of_all_packets() {
    with(4, |bench| {
        let fates: Vec<Fate> = (0..40).map(|n| bench.take(&piece(n * 16, 8, true))).collect();
        let kept = fates.iter().filter(|fate| **fate == Fate::Kept).count();
        assert_eq!(kept, 32);
        assert_eq!(fates[39], Fate::Dropped(Reason::NoSlot));
    });
}

#[test]
fn a_congestion_mark_on_any_fragment_is_one_on_the_packet_rfc3168_5_3() {
    let marked = |ecn: [u8; 2]| {
        with(1, |bench| {
            let mut fragments = [piece(0, 16, true), piece(16, 8, false)];
            for (fragment, ecn) in fragments.iter_mut().zip(ecn) {
                fragment[1] |= ecn << 4;
            }
            bench.take(&fragments[0]);
            match bench.take(&fragments[1]) {
                Fate::Whole(bytes) => Ok(bytes[1] >> 4),
                other => Err(other),
            }
        })
    };
    assert_eq!(marked([2, 2]), Ok(2));
    assert_eq!(marked([2, 3]), Ok(3));
    assert_eq!(marked([3, 2]), Ok(3));
    assert_eq!(marked([0, 0]), Ok(0));
    assert_eq!(
        marked([0, 3]),
        Err(Fate::Dropped(Reason::ReassemblyConflict)),
        "a part that cannot carry a mark"
    );
}

proptest! {
    #[test]
    fn a_packet_cut_for_any_mtu_comes_together_from_any_order(
        len in 60..1400_usize,
        mtu in 100..1280_u16,
        seed in any::<u64>(),
    ) {
        with(1, |bench| {
            let packet = whole(1, len);
            let mut fragments = bench.cut(&packet, mtu, 7);
            prop_assume!(fragments.len() > 1);
            prop_assert!(fragments.iter().all(|fragment| fragment.len() <= usize::from(mtu)));
            let mut rng = Rng::new(seed);
            while fragments.len() > 1 {
                let pick = rng.below(fragments.len() as u32) as usize;
                let fragment = fragments.swap_remove(pick);
                prop_assert_eq!(bench.take(&fragment), Fate::Kept);
            }
            prop_assert_eq!(bench.take(&fragments[0]), Fate::Whole(packet));
            Ok(())
        })?;
    }

    #[test]
    fn any_fragments_leave_nothing_behind_after_the_time_is_over(
        pieces in prop::collection::vec((0..200_u16, 0..160_usize, any::<bool>(), 0..3_u8, 0..70_000_u64), 0..60),
    ) {
        with(2, |bench| {
            for (unit, len, more, src, later_ms) in pieces {
                bench.now += Duration::from_millis(later_ms);
                let mut bytes = piece(unit * 8, len, more);
                bytes[23] = src;
                bench.take(&bytes);
                while bench.expire().is_some() {}
            }
            bench.now += TIMEOUT;
            while bench.expire().is_some() {}
            prop_assert_eq!(bench.core.buf.live(), 0);
            prop_assert_eq!(bench.reassembler.deadline(), None);
            Ok(())
        })?;
    }
}

#[test]
fn where_half_of_all_packets_wait_in_pieces_those_that_get_no_further_give_way() {
    with(2, |bench| {
        // 32 of 64 packets.
        for n in 1..=32 {
            assert_eq!(bench.take(&piece(n * 8, 8, true)), Fate::Kept);
        }
        let mut other = piece(0, 16, true);
        other[47] = 8;
        assert_eq!(
            bench.take(&other),
            Fate::Dropped(Reason::NoSlot),
            "it makes progress"
        );
        bench.now += Duration::from_secs(3);
        assert_eq!(bench.take(&other), Fate::Kept);
        assert_eq!(bench.drops.0, [Reason::ReassemblyEvicted; 32]);
    });
}
