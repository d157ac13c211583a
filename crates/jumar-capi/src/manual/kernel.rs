//! Kernels: lists of options and attributes behind pointers, and arrays of values whose lengths the kernel describes.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use jumar_acl::kernel::{self, Configuration, Grid, HostArguments};

use crate::acl::{Error, ErrorKind, Raw, Result, Span, calls, types};
use crate::generated::callbacks;
use crate::raw::{self, UserData};

/// Takes a configuration apart.
///
/// # Safety
/// `cfg` is null or points to a configuration, whose array is null or as long as it says.
pub(super) unsafe fn configuration<'a>(
    cfg: *const types::aclrtLaunchKernelCfg,
) -> Result<Configuration<'a>> {
    // SAFETY: the caller's contract.
    let Some(cfg) = (unsafe { raw::input::<types::aclrtLaunchKernelCfg>(cfg, "cfg") })? else {
        return Ok(None);
    };
    let attributes = raw::address::<types::aclrtLaunchKernelAttr>(cfg.attrs);
    // SAFETY: the caller's contract.
    unsafe { raw::slice(attributes.cast_const(), cfg.numAttrs, "cfg->attrs") }.map(Some)
}

/// Takes the options of a load apart.
///
/// # Safety
/// `options` is null or points to options, whose array is null or as long as it says.
unsafe fn options<'a>(
    options: *const types::aclrtBinaryLoadOptions,
) -> Result<Option<Option<&'a [types::aclrtBinaryLoadOption]>>> {
    // SAFETY: the caller's contract.
    let Some(options) =
        (unsafe { raw::input::<types::aclrtBinaryLoadOptions>(options, "options") })?
    else {
        return Ok(None);
    };
    let list = raw::address::<types::aclrtBinaryLoadOption>(options.options);
    // SAFETY: the caller's contract.
    unsafe { raw::slice(list.cast_const(), options.numOpt, "options->options") }.map(Some)
}

/// Takes arguments in host memory, with their place holders.
///
/// # Safety
/// The arguments and the array are null or have the stated lengths.
unsafe fn host<'a>(
    arguments: *const c_void,
    bytes: usize,
    place_holders: *const types::aclrtPlaceHolderInfo,
    count: usize,
) -> Result<HostArguments<'a>> {
    let given = if arguments.is_null() {
        None
    } else {
        // SAFETY: the caller's contract; the call copies them before it returns.
        Some(unsafe { raw::span(arguments, bytes, "hostArgs") }?)
    };
    // SAFETY: the caller's contract.
    let place_holders = unsafe { raw::slice(place_holders, count, "placeHolderArray") }?;
    Ok(HostArguments {
        arguments: given,
        place_holders,
        count,
    })
}

/// Loads a kernel binary from a file.
///
/// # Safety
/// Called from C: the path ends in a zero byte, and the options are as many as they say.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtBinaryLoadFromFile(
    binPath: *const c_char,
    options: *mut types::aclrtBinaryLoadOptions,
    binHandle: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtBinaryLoadFromFile, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(binPath),
                raw::ArgBits::word(options),
                raw::ArgBits::word(binHandle),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable.
        let out = unsafe { raw::Out::<Raw>::new(binHandle.cast(), "binHandle") }?;
        // SAFETY: the program guarantees it: null or a text.
        let path = unsafe { raw::text(binPath) };
        // SAFETY: the caller's contract.
        let options = unsafe { self::options(options) }?;
        out.set(kernel::aclrtBinaryLoadFromFile(cx, path, options)?);
        Ok(())
    })
}

/// Loads a kernel binary from memory.
///
/// # Safety
/// Called from C: the data and the options have the stated lengths.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtBinaryLoadFromData(
    data: *const c_void,
    length: usize,
    options: *const types::aclrtBinaryLoadOptions,
    binHandle: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtBinaryLoadFromData, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(data),
                raw::ArgBits::word(length),
                raw::ArgBits::word(options),
                raw::ArgBits::word(binHandle),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable.
        let out = unsafe { raw::Out::<Raw>::new(binHandle.cast(), "binHandle") }?;
        // SAFETY: the program guarantees it: null or that many bytes.
        let data = unsafe { raw::slice::<u8>(data.cast(), length, "data") }?;
        // SAFETY: the caller's contract.
        let options = unsafe { self::options(options) }?;
        out.set(kernel::aclrtBinaryLoadFromData(cx, data, options)?);
        Ok(())
    })
}

