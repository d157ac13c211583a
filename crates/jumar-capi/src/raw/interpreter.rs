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
    of_text(&text.ok()??)
}

/// Finds the program's innermost frame in what the interpreter writes. Where all frames are of packages, it is the innermost one.
fn of_text(text: &str) -> Option<Script> {
    let frames = || text.lines().filter_map(frame);
    let is_own = |frame: &Script| {
        ![
            "/site-packages/",
            "/dist-packages/",
            "/lib/python",
            "<frozen",
        ]
        .iter()
        .any(|part| frame.file.contains(part))
    };
    frames().find(is_own).or_else(|| frames().next())
}

/// Reads `  File "app.py", line 12 in work`.
fn frame(line: &str) -> Option<Script> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.rsplit_once("\", line ")?;
    let (line, function) = rest.split_once(" in ")?;
    Some(Script {
        file: file.into(),
        line: line.parse().ok()?,
        function: function.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGES: &str = r#"Stack (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 2 in linear
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125 in forward
"#;

    #[test]
    fn the_innermost_frame_of_the_program_is_found_behind_those_of_packages() {
        let text = format!(
            "{PACKAGES}  File \"/src/my \", line app.py\", line 12 in <lambda>\n  File \"/src/app.py\", line 3 in <module>\n"
        );
        let found = of_text(&text).expect("there is a frame of the program");
        assert_eq!(&*found.file, "/src/my \", line app.py");
        assert_eq!((found.line, &*found.function), (12, "<lambda>"));
    }

    #[test]
    fn where_only_packages_run_the_innermost_frame_is_named() {
        let found = of_text(PACKAGES).expect("there is a frame");
        assert_eq!((found.line, &*found.function), (2, "linear"));
        assert!(of_text("Stack (most recent call first):\n  <no Python frame>\n").is_none());
    }

    #[test]
    fn a_thread_without_an_interpreter_has_no_script() {
        assert!(script().is_none());
    }
}
