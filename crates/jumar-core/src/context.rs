//! A context: the streams that belong together on a device, and how they behave when a task fails.
//!
//! Life: alive, then dead forever. `tear_down` runs once; it takes the streams out, waits for their work, and makes
//! their handles stale. Threads that still name the context get `NoContext` from whatever they try next.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Instant;

use jumar_hal::sync::{AtomicBool, Mutex, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use crate::capture::Captures;
use crate::device::Device;
use crate::gate::{Op, Phase};
use crate::kernel::Overflow;
use crate::memory::Block;
use crate::runtime::SharedRuntime;
use crate::stream::StreamOptions;
use crate::{Caller, CountNotify, Event, EventFamily, Notify, Stream};
use jumar_hal::{Backend, FileImage, FileMapping, Span};

/// A context.
pub struct Context {
    id: u64,
    device: Arc<Device>,
    primary: bool,
    /// The life of the device that it was made in.
    epoch: u64,
    shared: Arc<SharedRuntime>,
    dead: AtomicBool,
    tearing_down: AtomicBool,
    default_stream: Mutex<Option<Arc<Stream>>>,
    streams: Mutex<Vec<Arc<Stream>>>,
    pub(crate) failure: Arc<Failure>,
    pub(crate) overflow: Arc<Overflow>,
    pub(crate) captures: Arc<Captures>,
}

/// What a context does after a task failed.
#[derive(Default)]
pub(crate) struct Failure {
    /// Set once a stream asked to stop on failure; it cannot be taken back.
    pub(crate) stops: AtomicBool,
    /// The first failure in stop mode; every later call answers it.
    pub(crate) first: Mutex<Option<Error>>,
}

impl Failure {
    /// In stop mode, answers the failure that stopped the context.
    #[inline]
    pub(crate) fn refuse(&self) -> Result<()> {
        if !self.stops.load(Ordering::Acquire) {
            return Ok(());
        }
        self.refuse_if_stopped()
    }

    #[cold]
    fn refuse_if_stopped(&self) -> Result<()> {
        match self.first.lock().clone() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The threads among which work on a device may be split.
#[derive(Clone)]
pub struct Team(Arc<dyn Backend>);

impl Team {
    /// Returns how many there are at most, the calling one counted.
    pub fn threads(&self) -> usize {
        self.0.sharers()
    }

    /// Calls `work` once for each part from 0 on, in no order, on this thread and on others that are free.
    pub fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.0.share(parts, work);
    }

    /// Writes zeros. Memory that has no pages yet gets none.
    pub fn clear(&self, to: Span) {
        self.0.fill_now(to, 0);
    }
}

impl Context {
    pub(crate) fn create(
        shared: &Arc<SharedRuntime>,
        device: Arc<Device>,
        primary: bool,
    ) -> Result<Arc<Context>> {
        device.hardware(shared)?;
        let epoch = device.epoch.enter();
        let made = shared.contexts.insert(|id| {
            Arc::new(Context {
                id,
                device: device.clone(),
                primary,
                epoch,
                shared: shared.clone(),
                dead: AtomicBool::new(false),
                tearing_down: AtomicBool::new(false),
                default_stream: Mutex::new(None),
                streams: Mutex::default(),
                failure: Arc::default(),
                overflow: Arc::default(),
                captures: Arc::default(),
            })
        });
        let context = made.inspect_err(|_| device.epoch.leave())?;
        match Stream::create(&context, StreamOptions::default(), true) {
            Ok(stream) => *context.default_stream.lock() = Some(stream),
            Err(error) => {
                context.tear_down("the failed creation of its default stream", NO_PATIENCE);
                if primary {
                    device.epoch.leave();
                }
                return Err(error);
            }
        }
        Ok(context)
    }

    /// Returns the context's handle.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns whether it is the device's primary context.
    pub fn is_primary(&self) -> bool {
        self.primary
    }

    /// Returns the life of the device that the context was made in.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns whether the context was torn down.
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Acquire)
    }

    /// Returns the threads among which work on the device may be split.
    pub fn team(&self) -> Team {
        Team(self.shared.backend.clone())
    }

    pub(crate) fn shared(&self) -> &Arc<SharedRuntime> {
        &self.shared
    }

    pub(crate) fn alive(&self) -> Result<()> {
        match self.is_dead() {
            true => Err(self.gone()),
            false => Ok(()),
        }
    }

    fn gone(&self) -> Error {
        Error::new(
            ErrorKind::NoContext,
            format!(
                "the context of device {} was destroyed",
                self.device.number()
            ),
        )
    }

    /// Returns the default stream.
    ///
    /// # Errors
    /// `NoContext`: the context is gone.
    pub fn default_stream(&self) -> Result<Arc<Stream>> {
        self.alive()?;
        self.default_stream.lock().clone().ok_or_else(|| {
            Error::new(
                ErrorKind::NoContext,
                "the context is being torn down".to_owned(),
            )
        })
    }

    /// Lists the handles of the streams that were made in the context, without the default stream's.
    pub fn stream_ids(&self) -> Vec<u64> {
        self.streams
            .lock()
            .iter()
            .map(|stream| stream.id())
            .collect()
    }

    /// Drops the tasks of every stream, the default stream included, and forgets their failures. False when what runs did not
    /// end in time.
    pub(crate) fn abort(&self, until: Option<Instant>) -> bool {
        let default = self.default_stream.lock().clone();
        let streams: Vec<_> = default
            .into_iter()
            .chain(self.streams.lock().iter().cloned())
            .collect();
        for stream in &streams {
            stream.abort_with_device();
        }
        let ended = streams.iter().all(|stream| match until {
            Some(until) => stream.idle_until(until),
            None => stream.idle(),
        });
        for stream in &streams {
            drop(stream.take_error());
        }
        *self.failure.first.lock() = None;
        ended
    }

    /// Waits until every stream is idle. False when one was not in time.
    pub(crate) fn idle_until(&self, until: Instant) -> bool {
        let default = self.default_stream.lock().clone();
        let streams: Vec<_> = default
            .into_iter()
            .chain(self.streams.lock().iter().cloned())
            .collect();
        streams.iter().all(|stream| stream.idle_until(until))
    }

    /// Waits until every stream is idle, or blocked by a wait. False when one was not in time.
    pub(crate) fn quiet_until(&self, until: Instant) -> bool {
        let default = self.default_stream.lock().clone();
        let streams: Vec<_> = default
            .into_iter()
            .chain(self.streams.lock().iter().cloned())
            .collect();
        streams.iter().all(|stream| stream.quiet_until(until))
    }

    /// Returns the failure that stopped the context, if one did.
    pub fn failure(&self) -> Option<Error> {
        self.failure.refuse().err()
    }

    /// Makes a stream.
    ///
    /// # Errors
    /// `NoContext`, `NoStreamResource`.
    pub fn create_stream(self: &Arc<Self>, options: StreamOptions) -> Result<Arc<Stream>> {
        self.alive()?;
        let stream = Stream::create(self, options, false)?;
        let mut streams = self.streams.lock();
        if !self.is_dead() {
            streams.push(stream.clone());
            return Ok(stream);
        }
        drop(streams);
        // The teardown took the list before the stream was on it, so the stream is taken back here.
        drop(
            self.shared
                .streams
                .remove(stream.id(), "the end of its context"),
        );
        stream.close(false);
        Err(self.gone())
    }

    /// Destroys a stream: after its work (`wait`), or dropping what has not started.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy_stream(
        &self,
        stream: &Arc<Stream>,
        wait: bool,
        caller: &Caller<'_>,
    ) -> Result<()> {
        if wait {
            stream.waits_for_others()?;
        }
        self.shared.streams.remove(stream.id(), caller.call.name)?;
        self.streams
            .lock()
            .retain(|other| !Arc::ptr_eq(other, stream));
        stream.close(wait);
        Ok(())
    }

    /// Makes an event.
    ///
    /// # Errors
    /// `NoContext`, `NoEventResource`.
    pub fn create_event(self: &Arc<Self>, family: EventFamily, flags: u32) -> Result<Arc<Event>> {
        self.alive()?;
        Event::create(self, family, flags)
    }

    /// Makes a notify.
    ///
    /// # Errors
    /// `NoContext`, `NoNotifyResource`.
    pub fn create_notify(self: &Arc<Self>) -> Result<Arc<Notify>> {
        self.alive()?;
        Notify::create(self)
    }

    /// Makes a counting notify.
    ///
    /// # Errors
    /// `NoContext`, `NoNotifyResource`.
    pub fn create_count_notify(self: &Arc<Self>) -> Result<Arc<CountNotify>> {
        self.alive()?;
        CountNotify::create(self)
    }

    /// Takes a notify that another process shares.
    ///
    /// # Errors
    /// `NoContext`, `NoNotifyResource`; `InvalidValue`: why it cannot be had.
    pub fn import_notify(self: &Arc<Self>, number: u64) -> Result<Arc<Notify>> {
        self.alive()?;
        Notify::import(self, number)
    }

    /// Takes an event that another process shares.
    ///
    /// # Errors
    /// `NoContext`, `NoEventResource`; `InvalidValue`: why it cannot be had.
    pub fn import_event(self: &Arc<Self>, number: u64) -> Result<Arc<Event>> {
        self.alive()?;
        Event::import(self, number)
    }

    /// Allocates device memory: `bytes` usable, `reserve` counted against the device.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`.
    pub fn allocate(&self, bytes: usize, reserve: usize, caller: &Caller<'_>) -> Result<Block> {
        self.alive()?;
        self.device.allocate(
            &self.shared,
            self.epoch,
            bytes,
            reserve.max(bytes),
            64,
            caller,
        )
    }

    /// Allocates device memory of `bytes` and `padding` more, which the program may use and did not ask for.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`.
    pub fn allocate_padded(&self, bytes: usize, padding: u8, caller: &Caller<'_>) -> Result<Block> {
        let usable = bytes.saturating_add(usize::from(padding));
        let mut block = self.allocate(usable, usable, caller)?;
        self.shared.space.note_padding(&mut block, padding);
        Ok(block)
    }

    /// Allocates device memory in which a part of a file stands: nothing is copied, and pages come when they are touched.
    ///
    /// # Ownership
    /// Freed as any other device memory. The file may be closed.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`; `FeatureUnsupported`: the device's memory cannot hold it, which has to be copied then.
    pub fn allocate_file(
        &self,
        image: &FileImage,
        caller: &Caller<'_>,
    ) -> Result<(Block, Arc<dyn FileMapping>)> {
        let block = self.allocate_aligned(image.bytes, FileImage::PAGE, caller)?;
        let mapped = self
            .device
            .hardware(&self.shared)
            .and_then(|hardware| hardware.map_file(block.span, image));
        match mapped {
            Ok(mapping) => Ok((block, mapping)),
            Err(error) => {
                self.free(block.span.address(), caller)?;
                Err(error)
            }
        }
    }

    pub(crate) fn allocate_aligned(
        &self,
        bytes: usize,
        align: usize,
        caller: &Caller<'_>,
    ) -> Result<Block> {
        self.alive()?;
        self.device
            .allocate(&self.shared, self.epoch, bytes, bytes, align, caller)
    }

    /// Frees device memory, at once, without waiting for any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the address is not the start of a live allocation of device memory.
    pub fn free(&self, address: usize, caller: &Caller<'_>) -> Result<()> {
        self.shared.free_device(address, caller)
    }

    /// Has captured models call [`Program::check`](jumar_hal::Program::check) of their tasks before their next execution: something that
    /// recorded programs need was released.
    pub fn recheck_captured(&self) {
        self.shared.space.invalidate();
    }

    /// Returns the device memory that holds the context's overflow state: all zero until a kernel of the context met a
    /// floating-point result that was too large, or divided by zero.
    ///
    /// # Errors
    /// `NoContext`, `OutOfMemory`.
    pub fn overflow_state(&self) -> Result<Span> {
        self.alive()?;
        self.overflow.state(&self.shared, &self.device)
    }

    /// Copies Rust's own bytes to the start of a span, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the bytes do not fit, or the span is not live.
    pub fn write(&self, to: Span, bytes: &[u8], caller: &Caller<'_>) -> Result<()> {
        crate::copy::write_now(&self.shared, to, bytes, caller)
    }

    /// Runs `write`, which writes all of a span itself: as a copy from the host, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the span is not live; `write` is not called then.
    pub fn write_by(&self, to: Span, caller: &Caller<'_>, write: impl FnOnce()) -> Result<()> {
        crate::copy::write_by(&self.shared, to, caller, write)
    }

    /// Copies the start of a span into Rust's own bytes, at once, in no order with any stream.
    ///
    /// # Errors
    /// As [`Runtime::read`](crate::Runtime::read).
    pub fn read(&self, from: Span, bytes: &mut [u8], caller: &Caller<'_>) -> Result<()> {
        crate::copy::read_now(&self.shared, from, bytes, caller)
    }

    /// Waits for every stream of the context, the default stream included. The first error found is returned after all
    /// of them were waited for.
    ///
    /// # Errors
    /// `NoContext`, `StreamTimeout`, or what a task failed with.
    pub fn synchronize(&self, limit: Option<Duration>, caller: &Caller<'_>) -> Result<()> {
        self.alive()?;
        if self.captures.any() {
            return Err(Error::new(
                ErrorKind::StreamCaptured,
                "a stream of the context is being captured, so the context cannot be waited for",
            ));
        }
        let default = self.default_stream.lock().clone();
        let streams: Vec<_> = default
            .into_iter()
            .chain(self.streams.lock().iter().cloned())
            .collect();
        for stream in &streams {
            stream.waits_for_others()?;
        }
        let until = limit.map(|limit| Instant::now() + limit);
        let gate = &self.shared.gate;
        let numbers: Vec<u32> = match gate.is_observed() {
            true => streams.iter().map(|stream| stream.number()).collect(),
            false => Vec::new(),
        };
        let op = || Op::WaitForContext { streams: &numbers };
        let ticket = gate.admit(caller, self.device.number(), None, op)?;
        gate.report(ticket, Phase::Started);
        let mut result = Ok(());
        for stream in streams {
            result = result.and(stream.drain(until));
        }
        self.shared.drain_pools();
        // An expired wait does not count as a wait.
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

    /// Refuses what could break a capture that is under way in the context: a wait of the host, or work that is done at once.
    ///
    /// # Errors
    /// `CaptureForbids`.
    pub fn forbid_while_captured(&self, caller: &Caller<'_>) -> Result<()> {
        match self.captures.blocking(caller) {
            None => Ok(()),
            Some(stream) => Err(Error::new(
                ErrorKind::CaptureForbids,
                format!(
                    "stream {stream} of the context is being captured, in a mode that forbids this thread work that is done at once"
                ),
            )),
        }
    }

    /// Destroys an explicit context.
    ///
    /// # Errors
    /// `NoContext`: it is the primary one, or gone; `ContextReleased`: another thread is at it.
    pub fn destroy(&self, caller: &Caller<'_>) -> Result<()> {
        if self.primary {
            return Err(Error::new(
                ErrorKind::NoContext,
                format!(
                    "the primary context of device {} belongs to the device",
                    self.device.number()
                ),
            )
            .fix("Release it by resetting the device."));
        }
        if !self.tear_down(caller.call.name, PATIENCE) {
            // It stays in the table until its teardown is done.
            if self.shared.contexts.get(self.id).is_err() {
                return self.alive();
            }
            return Err(Error::new(
                ErrorKind::ContextReleased,
                format!(
                    "another thread is destroying this context of device {}",
                    self.device.number()
                ),
            )
            .fix("One thread destroys a context; the others only stop using it."));
        }
        Ok(())
    }

    /// Destroys the context once. Returns false if another thread already does.
    pub(crate) fn tear_down(&self, by: &'static str, mut patience: Duration) -> bool {
        if self.tearing_down.swap(true, Ordering::AcqRel) {
            return false;
        }
        // Dead before anything is taken: a stream or a graph that another thread is making is either found here, or its maker
        // finds the context dead once it has put it where this looks. The lock orders that for streams, the table's for graphs.
        let streams = {
            let mut streams = self.streams.lock();
            self.dead.store(true, Ordering::Release);
            std::mem::take(&mut *streams)
        };
        self.captures.discard_all(by);
        for graph in self.shared.graphs.all() {
            if graph.context_id() == self.id {
                graph.discard(by);
            }
        }
        // Submits stop first, then what was queued is done: nothing that was accepted is lost. A stream that waits for
        // something that can no longer come must not hold the teardown forever, hence the second, forced, round.
        let default = self.default_stream.lock().take();
        let all: Vec<_> = streams.into_iter().chain(default).collect();
        for stream in &all {
            drop(self.shared.streams.remove(stream.id(), by));
        }
        // Streams that are stuck may be so for one another's sake, so that one patience is enough for all.
        let mut blocked = Vec::new();
        let forced = patience <= NO_PATIENCE;
        for stream in &all {
            // What runs forever would hold the teardown forever, too.
            if forced && !stream.idle_until(Instant::now() + patience) {
                stream.interrupt();
            }
            if !stream.idle_or_blocked(patience) {
                patience = Duration::from_millis(1);
                blocked.push(stream);
            }
        }
        for stream in blocked {
            stream.close(false);
        }
        for stream in &all {
            stream.close(true);
        }
        self.overflow.drop_state(&self.shared, &self.device);
        drop(self.shared.contexts.remove(self.id, by));
        // The primary one left when its last use ended.
        if !self.primary {
            self.device.epoch.leave();
        }
        true
    }
}

/// How long a teardown waits for a stream that waits for something itself before it drops what has not started.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// The same where the program said that it does not care for what is pending.
pub(crate) const NO_PATIENCE: Duration = Duration::from_millis(100);
