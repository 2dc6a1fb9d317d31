//! The HTTP/1.1 server.

mod support;

use sixlo::tcp::TcpError;
use sixlo::time::Duration;
use sixlo_services::{Node, pattern};
use support::{HEAD, World};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";
const SECOND: Duration = Duration::from_secs(1);

/// Head and content of an answer.
fn parts(answer: &[u8]) -> (String, Vec<u8>) {
    let at = answer
        .windows(4)
        .position(|it| it == b"\r\n\r\n")
        .expect("the end of a head");
    (
        String::from_utf8(answer[..at + 2].to_vec()).expect("text"),
        answer[at + 4..].to_vec(),
    )
}

/// The value of a field.
fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines
        .filter(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
        .next()
}

/// Sends a request on a connection of its own; gives the status line, and whether the server closed.
fn once(request: &str) -> (String, bool) {
    let mut world = World::new();
    let id = world.connect(80);
    world.send(id, request.as_bytes());
    let (answer, ended) = world.receive(id, SECOND);
    let (head, content) = parts(&answer);
    let len: usize = field(&head, "content-length")
        .expect("a length")
        .parse()
        .expect("a number");
    if !request.starts_with("HEAD") {
        assert_eq!(content.len(), len);
    }
    let line = head.split("\r\n").next().expect("a line").to_owned();
    let _ = world.client.tcp_abort(world.now, id, &mut ());
    world.assert_quiet();
    (line, ended)
}

#[test]
fn a_page_is_served() {
    let mut world = World::new();
    let id = world.connect(80);
    let answer = world.ask(id, "GET / HTTP/1.1\r\nHost: node\r\n\r\n");
    let (head, content) = parts(&answer);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert_eq!(field(&head, "content-type"), Some("text/html"));
    assert_eq!(content, Node::PAGES[0].content);
    assert_eq!(
        field(&head, "content-length"),
        Some(content.len().to_string().as_str())
    );
}

/// RFC 9110 section 9.3.2: the same fields, no content.
#[test]
fn head_gives_the_fields_alone() {
    let mut world = World::new();
    let id = world.connect(80);
    for path in ["/", "/bytes/300", "/counters", "/nothing"] {
        let get = world.ask(id, &format!("GET {path} HTTP/1.1\r\nHost: node\r\n\r\n"));
        let head = world.ask(id, &format!("HEAD {path} HTTP/1.1\r\nHost: node\r\n\r\n"));
        let (get, _) = parts(&get);
        let (head, content) = parts(&head);
        assert_eq!((head, content.len()), (get, 0));
    }
}

#[test]
fn bytes_of_the_pattern_come_whole() {
    let mut world = World::new();
    for len in [0u32, 1, 1000, 100_000] {
        let id = world.connect(80);
        world.send(
            id,
            format!("GET /bytes/{len} HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n").as_bytes(),
        );
        let (answer, ended) = world.receive(id, Duration::from_secs(20));
        let (head, content) = parts(&answer);
        assert!(ended);
        assert_eq!(field(&head, "connection"), Some("close"));
        assert!(
            content == (0..len).map(pattern).collect::<Vec<u8>>(),
            "{len} bytes"
        );
        world.client.tcp_close(world.now, id, &mut ()).expect("open");
    }
    world.assert_quiet();
}

/// RFC 9112 section 7.1: what is made while it is sent comes in chunks, and is JSON.
#[test]
fn counters_come_in_chunks() {
    let mut world = World::new();
    let id = world.connect(80);
    let answer = world.ask(id, "GET /counters HTTP/1.1\r\nHost: n\r\n\r\n");
    let (head, content) = parts(&answer);
    assert_eq!(field(&head, "transfer-encoding"), Some("chunked"));
    assert_eq!(field(&head, "content-length"), None);
    let json: serde_json::Value = serde_json::from_slice(&unchunk(&content)).expect("JSON");
    assert_eq!(json["stack"]["default-hop-limit"], 64);
    assert_eq!(json["drops"], serde_json::json!({}));
    let counted = world.node.counters(support::IFACE).expect("up").frames_in;
    let shown = json["interfaces"][0]["frames-in"].as_u64().expect("a number");
    assert!(shown > 0 && shown <= counted.into());
    // All of them are there.
    let shown = json["interfaces"][0].as_object().expect("an object").len()
        + json["stack"].as_object().expect("an object").len();
    assert_eq!(shown, sixlo::stack::Opt::ALL.len());
}

