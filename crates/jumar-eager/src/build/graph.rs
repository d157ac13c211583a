//! Operators of the Graph Engine as steps of a plan: its lowering serves graphs and single operators alike.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jumar_graph::ge::{self, Data, Desc, Value};
use jumar_graph::{Node, ValueId};
use jumar_ops::{InferCx, Tensor, TensorType, compute_known};

use super::Cx;
use super::steps::Input;
use crate::Refusal;
use crate::view::View;

/// Values with at most this many elements are computed while the plan is made, where all that they depend on is known.
const FOLDED_ELEMENTS: usize = 1 << 12;

impl Cx<'_> {
    /// Runs an operator of the Graph Engine by its type, as a graph with this one node would.
    ///
    /// Inputs, attributes and outputs go by their names in the operator's class; an absent input and an output that is not
    /// wanted are left out. Results are converted to the type of their view. `api/ge/ops.json` has the classes.
    pub fn graph_op(
        &mut self,
        kind: &str,
        inputs: &[(&str, Input)],
        attrs: &[(&str, Value)],
        outputs: &[(&str, View)],
    ) -> Result<(), Refusal> {
        let Some(prototype) = ge::prototype(kind) else {
            return Err(self.defect(format_args!("the Graph Engine has no operator {kind}")));
        };
        let given: Vec<&(&str, Input)> = inputs
            .iter()
            .filter(|(_, input)| !matches!(input, Input::Absent))
            .collect();
        let mut graph = ge::Graph {
            name: kind.to_owned(),
            ..ge::Graph::default()
        };
        let mut node = ge::Node {
            name: kind.to_owned(),
            kind: kind.to_owned(),
            attrs: attrs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            outputs: prototype
                .outputs
                .iter()
                .map(|(name, _)| ge::Output {
                    name: (*name).to_owned(),
                    desc: Desc::default(),
                })
                .collect(),
            ..ge::Node::default()
        };
        let (mut views, mut types) = (Vec::new(), Vec::new());
        for (index, (name, input)) in given.iter().enumerate() {
            let (source, desc) = source(index, views.len(), input);
            if let Input::View(view) = input {
                views.push(*view);
                types.push(Some(type_of(view)));
            }
            graph.nodes.push(source);
            node.inputs.push(ge::Input {
                name: (*name).to_owned(),
                from: Some((index, 0)),
                desc,
            });
        }
        let operator = graph.nodes.len();
        for (name, _) in outputs {
            let index = prototype.outputs.iter().position(|(own, _)| own == name);
            let Some(index) = index else {
                return Err(self.defect(format_args!("{kind} has no output {name}")));
            };
            graph.outputs.push((operator, index));
        }
        graph.nodes.push(node);
        let lowered = ge::lower(&graph, &types).map_err(|error| self.invalid(error))?;
        if !lowered.variables.is_empty() {
            return Err(self.unsupported(format_args!("{kind} keeps state in a session")));
        }
        let targets: Vec<View> = outputs.iter().map(|(_, view)| *view).collect();
        self.lowered(&lowered.graph, &views, &targets)
    }

    /// Adds the nodes of a lowered graph as steps.
    fn lowered(
        &mut self,
        graph: &jumar_graph::Graph,
        inputs: &[View],
        outputs: &[View],
    ) -> Result<(), Refusal> {
        let mut values: HashMap<ValueId, Input> = HashMap::new();
        for (id, view) in graph.inputs.iter().zip(inputs) {
            values.insert(*id, Input::View(*view));
        }
        // A result goes straight to its output, unless an input of the graph lies in the same memory.
        let mut direct: HashMap<ValueId, View> = HashMap::new();
        for (output, view) in graph.outputs.iter().zip(outputs) {
            if inputs.iter().all(|input| input.base != view.base) {
                direct.entry(output.value).or_insert(*view);
            }
        }
        for node in &graph.nodes {
            self.lowered_node(graph, node, &mut values, &direct)?;
        }
        for (output, view) in graph.outputs.iter().zip(outputs) {
            let from = match self.value(graph, &values, output.value)? {
                Input::View(from) => from,
                Input::Known(tensor) => self.constant(&tensor)?,
                Input::Absent => return Err(self.defect("an output has no value")),
            };
            self.check_dims(view, from.dims())?;
            if from != *view {
                self.copy(from, *view)?;
            }
        }
        Ok(())
    }

    fn lowered_node(
        &mut self,
        graph: &jumar_graph::Graph,
        node: &Node,
        values: &mut HashMap<ValueId, Input>,
        direct: &HashMap<ValueId, View>,
    ) -> Result<(), Refusal> {
        if !node.bodies.is_empty() {
            return Err(self.unsupported(format_args!(
                "{} holds a graph of its own, which a single operator cannot run",
                node.operator.name
            )));
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            inputs.push(match input {
                Some(id) => self.value(graph, values, *id)?,
                None => Input::Absent,
            });
        }
        let types: Vec<Option<TensorType>> = inputs
            .iter()
            .map(|input| match input {
                Input::Absent => None,
                Input::View(view) => Some(type_of(view)),
                Input::Known(tensor) => Some(tensor.ty().clone()),
            })
            .collect();
        let types: Vec<Option<&TensorType>> = types.iter().map(Option::as_ref).collect();
        let known: Vec<Option<&Tensor>> = inputs
            .iter()
            .map(|input| match input {
                Input::Known(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        let name = self.name();
        let refuse = |error| Refusal::of_kernel(name, &error);
        let results = node
            .operator
            .infer(&InferCx::new(&types, &known, &node.attrs))
            .map_err(refuse)?;
        let all_known = inputs.iter().all(|input| !matches!(input, Input::View(_)));
        let small = results.iter().all(|ty| {
            ty.dims()
                .is_some_and(|dims| dims.iter().product::<usize>() <= FOLDED_ELEMENTS)
        });
        if small && (all_known || node.operator.reads_only_shapes) {
            let tensors =
                compute_known(node.operator, &types, &known, &node.attrs).map_err(refuse)?;
            for (id, tensor) in node.outputs.iter().zip(tensors) {
                values.insert(*id, Input::Known(tensor));
            }
            return Ok(());
        }
        let mut outputs = Vec::with_capacity(results.len());
        for (id, ty) in node.outputs.iter().zip(&results) {
            let dims = ty.dims().ok_or_else(|| {
                self.unsupported(format_args!(
                    "the shape of a result of {} depends on data",
                    node.operator.name
                ))
            })?;
            let target = direct
                .get(id)
                .filter(|view| view.dtype() == ty.dtype && view.dims() == dims);
            let view = match target {
                Some(view) => *view,
                None => self.temporary(ty.dtype, &dims)?,
            };
            values.insert(*id, Input::View(view));
            outputs.push(view);
        }
        self.op(node.operator.name, &inputs, &node.attrs, &outputs)
    }

    fn value(
        &self,
        graph: &jumar_graph::Graph,
        values: &HashMap<ValueId, Input>,
        id: ValueId,
    ) -> Result<Input, Refusal> {
        if let Some(value) = values.get(&id) {
            return Ok(value.clone());
        }
        let value = graph.value(id);
        match &value.constant {
            Some(tensor) => Ok(Input::Known(tensor.clone())),
            None => Err(self.defect(format_args!(
                "the value {} is read before it exists",
                value.name
            ))),
        }
    }
}

/// Returns the node that an input comes from, and its description. `position` counts the inputs that are tensors.
fn source(index: usize, position: usize, input: &Input) -> (ge::Node, Desc) {
    let (kind, name, value, desc) = match input {
        Input::Known(tensor) => {
            let desc = described(tensor.ty());
            let data = Data {
                desc: desc.clone(),
                bytes: Arc::new(tensor.bytes().to_vec()),
            };
            ("Const", "value", Value::Tensor(data), desc)
        }
        Input::View(view) => {
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            (
                "Data",
                "index",
                Value::Int(position),
                described(&type_of(view)),
            )
        }
        Input::Absent => ("Data", "index", Value::Int(0), Desc::default()),
    };
    let node = ge::Node {
        name: format!("input{index}"),
        kind: kind.to_owned(),
        attrs: BTreeMap::from([(name.to_owned(), value)]),
        outputs: vec![ge::Output {
            name: "y".to_owned(),
            desc: desc.clone(),
        }],
        ..ge::Node::default()
    };
    (node, desc)
}

fn described(ty: &TensorType) -> Desc {
    Desc {
        dims: ty.shape.clone(),
        dtype: ty.dtype.acl(),
        format: ge::FORMAT_ND,
    }
}

fn type_of(view: &View) -> TensorType {
    let dims: Vec<i64> = view.dims().iter().map(|&dim| dim as i64).collect();
    TensorType::new(view.dtype(), dims)
}
