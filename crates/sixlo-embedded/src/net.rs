//! A stack that tasks share.

use core::cell::RefCell;
use core::future::poll_fn;
use core::net::{Ipv6Addr, SocketAddr};
use core::task::{Context, Poll, Waker};

use embedded_nal_async::TcpConnect;
use sixlo::stack::Stack;
use sixlo::tcp::{ConnectionId, ListenerId, State, TcpError};
use sixlo::time::Instant;

use crate::connection::{Connection, Listener};
use crate::error::Error;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// A connection is established, or has failed.
    Connected(ConnectionId),
    /// Data or an end has come in.
    Readable(ConnectionId),
    /// There is room to send.
    Writable(ConnectionId),
    /// The packet buffer, which had no room with so many bytes and packets in it, holds others.
    Room(usize, usize),
    /// A connection waits to be accepted.
    Acceptable(ListenerId),
}

impl On {
    /// Whether it is worth to try again.
    fn is_over(self, stack: &mut Stack<'_>) -> bool {
        match self {
            Self::Connected(id) => stack.tcp_connection(id).map_or(true, |it| is_open(it.state())),
            Self::Readable(id) => stack.tcp_peek(id) != Err(TcpError::WouldBlock),
            Self::Writable(id) => stack.tcp_writable(id) != Ok(0),
            Self::Room(used, live) => (stack.buffer().used(), stack.buffer().live()) != (used, live),
            Self::Acceptable(id) => stack.tcp_acceptable(id) != Ok(false),
        }
    }
}

/// The handshake is over, or will never be.
const fn is_open(state: State) -> bool {
    !matches!(state, State::SynSent | State::SynReceived)
}

/// A task that waits.
struct Wait {
    on: On,
    waker: Waker,
    /// Whose entry it is: no two have the same.
    ticket: u32,
}

struct Shared<'a, const WAITS: usize> {
    stack: Stack<'a>,
    waits: [Option<Wait>; WAITS],
    /// The ticket that was given last.
    ticket: u32,
    /// A task has called the stack since the driver looked last.
    changed: bool,
    driver: Option<Waker>,
}

/// A stack that is shared between the task that drives it and up to `WAITS` tasks that wait for it at once; one more fails with
/// [`TcpError::NoRoom`]. `C` gives the present time, which never runs backwards.
pub struct Net<'a, C, const WAITS: usize> {
    shared: RefCell<Shared<'a, WAITS>>,
    clock: C,
}

impl<'a, C: Fn() -> Instant, const WAITS: usize> Net<'a, C, WAITS> {
    /// Shares a stack.
    pub const fn new(stack: Stack<'a>, clock: C) -> Self {
        let shared = Shared {
            stack,
            waits: [const { None }; WAITS],
            ticket: 0,
            changed: false,
            driver: None,
        };
        Self {
            shared: RefCell::new(shared),
            clock,
        }
    }

