//! What a receiver says of data that does not come in order: RFC 2018 and RFC 2883, RFC 5681 section 4.2.

use sixlo::tcp::{State, TcpError};

use super::tcp::{Trace, recv, send};
use super::{established, press};

fn receiver() -> Trace {
    established("<mss 500 sackok>", |config| config.tcp.sack = true)
}

#[test]
fn data_out_of_order_is_acknowledged_at_once_and_told_of() {
    let mut t = receiver();
    send!(t, 0, ". 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 win 1024 <sack 101-201>");
    send!(t, 1, ". 301(100) ack 1 win 4096");
    // RFC 2018 section 4: the most recent first.
    recv!(t, 1, ". 1 ack 1 <sack 301-401 101-201>");
    send!(t, 2, ". 201(100) ack 1 win 4096");
    recv!(t, 2, ". 1 ack 1 <sack 101-401>");
    // What fills a hole is acknowledged at once too.
    send!(t, 3, ". 1(100) ack 1 win 4096");
    recv!(t, 3, ". 1 ack 401 win 624 <>");
    assert_eq!(t.read(1000), Ok(400));
}

#[test]
fn four_blocks_fit() {
    let mut t = receiver();
    for n in 0..6 {
        press(&mut t, 0, &format!(". {}(50) ack 1 win 4096", 101 + n * 100));
    }
    let last = t.seen.pop_back().unwrap().1;
    t.seen.clear();
    let blocks: Vec<_> = last.options.sack.as_slice().iter().map(|b| b.left.0).collect();
    // Section 3: at most 4.
    assert_eq!(blocks, [601, 501, 401, 301]);
}

#[test]
fn three_blocks_fit_beside_timestamps() {
    let mut t = established("<mss 500 sackok ts 700 0>", |config| {
        config.tcp.sack = true;
        config.tcp.timestamps = true;
    });
    for n in 0..5 {
        press(
            &mut t,
            0,
            &format!(". {}(50) ack 1 win 4096 <ts 701 0>", 101 + n * 100),
        );
    }
    let last = t.seen.pop_back().unwrap().1;
    t.seen.clear();
    let blocks: Vec<_> = last.options.sack.as_slice().iter().map(|b| b.left.0).collect();
    assert_eq!(blocks, [501, 401, 301]);
}

#[test]
fn blocks_are_repeated_with_every_acknowledgement() {
    let mut t = receiver();
    send!(t, 0, ". 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 <sack 101-201>");
    t.write(10);
    // RFC 2018 section 3: whatever is sent, as long as the hole is there.
    recv!(t, 0, "P. 1(10) ack 1 <sack 101-201>");
}

#[test]
fn what_comes_twice_is_told() {
    let mut t = receiver();
    send!(t, 0, ". 1(100) ack 1 win 4096");
    recv!(t, 100, ". 1 ack 101 <>");
    send!(t, 110, ". 1(100) ack 1 win 4096");
    // RFC 2883 section 4: D-SACK, once.
    recv!(t, 110, ". 1 ack 101 <sack 1-101>");
    t.write(10);
    recv!(t, 110, "P. 1(10) ack 101 <>");
}

#[test]
fn what_comes_twice_above_a_hole_is_told_first() {
    let mut t = receiver();
    send!(t, 0, ". 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 <sack 101-201>");
    send!(t, 1, ". 101(100) ack 1 win 4096");
    // RFC 2883 section 4.1: followed by the block that it belongs to.
    recv!(t, 1, ". 1 ack 1 <sack 101-201 101-201>");
}

#[test]
fn a_part_that_comes_twice_is_told() {
    let mut t = receiver();
    send!(t, 0, ". 1(100) ack 1 win 4096");
    recv!(t, 100, ". 1 ack 101 <>");
    send!(t, 110, ". 51(100) ack 1 win 4096");
    // RFC 2883 section 4.2.
    recv!(t, 110, ". 1 ack 151 <sack 51-101>");
    assert_eq!(t.read(1000), Ok(150));
}

#[test]
fn without_permission_no_block_is_sent() {
    let mut t = established("<mss 500>", |config| config.tcp.sack = true);
    send!(t, 0, ". 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 <>");
    send!(t, 1, ". 101(100) ack 1 win 4096");
    recv!(t, 1, ". 1 ack 1 <>");
    send!(t, 2, ". 1(100) ack 1 win 4096");
    recv!(t, 2, ". 1 ack 201 <>");
}

#[test]
fn a_fin_beyond_a_hole_waits() {
    let mut t = receiver();
    send!(t, 0, "F. 101(100) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1 <sack 101-201>");
    assert_eq!(t.state(), State::Established);
    send!(t, 1, ". 1(100) ack 1 win 4096");
    recv!(t, 1, ". 1 ack 202");
    assert_eq!((t.state(), t.read(1000)), (State::CloseWait, Ok(200)));
    assert_eq!(t.read(1), Ok(0));
}

#[test]
fn xt11_of_overlapping_segments_the_first_received_wins() {
    let mut t = receiver();
    send!(t, 0, ". 51(50) ack 1 win 4096");
    recv!(t, 0, ". 1 ack 1");
    // The same numbers with other bytes: the segment is shifted by one, so that its data differ.
    let line = super::tcp::Line::parse(". 1(100) ack 1 win 4096");
    let mut packet = t.packet(&line);
    let data_at = packet.len() - 100;
    for byte in &mut packet[data_at + 50..] {
        *byte = !*byte;
    }
    let mut check = sixlo::wire::checksum::Checksum::pseudo_header(
        &t.peer,
        &super::tcp::addr(1),
        sixlo::wire::ipv6::NextHeader::TCP,
        (packet.len() - 40) as u32,
    );
    packet[56..58].fill(0);
    check.add(&packet[40..]);
    let sum = check.finish().to_be_bytes();
    packet[56..58].copy_from_slice(&sum);
    t.inject(&packet);
    recv!(t, 0, ". 1 ack 101");
    // `read` compares with what the first one brought.
    assert_eq!(t.read(1000), Ok(100));
    assert_eq!(t.read(1), Err(TcpError::WouldBlock));
}
