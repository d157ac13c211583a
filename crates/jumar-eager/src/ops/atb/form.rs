//! The tensors of an operation: their order, types, ranks and memory.

use std::ops::RangeInclusive;

use jumar_types::dtype::DataType;

use super::rejection::{Rejection, Status};
use crate::build::Cx;
use crate::ops::PlanFn;
use crate::ops::operands::FLOATS;
use crate::{Arg, Dims, Io, Param, ParamKind, Plan, Signature, TensorArg, TensorDesc, Types};

/// Formats whose elements lie in row-major order: NCHW, NHWC, ND, NDHWC, NCDHW.
const DENSE: &[i32] = &[0, 1, 2, 27, 30];
/// The format ND.
pub(super) const ND: i32 = 2;
/// The format of matrices in blocks of 16 rows and 32 bytes, FRACTAL_NZ.
pub(super) const NZ: i32 = 29;
/// Bytes that no tensor exceeds.
const MOST_BYTES: u64 = 256 << 30;

/// A tensor of a call.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    /// The element type, as `aclDataType` numbers it.
    pub dtype: i32,
    /// The format, as `aclFormat` numbers it.
    pub format: i32,
    /// The dimensions.
    pub dims: &'a [i64],
    /// The size of the memory. `None` where a call describes tensors only.
    pub bytes: Option<u64>,
    /// The contents in host memory, where the tensor lies there.
    pub host: Option<&'a [u8]>,
    /// Whether the tensor has an address of device memory.
    pub on_device: bool,
}

impl Tensor<'_> {
    /// Reports whether an optional tensor is absent: it has no dimensions or an empty one.
    fn is_absent(&self) -> bool {
        self.dims.is_empty() || self.dims.contains(&0)
    }
}

/// The type and the shape of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The element type.
    pub dtype: DataType,
    /// The format, as `aclFormat` numbers it.
    pub format: i32,
    /// The dimensions.
    pub dims: Vec<i64>,
}

impl Description {
    /// Describes a tensor of the format ND.
    pub(super) fn new(dtype: DataType, dims: &[i64]) -> Description {
        Description {
            dtype,
            format: ND,
            dims: dims.to_vec(),
        }
    }
}

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Device,
    /// Integers that are read when the call is made.
    Host,
}

/// An input or output of an operation.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The name in the signature.
    pub name: &'static str,
    types: &'static [DataType],
    ranks: RangeInclusive<usize>,
    memory: Memory,
    optional: bool,
    /// The input whose type this one has.
    like: Option<&'static str>,
    /// Whether FRACTAL_NZ is accepted, or the only format.
    blocked: bool,
    /// Whether the number of elements counts, and not the shape.
    any_shape: bool,
    /// Whether an output may have any floating-point type.
    any_type: bool,
}

impl Slot {
    /// Creates a tensor in device memory.
    pub fn new(
        name: &'static str,
        types: &'static [DataType],
        ranks: RangeInclusive<usize>,
    ) -> Slot {
        Slot {
            name,
            types,
            ranks,
            memory: Memory::Device,
            optional: false,
            like: None,
            blocked: false,
            any_shape: false,
            any_type: false,
        }
    }

    /// Creates integers in host memory.
    pub fn host(name: &'static str, ranks: RangeInclusive<usize>) -> Slot {
        Slot {
            memory: Memory::Host,
            ..Slot::new(name, HOST, ranks)
        }
    }

    /// Creates an output. Its type and shape are those that are inferred.
    pub fn out(name: &'static str) -> Slot {
        Slot::new(name, &[], 1..=8)
    }

    pub fn is_host(&self) -> bool {
        self.memory == Memory::Host
    }

    pub fn optional(mut self) -> Slot {
        self.optional = true;
        self
    }

    pub fn like(mut self, name: &'static str) -> Slot {
        self.like = Some(name);
        self
    }

    /// Accepts FRACTAL_NZ as well.
    pub fn blocked(mut self) -> Slot {
        self.blocked = true;
        self
    }

