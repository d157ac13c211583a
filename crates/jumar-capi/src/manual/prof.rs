//! Ranges of a profile whose attributes lie behind pointers, the callback of the profiler's commands, and pipes of subscriptions.

use std::os::fd::{FromRawFd as _, OwnedFd};

use jumar_acl::generated::enums;
use jumar_acl::prof::RangeAttributes;

use crate::acl::{calls, types};
use crate::generated::callbacks;
use crate::raw;

/// Starts a nested range that describes an operator.
///
/// # Safety
/// Called from C: `attr` is null or points to the structure, whose message is null or points to one of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclprofRangePushEx(attr: *mut types::aclprofEventAttributes) -> i32 {
    raw::status(&calls::aclprofRangePushEx, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(attr)])?;
        // SAFETY: the program guarantees it: null or the structure, as the C declaration says.
        let given = unsafe { raw::input(attr.cast_const(), "attr") }?;
        let attributes = match given {
            None => None,
            Some(given) => {
                let message = raw::address::<types::aclprofTensorInfo>(given.message.tensorInfo());
                let is_operator = given.messageType == enums::ACL_PROF_MESSAGE_TYPE_TENSOR_INFO;
                let info = match is_operator {
                    // SAFETY: the program guarantees it: null or a structure of the type that `messageType` says.
                    true => unsafe { raw::input(message.cast_const(), "attr.message.tensorInfo") }?,
                    false => None,
                };
                Some(RangeAttributes {
                    message: given.messageType,
                    operator: info.map(|info| (info.opNameId, info.opTypeId)),
                })
            }
        };
        jumar_acl::prof::aclprofRangePushEx(cx, attributes)
    })
}

/// Ends the subscription to a model's operator times, and closes the writing end of its pipe once all is written.
#[unsafe(no_mangle)]
pub extern "C" fn aclprofModelUnSubscribe(model: u32) -> i32 {
    raw::status(&calls::aclprofModelUnSubscribe, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(model)])?;
        if let Some(descriptor) = jumar_acl::prof::aclprofModelUnSubscribe(cx, model)? {
            // SAFETY: the program handed this descriptor over when it subscribed, and it still stands for the same pipe.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        Ok(())
    })
}

/// Registers a function that receives the profiler's commands. Jumar sends none, so that it is never called.
#[unsafe(no_mangle)]
pub extern "C" fn MsprofRegisterCallback(module: u32, handle: callbacks::ProfCommandHandle) -> i32 {
    raw::value(&calls::MsprofRegisterCallback, -1, |cx| {
        let address = handle.map_or(0, |function| function as usize);
        raw::trace(cx, || {
            [raw::ArgBits::word(module), raw::ArgBits::word(address)]
        })?;
        jumar_acl::msprof::MsprofRegisterCallback(cx, module, address)
    })
}
