//! The functions below the C++ library of transformers, `libatb.so` (`crates/jumar-capi/cpp`). A program never calls them itself.
//!
//! Each takes the version of its caller first, and refuses another one than its own before it reads anything else.

#![expect(
    clippy::missing_safety_doc,
    reason = "the C++ library is the only caller: it describes its arguments correctly"
)]

use std::ffi::{c_char, c_void};

use jumar_acl::atb::{self, Failure, Given, Number, Status, Tensor};

use crate::acl::{Call, Cx, Raw, Result};
use crate::raw;

/// The version of the calls.
const VERSION: u32 = 1;

/// The most dimensions of a tensor.
const MOST_DIMS: usize = 8;

/// A parameter of an operation.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Field {
    /// The address of its name.
    name: usize,
    /// 0: an integer. 1: the bits of a double.
    kind: u64,
    bits: u64,
}

// SAFETY: integers, in the layout of C.
unsafe impl raw::Plain for Field {}

/// The type, format and shape of a tensor, as `atb::TensorDesc` has them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Desc {
    dtype: i32,
    format: i32,
    dims: [i64; MOST_DIMS],
    count: u64,
}

// SAFETY: integers, in the layout of C.
unsafe impl raw::Plain for Desc {}

/// A tensor, as `atb::Tensor` has it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pointers {
    desc: Desc,
    device: usize,
    host: usize,
    bytes: u64,
}

// SAFETY: integers, in the layout of C.
unsafe impl raw::Plain for Pointers {}

static CREATE: Call = raw::operator::call("atb::CreateOperation");
static DESTROY: Call = raw::operator::call("atb::DestroyOperation");
static DESCRIBE: Call = raw::operator::call("atb::Operation::GetInputNum");
static INFER: Call = raw::operator::call("atb::Operation::InferShape");
static SETUP: Call = raw::operator::call("atb::Operation::Setup");
static EXECUTE: Call = raw::operator::call("atb::Operation::Execute");
static PREPARE: Call = raw::operator::call("AtbGetWorkspaceSize");
static RUN: Call = raw::operator::call("AtbExecute");
static REFUSE: Call = raw::operator::call("atb::Operation");

/// Runs a call of the library.
fn status(
    version: u32,
    call: &'static Call,
    mut body: impl FnMut(&Cx<'_>) -> std::result::Result<(), Failure>,
) -> i32 {
    if version != VERSION {
        // The library and this one come from different installations.
        return Status::Internal as i32;
    }
    raw::status(call, |cx| {
        raw::trace(cx, || [])?;
        atb::answer(cx, || body(cx))
    })
}

/// Wraps what the boundary refuses.
fn internal<T>(found: Result<T>) -> std::result::Result<T, Failure> {
    found.map_err(Failure::internal)
}

fn missing(what: &str) -> Failure {
    Failure::missing(what)
}

/// Reads the parameters of an operation.
unsafe fn fields<'a>(
    fields: *const Field,
    count: usize,
) -> std::result::Result<Vec<(&'a str, Number)>, Failure> {
    // SAFETY: the caller's contract.
    let fields = internal(unsafe { raw::slice(fields, count, "parameters") })?;
    let fields = fields.unwrap_or_default().iter();
    Ok(fields
        .map(|field| {
            let name = std::ptr::with_exposed_provenance::<c_char>(field.name);
            // SAFETY: the caller's contract: names are literals.
            let name = unsafe { raw::text(name) };
            let value = match field.kind {
                0 => Number::Int(field.bits.cast_signed()),
                _ => Number::Float(f64::from_bits(field.bits)),
            };
            (
                name.and_then(|name| name.to_str().ok()).unwrap_or(""),
                value,
            )
        })
        .collect())
}

/// Reads a name.
unsafe fn name<'a>(text: *const c_char) -> std::result::Result<&'a str, Failure> {
    // SAFETY: the caller's contract.
    let text = unsafe { raw::text(text) };
    text.and_then(|text| text.to_str().ok())
        .ok_or_else(|| missing("name"))
}

