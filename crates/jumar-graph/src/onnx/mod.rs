//! ONNX import.

mod flex;
mod functions;
mod inline;
mod order;
mod proto;
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
    Attr, Attrs, Builder, OnnxForm, OnnxNode, OpError, StorageType, Tensor, TensorType, UNKNOWN,
    find_contrib, find_onnx,
};
use jumar_types::dtype::DataType;
use prost::Message;

use self::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto};
use crate::insert_point::InsertPoint;
use crate::{
    Body, Graph, GraphError, GraphErrorKind, GraphOutput, Node, Result, ValueId, control, files,
};

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
    unknown_operators(&graph, opset, 0, &mut unknown)?;
    refuse_unknown(&unknown)?;
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
enum Captured {
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
    captured_types: Captured,
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
            captured_types: Captured::AsKnown,
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
                    Captured::AsKnown => ty,
                    Captured::WithoutDims => ty.without_dims(),
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
                && let Some(element) = sequence_element(input.r#type.as_ref())
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

    /// Adds an input of the graph and returns its elements, as operators read them.
    fn input(&mut self, name: &str, proto: Option<&TypeProto>) -> Result<ValueId> {
        let (mut ty, storage) = value_type(proto)?;
        if self.around.is_none()
            && let Some(shape) = self.settings.shapes.get(name)
        {
            ty.shape = sharpen(name, &ty, shape)?;
        }
        let shown = storage
            .and_then(StorageType::acl)
            .filter(|_| self.around.is_none());
        let stored = ty.dtype;
        ty.dtype = shown.unwrap_or(stored);
        let mut id = self.graph.add_value(name, ty);
        self.graph.inputs.push(id);
        if storage.is_some_and(|storage| storage.is_integer()) && self.around.is_none() {
            // Only the lowest bits of a byte that a program gives are the element.
            self.insert_point = InsertPoint::at(format!("{}/bits", name));
            id = self.lowest_bits(id, storage)?;
        }
        if shown.is_some() {
            self.insert_point = InsertPoint::at(format!("{}/bytes", name));
            id = self.bytes_as(id, stored)?;
        }
        if let Some(storage) = storage {
            self.storage.insert(id, storage);
        }
        Ok(id)
    }

    /// Adds an input for each tensor of a sequence; the shapes of inputs that the caller states say how many there are.
    fn sequence_input(&mut self, name: &str, element: &TypeProto) -> Result<Vec<ValueId>> {
        let mut list = Vec::new();
        loop {
            let part = format!("{name}_{}", list.len());
            if !self.settings.shapes.contains_key(&part) {
                break;
            }
            list.push(self.input(&part, Some(element))?);
        }
        if list.is_empty() {
            return Err(GraphError::unsupported(format!(
                "it is a sequence of tensors, and a model has an input for each of them: state their shapes with input_shape, as {name}_0:2,3;{name}_1:2,3"
            )));
        }
        Ok(list)
    }

    /// Adds nodes that keep the bits that an integer of few bits has.
    fn lowest_bits(&mut self, value: ValueId, storage: Option<StorageType>) -> Result<ValueId> {
        let attrs = Attrs::new().with("dst_type", i64::from(DataType::Int32.acl()));
        let wide = self.add_node("Cast", &[Some(value)], attrs, 1)?;
        let format = storage.map_or(0, StorageType::onnx);
        let attrs = Attrs::new().with("format", format);
        let made = self.add_node("jumar.Encode", &[wide.first().copied()], attrs, 1)?;
        made.first()
            .copied()
            .ok_or_else(|| GraphError::internal("a node without an output"))
    }

    /// Adds a node that gives bytes another type.
    fn bytes_as(&mut self, value: ValueId, dtype: DataType) -> Result<ValueId> {
        let attrs = Attrs::new().with("type", dtype);
        let made = self.add_node("Bitcast", &[Some(value)], attrs, 1)?;
        made.first()
            .copied()
            .ok_or_else(|| GraphError::internal("a node without an output"))
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

    /// Converts If, Loop and Scan, with the graphs inside them.
    fn convert_control(
        &mut self,
        node: &NodeProto,
        mut inputs: Vec<Option<ValueId>>,
        mut attrs: Attrs,
        mut bodies: BTreeMap<String, GraphProto>,
    ) -> Result<Vec<ValueId>> {
        let own = self.insert_point.clone();
        let (operator, names): (_, &[&str]) = match node.op_type.as_str() {
            "If" => (&control::IF, &["then_branch", "else_branch"]),
            "Loop" => (&control::LOOP, &["body"]),
            _ => (&control::SCAN, &["body"]),
        };
        if operator.name == "Loop" {
            inputs.resize(inputs.len().max(2), None);
            if inputs[0].is_none() && inputs[1].is_none() {
                return Err(GraphError::invalid(
                    "it has neither a trip count nor a condition, so it would never end",
                ));
            }
        }
        if operator.name == "Scan" {
            if self.settings.opset < 9 {
                return self.convert_old_scan(node, inputs, attrs, bodies);
            }
        } else if let Some((name, _)) = attrs.iter().next() {
            return Err(GraphError::unsupported(format!(
                "the attribute {name} is not supported"
            )));
        }
        let mut made = Vec::new();
        for name in names {
            let mut proto = bodies
                .remove(*name)
                .ok_or_else(|| GraphError::invalid(format!("the attribute {name} is missing")))?;
            self.type_inputs(operator.name, &mut proto, &inputs);
            let body = match operator.name {
                "If" => self.branch(proto, &mut inputs),
                _ => self.body(proto, &mut inputs),
            };
            made.push(body.map_err(|error| error.at(format_args!("attribute {name}")))?);
        }
        if operator.name == "Scan" {
            // Only what the definition knows is kept.
            let known = [
                "num_scan_inputs",
                "scan_input_axes",
                "scan_input_directions",
                "scan_output_axes",
                "scan_output_directions",
            ];
            let mut kept = Attrs::new();
            for (name, value) in attrs.iter() {
                if !known.contains(&name) {
                    return Err(GraphError::unsupported(format!(
                        "the attribute {name} is not supported"
                    )));
                }
                kept.set(name, value.clone());
            }
            attrs = kept;
        }
        self.insert_point = own;
        let outputs = self.add_control(operator, inputs, attrs, made, node.output.len())?;
        // The first output of a loop's graph is its condition.
        let skipped = usize::from(operator.name == "Loop");
        for (&value, storage) in outputs.iter().zip(self.returned.iter().skip(skipped)) {
            if let &Some(storage) = storage {
                self.storage.insert(value, storage);
            }
        }
        Ok(outputs)
    }

    /// Sets the element types of inputs of a graph inside a node where the file leaves them out, as functions of operators do.
    fn type_inputs(&self, operator: &str, proto: &mut GraphProto, inputs: &[Option<ValueId>]) {
        for (index, input) in proto.input.iter_mut().enumerate() {
            if input
                .r#type
                .as_ref()
                .is_some_and(|ty| ty.tensor_type.is_some())
            {
                continue;
            }
            let (elem_type, shape) = match (operator, index) {
                ("Loop", 0) => (DataType::Int64.onnx(), Some(Default::default())),
                ("Loop", 1) => (DataType::Bool.onnx(), Some(Default::default())),
                _ => match inputs.get(index).copied().flatten() {
                    Some(value) => (self.onnx_type(value), None),
                    None => (None, None),
                },
            };
            input.r#type = elem_type.map(|elem_type| TypeProto {
                tensor_type: Some(proto::TensorTypeProto { elem_type, shape }),
                ..TypeProto::default()
            });
        }
    }

