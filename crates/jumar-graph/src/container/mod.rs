//! Jumar's model files (`.om`): a header, the graph, the weights. docs/model-file.md describes the layout.
//!
//! Nothing in a file is trusted: lengths and offsets are checked before they are used, checksums before the contents
//! are, and the graph itself is inferred again and has to come out as the file says.

mod external;
mod message;
mod proto;

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;

use jumar_ops::{Attr, Attrs, Tensor, TensorType, UNKNOWN, UNKNOWN_RANK};
use jumar_types::dtype::DataType;
use prost::Message;

pub use self::external::{ExternalWeights, WEIGHT_FOLDER, WeightFiles};
use self::message::message;
use self::proto::{AttrValue, GearMessage, GraphMessage, NodeMessage, PortMessage, ValueMessage};
use crate::compile::{ALIGNMENT, ConstantLayout, largest_bytes};
use crate::description::{Format, Gear, GearKind};
use crate::{
    Body, Description, Graph, GraphError, GraphErrorKind, GraphOutput, Model, Node, Port, Result,
    Value, ValueId, Weights, control, gears,
};

/// The bytes that a model file of Jumar begins with.
pub const MAGIC: &[u8; 8] = b"JUMAR\x1a\x0aM";

/// The latest version of the format. Older ones are read, newer ones are refused.
pub const VERSION: u32 = 3;

/// The version that is written where all weights are inside the file.
const WITHOUT_FILES: u32 = 2;

/// The length of the header.
///
/// # Units
///
/// Bytes.
pub const HEADER_BYTES: usize = 256;

/// Weights start at a page, so that a mapped file keeps their alignment.
const PAGE: usize = 4096;

/// The most values or nodes that a file may hold: a bound on what a small file can make the reader allocate.
const MOST: usize = 1 << 22;

/// The fixed fields of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    version: u32,
    graph: (u64, u64),
    weights: (u64, u64),
    file: u64,
    graph_crc: u32,
    weights_crc: u32,
}

impl Header {
    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..16].copy_from_slice(&(HEADER_BYTES as u32).to_le_bytes());
        let words = [
            self.file,
            self.graph.0,
            self.graph.1,
            self.weights.0,
            self.weights.1,
        ];
        for (index, word) in words.into_iter().enumerate() {
            bytes[16 + 8 * index..24 + 8 * index].copy_from_slice(&word.to_le_bytes());
        }
        bytes[56..60].copy_from_slice(&self.graph_crc.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.weights_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
        bytes[HEADER_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Header> {
        if bytes.is_empty() {
            return Err(GraphError::new(
                GraphErrorKind::Truncated,
                "the model file is empty",
            ));
        }
        if bytes.starts_with(&crate::vendor::MAGIC) {
            return Err(crate::vendor::refusal(bytes));
        }
        let common = bytes.len().min(MAGIC.len());
        if bytes[..common] != MAGIC[..common] {
            let what = if is_likely_onnx(bytes) {
                "this looks like an ONNX model: convert it first, with atc --model=... --framework=5 --output=... --soc_version=..."
            } else {
                "this is not a compiled model (.om) of Jumar: it begins with other bytes"
            };
            return Err(GraphError::new(GraphErrorKind::NotAModel, what));
        }
        let Some(header) = bytes.get(..HEADER_BYTES) else {
            let text = format!(
                "the model file ends after {} bytes, inside its header of {HEADER_BYTES}",
                bytes.len()
            );
            return Err(GraphError::new(GraphErrorKind::Truncated, text));
        };
        let u32_at = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        // The offsets of the checksum and of the version are the same in every version.
        if crc32fast::hash(&header[..HEADER_BYTES - 4]) != u32_at(HEADER_BYTES - 4) {
            return Err(GraphError::corrupt(
                "the header of the model file is damaged: its checksum does not agree",
            ));
        }
        let version = u32_at(8);
        if version > VERSION {
            return Err(GraphError::new(
                GraphErrorKind::TooNew,
                format!(
                    "the model file has format {version}, and this Jumar reads up to {VERSION}: convert the model again"
                ),
            ));
        }
        if version == 0 || u32_at(12) as usize != HEADER_BYTES {
            return Err(GraphError::corrupt(
                "the header of the model file contradicts itself",
            ));
        }
        Ok(Header {
            version,
            file: u64_at(16),
            graph: (u64_at(24), u64_at(32)),
            weights: (u64_at(40), u64_at(48)),
            graph_crc: u32_at(56),
            weights_crc: u32_at(60),
        })
    }
}

/// An ONNX file begins with its ir_version, a small number in field 1.
fn is_likely_onnx(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [
            0x08,
            1..=20,
            0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42,
            ..
        ]
    )
}

