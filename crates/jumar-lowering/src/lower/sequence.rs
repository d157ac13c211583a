//! Sequences: lists of tensors whose lengths are known while the graph is built.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor, TensorType};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ConcatFromSequence", concat),
    ("SequenceAt", |cx, op| {
        let list = items(cx, op)?;
        let at = position(cx, op, list.len(), list.len())?;
        Ok(vec![list[at]])
    }),
    ("SequenceConstruct", |cx, op| {
        let list = op.list("inputs")?;
        Ok(vec![made(cx, list)])
    }),
    ("SequenceEmpty", |cx, _| Ok(vec![made(cx, Vec::new())])),
    ("SequenceErase", |cx, op| {
        let mut list = items(cx, op)?;
        let last = list.len().saturating_sub(1);
        let at = position(cx, op, list.len(), last)?;
        list.remove(at);
        Ok(vec![made(cx, list)])
    }),
    ("SequenceInsert", |cx, op| {
        let mut list = items(cx, op)?;
        let at = position(cx, op, list.len() + 1, list.len())?;
        list.insert(at, op.input("value")?);
        Ok(vec![made(cx, list)])
    }),
    ("SequenceLength", |cx, op| {
        let length = items(cx, op)?.len() as f64;
        let tensor = Tensor::scalar(DataType::Int64, length)?;
        Ok(vec![cx.add_constant(tensor)])
    }),
    ("SplitToSequence", split),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// A value that stands for a list. Nothing computes it, and nothing but these operators reads it.
fn made(cx: &mut Cx, list: Vec<ValueId>) -> ValueId {
    let name = format!("sequence_{}", cx.graph.values.len());
    let id = cx
        .graph
        .add_value(name, TensorType::of_unknown_rank(DataType::Float32));
    cx.sequences.insert(id, list);
    id
}

fn items(cx: &Cx, op: &Op<'_>) -> Result<Vec<ValueId>, OpError> {
    let handle = op.input("handle")?;
    cx.sequences
        .get(&handle)
        .cloned()
        .ok_or_else(|| invalid("its input handle is not a sequence"))
}

/// Reads the input `index`: below `count`, from the end if it is negative.
fn position(cx: &Cx, op: &Op<'_>, count: usize, absent: usize) -> Result<usize, OpError> {
    let index = match op.maybe("index") {
        None => absent as i64,
        Some(value) => constant_int(cx, value, "index")?,
    };
    let at = if index < 0 {
        index + count as i64
    } else {
        index
    };
    match usize::try_from(at) {
        Ok(at) if at < count => Ok(at),
        _ => Err(invalid(format!(
            "its input index is {index}, and the sequence has {count} elements"
        ))),
    }
}

fn concat(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut list = items(cx, op)?;
    if list.is_empty() {
        return Err(invalid("the sequence is empty"));
    }
    let axis = op.int("axis")?;
    if op.int("new_axis")? != 0 {
        for x in &mut list {
            *x = cx.one("Unsqueeze", &[*x], Attrs::new().with("axes", vec![axis]))?;
        }
    }
    let attrs = Attrs::new()
        .with("concat_dim", axis)
        .with("N", list.len() as i64);
    Ok(vec![cx.one("ConcatD", &list, attrs)?])
}

fn split(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dims = cx.dims(x)?;
    let axis = op.int("axis")?;
    let at = if axis < 0 {
        axis + dims.len() as i64
    } else {
        axis
    };
    let length = *usize::try_from(at)
        .ok()
        .and_then(|at| dims.get(at))
        .ok_or_else(|| {
            invalid(format!(
                "its attribute axis is {axis}, and its input has {} dimensions",
                dims.len()
            ))
        })?;
    let mut drop_axis = false;
    let sizes: Vec<i64> = match op.maybe("split") {
        None => {
            drop_axis = !op.yes("keepdims")?;
            vec![1; length as usize]
        }
        Some(split) => {
            let tensor = cx
                .constant(split)
                .cloned()
                .ok_or_else(|| cx.wants_constant("split"))?;
            let list = tensor
                .ints()
                .ok_or_else(|| invalid("its input split has to be of integers"))?;
            match (tensor.ty().shape.is_empty(), &list[..]) {
                (true, &[size]) if size > 0 => (0..length)
                    .step_by(size as usize)
                    .map(|from| size.min(length - from))
                    .collect(),
                (true, _) => return Err(invalid("its input split has to be more than 0")),
                _ => list,
            }
        }
    };
    if sizes.is_empty() {
        return Ok(vec![made(cx, Vec::new())]);
    }
    let count = sizes.len();
    let (parts, axis) = (cx.ints(&sizes), cx.ints(&[at]));
    let axis = cx.reshape(axis, &[])?;
    let attrs = Attrs::new().with("num_split", count as i64);
    let mut list = cx.add_node("SplitV", &[Some(x), Some(parts), Some(axis)], attrs, count)?;
    if drop_axis {
        for x in &mut list {
            *x = cx.one("Squeeze", &[*x], Attrs::new().with("axis", vec![at]))?;
        }
    }
    Ok(vec![made(cx, list)])
}
