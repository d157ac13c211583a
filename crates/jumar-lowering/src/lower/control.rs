//! Branches and loops.

use jumar_ops::{Attrs, Builder as _, OpError, TensorType};
use jumar_types::dtype::DataType;

use super::super::Graph as Source;
use super::formula::Formula;
use super::op::Op;
use super::{Cx, invalid};
use jumar_graph::conversion::{IF, InsertPoint, LOOP, infer_control};
use jumar_graph::{Body, Graph, GraphError, GraphOutput, Node, Result, ValueId};

pub(super) fn is_control(kind: &str) -> bool {
    matches!(
        kind,
        "Case" | "For" | "If" | "StatelessIf" | "While" | "StatelessWhile" | "PartitionedCall"
    )
}

pub(super) fn lower(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>> {
    match op.kind() {
        "Case" => {
            let index = op.input("branch_index")?;
            let index = cx.reshape(index, &[])?;
            let sources = op
                .node
                .bodies
                .get("branches")
                .map_or(&[][..], Vec::as_slice);
            choice(
                cx,
                op.node.name.as_str(),
                0,
                index,
                &op.list("input")?,
                sources,
            )
        }
        "For" => counted(cx, op),
        "If" | "StatelessIf" => branch(cx, op),
        "While" | "StatelessWhile" => repeat(cx, op),
        _ => {
            let inputs = op.list("args").or_else(|_| op.list("input"))?;
            let source = body(op, "f")?;
            let outputs = cx.nodes(source, &inputs, false)?;
            Ok(outputs)
        }
    }
}

fn body<'a>(op: &Op<'a>, name: &str) -> Result<&'a Source> {
    op.node
        .bodies
        .get(name)
        .and_then(|list| list.first())
        .ok_or_else(|| GraphError::from(invalid(format!("its graph {name} is missing"))))
}

/// A condition as a boolean value of no dimensions.
fn to_bool(cx: &mut Cx, value: ValueId) -> std::result::Result<ValueId, OpError> {
    let value = cx.cast(value, DataType::Bool)?;
    if cx.ty(value).shape.is_empty() {
        return Ok(value);
    }
    cx.reshape(value, &[])
}

/// Starts a graph inside a node of `around`, with inputs of these types.
fn inner(around: &Cx, name: &str, types: &[TensorType]) -> (Cx, Vec<ValueId>) {
    let mut inner = Cx::default();
    inner.graph.folding = around.graph.folding;
    inner.graph.name = name.to_owned();
    inner.inner = true;
    let inputs: Vec<ValueId> = types
        .iter()
        .enumerate()
        .map(|(index, ty)| inner.graph.add_value(format!("input_{index}"), ty.clone()))
        .collect();
    inner.graph.inputs.clone_from(&inputs);
    (inner, inputs)
}

/// Closes such a graph.
fn closed(mut inner: Cx, outputs: Vec<ValueId>) -> Result<Graph> {
    for (index, value) in outputs.into_iter().enumerate() {
        let value = inner.plain(value)?;
        inner.graph.outputs.push(GraphOutput {
            name: format!("output_{index}"),
            producer: (String::new(), index),
            value,
        });
    }
    Ok(inner.graph)
}

fn types(cx: &Cx, values: &[ValueId]) -> Vec<TensorType> {
    values.iter().map(|&value| cx.ty(value).clone()).collect()
}

/// Adds a node with graphs.
fn add(
    cx: &mut Cx,
    operator: &'static jumar_ops::Operator,
    inputs: Vec<Option<ValueId>>,
    bodies: Vec<Body>,
) -> Result<Vec<ValueId>> {
    let mut node = Node {
        name: cx.insert_point.node().to_owned(),
        operator,
        inputs,
        outputs: Vec::new(),
        attrs: Attrs::new(),
        bodies,
    };
    let inferred = {
        let (types, _) = cx.graph.operands(&node);
        infer_control(&node, &types)?
    };
    for (body, graph) in node.bodies.iter_mut().zip(inferred.bodies) {
        body.graph = graph;
    }
    for (index, ty) in inferred.outputs.into_iter().enumerate() {
        let value = cx.graph.add_value(format!("{}:{index}", node.name), ty);
        node.outputs.push(value);
    }
    let ids = node.outputs.clone();
    cx.graph.nodes.push(node);
    Ok(ids)
}

