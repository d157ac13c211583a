//! What memory is live, where it lies, and whether a range stays inside it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use jumar_hal::sync::{AtomicU64, AtomicUsize, Ordering, RwLock};
use jumar_hal::{Backend, Span, SpinLock};
use jumar_types::{Error, ErrorKind, Result};

/// The kind of a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// A device's own memory.
    Device(u32),
    /// A variable of a kernel binary that a device has loaded: that device's memory, but no allocation of its own.
    Variable(u32),
    /// Host memory that a stream may copy from and to directly.
    Pinned,
    /// The program's own host memory, registered so that a stream may copy from and to it directly.
    Registered,
    /// Any other memory of the process.
    Host,
}

impl MemoryKind {
    /// Returns whether the memory is a device's.
    pub fn is_device(self) -> bool {
        self.device().is_some()
    }

    /// Returns the device whose memory it is.
    pub fn device(self) -> Option<u32> {
        match self {
            MemoryKind::Device(device) | MemoryKind::Variable(device) => Some(device),
            MemoryKind::Pinned | MemoryKind::Registered | MemoryKind::Host => None,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            MemoryKind::Device(_) => "device memory",
            MemoryKind::Variable(_) => "a kernel binary's variable",
            MemoryKind::Pinned => "pinned host memory",
            MemoryKind::Registered => "registered host memory",
            MemoryKind::Host => "host memory",
        }
    }
}

/// One live allocation.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The usable bytes.
    pub span: Span,
    /// How many bytes at the end of `span` the program did not ask for.
    pub padding: u8,
    /// The bytes that the backend set aside, from the same address.
    pub reserved: Span,
    /// The kind of the memory.
    pub home: MemoryKind,
    /// A number for messages, counted from 1 in a runtime.
    pub number: u64,
    /// The public function that made it.
    pub made_by: &'static str,
    /// The owner of the bytes, with the device epoch of the allocation.
    pub(crate) owner: Owner,
}

/// The owner of a block's bytes. A device reset drops what the device owned in its previous epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// No device: the block lives until it is freed.
    Nobody,
    /// An allocation of its own.
    Device { epoch: u64 },
    /// A part of a memory pool.
    Pool { epoch: u64 },
    /// Physical memory that is mapped there.
    Mapping { epoch: u64 },
}

impl Owner {
    fn epoch(self) -> Option<u64> {
        match self {
            Owner::Nobody => None,
            Owner::Device { epoch } | Owner::Pool { epoch } | Owner::Mapping { epoch } => {
                Some(epoch)
            }
        }
    }
}

/// The live allocations of a runtime, by address.
pub struct Space {
    blocks: SpinLock<BTreeMap<usize, Block>>,
    /// Registered parts of pinned memory, which streams reach without that. Locked under the lock of the blocks.
    registered_pinned: SpinLock<BTreeMap<usize, Span>>,
    /// Reserved addresses, by start: the device and the range. What is mapped there stands among the blocks.
    reserved: RwLock<BTreeMap<usize, (u32, Span)>>,
    /// How many there are, so that those who have none pay for none.
    reservations: AtomicUsize,
    numbers: AtomicU64,
    /// Moves on at each removal: a remembered block is valid while it stands still.
    removals: AtomicU64,
    backend: Arc<dyn Backend>,
}

const REMEMBERED: usize = 4;

/// A thread's last few allocations, so that the submit path takes no lock; and its number and mode for captures.
#[derive(Default)]
pub struct Lookups {
    removals: Cell<u64>,
    next: Cell<usize>,
    /// The number of the last task that the thread put on a stream other than a default stream; 0 before.
    last_task: Cell<u64>,
    /// The last task of the thread that was recorded instead of queued.
    recorded: RefCell<Option<crate::capture::RecordedTask>>,
    blocks: [Cell<CacheEntry>; REMEMBERED],
    thread: Cell<u64>,
    pub(crate) capture_mode: Cell<crate::CaptureMode>,
}

