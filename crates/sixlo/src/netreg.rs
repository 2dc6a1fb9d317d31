//! The registry: who receives which messages.
//!
//! A receiver is entered under direction, packet type and context (a port, a next header, a message type) and may be
//! entered and removed at run time; several receivers of the same message each get the packet.

use crate::netapi::Msg;
use crate::trace::Module;

/// Who receives a message: a module, and which of its mailboxes or sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// The module.
    pub module: Module,
    /// The mailbox or socket, for [`Module::App`]; 0 for modules that have but one entrance.
    pub instance: u8,
}

/// One line of the registry. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    context: u16,
    /// Any context matches.
    any: bool,
    who: Receiver,
}

impl Entry {
    /// A free line.
    pub const EMPTY: Self = Self {
        context: 0,
        any: false,
        who: Receiver {
            module: Module::Netif,
            instance: 0,
        },
    };

    const fn takes(&self, context: u16) -> bool {
        self.any || self.context == context
    }
}

/// Kinds of messages: direction and type, with room for eight types.
const KINDS: usize = 16;

/// The number of a message's kind.
const fn kind(msg: Msg) -> usize {
    (msg.dir as usize) << 3 | msg.ty as usize
}

/// There is no free line in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryFull;

/// All receivers of a stack.
pub struct Registry<'a> {
    /// Sorted by kind of message, within a kind in the order of entry; the lines behind the last kind are free.
    lines: &'a mut [Entry],
    /// Where the lines of each kind begin, and behind the last, where they end.
    starts: [u16; KINDS + 1],
    /// The receiver of all messages of a kind, where there is but one line and it takes any context: so it is with most
    /// hops from module to module.
    sole: [Option<Receiver>; KINDS],
}

/// The receivers of one message.
pub enum Receivers {
    /// Nobody.
    None,
    /// This one alone.
    One(Receiver),
    /// Several: ask [`Registry::nth`] for each.
    Several,
}

impl<'a> Registry<'a> {
    /// Takes the table over and empties it.
    pub fn new(lines: &'a mut [Entry]) -> Self {
        lines.fill(Entry::EMPTY);
        Self {
            lines,
            starts: [0; KINDS + 1],
            sole: [None; KINDS],
        }
    }

    /// Gives the table back.
    pub fn into_lines(self) -> &'a mut [Entry] {
        self.lines
    }

    /// Enters a receiver for messages like `msg`, of any context if `any`.
    ///
    /// # Errors
    ///
    /// If there is no free line. At most 65,535 are used.
    pub fn enter(&mut self, msg: Msg, any: bool, who: Receiver) -> Result<(), RegistryFull> {
        let mut place = self.used();
        if place == usize::from(u16::MAX) {
            return Err(RegistryFull);
        }
        *self.lines.get_mut(place).ok_or(RegistryFull)? = Entry {
            context: msg.context,
            any,
            who,
        };
        // The lines of later kinds move back by one.
        let kind = kind(msg);
        let end = usize::from(self.starts[kind + 1]);
        while place > end {
            self.lines.swap(place - 1, place);
            place -= 1;
        }
        for start in &mut self.starts[kind + 1..] {
            *start += 1;
        }
        self.find_sole(kind);
        Ok(())
    }

    /// Removes a receiver from all messages like `msg`; true if it was there.
    pub fn remove(&mut self, msg: Msg, who: Receiver) -> bool {
        self.remove_from(kind(msg), Some(msg.context), who)
    }

    /// Removes a receiver wherever it stands; true if it was there.
    pub fn remove_all(&mut self, who: Receiver) -> bool {
        let mut found = false;
        for kind in 0..KINDS {
            found |= self.remove_from(kind, None, who);
        }
        found
    }

    /// Removes a receiver from one kind of messages, from those of one context or from all.
    fn remove_from(&mut self, kind: usize, context: Option<u16>, who: Receiver) -> bool {
        let mut found = false;
        let mut place = usize::from(self.starts[kind]);
        while place < usize::from(self.starts[kind + 1]) {
            let line = &self.lines[place];
            if line.who != who || context.is_some_and(|context| context != line.context) {
                place += 1;
                continue;
            }
            found = true;
            let used = self.used();
            for next in place + 1..used {
                self.lines.swap(next - 1, next);
            }
            self.lines[used - 1] = Entry::EMPTY;
            for start in &mut self.starts[kind + 1..] {
                *start -= 1;
            }
        }
        self.find_sole(kind);
        found
    }

    fn find_sole(&mut self, kind: usize) {
        let (start, end) = (usize::from(self.starts[kind]), usize::from(self.starts[kind + 1]));
        self.sole[kind] = match &self.lines[start..end] {
            [line] if line.any => Some(line.who),
            _ => None,
        };
    }

    /// Lines that are taken.
    fn used(&self) -> usize {
        usize::from(self.starts[KINDS])
    }

    /// The lines of a message's kind.
    fn lines_of(&self, msg: Msg) -> &[Entry] {
        let kind = kind(msg);
        let (start, end) = (self.starts[kind], self.starts[kind + 1]);
        self.lines
            .get(usize::from(start)..usize::from(end))
            .unwrap_or_default()
    }

    /// Who receives `msg`.
    #[inline]
    pub fn receivers(&self, msg: Msg) -> Receivers {
        match self.sole[kind(msg) % KINDS] {
            Some(who) => Receivers::One(who),
            None => self.search(msg),
        }
    }

    #[inline]
    fn search(&self, msg: Msg) -> Receivers {
        let mut found = None;
        for line in self.lines_of(msg) {
            if line.takes(msg.context) {
                if found.is_some() {
                    return Receivers::Several;
                }
                found = Some(line.who);
            }
        }
        found.map_or(Receivers::None, Receivers::One)
    }

    /// The first receiver of `msg` behind the `passed` first lines of its kind, and how many are passed then.
    pub fn nth(&self, msg: Msg, passed: usize) -> Option<(Receiver, usize)> {
        let mut lines = self.lines_of(msg).iter().enumerate().skip(passed);
        lines
            .find(|(_, line)| line.takes(msg.context))
            .map(|(place, line)| (line.who, place + 1))
    }

    /// Whether anybody receives `msg`.
    pub fn knows(&self, msg: Msg) -> bool {
        self.lines_of(msg).iter().any(|line| line.takes(msg.context))
    }
}

#[cfg(test)]
mod tests;
