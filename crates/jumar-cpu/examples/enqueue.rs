//! Measures the executor against the limits of the machine, in one process, alternately.
//!
//! Each figure is the median of several rounds. Limits: a push into a bounded queue of many producers, and what it
//! costs to wake a thread and how long it takes until it runs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;
use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{
    Backend, Call, Cost, Program, Queue, QueueConfig, QueueObserver, Signal, Span, Tag, Task,
    Transfer, Verdict, WaitThen,
};
use jumar_types::{Error, Result};

static CALL: Call = Call {
    name: "bench",
    number: 0,
};
const TAG: Tag = Tag {
    ticket: 0,
    call: &CALL,
};

struct NoObserver;

impl QueueObserver for NoObserver {
    fn started(&self, _tag: Tag) {}
    fn finished(&self, _tag: Tag) {}
    fn failed(&self, _tag: Tag, _error: Error) -> Verdict {
        Verdict::Continue
    }
}

/// A task that takes a known time.
struct Busy(Duration, Cost);

impl Program for Busy {
    fn run(&self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < self.0 {
            std::hint::spin_loop();
        }
        Ok(())
    }
    fn cost(&self) -> Cost {
        self.1
    }
    fn name(&self) -> &str {
        "busy"
    }
}

/// Waits a moment for another thread; on one processor that thread needs it.
fn relax() {
    static ONE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    if *ONE.get_or_init(|| std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1)) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

