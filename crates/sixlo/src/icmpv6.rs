//! ICMPv6 (RFC 4443): answers echo requests, tells sources what became of their packets, and hands the rest to whoever
//! registered for it.

use core::net::Ipv6Addr;

use crate::ground::Cx;
use crate::netapi::{Msg, Next, Ty};
use crate::pktbuf::{Class, NoRoom, Pkt, PktBuf};
use crate::time::{Duration, Instant};
use crate::trace::{Module, PktId, Reason, Sink};
use crate::udp;
use crate::wire::checksum::Checksum;
use crate::wire::icmpv6::{ErrorMessage, HEADER_LEN, QUOTE_LEN_MAX, header_len};
use crate::wire::ipv6::{self, Kind, NextHeader};
use crate::wire::ipv6_ext;

#[cfg(test)]
mod tests;

/// The type of a redirect (RFC 4861 section 4.5), which no error may answer (RFC 4443 section 2.4 (e.2)).
const REDIRECT: u8 = 137;
/// ECN in the second byte of an IPv6 header (RFC 3168 section 5).
const ECN: u8 = 0b0011_0000;
/// The type of an echo request.
const ECHO_REQUEST: u8 = 128;
/// The type of an echo reply.
const ECHO_REPLY: u8 = 129;

/// How ICMPv6 behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmpv6Config {
    /// One more error may be sent each time this span has passed (RFC 4443 section 2.4 (f): a token bucket, "N" per
    /// second). Default 100 ms.
    pub error_interval: Duration,
    /// Errors that may be sent at once after a quiet time (RFC 4443 section 2.4 (f), "B"). Default 10.
    pub error_burst: u8,
    /// Echo requests are answered (RFC 4443 section 4.2: they must be). Default true.
    pub answer_echo: bool,
}

impl Default for Icmpv6Config {
    fn default() -> Self {
        Self {
            error_interval: Duration::from_millis(100),
            error_burst: 10,
            answer_echo: true,
        }
    }
}

/// The module.
pub struct Icmpv6 {
    config: Icmpv6Config,
    /// Errors sent of the burst, as far as time has not made up for them.
    spent: u8,
    /// Up to when time has been credited.
    credited: Instant,
}

impl Icmpv6 {
    /// The module, with all its errors still to send.
    pub const fn new(config: Icmpv6Config) -> Self {
        Self {
            config,
            spent: 0,
            credited: Instant::ZERO,
        }
    }

    /// How it behaves.
    pub const fn config(&self) -> Icmpv6Config {
        self.config
    }

    /// Changes how it behaves.
    pub const fn config_mut(&mut self) -> &mut Icmpv6Config {
        &mut self.config
    }

