//! What a queue can be asked to do.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use jumar_types::Error;

use crate::sync::{AtomicBool, Ordering};
use crate::{Signal, Span, Transfer};

/// One piece of work on a queue, at most 40 bytes, moved into the queue's ring.
pub enum Task {
    /// Copies; overlapping ranges behave as memmove.
    Copy(Transfer),
    /// Fills a range with one byte value.
    Fill {
        /// What is written.
        to: Span,
        /// The value of each byte.
        value: u8,
    },
    /// Sets a signal; everything submitted to the queue before it has finished.
    Set(Arc<Signal>),
    /// Clears a signal.
    Clear(Arc<Signal>),
    /// Holds the queue until the signal is set, without holding a worker.
    Wait {
        /// What is waited for.
        signal: Arc<Signal>,
        /// What happens to the signal once it was seen.
        then: WaitThen,
        /// How long the queue may be held, from the moment that it reaches the wait; then the task fails with `WaitTimeout`.
        limit: Option<Duration>,
    },
    /// Blocks the queue until an unannounced condition is true, without blocking a worker.
    Until {
        /// What is waited for.
        condition: Arc<dyn Condition>,
        /// How long the queue may be held, as for `Wait`.
        limit: Option<Duration>,
    },
    /// Runs a program.
    Run(Arc<dyn Program>),
    /// Begins something that others end, and holds the queue until they have, without holding a worker.
    Join(Joining),
}

// SAFETY-relevant layout is none; the size matters for the ring: see jumar-sched.
const _: () = assert!(size_of::<Task>() <= 40);

/// A copy or a fill among others that are done one after the other.
#[derive(Clone, Copy, Debug)]
pub enum MemOp {
    /// As [`Task::Copy`].
    Copy(Transfer),
    /// As [`Task::Fill`].
    Fill {
        /// What is written.
        to: Span,
        /// The value of each byte.
        value: u8,
    },
}

/// What a wait does to its signal once it was seen set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitThen {
    /// Leaves it set (events).
    Keep,
    /// Clears it (notifies: a one-bit semaphore).
    Clear,
}

/// Something in memory that a queue waits for and that is not announced: a word that a task, the host or another process
/// writes.
///
/// The executor checks it after each task that wrote there, after each program whose writes are unknown, and by a timer whose interval
/// grows from tens of microseconds to a millisecond.
///
/// # Threads
/// Any thread may call `holds` and `pass`, at any time and often, also while it holds the executor's locks. So they only read memory,
/// take no lock and make no system call. `examine` is called without any lock.
pub trait Condition: Any + Send + Sync {
    /// Returns whether the queue may continue.
    fn holds(&self) -> bool;

    /// Checks what takes longer than reading memory, such as whether the process that is waited for still exists. `holds` returns the
    /// result afterwards. The executor calls this when its timer expires.
    fn examine(&self) {}

    /// Lets the queue continue if it may, and returns whether it does. The thread that runs the queue calls this after `holds` returned
    /// `true`, and not again for the same task after `true`. A wait for a semaphore decrements it here.
    fn pass(&self) -> bool {
        self.holds()
    }

    /// Returns the address of the word that the condition reads, of at most eight bytes.
    fn address(&self) -> usize;
}

/// How long a task may take, so that a thread that must not be kept can leave it to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// A few microseconds at most: events, copies and fills up to 16 KiB, small programs.
    Bounded,
    /// Anything else.
    Unbounded,
    /// Known to take long (a model, a copy of 4 MiB and more): worth waking a sleeping worker at once.
    Large,
}

/// Something that a queue can run: a kernel, a model, a hand-over to a host callback.
///
/// It is [`Any`], so that the code that queued a program of a kind can find it again in a task.
///
/// # Threads
/// `run` is called once for each submit, on a worker or on a thread that waits for the queue. It must not wait for
/// anything that only the caller's thread could bring about.
pub trait Program: Any + Send + Sync {
    /// Does the work.
    ///
    /// # Errors
    /// Whatever went wrong; it is kept on the queue with the submitting call's tag.
    fn run(&self) -> Result<(), Error>;

    /// Returns an error where the program cannot run any more because something that it needs was released. Asked before a
    /// recorded program is queued again.
    ///
    /// # Errors
    /// What was released.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns how long it may take.
    fn cost(&self) -> Cost {
        Cost::Unbounded
    }

    /// Returns whether the submit may run it at once, on the submitting thread, if the queue is idle. That is worthwhile where the
    /// program takes less time than waking a worker: a few microseconds. Its cost is [`Cost::Bounded`].
    fn is_short(&self) -> bool {
        false
    }

