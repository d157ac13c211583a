//! Parts of tensors by begin, end and step, with masks as TensorFlow has them.

use jumar_ops::{Attrs, Builder as _, OpError, SliceMasks, Tensor};

use super::op::Op;
use super::{Cx, Lowering, unsupported};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Slice", |cx, op| {
        let (offsets, size) = (op.input("offsets")?, op.input("size")?);
        let begin = numbers(cx, offsets, "offsets")?;
        let size = numbers(cx, size, "size")?;
        // A size of -1 takes what is left.
        let end: Vec<i64> = begin
            .iter()
            .zip(&size)
            .map(|(&from, &count)| if count < 0 { i64::MAX } else { from + count })
            .collect();
        let axes: Vec<i64> = (0..begin.len() as i64).collect();
        let steps = vec![1; begin.len()];
        part(cx, op.input("x")?, &begin, &end, &axes, &steps)
    }),
    ("StridedSlice", |cx, op| {
        let lists = [
            Some(op.input("begin")?),
            Some(op.input("end")?),
            Some(op.input("strides")?),
        ];
        strided(cx, op, lists, None)
    }),
    ("StridedSliceD", |cx, op| {
        let mut lists = [None; 3];
        for (slot, name) in lists.iter_mut().zip(["begin", "end", "strides"]) {
            *slot = Some(cx.ints(op.ints(name)?));
        }
        strided(cx, op, lists, None)
    }),
    ("StridedSliceV2", |cx, op| {
        let lists = [
            Some(op.input("begin")?),
            Some(op.input("end")?),
            op.maybe("strides"),
        ];
        strided(cx, op, lists, op.maybe("axes"))
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The integers that an input holds; they have to be known.
pub(super) fn numbers(cx: &Cx, value: ValueId, name: &str) -> Result<Vec<i64>, OpError> {
    cx.constant(value)
        .and_then(Tensor::ints)
        .ok_or_else(|| unsupported(format!("its input {name} has to be a constant")))
}

/// A part along some axes.
fn part(
    cx: &mut Cx,
    x: ValueId,
    begin: &[i64],
    end: &[i64],
    axes: &[i64],
    steps: &[i64],
) -> Answer {
    if begin.is_empty() {
        return Ok(vec![x]);
    }
    let lists = [begin, end, axes, steps].map(|list| cx.ints(list));
    let inputs: Vec<_> = std::iter::once(x).chain(lists).map(Some).collect();
    cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)
}

fn strided(
    cx: &mut Cx,
    op: &Op<'_>,
    [begin, end, strides]: [Option<ValueId>; 3],
    axes: Option<ValueId>,
) -> Answer {
    let x = op.input("x")?;
    let mut masks = SliceMasks::default();
    for (name, mask) in masks.named() {
        *mask = op.int(name)?;
    }
    if masks == SliceMasks::default() {
        let inputs = [Some(x), begin, end, axes, strides];
        return cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1);
    }
    let read = |value: Option<ValueId>, name: &str| match value {
        Some(value) => numbers(cx, value, name).map(Some),
        None => Ok(None),
    };
    let begin = read(begin, "begin")?.unwrap_or_default();
    let end = read(end, "end")?.unwrap_or_default();
    let steps = read(strides, "strides")?.unwrap_or_else(|| vec![1; begin.len()]);
    let axes = read(axes, "axes")?;
    let slice = masks.apply(cx.rank(x)?, [&begin, &end, &steps], axes.as_deref())?;
    let y = part(cx, x, &slice.begin, &slice.end, &slice.axes, &slice.strides)?[0];
    if slice.keeps_axes() {
        return Ok(vec![y]);
    }
    let dims = slice.dims(&cx.dims(y)?)?;
    Ok(vec![cx.reshape(y, &dims)?])
}
