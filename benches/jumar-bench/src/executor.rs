//! The executor itself, without the C functions and their checks: what it costs to queue, to run and to hand over.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{
    Backend, Call, Cost, Device, Program, Queue, QueueConfig, QueueObserver, Signal, Span, Tag,
    Task, Transfer, Verdict, WaitThen,
};
use jumar_types::Error;

use crate::limits;
use crate::placement::{Placement, away, cores};
use crate::rounds::{Line, Table, Target, alone, in_turn};

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

/// A task that waits for all others of its kind.
struct Meet(Arc<Barrier>);

impl Program for Meet {
    fn run(&self) -> jumar_types::Result<()> {
        self.0.wait();
        Ok(())
    }
    fn cost(&self) -> Cost {
        Cost::Unbounded
    }
    fn name(&self) -> &str {
        "meet"
    }
}

/// A task that takes a known time.
struct Busy(Duration);

impl Program for Busy {
    fn run(&self) -> jumar_types::Result<()> {
        let start = Instant::now();
        while start.elapsed() < self.0 {
            std::hint::spin_loop();
        }
        Ok(())
    }
    fn cost(&self) -> Cost {
        Cost::Unbounded
    }
    fn name(&self) -> &str {
        "busy"
    }
}

struct Bench {
    device: Arc<dyn Device>,
    to: Span,
    from: Span,
}

impl Bench {
    fn queue(&self) -> Arc<dyn Queue> {
        self.device
            .queue(QueueConfig::default(), Arc::new(NoObserver))
            .expect("a queue")
    }

    fn copy(&self) -> Task {
        Task::Copy(Transfer::new(self.to, self.from).expect("of one length"))
    }
}

fn wait_for(signal: &Arc<Signal>) -> Task {
    Task::Wait {
        signal: signal.clone(),
        then: WaitThen::Keep,
        limit: None,
    }
}

fn drain(queue: &Arc<dyn Queue>) {
    queue.wait(queue.submitted(), None);
}

fn ns_each(count: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / count as f64
}

/// Runs everything that a placement can show, with so many workers (0: as many as there are cores).
pub fn run(placement: Placement, workers: usize, lines: &mut Table) -> Result<()> {
    let failed = |error: Error| anyhow!("{error}");
    let backend = CpuBackend::new(CpuConfig {
        devices: vec![CpuDeviceConfig {
            memory_bytes: 1 << 30,
        }],
        workers,
        // With separate cores this thread may run on one core only, which is not the number of cores to use.
        cpus: cores(),
        ..CpuConfig::default()
    })
    .map_err(failed)?;
    let device = backend.open(0).map_err(failed)?;
    let (to, from) = (
        device.allocate(64, 64).map_err(failed)?,
        device.allocate(64, 64).map_err(failed)?,
    );
    let bench = Bench { device, to, from };
    // As many tasks that wait for each other as there are workers: each has one, which was started where it is to stay.
    placement.start_workers(|| {
        let all = if workers == 0 {
            cores().max(2)
        } else {
            workers
        };
        let met = Arc::new(Barrier::new(all));
        let queues: Vec<_> = (0..all).map(|_| bench.queue()).collect();
        for queue in &queues {
            queue.submit(Task::Run(Arc::new(Meet(met.clone()))), TAG);
        }
        while queues.iter().any(|queue| queue.completed() < 1) {
            std::thread::yield_now();
        }
    })?;
    enqueue(&bench, lines);
    throughput(&bench, placement, lines);
    hops(&bench, placement, lines);
    if placement != Placement::OneCore {
        overlap(&bench, lines);
    }
    gate(lines);
    Ok(())
}

fn enqueue(bench: &Bench, lines: &mut Table) {
    const COUNT: usize = 1000;
    let queue = bench.queue();
    let held = || {
        let gate = Arc::new(Signal::untimed());
        queue.submit(wait_for(&gate), TAG);
        let figure = ns_each(COUNT, || {
            for _ in 0..COUNT {
                queue.submit(bench.copy(), TAG);
            }
        });
        gate.set();
        drain(&queue);
        figure
    };
    let limit = limits::queue();
    let (value, push) = in_turn(held, || limits::push(&limit));
    lines.push(Line {
        what: "executor: enqueue of a 64 B copy".into(),
        value,
        unit: "ns",
        limit: Some(("push into a bounded queue".into(), push)),
        target: Some(Target::Ratio(1.2)),
    });
}

/// Queues tasks on streams in turn and waits for all. Nanoseconds a task.
fn over(bench: &Bench, queues: &[Arc<dyn Queue>]) -> f64 {
    const COUNT: usize = 64_000;
    let each = COUNT / queues.len();
    ns_each(each * queues.len(), || {
        for _ in 0..each {
            for queue in queues {
                queue.submit(bench.copy(), TAG);
            }
        }
        queues.iter().for_each(drain);
    })
}

