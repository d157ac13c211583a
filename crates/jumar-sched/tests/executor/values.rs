//! Queues that wait for values which are not announced.

use jumar_hal::Condition;

use super::*;

/// A word that is written without an announcement.
#[derive(Default)]
struct SharedValue(AtomicU64);

/// Waits until a word is some value.
struct Is(Arc<SharedValue>, u64);

impl Condition for Is {
    fn holds(&self) -> bool {
        self.0.0.load(Ordering::Acquire) == self.1
    }
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// Takes one of what a word counts.
struct Takes(Arc<SharedValue>);

impl Condition for Takes {
    fn holds(&self) -> bool {
        self.0.0.load(Ordering::Acquire) > 0
    }
    fn pass(&self) -> bool {
        let less = |count: u64| count.checked_sub(1);
        self.0
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less)
            .is_ok()
    }
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

fn until(condition: impl Condition + 'static) -> Task {
    Task::Until {
        condition: Arc::new(condition),
        limit: None,
    }
}

/// Holds once it was examined, which itself calls the executor: a lock that was held meanwhile would be taken twice.
struct ExaminedCondition {
    executor: Arc<Executor>,
    over: AtomicBool,
}

impl Condition for ExaminedCondition {
    fn holds(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
    fn examine(&self) {
        self.executor.wrote(self.address(), 8);
        self.over.store(true, Ordering::Release);
    }
    fn address(&self) -> usize {
        64
    }
}

#[test]
fn a_condition_is_examined_without_a_lock() {
    let executor = Arc::new(executor(1));
    let queue = queue(&executor);
    queue.submit(
        until(ExaminedCondition {
            executor: executor.clone(),
            over: AtomicBool::new(false),
        }),
        TAG,
    );
    drain(&queue);
}

fn write(word: &Arc<SharedValue>, value: u64) -> Task {
    let word = word.clone();
    run(move || word.0.store(value, Ordering::Release))
}

#[test]
fn two_queues_wait_for_each_others_values_in_turn() {
    for workers in [1, 2] {
        let executor = executor(workers);
        let (a, b) = (queue(&executor), queue(&executor));
        let (to_a, to_b) = (
            Arc::new(SharedValue::default()),
            Arc::new(SharedValue::default()),
        );
        for turn in 1..=200 {
            a.submit(until(Is(to_a.clone(), turn)), TAG);
            a.submit(write(&to_b, turn), TAG);
            b.submit(write(&to_a, turn), TAG);
            b.submit(until(Is(to_b.clone(), turn)), TAG);
        }
        drain(&b);
        drain(&a);
        assert_eq!(to_b.0.load(Ordering::Relaxed), 200);
    }
}

#[test]
fn a_value_that_the_host_writes_is_found_without_any_waiting_call() {
    let executor = executor(1);
    let queue = queue(&executor);
    let word = Arc::new(SharedValue::default());
    let (send, receive) = mpsc::channel();
    queue.submit(until(Is(word.clone(), 1)), TAG);
    queue.submit(run(move || send.send(()).unwrap_or(())), TAG);
    word.0.store(1, Ordering::Release);
    receive
        .recv_timeout(Duration::from_secs(10))
        .expect("the queue continues");
}

#[test]
fn a_thousand_queues_that_wait_hold_no_worker() {
    for workers in [1, 2] {
        let executor = executor(workers);
        let signal = Arc::new(Signal::new());
        let word = Arc::new(SharedValue::default());
        let ran = Arc::new(AtomicUsize::new(0));
        let queues: Vec<_> = (0..1000)
            .map(|number| {
                let queue = queue(&executor);
                queue.submit(
                    match number % 2 {
                        0 => wait_on(&signal),
                        _ => until(Is(word.clone(), 1)),
                    },
                    TAG,
                );
                let ran = ran.clone();
                queue.submit(
                    run(move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                    }),
                    TAG,
                );
                queue
            })
            .collect();
        let free = queue(&executor);
        free.submit(run(|| {}), TAG);
        drain(&free);
        assert_eq!(ran.load(Ordering::Relaxed), 0);
        signal.set();
        word.0.store(1, Ordering::Release);
        queues.iter().for_each(drain);
        assert_eq!(ran.load(Ordering::Relaxed), 1000);
    }
}

#[test]
fn a_counted_word_lets_as_many_queues_pass_as_it_counts() {
    let executor = executor(2);
    let word = Arc::new(SharedValue::default());
    let queues: Vec<_> = (0..20).map(|_| queue(&executor)).collect();
    for queue in &queues {
        queue.submit(until(Takes(word.clone())), TAG);
    }
    word.0.store(7, Ordering::Release);
    let passed = || queues.iter().filter(|queue| queue.completed() == 1).count();
    let late = Instant::now() + Duration::from_secs(10);
    while passed() < 7 && Instant::now() < late {
        std::thread::yield_now();
    }
    assert_eq!((passed(), word.0.load(Ordering::Relaxed)), (7, 0));
    word.0.store(13, Ordering::Release);
    queues.iter().for_each(drain);
    assert_eq!(word.0.load(Ordering::Relaxed), 0);
}

#[test]
fn a_wait_for_a_value_gives_up_or_is_dropped() {
    let executor = executor(1);
    let ear = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), ear.clone());
    let word = Arc::new(SharedValue::default());
    queue.submit(
        Task::Until {
            condition: Arc::new(Is(word.clone(), 1)),
            limit: Some(Duration::from_millis(5)),
        },
        TAG,
    );
    drain(&queue);
    assert_eq!(ear.heard(), ["failed 0 WaitTimeout"]);
    queue.submit(until(Is(word.clone(), 1)), TAG);
    queue.discard();
    drain(&queue);
    // No queue refers to the word any more.
    queue.submit(until(Is(word.clone(), 1)), TAG);
    drop((queue, executor));
    assert_eq!(Arc::strong_count(&word), 1);
}
