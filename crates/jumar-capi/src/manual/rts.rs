//! Registrations and launches of kernels that are linked into a program.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use jumar_acl::hooks::StreamStateHook;
use jumar_acl::rts::{self, Kernel};

use crate::acl::{Cx, Raw, Result, calls, types};
use crate::generated::callbacks;
use crate::raw;

/// # Safety
/// `bin` is null or the address of a description, and `handle` null or the address of a variable.
unsafe fn register(
    cx: &Cx<'_>,
    bin: *const types::rtDevBinary_t,
    handle: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's contract.
    let out = unsafe { raw::Out::<Raw>::new(handle.cast(), "handle") }?;
    // SAFETY: the caller's contract.
    let bin = unsafe { raw::input(bin, "bin") }?;
    out.set(rts::register(cx, bin)?);
    Ok(())
}

/// Registers a binary of kernels that is linked into the program.
///
/// # Safety
/// Called from C: `bin` is null or the address of a description, and `handle` null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtDevBinaryRegister(
    bin: *const types::rtDevBinary_t,
    handle: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::rtDevBinaryRegister, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(bin), raw::ArgBits::word(handle)])?;
        // SAFETY: the caller's contract.
        unsafe { register(cx, bin, handle) }
    })
}

/// Registers a binary of kernels that is linked into the program, with all its kernels.
///
/// # Safety
/// As for [`rtDevBinaryRegister`].
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtRegisterAllKernel(
    bin: *const types::rtDevBinary_t,
    handle: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::rtRegisterAllKernel, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(bin), raw::ArgBits::word(handle)])?;
        // SAFETY: the caller's contract.
        unsafe { register(cx, bin, handle) }
    })
}

/// Takes a registration of a binary back.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn rtDevBinaryUnRegister(handle: *mut c_void) -> i32 {
    raw::status(&calls::rtDevBinaryUnRegister, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(handle)])?;
        rts::unregister(cx, raw::handle(handle))
    })
}

/// Registers a kernel of a binary.
///
/// # Safety
/// Called from C: `stubName` is null or a text.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtFunctionRegister(
    binHandle: *mut c_void,
    stubFunc: *const c_void,
    stubName: *const c_char,
    devFunc: *const c_void,
    funcMode: u32,
) -> i32 {
    raw::status(&calls::rtFunctionRegister, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(binHandle),
                raw::ArgBits::word(stubFunc),
                raw::ArgBits::word(stubName),
                raw::ArgBits::word(devFunc),
                raw::ArgBits::word(funcMode),
            ]
        })?;
        // SAFETY: the caller's contract.
        let name = unsafe { raw::text(stubName) };
        let symbol = stubFunc.expose_provenance();
        rts::name(cx, raw::handle(binHandle), symbol, name)
    })
}

/// Launches a registered kernel on a stream.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn rtKernelLaunch(
    stubFunc: *const c_void,
    blockDim: u32,
    args: *mut c_void,
    argsSize: u32,
    smDesc: *mut c_void,
    stm: *mut c_void,
) -> i32 {
    raw::status(&calls::rtKernelLaunch, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stubFunc),
                raw::ArgBits::word(blockDim),
                raw::ArgBits::word(args),
                raw::ArgBits::word(argsSize),
                raw::ArgBits::word(smDesc),
                raw::ArgBits::word(stm),
            ]
        })?;
        let kernel = Kernel::Symbol(stubFunc.expose_provenance());
        rts::launch(cx, kernel, raw::handle(stm))
    })
}

/// As [`rtKernelLaunch`], with further settings.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn rtKernelLaunchWithFlagV2(
    stubFunc: *const c_void,
    blockDim: u32,
    argsInfo: *mut c_void,
    smDesc: *mut c_void,
    stm: *mut c_void,
    flags: u32,
    cfgInfo: *const c_void,
) -> i32 {
    raw::status(&calls::rtKernelLaunchWithFlagV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stubFunc),
                raw::ArgBits::word(blockDim),
                raw::ArgBits::word(argsInfo),
                raw::ArgBits::word(smDesc),
                raw::ArgBits::word(stm),
                raw::ArgBits::word(flags),
                raw::ArgBits::word(cfgInfo),
            ]
        })?;
        let kernel = Kernel::Symbol(stubFunc.expose_provenance());
        rts::launch(cx, kernel, raw::handle(stm))
    })
}

macro_rules! by_key {
    ($($(#[$doc:meta])* $name:ident($last:ident);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub extern "C" fn $name(
            hdl: *mut c_void,
            tilingKey: u64,
            blockDim: u32,
            argsInfo: *mut c_void,
            smDesc: *mut c_void,
            stm: *mut c_void,
            $last: *const c_void,
        ) -> i32 {
            raw::status(&calls::$name, |cx| {
                raw::trace(cx, || {
                    [
                        raw::ArgBits::word(hdl),
                        raw::ArgBits::word(tilingKey),
                        raw::ArgBits::word(blockDim),
                        raw::ArgBits::word(argsInfo),
                        raw::ArgBits::word(smDesc),
                        raw::ArgBits::word(stm),
                        raw::ArgBits::word($last),
                    ]
                })?;
                let kernel = Kernel::Key(raw::handle(hdl), tilingKey);
                rts::launch(cx, kernel, raw::handle(stm))
            })
        }
    )*};
}

by_key! {
    /// Launches a kernel of a registered binary by its key.
    rtKernelLaunchWithHandle(kernelInfo);
    /// As `rtKernelLaunchWithHandle`, with settings.
    rtKernelLaunchWithHandleV2(cfgInfo);
    /// As `rtKernelLaunchWithHandle` on vector cores, with settings.
    rtVectorCoreKernelLaunchWithHandle(cfgInfo);
}

/// Allocates memory of the current device, as `aclrtMalloc` does.
///
/// # Safety
/// Called from C: `devPtr` is null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtMalloc(
    devPtr: *mut *mut c_void,
    size: u64,
    r#type: u32,
    moduleId: u16,
) -> i32 {
    raw::status(&calls::rtMalloc, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(devPtr),
                raw::ArgBits::word(size),
                raw::ArgBits::word(r#type),
                raw::ArgBits::word(u32::from(moduleId)),
            ]
        })?;
        // SAFETY: the caller's contract.
        let out = unsafe { raw::Out::<usize>::new(devPtr.cast(), "devPtr") }?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        out.set(jumar_acl::memory::aclrtMalloc(cx, size, 0)?);
        Ok(())
    })
}

/// Registers a function that is called when a stream is created or destroyed; null removes it.
///
/// # Safety
/// Called from C: the function may be called, on any thread, until it is taken away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtRegStreamStateCallback(
    regName: *const c_char,
    callback: callbacks::rtStreamStateCallback,
) -> i32 {
    raw::status(&calls::rtRegStreamStateCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(regName),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
            ]
        })?;
        let function = callback.map(|function| {
            let callback: StreamStateHook = Arc::new(move |stream, state| {
                let stream = raw::pointer(Raw(stream));
                // SAFETY: the caller's contract; the handle is only a number.
                unsafe { function(stream, u8::from(rts::is_creation(state))) }
            });
            callback
        });
        // SAFETY: the caller's contract: null, or a text.
        let name = unsafe { raw::text(regName) };
        jumar_acl::stream::aclrtRegStreamStateCallback(cx, name, function)
    })
}
