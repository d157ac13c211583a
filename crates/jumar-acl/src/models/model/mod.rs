//! Models: load, execute, unload.

mod archive;
mod buffers;
mod failed;
mod gears;
mod table;

pub(crate) use archive::{refuse_archive, refuse_archive_at};
pub use failed::*;
pub use gears::*;

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::Span;
use jumar::engine::sync::{AtomicU32, Mutex, Ordering, RwLock};
use jumar::offline::{
    Dims, Execute, ExecuteOpen, ExternalWeight, Model, Package, ShapedInput, Spans, SuppliedMemory,
    Targets, TensorInfo,
};
use jumar_types::{Error, ErrorKind, Result};
use smallvec::SmallVec;

use crate::dataset::Dataset;
use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw, allocator, data_buffer, dataset, model_config, refuse};
use buffers::{buffers, provide, span};

/// The loaded models of the process by id. Ids start at 1 and are not reused.
pub struct Models {
    loaded: RwLock<HashMap<u32, Arc<LoadedModel>>>,
    /// The id of the model that was loaded last.
    last: AtomicU32,
}

pub(crate) struct LoadedModel {
    pub(crate) model: Arc<Model>,
    /// A model is executed either synchronously or asynchronously; the first execution decides.
    way: Mutex<Option<Way>>,
    /// The index of the gear that the program chose last.
    pub(crate) gear: Mutex<Option<usize>>,
    pub(crate) priority: Mutex<i32>,
    /// The id of the bundle that contains the model.
    bundle: Option<u32>,
}

/// How a model is executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The calling thread waits for the result.
    Waiting,
    /// Asynchronously, on a stream.
    Queued,
    /// By the arrival of messages in its input queues.
    QueueDriven,
}

impl LoadedModel {
    /// Sets the priority (0 to 7). It applies to executions that the calling thread waits for.
    pub(crate) fn set_priority(&self, priority: i32) {
        *self.priority.lock() = priority;
        self.model.set_priority(u8::try_from(priority).unwrap_or(7));
    }
}

/// Returns an error before aclInit and after aclFinalize.
pub(crate) fn initialized(cx: &Cx<'_>) -> Result<()> {
    if cx.process.is_initialized() {
        return Ok(());
    }
    refuse(
        ErrorKind::ModelExecutorNotInitialized,
        "models can only be used between aclInit and aclFinalize",
    )
}

pub(crate) fn find(cx: &Cx<'_>, id: u32) -> Result<Arc<LoadedModel>> {
    cx.process.models.find(id)
}

/// Opens a model file.
pub(crate) fn open(path: Option<&CStr>) -> Result<Package<'static>> {
    let path = path.ok_or_else(|| null("modelPath"))?;
    let text = path.to_str().map_err(|_| {
        Error::new(
            ErrorKind::ModelPath,
            format!("the path {} is not UTF-8", path.to_string_lossy()),
        )
    })?;
    Package::open(text.as_ref())
}

/// Reads a model from memory.
pub(crate) fn parse(bytes: Option<&[u8]>) -> Result<Package<'_>> {
    match bytes {
        None => Err(null("model")),
        Some([]) => refuse(ErrorKind::InvalidArgument, "modelSize is 0"),
        Some(bytes) => Package::parse(bytes),
    }
}

/// The memory that the program provides for a model.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Address and size of the work memory, in bytes. With a null address the runtime allocates it.
    pub(crate) work: (usize, usize),
    /// Address and size of the memory for the weights, in bytes. With a null address the runtime allocates it.
    pub(crate) weights: (usize, usize),
    /// Whether information that only describes failures is dropped.
    pub(crate) forgetful: bool,
}

impl Memory {
    /// Creates the description of memory that the program provides, with defaults otherwise.
    pub(crate) fn given(work: (usize, usize), weights: (usize, usize)) -> Memory {
        Memory {
            work,
            weights,
            forgetful: false,
        }
    }
}

/// Device memory with the contents of a weight file: the file's name, the address, and the size in bytes.
pub(crate) type External = (String, usize, usize);

/// Returns the memory of each external weight file that the model uses. Names of other files are ignored.
fn external_weights(
    cx: &Cx<'_>,
    package: &Package<'_>,
    external: &[External],
) -> Result<Vec<ExternalWeight>> {
    let mut weights = Vec::new();
    for (name, address, size) in external {
        let files = package.external_weights().iter();
        let needed = files
            .filter(|file| file.name == *name)
            .map(|file| file.range.len())
            .max();
        let Some(needed) = needed else { continue };
        let what = format!("external weight \"{name}\"");
        if let Some(span) = supplied(cx, (*address, *size), needed, &what)? {
            weights.push((name.clone(), span));
        }
    }
    Ok(weights)
}

