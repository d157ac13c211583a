//! A stream: work in order, beside the program and beside other streams.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use jumar_core::sync::Mutex;
use jumar_core::{Caller, Op, Phase, Signal};
use jumar_types::{Error, ErrorKind, Result};

use crate::buffer::{DevicePart, Memory, OnDevice, PinnedBuffer};
use crate::call::{self, by};
use crate::context::{self, Context, refuse_in_host_function};
use crate::element::Element;
use crate::event::Event;
use crate::pending::Pending;
use crate::runtime::{Access, InHostFunction, Inner, wait_elsewhere};

/// A stream. A clone refers to the same stream.
///
/// Tasks run in the order of submission, after the call returned. Different streams run concurrently unless an event
/// orders them. An error of a task is returned by the next call that waits for the stream.
///
/// ```
/// use jumar::{DeviceBuffer, PinnedBuffer, Runtime};
///
/// let runtime = Runtime::new()?;
/// let context = runtime.device(0)?.context()?;
/// let stream = context.stream()?;
/// let device = DeviceBuffer::<i32>::new(&context, 4)?;
///
/// let pending = stream.upload(PinnedBuffer::from_slice(&runtime, &[1, 2, 3, 4])?, &device)?;
/// // ... the program continues meanwhile ...
/// let host = pending.wait()?;
///
/// let host = stream.download(&device, host)?.wait()?;
/// assert_eq!(host.to_vec(), [1, 2, 3, 4]);
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// It holds its context. Dropping the last name waits for what was submitted.
///
/// # Threads
/// Any thread may submit. Threads that wait help with the work.
#[derive(Clone)]
pub struct Stream {
    pub(crate) inner: Arc<SharedStream>,
}

/// What the names of a stream share.
pub(crate) struct SharedStream {
    pub(crate) context: Arc<context::SharedContext>,
    pub(crate) core: Arc<jumar_core::Stream>,
    panicked: Arc<Mutex<Option<Error>>>,
}

impl Stream {
    pub(crate) fn new(
        context: Arc<context::SharedContext>,
        core: Arc<jumar_core::Stream>,
    ) -> Stream {
        Stream {
            inner: Arc::new(SharedStream {
                context,
                core,
                panicked: Arc::default(),
            }),
        }
    }

    /// Returns the stream's context.
    pub fn context(&self) -> Context {
        Context {
            inner: self.inner.context.clone(),
        }
    }

    /// Returns the stream's number, which messages and timelines name it by.
    pub fn number(&self) -> u32 {
        self.inner.core.number()
    }

    /// Queues a copy of a whole pinned buffer to a device buffer of the same length.
    ///
    /// The pinned buffer is given away until the copy is done. To send the same elements often, pass an `Arc` of it.
    ///
    /// # Ownership
    /// [`Pending::wait`] returns the pinned buffer.
    ///
    /// # Errors
    /// `InvalidValue`: the lengths differ; `InvalidDevice`: the device buffer lies on another device; `InvalidHandle`: a
    /// buffer belongs to another runtime. The pinned buffer is dropped then.
    pub fn upload<D: OnDevice, P>(&self, from: P, to: &D) -> Result<Pending<P>>
    where
        P: Borrow<PinnedBuffer<D::Element>> + 'static,
    {
        let done = by(&call::UPLOAD, |caller| {
            self.queue_upload(from.borrow(), to.as_part(), caller)
        })?;
        Ok(Pending::new(from, self.clone(), done))
    }

