//! One runtime: its devices, its objects by handle, its memory and its gate.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use jumar_hal::sync::{AtomicU32, AtomicU64, Mutex, Ordering};
use jumar_hal::{Backend, Span};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::callback::CallbackDispatcher;
use crate::device::{Device, Profile};
use crate::gate::{Gate, Op};
use crate::ipc::SharedMemory;
use crate::kernel::{Binary, Function};
use crate::managed::ManagedBlock;
use crate::memory::{Block, MemoryKind, Owner, Space};
use crate::pool::Pool;
use crate::table::{Epoch, Table};
use crate::vmm::{Mapping, PhysicalMemory};
use crate::{
    Caller, Condition, Context, CountNotify, Event, Graph, GraphTask, Label, LabelLists, Notify,
    Probe, Stream, TaskGroup,
};

/// How a runtime is built. Everything is decided before: core reads no environment.
pub struct Config {
    /// Who executes.
    pub backend: Arc<dyn Backend>,
    /// One profile for each device that the process sees, in the order of their numbers.
    pub devices: Vec<Profile>,
    /// Who watches.
    pub probes: Vec<Arc<dyn Probe>>,
}

/// A runtime. Independent runtimes can live side by side, which is how tests run in parallel.
pub struct Runtime {
    pub(crate) shared: Arc<SharedRuntime>,
}

/// What every object of a runtime refers to.
pub(crate) struct SharedRuntime {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) gate: Gate,
    pub(crate) space: Space,
    pub(crate) epoch: Arc<Epoch>,
    pub(crate) contexts: Table<Context>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) notifies: Table<Notify>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) graph_tasks: Table<GraphTask>,
    pub(crate) task_groups: Table<TaskGroup>,
    pub(crate) conditions: Table<Condition>,
    pub(crate) labels: Table<Label>,
    pub(crate) label_lists: LabelLists,
    pub(crate) count_notifies: Table<CountNotify>,
    pub(crate) memory: SharedMemory,
    pub(crate) physical: Table<PhysicalMemory>,
    pub(crate) binaries: Table<Binary>,
    pub(crate) functions: Table<Function>,
    /// What is mapped, by the address it is mapped at.
    pub(crate) mapped: Mutex<BTreeMap<usize, Mapping>>,
    pub(crate) pools: Table<Pool>,
    /// Pools that hold memory or may get some: those that were destroyed while memory of theirs was out are among them.
    pub(crate) living_pools: Mutex<Vec<Arc<Pool>>>,
    /// How many living pools there are, so that those who have none pay for none.
    pub(crate) pool_count: AtomicU32,
    /// The memory that pools handed out, by its start.
    pub(crate) pool_blocks: Mutex<HashMap<usize, Arc<Pool>>>,
    /// Managed memory, by its start.
    pub(crate) managed: Mutex<BTreeMap<usize, ManagedBlock>>,
    /// Held while elements are read, reduced and written, as streams may reduce into one array at the same time.
    pub(crate) reducing: Mutex<()>,
    /// What other processes may import, by the number they find it by.
    pub(crate) exported: Mutex<HashMap<u64, Weak<PhysicalMemory>>>,
    pub(crate) devices: Vec<Arc<Device>>,
    pub(crate) reports: CallbackDispatcher,
    pub(crate) stream_numbers: AtomicU32,
    pub(crate) graph_numbers: AtomicU32,
    /// Threads are numbered when a capture first has to distinguish them.
    pub(crate) thread_numbers: AtomicU64,
    pub(crate) event_numbers: AtomicU64,
    pub(crate) record_numbers: AtomicU64,
    /// Whole-process limit of queued event waits; `None` waits forever.
    pub(crate) wait_limit: Mutex<Option<std::time::Duration>>,
}

