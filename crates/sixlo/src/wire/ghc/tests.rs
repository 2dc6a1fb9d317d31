use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// An example of RFC 7400 appendix A, in hexadecimal digits.
struct Figure {
    name: &'static str,
    source: &'static str,
    destination: &'static str,
    payload: &'static str,
    compressed: &'static str,
}

#[rustfmt::skip]
const FIGURES: [Figure; 10] = [
    Figure {
        name: "8: A Simple RPL Example",
        source: "fe80000000000000021cdafffe002024",
        destination: "ff02000000000000000000000000001a",
        payload: "9b006bde00000000",
        compressed: "049b006bde82",
    },
    Figure {
        name: "9: A Longer RPL Example",
        source: "fe80000000000000021cdafffe003023",
        destination: "ff02000000000000000000000000001a",
        payload: "9b017a5f00f001008800000020020db800000000000000fffe00face040e0014\
             09ff00000100000000000000081e8020ffffffffffffffff0000000020020db8\
             00000000000000fffe00face030e4000ffffffff20020db800000000",
        compressed: "069b017a5f00f0c70188810420020db885a7c908face040e001409ffa4da8306\
             081e8020ffffc0d082b4f003030e40c7a3c9a2f0",
    },
    Figure {
        name: "10: A RPL DAO Message",
        source: "20020db800000000000000fffe003344",
        destination: "20020db800000000000000fffe001122",
        payload: "9b02587d018000f10512008020020db800000000000000fffe00334406140080\
             f100fe80000000000000000000fffe001122",
        compressed: "0c9b02587d018000f105120080b5f40806140080f100fe8087a7dd",
    },
    Figure {
        name: "11: An ND Neighbor Solicitation",
        source: "20020db800000000000000fffe003bd3",
        destination: "fe80000000000000021cdafffe003023",
        payload: "8700a76800000000fe80000000000000021cdafffe00302301013bd300000000\
             1f02000000000006001cdafffe002024",
        compressed: "048700a76882b3f00401013bd382021f0283020600a2db022024",
    },
    Figure {
        name: "12: An ND Neighbor Advertisement",
        source: "fe80000000000000021cdafffe003023",
        destination: "20020db800000000000000fffe003bd3",
        payload: "8800266cc0000000fe80000000000000021cdafffe0030230201face00000000\
             1f02000000000006001cdafffe002024",
        compressed: "058800266cc081b5f0040201face82021f0283020600a2db022024",
    },
    Figure {
        name: "13: An ND Router Solicitation",
        source: "fe80000000000000aede480000000001",
        destination: "ff020000000000000000000000000002",
        payload: "85009065000000000102acde480000000001000000000000",
        compressed: "0485009065de0202aca5eb84",
    },
    Figure {
        name: "14: An ND Router Advertisement",
        source: "fe80000000000000103400fffe001122",
        destination: "fe80000000000000aede480000000001",
        payload: "860055c940000fa01c5a3817000007d0010111220000000003044040ffffffff\
             ffffffff0000000020020db800000000000000000000000020024010000003e8\
             20020db800000000210300010000000020020db800000000000000fffe001122",
        compressed: "0c860055c940000fa01c5a3817800607d001011122820603044040ffffc0d082\
             0420020db88a0420024010a4cb01e8a2f0022103a9e6b3cdafdb",
    },
    Figure {
        name: "15: A DTLS Application Data Packet",
        source: "00000000000000000000000000000000",
        destination: "00000000000000000000000000000000",
        payload: "17fefd0001000000000001001d000100000000000109b20e82c16eb696c51f36\
             8d1761e2b5d422d4ed2b",
        compressed: "b0d1011df21509b20e82c16eb696c51f368d1761e2b5d422d4ed2b",
    },
    Figure {
        name: "16: Another DTLS Application Data Packet",
        source: "00000000000000000000000000000000",
        destination: "00000000000000000000000000000000",
        payload: "17fefd000100000000000500160001000000000005aea0155667924dff8a24e4\
             cb35b9",
        compressed: "b0c303050016f20eaea0155667924dff8a24e4cb35b9",
    },
    Figure {
        name: "17: A DTLS Handshake Packet (Client Hello)",
        source: "00000000000000000000000000000000",
        destination: "00000000000000000000000000000000",
        payload: "16fefd000000000000000000360100002a000000000000002afefd5152ed79a4\
             20c962561147c939ee6cc0a4fec6892f32269a164e317e9f20929200000002c0\
             a80100",
        compressed: "a1cd870136a1cd012a85232afefd5152ed79a420c962561147c939ee6cc0a4fe\
             c6892f32269a164e317e9f209292810502c0a80100",
    },
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

fn address(hex: &str) -> Ipv6Addr {
    Ipv6Addr::from_octets(bytes(hex).try_into().unwrap())
}

/// A dictionary in which no two bytes are equal, nor zero.
fn distinct() -> [u8; DICTIONARY_LEN] {
    core::array::from_fn(|at| 0x40 + at as u8)
}

fn expanded(input: &[u8]) -> Result<Vec<u8>, ParseError> {
    let mut out = [0xa5; 300];
    decompress(&distinct(), input, &mut out).map(|len| out[..len].to_vec())
}

fn compressed(dictionary: &[u8; DICTIONARY_LEN], payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0xa5; payload.len() + payload.len().div_ceil(LITERAL_MAX)];
    let len = compress(dictionary, payload, &mut out).expect("its promised length");
    out.truncate(len);
    out
}

