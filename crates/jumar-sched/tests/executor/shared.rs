//! Signals whose state moves to memory that other processes see, while queues wait for them or are about to.

use jumar_hal::SharedLatch;

use super::*;

/// A bit that processes would share.
#[derive(Default)]
struct Latch {
    bit: AtomicU64,
    /// No other process is left.
    deserted: AtomicBool,
}

impl SharedLatch for Latch {
    fn is_set(&self) -> bool {
        self.bit.load(Ordering::Acquire) != 0
    }

    fn set(&self) {
        self.bit.store(1, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.bit.swap(0, Ordering::AcqRel) != 0
    }

    fn address(&self) -> usize {
        self.bit.as_ptr().addr()
    }

    fn begin_wait(&self) -> u64 {
        0
    }

    fn examine(&self) {}

    fn is_deserted(&self, _: u64) -> bool {
        self.deserted.load(Ordering::Acquire)
    }

    fn desertion(&self) -> Error {
        Error::new(ErrorKind::RuntimeInternal, "no process is left")
    }
}

fn take(signal: &Arc<Signal>) -> Task {
    Task::Wait {
        signal: signal.clone(),
        then: WaitThen::Clear,
        limit: None,
    }
}

fn signal() -> Arc<Signal> {
    Arc::new(Signal::untimed())
}

/// The moment at which the signal is shared, in the order of the test.
const MOMENTS: [&str; 4] = [
    "at first",
    "after the first",
    "after the second",
    "after both ran",
];

/// Queues a set behind a gate on one queue and a take on another, or the reverse, and shares the signal at each moment.
fn passes_whenever_it_is_shared(gate_before_the_set: bool) {
    for (moment, name) in MOMENTS.iter().enumerate() {
        for workers in [1, 2] {
            let executor = executor(workers);
            let (a, b) = (queue(&executor), queue(&executor));
            let (signal, gate, latch) = (signal(), signal(), Arc::new(Latch::default()));
            let share_at = |at: usize| {
                if moment == at {
                    signal.share(latch.clone());
                }
            };
            share_at(0);
            let (set, taken) = (Task::Set(signal.clone()), take(&signal));
            if gate_before_the_set {
                a.submit(wait_on(&gate), TAG);
                a.submit(set, TAG);
                share_at(1);
                b.submit(taken, TAG);
            } else {
                b.submit(wait_on(&gate), TAG);
                b.submit(taken, TAG);
                share_at(1);
                a.submit(set, TAG);
                drain(&a);
            }
            share_at(2);
            gate.set();
            let late = Instant::now() + Duration::from_secs(10);
            assert!(b.wait(b.submitted(), Some(late)), "shared {name}");
            drain(&a);
            share_at(3);
            assert!(!signal.is_set() && !latch.is_set(), "taken, shared {name}");
            latch.set();
            assert!(signal.is_set(), "shared {name}");
        }
    }
}

#[test]
fn a_set_that_is_queued_reaches_a_wait_whenever_the_signal_is_shared() {
    passes_whenever_it_is_shared(true);
}

#[test]
fn a_wait_that_is_queued_sees_a_set_whenever_the_signal_is_shared() {
    passes_whenever_it_is_shared(false);
}

#[test]
fn a_wait_that_has_begun_goes_on_with_what_another_process_sets() {
    let executor = executor(1);
    let queue = queue(&executor);
    let (signal, latch) = (signal(), Arc::new(Latch::default()));
    queue.submit(take(&signal), TAG);
    while !queue.is_held() {
        std::thread::yield_now();
    }
    signal.share(latch.clone());
    // Nothing announces it.
    latch.set();
    drain(&queue);
    assert!(!latch.is_set(), "the wait clears it");
}

#[test]
fn a_wait_that_expires_leaves_a_shared_signal_to_the_next_one() {
    let executor = executor(1);
    let (watcher, latch) = (
        Arc::new(RecordingObserver::default()),
        Arc::new(Latch::default()),
    );
    let queue = executor.queue(QueueConfig::default(), watcher.clone());
    let signal = Arc::new(Signal::shared(latch.clone()));
    let task = Task::Wait {
        signal: signal.clone(),
        then: WaitThen::Clear,
        limit: Some(Duration::from_millis(1)),
    };
    queue.submit(task, TAG);
    drain(&queue);
    assert_eq!(watcher.heard(), ["failed 0 WaitTimeout"]);
    assert_eq!(signal.waiters(), 0);
    queue.submit(take(&signal), TAG);
    latch.set();
    drain(&queue);
    assert_eq!(watcher.heard().len(), 1);
}

#[test]
fn a_wait_that_no_process_can_end_fails_and_what_was_set_before_counts() {
    let executor = executor(1);
    let (watcher, latch) = (
        Arc::new(RecordingObserver::default()),
        Arc::new(Latch::default()),
    );
    let queue = executor.queue(QueueConfig::default(), watcher.clone());
    let signal = Arc::new(Signal::shared(latch.clone()));
    queue.submit(take(&signal), TAG);
    latch.deserted.store(true, Ordering::Release);
    drain(&queue);
    assert_eq!(watcher.heard(), ["failed 0 RuntimeInternal"]);
    latch.set();
    queue.submit(take(&signal), TAG);
    drain(&queue);
    assert_eq!(watcher.heard().len(), 1);
    assert!(!latch.is_set());
}

#[test]
fn two_sets_in_a_row_end_a_wait_that_has_begun_and_the_next_one() {
    for is_shared in [false, true] {
        for _ in 0..50 {
            let executor = executor(2);
            let (a, b) = (queue(&executor), queue(&executor));
            let (signal, gate) = (signal(), signal());
            if is_shared {
                signal.share(Arc::new(Latch::default()));
            }
            b.submit(take(&signal), TAG);
            while !b.is_held() {
                std::thread::yield_now();
            }
            a.submit(wait_on(&gate), TAG);
            a.submit(Task::Set(signal.clone()), TAG);
            a.submit(Task::Set(signal.clone()), TAG);
            gate.set();
            drain(&a);
            b.submit(take(&signal), TAG);
            let late = Instant::now() + Duration::from_secs(10);
            assert!(b.wait(b.submitted(), Some(late)), "shared: {is_shared}");
            assert!(!signal.is_set());
        }
    }
}
