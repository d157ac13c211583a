//! An attribute that is an array of arrays.

use std::ffi::{c_char, c_int, c_void};

use jumar_acl::single_op;

use crate::acl::calls;
use crate::raw;

/// Sets an attribute that is a list of lists of integers.
///
/// # Safety
/// Called from C: there are as many counts and lists as `numLists` says, and each list is as long as its count.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclopSetAttrListListInt(
    attr: *mut c_void,
    attrName: *const c_char,
    numLists: c_int,
    numValues: *const c_int,
    values: *const *const i64,
) -> i32 {
    raw::status(&calls::aclopSetAttrListListInt, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(attr),
                raw::ArgBits::word(attrName),
                raw::ArgBits::word(numLists),
                raw::ArgBits::word(numValues),
                raw::ArgBits::word(values),
            ]
        })?;
        let count = raw::count(numLists);
        // SAFETY: the caller guarantees it: null or a text that ends in a zero byte.
        let name = unsafe { raw::text(attrName) };
        // SAFETY: the caller guarantees it: null or that many counts.
        let counts = unsafe { raw::slice::<c_int>(numValues, count, "numValues") }?;
        // SAFETY: the caller guarantees it: null or that many addresses.
        let starts = unsafe { raw::slice::<usize>(values.cast(), count, "values") }?;
        let lists = match (counts, starts) {
            (Some(counts), Some(starts)) => {
                let mut lists = Vec::with_capacity(count);
                for (length, start) in counts.iter().zip(starts) {
                    single_op::check_list(*length, *start == 0)?;
                    let start = std::ptr::with_exposed_provenance::<i64>(*start);
                    // SAFETY: the caller guarantees it: a list that is as long as its count.
                    let list = unsafe { raw::slice::<i64>(start, raw::count(*length), "values") }?;
                    lists.push(list.unwrap_or_default().to_vec());
                }
                Some(lists)
            }
            _ => None,
        };
        single_op::aclopSetAttrListListInt(cx, raw::handle(attr), name, numLists, lists)
    })
}
