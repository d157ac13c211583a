//! Graphs of the Graph Engine: nodes of typed operators with named inputs, as programs build them.
//!
//! [`lower`] makes a [`Graph`](jumar_graph::Graph) of one. Each operator has a small function that says what it is made of
//! here, in a file for each family below `lower/`; the table in `lower/mod.rs` finds it. What the headers say about
//! operators (inputs, defaults of attributes) is generated from `api/ge/ops.json`.
//!
//! All of this runs once for a graph. The crate stands above jumar-graph, so that a change of either compiles only what depends on it,
//! and so that this one is compiled with little optimization.
#![forbid(unsafe_code)]

mod fractals;
pub(crate) mod late;
mod lower;
mod prototype;
mod prototypes;
mod serialized;
mod single;

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar_types::dtype::DataType;

pub use fractals::{FORMAT_FRACTAL_NZ, fractal_dims};
pub use lower::{LoweredGraph, VARIABLES, Variable, is_known, lower, refuse_unknown};
pub use prototype::{Default, Occurs, Prototype, prototype, prototypes};
pub use serialized::read_serialized;
pub use single::{
    CompiledOperator, SingleInput, SingleOperator, SingleSource, SingleTarget, compile_single,
    infer_single,
};

/// Lets model files name the operators of this crate: nodes that are lowered while a model runs. A reader of model files calls it
/// first; [`lower`] does so itself.
pub fn provide_operators() {
    static OPERATORS: [&jumar_ops::Operator; 1] = [&late::LATE];
    jumar_graph::conversion::add_operators(&OPERATORS);
}

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desc {
    /// The dimensions: -1 is open, a lone -2 an open number of dimensions.
    pub dims: Vec<i64>,
    /// The number of the element type.
    pub dtype: i32,
    /// The number of the format.
    pub format: i32,
}

impl std::default::Default for Desc {
    fn default() -> Desc {
        Desc {
            dims: Vec::new(),
            dtype: 0,
            format: FORMAT_ND,
        }
    }
}

/// Channels before the image.
pub const FORMAT_NCHW: i32 = 0;
/// Channels after the image.
pub const FORMAT_NHWC: i32 = 1;
/// No meaning of the axes.
pub const FORMAT_ND: i32 = 2;
/// Depth, height and width after the channels.
pub const FORMAT_NCDHW: i32 = 30;
/// Depth, height and width before the channels.
pub const FORMAT_NDHWC: i32 = 27;
/// A filter with its outputs last.
pub const FORMAT_HWCN: i32 = 16;

/// A tensor with its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// What it is.
    pub desc: Desc,
    /// The elements, densely packed, little endian.
    pub bytes: Arc<Vec<u8>>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// Yes or no.
    Bool(bool),
    /// Text.
    Str(String),
    /// A tensor.
    Tensor(Data),
    /// The number of a data type.
    Type(i32),
    /// Several integers.
    Ints(Vec<i64>),
    /// Several numbers.
    Floats(Vec<f32>),
    /// Several times yes or no.
    Bools(Vec<bool>),
    /// Several texts.
    Strs(Vec<String>),
    /// Lists of integers.
    IntLists(Vec<Vec<i64>>),
    /// Several data types.
    Types(Vec<i32>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several tensors.
    Tensors(Vec<Data>),
}

impl Value {
    /// Returns the name of the type as programs read it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Int(_) => "VT_INT",
            Value::Float(_) => "VT_FLOAT",
            Value::Bool(_) => "VT_BOOL",
            Value::Str(_) => "VT_STRING",
            Value::Tensor(_) => "VT_TENSOR",
            Value::Type(_) => "VT_DATA_TYPE",
            Value::Ints(_) => "VT_LIST_INT",
            Value::Floats(_) => "VT_LIST_FLOAT",
            Value::Bools(_) => "VT_LIST_BOOL",
            Value::Strs(_) => "VT_LIST_STRING",
            Value::IntLists(_) => "VT_LIST_LIST_INT",
            Value::Types(_) => "VT_LIST_DATA_TYPE",
            Value::Bytes(_) => "VT_BYTES",
            Value::Tensors(_) => "VT_LIST_TENSOR",
        }
    }
}

