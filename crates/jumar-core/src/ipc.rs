//! Device memory that processes share by name.
//!
//! An allocation has no memory of its own that could be shared, so the pages it lies in are exchanged for pages of a memory
//! file, with their content; the addresses stay. Other allocations in the first and the last of them are shared too, and stay
//! usable. The importer maps the file and finds the allocation at the same distance from its start.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Physical;
use jumar_hal::sync::Mutex;
use jumar_types::{Error, ErrorKind, Result};

use crate::vmm::GRANULARITY;
use crate::{Caller, Context, MemoryKind, Runtime};

/// What exchanging memory works on.
const PAGE: usize = 4096;
/// How long queued work may take to end before pages are exchanged.
const PATIENCE: Duration = Duration::from_secs(2);

/// By what another process finds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryName {
    /// The number of the pages.
    pub number: u64,
    /// Where in them the memory begins.
    pub offset: usize,
    /// How long it is.
    pub bytes: usize,
}

/// What the process shares, and what others share with it.
#[derive(Default)]
pub(crate) struct SharedMemory {
    exports: Mutex<Vec<Export>>,
    imports: Mutex<Vec<Import>>,
}

struct Export {
    name: MemoryName,
    listed_only: bool,
    /// The number of the allocation, which distinguishes it from a later one at the same address.
    allocation: u64,
    /// The pages, from their first address to behind their last.
    range: std::ops::Range<usize>,
    /// None for physical memory, which is kept elsewhere, with its access list.
    pages: Option<Arc<dyn Physical>>,
}

struct Import {
    name: MemoryName,
    start: usize,
    physical: u64,
    uses: usize,
}

fn bad<T>(sentence: String) -> Result<T> {
    Err(Error::new(ErrorKind::InvalidValue, sentence))
}

impl Runtime {
    /// Shares an allocation of device memory, or its beginning. Returns its name; with `listed_only`, those processes alone
    /// may have it that [`Runtime::admit_to_memory`] names. Shared again, it has the same name.
    ///
    /// # Errors
    /// `InvalidValue`: the address is not the start of an allocation as long as that; it is shared otherwise already, or lies
    /// in a page with another one that is; a task runs on and on.
    pub fn export_memory(
        &self,
        address: usize,
        bytes: usize,
        listed_only: bool,
    ) -> Result<MemoryName> {
        let shared = &self.shared;
        let block = shared.space.find(address);
        let device = match &block {
            Some(block) if block.span.address() == address => match block.home {
                MemoryKind::Device(device) => Some(device),
                _ => None,
            },
            _ => None,
        };
        let (Some(block), Some(device)) = (block, device) else {
            return bad(format!(
                "{address:#x} is not the start of an allocation of device memory"
            ));
        };
        if bytes == 0 || bytes > block.span.bytes() {
            return bad(format!(
                "{bytes} bytes are to be shared of the allocation at {address:#x}, which has {}",
                block.span.bytes()
            ));
        }
        let mut exports = shared.memory.exports.lock();
        // What was freed meanwhile is shared no longer.
        let is_stale = |export: &mut Export| {
            let at = export.range.start + export.name.offset;
            let known = shared.space.find(at);
            known.is_none_or(|block| block.number != export.allocation)
        };
        for stale in exports.extract_if(.., is_stale) {
            self.withdraw(&stale)?;
        }
        if let Some(known) = exports
            .iter()
            .find(|known| known.allocation == block.number)
        {
            if known.name.bytes == bytes && known.listed_only == listed_only {
                return Ok(known.name);
            }
            return bad(format!(
                "the allocation at {address:#x} is shared already, with another size or rule"
            ));
        }
        let (name, range, pages) = match self.mapped_at(address) {
            Some(memory) => {
                let number = self.export_physical(&memory, listed_only)?;
                let name = MemoryName {
                    number,
                    offset: 0,
                    bytes,
                };
                (name, address..address + bytes, None)
            }
            None => {
                let start = address & !(PAGE - 1);
                let end = (address + bytes).next_multiple_of(PAGE);
                if exports
                    .iter()
                    .any(|known| known.range.start < end && start < known.range.end)
                {
                    return Err(Error::new(
                        ErrorKind::InvalidValue,
                        format!("the allocation at {address:#x} lies in a page of another one that is shared"),
                    )
                    .fix("Allocate 64 KiB or more: such an allocation has its pages for itself."));
                }
                // What a task writes into a page while it is exchanged is lost. A stream that waits runs none, and may wait for
                // the very process that is to get the memory.
                if !self.quiet_within(PATIENCE) {
                    return Err(Error::new(
                        ErrorKind::InvalidValue,
                        format!(
                            "a task has run for {} s, and memory cannot be shared for the first time while tasks may write to it",
                            PATIENCE.as_secs()
                        ),
                    )
                    .fix("Synchronise the streams, and share the memory then."));
                }
                let hardware = shared.device(i64::from(device))?.hardware(shared)?.clone();
                let pages = hardware.pages_under(start, end - start)?;
                let number = pages.share(listed_only)?;
                let name = MemoryName {
                    number,
                    offset: address - start,
                    bytes,
                };
                (name, start..end, Some(pages))
            }
        };
        exports.push(Export {
            name,
            listed_only,
            allocation: block.number,
            range,
            pages,
        });
        Ok(name)
    }

