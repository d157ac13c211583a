//! Calls into Python from threads that the interpreter may abandon.
//!
//! Before 3.14 a thread that wants the interpreter while it shuts down is ended on the spot: its stack is unwound from the
//! middle of whatever Python code it runs. Unwinding through Rust would release references and locks of an interpreter that
//! this thread does not have. So the innermost frame of Rust stops the unwinding by staying where it is, forever, which is
//! what 3.14 does by itself; the process ends without that thread.

use std::mem;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

// Declared here because the binding declares them as functions that do not unwind.
unsafe extern "C-unwind" {
    fn PyObject_CallObject(
        callable: *mut ffi::PyObject,
        args: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    fn PyErr_Display(
        kind: *mut ffi::PyObject,
        value: *mut ffi::PyObject,
        traceback: *mut ffi::PyObject,
    );
    fn PyErr_WriteUnraisable(object: *mut ffi::PyObject);
    fn Py_DecRef(object: *mut ffi::PyObject);
}

/// Dropped only by unwinding.
struct Stay;

impl Drop for Stay {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Calls a function.
pub fn call<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let stay = Stay;
    // SAFETY: live objects, and the interpreter is attached, which `Bound` proves.
    let result = unsafe { PyObject_CallObject(function.as_ptr(), args.as_ptr()) };
    mem::forget(stay);
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(function.py(), result) }
}

/// Shows an exception with its traceback on sys.stderr. Unlike a print it does not end the process on SystemExit.
pub fn display(py: Python<'_>, error: &PyErr) {
    let (kind, value, traceback) = (error.get_type(py), error.value(py), error.traceback(py));
    let traceback = traceback
        .as_ref()
        .map_or(std::ptr::null_mut(), |traceback| traceback.as_ptr());
    let stay = Stay;
    // SAFETY: live objects, and the interpreter is attached.
    unsafe { PyErr_Display(kind.as_ptr(), value.as_ptr(), traceback) };
    mem::forget(stay);
}

/// Hands an exception to sys.unraisablehook, as one that happened in a function.
pub fn unraisable(error: PyErr, function: &Bound<'_, PyAny>) {
    error.restore(function.py());
    let stay = Stay;
    // SAFETY: a live object, an exception is set, and the interpreter is attached.
    unsafe { PyErr_WriteUnraisable(function.as_ptr()) };
    mem::forget(stay);
}

/// Drops a reference, which may run a destructor.
pub fn release(object: Bound<'_, PyAny>) {
    let object = object.into_ptr();
    let stay = Stay;
    // SAFETY: the reference was owned and is given up here, with the interpreter attached.
    unsafe { Py_DecRef(object) };
    mem::forget(stay);
}
