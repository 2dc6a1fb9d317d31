use std::vec;
use std::vec::Vec;

use super::*;
use crate::netapi::Ty;
use crate::netdev::IfaceId;
use crate::wire::addr::LinkAddr;

mod loans;
mod model;
mod room;

/// The memory of one buffer.
struct Room {
    bytes: Vec<u8>,
    segs: Vec<Seg>,
    slots: Vec<Slot>,
}

impl Room {
    fn new(bytes: usize, segs: usize, slots: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            segs: vec![Seg::EMPTY; segs],
            slots: vec![Slot::EMPTY; slots],
        }
    }

    fn buf(&mut self) -> PktBuf<'_> {
        self.reserving([0, 0])
    }

    fn reserving(&mut self, reserve: [usize; 2]) -> PktBuf<'_> {
        PktBuf::new(&mut self.bytes, &mut self.segs, &mut self.slots, reserve).unwrap()
    }
}

/// A packet with these bytes.
fn filled(buf: &mut PktBuf<'_>, headroom: usize, bytes: &[u8]) -> Pkt {
    let p = buf.alloc(Class::Receive, headroom, bytes.len()).unwrap();
    buf.write_bytes(&p, 0, bytes).unwrap();
    p
}

/// A packet whose segments hold these bytes.
fn chained(buf: &mut PktBuf<'_>, pieces: &[&[u8]]) -> Pkt {
    let p = filled(buf, 0, pieces[0]);
    for piece in &pieces[1..] {
        let next = filled(buf, 0, piece);
        let _ = buf.append(&p, next).unwrap();
    }
    p
}

/// The bytes from the cursor on.
fn bytes(buf: &PktBuf<'_>, p: &Pkt) -> Vec<u8> {
    buf.pieces(p, 0).flatten().copied().collect()
}

fn end(buf: &mut PktBuf<'_>, p: Pkt) {
    let _ = buf.release(p);
}

