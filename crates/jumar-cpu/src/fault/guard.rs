//! Pages of pinned memory that the program must not touch while a queued copy needs them.
//!
//! The memory is mapped twice ([`crate::mem::Space`]): once for the program, where pages lose access while a copy is pending,
//! and once for the runtime, where they never do. So a copy opens no window in which the program could touch them unseen. A
//! touch raises SIGSEGV; the handler here notes where it came from, restores access to the page, and lets the program continue. A touch of
//! bytes beside the copy's, on the same page, is let through for one instruction and not noted. A fault anywhere else is forwarded
//! to the handler that was installed before.
//!
//! A handler finds what it needs only through the process, so copies and touches stand in tables of the process, of a fixed
//! size. The handler takes no lock and allocates nothing: it reads the tables, fills one entry, walks its own stack, and calls
//! `mprotect`.

use std::ffi::c_void;
use std::ptr;

use jumar_hal::Span;
use jumar_hal::sync::{AtomicU32, AtomicU64, AtomicUsize, Mutex, Ordering, spin_loop};

use super::chain::{self, Chain};
use crate::PAGE;

/// How many ranges may be guarded at once; those beyond are not.
const MOST_PENDING: usize = 512;
/// The largest number of touches that are kept until they are taken; later ones are dropped.
const MOST_TOUCHES: usize = 64;
/// How many frames of a stack are kept.
const MOST_FRAMES: usize = 24;
/// How much is kept of what an interpreter says of its stack.
const SCRIPT_BYTES: usize = 4096;
/// How many instructions may be let through at once, on all threads together.
const MOST_STEPS: usize = 64;

/// Bytes that a queued copy reads or writes. Empty while `start` is 0.
struct Pending {
    start: AtomicUsize,
    end: AtomicUsize,
    ticket: AtomicU64,
    writes: AtomicU32,
}

static PENDING: [Pending; MOST_PENDING] = [const {
    Pending {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        ticket: AtomicU64::new(0),
        writes: AtomicU32::new(0),
    }
}; MOST_PENDING];

/// The number of entries at the start of the table that may be in use.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Held while entries and pages change; never by the handlers.
static CHANGE: Mutex<()> = Mutex::new(());

/// Where guarded memory lies, as the program sees it.
static RANGE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const READY: u32 = 2;

/// One touch on its way from the handler to its consumer.
struct Entry {
    state: AtomicU32,
    ticket: AtomicU64,
    address: AtomicUsize,
    wrote: AtomicU32,
    frames: [AtomicUsize; MOST_FRAMES],
    script: [AtomicU64; SCRIPT_BYTES / 8],
}

static TOUCHES: [Entry; MOST_TOUCHES] = [const {
    Entry {
        state: AtomicU32::new(FREE),
        ticket: AtomicU64::new(0),
        address: AtomicUsize::new(0),
        wrote: AtomicU32::new(0),
        frames: [const { AtomicUsize::new(0) }; MOST_FRAMES],
        script: [const { AtomicU64::new(0) }; SCRIPT_BYTES / 8],
    }
}; MOST_TOUCHES];

/// A page that a thread may touch for one instruction: 0, or the thread and the page.
struct Step {
    thread: AtomicU32,
    page: AtomicUsize,
}

static STEPS: [Step; MOST_STEPS] = [const {
    Step {
        thread: AtomicU32::new(0),
        page: AtomicUsize::new(0),
    }
}; MOST_STEPS];

static FAULTS: Chain = Chain::new(libc::SIGSEGV);
static TRAPS: Chain = Chain::new(libc::SIGTRAP);

/// The signal on which an interpreter writes its stack to a file, and the file; 0: there is none.
static SCRIPT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// The thread that asks the interpreter now.
static ASKING: AtomicU32 = AtomicU32::new(0);

/// The program touched bytes that a queued copy needs.
#[derive(Clone, Debug)]
pub struct GuardedAccess {
    /// The number that the copy was given.
    pub ticket: u64,
    /// The first byte that was touched.
    pub address: usize,
    /// Whether it was written.
    pub wrote: bool,
    /// The thread's stack, the innermost frame first: addresses behind calls.
    pub frames: Vec<usize>,
    /// What the thread's interpreter says of its stack, if there is one; empty otherwise.
    pub script: String,
}

/// Begins to answer faults in a range of whole pages. Returns whether the system lets it.
pub(crate) fn open(start: usize, end: usize) -> bool {
    RANGE[0].store(start, Ordering::Relaxed);
    RANGE[1].store(end, Ordering::Release);
    // The unwinder prepares itself at its first use, which had better not be in a handler.
    stack(0, &mut [0; MOST_FRAMES]);
    FAULTS.install(on_fault) && TRAPS.install(on_step)
}

