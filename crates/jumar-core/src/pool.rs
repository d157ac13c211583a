//! Memory pools: allocation in the order of a stream.
//!
//! A pool holds chunks of device memory and hands out parts of them. A part that is given back in the order of a stream may
//! be handed out again on that stream at once, as the uses to come are queued behind the uses that were. On another
//! stream it may be handed out once the giving back has happened, or, where the pool allows it and there is no other memory,
//! behind a wait for that moment, which the new owner's stream gets in front of everything else.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jumar_hal::sync::{Mutex, Ordering};
use jumar_hal::{Signal, Span, Task, WaitThen};
use jumar_types::{Error, ErrorKind, Result};

use crate::capture::Recorder;
use crate::device::Device;
use crate::gate::Op;
use crate::memory::Owner;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime, Stream};

/// What a pool takes from the device at a time, at least.
///
/// # Units
/// Bytes.
const CHUNK: usize = 2 << 20;

/// What parts are multiples of.
///
/// # Units
/// Bytes.
const GRAIN: usize = 512;

/// A memory pool.
pub struct Pool {
    id: u64,
    device: Arc<Device>,
    /// The most that it may take from the device, a multiple of the grain; 0 means no limit of its own.
    max_bytes: u64,
    /// The life of the device that it was made in.
    epoch: u64,
    state: Mutex<State>,
}

/// What a pool allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRules {
    /// A part may go to a stream that waits, by an event, for the one that gave it back.
    pub follow_events: bool,
    /// A part may go to any stream once giving it back has happened.
    pub opportunistic: bool,
    /// A part may go to any stream, which then waits until giving it back has happened.
    pub internal_waits: bool,
    /// How much unused memory is kept when a stream or the device was waited for.
    ///
    /// # Units
    /// Bytes.
    pub keep_bytes: u64,
}

/// How much memory a pool has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Bytes taken from the device.
    pub reserved: u64,
    /// The most that they ever were.
    pub reserved_high: u64,
    /// Bytes handed out.
    pub used: u64,
    /// The most that they ever were.
    pub used_high: u64,
}

struct State {
    chunks: Vec<Chunk>,
    rules: PoolRules,
    usage: PoolUse,
    /// Bytes that threads are taking from the device at the moment. They count towards the limit.
    growing: u64,
    /// The life of its device has ended: it takes and hands out nothing more.
    closed: bool,
}

/// One allocation of the device, in parts.
struct Chunk {
    span: Span,
    free: BTreeMap<usize, Free>,
    live: HashMap<usize, usize>,
}

struct Free {
    bytes: usize,
    after: Option<After>,
}

/// The moment in a stream at which a part is given back.
#[derive(Clone)]
struct After {
    stream: u64,
    signal: Arc<Signal>,
}

/// A part that was chosen for a request.
struct Chosen {
    address: usize,
    /// The moment that the part was given back at, until it has come.
    after: Option<After>,
    /// The request is of another stream, which has to wait for that moment.
    waits: bool,
}

impl Chunk {
    /// Forgets moments that have come, and joins neighbours that are free for the same stream.
    fn tidy(&mut self) {
        for free in self.free.values_mut() {
            let has_come = |after: &After| after.signal.is_set();
            if free.after.as_ref().is_some_and(has_come) {
                free.after = None;
            }
        }
        let mut joined: BTreeMap<usize, Free> = BTreeMap::new();
        for (offset, free) in std::mem::take(&mut self.free) {
            if let Some(mut last) = joined.last_entry()
                && last.key() + last.get().bytes == offset
                && last.get().after.is_none()
                && free.after.is_none()
            {
                last.get_mut().bytes += free.bytes;
            } else {
                joined.insert(offset, free);
            }
        }
        self.free = joined;
    }

    /// Whether nothing of it is in use, or going to be until a moment has come.
    fn is_unused(&self) -> bool {
        self.live.is_empty() && self.free.values().all(|free| free.after.is_none())
    }

    fn take(&mut self, offset: usize, bytes: usize) -> Option<After> {
        let free = self.free.remove(&offset)?;
        if free.bytes > bytes {
            let rest = Free {
                bytes: free.bytes - bytes,
                after: free.after.clone(),
            };
            self.free.insert(offset + bytes, rest);
        }
        self.live.insert(offset, bytes);
        free.after
    }
}

