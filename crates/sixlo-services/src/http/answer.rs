//! Answers: their heads are written, and their content is handed to TCP.

use sixlo::tcp::TcpError;
use sixlo::trace::Sink;

use super::request::Manner;
use super::{Body, Response, Server, Site, Status};
use crate::line::Line;
use crate::text::Text;

/// Room that there must be before anything is written: the head of an answer and a first part of its content, or the frame of a
/// chunk and a part.
const ROOM_MIN: usize = 256;
/// Bytes around a chunk's content: its length in three digits, and two ends of lines.
const CHUNK_FRAME: usize = 7;
/// The chunk that ends a content of unknown length (RFC 9112 section 7.1).
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
/// The largest content of a chunk.
const CHUNK_MAX: usize = 0xfff;

/// An answer that goes out.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    manner: Manner,
    stage: Stage,
    /// Bytes of the content that were handed over.
    sent: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Content,
    Done,
}

/// What a step has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Bytes were handed over.
    Moved,
    /// There is no room now.
    Waits,
    /// The connection is gone, or the answer cannot be completed.
    Failed,
    /// All was handed over; whether the connection ends with it.
    Done {
        /// The connection ends.
        close: bool,
    },
}

impl Answer {
    pub(crate) const fn new(response: Response, mut manner: Manner) -> Self {
        // A content without length and without chunks ends with the connection (RFC 9112 section 6.3).
        if manner.old && matches!(response.body, Body::Made(_, None)) {
            manner.close = true;
        }
        Self {
            response,
            manner,
            stage: Stage::Head,
            sent: 0,
        }
    }

    pub(crate) fn is_success(&self) -> bool {
        self.response.status == Status::OK
    }

    /// Hands over the next piece.
    pub(crate) fn run<S: Sink, T: Site>(
        &mut self,
        line: &mut Line<'_, '_, S>,
        server: &mut Server<'_, T>,
    ) -> Step {
        match self.try_run(line, server) {
            Ok(step) => step,
            Err(TcpError::WouldBlock | TcpError::NoRoom) => Step::Waits,
            Err(_) => Step::Failed,
        }
    }

    fn try_run<S: Sink, T: Site>(
        &mut self,
        line: &mut Line<'_, '_, S>,
        server: &mut Server<'_, T>,
    ) -> Result<Step, TcpError> {
        if self.stage == Stage::Done {
            // Nothing follows that a small last segment could wait for.
            line.stack.tcp_set_nagle(line.now, line.id, false, line.sink)?;
            return Ok(Step::Done {
                close: self.manner.close,
            });
        }
        if let (Stage::Content, Body::Lent(bytes)) = (self.stage, self.response.body) {
            return self.lend(line, bytes);
        }
        let room = line.room()?;
        if room < ROOM_MIN {
            return Ok(Step::Waits);
        }
        if self.stage == Stage::Head {
            // The head waits for what follows it, so that they share a segment.
            line.stack.tcp_set_nagle(line.now, line.id, true, line.sink)?;
        }
        let before = (self.stage, self.sent, self.response.body);
        let Some(len) = self.write(line, server, room) else {
            return Ok(Step::Failed);
        };
        if len == 0 || line.send_scratch(len)? {
            Ok(Step::Moved)
        } else {
            (self.stage, self.sent, self.response.body) = before;
            Ok(Step::Waits)
        }
    }

    /// Writes the next piece into the scratch memory: the head, if it is still missing, and what fits of a content that is
    /// short or made. `None` if the site breaks its word.
    fn write<S: Sink, T: Site>(
        &mut self,
        line: &mut Line<'_, '_, S>,
        server: &mut Server<'_, T>,
        room: usize,
    ) -> Option<usize> {
        const { assert!(T::PIECE_LEN + CHUNK_FRAME <= ROOM_MIN, "a piece has always room") };
        let out = line.scratch.get_mut(..room)?;
        let mut len = 0;
        if self.stage == Stage::Head {
            len = self.head(out)?;
            self.stage = match self.manner.head_only {
                true => Stage::Done,
                false => Stage::Content,
            };
        }
        let rest = out.get_mut(len..)?;
        match (self.stage, &mut self.response.body) {
            (Stage::Done, _) => {}
            (_, Body::Lent(bytes)) => {
                if let Some(place) = rest.get_mut(..bytes.len()) {
                    place.copy_from_slice(bytes);
                    len += bytes.len();
                    self.stage = Stage::Done;
                }
            }
            (_, Body::Made(cursor, length)) => {
                let made = Made {
                    length: *length,
                    sent: &mut self.sent,
                    chunks: !self.manner.old,
                };
                let (added, done) = made.write(rest, T::PIECE_LEN, |out| {
                    server.site.make(cursor, line.stack, line.now, out)
                })?;
                len += added;
                if done {
                    self.stage = Stage::Done;
                }
            }
        }
        Some(len)
    }

