//! Echo, discard and the source of characters over TCP.

use sixlo::trace::Sink;

use crate::line::{Input, Line, Outcome};

/// RFC 862: what comes in goes back, until the peer ends. No byte is taken before there is room for its way back, so a peer that
/// does not read is not read from.
pub(crate) fn echo<S: Sink>(line: &mut Line<'_, '_, S>) -> Outcome {
    let mut moved = false;
    loop {
        let Ok(room) = line.room() else {
            return Outcome::Close;
        };
        if room == 0 {
            return Outcome::moved(moved);
        }
        let scratch = core::mem::take(&mut line.scratch);
        let (len, end) = match line.input() {
            Input::Bytes(bytes) => {
                let copied = scratch.iter_mut().zip(bytes).take(room);
                let len = copied.map(|(to, from)| *to = *from).count();
                (len, None)
            }
            Input::Nothing => (0, Some(Outcome::moved(moved))),
            Input::End | Input::Gone => (0, Some(Outcome::Close)),
        };
        line.scratch = scratch;
        if let Some(end) = end {
            return end;
        }
        match line.send_scratch(len) {
            Ok(true) => line.consume(len),
            Ok(false) => return Outcome::moved(moved),
            Err(_) => return Outcome::Close,
        }
        moved = true;
    }
}

/// RFC 863: what comes in is thrown away, until the peer ends.
pub(crate) fn discard<S: Sink>(line: &mut Line<'_, '_, S>) -> Outcome {
    match line.discard() {
        (_, Input::End | Input::Gone) => Outcome::Close,
        (thrown, _) => Outcome::moved(thrown > 0),
    }
}

/// RFC 864: characters, as fast as the peer takes them; what it sends is thrown away. Its FIN ends the conversation.
pub(crate) fn source<S: Sink>(line: &mut Line<'_, '_, S>, at: &mut u32) -> Outcome {
    if let (_, Input::End | Input::Gone) = line.discard() {
        return Outcome::Close;
    }
    let mut moved = false;
    loop {
        let Ok(room) = line.room() else {
            return Outcome::Close;
        };
        if room == 0 {
            return Outcome::moved(moved);
        }
        characters(*at, line.scratch.get_mut(..room).unwrap_or_default());
        match line.send_scratch(room) {
            Ok(true) => *at = at.wrapping_add(room as u32),
            Ok(false) => return Outcome::moved(moved),
            Err(_) => return Outcome::Close,
        }
        moved = true;
    }
}

/// Characters of a line of RFC 864's pattern, its end counted.
const LINE_LEN: u32 = 74;
/// The printable characters of ASCII, from the space on.
const PRINTABLE: u32 = 95;

/// The pattern that RFC 864 recommends, from a character on: lines of 72 of the 95 printable characters, each line beginning one
/// further.
pub(crate) fn characters(from: u32, out: &mut [u8]) {
    for (at, byte) in (0..).zip(out) {
        let at = from.wrapping_add(at);
        let (row, column) = (at / LINE_LEN, at % LINE_LEN);
        *byte = match column {
            72 => b'\r',
            73 => b'\n',
            _ => b' ' + ((row % PRINTABLE + column) % PRINTABLE) as u8,
        };
    }
}
