//! Events: points in a stream that other streams and the host can wait for.
//!
//! Three families behave differently, as the runtime's rules say (specification, section 6):
//!
//! | | default | classic with `SYNC` or `EXTERNAL` | Ex |
//! |---|---|---|---|
//! | a wait refers to | the newest record when it was queued | a level: set by any record, cleared by a reset | the newest record when it was queued |
//! | a wait before any record | refused | blocks until a record | passes |
//! | reset | the next wait blocks until the next record | clears the level, in stream order | refused |
//!
//! A record is a signal of its own, so that moving the event to a newer record leaves queued waits alone. An event of several
//! processes (`ACL_EVENT_IPC`, of the family Ex) differs in two points: the signal of a record lies where the others see it, and the
//! newest record may be another process's.

mod fast_record;
mod model;
mod record;

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Instant;

use jumar_hal::sync::{Mutex, MutexGuard, Ordering};
use jumar_hal::{SharedLatch as _, Signal, Task, WaitThen};
use jumar_types::{Error, ErrorKind, Result};

use crate::capture::{EventAction, Mark, Taken};
use crate::device::Device;
use crate::gate::{Op, Phase, WaitEnd};
use crate::ipc_control_page::{
    IpcControlPage, Kind, Sequences, SharedRecord, wait_for_other_process,
};
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Stream};
use fast_record::FastRecord;
use record::{Point, Record, SignalFreeList};

/// How an event was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFamily {
    /// Made without flags: can be waited for, and keeps time.
    Default,
    /// Made with flags.
    Classic,
    /// Made by the extended call: no reset.
    Ex,
}

/// Flag bits of events.
pub mod flags {
    /// Streams can wait for it.
    pub const SYNC: u32 = 0x1;
    /// Tracks the progress of a capture.
    pub const CAPTURE_PROGRESS: u32 = 0x2;
    /// Keeps the time of its record.
    pub const TIME_LINE: u32 = 0x8;
    /// Only the device uses it.
    pub const DEVICE_USE_ONLY: u32 = 0x10;
    /// Orders a captured graph with the outside.
    pub const EXTERNAL: u32 = 0x20;
    /// Shared between processes.
    pub const IPC: u32 = 0x40;
}

/// What an event's newest record is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// Never recorded, or reset since.
    NotRecorded,
    /// Recorded; the stream has not got there yet.
    Pending,
    /// The stream got there.
    Complete,
}

/// An event.
pub struct Event {
    id: u64,
    number: u64,
    family: EventFamily,
    flags: u32,
    context_id: u64,
    device: Arc<Device>,
    counted: bool,
    shared: Arc<SharedRuntime>,
    /// Where other processes see the records, for an event that is made for several.
    sequences: Option<Sequences>,
    /// The level of a classic event that streams can wait for.
    level: Arc<Signal>,
    state: Mutex<State>,
    fast_record: FastRecord,
}

struct State {
    /// The number of the last epoch of records on the fast path.
    epoch: u64,
    newest: Option<Record>,
    /// The same record where other processes see it. Theirs may be newer.
    newest_shared: Option<Arc<SharedRecord>>,
    /// After a reset of a default event: what the next record will set and waits queued until then wait for.
    next: Option<Arc<Signal>>,
    /// Set when each queued wait has passed; for the query of waits.
    waits: Vec<Arc<Signal>>,
    spare: SignalFreeList,
    /// The newest record, if a capture has it.
    mark: Option<Mark>,
    /// Recorded on a stream that is bound to a model.
    in_model: bool,
    /// The flag that the first record, and the first wait, fixed.
    record_flag: Option<u32>,
    wait_flag: Option<u32>,
}

impl State {
    fn new() -> Self {
        State {
            epoch: 0,
            newest: None,
            newest_shared: None,
            next: None,
            waits: Vec::new(),
            spare: SignalFreeList::default(),
            mark: None,
            in_model: false,
            record_flag: None,
            wait_flag: None,
        }
    }
}

