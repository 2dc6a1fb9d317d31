//! What is being done, on a terminal.

use std::io::{IsTerminal, Write, stderr};

/// Says what is being done, in place of what was said before; nothing where nobody watches.
pub(crate) fn show(what: &str) {
    if stderr().is_terminal() {
        // Progress is a courtesy: if nobody can read it, the work goes on.
        let _ = write!(stderr(), "\r\x1b[K{what} ...").and_then(|()| stderr().flush());
    }
}

/// Takes it away.
pub(crate) fn end() {
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}
