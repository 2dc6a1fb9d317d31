use std::collections::HashSet;
use std::vec::Vec;

use super::*;

const NODE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const PEER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

fn source(seed: u64) -> IsnSource {
    IsnSource::new(&mut Rng::new(seed))
}

fn siphash(bytes: &[u8]) -> u64 {
    // The key of the published vectors: 00 01 .. 0f.
    let mut hash = SipHash::new([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
    let (words, rest) = bytes.as_chunks();
    for word in words {
        hash.add(u64::from_le_bytes(*word));
    }
    let mut last = [0; 7];
    last[..rest.len()].copy_from_slice(rest);
    hash.finish(last, bytes.len())
}

/// The worked example of the paper (appendix A), and vectors that its authors published beside it: message 00 01 02 ..
#[test]
fn the_hash_is_siphash_2_4() {
    let message: Vec<u8> = (0..64).collect();
    assert_eq!(siphash(&message[..15]), 0xa129_ca61_49be_45e5);
    assert_eq!(siphash(&[]), 0x726f_db47_dd0e_0e31);
    assert_eq!(siphash(&message[..1]), 0x74f8_39c5_93dc_67fd);
    assert_eq!(siphash(&message[..7]), 0xab02_00f5_8b01_d137);
    assert_eq!(siphash(&message[..8]), 0x93f5_f579_9a93_2462);
}

/// RFC 6528 section 3: the clock ticks every 4 us.
#[test]
fn xt14_the_numbers_of_a_pair_of_endpoints_rise_with_time() {
    let source = source(1);
    let at = |us| source.isn(Instant::from_micros(us), (NODE, 80), (PEER, 50_000));
    for start in [
        0,
        3,
        1_000_000,
        1 << 34,
        u64::from(u32::MAX) * 4,
        u64::MAX - 4_000_000,
    ] {
        assert_eq!(at(start + 4) - at(start), 1);
        assert_eq!(at(start + 4_000_000) - at(start), 1_000_000);
    }
}

#[test]
fn xt14_every_part_of_the_pair_and_the_secret_changes_the_number() {
    let now = Instant::from_micros(1_000_000);
    let mut seen = HashSet::new();
    let mut add = |source: &IsnSource, local, remote| seen.insert(source.isn(now, local, remote));
    let one = source(1);
    assert!(add(&one, (NODE, 80), (PEER, 50_000)));
    assert!(add(&one, (PEER, 80), (NODE, 50_000)));
    assert!(add(&one, (NODE, 50_000), (PEER, 80)));
    assert!(add(&one, (PEER, 50_000), (NODE, 80)));
    assert!(add(&source(2), (NODE, 80), (PEER, 50_000)));
    for bit in 0..128 {
        let other = |addr: Ipv6Addr| Ipv6Addr::from_bits(addr.to_bits() ^ 1 << bit);
        assert!(add(&one, (other(NODE), 80), (PEER, 50_000)));
        assert!(add(&one, (NODE, 80), (other(PEER), 50_000)));
    }
    for bit in 0..16 {
        assert!(add(&one, (NODE, 80 ^ 1 << bit), (PEER, 50_000)));
        assert!(add(&one, (NODE, 80), (PEER, 50_000 ^ 1 << bit)));
    }
}

/// Who sees the number for one port knows none of another one: each bit differs as often as not.
#[test]
fn xt14_a_number_does_not_tell_the_next_one() {
    let source = source(3);
    let now = Instant::ZERO;
    let mut ones = [0; 32];
    let ports = 2000_u16;
    for port in 0..ports {
        let pair = [port, port + 1].map(|port| source.isn(now, (NODE, 80), (PEER, port)));
        let difference = pair[0].0 ^ pair[1].0;
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += difference >> bit & 1;
        }
    }
    // Five standard deviations of a fair coin.
    for ones in ones {
        assert!((888..=1112).contains(&ones), "{ones} of {ports}");
    }
}
