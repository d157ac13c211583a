//! The executor through its public face.

mod joined;
mod lone;
mod polled;
mod priority;
mod shared;
mod short;
mod team;
mod values;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

use fastrand::Rng;
use jumar_hal::{
    Call, Cost, Program, Queue, QueueConfig, QueueObserver, Signal, Span, Tag, Task, Transfer,
    Verdict, WaitThen,
};
use jumar_sched::{Executor, ExecutorConfig, Runner, Schedule, Team};
use jumar_types::{Error, ErrorKind, Result};

static TEST: Call = Call {
    name: "test",
    number: 1,
};
const TAG: Tag = Tag {
    ticket: 0,
    call: &TEST,
};

/// A device without memory.
struct Bare;

impl Runner for Bare {
    fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
    fn fill(&self, _to: Span, _value: u8) {}
}

/// Keeps what it hears.
#[derive(Default)]
struct RecordingObserver {
    heard: Mutex<Vec<String>>,
    discard: bool,
}

impl QueueObserver for RecordingObserver {
    fn started(&self, tag: Tag) {
        self.heard
            .lock()
            .unwrap()
            .push(format!("started {}", tag.ticket));
    }
    fn finished(&self, tag: Tag) {
        self.heard
            .lock()
            .unwrap()
            .push(format!("finished {}", tag.ticket));
    }
    fn failed(&self, tag: Tag, error: Error) -> Verdict {
        let line = format!("failed {} {:?}", tag.ticket, error.kind());
        self.heard.lock().unwrap().push(line);
        if self.discard {
            Verdict::Discard
        } else {
            Verdict::Continue
        }
    }
}

impl RecordingObserver {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// A program made of a closure.
struct FnProgram<F>(F, Cost);

impl<F: Fn() -> Result<()> + Send + Sync + 'static> Program for FnProgram<F> {
    fn run(&self) -> Result<()> {
        (self.0)()
    }
    fn cost(&self) -> Cost {
        self.1
    }
    fn name(&self) -> &str {
        "closure"
    }
}

fn run_costing(cost: Cost, f: impl Fn() + Send + Sync + 'static) -> Task {
    let f = move || {
        f();
        Ok(())
    };
    Task::Run(Arc::new(FnProgram(f, cost)))
}

fn run(f: impl Fn() + Send + Sync + 'static) -> Task {
    run_costing(Cost::Bounded, f)
}

fn fail(kind: ErrorKind) -> Task {
    Task::Run(Arc::new(FnProgram(
        move || Err(Error::new(kind, "as asked")),
        Cost::Bounded,
    )))
}

fn wait_on(signal: &Arc<Signal>) -> Task {
    Task::Wait {
        signal: signal.clone(),
        then: WaitThen::Keep,
        limit: None,
    }
}

fn executor(workers: usize) -> Executor {
    let config = ExecutorConfig {
        workers,
        ..ExecutorConfig::default()
    };
    Executor::new(config, Arc::new(Bare))
}

fn queue(executor: &Executor) -> Arc<dyn Queue> {
    executor.queue(
        QueueConfig::default(),
        Arc::new(RecordingObserver::default()),
    )
}

fn drain(queue: &Arc<dyn Queue>) {
    assert!(queue.wait(queue.submitted(), None));
}

#[test]
fn tasks_of_one_queue_run_in_order() {
    let executor = executor(2);
    let queue = queue(&executor);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for i in 0..10_000 {
        let seen = seen.clone();
        let position = queue.submit(run(move || seen.lock().unwrap().push(i)), TAG);
        assert_eq!(position, i + 1);
    }
    drain(&queue);
    assert_eq!(*seen.lock().unwrap(), (0..10_000).collect::<Vec<u64>>());
    assert_eq!((queue.submitted(), queue.completed()), (10_000, 10_000));
}

#[test]
fn work_is_done_without_any_waiting_call() {
    let executor = executor(2);
    let queue = queue(&executor);
    let (sender, receiver) = mpsc::channel();
    for i in 0..100 {
        let sender = sender.clone();
        queue.submit(
            run_costing(Cost::Unbounded, move || sender.send(i).unwrap()),
            TAG,
        );
    }
    for i in 0..100 {
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(i));
    }
}

