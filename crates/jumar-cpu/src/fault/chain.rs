//! A signal handler in front of the one that the program installed before.
//!
//! A handler that declines a signal forwards it: the earlier handler is called as the system would have called it, or the default
//! action takes effect. The difference between the two kinds of signals matters here. A fault is raised again when its instruction
//! runs again, so that restoring the default action is enough. A signal that a thread or another process sent is not raised again
//! by itself: it has to be raised once more, but only after the default action was restored. Raised for an earlier handler that
//! returns, it would come back to this one forever.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use jumar_hal::sync::{AtomicBool, Ordering};

/// The form of a handler that is installed with `SA_SIGINFO`.
pub(super) type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// One signal of the process, and the action that it had before this crate's handler.
pub(super) struct Chain {
    signal: libc::c_int,
    before: OnceLock<Option<libc::sigaction>>,
    installed: OnceLock<bool>,
    /// The earlier handler asked for one call only (`SA_RESETHAND`) and had it.
    spent: AtomicBool,
}

impl Chain {
    /// Makes a chain for a signal. Installs nothing.
    pub(super) const fn new(signal: libc::c_int) -> Chain {
        Chain {
            signal,
            before: OnceLock::new(),
            installed: OnceLock::new(),
            spent: AtomicBool::new(false),
        }
    }

    pub(super) fn signal(&self) -> libc::c_int {
        self.signal
    }

    /// Installs a handler, once for the life of the process. Returns whether the system accepted it.
    pub(super) fn install(&self, handler: Handler) -> bool {
        // Known before the handler can run: it could not forward anything otherwise.
        let before = self.before.get_or_init(|| action(self.signal, None));
        before.is_some()
            && *self.installed.get_or_init(|| {
                // SAFETY: all zero is a valid value of the structure.
                let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
                own.sa_sigaction = handler as libc::sighandler_t;
                own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                action(self.signal, Some(&own)).is_some()
            })
    }

    /// Forwards the signal that the calling handler declined. Called by handlers only, and last.
    pub(super) fn forward(&self, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let Some(Some(before)) = self.before.get() else {
            return;
        };
        let sent = was_sent(info);
        match before.sa_sigaction {
            // The system ignores what was sent; a fault ends the process although it is ignored.
            libc::SIG_IGN if sent => {}
            libc::SIG_DFL | libc::SIG_IGN => self.act_by_default(sent),
            _ if self.spent.load(Ordering::Relaxed) => self.act_by_default(sent),
            _ => self.call(before, info, context),
        }
    }

    /// Restores the default action, and lets it take effect when the handler returns.
    fn act_by_default(&self, sent: bool) {
        self.restore_default();
        // The instruction of a fault runs again. That of a trap is over.
        if sent || self.signal == libc::SIGTRAP {
            // SAFETY: a handler may call the function. The signal is blocked until the handler returns.
            unsafe { libc::raise(self.signal) };
        }
    }

    fn restore_default(&self) {
        // SAFETY: all zero is a valid value of the structure, and stands for the default action.
        let default: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        let _ = action(self.signal, Some(&default));
    }

    /// Calls the earlier handler with the signal mask and the flags that it was installed with.
    fn call(
        &self,
        before: &libc::sigaction,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        if before.sa_flags & libc::SA_RESETHAND != 0 {
            self.spent.store(true, Ordering::Relaxed);
            self.restore_default();
        }
        // The mask of the interrupted code is restored when the calling handler returns.
        // SAFETY: the mask is the one that the system gave; a handler may call the function.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const before.sa_mask, ptr::null_mut())
        };
        if before.sa_flags & libc::SA_NODEFER != 0 {
            unblock(self.signal);
        }
        if before.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: the flag says that it is a function of this form.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(before.sa_sigaction) };
            handler(self.signal, info, context);
        } else {
            type Short = extern "C" fn(libc::c_int);
            // SAFETY: without the flag it is a function of this form.
            let handler = unsafe { std::mem::transmute::<usize, Short>(before.sa_sigaction) };
            handler(self.signal);
        }
    }
}

/// Returns whether a thread or a process sent the signal; otherwise an instruction caused it.
pub(super) fn was_sent(info: *mut libc::siginfo_t) -> bool {
    // SAFETY: the system passes a handler a valid structure.
    let code = unsafe { (*info).si_code };
    code <= 0
}

