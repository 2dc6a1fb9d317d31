//! Extension headers of packets for this node (RFC 8200 section 4).

use super::Ipv6;
use super::fragment as fragments;
use super::input::Refusal;
use crate::ground::Core;
use crate::netapi::{Msg, Ty};
use crate::pktbuf::{Pkt, PktBuf};
use crate::trace::Reason;
use crate::wire::icmpv6::Problem;
use crate::wire::ipv6::{HEADER_LEN, Header, NextHeader};
use crate::wire::ipv6_ext::options::{Action, Opt, OptionType, Options, Placed};
use crate::wire::ipv6_ext::{Extension, fragment};

/// The longest header with options that is looked at, in bytes; a packet with a longer one is dropped (RFC 8504 section
/// 5.3 allows such a limit). It does not depend on how the packet lies in memory.
const OPTIONS_LEN_MAX: usize = 256;

/// Where the next header is named in the fixed header.
pub(super) const NEXT_HEADER_AT: usize = 6;

/// Where the type of a routing header stands in it; the segments left follow.
const ROUTING_TYPE_AT: usize = 2;

impl Ipv6<'_> {
    /// Goes through the extension headers and says who takes what follows them. The cursor moves there.
    pub(super) fn deliver(&self, core: &mut Core<'_>, packet: &Pkt, header: &Header) -> Result<Msg, Refusal> {
        let buf = &mut core.buf;
        buf.mark(packet, HEADER_LEN);
        let (mut next, mut named_at) = (header.next_header, NEXT_HEADER_AT);
        for number in 0..=self.config.extension_headers_max {
            let at = buf.marked(packet);
            let len = match next {
                // RFC 8200 section 4.3: only directly behind the fixed header; elsewhere it is not recognised.
                NextHeader::HOP_BY_HOP if number > 0 => break,
                NextHeader::HOP_BY_HOP | NextHeader::DESTINATION => {
                    let len = self.header_len(buf, packet)?;
                    self.options(buf, packet, len, header.dst.is_multicast())?;
                    len
                }
                NextHeader::ROUTING => {
                    let len = self.header_len(buf, packet)?;
                    let [_, segments_left] = buf.read_at::<2>(packet, ROUTING_TYPE_AT).unwrap_or_default();
                    // RFC 8200 section 4.4: with nothing left to visit, it is ignored; else its type must be known.
                    // Types 0 (RFC 5095) and 3 (RFC 6554, for routers of an RPL network) are not followed here.
                    if segments_left != 0 {
                        return Err(Refusal::problem(
                            Reason::Ipv6Option,
                            Problem::Field,
                            at + ROUTING_TYPE_AT,
                        ));
                    }
                    len
                }
                NextHeader::FRAGMENT if fragments::HERE => {
                    let bytes = buf
                        .read::<{ fragment::HEADER_LEN }>(packet)
                        .ok_or(Reason::Ipv6Malformed)?;
                    // RFC 6946 section 4: an atomic fragment stands alone.
                    if !fragment::Header::parse(&bytes).is_atomic() {
                        return Ok(Msg::up(Ty::Fragment, named_at as u16));
                    }
                    fragment::HEADER_LEN
                }
                // RFC 8200 section 4.7.
                NextHeader::NONE => return Err(Reason::NextHeaderUnknown.into()),
                _ => {
                    let message = Msg::up(Ty::Transport, u16::from(next.0));
                    if core.receives(message) {
                        return Ok(message);
                    }
                    break;
                }
            };
            if number == self.config.extension_headers_max {
                return Err(Reason::Ipv6Option.into());
            }
            let [following] = buf.read::<1>(packet).ok_or(Reason::Ipv6Malformed)?;
            named_at = at;
            next = NextHeader(following);
            buf.mark(packet, len);
        }
        Err(Refusal::problem(
            Reason::NextHeaderUnknown,
            Problem::NextHeader,
            named_at,
        ))
    }

    /// The length of the extension header at the cursor, in bytes.
    fn header_len(&self, buf: &PktBuf<'_>, packet: &Pkt) -> Result<usize, Refusal> {
        let [_, units] = buf.read::<2>(packet).ok_or(Reason::Ipv6Malformed)?;
        let len = (usize::from(units) + 1) * 8;
        if len > buf.len(packet) {
            let length_at = buf.marked(packet) + 1;
            return Err(Refusal::problem(Reason::Ipv6Malformed, Problem::Field, length_at));
        }
        Ok(len)
    }

    /// Looks at the options of the header at the cursor, `len` bytes long.
    fn options(&self, buf: &PktBuf<'_>, packet: &Pkt, len: usize, multicast: bool) -> Result<(), Refusal> {
        if len > OPTIONS_LEN_MAX {
            return Err(Reason::Ipv6Option.into());
        }
        let at = buf.marked(packet);
        let mut copy = [0; OPTIONS_LEN_MAX];
        let bytes = match buf.contiguous(packet).get(..len) {
            Some(bytes) => bytes,
            None => {
                let bytes = copy.get_mut(..len).ok_or(Reason::Ipv6Option)?;
                buf.copy_out(packet, 0, bytes);
                bytes
            }
        };
        let (header, _) = Extension::parse(bytes).map_err(|_| Reason::Ipv6Malformed)?;
        self.judge(Options::new(&header), at, multicast)
    }

    /// RFC 8200 section 4.2: what is done about options that are not known. `at` is where their header begins.
    fn judge(&self, options: Options<'_>, at: usize, multicast: bool) -> Result<(), Refusal> {
        let mut known = 0;
        for option in options {
            let Placed { offset, option } = option.map_err(|_| Reason::Ipv6Malformed)?;
            let kind = match option {
                Opt::Pad1 | Opt::PadN(_) => continue,
                // No RPL here: the option is treated by the action bits of its type.
                Opt::Rpl(rpl) if rpl.critical => OptionType::RPL_CRITICAL,
                Opt::Rpl(_) => OptionType::RPL,
                Opt::Other { kind, .. } => kind,
            };
            known += 1;
            if known > self.config.options_max {
                return Err(Reason::Ipv6Option.into());
            }
            match kind.action() {
                Action::Skip => {}
                Action::ProblemUnlessMulticast if multicast => return Err(Reason::Ipv6Option.into()),
                Action::Discard => return Err(Reason::Ipv6Option.into()),
                Action::Problem | Action::ProblemUnlessMulticast => {
                    return Err(Refusal::problem(Reason::Ipv6Option, Problem::Option, at + offset));
                }
            }
        }
        Ok(())
    }
}