fn load(cx: &Cx<'_>, package: &Package<'_>, memory: Memory) -> Result<u32> {
    load_as(cx, package, memory, &[], None)
}

/// Loads a model of a bundle.
pub(crate) fn load_member(
    cx: &Cx<'_>,
    package: &Package<'_>,
    memory: Memory,
    external: &[External],
    bundle: u32,
) -> Result<u32> {
    load_as(cx, package, memory, external, Some(bundle))
}

fn load_as(
    cx: &Cx<'_>,
    package: &Package<'_>,
    memory: Memory,
    external: &[External],
    bundle: Option<u32>,
) -> Result<u32> {
    let context = cx.context()?;
    let supplied = SuppliedMemory {
        work: supplied(cx, memory.work, package.work_bytes(), "work")?,
        weights: supplied(cx, memory.weights, package.weight_bytes(), "weight")?,
        forgetful: memory.forgetful,
        external_weights: &external_weights(cx, package, external)?,
    };
    let model = Model::load(package, &context, supplied, &cx.caller())?;
    let id = cx.process.models.last.fetch_add(1, Ordering::Relaxed) + 1;
    let device = context.device().number();
    let dump = crate::dump::observer(cx, &model, id, device);
    model.observe(crate::prof::observer(cx, &model, id, device, dump));
    cx.process.models.loaded.write().insert(
        id,
        Arc::new(LoadedModel {
            model,
            way: Mutex::new(None),
            gear: Mutex::new(None),
            priority: Mutex::new(0),
            bundle,
        }),
    );
    Ok(id)
}

/// Returns the range of `needed` bytes at the program's address; `None` for a null address: the runtime allocates the memory.
///
/// # Errors
/// `ModelInvalid`: the memory is too small, or is not device memory.
fn supplied(
    cx: &Cx<'_>,
    (address, size): (usize, usize),
    needed: usize,
    what: &str,
) -> Result<Option<Span>> {
    if address == 0 {
        return Ok(None);
    }
    if size < needed {
        return refuse(
            ErrorKind::ModelInvalid,
            format!("the {what} memory has {size} bytes; the model needs {needed}"),
        );
    }
    let block = cx
        .runtime()?
        .space()
        .find(address)
        .filter(|block| block.home.is_device());
    let part = block.and_then(|block| block.span.part(address - block.span.address(), needed));
    match part {
        Some(part) => Ok(Some(part)),
        None => refuse(
            ErrorKind::ModelInvalid,
            format!(
                "the {what} memory at {address:#x} is not {needed} bytes of live device memory"
            ),
        ),
    }
}

/// No memory of the program's: the runtime allocates it.
pub(crate) const NOTHING: (usize, usize) = (0, 0);

pub fn aclmdlLoadFromFile(cx: &Cx<'_>, path: Option<&CStr>) -> Result<u32> {
    initialized(cx)?;
    load(cx, &open(path)?, Memory::default())
}

pub fn aclmdlLoadFromMem(cx: &Cx<'_>, bytes: Option<&[u8]>, _size: usize) -> Result<u32> {
    initialized(cx)?;
    load(cx, &parse(bytes)?, Memory::default())
}

pub fn aclmdlLoadFromFileWithMem(
    cx: &Cx<'_>,
    path: Option<&CStr>,
    work: usize,
    work_size: usize,
    weights: usize,
    weight_size: usize,
) -> Result<u32> {
    initialized(cx)?;
    load(
        cx,
        &open(path)?,
        Memory::given((work, work_size), (weights, weight_size)),
    )
}

pub fn aclmdlLoadFromMemWithMem(
    cx: &Cx<'_>,
    bytes: Option<&[u8]>,
    _size: usize,
    work: usize,
    work_size: usize,
    weights: usize,
    weight_size: usize,
) -> Result<u32> {
    initialized(cx)?;
    load(
        cx,
        &parse(bytes)?,
        Memory::given((work, work_size), (weights, weight_size)),
    )
}

/// Returns the queue ids of a queue-driven model. A null or empty array is an error.
pub(crate) fn given_queues<'a>(queues: Option<&'a [u32]>, name: &str) -> Result<&'a [u32]> {
    match queues {
        None => Err(null(name)),
        Some([]) => refuse(ErrorKind::InvalidArgument, format!("{name} is empty")),
        Some(queues) => Ok(queues),
    }
}

