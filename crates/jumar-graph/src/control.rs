//! Control flow: operators that run graphs. Operators themselves know nothing of graphs, so these live here.
//!
//! A body is closed: what it takes from the graph around it is handed in behind its own inputs (see
//! [`Body`](crate::Body)).

use jumar_ops::{Aliasing, Kernel, OpError, OpErrorKind, Operator, TensorType, UNKNOWN};

use crate::conversion::find_added;
use crate::{Attr, Body, Graph, GraphError, Node, Result, eager};

/// How deeply graphs may be nested.
pub const DEEPEST: usize = 6;

/// Chooses between two graphs: the condition, then what the branches take.
pub static IF: Operator = control("If");
/// Repeats a graph: trip count (or none), condition (or none), carried values, then what the body takes.
pub static LOOP: Operator = control("Loop");
/// Runs a graph over slices: states, scanned tensors, then what the body takes.
pub(crate) static SCAN: Operator = control("Scan");

const fn control(name: &'static str) -> Operator {
    Operator {
        name,
        onnx: &[],
        inputs: &[],
        outputs: &[],
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |_| Err(misplaced()),
        prepare: |_| -> std::result::Result<Box<dyn Kernel>, OpError> { Err(misplaced()) },
    }
}

fn misplaced() -> OpError {
    OpError::new(
        OpErrorKind::Internal,
        "control flow was treated as an ordinary operator",
    )
}

pub(crate) fn is_control(operator: &Operator) -> bool {
    [&IF, &LOOP, &SCAN]
        .iter()
        .any(|own| std::ptr::eq(*own, operator))
}

/// Finds an operator by name: one of these, one that computes, one that runs a single operator, or one of a crate that converts.
pub fn find(name: &str) -> Option<&'static Operator> {
    [&IF, &LOOP, &SCAN]
        .into_iter()
        .find(|operator| operator.name == name)
        .or_else(|| jumar_ops::find(name))
        .or_else(|| eager::find(name).map(|single| &single.operator))
        .or_else(|| find_added(name))
}

/// What inference finds of a node with graphs.
pub struct ControlInference {
    /// The types of the outputs.
    pub outputs: Vec<TensorType>,
    /// The graphs, with the types of their values.
    pub bodies: Vec<Graph>,
}

/// Infers the outputs of a node with graphs, and the types inside these.
pub fn infer(node: &Node, inputs: &[Option<&TensorType>]) -> Result<ControlInference> {
    match node.operator.name {
        "If" => infer_if(node, inputs),
        "Loop" => infer_loop(node, inputs),
        _ => infer_scan(node, inputs),
    }
}

fn given<'a>(inputs: &[Option<&'a TensorType>], index: usize) -> Result<&'a TensorType> {
    inputs
        .get(index)
        .copied()
        .flatten()
        .ok_or_else(|| GraphError::invalid(format!("its input {index} is missing")))
}

/// Infers a body for given types of its own inputs.
fn infer_body(
    body: &Body,
    own: &[TensorType],
    inputs: &[Option<&TensorType>],
) -> Result<(Graph, Vec<TensorType>)> {
    if own.len() != body.formals() {
        return Err(GraphError::invalid(format!(
            "its graph {} has {} inputs, and {} are given",
            body.graph.name,
            body.formals(),
            own.len()
        )));
    }
    let mut graph = body.graph.clone();
    let captured = body
        .captures
        .iter()
        .map(|&index| given(inputs, index).cloned());
    let types = own
        .iter()
        .cloned()
        .map(Ok)
        .chain(captured)
        .collect::<Result<Vec<_>>>()?;
    for (position, ty) in types.into_iter().enumerate() {
        let id = graph.inputs[position];
        let value = graph.value_mut(id);
        if value.ty.dtype != ty.dtype {
            return Err(GraphError::invalid(format!(
                "its graph {} takes {} as {}, and is given {ty}",
                body.graph.name, value.name, value.ty
            )));
        }
        value.ty = ty;
    }
    let nodes = std::mem::take(&mut graph.nodes);
    for mut node in nodes {
        let outputs = if is_control(node.operator) {
            let inferred = {
                let (types, _) = graph.operands(&node);
                infer(&node, &types)
                    .map_err(|error| error.at(format_args!("node {}", node.name)))?
            };
            for (body, graph) in node.bodies.iter_mut().zip(inferred.bodies) {
                body.graph = graph;
            }
            inferred.outputs
        } else {
            graph.infer(&node)?
        };
        for (&id, ty) in node.outputs.iter().zip(outputs) {
            graph.value_mut(id).ty = ty;
        }
        graph.nodes.push(node);
    }
    let results = graph
        .outputs
        .iter()
        .map(|output| graph.value(output.value).ty.clone())
        .collect();
    Ok((graph, results))
}

