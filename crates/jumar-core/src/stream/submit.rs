//! Submits: how tasks come to the queue of a stream, or to the recorder of one that is captured or bound to a model.
//!
//! An operation may have several tasks. They stay together: where the first one goes, the others go too, whatever another
//! thread does to the stream meanwhile.

use std::sync::Arc;

use jumar_hal::sync::Ordering;
use jumar_hal::{Cost, Joining, Joint, Program, Signal, Span, Tag, Task, WaitThen};
use jumar_types::{Error, Result};

use super::{CLOSED, Stream};
use crate::Caller;
use crate::capture::OwnedOp;
use crate::gate::Op;

/// A thread that submits a callback.
pub(crate) struct Submitter<'a>(&'a Stream);

impl Drop for Submitter<'_> {
    fn drop(&mut self) {
        let Submitter(stream) = self;
        if stream.submitters.fetch_sub(1, Ordering::SeqCst) == 1
            && stream.state.load(Ordering::SeqCst) & CLOSED != 0
        {
            let submitting = stream.submitting.lock();
            stream.submitted.notify_all();
            drop(submitting);
        }
    }
}

/// The replacement of a task that a probe makes fail.
struct Broken(Error);

impl Program for Broken {
    fn run(&self) -> Result<()> {
        Err(self.0.clone())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "task that is made to fail"
    }
}