fn unchunk(mut content: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let (size, rest) = content.split_at(content.windows(2).position(|it| it == b"\r\n").expect("a size"));
        let size = usize::from_str_radix(str::from_utf8(size).expect("text"), 16).expect("hexadecimal");
        let (chunk, rest) = rest[2..].split_at(size);
        all.extend(chunk);
        assert_eq!(rest[..2], *b"\r\n");
        content = &rest[2..];
        if size == 0 {
            assert_eq!(content, b"");
            return all;
        }
    }
}

/// A bounded series: four places, one sample each second.
#[test]
fn the_series_holds_the_last_samples() {
    let mut world = World::new();
    let empty = |world: &mut World| {
        let id = world.connect(80);
        world.send(id, b"GET /series HTTP/1.0\r\n\r\n");
        let (answer, ended) = world.receive(id, SECOND);
        assert!(
            ended,
            "HTTP/1.0 has no chunks: the end of the connection is that of the content"
        );
        let (head, content) = parts(&answer);
        assert_eq!(field(&head, "transfer-encoding"), None);
        world.client.tcp_close(world.now, id, &mut ()).expect("open");
        let json: serde_json::Value = serde_json::from_slice(&content).expect("JSON");
        json.as_array().expect("an array").clone()
    };
    let start = world.now.as_micros();
    assert_eq!(empty(&mut world).len(), 1);
    world.pass(Duration::from_secs(10));
    let series = empty(&mut world);
    let times: Vec<u64> = series
        .iter()
        .map(|it| it["at_us"].as_u64().expect("a number") - start)
        .collect();
    assert_eq!(times.len(), 4);
    assert!(times.windows(2).all(|it| it[1] - it[0] == 1_000_000), "{times:?}");
    assert!(times[0] > 6_000_000);
    assert!(series[3]["frames_in"].as_u64() >= Some(4));
}

