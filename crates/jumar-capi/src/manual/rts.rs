//! Registrations and launches of kernels that are linked into a program.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use jumar_acl::hooks::StreamStateHook;
use jumar_acl::rts::{self, Kernel, Work};

use crate::acl::{Cx, Error, ErrorKind, Raw, Result, calls, types};
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
    let code = match bin {
        Some(bin) => {
            let length = usize::try_from(bin.length).unwrap_or(usize::MAX);
            let data = raw::address::<u8>(bin.data).cast_const();
            // SAFETY: the program guarantees it: null or that many bytes.
            unsafe { raw::slice::<u8>(data, length, "bin->data") }?
        }
        None => None,
    };
    out.set(rts::register(cx, bin, code)?);
    Ok(())
}

/// Registers a binary of kernels that is linked into the program.
///
/// # Safety
/// Called from C: `bin` is null or the address of a description, and `handle` null or the address of a variable.
#[unsafe(no_mangle)]
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
pub extern "C" fn rtDevBinaryUnRegister(handle: *mut c_void) -> i32 {
    raw::status(&calls::rtDevBinaryUnRegister, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(handle)])?;
        rts::unregister(cx, raw::handle(handle))
    })
}

/// Registers a kernel of a binary.
///
/// # Safety
/// Called from C: `stubName` is null or a text, and so is `devFunc` for a binary for this machine.
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
        let binary = raw::handle(binHandle);
        let kernel = match rts::is_loaded(cx, binary)? {
            // SAFETY: the program guarantees it: a kernel of a loaded binary is named by a text.
            true => unsafe { raw::text(devFunc.cast()) },
            false => None,
        };
        rts::name(cx, binary, symbol, name, kernel)
    })
}

/// Takes what is launched.
///
/// # Safety
/// `args` is null or has `bytes` bytes, which are copied before the launch returns.
unsafe fn work(blocks: u32, args: *const c_void, bytes: u32) -> Result<Work> {
    let arguments = match args.is_null() {
        true => None,
        // SAFETY: the caller's contract.
        false => Some(unsafe { raw::span(args, bytes as usize, "args") }?),
    };
    Ok(Work { blocks, arguments })
}

/// Launches a registered kernel on a stream.
///
/// # Safety
/// Called from C: `args` is null or has `argsSize` bytes.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn rtKernelLaunch(
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
        // SAFETY: the caller's contract.
        let work = unsafe { work(blockDim, args, argsSize) }?;
        rts::launch(cx, kernel, Some(work), raw::handle(stm))
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
        rts::launch(cx, kernel, None, raw::handle(stm))
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
                rts::launch(cx, kernel, None, raw::handle(stm))
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

macro_rules! as_acl {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $kind:ty => $word:expr),*) => $body:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($parameter: $kind),*) -> i32 {
            raw::status(&calls::$name, |cx| {
                raw::trace(cx, || [$(raw::ArgBits::word($word)),*])?;
                let body: &dyn Fn(&Cx<'_>) -> Result<()> = &$body;
                body(cx)
            })
        }
    )*};
}

/// Returns a length as the safe functions take it.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

