//! Waits whose signal comes from threads or processes that a waiting thread polls for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use jumar_hal::{Poller, Signal};

use super::{TAG, drain, executor, queue, run, wait_on};

/// Sets a signal at the poll of a number, or never, and counts.
struct Setting {
    signal: OnceLock<Arc<Signal>>,
    at: usize,
    polls: AtomicUsize,
    polling: AtomicUsize,
    ended: AtomicUsize,
}

impl Poller for Setting {
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool) {
        let others = self.polling.fetch_add(1, Ordering::Relaxed);
        assert_eq!(others, 0, "two threads poll for one queue");
        loop {
            let polls = self.polls.fetch_add(1, Ordering::Relaxed) + 1;
            if polls == self.at {
                self.signal.get().unwrap().set();
            }
            if !goes_on(polls == self.at) {
                break;
            }
            thread::yield_now();
        }
        self.polling.fetch_sub(1, Ordering::Relaxed);
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A signal that is set at the poll of a number.
fn polled(at: usize) -> (Arc<Signal>, Arc<Setting>) {
    let poller = Arc::new(Setting {
        signal: OnceLock::new(),
        at,
        polls: AtomicUsize::new(0),
        polling: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    });
    let signal = Arc::new(Signal::polled(poller.clone()));
    assert!(poller.signal.set(signal.clone()).is_ok());
    (signal, poller)
}

#[test]
fn a_waiting_thread_polls_and_runs_what_is_behind() {
    let executor = executor(1);
    let queue = queue(&executor);
    // At the first poll: a thread that the system interrupts for long may poll only once before it sleeps.
    let (signal, poller) = polled(1);
    let ran_on = Arc::new(Mutex::new(None));
    let note = ran_on.clone();
    queue.submit(wait_on(&signal), TAG);
    queue.submit(
        run(move || *note.lock().unwrap() = Some(thread::current().id())),
        TAG,
    );
    drain(&queue);
    assert_eq!(
        poller.polls.load(Ordering::Relaxed),
        1,
        "it stops at the signal"
    );
    assert_eq!(*ran_on.lock().unwrap(), Some(thread::current().id()));
}

#[test]
fn a_submit_registers_the_wait_of_an_idle_queue_at_once() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (signal, poller) = polled(1);
    queue.submit(wait_on(&signal), TAG);
    assert_eq!(
        (signal.waiters(), poller.polls.load(Ordering::Relaxed)),
        (1, 0)
    );
    assert!(queue.is_held());
    drain(&queue);
}

#[test]
fn polling_without_effect_ends_and_the_thread_sleeps() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (signal, poller) = polled(usize::MAX);
    queue.submit(wait_on(&signal), TAG);
    let limit = Instant::now() + Duration::from_millis(50);
    assert!(!queue.wait(1, Some(limit)), "nothing set the signal");
    let ended = poller.ended.load(Ordering::Relaxed);
    assert!(ended >= 1, "the thread sleeps after it has polled");
    // A signal that is set while the thread sleeps wakes it.
    thread::scope(|scope| {
        scope.spawn(|| drain(&queue));
        while poller.ended.load(Ordering::Relaxed) == ended {
            thread::yield_now();
        }
        signal.set();
    });
    assert_eq!(queue.completed(), 1);
}

#[test]
fn of_two_threads_that_wait_one_polls() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (signal, poller) = polled(usize::MAX);
    queue.submit(wait_on(&signal), TAG);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| drain(&queue));
        }
        while poller.polls.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        signal.set();
    });
    assert_eq!(queue.completed(), 1);
}
