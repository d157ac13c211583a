//! The stack of a program that crashes. For fault injection it goes to a file, and shows the call whose failure the program did not handle.
//! Under the checks it goes to the error output, with the last call of the thread.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::acl::observers;

use super::interpreter;

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

/// The file for the stack; `None`: the error output.
static REPORT: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Lets a crash write its stack where `JUMAR_CRASH_REPORT` says, or to the error output if the program is checked.
pub(super) fn report() {
    let file = jumar_acl::crash_report();
    let is_to_file = file.is_some();
    if !is_to_file && !observers::is_checked() || REPORT.set(file).is_err() {
        return;
    }
    if observers::is_protecting() {
        interpreter::answer_touches();
    }
    for signal in SIGNALS {
        // A program that handles its faults continues to do so, as an interpreter with a fault handler does.
        if !is_to_file && !has_default_action(signal) {
            continue;
        }
        // SAFETY: a zeroed sigaction is a valid one.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction =
            crashed as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        // The next one ends the process as if there were no handler.
        action.sa_flags =
            libc::SA_SIGINFO | libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
        // SAFETY: the handler has the type that SA_SIGINFO is set for; the earlier action is not needed.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// Returns whether a signal ends the process.
fn has_default_action(signal: c_int) -> bool {
    // SAFETY: a zeroed sigaction is a valid one.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is set, and the structure is ours to write.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_DFL
}

/// Returns the address of the instruction that a signal interrupted.
///
/// # Safety
/// `context` is null, or what the system passes to a handler.
unsafe fn interrupted(context: *mut c_void) -> Option<usize> {
    let context = context.cast::<libc::ucontext_t>();
    if context.is_null() {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's contract.
    return Some(unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] } as usize);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the caller's contract.
    return Some(unsafe { (*context).uc_mcontext.pc } as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

extern "C" fn crashed(signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    // What follows allocates and takes locks, which a handler should not: the process is lost anyway, and the alarm ends it.
    // SAFETY: plain calls.
    unsafe { libc::alarm(PATIENCE) };
    // SAFETY: the system calls this with the context.
    let fault = unsafe { interrupted(context) };
    match REPORT.get() {
        Some(Some(file)) => drop(std::fs::write(file, jumar_acl::stack_text(fault))),
        Some(None) => observers::crashed(signal, fault, interpreter::script()),
        None => {}
    }
    // Another handler that forwarded the signal may still be installed.
    // SAFETY: the default action is one of the process's own.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    // SAFETY: the signal's handler is the default again.
    unsafe { libc::raise(signal) };
}