    /// Adds processes to those that may have memory which this process shares.
    ///
    /// # Errors
    /// `InvalidValue`: this process shares no memory by that name, or there are too many processes.
    pub fn admit_to_memory(&self, name: MemoryName, processes: &[u32]) -> Result<()> {
        // The lock is held to the end, for the backend takes one call at a time.
        let exports = self.shared.memory.exports.lock();
        let Some(export) = exports.iter().find(|export| export.name == name) else {
            return bad("this process shares no memory under this name".to_owned());
        };
        match &export.pages {
            Some(pages) => pages.admit(processes),
            None => self.admit_processes(name.number, processes),
        }
    }

    /// Returns whether this process shares, or has, memory by a name.
    pub fn knows_memory(&self, name: MemoryName) -> bool {
        let memory = &self.shared.memory;
        memory.exports.lock().iter().any(|known| known.name == name)
            || memory.imports.lock().iter().any(|known| known.name == name)
    }

    /// Maps memory that another process shares, for a context's device. Returns its address. Taken again, it is where it
    /// was.
    ///
    /// # Errors
    /// `InvalidValue`: the name is none, or of this process; the other process or its memory is gone; it does not share the
    /// memory with this process. `OutOfMemory`: the system has no addresses.
    pub fn import_memory(
        &self,
        context: &Context,
        name: MemoryName,
        caller: &Caller<'_>,
    ) -> Result<usize> {
        let mut imports = self.shared.memory.imports.lock();
        if let Some(at) = imports.iter().position(|known| known.name == name) {
            let known = &mut imports[at];
            let mapped = self.mapped_at(known.start);
            if mapped.is_some_and(|memory| memory.id() == known.physical) {
                known.uses += 1;
                return Ok(known.start + name.offset);
            }
            // A reset of the device took the mapping away, and with it all earlier uses.
            let stale = imports.swap_remove(at);
            self.drop_import(&stale, caller);
        }
        let device = context.device();
        let memory = self.import_physical(i64::from(device.number()), name.number)?;
        let free = |error: Error| {
            drop(self.free_physical(memory.id(), caller));
            error
        };
        let fits = name
            .offset
            .checked_add(name.bytes)
            .is_some_and(|end| end <= memory.bytes());
        if !fits {
            return Err(free(Error::new(
                ErrorKind::InvalidValue,
                "the name says more memory than the other process shares",
            )));
        }
        let capacity = memory.bytes().next_multiple_of(GRANULARITY);
        let span = self.reserve_addresses(device, capacity).map_err(free)?;
        self.map_memory(span.address(), memory.bytes(), &memory, true, caller)
            .map_err(|error| {
                drop(self.release_addresses(span.address()));
                free(error)
            })?;
        imports.push(Import {
            name,
            start: span.address(),
            physical: memory.id(),
            uses: 1,
        });
        Ok(span.address() + name.offset)
    }

    fn drop_import(&self, import: &Import, caller: &Caller<'_>) {
        // After a reset of the device nothing is mapped any more, which is as good.
        drop(self.unmap_memory(import.start, caller));
        drop(self.release_addresses(import.start));
        drop(self.free_physical(import.physical, caller));
    }

    /// Ends the sharing of memory: processes that have it keep it, and no other can open it; or, for memory of another process, takes
    /// it out of this one once it was closed as often as taken.
    ///
    /// # Errors
    /// `InvalidValue`: this process neither shares memory by that name nor has it.
    pub fn close_memory(&self, name: MemoryName, caller: &Caller<'_>) -> Result<()> {
        let memory = &self.shared.memory;
        let mut imports = memory.imports.lock();
        if let Some(at) = imports.iter().position(|known| known.name == name) {
            imports[at].uses -= 1;
            if imports[at].uses > 0 {
                return Ok(());
            }
            let import = imports.swap_remove(at);
            drop(imports);
            self.drop_import(&import, caller);
            return Ok(());
        }
        drop(imports);
        let mut exports = memory.exports.lock();
        let Some(at) = exports.iter().position(|known| known.name == name) else {
            return bad("this process neither shares memory under this name nor has it".to_owned());
        };
        let export = exports.swap_remove(at);
        self.withdraw(&export)
    }

    /// Has no further process find memory that was shared. The addresses keep its pages.
    fn withdraw(&self, export: &Export) -> Result<()> {
        match &export.pages {
            // Without a handle the file cannot be found any more.
            Some(_) => Ok(()),
            // The physical memory, whose file it is, exists on, and may be shared again.
            None => self.withdraw_physical(export.name.number),
        }
    }
}