/// Writes a model.
pub(crate) fn write(
    model: &Model,
    weights: &ConstantLayout,
    to: &mut impl Write,
) -> io::Result<()> {
    write_as(WITHOUT_FILES, message(model), weights, to)
}

/// Writes a model without its weights, and hands each file of weights to `beside`, once.
pub(crate) fn write_outside(
    model: &Model,
    weights: &ConstantLayout,
    outside: &WeightFiles,
    to: &mut impl Write,
    beside: &mut dyn FnMut(&str, &ConstantLayout) -> io::Result<()>,
) -> io::Result<()> {
    let divided = external::divide(weights, outside);
    let mut written = HashSet::new();
    for (file, contents) in &divided {
        if written.insert(&file.name) {
            beside(&file.name, contents)?;
        }
    }
    let message = GraphMessage {
        external: divided
            .iter()
            .map(|(file, _)| external::message(file))
            .collect(),
        external_bytes: weights.len() as u64,
        ..message(model)
    };
    write_as(VERSION, message, &ConstantLayout::default(), to)
}

fn write_as(
    version: u32,
    message: GraphMessage,
    weights: &ConstantLayout,
    to: &mut impl Write,
) -> io::Result<()> {
    let graph = message.encode_to_vec();
    let weights_at = (HEADER_BYTES + graph.len()).next_multiple_of(PAGE);
    let mut sum = crc32fast::Hasher::new();
    weights.each(|bytes| {
        sum.update(bytes);
        io::Result::Ok(())
    })?;
    let header = Header {
        version,
        graph: (HEADER_BYTES as u64, graph.len() as u64),
        weights: (weights_at as u64, weights.len() as u64),
        file: (weights_at + weights.len()) as u64,
        graph_crc: crc32fast::hash(&graph),
        weights_crc: sum.finalize(),
    };
    to.write_all(&header.bytes())?;
    to.write_all(&graph)?;
    to.write_all(&vec![0; weights_at - HEADER_BYTES - graph.len()])?;
    weights.each(|bytes| to.write_all(bytes))?;
    to.flush()
}

/// The largest graph that is read: a bound on what a file of any length can make the reader allocate. Protocol Buffers end at
/// twice that.
const LARGEST_GRAPH: u64 = 1 << 30;

/// Where the parts of a model file lie, as its header says and its length allows.
#[derive(Clone, Debug)]
pub struct Sections {
    /// The graph.
    ///
    /// # Units
    ///
    /// Bytes, from the start of the file.
    pub graph: Range<u64>,
    /// The weights.
    ///
    /// # Units
    ///
    /// Bytes, from the start of the file.
    pub weights: Range<u64>,
    graph_crc: u32,
    weights_crc: u32,
}

/// Checks the weights of a file piece by piece.
#[derive(Clone, Debug)]
pub struct WeightsCheck {
    so_far: crc32fast::Hasher,
    wanted: u32,
}

impl WeightsCheck {
    /// Takes the next bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        self.so_far.update(bytes);
    }

    /// Compares, after the last byte.
    ///
    /// # Errors
    ///
    /// Corrupt: they are not what was written.
    pub fn finish(self) -> Result<()> {
        same_sum(self.so_far.finalize(), self.wanted, "weights")
    }
}

fn same_sum(found: u32, wanted: u32, what: &str) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(GraphError::corrupt(format!(
        "the {what} of the model file are damaged: the checksum does not agree"
    )))
}

