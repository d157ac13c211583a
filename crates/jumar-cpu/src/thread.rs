//! The state of a thread while it runs our work.
//!
//! Results must not depend on which thread ran a program: a worker, or a thread of the program under test that waits.
//! So rounding and denormal mode are the default while a program runs, and the thread finds its own again, together
//! with its `errno`. Workers block every signal that is meant for the process: it belongs to the process's own threads. What a thread brings on
//! itself (a bad access, a bad instruction) it gets itself, so that whoever handles it for the process does so here, too.

use std::mem::MaybeUninit;
use std::ptr;

/// Runs `f` with the default floating-point state and restores the thread's own, and `errno`, afterwards.
#[inline]
pub(crate) fn neutral<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore {
        float: float::enter(),
        errno: errno(),
    };
    f()
}

/// Forgets which floating-point exceptions the calling thread met.
pub(crate) fn lower_float_flags() {
    float::lower_flags();
}

/// Tells whether a result was too large, or something was divided by zero, since the flags were lowered.
pub(crate) fn float_overflowed() -> bool {
    float::overflowed()
}

struct Restore {
    float: float::Saved,
    errno: i32,
}

impl Drop for Restore {
    fn drop(&mut self) {
        float::leave(self.float);
        set_errno(self.errno);
    }
}

fn errno() -> i32 {
    // SAFETY: the address is the calling thread's own and always readable.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value };
}

/// What a thread brings on itself.
const OWN: [libc::c_int; 5] = [
    libc::SIGBUS,
    libc::SIGSEGV,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
];

/// Blocks every signal of the process while `spawn` starts a thread, which inherits the mask.
pub(crate) fn without_signals(spawn: &mut dyn FnMut()) {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is ours to write.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    for signal in OWN {
        // SAFETY: the set was filled by the call above.
        unsafe { libc::sigdelset(all.as_mut_ptr(), signal) };
    }
    // SAFETY: `all` was filled by sigfillset, `before` is ours to write.
    let masked =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr()) } == 0;
    spawn();
    if masked {
        // SAFETY: `before` was written by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    }
}

/// Gives the processor that the calling thread runs on.
pub(crate) fn processor() -> Option<u32> {
    // SAFETY: the call has no preconditions and no effect.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Moves the calling thread to another processor that it may run on, if there is one. Where it may run stays as it was.
pub(crate) fn leave_processor() {
    let Some(here) = processor().filter(|&here| (here as i32) < libc::CPU_SETSIZE) else {
        return;
    };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a set of processors is valid when it is all zeros.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set has the length that is given.
    if unsafe { libc::sched_getaffinity(0, size, &mut allowed) } != 0 {
        return;
    }
    let mut others = allowed;
    // SAFETY: both calls only touch the set, in which this processor has a place.
    let left = unsafe {
        libc::CPU_CLR(here as usize, &mut others);
        libc::CPU_COUNT(&others)
    };
    if left == 0 {
        return;
    }
    // SAFETY: the sets have the length that is given. The first call moves the thread, the second lets it go anywhere again.
    unsafe {
        if libc::sched_setaffinity(0, size, &others) == 0 {
            libc::sched_setaffinity(0, size, &allowed);
        }
    }
}

/// Lets the calling thread's short naps be short.
pub(crate) fn sharpen_timers() {
    // The usual slack of 50 us would add half to each nap.
    // SAFETY: the call changes a number of the calling thread; a refusal costs precision only.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) };
}

#[cfg(target_arch = "x86_64")]
mod float {
    use std::arch::asm;

    /// Round to nearest, every exception masked, denormals kept, no flag raised.
    const DEFAULT: u32 = 0x1f80;
    /// The bits that change results: rounding, flush-to-zero, denormals-are-zero, masks.
    const MODES: u32 = 0xffc0;

    #[derive(Clone, Copy)]
    pub(super) struct Saved(u32);

    #[inline]
    fn read() -> u32 {
        let mut value = 0u32;
        // SAFETY: the instruction writes four bytes to the address given.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value
    }

    #[inline]
    fn write(value: u32) {
        // SAFETY: the instruction reads four bytes; the value was read from the register or is the documented default, and
        // is restored before any code that was compiled for another state runs again.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly))
        };
    }

    #[inline]
    pub(super) fn enter() -> Saved {
        let saved = read();
        if saved & MODES != DEFAULT & MODES {
            write(DEFAULT);
        }
        Saved(saved)
    }

    /// What was met since: bit 2 division by zero, bit 3 overflow.
    const OVERFLOWS: u32 = 0b1100;

    pub(super) fn lower_flags() {
        write(read() & !0x3f);
    }

    pub(super) fn overflowed() -> bool {
        read() & OVERFLOWS != 0
    }

    #[inline]
    pub(super) fn leave(saved: Saved) {
        // Flags that the program raised go too.
        if read() != saved.0 {
            write(saved.0);
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod float {
    use std::arch::asm;

    #[derive(Clone, Copy)]
    pub(super) struct Saved(u64);

    pub(super) fn lower_flags() {
        // SAFETY: the register holds flags alone.
        unsafe { asm!("msr fpsr, xzr", options(nomem, nostack, preserves_flags)) };
    }

    pub(super) fn overflowed() -> bool {
        let met: u64;
        // SAFETY: reading the register has no effect.
        unsafe { asm!("mrs {}, fpsr", out(reg) met, options(nomem, nostack, preserves_flags)) };
        // Bit 1 division by zero, bit 2 overflow.
        met & 0b110 != 0
    }

    #[inline]
    pub(super) fn enter() -> Saved {
        let saved: u64;
        // SAFETY: reading the control register has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) saved, options(nomem, nostack, preserves_flags)) };
        if saved != 0 {
            leave(Saved(0));
        }
        Saved(saved)
    }

    #[inline]
    pub(super) fn leave(saved: Saved) {
        let now: u64;
        // SAFETY: reading the control register has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) now, options(nomem, nostack, preserves_flags)) };
        if now != saved.0 {
            // SAFETY: the value was read from the register, or is the default.
            unsafe {
                asm!("msr fpcr, {}", in(reg) saved.0, options(nomem, nostack, preserves_flags))
            };
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod float {
    #[derive(Clone, Copy)]
    pub(super) struct Saved;

    pub(super) fn lower_flags() {}

    pub(super) fn overflowed() -> bool {
        false
    }

    pub(super) fn enter() -> Saved {
        Saved
    }

    pub(super) fn leave(_: Saved) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn modes() -> u32 {
        let mut value = 0u32;
        // SAFETY: the instruction writes four bytes to the address given.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
        value
    }

    fn set_modes(value: u32) {
        // SAFETY: the test restores the default before it ends.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly))
        };
    }

    #[test]
    fn a_program_runs_in_the_default_state_and_the_thread_gets_its_own_back() {
        // Round towards zero, flush denormals.
        set_modes(0xff80);
        set_errno(7);
        let inside = neutral(|| {
            set_errno(11);
            modes()
        });
        let after = modes();
        set_modes(0x1f80);
        assert_eq!((inside, after, errno()), (0x1f80, 0xff80, 7));
    }
}
