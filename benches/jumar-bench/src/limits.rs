//! What the machine allows: the yardsticks, measured in the same process and in turn with Jumar.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;

use crate::placement::{away, cores, here, leave};

/// A task of one cache line.
type Task = [u64; 8];

/// Pushes a thousand 64-byte tasks into a bounded queue without a consumer. Returns nanoseconds per push.
pub fn push(queue: &ArrayQueue<Task>) -> f64 {
    const COUNT: u64 = 1000;
    let start = Instant::now();
    for n in 0..COUNT {
        let full = queue.push(black_box([n; 8])).is_err();
        assert!(!full, "the queue holds 1024");
    }
    let spent = start.elapsed();
    while queue.pop().is_some() {}
    spent.as_nanos() as f64 / COUNT as f64
}

/// Makes the queue of [`push`].
pub fn queue() -> ArrayQueue<Task> {
    ArrayQueue::new(1024)
}

/// Sends a number to another core and back, and returns nanoseconds per round trip. Needs two cores.
pub fn line_round_trip() -> f64 {
    const COUNT: u64 = 2000;
    /// Where both threads have to share a core with others, fewer trips have to do.
    const LONGEST: Duration = Duration::from_millis(300);
    const END: u64 = u64::MAX;
    let (ping, pong) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            away();
            let mut seen = 0;
            loop {
                let next = ping.load(Ordering::Acquire);
                if next == END {
                    return;
                }
                if next == seen {
                    std::hint::spin_loop();
                    continue;
                }
                seen = next;
                pong.store(next, Ordering::Release);
            }
        });
        let turn = |n: u64| {
            ping.store(n, Ordering::Release);
            while pong.load(Ordering::Acquire) != n {
                std::hint::spin_loop();
            }
        };
        // The other thread has to be awake first.
        (1..=10).for_each(turn);
        let start = Instant::now();
        let mut trips = 0;
        while trips < COUNT && (trips == 0 || start.elapsed() < LONGEST) {
            // The clock is looked at rarely.
            (1..=100).for_each(|step| turn(10 + trips + step));
            trips += 100;
        }
        let spent = start.elapsed();
        ping.store(END, Ordering::Release);
        spent.as_nanos() as f64 / trips as f64
    })
}

/// Wakes a parked thread. Returns microseconds until it runs.
pub fn wake_to_run() -> f64 {
    let begin = Instant::now();
    let woken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let parked = scope.spawn(|| {
            away();
            std::thread::park();
            woken.store(begin.elapsed().as_nanos() as u64, Ordering::Release);
        });
        std::thread::sleep(Duration::from_micros(500));
        let called = begin.elapsed().as_nanos() as u64;
        parked.thread().unpark();
        while woken.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        woken.load(Ordering::Acquire).saturating_sub(called) as f64 / 1000.0
    })
}

/// As [`wake_to_run`], of a thread that may not run on this one's core, which looks without a pause: so it is for a worker while the
/// host does other work. On one core there is no such thing.
pub fn wake_beside() -> f64 {
    if cores() == 1 {
        return wake_to_run();
    }
    let begin = Instant::now();
    let woken = AtomicU64::new(0);
    let core = here();
    std::thread::scope(|scope| {
        let parked = scope.spawn(|| {
            leave(core);
            std::thread::park();
            woken.store(begin.elapsed().as_nanos() as u64, Ordering::Release);
        });
        std::thread::sleep(Duration::from_millis(2));
        let called = begin.elapsed().as_nanos() as u64;
        parked.thread().unpark();
        while woken.load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
        woken.load(Ordering::Acquire).saturating_sub(called) as f64 / 1000.0
    })
}

/// Copies. Returns microseconds.
pub fn raw_copy(to: &mut [u8], from: &[u8]) -> f64 {
    let start = Instant::now();
    to.copy_from_slice(from);
    black_box(to);
    start.elapsed().as_nanos() as f64 / 1000.0
}

