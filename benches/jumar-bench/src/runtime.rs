//! The runtime's figures: enqueue, round trip, hop, copies, overlap.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::acl::{Acl, Event, Memory, Stream};
use crate::limits;
use crate::placement::{Placement, cores};
use crate::rounds::{Line, Table, Target, alone, in_turn, median};

/// Tasks in one timed batch.
const BATCH: usize = 1000;
/// Bytes of a small task.
const SMALL: usize = 64;

/// Runs everything that a placement can show.
pub fn run(acl: Acl, placement: Placement, lines: &mut Table) -> Result<()> {
    let small = (acl.malloc(SMALL)?, acl.malloc(SMALL)?);
    let stream = acl.stream()?;
    enqueue(acl, stream, small, lines)?;
    round_trips(acl, stream, small, lines);
    hops(acl, lines)?;
    thousand_tasks(acl, stream, small, lines);
    replay(acl, stream, small, lines)?;
    if placement == Placement::Anywhere {
        enqueue_on_every_core(acl, lines)?;
        overlap(acl, stream, lines)?;
        copies(acl, lines)?;
        allocation(acl, lines)?;
    }
    Ok(())
}

/// Times a batch of calls and waits afterwards, outside the time. Nanoseconds a call.
fn batch(acl: Acl, stream: Stream, call: impl Fn()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        call();
    }
    let spent = start.elapsed();
    acl.synchronize(stream);
    spent.as_nanos() as f64 / BATCH as f64
}

fn enqueue(acl: Acl, stream: Stream, small: (Memory, Memory), lines: &mut Table) -> Result<()> {
    let event = acl.event()?;
    let queue = limits::queue();
    let calls: [(&str, &dyn Fn()); 3] = [
        ("enqueue: aclrtMemcpyAsync, 64 B inside the device", &|| {
            acl.copy_async(small.0, small.1, SMALL, stream)
        }),
        ("enqueue: aclrtMemsetAsync, 64 B", &|| {
            acl.fill_async(small.0, SMALL, stream)
        }),
        ("enqueue: aclrtRecordEvent", &|| acl.record(event, stream)),
    ];
    let opener = acl.stream()?;
    for (what, call) in calls {
        // No task runs yet, as the bounded queue has no consumer: a wait at the head blocks the stream.
        let held = || {
            let gate = acl.event().expect("an event");
            acl.wait(stream, gate);
            let start = Instant::now();
            for _ in 0..BATCH {
                call();
            }
            let spent = start.elapsed();
            acl.record(gate, opener);
            acl.synchronize(stream);
            acl.destroy_event(gate).expect("its release");
            spent.as_nanos() as f64 / BATCH as f64
        };
        let running = || batch(acl, stream, call);
        let ways: [(&str, &dyn Fn() -> f64); 2] = [
            ("", &held),
            (", while a worker on another core runs them", &running),
        ];
        for (way, measure) in ways {
            let (value, push) = in_turn(measure, || limits::push(&queue));
            lines.push(Line {
                what: format!("{what}{way}"),
                value,
                unit: "ns",
                limit: Some(("push into a bounded queue".into(), push)),
                target: Some(Target::Ratio(3.5)),
            });
        }
    }
    acl.destroy_stream(opener)?;
    acl.destroy_event(event)
}

/// Each core's thread has a stream of its own in one context; figures are per thread.
fn enqueue_on_every_core(acl: Acl, lines: &mut Table) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let context = acl.context()?;
    let on_threads = |threads: usize| -> f64 {
        let barrier = Barrier::new(threads);
        let figures: Vec<f64> = std::thread::scope(|scope| {
            let run = || -> Result<f64> {
                acl.enter(context)?;
                let (stream, to, from) = (acl.stream()?, acl.malloc(SMALL)?, acl.malloc(SMALL)?);
                batch(acl, stream, || acl.copy_async(to, from, SMALL, stream));
                barrier.wait();
                let figure = batch(acl, stream, || acl.copy_async(to, from, SMALL, stream));
                barrier.wait();
                acl.destroy_stream(stream)?;
                acl.free(to)?;
                acl.free(from)?;
                Ok(figure)
            };
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            handles
                .into_iter()
                .map(|handle| {
                    handle
                        .join()
                        .expect("a measuring thread")
                        .expect("its calls")
                })
                .collect()
        });
        median(figures)
    };
    let (value, one) = in_turn(|| on_threads(cores), || on_threads(1));
    lines.push(Line {
        what: format!("enqueue, a thread on each of {cores} cores, streams of one context"),
        value,
        unit: "ns",
        limit: Some(("the same with one thread".into(), one)),
        target: Some(Target::Ratio(1.5)),
    });
    Ok(())
}

