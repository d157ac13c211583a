//! ONNX import.

mod proto;
mod tensor;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jumar_ops::{
    Attr, Attrs, Builder, OnnxNode, OpError, OpErrorKind, Tensor, TensorType, UNKNOWN, find,
    find_onnx,
};
use jumar_types::dtype::DataType;
use prost::Message;

use self::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto};
use crate::passes::fold;
use crate::{Graph, GraphError, GraphErrorKind, GraphOutput, Node, Result, ValueId};

/// The operator sets that are understood. Below 7 the operators whose conversion says so: most begin at 7.
pub const OPSETS: std::ops::RangeInclusive<i64> = 1..=23;

/// The set of the training optimisers, which lies beside the standard one.
const TRAINING: &str = "ai.onnx.preview.training";

/// Makes a graph of an ONNX model.
///
/// `dir` is the folder of the model's file; tensors whose data lie in files beside it are read from inside that folder
/// only, and refused where there is none.
///
/// # Errors
///
/// NotAModel: the bytes are no ONNX model. NotSupported: operators, versions or forms that are not there yet, all
/// unknown operators named at once. InvalidModel: what contradicts ONNX. Truncated, Io: external data.
pub fn import(bytes: &[u8], dir: Option<&Path>) -> Result<Graph> {
    if bytes.is_empty() {
        return Err(GraphError::new(
            GraphErrorKind::NotAModel,
            "the ONNX model is empty",
        ));
    }
    if bytes.starts_with(crate::MAGIC) {
        let text =
            "this is a compiled model (.om) of Jumar already, not an ONNX model: load it as it is";
        return Err(GraphError::new(GraphErrorKind::NotAModel, text));
    }
    if bytes.starts_with(&crate::vendor::MAGIC) {
        return Err(crate::vendor::refusal(bytes));
    }
    let model = ModelProto::decode(bytes).map_err(|error| {
        GraphError::new(
            GraphErrorKind::NotAModel,
            format!("this is no ONNX model, or it is damaged: {error}"),
        )
    })?;
    let Some(graph) = model.graph else {
        return Err(GraphError::new(
            GraphErrorKind::NotAModel,
            "this is no ONNX model: it holds no graph",
        ));
    };
    let opset = model
        .opset_import
        .iter()
        .find(|set| set.domain.is_empty() || set.domain == "ai.onnx")
        .map(|set| set.version)
        .or_else(|| {
            // A model of optimisers alone may name nothing else; they have one version.
            let mut sets = model.opset_import.iter();
            sets.any(|set| set.domain == TRAINING)
                .then_some(*OPSETS.end())
        })
        .ok_or_else(|| {
            GraphError::invalid("the model does not say which operator set of ONNX it uses")
        })?;
    if !OPSETS.contains(&opset) {
        return Err(GraphError::unsupported(format!(
            "the model uses operator set {opset} of ONNX; {} to {} are supported: export it again with one of these",
            OPSETS.start(),
            OPSETS.end()
        )));
    }
    Importer {
        graph: Graph::default(),
        names: HashMap::new(),
        opset,
        node: String::new(),
        added: 0,
    }
    .run(graph, dir)
}

struct Importer {
    graph: Graph,
    names: HashMap<String, ValueId>,
    opset: i64,
    /// The ONNX node that is being converted, and how many of ours it has become so far.
    node: String,
    added: usize,
}

