//! Objects over memory that the program names by its address. The caller guarantees the memory: an address is not a handle.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::ffi::Pointer;

/// `PyBUF_WRITE`, which the stable interface fixes; the binding leaves it out for 3.9.
const PYBUF_WRITE: std::ffi::c_int = 0x200;

/// Copies `size` bytes, which must not be 0, from an address that is not null.
pub fn copy_out<'py>(
    py: Python<'py>,
    address: Pointer,
    size: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, size, |bytes| {
        // SAFETY: the program guarantees `size` readable bytes at the address; `bytes` is a fresh object of that size, so
        // the two do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(address.as_ptr().cast::<u8>(), bytes.as_mut_ptr(), size)
        };
        Ok(())
    })
}

/// A writable memoryview of `size` bytes at an address that is not null. It owns nothing.
pub fn view<'py>(py: Python<'py>, address: Pointer, size: usize) -> PyResult<Bound<'py, PyAny>> {
    let size = ffi::Py_ssize_t::try_from(size)
        .map_err(|_| pyo3::exceptions::PyOverflowError::new_err("size"))?;
    // SAFETY: the interpreter is attached; the view reads and writes only when the program uses it.
    let view = unsafe { ffi::PyMemoryView_FromMemory(address.as_ptr().cast(), size, PYBUF_WRITE) };
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, view) }
}