    fn onnx_type(&self, value: ValueId) -> Option<i32> {
        match self.storage.get(&value) {
            Some(storage) => i32::try_from(storage.onnx()).ok(),
            None => self.graph.value(value).ty.dtype.onnx(),
        }
    }

    fn add_control(
        &mut self,
        operator: &'static jumar_ops::Operator,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
        bodies: Vec<Body>,
        outputs: usize,
    ) -> Result<Vec<ValueId>> {
        let mut node = Node {
            name: self.insert_point.node().to_owned(),
            operator,
            inputs,
            outputs: Vec::new(),
            attrs,
            bodies,
        };
        // Inference compares the number of outputs.
        let inferred = {
            let (types, _) = self.graph.operands(&node);
            control::infer(&node, &types)?
        };
        if inferred.outputs.len() < outputs {
            return Err(GraphError::invalid(format!(
                "it has {outputs} outputs, and its graph has {}",
                inferred.outputs.len()
            )));
        }
        for (body, graph) in node.bodies.iter_mut().zip(inferred.bodies) {
            body.graph = graph;
        }
        for (index, ty) in inferred.outputs.into_iter().enumerate() {
            let value = self.graph.add_value(format!("{}:{index}", node.name), ty);
            node.outputs.push(value);
        }
        let ids = node.outputs.clone();
        self.graph.nodes.push(node);
        Ok(ids)
    }

