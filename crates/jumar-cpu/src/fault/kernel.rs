//! What happens at a fault in a kernel: its launch may end the block, and otherwise the process ends with a line about the kernel.
//!
//! A kernel is code of the program. The headers of some kernels can leave a block at any instruction: their launch has a function for
//! faults ([`OnFault`]), which does not return. Any other fault ends the process as one in other functions of the program does. Only,
//! it happens on a worker, in code that the program did not call itself; so the handler here first writes a line with the kernel,
//! the blocks and the address to the standard error, and then forwards the signal. It is installed when the first kernel runs, and
//! stays. What it needs it finds in the faulting thread's own storage, which was set up before the kernel was called.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use jumar_hal::sync::{AtomicUsize, Ordering};

use super::chain::{self, Chain};
use super::guard;

/// The signals of a fault. SIGBUS is left to [`super`]: it may be about a file that was cut.
static CHAINS: [Chain; 3] = [
    Chain::new(libc::SIGSEGV),
    Chain::new(libc::SIGFPE),
    Chain::new(libc::SIGILL),
];

/// How many threads run kernels now: the handler reads a thread's storage only if this is not 0.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CURRENT: Cell<*const Blocks> = const { Cell::new(ptr::null()) };
    static STACK: HandlerStack = HandlerStack::new();
}

/// The stack of handlers on this thread: a kernel may have used up the thread's own. Threads that have one keep it.
struct HandlerStack(Option<Box<[u8]>>);

impl HandlerStack {
    const BYTES: usize = 64 * 1024;

    fn new() -> HandlerStack {
        let none = HandlerStack::described(None);
        let mut before = none;
        // SAFETY: the structure is ours to write; nothing is changed.
        let asked = unsafe { libc::sigaltstack(ptr::null(), &raw mut before) };
        if asked != 0 || before.ss_flags & libc::SS_DISABLE == 0 {
            return HandlerStack(None);
        }
        let mut memory = vec![0; HandlerStack::BYTES].into_boxed_slice();
        let own = HandlerStack::described(Some(&mut memory));
        // SAFETY: the memory lives until `drop` has taken it from the system.
        let set = unsafe { libc::sigaltstack(&raw const own, ptr::null_mut()) };
        HandlerStack((set == 0).then_some(memory))
    }

    fn described(memory: Option<&mut Box<[u8]>>) -> libc::stack_t {
        libc::stack_t {
            ss_flags: match memory {
                Some(_) => 0,
                None => libc::SS_DISABLE,
            },
            ss_size: HandlerStack::BYTES,
            ss_sp: memory.map_or(ptr::null_mut(), |memory| memory.as_mut_ptr().cast()),
        }
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        if self.0.is_some() {
            let none = HandlerStack::described(None);
            // SAFETY: no handler runs on the thread's stack now: it would not have ended.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        }
    }
}

/// The function of a launch for faults: with the launch, the signal and the address. If it returns, the fault ends the process.
pub(crate) type OnFault = unsafe extern "C" fn(*mut c_void, i32, u64);

/// Where a launch has its function for faults, and the launch.
#[derive(Clone, Copy)]
struct Answer {
    on_fault: *const Option<OnFault>,
    launch: *mut c_void,
}

/// Blocks of a kernel that a thread runs.
pub(crate) struct Blocks {
    /// The kernel's name, as a line shows it.
    name: Arc<str>,
    /// The first block, the one behind the last, and how many the launch has.
    range: (u32, u32, u32),
    answer: Cell<Option<Answer>>,
}

/// Until it is dropped, a launch answers faults.
pub(crate) struct FaultAnswerGuard<'a>(&'a Blocks);

impl Drop for FaultAnswerGuard<'_> {
    fn drop(&mut self) {
        self.0.answer.set(None);
    }
}

impl Blocks {
    /// The blocks from `begin` to before `end` of a launch that has `all`.
    pub(crate) fn new(name: Arc<str>, begin: u32, end: u32, all: u32) -> Blocks {
        Blocks {
            name,
            range: (begin, end, all),
            answer: Cell::new(None),
        }
    }

