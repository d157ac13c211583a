//! Batched copies: parallel arrays of addresses, and the number of the copy that failed.

use std::ffi::c_void;

use jumar_acl::memcpy::{BatchCopy, NO_COPY_FAILED, batch};
use jumar_acl::{Error, ErrorKind, Result};

use crate::acl::{calls, types};
use crate::raw;

/// Copies a batch between host and device, at once.
///
/// # Safety
/// Called from C: the arrays are as long as their counts say, and the memory they name may be read and written.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemcpyBatch(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut types::aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    failIndex: *mut usize,
) -> i32 {
    raw::status(&calls::aclrtMemcpyBatch, |cx| {
        // SAFETY: the program vouches for `failIndex`: null or the address of a variable, as the C declaration says.
        let fail_index = unsafe { raw::Out::<usize>::new(failIndex, "failIndex") }?;
        // SAFETY: the program vouches for `dsts`: null or that many addresses, as the C declaration says.
        let to = unsafe { raw::slice::<usize>(dsts.cast(), numBatches, "dsts") }?;
        // SAFETY: the program vouches for `destMaxs`: null or that many sizes, as the C declaration says.
        let rooms = unsafe { raw::slice::<usize>(destMaxs, numBatches, "destMaxs") }?;
        // SAFETY: the program vouches for `srcs`: null or that many addresses, as the C declaration says.
        let from = unsafe { raw::slice::<usize>(srcs.cast(), numBatches, "srcs") }?;
        // SAFETY: the program vouches for `sizes`: null or that many sizes, as the C declaration says.
        let sizes = unsafe { raw::slice::<usize>(sizes, numBatches, "sizes") }?;
        // SAFETY: the program vouches for `attrs`: null or that many attributes, as the C declaration says.
        let attributes =
            unsafe { raw::slice::<types::aclrtMemcpyBatchAttr>(attrs, numAttrs, "attrs") }?;
        // SAFETY: the program vouches for `attrsIndexes`: null or that many numbers, as the C declaration says.
        let indexes = unsafe { raw::slice::<usize>(attrsIndexes, numAttrs, "attrsIndexes") }?;
        let (Some(to), Some(rooms), Some(from), Some(sizes)) = (to, rooms, from, sizes) else {
            return Err(Error::new(
                ErrorKind::NullPointer,
                "dsts, destMaxs, srcs or sizes is null",
            ));
        };
        let copies = (0..numBatches)
            .map(|index| copy(to[index], rooms[index], from[index], sizes[index]))
            .collect::<Result<Vec<_>>>()?;
        let done = batch(cx, &copies, attributes, indexes);
        fail_index.set(
            done.as_ref()
                .err()
                .map_or(NO_COPY_FAILED, |(index, _)| *index),
        );
        done.map_err(|(_, error)| error)
    })
}

fn copy(to: usize, room: usize, from: usize, bytes: usize) -> Result<BatchCopy> {
    let [to, from] =
        [(to, "an entry of dsts"), (from, "an entry of srcs")].map(|(address, name)| {
            let pointer = std::ptr::with_exposed_provenance(address);
            // SAFETY: the program vouches for the memory of each copy, as the C declaration says.
            unsafe { raw::span(pointer, bytes, name) }
        });
    Ok(BatchCopy {
        to: to?,
        room,
        from: from?,
    })
}
