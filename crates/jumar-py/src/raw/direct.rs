//! Runs of a model on the calling thread, for the package `jumar`: inputs in, execution and outputs in one call.
//!
//! A run takes inputs whose elements lie where they can be copied from: arrays of NumPy and of the package. For anything else, and for
//! whatever deserves an exception about its inputs, the package does the same step by step.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi as capi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use super::ffi::*;
use super::python;
use super::table::Method;

const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_HOST: i32 = 2;
/// ACL_MODEL_RI_CAPTURE_MODE_RELAXED
const RELAXED: i32 = 2;
/// Models of more inputs or outputs run step by step.
const MOST: usize = 4;

/// What the runs of a model have in common.
#[pyclass(frozen, module = "acl", name = "_DirectRuns")]
pub struct DirectRuns {
    context: u64,
    model: u32,
    /// Whether runs may go this way.
    few: bool,
    /// The slot of the first run at a time, and the package's object that owns it; it is in the package's list only after the model was closed.
    first: Option<(Slot, Py<PyAny>)>,
    /// Whether a run has the first slot, or the package's list, or there is none.
    first_taken: AtomicBool,
    /// The package's list of slots that no run has.
    free: Py<PyList>,
    /// Whether the model was closed: slots that come back are released.
    closed: AtomicBool,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// The package's class of arrays in pinned memory.
    array: Py<PyType>,
    /// The class of the dict of outputs.
    made: Py<PyType>,
    /// NumPy's class of arrays, where the process has imported it.
    numpy: Option<Py<PyType>>,
}

/// An input of the model.
struct Input {
    name: Py<PyString>,
    dtype: Py<PyAny>,
    /// NumPy's letter for the type and the bytes of an element.
    kind: (u8, usize),
    shape: Py<PyTuple>,
    dims: Vec<isize>,
    bytes: usize,
    /// NumPy's object for the type in this machine's byte order. There is one for each type, to which arrays refer.
    descr: Option<Py<PyAny>>,
}

/// An output of the model.
struct Output {
    name: Py<PyString>,
    /// Shape and type of the elements.
    ty: Py<PyTuple>,
    bytes: usize,
}

#[pymethods]
impl DirectRuns {
    /// Hands the slots back: that of a run which is under way when the run has ended.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.closed.store(true, Ordering::SeqCst);
        self.give_back_first(py)
    }
}

/// Makes what the runs of a model have in common. Takes context, model, inputs and outputs (each: name, type of the elements, shape),
/// the class of arrays, the list of free slots, and the class of dicts of outputs.
pub fn direct_runs<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let py = call.py();
    let read = || -> PyResult<DirectRuns> {
        type Port<'py> = (Bound<'py, PyString>, Bound<'py, PyAny>, Bound<'py, PyTuple>);
        let ports = |index: usize| -> PyResult<Vec<(Port<'py>, Vec<isize>, usize)>> {
            let ports: Vec<Port<'py>> = argument(call, index)?.extract()?;
            let measured = ports.into_iter().map(|port| {
                let dims: Vec<isize> = port.2.extract()?;
                let size: usize = port.1.getattr("size")?.extract()?;
                let bytes = dims.iter().try_fold(size, |bytes, &dim| {
                    bytes.checked_mul(usize::try_from(dim).ok()?)
                });
                let bytes =
                    bytes.ok_or_else(|| PyMemoryError::new_err("a shape that is too large"))?;
                Ok((port, dims, bytes))
            });
            measured.collect()
        };
        let numpy = imported(py, "numpy");
        let numpy = numpy.as_ref();
        let class = numpy.and_then(|numpy| numpy.getattr("ndarray").ok()?.cast_into().ok());
        let inputs = ports(2)?
            .into_iter()
            .map(|((name, dtype, shape), dims, bytes)| {
                let typestr: String = dtype.getattr("typestr")?.extract()?;
                let descr = numpy.and_then(|numpy| numpy.call_method1("dtype", (&typestr,)).ok());
                Ok(Input {
                    name: name.unbind(),
                    descr: descr.map(Bound::unbind),
                    kind: (
                        typestr.as_bytes().get(1).copied().unwrap_or(0),
                        dtype.getattr("size")?.extract()?,
                    ),
                    dtype: dtype.unbind(),
                    shape: shape.unbind(),
                    dims,
                    bytes,
                })
            });
        let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
        let outputs = ports(3)?
            .into_iter()
            .map(|((name, dtype, shape), _, bytes)| {
                Ok(Output {
                    name: name.unbind(),
                    ty: PyTuple::new(py, [shape.into_any(), dtype])?.unbind(),
                    bytes,
                })
            });
        let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
        let few = inputs.len() <= MOST && outputs.len() <= MOST;
        let free = argument(call, 5)?.cast_into::<PyList>()?;
        let first = match free.len().checked_sub(1) {
            Some(last) if few => {
                let object = free.get_item(last)?;
                let slot = Slot::read(&object, inputs.len(), outputs.len());
                if slot.is_some() {
                    free.del_item(last)?;
                }
                slot.map(|slot| (slot, object.unbind()))
            }
            _ => None,
        };
        Ok(DirectRuns {
            first_taken: AtomicBool::new(first.is_none()),
            first,
            context: argument(call, 0)?.extract()?,
            model: argument(call, 1)?.extract()?,
            few,
            inputs,
            outputs,
            array: argument(call, 4)?.extract()?,
            made: argument(call, 6)?.extract()?,
            free: free.unbind(),
            closed: AtomicBool::new(false),
            numpy: class.map(Bound::unbind),
        })
    };
    Ok(Bound::new(py, read()?)?.into_any())
}

