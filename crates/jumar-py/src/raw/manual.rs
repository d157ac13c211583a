//! The functions whose conversion the data cannot express.

use std::ffi::{CStr, CString, c_char, c_void};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use super::callbacks::{self, CallbackBox, DECODERS, DUMP, ENCODERS, EXCEPTION};
use super::ffi::*;
use super::generated::{HI_DVPP_EPOLL_EVENT, HI_VENC_CHN_ATTR, HI_VENC_RC_PARAM};
use super::library::Symbol;
use super::records::{DumpChunk, IoDims, UceInfo, text};
use super::structures::{Structure, StructureSpace, media_code};
use crate::notes;

pub use crate::threads::{start as util_start_thread, stop as util_stop_thread};
pub use crate::util::{
    bytes_to_ptr as util_bytes_to_ptr, numpy_contiguous_to_ptr as util_numpy_contiguous_to_ptr,
    numpy_to_ptr as util_numpy_to_ptr, ptr_to_bytes as util_ptr_to_bytes,
    ptr_to_numpy as util_ptr_to_numpy,
};

/// Lists longer than this are not asked of the library.
const MOST_ITEMS: usize = 4096;

/// Writes a line to the log, with the caller's location in the Python program.
pub fn base_app_log<'py>(call: &Args<'py>) -> Answer<'py> {
    type AppLog = unsafe extern "C" fn(i32, *const c_char, *const c_char, u32, *const c_char, ...);
    static SYMBOL: Symbol = Symbol::new(c"aclAppLog");
    call.expect(2, 2)?;
    let level = call.get::<i32>(0)?;
    let message = call.get::<CString>(1)?;
    let (function, file, line) = source_location(call.py());
    let Some(address) = SYMBOL.resolve() else {
        call.missing(&SYMBOL);
        return call.none();
    };
    // SAFETY: the address of aclAppLog, whose declaration this is. It is variadic, which `c_call` cannot say.
    let log = unsafe { std::mem::transmute::<std::ptr::NonNull<c_void>, AppLog>(address) };
    let format: &CStr = c"%s";
    call.waits(|| {
        // SAFETY: strings that live until the call returns; the format takes one string, so the text is data.
        unsafe {
            log(
                level,
                function.as_ptr(),
                file.as_ptr(),
                line,
                format.as_ptr(),
                message.as_ptr(),
            )
        }
    });
    call.none()
}

/// The function, file and line of the running Python code; empty where there is none.
fn source_location(py: Python<'_>) -> (CString, CString, u32) {
    let read = || -> PyResult<(String, String, u32)> {
        // Interned names, since this is called for every line of a log.
        let frame = py
            .import(intern!(py, "sys"))?
            .call_method0(intern!(py, "_getframe"))?;
        let code = frame.getattr(intern!(py, "f_code"))?;
        let line = frame
            .getattr(intern!(py, "f_lineno"))?
            .extract()
            .unwrap_or(0);
        let function = code.getattr(intern!(py, "co_name"))?.extract()?;
        Ok((
            function,
            code.getattr(intern!(py, "co_filename"))?.extract()?,
            line,
        ))
    };
    // Late in a shutdown `sys` may be gone; the message matters more than its location.
    let (function, file, line) = read().unwrap_or_default();
    (
        CString::new(function).unwrap_or_default(),
        CString::new(file).unwrap_or_default(),
        line,
    )
}

pub fn base_get_cann_attribute_list<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut list = Pointer::default();
    let mut count = 0_usize;
    let ret = c_call!(call.returns aclGetCannAttributeList(*mut Pointer, *mut usize) -> i32, [&raw mut list, &raw mut count],
        or NOT_SUPPORTED);
    if ret != SUCCESS || list.is_null() || count > MOST_ITEMS {
        return call.many(&[&Vec::<i32>::new(), &0_usize, &ret]);
    }
    // SAFETY: on success the library returns a static array of `count` enums.
    let attributes =
        unsafe { std::slice::from_raw_parts(list.as_ptr().cast::<i32>().cast_const(), count) };
    call.many(&[&attributes.to_vec(), &count, &ret])
}

