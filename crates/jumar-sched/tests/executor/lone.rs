//! Executors that have no worker: the system has no thread to give.

use super::*;

struct Threadless;

impl Runner for Threadless {
    fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
    fn fill(&self, _to: Span, _value: u8) {}
    fn spawning(&self, _spawn: &mut dyn FnMut()) {}
}

fn lone() -> Executor {
    Executor::new(ExecutorConfig::default(), Arc::new(Threadless))
}

/// Runs the queue with the largest number first.
struct LargestFirst;

impl Schedule for LargestFirst {
    fn next(&self, runnable: &[u32], _waited: &[u32]) -> Option<usize> {
        runnable.len().checked_sub(1)
    }
}

fn lone_with_schedule() -> Executor {
    let config = ExecutorConfig {
        schedule: Some(Arc::new(LargestFirst)),
        ..ExecutorConfig::default()
    };
    Executor::new(config, Arc::new(Threadless))
}

/// More polls than any test here needs.
const PATIENCE: usize = 100;

fn polls_until(queue: &Arc<dyn Queue>, position: u64) -> bool {
    (0..PATIENCE).any(|_| {
        queue.poll();
        queue.completed() >= position
    })
}

#[test]
fn a_thread_that_polls_runs_what_it_asks_for() {
    let executor = lone();
    let queue = queue(&executor);
    let ran = Arc::new(AtomicUsize::new(0));
    for cost in [Cost::Bounded, Cost::Unbounded, Cost::Large] {
        let ran = ran.clone();
        let count = move || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        queue.submit(run_costing(cost, count), TAG);
    }
    assert!(polls_until(&queue, 3));
    assert_eq!(ran.load(Ordering::Relaxed), 3);
}

#[test]
fn a_thread_that_polls_runs_the_stream_that_its_own_waits_for() {
    let executor = lone();
    let (first, second) = (queue(&executor), queue(&executor));
    let signal = Arc::new(Signal::new());
    second.submit(wait_on(&signal), TAG);
    second.submit(run_costing(Cost::Unbounded, || {}), TAG);
    first.submit(run_costing(Cost::Unbounded, || {}), TAG);
    first.submit(Task::Set(signal), TAG);
    assert!(polls_until(&second, 2));
}

#[test]
fn a_wait_with_a_limit_runs_what_takes_long() {
    let executor = lone();
    let queue = queue(&executor);
    queue.submit(run_costing(Cost::Unbounded, || {}), TAG);
    let far = Instant::now() + Duration::from_secs(60);
    assert!(queue.wait(1, Some(far)));
}

#[test]
fn a_task_that_gives_up_waiting_does_so() {
    let executor = lone();
    let queue = queue(&executor);
    let never = Task::Wait {
        signal: Arc::new(Signal::new()),
        then: WaitThen::Keep,
        limit: Some(Duration::from_millis(1)),
    };
    queue.submit(never, TAG);
    drain(&queue);
}

#[test]
fn a_program_that_polls_its_own_queue_runs_nothing_behind_it() {
    let executor = lone();
    let queue = queue(&executor);
    let (own, seen) = (queue.clone(), Arc::new(AtomicU64::new(u64::MAX)));
    let there = seen.clone();
    queue.submit(
        run(move || {
            own.poll();
            there.store(own.completed(), Ordering::Relaxed);
        }),
        TAG,
    );
    queue.submit(run(|| {}), TAG);
    assert!(polls_until(&queue, 2));
    assert_eq!(seen.load(Ordering::Relaxed), 0);
}

#[test]
fn a_thread_that_waits_takes_the_turns_of_a_schedule() {
    let executor = lone_with_schedule();
    let order = Arc::new(Mutex::new(Vec::new()));
    let queues = [1, 2].map(|number| {
        let config = QueueConfig {
            priority: 0,
            number,
        };
        executor.queue(config, Arc::new(RecordingObserver::default()))
    });
    for (number, queue) in queues.iter().enumerate() {
        for _ in 0..2 {
            let order = order.clone();
            queue.submit(run(move || order.lock().unwrap().push(number)), TAG);
        }
    }
    assert!(queues[0].wait(2, None));
    assert_eq!(*order.lock().unwrap(), [1, 1, 0, 0]);
}

#[test]
fn a_thread_that_polls_takes_the_turns_of_a_schedule() {
    let executor = lone_with_schedule();
    let (first, second) = (queue(&executor), queue(&executor));
    let signal = Arc::new(Signal::new());
    second.submit(wait_on(&signal), TAG);
    second.submit(run(|| {}), TAG);
    first.submit(run(|| {}), TAG);
    first.submit(Task::Set(signal), TAG);
    assert!(polls_until(&second, 2));
    // A wait with a limit, and a task whose wait expires.
    let never = Task::Wait {
        signal: Arc::new(Signal::new()),
        then: WaitThen::Keep,
        limit: Some(Duration::from_millis(1)),
    };
    first.submit(never, TAG);
    assert!(first.wait(3, Some(Instant::now() + Duration::from_secs(60))));
}
