use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::wire::lowpan::Dispatch;

const FIRST: Rfrag = Rfrag {
    congested: false,
    tag: 0x2a,
    ack_request: false,
    sequence: 0,
    size: 3,
    offset: 0x0123,
};

#[test]
fn a_fragment_is_laid_out_as_figure_1_of_rfc_8931_says() {
    let mut out = [0xa5; 7];
    assert_eq!(FIRST.emit(&mut out), Ok(6));
    assert_eq!(out, [0b1110_1000, 0x2a, 0x00, 0x03, 0x01, 0x23, 0xa5]);
    // E is the last bit of the dispatch, X the first behind the tag, then five bits of sequence and ten of size.
    let all = Rfrag {
        congested: true,
        ack_request: true,
        sequence: 0b10101,
        size: 0b10_0000_0001,
        offset: 0xfedc,
        ..FIRST
    };
    assert_eq!(all.emit(&mut out), Ok(6));
    assert_eq!(
        out[..6],
        [0b1110_1001, 0x2a, 0b1101_0110, 0b0000_0001, 0xfe, 0xdc]
    );
    let mut bytes = [1, 2, 3].to_vec();
    bytes.splice(0..0, [0b1110_1000, 0x2a, 0x00, 0x03, 0x01, 0x23]);
    assert_eq!(Rfrag::parse(&bytes), Ok((FIRST, &[1, 2, 3][..])));
    assert_eq!((FIRST.start(), all.start()), (0, 0xfedc));
}

#[test]
fn bit_0_of_the_bitmap_is_the_first_on_the_wire_as_figure_2_of_rfc_8931_says() {
    let ack = |sequence| {
        RfragAck {
            bitmap: Bitmap::of(sequence),
            ..RfragAck::default()
        }
        .emit()
    };
    assert_eq!(ack(0)[2..], [0x80, 0, 0, 0]);
    assert_eq!(ack(9)[2..], [0, 0x40, 0, 0]);
    assert_eq!(ack(31)[2..], [0, 0, 0, 0x01]);
    assert_eq!(ack(32)[2..], [0, 0, 0, 0]);
}

#[test]
fn an_acknowledgement_is_laid_out_as_figures_3_and_4_of_rfc_8931_say() {
    // Figure 3: sequence numbers 0 to 20 but 1, 2 and 16.
    let missing = Bitmap::of(1).0 | Bitmap::of(2).0 | Bitmap::of(16).0;
    let ack = RfragAck {
        congested: false,
        tag: 0x2a,
        bitmap: Bitmap(Bitmap::first(21).0 & !missing),
    };
    let bytes = [
        0b1110_1010,
        0x2a,
        0b1001_1111,
        0b1111_1111,
        0b0111_1000,
        0b0000_0000,
    ];
    assert_eq!(ack.emit(), bytes);
    assert_eq!(RfragAck::parse(&bytes), Ok(ack));
    let congested = RfragAck {
        congested: true,
        ..ack
    };
    assert_eq!(congested.emit()[0], 0b1110_1011);
    assert_eq!(RfragAck::parse(&congested.emit()), Ok(congested));
}

#[test]
fn a_bitmap_knows_its_lowest_sequence_number_and_how_many_there_are() {
    assert_eq!((Bitmap::NULL.lowest(), Bitmap::NULL.count()), (None, 0));
    assert_eq!((Bitmap::FULL.lowest(), Bitmap::FULL.count()), (Some(0), 32));
    for count in 0..=32_u8 {
        let first = Bitmap::first(count);
        assert_eq!(first.count(), count);
        for sequence in 0..=40_u8 {
            assert_eq!(first.has(sequence), sequence < count && sequence < 32);
        }
        let rest = Bitmap(!first.0);
        assert_eq!(rest.lowest(), (count < 32).then_some(count));
    }
}

#[test]
fn xr1_fragments_and_acknowledgements_that_are_cut_off_are_refused() {
    let fragment = [0xe8, 7, 0, 1, 0, 40, 0x60];
    for len in 0..6 {
        assert_eq!(Rfrag::parse(&fragment[..len]), Err(ParseError::Truncated));
    }
    assert_eq!(Rfrag::parse(&fragment[..6]), Err(ParseError::Length));
    assert!(Rfrag::parse(&fragment).is_ok());
    let ack = [0xea, 7, 0x80, 0, 0, 0, 0];
    for len in 0..6 {
        assert_eq!(RfragAck::parse(&ack[..len]), Err(ParseError::Truncated));
    }
    assert!(RfragAck::parse(&ack[..6]).is_ok());
    assert_eq!(RfragAck::parse(&ack), Err(ParseError::Length));
}