/// The bytecode as RFC 7400 table 1 has it, word for word, on a growing buffer that begins with the dictionary.
fn by_the_table(dictionary: &[u8], input: &[u8], limit: usize) -> Result<Vec<u8>, ParseError> {
    let mut buffer = dictionary.to_vec();
    let mut input = input.iter().copied();
    let (mut sa, mut na) = (0, 0);
    while let Some(code) = input.next() {
        let text: String = std::format!("{code:08b}");
        let field = |from, to| usize::from_str_radix(&text[from..to], 2).unwrap();
        if text.starts_with("0") && field(1, 8) < 96 {
            for _ in 0..field(1, 8) {
                buffer.push(input.next().ok_or(ParseError::Truncated)?);
            }
        } else if text.starts_with("1000") {
            buffer.resize(buffer.len() + field(4, 8) + 2, 0);
        } else if text == "10010000" {
            if input.next().is_some() {
                return Err(ParseError::Length);
            }
        } else if text.starts_with("101") {
            sa += field(4, 8) * 8;
            na += field(3, 4) * 8;
        } else if text.starts_with("11") {
            let n = na + field(2, 5) + 2;
            let s = field(5, 8) + sa + n;
            for _ in 0..n {
                let from = buffer.len().checked_sub(s).ok_or(ParseError::Length)?;
                buffer.push(buffer[from]);
            }
            (sa, na) = (0, 0);
        } else {
            return Err(ParseError::Reserved);
        }
        if buffer.len() - dictionary.len() > limit {
            return Err(ParseError::NoRoom);
        }
    }
    Ok(buffer.split_off(dictionary.len()))
}

#[test]
fn the_examples_of_rfc_7400_appendix_a_are_read_and_written() {
    for figure in &FIGURES {
        let dictionary = dictionary(&address(figure.source), &address(figure.destination));
        let (payload, printed) = (bytes(figure.payload), bytes(figure.compressed));
        let mut out = vec![0xa5; payload.len()];
        assert_eq!(
            decompress(&dictionary, &printed, &mut out),
            Ok(payload.len()),
            "figure {}",
            figure.name
        );
        assert_eq!(out, payload, "figure {}", figure.name);
        let ours = compressed(&dictionary, &payload);
        assert!(ours.len() <= printed.len(), "figure {}", figure.name);
        out.fill(0xa5);
        assert_eq!(decompress(&dictionary, &ours, &mut out), Ok(payload.len()));
        assert_eq!(out, payload, "figure {}, our way", figure.name);
    }
}

