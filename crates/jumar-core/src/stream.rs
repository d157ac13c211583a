//! A stream: tasks in order, and the error of the last one that failed.

mod mem_ops;
mod submit;

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use jumar_hal::sync::Instant;

use jumar_hal::sync::{AtomicBool, AtomicU32, AtomicU64, Condvar, Mutex, Ordering};
use jumar_hal::{Queue, QueueConfig, QueueObserver, Signal, Tag, Verdict};
use jumar_types::{Error, ErrorKind, Result, TaskSite};

use crate::Caller;
use crate::callback::{Runs, Subscriptions};
use crate::capture::{Captures, Recorder};
use crate::context::{Context, Failure};
use crate::gate::{Op, Phase};
use crate::kernel::Overflow;
use crate::runtime::SharedRuntime;

/// In a stream's state: it takes no more work.
const CLOSED: u32 = 1;
/// In a stream's state: submits go to the recorder.
const RECORDING: u32 = 2;

/// How a stream is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// 0 is served first, 7 last.
    pub priority: u8,
    /// The flag bits that it was made with, kept for queries.
    pub flags: u32,
}

/// A stream.
pub struct Stream {
    id: u64,
    number: u32,
    is_default: bool,
    options: StreamOptions,
    failure: Arc<Failure>,
    context_id: u64,
    device: u32,
    queue: Arc<dyn Queue>,
    outcome: Arc<QueueResult>,
    shared: Arc<SharedRuntime>,
    state: AtomicU32,
    /// What happens to submits while `RECORDING` stands in `state`.
    recorder: Mutex<Option<Recorder>>,
    captures: Arc<Captures>,
    failure_mode: AtomicU32,
    detects_overflow: AtomicBool,
    pub(crate) overflow: Arc<Overflow>,
    interrupts: Arc<Interrupts>,
    pub(crate) subscriptions: Mutex<Subscriptions>,
    /// How many threads are between the look whether the stream is closed and the submit of a callback.
    submitters: AtomicU32,
    /// Notified when the last of them has submitted while the stream closes.
    submitted: Condvar,
    submitting: Mutex<()>,
    /// Who runs the callback that the stream waits for.
    pub(crate) runs: Arc<Runs>,
}

/// What ends a task that runs before its own end. Shared with the tasks, which do not keep the stream alive.
#[derive(Debug, Default)]
struct Interrupts {
    /// Counts aborts of the stream alone, and, above [`BY_DEVICE`], of its device's tasks.
    aborts: AtomicU64,
    /// Set by a teardown that does not wait for what is pending.
    closing: AtomicBool,
}

/// Reports to a long-running task whether it must end early: its stream was aborted since the token was made, or is torn down.
#[derive(Clone, Debug)]
pub struct StopToken {
    interrupts: Arc<Interrupts>,
    aborts: u64,
}

impl StopToken {
    /// Returns whether the task is to end early.
    pub fn is_set(&self) -> bool {
        self.interrupts.aborts.load(Ordering::Relaxed) != self.aborts
            || self.interrupts.closing.load(Ordering::Relaxed)
    }
}

/// What an abort of a device's tasks adds to the count of a stream's aborts.
const BY_DEVICE: u64 = 1 << 32;

/// What the queue reports back: kept apart from the stream, so that the queue does not keep the stream alive.
struct QueueResult {
    stream: u32,
    device: u32,
    shared: Arc<SharedRuntime>,
    failure: Arc<Failure>,
    /// The queue itself, which does not live by being known here.
    queue: OnceLock<Weak<dyn Queue>>,
    has_error: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl QueueObserver for QueueResult {
    fn started(&self, tag: Tag) {
        self.shared.gate.report(tag.ticket, Phase::Started);
    }

    fn finished(&self, tag: Tag) {
        self.shared.gate.report(tag.ticket, Phase::Finished);
    }

    fn failed(&self, tag: Tag, error: Error) -> Verdict {
        let error = error.operation(tag.call.name);
        let queue = self.queue.get().and_then(Weak::upgrade);
        // Tasks end in order, so the one that failed is the next to be counted.
        let task = queue.map_or(0, |queue| queue.completed() + 1) as u32;
        let site = error.task().unwrap_or_default();
        let operator = error.failed_operator().cloned();
        let advice = error.advice().map(str::to_owned);
        let mut error = Error::new(
            error.kind(),
            format!(
                "a task of stream {}, submitted by {}, failed: {error}",
                self.stream, tag.call.name
            ),
        )
        .operation(tag.call.name)
        .of_task(TaskSite {
            device: self.device,
            stream: self.stream,
            task,
            ..site
        });
        if let Some(operator) = operator {
            error = error.at_operator(operator);
        }
        if let Some(advice) = advice {
            error = error.fix(advice);
        }
        self.shared
            .gate
            .report(tag.ticket, Phase::Failed(error.clone()));
        // A later error replaces an earlier one that was not fetched.
        *self.error.lock() = Some(error.clone());
        self.has_error.store(true, Ordering::Release);
        if !self.failure.stops.load(Ordering::Acquire) {
            return Verdict::Continue;
        }
        self.failure.first.lock().get_or_insert(error);
        Verdict::Discard
    }
}

impl Stream {
    pub(crate) fn create(
        context: &Arc<Context>,
        options: StreamOptions,
        is_default: bool,
    ) -> Result<Arc<Stream>> {
        let device = context.device();
        device
            .streams
            .take(ErrorKind::NoStreamResource, "streams")?;
        Stream::make(context, options, is_default).inspect_err(|_| device.streams.give_back())
    }

