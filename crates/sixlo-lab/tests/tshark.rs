//! Captures as tshark reads them.

#[path = "../../sixlo/tests/support/mod.rs"]
mod support;

use sixlo_lab::pcapng::{LinkType, Packet, Writer};

#[test]
fn tshark_reads_channel_signal_strength_check_sequence_and_comment() {
    let mut writer = Writer::new(Vec::new(), LinkType::Tap, "sixlo test").unwrap();
    for name in ["n1", "n2"] {
        writer.interface(name, None).unwrap();
    }
    let packet = Packet {
        interface: 1,
        time_ns: 5_000_000_123,
        channel: 26,
        rss_dbm: Some(-70.0),
        frame: &[0x02, 0x00, 0x07, 0x07, 0xc1], // an acknowledgement
        comment: "lost at n3: collision",
    };
    writer.packet(&packet).unwrap();
    let capture = writer.into_inner().unwrap();
    let fields = "frame.time_epoch frame.interface_name frame.comment wpan-tap.fcs_type wpan-tap.rss \
                  wpan-tap.ch_num wpan-tap.ch_page wpan.frame_type wpan.seq_no wpan.fcs_ok";
    let Some(lines) = fields_of(&capture, fields) else {
        return;
    };
    assert_eq!(
        lines,
        ["5.000000123|n2|lost at n3: collision|1|-70|26|0|0x0002|7|1"]
    );
}

/// The named fields, a line a frame.
fn fields_of(capture: &[u8], fields: &str) -> Option<Vec<String>> {
    let mut args = vec!["-r", "-", "-T", "fields", "-E", "separator=|"];
    for field in fields.split_whitespace() {
        args.extend(["-e", field]);
    }
    let out = support::tool("tshark", &args, capture, "apt install tshark")?;
    let text = String::from_utf8(out).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}
