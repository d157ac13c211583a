//! Operators that are lowered while the model runs, because an input that decides their shapes is computed by it.
//!
//! Such a node becomes one node of [`LATE`], which holds the operator's type, attributes and the names of its inputs. When the values of
//! the inputs are known, inference lowers the operator as a graph of its own, with those that decide as constants, and its kernel runs
//! that graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar_ops::view::{Block, Region};
use jumar_ops::{
    Aliasing, Attr, AttrDef, AttrKind, Attrs, Call, InferCx, InputDef, Kernel, Memory, OpError,
    OpErrorKind, Operator, PrepareCx, TensorType, Types, UNKNOWN,
};
use jumar_types::dtype::DataType;

use super::lower::{self, invalid, unsupported};
use super::{Data, Desc, FORMAT_ND, Graph, Input, Node, Output, Value};
use jumar_graph::{BuildOptions, GraphError, GraphErrorKind, Plan, compile};

/// The operator that such a node becomes.
pub(crate) static LATE: Operator = Operator {
    name: "jumar.Late",
    onnx: &[],
    inputs: &[InputDef::variadic("x", Types::ALL)],
    outputs: &[],
    attrs: &[
        AttrDef::required("kind", AttrKind::Str),
        AttrDef::required("inputs", AttrKind::Strs),
        AttrDef::required("formats", AttrKind::Ints),
        AttrDef::required("names", AttrKind::Strs),
        AttrDef::required("values", AttrKind::Strs),
        AttrDef::required("outputs", AttrKind::Int),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare,
};

/// The most inputs, and the most outputs, of such a node.
const MOST: usize = 64;

/// What is known of an output before the values are.
#[derive(Clone, Copy)]
enum Like {
    /// As many dimensions as the input with this name, of the same type.
    Rank(&'static str),
    /// One dimension, of the same type.
    Vector(&'static str),
    /// The same type of elements.
    Elements(&'static str),
    /// The type of elements that an attribute names.
    Named(&'static str),
    /// This type of elements.
    Of(DataType),
    /// The type of elements in which products of the input are summed.
    Sums(&'static str),
}

use Like::{Elements, Named, Of, Rank, Sums, Vector};

/// An operator that can wait: its type, the inputs that decide, and its outputs. The last output may be there several times.
type Row = (&'static str, &'static [&'static str], &'static [Like]);

/// The operators, in alphabetical order.
const TABLE: &[Row] = &[
    (
        "AsStrided",
        &["size", "stride", "storage_offset"],
        &[Elements("x")],
    ),
    ("AscendDequant", &["deq_scale"], &[Named("dtype")]),
    ("AscendRequant", &["req_scale"], &[Of(DataType::Int8)]),
    ("AvgPoolGrad", &["orig_input_shape"], &[Rank("input_grad")]),
    ("BatchToSpace", &["crops"], &[Rank("x")]),
    ("BatchToSpaceND", &["block_shape", "crops"], &[Rank("x")]),
    ("Bincount", &["size"], &[Elements("weights")]),
    (
        "CTCLossV2",
        &["input_lengths", "target_lengths"],
        &[Vector("log_probs"), Rank("log_probs")],
    ),
    (
        "CTCLossV2Grad",
        &["input_lengths", "target_lengths"],
        &[Rank("log_probs")],
    ),
    ("Concat", &["concat_dim"], &[Rank("x0")]),
    ("ConcatV2", &["concat_dim"], &[Rank("x0")]),
    (
        "Conv2DBackpropFilter",
        &["filter_size"],
        &[Of(DataType::Float32)],
    ),
    (
        "Conv2DBackpropInput",
        &["input_size"],
        &[Rank("out_backprop")],
    ),
    ("Conv2DTranspose", &["input_size"], &[Sums("x")]),
    (
        "Conv3DBackpropInput",
        &["input_size"],
        &[Rank("out_backprop")],
    ),
    ("Conv3DTranspose", &["input_size"], &[Sums("x")]),
    ("CropAndResize", &["crop_size"], &[Elements("boxes")]),
    ("CumulativeLogsumexp", &["axis"], &[Rank("x")]),
    ("EuclideanNorm", &["axes"], &[Elements("x")]),
    ("GatherV2", &["axis"], &[Elements("x")]),
    ("HistogramFixedWidth", &["nbins"], &[Named("dtype")]),
    (
        "ImageProjectiveTransform",
        &["output_shape"],
        &[Rank("images")],
    ),
    ("LinSpace", &["num"], &[Vector("start")]),
    ("MatrixBandPart", &["num_lower", "num_upper"], &[Rank("x")]),
    ("MatrixDiagPartV3", &["k"], &[Elements("x")]),
    (
        "MatrixDiagV2",
        &["k", "num_rows", "num_cols"],
        &[Elements("diagonal")],
    ),
    (
        "MatrixDiagV3",
        &["k", "num_rows", "num_cols"],
        &[Elements("x")],
    ),
    ("MatrixSetDiagV2", &["k"], &[Rank("input")]),
    ("MatrixSetDiagV3", &["k"], &[Rank("input")]),
    ("MaxPoolV2", &["ksize", "strides"], &[Rank("x")]),
    ("PadV3Grad", &["paddings"], &[Rank("x")]),
    ("ProdForceSeA", &["natoms"], &[Elements("net_deriv")]),
    ("ProdVirialSeA", &["natoms"], &[Elements("net_deriv")]),
    ("RaggedBinCount", &["size"], &[Elements("weights")]),
    ("Reshape", &["shape"], &[Elements("x")]),
    ("ResizeBicubic", &["size"], &[Named("dtype")]),
    ("ResizeNearestNeighborV2Grad", &["size"], &[Rank("grads")]),
    ("ReverseV2", &["axis"], &[Rank("x")]),
    ("ScaleAndTranslate", &["size"], &[Of(DataType::Float32)]),
    ("SliceWithAxes", &["offsets", "size"], &[Rank("x")]),
    ("SpaceToBatch", &["paddings"], &[Rank("x")]),
    ("SpaceToBatchND", &["block_shape", "paddings"], &[Rank("x")]),
    (
        "SparseBincount",
        &["dense_shape", "size"],
        &[Elements("weights")],
    ),
    (
        "SparseFillEmptyRows",
        // How many elements a row has decides as well.
        &["indices", "dense_shape"],
        &[
            Rank("indices"),
            Rank("values"),
            Of(DataType::Bool),
            Elements("indices"),
        ],
    ),
    (
        "SparseReshape",
        &["shape", "new_shape"],
        &[Rank("indices"), Rank("new_shape")],
    ),
    ("SparseSegmentMean", &["segment_ids"], &[Rank("x")]),
    ("SparseSegmentMeanGrad", &["output_dim0"], &[Rank("x")]),
    ("SparseSegmentSum", &["segment_ids"], &[Rank("x")]),
    ("SparseSegmentSumGrad", &["output_dim0"], &[Rank("grad")]),
    ("SparseTensorDenseMatMul", &["x1_shape"], &[Rank("x2")]),
    ("SplitV", &["size_splits", "split_dim"], &[Rank("x")]),
    (
        "StatelessRandomUniformV2",
        &["shape", "alg"],
        &[Named("dtype")],
    ),
    (
        "StatelessTruncatedNormalV2",
        &["shape", "alg"],
        &[Named("dtype")],
    ),
    (
        "StridedSlice",
        &["begin", "end", "strides"],
        &[Elements("x")],
    ),
    (
        "StridedSliceGrad",
        &["shape", "begin", "end", "strides"],
        &[Elements("dy")],
    ),
    (
        "StridedSliceV2",
        &["begin", "end", "axes", "strides"],
        &[Elements("x")],
    ),
    ("UnsortedSegmentMax", &["num_segments"], &[Elements("x")]),
    ("UnsortedSegmentMin", &["num_segments"], &[Elements("x")]),
    ("UnsortedSegmentProd", &["num_segments"], &[Elements("x")]),
    ("UnsortedSegmentSum", &["num_segments"], &[Elements("x")]),
];

fn row(kind: &str) -> Option<&'static Row> {
    TABLE.iter().find(|(own, ..)| *own == kind)
}

/// Returns whether an operator can wait for its values.
pub(super) fn can_wait(kind: &str) -> bool {
    row(kind).is_some()
}

/// Returns the attributes of the node that stands for an operator. `inputs` has the name and the format of each that is given.
///
/// # Errors
///
/// NotSupported: an attribute that such a node cannot hold.
pub(super) fn attributes(node: &Node, inputs: &[(&str, i32)]) -> Result<Attrs, OpError> {
    let most = inputs.len().max(node.outputs.len());
    if most > MOST {
        return Err(unsupported(format!(
            "it has {most} inputs or outputs; at most {MOST} are supported where an input that decides shapes is computed"
        )));
    }
    let mut values = Vec::with_capacity(node.attrs.len());
    for (name, value) in &node.attrs {
        values.push(written(value).ok_or_else(|| {
            unsupported(format!(
                "its attribute {name} is a {}, which an operator with a computed shape cannot have",
                value.type_name()
            ))
        })?);
    }
    let names: Vec<String> = inputs.iter().map(|(name, _)| (*name).to_owned()).collect();
    let formats: Vec<i64> = inputs
        .iter()
        .map(|(_, format)| i64::from(*format))
        .collect();
    let mut attrs = Attrs::new()
        .with("kind", node.kind.clone())
        .with("outputs", node.outputs.len().max(1) as i64);
    attrs.set("inputs", Attr::Strs(names));
    attrs.set("formats", Attr::Ints(formats));
    attrs.set("names", Attr::Strs(node.attrs.keys().cloned().collect()));
    attrs.set("values", Attr::Strs(values));
    Ok(attrs)
}

/// Writes a value as text: a letter, and numbers with commas between them.
fn written(value: &Value) -> Option<String> {
    let list = |letter: char, numbers: Vec<i64>| {
        let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
        format!("{letter}{}", numbers.join(","))
    };
    let bits = |number: &f32| i64::from(number.to_bits());
    Some(match value {
        Value::Int(value) => list('i', vec![*value]),
        Value::Float(value) => list('f', vec![bits(value)]),
        Value::Bool(value) => list('b', vec![i64::from(*value)]),
        Value::Type(value) => list('t', vec![i64::from(*value)]),
        Value::Ints(values) => list('I', values.clone()),
        Value::Floats(values) => list('F', values.iter().map(bits).collect()),
        Value::Bools(values) => list('B', values.iter().map(|one| i64::from(*one)).collect()),
        Value::Str(text) => format!("s{text}"),
        Value::Tensor(_)
        | Value::Strs(_)
        | Value::IntLists(_)
        | Value::Types(_)
        | Value::Bytes(_)
        | Value::Tensors(_) => return None,
    })
}

/// Reads what [`written`] wrote; a model file may hold anything.
fn read(text: &str) -> Option<Value> {
    let letter = text.chars().next()?;
    let rest = &text[letter.len_utf8()..];
    if letter == 's' {
        return Some(Value::Str(rest.to_owned()));
    }
    let numbers: Vec<i64> = match rest {
        "" => Vec::new(),
        _ => rest
            .split(',')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?,
    };
    let float = |bits: i64| u32::try_from(bits).ok().map(f32::from_bits);
    Some(match (letter, &numbers[..]) {
        ('i', &[value]) => Value::Int(value),
        ('f', &[bits]) => Value::Float(float(bits)?),
        ('b', &[value]) => Value::Bool(value != 0),
        ('t', &[value]) => Value::Type(i32::try_from(value).ok()?),
        ('I', _) => Value::Ints(numbers),
        ('F', _) => Value::Floats(numbers.into_iter().map(float).collect::<Option<_>>()?),
        ('B', _) => Value::Bools(numbers.into_iter().map(|one| one != 0).collect()),
        _ => return None,
    })
}

/// What the attributes of a node say.
struct Waiting {
    row: &'static Row,
    inputs: Vec<String>,
    formats: Vec<i64>,
    attrs: BTreeMap<String, Value>,
    outputs: usize,
}

impl Waiting {
    fn of(cx: &InferCx<'_>) -> Result<Waiting, OpError> {
        let damaged = || invalid("the operator that was to be lowered is damaged");
        let (
            Some(Attr::Str(kind)),
            Some(Attr::Strs(inputs)),
            Some(Attr::Ints(formats)),
            Some(Attr::Strs(names)),
            Some(Attr::Strs(values)),
            Some(Attr::Int(outputs)),
        ) = (
            cx.attr("kind"),
            cx.attr("inputs"),
            cx.attr("formats"),
            cx.attr("names"),
            cx.attr("values"),
            cx.attr("outputs"),
        )
        else {
            return Err(damaged());
        };
        let attrs = names
            .into_iter()
            .zip(&values)
            .map(|(name, value)| Some((name, read(value)?)));
        let attrs = attrs.collect::<Option<_>>().ok_or_else(damaged)?;
        let outputs = usize::try_from(outputs).map_err(|_| damaged())?;
        if inputs.len() != cx.len() || formats.len() != inputs.len() || outputs > MOST {
            return Err(damaged());
        }
        Ok(Waiting {
            row: row(&kind).ok_or_else(damaged)?,
            inputs,
            formats,
            attrs,
            outputs,
        })
    }

    /// Returns whether an input decides shapes.
    fn decides(&self, index: usize) -> bool {
        self.row.1.contains(&self.inputs[index].as_str())
    }

    /// The outputs as far as they are known without the values.
    fn open(&self, cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
        let input = |name: &str| {
            let at = self.inputs.iter().position(|own| own == name);
            cx.input(at.ok_or_else(|| invalid(format!("its input {name} is missing")))?)
        };
        let kinds = self.row.2;
        let outputs = (0..self.outputs).map(|at| {
            Ok(match kinds[at.min(kinds.len() - 1)] {
                // A type without dimensions would be known.
                Rank(name) => match input(name)?.rank() {
                    Some(0) => TensorType::of_unknown_rank(input(name)?.dtype),
                    _ => input(name)?.without_dims(),
                },
                Vector(name) => TensorType::new(input(name)?.dtype, [UNKNOWN]),
                Elements(name) => TensorType::of_unknown_rank(input(name)?.dtype),
                Named(name) => TensorType::of_unknown_rank(self.named(name)?),
                Of(dtype) => TensorType::of_unknown_rank(dtype),
                Sums(name) => TensorType::of_unknown_rank(match input(name)?.dtype {
                    DataType::Int8 => DataType::Int32,
                    dtype => dtype,
                }),
            })
        });
        outputs.collect()
    }

    /// The data type that an attribute names.
    fn named(&self, name: &str) -> Result<DataType, OpError> {
        let own = self.attrs.get(name).cloned().or_else(|| {
            let attrs = super::prototype(self.row.0)?.attrs.iter();
            let (_, default) = attrs.into_iter().find(|(own, _)| *own == name)?;
            default.value()
        });
        let number = match own {
            Some(Value::Type(number)) => Some(number),
            Some(Value::Int(number)) => i32::try_from(number).ok(),
            _ => None,
        };
        number
            .and_then(DataType::from_acl)
            .ok_or_else(|| invalid(format!("its attribute {name} names an unknown data type")))
    }

    /// Lowers the operator for real inputs; `None` where a value that decides is not known.
    fn lowered(&self, cx: &InferCx<'_>) -> Result<Option<jumar_graph::Graph>, OpError> {
        let mut graph = Graph {
            name: self.row.0.to_owned(),
            ..Graph::default()
        };
        let mut node = Node {
            name: self.row.0.to_owned(),
            kind: self.row.0.to_owned(),
            attrs: self.attrs.clone(),
            ..Node::default()
        };
        let mut types = Vec::new();
        for (index, name) in self.inputs.iter().enumerate() {
            let ty = cx.input(index)?;
            if ty.elements().is_none() {
                return Ok(None);
            }
            let desc = Desc {
                dims: ty.shape.clone(),
                dtype: ty.dtype.acl(),
                format: i32::try_from(self.formats[index]).unwrap_or(FORMAT_ND),
            };
            let mut source = Node {
                name: format!("{name}/given"),
                kind: "Data".to_owned(),
                outputs: vec![Output {
                    name: "y".to_owned(),
                    desc: desc.clone(),
                }],
                ..Node::default()
            };
            if self.decides(index) {
                let Some(tensor) = cx.constant(index) else {
                    return Ok(None);
                };
                let value = Value::Tensor(Data {
                    desc: desc.clone(),
                    bytes: Arc::new(tensor.bytes().to_vec()),
                });
                source.kind = "Const".to_owned();
                source.attrs.insert("value".to_owned(), value);
            } else {
                let position = Value::Int(types.len() as i64);
                source.attrs.insert("index".to_owned(), position);
                types.push(Some(ty.clone()));
            }
            node.inputs.push(Input {
                name: name.clone(),
                from: Some((graph.nodes.len(), 0)),
                desc,
            });
            graph.nodes.push(source);
        }
        let at = graph.nodes.len();
        for output in 0..self.outputs {
            node.outputs.push(Output {
                name: format!("y{output}"),
                desc: Desc::default(),
            });
            graph.outputs.push((at, output));
        }
        graph.nodes.push(node);
        let lowered = lower::lower(&graph, &types).map_err(refused)?;
        if !lowered.variables.is_empty() {
            return Err(unsupported("it changes variables"));
        }
        Ok(Some(lowered.graph))
    }
}

/// Turns the refusal of a graph into one of an operator.
fn refused(error: GraphError) -> OpError {
    let kind = match error.kind() {
        GraphErrorKind::NotSupported => OpErrorKind::NotSupported,
        GraphErrorKind::InvalidModel => OpErrorKind::Invalid,
        GraphErrorKind::NeedsShape => OpErrorKind::Unknown,
        GraphErrorKind::Data => OpErrorKind::Data,
        GraphErrorKind::Buffer => OpErrorKind::Buffer,
        GraphErrorKind::TooLarge => OpErrorKind::TooLarge,
        GraphErrorKind::NotAModel
        | GraphErrorKind::Truncated
        | GraphErrorKind::Corrupt
        | GraphErrorKind::TooNew
        | GraphErrorKind::VendorFile
        | GraphErrorKind::InvalidOption
        | GraphErrorKind::NotFound
        | GraphErrorKind::Io
        | GraphErrorKind::NoMemory
        | GraphErrorKind::Stopped
        | GraphErrorKind::Internal => OpErrorKind::Internal,
    };
    OpError::new(kind, error.text())
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let waiting = Waiting::of(cx)?;
    let promised = waiting.open(cx)?;
    let Some(mut graph) = waiting.lowered(cx)? else {
        return Ok(promised);
    };
    jumar_graph::conversion::infer_and_fold(&mut graph).map_err(refused)?;
    let outputs = graph.outputs.iter().zip(&promised);
    let outputs = outputs.map(|(output, promised)| {
        let ty = graph.value(output.value).ty.clone();
        if ty.dtype != promised.dtype {
            return Err(OpError::new(
                OpErrorKind::Internal,
                format!("the result of {} is {ty}, not {promised}", waiting.row.0),
            ));
        }
        Ok(ty)
    });
    outputs.collect()
}

fn prepare(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let waiting = Waiting::of(cx.infer())?;
    let Some(graph) = waiting.lowered(cx.infer())? else {
        return Err(unsupported(
            "its values are not known when its memory is planned",
        ));
    };
    let model = compile(graph, &BuildOptions::default()).map_err(refused)?;
    let weights = Block::of(&model.weight_bytes(&[]).map_err(refused)?);
    Ok(Box::new(PlannedOperator {
        plan: model.plan().map_err(refused)?,
        weights,
        inputs: (0..waiting.inputs.len())
            .filter(|&index| !waiting.decides(index))
            .collect(),
    }))
}

/// The graph of an operator, planned.
struct PlannedOperator {
    plan: Plan,
    weights: Block,
    /// The inputs of the node that the graph reads, in its order.
    inputs: Vec<usize>,
}

impl Kernel for PlannedOperator {
    fn scratch_bytes(&self) -> usize {
        self.plan.arena_bytes
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let mut inputs = [Region::EMPTY; MOST];
        let mut outputs = [Region::EMPTY; MOST];
        let (Some(inputs), Some(outputs)) = (
            inputs.get_mut(..self.inputs.len()),
            outputs.get_mut(..call.outputs()),
        ) else {
            return Err(unsupported(format!("it has more than {MOST} tensors")));
        };
        for (region, &index) in inputs.iter_mut().zip(&self.inputs) {
            *region = call.input_memory(index)?;
        }
        for (index, region) in outputs.iter_mut().enumerate() {
            *region = call.output_memory(index)?;
        }
        let memory = Memory {
            weights: self.weights.shared(),
            arena: call.scratch_memory(),
            constants: Region::EMPTY,
            inputs,
            outputs,
            workers: call.workers(),
        };
        self.plan.run(&memory).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_and_outputs_of_the_table_are_those_of_the_headers() {
        for (kind, inputs, outputs) in TABLE {
            let prototype = super::super::prototype(kind).expect(kind);
            for input in *inputs {
                assert!(
                    prototype.inputs.iter().any(|(own, _)| own == input),
                    "{kind} {input}"
                );
            }
            for like in *outputs {
                let (Rank(name) | Vector(name) | Elements(name) | Sums(name)) = like else {
                    continue;
                };
                let stem = name.trim_end_matches('0');
                assert!(
                    prototype
                        .inputs
                        .iter()
                        .any(|(own, _)| own == name || *own == stem),
                    "{kind} {name}"
                );
            }
        }
    }

    #[test]
    fn attributes_come_back_from_their_text_and_damaged_text_is_refused() {
        let values = [
            Value::Int(-3),
            Value::Float(0.1),
            Value::Bool(true),
            Value::Type(9),
            Value::Ints(vec![]),
            Value::Ints(vec![1, -2]),
            Value::Floats(vec![f32::INFINITY, -0.0]),
            Value::Bools(vec![false, true]),
            Value::Str("a, b".to_owned()),
        ];
        for value in values {
            assert_eq!(read(&written(&value).unwrap()), Some(value));
        }
        for text in ["", "i", "ix", "i1,2", "q1", "f-1"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(written(&Value::Strs(Vec::new())), None);
    }
}