fn shape(desc: &Desc) -> std::result::Result<&[i64], Failure> {
    usize::try_from(desc.count)
        .ok()
        .and_then(|count| desc.dims.get(..count))
        .ok_or_else(|| Failure::dims(desc.count))
}

/// Reads the tensors of a call.
unsafe fn tensors<'a>(
    tensors: *const Pointers,
    count: usize,
) -> std::result::Result<Vec<Given<'a>>, Failure> {
    if count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the caller's contract.
    let tensors = internal(unsafe { raw::slice(tensors, count, "tensors") })?;
    let tensors = tensors.unwrap_or_default().iter();
    tensors
        .map(|tensor| {
            let host = match tensor.host != 0 {
                true => {
                    let bytes = usize::try_from(tensor.bytes).unwrap_or(usize::MAX);
                    let host = std::ptr::with_exposed_provenance::<u8>(tensor.host);
                    // SAFETY: the program guarantees host memory of as many bytes as it states.
                    internal(unsafe { raw::slice(host, bytes, "hostData") })?
                }
                false => None,
            };
            Ok(Given {
                tensor: Tensor {
                    dtype: tensor.desc.dtype,
                    format: tensor.desc.format,
                    dims: shape(&tensor.desc)?,
                    bytes: Some(tensor.bytes),
                    host,
                    on_device: tensor.device != 0,
                },
                address: tensor.device,
            })
        })
        .collect()
}

/// Creates an operation from parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_create(
    version: u32,
    operation_name: *const c_char,
    list: *const Field,
    count: usize,
    operation: *mut u64,
) -> i32 {
    status(version, &CREATE, |cx| {
        // SAFETY: the caller's contract.
        let (name, fields) = unsafe { (name(operation_name)?, fields(list, count)?) };
        // SAFETY: the caller's contract.
        let out = internal(unsafe { raw::Out::<u64>::new(operation, "operation") })?;
        out.set(atb::create(cx, name, &fields)?.0);
        Ok(())
    })
}

/// Destroys an operation.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_atb_destroy(version: u32, operation: u64) -> i32 {
    status(version, &DESTROY, |cx| atb::destroy(cx, Raw(operation)))
}

/// Returns the number of inputs and outputs of an operation, and the address of its name, which stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_describe(
    version: u32,
    operation: u64,
    inputs: *mut u32,
    outputs: *mut u32,
    text: *mut c_char,
    capacity: usize,
) -> i32 {
    status(version, &DESCRIBE, |cx| {
        // SAFETY: the caller's contract.
        let inputs = internal(unsafe { raw::Out::<u32>::new(inputs, "inputs") })?;
        // SAFETY: the caller's contract.
        let outputs = internal(unsafe { raw::Out::<u32>::new(outputs, "outputs") })?;
        // SAFETY: the caller's contract.
        let text = internal(unsafe { raw::OutArray::<u8>::new(text.cast(), capacity, "name") })?;
        let (name, ins, outs) = atb::describe(cx, Raw(operation))?;
        inputs.set(ins as u32);
        outputs.set(outs as u32);
        let mut bytes = name.as_bytes().to_vec();
        bytes.truncate(capacity.saturating_sub(1));
        bytes.push(0);
        internal(text.set(&bytes))
    })
}

