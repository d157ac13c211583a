//! Graphs that clients serialize themselves, as protobuf messages: `LoadFromSerializedModelArray` reads them.

mod proto;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use prost::Message as _;

use self::proto::{
    AttrDef, AttrValue, GraphDef, ListValue, ModelDef, OpDef, TensorDef, TensorDescriptor,
};
use super::{Data, Desc, Graph, Input, Node, Output, Prototype, Value, prototype};
use jumar_graph::{GraphError, Result, conversion};

/// The node that collects the outputs of a graph.
const OUTPUTS: &str = "NetOutput";

/// Attributes that repeat the names of inputs and outputs.
const NAME_TABLES: [&str; 4] = [
    "_input_name_key",
    "_input_name_value",
    "_output_name_key",
    "_output_name_value",
];

/// How many bytes graphs may take beyond those that they take if a node names each once. A graph is read for each node that names it,
/// and its nodes may name another one several times: a few kilobytes could stand for any number of graphs.
const MOST_REPEATED: usize = 16 << 20;
/// About what a node, or a graph, takes beside its bytes.
const OVERHEAD: usize = 256;

/// Reads a serialized model. Its first graph is the root; the others are graphs inside its nodes. The bytes are not trusted.
///
/// # Errors
///
/// InvalidModel: bytes that are not such a message; names of nodes, graphs or inputs that do not exist, or exist twice.
/// NotSupported: graphs nested too deep, or named by so many nodes that together they are too large.
pub fn read_serialized(bytes: &[u8]) -> Result<Graph> {
    let model = ModelDef::decode(bytes).map_err(|error| {
        GraphError::invalid(format!("the bytes are not a serialized model: {error}"))
    })?;
    let Some(root) = model.graph.first() else {
        return Err(GraphError::invalid("the serialized model has no graph"));
    };
    if root.op.is_empty() {
        return Err(GraphError::invalid(format!(
            "graph {} of the serialized model has no nodes",
            root.name
        )));
    }
    let graphs = model.graph.iter().map(|one| (one.name.as_str(), one));
    let by_name: HashMap<&str, &GraphDef> = graphs.skip(1).collect();
    let once: usize = by_name.values().copied().map(cost).sum();
    let mut graphs = Graphs {
        by_name,
        left: once.saturating_add(MOST_REPEATED),
    };
    read_graph(root, &mut graphs, 0)
}

/// Returns about how many bytes a graph takes once it is read.
fn cost(graph: &GraphDef) -> usize {
    graph.encoded_len() + (graph.op.len() + 1) * OVERHEAD
}

/// The graphs that nodes may name.
struct Graphs<'a> {
    by_name: HashMap<&'a str, &'a GraphDef>,
    /// How many bytes those may take that are still to be read.
    left: usize,
}

impl<'a> Graphs<'a> {
    /// Returns the graph that a node names, and counts what it costs to read it.
    fn take(&mut self, name: &str) -> Result<&'a GraphDef> {
        let Some(&source) = self.by_name.get(name) else {
            return Err(GraphError::invalid(format!(
                "its graph {name} is not in the serialized model"
            )));
        };
        match self.left.checked_sub(cost(source)) {
            Some(left) => self.left = left,
            None => {
                return Err(GraphError::unsupported(format!(
                    "nodes name the same graphs so often that these take more than {} MiB beyond one of each: {name} does not fit. Let one node name a graph",
                    MOST_REPEATED >> 20
                )));
            }
        }
        Ok(source)
    }
}

fn read_graph(source: &GraphDef, graphs: &mut Graphs<'_>, depth: usize) -> Result<Graph> {
    if depth > conversion::DEEPEST {
        return Err(GraphError::unsupported(format!(
            "graphs are nested more than {} deep in {}",
            conversion::DEEPEST,
            source.name
        )));
    }
    let mut indices: HashMap<&str, usize> = HashMap::with_capacity(source.op.len());
    let own = || source.op.iter().filter(|op| op.kind != OUTPUTS);
    for (at, op) in own().enumerate() {
        if indices.insert(&op.name, at).is_some() {
            return Err(GraphError::invalid(format!(
                "graph {} has two nodes named {}",
                source.name, op.name
            )));
        }
    }
    let nodes = own()
        .map(|op| {
            read_node(op, &indices, graphs, depth)
                .map_err(|error| error.at(format_args!("node {} ({})", op.name, op.kind)))
        })
        .collect::<Result<Vec<Node>>>()?;
    let mut outputs = Vec::new();
    let collected = source.op.iter().find(|op| op.kind == OUTPUTS);
    for text in collected.map_or(&source.output, |op| &op.input) {
        if let Some(Source::Output(at, position)) = find_source(text, &indices)? {
            outputs.push((at, position));
        }
    }
    Ok(Graph {
        name: source.name.clone(),
        nodes,
        outputs,
    })
}

/// The origin of an input.
enum Source {
    /// An output of a node: the index of the node, and of its output.
    Output(usize, usize),
    /// A control edge: the index of a node that has to run first.
    Control(usize),
}

