//! The traversal experiment on the chip: ticks of the clock for each length, both ways, and how deep the memory stack got.
//!
//! Without arguments all lengths; `tx 88` or `rx 88` is one datagram of 88 bytes, for a log of every instruction.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use sixlo_firmware::board::{Clock, arguments, exit, print, print_number};
use sixlo_firmware::paint::paint;

#[path = "../../../crates/sixlo/examples/traverse/experiment.rs"]
mod experiment;

use experiment::{Frames, Memory, Node, PAYLOAD_MAX, PAYLOAD_MIN, PAYLOAD_STEP};

/// Datagrams of each length; the first two do not count.
const TURNS: u32 = 4;

#[entry]
fn main() -> ! {
    static mut SENDER: Memory = Memory::new();
    static mut RECEIVER: Memory = Memory::new();
    static mut FRAMES: Frames = Frames::EMPTY;
    static mut PAYLOAD: [u8; PAYLOAD_MAX] = [0; PAYLOAD_MAX];
    static mut RECEIVED: [u8; PAYLOAD_MAX] = [0; PAYLOAD_MAX];

    let clock = Clock::start();
    let mut sender = Node::new(SENDER, 1);
    let mut receiver = Node::new(RECEIVER, 2);
    let mut line = [0; 64];
    let (direction, len) = parse(arguments(&mut line));
    let lens = len.map_or(PAYLOAD_MIN..=PAYLOAD_MAX, |len| len..=len);
    let mut deepest = [0; 2];
    for len in lens.step_by(PAYLOAD_STEP) {
        let payload = &mut PAYLOAD[..len];
        payload.fill(len as u8);
        for turn in 0..TURNS {
            let counts = turn >= 2;
            let painted = paint();
            let before = clock.ticks();
            sender.send(2, payload, FRAMES);
            let ticks = clock.ticks().wrapping_sub(before);
            deepest[0] = painted.used().max(deepest[0]);
            if counts && direction != Some(b'r') {
                say(b"tx ", len, ticks);
            }
            let painted = paint();
            let before = clock.ticks();
            let received = receiver.receive(FRAMES, RECEIVED);
            let ticks = clock.ticks().wrapping_sub(before);
            deepest[1] = painted.used().max(deepest[1]);
            if counts && direction != Some(b't') {
                say(b"rx ", len, ticks);
            }
            assert!(received == Some(len) && RECEIVED[..len] == *payload);
            sender.rest();
            receiver.rest();
        }
    }
    let before = clock.ticks();
    let ticks = clock.ticks().wrapping_sub(before);
    say(b"empty ", 0, ticks);
    say(b"stack tx ", 0, deepest[0] as u32);
    say(b"stack rx ", 0, deepest[1] as u32);
    exit();
}

/// A direction and a length.
fn parse(line: &[u8]) -> (Option<u8>, Option<usize>) {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let number = |word: &[u8]| {
        word.iter()
            .fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'))
    };
    // The first word is the name of the image.
    let direction = words.nth(1).and_then(|word| word.first().copied());
    (direction, words.next().map(number))
}

fn say(what: &[u8], len: usize, number: u32) {
    print(what);
    print_number(len as u32);
    print(b" ");
    print_number(number);
    print(b"\n");
}
