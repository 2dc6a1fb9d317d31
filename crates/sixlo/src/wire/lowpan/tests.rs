use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::rh::{IpInIp, RoutingHeader, RplInfo, SourceRoute};
use super::*;
use crate::wire::addr::LinkAddr;
use ParseError::{Forbidden, Truncated, Unknown, Version};

/// The front of a compressed header with the next header inline, of one with it compressed, and a UDP header.
const IPHC: [u8; 4] = [0x7a, 0x33, 0x3a, b'.'];
const IPHC_UDP: [u8; 4] = [0x7e, 0x33, 0xf3, b'.'];

const MESH: [u8; 5] = [0xb5, 0x12, 0x34, 0x56, 0x78];
const BC0: [u8; 2] = [0x50, 0x01];
const FRAG1: [u8; 4] = [0xc1, 0x00, 0x00, 0x07];
const FRAGN: [u8; 5] = [0xe1, 0x00, 0x00, 0x07, 0x0c];

fn stripped(payload: &[u8]) -> (Dispatch, Vec<u8>, Preface<'_>) {
    let (dispatch, rest, preface) = strip(payload).expect("headers in form");
    (dispatch, rest.to_vec(), preface)
}

fn routing(payload: &[u8]) -> (Dispatch, Vec<u8>, Vec<RoutingHeader<'_>>) {
    let (dispatch, rest, preface) = stripped(payload);
    (dispatch, rest, preface.routing.iter().collect())
}

#[test]
fn dispatches_of_page_0_are_those_of_the_registry() {
    // RFC 4944 figure 2 as RFC 6282, RFC 8025 and RFC 8931 changed it.
    for byte in 0..=255_u8 {
        let expected = match byte >> 6 {
            0 => Dispatch::Nalp,
            1 if byte & 0x20 != 0 => Dispatch::Iphc,
            1 => match byte & 0x3f {
                0 => Dispatch::Esc,
                1 => Dispatch::Ipv6,
                2 => Dispatch::Hc1,
                0x10 => Dispatch::Bc0,
                _ => Dispatch::Unknown,
            },
            2 => Dispatch::Mesh,
            _ => match (byte >> 3, byte >> 1 & 3) {
                (0b11000, _) => Dispatch::Frag1,
                (0b11100, _) => Dispatch::FragN,
                (0b11101, 0) => Dispatch::Rfrag,
                (0b11101, 1) => Dispatch::RfragAck,
                (0b11110 | 0b11111, _) => Dispatch::Page(byte & 15),
                _ => Dispatch::Unknown,
            },
        };
        assert_eq!(Dispatch::of(byte, 0), expected, "{byte:02x}");
    }
}

#[test]
fn page_1_knows_compressed_and_routing_headers_and_other_pages_only_the_way_out() {
    for byte in 0..=255_u8 {
        let expected = match byte {
            0x60..=0x7f => Dispatch::Iphc,
            0x80..=0x9f => Dispatch::CriticalRoutingHeader,
            0xa0..=0xbf => Dispatch::ElectiveRoutingHeader,
            0xf0.. => Dispatch::Page(byte & 15),
            _ => Dispatch::Unknown,
        };
        assert_eq!(Dispatch::of(byte, 1), expected, "{byte:02x}");
        for page in 2..16 {
            let expected = if byte >= 0xf0 {
                Dispatch::Page(byte & 15)
            } else {
                Dispatch::Unknown
            };
            assert_eq!(Dispatch::of(byte, page), expected, "{byte:02x}");
        }
    }
    for page in 0..16 {
        let byte = Dispatch::switch_to(page).expect("a page");
        assert_eq!(Dispatch::of(byte, 3), Dispatch::Page(page));
    }
    assert_eq!(Dispatch::switch_to(16), None);
}

#[test]
fn a_frame_without_other_headers_is_left_as_it_is() {
    for (dispatch, front) in [
        (Dispatch::Iphc, &IPHC[..]),
        (Dispatch::Ipv6, &[IPV6, 0x60]),
        (Dispatch::Hc1, &[0x42, 0xfb]),
        (Dispatch::Frag1, &FRAG1),
        (Dispatch::FragN, &FRAGN),
        (Dispatch::Rfrag, &[0xe8, 1, 0, 0, 0, 0]),
        (Dispatch::RfragAck, &[0xea, 1, 0, 0, 0, 0]),
    ] {
        assert_eq!(stripped(front), (dispatch, front.to_vec(), Preface::default()));
    }
    assert_eq!(strip(&[]), Err(Truncated));
}

