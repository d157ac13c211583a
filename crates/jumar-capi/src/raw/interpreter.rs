//! Where a Python program is that calls through another library than the module `acl`, such as a framework.
//!
//! The interpreter writes the stack of the calling thread to a file, as its fault handler does. That needs no lock of the
//! interpreter, which a framework releases before it calls; asking for it could stop the program forever.

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::ptr::NonNull;
use std::sync::OnceLock;

use jumar_hal::sync::{AtomicI32, Ordering};

use crate::acl::observers::Script;

/// `_Py_DumpTraceback`: writes the Python frames of a thread, the innermost first.
type Dump = unsafe extern "C" fn(c_int, *mut c_void);
/// `PyGILState_GetThisThreadState`: the calling thread as the interpreter knows it, or null.
type ThisThread = unsafe extern "C" fn() -> *mut c_void;

struct Interpreter {
    dump: Dump,
    this_thread: ThisThread,
}

fn find(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends in a zero byte; the handle stands for all objects that the process shows to each other.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    NonNull::new(found)
}

/// The interpreter of this process, if it is one that has both functions: CPython up to 3.12.
fn interpreter() -> Option<&'static Interpreter> {
    static INTERPRETER: OnceLock<Option<Interpreter>> = OnceLock::new();
    let interpreter = INTERPRETER.get_or_init(|| {
        let (dump, this_thread) = (
            find(c"_Py_DumpTraceback")?,
            find(c"PyGILState_GetThisThreadState")?,
        );
        Some(Interpreter {
            // SAFETY: the interpreter's function of this name has this type.
            dump: unsafe { std::mem::transmute::<NonNull<c_void>, Dump>(dump) },
            // SAFETY: the interpreter's function of this name has this type.
            this_thread: unsafe { std::mem::transmute::<NonNull<c_void>, ThisThread>(this_thread) },
        })
    });
    interpreter.as_ref()
}

thread_local! {
    /// The file that the thread's stack is written to, and the process that opened it: a forked child would share its position.
    static FILE: RefCell<Option<(u32, File)>> = const { RefCell::new(None) };
}

fn open() -> Option<File> {
    // SAFETY: the name ends in a zero byte.
    let file = unsafe { libc::memfd_create(c"jumar-python-stack".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: the descriptor was just opened, and no other code has it.
    (file >= 0).then(|| unsafe { File::from_raw_fd(file) })
}

/// Returns where the calling thread is in a Python program: the innermost frame that is not of an installed package. `None` on a
/// thread that runs no Python.
pub(super) fn script() -> Option<Script> {
    let interpreter = interpreter()?;
    // SAFETY: the function takes nothing, and may be called on any thread.
    let thread = NonNull::new(unsafe { (interpreter.this_thread)() })?;
    let text = FILE.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let own = std::process::id();
        if kept.as_ref().is_none_or(|(process, _)| *process != own) {
            *kept = Some((own, open()?));
        }
        let (_, file) = kept.as_mut()?;
        file.set_len(0).ok()?;
        file.rewind().ok()?;
        // SAFETY: the file is open, and the thread is the calling one: its frames do not change meanwhile.
        unsafe { (interpreter.dump)(file.as_raw_fd(), thread.as_ptr()) };
        file.rewind().ok()?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        Some(text)
    });
    Script::of_dump(&text.ok()??)
}

/// The signal on which a thread writes its Python stack, where no module `acl` has chosen one: as there, one that the system and its
/// library leave alone.
const SIGNAL: c_int = 61;

/// The file for these stacks.
static TOUCH_FILE: AtomicI32 = AtomicI32::new(-1);

/// Lets a thread of a Python program write its stack when it touches memory that is guarded.
pub(super) fn answer_touches() {
    if interpreter().is_none() {
        return;
    }
    // SAFETY: the name ends in a zero byte.
    let file = unsafe { libc::memfd_create(c"jumar-python-stack".as_ptr(), libc::MFD_CLOEXEC) };
    let Ok(descriptor) = u32::try_from(file) else {
        return;
    };
    TOUCH_FILE.store(file, Ordering::Relaxed);
    // SAFETY: a zeroed sigaction is a valid one.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = write_stack as extern "C" fn(c_int) as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the handler has the type that SA_SIGINFO is not set for; the earlier action is not needed.
    let set = unsafe { libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut()) };
    if set == 0 {
        crate::acl::observers::set_script_signal(SIGNAL.unsigned_abs(), descriptor);
    }
}

extern "C" fn write_stack(_signal: c_int) {
    let Some(interpreter) = interpreter() else {
        return;
    };
    // SAFETY: the function takes nothing, and may be called on any thread.
    let Some(thread) = NonNull::new(unsafe { (interpreter.this_thread)() }) else {
        return;
    };
    // SAFETY: the file stays open, and the thread is the calling one; the interpreter made the function for handlers of signals.
    unsafe { (interpreter.dump)(TOUCH_FILE.load(Ordering::Relaxed), thread.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_without_an_interpreter_has_no_script() {
        assert!(script().is_none());
    }
}
