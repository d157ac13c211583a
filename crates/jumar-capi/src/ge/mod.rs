//! The functions below the C++ library of the Graph Engine (`crates/jumar-ge/cpp`). A program never calls them itself.
//!
//! Each takes the version of its caller first, and refuses another one than its own before it reads anything else.

use std::ffi::c_void;
use std::ptr;

use jumar_acl::{Call, Span};
use jumar_ge::HostTensor;

use crate::raw;

/// Takes the reply of a call, before the call returns.
pub type Sink = unsafe extern "C" fn(user: *mut c_void, bytes: *const c_void, size: usize);

/// Called at the end of a run that was queued.
pub type Done =
    unsafe extern "C" fn(user: *mut c_void, status: u32, bytes: *const c_void, size: usize);

/// A tensor of a program. Addresses are numbers here, so that every pattern of bits is a value.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Tensor {
    /// The address of `rank` dimensions.
    dims: usize,
    rank: usize,
    dtype: i32,
    format: i32,
    /// The address of the contents.
    data: usize,
    bytes: usize,
    /// Whether the contents are to be read on the host now.
    on_host: u64,
}

// SAFETY: integers, in the layout of C.
unsafe impl raw::Plain for Tensor {}

static CALL: Call = Call {
    name: "a call of the Graph Engine",
    number: u16::MAX as _,
};

/// A graph that runs.
static RUN: Call = Call {
    name: "a run of a graph",
    number: u16::MAX as _,
};

/// Lets the checks know of a call that fails, while it is under way.
fn reported<T>(answer: Result<T, u32>) -> Result<T, u32> {
    if let Err(status) = &answer {
        jumar_acl::observers::graph_engine_failed(*status, &jumar_ge::last_error());
    }
    answer
}

/// Hands a reply over.
///
/// # Safety
/// `sink` is null or a function that takes `user`.
unsafe fn reply(answer: Result<Vec<u8>, u32>, sink: Option<Sink>, user: *mut c_void) -> u32 {
    match answer {
        Ok(bytes) => {
            if let Some(sink) = sink {
                // SAFETY: the caller's contract; the bytes live until it returns.
                unsafe { sink(user, bytes.as_ptr().cast(), bytes.len()) };
            }
            jumar_ge::SUCCESS
        }
        Err(status) => status,
    }
}

/// Returns the version of the calls.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_ge_version() -> u32 {
    jumar_ge::VERSION
}

/// Performs the call of a number with a message.
///
/// # Safety
/// `message` has `size` bytes; `sink` is null or takes `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_ge_call(
    version: u32,
    call: u32,
    message: *const u8,
    size: usize,
    sink: Option<Sink>,
    user: *mut c_void,
) -> u32 {
    let answer = raw::frontend(&CALL, |_| {
        let message = if size == 0 {
            Ok(Some(&[][..]))
        } else {
            // SAFETY: the caller's contract.
            unsafe { raw::slice::<u8>(message, size, "message") }
        };
        Ok(reported(match message {
            Ok(message) => jumar_ge::call(version, call, message.unwrap_or_default()),
            Err(error) => Err(jumar_ge::refuse(error.sentence())),
        }))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    // SAFETY: the caller's contract.
    unsafe { reply(answer, sink, user) }
}

/// Reads a tensor of a program.
///
/// # Errors
/// `InvalidArgument`, `InvalidValue`: the dimensions or the contents cannot lie where the tensor states.
///
/// # Safety
/// The dimensions, and the contents where they are read on the host, lie where the tensor states.
unsafe fn tensor(tensor: &Tensor) -> jumar_acl::Result<HostTensor> {
    let dims = if tensor.rank == 0 {
        &[][..]
    } else {
        let dims = ptr::with_exposed_provenance::<i64>(tensor.dims);
        // SAFETY: the caller's contract.
        unsafe { raw::slice(dims, tensor.rank, "dims") }?.unwrap_or_default()
    };
    let data = ptr::with_exposed_provenance::<u8>(tensor.data);
    let span = if data.is_null() {
        Span::EMPTY
    } else {
        // SAFETY: the program guarantees its memory; what is used as device memory is looked up first.
        unsafe { raw::span(data.cast(), tensor.bytes, "data") }?
    };
    let bytes = if tensor.on_host != 0 && !span.is_empty() {
        // SAFETY: the caller's contract.
        unsafe { raw::slice(data, tensor.bytes, "data") }?.unwrap_or_default()
    } else {
        &[][..]
    };
    Ok(HostTensor {
        dims: dims.to_vec(),
        dtype: tensor.dtype,
        format: tensor.format,
        span,
        bytes: bytes.to_vec(),
    })
}

/// Reads tensors of a program.
///
/// # Errors
/// The status; the text is kept for the thread.
///
/// # Safety
/// `list` has `count` tensors, each as in [`fn@tensor`].
unsafe fn tensors(list: *const Tensor, count: usize, what: &str) -> Result<Vec<HostTensor>, u32> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's contract.
    let list = unsafe { raw::slice(list, count, what) };
    let list = list.map_err(|error| jumar_ge::refuse(error.sentence()))?;
    let read = list.unwrap_or_default().iter().enumerate();
    read.map(|(index, one)| {
        // SAFETY: the caller's contract.
        let read = unsafe { tensor(one) };
        read.map_err(|error| jumar_ge::refuse(format!("{what} {index}: {}", error.sentence())))
    })
    .collect()
}

/// Runs a graph in one of the modes of `api/ge/calls.toml`.
///
/// # Safety
/// The lists have as many tensors as their counts, which describe their memory correctly; `sink` is null or takes `user`.
#[unsafe(no_mangle)]
#[allow(
    clippy::too_many_arguments,
    reason = "one function for all ways to run"
)]
pub unsafe extern "C" fn jumar_ge_run(
    version: u32,
    mode: u32,
    session: u64,
    graph: u32,
    stream: *mut c_void,
    inputs: *const Tensor,
    input_count: usize,
    outputs: *const Tensor,
    output_count: usize,
    sink: Option<Sink>,
    user: *mut c_void,
) -> u32 {
    let answer = raw::frontend(&RUN, |_| {
        if let Err(status) = jumar_ge::check_version(version) {
            return Ok(Err(status));
        }
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count, "input") };
        // SAFETY: the caller's contract.
        let outputs = unsafe { tensors(outputs, output_count, "output") };
        let stream = stream.addr() as u64;
        Ok(reported(inputs.and_then(|inputs| {
            jumar_ge::run(mode, session, graph, stream, &inputs, &outputs?)
        })))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    // SAFETY: the caller's contract.
    unsafe { reply(answer, sink, user) }
}