fn throughput(bench: &Bench, placement: Placement, lines: &mut Table) {
    let one = vec![bench.queue()];
    if placement != Placement::OneCore {
        let (value, ring) = in_turn(|| over(bench, &one), || limits::ring(64_000));
        lines.push(Line {
            what: "executor: one stream, a task from enqueue to done".into(),
            value,
            unit: "ns",
            limit: Some(("a spinning ring between two cores".into(), ring)),
            target: Some(Target::Ratio(1.0 / 1.5)),
        });
    }
    for (count, share) in [(64, 0.7), (1000, 0.3)] {
        let many: Vec<_> = (0..count).map(|_| bench.queue()).collect();
        let (value, alone) = in_turn(|| over(bench, &many), || over(bench, &one));
        lines.push(Line {
            what: format!("executor: {count} streams, a task"),
            value,
            unit: "ns",
            limit: Some(("one stream".into(), alone)),
            target: Some(Target::Ratio(1.0 / share)),
        });
    }
}

/// Two streams hand over to each other by signals; everything is queued first, or each step by its own thread.
fn hops(bench: &Bench, placement: Placement, lines: &mut Table) {
    const COUNT: usize = 400;
    let (a, b) = (bench.queue(), bench.queue());
    let one_executor = || {
        let gate = Arc::new(Signal::untimed());
        let signals: Vec<_> = (0..=COUNT).map(|_| Arc::new(Signal::untimed())).collect();
        a.submit(wait_for(&gate), TAG);
        b.submit(wait_for(&gate), TAG);
        for (step, pair) in signals.windows(2).enumerate() {
            let queue = if step % 2 == 0 { &a } else { &b };
            if step > 0 {
                queue.submit(wait_for(&pair[0]), TAG);
            }
            queue.submit(Task::Set(pair[1].clone()), TAG);
        }
        let figure = ns_each(COUNT, || {
            gate.set();
            a.wait_signal(&signals[COUNT], None);
        });
        drain(&a);
        drain(&b);
        figure
    };
    let line = |what: &str, value: f64, round: Option<f64>, most: f64| Line {
        what: what.into(),
        value,
        unit: "ns",
        limit: round.map(|round| ("a cache line there and back".into(), round)),
        target: round.map(|_| Target::Ratio(most)),
    };
    if placement == Placement::OneCore {
        let value = alone(one_executor);
        lines.push(line("executor: hop between two streams", value, None, 1.0));
        return;
    }
    let (value, round) = in_turn(one_executor, limits::line_round_trip);
    let what = "executor: hop between two streams, run by the thread that waits";
    lines.push(line(what, value, Some(round), 1.0));
    // Two threads, each of which runs one of the streams while it waits for it.
    let across = || {
        let ready = AtomicU64::new(0);
        let signals: Vec<_> = (0..=COUNT).map(|_| Arc::new(Signal::untimed())).collect();
        let run = |queue: &Arc<dyn Queue>, parity: usize| {
            ready.fetch_add(1, Ordering::AcqRel);
            while ready.load(Ordering::Acquire) < 2 {
                std::hint::spin_loop();
            }
            let begin = Instant::now();
            for (step, pair) in signals.windows(2).enumerate() {
                if step % 2 == parity {
                    if step > 0 {
                        queue.submit(wait_for(&pair[0]), TAG);
                    }
                    queue.submit(Task::Set(pair[1].clone()), TAG);
                    drain(queue);
                }
            }
            begin.elapsed().as_nanos() as f64 / COUNT as f64
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                away();
                run(&b, 1)
            });
            let figure = run(&a, 0);
            other.join().expect("a measuring thread").max(figure)
        })
    };
    let (value, round) = in_turn(across, limits::line_round_trip);
    let what = "executor: hop between two streams, each run by its own thread";
    lines.push(line(what, value, Some(round), 2.0));
}

fn overlap(bench: &Bench, lines: &mut Table) {
    const TASKS: usize = 100;
    let (a, b) = (bench.queue(), bench.queue());
    let busy = || Task::Run(Arc::new(Busy(Duration::from_micros(10))));
    let us = |queues: [&Arc<dyn Queue>; 2]| {
        let start = Instant::now();
        for _ in 0..TASKS {
            for queue in queues {
                queue.submit(busy(), TAG);
            }
        }
        queues.into_iter().for_each(drain);
        start.elapsed().as_nanos() as f64 / 1000.0
    };
    let (value, serial) = in_turn(|| us([&a, &b]), || us([&a, &a]));
    lines.push(Line {
        what: "executor: 200 tasks of 10 us on two streams".into(),
        value,
        unit: "us",
        limit: Some(("on one stream".into(), serial)),
        target: Some(Target::Ratio(1.0 / 1.8)),
    });
}

/// What the gate adds to a submit without probes: the call, against a loop without it.
fn gate(lines: &mut Table) {
    const COUNT: usize = 100_000;
    let gate = jumar_core::Gate::default();
    let lookups = jumar_core::Lookups::default();
    let caller = jumar_core::Caller::new(&CALL, &lookups);
    let with = || {
        ns_each(COUNT, || {
            for stream in 0..COUNT as u32 {
                let op = || jumar_core::Op::WaitForStream;
                let ticket = black_box(&gate).admit(&caller, 0, Some(stream), op);
                black_box(ticket.unwrap_or(0));
            }
        })
    };
    let without = || {
        ns_each(COUNT, || {
            for stream in 0..COUNT as u32 {
                black_box(&gate);
                black_box(u64::from(stream));
            }
        })
    };
    let (value, nothing) = in_turn(with, without);
    lines.push(Line {
        what: "the gate without probes, beyond a submit without it".into(),
        value: (value - nothing).max(0.0),
        unit: "ns",
        limit: None,
        target: Some(Target::Value(1.0)),
    });
}
