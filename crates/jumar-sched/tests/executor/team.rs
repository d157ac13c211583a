//! Work that is lent to the workers.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use jumar_hal::{Cost, Signal, Task};
use jumar_sched::{Executor, ExecutorConfig};

use super::{Bare, TAG, drain, queue, run_costing, wait_on};

fn executor(workers: usize) -> Executor {
    let config = ExecutorConfig {
        workers,
        cpus: 4,
        schedule: None,
    };
    Executor::new(config, Arc::new(Bare))
}

#[test]
fn each_part_runs_once_and_none_after_the_owner_has_left() {
    let executor = executor(3);
    for round in 0..300 {
        let parts = round % 40;
        let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        executor.team().share_borrowed(parts, &|part| {
            counts[part].fetch_add(1, Ordering::Relaxed);
        });
        assert!(
            counts
                .iter()
                .all(|count| count.load(Ordering::Relaxed) == 1)
        );
    }
}

#[test]
fn as_many_threads_as_workers_take_part_and_no_more() {
    for workers in [1, 2, 3] {
        let executor = executor(workers);
        assert_eq!(executor.team().threads(), workers);
        let seen = Mutex::new(HashSet::new());
        executor.team().share_borrowed(64, &|_| {
            seen.lock().unwrap().insert(thread::current().id());
            thread::yield_now();
        });
        assert!(seen.lock().unwrap().len() <= workers);
    }
}

#[test]
fn several_threads_share_at_once_and_inside_each_other() {
    let executor = executor(3);
    let total = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    executor.team().share_borrowed(5, &|_| {
                        executor.team().share_borrowed(3, &|_| {
                            total.fetch_add(1, Ordering::Relaxed);
                        });
                    });
                }
            });
        }
    });
    assert_eq!(total.load(Ordering::Relaxed), 3 * 50 * 15);
}

#[test]
fn a_part_that_panics_is_heard_of_after_the_last_part() {
    let executor = executor(2);
    let done = AtomicUsize::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        executor.team().share_borrowed(8, &|part| {
            assert!(part != 3, "on purpose");
            done.fetch_add(1, Ordering::Relaxed);
        });
    }));
    assert!(result.is_err());
    assert_eq!(done.load(Ordering::Relaxed), 7);
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// The parts after the panic are still done by others when its value is dropped: nothing may leave before they are.
#[test]
fn a_panic_whose_value_panics_leaves_after_the_last_part() {
    for part_that_panics in 0..4 {
        let executor = executor(2);
        let done = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            executor.team().share_borrowed(4, &|part| {
                if part == part_that_panics {
                    std::panic::panic_any(Bomb);
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        let payload = result.expect_err("it panics");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert_eq!(text, "a part of shared work panicked: no text");
        assert_eq!(done.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn a_program_whose_panic_carries_a_value_that_panics_is_a_failed_task() {
    let executor = executor(1);
    let queue = queue(&executor);
    queue.submit(
        run_costing(Cost::Bounded, || std::panic::panic_any(Bomb)),
        TAG,
    );
    queue.submit(run_costing(Cost::Bounded, || {}), TAG);
    drain(&queue);
    assert_eq!(queue.completed(), 2);
}

#[test]
fn work_is_not_shared_with_a_processor_that_another_stream_needs() {
    let config = ExecutorConfig {
        workers: 2,
        cpus: 2,
        schedule: None,
    };
    let executor = Arc::new(Executor::new(config, Arc::new(Bare)));
    let streams = [queue(&executor), queue(&executor)];
    let large = |f: Box<dyn Fn() + Send + Sync>| run_costing(Cost::Large, f);
    let (inside, opened) = (Arc::new(Signal::new()), Arc::new(Signal::new()));
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    // The thread that runs this stream is busy until the other one is done.
    let (there, held) = (inside.clone(), gate.clone());
    streams[0].submit(
        large(Box::new(move || {
            there.set();
            let mut open = held.0.lock().unwrap();
            while !*open {
                open = held.1.wait(open).unwrap();
            }
        })),
        TAG,
    );
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let (threads, team) = (seen.clone(), executor.clone());
    streams[1].submit(wait_on(&inside), TAG);
    streams[1].submit(
        large(Box::new(move || {
            for _ in 0..200 {
                team.team().share_borrowed(8, &|_| {
                    threads.lock().unwrap().insert(thread::current().id());
                    thread::yield_now();
                });
            }
        })),
        TAG,
    );
    streams[1].submit(Task::Set(opened.clone()), TAG);
    assert!(streams[1].wait_signal(&opened, None));
    assert_eq!(seen.lock().unwrap().len(), 1);
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    drain(&streams[0]);
}
