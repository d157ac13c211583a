//! A device: its profile, its memory account, and its primary context with a use count.
//!
//! The primary slot's lock is held while the context is made or taken out, never while it is torn down; a second
//! release that arrives in between finds a count of 0 and is refused.
//!
//! What a reset takes along, and what it leaves: see `device_epoch`.

use std::sync::{Arc, OnceLock};

use jumar_hal::Span;
use jumar_hal::sync::{AtomicU32, AtomicU64, Mutex, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use crate::context;
use crate::device_epoch::DeviceEpoch;
use crate::gate::Op;
use crate::memory::{Block, MemoryKind, Owner};
use crate::runtime::SharedRuntime;
use crate::vmm::MappingState;
use crate::{Caller, Context};

/// What kind of device it is: facts that programs ask for.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name of the chip.
    pub soc_name: String,
    /// Device memory.
    ///
    /// # Units
    /// Bytes.
    pub memory_bytes: u64,
    /// How many objects of each kind the device carries.
    pub limits: Limits,
    /// Number of matrix cores.
    pub cube_cores: u32,
    /// Number of vector cores.
    pub vector_cores: u32,
    /// Number of processors beside the cores.
    pub aicpu_cores: u32,
    /// Facts about the chip.
    pub chip: Chip,
}

/// Facts about a chip, as far as they are known. Sizes are bytes.
#[derive(Clone, Debug, Default)]
pub struct Chip {
    /// The second-level cache.
    pub l2_bytes: Option<u64>,
    /// A vector core's own memory.
    pub unified_buffer_bytes: Option<u64>,
    /// A matrix core's memory for left operands.
    pub l0a_bytes: Option<u64>,
    /// A matrix core's memory for right operands.
    pub l0b_bytes: Option<u64>,
    /// A matrix core's memory for results.
    pub l0c_bytes: Option<u64>,
    /// A matrix core's first-level memory.
    pub l1_bytes: Option<u64>,
    /// A matrix core's memory for biases.
    pub bias_table_bytes: Option<u64>,
    /// The name of the cores' version.
    pub core_version: Option<String>,
    /// The number of the architecture.
    pub architecture: Option<u32>,
    /// What kind of memory the device has.
    pub memory_type: Option<String>,
}

/// How many objects of each kind a device carries.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Streams, default streams included.
    pub streams: u32,
    /// Events that hold a hardware id from their creation.
    pub events: u32,
    /// Notifies.
    pub notifies: u32,
    /// Copies of one batch.
    pub batch_copies: u32,
}

/// How many of a device's streams are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamUse {
    /// In all.
    pub used: u32,
    /// By captured models, of which each takes one for each stream that was captured into it, for as long as it lives.
    pub by_models: u32,
    /// How many there are.
    pub limit: u32,
}

/// A device.
pub struct Device {
    number: u32,
    profile: Profile,
    opened: OnceLock<Arc<dyn jumar_hal::Device>>,
    /// Guards opening, so that two threads do not open twice.
    opening: Mutex<()>,
    primary: Mutex<Primary>,
    used_bytes: AtomicU64,
    /// The most bytes that were ever in use.
    used_high: AtomicU64,
    /// Ended under the primary slot's lock.
    pub(crate) epoch: DeviceEpoch,
    pub(crate) streams: Count,
    /// How many of the streams captured models take.
    model_streams: AtomicU32,
    pub(crate) events: Count,
    pub(crate) notifies: Count,
}

#[derive(Default)]
struct Primary {
    uses: u64,
    context: Option<Arc<Context>>,
}

/// A count with a limit.
pub(crate) struct Count {
    used: AtomicU32,
    limit: u32,
}

impl Count {
    fn new(limit: u32) -> Self {
        Count {
            used: AtomicU32::new(0),
            limit,
        }
    }

    pub(crate) fn take(&self, kind: ErrorKind, noun: &str) -> Result<()> {
        // One that is refused is never counted, not for a moment: another thread could be refused for its sake.
        let next = |used: u32| (used < self.limit).then_some(used + 1);
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        taken.map(drop).map_err(|used| {
            Error::new(
                kind,
                format!("{used} {noun} exist, which is the maximum of the device"),
            )
        })
    }

    pub(crate) fn give_back(&self) {
        self.used.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn available(&self) -> u32 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }
}