/// Hands tasks of one cache line through a ring from one spinning core to another, and returns nanoseconds per task. Needs two
/// cores.
pub fn ring(count: u64) -> f64 {
    const SLOTS: usize = 1024;
    #[repr(align(128))]
    struct PaddedCounter(AtomicU64);
    let (head, tail) = (
        PaddedCounter(AtomicU64::new(0)),
        PaddedCounter(AtomicU64::new(0)),
    );
    // Words of their own, so that no unsafe code is needed; the order comes from the two counts.
    let slots: Vec<[AtomicU64; 8]> = (0..SLOTS)
        .map(|_| std::array::from_fn(|_| AtomicU64::new(0)))
        .collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            away();
            let mut known = 0;
            for n in 0..count {
                while known == n {
                    known = tail.0.load(Ordering::Acquire);
                    std::hint::spin_loop();
                }
                for word in &slots[n as usize % SLOTS] {
                    black_box(word.load(Ordering::Relaxed));
                }
                head.0.store(n + 1, Ordering::Release);
            }
        });
        let start = Instant::now();
        let mut known = 0;
        for n in 0..count {
            while n - known >= SLOTS as u64 {
                known = head.0.load(Ordering::Acquire);
            }
            for word in &slots[n as usize % SLOTS] {
                word.store(n, Ordering::Relaxed);
            }
            tail.0.store(n + 1, Ordering::Release);
        }
        while head.0.load(Ordering::Acquire) < count {
            std::hint::spin_loop();
        }
        start.elapsed().as_nanos() as f64 / count as f64
    })
}

/// What waking a parked thread costs its caller, in nanoseconds.
pub fn wake_call() -> f64 {
    std::thread::scope(|scope| {
        let parked = scope.spawn(|| {
            away();
            std::thread::park();
        });
        std::thread::sleep(Duration::from_micros(500));
        let start = Instant::now();
        parked.thread().unpark();
        start.elapsed().as_nanos() as f64
    })
}

/// Copies past the caches with several threads. Returns microseconds.
pub fn streamed_copy(to: &mut [u8], from: &[u8], threads: usize) -> f64 {
    let part = to.len().div_ceil(threads).next_multiple_of(64);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let mut parts = to.chunks_mut(part).zip(from.chunks(part));
        let first = parts.next();
        for (to, from) in parts {
            scope.spawn(move || {
                away();
                stream(to, from);
            });
        }
        if let Some((to, from)) = first {
            stream(to, from);
        }
    });
    start.elapsed().as_nanos() as f64 / 1000.0
}

#[cfg(target_arch = "x86_64")]
fn stream(to: &mut [u8], from: &[u8]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    let aligned = to.as_ptr().align_offset(16).min(to.len());
    to[..aligned].copy_from_slice(&from[..aligned]);
    let (to, from) = (&mut to[aligned..], &from[aligned..]);
    for (to, from) in to.chunks_exact_mut(16).zip(from.chunks_exact(16)) {
        // SAFETY: sixteen bytes are there.
        let vector = unsafe { _mm_loadu_si128(from.as_ptr().cast()) };
        // SAFETY: sixteen bytes are there, and they are aligned.
        unsafe { _mm_stream_si128(to.as_mut_ptr().cast(), vector) };
    }
    let rest = to.len() / 16 * 16;
    to[rest..].copy_from_slice(&from[rest..]);
    // SAFETY: every processor of this architecture has it.
    unsafe { _mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn stream(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// Maps memory on huge pages and touches all of it. Returns microseconds.
pub fn populate(bytes: usize) -> f64 {
    let start = Instant::now();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the system's choice.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED, "memory");
    // SAFETY: our own mapping; the advice is only that.
    unsafe { libc::madvise(memory, bytes, libc::MADV_HUGEPAGE) };
    // SAFETY: our own mapping, writable.
    unsafe { std::ptr::write_bytes(memory.cast::<u8>(), 1, bytes) };
    let spent = start.elapsed();
    // SAFETY: our own mapping, which is not used any more.
    unsafe { libc::munmap(memory, bytes) };
    spent.as_nanos() as f64 / 1000.0
}
