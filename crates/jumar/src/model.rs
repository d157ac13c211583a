//! Models: loaded on a device, run on a stream.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jumar_core::Span;
use jumar_model::graph::{self, BuildOptions, GraphError};
use jumar_model::{Package, SuppliedMemory};
use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind, Result};

use crate::buffer::{DeviceBuffer, DevicePart, Memory, OnDevice};
use crate::call::{self, by};
use crate::context::{self, Context};
use crate::element::Element;
use crate::pending::Pending;
use crate::runtime::wait_elsewhere;
use crate::stream::Stream;

/// A model on a device. A clone refers to the same model.
///
/// ```no_run
/// use jumar::{DeviceBuffer, Model, Runtime};
///
/// let runtime = Runtime::new()?;
/// let context = runtime.device(0)?.context()?;
/// let stream = context.stream()?;
/// let model = Model::load(&context, "digits.om")?;
///
/// let image = DeviceBuffer::from_slice(&context, &[0.0f32; 64])?;
/// let outputs = model.run(&stream, &[(&image).into()])?.wait()?;
/// let scores = outputs.read::<f32>(0)?;
/// assert_eq!(scores.len(), 10);
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// It holds its context. Dropping the last name waits for queued executions.
///
/// # Threads
/// Any thread may run it, on any stream of its context. A model has one work memory, so its executions follow each other, also
/// on different streams; different models run beside each other.
#[derive(Clone)]
pub struct Model {
    inner: Arc<ModelNames>,
}

/// What the names of a model share.
struct ModelNames {
    context: Arc<context::SharedContext>,
    core: Arc<jumar_model::Model>,
    inputs: Vec<TensorInfo>,
    outputs: Vec<TensorInfo>,
}

/// One input or output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// The name in the model.
    pub name: String,
    /// The type of the elements.
    pub data_type: DataType,
    /// The dimensions, outermost first.
    pub shape: Vec<usize>,
}

impl TensorInfo {
    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn of(tensor: &jumar_model::TensorInfo) -> Result<TensorInfo> {
        let known = DataType::from_acl(tensor.data_type);
        let shape: Option<Vec<usize>> = tensor
            .dims
            .iter()
            .map(|&dim| usize::try_from(dim).ok())
            .collect();
        match (known, shape) {
            (Some(data_type), Some(shape)) => Ok(TensorInfo {
                name: tensor.name.clone(),
                data_type,
                shape,
            }),
            _ => {
                let sentence = format!(
                    "tensor \"{}\" has the data type {} and the dimensions {:?}, which this interface does not have",
                    tensor.name, tensor.data_type, tensor.dims
                );
                Err(Error::new(ErrorKind::FeatureUnsupported, sentence))
            }
        }
    }
}

impl Model {
    /// Loads a model file (`.om`) that `atc` made.
    ///
    /// # Errors
    /// `ModelPath`: the file cannot be read; `ModelInvalid`, `ModelDataSize`: it is damaged or of another maker;
    /// `ModelMemory`: the device has not enough memory for it.
    pub fn load(context: &Context, path: impl AsRef<Path>) -> Result<Model> {
        by(&call::LOAD, |_| Package::open(path.as_ref()))
            .and_then(|package| Model::load_package(context, &package))
    }