    /// A message on its way up; the cursor stands at its beginning.
    pub fn receive<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, packet: Pkt) -> Next {
        let kind = match check(&cx.core.buf, &packet) {
            Ok(kind) => kind,
            Err(reason) => return Next::Drop(packet, reason),
        };
        if kind == ECHO_REQUEST && self.config.answer_echo {
            return match echo(cx, &packet) {
                Ok(()) => Next::To(Msg::down(Ty::Transport, u16::from(NextHeader::ICMPV6.0)), packet),
                Err(reason) => Next::Drop(packet, reason),
            };
        }
        let message = Msg::up(Ty::Icmpv6, u16::from(kind));
        if cx.core.receives(message) {
            Next::To(message, packet)
        } else {
            Next::Drop(packet, Reason::Icmpv6Unhandled)
        }
    }

    /// The error that tells the source of `packet` about it, ready for the IPv6 output; `None` where RFC 4443 section
    /// 2.4 (e) forbids one, the rate is used up (section 2.4 (f)) or memory is short. `sender` is the address to answer
    /// from if the packet was sent to one of ours.
    ///
    /// The cursor of `packet` is moved to its beginning.
    pub fn error<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        packet: &Pkt,
        message: ErrorMessage,
        own: impl Fn(&Ipv6Addr) -> bool,
    ) -> Option<Pkt> {
        let marked = cx.core.buf.marked(packet);
        cx.core.buf.unmark(packet, marked);
        let mut about = About::of(&cx.core.buf, packet)?;
        if !may_answer(&cx.core.buf, packet, &about, message) || !self.take_token(cx.now) {
            return None;
        }
        let quote_len = cx.core.buf.len(packet).min(QUOTE_LEN_MAX);
        // Traffic class and label are zero.
        about.0[..4].copy_from_slice(&[0x60, 0, 0, 0]);
        let ours = own(&about.dst());
        let head = about.answer(ours);
        let cause = cx.core.buf.id(packet);
        let iface = cx.core.buf.meta(packet).iface;
        let len = ipv6::HEADER_LEN + HEADER_LEN + quote_len;
        let error = cx
            .new_packet(Module::Icmpv6, Class::Transmit, 0, len, PktId::NONE, cause)
            .ok()?;
        cx.core.buf.meta_mut(&error).iface = iface;
        match write_error(&mut cx.core.buf, &error, packet, head, message) {
            Ok(()) => Some(error),
            Err(reason) => {
                let _ended = cx.drop(error, Module::Icmpv6, reason);
                None
            }
        }
    }

    /// Takes one token from the bucket, filled by the time that has passed.
    fn take_token(&mut self, now: Instant) -> bool {
        let interval = self.config.error_interval.as_micros();
        // Added up and not divided: a division of 64 bits takes 900 bytes of code, and there is little to earn.
        while self.spent > 0 && now.since(self.credited).as_micros() >= interval {
            self.spent -= 1;
            self.credited += Duration::from_micros(interval);
        }
        if self.spent == 0 {
            self.credited = now;
        }
        let free = self.spent < self.config.error_burst;
        self.spent += u8::from(free);
        free
    }
}

/// The IPv6 header of the packet that an answer is about.
struct About([u8; ipv6::HEADER_LEN]);

impl About {
    fn of(buf: &PktBuf<'_>, packet: &Pkt) -> Option<Self> {
        udp::header_bytes(buf, packet).map(Self)
    }

    fn src(&self) -> Ipv6Addr {
        let [_, _, _, _, _, _, _, _, addresses @ ..] = &self.0;
        addresses
            .first_chunk()
            .copied()
            .map_or(Ipv6Addr::UNSPECIFIED, Ipv6Addr::from_octets)
    }

    fn dst(&self) -> Ipv6Addr {
        self.0
            .last_chunk()
            .copied()
            .map_or(Ipv6Addr::UNSPECIFIED, Ipv6Addr::from_octets)
    }

    /// Makes it the header of the answer, as the IPv6 output takes it: from the destination, if that is `ours`, else from an
    /// address that it chooses.
    fn answer(&mut self, ours: bool) -> &[u8] {
        let (src, dst) = (self.src(), self.dst());
        let [_, _, _, _, _, _, next_header, hop_limit, addresses @ ..] = &mut self.0;
        (*next_header, *hop_limit) = (NextHeader::ICMPV6.0, 0);
        let (first, last) = addresses.split_at_mut(16);
        let own = if ours { dst } else { Ipv6Addr::UNSPECIFIED };
        first.copy_from_slice(&own.octets());
        last.copy_from_slice(&src.octets());
        &self.0
    }
}

/// The type of a message, if the message is whole and its checksum right.
fn check(buf: &PktBuf<'_>, packet: &Pkt) -> Result<u8, Reason> {
    let [kind] = buf.read::<1>(packet).ok_or(Reason::Icmpv6Malformed)?;
    if buf.len(packet) < header_len(kind) || !udp::is_intact(buf, packet, NextHeader::ICMPV6) {
        return Err(Reason::Icmpv6Malformed);
    }
    Ok(kind)
}