/// The library's text, else the one of a refusal of this module.
pub fn base_get_recent_err_msg<'py>(call: &Args<'py>) -> Answer<'py> {
    // Taken first: the call itself leaves a note where the library does not have it.
    let own = notes::take();
    let message =
        c_call!(call.returns aclGetRecentErrMsg() -> CText, [], or CText::default()).read();
    notes::take();
    match (message, own) {
        (Some(message), own) => {
            // The older one waits for its turn.
            if let Some(own) = own {
                notes::keep(own);
            }
            call.one(&message)
        }
        (None, own) => call.one(&own),
    }
}

/// Takes the library's last error on this thread as data, if it had this code: the C function, the name of the code, the
/// sentence, what to do, and the object; empty texts where something is not known.
pub fn base_last_error<'py>(call: &Args<'py>) -> Answer<'py> {
    const FIELDS: u32 = 5;
    call.expect(1, 1)?;
    let code = call.get::<i32>(0)?;
    let field = |field: u32| {
        c_call!(call.returns jumar_last_error(i32, u32) -> CText, [code, field], or CText::default())
            .read()
    };
    // Refusals of this module never reached the library, whose last error is an older one then.
    let own = notes::take();
    let fields: Option<Vec<String>> = match &own {
        Some(_) => None,
        None => (0..FIELDS).map(field).collect(),
    };
    field(FIELDS);
    // Another library than Jumar's has no such function, which leaves a note.
    notes::take();
    if let Some(own) = own {
        notes::keep(own);
    }
    call.one(&fields)
}

pub fn base_get_tensor_desc_dim_range<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let count = call.get::<usize>(2)?;
    if count > MOST_ITEMS {
        let ret = call.refuse("acl.get_tensor_desc_dim_range: dim_range_num is over 4096");
        return call.many(&[&None::<i32>, &ret]);
    }
    let mut range = vec![0_i64; count];
    let ret = c_call!(call.returns aclGetTensorDescDimRange(Pointer, usize, usize, *mut i64) -> i32,
        [desc, index, count, range.as_mut_ptr()], or NOT_SUPPORTED);
    call.many(&[&(ret == SUCCESS).then_some(range), &ret])
}

pub fn mdl_create_and_get_op_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let device = call.get::<u32>(0)?;
    let stream = call.get::<u32>(1)?;
    let task = call.get::<u32>(2)?;
    let length = call.get::<usize>(3)?;
    let (mut inputs, mut outputs) = (Pointer::default(), Pointer::default());
    let (mut num_inputs, mut num_outputs) = (0_usize, 0_usize);
    let mut name = TextBuffer::new(length);
    let ret = if length > MOST_ITEMS {
        call.refuse("acl.mdl.create_and_get_op_desc: op_name_len is over 4096")
    } else {
        c_call!(call.waits aclmdlCreateAndGetOpDesc(
                u32, u32, u32, Pointer, usize, *mut Pointer, *mut usize, *mut Pointer, *mut usize) -> i32,
            [device, stream, task, name.pointer(), length, &raw mut inputs, &raw mut num_inputs, &raw mut outputs,
             &raw mut num_outputs], or NOT_SUPPORTED)
    };
    call.many(&[
        &name.text(ret),
        &inputs,
        &num_inputs,
        &outputs,
        &num_outputs,
        &ret,
    ])
}

pub fn mdl_dump_reg_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    type Callback = unsafe extern "C" fn(Pointer, i32) -> i32;
    call.expect(2, 2)?;
    let function = callable(call, 0)?;
    let flag = call.get::<i32>(1)?;
    let old = DUMP.replace(Some(function.unbind()));
    let callback: Callback = callbacks::dump;
    let ret = c_call!(call.waits acldumpRegCallback(Callback, i32) -> i32, [callback, flag], or NOT_SUPPORTED);
    let gone = if ret == SUCCESS {
        old
    } else {
        DUMP.replace(old)
    };
    drop(gone.map(|function| function.into_bound(call.py())));
    call.one(&ret)
}

