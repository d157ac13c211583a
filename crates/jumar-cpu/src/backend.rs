//! The backend, its devices and its pinned memory.

use std::ops::Range;
use std::sync::Arc;

use jumar_hal::{
    Backend, Code, CodeFunction, CodeImage, Device, FileImage, FileMapping, LentMemory, MemOp,
    Physical, Program, Queue, QueueConfig, QueueObserver, Span, Task, Transfer,
};
use jumar_sched::{Executor, ExecutorConfig, Runner, Schedule, Team};
use jumar_types::{Error, ErrorKind, Result};

use crate::mem::mapped::{self, Reservations};
use crate::mem::{self, Space};
use crate::{code, elf, thread};

/// How one device is made.
#[derive(Clone, Copy, Debug)]
pub struct CpuDeviceConfig {
    /// The size of its memory.
    pub memory_bytes: usize,
}

/// How a backend is made.
#[derive(Clone, Default)]
pub struct CpuConfig {
    /// The devices, by number.
    pub devices: Vec<CpuDeviceConfig>,
    /// How much pinned host memory there may be; 0 for as much as the largest device has.
    pub pinned_bytes: usize,
    /// How many workers all devices together may have; 0 for as many as there are processors, and two at least.
    pub workers: usize,
    /// How many processors the executor may count on when it decides whether to spin; 0 to ask the system.
    pub cpus: usize,
    /// Who decides what runs next; `None` for the fast path.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Pages of pinned memory can be guarded while copies need them ([`crate::guard`]).
    pub guarded: bool,
}

/// CPU devices with memory spaces of their own and one pool of workers.
///
/// # Ownership
/// The workers end when the backend and all devices that were opened are gone. The address ranges stay mapped for the
/// life of the process.
pub struct CpuBackend {
    executor: Arc<Executor>,
    devices: Vec<Arc<CpuDevice>>,
    pinned: Arc<Space>,
    notes: Vec<String>,
}

impl CpuBackend {
    /// Reserves address ranges for all devices and for pinned memory. Starts no thread and takes no memory yet.
    ///
    /// # Errors
    /// `DeviceSetup`: the system refused the address ranges.
    pub fn new(config: CpuConfig) -> Result<CpuBackend> {
        let largest = config
            .devices
            .iter()
            .map(|device| device.memory_bytes)
            .max()
            .unwrap_or(0);
        let pinned_bytes = if config.pinned_bytes == 0 {
            largest
        } else {
            config.pinned_bytes
        };
        let all = config.devices.iter().fold(pinned_bytes, |sum, device| {
            sum.saturating_add(device.memory_bytes)
        });
        // Under a limit on address space everything shrinks alike.
        let budget = mem::address_budget().unwrap_or(usize::MAX);
        let fitting = |bytes: usize| match all > budget {
            true => (bytes as f64 * (budget as f64 / all as f64)) as usize,
            false => bytes,
        };
        let mut notes = Vec::new();
        let mut reserve = |what: String, bytes: usize| {
            let space = Space::reserve(what.clone(), fitting(bytes))?;
            if space.bytes() < bytes {
                notes.push(format!(
                    "{what} has {} bytes instead of {bytes}: the address space is limited (ulimit -v, valgrind)",
                    space.bytes()
                ));
            }
            Ok(space)
        };
        let mut spaces = Vec::new();
        for (number, device) in config.devices.iter().enumerate() {
            let what = format!("the memory of device {number}");
            spaces.push(reserve(what, device.memory_bytes)?);
        }
        const PINNED: &str = "pinned host memory";
        let twice = config
            .guarded
            .then(|| Space::reserve_twice(PINNED.to_owned(), fitting(pinned_bytes)));
        let pinned = Arc::new(match twice.flatten() {
            Some(space) => space,
            None => reserve(PINNED.to_owned(), pinned_bytes)?,
        });
        if config.guarded && !pinned.is_twice() {
            notes.push(
                "pinned host memory cannot be guarded: the system does not map it twice".to_owned(),
            );
        }
        let executor = ExecutorConfig {
            workers: config.workers,
            cpus: config.cpus,
            schedule: config.schedule,
        };
        let runner: Arc<dyn Runner> = match pinned.is_twice() {
            false => Arc::new(CpuRunner),
            true => Arc::new(DualMappedRunner {
                pinned: pinned.clone(),
            }),
        };
        let executor = Arc::new(Executor::new(executor, runner));
        let devices = spaces
            .into_iter()
            .map(|space| {
                Arc::new(CpuDevice {
                    space,
                    reservations: Reservations::default(),
                    executor: executor.clone(),
                })
            })
            .collect();
        Ok(CpuBackend {
            executor,
            devices,
            pinned,
            notes,
        })
    }

