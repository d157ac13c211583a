//! Managed memory: host and device share it at one address, and a program may say where it is going to be used.
//!
//! Here host and device share all memory, so that nothing moves. A program's advice is kept per page and returned by queries.

use jumar_hal::Span;
use jumar_types::{Error, ErrorKind, Result};

use crate::memory::Block;
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Runtime};

/// What sizes of managed memory, and of everything said about it, are multiples of.
///
/// # Units
/// Bytes.
pub const MANAGED_PAGE: usize = 2 << 20;

/// Where managed memory is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagedLocation {
    /// On a device.
    Device(u32),
    /// On the host.
    Host,
    /// On a node of the host's memory.
    HostNode(i32),
}

/// The program's advice about a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedPage {
    /// Whether the page is mostly read.
    pub read_mostly: bool,
    /// The preferred location of the page.
    pub preferred: Option<ManagedLocation>,
    /// The locations that are going to access the page.
    pub accessed_by: Vec<ManagedLocation>,
    /// The location of the last prefetch.
    pub prefetched: Option<ManagedLocation>,
}

/// A program's advice about a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The range is mostly read, or no longer.
    ReadMostly(bool),
    /// The range has a preferred location, or no longer.
    Preferred(Option<ManagedLocation>),
    /// The location is going to access the range.
    AccessedBy(ManagedLocation),
    /// The location is no longer going to access the range.
    NotAccessedBy(ManagedLocation),
    /// The range is prefetched to the location.
    Prefetched(ManagedLocation),
}

/// One allocation of managed memory.
pub(crate) struct ManagedBlock {
    span: Span,
    pages: Vec<ManagedPage>,
}

impl Context {
    /// Allocates managed memory: whole pages, not zeroed.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`.
    pub fn allocate_managed(&self, bytes: usize, caller: &Caller<'_>) -> Result<Block> {
        let rounded = bytes
            .checked_next_multiple_of(MANAGED_PAGE)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::OutOfMemory,
                    format!("{bytes} bytes are more than any device has"),
                )
            })?;
        let block = self.allocate_aligned(rounded, MANAGED_PAGE, caller)?;
        let pages = vec![ManagedPage::default(); rounded / MANAGED_PAGE];
        let managed = ManagedBlock {
            span: block.span,
            pages,
        };
        let address = block.span.address();
        let mut kept = self.shared().managed.lock();
        // Dropped with its device meanwhile, the address may be another's by now.
        let there = self.shared().space.find(address);
        if there.is_none_or(|there| there.number != block.number) {
            return Err(self.device().ended());
        }
        kept.insert(address, managed);
        drop(kept);
        Ok(block)
    }
}

impl SharedRuntime {
    /// Returns whether an address lies in managed memory.
    pub(crate) fn is_managed(&self, address: usize) -> bool {
        let managed = self.managed.lock();
        managed
            .range(..=address)
            .next_back()
            .is_some_and(|(_, block)| block.span.contains(address))
    }
}

impl Runtime {
    /// Returns whether an address lies in managed memory.
    pub fn is_managed(&self, address: usize) -> bool {
        self.shared.is_managed(address)
    }

    /// Returns the program's advice about each page of a range.
    ///
    /// # Errors
    /// `InvalidValue`: the range is not whole pages of one allocation of managed memory.
    pub fn managed_pages(&self, address: usize, bytes: usize) -> Result<Vec<ManagedPage>> {
        self.with_pages(address, bytes, |_, pages| pages.to_vec())
    }

    /// Keeps what a program says about a range. Returns the range.
    ///
    /// # Errors
    /// As [`Runtime::managed_pages`].
    pub fn advise(&self, address: usize, bytes: usize, advice: Advice) -> Result<Span> {
        self.with_pages(address, bytes, |span, pages| {
            for page in pages {
                match advice {
                    Advice::ReadMostly(read_mostly) => page.read_mostly = read_mostly,
                    Advice::Preferred(location) => page.preferred = location,
                    Advice::AccessedBy(location) => {
                        if !page.accessed_by.contains(&location) {
                            page.accessed_by.push(location);
                        }
                    }
                    Advice::NotAccessedBy(location) => {
                        page.accessed_by.retain(|one| *one != location)
                    }
                    Advice::Prefetched(location) => page.prefetched = Some(location),
                }
            }
            span
        })
    }

    fn with_pages<T>(
        &self,
        address: usize,
        bytes: usize,
        work: impl FnOnce(Span, &mut [ManagedPage]) -> T,
    ) -> Result<T> {
        let bad = |sentence: String| {
            Err(Error::new(ErrorKind::InvalidValue, sentence)
                .fix("Pass whole pages of 2 MiB of memory that was allocated as managed."))
        };
        let mut managed = self.shared.managed.lock();
        let found = managed
            .range_mut(..=address)
            .next_back()
            .filter(|(_, block)| block.span.contains(address));
        let Some((_, block)) = found else {
            return bad(format!("{address:#x} is not in managed memory"));
        };
        let offset = address - block.span.address();
        let Some(span) = block.span.part(offset, bytes) else {
            return bad(format!(
                "{bytes} bytes at {address:#x} leave the {} bytes of managed memory at {:#x}",
                block.span.bytes(),
                block.span.address()
            ));
        };
        if bytes == 0 || !offset.is_multiple_of(MANAGED_PAGE) || !bytes.is_multiple_of(MANAGED_PAGE)
        {
            return bad(format!(
                "{bytes} bytes at {address:#x} are no whole pages of {MANAGED_PAGE} bytes"
            ));
        }
        let first = offset / MANAGED_PAGE;
        let pages = block
            .pages
            .get_mut(first..first + bytes / MANAGED_PAGE)
            .expect("an allocation has a page for each of its parts");
        Ok(work(span, pages))
    }
}

/// What all pages of a range agree on.
pub fn agreed<T: PartialEq>(
    pages: &[ManagedPage],
    what: impl Fn(&ManagedPage) -> Option<T>,
) -> Option<T> {
    let mut values = pages.iter().map(what);
    let first = values.next()??;
    values
        .all(|value| value.as_ref() == Some(&first))
        .then_some(first)
}