    /// Loads the bytes of a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(context: &Context, bytes: Vec<u8>) -> Result<Model> {
        by(&call::LOAD, |_| Package::parse(bytes))
            .and_then(|package| Model::load_package(context, &package))
    }

    /// Converts an ONNX file in memory, as `atc` would, and loads it.
    ///
    /// # Shapes
    /// `shapes` fixes the dimensions of inputs that the file leaves open, by name.
    ///
    /// # Errors
    /// `ModelPath`: the file cannot be read; `ModelInvalid`: it contradicts ONNX, or has an operator that is not there yet;
    /// `InvalidArgument`: an input needs a shape, or was given a wrong one; `ModelMemory`: the device has not enough memory for it.
    pub fn from_onnx(
        context: &Context,
        path: impl AsRef<Path>,
        shapes: &[(&str, &[usize])],
    ) -> Result<Model> {
        let path = path.as_ref();
        let package = by(&call::LOAD, |_| {
            let onnx = graph::onnx::read_file(path)
                .map_err(|error| Error::new(ErrorKind::ModelPath, error.text()))?;
            let (compiled, executable) = compile(&onnx, path, shapes).map_err(|error| {
                let asks = [
                    graph::GraphErrorKind::NeedsShape,
                    graph::GraphErrorKind::InvalidOption,
                ];
                let kind = if asks.contains(&error.kind()) {
                    ErrorKind::InvalidArgument
                } else {
                    ErrorKind::ModelInvalid
                };
                Error::new(kind, format!("{}: {error}", path.display()))
            })?;
            Package::from_model(compiled, executable)
        })?;
        Model::load_package(context, &package)
    }

    fn load_package(context: &Context, package: &Package<'_>) -> Result<Model> {
        let shared = context.inner.clone();
        by(&call::LOAD, |caller| {
            let described = package.description();
            let inputs = described
                .inputs
                .iter()
                .map(TensorInfo::of)
                .collect::<Result<_>>()?;
            let outputs = described
                .outputs
                .iter()
                .map(TensorInfo::of)
                .collect::<Result<_>>()?;
            let load = || {
                jumar_model::Model::load(package, &shared.core, SuppliedMemory::default(), caller)
            };
            let core = match load() {
                // Memory that is only waiting for its last tasks is as good as free.
                Err(error)
                    if error.kind() == ErrorKind::ModelMemory && shared.runtime.reclaim_all() =>
                {
                    load()
                }
                other => other,
            }?;
            Ok(Model {
                inner: Arc::new(ModelNames {
                    context: shared.clone(),
                    core,
                    inputs,
                    outputs,
                }),
            })
        })
    }

    /// Returns the model's name.
    pub fn name(&self) -> &str {
        &self.inner.core.description().name
    }

    /// Describes the inputs, in order.
    pub fn inputs(&self) -> &[TensorInfo] {
        &self.inner.inputs
    }

    /// Describes the outputs, in order.
    pub fn outputs(&self) -> &[TensorInfo] {
        &self.inner.outputs
    }

    /// Queues one execution; its outputs are new memory.
    ///
    /// # Errors
    /// `InvalidValue`: the number, type or length of the inputs is not the model's; `ModelContext`: the stream is of another
    /// context; `InvalidDevice`, `InvalidHandle`: an input lies elsewhere; `OutOfMemory`: not enough memory for the outputs.
    pub fn run(&self, stream: &Stream, inputs: &[Operand<'_>]) -> Result<Pending<Outputs>> {
        let context = Context {
            inner: self.inner.context.clone(),
        };
        let values = self.outputs().iter().map(|info| {
            let bytes = info.data_type.size_of(info.len()).unwrap_or(0);
            Ok(Output {
                memory: Memory::on_device(&context, bytes)?,
                bytes,
                info: info.clone(),
            })
        });
        let outputs = Outputs {
            device: stream.device(),
            values: values.collect::<Result<_>>()?,
        };
        let operands: Vec<Operand<'_>> = outputs
            .values
            .iter()
            .map(|output| output.operand(outputs.device))
            .collect();
        let done = self.submit(stream, inputs, &operands)?;
        Ok(Pending::new(outputs, stream.clone(), done))
    }

    /// Queues one execution that writes into buffers of the program.
    ///
    /// # Errors
    /// As [`Model::run`], for inputs and outputs.
    pub fn run_into(
        &self,
        stream: &Stream,
        inputs: &[Operand<'_>],
        outputs: &[Operand<'_>],
    ) -> Result<()> {
        self.submit(stream, inputs, outputs).map(drop)
    }

    fn submit(
        &self,
        stream: &Stream,
        inputs: &[Operand<'_>],
        outputs: &[Operand<'_>],
    ) -> Result<Arc<jumar_core::Signal>> {
        by(&call::RUN, |caller| {
            if !Arc::ptr_eq(&stream.inner.context, &self.inner.context) {
                let sentence = format!(
                    "model \"{}\" was loaded in another context than that of stream {}",
                    self.name(),
                    stream.number()
                );
                return Err(Error::new(ErrorKind::ModelContext, sentence)
                    .fix("Make the stream in the model's context."));
            }
            self.check("input", inputs, self.inputs(), stream)?;
            self.check("output", outputs, self.outputs(), stream)?;
            let reads: Vec<_> = inputs.iter().map(|operand| operand.memory).collect();
            let writes: Vec<_> = outputs.iter().map(|operand| operand.memory).collect();
            let spans = |operands: &[Operand<'_>]| {
                operands
                    .iter()
                    .map(|operand| operand.span)
                    .collect::<Vec<_>>()
            };
            stream.submit(&reads, &writes, caller, |core| {
                self.inner
                    .core
                    .submit(core, &spans(inputs), &spans(outputs), caller)
            })
        })
    }

    fn check(
        &self,
        noun: &str,
        given: &[Operand<'_>],
        wanted: &[TensorInfo],
        stream: &Stream,
    ) -> Result<()> {
        let refuse = |sentence: String| Err(Error::new(ErrorKind::InvalidValue, sentence));
        if given.len() != wanted.len() {
            return refuse(format!(
                "model \"{}\" has {} {noun}s, and {} were given",
                self.name(),
                wanted.len(),
                given.len()
            ));
        }
        for (index, (operand, info)) in given.iter().zip(wanted).enumerate() {
            stream.owns(operand.memory)?;
            stream.reaches(operand.device)?;
            if !operand.fits(info) {
                return refuse(format!(
                    "{noun} {index} (\"{}\") of model \"{}\" is {} elements of {}, and the buffer is {} of {}",
                    info.name,
                    self.name(),
                    info.len(),
                    info.data_type,
                    operand.len,
                    operand.data_type
                ));
            }
        }
        Ok(())
    }
}

fn compile(
    onnx: &[u8],
    path: &Path,
    shapes: &[(&str, &[usize])],
) -> std::result::Result<(graph::Model, graph::Executable), GraphError> {
    // Weights may lie in files beside the model.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let imported = graph::onnx::import(onnx, Some(folder))?;
    let options = BuildOptions {
        name: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        input_shapes: shapes
            .iter()
            .map(|(name, dims)| {
                let fixed = |&dim: &usize| i64::try_from(dim).map_or((0, -1), |dim| (dim, dim));
                ((*name).to_owned(), dims.iter().map(fixed).collect())
            })
            .collect::<BTreeMap<_, _>>(),
        ..BuildOptions::default()
    };
    graph::compile_to_run(imported, &options)
}

impl Drop for ModelNames {
    fn drop(&mut self) {
        let (context, core) = (self.context.clone(), self.core.clone());
        wait_elsewhere(move || {
            let _ignored: Result<()> = by(&call::DROP_MODEL, |caller| {
                core.unload(caller);
                Ok(())
            });
            drop(context);
        });
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.name())
            .field("inputs", &self.inputs())
            .field("outputs", &self.outputs())
            .finish()
    }
}

/// A device buffer, or a part of one, as an input or output of a model: made with `(&buffer).into()`.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    memory: &'a Arc<Memory>,
    device: u32,
    span: Span,
    data_type: DataType,
    len: usize,
}

impl<'a> Operand<'a> {
    pub(crate) fn memory(&self) -> &'a Arc<Memory> {
        self.memory
    }

    fn fits(&self, info: &TensorInfo) -> bool {
        // A boolean is a byte, and Rust's own `bool` is not a number.
        let same = self.data_type == info.data_type
            || (info.data_type == DataType::Bool && self.data_type == DataType::UInt8);
        same && self.len == info.len()
    }
}

impl<'a, T: Element> From<&'a DeviceBuffer<T>> for Operand<'a> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Operand<'a> {
        buffer.as_part().into()
    }
}

impl<'a, T: Element> From<DevicePart<'a, T>> for Operand<'a> {
    fn from(part: DevicePart<'a, T>) -> Operand<'a> {
        Operand {
            memory: part.memory,
            device: part.device,
            span: part.span(),
            data_type: T::DATA_TYPE,
            len: part.len(),
        }
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operand")
            .field("device", &self.device)
            .field("type", &self.data_type)
            .field("len", &self.len)
            .finish()
    }
}

/// What one execution gave, on the device.
#[derive(Clone)]
pub struct Outputs {
    device: u32,
    values: Vec<Output>,
}

#[derive(Clone)]
struct Output {
    memory: Arc<Memory>,
    bytes: usize,
    info: TensorInfo,
}

impl Output {
    fn operand(&self, device: u32) -> Operand<'_> {
        let (data_type, len) = (self.info.data_type, self.info.len());
        Operand {
            memory: &self.memory,
            device,
            span: self.memory.span(0, self.bytes),
            data_type,
            len,
        }
    }
}

