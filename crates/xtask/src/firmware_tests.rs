//! The images of firmware/, run on the emulated chip.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use sixlo::netdev::{FRAME_LEN_MAX, IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};

use crate::image::Image;
use crate::qemu;
use crate::tools::{self, Failure, Images, OptLevel};

fn image(name: &str) -> PathBuf {
    tools::build(Images::Whole, OptLevel::S)
        .expect("firmware that can be built")
        .join(name)
}

#[track_caller]
fn why(ended: Result<String, Failure>) -> String {
    match ended {
        Err(Failure::Wrong(why)) => why,
        other => panic!("no failure: {other:?}"),
    }
}

/// An image with its first serial line in our hands. It ends with this value.
struct Wired {
    child: Child,
    line: UnixStream,
    since: Instant,
    incoming: Vec<u8>,
}

impl Wired {
    /// No exchange over the line takes longer.
    const LIMIT: Duration = Duration::from_secs(20);

    fn start(image: &Path) -> Self {
        let socket = std::env::temp_dir().join(format!("sixlo-echo-{}", std::process::id()));
        let _ = std::fs::remove_file(&socket);
        let mut child = qemu::start_with_serial(image, &socket).expect("the emulator");
        let since = Instant::now();
        let line = loop {
            match UnixStream::connect(&socket) {
                Ok(line) => break line,
                Err(_) if since.elapsed() < Self::LIMIT => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => {
                    let _ = child.kill();
                    panic!("no line to the image: {error}");
                }
            }
        };
        line.set_nonblocking(true).expect("a socket");
        let _ = std::fs::remove_file(&socket);
        Self {
            child,
            line,
            since,
            incoming: Vec::new(),
        }
    }

    fn now(&self) -> sixlo::time::Instant {
        assert!(self.since.elapsed() < Self::LIMIT, "nothing came back in time");
        let micros = self.since.elapsed().as_micros() as u64;
        sixlo::time::Instant::ZERO + sixlo::time::Duration::from_micros(micros)
    }

    /// Each frame goes as a byte of length and its bytes (firmware/src/link.rs).
    fn send(&mut self, frame: &[u8]) {
        let mut bytes = vec![frame.len() as u8];
        bytes.extend(frame);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match self.line.write(rest) {
                Ok(sent) => rest = &rest[sent..],
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
            self.now();
        }
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut some = [0; 256];
        if let Ok(len) = self.line.read(&mut some) {
            self.incoming.extend(&some[..len]);
        }
        let len = usize::from(*self.incoming.first()?);
        let frame = self.incoming.get(1..=len)?.to_vec();
        self.incoming.drain(..=len);
        Some(frame)
    }
}

impl Drop for Wired {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A node on this side of the line sends a datagram of three fragments to the image, which sends it back.
#[test]
fn the_echo_image_sends_back_what_it_gets() {
    const RADIO: IfaceId = IfaceId(0);
    const ECHO: (core::net::Ipv6Addr, u16) = (core::net::Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2), 7);
    let mut wired = Wired::start(&image("udp_echo"));
    let mut memory = Fixed::<2048, 4, 1, 1, 1>::new();
    let mut stack = Stack::new(memory.lend(), &Config::new(1)).expect("memory");
    stack
        .bring_up(RADIO, IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, 1]))
        .expect("an interface");
    let socket = stack.udp_bind(5683, 1).expect("a socket");
    let question: Vec<u8> = (0..250).collect();
    let sent = stack.udp_send_to(wired.now(), socket, ECHO, &question, &mut ());
    assert!(sent.is_ok(), "the datagram was not sent");
    let (mut frame, mut answer) = ([0; FRAME_LEN_MAX], [0; 300]);
    let received = loop {
        let now = wired.now();
        while let Some(incoming) = wired.receive() {
            stack.frame(now, RADIO, &incoming, RxInfo::default(), &mut ());
        }
        stack.poll(now, &mut ());
        if let Some(info) = stack.transmit(now, RADIO, &mut frame, &mut ()) {
            wired.send(&frame[..info.len]);
            let report = TxReport {
                outcome: TxOutcome::Acked,
                attempts: 1,
                busy: 0,
            };
            stack.transmitted(now, RADIO, report, &mut ());
        }
        if let Some(received) = stack.udp_receive(now, socket, &mut answer, &mut ()) {
            break received;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!((received.src, received.src_port), ECHO);
    assert_eq!(answer[..received.len], question);
}

/// Claim of Lenders 2016: no periodic wake-up; the node sleeps until the next frame or timer.
#[test]
fn g8_the_sensor_wakes_for_its_reports_and_for_nothing_else() {
    const WFI: [u8; 2] = [0x30, 0xbf];
    let image = image("sensor");
    let printed = qemu::run(&image, &[]).expect("a run to its end");
    assert_eq!(printed, "6 reports, 6 wake-ups\n");
    let pieces = Image::load(&image)
        .and_then(|image| image.pieces())
        .expect("an image");
    let is_wfi = |pc: u32| {
        let piece = pieces
            .iter()
            .find(|piece| (piece.address..piece.address + piece.len).contains(&pc.into()));
        let at = piece.map(|piece| (u64::from(pc) - piece.address) as usize);
        piece
            .zip(at)
            .is_some_and(|(piece, at)| piece.bytes.get(at..at + 2) == Some(&WFI))
    };
    let trace = qemu::trace(&image, &[]).expect("a run to its end");
    let slept = trace.iter().filter(|pc| is_wfi(**pc)).count();
    assert_eq!(slept, 6, "each wake-up follows an executed WFI");
    // A minute of waiting in a loop would be 468 million.
    assert!(trace.len() < 200_000, "{} instructions in a minute", trace.len());
}

#[test]
fn a_panic_on_the_chip_says_where_and_fails_the_run() {
    let why = why(qemu::run(&image("misbehave"), &["panic"]));
    assert!(why.contains("panic at src/bin/misbehave.rs:"), "{why}");
    assert!(why.starts_with("misbehave failed (exit status: 1)"), "{why}");
}

#[test]
fn a_fault_on_the_chip_says_where_and_fails_the_run() {
    let why = why(qemu::run(&image("misbehave"), &["fault"]));
    assert!(why.contains("fault at "), "{why}");
}

#[test]
fn an_image_that_hangs_is_ended_and_named() {
    let since = Instant::now();
    let limit = Duration::from_secs(1);
    let why = why(qemu::run_within(limit, &image("misbehave"), &["hang"]));
    assert_eq!(why, "misbehave did not end within 1 s");
    assert!(since.elapsed() < qemu::LIMIT);
}

#[test]
fn the_images_to_copy_from_are_short() {
    for name in ["udp_echo", "sensor"] {
        let path = tools::root().join(format!("firmware/src/bin/{name}.rs"));
        let lines = tools::text(&tools::read(path).expect("an image")).lines().count();
        assert!(lines < 100, "{name}: {lines} lines");
    }
}