#[test]
fn work_is_done_after_the_workers_fell_asleep() {
    let executor = executor(2);
    let queue = queue(&executor);
    for pause_ms in [0, 1, 20, 0] {
        std::thread::sleep(Duration::from_millis(pause_ms));
        let (sender, receiver) = mpsc::channel();
        queue.submit(run(move || sender.send(()).unwrap()), TAG);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(10)), Ok(()));
    }
}

#[test]
fn a_program_that_polls_sees_progress() {
    let executor = executor(2);
    let queue = queue(&executor);
    let position = queue.submit(run(|| ()), TAG);
    let start = Instant::now();
    while queue.completed() < position {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn two_queues_overlap() {
    let executor = executor(2);
    let (a, b) = (queue(&executor), queue(&executor));
    // Each needs the other to be running.
    let meeting = Arc::new((Mutex::new(0), Condvar::new()));
    for queue in [&a, &b] {
        let meeting = meeting.clone();
        queue.submit(
            run_costing(Cost::Large, move || {
                let mut here = meeting.0.lock().unwrap();
                *here += 1;
                meeting.1.notify_all();
                while *here < 2 {
                    here = meeting.1.wait(here).unwrap();
                }
            }),
            TAG,
        );
    }
    drain(&a);
    drain(&b);
}

#[test]
fn a_wait_holds_its_queue_and_no_worker() {
    let executor = executor(1);
    let blocked: Vec<_> = (0..100).map(|_| queue(&executor)).collect();
    let signal = Arc::new(Signal::new());
    let count = Arc::new(AtomicUsize::new(0));
    for queue in &blocked {
        queue.submit(wait_on(&signal), TAG);
        let count = count.clone();
        queue.submit(
            run(move || {
                let _ = count.fetch_add(1, Ordering::SeqCst);
            }),
            TAG,
        );
    }
    let free = queue(&executor);
    free.submit(run(|| ()), TAG);
    drain(&free);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    free.submit(Task::Set(signal), TAG);
    for queue in &blocked {
        drain(queue);
    }
    assert_eq!(count.load(Ordering::SeqCst), 100);
}

#[test]
fn a_notify_lets_exactly_one_queue_pass() {
    let executor = executor(2);
    let signal = Arc::new(Signal::new());
    let passed = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = mpsc::channel();
    let waiting: Vec<_> = (0..8).map(|_| queue(&executor)).collect();
    for queue in &waiting {
        queue.submit(
            Task::Wait {
                signal: signal.clone(),
                then: WaitThen::Clear,
                limit: None,
            },
            TAG,
        );
        let (passed, sender) = (passed.clone(), sender.clone());
        queue.submit(
            run(move || {
                passed.fetch_add(1, Ordering::SeqCst);
                sender.send(()).unwrap();
            }),
            TAG,
        );
    }
    let other = queue(&executor);
    for round in 1..=8 {
        other.submit(Task::Set(signal.clone()), TAG);
        drain(&other);
        receiver.recv_timeout(Duration::from_secs(10)).unwrap();
        assert_eq!(passed.load(Ordering::SeqCst), round);
        assert!(!signal.is_set());
    }
    for queue in &waiting {
        drain(queue);
    }
}

#[test]
fn a_wait_with_a_limit_fails_late_and_never_early() {
    let executor = executor(2);
    let ear = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), ear.clone());
    let signal = Arc::new(Signal::new());
    for by_caller in [true, false] {
        let limit = Duration::from_millis(5);
        let start = Instant::now();
        let wait = Task::Wait {
            signal: signal.clone(),
            then: WaitThen::Keep,
            limit: Some(limit),
        };
        queue.submit(wait, TAG);
        let after = Arc::new(AtomicBool::new(false));
        let flag = after.clone();
        queue.submit(run(move || flag.store(true, Ordering::SeqCst)), TAG);
        if by_caller {
            drain(&queue);
        } else {
            while !after.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        assert!(start.elapsed() >= limit);
    }
    drain(&queue);
    assert_eq!(
        ear.heard(),
        ["failed 0 WaitTimeout", "failed 0 WaitTimeout"]
    );
}

#[test]
fn a_wait_that_passes_in_time_leaves_no_timer_behind() {
    let executor = executor(2);
    let ear = Arc::new(RecordingObserver::default());
    let (a, b) = (
        executor.queue(QueueConfig::default(), ear.clone()),
        queue(&executor),
    );
    for _ in 0..200 {
        let signal = Arc::new(Signal::new());
        let wait = Task::Wait {
            signal: signal.clone(),
            then: WaitThen::Keep,
            limit: Some(Duration::from_secs(3600)),
        };
        a.submit(wait, TAG);
        b.submit(Task::Set(signal), TAG);
        drain(&a);
    }
    assert!(ear.heard().is_empty());
}

#[test]
fn a_time_limit_on_the_caller_is_exact_and_keeps_long_work_off_its_thread() {
    let executor = executor(1);
    let queue = queue(&executor);
    let me = std::thread::current().id();
    let (sender, receiver) = mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    let by = Arc::new(Mutex::new(None));
    let kept = by.clone();
    let position = queue.submit(
        run_costing(Cost::Unbounded, move || {
            *kept.lock().unwrap() = Some(std::thread::current().id());
            let _ = receiver.lock().unwrap().recv();
        }),
        TAG,
    );
    let limit = Duration::from_millis(3);
    let start = Instant::now();
    assert!(!queue.wait(position, Some(start + limit)));
    assert!(start.elapsed() >= limit);
    drop(sender);
    while !queue.wait(position, Some(Instant::now() + limit)) {}
    assert_ne!(*by.lock().unwrap(), Some(me));
}

#[test]
fn a_signal_that_is_set_and_cleared_at_once_still_ends_a_wait() {
    let executor = executor(2);
    let queue = queue(&executor);
    for _ in 0..200 {
        let signal = Arc::new(Signal::new());
        let gate = Arc::new(Signal::new());
        queue.submit(wait_on(&gate), TAG);
        queue.submit(Task::Set(signal.clone()), TAG);
        queue.submit(Task::Clear(signal.clone()), TAG);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.wait_signal(&signal, None));
            // Opened only when a waiter is registered for the signal, however long that takes.
            while signal.waiters() == 0 {
                std::thread::yield_now();
            }
            gate.set();
            assert!(waiting.join().unwrap());
        });
        drain(&queue);
    }
}