/// What is called once at the end of a run that was queued: on the thread of the queue, or here where the run is refused.
struct RunCompletion {
    done: Done,
    user: *mut c_void,
}

// SAFETY: `user` is only handed to the program's function, once; the program expects that on another thread.
unsafe impl Send for RunCompletion {}

impl RunCompletion {
    /// Calls the program's function.
    ///
    /// # Safety
    /// The function takes `user`, on any thread.
    unsafe fn call(self, status: u32, bytes: &[u8]) {
        let (contents, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the caller's contract; the bytes live until it returns.
        unsafe { (self.done)(self.user, status, contents, size) };
    }
}

/// Queues a run of a graph in one of the modes of `api/ge/calls.toml` that run from host memory. `done` is called once, also where
/// the run is refused.
///
/// # Safety
/// The list has as many tensors as its count, which describe their memory correctly; `done` takes `user` on any thread.
#[unsafe(no_mangle)]
#[allow(
    clippy::too_many_arguments,
    reason = "one function for all ways to run"
)]
pub unsafe extern "C" fn jumar_ge_run_async(
    version: u32,
    mode: u32,
    session: u64,
    graph: u32,
    inputs: *const Tensor,
    input_count: usize,
    done: Done,
    user: *mut c_void,
) -> u32 {
    let mut ended = Some(RunCompletion { done, user });
    let answer = raw::frontend(&RUN, |_| {
        if let Err(status) = jumar_ge::check_version(version) {
            return Ok(Err(status));
        }
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count, "input") };
        Ok(reported(inputs.and_then(|inputs| {
            let Some(ended) = ended.take() else {
                return Err(jumar_ge::FAILED);
            };
            let done = Box::new(move |status: u32, bytes: &[u8]| {
                // SAFETY: the caller's contract.
                unsafe { ended.call(status, bytes) };
            });
            jumar_ge::run_async(mode, session, graph, inputs, done)
        })))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    let status = answer.err().unwrap_or(jumar_ge::SUCCESS);
    if let Some(ended) = ended {
        // SAFETY: the caller's contract.
        unsafe { ended.call(status, &[]) };
    }
    status
}

/// Answers a request about custom operators. A status other than 0 comes with the text of the error as the reply.
pub type Custom =
    unsafe extern "C" fn(message: *const c_void, size: usize, sink: Sink, user: *mut c_void) -> u32;

/// Takes a reply of [`Custom`] into the `Vec<u8>` that `user` is.
///
/// # Safety
/// `user` is a `Vec<u8>` that nothing else uses; `bytes` has `size` bytes.
unsafe extern "C" fn collect(user: *mut c_void, bytes: *const c_void, size: usize) {
    if bytes.is_null() || size == 0 {
        return;
    }
    // SAFETY: the caller's contract.
    let (reply, bytes) = unsafe {
        (
            &mut *user.cast::<Vec<u8>>(),
            std::slice::from_raw_parts(bytes.cast::<u8>(), size),
        )
    };
    reply.extend_from_slice(bytes);
}

/// Sets the function that answers requests about custom operators; null is ignored.
///
/// # Safety
/// The function can be called on any thread as long as the process lives, with a message of the size that is passed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_ge_set_custom(version: u32, custom: Option<Custom>) -> u32 {
    if let Err(status) = jumar_ge::check_version(version) {
        return status;
    }
    if let Some(custom) = custom {
        jumar_ge::set_custom_handler(Box::new(move |message| {
            let mut reply = Vec::new();
            let user = (&raw mut reply).cast();
            // SAFETY: the caller's contract; the function calls `collect` with `user` before it returns.
            let status = unsafe { custom(message.as_ptr().cast(), message.len(), collect, user) };
            if status == jumar_ge::SUCCESS {
                Ok(reply)
            } else {
                Err(String::from_utf8_lossy(&reply).into_owned())
            }
        }));
    }
    jumar_ge::SUCCESS
}

#[cfg(test)]
mod tests;