impl Sections {
    /// Reads the header of a file that is `len` bytes long, out of its first bytes.
    ///
    /// # Errors
    ///
    /// As [`Model::read`].
    pub fn read(first: &[u8], len: u64) -> Result<Sections> {
        let header = Header::read(first)?;
        if header.file > len {
            return Err(GraphError::new(
                GraphErrorKind::Truncated,
                format!(
                    "the model file has {len} bytes, and its header says {}: it was cut off",
                    header.file
                ),
            ));
        }
        if header.file < len {
            let text = format!(
                "the model file has {len} bytes, and its header says {}: something follows it",
                header.file
            );
            return Err(GraphError::corrupt(text));
        }
        let section = |(at, size): (u64, u64), what: &str| {
            at.checked_add(size)
                .filter(|&end| end <= len && at >= HEADER_BYTES as u64)
                .map(|end| at..end)
                .ok_or_else(|| {
                    GraphError::corrupt(format!("the {what} of the model file lie outside it"))
                })
        };
        let graph = section(header.graph, "graph")?;
        let weights = section(header.weights, "weights")?;
        if !weights.start.is_multiple_of(ALIGNMENT as u64)
            || (graph.start < weights.end && weights.start < graph.end)
        {
            return Err(GraphError::corrupt(
                "the sections of the model file overlap or are not aligned",
            ));
        }
        if graph.end - graph.start > LARGEST_GRAPH {
            return Err(GraphError::corrupt(format!(
                "the graph of the model file has {} bytes; at most {LARGEST_GRAPH} are allowed",
                graph.end - graph.start
            )));
        }
        Ok(Sections {
            graph,
            weights,
            graph_crc: header.graph_crc,
            weights_crc: header.weights_crc,
        })
    }

    /// Returns the same sections of a file that begins so many bytes into another one.
    #[must_use]
    pub fn moved(mut self, bytes: u64) -> Sections {
        for range in [&mut self.graph, &mut self.weights] {
            *range = range.start.saturating_add(bytes)..range.end.saturating_add(bytes);
        }
        self
    }

    /// Begins to check the weights.
    pub fn check_weights(&self) -> WeightsCheck {
        WeightsCheck {
            so_far: crc32fast::Hasher::new(),
            wanted: self.weights_crc,
        }
    }

    /// Returns the part of a whole file that lies in a range.
    fn cut<'a>(bytes: &'a [u8], range: &Range<u64>) -> Result<&'a [u8]> {
        let at = |at: u64| usize::try_from(at).ok();
        at(range.start)
            .zip(at(range.end))
            .and_then(|(start, end)| bytes.get(start..end))
            .ok_or_else(|| GraphError::internal("a section outside the file"))
    }
}

/// Reads a model.
pub(crate) fn read(bytes: &[u8]) -> Result<Model> {
    let sections = Sections::read(bytes, bytes.len() as u64)?;
    let graph = Sections::cut(bytes, &sections.graph)?;
    // A damaged graph is reported before damaged weights.
    same_sum(crc32fast::hash(graph), sections.graph_crc, "graph")?;
    let mut weights = sections.check_weights();
    weights.update(Sections::cut(bytes, &sections.weights)?);
    weights.finish()?;
    read_graph(&sections, graph)
}

/// Reads a model without its weights, which are read later.
pub(crate) fn read_graph(sections: &Sections, graph: &[u8]) -> Result<Model> {
    same_sum(crc32fast::hash(graph), sections.graph_crc, "graph")?;
    let message = GraphMessage::decode(graph).map_err(|error| {
        GraphError::corrupt(format!(
            "the graph of the model file cannot be read: {error}"
        ))
    })?;
    let at = |at: u64| {
        usize::try_from(at).map_err(|_| {
            GraphError::corrupt("the model file is longer than addresses of this machine")
        })
    };
    model(
        message,
        at(sections.weights.start)?..at(sections.weights.end)?,
    )
}