/// Finds the source that a text `node:index` names. Returns `None` for an empty text, which stands for an input that is not connected.
fn find_source(text: &str, indices: &HashMap<&str, usize>) -> Result<Option<Source>> {
    if text.is_empty() {
        return Ok(None);
    }
    let parts = text.rsplit_once(':');
    let named = parts.and_then(|(name, index)| Some((name, index.parse::<i64>().ok()?)));
    let Some((name, index)) = named else {
        return Err(GraphError::invalid(format!(
            "the input \"{text}\" is not of the form node:index"
        )));
    };
    let Some(&at) = indices.get(name) else {
        return Err(GraphError::invalid(format!(
            "the input \"{text}\" names a node that the graph does not have"
        )));
    };
    match usize::try_from(index) {
        Ok(position) => Ok(Some(Source::Output(at, position))),
        Err(_) if index == -1 => Ok(Some(Source::Control(at))),
        Err(_) => Err(GraphError::invalid(format!(
            "the input \"{text}\" has no output index; -1 is a control edge"
        ))),
    }
}

fn read_node(
    op: &OpDef,
    indices: &HashMap<&str, usize>,
    graphs: &mut Graphs<'_>,
    depth: usize,
) -> Result<Node> {
    let prototype = prototype(&op.kind);
    let mut after = Vec::new();
    let mut sources = Vec::with_capacity(op.input.len());
    for text in &op.input {
        match find_source(text, indices)? {
            Some(Source::Control(at)) => after.push(at),
            Some(Source::Output(at, position)) => sources.push(Some((at, position))),
            None => sources.push(None),
        }
    }
    if sources.len() > op.input_desc.len() {
        return Err(GraphError::invalid(format!(
            "{} inputs are connected, but only {} are described",
            sources.len(),
            op.input_desc.len()
        )));
    }
    sources.resize(op.input_desc.len(), None);
    let inputs = op.input_desc.iter().zip(sources).enumerate();
    let inputs = inputs.map(|(at, (described, from))| Input {
        name: name_of(described, at, prototype.map_or(&[], |own| own.inputs)),
        from,
        desc: read_desc(described),
    });
    let outputs = op.output_desc.iter().enumerate();
    let outputs = outputs.map(|(at, described)| Output {
        name: name_of(described, at, prototype.map_or(&[], |own| own.outputs)),
        desc: read_desc(described),
    });
    Ok(Node {
        name: op.name.clone(),
        kind: op.kind.clone(),
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        after,
        attrs: read_attrs(op, prototype)?,
        bodies: read_bodies(op, prototype, graphs, depth)?,
    })
}

