//! Which bytes of an address range are taken: best fit, neighbours joined, everything O(log n).
//!
//! The heap knows offsets only; it never touches the memory. Free chunks are kept twice, by offset to find neighbours
//! and by size to find the best fit. What was never handed out is not a chunk: it begins at `top`.
//!
//! Programs take and give back chunks of the same few lengths again and again. So the last few that came back are kept
//! aside as they are, and serve requests of exactly that length. Any other request joins them with their
//! neighbours first: where chunks lie is then as if nothing had been kept aside.

use std::collections::{BTreeMap, BTreeSet};

/// Every chunk begins and ends at a multiple of this. Documents promise 64 bytes; programs count on 128, and allocators that divide one
/// chunk on 512.
pub(crate) const GRAIN: usize = 512;

/// The taken and free parts of a range.
pub(crate) struct Heap {
    size: usize,
    /// Offset from which on nothing was ever handed out, or everything was given back.
    top: usize,
    by_offset: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
    /// Chunks that came back last: offset and length, which is 0 in an empty entry.
    aside: [(usize, usize); ASIDE],
    /// The entry of `aside` that is used next, when none is empty.
    next: usize,
    taken: usize,
}

/// How many chunks are kept aside.
const ASIDE: usize = 4;
/// Longer ones are not: they may be what the system wants to have back, or what another allocation waits for.
const ASIDE_BYTES: usize = 1 << 20;

impl Heap {
    pub(crate) fn new(size: usize) -> Heap {
        let size = size & !(GRAIN - 1);
        Heap {
            size,
            top: 0,
            by_offset: BTreeMap::new(),
            by_size: BTreeSet::new(),
            aside: [(0, 0); ASIDE],
            next: 0,
            taken: 0,
        }
    }

    /// Returns the length of the chunk that `bytes` bytes take.
    pub(crate) fn chunk(bytes: usize) -> Option<usize> {
        Some(bytes.max(1).checked_add(GRAIN - 1)? & !(GRAIN - 1))
    }

    /// Returns the bytes that are not taken, in however many pieces.
    pub(crate) fn free_bytes(&self) -> usize {
        self.size - self.taken
    }

    /// Returns the offset up to which anything is or was taken.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// Returns the size of the largest piece.
    pub(crate) fn largest_free(&mut self) -> usize {
        self.join_aside();
        let largest = self.by_size.last().map_or(0, |(size, _)| *size);
        largest.max(self.size - self.top)
    }

    /// Takes `bytes` bytes at an offset whose sum with `base` is a multiple of `align`.
    pub(crate) fn take(&mut self, bytes: usize, align: usize, base: usize) -> Option<usize> {
        let need = Heap::chunk(bytes)?;
        let align = align.max(GRAIN);
        for chunk in &mut self.aside {
            if chunk.1 == need && (base + chunk.0).is_multiple_of(align) {
                let (offset, _) = std::mem::take(chunk);
                self.taken += need;
                return Some(offset);
            }
        }
        self.join_aside();
        let pad = |offset: usize| (base + offset).next_multiple_of(align) - (base + offset);
        // The smallest that fits without alignment is tried first, then one that fits whatever its alignment.
        let fits = |(size, offset): (usize, usize)| {
            pad(offset).checked_add(need).is_some_and(|all| all <= size)
        };
        let first = self
            .by_size
            .range((need, 0)..)
            .take(4)
            .copied()
            .find(|chunk| fits(*chunk));
        let found = first.or_else(|| {
            let sure = need.checked_add(align)?;
            self.by_size
                .range((sure, 0)..)
                .next()
                .copied()
                .filter(|chunk| fits(*chunk))
        });
        let offset = match found {
            Some((size, offset)) => {
                self.remove(offset, size);
                let at = offset + pad(offset);
                self.insert(offset, at - offset);
                self.insert(at + need, offset + size - at - need);
                at
            }
            None => {
                let at = self.top + pad(self.top);
                let end = at.checked_add(need)?;
                if end > self.size {
                    return None;
                }
                let gap = self.top;
                self.top = end;
                self.insert(gap, at - gap);
                at
            }
        };
        self.taken += need;
        Some(offset)
    }

    /// Releases a chunk.
    pub(crate) fn give_back(&mut self, offset: usize, bytes: usize) {
        let Some(size) = Heap::chunk(bytes) else {
            return;
        };
        self.taken -= size;
        if size > ASIDE_BYTES {
            return self.join(offset, size);
        }
        let index = self.aside.iter().position(|(_, size)| *size == 0);
        let index = index.unwrap_or_else(|| {
            self.next = (self.next + 1) % ASIDE;
            self.next
        });
        let before = std::mem::replace(&mut self.aside[index], (offset, size));
        if before.1 > 0 {
            self.join(before.0, before.1);
        }
    }

    /// Joins what is kept aside with its neighbours.
    fn join_aside(&mut self) {
        for (offset, size) in std::mem::take(&mut self.aside) {
            if size > 0 {
                self.join(offset, size);
            }
        }
    }

    /// Makes a chunk free, together with its neighbours.
    fn join(&mut self, mut offset: usize, mut size: usize) {
        if let Some((&before, &length)) = self.by_offset.range(..offset).next_back()
            && before + length == offset
        {
            self.remove(before, length);
            offset = before;
            size += length;
        }
        if let Some(&length) = self.by_offset.get(&(offset + size)) {
            self.remove(offset + size, length);
            size += length;
        }
        if offset + size == self.top {
            self.top = offset;
        } else {
            self.insert(offset, size);
        }
    }