    /// Queues a copy of a device buffer to a whole pinned buffer of the same length.
    ///
    /// # Ownership
    /// [`Pending::wait`] returns the pinned buffer.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn download<D: OnDevice>(
        &self,
        from: &D,
        into: PinnedBuffer<D::Element>,
    ) -> Result<Pending<PinnedBuffer<D::Element>>> {
        let done = by(&call::DOWNLOAD, |caller| {
            self.queue_download(from.as_part(), &into, caller)
        })?;
        Ok(Pending::new(into, self.clone(), done))
    }

    /// Queues a copy between device buffers of the same length; they may be parts of one buffer, and overlap.
    ///
    /// # Errors
    /// `InvalidValue`: the lengths differ; `InvalidDevice`: neither buffer lies on the stream's device; `InvalidHandle`: a
    /// buffer belongs to another runtime.
    pub fn copy<F: OnDevice, D: OnDevice<Element = F::Element>>(
        &self,
        from: &F,
        to: &D,
    ) -> Result<()> {
        let (from, to) = (from.as_part(), to.as_part());
        by(&call::COPY, |caller| {
            self.same_length(from.len(), to.len())?;
            self.owns(from.memory)?;
            self.owns(to.memory)?;
            if to.device != self.device() {
                self.reaches(from.device)?;
            }
            self.submit(&[from.memory], &[to.memory], caller, |core| {
                match from.is_empty() {
                    true => Ok(()),
                    false => core.copy(to.span(), from.span(), caller),
                }
            })
            .map(drop)
        })
    }

    /// Queues a fill of a device buffer: every byte of it gets the value.
    ///
    /// # Errors
    /// `InvalidDevice`: the buffer lies on another device; `InvalidHandle`: it belongs to another runtime.
    pub fn fill<D: OnDevice>(&self, to: &D, byte: u8) -> Result<()> {
        let to = to.as_part();
        by(&call::FILL, |caller| {
            self.owns(to.memory)?;
            self.reaches(to.device)?;
            self.submit(&[], &[to.memory], caller, |core| match to.is_empty() {
                true => Ok(()),
                false => core.fill(to.span(), byte, caller),
            })
            .map(drop)
        })
    }

    /// Queues a copy of ordinary host memory to a device buffer of the same length. The elements are kept aside before the call
    /// returns, so that they may be changed at once.
    ///
    /// # Threads
    /// Blocks only for more than 16 MiB, while earlier parts are copied.
    ///
    /// # Errors
    /// `InvalidValue`: the lengths differ; `InvalidDevice`: the buffer lies on another device; `InvalidHandle`: it belongs to
    /// another runtime; `OutOfMemory`: not enough memory to keep the elements.
    pub fn write<D: OnDevice>(&self, to: &D, elements: &[D::Element]) -> Result<()> {
        let to = to.as_part();
        by(&call::WRITE, |caller| {
            self.same_length(elements.len(), to.len())?;
            let mut before: Option<Arc<Signal>> = None;
            let chunks = elements.chunks(crate::buffer::chunk_len::<D::Element>());
            for (part, chunk) in to.chunks().zip(chunks) {
                let kept = PinnedBuffer::keep(self.runtime(), chunk)?;
                let done = self.queue_upload(&kept, part, caller)?;
                if let Some(before) = before.replace(done) {
                    refuse_in_host_function()?;
                    self.inner.core.wait_for(&before);
                }
            }
            Ok(())
        })
    }

    /// Reads a device buffer after everything that was submitted to the stream before.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// What a task of the stream failed with, as [`Stream::synchronize`]; `InvalidDevice`: the buffer lies on another device;
    /// `InvalidHandle`: it belongs to another runtime; `OutOfMemory`: not enough memory to keep the elements; `CallbackFailed`: called
    /// in a host function.
    pub fn read<D: OnDevice>(&self, from: &D) -> Result<Vec<D::Element>> {
        let mut elements = vec![bytemuck::Zeroable::zeroed(); from.as_part().len()];
        self.read_into(from, &mut elements)?;
        Ok(elements)
    }

    /// Reads a device buffer into a slice of the same length, after everything that was submitted to the stream before.
    ///
    /// # Threads
    /// As [`Stream::read`].
    ///
    /// # Errors
    /// As [`Stream::read`]; `InvalidValue`: the lengths differ.
    pub fn read_into<D: OnDevice>(&self, from: &D, into: &mut [D::Element]) -> Result<()> {
        let from = from.as_part();
        by(&call::READ, |caller| {
            self.same_length(from.len(), into.len())?;
            self.owns(from.memory)?;
            self.reaches(from.device)?;
            let chunks = into.chunks_mut(crate::buffer::chunk_len::<D::Element>());
            for (part, chunk) in from.chunks().zip(chunks) {
                let kept = PinnedBuffer::unwritten(self.runtime(), chunk.len())?;
                self.queue_download(part, &kept, caller)?;
                self.drain(None, caller)?;
                kept.read(0, chunk)?;
            }
            if from.is_empty() {
                self.drain(None, caller)
            } else {
                Ok(())
            }
        })
    }

    /// Records an event: it now stands for everything submitted to the stream so far.
    ///
    /// # Errors
    /// `InvalidHandle`: the event belongs to another runtime.
    pub fn record(&self, event: &Event) -> Result<()> {
        by(&call::RECORD, |caller| {
            self.owns_event(event)?;
            event.inner.core.record(&self.inner.core, caller)
        })
    }

    /// Holds the stream until the event's newest record was reached; the call itself does not wait.
    ///
    /// `limit` counts from the moment that the stream gets there. A wait that expires fails as a task of the stream with
    /// `WaitTimeout`, and the stream continues.
    ///
    /// # Errors
    /// `EventNotRecorded`: there is no record to wait for; `InvalidHandle`: the event belongs to another runtime.
    pub fn wait(&self, event: &Event, limit: Option<Duration>) -> Result<()> {
        by(&call::WAIT, |caller| {
            self.owns_event(event)?;
            event.needs_record()?;
            event.inner.core.wait(&self.inner.core, limit, caller)
        })
    }

    /// Queues a function of the program. The stream is blocked until it returns; it runs on a thread that belongs to the stream.
    ///
    /// A function that waits for a stream gets an error, because its own stream waits for it. A panic in it is an error of the
    /// stream, `CallbackFailed`.
    ///
    /// # Errors
    /// `RuntimeInternal`: no thread could be made.
    pub fn call(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        let panicked = self.inner.panicked.clone();
        let number = self.number();
        // Queued once, so called once.
        let once = Mutex::new(Some(function));
        let guarded = move || {
            let Some(function) = once.lock().take() else {
                return;
            };
            let _here = InHostFunction::enter();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(function)) {
                let sentence = format!(
                    "a host function of stream {number} panicked: {}",
                    panic_text(&*panic)
                );
                let error =
                    Error::new(ErrorKind::CallbackFailed, sentence).operation(call::CALL.name);
                panicked.lock().get_or_insert(error);
            }
        };
        by(&call::CALL, |caller| {
            self.runtime().core.reports().launch_host_function(
                &self.inner.core,
                Box::new(guarded),
                caller,
            )
        })
    }

    /// Waits for everything submitted so far, at most for `limit`.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// The error of a task that failed since the last call that reported one; `StreamTimeout`: not done within `limit`;
    /// `CallbackFailed`: a host function panicked, or this is called in one.
    pub fn synchronize(&self, limit: Option<Duration>) -> Result<()> {
        by(&call::SYNCHRONIZE, |caller| self.drain(limit, caller))
    }

    /// Returns whether everything submitted so far is done. Never blocks, and reports no error.
    pub fn is_idle(&self) -> bool {
        self.inner.core.is_idle()
    }

    /// Runs a function that may queue copies from and to borrowed pinned buffers, and waits for the stream at its end, whether
    /// it returns, fails or panics.
    ///
    /// ```
    /// # use jumar::{DeviceBuffer, PinnedBuffer, Runtime};
    /// # let runtime = Runtime::new()?;
    /// # let context = runtime.device(0)?.context()?;
    /// # let stream = context.stream()?;
    /// let source = PinnedBuffer::from_slice(&runtime, &[7u8; 16])?;
    /// let mut target = PinnedBuffer::<u8>::zeroed(&runtime, 16)?;
    /// let device = DeviceBuffer::<u8>::new(&context, 16)?;
    /// stream.scope(|scope| {
    ///     scope.upload(&source, &device)?;
    ///     scope.download(&device, &mut target)
    /// })?;
    /// assert_eq!(target.to_vec(), [7; 16]);
    /// # Ok::<(), jumar::Error>(())
    /// ```
    ///
    /// A buffer cannot be touched while the scope may copy it:
    ///
    /// ```compile_fail,E0502
    /// # use jumar::{DeviceBuffer, PinnedBuffer, Runtime};
    /// # let runtime = Runtime::new()?;
    /// # let context = runtime.device(0)?.context()?;
    /// # let stream = context.stream()?;
    /// # let mut target = PinnedBuffer::<u8>::zeroed(&runtime, 16)?;
    /// # let device = DeviceBuffer::<u8>::new(&context, 16)?;
    /// stream.scope(|scope| {
    ///     scope.download(&device, &mut target)?;
    ///     println!("{:?}", target.to_vec()); // not before the scope has ended
    ///     Ok(())
    /// })?;
    /// # Ok::<(), jumar::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the function returns; what a task of the stream failed with, as [`Stream::synchronize`].
    pub fn scope<'env, R>(&'env self, work: impl FnOnce(&Scope<'env>) -> Result<R>) -> Result<R> {
        refuse_in_host_function().map_err(|error| error.operation(call::SCOPE.name))?;
        let scope = Scope {
            stream: self,
            env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
        let waited = by(&call::SCOPE, |caller| {
            let done = Arc::new(Signal::untimed());
            self.inner.core.mark(done.clone(), caller);
            self.reach(&done, caller)?;
            self.inner.take_error()
        });
        match result {
            Ok(result) => result.and_then(|value| waited.map(|()| value)),
            Err(panic) => resume_unwind(panic),
        }
    }

    pub(crate) fn runtime(&self) -> &Arc<Inner> {
        &self.inner.context.runtime
    }

    pub(crate) fn device(&self) -> u32 {
        self.inner.core.device()
    }

    fn queue_upload<T: Element>(
        &self,
        from: &PinnedBuffer<T>,
        to: DevicePart<'_, T>,
        caller: &Caller<'_>,
    ) -> Result<Arc<Signal>> {
        self.same_length(from.len(), to.len())?;
        self.owns(&from.memory)?;
        self.owns(to.memory)?;
        self.reaches(to.device)?;
        self.submit(&[&from.memory], &[to.memory], caller, |core| {
            match to.is_empty() {
                true => Ok(()),
                false => core.copy(to.span(), from.span(), caller),
            }
        })
    }

    fn queue_download<T: Element>(
        &self,
        from: DevicePart<'_, T>,
        into: &PinnedBuffer<T>,
        caller: &Caller<'_>,
    ) -> Result<Arc<Signal>> {
        self.same_length(from.len(), into.len())?;
        self.owns(&into.memory)?;
        self.owns(from.memory)?;
        self.reaches(from.device)?;
        self.submit(&[from.memory], &[&into.memory], caller, |core| {
            match from.is_empty() {
                true => Ok(()),
                false => core.copy(into.span(), from.span(), caller),
            }
        })
    }

    /// Submits a task that reads and writes memory, and notes that it does.
    pub(crate) fn submit(
        &self,
        reads: &[&Arc<Memory>],
        writes: &[&Arc<Memory>],
        caller: &Caller<'_>,
        task: impl FnOnce(&Arc<jumar_core::Stream>) -> Result<()>,
    ) -> Result<Arc<Signal>> {
        let core = &self.inner.core;
        let done = Arc::new(Signal::untimed());
        for (memory, access) in [(reads, Access::Read), (writes, Access::Write)] {
            for memory in memory {
                memory.used_by(core, &done, access);
            }
        }
        let submitted = task(core);
        // A task that was refused has no use to end, but the signal that was noted has to be set all the same.
        core.mark(done.clone(), caller);
        submitted.map(|()| done)
    }

    /// Waits for a task, as a wait that probes see. A probe's refusal is reported after the wait: borrows depend on it.
    pub(crate) fn reach(&self, done: &Arc<Signal>, caller: &Caller<'_>) -> Result<()> {
        let gate = self.runtime().core.gate();
        let ticket = gate.admit(caller, self.device(), Some(self.number()), || {
            Op::WaitForStream
        });
        if let Ok(ticket) = ticket {
            gate.report(ticket, Phase::Started);
        }
        self.inner.core.wait_for(done);
        if let Ok(ticket) = ticket {
            gate.report(ticket, Phase::Finished);
        }
        ticket.map(drop)
    }

    fn drain(&self, limit: Option<Duration>, caller: &Caller<'_>) -> Result<()> {
        refuse_in_host_function()?;
        self.inner.core.synchronize(limit, caller)?;
        self.inner.take_panic()
    }

    fn same_length(&self, from: usize, to: usize) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let sentence = format!("the source has {from} elements and the target {to}");
        Err(Error::new(ErrorKind::InvalidValue, sentence)
            .fix("Copy to or from a part of the longer one (DeviceBuffer::part)."))
    }

    pub(crate) fn reaches(&self, device: u32) -> Result<()> {
        if device == self.device() {
            return Ok(());
        }
        let sentence = format!(
            "the buffer lies on device {device}, and stream {} is of device {}",
            self.number(),
            self.device()
        );
        Err(Error::new(ErrorKind::InvalidDevice, sentence)
            .fix("Use a stream of the buffer's device."))
    }

    pub(crate) fn owns(&self, memory: &Memory) -> Result<()> {
        if Arc::ptr_eq(&memory.runtime, self.runtime()) {
            return Ok(());
        }
        Err(foreign("buffer"))
    }

    fn owns_event(&self, event: &Event) -> Result<()> {
        if Arc::ptr_eq(&event.inner.context.runtime, self.runtime()) {
            return Ok(());
        }
        Err(foreign("event"))
    }
}