/// Returns the name of an input or output: that of its description, or if it has none, that of the prototype.
fn name_of(
    described: &TensorDescriptor,
    at: usize,
    names: &[(&'static str, super::Occurs)],
) -> String {
    if !described.name.is_empty() {
        return described.name.clone();
    }
    names
        .get(at)
        .map_or_else(String::new, |(name, _)| (*name).to_owned())
}

fn read_bodies(
    op: &OpDef,
    prototype: Option<&Prototype>,
    graphs: &mut Graphs<'_>,
    depth: usize,
) -> Result<BTreeMap<String, Vec<Graph>>> {
    let mut bodies: BTreeMap<String, Vec<Graph>> = BTreeMap::new();
    let slots = prototype.map_or(&[][..], |own| own.bodies);
    for (at, name) in op.subgraph_name.iter().enumerate() {
        // If the last attribute accepts several graphs, all remaining graphs belong to it.
        let slot = slots
            .get(at)
            .or_else(|| slots.last().filter(|(_, several)| *several))
            .ok_or_else(|| {
                GraphError::invalid(format!(
                    "it has {} subgraphs, but its type has {}",
                    op.subgraph_name.len(),
                    slots.len()
                ))
            })?;
        let source = graphs.take(name)?;
        let body = read_graph(source, graphs, depth + 1)?;
        bodies.entry(slot.0.to_owned()).or_default().push(body);
    }
    Ok(bodies)
}

fn read_attrs(op: &OpDef, prototype: Option<&Prototype>) -> Result<BTreeMap<String, Value>> {
    let known = prototype.map_or(&[][..], |own| own.attrs);
    let mut attrs: BTreeMap<String, Value> = known
        .iter()
        .filter_map(|(name, default)| Some(((*name).to_owned(), default.value()?)))
        .collect();
    for (name, attr) in &op.attr {
        if NAME_TABLES.contains(&name.as_str()) {
            continue;
        }
        let wanted = known.iter().find(|(own, _)| own == name);
        let wanted = wanted.map(|(_, default)| default.type_name());
        match read_attr(attr, wanted) {
            Some(value) => {
                attrs.insert(name.clone(), value);
            }
            None if wanted.is_some() => {
                return Err(GraphError::unsupported(format!(
                    "its attribute {name} has no value of a type that is supported"
                )));
            }
            // An attribute that the prototype does not have: clients add such attributes for their own use.
            None => {}
        }
    }
    Ok(attrs)
}

/// Returns the value of an attribute. `wanted` is the name of the type that the prototype states.
fn read_attr(attr: &AttrDef, wanted: Option<&str>) -> Option<Value> {
    Some(match attr.value.as_ref()? {
        AttrValue::Int(value) if wanted == Some("VT_DATA_TYPE") => {
            Value::Type(i32::try_from(*value).ok()?)
        }
        AttrValue::Type(value) if wanted == Some("VT_INT") => Value::Int(*value),
        AttrValue::Int(value) => Value::Int(*value),
        AttrValue::Type(value) => Value::Type(i32::try_from(*value).ok()?),
        AttrValue::Float(value) => Value::Float(*value),
        AttrValue::Bool(value) => Value::Bool(*value),
        AttrValue::Text(bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => Value::Str(text),
            Err(_) => Value::Bytes(bytes.clone()),
        },
        AttrValue::Bytes(bytes) => Value::Bytes(bytes.clone()),
        AttrValue::Tensor(tensor) => Value::Tensor(read_tensor(tensor)),
        AttrValue::IntLists(lists) => {
            Value::IntLists(lists.lists.iter().map(|list| list.ints.clone()).collect())
        }
        AttrValue::List(list) => read_list(list, wanted)?,
    })
}

fn read_list(list: &ListValue, wanted: Option<&str>) -> Option<Value> {
    // The number of the element type is optional. Without it, the field that has elements determines the type.
    let stated = match list.kind {
        1 => "VT_LIST_STRING",
        2 => "VT_LIST_INT",
        3 => "VT_LIST_FLOAT",
        4 => "VT_LIST_BOOL",
        7 => "VT_LIST_TENSOR",
        10 => "VT_LIST_DATA_TYPE",
        _ if !list.ints.is_empty() => "VT_LIST_INT",
        _ if !list.floats.is_empty() => "VT_LIST_FLOAT",
        _ if !list.bools.is_empty() => "VT_LIST_BOOL",
        _ if !list.types.is_empty() => "VT_LIST_DATA_TYPE",
        _ if !list.tensors.is_empty() => "VT_LIST_TENSOR",
        _ if !list.texts.is_empty() => "VT_LIST_STRING",
        _ => wanted.unwrap_or("VT_LIST_INT"),
    };
    let types = || -> Option<Vec<i32>> {
        let numbers = if list.types.is_empty() {
            &list.ints
        } else {
            &list.types
        };
        numbers.iter().map(|&one| i32::try_from(one).ok()).collect()
    };
    Some(match stated {
        "VT_LIST_INT" if wanted == Some("VT_LIST_DATA_TYPE") => Value::Types(types()?),
        "VT_LIST_INT" => Value::Ints(list.ints.clone()),
        "VT_LIST_FLOAT" => Value::Floats(list.floats.clone()),
        "VT_LIST_BOOL" => Value::Bools(list.bools.clone()),
        "VT_LIST_DATA_TYPE" => Value::Types(types()?),
        "VT_LIST_TENSOR" => Value::Tensors(list.tensors.iter().map(read_tensor).collect()),
        "VT_LIST_STRING" => Value::Strs(
            list.texts
                .iter()
                .map(|text| String::from_utf8(text.clone()).ok())
                .collect::<Option<_>>()?,
        ),
        "VT_LIST_LIST_INT" => Value::IntLists(Vec::new()),
        _ => return None,
    })
}

fn read_tensor(tensor: &TensorDef) -> Data {
    Data {
        desc: tensor.desc.as_ref().map_or_else(Desc::default, read_desc),
        bytes: Arc::new(tensor.data.clone()),
    }
}

fn read_desc(source: &TensorDescriptor) -> Desc {
    let stated = source.attr.get("format_for_int");
    let stated = stated.and_then(|attr| match attr.value {
        Some(AttrValue::Int(number)) => i32::try_from(number).ok(),
        _ => None,
    });
    Desc {
        dims: source
            .shape
            .as_ref()
            .map_or_else(Vec::new, |shape| shape.dim.clone()),
        dtype: element_type(source.dtype),
        format: stated.unwrap_or_else(|| layout(&source.layout)),
    }
}

/// Returns the number of the format that a layout names.
fn layout(name: &str) -> i32 {
    match name {
        "NCHW" => super::FORMAT_NCHW,
        "NHWC" => super::FORMAT_NHWC,
        "NCDHW" => super::FORMAT_NCDHW,
        "NDHWC" => super::FORMAT_NDHWC,
        "HWCN" => super::FORMAT_HWCN,
        _ => super::FORMAT_ND,
    }
}

/// Returns the number of an element type in the headers, for its number in a serialized message. The two numberings differ.
fn element_type(number: i32) -> i32 {
    /// The numbers in the headers, indexed by the numbers in messages.
    const NUMBERS: [i32; 41] = [
        28, 0, 1, 2, 4, 6, 7, 3, 9, 8, 10, 12, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41,
    ];
    let found = usize::try_from(number)
        .ok()
        .and_then(|at| NUMBERS.get(at).copied());
    found.unwrap_or(28)
}
