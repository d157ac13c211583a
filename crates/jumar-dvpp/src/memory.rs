//! Memory that images lie in.
//!
//! The program under test may change device memory at any time. Image work therefore copies rows in and out, and holds no
//! reference to an element. A library in C that accesses memory through addresses gets its span.

use jumar_types::Span;

/// Memory that is read.
pub trait Source {
    /// Returns the length in bytes.
    fn bytes(&self) -> usize;

    /// Copies bytes from `offset` on.
    ///
    /// # Panics
    /// When the range does not lie inside: the caller has checked the image against the length.
    fn read(&self, offset: usize, to: &mut [u8]);

    /// Returns the memory where it lies, if it may be accessed through its address.
    fn span(&self) -> Option<Span> {
        None
    }
}

/// Memory that is written.
pub trait Sink {
    /// Returns the length in bytes.
    fn bytes(&self) -> usize;

    /// Copies bytes to `offset`.
    ///
    /// # Panics
    /// As [`Source::read`].
    fn write(&self, offset: usize, from: &[u8]);

    /// As [`Source::span`].
    fn span(&self) -> Option<Span> {
        None
    }
}

impl Source for [u8] {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        to.copy_from_slice(&self[offset..offset + to.len()]);
    }
}

impl Source for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        self.as_slice().read(offset, to);
    }
}

impl Sink for std::cell::RefCell<Vec<u8>> {
    fn bytes(&self) -> usize {
        self.borrow().len()
    }

    fn write(&self, offset: usize, from: &[u8]) {
        self.borrow_mut()[offset..offset + from.len()].copy_from_slice(from);
    }
}