/// Takes note of the signal on which the process's interpreter writes the stack of the thread that gets it, and of the file.
pub fn set_script(signal: u32, file: u32) {
    SCRIPT[1].store(file, Ordering::Relaxed);
    SCRIPT[0].store(signal, Ordering::Release);
}

/// Guards bytes for a copy that was queued, until [`release`]. Nothing happens where the memory is not guarded, or when too much is.
pub fn guard(ticket: u64, span: Span, writes: bool) {
    let inside = RANGE[0].load(Ordering::Relaxed)..RANGE[1].load(Ordering::Acquire);
    if span.is_empty() || !inside.contains(&span.address()) || span.end() > inside.end {
        return;
    }
    let _change = CHANGE.lock();
    let free = |pending: &Pending| pending.start.load(Ordering::Relaxed) == 0;
    let Some(slot) = PENDING.iter().position(free) else {
        return;
    };
    let pending = &PENDING[slot];
    pending.end.store(span.end(), Ordering::Relaxed);
    pending.ticket.store(ticket, Ordering::Relaxed);
    pending.writes.store(u32::from(writes), Ordering::Relaxed);
    pending.start.store(span.address(), Ordering::SeqCst);
    USED.fetch_max(slot + 1, Ordering::SeqCst);
    refresh(span.address(), span.end());
}

/// Ends what [`guard`] began.
pub fn release(ticket: u64) {
    let _change = CHANGE.lock();
    for pending in &PENDING[..USED.load(Ordering::Relaxed)] {
        let start = pending.start.load(Ordering::Relaxed);
        if start != 0 && pending.ticket.load(Ordering::Relaxed) == ticket {
            pending.start.store(0, Ordering::SeqCst);
            refresh(start, pending.end.load(Ordering::Relaxed));
        }
    }
}

/// Takes the touches that were noted since it was called last.
pub fn touches() -> Vec<GuardedAccess> {
    let mut all = Vec::new();
    for entry in &TOUCHES {
        if entry.state.load(Ordering::Acquire) != READY {
            continue;
        }
        let frames = entry.frames.iter().map(|one| one.load(Ordering::Relaxed));
        let script = entry.script.iter();
        let script: Vec<u8> = script
            .flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        all.push(GuardedAccess {
            ticket: entry.ticket.load(Ordering::Relaxed),
            address: entry.address.load(Ordering::Relaxed),
            wrote: entry.wrote.load(Ordering::Relaxed) != 0,
            frames: frames.take_while(|frame| *frame != 0).collect(),
            script: String::from_utf8_lossy(&script).into_owned(),
        });
        entry.state.store(FREE, Ordering::Release);
    }
    all
}

/// What the program may do with a page. The later of two wins where copies meet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    All,
    Read,
    None,
}

/// Finds what the program may do with the bytes from `start` to `end`, which no border of a copy's pages divides.
fn access(start: usize, end: usize) -> Access {
    let used = &PENDING[..USED.load(Ordering::SeqCst)];
    let of = used.iter().map(|pending| {
        let from = pending.start.load(Ordering::SeqCst);
        let to = pending.end.load(Ordering::Relaxed);
        match from != 0 && from < end && start < to {
            false => Access::All,
            true if pending.writes.load(Ordering::Relaxed) != 0 => Access::None,
            true => Access::Read,
        }
    });
    of.max().unwrap_or(Access::All)
}

fn floor(address: usize) -> usize {
    address & !(PAGE - 1)
}

/// Returns the pages under a range the access that the pending copies leave.
fn refresh(start: usize, end: usize) {
    let (start, end) = (floor(start), end.next_multiple_of(PAGE));
    let mut borders = vec![start, end];
    for pending in &PENDING[..USED.load(Ordering::Relaxed)] {
        let from = pending.start.load(Ordering::Relaxed);
        if from == 0 {
            continue;
        }
        let to = pending.end.load(Ordering::Relaxed);
        let both = [floor(from), to.next_multiple_of(PAGE)];
        borders.extend(both.into_iter().filter(|at| (start..end).contains(at)));
    }
    borders.sort_unstable();
    borders.dedup();
    for pair in borders.windows(2) {
        // If the system does not allow so many ranges, the page stays as it is: the handler copes with both.
        let _ = allow(pair[0], pair[1], access(pair[0], pair[1]));
    }
}

