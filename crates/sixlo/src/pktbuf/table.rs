//! Tables of entries that are linked by number.

use core::ops::{Index, IndexMut};

/// As many entries of a table as are used, so that the references to a chunk cannot exceed what its header can count.
const ENTRIES_MAX: usize = 0x3fff;

/// A table lent by the caller whose entries are counted from 1, so that 0 names none.
///
/// A number that names no entry, which only an error of the stack itself could make, gives an entry to spare: so there is
/// no code for a panic, and none can happen. In debug builds it is a panic.
pub(super) struct Table<'a, T> {
    entries: &'a mut [T],
    spare: T,
}

impl<'a, T> Table<'a, T> {
    pub(super) const fn new(entries: &'a mut [T], spare: T) -> Self {
        Self { entries, spare }
    }

    /// All entries, used or not.
    pub(super) fn into_entries(self) -> &'a mut [T] {
        self.entries
    }

    /// How many entries are used.
    pub(super) fn len(&self) -> u16 {
        self.entries.len().min(ENTRIES_MAX) as u16
    }

    #[cfg(any(test, debug_assertions))]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    fn check(&self, number: u16) {
        debug_assert!(
            (1..=self.len()).contains(&number),
            "entry {number} of {}",
            self.len()
        );
    }
}

// On the chip, one look into a table takes 20 bytes of code, and there are 60 of them: there it is a function of its own.
impl<T> Index<u16> for Table<'_, T> {
    type Output = T;

    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn index(&self, number: u16) -> &T {
        self.check(number);
        let place = usize::from(number).wrapping_sub(1);
        self.entries.get(place).unwrap_or(&self.spare)
    }
}

impl<T> IndexMut<u16> for Table<'_, T> {
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline)]
    fn index_mut(&mut self, number: u16) -> &mut T {
        self.check(number);
        let place = usize::from(number).wrapping_sub(1);
        self.entries.get_mut(place).unwrap_or(&mut self.spare)
    }
}