impl State {
    fn chunk_of(&mut self, address: usize) -> Option<&mut Chunk> {
        self.chunks
            .iter_mut()
            .find(|chunk| chunk.span.contains(address))
    }

    /// Chooses the smallest free part that is large enough, among those that need no wait or among all.
    fn choose(&mut self, bytes: usize, stream: u64, may_wait: bool) -> Option<Chosen> {
        for chunk in &mut self.chunks {
            chunk.tidy();
        }
        let mut best: Option<(bool, usize, usize, usize)> = None;
        for (index, chunk) in self.chunks.iter().enumerate() {
            for (offset, free) in chunk.free.iter().filter(|(_, free)| free.bytes >= bytes) {
                let waits = match &free.after {
                    None => false,
                    Some(after) if after.stream == stream => false,
                    Some(_) if may_wait => true,
                    Some(_) => continue,
                };
                let candidate = (waits, free.bytes, index, *offset);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
        let (waits, _, index, offset) = best?;
        let chunk = self.chunks.get_mut(index)?;
        let after = chunk.take(offset, bytes);
        Some(Chosen {
            address: chunk.span.address() + offset,
            after,
            waits,
        })
    }

    fn handed_out(&mut self, bytes: usize) {
        self.usage.used += bytes as u64;
        self.usage.used_high = self.usage.used_high.max(self.usage.used);
    }

    /// Takes a part back.
    fn put_back(&mut self, address: usize, after: Option<After>) {
        let Some(chunk) = self.chunk_of(address) else {
            return;
        };
        let offset = address - chunk.span.address();
        if let Some(bytes) = chunk.live.remove(&offset) {
            chunk.free.insert(offset, Free { bytes, after });
            self.usage.used -= bytes as u64;
        }
    }

    /// Removes complete unused chunks, as long as `keep` bytes stay.
    fn take_unused(&mut self, keep: u64) -> Vec<Span> {
        let mut gone = Vec::new();
        let mut reserved = self.usage.reserved;
        self.chunks.retain_mut(|chunk| {
            let bytes = chunk.span.bytes() as u64;
            // The greatest threshold means that everything is kept.
            if reserved < keep.saturating_add(bytes) {
                return true;
            }
            chunk.tidy();
            if !chunk.is_unused() {
                return true;
            }
            reserved -= bytes;
            gone.push(chunk.span);
            false
        });
        self.usage.reserved = reserved;
        gone
    }
}

impl Pool {
    /// Returns the handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns what the pool allows.
    pub fn rules(&self) -> PoolRules {
        self.state.lock().rules
    }

    /// Changes what the pool allows, for what comes.
    pub fn change_rules(&self, change: impl FnOnce(&mut PoolRules)) {
        change(&mut self.state.lock().rules);
    }

    /// Returns how much memory the pool has.
    pub fn usage(&self) -> PoolUse {
        self.state.lock().usage
    }

    /// Lets the greatest numbers begin again at what they are now.
    pub fn forget_high(&self, reserved: bool, used: bool) {
        let usage = &mut self.state.lock().usage;
        if reserved {
            usage.reserved_high = usage.reserved;
        }
        if used {
            usage.used_high = usage.used;
        }
    }

    /// Takes a part for a stream, from what is there or from the device.
    fn take(&self, shared: &SharedRuntime, bytes: usize, stream: u64) -> Result<Chosen> {
        let choose = |may_wait: bool| {
            let mut state = self.state.lock();
            if state.closed {
                return None;
            }
            let may_wait = may_wait && state.rules.internal_waits;
            let chosen = state.choose(bytes, stream, may_wait)?;
            state.handed_out(bytes);
            Some(chosen)
        };
        if let Some(chosen) = choose(false) {
            return Ok(chosen);
        }
        let grown = self.grow(shared, bytes).or_else(|error| {
            if error.kind() == ErrorKind::OutOfMemory && shared.trim_pools(&self.device) {
                self.grow(shared, bytes)
            } else {
                Err(error)
            }
        });
        // Waiting for another stream costs parallelism, so that it comes last, when there is no other memory.
        let span = match grown {
            Ok(span) => span,
            Err(error) => return choose(true).ok_or(error),
        };
        let mut state = self.state.lock();
        state.growing -= span.bytes() as u64;
        if state.closed {
            drop(state);
            self.device.return_chunk(span);
            return Err(self.device.ended());
        }
        let mut chunk = Chunk {
            span,
            free: BTreeMap::new(),
            live: HashMap::new(),
        };
        let bytes_of_chunk = span.bytes();
        chunk.free.insert(
            0,
            Free {
                bytes: bytes_of_chunk,
                after: None,
            },
        );
        chunk.take(0, bytes);
        state.chunks.push(chunk);
        state.usage.reserved += bytes_of_chunk as u64;
        state.usage.reserved_high = state.usage.reserved_high.max(state.usage.reserved);
        state.handed_out(bytes);
        Ok(Chosen {
            address: span.address(),
            after: None,
            waits: false,
        })
    }

    /// Takes a chunk from the device that holds `bytes`. It is counted as growing until it is among the chunks.
    fn grow(&self, shared: &SharedRuntime, bytes: usize) -> Result<Span> {
        let chunk = self.begin_growth(bytes)?;
        self.device
            .take_chunk(shared, chunk)
            .inspect_err(|_| self.state.lock().growing -= chunk as u64)
    }

    /// Chooses the length of the next chunk and counts it: checked together, so that threads that grow the pool at the same
    /// time stay below its limit.
    fn begin_growth(&self, bytes: usize) -> Result<usize> {
        let chunk = bytes.checked_next_multiple_of(CHUNK).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{bytes} bytes are more than any device has"),
            )
        })?;
        let mut state = self.state.lock();
        let taken = state.usage.reserved.saturating_add(state.growing);
        let left = match self.max_bytes {
            0 => u64::MAX,
            most => most.saturating_sub(taken),
        };
        if bytes as u64 > left {
            return Err(Error::new(
                ErrorKind::OutOfMemory,
                format!(
                    "{bytes} more bytes would take the memory pool beyond its {} bytes; it has {taken}",
                    self.max_bytes
                ),
            )
            .fix("Free memory of the pool, or make it with a larger maxSize."));
        }
        // The last chunk below the limit is as long as the limit allows.
        let chunk = usize::try_from(left).map_or(chunk, |left| chunk.min(left));
        state.growing += chunk as u64;
        Ok(chunk)
    }

    /// Returns whether the pool has memory, or is about to.
    fn has_memory(&self) -> bool {
        let state = self.state.lock();
        state.usage.reserved != 0 || state.growing != 0
    }

    fn release(&self, keep: u64) -> bool {
        let gone = self.state.lock().take_unused(keep);
        for span in &gone {
            self.device.return_chunk(*span);
        }
        !gone.is_empty()
    }
}

