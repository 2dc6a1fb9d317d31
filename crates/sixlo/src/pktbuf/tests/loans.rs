//! Bytes that are lent for ever.

use crate::pktbuf::{Class, Loan, NoRoom, PktBuf, Seg, Slot};

#[test]
fn lent_bytes_are_read_where_they_lie_copied_when_written_and_given_back() {
    static BYTES: [u8; 6] = *b"lender";
    let (mut bytes, mut segs, mut slots) = ([0; 256], [Seg::EMPTY; 8], [Slot::EMPTY; 4]);
    let mut loans = [Loan::EMPTY; 2];
    let buf = PktBuf::new(&mut bytes, &mut segs, &mut slots, [0; 2]);
    let mut buf = buf.expect("it fits").with_loans(&mut loans);
    let p = buf.alloc(Class::Transmit, 0, 2).unwrap();
    buf.write_bytes(&p, 0, b"a-").unwrap();
    assert!(buf.lend(Some(&p), &BYTES).unwrap().is_none());
    buf.grow(&p, 2).unwrap().copy_from_slice(b"-z");
    let q = buf.lend(None, &BYTES).unwrap().expect("a packet");
    let third = buf.lend(Some(&p), &BYTES).err();
    assert_eq!(third, Some(NoRoom::Segments), "two loans, and there are no more");
    let used = buf.used();
    let window = buf.window(&p, 1, 8).unwrap();
    assert_eq!(buf.used(), used, "nothing is copied");
    let mut out = [0; 8];
    assert_eq!((buf.copy_out(&window, 0, &mut out), &out), (8, b"-lender-"));
    assert_eq!(buf.read_at::<3>(&window, 6), None);
    assert_eq!(buf.read_at::<2>(&window, 6), Some(*b"r-"));
    buf.check();
    buf.write_bytes(&window, 2, b"o").unwrap();
    buf.copy_out(&window, 0, &mut out);
    assert_eq!((&out, &BYTES), (b"-londer-", b"lender"));
    buf.check();
    for packet in [p, window, q] {
        let _released = buf.release(packet);
    }
    buf.check();
    assert_eq!((buf.live(), buf.used()), (0, 0));
}