fn argument<'py>(call: &Args<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
    call.object(index)
        .map_err(|_| pyo3::exceptions::PyTypeError::new_err("too few arguments"))
}

/// Returns a module that the process has imported.
fn imported<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    let modules = py.import("sys").ok()?.getattr("modules").ok()?;
    modules.get_item(name).ok()
}

/// Where the elements of an input lie, and what keeps the memory.
struct Source<'py> {
    address: Pointer,
    _owner: Bound<'py, PyAny>,
}

/// Device memory and bindings of one run, as the package keeps them: the addresses of inputs and of outputs, and both datasets.
struct Slot {
    inputs: [u64; MOST],
    outputs: [u64; MOST],
    datasets: [u64; 2],
}

/// Makes the method `__call__` of the class of models. Takes the class and the documentation. Runs that do not go this way are those of the
/// class's method `_step_by_step`, and `_failed` raises the exception for the name of a function and its code.
pub fn model_call<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let class = call.object(0)?;
    let class = class.cast::<PyType>().map_err(|_| Stop::Args)?;
    let text: String = call.object(1)?.extract()?;
    let doc = CString::new(format!(
        "__call__($self, inputs, stream=None)\n--\n\n{text}"
    ));
    // What CPython reads lives as long as the process.
    let doc = Box::leak(doc.map_err(|_| Stop::Args)?.into_boxed_c_str());
    let method = Method::with_keywords(c"__call__", call_model, doc);
    let method: &'static Method = Box::leak(Box::new(method));
    // SAFETY: a class, and a definition that lives as long as the process; neither is written.
    let made = unsafe { capi::PyDescr_NewMethod(class.as_type_ptr(), method.as_ptr()) };
    // SAFETY: a new reference, or null with an exception set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(call.py(), made) }?)
}

/// `Model.__call__`.
unsafe extern "C" fn call_model(
    model: *mut capi::PyObject,
    args: *mut capi::PyObject,
    names: *mut capi::PyObject,
) -> *mut capi::PyObject {
    // SAFETY: CPython calls this with the interpreter attached and an instance of the class.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: a live object, borrowed for the call.
    let model = unsafe { Bound::from_borrowed_ptr(py, model) };
    // SAFETY: a tuple, borrowed for the call.
    let args = unsafe { Bound::from_borrowed_ptr(py, args).cast_into_unchecked::<PyTuple>() };
    // SAFETY: a dict, borrowed for the call, or null.
    let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, names) };
    if super::source_location::is_wanted() {
        // SAFETY: attached already; a wrapper does the same.
        unsafe { Python::attach_unchecked(super::source_location::report) };
    }
    guarded(c"jumar.Model.__call__ failed", || {
        if args.len() == 1
            && names.is_none()
            && let Some(made) = run_directly(&model, &args.get_item(0)?)?
        {
            return Ok(made);
        }
        let names = names.map(|names| names.cast_into::<PyDict>());
        let names = names.transpose().map_err(|_| Stop::Args)?;
        Ok(model.call_method(intern!(py, "_step_by_step"), args, names.as_ref())?)
    })
}