    /// Returns the size of a device's memory: what was asked for, or less where address space is limited.
    pub fn memory_bytes(&self, device: u32) -> Option<usize> {
        Some(self.devices.get(device as usize)?.space.bytes())
    }

    /// Returns sentences for the user about what is smaller than was asked for.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Backend for CpuBackend {
    fn open(&self, device: u32) -> Result<Arc<dyn Device>> {
        match self.devices.get(device as usize) {
            Some(device) => Ok(device.clone()),
            None => Err(Error::new(
                ErrorKind::InvalidDevice,
                format!(
                    "device {device} does not exist: there are {}",
                    self.devices.len()
                ),
            )),
        }
    }

    fn device_of(&self, address: usize) -> Option<u32> {
        let index = self
            .devices
            .iter()
            .position(|device| device.space.range().contains(&address))?;
        u32::try_from(index).ok()
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<Span> {
        self.pinned.allocate(bytes, 64)
    }

    fn free_pinned(&self, span: Span) {
        self.pinned.free(span);
    }

    fn pinned_range(&self) -> Range<usize> {
        self.pinned.range()
    }

    fn copy_now(&self, copy: Transfer) {
        copy_shared(self.pinned.own_transfer(copy), &self.executor.team());
        self.executor.wrote(copy.target().address(), copy.bytes());
    }

    fn copy_past_caches_now(&self, copy: Transfer) {
        mem::copy_past_caches(self.pinned.own_transfer(copy));
        self.executor.wrote(copy.target().address(), copy.bytes());
    }

    fn sharers(&self) -> usize {
        self.executor.team().threads()
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let team = self.executor.team();
        team.share_borrowed(parts, &|part| thread::neutral(|| work(part)));
    }

    fn fill_now(&self, to: Span, value: u8) {
        mem::fill(self.pinned.own(to), value);
        self.executor.wrote(to.address(), to.bytes());
    }

    fn move_now(&self, moves: &[MemOp]) {
        // One loop with everything that is short in it: a captured model is a thousand of these. Where memory is mapped twice,
        // each goes the runtime's own way to it.
        let once = !self.pinned.is_twice();
        for next in moves {
            match *next {
                MemOp::Copy(copy) => match once && mem::copy_small(copy) {
                    true => self.executor.wrote(copy.target().address(), copy.bytes()),
                    false => self.copy_now(copy),
                },
                MemOp::Fill { to, value } => match once && mem::fill_small(to, value) {
                    true => self.executor.wrote(to.address(), to.bytes()),
                    false => self.fill_now(to, value),
                },
            }
        }
    }

    fn write_now(&self, to: Span, bytes: &[u8]) {
        mem::write(self.pinned.own(to), bytes);
        self.executor.wrote(to.address(), to.bytes());
    }

    fn write_with(&self, to: Span, write: &mut dyn FnMut(Span)) {
        write(self.pinned.own(to));
        self.executor.wrote(to.address(), to.bytes());
    }

    fn read_now(&self, from: Span, bytes: &mut [u8]) {
        mem::read(self.pinned.own(from), bytes);
    }

    fn exported_functions(&self, image: &CodeImage) -> Result<Vec<String>> {
        let exported = elf::read(&image.bytes)?.symbols.into_iter();
        Ok(exported
            .filter(|(_, symbol)| symbol.is_function)
            .map(|(name, _)| name)
            .collect())
    }

    fn is_device_code(&self, image: &CodeImage) -> bool {
        elf::device_machine(&image.bytes).is_some()
    }

    fn load_code(&self, image: &CodeImage) -> Result<Arc<dyn Code>> {
        code::load(image, &self.executor)
    }

    fn code_at(&self, address: usize) -> Option<(String, Arc<dyn CodeFunction>)> {
        code::at(address, &self.executor)
    }

    fn variable_at(&self, address: usize) -> Option<Span> {
        code::variable_at(address)
    }

    fn lent_memory(&self, device: u32) -> Option<LentMemory> {
        self.devices.get(device as usize)?.space.lent_memory()
    }

    fn lend(&self, device: u32, part: Span) -> Option<usize> {
        self.devices.get(device as usize)?.space.lend(part)
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    fn process_started(&self, process: u32) -> Option<u64> {
        mem::shared::started(process)
    }

    fn load(&self, word: Span) -> u64 {
        mem::load(self.pinned.own(word))
    }

    fn store(&self, word: Span, value: u64) {
        mem::store(self.pinned.own(word), value);
    }

    fn exchange(&self, word: Span, from: u64, to: u64) -> bool {
        mem::exchange(self.pinned.own(word), from, to)
    }
}

/// One device.
struct CpuDevice {
    space: Space,
    reservations: Reservations,
    executor: Arc<Executor>,
}

impl Device for CpuDevice {
    fn allocate(&self, bytes: usize, align: usize) -> Result<Span> {
        self.space.allocate(bytes, align)
    }

    fn free(&self, span: Span) {
        self.space.free(span);
    }

    fn reserve(&self, bytes: usize) -> Result<Span> {
        self.reservations.take(bytes)
    }

    fn release(&self, span: Span) {
        self.reservations.give_back(span);
    }

    fn physical(&self, bytes: usize) -> Result<Arc<dyn Physical>> {
        mapped::pages(bytes)
    }

    fn pages_under(&self, start: usize, bytes: usize) -> Result<Arc<dyn Physical>> {
        self.space.share(start, bytes)
    }

    fn adopt(&self, number: u64) -> Result<Arc<dyn Physical>> {
        mapped::adopt(number)
    }

    fn unmap(&self, at: Span) -> Result<()> {
        self.reservations.unmap(at)
    }

    fn map_file(&self, at: Span, image: &FileImage) -> Result<Arc<dyn FileMapping>> {
        self.space.map_file(at, image)
    }

    fn range(&self) -> Range<usize> {
        self.space.range()
    }

    fn queue(
        &self,
        config: QueueConfig,
        watcher: Arc<dyn QueueObserver>,
    ) -> Result<Arc<dyn Queue>> {
        Ok(self.executor.queue(config, watcher))
    }
}

/// How a CPU does a device's work.
struct CpuRunner;

/// From this length on a copy is shared with workers that are free.
const SHARED_BYTES: usize = Task::LARGE_BYTES;
/// How much of a shared copy one thread does at a time.
const PART_BYTES: usize = 1 << 20;
/// From this length on a copy goes past the caches.
const STREAMED_BYTES: usize = 32 << 20;

impl Runner for CpuRunner {
    fn copy(&self, copy: Transfer, team: &Team<'_>) {
        copy_shared(copy, team);
    }

    fn fill(&self, to: Span, value: u8) {
        mem::fill(to, value);
    }

    fn run(&self, program: &dyn Program) -> Result<()> {
        thread::neutral(|| program.run())
    }

    fn spawning(&self, spawn: &mut dyn FnMut()) {
        thread::without_signals(spawn);
    }

    fn processor(&self) -> Option<u32> {
        thread::processor()
    }

    fn processors(&self) -> Option<usize> {
        thread::processors()
    }

    fn processor_time(&self) -> Option<usize> {
        thread::processor_time()
    }

    fn thread(&self) -> Option<u32> {
        thread::number()
    }

    fn wake_elsewhere(&self, number: u32, wake: &mut dyn FnMut()) {
        thread::wake_elsewhere(number, wake);
    }

    fn leave_processor(&self) {
        thread::leave_processor();
    }

    fn worker_started(&self, _number: usize) {
        thread::sharpen_timers();
    }
}

/// As [`CpuRunner`], where pinned memory is mapped twice: the runtime goes its own way there.
struct DualMappedRunner {
    pinned: Arc<Space>,
}

impl Runner for DualMappedRunner {
    fn copy(&self, copy: Transfer, team: &Team<'_>) {
        CpuRunner.copy(self.pinned.own_transfer(copy), team);
    }

    fn fill(&self, to: Span, value: u8) {
        CpuRunner.fill(self.pinned.own(to), value);
    }

    fn run(&self, program: &dyn Program) -> Result<()> {
        CpuRunner.run(program)
    }

    fn spawning(&self, spawn: &mut dyn FnMut()) {
        CpuRunner.spawning(spawn);
    }

    fn processor(&self) -> Option<u32> {
        CpuRunner.processor()
    }

    fn processors(&self) -> Option<usize> {
        CpuRunner.processors()
    }

    fn processor_time(&self) -> Option<usize> {
        CpuRunner.processor_time()
    }

    fn thread(&self) -> Option<u32> {
        CpuRunner.thread()
    }

    fn wake_elsewhere(&self, number: u32, wake: &mut dyn FnMut()) {
        CpuRunner.wake_elsewhere(number, wake);
    }

    fn leave_processor(&self) {
        CpuRunner.leave_processor();
    }

    fn worker_started(&self, number: usize) {
        CpuRunner.worker_started(number);
    }
}

/// Copies; a long copy is shared with workers that are free.
fn copy_shared(copy: Transfer, team: &Team<'_>) {
    let bytes = copy.bytes();
    if bytes < SHARED_BYTES || copy.overlaps() {
        return mem::copy(copy);
    }
    team.share(
        bytes.div_ceil(PART_BYTES),
        Arc::new(move |part| {
            let offset = part * PART_BYTES;
            let part = copy.part(offset, PART_BYTES.min(bytes - offset));
            let part = part.expect("parts lie inside");
            match bytes >= STREAMED_BYTES {
                true => mem::copy_past_caches(part),
                false => mem::copy(part),
            }
        }),
    );
}
