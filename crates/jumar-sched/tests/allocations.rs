//! Sharing work allocates nothing, on no thread, once as many jobs were made as threads share at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jumar_hal::{Span, Transfer};
use jumar_sched::{Executor, ExecutorConfig, Runner, Team};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Counts what all threads allocate.
struct Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's word.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Bare;

impl Runner for Bare {
    fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
    fn fill(&self, _to: Span, _value: u8) {}
}

#[test]
fn sharing_allocates_nothing() {
    let config = ExecutorConfig {
        workers: 2,
        cpus: 2,
        schedule: None,
    };
    let executor = Executor::new(config, Arc::new(Bare));
    let team = executor.team();
    let by_others = AtomicUsize::new(0);
    let me = std::thread::current().id();
    let share = || {
        team.share_borrowed(8, &|_| {
            if std::thread::current().id() != me {
                by_others.fetch_add(1, Ordering::Relaxed);
            }
            std::thread::yield_now();
        });
    };
    // The worker is started, and has taken part.
    while by_others.load(Ordering::Relaxed) == 0 {
        share();
    }
    // A worker may still hold the job before this one.
    (0..50).for_each(|_| share());
    let before = COUNT.load(Ordering::Relaxed);
    (0..50).for_each(|_| share());
    let after = COUNT.load(Ordering::Relaxed);
    // Two jobs may be in turn where the worker lets go of one late; more would be one a time.
    assert!(after - before <= 2, "{} allocations", after - before);
}
