//! Runs of elements at a constant step, and the loops over them.

mod folds;

use std::marker::PhantomData;

use super::Element;
use folds::joined;

/// How many elements a bulk loop loads before it stores any.
///
/// Loading a whole group first lets the compiler use vector instructions although source and destination may be the
/// same memory, which in-place operators rely on.
pub(crate) const GROUP: usize = 16;

/// The bytes that are stored past the caches at once.
const VECTOR: usize = 16;

/// Keeps what is done to one group apart from what is done to the next.
///
/// The compiler would rather make vectors across groups, of the first elements of sixteen groups, of the second ones, and so on.
/// It gathers and scatters these, which takes several times as long as one vector for each group.
#[inline(always)]
pub(crate) fn separate_groups() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: there is no instruction in it.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// Returns whether all of `len` elements, from `start` on and every `step`th, lie below `reach`.
pub(super) fn part_inside(start: usize, len: usize, step: isize, reach: usize) -> bool {
    if len == 0 {
        return true;
    }
    let Some(way) = (len - 1).checked_mul(step.unsigned_abs()) else {
        return false;
    };
    if step >= 0 {
        start.checked_add(way).is_some_and(|last| last < reach)
    } else {
        start < reach && way <= start
    }
}

/// Begins at a line of the caches: a vector that crosses two lines is read again only when it has reached them. What is not aligned on
/// a stack crosses lines in some processes and not in others.
#[repr(align(64))]
struct LineAlignment<A>(A);

/// Out of line, so that the loops stay small.
#[cold]
#[inline(never)]
fn outside(start: usize, len: usize, row: usize) -> ! {
    panic!("{len} elements from {start} on, of a row of {row}");
}

#[cold]
#[inline(never)]
fn different(one: usize, two: usize) -> ! {
    panic!("rows of {one} and {two} elements, which have to be of one length");
}

/// Stands for copies past the caches, whose stores are not ordered with others until it is dropped: the thread that makes the end of a
/// kernel known does so afterwards.
#[derive(Debug, Default)]
pub struct PastCaches(());

impl Drop for PastCaches {
    fn drop(&mut self) {
        // SAFETY: every x86-64 processor has the instruction, which touches no memory.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// A run of elements that can be read.
#[derive(Clone, Copy)]
pub struct Row<'a, T> {
    first: *const T,
    len: usize,
    step: isize,
    memory: PhantomData<&'a [u8]>,
}

/// A run of elements that can be read and written.
#[derive(Clone, Copy)]
pub struct RowMut<'a, T> {
    first: *mut T,
    len: usize,
    step: isize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: an address of plain elements whose bits are copied in and out; a concurrent writer of the same memory, be it
// another part of the kernel or the program under test, changes values only. The memory outlives `'a` for every thread.
unsafe impl<T: Element> Send for Row<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Row<'_, T> {}

// SAFETY: an address of plain elements whose bits are copied in and out; a concurrent writer of the same memory, be it
// another part of the kernel or the program under test, changes values only. The memory outlives `'a` for every thread.
unsafe impl<T: Element> Send for RowMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for RowMut<'_, T> {}

impl<'a, T: Element> Row<'a, T> {
    /// Makes a row from what a view has proven.
    ///
    /// # Safety
    ///
    /// `first + i * step` is readable as a `T` for each `i < len`, for all of `'a`.
    pub(crate) unsafe fn new(first: *const T, len: usize, step: isize) -> Row<'a, T> {
        Row {
            first,
            len,
            step,
            memory: PhantomData,
        }
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether the elements lie side by side.
    pub const fn is_dense(&self) -> bool {
        self.step == 1 || self.len <= 1
    }

    pub(crate) const fn address(&self) -> *const T {
        self.first
    }