/// Returns what two shapes have in common.
fn merge(one: &TensorType, two: &TensorType, what: &str) -> Result<TensorType> {
    if one.dtype != two.dtype {
        return Err(GraphError::invalid(format!("{what} is {one} and {two}")));
    }
    if one.rank().is_none() || one.rank() != two.rank() {
        return Ok(TensorType::of_unknown_rank(one.dtype));
    }
    let shape: Vec<i64> = one
        .shape
        .iter()
        .zip(&two.shape)
        .map(|(&a, &b)| if a == b { a } else { UNKNOWN })
        .collect();
    Ok(TensorType::new(one.dtype, shape))
}

fn infer_if(node: &Node, inputs: &[Option<&TensorType>]) -> Result<ControlInference> {
    given(inputs, 0)?;
    let [then, other] = &node.bodies[..] else {
        return Err(GraphError::invalid("it has no two branches"));
    };
    let lengths = [then.graph.outputs.len(), other.graph.outputs.len()];
    if lengths[0] != lengths[1] || lengths[0] < node.outputs.len() {
        return Err(GraphError::invalid(format!(
            "its branches have {} and {} outputs, and it has {}",
            lengths[0],
            lengths[1],
            node.outputs.len()
        )));
    }
    // Exporters guard an operator with a condition on the very shape that it needs (`Squeeze` of a dimension that may not be
    // 1), so a branch that does not fit the inputs is one that is never taken. If it is taken all the same, the run reports it.
    let (then, one, other, two) = match (
        infer_body(then, &[], inputs),
        infer_body(other, &[], inputs),
    ) {
        (Ok((then, one)), Ok((other, two))) => (then, one, other, two),
        (Ok((then, one)), Err(_)) => (then, one.clone(), other.graph.clone(), one),
        (Err(_), Ok((other, two))) => (then.graph.clone(), two.clone(), other, two),
        (Err(error), Err(_)) => return Err(error),
    };
    let outputs = one
        .iter()
        .zip(&two)
        .enumerate()
        .map(|(index, (one, two))| merge(one, two, &format!("output {index} of its branches")))
        .collect::<Result<_>>()?;
    Ok(ControlInference {
        outputs,
        bodies: vec![then, other],
    })
}

/// How many values a loop carries.
pub(crate) fn carried(node: &Node) -> Result<usize> {
    node.bodies
        .first()
        .and_then(|body| body.formals().checked_sub(2))
        .ok_or_else(|| GraphError::invalid("the body of a Loop has two inputs at least"))
}

fn infer_loop(node: &Node, inputs: &[Option<&TensorType>]) -> Result<ControlInference> {
    let count = carried(node)?;
    let body = &node.bodies[0];
    let types = |id: crate::ValueId| body.graph.value(id).ty.clone();
    let counter = TensorType::new(types(body.graph.inputs[0]).dtype, []);
    let condition = TensorType::new(types(body.graph.inputs[1]).dtype, []);
    let mut state = (0..count)
        .map(|index| given(inputs, 2 + index).cloned())
        .collect::<Result<Vec<_>>>()?;
    // A carried value may change its shape from round to round; what holds for all rounds is sought.
    for _ in 0..4 {
        let own: Vec<TensorType> = [counter.clone(), condition.clone()]
            .into_iter()
            .chain(state.iter().cloned())
            .collect();
        let (graph, results) = infer_body(body, &own, inputs)?;
        if results.len() < 1 + count || results.len() - 1 < node.outputs.len() {
            return Err(GraphError::invalid(format!(
                "the body has {} outputs; it carries {count} values and has {} outputs",
                results.len(),
                node.outputs.len()
            )));
        }
        let next = state
            .iter()
            .zip(&results[1..])
            .enumerate()
            .map(|(index, (one, two))| merge(one, two, &format!("the carried value {index}")))
            .collect::<Result<Vec<_>>>()?;
        if next == state {
            let scanned = results[1 + count..].iter().map(stacked);
            let outputs = state.iter().cloned().chain(scanned).collect();
            return Ok(ControlInference {
                outputs,
                bodies: vec![graph],
            });
        }
        state = next;
    }
    Err(GraphError::internal("the types of a loop do not converge"))
}

/// The type of many tensors of one type, one after another along a new first axis.
fn stacked(ty: &TensorType) -> TensorType {
    match ty.rank() {
        None => ty.clone(),
        Some(_) => TensorType::new(
            ty.dtype,
            std::iter::once(UNKNOWN)
                .chain(ty.shape.iter().copied())
                .collect::<Vec<_>>(),
        ),
    }
}

/// How a Scan goes along its tensors.
pub(crate) struct Scanning {
    pub states: usize,
    pub input_axes: Vec<i64>,
    pub input_backwards: Vec<bool>,
    pub output_axes: Vec<i64>,
    pub output_backwards: Vec<bool>,
}

