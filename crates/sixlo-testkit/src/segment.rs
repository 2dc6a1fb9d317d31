//! TCP segments.

use sixlo::wire::tcp::options::Options;
use sixlo::wire::tcp::{Flags, HEADER_LEN, Header, OPTIONS_LEN_MAX};

/// A segment: its header is written back as it was, and its options mean the same when written anew.
pub fn tcp_segment(segment: &[u8]) {
    let Some((bytes, rest)) = segment.split_first_chunk::<HEADER_LEN>() else {
        return;
    };
    let Ok(header) = Header::parse(bytes, segment.len()) else {
        return;
    };
    let mut as_sent = *bytes;
    as_sent[12] &= 0xf0;
    assert_eq!(header.emit(), as_sent);
    let options = &rest[..usize::from(header.options_len)];
    let parsed = Options::parse(options, header.flags);
    let mut out = [0; OPTIONS_LEN_MAX];
    let len = parsed.emit(&mut out).expect("options of any kind fit");
    assert_eq!(len, parsed.emit_len());
    let again = Options::parse(&out[..len], header.flags);
    // Four blocks leave no room for timestamps that are set apart as they should be.
    let most = parsed.sack.as_slice().len().min(parsed.sack_room());
    assert_eq!(again.sack.as_slice(), &parsed.sack.as_slice()[..most]);
    let expected = Options {
        sack: again.sack,
        ..parsed
    };
    assert_eq!(again, expected);
    assert!(!header.flags.contains(Flags::SYN) || parsed.sack.is_empty());
}
