//! Operators of graphs that single operators compute.
//!
//! jumar-eager plans one call of a single operator (`aclnn...`) for tensors of given shapes. A [`SingleOperator`] makes such a call a
//! node of a graph: it names inputs, outputs and attributes as the Graph Engine does, infers the shapes of the outputs, and binds
//! each parameter of the function to one of them. The node is an ordinary operator: it is stored in a model file by its name and
//! its attributes, is planned once for static shapes and again for each new dynamic shape, and shares the workers of the execution.
//!
//! To add an operator, add a row to `table`. A parameter without an entry in `arguments` is bound to the input, output or attribute
//! with its name: `scale1Out` to the output `scale1`, `kGroup` to the attribute `k_group`.

mod attention;
pub mod complex;
mod earlier;
mod shapes;
mod table;

use std::collections::HashMap;
use std::sync::OnceLock;

use jumar_eager::{Arg, Dims, Io, Param, ParamKind, Plan, Refusal, Scalar, Signature, Status};
use jumar_eager::{TensorArg, TensorDesc, signatures};
use jumar_ops::view::{Layout, Region, View, ViewMut};
use jumar_ops::{
    Aliasing, Attr, AttrDef, Call, InferCx, InputDef, InputKind, Kernel, OpError, OpErrorKind,
    Operator, OutputDef, PrepareCx, Tensor, TensorType, Types,
};
use jumar_types::dtype::DataType;

use self::shapes::Shapes;

/// An operator of graphs, and the single operator that computes it.
pub struct SingleOperator {
    /// The operator of graphs.
    pub operator: Operator,
    /// The name of the function: `aclnnAdd`.
    function: &'static str,
    /// What the parameters are whose names differ from those of the operator.
    arguments: &'static [(&'static str, Argument)],
    /// Infers types and shapes of the outputs.
    infer: fn(&Shapes<'_, '_>) -> Result<Vec<TensorType>, OpError>,
}