#[test]
fn a_thread_parked_for_an_early_position_wakes_before_the_backlog_is_done() {
    let executor = executor(2);
    let queue = queue(&executor);
    let gate = Arc::new(Signal::new());
    queue.submit(wait_on(&gate), TAG);
    let early = queue.submit(run(|| ()), TAG);
    let (sender, receiver) = mpsc::channel::<()>();
    let receiver = Mutex::new(receiver);
    // The rest of the backlog cannot finish before the waiting thread came back.
    queue.submit(
        run_costing(Cost::Large, move || {
            let _ = receiver
                .lock()
                .unwrap()
                .recv_timeout(Duration::from_secs(10));
        }),
        TAG,
    );
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            assert!(queue.wait(early, None));
            sender.send(()).unwrap();
        });
        gate.set();
        waiting.join().unwrap();
    });
    drain(&queue);
}

#[test]
fn an_observed_task_is_reported_in_order_and_others_are_not() {
    let executor = executor(2);
    let ear = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), ear.clone());
    let signal = Arc::new(Signal::new());
    let tag = |ticket| Tag {
        ticket,
        call: &TEST,
    };
    queue.submit(run(|| ()), tag(7));
    queue.submit(run(|| ()), TAG);
    queue.submit(Task::Set(signal.clone()), tag(8));
    queue.submit(wait_on(&signal), tag(9));
    queue.submit(fail(ErrorKind::KernelFailed), tag(10));
    drain(&queue);
    assert_eq!(
        ear.heard(),
        [
            "started 7",
            "finished 7",
            "started 8",
            "finished 8",
            "started 9",
            "finished 9",
            "started 10",
            "failed 10 KernelFailed"
        ]
    );
}

#[test]
fn a_panic_is_an_error_of_its_task_alone() {
    let executor = executor(2);
    let ear = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), ear.clone());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    queue.submit(run(|| panic!("at the disco")), TAG);
    let after = Arc::new(AtomicBool::new(false));
    let flag = after.clone();
    queue.submit(run(move || flag.store(true, Ordering::SeqCst)), TAG);
    drain(&queue);
    std::panic::set_hook(hook);
    assert_eq!(ear.heard(), ["failed 0 Internal"]);
    assert!(after.load(Ordering::SeqCst));
}

