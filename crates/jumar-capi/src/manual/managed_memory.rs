//! Several attributes of managed memory at once: an array of buffers that are written.

use std::ffi::c_void;

use jumar_acl::{Error, ErrorKind};

use crate::acl::calls;
use crate::raw;

/// Reads several attributes of a range of managed memory.
///
/// # Safety
/// Called from C: the arrays are as long as their count says, and the buffers as long as their sizes say.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemManagedGetAttrs(
    attributes: *mut u32,
    numAttributes: usize,
    ptr: *const c_void,
    size: usize,
    data: *mut *mut c_void,
    dataSizes: *mut usize,
) -> i32 {
    raw::status(&calls::aclrtMemManagedGetAttrs, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(attributes),
                raw::ArgBits::word(numAttributes),
                raw::ArgBits::word(ptr),
                raw::ArgBits::word(size),
                raw::ArgBits::word(data),
                raw::ArgBits::word(dataSizes),
            ]
        })?;
        let n = numAttributes;
        // SAFETY: the program guarantees `attributes`: null or that many, as the C declaration says.
        let wanted = unsafe { raw::slice::<u32>(attributes, n, "attributes") }?;
        // SAFETY: the program guarantees `data`: null or that many addresses, as the C declaration says.
        let buffers = unsafe { raw::slice::<usize>(data.cast(), n, "data") }?;
        // SAFETY: the program guarantees `dataSizes`: null or that many sizes, as the C declaration says.
        let capacities = unsafe { raw::slice::<usize>(dataSizes, n, "dataSizes") }?;
        let Some(buffers) = buffers else {
            return Err(Error::new(ErrorKind::NullPointer, "data is null"));
        };
        let address = ptr.expose_provenance();
        let values = jumar_acl::managed_memory::aclrtMemManagedGetAttrs(
            cx, wanted, address, size, capacities,
        )?;
        // Every buffer is checked before the first is written.
        let outputs = buffers
            .iter()
            .zip(&values)
            .map(|(buffer, value)| {
                let buffer = raw::address::<u8>(*buffer);
                // SAFETY: the program guarantees each buffer: null or as long as its size says.
                unsafe { raw::OutArray::new(buffer, value.len(), "an entry of data") }
            })
            .collect::<Result<Vec<_>, Error>>()?;
        for (output, value) in outputs.into_iter().zip(&values) {
            output.set(value)?;
        }
        Ok(())
    })
}