/// A stream of a device that a captured model takes until it is destroyed.
pub(crate) struct ModelStream(Arc<Device>);

impl ModelStream {
    /// Takes one for a stream that is captured.
    ///
    /// # Errors
    /// `NoStreamResource`.
    pub(crate) fn take(device: &Arc<Device>, captured: &crate::Stream) -> Result<ModelStream> {
        let used = device.stream_use();
        device
            .streams
            .take(ErrorKind::NoStreamResource, "streams")
            .map_err(|error| {
                Error::new(
                    error.kind(),
                    format!(
                        "stream {} cannot be captured: a captured model takes a stream of the device for each stream in it, and all {} are in use, {} of them by models",
                        captured.number(),
                        used.limit,
                        used.by_models
                    ),
                )
                .fix("Destroy models that are not executed any more (aclmdlRIDestroy), or capture fewer of them: fewer sizes, or fewer streams for each.")
            })?;
        device.model_streams.fetch_add(1, Ordering::Relaxed);
        Ok(ModelStream(device.clone()))
    }
}

impl Drop for ModelStream {
    fn drop(&mut self) {
        self.0.model_streams.fetch_sub(1, Ordering::Relaxed);
        self.0.streams.give_back();
    }
}

impl Device {
    pub(crate) fn new(number: u32, profile: Profile) -> Self {
        Device {
            number,
            opened: OnceLock::new(),
            opening: Mutex::new(()),
            primary: Mutex::default(),
            used_bytes: AtomicU64::new(0),
            used_high: AtomicU64::new(0),
            epoch: DeviceEpoch::default(),
            streams: Count::new(profile.limits.streams),
            model_streams: AtomicU32::new(0),
            events: Count::new(profile.limits.events),
            notifies: Count::new(profile.limits.notifies),
            profile,
        }
    }

    /// Returns the device's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the device's profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns how many of the device's streams are in use.
    pub fn stream_use(&self) -> StreamUse {
        StreamUse {
            used: self.streams.limit - self.streams.available(),
            by_models: self.model_streams.load(Ordering::Relaxed),
            limit: self.streams.limit,
        }
    }

    /// Returns the bytes of device memory that are free and the bytes in all.
    pub fn memory_info(&self) -> (u64, u64) {
        let total = self.profile.memory_bytes;
        (
            total.saturating_sub(self.used_bytes.load(Ordering::Relaxed)),
            total,
        )
    }

    /// Returns the bytes of device memory in use, and the most that ever were.
    pub fn memory_use(&self) -> (u64, u64) {
        let used = self.used_bytes.load(Ordering::Relaxed);
        (used, self.used_high.load(Ordering::Relaxed).max(used))
    }

    /// Counts the streams that can still be made.
    pub fn streams_available(&self) -> u32 {
        self.streams.available()
    }

    /// Counts the events that can still be made.
    pub fn events_available(&self) -> u32 {
        self.events.available()
    }

    /// Counts the notifies that can still be made.
    pub fn notifies_available(&self) -> u32 {
        self.notifies.available()
    }

    /// Returns the number of the device's life. Each time that its memory is dropped as a whole another one begins; what was
    /// made in an earlier one is gone, or goes in a moment.
    pub fn epoch(&self) -> u64 {
        self.epoch.now()
    }

    /// Counts how often the device is set.
    pub fn uses(&self) -> u64 {
        self.primary.lock().uses
    }

    /// Returns the primary context, if it is alive.
    pub fn primary(&self) -> Option<Arc<Context>> {
        self.primary.lock().context.clone()
    }

    pub(crate) fn hardware(&self, shared: &SharedRuntime) -> Result<&Arc<dyn jumar_hal::Device>> {
        if let Some(device) = self.opened.get() {
            return Ok(device);
        }
        let _one_at_a_time = self.opening.lock();
        if let Some(device) = self.opened.get() {
            return Ok(device);
        }
        let device = shared.backend.open(self.number)?;
        Ok(self.opened.get_or_init(|| device))
    }

