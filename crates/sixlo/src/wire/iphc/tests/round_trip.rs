//! Any packet, compressed and decompressed, is the same packet.

use proptest::prelude::*;

use super::*;

/// Contexts of many lengths that cover some of the addresses below.
fn contexts() -> impl Strategy<Value = Vec<Context>> {
    let one = (any::<u128>(), 0..=130_u8, any::<bool>(), 0..4_u8).prop_map(|(bits, len, valid, kind)| {
        let prefix = match kind {
            0 => bits.to_be_bytes(),
            1 => (0xfd00_u128 << 112 | bits & 0xffff).to_be_bytes(),
            2 => (0xfd00_u128 << 112 | 0xff_fe00_0000 | bits & 0xff).to_be_bytes(),
            _ => (0xfe80_u128 << 112 | bits & 0xffff).to_be_bytes(),
        };
        Context {
            prefix,
            prefix_len: len,
            valid_for_compression: valid,
        }
    });
    proptest::collection::vec(one, 0..16)
}

fn link_addr() -> impl Strategy<Value = LinkAddr> {
    prop_oneof![
        Just(LinkAddr::None),
        (0..4_u16).prop_map(LinkAddr::Short),
        Just(LinkAddr::BROADCAST),
        (0..4_u8).prop_map(|k| LinkAddr::Extended([2, 0, 0, 0, 0, 0, 0, k])),
        any::<[u8; 8]>().prop_map(LinkAddr::Extended),
    ]
}

/// Picks what an address is made of; the rest comes from the link and the contexts.
type Pick = (u8, u8, u128, usize);

fn address((high, low, bits, index): Pick, link: LinkAddr, contexts: &[Context]) -> Ipv6Addr {
    let context = contexts.get(index % contexts.len().max(1));
    let bits = match high {
        0 => return Ipv6Addr::UNSPECIFIED,
        1 => 0xfe80_u128 << 112 | bits & u128::from(u64::MAX),
        2 => 0xfd00_u128 << 112 | bits & u128::from(u64::MAX),
        3 => 0xff02_u128 << 112 | bits & 0xffff_ffff_ffff,
        4 => 0xff02_u128 << 112 | bits & 0xff_ffff_ffff >> (bits >> 124),
        5 => 0xff_u128 << 120 | (bits >> 120) << 112 | bits & 0xff_ffff_ffff >> (bits >> 124 & 7),
        6 => {
            // Made of a prefix (RFC 3306).
            let Some(context) = context else {
                return Ipv6Addr::from_bits(bits);
            };
            let prefix = u128::from_be_bytes(context.prefix) >> 64;
            let shift = 64_u32.saturating_sub(u32::from(context.prefix_len));
            let prefix = prefix.checked_shr(shift).unwrap_or(0) << shift;
            0xff3e_u128 << 112 | u128::from(context.prefix_len) << 96 | prefix << 32 | bits & 0xffff_ffff
        }
        7..=9 => {
            // Covered by a context.
            let Some(context) = context else {
                return Ipv6Addr::from_bits(bits);
            };
            let free = u128::MAX.checked_shr(u32::from(context.prefix_len)).unwrap_or(0);
            u128::from_be_bytes(context.prefix) & !free | bits & free & u128::from(u64::MAX)
        }
        _ => bits,
    };
    // The lower half, where it is no multicast address.
    let low = match (bits >> 120, low) {
        (0xff, _) => bits as u64,
        (_, 0) => link.interface_id().map_or(0, u64::from_be_bytes),
        (_, 1) => 0xff_fe00_0000 | bits as u64 & 0xffff,
        _ => bits as u64,
    };
    let free = match (high, context) {
        (7..=9, Some(context)) => u128::MAX.checked_shr(u32::from(context.prefix_len)).unwrap_or(0),
        _ => u128::MAX,
    } & u128::from(u64::MAX);
    Ipv6Addr::from_bits(bits & !free | u128::from(low) & free)
}

fn pick() -> impl Strategy<Value = Pick> {
    (0..12_u8, 0..3_u8, any::<u128>(), any::<usize>())
}

/// A header of a chain, with bytes to fill it.
type Link3 = (u8, Vec<u8>, u16, (u8, u8));

fn chain() -> impl Strategy<Value = Vec<Link3>> {
    let fill = proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), any::<u8>()], 0..40);
    let one = (0..9_u8, fill, any::<u16>(), (0..12_u8, any::<u8>()));
    proptest::collection::vec(one, 0..5)
}