    pub fn any_shape(mut self) -> Slot {
        self.any_shape = true;
        self
    }

    /// Accepts any floating-point type as the type of an output.
    pub fn any_type(mut self) -> Slot {
        self.any_type = true;
        self
    }

    fn refuse(&self, status: Status, text: impl std::fmt::Display) -> Rejection {
        Rejection::new(status, format!("{} {text}", self.name))
    }

    /// Checks rank, format, dimensions and size, and returns the element type.
    fn check(&self, tensor: &Tensor<'_>) -> Result<DataType, Rejection> {
        let rank = tensor.dims.len();
        if !self.ranks.contains(&rank) {
            let (least, most) = (self.ranks.start(), self.ranks.end());
            let wanted = match least == most {
                true => least.to_string(),
                false => format!("between {least} and {most}"),
            };
            return Err(self.refuse(
                Status::TensorDimNum,
                format_args!(
                    "has {rank} dimensions, {:?}; it must have {wanted}",
                    tensor.dims
                ),
            ));
        }
        let is_known = DENSE.contains(&tensor.format) || self.blocked && tensor.format == NZ;
        if !is_known {
            let wanted = match self.blocked {
                true => "2 (ND) or 29 (FRACTAL_NZ)",
                false => "2 (ND)",
            };
            return Err(self.refuse(
                Status::TensorFormat,
                format_args!("has the format {}; it must be {wanted}", tensor.format),
            ));
        }
        let found = DataType::from_acl(tensor.dtype).filter(|dtype| dtype.size().is_some());
        let Some(dtype) = found else {
            return Err(self.refuse(
                Status::TensorDtype,
                format_args!(
                    "has the type {}, which is not a type of elements",
                    tensor.dtype
                ),
            ));
        };
        let mut elements = Some(1u64);
        for dim in tensor.dims {
            let dim = u64::try_from(*dim).ok().filter(|dim| *dim > 0);
            let Some(dim) = dim else {
                return Err(self.refuse(
                    Status::TensorDim,
                    format_args!(
                        "has the shape {:?}; each dimension must be at least 1",
                        tensor.dims
                    ),
                ));
            };
            elements = elements.and_then(|all| all.checked_mul(dim));
        }
        let size = dtype.size().unwrap_or_default() as u64;
        let bytes = elements.and_then(|all| all.checked_mul(size));
        let Some(bytes) = bytes.filter(|bytes| *bytes <= MOST_BYTES) else {
            return Err(self.refuse(
                Status::TensorDim,
                format_args!("has the shape {:?}, more than 256 GB", tensor.dims),
            ));
        };
        if let Some(given) = tensor.bytes
            && given < bytes
        {
            return Err(self.refuse(
                Status::TensorSize,
                format_args!(
                    "has {given} bytes (dataSize); its shape {:?} of {dtype} has {bytes}",
                    tensor.dims
                ),
            ));
        }
        Ok(dtype)
    }

    /// Returns the integers of a host tensor.
    fn values(&self, tensor: &Tensor<'_>, dtype: DataType) -> Result<Vec<i64>, Rejection> {
        let Some(bytes) = tensor.host else {
            let where_it_is = match tensor.on_device {
                true => "has an address of device memory only (deviceData)",
                false => "has no address",
            };
            return Err(self
                .refuse(
                    Status::TensorAddress,
                    format_args!("{where_it_is}; its values are read on the host (hostData)"),
                )
                .with_fix("Set hostData to the address of the values in host memory."));
        };
        let count = tensor.dims.iter().product::<i64>() as usize;
        let size = dtype.size().unwrap_or(1);
        if bytes.len() < count * size {
            return Err(self.refuse(
                Status::TensorSize,
                format_args!("has {} bytes for {count} values", bytes.len()),
            ));
        }
        let values = bytes.chunks_exact(size).take(count);
        Ok(values
            .map(|value| match (dtype, value) {
                (DataType::UInt32, &[a, b, c, d]) => i64::from(u32::from_le_bytes([a, b, c, d])),
                (_, &[a, b, c, d]) => i64::from(i32::from_le_bytes([a, b, c, d])),
                (_, value) => {
                    let mut word = [0; 8];
                    word[..value.len().min(8)].copy_from_slice(&value[..value.len().min(8)]);
                    i64::from_le_bytes(word)
                }
            })
            .collect())
    }
}

