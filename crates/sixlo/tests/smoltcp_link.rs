//! MAC frames and fragment headers against those of smoltcp 0.14, both ways.
//!
//! What both know of IEEE 802.15.4: data, command and beacon frames of all three versions with their addressing modes;
//! auxiliary security headers with a frame counter. What smoltcp does not know, or otherwise than the standard, and
//! what is therefore left out here:
//! - immediate acknowledgements: it looks for a PAN identifier in them, which they do not have (IEEE 802.15.4-2020,
//!   7.3.3), and refuses those of 3 bytes;
//! - sequence number suppression and information elements: it reads the sequence number and the payload as if there
//!   were none;
//! - a source alone with its PAN identifier compressed away: it looks for it all the same (table 7-2, last row for
//!   this case), and before version 2015 accepts what is not allowed there (IEEE 802.15.4-2006, 7.2.1.1.5);
//! - the end of the payload of a secured frame: it leaves the message integrity code in it;
//! - writing: only frames with both addresses; a source PAN identifier between extended addresses in version 2015,
//!   which has none there.
//!
//! Of RFC 4944 both know the two fragment headers. smoltcp takes a subsequent fragment at offset 0, which is refused
//! here.

use proptest::option;
use proptest::prelude::*;
use sixlo::wire::addr::LinkAddr;
use sixlo::wire::ieee802154::security::{KeyId, Level, Security};
use sixlo::wire::ieee802154::{FrameType, Header, Version};
use sixlo::wire::lowpan::frag::Fragment;
use smoltcp::wire::{
    Ieee802154Address, Ieee802154Frame, Ieee802154FrameType, Ieee802154FrameVersion, Ieee802154Pan,
    Ieee802154Repr, SixlowpanFragPacket, SixlowpanFragRepr,
};

fn theirs(addr: LinkAddr) -> Ieee802154Address {
    match addr {
        LinkAddr::None => Ieee802154Address::Absent,
        LinkAddr::Short(short) => Ieee802154Address::Short(short.to_be_bytes()),
        LinkAddr::Extended(eui) => Ieee802154Address::Extended(eui),
    }
}

fn their_type(frame_type: FrameType) -> Ieee802154FrameType {
    match frame_type {
        FrameType::Beacon => Ieee802154FrameType::Beacon,
        FrameType::Data => Ieee802154FrameType::Data,
        FrameType::Ack => Ieee802154FrameType::Acknowledgement,
        FrameType::Command => Ieee802154FrameType::MacCommand,
    }
}

fn their_version(version: Version) -> Ieee802154FrameVersion {
    match version {
        Version::V2003 => Ieee802154FrameVersion::Ieee802154_2003,
        Version::V2006 => Ieee802154FrameVersion::Ieee802154_2006,
        Version::V2015 => Ieee802154FrameVersion::Ieee802154,
    }
}

fn addr() -> impl Strategy<Value = LinkAddr> {
    prop_oneof![
        any::<u16>().prop_map(LinkAddr::Short),
        any::<[u8; 8]>().prop_map(LinkAddr::Extended),
    ]
}

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::V2003), Just(Version::V2006), Just(Version::V2015)]
}

fn security() -> impl Strategy<Value = Security> {
    let level = prop_oneof![
        Just(Level::None),
        Just(Level::Mic32),
        Just(Level::EncMic64),
        Just(Level::EncMic128)
    ];
    let key = prop_oneof![
        Just(KeyId::Implicit),
        any::<u8>().prop_map(KeyId::Index),
        any::<([u8; 4], u8)>().prop_map(|(source, index)| KeyId::Source4(source, index)),
        any::<([u8; 8], u8)>().prop_map(|(source, index)| KeyId::Source8(source, index)),
    ];
    (level, key, any::<u32>()).prop_map(|(level, key, counter)| Security {
        level,
        key,
        frame_counter: Some(counter),
        asn_in_nonce: false,
    })
}

