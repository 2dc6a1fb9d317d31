//! Bytes that are lent to the packet buffer for ever: a part of a packet that lies outside the arena.
//!
//! A loan is named like a chunk, by a number that no chunk has. Nobody writes to it: who wants to, gets a copy in the arena.

use super::Arena;
use crate::wire::copy;

/// Bit of the number of a chunk that is a loan.
const LENT: u16 = 0x8000;

/// Whether there can be loans: it is TCP that makes them.
const HERE: bool = cfg!(feature = "tcp");

/// Whether this is the number of a loan.
#[inline]
pub(in super::super) const fn is_lent(chunk: u16) -> bool {
    HERE && chunk & LENT != 0
}

/// A loan. The empty value is all-zero bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loan {
    bytes: Option<&'static [u8]>,
    /// References.
    count: u16,
}

impl Loan {
    /// A free place.
    pub const EMPTY: Self = Self {
        bytes: None,
        count: 0,
    };
}

impl<'a> Arena<'a> {
    /// Takes the table of loans over.
    pub(in super::super) fn set_loans(&mut self, loans: &'a mut [Loan]) {
        loans.fill(Loan::EMPTY);
        self.loans = loans;
    }

    /// Gives the table of loans back.
    pub(in super::super) fn take_loans(&mut self) -> &'a mut [Loan] {
        core::mem::take(&mut self.loans)
    }

    /// A number for these bytes, referenced once. None if the table is full.
    pub(in super::super) fn lend(&mut self, bytes: &'static [u8]) -> Option<u16> {
        let free = |loan: &Loan| HERE && loan.count == 0;
        let place = self.loans.iter().position(free)?;
        *self.loans.get_mut(place)? = Loan {
            bytes: Some(bytes),
            count: 1,
        };
        Some(LENT | place as u16)
    }

    fn loan_mut(&mut self, chunk: u16) -> Option<&mut Loan> {
        self.loans.get_mut(usize::from(chunk & !LENT))
    }

    #[cold]
    pub(super) fn share_loan(&mut self, chunk: u16) {
        if let Some(loan) = self.loan_mut(chunk) {
            loan.count += 1;
        }
    }

    #[cold]
    pub(super) fn release_loan(&mut self, chunk: u16) {
        if let Some(loan) = self.loan_mut(chunk) {
            debug_assert!(loan.count > 0, "release of a free loan");
            loan.count = loan.count.saturating_sub(1);
            if loan.count == 0 {
                *loan = Loan::EMPTY;
            }
        }
    }

    /// Bytes of a loan; none if it is no loan or does not have them.
    #[cfg_attr(feature = "tcp", inline(never))]
    pub(in super::super) fn lent(&self, chunk: u16, start: u16, len: usize) -> &[u8] {
        let loan = self.loans.get(usize::from(chunk & !LENT));
        let bytes = loan.filter(|_| is_lent(chunk)).and_then(|loan| loan.bytes);
        let start = usize::from(start);
        bytes
            .and_then(|bytes| bytes.get(start..start.saturating_add(len)))
            .unwrap_or_default()
    }

    /// Copies bytes of a loan into a chunk.
    pub(in super::super) fn copy_loan(&mut self, chunk: u16, start: u16, to: usize, len: usize) {
        let loan = self.loans.get(usize::from(chunk & !LENT)).copied();
        let bytes = loan.and_then(|loan| loan.bytes).unwrap_or_default();
        let start = usize::from(start);
        let from = bytes.get(start..start.saturating_add(len)).unwrap_or_default();
        copy(self.bytes_mut(to, len), from);
    }

    /// Loans that are in use.
    #[cfg(any(test, debug_assertions))]
    pub(in super::super) fn loans(&self) -> impl Iterator<Item = (u16, usize)> {
        let numbered = (0..).zip(self.loans.iter());
        numbered.map(|(place, loan): (u16, _)| (LENT | place, usize::from(loan.count)))
    }
}