impl Runtime {
    /// Makes a pool on a device.
    ///
    /// # Errors
    /// `InvalidDevice`, `DeviceSetup`.
    pub fn create_pool(&self, device: i64, max_bytes: u64) -> Result<Arc<Pool>> {
        let shared = &self.shared;
        let device = shared.device(device)?;
        device.hardware(shared)?;
        // Parts are multiples of the grain, so that a limit between two multiples would be one that cannot be reached.
        let max_bytes = max_bytes
            .checked_next_multiple_of(GRAIN as u64)
            .unwrap_or(max_bytes);
        let epoch = device.epoch();
        let pool = shared.pools.insert(|id| {
            Arc::new(Pool {
                id,
                device,
                max_bytes,
                epoch,
                state: Mutex::new(State {
                    chunks: Vec::new(),
                    rules: PoolRules {
                        follow_events: true,
                        opportunistic: true,
                        internal_waits: true,
                        keep_bytes: 0,
                    },
                    usage: PoolUse::default(),
                    growing: 0,
                    closed: false,
                }),
            })
        })?;
        shared.living_pools.lock().push(pool.clone());
        shared.pool_count.fetch_add(1, Ordering::AcqRel);
        Ok(pool)
    }

    /// Finds a pool.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`.
    pub fn pool(&self, id: u64) -> Result<Arc<Pool>> {
        self.shared.pools.get(id)
    }

