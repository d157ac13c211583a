//! From a graph with dynamic shapes to a model that can be stored, planned and run.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use jumar_ops::view::Region;
use jumar_ops::{Attrs, Tensor, TensorType, UNKNOWN, Workers, find};
use jumar_types::dtype::DataType;

use crate::description::Format;
use crate::passes::{
    bf16_int8, clean, fold, fuse, layout, recurrent, sequences, sixteen_bits, transformer,
};
use crate::{
    Description, Executable, GearOptions, Graph, GraphError, GraphErrorKind, Model, Node, Port,
    Result, ValueId, Weights, aipp, gears,
};

/// The alignment of every tensor in the weights and in the arena.
///
/// # Units
///
/// Bytes.
pub(crate) const ALIGNMENT: usize = 64;

/// What the caller of [`compile`] decides.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions {
    /// The model's name; the graph's where this is empty.
    pub name: String,
    /// The shapes of inputs, by name; an input that is left out keeps its own, which then has to be fixed.
    pub input_shapes: InputShapes,
    /// Whether inputs whose dimensions neither the model nor `input_shapes` fixes stay open until each execution. Otherwise such a
    /// model is refused.
    pub keep_open: bool,
    /// The order of the axes of inputs. `None`: NCHW for inputs of four dimensions.
    pub input_format: Option<Format>,
    /// The element type of outputs.
    pub output_type: OutputType,
    /// The outputs, where they are not those that the model declares: `node:index`, or the names of tensors.
    pub out_nodes: Vec<String>,
    /// What is done to images before they enter the model: the text of a configuration.
    pub preprocessing: String,
    /// Names of float32 inputs that are to be given as float16.
    pub fp16_inputs: Vec<String>,
    /// Sizes of which each execution chooses one.
    pub gears: GearOptions,
    /// What products of float32 may be computed in.
    pub products: Products,
    /// The options as the caller wrote them, kept in the model for inspection.
    pub recorded: BTreeMap<String, String>,
}

/// Shapes of inputs by name: each dimension from its least to its largest, -1 for no bound.
pub type InputShapes = BTreeMap<String, Vec<(i64, i64)>>;

/// A dimension without bounds.
const ANY: (i64, i64) = (0, -1);

/// Returns the dimensions of a shape, -1 where one is open.
fn open_dims(shape: &[(i64, i64)]) -> Vec<i64> {
    shape
        .iter()
        .map(|&(least, most)| if least == most { least } else { UNKNOWN })
        .collect()
}

/// The values of `precision_mode`, and what each allows; `None`: it cannot be done here.
const PRECISION_MODES: &[(&str, Option<Products>)] = &[
    ("force_fp16", Some(Products::Float32)),
    ("force_fp32", Some(Products::Float32)),
    ("cube_fp16in_fp32out", Some(Products::Float32)),
    ("allow_fp32_to_fp16", Some(Products::Float32)),
    ("must_keep_origin_dtype", Some(Products::Float32)),
    ("allow_mix_precision", Some(Products::Float32)),
    ("allow_mix_precision_fp16", Some(Products::Float32)),
    ("allow_mix_precision_bf16", Some(Products::BFloat16)),
    ("allow_fp32_to_bf16", Some(Products::BFloat16)),
];

/// The values of `precision_mode_v2`.
const PRECISION_MODES_V2: &[(&str, Option<Products>)] = &[
    ("fp16", Some(Products::Float32)),
    ("origin", Some(Products::Float32)),
    ("cube_fp16in_fp32out", Some(Products::Float32)),
    ("mixed_float16", Some(Products::Float32)),
    ("mixed_bfloat16", Some(Products::BFloat16)),
    ("cube_hif8", None),
    ("mixed_hif8", None),
];

/// What products of float32 are computed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// In float32.
    #[default]
    Float32,
    /// In bfloat16, summed in float32.
    BFloat16,
}

/// The element type of outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OutputType {
    /// As the model has it.
    #[default]
    AsModel,
    /// The same for all.
    All(DataType),
    /// By the producing node and its output; others stay as the model has them.
    Each(Vec<(String, usize, DataType)>),
}

