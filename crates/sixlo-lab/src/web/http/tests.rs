use std::io::BufReader;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Mutex;

use super::*;

/// Says what it was asked; `/large` is more than any socket buffers, `/events` goes on for ever.
#[derive(Default)]
struct Echo {
    bodies: Mutex<Vec<Vec<u8>>>,
}

impl Site for Echo {
    fn answer(&self, request: &Request) -> Answer {
        self.bodies.lock().unwrap().push(request.body.clone());
        match request.path.as_str() {
            "/large" => Answer::Whole {
                status: 200,
                media: "text/plain",
                body: vec![b'x'; 64 << 20],
            },
            "/events" => Answer::Events(Box::new((0..).map(|number: u64| {
                thread::sleep(Duration::from_millis(5));
                Event::Line(format!("{number}").into())
            }))),
            _ => Answer::text(200, &format!("{} {:?}", request.path, request.number("n"))),
        }
    }
}

const QUICK: Limits = Limits {
    connections: 4,
    request: Duration::from_millis(400),
    stall: Duration::from_millis(300),
    ..Limits::USUAL
};

struct Server {
    port: u16,
    site: Arc<Echo>,
    counts: Arc<Counts>,
}

impl Server {
    fn start(limits: Limits) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let site = Arc::new(Echo::default());
        let counts = serve(listener, Arc::clone(&site) as Arc<dyn Site>, limits).unwrap();
        Self { port, site, counts }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends what is said, with `HOST` for the server's own address, and gives all of the answer.
    fn say(&self, text: &str) -> String {
        let mut stream = self.connect();
        let host = format!("127.0.0.1:{}", self.port);
        // The server may have enough before all is said.
        let _ = stream.write_all(text.replace("HOST", &host).as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    fn status(&self, text: &str) -> String {
        self.say(text).chars().skip(9).take(3).collect()
    }

    /// Waits until nobody visits.
    fn empties(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.counts.open() > 0 {
            assert!(Instant::now() < until, "{} still visit", self.counts.open());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_request_is_answered_and_a_browser_is_told_to_keep_it_to_itself() {
    let server = Server::start(Limits::USUAL);
    let answer = server.say("GET /mesh?a=1&n=42 HTTP/1.1\r\nHost: HOST\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n/mesh Some(42)\n"), "{answer}");
    for guard in [
        "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy: same-origin",
        "X-Content-Type-Options: nosniff",
    ] {
        assert!(answer.contains(guard), "{answer}");
    }
    assert!(!answer.contains("Access-Control"), "{answer}");
}

/// DNS rebinding: a page from `evil.example` whose name now leads to this machine.
#[test]
fn a_visitor_who_means_another_host_is_turned_away() {
    let server = Server::start(Limits::USUAL);
    let port = server.port;
    let of = |host: &str| server.status(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(of(&format!("evil.example:{port}")), "421");
    assert_eq!(of(&format!("localhost.evil.example:{port}")), "421");
    assert_eq!(of("evil.example"), "421");
    assert_eq!(of("127.0.0.1"), "421", "that is port 80");
    assert_eq!(of(&format!("127.0.0.1:{}", port ^ 1)), "421");
    assert_eq!(of(""), "421");
    assert_eq!(server.status("GET / HTTP/1.1\r\n\r\n"), "421");
    assert_eq!(of(&format!("localhost:{port}")), "200");
    assert_eq!(of(&format!("LocalHost:{port}")), "200");
    assert_eq!(of(&format!("[{}]:{port}", Ipv6Addr::LOCALHOST)), "200");
    assert_eq!(
        of(&format!("192.0.2.7:{port}")),
        "200",
        "it may listen for other machines"
    );
}

#[test]
fn only_the_page_itself_can_ask_for_a_change() {
    let server = Server::start(Limits::USUAL);
    let post = |fields: &str| {
        let text = format!("POST /command HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n{fields}\r\n{{}}");
        server.status(&text)
    };
    const JSON: &str = "Content-Type: application/json\r\n";
    assert_eq!(post(&format!("Origin: http://HOST\r\n{JSON}")), "200");
    assert_eq!(post(JSON), "403");
    for origin in [
        "http://evil.example",
        "https://HOST",
        "http://HOST.evil.example",
        "null",
        "http://127.0.0.1:1",
    ] {
        assert_eq!(post(&format!("Origin: {origin}\r\n{JSON}")), "403", "{origin}");
    }
    assert_eq!(
        post(&format!(
            "Origin: http://HOST\r\nOrigin: http://evil.example\r\n{JSON}"
        )),
        "400"
    );
    // What a form of another page could send.
    assert_eq!(post("Origin: http://HOST\r\nContent-Type: text/plain\r\n"), "415");
    let bodies = server.site.bodies.lock().unwrap();
    assert_eq!(*bodies, [b"{}".to_vec()], "the others were not asked at all");
}

#[test]
fn what_is_too_large_or_no_request_is_refused() {
    let server = Server::start(QUICK);
    let own = "Origin: http://HOST\r\nContent-Type: application/json\r\n";
    let post = |fields: &str, body: &str| {
        server.status(&format!(
            "POST / HTTP/1.1\r\nHost: HOST\r\n{own}{fields}\r\n{body}"
        ))
    };
    assert_eq!(post("Content-Length: 5000000\r\n", &"x".repeat(5_000_000)), "413");
    assert_eq!(post("Content-Length: 99999999999999999999999999\r\n", ""), "413");
    assert_eq!(post("Content-Length: 4096\r\n", &"x".repeat(4096)), "200");
    for wrong in ["-1", "0x10", "", "1 1", "+1"] {
        assert_eq!(
            post(&format!("Content-Length: {wrong}\r\n"), ""),
            "400",
            "{wrong}"
        );
    }
    assert_eq!(post("Content-Length: 1\r\nContent-Length: 2\r\n", "xx"), "400");
    assert_eq!(post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), "411");
    let long = format!("GET /{} HTTP/1.1\r\nHost: HOST\r\n\r\n", "x".repeat(20_000));
    assert_eq!(server.status(&long), "431");
    let fields = "X: y\r\n".repeat(FIELDS_MAX + 1);
    assert_eq!(server.status(&format!("GET / HTTP/1.1\r\n{fields}\r\n")), "400");
    for rubbish in [
        "\u{16}\u{3}\u{1}\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
    ] {
        assert_eq!(server.status(rubbish), "400", "{rubbish:?}");
    }
    assert_eq!(server.status("DELETE / HTTP/1.1\r\nHost: HOST\r\n\r\n"), "405");
    server.empties();
}

#[test]
fn who_does_not_get_to_the_point_is_hung_up_on() {
    let server = Server::start(QUICK);
    for beginning in ["", "GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n"] {
        let mut stream = server.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        let start = Instant::now();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(
            answer.is_empty() && start.elapsed() < Duration::from_secs(10),
            "{beginning:?}"
        );
    }
    // A byte now and then is no way around it.
    let mut stream = server.connect();
    let dripping = (0..200).all(|_| {
        thread::sleep(Duration::from_millis(20));
        stream.write_all(b"x").is_ok()
    });
    assert!(!dripping, "4 s of single bytes");
    server.empties();
}

#[test]
fn a_crowd_finds_the_door_shut_and_the_next_one_after_it_open() {
    let server = Server::start(Limits {
        request: Duration::from_secs(2),
        ..QUICK
    });
    let crowd: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    let until = Instant::now() + Duration::from_secs(20);
    while server.counts.refused() < 46 {
        assert!(Instant::now() < until, "{} refused", server.counts.refused());
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.counts.open(), 4);
    drop(crowd);
    server.empties();
    assert_eq!(server.status("GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"), "200");
}

#[test]
fn who_does_not_take_the_answer_or_goes_away_is_let_go() {
    let server = Server::start(QUICK);
    let mut deaf = server.connect();
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    deaf.write_all(ask("/large").as_bytes()).unwrap();
    while server.site.bodies.lock().unwrap().is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    server.empties();

    let mut listener = server.connect();
    listener.write_all(ask("/events").as_bytes()).unwrap();
    let mut lines = io::BufRead::lines(BufReader::new(listener));
    let told = lines
        .by_ref()
        .map_while(Result::ok)
        .filter(|line| line.starts_with("data: "))
        .take(3);
    assert_eq!(told.collect::<Vec<_>>(), ["data: 0", "data: 1", "data: 2"]);
    assert_eq!(server.counts.open(), 1);
    drop(lines);
    server.empties();
}