fn allow(start: usize, end: usize, access: Access) -> bool {
    let bits = match access {
        Access::All => libc::PROT_READ | libc::PROT_WRITE,
        Access::Read => libc::PROT_READ,
        Access::None => libc::PROT_NONE,
    };
    let at = ptr::without_provenance_mut(start);
    // SAFETY: the pages are of the program's mapping of pinned memory, through which nothing of Rust's is ever referred to.
    unsafe { libc::mprotect(at, end - start, bits) == 0 }
}

fn thread() -> u32 {
    crate::thread::number().unwrap_or(0)
}

extern "C" fn on_fault(_signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands a handler of this form a valid structure.
    let address = unsafe { (*info).si_addr() }.addr();
    if !chain::was_sent(info) && answer_fault(address, context) {
        return;
    }
    FAULTS.forward(info, context);
}

/// Lets the program continue if it touched guarded memory. Returns whether it did. Called by handlers.
pub(super) fn answer_fault(address: usize, context: *mut c_void) -> bool {
    let inside = RANGE[0].load(Ordering::Relaxed)..RANGE[1].load(Ordering::Acquire);
    // SAFETY: the C library has one per thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let kept = unsafe { *errno };
    let answered = inside.contains(&address) && answer(address, context);
    // SAFETY: as above.
    unsafe { *errno = kept };
    answered
}

/// Lets the program touch a page, and notes it if the bytes are a copy's. Returns whether the page could be had.
fn answer(address: usize, context: *mut c_void) -> bool {
    let machine = Machine(context);
    let wrote = machine.wrote();
    let hit = PENDING[..USED.load(Ordering::SeqCst)]
        .iter()
        .find_map(|pending| {
            let start = pending.start.load(Ordering::SeqCst);
            let end = pending.end.load(Ordering::Relaxed);
            let forbidden = wrote || pending.writes.load(Ordering::Relaxed) != 0;
            let ticket = pending.ticket.load(Ordering::Relaxed);
            (start != 0 && (start..end).contains(&address) && forbidden).then_some(ticket)
        });
    let page = floor(address);
    let guarded = access(page, page + PAGE) != Access::All;
    if hit.is_none() && guarded && machine.can_step() {
        let own = thread();
        let free = STEPS.iter().find(|step| {
            let taken = step
                .thread
                .compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed);
            taken.is_ok()
        });
        if let Some(step) = free {
            step.page.store(page, Ordering::Release);
            machine.step(true);
        }
    }
    if let Some(ticket) = hit {
        note(ticket, address, wrote, machine.instruction());
    }
    allow(page, page + PAGE, Access::All)
}

fn note(ticket: u64, address: usize, wrote: bool, instruction: usize) {
    let free = TOUCHES.iter().find(|entry| {
        let taken = entry
            .state
            .compare_exchange(FREE, TAKEN, Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    });
    let Some(entry) = free else {
        return;
    };
    entry.ticket.store(ticket, Ordering::Relaxed);
    entry.address.store(address, Ordering::Relaxed);
    entry.wrote.store(u32::from(wrote), Ordering::Relaxed);
    let mut frames = [0; MOST_FRAMES];
    stack(instruction, &mut frames);
    for (to, from) in entry.frames.iter().zip(frames) {
        to.store(from, Ordering::Relaxed);
    }
    let mut text = [0_u8; SCRIPT_BYTES];
    ask_interpreter(&mut text);
    for (to, from) in entry.script.iter().zip(text.chunks_exact(8)) {
        let word = from.try_into().map_or(0, u64::from_ne_bytes);
        to.store(word, Ordering::Relaxed);
    }
    entry.state.store(READY, Ordering::Release);
}

/// Has the interpreter write the stack of the calling thread, and reads that. Its handler of the signal does what a handler may.
fn ask_interpreter(text: &mut [u8; SCRIPT_BYTES]) {
    let (signal, file) = (
        SCRIPT[0].load(Ordering::Acquire) as libc::c_int,
        SCRIPT[1].load(Ordering::Relaxed) as libc::c_int,
    );
    let own = thread();
    if signal == 0 {
        return;
    }
    // One at a time, since all write to one file. The wait is short: the other handler ends by itself.
    while ASKING
        .compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed)
        .is_err()
    {
        spin_loop();
    }
    // SAFETY: the file is open as long as the interpreter lives; a handler may call the function.
    let begin = unsafe { libc::lseek(file, 0, libc::SEEK_CUR) };
    // SAFETY: a handler may call the function. The signal is not blocked here, so it is handled before the call returns.
    unsafe { libc::raise(signal) };
    // The last byte stays 0.
    let capacity = text.len() - 1;
    if begin >= 0 {
        // SAFETY: the bytes are ours, and there are as many.
        let _ = unsafe { libc::pread(file, text.as_mut_ptr().cast(), capacity, begin) };
    }
    ASKING.store(0, Ordering::Release);
}