#[test]
fn mesh_and_broadcast_headers_are_reported() {
    let (dispatch, rest, preface) = strip_all(&[&MESH, &BC0, &FRAG1, &IPHC]);
    assert_eq!((dispatch, &rest[..4]), (Dispatch::Frag1, &FRAG1[..]));
    let (mesh, broadcast) = preface;
    assert_eq!(
        mesh,
        Some(Mesh {
            hops_left: 5,
            originator: LinkAddr::Short(0x1234),
            final_destination: LinkAddr::Short(0x5678),
        })
    );
    assert_eq!(broadcast, Some(Broadcast { sequence: 1 }));
}

type Layer2 = (Option<Mesh>, Option<Broadcast>);

fn strip_all(parts: &[&[u8]]) -> (Dispatch, Vec<u8>, Layer2) {
    let payload = parts.concat();
    let (dispatch, rest, preface) = stripped(&payload);
    (dispatch, rest, (preface.mesh, preface.broadcast))
}

#[test]
fn headers_out_of_their_order_are_refused() {
    for parts in [
        &[&BC0[..], &IPHC][..], // RFC 4944 section 11.1: a broadcast header follows a mesh header
        &[&BC0, &MESH, &IPHC],  // RFC 4944 section 5: mesh, broadcast, fragment
        &[&MESH, &BC0, &BC0, &IPHC],
        &[&[0xf1, 0xf0], &MESH, &IPHC], // RFC 8025 section 4: mesh and fragment before page 1
        &[&[0xf1, 0xf0], &FRAG1, &IPHC],
        &[&[0xf1, 0xf0], &FRAGN, &IPHC],
        &[&[0xf1, 0xf0], &[0xe8, 1, 0, 0, 0, 0], &IPHC],
        &[&[0xf1, 0xf0], &[0xea, 1, 0, 0, 0, 0]],
        &[&[0xf1, 0xf0], &BC0, &IPHC],
        &[&MESH, &[0xf2, 0xf0], &BC0, &IPHC],
    ] {
        let payload = parts.concat();
        assert_eq!(strip(&payload), Err(Forbidden), "{payload:02x?}");
    }
    // Page 0 need not be named, but may.
    assert_eq!(strip_all(&[&[0xf0], &FRAG1]).0, Dispatch::Frag1);
}

#[test]
fn xh13_each_of_the_16_pages_is_switched_to() {
    for page in 0..16 {
        let byte = Dispatch::switch_to(page).expect("a page");
        assert_eq!(strip(&[byte]), Err(Truncated), "{page}");
        let payload = [&[byte][..], &IPHC].concat();
        if page < 2 {
            let (dispatch, rest, preface) = stripped(&payload);
            assert_eq!(
                (dispatch, &rest[..], preface.page),
                (Dispatch::Iphc, &IPHC[..], page)
            );
        } else {
            assert_eq!(strip(&payload), Err(Version), "{page}");
        }
    }
    // Any number of switches, to the end of the frame.
    let mut payload = std::vec![0xf1; 120];
    assert_eq!(strip(&payload), Err(Truncated));
    payload.extend(IPHC);
    assert_eq!(stripped(&payload).1, IPHC);
}

#[test]
fn xh13_page_1_without_a_compressed_header_is_refused() {
    for rest in [
        &[0x41, 0x60][..],
        &[0x42],
        &[0x00],
        &[0x40],
        &[0x50, 1],
        &[0xc1, 0, 0, 0],
        &[0xe1, 0, 0, 0, 1],
    ] {
        let payload = [&[0xf1, 0x83, 5, 3][..], rest].concat();
        assert_eq!(strip(&payload), Err(Version), "{rest:02x?}");
    }
    assert_eq!(strip(&[0xf1, 0x83, 5, 3]), Err(Truncated));
}

#[test]
fn xh13_an_unknown_critical_routing_header_is_refused_and_an_unknown_elective_one_skipped() {
    let critical = [&[0xf1, 0x82, 9, 1, 2][..], &IPHC].concat();
    assert_eq!(strip(&critical), Err(Unknown));
    let elective = [&[0xf1, 0xa2, 9, 1, 2, 0x83, 5, 3][..], &IPHC].concat();
    let (dispatch, rest, headers) = routing(&elective);
    assert_eq!((dispatch, &rest[..]), (Dispatch::Iphc, &IPHC[..]));
    let info = RplInfo {
        sender_rank: 0x0300,
        ..RplInfo::default()
    };
    assert_eq!(
        headers,
        [
            RoutingHeader::Elective {
                kind: 9,
                content: &[1, 2]
            },
            RoutingHeader::RplInfo(info)
        ]
    );
    // Routing headers stand in one row (RFC 8138 section 3.2).
    let two_rows = [&[0xf1, 0x83, 5, 3, 0xf1, 0x83, 5, 3][..], &IPHC].concat();
    assert_eq!(strip(&two_rows), Err(Forbidden));
}