/// The types of integers in host memory.
const HOST: &[DataType] = &[DataType::Int32, DataType::UInt32, DataType::Int64];

/// The types and shapes of the inputs of a call, for the inference of its outputs.
pub(super) struct Inputs<'a> {
    form: &'a Form,
    tensors: Vec<Option<(DataType, &'a Tensor<'a>)>>,
}

impl Inputs<'_> {
    fn find(&self, name: &str) -> Option<(DataType, &Tensor<'_>)> {
        let mut slots = self.form.inputs.iter();
        let at = slots.position(|slot| slot.name == name)?;
        self.tensors[at]
    }

    /// Returns the dimensions of an input; none where it is absent.
    pub fn dims(&self, name: &str) -> &[i64] {
        self.find(name).map_or(&[], |(_, tensor)| tensor.dims)
    }

    /// Reports whether an input has the format FRACTAL_NZ.
    pub fn is_blocked(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|(_, tensor)| tensor.format == NZ)
    }

    /// Reports whether an input is given.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the type of an input.
    pub fn dtype(&self, name: &str) -> DataType {
        self.find(name)
            .map_or(DataType::Float32, |(dtype, _)| dtype)
    }

    /// Returns the description of an input, for an output that is the same.
    pub fn same(&self, name: &str) -> Description {
        let format = self.find(name).map_or(ND, |(_, tensor)| tensor.format);
        Description {
            format,
            ..Description::new(self.dtype(name), self.dims(name))
        }
    }

    /// Returns a parameter.
    pub fn int(&self, name: &str) -> i64 {
        let mut values = self.form.values.iter();
        match values.find(|(own, _)| *own == name) {
            Some((_, Arg::Int(value))) => *value,
            Some((_, Arg::Bool(value))) => i64::from(*value),
            _ => 0,
        }
    }

    /// Creates the refusal of a shape.
    pub fn refuse(&self, text: impl Into<String>) -> Rejection {
        Rejection::new(Status::TensorDim, text)
    }
}

