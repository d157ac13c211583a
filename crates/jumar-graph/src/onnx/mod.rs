//! ONNX import.

mod control_flow;
mod edges;
mod flex;
mod functions;
mod inline;
mod order;
mod proto;
mod refusal;
mod scan;
mod sequences;
mod storage_type;
mod tensor;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use bytes::Bytes;
use jumar_ops::{
    Attr, Attrs, Builder, OnnxForm, OnnxNode, OpError, StorageType, Tensor, TensorType,
    find_contrib, find_onnx,
};
use prost::Message;

use self::proto::{AttributeProto, GraphProto, ModelProto, NodeProto};
use crate::insert_point::InsertPoint;
use crate::{Graph, GraphError, GraphErrorKind, GraphOutput, Result, ValueId, files};

/// The operator sets that are understood. Below 7 only operators whose conversion supports it: most begin at 7.
pub const OPSETS: std::ops::RangeInclusive<i64> = 1..=28;

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
    import_with(bytes, dir, &Shapes::new())
}

/// Makes a graph of an ONNX model, with shapes of inputs that the caller knows better than the file.
///
/// # Errors
///
/// As [`import`]. InvalidOption: a shape of another number of dimensions.
pub fn import_with(bytes: &[u8], dir: Option<&Path>, shapes: &Shapes) -> Result<Graph> {
    import_outputs(bytes, dir, shapes, &[])
}

/// Makes a graph of an ONNX model, with outputs that the caller chooses: `node:index`, or names of tensors. None chosen are
/// those that the model declares.
///
/// # Errors
///
/// As [`import_with`]. InvalidOption: a node or tensor that is not there.
pub fn import_outputs(
    bytes: &[u8],
    dir: Option<&Path>,
    shapes: &Shapes,
    outputs: &[String],
) -> Result<Graph> {
    import_shared(Bytes::copy_from_slice(bytes), dir, shapes, outputs)
}

/// The most that one message of Protocol Buffers can hold.
const LARGEST_FILE: u64 = (1 << 31) - 1;

/// Reads an ONNX file. Data beside it are read when it is imported.
///
/// # Errors
///
/// NotFound, Io: it cannot be read. NotAModel: it is longer than any ONNX file.
pub fn read_file(path: &Path) -> Result<Bytes> {
    let failed = |error: std::io::Error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => GraphErrorKind::NotFound,
            _ => GraphErrorKind::Io,
        };
        let text = format!("the model {} cannot be read: {error}", path.display());
        GraphError::new(kind, text)
    };
    let (_, length) = files::open(path).map_err(failed)?;
    if length > LARGEST_FILE {
        return Err(GraphError::new(
            GraphErrorKind::NotAModel,
            format!(
                "{} has {length} bytes, and an ONNX file ends at {LARGEST_FILE}: larger models have their weights in files beside them",
                path.display(),
            ),
        ));
    }
    files::read(path, LARGEST_FILE)
        .map(Bytes::from)
        .map_err(failed)
}

/// Makes a graph of an ONNX model, as [`import_outputs`]; tensors share the bytes instead of copying them.
///
/// # Errors
///
/// As [`import_outputs`].
pub fn import_shared(
    bytes: Bytes,
    dir: Option<&Path>,
    shapes: &Shapes,
    outputs: &[String],
) -> Result<Graph> {
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
        return Err(crate::vendor::refusal(&bytes));
    }
    let model = ModelProto::decode(bytes).map_err(|error| {
        GraphError::new(
            GraphErrorKind::NotAModel,
            format!("this is not an ONNX model, or it is damaged: {error}"),
        )
    })?;
    let Some(graph) = model.graph else {
        return Err(GraphError::new(
            GraphErrorKind::NotAModel,
            "this is not an ONNX model: it has no graph",
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
    let mut graph = graph;
    choose_outputs(&mut graph, outputs)?;
    functions::inline(&mut graph, model.functions, opset)?;
    let mut unknown = BTreeMap::new();
    refusal::unknown_operators(&graph, opset, 0, &mut unknown)?;
    refusal::refuse_unknown(&unknown)?;
    let settings = Settings { opset, dir, shapes };
    let mut importer = Importer::new(&settings, None);
    importer.run(graph)?;
    if importer.graph.outputs.is_empty() {
        return Err(GraphError::invalid("the model has no outputs"));
    }
    Ok(importer.graph)
}

/// Shapes of inputs by name, where the caller knows better than the file. A negative dimension is open.
pub type Shapes = BTreeMap<String, Vec<i64>>;

/// What holds for the whole file.
struct Settings<'a> {
    opset: i64,
    dir: Option<&'a Path>,
    shapes: &'a Shapes,
}

/// Finds values of the graph around a graph.
trait Around {
    /// Returns a value's index, and what is known of it.
    fn find(&mut self, name: &str) -> Option<(ValueId, Known)>;
}

/// What is known of a value of the graph around a graph.
struct Known {
    ty: TensorType,
    constant: Option<Tensor>,
    storage: Option<StorageType>,
}

/// The types that values from the surrounding graph have in a graph inside a node.
#[derive(Clone, Copy)]
enum CapturedTypes {
    /// Those that the surrounding graph knows.
    AsKnown,
    /// The same with every dimension unknown.
    WithoutDims,
}

struct Importer<'a> {
    settings: &'a Settings<'a>,
    around: Option<&'a mut dyn Around>,
    graph: Graph,
    names: HashMap<String, ValueId>,
    /// The types of ONNX of values that no kernel computes on.
    storage: HashMap<ValueId, StorageType>,
    /// The sequences of tensors of this graph.
    lists: HashMap<String, Vec<ValueId>>,
    /// Names that nodes of this graph produce; they are never looked for around it.
    produced: HashSet<String>,
    /// Values taken from the graph around this one, by their index there.
    captured: Vec<ValueId>,
    captured_types: CapturedTypes,
    taken: Vec<ValueId>,
    /// The ONNX node that is being converted.
    insert_point: InsertPoint,
    /// The types of ONNX of the outputs of the graph inside a node that was imported last.
    returned: Vec<Option<StorageType>>,
}