#[test]
fn xh14_a_routing_header_that_reaches_beyond_the_frame_is_refused() {
    for header in [
        &[0x81, 1, 0, 2, 0][..],
        &[0x80, 5, 7],
        &[0xa5, 6, 64, 0],
        &[0xbf, 9, 1],
        &[0x80],
    ] {
        let payload = [&[0xf1][..], header].concat();
        assert_eq!(strip(&payload), Err(Truncated), "{header:02x?}");
    }
}

#[test]
fn xh15_a_mesh_header_inside_a_mesh_header_is_refused() {
    assert_eq!(strip(&[&MESH[..], &MESH, &IPHC].concat()), Err(Forbidden));
    for cut in 1..MESH.len() {
        assert_eq!(strip(&MESH[..cut]), Err(Truncated));
    }
    assert_eq!(strip(&MESH), Err(Truncated));
    assert_eq!(strip(&[&MESH[..], &BC0].concat()), Err(Truncated));
    // Hops left of 0 and of the deep form.
    for mesh in [
        &[0xb0, 0x12, 0x34, 0x56, 0x78][..],
        &[0xbf, 0, 0x12, 0x34, 0x56, 0x78],
    ] {
        let (_, _, (mesh, _)) = strip_all(&[mesh, &IPHC]);
        assert_eq!(mesh.map(|mesh| mesh.hops_left), Some(0));
    }
}

#[test]
fn xh18_what_is_no_lowpan_frame_is_refused() {
    for byte in 0..0x40 {
        assert_eq!(strip(&[byte, 0x60, 0, 0]), Err(Version));
        // Nor is it one further on, where NALP is not defined (RFC 8025 section 4).
        assert_eq!(strip(&[0xf0, byte, 0x60, 0]), Err(Version));
        assert_eq!(strip(&[&MESH[..], &[byte], &IPHC].concat()), Err(Version));
    }
}

#[test]
fn an_unknown_extension_type_is_refused() {
    // RFC 8066 section 3.1. The value of RFC 4944 is a compressed header since RFC 6282.
    for extension in 0..=255 {
        assert_eq!(strip(&[0x40, extension, 0x60]), Err(Version));
    }
    assert_eq!(stripped(&[0x7f, 0x33]).0, Dispatch::Iphc);
}

const RPI: [u8; 3] = [0x93, 5, 3];
const RPI_HEADER: RoutingHeader<'static> = RoutingHeader::RplInfo(RplInfo {
    down: true,
    rank_error: false,
    forwarding_error: false,
    instance: 0,
    sender_rank: 0x0300,
});
const IP_IN_IP: [u8; 3] = [0xa1, 6, 64];
const IP_IN_IP_HEADER: RoutingHeader<'static> = RoutingHeader::IpInIp(IpInIp {
    hop_limit: 64,
    encapsulator: &[],
});

// The packets of RFC 8138 appendix A, which its figures draw without values.

#[test]
fn figure_15_a_fragmented_packet_with_packet_information_and_encapsulation() {
    let first = [&FRAG1[..], &[0xf1], &RPI, &IP_IN_IP, &IPHC].concat();
    let (dispatch, rest, preface) = stripped(&first);
    assert_eq!((dispatch, preface), (Dispatch::Frag1, Preface::default()));
    let (_, carried) = frag::Fragment::parse(&rest).expect("a fragment");
    let expected = (
        Dispatch::Iphc,
        IPHC.to_vec(),
        std::vec![RPI_HEADER, IP_IN_IP_HEADER],
    );
    assert_eq!(routing(carried), expected);
    assert_eq!(stripped(&[&FRAGN[..], b"continued"].concat()).0, Dispatch::FragN);
}

#[test]
fn figures_16_and_18_a_packet_with_packet_information() {
    for iphc in [IPHC, IPHC_UDP] {
        let packet = [&[0xf1][..], &RPI, &iphc].concat();
        assert_eq!(
            routing(&packet),
            (Dispatch::Iphc, iphc.to_vec(), std::vec![RPI_HEADER])
        );
    }
}