    /// Calls the stack with the present time, as its driver does (`frame`, `poll`, `transmit` ...) or an application for what
    /// has no trait, and wakes the tasks that can go on.
    ///
    /// # Panics
    ///
    /// If `call` calls the network again.
    pub fn drive<R>(&self, call: impl FnOnce(&mut Stack<'a>, Instant) -> R) -> R {
        let result = call(&mut self.shared.borrow_mut().stack, (self.clock)());
        // One after the other, since nothing is borrowed while a task is woken.
        while let Some(waker) = self.next_over() {
            waker.wake();
        }
        result
    }

    /// Takes a task out that can go on.
    fn next_over(&self) -> Option<Waker> {
        let shared = &mut *self.shared.borrow_mut();
        let stack = &mut shared.stack;
        let mut places = shared.waits.iter_mut();
        let wait = places.find_map(|place| place.take_if(|wait| wait.on.is_over(stack)));
        wait.map(|wait| wait.waker)
    }

    /// Waits until a task has called the stack: [`Stack::poll`] and [`Stack::wants_transmit`] may say something else than before.
    /// For the driver alone.
    pub async fn changed(&self) {
        poll_fn(|cx| {
            let shared = &mut *self.shared.borrow_mut();
            if core::mem::take(&mut shared.changed) {
                return Poll::Ready(());
            }
            shared.driver = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Listens on a port; up to `backlog` connections wait to be accepted.
    ///
    /// # Errors
    ///
    /// [`TcpError::PortZero`], [`TcpError::InUse`], [`TcpError::NoListener`].
    pub fn listen(&self, port: u16, backlog: u8) -> Result<Listener<'_, 'a, C, WAITS>, Error> {
        let id = self.call(|stack, _| stack.tcp_listen(port, backlog))?;
        Ok(Listener { net: self, id })
    }

    /// Calls the stack for a task, and tells the driver.
    pub(crate) fn call<R>(
        &self,
        call: impl FnOnce(&mut Stack<'a>, Instant) -> Result<R, TcpError>,
    ) -> Result<R, Error> {
        let (result, driver) = {
            let shared = &mut *self.shared.borrow_mut();
            let result = call(&mut shared.stack, (self.clock)());
            shared.changed = true;
            (result, shared.driver.take())
        };
        if let Some(driver) = driver {
            driver.wake();
        }
        result.map_err(Error)
    }

    /// Calls the stack for a task until it gives something else than that there is nothing now.
    pub(crate) async fn until<R>(
        &self,
        on: On,
        mut call: impl FnMut(&mut Stack<'a>, Instant) -> Result<R, TcpError>,
    ) -> Result<R, Error> {
        let place = self.place();
        poll_fn(|cx| {
            let on = match self.call(&mut call) {
                Err(Error(TcpError::WouldBlock)) => on,
                Err(Error(TcpError::NoRoom)) => {
                    let buffer = self.shared.borrow();
                    let buffer = buffer.stack.buffer();
                    On::Room(buffer.used(), buffer.live())
                }
                result => return Poll::Ready(result),
            };
            match place.wait(on, cx) {
                true => Poll::Pending,
                false => Poll::Ready(Err(Error(TcpError::NoRoom))),
            }
        })
        .await
    }

    /// A ticket for a task that may have to wait.
    fn place(&self) -> Place<'_, 'a, WAITS> {
        let shared = &mut *self.shared.borrow_mut();
        shared.ticket = shared.ticket.wrapping_add(1);
        Place {
            shared: &self.shared,
            ticket: shared.ticket,
        }
    }
}

/// The place of a task among those that wait, if it does. A task that is given up leaves it.
struct Place<'n, 'a, const WAITS: usize> {
    shared: &'n RefCell<Shared<'a, WAITS>>,
    ticket: u32,
}

impl<const WAITS: usize> Place<'_, '_, WAITS> {
    /// Remembers what the task waits for; false if there is no place.
    fn wait(&self, on: On, cx: &Context<'_>) -> bool {
        let shared = &mut *self.shared.borrow_mut();
        let own = |it: &Option<Wait>| it.as_ref().is_some_and(|wait| wait.ticket == self.ticket);
        let place = shared.waits.iter().position(own);
        let place = place.or_else(|| shared.waits.iter().position(Option::is_none));
        let Some(place) = place.and_then(|place| shared.waits.get_mut(place)) else {
            return false;
        };
        *place = Some(Wait {
            on,
            waker: cx.waker().clone(),
            ticket: self.ticket,
        });
        true
    }
}

impl<const WAITS: usize> Drop for Place<'_, '_, WAITS> {
    fn drop(&mut self) {
        for place in &mut self.shared.borrow_mut().waits {
            place.take_if(|wait| wait.ticket == self.ticket);
        }
    }
}

impl<'s, C: Fn() -> Instant, const WAITS: usize> TcpConnect for Net<'s, C, WAITS> {
    type Error = Error;
    type Connection<'a>
        = Connection<'a, 's, C, WAITS>
    where
        Self: 'a;

    /// Opens a connection; over when the handshake is. IPv6 only.
    async fn connect<'a>(&'a self, remote: SocketAddr) -> Result<Self::Connection<'a>, Error> {
        let address = address(&remote).ok_or(Error(TcpError::Address))?;
        let id = self.call(|stack, now| stack.tcp_connect(now, (address, remote.port()), &mut ()))?;
        // It closes the connection if the task is given up.
        let connection = Connection { net: self, id };
        let established = self.until(On::Connected(id), |stack, _| {
            let connection = stack.tcp_connection(id)?;
            match connection.error() {
                Some(error) => Err(error),
                None if is_open(connection.state()) => Ok(()),
                None => Err(TcpError::WouldBlock),
            }
        });
        established.await?;
        Ok(connection)
    }
}

/// An IPv6 address.
const fn address(remote: &SocketAddr) -> Option<Ipv6Addr> {
    match remote {
        SocketAddr::V6(remote) => Some(*remote.ip()),
        SocketAddr::V4(_) => None,
    }
}
