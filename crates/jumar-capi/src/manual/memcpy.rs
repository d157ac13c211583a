//! Batched copies: parallel arrays of addresses, and the number of the copy that failed.

use std::ffi::c_void;

use jumar_acl::memcpy::{BatchCopy, NO_COPY_FAILED, batch, batch_async};
use jumar_acl::{Error, ErrorKind, Result};

use crate::acl::{calls, types};
use crate::raw;

/// A batch as it comes from C.
#[derive(Clone, Copy)]
struct Arrays {
    to: *mut *mut c_void,
    capacities: *mut usize,
    from: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    attributes: *mut types::aclrtMemcpyBatchAttr,
    indexes: *mut usize,
    attribute_count: usize,
}

/// A batch as the safe functions take it.
struct Batch<'a> {
    copies: Vec<BatchCopy>,
    attributes: Option<&'a [types::aclrtMemcpyBatchAttr]>,
    indexes: Option<&'a [usize]>,
}

impl Arrays {
    /// Takes the arrays.
    ///
    /// # Safety
    /// The arrays are as long as their counts say, and the memory they name may be read and written until the copies ran.
    unsafe fn take<'a>(self) -> Result<Batch<'a>> {
        let n = self.count;
        // SAFETY: the program guarantees `dsts`: null or that many addresses, as the C declaration says.
        let to = unsafe { raw::slice::<usize>(self.to.cast(), n, "dsts") }?;
        // SAFETY: the program guarantees `destMaxs`: null or that many sizes, as the C declaration says.
        let capacities = unsafe { raw::slice::<usize>(self.capacities, n, "destMaxs") }?;
        // SAFETY: the program guarantees `srcs`: null or that many addresses, as the C declaration says.
        let from = unsafe { raw::slice::<usize>(self.from.cast(), n, "srcs") }?;
        // SAFETY: the program guarantees `sizes`: null or that many sizes, as the C declaration says.
        let sizes = unsafe { raw::slice::<usize>(self.sizes, n, "sizes") }?;
        let of = self.attribute_count;
        // SAFETY: the program guarantees `attrs`: null or that many attributes, as the C declaration says.
        let attributes = unsafe { raw::slice(self.attributes, of, "attrs") }?;
        // SAFETY: the program guarantees `attrsIndexes`: null or that many numbers, as the C declaration says.
        let indexes = unsafe { raw::slice::<usize>(self.indexes, of, "attrsIndexes") }?;
        let (Some(to), Some(capacities), Some(from), Some(sizes)) = (to, capacities, from, sizes)
        else {
            return Err(Error::new(
                ErrorKind::NullPointer,
                "dsts, destMaxs, srcs or sizes is null",
            ));
        };
        let copies = (0..n)
            .map(|index| copy(to[index], capacities[index], from[index], sizes[index]))
            .collect::<Result<Vec<_>>>()?;
        Ok(Batch {
            copies,
            attributes,
            indexes,
        })
    }
}

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
    let arrays = Arrays {
        to: dsts,
        capacities: destMaxs,
        from: srcs,
        sizes,
        count: numBatches,
        attributes: attrs,
        indexes: attrsIndexes,
        attribute_count: numAttrs,
    };
    raw::status(&calls::aclrtMemcpyBatch, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(dsts),
                raw::ArgBits::word(destMaxs),
                raw::ArgBits::word(srcs),
                raw::ArgBits::word(sizes),
                raw::ArgBits::word(numBatches),
                raw::ArgBits::word(attrs),
                raw::ArgBits::word(attrsIndexes),
                raw::ArgBits::word(numAttrs),
                raw::ArgBits::word(failIndex),
            ]
        })?;
        // SAFETY: the program guarantees `failIndex`: null or the address of a variable, as the C declaration says.
        let fail_index = unsafe { raw::Out::<usize>::new(failIndex, "failIndex") }?;
        // SAFETY: the caller's contract.
        let b = unsafe { arrays.take() }?;
        let done = batch(cx, &b.copies, b.attributes, b.indexes);
        let failed = done.as_ref().err();
        fail_index.set(failed.map_or(NO_COPY_FAILED, |(index, _)| *index));
        done.map_err(|(_, error)| error)
    })
}