impl BuildOptions {
    /// Reads `name:1,3,8,8;other:1,2`. A dimension may be open: -1 in all, `2~8` between two bounds. A scalar is `name:` or, as
    /// ONNX Runtime writes it, `name`.
    ///
    /// # Errors
    ///
    /// InvalidOption: what cannot be read so.
    pub fn parse_input_shapes(text: &str) -> Result<InputShapes> {
        let mut shapes = BTreeMap::new();
        for part in text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let bad = |why: &str| {
                GraphError::option(format!(
                    "input_shape {part:?} {why}: write it as name:1,3,224,224, and several separated by a semicolon"
                ))
            };
            let (name, dims) = match part.rsplit_once(':') {
                Some(pair) => pair,
                None if part.contains(',') => return Err(bad("has no colon")),
                None => (part, ""),
            };
            let (name, dims) = (name.trim(), dims.trim());
            if name.is_empty() {
                return Err(bad("names no input"));
            }
            let dims = if dims.is_empty() {
                Vec::new()
            } else {
                dims.split(',').map(str::trim).collect()
            };
            let mut shape = Vec::with_capacity(dims.len());
            for dim in dims {
                let number = |text: &str| text.trim().parse::<i64>().ok().filter(|&dim| dim >= 0);
                shape.push(match dim.split_once('~') {
                    _ if dim == "-1" => ANY,
                    None => {
                        let fixed = number(dim);
                        let fixed =
                            fixed.ok_or_else(|| bad("has a dimension that is not a number"))?;
                        (fixed, fixed)
                    }
                    Some((least, "-1")) => match number(least) {
                        Some(least) => (least, -1),
                        None => return Err(bad("has a range that is none")),
                    },
                    Some((least, most)) => match (number(least), number(most)) {
                        (Some(least), Some(most)) if least <= most => (least, most),
                        _ => return Err(bad("has a range that is none")),
                    },
                });
            }
            if shapes.insert(name.to_owned(), shape).is_some() {
                return Err(bad("names an input twice"));
            }
        }
        Ok(shapes)
    }

    /// Reads `name:[1~8,3,8~16,-1];other:[1,2]`; one without a name is an only input's.
    ///
    /// # Errors
    ///
    /// InvalidOption: what cannot be read so.
    pub fn parse_input_shape_range(text: &str) -> Result<InputShapes> {
        let plain: String = text
            .chars()
            .filter(|c| !matches!(c, '[' | ']' | '"'))
            .collect();
        let parts: Vec<String> = plain
            .split(';')
            .map(|part| part.trim().to_owned())
            .filter(|part| !part.is_empty())
            .collect();
        BuildOptions::parse_input_shapes(&parts.join(";"))
            .map_err(|error| GraphError::option(format!("input_shape_range: {}", error.text())))
    }

    /// Reads `node:0;other:1`, or names of tensors.
    pub fn parse_out_nodes(text: &str) -> Vec<String> {
        text.split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Reads `name;other`.
    pub fn parse_input_fp16_nodes(text: &str) -> Vec<String> {
        BuildOptions::parse_out_nodes(text)
    }

    /// Returns the dimensions of shapes, -1 where one is open.
    pub fn open_shapes(shapes: &InputShapes) -> BTreeMap<String, Vec<i64>> {
        shapes
            .iter()
            .map(|(name, shape)| (name.clone(), open_dims(shape)))
            .collect()
    }

    /// Reads `NCHW`, `ND` or `NCDHW`.
    ///
    /// # Errors
    ///
    /// InvalidOption: a text that is not a format, or one that ONNX models do not have.
    pub fn parse_input_format(text: &str) -> Result<Option<Format>> {
        match Format::from_name(text) {
            None if text.is_empty() => Ok(None),
            Some(format @ (Format::Nchw | Format::Nd | Format::Ncdhw)) => Ok(Some(format)),
            Some(Format::Nhwc | Format::Ndhwc) => Err(GraphError::option(format!(
                "input_format {text} is not possible: images in an ONNX model are NCHW (or NCDHW); say NCHW or ND"
            ))),
            None => Err(GraphError::option(format!(
                "input_format {text:?} is not known; NCHW, NCDHW and ND are"
            ))),
        }
    }

    /// Reads `precision_mode` and `precision_mode_v2`, of which one may be given, and returns the types in which products may be computed
    /// in. Modes that allow float16 change nothing: products of float16 would be slower here, and less exact.
    ///
    /// # Errors
    ///
    /// InvalidOption: both at once; a mode that is none. NotSupported: the 8-bit modes.
    pub fn parse_precision(mode: &str, mode_v2: &str) -> Result<Products> {
        if !mode.is_empty() && !mode_v2.is_empty() {
            return Err(GraphError::option(format!(
                "precision_mode {mode:?} and precision_mode_v2 {mode_v2:?} are both given; leave one out"
            )));
        }
        let (asked, name, known) = match mode_v2 {
            "" => (mode, "precision_mode", PRECISION_MODES),
            _ => (mode_v2, "precision_mode_v2", PRECISION_MODES_V2),
        };
        if asked.is_empty() {
            return Ok(Products::Float32);
        }
        match known.iter().find(|(known, _)| *known == asked) {
            Some((_, Some(products))) => Ok(*products),
            Some((_, None)) => Err(GraphError::unsupported(format!(
                "{name} {asked} is not supported: there are no 8-bit floating-point numbers here; mixed_bfloat16 and origin are"
            ))),
            None => {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                Err(GraphError::option(format!(
                    "{name} {asked:?} is not known; {} are",
                    names.join(", ")
                )))
            }
        }
    }

    /// Reads `FP32`, `FP16`, `UINT8`, or `node:0:FP16;other:1:FP32`.
    ///
    /// # Errors
    ///
    /// InvalidOption: what cannot be read so.
    pub fn parse_output_type(text: &str) -> Result<OutputType> {
        let dtype = |name: &str| match name {
            "FP32" => Ok(DataType::Float32),
            "FP16" => Ok(DataType::Float16),
            "UINT8" => Ok(DataType::UInt8),
            "INT8" => Ok(DataType::Int8),
            _ => Err(GraphError::option(format!(
                "output_type {name:?} is not known; FP32, FP16, UINT8 and INT8 are, alone or as node:0:FP16"
            ))),
        };
        if text.is_empty() {
            return Ok(OutputType::AsModel);
        }
        if !text.contains(':') {
            return Ok(OutputType::All(dtype(text)?));
        }
        let mut list = Vec::new();
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let mut fields = part.rsplitn(3, ':');
            let (Some(name), Some(index), Some(node)) =
                (fields.next(), fields.next(), fields.next())
            else {
                return Err(GraphError::option(format!(
                    "output_type {part:?} is not of the form node:0:FP16"
                )));
            };
            let index = index.parse().map_err(|_| {
                GraphError::option(format!(
                    "output_type {part:?}: {index:?} is not an output's number"
                ))
            })?;
            list.push((node.to_owned(), index, dtype(name)?));
        }
        Ok(OutputType::Each(list))
    }
}

