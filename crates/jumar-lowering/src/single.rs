//! One operator with its tensors, as a program calls it: compiled through the same lowering as a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar_ops::TensorType;
use jumar_types::dtype::DataType;

use super::fractals::{self, FORMAT_FRACTAL_NZ, fractal_dims};
use super::lower::{self, LoweredGraph};
use super::{
    Data, Desc, FORMAT_ND, Graph, Input, Node, Occurs, Output, Prototype, Value, is_known,
    prototype,
};
use jumar_graph::{BuildOptions, GraphError, Model, Result, compile};

/// An operator and its tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SingleOperator {
    /// The type.
    pub kind: String,
    /// The inputs in the order of the operator's class; the members of a dynamic input follow each other.
    pub inputs: Vec<SingleInput>,
    /// The outputs in the order of the operator's class; `None` is an output that the program does not want.
    pub outputs: Vec<Option<Desc>>,
    /// The attributes that were set.
    pub attrs: BTreeMap<String, Value>,
}

/// An input of a [`SingleOperator`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SingleInput {
    /// The tensor; `None` is an optional input that is left out.
    pub desc: Option<Desc>,
    /// The contents, where they are known when the operator is compiled.
    pub value: Option<Arc<Vec<u8>>>,
    /// The name of the tensor, or nothing.
    pub name: String,
    /// The dynamic input that the tensor is a member of, or nothing.
    pub group: String,
}

/// What an input of the compiled model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleSource {
    /// The input of the operator with this index.
    Input(usize),
    /// How often the operator has drawn random numbers before: one int64.
    Draws,
}

/// What an output of the compiled model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleTarget {
    /// The output of the operator with this index.
    Output(usize),
    /// The input with this index, which the operator updates.
    Input(usize),
    /// The new count of [`SingleSource::Draws`].
    Draws,
}

/// A compiled operator.
#[derive(Clone, Debug)]
pub struct CompiledOperator {
    /// The model.
    pub model: Model,
    /// What each input of the model reads.
    pub sources: Vec<SingleSource>,
    /// What each output of the model writes.
    pub targets: Vec<SingleTarget>,
}

/// Compiles an operator.
///
/// Inputs may leave dimensions open; the model's shapes are then found while it runs. An output is converted to its described type
/// if both types are floating-point types, or neither is.
///
/// # Errors
///
/// NotSupported: the type is unknown, or a form of it; an input has to be a constant. InvalidModel: the tensors or
/// attributes do not match the operator. The sentence starts with the operator's type.
pub fn compile_single(
    operator: &SingleOperator,
    recorded: BTreeMap<String, String>,
) -> Result<CompiledOperator> {
    compiled(operator, recorded).map_err(|error| named(operator, error))
}

/// Returns the types of an operator's outputs, as far as its inputs determine them. An output that is not wanted is left out.
///
/// # Errors
///
/// As [`compile_single`].
pub fn infer_single(operator: &SingleOperator) -> Result<Vec<TensorType>> {
    let types = lowered(operator, &[], false).and_then(|(lowered, _)| {
        // Folding finds shapes that depend on constants.
        let mut graph = lowered.graph;
        jumar_graph::conversion::infer_and_fold(&mut graph)?;
        let outputs = &graph.outputs[..lowered.outputs];
        Ok(outputs
            .iter()
            .map(|output| graph.value(output.value).ty.clone())
            .collect())
    });
    types.map_err(|error| named(operator, error))
}

/// Puts the operator's type in front of a sentence.
fn named(operator: &SingleOperator, error: GraphError) -> GraphError {
    let node = format!("node {} ({}): ", operator.kind, operator.kind);
    let text = error.text().strip_prefix(&node).map(str::to_owned);
    let text = text.unwrap_or_else(|| error.text().to_owned());
    GraphError::new(error.kind(), format!("{}: {text}", operator.kind))
}