    /// Returns whether the thread that submits it waits for it next. That thread runs it, so that no worker is woken for it.
    fn is_awaited(&self) -> bool {
        false
    }

    /// Returns the range that it writes if there is only one; `None`: any memory. Queues that wait for a word in memory are
    /// looked at accordingly.
    fn writes(&self) -> Option<Span> {
        None
    }

    /// Names the work for messages and timelines.
    fn name(&self) -> &str;
}

/// Something that a queue begins and that others end, such as an operation of several devices. As a [`Program`] it begins.
///
/// # Threads
/// As for [`Program`]: `run` is called first, and then `end`, once the signal was seen set.
pub trait Joint: Program {
    /// Returns the signal that is set when it has ended. The queue clears it as it continues.
    fn signal(&self) -> &Arc<Signal>;

    /// Returns how it ended.
    ///
    /// # Errors
    /// What the others found.
    fn end(&self) -> Result<(), Error>;

    /// Is called instead of `end` if the queue drops it before it ended, or began.
    fn abandon(&self);

    /// Returns the programs that begin it and return how it ended, for a recording: the wait for the signal stands between them.
    fn parts(self: Arc<Self>) -> (Arc<dyn Program>, Arc<dyn Program>);
}

/// A [`Joint`] in a queue, which abandons it if it did not end there.
pub struct Joining {
    joint: Arc<dyn Joint>,
    has_ended: AtomicBool,
}

impl Joining {
    /// Wraps it for a queue.
    pub fn new(joint: Arc<dyn Joint>) -> Joining {
        Joining {
            joint,
            has_ended: AtomicBool::new(false),
        }
    }

    /// Returns how it ended. Called once.
    ///
    /// # Errors
    /// As [`Joint::end`].
    pub fn end(&self) -> Result<(), Error> {
        let ended = self.joint.end();
        // The thread that calls this drops it next.
        self.has_ended.store(true, Ordering::Relaxed);
        ended
    }
}

impl Deref for Joining {
    type Target = dyn Joint;

    fn deref(&self) -> &(dyn Joint + 'static) {
        &*self.joint
    }
}

impl Drop for Joining {
    fn drop(&mut self) {
        if !self.has_ended.load(Ordering::Relaxed) {
            self.joint.abandon();
        }
    }
}

impl Task {
    /// Bytes up to which a copy or fill counts as bounded.
    pub const BOUNDED_BYTES: usize = 16 << 10;
    /// Bytes from which a copy or fill counts as large.
    pub const LARGE_BYTES: usize = 4 << 20;

    /// Creates a wait for a signal: without a limit, and the signal stays set.
    pub fn until_set(signal: Arc<Signal>) -> Task {
        Task::Wait {
            signal,
            then: WaitThen::Keep,
            limit: None,
        }
    }

    /// Returns how long the task may take.
    #[inline]
    pub fn cost(&self) -> Cost {
        let by_bytes = |bytes| match bytes {
            0..=Task::BOUNDED_BYTES => Cost::Bounded,
            Task::LARGE_BYTES.. => Cost::Large,
            _ => Cost::Unbounded,
        };
        match self {
            Task::Copy(copy) => by_bytes(copy.bytes()),
            Task::Fill { to, .. } => by_bytes(to.bytes()),
            Task::Set(_) | Task::Clear(_) | Task::Wait { .. } | Task::Until { .. } => Cost::Bounded,
            Task::Run(program) => program.cost(),
            Task::Join(joint) => joint.cost(),
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Task::Copy(copy) => write!(
                f,
                "copy of {} bytes to {:#x}",
                copy.bytes(),
                copy.target().address()
            ),
            Task::Fill { to, value } => write!(f, "fill of {} bytes with {value:#04x}", to.bytes()),
            Task::Set(_) => f.write_str("set"),
            Task::Clear(_) => f.write_str("clear"),
            Task::Wait { .. } => f.write_str("wait"),
            Task::Until { condition, .. } => {
                write!(f, "wait for a value at {:#x}", condition.address())
            }
            Task::Run(program) => write!(f, "run {}", program.name()),
            Task::Join(joint) => write!(f, "join {}", joint.name()),
        }
    }
}

/// The public function through which an operation came in: its name, and its number in the frontend's table.
#[derive(Debug)]
pub struct Call {
    /// The function's name.
    pub name: &'static str,
    /// The function's number, unique within its frontend.
    pub number: u16,
}

/// What travels with a task through the queue: who asked, and whether anybody watches.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// The gate's number for the operation; 0 without probes; then only failures are reported back.
    pub ticket: u64,
    /// The call that submitted the task.
    pub call: &'static Call,
}