/// Finds the outputs of an operation.
pub(super) type Infer = fn(&Inputs<'_>) -> Result<Vec<Description>, Rejection>;

/// What an operation takes and computes.
pub(super) struct Form {
    pub signature: &'static Signature,
    pub inputs: Vec<Slot>,
    pub outputs: Vec<Slot>,
    /// The attributes of the plan.
    pub values: Vec<(&'static str, Arg)>,
    pub infer: Infer,
    pub plan: PlanFn,
}

/// The tensor of a call that a tensor argument of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An absent optional tensor.
    None,
    /// An input.
    In(usize),
    /// An output.
    Out(usize),
}

/// The arguments of a plan, bound to the tensors of a call.
pub struct Bound {
    /// The operation, as plans see it.
    pub signature: &'static Signature,
    /// The arguments, in the order of the signature.
    pub args: Vec<Arg>,
    /// The tensor that each tensor argument is.
    pub sources: Vec<Source>,
    /// Inputs and outputs that have to be the same memory.
    pub in_place: Vec<(usize, usize)>,
    plan: PlanFn,
}

impl Bound {
    /// Plans the call.
    ///
    /// # Errors
    ///
    /// Shapes do not fit each other; a value of a host tensor is out of its range; a combination that is not computed.
    pub fn plan(&self, args: &[Arg]) -> Result<Plan, Rejection> {
        let plan = || {
            let mut cx = Cx::new(self.signature, args, false)?;
            (self.plan)(&mut cx)?;
            cx.finish()
        };
        plan().map_err(Rejection::from)
    }
}

impl Form {
    /// Checks the inputs of a call.
    fn inputs<'a>(&'a self, inputs: &'a [Tensor<'a>]) -> Result<Inputs<'a>, Rejection> {
        if inputs.len() != self.inputs.len() {
            let names: Vec<&str> = self.inputs.iter().map(|slot| slot.name).collect();
            return Err(Rejection::new(
                Status::InTensorNum,
                format!(
                    "there are {} input tensors; {} are wanted: {}",
                    inputs.len(),
                    names.len(),
                    names.join(", ")
                ),
            ));
        }
        let mut found = Inputs {
            form: self,
            tensors: Vec::with_capacity(inputs.len()),
        };
        for (slot, tensor) in self.inputs.iter().zip(inputs) {
            if slot.optional && tensor.is_absent() {
                found.tensors.push(None);
                continue;
            }
            let dtype = slot.check(tensor)?;
            if !slot.types.is_empty() && !slot.types.contains(&dtype) {
                let names: Vec<String> = slot.types.iter().map(DataType::to_string).collect();
                return Err(slot.refuse(
                    Status::TensorDtype,
                    format_args!("has the type {dtype}; it must be {}", names.join(", ")),
                ));
            }
            found.tensors.push(Some((dtype, tensor)));
        }
        for (slot, own) in self.inputs.iter().zip(&found.tensors) {
            let (Some(like), Some((dtype, _))) = (slot.like, own) else {
                continue;
            };
            if let Some((wanted, _)) = found.find(like)
                && wanted != *dtype
            {
                return Err(slot.refuse(
                    Status::Combination,
                    format_args!("has the type {dtype}; it must be {wanted}, as {like}"),
                ));
            }
        }
        Ok(found)
    }

    pub fn infer(&self, inputs: &[Tensor<'_>]) -> Result<Vec<Description>, Rejection> {
        let inputs = self.inputs(inputs)?;
        (self.infer)(&inputs)
    }

    pub fn bind(&self, inputs: &[Tensor<'_>], outputs: &[Tensor<'_>]) -> Result<Bound, Rejection> {
        let known = self.inputs(inputs)?;
        let wanted = (self.infer)(&known)?;
        self.check_outputs(outputs, &wanted)?;
        let mut bound = Bound {
            signature: self.signature,
            args: Vec::with_capacity(self.signature.params.len()),
            sources: Vec::new(),
            in_place: Vec::new(),
            plan: self.plan,
        };
        for param in self.signature.params {
            let output = self.outputs.iter().position(|slot| slot.name == param.name);
            let input = self.inputs.iter().position(|slot| slot.name == param.name);
            let arg = match (param.kind, output, input) {
                (ParamKind::Tensor, Some(output), input) => {
                    if let Some(input) = input {
                        bound.in_place.push((input, output));
                    }
                    let own = &outputs[output];
                    let dtype = DataType::from_acl(own.dtype).unwrap_or(wanted[output].dtype);
                    bound.tensor(Source::Out(output), dtype, own.dims)
                }
                (ParamKind::Tensor, None, Some(input)) => match known.tensors[input] {
                    Some((dtype, tensor)) => bound.tensor(Source::In(input), dtype, tensor.dims),
                    None => bound.absent(),
                },
                (ParamKind::Tensor, None, None) => bound.absent(),
                (ParamKind::Ints, _, Some(input)) => match known.tensors[input] {
                    Some((dtype, tensor)) => Arg::Ints(self.inputs[input].values(tensor, dtype)?),
                    None => Arg::Null,
                },
                _ => self.value(param, &known),
            };
            bound.args.push(arg);
        }
        self.check_memory(&known)?;
        Ok(bound)
    }

    /// Returns an attribute. Whether a tensor is in blocks is one, by the name of the tensor with `NZ` behind it.
    fn value(&self, param: &Param, known: &Inputs<'_>) -> Arg {
        if let Some(name) = param.name.strip_suffix("NZ") {
            return Arg::Bool(known.is_blocked(name));
        }
        let mut values = self.values.iter();
        let found = values.find(|(own, _)| *own == param.name);
        found.map_or(Arg::Null, |(_, value)| value.clone())
    }

    /// Refuses host memory where the operation works on the device.
    fn check_memory(&self, known: &Inputs<'_>) -> Result<(), Rejection> {
        for (slot, own) in self.inputs.iter().zip(&known.tensors) {
            if let Some((_, tensor)) = own
                && slot.memory == Memory::Device
                && tensor.host.is_some()
                && !tensor.on_device
            {
                return Err(slot
                    .refuse(
                        Status::TensorAddress,
                        "has an address of host memory only (hostData); it is read on the device (deviceData)",
                    )
                    .with_fix("Copy the tensor to the device, and set deviceData."));
            }
        }
        Ok(())
    }

    fn check_outputs(
        &self,
        outputs: &[Tensor<'_>],
        wanted: &[Description],
    ) -> Result<(), Rejection> {
        if outputs.len() != self.outputs.len() || wanted.len() != outputs.len() {
            let names: Vec<&str> = self.outputs.iter().map(|slot| slot.name).collect();
            return Err(Rejection::new(
                Status::OutTensorNum,
                format!(
                    "there are {} output tensors; {} are wanted: {}",
                    outputs.len(),
                    names.len(),
                    names.join(", ")
                ),
            ));
        }
        for ((slot, tensor), wanted) in self.outputs.iter().zip(outputs).zip(wanted) {
            let dtype = slot.check(tensor)?;
            if dtype != wanted.dtype && !(slot.any_type && FLOATS.contains(&dtype)) {
                return Err(slot.refuse(
                    Status::TensorDtype,
                    format_args!("has the type {dtype}; the result is {}", wanted.dtype),
                ));
            }
            let same = match slot.any_shape {
                true => tensor.dims.iter().product::<i64>() == wanted.dims.iter().product(),
                false => tensor.dims == wanted.dims,
            };
            if !same {
                return Err(slot.refuse(
                    Status::TensorDim,
                    format_args!(
                        "has the shape {:?}; the result has {:?}",
                        tensor.dims, wanted.dims
                    ),
                ));
            }
        }
        Ok(())
    }
}

impl Bound {
    fn tensor(&mut self, source: Source, dtype: DataType, dims: &[i64]) -> Arg {
        let buffer = self.sources.len();
        self.sources.push(source);
        Arg::Tensor(TensorArg {
            desc: TensorDesc {
                dims: Dims::new(dims),
                ..TensorDesc::contiguous(dtype, dims)
            },
            buffer,
        })
    }

    fn absent(&mut self) -> Arg {
        self.sources.push(Source::None);
        Arg::Null
    }
}

/// Creates a parameter of a signature.
pub(super) const fn param(name: &'static str, kind: ParamKind, io: Io) -> Param {
    Param {
        name,
        kind,
        optional: true,
        io,
        types: Types::ANY,
    }
}

/// The signature of an operation: its name, and its parameters with their kinds.
macro_rules! signature {
    ($name:literal: $($param:ident $kind:ident),* $(,)?) => {
        crate::Signature {
            name: $name,
            params: &[$(signature!(@param $kind stringify!($param))),*],
        }
    };
    (@param In $name:expr) => { crate::ops::atb::form::param($name, crate::ParamKind::Tensor, crate::Io::In) };
    (@param Out $name:expr) => { crate::ops::atb::form::param($name, crate::ParamKind::Tensor, crate::Io::Out) };
    (@param InOut $name:expr) => { crate::ops::atb::form::param($name, crate::ParamKind::Tensor, crate::Io::InOut) };
    (@param $kind:ident $name:expr) => { crate::ops::atb::form::param($name, crate::ParamKind::$kind, crate::Io::In) };
}
pub(super) use signature;