#[test]
fn after_a_failure_what_is_queued_can_be_dropped_but_signals_are_set() {
    let executor = executor(2);
    let ear = Arc::new(RecordingObserver {
        discard: true,
        ..RecordingObserver::default()
    });
    let queue = executor.queue(QueueConfig::default(), ear.clone());
    let (gate, never, signal) = (
        Arc::new(Signal::new()),
        Arc::new(Signal::new()),
        Arc::new(Signal::new()),
    );
    let ran = Arc::new(AtomicUsize::new(0));
    let count = || {
        let ran = ran.clone();
        run(move || {
            let _ = ran.fetch_add(1, Ordering::SeqCst);
        })
    };
    queue.submit(wait_on(&gate), TAG);
    queue.submit(fail(ErrorKind::KernelFailed), TAG);
    queue.submit(count(), TAG);
    queue.submit(wait_on(&never), TAG);
    queue.submit(Task::Set(signal.clone()), TAG);
    gate.set();
    assert!(queue.wait_signal(&signal, None));
    drain(&queue);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    queue.submit(count(), TAG);
    drain(&queue);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[test]
fn discard_gives_up_a_held_wait_and_drops_what_follows() {
    let executor = executor(2);
    let queue = queue(&executor);
    for _ in 0..500 {
        let (never, signal) = (Arc::new(Signal::new()), Arc::new(Signal::new()));
        queue.submit(wait_on(&never), TAG);
        queue.submit(run(|| panic!("was dropped")), TAG);
        queue.submit(Task::Set(signal.clone()), TAG);
        queue.discard();
        assert!(queue.wait_signal(&signal, None));
        drain(&queue);
        assert_eq!(Arc::strong_count(&never), 1);
    }
}

#[test]
fn many_threads_may_fill_one_queue() {
    let executor = executor(2);
    let queue = queue(&executor);
    let sum = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..2_000u64 {
                    let sum = sum.clone();
                    let position = queue.submit(
                        run(move || {
                            let _ = sum.fetch_add(i, Ordering::SeqCst);
                        }),
                        TAG,
                    );
                    if i % 97 == 0 {
                        assert!(queue.wait(position, None));
                    }
                }
            });
        }
    });
    drain(&queue);
    assert_eq!(sum.load(Ordering::SeqCst), 4 * (0..2_000).sum::<u64>());
}

#[test]
fn a_full_queue_makes_its_producer_work() {
    let executor = executor(2);
    let queue = queue(&executor);
    let gate = Arc::new(Signal::new());
    queue.submit(wait_on(&gate), TAG);
    for _ in 0..1 << 20 {
        if queue.submitted() == 1 << 20 {
            break;
        }
        queue.submit(
            Task::Fill {
                to: Span::EMPTY,
                value: 0,
            },
            TAG,
        );
    }
    assert_eq!((queue.submitted(), queue.completed()), (1 << 20, 0));
    gate.set();
    for _ in 0..1000 {
        queue.submit(
            Task::Fill {
                to: Span::EMPTY,
                value: 0,
            },
            TAG,
        );
    }
    drain(&queue);
}

#[test]
fn dropping_the_executor_drops_what_has_not_started() {
    let executor = executor(2);
    let queue = queue(&executor);
    let (never, signal) = (Arc::new(Signal::new()), Arc::new(Signal::new()));
    let token = Arc::new(());
    let held = token.clone();
    queue.submit(wait_on(&never), TAG);
    queue.submit(run(move || drop(held.clone())), TAG);
    queue.submit(Task::Set(signal.clone()), TAG);
    drop(executor);
    assert!(signal.is_set());
    assert_eq!(
        (Arc::strong_count(&token), Arc::strong_count(&never)),
        (1, 1)
    );
}

/// Picks by a seed.
struct SeededChoice(Mutex<Rng>);

impl Schedule for SeededChoice {
    fn next(&self, runnable: &[u32], _waited: &[u32]) -> Option<usize> {
        Some(self.0.lock().unwrap().usize(..runnable.len()))
    }
}