    pub(crate) fn retain(self: Arc<Self>, shared: &Arc<SharedRuntime>) -> Result<Arc<Context>> {
        let mut primary = self.primary.lock();
        let context = match &primary.context {
            Some(context) => context.clone(),
            None => {
                let context = Context::create(shared, self.clone(), true).map_err(|cause| {
                    Error::new(
                        ErrorKind::DeviceSetup,
                        format!("device {} could not be brought up", self.number),
                    )
                    .caused_by(cause)
                })?;
                primary.context = Some(context.clone());
                context
            }
        };
        primary.uses += 1;
        Ok(context)
    }

    pub(crate) fn release(
        &self,
        shared: &Arc<SharedRuntime>,
        all: bool,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let (gone, ended) = {
            let mut primary = self.primary.lock();
            if primary.uses == 0 {
                return Err(Error::new(
                    ErrorKind::ContextReleased,
                    format!(
                        "device {} is not set: it was never set, or was reset as often as it was set",
                        self.number
                    ),
                ));
            }
            primary.uses = if all { 0 } else { primary.uses - 1 };
            match primary.uses {
                0 => {
                    let gone = primary.context.take();
                    let ended = gone.as_ref().and_then(|_| self.epoch.end());
                    (gone, ended)
                }
                _ => (None, None),
            }
        };
        if let Some(context) = gone {
            let patience = match all {
                true => context::NO_PATIENCE,
                false => context::PATIENCE,
            };
            context.tear_down(caller.call.name, patience);
        }
        if let Some(epoch) = ended {
            self.drop_memory(shared, epoch, caller);
        }
        Ok(())
    }

    /// Allocates device memory: `bytes` usable, `reserve` counted against the device, not zeroed; for a context of the
    /// given life.
    pub(crate) fn allocate(
        &self,
        shared: &SharedRuntime,
        epoch: u64,
        bytes: usize,
        reserve: usize,
        align: usize,
        caller: &Caller<'_>,
    ) -> Result<Block> {
        let reserved = match self.take(shared, reserve, align) {
            // Unused memory of pools is available, too.
            Err(error) if error.kind() == ErrorKind::OutOfMemory && shared.trim_pools(self) => {
                self.take(shared, reserve, align)?
            }
            taken => taken?,
        };
        let span = reserved
            .part(0, bytes)
            .expect("a backend returns at least the requested bytes");
        let op = || Op::Allocate {
            span,
            device: Some(self.number),
        };
        if let Err(refused) = shared.gate.admit(caller, self.number, None, op) {
            self.return_span(reserved, reserve);
            return Err(refused);
        }
        // What is counted is what was asked to be reserved, so that the account balances however the backend rounds.
        let counted = reserved
            .part(0, reserve)
            .expect("a backend returns at least the requested bytes");
        let block = shared.space.insert(
            span,
            counted,
            MemoryKind::Device(self.number),
            Owner::Device { epoch },
            caller.call.name,
        );
        if epoch != self.epoch() {
            // The thread that ended the device epoch freed what it found; later memory is freed here.
            if shared.space.take_back(&block) {
                self.give_back(block);
            }
            return Err(self.ended());
        }
        Ok(block)
    }

    /// What a call answers whose life of the device ended while it was under way.
    pub(crate) fn ended(&self) -> Error {
        Error::new(
            ErrorKind::NoContext,
            format!("device {} was reset meanwhile", self.number),
        )
    }

    fn take(&self, shared: &SharedRuntime, bytes: usize, align: usize) -> Result<Span> {
        self.count(bytes)?;
        self.hardware(shared)
            .and_then(|hardware| hardware.allocate(bytes, align))
            .inspect_err(|_| self.uncount(bytes))
    }

    /// Takes memory that is not an allocation of the program yet: a pool divides it.
    pub(crate) fn take_chunk(&self, shared: &SharedRuntime, bytes: usize) -> Result<Span> {
        let taken = self.take(shared, bytes, 4096)?;
        Ok(taken
            .part(0, bytes)
            .expect("a backend returns at least the requested bytes"))
    }

    pub(crate) fn return_chunk(&self, span: Span) {
        self.return_span(span, span.bytes());
    }