    fn insert(&mut self, offset: usize, size: usize) {
        if size > 0 {
            self.by_offset.insert(offset, size);
            self.by_size.insert((size, offset));
        }
    }

    fn remove(&mut self, offset: usize, size: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: usize = 0x7000_0000_0000;

    #[test]
    fn the_smallest_piece_that_fits_is_taken() {
        let mut heap = Heap::new(1 << 20);
        let a = heap.take(4096, 64, BASE).expect("space");
        let _b = heap.take(GRAIN, GRAIN, BASE).expect("space");
        let c = heap.take(1024, 64, BASE).expect("space");
        let _d = heap.take(GRAIN, GRAIN, BASE).expect("space");
        heap.give_back(a, 4096);
        heap.give_back(c, 1024);
        assert_eq!(heap.take(1000, 64, BASE), Some(c));
    }

    #[test]
    fn neighbours_join_and_everything_comes_back() {
        let mut heap = Heap::new(64 * GRAIN);
        let chunks: Vec<_> = (0..64)
            .map(|_| heap.take(GRAIN, GRAIN, BASE).expect("space"))
            .collect();
        assert_eq!(heap.take(1, 64, BASE), None);
        for chunk in chunks
            .iter()
            .step_by(2)
            .chain(chunks.iter().skip(1).step_by(2))
        {
            heap.give_back(*chunk, GRAIN);
        }
        assert_eq!(heap.free_bytes(), 64 * GRAIN);
        assert_eq!(heap.take(64 * GRAIN, 64, BASE), Some(0));
    }

    #[test]
    fn alignment_counts_from_the_address() {
        let mut heap = Heap::new(1 << 22);
        let base = BASE + 4096;
        heap.take(GRAIN, 64, base).expect("space");
        let at = heap.take(10, 1 << 21, base).expect("space");
        assert_eq!((base + at) % (1 << 21), 0);
        // The gap before it is used.
        assert_eq!(heap.take(64, 64, base), Some(GRAIN));
    }

    #[test]
    fn every_chunk_begins_at_a_multiple_of_512_bytes() {
        let mut heap = Heap::new(1 << 20);
        for bytes in [1, 64, 511, 512, 513, 4096 + 64] {
            let at = heap.take(bytes, 64, BASE).expect("space");
            assert_eq!((BASE + at) % 512, 0, "{bytes} bytes");
        }
    }

    #[test]
    fn sizes_that_wrap_are_refused() {
        let mut heap = Heap::new(4096);
        assert_eq!(heap.take(usize::MAX, 64, BASE), None);
        assert_eq!(heap.take(usize::MAX - 70, 1 << 21, BASE), None);
    }

    #[test]
    fn random_use_never_hands_out_a_byte_twice() {
        let mut heap = Heap::new(1 << 16);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let draw = random.usize(..1 << 31);
            if draw.is_multiple_of(2) && !taken.is_empty() {
                let (offset, bytes) = taken.swap_remove(draw / 2 % taken.len());
                heap.give_back(offset, bytes);
            } else {
                let bytes = 1 + draw / 2 % 3000;
                let align = 64 << (draw % 5);
                if let Some(offset) = heap.take(bytes, align, BASE) {
                    assert_eq!((BASE + offset) % align, 0);
                    let end = offset + bytes;
                    assert!(end <= 1 << 16);
                    assert!(
                        taken
                            .iter()
                            .all(|(at, length)| end <= *at || at + length <= offset)
                    );
                    taken.push((offset, bytes));
                }
            }
            let sum: usize = taken
                .iter()
                .map(|(_, bytes)| bytes.next_multiple_of(GRAIN))
                .sum();
            assert_eq!(heap.free_bytes(), (1 << 16) - sum);
        }
        for (offset, bytes) in taken {
            heap.give_back(offset, bytes);
        }
        assert_eq!(
            (heap.largest_free(), heap.free_bytes(), heap.top()),
            (1 << 16, 1 << 16, 0)
        );
    }

    #[test]
    fn what_came_back_last_serves_whoever_wants_as_much() {
        let mut heap = Heap::new(1 << 20);
        let a = heap.take(4096, 64, BASE).expect("space");
        let b = heap.take(128, 64, BASE).expect("space");
        let _c = heap.take(GRAIN, GRAIN, BASE).expect("space");
        heap.give_back(a, 4096);
        heap.give_back(b, 128);
        // Neither was joined with the other, until a request needs both together.
        assert_eq!(heap.take(128, 64, BASE), Some(b));
        assert_eq!(heap.take(4096, 64, BASE), Some(a));
        heap.give_back(b, 128);
        heap.give_back(a, 4096);
        assert_eq!(heap.take(4096 + 128, 64, BASE), Some(a));
    }

    #[test]
    fn what_is_kept_aside_is_not_handed_out_with_less_alignment_than_was_asked_for() {
        let mut heap = Heap::new(1 << 20);
        let a = heap.take(GRAIN, GRAIN, BASE).expect("space");
        let b = heap.take(GRAIN, GRAIN, BASE).expect("space");
        heap.give_back(a, GRAIN);
        heap.give_back(b, GRAIN);
        let at = heap.take(GRAIN, 4096, BASE + GRAIN).expect("space");
        assert_eq!((BASE + GRAIN + at) % 4096, 0);
    }
}