/// Compiles a graph: fixes shapes, folds constants, fuses operators, lays out weights.
///
/// # Errors
///
/// NeedsShape: an input without a fixed shape. InvalidOption: options that do not fit. InvalidModel and NotSupported:
/// as the operators say.
pub fn compile(graph: Graph, options: &BuildOptions) -> Result<Model> {
    compile_to_run(graph, options).map(|(model, _)| model)
}

/// Does as [`compile`], and returns what runs the model as well.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_to_run(mut graph: Graph, options: &BuildOptions) -> Result<(Model, Executable)> {
    fix_shapes(&mut graph, options)?;
    aipp::insert(&mut graph, options)?;
    convert_inputs_to_fp16(&mut graph, &options.fp16_inputs)?;
    fold::infer_and_fold(&mut graph)?;
    clean::remove_identities(&mut graph);
    cast_outputs(&mut graph, &options.output_type)?;
    let widened = sixteen_bits::widen(&mut graph)?;
    sequences::compute_as_images(&mut graph)?;
    fuse::fuse_convolutions(&mut graph);
    transformer::fuse(&mut graph);
    recurrent::pack(&mut graph);
    sixteen_bits::round(&mut graph, &widened)?;
    layout::block_images(&mut graph)?;
    if options.products == Products::BFloat16 {
        bf16_int8::lower_product_precision(&mut graph);
    }
    sixteen_bits::join_rounding(&mut graph);
    clean::remove_dead(&mut graph);
    clean::renumber(&mut graph);
    if !options.name.is_empty() {
        graph.name.clone_from(&options.name);
    }
    let weights = lay_out_weights(&mut graph)?;
    let mut description = describe(&graph, options)?;
    gears::describe(
        &graph,
        &options.gears,
        &options.input_shapes,
        weights.len(),
        &mut description,
    )?;
    let model = Model::new(
        graph,
        Weights::Owned(weights),
        description,
        options.recorded.clone(),
    );
    // What cannot be planned is refused now, not when the file is loaded.
    let executable = model.executable()?;
    Ok((model, executable))
}

