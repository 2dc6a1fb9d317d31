//! The examples, with programs of the kernel's side as clients: curl, and the standard library's sockets.
#![cfg(target_os = "linux")]

#[path = "../examples/echo.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod echo;
#[path = "../examples/http.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod http;
#[path = "../examples/send.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod send;
mod support;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

use sixlo_services::pattern;
use support::{KERNELS, OURS, in_namespace};

/// What curl says to a path of the server; `None` where it is not installed.
fn curl(args: &[&str], path: &str) -> Option<Output> {
    let url = format!("http://[{OURS}]{path}");
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "60"])
        .args(args)
        .arg(&url)
        .output();
    if output.is_err() {
        let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!ci, "curl is missing, and CI must not skip this test");
        println!("skipped: curl is not installed; try `apt-get install curl`");
    }
    output.ok()
}

/// The same, of a request that must come to its end.
fn fetch(args: &[&str], path: &str) -> Option<Vec<u8>> {
    let output = curl(args, path)?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "curl {path}: {said}");
    Some(output.stdout)
}

/// Serves from a thread that lives as long as the test's namespace has one.
fn in_background(serve: impl FnOnce() -> std::io::Result<()> + Send + 'static) {
    thread::spawn(move || serve().expect("a device"));
}

#[test]
fn curl_reads_pages_of_the_http_server() {
    in_namespace(|tun| {
        in_background(move || http::serve(tun));
        let Some(page) = fetch(&[], "/") else {
            return;
        };
        assert_eq!(page, sixlo_services::Node::PAGES[0].content);
        // 100 KB, and the bytes match.
        let bytes = fetch(&[], "/bytes/100000").expect("curl");
        assert!(bytes == (0..100_000).map(pattern).collect::<Vec<u8>>());
        // JSON in chunks, in both versions of HTTP.
        for version in ["--http1.0", "--http1.1"] {
            let counters = fetch(&[version], "/counters").expect("curl");
            assert!(counters.starts_with(b"{\"time_us\":") && counters.ends_with(b"}\n"));
        }
        let head = String::from_utf8(fetch(&["--head"], "/bytes/7").expect("curl")).expect("text");
        assert!(head.contains("Content-Length: 7\r\n"), "{head}");
        // Two requests over one connection.
        let two = format!("http://[{OURS}]/bytes/1");
        let both = fetch(&["--write-out", "%{num_connects}", &two], "/bytes/0").expect("curl");
        assert_eq!(both, b"\x0010");
        let missing = curl(&["--fail"], "/none").expect("curl");
        assert_eq!(missing.status.code(), Some(22), "curl's code for 404");
        let posted = fetch(&["--data", "a=b", "--write-out", "%{http_code}"], "/").expect("curl");
        assert!(posted.ends_with(b"405"));
    });
}

/// More at once than there are places: each gets its answer.
#[test]
fn thirty_curls_at_once_end() {
    in_namespace(|tun| {
        in_background(move || http::serve(tun));
        let urls: Vec<String> = (0..30)
            .map(|n| format!("http://[{OURS}]/bytes/{}", 1000 + n))
            .collect();
        let args: Vec<&str> = ["--parallel", "--parallel-immediate", "--parallel-max", "30"]
            .into_iter()
            .chain(urls.iter().map(String::as_str))
            .collect();
        if let Some(all) = fetch(&args, "/bytes/0") {
            assert_eq!(all.len(), (1000..1030).sum());
        }
    });
}

#[test]
fn the_echo_server_echoes() {
    in_namespace(|tun| {
        in_background(move || echo::serve(tun));
        let stream: Vec<u8> = (0..200_000).map(pattern).collect();
        let mut socket = TcpStream::connect((OURS, 7)).expect("a connection");
        let mut writer = socket.try_clone().expect("a second handle");
        let sent = stream.clone();
        let writing = thread::spawn(move || {
            writer.write_all(&sent).expect("a connection");
            writer.shutdown(Shutdown::Write).expect("a connection");
        });
        let mut back = Vec::new();
        socket.read_to_end(&mut back).expect("a connection");
        writing.join().expect("all was sent");
        assert!(back == stream);
    });
}

/// Also where nobody listens at first.
#[test]
fn the_sender_sends() {
    in_namespace(|tun| {
        let sending = thread::spawn(|| send::send(tun, 3_000_000));
        thread::sleep(std::time::Duration::from_millis(300));
        let listener = TcpListener::bind((KERNELS, 5001)).expect("a port");
        let (mut socket, _) = listener.accept().expect("a connection");
        let mut all = Vec::new();
        socket.read_to_end(&mut all).expect("a connection");
        assert_eq!(all.len(), 3_000_000);
        drop(socket);
        let seconds = sending.join().expect("no panic").expect("a device");
        assert!(seconds > 0.0 && seconds < 20.0);
    });
}