impl Scanning {
    pub fn of(node: &Node) -> Result<Scanning> {
        let Some(body) = node.bodies.first() else {
            return Err(GraphError::invalid("a Scan has no body"));
        };
        let scanned = match node.attrs.get("num_scan_inputs") {
            Some(&Attr::Int(count)) => usize::try_from(count).ok(),
            _ => None,
        };
        let formals = body.formals();
        let results = body.graph.outputs.len();
        let counts = scanned
            .and_then(|scanned| Some((scanned, formals.checked_sub(scanned)?)))
            .and_then(|(scanned, states)| Some((scanned, states, results.checked_sub(states)?)));
        let Some((scanned, states, collected)) = counts else {
            return Err(GraphError::invalid(format!(
                "num_scan_inputs does not fit a body of {formals} inputs and {results} outputs"
            )));
        };
        let list = |name: &str, count: usize| -> Result<Vec<i64>> {
            match node.attrs.get(name) {
                None => Ok(vec![0; count]),
                Some(Attr::Ints(list)) if list.len() == count => Ok(list.clone()),
                Some(_) => Err(GraphError::invalid(format!(
                    "the attribute {name} has to hold {count} numbers"
                ))),
            }
        };
        let backwards = |name: &str, count: usize| -> Result<Vec<bool>> {
            Ok(list(name, count)?.into_iter().map(|one| one != 0).collect())
        };
        Ok(Scanning {
            states,
            input_axes: list("scan_input_axes", scanned)?,
            input_backwards: backwards("scan_input_directions", scanned)?,
            output_axes: list("scan_output_axes", collected)?,
            output_backwards: backwards("scan_output_directions", collected)?,
        })
    }
}

/// Brings an axis that may be counted from the end into `0..rank`.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Result<usize> {
    let axis_index = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis_index)
        .ok()
        .filter(|&axis_index| axis_index < rank)
        .ok_or_else(|| {
            GraphError::invalid(format!(
                "the axis {axis} is outside a tensor of {rank} dimensions"
            ))
        })
}

fn infer_scan(node: &Node, inputs: &[Option<&TensorType>]) -> Result<ControlInference> {
    let scanning = Scanning::of(node)?;
    let body = &node.bodies[0];
    let mut length = UNKNOWN;
    let mut slices = Vec::new();
    for (index, &axis) in scanning.input_axes.iter().enumerate() {
        let ty = given(inputs, scanning.states + index)?;
        let Some(rank) = ty.rank() else {
            slices.push(ty.clone());
            continue;
        };
        let mut shape = ty.shape.clone();
        let own = shape.remove(axis_of(axis, rank)?);
        if own != UNKNOWN {
            if length != UNKNOWN && length != own {
                return Err(GraphError::invalid(format!(
                    "it scans tensors of {length} and {own} slices"
                )));
            }
            length = own;
        }
        slices.push(TensorType::new(ty.dtype, shape));
    }
    let mut state = (0..scanning.states)
        .map(|index| given(inputs, index).cloned())
        .collect::<Result<Vec<_>>>()?;
    for _ in 0..4 {
        let own: Vec<TensorType> = state.iter().chain(&slices).cloned().collect();
        let (graph, results) = infer_body(body, &own, inputs)?;
        if results.len() < node.outputs.len() {
            return Err(GraphError::invalid(format!(
                "the body has {} outputs, and it has {}",
                results.len(),
                node.outputs.len()
            )));
        }
        let next = state
            .iter()
            .zip(&results)
            .enumerate()
            .map(|(index, (one, two))| merge(one, two, &format!("the state {index}")))
            .collect::<Result<Vec<_>>>()?;
        if next == state {
            let mut outputs = state;
            for (ty, &axis) in results[scanning.states..].iter().zip(&scanning.output_axes) {
                outputs.push(match ty.rank() {
                    None => ty.clone(),
                    Some(rank) => {
                        let mut shape = ty.shape.clone();
                        shape.insert(axis_of(axis, rank + 1)?, length);
                        TensorType::new(ty.dtype, shape)
                    }
                });
            }
            return Ok(ControlInference {
                outputs,
                bodies: vec![graph],
            });
        }
        state = next;
    }
    Err(GraphError::internal("the types of a scan do not converge"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jumar_types::dtype::DataType;

    #[test]
    fn merged_types_keep_what_both_say() {
        let ty = |shape: &[i64]| TensorType::new(DataType::Float32, shape);
        let merged = |a: &[i64], b: &[i64]| merge(&ty(a), &ty(b), "x").unwrap();
        assert_eq!(merged(&[2, 3], &[2, 3]), ty(&[2, 3]));
        assert_eq!(merged(&[2, 3], &[2, 4]), ty(&[2, UNKNOWN]));
        assert_eq!(merged(&[2], &[2, 4]).rank(), None);
        assert!(merge(&ty(&[1]), &TensorType::new(DataType::Int64, [1]), "x").is_err());
    }

    #[test]
    fn axes_count_from_either_end() {
        assert_eq!(axis_of(-1, 3).unwrap(), 2);
        assert_eq!(axis_of(0, 3).unwrap(), 0);
        assert!(axis_of(3, 3).is_err());
        assert!(axis_of(-4, 3).is_err());
    }
}