pub fn mdl_dump_unreg_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    c_call!(call.waits acldumpUnregCallback() -> (), [], or ());
    drop(
        DUMP.replace(None)
            .map(|function| function.into_bound(call.py())),
    );
    call.none()
}

/// The chunk that C handed to the dump callback.
pub fn dump_chunk<'a>(chunk: Pointer) -> Option<&'a DumpChunk> {
    // SAFETY: only the dump callback calls this, with the chunk that the library keeps until the callback returns; null is
    // none. The lifetime is used up within the callback, where the dict is made.
    unsafe { chunk.as_ptr().cast::<DumpChunk>().as_ref() }
}

impl Object for &DumpChunk {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (**self).object(py)
    }
}

pub fn mdl_get_input_dynamic_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let gears = call.get::<usize>(2)?;
    if gears > MOST_ITEMS {
        let ret = call.refuse("acl.mdl.get_input_dynamic_dims: gear_count is over 4096");
        return call.many(&[&None::<i32>, &ret]);
    }
    let mut dims = vec![IoDims::NONE; gears];
    let ret = c_call!(call.returns aclmdlGetInputDynamicDims(Pointer, usize, *mut IoDims, usize) -> i32,
        [desc, index, dims.as_mut_ptr(), gears], or NOT_SUPPORTED);
    if ret != SUCCESS {
        dims.clear();
    }
    call.many(&[&dims, &ret])
}

/// How the value of a configuration attribute travels.
enum Width {
    /// `int32_t`
    Int,
    /// `size_t`, `uint64_t` or an address
    Bits64,
    /// The address of a text
    Path,
}

pub fn mdl_set_config_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let handle = call.get::<Pointer>(0)?;
    let attribute = call.get::<i32>(1)?;
    // aclmdlConfigAttr: priority and the flag "without graph" are int32_t, the two paths are texts.
    let width = match attribute {
        0 | 28 => Width::Int,
        2 | 14 => Width::Path,
        _ => Width::Bits64,
    };
    let set = |value: Pointer, size: usize| {
        c_call!(call.returns aclmdlSetConfigOpt(Pointer, i32, Pointer, usize) -> i32, [handle, attribute, value, size],
            or NOT_SUPPORTED)
    };
    let ret = option_value(call, &width, set)?;
    call.one(&ret)
}

pub fn mdl_set_exec_config_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let handle = call.get::<Pointer>(0)?;
    let attribute = call.get::<i32>(1)?;
    // aclmdlExecConfigAttr: addresses and sizes have 64 bits, the others 32.
    let width = if (2..=7).contains(&attribute) {
        Width::Bits64
    } else {
        Width::Int
    };
    let set = |value: Pointer, size: usize| {
        c_call!(call.returns aclmdlSetExecConfigOpt(Pointer, i32, Pointer, usize) -> i32, [handle, attribute, value, size],
            or NOT_SUPPORTED)
    };
    let ret = option_value(call, &width, set)?;
    call.one(&ret)
}

/// Passes the third argument by its address, in the width of its attribute.
fn option_value(
    call: &Args<'_>,
    width: &Width,
    set: impl Fn(Pointer, usize) -> i32,
) -> Result<i32, Stop> {
    Ok(match width {
        Width::Int => {
            let value = call.get::<i32>(2)?;
            set(Pointer::of(&value), size_of_val(&value))
        }
        Width::Bits64 => {
            let value = call.get::<u64>(2)?;
            set(Pointer::of(&value), size_of_val(&value))
        }
        Width::Path => {
            // The value is the address of the address of the text, which the library copies before it returns.
            let path = call.get::<CString>(2)?;
            let value = path.as_ptr();
            set(Pointer::of(&value), size_of_val(&value))
        }
    })
}

