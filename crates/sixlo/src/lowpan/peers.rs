//! Link addresses that table entries refer to: each is stored once, and an entry holds its place, one byte.

use crate::wire::addr::LinkAddr;

/// One address and how many entries refer to it. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peer {
    addr: LinkAddr,
    users: u8,
}

impl Peer {
    /// A free place.
    pub const EMPTY: Self = Self {
        addr: LinkAddr::None,
        users: 0,
    };
}

/// The place of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PeerId(u8);

impl PeerId {
    /// For entries that are free: all-zero bits.
    pub(super) const NONE: Self = Self(0);
}

/// The table of addresses.
pub(super) struct Peers<'a> {
    table: &'a mut [Peer],
}

impl<'a> Peers<'a> {
    /// Takes the table over and empties it. At most 255 places are used.
    pub(super) fn new(table: &'a mut [Peer]) -> Self {
        table.fill(Peer::EMPTY);
        Self { table }
    }

    /// Gives the table back.
    pub(super) fn into_table(self) -> &'a mut [Peer] {
        self.table
    }

    /// The place of an address, which counts as used once more; `None` if there is none left.
    pub(super) fn intern(&mut self, addr: LinkAddr) -> Option<PeerId> {
        let used = self
            .table
            .iter()
            .position(|peer| peer.users != 0 && peer.addr == addr);
        let place = used.or_else(|| self.table.iter().position(|peer| peer.users == 0))?;
        let id = u8::try_from(place).ok()?;
        let peer = self.table.get_mut(place)?;
        peer.addr = addr;
        peer.users = peer.users.checked_add(1)?;
        Some(PeerId(id))
    }

    /// An entry refers to this address no more.
    pub(super) fn release(&mut self, id: PeerId) {
        if let Some(peer) = self.table.get_mut(usize::from(id.0)) {
            debug_assert_ne!(peer.users, 0, "an address was released once too often");
            peer.users = peer.users.saturating_sub(1);
        }
    }

    /// The address at a place.
    pub(super) fn addr(&self, id: PeerId) -> LinkAddr {
        self.table
            .get(usize::from(id.0))
            .map_or(LinkAddr::None, |peer| peer.addr)
    }

    /// Whether this is the address at a place.
    pub(super) fn is(&self, id: PeerId, addr: LinkAddr) -> bool {
        self.addr(id) == addr
    }

    /// Addresses in use.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.table.iter().filter(|peer| peer.users != 0).count()
    }
}

#[cfg(test)]
mod tests;
