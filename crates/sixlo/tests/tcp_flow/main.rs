//! The flow of data in TCP against a peer that the test plays: a line is a segment with its time in milliseconds. What is
//! expected is what the RFC named there asks for; `docs/tcp.md` has the choices that they leave.

#[path = "../support/tcp.rs"]
mod tcp;

mod ack;
mod alive;
mod ecn;
mod hostile;
mod newreno;
mod receiver;
mod sack;
mod stamps;
mod timeout;
mod undo;
mod window;

use sixlo::stack::Config;
use tcp::Trace;

/// An established connection that has room for 4000 bytes to send; these options are in the peer's SYN.
fn established(options: &str, change: impl Fn(&mut Config)) -> Trace {
    Trace::established_with(
        |config| {
            config.tcp.send_buffer = 4000;
            change(config);
        },
        options,
    )
}

/// So many segments of [`MSS`] bytes under way, sent at 0 ms and not looked at.
fn under_way(segments: u32, options: &str, change: impl Fn(&mut Config)) -> Trace {
    let mut t = established(options, change);
    let mss = t.stack.tcp_connection(t.id()).expect("open").mss();
    t.write(segments * u32::from(mss));
    t.settle();
    assert_eq!(t.seen.len(), segments as usize, "segments");
    t.seen.clear();
    t
}

/// Nobody understands options.
fn plain(segments: u32) -> Trace {
    under_way(segments, "<mss 100>", |_| ())
}

/// Both understand selective acknowledgements.
fn with_sack(segments: u32) -> Trace {
    under_way(segments, "<mss 100 sackok>", |config| config.tcp.sack = true)
}

/// The peer sends a segment, whatever was sent before; says how many it is answered with.
fn press(t: &mut Trace, ms: u64, line: &str) -> usize {
    t.run_until(tcp::at(ms));
    t.seen.clear();
    t.send(ms, line);
    t.seen.len()
}

/// cwnd in bytes.
fn window(t: &Trace) -> u32 {
    t.stack
        .tcp_connection(t.id())
        .expect("open")
        .congestion()
        .window()
}
