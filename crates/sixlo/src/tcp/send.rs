//! The send buffer: one packet of the packet buffer that grows at its end by what the application hands over and shrinks
//! in front by what is acknowledged.

use super::config::TcpConfig;
use super::connection::Connection;
use super::error::TcpError;
use crate::ground::Cx;
use crate::pktbuf::{Class, Kept, PktBuf};
use crate::trace::{End, Event, Module, PktId, Reason, Sink};

/// What data to be sent leaves of the packet buffer, beside the segments that a window on all of it takes: room for a header,
/// and for a frame that comes in with an acknowledgement. Else data that is not acknowledged could keep its own
/// acknowledgement out.
const SEGS_SPARE: u8 = 4;
const BYTES_SPARE: usize = 256;

/// Bytes that one send buffer holds at most, lent ones counted: less than a packet can hold, so that sequence numbers of what
/// is outstanding fit 16 bits.
const LENT_MAX: usize = 65_000;

impl Connection {
    /// Bytes that may still be handed over.
    pub(super) fn send_room(&self, buf: &PktBuf<'_>, config: &TcpConfig) -> usize {
        usize::from(config.send_buffer).saturating_sub(self.queued(buf) as usize)
    }

    /// Makes room for `n` bytes at the end, in one piece: in place of what was reserved before.
    pub(super) fn reserve<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, n: usize) -> Result<(), TcpError> {
        self.cut_reserved(cx, 0);
        let Some(data) = &self.data else {
            let packet = cx
                .new_packet(Module::Tcp, Class::Transmit, 0, n, PktId::NONE, PktId::NONE)
                .map_err(|_| TcpError::NoRoom)?;
            self.data = Some(cx.core.buf.keep(packet));
            self.reserved = n as u16;
            return Ok(());
        };
        if !cx.core.buf.leaves_room(data.pkt(), n, SEGS_SPARE, BYTES_SPARE) {
            return Err(TcpError::NoRoom);
        }
        cx.core.buf.grow(data.pkt(), n).map_err(|_| TcpError::NoRoom)?;
        self.reserved = n as u16;
        Ok(())
    }

    /// The bytes that are reserved.
    pub(super) fn reserved_bytes<'b>(&self, buf: &'b mut PktBuf<'_>) -> Option<&'b mut [u8]> {
        let data = self.data.as_ref()?;
        let n = usize::from(self.reserved);
        let at = buf.len(data.pkt()).checked_sub(n)?;
        buf.piece_mut(data.pkt(), at, n).ok()
    }

    /// Keeps the first `n` of the reserved bytes and gives the others back.
    pub(super) fn cut_reserved<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, n: u16) {
        let surplus = self.reserved.saturating_sub(n);
        self.reserved = 0;
        if let Some(data) = self.data.as_ref().filter(|_| surplus > 0) {
            let len = cx.core.buf.len(data.pkt()).saturating_sub(usize::from(surplus));
            cx.core.buf.truncate(data.pkt(), len);
            self.drop_empty(cx);
        }
    }

    /// Copies bytes behind what is there, as many as fit; says how many.
    pub(super) fn write<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        bytes: &[u8],
    ) -> Result<usize, TcpError> {
        let fits = bytes.len().min(self.send_room(&cx.core.buf, config));
        if fits == 0 {
            return Err(TcpError::WouldBlock);
        }
        // The packet buffer may have no room in one piece: then less, down to a sixteenth.
        let mut n = fits;
        while let Err(no_room) = self.reserve(cx, n) {
            if n <= fits / 16 || n == 1 {
                return Err(no_room);
            }
            n /= 2;
        }
        if let Some(place) = self.reserved_bytes(&mut cx.core.buf) {
            crate::wire::copy(place, bytes);
        }
        self.reserved = 0;
        Ok(n)
    }

    /// Hangs bytes that are lent for ever behind what is there, as many as a packet can hold; says how many.
    pub(super) fn lend<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        bytes: &'static [u8],
    ) -> Result<usize, TcpError> {
        self.cut_reserved(cx, 0);
        let held = self.queued(&cx.core.buf) as usize;
        let fits = LENT_MAX.saturating_sub(held).min(bytes.len());
        let bytes = bytes.get(..fits).unwrap_or_default();
        if bytes.is_empty() {
            return Err(TcpError::WouldBlock);
        }
        let made = cx.core.buf.lend(self.data.as_ref().map(Kept::pkt), bytes);
        if let Some(packet) = made.map_err(|_| TcpError::NoRoom)? {
            let id = cx.sink.identity();
            cx.core.buf.set_id(&packet, id);
            cx.event(Event::Start {
                id,
                module: Module::Tcp,
                len: fits as u16,
                cause: PktId::NONE,
            });
            self.data = Some(cx.core.buf.keep(packet));
        }
        Ok(fits)
    }

    /// Gives back the first `n` bytes, which were acknowledged.
    pub(super) fn drop_front<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, n: u32) {
        if let Some(data) = &self.data {
            cx.core.buf.mark(data.pkt(), n as usize);
            cx.core.buf.discard_marked(data.pkt());
            self.drop_empty(cx);
        }
    }

    /// Gives back what holds no byte any more.
    fn drop_empty<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>) {
        let empty = |data: &mut crate::pktbuf::Kept| cx.core.buf.is_empty(data.pkt());
        if let Some(data) = self.data.take_if(empty) {
            let packet = cx.core.buf.resume(data);
            let _ended = cx.end(packet, Module::Tcp, End::Consumed);
        }
    }

    /// Gives back all that is to be sent.
    pub(super) fn drop_data<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, reason: Reason) {
        self.reserved = 0;
        if let Some(data) = self.data.take() {
            let packet = cx.core.buf.resume(data);
            let _ended = cx.drop(packet, Module::Tcp, reason);
        }
    }
}