    /// Has a launch answer faults while the result lives. The kernel may change the function meanwhile.
    pub(crate) fn answered_by(
        &self,
        on_fault: *const Option<OnFault>,
        launch: *mut c_void,
    ) -> FaultAnswerGuard<'_> {
        self.answer.set(Some(Answer { on_fault, launch }));
        FaultAnswerGuard(self)
    }
}

/// Runs a part of a kernel; a fault in it is returned as an error.
pub(crate) fn named<T>(blocks: &Blocks, work: impl FnOnce() -> T) -> T {
    struct Restore(*const Blocks);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
            RUNNING.fetch_sub(1, Ordering::Relaxed);
        }
    }
    for chain in &CHAINS {
        // Without a handler a fault ends the process as well, and does not name the kernel.
        let _ = chain.install(on_fault);
    }
    // A thread that ends has no stack for handlers any more, and needs none.
    let _ = STACK.try_with(|_| ());
    RUNNING.fetch_add(1, Ordering::Relaxed);
    let _restore = Restore(CURRENT.replace(ptr::from_ref(blocks)));
    work()
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the system hands a handler of this form a valid structure.
    let address = unsafe { (*info).si_addr() }.addr();
    // A signal that was sent is not a fault of the kernel, and neither is a touch of guarded memory.
    if !chain::was_sent(info) && RUNNING.load(Ordering::Relaxed) != 0 {
        if signal == libc::SIGSEGV && guard::answer_fault(address, context) {
            return;
        }
        let blocks = CURRENT.get();
        if !blocks.is_null() {
            // SAFETY: `named` keeps it as long as the pointer is there, and this is its own thread.
            let blocks = unsafe { &*blocks };
            if let Some(answer) = blocks.answer.get() {
                end_block(answer, signal, address, context);
            }
            say(signal, address, blocks);
        }
    }
    if let Some(chain) = CHAINS.iter().find(|chain| chain.signal() == signal) {
        chain.forward(info, context);
    }
}

/// Has the launch end the block, with the signal mask of the interrupted code. Returns if the launch cannot.
fn end_block(answer: Answer, signal: libc::c_int, address: usize, context: *mut c_void) {
    // SAFETY: the launch is there while its answer is; the kernel writes the function on this thread.
    let Some(on_fault) = (unsafe { answer.on_fault.read_volatile() }) else {
        return;
    };
    // SAFETY: the system hands a handler of this form the state of the interrupted code.
    let mask = unsafe { &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask };
    // SAFETY: as above; a handler may call the function.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, ptr::null_mut()) };
    // SAFETY: a function of the kernel's header, for its own launch.
    unsafe { on_fault(answer.launch, signal, address as u64) };
}

/// A line that is put together without memory of the heap's.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Line {
    fn add(&mut self, text: &[u8]) {
        let capacity = self.bytes.len() - self.length;
        let text = &text[..text.len().min(capacity)];
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text);
        self.length += text.len();
    }

    fn number(&mut self, mut number: usize, base: usize) {
        let mut digits = [0_u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b"0123456789abcdef"[number % base];
            number /= base;
            if number == 0 {
                break;
            }
        }
        self.add(&digits[at..]);
    }
}

fn say(signal: libc::c_int, address: usize, blocks: &Blocks) {
    let mut line = Line {
        bytes: [0; 512],
        length: 0,
    };
    let (begin, end, all) = blocks.range;
    line.add(b"jumar: a fault in kernel \"");
    line.add(blocks.name.as_bytes());
    line.add(match end - begin {
        1 => b"\", block ",
        _ => b"\", one of the blocks ",
    });
    line.number(begin as usize, 10);
    if end - begin > 1 {
        line.add(b" to ");
        line.number(end as usize - 1, 10);
    }
    line.add(b" of ");
    line.number(all as usize, 10);
    line.add(match signal {
        libc::SIGSEGV => b": it touched the address 0x",
        libc::SIGFPE => b": it calculated what cannot be (an integer divided by 0), at 0x",
        _ => b": it has an instruction that this processor does not know, at 0x",
    });
    line.number(address, 16);
    line.add(b"\n");
    // SAFETY: the bytes are there; the function may be called by a handler. Nothing can be done if it fails.
    let _ = unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.length) };
}
