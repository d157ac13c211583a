//! The handshakes under every interleaving, with tiny capacities: `RUSTFLAGS="--cfg loom" cargo test -p jumar-sched
//! --lib loom_`. The run queue is a counter here: what stands in it, and nothing else, is run in the end.

mod shared;

use std::sync::Arc;

use jumar_hal::sync::{AtomicUsize, Mutex, Ordering, thread};
use jumar_hal::{
    Call, Condition, Cost, Joining, Joint, Poller, Program, Queue, QueueConfig, Signal, Span,
    SpinLock, Tag, Task, Transfer, WaitThen, Waiter,
};
use jumar_types::Result;
use loom::cell::UnsafeCell;

use crate::executor::{Executor, ExecutorConfig};
use crate::park::Parker;
use crate::pool::{Cpus, Pool, Setting};
use crate::ring::{Called, Owner, Ring, Sizes};
use crate::runner::Runner;
use crate::stream::Stream;
use crate::team::Team;
use crate::testing::NoObserver;

pub(crate) const TINY: Sizes = Sizes {
    first: 1,
    largest: 2,
    limit: 8,
};

static CALL: Call = Call {
    name: "model",
    number: 0,
};

pub(crate) fn check(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // Three switches away from a thread that could continue find what handshakes get wrong, within seconds.
    builder.preemption_bound = Some(3);
    builder.max_branches = 5_000;
    builder.check(f);
}

pub(crate) fn tag(ticket: u64) -> Tag {
    Tag {
        ticket,
        call: &CALL,
    }
}

pub(crate) fn nothing() -> Task {
    Task::Fill {
        to: Span::EMPTY,
        value: 0,
    }
}

/// Both numbers of a pair behind a [`SpinLock`] change together for every reader.
#[test]
fn loom_one_thread_at_a_time_is_at_a_brief_value() {
    check(|| {
        let pair = Arc::new(SpinLock::new((0, 0)));
        let change = |pair: &SpinLock<(u32, u32)>| {
            let mut pair = pair.lock();
            assert_eq!(pair.0, pair.1);
            pair.0 += 1;
            thread::yield_now();
            pair.1 += 1;
        };
        let other = {
            let pair = pair.clone();
            thread::spawn(move || change(&pair))
        };
        change(&pair);
        other.join().expect("it ends");
        assert_eq!(*pair.lock(), (2, 2));
    });
}

/// A ring, its stand-in for the run queue, and the number of the task that ran last.
struct Bench {
    ring: Ring,
    listed: Mutex<u32>,
    last: UnsafeCell<u64>,
}

// SAFETY: `last` is touched by the ring's owner alone, which is what the model checks.
unsafe impl Sync for Bench {}
// SAFETY: as above.
unsafe impl Send for Bench {}

impl Bench {
    fn new() -> Arc<Bench> {
        Arc::new(Bench {
            ring: Ring::new(TINY),
            listed: Mutex::new(0),
            last: UnsafeCell::new(0),
        })
    }

    fn list(&self) {
        let mut listed = self.listed.lock();
        *listed += 1;
        assert_eq!(*listed, 1, "a stream stands in the run queue once");
    }

    fn push(&self, ticket: u64, task: Task) {
        let pushed = self
            .ring
            .enter(false)
            .expect("there is space")
            .push(tag(ticket), task);
        if pushed.list {
            self.list();
        }
    }

