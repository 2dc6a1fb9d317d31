//! Bits in a ring, eight at a time. A ring of `len` bits begins anew behind its last one; places are below `len`.

/// The bit at a place.
pub(super) fn get(bits: &[u8], place: usize) -> bool {
    bits.get(place / 8)
        .is_some_and(|byte| byte >> (place % 8) & 1 != 0)
}

/// Gives `count` bits from a place on a value.
pub(super) fn set(bits: &mut [u8], len: usize, place: usize, count: usize, value: bool) {
    let (mut at, mut left) = (place, count);
    while left > 0 {
        let Some(byte) = bits.get_mut(at / 8) else { return };
        let step = (8 - at % 8).min(len - at).min(left);
        let mask = (0xff >> (8 - step)) << (at % 8);
        if value {
            *byte |= mask;
        } else {
            *byte &= !mask;
        }
        left -= step;
        at = behind(at, step, len);
    }
}

/// How many bits in a row have a value from a place on, at most `most`.
pub(super) fn run(bits: &[u8], len: usize, place: usize, most: usize, value: bool) -> usize {
    let (mut at, mut done) = (place, 0);
    while done < most {
        let Some(&byte) = bits.get(at / 8) else { break };
        let others = if value { !byte } else { byte } >> (at % 8);
        let step = (8 - at % 8).min(len - at);
        let same = step.min(others.trailing_zeros() as usize);
        done += same;
        if same < step {
            break;
        }
        at = behind(at, step, len);
    }
    done.min(most)
}

/// The place `step` behind another, if that does not pass the end of the ring.
const fn behind(at: usize, step: usize, len: usize) -> usize {
    if at + step < len { at + step } else { 0 }
}
