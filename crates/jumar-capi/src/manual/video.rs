//! Callbacks of video channels: functions of the program that get input, output and user data.

use std::ffi::c_void;

use crate::acl::calls;
use crate::generated::callbacks::aclvdecCallback;
use crate::raw;

// Both kinds of channels have functions of one type.
const _: fn(aclvdecCallback) -> crate::generated::callbacks::aclvencCallback = |function| function;

/// Calls the function at an address that a channel description was given.
fn call(function: usize, input: u64, output: u64, data: usize) {
    let function: *const c_void = std::ptr::with_exposed_provenance(function);
    // SAFETY: null, or the address of such a function, as the C declaration of the callback says; both have the size of a pointer.
    let function = unsafe { std::mem::transmute::<*const c_void, aclvdecCallback>(function) };
    if let Some(function) = function {
        let pointer = |handle: u64| raw::pointer(jumar_acl::Raw(handle));
        let data: *mut c_void = std::ptr::with_exposed_provenance_mut(data);
        // SAFETY: the program named the function for this channel, and keeps it until the channel is closed; the user data is what
        // it passed with the packet.
        unsafe { function(pointer(input), pointer(output), data) }
    }
}

/// Defines the calls of one kind of channel.
macro_rules! channel {
    ($create:ident, $set:ident, $get:ident) => {
        /// Sets the callback of a channel.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub extern "C" fn $set(channelDesc: *mut c_void, callback: aclvdecCallback) -> i32 {
            raw::status(&calls::$set, |cx| {
                let function = callback.map_or(0, |function| {
                    (function as *const c_void).expose_provenance()
                });
                raw::trace(cx, || {
                    [
                        raw::ArgBits::word(channelDesc),
                        raw::ArgBits::word(function),
                    ]
                })?;
                jumar_acl::dvpp::$set(cx, raw::handle(channelDesc), function)
            })
        }

        /// Returns the callback of a channel.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub extern "C" fn $get(channelDesc: *mut c_void) -> aclvdecCallback {
            raw::value(&calls::$get, None, |cx| {
                raw::trace(cx, || [raw::ArgBits::word(channelDesc)])?;
                let function = jumar_acl::dvpp::$get(cx, raw::handle(channelDesc))?;
                let function: *const c_void = std::ptr::with_exposed_provenance(function);
                // SAFETY: null, or the address of such a function, as the C declaration of the callback says; both have the size of
                // a pointer.
                Ok(unsafe { std::mem::transmute::<*const c_void, aclvdecCallback>(function) })
            })
        }

        /// Opens a channel.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub extern "C" fn $create(channelDesc: *mut c_void) -> i32 {
            raw::status(&calls::$create, |cx| {
                raw::trace(cx, || [raw::ArgBits::word(channelDesc)])?;
                jumar_acl::dvpp::$create(cx, raw::handle(channelDesc), call)
            })
        }
    };
}

channel!(
    aclvdecCreateChannel,
    aclvdecSetChannelDescCallback,
    aclvdecGetChannelDescCallback
);
channel!(
    aclvencCreateChannel,
    aclvencSetChannelDescCallback,
    aclvencGetChannelDescCallback
);
