//! Starting from rest: work without a waiting thread, callbacks, and what a wake costs.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::acl::Acl;
use crate::limits;
use crate::placement::Placement;
use crate::rounds::{Line, Table, Target, alone, in_turn, median};

const SMALL: usize = 64;
/// After this time workers are in a timed park.
const TIMED_PARK: Duration = Duration::from_micros(300);
/// After this long all of them sleep.
const ASLEEP: Duration = Duration::from_millis(30);
/// The length of one timed park, with the target's tolerance.
const PARK_LIMIT_US: f64 = 160.0;

/// Runs everything that a placement can show.
pub fn run(acl: Acl, placement: Placement, lines: &mut Table) -> Result<()> {
    let stream = acl.stream()?;
    let small = (acl.malloc(SMALL)?, acl.malloc(SMALL)?);
    let copy = || acl.copy_async(small.0, small.1, SMALL, stream);
    // The host only looks, and does not help.
    let started = |rest: Duration| {
        let trip = || {
            std::thread::sleep(rest);
            let start = Instant::now();
            copy();
            while !acl.is_done(stream) {
                match placement {
                    Placement::OneCore => std::thread::sleep(Duration::from_micros(5)),
                    Placement::Anywhere | Placement::Separate => std::hint::spin_loop(),
                }
            }
            start.elapsed().as_nanos() as f64 / 1000.0
        };
        median((0..9).map(|_| trip()).collect())
    };
    lines.push(Line {
        what: "a task without a waiting thread, workers in timed park".into(),
        value: alone(|| started(TIMED_PARK)),
        unit: "us",
        limit: None,
        target: Some(Target::Value(PARK_LIMIT_US)),
    });
    let wake = || median((0..9).map(|_| limits::wake_beside()).collect());
    let (value, wake) = in_turn(|| started(ASLEEP), wake);
    lines.push(Line {
        what: "a task without a waiting thread, workers parked".into(),
        value,
        unit: "us",
        limit: Some(("waking a thread on another core until it runs".into(), wake)),
        target: Some(Target::Ratio(1.2)),
    });
    let call = || {
        let one = || {
            std::thread::sleep(TIMED_PARK);
            let start = Instant::now();
            copy();
            let spent = start.elapsed().as_nanos() as f64;
            acl.synchronize(stream);
            spent
        };
        median((0..9).map(|_| one()).collect())
    };
    let (value, wake) = in_turn(call, limits::wake_call);
    lines.push(Line {
        what: "enqueue while workers are in timed park".into(),
        value,
        unit: "ns",
        limit: Some(("the call that wakes a thread".into(), wake)),
        target: Some(Target::Ratio(0.05)),
    });
    callbacks(acl, lines)
}

fn callbacks(acl: Acl, lines: &mut Table) -> Result<()> {
    const COUNT: usize = 1000;
    let stream = acl.stream()?;
    acl.subscribe(stream)?;
    let value = alone(|| {
        let start = Instant::now();
        for _ in 0..COUNT {
            acl.call_back(stream);
        }
        start.elapsed().as_nanos() as f64 / COUNT as f64 / 1000.0
    });
    acl.unsubscribe(stream)?;
    lines.push(Line {
        what: "callback: launched and run by the thread that reports".into(),
        value,
        unit: "us",
        limit: None,
        target: Some(Target::Value(0.3)),
    });
    let stream = acl.stream()?;
    let function = || {
        let one = || {
            std::thread::sleep(TIMED_PARK);
            let start = Instant::now();
            acl.host_function(stream);
            acl.synchronize(stream);
            start.elapsed().as_nanos() as f64 / 1000.0
        };
        median((0..9).map(|_| one()).collect())
    };
    // There and back: two threads are woken, one after the other.
    let (value, wake) = in_turn(function, || limits::wake_to_run() + limits::wake_to_run());
    lines.push(Line {
        what: "host function on the runtime's thread, and back".into(),
        value,
        unit: "us",
        limit: Some(("waking two threads, one after the other".into(), wake)),
        target: Some(Target::Ratio(1.2)),
    });
    Ok(())
}