extern "C" fn on_step(_signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let own = thread();
    let mut ours = false;
    for step in &STEPS {
        if step.thread.load(Ordering::Acquire) != own {
            continue;
        }
        ours = true;
        let page = step.page.load(Ordering::Acquire);
        step.thread.store(0, Ordering::Release);
        // A copy may have come or gone meanwhile; the thread that changed the table changes the page after it, or is seen here.
        loop {
            let now = access(page, page + PAGE);
            allow(page, page + PAGE, now);
            if access(page, page + PAGE) == now {
                break;
            }
        }
    }
    if ours {
        return Machine(context).step(false);
    }
    TRAPS.forward(info, context);
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> libc::c_int,
        with: *mut c_void,
    ) -> libc::c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// A walk of a stack: nothing is kept before the frame of the instruction.
struct Walk<'a> {
    instruction: usize,
    frames: &'a mut [usize; MOST_FRAMES],
    count: usize,
}

extern "C" fn each_frame(context: *mut c_void, walk: *mut c_void) -> libc::c_int {
    const GO_ON: libc::c_int = 0;
    const STOP: libc::c_int = 5;
    // SAFETY: `stack` passes a walk of its own, which has no other reference meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk<'_>>() };
    // SAFETY: the unwinder passes its own context.
    let address = unsafe { _Unwind_GetIP(context) };
    if walk.count == 0 {
        // The instruction itself is to be found, and others are found by what stands before the address.
        if address == walk.instruction {
            walk.frames[0] = address + 1;
            walk.count = 1;
        }
        return GO_ON;
    }
    walk.frames[walk.count] = address;
    walk.count += 1;
    match walk.count == MOST_FRAMES || address == 0 {
        true => STOP,
        false => GO_ON,
    }
}

/// Returns the frames from that of an instruction on.
fn stack(instruction: usize, frames: &mut [usize; MOST_FRAMES]) {
    let mut walk = Walk {
        instruction,
        frames,
        count: 0,
    };
    // SAFETY: the function calls `each_frame` with the walk, which lives until it returns.
    unsafe { _Unwind_Backtrace(each_frame, (&raw mut walk).cast()) };
    if walk.count == 0 {
        walk.frames[0] = instruction + 1;
    }
}

/// What a handler sees of the machine where the signal came.
struct Machine(*mut c_void);

#[cfg(target_arch = "x86_64")]
impl Machine {
    /// The flag that lets the processor stop behind the next instruction.
    const TRAP: libc::greg_t = 1 << 8;
    /// In the error code of a fault: it was a write.
    const WRITE: libc::greg_t = 1 << 1;

    fn register(&self, which: libc::c_int) -> *mut libc::greg_t {
        let context = self.0.cast::<libc::ucontext_t>();
        // SAFETY: the system hands a handler of this form a valid context.
        unsafe { &raw mut (*context).uc_mcontext.gregs[which as usize] }
    }

    fn wrote(&self) -> bool {
        // SAFETY: it points into the context.
        unsafe { *self.register(libc::REG_ERR) & Self::WRITE != 0 }
    }

    fn instruction(&self) -> usize {
        // SAFETY: it points into the context.
        unsafe { *self.register(libc::REG_RIP) as usize }
    }

    fn can_step(&self) -> bool {
        true
    }

    fn step(&self, one: bool) {
        let flags = self.register(libc::REG_EFL);
        // SAFETY: it points into the context.
        let now = unsafe { *flags };
        let then = match one {
            true => now | Self::TRAP,
            false => now & !Self::TRAP,
        };
        // SAFETY: as above.
        unsafe { *flags = then };
    }
}

#[cfg(target_arch = "aarch64")]
impl Machine {
    /// The kind of a fault is unknown here: one that the pages forbid counts as a write.
    fn wrote(&self) -> bool {
        true
    }

    fn instruction(&self) -> usize {
        let context = self.0.cast::<libc::ucontext_t>();
        // SAFETY: the system hands a handler of this form a valid context.
        unsafe { (*context).uc_mcontext.pc as usize }
    }

    fn can_step(&self) -> bool {
        false
    }

    fn step(&self, _one: bool) {}
}
