//! Queues: data into two buffers of the program, and a name behind a pointer to a pointer.

use std::ffi::{c_char, c_void};

use jumar_acl::generated::enums;
use jumar_acl::tdt_queue::{QueueAttrValue, dequeue_data, set_queue_attr};

use crate::acl::calls;
use crate::raw;

/// Takes data out of a queue into the program's memory.
///
/// # Safety
/// Called from C: the memory is as long as its sizes say, and `retDataSize` null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn acltdtDequeueData(
    qid: u32,
    data: *mut c_void,
    dataSize: usize,
    retDataSize: *mut usize,
    userData: *mut c_void,
    userDataSize: usize,
    timeout: i32,
) -> i32 {
    raw::status(&calls::acltdtDequeueData, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(qid),
                raw::ArgBits::word(data),
                raw::ArgBits::word(dataSize),
                raw::ArgBits::word(retDataSize),
                raw::ArgBits::word(userData),
                raw::ArgBits::word(userDataSize),
                raw::ArgBits::word(timeout),
            ]
        })?;
        // SAFETY: the program guarantees `retDataSize`: null or the address of a variable, as the C declaration says.
        let size = unsafe { raw::Out::<usize>::new(retDataSize, "retDataSize") }?;
        // SAFETY: the program guarantees `data`: so many bytes, until the call is done.
        let data = unsafe { raw::span(data, dataSize, "data") }?;
        let user_size = if userData.is_null() { 0 } else { userDataSize };
        // SAFETY: the program guarantees `userData`: so many bytes, until the call is done.
        let user = unsafe { raw::span(userData, user_size, "userData") }?;
        dequeue_data(cx, qid, data, user, timeout, |bytes| size.set(bytes))
    })
}

/// Sets one attribute for a queue. The name's parameter is the address of a pointer to it.
///
/// # Safety
/// Called from C: `param` is null or as long as `len` says; a name's pointer leads to a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acltdtSetQueueAttr(
    attr: *mut c_void,
    r#type: u32,
    len: usize,
    param: *const c_void,
) -> i32 {
    raw::status(&calls::acltdtSetQueueAttr, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(attr),
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(len),
                raw::ArgBits::word(param),
            ]
        })?;
        let attr = raw::handle(attr);
        if r#type == enums::ACL_TDT_QUEUE_NAME_PTR {
            // A length that is not a pointer's is refused before anything is read.
            let length = if len == size_of::<usize>() { len } else { 0 };
            // SAFETY: the program guarantees `param`: null or that many bytes, as the C declaration says.
            let bytes = unsafe { raw::slice::<u8>(param.cast(), length, "param") }?;
            let address = bytes
                .and_then(|bytes| <[u8; size_of::<usize>()]>::try_from(bytes).ok())
                .map_or(0, usize::from_ne_bytes);
            let text = raw::address::<c_char>(address);
            // SAFETY: the program guarantees the text: null or one that ends in a zero byte.
            let name = unsafe { raw::text(text.cast_const()) };
            return set_queue_attr(cx, attr, r#type, len, QueueAttrValue::Name(name));
        }
        // SAFETY: the program guarantees `param`: null or that many bytes, as the C declaration says.
        let bytes = unsafe { raw::slice::<u8>(param.cast(), len, "param") }?;
        set_queue_attr(cx, attr, r#type, len, QueueAttrValue::Bytes(bytes))
    })
}
