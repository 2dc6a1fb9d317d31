use std::vec::Vec;

use proptest::prelude::*;

use super::*;

fn header(body: &[u8]) -> Vec<u8> {
    let mut bytes = std::vec![NextHeader::UDP.0, (body.len() / 8) as u8];
    bytes.extend(body);
    bytes
}

fn options(bytes: &[u8]) -> Vec<Result<Placed<'_>, ParseError>> {
    Options::new(&Extension::parse(bytes).unwrap().0).collect()
}

#[test]
fn the_rpl_option_lies_where_rfc_6553_section_3_draws_it() {
    let rpl = Rpl {
        critical: true,
        down: true,
        rank_error: false,
        forwarding_error: true,
        instance: 0x1e,
        sender_rank: 0x0100,
        sub_tlvs: &[],
    };
    let mut bytes = [0xa5; 8];
    assert_eq!(emit(NextHeader::UDP, &[Opt::Rpl(rpl)], &mut bytes), Ok(8));
    assert_eq!(bytes, [17, 0, 0x63, 4, 0xa0, 0x1e, 0x01, 0x00]);
    assert_eq!(
        options(&bytes),
        [Ok(Placed {
            offset: 2,
            option: Opt::Rpl(rpl)
        })]
    );
}

#[test]
fn xi3_the_upper_bits_of_an_unknown_type_say_what_to_do() {
    for (kind, action) in [
        (0x1e, Action::Skip),
        (0x5e, Action::Discard),
        (0x9e, Action::Problem),
        (0xde, Action::ProblemUnlessMulticast),
    ] {
        let bytes = header(&[kind, 1, 7, 1, 1, 0]);
        let expected = Opt::Other {
            kind: OptionType(kind),
            data: &[7],
        };
        assert_eq!(
            options(&bytes)[0],
            Ok(Placed {
                offset: 2,
                option: expected
            })
        );
        assert_eq!(OptionType(kind).action(), action);
    }
    assert!(OptionType(0x3e).is_mutable() && !OptionType(0x1e).is_mutable());
}

#[test]
fn xi3_an_option_that_runs_past_its_header_ends_the_iteration_with_an_error() {
    let expected = |option| [Ok(Placed { offset: 2, option }), Err(ParseError::Length)];
    assert_eq!(options(&header(&[1, 1, 0, 0x1e, 2, 0])), expected(Opt::PadN(1)));
    assert_eq!(
        options(&header(&[1, 3, 0, 0, 0, 0x1e])),
        expected(Opt::PadN(3)),
        "no length"
    );
    assert_eq!(
        options(&header(&[0x63, 3, 0, 0, 0, 0])),
        [Err(ParseError::Length)],
        "short RPL option"
    );
}

#[test]
fn xi3_a_thousand_pads_of_one_byte_are_a_thousand_options() {
    let bytes = header(&[0; 1006]);
    let options = options(&bytes);
    assert_eq!(options.len(), 1006);
    assert_eq!(
        options[1005],
        Ok(Placed {
            offset: 1007,
            option: Opt::Pad1
        })
    );
}

#[test]
fn a_header_is_padded_to_8_bytes_by_the_right_option() {
    for data_len in 0..9_usize {
        let data = [0x77; 8];
        let option = Opt::Other {
            kind: OptionType(0x1e),
            data: &data[..data_len],
        };
        let mut out = [0xa5; 24];
        let len = emit(NextHeader::NONE, &[option], &mut out).unwrap();
        assert_eq!(len, (4 + data_len).next_multiple_of(8));
        let read = options(&out[..len]);
        assert_eq!(read[0], Ok(Placed { offset: 2, option }));
        let padding = match len - 4 - data_len {
            0 => None,
            1 => Some(Opt::Pad1),
            more => Some(Opt::PadN(more as u8 - 2)),
        };
        assert_eq!(read.get(1).map(|placed| placed.unwrap().option), padding);
    }
}

#[test]
fn a_header_that_does_not_fit_is_refused() {
    let option = Opt::Other {
        kind: OptionType(0x1e),
        data: &[0; 5],
    };
    for len in 0..16 {
        assert_eq!(
            emit(NextHeader::NONE, &[option], &mut [0; 16][..len]),
            Err(ParseError::NoRoom),
            "{len}"
        );
    }
    let long = [0; 256];
    let option = Opt::Other {
        kind: OptionType(0x1e),
        data: &long,
    };
    assert_eq!(option.emit(&mut [0; 300]), Err(ParseError::NoRoom));
    let option = Opt::Other {
        kind: OptionType(0x1e),
        data: &long[..255],
    };
    assert_eq!(
        emit(NextHeader::NONE, &[option; 8], &mut [0; 4096]),
        Err(ParseError::NoRoom)
    );
}

fn any_option() -> impl Strategy<Value = (u8, Vec<u8>)> {
    (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20))
}

proptest! {
    #[test]
    fn parse_reads_back_what_emit_wrote(list in proptest::collection::vec(any_option(), 0..8)) {
        let list: Vec<Opt<'_>> = list.iter().map(|(kind, data)| match *kind {
            0 => Opt::Pad1,
            1 => Opt::PadN(data.len() as u8),
            0x20..0x70 => Opt::Rpl(Rpl {
                critical: kind & 1 != 0, down: kind & 2 != 0, rank_error: kind & 4 != 0, forwarding_error: kind & 8 != 0,
                instance: *kind, sender_rank: u16::from(*kind) * 0x101, sub_tlvs: data,
            }),
            kind => Opt::Other { kind: OptionType(kind), data },
        }).collect();
        let mut out = [0xa5; 256];
        let len = emit(NextHeader::UDP, &list, &mut out).unwrap();
        let (header, rest) = Extension::parse(&out[..len]).unwrap();
        prop_assert_eq!(rest.len(), 0);
        let read: Vec<Opt<'_>> = Options::new(&header).map(|placed| placed.unwrap().option).collect();
        prop_assert_eq!(&read[..list.len()], &list[..]);
        prop_assert!(read.len() - list.len() <= 1);
    }

    #[test]
    fn no_header_makes_the_iteration_panic_or_go_on_without_end(mut bytes in proptest::collection::vec(any::<u8>(), 8..300)) {
        bytes[1] = (bytes.len() / 8 - 1) as u8;
        prop_assert!(options(&bytes).len() <= bytes.len());
    }
}