    /// Makes a stream that stands for a part of a captured graph. It counts as none of the device's.
    pub(crate) fn stand_in(context: &Arc<Context>) -> Result<Arc<Stream>> {
        Stream::make(context, StreamOptions::default(), false)
    }

    fn make(
        context: &Arc<Context>,
        options: StreamOptions,
        is_default: bool,
    ) -> Result<Arc<Stream>> {
        let shared = context.shared();
        let device = context.device();
        let number = shared.stream_numbers.fetch_add(1, Ordering::Relaxed);
        let outcome = Arc::new(QueueResult {
            stream: number,
            device: device.number(),
            shared: shared.clone(),
            failure: context.failure.clone(),
            queue: OnceLock::new(),
            has_error: AtomicBool::new(false),
            error: Mutex::new(None),
        });
        device
            .hardware(shared)
            .and_then(|hardware| {
                hardware.queue(
                    QueueConfig {
                        priority: options.priority.min(7),
                        number,
                    },
                    outcome.clone(),
                )
            })
            .and_then(|queue| {
                // Only this thread sets it: the outcome was created above.
                let _ = outcome.queue.set(Arc::downgrade(&queue));
                shared.streams.insert(|id| {
                    Arc::new(Stream {
                        id,
                        number,
                        is_default,
                        options,
                        failure: context.failure.clone(),
                        context_id: context.id(),
                        device: device.number(),
                        queue,
                        outcome,
                        shared: shared.clone(),
                        state: AtomicU32::new(0),
                        recorder: Mutex::default(),
                        captures: context.captures.clone(),
                        failure_mode: AtomicU32::new(0),
                        detects_overflow: AtomicBool::new(false),
                        overflow: context.overflow.clone(),
                        interrupts: Arc::default(),
                        subscriptions: Mutex::default(),
                        submitters: AtomicU32::new(0),
                        submitted: Condvar::new(),
                        submitting: Mutex::new(()),
                        runs: Arc::default(),
                    })
                })
            })
    }

    /// Returns the stream's handle.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns whether probes see the operations of the stream.
    pub fn is_observed(&self) -> bool {
        self.shared.gate.is_observed()
    }

    /// Returns the stream's number, unique in the runtime, for messages and timelines.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the handle of the stream's context.
    #[inline]
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// Returns the number of the stream's device.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Returns whether it is its context's default stream.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// Returns what the stream was made with.
    pub fn options(&self) -> StreamOptions {
        self.options
    }

    pub(crate) fn queue(&self) -> &Arc<dyn Queue> {
        &self.queue
    }

    pub(crate) fn shared(&self) -> &Arc<SharedRuntime> {
        &self.shared
    }

