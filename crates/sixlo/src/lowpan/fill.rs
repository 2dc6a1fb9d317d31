//! How long a packet is that fills frames: for those who choose the size of what they send.

use super::{Lowpan, Strategy};
use crate::wire::iphc::{self, Contexts, Link};
use crate::wire::ipv6;
use crate::wire::lowpan::frag::Fragment;
use crate::wire::lowpan::rfrag::Rfrag;

impl Lowpan<'_> {
    /// The length in bytes of the longest packet with this header that is sent in `frames` frames, each full as far as
    /// fragments can be, to a neighbour for which a frame has `room`. Its fixed header is compressed, what follows is not.
    pub fn packet_len(
        &self,
        header: &ipv6::Header,
        link: &Link,
        strategy: Strategy,
        room: usize,
        frames: usize,
    ) -> usize {
        let mut out = [0; ipv6::HEADER_LEN + 16];
        let bytes = ipv6::Header {
            payload_len: 0,
            ..*header
        }
        .emit();
        let compressed = iphc::compress(&bytes, link, &Contexts(self.contexts), &mut out);
        let written = compressed.map_or(1 + ipv6::HEADER_LEN, |compressed| compressed.written);
        // Compressing makes a packet so much shorter, in bytes.
        let saved = |len: usize| (len + ipv6::HEADER_LEN).saturating_sub(written);
        let further = frames.saturating_sub(1);
        if further == 0 {
            return saved(room);
        }
        if strategy == Strategy::Recover {
            return saved(frames * room.saturating_sub(Rfrag::LEN));
        }
        // RFC 4944 section 5.3: what a fragment stands for is a multiple of eight bytes, but for the last one.
        let first = match strategy {
            Strategy::Forward => ipv6::HEADER_LEN,
            _ => saved(room.saturating_sub(Fragment::FIRST_LEN)) / 8 * 8,
        };
        let next = room.saturating_sub(Fragment::SUBSEQUENT_LEN);
        first + (further - 1) * (next / 8 * 8) + next
    }
}