fn model(mut message: GraphMessage, in_file: Range<usize>) -> Result<Model> {
    let files = std::mem::take(&mut message.external);
    let weights = match files.is_empty() {
        true => Weights::InFile(in_file),
        false => {
            let outside = |why: &str| Err(GraphError::corrupt(format!("the model file {why}")));
            if !in_file.is_empty() {
                return outside("has weights both inside and in files beside it");
            }
            let Some(bytes) = usize::try_from(message.external_bytes)
                .ok()
                .filter(|&bytes| isize::try_from(bytes).is_ok())
            else {
                return outside("speaks of more weights than memory can hold");
            };
            Weights::InFiles {
                bytes,
                files: external::read(files, bytes)?,
            }
        }
    };
    let weights_len = weights.len();
    let (inputs, outputs) = (message.inputs.clone(), message.outputs.clone());
    let options = std::mem::take(&mut message.options);
    let (kind, listed) = (message.gear_kind, std::mem::take(&mut message.gears));
    let mut budget = MOST;
    let graph = graph_of(message, weights_len, 0, &mut budget)?;
    let mut description = Description {
        name: graph.name.clone(),
        ..Description::default()
    };
    for (index, port) in inputs.into_iter().enumerate() {
        description
            .inputs
            .push(port_of(port, &graph, graph.inputs[index])?);
    }
    for (index, port) in outputs.into_iter().enumerate() {
        description
            .outputs
            .push(port_of(port, &graph, graph.outputs[index].value)?);
    }
    read_gears(kind, listed, &graph, weights_len, &mut description)?;
    let options: BTreeMap<String, String> = options
        .into_iter()
        .map(|option| (option.name, option.value))
        .collect();
    Ok(Model::new(graph, weights, description, options))
}

/// Reads gears; each is planned again, which finds the outputs' dimensions.
fn read_gears(
    kind: u32,
    listed: Vec<GearMessage>,
    graph: &Graph,
    weights: usize,
    description: &mut Description,
) -> Result<()> {
    let bad = || GraphError::corrupt("the gears of the model file contradict each other");
    description.gear_kind = match kind {
        0 if listed.is_empty() => return Ok(()),
        1 => GearKind::Batch,
        2 => GearKind::Image,
        3 => GearKind::Dims,
        _ => return Err(bad()),
    };
    let count = listed.first().map_or(0, |gear| gear.values.len());
    if count == 0 || listed.len() > 128 {
        return Err(bad());
    }
    for message in listed {
        let inputs: Vec<Vec<i64>> = message.inputs.into_iter().map(|dims| dims.list).collect();
        let sound = inputs
            .iter()
            .flatten()
            .chain(&message.values)
            .all(|&dim| dim >= 0);
        if message.values.len() != count || inputs.len() != graph.inputs.len() || !sound {
            return Err(bad());
        }
        let mut gear = Gear {
            values: message.values,
            inputs,
            outputs: Vec::new(),
        };
        let plan = gears::plan(graph, &gear, weights)
            .map_err(|error| GraphError::corrupt(error.text()))?;
        gear.outputs = plan
            .outputs
            .iter()
            .map(|port| port.dims.iter().map(|&dim| dim as i64).collect())
            .collect();
        description.gears.push(gear);
    }
    gears::finish(description)
}

