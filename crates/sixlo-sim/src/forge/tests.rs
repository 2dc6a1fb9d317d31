use super::*;

const A: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 1]);
const B: LinkAddr = LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, 2]);

fn frame(payload: &[u8]) -> Vec<u8> {
    let header = Header::data(7, 0x23, B, A);
    let mut out = vec![0; header.emit_len()];
    header.emit(&mut out).unwrap();
    out.extend(payload);
    out
}

fn plain(fragment: Fragment, len: usize) -> Vec<u8> {
    let mut out = vec![0; fragment.emit_len()];
    fragment.emit(&mut out).unwrap();
    out.resize(out.len() + len, 0x7a);
    frame(&out)
}

#[test]
fn the_fragment_that_follows_is_forged_under_the_same_tag_and_source() {
    let heard = Fragment {
        datagram_size: 300,
        datagram_tag: 5,
        datagram_offset: 6,
    };
    let forged = forge(&plain(heard, 96), Forgery::Next, 1, &[]).unwrap();
    let (header, payload) = Header::parse(&forged).unwrap();
    let (fragment, data) = Fragment::parse(payload).unwrap();
    assert_eq!((header.src, header.dst), (A, B));
    assert_ne!(header.sequence, Some(7));
    assert_eq!((fragment.datagram_tag, fragment.start()), (5, 48 + 96));
    assert_eq!(data.len(), 96);
    assert_ne!(data, [0x7a; 96]);
}

#[test]
fn a_first_fragment_is_forged_from_a_neighbour_that_does_not_exist() {
    let heard = Fragment {
        datagram_size: 300,
        datagram_tag: 5,
        datagram_offset: 0,
    };
    let forged = forge(&plain(heard, 90), Forgery::First, 2, &[]).unwrap();
    let (header, payload) = Header::parse(&forged).unwrap();
    let (fragment, data) = Fragment::parse(payload).unwrap();
    assert_ne!(header.src, A);
    assert_eq!(header.dst, B);
    assert_eq!((fragment.datagram_size, data), (300, [0x7a; 90].as_slice()));
}

#[test]
fn recoverable_fragments_are_forged_likewise() {
    let heard = Rfrag {
        tag: 9,
        sequence: 0,
        size: 80,
        offset: 300,
        ..Rfrag::default()
    };
    let mut bytes = vec![0; Rfrag::LEN];
    heard.emit(&mut bytes).unwrap();
    bytes.resize(Rfrag::LEN + 80, 1);
    let forged = forge(&frame(&bytes), Forgery::Next, 3, &[]).unwrap();
    let (fragment, _) = Rfrag::parse(Header::parse(&forged).unwrap().1).unwrap();
    assert_eq!((fragment.tag, fragment.sequence, fragment.offset), (9, 1, 80));
    let forged = forge(&frame(&bytes), Forgery::First, 3, &[]).unwrap();
    let (header, payload) = Header::parse(&forged).unwrap();
    let (fragment, _) = Rfrag::parse(payload).unwrap();
    assert!(header.src != A && fragment.is_first() && fragment.offset == 300);
}

#[test]
fn what_is_no_fragment_is_not_forged() {
    assert_eq!(forge(&frame(&[0x41; 50]), Forgery::Next, 1, &[]), None);
    assert_eq!(forge(&[1, 2, 3], Forgery::First, 1, &[]), None);
}
