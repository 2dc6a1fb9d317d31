//! How much fits, who may have it, and what happens when there is no more.

use std::vec;
use std::vec::Vec;

use super::super::*;
use super::{Room, bytes, chained, end, filled};
use crate::trace::Reason;

#[test]
fn reception_cannot_take_what_is_reserved_for_transmission_nor_the_reverse() {
    let mut room = Room::new(400, 4, 16);
    let mut buf = room.reserving([100, 200]);
    let flood = |buf: &mut PktBuf<'_>, class, len| {
        let mut all = Vec::new();
        while let Ok(p) = buf.alloc(class, 0, len) {
            all.push(p);
        }
        buf.check();
        all
    };
    let received = flood(&mut buf, Class::Receive, 36);
    assert_eq!(received.len(), 5, "5 * 40 = 400 - 200");
    assert_eq!(buf.grow(&received[4], 1), Err(NoRoom::Bytes), "nor by growing");
    let sent = flood(&mut buf, Class::Transmit, 36);
    assert_eq!(sent.len(), 5, "the whole reserve");
    for p in received {
        end(&mut buf, p);
    }
    let more = flood(&mut buf, Class::Transmit, 36);
    assert_eq!(more.len(), 2, "7 * 40 <= 400 - 100");
    let received = flood(&mut buf, Class::Receive, 36);
    assert_eq!(
        received.len(),
        3,
        "the reserve of reception, and what 40 does not divide"
    );
    for p in sent.into_iter().chain(more).chain(received) {
        end(&mut buf, p);
    }
    buf.check();
    assert_eq!(buf.used(), 0);
    assert_eq!(buf.high_water(), 400);
}

#[test]
fn reserves_larger_than_the_arena_are_refused() {
    let mut room = Room::new(100, 0, 0);
    let new = PktBuf::new(&mut room.bytes, &mut room.segs, &mut room.slots, [60, 44]);
    assert_eq!(new.err(), Some(NoRoom::Bytes));
    let new = PktBuf::new(&mut room.bytes, &mut room.segs, &mut room.slots, [usize::MAX, 4]);
    assert_eq!(new.err(), Some(NoRoom::Bytes));
    assert_eq!(room.reserving([60, 40]).capacity(), 100);
}

#[test]
fn holes_are_used_first_and_neighbours_merge() {
    let mut room = Room::new(400, 0, 16);
    let mut buf = room.buf();
    let mut all: Vec<_> = (0..10).map(|_| Some(filled(&mut buf, 0, &[1; 36]))).collect();
    assert_eq!(buf.alloc(Class::Receive, 0, 0).err(), Some(NoRoom::Bytes));
    // Every order of neighbours: alone, before, behind, between.
    for (freed, at) in [1, 3, 2, 8, 7, 6].into_iter().enumerate() {
        end(&mut buf, all[at].take().unwrap());
        buf.check();
        assert_eq!(buf.used(), 400 - 40 * (freed + 1));
    }
    assert_eq!(
        buf.alloc(Class::Receive, 0, 120).err(),
        Some(NoRoom::Bytes),
        "in pieces of 120"
    );
    let hole = buf.alloc(Class::Receive, 0, 116).unwrap();
    let other = buf.alloc(Class::Receive, 0, 100).unwrap();
    buf.check();
    assert_eq!(buf.used(), 400 - 16);
    end(&mut buf, hole);
    end(&mut buf, other);
    for p in all.into_iter().flatten() {
        end(&mut buf, p);
        buf.check();
    }
    let whole = buf.alloc(Class::Receive, 0, 396).unwrap();
    buf.check();
    end(&mut buf, whole);
}

#[test]
fn a_packet_grows_into_the_hole_behind_it_even_if_that_was_freed_last() {
    let mut room = Room::new(120, 0, 3);
    let mut buf = room.buf();
    let a = filled(&mut buf, 0, &[1; 36]);
    let b = filled(&mut buf, 0, &[2; 36]);
    let c = filled(&mut buf, 0, &[3; 36]);
    assert_eq!(buf.grow(&a, 4), Err(NoRoom::Segments), "no hole, and no segment");
    end(&mut buf, b);
    buf.grow(&a, 30).unwrap().fill(4);
    buf.grow(&a, 10).unwrap().fill(5);
    assert_eq!(buf.grow(&a, 1), Err(NoRoom::Segments), "the hole is filled");
    buf.check();
    assert_eq!(bytes(&buf, &a), [[1; 36].as_slice(), &[4; 30], &[5; 10]].concat());
    assert_eq!(bytes(&buf, &c), [3; 36]);
    assert_eq!(buf.used(), 120);
    end(&mut buf, a);
    end(&mut buf, c);
}