fn fix_shapes(graph: &mut Graph, options: &BuildOptions) -> Result<()> {
    let names: Vec<String> = graph
        .inputs
        .iter()
        .map(|&id| graph.value(id).name.clone())
        .collect();
    for name in options.input_shapes.keys() {
        if !names.contains(name) {
            return Err(GraphError::option(format!(
                "input_shape names {name:?}, and the model's inputs are {}",
                names.join(", ")
            )));
        }
    }
    let mut unfixed = Vec::new();
    for index in 0..graph.inputs.len() {
        let id = graph.inputs[index];
        let value = graph.value_mut(id);
        if let Some(shape) = options.input_shapes.get(&value.name) {
            if value.ty.rank().is_some_and(|rank| rank != shape.len()) {
                return Err(GraphError::option(format!(
                    "input_shape has {} {} dimensions, and the model has {}",
                    value.name,
                    shape.len(),
                    value.ty
                )));
            }
            value.ty.shape = open_dims(shape);
            if value.ty.dims().is_none() {
                continue;
            }
        }
        if value.ty.dims().is_none() {
            if !options.keep_open {
                unfixed.push((value.name.clone(), value.ty.clone()));
            }
            continue;
        }
        if value.ty.layout().is_err() {
            let text = format!(
                "the input {} is {}, which is too large",
                value.name, value.ty
            );
            return Err(GraphError::new(GraphErrorKind::TooLarge, text));
        }
    }
    match &unfixed[..] {
        [] => Ok(()),
        unfixed => Err(needs_shapes(unfixed)),
    }
}

/// Names all inputs whose dimensions are not fixed, and how to fix them.
fn needs_shapes(inputs: &[(String, TensorType)]) -> GraphError {
    let join = |each: &dyn Fn(&(String, TensorType)) -> String, between: &str| {
        inputs.iter().map(each).collect::<Vec<_>>().join(between)
    };
    let (what, verb) = match inputs {
        [_] => ("input", "is"),
        _ => ("inputs", "are"),
    };
    GraphError::new(
        GraphErrorKind::NeedsShape,
        format!(
            "the {what} {} {verb} not of a fixed shape: fix each dimension with input_shape=\"{}\", or leave it open there \
             with -1 or 1~8",
            join(&|(name, ty)| format!("{name} ({ty})"), ", "),
            join(&|(name, _)| format!("{name}:..."), ";"),
        ),
    )
}

