use proptest::prelude::*;
use std::vec::Vec;

use super::*;

const TS: Timestamps = Timestamps {
    value: 0x0102_0304,
    echo: 0xa1a2_a3a4,
};
const TS_BYTES: [u8; 10] = [8, 10, 1, 2, 3, 4, 0xa1, 0xa2, 0xa3, 0xa4];

fn blocks(number: u32) -> Blocks {
    let mut blocks = Blocks::EMPTY;
    for n in 0..number {
        blocks.push(Block {
            left: Seq(0x1000 * n),
            right: Seq(0x1000 * n + 0x80),
        });
    }
    blocks
}

fn emitted(options: &Options) -> Vec<u8> {
    let mut out = [0xee; 44];
    let len = options.emit(&mut out).unwrap();
    assert_eq!(len, options.emit_len());
    assert!(out[len..].iter().all(|&byte| byte == 0xee));
    for room in 0..len {
        assert_eq!(options.emit(&mut out[..room]), Err(ParseError::NoRoom));
    }
    out[..len].to_vec()
}

#[test]
fn a_syn_is_laid_out_as_freebsd_does() {
    let syn = Options {
        mss: Some(1220),
        sack_permitted: true,
        ..Options::NONE
    };
    assert_eq!(
        emitted(&syn),
        [2, 4, 4, 196, 4, 2, 0, 0],
        "segment size, SACK permitted, end"
    );
    let with_timestamps = Options {
        timestamps: Some(TS),
        ..syn
    };
    assert_eq!(
        emitted(&with_timestamps),
        [&[2, 4, 4, 196, 4, 2][..], &TS_BYTES].concat()
    );
    let no_sack = Options {
        sack_permitted: false,
        ..with_timestamps
    };
    assert_eq!(emitted(&no_sack), [&[2, 4, 4, 196, 1, 1][..], &TS_BYTES].concat());
    assert_eq!(emitted(&Options::NONE), []);
}

#[test]
fn sack_stands_behind_two_no_operations() {
    let sack = Options {
        sack: blocks(1),
        ..Options::NONE
    };
    assert_eq!(emitted(&sack), [1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0x80]);
    let with_timestamps = Options {
        timestamps: Some(TS),
        ..sack
    };
    let expected = [&[1, 1][..], &TS_BYTES, &[1, 1, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0x80]].concat();
    assert_eq!(emitted(&with_timestamps), expected);
}

/// RFC 2018 section 3: 4 blocks, or 3 beside timestamps.
#[test]
fn as_many_sack_blocks_are_sent_as_fit() {
    for number in 0..=4 {
        for (timestamps, most) in [(None, 4), (Some(TS), 3)] {
            let options = Options {
                timestamps,
                sack: blocks(number),
                ..Options::NONE
            };
            assert_eq!(options.sack_room(), most);
            let back = Options::parse(&emitted(&options), Flags::ACK);
            assert_eq!(back.timestamps, timestamps);
            assert_eq!(back.sack.as_slice(), blocks(number.min(most as u32)).as_slice());
        }
    }
    assert_eq!(blocks(5), blocks(4), "a fifth finds no room");
}

#[test]
fn xt2_an_option_length_of_0_or_1_or_past_the_end_ends_the_list() {
    let before = [2, 4, 4, 196];
    for wrong in [
        &[8, 0][..],
        &[8, 1],
        &[8, 10, 1, 2, 3],
        &[8],
        &[99, 0, 4, 2],
        &[99, 1, 4, 2],
        &[99, 255, 4, 2],
        &[99, 5, 4, 2],
        &[2],
        &[5, 0],
        &[4],
    ] {
        let bytes = [&before[..], wrong].concat();
        let expected = Options {
            mss: Some(1220),
            ..Options::NONE
        };
        assert_eq!(Options::parse(&bytes, Flags::SYN), expected, "{wrong:?}");
    }
}

