//! The way in: which frames are for this interface.

use super::*;

impl Netif<'_> {
    /// Reads a frame's MAC header and says what it carries for us, and between whom. `None` if it is not for the layer
    /// above; why not is counted.
    pub fn receive<'f, S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        frame: &'f [u8],
        info: &RxInfo,
    ) -> Option<(&'f [u8], Meta)> {
        match self.accept(cx, id, frame, info) {
            Ok(taken) => taken,
            Err(reason) => {
                cx.count(reason);
                cx.event(Event::FrameDropped {
                    id: info.id,
                    iface: id,
                    reason,
                });
                None
            }
        }
    }

    fn accept<'f, S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        id: IfaceId,
        frame: &'f [u8],
        info: &RxInfo,
    ) -> Result<Option<(&'f [u8], Meta)>, Reason> {
        let iface = self.up(id).ok_or(Reason::NoInterface)?;
        if iface.carries_packets() {
            return self.accept_packet(cx, id, frame, info).map(Some);
        }
        let fcs_len = if iface.config.caps.fcs { FCS_LEN } else { 0 };
        if frame.len() + fcs_len > FRAME_LEN_MAX {
            return Err(Reason::FrameMalformed);
        }
        let frame = if iface.config.caps.fcs {
            frame
        } else {
            fcs::check(frame).map_err(|_| Reason::FrameMalformed)?
        };
        let (header, payload) = Header::parse(frame).map_err(|_| Reason::FrameMalformed)?;
        match header.frame_type {
            FrameType::Data => {}
            FrameType::Ack => {
                self.acknowledged(cx, id, header.sequence);
                return Ok(None);
            }
            _ => return Err(Reason::FrameUnsupported),
        }
        let meta = iface.addressed(id, &header, info)?;
        let (now, len) = (cx.now, frame.len());
        // IEEE 802.15.4-2020, 6.7.2 (duplicates): a retransmission after a lost acknowledgement.
        if let Some(sequence) = header.sequence
            && self
                .duplicates
                .is_duplicate(now, id, meta.link_src, sequence, len)
        {
            return Err(Reason::FrameDuplicate);
        }
        let iface = self.up_mut(id).ok_or(Reason::NoInterface)?;
        count(&mut iface.counters.frames_in, 1);
        cx.event(Event::FrameIn {
            id: info.id,
            iface: id,
            from: meta.link_src,
            len: len as u16,
            sequence: header.sequence.unwrap_or(0),
        });
        Ok(Some((payload, meta)))
    }

    /// An acknowledgement came in (IEEE 802.15.4-2020, 6.7.4.3): it is ours if the sequence number fits.
    fn acknowledged<S: Sink>(&mut self, cx: &mut Cx<'_, '_, S>, id: IfaceId, sequence: Option<u8>) {
        let Some(iface) = self.up_mut(id) else { return };
        match sequence.and_then(|sequence| iface.csma.acknowledged(cx.now, sequence)) {
            Some(step) => iface.follow(cx, id, step),
            None => count(&mut iface.counters.stray_acks, 1),
        }
    }
}

impl Interface {
    /// The metadata of a frame that is for this interface.
    #[inline(always)]
    fn addressed(&self, id: IfaceId, header: &Header<'_>, info: &RxInfo) -> Result<Meta, Reason> {
        if header.security.is_some() {
            return Err(Reason::FrameUnsupported);
        }
        // RFC 4944 section 3: both addresses must be there.
        if header.src.is_empty() || header.dst.is_empty() {
            return Err(Reason::FrameMalformed);
        }
        // RFC 4944 section 3: a broadcast names the PAN, and is heeded in it alone.
        let broadcast = header.dst.is_broadcast();
        let pan_fits = match header.dst_pan {
            Some(pan) => pan == self.config.pan || (pan == PAN_BROADCAST && !broadcast),
            None => !broadcast,
        };
        if !pan_fits || !(broadcast || self.is_me(header.dst)) {
            return Err(Reason::FrameForeign);
        }
        if self.is_me(header.src) || header.src.is_broadcast() {
            return Err(Reason::FrameOwn);
        }
        Ok(Meta {
            iface: id,
            link_src: header.src,
            link_dst: header.dst,
            rssi_dbm: info.rssi_dbm,
            lqi: info.lqi,
            congested: false,
            multicast: broadcast,
        })
    }
}
