use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;

use super::*;

/// An ACK frame with sequence number 7 and its right check sequence.
const ACK: [u8; 5] = [0x02, 0x00, 0x07, 0x07, 0xc1];

fn capture(link_type: LinkType, packets: &[Packet<'_>]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), link_type, "sixlo test").unwrap();
    assert_eq!(writer.interface("n1", Some([2, 0, 0, 0, 0, 0, 0, 1])).unwrap(), 0);
    assert_eq!(writer.interface("n2", None).unwrap(), 1);
    for packet in packets {
        writer.packet(packet).unwrap();
    }
    writer.into_inner().unwrap()
}

fn packet<'a>(frame: &'a [u8], comment: &'a str) -> Packet<'a> {
    Packet {
        interface: 1,
        time_ns: 5_000_000_123,
        channel: 26,
        rss_dbm: Some(-70.0),
        frame,
        comment,
    }
}

#[test]
fn a_capture_is_read_back_by_an_independent_reader() {
    let bytes = capture(LinkType::WithFcs, &[packet(&ACK, "lost at n3: collision")]);
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut seen = 0;
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                assert_eq!(interface.linktype, DataLink::from(195));
                assert!(
                    interface
                        .options
                        .contains(&InterfaceDescriptionOption::IfTsResol(9))
                );
                let name = if seen == 0 { "n1" } else { "n2" };
                assert!(
                    interface
                        .options
                        .contains(&InterfaceDescriptionOption::IfName(name.into()))
                );
                seen += 1;
            }
            Block::EnhancedPacket(read) => {
                assert_eq!(read.interface_id, 1);
                assert_eq!(read.timestamp.as_nanos(), 5_000_000_123);
                assert_eq!(&*read.data, &ACK);
                assert_eq!(read.original_len, 5);
                let comment = EnhancedPacketOption::Comment("lost at n3: collision".into());
                assert_eq!(read.options, [comment]);
                seen += 1;
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_frame_of_an_unknown_interface_is_refused_and_nothing_is_written() {
    let mut writer = Writer::new(Vec::new(), LinkType::Tap, "sixlo test").unwrap();
    let before = writer.out.len();
    assert!(writer.packet(&packet(&ACK, "")).is_err());
    assert_eq!(writer.out.len(), before);
}

proptest! {
    #[test]
    fn any_frame_and_comment_is_read_back(
        frame in prop::collection::vec(any::<u8>(), 0..=127),
        comment in "\\PC{0,40}", time_ns in any::<u64>(), tap in any::<bool>(),
    ) {
        let link_type = if tap { LinkType::Tap } else { LinkType::WithFcs };
        let bytes = capture(link_type, &[Packet { time_ns, ..packet(&frame, &comment) }]);
        prop_assert_eq!(bytes.len() % 4, 0);
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let mut found = false;
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(read) = block.unwrap() {
                prop_assert!(read.data.ends_with(&frame));
                prop_assert_eq!(read.timestamp.as_nanos(), u128::from(time_ns));
                prop_assert_eq!(read.options.len(), usize::from(!comment.is_empty()));
                found = true;
            }
        }
        prop_assert!(found);
    }

    #[test]
    fn a_long_comment_is_cut_at_a_character(comment in "[aäß€😀]{1000,3000}") {
        let cut = shortened(&comment);
        prop_assert!(cut.len() <= COMMENT_LEN_MAX && comment.starts_with(cut));
    }
}
