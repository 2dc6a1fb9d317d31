//! Text that is written into a slice. `core::fmt` would do it, at some kilobytes of code on a chip.

/// Text that grows in a slice.
pub(crate) struct Text<'o> {
    out: &'o mut [u8],
    len: usize,
    cut: bool,
}

impl<'o> Text<'o> {
    pub(crate) const fn new(out: &'o mut [u8]) -> Self {
        Self {
            out,
            len: 0,
            cut: false,
        }
    }

    /// Bytes that were written; `None` if there was no room for some.
    pub(crate) const fn finish(self) -> Option<usize> {
        if self.cut { None } else { Some(self.len) }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        match self.out.get_mut(self.len..self.len + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.cut = true,
        }
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            at -= 1;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes(digits.get(at..).unwrap_or_default())
    }
}
