//! Models: load, execute, unload.

mod failed;
mod gears;
mod table;

pub use failed::*;
pub use gears::*;

use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use jumar::engine::Span;
use jumar::engine::sync::{AtomicU32, Mutex, Ordering, RwLock};
use jumar::offline::graph::files;
use jumar::offline::{
    Execute, ExecuteOpen, ExternalWeight, Model, Package, Results, Shaped, Supplied, TensorInfo,
};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw, allocator, dataset, model_config, refuse};

/// The loaded models of the process by number. Numbers start at 1 and are never used again.
pub struct Models {
    loaded: RwLock<HashMap<u32, Arc<Loaded>>>,
    last: AtomicU32,
}

pub(crate) struct Loaded {
    pub(crate) model: Arc<Model>,
    /// A model is executed either synchronously or asynchronously; the first execution decides.
    way: Mutex<Option<Way>>,
    /// The gear that was chosen last.
    pub(crate) gear: Mutex<Option<usize>>,
    pub(crate) priority: Mutex<i32>,
    /// The bundle that it came with.
    bundle: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Waiting,
    Queued,
    /// By messages in queues.
    QueueDriven,
}

impl Loaded {
    /// Keeps a priority, which counts for executions that the host waits for.
    pub(crate) fn set_priority(&self, priority: i32) {
        *self.priority.lock() = priority;
        self.model.set_priority(u8::try_from(priority).unwrap_or(7));
    }
}

/// Refuses model calls before aclInit.
pub(crate) fn initialized(cx: &Cx<'_>) -> Result<()> {
    if cx.process.is_initialized() {
        return Ok(());
    }
    refuse(
        ErrorKind::ModelExecutorNotInitialized,
        "models can be used between aclInit and aclFinalize only",
    )
}

pub(crate) fn find(cx: &Cx<'_>, id: u32) -> Result<Arc<Loaded>> {
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

/// How a package of the interface's newer kind begins: it is a zip archive.
const ARCHIVE: [u8; 4] = *b"PK\x03\x04";

/// Refuses a package of the newer kind where bundles or queues are meant: its executor has neither.
pub(crate) fn refuse_archive(bytes: &[u8]) -> Result<()> {
    if !bytes.starts_with(&ARCHIVE) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::NotImplemented,
        "the model is an archive (OM2), whose executor has neither bundles nor queues",
    )
    .fix("Convert the ONNX model with this Jumar's atc."))
}

/// As [`refuse_archive`], for a file; an unreadable file is refused when it is opened.
pub(crate) fn refuse_archive_at(path: Option<&CStr>) -> Result<()> {
    let mut head = [0; ARCHIVE.len()];
    let read = path.and_then(|path| {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        files::open(path).ok()?.0.read_exact(&mut head).ok()
    });
    read.map_or(Ok(()), |()| refuse_archive(&head))
}

/// Reads a model from memory.
pub(crate) fn parse(bytes: Option<&[u8]>) -> Result<Package<'_>> {
    match bytes {
        None => Err(null("model")),
        Some([]) => refuse(ErrorKind::InvalidArgument, "modelSize is 0"),
        Some(bytes) => Package::parse(bytes),
    }
}

/// What a program decides about the memory of a model.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Its own work memory: where, and how many bytes. No address leaves it to the runtime.
    pub(crate) work: (usize, usize),
    /// Its own memory for the weights.
    pub(crate) weights: (usize, usize),
    /// Whether information that only describes failures is dropped.
    pub(crate) forgetful: bool,
}

impl Memory {
    /// The memory that a program provides, with defaults otherwise.
    pub(crate) fn given(work: (usize, usize), weights: (usize, usize)) -> Memory {
        Memory {
            work,
            weights,
            forgetful: false,
        }
    }
}

/// Device memory that holds the contents of a file of weights: the file's name, where, and how many bytes.
pub(crate) type External = (String, usize, usize);

/// Finds the memory that holds files of weights; names that are none of the model's files do not matter.
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
    let supplied = Supplied {
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
        Arc::new(Loaded {
            model,
            way: Mutex::new(None),
            gear: Mutex::new(None),
            priority: Mutex::new(0),
            bundle,
        }),
    );
    Ok(id)
}

/// Finds the caller's memory for a part of a model; null leaves it to the runtime.
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
            format!("the {what} memory has {size} bytes, and the model needs {needed}"),
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

/// Memory that the runtime is to allocate.
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

/// Checks the queues that a model is to be driven by, before it is looked at.
pub(crate) fn given_queues<'a>(queues: Option<&'a [u32]>, name: &str) -> Result<&'a [u32]> {
    match queues {
        None => Err(null(name)),
        Some([]) => refuse(ErrorKind::InvalidArgument, format!("{name} holds no queue")),
        Some(queues) => Ok(queues),
    }
}

/// Loads a model that takes its inputs from queues and leaves its outputs in others.
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
                    "{given} {what} queues are given, and model \"{}\" has {wanted} {what}s",
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
        // The first error is returned.
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

/// What a model is made of, in bytes. A model of Jumar has no kernels and no tasks, as it holds no instructions.
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

