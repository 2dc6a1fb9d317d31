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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    msg: Msg,
    /// Any context matches.
    any: bool,
    /// The number of the module plus one; 0 if the line is free.
    module: u8,
    instance: u8,
}

impl Entry {
    /// A free line.
    pub const EMPTY: Self = Self {
        msg: Msg::up(crate::netapi::Ty::Link, 0),
        any: false,
        module: 0,
        instance: 0,
    };

    fn receiver(&self) -> Option<Receiver> {
        let module = *Module::ALL.get(usize::from(self.module.checked_sub(1)?))?;
        Some(Receiver {
            module,
            instance: self.instance,
        })
    }

    fn takes(&self, msg: Msg) -> bool {
        self.module != 0
            && self.msg.ty == msg.ty
            && self.msg.dir == msg.dir
            && (self.any || self.msg.context == msg.context)
    }
}

/// There is no free line in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryFull;

/// All receivers of a stack.
pub struct Registry<'a> {
    lines: &'a mut [Entry],
    /// Lines behind this one are free.
    used: usize,
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
        Self { lines, used: 0 }
    }

    /// Gives the table back.
    pub fn into_lines(self) -> &'a mut [Entry] {
        self.lines
    }

    /// Enters a receiver for messages like `msg`, of any context if `any`.
    pub fn enter(&mut self, msg: Msg, any: bool, who: Receiver) -> Result<(), RegistryFull> {
        let line = self
            .lines
            .iter()
            .position(|line| line.module == 0)
            .ok_or(RegistryFull)?;
        self.lines[line] = Entry {
            msg,
            any,
            module: who.module as u8 + 1,
            instance: who.instance,
        };
        self.used = self.used.max(line + 1);
        Ok(())
    }

    /// Removes a receiver from all messages like `msg`; true if it was there.
    pub fn remove(&mut self, msg: Msg, who: Receiver) -> bool {
        self.remove_where(|line| line.msg == msg && line.receiver() == Some(who))
    }

    /// Removes a receiver wherever it stands; true if it was there.
    pub fn remove_all(&mut self, who: Receiver) -> bool {
        self.remove_where(|line| line.receiver() == Some(who))
    }

    fn remove_where(&mut self, gone: impl Fn(&Entry) -> bool) -> bool {
        let mut found = false;
        for line in self.lines.iter_mut().filter(|line| gone(line)) {
            *line = Entry::EMPTY;
            found = true;
        }
        self.used = self
            .lines
            .iter()
            .rposition(|line| line.module != 0)
            .map_or(0, |last| last + 1);
        found
    }

    /// Who receives `msg`.
    pub fn receivers(&self, msg: Msg) -> Receivers {
        let mut found = None;
        for line in self.lines.iter().take(self.used) {
            if line.takes(msg) {
                if found.is_some() {
                    return Receivers::Several;
                }
                found = line.receiver();
            }
        }
        found.map_or(Receivers::None, Receivers::One)
    }

    /// The first receiver of `msg` at or behind line `from`, and the line behind it.
    pub fn nth(&self, msg: Msg, from: usize) -> Option<(Receiver, usize)> {
        let lines = self.lines.iter().enumerate().take(self.used).skip(from);
        for (place, line) in lines {
            if line.takes(msg) {
                return line.receiver().map(|who| (who, place + 1));
            }
        }
        None
    }

    /// Whether anybody receives `msg`.
    pub fn knows(&self, msg: Msg) -> bool {
        self.nth(msg, 0).is_some()
    }
}

#[cfg(test)]
mod tests;