fn branch(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>> {
    let condition = op.input("cond")?;
    let condition = to_bool(cx, condition)?;
    let given = op.list("input")?;
    let types = types(cx, &given);
    let mut bodies = Vec::new();
    for name in ["then_branch", "else_branch"] {
        let source = body(op, name)?;
        let graph = built(cx, &source.name, &types, |own, inputs| {
            own.nodes(source, inputs, false)
        })?;
        bodies.push(Body {
            graph,
            captures: (1..=given.len()).collect(),
        });
    }
    let inputs = [condition].into_iter().chain(given).map(Some).collect();
    add(cx, &IF, inputs, bodies)
}

/// Builds the graph of a branch.
fn built(
    cx: &mut Cx,
    name: &str,
    types: &[TensorType],
    fill: impl Fn(&mut Cx, &[ValueId]) -> Result<Vec<ValueId>>,
) -> Result<Graph> {
    let build = |types: &[TensorType]| {
        let (mut own, inputs) = inner(cx, name, types);
        let outputs = fill(&mut own, &inputs)?;
        closed(own, outputs)
    };
    // A branch that does not fit the known shapes may be one that is never taken.
    let graph = build(types).or_else(|error| {
        let open: Vec<TensorType> = types.iter().map(TensorType::without_dims).collect();
        build(&open).map_err(|_| error)
    })?;
    cx.graph.folding = graph.folding;
    Ok(graph)
}

/// Chooses among graphs by their number, from `first` on: one branch inside the other. The last one stands for all other numbers.
fn choice(
    cx: &mut Cx,
    name: &str,
    first: i64,
    index: ValueId,
    given: &[ValueId],
    sources: &[Source],
) -> Result<Vec<ValueId>> {
    let (source, rest) = match sources {
        [] => return Err(GraphError::from(invalid("its graphs branches are missing"))),
        [last] => return cx.nodes(last, given, false),
        [source, rest @ ..] => (source, rest),
    };
    let number = cx.number(first as f64, index)?;
    let condition = cx.one("Equal", &[index, number], Attrs::new())?;
    let own = types(cx, given);
    let then = built(cx, &source.name, &own, |own, inputs| {
        own.nodes(source, inputs, false)
    })?;
    let with_index = [vec![cx.ty(index).clone()], own].concat();
    let inner_name = format!("{name}/{}", first + 1);
    let other = built(cx, &inner_name, &with_index, |own, inputs| {
        own.insert_point = InsertPoint::at(&inner_name);
        choice(own, &inner_name, first + 1, inputs[0], &inputs[1..], rest)
    })?;
    let bodies = vec![
        Body {
            graph: then,
            captures: (2..given.len() + 2).collect(),
        },
        Body {
            graph: other,
            captures: (1..given.len() + 2).collect(),
        },
    ];
    let inputs = [condition, index].into_iter().chain(given.iter().copied());
    add(cx, &IF, inputs.map(Some).collect(), bodies)
}

/// Runs a graph for each number from a start to before a limit.
fn counted(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>> {
    let (given, step) = (op.list("input")?, body(op, "body")?);
    let mut bounds = Vec::with_capacity(3);
    for name in ["start", "limit", "delta"] {
        let value = cx.reshape(op.input(name)?, &[])?;
        bounds.push(cx.cast(value, DataType::Int64)?);
    }
    let (start, limit, delta) = (bounds[0], bounds[1], bounds[2]);
    if let Some([0]) = cx
        .constant(delta)
        .and_then(jumar_ops::Tensor::ints)
        .as_deref()
    {
        return Err(GraphError::from(invalid(
            "its input delta is 0; it must not be",
        )));
    }
    let f = Formula::new(cx);
    // The number of turns, rounded up.
    let [span, width] = [f.sub(limit, start)?, delta].map(|value| f.cast(value, DataType::Float64));
    let turns = f.of("Ceil", f.div(span?, width?)?)?;
    let turns = f.cast(f.max(turns, f.number(0.0, turns)?)?, DataType::Int64)?;
    let always = cx.add_constant(jumar_ops::Tensor::scalar(DataType::Bool, 1.0)?);
    let mut formal = vec![
        TensorType::new(DataType::Int64, []),
        TensorType::new(DataType::Bool, []),
        TensorType::new(DataType::Int64, []),
        TensorType::new(DataType::Int64, []),
    ];
    formal.extend(types(cx, &given));
    let (mut own, inputs) = inner(cx, &step.name, &formal);
    own.insert_point = InsertPoint::at(format!("{}/number", op.node.name));
    let number = {
        let f = Formula::new(&mut own);
        let number = f.add(inputs[2], f.mul(inputs[0], inputs[3])?)?;
        f.cast(number, DataType::Int32)?
    };
    let again = own.one("Identity", &[inputs[1]], Attrs::new())?;
    let mut carried = vec![again];
    for &value in &inputs[2..4] {
        carried.push(own.one("Identity", &[value], Attrs::new())?);
    }
    let arguments = [&[number], &inputs[4..]].concat();
    let results = own.nodes(step, &arguments, false)?;
    if results.len() != given.len() {
        return Err(GraphError::from(invalid(format!(
            "its graph body has {} outputs, and {} are carried",
            results.len(),
            given.len()
        ))));
    }
    carried.extend(results);
    let graph = closed(own, carried)?;
    cx.graph.folding = graph.folding;
    let bodies = vec![Body {
        graph,
        captures: Vec::new(),
    }];
    let inputs = [turns, always, start, delta].into_iter().chain(given);
    let all = add(cx, &LOOP, inputs.map(Some).collect(), bodies)?;
    Ok(all.get(2..).unwrap_or_default().to_vec())
}

fn repeat(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>> {
    let given = op.list("input")?;
    let (test, step) = (body(op, "cond")?, body(op, "body")?);
    // Whether there is a first turn is asked here, about each further one at the end of the turn before.
    let insert_point = std::mem::take(&mut cx.insert_point);
    let first = cx.nodes(test, &given, false)?;
    cx.insert_point = insert_point;
    let first = *first
        .first()
        .ok_or_else(|| GraphError::from(invalid("its graph cond has no output")))?;
    let first = to_bool(cx, first)?;
    let mut formal = vec![
        TensorType::new(DataType::Int64, []),
        TensorType::new(DataType::Bool, []),
    ];
    formal.extend(types(cx, &given));
    let (mut own, inputs) = inner(cx, &step.name, &formal);
    let carried = own.nodes(step, &inputs[2..], false)?;
    if carried.len() != given.len() {
        return Err(GraphError::from(invalid(format!(
            "its graph body has {} outputs, and {} are carried",
            carried.len(),
            given.len()
        ))));
    }
    let again = own.nodes(test, &carried, false)?;
    let again = *again
        .first()
        .ok_or_else(|| GraphError::from(invalid("its graph cond has no output")))?;
    let again = to_bool(&mut own, again)?;
    let outputs = [again].into_iter().chain(carried).collect();
    let graph = closed(own, outputs)?;
    cx.graph.folding = graph.folding;
    let bodies = vec![Body {
        graph,
        captures: Vec::new(),
    }];
    let inputs = [None, Some(first)]
        .into_iter()
        .chain(given.into_iter().map(Some))
        .collect();
    add(cx, &LOOP, inputs, bodies)
}