/// Runs a model on the calling thread. Returns a dict of arrays; `None`, if the run has to be done step by step.
fn run_directly<'py>(
    model: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyAny>,
) -> Result<Option<Bound<'py, PyAny>>, Stop> {
    let py = model.py();
    let Some(runs) = attribute(model, intern!(py, "_runs")) else {
        return Ok(None);
    };
    let Ok(runs) = runs.cast_exact::<DirectRuns>() else {
        return Ok(None);
    };
    let runs = runs.get();
    let Some(sources) = runs.sources(inputs) else {
        return Ok(None);
    };
    let call = AttachedThread(py);
    let mut context = Pointer::default();
    let ret = c_call!(call.returns aclrtGetCurrentContext(*mut Pointer) -> i32, [&raw mut context], or NOT_SUPPORTED);
    if ret != SUCCESS || context.number() != runs.context {
        return Ok(None);
    }
    let outcome = match &runs.first {
        Some((first, _)) if !runs.first_taken.swap(true, Ordering::SeqCst) => {
            let outcome = runs.run(call, first, &sources);
            runs.first_taken.store(false, Ordering::SeqCst);
            outcome
        }
        _ => {
            let free = runs.free.bind(py);
            let Some(last) = free.len().checked_sub(1) else {
                return Ok(None);
            };
            let object = free.get_item(last)?;
            let Some(slot) = Slot::read(&object, runs.inputs.len(), runs.outputs.len()) else {
                return Ok(None);
            };
            free.del_item(last)?;
            let outcome = runs.run(call, &slot, &sources);
            free.append(object)?;
            outcome
        }
    };
    if runs.closed.load(Ordering::SeqCst) {
        // Another thread closed the model meanwhile, and did not find this slot.
        runs.give_back_first(py)?;
        model.call_method0(intern!(py, "_release_slots"))?;
    }
    match outcome? {
        Ok(outputs) => Ok(Some(outputs.into_any())),
        Err((function, ret)) => {
            model.call_method1(intern!(py, "_failed"), (function, ret))?;
            Ok(None)
        }
    }
}