impl Outputs {
    /// Describes the outputs, in order.
    pub fn infos(&self) -> impl Iterator<Item = &TensorInfo> {
        self.values.iter().map(|output| &output.info)
    }

    /// Reads an output.
    ///
    /// # Threads
    /// Waits for the execution, if that was not done yet.
    ///
    /// # Errors
    /// `InvalidValue`: the model has no such output, or its elements have another type; `CallbackFailed`: a host function would wait.
    pub fn read<T: Element>(&self, index: usize) -> Result<Vec<T>> {
        let output = self.typed::<T>(index)?;
        let mut elements = vec![T::zeroed(); output.info.len()];
        if !elements.is_empty() {
            let (runtime, from) = (&output.memory.runtime, output.memory.span(0, output.bytes));
            by(&call::READ_OUTPUT, |caller| {
                output.memory.wait_for_writes()?;
                runtime
                    .core
                    .read(from, bytemuck::cast_slice_mut(&mut elements), caller)
            })?;
        }
        Ok(elements)
    }

    /// Returns an output as a buffer, for what continues on the device. It is the same memory.
    ///
    /// # Errors
    /// As [`Outputs::read`].
    pub fn buffer<T: Element>(&self, index: usize) -> Result<DeviceBuffer<T>> {
        let output = self.typed::<T>(index)?;
        Ok(DeviceBuffer::over(
            output.memory.clone(),
            self.device,
            output.info.len(),
        ))
    }

    fn typed<T: Element>(&self, index: usize) -> Result<&Output> {
        let refuse = |sentence: String| Err(Error::new(ErrorKind::InvalidValue, sentence));
        let Some(output) = self.values.get(index) else {
            return refuse(format!(
                "there is no output {index}: the model has {}",
                self.values.len()
            ));
        };
        let info = &output.info;
        if info.data_type != T::DATA_TYPE
            && (info.data_type, T::DATA_TYPE) != (DataType::Bool, DataType::UInt8)
        {
            return refuse(format!(
                "output {index} (\"{}\") is of {}, not of {}",
                info.name,
                info.data_type,
                T::DATA_TYPE
            ));
        }
        Ok(output)
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.infos()).finish()
    }
}