fn compiled(
    operator: &SingleOperator,
    recorded: BTreeMap<String, String>,
) -> Result<CompiledOperator> {
    let (mut low, mut names) = lowered(operator, &[], false)?;
    let casts = casts(operator, &low)?;
    let is_stored = operator.outputs.iter().flatten().any(is_fractal);
    if is_stored || casts.iter().any(Option::is_some) {
        (low, names) = lowered(operator, &casts, true)?;
    }
    let LoweredGraph {
        graph,
        outputs,
        variables,
        ..
    } = low;
    let inputs = operator.inputs.iter().enumerate();
    let mut sources: Vec<SingleSource> = inputs
        .filter(|(index, input)| {
            let updated = names.get(*index).and_then(Option::as_deref);
            let updated = updated.is_some_and(|name| updates(&operator.kind, name));
            input.desc.is_some() && input.value.is_none() && !updated
        })
        .map(|(index, _)| SingleSource::Input(index))
        .collect();
    let wanted = operator.outputs.iter().enumerate();
    let mut targets: Vec<SingleTarget> = wanted
        .filter(|(_, desc)| desc.is_some())
        .map(|(index, _)| SingleTarget::Output(index))
        .collect();
    targets.truncate(outputs);
    // Variables follow the inputs, and those that are written the outputs, both in the same order.
    for variable in &variables {
        let index = names
            .iter()
            .position(|name| name.as_deref() == Some(&variable.name));
        sources.push(index.map_or(SingleSource::Draws, SingleSource::Input));
        if variable.output.is_some() {
            targets.push(index.map_or(SingleTarget::Draws, SingleTarget::Input));
        }
    }
    let options = BuildOptions {
        name: operator.kind.clone(),
        keep_open: true,
        recorded,
        ..BuildOptions::default()
    };
    let model = compile(graph, &options)?;
    Ok(CompiledOperator {
        model,
        sources,
        targets,
    })
}

/// Reports whether an operator writes one of its inputs.
fn updates(kind: &str, input: &str) -> bool {
    let names = lower::updated_inputs(kind);
    let stem = input.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_list = |name: &str| {
        prototype(kind).is_some_and(|prototype| prototype.inputs.contains(&(name, Occurs::Often)))
    };
    names.contains(&input) || (names.contains(&stem) && is_list(stem))
}

/// Reports whether a tensor is stored as blocks.
fn is_fractal(desc: &Desc) -> bool {
    desc.format == FORMAT_FRACTAL_NZ
}

/// Returns the description of a tensor as operators see it.
fn plain(desc: &Desc) -> Desc {
    Desc {
        format: if is_fractal(desc) {
            FORMAT_ND
        } else {
            desc.format
        },
        ..desc.clone()
    }
}

/// Returns the description of a tensor as it is stored.
fn stored(desc: &Desc) -> Result<Desc> {
    let dims = fractal_dims(&desc.dims, desc.dtype).ok_or_else(|| {
        GraphError::unsupported(format!(
            "a tensor of the shape {:?} cannot be stored in FRACTAL_NZ, which has two known dimensions at least",
            desc.dims
        ))
    })?;
    Ok(Desc {
        dims,
        format: FORMAT_ND,
        ..desc.clone()
    })
}

/// Lowers the operator as a graph with this one node; `casts` has the types that outputs are converted to, and `as_stored` says whether
/// they are rearranged to the format in which they are stored. Returns the name of each input as well.
fn lowered(
    operator: &SingleOperator,
    casts: &[Option<DataType>],
    as_stored: bool,
) -> Result<(LoweredGraph, Vec<Option<String>>)> {
    let kind = &operator.kind;
    let prototype =
        prototype(kind).ok_or_else(|| GraphError::unsupported("no operator has this type"))?;
    if !is_known(kind) {
        return Err(GraphError::unsupported(
            "operators of this type run in graphs alone; call the Hccl function of the operation",
        ));
    }
    let names = input_names(prototype, operator)?;
    let mut graph = Graph {
        name: kind.clone(),
        ..Graph::default()
    };
    let mut node = Node {
        name: kind.clone(),
        kind: kind.clone(),
        attrs: operator.attrs.clone(),
        ..Node::default()
    };
    let mut types = Vec::new();
    for (input, name) in operator.inputs.iter().zip(&names) {
        let (Some(desc), Some(name)) = (&input.desc, name) else {
            continue;
        };
        if is_fractal(desc) && (input.value.is_some() || updates(kind, name)) {
            return Err(GraphError::unsupported(format!(
                "its input {name} is stored in FRACTAL_NZ, and is a constant or updated"
            )));
        }
        let source = match &input.value {
            Some(bytes) => {
                let value = Value::Tensor(Data {
                    desc: desc.clone(),
                    bytes: bytes.clone(),
                });
                source(name, "Const", Some(("value", value)), desc)
            }
            None if updates(kind, name) => source(name, "Variable", None, desc),
            None => {
                let index = Value::Int(i64::try_from(types.len()).unwrap_or(i64::MAX));
                let given = match is_fractal(desc) {
                    true => stored(desc)?,
                    false => desc.clone(),
                };
                types.push(Some(lower::type_of(&given)?));
                source(name, "Data", Some(("index", index)), &given)
            }
        };
        let mut from = (graph.nodes.len(), 0);
        graph.nodes.push(source);
        if is_fractal(desc) {
            from = fractals::unpack(&mut graph.nodes, from, desc);
        }
        node.inputs.push(Input {
            name: name.clone(),
            from: Some(from),
            desc: plain(desc),
        });
    }
    node.outputs = outputs(prototype, operator)?;
    let at = graph.nodes.len();
    graph.nodes.push(node);
    let wanted = operator.outputs.iter().enumerate();
    let wanted = wanted.filter(|(_, desc)| desc.is_some());
    for (position, (index, desc)) in wanted.enumerate() {
        let mut from = (at, index);
        if let Some(dtype) = casts.get(position).copied().flatten() {
            let mut cast = source(&format!("convert{index}"), "Cast", None, &Desc::default());
            let number = i64::from(dtype.acl());
            cast.attrs.insert("dst_type".to_owned(), Value::Int(number));
            cast.inputs.push(Input {
                name: "x".to_owned(),
                from: Some(from),
                desc: Desc::default(),
            });
            from = (graph.nodes.len(), 0);
            graph.nodes.push(cast);
        }
        if let Some(desc) = desc.as_ref().filter(|desc| as_stored && is_fractal(desc)) {
            stored(desc)?;
            from = fractals::pack(&mut graph.nodes, from, desc);
        }
        graph.outputs.push(from);
    }
    Ok((lower::lower(&graph, &types)?, names))
}

