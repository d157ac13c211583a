//! Allocators of the program's own: functions that are kept, and told back.

use std::ffi::c_void;

use crate::acl::calls;
use crate::generated::callbacks;
use crate::raw;

macro_rules! setter {
    ($(#[$doc:meta])* $name:ident, $of:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called from C. The function is kept as a number.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub unsafe extern "C" fn $name(
            allocatorDesc: *mut c_void,
            func: callbacks::$of,
        ) -> i32 {
            raw::status(&calls::$name, |cx| {
                let number = func.map_or(0, |func| func as usize);
                raw::watch(cx, || {
                    [raw::Word::word(allocatorDesc), raw::Word::word(number)]
                })?;
                jumar_acl::allocator::$name(cx, raw::handle(allocatorDesc), number)
            })
        }
    };
}

setter! {
    /// Sets the function that allocates.
    aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorAllocFunc
}

setter! {
    /// Sets the function that frees.
    aclrtAllocatorSetFreeFuncToDesc, aclrtAllocatorFreeFunc
}

setter! {
    /// Sets the function that allocates near a wanted address.
    aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorAllocAdviseFunc
}

setter! {
    /// Sets the function that gives a block's address.
    aclrtAllocatorSetGetAddrFromBlockFuncToDesc, aclrtAllocatorGetAddrFromBlockFunc
}

/// Reads the allocator of a stream. The functions come back as the program gave them.
///
/// # Safety
/// Called from C: each output is null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtAllocatorGetByStream(
    stream: *mut c_void,
    allocatorDesc: *mut *mut c_void,
    allocator: *mut *mut c_void,
    allocFunc: *mut callbacks::aclrtAllocatorAllocFunc,
    freeFunc: *mut callbacks::aclrtAllocatorFreeFunc,
    allocAdviseFunc: *mut callbacks::aclrtAllocatorAllocAdviseFunc,
    getAddrFromBlockFunc: *mut callbacks::aclrtAllocatorGetAddrFromBlockFunc,
) -> i32 {
    raw::status(&calls::aclrtAllocatorGetByStream, |cx| {
        raw::watch(cx, || {
            [
                raw::Word::word(stream),
                raw::Word::word(allocatorDesc),
                raw::Word::word(allocator),
                raw::Word::word(allocFunc),
                raw::Word::word(freeFunc),
                raw::Word::word(allocAdviseFunc),
                raw::Word::word(getAddrFromBlockFunc),
            ]
        })?;
        let places = [
            (allocatorDesc.cast::<usize>(), "allocatorDesc"),
            (allocator.cast(), "allocator"),
            (allocFunc.cast(), "allocFunc"),
            (freeFunc.cast(), "freeFunc"),
            (allocAdviseFunc.cast(), "allocAdviseFunc"),
            (getAddrFromBlockFunc.cast(), "getAddrFromBlockFunc"),
        ];
        // A pointer to a function is as long as an address, and is kept as one.
        let places = places.map(|(place, name)| {
            // SAFETY: the program vouches for the output: null or the address of a variable, as the C declaration says.
            unsafe { raw::Out::<usize>::new(place, name) }
        });
        let [desc, object, allocate, free, near, address_of] = places;
        let outs = (desc?, object?, allocate?, free?, near?, address_of?);
        let (of, found) = jumar_acl::allocator::aclrtAllocatorGetByStream(cx, raw::handle(stream))?;
        outs.0.set(of.0 as usize);
        outs.1.set(found.object as usize);
        outs.2.set(found.allocate);
        outs.3.set(found.free);
        outs.4.set(found.allocate_near);
        outs.5.set(found.address_of);
        Ok(())
    })
}
