//! TCP on the host beside smoltcp, for callgrind: what a segment and its acknowledgement take, and how fast much data goes
//! over a link, in virtual time.
//!
//! `cargo xtask tcp` runs it. Each line that it prints names a measurement and the stack, with the bytes and the microseconds
//! of the link where it is a transfer, in the order of the counts that callgrind leaves.

mod link;
mod ours;
mod peer;

use link::{Medium, Node, Offer, Pair, Setup, WINDOW_MAX};
use ours::{Memory, Ours};
use peer::Peer;

/// Exchanges before the one that counts.
const WARM_UP: usize = 8;
/// Bytes of a transfer.
const TRANSFER: usize = 100_000;
/// Frames that are lost, in a thousand, and the seeds that say which.
const LOSSES: [(u32, &[u32]); 2] = [(0, &[1]), (30, &[1, 2, 3, 4, 5, 6, 7, 8])];

/// Bytes of the timestamps in a segment (RFC 7323 appendix A).
const TIMESTAMPS_LEN: usize = 12;

/// The parts of an exchange.
const PARTS: [&str; 4] = [
    "segment out",
    "segment in",
    "acknowledgement out",
    "acknowledgement in",
];

/// What is measured: a name, what the link carries, bytes of a full segment and of the window. Windows are 4 segments, on the
/// radio those of Kumar et al. 2020, section 6.2.
const LINKS: [(&str, Medium, u16, usize); 3] = [
    ("1280", Medium::Packets, 1220, WINDOW_MAX),
    ("127 in 5 frames", Medium::Radio, 462, 4 * 462),
    ("127 in 1 frame", Medium::Radio, 64, 4 * 462),
];

fn main() {
    for (link, medium, segment, window) in LINKS {
        for (name, offer) in [
            ("plain", Offer::Plain),
            ("timestamps", Offer::Timestamps),
            ("default", Offer::Everything),
        ] {
            let setup = Setup {
                medium,
                offer,
                segment,
                window,
            };
            measure(link, &format!("sixlo {name}"), &setup, |number| {
                let memory = Box::leak(Box::new(Memory::new()));
                Ours::new(memory, number, &setup)
            });
            if offer != Offer::Everything {
                measure(link, &format!("smoltcp {name}"), &setup, |number| {
                    Peer::new(number, &setup)
                });
            }
        }
    }
}

/// All measurements of one kind of node.
fn measure<N: Node>(link: &str, stack: &str, setup: &Setup, node: impl Fn(u8) -> N) {
    let pair = |seed| Pair::open([1, 2].map(&node), seed);
    // Options take from the data.
    let full = match setup.offer {
        Offer::Plain => usize::from(setup.segment),
        _ => usize::from(setup.segment) - TIMESTAMPS_LEN,
    };
    for (load, bytes) in [("8 bytes", 8), ("full", full)] {
        let mut pair = pair(1);
        for _ in 0..WARM_UP {
            pair.exchange(bytes, || ());
        }
        let mut parts = PARTS.iter();
        begin();
        pair.exchange(bytes, || {
            let part = parts.next().expect("four parts");
            println!("{link}: {load}: {part}\t{stack}");
            end();
        });
    }
    // Whole segments, so that the last one does not wait.
    let bytes = TRANSFER / full * full;
    for (per_mille, seeds) in LOSSES {
        let mut pairs: Vec<_> = seeds.iter().map(|seed| pair(*seed)).collect();
        begin();
        let time: u64 = pairs.iter_mut().map(|pair| pair.transfer(bytes, per_mille)).sum();
        let bytes = bytes * seeds.len();
        println!("{link}: {per_mille} per mille lost\t{stack}\t{bytes}\t{time}");
        end();
    }
}

/// Where a measurement begins: callgrind counts anew when this returns.
#[inline(never)]
fn begin() {
    std::hint::black_box(());
}

/// Where a measurement ends, or a part of one: callgrind writes down what it has counted when this returns.
#[inline(never)]
fn end() {
    // Not the same as the other, which the linker would make one function of.
    std::hint::black_box(1);
}
