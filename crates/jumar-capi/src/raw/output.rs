//! What goes out: variables and arrays that a call writes, and the values it answers.

use std::ffi::{CStr, c_char, c_void};

use crate::acl::{Error, ErrorKind, Raw, Result};

use super::input::Plain;

/// A variable that a call writes when it succeeds. Its address may be unaligned: it is then written byte by byte.
pub struct Out<T>(*mut T);

impl<T: Plain> Out<T> {
    /// Takes the address of a variable.
    ///
    /// # Errors
    /// `NullPointer`: it is null.
    ///
    /// # Safety
    /// `pointer` is null or the address of a variable that is not used otherwise until the call is done.
    pub unsafe fn new(pointer: *mut T, name: &str) -> Result<Self> {
        if pointer.is_null() {
            Err(null(name, "a variable"))
        } else {
            Ok(Out(pointer))
        }
    }

    /// Takes the address of a variable, or null for a value that is not needed.
    ///
    /// # Errors
    /// None; it answers a `Result` because all constructors of this module do.
    ///
    /// # Safety
    /// As [`Out::new`].
    pub unsafe fn optional(pointer: *mut T, _name: &str) -> Result<Self> {
        Ok(Out(pointer))
    }

    /// Writes the variable.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null; the constructor's contract makes it writable.
            unsafe { self.0.write_unaligned(value) }
        }
    }
}

/// A variable that a call reads and writes.
pub struct InOut<T>(*mut T);

impl<T: Plain> InOut<T> {
    /// Takes the address of a variable that holds a value.
    ///
    /// # Errors
    /// `NullPointer`: it is null.
    ///
    /// # Safety
    /// `pointer` is null or the address of a variable with a value, that is not used otherwise until the call is done.
    pub unsafe fn new(pointer: *mut T, name: &str) -> Result<Self> {
        if pointer.is_null() {
            Err(null(name, "a variable"))
        } else {
            Ok(InOut(pointer))
        }
    }

    /// Reads the variable.
    pub fn get(&self) -> T {
        // SAFETY: not null; the constructor's contract makes it readable; Plain.
        unsafe { self.0.read_unaligned() }
    }

    /// Writes the variable.
    pub fn set(self, value: T) {
        // SAFETY: not null; the constructor's contract makes it writable.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// An array that a call writes when it succeeds.
pub struct OutArray<T> {
    pointer: *mut T,
    capacity: usize,
    name: &'static str,
}

impl<T: Plain> OutArray<T> {
    /// Takes the address of an array of `capacity` values.
    ///
    /// # Errors
    /// `NullPointer`: it is null although the capacity is not 0.
    ///
    /// # Safety
    /// `pointer` is null or the address of so much memory, which is not used otherwise until the call is done.
    pub unsafe fn new(pointer: *mut T, capacity: usize, name: &'static str) -> Result<Self> {
        if pointer.is_null() && capacity > 0 {
            return Err(null(name, "an array"));
        }
        Ok(OutArray {
            pointer,
            capacity,
            name,
        })
    }

    /// Takes the address of an array, or null if it is not needed.
    ///
    /// # Errors
    /// None; it answers a `Result` because all constructors of this module do.
    ///
    /// # Safety
    /// As [`OutArray::new`].
    pub unsafe fn optional(pointer: *mut T, capacity: usize, name: &'static str) -> Result<Self> {
        Ok(OutArray {
            pointer,
            capacity,
            name,
        })
    }

    /// Writes the first values of the array and leaves the rest as it is.
    ///
    /// # Errors
    /// `Internal`: there are more values than the array holds, which the function should have refused.
    pub fn set(self, values: &[T]) -> Result<()> {
        if self.pointer.is_null() {
            return Ok(());
        }
        if values.len() > self.capacity {
            return Err(Error::new(
                ErrorKind::Internal,
                format!(
                    "{} holds {} values and would get {}",
                    self.name,
                    self.capacity,
                    values.len()
                ),
            ));
        }
        let bytes = size_of_val(values);
        // SAFETY: not null, large enough, and the constructor's contract makes it writable; bytes have no alignment.
        unsafe {
            self.pointer
                .cast::<u8>()
                .copy_from_nonoverlapping(values.as_ptr().cast::<u8>(), bytes)
        };
        Ok(())
    }
}

#[cold]
pub(super) fn null(name: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::NullPointer,
        format!("{name} is null; it must be the address of {what}"),
    )
}

/// Returns a handle to C.
pub fn pointer(handle: Raw) -> *mut c_void {
    std::ptr::without_provenance_mut(handle.0 as usize)
}

/// Returns an address to C.
pub fn address<T>(address: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address)
}

/// What stands for a text that outlives the call.
pub trait TextAddress {
    /// Returns the address of the first byte, or null.
    fn text_address(self) -> *const c_char;
}

impl TextAddress for usize {
    fn text_address(self) -> *const c_char {
        std::ptr::with_exposed_provenance(self)
    }
}

impl TextAddress for *const c_char {
    fn text_address(self) -> *const c_char {
        self
    }
}

impl TextAddress for &'static CStr {
    fn text_address(self) -> *const c_char {
        self.as_ptr()
    }
}

impl TextAddress for Option<&'static CStr> {
    fn text_address(self) -> *const c_char {
        self.map_or(std::ptr::null(), CStr::as_ptr)
    }
}

/// Returns a text to C.
pub fn text_address(text: impl TextAddress) -> *const c_char {
    text.text_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_variable_is_refused_and_named() {
        // SAFETY: null is allowed.
        let refused = unsafe { Out::<u32>::new(std::ptr::null_mut(), "priority") }.err();
        let refused = refused.map(|e| (e.kind(), e.to_string().contains("priority")));
        assert_eq!(refused, Some((ErrorKind::NullPointer, true)));
    }

    #[test]
    fn an_array_is_never_written_past_its_capacity() {
        let mut capacity = [0u16; 3];
        // SAFETY: the array is ours.
        let out = unsafe { OutArray::new(capacity.as_mut_ptr(), 2, "array") }.unwrap();
        assert!(out.set(&[1, 2, 3]).is_err());
        // SAFETY: the array is ours.
        let out = unsafe { OutArray::new(capacity.as_mut_ptr(), 2, "array") }.unwrap();
        out.set(&[7, 8]).unwrap();
        assert_eq!(capacity, [7, 8, 0]);
    }
}