impl Stream {
    #[inline]
    pub(crate) fn submit<'a>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        self.submit_with(caller, task, [], op)
    }

    /// Submits a task and the tasks that belong to it as one operation: all of them are recorded, or all of them are queued,
    /// even if another thread begins or ends a capture of the stream meanwhile. Probes see the first task.
    #[inline]
    pub(crate) fn submit_with<'a, const PARTS: usize>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        parts: [Task; PARTS],
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        if self.accepts()? {
            return self.record_or_enqueue(caller, task, parts, op());
        }
        self.enqueue(caller, task, parts, op)
    }

    /// As [`Stream::submit_with`], but never records: for an operation that found the stream not recorded when it began, and so
    /// comes before a capture that another thread has begun since then.
    #[inline]
    pub(crate) fn queue_with<'a, const PARTS: usize>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        parts: [Task; PARTS],
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        self.accepts()?;
        self.enqueue(caller, task, parts, op)
    }

    #[inline]
    fn enqueue<'a, const PARTS: usize>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        parts: [Task; PARTS],
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        let (ticket, broken) = self
            .shared
            .gate
            .admit_task(caller, self.device, self.number, op)?;
        let position = self.queue.submit(
            match broken {
                None => task,
                Some(error) => Task::Run(Arc::new(Broken(error))),
            },
            Tag {
                ticket,
                call: caller.call,
            },
        );
        for part in parts {
            self.queue_part(caller, part);
        }
        self.note(position, caller);
        Ok(position)
    }

    /// Queues a task that belongs to a task which was queued. Probes saw the other one.
    pub(crate) fn queue_part(&self, caller: &Caller<'_>, part: Task) {
        let tag = Tag {
            ticket: 0,
            call: caller.call,
        };
        self.queue.submit(part, tag);
    }

    /// Returns whether a task can be queued at once and there is no probe. An obstacle is found
    /// again, and reported, by [`Stream::submit`].
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.state.load(Ordering::Acquire) == 0
            && !self.failure.stops.load(Ordering::Acquire)
            && !self.shared.gate.is_observed()
    }

    #[inline]
    pub(super) fn note(&self, position: u64, caller: &Caller<'_>) {
        if !self.is_default {
            caller.lookups.note_task(position);
        }
    }

    /// Queues the setting of a signal, even if another thread has begun a capture of the stream since the caller looked.
    #[inline]
    pub(crate) fn queue_set<'a>(
        &self,
        caller: &Caller<'_>,
        signal: Arc<Signal>,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        match self.submit_plain_set(caller, &signal) {
            Some(position) => Ok(position),
            None => self.queue_with(caller, Task::Set(signal), [], op),
        }
    }

    /// Queues the setting of a signal, if there is no obstacle and no probe.
    #[inline]
    pub(crate) fn submit_plain_set(
        &self,
        caller: &Caller<'_>,
        signal: &Arc<Signal>,
    ) -> Option<u64> {
        if !self.is_plain() {
            return None;
        }
        let tag = Tag {
            ticket: 0,
            call: caller.call,
        };
        let position = self.queue.submit_set(signal.clone(), tag);
        self.note(position, caller);
        Some(position)
    }

    /// Submits a program and the task that belongs to it, as [`Stream::submit_with`].
    ///
    /// # Errors
    /// As [`Stream::submit`].
    #[inline]
    pub(crate) fn submit_run<'a>(
        &self,
        caller: &Caller<'_>,
        program: Arc<dyn Program>,
        part: Option<Task>,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        if !self.is_plain() {
            return match part {
                Some(part) => self.submit_with(caller, Task::Run(program), [part], op),
                None => self.submit(caller, Task::Run(program), op),
            };
        }
        let tag = Tag {
            ticket: 0,
            call: caller.call,
        };
        let position = self.queue.submit_run(program, tag);
        if let Some(part) = part {
            self.queue_part(caller, part);
        }
        self.note(position, caller);
        Ok(position)
    }

    /// Records a task with its parts; queues them when the recording has ended in the meantime.
    #[cold]
    fn record_or_enqueue<const PARTS: usize>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        parts: [Task; PARTS],
        op: Op<'_>,
    ) -> Result<u64> {
        match self.record(caller, task, parts, &op)? {
            Ok(position) => Ok(position),
            Err((task, parts)) => self.enqueue(caller, task, parts, || op),
        }
    }

    /// Records a task with its parts and returns its index; returns them if the recording has ended in the meantime.
    fn record<const PARTS: usize>(
        &self,
        caller: &Caller<'_>,
        task: Task,
        parts: [Task; PARTS],
        op: &Op<'_>,
    ) -> Result<std::result::Result<u64, (Task, [Task; PARTS])>> {
        let Some(recorder) = self.recorder() else {
            return Ok(Err((task, parts)));
        };
        let taken = recorder.take(task, parts, OwnedOp::new(op), caller)?;
        if let Ok(position) = taken
            && let Some(task) = recorder.recorded(position)
        {
            caller.lookups.note_recorded(task);
        }
        Ok(taken)
    }

    /// Queues a program, and says what it reads and writes.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn launch(
        &self,
        program: Arc<dyn Program>,
        reads: &[Span],
        writes: &[Span],
        caller: &Caller<'_>,
    ) -> Result<u64> {
        let named = program.clone();
        self.submit(caller, Task::Run(program), || Op::Launch {
            name: named.name(),
            reads,
            writes,
        })
    }

    /// Queues a program that waits for `before`, a signal that another stream sets, and sets `done` when it has ended. Returns
    /// whether it was queued: on a stream that is recorded, the program alone becomes a part of the model, and `done` is never
    /// set.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn launch_in_turn(
        &self,
        program: Arc<dyn Program>,
        (reads, writes): (&[Span], &[Span]),
        before: Option<Arc<Signal>>,
        done: Arc<Signal>,
        caller: &Caller<'_>,
    ) -> Result<bool> {
        let named = program.clone();
        let op = Op::Launch {
            name: named.name(),
            reads,
            writes,
        };
        let mut task = Task::Run(program);
        if self.accepts()? {
            match self.record(caller, task, [], &op)? {
                Ok(_) => return Ok(false),
                Err((returned, [])) => task = returned,
            }
        }
        if let Some(signal) = before {
            self.queue_part(caller, Task::until_set(signal));
        }
        self.enqueue(caller, task, [Task::Set(done)], || op)?;
        Ok(true)
    }

    /// Queues something that others end, which holds no worker meanwhile. Returns the error that a probe wants it to fail with: then it was
    /// not queued, and a task that fails with that stands for it.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn launch_joint(
        &self,
        joint: &Arc<impl Joint>,
        (reads, writes): (&[Span], &[Span]),
        caller: &Caller<'_>,
    ) -> Result<Option<Error>> {
        let op = || Op::Launch {
            name: joint.name(),
            reads,
            writes,
        };
        if self.accepts()? {
            let (begin, end) = joint.clone().parts();
            let wait = Task::Wait {
                signal: joint.signal().clone(),
                then: WaitThen::Clear,
                limit: None,
            };
            let recorded = self.record(caller, Task::Run(begin), [wait, Task::Run(end)], &op())?;
            if recorded.is_ok() {
                return Ok(None);
            }
        }
        let gate = &self.shared.gate;
        let (ticket, broken) = gate.admit_task(caller, self.device, self.number, op)?;
        let tag = Tag {
            ticket,
            call: caller.call,
        };
        let task = match &broken {
            None => Task::Join(Joining::new(joint.clone())),
            Some(error) => Task::Run(Arc::new(Broken(error.clone()))),
        };
        let position = self.queue.submit(task, tag);
        self.note(position, caller);
        Ok(broken)
    }

    /// Queues the setting of a signal, as a part of another operation that was queued.
    pub fn mark(&self, signal: Arc<Signal>, caller: &Caller<'_>) {
        self.queue_part(caller, Task::Set(signal));
    }

    /// Keeps the callbacks' way open until the returned value is dropped: a thread that closes the stream waits for that, and
    /// so finds what was accepted.
    ///
    /// # Errors
    /// `InvalidHandle`: the stream is being destroyed.
    pub(crate) fn submitter(&self) -> Result<Submitter<'_>> {
        // Sequentially consistent, as is the closing thread's half: one of the two sees the other.
        self.submitters.fetch_add(1, Ordering::SeqCst);
        let submitter = Submitter(self);
        match self.state.load(Ordering::SeqCst) & CLOSED {
            0 => Ok(submitter),
            _ => Err(self.closed()),
        }
    }

    /// Waits until what was accepted before the stream closed is queued.
    pub(super) fn await_submitters(&self) {
        let mut submitting = self.submitting.lock();
        while self.submitters.load(Ordering::SeqCst) != 0 {
            submitting = self.submitted.wait(submitting);
        }
    }
}