/// What a check needs of an allocation: less than half a line of the caches, as each submit looks through several.
#[derive(Clone, Copy)]
struct CacheEntry {
    start: usize,
    end: usize,
    home: MemoryKind,
}

impl Default for CacheEntry {
    /// Holds no range.
    fn default() -> Self {
        CacheEntry {
            start: usize::MAX,
            end: 0,
            home: MemoryKind::Host,
        }
    }
}

/// A checked range: the kind of its memory, and the bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedRange {
    /// The range.
    pub span: Span,
    /// The kind of the memory.
    pub home: MemoryKind,
}

impl Space {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Space {
            blocks: SpinLock::default(),
            registered_pinned: SpinLock::default(),
            reserved: RwLock::new(BTreeMap::new()),
            reservations: AtomicUsize::new(0),
            numbers: AtomicU64::new(0),
            removals: AtomicU64::new(1),
            backend,
        }
    }

    pub(crate) fn insert(
        &self,
        span: Span,
        reserved: Span,
        home: MemoryKind,
        owner: Owner,
        made_by: &'static str,
    ) -> Block {
        let mut blocks = self.blocks.lock();
        let block = Block {
            span,
            padding: 0,
            reserved,
            home,
            number: self.next_number(),
            made_by,
            owner,
        };
        blocks.insert(span.address(), block);
        block
    }

    /// Notes how many of an allocation's bytes the program did not ask for. Nothing happens if it was freed.
    pub(crate) fn note_padding(&self, block: &mut Block, padding: u8) {
        block.padding = padding;
        let mut blocks = self.blocks.lock();
        if let Some(own) = blocks.get_mut(&block.span.address()) {
            own.padding = if own.number == block.number {
                padding
            } else {
                own.padding
            };
        }
    }

    /// Numbers an allocation. Called under the lock of the blocks alone, so that counting needs no step of its own.
    fn next_number(&self) -> u64 {
        let number = self.numbers.load(Ordering::Relaxed) + 1;
        self.numbers.store(number, Ordering::Relaxed);
        number
    }

    /// Counts a removal. Called under the lock of the blocks alone, once they are out.
    fn count_removal(&self) {
        let removals = self.removals.load(Ordering::Relaxed);
        self.removals.store(removals + 1, Ordering::Release);
    }

    /// Removes the allocation that starts at `address`, if `accept` agrees. If the gate has probes (`observed`), which are
    /// called, the lock is not held meanwhile.
    pub(crate) fn remove(
        &self,
        address: usize,
        observed: bool,
        accept: impl FnOnce(&Block) -> Result<()>,
    ) -> Result<Block> {
        let mut blocks = self.blocks.lock();
        let found = blocks.get(&address).copied();
        if let Some(block) = found.filter(|_| observed) {
            drop(blocks);
            accept(&block)?;
            return match self.take_back(&block) {
                true => Ok(block),
                // Another thread freed it in the meantime.
                false => Err(self.unknown(address, None)),
            };
        }
        let Some(block) = found else {
            let inside = Self::holding(&blocks, address);
            drop(blocks);
            return Err(self.unknown(address, inside));
        };
        accept(&block)?;
        blocks.remove(&address);
        self.count_removal();
        drop(blocks);
        Ok(block)
    }

    /// Puts the program's own host memory among the blocks. Pinned memory, which is there already, is noted as registered, too.
    pub(crate) fn register(&self, span: Span, by: &'static str) -> Result<()> {
        let bad = |kind, what: &str| {
            let sentence = format!(
                "{} bytes of host memory at {:#x} {what}",
                span.bytes(),
                span.address()
            );
            Err(Error::new(kind, sentence))
        };
        let mut blocks = self.blocks.lock();
        let pinned = Self::holding(&blocks, span.address())
            .filter(|block| block.home == MemoryKind::Pinned && span.end() <= block.span.end());
        if pinned.is_some() {
            let mut registered = self.registered_pinned.lock();
            let overlapping = registered
                .range(..span.end())
                .next_back()
                .is_some_and(|(_, other)| other.overlaps(span));
            if !overlapping {
                registered.insert(span.address(), span);
                return Ok(());
            }
            drop(registered);
            drop(blocks);
            return bad(
                ErrorKind::HostRangeRegistered,
                "are registered already, at least in part",
            );
        }
        if self.is_ours(span.address()) {
            drop(blocks);
            return bad(
                ErrorKind::InvalidValue,
                "are neither memory of the program nor one pinned allocation",
            );
        }
        let overlapping = blocks
            .range(..span.end())
            .next_back()
            .is_some_and(|(_, block)| block.span.overlaps(span));
        if overlapping {
            return bad(
                ErrorKind::HostRangeRegistered,
                "are registered already, at least in part",
            );
        }
        let number = self.next_number();
        let home = MemoryKind::Registered;
        blocks.insert(
            span.address(),
            Block {
                span,
                padding: 0,
                reserved: span,
                home,
                number,
                made_by: by,
                owner: Owner::Nobody,
            },
        );
        drop(blocks);
        // A range that was looked up as ordinary host memory before is not remembered, so nothing has to be forgotten.
        Ok(())
    }

    /// Ends the registration of a part of pinned memory that starts at the address. Returns whether there was one.
    pub(crate) fn unregister_pinned(&self, address: usize) -> bool {
        self.registered_pinned.lock().remove(&address).is_some()
    }

    /// Ends the registrations of parts of pinned memory that is freed.
    pub(crate) fn forget_registrations(&self, pinned: Span) {
        let mut registered = self.registered_pinned.lock();
        registered.retain(|address, _| !pinned.contains(*address));
    }

    /// Takes a block out that may be gone already; its address may be another block's by now. Returns whether it was there.
    pub(crate) fn take_back(&self, block: &Block) -> bool {
        let address = block.span.address();
        let mut blocks = self.blocks.lock();
        if blocks
            .get(&address)
            .is_none_or(|there| there.number != block.number)
        {
            return false;
        }
        blocks.remove(&address);
        self.count_removal();
        drop(blocks);
        true
    }

    /// Takes out every allocation of a device that was made in one of its lives up to `epoch`.
    pub(crate) fn remove_device(&self, device: u32, epoch: u64) -> Vec<Block> {
        let mut blocks = self.blocks.lock();
        let gone: Vec<Block> = blocks
            .values()
            .filter(|block| block.home == MemoryKind::Device(device))
            .filter(|block| block.owner.epoch().is_some_and(|made_in| made_in <= epoch))
            .copied()
            .collect();
        for block in &gone {
            blocks.remove(&block.span.address());
        }
        self.count_removal();
        drop(blocks);
        gone
    }

    /// Counts a removal without one, so that captured models check their tasks again before their next execution.
    pub(crate) fn invalidate(&self) {
        let blocks = self.blocks.lock();
        self.count_removal();
        drop(blocks);
    }

    /// Counts removals: what was live is live while the count stands still.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// Returns whether a range was found live before and still is, and whether it is a device's.
    #[inline]
    pub(crate) fn known(&self, span: Span, lookups: &Lookups) -> (bool, bool) {
        match lookups.find(self.removals.load(Ordering::Acquire), span) {
            Some(home) => (
                true,
                matches!(home, MemoryKind::Device(_) | MemoryKind::Variable(_)),
            ),
            None => (false, false),
        }
    }

    /// Finds the live allocation that holds `address`.
    pub fn find(&self, address: usize) -> Option<Block> {
        Self::holding(&self.blocks.lock(), address)
    }

    /// Returns whether an allocation of its own holds `address`: neither a part of a pool nor mapped memory.
    pub(crate) fn is_allocation(&self, address: usize) -> bool {
        let block = self.find(address);
        block.is_some_and(|block| matches!(block.owner, Owner::Device { .. }))
    }

    /// Finds what a range that begins at `address` may go through as one: the live allocation that holds it, or, where
    /// physical memory is mapped, that mapping and those of the same device which follow in the reserved range without a
    /// gap. Looks no further than `bytes` ask for.
    pub fn reach(&self, address: usize, bytes: usize) -> Option<Block> {
        let range = self.reservation(address);
        let blocks = self.blocks.lock();
        let mut block = Self::holding(&blocks, address)?;
        let Some(range) = range else {
            return Some(block);
        };
        let wanted = address.saturating_add(bytes).min(range.end());
        let is_mapping = |block: &Block| matches!(block.owner, Owner::Mapping { .. });
        while is_mapping(&block) && block.span.end() < wanted {
            let next = blocks.get(&block.span.end());
            let Some(next) = next.filter(|next| is_mapping(next) && next.home == block.home) else {
                break;
            };
            let Some(both) = range.part(
                block.span.address() - range.address(),
                block.span.bytes() + next.span.bytes(),
            ) else {
                break;
            };
            block.span = both;
        }
        Some(block)
    }

    fn holding(blocks: &BTreeMap<usize, Block>, address: usize) -> Option<Block> {
        let (_, block) = blocks
            .range((Bound::Unbounded, Bound::Included(address)))
            .next_back()?;
        block.span.contains(address).then_some(*block)
    }

    /// Returns the memory kind of an address: that of a live allocation, or ordinary host memory. `None` for an address in a device's
    /// or the pinned range where nothing is allocated.
    pub fn home_of(&self, address: usize) -> Option<MemoryKind> {
        self.find(address)
            .map(|block| block.home)
            .or_else(|| (!self.is_ours(address)).then_some(MemoryKind::Host))
    }

    fn is_ours(&self, address: usize) -> bool {
        self.backend.pinned_range().contains(&address)
            || self.backend.device_of(address).is_some()
            || self.reservation(address).is_some()
    }

    pub(crate) fn reserve(&self, device: u32, span: Span) {
        let mut reserved = self.reserved.write();
        reserved.insert(span.address(), (device, span));
        self.reservations.store(reserved.len(), Ordering::Release);
    }

    /// Takes a reservation out, if `accept` agrees.
    pub(crate) fn unreserve(
        &self,
        address: usize,
        accept: impl FnOnce(Span) -> Result<()>,
    ) -> Result<(u32, Span)> {
        let mut reserved = self.reserved.write();
        let Some(&(device, span)) = reserved.get(&address) else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("{address:#x} is not the start of a reserved range of addresses"),
            ));
        };
        accept(span)?;
        reserved.remove(&address);
        self.reservations.store(reserved.len(), Ordering::Release);
        Ok((device, span))
    }

    /// Finds the reserved range that holds an address.
    pub(crate) fn reservation(&self, address: usize) -> Option<Span> {
        if self.reservations.load(Ordering::Acquire) == 0 {
            return None;
        }
        let reserved = self.reserved.read();
        let (_, &(_, span)) = reserved.range(..=address).next_back()?;
        span.contains(address).then_some(span)
    }

    /// Checks that a range stays inside one live allocation, or is ordinary host memory that the program guarantees.
    ///
    /// # Errors
    /// `InvalidValue`: the range leaves its allocation, lies in freed memory, or is not a possible address.
    #[inline]
    pub fn resolve(
        &self,
        span: Span,
        lookups: &Lookups,
        what: &'static str,
    ) -> Result<ResolvedRange> {
        let removals = self.removals.load(Ordering::Acquire);
        if let Some(home) = lookups.find(removals, span) {
            return Ok(ResolvedRange { span, home });
        }
        self.resolve_slow(span, lookups, removals, what)
    }

    #[cold]
    fn resolve_slow(
        &self,
        span: Span,
        lookups: &Lookups,
        removals: u64,
        what: &'static str,
    ) -> Result<ResolvedRange> {
        // Below 64 KiB and above the user half nothing is ever mapped: null with an offset, a small integer, a handle.
        const LOWEST: usize = 1 << 16;
        const HIGHEST: usize = 1 << 47;
        let (address, bytes) = (span.address(), span.bytes());
        if !(LOWEST..HIGHEST).contains(&address) || bytes > HIGHEST - address {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("the {what} of {bytes} bytes at {address:#x} is outside of the possible addresses"),
            )
            .fix("Pass an address of device memory, of pinned host memory, or of pageable host memory."));
        }
        match self.reach(address, bytes) {
            Some(block) if span.end() <= block.span.end() => {
                lookups.remember(removals, block);
                Ok(ResolvedRange { span, home: block.home })
            }
            // Beside a registered range lies more of the program's own memory.
            Some(block) if block.home == MemoryKind::Registered => Ok(ResolvedRange { span, home: MemoryKind::Host }),
            Some(block) => Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the {what} of {bytes} bytes at {address:#x} ends {} bytes past the end of allocation {} ({} bytes of {} at {:#x}, made by {})",
                    span.end() - block.span.end(),
                    block.number,
                    block.span.bytes(),
                    block.home.noun(),
                    block.span.address(),
                    block.made_by
                ),
            )
            .fix("Copy no more than was allocated, or allocate more.")),
            None if self.is_ours(address) => Err(self.unknown(address, None)),
            None => Ok(ResolvedRange { span, home: MemoryKind::Host }),
        }
    }

    fn unknown(&self, address: usize, inside: Option<Block>) -> Error {
        let sentence = match inside {
            Some(block) => format!(
                "{address:#x} lies {} bytes inside allocation {} ({} bytes of {}, made by {}), not at its start",
                address - block.span.address(),
                block.number,
                block.span.bytes(),
                block.home.noun(),
                block.made_by
            ),
            None if self.backend.device_of(address).is_some() => format!(
                "{address:#x} is device memory in which nothing is allocated now: it was freed, or lies past the end of an allocation"
            ),
            None if self.backend.pinned_range().contains(&address) => format!(
                "{address:#x} is pinned host memory in which nothing is allocated now: it was freed, or lies past the end of an allocation"
            ),
            None if self.reservation(address).is_some() => format!(
                "{address:#x} lies in reserved addresses at which nothing is mapped now, or which cannot be accessed"
            ),
            None => format!("{address:#x} was not allocated by this runtime"),
        };
        Error::new(ErrorKind::InvalidValue, sentence)
            .object(format!("address {address:#x}"))
            .fix("Pass the address that the allocation returned, once, while it is live.")
    }
}

