use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// RFC 1071 section 4.1, word by word.
fn slow(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn checksum(bytes: &[u8]) -> u16 {
    let mut sum = Checksum::new();
    sum.add(bytes);
    sum.finish()
}

#[test]
fn the_example_of_rfc_1071_section_3_sums_to_ddf2() {
    assert_eq!(
        !checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]),
        0xddf2
    );
}

#[test]
fn all_ones_and_all_zeros_of_every_length_agree_with_the_slow_sum() {
    for len in 0..200 {
        for byte in [0x00, 0xff] {
            let bytes = std::vec![byte; len];
            assert_eq!(checksum(&bytes), slow(&bytes), "{len} bytes of {byte:#x}");
        }
    }
}

#[test]
fn the_largest_datagram_does_not_overflow() {
    let bytes = std::vec![0xff; 70_000];
    assert_eq!(checksum(&bytes), slow(&bytes));
}

#[test]
fn a_udp_datagram_with_its_checksum_is_valid_and_with_a_changed_bit_is_not() {
    let src = "fd00::2".parse().unwrap();
    let dst = "fd00::1".parse().unwrap();
    let mut datagram = [0x16, 0x33, 0x16, 0x33, 0, 11, 0, 0, b'a', b'b', b'c'];
    let mut sum = Checksum::pseudo_header(&src, &dst, NextHeader::UDP, 11);
    sum.add(&datagram);
    // The words of RFC 8200 section 8.1, added by hand.
    let by_hand = 0xfd00_u32 + 2 + 0xfd00 + 1 + 11 + 17 + 0x1633 + 0x1633 + 11 + 0x6162 + 0x6300;
    let by_hand = (by_hand & 0xffff) + (by_hand >> 16);
    assert_eq!(u32::from(sum.finish_udp()), 0xffff - by_hand);
    datagram[6..8].copy_from_slice(&sum.finish_udp().to_be_bytes());
    let check = |bytes: &[u8]| {
        let mut sum = Checksum::pseudo_header(&src, &dst, NextHeader::UDP, 11);
        sum.add(bytes);
        sum.is_valid()
    };
    assert!(check(&datagram));
    datagram[9] ^= 0x10;
    assert!(!check(&datagram));
}

#[test]
fn a_udp_checksum_of_zero_goes_out_as_all_ones() {
    let mut sum = Checksum::new();
    sum.add(&[0xff, 0xff]);
    assert_eq!((sum.finish(), sum.finish_udp()), (0, 0xffff));
}

proptest! {
    #[test]
    fn any_division_into_pieces_gives_the_slow_sum(bytes in proptest::collection::vec(any::<u8>(), 0..300),
                                                   cuts in proptest::collection::vec(0..300_usize, 0..6)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut sum = Checksum::new();
        for pair in cuts.windows(2) {
            sum.add(&bytes[pair[0]..pair[1]]);
        }
        prop_assert_eq!(sum.finish(), slow(&bytes));
    }
}

proptest! {
    #[test]
    fn words_and_bytes_give_the_same_sum(words in prop::collection::vec(any::<u16>(), 0..40)) {
        let (mut by_word, mut by_byte) = (Checksum::new(), Checksum::new());
        for word in words {
            by_word.add_word(word);
            by_byte.add(&word.to_be_bytes());
        }
        prop_assert_eq!(by_word.finish(), by_byte.finish());
    }
}
