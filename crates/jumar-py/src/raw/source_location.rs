//! Reports the Python location of a call to the runtime's checks; does nothing unless `JUMAR_CHECK` is set.

use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::library::Symbol;

static WANTED: AtomicBool = AtomicBool::new(false);
static SET_SOURCE_LOCATION: Symbol = Symbol::new(c"jumar_set_source_location");

static CALL_FAILED: Symbol = Symbol::new(c"jumar_script_call_failed");
static READS_RESULT: Symbol = Symbol::new(c"jumar_script_reads_result");

/// Finds out whether the caller of a function reads the code in its result, from the instructions behind the call.
const IS_READ: &CStr =
    match CStr::from_bytes_with_nul(concat!(include_str!("is_read.py"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the text holds no zero byte"),
    };

static SET_SIGNAL: Symbol = Symbol::new(c"jumar_set_script_signal");

/// The signal on which Python writes the stack of the thread that gets it: one that the system and its library leave alone.
const SIGNAL: u32 = 61;

/// Reads whether anybody wants to know. Called at the import.
pub fn ask(py: Python<'_>) {
    let is_set = |name| std::env::var(name).is_ok_and(|text| !text.is_empty() && text != "0");
    let wanted = is_set("JUMAR_CHECK");
    WANTED.store(wanted, Ordering::Relaxed);
    if wanted && is_set("JUMAR_CHECK_PROTECT") {
        let _lines_are_then_unknown = answer_faults(py);
    }
}

/// Lets Python's own fault handler say where a script touched memory that is guarded.
fn answer_faults(py: Python<'_>) -> PyResult<()> {
    let file: u32 = py
        .import("os")?
        .call_method1("memfd_create", ("jumar-python-stack",))?
        .extract()?;
    let options = PyDict::new(py);
    options.set_item("file", file)?;
    options.set_item("all_threads", false)?;
    py.import("faulthandler")?
        .call_method("register", (SIGNAL,), Some(&options))?;
    let Some(address) = SET_SIGNAL.resolve() else {
        return Ok(());
    };
    // SAFETY: the library's function of this name has this type.
    let set = unsafe {
        std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, extern "C" fn(u32, u32)>(address)
    };
    set(SIGNAL, file);
    Ok(())
}

/// Whether anybody wants to know.
#[inline]
pub fn is_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Reports the location of the innermost Python frame.
#[cold]
pub fn report(py: Python<'_>) {
    let _ignored = frame(py);
}

/// Reports after a call that failed whether the script uses the result.
#[cold]
pub fn ended(answer: &Bound<'_, PyAny>) {
    let (Some(failed), Some(reads)) = (CALL_FAILED.resolve(), READS_RESULT.resolve()) else {
        return;
    };
    // SAFETY: the library's function of this name has this type.
    let failed = unsafe {
        std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, extern "C" fn() -> u32>(failed)
    };
    if failed() == 0 {
        return;
    }
    // SAFETY: the library's function of this name has this type.
    let reads = unsafe {
        std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, extern "C" fn(u32)>(reads)
    };
    // What cannot be found out counts as used.
    let is_read = is_read(answer).unwrap_or(true);
    reads(u32::from(is_read));
}

fn is_read(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = answer.py();
    let function = FUNCTION.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let module = PyModule::from_code(py, IS_READ, c"acl._is_read", c"acl._is_read")?;
        Ok(module.getattr("is_read")?.unbind())
    })?;
    let count = answer.cast::<PyTuple>().map_or(0, |tuple| tuple.len());
    function.bind(py).call1((count,))?.extract()
}

fn frame(py: Python<'_>) -> PyResult<()> {
    let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
    let code = frame.getattr("f_code")?;
    let file: String = code.getattr("co_filename")?.extract()?;
    let function: String = code.getattr("co_name")?.extract()?;
    let line: u32 = frame.getattr("f_lineno")?.extract()?;
    let (Ok(file), Ok(function), Some(address)) = (
        CString::new(file),
        CString::new(function),
        SET_SOURCE_LOCATION.resolve(),
    ) else {
        return Ok(());
    };
    // SAFETY: the library's function of this name has this type.
    let set = unsafe {
        std::mem::transmute::<
            std::ptr::NonNull<std::ffi::c_void>,
            unsafe extern "C" fn(*const c_char, u32, *const c_char),
        >(address)
    };
    // SAFETY: both are texts that end in a zero byte.
    unsafe { set(file.as_ptr(), line, function.as_ptr()) };
    Ok(())
}
