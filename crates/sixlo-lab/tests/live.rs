//! `sixlo live` with the Linux kernel and its tools as the other side, in a network namespace that each test makes for itself.
//!
//! Without the right to make one, or without a tool, a test is skipped and says why; where the environment has `CI=true`, it fails.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};

/// Five nodes in a line, with what the test adds.
const CHAIN: &str = r#"
[topology.chain]
nodes = 5
[stack]
packet_buffer_bytes = 32768
packets = 128
reassembly_entries = 4
"#;

/// Runs a test in a network namespace of its own, with the loopback device up.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let test = move || match ready() {
        Ok(()) => test(),
        Err(why) => {
            let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!is_ci, "{why}, and CI must not skip this test");
            println!(
                "skipped: {why}; try `unshare --net --map-root-user cargo test -p sixlo-lab --test live`"
            );
        }
    };
    // A namespace belongs to a thread, and ends with it; what the thread starts is in it too.
    if let Err(panic) = thread::spawn(test).join() {
        std::panic::resume_unwind(panic);
    }
}

fn ready() -> Result<(), String> {
    for (tool, package) in [
        ("ip", "iproute2"),
        ("ping", "iputils-ping"),
        ("curl", "curl"),
        ("socat", "socat"),
    ] {
        let found = Command::new(tool)
            .arg("-V")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        found_or(found.is_ok(), || format!("no {tool} (apt-get install {package})"))?;
    }
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no network namespace: {error}"))?;
    found_or(run("ip", "link set lo up").status.success(), || {
        "no loopback device".to_owned()
    })
}

fn found_or(found: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if found { Ok(()) } else { Err(why()) }
}

/// Runs a program to its end.
fn run(program: &str, arguments: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace());
    command.output().expect("it starts")
}

/// `sixlo live` over a scenario; killed when dropped.
struct Live(Child);