as_acl! {
    /// Sets the current device of the calling thread. A current context of that device stays.
    ///
    /// # Safety
    /// Called from C.
    rtSetDevice(device: i32 => device) => |cx| rts::rtSetDevice(cx, device);
    /// Returns the name of the device's chip.
    ///
    /// # Safety
    /// Called from C: `ver` is null or has `max_len` bytes.
    rtGetSocVersion(ver: *mut c_char => ver, max_len: u32 => max_len) => |cx| {
        // SAFETY: the caller's contract.
        let out = unsafe { raw::OutArray::<u8>::new(ver.cast(), max_len as usize, "ver") }?;
        let name = rts::soc_name(cx)?;
        if name.as_bytes_with_nul().len() > max_len as usize {
            let text = format!("the chip's name needs {} bytes, and ver has {max_len}", name.as_bytes_with_nul().len());
            return Err(Error::new(ErrorKind::InvalidValue, text));
        }
        out.set(name.as_bytes_with_nul())
    };
    /// Returns how many matrix cores a device has.
    ///
    /// # Safety
    /// Called from C: `core_count` is null or the address of a variable.
    rtGetAiCoreCount(core_count: *mut u32 => core_count) => |cx| {
        // SAFETY: the caller's contract.
        let out = unsafe { raw::Out::<u32>::new(core_count, "aiCoreCnt") }?;
        out.set(rts::rtGetAiCoreCount(cx)?);
        Ok(())
    };
    /// Returns the address by which cores synchronise with each other. Kernels here ignore it.
    ///
    /// # Safety
    /// Called from C: each result is null or the address of a variable.
    rtGetC2cCtrlAddr(addr: *mut u64 => addr, len: *mut u32 => len) => |cx| {
        // SAFETY: the caller's contract.
        let out = unsafe { raw::Out::<u64>::new(addr, "addr") }?;
        // SAFETY: the caller's contract.
        let bytes = unsafe { raw::Out::<u32>::new(len, "len") }?;
        let (address, length) = rts::rtGetC2cCtrlAddr(cx);
        out.set(address);
        bytes.set(length);
        Ok(())
    };
    /// Creates a stream.
    ///
    /// # Safety
    /// Called from C: `stm` is null or the address of a variable.
    rtStreamCreate(stm: *mut *mut c_void => stm, priority: i32 => priority) => |cx| {
        // SAFETY: the caller's contract.
        let out = unsafe { raw::Out::<Raw>::new(stm.cast(), "stm") }?;
        let priority = u32::try_from(priority).unwrap_or(0);
        out.set(jumar_acl::stream::aclrtCreateStreamWithConfig(cx, priority, 0)?);
        Ok(())
    };
    /// Destroys a stream.
    ///
    /// # Safety
    /// Called from C.
    rtStreamDestroy(stm: *mut c_void => stm) => |cx| jumar_acl::stream::aclrtDestroyStream(cx, raw::handle(stm));
    /// Waits for a stream.
    ///
    /// # Safety
    /// Called from C.
    rtStreamSynchronize(stm: *mut c_void => stm) => |cx| jumar_acl::stream::aclrtSynchronizeStream(cx, raw::handle(stm));
    /// Frees device memory.
    ///
    /// # Safety
    /// Called from C.
    rtFree(address: *mut c_void => address) => |cx| jumar_acl::memory::aclrtFree(cx, address.expose_provenance());
    /// Allocates pinned host memory.
    ///
    /// # Safety
    /// Called from C: `address` is null or the address of a variable.
    rtMallocHost(address: *mut *mut c_void => address, size: u64 => size, module_id: u16 => u32::from(module_id)) => |cx| {
        // SAFETY: the caller's contract.
        let out = unsafe { raw::Out::<usize>::new(address.cast(), "hostPtr") }?;
        out.set(jumar_acl::memory::aclrtMallocHost(cx, length(size))?);
        Ok(())
    };
    /// Frees pinned host memory.
    ///
    /// # Safety
    /// Called from C.
    rtFreeHost(address: *mut c_void => address) => |cx| jumar_acl::memory::aclrtFreeHost(cx, address.expose_provenance());
    /// Copies memory and waits until it is done.
    ///
    /// # Safety
    /// Called from C: both are `cnt` bytes long.
    rtMemcpy(dst: *mut c_void => dst, capacity: u64 => capacity, src: *const c_void => src, cnt: u64 => cnt, kind: u32 => kind) => |cx| {
        // SAFETY: the caller's contract.
        let to = unsafe { raw::span(dst, length(cnt), "dst") }?;
        // SAFETY: the caller's contract.
        let from = unsafe { raw::span(src, length(cnt), "src") }?;
        jumar_acl::memcpy::aclrtMemcpy(cx, to, length(capacity), from, length(cnt), kind)
    };
    /// Sets a limit of a device. It has no effect.
    ///
    /// # Safety
    /// Called from C.
    rtDeviceSetLimit(device: i32 => device, r#type: u32 => r#type, val: u32 => val) => |cx| {
        rts::rtDeviceSetLimit(cx, device)
    };
}