/// Loads a model that reads its inputs from queues and writes its outputs to queues.
pub(crate) fn load_queue_driven(
    cx: &Cx<'_>,
    package: &Package<'_>,
    inputs: &[u32],
    outputs: &[u32],
    memory: Memory,
    external: &[External],
) -> Result<u32> {
    let description = package.description();
    crate::queue_driven::check(description)?;
    let counts = [
        ("input", inputs.len(), description.inputs.len()),
        ("output", outputs.len(), description.outputs.len()),
    ];
    for (what, given, wanted) in counts {
        if given != wanted {
            return refuse(
                ErrorKind::InvalidArgument,
                format!(
                    "model \"{}\" has {wanted} {what}s; the call names {given} {what} queues",
                    description.name
                ),
            );
        }
    }
    let id = load_as(cx, package, memory, external, None)?;
    let loaded = find(cx, id)?;
    *loaded.way.lock() = Some(Way::QueueDriven);
    let queue_driven = crate::queue_driven::QueueDrivenModel::new(cx, id, loaded, inputs, outputs);
    let started = queue_driven.and_then(|queue_driven| {
        cx.process
            .queues
            .drive(queue_driven)
            .map_err(|(error, queue_driven)| {
                queue_driven.free(cx);
                error
            })
    });
    if let Err(error) = started {
        // The error of the start is returned; one of the cleanup is not.
        drop(unload(cx, id));
        return Err(error);
    }
    Ok(id)
}

pub fn aclmdlLoadFromFileWithQ(
    cx: &Cx<'_>,
    path: Option<&CStr>,
    inputs: Option<&[u32]>,
    _input_count: usize,
    outputs: Option<&[u32]>,
    _output_count: usize,
) -> Result<u32> {
    let (inputs, outputs) = (
        given_queues(inputs, "inputQ")?,
        given_queues(outputs, "outputQ")?,
    );
    initialized(cx)?;
    refuse_archive_at(path)?;
    load_queue_driven(cx, &open(path)?, inputs, outputs, Memory::default(), &[])
}

pub fn aclmdlLoadFromMemWithQ(
    cx: &Cx<'_>,
    bytes: Option<&[u8]>,
    _size: usize,
    inputs: Option<&[u32]>,
    _input_count: usize,
    outputs: Option<&[u32]>,
    _output_count: usize,
) -> Result<u32> {
    let (inputs, outputs) = (
        given_queues(inputs, "inputQ")?,
        given_queues(outputs, "outputQ")?,
    );
    initialized(cx)?;
    refuse_archive(bytes.unwrap_or_default())?;
    load_queue_driven(cx, &parse(bytes)?, inputs, outputs, Memory::default(), &[])
}

pub fn aclmdlQuerySize(cx: &Cx<'_>, path: Option<&CStr>) -> Result<(usize, usize)> {
    initialized(cx)?;
    let package = open(path)?;
    Ok((package.work_bytes(), package.weight_bytes()))
}

pub fn aclmdlQuerySizeFromMem(
    cx: &Cx<'_>,
    bytes: Option<&[u8]>,
    _size: usize,
) -> Result<(usize, usize)> {
    initialized(cx)?;
    let package = parse(bytes)?;
    Ok((package.work_bytes(), package.weight_bytes()))
}

/// Returns the sizes of a model's parts, in bytes. Kernels and tasks are 0: a model file of Jumar contains no device code.
pub fn aclmdlQueryExeOMDesc(cx: &Cx<'_>, path: Option<&CStr>) -> Result<types::aclmdlExeOMDesc> {
    initialized(cx)?;
    let package = open(path)?;
    Ok(types::aclmdlExeOMDesc {
        workSize: package.work_bytes(),
        weightSize: package.weight_bytes(),
        modelDescSize: package.graph_bytes(),
        ..types::aclmdlExeOMDesc::ZERO
    })
}