/// Loads a model with everything that a configuration says.
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

/// Unloads a model, also one of a bundle.
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
        (loaded, Prepared::Fixed { inputs, outputs }) => {
            loaded.model.execute(&inputs, &outputs, &cx.caller())
        }
        (loaded, Prepared::Open { inputs, outputs }) => {
            let results = Arc::<Results>::default();
            dataset::expect(cx, output, results.clone())?;
            loaded
                .model
                .execute_open(inputs, outputs, results, &cx.caller())
                .and_then(|()| dataset::collect(cx, output))
        }
    };
    crate::error::report_failure(cx, done)
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
        submit(cx, &loaded, prepared, output, stream, NOTHING)
    })
}

/// A limit for the wait; -1 is none.
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
    submit(cx, &loaded, prepared, output, &stream, config.work)?;
    let done = stream
        .synchronize(limit(config.stream_timeout), &cx.caller())
        .and_then(|()| dataset::collect(cx, output));
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
        submit(cx, &loaded, prepared, output, stream, config.work)
    })
}

fn submit(
    cx: &Cx<'_>,
    loaded: &Loaded,
    prepared: Prepared,
    output: Raw,
    stream: &Arc<jumar::engine::Stream>,
    work: (usize, usize),
) -> Result<()> {
    match prepared {
        Prepared::Fixed { inputs, outputs } => {
            let work = supplied(cx, work, loaded.model.work_bytes(), "work")?;
            let execute = Execute {
                inputs: &inputs,
                outputs: &outputs,
                work,
                ..Execute::default()
            };
            let submitted = loaded.model.submit_with(stream, execute, &cx.caller());
            submitted.map(drop)
        }
        Prepared::Open { inputs, outputs } => {
            let lent = allocator::lend(cx, stream, || loaded.model.open_work_bytes(&inputs))?;
            let work = lent.as_ref().map(|lent| lent.span);
            let results = Arc::<Results>::default();
            dataset::expect(cx, output, results.clone())?;
            let caller = cx.caller();
            let execute = ExecuteOpen {
                inputs,
                outputs,
                work,
                results,
                ..ExecuteOpen::default()
            };
            // The block goes back when this is queued: what it serves next comes after it on the stream.
            let submitted = loaded.model.submit_open_with(stream, execute, &caller);
            submitted.map(drop)
        }
    }
}

/// What an execution is given.
enum Prepared {
    /// Memory of the described sizes.
    Fixed {
        inputs: Vec<Span>,
        outputs: Vec<Span>,
    },
    /// Inputs with their real dimensions, and outputs of any size.
    Open {
        inputs: Vec<Shaped>,
        outputs: Vec<Option<Span>>,
    },
}

fn prepare(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    way: Way,
) -> Result<(Arc<Loaded>, Prepared)> {
    let inputs = buffers(cx, input, "input")?;
    let outputs = buffers(cx, output, "output")?;
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
                    "is driven by queues, and is not executed by functions"
                } else {
                    "is executed both by aclmdlExecute and by aclmdlExecuteAsync; the first execution decides which it is to be"
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
                    "the {what} dataset has {} buffers, and model {id} has {} {what}s",
                    given.len(),
                    tensors.len()
                ),
            );
        }
    }
    if description.open {
        let entries = dataset::entries(cx, input, "input")?;
        let inputs = inputs
            .iter()
            .zip(&entries)
            .zip(&description.inputs)
            .enumerate()
            .map(|(index, ((buffer, entry), tensor))| shaped(cx, buffer, entry.desc, tensor, index))
            .collect::<Result<Vec<_>>>()?;
        let outputs = outputs
            .iter()
            .zip(&description.outputs)
            .enumerate()
            .map(|(index, (buffer, tensor))| {
                let (address, size) = *buffer.content.lock();
                match (address, way) {
                    (0, Way::Waiting) => Ok(None),
                    _ => span(cx, buffer, &resized(tensor, size), ("output", index)).map(Some),
                }
            })
            .collect::<Result<Vec<_>>>()?;
        return Ok((loaded, Prepared::Open { inputs, outputs }));
    }
    // The sizes of a model with gears are known only when the gear is read, and those of images with their settings; they are
    // compared with them then.
    let geared = !description.gears.is_empty();
    let inputs = inputs
        .iter()
        .zip(&description.inputs)
        .enumerate()
        .map(|(index, (buffer, tensor))| {
            let size = buffer.content.lock().1;
            if (geared || tensor.is_dynamic_image(index)) && size < tensor.bytes {
                span(cx, buffer, &resized(tensor, size), ("input", index))
            } else {
                span(cx, buffer, tensor, ("input", index))
            }
        })
        .collect::<Result<Vec<_>>>()?;
    let outputs = outputs
        .iter()
        .zip(&description.outputs)
        .enumerate()
        .map(|(index, (buffer, tensor))| {
            provide(cx, buffer, tensor.bytes, way)?;
            let size = buffer.content.lock().1;
            if geared && size < tensor.bytes {
                span(cx, buffer, &resized(tensor, size), ("output", index))
            } else {
                span(cx, buffer, tensor, ("output", index))
            }
        })
        .collect::<Result<Vec<_>>>()?;
    Ok((loaded, Prepared::Fixed { inputs, outputs }))
}