#[test]
fn without_bytes_every_request_leaves_things_as_they_were() {
    let mut room = Room::new(60, 8, 8);
    let mut buf = room.buf();
    let a = filled(&mut buf, 0, &[1; 24]);
    let b = filled(&mut buf, 0, &[2; 24]);
    let c = buf.share(&b).unwrap();
    assert!(buf.mark(&a, 2) && buf.mark(&c, 2));
    let d = filled(&mut buf, 0, &[]);
    assert_eq!(buf.used(), 60);
    assert_eq!(buf.alloc(Class::Receive, 0, 0).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.prepend::<8>(&a).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.prepend::<1>(&c).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.write_at::<1>(&c, 0).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.write_bytes(&c, 0, &[0]).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.grow(&a, 1).err(), Some(NoRoom::Bytes));
    assert_eq!(buf.grow(&c, 1).err(), Some(NoRoom::Bytes));
    buf.check();
    assert_eq!((buf.marked(&a), buf.marked(&c)), (2, 2));
    assert_eq!((bytes(&buf, &a), bytes(&buf, &c)), (vec![1; 22], vec![2; 22]));
    assert_eq!(bytes(&buf, &b), [2; 24]);
    for p in [a, b, c, d] {
        end(&mut buf, p);
    }
}

#[test]
fn a_write_over_two_shared_segments_that_finds_no_bytes_for_their_copy_writes_nothing() {
    let mut room = Room::new(40, 8, 8);
    let mut buf = room.buf();
    let a = chained(&mut buf, &[&[1; 8], &[2; 8]]);
    let b = buf.share(&a).unwrap();
    assert_eq!(buf.write_bytes(&a, 6, &[9; 4]), Err(NoRoom::Bytes));
    buf.check();
    assert_eq!(bytes(&buf, &a), bytes(&buf, &b));
    end(&mut buf, a);
    end(&mut buf, b);
}

