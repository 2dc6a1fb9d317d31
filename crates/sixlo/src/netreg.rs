//! The registry: who receives which messages.
//!
//! A receiver is entered under direction, packet type and context (a port, a next header, a message type) and may be
//! entered and removed at run time; several receivers of the same message each get the packet.

use crate::netapi::{Dir, Msg, Ty};
use crate::tcp;
use crate::trace::Module;
use crate::wire::ipv6::NextHeader;

/// Who receives a message: a module, and which of its mailboxes or sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// The module.
    pub module: Module,
    /// The mailbox or socket, for [`Module::App`]; 0 for modules that have but one entrance.
    pub instance: u8,
}

/// The next header of ICMPv6.
pub(crate) const ICMPV6: u16 = NextHeader::ICMPV6.0 as u16;
/// The next header of TCP.
pub(crate) const TCP: u16 = NextHeader::TCP.0 as u16;
/// The next header of UDP.
const UDP: u16 = NextHeader::UDP.0 as u16;

/// Which of the stack's own modules receives a message. Others are in the registry, beside it.
pub(crate) const fn own(msg: Msg) -> Option<Receiver> {
    let module = match (msg.dir, msg.ty, msg.context) {
        (Dir::Up, Ty::Ipv6, _) | (Dir::Down, Ty::Transport, _) => Module::Ipv6,
        (Dir::Up, Ty::Transport, TCP) if tcp::HERE => Module::Tcp,
        (Dir::Up, Ty::Transport, ICMPV6) => Module::Icmpv6,
        (Dir::Up, Ty::Transport, UDP) | (Dir::Down, Ty::Udp, _) => Module::Udp,
        (Dir::Down, Ty::Ipv6 | Ty::Link, _) => Module::Netif,
        _ => return None,
    };
    Some(Receiver { module, instance: 0 })
}

/// One line of the registry. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    context: u16,
    kind: u8,
    /// Any context matches.
    any: bool,
    who: Receiver,
}

impl Entry {
    /// A free line.
    pub const EMPTY: Self = Self {
        context: 0,
        kind: 0,
        any: false,
        who: Receiver {
            module: Module::Netif,
            instance: 0,
        },
    };

    const fn takes(&self, msg: Msg) -> bool {
        self.kind == kind(msg) && (self.any || self.context == msg.context)
    }
}

/// The number of a message's kind, which is direction and type: 0 to 15.
const fn kind(msg: Msg) -> u8 {
    (msg.dir as u8) << 3 | msg.ty as u8
}

/// There is no free line in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryFull;

/// Receivers beside the stack's own modules, which are known without it.
pub struct Registry<'a> {
    /// In the order of entry; the lines behind those that are used are free.
    lines: &'a mut [Entry],
    used: usize,
    /// Bit n: there is a line for messages of kind n.
    kinds: u16,
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
        Self {
            lines,
            used: 0,
            kinds: 0,
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
    /// If there is no free line.
    pub fn enter(&mut self, msg: Msg, any: bool, who: Receiver) -> Result<(), RegistryFull> {
        let line = self.lines.get_mut(self.used).ok_or(RegistryFull)?;
        *line = Entry {
            context: msg.context,
            kind: kind(msg),
            any,
            who,
        };
        self.used += 1;
        self.kinds |= 1 << kind(msg);
        Ok(())
    }

    /// Removes a receiver from all messages like `msg`; true if it was there.
    pub fn remove(&mut self, msg: Msg, who: Receiver) -> bool {
        self.remove_from(Some(msg), who)
    }

    /// Removes a receiver wherever it stands; true if it was there.
    pub fn remove_all(&mut self, who: Receiver) -> bool {
        self.remove_from(None, who)
    }

    /// Removes a receiver from messages like `msg`, or from all. The other lines keep their order.
    #[cfg_attr(target_os = "none", inline(never))]
    fn remove_from(&mut self, msg: Option<Msg>, who: Receiver) -> bool {
        let like = |line: &Entry, msg: Msg| line.kind == kind(msg) && line.context == msg.context;
        let before = self.used;
        self.used = 0;
        self.kinds = 0;
        for place in 0..before {
            let Some(&line) = self.lines.get(place) else { break };
            if line.who == who && msg.is_none_or(|msg| like(&line, msg)) {
                continue;
            }
            if let Some(kept) = self.lines.get_mut(self.used) {
                *kept = line;
            }
            self.used += 1;
            self.kinds |= 1 << line.kind;
        }
        self.used < before
    }

    /// Who receives `msg`.
    #[inline]
    pub fn receivers(&self, msg: Msg) -> Receivers {
        // For most hops from module to module there is no line, and no need to look for one.
        if self.kinds & 1 << kind(msg) == 0 {
            return Receivers::None;
        }
        match self.nth(msg, 0) {
            None => Receivers::None,
            Some((_, passed)) if self.nth(msg, passed).is_some() => Receivers::Several,
            Some((who, _)) => Receivers::One(who),
        }
    }

    /// The first receiver of `msg` behind the `passed` first lines, and how many are passed then.
    #[cfg_attr(target_os = "none", inline(never))]
    pub fn nth(&self, msg: Msg, passed: usize) -> Option<(Receiver, usize)> {
        let lines = self.lines.get(passed..self.used)?;
        let place = lines.iter().position(|line| line.takes(msg))?;
        Some((lines.get(place)?.who, passed + place + 1))
    }

    /// Whether anybody receives `msg`.
    pub fn knows(&self, msg: Msg) -> bool {
        self.nth(msg, 0).is_some()
    }
}

#[cfg(test)]
mod tests;
