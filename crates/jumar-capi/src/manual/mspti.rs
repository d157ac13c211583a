//! Records of activities: they go into buffers that functions of the program hand out and take.
#![expect(non_snake_case, reason = "the C interface sets names and signatures")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use jumar_acl::generated::enums;
use jumar_acl::mspti::{self, Deliver, Record};

use crate::acl::calls;
use crate::generated::callbacks::{
    msptiBuffersCallbackCompleteFunc, msptiBuffersCallbackRequestFunc, msptiCallbackFunc,
};
use crate::raw;

/// The answer to what is refused.
const REFUSED: u32 = enums::MSPTI_ERROR_INVALID_PARAMETER;

/// Begins to collect records for one client of the process.
///
/// # Safety
/// Called from C: `subscriber` is null or the address of a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn msptiSubscribe(
    subscriber: *mut *mut c_void,
    callback: msptiCallbackFunc,
    userdata: *mut c_void,
) -> u32 {
    raw::value(&calls::msptiSubscribe, REFUSED, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(subscriber),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userdata),
            ]
        })?;
        if subscriber.is_null() {
            return Err(mspti::null_pointer("subscriber"));
        }
        let Some(token) = mspti::subscribe(cx)? else {
            return Ok(enums::MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        };
        // SAFETY: not null, and the caller's contract.
        unsafe { subscriber.write(ptr::without_provenance_mut(token as usize)) };
        Ok(enums::MSPTI_SUCCESS)
    })
}

/// Delivers the records that wait, and ends all collection.
#[unsafe(no_mangle)]
pub extern "C" fn msptiUnsubscribe(subscriber: *mut c_void) -> u32 {
    raw::value(&calls::msptiUnsubscribe, REFUSED, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(subscriber)])?;
        mspti::unsubscribe(cx, subscriber.addr() as u64)?;
        Ok(enums::MSPTI_SUCCESS)
    })
}

/// Registers the functions that hand out a buffer and take one that is filled.
#[unsafe(no_mangle)]
pub extern "C" fn msptiActivityRegisterCallbacks(
    funcBufferRequested: msptiBuffersCallbackRequestFunc,
    funcBufferCompleted: msptiBuffersCallbackCompleteFunc,
) -> u32 {
    raw::value(&calls::msptiActivityRegisterCallbacks, REFUSED, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(funcBufferRequested.map_or(0, |function| function as usize)),
                raw::ArgBits::word(funcBufferCompleted.map_or(0, |function| function as usize)),
            ]
        })?;
        let functions = funcBufferRequested.zip(funcBufferCompleted);
        let deliver = functions.map(|(request, complete)| -> Deliver {
            // SAFETY: the program registers functions of these types, which it keeps until the end.
            Arc::new(move |records| unsafe { deliver(records, request, complete) })
        });
        mspti::register(cx, deliver)?;
        Ok(enums::MSPTI_SUCCESS)
    })
}

/// Delivers the records that wait, in buffers of the program.
#[unsafe(no_mangle)]
pub extern "C" fn msptiActivityFlushAll(flag: u32) -> u32 {
    raw::value(&calls::msptiActivityFlushAll, REFUSED, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(flag)])?;
        mspti::flush(cx)?;
        Ok(enums::MSPTI_SUCCESS)
    })
}

type Request = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Complete = unsafe extern "C" fn(*mut u8, usize, usize);

/// Fills buffers with records. Returns how many records they hold: the program may refuse to hand out a buffer.
///
/// # Safety
/// The functions are the program's: the first one returns a buffer of as many bytes as it says, or null.
unsafe fn deliver(records: &[Record], request: Request, complete: Complete) -> usize {
    let mut taken = 0;
    while taken < records.len() {
        let (mut buffer, mut bytes, mut most) = (ptr::null_mut(), 0_usize, 0_usize);
        // SAFETY: the caller's contract; the three addresses are of variables.
        unsafe { request(&raw mut buffer, &raw mut bytes, &raw mut most) };
        if buffer.is_null() {
            break;
        }
        let (mut used, mut count) = (0, 0);
        for record in &records[taken..] {
            let record = record.bytes();
            if record.len() > bytes - used || (most != 0 && count == most) {
                break;
            }
            // SAFETY: the record lies behind what is used, inside of the bytes that the program stated.
            unsafe { ptr::copy_nonoverlapping(record.as_ptr(), buffer.add(used), record.len()) };
            used += record.len();
            count += 1;
        }
        // SAFETY: the caller's contract.
        unsafe { complete(buffer, bytes, used) };
        if count == 0 {
            break;
        }
        taken += count;
    }
    taken
}

/// Returns the record of a buffer behind another one, or the first one for null.
///
/// # Safety
/// Called from C: the buffer has as many bytes, and `record` is the address of a variable that holds null or a record of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn msptiActivityGetNextRecord(
    buffer: *mut u8,
    validBufferSizeBytes: usize,
    record: *mut *mut c_void,
) -> u32 {
    raw::value(&calls::msptiActivityGetNextRecord, REFUSED, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(buffer),
                raw::ArgBits::word(validBufferSizeBytes),
                raw::ArgBits::word(record),
            ]
        })?;
        if buffer.is_null() || record.is_null() {
            return Err(mspti::null_pointer("buffer or record"));
        }
        // SAFETY: not null, and the caller's contract.
        let before = unsafe { record.read() };
        let length_at = |offset: usize| {
            let inside = validBufferSizeBytes.saturating_sub(size_of::<u32>());
            if offset > inside || validBufferSizeBytes == 0 {
                return Err(mspti::no_record(offset));
            }
            // SAFETY: the four bytes lie inside of the buffer.
            let kind = unsafe { buffer.add(offset).cast::<u32>().read_unaligned() };
            let length = Record::length(kind);
            length.ok_or_else(|| mspti::no_record(offset))
        };
        let offset = match before.is_null() {
            true => 0,
            false => {
                let last = before.addr().wrapping_sub(buffer.addr());
                last + length_at(last)?
            }
        };
        if offset >= validBufferSizeBytes {
            return Ok(enums::MSPTI_ERROR_MAX_LIMIT_REACHED);
        }
        if offset + length_at(offset)? > validBufferSizeBytes {
            return Err(mspti::no_record(offset));
        }
        // SAFETY: the variable is the program's, and the offset lies inside of the buffer.
        unsafe { record.write(buffer.add(offset).cast()) };
        Ok(enums::MSPTI_SUCCESS)
    })
}

/// Ends what the thread's newest push of a kind began, and returns its number.
///
/// # Safety
/// Called from C: `lastId` is null or the address of a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn msptiActivityPopExternalCorrelationId(kind: u32, lastId: *mut u64) -> u32 {
    raw::value(
        &calls::msptiActivityPopExternalCorrelationId,
        REFUSED,
        |cx| {
            raw::trace(cx, || {
                [raw::ArgBits::word(kind), raw::ArgBits::word(lastId)]
            })?;
            let Some(number) = mspti::pop_external(cx, kind)? else {
                return Ok(enums::MSPTI_ERROR_QUEUE_EMPTY);
            };
            if !lastId.is_null() {
                // SAFETY: not null, and the caller's contract.
                unsafe { lastId.write(number) };
            }
            Ok(enums::MSPTI_SUCCESS)
        },
    )
}