impl Runtime {
    /// Builds a runtime. Devices are opened when they are first used.
    pub fn new(config: Config) -> Runtime {
        let epoch: Arc<Epoch> = Arc::default();
        Runtime {
            shared: Arc::new(SharedRuntime {
                gate: Gate::new(config.probes),
                space: Space::new(config.backend.clone()),
                contexts: Table::new(IdKind::Context, epoch.clone()),
                streams: Table::new(IdKind::Stream, epoch.clone()),
                events: Table::new(IdKind::Event, epoch.clone()),
                notifies: Table::new(IdKind::Notify, epoch.clone()),
                graphs: Table::new(IdKind::Graph, epoch.clone()),
                graph_tasks: Table::new(IdKind::GraphTask, epoch.clone()),
                task_groups: Table::new(IdKind::TaskGroup, epoch.clone()),
                conditions: Table::new(IdKind::Condition, epoch.clone()),
                labels: Table::new(IdKind::Label, epoch.clone()),
                label_lists: LabelLists::default(),
                count_notifies: Table::new(IdKind::CountNotify, epoch.clone()),
                memory: SharedMemory::default(),
                physical: Table::new(IdKind::PhysicalMemory, epoch.clone()),
                binaries: Table::new(IdKind::LoadedBinary, epoch.clone()),
                functions: Table::new(IdKind::Function, epoch.clone()),
                mapped: Mutex::default(),
                pools: Table::new(IdKind::MemoryPool, epoch.clone()),
                living_pools: Mutex::default(),
                pool_count: AtomicU32::new(0),
                pool_blocks: Mutex::default(),
                managed: Mutex::default(),
                reducing: Mutex::default(),
                exported: Mutex::default(),
                devices: config
                    .devices
                    .into_iter()
                    .enumerate()
                    .map(|(number, profile)| Arc::new(Device::new(number as u32, profile)))
                    .collect(),
                backend: config.backend,
                epoch,
                reports: CallbackDispatcher::default(),
                stream_numbers: AtomicU32::new(0),
                graph_numbers: AtomicU32::new(0),
                thread_numbers: AtomicU64::new(0),
                event_numbers: AtomicU64::new(0),
                record_numbers: AtomicU64::new(0),
                wait_limit: Mutex::new(None),
            }),
        }
    }

    /// Counts the devices.
    pub fn device_count(&self) -> u32 {
        self.shared.devices.len() as u32
    }

    /// Finds a device.
    ///
    /// # Errors
    /// `InvalidDevice`: the number is negative or too large.
    pub fn device(&self, number: i64) -> Result<Arc<Device>> {
        self.shared.device(number)
    }

    /// Raises the use count of a device's primary context and returns the context, made now if need be.
    ///
    /// # Errors
    /// `InvalidDevice`, `DeviceSetup`.
    pub fn retain_device(&self, number: i64) -> Result<Arc<Context>> {
        let device = self.shared.device(number)?;
        device.retain(&self.shared)
    }

    /// Lowers the use count of a device's primary context; at 0 the context is torn down after its work is done.
    /// `all` drops every use at once.
    ///
    /// # Errors
    /// `InvalidDevice`; `ContextReleased`: the count is 0 already.
    pub fn release_device(&self, number: i64, all: bool, caller: &Caller<'_>) -> Result<()> {
        let device = self.shared.device(number)?;
        device.release(&self.shared, all, caller)
    }

    /// Makes a context on a device, with its default stream.
    ///
    /// # Errors
    /// `InvalidDevice`, `DeviceSetup`, `NoStreamResource`.
    pub fn create_context(&self, number: i64) -> Result<Arc<Context>> {
        let device = self.shared.device(number)?;
        Context::create(&self.shared, device, false)
    }

    /// The contexts by handle.
    #[inline]
    pub fn contexts(&self) -> &Table<Context> {
        &self.shared.contexts
    }

    /// The streams by handle.
    #[inline]
    pub fn streams(&self) -> &Table<Stream> {
        &self.shared.streams
    }

    /// The events by handle.
    #[inline]
    pub fn events(&self) -> &Table<Event> {
        &self.shared.events
    }

    /// The notifies by handle.
    pub fn notifies(&self) -> &Table<Notify> {
        &self.shared.notifies
    }

    /// The captured and built models by handle.
    pub fn graphs(&self) -> &Table<Graph> {
        &self.shared.graphs
    }

    /// The tasks of models by handle, those that a program asked for.
    pub fn graph_tasks(&self) -> &Table<GraphTask> {
        &self.shared.graph_tasks
    }

    /// The groups of captured tasks by handle.
    pub fn task_groups(&self) -> &Table<TaskGroup> {
        &self.shared.task_groups
    }

    /// The conditions of models by handle.
    pub fn conditions(&self) -> &Table<Condition> {
        &self.shared.conditions
    }

    /// The labels by handle.
    pub fn labels(&self) -> &Table<Label> {
        &self.shared.labels
    }

    /// The lists of labels.
    pub fn label_lists(&self) -> &LabelLists {
        &self.shared.label_lists
    }

    /// The counting notifies by handle.
    pub fn count_notifies(&self) -> &Table<CountNotify> {
        &self.shared.count_notifies
    }

