//! The traversal experiment on the host, for callgrind: each call of `Node::send` and `Node::receive` is one measurement,
//! and so is each of `Peer`, which is smoltcp.
//!
//! `cargo xtask traverse` runs it with the payloads to measure, or all without; alone it only says that every datagram
//! arrived.

mod experiment;
mod peer;

use experiment::{Frames, Memory, Node, PAYLOAD_MAX, PAYLOAD_MIN, PAYLOAD_STEP};
use peer::Peer;

/// Datagrams of each length before the one that counts.
const WARM_UP: usize = 2;

fn main() {
    let arguments = std::env::args().skip(1);
    let listed: Vec<usize> = arguments.filter_map(|argument| argument.parse().ok()).collect();
    let lens = (PAYLOAD_MIN..=PAYLOAD_MAX).step_by(PAYLOAD_STEP);
    let (mut memory, mut other) = (Memory::new(), Memory::new());
    let (mut sender, mut receiver) = (Node::new(&mut memory, 1), Node::new(&mut other, 2));
    let (mut peer, mut peer_receiver) = (Peer::new(1), Peer::new(2));
    peer.meet(2, &mut peer_receiver);
    let mut frames = Frames::EMPTY;
    let mut out = [0; PAYLOAD_MAX];
    for len in lens.filter(|len| listed.is_empty() || listed.contains(len)) {
        let payload = vec![len as u8; len];
        for turn in 0..=WARM_UP {
            begin();
            sender.send(2, &payload, &mut frames, &mut ());
            begin();
            assert_eq!(receiver.receive(&frames, &mut out, &mut ()), Some(len));
            assert_eq!(out[..len], payload);
            // The same frames for both; and in the first turn, the other's for us.
            peer_receiver.take(&frames);
            begin();
            assert_eq!(peer_receiver.receive(&mut out), Some(len));
            assert_eq!(out[..len], payload);
            begin();
            peer.send(2, &payload);
            if turn == 0 {
                assert_eq!(receiver.receive(peer.frames(), &mut out, &mut ()), Some(len));
                receiver.rest();
            }
            sender.rest();
            receiver.rest();
        }
    }
    println!("all datagrams arrived");
}

/// Where a measurement begins: callgrind starts to count anew when this returns.
#[inline(never)]
fn begin() {
    std::hint::black_box(());
}