/// Finds a global variable of a loaded binary.
///
/// # Safety
/// Called from C: the name ends in a zero byte, and each result is null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtBinaryGetGlobal(
    binHandle: *mut c_void,
    name: *const c_char,
    dptr: *mut *mut c_void,
    size: *mut usize,
) -> i32 {
    raw::status(&calls::aclrtBinaryGetGlobal, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(binHandle),
                raw::ArgBits::word(name),
                raw::ArgBits::word(dptr),
                raw::ArgBits::word(size),
            ]
        })?;
        // SAFETY: the program guarantees it: null or a text.
        let name = unsafe { raw::text(name) };
        // SAFETY: the program guarantees both: null or the address of a variable.
        let (address, bytes) = unsafe { two_results(dptr.cast(), size, ["dptr", "size"]) }?;
        let (at, length) = kernel::aclrtBinaryGetGlobal(cx, raw::handle(binHandle), name)?;
        address.set(at);
        bytes.set(length);
        Ok(())
    })
}

/// Reads where a parameter of a kernel lies and how large it is.
///
/// # Safety
/// Called from C: each result is null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtFunctionGetParamInfo(
    func: *const c_void,
    paramIndex: usize,
    paramOffset: *mut usize,
    paramSize: *mut usize,
) -> i32 {
    raw::status(&calls::aclrtFunctionGetParamInfo, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(func),
                raw::ArgBits::word(paramIndex),
                raw::ArgBits::word(paramOffset),
                raw::ArgBits::word(paramSize),
            ]
        })?;
        // SAFETY: the program guarantees both: null or the address of a variable.
        let (offset, bytes) =
            unsafe { two_results(paramOffset, paramSize, ["paramOffset", "paramSize"]) }?;
        let (at, length) =
            kernel::aclrtFunctionGetParamInfo(cx, func.expose_provenance(), paramIndex)?;
        offset.set(at);
        bytes.set(length);
        Ok(())
    })
}

/// Takes two results of which one may be missing.
///
/// # Safety
/// Each is null or the address of a variable.
unsafe fn two_results(
    first: *mut usize,
    second: *mut usize,
    names: [&str; 2],
) -> Result<(raw::Out<usize>, raw::Out<usize>)> {
    if first.is_null() && second.is_null() {
        return Err(Error::new(
            ErrorKind::NullPointer,
            format!("{} and {} are both null", names[0], names[1]),
        ));
    }
    // SAFETY: the caller's contract.
    let first = unsafe { raw::Out::optional(first, names[0]) }?;
    // SAFETY: the caller's contract.
    let second = unsafe { raw::Out::optional(second, names[1]) }?;
    Ok((first, second))
}

/// Queues a kernel with an argument object and a configuration.
///
/// # Safety
/// Called from C: the configuration's attributes are as many as it says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchKernelWithConfig(
    funcHandle: *mut c_void,
    numBlocks: u32,
    stream: *mut c_void,
    cfg: *mut types::aclrtLaunchKernelCfg,
    argsHandle: *mut c_void,
    reserve: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchKernelWithConfig, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(funcHandle),
                raw::ArgBits::word(numBlocks),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(argsHandle),
                raw::ArgBits::word(reserve),
            ]
        })?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        kernel::aclrtLaunchKernelWithConfig(
            cx,
            raw::handle(funcHandle),
            numBlocks,
            raw::handle(stream),
            cfg,
            raw::handle(argsHandle),
            reserve.addr(),
        )
    })
}

