use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::RoutingHeader::{Elective, IpInIp as Tunnel, RplInfo as Info, SourceRoute as Route};
use super::*;

const ROOT: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0xff, 0xfe00, 1);

fn emitted(headers: &[RoutingHeader<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for header in headers {
        let mut out = [0xa5; 600];
        let len = header.emit(&mut out).expect("the header can be written");
        assert_eq!(len, header.emit_len());
        assert_eq!(RoutingHeader::parse(&out[..len]), Ok((*header, &[][..])));
        bytes.extend(&out[..len]);
    }
    bytes
}

fn info(instance: u8, sender_rank: u16) -> RplInfo {
    RplInfo {
        instance,
        sender_rank,
        ..RplInfo::default()
    }
}

#[test]
fn packet_information_takes_the_forms_of_figures_10_to_13() {
    for (info, bytes) in [
        (
            RplInfo {
                down: true,
                ..info(0, 0x0300)
            },
            &[0x93, 5, 3][..],
        ),
        (
            RplInfo {
                rank_error: true,
                ..info(0, 0x0301)
            },
            &[0x8a, 5, 3, 1],
        ),
        (
            RplInfo {
                forwarding_error: true,
                ..info(7, 0x0300)
            },
            &[0x85, 5, 7, 3],
        ),
        (info(7, 0x0301), &[0x80, 5, 7, 3, 1]),
    ] {
        assert_eq!(emitted(&[Info(info)]), bytes);
        for cut in 0..bytes.len() {
            assert_eq!(RoutingHeader::parse(&bytes[..cut]), Err(ParseError::Truncated));
        }
    }
    // Longer forms of the same are read too.
    assert_eq!(
        RoutingHeader::parse(&[0x80, 5, 0, 3, 0]),
        Ok((Info(info(0, 0x0300)), &[][..]))
    );
}

#[test]
fn an_encapsulation_takes_the_form_of_figure_14() {
    let hop_limit = 63;
    assert_eq!(
        emitted(&[Tunnel(IpInIp {
            hop_limit,
            encapsulator: &[]
        })]),
        [0xa1, 6, 63]
    );
    assert_eq!(
        emitted(&[Tunnel(IpInIp {
            hop_limit,
            encapsulator: &[0, 2]
        })]),
        [0xa3, 6, 63, 0, 2]
    );
    // RFC 8138 section 7: at least 1 byte; and at most an address.
    assert_eq!(RoutingHeader::parse(&[0xa0, 6, 63]), Err(ParseError::Length));
    assert_eq!(
        RoutingHeader::parse(&[&[0xb2, 6][..], &[0; 18]].concat()),
        Err(ParseError::Length)
    );
    let long = Tunnel(IpInIp {
        hop_limit,
        encapsulator: &[0; 17],
    });
    assert_eq!(long.emit(&mut [0; 99]), Err(ParseError::Length));
}

#[test]
fn hops_are_coalesced_each_with_the_one_before() {
    // RFC 8138 section 5.4. Types 0 to 4, with as many bytes as figure 7 says.
    for (bytes, addrs) in [
        (&[0x81, 0, 2, 3][..], &["fd00::ff:fe00:2", "fd00::ff:fe00:3"][..]),
        (&[0x80, 1, 0xab, 0xcd], &["fd00::ff:fe00:abcd"]),
        (&[0x80, 2, 1, 2, 3, 4], &["fd00::ff:102:304"]),
        (&[0x80, 3, 1, 2, 3, 4, 5, 6, 7, 8], &["fd00::102:304:506:708"]),
        (
            &[0x80, 4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            &["2001:db8::1"],
        ),
    ] {
        let Ok((Route(route), [])) = RoutingHeader::parse(bytes) else {
            panic!("a source route");
        };
        let expected: Vec<Ipv6Addr> = addrs
            .iter()
            .map(|addr| addr.parse().expect("an address"))
            .collect();
        assert_eq!(route.expand(ROOT).collect::<Vec<_>>(), expected);
        assert_eq!(emitted(&[Route(route)]), bytes);
    }
    // The last address of one header is the reference of the next.
    let first = SourceRoute {
        hop_len: 4,
        hops: &[1, 2, 3, 4],
    }
    .expand(ROOT)
    .last()
    .expect("a hop");
    let mut second = SourceRoute {
        hop_len: 1,
        hops: &[9],
    }
    .expand(first);
    assert_eq!(
        second.next(),
        Some("fd00::ff:102:309".parse().expect("an address"))
    );
    assert_eq!(SourceRoute::default().expand(ROOT).count(), 0);
}

#[test]
fn xh14_routing_headers_that_reach_beyond_the_end_are_refused() {
    for kind in 0..5_u8 {
        for size in 0..32_u8 {
            let whole = 2 + (usize::from(size) + 1) * (1 << kind);
            let mut bytes = std::vec![0x42; whole];
            bytes[..2].copy_from_slice(&[0x80 | size, kind]);
            for cut in 0..whole {
                assert_eq!(RoutingHeader::parse(&bytes[..cut]), Err(ParseError::Truncated));
            }
            let Ok((Route(route), [])) = RoutingHeader::parse(&bytes) else {
                panic!("a source route of {} hops", size + 1);
            };
            // 1 to 32 hops, never 0.
            assert_eq!(route.expand(ROOT).count(), usize::from(size) + 1);
            assert_eq!(emitted(&[Route(route)]), bytes);
        }
    }
    for size in 1..32_u8 {
        let bytes = [&[0xa0 | size, 0x55][..], &std::vec![0; usize::from(size) - 1]].concat();
        assert_eq!(RoutingHeader::parse(&bytes), Err(ParseError::Truncated));
    }
}

#[test]
fn xh14_routes_of_no_hop_or_of_33_are_not_written() {
    for (hop_len, hops) in [(2, 0), (2, 66), (2, 3), (0, 0), (3, 6), (32, 32)] {
        let route = Route(SourceRoute {
            hop_len,
            hops: &[0; 99][..hops],
        });
        assert_eq!(
            route.emit(&mut [0; 200]),
            Err(ParseError::Length),
            "{hop_len} {hops}"
        );
    }
    assert!(
        Route(SourceRoute {
            hop_len: 2,
            hops: &[0; 64]
        })
        .emit(&mut [0; 66])
        .is_ok()
    );
    assert_eq!(
        Route(SourceRoute {
            hop_len: 2,
            hops: &[0; 64]
        })
        .emit(&mut [0; 65]),
        Err(ParseError::NoRoom)
    );
}

#[test]
fn xh13_unknown_critical_headers_are_refused_and_unknown_elective_ones_skipped() {
    for kind in 0..=255 {
        let bytes = [0x82, kind, 1, 2, 3, 4, 5, 6, 7];
        let critical = RoutingHeader::parse(&bytes);
        assert_eq!(critical == Err(ParseError::Unknown), kind > 5, "{kind}");
        // Types of critical headers mean nothing for elective ones (RFC 8138 section 4).
        let bytes = [0xa2, kind, 1, 2, 3];
        let elective = RoutingHeader::parse(&bytes);
        let expected = if kind == 6 {
            Tunnel(IpInIp {
                hop_limit: 1,
                encapsulator: &[2],
            })
        } else {
            Elective {
                kind,
                content: &[1, 2],
            }
        };
        assert_eq!(elective, Ok((expected, &[3][..])));
    }
    assert_eq!(
        Elective {
            kind: 6,
            content: &[1]
        }
        .emit(&mut [0; 9]),
        Err(ParseError::Forbidden)
    );
    assert_eq!(
        Elective {
            kind: 7,
            content: &[1; 32]
        }
        .emit(&mut [0; 99]),
        Err(ParseError::Length)
    );
    for byte in (0..0x80).chain(0xc0..=0xff) {
        assert_eq!(RoutingHeader::parse(&[byte, 0, 0, 0]), Err(ParseError::Unknown));
    }
}

#[test]
fn figures_22_to_25_pop_the_hops_of_a_source_route() {
    let mut packet = emitted(&[
        Route(SourceRoute {
            hop_len: 8,
            hops: &[0xaa; 8],
        }),
        Route(SourceRoute {
            hop_len: 2,
            hops: &[0xbb; 2],
        }),
        Route(SourceRoute {
            hop_len: 4,
            hops: &[0xcc, 0xcc, 0xcc, 0xcc, 0xdd, 0xdd, 0xdd, 0xdd],
        }),
        Info(info(0, 0x0300)),
    ]);
    #[rustfmt::skip]
    let after = [
        &[ // figure 22, node A
            0x80, 3, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xbb, 0xbb,
            0x81, 2, 0xcc, 0xcc, 0xcc, 0xcc, 0xdd, 0xdd, 0xdd, 0xdd,
            0x83, 5, 3,
        ][..],
        &[ // figure 23, node B
            0x80, 3, 0xaa, 0xaa, 0xaa, 0xaa, 0xcc, 0xcc, 0xcc, 0xcc,
            0x80, 2, 0xdd, 0xdd, 0xdd, 0xdd,
            0x83, 5, 3,
        ],
        &[0x80, 3, 0xaa, 0xaa, 0xaa, 0xaa, 0xdd, 0xdd, 0xdd, 0xdd, 0x83, 5, 3], // figure 24, node C
        &[0x83, 5, 3],                                                          // figure 25, node D
    ];
    for expected in after {
        let (headers, _) = RoutingHeaders::parse(&packet).expect("headers in form");
        let mut out = [0; 40];
        let len = headers.pop(&mut out).expect("a hop to pop");
        assert_eq!(out[..len], *expected);
        packet = expected.to_vec();
    }
    let (headers, _) = RoutingHeaders::parse(&packet).expect("headers in form");
    assert_eq!(headers.pop(&mut [0; 40]), Err(ParseError::Forbidden));
    assert_eq!(
        RoutingHeaders::default().pop(&mut [0; 40]),
        Err(ParseError::Truncated)
    );
}

#[test]
fn the_last_hop_takes_its_header_with_it() {
    // RFC 8138 section 5.5, third case: the next header's hops are as long or longer, so that it stands for itself.
    for next in [&[0x80, 1, 8, 9][..], &[0x81, 0, 8, 9]] {
        let packet = [&[0x80, 0, 7][..], next].concat();
        let (headers, _) = RoutingHeaders::parse(&packet).expect("headers in form");
        let mut out = [0; 9];
        let len = headers.pop(&mut out).expect("a hop to pop");
        assert_eq!(out[..len], *next);
        assert_eq!(headers.pop(&mut out[..3]), Err(ParseError::NoRoom));
    }
}

/// A header that can be written, with its content owned.
#[derive(Clone, Debug)]
enum Owned {
    Route(u8, Vec<u8>),
    Info(RplInfo),
    Tunnel(u8, Vec<u8>),
    Elective(u8, Vec<u8>),
}

impl Owned {
    fn header(&self) -> RoutingHeader<'_> {
        match self {
            Self::Route(hop_len, hops) => Route(SourceRoute {
                hop_len: *hop_len,
                hops,
            }),
            Self::Info(info) => Info(*info),
            Self::Tunnel(hop_limit, encapsulator) => Tunnel(IpInIp {
                hop_limit: *hop_limit,
                encapsulator,
            }),
            Self::Elective(kind, content) => Elective { kind: *kind, content },
        }
    }
}

fn route() -> impl Strategy<Value = Owned> {
    (0..5_u32, 1..5_usize).prop_flat_map(|(kind, hops)| {
        vec(any::<u8>(), hops << kind).prop_map(move |hops| Owned::Route(1 << kind, hops))
    })
}

fn other() -> impl Strategy<Value = Owned> {
    prop_oneof![
        any::<([bool; 3], u8, u16)>().prop_map(
            |([down, rank_error, forwarding_error], instance, sender_rank)| {
                Owned::Info(RplInfo {
                    down,
                    rank_error,
                    forwarding_error,
                    instance,
                    sender_rank,
                })
            }
        ),
        (any::<u8>(), vec(any::<u8>(), 0..=16)).prop_map(|(limit, addr)| Owned::Tunnel(limit, addr)),
        (7..=255_u8, vec(any::<u8>(), 0..=31)).prop_map(|(kind, content)| Owned::Elective(kind, content)),
    ]
}

/// Every address of the source routes at the front.
fn path(headers: &RoutingHeaders<'_>) -> Vec<Ipv6Addr> {
    let mut reference = ROOT;
    let mut path = Vec::new();
    for header in headers.iter() {
        let Route(route) = header else { break };
        path.extend(route.expand(reference));
        reference = *path.last().expect("a route has a hop");
    }
    path
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_headers(
        routes in vec(route(), 0..4), others in vec(other(), 0..4), rest in vec(any::<u8>(), 0..9),
    ) {
        let owned: Vec<_> = routes.into_iter().chain(others).collect();
        let headers: Vec<_> = owned.iter().map(Owned::header).collect();
        let bytes = emitted(&headers);
        let whole = [&bytes[..], &[0x60], &rest].concat();
        let (parsed, tail) = RoutingHeaders::parse(&whole).expect("what was written is in form");
        prop_assert_eq!(parsed.as_bytes(), &bytes[..]);
        prop_assert_eq!(tail, &whole[bytes.len()..]);
        prop_assert_eq!(&parsed.iter().collect::<Vec<_>>(), &headers);
        for cut in 0..bytes.len() {
            match RoutingHeaders::parse(&bytes[..cut]) {
                Err(error) => prop_assert_eq!(error, ParseError::Truncated),
                // Cut between two headers, fewer headers.
                Ok((fewer, rest)) => {
                    prop_assert!(rest.is_empty());
                    prop_assert!(headers.starts_with(&fewer.iter().collect::<Vec<_>>()));
                }
            }
        }
    }

    #[test]
    fn popping_leaves_the_same_path_but_for_its_first_hop(
        routes in vec(route(), 1..5), others in vec(other(), 0..3),
    ) {
        let owned: Vec<_> = routes.into_iter().chain(others).collect();
        let bytes = emitted(&owned.iter().map(Owned::header).collect::<Vec<_>>());
        let (mut headers, _) = RoutingHeaders::parse(&bytes).expect("in form");
        let mut hops = path(&headers);
        let mut buffers = std::vec![[0; 600]; hops.len()];
        for out in &mut buffers {
            let before = headers.as_bytes().len();
            let len = headers.pop(out).expect("a hop to pop");
            prop_assert!(len < before);
            (headers, _) = RoutingHeaders::parse(&out[..len]).expect("in form");
            hops.remove(0);
            prop_assert_eq!(path(&headers), hops.clone());
        }
        prop_assert!(path(&headers).is_empty());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..80)) {
        if let Ok((headers, _)) = RoutingHeaders::parse(&bytes) {
            prop_assert!(headers.iter().count() <= bytes.len() / 2);
            let mut out = [0; 80];
            if let Ok(len) = headers.pop(&mut out) {
                prop_assert!(len <= headers.as_bytes().len());
                prop_assert!(RoutingHeaders::parse(&out[..len]).is_ok());
            }
        }
    }
}
