//! Captured models: answers that are written when a call fails too, arrays that are asked for twice, and functions of
//! the program.

use std::ffi::c_void;

use jumar_acl::{Result, capture};

use crate::acl::{Error, ErrorKind, Raw, calls, types};
use crate::generated::callbacks;
use crate::raw::{self, UserData};

/// Ends a capture and returns the captured model; null when there is none.
///
/// # Safety
/// Called from C: `modelRI` is null or the address of a variable.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlRICaptureEnd(stream: *mut c_void, modelRI: *mut *mut c_void) -> i32 {
    raw::status(&calls::aclmdlRICaptureEnd, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(stream), raw::ArgBits::word(modelRI)]
        })?;
        // SAFETY: the program guarantees `modelRI`: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(modelRI.cast(), "modelRI") }?;
        let ended = capture::aclmdlRICaptureEnd(cx, raw::handle(stream));
        out.set(*ended.as_ref().unwrap_or(&Raw(0)));
        ended.map(drop)
    })
}

/// Reads whether a stream is being captured, and into what; one of the two may be left out.
///
/// # Safety
/// Called from C: `status` and `modelRI` are null or the addresses of variables.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlRICaptureGetInfo(
    stream: *mut c_void,
    status: *mut u32,
    modelRI: *mut *mut c_void,
) -> i32 {
    raw::status(&calls::aclmdlRICaptureGetInfo, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stream),
                raw::ArgBits::word(status),
                raw::ArgBits::word(modelRI),
            ]
        })?;
        if modelRI.is_null() {
            // SAFETY: the program guarantees `status`: null or the address of a variable, as the C declaration says.
            let status = unsafe { raw::Out::<u32>::new(status, "status") }?;
            status.set(capture::aclmdlRICaptureGetInfo(cx, raw::handle(stream))?.0);
            return Ok(());
        }
        // SAFETY: the program guarantees `status`: null or the address of a variable, as the C declaration says.
        let status = unsafe { raw::Out::<u32>::optional(status, "status") }?;
        // SAFETY: the program guarantees `modelRI`: null or the address of a variable, as the C declaration says.
        let model = unsafe { raw::Out::<Raw>::optional(modelRI.cast(), "modelRI") }?;
        let answer = capture::aclmdlRICaptureGetInfo(cx, raw::handle(stream))?;
        status.set(answer.0);
        model.set(answer.1);
        Ok(())
    })
}

/// Writes a list in two calls: the count alone, or as many entries as the array holds.
///
/// # Safety
/// `array` is null or as long as `count` says, and `count` null or the address of a variable.
unsafe fn list(
    array: *mut *mut c_void,
    count: *mut u32,
    names: (&'static str, &str, &str),
    all: impl FnOnce() -> Result<Vec<u64>>,
) -> Result<()> {
    let (array_name, count_name, what) = names;
    // SAFETY: the caller's contract.
    let count = unsafe { raw::InOut::<u32>::new(count, count_name) }?;
    let all = all()?;
    if array.is_null() {
        count.set(all.len() as u32);
        return Ok(());
    }
    let capacity = count.get() as usize;
    // SAFETY: the caller's contract.
    let array = unsafe { raw::OutArray::<Raw>::new(array.cast(), capacity, array_name) }?;
    let fits = all.len().min(capacity);
    // Entries beyond the last one are written as well: null.
    let handles: Vec<Raw> = all
        .iter()
        .map(|&handle| Raw(handle))
        .chain(std::iter::repeat(Raw(0)))
        .take(capacity.min(MOST_HANDLES.max(all.len())))
        .collect();
    array.set(&handles)?;
    count.set(fits as u32);
    if fits < all.len() {
        return Err(capture::array_too_small(capacity, all.len(), what));
    }
    Ok(())
}

/// The most entries that are written beyond the list: a garbage count must not cost memory.
const MOST_HANDLES: usize = 1 << 16;

/// Lists the streams of a model.
///
/// # Safety
/// Called from C: `streams` is null or as long as `numStreams` says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlRIGetStreams(
    modelRI: *mut c_void,
    streams: *mut *mut c_void,
    numStreams: *mut u32,
) -> i32 {
    raw::status(&calls::aclmdlRIGetStreams, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(modelRI),
                raw::ArgBits::word(streams),
                raw::ArgBits::word(numStreams),
            ]
        })?;
        let names = ("streams", "numStreams", "streams");
        // SAFETY: the caller's contract.
        unsafe {
            list(streams, numStreams, names, || {
                capture::streams(cx, raw::handle(modelRI))
            })
        }
    })
}