    fn pop(&self) -> Option<Owner<'_>> {
        let mut listed = self.listed.lock();
        if *listed == 0 {
            return None;
        }
        *listed -= 1;
        drop(listed);
        self.ring.unlist()
    }

    /// Runs up to `budget` tasks.
    fn drive(self: &Arc<Self>, mut owner: Owner<'_>, budget: u32) {
        let mut run = 0;
        loop {
            match owner.peek() {
                None => match owner.idle() {
                    Ok(()) => return,
                    Err(again) => {
                        owner = again;
                        continue;
                    }
                },
                Some(_) if run == budget => {
                    if owner.queue() {
                        self.list();
                    }
                    return;
                }
                Some(entry) => {
                    if let Task::Wait { signal, .. } = &entry.task {
                        let signal = signal.clone();
                        if !signal.is_set() && signal.register(self.clone()) {
                            match owner.block() {
                                Ok(()) => return,
                                Err(again) => owner = again,
                            }
                        }
                        if !signal.is_set() {
                            continue;
                        }
                    }
                }
            }
            let entry = owner.next().expect("was just looked at");
            self.last.with_mut(|last| {
                // SAFETY: only the owner comes here; the model checks it.
                let last = unsafe { &mut *last };
                assert_eq!(entry.tag.ticket, *last + 1, "in order, each once");
                *last += 1;
            });
            drop(entry);
            owner.publish();
            run += 1;
        }
    }

    fn finish(self: &Arc<Self>, tasks: u64) {
        while let Some(owner) = self.pop() {
            self.drive(owner, u32::MAX);
        }
        assert_eq!(self.ring.completed(), tasks, "nothing was forgotten");
        assert_eq!(self.ring.submitted(), tasks);
    }
}

impl Waiter for Bench {
    fn signalled(self: Arc<Self>) {
        if let Called::Queued { list: true } = self.ring.call() {
            self.list();
        }
    }
}

#[test]
fn loom_a_worker_and_a_producer_forget_nothing() {
    check(|| {
        let bench = Bench::new();
        let worker = bench.clone();
        let thread = thread::spawn(move || {
            for _ in 0..2 {
                if let Some(owner) = worker.pop() {
                    worker.drive(owner, u32::MAX);
                }
            }
        });
        for ticket in 1..=3 {
            bench.push(ticket, nothing());
        }
        thread.join().unwrap();
        bench.finish(3);
    });
}

#[test]
fn loom_a_worker_and_a_waiting_thread_never_both_own() {
    check(|| {
        let bench = Bench::new();
        bench.push(1, nothing());
        let worker = bench.clone();
        let thread = thread::spawn(move || {
            if let Some(owner) = worker.pop() {
                worker.drive(owner, 1);
            }
        });
        bench.push(2, nothing());
        if let Some(owner) = bench.ring.take() {
            bench.drive(owner, 1);
        }
        thread.join().unwrap();
        bench.finish(2);
    });
}

#[test]
fn loom_two_producers_share_one_ring() {
    check(|| {
        let bench = Bench::new();
        let sent = Arc::new(AtomicUsize::new(0));
        let producer = |bench: Arc<Bench>, sent: Arc<AtomicUsize>| {
            move || {
                let entrance = bench.ring.enter(false).expect("there is space");
                // The lock is held: the numbers follow the positions.
                let ticket = sent.fetch_add(1, Ordering::Relaxed) as u64 + 1;
                if entrance.push(tag(ticket), nothing()).list {
                    bench.list();
                }
            }
        };
        let first = thread::spawn(producer(bench.clone(), sent.clone()));
        let second = thread::spawn(producer(bench.clone(), sent));
        if let Some(owner) = bench.pop() {
            bench.drive(owner, u32::MAX);
        }
        first.join().unwrap();
        second.join().unwrap();
        bench.finish(2);
    });
}