#[test]
fn each_bytecode_of_rfc_7400_table_1_does_what_the_table_says() {
    assert_eq!(expanded(&[]), Ok(vec![]));
    assert_eq!(expanded(&[0x00]), Ok(vec![]));
    assert_eq!(expanded(&[0x02, 7, 8]), Ok(vec![7, 8]));
    assert_eq!(expanded(&[0x80]), Ok(vec![0; 2]));
    assert_eq!(expanded(&[0x8f]), Ok(vec![0; 17]));
    let dictionary = distinct();
    assert_eq!(expanded(&[0xc0]), Ok(dictionary[46..].to_vec()));
    assert_eq!(
        expanded(&[0xda]),
        Ok(dictionary[41..46].to_vec()),
        "5 bytes, 7 back"
    );
    assert_eq!(
        expanded(&[0xb2, 0xd9]),
        Ok(dictionary[18..31].to_vec()),
        "13 bytes, 30 back"
    );
    let across = [&[7, 8], &dictionary[47..], &[7, 8]].concat();
    assert_eq!(
        expanded(&[0x02, 7, 8, 0xc8]),
        Ok(across),
        "into the dictionary and out of it"
    );
}

#[test]
fn extended_arguments_add_up_until_a_reference_uses_them() {
    let dictionary = distinct();
    // Twice 8 back and once 8 long; the literal between does not use them up.
    let input = [0xa1, 0xb1, 0x01, 9, 0xc0, 0xc0];
    // 10 bytes that end 16 before the place, which is one behind the dictionary; then the 2 bytes before the place.
    let expected = [&[9], &dictionary[23..33], &dictionary[31..33]].concat();
    assert_eq!(expanded(&input), Ok(expected));
}

#[test]
fn all_inputs_of_two_bytes_are_read_as_the_table_says() {
    let dictionary = distinct();
    for input in 0..=u16::MAX {
        let input = input.to_be_bytes();
        assert_eq!(
            expanded(&input),
            by_the_table(&dictionary, &input, 300),
            "{input:02x?}"
        );
    }
}

#[test]
fn xh16_a_reference_to_before_the_dictionary_is_refused() {
    // 48 bytes back is the first byte of the dictionary.
    assert_eq!(expanded(&[0xa5, 0xf0]), Ok(distinct()[..8].to_vec()));
    assert_eq!(expanded(&[0xa5, 0xf1]), Err(ParseError::Length));
    assert_eq!(expanded(&[0xbf, 0xff]), Err(ParseError::Length));
    // A byte written moves it by one.
    assert!(expanded(&[0x01, 9, 0xa5, 0xf1]).is_ok());
}

#[test]
fn xh16_extended_arguments_without_end_are_refused_where_they_are_used() {
    let mut input = vec![0xbf; 10_000];
    assert_eq!(expanded(&input), Ok(vec![]));
    input.push(0xff);
    assert!(expanded(&input).is_err());
}

#[test]
fn xh16_an_output_bomb_ends_at_the_room_given() {
    let mut out = [0xa5; 1_290];
    // 76 bytes are a packet of 1280 (RFC 7400 section 5); 77 are more than there is room for.
    let bomb = [0x8f; 77];
    let (room, beyond) = out.split_at_mut(1_280);
    assert_eq!(decompress(&distinct(), &bomb[..75], room), Ok(1_275));
    assert_eq!(decompress(&distinct(), &bomb, room), Err(ParseError::NoRoom));
    assert_eq!(beyond, [0xa5; 10]);
    assert_eq!(
        decompress(&distinct(), &[0xf8], &mut [0; 8]),
        Err(ParseError::NoRoom)
    );
    assert_eq!(
        decompress(&distinct(), &[0x02, 1, 2], &mut [0; 1]),
        Err(ParseError::NoRoom)
    );
}

#[test]
fn xh16_reserved_bytecodes_are_refused() {
    for code in (0x60..0x80).chain(0x91..0xa0) {
        assert_eq!(
            expanded(&[0x01, 7, code]),
            Err(ParseError::Reserved),
            "{code:02x}"
        );
    }
}

#[test]
fn xh16_a_stop_code_before_the_end_of_a_payload_is_refused() {
    assert_eq!(expanded(&[0x01, 7, 0x90]), Ok(vec![7]));
    assert_eq!(expanded(&[0x90, 0x01, 7]), Err(ParseError::Length));
}