/// Finds the descriptions of the outputs. `outputs` has as many as the operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_infer(
    version: u32,
    operation: u64,
    inputs: *const Desc,
    count: usize,
    outputs: *mut Desc,
    capacity: usize,
) -> i32 {
    status(version, &INFER, |cx| {
        // SAFETY: the caller's contract.
        let inputs = internal(unsafe { raw::slice(inputs, count, "inTensorDescs") })?;
        // SAFETY: the caller's contract.
        let out =
            internal(unsafe { raw::OutArray::<Desc>::new(outputs, capacity, "outTensorDescs") })?;
        let inputs = inputs.unwrap_or_default().iter().map(|desc| {
            Ok(Tensor {
                dtype: desc.dtype,
                format: desc.format,
                dims: shape(desc)?,
                bytes: None,
                host: None,
                on_device: false,
            })
        });
        let inputs = inputs.collect::<std::result::Result<Vec<_>, Failure>>()?;
        let found = atb::infer_shape(cx, Raw(operation), &inputs)?;
        let descs = found.iter().map(|found| {
            let mut dims = [0; MOST_DIMS];
            dims[..found.dims.len()].copy_from_slice(&found.dims);
            Desc {
                dtype: found.dtype.acl(),
                format: found.format,
                dims,
                count: found.dims.len() as u64,
            }
        });
        internal(out.set(&descs.collect::<Vec<_>>()))
    })
}

/// Checks a call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_setup(
    version: u32,
    operation: u64,
    inputs: *const Pointers,
    input_count: usize,
    outputs: *const Pointers,
    output_count: usize,
) -> i32 {
    status(version, &SETUP, |cx| {
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count) }?;
        // SAFETY: the caller's contract.
        let outputs = unsafe { tensors(outputs, output_count) }?;
        atb::setup(cx, Raw(operation), &inputs, &outputs)
    })
}

/// Queues a call on a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_execute(
    version: u32,
    operation: u64,
    inputs: *const Pointers,
    input_count: usize,
    outputs: *const Pointers,
    output_count: usize,
    stream: *mut c_void,
) -> i32 {
    status(version, &EXECUTE, |cx| {
        // SAFETY: the caller's contract.
        let inputs = unsafe { tensors(inputs, input_count) }?;
        // SAFETY: the caller's contract.
        let outputs = unsafe { tensors(outputs, output_count) }?;
        atb::execute(cx, Raw(operation), &inputs, &outputs, raw::handle(stream))
    })
}

/// Prepares a call of a function that takes tensors of single operators. `operation` is 0 for a new one.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "both lists and the parameters")]
pub unsafe extern "C" fn jumar_atb_prepare(
    version: u32,
    operation_name: *const c_char,
    list: *const Field,
    count: usize,
    inputs: *const *const c_void,
    input_count: usize,
    outputs: *const *const c_void,
    output_count: usize,
    operation: *mut u64,
) -> i32 {
    status(version, &PREPARE, |cx| {
        // SAFETY: the caller's contract.
        let (name, fields) = unsafe { (name(operation_name)?, fields(list, count)?) };
        // SAFETY: the caller's contract; an address is as long as a pointer.
        let inputs = internal(unsafe { raw::slice::<u64>(inputs.cast(), input_count, "inputs") })?;
        // SAFETY: as above.
        let outputs =
            internal(unsafe { raw::slice::<u64>(outputs.cast(), output_count, "outputs") })?;
        // SAFETY: the caller's contract.
        let slot = internal(unsafe { raw::InOut::<u64>::new(operation, "op") })?;
        let handles = |list: Option<&[u64]>| {
            let list = list.unwrap_or_default().iter();
            list.map(|handle| Raw(*handle)).collect::<Vec<_>>()
        };
        let (inputs, outputs) = (handles(inputs), handles(outputs));
        let existing = Raw(slot.get());
        slot.set(atb::prepare(cx, existing, (name, &fields), &inputs, &outputs)?.0);
        Ok(())
    })
}

/// Queues the call that was prepared last.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_atb_run(version: u32, operation: u64, stream: *mut c_void) -> i32 {
    status(version, &RUN, |cx| {
        atb::run_prepared(cx, Raw(operation), raw::handle(stream))
    })
}

/// Refuses a call for a reason that the library found itself: keeps the sentence, and returns the status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_atb_refuse(version: u32, code: i32, sentence: *const c_char) -> i32 {
    status(version, &REFUSE, |_| {
        // SAFETY: the caller's contract.
        atb::refuse(code, unsafe { name(sentence) }?)
    })
}