/// What a parameter of the function gets.
#[derive(Clone, Copy, Debug)]
enum Argument {
    /// The tensor or the values of an input.
    Input(&'static str),
    /// The tensor of an output.
    Output(&'static str),
    /// An input that the function updates: the output starts as a copy of it.
    Update(&'static str, &'static str),
    /// The value of an attribute.
    Attr(&'static str),
    /// A value of the attribute, which is a text, by its position in a list.
    Choice(&'static str, &'static [&'static str]),
    /// The attribute as one number for rows and one for columns.
    Pair(&'static str),
    /// The number of an input, or the second of its two: the upper half of a counter, whose lower half has to be 0.
    Counter(&'static str),
    /// Nothing.
    Null,
    /// The number 1.
    One,
    /// A boolean.
    Bool(bool),
    /// A text.
    Text(&'static str),
    /// The element type of an output.
    TypeOf(&'static str),
    /// The first or the second half of the tensors of the last input, which is a list.
    Part(&'static str, usize),
    /// The values of several attributes that are booleans.
    Flags(&'static [&'static str]),
}

/// Lists the operators.
pub fn all() -> impl Iterator<Item = &'static SingleOperator> {
    let lists = table::ALL.iter().chain(attention::ALL).chain(earlier::ALL);
    let lists = lists.copied();
    lists.chain(complex::all())
}

/// Finds an operator by its name.
pub fn find(name: &str) -> Option<&'static SingleOperator> {
    static INDEX: OnceLock<HashMap<&'static str, &'static SingleOperator>> = OnceLock::new();
    INDEX
        .get_or_init(|| all().map(|single| (single.operator.name, single)).collect())
        .get(name)
        .copied()
}

/// Finds the signature of a function.
fn signature(function: &str) -> Option<&'static Signature> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Signature>> = OnceLock::new();
    INDEX
        .get_or_init(|| {
            let all = signatures::ALL.iter();
            all.map(|signature| (signature.name, signature)).collect()
        })
        .get(function)
        .copied()
}

const fn definition(
    name: &'static str,
    inputs: &'static [InputDef],
    outputs: &'static [OutputDef],
    attrs: &'static [AttrDef],
) -> Operator {
    Operator {
        name,
        onnx: &[],
        inputs,
        outputs,
        attrs,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer,
        prepare,
    }
}

/// Defines an input. The function checks its type.
const fn input(name: &'static str) -> InputDef {
    InputDef::required(name, Types::ALL)
}

/// Defines an input that may be left out.
const fn optional(name: &'static str) -> InputDef {
    InputDef::optional(name, Types::ALL)
}

const fn output(name: &'static str) -> OutputDef {
    OutputDef { name }
}

fn is_constant(def: &InputDef) -> bool {
    matches!(def.kind, InputKind::Constant | InputKind::OptionalConstant)
}

fn internal(text: impl Into<Box<str>>) -> OpError {
    OpError::new(OpErrorKind::Internal, text)
}

fn definition_of(operator: &str) -> Result<&'static SingleOperator, OpError> {
    find(operator).ok_or_else(|| internal(format!("no single operator computes {operator}")))
}

/// Infers the outputs. Where all shapes are known, the function checks its arguments, so that a graph is refused when it is built.
fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let single = definition_of(cx.operator())?;
    let outputs = (single.infer)(&Shapes::new(cx, &single.operator))?;
    let inputs = (0..cx.len()).filter(|&index| cx.has(index));
    let inputs: Vec<_> = inputs
        .map(|index| cx.input(index))
        .collect::<Result<_, _>>()?;
    let known = |ty: &TensorType| ty.elements().is_some();
    let values = single.operator.inputs.iter().enumerate();
    let values = values
        .filter(|(index, def)| is_constant(def) && cx.has(*index))
        .all(|(index, _)| cx.constant(index).is_some());
    if values && inputs.into_iter().all(known) && outputs.iter().all(known) {
        single.plan(cx, &outputs)?;
    }
    Ok(outputs)
}

fn prepare(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let single = definition_of(cx.infer().operator())?;
    let dims = |shape: &[usize]| shape.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
    let outputs = (0..cx.outputs()).map(|index| {
        let shape = dims(cx.output_shape(index)?);
        Ok(TensorType::new(cx.output_dtype(index)?, shape))
    });
    let outputs = outputs.collect::<Result<Vec<_>, OpError>>()?;
    Ok(Box::new(single.plan(cx.infer(), &outputs)?))
}

/// Returns the letters and digits of a name in lower case, without the ending of a parameter.
fn plain_name(name: &str) -> String {
    let end = ["OutOptional", "Optional", "Out", "Ref"];
    let stem = end
        .iter()
        .find_map(|ending| name.strip_suffix(ending).filter(|stem| !stem.is_empty()));
    let letters = stem.unwrap_or(name).chars();
    let letters = letters.filter(|letter| *letter != '_');
    letters.flat_map(char::to_lowercase).collect()
}

impl SingleOperator {
    fn input_index(&self, name: &str) -> Option<usize> {
        let mut inputs = self.operator.inputs.iter();
        inputs.position(|def| def.name == name)
    }

    fn output_index(&self, name: &str) -> Option<usize> {
        let mut outputs = self.operator.outputs.iter();
        outputs.position(|def| def.name == name)
    }

    /// Returns what a parameter gets.
    fn argument(&self, param: &Param) -> Option<Argument> {
        if let Some((_, argument)) = self.arguments.iter().find(|(own, _)| *own == param.name) {
            return Some(*argument);
        }
        let wanted = plain_name(param.name);
        let same = |name: &&'static str| plain_name(name) == wanted;
        let (inputs, outputs) = (self.operator.inputs.iter(), self.operator.outputs.iter());
        let mut inputs = inputs.map(|def| def.name);
        let mut outputs = outputs.map(|def| def.name);
        match param.io {
            Io::In => {}
            Io::Out => return outputs.find(same).map(Argument::Output),
            Io::InOut => {
                let from = inputs.find(same)?;
                return Some(Argument::Update(from, outputs.find(same)?));
            }
        }
        let attrs = self.operator.attrs.iter();
        let found = inputs.find(same);
        found
            .map(Argument::Input)
            .or_else(|| attrs.map(|def| def.name).find(same).map(Argument::Attr))
    }

    /// Plans the function for these shapes.
    fn plan(&self, cx: &InferCx<'_>, outputs: &[TensorType]) -> Result<Single, OpError> {
        let Some(signature) = signature(self.function) else {
            return Err(internal(format!("there is no function {}", self.function)));
        };
        let mut call = Arguments {
            single: self,
            cx,
            outputs,
            buffers: Vec::new(),
            updates: Vec::new(),
        };
        let args = signature.params.iter().map(|param| call.argument(param));
        let args = args.collect::<Result<Vec<_>, _>>()?;
        let plan = jumar_eager::plan_of_any_type(signature, &args);
        let plan = plan.map_err(|refusal| refused(self.function, &refusal))?;
        if plan.writes_shapes() {
            return Err(OpError::new(
                OpErrorKind::NotSupported,
                format!(
                    "{} determines the shape of its result from data, which is not supported in a graph",
                    self.function
                ),
            ));
        }
        if !plan.exchanges().is_empty() {
            return Err(OpError::new(
                OpErrorKind::NotSupported,
                format!(
                    "{} exchanges data between ranks, which is not supported in a graph",
                    self.function
                ),
            ));
        }
        Ok(Single {
            plan,
            buffers: call.buffers,
            updates: call.updates,
        })
    }
}

/// Turns a refusal of the function into one of the operator.
fn refused(function: &str, refusal: &Refusal) -> OpError {
    let kind = match refusal.status() {
        Status::NoKernel => OpErrorKind::NotSupported,
        Status::NullPointer | Status::Invalid | Status::InferShape | Status::Tiling => {
            OpErrorKind::Invalid
        }
        Status::Runtime | Status::Inner | Status::InnerNull => OpErrorKind::Internal,
    };
    OpError::new(kind, format!("{function}: {refusal}"))
}

/// An operand of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Buffer {
    Input(usize),
    Output(usize),
}

/// Collects the arguments of a call.
struct Arguments<'a, 'b> {
    single: &'a SingleOperator,
    cx: &'a InferCx<'b>,
    outputs: &'a [TensorType],
    buffers: Vec<Buffer>,
    updates: Vec<(usize, usize)>,
}

impl Arguments<'_, '_> {
    fn argument(&mut self, param: &Param) -> Result<Arg, OpError> {
        let unbound = || {
            internal(format!(
                "{}: {} is bound to nothing",
                self.single.function, param.name
            ))
        };
        match self.single.argument(param) {
            None if param.optional => Ok(Arg::Null),
            None => Err(unbound()),
            Some(Argument::Null) => Ok(Arg::Null),
            Some(Argument::Input(name)) => {
                let index = self.single.input_index(name).ok_or_else(unbound)?;
                self.input(param, index)
            }
            Some(Argument::Counter(name)) => {
                let index = self.single.input_index(name).ok_or_else(unbound)?;
                match self.cx.constant(index).and_then(Tensor::ints).as_deref() {
                    Some(&[0, upper]) => Ok(Arg::Int(upper)),
                    Some(&[lower, _]) => Err(OpError::new(
                        OpErrorKind::NotSupported,
                        format!(
                            "its input {name} begins with {lower}; of two numbers the first has to be 0"
                        ),
                    )),
                    _ => self.input(param, index),
                }
            }
            Some(Argument::Output(name)) => {
                let index = self.single.output_index(name).ok_or_else(unbound)?;
                let ty = self.outputs.get(index).ok_or_else(unbound)?;
                // An output that was not asked for.
                if ty.elements() == Some(0) && param.name.contains("ptional") {
                    return Ok(Arg::Null);
                }
                self.tensor(Buffer::Output(index), ty.clone())
            }
            Some(Argument::Update(from, to)) => {
                let from = self.single.input_index(from).ok_or_else(unbound)?;
                let to = self.single.output_index(to).ok_or_else(unbound)?;
                let ty = self.outputs.get(to).ok_or_else(unbound)?.clone();
                self.updates.push((from, to));
                self.tensor(Buffer::Output(to), ty)
            }
            Some(Argument::Attr(name)) => {
                let value = self.cx.attr(name).ok_or_else(unbound)?;
                converted(param, value).ok_or_else(unbound)
            }
            Some(Argument::Choice(name, list)) => {
                let Some(Attr::Str(value)) = self.cx.attr(name) else {
                    return Err(unbound());
                };
                let position = list.iter().position(|one| *one == value).ok_or_else(|| {
                    OpError::new(
                        OpErrorKind::Invalid,
                        format!(
                            "its attribute {name} is {value}; it must be one of {}",
                            list.join(", ")
                        ),
                    )
                })?;
                Ok(Arg::Int(position as i64))
            }
            Some(Argument::Pair(name)) => match self.cx.attr(name) {
                Some(Attr::Ints(list)) => Ok(Arg::Ints(shapes::pair(name, &list)?.to_vec())),
                _ => Err(unbound()),
            },
            Some(Argument::One) => Ok(Arg::Scalar(Scalar::of_i64(1))),
            Some(Argument::Bool(value)) => Ok(Arg::Bool(value)),
            Some(Argument::Text(text)) => Ok(Arg::Text(text.to_owned())),
            Some(Argument::TypeOf(name)) => {
                let index = self.single.output_index(name).ok_or_else(unbound)?;
                let dtype = self.outputs.get(index).ok_or_else(unbound)?.dtype;
                Ok(match param.kind {
                    ParamKind::Type => Arg::Type(dtype),
                    _ => Arg::Int(i64::from(dtype.acl())),
                })
            }
            Some(Argument::Part(name, half)) => {
                let first = self.single.input_index(name).ok_or_else(unbound)?;
                let each = self.cx.len().saturating_sub(first) / 2;
                let start = first + half * each;
                let tensors = (start..start + each).map(|index| {
                    let ty = self.cx.input(index)?.clone();
                    match self.tensor(Buffer::Input(index), ty)? {
                        Arg::Tensor(tensor) => Ok(Some(tensor)),
                        _ => Err(unbound()),
                    }
                });
                Ok(Arg::Tensors(tensors.collect::<Result<_, _>>()?))
            }
            Some(Argument::Flags(names)) => {
                let flag = |name: &&str| match self.cx.attr(name) {
                    Some(Attr::Bool(flag)) => Ok(flag),
                    _ => Err(unbound()),
                };
                let flags = names.iter().map(flag);
                Ok(Arg::Bools(flags.collect::<Result<_, _>>()?))
            }
        }
    }

    fn input(&mut self, param: &Param, index: usize) -> Result<Arg, OpError> {
        if !self.cx.has(index) {
            return Ok(Arg::Null);
        }
        if matches!(param.kind, ParamKind::Tensor) {
            let ty = self.cx.input(index)?.clone();
            return self.tensor(Buffer::Input(index), ty);
        }
        let name = self.single.operator.inputs[index].name;
        let Some(tensor) = self.cx.constant(index) else {
            return Err(OpError::new(
                OpErrorKind::NotSupported,
                format!("its input {name} has to be a constant"),
            ));
        };
        let wrong = || {
            OpError::new(
                OpErrorKind::Invalid,
                format!(
                    "its input {name} is {}; {} takes other values",
                    tensor.ty(),
                    self.single.function
                ),
            )
        };
        match param.kind {
            ParamKind::Ints => tensor.ints().map(Arg::Ints).ok_or_else(wrong),
            ParamKind::Int => match tensor.ints().as_deref() {
                Some([one]) => Ok(Arg::Int(*one)),
                _ => Err(wrong()),
            },
            ParamKind::Float => match tensor.floats().as_deref() {
                Some([one]) => Ok(Arg::Float(*one)),
                _ => Err(wrong()),
            },
            ParamKind::Scalar => match tensor.floats().as_deref() {
                Some([one]) => Ok(Arg::Scalar(Scalar::of_f64(*one))),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }

    fn tensor(&mut self, buffer: Buffer, ty: TensorType) -> Result<Arg, OpError> {
        if ty.elements().is_none() {
            return Err(OpError::new(
                OpErrorKind::Unknown,
                format!("the shape of {ty} is not known"),
            ));
        }
        self.buffers.push(buffer);
        Ok(Arg::Tensor(TensorArg {
            desc: TensorDesc {
                dims: Dims::new(&ty.shape),
                ..TensorDesc::contiguous(ty.dtype, &ty.shape)
            },
            buffer: self.buffers.len() - 1,
        }))
    }
}

/// Converts the value of an attribute for a parameter.
fn converted(param: &Param, value: Attr) -> Option<Arg> {
    Some(match (param.kind, value) {
        (ParamKind::Int, Attr::Int(value)) => Arg::Int(value),
        (ParamKind::Int, Attr::Type(dtype)) => Arg::Int(i64::from(dtype.acl())),
        (ParamKind::Int, Attr::Bool(value)) => Arg::Int(i64::from(value)),
        (ParamKind::Type, Attr::Type(dtype)) => Arg::Type(dtype),
        (ParamKind::Type, Attr::Int(number)) => {
            Arg::Type(DataType::from_acl(i32::try_from(number).ok()?)?)
        }
        (ParamKind::Float, Attr::Float(value)) => Arg::Float(f64::from(value)),
        (ParamKind::Bool, Attr::Bool(value)) => Arg::Bool(value),
        (ParamKind::Bool, Attr::Int(value)) => Arg::Bool(value != 0),
        (ParamKind::Text, Attr::Str(text)) => Arg::Text(text),
        (ParamKind::Ints, Attr::Ints(list)) => Arg::Ints(list),
        (ParamKind::Ints, Attr::Int(one)) => Arg::Ints(vec![one]),
        (ParamKind::Floats, Attr::Floats(list)) => Arg::Floats(list),
        (ParamKind::Scalar, Attr::Float(value)) => Arg::Scalar(Scalar::of_f64(f64::from(value))),
        (ParamKind::Scalar, Attr::Int(value)) => Arg::Scalar(Scalar::of_i64(value)),
        _ => return None,
    })
}

/// A planned call. Its steps run on the tensors of the node.
struct Single {
    plan: Plan,
    /// The operands of the node, in the order in which the plan counts its tensors.
    buffers: Vec<Buffer>,
    /// Inputs that are copied to outputs before the steps run.
    updates: Vec<(usize, usize)>,
}

/// The most tensors of one call.
const MOST_TENSORS: usize = 64;

impl Kernel for Single {
    fn scratch_bytes(&self) -> usize {
        self.plan.workspace_bytes()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        for &(from, to) in &self.updates {
            copy(call.input_memory(from)?, call.output_memory(to)?)?;
        }
        let mut regions = [Region::EMPTY; MOST_TENSORS];
        let Some(regions) = regions.get_mut(..self.buffers.len()) else {
            return Err(internal("a call has too many tensors"));
        };
        for (region, buffer) in regions.iter_mut().zip(&self.buffers) {
            *region = match *buffer {
                Buffer::Input(index) => call.input_memory(index)?,
                Buffer::Output(index) => call.output_memory(index)?,
            };
        }
        let ran = self
            .plan
            .run(regions, call.scratch_memory(), call.workers());
        ran.map(drop)
    }
}

/// Copies bytes.
fn copy(from: Region<'_>, to: Region<'_>) -> Result<(), OpError> {
    if from.address() == to.address() {
        return Ok(());
    }
    let layout = Layout::dense(&[from.bytes()]).ok_or_else(|| internal("a row has no layout"))?;
    let source = View::<u8>::new(from, &layout)?;
    ViewMut::<u8>::new(to, &layout)?
        .flat()
        .copy_from(source.flat());
    Ok(())
}

#[cfg(test)]
mod tests;