#[test]
fn without_segments_every_request_leaves_things_as_they_were() {
    let mut room = Room::new(400, 1, 8);
    let mut buf = room.buf();
    let a = chained(&mut buf, &[&[1; 6], &[2; 6]]);
    let b = filled(&mut buf, 0, &[3; 6]);
    let used = buf.used();
    assert_eq!(buf.share(&a).err(), Some(NoRoom::Segments));
    assert!(buf.mark(&a, 2) && buf.mark(&b, 1));
    assert_eq!(buf.prepend::<8>(&a).err(), Some(NoRoom::Segments));
    let c = buf.share(&b).unwrap();
    assert_eq!(buf.grow(&b, 1).err(), Some(NoRoom::Segments));
    let b = buf.append(&a, b).unwrap_err();
    buf.check();
    assert_eq!((buf.marked(&a), buf.marked(&b), buf.used()), (2, 1, used));
    assert_eq!(bytes(&buf, &a), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(bytes(&buf, &b), [3; 5]);
    // A packet whose first segment is marked whole gives the entry that it needs.
    assert!(buf.mark(&a, 4));
    *buf.prepend(&a).unwrap() = [7; 8];
    assert_eq!(bytes(&buf, &a), [[7; 8].as_slice(), &[2; 6]].concat());
    assert!(buf.mark(&a, 8));
    let _ = buf.append(&b, a).unwrap();
    assert_eq!(bytes(&buf, &b), [[3; 5].as_slice(), &[2; 6]].concat());
    buf.check();
    end(&mut buf, b);
    end(&mut buf, c);
}

#[test]
fn without_slots_every_request_leaves_things_as_they_were() {
    let mut room = Room::new(400, 1, 1);
    let mut buf = room.buf();
    let a = filled(&mut buf, 0, &[1]);
    let used = buf.used();
    assert_eq!(buf.alloc(Class::Receive, 0, 1).err(), Some(NoRoom::Slots));
    assert_eq!(buf.share(&a).err(), Some(NoRoom::Slots));
    assert_eq!((buf.used(), buf.live(), buf.in_hand()), (used, 1, 1));
    buf.check();
    end(&mut buf, a);
}

#[test]
fn a_packet_does_not_exceed_what_16_bits_count() {
    let mut room = Room::new(200_000, 4, 4);
    let mut buf = room.buf();
    assert_eq!(buf.capacity(), 131_068);
    assert_eq!(buf.alloc(Class::Receive, 1, 65_535).err(), Some(NoRoom::Bytes));
    assert_eq!(
        buf.alloc(Class::Receive, usize::MAX, 2).err(),
        Some(NoRoom::Bytes)
    );
    let a = buf.alloc(Class::Receive, 5, 65_530).unwrap();
    let b = filled(&mut buf, 0, &[1; 6]);
    assert_eq!(buf.grow(&a, 6), Err(NoRoom::Bytes));
    assert_eq!(buf.grow(&a, usize::MAX), Err(NoRoom::Bytes));
    let b = buf.append(&a, b).unwrap_err();
    assert!(buf.mark(&b, 1));
    let _ = buf.append(&a, b).unwrap();
    assert_eq!(buf.len(&a), 65_535);
    assert_eq!(buf.prepend::<5>(&a), Err(NoRoom::Bytes));
    buf.check();
    end(&mut buf, a);
}

#[test]
fn a_buffer_without_memory_refuses_everything() {
    for (bytes, slots, why) in [
        (0, 1, NoRoom::Bytes),
        (3, 1, NoRoom::Bytes),
        (64, 0, NoRoom::Slots),
    ] {
        let mut room = Room::new(bytes, 0, slots);
        let mut buf = room.buf();
        assert_eq!(buf.alloc(Class::Receive, 0, 0).err(), Some(why));
        buf.check();
    }
    assert_eq!(NoRoom::Bytes.reason(), Reason::NoBuffer);
    assert_eq!(NoRoom::Slots.reason(), Reason::NoSlot);
}

#[test]
fn memory_given_back_with_packets_in_it_serves_the_next_buffer() {
    let mut room = Room::new(102, 2, 3);
    let mut buf = room.buf();
    let p = chained(&mut buf, &[&[1; 20], &[2; 20]]);
    let _ = buf.keep(p);
    let (bytes, segs, slots) = buf.into_parts();
    assert_eq!((bytes.len(), segs.len(), slots.len()), (100, 2, 3));
    let mut buf = PktBuf::new(bytes, segs, slots, [0, 0]).unwrap();
    buf.check();
    assert_eq!((buf.live(), buf.used()), (0, 0));
    let p = buf.alloc(Class::Receive, 0, 96).unwrap();
    end(&mut buf, p);
}

/// GNRC took a packet buffer of 1,676 bytes for one IPv6 datagram, one fragment and their metadata (Lenders, Analysis and
/// Comparison of Embedded Network Stacks, 2016, section 5.3.2). Here: 1,416 bytes of arena and two slots.
#[test]
fn g4_a_reassembled_1280_byte_datagram_and_a_full_frame_fit_1676_bytes_tables_included() {
    let mut room = Room::new(1416, 0, 2);
    let tables = size_of_val(&room.slots[..]) + size_of_val(&room.segs[..]);
    let mut buf = room.reserving([0, 127]);
    // The first fragment is decompressed into its place; twelve of 96 follow.
    let datagram = filled(&mut buf, 0, &[0; 128]);
    let datagram = buf.keep(datagram);
    for number in 1..=12 {
        buf.grow(datagram.pkt(), 96).unwrap().fill(number);
    }
    let frame = buf.alloc(Class::Transmit, 0, 127).unwrap();
    buf.check();
    let whole = bytes(&buf, datagram.pkt());
    assert_eq!(whole.len(), 1280);
    assert!(
        whole[128..]
            .iter()
            .enumerate()
            .all(|(at, &byte)| usize::from(byte) == at / 96 + 1)
    );
    assert_eq!(
        buf.used(),
        1416,
        "1280 and 127 bytes, two headers, one byte of padding"
    );
    assert!(buf.used() + tables <= 1520, "{tables} bytes of tables");
    let datagram = buf.resume(datagram);
    end(&mut buf, datagram);
    end(&mut buf, frame);
}