/// Reads a graph, and the graphs inside its nodes.
fn graph_of(
    message: GraphMessage,
    weights: usize,
    depth: usize,
    budget: &mut usize,
) -> Result<Graph> {
    let own = message.values.len().saturating_add(message.nodes.len());
    if own > *budget || depth > control::DEEPEST {
        return Err(GraphError::corrupt(
            "the graph of the model file is larger or deeper than any model",
        ));
    }
    *budget -= own;
    let mut graph = Graph {
        name: message.name,
        ..Graph::default()
    };
    for value in message.values {
        let value = value_of(value, weights)?;
        graph.values.push(value);
    }
    let count = graph.values.len();
    let id = |number: u32| {
        if (number as usize) < count {
            Ok(ValueId(number))
        } else {
            Err(GraphError::corrupt(format!(
                "the model file speaks of tensor {number} of {count}"
            )))
        }
    };
    // What can be read so far: weights at once, other tensors once they were produced.
    let mut ready: Vec<bool> = graph
        .values
        .iter()
        .map(|value| value.weight.is_some())
        .collect();
    for port in &message.inputs {
        let input = id(port.value)?;
        if std::mem::replace(&mut ready[input.0 as usize], true) {
            return Err(GraphError::corrupt(format!(
                "the input {} of the model file is something else, too",
                port.name
            )));
        }
        graph.inputs.push(input);
    }
    for mut node in message.nodes {
        let bodies = std::mem::take(&mut node.bodies);
        let mut node = node_of(node, &id)?;
        let clash = |what: &str| {
            GraphError::corrupt(format!("node {} of the model file {what}", node.name))
        };
        if control::is_control(node.operator) == bodies.is_empty() {
            return Err(clash(
                "has graphs and is not a branch or loop, or the reverse",
            ));
        }
        for (index, input) in node.inputs.iter().enumerate() {
            let Some(input) = input else { continue };
            let known =
                graph.value(*input).constant.is_some() && !Graph::reads_at_run(&node, index);
            if !known && !ready[input.0 as usize] {
                return Err(clash("reads a tensor before it is there"));
            }
        }
        let mut read = Vec::with_capacity(bodies.len());
        for body in bodies {
            let captures: Vec<usize> = body.captures.iter().map(|&index| index as usize).collect();
            let inner = body
                .graph
                .ok_or_else(|| clash("has a graph that is not there"))?;
            let inner = graph_of(inner, weights, depth + 1, budget)?;
            if captures.len() > inner.inputs.len()
                || captures.iter().any(|&index| index >= node.inputs.len())
            {
                return Err(clash("passes inputs to its graph that do not exist"));
            }
            read.push(Body {
                graph: inner,
                captures,
            });
        }
        node.bodies = read;
        let clash = |what: &str| {
            GraphError::corrupt(format!("node {} of the model file {what}", node.name))
        };
        let types = graph
            .infer(&node)
            .map_err(|error| GraphError::corrupt(error.text()))?;
        if node.outputs.is_empty() || node.outputs.len() > types.len() {
            return Err(clash("has another number of outputs than its operator"));
        }
        for (&output, ty) in node.outputs.iter().zip(&types) {
            let value = graph.value(output);
            if value.ty != *ty {
                return Err(clash(&format!(
                    "produces {ty}, and the file says {}",
                    value.ty
                )));
            }
            if value.constant.is_some() || std::mem::replace(&mut ready[output.0 as usize], true) {
                return Err(clash("writes a tensor that is something else, too"));
            }
        }
        graph.nodes.push(node);
    }
    for port in message.outputs {
        let value = id(port.value)?;
        if !ready[value.0 as usize] {
            return Err(GraphError::corrupt(format!(
                "nothing produces the output {} of the model file",
                port.name
            )));
        }
        graph.outputs.push(GraphOutput {
            name: port.original,
            producer: (
                port.producer,
                usize::try_from(port.producer_output).unwrap_or(usize::MAX),
            ),
            value,
        });
    }
    Ok(graph)
}

fn type_of(message: &ValueMessage) -> Result<TensorType> {
    let dtype = DataType::from_acl(message.dtype).filter(|dtype| dtype.size().is_some());
    let shape: Option<Vec<i64>> = message
        .dims
        .iter()
        .map(|&dim| Some(dim as i64).filter(|&dim| dim >= UNKNOWN))
        .collect();
    let shape = match message.dims[..] {
        [alone] if alone as i64 == UNKNOWN_RANK => Some(vec![UNKNOWN_RANK]),
        _ => shape,
    };
    let ty = dtype
        .zip(shape)
        .map(|(dtype, shape)| TensorType { dtype, shape });
    ty.filter(|ty| ty.dims().is_none() || ty.layout().is_ok())
        .ok_or_else(|| {
            GraphError::corrupt(format!(
                "the tensor {} of the model file has an impossible type",
                message.name
            ))
        })
}

fn tensor_of(ty: &TensorType, contents: Vec<u8>) -> Result<Tensor> {
    let dims = ty
        .dims()
        .ok_or_else(|| GraphError::corrupt("a tensor without a fixed shape"))?;
    Tensor::new(ty.dtype, &dims, contents).map_err(|error| GraphError::corrupt(error.text()))
}