impl Live {
    fn start(name: &str, scenario: &str, arguments: &str) -> Self {
        let mut child = command(name, scenario, arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        // It says so when all is set up.
        let out = child.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(out).lines();
        let ready = lines.any(|line| line.is_ok_and(|line| line.starts_with("nodes 1 to")));
        // Reads on, so that the program never waits for who reads it.
        thread::spawn(move || lines.for_each(drop));
        assert!(ready, "{name} did not start: {:?}", child.wait());
        Self(child)
    }

    fn signal(&self, signal: &str) {
        run("kill", &format!("-{signal} {}", self.0.id()));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(name: &str, scenario: &str, arguments: &str) -> Command {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&file, scenario).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlo"));
    command.arg("live").arg(file).args(arguments.split_whitespace());
    command
}

fn ping(address: &str, len: usize) -> bool {
    run("ping", &format!("-c 3 -i 1 -W 5 -s {len} {address}"))
        .status
        .success()
}

fn curl(url: &str, seconds: u32) -> Output {
    run("curl", &format!("-sS -g --max-time {seconds} {url}"))
}

/// What a node serves as `/bytes/N`.
fn bytes(len: u32) -> Vec<u8> {
    (0..len)
        .map(|at| (at ^ at >> 8 ^ at >> 16).wrapping_mul(0x9d) as u8)
        .collect()
}

#[test]
fn small_and_large_packets_come_back_over_one_and_four_hops() {
    in_namespace(|| {
        let _live = Live::start("ping", CHAIN, "");
        for address in ["fd00::1", "fd00::2", "fd00::5", "fd00:0:0:1::2"] {
            for len in [8, 1232] {
                assert!(ping(address, len), "{len} bytes to {address}");
            }
        }
    });
}

#[test]
fn a_large_file_comes_through_the_border_router_byte_by_byte() {
    in_namespace(|| {
        let _live = Live::start("file", CHAIN, "--speed 10");
        let got = curl("http://[fd00::2]/bytes/100000", 120);
        assert!(got.status.success(), "{got:?}");
        assert!(got.stdout == bytes(100_000), "{} bytes", got.stdout.len());
    });
}

#[test]
fn frames_that_are_lost_do_not_change_what_the_kernel_receives() {
    in_namespace(|| {
        let scenario = format!("{CHAIN}\n[mac]\nmax_retries = 1\n[medium.disc]\nframe_error_rate = 0.05\n");
        let _live = Live::start("loss", &scenario, "--speed 10");
        let got = curl("http://[fd00::3]/bytes/20000", 120);
        assert!(got.status.success(), "{got:?}");
        assert!(got.stdout == bytes(20_000), "{} bytes", got.stdout.len());
    });
}

#[test]
fn a_node_that_reboots_in_mid_transfer_serves_the_next_one() {
    in_namespace(|| {
        // Simulated time goes ten times as fast: after 2 s of the test, for half a second.
        let reboot = "[[reboot]]\nnode = 2\nat_ms = 20000\ndown_ms = 5000\n";
        let _live = Live::start("reboot", &format!("{CHAIN}\n{reboot}"), "--speed 10");
        let cut_off = curl("http://[fd00::2]/bytes/4000000", 30);
        assert!(!cut_off.status.success() && cut_off.stdout.len() < 4_000_000);
        assert!(
            cut_off.stdout == bytes(cut_off.stdout.len() as u32),
            "what came was right"
        );
        let got = curl("http://[fd00::2]/bytes/2000", 60);
        assert!(got.status.success() && got.stdout == bytes(2_000), "{got:?}");
    });
}

#[test]
fn fifty_clients_at_once_end_or_fail_and_the_mesh_goes_on() {
    in_namespace(|| {
        let scenario = CHAIN.replace("nodes = 5", "nodes = 10");
        let _live = Live::start("clients", &scenario, "--speed 10");
        let clients: Vec<_> = (0..50)
            .map(|number| {
                let url = format!("http://[fd00::{:x}]/bytes/500", number % 10 + 1);
                Command::new("curl")
                    .args(["-sS", "-g", "--max-time", "60", &url])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("it starts")
            })
            .collect();
        let mut whole = 0;
        for client in clients {
            let got = client.wait_with_output().expect("it ends");
            if got.status.success() && got.stdout == bytes(500) {
                whole += 1;
            }
        }
        println!("{whole} of 50 clients were served");
        assert!(whole >= 10, "{whole} were served");
        assert!(ping("fd00::5", 8), "the mesh goes on");
    });
}

#[test]
fn datagrams_go_both_ways() {
    in_namespace(|| {
        let _live = Live::start("udp", CHAIN, "");
        for text in ["hello", &"x".repeat(1000)] {
            let socat = format!("printf %s '{text}' | socat -t 5 - UDP6:[fd00::3]:7");
            let got = Command::new("sh")
                .args(["-c", &socat])
                .output()
                .expect("it starts");
            assert_eq!(String::from_utf8_lossy(&got.stdout), text);
        }
    });
}

#[test]
fn nothing_is_left_after_an_end_of_any_kind_and_it_starts_again() {
    in_namespace(|| {
        let nothing_left = || {
            let links = run("ip", "-o link").stdout;
            let routes = run("ip", "-6 route").stdout;
            !String::from_utf8_lossy(&links).contains("sixlo0")
                && !String::from_utf8_lossy(&routes).contains("fd00")
        };
        for signal in ["KILL", "TERM", "INT"] {
            let mut live = Live::start("kill", CHAIN, "");
            assert!(ping("fd00::2", 8) && !nothing_left());
            live.signal(signal);
            let status = live.0.wait().expect("it ends");
            assert_eq!(status.success(), signal != "KILL", "{signal}: {status:?}");
            let start = Instant::now();
            while !nothing_left() {
                assert!(
                    start.elapsed() < Duration::from_secs(5),
                    "{signal} left something"
                );
                thread::sleep(Duration::from_millis(20));
            }
        }
    });
}

/// Refused with exit code 2 and one sentence that holds this, and nothing was set up.
fn refused(name: &str, scenario: &str, arguments: &str, says: &str) {
    let got = command(name, scenario, &format!("{arguments} --for 2"))
        .output()
        .expect("it starts");
    let message = String::from_utf8_lossy(&got.stderr).into_owned();
    assert_eq!(got.status.code(), Some(2), "{name}: {message}");
    assert!(message.contains(says), "{name}: {message}");
    assert_eq!(got.stdout, b"", "{name}");
}

#[test]
fn what_is_in_the_way_is_said_with_the_remedy_and_nothing_is_set_up() {
    in_namespace(|| {
        let added = run("ip", "tuntap add dev other mode tun");
        assert!(added.status.success(), "{added:?}");
        refused(
            "name",
            CHAIN,
            "--tun other",
            "exists already; give another name with --tun",
        );
        refused("name-2", CHAIN, "--tun a/b", "1 to 15 letters");
        run("ip", "link set other up");
        run("ip", "-6 route add fd00:0:0:0:8::/80 dev other");
        refused("route", CHAIN, "", "--prefix");
        refused("prefix", CHAIN, "--prefix fd00:0:0:1::", "border.outside");
        refused(
            "sweep",
            &format!("{CHAIN}\n[sweep]\nmac.max_retries = [1, 2]\n"),
            "",
            "without [sweep]",
        );
        refused("border", &format!("{CHAIN}\n[border]\nnode = 6\n"), "", "1 to 5");
        let links = String::from_utf8(run("ip", "-o link").stdout).expect("text");
        assert!(!links.contains("sixlo0"), "{links}");
        // With another prefix it runs.
        let _live = Live::start("other-prefix", CHAIN, "--prefix fd77::");
        assert!(ping("fd77::2", 8));
        refused("twice", CHAIN, "--prefix fd78::", "`sixlo0` exists already");
    });
}

#[test]
fn without_the_right_it_says_what_helps() {
    in_namespace(|| {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("right.toml");
        std::fs::write(&file, CHAIN).expect("a file");
        // In a user namespace of its own it has no rights over this network.
        let got = Command::new("unshare")
            .args(["--user", env!("CARGO_BIN_EXE_sixlo"), "live"])
            .arg(file)
            .output()
            .expect("it starts");
        let message = String::from_utf8_lossy(&got.stderr).into_owned();
        assert_eq!(got.status.code(), Some(2), "{message}");
        assert!(message.contains("sudo sixlo live"), "{message}");
    });
}