#[test]
fn xh16_a_literal_longer_than_the_input_is_refused() {
    assert_eq!(expanded(&[0x03, 1, 2]), Err(ParseError::Truncated));
    assert_eq!(expanded(&[0x5f]), Err(ParseError::Truncated));
}

#[test]
fn an_extension_header_ends_at_its_stop_code() {
    let dictionary = distinct();
    let header = [0x3a, 0, 0, 0, 0, 0x40, 0x41, 0x42];
    let mut code = [0; 20];
    let len = compress_header(&dictionary, &header, &mut code).unwrap();
    assert_eq!(code[..len], [0x01, 0x3a, 0x82, 0xa6, 0xca, STOP]);
    code[len] = 0xd0;
    let mut out = [0; 8];
    let (expanded, rest) = decompress_header(&dictionary, &code[..=len], &mut out).unwrap();
    assert_eq!((expanded, rest), (8, &[0xd0][..]));
    assert_eq!(out, header);
    for cut in 0..len {
        let cut_off = decompress_header(&dictionary, &code[..cut], &mut out);
        assert_eq!(
            cut_off,
            Err(ParseError::Truncated),
            "RFC 7400 section 3.2: no stop code"
        );
        let short = compress_header(&dictionary, &header, &mut vec![0; cut]);
        assert_eq!(short, Err(ParseError::NoRoom));
    }
}

#[test]
fn only_the_bytes_of_rfc_7400_figures_2_to_4_announce_ghc() {
    let known: Vec<u8> = (0..=u8::MAX).filter(|&byte| Nhc::parse(byte).is_some()).collect();
    let expected: Vec<u8> = (0xb0..=0xb7).chain(0xd0..=0xd7).chain([0xdf]).collect();
    assert_eq!(known, expected);
    for byte in known {
        assert_eq!(Nhc::parse(byte).map(Nhc::emit), Some(byte));
    }
    let extension = Nhc::Extension {
        eid: 2,
        next_compressed: true,
    };
    assert_eq!(extension.emit(), 0b1011_0101);
    let udp = Nhc::Udp {
        checksum_elided: true,
        ports: 2,
    };
    assert_eq!(udp.emit(), 0b1101_0110);
}

/// Bytes as headers have them: zeroes, runs, and repeats of what stood before.
fn header_like() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        (1..30_usize).prop_map(|n| vec![0; n]),
        (any::<u8>(), 1..300_usize).prop_map(|(byte, n)| vec![byte; n]),
        prop::collection::vec(any::<u8>(), 1..120),
        (0..40_u8, 1..30_u8).prop_map(|(from, n)| (0x40 + from..0x40 + from + n).collect()),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn what_was_compressed_expands_to_the_same(payload in header_like()) {
        let code = compressed(&distinct(), &payload);
        let mut out = vec![0xa5; payload.len() + 1];
        prop_assert_eq!(decompress(&distinct(), &code, &mut out), Ok(payload.len()));
        prop_assert_eq!(&out[..payload.len()], &payload);
        prop_assert_eq!(out[payload.len()], 0xa5);
        prop_assert_eq!(by_the_table(&distinct(), &code, 9_999), Ok(payload));
        for len in [0, code.len() / 2, code.len().saturating_sub(1)] {
            if len == code.len() {
                break;
            }
            let short = compress(&distinct(), &out[..out.len() - 1], &mut vec![0; len]);
            prop_assert_eq!(short, Err(ParseError::NoRoom));
        }
    }

    #[test]
    fn any_bytecode_is_read_as_the_table_says(
        input in prop::collection::vec(prop_oneof![any::<u8>(), 0..4_u8, 0x80..0xff_u8], 0..60),
        limit in 0..300_usize,
    ) {
        let mut out = vec![0; limit];
        let ours = decompress(&distinct(), &input, &mut out).map(|len| out[..len].to_vec());
        prop_assert!(ours.as_ref().map_or(0, Vec::len) <= 17 * input.len(), "RFC 7400 section 5");
        prop_assert_eq!(ours.ok(), by_the_table(&distinct(), &input, limit).ok());
    }
}