impl Around for Importer<'_> {
    fn find(&mut self, name: &str) -> Option<(ValueId, Known)> {
        let id = self.resolve(name)?;
        let value = self.graph.value(id);
        let known = Known {
            ty: value.ty.clone(),
            constant: value.constant.clone(),
            storage: self.storage.get(&id).copied(),
        };
        Some((id, known))
    }
}

impl<'a> Importer<'a> {
    fn new(settings: &'a Settings<'a>, around: Option<&'a mut dyn Around>) -> Importer<'a> {
        Importer {
            settings,
            around,
            graph: Graph::default(),
            names: HashMap::new(),
            storage: HashMap::new(),
            lists: HashMap::new(),
            produced: HashSet::new(),
            captured: Vec::new(),
            captured_types: CapturedTypes::AsKnown,
            taken: Vec::new(),
            insert_point: InsertPoint::default(),
            returned: Vec::new(),
        }
    }

    /// Finds a value of this graph, or takes one from around it: a constant as a copy, anything else as an input.
    fn resolve(&mut self, name: &str) -> Option<ValueId> {
        if let Some(&id) = self.names.get(name) {
            return Some(id);
        }
        if self.produced.contains(name) {
            return None;
        }
        let (outside, known) = self.around.as_mut()?.find(name)?;
        let Known {
            ty,
            constant,
            storage,
        } = known;
        let id = match constant {
            Some(tensor) => self.graph.add_known(name, tensor),
            None => {
                let ty = match self.captured_types {
                    CapturedTypes::AsKnown => ty,
                    CapturedTypes::WithoutDims => ty.without_dims(),
                };
                let id = self.graph.add_value(name, ty);
                self.captured.push(outside);
                self.taken.push(id);
                id
            }
        };
        self.names.insert(name.to_owned(), id);
        if let Some(storage) = storage {
            self.storage.insert(id, storage);
        }
        Some(id)
    }

    fn run(&mut self, proto: GraphProto) -> Result<()> {
        if !proto.sparse_initializer.is_empty() {
            return Err(GraphError::unsupported(
                "sparse initializers are not supported",
            ));
        }
        self.graph.name = proto.name;
        for initializer in proto.initializer {
            let name = initializer.name.clone();
            let storage = StorageType::of_onnx(initializer.data_type.into());
            let tensor = tensor::tensor(initializer, self.settings.dir)?;
            let id = self.graph.add_constant(&name, tensor);
            if let Some(storage) = storage {
                self.storage.insert(id, storage);
            }
            self.define(name, id)?;
        }
        for input in proto.input {
            // Older files list initializers among the inputs.
            if self.names.contains_key(&input.name) {
                continue;
            }
            if self.around.is_none()
                && let Some(element) = edges::sequence_element(input.r#type.as_ref())
            {
                let list = self
                    .sequence_input(&input.name, element)
                    .map_err(|error| error.at(format_args!("input {}", input.name)))?;
                self.lists.insert(input.name, list);
                continue;
            }
            let id = self
                .input(&input.name, input.r#type.as_ref())
                .map_err(|error| error.at(format_args!("input {}", input.name)))?;
            self.define(input.name, id)?;
        }
        let used = used_names(&proto.node, &proto.output);
        self.produced = proto
            .node
            .iter()
            .flat_map(|node| node.output.iter().cloned())
            .collect();
        let mut producers = HashMap::new();
        for (index, mut node) in order::sorted(proto.node)? {
            if node.name.is_empty() {
                node.name = format!("{}_{index}", node.op_type);
            }
            for name in &node.input {
                let is_known = name.is_empty() || self.lists.contains_key(name);
                if !is_known && self.resolve(name).is_none() {
                    let text = format!("node {}: nothing produces its input {name}", node.name);
                    return Err(GraphError::invalid(text));
                }
            }
            for (position, output) in node.output.iter().enumerate() {
                producers.insert(output.clone(), (node.name.clone(), position));
            }
            self.convert(node, &used)?;
        }
        for output in proto.output {
            if let Some(list) = self
                .lists
                .get(&output.name)
                .filter(|_| self.around.is_none())
            {
                // A sequence is returned as an output for each of its tensors.
                let producer = producers.get(&output.name).map(|(node, _)| node.clone());
                let node = producer.unwrap_or_else(|| output.name.clone());
                let outputs = list.iter().enumerate().map(|(index, &value)| GraphOutput {
                    name: format!("{}_{index}", output.name),
                    producer: (node.clone(), index),
                    value,
                });
                self.graph.outputs.extend(outputs);
                continue;
            }
            let Some(mut value) = self.resolve(&output.name) else {
                return Err(GraphError::invalid(format!(
                    "nothing produces the model's output {}",
                    output.name
                )));
            };
            let producer = producers
                .get(&output.name)
                .cloned()
                .unwrap_or_else(|| (output.name.clone(), 0));
            let storage = self.storage.get(&value).copied();
            if self.around.is_none()
                && let Some(shown) = storage.and_then(StorageType::acl)
            {
                self.insert_point = InsertPoint::at(format!("{}/shown", output.name));
                value = self.bytes_as(value, shown)?;
            }
            self.graph.outputs.push(GraphOutput {
                name: output.name,
                producer,
                value,
            });
        }
        Ok(())
    }

    fn define(&mut self, name: String, id: ValueId) -> Result<()> {
        match self.names.insert(name.clone(), id) {
            None => Ok(()),
            Some(_) => Err(GraphError::invalid(format!(
                "the tensor {name} is defined twice"
            ))),
        }
    }

    fn convert(&mut self, node: NodeProto, used: &HashSet<String>) -> Result<()> {
        let location = format!("node {} ({})", node.name, node.op_type);
        self.convert_at(node, used)
            .map_err(|error| error.at(location))
    }

    fn convert_at(&mut self, mut node: NodeProto, used: &HashSet<String>) -> Result<()> {
        let mut bodies = BTreeMap::new();
        let mut attrs = Attrs::new();
        let mut made = None;
        for mut attribute in std::mem::take(&mut node.attribute) {
            let name = attribute.name.clone();
            if let Some(tensor) = &attribute.t
                && ["Constant", "ConstantOfShape"].contains(&node.op_type.as_str())
            {
                made = StorageType::of_onnx(tensor.data_type.into());
            }
            if let Some(graph) = attribute.g.take() {
                bodies.insert(name, graph);
                continue;
            }
            attrs.set(
                &name,
                attr(attribute, self.settings.dir)
                    .map_err(|error| error.at(format_args!("attribute {name}")))?,
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
        self.insert_point = InsertPoint::at(std::mem::take(&mut node.name));
        if self.is_about_sequences(&node, &bodies) {
            return self.convert_sequence(&node, &attrs, bodies);
        }
        let outputs = if is_control(&node) {
            self.convert_control(&node, inputs, attrs, bodies)?
        } else if flex::is_flex_attention(&node) {
            self.convert_flex_attention(&inputs, &attrs, bodies)?
        } else {
            if let Some(name) = bodies.keys().next() {
                return Err(GraphError::unsupported(format!(
                    "the attribute {name} is a graph, which is not supported here"
                )));
            }
            let form = form_of(&node, self.settings.opset)
                .map_err(|_| GraphError::internal("an unchecked operator"))?;
            self.check_storage(&node, &inputs)?;
            let view = OnnxNode::new(self.settings.opset, &inputs, &used, &attrs);
            let outputs = (form.lower)(self, &view)?;
            if let Some(name) = view.leftovers().first() {
                return Err(GraphError::unsupported(format!(
                    "the attribute {name} is not supported"
                )));
            }
            if let (storage_type::Handling::Moves, Some(&Some(first))) =
                (storage_type::handling(&node.op_type), inputs.first())
            {
                made = self.storage.get(&first).copied();
            }
            if let Some(storage) = made {
                self.storage
                    .extend(outputs.iter().map(|&value| (value, storage)));
            }
            outputs
        };
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

    /// Refuses inputs of types that no kernel computes on, where the operator computes.
    fn check_storage(&self, node: &NodeProto, inputs: &[Option<ValueId>]) -> Result<()> {
        if !standard_domain(node)
            || !matches!(
                storage_type::handling(&node.op_type),
                storage_type::Handling::Refuses
            )
        {
            return Ok(());
        }
        let storage = inputs
            .iter()
            .flatten()
            .find_map(|value| self.storage.get(value).copied());
        match storage {
            None => Ok(()),
            Some(storage) => Err(GraphError::unsupported(format!(
                "an input of {} is not supported: convert it first, with Cast or DequantizeLinear",
                storage.name()
            ))),
        }
    }
}

fn is_control(node: &NodeProto) -> bool {
    matches!(node.domain.as_str(), "" | "ai.onnx")
        && matches!(node.op_type.as_str(), "If" | "Loop" | "Scan")
}

impl Builder for Importer<'_> {
    fn storage(&self, value: ValueId) -> Option<StorageType> {
        self.storage.get(&value).copied()
    }

    fn set_storage(&mut self, value: ValueId, storage: StorageType) {
        self.storage.insert(value, storage);
    }

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
        self.insert_point
            .add_node(&mut self.graph, operator, inputs, attrs, outputs)
    }
}

/// Makes other tensors the model's outputs, and drops the nodes that none of them needs.
fn choose_outputs(graph: &mut GraphProto, wanted: &[String]) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut outputs = Vec::new();
    for one in wanted {
        let by_node = one.rsplit_once(':').and_then(|(name, index)| {
            let index: usize = index.trim().parse().ok()?;
            let node = graph.node.iter().find(|node| node.name == name.trim())?;
            node.output.get(index).filter(|name| !name.is_empty())
        });
        let by_tensor = || {
            let mut all = graph.node.iter().flat_map(|node| &node.output);
            all.find(|name| *name == one)
        };
        let name = by_node.or_else(by_tensor).ok_or_else(|| {
            GraphError::option(format!(
                "out_nodes names {one:?}, which is neither an output of a node (as node:0) nor a tensor of the model"
            ))
        })?;
        outputs.push(proto::ValueInfoProto {
            name: name.clone(),
            r#type: None,
        });
    }
    graph.output = outputs;
    let producer: HashMap<&str, usize> = graph
        .node
        .iter()
        .enumerate()
        .flat_map(|(index, node)| node.output.iter().map(move |name| (name.as_str(), index)))
        .collect();
    let mut needed = vec![false; graph.node.len()];
    let mut waiting: Vec<usize> = graph
        .output
        .iter()
        .filter_map(|output| producer.get(output.name.as_str()).copied())
        .collect();
    while let Some(index) = waiting.pop() {
        if std::mem::replace(&mut needed[index], true) {
            continue;
        }
        let read = used_names(std::slice::from_ref(&graph.node[index]), &[]);
        waiting.extend(
            read.iter()
                .filter_map(|name| producer.get(name.as_str()).copied()),
        );
    }
    let mut index = 0;
    graph.node.retain(|_| {
        index += 1;
        needed[index - 1]
    });
    Ok(())
}

fn standard_domain(node: &NodeProto) -> bool {
    ["", "ai.onnx", TRAINING].contains(&node.domain.as_str())
}

/// Finds the conversion of a node, or the versions of its operator that are understood.
fn form_of(
    node: &NodeProto,
    opset: i64,
) -> std::result::Result<&'static OnnxForm, Vec<(i64, i64)>> {
    // ONNX Runtime writes this operator of its own without its domain.
    let own = node.domain == "com.microsoft" || node.op_type == "SimplifiedLayerNormalization";
    match (own, standard_domain(node)) {
        (true, _) => find_contrib(&node.op_type).ok_or_else(Vec::new),
        (false, true) => find_onnx(&node.op_type, opset),
        (false, false) => Err(Vec::new()),
    }
}

/// The names that are read, including subgraphs.
fn used_names(nodes: &[NodeProto], outputs: &[proto::ValueInfoProto]) -> HashSet<String> {
    let mut used: HashSet<String> = outputs.iter().map(|output| output.name.clone()).collect();
    for node in nodes {
        used.extend(node.input.iter().cloned());
        for graph in node.attribute.iter().filter_map(|one| one.g.as_ref()) {
            used.extend(used_names(&graph.node, &graph.output));
        }
    }
    used
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
                "it holds several graphs, which no operator here takes",
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
