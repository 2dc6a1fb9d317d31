//! TCP against a peer that the test plays: a line is a segment with its time in milliseconds. What is expected is what the RFC
//! named there asks for; `docs/tcp.md` has the choices that they leave.

#[path = "../support/tcp.rs"]
mod tcp;

mod closing;
mod handshake;
mod transitions;

/// An established connection with a peer that has room for so many bytes.
fn with_window(window: u16) -> tcp::Trace {
    let mut t = tcp::Trace::listening(|_| ());
    tcp::send!(t, 0, "S 0 win 4096 <mss 500>");
    tcp::recv!(t, 0, "S. 0 ack 1");
    tcp::send!(t, 0, ". 1 ack 1 win {window}");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    t
}
