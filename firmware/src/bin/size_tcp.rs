//! TCP over 6LoWPAN: an echo server and a client of one, through every call that TCP has, so that all of its code is there.
//! `cargo xtask tcp` builds it with TCP, which no other image has.
#![no_std]
#![no_main]

use sixlo::netdev::{FRAME_LEN_MAX, IfaceId, RxInfo};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::{ConnectionId, ListenerId, TcpError};
use sixlo::time::Instant;
use sixlo_firmware::board::Clock;
use sixlo_firmware::link::Link;

const RADIO: IfaceId = IfaceId(0);

/// What listens, and what was accepted or opened.
struct Echo {
    listener: Option<ListenerId>,
    server: Option<ConnectionId>,
    client: Option<ConnectionId>,
}

impl Echo {
    /// Sends back what came in, without a copy in the application where that can be.
    fn serve(&mut self, stack: &mut Stack<'_>, now: Instant) -> Result<(), TcpError> {
        let Some(id) = self.server else {
            let Some(listener) = self.listener else {
                self.listener = Some(stack.tcp_listen(7, 2)?);
                return Ok(());
            };
            let id = stack.tcp_accept(listener)?;
            stack.tcp_set_keep_alive(now, id, true, &mut ())?;
            self.server = Some(id);
            return Ok(());
        };
        let mut piece = [0; 64];
        let got = stack.tcp_recv(now, id, &mut piece, &mut ())?;
        if got == 0 {
            stack.tcp_shutdown(now, id, &mut ())?;
            stack.tcp_close(now, id, &mut ())?;
            self.server = None;
        }
        stack.tcp_send(now, id, piece.get(..got).unwrap_or_default(), &mut ())?;
        Ok(())
    }

    /// Talks to another such server.
    fn ask(&mut self, stack: &mut Stack<'_>, now: Instant) -> Result<(), TcpError> {
        let Some(id) = self.client else {
            let server = core::net::Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
            let id = stack.tcp_connect(now, (server, 7), &mut ())?;
            stack.tcp_set_nagle(now, id, false, &mut ())?;
            stack.tcp_lend(now, id, b"first of all", &mut ())?;
            self.client = Some(id);
            return Ok(());
        };
        if let Some(error) = stack.tcp_connection(id)?.error() {
            return Err(error);
        }
        let len = stack.tcp_peek(id)?.len();
        stack.tcp_consume(now, id, len, &mut ())?;
        stack.tcp_reserve(now, id, 16, &mut ())?.fill(7);
        stack.tcp_commit(now, id, 16, &mut ())
    }

    /// Starts anew.
    fn fail(&mut self, stack: &mut Stack<'_>, now: Instant) {
        if let Some(id) = self.client.take() {
            let _ = stack.tcp_abort(now, id, &mut ());
        }
        if let Some(listener) = self.listener.take() {
            let _ = stack.tcp_close_listener(now, listener, &mut ());
        }
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut MEMORY: Fixed<1676, 12, 1, 1, 1, 0, 0, 2, 2048, 1, 2> = Fixed::new();
    let (mut clock, mut link) = (Clock::start(), Link::start());
    let mut stack = Stack::new(MEMORY.lend(), &Config::new(2)).expect("enough memory");
    stack
        .bring_up(RADIO, IfaceConfig::new([2, 0, 0, 0, 0, 0, 0, 2]))
        .expect("one interface");
    let mut echo = Echo {
        listener: None,
        server: None,
        client: None,
    };
    let mut frame = [0; FRAME_LEN_MAX];
    loop {
        let now = clock.now();
        if let Some(received) = link.receive() {
            stack.frame(now, RADIO, received, RxInfo::default(), &mut ());
        }
        for done in [echo.serve(&mut stack, now), echo.ask(&mut stack, now)] {
            if done.is_err_and(|error| error != TcpError::WouldBlock) {
                echo.fail(&mut stack, now);
            }
        }
        let deadline = stack.poll(now, &mut ());
        if let Some(info) = stack.transmit(now, RADIO, &mut frame, &mut ()) {
            let report = link.send(&frame[..info.len]);
            stack.transmitted(now, RADIO, report, &mut ());
        } else if deadline.is_none_or(|at| at > now) {
            clock.sleep_until(deadline);
        }
    }
}
