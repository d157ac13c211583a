//! A stream as the runtime sees it: a queue.

use std::cell::Cell;
use std::sync::Arc;

use jumar_hal::sync::{AtomicBool, Instant, Ordering};
use jumar_hal::{Cost, Program, Queue, Signal, Span, Tag, Task, Transfer, Waiter};

use super::{HELP, Stream};
use crate::park::{self, Parker};
use crate::pool::Pool;
use crate::runnable::Runnable;

/// A queue of an executor.
pub(crate) struct Handle(pub(crate) Arc<Stream>);

impl Drop for Handle {
    fn drop(&mut self) {
        if self.0.ring.is_listed_idle() {
            let stream: Arc<dyn Runnable> = self.0.clone();
            self.0.pool.forget_entry(&stream);
        }
    }
}

impl Queue for Handle {
    #[inline]
    fn submit(&self, task: Task, tag: Tag) -> u64 {
        let stream = &self.0;
        // A watcher is never called inside a submit, and a schedule sees everything.
        if matches!(
            task,
            Task::Set(_) | Task::Clear(_) | Task::Wait { .. } | Task::Until { .. }
        ) && tag.ticket == 0
            && !stream.scheduled
            && let Some(position) = stream.at_once(&task)
        {
            return position;
        }
        let is_short = match &task {
            Task::Run(program) => program.is_short(),
            Task::Join(joint) => joint.is_short(),
            // A thread that waits for the stream polls: no worker is woken to find that the stream has to wait.
            Task::Wait { signal, .. } => signal.poller().is_some(),
            Task::Copy(_)
            | Task::Fill { .. }
            | Task::Set(_)
            | Task::Clear(_)
            | Task::Until { .. } => false,
        };
        match stream.runs_at_once(is_short, tag) {
            true => stream.append_short(tag, task),
            false => stream.append(wake_cost(&task), tag, task),
        }
    }

    fn submit_copy(&self, to: Span, from: Span, tag: Tag) -> u64 {
        let copy = Transfer::new(to, from).expect("both ends of a copy are of one length");
        let task = Task::Copy(copy);
        self.0.append(task.cost(), tag, task)
    }

    fn submit_fill(&self, to: Span, value: u8, tag: Tag) -> u64 {
        let task = Task::Fill { to, value };
        self.0.append(task.cost(), tag, task)
    }

    fn submit_run(&self, program: Arc<dyn Program>, tag: Tag) -> u64 {
        let is_short = program.is_short();
        let task = Task::Run(program);
        if self.0.runs_at_once(is_short, tag) {
            return self.0.append_short(tag, task);
        }
        self.0.append(wake_cost(&task), tag, task)
    }

    fn submit_set(&self, signal: Arc<Signal>, tag: Tag) -> u64 {
        let stream = &self.0;
        // Most streams are at work, and then there is nothing to do at once.
        if stream.ring.is_idle() {
            return self.submit(Task::Set(signal), tag);
        }
        stream.append(Cost::Bounded, tag, Task::Set(signal))
    }

    fn submitted(&self) -> u64 {
        self.0.ring.submitted()
    }

    fn completed(&self) -> u64 {
        self.0.ring.completed()
    }

    fn poll(&self) {
        if self.0.pool.is_unserved() {
            self.0.stand_in();
        }
    }

    fn is_held(&self) -> bool {
        self.0.ring.is_blocked()
    }

    fn wait(&self, position: u64, until: Option<Instant>) -> bool {
        let stream = &self.0;
        if stream.ring.completed() >= position {
            return true;
        }
        stream.wait_for(
            &|| stream.ring.completed() >= position,
            &stream.reached(position),
            until,
            &|until| stream.park(position, until),
        )
    }

    fn advance(&self, signal: &Signal) {
        let stream = &self.0;
        if stream.scheduled || signal.is_set() {
            return;
        }
        let Some(owner) = stream.ring.take() else {
            return;
        };
        let left = Cell::new(HELP);
        let stop = || {
            left.set(left.get() - 1);
            left.get() == 0 || signal.is_set()
        };
        stream.drive(owner, true, u32::MAX, stop);
        if Pool::has_deferred_wakes() {
            stream.pool.flush_wakes(false);
        }
    }

    fn wait_signal(&self, signal: &Arc<Signal>, until: Option<Instant>) -> bool {
        if signal.is_set() {
            return true;
        }
        let stream = &self.0;
        // The hot path: the queue is at rest, and this thread runs it as far as the signal.
        if !stream.scheduled
            && let Some(owner) = stream.ring.take()
        {
            // What is run here is bounded, so that the clock is looked at now and then only.
            let polls = Cell::new(0u32);
            let late = || {
                polls.set(polls.get() + 1);
                polls.get().is_multiple_of(8) && until.is_some_and(|until| Instant::now() >= until)
            };
            stream.drive(owner, until.is_some(), u32::MAX, || {
                signal.is_set() || late()
            });
            if signal.is_set() {
                if Pool::has_deferred_wakes() {
                    stream.pool.flush_wakes(false);
                }
                return true;
            }
        }
        // Registered before anything else, so that a set that is cleared at once still counts.
        let own = Arc::new(SignalWaiter {
            signalled: AtomicBool::new(false),
            parker: park::mine(),
        });
        let waiter: Arc<dyn Waiter> = own.clone();
        if !signal.register(waiter.clone()) {
            return true;
        }
        let set = stream.wait_for(
            &|| own.signalled.load(Ordering::Acquire) || signal.is_set(),
            &|| {
                let (own, signal) = (own.clone(), signal.clone());
                Arc::new(move || own.signalled.load(Ordering::Acquire) || signal.is_set())
            },
            until,
            &|until| own.parker.park(until),
        );
        if !own.signalled.load(Ordering::Acquire) {
            signal.forget(&waiter);
        }
        set
    }

    fn discard(&self) {
        let stream = &self.0;
        if stream.drop_all() {
            stream.pool.push(stream.clone(), true, Cost::Bounded);
        }
    }

    fn drop_wait(&self) {
        let stream = &self.0;
        if stream.drop_wait() {
            stream.pool.push(stream.clone(), true, Cost::Bounded);
        }
    }
}

/// Returns the cost that decides whether a submit wakes a worker. The thread that submits an awaited program runs it itself. A
/// worker in timed park takes the program all the same where that thread is kept from it.
fn wake_cost(task: &Task) -> Cost {
    match task {
        Task::Run(program) if program.is_awaited() => Cost::Bounded,
        other => other.cost(),
    }
}

/// A thread that waits for a signal.
struct SignalWaiter {
    signalled: AtomicBool,
    parker: Arc<Parker>,
}

impl Waiter for SignalWaiter {
    fn signalled(self: Arc<Self>) {
        self.signalled.store(true, Ordering::Release);
        self.parker.unpark();
    }
}