/// The same tensor with another size.
fn resized(tensor: &TensorInfo, bytes: usize) -> TensorInfo {
    TensorInfo {
        bytes,
        ..tensor.clone()
    }
}

/// Finds an input with its real dimensions: those of the description attached to the dataset, or the model's own where
/// they are fixed.
fn shaped(
    cx: &Cx<'_>,
    buffer: &Buffer,
    desc: Raw,
    tensor: &TensorInfo,
    index: usize,
) -> Result<Shaped> {
    let (dims, data_type) = if desc.is_null() {
        (tensor.dims.clone(), tensor.data_type)
    } else {
        let found = cx.process.tensor_descs.get(desc.0)?;
        let content = found.content.lock();
        (content.dims.clone(), content.data_type)
    };
    let bad = |sentence: String| {
        let sentence = format!("input {index} (\"{}\") {sentence}", tensor.name);
        Err(Error::new(ErrorKind::InvalidArgument, sentence))
    };
    if dims.iter().any(|&dim| dim < 0) {
        return bad(format!(
            "has the dimensions {dims:?}: say which they are with aclmdlSetDatasetTensorDesc"
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
            "is given the dimensions {dims:?} and data type {data_type}, and the model takes {:?} (ranges {:?}) and data type {}",
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
        return bad(format!(
            "is given the dimensions {dims:?}, which are too large"
        ));
    };
    let span = span(cx, buffer, &resized(tensor, bytes), ("input", index))?;
    Ok(Shaped { span, dims })
}

type Buffer = Arc<crate::data_buffer::DataBuffer>;

fn buffers(cx: &Cx<'_>, dataset: Raw, what: &str) -> Result<Vec<Buffer>> {
    let entries = dataset::entries(cx, dataset, what)?;
    entries
        .iter()
        .map(|entry| cx.process.data_buffers.get(entry.buffer.0))
        .collect()
}

/// An output buffer without memory gets some when the execution waits; the program frees it.
fn provide(cx: &Cx<'_>, buffer: &Buffer, bytes: usize, way: Way) -> Result<()> {
    let mut content = buffer.content.lock();
    if content.0 == 0 && way == Way::Waiting && bytes > 0 {
        let address = crate::memory::aclrtMalloc(cx, bytes, 0)?;
        *content = (address, bytes);
    }
    Ok(())
}

/// How much shorter than its tensor a buffer may say it is.
const TOLERANCE: usize = 64;

/// Finds the device memory of one tensor.
fn span(cx: &Cx<'_>, buffer: &Buffer, tensor: &TensorInfo, of: (&str, usize)) -> Result<Span> {
    let (what, index) = of;
    let (address, size) = *buffer.content.lock();
    let needed = tensor.bytes;
    if needed == 0 {
        return Ok(Span::EMPTY);
    }
    let bad = |sentence: String, fix: &str| {
        let sentence = format!(
            "{what} {index} (\"{}\", {needed} bytes) {sentence}",
            tensor.name
        );
        Error::new(ErrorKind::ModelFailure, sentence).fix(fix)
    };
    if address == 0 {
        return Err(bad(
            "has a data buffer without memory".into(),
            "Give the data buffer an address from aclrtMalloc.",
        ));
    }
    if size.saturating_add(TOLERANCE) < needed {
        return Err(bad(
            format!("has a data buffer of {size} bytes"),
            "Ask aclmdlGetInputSizeByIndex or aclmdlGetOutputSizeByIndex how much is needed.",
        ));
    }
    let space = cx.runtime()?.space();
    match space.reach(address, needed) {
        Some(block) if block.home.is_device() => {
            block.span.part(address - block.span.address(), needed).ok_or_else(|| {
                bad(
                    format!(
                        "does not fit: its data buffer lies in allocation {} of {} bytes, at offset {}",
                        block.number,
                        block.span.bytes(),
                        address - block.span.address()
                    ),
                    "Allocate as much as the model description says.",
                )
            })
        }
        Some(_) => Err(bad(
            format!("lies in pinned host memory ({address:#x})"),
            "Copy it to memory from aclrtMalloc; a model reads and writes device memory.",
        )),
        None => Err(bad(
            format!("lies at {address:#x}, which is not live device memory"),
            "Copy it to memory from aclrtMalloc; a model reads and writes device memory.",
        )),
    }
}

/// Writes an input's contents into its buffer of a dataset, before the call returns.
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
    let buffer = cx.process.data_buffers.get(entry.buffer.0)?;
    let (address, size) = *buffer.content.lock();
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
                "buffer {index} (\"{}\") has {size} bytes, and {} are written to it",
                tensor.name,
                bytes.len()
            ),
        );
    }
    let to = span(cx, &buffer, &resized(tensor, bytes.len()), ("input", index))?;
    cx.context()?.write(to, bytes, &cx.caller())
}