#[test]
fn loom_a_task_done_at_once_keeps_its_position() {
    check(|| {
        let bench = Bench::new();
        let other = bench.clone();
        let count = Arc::new(Mutex::new(0u64));
        let counted = count.clone();
        let thread = thread::spawn(move || {
            if other
                .ring
                .enter(false)
                .expect("there is space")
                .push(tag(0), nothing())
                .list
            {
                other.list();
            }
            if let Some(owner) = other.pop() {
                let mut owner = owner;
                while owner.next().is_some() {
                    *counted.lock() += 1;
                    owner.publish();
                }
                if let Err(owner) = owner.idle()
                    && owner.queue()
                {
                    other.list();
                }
            }
        });
        for keep in [true, false, true] {
            match bench.ring.rest() {
                Some(rest) if keep => {
                    // No thread runs anything while the stream is kept idle.
                    *count.lock() += 1;
                    rest.done();
                }
                Some(rest) => rest.leave(),
                None => {}
            }
        }
        thread.join().unwrap();
        while let Some(mut owner) = bench.pop() {
            while owner.next().is_some() {
                *count.lock() += 1;
                owner.publish();
            }
            assert!(owner.idle().is_ok());
        }
        assert_eq!(bench.ring.completed(), bench.ring.submitted());
        assert_eq!(*count.lock(), bench.ring.submitted());
    });
}

#[test]
fn loom_a_blocked_stream_hears_its_signal() {
    check(|| {
        let bench = Bench::new();
        let signal = Arc::new(Signal::new());
        let wait = Task::Wait {
            signal: signal.clone(),
            then: WaitThen::Keep,
            limit: None,
        };
        bench.push(1, wait);
        bench.push(2, nothing());
        let worker = bench.clone();
        let thread = thread::spawn(move || {
            if let Some(owner) = worker.pop() {
                worker.drive(owner, u32::MAX);
            }
        });
        signal.set();
        thread.join().unwrap();
        bench.finish(2);
        assert_eq!(signal.waiters(), 0);
    });
}

#[test]
fn loom_a_signal_taken_by_two_is_taken_once() {
    check(|| {
        let signal = Arc::new(Signal::new());
        let other = signal.clone();
        let thread = thread::spawn(move || other.take());
        signal.set();
        let mine = signal.take();
        let theirs = thread.join().unwrap();
        assert!(!(mine && theirs));
        assert_eq!(signal.is_set(), !mine && !theirs);
    });
}

struct Count(AtomicUsize);

