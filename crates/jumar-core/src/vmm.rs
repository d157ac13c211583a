//! Virtual memory: addresses that are reserved first, and physical memory that is mapped into them later.
//!
//! A mapping is an ordinary live allocation while it lasts, so that copies and models use it like any other memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use jumar_hal::{Physical, Span};
use jumar_types::{Error, ErrorKind, Result};

use crate::device::Device;
use crate::gate::Op;
use crate::memory::Owner;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime};

/// What sizes of physical memory and of mappings are multiples of.
///
/// # Units
/// Bytes.
pub const GRANULARITY: usize = 2 << 20;

/// Memory of a device without an address of its own.
pub struct PhysicalMemory {
    id: u64,
    device: Arc<Device>,
    pages: Arc<dyn Physical>,
    /// Another process made it, and it counts there.
    imported: bool,
}

impl PhysicalMemory {
    /// Returns the handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of the device.
    pub fn device(&self) -> u32 {
        self.device.number()
    }

    /// Returns the length.
    ///
    /// # Units
    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.pages.bytes()
    }
}

/// Who accesses mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accessor {
    /// The host.
    Host,
    /// A device.
    Device(u32),
}

/// The access rights of mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRight {
    /// Nothing.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    ReadWrite,
}

/// Who may do what with a mapping.
pub(crate) enum Access {
    /// Everybody everything.
    Everybody,
    /// Those in the list what it says, all others nothing.
    Listed(BTreeMap<Accessor, AccessRight>),
}

impl Access {
    fn is_any(&self) -> bool {
        match self {
            Access::Everybody => true,
            Access::Listed(listed) => listed.values().any(|right| *right != AccessRight::None),
        }
    }
}

/// Physical memory at an address. It is among the live blocks while access is allowed.
pub(crate) struct Mapping {
    pub(crate) memory: Arc<PhysicalMemory>,
    pub(crate) span: Span,
    pub(crate) access: Access,
    /// The life of the device that it was made in.
    pub(crate) epoch: u64,
    pub(crate) state: MappingState,
}

/// How far a mapping has come. The entry is made before the memory is mapped and removed after it is unmapped, so that no
/// other thread maps into the addresses or releases them meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingState {
    /// A thread maps the memory.
    Beginning,
    /// The memory is mapped.
    Mapped,
    /// A thread unmaps the memory.
    Ending,
}

impl Mapping {
    fn grant(&mut self, grants: &[(Accessor, AccessRight)]) {
        let mut listed = match &self.access {
            Access::Listed(listed) => listed.clone(),
            Access::Everybody => BTreeMap::new(),
        };
        listed.extend(grants.iter().copied());
        // Full access remains unless a right was withdrawn.
        let had_all = matches!(self.access, Access::Everybody);
        if had_all
            && listed
                .values()
                .all(|right| *right == AccessRight::ReadWrite)
        {
            return;
        }
        if had_all {
            let own = Accessor::Device(self.memory.device());
            listed.entry(own).or_insert(AccessRight::ReadWrite);
        }
        self.access = Access::Listed(listed);
    }
}

impl SharedRuntime {
    /// Adds an accessible mapping to the live blocks.
    fn show_mapping(&self, span: Span, device: u32, epoch: u64, by: &'static str) {
        let owner = Owner::Mapping { epoch };
        let block = self
            .space
            .insert(span, span, MemoryKind::Device(device), owner, by);
        // Unmapped meanwhile, or dropped with its device.
        if with_mapping(&mut self.mapped.lock(), span.address(), |_| ()).is_none() {
            self.space.take_back(&block);
        }
    }

    /// Unmaps memory whose entry is ending, and makes the addresses free for the next mapping.
    pub(crate) fn end_mapping(&self, device: &Device, span: Span) -> Result<()> {
        let unmapped = device
            .hardware(self)
            .and_then(|hardware| hardware.unmap(span));
        self.mapped.lock().remove(&span.address());
        unmapped
    }

    /// Returns whether any mapping shares a byte with a range.
    pub(crate) fn is_mapped_in(&self, span: Span) -> bool {
        overlaps(&self.mapped.lock(), span)
    }
}

fn overlaps(mapped: &BTreeMap<usize, Mapping>, span: Span) -> bool {
    let last = mapped.range(..span.end()).next_back();
    last.is_some_and(|(_, mapping)| mapping.span.overlaps(span))
}

