use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn the_header_is_laid_out_as_figure_3_says() {
    let mesh = Mesh {
        hops_left: 5,
        originator: LinkAddr::Extended([1, 2, 3, 4, 5, 6, 7, 8]),
        final_destination: LinkAddr::BROADCAST,
    };
    let mut out = [0xa5; 12];
    assert_eq!(mesh.emit(&mut out), Ok(11));
    assert_eq!(out, [0x95, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xa5]);
    assert_eq!(Mesh::parse(&out), Ok((mesh, &[0xa5][..])));
}

#[test]
fn xh15_hops_left_of_0_and_of_the_deep_form_are_read() {
    let short = [0x12, 0x34, 0x56, 0x78];
    for hops_left in 0..=255 {
        let mesh = Mesh {
            hops_left,
            originator: LinkAddr::Short(0x1234),
            final_destination: LinkAddr::Short(0x5678),
        };
        let mut out = [0; 6];
        let len = mesh.emit(&mut out).expect("it fits");
        let expected = if hops_left < 15 {
            std::vec![0xb0 | hops_left]
        } else {
            std::vec![0xbf, hops_left]
        };
        assert_eq!(out[..len], [&expected[..], &short].concat());
        assert_eq!(Mesh::parse(&out[..len]), Ok((mesh, &[][..])));
        // The deep form may also say less than 15.
        let deep = [&[0xbf, hops_left], &short[..]].concat();
        assert_eq!(Mesh::parse(&deep), Ok((mesh, &[][..])));
    }
    assert_eq!(Mesh::parse(&[0xbf]), Err(ParseError::Truncated));
}

#[test]
fn a_header_without_an_address_is_not_written() {
    let mesh = Mesh {
        originator: LinkAddr::Short(1),
        ..Mesh::default()
    };
    assert_eq!(mesh.emit(&mut [0; 20]), Err(ParseError::Reserved));
}

#[test]
fn a_broadcast_header_is_laid_out_as_figure_11_says() {
    let mut out = [0; 2];
    assert_eq!(Broadcast { sequence: 9 }.emit(&mut out), Ok(2));
    assert_eq!(out, [0x50, 9]);
    assert_eq!(
        Broadcast::parse(&[0x50, 9, 8]),
        Ok((Broadcast { sequence: 9 }, &[8][..]))
    );
    assert_eq!(Broadcast::parse(&[0x50]), Err(ParseError::Truncated));
    assert_eq!(Broadcast::parse(&[0x51, 9]), Err(ParseError::Unknown));
    assert_eq!(Broadcast::default().emit(&mut [0]), Err(ParseError::NoRoom));
}

fn link_addr() -> impl Strategy<Value = LinkAddr> {
    prop_oneof![
        any::<u16>().prop_map(LinkAddr::Short),
        any::<[u8; 8]>().prop_map(LinkAddr::Extended),
    ]
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_header(
        hops_left: u8, originator in link_addr(), final_destination in link_addr(), payload: Vec<u8>,
    ) {
        let mesh = Mesh { hops_left, originator, final_destination };
        let mut out = [0; 18];
        let len = mesh.emit(&mut out).expect("it fits");
        prop_assert_eq!(len, mesh.emit_len());
        let mut bytes = out[..len].to_vec();
        bytes.extend(&payload);
        prop_assert_eq!(Mesh::parse(&bytes), Ok((mesh, &payload[..])));
        for room in 0..len {
            prop_assert_eq!(mesh.emit(&mut out[..room]), Err(ParseError::NoRoom));
            prop_assert_eq!(Mesh::parse(&bytes[..room]), Err(ParseError::Truncated));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = (Mesh::parse(&bytes), Broadcast::parse(&bytes));
    }
}