pub fn op_set_attr_list_list_int<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let name = call.get::<CString>(1)?;
    let lists = call.get::<Vec<Vec<i64>>>(2)?;
    let counts: Vec<i32> = lists.iter().map(|list| saturated(list.len())).collect();
    let addresses: Vec<*const i64> = lists.iter().map(Vec::as_ptr).collect();
    let ret = c_call!(call.returns aclopSetAttrListListInt(
            Pointer, *const c_char, i32, *const i32, *const *const i64) -> i32,
        [attr, name.as_ptr(), saturated(lists.len()), counts.as_ptr(), addresses.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

/// Asks for the length of a text, then for the text.
fn prof_text<'py>(
    call: &Args<'py>,
    length_of: impl Fn(Pointer, usize, u32, *mut usize) -> i32,
    text_of: impl Fn(Pointer, usize, u32, Pointer, usize) -> i32,
) -> Answer<'py> {
    call.expect(3, 3)?;
    let info = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let index = call.get::<u32>(2)?;
    let mut length = 0_usize;
    let ret = length_of(info, size, index, &raw mut length);
    if ret != SUCCESS {
        return call.many(&[&"", &ret]);
    }
    let mut name = TextBuffer::new(length);
    let ret = if name.is_refused() {
        call.refuse("the library names a length of more than one MiB")
    } else {
        text_of(info, size, index, name.pointer(), length)
    };
    call.many(&[&name.text(ret), &ret])
}

pub fn prof_get_op_name_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    prof_text(
        call,
        |info, size, index, length| {
            c_call!(call.returns aclprofGetOpNameLen(Pointer, usize, u32, *mut usize) -> i32, [info, size, index, length],
                or NOT_SUPPORTED)
        },
        |info, size, index, name, length| {
            c_call!(call.returns aclprofGetOpName(Pointer, usize, u32, Pointer, usize) -> i32,
                [info, size, index, name, length], or NOT_SUPPORTED)
        },
    )
}

pub fn prof_get_op_type_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    prof_text(
        call,
        |info, size, index, length| {
            c_call!(call.returns aclprofGetOpTypeLen(Pointer, usize, u32, *mut usize) -> i32, [info, size, index, length],
                or NOT_SUPPORTED)
        },
        |info, size, index, name, length| {
            c_call!(call.returns aclprofGetOpType(Pointer, usize, u32, Pointer, usize) -> i32,
                [info, size, index, name, length], or NOT_SUPPORTED)
        },
    )
}

/// Takes an argument that C does not have, and ignores it.
pub fn rt_get_group_count<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(0, 1)?;
    call.get_or_none::<u32>(0)?;
    let mut count = 0_u32;
    let ret = c_call!(call.returns aclrtGetGroupCount(*mut u32) -> i32, [&raw mut count], or NOT_SUPPORTED);
    call.many(&[&count, &ret])
}

pub fn rt_get_group_info_detail<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let info = call.get::<Pointer>(0)?;
    let group = call.get::<i32>(1)?;
    let attribute = call.get::<i32>(2)?;
    let mut values = [0_i32; 64];
    let mut size = 0_usize;
    let ret = c_call!(call.returns aclrtGetGroupInfoDetail(Pointer, i32, i32, Pointer, usize, *mut usize) -> i32,
        [info, group, attribute, Pointer::of_mut(&mut values), size_of_val(&values), &raw mut size], or NOT_SUPPORTED);
    if ret != SUCCESS {
        // The one runtime call that raises.
        let text = format!("acl.rt.get_group_info_detail failed with {ret}");
        return Err(Stop::Raised(PyRuntimeError::new_err(text)));
    }
    let count = (size / size_of::<i32>()).min(values.len());
    call.many(&[&values[..count].to_vec(), &ret])
}