/// Builds the packet from its end on.
fn build(
    chain: &[Link3],
    (src, dst): (Ipv6Addr, Ipv6Addr),
    word: u32,
    hop_limit: u8,
    payload: &[u8],
    upper: u8,
) -> Vec<u8> {
    let mut bytes = payload.to_vec();
    let mut next = NextHeader(59);
    if upper < 6 {
        next = NextHeader::UDP;
        let src_port = [0xf0b3, 0xf0b0, 0xf077, 0xf0ff, 5683, 1][usize::from(upper)];
        let dst_port = [0xf0bf, 0xf1b0, 0xf011, 5684, 0xf0c0, 0xf0b1][usize::from(word as u8 % 6)];
        let len = 8 + payload.len() as u16 + u16::from(hop_limit == 7);
        let header = crate::wire::udp::Header {
            src_port,
            dst_port,
            len,
            checksum: word as u16,
        };
        bytes.splice(0..0, header.emit());
    }
    for (kind, fill, number, (_, byte)) in chain {
        let mut header = std::vec![next.0];
        next = match kind {
            0..=4 => {
                let len = (2 + fill.len()).next_multiple_of(8);
                header.push((len / 8 - 1) as u8);
                header.extend(fill);
                // Valid padding for some, zeros for others: what does it matter.
                if len - header.len() >= 2 && byte & 1 == 0 {
                    header.extend([1, (len - header.len() - 2) as u8]);
                }
                header.resize(len, 0);
                [0, 43, 60, 135, 0].map(NextHeader)[usize::from(*kind)]
            }
            5 | 6 => {
                let [high, low] = (number & if *kind == 5 { 7 } else { 0xffff }).to_be_bytes();
                header.extend([*byte, high, low, 1, 2, 3, 4]);
                NextHeader::FRAGMENT
            }
            7 => {
                let inner = ipv6::Header {
                    traffic_class: TrafficClass(*byte),
                    flow_label: u32::from(*number),
                    payload_len: bytes.len() as u16 + u16::from(*byte == 0),
                    next_header: next,
                    hop_limit,
                    src: if number % 2 == 0 { src } else { dst },
                    dst: if number % 3 == 0 { src } else { dst },
                };
                header = inner.emit().to_vec();
                NextHeader::IPV6
            }
            _ => {
                header.extend([0; 7]);
                NextHeader(*byte)
            }
        };
        header.extend(bytes);
        bytes = header;
    }
    let fixed = ipv6::Header {
        traffic_class: TrafficClass((word >> 20) as u8),
        flow_label: word & 0xf_ffff,
        payload_len: bytes.len() as u16,
        next_header: next,
        hop_limit,
        src,
        dst,
    };
    bytes.splice(0..0, fixed.emit());
    bytes
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        (0..256_u32).prop_map(|class| class << 20),
        0..1_u32 << 20,
        any::<u32>()
    ]
}

fn hop_limit() -> impl Strategy<Value = u8> {
    prop_oneof![Just(1), Just(64), Just(255), any::<u8>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn decompression_gives_back_what_was_compressed(
        src in pick(), dst in pick(), link in (link_addr(), link_addr()), contexts in contexts(), chain in chain(),
        word in word(), hop_limit in hop_limit(), payload in proptest::collection::vec(any::<u8>(), 0..20),
        upper in 0..9_u8, cut in 0..300_usize,
    ) {
        let link = Link { src: link.0, dst: link.1 };
        let addresses = (address(src, link.src, &contexts), address(dst, link.dst, &contexts));
        let bytes = build(&chain, addresses, word, hop_limit, &payload, upper);
        let frame = frame(&bytes, &link, &contexts);
        prop_assert_eq!(&packet(&frame, &link, &contexts).unwrap(), &bytes);

        // Of a part of the packet, as in the first fragment.
        let head = &bytes[..(40 + cut).min(bytes.len())];
        let mut out = [0xa5; 2048];
        let done = compress(head, &link, &Contexts(&contexts), &mut out).unwrap();
        prop_assert!(done.consumed <= head.len());
        let mut first = out[..done.written].to_vec();
        first.extend(&head[done.consumed..]);
        let back = decompress(&first, &link, &Contexts(&contexts), Some(bytes.len()), &mut out).unwrap();
        prop_assert_eq!(back.written, done.consumed);
        prop_assert_eq!(&out[..back.written], &bytes[..done.consumed]);
        prop_assert_eq!(&first[back.consumed..], &head[done.consumed..]);
    }

    #[test]
    fn no_frame_makes_the_decompressor_panic(
        mut frame in proptest::collection::vec(any::<u8>(), 0..150), contexts in contexts(),
        link in (link_addr(), link_addr()), size in proptest::option::of(0..3000_usize), room in 0..300_usize,
    ) {
        if let Some(first) = frame.first_mut() {
            *first = 0x60 | *first & 0x1f;
        }
        let link = Link { src: link.0, dst: link.1 };
        let mut out = [0; 300];
        if let Ok(done) = decompress(&frame, &link, &Contexts(&contexts), size, &mut out[..room]) {
            prop_assert!(done.written <= room && done.consumed <= frame.len());
            // What was read can be sent on.
            let mut bytes = out[..done.written].to_vec();
            bytes.extend(&frame[done.consumed..]);
            if size.is_none() {
                let again = super::frame(&bytes, &link, &contexts);
                prop_assert_eq!(packet(&again, &link, &contexts).unwrap(), bytes);
            }
        }
    }

    #[test]
    fn a_frame_of_likely_octets_is_read_or_refused_and_what_was_read_survives(
        list in proptest::collection::vec(prop_oneof![
            Just(0x7e_u8), Just(0x33), Just(0xe1), Just(0xe7), Just(0xe4), Just(0xee), Just(0xf3), Just(0xf0), 0..16_u8,
        ], 0..100),
    ) {
        let mut bytes = [0x7e, 0x33].to_vec();
        bytes.extend(list);
        if let Ok(read) = packet(&bytes, &LINK, &[]) {
            let again = frame(&read, &LINK, &[]);
            prop_assert_eq!(packet(&again, &LINK, &[]).unwrap(), read);
        }
    }

    #[test]
    fn no_packet_makes_the_compressor_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..150), contexts in contexts(), room in 0..300_usize,
    ) {
        if bytes.len() >= 40 {
            bytes[0] = 0x60 | bytes[0] & 0x0f;
        }
        let mut out = [0; 300];
        let _ = compress(&bytes, &LINK, &Contexts(&contexts), &mut out[..room]);
    }
}
