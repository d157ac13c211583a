//! The threads among which a kernel splits its work.

/// Threads that take parts of a kernel's work.
pub trait Share: Sync {
    /// Returns how many threads there are at most, the calling one counted.
    fn threads(&self) -> usize;

    /// Calls `work` once for each part from 0 on, in no order, and returns when all calls have returned.
    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// The threads that an execution may use: none but its own, or a team.
///
/// A kernel splits its work by sizes and by the number of threads alone, and no element of a result is made by two
/// parts: so that results have the same bytes from run to run, whichever thread did which part.
#[derive(Clone, Copy, Default)]
pub struct Workers<'a>(Option<&'a dyn Share>);

impl std::fmt::Debug for Workers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workers({})", self.threads())
    }
}

/// Parts per thread: a delayed thread leaves the rest to the others.
const PARTS_EACH: usize = 4;

impl<'a> Workers<'a> {
    /// The calling thread alone.
    pub const ALONE: Workers<'static> = Workers(None);

    /// Makes the workers of a team.
    pub fn of(team: &'a dyn Share) -> Workers<'a> {
        Workers(Some(team))
    }

    /// Returns how many threads there are at most, the calling one counted.
    pub fn threads(&self) -> usize {
        self.0.map_or(1, |team| team.threads().max(1))
    }

    /// Calls `work` once for each part from 0 on, in no order, and returns when all calls have returned.
    #[inline]
    pub fn each(&self, parts: usize, work: impl Fn(usize) + Sync) {
        self.share(parts, &work);
    }

    /// Splits `0..len` into ranges of whole multiples of `grain` (but for the last), and calls `work` with start and
    /// length of each. The ranges depend on `len`, `grain` and the number of threads only.
    #[inline]
    pub fn ranges(&self, len: usize, grain: usize, work: impl Fn(usize, usize) + Sync) {
        self.share_ranges(len, grain, &work);
    }

    // The two below are not generic, or each kernel would be compiled for one thread and for several.

    #[inline(never)]
    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        match self.0 {
            Some(team) if parts > 1 => team.share(parts, work),
            _ => (0..parts).for_each(work),
        }
    }

    #[inline(never)]
    fn share_ranges(&self, len: usize, grain: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        let threads = self.threads();
        if threads < 2 || len <= grain {
            if len > 0 {
                work(0, len);
            }
            return;
        }
        let grain = grain.max(1);
        let each = len.div_ceil(grain).div_ceil(threads * PARTS_EACH) * grain;
        self.share(len.div_ceil(each), &|part| {
            let start = part * each;
            work(start, each.min(len - start));
        });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// One thread that passes for several, and does the last part first.
    pub(crate) struct Backwards(pub usize);

    impl Share for Backwards {
        fn threads(&self) -> usize {
            self.0
        }

        fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..parts).rev().for_each(work);
        }
    }

    #[test]
    fn ranges_cover_everything_once() {
        for threads in [1, 2, 3, 8] {
            let team = Backwards(threads);
            for (len, grain) in [(0, 1), (1, 1), (7, 3), (100, 16), (1000, 1), (33, 64)] {
                let seen: Vec<AtomicUsize> = (0..len).map(|_| AtomicUsize::new(0)).collect();
                Workers::of(&team).ranges(len, grain, |start, count| {
                    assert!(start % grain == 0 && count > 0);
                    for slot in &seen[start..start + count] {
                        slot.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert!(seen.iter().all(|slot| slot.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
