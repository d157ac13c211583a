//! From a graph of the Graph Engine to one of ours.

mod activation;
mod alias;
mod array;
mod attention;
mod bicubic;
mod boxes;
mod cell;
mod channels;
mod colour;
mod complex;
mod compound;
mod control;
mod deform;
mod detection;
mod diagonal;
mod dilation;
mod distance;
mod elementwise;
mod filter;
mod formula;
mod framework;
mod fused;
mod gradient;
mod gru;
mod image;
mod index;
mod lamb;
mod layout;
mod lists;
mod loss;
mod matrix;
mod molecules;
mod nearest;
mod norm;
mod op;
mod partition;
mod points;
mod pool;
mod random;
mod recurrent;
mod reduce;
mod regions;
mod resize_gradient;
mod retrieval;
mod sampling;
mod search;
mod sequence;
mod single;
mod slice;
mod solve;
mod sparse;
mod state;
mod training;
mod yolo;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use jumar_ops::{Attrs, Builder, OpError, OpErrorKind, Tensor, TensorType};
use jumar_types::dtype::DataType;

use self::op::Op;
pub use self::state::VARIABLES;
pub(super) use self::state::updated_inputs;
use super::{Desc, Graph as Source, INPUTS, Node as SourceNode, Value, late};
use jumar_graph::conversion::{DEEPEST, InsertPoint};
use jumar_graph::{Graph, GraphError, GraphOutput, Result, ValueId};

/// Lowers an operator: adds nodes. Returns the values of its outputs.
type Lowering = fn(&mut Cx, &Op<'_>) -> std::result::Result<Vec<ValueId>, OpError>;

/// A variable of a session that a graph uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// What it is.
    pub ty: TensorType,
    /// Which input of the lowered graph holds its contents.
    pub input: usize,
    /// Which output of the lowered graph has its new contents, if the graph writes it.
    pub output: Option<usize>,
    /// Its initial value, if the program sets one.
    pub initial: Option<Tensor>,
}

/// A lowered graph.
#[derive(Clone, Debug)]
pub struct LoweredGraph {
    /// The graph. Variables are further inputs and outputs behind those of the program.
    pub graph: Graph,
    /// How many inputs are the program's.
    pub inputs: usize,
    /// How many outputs are the program's.
    pub outputs: usize,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The variables that Save nodes collect, by their names.
    pub saved: Vec<String>,
}

impl LoweredGraph {
    /// Takes out what counts how often was drawn at random, for a graph that no session runs: each run draws the same.
    pub fn without_draws(&mut self) {
        let draws = |variable: &Variable| variable.name.starts_with(state::DRAWS);
        for variable in self.variables.iter().filter(|variable| draws(variable)) {
            let value = self.graph.inputs[variable.input];
            self.graph.value_mut(value).constant = variable.initial.clone();
        }
        let (inputs, outputs) = (self.inputs, self.outputs);
        let kept: Vec<Variable> = std::mem::take(&mut self.variables)
            .into_iter()
            .filter(|variable| !draws(variable))
            .collect();
        let ids: Vec<ValueId> = kept
            .iter()
            .map(|one| self.graph.inputs[one.input])
            .collect();
        let results: Vec<GraphOutput> = kept
            .iter()
            .filter_map(|one| Some(self.graph.outputs[one.output?].clone()))
            .collect();
        self.graph.inputs.truncate(inputs);
        self.graph.outputs.truncate(outputs);
        let mut next = outputs;
        for (at, mut variable) in kept.into_iter().enumerate() {
            variable.input = inputs + at;
            if let Some(output) = &mut variable.output {
                *output = next;
                next += 1;
            }
            self.variables.push(variable);
        }
        self.graph.inputs.extend(ids);
        self.graph.outputs.extend(results);
    }
}