#[test]
fn figure_17_the_same_uncompressed() {
    // IPv6 header, hop-by-hop header with the option of RFC 6553, message: no dispatch but IPv6's.
    let mut packet = std::vec![IPV6, 0x60];
    packet.resize(41, 0);
    packet.extend([58, 0, 0x63, 4, 0x80, 0, 0x03, 0x00]);
    assert_eq!(
        stripped(&packet),
        (Dispatch::Ipv6, packet.clone(), Preface::default())
    );
}

#[test]
fn figure_19_packet_information_inserted_by_the_root() {
    let packet = [&[0xf1][..], &RPI, &IP_IN_IP, &IPHC_UDP].concat();
    let expected = (
        Dispatch::Iphc,
        IPHC_UDP.to_vec(),
        std::vec![RPI_HEADER, IP_IN_IP_HEADER],
    );
    assert_eq!(routing(&packet), expected);
}

#[test]
fn figures_20_and_21_source_routes() {
    let hops = [0, 2, 0, 3, 0, 4, 0, 5];
    let route = |count: usize| {
        RoutingHeader::SourceRoute(SourceRoute {
            hop_len: 2,
            hops: &hops[..2 * count],
        })
    };

    // Figure 20: three hops in 8 bytes.
    let packet = [&[0xf1, 0x82, 1][..], &hops[..6], &RPI, &IP_IN_IP, &IPHC_UDP].concat();
    let expected = std::vec![route(3), RPI_HEADER, IP_IN_IP_HEADER];
    assert_eq!(routing(&packet), (Dispatch::Iphc, IPHC_UDP.to_vec(), expected));
    assert_eq!(route(3).emit_len(), 8);

    // Figure 21: four hops in 10 bytes, and nothing else.
    let packet = [&[0xf1, 0x83, 1][..], &hops, &IPHC_UDP].concat();
    assert_eq!(
        routing(&packet),
        (Dispatch::Iphc, IPHC_UDP.to_vec(), std::vec![route(4)])
    );
    assert_eq!(route(4).emit_len(), 10);
}

#[test]
fn every_two_bytes_before_a_compressed_header_give_a_verdict() {
    for front in 0..=u16::MAX {
        let payload = [&front.to_be_bytes()[..], &[0x11; 6], &IPHC].concat();
        if let Ok((dispatch, rest, _)) = strip(&payload) {
            assert!(payload.ends_with(rest) && !rest.is_empty());
            assert!(!matches!(
                dispatch,
                Dispatch::Nalp
                    | Dispatch::Esc
                    | Dispatch::Bc0
                    | Dispatch::Mesh
                    | Dispatch::ElectiveRoutingHeader
                    | Dispatch::CriticalRoutingHeader
                    | Dispatch::Page(_)
                    | Dispatch::Unknown
            ));
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(payload in vec(any::<u8>(), 0..130)) {
        if let Ok((_, rest, _)) = strip(&payload) {
            prop_assert!(payload.ends_with(rest) && !rest.is_empty());
        }
    }

    #[test]
    fn every_row_of_headers_is_read_back(
        mesh in proptest::option::of(any::<(u8, u16, [u8; 8])>()),
        sequence: u8,
        headers in vec((7..=255_u8, vec(any::<u8>(), 0..8)), 0..4),
        rest in vec(any::<u8>(), 0..20),
    ) {
        let mut payload = [0; 200];
        let mut len = 0;
        let mesh = mesh.map(|(hops_left, short, eui)| Mesh {
            hops_left,
            originator: LinkAddr::Short(short),
            final_destination: LinkAddr::Extended(eui),
        });
        let broadcast = mesh.map(|_| Broadcast { sequence });
        if let (Some(mesh), Some(broadcast)) = (mesh, broadcast) {
            len += mesh.emit(&mut payload).expect("room");
            len += broadcast.emit(&mut payload[len..]).expect("room");
        }
        payload[len] = 0xf1;
        len += 1;
        for (kind, content) in &headers {
            let header = RoutingHeader::Elective { kind: *kind, content };
            len += header.emit(&mut payload[len..]).expect("room");
        }
        let datagram = [&[0x60][..], &rest].concat();
        payload[len..][..datagram.len()].copy_from_slice(&datagram);
        let (dispatch, tail, preface) = strip(&payload[..len + datagram.len()]).expect("in form");
        prop_assert_eq!((dispatch, tail), (Dispatch::Iphc, &datagram[..]));
        prop_assert_eq!((preface.mesh, preface.broadcast, preface.page), (mesh, broadcast, 1));
        prop_assert_eq!(preface.routing.iter().count(), headers.len());
        for cut in 0..=len {
            prop_assert_eq!(strip(&payload[..cut]), Err(Truncated));
        }
    }
}