fn foreign(what: &str) -> Error {
    let sentence = format!("the {what} belongs to another runtime than the stream");
    Error::new(ErrorKind::InvalidHandle, sentence).fix("Use things of one Runtime together.")
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "no text",
    }
}

impl SharedStream {
    fn take_panic(&self) -> Result<()> {
        self.panicked.lock().take().map_or(Ok(()), Err)
    }

    /// Returns and clears the error since the last query.
    pub(crate) fn take_error(&self) -> Result<()> {
        self.core.take_error().map_or(Ok(()), Err)?;
        self.take_panic()
    }
}

impl Drop for SharedStream {
    fn drop(&mut self) {
        let (context, core) = (self.context.clone(), self.core.clone());
        wait_elsewhere(move || {
            // A stream that was destroyed with its context refuses this, and then there is nothing to do.
            drop(by(&call::DROP_STREAM, |caller| {
                context.core.destroy_stream(&core, true, caller)
            }));
            context.runtime.reclaim();
        });
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("number", &self.number())
            .field("device", &self.device())
            .field("is_idle", &self.is_idle())
            .finish()
    }
}

/// Where copies of borrowed pinned buffers are queued: the argument of [`Stream::scope`].
pub struct Scope<'env> {
    stream: &'env Stream,
    /// Borrows that the scope takes last exactly as long as those it was made with.
    env: PhantomData<&'env mut &'env ()>,
}

impl<'env> Scope<'env> {
    /// Returns the stream, for everything that borrows nothing.
    pub fn stream(&self) -> &'env Stream {
        self.stream
    }

    /// Queues a copy of a whole pinned buffer to a device buffer of the same length.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn upload<D: OnDevice>(&self, from: &'env PinnedBuffer<D::Element>, to: &D) -> Result<()> {
        by(&call::UPLOAD, |caller| {
            self.stream.queue_upload(from, to.as_part(), caller)
        })
        .map(drop)
    }

    /// Queues a copy of a device buffer to a whole pinned buffer of the same length.
    ///
    /// # Errors
    /// As [`Stream::upload`].
    pub fn download<D: OnDevice>(
        &self,
        from: &D,
        into: &'env mut PinnedBuffer<D::Element>,
    ) -> Result<()> {
        by(&call::DOWNLOAD, |caller| {
            self.stream.queue_download(from.as_part(), into, caller)
        })
        .map(drop)
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(self.stream).finish()
    }
}