impl Lookups {
    /// Returns the thread's number, taken from the count when it is first asked for.
    pub(crate) fn thread(&self, numbers: &AtomicU64) -> u64 {
        if self.thread.get() == 0 {
            self.thread.set(numbers.fetch_add(1, Ordering::Relaxed) + 1);
        }
        self.thread.get()
    }

    #[inline]
    fn find(&self, removals: u64, span: Span) -> Option<MemoryKind> {
        if self.removals.get() != removals {
            return None;
        }
        let (start, end) = (span.address(), span.end());
        self.blocks
            .iter()
            .map(Cell::get)
            .find(|known| known.start <= start && end <= known.end)
            .map(|known| known.home)
    }

    #[inline]
    pub(crate) fn note_task(&self, position: u64) {
        self.last_task.set(position);
    }

    /// Notes a task that was recorded instead of queued.
    #[cold]
    pub(crate) fn note_recorded(&self, task: crate::capture::RecordedTask) {
        self.last_task.set(task.position());
        *self.recorded.borrow_mut() = Some(task);
    }

    /// Returns the last task of the thread that was recorded instead of queued.
    pub(crate) fn last_recorded(&self) -> Option<crate::capture::RecordedTask> {
        self.recorded.borrow().clone()
    }

    /// Returns the number, on its stream, of the last task that the thread put on a stream other than a default stream.
    pub fn last_task(&self) -> u64 {
        self.last_task.get()
    }

    fn remember(&self, removals: u64, block: Block) {
        if self.removals.replace(removals) != removals {
            self.blocks
                .iter()
                .for_each(|entry| entry.set(CacheEntry::default()));
        }
        let next = self.next.get();
        self.blocks[next].set(CacheEntry {
            start: block.span.address(),
            end: block.span.end(),
            home: block.home,
        });
        self.next.set((next + 1) % REMEMBERED);
    }
}
