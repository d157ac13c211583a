//! Parts of a device's range that other processes can map.
//!
//! One memory file, as long as the range and empty at first, stands for all of it: what is in the range at some distance from its start is
//! in the file at the same offset. Pages come into the file when they are lent, with their content, and stay there. So another process maps
//! the file once, and needs only an offset from then on.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::OnceLock;

use jumar_hal::LentMemory;
use jumar_hal::sync::Mutex;
use jumar_types::Result;

use super::{HUGE, mapped};

/// What is lent of one range, which begins at `base`.
pub(super) struct LentRange {
    base: usize,
    bytes: usize,
    /// `None` if the system refused it.
    file: OnceLock<Option<File>>,
    pages: Mutex<LentPages>,
}

#[derive(Default)]
struct LentPages {
    /// In the file.
    lent: Ranges,
    /// Of other files, and so never lent.
    barred: Ranges,
}

impl LentRange {
    pub(super) fn new(base: usize, bytes: usize) -> LentRange {
        LentRange {
            base,
            bytes,
            file: OnceLock::new(),
            pages: Mutex::default(),
        }
    }

    fn file(&self) -> Option<&File> {
        let make = || {
            // Who makes a longer file than is allowed is ended by a signal.
            let limit = super::limit(libc::RLIMIT_FSIZE);
            if limit.is_some_and(|most| most < self.bytes) {
                return None;
            }
            let name = CString::new(LentMemory::NAME).ok()?;
            mapped::sealed_file(&name, self.bytes).ok()
        };
        self.file.get_or_init(make).as_ref()
    }

    /// Returns how other processes find the file.
    pub(super) fn memory(&self) -> Option<LentMemory> {
        Some(LentMemory {
            descriptor: self.file()?.as_raw_fd().unsigned_abs(),
            bytes: self.bytes,
        })
    }

    /// Puts whole pages of the range into the file. Returns whether they are there. Nothing may write to them meanwhile; reads are
    /// not disturbed.
    pub(super) fn lend(&self, part: Range<usize>) -> bool {
        let mut pages = self.pages.lock();
        if pages.barred.overlaps(&part) {
            return false;
        }
        let Some(file) = self.file() else {
            return false;
        };
        for missing in pages.lent.missing(&part) {
            if self.exchange(file, &missing).is_err() {
                return false;
            }
            pages.lent.insert(missing);
        }
        true
    }

    /// Notes that pages of the range are exchanged for those of another file, by `exchange`.
    pub(super) fn bar<T>(
        &self,
        part: Range<usize>,
        exchange: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut pages = self.pages.lock();
        let done = exchange()?;
        pages.lent.remove(&part);
        pages.barred.insert(part);
        Ok(done)
    }

    /// Notes that pages of another file were exchanged for fresh memory.
    pub(super) fn unbar(&self, part: &Range<usize>) {
        self.pages.lock().barred.remove(part);
    }

    /// Takes pages out of the file again, without their content: the system has their memory back.
    pub(super) fn take_back(&self, part: Range<usize>) {
        let mut pages = self.pages.lock();
        for lent in pages.lent.within(&part) {
            if super::refresh(lent.start, lent.len()).is_ok() {
                self.clear(lent.clone());
                pages.lent.remove(&lent);
            }
        }
    }

    /// Frees the memory of a part of the file.
    fn clear(&self, part: Range<usize>) {
        let Some(Some(file)) = self.file.get() else {
            return;
        };
        let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let offset = (part.start - self.base) as libc::off_t;
        // SAFETY: the descriptor is open; nothing of this process relies on the bytes.
        let _ =
            unsafe { libc::fallocate(file.as_raw_fd(), flags, offset, part.len() as libc::off_t) };
    }

    fn exchange(&self, file: &File, part: &Range<usize>) -> Result<()> {
        let offset = part.start - self.base;
        mapped::write_pages(file, offset, part)?;
        // SAFETY: the pages are of a part of the range that is open, and they hold the same bytes afterwards.
        unsafe { mapped::map_over(file, offset, part.start, part.len()) }?;
        let (start, end) = (part.start.next_multiple_of(HUGE), part.end & !(HUGE - 1));
        if start < end {
            // SAFETY: the pages were just mapped; the call changes how they are backed, not what they hold. Without it everything
            // works, slower.
            let _ = unsafe {
                libc::madvise(
                    ptr::without_provenance_mut(start),
                    end - start,
                    libc::MADV_COLLAPSE,
                )
            };
        }
        Ok(())
    }
}

impl Drop for LentRange {
    fn drop(&mut self) {
        // The addresses stay mapped; their memory goes back.
        self.clear(self.base..self.base + self.bytes);
    }
}

/// Ranges that do not touch each other.
#[derive(Default)]
struct Ranges {
    /// The end, by the start.
    ends: BTreeMap<usize, usize>,
}

impl Ranges {
    /// Lists the parts of a range that are inside.
    fn within(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.ends.range(..=range.start).next_back();
        let first = first.map_or(range.start, |(start, _)| *start);
        let found = self.ends.range(first..range.end);
        let cut = found.map(|(start, end)| (*start).max(range.start)..(*end).min(range.end));
        cut.filter(|cut| !cut.is_empty()).collect()
    }

    /// Lists the parts of a range that are not inside.
    fn missing(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut at = range.start;
        let mut all = Vec::new();
        for inside in self.within(range) {
            all.push(at..inside.start);
            at = inside.end;
        }
        all.push(at..range.end);
        all.retain(|part| !part.is_empty());
        all
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        !self.within(range).is_empty()
    }

