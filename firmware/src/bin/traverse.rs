//! The traversal experiment on the chip: ticks of the clock for each length, both ways, and how deep the memory stack got.
//!
//! The arguments are a direction and lengths: `tx 88` sends a datagram of 88 bytes, `both 8 88` sends and receives of 8 and
//! of 88 bytes, `both` all lengths.
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
    // Longer than the list of all lengths.
    let mut line = [0; 1024];
    let line = arguments(&mut line);
    // The first word is the name of the image.
    let direction = words(line).nth(1).and_then(|word| word.first().copied());
    let mut deepest = [0; 2];
    for len in (PAYLOAD_MIN..=PAYLOAD_MAX).step_by(PAYLOAD_STEP) {
        if !is_listed(len, line) {
            continue;
        }
        let payload = &mut PAYLOAD[..len];
        payload.fill(len as u8);
        for turn in 0..TURNS {
            let counts = turn >= 2;
            let painted = paint();
            let before = clock.ticks();
            sender.send(2, payload, FRAMES, &mut ());
            let ticks = clock.ticks().wrapping_sub(before);
            deepest[0] = painted.used().max(deepest[0]);
            if counts && direction != Some(b'r') {
                say(b"tx ", len, ticks);
            }
            let painted = paint();
            let before = clock.ticks();
            let received = receiver.receive(FRAMES, RECEIVED, &mut ());
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

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ').filter(|word| !word.is_empty())
}

/// Whether this length is among the words after the direction, or there are none.
fn is_listed(len: usize, line: &[u8]) -> bool {
    let number = |word: &[u8]| {
        word.iter()
            .fold(0, |sum: usize, digit| sum * 10 + usize::from(digit - b'0'))
    };
    words(line).nth(2).is_none() || words(line).skip(2).any(|word| number(word) == len)
}

fn say(what: &[u8], len: usize, number: u32) {
    print(what);
    print_number(len as u32);
    print(b" ");
    print_number(number);
    print(b"\n");
}
