//! What an application calls: mailboxes for messages of its choice, and UDP sockets, which are mailboxes with a port.

use core::net::Ipv6Addr;

use crate::ground::{Core, Cx};
use crate::netapi::{Dir, Msg, Ty};
use crate::netreg::Receiver;
use crate::pktbuf::{Class, Done, Pkt, PktBuf, Queue};
use crate::trace::{End, Module, PktId, Reason, Sink};
use crate::udp::ipv6_header;
use crate::wire::ipv6::{self, NextHeader};
use crate::wire::udp;

#[cfg(test)]
mod tests;

/// A mailbox: packets that wait for the application, at most `capacity`. The empty value is all-zero bits.
#[derive(Debug, Default)]
pub struct Mailbox {
    queue: Queue,
    open: bool,
    /// The UDP port, 0 if it is no socket.
    port: u16,
    capacity: u16,
}

impl Mailbox {
    /// A free place.
    pub const EMPTY: Self = Self {
        queue: Queue::EMPTY,
        open: false,
        port: 0,
        capacity: 0,
    };
}

/// The handle of a mailbox or a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailboxId(pub u8);

/// Why a socket could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// No mailbox is free.
    NoMailbox,
    /// The registry has no free line.
    RegistryFull,
    /// Port 0 cannot be bound.
    PortZero,
}

/// Why a datagram was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The socket is not open.
    NotOpen,
    /// The payload is longer than what the network carries: 1232 bytes.
    TooLong,
    /// There was no room for it, now.
    NoRoom(Reason),
}

/// What came in with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of the payload; more than was copied if the application's buffer was too short.
    pub len: usize,
    /// Where it came from.
    pub src: Ipv6Addr,
    /// The port it came from.
    pub src_port: u16,
    /// The address it was sent to.
    pub dst: Ipv6Addr,
    /// The hop limit that was left.
    pub hop_limit: u8,
    /// The identity of the datagram.
    pub id: PktId,
}

/// The longest UDP payload: the MTU without IPv6 and UDP header (RFC 4944 section 4), in bytes.
pub const UDP_PAYLOAD_LEN_MAX: usize = ipv6::MTU_MIN - ipv6::HEADER_LEN - udp::HEADER_LEN;

/// The mailboxes of a stack.
pub struct Sockets<'a> {
    boxes: &'a mut [Mailbox],
}

impl<'a> Sockets<'a> {
    /// Takes the table over, with all mailboxes closed.
    pub fn new(boxes: &'a mut [Mailbox]) -> Self {
        for mailbox in boxes.iter_mut() {
            *mailbox = Mailbox::EMPTY;
        }
        Self { boxes }
    }