    /// Imports a branch. A branch that does not fit the known shapes may be one that is never taken, so it is then imported
    /// for any shapes; the run, which knows whether it is taken, checks it again.
    fn branch(&mut self, proto: GraphProto, inputs: &mut Vec<Option<ValueId>>) -> Result<Body> {
        let known = self.body(proto.clone(), inputs);
        known.or_else(|error| {
            self.body_with(proto, inputs, Captured::WithoutDims)
                .map_err(|_| error)
        })
    }

    /// Imports a graph inside a node; what it takes from here becomes further inputs of the node.
    fn body(&mut self, proto: GraphProto, inputs: &mut Vec<Option<ValueId>>) -> Result<Body> {
        self.body_with(proto, inputs, Captured::AsKnown)
    }

    fn body_with(
        &mut self,
        proto: GraphProto,
        inputs: &mut Vec<Option<ValueId>>,
        captured: Captured,
    ) -> Result<Body> {
        let (settings, folding) = (self.settings, self.graph.folding);
        let mut inner = Importer::new(settings, Some(self));
        inner.captured_types = captured;
        inner.graph.folding = folding;
        inner.run(proto)?;
        let Importer {
            mut graph,
            captured,
            taken,
            storage,
            ..
        } = inner;
        self.returned = graph
            .outputs
            .iter()
            .map(|output| storage.get(&output.value).copied())
            .collect();
        self.graph.folding = graph.folding;
        graph.inputs.extend(taken);
        let captures = captured
            .into_iter()
            .map(|id| {
                // The first inputs belong to the operator, even where one of them is the same value.
                inputs.push(Some(id));
                inputs.len() - 1
            })
            .collect();
        Ok(Body { graph, captures })
    }
}

fn is_control(node: &NodeProto) -> bool {
    matches!(node.domain.as_str(), "" | "ai.onnx")
        && matches!(node.op_type.as_str(), "If" | "Loop" | "Scan")
}