/// Queues a kernel with arguments in device memory and a configuration.
///
/// # Safety
/// Called from C: the arguments stay where they are until the kernel ran; the attributes are as many as the configuration
/// says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchKernelV2(
    funcHandle: *mut c_void,
    numBlocks: u32,
    argsData: *const c_void,
    argsSize: usize,
    cfg: *mut types::aclrtLaunchKernelCfg,
    stream: *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchKernelV2, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(funcHandle),
                raw::ArgBits::word(numBlocks),
                raw::ArgBits::word(argsData),
                raw::ArgBits::word(argsSize),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(stream),
            ]
        })?;
        if argsData.is_null() {
            return Err(Error::new(ErrorKind::NullPointer, "argsData is null"));
        }
        // SAFETY: the program guarantees the memory until the kernel ran.
        let arguments = unsafe { raw::span(argsData, argsSize, "argsData") }?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        let function = raw::handle(funcHandle);
        kernel::aclrtLaunchKernelV2(cx, function, numBlocks, arguments, cfg, raw::handle(stream))
    })
}

/// Queues a kernel with arguments in host memory.
///
/// # Safety
/// Called from C: the arguments, the place holders and the attributes have the stated lengths.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchKernelWithHostArgs(
    funcHandle: *mut c_void,
    numBlocks: u32,
    stream: *mut c_void,
    cfg: *mut types::aclrtLaunchKernelCfg,
    hostArgs: *mut c_void,
    argsSize: usize,
    placeHolderArray: *mut types::aclrtPlaceHolderInfo,
    placeHolderNum: usize,
) -> i32 {
    raw::status(&calls::aclrtLaunchKernelWithHostArgs, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(funcHandle),
                raw::ArgBits::word(numBlocks),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(hostArgs),
                raw::ArgBits::word(argsSize),
                raw::ArgBits::word(placeHolderArray),
                raw::ArgBits::word(placeHolderNum),
            ]
        })?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        // SAFETY: the caller's contract.
        let host = unsafe { host(hostArgs, argsSize, placeHolderArray, placeHolderNum) }?;
        let function = raw::handle(funcHandle);
        kernel::aclrtLaunchKernelWithHostArgs(
            cx,
            function,
            numBlocks,
            raw::handle(stream),
            cfg,
            &host,
        )
    })
}

/// Puts the values behind an array of pointers where the kernel wants them.
///
/// # Safety
/// `args` is null, or has a pointer to a value of the right length for each parameter.
unsafe fn gather(slots: &[(usize, usize)], args: *mut *mut c_void) -> Result<Vec<u64>> {
    let bytes = slots
        .iter()
        .map(|(offset, bytes)| offset + bytes)
        .max()
        .unwrap_or(0);
    let mut block = vec![0_u64; bytes.div_ceil(8)];
    // SAFETY: the caller's contract; an address is as long as a pointer.
    let pointers = unsafe { raw::slice::<usize>(args.cast::<usize>(), slots.len(), "args") }?;
    for (index, (&(offset, bytes), &pointer)) in
        slots.iter().zip(pointers.unwrap_or(&[])).enumerate()
    {
        // SAFETY: the caller's contract.
        let value = unsafe { raw::slice(raw::address::<u8>(pointer).cast_const(), bytes, "args") }?;
        let Some(value) = value else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("entry {index} of args is null"),
            ));
        };
        for (at, byte) in value.iter().enumerate() {
            let (word, shift) = ((offset + at) / 8, 8 * ((offset + at) % 8));
            block[word] |= u64::from(*byte) << shift;
        }
    }
    Ok(block)
}

fn span_of(block: &[u64], slots: &[(usize, usize)]) -> Result<Span> {
    let bytes = slots
        .iter()
        .map(|(offset, bytes)| offset + bytes)
        .max()
        .unwrap_or(0);
    // SAFETY: the block is at least so long, and lives until the launch has copied it.
    unsafe { raw::span(block.as_ptr().cast(), bytes, "args") }
}

/// Queues a kernel with an array of pointers to its arguments.
///
/// # Safety
/// Called from C: there is a pointer to a value for each parameter, and the attributes have the stated length.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchKernelWithArgsArray(
    func: *mut c_void,
    numBlocks: u32,
    stream: *mut c_void,
    cfg: *mut types::aclrtLaunchKernelCfg,
    args: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchKernelWithArgsArray, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(func),
                raw::ArgBits::word(numBlocks),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(args),
            ]
        })?;
        let function = func.expose_provenance();
        let slots = kernel::array_of(cx, function, args.is_null())?;
        // SAFETY: the caller's contract.
        let block = unsafe { gather(&slots, args) }?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        let values = span_of(&block, &slots)?;
        kernel::aclrtLaunchKernelWithArgsArray(
            cx,
            function,
            numBlocks,
            raw::handle(stream),
            cfg,
            values,
        )
    })
}