/// Turns an echo request into its reply, over the same bytes (RFC 4443 section 4.2).
fn echo<S: Sink>(cx: &mut Cx<'_, '_, S>, packet: &Pkt) -> Result<(), Reason> {
    let buf = &mut cx.core.buf;
    let mut request = About::of(buf, packet).ok_or(Reason::Icmpv6Malformed)?;
    if matches!(ipv6::kind(&request.src()), Kind::Unspecified | Kind::Multicast) {
        return Err(Reason::Ipv6Address);
    }
    buf.write_bytes(packet, 0, &[ECHO_REPLY, 0, 0, 0])?;
    write_sum(buf, packet, 0)?;
    // What congestion the request met is no property of the reply (RFC 3168 section 5).
    request.0[1] &= !ECN;
    // The reply comes from the address that was asked; for a multicast one the output chooses (section 4.2).
    let ours = !request.dst().is_multicast();
    let head = request.answer(ours);
    // Extension headers go; there was a header of IPv6 in front of them.
    buf.unmark(packet, ipv6::HEADER_LEN);
    buf.discard_marked(packet);
    buf.write_bytes(packet, 0, head)?;
    cx.turn_around(packet, Module::Icmpv6);
    Ok(())
}

/// Writes the sum that stands in the checksum field of a message until the IPv6 output adds the addresses. The message
/// begins `offset` bytes behind the cursor.
#[cfg_attr(target_os = "none", inline(never))]
fn write_sum(buf: &mut PktBuf<'_>, packet: &Pkt, offset: usize) -> Result<(), NoRoom> {
    let sum = !udp::sum(buf, packet, offset, Checksum::new()).finish();
    buf.write_bytes(packet, offset + 2, &sum.to_be_bytes())
}

/// Writes headers and quote of an error.
fn write_error(
    buf: &mut PktBuf<'_>,
    error: &Pkt,
    about: &Pkt,
    head: &[u8],
    message: ErrorMessage,
) -> Result<(), Reason> {
    buf.write_bytes(error, 0, head)?;
    buf.write_bytes(error, ipv6::HEADER_LEN, &message.head())?;
    // In steps, because a packet cannot be read and another written at once.
    let (start, mut offset, mut step) = (ipv6::HEADER_LEN + HEADER_LEN, 0, [0; 64]);
    while start + offset < buf.len(error) {
        let room_left = (buf.len(error) - start - offset).min(step.len());
        let copied = buf.copy_out(about, offset, &mut step[..room_left]);
        if copied == 0 {
            return Err(Reason::Icmpv6Malformed);
        }
        buf.write_bytes(error, start + offset, &step[..copied])?;
        offset += copied;
    }
    Ok(write_sum(buf, error, ipv6::HEADER_LEN)?)
}

/// Whether RFC 4443 section 2.4 (e) allows an error about this packet.
fn may_answer(buf: &PktBuf<'_>, packet: &Pkt, header: &About, message: ErrorMessage) -> bool {
    // (e.3) to (e.5): not about a packet to several nodes, except packet too big and unknown options.
    let to_many = header.dst().is_multicast() || buf.meta(packet).multicast;
    // (e.6): not to a source that is not one node.
    let no_one_node = matches!(
        ipv6::kind(&header.src()),
        Kind::Unspecified | Kind::Multicast | Kind::Loopback
    );
    if (to_many && !message.may_answer_multicast()) || no_one_node {
        return false;
    }
    // (e.1), (e.2): not about an error or a redirect.
    let mut beginning = [0; 128];
    let len = buf.copy_out(packet, ipv6::HEADER_LEN, &mut beginning);
    let beginning = beginning.get(..len).unwrap_or_default();
    match ipv6_ext::skip(NextHeader(header.0[6]), beginning) {
        Ok((NextHeader::ICMPV6, message)) => message
            .first()
            .is_some_and(|kind| *kind >= 128 && *kind != REDIRECT),
        // Extension headers that go on beyond what is looked at may hide an error: silence is the safe side. Those that
        // the end of the packet cuts off hide nothing.
        Err(_) => beginning.len() == buf.len(packet) - ipv6::HEADER_LEN,
        Ok(_) => true,
    }
}