proptest! {
    #[test]
    fn smoltcp_reads_the_frames_that_are_written_here(
        frame_type in prop_oneof![Just(FrameType::Data), Just(FrameType::Command), Just(FrameType::Beacon)],
        version in version(),
        (frame_pending, ack_request) in any::<(bool, bool)>(),
        sequence: u8,
        (dst, src) in (option::of(addr()), option::of(addr())),
        (dst_pan, src_pan) in any::<(Option<u16>, Option<u16>)>(),
        security in option::of(security()),
        payload in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let header = Header {
            frame_type,
            version,
            frame_pending,
            ack_request,
            sequence: Some(sequence),
            dst_pan,
            dst: dst.unwrap_or_default(),
            src_pan,
            src: src.unwrap_or_default(),
            security: security.filter(|_| version != Version::V2003),
            ..Header::default()
        };
        let mut bytes = [0xee; 127];
        // A source alone, its PAN identifier compressed away: see above.
        prop_assume!(!(dst.is_none() && src.is_some() && src_pan.is_none()));
        let Ok(len) = header.emit(&mut bytes) else {
            return Err(TestCaseError::reject("no frame has such a header"));
        };
        bytes[len..][..payload.len()].copy_from_slice(&payload);
        let mic_len = header.security.map_or(0, |security| security.level.mic_len());
        let bytes = &bytes[..len + payload.len() + mic_len];
        prop_assert_eq!(Header::parse(bytes), Ok((header, &payload[..])));

        let frame = Ieee802154Frame::new_checked(bytes).expect("smoltcp takes it");
        let repr = Ieee802154Repr::parse(&frame).expect("smoltcp reads it");
        prop_assert_eq!(repr.frame_type, their_type(frame_type));
        prop_assert_eq!(repr.frame_version, their_version(version));
        prop_assert_eq!((repr.frame_pending, repr.ack_request), (frame_pending, ack_request));
        prop_assert_eq!(repr.sequence_number, Some(sequence));
        prop_assert_eq!(repr.dst_pan_id, dst_pan.map(Ieee802154Pan));
        prop_assert_eq!(repr.src_pan_id, src_pan.map(Ieee802154Pan));
        prop_assert_eq!(repr.dst_addr, Some(theirs(header.dst)));
        prop_assert_eq!(repr.src_addr, Some(theirs(header.src)));
        prop_assert_eq!(repr.security_enabled, header.security.is_some());
        prop_assert_eq!(frame.mac_header().len(), len);
        if frame_type == FrameType::Data {
            let end = bytes.len() - mic_len;
            prop_assert_eq!(frame.payload(), Some(&bytes[len..]));
            prop_assert_eq!(&bytes[len..end], &payload[..]);
        }
        if let Some(security) = header.security {
            prop_assert_eq!(frame.security_level(), security.level as u8);
            prop_assert_eq!(frame.frame_counter(), security.frame_counter);
            let (source, index) = match &security.key {
                KeyId::Implicit => (None, None),
                KeyId::Index(index) => (None, Some(*index)),
                KeyId::Source4(source, index) => (Some(&source[..]), Some(*index)),
                KeyId::Source8(source, index) => (Some(&source[..]), Some(*index)),
            };
            prop_assert_eq!((frame.key_source(), frame.key_index()), (source, index));
            let mic = frame.message_integrity_code().unwrap_or(&[]);
            prop_assert_eq!(mic, &bytes[bytes.len() - mic_len..]);
        }
    }

    #[test]
    fn the_frames_that_smoltcp_writes_are_read_here(
        version in version(),
        (frame_pending, ack_request, compression) in any::<(bool, bool, bool)>(),
        sequence: u8,
        (dst, src) in (addr(), addr()),
        (dst_pan, src_pan) in any::<(u16, u16)>(),
        payload in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        // Between extended addresses version 2015 has one PAN identifier or none: see above.
        let extended = matches!((dst, src), (LinkAddr::Extended(_), LinkAddr::Extended(_)));
        prop_assume!(!(version == Version::V2015 && extended));
        let repr = Ieee802154Repr {
            frame_type: Ieee802154FrameType::Data,
            security_enabled: false,
            frame_pending,
            ack_request,
            sequence_number: Some(sequence),
            pan_id_compression: compression,
            frame_version: their_version(version),
            dst_pan_id: Some(Ieee802154Pan(dst_pan)),
            dst_addr: Some(theirs(dst)),
            src_pan_id: Some(Ieee802154Pan(src_pan)),
            src_addr: Some(theirs(src)),
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut Ieee802154Frame::new_unchecked(&mut bytes[..]));
        bytes.extend(&payload);
        let header = Header {
            version,
            frame_pending,
            ack_request,
            src_pan: (!compression).then_some(src_pan),
            ..Header::data(sequence, dst_pan, dst, src)
        };
        prop_assert_eq!(Header::parse(&bytes), Ok((header, &payload[..])));
    }

    #[test]
    fn fragment_headers_are_read_and_written_alike(
        datagram_size in 0..0x800_u16, datagram_tag: u16, datagram_offset: u8, payload: Vec<u8>,
    ) {
        let fragment = Fragment { datagram_size, datagram_tag, datagram_offset };
        let repr = if fragment.is_first() {
            SixlowpanFragRepr::FirstFragment { size: datagram_size, tag: datagram_tag }
        } else {
            SixlowpanFragRepr::Fragment { size: datagram_size, tag: datagram_tag, offset: datagram_offset }
        };
        let mut theirs = vec![0; repr.buffer_len()];
        repr.emit(&mut SixlowpanFragPacket::new_unchecked(&mut theirs[..]));
        let mut ours = [0; 5];
        let len = fragment.emit(&mut ours).expect("room");
        prop_assert_eq!(&ours[..len], &theirs[..]);
        theirs.extend(&payload);
        prop_assert_eq!(Fragment::parse(&theirs), Ok((fragment, &payload[..])));
        let packet = SixlowpanFragPacket::new_checked(&theirs[..]).expect("smoltcp takes it");
        prop_assert_eq!(SixlowpanFragRepr::parse(&packet), Ok(repr));
        prop_assert_eq!(packet.payload(), &payload[..]);
    }

    #[test]
    fn a_fragment_header_is_taken_here_and_there_or_nowhere(bytes in proptest::collection::vec(any::<u8>(), 0..8)) {
        let mut bytes = bytes;
        // Half of the first bytes announce a fragment.
        if let [first, second, ..] = &mut bytes[..] && *second & 1 == 1 {
            *first = 0xc0 | *first & 0x27;
        }
        let ours = Fragment::parse(&bytes);
        match SixlowpanFragPacket::new_checked(&bytes[..]) {
            Ok(packet) if packet.is_first_fragment() || packet.datagram_offset() != 0 => {
                let (fragment, payload) = ours.expect("smoltcp takes it");
                prop_assert_eq!(fragment.datagram_size, packet.datagram_size());
                prop_assert_eq!(fragment.datagram_tag, packet.datagram_tag());
                prop_assert_eq!(fragment.datagram_offset, packet.datagram_offset());
                prop_assert_eq!(payload, packet.payload());
            }
            _ => prop_assert!(ours.is_err()),
        }
    }
}