fn order_by(seed: u64) -> Vec<u32> {
    let config = ExecutorConfig {
        schedule: Some(Arc::new(SeededChoice(Mutex::new(Rng::with_seed(seed))))),
        ..ExecutorConfig::default()
    };
    let executor = Executor::new(config, Arc::new(Bare));
    let order = Arc::new(Mutex::new(Vec::new()));
    let queues: Vec<_> = (0..4)
        .map(|number| {
            executor.queue(
                QueueConfig {
                    priority: 0,
                    number,
                },
                Arc::new(RecordingObserver::default()),
            )
        })
        .collect();
    // One queue holds the others until everything is queued.
    let gate = Arc::new(Signal::new());
    let all = Arc::new(Signal::new());
    queues[0].submit(wait_on(&gate), TAG);
    queues[0].submit(Task::Set(all.clone()), TAG);
    for (number, queue) in (0u32..).zip(&queues) {
        queue.submit(wait_on(&all), TAG);
        for _ in 0..20 {
            let order = order.clone();
            queue.submit(run(move || order.lock().unwrap().push(number)), TAG);
        }
    }
    // All waits are reached before the gate opens, so that the picks begin from the same state.
    while gate.waiters() == 0 || all.waiters() < 3 {
        std::thread::yield_now();
    }
    gate.set();
    for queue in &queues {
        drain(queue);
    }
    let order = order.lock().unwrap();
    order.clone()
}

#[test]
fn the_same_schedule_gives_the_same_order() {
    let first = order_by(1);
    assert_eq!(first.len(), 80);
    for _ in 0..5 {
        assert_eq!(order_by(1), first);
    }
    assert!((2..6).any(|seed| order_by(seed) != first));
}

/// Runs only streams that a thread waits for.
struct OnDemand;

impl Schedule for OnDemand {
    fn next(&self, runnable: &[u32], waited: &[u32]) -> Option<usize> {
        runnable.iter().position(|number| waited.contains(number))
    }
}

#[test]
fn a_schedule_knows_what_is_waited_for_and_when_that_is_over() {
    let config = ExecutorConfig {
        schedule: Some(Arc::new(OnDemand)),
        ..ExecutorConfig::default()
    };
    let executor = Executor::new(config, Arc::new(Bare));
    let [one, two] = [1, 2].map(|number| {
        let config = QueueConfig {
            priority: 0,
            number,
        };
        executor.queue(config, Arc::new(RecordingObserver::default()))
    });
    for _ in 0..10 {
        one.submit(run(|| ()), TAG);
        two.submit(run(|| ()), TAG);
    }
    assert!(two.wait(4, None));
    // The wait for the fourth task is over with the fourth task, whenever the waiting thread hears of it.
    assert_eq!((one.completed(), two.completed()), (0, 4));
    assert!(one.wait(10, None));
    assert_eq!((one.completed(), two.completed()), (10, 4));
    drain(&two);
}

#[test]
fn a_low_priority_queue_is_served_beside_a_busy_high_one() {
    let executor = executor(1);
    let make = |priority| {
        let config = QueueConfig {
            priority,
            number: u32::from(priority),
        };
        executor.queue(config, Arc::new(RecordingObserver::default()))
    };
    let high: Vec<_> = (0..4).map(|_| make(0)).collect();
    let low = make(7);
    let gate = Arc::new(Signal::new());
    let stop = Arc::new(AtomicBool::new(false));
    for queue in high.iter().chain([&low]) {
        queue.submit(wait_on(&gate), TAG);
    }
    let flag = stop.clone();
    low.submit(
        run_costing(Cost::Unbounded, move || flag.store(true, Ordering::SeqCst)),
        TAG,
    );
    gate.set();
    // The high ones never run dry until the low one has had its turn.
    while !stop.load(Ordering::SeqCst) {
        for queue in &high {
            if queue.submitted() - queue.completed().min(queue.submitted()) < 1000 {
                queue.submit(run_costing(Cost::Unbounded, || ()), TAG);
            }
        }
    }
    for queue in &high {
        drain(queue);
    }
}