fn round_trips(acl: Acl, stream: Stream, small: (Memory, Memory), lines: &mut Table) {
    let trip = || {
        let start = Instant::now();
        acl.copy_async(small.0, small.1, SMALL, stream);
        acl.synchronize(stream);
        start.elapsed().as_nanos() as f64 / 1000.0
    };
    let hot = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            acl.copy_async(small.0, small.1, SMALL, stream);
            acl.synchronize(stream);
        }
        start.elapsed().as_nanos() as f64 / BATCH as f64 / 1000.0
    };
    let what = "round trip, hot: enqueue and aclrtSynchronizeStream".to_owned();
    if cores() > 1 {
        let (value, line) = in_turn(hot, || limits::line_round_trip() / 1000.0);
        lines.push(Line {
            what,
            value,
            unit: "us",
            limit: Some(("a cache line there and back".into(), line)),
            target: Some(Target::Ratio(0.5)),
        });
    } else {
        lines.push(Line {
            what,
            value: alone(hot),
            unit: "us",
            limit: None,
            target: Some(Target::Value(1.0)),
        });
    }
    let mut single: Vec<f64> = (0..5 * BATCH).map(|_| trip()).collect();
    single.sort_by(f64::total_cmp);
    lines.push(Line {
        what: "round trip, hot, 99th percentile of single trips".into(),
        value: single[single.len() * 99 / 100],
        unit: "us",
        limit: None,
        target: Some(Target::Value(1.0)),
    });
    let after_idle = || {
        median(
            (0..20)
                .map(|_| {
                    std::thread::sleep(Duration::from_micros(300));
                    trip()
                })
                .collect(),
        )
    };
    let (value, wake) = in_turn(after_idle, limits::wake_to_run);
    lines.push(Line {
        what: "round trip after 300 us of idleness".into(),
        value,
        unit: "us",
        limit: Some(("waking a thread until it runs".into(), wake)),
        target: Some(Target::Ratio(0.02)),
    });
}

/// Two streams hand over to each other by events. The first wait holds all of it until everything is queued.
fn hops(acl: Acl, lines: &mut Table) -> Result<()> {
    const PAIRS: usize = 200;
    let (a, b, opener) = (acl.stream()?, acl.stream()?, acl.stream()?);
    let chain = |events: &[Event]| {
        acl.wait(a, events[0]);
        for pair in events[1..].chunks_exact(2) {
            acl.record(pair[0], a);
            acl.wait(b, pair[0]);
            acl.record(pair[1], b);
            acl.wait(a, pair[1]);
        }
        let start = Instant::now();
        acl.record(events[0], opener);
        acl.synchronize(a);
        start.elapsed().as_nanos() as f64 / (2 * PAIRS) as f64 / 1000.0
    };
    // An event keeps being recorded, so each round takes new ones.
    let figures: Vec<f64> = (0..crate::rounds::ROUNDS)
        .map(|_| {
            let events: Vec<Event> = (0..=2 * PAIRS)
                .map(|_| acl.event())
                .collect::<Result<_>>()?;
            let figure = chain(&events);
            events
                .into_iter()
                .try_for_each(|event| acl.destroy_event(event))?;
            Ok(figure)
        })
        .collect::<Result<_>>()?;
    for stream in [a, b, opener] {
        acl.synchronize(stream);
        acl.destroy_stream(stream)?;
    }
    lines.push(Line {
        what: "hop between two streams by an event".into(),
        value: median(figures),
        unit: "us",
        limit: (cores() > 1).then(|| {
            let line = alone(limits::line_round_trip) / 1000.0;
            ("a cache line there and back".into(), line)
        }),
        target: Some(match cores() {
            1 => Target::Value(1.0),
            _ => Target::Ratio(2.0),
        }),
    });
    Ok(())
}

fn thousand_tasks(acl: Acl, stream: Stream, small: (Memory, Memory), lines: &mut Table) {
    let queue = limits::queue();
    let thousand = || {
        let start = Instant::now();
        for _ in 0..1000 {
            acl.copy_async(small.0, small.1, SMALL, stream);
        }
        acl.synchronize(stream);
        start.elapsed().as_nanos() as f64 / 1000.0
    };
    let (value, push) = in_turn(thousand, || limits::push(&queue));
    lines.push(Line {
        what: "1000 tasks: enqueue and wait until done".into(),
        value,
        unit: "us",
        limit: Some(("1000 pushes".into(), push)),
        target: None,
    });
}

/// A captured model of 1000 tasks, executed and waited for, beside the calls that queue the same tasks.
fn replay(acl: Acl, stream: Stream, small: (Memory, Memory), lines: &mut Table) -> Result<()> {
    const TIMES: usize = 20;
    let submit = || {
        for _ in 0..1000 {
            acl.fill_async(small.0, SMALL, stream);
        }
    };
    let model = acl.capture(stream, submit)?;
    let replayed = || {
        let start = Instant::now();
        for _ in 0..TIMES {
            acl.execute(model, stream);
            acl.synchronize(stream);
        }
        start.elapsed().as_nanos() as f64 / (TIMES * 1000) as f64
    };
    let queued = || batch(acl, stream, || acl.fill_async(small.0, SMALL, stream));
    let (value, enqueue) = in_turn(replayed, queued);
    lines.push(Line {
        what: "replay of 1000 captured fills of 64 B, a task".into(),
        value,
        unit: "ns",
        limit: Some(("queueing such a task".into(), enqueue)),
        target: Some(Target::Ratio(0.125)),
    });
    lines.push(Line {
        what: "replay of 1000 captured tasks, a task".into(),
        value,
        unit: "ns",
        limit: None,
        target: Some(Target::Value(2.5)),
    });
    Ok(())
}

