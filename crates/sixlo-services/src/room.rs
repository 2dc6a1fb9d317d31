//! The memory of the services, lent by the caller.

use sixlo::sock::UDP_PAYLOAD_LEN_MAX;
use sixlo::tcp::ConnectionId;
use sixlo::time::Instant;

use crate::http::Exchange;

/// Everything that the services store. The length of each slice is a capacity.
pub struct Memory<'a> {
    /// TCP connections that are served at once; others wait in the backlog of the stack.
    pub conversations: &'a mut [Conversation],
    /// Heads of HTTP requests, shared out in equal parts among the conversations: what is longer than its part is answered with
    /// 431. A browser's has some 600 bytes.
    pub heads: &'a mut [u8],
    /// Where data lies on its way through: datagrams that are longer are not answered. At least 256 bytes.
    pub scratch: &'a mut [u8],
}

/// Memory of fixed size, for a static: so many conversations, and bytes for the heads of all their requests. All of it is zero at
/// first.
pub struct Room<const CONVERSATIONS: usize, const HEADS: usize> {
    conversations: [Conversation; CONVERSATIONS],
    heads: [u8; HEADS],
    scratch: [u8; UDP_PAYLOAD_LEN_MAX],
}

impl<const CONVERSATIONS: usize, const HEADS: usize> Room<CONVERSATIONS, HEADS> {
    /// Empty memory.
    pub const fn new() -> Self {
        Self {
            conversations: [const { Conversation::EMPTY }; CONVERSATIONS],
            heads: [0; HEADS],
            scratch: [0; UDP_PAYLOAD_LEN_MAX],
        }
    }

    /// Lends the memory to services.
    pub const fn lend(&mut self) -> Memory<'_> {
        Memory {
            conversations: &mut self.conversations,
            heads: &mut self.heads,
            scratch: &mut self.scratch,
        }
    }
}

impl<const CONVERSATIONS: usize, const HEADS: usize> Default for Room<CONVERSATIONS, HEADS> {
    fn default() -> Self {
        Self::new()
    }
}

/// A connection that is served.
#[derive(Debug)]
pub struct Conversation {
    /// `None` where the place is free.
    pub(crate) id: Option<ConnectionId>,
    pub(crate) talk: Talk,
    /// When it ends if nothing moves.
    pub(crate) until: Instant,
}

/// What a conversation is about, and how far it is.
#[derive(Debug)]
pub(crate) enum Talk {
    /// RFC 862: what comes in goes back.
    Echo,
    /// RFC 863: what comes in is thrown away.
    Discard,
    /// RFC 864: characters, from this one on.
    Source(u32),
    /// Requests of HTTP.
    Http(Exchange),
}

impl Conversation {
    /// A free place.
    pub const EMPTY: Self = Self {
        id: None,
        talk: Talk::Echo,
        until: Instant::ZERO,
    };
}
