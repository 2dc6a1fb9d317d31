//! Messages of ICMPv6: errors and echo (RFC 4443).

use core::num::NonZeroU8;

use super::ipv6::{self, NextHeader};
use super::{ParseError, ipv6_ext, split};

#[cfg(test)]
mod tests;

/// Bytes of the longest head: what stands before the data of an echo or the packet that an error quotes.
pub const HEADER_LEN: usize = 8;

/// Bytes that an error quotes at most, so that its packet is no longer than the minimum MTU (RFC 4443 section 2.4
/// (c)).
pub const QUOTE_LEN_MAX: usize = ipv6::MTU_MIN - ipv6::HEADER_LEN - HEADER_LEN;

/// Bytes of the head of a message of this type: 8, or 4 if it is not known here.
pub const fn header_len(kind: u8) -> usize {
    match kind {
        1..=4 | 128 | 129 => HEADER_LEN,
        _ => 4,
    }
}

/// Declares the codes of a message, each with its number; values that are not named are kept.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A code that is not known here.
            Other(u8),
        }

        impl From<u8> for $name {
            fn from(number: u8) -> Self {
                match number { $($number => Self::$variant,)* other => Self::Other(other) }
            }
        }

        impl $name {
            /// The code as it is written.
            #[inline]
            pub const fn number(self) -> u8 {
                match self { $(Self::$variant => $number,)* Self::Other(other) => other }
            }
        }
    };
}

codes! {
    /// Why a destination is unreachable (RFC 4443 section 3.1).
    Unreachable {
        /// No route.
        NoRoute = 0,
        /// Forbidden by the administration.
        Prohibited = 1,
        /// Beyond the scope of the source address.
        BeyondScope = 2,
        /// The address cannot be reached, for instance because the next hop does not answer.
        Address = 3,
        /// Nobody listens on the port.
        Port = 4,
        /// The source address fails a policy.
        SourcePolicy = 5,
        /// The route rejects.
        RejectRoute = 6,
        /// A strict source route cannot be followed (RFC 6554 section 4.2).
        SourceRoute = 7,
    }
}

codes! {
    /// What took too long (RFC 4443 section 3.3).
    Exceeded {
        /// The hop limit ran out.
        HopLimit = 0,
        /// Not all fragments came in time.
        Reassembly = 1,
    }
}

codes! {
    /// What is wrong where the pointer points (RFC 4443 section 3.4).
    Problem {
        /// A header field.
        Field = 0,
        /// A next header that is not known.
        NextHeader = 1,
        /// An option that is not known.
        Option = 2,
        /// A first fragment that does not hold all headers (RFC 7112 section 5).
        FirstFragment = 3,
    }
}

/// A message without what follows it: the data of an echo, the packet that an error quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// The destination cannot be reached (RFC 4443 section 3.1).
    DestinationUnreachable(Unreachable),
    /// The packet does not fit the next link (section 3.2).
    PacketTooBig {
        /// The MTU of that link in bytes.
        mtu: u32,
    },
    /// The packet took too long (section 3.3).
    TimeExceeded(Exceeded),
    /// The packet could not be understood (section 3.4).
    ParameterProblem {
        /// What is wrong.
        problem: Problem,
        /// Where: the offset in bytes from the beginning of the packet; it may lie beyond what is quoted.
        pointer: u32,
    },
    /// A request for the same bytes (section 4.1).
    EchoRequest {
        /// Helps to match the reply.
        identifier: u16,
        /// Helps to match the reply.
        sequence: u16,
    },
    /// The reply to a request (section 4.2).
    EchoReply {
        /// As in the request.
        identifier: u16,
        /// As in the request.
        sequence: u16,
    },
    /// A message that is not known here; what follows is everything behind its checksum.
    Other {
        /// The type.
        kind: u8,
        /// The code.
        code: u8,
    },
}

impl Message {
    /// Whether it is an error: the upper bit of the type is 0 (RFC 4443 section 2.1). Errors are never answered by
    /// errors, those that are not known neither (section 2.4 (e.1)).
    pub const fn is_error(&self) -> bool {
        match self {
            Self::EchoRequest { .. } | Self::EchoReply { .. } => false,
            Self::Other { kind, .. } => *kind < 128,
            _ => true,
        }
    }

    /// Type, code and second word.
    #[inline]
    fn fields(&self) -> (u8, u8, u32) {
        let pair = |identifier: u16, sequence: u16| u32::from(identifier) << 16 | u32::from(sequence);
        match *self {
            Self::DestinationUnreachable(code) => (1, code.number(), 0),
            Self::PacketTooBig { mtu } => (2, 0, mtu),
            Self::TimeExceeded(code) => (3, code.number(), 0),
            Self::ParameterProblem { problem, pointer } => (4, problem.number(), pointer),
            Self::EchoRequest { identifier, sequence } => (128, 0, pair(identifier, sequence)),
            Self::EchoReply { identifier, sequence } => (129, 0, pair(identifier, sequence)),
            Self::Other { kind, code } => (kind, code, 0),
        }
    }
}

