//! Ranges of bytes that their creator guarantees.

use std::marker::PhantomData;

/// A range of memory that kernels may read and, unless it is read-only, write.
///
/// # Ownership
///
/// Owns nothing. `'a` is how long the memory stays mapped.
///
/// # Threads
///
/// A region is only an address; others may change the bytes at any time.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    base: *mut u8,
    bytes: usize,
    writable: bool,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> Region<'a> {
    /// The region of no bytes.
    pub const EMPTY: Region<'static> = Region {
        base: std::ptr::null_mut(),
        bytes: 0,
        writable: true,
        memory: PhantomData,
    };

    /// Makes a region that can only be read.
    pub const fn shared(bytes: &'a [u8]) -> Region<'a> {
        Region {
            base: bytes.as_ptr().cast_mut(),
            bytes: bytes.len(),
            writable: false,
            memory: PhantomData,
        }
    }

    /// Makes a region of memory that the caller lends for reading and writing. Crate-private: copies of a region may be written through
    /// from several threads, which docs/decisions/tensor-memory.md allows to kernels alone.
    pub(crate) const fn exclusive(bytes: &'a mut [u8]) -> Region<'a> {
        Region {
            base: bytes.as_mut_ptr(),
            bytes: bytes.len(),
            writable: true,
            memory: PhantomData,
        }
    }

    /// Makes a region of device memory.
    ///
    /// # Safety
    ///
    /// `address..address + bytes` does not wrap, and is mapped, readable and writable for all of `'a`. No Rust
    /// reference to any of it is used meanwhile. The bytes may be changed by others at any time.
    pub const unsafe fn trusted(address: usize, bytes: usize) -> Region<'a> {
        Region {
            base: std::ptr::with_exposed_provenance_mut(address),
            bytes,
            writable: true,
            memory: PhantomData,
        }
    }

    /// Makes a region of the memory that a span names.
    pub fn of(span: jumar_types::Span) -> Region<'static> {
        // SAFETY: the creator of the span guarantees all of this (`Span::trusted`): mapped until the last task that was given
        // it has run, and accessed through raw pointers only.
        unsafe { Region::trusted(span.address(), span.bytes()) }
    }

    /// Returns the length.
    ///
    /// # Units
    ///
    /// Bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the address of the first byte, to compare regions with. It is never turned back into a pointer.
    pub fn address(&self) -> usize {
        self.base.addr()
    }

    /// Returns whether kernels may write here.
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// Returns a copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: the creator of the region guarantees that it is readable; the vector is as long, and new.
        unsafe { std::ptr::copy_nonoverlapping(self.base, bytes.as_mut_ptr(), self.bytes) };
        bytes
    }

    /// Copies bytes from `offset` on.
    ///
    /// # Panics
    /// When they do not lie inside.
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        let part = self.inside(offset, to.len());
        // SAFETY: the creator of the region guarantees that it is readable, and `part` has as many bytes; nothing else can refer
        // to `to`.
        unsafe { std::ptr::copy_nonoverlapping(part.base, to.as_mut_ptr(), to.len()) };
    }

    /// Copies bytes to `offset`.
    ///
    /// # Panics
    /// When they do not lie inside, or the region is read-only.
    pub fn write(&self, offset: usize, from: &[u8]) {
        let part = self.inside(offset, from.len());
        assert!(part.writable, "the region is read-only");
        // SAFETY: the creator of the region guarantees that it is writable, and `part` has as many bytes; no reference to them
        // exists, so that `from` lies elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), part.base, from.len()) };
    }

    fn inside(&self, offset: usize, bytes: usize) -> Region<'a> {
        let part = self.part(offset, bytes);
        part.unwrap_or_else(|| panic!("{bytes} bytes at {offset} of a region of {}", self.bytes))
    }

    /// Cuts a part out, or says that it does not lie inside.
    pub fn part(&self, offset: usize, bytes: usize) -> Option<Region<'a>> {
        let end = offset.checked_add(bytes)?;
        if end > self.bytes {
            return None;
        }
        // Wrapping: an empty region has no address to offset from; the sum stays inside by the check above.
        Some(Region {
            base: self.base.wrapping_add(offset),
            bytes,
            ..*self
        })
    }

    pub(super) const fn base(&self) -> *mut u8 {
        self.base
    }
}