    /// Returns the backend, for transports that work on device memory themselves.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.shared.backend
    }

    /// The live memory.
    pub fn space(&self) -> &Space {
        &self.shared.space
    }

    /// The gate.
    pub fn gate(&self) -> &Gate {
        &self.shared.gate
    }

    /// The threads that report callbacks.
    pub fn reports(&self) -> &CallbackDispatcher {
        &self.shared.reports
    }

    /// The count that moves on whenever an object goes away.
    #[inline]
    pub fn epoch(&self) -> &Epoch {
        &self.shared.epoch
    }

    /// Sets how long later event waits may hold a stream; `None` forever.
    pub fn set_wait_limit(&self, limit: Option<std::time::Duration>) {
        *self.shared.wait_limit.lock() = limit;
    }

    /// Returns how long later event waits may hold a stream; `None` forever.
    pub fn wait_limit(&self) -> Option<std::time::Duration> {
        *self.shared.wait_limit.lock()
    }

    /// Frees device memory, at once, without waiting for any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the address is not the start of a live allocation of device memory.
    pub fn free_device(&self, address: usize, caller: &Caller<'_>) -> Result<()> {
        self.shared.free_device(address, caller)
    }

    /// Allocates pinned host memory: not zeroed, 64-byte aligned.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn allocate_pinned(&self, bytes: usize, caller: &Caller<'_>) -> Result<Block> {
        let reserved = self.shared.backend.allocate_pinned(bytes)?;
        let span = reserved
            .part(0, bytes)
            .expect("a backend returns at least the requested bytes");
        let admitted = self
            .shared
            .gate
            .admit(caller, 0, None, || Op::Allocate { span, device: None });
        if let Err(refused) = admitted {
            self.shared.backend.free_pinned(reserved);
            return Err(refused);
        }
        Ok(self.shared.space.insert(
            span,
            reserved,
            MemoryKind::Pinned,
            Owner::Nobody,
            caller.call.name,
        ))
    }

    /// Frees pinned host memory.
    ///
    /// # Errors
    /// `InvalidValue`: the address is not the start of a live allocation of pinned memory.
    pub fn free_pinned(&self, address: usize, caller: &Caller<'_>) -> Result<()> {
        let shared = &self.shared;
        let block = shared
            .space
            .remove(address, shared.gate.is_observed(), |block| {
                if block.home == MemoryKind::Pinned {
                    shared
                        .gate
                        .admit(caller, 0, None, || Op::Free {
                            span: block.span,
                            device: None,
                        })
                        .map(drop)
                } else {
                    Err(wrong_free(block, "pinned host memory", "device memory"))
                }
            })?;
        shared.space.forget_registrations(block.span);
        shared.backend.free_pinned(block.reserved);
        Ok(())
    }

    /// Registers the program's own host memory, so that a stream copies from and to it directly.
    ///
    /// # Errors
    /// `HostRangeRegistered`: a part of it is registered already; `InvalidValue`: it is not host memory.
    pub fn register_host(&self, span: Span, caller: &Caller<'_>) -> Result<()> {
        self.shared.space.register(span, caller.call.name)
    }

    /// Ends the registration of host memory.
    ///
    /// # Errors
    /// `HostRangeUnknown`: nothing is registered at the address.
    pub fn unregister_host(&self, address: usize) -> Result<()> {
        if self.shared.space.unregister_pinned(address) {
            return Ok(());
        }
        let unknown = || {
            Error::new(
                ErrorKind::HostRangeUnknown,
                format!("no host memory is registered at {address:#x}"),
            )
        };
        if self
            .shared
            .space
            .find(address)
            .is_none_or(|block| block.home != MemoryKind::Registered)
        {
            return Err(unknown());
        }
        self.shared
            .space
            .remove(address, false, |_| Ok(()))
            .map(drop)
            .map_err(|_| unknown())
    }

    /// Copies on the calling thread, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: an end leaves its allocation.
    pub fn copy_now(&self, to: Span, from: Span, caller: &Caller<'_>) -> Result<()> {
        crate::copy::copy_now(&self.shared, to, from, caller)
    }

    /// Fills on the calling thread, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the range leaves its allocation.
    pub fn fill_now(&self, to: Span, value: u8, caller: &Caller<'_>) -> Result<()> {
        crate::copy::fill_now(&self.shared, to, value, caller)
    }

    /// Copies Rust's own bytes to the start of a span, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the bytes do not fit, or the span is not live.
    pub fn write(&self, to: Span, bytes: &[u8], caller: &Caller<'_>) -> Result<()> {
        crate::copy::write_now(&self.shared, to, bytes, caller)
    }

    /// Copies the start of a span into Rust's own bytes, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the span is shorter, or not live.
    pub fn read(&self, from: Span, bytes: &mut [u8], caller: &Caller<'_>) -> Result<()> {
        crate::copy::read_now(&self.shared, from, bytes, caller)
    }

    /// Drops the tasks of every stream of a device and forgets their failures; calls that wait for one of them answer
    /// `DeviceAborted`. What runs continues to its end.
    ///
    /// # Errors
    /// `InvalidDevice`; `AbortTimeout`: a task that runs did not end within `limit`.
    pub fn abort_device(&self, number: i64, limit: Option<std::time::Duration>) -> Result<()> {
        let device = self.shared.device(number)?;
        let until = limit.map(|limit| jumar_hal::sync::Instant::now() + limit);
        let mut ended = true;
        for context in self.contexts_of(&device) {
            ended &= context.abort(until);
        }
        if ended {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::AbortTimeout,
            format!("a task of device {number} still runs after the time limit"),
        ))
    }

    fn contexts_of(&self, device: &Arc<Device>) -> Vec<Arc<Context>> {
        let mut contexts = self.shared.contexts.all();
        contexts.retain(|context| Arc::ptr_eq(context.device(), device));
        contexts
    }

    /// Waits until every stream of every device is idle. False when one was not in time.
    pub fn idle_within(&self, limit: std::time::Duration) -> bool {
        let until = jumar_hal::sync::Instant::now() + limit;
        let contexts = self.shared.contexts.all();
        contexts.iter().all(|context| context.idle_until(until))
    }

    /// Waits until no stream of any device runs a task: each is idle, or blocked by a wait. False when one was not in time.
    pub(crate) fn quiet_within(&self, limit: std::time::Duration) -> bool {
        let until = jumar_hal::sync::Instant::now() + limit;
        let contexts = self.shared.contexts.all();
        contexts.iter().all(|context| context.quiet_until(until))
    }

    /// Tears everything down: contexts of every device, whatever their count. Memory stays mapped, handles go stale.
    pub fn shut_down(&self, caller: &Caller<'_>) {
        for device in &self.shared.devices {
            // An unused device answers `ContextReleased`, as required here.
            drop(device.release(&self.shared, true, caller));
        }
        for context in self.shared.contexts.all() {
            context.tear_down(caller.call.name, crate::context::NO_PATIENCE);
        }
    }
}