/// An input of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The node that it comes from and which of its outputs, if it is given.
    pub from: Option<(usize, usize)>,
    /// What the program says about it.
    pub desc: Desc,
}

/// An output of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The name.
    pub name: String,
    /// What the program says about it.
    pub desc: Desc,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The name.
    pub name: String,
    /// The operator.
    pub kind: String,
    /// The attributes that were set.
    pub attrs: BTreeMap<String, Value>,
    /// The inputs.
    pub inputs: Vec<Input>,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// Nodes that have to run before this one.
    pub after: Vec<usize>,
    /// The graphs inside.
    pub bodies: BTreeMap<String, Vec<Graph>>,
}

/// A graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The name.
    pub name: String,
    /// The nodes, in the order in which they were found.
    pub nodes: Vec<Node>,
    /// The outputs: nodes and which of their outputs.
    pub outputs: Vec<(usize, usize)>,
}

/// Names an element type by its number, also one that no tensor has here.
pub fn type_name(number: i32) -> String {
    // Types of the Graph Engine alone.
    const MORE: &[(i32, &str)] = &[
        (14, "dual_sub_int8"),
        (15, "dual_sub_uint8"),
        (18, "qint8"),
        (19, "qint16"),
        (20, "qint32"),
        (21, "quint8"),
        (22, "quint16"),
        (23, "resource"),
        (24, "string_ref"),
        (25, "dual"),
        (26, "variant"),
        (28, "undefined"),
        (31, "int2"),
        (32, "uint2"),
    ];
    if let Some(dtype) = DataType::from_acl(number) {
        return dtype.name().to_owned();
    }
    let more = MORE.iter().find(|(own, _)| *own == number);
    more.map_or_else(
        || format!("data type {number}"),
        |(_, name)| (*name).to_owned(),
    )
}

/// The operators that are inputs of a graph.
pub const INPUTS: &[&str] = &["Data", "RefData", "AnyData"];

impl Graph {
    /// Lists the inputs in the order in which a run passes them: by their `index` attributes, or as they stand in the
    /// graph where these are not 0, 1, 2 and so on.
    pub fn inputs(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.nodes.len())
            .filter(|&at| INPUTS.contains(&self.nodes[at].kind.as_str()))
            .collect();
        let index = |at: usize| match self.nodes[at].attrs.get("index") {
            Some(Value::Int(index)) => usize::try_from(*index).ok(),
            _ => Some(0),
        };
        let mut sorted: Vec<Option<usize>> = vec![None; all.len()];
        for &at in &all {
            match index(at).and_then(|index| sorted.get_mut(index)) {
                Some(slot @ None) => *slot = Some(at),
                _ => return all,
            }
        }
        sorted.into_iter().flatten().collect()
    }

    /// Finds an order in which every node comes after those that it reads and those that it waits for.
    ///
    /// # Errors
    ///
    /// InvalidModel: there is a circle; a node of it is named.
    pub fn order(&self) -> jumar_graph::Result<Vec<usize>> {
        let mut left: Vec<usize> = vec![0; self.nodes.len()];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            let before = node
                .inputs
                .iter()
                .filter_map(|input| input.from)
                .map(|(from, _)| from)
                .chain(node.after.iter().copied());
            for from in before {
                left[at] += 1;
                next.get_mut(from)
                    .ok_or_else(|| {
                        jumar_graph::GraphError::invalid(format!(
                            "node {} reads a node that is not in the graph",
                            node.name
                        ))
                    })?
                    .push(at);
            }
        }
        let mut order: Vec<usize> = Vec::with_capacity(self.nodes.len());
        let mut ready: std::collections::BTreeSet<usize> =
            (0..self.nodes.len()).filter(|&at| left[at] == 0).collect();
        while let Some(at) = ready.pop_first() {
            order.push(at);
            for &to in &next[at] {
                left[to] -= 1;
                if left[to] == 0 {
                    ready.insert(to);
                }
            }
        }
        if order.len() < self.nodes.len() {
            let cyclic = (0..self.nodes.len())
                .find(|&at| left[at] > 0)
                .map_or("", |at| self.nodes[at].name.as_str());
            return Err(jumar_graph::GraphError::invalid(format!(
                "the graph {} has a circle: node {cyclic} waits for itself",
                self.name
            )));
        }
        Ok(order)
    }
}