impl Importer {
    fn run(mut self, proto: GraphProto, dir: Option<&Path>) -> Result<Graph> {
        if !proto.sparse_initializer.is_empty() {
            return Err(GraphError::unsupported(
                "sparse initializers are not supported",
            ));
        }
        refuse_unknown(&proto.node, self.opset)?;
        self.graph.name = proto.name;
        for initializer in proto.initializer {
            let name = initializer.name.clone();
            let tensor = tensor::tensor(initializer, dir)?;
            let id = self.graph.add_constant(&name, tensor);
            self.define(name, id)?;
        }
        for input in proto.input {
            // Older files list initializers among the inputs.
            if self.names.contains_key(&input.name) {
                continue;
            }
            let ty = value_type(input.r#type.as_ref())
                .map_err(|error| error.at(format_args!("input {}", input.name)))?;
            let id = self.graph.add_value(&input.name, ty);
            self.graph.inputs.push(id);
            self.define(input.name, id)?;
        }
        let used = used_names(&proto.node, &proto.output);
        let mut producers = HashMap::new();
        // Nodes are meant to come in an order in which they can run; files exist in which they do not.
        let mut waiting: Vec<(usize, NodeProto)> = proto.node.into_iter().enumerate().collect();
        while !waiting.is_empty() {
            let mut later = Vec::new();
            let before = waiting.len();
            for (index, mut node) in waiting {
                if node.name.is_empty() {
                    node.name = format!("{}_{index}", node.op_type);
                }
                if node
                    .input
                    .iter()
                    .any(|name| !name.is_empty() && !self.names.contains_key(name))
                {
                    later.push((index, node));
                    continue;
                }
                for (position, output) in node.output.iter().enumerate() {
                    producers.insert(output.clone(), (node.name.clone(), position));
                }
                self.convert(node, dir, &used)?;
            }
            if later.len() == before {
                return Err(self.unresolved(&later));
            }
            waiting = later;
        }
        for output in proto.output {
            let Some(&value) = self.names.get(&output.name) else {
                return Err(GraphError::invalid(format!(
                    "nothing produces the model's output {}",
                    output.name
                )));
            };
            let producer = producers
                .remove(&output.name)
                .unwrap_or_else(|| (output.name.clone(), 0));
            self.graph.outputs.push(GraphOutput {
                name: output.name,
                producer,
                value,
            });
        }
        if self.graph.outputs.is_empty() {
            return Err(GraphError::invalid("the model has no outputs"));
        }
        Ok(self.graph)
    }

    fn define(&mut self, name: String, id: ValueId) -> Result<()> {
        match self.names.insert(name.clone(), id) {
            None => Ok(()),
            Some(_) => Err(GraphError::invalid(format!(
                "the tensor {name} is defined twice"
            ))),
        }
    }

    fn unresolved(&self, nodes: &[(usize, NodeProto)]) -> GraphError {
        let produced: HashSet<&String> = nodes.iter().flat_map(|(_, node)| &node.output).collect();
        for (_, node) in nodes {
            for name in &node.input {
                if !name.is_empty() && !self.names.contains_key(name) && !produced.contains(name) {
                    let text = format!("node {}: nothing produces its input {name}", node.name);
                    return GraphError::invalid(text);
                }
            }
        }
        GraphError::invalid(format!(
            "node {} depends on its own result",
            nodes[0].1.name
        ))
    }

    fn convert(
        &mut self,
        node: NodeProto,
        dir: Option<&Path>,
        used: &HashSet<String>,
    ) -> Result<()> {
        let place = format!("node {} ({})", node.name, node.op_type);
        self.convert_at(node, dir, used)
            .map_err(|error| error.at(place))
    }

    fn convert_at(
        &mut self,
        node: NodeProto,
        dir: Option<&Path>,
        used: &HashSet<String>,
    ) -> Result<()> {
        let mut attrs = Attrs::new();
        for attribute in node.attribute {
            let name = attribute.name.clone();
            attrs.set(
                &name,
                attr(attribute, dir).map_err(|error| error.at(format_args!("attribute {name}")))?,
            );
        }
        let mut inputs: Vec<Option<ValueId>> = node
            .input
            .iter()
            .map(|name| self.names.get(name).copied())
            .collect();
        // An empty name at the end is an input that is left out.
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        let used: Vec<bool> = node
            .output
            .iter()
            .map(|name| !name.is_empty() && used.contains(name))
            .collect();
        let form = find_onnx(&node.op_type, self.opset)
            .map_err(|_| GraphError::internal("an unchecked operator"))?;
        self.node = node.name;
        self.added = 0;
        let view = OnnxNode::new(self.opset, &inputs, &used, &attrs);
        let outputs = (form.lower)(self, &view)?;
        if let Some(name) = view.leftovers().first() {
            return Err(GraphError::unsupported(format!(
                "the attribute {name} is not supported"
            )));
        }
        for (index, name) in node.output.into_iter().enumerate() {
            match outputs.get(index) {
                Some(&value) if !name.is_empty() => {
                    self.graph.value_mut(value).name.clone_from(&name);
                    self.define(name, value)?;
                }
                Some(_) => {}
                None if used[index] => {
                    return Err(GraphError::unsupported(format!(
                        "its output {name} is not supported"
                    )));
                }
                None => {}
            }
        }
        Ok(())
    }
}

impl Builder for Importer {
    fn ty(&self, value: ValueId) -> &TensorType {
        &self.graph.value(value).ty
    }

    fn constant(&self, value: ValueId) -> Option<&Tensor> {
        self.graph.value(value).constant.as_ref()
    }

    fn add_constant(&mut self, tensor: Tensor) -> ValueId {
        let name = format!("{}/constant_{}", self.node, self.graph.values.len());
        self.graph.add_constant(name, tensor)
    }