/// Loads a model with all options of a configuration.
pub(crate) fn load_configured(cx: &Cx<'_>, config: &model_config::Loading) -> Result<u32> {
    let wanted = config.complete()?;
    initialized(cx)?;
    let mut package = match wanted {
        model_config::Source::File(path) => open(Some(&path))?,
        model_config::Source::Memory(bytes) => Package::parse(bytes)?,
    };
    if let Some(folder) = config.weight_folder()? {
        package.find_weights_in(folder);
    }
    let external = config.external();
    let id = match config.queues() {
        Some([inputs, outputs]) => {
            load_queue_driven(cx, &package, inputs, outputs, config.memory(), external)?
        }
        None => load_as(cx, &package, config.memory(), external, None)?,
    };
    if let Ok(loaded) = find(cx, id) {
        loaded.set_priority(config.priority);
    }
    Ok(id)
}

pub fn aclmdlUnload(cx: &Cx<'_>, id: u32) -> Result<()> {
    initialized(cx)?;
    if let Some(bundle) = find(cx, id)?.bundle {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "model {id} belongs to bundle {bundle}; aclmdlBundleUnload or aclmdlBundleUnloadModel unloads it"
            ),
        );
    }
    unload(cx, id)
}

/// Unloads a model, including a model of a bundle.
pub(crate) fn unload(cx: &Cx<'_>, id: u32) -> Result<()> {
    let loaded = find(cx, id)?;
    cx.process.models.loaded.write().remove(&id);
    crate::prof::unloaded(cx, id);
    if let Some(queue_driven) = cx.process.queues.release(id) {
        loaded.model.unload(&cx.caller());
        queue_driven.free(cx);
        return Ok(());
    }
    loaded.model.unload(&cx.caller());
    Ok(())
}

pub fn aclmdlExecute(cx: &Cx<'_>, id: u32, input: Raw, output: Raw) -> Result<()> {
    let done = match prepare(cx, id, input, output, Way::Waiting)? {
        (loaded, PreparedArguments::Fixed { inputs, outputs }) => {
            loaded.model.execute(&inputs, &outputs, &cx.caller())
        }
        (loaded, PreparedArguments::Open(open)) => execute_open(cx, &loaded, open),
    };
    crate::error::report_failure(cx, done)
}

/// Executes a model of dynamic shapes, waits, and describes its outputs.
fn execute_open(cx: &Cx<'_>, loaded: &LoadedModel, open: Open) -> Result<()> {
    let Open {
        inputs,
        outputs,
        dataset,
    } = open;
    let caller = cx.caller();
    if let Some(plan) = loaded.model.execute_again(&inputs, &outputs, &caller)? {
        return dataset.describe(cx, &plan);
    }
    let results = dataset.expect();
    loaded
        .model
        .execute_open(inputs.into_vec(), outputs, results, &caller)?;
    dataset.collect(cx)
}

pub fn aclmdlExecuteAsync(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    stream: Raw,
) -> Result<()> {
    let (loaded, prepared) = prepare(cx, id, input, output, Way::Queued)?;
    cx.with_stream(stream, |stream| {
        submit(cx, &loaded, prepared, stream, NOTHING, false)
    })
}

/// Returns a time limit for a number of milliseconds; `None`, without a limit, for a negative number.
fn limit(milliseconds: i32) -> Option<std::time::Duration> {
    u64::try_from(milliseconds)
        .ok()
        .map(std::time::Duration::from_millis)
}

pub fn aclmdlExecuteV2(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    stream: Raw,
    handle: Raw,
) -> Result<()> {
    let config = model_config::execution(cx, handle)?;
    let unchanged = config.stream_timeout < 0 && config.work.0 == 0 && config.priority.is_none();
    if stream.is_null() && unchanged {
        return aclmdlExecute(cx, id, input, output);
    }
    let (loaded, prepared) = prepare(cx, id, input, output, Way::Waiting)?;
    let stream = if stream.is_null() {
        match config.priority {
            Some(priority) => loaded.model.own_stream_of(priority)?,
            None => loaded.model.own_stream()?,
        }
    } else {
        cx.with_stream(stream, |stream| Ok(stream.clone()))?
    };
    // With a time limit the calling thread does not run the model itself.
    let awaited = config.stream_timeout < 0;
    submit(cx, &loaded, prepared, &stream, config.work, awaited)?;
    let done = stream
        .synchronize(limit(config.stream_timeout), &cx.caller())
        .and_then(|()| dataset::find(cx, output, "output")?.collect(cx));
    crate::error::report_failure(cx, done)
}

pub fn aclmdlExecuteAsyncV2(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    stream: Raw,
    handle: Raw,
) -> Result<()> {
    let config = model_config::execution(cx, handle)?;
    let (loaded, prepared) = prepare(cx, id, input, output, Way::Queued)?;
    cx.with_stream(stream, |stream| {
        submit(cx, &loaded, prepared, stream, config.work, false)
    })
}