/// The name of a function that failed, and its code.
type Failure = (&'static str, i32);

impl Slot {
    /// Reads the numbers of a slot: words of 64 bits, in bytes.
    fn read(object: &Bound<'_, PyAny>, inputs: usize, outputs: usize) -> Option<Slot> {
        let numbers = attribute(object, intern!(object.py(), "numbers"))?;
        let numbers = numbers.cast_exact::<PyBytes>().ok()?.as_bytes();
        let (words, &[]) = numbers.as_chunks() else {
            return None;
        };
        if words.len() != inputs + outputs + 2 || inputs.max(outputs) > MOST {
            return None;
        }
        let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
        let mut slot = Slot {
            inputs: [0; MOST],
            outputs: [0; MOST],
            datasets: [0; 2],
        };
        slot.inputs[..inputs].fill_with(|| words.next().unwrap_or(0));
        slot.outputs[..outputs].fill_with(|| words.next().unwrap_or(0));
        slot.datasets.fill_with(|| words.next().unwrap_or(0));
        Some(slot)
    }
}

impl DirectRuns {
    /// Finds the elements of all inputs.
    fn sources<'py>(&self, given: &Bound<'py, PyAny>) -> Option<[Option<Source<'py>>; MOST]> {
        if !self.few {
            return None;
        }
        let mut sources = [const { None }; MOST];
        let count = self.inputs.len();
        let mut take = |index: usize, value: Bound<'py, PyAny>| {
            sources[index] = self.inputs[index].source(value, self);
            sources[index].is_some()
        };
        let all = if let Ok(dict) = given.cast_exact::<PyDict>() {
            dict.len() == count
                && (0..count).all(|index| {
                    let name = self.inputs[index].name.bind(given.py());
                    let value = dict.get_item(name).ok().flatten();
                    value.is_some_and(|value| take(index, value))
                })
        } else if let Ok(list) = given.cast_exact::<PyList>() {
            list.len() == count
                && (0..count)
                    .all(|index| list.get_item(index).is_ok_and(|value| take(index, value)))
        } else if let Ok(tuple) = given.cast_exact::<PyTuple>() {
            tuple.len() == count
                && (0..count)
                    .all(|index| tuple.get_item(index).is_ok_and(|value| take(index, value)))
        } else {
            count == 1 && take(0, given.clone())
        };
        all.then_some(sources)
    }

    /// Puts the first slot into the package's list, if no run has it and it is not there.
    fn give_back_first(&self, py: Python<'_>) -> PyResult<()> {
        match &self.first {
            Some((_, object)) if !self.first_taken.swap(true, Ordering::SeqCst) => {
                self.free.bind(py).append(object)
            }
            _ => Ok(()),
        }
    }

    /// Runs with a slot that no other run has.
    fn run<'py>(
        &self,
        call: AttachedThread<'py>,
        slot: &Slot,
        sources: &[Option<Source<'py>>; MOST],
    ) -> PyResult<Result<Bound<'py, PyDict>, Failure>> {
        let py = call.0;
        let mut hosts = [Pointer::default(); MOST];
        let outputs = self.made.bind(py).call0()?.cast_into::<PyDict>()?;
        for (output, host) in self.outputs.iter().zip(&mut hosts) {
            let bytes = output.bytes.max(1);
            let ret = c_call!(call.returns aclrtMallocHost(*mut Pointer, usize) -> i32, [&raw mut *host, bytes], or NOT_SUPPORTED);
            if ret != SUCCESS {
                return Ok(Err(("acl.rt.malloc_host", ret)));
            }
            // From here on the array owns the memory.
            let array = self.array_at(py, *host, output)?;
            outputs.set_item(output.name.bind(py), array)?;
        }
        let work = || {
            let copy = |to: Pointer, from: Pointer, bytes: usize, kind: i32| {
                if bytes == 0 {
                    return SUCCESS;
                }
                c_call!(call.returns aclrtMemcpy(Pointer, usize, Pointer, usize, i32) -> i32, [to, bytes, from, bytes, kind], or NOT_SUPPORTED)
            };
            for (index, (input, source)) in self.inputs.iter().zip(sources).enumerate() {
                let from = source
                    .as_ref()
                    .map_or(Pointer::default(), |source| source.address);
                let to = Pointer::of_number(slot.inputs[index]);
                let ret = copy(to, from, input.bytes, HOST_TO_DEVICE);
                if ret != SUCCESS {
                    return ("acl.rt.memcpy", ret);
                }
            }
            let [input, output] = slot.datasets.map(Pointer::of_number);
            let ret = c_call!(call.returns aclmdlExecute(u32, Pointer, Pointer) -> i32, [self.model, input, output], or NOT_SUPPORTED);
            if ret != SUCCESS {
                return ("acl.mdl.execute", ret);
            }
            for (index, (output, host)) in self.outputs.iter().zip(hosts).enumerate() {
                let from = Pointer::of_number(slot.outputs[index]);
                let ret = copy(host, from, output.bytes, DEVICE_TO_HOST);
                if ret != SUCCESS {
                    return ("acl.rt.memcpy", ret);
                }
            }
            ("", SUCCESS)
        };
        // A stream that this or another thread captures does not forbid the copies: nothing of them is captured.
        let relaxed = || {
            let mut mode = RELAXED;
            let mut exchange = || c_call!(call.returns aclmdlRICaptureThreadExchangeMode(*mut i32) -> i32, [&raw mut mode], or NOT_SUPPORTED);
            let before = exchange();
            if before != SUCCESS {
                return ("aclmdlRICaptureThreadExchangeMode", before);
            }
            let outcome = work();
            let after = exchange();
            match outcome {
                ("", _) if after != SUCCESS => ("aclmdlRICaptureThreadExchangeMode", after),
                outcome => outcome,
            }
        };
        match call.waits(relaxed) {
            (_, SUCCESS) => Ok(Ok(outputs)),
            failure => Ok(Err(failure)),
        }
    }

    /// Makes an array over pinned memory, as its class would; it owns the memory.
    fn array_at<'py>(
        &self,
        py: Python<'py>,
        host: Pointer,
        output: &Output,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.array.bind(py).as_ptr().cast::<capi::PyTypeObject>();
        // SAFETY: a class, which lives as long as this object; instances are allocated as `object.__new__` does it.
        let made = unsafe { capi::PyType_GenericAlloc(class, 0) };
        // SAFETY: a new reference, or null with an exception set.
        let made = unsafe { Bound::from_owned_ptr_or_err(py, made) }?;
        made.setattr(intern!(py, "_handle"), host.number())?;
        made.setattr(intern!(py, "_type"), output.ty.bind(py))?;
        Ok(made)
    }
}