/// The host computes for as long as a task takes: together they take hardly longer than one. Needs two cores.
fn overlap(acl: Acl, stream: Stream, lines: &mut Table) -> Result<()> {
    const WANTED: Duration = Duration::from_millis(20);
    const BYTES: usize = 8 << 20;
    let memory = acl.malloc(BYTES)?;
    let fill = |times: usize| {
        for _ in 0..times {
            acl.fill_async(memory, BYTES, stream);
        }
    };
    // The first touch of the memory and whatever else the machine does just now must not set the scale.
    let four_fills = || {
        let start = Instant::now();
        fill(4);
        acl.synchronize(stream);
        start.elapsed().as_secs_f64()
    };
    let shortest = (0..8).map(|_| four_fills()).fold(f64::MAX, f64::min);
    let times = ((WANTED.as_secs_f64() * 4.0 / shortest).round() as usize).max(1);
    let work_ms = |both: bool| {
        let start = Instant::now();
        fill(times);
        if both {
            let host = Instant::now();
            let mut sum = 0_u64;
            while host.elapsed() < WANTED {
                sum = black_box(sum.wrapping_add(1));
            }
        }
        acl.synchronize(stream);
        start.elapsed().as_secs_f64() * 1000.0
    };
    let (value, one) = in_turn(|| work_ms(true), || work_ms(false));
    lines.push(Line {
        what: "20 ms of host work beside 20 ms of device work".into(),
        value,
        unit: "ms",
        limit: Some((
            "the device work alone".into(),
            one.max(WANTED.as_secs_f64() * 1000.0),
        )),
        target: Some(Target::Ratio(1.2)),
    });
    acl.free(memory)
}

fn copies(acl: Acl, lines: &mut Table) -> Result<()> {
    for (bytes, name) in [
        (64, "64 B"),
        (64 << 10, "64 KiB"),
        (1 << 20, "1 MiB"),
        (16 << 20, "16 MiB"),
        (64 << 20, "64 MiB"),
    ] {
        let host = vec![1_u8; bytes];
        let mut other = vec![2_u8; bytes];
        let device = acl.malloc(bytes)?;
        // Small copies are shorter than the clock's step.
        let repeat = (1_usize << 20).div_ceil(bytes).min(1000);
        let (value, raw) = in_turn(
            || {
                let start = Instant::now();
                for _ in 0..repeat {
                    acl.copy_in(device, &host);
                }
                start.elapsed().as_nanos() as f64 / 1000.0 / repeat as f64
            },
            || {
                (0..repeat)
                    .map(|_| limits::raw_copy(&mut other, &host))
                    .sum::<f64>()
                    / repeat as f64
            },
        );
        let what = format!("aclrtMemcpy, host to device, {name}");
        if bytes < 16 << 20 {
            lines.push(Line {
                what,
                value,
                unit: "us",
                limit: Some(("a plain copy by one thread".into(), raw)),
                target: Some(Target::Value(raw + 0.15)),
            });
        } else {
            let (value, streamed) = in_turn(
                || {
                    let start = Instant::now();
                    acl.copy_in(device, &host);
                    start.elapsed().as_nanos() as f64 / 1000.0
                },
                || limits::streamed_copy(&mut other, &host, cores()),
            );
            lines.push(Line {
                what,
                value,
                unit: "us",
                limit: Some(("a copy past the caches by all cores".into(), streamed)),
                target: Some(Target::Ratio(1.05)),
            });
        }
        acl.free(device)?;
    }
    Ok(())
}

fn allocation(acl: Acl, lines: &mut Table) -> Result<()> {
    let value = alone(|| {
        let start = Instant::now();
        for _ in 0..BATCH {
            let memory = acl.malloc(4096).expect("4096 bytes");
            acl.free(memory).expect("what was allocated");
        }
        start.elapsed().as_nanos() as f64 / BATCH as f64 / 1000.0
    });
    lines.push(Line {
        what: "aclrtMalloc and aclrtFree, 4 KiB, again and again".into(),
        value,
        unit: "us",
        limit: None,
        target: Some(Target::Value(0.1)),
    });
    // Kept until the end, so that each round gets untouched memory.
    const COLD: usize = 32 << 20;
    let kept = std::cell::RefCell::new(Vec::new());
    let cold = || {
        let start = Instant::now();
        let memory = acl.malloc(COLD).expect("memory");
        acl.touch(memory);
        let spent = start.elapsed().as_nanos() as f64 / 1000.0;
        kept.borrow_mut().push(memory);
        spent
    };
    let (value, populate) = in_turn(cold, || limits::populate(COLD));
    kept.into_inner()
        .into_iter()
        .try_for_each(|memory| acl.free(memory))?;
    lines.push(Line {
        what: "aclrtMalloc of 32 MiB, and every byte set, cold".into(),
        value,
        unit: "us",
        limit: Some(("huge pages mapped and every byte set".into(), populate)),
        target: Some(Target::Ratio(1.1)),
    });
    Ok(())
}