    /// Gives the table back.
    pub fn into_table(self) -> &'a mut [Mailbox] {
        self.boxes
    }

    fn opened(&self, id: MailboxId) -> Option<&Mailbox> {
        self.boxes.get(usize::from(id.0)).filter(|mailbox| mailbox.open)
    }

    /// Opens a mailbox that holds up to `capacity` packets. It receives what it is registered for.
    pub fn open(&mut self, capacity: u16) -> Result<MailboxId, OpenError> {
        let (id, _) = self.open_on(0, capacity)?;
        Ok(id)
    }

    /// Opens a UDP socket on a port. Several may be open on the same port: each gets a copy.
    pub fn bind(&mut self, core: &mut Core<'_>, port: u16, capacity: u16) -> Result<MailboxId, OpenError> {
        if port == 0 {
            return Err(OpenError::PortZero);
        }
        let (id, socket) = self.open_on(port, capacity)?;
        let entered = core.registry.enter(Msg::up(Ty::Udp, port), false, receiver(id));
        if entered.is_err() {
            *socket = Mailbox::EMPTY;
        }
        entered.map(|()| id).map_err(|_| OpenError::RegistryFull)
    }

    /// Opens the first mailbox that is free.
    #[cfg_attr(target_os = "none", inline(never))]
    fn open_on(&mut self, port: u16, capacity: u16) -> Result<(MailboxId, &mut Mailbox), OpenError> {
        let mut boxes = (0..=u8::MAX).zip(self.boxes.iter_mut());
        let (id, mailbox) = boxes
            .find(|(_, mailbox)| !mailbox.open)
            .ok_or(OpenError::NoMailbox)?;
        *mailbox = Mailbox {
            open: true,
            port,
            capacity,
            ..Mailbox::EMPTY
        };
        Ok((MailboxId(id), mailbox))
    }

    /// Closes a mailbox or socket; what waits in it is dropped. False if it is not open.
    pub fn close<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: MailboxId) -> bool {
        let Some(mailbox) = self
            .boxes
            .get_mut(usize::from(id.0))
            .filter(|mailbox| mailbox.open)
        else {
            return false;
        };
        cx.core.registry.remove_all(receiver(id));
        while let Some(packet) = cx.core.buf.pop(&mut mailbox.queue) {
            let _ended = cx.drop(packet, Module::App, Reason::TornDown);
        }
        *mailbox = Mailbox::EMPTY;
        true
    }

    /// Registers a mailbox for messages like `msg`, of any context if `any`.
    pub fn register(
        &mut self,
        core: &mut Core<'_>,
        id: MailboxId,
        msg: Msg,
        any: bool,
    ) -> Result<(), OpenError> {
        self.opened(id).ok_or(OpenError::NoMailbox)?;
        core.registry
            .enter(msg, any, receiver(id))
            .map_err(|_| OpenError::RegistryFull)
    }

    /// Removes a mailbox from messages like `msg`; true if it was registered for them.
    pub fn unregister(&mut self, core: &mut Core<'_>, id: MailboxId, msg: Msg) -> bool {
        core.registry.remove(msg, receiver(id))
    }

    /// Takes a packet into a mailbox; it is dropped if the mailbox is full.
    pub(crate) fn deliver<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        instance: u8,
        msg: Msg,
        packet: Pkt,
    ) -> Done {
        let mailbox = self
            .boxes
            .get_mut(usize::from(instance))
            .filter(|mailbox| mailbox.open);
        match mailbox {
            Some(mailbox) if mailbox.queue.len() < usize::from(mailbox.capacity) => {
                cx.core.buf.set_msg(&packet, msg);
                cx.core.buf.push(&mut mailbox.queue, packet)
            }
            _ => cx.drop(packet, Module::App, Reason::SocketFull),
        }
    }

    /// Packets that wait in a mailbox.
    pub fn waiting(&self, id: MailboxId) -> usize {
        self.opened(id).map_or(0, |mailbox| mailbox.queue.len())
    }

    /// Takes the first datagram out of a socket and copies its payload into `out`. `None` if nothing waits, or what waits
    /// first is no datagram that came in ([`receive_any`](Self::receive_any) takes it).
    pub fn receive<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: MailboxId,
        out: &mut [u8],
    ) -> Option<Received> {
        let mailbox = self.boxes.get_mut(usize::from(id.0))?;
        let first = cx.core.buf.msg(mailbox.queue.front()?);
        if (first.dir, first.ty) != (Dir::Up, Ty::Udp) {
            return None;
        }
        let packet = cx.core.buf.pop(&mut mailbox.queue)?;
        let received = describe(&cx.core.buf, &packet);
        cx.core.buf.copy_out(&packet, 0, out);
        let _ended = cx.end(packet, Module::App, End::Delivered);
        received
    }

    /// Takes the first packet out of a mailbox and copies it into `out` from the cursor on; gives its message and its
    /// whole length. `None` if nothing waits.
    pub fn receive_any<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: MailboxId,
        out: &mut [u8],
    ) -> Option<(Msg, usize)> {
        let mailbox = self.boxes.get_mut(usize::from(id.0))?;
        let packet = cx.core.buf.pop(&mut mailbox.queue)?;
        let (msg, len) = (cx.core.buf.msg(&packet), cx.core.buf.len(&packet));
        cx.core.buf.copy_out(&packet, 0, out);
        let _ended = cx.end(packet, Module::App, End::Delivered);
        Some((msg, len))
    }

    /// A packet of an application's own protocol, ready for the IPv6 layer.
    pub(crate) fn transport<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        dst: Ipv6Addr,
        next_header: NextHeader,
        payload: &[u8],
    ) -> Result<Pkt, SendError> {
        let len = ipv6::HEADER_LEN + payload.len();
        if len > ipv6::MTU_MIN {
            return Err(SendError::TooLong);
        }
        let packet = cx
            .new_packet(Module::App, Class::Transmit, 0, len, PktId::NONE, PktId::NONE)
            .map_err(SendError::NoRoom)?;
        match write_packet(&mut cx.core.buf, &packet, next_header, &dst, payload) {
            Ok(()) => Ok(packet),
            Err(reason) => {
                let _ended = cx.drop(packet, Module::App, reason);
                Err(SendError::NoRoom(reason))
            }
        }
    }

    /// A datagram ready for the UDP layer: IPv6 and UDP header in the making, and the payload.
    pub(crate) fn datagram<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: MailboxId,
        dst: (Ipv6Addr, u16),
        payload: &[u8],
    ) -> Result<Pkt, SendError> {
        let src_port = self
            .opened(id)
            .filter(|socket| socket.port != 0)
            .ok_or(SendError::NotOpen)?
            .port;
        if payload.len() > UDP_PAYLOAD_LEN_MAX {
            return Err(SendError::TooLong);
        }
        let len = ipv6::HEADER_LEN + udp::HEADER_LEN + payload.len();
        let packet = cx
            .new_packet(Module::App, Class::Transmit, 0, len, PktId::NONE, PktId::NONE)
            .map_err(SendError::NoRoom)?;
        match write_datagram(&mut cx.core.buf, &packet, src_port, dst, payload) {
            Ok(()) => Ok(packet),
            Err(reason) => {
                let _ended = cx.drop(packet, Module::App, reason);
                Err(SendError::NoRoom(reason))
            }
        }
    }

    /// Ends every packet that is kept here.
    pub fn give_up<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        for mailbox in self.boxes.iter_mut() {
            while let Some(packet) = cx.core.buf.pop(&mut mailbox.queue) {
                let _ended = cx.drop(packet, Module::App, reason);
            }
        }
    }

    /// Shows every packet that is kept here to an audit.
    pub fn holds(&self, buf: &PktBuf<'_>, see: &mut dyn FnMut(&Pkt)) {
        for mailbox in self.boxes.iter() {
            buf.walk(&mailbox.queue, see);
        }
    }
}

