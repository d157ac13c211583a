//! Short programs: a submit to an idle queue runs them at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};

use jumar_hal::{Cost, Program, QueueConfig, Signal, Tag, Task};
use jumar_types::{Error, ErrorKind, Result};

use super::{RecordingObserver, TAG, TEST, drain, executor, queue, run, wait_on};

/// Calls a closure, and says that this takes little time.
struct Short<F>(F);

impl<F: Fn() -> Result<()> + Send + Sync + 'static> Program for Short<F> {
    fn run(&self) -> Result<()> {
        (self.0)()
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn is_short(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        "short"
    }
}

fn short(f: impl Fn() + Send + Sync + 'static) -> Arc<dyn Program> {
    Arc::new(Short(move || {
        f();
        Ok(())
    }))
}

/// A program that notes the thread which runs it, and the list of these threads.
fn noting() -> (Arc<dyn Program>, Arc<Mutex<Vec<ThreadId>>>) {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let list = threads.clone();
    let note = short(move || list.lock().unwrap().push(thread::current().id()));
    (note, threads)
}

#[test]
fn an_idle_queue_runs_a_short_program_on_the_submitting_thread() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (note, threads) = noting();
    for position in 1..=3 {
        assert_eq!(queue.submit_run(note.clone(), TAG), position);
        assert_eq!(queue.completed(), position, "it ran inside the submit");
    }
    assert_eq!(queue.submit(Task::Run(note), TAG), 4);
    assert_eq!(*threads.lock().unwrap(), [thread::current().id(); 4]);
}

#[test]
fn a_short_program_waits_its_turn_behind_other_tasks() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (note, threads) = noting();
    let signal = Arc::new(Signal::new());
    queue.submit(wait_on(&signal), TAG);
    queue.submit_run(note.clone(), TAG);
    assert_eq!(queue.completed(), 0, "the wait before it is not over");
    signal.set();
    drain(&queue);
    assert_eq!(threads.lock().unwrap().len(), 1);
    // A queue whose task runs now is not idle.
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    queue.submit(
        run(move || {
            begun.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
        }),
        TAG,
    );
    begins.recv().unwrap();
    queue.submit_run(note, TAG);
    assert_eq!(threads.lock().unwrap().len(), 1);
    release.send(()).unwrap();
    drain(&queue);
    assert_eq!(threads.lock().unwrap().len(), 2);
}

#[test]
fn an_observer_is_not_called_inside_a_submit() {
    let executor = executor(1);
    let observer = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), observer.clone());
    let (note, threads) = noting();
    let observed = Tag {
        ticket: 7,
        call: &TEST,
    };
    queue.submit_run(note, observed);
    drain(&queue);
    // Either the worker or the waiting thread ran it, and notified the observer.
    assert_eq!(threads.lock().unwrap().len(), 1);
    assert_eq!(observer.heard(), ["started 7", "finished 7"]);
}

#[test]
fn a_failure_is_kept_and_the_submit_succeeds() {
    for discard in [false, true] {
        let executor = executor(1);
        let observer = Arc::new(RecordingObserver {
            discard,
            ..RecordingObserver::default()
        });
        let queue = executor.queue(QueueConfig::default(), observer.clone());
        let failing = Short(|| Err(Error::new(ErrorKind::KernelFailed, "as asked")));
        queue.submit_run(Arc::new(failing), TAG);
        let panicking = short(|| panic!("as asked"));
        queue.submit_run(panicking, TAG);
        assert_eq!(queue.completed(), 2);
        let heard = observer.heard();
        assert_eq!(heard, ["failed 0 KernelFailed", "failed 0 Internal"]);
    }
}

#[test]
fn a_task_may_submit_a_short_program_to_its_own_queue() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (note, threads) = noting();
    let own = queue.clone();
    let outer = short(move || {
        own.submit_run(note.clone(), TAG);
    });
    queue.submit_run(outer, TAG);
    drain(&queue);
    assert_eq!(threads.lock().unwrap().len(), 1);
}

#[test]
fn threads_that_submit_short_programs_to_one_queue_lose_none() {
    const EACH: usize = 2_000;
    let executor = executor(1);
    let queue = queue(&executor);
    let count = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for turn in 0..EACH {
                    let count = count.clone();
                    // Tasks run one at a time, so that a load and a store count correctly.
                    let add = move || {
                        let seen = count.load(Ordering::Relaxed);
                        count.store(seen + 1, Ordering::Relaxed);
                    };
                    match turn % 3 {
                        0 => queue.submit(run(add), TAG),
                        _ => queue.submit_run(short(add), TAG),
                    };
                }
            });
        }
    });
    drain(&queue);
    assert_eq!(count.load(Ordering::Relaxed), 4 * EACH);
}