/// NumPy's description of an array, in the capsule of `__array_struct__`.
#[repr(C)]
struct ArrayStruct {
    two: c_int,
    rank: c_int,
    kind: c_char,
    item_size: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *mut c_void,
    descr: *mut capi::PyObject,
}

/// The beginning of NumPy's arrays, PyArrayObject_fields in ndarraytypes.h: the same since NumPy 1.7, and a part of its binary interface.
#[repr(C)]
struct NumpyArray {
    object: capi::PyObject,
    data: *mut c_void,
    rank: c_int,
    shape: *const isize,
    strides: *const isize,
    base: *mut capi::PyObject,
    descr: *mut capi::PyObject,
    flags: c_int,
}

/// The elements lie one behind the other, aligned, in this machine's order.
const PLAIN: c_int = CONTIGUOUS_AND_ALIGNED | 0x200;
/// NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED.
const CONTIGUOUS_AND_ALIGNED: c_int = 0x001 | 0x100;

impl Input {
    /// Finds the elements of one input, if they lie together in memory.
    fn source<'py>(&self, value: Bound<'py, PyAny>, runs: &DirectRuns) -> Option<Source<'py>> {
        let py = value.py();
        let class = value.get_type_ptr();
        let is = |known: &Py<PyType>| class.cast() == known.as_ptr();
        if is(&runs.array) {
            return self.of_array(value);
        }
        if runs.numpy.as_ref().is_some_and(is)
            && let Some(address) = self.of_numpy(&value)
        {
            return Some(Source {
                address,
                _owner: value,
            });
        }
        self.of_capsule(attribute(&value, intern!(py, "__array_struct__"))?)
    }

    /// Finds the elements of an array of NumPy's own class and of the type's one description.
    fn of_numpy(&self, value: &Bound<'_, PyAny>) -> Option<Pointer> {
        let descr = self.descr.as_ref()?.as_ptr();
        // SAFETY: an instance of NumPy's class, which begins with these fields.
        let array = unsafe { &*value.as_ptr().cast::<NumpyArray>() };
        let plain =
            array.descr == descr && array.flags & CONTIGUOUS_AND_ALIGNED == CONTIGUOUS_AND_ALIGNED;
        if !plain || usize::try_from(array.rank) != Ok(self.dims.len()) {
            return None;
        }
        // SAFETY: the array has `rank` dimensions.
        let same = |(axis, dim): (usize, &isize)| unsafe { *array.shape.add(axis) } == *dim;
        let fits = self.dims.iter().enumerate().all(same);
        fits.then(|| Pointer::of_number(array.data.expose_provenance() as u64))
    }

    fn of_capsule<'py>(&self, capsule: Bound<'py, PyAny>) -> Option<Source<'py>> {
        // SAFETY: a live object; the interface's capsules have no name.
        let found = unsafe { capi::PyCapsule_GetPointer(capsule.as_ptr(), ptr::null()) };
        if found.is_null() {
            // SAFETY: the interpreter is attached.
            unsafe { capi::PyErr_Clear() };
            return None;
        }
        // SAFETY: the protocol: a capsule without a name under this attribute holds this structure, which lives as long as it does.
        let array = unsafe { &*found.cast::<ArrayStruct>() };
        let rank = usize::try_from(array.rank).ok()?;
        let plain = array.two == 2
            && array.flags & PLAIN == PLAIN
            && (array.kind as u8, usize::try_from(array.item_size).ok()?) == self.kind
            && rank == self.dims.len();
        if !plain {
            return None;
        }
        for (axis, &dim) in self.dims.iter().enumerate() {
            // SAFETY: the structure has `rank` dimensions.
            if unsafe { *array.shape.add(axis) } != dim {
                return None;
            }
        }
        // The capsule keeps the array, which keeps its memory.
        Some(Source {
            address: Pointer::of_number(array.data.expose_provenance() as u64),
            _owner: capsule,
        })
    }

    fn of_array<'py>(&self, value: Bound<'py, PyAny>) -> Option<Source<'py>> {
        let py = value.py();
        let ty = attribute(&value, intern!(py, "_type"))?;
        let ty = ty.cast_exact::<PyTuple>().ok()?;
        let same = ty.get_item(1).ok()?.is(&self.dtype)
            && matches!(ty.get_item(0).ok()?.eq(self.shape.bind(py)), Ok(true));
        let address = Pointer::from_arg(&attribute(&value, intern!(py, "_handle"))?).ok()?;
        // A closed array has none.
        (same && !address.is_null()).then_some(Source {
            address,
            _owner: value,
        })
    }
}

