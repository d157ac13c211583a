//! What a backend offers.

use crate::sync::Instant;
use std::ops::Range;
use std::sync::Arc;

use jumar_types::{Error, ErrorKind, Result};

use crate::{
    Code, CodeFunction, CodeImage, FileImage, FileMapping, MemOp, Program, Signal, Span, Tag, Task,
    Transfer,
};

/// A source of devices and of pinned host memory.
pub trait Backend: Send + Sync {
    /// Opens a device.
    ///
    /// # Errors
    /// `DeviceSetup`: the system refused memory or threads; the error names what.
    fn open(&self, device: u32) -> Result<Arc<dyn Device>>;

    /// Returns the device number of the next address range, by arithmetic: which reserved range holds `address`.
    ///
    /// `None` for memory that no device owns (ordinary host memory, pinned host memory).
    fn device_of(&self, address: usize) -> Option<u32>;

    /// Allocates host memory that copies may use directly. Not zeroed; 64-byte aligned at least.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn allocate_pinned(&self, bytes: usize) -> Result<Span>;

    /// Returns pinned memory back. The range stays mapped and may be handed out again.
    fn free_pinned(&self, span: Span);

    /// Returns the reserved range that pinned host memory lies in.
    fn pinned_range(&self) -> Range<usize>;

    /// Copies at once, in no order with any queue; idle workers may take a part of a long copy.
    fn copy_now(&self, copy: Transfer);

    /// Copies a part of a long result at once, on the calling thread: the whole is too long for the caches, and nothing reads it soon.
    /// The ranges do not overlap.
    fn copy_past_caches_now(&self, copy: Transfer) {
        self.copy_now(copy);
    }

    /// Returns how many threads [`share`](Backend::share) uses at most.
    fn sharers(&self) -> usize {
        1
    }

    /// Calls `work` once for each part from 0 on, on this thread and on idle workers, in no order, and returns when all
    /// calls have returned. Allocates nothing once it has run a few times.
    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }

    /// Fills on the calling thread, at once, in no order with any queue.
    fn fill_now(&self, to: Span, value: u8);

    /// Does copies and fills one after the other on the calling thread, as `copy_now` and `fill_now` do each.
    fn move_now(&self, moves: &[MemOp]) {
        for next in moves {
            match *next {
                MemOp::Copy(copy) => self.copy_now(copy),
                MemOp::Fill { to, value } => self.fill_now(to, value),
            }
        }
    }

    /// Copies Rust's own bytes into a span as long, at once.
    fn write_now(&self, to: Span, bytes: &[u8]);

    /// Lets `write` fill a span, which it is passed as the runtime itself reaches it, at once.
    fn write_with(&self, to: Span, write: &mut dyn FnMut(Span)) {
        write(to);
    }

    /// Copies a span into Rust's own bytes as long, at once.
    fn read_now(&self, from: Span, bytes: &mut [u8]);

    /// Lists the functions that a binary exports, without loading it.
    ///
    /// # Errors
    /// `InvalidValue`: what they are instead, and what can be done.
    fn exported_functions(&self, image: &CodeImage) -> Result<Vec<String>> {
        let _ = image;
        Err(no_code())
    }

    /// Returns whether a binary is code for the cores of a card, which this backend loads and does not run.
    fn is_device_code(&self, image: &CodeImage) -> bool {
        let _ = image;
        false
    }

    /// Loads a copy of a binary of its own: two loads share no variable.
    ///
    /// # Errors
    /// `InvalidValue`: why the bytes cannot be loaded.
    fn load_code(&self, image: &CodeImage) -> Result<Arc<dyn Code>> {
        let _ = image;
        Err(no_code())
    }

    /// Finds the function of a binary that the process has loaded by itself, by the address of its first instruction. Only
    /// functions that describe themselves are found.
    fn code_at(&self, address: usize) -> Option<(String, Arc<dyn CodeFunction>)> {
        let _ = address;
        None
    }

    /// Finds the variable that begins at an address, if the binary that holds it offers it to the host.
    fn variable_at(&self, address: usize) -> Option<Span> {
        let _ = address;
        None
    }

    /// Returns how other processes map what is lent of a device's memory; `None` if they cannot.
    fn lent_memory(&self, device: u32) -> Option<LentMemory> {
        let _ = device;
        None
    }

    /// Lends a part of a device's memory to other processes: its whole pages. The bytes of a page that belongs to it only in part are not
    /// lent. Returns where the part begins in the device's [`Backend::lent_memory`]; `None` if it cannot be lent.
    ///
    /// Nothing may be written to the part meanwhile. Pages that were lent once are lent until they are freed, or taken for something else.
    fn lend(&self, device: u32, part: Span) -> Option<usize> {
        let _ = (device, part);
        None
    }

    /// Returns the number of this process.
    fn process(&self) -> u32;

    /// Returns the moment at which a process was started, in whatever unit, if it runs: two processes that had the same number
    /// one after the other differ in it.
    fn process_started(&self, process: u32) -> Option<u64>;

    /// Reads a word of four or eight bytes, aligned to its length, in one piece; what was written before it is seen too.
    fn load(&self, word: Span) -> u64;

    /// Writes a word of four or eight bytes, aligned to its length, in one piece, after all that was written before. Queues
    /// that wait for it (`Task::Until`) check it when the task that writes it ends, or when their timer expires.
    fn store(&self, word: Span, value: u64);

    /// Writes a word as `store` does if it is `from`. Returns whether it was.
    fn exchange(&self, word: Span, from: u64, to: u64) -> bool;
}

