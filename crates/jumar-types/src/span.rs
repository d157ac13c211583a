//! Ranges of memory that a task may touch, and copies between them.
//!
//! The only unsafe function of this crate: it turns a guarantee into a value, and reads nothing itself.

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

    /// Creates a span of memory that the caller guarantees.
    ///
    /// # Safety
    ///
    /// `address..address + bytes` does not wrap. It is mapped, readable and (where a task writes it) writable until the
    /// last task that was given the span has run: either a backend keeps it mapped, or the program under test
    /// promises it by passing the pointer to an ACL call. The bytes may be changed by others at any time; every
    /// access goes through raw pointers.
    #[expect(unsafe_code, reason = "the creator of a span guarantees its memory")]
    pub const unsafe fn trusted(address: usize, bytes: usize) -> Span {
        Span { address, bytes }
    }

    /// Returns the address of the first byte.
    pub const fn address(self) -> usize {
        self.address
    }

    /// Returns the length.
    ///
    /// # Units
    /// Bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Returns whether the span has no bytes.
    pub const fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// Returns the address after the last byte.
    pub const fn end(self) -> usize {
        self.address + self.bytes
    }

    /// Returns whether `address` lies inside.
    pub const fn contains(self, address: usize) -> bool {
        address >= self.address && address - self.address < self.bytes
    }

    /// Returns the part of `bytes` bytes that starts `offset` bytes in, if it lies inside.
    pub fn part(self, offset: usize, bytes: usize) -> Option<Span> {
        let end = offset.checked_add(bytes)?;
        (end <= self.bytes).then_some(Span {
            address: self.address + offset,
            bytes,
        })
    }

    /// Returns whether two spans share a byte.
    pub const fn overlaps(self, other: Span) -> bool {
        self.address < other.end() && other.address < self.end()
    }
}

/// A copy between two ranges of one length. They may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Transfer {
    /// The target's address; it is as long as the source.
    target: usize,
    source: Span,
}

impl Transfer {
    /// Describes a copy. `None`: the ranges differ in length, so that bytes beside the shorter one would be touched.
    #[inline]
    pub const fn new(target: Span, source: Span) -> Option<Transfer> {
        if target.bytes != source.bytes {
            return None;
        }
        Some(Transfer {
            target: target.address,
            source,
        })
    }

    /// Returns the range that is written.
    pub const fn target(self) -> Span {
        Span {
            address: self.target,
            bytes: self.source.bytes,
        }
    }

    /// Returns the range that is read.
    pub const fn source(self) -> Span {
        self.source
    }

    /// Returns the length of each range.
    ///
    /// # Units
    /// Bytes.
    pub const fn bytes(self) -> usize {
        self.source.bytes
    }

    /// Returns the copy of the `bytes` bytes that start `offset` bytes in, if they lie inside.
    pub fn part(self, offset: usize, bytes: usize) -> Option<Transfer> {
        Some(Transfer {
            target: self.target().part(offset, bytes)?.address,
            source: self.source.part(offset, bytes)?,
        })
    }

    /// Returns whether the ranges share a byte.
    pub const fn overlaps(self) -> bool {
        self.target().overlaps(self.source)
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

    #[test]
    #[expect(unsafe_code, reason = "spans are made")]
    fn a_copy_has_two_ranges_of_one_length() {
        // SAFETY: the spans are never dereferenced here.
        let (short, long) = unsafe { (Span::trusted(0x1000, 8), Span::trusted(0x2000, 16)) };
        assert_eq!(Transfer::new(short, long), None);
        assert_eq!(Transfer::new(long, short), None);
        let copy = long.part(8, 8).and_then(|part| Transfer::new(short, part));
        let copy = copy.expect("8 bytes each");
        assert_eq!((copy.target(), copy.bytes()), (short, 8));
        assert_eq!(
            copy.part(4, 4).map(|part| part.target().address()),
            Some(0x1004)
        );
        assert_eq!(copy.part(4, 5), None);
        assert!(!copy.overlaps());
    }
}