pub fn rt_get_mem_uce_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device = call.get::<i32>(0)?;
    let capacity = call.get::<usize>(1)?;
    if capacity > MOST_ITEMS {
        let ret = call.refuse("acl.rt.get_mem_uce_info: array_size is over 4096");
        return call.many(&[&Vec::<i32>::new(), &ret]);
    }
    let mut infos = vec![UceInfo::NONE; capacity];
    let mut count = 0_usize;
    let ret = c_call!(call.returns aclrtGetMemUceInfo(i32, *mut UceInfo, usize, *mut usize) -> i32,
        [device, infos.as_mut_ptr(), capacity, &raw mut count], or NOT_SUPPORTED);
    infos.truncate(if ret == SUCCESS { count } else { 0 });
    call.many(&[&infos, &ret])
}

pub fn rt_get_stream_attribute<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = call.get::<Pointer>(0)?;
    let attribute = call.get::<i32>(1)?;
    // aclrtStreamAttrValue is a union of 16 bytes whose members begin at its start.
    let mut value = [0_u64; 2];
    let ret = c_call!(call.waits aclrtGetStreamAttribute(Pointer, i32, Pointer) -> i32,
        [stream, attribute, Pointer::of_mut(&mut value)], or NOT_SUPPORTED);
    let dict = pyo3::types::PyDict::new(call.py());
    if ret == SUCCESS {
        // aclrtStreamAttr, with the member of the union that goes with each; all but the first have 32 bits.
        let (key, mask) = match attribute {
            1 => ("failureMode", u64::MAX),
            2 => ("overflowSwitch", u64::from(u32::MAX)),
            3 => ("userCustomTag", u64::from(u32::MAX)),
            4 => ("cacheOpInfoSwitch", u64::from(u32::MAX)),
            5 => ("streamPriority", u64::from(u32::MAX)),
            _ => ("reserve", u64::MAX),
        };
        dict.set_item(key, value[0] & mask)?;
    }
    call.many(&[&dict.into_any(), &ret])
}

pub fn rt_ipc_mem_get_export_key<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let address = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let length = call.get::<usize>(2)?;
    let flags = call.get::<u64>(3)?;
    if length >= 1024 {
        return Err(Stop::Raised(PyValueError::new_err(
            "acl.rt.ipc_mem_get_export_key: len must be below 1024",
        )));
    }
    let mut key = vec![0_u8; length + 1];
    let ret = c_call!(call.returns aclrtIpcMemGetExportKey(Pointer, usize, Pointer, usize, u64) -> i32,
        [address, size, Pointer::of_mut(key.as_mut_slice()), length, flags], or NOT_SUPPORTED);
    call.many(&[
        &if ret == SUCCESS {
            text(&key)
        } else {
            String::new()
        },
        &ret,
    ])
}

pub fn rt_mem_set_pid_to_shareable_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let handle = call.get::<u64>(0)?;
    if call.object(1)?.cast::<pyo3::types::PyList>().is_err() {
        let text = "acl.rt.mem_set_pid_to_shareable_handle: pids must be a list";
        return Err(Stop::Raised(PyValueError::new_err(text)));
    }
    let pids = call.get::<Vec<i32>>(1)?;
    let ret = c_call!(call.returns aclrtMemSetPidToShareableHandle(u64, *const i32, usize) -> i32,
        [handle, pids.as_ptr(), pids.len()], or NOT_SUPPORTED);
    call.one(&ret)
}

/// An argument that must be callable.
fn callable<'py>(call: &Args<'py>, index: usize) -> Result<Bound<'py, PyAny>, Stop> {
    let function = call.object(index)?;
    if function.is_callable() {
        Ok(function)
    } else {
        Err(Stop::Args)
    }
}

static LAUNCH_CALLBACK: Symbol = Symbol::new(c"jumar_launch_callback");

