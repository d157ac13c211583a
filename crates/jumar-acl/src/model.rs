//! Models: load, execute, unload.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::Span;
use jumar::engine::sync::{AtomicU32, Mutex, Ordering, RwLock};
use jumar::offline::{Model, Package, Results, Shaped, Supplied, TensorInfo};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw, dataset, refuse};

/// The loaded models of the process by number. Numbers start at 1 and are never used again.
pub struct Models {
    loaded: RwLock<HashMap<u32, Arc<Loaded>>>,
    last: AtomicU32,
}

pub(crate) struct Loaded {
    pub(crate) model: Arc<Model>,
    /// A model is executed either synchronously or asynchronously; the first execution decides.
    way: Mutex<Option<Way>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Waiting,
    Queued,
}

impl Default for Models {
    fn default() -> Self {
        Models {
            loaded: RwLock::new(HashMap::new()),
            last: AtomicU32::new(0),
        }
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
    let models = &cx.process.models;
    models.loaded.read().get(&id).cloned().ok_or_else(|| {
        let last = models.last.load(Ordering::Relaxed);
        let sentence = if id == 0 || id > last {
            format!("model {id} was never loaded")
        } else {
            format!("model {id} was unloaded")
        };
        Error::new(ErrorKind::ModelId, sentence)
    })
}

/// Opens a model file.
pub(crate) fn open(path: Option<&CStr>) -> Result<Package> {
    let path = path.ok_or_else(|| null("modelPath"))?;
    let text = path.to_str().map_err(|_| {
        Error::new(
            ErrorKind::ModelPath,
            format!("the path {} is not UTF-8", path.to_string_lossy()),
        )
    })?;
    Package::open(text.as_ref())
}

/// Reads a model from memory; the bytes may be freed after the call.
pub(crate) fn parse(bytes: Option<&[u8]>) -> Result<Package> {
    match bytes {
        None => Err(null("model")),
        Some([]) => refuse(ErrorKind::InvalidArgument, "modelSize is 0"),
        Some(bytes) => Package::parse(bytes.to_vec()),
    }
}

fn load(
    cx: &Cx<'_>,
    package: &Package,
    work: (usize, usize),
    weights: (usize, usize),
) -> Result<u32> {
    let context = cx.context()?;
    let supplied = Supplied {
        work: supplied(cx, work, package.work_bytes(), "work")?,
        weights: supplied(cx, weights, package.weight_bytes(), "weight")?,
    };
    let model = Model::load(package, &context, supplied, &cx.caller())?;
    let id = cx.process.models.last.fetch_add(1, Ordering::Relaxed) + 1;
    crate::dump::observe(cx, &model, id, context.device().number());
    cx.process.models.loaded.write().insert(
        id,
        Arc::new(Loaded {
            model,
            way: Mutex::new(None),
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

const NOTHING: (usize, usize) = (0, 0);

pub fn aclmdlLoadFromFile(cx: &Cx<'_>, path: Option<&CStr>) -> Result<u32> {
    initialized(cx)?;
    load(cx, &open(path)?, NOTHING, NOTHING)
}

pub fn aclmdlLoadFromMem(cx: &Cx<'_>, bytes: Option<&[u8]>, _size: usize) -> Result<u32> {
    initialized(cx)?;
    load(cx, &parse(bytes)?, NOTHING, NOTHING)
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
    load(cx, &open(path)?, (work, work_size), (weights, weight_size))
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
        (work, work_size),
        (weights, weight_size),
    )
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

pub fn aclmdlUnload(cx: &Cx<'_>, id: u32) -> Result<()> {
    initialized(cx)?;
    let loaded = find(cx, id)?;
    cx.process.models.loaded.write().remove(&id);
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
    crate::error::told(cx, done)
}

pub fn aclmdlExecuteAsync(
    cx: &Cx<'_>,
    id: u32,
    input: Raw,
    output: Raw,
    stream: Raw,
) -> Result<()> {
    let (loaded, prepared) = prepare(cx, id, input, output, Way::Queued)?;
    cx.with_stream(stream, |stream| match prepared {
        Prepared::Fixed { inputs, outputs } => {
            loaded.model.submit(stream, &inputs, &outputs, &cx.caller())
        }
        Prepared::Open { inputs, outputs } => {
            let results = Arc::<Results>::default();
            dataset::expect(cx, output, results.clone())?;
            loaded
                .model
                .submit_open(stream, inputs, outputs, results, &cx.caller())
        }
    })
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
                "model {id} is executed both by aclmdlExecute and by aclmdlExecuteAsync; the first execution decides which it is to be"
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
    let inputs = inputs
        .iter()
        .zip(&description.inputs)
        .enumerate()
        .map(|(index, (buffer, tensor))| span(cx, buffer, tensor, ("input", index)))
        .collect::<Result<Vec<_>>>()?;
    let outputs = outputs
        .iter()
        .zip(&description.outputs)
        .enumerate()
        .map(|(index, (buffer, tensor))| {
            provide(cx, buffer, tensor.bytes, way)?;
            span(cx, buffer, tensor, ("output", index))
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
    match space.find(address) {
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
            format!("lies at {address:#x}, which is no live device memory"),
            "Copy it to memory from aclrtMalloc; a model reads and writes device memory.",
        )),
    }
}

/// Checks what every choice of a dynamic size checks first, and refuses it for models with fixed shapes, which are all that
/// this version builds.
fn choose(cx: &Cx<'_>, id: u32, dataset: Raw, index: usize, zero: bool, what: &str) -> Result<()> {
    let entries = dataset::entries(cx, dataset, "dataset")?;
    if zero {
        return refuse(ErrorKind::InvalidArgument, format!("the {what} is 0"));
    }
    let buffer = entries.get(index).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "buffer {index} was named of a dataset with {} buffers",
                entries.len()
            ),
        )
    })?;
    if cx
        .process
        .data_buffers
        .get(buffer.buffer.0)?
        .content
        .lock()
        .0
        == 0
    {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("buffer {index} of the dataset has no memory"),
        );
    }
    initialized(cx)?;
    let loaded = find(cx, id)?;
    Err(Error::new(
        ErrorKind::DynamicBatch,
        format!(
            "model {id} (\"{}\") has fixed shapes, so there is no {what} to choose",
            loaded.model.description().name
        ),
    ))
}

pub fn aclmdlSetDynamicBatchSize(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    batch: u64,
) -> Result<()> {
    choose(cx, id, dataset, index, batch == 0, "batch size")
}

pub fn aclmdlSetDynamicHWSize(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    height: u64,
    width: u64,
) -> Result<()> {
    choose(
        cx,
        id,
        dataset,
        index,
        height == 0 || width == 0,
        "picture size",
    )
}

pub fn aclmdlSetInputDynamicDims(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    dims: Option<&types::aclmdlIODims>,
) -> Result<()> {
    let dims = dims.ok_or_else(|| null("dims"))?;
    choose(
        cx,
        id,
        dataset,
        index,
        dims.dimCount == 0,
        "set of dimensions",
    )
}
