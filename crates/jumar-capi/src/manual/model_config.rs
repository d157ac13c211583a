//! Configurations whose values are pointers to text, or to a model in memory.

use std::ffi::{c_char, c_void};

use jumar_acl::model_config;

use crate::acl::calls;
use crate::raw;

/// Sets one option of a configuration for loading.
///
/// # Safety
/// Called from C: the value has the stated size. If the option is a string, the value is the address of one that ends in a zero byte.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlSetConfigOpt(
    handle: *mut c_void,
    attr: u32,
    attrValue: *const c_void,
    valueSize: usize,
) -> i32 {
    raw::status(&calls::aclmdlSetConfigOpt, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(handle),
                raw::ArgBits::word(attr),
                raw::ArgBits::word(attrValue),
                raw::ArgBits::word(valueSize),
            ]
        })?;
        // SAFETY: the program guarantees it: null or that many bytes.
        let value = unsafe { raw::slice::<u8>(attrValue.cast(), valueSize, "attrValue") }?;
        let pointer = value
            .and_then(|value| value.first_chunk())
            .filter(|_| model_config::takes_text(attr) && valueSize == size_of::<usize>())
            .map(|bytes| std::ptr::with_exposed_provenance::<c_char>(usize::from_ne_bytes(*bytes)));
        // SAFETY: the program guarantees it: null or a text that ends in a zero byte, as the option says.
        let text = pointer.and_then(|pointer| unsafe { raw::text(pointer) });
        model_config::aclmdlSetConfigOpt(cx, raw::handle(handle), attr, value, valueSize, text)
    })
}

/// Loads a model as a configuration says.
///
/// # Safety
/// Called from C: the output holds the id; a model in memory is at the configured address.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlLoadWithConfig(handle: *const c_void, modelId: *mut u32) -> i32 {
    raw::status(&calls::aclmdlLoadWithConfig, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(handle), raw::ArgBits::word(modelId)]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable.
        let out = unsafe { raw::Out::<u32>::new(modelId, "modelId") }?;
        let there = model_config::pointed_to(cx, raw::handle(handle))?;
        let mut read = model_config::Read::default();
        if let Some((address, size)) = there.model {
            let pointer = std::ptr::with_exposed_provenance::<u8>(address);
            // SAFETY: the program guarantees it: the configuration says where its model lies, and how long it is.
            read.model = unsafe { raw::slice(pointer, size, "ACL_MDL_MEM_ADDR_PTR") }?;
        }
        let names = ["ACL_MDL_INPUTQ_ADDR_PTR", "ACL_MDL_OUTPUTQ_ADDR_PTR"];
        for ((target, queues), name) in read.queues.iter_mut().zip(there.queues).zip(names) {
            if let Some((address, count)) = queues {
                let pointer = std::ptr::with_exposed_provenance::<u32>(address);
                // SAFETY: the program guarantees it: the configuration says where the numbers lie, and how many there are.
                *target = unsafe { raw::slice(pointer, count, name) }?;
            }
        }
        out.set(model_config::aclmdlLoadWithConfig(
            cx,
            raw::handle(handle),
            read,
        )?);
        Ok(())
    })
}