impl SharedRuntime {
    pub(crate) fn device(&self, number: i64) -> Result<Arc<Device>> {
        let found = usize::try_from(number)
            .ok()
            .and_then(|index| self.devices.get(index));
        found.cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidDevice,
                match self.devices.len() {
                    0 => format!("device {number} does not exist: no device is visible"),
                    1 => format!("device {number} does not exist: the only device is 0"),
                    count => format!(
                        "device {number} does not exist: devices are 0 to {}",
                        count - 1
                    ),
                },
            )
            .object(format!("device {number}"))
        })
    }

    /// Frees device memory of the runtime itself, in sight of probes.
    pub(crate) fn release_block(&self, address: usize) -> Result<()> {
        let block = self.space.remove(address, false, |_| Ok(()))?;
        if let MemoryKind::Device(device) = block.home {
            self.devices[device as usize].give_back(block);
        }
        Ok(())
    }

    pub(crate) fn free_device(&self, address: usize, caller: &Caller<'_>) -> Result<()> {
        if let Some(freed) = self.free_pool_block(address, caller) {
            return freed;
        }
        let block = self.space.remove(address, self.gate.is_observed(), |block| match block.home {
            MemoryKind::Device(_) if matches!(block.owner, Owner::Mapping { .. }) => Err(wrong_free(
                block,
                "an allocation of its own",
                "a mapping of physical memory: unmap it",
            )),
            // Its pool is being dropped with the device's memory, and takes it along.
            MemoryKind::Device(_) if matches!(block.owner, Owner::Pool { .. }) => {
                Err(wrong_free(block, "live any more", "which its pool was"))
            }
            MemoryKind::Device(device) => self
                .gate
                .admit(caller, device, None, || Op::Free {
                    span: block.span,
                    device: Some(device),
                })
                .map(drop),
            MemoryKind::Variable(_) => Err(wrong_free(
                block,
                "an allocation of its own",
                "which goes with its owner: a kernel binary when it is unloaded, a context when it is destroyed",
            )),
            MemoryKind::Pinned => Err(wrong_free(block, "device memory", "pinned host memory")),
            MemoryKind::Registered | MemoryKind::Host => Err(wrong_free(
                block,
                "device memory",
                "registered host memory: unregister it",
            )),
        })?;
        let MemoryKind::Device(device) = block.home else {
            unreachable!("checked while the block was taken out")
        };
        if block
            .span
            .bytes()
            .is_multiple_of(crate::managed::MANAGED_PAGE)
        {
            self.managed.lock().remove(&address);
        }
        self.devices[device as usize].give_back(block);
        Ok(())
    }

    /// Numbers a record for probes. Without probes threads share no counter.
    #[inline]
    pub(crate) fn next_record(&self) -> u64 {
        if !self.gate.is_observed() {
            return 0;
        }
        self.record_numbers.fetch_add(1, Ordering::Relaxed) + 1
    }
}

fn wrong_free(block: &Block, wanted: &str, instead: &str) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!(
            "allocation {} at {:#x} (made by {}) is not {wanted}",
            block.number,
            block.span.address(),
            block.made_by
        ),
    )
    .fix(format!("Give it back as what it is, {instead}."))
}
