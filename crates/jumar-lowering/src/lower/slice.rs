//! Parts of tensors by begin, end and step, with masks as TensorFlow has them.

use jumar_ops::{Attrs, Builder as _, OpError, SliceMasks, Tensor};
use jumar_types::dtype::DataType;

use super::index::scattered;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Slice", |cx, op| {
        let (x, offsets, size) = (op.input("x")?, op.input("offsets")?, op.input("size")?);
        let list = |value| cx.constant(value).and_then(Tensor::ints);
        let (Some(begin), Some(sizes)) = (list(offsets), list(size)) else {
            return computed_part(cx, x, offsets, size);
        };
        let end = ends(&begin, &sizes);
        let axes: Vec<i64> = (0..begin.len() as i64).collect();
        let steps = vec![1; begin.len()];
        part(cx, x, &begin, &end, &axes, &steps)
    }),
    ("SliceWithAxes", |cx, op| {
        let begin = numbers(cx, op.input("offsets")?, "offsets")?;
        let size = numbers(cx, op.input("size")?, "size")?;
        let axes = op.ints("axes")?;
        if begin.len() != size.len() || begin.len() != axes.len() {
            return Err(invalid(format!(
                "offsets, size and axes have {}, {} and {} entries",
                begin.len(),
                size.len(),
                axes.len()
            )));
        }
        let end = ends(&begin, &size);
        let steps = vec![1; begin.len()];
        part(cx, op.input("x")?, &begin, &end, axes, &steps)
    }),
    ("SliceWrite", |cx, op| {
        let (x, value) = (op.input("x")?, op.input("value")?);
        let begin = numbers(cx, op.input("begin")?, "begin")?;
        let (dims, sizes) = (cx.dims(x)?, cx.dims(value)?);
        let fits = begin.len() == dims.len()
            && sizes.len() == dims.len()
            && (0..dims.len())
                .all(|axis| begin[axis] >= 0 && begin[axis] + sizes[axis] <= dims[axis]);
        if !fits {
            return Err(invalid(format!(
                "its input value has the shape {sizes:?}; at begin {begin:?} it does not lie inside of x with the shape {dims:?}"
            )));
        }
        let count: i64 = dims.iter().product();
        let indices: Vec<i64> = (0..count).collect();
        let indices = cx.ints(&indices);
        let indices = cx.reshape(indices, &dims)?;
        let (axes, steps): (Vec<i64>, Vec<i64>) =
            (0..dims.len() as i64).map(|axis| (axis, 1)).unzip();
        let end: Vec<i64> = begin.iter().zip(&sizes).map(|(a, b)| a + b).collect();
        let indices = part(cx, indices, &begin, &end, &axes, &steps)?[0];
        let flat = cx.reshape(x, &[count])?;
        let y = written(cx, flat, indices, value)?;
        let y = cx.reshape(y, &dims)?;
        write_or_pass(cx, op, "x", y)
    }),
    ("StridedSlice", |cx, op| {
        let lists = [
            Some(op.input("begin")?),
            Some(op.input("end")?),
            Some(op.input("strides")?),
        ];
        strided(cx, op, op.input("x")?, lists, None)
    }),
    ("StridedSliceGrad", |cx, op| {
        let dims = numbers(cx, op.input("shape")?, "shape")?;
        for name in ["begin", "end", "strides"] {
            numbers(cx, op.input(name)?, name)?;
        }
        if dims.iter().any(|&dim| dim < 0) {
            return Err(invalid(format!(
                "its input shape is {dims:?}; no dimension may be negative"
            )));
        }
        let lists = [
            Some(op.input("begin")?),
            Some(op.input("end")?),
            Some(op.input("strides")?),
        ];
        let dy = op.input("dy")?;
        let count: i64 = dims.iter().product();
        let indices: Vec<i64> = (0..count).collect();
        let indices = cx.ints(&indices);
        let indices = cx.reshape(indices, &dims)?;
        let indices = strided(cx, op, indices, lists, None)?[0];
        if cx.dims(indices)? != cx.dims(dy)? {
            return Err(invalid(format!(
                "its input dy has the shape {:?}; the slice has {:?}",
                cx.dims(dy)?,
                cx.dims(indices)?
            )));
        }
        let (shape, zero) = (cx.ints(&[count]), cx.number(0.0, dy)?);
        let zeros = cx.one("Fill", &[shape, zero], Attrs::new())?;
        let y = written(cx, zeros, indices, dy)?;
        Ok(vec![cx.reshape(y, &dims)?])
    }),
    ("StridedSliceD", |cx, op| {
        let mut lists = [None; 3];
        for (slot, name) in lists.iter_mut().zip(["begin", "end", "strides"]) {
            *slot = Some(cx.ints(op.ints(name)?));
        }
        strided(cx, op, op.input("x")?, lists, None)
    }),
    ("Crop", |cx, op| {
        let (x, size) = (op.input("x")?, op.input("size")?);
        let (dims, wanted) = (cx.dims(x)?, cx.dims(size)?);
        let (axis, offsets) = (op.int("axis")?, op.ints("offsets")?);
        let rank = dims.len() as i64;
        let first = if axis < 0 { axis + rank } else { axis };
        let first = usize::try_from(first).ok().filter(|&at| at < dims.len());
        let fits = first
            .is_some_and(|at| matches!(offsets.len(), 1 | 0) || offsets.len() == dims.len() - at);
        let Some(first) = first.filter(|_| fits && wanted.len() == dims.len()) else {
            return Err(invalid(format!(
                "its inputs x and size have the shapes {dims:?} and {wanted:?}, axis is {axis} and offsets {offsets:?}; equal ranks, an axis of them, and one offset or one for each axis from there on are required"
            )));
        };
        let (mut begin, mut end, mut axes) = (Vec::new(), Vec::new(), Vec::new());
        for at in first..dims.len() {
            let offset = match offsets {
                [] => 0,
                [one] => *one,
                all => all[at - first],
            };
            if offset < 0 || offset.saturating_add(wanted[at]) > dims[at] {
                return Err(invalid(format!(
                    "axis {at} is cropped to {} elements from {offset} on, and it has {}",
                    wanted[at], dims[at]
                )));
            }
            begin.push(offset);
            end.push(offset + wanted[at]);
            axes.push(at as i64);
        }
        let inputs = [
            Some(x),
            Some(cx.ints(&begin)),
            Some(cx.ints(&end)),
            Some(cx.ints(&axes)),
        ];
        cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)
    }),
    ("StridedSliceV2", |cx, op| {
        let lists = [
            Some(op.input("begin")?),
            Some(op.input("end")?),
            op.maybe("strides"),
        ];
        strided(cx, op, op.input("x")?, lists, op.maybe("axes"))
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The integers that an input holds; they have to be known.
pub(super) fn numbers(cx: &Cx, value: ValueId, name: &str) -> Result<Vec<i64>, OpError> {
    cx.constant(value)
        .and_then(Tensor::ints)
        .ok_or_else(|| cx.wants_constant(name))
}

/// Returns the elements of axes from the last to the first.
pub(super) fn reversed(cx: &mut Cx, x: ValueId, axes: &[i64]) -> Result<ValueId, OpError> {
    if axes.is_empty() {
        return Ok(x);
    }
    let lists = [
        vec![-1; axes.len()],
        vec![i64::MIN; axes.len()],
        axes.to_vec(),
        vec![-1; axes.len()],
    ];
    let [begin, end, axes, steps] = lists.map(|list| cx.ints(&list));
    cx.one(
        "StridedSliceV2",
        &[x, begin, end, axes, steps],
        Attrs::new(),
    )
}

/// Returns the ends of parts by their begins and sizes. A size of -1 takes what is left.
fn ends(begin: &[i64], size: &[i64]) -> Vec<i64> {
    begin
        .iter()
        .zip(size)
        .map(|(&from, &count)| if count < 0 { i64::MAX } else { from + count })
        .collect()
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

/// A part whose begin and sizes are known when the graph runs. A size of -1 takes what is left.
fn computed_part(cx: &mut Cx, x: ValueId, offsets: ValueId, size: ValueId) -> Answer {
    let begin = cx.cast(offsets, DataType::Int64)?;
    let size = cx.cast(size, DataType::Int64)?;
    let (zero, last) = (cx.ints(&[0]), cx.ints(&[i64::MAX]));
    let rest = cx.one("Less", &[size, zero], Attrs::new())?;
    let end = cx.one("Add", &[begin, size], Attrs::new())?;
    let end = cx.one("SelectV2", &[rest, last, end], Attrs::new())?;
    cx.add_node(
        "StridedSliceV2",
        &[Some(x), Some(begin), Some(end)],
        Attrs::new(),
        1,
    )
}

/// Writes values to their indices in a vector.
fn written(
    cx: &mut Cx,
    flat: ValueId,
    indices: ValueId,
    values: ValueId,
) -> Result<ValueId, OpError> {
    let indices = cx.reshape(indices, &[-1])?;
    let values = cx.reshape(values, &[-1])?;
    scattered(cx, flat, indices, values, "none")
}

fn strided(
    cx: &mut Cx,
    op: &Op<'_>,
    x: ValueId,
    [begin, end, strides]: [Option<ValueId>; 3],
    axes: Option<ValueId>,
) -> Answer {
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