    /// Gets ready for work on the program's own host memory, which cannot be touched behind its back: what was queued is
    /// waited for, and the caller does the work at once. Returns false on a stream that is bound to a model: nothing is queued
    /// there that could be waited for, and the work becomes a task of the model, which finds the memory at each execution.
    pub(crate) fn drain_for_host_access(&self, caller: &Caller<'_>) -> Result<bool> {
        let recorder = match self.accepts()? {
            true => self.recorder(),
            false => None,
        };
        if let Some(recorder) = recorder {
            if recorder.capture().is_none() {
                return Ok(false);
            }
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "pageable host memory is copied synchronously, which is not possible while stream {} is captured",
                    self.number
                ),
            )
            .fix("Use pinned host memory (aclrtMallocHost), or register it."));
        }
        if let Some(stream) = self.captures.blocking(caller) {
            return Err(Error::new(
                ErrorKind::CaptureForbidsWaiting,
                format!(
                    "pageable host memory is copied synchronously, but stream {stream} of the context is being captured in a mode that forbids this thread to wait"
                ),
            ));
        }
        self.drain_reported(None, caller)?;
        Ok(true)
    }

    /// Waits for everything submitted so far, in sight of probes. An expired wait does not count as a wait.
    fn drain_reported(&self, until: Option<Instant>, caller: &Caller<'_>) -> Result<()> {
        let gate = &self.shared.gate;
        let ticket = gate.admit(caller, self.device, Some(self.number), || Op::WaitForStream)?;
        gate.report(ticket, Phase::Started);
        let result = self.drain(until);
        let expired = result
            .as_ref()
            .err()
            .filter(|error| error.kind() == ErrorKind::StreamTimeout);
        gate.report(
            ticket,
            expired.map_or(Phase::Finished, |error| Phase::Failed(error.clone())),
        );
        result
    }

    /// Refuses work for a stream that is closed, or whose context stopped on a failure.
    /// Otherwise returns whether submits are recorded.
    #[inline]
    fn accepts(&self) -> Result<bool> {
        let state = self.state.load(Ordering::Acquire);
        if state & CLOSED != 0 {
            return Err(self.closed());
        }
        self.failure.refuse()?;
        Ok(state & RECORDING != 0)
    }

    #[cold]
    fn closed(&self) -> Error {
        Error::new(
            ErrorKind::InvalidHandle,
            format!("stream {} is being destroyed", self.number),
        )
    }

    /// Returns what submits go to instead of the queue.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<Recorder> {
        if self.state.load(Ordering::Acquire) & RECORDING == 0 {
            return None;
        }
        self.recorder.lock().clone()
    }

    /// Lets submits go to a recorder; the one that is there already stays, and is the error.
    pub(crate) fn attach(&self, recorder: Recorder) -> std::result::Result<(), Recorder> {
        let mut current = self.recorder.lock();
        match &*current {
            Some(other) => Err(other.clone()),
            None => {
                *current = Some(recorder);
                self.state.fetch_or(RECORDING, Ordering::AcqRel);
                Ok(())
            }
        }
    }

    /// Lets submits go to the queue again.
    pub(crate) fn detach(&self) {
        let gone = {
            let mut current = self.recorder.lock();
            self.state.fetch_and(!RECORDING, Ordering::AcqRel);
            current.take()
        };
        drop(gone);
    }

    /// Returns whether submits are recorded, by a capture or for a model.
    pub fn is_recorded(&self) -> bool {
        self.state.load(Ordering::Acquire) & RECORDING != 0
    }

    /// Refuses what a stream that is being captured cannot do.
    ///
    /// # Errors
    /// `StreamCaptured`.
    pub fn refuse_captured(&self) -> Result<()> {
        match self.recorder() {
            Some(recorder) if recorder.capture().is_some_and(|graph| graph.is_capturing()) => {
                Err(recorder.in_the_way(self))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses what a stream that is bound to a model cannot do, with the kind given.
    ///
    /// # Errors
    /// `kind`.
    pub fn refuse_bound(&self, kind: ErrorKind) -> Result<()> {
        match self.recorder() {
            Some(Recorder::CapturedStream { graph, .. })
                if graph.origin() == crate::Origin::Built =>
            {
                Err(Error::new(
                    kind,
                    format!(
                        "stream {} is bound to model {}",
                        self.number,
                        graph.number()
                    ),
                ))
            }
            Some(recorder @ Recorder::StandIn { .. }) => Err(recorder.in_the_way(self)),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to record a stream that cannot be recorded, or is recorded already.
    pub(crate) fn free_to_record(&self) -> Result<()> {
        self.accepts()?;
        if self.is_default {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "stream {} is a default stream, which is never captured",
                    self.number
                ),
            )
            .fix("Capture a stream made with aclrtCreateStream."));
        }
        match self.recorder() {
            Some(other) => Err(other.in_the_way(self)),
            None => Ok(()),
        }
    }

    pub(crate) fn not_captured(&self) -> Error {
        Error::new(
            ErrorKind::StreamNotCaptured,
            format!("stream {} is not being captured", self.number),
        )
    }

    /// Waits on the calling thread for a signal that some stream of the runtime sets.
    pub fn wait_for(&self, signal: &Arc<Signal>) {
        self.queue.wait_signal(signal, None);
    }

    /// Waits for everything submitted so far as long as tasks end or compute, and leaves an error to the next synchronise. A stream that
    /// waits is given a second, and a task a minute: either may need what only the calling thread can bring about.
    pub fn drain_briefly(&self) {
        self.wait_briefly(self.queue.submitted());
    }

    /// As [`Stream::drain_briefly`], until one more task has ended: for a thread that waits for space among the tasks.
    pub fn advance_briefly(&self) {
        let next = self.queue.completed() + 1;
        self.wait_briefly(next.min(self.queue.submitted()));
    }

    fn wait_briefly(&self, position: u64) {
        if self.runs.here() {
            return;
        }
        self.advances_to(position, Duration::from_secs(1), 60);
    }

    /// Waits for a position, and returns whether the stream reached it. Stops after an interval in which the stream only waited, and
    /// after `most` intervals in a row in which no task ended.
    fn advances_to(&self, position: u64, interval: Duration, most: u32) -> bool {
        let mut intervals = 0;
        let mut completed = self.queue.completed();
        while !self.queue.wait(position, Some(Instant::now() + interval)) {
            let now = self.queue.completed();
            intervals = if now > completed { 0 } else { intervals + 1 };
            completed = now;
            if intervals > 0 && (self.queue.is_held() || intervals >= most) {
                return false;
            }
        }
        true
    }

    /// Waits for everything submitted so far, then returns and forgets the stream's error.
    ///
    /// # Errors
    /// `StreamTimeout`; what a task failed with.
    pub fn synchronize(&self, limit: Option<Duration>, caller: &Caller<'_>) -> Result<()> {
        self.refuse_captured()?;
        self.waits_for_others()?;
        let until = limit.map(|limit| Instant::now() + limit);
        let result = self.drain_reported(until, caller);
        self.shared.drain_pools();
        result
    }

    /// Refuses to wait for a stream that itself waits for the callback that the calling thread is in.
    pub(crate) fn waits_for_others(&self) -> Result<()> {
        if !self.runs.here() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::RuntimeInternal,
            format!(
                "stream {} waits until the callback that this thread is running returns, so the callback cannot wait for the stream",
                self.number
            ),
        )
        .fix("Return from the callback first, or wait on another thread."))
    }

    pub(crate) fn drain(&self, until: Option<Instant>) -> Result<()> {
        self.waits_for_others()?;
        let aborts = self.aborts();
        let last = self.queue.submitted();
        if !self.queue.wait(last, until) {
            return Err(Error::new(
                ErrorKind::StreamTimeout,
                format!(
                    "stream {} has done {} of {last} tasks and did not finish in time",
                    self.number,
                    self.queue.completed()
                ),
            ));
        }
        self.was_not_aborted(aborts)?;
        self.failure.refuse()?;
        if self.outcome.has_error.load(Ordering::Acquire) {
            self.outcome.has_error.store(false, Ordering::Release);
            if let Some(error) = self.outcome.error.lock().take() {
                return Err(error);
            }
        }
        Ok(())
    }

    pub(crate) fn idle_until(&self, until: Instant) -> bool {
        self.queue.wait(self.queue.submitted(), Some(until))
    }

    /// Waits until everything is done that was submitted so far, or the next task is a wait that has not ended. False when
    /// neither was in time.
    pub(crate) fn quiet_until(&self, until: Instant) -> bool {
        const MOMENT: Duration = Duration::from_millis(1);
        let last = self.queue.submitted();
        loop {
            let now = Instant::now();
            if self.queue.wait(last, Some(until.min(now + MOMENT))) || self.queue.is_held() {
                return true;
            }
            if now >= until {
                return false;
            }
        }
    }

    /// Waits until everything is done that was submitted so far, or until nothing has moved for a while because the stream
    /// waits for something that does not come.
    pub(crate) fn idle_or_blocked(&self, patience: Duration) -> bool {
        if self.runs.here() {
            return self.is_idle();
        }
        self.advances_to(self.queue.submitted(), patience, u32::MAX)
    }

    /// Waits until everything submitted so far is done; errors stay for the next synchronise.
    pub(crate) fn idle(&self) -> bool {
        self.queue.wait(self.queue.submitted(), None)
    }

    /// Returns whether everything submitted so far is done. Never waits and reports no task's error. Where the system has no thread for a
    /// worker, the calling thread runs some tasks first: nothing else would.
    pub fn is_idle(&self) -> bool {
        let is_done = || self.queue.completed() >= self.queue.submitted();
        is_done() || {
            self.queue.poll();
            is_done()
        }
    }

    /// Counts the tasks submitted so far; the number of the last one.
    pub fn submitted(&self) -> u64 {
        self.queue.submitted()
    }

    /// Counts the tasks that have not ended.
    pub fn queued(&self) -> u64 {
        let completed = self.queue.completed();
        self.queue.submitted().saturating_sub(completed)
    }

    /// Returns a token that reports to a task of the stream whether it must end early.
    pub fn stop_token(&self) -> StopToken {
        StopToken {
            aborts: self.aborts(),
            interrupts: self.interrupts.clone(),
        }
    }

    /// Sets every [`StopToken`] of the stream for good, before it is torn down.
    pub(crate) fn interrupt(&self) {
        self.interrupts.closing.store(true, Ordering::Relaxed);
    }

    /// Drops what has not started. A task that runs resumes to its end, unless it asks its [`StopToken`]. The stream can be used
    /// again.
    pub fn abort(&self) {
        self.interrupts.aborts.fetch_add(1, Ordering::AcqRel);
        self.queue.discard();
        self.shared.reports.drop_pending(self);
    }

    /// As [`Stream::abort`], as a part of the abort of all tasks of the device.
    pub(crate) fn abort_with_device(&self) {
        self.interrupts
            .aborts
            .fetch_add(BY_DEVICE, Ordering::AcqRel);
        self.queue.discard();
        self.shared.reports.drop_pending(self);
    }

    /// Cancels the wait that blocks the stream, if any; the tasks behind it run. A running task is not cut
    /// short.
    pub fn drop_wait(&self) {
        // What is queued before the wait may not have run yet: the stream gets time to come to where it stays.
        const PATIENCE: Duration = Duration::from_millis(100);
        self.quiet_until(Instant::now() + PATIENCE);
        self.queue.drop_wait();
    }

    /// Counts aborts, for [`Stream::was_not_aborted`].
    pub(crate) fn aborts(&self) -> u64 {
        self.interrupts.aborts.load(Ordering::Acquire)
    }

    /// Answers the failure that stopped the stream's context, if one did.
    ///
    /// # Errors
    /// That failure.
    pub fn refuse_stopped(&self) -> Result<()> {
        self.failure.refuse()
    }

    /// Returns an error to a waiting caller if its target was dropped meanwhile.
    pub(crate) fn was_not_aborted(&self, before: u64) -> Result<()> {
        let now = self.interrupts.aborts.load(Ordering::Acquire);
        if now == before {
            return Ok(());
        }
        Err(if now / BY_DEVICE == before / BY_DEVICE {
            Error::new(
                ErrorKind::StreamAborted,
                format!("stream {} was aborted while it was waited for", self.number),
            )
        } else {
            Error::new(
                ErrorKind::DeviceAborted,
                format!(
                    "the tasks of device {} were aborted while stream {} was waited for",
                    self.device, self.number
                ),
            )
        })
    }

    /// Sets what happens after a task failed: continue (false), or stop the whole context (true).
    ///
    /// # Errors
    /// `FeatureUnsupported`: stopping cannot be taken back.
    pub fn set_stop_on_failure(&self, stop: bool) -> Result<()> {
        if !stop && self.failure_mode.load(Ordering::Acquire) != 0 {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "stream {} stops on failure, which cannot be switched off",
                    self.number
                ),
            ));
        }
        if stop {
            self.failure_mode.store(1, Ordering::Release);
            self.failure.stops.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Sets whether kernels of the stream fail when a floating-point result is too large.
    pub fn set_overflow_detection(&self, enabled: bool) {
        self.detects_overflow.store(enabled, Ordering::Release);
    }

    /// Returns whether they do.
    pub fn detects_overflow(&self) -> bool {
        self.detects_overflow.load(Ordering::Acquire)
    }

    /// Returns whether the stream was set to stop its context when a task fails.
    pub fn stops_on_failure(&self) -> bool {
        self.failure_mode.load(Ordering::Acquire) != 0
    }

    /// Returns and clears the error of the last task that failed.
    pub fn take_error(&self) -> Option<Error> {
        self.outcome.has_error.store(false, Ordering::Release);
        self.outcome.error.lock().take()
    }

    /// Closes the stream: waits for its work, or drops what has not started.
    pub(crate) fn close(&self, wait: bool) {
        if !wait {
            self.queue.discard();
        }
        if self.state.fetch_or(CLOSED, Ordering::SeqCst) & CLOSED != 0 {
            return;
        }
        self.await_submitters();
        self.detach();
        self.queue.wait(self.queue.submitted(), None);
        if !wait {
            self.shared.reports.drop_pending(self);
        }
        self.shared.reports.forget(self);
        if let Some(device) = self.shared.devices.get(self.device as usize) {
            device.streams.give_back();
        }
    }
}