/// Reads the action of a signal, and changes it if there is a new one. Returns the earlier action, or `None` if the system refused.
fn action(signal: libc::c_int, new: Option<&libc::sigaction>) -> Option<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both structures are ours or null; our handlers do only what a handler may.
    if unsafe { libc::sigaction(signal, new, before.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call above has written it.
    Some(unsafe { before.assume_init() })
}

fn unblock(signal: libc::c_int) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the structure is ours to write.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the call above has written it.
    unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    // SAFETY: as above; a handler may call the function.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use jumar_hal::sync::AtomicUsize;

    use super::*;

    /// Installs a handler of the "program".
    fn program(signal: libc::c_int, handler: usize, flags: libc::c_int) {
        // SAFETY: all zero is a valid value of the structure.
        let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        own.sa_sigaction = handler;
        own.sa_flags = flags;
        action(signal, Some(&own)).expect("a signal that may be handled");
    }

    fn raise(signal: libc::c_int) {
        // SAFETY: the signal is handled, by the tests' handlers.
        unsafe { libc::raise(signal) };
    }

    /// More calls than any test expects: a handler that is called forever ends its test here.
    const TOO_MANY: usize = 8;

    static RETURNED: AtomicUsize = AtomicUsize::new(0);
    static RETURNING: Chain = Chain::new(libc::SIGUSR1);

    extern "C" fn returns(signal: libc::c_int) {
        if RETURNED.fetch_add(1, Ordering::Relaxed) == TOO_MANY {
            program(signal, libc::SIG_IGN, 0);
        }
    }

    extern "C" fn forwards_to_returning(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        RETURNING.forward(info, context);
    }

    #[test]
    fn a_sent_signal_reaches_a_returning_handler_once() {
        program(
            libc::SIGUSR1,
            returns as extern "C" fn(libc::c_int) as usize,
            0,
        );
        assert!(RETURNING.install(forwards_to_returning));
        raise(libc::SIGUSR1);
        assert_eq!(RETURNED.load(Ordering::Relaxed), 1);
        raise(libc::SIGUSR1);
        assert_eq!(RETURNED.load(Ordering::Relaxed), 2);
    }

    static SPENT: AtomicUsize = AtomicUsize::new(0);
    static ONCE: Chain = Chain::new(libc::SIGURG);

    extern "C" fn counts(_signal: libc::c_int) {
        SPENT.fetch_add(1, Ordering::Relaxed);
    }

    extern "C" fn forwards_once(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        ONCE.forward(info, context);
    }

    /// The default action of this signal is to be ignored, so that the test survives it.
    #[test]
    fn a_handler_that_asked_for_one_call_has_one() {
        let handler = counts as extern "C" fn(libc::c_int) as usize;
        program(libc::SIGURG, handler, libc::SA_RESETHAND);
        assert!(ONCE.install(forwards_once));
        for _ in 0..3 {
            raise(libc::SIGURG);
        }
        assert_eq!(SPENT.load(Ordering::Relaxed), 1);
    }

    /// Which of the two signals were blocked inside the handler: bit 0 for its own, bit 1 for the one of its mask.
    static BLOCKED: AtomicUsize = AtomicUsize::new(usize::MAX);
    static MASKED: Chain = Chain::new(libc::SIGUSR2);
    const OTHER: libc::c_int = libc::SIGWINCH;

    extern "C" fn records_mask(signal: libc::c_int) {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: without a new mask the call only writes the old one.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), set.as_mut_ptr()) };
        let blocked = [signal, OTHER].map(|signal| {
            // SAFETY: the call above has written the set.
            unsafe { libc::sigismember(set.as_ptr(), signal) == 1 }
        });
        let bits = usize::from(blocked[0]) | usize::from(blocked[1]) << 1;
        BLOCKED.store(bits, Ordering::Relaxed);
    }

    extern "C" fn forwards_masked(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        MASKED.forward(info, context);
    }

    #[test]
    fn a_handler_runs_with_the_mask_that_it_was_installed_with() {
        // SAFETY: all zero is a valid value of the structure.
        let mut own: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        own.sa_sigaction = records_mask as extern "C" fn(libc::c_int) as usize;
        own.sa_flags = libc::SA_NODEFER;
        // SAFETY: the set is ours to write.
        unsafe { libc::sigaddset(&raw mut own.sa_mask, OTHER) };
        action(libc::SIGUSR2, Some(&own)).expect("a signal that may be handled");
        assert!(MASKED.install(forwards_masked));
        raise(libc::SIGUSR2);
        assert_eq!(BLOCKED.load(Ordering::Relaxed), 0b10);
    }
}