fn submit(
    cx: &Cx<'_>,
    loaded: &LoadedModel,
    prepared: PreparedArguments,
    stream: &Arc<jumar::engine::Stream>,
    work: (usize, usize),
    awaited: bool,
) -> Result<()> {
    match prepared {
        PreparedArguments::Fixed { inputs, outputs } => {
            let work = supplied(cx, work, loaded.model.work_bytes(), "work")?;
            let execute = Execute {
                inputs: &inputs,
                outputs: &outputs,
                work,
                awaited,
                ..Execute::default()
            };
            let submitted = loaded.model.submit_with(stream, execute, &cx.caller());
            submitted.map(drop)
        }
        PreparedArguments::Open(Open {
            inputs,
            outputs,
            dataset,
        }) => {
            let borrowed = allocator::lend(cx, stream, || loaded.model.open_work_bytes(&inputs))?;
            let work = borrowed.as_ref().map(|block| block.span);
            let results = dataset.expect();
            let caller = cx.caller();
            let execute = ExecuteOpen {
                inputs: inputs.into_vec(),
                outputs,
                work,
                results,
                awaited,
                ..ExecuteOpen::default()
            };
            // The block returns to its allocator once this is queued: its next user comes later on the same stream.
            let submitted = loaded.model.submit_open_with(stream, execute, &caller);
            submitted.map(drop)
        }
    }
}

/// The checked arguments of an execution.
enum PreparedArguments {
    /// A model of static shapes: memory of the described sizes.
    Fixed { inputs: Spans, outputs: Spans },
    /// A model of dynamic shapes: inputs with their actual dimensions, and outputs of any size.
    Open(Open),
}

/// The checked arguments of an execution of a model of dynamic shapes.
struct Open {
    inputs: SmallVec<[ShapedInput; 2]>,
    outputs: Targets,
    /// The dataset of the outputs.
    dataset: Arc<Dataset>,
}

fn prepare(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    way: Way,
) -> Result<(Arc<LoadedModel>, PreparedArguments)> {
    let (entries, inputs) = buffers(cx, &*dataset::find(cx, input, "input")?)?;
    let dataset = dataset::find(cx, output, "output")?;
    let (handles, outputs) = buffers(cx, &dataset)?;
    initialized(cx)?;
    let loaded = find(cx, id)?;
    cx.context()?;
    let description = loaded.model.description().clone();
    let first = *loaded.way.lock().get_or_insert(way);
    if first != way && !description.open {
        return refuse(
            ErrorKind::ModelFailure,
            format!(
                "model {id} {}",
                if first == Way::QueueDriven {
                    "is driven by queues; a function cannot execute it"
                } else {
                    "is executed both by aclmdlExecute and by aclmdlExecuteAsync; the first execution decides which of the two is allowed"
                }
            ),
        );
    }
    let wanted = [
        ("input", &inputs, &description.inputs),
        ("output", &outputs, &description.outputs),
    ];
    for (what, given, tensors) in wanted {
        if given.len() != tensors.len() {
            let kind = if description.open && given.len() < tensors.len() {
                ErrorKind::InvalidArgument
            } else {
                ErrorKind::ModelFailure
            };
            return refuse(
                kind,
                format!(
                    "the {what} dataset has {} buffers; model {id} has {} {what}s",
                    given.len(),
                    tensors.len()
                ),
            );
        }
    }
    if description.open {
        let mut open = Open {
            inputs: SmallVec::new(),
            outputs: Targets::new(),
            dataset,
        };
        for (index, (&buffer, tensor)) in inputs.iter().zip(&description.inputs).enumerate() {
            let desc = entries[index].desc;
            open.inputs.push(shaped(cx, buffer, desc, tensor, index)?);
        }
        for (index, (&buffer, tensor)) in outputs.iter().zip(&description.outputs).enumerate() {
            open.outputs.push(match (buffer, way) {
                ((0, _), Way::Waiting) => None,
                ((_, size), _) => Some(span(cx, buffer, (tensor, size), ("output", index))?),
            });
        }
        return Ok((loaded, PreparedArguments::Open(open)));
    }
    // Two kinds of sizes are known only when the model runs: those of a model with gears, and those of images with dynamic
    // preprocessing. A smaller buffer is accepted here, and checked then.
    let geared = !description.gears.is_empty();
    let inputs = inputs
        .iter()
        .zip(&description.inputs)
        .enumerate()
        .map(|(index, (&buffer, tensor))| {
            let (_, size) = buffer;
            let needed = if geared || tensor.is_dynamic_image(index) {
                size.min(tensor.bytes)
            } else {
                tensor.bytes
            };
            span(cx, buffer, (tensor, needed), ("input", index))
        })
        .collect::<Result<_>>()?;
    let outputs = outputs
        .iter()
        .zip(&handles)
        .zip(&description.outputs)
        .enumerate()
        .map(|(index, ((&buffer, handle), tensor))| {
            let buffer = match (buffer, way) {
                ((0, _), Way::Waiting) if tensor.bytes > 0 => provide(cx, handle, tensor.bytes)?,
                _ => buffer,
            };
            let (_, size) = buffer;
            let needed = if geared {
                size.min(tensor.bytes)
            } else {
                tensor.bytes
            };
            span(cx, buffer, (tensor, needed), ("output", index))
        })
        .collect::<Result<_>>()?;
    Ok((loaded, PreparedArguments::Fixed { inputs, outputs }))
}

