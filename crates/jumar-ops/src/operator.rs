//! What a definition of an operator is made of.

use jumar_types::dtype::DataType;

use crate::view::MAX_RANK;
use crate::{AttrDef, Attrs, Call, InferCx, OnnxForm, OpError, PrepareCx, TensorType};

/// A set of data types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u64);

impl Types {
    /// Every type that a tensor in memory can have here.
    pub const ALL: Types = Types::REAL.and(Types::COMPLEX);
    /// All types but the complex ones.
    pub const REAL: Types = Types::of(&[DataType::Bool]).and(Types::NUMBER);
    /// The complex types. Operators here move them; single operators (aclnn) compute with them.
    pub const COMPLEX: Types = Types::of(&[
        DataType::Complex32,
        DataType::Complex64,
        DataType::Complex128,
    ]);
    /// The real floating-point types.
    pub const FLOAT: Types = Types::of(&[
        DataType::Float32,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float64,
    ]);
    /// The integer types of 8 to 64 bits.
    pub const INTEGER: Types = Types::of(&[
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
    ]);
    /// Integers and real floating-point types.
    pub const NUMBER: Types = Types::FLOAT.and(Types::INTEGER);
    /// The types of indices and shapes.
    pub const INDEX: Types = Types::of(&[DataType::Int32, DataType::Int64]);

    /// Makes a set.
    pub const fn of(types: &[DataType]) -> Types {
        let mut bits = 0;
        let mut index = 0;
        while index < types.len() {
            bits |= 1 << types[index].acl();
            index += 1;
        }
        Types(bits)
    }

    /// Joins two sets.
    #[must_use]
    pub const fn and(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// Returns whether a type is in the set.
    pub const fn contains(self, dtype: DataType) -> bool {
        self.0 >> dtype.acl() & 1 == 1
    }

    fn names(self) -> String {
        let names: Vec<_> = DataType::ALL
            .iter()
            .filter(|dtype| self.contains(**dtype))
            .map(|dtype| dtype.name())
            .collect();
        names.join(", ")
    }
}

/// How often an input may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Exactly once.
    Required,
    /// Once or not at all.
    Optional,
    /// Once or more; only as the last input.
    Variadic,
    /// Once, as a constant: its values are needed when the operator is planned, and not when it runs.
    Constant,
    /// As [`Constant`](InputKind::Constant), once or not at all.
    OptionalConstant,
}

/// What a definition says about one input.
#[derive(Clone, Copy, Debug)]
pub struct InputDef {
    /// The name.
    pub name: &'static str,
    /// How often it is given.
    pub kind: InputKind,
    /// The types that it may have.
    pub types: Types,
}

impl InputDef {
    /// Defines an input that has to be given.
    pub const fn required(name: &'static str, types: Types) -> InputDef {
        InputDef {
            name,
            kind: InputKind::Required,
            types,
        }
    }

    /// Defines an input that may be left out.
    pub const fn optional(name: &'static str, types: Types) -> InputDef {
        InputDef {
            name,
            kind: InputKind::Optional,
            types,
        }
    }

    /// Defines an input that is given once or more.
    pub const fn variadic(name: &'static str, types: Types) -> InputDef {
        InputDef {
            name,
            kind: InputKind::Variadic,
            types,
        }
    }

    /// Defines an input whose values are needed when the operator is planned.
    pub const fn constant(name: &'static str, types: Types) -> InputDef {
        InputDef {
            name,
            kind: InputKind::Constant,
            types,
        }
    }

    /// Defines an input whose values are needed when the operator is planned, and that may be left out.
    pub const fn optional_constant(name: &'static str, types: Types) -> InputDef {
        InputDef {
            name,
            kind: InputKind::OptionalConstant,
            types,
        }
    }
}

/// What a definition says about one output.
#[derive(Clone, Copy, Debug)]
pub struct OutputDef {
    /// The name.
    pub name: &'static str,
}

/// Which memory of its inputs an operator's first output may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aliasing {
    /// None: it is written before all inputs were read.
    Distinct,
    /// Exactly the memory of an input of the same shape and type: each element is read before it is written.
    Elementwise,
    /// It *is* the first input's memory under another shape. If both have the same address there is nothing to do,
    /// and where they do not the kernel copies.
    View,
}

/// An operand of a kernel, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An input.
    Input(usize),
    /// An output.
    Output(usize),
}

/// Where an output lies in the first input, counted in elements of a dense tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputView {
    /// The element that comes first.
    pub start: usize,
    /// The stride of each dimension of the output; negative ones go backwards.
    pub strides: Vec<isize>,
}

/// Where an input lies in the first output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPlacement {
    /// The element of a dense output that comes first.
    pub start: usize,
    /// In how many runs of elements it lies there, which are equally long and equally far apart.
    pub runs: usize,
}

/// Computes one operator on given shapes.
///
/// # Threads
///
/// One kernel may run on several threads at once; whatever it needs to write lies in its outputs and its scratch.
pub trait Kernel: Send + Sync {
    /// Returns the number of bytes of scratch memory that a run needs.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// Returns whether the entries of an operand's first dimension may lie apart, each of them dense. All operands of which a
    /// kernel does not say so are dense.
    fn accepts_batch_stride(&self, _slot: Slot) -> bool {
        false
    }

    /// Returns the part of the first input that equals an output, if the kernel only moves elements.
    fn as_view_of_input(&self, _output: usize) -> Option<OutputView> {
        None
    }

    /// Returns the part of the first output that an input is copied to unchanged. What is there already when the kernel runs is not copied again.
    fn as_slice_of_output(&self, _input: usize) -> Option<InputPlacement> {
        None
    }

