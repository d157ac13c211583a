//! What a fault in a kernel says before the process ends: which kernel it was, which blocks, which address.
//!
//! A kernel is code of the program, and a fault in it ends the program as one in any other function of it does. Only, it happens
//! on some worker, in code that the program never called by itself; so the handler here writes a line to the standard error and
//! hands the signal on. It is installed when the first kernel runs, and stays. What it needs it finds in the faulting thread's own
//! storage, which was set up before the kernel was called.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use jumar_hal::sync::{AtomicUsize, Ordering};

/// The signals of a fault. SIGBUS is left to [`super`]: it may be about a file that was cut.
const SIGNALS: [libc::c_int; 3] = [libc::SIGSEGV, libc::SIGFPE, libc::SIGILL];

/// Who handled the signals before.
static BEFORE: OnceLock<[Option<libc::sigaction>; SIGNALS.len()]> = OnceLock::new();

/// How many threads run kernels now: the handler looks at a thread's storage only where there can be something.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CURRENT: Cell<*const Blocks> = const { Cell::new(ptr::null()) };
}

/// Blocks of a kernel that a thread runs.
pub(crate) struct Blocks {
    /// The kernel's name, as a line shows it.
    pub(crate) name: std::sync::Arc<str>,
    /// The first block, the one behind the last, and how many the launch has.
    pub(crate) range: (u32, u32, u32),
}

/// Runs a part of a kernel; a fault in it says so.
pub(crate) fn named<T>(blocks: &Blocks, work: impl FnOnce() -> T) -> T {
    struct Restore(*const Blocks);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
            RUNNING.fetch_sub(1, Ordering::Relaxed);
        }
    }
    BEFORE.get_or_init(|| SIGNALS.map(install));
    RUNNING.fetch_add(1, Ordering::Relaxed);
    let _restore = Restore(CURRENT.replace(ptr::from_ref(blocks)));
    work()
}

fn install(signal: libc::c_int) -> Option<libc::sigaction> {
    // SAFETY: all zero is a valid value of the structure.
    let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
    own.sa_sigaction = handler as libc::sighandler_t;
    own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: both structures are ours; the handler does only what a handler may.
    if unsafe { libc::sigaction(signal, &raw const own, before.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call above has written it.
    Some(unsafe { before.assume_init() })
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the system hands a handler of this form a valid structure.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // A signal that somebody sent is no fault of the kernel's.
    if code > 0 && RUNNING.load(Ordering::Relaxed) != 0 {
        let blocks = CURRENT.get();
        if !blocks.is_null() {
            // SAFETY: `named` keeps it as long as the pointer is there, and this is its own thread.
            say(signal, address, unsafe { &*blocks });
        }
    }
    let before = BEFORE.get().and_then(|all| {
        let place = SIGNALS.iter().position(|known| *known == signal)?;
        all[place].as_ref()
    });
    super::hand_on_to(before, signal, info, context);
    if code <= 0 {
        // A fault comes again by itself, what was sent does not.
        // SAFETY: the function may be called by a handler.
        unsafe { libc::raise(signal) };
    }
}

/// A line that is put together without memory of the heap's.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Line {
    fn add(&mut self, text: &[u8]) {
        let room = self.bytes.len() - self.length;
        let text = &text[..text.len().min(room)];
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
        libc::SIGFPE => b": it calculated what cannot be (a whole number divided by 0), at 0x",
        _ => b": it has an instruction that this processor does not know, at 0x",
    });
    line.number(address, 16);
    line.add(b"\n");
    // SAFETY: the bytes are there; the function may be called by a handler. Nothing can be done if it fails.
    let _ = unsafe { libc::write(2, line.bytes.as_ptr().cast(), line.length) };
}
