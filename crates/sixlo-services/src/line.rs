//! One connection, as a service uses it during a turn.

use sixlo::stack::Stack;
use sixlo::tcp::{ConnectionId, TcpError};
use sixlo::time::Instant;
use sixlo::trace::Sink;

/// A connection during a turn.
pub(crate) struct Line<'t, 's, S> {
    pub(crate) stack: &'t mut Stack<'s>,
    pub(crate) id: ConnectionId,
    pub(crate) now: Instant,
    pub(crate) sink: &'t mut S,
    pub(crate) scratch: &'t mut [u8],
}

/// What becomes of a conversation after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It goes on, and nothing moved.
    Waits,
    /// It goes on, and bytes came in or were handed over.
    Moved,
    /// It goes on, until this time at most.
    Until(Instant),
    /// It is over: FIN.
    Close,
    /// It cannot be brought to its end: RST.
    Abort,
}

impl Outcome {
    /// Whether anything moved.
    pub(crate) const fn moved(moved: bool) -> Self {
        if moved { Self::Moved } else { Self::Waits }
    }
}

/// What may be read now.
pub(crate) enum Input<'r> {
    /// These bytes, at least one.
    Bytes(&'r [u8]),
    /// Nothing, yet.
    Nothing,
    /// Nothing any more: the peer has sent all.
    End,
    /// The connection is gone.
    Gone,
}

impl<S: Sink> Line<'_, '_, S> {
    /// What came in, where it lies.
    pub(crate) fn input(&mut self) -> Input<'_> {
        match self.stack.tcp_peek(self.id) {
            Ok([]) => Input::End,
            Ok(bytes) => Input::Bytes(bytes),
            Err(TcpError::WouldBlock) => Input::Nothing,
            Err(_) => Input::Gone,
        }
    }

    /// Takes bytes away that [`input`](Self::input) has shown.
    pub(crate) fn consume(&mut self, len: usize) {
        // A connection that is gone is found at the next look.
        let _ = self.stack.tcp_consume(self.now, self.id, len, self.sink);
    }

    /// Throws away what came in: how many bytes, and why no more.
    pub(crate) fn discard(&mut self) -> (usize, Input<'static>) {
        let mut thrown = 0;
        loop {
            let len = match self.input() {
                Input::Bytes(bytes) => bytes.len(),
                Input::Nothing => return (thrown, Input::Nothing),
                Input::End => return (thrown, Input::End),
                Input::Gone => return (thrown, Input::Gone),
            };
            self.consume(len);
            thrown += len;
        }
    }

    /// Bytes of the scratch memory that can be sent now as a whole.
    pub(crate) fn room(&mut self) -> Result<usize, TcpError> {
        let room = self.stack.tcp_writable(self.id)?;
        Ok(room.min(self.scratch.len()))
    }

    /// Sends the first bytes of the scratch memory, all or none of them; false if there is no room now.
    pub(crate) fn send_scratch(&mut self, len: usize) -> Result<bool, TcpError> {
        let room = match self.stack.tcp_reserve(self.now, self.id, len, self.sink) {
            Ok(room) => room,
            Err(TcpError::WouldBlock | TcpError::NoRoom) => return Ok(false),
            Err(error) => return Err(error),
        };
        for (to, from) in room.iter_mut().zip(self.scratch.iter()) {
            *to = *from;
        }
        self.stack.tcp_commit(self.now, self.id, len, self.sink)?;
        Ok(true)
    }
}