/// Lets inputs of float32 be given as float16.
fn convert_inputs_to_fp16(graph: &mut Graph, names: &[String]) -> Result<()> {
    let cast = find("Cast").ok_or_else(|| GraphError::internal("there is no Cast"))?;
    for name in names {
        let named = |id: &ValueId| graph.value(*id).name == *name;
        let Some(at) = graph.inputs.iter().position(named) else {
            let known: Vec<&str> = graph
                .inputs
                .iter()
                .map(|&id| graph.value(id).name.as_str())
                .collect();
            return Err(GraphError::option(format!(
                "input_fp16_nodes names {name:?}, and the model's inputs are {}",
                known.join(", ")
            )));
        };
        let old = graph.inputs[at];
        let ty = graph.value(old).ty.clone();
        match ty.dtype {
            DataType::Float16 => continue,
            DataType::Float32 => {}
            _ => {
                return Err(GraphError::option(format!(
                    "input_fp16_nodes names {name}, which is {ty}; inputs of float32 can be given as float16"
                )));
            }
        }
        let half_type = TensorType {
            dtype: DataType::Float16,
            ..ty
        };
        let new = graph.add_value(name.clone(), half_type);
        graph.value_mut(old).name = format!("{name}/float32");
        graph.inputs[at] = new;
        let node = Node {
            name: format!("{name}/input_fp16"),
            operator: cast,
            inputs: vec![Some(new)],
            outputs: vec![old],
            attrs: Attrs::new().with("dst_type", i64::from(DataType::Float32.acl())),
            bodies: Vec::new(),
        };
        graph.nodes.insert(0, node);
    }
    Ok(())
}

/// Converts outputs to the element type that was asked for.
fn cast_outputs(graph: &mut Graph, wanted: &OutputType) -> Result<()> {
    let cast = find("Cast").ok_or_else(|| GraphError::internal("there is no Cast"))?;
    if let OutputType::Each(list) = wanted {
        for (node, index, _) in list {
            if !graph
                .outputs
                .iter()
                .any(|output| output.producer == (node.clone(), *index))
            {
                let known: Vec<_> = graph
                    .outputs
                    .iter()
                    .map(|output| format!("{}:{}", output.producer.0, output.producer.1))
                    .collect();
                return Err(GraphError::option(format!(
                    "output_type names {node}:{index}, and the model's outputs are {}",
                    known.join(", ")
                )));
            }
        }
    }
    for at in 0..graph.outputs.len() {
        let output = &graph.outputs[at];
        let dtype = match wanted {
            OutputType::AsModel => continue,
            OutputType::All(dtype) => *dtype,
            OutputType::Each(list) => {
                match list
                    .iter()
                    .find(|(node, index, _)| output.producer == (node.clone(), *index))
                {
                    Some((_, _, dtype)) => *dtype,
                    None => continue,
                }
            }
        };
        let from = output.value;
        if graph.value(from).ty.dtype == dtype {
            continue;
        }
        let name = format!("{}/output_type", output.name);
        let node = Node {
            name: name.clone(),
            operator: cast,
            inputs: vec![Some(from)],
            outputs: Vec::new(),
            attrs: Attrs::new().with("dst_type", i64::from(dtype.acl())),
            bodies: Vec::new(),
        };
        let ty = graph.infer(&node)?.remove(0);
        let to = graph.add_value(name, ty);
        graph.nodes.push(Node {
            outputs: vec![to],
            ..node
        });
        graph.outputs[at].value = to;
    }
    Ok(())
}

/// Constants with their offsets in the weights. Their bytes are those of the constants, or computed when they are stored: a model is in
/// memory once while it is converted, not twice.
#[derive(Clone, Debug, Default)]
pub struct ConstantLayout {
    pieces: Vec<(usize, Tensor)>,
    len: usize,
}

impl ConstantLayout {
    fn add(&mut self, tensor: Tensor) -> usize {
        let offset = self.len.next_multiple_of(ALIGNMENT);
        self.len = offset + tensor.byte_len();
        self.pieces.push((offset, tensor));
        offset
    }

    /// Is one piece alone.
    pub(crate) fn one(tensor: Tensor) -> ConstantLayout {
        let mut laid = ConstantLayout::default();
        laid.add(tensor);
        laid
    }

    /// Returns the pieces, each with its offset, in order.
    pub(crate) fn pieces(&self) -> &[(usize, Tensor)] {
        &self.pieces
    }

    /// Returns the length of all, with what lies between them.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Shows all bytes in order, with zeros between the pieces.
    ///
    /// # Errors
    ///
    /// What `each` answers.
    pub fn each<E>(
        &self,
        mut each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut at = 0;
        for (offset, tensor) in &self.pieces {
            each(&[0; ALIGNMENT][..offset - at])?;
            each(&tensor.to_bytes())?;
            at = offset + tensor.byte_len();
        }
        Ok(())
    }

