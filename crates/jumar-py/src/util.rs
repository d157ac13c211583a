//! `acl.util`: addresses of Python objects, and objects over addresses. NumPy is asked for only by the functions that need it.

use pyo3::exceptions::{PyValueError, PyWarning};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::raw::ffi::{Answer, Args, Pointer, Stop};
use crate::raw::memory;

/// The address of the storage of a bytes object.
///
/// # Ownership
///
/// No copy is made and no reference is kept. Programs write through this address and read the same object afterwards.
pub fn bytes_to_ptr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let object = call.object(0)?;
    let Ok(bytes) = object.cast::<PyBytes>() else {
        return value_error("acl.util.bytes_to_ptr takes an object of type bytes");
    };
    call.one(&Pointer::of(bytes.as_bytes()))
}

/// Copies memory into a bytes object.
pub fn ptr_to_bytes<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let address = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    if size == 0 {
        return Ok(PyBytes::new(call.py(), b"").into_any());
    }
    if address.is_null() || isize::try_from(size).is_err() {
        return value_error("acl.util.ptr_to_bytes: there is no memory of that address and size");
    }
    Ok(memory::copy_out(call.py(), address, size)?.into_any())
}

/// The address of an array's data.
pub fn numpy_to_ptr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let array = array(
        call,
        "acl.util.numpy_to_ptr takes an object of type numpy.ndarray",
    )?;
    warn(
        call,
        c"acl.util.numpy_to_ptr is deprecated, use bytes_to_ptr",
    )?;
    if !contiguous(&array)? {
        eprintln!(
            "acl.util.numpy_to_ptr: the array is not contiguous; its elements do not lie in a row behind the address \
             (numpy_contiguous_to_ptr makes a copy that does)"
        );
    }
    call.one(&address_of(&array)?)
}

/// The address of the data of an array that is contiguous, and that array.
pub fn numpy_contiguous_to_ptr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let array = array(
        call,
        "acl.util.numpy_contiguous_to_ptr takes an object of type numpy.ndarray",
    )?;
    warn(
        call,
        c"acl.util.numpy_contiguous_to_ptr is deprecated, use bytes_to_ptr",
    )?;
    let array = if contiguous(&array)? {
        array
    } else {
        call.py()
            .import("numpy")?
            .call_method1("ascontiguousarray", (array,))?
    };
    let address = address_of(&array)?;
    call.many(&[&address, &array])
}

/// A writable array over an address.
///
/// # Ownership
///
/// The array owns nothing: it dangles once the memory behind it is freed.
pub fn ptr_to_numpy<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let address = call.get::<Pointer>(0)?;
    let shape = call.object(1)?;
    let number = call.get::<i32>(2)?;
    let Ok(shape) = shape.cast::<PyTuple>() else {
        return value_error("acl.util.ptr_to_numpy takes the shape as a tuple of int");
    };
    let Ok(extents) = shape
        .extract::<Vec<usize>>()
        .or_else(|_| shape.iter().map(|n| n.extract()).collect::<PyResult<_>>())
    else {
        return value_error("acl.util.ptr_to_numpy takes the shape as a tuple of non-negative int");
    };
    warn(
        call,
        c"acl.util.ptr_to_numpy is deprecated, use ptr_to_bytes",
    )?;
    let numpy = call.py().import("numpy")?;
    let Some(kind) = type_of_number(&numpy, number)? else {
        return value_error(&format!(
            "acl.util.ptr_to_numpy: {number} is not a NumPy type number with a fixed size"
        ));
    };
    let item: usize = kind.getattr("itemsize")?.extract()?;
    let size = extents
        .iter()
        .try_fold(item, |size, extent| size.checked_mul(*extent));
    let Some(size) = size.filter(|size| isize::try_from(*size).is_ok()) else {
        return value_error("acl.util.ptr_to_numpy: the shape overflows the address space");
    };
    if size == 0 {
        return Ok(numpy.call_method1("empty", (shape, kind))?);
    }
    if address.is_null() {
        return value_error("acl.util.ptr_to_numpy: the address is null");
    }
    let view = memory::view(call.py(), address, size)?;
    Ok(numpy.call_method1("ndarray", (shape, kind, view))?)
}

/// The dtype that has a type number: NumPy has no call for this, and its numbers differ from those of aclDataType.
fn type_of_number<'py>(
    numpy: &Bound<'py, PyModule>,
    number: i32,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    for letter in "?bBhHiIlLqQfdgFDGe".chars() {
        let kind = numpy.call_method1("dtype", (letter.to_string(),))?;
        if kind.getattr("num")?.extract::<i32>()? == number {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// The argument as an array. Where NumPy was never imported, no object can be one.
fn array<'py>(call: &Args<'py>, refusal: &str) -> Result<Bound<'py, PyAny>, Stop> {
    let object = call.object(0)?;
    let modules = call.py().import("sys")?.getattr("modules")?;
    if let Ok(numpy) = modules.get_item("numpy")
        && object.is_instance(&numpy.getattr("ndarray")?)?
    {
        return Ok(object);
    }
    Err(Stop::Raised(PyValueError::new_err(refusal.to_string())))
}

fn contiguous(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = array.py();
    array
        .getattr(intern!(py, "flags"))?
        .getattr(intern!(py, "c_contiguous"))?
        .extract()
}

fn address_of(array: &Bound<'_, PyAny>) -> PyResult<u64> {
    array
        .getattr(intern!(array.py(), "__array_interface__"))?
        .get_item("data")?
        .get_item(0)?
        .extract()
}

fn warn(call: &Args<'_>, text: &std::ffi::CStr) -> Result<(), Stop> {
    let category = call.py().get_type::<PyWarning>();
    Ok(PyErr::warn(call.py(), &category, text, 1)?)
}

fn value_error<'py>(text: &str) -> Answer<'py> {
    Err(Stop::Raised(PyValueError::new_err(text.to_string())))
}