/// An error as it is written, in four bytes: it goes from module to module in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorMessage {
    /// The type.
    pub kind: NonZeroU8,
    /// The code.
    pub code: u8,
    /// The second word: a pointer or an MTU, of which there are none larger here.
    pub word: u16,
}

impl ErrorMessage {
    /// Nobody listens on the port (RFC 4443 section 3.1).
    pub const PORT: Self = Self::unreachable(Unreachable::Port);

    const fn new(kind: u8, code: u8, word: u16) -> Self {
        // A type of 0 is reserved (RFC 4443 section 2.1), and none of those below.
        let kind = match NonZeroU8::new(kind) {
            Some(kind) => kind,
            None => NonZeroU8::MAX,
        };
        Self { kind, code, word }
    }

    /// The destination cannot be reached (RFC 4443 section 3.1).
    #[inline]
    pub const fn unreachable(code: Unreachable) -> Self {
        Self::new(1, code.number(), 0)
    }

    /// The packet does not fit a link with this MTU (section 3.2).
    #[inline]
    pub const fn packet_too_big(mtu: u16) -> Self {
        Self::new(2, 0, mtu)
    }

    /// The packet took too long (section 3.3).
    #[inline]
    pub const fn time_exceeded(code: Exceeded) -> Self {
        Self::new(3, code.number(), 0)
    }

    /// The packet could not be understood (section 3.4), at so many bytes from its beginning.
    #[inline]
    pub const fn problem(problem: Problem, pointer: u16) -> Self {
        Self::new(4, problem.number(), pointer)
    }

    /// Whether it may answer a packet that was sent to many nodes: packet too big, and options that are not known (RFC 4443
    /// section 2.4 (e.3)).
    pub fn may_answer_multicast(self) -> bool {
        matches!((self.kind.get(), self.code), (2, _) | (4, 2))
    }

    /// The eight bytes of the head, its checksum 0.
    pub const fn head(self) -> [u8; HEADER_LEN] {
        let [high, low] = self.word.to_be_bytes();
        [self.kind.get(), self.code, 0, 0, 0, 0, high, low]
    }
}

/// The head of a message: what it says, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it says.
    pub message: Message,
    /// The checksum as it stands there (see [`Checksum`](super::checksum::Checksum)).
    pub checksum: u16,
}

impl Header {
    /// Reads the head of a message and gives what follows it. The code of an echo and of packet too big is ignored
    /// (RFC 4443 section 3.2), as are unused fields (sections 3.1, 3.3).
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`].
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[kind, code, high, low], rest) = split(bytes)?;
        let checksum = u16::from_be_bytes([high, low]);
        if header_len(kind) < HEADER_LEN {
            return Ok((
                Self {
                    message: Message::Other { kind, code },
                    checksum,
                },
                rest,
            ));
        }
        let (&[a, b, c, d], rest) = split(rest)?;
        let word = u32::from_be_bytes([a, b, c, d]);
        let identifier = u16::from_be_bytes([a, b]);
        let sequence = u16::from_be_bytes([c, d]);
        let message = match kind {
            1 => Message::DestinationUnreachable(code.into()),
            2 => Message::PacketTooBig { mtu: word },
            3 => Message::TimeExceeded(code.into()),
            4 => Message::ParameterProblem {
                problem: code.into(),
                pointer: word,
            },
            128 => Message::EchoRequest { identifier, sequence },
            _ => Message::EchoReply { identifier, sequence },
        };
        Ok((Self { message, checksum }, rest))
    }

    /// Bytes of the head: 8, or 4 of a message that is not known here.
    pub const fn emit_len(&self) -> usize {
        match self.message {
            Message::Other { .. } => 4,
            _ => HEADER_LEN,
        }
    }

    /// Writes the head in front of `out` and says how long it is.
    ///
    /// # Errors
    ///
    /// [`ParseError::NoRoom`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, ParseError> {
        let (kind, code, word) = self.message.fields();
        let [high, low] = self.checksum.to_be_bytes();
        let [a, b, c, d] = word.to_be_bytes();
        if self.emit_len() == HEADER_LEN {
            *out.first_chunk_mut().ok_or(ParseError::NoRoom)? = [kind, code, high, low, a, b, c, d];
        } else {
            *out.first_chunk_mut().ok_or(ParseError::NoRoom)? = [kind, code, high, low];
        }
        Ok(self.emit_len())
    }
}

/// What an error tells about the packet that caused it, as far as it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The fixed header of the packet. Its length field is that of the whole packet, not of the quote.
    pub header: ipv6::Header,
    /// The protocol above IPv6.
    pub upper: NextHeader,
    /// The beginning of that protocol's header and data, maybe empty.
    pub payload: &'a [u8],
}

impl<'a> Quote<'a> {
    /// Reads the packet that an error quotes, past its extension headers.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the quote ends before the upper layer is named, [`ParseError::Version`] if it is
    /// no IPv6.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let (fixed, rest) = split(bytes)?;
        let header = ipv6::Header::parse(fixed)?;
        let (upper, payload) = ipv6_ext::skip(header.next_header, rest)?;
        Ok(Self {
            header,
            upper,
            payload,
        })
    }
}