    /// Writes all bytes, with zeros between the pieces, to memory of that length.
    ///
    /// # Errors
    ///
    /// Internal: the memory is shorter.
    pub fn write_to(&self, to: Region<'_>, workers: Workers<'_>) -> Result<()> {
        let part = |start: usize, bytes: usize| {
            to.part(start, bytes)
                .ok_or_else(|| GraphError::internal("weights outside their memory"))
        };
        let mut at = 0;
        for (offset, tensor) in &self.pieces {
            let gap = part(at, offset - at)?;
            gap.write(0, &[0; ALIGNMENT][..gap.bytes()]);
            tensor.write_to(part(*offset, tensor.byte_len())?, workers)?;
            at = offset + tensor.byte_len();
        }
        Ok(())
    }

    /// Copies all into one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len);
        let Ok(()) = self.each(|bytes| {
            all.extend_from_slice(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
        all
    }
}

/// Constants up to this size stay readable in a model whose shapes are found while it runs.
const SMALL: usize = 1024;

/// Assigns an offset in the weights to each constant that is read while the model runs, and collects them.
fn lay_out_weights(graph: &mut Graph) -> Result<ConstantLayout> {
    let mut weights = Layouter {
        laid: ConstantLayout::default(),
        known: HashMap::new(),
        open: !graph.is_static(),
    };
    weights.graph(graph)?;
    Ok(weights.laid)
}

struct Layouter {
    laid: ConstantLayout,
    /// Constants that have an offset already, by their length and the checksum of a sample of what they are made of: nodes that
    /// share an initializer each get a copy of their own where a pass turns it into another layout.
    known: HashMap<(usize, u32), Vec<LaidConstant>>,
    open: bool,
}

/// A constant with an offset in the weights.
struct LaidConstant {
    offset: usize,
    tensor: Tensor,
    /// The checksum of what it is made of, once another one may be equal.
    sum: OnceCell<u32>,
}

impl LaidConstant {
    fn sum(&self) -> u32 {
        *self
            .sum
            .get_or_init(|| crc32fast::hash(self.tensor.origin()))
    }

    fn is_alike(&self, other: &LaidConstant) -> bool {
        let same = std::ptr::eq(self.tensor.origin(), other.tensor.origin());
        (same || self.sum() == other.sum()) && self.tensor.is_alike(&other.tensor)
    }
}

/// How many pieces of a constant a sample has, and how long each is: to read all of a large model takes longer than everything else
/// that is done to lay it out.
const SAMPLES: usize = 32;
const SAMPLE: usize = 64;

/// Returns a checksum of a part of the bytes.
fn sampled_sum(bytes: &[u8]) -> u32 {
    if bytes.len() <= SAMPLES * SAMPLE {
        return crc32fast::hash(bytes);
    }
    let mut sum = crc32fast::Hasher::new();
    let step = (bytes.len() - SAMPLE) / (SAMPLES - 1);
    for sample in 0..SAMPLES {
        sum.update(&bytes[sample * step..][..SAMPLE]);
    }
    sum.finalize()
}

impl Layouter {
    /// Returns where the bytes of a tensor lie in the weights, and adds them where no equal ones are.
    fn offset(&mut self, tensor: &Tensor) -> usize {
        let key = (tensor.byte_len(), sampled_sum(tensor.origin()));
        let known = self.known.entry(key).or_default();
        let mut new = LaidConstant {
            offset: 0,
            tensor: tensor.clone(),
            sum: OnceCell::new(),
        };
        if let Some(equal) = known.iter().find(|known| known.is_alike(&new)) {
            return equal.offset;
        }
        new.offset = self.laid.add(tensor.clone());
        let offset = new.offset;
        known.push(new);
        offset
    }

    fn graph(&mut self, graph: &mut Graph) -> Result<()> {
        let mut read = vec![false; graph.values.len()];
        let mut planned = vec![false; graph.values.len()];
        for node in &graph.nodes {
            for (index, input) in node.inputs.iter().enumerate() {
                if let Some(id) = input {
                    let list = if Graph::reads_at_run(node, index) {
                        &mut read
                    } else {
                        &mut planned
                    };
                    list[id.0 as usize] = true;
                }
            }
        }
        for output in &graph.outputs {
            read[output.value.0 as usize] = true;
        }
        // A reader of the file infers again, and needs the same constants.
        for node in graph.nodes.iter().filter(|node| node.bodies.is_empty()) {
            let (types, constants) = graph.operands(node);
            let dropped = |(id, constant): (&Option<ValueId>, &Option<&Tensor>)| {
                constant.is_some() && id.is_some_and(|id| !planned[id.0 as usize])
            };
            if !node.inputs.iter().zip(&constants).any(dropped) {
                continue;
            }
            let kept: Vec<Option<&Tensor>> = node
                .inputs
                .iter()
                .zip(&constants)
                .map(|(id, constant)| {
                    constant.filter(|_| id.is_some_and(|id| planned[id.0 as usize]))
                })
                .collect();
            let again = node
                .operator
                .infer(&jumar_ops::InferCx::new(&types, &kept, &node.attrs));
            let same = again.is_ok_and(|again| {
                node.outputs
                    .iter()
                    .zip(&again)
                    .all(|(&id, ty)| graph.value(id).ty == *ty)
            });
            if !same {
                for id in node.inputs.iter().flatten() {
                    planned[id.0 as usize] = true;
                }
            }
        }
        for (index, value) in graph.values.iter_mut().enumerate() {
            let Some(tensor) = &value.constant else {
                continue;
            };
            if read[index] {
                value.weight = Some(self.offset(tensor));
            }
            // What is only read while the model runs is not kept twice.
            let small = self.open && tensor.byte_len() <= SMALL;
            if !planned[index] && !small {
                value.constant = None;
            }
        }
        for node in &mut graph.nodes {
            for body in &mut node.bodies {
                self.graph(&mut body.graph)?;
            }
        }
        Ok(())
    }
}

/// Returns the size of a tensor whose dimensions lie in ranges; 0 where one has no bound.
pub(crate) fn largest_bytes(dtype: DataType, dims: &[i64], range: &[(i64, i64)]) -> usize {
    let most = |(index, &dim): (usize, &i64)| {
        let bound = if dim >= 0 {
            dim
        } else {
            range.get(index).map_or(-1, |range| range.1)
        };
        usize::try_from(bound).ok()
    };
    dims.iter()
        .enumerate()
        .map(most)
        .try_fold(1usize, |product, dim| product.checked_mul(dim?))
        .and_then(|elements| dtype.size_of(elements))
        .unwrap_or(0)
}

fn describe(graph: &Graph, options: &BuildOptions) -> Result<Description> {
    let port = |name: String, id: ValueId| -> Result<Port> {
        let value = graph.value(id);
        let (dtype, dims) = (value.ty.dtype, value.ty.shape.clone());
        let range = match options.input_shapes.get(&value.name) {
            Some(range) if graph.inputs.contains(&id) && value.ty.dims().is_none() => range.clone(),
            _ => Vec::new(),
        };
        let named = match options.input_format {
            Some(format) => format,
            None if dims.len() == 5 => Format::Ncdhw,
            None => Format::Nchw,
        };
        let format = if aipp::preprocessing(graph, id).is_some() {
            Format::Nhwc
        } else if named.rank() == Some(dims.len()) {
            named
        } else {
            Format::Nd
        };
        Ok(Port {
            name,
            dtype,
            bytes: largest_bytes(dtype, &dims, &range),
            dims,
            range,
            format,
        })
    };
    let inputs = graph
        .inputs
        .iter()
        .map(|&id| port(graph.value(id).name.clone(), id))
        .collect::<Result<_>>()?;
    let outputs = graph
        .outputs
        .iter()
        .map(|output| {
            port(
                format!(
                    "{}:{}:{}",
                    output.producer.0, output.producer.1, output.name
                ),
                output.value,
            )
        })
        .collect::<Result<_>>()?;
    Ok(Description {
        name: graph.name.clone(),
        inputs,
        outputs,
        ..Description::default()
    })
}