fn no_code() -> Error {
    Error::new(
        ErrorKind::FeatureUnsupported,
        "this kind of device loads no kernel binaries",
    )
}

/// A memory file of this process that holds what is lent of a device's memory, at the offsets of the device's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentMemory {
    /// Its descriptor, by which other processes open it. Its length is sealed.
    pub descriptor: u32,
    /// Its length.
    pub bytes: usize,
}

impl LentMemory {
    /// The name of the file.
    pub const NAME: &str = "jumar-lent-memory";
    /// Whole pages are lent. A file and its device's range begin at a page.
    pub const PAGE: usize = FileImage::PAGE;
}

/// A memory space and the means to run work on it.
pub trait Device: Send + Sync {
    /// Allocates device memory. Not zeroed; the address is a multiple of `align` (a power of two, at most 2 MiB).
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn allocate(&self, bytes: usize, align: usize) -> Result<Span>;

    /// Returns memory back. The range stays mapped and may be handed out again.
    fn free(&self, span: Span);

    /// Reserves `bytes` addresses, aligned to 2 MiB, for memory that is mapped later. Nothing faults there in the meantime.
    ///
    /// # Errors
    /// `OutOfMemory`: the system has no such range.
    fn reserve(&self, bytes: usize) -> Result<Span>;

    /// Returns reserved addresses back; nothing is mapped there any more.
    fn release(&self, span: Span);

    /// Makes physical memory that can be mapped into reserved addresses.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn physical(&self, bytes: usize) -> Result<Arc<dyn Physical>>;

    /// Exchanges the pages under a part of the device's own range for physical memory that can be shared; content and addresses
    /// stay. Nothing may be written there meanwhile.
    ///
    /// # Errors
    /// `InvalidValue`: no whole pages of the range; `OutOfMemory`: the system refused it, and the pages are as they were.
    fn pages_under(&self, start: usize, bytes: usize) -> Result<Arc<dyn Physical>>;

    /// Takes physical memory of another process, by the number that [`Physical::share`] gave there.
    ///
    /// # Errors
    /// `InvalidValue`: the number is none, or of this process; the other process or its memory is gone; it does not share
    /// the memory with this process.
    fn adopt(&self, number: u64) -> Result<Arc<dyn Physical>>;

    /// Takes whatever is mapped out of a part of a reserved range.
    ///
    /// # Errors
    /// `OutOfMemory`: the system refused it, and the memory stays mapped.
    fn unmap(&self, at: Span) -> Result<()>;

    /// Lets a part of a file stand in an allocation of the device, from its start: the pages come from the file when they are
    /// touched, writing to them never reaches it, and a page that the file does not give reads as zeros. Freeing the allocation ends it.
    ///
    /// # Errors
    /// `FeatureUnsupported`: this device cannot, or not now; `OutOfMemory`: the system refused it. The allocation is as it was.
    fn map_file(&self, at: Span, image: &FileImage) -> Result<Arc<dyn FileMapping>> {
        let _ = (at, image);
        Err(Error::new(
            ErrorKind::FeatureUnsupported,
            "this kind of device has its memory elsewhere",
        ))
    }

    /// Returns the reserved address range of the device's memory.
    fn range(&self) -> Range<usize>;

    /// Makes a queue.
    ///
    /// # Errors
    /// `NoStreamResource`, `OutOfMemory`.
    fn queue(&self, config: QueueConfig, watcher: Arc<dyn QueueObserver>)
    -> Result<Arc<dyn Queue>>;
}

/// Memory of a device without an address of its own.
pub trait Physical: Send + Sync {
    /// Returns the length.
    ///
    /// # Units
    /// Bytes.
    fn bytes(&self) -> usize;

    /// Maps the memory from its start into `at`, a part of a reserved range. The same memory may be mapped more than once.
    ///
    /// # Errors
    /// `OutOfMemory`: the system refused it.
    fn map(&self, at: Span) -> Result<()>;

