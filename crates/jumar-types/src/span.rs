//! Ranges of memory that a task may touch.
//!
//! The one place of this crate with an unsafe function: it makes a promise into a value, and reads nothing itself.

/// A range of bytes that is mapped, readable and writable, device or host.
///
/// A span is a plain value; holding one does not keep the memory reserved. Device and pinned memory stays mapped
/// for the life of the process, so that a stale span reads old bytes and never faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Span {
    address: usize,
    bytes: usize,
}

impl Span {
    /// The range of no bytes.
    pub const EMPTY: Span = Span {
        address: 0,
        bytes: 0,
    };

    /// Makes a span of memory that somebody vouches for.
    ///
    /// # Safety
    ///
    /// `address..address + bytes` does not wrap. It is mapped, readable and (where a task writes it) writable until the
    /// last task that was given the span has run: either a backend keeps it mapped, or the program under test
    /// promises it by passing the pointer to an ACL call. The bytes may be changed by others at any time; every
    /// access goes through raw pointers.
    #[expect(unsafe_code, reason = "whoever makes a span vouches for its memory")]
    pub const unsafe fn trusted(address: usize, bytes: usize) -> Span {
        Span { address, bytes }
    }

    /// Gives the address of the first byte.
    pub const fn address(self) -> usize {
        self.address
    }

    /// Gives the length.
    ///
    /// # Units
    /// Bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Tells whether the span has no bytes.
    pub const fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// Gives the address after the last byte.
    pub const fn end(self) -> usize {
        self.address + self.bytes
    }

    /// Tells whether `address` lies inside.
    pub const fn contains(self, address: usize) -> bool {
        address >= self.address && address - self.address < self.bytes
    }

    /// Gives the part of `bytes` bytes that starts `offset` bytes in, if it lies inside.
    pub fn part(self, offset: usize, bytes: usize) -> Option<Span> {
        let end = offset.checked_add(bytes)?;
        (end <= self.bytes).then_some(Span {
            address: self.address + offset,
            bytes,
        })
    }

    /// Tells whether two spans share a byte.
    pub const fn overlaps(self, other: Span) -> bool {
        self.address < other.end() && other.address < self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "a span is made")]
    fn a_part_never_reaches_outside() {
        // SAFETY: the span is never dereferenced here.
        let span = unsafe { Span::trusted(0x1000, 16) };
        assert_eq!(span.part(8, 8).map(Span::address), Some(0x1008));
        assert_eq!(span.part(8, 9), None);
        assert_eq!(span.part(usize::MAX, 2), None);
    }
}