fn value_of(message: ValueMessage, weights: usize) -> Result<Value> {
    let ty = type_of(&message)?;
    let weight = match message.weight {
        None => None,
        Some(offset) => {
            let offset = usize::try_from(offset).ok().filter(|&offset| {
                let end = ty.bytes().and_then(|bytes| offset.checked_add(bytes));
                offset % ALIGNMENT == 0 && end.is_some_and(|end| end <= weights)
            });
            Some(offset.ok_or_else(|| {
                GraphError::corrupt(format!(
                    "the tensor {} lies outside the weights of the model file",
                    message.name
                ))
            })?)
        }
    };
    let constant = message
        .contents
        .map(|contents| tensor_of(&ty, contents))
        .transpose()?;
    Ok(Value {
        name: message.name,
        ty,
        constant,
        weight,
    })
}

fn node_of(message: NodeMessage, id: &impl Fn(u32) -> Result<ValueId>) -> Result<Node> {
    let operator = control::find(&message.operator).ok_or_else(|| {
        GraphError::unsupported(format!(
            "node {}: the operator {:?} of the model file is not known to this Jumar: convert the model again",
            message.name, message.operator
        ))
    })?;
    let inputs = message
        .inputs
        .into_iter()
        .map(|number| number.checked_sub(1).map(id).transpose())
        .collect::<Result<Vec<_>>>()?;
    let outputs = message
        .outputs
        .into_iter()
        .map(id)
        .collect::<Result<Vec<_>>>()?;
    let mut attrs = Attrs::new();
    for attr in message.attrs {
        let value = match attr.value {
            Some(AttrValue::Int(value)) => Attr::Int(value),
            Some(AttrValue::Float(value)) => Attr::Float(value),
            Some(AttrValue::Bool(value)) => Attr::Bool(value),
            Some(AttrValue::Str(value)) => Attr::Str(value),
            Some(AttrValue::Ints(value)) => Attr::Ints(value.list),
            Some(AttrValue::Floats(value)) => Attr::Floats(value.list),
            Some(AttrValue::Strs(value)) => Attr::Strs(value.list),
            Some(AttrValue::Tensor(mut value)) => {
                let contents = value.contents.take().unwrap_or_default();
                Attr::Tensor(tensor_of(&type_of(&value)?, contents)?)
            }
            Some(AttrValue::Type(number)) => {
                Attr::Type(DataType::from_acl(number).ok_or_else(|| {
                    GraphError::corrupt(format!(
                        "the attribute {} of node {} is not a data type",
                        attr.name, message.name
                    ))
                })?)
            }
            None => {
                let text = format!(
                    "the attribute {} of node {} has no value",
                    attr.name, message.name
                );
                return Err(GraphError::corrupt(text));
            }
        };
        attrs.set(&attr.name, value);
    }
    Ok(Node {
        name: message.name,
        operator,
        inputs,
        outputs,
        attrs,
        bodies: Vec::new(),
    })
}

fn port_of(message: PortMessage, graph: &Graph, id: ValueId) -> Result<Port> {
    let ty = &graph.value(id).ty;
    let format = Format::from_acl(message.format)
        .filter(|format| format.rank().is_none_or(|rank| rank == ty.shape.len()));
    let impossible = || {
        GraphError::corrupt(format!(
            "the description of {} in the model file is impossible",
            message.name
        ))
    };
    let format = format.ok_or_else(impossible)?;
    let range: Vec<(i64, i64)> = message
        .range
        .chunks_exact(2)
        .map(|pair| (pair[0], pair[1]))
        .collect();
    let sound = |&(least, most): &(i64, i64)| least >= 0 && (most == -1 || most >= least);
    if !(range.is_empty() || range.len() == ty.shape.len()) || !range.iter().all(sound) {
        return Err(impossible());
    }
    let bytes = largest_bytes(ty.dtype, &ty.shape, &range);
    Ok(Port {
        name: message.name,
        dtype: ty.dtype,
        dims: ty.shape.clone(),
        range,
        format,
        bytes,
    })
}

#[cfg(test)]
mod tests;
