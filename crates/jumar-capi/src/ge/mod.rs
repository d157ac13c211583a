//! Below the C++ headers of the Graph Engine: a few wide functions. A program never calls them itself.

use std::ffi::{c_char, c_void};

use jumar_acl::{Call, Span};
use jumar_ge::HostTensor;

use crate::raw;

/// Takes the reply of a call, before the call returns.
pub type Sink = unsafe extern "C" fn(user: *mut c_void, bytes: *const c_void, size: usize);

/// Hears of the end of a run that was queued.
pub type Done =
    unsafe extern "C" fn(user: *mut c_void, status: u32, bytes: *const c_void, size: usize);

/// A tensor of a program.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Tensor {
    dims: *const i64,
    rank: usize,
    dtype: i32,
    format: i32,
    data: *mut c_void,
    bytes: usize,
    /// Whether the contents are to be read on the host now.
    on_host: u64,
}

// SAFETY: numbers and addresses; every pattern of bits is a value.
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

/// Does what `name` says with a message of the headers.
///
/// # Safety
/// `name` ends in a zero byte; `message` has `size` bytes; `sink` is null or takes `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_ge_call(
    name: *const c_char,
    message: *const u8,
    size: usize,
    sink: Option<Sink>,
    user: *mut c_void,
) -> u32 {
    let answer = raw::surface(&CALL, |_| {
        // SAFETY: the caller's contract.
        let name = unsafe { raw::text(name) };
        let message = if size == 0 {
            Some(&[][..])
        } else {
            // SAFETY: the caller's contract.
            unsafe { raw::slice::<u8>(message, size, "message") }?
        };
        let (Some(name), Some(message)) = (name.and_then(|name| name.to_str().ok()), message)
        else {
            return Ok(Err(jumar_ge::FAILED));
        };
        Ok(jumar_ge::call(name, message))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    // SAFETY: the caller's contract.
    unsafe { reply(answer, sink, user) }
}

/// Reads tensors of a program.
///
/// # Safety
/// `list` has `count` tensors; what they say about their memory is so.
unsafe fn tensors(list: *const Tensor, count: usize) -> jumar_acl::Result<Vec<HostTensor>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's contract.
    let list = unsafe { raw::slice::<Tensor>(list, count, "tensors") }?.unwrap_or_default();
    let mut all = Vec::with_capacity(list.len());
    for tensor in list {
        let dims = if tensor.rank == 0 {
            &[][..]
        } else {
            // SAFETY: the caller's contract.
            unsafe { raw::slice::<i64>(tensor.dims, tensor.rank, "dims") }?.unwrap_or_default()
        };
        let bytes = if tensor.on_host != 0 && tensor.bytes > 0 {
            // SAFETY: the caller's contract.
            unsafe { raw::slice::<u8>(tensor.data.cast_const().cast(), tensor.bytes, "data") }?
                .unwrap_or_default()
                .to_vec()
        } else {
            Vec::new()
        };
        all.push(HostTensor {
            dims: dims.to_vec(),
            dtype: tensor.dtype,
            format: tensor.format,
            // SAFETY: the program vouches for its memory; what is used as device memory is looked up first.
            span: unsafe {
                Span::trusted(
                    tensor.data.addr(),
                    if tensor.data.is_null() {
                        0
                    } else {
                        tensor.bytes
                    },
                )
            },
            bytes,
        });
    }
    Ok(all)
}

/// Runs a graph: `how` is 0 to wait, 1 to run on `stream`, 2 to run on it what was loaded, 3 to wait for a graph that may
/// have been compiled.
///
/// # Safety
/// The lists have as many tensors as is said, which say the truth about their memory; `sink` is null or takes `user`.
#[unsafe(no_mangle)]
#[allow(
    clippy::too_many_arguments,
    reason = "one function for all ways to run"
)]
pub unsafe extern "C" fn jumar_ge_run(
    how: u32,
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
    let answer = raw::surface(&RUN, |_| {
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count) }?;
        // SAFETY: the caller's contract.
        let outputs = unsafe { tensors(outputs, output_count) }?;
        let stream = stream.addr() as u64;
        Ok(jumar_ge::run(how, session, graph, stream, inputs, &outputs))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    // SAFETY: the caller's contract.
    unsafe { reply(answer, sink, user) }
}

/// A program's pointer, on its way to the thread that gives it back.
struct Passed(*mut c_void);

// SAFETY: nothing is done with it but handing it to the program's function, once; the program expects that on another
// thread.
unsafe impl Send for Passed {}

impl Passed {
    fn get(&self) -> *mut c_void {
        self.0
    }
}

/// Queues a run of a graph from host memory: `how` is 3 for a graph that may have been compiled, else 0.
///
/// # Safety
/// The list has as many tensors as is said, which say the truth about their memory; `done` takes `user` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_ge_run_async(
    how: u32,
    session: u64,
    graph: u32,
    inputs: *const Tensor,
    input_count: usize,
    done: Done,
    user: *mut c_void,
) -> u32 {
    let answer = raw::surface(&RUN, |_| {
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count) }?;
        let user = Passed(user);
        let told = Box::new(move |status: u32, bytes: &[u8]| {
            // SAFETY: the caller's contract; the bytes live until it returns.
            unsafe { done(user.get(), status, bytes.as_ptr().cast(), bytes.len()) };
        });
        Ok(jumar_ge::run_async(how, session, graph, inputs, told))
    })
    .unwrap_or(Err(jumar_ge::FAILED));
    answer.err().unwrap_or(jumar_ge::SUCCESS)
}
