//! The runtime that everything else belongs to.
//!
//! Who keeps whom alive: a stream or an event holds its context, everything holds the runtime. Names of the same thing share
//! one inner value, whose drop releases it; so whatever the order of drops, a child goes before its parent.
//!
//! Memory that a queued task still uses is not freed when its buffer is dropped, but put on the runtime's list of memory
//! that is `leaving`, with the signals that those tasks set. Each later allocation or release frees the memory whose signals are set; an
//! allocation that fails waits for the list. The last drop frees what is left, when no stream exists any more.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use jumar_core::sync::Mutex;
use jumar_core::sync::thread;
use jumar_core::{Block, MemoryKind, Signal, Stream};
use jumar_types::Result;

use crate::builder::RuntimeBuilder;
use crate::call::{self, by};
use crate::config::Settings;
use crate::device::Device;

/// A runtime: devices and everything on them. A clone refers to the same runtime.
///
/// Runtimes are independent of each other; several may live in one process.
///
/// ```
/// let runtime = jumar::Runtime::new()?;
/// for device in runtime.devices() {
///     println!("{}: {}, {} bytes free", device.number(), device.name(), device.memory_free());
/// }
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// It ends when its last name and the last thing made from it are dropped.
///
/// # Threads
/// Any.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

impl Runtime {
    /// Builds a runtime as the environment says (`JUMAR_DEVICES`, `JUMAR_PROFILE` and so on; docs/environment.md lists them).
    ///
    /// # Errors
    /// `InvalidArgument`: a variable with a value that it cannot have; `DeviceSetup`: too little memory or address space;
    /// `InvalidFile`: the timeline cannot be written.
    pub fn new() -> Result<Runtime> {
        Runtime::with(&Settings::from_environment()?)
    }

    /// Builds a runtime from settings alone, whatever the environment says.
    ///
    /// # Errors
    /// As [`Runtime::new`].
    pub fn with(settings: &Settings) -> Result<Runtime> {
        let core = settings.build()?;
        Ok(Runtime {
            inner: Arc::new(Inner {
                core,
                leaving: Mutex::default(),
            }),
        })
    }

    /// Returns a builder with the default settings, whatever the environment says.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Returns a builder with the settings that the environment makes, as [`Runtime::new`].
    ///
    /// # Errors
    /// `InvalidArgument`: a variable with a value that it cannot have.
    pub fn builder_from_environment() -> Result<RuntimeBuilder> {
        Ok(RuntimeBuilder::of(Settings::from_environment()?))
    }

    /// Lists the devices.
    pub fn devices(&self) -> Vec<Device> {
        (0..self.inner.core.device_count())
            .filter_map(|number| self.device(number).ok())
            .collect()
    }

    /// Finds a device.
    ///
    /// # Errors
    /// `InvalidDevice`: there are not that many.
    pub fn device(&self, number: u32) -> Result<Device> {
        Ok(Device {
            core: self.inner.core.device(i64::from(number))?,
            runtime: self.inner.clone(),
        })
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("devices", &self.inner.core.device_count())
            .finish()
    }
}

/// What the names of a runtime share.
pub(crate) struct Inner {
    pub(crate) core: jumar_core::Runtime,
    leaving: Mutex<Vec<Leaving>>,
}

/// A queued task that uses memory: the signal that is set after it, and the stream that sets it.
#[derive(Clone)]
pub(crate) struct PendingUse {
    pub(crate) stream: Arc<Stream>,
    pub(crate) done: Arc<Signal>,
    pub(crate) access: Access,
}

/// What a task does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl PendingUse {
    pub(crate) fn is_over(&self) -> bool {
        self.done.is_set()
    }

    pub(crate) fn wait(&self) {
        if !self.is_over() {
            self.stream.wait_for(&self.done);
        }
    }
}

struct Leaving {
    block: Block,
    uses: Vec<PendingUse>,
}

impl Inner {
    /// Frees memory once nothing queued uses it.
    pub(crate) fn release(&self, block: Block, mut uses: Vec<PendingUse>) {
        uses.retain(|other| !other.is_over());
        if uses.is_empty() {
            self.free(block);
        } else {
            self.leaving.lock().push(Leaving { block, uses });
        }
        self.reclaim();
    }

    /// Frees the memory on the list whose tasks are over.
    pub(crate) fn reclaim(&self) {
        let pending: Vec<Leaving> = {
            let mut leaving = self.leaving.lock();
            leaving
                .extract_if(.., |memory| memory.uses.iter().all(PendingUse::is_over))
                .collect()
        };
        for memory in pending {
            self.free(memory.block);
        }
    }

    /// Waits until everything on the list could be freed. Returns whether there was anything. A host function does not wait: what it
    /// would wait for may be behind it.
    pub(crate) fn reclaim_all(&self) -> bool {
        if InHostFunction::is_here() {
            return false;
        }
        let uses: Vec<PendingUse> = self
            .leaving
            .lock()
            .iter()
            .flat_map(|memory| memory.uses.clone())
            .collect();
        uses.iter().for_each(PendingUse::wait);
        self.reclaim();
        !uses.is_empty()
    }

    fn free(&self, block: Block) {
        let address = block.span.address();
        let freed = by(&call::FREE, |caller| {
            match matches!(block.home, MemoryKind::Device(_)) {
                true => self.core.free_device(address, caller),
                false => self.core.free_pinned(address, caller),
            }
        });
        // A probe may refuse it (fault injection), and then the memory stays taken: a drop cannot report an error.
        drop(freed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ignored: Result<()> = by(&call::DROP_RUNTIME, |caller| {
            self.core.shut_down(caller);
            Ok(())
        });
        for memory in std::mem::take(&mut *self.leaving.lock()) {
            self.free(memory.block);
        }
        // A worker may hold the probes a moment longer than this drop takes.
        crate::trace::trace_flush();
    }
}

thread_local! {
    /// How many host functions of streams run on this thread, inside each other.
    static HOST_FUNCTIONS: Cell<u32> = const { Cell::new(0) };
}

/// Marks the calling thread as one that a stream waits for, while it lives.
pub(crate) struct InHostFunction;

impl InHostFunction {
    pub(crate) fn enter() -> InHostFunction {
        HOST_FUNCTIONS.set(HOST_FUNCTIONS.get() + 1);
        InHostFunction
    }

    pub(crate) fn is_here() -> bool {
        HOST_FUNCTIONS.get() > 0
    }
}

impl Drop for InHostFunction {
    fn drop(&mut self) {
        HOST_FUNCTIONS.set(HOST_FUNCTIONS.get() - 1);
    }
}

/// Does work that waits for streams. A host function holds its stream until it returned, so that waiting there might never end:
/// then the work goes to a thread of its own.
pub(crate) fn wait_elsewhere(work: impl FnOnce() + Send + 'static) {
    if !InHostFunction::is_here() {
        return work();
    }
    // Without a thread the work is left to the context's own teardown, which comes when its last name goes.
    drop(
        thread::Builder::new()
            .name("jumar-release".to_owned())
            .spawn(work),
    );
}