    /// The head of the answer. Without a Date, since a node has no clock (RFC 9110 section 6.6.1).
    fn head(&self, out: &mut [u8]) -> Option<usize> {
        let Response {
            status,
            content_type,
            body,
        } = &self.response;
        let mut text = Text::new(out);
        text.text("HTTP/1.1 ").text(status.0);
        text.text("\r\nContent-Type: ").text(content_type);
        match body {
            Body::Lent(bytes) => {
                text.text("\r\nContent-Length: ").number(bytes.len() as u64);
            }
            Body::Made(_, Some(len)) => {
                text.text("\r\nContent-Length: ").number((*len).into());
            }
            Body::Made(_, None) if self.manner.old => {}
            Body::Made(_, None) => {
                text.text("\r\nTransfer-Encoding: chunked");
            }
        }
        if *status == Status::METHOD_NOT_ALLOWED {
            // RFC 9110 section 15.5.6.
            text.text("\r\nAllow: GET, HEAD");
        }
        if self.manner.close {
            text.text("\r\nConnection: close");
        } else if self.manner.old {
            text.text("\r\nConnection: keep-alive");
        }
        text.text("\r\n\r\n");
        text.finish()
    }

    /// Lends the rest of the content to TCP, or copies a piece of it where TCP takes no more loans.
    fn lend<S: Sink>(&mut self, line: &mut Line<'_, '_, S>, bytes: &'static [u8]) -> Result<Step, TcpError> {
        let rest = bytes.get(self.sent as usize..).unwrap_or_default();
        if rest.is_empty() {
            self.stage = Stage::Done;
            return Ok(Step::Moved);
        }
        let taken = match line.stack.tcp_lend(line.now, line.id, rest, line.sink) {
            Err(TcpError::NoRoom) => line.stack.tcp_send(line.now, line.id, rest, line.sink)?,
            taken => taken?,
        };
        self.sent += taken as u32;
        Ok(Step::Moved)
    }
}

/// A content that is made while it is sent.
struct Made<'m> {
    length: Option<u32>,
    sent: &'m mut u32,
    chunks: bool,
}

impl Made<'_> {
    /// Writes the next part of it; says how many bytes that were, and whether it was the last.
    fn write(
        self,
        out: &mut [u8],
        piece_len: usize,
        make: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<(usize, bool)> {
        let Some(length) = self.length else {
            return self.write_open(out, piece_len, make);
        };
        let left = length.saturating_sub(*self.sent) as usize;
        if left == 0 {
            return Some((0, true));
        }
        let fits = left.min(out.len());
        if fits < piece_len.min(left) {
            return Some((0, false));
        }
        let made = make(out.get_mut(..fits)?);
        if made == 0 || made > fits {
            // Less than the length that the head has told.
            return None;
        }
        *self.sent += made as u32;
        Some((made, *self.sent == length))
    }

    /// The same where the length is not known.
    fn write_open(
        self,
        out: &mut [u8],
        piece_len: usize,
        make: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<(usize, bool)> {
        let frame = if self.chunks { CHUNK_FRAME } else { 0 };
        let Some(fits) = out.len().checked_sub(frame).filter(|fits| *fits >= piece_len) else {
            return Some((0, false));
        };
        let fits = fits.min(CHUNK_MAX);
        if !self.chunks {
            let made = make(out.get_mut(..fits)?);
            return (made <= fits).then_some((made, made == 0));
        }
        let made = make(out.get_mut(5..5 + fits)?);
        if made == 0 {
            out.get_mut(..LAST_CHUNK.len())?.copy_from_slice(LAST_CHUNK);
            return Some((LAST_CHUNK.len(), true));
        }
        if made > fits {
            return None;
        }
        let digit = |shift: usize| match (made >> shift & 0xf) as u8 {
            value @ 0..=9 => b'0' + value,
            value => b'a' + value - 10,
        };
        let size = [digit(8), digit(4), digit(0), b'\r', b'\n'];
        out.get_mut(..5)?.copy_from_slice(&size);
        out.get_mut(5 + made..7 + made)?.copy_from_slice(b"\r\n");
        Some((made + CHUNK_FRAME, false))
    }
}
