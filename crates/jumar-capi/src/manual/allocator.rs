//! Allocators of the program's own: functions that are called while an execution of a model is queued, and that queries return.

use std::ffi::c_void;
use std::sync::Arc;

use jumar_acl::allocator::{AddressOf, Allocate, Free, Function};

use crate::acl::{Raw, calls};
use crate::generated::callbacks;
use crate::raw;

macro_rules! setter {
    ($(#[$doc:meta])* $name:ident, $of:ident, $made:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called from C: the function may be called with the description's object, and with blocks of the allocator, while an
        /// execution is queued on a stream that the allocator is registered for.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub unsafe extern "C" fn $name(
            allocatorDesc: *mut c_void,
            func: callbacks::$of,
        ) -> i32 {
            raw::status(&calls::$name, |cx| {
                let number = func.map_or(0, |func| func as usize);
                raw::trace(cx, || {
                    [raw::ArgBits::word(allocatorDesc), raw::ArgBits::word(number)]
                })?;
                jumar_acl::allocator::$name(cx, raw::handle(allocatorDesc), $made(func))
            })
        }
    };
}

fn allocates(func: callbacks::aclrtAllocatorAllocFunc) -> Option<Allocate> {
    func.map(|func| -> Allocate {
        Function {
            number: func as usize,
            call: Arc::new(move |object, bytes| {
                let object = raw::pointer(Raw(object));
                // SAFETY: the caller's contract of the function that sets it; the object is the program's own pointer.
                let block = unsafe { func(object, bytes) };
                raw::handle(block).0
            }),
        }
    })
}

fn frees(func: callbacks::aclrtAllocatorFreeFunc) -> Option<Free> {
    func.map(|func| -> Free {
        Function {
            number: func as usize,
            call: Arc::new(move |object, block| {
                let (object, block) = (raw::pointer(Raw(object)), raw::pointer(Raw(block)));
                // SAFETY: as above; the block is one that the program's function gave.
                unsafe { func(object, block) }
            }),
        }
    })
}

fn addresses(func: callbacks::aclrtAllocatorGetAddrFromBlockFunc) -> Option<AddressOf> {
    func.map(|func| -> AddressOf {
        Function {
            number: func as usize,
            call: Arc::new(move |block| {
                let block = raw::pointer(Raw(block));
                // SAFETY: as above.
                let address = unsafe { func(block) };
                raw::handle(address).0
            }),
        }
    })
}

/// The function is kept as a number: nothing wants memory near an address.
fn kept(func: callbacks::aclrtAllocatorAllocAdviseFunc) -> usize {
    func.map_or(0, |func| func as usize)
}

setter! {
    /// Sets the function that allocates.
    aclrtAllocatorSetAllocFuncToDesc, aclrtAllocatorAllocFunc, allocates
}

setter! {
    /// Sets the function that frees.
    aclrtAllocatorSetFreeFuncToDesc, aclrtAllocatorFreeFunc, frees
}

setter! {
    /// Sets the function that allocates near a wanted address.
    aclrtAllocatorSetAllocAdviseFuncToDesc, aclrtAllocatorAllocAdviseFunc, kept
}

setter! {
    /// Sets the function that returns a block's address.
    aclrtAllocatorSetGetAddrFromBlockFuncToDesc, aclrtAllocatorGetAddrFromBlockFunc, addresses
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
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stream),
                raw::ArgBits::word(allocatorDesc),
                raw::ArgBits::word(allocator),
                raw::ArgBits::word(allocFunc),
                raw::ArgBits::word(freeFunc),
                raw::ArgBits::word(allocAdviseFunc),
                raw::ArgBits::word(getAddrFromBlockFunc),
            ]
        })?;
        let outputs = [
            (allocatorDesc.cast::<usize>(), "allocatorDesc"),
            (allocator.cast(), "allocator"),
            (allocFunc.cast(), "allocFunc"),
            (freeFunc.cast(), "freeFunc"),
            (allocAdviseFunc.cast(), "allocAdviseFunc"),
            (getAddrFromBlockFunc.cast(), "getAddrFromBlockFunc"),
        ];
        // A pointer to a function is as long as an address, and is kept as one.
        let outputs = outputs.map(|(pointer, name)| {
            // SAFETY: the program guarantees the output: null or the address of a variable, as the C declaration says.
            unsafe { raw::Out::<usize>::new(pointer, name) }
        });
        let [desc, object, allocate, free, near, address_of] = outputs;
        let outs = (desc?, object?, allocate?, free?, near?, address_of?);
        let (of, found) = jumar_acl::allocator::aclrtAllocatorGetByStream(cx, raw::handle(stream))?;
        outs.0.set(of.0 as usize);
        outs.1.set(found.object as usize);
        let [allocate, free, near, address_of] = found.numbers();
        outs.2.set(allocate);
        outs.3.set(free);
        outs.4.set(near);
        outs.5.set(address_of);
        Ok(())
    })
}
