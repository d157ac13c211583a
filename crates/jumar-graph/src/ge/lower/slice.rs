//! Parts of tensors by begin, end and step, with masks as TensorFlow has them.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};

use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
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

const MASKS: [&str; 5] = [
    "begin_mask",
    "end_mask",
    "ellipsis_mask",
    "new_axis_mask",
    "shrink_axis_mask",
];

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
    let mut masks = [0; 5];
    for (mask, name) in masks.iter_mut().zip(MASKS) {
        *mask = op.int(name)?;
    }
    if masks == [0; 5] {
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
    if begin.len() != end.len() || begin.len() != steps.len() {
        return Err(invalid(format!(
            "begin, end and strides have {}, {} and {} entries",
            begin.len(),
            end.len(),
            steps.len()
        )));
    }
    let [begin_mask, end_mask, ellipsis, new, shrink] = masks;
    let set = |mask: i64, at: usize| at < 63 && mask >> at & 1 == 1;
    let rank = cx.rank(x)?;
    if axes.is_some() && (ellipsis != 0 || new != 0) {
        return Err(unsupported(
            "axes together with ellipsis_mask or new_axis_mask are not supported",
        ));
    }
    if (0..begin.len()).filter(|&at| set(ellipsis, at)).count() > 1 {
        return Err(invalid(format!(
            "ellipsis_mask is {ellipsis}; one bit at most may be set"
        )));
    }
    // How many axes of x the entries take that are no ellipsis and no new axis.
    let taken = (0..begin.len())
        .filter(|&at| !set(ellipsis, at) && !set(new, at))
        .count();
    if taken > rank {
        return Err(invalid(format!(
            "begin takes {taken} axes, and its input has {rank}"
        )));
    }
    let (mut from, mut to, mut along, mut by) = (vec![], vec![], vec![], vec![]);
    // What becomes of the axes: kept ones by their number, `None` for a new one.
    let mut shape: Vec<Option<usize>> = Vec::new();
    let mut dropped = vec![false; rank];
    let mut axis = 0;
    for at in 0..begin.len() {
        if set(ellipsis, at) {
            let count = rank - taken;
            shape.extend((axis..axis + count).map(Some));
            axis += count;
            continue;
        }
        if set(new, at) {
            shape.push(None);
            continue;
        }
        let own = match &axes {
            None => axis,
            Some(list) => {
                let named = list.get(at).copied().unwrap_or(-1);
                let own = if named < 0 {
                    named + rank as i64
                } else {
                    named
                };
                usize::try_from(own)
                    .ok()
                    .filter(|&own| own < rank)
                    .ok_or_else(|| {
                        invalid(format!(
                            "its input axes names {named}, and its input has {rank} axes"
                        ))
                    })?
            }
        };
        axis += 1;
        if axes.is_none() {
            shape.push(Some(own));
        }
        if set(shrink, at) {
            dropped[own] = true;
            from.push(begin[at]);
            to.push(if begin[at] == -1 {
                i64::MAX
            } else {
                begin[at] + 1
            });
            by.push(1);
        } else {
            let far = if steps[at] < 0 { i64::MAX } else { 0 };
            from.push(if set(begin_mask, at) { far } else { begin[at] });
            let far = if steps[at] < 0 { i64::MIN } else { i64::MAX };
            to.push(if set(end_mask, at) { far } else { end[at] });
            by.push(steps[at]);
        }
        along.push(own as i64);
    }
    if axes.is_some() {
        shape = (0..rank).map(Some).collect();
    } else {
        shape.extend((axis..rank).map(Some));
    }
    let y = part(cx, x, &from, &to, &along, &by)?[0];
    if shrink == 0 && new == 0 {
        return Ok(vec![y]);
    }
    let dims = cx.dims(y)?;
    let gone = (0..rank).find(|&own| dropped[own] && dims[own] != 1);
    if let Some(own) = gone {
        return Err(invalid(format!(
            "the index along axis {own} that shrink_axis_mask takes is not there"
        )));
    }
    let dims: Vec<i64> = shape
        .into_iter()
        .filter(|slot| slot.is_none_or(|own| !dropped[own]))
        .map(|slot| slot.map_or(1, |own| dims[own]))
        .collect();
    Ok(vec![cx.reshape(y, &dims)?])
}
