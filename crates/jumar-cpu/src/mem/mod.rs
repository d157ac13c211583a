//! Address ranges and raw copies.
//!
//! A range is reserved once, without access and without memory behind it, where the kernel likes. It is opened for
//! reading and writing from its start on, in steps, and never closed or unmapped again: a span that is used
//! too long reads old bytes or zeros, and never faults. Memory arrives when it is touched.

pub(crate) mod file;
mod lent;
pub(crate) mod mapped;
pub(crate) mod shared;

use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use jumar_hal::sync::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use jumar_hal::{FileImage, FileMapping, Physical, Span, SpinLock, Transfer};
use jumar_types::{Error, ErrorKind, Result};

use crate::PAGE;
use crate::heap::Heap;

/// Ranges begin at, and are opened by, multiples of a huge page.
const HUGE: usize = 2 << 20;
/// The largest step by which a range is opened.
const STEP: usize = 64 << 20;
/// From this length on an allocation has its pages for itself, so that it can be shared with other processes.
const OWN_PAGES: usize = 64 << 10;

/// How much of the heap an allocation takes.
fn capacity(bytes: usize) -> usize {
    if bytes < OWN_PAGES {
        return bytes;
    }
    bytes.checked_next_multiple_of(PAGE).unwrap_or(bytes)
}

/// Where an allocation begins: at a multiple of this.
fn align_of(bytes: usize, align: usize) -> usize {
    if bytes < OWN_PAGES {
        align
    } else {
        align.max(PAGE)
    }
}

/// The smallest range that is worth having.
const LEAST: usize = 16 << 20;
/// Spans from this length on leave their memory to the system, should it need some, when they are freed.
const RELEASE: usize = 256 << 20;

/// A reserved range of addresses, and what is taken of it.
pub(crate) struct Space {
    what: String,
    base: usize,
    bytes: usize,
    heap: SpinLock<Heap>,
    /// Offset up to which the range is open. Changed under the heap's lock.
    open: AtomicUsize,
    /// Where files stand in the range.
    files: file::Files,
    lent: lent::LentRange,
    /// Each allocation has its pages for itself, whatever its length, and they are mapped a second time, so far behind.
    second_mapping: Option<usize>,
}

impl Space {
    /// Reserves a range for memory that messages call `what`. Under a limit on address space the range is smaller.
    ///
    /// # Errors
    /// `DeviceSetup`: not even a small range can be had.
    pub(crate) fn reserve(what: String, bytes: usize) -> Result<Space> {
        let wanted = bytes.max(HUGE).next_multiple_of(HUGE);
        let mut size = wanted;
        loop {
            // One huge page more, to begin at a multiple of one.
            match map(size + HUGE) {
                Ok(start) => {
                    let base = start.next_multiple_of(HUGE);
                    return Ok(Space {
                        what,
                        base,
                        bytes: size,
                        heap: SpinLock::new(Heap::new(size)),
                        open: AtomicUsize::new(0),
                        files: file::Files::default(),
                        lent: lent::LentRange::new(base, size),
                        second_mapping: None,
                    });
                }
                // An address-space limit (ulimit -v, valgrind): half of what was left is tried next.
                Err(_) if size / 2 >= LEAST => size = (size / 2).next_multiple_of(HUGE),
                Err(error) => {
                    return Err(Error::new(
                        ErrorKind::DeviceSetup,
                        format!(
                            "no address range of {size} bytes for {what} could be reserved: {error}"
                        ),
                    )
                    .fix("Raise the limit on address space (ulimit -v)."));
                }
            }
        }
    }

    /// Reserves a range whose memory is mapped twice: where the program sees it, its pages may lose access ([`crate::fault::guard`]);
    /// the runtime's own work goes through [`Space::own`], where they never do. `None`: the system does not let us.
    pub(crate) fn reserve_twice(what: String, bytes: usize) -> Option<Space> {
        let bytes = bytes.max(HUGE).next_multiple_of(HUGE);
        let memory = mapped::file_of(bytes).ok()?;
        let base = memory.map_anew(libc::PROT_NONE).ok()?;
        let own = memory.map_anew(libc::PROT_READ | libc::PROT_WRITE).ok()?;
        crate::fault::guard::open(base, base + bytes).then(|| Space {
            what,
            base,
            bytes,
            heap: SpinLock::new(Heap::new(bytes)),
            open: AtomicUsize::new(0),
            files: file::Files::default(),
            lent: lent::LentRange::new(base, bytes),
            second_mapping: Some(own.wrapping_sub(base)),
        })
    }