const fn receiver(id: MailboxId) -> Receiver {
    Receiver {
        module: Module::App,
        instance: id.0,
    }
}

/// Where a datagram came from. Its headers lie before the cursor.
#[inline]
fn describe(buf: &PktBuf<'_>, packet: &Pkt) -> Option<Received> {
    let header = ipv6_header(buf, packet)?;
    let ports = buf.read_back::<{ udp::HEADER_LEN }>(packet, udp::HEADER_LEN)?;
    Some(Received {
        len: buf.len(packet),
        src: header.src,
        src_port: udp::Header::parse(&ports).src_port,
        dst: header.dst,
        hop_limit: header.hop_limit,
        id: buf.id(packet),
    })
}

/// Writes an IPv6 header in the making: source, hop limit and length are the IPv6 layer's. Gives what is behind it.
fn put_head<'r>(room: &'r mut [u8], next_header: NextHeader, dst: &Ipv6Addr) -> Option<&'r mut [u8]> {
    let (place, rest) = room.split_first_chunk_mut::<{ ipv6::HEADER_LEN }>()?;
    let (head, place) = place.split_first_chunk_mut::<24>()?;
    *head = [0; 24];
    head[0] = 6 << 4;
    head[6] = next_header.0;
    *place.first_chunk_mut()? = dst.octets();
    Some(rest)
}

/// Fills a packet with a header of IPv6 and what follows it.
fn write_packet(
    buf: &mut PktBuf<'_>,
    packet: &Pkt,
    next_header: NextHeader,
    dst: &Ipv6Addr,
    payload: &[u8],
) -> Result<(), Reason> {
    let room = buf.bytes_mut(packet)?;
    let rest = put_head(room, next_header, dst).ok_or(Reason::NoBuffer)?;
    rest.copy_from_slice(payload);
    Ok(())
}

/// Fills a packet with headers of IPv6 and UDP, length and checksum still missing, and the payload.
fn write_datagram(
    buf: &mut PktBuf<'_>,
    packet: &Pkt,
    src_port: u16,
    (dst, dst_port): (Ipv6Addr, u16),
    payload: &[u8],
) -> Result<(), Reason> {
    let ports = udp::Header {
        src_port,
        dst_port,
        len: 0,
        checksum: 0,
    };
    let room = buf.bytes_mut(packet)?;
    let rest = put_head(room, NextHeader::UDP, &dst).ok_or(Reason::NoBuffer)?;
    let (place, rest) = rest.split_first_chunk_mut().ok_or(Reason::NoBuffer)?;
    *place = ports.emit();
    rest.copy_from_slice(payload);
    Ok(())
}