pub fn rt_launch_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    type Callback = unsafe extern "C" fn(*mut c_void);
    call.expect(4, 4)?;
    let function = callable(call, 0)?;
    let data = call.object(1)?;
    let block = call.get::<i32>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let boxed = CallbackBox::new(Some(function), data);
    let callback: Callback = callbacks::launched;
    let ret = if LAUNCH_CALLBACK.resolve().is_some() {
        let dropped: Callback = callbacks::dropped;
        c_call!(call.waits jumar_launch_callback(Callback, Pointer, Callback, i32, Pointer) -> i32,
            [callback, boxed.pointer(), dropped, block, stream], or NOT_SUPPORTED)
    } else {
        // A library that does not report that it drops a callback.
        c_call!(call.waits aclrtLaunchCallback(Callback, Pointer, i32, Pointer) -> i32,
            [callback, boxed.pointer(), block, stream], or NOT_SUPPORTED)
    };
    if ret != SUCCESS {
        boxed.discard(call.py());
    }
    call.one(&ret)
}

pub fn rt_set_exception_info_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    type Callback = unsafe extern "C" fn(Pointer);
    call.expect(0, 1)?;
    let function = if call.len() == 0 || call.object(0)?.is_none() {
        None
    } else {
        Some(callable(call, 0)?.unbind())
    };
    let callback: Option<Callback> = function
        .as_ref()
        .map(|_| callbacks::exception_info as Callback);
    let old = EXCEPTION.replace(function);
    let ret = c_call!(call.waits aclrtSetExceptionInfoCallback(Option<Callback>) -> i32, [callback], or NOT_SUPPORTED);
    let gone = if ret == SUCCESS {
        old
    } else {
        EXCEPTION.replace(old)
    };
    drop(gone.map(|function| function.into_bound(call.py())));
    call.one(&ret)
}

type FrameCallback = unsafe extern "C" fn(Pointer, Pointer, *mut c_void);

pub fn media_vdec_set_channel_desc_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel = call.get::<Pointer>(0)?;
    let function = callable(call, 1)?;
    let callback: FrameCallback = callbacks::frame;
    let ret = c_call!(call.returns aclvdecSetChannelDescCallback(Pointer, FrameCallback) -> i32, [channel, callback],
        or NOT_SUPPORTED);
    if ret == SUCCESS {
        DECODERS.set(call.py(), channel, Some(function));
    }
    call.one(&ret)
}

pub fn media_venc_set_channel_desc_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel = call.get::<Pointer>(0)?;
    let function = callable(call, 1)?;
    let callback: FrameCallback = callbacks::frame;
    let ret = c_call!(call.returns aclvencSetChannelDescCallback(Pointer, FrameCallback) -> i32, [channel, callback],
        or NOT_SUPPORTED);
    if ret == SUCCESS {
        ENCODERS.set(call.py(), channel, Some(function));
    }
    call.one(&ret)
}

pub fn media_vdec_get_channel_desc_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel = call.get::<Pointer>(0)?;
    call.one(&DECODERS.get(call.py(), channel))
}

pub fn media_vdec_destroy_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel = call.get::<Pointer>(0)?;
    let ret =
        c_call!(call.waits aclvdecDestroyChannelDesc(Pointer) -> i32, [channel], or NOT_SUPPORTED);
    if ret == SUCCESS {
        DECODERS.set(call.py(), channel, None);
    }
    call.one(&ret)
}

pub fn media_venc_get_channel_desc_callback<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel = call.get::<Pointer>(0)?;
    call.one(&ENCODERS.get(call.py(), channel))
}

pub fn media_venc_destroy_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel = call.get::<Pointer>(0)?;
    let ret =
        c_call!(call.waits aclvencDestroyChannelDesc(Pointer) -> i32, [channel], or NOT_SUPPORTED);
    if ret == SUCCESS {
        ENCODERS.set(call.py(), channel, None);
    }
    call.one(&ret)
}

