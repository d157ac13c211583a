//! What a fault in a kernel says before the process ends: which kernel it was, which blocks, which address.
//!
//! A kernel is code of the program, and a fault in it ends the program as one in any other function of it does. Only, it happens
//! on some worker, in code that the program never called by itself; so the handler here writes a line to the standard error and
//! forwards the signal. It is installed when the first kernel runs, and stays. What it needs it finds in the faulting thread's own
//! storage, which was set up before the kernel was called.

use std::cell::Cell;
use std::ptr;

use jumar_hal::sync::{AtomicUsize, Ordering};

use super::chain::{self, Chain};

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
}

/// Blocks of a kernel that a thread runs.
pub(crate) struct Blocks {
    /// The kernel's name, as a line shows it.
    pub(crate) name: std::sync::Arc<str>,
    /// The first block, the one behind the last, and how many the launch has.
    pub(crate) range: (u32, u32, u32),
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
    // A signal that was sent is not a fault of the kernel.
    if !chain::was_sent(info) && RUNNING.load(Ordering::Relaxed) != 0 {
        let blocks = CURRENT.get();
        if !blocks.is_null() {
            // SAFETY: `named` keeps it as long as the pointer is there, and this is its own thread.
            say(signal, address, unsafe { &*blocks });
        }
    }
    if let Some(chain) = CHAINS.iter().find(|chain| chain.signal() == signal) {
        chain.forward(info, context);
    }
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