    /// Returns whether the memory is mapped twice.
    pub(crate) fn is_twice(&self) -> bool {
        self.second_mapping.is_some()
    }

    /// Returns the address by which the runtime itself reaches a byte: another one where the memory is mapped twice.
    fn own_address(&self, address: usize) -> usize {
        match self.second_mapping {
            Some(distance) if self.range().contains(&address) => address.wrapping_add(distance),
            _ => address,
        }
    }

    /// Returns the bytes of a span as the runtime itself reaches them.
    pub(crate) fn own(&self, span: Span) -> Span {
        // SAFETY: the same pages, mapped a second time for the life of the process.
        unsafe { Span::trusted(self.own_address(span.address()), span.bytes()) }
    }

    /// Returns a copy as the runtime itself reaches both ends.
    pub(crate) fn own_transfer(&self, copy: Transfer) -> Transfer {
        let (target, source) = (self.own(copy.target()), self.own(copy.source()));
        Transfer::new(target, source).expect("lengths stay")
    }

    /// Returns what an allocation takes of the heap, and where it begins: at a multiple of the second number.
    fn taken(&self, bytes: usize, align: usize) -> (usize, usize) {
        match self.second_mapping {
            None => (capacity(bytes), align_of(bytes, align)),
            Some(_) => (
                bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(bytes),
                align.max(PAGE),
            ),
        }
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.base..self.base + self.bytes
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes memory.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn allocate(&self, bytes: usize, align: usize) -> Result<Span> {
        let asked = bytes;
        let (bytes, align) = self.taken(bytes, align);
        let mut heap = self.heap.lock();
        let Some(offset) = heap.take(bytes, align, self.base) else {
            return Err(self.exhausted(bytes, &mut heap, None));
        };
        if heap.top() > self.open.load(Ordering::Relaxed)
            && let Err(error) = self.open_to(heap.top())
        {
            heap.give_back(offset, bytes);
            return Err(self.exhausted(bytes, &mut heap, Some(error)));
        }
        drop(heap);
        // SAFETY: the bytes lie in the range, which is open up to the heap's top and stays mapped for the life of the
        // process.
        Ok(unsafe { Span::trusted(self.base + offset, asked) })
    }

    /// Exchanges pages of the range for pages of a memory file, with their content.
    ///
    /// # Errors
    /// `InvalidValue`: no whole pages of what is open; `OutOfMemory`: the system refused it.
    pub(crate) fn share(&self, start: usize, bytes: usize) -> Result<Arc<dyn Physical>> {
        // Nothing is handed out, or opened further, while pages change.
        let _heap = self.heap.lock();
        let open = self.base..self.base + self.open.load(Ordering::Relaxed);
        let end = start.checked_add(bytes);
        let inside = open.contains(&start) && end.is_some_and(|end| end <= open.end);
        if !inside || bytes == 0 || !start.is_multiple_of(PAGE) || !bytes.is_multiple_of(PAGE) {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "{bytes} bytes at {start:#x} are no whole pages of {}",
                    self.what
                ),
            ));
        }
        // SAFETY: the pages lie in the open part of the range, which stays mapped for the life of the process.
        let pages = unsafe { Span::trusted(start, bytes) };
        self.lent
            .bar(start..pages.end(), || mapped::exchange(pages))
    }

    /// Returns how other processes map what is lent of the range; `None` if the system does not let them.
    pub(crate) fn lent_memory(&self) -> Option<jumar_hal::LentMemory> {
        self.lent.memory()
    }

    /// Lends the whole pages of a span. Returns where it begins in the lent memory; `None` if the pages cannot be lent.
    pub(crate) fn lend(&self, span: Span) -> Option<usize> {
        let open = self.base..self.base + self.open.load(Ordering::Relaxed);
        let pages = span.address().next_multiple_of(PAGE)..span.end() & !(PAGE - 1);
        let is_inside = open.contains(&span.address()) && span.end() <= open.end;
        (is_inside && !pages.is_empty() && self.lent.lend(pages))
            .then(|| span.address() - self.base)
    }

    /// Lets a part of a file stand in an allocation, until that is freed.
    ///
    /// # Errors
    /// `FeatureUnsupported`: no whole pages, or too many files; `OutOfMemory`: the system refused it.
    pub(crate) fn map_file(&self, at: Span, image: &FileImage) -> Result<Arc<dyn FileMapping>> {
        let pages = at.address()..at.end().next_multiple_of(PAGE);
        self.lent.bar(pages, || self.files.map(at, image))
    }

    /// Returns memory back.
    pub(crate) fn free(&self, span: Span) {
        match self.files.unmap(span) {
            None => {}
            Some(true) => self
                .lent
                .unbar(&(span.address()..span.end().next_multiple_of(PAGE))),
            // The system did not take the file out again: the addresses are not used any more.
            Some(false) => return,
        }
        let offset = span.address() - self.base;
        if span.bytes() >= RELEASE {
            let start = offset.next_multiple_of(HUGE);
            let end = (offset + span.bytes()) & !(HUGE - 1);
            self.lent.take_back(self.base + start..self.base + end);
            // SAFETY: the pages lie inside a span of a range that this object mapped. No owner relies on its bytes any more,
            // they have no new owner yet, and they stay mapped.
            let _ = unsafe {
                libc::madvise(
                    ptr::without_provenance_mut(self.base + start),
                    end - start,
                    libc::MADV_FREE,
                )
            };
        }
        let (taken, _) = self.taken(span.bytes(), PAGE);
        self.heap.lock().give_back(offset, taken);
    }

    fn exhausted(&self, bytes: usize, heap: &mut Heap, system: Option<io::Error>) -> Error {
        let mut sentence = format!(
            "{} is exhausted: {bytes} bytes were asked for, {} of {} are free, {} in one piece",
            self.what,
            heap.free_bytes(),
            self.bytes,
            heap.largest_free()
        );
        if let Some(system) = system {
            sentence = format!("{sentence}; the system gave no more: {system}");
        }
        Error::new(ErrorKind::OutOfMemory, sentence)
    }

    #[cold]
    fn open_to(&self, top: usize) -> io::Result<()> {
        let open = self.open.load(Ordering::Relaxed);
        // Steps grow with what is open, so that many small allocations cost few calls.
        let step = open.clamp(HUGE, STEP);
        let mut last = io::Error::from_raw_os_error(libc::ENOMEM);
        for end in [top.max(open + step), top] {
            let end = end.next_multiple_of(HUGE).min(self.bytes);
            match unlock(self.base + open, end - open) {
                Ok(()) => {
                    // The first huge page of a range is left to small pages: clearing all of it for the first few bytes of a
                    // process takes longer than everything else that the process does until then.
                    huge(
                        self.base + open.max(HUGE),
                        end.saturating_sub(open.max(HUGE)),
                    );
                    self.open.store(end, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        let open = self.open.load(Ordering::Relaxed);
        if open > 0 {
            // The addresses stay mapped for spans that outlive us; their memory goes back.
            // SAFETY: this object mapped the range and opened that part of it; the call leaves it mapped.
            let _ = unsafe {
                libc::madvise(
                    ptr::without_provenance_mut(self.base),
                    open,
                    libc::MADV_DONTNEED,
                )
            };
        }
    }
}

/// Returns the bytes of address space that ranges may take, if there is a limit (ulimit -v): half of what is left, because
/// the program needs some too.
pub(crate) fn address_budget() -> Option<usize> {
    let limit = limit(libc::RLIMIT_AS)?;
    let pages: usize = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(pages.saturating_mul(4096)) / 2)
}

/// Returns a limit of the process, if there is one.
fn limit(of: libc::__rlimit_resource_t) -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is ours to write.
    let result = unsafe { libc::getrlimit(of, &raw mut limit) };
    if result != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    Some(usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}

fn map(bytes: usize) -> io::Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // From here on it is a number: every access goes through pointers made from spans.
    Ok(start.expose_provenance())
}

fn unlock(address: usize, bytes: usize) -> io::Result<()> {
    let start = ptr::without_provenance_mut(address);
    // SAFETY: the caller mapped the pages; allowing more access breaks no reader.
    if unsafe { libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Replaces pages of an open range by fresh memory.
fn refresh(address: usize, bytes: usize) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let at = ptr::without_provenance_mut(address);
    // SAFETY: the pages are of a range that `Space::reserve` mapped; they belong to an allocation that is being freed.
    if unsafe { libc::mmap(at, bytes, access, flags, -1, 0) } == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    huge(address, bytes);
    Ok(())
}

/// Asks for huge pages. A hint: without them everything works, slower.
fn huge(address: usize, bytes: usize) {
    if bytes > 0 {
        let start = ptr::without_provenance_mut(address);
        // SAFETY: the caller mapped the pages; the call changes how they are backed, not what they hold.
        let _ = unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
}

/// Copies; overlapping ranges behave as memmove.
pub(crate) fn copy(copy: Transfer) {
    if copy.bytes() == 0 || copy_small(copy) {
        return;
    }
    let source = ptr::with_exposed_provenance::<u8>(copy.source().address());
    let target = ptr::with_exposed_provenance_mut::<u8>(copy.target().address());
    // SAFETY: the creator of the spans guarantees that both ranges are mapped (`Span::trusted`), and they are of one length
    // (`Transfer::new`). They may overlap.
    unsafe { ptr::copy(source, target, copy.bytes()) };
}

/// Copies 16 to 64 bytes; returns whether it did. Overlapping ranges behave as memmove.
#[inline]
pub(crate) fn copy_small(copy: Transfer) -> bool {
    let 16..=64 = copy.bytes() else {
        return false;
    };
    let source = ptr::with_exposed_provenance::<u8>(copy.source().address());
    let target = ptr::with_exposed_provenance_mut::<u8>(copy.target().address());
    let parts = small_parts(copy.bytes());
    // All is read before any is written, for the ranges may overlap.
    // SAFETY: as for `copy`; the parts lie inside the span.
    let words = parts.map(|offset| unsafe { source.add(offset).cast::<u128>().read_unaligned() });
    for (offset, word) in parts.into_iter().zip(words) {
        // SAFETY: as for `copy`.
        unsafe { target.add(offset).cast::<u128>().write_unaligned(word) };
    }
    true
}

/// Copies between ranges that do not overlap, past the caches: the target is too long to stay in them anyway.
pub(crate) fn copy_past_caches(transfer: Transfer) {
    debug_assert!(!transfer.overlaps());
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        // The stores want whole vectors at aligned addresses.
        let to = transfer.target().address();
        let head = (to.next_multiple_of(VECTOR) - to).min(transfer.bytes());
        let body = (transfer.bytes() - head) & !(2 * VECTOR - 1);
        let part = |offset, bytes| transfer.part(offset, bytes).expect("parts lie inside");
        copy(part(0, head));
        // SAFETY: the processor has AVX; the target is aligned, and the length is a multiple.
        unsafe { stream(part(head, body)) };
        copy(part(head + body, transfer.bytes() - head - body));
        return;
    }
    copy(transfer);
}

#[cfg(target_arch = "x86_64")]
const VECTOR: usize = 32;

/// Copies with non-temporal stores.
///
/// # Safety
///
/// The processor has AVX. The ranges do not overlap; the target is a multiple of a vector, the length of two vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn stream(copy: Transfer) {
    use std::arch::x86_64::{__m256i, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
    let source = ptr::with_exposed_provenance::<__m256i>(copy.source().address());
    let target = ptr::with_exposed_provenance_mut::<__m256i>(copy.target().address());
    for pair in 0..copy.bytes() / (2 * VECTOR) {
        let index = 2 * pair;
        // SAFETY: both vectors lie inside the source, which is mapped as for `copy`.
        let vectors = unsafe {
            (
                _mm256_loadu_si256(source.add(index)),
                _mm256_loadu_si256(source.add(index + 1)),
            )
        };
        // SAFETY: the vector lies inside the target, at an aligned address.
        unsafe { _mm256_stream_si256(target.add(index), vectors.0) };
        // SAFETY: as above.
        unsafe { _mm256_stream_si256(target.add(index + 1), vectors.1) };
    }
    // Non-temporal stores are not ordered with the stores by which the end of the task is made known.
    _mm_sfence();
}

/// Fills of zeros from this length on leave memory untouched that has no pages yet.
const SPARSE: usize = 16 << 20;

/// Fills.
pub(crate) fn fill(to: Span, value: u8) {
    if to.is_empty() {
        return;
    }
    if fill_small(to, value) {
        return;
    }
    match value == 0 && to.bytes() >= SPARSE {
        true => clear(to),
        false => fill_all(to, value),
    }
}

/// Writes zeros where there are pages, and sees to it that all others read as zeros, without making them. A program that clears a
/// cache of the size of a card's memory would otherwise take that much of the machine's.
fn clear(to: Span) {
    let part = |start: usize, end: usize| {
        to.part(start - to.address(), end - start)
            .expect("parts lie inside")
    };
    let first = to.address().next_multiple_of(HUGE);
    let last = to.end() & !(HUGE - 1);
    fill_all(part(to.address(), first), 0);
    fill_all(part(last, to.end()), 0);
    for start in (first..last).step_by(HUGE) {
        if !is_untouched(start) || !drop_pages(start) {
            fill_all(part(start, start + HUGE), 0);
        }
    }
}

/// Returns whether no page of a huge page is in memory. One that was moved to the swap area is not in memory either.
fn is_untouched(address: usize) -> bool {
    // Systems with larger pages write fewer entries.
    let mut pages = [0_u8; HUGE / PAGE];
    // SAFETY: the system only reads its tables of the address, which is mapped; there is an entry for each page.
    let failed = unsafe {
        libc::mincore(
            ptr::without_provenance_mut(address),
            HUGE,
            pages.as_mut_ptr(),
        )
    };
    failed == 0 && pages.iter().all(|page| page & 1 == 0)
}

/// Lets a huge page read as zeros, without memory behind it. Returns whether it does.
fn drop_pages(address: usize) -> bool {
    let advise = |advice| {
        // SAFETY: the caller is about to overwrite all of it with zeros, which is what it reads as afterwards.
        unsafe { libc::madvise(ptr::without_provenance_mut(address), HUGE, advice) == 0 }
    };
    // Pages of a memory file are removed from it. Private pages have no file, which the system refuses by this number; private pages of a file
    // would read as the file again, and it refuses them by another.
    advise(libc::MADV_REMOVE)
        || io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
            && advise(libc::MADV_DONTNEED)
}

fn fill_all(to: Span, value: u8) {
    let start = ptr::with_exposed_provenance_mut::<u8>(to.address());
    // SAFETY: the creator of the span guarantees that it is mapped and writable (`Span::trusted`).
    unsafe { ptr::write_bytes(start, value, to.bytes()) };
}

/// Fills 16 to 64 bytes. Returns whether it did.
#[inline]
pub(crate) fn fill_small(to: Span, value: u8) -> bool {
    let 16..=64 = to.bytes() else {
        return false;
    };
    let start = ptr::with_exposed_provenance_mut::<u8>(to.address());
    let word = u128::from_ne_bytes([value; 16]);
    for offset in small_parts(to.bytes()) {
        // SAFETY: as for `fill`; the parts lie inside the span.
        unsafe { start.add(offset).cast::<u128>().write_unaligned(word) };
    }
    true
}

/// Where words of 16 bytes cover 16 to 64 bytes, overlapping: a call of the C library costs more than that.
#[inline]
fn small_parts(bytes: usize) -> [usize; 4] {
    let last = bytes - 16;
    [0, last.min(16), last.saturating_sub(16), last]
}

/// One word of memory that several threads or processes may touch at once.
enum AtomicCell<'a> {
    Four(&'a AtomicU32),
    Eight(&'a AtomicU64),
}

impl AtomicCell<'_> {
    /// # Panics
    /// The span is not a word: a defect of Jumar, whose callers check lengths and alignment.
    fn of(span: Span) -> AtomicCell<'static> {
        let address = span.address();
        assert!(
            matches!(span.bytes(), 4 | 8) && address.is_multiple_of(span.bytes()),
            "a word has four or eight bytes and is aligned to them"
        );
        match span.bytes() {
            4 => {
                let word = ptr::with_exposed_provenance_mut(address);
                // SAFETY: the creator of the span guarantees that it is mapped and writable, and ranges of this crate stay
                // mapped; it is aligned. Whatever else touches the bytes at the same time is the program's own race.
                AtomicCell::Four(unsafe { AtomicU32::from_ptr(word) })
            }
            _ => {
                let word = ptr::with_exposed_provenance_mut(address);
                // SAFETY: as above.
                AtomicCell::Eight(unsafe { AtomicU64::from_ptr(word) })
            }
        }
    }
}

/// Reads a word in one piece.
pub(crate) fn load(word: Span) -> u64 {
    match AtomicCell::of(word) {
        AtomicCell::Four(word) => u64::from(word.load(Ordering::Acquire)),
        AtomicCell::Eight(word) => word.load(Ordering::Acquire),
    }
}

/// Writes a word in one piece; of four bytes the low half of `value`.
pub(crate) fn store(word: Span, value: u64) {
    match AtomicCell::of(word) {
        AtomicCell::Four(word) => word.store(value as u32, Ordering::Release),
        AtomicCell::Eight(word) => word.store(value, Ordering::Release),
    }
}

/// Writes a word if it is `from`. Returns whether it was.
pub(crate) fn exchange(word: Span, from: u64, to: u64) -> bool {
    let (done, failed) = (Ordering::AcqRel, Ordering::Acquire);
    match AtomicCell::of(word) {
        AtomicCell::Four(word) => word
            .compare_exchange(from as u32, to as u32, done, failed)
            .is_ok(),
        AtomicCell::Eight(word) => word.compare_exchange(from, to, done, failed).is_ok(),
    }
}

/// Copies bytes out of a span, at once, on the calling thread.
///
/// # Panics
/// The lengths differ.
pub fn read(from: Span, into: &mut [u8]) {
    // SAFETY: the slice is borrowed for the call, which is done with it when it returns.
    let target = unsafe { Span::trusted(into.as_mut_ptr().expose_provenance(), into.len()) };
    copy(Transfer::new(target, from).expect("a read fills the whole slice"));
}

/// Copies bytes into a span, at once, on the calling thread.
///
/// # Panics
/// The lengths differ.
pub fn write(to: Span, from: &[u8]) {
    // SAFETY: the slice is borrowed for the call, which is done with it when it returns.
    let source = unsafe { Span::trusted(from.as_ptr().expose_provenance(), from.len()) };
    copy(Transfer::new(to, source).expect("a write takes the whole slice"));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows memory of the test as the copies see it.
    fn span(address: usize, bytes: usize) -> Span {
        // SAFETY: the test passes parts of an array that it keeps.
        unsafe { Span::trusted(address, bytes) }
    }

    #[test]
    fn copies_and_fills_of_every_small_length_and_distance_do_what_slices_do() {
        const LENGTH: usize = 256;
        let fresh = || -> Vec<u8> { (0..LENGTH).map(|index| (index * 7 + 3) as u8).collect() };
        for bytes in 0..=80 {
            for to in [96, 97, 100, 111, 112, 113, 127, 128, 140, 160, 176] {
                let (mut found, mut wanted) = (fresh(), fresh());
                let base = found.as_mut_ptr().expose_provenance();
                let both = Transfer::new(span(base + to, bytes), span(base + 112, bytes));
                copy(both.expect("of one length"));
                wanted.copy_within(112..112 + bytes, to);
                assert_eq!(found, wanted, "{bytes} bytes from 112 to {to}");
                fill(span(base + to, bytes), 0xa5);
                wanted[to..to + bytes].fill(0xa5);
                assert_eq!(found, wanted, "{bytes} bytes at {to}");
            }
        }
    }

    /// Memory of the system, private or of a memory file.
    fn mapping(bytes: usize, shared: bool) -> Span {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let start = match shared {
            true => mapped::file_of(bytes)
                .expect("a memory file")
                .map_anew(access)
                .expect("a mapping"),
            false => {
                let start = map(bytes).expect("a mapping");
                unlock(start, bytes).expect("open pages");
                start
            }
        };
        span(start, bytes)
    }

    fn bytes_at(at: Span) -> &'static [u8] {
        // SAFETY: the mapping is never removed, and nothing writes to it while the slice is used.
        unsafe {
            std::slice::from_raw_parts(ptr::with_exposed_provenance(at.address()), at.bytes())
        }
    }

    #[test]
    fn zeros_take_no_memory_where_nothing_was_written() {
        for shared in [false, true] {
            let all = mapping(64 << 20, shared);
            fill(all, 0);
            let first = all.address().next_multiple_of(HUGE);
            let untouched = (first..all.end() - HUGE)
                .step_by(HUGE)
                .filter(|start| is_untouched(*start));
            assert!(untouched.count() >= 30, "shared: {shared}");
        }
    }

    #[test]
    fn zeros_replace_what_was_written_and_nothing_beside_them() {
        for shared in [false, true] {
            let all = mapping(40 << 20, shared);
            // Some huge pages have one page, some all of them, and some none.
            for (offset, bytes) in [
                (0, 8),
                (3 << 20, 1),
                (9 << 20, 5 << 20),
                ((40 << 20) - 3, 3),
            ] {
                fill_all(all.part(offset, bytes).expect("a part"), 0x5a);
            }
            let inner = all.part(5, (40 << 20) - 7).expect("a part");
            fill(inner, 0);
            let found = bytes_at(all);
            assert_eq!(&found[..5], [0x5a; 5], "shared: {shared}");
            assert_eq!(&found[(40 << 20) - 2..], [0x5a; 2], "shared: {shared}");
            assert!(found[5..(40 << 20) - 2].iter().all(|byte| *byte == 0));
        }
    }
}