impl Event {
    pub(crate) fn create(
        context: &Arc<Context>,
        family: EventFamily,
        flags: u32,
    ) -> Result<Arc<Event>> {
        let shared = context.shared();
        let control_page = match flags & flags::IPC {
            0 => None,
            _ => {
                let hardware = context.device().hardware(shared)?;
                let control_page = IpcControlPage::create(Kind::Event, hardware, &shared.backend)?;
                Some(control_page)
            }
        };
        Event::with(context, family, flags, control_page)
    }

    pub(crate) fn import(context: &Arc<Context>, number: u64) -> Result<Arc<Event>> {
        let shared = context.shared();
        let hardware = context.device().hardware(shared)?;
        let control_page = IpcControlPage::adopt(Kind::Event, number, hardware, &shared.backend)?;
        Event::with(context, EventFamily::Ex, flags::IPC, Some(control_page))
    }

    fn with(
        context: &Arc<Context>,
        family: EventFamily,
        flags: u32,
        control_page: Option<Arc<IpcControlPage>>,
    ) -> Result<Arc<Event>> {
        let shared = context.shared();
        let device = context.device();
        // Default and Ex events take a hardware id only while a record is pending; the others from the start.
        let counted = family == EventFamily::Classic
            && flags & (flags::SYNC | flags::EXTERNAL | flags::DEVICE_USE_ONLY) != 0;
        if counted {
            device.events.take(ErrorKind::NoEventResource, "events")?;
        }
        let number = shared.event_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        shared
            .events
            .insert(|id| {
                Arc::new(Event {
                    id,
                    number,
                    family,
                    flags,
                    context_id: context.id(),
                    device: device.clone(),
                    counted,
                    shared: shared.clone(),
                    sequences: control_page.map(Sequences::new),
                    // A level is not timed: the record beside it is, where the event keeps time.
                    level: Arc::new(Signal::untimed()),
                    state: Mutex::new(State::new()),
                    fast_record: FastRecord::default(),
                })
            })
            .inspect_err(|_| {
                if counted {
                    device.events.give_back();
                }
            })
    }

    /// Returns the event's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the event's number for messages.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the family.
    pub fn family(&self) -> EventFamily {
        self.family
    }

    /// Returns the flags it was made with.
    #[inline]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Returns the handle of the context it was made in.
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// Returns whether streams can wait for it.
    pub fn can_be_waited_for(&self) -> bool {
        match self.family {
            EventFamily::Default => true,
            EventFamily::Classic => self.flags & (flags::SYNC | flags::EXTERNAL) != 0,
            EventFamily::Ex => self.flags & (flags::SYNC | flags::IPC) != 0,
        }
    }

    fn keeps_time(&self) -> bool {
        self.family == EventFamily::Default || self.flags & flags::TIME_LINE != 0
    }

    fn is_level(&self) -> bool {
        self.family == EventFamily::Classic && self.can_be_waited_for()
    }

    fn cannot_be_waited_for(&self) -> Error {
        Error::new(
            ErrorKind::FeatureUnsupported,
            format!(
                "event {} was made with flags {:#x}, which do not allow streams to wait for it",
                self.number, self.flags
            ),
        )
        .fix("Create the event with the SYNC flag, or without any flags.")
    }

