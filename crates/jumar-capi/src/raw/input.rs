//! What comes in: texts, structs, arrays, memory, handles.

use std::ffi::{CStr, c_char, c_void};

use crate::acl::{Error, ErrorKind, Raw, Result, Span};

/// A type of which every pattern of bytes is a value, so that C may have written it.
///
/// # Safety
/// Integers, floats, and `repr(C)` structs and arrays of them only.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($of:ty),*) => {$(
        // SAFETY: every pattern of bytes is a value of this type.
        unsafe impl Plain for $of {}
    )*};
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, usize, f32, f64, Raw);

// SAFETY: an array of such values is one.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// A number that C uses as a count.
pub trait Count: Copy {
    /// Returns the count; a negative number counts nothing, and the function that gets it beside the array refuses it.
    fn count(self) -> usize;
}

macro_rules! counts {
    ($($of:ty),*) => {$(
        impl Count for $of {
            fn count(self) -> usize {
                usize::try_from(self).unwrap_or(0)
            }
        }
    )*};
}

counts!(u16, i32, u32, u64, usize);

/// Turns a number that C uses as a count into a length.
pub fn count(number: impl Count) -> usize {
    number.count()
}

/// Returns the size of one element of a data type; 0 for a type without elements, which the function refuses.
pub fn element_bytes(data_type: i32) -> usize {
    jumar_acl::aclnn::scalar_bytes(data_type).unwrap_or(0)
}

/// Returns the length of the range that rows of a matrix lie in: from the first byte of the first one to the last byte of the
/// last one. What is more than memory becomes a length that no range has, which is refused where the range is taken.
pub fn rows(pitch: usize, width: usize, height: usize) -> usize {
    match height.checked_sub(1) {
        Some(gaps) if width > 0 => gaps.saturating_mul(pitch).saturating_add(width),
        _ => 0,
    }
}

/// Takes a handle: an opaque number of pointer type, never dereferenced.
#[inline]
pub fn handle<T>(pointer: *const T) -> Raw {
    Raw(pointer.addr() as u64)
}

/// Takes a text that ends in a zero byte.
///
/// # Safety
/// `pointer` is null or points to such a text, which stays as it is until the call is done.
pub unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, and the rest is the caller's contract.
    Some(unsafe { CStr::from_ptr(pointer) })
}

/// Takes a struct that is read.
///
/// # Errors
/// `InvalidArgument`: the address is not aligned for the type.
///
/// # Safety
/// `pointer` is null or points to a value, which stays as it is until the call is done.
pub unsafe fn input<'a, T: Plain>(pointer: *const T, name: &str) -> Result<Option<&'a T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    aligned(pointer, name)?;
    // SAFETY: not null and aligned; every pattern of bytes is a value (Plain); the rest is the caller's contract.
    Ok(Some(unsafe { &*pointer }))
}

/// Takes an array that is read.
///
/// # Errors
/// `InvalidArgument`: the address is not aligned for the type, or the array would not fit into memory.
///
/// # Safety
/// `pointer` is null or points to `length` values, which stay as they are until the call is done.
#[inline]
pub unsafe fn slice<'a, T: Plain>(
    pointer: *const T,
    length: usize,
    name: &str,
) -> Result<Option<&'a [T]>> {
    if pointer.is_null() {
        return Ok(None);
    }
    aligned(pointer, name)?;
    fits::<T>(pointer.addr(), length, name)?;
    // SAFETY: not null, aligned and within the address space; Plain; the rest is the caller's contract.
    Ok(Some(unsafe { std::slice::from_raw_parts(pointer, length) }))
}

/// Takes an array of texts.
///
/// # Errors
/// As [`fn@slice`].
///
/// # Safety
/// `pointer` is null or points to `length` pointers, each as in [`text`].
pub unsafe fn texts<'a>(
    pointer: *const *const c_char,
    length: usize,
    name: &str,
) -> Result<Option<Vec<Option<&'a CStr>>>> {
    // SAFETY: the caller's contract; an address is as long as a pointer.
    let Some(addresses) = (unsafe { slice::<usize>(pointer.cast(), length, name) })? else {
        return Ok(None);
    };
    let texts = addresses.iter().map(|address| {
        // SAFETY: the caller's contract.
        unsafe { text(std::ptr::with_exposed_provenance(*address)) }
    });
    Ok(Some(texts.collect()))
}

/// Takes a range of memory.
///
/// # Errors
/// `NullPointer`: null with a length. `InvalidArgument`: the range wraps.
///
/// # Safety
/// The memory is mapped until the call, and whatever it queues, is done.
#[inline(always)]
pub unsafe fn span(pointer: *const c_void, bytes: usize, name: &str) -> Result<Span> {
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    let ends = isize::try_from(bytes).is_ok() && pointer.addr().checked_add(bytes).is_some();
    if pointer.is_null() || !ends {
        return Err(no_span(pointer, bytes, name));
    }
    // SAFETY: the range does not wrap; the rest is the caller's contract.
    Ok(unsafe { Span::trusted(pointer.expose_provenance(), bytes) })
}

#[cold]
#[inline(never)]
fn no_span(pointer: *const c_void, bytes: usize, name: &str) -> Error {
    if pointer.is_null() {
        return super::output::null(name, "memory");
    }
    // Sizes of memory are the runtime's to judge, so this refusal is of its kind.
    let sentence = match fits::<u8>(pointer.addr(), bytes, name) {
        Err(error) => error.sentence().to_owned(),
        Ok(()) => format!("{name} is not a range of {bytes} bytes"),
    };
    Error::new(ErrorKind::InvalidValue, sentence)
}

#[inline]
fn aligned<T>(pointer: *const T, name: &str) -> Result<()> {
    if pointer.is_aligned() {
        return Ok(());
    }
    Err(not_aligned(pointer.addr(), align_of::<T>(), name))
}

#[cold]
fn not_aligned(address: usize, bytes: usize, name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("{name} is {address:#x}, which is not a multiple of {bytes} bytes"),
    )
}

#[inline]
fn fits<T>(address: usize, length: usize, name: &str) -> Result<()> {
    let bytes = length
        .checked_mul(size_of::<T>())
        .filter(|bytes| isize::try_from(*bytes).is_ok());
    if bytes.and_then(|bytes| address.checked_add(bytes)).is_some() {
        return Ok(());
    }
    Err(too_long(length, size_of::<T>(), name))
}

#[cold]
fn too_long(length: usize, bytes: usize, name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!(
            "the length of {name} is {length} entries of {bytes} bytes, which do not fit into memory"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_no_array_and_a_negative_count_is_none() {
        // SAFETY: null is allowed.
        let none = unsafe { slice::<u32>(std::ptr::null(), 3, "x") };
        assert!(none.unwrap().is_none());
        assert_eq!(count(-3i32), 0);
    }

    #[test]
    fn an_array_that_cannot_be_there_is_refused() {
        let words = [1u32, 2, 3];
        // SAFETY: refused before anything is read.
        let refused = unsafe { slice(words.as_ptr(), usize::MAX / 2, "words") };
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
        // SAFETY: three words are there.
        let three = unsafe { slice(words.as_ptr(), 3, "words") };
        assert_eq!(three.unwrap(), Some(&words[..]));
    }

    #[test]
    fn an_unaligned_address_is_refused() {
        let words = [1u32, 2];
        let unaligned = words.as_ptr().wrapping_byte_add(1);
        // SAFETY: refused before anything is read.
        assert!(unsafe { input(unaligned, "word") }.is_err());
    }
}