pub fn media_vdec_send_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel = call.get::<Pointer>(0)?;
    let input = call.get::<Pointer>(1)?;
    let output = call.get::<Pointer>(2)?;
    let config = call.get::<Pointer>(3)?;
    let boxed = CallbackBox::new(DECODERS.get(call.py(), channel), call.object(4)?);
    // The end of the stream has no callback, which would take the box.
    let eos = c_call!(call.returns acldvppGetStreamDescEos(Pointer) -> u8, [input], or 0);
    let ret = c_call!(call.waits aclvdecSendFrame(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32,
        [channel, input, output, config, boxed.pointer()], or NOT_SUPPORTED);
    if ret != SUCCESS || eos != 0 {
        boxed.discard(call.py());
    }
    call.one(&ret)
}

pub fn media_vdec_send_skipped_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel = call.get::<Pointer>(0)?;
    let input = call.get::<Pointer>(1)?;
    let config = call.get::<Pointer>(2)?;
    let boxed = CallbackBox::new(DECODERS.get(call.py(), channel), call.object(3)?);
    let ret = c_call!(call.waits aclvdecSendSkippedFrame(Pointer, Pointer, Pointer, Pointer) -> i32,
        [channel, input, config, boxed.pointer()], or NOT_SUPPORTED);
    if ret != SUCCESS {
        boxed.discard(call.py());
    }
    call.one(&ret)
}

pub fn media_venc_send_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel = call.get::<Pointer>(0)?;
    let input = call.get::<Pointer>(1)?;
    let reserve = call.get::<Pointer>(2)?;
    let config = call.get::<Pointer>(3)?;
    let boxed = CallbackBox::new(ENCODERS.get(call.py(), channel), call.object(4)?);
    // The end of the stream has no callback, which would take the box.
    let eos = c_call!(call.returns aclvencGetFrameConfigEos(Pointer) -> u8, [config], or 0);
    let ret = c_call!(call.waits aclvencSendFrame(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32,
        [channel, input, reserve, config, boxed.pointer()], or NOT_SUPPORTED);
    if ret != SUCCESS || eos != 0 {
        boxed.discard(call.py());
    }
    call.one(&ret)
}

/// The offset of the mode of rate control in the attributes of an encoding channel.
const RATE_MODE: usize = 60;

/// Returns the parameters of the mode of rate control that the channel has: the structure has one union for all modes.
pub fn himpi_venc_get_rc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel = call.get::<i32>(0)?;
    let mut attributes = Structure::zeroed(&HI_VENC_CHN_ATTR);
    c_call!(call.returns hi_mpi_venc_get_chn_attr(i32, Pointer) -> i32,
        [channel, attributes.pointer_mut()], or NOT_SUPPORTED);
    let mut rates = Structure::zeroed(&HI_VENC_RC_PARAM).selected(attributes.word(RATE_MODE));
    let ret = c_call!(call.returns hi_mpi_venc_get_rc_param(i32, Pointer) -> i32,
        [channel, rates.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&rates.described(ret), &media_code(ret)])
}

/// Returns the events as a list: C writes them to an array, whose length is the program's.
pub fn himpi_sys_wait_epoll<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let set = call.get::<i32>(0)?;
    let most = call.get::<i32>(1)?;
    let timeout = call.get::<i32>(2)?;
    let mut events = StructureSpace::new(&HI_DVPP_EPOLL_EVENT, usize::try_from(most).unwrap_or(0));
    // A number without space is the library's to refuse.
    let most = match most {
        1.. => i32::try_from(events.space()).unwrap_or(i32::MAX),
        refused => refused,
    };
    let mut found = 0_i32;
    let ret = c_call!(call.waits hi_mpi_sys_wait_epoll(i32, Pointer, i32, i32, *mut i32) -> i32,
        [set, events.pointer_mut(), most, timeout, &raw mut found], or NOT_SUPPORTED);
    let found = match ret {
        SUCCESS => found,
        _ => 0,
    };
    let count = usize::try_from(found).unwrap_or(0);
    call.many(&[&events.first(count), &found, &media_code(ret)])
}
