//! Bits of a header.

/// Reads bits, the highest first. Reads beyond the end return `None`.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, next: 0 }
    }

    /// Reads a number of `count` bits, at most 32.
    pub(super) fn number(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            let byte = *self.bytes.get(self.next / 8)?;
            value = value << 1 | u32::from(byte >> (7 - self.next % 8) & 1);
            self.next += 1;
        }
        Some(value)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        self.number(1).map(|bit| bit == 1)
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.next += count;
    }

    /// Reads a number in Exponential-Golomb code.
    pub(super) fn golomb(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while !self.flag()? {
            zeros += 1;
            // The largest number that a header can have needs 31.
            if zeros > 31 {
                return None;
            }
        }
        Some((1_u32 << zeros) - 1 + self.number(zeros)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    /// The examples of table 9-2 of the standard, one behind the other.
    #[test]
    fn reads_exponential_golomb_codes() {
        // 1 010 011 00100 00101 00110 00111 0001000
        let bytes = [0b1010_0110, 0b0100_0010, 0b1001_1000, 0b1110_0010, 0];
        let mut bits = Bits::new(&bytes);
        for number in 0..8 {
            assert_eq!(bits.golomb(), Some(number));
        }
        assert_eq!(bits.golomb(), None, "only zeros are left");
    }

    #[test]
    fn the_longest_code_does_not_overflow() {
        let bytes = [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(Bits::new(&bytes).golomb(), Some(u32::MAX - 1));
        assert_eq!(Bits::new(&[0; 16]).golomb(), None);
    }
}