/// Lists the captured tasks of a stream.
///
/// # Safety
/// Called from C: `tasks` is null or as long as `numTasks` says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlRIGetTasksByStream(
    stream: *mut c_void,
    tasks: *mut *mut c_void,
    numTasks: *mut u32,
) -> i32 {
    raw::status(&calls::aclmdlRIGetTasksByStream, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stream),
                raw::ArgBits::word(tasks),
                raw::ArgBits::word(numTasks),
            ]
        })?;
        let names = ("tasks", "numTasks", "tasks");
        // SAFETY: the caller's contract.
        unsafe {
            list(tasks, numTasks, names, || {
                capture::tasks(cx, raw::handle(stream))
            })
        }
    })
}

/// Sets a function that is called when a model was destroyed.
///
/// # Safety
/// Called from C: the function may be called with `userData`, on any thread, until the model was destroyed.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn aclmdlRIDestroyRegisterCallback(
    modelRI: *mut c_void,
    func: callbacks::aclrtCallback,
    userData: *mut c_void,
) -> i32 {
    raw::status(&calls::aclmdlRIDestroyRegisterCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(modelRI),
                raw::ArgBits::word(func.map_or(0, |function| function as usize)),
                raw::ArgBits::word(userData),
            ]
        })?;
        let key = func.map_or(0, |function| function as usize);
        // SAFETY: the caller's contract.
        let function =
            func.map(|function| unsafe { raw::closure(function, UserData::new(userData)) });
        capture::aclmdlRIDestroyRegisterCallback(cx, raw::handle(modelRI), key, function)
    })
}

/// Takes a function of `aclmdlRIDestroyRegisterCallback` away.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub extern "C" fn aclmdlRIDestroyUnregisterCallback(
    modelRI: *mut c_void,
    func: callbacks::aclrtCallback,
) -> i32 {
    raw::status(&calls::aclmdlRIDestroyUnregisterCallback, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(modelRI),
                raw::ArgBits::word(func.map_or(0, |function| function as usize)),
            ]
        })?;
        let key = func.map_or(0, |function| function as usize);
        capture::aclmdlRIDestroyUnregisterCallback(cx, raw::handle(modelRI), key)
    })
}

/// Queues models that run as a condition says. Returns them, empty.
///
/// # Safety
/// Called from C: `params.modelRIArray` is null or as long as `params.size` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclmdlRIAddCondTask(
    params: types::aclmdlRICondTaskParams,
    stream: *mut c_void,
    flags: u32,
) -> i32 {
    raw::status(&calls::aclmdlRIAddCondTask, |cx| {
        raw::trace(cx, || {
            [0, raw::ArgBits::word(stream), raw::ArgBits::word(flags)]
        })?;
        let capacity = params.size as usize;
        // SAFETY: the program guarantees `modelRIArray`: null or that many entries, as the C declaration says.
        let array = unsafe {
            let handles = std::ptr::with_exposed_provenance_mut(params.modelRIArray);
            raw::OutArray::<Raw>::new(handles, capacity, "params.modelRIArray")
        }?;
        let branches = capture::choose(cx, &params, raw::handle(stream), flags)?;
        array.set(&branches)
    })
}

/// Changes the parameters of a captured task.
///
/// # Safety
/// Called from C: `params` is null or points to the structure; its configuration, its arguments and its information are as long
/// as it says, and arguments on the device stay where they are while the model is executed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclmdlRITaskSetParams(
    task: *mut c_void,
    params: *mut types::aclmdlRITaskParams,
) -> i32 {
    raw::status(&calls::aclmdlRITaskSetParams, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(task), raw::ArgBits::word(params)]
        })?;
        // SAFETY: the caller's contract.
        let params = unsafe { raw::input::<types::aclmdlRITaskParams>(params, "params") }?;
        let Some(params) = params else {
            return Err(Error::new(ErrorKind::NullPointer, "params is null"));
        };
        let at = capture::addresses(params);
        let configured = raw::address::<types::aclrtLaunchKernelCfg>(at.configuration);
        // SAFETY: the caller's contract.
        let configuration = unsafe { super::kernel::configuration(configured.cast_const()) }?;
        let range = |(address, bytes): (usize, usize), name| {
            if address == 0 {
                return Ok(None);
            }
            let pointer = raw::address::<c_void>(address).cast_const();
            // SAFETY: the program guarantees the memory; core checks that of the device.
            unsafe { raw::span(pointer, bytes, name) }.map(Some)
        };
        let information = raw::address::<u8>(params.opInfoPtr).cast_const();
        let behind = capture::Behind {
            configuration,
            arguments: range(at.arguments, "args")?,
            word: range((at.word, 8), "devAddr")?,
            // SAFETY: the caller's contract.
            information: unsafe { raw::slice(information, params.opInfoSize, "opInfoPtr") }?,
        };
        capture::set_parameters(cx, raw::handle(task), params, &behind)
    })
}
