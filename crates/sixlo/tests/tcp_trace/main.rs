//! TCP against a peer that the test plays: a line is a segment with its time in milliseconds. What is expected is what the RFC
//! named there asks for; `docs/tcp.md` has the choices that they leave.

#[path = "../support/tcp.rs"]
mod tcp;

mod blind;
mod closing;
mod handshake;
mod hostile;
mod icmp;
mod limits;
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

/// What a trace knows of one of several connections.
struct View {
    ports: (u16, u16),
    iss: (u32, u32),
    id: Option<sixlo::tcp::ConnectionId>,
    written: u32,
    read: u32,
}

/// Looks at another connection, and keeps what was known of the one before.
fn swap(t: &mut tcp::Trace, view: &mut View) {
    std::mem::swap(&mut t.ports, &mut view.ports);
    std::mem::swap(&mut t.iss, &mut view.iss);
    std::mem::swap(&mut t.id, &mut view.id);
    std::mem::swap(&mut t.written, &mut view.written);
    std::mem::swap(&mut t.read, &mut view.read);
}

/// One more connection, opened now by the peer from this port; the trace goes on with the one before.
fn another(t: &mut tcp::Trace, port: u16) -> View {
    let mut view = View {
        ports: (tcp::PORT, port),
        iss: (0, tcp::PEER_ISS),
        id: None,
        written: 1,
        read: 1,
    };
    swap(t, &mut view);
    let ms = (t.now.as_micros() - tcp::at(0).as_micros()) / 1000;
    tcp::send!(t, ms, "S 0 win 4096 <mss 500>");
    tcp::recv!(t, ms, "S. 0 ack 1");
    tcp::send!(t, ms, ". 1 ack 1 win 4096");
    t.id = t.listener.and_then(|listener| t.stack.tcp_accept(listener).ok());
    swap(t, &mut view);
    view
}