    fn add_node(
        &mut self,
        operator: &'static str,
        inputs: &[Option<ValueId>],
        attrs: Attrs,
        outputs: usize,
    ) -> std::result::Result<Vec<ValueId>, OpError> {
        let definition = find(operator).ok_or_else(|| {
            OpError::new(
                OpErrorKind::Internal,
                format!("there is no operator {operator}"),
            )
        })?;
        let name = if self.added == 0 {
            self.node.clone()
        } else {
            format!("{}/{}", self.node, self.added)
        };
        self.added += 1;
        let mut node = Node {
            name,
            operator: definition,
            inputs: inputs.to_vec(),
            outputs: Vec::new(),
            attrs,
        };
        let (types, constants) = self.graph.operands(&node);
        let inferred =
            definition.infer(&jumar_ops::InferCx::new(&types, &constants, &node.attrs))?;
        // Parameters of operators are often computed from constants; conversions want to see them.
        if let Some(tensors) = fold::evaluate(&self.graph, &node, &inferred)? {
            return Ok(tensors
                .into_iter()
                .take(outputs)
                .map(|tensor| self.add_constant(tensor))
                .collect());
        }
        for (index, ty) in inferred.into_iter().take(outputs).enumerate() {
            let value = self.graph.add_value(format!("{}:{index}", node.name), ty);
            node.outputs.push(value);
        }
        let ids = node.outputs.clone();
        self.graph.nodes.push(node);
        Ok(ids)
    }
}

/// Refuses operators that are not there, all of them in one sentence.
fn refuse_unknown(nodes: &[NodeProto], opset: i64) -> Result<()> {
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    for node in nodes {
        let name = if node.name.is_empty() {
            "without a name"
        } else {
            &node.name
        };
        let entry = if !["", "ai.onnx", TRAINING].contains(&node.domain.as_str()) {
            format!("{}::{}", node.domain, node.op_type)
        } else if let Err(versions) = find_onnx(&node.op_type, opset) {
            match versions.first() {
                None => node.op_type.clone(),
                Some((since, _)) => format!(
                    "{} of operator set {opset} (supported from {since} on)",
                    node.op_type
                ),
            }
        } else {
            continue;
        };
        unknown.entry(entry).or_insert_with(|| name.to_owned());
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = unknown
        .iter()
        .map(|(operator, node)| format!("{operator} (node {node})"))
        .collect();
    Err(GraphError::unsupported(format!(
        "operators that are not supported: {}. Replace them in the model, or export it without them",
        list.join(", ")
    )))
}

/// The names that somebody reads.
fn used_names(nodes: &[NodeProto], outputs: &[proto::ValueInfoProto]) -> HashSet<String> {
    let inner = nodes.iter().flat_map(|node| node.input.iter().cloned());
    inner
        .chain(outputs.iter().map(|output| output.name.clone()))
        .collect()
}

fn value_type(proto: Option<&TypeProto>) -> Result<TensorType> {
    let Some(tensor) = proto.and_then(|proto| proto.tensor_type.as_ref()) else {
        return Err(GraphError::unsupported(
            "it is not a tensor, which is not supported",
        ));
    };
    let dtype = DataType::from_onnx(tensor.elem_type)
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            GraphError::unsupported(format!(
                "its element type (number {} in ONNX) is not supported",
                tensor.elem_type
            ))
        })?;
    let Some(shape) = &tensor.shape else {
        return Ok(TensorType::of_unknown_rank(dtype));
    };
    let dims: Vec<i64> = shape
        .dim
        .iter()
        .map(|dim| dim.dim_value.unwrap_or(UNKNOWN).max(UNKNOWN))
        .collect();
    Ok(TensorType::new(dtype, dims))
}

/// AttributeProto.AttributeType has a number for each of these.
fn attr(attribute: AttributeProto, dir: Option<&Path>) -> Result<Attr> {
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes).map_err(|_| GraphError::invalid("its text is not UTF-8"))
    };
    if !attribute.ref_attr_name.is_empty() {
        return Err(GraphError::unsupported(
            "it refers to a function's attribute, which is not supported",
        ));
    }
    // Files from before the type was written are understood by what is there.
    let kind = match attribute.r#type {
        0 if attribute.t.is_some() => 4,
        0 if attribute.g.is_some() => 5,
        0 if !attribute.floats.is_empty() => 6,
        0 if !attribute.ints.is_empty() => 7,
        0 if !attribute.strings.is_empty() => 8,
        0 if !attribute.s.is_empty() => 3,
        0 if attribute.f != 0.0 => 1,
        0 => 2,
        kind => kind,
    };
    Ok(match kind {
        1 => Attr::Float(attribute.f),
        2 => Attr::Int(attribute.i),
        3 => Attr::Str(text(attribute.s)?),
        4 => match attribute.t {
            Some(proto) => Attr::Tensor(tensor::tensor(proto, dir)?),
            None => return Err(GraphError::invalid("its tensor is missing")),
        },
        5 | 10 => {
            return Err(GraphError::unsupported(
                "it holds a subgraph (a branch or a loop), which is not supported: export the model without control flow",
            ));
        }
        6 => Attr::Floats(attribute.floats),
        7 => Attr::Ints(attribute.ints),
        8 => Attr::Strs(
            attribute
                .strings
                .into_iter()
                .map(text)
                .collect::<Result<_>>()?,
        ),
        other => {
            return Err(GraphError::unsupported(format!(
                "attributes of kind {other} are not supported"
            )));
        }
    })
}
