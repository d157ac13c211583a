//! What the machine allows: the yardsticks, measured in the same process and in turn with Jumar.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;

/// A task of one cache line.
type Task = [u64; 8];

/// Pushes a thousand 64-byte tasks into a bounded queue that nobody pops, and gives nanoseconds a push.
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

/// Sends a number to another core and back, and gives nanoseconds a round trip. Needs two cores.
pub fn line_round_trip() -> f64 {
    const COUNT: u64 = 2000;
    let (ping, pong) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=COUNT {
                while ping.load(Ordering::Acquire) != n {
                    std::hint::spin_loop();
                }
                pong.store(n, Ordering::Release);
            }
        });
        let turn = |n: u64| {
            ping.store(n, Ordering::Release);
            while pong.load(Ordering::Acquire) != n {
                std::hint::spin_loop();
            }
        };
        // The other thread has to be awake first.
        (1..=COUNT / 2).for_each(turn);
        let start = Instant::now();
        (COUNT / 2 + 1..=COUNT).for_each(turn);
        start.elapsed().as_nanos() as f64 / (COUNT - COUNT / 2) as f64
    })
}

/// Wakes a parked thread, and gives microseconds until it runs.
pub fn wake_to_run() -> f64 {
    let begin = Instant::now();
    let woken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            std::thread::park();
            woken.store(begin.elapsed().as_nanos() as u64, Ordering::Release);
        });
        std::thread::sleep(Duration::from_micros(500));
        let called = begin.elapsed().as_nanos() as u64;
        sleeper.thread().unpark();
        while woken.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        woken.load(Ordering::Acquire).saturating_sub(called) as f64 / 1000.0
    })
}

/// Copies, and gives microseconds.
pub fn raw_copy(to: &mut [u8], from: &[u8]) -> f64 {
    let start = Instant::now();
    to.copy_from_slice(from);
    black_box(to);
    start.elapsed().as_nanos() as f64 / 1000.0
}