/// The operators, by their names.
fn table() -> &'static HashMap<&'static str, Lowering> {
    static TABLE: OnceLock<HashMap<&'static str, Lowering>> = OnceLock::new();
    TABLE.get_or_init(|| {
        [
            activation::TABLE,
            alias::TABLE,
            array::TABLE,
            attention::TABLE,
            bicubic::TABLE,
            boxes::TABLE,
            cell::TABLE,
            channels::TABLE,
            colour::TABLE,
            complex::TABLE,
            compound::TABLE,
            deform::TABLE,
            detection::TABLE,
            diagonal::TABLE,
            dilation::TABLE,
            distance::TABLE,
            elementwise::TABLE,
            filter::TABLE,
            framework::TABLE,
            fused::TABLE,
            gradient::TABLE,
            gru::TABLE,
            image::TABLE,
            index::TABLE,
            lamb::TABLE,
            layout::TABLE,
            lists::TABLE,
            loss::TABLE,
            matrix::TABLE,
            molecules::TABLE,
            nearest::TABLE,
            norm::TABLE,
            partition::TABLE,
            points::TABLE,
            pool::TABLE,
            random::TABLE,
            recurrent::TABLE,
            reduce::TABLE,
            regions::TABLE,
            resize_gradient::TABLE,
            retrieval::TABLE,
            sampling::TABLE,
            search::TABLE,
            sequence::TABLE,
            slice::TABLE,
            solve::TABLE,
            sparse::TABLE,
            state::TABLE,
            training::TABLE,
            yolo::TABLE,
        ]
        .into_iter()
        .flatten()
        .copied()
        .chain(single::table())
        .collect()
    })
}

/// Returns whether graphs with this operator can be built.
pub fn is_known(kind: &str) -> bool {
    table().contains_key(kind)
        || INPUTS.contains(&kind)
        || state::VARIABLES.contains(&kind)
        || control::is_control(kind)
        || kind == "Save"
}

/// Lowers a graph. `inputs` says what the inputs really are, where the caller knows better than the graph.
///
/// # Errors
///
/// NotSupported: operators that are not known, all named at once; forms of known ones that are not there. InvalidModel:
/// circles, missing inputs and attributes, shapes that do not fit.
pub fn lower(source: &Source, inputs: &[Option<TensorType>]) -> Result<LoweredGraph> {
    crate::provide_operators();
    refuse_unknown(source)?;
    refused_types(source)?;
    let mut cx = Cx::default();
    cx.graph.name.clone_from(&source.name);
    let data = source.inputs();
    let mut given = Vec::with_capacity(data.len());
    for (position, &at) in data.iter().enumerate() {
        let node = &source.nodes[at];
        let ty = match inputs.get(position).and_then(Option::as_ref) {
            Some(ty) => ty.clone(),
            None => cx
                .input_type(node)
                .map_err(|error| GraphError::from(error).at(format_args!("node {}", node.name)))?,
        };
        let id = cx.graph.add_value(node.name.clone(), ty);
        cx.graph.inputs.push(id);
        given.push(id);
    }
    let outputs = cx.nodes(source, &given, true)?;
    for (index, (&(at, position), value)) in source.outputs.iter().zip(outputs).enumerate() {
        let node = &source.nodes[at];
        cx.graph.outputs.push(GraphOutput {
            name: format!("{}:{position}", node.name),
            producer: (node.name.clone(), position),
            value: cx.plain(value).map_err(|error| {
                GraphError::from(error).at(format_args!("output {index} of the graph"))
            })?,
        });
    }
    cx.finish(given.len())
}

/// Refuses a graph with operators that cannot be lowered.
///
/// # Errors
///
/// Unsupported: there are some; all of them are named.
pub fn refuse_unknown(source: &Source) -> Result<()> {
    let mut unknown = BTreeMap::new();
    unknown_operators(source, 0, &mut unknown)?;
    if unknown.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = unknown
        .iter()
        .map(|(operator, node)| format!("{operator} (node {node})"))
        .collect();
    Err(GraphError::unsupported(format!(
        "operators that are not supported: {}",
        list.join(", ")
    )))
}

fn unknown_operators(
    graph: &Source,
    depth: usize,
    unknown: &mut BTreeMap<String, String>,
) -> Result<()> {
    if depth > DEEPEST {
        return Err(GraphError::unsupported(format!(
            "graphs are nested more than {} deep in {}",
            DEEPEST, graph.name
        )));
    }
    for node in &graph.nodes {
        if !is_known(&node.kind) {
            let name = node.name.clone();
            unknown.entry(node.kind.clone()).or_insert(name);
        }
        for body in node.bodies.values().flatten() {
            unknown_operators(body, depth + 1, unknown)?;
        }
    }
    Ok(())
}