    /// Reads one element. Panics outside the row.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        if index >= self.len {
            outside(index, 1, self.len);
        }
        // SAFETY: `index < len`, and the creator of the row proved its elements readable; any alignment is read.
        unsafe {
            self.first
                .wrapping_offset(index as isize * self.step)
                .read_unaligned()
        }
    }

    /// Cuts `len` elements out, from `start` on. Panics outside the row.
    #[inline(always)]
    pub fn slice(&self, start: usize, len: usize) -> Row<'a, T> {
        let inside = start <= self.len && len <= self.len - start;
        if !inside {
            outside(start, len, self.len);
        }
        Row {
            first: self.first.wrapping_offset(start as isize * self.step),
            len,
            ..*self
        }
    }

    /// Reads `N` elements that lie side by side, from `start` on. Panics outside the row, and where it is not dense.
    #[inline(always)]
    pub fn group<const N: usize>(&self, start: usize) -> [T; N] {
        let inside = start <= self.len && N <= self.len - start && self.step == 1;
        if !inside {
            outside(start, N, self.len);
        }
        // SAFETY: `start + N <= len`, and the elements lie side by side.
        unsafe { self.read_group(start) }
    }

    /// Reads groups as [`group`](Row::group), each `stride` elements after the one before. Bounds are checked once.
    #[inline(always)]
    pub(crate) fn groups<const N: usize, const ROWS: usize>(
        &self,
        start: usize,
        stride: usize,
    ) -> [[T; N]; ROWS] {
        let way = stride.saturating_mul(ROWS.saturating_sub(1));
        let is_inside = way <= self.len && start <= self.len - way && N <= self.len - way - start;
        if !is_inside || self.step != 1 {
            outside(start, N, self.len);
        }
        let mut groups = [[T::default(); N]; ROWS];
        for (row, group) in groups.iter_mut().enumerate() {
            // SAFETY: `start + way + N <= len`, no row is further away, and the elements lie side by side.
            *group = unsafe { self.read_group(start + row * stride) };
        }
        groups
    }

    /// Takes `len` elements from `start` on, every `step`th. Panics outside the row.
    pub fn stepped(&self, start: usize, len: usize, step: usize) -> Row<'a, T> {
        // A longer step than this leads out of any row.
        self.strided(start, len, isize::try_from(step).unwrap_or(isize::MAX))
    }

    /// Takes `len` elements from `start` on, every `step`th, towards the start of the row if it is negative. Panics outside the row.
    pub fn strided(&self, start: usize, len: usize, step: isize) -> Row<'a, T> {
        if !part_inside(start, len, step, self.len) {
            outside(start, len, self.len);
        }
        Row {
            first: self
                .first
                .wrapping_offset((start as isize).wrapping_mul(self.step)),
            len,
            step: self.step.wrapping_mul(step),
            ..*self
        }
    }

    /// Sees a slice as a row.
    pub fn of(slice: &'a [T]) -> Row<'a, T> {
        // SAFETY: the elements of a slice lie side by side, and are borrowed for `'a`.
        unsafe { Row::new(slice.as_ptr(), slice.len(), 1) }
    }

    /// Asks the processor to fetch the elements, if they lie side by side, while it computes something else.
    #[inline]
    pub fn ask_for(&self) {
        if self.is_dense() {
            self.ask_for_part(0, self.len);
        }
    }

    /// Asks for the cache lines of `count` elements from `start` on, as [`ask_for`](Row::ask_for). They need not lie in the row.
    #[inline(always)]
    pub(crate) fn ask_for_part(&self, start: usize, count: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let first = self.first.wrapping_add(start).cast::<i8>();
            for at in (0..count * size_of::<T>()).step_by(super::CACHE_LINE) {
                // SAFETY: nothing is accessed; any address may be asked for.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at)) };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (start, count);
    }

    /// Writes `f` of each element to a buffer of the same length. Panics where the lengths differ.
    #[inline]
    pub fn load<L>(&self, to: &mut [L], f: impl Fn(T) -> L) {
        if self.len != to.len() {
            different(self.len, to.len());
        }
        if self.is_dense() {
            for (index, slot) in to.iter_mut().enumerate() {
                // SAFETY: `index < len`, and the row is dense.
                *slot = f(unsafe { self.first.add(index).read_unaligned() });
            }
            return;
        }
        for (index, slot) in to.iter_mut().enumerate() {
            // SAFETY: `index < len`.
            *slot = f(unsafe { self.read(index) });
        }
    }

    /// # Safety
    ///
    /// `index < len`.
    #[inline(always)]
    unsafe fn read(&self, index: usize) -> T {
        // SAFETY: the caller's index lies in the row.
        unsafe {
            self.first
                .offset(index as isize * self.step)
                .read_unaligned()
        }
    }

    /// # Safety
    ///
    /// `base + N <= len`, and the row is dense.
    #[inline(always)]
    unsafe fn read_group<const N: usize>(&self, base: usize) -> [T; N] {
        separate_groups();
        // SAFETY: N elements lie side by side from `base` on, by the caller's word.
        unsafe { self.first.add(base).cast::<[T; N]>().read_unaligned() }
    }
}

impl<'a, T: Element> RowMut<'a, T> {
    /// Makes a row from what a view has proven.
    ///
    /// # Safety
    ///
    /// `first + i * step` is readable and writable as a `T` for each `i < len`, for all of `'a`.
    pub(crate) unsafe fn new(first: *mut T, len: usize, step: isize) -> RowMut<'a, T> {
        RowMut {
            first,
            len,
            step,
            memory: PhantomData,
        }
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no element.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) const fn address(&self) -> *mut T {
        self.first
    }

    /// Sees the row as one that is only read.
    pub fn as_row(&self) -> Row<'a, T> {
        Row {
            first: self.first,
            len: self.len,
            step: self.step,
            memory: PhantomData,
        }
    }

    /// Reads one element. Panics outside the row.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        self.as_row().get(index)
    }

    /// Writes one element. Panics outside the row.
    #[inline(always)]
    pub fn set(&self, index: usize, value: T) {
        if index >= self.len {
            outside(index, 1, self.len);
        }
        // SAFETY: `index < len`, and the creator of the row proved its elements writable; any alignment is written.
        unsafe {
            self.first
                .wrapping_offset(index as isize * self.step)
                .write_unaligned(value)
        }
    }

    /// Writes `N` elements that lie side by side, from `start` on. Panics outside the row, and where it is not dense.
    #[inline(always)]
    pub fn set_group<const N: usize>(&self, start: usize, group: [T; N]) {
        let inside = start <= self.len && N <= self.len - start && self.step == 1;
        if !inside {
            outside(start, N, self.len);
        }
        // SAFETY: `start + N <= len`, and the elements lie side by side.
        unsafe { self.write_group(start, group) }
    }

    /// Cuts `len` elements out, from `start` on. Panics outside the row.
    #[inline(always)]
    pub fn slice(&self, start: usize, len: usize) -> RowMut<'a, T> {
        let inside = start <= self.len && len <= self.len - start;
        if !inside {
            outside(start, len, self.len);
        }
        RowMut {
            first: self.first.wrapping_offset(start as isize * self.step),
            len,
            ..*self
        }
    }

    /// Takes `len` elements from `start` on, every `step`th. Panics outside the row.
    pub fn stepped(&self, start: usize, len: usize, step: usize) -> RowMut<'a, T> {
        let row = self.as_row().stepped(start, len, step);
        RowMut {
            first: row.first.cast_mut(),
            len: row.len,
            step: row.step,
            memory: PhantomData,
        }
    }

    /// Writes `value` to every element.
    #[inline]
    pub fn fill(&self, value: T) {
        if self.step == 1 {
            // A loop of its own, which becomes vector instructions.
            for index in 0..self.len {
                // SAFETY: `index < len`, and the elements lie side by side; any alignment is written.
                unsafe { self.first.wrapping_add(index).write_unaligned(value) };
            }
            return;
        }
        for index in 0..self.len {
            // SAFETY: `index < len`.
            unsafe { self.write(index, value) };
        }
    }

    /// Sees a slice as a row.
    pub fn of(slice: &'a mut [T]) -> RowMut<'a, T> {
        // SAFETY: the elements of a slice lie side by side, and are borrowed for `'a`.
        unsafe { RowMut::new(slice.as_mut_ptr(), slice.len(), 1) }
    }

    /// Writes `f` of each element of a buffer of the same length. Panics where the lengths differ.
    #[inline]
    pub fn store<L: Copy>(&self, from: &[L], f: impl Fn(L) -> T) {
        if self.len != from.len() {
            different(self.len, from.len());
        }
        for (index, &value) in from.iter().enumerate() {
            // SAFETY: `index < len`.
            unsafe { self.write(index, f(value)) };
        }
    }

    /// Copies a row of the same length; the two may be the same memory. Panics where the lengths differ.
    #[inline]
    pub fn copy_from(&self, source: Row<'_, T>) {
        if self.len != source.len {
            different(self.len, source.len);
        }
        if self.as_row().is_dense() && source.is_dense() {
            // SAFETY: both rows are dense and `len` elements long; `copy` allows overlap. Bytes have no alignment.
            unsafe {
                std::ptr::copy(
                    source.first.cast::<u8>(),
                    self.first.cast::<u8>(),
                    self.len * size_of::<T>(),
                );
            }
        } else {
            self.map1(source, |value| value);
        }
    }

    /// Copies a row of the same length as [`copy_from`](RowMut::copy_from), past the caches where the row lies side by side: for parts
    /// of a result that is too long for them. The rows share no memory. Panics where the lengths differ.
    #[inline]
    pub fn copy_past_caches(&self, source: Row<'_, T>, _past: &PastCaches) {
        if self.len != source.len {
            different(self.len, source.len);
        }
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            let bytes = self.len * size_of::<T>();
            let vectors = self.first.addr() | bytes;
            if vectors.is_multiple_of(size_of::<__m128i>())
                && self.as_row().is_dense()
                && source.is_dense()
            {
                let (from, to) = (source.first.cast::<__m128i>(), self.first.cast::<__m128i>());
                for index in 0..bytes / size_of::<__m128i>() {
                    // SAFETY: both rows are dense and as long as the vectors; the target is aligned. `PastCaches` orders the stores.
                    unsafe { _mm_stream_si128(to.add(index), _mm_loadu_si128(from.add(index))) };
                }
                return;
            }
        }
        self.copy_from(source);
    }

    /// Writes `f` of each element of `source`; the two may be the same memory. Panics where the lengths differ.
    #[inline(always)]
    pub fn map1<A: Element>(&self, source: Row<'_, A>, f: impl Fn(A) -> T) {
        if self.len != source.len {
            different(self.len, source.len);
        }
        let grouped = if T::GROUPED && A::GROUPED && self.step == 1 && source.step == 1 {
            self.len / GROUP * GROUP
        } else {
            0
        };
        for base in (0..grouped).step_by(GROUP) {
            // SAFETY: `grouped` is at most the length of both rows, and both are dense.
            let group: [A; GROUP] = unsafe { source.read_group(base) };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(group[lane]);
            }
            // SAFETY: as above.
            unsafe { self.write_group(base, result) };
        }
        for index in grouped..self.len {
            // SAFETY: `index < len` of both.
            let value = f(unsafe { source.read(index) });
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
    }

    /// Writes `f` of each element of `source` as [`map1`](RowMut::map1), and folds what it writes. Meanwhile, it asks for the elements of
    /// `ahead`, the row to be read next.
    #[inline(always)]
    pub fn map1_folding<A: Element, S: Copy>(
        &self,
        source: Row<'_, A>,
        ahead: Option<Row<'_, A>>,
        f: impl Fn(A) -> T,
        start: S,
        step: impl Fn(S, T) -> S,
        join: impl Fn(S, S) -> S,
    ) -> S {
        if self.len != source.len {
            different(self.len, source.len);
        }
        let mut lanes = [start; GROUP];
        let grouped = match self.step == 1 && source.step == 1 {
            true => self.len / GROUP * GROUP,
            false => 0,
        };
        for base in (0..grouped).step_by(GROUP) {
            if let Some(ahead) = ahead {
                ahead.ask_for_part(base, GROUP);
            }
            // SAFETY: `grouped` is at most the length of both rows, and both are dense.
            let group: [A; GROUP] = unsafe { source.read_group(base) };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(group[lane]);
                lanes[lane] = step(lanes[lane], result[lane]);
            }
            // SAFETY: as above.
            unsafe { self.write_group(base, result) };
        }
        for index in grouped..self.len {
            // SAFETY: `index < len` of both.
            let value = f(unsafe { source.read(index) });
            lanes[index % GROUP] = step(lanes[index % GROUP], value);
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
        joined(lanes, join)
    }

    /// Writes `f` of elements of three rows as [`map2`](RowMut::map2), and past the caches where `past` is given. Meanwhile, it asks for
    /// the elements of `ahead`, the row to be read next.
    #[inline(always)]
    pub fn map3<A: Element>(
        &self,
        [one, two, three]: [Row<'_, A>; 3],
        ahead: Option<Row<'_, A>>,
        past: Option<&PastCaches>,
        f: impl Fn(A, A, A) -> T,
    ) {
        for row in [one, two, three] {
            if self.len != row.len {
                different(self.len, row.len);
            }
        }
        let dense = self.step == 1 && one.step == 1 && two.step == 1 && three.step == 1;
        let grouped = if dense { self.len / GROUP * GROUP } else { 0 };
        let past = past.is_some() && self.is_aligned();
        for base in (0..grouped).step_by(GROUP) {
            if let Some(ahead) = ahead {
                ahead.ask_for_part(base, GROUP);
            }
            // SAFETY: `grouped` is at most the length of each row, and all are dense.
            let (a, b, c): ([A; GROUP], [A; GROUP], [A; GROUP]) = unsafe {
                (
                    one.read_group(base),
                    two.read_group(base),
                    three.read_group(base),
                )
            };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(a[lane], b[lane], c[lane]);
            }
            match past {
                // SAFETY: as above, and the row is aligned. `PastCaches` orders the stores.
                true => unsafe { self.write_group_past(base, result) },
                // SAFETY: as above.
                false => unsafe { self.write_group(base, result) },
            }
        }
        for index in grouped..self.len {
            // SAFETY: `index < len` of all rows.
            let value = unsafe { f(one.read(index), two.read(index), three.read(index)) };
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
    }

    /// Writes `f` of each element of `source` as [`map1`](RowMut::map1), past the caches.
    #[inline(always)]
    pub fn map1_past_caches<A: Element>(
        &self,
        source: Row<'_, A>,
        _past: &PastCaches,
        f: impl Fn(A) -> T,
    ) {
        if !(self.is_aligned() && self.len == source.len && source.step == 1) {
            return self.map1(source, f);
        }
        let grouped = self.len / GROUP * GROUP;
        for base in (0..grouped).step_by(GROUP) {
            // SAFETY: `grouped` is at most the length of both rows, and both are dense.
            let group: [A; GROUP] = unsafe { source.read_group(base) };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(group[lane]);
            }
            // SAFETY: as above, and the row is aligned. `PastCaches` orders the stores.
            unsafe { self.write_group_past(base, result) };
        }
        let rest = self.len - grouped;
        self.slice(grouped, rest)
            .map1(source.slice(grouped, rest), f);
    }

    /// Returns whether the elements lie side by side, and groups of them where vectors may be stored past the caches.
    #[inline(always)]
    fn is_aligned(&self) -> bool {
        self.step == 1 && self.first.addr().is_multiple_of(VECTOR)
    }

    /// # Safety
    ///
    /// `base + GROUP <= len`, `base` is a multiple of [`GROUP`], and the row is dense and aligned.
    #[inline(always)]
    unsafe fn write_group_past(&self, base: usize, group: [T; GROUP]) {
        #[cfg(target_arch = "x86_64")]
        if (GROUP * size_of::<T>()).is_multiple_of(VECTOR) {
            use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
            separate_groups();
            // SAFETY: GROUP elements lie side by side from `base` on, by the caller's word.
            let to = unsafe { self.first.add(base).cast::<__m128i>() };
            let from = group.as_ptr().cast::<__m128i>();
            for index in 0..GROUP * size_of::<T>() / VECTOR {
                // SAFETY: both are as long as the group, and the target is aligned.
                unsafe { _mm_stream_si128(to.add(index), _mm_loadu_si128(from.add(index))) };
            }
            return;
        }
        // SAFETY: by the caller's word.
        unsafe { self.write_group(base, group) };
    }

    /// Does as [`map1`](RowMut::map1), one element at a time, for functions that are no vector instructions.
    #[inline]
    pub fn map1_each<A: Element>(&self, source: Row<'_, A>, f: impl Fn(A) -> T) {
        if self.len != source.len {
            different(self.len, source.len);
        }
        for index in 0..self.len {
            // SAFETY: `index < len` of both.
            let value = f(unsafe { source.read(index) });
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
    }

    /// Writes `f` of each pair of elements; any of the three may be the same memory. Panics where lengths differ.
    #[inline(always)]
    pub fn map2<A: Element, B: Element>(
        &self,
        one: Row<'_, A>,
        two: Row<'_, B>,
        f: impl Fn(A, B) -> T,
    ) {
        if self.len != one.len {
            different(self.len, one.len);
        }
        if self.len != two.len {
            different(self.len, two.len);
        }
        let grouped = T::GROUPED && A::GROUPED && B::GROUPED;
        let dense = grouped && self.step == 1 && one.step == 1 && two.step == 1;
        let grouped = if dense { self.len / GROUP * GROUP } else { 0 };
        for base in (0..grouped).step_by(GROUP) {
            // SAFETY: `grouped` is at most the length of each row, and all are dense.
            let a: [A; GROUP] = unsafe { one.read_group(base) };
            // SAFETY: as above.
            let b: [B; GROUP] = unsafe { two.read_group(base) };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(a[lane], b[lane]);
            }
            // SAFETY: as above.
            unsafe { self.write_group(base, result) };
        }
        for index in grouped..self.len {
            // SAFETY: `index < len` of all three.
            let value = unsafe { f(one.read(index), two.read(index)) };
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
    }

    /// Writes `f` of the elements of a row of the same length and of one that is repeated from its first element on. Panics where the
    /// lengths differ, or where the repeated row does not divide [`GROUP`].
    #[inline(always)]
    pub fn map2_repeated<A: Element, B: Element>(
        &self,
        one: Row<'_, A>,
        repeated: Row<'_, B>,
        f: impl Fn(A, B) -> T,
    ) {
        if self.len != one.len {
            different(self.len, one.len);
        }
        let period = repeated.len;
        if period == 0 || !GROUP.is_multiple_of(period) {
            different(GROUP, period);
        }
        let mut b = LineAlignment([B::default(); GROUP]);
        for (lane, b) in b.0.iter_mut().enumerate() {
            // SAFETY: a remainder is below the length.
            *b = unsafe { repeated.read(lane % period) };
        }
        let dense = T::GROUPED && A::GROUPED && self.step == 1 && one.step == 1;
        let grouped = if dense { self.len / GROUP * GROUP } else { 0 };
        for base in (0..grouped).step_by(GROUP) {
            // SAFETY: `grouped` is at most the length of both rows, and both are dense.
            let a: [A; GROUP] = unsafe { one.read_group(base) };
            let mut result = [T::default(); GROUP];
            for lane in 0..GROUP {
                result[lane] = f(a[lane], b.0[lane]);
            }
            // SAFETY: as above.
            unsafe { self.write_group(base, result) };
        }
        for index in grouped..self.len {
            // SAFETY: `index < len` of both.
            let value = unsafe { f(one.read(index), b.0[index % GROUP]) };
            // SAFETY: as above.
            unsafe { self.write(index, value) };
        }
    }

    /// Writes `f(own element, source's element)`; the two may be the same memory. Panics where the lengths differ.
    #[inline(always)]
    pub fn update<A: Element>(&self, source: Row<'_, A>, f: impl Fn(T, A) -> T) {
        self.map2(self.as_row(), source, f);
    }

    /// # Safety
    ///
    /// `index < len`.
    #[inline(always)]
    unsafe fn write(&self, index: usize, value: T) {
        // SAFETY: the caller's index lies in the row.
        unsafe {
            self.first
                .offset(index as isize * self.step)
                .write_unaligned(value)
        }
    }

    /// # Safety
    ///
    /// `base + N <= len`, and the row is dense.
    #[inline(always)]
    unsafe fn write_group<const N: usize>(&self, base: usize, group: [T; N]) {
        separate_groups();
        // SAFETY: N elements lie side by side from `base` on, by the caller's word.
        unsafe { self.first.add(base).cast::<[T; N]>().write_unaligned(group) }
    }
}

#[cfg(test)]
mod tests;