    /// Counts bytes against the device that have no allocation of their own.
    pub(crate) fn count(&self, bytes: usize) -> Result<()> {
        let total = self.profile.memory_bytes;
        let next = |used: u64| used.checked_add(bytes as u64).filter(|sum| *sum <= total);
        // A request that is refused is never counted, not for a moment: another thread would find the device full.
        let used = self
            .used_bytes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next)
            .map_err(|used| self.exhausted(bytes, used))?;
        // It is rarely a new maximum, and a read is cheaper than a write.
        let height = used + bytes as u64;
        if self.used_high.load(Ordering::Relaxed) < height {
            self.used_high.fetch_max(height, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn uncount(&self, bytes: usize) {
        self.used_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    fn exhausted(&self, bytes: usize, used: u64) -> Error {
        let total = self.profile.memory_bytes;
        Error::new(
            ErrorKind::OutOfMemory,
            format!(
                "{bytes} bytes were asked of device {}, but {} of {total} bytes are free",
                self.number,
                total.saturating_sub(used)
            ),
        )
    }

    pub(crate) fn give_back(&self, block: Block) {
        self.return_span(block.reserved, block.reserved.bytes());
    }

    fn return_span(&self, span: Span, counted: usize) {
        if let Some(hardware) = self.opened.get() {
            hardware.free(span);
        }
        self.uncount(counted);
    }

    /// Drops all memory of a life that has ended, and of those before.
    fn drop_memory(&self, shared: &SharedRuntime, epoch: u64, caller: &Caller<'_>) {
        // Pools first hand out nothing any more.
        let pools = shared.close_pools(self.number, epoch);
        for block in shared.space.remove_device(self.number, epoch) {
            // A probe that refuses cannot keep memory of a device that is gone.
            let op = || Op::Free {
                span: block.span,
                device: Some(self.number),
            };
            drop(shared.gate.admit(caller, self.number, None, op));
            let address = block.span.address();
            match block.owner {
                Owner::Device { .. } => {
                    shared.managed.lock().remove(&address);
                    self.give_back(block);
                }
                // A pool's memory goes with the pool, and mapped memory back to nothing.
                Owner::Pool { .. } => drop(shared.pool_blocks.lock().remove(&address)),
                Owner::Mapping { .. } | Owner::Nobody => {}
            }
        }
        // What a thread is mapping or unmapping at the moment, it unmaps itself.
        let mapped: Vec<Span> = {
            let mut mapped = shared.mapped.lock();
            let ours = mapped.values_mut().filter(|mapping| {
                mapping.memory.device() == self.number
                    && mapping.epoch <= epoch
                    && mapping.state == MappingState::Mapped
            });
            ours.map(|mapping| {
                mapping.state = MappingState::Ending;
                mapping.span
            })
            .collect()
        };
        for span in mapped {
            drop(shared.end_mapping(self, span));
        }
        shared.drop_pools(pools, caller.call.name);
        shared.epoch.advance();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use jumar_hal::sync::thread;

    use super::*;

    fn device(memory_bytes: u64) -> Device {
        let limits = Limits {
            streams: 1,
            events: 1,
            notifies: 1,
            batch_copies: 1,
        };
        let profile = Profile {
            soc_name: String::new(),
            memory_bytes,
            limits,
            cube_cores: 1,
            vector_cores: 1,
            aicpu_cores: 1,
            chip: Chip::default(),
        };
        Device::new(0, profile)
    }

    #[test]
    fn a_request_that_is_refused_takes_no_memory_from_other_threads_meanwhile() {
        let device = device(1 << 20);
        thread::scope(|scope| {
            let refused = scope.spawn(|| {
                for _ in 0..500_000 {
                    assert!(device.count(2 << 20).is_err());
                }
            });
            while !refused.is_finished() {
                assert_eq!(device.memory_info().0, 1 << 20);
                device.count(64).expect("nearly all memory is free");
                device.uncount(64);
            }
        });
        assert_eq!(device.memory_use(), (0, 64));
    }

    #[test]
    fn a_count_goes_to_its_limit_and_no_further() {
        let count = Count::new(2);
        let take = || count.take(ErrorKind::NoStreamResource, "streams");
        assert!(take().is_ok() && take().is_ok());
        let error = take().expect_err("two are alive");
        assert_eq!(error.kind(), ErrorKind::NoStreamResource);
        assert!(error.to_string().contains("2 streams"), "{error}");
        assert_eq!(count.available(), 0);
        count.give_back();
        assert!(count.available() == 1 && take().is_ok());
    }
}
