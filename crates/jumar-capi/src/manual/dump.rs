//! The function that gets dumped data: a structure whose data follow it.

use std::ffi::c_void;
use std::sync::Arc;

use jumar_acl::dump::DumpCallback;

use crate::acl::{calls, types};
use crate::raw;

/// A function that gets a chunk and its length.
type Receiver = Option<unsafe extern "C" fn(*const types::acldumpChunk, i32) -> i32>;

/// Sets a function that gets dumped data instead of a file.
///
/// # Safety
/// Called from C: the function may be called on any thread until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn acldumpRegCallback(messageCallback: *const c_void, flag: i32) -> i32 {
    // SAFETY: null, or the address of such a function, as the C declaration says; both have the size of a pointer.
    let receiver = unsafe { std::mem::transmute::<*const c_void, Receiver>(messageCallback) };
    raw::status(&calls::acldumpRegCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(messageCallback),
                raw::ArgBits::word(flag),
            ]
        })?;
        let callback = receiver.map(|receiver| {
            let taken: DumpCallback = Arc::new(move |name, bytes, last| {
                let mut chunk = types::acldumpChunk::ZERO;
                let name = name.to_bytes();
                // A path that is too long for the structure keeps its end, which says most.
                let capacity = chunk.fileName.len() - 1;
                let name = &name[name.len().saturating_sub(capacity)..];
                chunk.fileName[..name.len()].copy_from_slice(name);
                chunk.bufLen = bytes.len() as u32;
                chunk.isLastChunk = u32::from(last);
                chunk.offset = -1;
                let head = std::mem::offset_of!(types::acldumpChunk, dataBuf);
                let length = (head + bytes.len()).max(size_of::<types::acldumpChunk>());
                // Words, so that the structure is aligned.
                let mut memory = vec![0u64; length.div_ceil(8)];
                let start = memory.as_mut_ptr().cast::<u8>();
                // SAFETY: the memory is aligned, and as long as the structure and its data together; the function gets it
                // for the time of the call.
                unsafe {
                    start.cast::<types::acldumpChunk>().write(chunk);
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(head), bytes.len());
                    receiver(start.cast(), length as i32)
                }
            });
            taken
        });
        jumar_acl::dump::acldumpRegCallback(cx, callback, flag)
    })
}