#[test]
fn xt2_an_option_with_a_length_that_is_not_its_own_is_passed_over() {
    for wrong in [
        &[2, 2][..],
        &[2, 3, 9],
        &[2, 5, 9, 9, 9],
        &[4, 3, 0],
        &[8, 2],
        &[8, 9, 1, 2, 3, 4, 5, 6, 7],
        &[8, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ] {
        let bytes = [wrong, &[2, 4, 4, 196]].concat();
        let expected = Options {
            mss: Some(1220),
            ..Options::NONE
        };
        assert_eq!(Options::parse(&bytes, Flags::SYN), expected, "{wrong:?}");
    }
    for len in 2..36_u8 {
        let mut bytes = [0; 36];
        bytes[..2].copy_from_slice(&[5, len]);
        let whole = (len - 2) % 8 == 0;
        let number = if whole { (len - 2) / 8 } else { 0 };
        let parsed = Options::parse(&bytes, Flags::ACK);
        assert_eq!(parsed.sack.as_slice().len(), usize::from(number), "{len}");
    }
}

#[test]
fn xt2_forty_no_operations_are_no_option() {
    assert_eq!(Options::parse(&[1; 40], Flags::SYN), Options::NONE);
    assert_eq!(Options::parse(&[0; 40], Flags::SYN), Options::NONE);
    let late = [&[1; 36][..], &[2, 4, 4, 196]].concat();
    assert_eq!(Options::parse(&late, Flags::SYN).mss, Some(1220));
}

#[test]
fn xt2_of_several_segment_sizes_the_last_counts_and_each_is_given_as_it_is() {
    let bytes = [2, 4, 4, 196, 2, 4, 0, 64];
    assert_eq!(Options::parse(&bytes, Flags::SYN).mss, Some(64));
    for mss in (0..=64).chain([536, 1220, 0xffff]) {
        let [high, low] = u16::to_be_bytes(mss);
        assert_eq!(Options::parse(&[2, 4, high, low], Flags::SYN).mss, Some(mss));
    }
}

/// RFC 9293 section 3.1, MUST-6: window scale, MD5, fast open, and kinds that nobody has.
#[test]
fn options_that_are_not_known_are_passed_over() {
    let unknown = [
        &[3, 3, 7][..],
        &[34, 2],
        &[253, 4, 0xf9, 0x89],
        &[30, 6, 0, 0, 0, 0],
    ]
    .concat();
    let bytes = [&unknown[..], &TS_BYTES].concat();
    assert_eq!(Options::parse(&bytes, Flags::ACK).timestamps, Some(TS));
}

/// RFC 9293 section 3.1, MUST-64.
#[test]
fn options_may_begin_on_any_byte() {
    for nops in 0..8 {
        let bytes = [&[1; 8][..nops], &TS_BYTES, &[5, 10, 0, 0, 0, 0, 0, 0, 0, 0x80]].concat();
        let parsed = Options::parse(&bytes, Flags::ACK);
        assert_eq!((parsed.timestamps, parsed.sack), (Some(TS), blocks(1)));
    }
}

#[test]
fn nothing_behind_the_end_of_the_list_is_read() {
    let bytes = [&[0][..], &TS_BYTES].concat();
    assert_eq!(Options::parse(&bytes, Flags::ACK), Options::NONE);
}

/// RFC 9293 section 3.2, MUST-65; RFC 2018 section 2.
#[test]
fn options_of_a_syn_count_in_a_syn_alone() {
    let bytes = [2, 4, 4, 196, 4, 2, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0x80];
    let syn = Options::parse(&bytes, Flags::SYN | Flags::ACK);
    assert_eq!(
        (syn.mss, syn.sack_permitted, syn.sack),
        (Some(1220), true, Blocks::EMPTY)
    );
    let data = Options::parse(&bytes, Flags::ACK);
    assert_eq!(
        (data.mss, data.sack_permitted, data.sack),
        (None, false, blocks(1))
    );
}

/// The short way for the form of RFC 7323 appendix A says what the long one does.
#[test]
fn timestamps_alone_are_read_as_among_others() {
    let alone = [&[1, 1][..], &TS_BYTES].concat();
    let padded = [&alone[..], &[1, 1, 1, 1]].concat();
    let expected = Options {
        timestamps: Some(TS),
        ..Options::NONE
    };
    for flags in [Flags::ACK, Flags::SYN] {
        assert_eq!(Options::parse(&alone, flags), expected);
        assert_eq!(Options::parse(&padded, flags), expected);
    }
    assert_eq!(emitted(&expected), alone);
}

fn any_options() -> impl Strategy<Value = (Options, bool)> {
    let stamps = any::<Option<(u32, u32)>>();
    let sack = proptest::collection::vec(any::<(u32, u32)>(), 0..5);
    (any::<bool>(), any::<Option<u16>>(), any::<bool>(), stamps, sack).prop_map(
        |(syn, mss, sack_permitted, stamps, sack)| {
            let mut options = Options {
                timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                ..Options::NONE
            };
            if syn {
                (options.mss, options.sack_permitted) = (mss, sack_permitted);
            } else {
                for (left, right) in sack.into_iter().take(options.sack_room()) {
                    let (left, right) = (Seq(left), Seq(right));
                    options.sack.push(Block { left, right });
                }
            }
            (options, syn)
        },
    )
}

proptest! {
    #[test]
    fn parse_reads_what_emit_wrote((options, syn) in any_options()) {
        let bytes = emitted(&options);
        prop_assert!(bytes.len().is_multiple_of(4) && bytes.len() <= OPTIONS_LEN_MAX);
        let flags = if syn { Flags::SYN } else { Flags::ACK };
        prop_assert_eq!(Options::parse(&bytes, flags), options);
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..60), flags: u8) {
        let options = Options::parse(&bytes, Flags(flags));
        prop_assert!(emitted(&options).len() <= OPTIONS_LEN_MAX);
    }
}