    fn remove(&mut self, range: &Range<usize>) {
        for cut in self.within(range) {
            let (start, end) = self
                .ends
                .range(..=cut.start)
                .next_back()
                .map(|(start, end)| (*start, *end))
                .expect("a range holds each of its parts");
            self.ends.remove(&start);
            for left in [start..cut.start, cut.end..end] {
                if !left.is_empty() {
                    self.ends.insert(left.start, left.end);
                }
            }
        }
    }

    fn insert(&mut self, mut range: Range<usize>) {
        self.remove(&range);
        if let Some((start, end)) = self.ends.range(..range.start).next_back()
            && *end == range.start
        {
            range.start = *start;
        }
        if let Some(end) = self.ends.remove(&range.end) {
            range.end = end;
        }
        self.ends.insert(range.start, range.end);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, MetadataExt};

    use jumar_hal::Span;

    use super::super::{Space, read, write};
    use super::*;
    use crate::PAGE;

    const BYTES: usize = 5 << 20;

    fn pattern(seed: usize) -> Vec<u8> {
        (0..BYTES).map(|at| (at / 7 + seed * 31) as u8).collect()
    }

    fn space_with(bytes: &[u8]) -> (Space, Span) {
        let space = Space::reserve("the test's memory".to_owned(), 64 << 20).expect("addresses");
        let span = space.allocate(BYTES, 64).expect("memory");
        write(span, bytes);
        (space, span)
    }

    fn content(span: Span) -> Vec<u8> {
        let mut bytes = vec![0; span.bytes()];
        read(span, &mut bytes);
        bytes
    }

    fn in_file(space: &Space, offset: usize, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        let file = space.lent.file().expect("a file");
        file.read_exact_at(&mut content, offset as u64)
            .expect("as long as the range");
        content
    }

    #[test]
    fn pages_are_lent_with_their_content_and_their_neighbours_are_not() {
        let (space, span) = space_with(&pattern(1));
        let part = span.part(100, 3 << 20).expect("a part");
        let offset = space.lend(part).expect("lent");
        assert_eq!(offset, part.address() - space.base);
        let (first, bytes) = (offset - 100 + PAGE, (3 << 20) - PAGE);
        let lent = PAGE..PAGE + bytes;
        assert_eq!(in_file(&space, first, bytes), pattern(1)[lent.clone()]);
        let file = space.lent.file().expect("a file");
        assert_eq!(file.metadata().expect("open").blocks() * 512, bytes as u64);
        assert_eq!(content(span), pattern(1));
        // What is written later is in the file too.
        write(span, &pattern(2));
        assert_eq!(in_file(&space, first, bytes), pattern(2)[lent]);
        let again = span.part(0, BYTES).expect("all");
        assert_eq!(space.lend(again), Some(offset - 100));
        assert_eq!(content(span), pattern(2));
        assert_eq!(in_file(&space, offset - 100, BYTES), pattern(2));
    }

    #[test]
    fn pages_of_another_file_are_not_lent() {
        let (space, span) = space_with(&pattern(1));
        assert!(space.lend(span).is_some());
        let shared = space.share(span.address(), 16 * PAGE).expect("shared");
        assert_eq!(content(span), pattern(1));
        assert_eq!(space.lend(span), None);
        let rest = span.part(16 * PAGE, BYTES - 16 * PAGE).expect("the rest");
        assert!(space.lend(rest).is_some());
        drop(shared);
    }

    #[test]
    fn what_is_taken_back_takes_no_memory_and_can_be_lent_again() {
        let (space, span) = space_with(&pattern(1));
        let offset = space.lend(span).expect("lent");
        space.lent.take_back(span.address()..span.end());
        let file = space.lent.file().expect("a file");
        assert_eq!(file.metadata().expect("open").blocks(), 0);
        assert!(content(span).iter().all(|byte| *byte == 0));
        write(span, &pattern(3));
        assert!(in_file(&space, offset, BYTES).iter().all(|byte| *byte == 0));
        assert_eq!(space.lend(span), Some(offset));
        assert_eq!(in_file(&space, offset, BYTES), pattern(3));
    }

    #[test]
    fn memory_that_is_not_open_is_not_lent() {
        let (space, span) = space_with(&pattern(1));
        // SAFETY: only its numbers are used.
        let beyond = unsafe { Span::trusted(space.base + space.bytes - PAGE, PAGE) };
        assert_eq!(space.lend(beyond), None);
        assert_eq!(
            space.lend(span.part(1, 4096).expect("less than a page")),
            None
        );
    }

    #[test]
    fn ranges_are_what_marks_on_every_byte_are() {
        const LENGTH: usize = 64;
        let (mut ranges, mut marks) = (Ranges::default(), [false; LENGTH]);
        let mut random = 12345_u32;
        let mut next = |below: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % below
        };
        for _ in 0..5000 {
            let start = next(LENGTH - 1);
            let part = start..start + 1 + next(LENGTH - start - 1).min(9);
            let is_inserted = next(2) == 0;
            match is_inserted {
                true => ranges.insert(part.clone()),
                false => ranges.remove(&part),
            }
            marks[part].fill(is_inserted);
            let start = next(LENGTH - 1);
            let looked = start..start + 1 + next(LENGTH - start - 1);
            let listed = |parts: Vec<Range<usize>>| parts.into_iter().flatten().collect::<Vec<_>>();
            let marked = |is: bool| {
                looked
                    .clone()
                    .filter(|at| marks[*at] == is)
                    .collect::<Vec<_>>()
            };
            assert_eq!(listed(ranges.within(&looked)), marked(true));
            assert_eq!(listed(ranges.missing(&looked)), marked(false));
            // Neighbours are joined.
            let joined = marks.windows(2).filter(|two| two[0] != two[1]).count();
            let ends = ranges.ends.len() * 2;
            let outer = usize::from(marks[0]) + usize::from(marks[LENGTH - 1]);
            assert_eq!(ends, joined + outer);
        }
    }
}