    /// Destroys a pool. What it handed out stays usable; its memory goes back to the device once all of it was given back.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy_pool(&self, id: u64, caller: &Caller<'_>) -> Result<()> {
        let pool = self.shared.pools.remove(id, caller.call.name)?;
        pool.change_rules(|rules| rules.keep_bytes = 0);
        self.shared.drain_pools();
        Ok(())
    }

    /// Returns complete unused chunks to the device, as long as `keep` bytes stay.
    pub fn trim_pool(&self, pool: &Pool, keep: u64) {
        pool.release(keep);
    }
}

impl Stream {
    /// Allocates memory of a pool in the order of the stream. The memory may be used by what is queued from now on.
    ///
    /// # Errors
    /// `OutOfMemory`; `InvalidValue`: the pool is on another device; what the gate or a stopped context answers.
    pub fn allocate_from(
        &self,
        pool: &Arc<Pool>,
        bytes: usize,
        caller: &Caller<'_>,
    ) -> Result<Span> {
        let shared = self.shared();
        let device = pool.device.number();
        if device != self.device() {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the memory pool is on device {device}, and stream {} on device {}",
                    self.number(),
                    self.device()
                ),
            ));
        }
        let rounded = bytes.checked_next_multiple_of(GRAIN).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{bytes} bytes are more than any device has"),
            )
        })?;
        let chosen = pool.take(shared, rounded, self.id())?;
        let span = {
            let state = pool.state.lock();
            let chunk = state
                .chunks
                .iter()
                .find(|chunk| chunk.span.contains(chosen.address));
            chunk.and_then(|chunk| {
                chunk
                    .span
                    .part(chosen.address - chunk.span.address(), bytes)
            })
        };
        let span = span.ok_or_else(|| pool.device.ended())?;
        let op = || Op::Allocate {
            span,
            device: Some(device),
        };
        let signal = chosen.after.as_ref().filter(|_| chosen.waits);
        let queued = match signal.map(|after| after.signal.clone()) {
            Some(signal) => self.submit(
                caller,
                Task::Wait {
                    signal,
                    then: WaitThen::Keep,
                    limit: None,
                },
                op,
            ),
            None => self.take_turn("allocation of pool memory", caller, op),
        };
        if let Err(refused) = queued {
            // What is queued before that moment may still use it.
            pool.state.lock().put_back(chosen.address, chosen.after);
            return Err(refused);
        }
        let block = shared.space.insert(
            span,
            span,
            MemoryKind::Device(device),
            Owner::Pool { epoch: pool.epoch },
            caller.call.name,
        );
        // A pool that closes takes out what it finds among the blocks, once it is closed.
        let state = pool.state.lock();
        if state.closed {
            drop(state);
            shared.space.take_back(&block);
            return Err(pool.device.ended());
        }
        shared
            .pool_blocks
            .lock()
            .insert(span.address(), pool.clone());
        drop(state);
        Ok(span)
    }

    /// Returns memory of a pool back in the order of the stream. What is queued from now on may not use it. Where the stream is
    /// recorded, the memory stays with the model until that is destroyed.
    ///
    /// # Errors
    /// `InvalidValue`: the address is not the start of live memory of a pool; what the gate or a stopped context answers.
    pub fn free_to_pool(&self, address: usize, caller: &Caller<'_>) -> Result<()> {
        let shared = self.shared();
        let claimed = shared.pool_blocks.lock().remove(&address);
        let block = shared.space.find(address);
        let (Some(pool), Some(block)) = (claimed, block) else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("{address:#x} is not the start of live memory of a pool"),
            )
            .fix("Pass the address that the pool gave, once, while it is live."));
        };
        if let Some(Recorder::CapturedStream {
            graph,
            captured_stream,
        }) = self.recorder()
        {
            match graph.adopt(captured_stream, &pool, address) {
                // Each execution uses the memory, so it is the model's now.
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(refused) => {
                    shared.pool_blocks.lock().insert(address, pool);
                    return Err(refused);
                }
            }
        }
        let signal = Arc::new(Signal::untimed());
        let queued = self.queue_with(caller, Task::Set(signal.clone()), [], || Op::Free {
            span: block.span,
            device: Some(pool.device.number()),
        });
        if let Err(refused) = queued {
            shared.pool_blocks.lock().insert(address, pool);
            return Err(refused);
        }
        drop(shared.space.remove(address, false, |_| Ok(())));
        let after = After {
            stream: self.id(),
            signal,
        };
        pool.state.lock().put_back(address, Some(after));
        Ok(())
    }
}