    /// Records the event: it now stands for everything submitted to the stream so far.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn record(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        if let Some(epoch) = self.fast_record.epoch_on(stream.id())
            && let Some(position) = stream.submit_plain_set(caller, &self.level)
        {
            if FastRecord::holds(position) {
                self.fast_record.note(epoch, position);
                return Ok(());
            }
            // From now on the long way.
            let mut state = self.state();
            self.fast_record.end();
            if let Some(record) = &mut state.newest
                && record.stream_id == stream.id()
            {
                record.point = Point::Position(position);
            }
            return Ok(());
        }
        self.record_with_care(stream, caller)
    }

    /// Takes the lock, and adopts the records that the fast path noted.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if let Some(last_position) = self.fast_record.last_position()
            && let Some(Record {
                point: Point::Position(position),
                ..
            }) = &mut state.newest
        {
            *position = (*position).max(last_position);
        }
        state
    }

    #[inline(never)]
    fn record_with_care(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        let mut state = self.state();
        self.fast_record.end();
        let state = &mut *state;
        if let Some(recorder) = stream.recorder()
            && self.record_in_model(state, &recorder, stream, caller)?
        {
            return Ok(());
        }
        (state.mark, state.in_model) = (None, false);
        let number = self.shared.next_record();
        let op = || Op::Record {
            event: self.number,
            record: number,
        };
        let mut shared_record = None;
        let point = if self.is_level() && !self.keeps_time() {
            Point::Position(stream.queue_set(caller, self.level.clone(), op)?)
        } else {
            let signal = match (&state.next, &self.sequences) {
                (Some(next), _) => next.clone(),
                (None, None) => state.spare.take(self.keeps_time()),
                (None, Some(sequences)) => {
                    let record = Arc::new(sequences.next(stream.id())?);
                    shared_record = Some(record.clone());
                    Arc::new(Signal::shared(record))
                }
            };
            stream.queue_set(caller, signal.clone(), op)?;
            if let (Some(sequences), Some(record)) = (&self.sequences, &shared_record) {
                sequences.publish(record, stream.id());
            }
            if self.is_level() {
                stream.queue_part(caller, Task::Set(self.level.clone()));
            }
            Point::Signal(signal)
        };
        state.next = None;
        state.newest_shared = shared_record;
        // Probes number records, and see each.
        let fast_record = match point {
            Point::Position(position) => number == 0 && FastRecord::holds(position),
            Point::Signal(_) => false,
        };
        if fast_record {
            self.fast_record.begin(&mut state.epoch, stream.id());
        }
        let before = match &mut state.newest {
            Some(record) if record.stream_id == stream.id() => {
                record.number = number;
                std::mem::replace(&mut record.point, point)
            }
            newest => {
                let (stream_id, queue) = (stream.id(), stream.queue().clone());
                let record = Record {
                    number,
                    point,
                    stream_id,
                    queue,
                };
                match newest.replace(record) {
                    Some(before) => before.point,
                    None => return Ok(()),
                }
            }
        };
        state.spare.keep(before);
        Ok(())
    }

    /// Makes a stream wait for the event; the call itself does not wait. `limit` counts from the moment that the stream
    /// reaches the wait; an expired wait fails as a task of the stream.
    ///
    /// # Errors
    /// `FeatureUnsupported`: the event's flags do not allow waits; `InvalidValue`: a default event that was never recorded.
    pub fn wait(
        &self,
        stream: &Arc<Stream>,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        if !self.can_be_waited_for() {
            return Err(self.cannot_be_waited_for());
        }
        let limit = limit.or(*self.shared.wait_limit.lock());
        let mut state = self.state();
        if let Some(recorder) = stream.recorder() {
            if self.wait_in_model(&state, &recorder, stream, limit, caller)? {
                return Ok(());
            }
        } else if let Some(mark) = &state.mark
            && let Some(graph) = mark.open()
            && graph.join(stream, mark, self.task(0), caller)?
        {
            return Ok(());
        }
        let of_other_process = self
            .of_other_process(&state)
            .map(|record| Arc::new(Signal::shared(Arc::new(record))));
        let is_of_other_process = of_other_process.is_some();
        let newest = (self.family, &state.newest, &state.next, of_other_process);
        let (signal, record) = match newest {
            (.., Some(signal)) => (signal, 0),
            (EventFamily::Classic, newest, ..) => (
                self.level.clone(),
                newest.as_ref().map_or(0, |record| record.number),
            ),
            (EventFamily::Default, _, Some(next), None) => (next.clone(), 0),
            (EventFamily::Default | EventFamily::Ex, Some(record), ..) => {
                if record.stream_id == stream.id() {
                    return Ok(());
                }
                let signal = match &record.point {
                    Point::Signal(signal) => signal,
                    Point::Position(_) => &self.level,
                };
                (signal.clone(), record.number)
            }
            (EventFamily::Ex, None, ..) => return Ok(()),
            (EventFamily::Default, None, None, None) => {
                return Err(Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "event {} was never recorded, so stream {} has nothing to wait for",
                        self.number,
                        stream.number()
                    ),
                )
                .fix("Record the event before the wait is queued."));
            }
        };
        let ends = match (self.family, record) {
            (EventFamily::Classic, _) => WaitEnd::Level,
            (EventFamily::Ex, 0) if is_of_other_process => WaitEnd::Newest,
            (EventFamily::Default | EventFamily::Ex, 0) => WaitEnd::Unknown,
            (EventFamily::Default | EventFamily::Ex, _) => WaitEnd::Newest,
        };
        let op = || Op::Wait {
            event: self.number,
            record,
            ends,
        };
        stream.queue_with(
            caller,
            Task::Wait {
                signal,
                then: WaitThen::Keep,
                limit,
            },
            [],
            op,
        )?;
        if self.family != EventFamily::Ex {
            let passed = Arc::new(Signal::untimed());
            stream.queue_part(caller, Task::Set(passed.clone()));
            state.waits.retain(|wait| !wait.is_set());
            state.waits.push(passed);
        }
        Ok(())
    }

    /// Puts the event back to "not recorded", in the order of the stream.
    ///
    /// # Errors
    /// `FeatureUnsupported`: an Ex event, or one that streams cannot wait for.
    pub fn reset(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        if self.family == EventFamily::Ex {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "event {} is of the extended (Ex) family, whose events are not reset",
                    self.number
                ),
            )
            .fix("Record it again: later waits refer to the newer record."));
        }
        if !self.can_be_waited_for() {
            return Err(self.cannot_be_waited_for());
        }
        let mut state = self.state();
        self.fast_record.end();
        if let Some(recorder) = stream.recorder() {
            if self.family == EventFamily::Default {
                return Err(self.not_in_model(stream));
            }
            let task = Task::Clear(self.level.clone());
            if !matches!(
                recorder.reset_event(task, self.task(0), caller)?,
                Taken::NotRecording
            ) {
                return Ok(());
            }
        }
        let task = Task::Clear(self.level.clone());
        stream.queue_with(caller, task, [], || Op::ResetEvent { event: self.number })?;
        state.newest = None;
        state.next = (self.family == EventFamily::Default).then(|| Arc::new(Signal::new()));
        Ok(())
    }

    /// Records the event with a flag; the flag 1 makes an execution of the captured model record it for the outside.
    ///
    /// # Errors
    /// As [`Event::record`]; `InvalidValue`: an earlier record had another flag, or the model uses the event externally
    /// already; `FeatureUnsupported`: not an Ex event made with SYNC alone; `StreamNotCaptured`.
    pub fn record_with(
        self: &Arc<Self>,
        stream: &Stream,
        external: bool,
        caller: &Caller<'_>,
    ) -> Result<()> {
        self.fix_flag(true, u32::from(external))?;
        if !external {
            return self.record(stream, caller);
        }
        let recorder = self.external_on(stream)?;
        recorder
            .record_event(EventAction::External(self.clone()), self.task(1), caller)
            .map(drop)
    }

    /// Waits for the event with a flag; the flag 1 makes an execution of the captured model wait for the record that is
    /// the newest when it is queued.
    ///
    /// # Errors
    /// As [`Event::wait`], and as [`Event::record_with`].
    pub fn wait_with(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        external: bool,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        self.fix_flag(false, u32::from(external))?;
        if !external {
            return self.wait(stream, limit, caller);
        }
        let recorder = self.external_on(stream)?;
        recorder
            .wait_for_event(
                EventAction::External(self.clone()),
                None,
                self.task(1),
                caller,
            )
            .map(drop)
    }

    /// Returns the newest record if another process made it.
    fn of_other_process(&self, state: &State) -> Option<SharedRecord> {
        let newest = self.sequences.as_ref()?.newest()?;
        let is_own = |own: &Arc<SharedRecord>| own.is(&newest);
        (!state.newest_shared.as_ref().is_some_and(is_own)).then_some(newest)
    }

    /// Returns the signal of the newest record, if there is one.
    pub(crate) fn newest_record(&self) -> Option<Arc<Signal>> {
        self.state
            .lock()
            .newest
            .as_ref()
            .and_then(|record| match &record.point {
                Point::Signal(signal) => Some(signal.clone()),
                Point::Position(_) => None,
            })
    }

    /// Moves the event to a new record, which an execution of a model on the stream is going to set.
    pub(crate) fn move_record(&self, stream: &Stream) -> Arc<Signal> {
        let signal = Arc::new(Signal::untimed());
        let mut state = self.state();
        self.fast_record.end();
        state.newest = Some(Record {
            number: self.shared.next_record(),
            point: Point::Signal(signal.clone()),
            stream_id: stream.id(),
            queue: stream.queue().clone(),
        });
        signal
    }

    /// Refuses what an event whose newest record belongs to a capture cannot do.
    ///
    /// # Errors
    /// `EventCaptured`.
    pub fn refuse_captured(&self) -> Result<()> {
        let captured = self.state().mark.as_ref().and_then(Mark::open);
        match captured {
            None => Ok(()),
            Some(graph) => Err(Error::new(
                ErrorKind::EventCaptured,
                format!(
                    "event {} was recorded in the capture of model {}",
                    self.number,
                    graph.number()
                ),
            )),
        }
    }

    /// Returns whether the newest record is a task of a bound stream's model.
    pub fn is_in_model(&self) -> bool {
        self.state().in_model
    }

    /// Returns the status of the newest record. Never blocks.
    pub fn status(&self) -> EventStatus {
        let state = self.state();
        if let Some(record) = self.of_other_process(&state) {
            return match record.is_set() {
                true => EventStatus::Complete,
                false => EventStatus::Pending,
            };
        }
        let pending = match &state.newest {
            None => return EventStatus::NotRecorded,
            Some(record) if record.is_reached() => return EventStatus::Complete,
            Some(record) => record.clone(),
        };
        drop(state);
        pending.queue.poll();
        match pending.is_reached() {
            true => EventStatus::Complete,
            false => EventStatus::Pending,
        }
    }

    /// Returns whether every wait that was queued for the event has passed.
    pub fn waits_have_passed(&self) -> bool {
        self.state().waits.iter().all(|wait| wait.is_set())
    }

    /// Waits on the calling thread for the newest record; an event that was never recorded is done already. Errors of
    /// the stream's tasks are left to the stream's own synchronise.
    ///
    /// # Errors
    /// `EventTimeout`.
    pub fn synchronize(&self, limit: Option<Duration>, caller: &Caller<'_>) -> Result<()> {
        let (newest, of_other_process) = {
            let state = self.state();
            (state.newest.clone(), self.of_other_process(&state))
        };
        if let Some(record) = of_other_process {
            let until = limit.map(|limit| Instant::now() + limit);
            return match wait_for_other_process(&record, until)? {
                true => Ok(()),
                false => Err(self.is_late()),
            };
        }
        let Some(record) = newest else {
            return Ok(());
        };
        let stream = self.shared.streams.get(record.stream_id).ok();
        // A record that is still to come on a stream which waits for the callback that this thread is in never comes.
        let pending = stream.as_ref().filter(|_| !record.is_reached());
        if let Some(stream) = pending {
            stream.waits_for_others()?;
        }
        let aborts = pending.map(|stream| stream.aborts());
        let until = limit.map(|limit| Instant::now() + limit);
        let gate = &self.shared.gate;
        let op = || Op::WaitForEvent {
            event: self.number,
            record: record.number,
        };
        let ticket = gate.admit(caller, self.device.number(), None, op)?;
        gate.report(ticket, Phase::Started);
        let reached = match &record.point {
            Point::Signal(signal) => record.queue.wait_signal(signal, until),
            Point::Position(position) => record.queue.wait(*position, until),
        };
        gate.report(ticket, Phase::Finished);
        if !reached {
            return Err(self.is_late());
        }
        // The stream reports errors of tasks. A dropped record and a stopped context are reported here.
        if let (Some(stream), Some(before)) = (&stream, aborts) {
            stream.was_not_aborted(before)?;
        }
        stream.map_or(Ok(()), |stream| stream.refuse_stopped())
    }

    /// Answers the failure that stopped the context of the stream that the newest record is on, if one did.
    ///
    /// # Errors
    /// That failure.
    pub fn refuse_stopped(&self) -> Result<()> {
        let stream_id = self.state().newest.as_ref().map(|record| record.stream_id);
        match stream_id.and_then(|id| self.shared.streams.get(id).ok()) {
            Some(stream) => stream.refuse_stopped(),
            None => Ok(()),
        }
    }

    fn is_late(&self) -> Error {
        Error::new(
            ErrorKind::EventTimeout,
            format!("event {} did not complete in time", self.number),
        )
    }

    /// Lets other processes have the event. Returns the number by which they find it.
    ///
    /// # Errors
    /// `InvalidValue`: it was not made for several processes, or comes from another one itself.
    pub fn export(&self) -> Result<u64> {
        match &self.sequences {
            Some(sequences) => sequences.control_page().share(false),
            None => Err(Error::new(
                ErrorKind::InvalidValue,
                format!("event {} was not made with the IPC flag", self.number),
            )),
        }
    }

    /// Returns the time of the newest record.
    ///
    /// # Units
    /// Nanoseconds on the runtime's monotonic clock.
    ///
    /// # Errors
    /// `EventNotRecorded`; `EventTimestamp`: not complete, or made without the time-line flag.
    pub fn time_ns(&self) -> Result<u64> {
        let state = self.state();
        let Some(record) = &state.newest else {
            return Err(Error::new(
                ErrorKind::EventNotRecorded,
                format!(
                    "event {} was never recorded, so it has no time",
                    self.number
                ),
            ));
        };
        if !self.keeps_time() {
            return Err(Error::new(
                ErrorKind::EventTimestamp,
                format!(
                    "event {} was made with flags {:#x}, without TIME_LINE",
                    self.number, self.flags
                ),
            ));
        }
        let stamp_ns = match &record.point {
            Point::Signal(signal) => signal.stamp_ns(),
            Point::Position(_) => None,
        };
        stamp_ns.ok_or_else(|| {
            Error::new(
                ErrorKind::EventTimestamp,
                format!(
                    "event {} is recorded, but its stream has not got there yet",
                    self.number
                ),
            )
        })
    }

    /// Destroys the event at once; records and waits that are queued keep what they need.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy(&self, caller: &Caller<'_>) -> Result<()> {
        self.shared.events.remove(self.id, caller.call.name)?;
        if self.counted {
            self.device.events.give_back();
        }
        Ok(())
    }
}

/// Returns the time from `start` to `end`, negative when `end` came first.
///
/// # Units
/// Milliseconds.
///
/// # Errors
/// As [`Event::time_ns`], of either event.
pub fn elapsed_ms(start: &Event, end: &Event) -> Result<f32> {
    // A missing record is reported before a missing time, for either event.
    let (start, end) = match (start.time_ns(), end.time_ns()) {
        (Ok(start), Ok(end)) => (start, end),
        (Err(error), _) if error.kind() == ErrorKind::EventNotRecorded => return Err(error),
        (_, Err(error)) if error.kind() == ErrorKind::EventNotRecorded => return Err(error),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    Ok((end as i64 - start as i64) as f32 / 1e6)
}