#[test]
fn a_header_is_marked_stays_readable_and_is_given_back() {
    let mut room = Room::new(256, 0, 1);
    let mut buf = room.buf();
    let p = filled(&mut buf, 0, &[1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(buf.read(&p), Some([1, 2, 3]));
    assert!(buf.mark(&p, 3));
    assert_eq!((buf.len(&p), buf.marked(&p)), (4, 3));
    assert_eq!(buf.read(&p), Some([4, 5]));
    assert_eq!(buf.read_at(&p, 2), Some([6, 7]));
    assert_eq!(buf.read_back(&p, 3), Some([1, 2, 3]));
    assert_eq!(buf.read_back(&p, 1), Some([3, 4]));
    assert_eq!(buf.contiguous(&p), [4, 5, 6, 7]);
    assert!(buf.unmark(&p, 1));
    assert_eq!(buf.read(&p), Some([3]));
    buf.check();
    end(&mut buf, p);
}

#[test]
fn what_lies_outside_a_packet_is_neither_read_nor_marked_nor_written() {
    let mut room = Room::new(256, 2, 3);
    let mut buf = room.buf();
    let neighbour = filled(&mut buf, 0, &[9; 8]);
    let p = filled(&mut buf, 2, &[1, 2, 3, 4]);
    assert!(buf.mark(&p, 1));
    assert_eq!(buf.read::<4>(&p), None);
    assert_eq!(buf.read_at::<1>(&p, 3), None);
    assert_eq!(buf.read_at::<1>(&p, usize::MAX), None);
    assert_eq!(buf.read_back::<1>(&p, 2), None);
    assert!(!buf.mark(&p, 4));
    assert!(!buf.mark(&p, usize::MAX));
    assert!(!buf.unmark(&p, 2));
    assert_eq!(buf.write_at::<2>(&p, 2), Err(NoRoom::Bytes));
    assert_eq!(buf.write_at::<1>(&p, usize::MAX), Err(NoRoom::Bytes));
    assert_eq!(buf.write_bytes(&p, 1, &[0; 3]), Err(NoRoom::Bytes));
    assert_eq!(buf.copy_out(&p, 4, &mut [0; 4]), 0);
    assert_eq!(buf.copy_out(&p, usize::MAX, &mut [0; 4]), 0);
    assert_eq!(bytes(&buf, &p), [2, 3, 4]);
    assert_eq!(bytes(&buf, &neighbour), [9; 8]);
    end(&mut buf, p);
    end(&mut buf, neighbour);
}

#[test]
fn a_header_that_straddles_segments_is_read_and_written_as_one() {
    let mut room = Room::new(256, 3, 4);
    let mut buf = room.buf();
    let p = chained(&mut buf, &[&[1, 2, 3], &[4], &[5, 6, 7], &[8]]);
    let used = buf.used();
    assert_eq!(buf.read(&p), Some([1, 2, 3, 4, 5]));
    assert_eq!(buf.read_at(&p, 2), Some([3, 4, 5, 6]));
    assert!(buf.mark(&p, 5));
    assert_eq!(buf.read_back(&p, 3), Some([3, 4, 5, 6]));
    assert_eq!(buf.read_at::<3>(&p, 1), None, "only two are left");
    assert_eq!(buf.contiguous(&p), [6, 7]);
    assert!(buf.unmark(&p, 5));
    *buf.write_at(&p, 2).unwrap() = [30, 40, 50];
    buf.check();
    assert_eq!(bytes(&buf, &p), [1, 2, 30, 40, 50, 6, 7, 8]);
    assert_eq!(buf.pieces(&p, 0).count(), 2, "the three first pieces became one");
    assert!(buf.used() < used);
    let mut out = [0; 5];
    assert_eq!(buf.copy_out(&p, 4, &mut out), 4);
    assert_eq!(out, [50, 6, 7, 8, 0]);
    end(&mut buf, p);
    buf.check();
}

#[test]
fn headers_are_written_into_the_room_in_front() {
    let mut room = Room::new(256, 0, 1);
    let mut buf = room.buf();
    let p = buf.alloc(Class::Transmit, 6, 2).unwrap();
    buf.write_bytes(&p, 0, &[7, 8]).unwrap();
    *buf.prepend(&p).unwrap() = [5, 6];
    *buf.prepend(&p).unwrap() = [1, 2, 3, 4];
    assert_eq!(bytes(&buf, &p), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(buf.prepend::<1>(&p), Err(NoRoom::Segments), "the room is used up");
    assert_eq!(buf.len(&p), 8);
    buf.check();
    end(&mut buf, p);
}

#[test]
fn what_was_marked_becomes_room_in_front_of_a_packet_that_owns_its_bytes() {
    let mut room = Room::new(256, 1, 2);
    let mut buf = room.buf();
    let p = filled(&mut buf, 0, &[1, 2, 3, 4, 5]);
    let used = buf.used();
    assert!(buf.mark(&p, 4));
    *buf.prepend(&p).unwrap() = [8, 9];
    assert_eq!(bytes(&buf, &p), [8, 9, 5]);
    assert_eq!(buf.marked(&p), 0);
    buf.discard_marked(&p);
    *buf.prepend(&p).unwrap() = [6, 7];
    assert_eq!(bytes(&buf, &p), [6, 7, 8, 9, 5]);
    assert_eq!(buf.used(), used);
    buf.check();
    end(&mut buf, p);
}

#[test]
fn discarding_what_was_marked_gives_back_whole_segments() {
    let mut room = Room::new(256, 2, 3);
    let mut buf = room.buf();
    let p = chained(&mut buf, &[&[1, 2, 3], &[4, 5], &[6, 7]]);
    let used = buf.used();
    assert!(buf.mark(&p, 4));
    buf.discard_marked(&p);
    buf.check();
    assert_eq!(bytes(&buf, &p), [5, 6, 7]);
    assert_eq!(buf.read_back::<1>(&p, 1), None);
    assert_eq!(buf.used(), used - 8, "header and three bytes");
    assert!(buf.mark(&p, 3));
    buf.discard_marked(&p);
    assert!(buf.is_empty(&p));
    buf.check();
    end(&mut buf, p);
    assert_eq!(buf.used(), 0);
}

#[test]
fn truncating_gives_back_the_segments_behind() {
    let mut room = Room::new(256, 2, 3);
    let mut buf = room.buf();
    let p = chained(&mut buf, &[&[1, 2, 3], &[4, 5], &[6, 7]]);
    assert!(buf.mark(&p, 1));
    buf.truncate(&p, 9);
    assert_eq!(buf.len(&p), 6);
    buf.truncate(&p, 4);
    assert_eq!(bytes(&buf, &p), [2, 3, 4, 5]);
    assert_eq!(buf.used(), 16);
    buf.check();
    buf.truncate(&p, 0);
    assert_eq!((buf.len(&p), buf.marked(&p), buf.used()), (0, 1, 8));
    buf.check();
    end(&mut buf, p);
}

#[test]
fn who_writes_into_shared_bytes_gets_a_copy_and_the_others_see_nothing() {
    let mut room = Room::new(256, 2, 3);
    let mut buf = room.buf();
    let a = filled(&mut buf, 4, &[1, 2, 3, 4]);
    assert!(buf.mark(&a, 1));
    let b = buf.share(&a).unwrap();
    let c = buf.share(&a).unwrap();
    assert_eq!(buf.used(), 12, "three packets over one chunk");
    *buf.write_at(&a, 0).unwrap() = [20];
    assert_eq!(buf.used(), 20);
    buf.write_bytes(&b, 1, &[33, 44]).unwrap();
    buf.check();
    assert_eq!(bytes(&buf, &a), [20, 3, 4]);
    assert_eq!(bytes(&buf, &b), [2, 33, 44]);
    assert_eq!(bytes(&buf, &c), [2, 3, 4]);
    assert_eq!(buf.read_back(&a, 1), Some([1]), "marked bytes are copied, too");
    let used = buf.used();
    *buf.write_at(&c, 0).unwrap() = [9];
    assert_eq!(buf.used(), used, "the last one writes in place");
    for p in [a, b, c] {
        end(&mut buf, p);
    }
    assert_eq!((buf.used(), buf.live(), buf.in_hand()), (0, 0, 0));
    buf.check();
}

#[test]
fn only_the_segment_that_is_written_is_copied() {
    let mut room = Room::new(512, 4, 4);
    let mut buf = room.buf();
    let a = chained(&mut buf, &[&[1; 8], &[2; 100]]);
    let b = buf.share(&a).unwrap();
    let used = buf.used();
    *buf.write_at(&b, 2).unwrap() = [7];
    assert_eq!(buf.used(), used + 12);
    assert_eq!(bytes(&buf, &a)[..3], [1, 1, 1]);
    assert_eq!(bytes(&buf, &b)[..3], [1, 1, 7]);
    buf.check();
    end(&mut buf, a);
    end(&mut buf, b);
}

#[test]
fn a_header_in_front_of_shared_bytes_gets_a_chunk_of_its_own() {
    let mut room = Room::new(256, 2, 2);
    let mut buf = room.buf();
    let a = filled(&mut buf, 8, &[1, 2]);
    let b = buf.share(&a).unwrap();
    *buf.prepend(&a).unwrap() = [10; 4];
    *buf.prepend(&b).unwrap() = [20; 4];
    buf.check();
    assert_eq!(bytes(&buf, &a), [10, 10, 10, 10, 1, 2]);
    assert_eq!(bytes(&buf, &b), [20, 20, 20, 20, 1, 2]);
    end(&mut buf, a);
    end(&mut buf, b);
}

#[test]
fn growing_a_shared_packet_does_not_reach_into_what_the_others_hold() {
    let mut room = Room::new(256, 1, 2);
    let mut buf = room.buf();
    let a = filled(&mut buf, 0, &[1, 2, 3, 4]);
    let b = buf.share(&a).unwrap();
    buf.truncate(&b, 2);
    buf.grow(&b, 2).unwrap().fill(9);
    assert_eq!(bytes(&buf, &a), [1, 2, 3, 4]);
    assert_eq!(bytes(&buf, &b), [1, 2, 9, 9]);
    buf.check();
    end(&mut buf, a);
    end(&mut buf, b);
}

#[test]
fn each_receiver_has_its_own_cursor_metadata_message_and_queue() {
    let mut room = Room::new(256, 0, 3);
    let mut buf = room.buf();
    let a = filled(&mut buf, 0, &[1, 2, 3]);
    *buf.meta_mut(&a) = Meta {
        iface: IfaceId(2),
        link_src: LinkAddr::Short(7),
        lqi: 200,
        ..Meta::EMPTY
    };
    buf.set_msg(&a, Msg::up(Ty::Udp, 5683));
    buf.set_id(&a, PktId::new(3));
    let (b, c) = (buf.share(&a).unwrap(), buf.share(&a).unwrap());
    assert_eq!(buf.meta(&b), buf.meta(&a));
    assert_eq!(buf.msg(&c), Msg::up(Ty::Udp, 5683));
    assert_eq!(buf.id(&c), PktId::new(3));
    buf.meta_mut(&b).congested = true;
    buf.set_msg(&b, Msg::down(Ty::Ipv6, 0));
    assert!(buf.mark(&b, 2));
    assert!(!buf.meta(&a).congested);
    assert_eq!(buf.msg(&a), Msg::up(Ty::Udp, 5683));
    assert_eq!(buf.len(&a), 3);

    let (mut one, mut two) = (Queue::default(), Queue::EMPTY);
    let _ = buf.push(&mut one, a);
    let _ = buf.push(&mut one, b);
    let _ = buf.push(&mut two, c);
    buf.check();
    assert_eq!((one.len(), two.len(), buf.in_hand()), (2, 1, 0));
    let mut seen = Vec::new();
    buf.walk(&one, &mut |p| seen.push(buf.len(p)));
    assert_eq!(seen, [3, 1]);
    assert_eq!(one.front().map(|p| buf.len(p)), Some(3));
    for expected in [3, 1] {
        let p = buf.pop(&mut one).unwrap();
        assert_eq!(buf.len(&p), expected);
        end(&mut buf, p);
    }
    assert!(buf.pop(&mut one).is_none() && one.is_empty());
    let c = buf.pop(&mut two).unwrap();
    let _ = buf.push(&mut one, c);
    let c = buf.pop(&mut one).unwrap();
    assert_eq!(bytes(&buf, &c), [1, 2, 3]);
    end(&mut buf, c);
    assert_eq!(buf.used(), 0);
    buf.check();
}

#[test]
fn a_packet_in_a_table_can_be_read_and_written_and_comes_back() {
    let mut room = Room::new(256, 0, 1);
    let mut buf = room.buf();
    let p = filled(&mut buf, 0, &[1, 2]);
    let kept = buf.keep(p);
    assert_eq!(buf.in_hand(), 0);
    *buf.write_at(kept.pkt(), 0).unwrap() = [5];
    buf.grow(kept.pkt(), 1).unwrap()[0] = 6;
    let p = buf.resume(kept);
    assert_eq!(buf.in_hand(), 1);
    assert_eq!(bytes(&buf, &p), [5, 2, 6]);
    end(&mut buf, p);
    assert_eq!(size_of::<Option<Kept>>(), 2);
}

#[test]
fn g6_a_lost_packet_is_found_by_the_count_of_those_in_hand() {
    let mut room = Room::new(256, 2, 4);
    let mut buf = room.buf();
    let mut queue = Queue::default();
    let (a, b) = (filled(&mut buf, 0, &[1]), filled(&mut buf, 0, &[2]));
    let _ = buf.push(&mut queue, a);
    let kept = buf.keep(b);
    assert_eq!(buf.in_hand(), 0, "all packets are somewhere");
    let lost = filled(&mut buf, 0, &[3]);
    drop(lost);
    assert_eq!((buf.in_hand(), buf.live()), (1, 3));
    let a = buf.pop(&mut queue).unwrap();
    let b = buf.resume(kept);
    let _ = buf.append(&a, b).unwrap();
    end(&mut buf, a);
    assert_eq!((buf.in_hand(), buf.live()), (1, 1));
    buf.check();
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "owner of")]
fn g6_a_packet_released_twice_is_found_at_once() {
    let mut room = Room::new(256, 0, 2);
    let mut buf = room.buf();
    let p = filled(&mut buf, 0, &[1]);
    let twin = Pkt::from_link(p.link()).unwrap();
    end(&mut buf, p);
    end(&mut buf, twin);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "owner of")]
fn g6_a_packet_used_after_it_was_queued_is_found_at_once() {
    let mut room = Room::new(256, 0, 2);
    let mut buf = room.buf();
    let mut queue = Queue::default();
    let p = filled(&mut buf, 0, &[1]);
    let twin = Pkt::from_link(p.link()).unwrap();
    let _ = buf.push(&mut queue, p);
    let _ = buf.keep(twin);
}

#[test]
#[cfg(debug_assertions)]
fn bytes_that_are_new_to_their_owner_are_stale() {
    let mut room = Room::new(64, 1, 2);
    let mut buf = room.buf();
    let p = filled(&mut buf, 8, &[1; 40]);
    end(&mut buf, p);
    let p = buf.alloc(Class::Receive, 8, 4).unwrap();
    assert_eq!(bytes(&buf, &p), [0xa5; 4]);
    assert_eq!(buf.grow(&p, 30).unwrap(), [0xa5; 30]);
    buf.write_bytes(&p, 0, &[1; 34]).unwrap();
    buf.truncate(&p, 4);
    assert_eq!(buf.grow(&p, 8).unwrap(), [0xa5; 8]);
    assert_eq!(*buf.prepend::<8>(&p).unwrap(), [0xa5; 8]);
    end(&mut buf, p);
}

#[test]
fn all_bytes_are_written_in_one_piece_that_nobody_else_sees() {
    let mut room = Room::new(256, 2, 4);
    let mut buf = room.buf();
    let (a, b) = (filled(&mut buf, 0, &[1, 2, 3]), filled(&mut buf, 0, &[4, 5]));
    buf.bytes_mut(&a).unwrap()[2] = 9;
    assert_eq!(bytes(&buf, &a), [1, 2, 9], "where they lie already");
    let _ = buf.append(&a, b).unwrap();
    let shared = buf.share(&a).unwrap();
    buf.mark(&a, 1);
    buf.bytes_mut(&a).unwrap().copy_from_slice(&[6, 7, 8, 9]);
    assert_eq!(bytes(&buf, &a), [6, 7, 8, 9]);
    assert_eq!(bytes(&buf, &shared), [1, 2, 9, 4, 5]);
    buf.check();
    end(&mut buf, a);
    end(&mut buf, shared);
    assert_eq!(buf.used(), 0);
}