fn ns_each(count: u32, f: impl FnOnce()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn rounds(count: usize, mut f: impl FnMut() -> f64) -> f64 {
    f();
    median((0..count).map(|_| f()).collect())
}

fn pause(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn main() -> Result<()> {
    let backend = CpuBackend::new(CpuConfig {
        devices: vec![CpuDeviceConfig {
            memory_bytes: 1 << 30,
        }],
        ..CpuConfig::default()
    })?;
    let device = backend.open(0)?;
    let queue = || device.queue(QueueConfig::default(), Arc::new(NoObserver));
    let memory = device.allocate(4096, 64)?;
    let fill = || Task::Fill {
        to: memory.part(0, 64).unwrap_or(Span::EMPTY),
        value: 1,
    };
    let row = |name: &str, value: f64, unit: &str, limit: f64| {
        if limit > 0.0 {
            println!("{name:<44}{value:>10.2} {unit:<4}{:>8.2} x", value / limit);
        } else {
            println!("{name:<44}{value:>10.2} {unit}");
        }
    };

    let start = Instant::now();
    let first = queue()?;
    let position = first.submit(fill(), TAG);
    first.wait(position, None);
    row(
        "first task, thread start included",
        start.elapsed().as_nanos() as f64 / 1e3,
        "us",
        0.0,
    );

    // Limits.
    let push = rounds(51, || {
        let ring: ArrayQueue<[u64; 8]> = ArrayQueue::new(1024);
        ns_each(1000, || {
            for i in 0..1000 {
                let _ = std::hint::black_box(ring.push([i; 8]));
            }
        })
    });
    row("limit: push into ArrayQueue(1024)", push, "ns", 0.0);
    let (wake_call, wake_run) = wake();
    row(
        "limit: waking a thread, for the caller",
        wake_call / 1e3,
        "us",
        0.0,
    );
    row(
        "limit: waking a thread, until it runs",
        wake_run / 1e3,
        "us",
        0.0,
    );
    let line = line_round_trip();
    row("limit: round trip of a cache line", line, "ns", 0.0);

    // The executor.
    let a = queue()?;
    let b = queue()?;
    let mut enqueue = Vec::new();
    let mut idle = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        let mut position = 0;
        for _ in 0..1000 {
            position = a.submit(fill(), TAG);
        }
        enqueue.push(start.elapsed().as_nanos() as f64 / 1000.0);
        let middle = Instant::now();
        a.wait(position, None);
        idle.push(middle.elapsed().as_nanos() as f64 / 1e3);
    }
    row(
        "enqueue, 1000 fills of 64 bytes, each",
        median(enqueue),
        "ns",
        push,
    );
    row("... until idle afterwards", median(idle), "us", 0.0);
    row(
        "one after the other: tasks per us",
        1e3 / rounds(21, || {
            ns_each(20_000, || {
                for _ in 0..20 {
                    for _ in 0..1000 {
                        a.submit(fill(), TAG);
                    }
                    a.wait(a.submitted(), None);
                }
            })
        }),
        "/us",
        0.0,
    );
    let held = rounds(21, || {
        let gate = Arc::new(Signal::new());
        a.submit(
            Task::Wait {
                signal: gate.clone(),
                then: WaitThen::Keep,
                limit: None,
            },
            TAG,
        );
        pause(Duration::from_micros(50));
        let time = ns_each(1000, || {
            for _ in 0..1000 {
                a.submit(fill(), TAG);
            }
        });
        gate.set();
        a.wait(a.submitted(), None);
        time
    });
    row("enqueue on a held queue, each", held, "ns", push);
    let signal = Arc::new(Signal::new());
    row(
        "record on an idle queue, each",
        rounds(21, || {
            ns_each(1000, || {
                for _ in 0..1000 {
                    a.submit(Task::Set(signal.clone()), TAG);
                }
            })
        }),
        "ns",
        push,
    );
    let hot = rounds(51, || {
        ns_each(1000, || {
            for _ in 0..1000 {
                let position = a.submit(fill(), TAG);
                a.wait(position, None);
            }
        })
    });
    row("round trip, hot", hot / 1e3, "us", line / 1e3);
    for idle_us in [100, 300, 1000, 20_000] {
        let trip = median(
            (0..31)
                .map(|_| {
                    pause(Duration::from_micros(idle_us));
                    ns_each(1, || {
                        let position = a.submit(fill(), TAG);
                        a.wait(position, None);
                    })
                })
                .collect(),
        );
        row(
            &format!("round trip after {idle_us} us"),
            trip / 1e3,
            "us",
            wake_run / 1e3,
        );
    }
    let starts = |idle: Duration| {
        median(
            (0..31)
                .map(|_| {
                    pause(idle);
                    ns_each(1, || {
                        let position = a.submit(fill(), TAG);
                        while a.completed() < position {
                            relax();
                        }
                    })
                })
                .collect(),
        )
    };
    row(
        "start while the host polls, workers in timed park",
        starts(Duration::from_micros(500)) / 1e3,
        "us",
        wake_run / 1e3,
    );
    row(
        "start while the host polls, asleep",
        starts(Duration::from_millis(20)) / 1e3,
        "us",
        wake_run / 1e3,
    );
    row(
        "hop between streams, queued before",
        rounds(21, || hops(&a, &b, 500, true)) / 1e3,
        "us",
        line / 1e3,
    );
    row(
        "hop between streams, host submits meanwhile",
        rounds(21, || hops(&a, &b, 500, false)) / 1e3,
        "us",
        line / 1e3,
    );
    let many: Vec<_> = (0..64).map(|_| queue()).collect::<Result<_>>()?;
    row(
        "64 streams: tasks per us",
        1e3 / rounds(21, || {
            ns_each(6400, || {
                for _ in 0..100 {
                    for queue in &many {
                        queue.submit(fill(), TAG);
                    }
                }
                for queue in &many {
                    queue.wait(queue.submitted(), None);
                }
            })
        }),
        "/us",
        0.0,
    );
    row(
        "two threads, a stream each: enqueue, each",
        rounds(21, || {
            let times: Vec<f64> = std::thread::scope(|scope| {
                [&a, &b]
                    .map(|queue| {
                        scope.spawn(|| {
                            let time = ns_each(5000, || {
                                for _ in 0..5000 {
                                    queue.submit(fill(), TAG);
                                }
                            });
                            queue.wait(queue.submitted(), None);
                            time
                        })
                    })
                    .map(|thread| thread.join().expect("no panic"))
                    .to_vec()
            });
            median(times)
        }),
        "ns",
        push,
    );
    let overlap = rounds(11, || {
        let start = Instant::now();
        for _ in 0..100 {
            for queue in [&a, &b] {
                queue.submit(
                    Task::Run(Arc::new(Busy(Duration::from_micros(10), Cost::Unbounded))),
                    TAG,
                );
            }
        }
        a.wait(a.submitted(), None);
        b.wait(b.submitted(), None);
        2000.0 / (start.elapsed().as_nanos() as f64 / 1e3)
    });
    row("overlap of two streams of 10 us tasks", overlap, "x", 0.0);
    let host = rounds(5, || {
        let start = Instant::now();
        a.submit(
            Task::Run(Arc::new(Busy(Duration::from_millis(20), Cost::Large))),
            TAG,
        );
        pause(Duration::from_millis(20));
        a.wait(a.submitted(), None);
        start.elapsed().as_nanos() as f64 / 20e6
    });
    row("20 ms of host work beside a 20 ms task", host, "x", 0.0);
    let allocate = rounds(21, || {
        ns_each(1000, || {
            for _ in 0..1000 {
                if let Ok(span) = device.allocate(4096, 64) {
                    device.free(std::hint::black_box(span));
                }
            }
        })
    });
    row("device malloc and free", allocate, "ns", 0.0);
    for bytes in [64 << 10, 1 << 20, 16 << 20, 64 << 20] {
        let (from, to) = (device.allocate(bytes, 64)?, device.allocate(bytes, 64)?);
        backend.fill_now(from, 1);
        backend.fill_now(to, 1);
        let copy = Transfer::new(to, from).expect("of one length");
        let raw = rounds(7, || ns_each(1, || backend.copy_now(copy)));
        let queued = rounds(7, || {
            ns_each(1, || {
                let position = a.submit(Task::Copy(copy), TAG);
                a.wait(position, None);
            })
        });
        row(
            &format!("copy of {} KiB: GB/s", bytes >> 10),
            bytes as f64 / queued,
            "",
            bytes as f64 / raw,
        );
        device.free(from);
        device.free(to);
    }
    Ok(())
}

/// Alternates between two streams: each sets what the other waits for.
fn hops(a: &Arc<dyn Queue>, b: &Arc<dyn Queue>, count: usize, before: bool) -> f64 {
    let gate = Arc::new(Signal::new());
    let signals: Vec<_> = (0..=count).map(|_| Arc::new(Signal::new())).collect();
    let wait = |signal: &Arc<Signal>| Task::Wait {
        signal: signal.clone(),
        then: WaitThen::Keep,
        limit: None,
    };
    let mut start = Instant::now();
    if before {
        a.submit(wait(&gate), TAG);
        b.submit(wait(&gate), TAG);
    }
    for (i, pair) in signals.windows(2).enumerate() {
        let queue = if i % 2 == 0 { a } else { b };
        if i > 0 {
            queue.submit(wait(&pair[0]), TAG);
        }
        queue.submit(Task::Set(pair[1].clone()), TAG);
    }
    if before {
        start = Instant::now();
        gate.set();
    }
    a.wait_signal(&signals[count], None);
    let each = start.elapsed().as_nanos() as f64 / count as f64;
    a.wait(a.submitted(), None);
    b.wait(b.submitted(), None);
    each
}

/// What a wake costs its caller, and when the woken thread runs.
fn wake() -> (f64, f64) {
    let start = Instant::now();
    let now = move || start.elapsed().as_nanos() as u64;
    let shared = Arc::new((
        Mutex::new(0u32),
        Condvar::new(),
        AtomicU64::new(0),
        AtomicU32::new(0),
    ));
    let other = shared.clone();
    let thread = std::thread::spawn(move || {
        for round in 1..=31 {
            let mut turn = other.0.lock().expect("no panic");
            other.3.store(round, Ordering::Release);
            while *turn < round {
                turn = other.1.wait(turn).expect("no panic");
            }
            other.2.store(now(), Ordering::Release);
        }
    });
    let (mut calls, mut runs) = (Vec::new(), Vec::new());
    for round in 1..=31 {
        while shared.3.load(Ordering::Acquire) < round {
            relax();
        }
        pause(Duration::from_micros(500));
        *shared.0.lock().expect("no panic") = round;
        shared.2.store(0, Ordering::Release);
        let before = now();
        shared.1.notify_one();
        calls.push((now() - before) as f64);
        while shared.2.load(Ordering::Acquire) == 0 {
            relax();
        }
        runs.push((shared.2.load(Ordering::Acquire) - before) as f64);
    }
    thread.join().expect("no panic");
    (median(calls), median(runs))
}

/// How long a value takes to another thread and back.
fn line_round_trip() -> f64 {
    let ball = Arc::new(AtomicU32::new(0));
    let other = ball.clone();
    const TRIPS: u32 = 20_000;
    let thread = std::thread::spawn(move || {
        for i in 0..TRIPS {
            while other.load(Ordering::Acquire) != 2 * i + 1 {
                relax();
            }
            other.store(2 * i + 2, Ordering::Release);
        }
    });
    let time = ns_each(TRIPS, || {
        for i in 0..TRIPS {
            ball.store(2 * i + 1, Ordering::Release);
            while ball.load(Ordering::Acquire) != 2 * i + 2 {
                relax();
            }
        }
    });
    thread.join().expect("no panic");
    time
}