/// Refuses what reads a tensor of a type that there is no arithmetic for.
fn refused_types(graph: &Source) -> Result<()> {
    for node in &graph.nodes {
        for input in &node.inputs {
            let Some(source) = input.from.and_then(|(from, _)| graph.nodes.get(from)) else {
                continue;
            };
            let number = match source.attrs.get("value") {
                Some(Value::Tensor(data)) => data.desc.dtype,
                _ if INPUTS.contains(&source.kind.as_str())
                    || state::VARIABLES.contains(&source.kind.as_str()) =>
                {
                    said(source).dtype
                }
                _ => continue,
            };
            let known = DataType::from_acl(number)
                .is_some_and(|dtype| jumar_ops::Types::ALL.contains(dtype));
            if !known {
                return Err(GraphError::unsupported(format!(
                    "node {} ({}): its input {} (from {}) is {}; no operator takes tensors of that type here",
                    node.name,
                    node.kind,
                    input.name,
                    source.name,
                    super::type_name(number)
                )));
            }
        }
        for body in node.bodies.values().flatten() {
            refused_types(body)?;
        }
    }
    Ok(())
}

/// The program's description of an input or a variable: by the output of its node, or by its unconnected input.
fn said(node: &SourceNode) -> Desc {
    let output = node.outputs.first().map(|output| &output.desc);
    let input = node.inputs.first().map(|input| &input.desc);
    let said = |desc: &&Desc| **desc != Desc::default();
    output
        .filter(said)
        .or(input.filter(said))
        .or(output)
        .cloned()
        .unwrap_or_default()
}

/// The type that a description stands for.
pub(crate) fn type_of(desc: &Desc) -> std::result::Result<TensorType, OpError> {
    let dtype = DataType::from_acl(desc.dtype)
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            OpError::new(
                OpErrorKind::NotSupported,
                format!(
                    "tensors of data type {} are not supported",
                    super::type_name(desc.dtype)
                ),
            )
        })?;
    if desc.dims == [-2] {
        return Ok(TensorType::of_unknown_rank(dtype));
    }
    if desc.dims.iter().any(|&dim| dim < -1) {
        return Err(invalid(format!("the shape {:?} is none", desc.dims)));
    }
    Ok(TensorType::new(dtype, desc.dims.clone()))
}

/// The tensor that a constant is.
pub(super) fn tensor_of(data: &super::Data) -> std::result::Result<Tensor, OpError> {
    let mut ty = type_of(&data.desc)?;
    let bytes = data.bytes.len();
    // A shape without dimensions is also what a program gets that says nothing.
    if ty.shape.is_empty() && ty.bytes() != Some(bytes) {
        let size = ty.dtype.size().unwrap_or(1);
        ty.shape = vec![(bytes / size) as i64];
    }
    let dims = ty.dims().ok_or_else(|| {
        invalid(format!(
            "a constant's shape is {ty}, with dimensions that are open"
        ))
    })?;
    let bytes = bytes::Bytes::from_owner(SharedBytes(data.bytes.clone()));
    Tensor::shared(ty.dtype, &dims, bytes)
}