/// Queues a kernel on a grid of threads, with an array of pointers to its arguments.
///
/// # Safety
/// As for [`aclrtLaunchKernelWithArgsArray`].
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchSIMTKernelWithArgsArray(
    func: *mut c_void,
    gridDim: types::dim3,
    blockDim: types::dim3,
    dynUbufSize: usize,
    stream: *mut c_void,
    cfg: *mut types::aclrtLaunchKernelCfg,
    args: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclrtLaunchSIMTKernelWithArgsArray, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(func),
                0,
                0,
                raw::ArgBits::word(dynUbufSize),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(args),
            ]
        })?;
        let function = func.expose_provenance();
        let slots = kernel::array_of(cx, function, args.is_null())?;
        // SAFETY: the caller's contract.
        let block = unsafe { gather(&slots, args) }?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        let grid = Grid {
            blocks: gridDim,
            threads: blockDim,
            local_bytes: dynUbufSize,
        };
        let values = span_of(&block, &slots)?;
        kernel::aclrtLaunchSIMTKernelWithArgsArray(
            cx,
            function,
            &grid,
            raw::handle(stream),
            cfg,
            values,
        )
    })
}

/// Queues a kernel on a grid of threads, with arguments in host memory.
///
/// # Safety
/// As for [`aclrtLaunchKernelWithHostArgs`].
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtLaunchSIMTKernelWithHostArgs(
    func: *mut c_void,
    gridDim: types::dim3,
    blockDim: types::dim3,
    dynUbufSize: usize,
    stream: *mut c_void,
    cfg: *mut types::aclrtLaunchKernelCfg,
    hostArgs: *mut c_void,
    argsSize: usize,
    placeHolderArray: *mut types::aclrtPlaceHolderInfo,
    placeHolderNum: usize,
) -> i32 {
    raw::status(&calls::aclrtLaunchSIMTKernelWithHostArgs, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(func),
                0,
                0,
                raw::ArgBits::word(dynUbufSize),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(cfg),
                raw::ArgBits::word(hostArgs),
                raw::ArgBits::word(argsSize),
                raw::ArgBits::word(placeHolderArray),
                raw::ArgBits::word(placeHolderNum),
            ]
        })?;
        // SAFETY: the caller's contract.
        let cfg = unsafe { configuration(cfg) }?;
        // SAFETY: the caller's contract.
        let host = unsafe { host(hostArgs, argsSize, placeHolderArray, placeHolderNum) }?;
        let grid = Grid {
            blocks: gridDim,
            threads: blockDim,
            local_bytes: dynUbufSize,
        };
        let function = func.expose_provenance();
        kernel::aclrtLaunchSIMTKernelWithHostArgs(
            cx,
            function,
            &grid,
            raw::handle(stream),
            cfg,
            &host,
        )
    })
}

/// Sets the function that is called for failed kernels of one binary.
///
/// # Safety
/// Called from C: the function may be called with `userData`, on any thread, until another one is set or the binary is
/// unloaded.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclrtBinarySetExceptionCallback(
    binHandle: *mut c_void,
    callback: callbacks::aclrtOpExceptionCallback,
    userData: *mut c_void,
) -> i32 {
    let user = UserData::new(userData);
    raw::status(&calls::aclrtBinarySetExceptionCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(binHandle),
                raw::ArgBits::word(callback.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userData),
            ]
        })?;
        let callback = callback.map(|function| {
            let callback: Arc<dyn Fn(u64) + Send + Sync> = Arc::new(move |info| {
                let (info, user) = (raw::pointer(Raw(info)), user.pointer());
                // SAFETY: the caller's contract; the handle is valid while the function runs, and is only a number.
                unsafe { function(info, user) }
            });
            callback
        });
        kernel::aclrtBinarySetExceptionCallback(cx, raw::handle(binHandle), callback)
    })
}