/// Joins what the file says about an input's shape with what the caller says.
fn sharpen(name: &str, ty: &TensorType, shape: &[i64]) -> Result<Vec<i64>> {
    if ty.rank().is_some_and(|rank| rank != shape.len()) {
        return Err(GraphError::option(format!(
            "input_shape has {} dimensions for {name}, and the model has {ty}",
            shape.len()
        )));
    }
    Ok(shape.iter().map(|&dim| dim.max(UNKNOWN)).collect())
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

/// Collects operators that are not there, and the first node of each.
fn unknown_operators(
    graph: &GraphProto,
    opset: i64,
    depth: usize,
    unknown: &mut BTreeMap<String, String>,
) -> Result<()> {
    if depth > control::DEEPEST {
        return Err(GraphError::unsupported(format!(
            "graphs are nested more than {} deep in {}",
            control::DEEPEST,
            graph.name
        )));
    }
    for node in &graph.node {
        for attribute in &node.attribute {
            if let Some(inner) = &attribute.g {
                unknown_operators(inner, opset, depth + 1, unknown)?;
            }
        }
        let name = if node.name.is_empty() {
            "without a name"
        } else {
            &node.name
        };
        let entry = if is_control(node)
            || flex::is_flex_attention(node)
            || sequences::is_sequence_operator(node)
        {
            continue;
        } else if let Err(versions) = form_of(node, opset) {
            match versions.first() {
                None if standard_domain(node) => node.op_type.clone(),
                None => format!("{}::{}", node.domain, node.op_type),
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

/// Domains whose operators no model needs to hold, and how a model without them is made.
const DOMAINS: &[(&str, &str)] = &[
    (
        "com.microsoft.nchwc",
        "ONNX Runtime writes the domain com.microsoft.nchwc when it saves a model at the optimisation level \"all\" (ORT_ENABLE_ALL), for one processor: save it at the level \"extended\" (ORT_ENABLE_EXTENDED) or below, or use the model from before",
    ),
    (
        "com.ms.internal.nhwc",
        "ONNX Runtime writes the domain com.ms.internal.nhwc when it saves a model that was prepared for one of its execution providers: save it with the CPU provider alone, or use the model from before",
    ),
    (
        "org.pytorch.aten",
        "PyTorch writes the domain org.pytorch.aten when it exports with a fallback (operator_export_type=ONNX_ATEN_FALLBACK): export with dynamo=True, or with OperatorExportTypes.ONNX",
    ),
    (
        "ai.onnx.ml",
        "The domain ai.onnx.ml holds operators on tables and texts, which no Ascend chip has: run that part in the program, and export the network without it",
    ),
];

fn in_domain(operator: &str, domain: &str) -> bool {
    operator
        .strip_prefix(domain)
        .is_some_and(|rest| rest.starts_with("::"))
}

/// Refuses operators that are not there, all of them in one sentence.
fn refuse_unknown(unknown: &BTreeMap<String, String>) -> Result<()> {
    if unknown.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = unknown
        .iter()
        .map(|(operator, node)| format!("{operator} (node {node})"))
        .collect();
    let advice = DOMAINS
        .iter()
        .find(|(domain, _)| unknown.keys().any(|operator| in_domain(operator, domain)))
        .map_or(
            "Replace them in the model, or export it without them",
            |&(_, advice)| advice,
        );
    Err(GraphError::unsupported(format!(
        "operators that are not supported: {}. {advice}",
        list.join(", ")
    )))
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

/// The type of what may be left out: a caller who gives inputs gives it, too.
fn without_optional(proto: &TypeProto) -> &TypeProto {
    let inner = proto.optional_type.as_ref();
    inner
        .and_then(|one| one.elem_type.as_deref())
        .unwrap_or(proto)
}

/// The type of the tensors of a sequence.
fn sequence_element(proto: Option<&TypeProto>) -> Option<&TypeProto> {
    let sequence = without_optional(proto?).sequence_type.as_ref()?;
    let element = sequence.elem_type.as_deref()?;
    element.tensor_type.is_some().then_some(element)
}

fn value_type(proto: Option<&TypeProto>) -> Result<(TensorType, Option<StorageType>)> {
    let proto = proto.map(without_optional);
    let Some(tensor) = proto.and_then(|proto| proto.tensor_type.as_ref()) else {
        let what = match proto {
            Some(proto) if proto.sequence_type.is_some() => "a sequence of other than tensors",
            Some(proto) if proto.map_type.is_some() => "a map",
            _ => "not a tensor",
        };
        return Err(GraphError::unsupported(format!(
            "it is {what}, and inputs and outputs of a model are tensors"
        )));
    };
    let storage = StorageType::of_onnx(tensor.elem_type.into());
    let dtype = storage
        .map(StorageType::dtype)
        .or(DataType::from_onnx(tensor.elem_type))
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            GraphError::unsupported(format!(
                "its element type (number {} in ONNX) is not supported",
                tensor.elem_type
            ))
        })?;
    let Some(shape) = &tensor.shape else {
        return Ok((TensorType::of_unknown_rank(dtype), storage));
    };
    let dims: Vec<i64> = shape
        .dim
        .iter()
        .map(|dim| dim.dim_value.unwrap_or(UNKNOWN).max(UNKNOWN))
        .collect();
    Ok((TensorType::new(dtype, dims), storage))
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
