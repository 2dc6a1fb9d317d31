use std::vec::Vec;

use proptest::prelude::*;

use super::*;

fn addr(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

fn header(kind: u8, compression: u8, pad: u8, addresses: &[u8]) -> Vec<u8> {
    let mut bytes = std::vec![
        NextHeader::UDP.0,
        (addresses.len() / 8) as u8,
        kind,
        1,
        compression,
        pad << 4,
        0,
        0
    ];
    bytes.extend(addresses);
    bytes
}

fn source_route(bytes: &[u8]) -> Result<SourceRoute<'_>, ParseError> {
    Header::parse(bytes).unwrap().0.source_route()
}

#[test]
fn a_route_within_a_prefix_lies_where_rfc_6554_section_3_draws_it() {
    let dst = addr("fd00::a");
    let hops = [addr("fd00::1:2"), addr("fd00::b"), addr("fd00::c")];
    let mut bytes = [0xa5; 40];
    let len = emit(NextHeader::UDP, &hops, &dst, &mut bytes).unwrap();
    // The third last byte of the first hop differs: 13 bytes shared, 3 addresses of 3 bytes, 7 of padding.
    #[rustfmt::skip]
    let expected = [17, 2, 3, 3, 0xdd, 0x70, 0, 0, 1, 0, 2, 0, 0, 0xb, 0, 0, 0xc, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes[..len], expected);
    let (header, rest) = Header::parse(&bytes).unwrap();
    assert_eq!(
        (header.kind, header.segments_left, rest.len()),
        (RoutingType::RPL, 3, 16)
    );
    let route = header.source_route().unwrap();
    assert_eq!(route.len(), 3);
    for (i, hop) in hops.iter().enumerate() {
        assert_eq!(route.address(i, &dst), Some(*hop));
    }
    assert_eq!((route.range(1), route.range(2)), (Some(11..14), Some(14..17)));
    assert_eq!((route.range(3), route.address(3, &dst)), (None, None));
}

#[test]
fn a_type_0_route_has_whole_addresses() {
    let mut addresses = addr("fd00::1").octets().to_vec();
    addresses.extend(addr("2001:db8::2").octets());
    let bytes = header(0, 0xff, 0xf, &addresses);
    let route = source_route(&bytes).unwrap();
    assert_eq!(route.len(), 2);
    assert_eq!(route.address(1, &addr("::")), Some(addr("2001:db8::2")));
    assert_eq!(source_route(&header(0, 0, 0, &[0; 24])), Err(ParseError::Length));
}

#[test]
fn xi5_lengths_that_do_not_go_up_in_addresses_are_refused() {
    // Every combination of CmprI, CmprE, Pad and length against the arithmetic of RFC 6554 section 4.2.
    for (compression, pad, units) in
        (0..=255_u8).flat_map(|c| (0..16).flat_map(move |p| (0..6).map(move |u| (c, p, u))))
    {
        let (cmpr_i, cmpr_e) = (i32::from(compression >> 4), i32::from(compression & 15));
        let others = units * 8 - i32::from(pad) - (16 - cmpr_e);
        let valid = others >= 0 && others % (16 - cmpr_i) == 0 && (compression != 0 || pad == 0);
        let bytes = header(3, compression, pad, &[7; 40][..units as usize * 8]);
        match source_route(&bytes) {
            Ok(route) => {
                assert!(valid, "{compression:#x} {pad} {units}");
                assert_eq!(route.len() as i32, others / (16 - cmpr_i) + 1);
                let last = route.range(route.len() - 1).unwrap();
                assert_eq!(last.end, bytes.len() - usize::from(pad));
                assert_eq!(last.len() as i32, 16 - cmpr_e);
            }
            Err(error) => assert!(
                !valid && error == ParseError::Length,
                "{compression:#x} {pad} {units}"
            ),
        }
    }
}

#[test]
fn xi5_a_route_of_another_type_is_not_read() {
    for kind in (0..=255).filter(|kind| ![0, 3].contains(kind)) {
        assert_eq!(
            source_route(&header(kind, 0, 0, &[0; 16])),
            Err(ParseError::Unknown)
        );
    }
}

#[test]
fn a_route_of_no_or_too_many_addresses_is_not_written() {
    let dst = addr("fd00::a");
    assert_eq!(
        emit(NextHeader::UDP, &[], &dst, &mut [0; 64]),
        Err(ParseError::Length)
    );
    let hops = [addr("fd00::b"); 256];
    assert_eq!(
        emit(NextHeader::UDP, &hops, &dst, &mut [0; 5000]),
        Err(ParseError::NoRoom)
    );
    let hops = [addr("2001:db8::b"); 130];
    assert_eq!(
        emit(NextHeader::UDP, &hops, &dst, &mut [0; 5000]),
        Err(ParseError::NoRoom)
    );
    let hops = [addr("fd00::b"); 2];
    for len in 0..16 {
        assert_eq!(
            emit(NextHeader::UDP, &hops, &dst, &mut [0; 16][..len]),
            Err(ParseError::NoRoom)
        );
    }
}

/// Walks the route as RFC 6554 section 4.2 does: each hop exchanges the destination with the next address in place.
fn visited(bytes: &mut [u8], mut dst: Ipv6Addr) -> Vec<Ipv6Addr> {
    let mut visited = Vec::new();
    let count = source_route(bytes).unwrap().len();
    for index in 0..count {
        let route = source_route(bytes).unwrap();
        let (next, range) = (route.address(index, &dst).unwrap(), route.range(index).unwrap());
        let shared = 16 - range.len();
        bytes[range].copy_from_slice(&dst.octets()[shared..]);
        dst = next;
        visited.push(dst);
    }
    visited
}

proptest! {
    #[test]
    fn a_packet_visits_the_addresses_that_its_source_listed(
        list in proptest::collection::vec((0..18_u32, any::<u128>()), 1..9), dst: u128,
    ) {
        let hops: Vec<Ipv6Addr> = list.iter().map(|&(keep, bits)| {
            let mask = u128::MAX.checked_shr(8 * keep).unwrap_or(0);
            Ipv6Addr::from_bits(dst & !mask | bits & mask)
        }).collect();
        let dst = Ipv6Addr::from_bits(dst);
        let mut out = [0xa5; 160];
        let len = emit(NextHeader::UDP, &hops, &dst, &mut out).unwrap();
        prop_assert_eq!(len % 8, 0);
        prop_assert_eq!(visited(&mut out[..len], dst), hops);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), index: usize) {
        if let Ok((header, _)) = Header::parse(&bytes)
            && let Ok(route) = header.source_route() {
            prop_assert_eq!(route.range(index % 1000).is_some(), index % 1000 < route.len());
            prop_assert_eq!(route.address(index % 1000, &Ipv6Addr::LOCALHOST).is_some(), index % 1000 < route.len());
        }
    }
}