/// The bytes of a constant, which the graph of the program keeps as well.
struct SharedBytes(std::sync::Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

pub(super) fn invalid(text: impl Into<String>) -> OpError {
    OpError::new(OpErrorKind::Invalid, text.into())
}

pub(super) fn unsupported(text: impl Into<String>) -> OpError {
    OpError::new(OpErrorKind::NotSupported, text.into())
}

/// The graph that is being made.
#[derive(Default)]
pub(super) struct Cx {
    pub graph: Graph,
    /// The node that is being lowered.
    insert_point: InsertPoint,
    /// What variables hold at this point of the order, by name.
    variables: BTreeMap<String, state::VariableState>,
    /// The lists that sequences stand for, by the value that stands for each.
    sequences: HashMap<ValueId, Vec<ValueId>>,
    /// The heights and widths of the layers that outputs of Yolo stand for.
    grids: HashMap<ValueId, [i64; 2]>,
    saved: Vec<String>,
    /// Whether this is the graph of a branch or a loop, where there are no variables.
    inner: bool,
    /// Whether the operator that is being lowered needs the values of an input that is computed.
    lacks_values: Cell<bool>,
}

impl Builder for Cx {
    fn ty(&self, value: ValueId) -> &TensorType {
        &self.graph.value(value).ty
    }

    fn constant(&self, value: ValueId) -> Option<&Tensor> {
        self.graph.value(value).constant.as_ref()
    }

    fn add_constant(&mut self, tensor: Tensor) -> ValueId {
        self.insert_point.add_constant(&mut self.graph, tensor)
    }

    fn add_node(
        &mut self,
        operator: &'static str,
        inputs: &[Option<ValueId>],
        attrs: Attrs,
        outputs: usize,
    ) -> std::result::Result<Vec<ValueId>, OpError> {
        if let Some(values) = complex::node(self, operator, inputs, &attrs)? {
            return Ok(values);
        }
        self.insert_point
            .add_node(&mut self.graph, operator, inputs, attrs, outputs)
    }
}

impl Cx {
    /// The program's description of an input: by the output of its node, or by its unconnected input.
    fn input_type(&self, node: &SourceNode) -> std::result::Result<TensorType, OpError> {
        type_of(&said(node))
    }

    /// Lowers the nodes of a graph whose inputs have these values. Returns the values of its outputs.
    fn nodes(&mut self, source: &Source, given: &[ValueId], root: bool) -> Result<Vec<ValueId>> {
        let mut values: HashMap<(usize, usize), ValueId> = HashMap::new();
        for (&at, &value) in source.inputs().iter().zip(given) {
            values.insert((at, 0), value);
        }
        let mut used: HashMap<usize, Vec<bool>> = HashMap::new();
        let reads = source
            .nodes
            .iter()
            .flat_map(|node| node.inputs.iter().filter_map(|input| input.from))
            .chain(source.outputs.iter().copied());
        for (at, position) in reads {
            // What came from a file may name any number.
            let most = source.nodes.get(at).map_or(0, |node| node.outputs.len());
            if position >= most {
                return Err(GraphError::invalid(format!(
                    "output {position} of node {} is read, and the node has {most}",
                    source.nodes.get(at).map_or("", |node| node.name.as_str())
                )));
            }
            let list = used.entry(at).or_default();
            if list.len() <= position {
                list.resize(position + 1, false);
            }
            list[position] = true;
        }
        for at in source.order()? {
            let node = &source.nodes[at];
            if INPUTS.contains(&node.kind.as_str()) {
                continue;
            }
            let location = || format!("node {} ({})", node.name, node.kind);
            self.insert_point = InsertPoint::at(&node.name);
            if state::VARIABLES.contains(&node.kind.as_str()) {
                if !root {
                    return Err(GraphError::unsupported(format!(
                        "{}: variables inside branches and loops are not supported",
                        location()
                    )));
                }
                let value = self
                    .declare(node)
                    .map_err(|error| GraphError::from(error).at(location()))?;
                values.insert((at, 0), value);
                continue;
            }
            let mut inputs = Vec::with_capacity(node.inputs.len());
            let mut sources = Vec::with_capacity(node.inputs.len());
            for input in &node.inputs {
                let value = match input.from {
                    None => None,
                    Some((from, position)) => {
                        // A variable is read as it is now, not as it was when the graph began.
                        let variable = self.current(&source.nodes[from]);
                        let value = variable.or_else(|| values.get(&(from, position)).copied());
                        Some(value.ok_or_else(|| {
                            GraphError::invalid(format!(
                                "{}: its input {} is output {position} of {}, which has no such output",
                                location(),
                                input.name,
                                source.nodes[from].name
                            ))
                        })?)
                    }
                };
                sources.push(input.from.map(|(from, _)| source.nodes[from].name.as_str()));
                inputs.push((input.name.as_str(), value));
            }
            let unused = Vec::new();
            let op = Op::new(
                node,
                inputs,
                sources,
                used.get(&at).unwrap_or(&unused),
                source,
            );
            let outputs = self
                .lower_one(&op, root)
                .map_err(|error| error.at(location()))?;
            for (position, value) in outputs.into_iter().enumerate() {
                values.insert((at, position), value);
            }
        }
        source
            .outputs
            .iter()
            .map(|&(at, position)| {
                let variable = source
                    .nodes
                    .get(at)
                    .and_then(|node| self.current(node));
                variable
                    .or_else(|| values.get(&(at, position)).copied())
                    .ok_or_else(|| {
                        GraphError::invalid(format!(
                            "output {position} of node {} is an output of the graph, and the node has no such output",
                            source.nodes.get(at).map_or("", |node| node.name.as_str())
                        ))
                    })
            })
            .collect()
    }

    fn lower_one(&mut self, op: &Op<'_>, root: bool) -> Result<Vec<ValueId>> {
        if control::is_control(op.kind()) {
            return control::lower(self, op);
        }
        if op.kind() == "Save" {
            for name in op.sources().flatten() {
                self.saved.push(name.to_owned());
            }
            return Ok(Vec::new());
        }
        if !root && state::changes_variables(op.kind()) {
            return Err(GraphError::unsupported(
                "variables inside branches and loops are not supported",
            ));
        }
        op.check()?;
        let lowering = table()
            .get(op.kind())
            .ok_or_else(|| GraphError::internal("an unchecked operator"))?;
        let (nodes, values) = (self.graph.nodes.len(), self.graph.values.len());
        let start = self.insert_point.clone();
        self.lacks_values.set(false);
        match lowering(self, op) {
            Err(_) if self.lacks_values.get() && late::can_wait(op.kind()) => {
                self.graph.nodes.truncate(nodes);
                self.graph.values.truncate(values);
                self.insert_point = start;
                Ok(self.later(op)?)
            }
            lowered => Ok(lowered?),
        }
    }

    /// Adds a node that is lowered while the model runs.
    fn later(&mut self, op: &Op<'_>) -> std::result::Result<Vec<ValueId>, OpError> {
        let given: Vec<_> = op.given().collect();
        let inputs: Vec<_> = given.iter().map(|(_, _, value)| Some(*value)).collect();
        let names: Vec<_> = given
            .iter()
            .map(|(name, format, _)| (*name, *format))
            .collect();
        let attrs = late::attributes(op.node, &names)?;
        self.add_node(late::LATE.name, &inputs, attrs, op.outputs())
    }

    /// Returns the refusal of an input that has to be a constant, and notes it.
    fn wants_constant(&self, name: &str) -> OpError {
        self.lacks_values.set(true);
        unsupported(format!("its input {name} has to be a constant"))
    }

    /// Adds a node of one output and returns it.
    pub fn one(
        &mut self,
        operator: &'static str,
        inputs: &[ValueId],
        attrs: Attrs,
    ) -> std::result::Result<ValueId, OpError> {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        self.add_node(operator, &inputs, attrs, 1)?
            .first()
            .copied()
            .ok_or_else(|| OpError::new(OpErrorKind::Internal, "a node without an output"))
    }

    /// Adds a constant of integers.
    pub fn ints(&mut self, values: &[i64]) -> ValueId {
        self.add_constant(Tensor::from_ints(values))
    }

    /// Adds a constant of one number, of the type that `like` has.
    pub fn number(&mut self, value: f64, like: ValueId) -> std::result::Result<ValueId, OpError> {
        let dtype = self.ty(like).dtype;
        Ok(self.add_constant(Tensor::scalar(dtype, value)?))
    }

    /// Converts a value's elements.
    pub fn cast(
        &mut self,
        value: ValueId,
        dtype: DataType,
    ) -> std::result::Result<ValueId, OpError> {
        if self.ty(value).dtype == dtype {
            return Ok(value);
        }
        self.one(
            "Cast",
            &[value],
            Attrs::new().with("dst_type", i64::from(dtype.acl())),
        )
    }

    /// Puts the axes into another order.
    pub fn transpose(
        &mut self,
        value: ValueId,
        order: &[i64],
    ) -> std::result::Result<ValueId, OpError> {
        let order = self.ints(order);
        self.one("Transpose", &[value, order], Attrs::new())
    }

    /// Reshapes a value.
    pub fn reshape(
        &mut self,
        value: ValueId,
        dims: &[i64],
    ) -> std::result::Result<ValueId, OpError> {
        let dims = self.ints(dims);
        self.one("Reshape", &[value, dims], Attrs::new())
    }

    /// Returns a value's dimensions, which have to be known.
    pub fn dims(&self, value: ValueId) -> std::result::Result<Vec<i64>, OpError> {
        let ty = self.ty(value);
        match ty.dims() {
            Some(dims) => Ok(dims.into_iter().map(|dim| dim as i64).collect()),
            None => Err(OpError::new(
                OpErrorKind::Unknown,
                format!("its input is {ty}, and all dimensions have to be known"),
            )),
        }
    }

    /// Returns a value's number of dimensions, which has to be known.
    pub fn rank(&self, value: ValueId) -> std::result::Result<usize, OpError> {
        self.ty(value).rank().ok_or_else(|| {
            OpError::new(
                OpErrorKind::Unknown,
                "the number of its input's dimensions has to be known",
            )
        })
    }

    /// Brings values of several types to one that holds them all.
    pub fn promote(&mut self, values: &mut [ValueId]) -> std::result::Result<(), OpError> {
        let types: Vec<DataType> = values.iter().map(|&value| self.ty(value).dtype).collect();
        let Some(joined) = types.iter().copied().reduce(joined_type) else {
            return Ok(());
        };
        for value in values {
            *value = self.cast(*value, joined)?;
        }
        Ok(())
    }

    /// Refuses a sequence where a tensor is wanted.
    fn plain(&self, value: ValueId) -> std::result::Result<ValueId, OpError> {
        if self.sequences.contains_key(&value) {
            return Err(unsupported("a sequence cannot be an output of a graph"));
        }
        Ok(value)
    }

    /// Closes the graph: variables become inputs and outputs.
    fn finish(mut self, inputs: usize) -> Result<LoweredGraph> {
        let outputs = self.graph.outputs.len();
        let mut variables = Vec::new();
        for (name, held) in std::mem::take(&mut self.variables) {
            let input = self.graph.inputs.len();
            self.graph.inputs.push(held.first);
            let output = (held.now != held.first).then(|| {
                self.graph.outputs.push(GraphOutput {
                    name: format!("{name}/new"),
                    producer: (name.clone(), 0),
                    value: held.now,
                });
                self.graph.outputs.len() - 1
            });
            variables.push(Variable {
                ty: self.graph.value(held.first).ty.clone(),
                name,
                input,
                output,
                initial: held.initial,
            });
        }
        Ok(LoweredGraph {
            graph: self.graph,
            inputs,
            outputs,
            variables,
            saved: self.saved,
        })
    }
}

/// The type that two types become together.
fn joined_type(a: DataType, b: DataType) -> DataType {
    use DataType::{
        BFloat16, Bool, Complex32, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16,
        Int32, Int64, UInt8, UInt16, UInt32, UInt64,
    };
    let rank = |dtype: DataType| match dtype {
        Bool => 0,
        UInt8 => 1,
        Int8 => 2,
        UInt16 => 3,
        Int16 => 4,
        UInt32 => 5,
        Int32 => 6,
        UInt64 => 7,
        Int64 => 8,
        Float16 => 9,
        BFloat16 => 10,
        Float32 => 11,
        Float64 => 12,
        Complex32 => 13,
        Complex64 => 14,
        Complex128 => 15,
        _ => 16,
    };
    match (a, b) {
        (Float16, BFloat16) | (BFloat16, Float16) => Float32,
        (Complex64 | Complex32, Float64) | (Float64, Complex64 | Complex32) => Complex128,
        (Complex32, Float32 | BFloat16) | (Float32 | BFloat16, Complex32) => Complex64,
        _ if rank(a) >= rank(b) => a,
        _ => b,
    }
}

/// Reads an attribute that names a data type by its number.
fn data_type(number: i64) -> std::result::Result<DataType, OpError> {
    i32::try_from(number)
        .ok()
        .and_then(DataType::from_acl)
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            let name = i32::try_from(number).map_or_else(|_| number.to_string(), super::type_name);
            unsupported(format!("the data type {name} is not supported"))
        })
}

/// Reads the tensor in an attribute.
fn tensor_attr(node: &SourceNode, name: &str) -> std::result::Result<Option<Tensor>, OpError> {
    match node.attrs.get(name) {
        None => Ok(None),
        Some(Value::Tensor(data)) => tensor_of(data).map(Some),
        Some(_) => Err(invalid(format!("the attribute {name} has to be a tensor"))),
    }
}
