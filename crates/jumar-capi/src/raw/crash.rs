//! The stack of a program that crashes, for fault injection: it shows the call whose failure the program did not handle.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Faults and aborts of the program's own.
const SIGNALS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];
/// How long the stack may take to be read, in seconds: a crash inside the allocator holds its lock.
const PATIENCE: u32 = 10;

static REPORT: OnceLock<PathBuf> = OnceLock::new();

/// Lets a crash write its stack where `JUMAR_CRASH_REPORT` says.
pub(super) fn report() {
    let Some(file) = jumar_acl::crash_report() else {
        return;
    };
    if REPORT.set(file).is_err() {
        return;
    }
    for signal in SIGNALS {
        // SAFETY: a zeroed sigaction is a valid one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = crashed as extern "C" fn(c_int) as usize;
        // The next one ends the process as if there were no handler.
        action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
        // SAFETY: the handler has the type that SA_SIGINFO is not set for; the earlier action is not needed.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

extern "C" fn crashed(signal: c_int) {
    // What follows allocates and takes locks, which a handler should not: the process is lost anyway, and the alarm ends it.
    // SAFETY: plain calls.
    unsafe { libc::alarm(PATIENCE) };
    if let Some(file) = REPORT.get() {
        let _ignored = std::fs::write(file, jumar_acl::stack_text());
    }
    // SAFETY: the signal's handler is the default again.
    unsafe { libc::raise(signal) };
}