    /// Lets other processes have the memory. Returns the number by which they find it while this process keeps the
    /// memory; never 0. With `listed_only`, those alone that [`Physical::admit`] names. Called again only after
    /// [`Physical::withdraw`].
    ///
    /// # Errors
    /// `InvalidValue`, `OutOfMemory`: the system cannot share it.
    fn share(&self, listed_only: bool) -> Result<u64>;

    /// Adds processes to those that may have the memory, which is shared. One call at a time.
    ///
    /// # Errors
    /// `InvalidValue`: too many; `OutOfMemory`: the system refused it.
    fn admit(&self, processes: &[u32]) -> Result<()>;

    /// Ends the sharing: processes that have the memory keep it, and no other finds it by its number.
    ///
    /// # Errors
    /// `OutOfMemory`: the system refused it.
    fn withdraw(&self) -> Result<()>;
}

/// How a queue is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueConfig {
    /// 0 is served first, 7 last; a hint among queues that could run.
    pub priority: u8,
    /// A number for messages and timelines.
    pub number: u32,
}

/// What to do with the tasks after a failed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Runs them.
    Continue,
    /// Drops every task that is queued now, in order, until the queue is empty; signals among them are still set, so that
    /// no other queue hangs.
    Discard,
}

/// Receives the results of the tasks of one queue. Called on the thread that runs the queue, in order.
pub trait QueueObserver: Send + Sync {
    /// A watched task (ticket not 0) starts.
    fn started(&self, tag: Tag);
    /// A watched task finished well.
    fn finished(&self, tag: Tag);
    /// A task failed, watched or not.
    fn failed(&self, tag: Tag, error: Error) -> Verdict;
}

/// Tasks in order. Every method may be called from any thread.
///
/// # Threads
/// A task never runs inside `submit`, except that a `Set`, `Clear` or a satisfied `Wait` may be done at once when the
/// queue is empty and idle. Work makes progress without any waiting call.
pub trait Queue: Send + Sync {
    /// Appends a task and returns its position (1 for the first). Blocks only while the queue holds a million tasks.
    fn submit(&self, task: Task, tag: Tag) -> u64;

    /// As [`Queue::submit`] for a copy. What is passed in registers is not written to memory and read back in pieces of
    /// another size, for which the processor stalls: so too in the next three.
    ///
    /// # Panics
    /// The ranges differ in length.
    fn submit_copy(&self, to: Span, from: Span, tag: Tag) -> u64 {
        let copy = Transfer::new(to, from).expect("both ends of a copy are of one length");
        self.submit(Task::Copy(copy), tag)
    }

    /// As [`Queue::submit`] for a fill.
    fn submit_fill(&self, to: Span, value: u8, tag: Tag) -> u64 {
        self.submit(Task::Fill { to, value }, tag)
    }

    /// As [`Queue::submit`] for the setting of a signal.
    fn submit_set(&self, signal: Arc<Signal>, tag: Tag) -> u64 {
        self.submit(Task::Set(signal), tag)
    }

    /// As [`Queue::submit`] for a program.
    fn submit_run(&self, program: Arc<dyn Program>, tag: Tag) -> u64 {
        self.submit(Task::Run(program), tag)
    }

    /// Returns the position of the last task submitted.
    fn submitted(&self) -> u64;

    /// Returns the position up to which every task has finished, failed or been dropped.
    fn completed(&self) -> u64;

    /// Runs tasks on the calling thread where nothing else runs them unless it waits: no worker exists, because the system has no thread
    /// to give. Called by a thread that asks how far the queue has come, and that holds no lock. Returns at once where there is a worker.
    fn poll(&self) {}

    /// Returns whether the next task is a wait that is not over.
    fn is_held(&self) -> bool;

    /// Waits until `completed() >= position`. Returns false when `until` came first.
    ///
    /// Without `until` the calling thread may run tasks of this queue, and bounded tasks of others; with it, only
    /// bounded tasks.
    fn wait(&self, position: u64, until: Option<Instant>) -> bool;

    /// Runs bounded tasks of this queue on the calling thread, if no other thread does, until the signal is set, or there are no
    /// more, or after a few of them. Never waits.
    fn advance(&self, signal: &Signal) {
        let _ = signal;
    }

    /// Waits until the signal is set; the thread helps as in [`Queue::wait`]. `self` is the queue that is expected to set it.
    fn wait_signal(&self, signal: &Arc<Signal>, until: Option<Instant>) -> bool;

    /// Drops every task submitted so far that has not started, without running it; signals among them are still set, a wait
    /// that blocks the queue is cancelled. Returns after the drop is in force, not after a running task ended.
    fn discard(&self);

    /// Cancels the wait that blocks the queue, as if its signal had been set; the tasks behind it run. Without such
    /// a wait nothing happens.
    fn drop_wait(&self);
}