impl SharedRuntime {
    /// Returns memory back that belonged to a model which is gone.
    pub(crate) fn give_back_adopted(&self, pool: &Pool, address: usize) {
        // Where the device's life has ended in the meantime, the memory went with it.
        if self.space.remove(address, false, |_| Ok(())).is_ok() {
            pool.state.lock().put_back(address, None);
        }
    }

    /// Releases memory of pools beyond their thresholds after a synchronisation; forgets pools that are done.
    #[inline]
    pub(crate) fn drain_pools(&self) {
        if self.pool_count.load(Ordering::Relaxed) != 0 {
            self.drain_listed_pools();
        }
    }

    #[cold]
    fn drain_listed_pools(&self) {
        let pools = self.living_pools.lock().clone();
        for pool in &pools {
            pool.release(pool.rules().keep_bytes);
        }
        let mut living = self.living_pools.lock();
        let before = living.len();
        living.retain(|pool| pool.has_memory() || self.pools.get(pool.id).is_ok());
        let gone = before - living.len();
        drop(living);
        self.pool_count.fetch_sub(gone as u32, Ordering::AcqRel);
    }

    /// Returns everything unused of a device's pools back; false when there was nothing.
    pub(crate) fn trim_pools(&self, device: &Device) -> bool {
        let pools = self.living_pools.lock().clone();
        let mut any = false;
        for pool in pools
            .iter()
            .filter(|pool| pool.device.number() == device.number())
        {
            any |= pool.release(0);
        }
        any
    }

    /// Frees memory of a pool at once, without waiting for any stream; `None` if the address is not from a pool.
    pub(crate) fn free_pool_block(
        &self,
        address: usize,
        caller: &Caller<'_>,
    ) -> Option<Result<()>> {
        // A pool that has memory out is among the living.
        if self.pool_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let pool = self.pool_blocks.lock().remove(&address)?;
        let device = pool.device.number();
        let removed = self
            .space
            .remove(address, self.gate.is_observed(), |block| {
                let op = || Op::Free {
                    span: block.span,
                    device: Some(device),
                };
                self.gate.admit(caller, device, None, op).map(drop)
            });
        if let Err(refused) = removed {
            self.pool_blocks.lock().insert(address, pool);
            return Some(Err(refused));
        }
        pool.state.lock().put_back(address, None);
        Some(Ok(()))
    }

    /// Closes every pool of a device that was made in one of its lives up to `epoch`. Returns them.
    pub(crate) fn close_pools(&self, device: u32, epoch: u64) -> Vec<Arc<Pool>> {
        let gone: Vec<Arc<Pool>> = {
            let mut living = self.living_pools.lock();
            let (gone, stay) = std::mem::take(&mut *living)
                .into_iter()
                .partition(|pool| pool.device.number() == device && pool.epoch <= epoch);
            *living = stay;
            gone
        };
        for pool in &gone {
            pool.state.lock().closed = true;
        }
        self.pool_count
            .fetch_sub(gone.len() as u32, Ordering::AcqRel);
        gone
    }

    /// Drops closed pools; their memory is freed with its last reference.
    pub(crate) fn drop_pools(&self, gone: Vec<Arc<Pool>>, by: &'static str) {
        for pool in &gone {
            drop(self.pools.remove(pool.id, by));
            let chunks = {
                let mut state = pool.state.lock();
                state.usage.reserved = 0;
                state.usage.used = 0;
                std::mem::take(&mut state.chunks)
            };
            for chunk in chunks {
                pool.device.return_chunk(chunk.span);
            }
        }
    }
}