/// Calls a function with the mapping that begins at an address, if memory is mapped there now.
fn with_mapping<T>(
    mapped: &mut BTreeMap<usize, Mapping>,
    at: usize,
    work: impl FnOnce(&mut Mapping) -> T,
) -> Option<T> {
    let mapping = mapped.get_mut(&at)?;
    (mapping.state == MappingState::Mapped).then(|| work(mapping))
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if !self.imported {
            self.device.uncount(self.pages.bytes());
        }
    }
}

impl Runtime {
    /// Reserves addresses for memory that is mapped later.
    ///
    /// # Errors
    /// `OutOfMemory`: the system has no such range.
    pub fn reserve_addresses(&self, device: &Device, bytes: usize) -> Result<Span> {
        let shared = &self.shared;
        let rounded = bytes.checked_next_multiple_of(GRANULARITY).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{bytes} bytes are more than a process can address"),
            )
        })?;
        let span = device.hardware(shared)?.reserve(rounded)?;
        shared.space.reserve(device.number(), span);
        Ok(span)
    }

    /// Returns reserved addresses back.
    ///
    /// # Errors
    /// `InvalidValue`: not the start of a reserved range, or memory is still mapped there.
    pub fn release_addresses(&self, address: usize) -> Result<()> {
        let shared = &self.shared;
        let (device, span) = shared.space.unreserve(address, |span| {
            if shared.is_mapped_in(span) {
                return Err(Error::new(
                    ErrorKind::InvalidValue,
                    format!("physical memory is still mapped in the range at {address:#x}"),
                )
                .fix("Unmap it first."));
            }
            Ok(())
        })?;
        shared.devices[device as usize]
            .hardware(shared)?
            .release(span);
        Ok(())
    }

    /// Makes physical memory, counted against the device.
    ///
    /// # Errors
    /// `InvalidValue`: not a multiple of the granularity; `OutOfMemory`.
    pub fn create_physical(&self, number: i64, bytes: usize) -> Result<Arc<PhysicalMemory>> {
        let shared = &self.shared;
        let device = shared.device(number)?;
        if !bytes.is_multiple_of(GRANULARITY) {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("{bytes} bytes of physical memory are not a multiple of {GRANULARITY}"),
            )
            .fix("Round the size up to a multiple of the granularity."));
        }
        device.count(bytes)?;
        let pages = device
            .hardware(shared)
            .and_then(|hardware| hardware.physical(bytes))
            .inspect_err(|_| device.uncount(bytes))?;
        self.keep_physical(device, pages, false)
    }

    fn keep_physical(
        &self,
        device: Arc<Device>,
        pages: Arc<dyn Physical>,
        imported: bool,
    ) -> Result<Arc<PhysicalMemory>> {
        self.shared.physical.insert(|id| {
            Arc::new(PhysicalMemory {
                id,
                device,
                pages,
                imported,
            })
        })
    }

    /// Lets other processes import physical memory. Returns the number by which they find it; with `listed_only`, those
    /// alone that [`Runtime::admit_processes`] names.
    ///
    /// # Errors
    /// `InvalidValue`: it was exported before, or comes from another process itself.
    pub fn export_physical(&self, memory: &Arc<PhysicalMemory>, listed_only: bool) -> Result<u64> {
        let bad = |what: &str| Err(Error::new(ErrorKind::InvalidValue, what.to_owned()));
        if memory.imported {
            return bad("the memory was imported: only the process that made it can export it");
        }
        let mut exported = self.shared.exported.lock();
        exported.retain(|_, known| known.strong_count() > 0);
        if exported
            .values()
            .any(|known| known.as_ptr() == Arc::as_ptr(memory))
        {
            return bad(
                "the memory was exported already: it has one shareable handle for all importers",
            );
        }
        let number = memory.pages.share(listed_only)?;
        exported.insert(number, Arc::downgrade(memory));
        Ok(number)
    }

    /// Ends the export of physical memory: processes that have it keep it, and no other can import it.
    ///
    /// # Errors
    /// `OutOfMemory`: the system refused it.
    pub(crate) fn withdraw_physical(&self, number: u64) -> Result<()> {
        let mut exported = self.shared.exported.lock();
        if let Some(memory) = exported.get(&number).and_then(Weak::upgrade) {
            memory.pages.withdraw()?;
        }
        exported.remove(&number);
        Ok(())
    }

    /// Adds processes to those that may import memory which this process exported.
    ///
    /// # Errors
    /// `InvalidValue`: this process exports nothing by that number, or there are too many processes.
    pub fn admit_processes(&self, number: u64, processes: &[u32]) -> Result<()> {
        // The lock is held to the end, for the backend takes one call at a time.
        let exported = self.shared.exported.lock();
        let Some(memory) = exported.get(&number).and_then(Weak::upgrade) else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("this process does not export memory as {number:#x}"),
            ));
        };
        memory.pages.admit(processes)
    }

    /// Takes physical memory that another process exported, for a device of this one. It counts where it was made.
    ///
    /// # Errors
    /// `InvalidValue`: the number is none, or of this process; the other process or its memory is gone; it does not share
    /// the memory with this process.
    pub fn import_physical(&self, number: i64, exported: u64) -> Result<Arc<PhysicalMemory>> {
        let shared = &self.shared;
        let device = shared.device(number)?;
        let pages = device.hardware(shared)?.adopt(exported)?;
        self.keep_physical(device, pages, true)
    }

    /// Finds physical memory by its handle.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn physical(&self, handle: u64) -> Result<Arc<PhysicalMemory>> {
        self.shared.physical.get(handle)
    }

    /// Frees physical memory; what is mapped stays until it is unmapped.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn free_physical(&self, handle: u64, caller: &Caller<'_>) -> Result<()> {
        self.shared
            .physical
            .remove(handle, caller.call.name)
            .map(drop)
    }

    /// Maps physical memory into a reserved range, from its start. Without access, nothing may touch it until
    /// [`Runtime::set_access`] allows it.
    ///
    /// # Errors
    /// `InvalidValue`: the range is not reserved, not aligned, in use, or of another length than the memory.
    pub fn map_memory(
        &self,
        at: usize,
        bytes: usize,
        memory: &Arc<PhysicalMemory>,
        with_access: bool,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let shared = &self.shared;
        let bad = |what: String| Err(Error::new(ErrorKind::InvalidValue, what));
        if bytes != memory.bytes() || !at.is_multiple_of(GRANULARITY) {
            return bad(format!(
                "{bytes} bytes at {at:#x} cannot hold physical memory of {} bytes: the lengths have to agree, and the address to be a multiple of {GRANULARITY}",
                memory.bytes()
            ));
        }
        let Some(range) = shared.space.reservation(at) else {
            return bad(format!("{at:#x} is not in a reserved range of addresses"));
        };
        let Some(span) = range.part(at - range.address(), bytes) else {
            return bad(format!(
                "{bytes} bytes at {at:#x} leave the range of {} bytes reserved at {:#x}",
                range.bytes(),
                range.address()
            ));
        };
        let device = &memory.device;
        let epoch = device.epoch();
        {
            let mut mapped = shared.mapped.lock();
            if overlaps(&mapped, span) {
                return bad(format!("physical memory is mapped at {at:#x} already"));
            }
            let access = match with_access {
                true => Access::Everybody,
                false => Access::Listed(BTreeMap::new()),
            };
            let mapping = Mapping {
                memory: memory.clone(),
                span,
                access,
                epoch,
                state: MappingState::Beginning,
            };
            mapped.insert(at, mapping);
        }
        // A thread that released the range before the entry was made has released it by now; later ones find the entry.
        let begun = match shared.space.reservation(at) == Some(range) {
            true => shared
                .gate
                .admit(caller, device.number(), None, || Op::Allocate {
                    span,
                    device: Some(device.number()),
                })
                .and_then(|_| memory.pages.map(span)),
            false => bad(format!(
                "the range of addresses at {:#x} was released meanwhile",
                range.address()
            )),
        };
        if let Err(refused) = begun {
            shared.mapped.lock().remove(&at);
            return Err(refused);
        }
        {
            let mut mapped = shared.mapped.lock();
            let alive = device.epoch() == epoch;
            if let Some(mapping) = mapped.get_mut(&at) {
                mapping.state = match alive {
                    true => MappingState::Mapped,
                    false => MappingState::Ending,
                };
            }
            drop(mapped);
            if !alive {
                // The thread that ended the device epoch unmapped what it found; later memory is unmapped here.
                shared.end_mapping(device, span)?;
                return Err(device.ended());
            }
        }
        if with_access {
            shared.show_mapping(span, device.number(), epoch, caller.call.name);
        }
        Ok(())
    }

    /// Takes physical memory out of a reserved range.
    ///
    /// # Errors
    /// `InvalidValue`: nothing is mapped there.
    pub fn unmap_memory(&self, at: usize, caller: &Caller<'_>) -> Result<()> {
        let shared = &self.shared;
        let found = with_mapping(&mut shared.mapped.lock(), at, |mapping| {
            mapping.state = MappingState::Ending;
            (mapping.memory.clone(), mapping.span)
        });
        let Some((memory, span)) = found else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("no physical memory is mapped at {at:#x}"),
            ));
        };
        let device = memory.device();
        let admitted = shared.gate.admit(caller, device, None, || Op::Free {
            span,
            device: Some(device),
        });
        if let Err(refused) = admitted {
            if let Some(mapping) = shared.mapped.lock().get_mut(&at) {
                mapping.state = MappingState::Mapped;
            }
            return Err(refused);
        }
        // Where access is not allowed there is no block.
        drop(shared.space.remove(at, false, |_| Ok(())));
        shared.end_mapping(&memory.device, span)
    }

    /// Sets the access rights of a mapping, or of several adjacent ones together.
    ///
    /// # Errors
    /// `InvalidValue`: the range does not begin and end with mappings.
    pub fn set_access(
        &self,
        at: usize,
        bytes: usize,
        grants: &[(Accessor, AccessRight)],
        caller: &Caller<'_>,
    ) -> Result<()> {
        let shared = &self.shared;
        let mut mapped = shared.mapped.lock();
        let mut starts = Vec::new();
        let mut covered = 0;
        while covered < bytes {
            let start = at.saturating_add(covered);
            let Some(length) = with_mapping(&mut mapped, start, |mapping| mapping.span.bytes())
            else {
                break;
            };
            starts.push(start);
            covered += length;
        }
        if starts.is_empty() || covered != bytes {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "{bytes} bytes at {at:#x} are neither one mapping nor several contiguous mappings"
                ),
            )
            .fix("Pass the address and the size that the mapping was made with."));
        }
        let mut changed = Vec::new();
        for start in starts {
            let Some(mapping) = mapped.get_mut(&start) else {
                continue;
            };
            let before = mapping.access.is_any();
            mapping.grant(grants);
            changed.push((
                before,
                mapping.access.is_any(),
                mapping.span,
                mapping.memory.device(),
                mapping.epoch,
            ));
        }
        drop(mapped);
        for (before, after, span, device, epoch) in changed {
            match (before, after) {
                (false, true) => shared.show_mapping(span, device, epoch, caller.call.name),
                (true, false) => drop(shared.space.remove(span.address(), false, |_| Ok(()))),
                (true, true) | (false, false) => {}
            }
        }
        Ok(())
    }

    /// Returns the access rights of the mapping that contains an address.
    ///
    /// # Errors
    /// `InvalidValue`: nothing is mapped there.
    pub fn access(&self, at: usize, who: Accessor) -> Result<AccessRight> {
        let mapped = self.shared.mapped.lock();
        let found = mapped
            .range(..=at)
            .next_back()
            .filter(|(_, mapping)| mapping.state == MappingState::Mapped)
            .filter(|(_, mapping)| mapping.span.contains(at));
        let Some((_, mapping)) = found else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("no physical memory is mapped at {at:#x}"),
            ));
        };
        Ok(match &mapping.access {
            Access::Everybody => AccessRight::ReadWrite,
            Access::Listed(listed) => listed.get(&who).copied().unwrap_or(AccessRight::None),
        })
    }

    /// Returns whether an address lies in a reserved range, whatever is mapped there.
    pub fn is_reserved(&self, address: usize) -> bool {
        self.shared.space.reservation(address).is_some()
    }

    /// Finds the physical memory that is mapped at an address.
    pub fn mapped_at(&self, at: usize) -> Option<Arc<PhysicalMemory>> {
        let mut mapped = self.shared.mapped.lock();
        with_mapping(&mut mapped, at, |mapping| mapping.memory.clone())
    }
}
