use std::collections::BTreeSet;

use sixlo_sim::config::Config;
use sixlo_sim::forge::context;
use sixlo_sim::observer::{Observer, OnAir};
use sixlo_sim::run::run;

use super::*;

/// Collects the kinds of the frames on the air.
struct Seen {
    contexts: [iphc::Context; 1],
    kinds: BTreeSet<FrameKind>,
}

impl Observer for Seen {
    fn on_air(&mut self, frame: &OnAir<'_>) {
        self.kinds
            .insert(FrameKind::of(frame.bytes, &Contexts(&self.contexts)));
    }
}

/// The kinds of frames of a run over four nodes, by the names of a trace.
fn kinds(scenario: &str) -> Vec<&'static str> {
    let text = format!("topology = {{ chain = {{ nodes = 4 }} }}\n{scenario}");
    let config: Config = toml::from_str(&text).unwrap();
    let mut seen = Seen {
        contexts: [context(&config.link)],
        kinds: BTreeSet::new(),
    };
    run(&config, 1, &mut seen).unwrap();
    seen.kinds.into_iter().map(FrameKind::name).collect()
}

const LARGE: &str = "[[traffic]]\npayload_bytes = 400\ncount = 3\ngap_min_ms = 500\ngap_max_ms = 500\n";

#[test]
fn each_strategy_sends_its_kind_of_fragments() {
    let of = |strategy: &str| {
        kinds(&format!(
            "stack = {{ strategy = \"{strategy}\", mtu_bytes = 124 }}\n{LARGE}"
        ))
    };
    let rfc4944 = ["ack", "first-fragment", "next-fragment"];
    assert_eq!(of("hop-wise"), rfc4944);
    assert_eq!(of("forward"), rfc4944);
    assert_eq!(of("recover"), ["ack", "recoverable-fragment", "recoverable-ack"]);
    assert_eq!(of("end-to-end"), ["ack", "ipv6-fragment"]);
}

#[test]
fn what_fits_a_frame_is_told_by_its_transport() {
    let small = LARGE.replace("400", "40");
    assert_eq!(kinds(&small), ["ack", "udp"]);
    let echo = small.replace("traffic", "echo");
    assert_eq!(kinds(&echo), ["ack", "icmpv6"]);
    let bulk = "[stack.tcp]\nmss_bytes = 64\n[[bulk]]\nfrom = [4]\nbytes = 300\n";
    assert_eq!(kinds(bulk), ["ack", "tcp"]);
    // Without the context of the network the headers cannot be restored.
    let uncompressed = format!("link = {{ prefix_is_context = false }}\n{small}");
    assert_eq!(kinds(&uncompressed), ["ack", "udp"]);
}

#[test]
fn what_is_no_frame_of_this_network_is_something_else() {
    let none = Contexts(&[]);
    // Nothing, a cut frame, a beacon, data without a dispatch, data of another protocol.
    for bytes in [
        &[][..],
        &[0x41],
        &[0x00, 0x80, 1, 0xcd, 0xab, 1, 0, 0, 0],
        &[0x01, 0x00, 7, 0, 0],
        &[0x41, 0x88, 7, 0xcd, 0xab, 2, 0, 1, 0, 0x00, 1, 2, 0, 0],
        // Compressed, but cut off.
        &[0x41, 0x88, 7, 0xcd, 0xab, 2, 0, 1, 0, 0x7e, 0, 0],
    ] {
        assert_eq!(FrameKind::of(bytes, &none), FrameKind::Other, "{bytes:02x?}");
    }
}

#[test]
fn every_kind_has_a_name_of_its_own() {
    for kind in FrameKind::ALL {
        assert_eq!(FrameKind::of_name(kind.name()), Some(kind));
        assert_eq!(FrameKind::ALL[kind as usize], kind);
    }
    assert_eq!(FrameKind::of_name("beacon"), None);
}