/// Makes the method `__del__` of the class of arrays in pinned memory, which frees the memory.
pub fn array_finalizer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let class = call.object(0)?;
    let class = class.cast::<PyType>().map_err(|_| Stop::Args)?;
    // SAFETY: a class, and a definition that lives as long as the process; neither is written.
    let method = unsafe { capi::PyDescr_NewMethod(class.as_type_ptr(), FINALIZER.as_ptr()) };
    // SAFETY: a new reference, or null with an exception set.
    Ok(unsafe { Bound::from_owned_ptr_or_err(call.py(), method) }?)
}

static FINALIZER: Method = Method::without_arguments(
    c"__del__",
    finalize,
    c"Frees the memory, after the work of streams that use it.",
);

/// Frees the memory of an array that has no reference any more.
unsafe extern "C" fn finalize(
    array: *mut capi::PyObject,
    _: *mut capi::PyObject,
) -> *mut capi::PyObject {
    // SAFETY: CPython calls this with the interpreter attached and an instance of the class.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: a live object, borrowed for the call.
    let array = unsafe { Bound::from_borrowed_ptr(py, array) };
    if super::source_location::is_wanted() {
        // SAFETY: attached already; a wrapper does the same.
        unsafe { Python::attach_unchecked(super::source_location::report) };
    }
    free(&array);
    py.None().into_ptr()
}

fn free(array: &Bound<'_, PyAny>) -> Option<()> {
    let py = array.py();
    let handle = Pointer::from_arg(&attribute(array, intern!(py, "_handle"))?).ok()?;
    let users = attribute(array, intern!(py, "_users"))?;
    if handle.is_null() {
        return None;
    }
    // SAFETY: a live object, and the interpreter is attached.
    if unsafe { capi::PyObject_Size(users.as_ptr()) } != 0 {
        let finish = attribute(array, intern!(py, "_finalize"))?;
        match python::call(&finish, &PyTuple::empty(py)) {
            Ok(done) => python::release(done),
            Err(error) => python::unraisable(error, &finish),
        }
        return None;
    }
    let call = AttachedThread(py);
    // No caller could receive an error here.
    c_call!(call.returns aclrtFreeHost(Pointer) -> i32, [handle], or NOT_SUPPORTED);
    None
}

/// Returns an attribute; where there is none, no exception is left.
fn attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: live objects, and the interpreter is attached.
    let found = unsafe { capi::PyObject_GetAttr(object.as_ptr(), name.as_ptr()) };
    if found.is_null() {
        // SAFETY: the interpreter is attached.
        unsafe { capi::PyErr_Clear() };
    }
    // SAFETY: a new reference, or null.
    unsafe { Bound::from_owned_ptr_or_opt(object.py(), found) }
}