impl Waiter for Count {
    fn signalled(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn loom_a_waiter_is_notified_once_or_not_registered() {
    check(|| {
        let signal = Arc::new(Signal::new());
        let (first, second) = (signal.clone(), signal.clone());
        let set = thread::spawn(move || first.set());
        let clear = thread::spawn(move || second.clear());
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let registered = signal.register(count.clone());
        set.join().unwrap();
        clear.join().unwrap();
        let notified = count.0.load(Ordering::Relaxed);
        match signal.waiters() {
            // Registered after the set had been cleared again.
            1 => assert_eq!((registered, notified, signal.is_set()), (true, 0, false)),
            _ => assert_eq!(usize::from(registered), notified),
        }
    });
}

struct Bare;

impl Runner for Bare {
    fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
    fn fill(&self, _to: Span, _value: u8) {}
}

/// A stream whose pool has no workers.
fn stream() -> Arc<Stream> {
    let pool = Arc::new(Pool::new(Some(1), Cpus::Count(1), Arc::new(Bare), None));
    Stream::new(pool, QueueConfig::default(), 0, TINY, Arc::new(NoObserver))
}

#[test]
fn loom_a_parked_thread_hears_its_position() {
    check(|| {
        let stream = stream();
        for _ in 0..2 {
            let _ = stream
                .ring
                .enter(false)
                .expect("there is space")
                .push(tag(0), nothing());
        }
        let waiting = stream.clone();
        // Taken before: a thread that may run what is queued does not park.
        let owner = stream.ring.take().expect("is queued");
        let thread = thread::spawn(move || {
            while waiting.ring.completed() < 1 {
                waiting.park(1, None);
            }
        });
        stream.drive(owner, false, u32::MAX, || false);
        thread.join().unwrap();
        assert_eq!(stream.ring.mark_waited(), 2);
    });
}

/// The system has no thread to give.
pub(crate) struct Alone;

impl Runner for Alone {
    fn copy(&self, _copy: Transfer, _team: &Team<'_>) {}
    fn fill(&self, _to: Span, _value: u8) {}
    fn spawning(&self, _spawn: &mut dyn FnMut()) {}
}

#[test]
fn loom_a_parked_thread_hears_that_its_stream_may_go_on() {
    check(|| {
        let pool = Arc::new(Pool::new(Some(1), Cpus::Count(1), Arc::new(Alone), None));
        let stream = Stream::new(pool, QueueConfig::default(), 0, TINY, Arc::new(NoObserver));
        let signal = Arc::new(Signal::new());
        let wait = Task::Wait {
            signal: signal.clone(),
            then: WaitThen::Keep,
            limit: None,
        };
        let _ = stream
            .ring
            .enter(false)
            .expect("there is space")
            .push(tag(0), wait);
        let owner = stream.ring.unlist().expect("is queued");
        stream.drive(owner, false, u32::MAX, || false);
        let thread = thread::spawn(move || signal.set());
        // No other thread can run it.
        while stream.ring.completed() < 1 {
            match stream
                .ring
                .is_queued()
                .then(|| stream.ring.take())
                .flatten()
            {
                Some(owner) => {
                    stream.drive(owner, false, u32::MAX, || false);
                }
                None => stream.park(1, None),
            }
        }
        thread.join().unwrap();
        stream.pool.forget_entries();
    });
}

/// Looks twice.
struct Twice;

impl Poller for Twice {
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool) {
        let _ = goes_on(false) && goes_on(false);
    }
}

#[test]
fn loom_a_stream_whose_signal_is_set_while_a_thread_polls_is_left_to_somebody() {
    check(|| {
        let pool = Arc::new(Pool::new(Some(1), Cpus::Count(1), Arc::new(Alone), None));
        let make = |age| {
            let config = QueueConfig::default();
            Stream::new(pool.clone(), config, age, TINY, Arc::new(NoObserver))
        };
        let (stream, another) = (make(0), make(1));
        let signal = Arc::new(Signal::polled(Arc::new(Twice)));
        let wait = Task::until_set(signal.clone());
        stream.append_short(tag(0), wait);
        let other = signal.clone();
        let thread = thread::spawn(move || other.set());
        let done = || stream.ring.completed() >= 1;
        stream.poll(&Twice, false, &done);
        thread.join().unwrap();
        // The threads of a model share what belongs to a thread otherwise.
        stream.pool.flush_wakes(false);
        if !done() {
            let left = stream.pool.steal(&*another).expect("is in the run queue");
            left.run(false, u32::MAX, &|| false);
        }
        assert!(done());
        stream.pool.forget_entries();
    });
}

/// What another thread ends.
struct ExternalCompletion {
    signal: Arc<Signal>,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Program for ExternalCompletion {
    fn run(&self) -> Result<()> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn is_short(&self) -> bool {
        true
    }

    fn name(&self) -> &str {
        "joined"
    }
}

impl Joint for ExternalCompletion {
    fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    fn end(&self) -> Result<()> {
        self.ended.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn abandon(&self) {}

    fn parts(self: Arc<Self>) -> (Arc<dyn Program>, Arc<dyn Program>) {
        unreachable!("nothing is recorded")
    }
}

#[test]
fn loom_what_is_joined_begins_and_ends_once() {
    check(|| {
        let pool = Arc::new(Pool::new(Some(1), Cpus::Count(1), Arc::new(Alone), None));
        let make = |age| {
            let config = QueueConfig::default();
            Stream::new(pool.clone(), config, age, TINY, Arc::new(NoObserver))
        };
        let (stream, another) = (make(0), make(1));
        let joint = Arc::new(ExternalCompletion {
            signal: Arc::new(Signal::polled(Arc::new(Twice))),
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
        });
        let other = joint.signal.clone();
        let thread = thread::spawn(move || other.set());
        stream.append_short(tag(0), Task::Join(Joining::new(joint.clone())));
        let done = || stream.ring.completed() >= 1;
        stream.poll(&Twice, false, &done);
        thread.join().unwrap();
        stream.pool.flush_wakes(false);
        if !done() {
            let left = stream.pool.steal(&*another).expect("is in the run queue");
            left.run(false, u32::MAX, &|| false);
        }
        assert!(done());
        let counts = [&joint.begun, &joint.ended].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [1, 1]);
        stream.pool.forget_entries();
    });
}

/// A program that its submitter may run.
struct Short;

impl Program for Short {
    fn run(&self) -> Result<()> {
        Ok(())
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

#[test]
fn loom_two_threads_that_submit_short_programs_leave_none_behind() {
    check(|| {
        let pool = Arc::new(Pool::new(Some(1), Cpus::Count(1), Arc::new(Alone), None));
        let stream = Stream::new(pool, QueueConfig::default(), 0, TINY, Arc::new(NoObserver));
        let another = Stream::new(
            stream.pool.clone(),
            QueueConfig::default(),
            1,
            TINY,
            Arc::new(NoObserver),
        );
        let other = stream.clone();
        let thread = thread::spawn(move || other.append_short(tag(0), Task::Run(Arc::new(Short))));
        stream.append_short(tag(0), Task::Run(Arc::new(Short)));
        thread.join().unwrap();
        // What the first left behind stands in the run queue.
        if stream.ring.completed() < 2 {
            let left = stream.pool.steal(&*another).expect("is in the run queue");
            left.run(false, u32::MAX, &|| false);
        }
        assert_eq!(stream.ring.completed(), 2);
        stream.pool.forget_entries();
    });
}

#[test]
fn loom_discard_frees_a_stream_that_is_about_to_block() {
    check(|| {
        let stream = stream();
        let never = Arc::new(Signal::new());
        let wait = Task::Wait {
            signal: never.clone(),
            then: WaitThen::Keep,
            limit: None,
        };
        let _ = stream
            .ring
            .enter(false)
            .expect("there is space")
            .push(tag(0), wait);
        let other = stream.clone();
        let thread = thread::spawn(move || other.drop_all());
        let owner = stream.ring.unlist().expect("is queued");
        stream.drive(owner, false, u32::MAX, || false);
        let called = thread.join().unwrap();
        if stream.ring.completed() == 0 {
            assert!(called, "the call came after it blocked, and queued it");
            let owner = stream.ring.unlist().expect("is queued");
            stream.drive(owner, false, u32::MAX, || false);
        }
        assert_eq!((stream.ring.completed(), never.waiters()), (1, 0));
    });
}

#[test]
fn loom_an_unpark_is_never_lost() {
    check(|| {
        let parker = Arc::new(Parker::new());
        let other = parker.clone();
        let thread = thread::spawn(move || {
            other.unpark();
        });
        parker.park(None);
        thread.join().unwrap();
    });
}

/// Two threads unpark one thread: a notice that meets another one is not lost, nor is what was written before it.
#[test]
fn loom_two_unparks_of_one_parker_are_both_seen() {
    check(|| {
        let parker = Arc::new(Parker::new());
        let written = [0, 1].map(|_| Arc::new(AtomicUsize::new(0)));
        let threads = written.clone().map(|word| {
            let parker = parker.clone();
            thread::spawn(move || {
                word.store(1, Ordering::Relaxed);
                parker.unpark();
            })
        });
        // A notice that is lost leaves this thread parked forever.
        while written.iter().any(|word| word.load(Ordering::Relaxed) == 0) {
            parker.park(None);
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Holds once a word is 1.
struct Flag(Arc<AtomicUsize>);

const ADDRESS: usize = 64;

impl Condition for Flag {
    fn holds(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
    fn address(&self) -> usize {
        ADDRESS
    }
}

fn waits_for(stream: &Arc<Stream>, word: &Arc<AtomicUsize>) {
    let wait = Task::Until {
        condition: Arc::new(Flag(word.clone())),
        limit: None,
    };
    let _ = stream
        .ring
        .enter(false)
        .expect("there is space")
        .push(tag(0), wait);
}

#[test]
fn loom_a_value_written_while_a_stream_blocks_is_found() {
    check(|| {
        let stream = stream();
        let pool = stream.pool.clone();
        // No worker is woken or started here: the model does that.
        let _setting = Setting::enter(&pool);
        let word = Arc::new(AtomicUsize::new(0));
        waits_for(&stream, &word);
        let (writer, written) = (pool.clone(), word.clone());
        let thread = thread::spawn(move || {
            written.store(1, Ordering::Release);
            if writer.value_poller.any() {
                writer.poll_range(ADDRESS, 8);
            }
        });
        let owner = stream.ring.unlist().expect("is queued");
        stream.drive(owner, false, u32::MAX, || false);
        thread.join().unwrap();
        if stream.ring.completed() == 0 {
            // Called by the writer, or, where the two just missed each other, by the timer.
            if !stream.ring.is_queued() {
                pool.poll_on_timer();
            }
            let owner = stream.ring.unlist().expect("was called");
            stream.drive(owner, false, u32::MAX, || false);
        }
        assert_eq!(
            (stream.ring.completed(), pool.value_poller.any()),
            (1, false)
        );
        pool.forget_entries();
    });
}

#[test]
fn loom_discard_frees_a_stream_that_is_about_to_wait_for_a_value() {
    check(|| {
        let stream = stream();
        let pool = stream.pool.clone();
        let _setting = Setting::enter(&pool);
        let never = Arc::new(AtomicUsize::new(0));
        waits_for(&stream, &never);
        let other = stream.clone();
        let thread = thread::spawn(move || other.drop_all());
        let owner = stream.ring.unlist().expect("is queued");
        stream.drive(owner, false, u32::MAX, || false);
        let called = thread.join().unwrap();
        if stream.ring.completed() == 0 {
            assert!(called, "the call came after it blocked, and queued it");
            let owner = stream.ring.unlist().expect("is queued");
            stream.drive(owner, false, u32::MAX, || false);
        }
        assert_eq!(
            (stream.ring.completed(), pool.value_poller.any()),
            (1, false)
        );
        pool.forget_entries();
    });
}

/// An executor with one worker on one processor, and a queue of it.
fn executor() -> (Executor, Arc<dyn Queue>) {
    let config = ExecutorConfig {
        workers: 1,
        cpus: 1,
        schedule: None,
    };
    let executor = Executor::new(config, Arc::new(Bare));
    let queue = executor.queue(QueueConfig::default(), Arc::new(NoObserver));
    (executor, queue)
}

#[test]
fn loom_shutdown_ends_the_worker_and_sets_what_is_left() {
    check(|| {
        let (executor, queue) = executor();
        let signal = Arc::new(Signal::untimed());
        // Watched tasks are never done at once, so that the worker has to come for them.
        queue.submit(nothing(), tag(1));
        queue.submit(Task::Set(signal.clone()), tag(2));
        drop(executor);
        assert!(signal.is_set(), "run or dropped, a thread may wait for it");
        assert_eq!(queue.completed(), 2);
    });
}

#[test]
fn loom_shutdown_frees_a_stream_that_is_held() {
    check(|| {
        let (executor, queue) = executor();
        let never = Arc::new(Signal::untimed());
        let after = Arc::new(Signal::untimed());
        let wait = Task::Wait {
            signal: never.clone(),
            then: WaitThen::Keep,
            limit: None,
        };
        queue.submit(wait, tag(1));
        queue.submit(Task::Set(after.clone()), tag(2));
        drop(executor);
        assert_eq!((queue.completed(), never.waiters()), (2, 0));
        assert!(after.is_set() && !never.is_set());
    });
}