/// RFC 9112 section 9.3: persistent unless it is said otherwise, and HTTP/1.0 the other way round.
#[test]
fn connections_persist_as_both_want() {
    let closes = |request: &str| once(request).1;
    assert!(!closes("GET / HTTP/1.1\r\nHost: n\r\n\r\n"));
    assert!(closes("GET / HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n"));
    assert!(closes(
        "GET / HTTP/1.1\r\nhost: n\r\nconnection: foo , CLOSE\r\n\r\n"
    ));
    assert!(closes("GET / HTTP/1.0\r\n\r\n"));
    assert!(!closes("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    // A site without the page is no reason.
    assert!(!closes("GET /none HTTP/1.1\r\nHost: n\r\n\r\n"));
}

/// RFC 9112 section 9.3.2: answers in the order of the requests.
#[test]
fn requests_may_come_before_the_answers() {
    let mut world = World::new();
    let id = world.connect(80);
    let paths = ["/bytes/5000", "/none", "/bytes/3", "/"];
    let all: String = paths
        .iter()
        .map(|path| format!("GET {path} HTTP/1.1\r\nHost: n\r\n\r\n"))
        .collect();
    world.send(id, all.as_bytes());
    let (answers, _) = world.receive(id, Duration::from_secs(5));
    let mut rest = &answers[..];
    for (path, len) in paths.iter().zip([5000, 13, 3, Node::PAGES[0].content.len()]) {
        let (head, content) = parts(rest);
        assert_eq!(
            field(&head, "content-length"),
            Some(len.to_string().as_str()),
            "{path}"
        );
        rest = &rest[rest.len() - content.len() + len..];
    }
    assert_eq!(rest, b"");
    assert_eq!(world.services.counters().requests, 4);
    assert_eq!(world.services.counters().errors, 1);
}

/// What is no request, cannot be met or is too long is answered as RFC 9110 section 15.5 says.
#[test]
fn errors_have_their_status() {
    let status = |request: &str| once(request).0["HTTP/1.1 ".len()..][..3].to_owned();
    let fields = |n: usize| (0..n).map(|n| format!("a{n}: b\r\n")).collect::<String>();
    let long = "x".repeat(HEAD);
    for (request, expected) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n".to_owned(), "400"),
        ("GET /\r\n\r\n".to_owned(), "400"),
        ("hello\r\n\r\n".to_owned(), "400"),
        ("\0\r\n\r\n".to_owned(), "400"),
        ("GET x HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "400"),
        // A content that a proxy may read otherwise than we.
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello".to_owned(),
            "400",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
            "400",
        ),
        ("GET /none HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "404"),
        ("GET /bytes/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "404"),
        ("GET /bytes/-1 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "404"),
        (
            "GET /bytes/4294967296 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
            "404",
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".to_owned(),
            "405",
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "405"),
        (format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"), "414"),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: {long}\r\n\r\n"),
            "431",
        ),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", fields(40)), "431"),
        ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "501"),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n".to_owned(), "505"),
        // And what is right though it looks odd.
        ("\r\n\r\nGET / HTTP/1.1\nHost: a\n\n".to_owned(), "200"),
        ("GET http://node/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "200"),
        ("GET http://node HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), "200"),
        (
            "GET /?a=http://b/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".to_owned(),
            "200",
        ),
    ] {
        assert_eq!(status(&request), expected, "{request:?}");
    }
}

/// RFC 9110 section 15.5.6.
#[test]
fn methods_that_are_not_allowed_are_told_which_are() {
    let mut world = World::new();
    let id = world.connect(80);
    let answer = world.ask(id, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n");
    let (head, _) = parts(&answer);
    assert_eq!(field(&head, "allow"), Some("GET, HEAD"));
}

/// The answer to a request that is too long arrives although the client has more to say (RFC 9112 section 9.6).
#[test]
fn a_client_that_sends_on_gets_its_answer() {
    let mut world = World::new();
    let id = world.connect(80);
    let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n".to_vec();
    while request.len() < 20_000 {
        request.extend(b"X-More: and more, and more, and more\r\n");
    }
    world.send(id, &request);
    let (answer, ended) = world.receive(id, SECOND);
    assert!(answer.starts_with(b"HTTP/1.1 431 "), "{answer:?}");
    assert!(ended);
    world.client.tcp_close(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let mut world = World::new();
    let id = world.connect(80);
    for byte in b"GET /bytes/4 HTTP/1.1\r\nHost: a\r\n\r\n" {
        world.send(id, &[*byte]);
        world.pass(Duration::from_millis(50));
    }
    let (answer, _) = world.receive(id, SECOND);
    assert!(answer.starts_with(OK), "{answer:?}");
}

/// A head that never ends, and comes slowly, holds its place for no longer than half a minute.
#[test]
fn a_slow_head_is_cut_off() {
    let mut world = World::new();
    let id = world.connect(80);
    world.send(id, b"GET / HTTP/1.1\r\n");
    let start = world.now;
    while world.services.conversations() == 1 {
        world.pass(SECOND);
        let _ = world.client.tcp_send(world.now, id, b"a:b\r\n", &mut ());
        world.settle();
    }
    assert_eq!(world.now.since(start), Duration::from_secs(30));
    assert_eq!(world.services.counters().timed_out, 1);
    let _ = world.client.tcp_close(world.now, id, &mut ());
    world.assert_quiet();
}

/// Empty lines without end are no request, either.
#[test]
fn a_client_that_says_nothing_is_cut_off() {
    let mut world = World::new();
    let id = world.connect(80);
    for _ in 0..30 {
        assert_eq!(world.services.conversations(), 1);
        world.pass(SECOND);
        let _ = world.client.tcp_send(world.now, id, b"\r\n", &mut ());
    }
    world.settle();
    assert_eq!(world.services.conversations(), 0);
    let _ = world.client.tcp_abort(world.now, id, &mut ());
    world.assert_quiet();
}

/// Who has connected and not asked yet does not give way: the request may be under way.
#[test]
fn a_new_client_keeps_its_place() {
    let mut world = World::new();
    let ids: Vec<_> = (0..3).map(|_| world.connect(80)).collect();
    for id in &ids[..2] {
        assert!(world.ask(*id, "GET /bytes/1 HTTP/1.0\r\n\r\n").starts_with(OK));
        world.client.tcp_close(world.now, *id, &mut ()).expect("open");
    }
    assert!(world.ask(ids[2], "GET /bytes/1 HTTP/1.0\r\n\r\n").starts_with(OK));
    assert_eq!(world.services.counters().displaced, 0);
}

/// Who is between two requests gives way to who has one.
#[test]
fn an_idle_client_gives_way() {
    let mut world = World::new();
    let idle: Vec<_> = (0..2)
        .map(|_| {
            let id = world.connect(80);
            assert!(
                world
                    .ask(id, "GET /bytes/1 HTTP/1.1\r\nHost: a\r\n\r\n")
                    .starts_with(OK)
            );
            id
        })
        .collect();
    let id = world.connect(80);
    assert!(
        world
            .ask(id, "GET /bytes/1 HTTP/1.1\r\nHost: a\r\n\r\n")
            .starts_with(OK)
    );
    assert_eq!(world.services.counters().displaced, 1);
    // The one that was idle for longest.
    assert_eq!(world.take(idle[0]), Ok((Vec::new(), true)));
    assert_eq!(world.take(idle[1]), Ok((Vec::new(), false)));
}

/// A client that does not read holds one place, and no more than its send buffer.
#[test]
fn a_client_that_does_not_read_is_cut_off() {
    let mut world = World::new();
    let id = world.connect(80);
    world.send(id, b"GET /bytes/4000000000 HTTP/1.1\r\nHost: a\r\n\r\n");
    world.pass(Duration::from_secs(59));
    assert_eq!(world.services.conversations(), 1);
    let used = world.node.buffer().used();
    assert!(used < 8192, "{used} bytes");
    world.pass(Duration::from_secs(2));
    assert_eq!(world.services.conversations(), 0);
    world.client.tcp_abort(world.now, id, &mut ()).expect("open");
    world.assert_quiet();
}

/// Resets and half-closes at any point leave nothing behind.
#[test]
fn clients_may_vanish_at_any_point() {
    let request = b"GET /bytes/3000 HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut world = World::new();
    for at in 0..=request.len() {
        for reset in [true, false] {
            let id = world.connect(80);
            world.send(id, &request[..at]);
            if reset {
                world.client.tcp_abort(world.now, id, &mut ()).expect("open");
                world.settle();
            } else {
                world.client.tcp_shutdown(world.now, id, &mut ()).expect("open");
                let (answer, ended) = world.receive(id, SECOND);
                assert!(ended);
                // Who has asked is answered, even with its own side shut.
                assert_eq!(answer.is_empty(), at < request.len());
                world.client.tcp_close(world.now, id, &mut ()).expect("open");
            }
            world.settle();
            assert_eq!(world.services.conversations(), 0);
        }
    }
    world.assert_quiet();
}

/// A node that is full refuses, and serves again afterwards.
#[test]
fn a_flood_of_connections_is_outlived() {
    let mut world = World::new();
    let ids: Vec<_> = (0..6).map(|_| world.connect(80)).collect();
    for id in &ids {
        let _ = world.client.tcp_send(world.now, *id, b"GET", &mut ());
    }
    let full = world.client.tcp_connect(world.now, (support::NODE, 80), &mut ());
    assert_eq!(full, Err(TcpError::NoConnection), "all of the client's");
    world.settle();
    assert!(world.services.conversations() <= support::CONVERSATIONS);
    for id in ids {
        let _ = world.client.tcp_abort(world.now, id, &mut ());
    }
    world.assert_quiet();
    let id = world.connect(80);
    assert!(
        world
            .ask(id, "GET /bytes/1 HTTP/1.1\r\nHost: a\r\n\r\n")
            .starts_with(OK)
    );
}