/// Returns an input with its actual dimensions: those of the description attached to the dataset, or, without one, those of the
/// model.
///
/// # Errors
/// `InvalidArgument`: the dimensions are unknown, too large, or do not fit the model.
fn shaped(
    cx: &Cx<'_>,
    buffer: (usize, usize),
    desc: Raw,
    tensor: &TensorInfo,
    index: usize,
) -> Result<ShapedInput> {
    let (dims, data_type) = if desc.is_null() {
        (Dims::from_slice(&tensor.dims), tensor.data_type)
    } else {
        let found = cx.process.tensor_descs.get(desc.0)?;
        let content = found.content.lock();
        (Dims::from_slice(&content.dims), content.data_type)
    };
    let bad = |sentence: String| {
        let sentence = format!("input {index} (\"{}\") {sentence}", tensor.name);
        Err(Error::new(ErrorKind::InvalidArgument, sentence))
    };
    if dims.iter().any(|&dim| dim < 0) {
        return bad(format!(
            "has the dimensions {dims:?}; set them with aclmdlSetDatasetTensorDesc"
        ));
    }
    let known = tensor.dims != [-2];
    let fits = !known
        || (dims.len() == tensor.dims.len()
            && dims
                .iter()
                .zip(&tensor.dims)
                .enumerate()
                .all(|(axis, (&is, &want))| {
                    let (least, most) = tensor.range.get(axis).copied().unwrap_or((0, -1));
                    if want >= 0 {
                        is == want
                    } else {
                        is >= least && (most < 0 || is <= most)
                    }
                }));
    if !fits || data_type != tensor.data_type {
        return bad(format!(
            "has the dimensions {dims:?} and data type {data_type}; the model takes {:?} (ranges {:?}) and data type {}",
            tensor.dims, tensor.range, tensor.data_type
        ));
    }
    let bytes = dims
        .iter()
        .try_fold(1usize, |product, &dim| {
            product.checked_mul(usize::try_from(dim).ok()?)
        })
        .and_then(|elements| elements.checked_mul(crate::type_util::size_of_type(data_type)));
    let Some(bytes) = bytes else {
        return bad(format!("has the dimensions {dims:?}, which are too large"));
    };
    let span = span(cx, buffer, (tensor, bytes), ("input", index))?;
    Ok(ShapedInput { span, dims })
}

/// Copies bytes into the buffer of an input in a dataset. The copy is complete when the call returns.
pub(crate) fn write_input(
    cx: &Cx<'_>,
    dataset: Raw,
    index: usize,
    tensor: &TensorInfo,
    bytes: &[u8],
) -> Result<()> {
    let entries = dataset::entries(cx, dataset, "dataset")?;
    let Some(entry) = entries.get(index) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "input {index} (\"{}\") is not in the dataset, which has {} buffers",
                tensor.name,
                entries.len()
            ),
        );
    };
    let (address, size) = data_buffer::content(cx, entry.buffer)?;
    if address == 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("buffer {index} of the dataset has no memory"),
        );
    }
    if size < bytes.len() {
        return refuse(
            ErrorKind::DynamicInputLength,
            format!(
                "buffer {index} (\"{}\") has {size} bytes; the call writes {}",
                tensor.name,
                bytes.len()
            ),
        );
    }
    let to = span(cx, (address, size), (tensor, bytes.len()), ("input", index))?;
    cx.context()?.write(to, bytes, &cx.caller())
}