/// Copies a batch between host and device, at once.
///
/// # Safety
/// Called from C: the arrays are as long as their counts say, and the memory they name may be read and written.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemcpyBatchV2(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut types::aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
) -> i32 {
    let arrays = Arrays {
        to: dsts,
        capacities: destMaxs,
        from: srcs,
        sizes,
        count: numBatches,
        attributes: attrs,
        indexes: attrsIndexes,
        attribute_count: numAttrs,
    };
    raw::status(&calls::aclrtMemcpyBatchV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(dsts),
                raw::ArgBits::word(destMaxs),
                raw::ArgBits::word(srcs),
                raw::ArgBits::word(sizes),
                raw::ArgBits::word(numBatches),
                raw::ArgBits::word(attrs),
                raw::ArgBits::word(attrsIndexes),
                raw::ArgBits::word(numAttrs),
            ]
        })?;
        // SAFETY: the caller's contract.
        let b = unsafe { arrays.take() }?;
        let done = batch(cx, &b.copies, b.attributes, b.indexes);
        done.map_err(|(_, error)| error)
    })
}

/// Queues a batch of copies between host and device.
///
/// # Safety
/// Called from C: the arrays are as long as their counts say, and the memory they name may be read and written until the copies ran.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemcpyBatchAsync(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut types::aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    failIndex: *mut usize,
    stream: *mut c_void,
) -> i32 {
    let arrays = Arrays {
        to: dsts,
        capacities: destMaxs,
        from: srcs,
        sizes,
        count: numBatches,
        attributes: attrs,
        indexes: attrsIndexes,
        attribute_count: numAttrs,
    };
    raw::status(&calls::aclrtMemcpyBatchAsync, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(dsts),
                raw::ArgBits::word(destMaxs),
                raw::ArgBits::word(srcs),
                raw::ArgBits::word(sizes),
                raw::ArgBits::word(numBatches),
                raw::ArgBits::word(attrs),
                raw::ArgBits::word(attrsIndexes),
                raw::ArgBits::word(numAttrs),
                raw::ArgBits::word(failIndex),
                raw::ArgBits::word(stream),
            ]
        })?;
        // SAFETY: the program guarantees `failIndex`: null or the address of a variable, as the C declaration says.
        let fail_index = unsafe { raw::Out::<usize>::new(failIndex, "failIndex") }?;
        // SAFETY: the caller's contract.
        let b = unsafe { arrays.take() }?;
        let done = batch_async(cx, &b.copies, b.attributes, b.indexes, raw::handle(stream));
        let failed = done.as_ref().err();
        fail_index.set(failed.map_or(NO_COPY_FAILED, |(index, _)| *index));
        done.map_err(|(_, error)| error)
    })
}

/// Queues a batch of copies between host and device.
///
/// # Safety
/// Called from C: the arrays are as long as their counts say, and the memory they name may be read and written until the copies ran.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtMemcpyBatchAsyncV2(
    dsts: *mut *mut c_void,
    destMaxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes: *mut usize,
    numBatches: usize,
    attrs: *mut types::aclrtMemcpyBatchAttr,
    attrsIndexes: *mut usize,
    numAttrs: usize,
    stream: *mut c_void,
) -> i32 {
    let arrays = Arrays {
        to: dsts,
        capacities: destMaxs,
        from: srcs,
        sizes,
        count: numBatches,
        attributes: attrs,
        indexes: attrsIndexes,
        attribute_count: numAttrs,
    };
    raw::status(&calls::aclrtMemcpyBatchAsyncV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(dsts),
                raw::ArgBits::word(destMaxs),
                raw::ArgBits::word(srcs),
                raw::ArgBits::word(sizes),
                raw::ArgBits::word(numBatches),
                raw::ArgBits::word(attrs),
                raw::ArgBits::word(attrsIndexes),
                raw::ArgBits::word(numAttrs),
                raw::ArgBits::word(stream),
            ]
        })?;
        // SAFETY: the caller's contract.
        let b = unsafe { arrays.take() }?;
        let done = batch_async(cx, &b.copies, b.attributes, b.indexes, raw::handle(stream));
        done.map_err(|(_, error)| error)
    })
}

fn copy(to: usize, capacity: usize, from: usize, bytes: usize) -> Result<BatchCopy> {
    let [to, from] =
        [(to, "an entry of dsts"), (from, "an entry of srcs")].map(|(address, name)| {
            let pointer = std::ptr::with_exposed_provenance(address);
            // SAFETY: the program guarantees the memory of each copy, as the C declaration says.
            unsafe { raw::span(pointer, bytes, name) }
        });
    Ok(BatchCopy {
        to: to?,
        capacity,
        from: from?,
    })
}
