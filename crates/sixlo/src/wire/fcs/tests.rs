use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// The register of IEEE 802.15.4-2020, figure 7-5, one bit at a time.
fn bit_by_bit(frame: &[u8]) -> u16 {
    let mut register = 0_u16;
    for byte in frame {
        for bit in 0..8 {
            let feedback = (register & 1) ^ u16::from(byte >> bit & 1);
            register >>= 1;
            if feedback == 1 {
                register ^= 0x8408;
            }
        }
    }
    register
}

#[test]
fn the_example_of_the_standard_is_met() {
    // IEEE 802.15.4-2020, 7.2.11, bits in the order of transmission: MHR 0100 0000 0000 0000 0101 0110,
    // FCS 0010 0111 1001 1110.
    assert_eq!(compute(&[0x02, 0x00, 0x6a]).to_le_bytes(), [0xe4, 0x79]);
    // The check value of this CRC (known as KERMIT) in catalogues.
    assert_eq!(compute(b"123456789"), 0x2189);
    const EMPTY: u16 = compute(&[]);
    assert_eq!(EMPTY, 0);
}

#[test]
fn a_frame_too_short_for_a_frame_check_sequence_is_refused() {
    assert_eq!(check(&[]), Err(ParseError::Truncated));
    assert_eq!(check(&[0]), Err(ParseError::Truncated));
    assert_eq!(check(&[0, 0]), Ok(&[][..]));
    assert_eq!(append(&mut [0; 4], 3), Err(ParseError::NoRoom));
    assert_eq!(append(&mut [0; 4], 5), Err(ParseError::NoRoom));
    assert_eq!(append(&mut [0; 4], 2), Ok(4));
}

proptest! {
    #[test]
    fn it_equals_the_shift_register(frame: Vec<u8>) {
        prop_assert_eq!(compute(&frame), bit_by_bit(&frame));
    }

    #[test]
    fn what_append_wrote_passes_and_every_burst_of_16_bits_is_found(
        body in proptest::collection::vec(any::<u8>(), 0..125),
        burst in 1_u32..=0xffff,
        at in any::<proptest::sample::Index>(),
    ) {
        let mut frame = body.clone();
        frame.extend([0; 2]);
        prop_assert_eq!(append(&mut frame, body.len()), Ok(frame.len()));
        prop_assert_eq!(check(&frame), Ok(&body[..]));
        let bit = at.index(frame.len() * 8 - 15);
        for k in (0..16).filter(|k| burst >> k & 1 == 1) {
            frame[(bit + k) / 8] ^= 1 << ((bit + k) % 8);
        }
        prop_assert_eq!(check(&frame), Err(ParseError::Checksum));
    }
}
