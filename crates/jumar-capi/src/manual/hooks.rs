//! Functions of the program that are called for events, by name or by type.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use jumar_acl::hooks::{
    AbortHook, DeviceStateHook, FinalizeHook, InitHook, SnapshotHook, StreamStateHook,
};

use crate::acl::{Raw, calls};
use crate::generated::callbacks;
use crate::raw::{self, UserData};

/// Registers a function that is called when a device is set or reset; null removes it.
///
/// # Safety
/// Called from C: the function may be called with `args`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtRegDeviceStateCallback(
    regName: *const c_char,
    callback: callbacks::aclrtDeviceStateCallback,
    args: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtRegDeviceStateCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(regName),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(args),
            ]
        })?;
        let user = UserData::new(args);
        let function = callback.map(|function| {
            let callback: DeviceStateHook = Arc::new(move |device, state| {
                let pointer = user.pointer();
                // SAFETY: the caller's contract.
                unsafe { function(device, state, pointer) }
            });
            callback
        });
        // SAFETY: the caller's contract: null, or a text.
        let name = unsafe { raw::text(regName) };
        jumar_acl::device::aclrtRegDeviceStateCallback(cx, name, function)
    })
}

/// Registers a function that is called when the tasks of a device are aborted; null removes it.
///
/// # Safety
/// Called from C: the function may be called with `args`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtSetDeviceTaskAbortCallback(
    regName: *const c_char,
    callback: callbacks::aclrtDeviceTaskAbortCallback,
    args: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtSetDeviceTaskAbortCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(regName),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(args),
            ]
        })?;
        let user = UserData::new(args);
        let function = callback.map(|function| {
            let callback: AbortHook = Arc::new(move |device, stage, timeout| {
                let pointer = user.pointer();
                // SAFETY: the caller's contract.
                unsafe { function(device, stage, timeout, pointer) }
            });
            callback
        });
        // SAFETY: the caller's contract: null, or a text.
        let name = unsafe { raw::text(regName) };
        jumar_acl::device::aclrtSetDeviceTaskAbortCallback(cx, name, function)
    })
}

/// Registers a function that is called when a stream is created or destroyed; null removes it.
///
/// # Safety
/// Called from C: the function may be called with `args`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtRegStreamStateCallback(
    regName: *const c_char,
    callback: callbacks::aclrtStreamStateCallback,
    args: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtRegStreamStateCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(regName),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(args),
            ]
        })?;
        let user = UserData::new(args);
        let function = callback.map(|function| {
            let callback: StreamStateHook = Arc::new(move |stream, state| {
                let pointer = user.pointer();
                let stream = raw::pointer(Raw(stream));
                // SAFETY: the caller's contract; the handle is only a number.
                unsafe { function(stream, state, pointer) }
            });
            callback
        });
        // SAFETY: the caller's contract: null, or a text.
        let name = unsafe { raw::text(regName) };
        jumar_acl::stream::aclrtRegStreamStateCallback(cx, name, function)
    })
}

/// Sets a function that aclInit calls.
///
/// # Safety
/// Called from C: the function may be called with `userData`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclInitCallbackRegister(
    r#type: u32,
    cbFunc: callbacks::aclInitCallbackFunc,
    userData: *mut c_void,
) -> i32 {
    raw::status(&calls::aclInitCallbackRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(cbFunc.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userData),
            ]
        })?;
        let user = UserData::new(userData);
        let function = cbFunc.map(|function| {
            let callback: InitHook = Arc::new(move |text| {
                let pointer = user.pointer();
                // SAFETY: the caller's contract; the text outlives the call.
                unsafe { function(text.as_ptr(), text.count_bytes(), pointer) }
            });
            (function as usize, callback)
        });
        jumar_acl::init::aclInitCallbackRegister(cx, r#type, function)
    })
}

/// Takes a function of `aclInitCallbackRegister` away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn aclInitCallbackUnRegister(
    r#type: u32,
    cbFunc: callbacks::aclInitCallbackFunc,
) -> i32 {
    raw::status(&calls::aclInitCallbackUnRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(cbFunc.map_or(0, |function| function as usize)),
            ]
        })?;
        let address = cbFunc.map_or(0, |function| function as usize);
        jumar_acl::init::aclInitCallbackUnRegister(cx, r#type, address)
    })
}

/// Sets a function that finalising calls.
///
/// # Safety
/// Called from C: the function may be called with `userData`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclFinalizeCallbackRegister(
    r#type: u32,
    cbFunc: callbacks::aclFinalizeCallbackFunc,
    userData: *mut c_void,
) -> i32 {
    raw::status(&calls::aclFinalizeCallbackRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(cbFunc.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userData),
            ]
        })?;
        let user = UserData::new(userData);
        let function = cbFunc.map(|function| {
            let callback: FinalizeHook = Arc::new(move || {
                let pointer = user.pointer();
                // SAFETY: the caller's contract.
                unsafe { function(pointer) }
            });
            (function as usize, callback)
        });
        jumar_acl::init::aclFinalizeCallbackRegister(cx, r#type, function)
    })
}

/// Takes a function of `aclFinalizeCallbackRegister` away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn aclFinalizeCallbackUnRegister(
    r#type: u32,
    cbFunc: callbacks::aclFinalizeCallbackFunc,
) -> i32 {
    raw::status(&calls::aclFinalizeCallbackUnRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(cbFunc.map_or(0, |function| function as usize)),
            ]
        })?;
        let address = cbFunc.map_or(0, |function| function as usize);
        jumar_acl::init::aclFinalizeCallbackUnRegister(cx, r#type, address)
    })
}

/// Sets a function that is called at a stage of a snapshot.
///
/// # Safety
/// Called from C: the function may be called with `args`, on any thread, until it is taken away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtSnapShotCallbackRegister(
    stage: u32,
    callback: callbacks::aclrtSnapShotCallBack,
    args: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtSnapShotCallbackRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stage),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(args),
            ]
        })?;
        let user = UserData::new(args);
        let function = callback.map(|function| {
            let callback: SnapshotHook = Arc::new(move |device| {
                let pointer = user.pointer();
                // SAFETY: the caller's contract.
                unsafe { function(device, pointer) }
            });
            (function as usize, callback)
        });
        jumar_acl::snapshot::aclrtSnapShotCallbackRegister(cx, stage, function)
    })
}

/// Takes a function of `aclrtSnapShotCallbackRegister` away.
#[unsafe(no_mangle)]
pub extern "C" fn aclrtSnapShotCallbackUnregister(
    stage: u32,
    callback: callbacks::aclrtSnapShotCallBack,
) -> i32 {
    raw::status(&calls::aclrtSnapShotCallbackUnregister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stage),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
            ]
        })?;
        let address = callback.map_or(0, |function| function as usize);
        jumar_acl::snapshot::aclrtSnapShotCallbackUnregister(cx, stage, address)
    })
}