    /// Returns whether a run takes some tens of nanoseconds for each element of the output, whatever the shapes are.
    fn is_elementwise(&self) -> bool {
        false
    }

    /// Computes. Allocates nothing.
    ///
    /// # Errors
    ///
    /// `Data` where the values cannot be computed on; `Buffer` where a buffer is too small.
    fn run(&self, call: &Call<'_>) -> Result<(), OpError>;
}

/// The definition of one operator.
#[derive(Debug)]
pub struct Operator {
    /// The name in the Graph Engine's IR. Names that begin with `jumar.` are our own, made by fusion.
    pub name: &'static str,
    /// The ONNX operators that become this one.
    pub onnx: &'static [OnnxForm],
    /// The inputs, in order.
    pub inputs: &'static [InputDef],
    /// The outputs, in order. All but the first may be left out by a graph.
    pub outputs: &'static [OutputDef],
    /// The attributes.
    pub attrs: &'static [AttrDef],
    /// Which memory the first output may share with an input.
    pub aliasing: Aliasing,
    /// States that the result depends on the inputs' shapes alone, so that it is constant where those are known.
    pub reads_only_shapes: bool,
    /// Infers types and shapes of the outputs.
    pub infer: fn(&InferCx<'_>) -> Result<Vec<TensorType>, OpError>,
    /// Makes the kernel for given shapes.
    pub prepare: fn(&PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError>,
}

/// The most values of an input that is read while a model is planned: shapes, axes, sizes of parts.
const MOST_VALUES: usize = 1 << 16;

/// The one output of most operators.
pub(crate) const OUTPUT_Y: &[OutputDef] = &[OutputDef { name: "y" }];

impl Operator {
    /// Finds the definition of the input at a position, where the last may stand for several.
    pub fn input(&self, index: usize) -> Option<&'static InputDef> {
        match self.inputs.get(index) {
            Some(def) => Some(def),
            None => self
                .inputs
                .last()
                .filter(|def| def.kind == InputKind::Variadic),
        }
    }

    /// Compares attributes with the definition.
    pub fn check_attrs(&self, attrs: &Attrs) -> Result<(), OpError> {
        attrs.check(self.attrs).map_err(|error| error.at(self.name))
    }

    /// Compares the inputs that are given with the definition.
    pub fn check_inputs(&self, inputs: &[Option<&TensorType>]) -> Result<(), OpError> {
        for (index, input) in inputs.iter().enumerate() {
            let Some(def) = self.input(index) else {
                let known = self.inputs.len();
                let text = format!(
                    "{} inputs are given, and the operator has {known}",
                    inputs.len()
                );
                return Err(OpError::invalid(text).at(self.name));
            };
            match input {
                Some(ty) if !def.types.contains(ty.dtype) => {
                    let text = format!(
                        "the input {} is {}; it can be {}",
                        def.name,
                        ty.dtype.name(),
                        def.types.names()
                    );
                    return Err(OpError::unsupported(text).at(self.name));
                }
                Some(_) => {}
                None => self.may_be_absent(def)?,
            }
        }
        for def in self.inputs.iter().skip(inputs.len()) {
            self.may_be_absent(def)?;
        }
        Ok(())
    }

    fn may_be_absent(&self, def: &InputDef) -> Result<(), OpError> {
        match def.kind {
            InputKind::Optional | InputKind::OptionalConstant => Ok(()),
            InputKind::Required | InputKind::Variadic | InputKind::Constant => {
                Err(OpError::invalid(format!("the input {} is missing", def.name)).at(self.name))
            }
        }
    }

    /// Infers types and shapes of the outputs. Checks inputs and attributes first.
    ///
    /// The sizes that a file states are limited here, for every operator, before anything of such a size is allocated.
    pub fn infer(&self, cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
        self.check_attrs(cx.attributes())?;
        self.check_inputs(cx.inputs())?;
        self.check_lists(cx)?;
        let outputs =
            (self.infer)(&cx.with_definition(self)).map_err(|error| error.at(self.name))?;
        for ty in &outputs {
            Operator::check_result(ty).map_err(|error| error.at(self.name))?;
        }
        Ok(outputs)
    }

    /// Refuses shapes, axes and the like that are longer than any operator takes. The length of such a list becomes the number of
    /// dimensions of a result.
    fn check_lists(&self, cx: &InferCx<'_>) -> Result<(), OpError> {
        for (index, ty) in cx.inputs().iter().enumerate() {
            let (Some(ty), Some(def)) = (ty, self.input(index)) else {
                continue;
            };
            let planned = matches!(def.kind, InputKind::Constant | InputKind::OptionalConstant);
            // Dimensions whose product is beyond counting are a length, too.
            let known = ty.dims().is_some();
            if planned && known && ty.elements().is_none_or(|count| count > MOST_VALUES) {
                let text = format!(
                    "the input {} is {ty}; it can have {MOST_VALUES} values at most",
                    def.name
                );
                return Err(OpError::too_large(text).at(self.name));
            }
        }
        Ok(())
    }

    /// Refuses a result that no kernel could compute.
    fn check_result(ty: &TensorType) -> Result<(), OpError> {
        match ty.rank() {
            Some(rank) if rank > MAX_RANK => Err(OpError::too_large(format!(
                "the result has {rank} dimensions; at most {MAX_RANK} are supported"
            ))),
            Some(_) if ty.dims().is_some() => ty.layout().map(drop),
            _ => Ok(()),
        }
    }

    /// Makes the kernel for given shapes, which all have to be known.
    pub fn prepare(&self, cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
        (self.prepare)(&cx.with_definition(self)).map_err(|error| error.at(self.name))
    }
}