/// Everything at once from several threads, and nothing gets stuck.
fn chaos(seed: u64, workers: usize, cpus: usize) {
    let config = ExecutorConfig {
        workers,
        cpus,
        ..ExecutorConfig::default()
    };
    let executor = Executor::new(config, Arc::new(Bare));
    let queues: Vec<_> = (0..6).map(|_| queue(&executor)).collect();
    let ran = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let (queues, ran) = (&queues, &ran);
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed * 31 + thread);
                let mut roll = move |sides: u64| random.u64(..sides);
                for _ in 0..1500 {
                    let queue = &queues[roll(6) as usize];
                    match roll(16) {
                        0..=6 => {
                            let ran = ran.clone();
                            let cost =
                                [Cost::Bounded, Cost::Unbounded, Cost::Large][roll(3) as usize];
                            let task = run_costing(cost, move || {
                                ran.fetch_add(1, Ordering::Relaxed);
                            });
                            queue.submit(task, TAG);
                        }
                        7..=9 => {
                            // Recorded on one queue, waited for on another: never a circle.
                            let signal = Arc::new(Signal::new());
                            queue.submit(Task::Set(signal.clone()), TAG);
                            let limit = (roll(2) == 0).then_some(Duration::from_micros(roll(200)));
                            let task = Task::Wait {
                                signal,
                                then: WaitThen::Keep,
                                limit,
                            };
                            queues[roll(6) as usize].submit(task, TAG);
                        }
                        10 => {
                            let until = Instant::now() + Duration::from_micros(roll(100));
                            queue.wait(queue.submitted(), Some(until));
                        }
                        11 => assert!(queue.wait(queue.submitted(), None)),
                        12 => {
                            let signal = Arc::new(Signal::new());
                            queue.submit(Task::Set(signal.clone()), TAG);
                            assert!(queue.wait_signal(&signal, None));
                        }
                        13 => {
                            let signal = Arc::new(Signal::new());
                            queue.submit(Task::Set(signal.clone()), TAG);
                            let until = Instant::now() + Duration::from_micros(roll(100));
                            queue.wait_signal(&signal, Some(until));
                        }
                        14 => queue.discard(),
                        _ => {
                            queue.submit(fail(ErrorKind::KernelFailed), TAG);
                        }
                    }
                }
            });
        }
    });
    for queue in &queues {
        drain(queue);
        assert_eq!(queue.completed(), queue.submitted());
    }
}

#[test]
fn concurrent_operations_do_not_deadlock() {
    for seed in 1..6 {
        chaos(seed, 2, 2);
        chaos(seed + 10, 1, 1);
        chaos(seed + 20, 5, 4);
    }
}

#[test]
fn executors_come_and_go_with_work_in_flight() {
    for round in 0..100 {
        let executor = executor(2);
        let (a, b) = (queue(&executor), queue(&executor));
        let signal = Arc::new(Signal::new());
        for _ in 0..round {
            a.submit(run_costing(Cost::Unbounded, || ()), TAG);
            b.submit(run(|| ()), TAG);
        }
        a.submit(Task::Set(signal.clone()), TAG);
        b.submit(wait_on(&signal), TAG);
        if round % 3 == 0 {
            drain(&b);
        }
        let last = (round % 2 == 0).then(|| (a.clone(), b.clone()));
        drop((a, b));
        drop(executor);
        if let Some((a, b)) = last {
            // Only threads that wait run anything now.
            drain(&a);
            drain(&b);
            a.submit(run(|| ()), TAG);
            drain(&a);
        }
        assert!(signal.is_set());
    }
}

#[test]
fn a_queue_that_nobody_uses_any_more_is_gone_at_once() {
    let executor = executor(1);
    // The only worker is busy, so that the run queue is not cleared.
    let hold = Arc::new(AtomicBool::new(true));
    let held = hold.clone();
    let other = queue(&executor);
    other.submit(
        run_costing(Cost::Large, move || {
            while held.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }),
        TAG,
    );
    let ears: Vec<_> = (0..100)
        .map(|_| Arc::new(RecordingObserver::default()))
        .collect();
    for ear in &ears {
        let queue = executor.queue(QueueConfig::default(), ear.clone());
        queue.submit(run(|| {}), TAG);
        queue.wait(1, Some(Instant::now() + Duration::from_secs(10)));
        drop(queue);
        assert_eq!(
            Arc::strong_count(ear),
            1,
            "the stream has no other reference"
        );
    }
    hold.store(false, Ordering::Release);
    drain(&other);
}
