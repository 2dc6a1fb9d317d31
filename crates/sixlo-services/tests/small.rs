//! Echo, discard and the source of characters.

mod support;

use sixlo::time::Duration;
use sixlo_services::Service;
use support::{CLIENT, NODE, World};

const SECOND: Duration = Duration::from_secs(1);

/// The first lines of the pattern in RFC 864, its section "Example".
const LINES: &[u8] = b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefg\r\n\
!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefgh\r\n";

/// Sends a datagram from a port and gives the answer.
fn datagram(world: &mut World, from: u16, to: u16, payload: &[u8]) -> Option<Vec<u8>> {
    let socket = world.client.udp_bind(from, 1).expect("a socket");
    world
        .client
        .udp_send_to(world.now, socket, (NODE, to), payload, &mut ())
        .expect("room");
    world.settle();
    let mut out = [0; 1280];
    let answer = world.client.udp_receive(world.now, socket, &mut out, &mut ());
    world.client.close(world.now, socket, &mut ());
    answer.map(|it| {
        assert_eq!((it.src, it.src_port, it.dst), (NODE, to, CLIENT));
        out[..it.len].to_vec()
    })
}

/// RFC 862: "a datagram ... any data in the received datagram is sent back".
#[test]
fn datagrams_are_echoed() {
    let mut world = World::new();
    for len in [0, 1, 100, 1232] {
        let payload: Vec<u8> = (0..len).map(|n| n as u8).collect();
        assert_eq!(datagram(&mut world, 5000, 7, &payload), Some(payload));
    }
    assert_eq!(world.services.counters().datagrams, 4);
    assert_eq!(world.services.counters().unanswered, 0);
}

/// RFC 863: "When a datagram is received, it is thrown away. No response is sent."
#[test]
fn datagrams_are_discarded() {
    let mut world = World::new();
    assert_eq!(datagram(&mut world, 5000, 9, b"nothing"), None);
    assert_eq!(world.services.counters().datagrams, 1);
    assert_eq!(world.services.counters().unanswered, 0);
}

/// RFC 864, but no answer is longer than its request.
#[test]
fn datagrams_are_answered_with_as_many_characters() {
    let mut world = World::new();
    assert_eq!(
        datagram(&mut world, 5000, 19, &[0; 80]),
        Some(LINES[..80].to_vec())
    );
    assert_eq!(datagram(&mut world, 5000, 19, b""), Some(Vec::new()));
}

#[test]
fn two_services_do_not_answer_each_other() {
    let mut world = World::new();
    for from in [7, 19, 53, 1023] {
        assert_eq!(datagram(&mut world, from, 7, b"loop"), None);
        assert_eq!(datagram(&mut world, from, 19, b"loop"), None);
    }
    assert_eq!(world.services.counters().unanswered, 8);
    assert_eq!(
        datagram(&mut world, 1024, 7, b"no loop"),
        Some(b"no loop".to_vec())
    );
}

/// RFC 862: "any data received is sent back. This continues until the calling user terminates the connection."
#[test]
fn a_stream_is_echoed_until_its_end() {
    let mut world = World::new();
    let id = world.connect(7);
    let stream: Vec<u8> = (0..20_000u32).map(|n| (n ^ n >> 7) as u8).collect();
    let mut back = Vec::new();
    for piece in stream.chunks(1500) {
        world.send(id, piece);
        back.extend(world.take(id).expect("open").0);
    }
    world.client.tcp_shutdown(world.now, id, &mut ()).expect("open");
    let (rest, ended) = world.receive(id, SECOND);
    back.extend(rest);
    assert!(
        ended && back == stream,
        "{} of {} bytes",
        back.len(),
        stream.len()
    );
    world.client.tcp_close(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

/// Who does not read what comes back is not read from: nothing piles up in the node.
#[test]
fn an_echo_that_nobody_reads_stops_the_sender() {
    let mut world = World::new();
    let id = world.connect(7);
    let mut taken = 0;
    while let Ok(sent) = world.client.tcp_send(world.now, id, &[7; 500], &mut ()) {
        taken += sent;
        assert!(taken < 40_000, "the buffers of both hold less");
        world.pass(SECOND);
    }
    let used = world.node.buffer().used();
    world.pass(Duration::from_secs(30));
    assert_eq!(world.node.buffer().used(), used);
    // After a minute in which nothing moves, the place is somebody else's.
    world.pass(Duration::from_secs(60));
    assert_eq!(world.services.counters().timed_out, 1);
    assert_eq!(world.services.conversations(), 0);
    world.client.tcp_abort(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

#[test]
fn a_stream_is_discarded_until_its_end() {
    let mut world = World::new();
    let id = world.connect(9);
    world.send(id, &[1; 30_000]);
    world.client.tcp_shutdown(world.now, id, &mut ()).expect("open");
    assert_eq!(world.receive(id, SECOND), (Vec::new(), true));
    world.client.tcp_close(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

/// RFC 864: "a stream of data is sent ... continues until the calling user terminates the connection."
#[test]
fn a_source_sends_as_fast_as_it_is_read() {
    let mut world = World::new();
    let id = world.connect(19);
    let mut stream = Vec::new();
    while stream.len() < 50_000 {
        stream.extend(world.receive(id, Duration::from_millis(20)).0);
    }
    assert_eq!(stream[..LINES.len()], *LINES);
    // After 95 lines the pattern begins anew.
    assert_eq!(stream[95 * 74..95 * 74 + LINES.len()], *LINES);
    world.client.tcp_shutdown(world.now, id, &mut ()).expect("open");
    let (_, ended) = world.receive(id, SECOND);
    assert!(ended, "its end is heard");
    world.client.tcp_close(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

/// More connections than places wait until one is free.
#[test]
fn who_finds_no_place_waits() {
    let mut world = World::new();
    let ids: Vec<_> = (0..3).map(|_| world.connect(7)).collect();
    for id in &ids {
        world.send(*id, b"hello");
    }
    let heard = |world: &mut World, at: usize| world.take(ids[at]).expect("open").0;
    assert_eq!(heard(&mut world, 0), b"hello");
    assert_eq!(heard(&mut world, 1), b"hello");
    assert_eq!(heard(&mut world, 2), b"");
    world.client.tcp_abort(world.now, ids[0], &mut ()).expect("open");
    world.settle();
    assert_eq!(heard(&mut world, 2), b"hello");
    for id in &ids[1..] {
        world.client.tcp_close(world.now, *id, &mut ()).expect("open");
    }
    world.assert_quiet();
}

#[test]
fn services_open_once_and_close() {
    let mut world = World::new();
    let twice = world.services.open(&mut world.node, Service::UdpEcho, 8);
    assert_eq!(twice, Err(sixlo_services::NotOpened::Twice));
    let id = world.connect(7);
    let World {
        services,
        mut node,
        now,
        ..
    } = world;
    assert_eq!(services.conversations(), 1);
    let memory = services.close(&mut node, now, &mut ());
    assert!(
        memory
            .conversations
            .iter()
            .all(|it| format!("{it:?}").contains("None"))
    );
    // The ports are free for another.
    assert!(node.udp_bind(7, 1).is_ok() && node.tcp_listen(7, 1).is_ok());
    let _ = id;
}