#[test]
fn xr2_a_fragment_that_carries_more_or_less_than_it_says_is_refused() {
    let mut out = [0; 40];
    for size in 0..=34 {
        let fragment = Rfrag { size, ..FIRST };
        fragment.emit(&mut out).expect("it fits");
        for len in 0..=34 {
            let expected = if size == len && size > 0 {
                Ok(())
            } else {
                Err(ParseError::Length)
            };
            let parsed = Rfrag::parse(&out[..6 + usize::from(len)]).map(|_| ());
            assert_eq!(parsed, expected, "{size} {len}");
        }
    }
}

#[test]
fn xr4_a_fragment_that_ends_behind_its_datagram_is_refused() {
    let parse = |fragment: Rfrag| {
        let mut bytes = [0; 6 + 3];
        fragment.emit(&mut bytes).expect("it fits");
        Rfrag::parse(&bytes).map(|(parsed, _)| parsed)
    };
    assert_eq!(parse(Rfrag { offset: 2, ..FIRST }), Err(ParseError::Length));
    let whole = Rfrag { offset: 3, ..FIRST };
    assert_eq!(parse(whole), Ok(whole));
    let next = Rfrag { sequence: 1, ..FIRST };
    let last = Rfrag {
        offset: 0xfffc,
        ..next
    };
    assert_eq!(parse(last), Ok(last));
    let beyond = Rfrag {
        offset: 0xfffd,
        ..next
    };
    assert_eq!(parse(beyond), Err(ParseError::Length));
}

#[test]
fn an_offset_of_0_aborts_whatever_the_sequence_number() {
    let mut out = [0; 6];
    let abort = Rfrag::abort(0x2a);
    assert_eq!(abort.emit(&mut out), Ok(6));
    assert_eq!(out, [0xe8, 0x2a, 0, 0, 0, 0]);
    assert_eq!(Rfrag::parse(&out), Ok((abort, &[][..])));
    assert!(abort.is_abort());
    for sequence in 0..32 {
        let abort = Rfrag {
            sequence,
            ack_request: true,
            ..abort
        };
        abort.emit(&mut out).expect("it fits");
        assert_eq!(Rfrag::parse(&out), Ok((abort, &[][..])));
        assert!(abort.is_abort());
    }
}

#[test]
fn values_that_do_not_fit_their_fields_are_not_written() {
    let mut out = [0; 6];
    assert_eq!(
        Rfrag { size: 1024, ..FIRST }.emit(&mut out),
        Err(ParseError::Length)
    );
    let sequence = Rfrag {
        sequence: 32,
        ..FIRST
    };
    assert_eq!(sequence.emit(&mut out), Err(ParseError::Length));
    assert_eq!(FIRST.emit(&mut out[..5]), Err(ParseError::NoRoom));
}

#[test]
fn all_header_words_of_a_fragment_without_payload_are_aborts_or_refused() {
    // All values of dispatch, flags, sequence and size, with and without an offset.
    for dispatch in 0..=255_u8 {
        for word in 0..=u16::MAX {
            let [high, low] = word.to_be_bytes();
            let parse = |offset| {
                Rfrag::parse(&[dispatch, 1, high, low, offset, offset]).map(|(fragment, _)| fragment)
            };
            let (abort, other) = (parse(0), parse(0xff));
            if Dispatch::of(dispatch, 0) == Dispatch::Rfrag {
                assert_eq!(abort.is_ok(), word & 0x3ff == 0);
                assert_eq!(other, Err(ParseError::Length));
            } else {
                assert_eq!(
                    (abort, other),
                    (Err(ParseError::Unknown), Err(ParseError::Unknown))
                );
                break;
            }
        }
        let ack = RfragAck::parse(&[dispatch, 1, 2, 3, 4, 5]);
        assert_eq!(ack.is_ok(), Dispatch::of(dispatch, 0) == Dispatch::RfragAck);
    }
}

proptest! {
    #[test]
    fn what_emit_wrote_parses_to_the_same_fragment(
        congested: bool, tag: u8, ack_request: bool, sequence in 1..32_u8, offset in 1..60_000_u16,
        payload in proptest::collection::vec(any::<u8>(), 1..1024),
    ) {
        let size = payload.len() as u16;
        let fragment = Rfrag { congested, tag, ack_request, sequence, size, offset };
        let mut bytes = [0; 6].to_vec();
        prop_assert_eq!(fragment.emit(&mut bytes), Ok(6));
        bytes.extend(&payload);
        prop_assert_eq!(Rfrag::parse(&bytes), Ok((fragment, &payload[..])));
    }

    #[test]
    fn what_emit_wrote_parses_to_the_same_acknowledgement(congested: bool, tag: u8, bitmap: u32) {
        let ack = RfragAck { congested, tag, bitmap: Bitmap(bitmap) };
        prop_assert_eq!(RfragAck::parse(&ack.emit()), Ok(ack));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = (Rfrag::parse(&bytes), RfragAck::parse(&bytes));
    }
}