/// Returns a node with one output.
fn source(name: &str, kind: &str, attr: Option<(&str, Value)>, desc: &Desc) -> Node {
    Node {
        name: name.to_owned(),
        kind: kind.to_owned(),
        attrs: attr
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect(),
        outputs: vec![Output {
            name: "y".to_owned(),
            desc: desc.clone(),
        }],
        ..Node::default()
    }
}

/// Lists names for a sentence.
fn listed(all: &[(&str, Occurs)]) -> String {
    let names = all.iter().map(|(name, occurs)| match occurs {
        Occurs::Once => (*name).to_owned(),
        Occurs::Maybe => format!("{name}?"),
        Occurs::Often => format!("{name}*"),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the name that each given input has in the operator's class; `None` for one that is left out.
fn input_names(prototype: &Prototype, operator: &SingleOperator) -> Result<Vec<Option<String>>> {
    let given = &operator.inputs;
    let declared = prototype.inputs;
    let mut names = Vec::with_capacity(given.len());
    let mut next = 0;
    for (position, (name, occurs)) in declared.iter().enumerate() {
        let tensor = given.get(next);
        if *occurs == Occurs::Often {
            let count = members(operator, declared, position, next)?;
            for (index, member) in given.iter().skip(next).take(count).enumerate() {
                if member.desc.is_none() {
                    return Err(GraphError::invalid(format!(
                        "member {index} of its input {name} has an empty description"
                    )));
                }
                names.push(Some(format!("{name}{index}")));
            }
            next += count;
            continue;
        }
        if *occurs == Occurs::Once && tensor.is_none_or(|tensor| tensor.desc.is_none()) {
            return Err(GraphError::invalid(format!(
                "its input {name} is missing: the inputs are ({}), and {} are given",
                listed(declared),
                given.len()
            )));
        }
        if let Some(tensor) = tensor {
            names.push(tensor.desc.is_some().then(|| (*name).to_owned()));
            next += 1;
        }
    }
    if next < given.len() {
        return Err(GraphError::invalid(format!(
            "its inputs are ({}), and {} are given",
            listed(declared),
            given.len()
        )));
    }
    Ok(names)
}

/// Returns how many of the given inputs belong to the dynamic input at `position`; `next` is the first one.
fn members(
    operator: &SingleOperator,
    declared: &[(&str, Occurs)],
    position: usize,
    next: usize,
) -> Result<usize> {
    let given = operator.inputs.get(next..).unwrap_or_default();
    let name = declared[position].0;
    let grouped = given.iter().take_while(|one| one.group == name).count();
    if grouped > 0 {
        return Ok(grouped);
    }
    let dynamic = declared.iter().filter(|(_, own)| *own == Occurs::Often);
    if dynamic.count() > 1 {
        return Err(GraphError::invalid(format!(
            "it has several dynamic inputs ({}): call aclSetTensorDynamicInput with \"{name}\" for its members",
            listed(declared)
        )));
    }
    // The attribute that counts the members, where the class has one.
    if let Some(Value::Int(count)) = operator.attrs.get("N")
        && let Ok(count) = usize::try_from(*count)
        && count <= given.len()
    {
        return Ok(count);
    }
    let after = &declared[position + 1..];
    let required = after.iter().filter(|(_, own)| *own == Occurs::Once).count();
    // Optional inputs behind it are left out, unless their tensors carry their names.
    let named = |tensor: &SingleInput| after.iter().any(|(own, _)| *own == tensor.name);
    let optional = given.iter().rev().take_while(|one| named(one)).count();
    Ok(given.len().saturating_sub(required.max(optional)))
}

/// Returns the outputs of the node, with the names that they have in the operator's class. Those behind the last one that the program
/// describes are not wanted.
fn outputs(prototype: &Prototype, operator: &SingleOperator) -> Result<Vec<Output>> {
    let given = &operator.outputs;
    let declared = prototype.outputs;
    let wrong = || {
        GraphError::invalid(format!(
            "its outputs are ({}), and {} are given",
            listed(declared),
            given.len()
        ))
    };
    let others = declared.iter().filter(|(_, own)| *own != Occurs::Often);
    let others = others.count();
    let dynamic = others < declared.len();
    let none = given.is_empty() && !declared.is_empty();
    if none || (!dynamic && given.len() > others) {
        return Err(wrong());
    }
    let repeated = given.len().saturating_sub(others);
    let mut outputs = Vec::new();
    for (name, occurs) in declared {
        let count = if *occurs == Occurs::Often {
            repeated
        } else {
            1
        };
        for index in 0..count {
            outputs.push(Output {
                name: match occurs {
                    Occurs::Often => format!("{name}{index}"),
                    Occurs::Once | Occurs::Maybe => (*name).to_owned(),
                },
                desc: Desc::default(),
            });
        }
    }
    if outputs.len() < given.len() {
        return Err(wrong());
    }
    for (output, desc) in outputs.iter_mut().zip(given) {
        if let Some(desc) = desc {
            output.desc = plain(desc);
        }
    }
    Ok(outputs)
}

/// Compares described outputs with those that the operator has, and returns the types that they have to be converted to.
fn casts(operator: &SingleOperator, lowered: &LoweredGraph) -> Result<Vec<Option<DataType>>> {
    let mut graph = lowered.graph.clone();
    jumar_graph::conversion::infer_and_fold(&mut graph)?;
    let wanted = operator.outputs.iter().flatten();
    let own = graph.outputs.iter().take(lowered.outputs);
    let mut casts = Vec::new();
    for (index, (desc, output)) in wanted.zip(own).enumerate() {
        let is = &graph.value(output.value).ty;
        let wanted = lower::type_of(&plain(desc))?;
        let same_shape = match (wanted.elements(), is.elements()) {
            // A shape of as many elements describes the same memory.
            (Some(wanted), Some(is)) => wanted == is,
            _ => true,
        };
        if !same_shape {
            return Err(GraphError::invalid(format!(
                "its output {index} is described as {wanted}, and it is {is}"
            )));
        }
        if wanted.dtype == is.dtype {
            casts.push(None);
            continue;
        }
        if wanted.dtype.is_float() != is.dtype.is_float() {
            return Err(GraphError::invalid(format!(
                "its output {index} is described as {wanted}, and its elements are {}",
                is.dtype
            )));
        }
        casts.push(Some(wanted.dtype));
    }
    Ok(casts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[i64], dtype: DataType) -> Desc {
        Desc {
            dims: dims.to_vec(),
            dtype: dtype.acl(),
            ..Desc::default()
        }
    }

    fn floats(dims: &[i64]) -> SingleInput {
        SingleInput {
            desc: Some(tensor(dims, DataType::Float32)),
            ..SingleInput::default()
        }
    }

    fn operator(kind: &str, inputs: Vec<SingleInput>, outputs: &[&[i64]]) -> SingleOperator {
        SingleOperator {
            kind: kind.to_owned(),
            inputs,
            outputs: outputs
                .iter()
                .map(|dims| Some(tensor(dims, DataType::Float32)))
                .collect(),
            attrs: BTreeMap::new(),
        }
    }

    fn refusal(operator: &SingleOperator) -> String {
        let refused = compile_single(operator, BTreeMap::new());
        refused.map(drop).unwrap_err().text().to_owned()
    }

    #[test]
    fn an_operator_becomes_a_model_with_its_inputs_and_outputs_in_order() {
        let add = operator("Add", vec![floats(&[2, 3]), floats(&[3])], &[&[2, 3]]);
        let compiled = compile_single(&add, BTreeMap::new()).unwrap();
        let [one, two] = [0, 1].map(SingleSource::Input);
        assert_eq!(compiled.sources, [one, two]);
        assert_eq!(compiled.targets, [SingleTarget::Output(0)]);
        assert_eq!(compiled.model.description().name, "Add");
    }

    #[test]
    fn constants_and_absent_inputs_are_no_inputs_of_the_model() {
        let mut axes = floats(&[1]);
        axes.desc = Some(tensor(&[1], DataType::Int64));
        axes.value = Some(Arc::new(1i64.to_le_bytes().to_vec()));
        let sum = operator("ReduceSum", vec![floats(&[2, 3]), axes], &[&[2]]);
        let compiled = compile_single(&sum, BTreeMap::new()).unwrap();
        assert_eq!(compiled.sources, [SingleSource::Input(0)]);
        let absent = SingleInput::default();
        let product = vec![floats(&[2, 3]), floats(&[3, 4]), absent];
        let product = operator("MatMul", product, &[&[2, 4]]);
        assert_eq!(
            compile_single(&product, BTreeMap::new())
                .unwrap()
                .sources
                .len(),
            2
        );
    }

    #[test]
    fn tensors_in_blocks_are_rearranged_around_the_operator() {
        // [3, 17, 20] is stored as 2 columns and 2 rows of blocks; the shape of the operator stays.
        let dims = [3, 17, 20];
        let float = DataType::Float32.acl();
        assert_eq!(fractal_dims(&dims, float), Some(vec![3, 2, 2, 16, 16]));
        assert_eq!(fractal_dims(&[16], float), None);
        assert_eq!(fractal_dims(&[-1, 16], float), None);
        let byte = DataType::Int8.acl();
        assert_eq!(fractal_dims(&[17, 40], byte), Some(vec![2, 2, 16, 32]));
        let mut add = operator("Add", vec![floats(&dims), floats(&[20])], &[&dims]);
        add.inputs[0].desc.as_mut().unwrap().format = FORMAT_FRACTAL_NZ;
        add.outputs[0].as_mut().unwrap().format = FORMAT_FRACTAL_NZ;
        let compiled = compile_single(&add, BTreeMap::new()).unwrap();
        let description = compiled.model.description();
        assert_eq!(description.inputs[0].dims, [3, 2, 2, 16, 16]);
        assert_eq!(description.outputs[0].dims, [3, 2, 2, 16, 16]);
        assert_eq!(infer_single(&add).unwrap()[0].shape, dims);
        add.inputs[1].desc.as_mut().unwrap().format = FORMAT_FRACTAL_NZ;
        assert!(refusal(&add).contains("[20] cannot be stored in FRACTAL_NZ"));
    }

    #[test]
    fn an_updated_input_is_a_source_and_a_target() {
        let assign = operator("AssignAdd", vec![floats(&[2]), floats(&[2])], &[&[2]]);
        let compiled = compile_single(&assign, BTreeMap::new()).unwrap();
        let [var, value] = [0, 1].map(SingleSource::Input);
        assert_eq!(compiled.sources, [value, var]);
        let targets = [SingleTarget::Output(0), SingleTarget::Input(0)];
        assert_eq!(compiled.targets, targets);
    }

    #[test]
    fn members_of_a_dynamic_input_are_counted() {
        let add = operator("AddN", vec![floats(&[2]), floats(&[2])], &[&[2]]);
        let mut add = add;
        add.attrs.insert("N".to_owned(), Value::Int(2));
        assert!(compile_single(&add, BTreeMap::new()).is_ok());
        let mut split = operator("SplitD", vec![floats(&[4])], &[&[2], &[2]]);
        split.attrs.insert("split_dim".to_owned(), Value::Int(0));
        split.attrs.insert("num_split".to_owned(), Value::Int(2));
        let compiled = compile_single(&split, BTreeMap::new()).unwrap();
        let targets = [0, 1].map(SingleTarget::Output);
        assert_eq!(compiled.targets, targets);
    }

    #[test]
    fn outputs_are_converted_between_floats_and_refused_otherwise() {
        let mut relu = operator("Relu", vec![floats(&[2])], &[&[2]]);
        relu.outputs[0] = Some(tensor(&[2], DataType::Float16));
        let compiled = compile_single(&relu, BTreeMap::new()).unwrap();
        assert_eq!(
            compiled.model.description().outputs[0].dtype,
            DataType::Float16
        );
        relu.outputs[0] = Some(tensor(&[2], DataType::Int32));
        assert!(refusal(&relu).starts_with("Relu: its output 0 is described as"));
        relu.outputs[0] = Some(tensor(&[3], DataType::Float32));
        assert!(refusal(&relu).starts_with("Relu: its output 0 is described as"));
    }

    #[test]
    fn the_order_of_axes_is_that_of_the_first_description() {
        let mut conv = operator(
            "Conv2D",
            vec![floats(&[2, 3, 8, 8]), floats(&[4, 3, 3, 3])],
            &[&[2, 4, 6, 6]],
        );
        let ones = Value::Ints(vec![1; 4]);
        conv.attrs.insert("strides".to_owned(), ones);
        conv.attrs
            .insert("pads".to_owned(), Value::Ints(vec![0; 4]));
        for input in &mut conv.inputs {
            input.desc.as_mut().unwrap().format = 0;
        }
        assert!(compile_single(&conv, BTreeMap::new()).is_ok());
        // An attribute that differs from the default counts more than the description.
        for input in &mut conv.inputs {
            input.desc.as_mut().unwrap().format = 1;
        }
        assert!(refusal(&conv).starts_with("Conv2D: "));
        let set = Value::Str("NCHW".to_owned());
        conv.attrs.insert("data_format".to_owned(), set);
        assert!(compile_single(&conv, BTreeMap::new()).is_ok());
    }

    #[test]
    fn trailing_outputs_may_be_left_out() {
        let inputs = [&[2i64, 3, 4, 4][..], &[3], &[3], &[3], &[3]].map(floats);
        let shapes: [&[i64]; 5] = [&[2, 3, 4, 4], &[3], &[3], &[3], &[3]];
        for count in [1, 5] {
            let mut norm = operator("BatchNorm", inputs.to_vec(), &shapes[..count]);
            let set = Value::Str("NCHW".to_owned());
            norm.attrs.insert("data_format".to_owned(), set);
            norm.attrs
                .insert("is_training".to_owned(), Value::Bool(false));
            let compiled = compile_single(&norm, BTreeMap::new()).unwrap();
            assert_eq!(compiled.targets.len(), count);
        }
    }

    #[test]
    fn sentences_name_the_operator_and_what_is_wrong() {
        let unknown = operator("NoSuchOperator", vec![], &[]);
        assert_eq!(
            refusal(&unknown),
            "NoSuchOperator: no operator has this type"
        );
        let collective = operator("HcomAllReduce", vec![floats(&[2])], &[&[2]]);
        assert_eq!(
            refusal(&collective),
            "HcomAllReduce: operators of this type run in graphs alone; call the Hccl function of the operation"
        );
        let few = operator("Add", vec![floats(&[2])], &[&[2]]);
        assert_eq!(
            refusal(&few),
            "Add: its input x2 is missing: the inputs are (x1, x2), and 1 are given"
        );
        let three = vec![floats(&[2]), floats(&[2]), floats(&[2])];
        let many = operator("Add", three, &[&[2]]);
        assert_eq!(
            refusal(&many),
            "Add: its inputs are (x1, x2), and 3 are given"
        );
        let outputs = operator("Relu", vec![floats(&[2])], &[&[2], &[2]]);
        assert_eq!(
            refusal(&outputs),
            "Relu: its outputs are (y), and 2 are given"
        );
        let attr = operator("Cast", vec![floats(&[2])], &[&[2]]);
        assert!(refusal(&attr).contains("dst_type"), "{}", refusal(&attr));
        let shapes = operator("Add", vec![floats(&[2]), floats(&[3])], &[&[3]]);
        assert!(refusal(&shapes).starts_with("Add: "));
    }

    #[test]
    fn shapes_are_inferred_as_far_as_they_are_known() {
        let add = operator("Add", vec![floats(&[2, 1]), floats(&[3])], &[&[-2]]);
        assert_eq!(infer_single(&add).unwrap()[0].shape, [2, 3]);
        let open = operator("Relu", vec![floats(&[-1, 3])], &[&[-2]]);
        assert_eq!(infer_single(&open).unwrap()[0].shape, [-1, 3]);
    }
}
