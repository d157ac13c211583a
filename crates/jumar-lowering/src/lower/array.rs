//! Lowers operators on constants and shapes, and operators that rearrange elements.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::complex::conjugate;
use super::filter::{backward, channels_last, forward};
use super::formula::{Formula, scalar};
use super::index::summed;
use super::op::{Op, same};
use super::slice::numbers;
use super::{Cx, Lowering, invalid, tensor_attr, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Concat", |cx, op| {
        let axis = constant_int(cx, op.input("concat_dim")?, "concat_dim")?;
        concat(cx, op, axis)
    }),
    ("Bitcast", same),
    ("ConcatD", |cx, op| concat(cx, op, op.int("concat_dim")?)),
    ("ConcatV2", |cx, op| {
        let axis = constant_int(cx, op.input("concat_dim")?, "concat_dim")?;
        concat(cx, op, axis)
    }),
    ("ConcatV2D", |cx, op| concat(cx, op, op.int("concat_dim")?)),
    ("ConjugateTranspose", |cx, op| {
        let inputs = [conjugate(cx, op.input("x")?)?, op.input("perm")?];
        Ok(vec![cx.one("Transpose", &inputs, Attrs::new())?])
    }),
    ("Const", constant),
    ("Constant", constant),
    ("DepthToSpace", |cx, op| {
        depth_and_space(cx, op, "DepthToSpace")
    }),
    ("Expand", |cx, op| {
        let (x, shape) = (op.input("x")?, op.input("shape")?);
        let shape = match cx.ty(shape).dtype {
            DataType::Int16 => cx.cast(shape, DataType::Int64)?,
            _ => shape,
        };
        Ok(vec![cx.one("Expand", &[x, shape], Attrs::new())?])
    }),
    ("ExpandDims", |cx, op| {
        let (x, axis) = (op.input("x")?, op.input("axis")?);
        Ok(vec![cx.one("UnsqueezeV3", &[x, axis], Attrs::new())?])
    }),
    ("FileConstant", file_constant),
    ("Fill", same),
    ("Flatten", same),
    ("FlattenV2", flatten),
    ("IdentityN", |cx, op| {
        op.list("x")?
            .into_iter()
            .map(|x| cx.one("Identity", &[x], Attrs::new()))
            .collect()
    }),
    ("Pack", pack),
    ("PadV3", pad),
    ("PadV3Grad", pad_gradient),
    ("Pad", |cx, op| {
        let (x, paddings) = (op.input("x")?, op.input("paddings")?);
        Ok(vec![cx.one("PadV3", &[x, paddings], Attrs::new())?])
    }),
    ("Permute", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.transpose(x, op.ints("order")?)?])
    }),
    ("Range", same),
    ("Reshape", reshape),
    ("ReverseSequence", same),
    ("Shape", same),
    ("Size", same),
    ("SpaceToDepth", |cx, op| {
        depth_and_space(cx, op, "SpaceToDepth")
    }),
    ("Split", |cx, op| {
        split(cx, op, None, op.input("split_dim")?)
    }),
    ("SplitD", |cx, op| {
        let axis = cx.ints(&[op.int("split_dim")?]);
        split(cx, op, None, axis)
    }),
    ("SplitV", |cx, op| {
        split(cx, op, op.maybe("size_splits"), op.input("split_dim")?)
    }),
    ("SplitVD", |cx, op| {
        let sizes = cx.ints(op.ints("size_splits")?);
        let axis = cx.ints(&[op.int("split_dim")?]);
        split(cx, op, Some(sizes), axis)
    }),
    ("Squeeze", same),
    ("SqueezeV3", same),
    ("Tile", same),
    ("Transpose", same),
    ("TransposeD", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.transpose(x, op.ints("perm")?)?])
    }),
    ("Unsqueeze", same),
    ("UnsqueezeV3", same),
];

/// The outputs of a lowered operator.
type LoweredOutputs = Result<Vec<ValueId>, OpError>;

/// Returns the value of an input that must be a constant integer.
pub(super) fn constant_int(cx: &Cx, value: ValueId, name: &str) -> Result<i64, OpError> {
    match cx.constant(value).and_then(Tensor::ints).as_deref() {
        Some([number]) => Ok(*number),
        Some(_) => Err(invalid(format!("its input {name} has to be one integer"))),
        None => Err(cx.wants_constant(name)),
    }
}

fn constant(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let tensor =
        tensor_attr(op.node, "value")?.ok_or_else(|| invalid("its attribute value is missing"))?;
    Ok(vec![cx.add_constant(tensor)])
}

/// Lowers a constant whose data are in a file.
fn file_constant(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let path = op.text("file_path")?;
    if path.is_empty() {
        return Err(unsupported(
            "its attribute file_path is empty: a file_id alone is not supported",
        ));
    }
    let dtype = op.dtype("dtype")?;
    let dims: Option<Vec<usize>> = op
        .ints("shape")?
        .iter()
        .map(|&dim| usize::try_from(dim).ok())
        .collect();
    let dims = dims.ok_or_else(|| invalid("its attribute shape has a negative dimension"))?;
    let bytes = jumar_graph::files::read(path, jumar_graph::files::LARGEST)
        .map_err(|error| invalid(format!("the file {path} cannot be read: {error}")))?;
    Ok(vec![cx.add_constant(Tensor::new(dtype, &dims, bytes)?)])
}

fn concat(cx: &mut Cx, op: &Op<'_>, axis: i64) -> LoweredOutputs {
    let mut all = op.list("x")?;
    if all.is_empty() {
        return Err(invalid("it has no inputs"));
    }
    cx.promote(&mut all)?;
    let attrs = Attrs::new()
        .with("concat_dim", axis)
        .with("N", all.len() as i64);
    Ok(vec![cx.one("ConcatD", &all, attrs)?])
}

fn pack(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let axis = op.int("axis")?;
    let mut all = op.list("x")?;
    if all.is_empty() {
        return Err(invalid("it has no inputs"));
    }
    cx.promote(&mut all)?;
    for x in &mut all {
        *x = cx.one("Unsqueeze", &[*x], Attrs::new().with("axes", vec![axis]))?;
    }
    let attrs = Attrs::new()
        .with("concat_dim", axis)
        .with("N", all.len() as i64);
    Ok(vec![cx.one("ConcatD", &all, attrs)?])
}

fn split(cx: &mut Cx, op: &Op<'_>, sizes: Option<ValueId>, axis: ValueId) -> LoweredOutputs {
    let x = op.input("x")?;
    let count = op.int("num_split")?;
    let outputs = usize::try_from(count)
        .ok()
        .filter(|&count| (1..=65_536).contains(&count))
        .ok_or_else(|| {
            invalid(format!(
                "its attribute num_split is {count}; it must be between 1 and 65536"
            ))
        })?;
    let axis = cx.reshape(axis, &[])?;
    let attrs = Attrs::new().with("num_split", count);
    if sizes.is_none()
        && let (Some(rank), Some(at)) = (cx.ty(x).rank(), cx.constant(axis).and_then(Tensor::ints))
    {
        let at = if at[0] < 0 {
            at[0] + rank as i64
        } else {
            at[0]
        };
        let dim = usize::try_from(at)
            .ok()
            .and_then(|at| cx.ty(x).shape.get(at).copied());
        if dim.is_some_and(|dim| dim >= 0 && dim % count != 0) {
            return Err(invalid(format!(
                "its input is {}, which cannot be split into {count} equal parts along axis {at}",
                cx.ty(x)
            )));
        }
    }
    let sizes = match sizes {
        Some(sizes) => Some(with_remainder(cx, x, sizes, axis)?),
        None => None,
    };
    cx.add_node("SplitV", &[Some(x), sizes, Some(axis)], attrs, outputs)
}

/// Returns the sizes of the parts of a split, where the remaining size replaces -1.
fn with_remainder(
    cx: &mut Cx,
    x: ValueId,
    sizes: ValueId,
    axis: ValueId,
) -> Result<ValueId, OpError> {
    let Some(mut list) = cx.constant(sizes).and_then(Tensor::ints) else {
        return computed_remainder(cx, x, sizes, axis);
    };
    if !list.contains(&-1) {
        return Ok(sizes);
    }
    let at = constant_int(cx, axis, "split_dim")?;
    let dims = cx.dims(x)?;
    let at = if at < 0 { at + dims.len() as i64 } else { at };
    let size = *usize::try_from(at)
        .ok()
        .and_then(|at| dims.get(at))
        .ok_or_else(|| {
            invalid(format!(
                "its split_dim is {at}, and its input has {} dimensions",
                dims.len()
            ))
        })?;
    let left: i64 = size - list.iter().filter(|&&size| size != -1).sum::<i64>();
    if left < 0 || list.iter().filter(|&&size| size == -1).count() > 1 {
        return Err(invalid(format!(
            "its size_splits {list:?} do not fit an axis of size {size}; at most one may be -1"
        )));
    }
    for size in &mut list {
        if *size == -1 {
            *size = left;
        }
    }
    Ok(cx.ints(&list))
}

/// Returns the sizes of the parts of a split, where those are computed: the size of the axis without the others replaces -1.
fn computed_remainder(
    cx: &mut Cx,
    x: ValueId,
    sizes: ValueId,
    axis: ValueId,
) -> Result<ValueId, OpError> {
    let f = Formula::new(cx);
    let sizes = f.cast(sizes, DataType::Int64)?;
    let dtype = Attrs::new().with("dtype", i64::from(DataType::Int64.acl()));
    let dims = f.node("Shape", &[x], dtype)?;
    let negative = Attrs::new().with("negative_index_support", true);
    let size = f.node("GatherV2", &[dims, axis, scalar(&f, 0)?], negative)?;
    // With the -1 itself, the sum is one too small.
    let left = f.plus(f.sub(size, f.sum(sizes, &[0], true)?)?, -1.0)?;
    f.choose(f.equal(sizes, f.ints(&[-1]))?, left, sizes)
}

/// Lowers `DepthToSpace` and `SpaceToDepth`, with channels in either position.
fn depth_and_space(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> LoweredOutputs {
    let last = channels_last(op.image_format(2)?, 2)?;
    let mut attrs = Attrs::new()
        .with("block_size", op.int("block_size")?)
        .with("data_format", "NCHW");
    if name == "DepthToSpace" {
        attrs.set("mode", op.text("mode")?);
    }
    let x = forward(cx, op.input("x")?, last, 2)?;
    let y = cx.one(name, &[x], attrs)?;
    Ok(vec![backward(cx, y, last, 2)?])
}

/// Lowers `FlattenV2`, which merges the axes from `axis` to `end_axis`.
fn flatten(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let x = op.input("x")?;
    let rank = cx.rank(x)? as i64;
    let axis = |name: &str| -> Result<usize, OpError> {
        let axis = op.int(name)?;
        let at = if axis < 0 { axis + rank } else { axis };
        if (0..rank.max(1)).contains(&at) {
            return Ok(at as usize);
        }
        Err(invalid(format!(
            "its attribute {name} is {axis}, and its input has {rank} dimensions"
        )))
    };
    let (first, last) = (axis("axis")?, axis("end_axis")?);
    let shape = cx.ty(x).shape.clone();
    if shape.is_empty() {
        return Ok(vec![cx.reshape(x, &[1])?]);
    }
    if last < first {
        return Err(invalid("its attribute end_axis is less than axis"));
    }
    let mut dims: Vec<i64> = vec![0; first];
    dims.push(-1);
    dims.extend_from_slice(&shape[last + 1..]);
    if shape[last + 1..].iter().any(|&dim| dim < 0) {
        return Err(unsupported(
            "the dimensions after end_axis must not be dynamic",
        ));
    }
    Ok(vec![cx.reshape(x, &dims)?])
}

fn reshape(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let (x, shape) = (op.input("x")?, op.input("shape")?);
    let (axis, count) = (op.int("axis")?, op.int("num_axes")?);
    if axis == 0 && count == -1 {
        return Ok(vec![cx.one("Reshape", &[x, shape], Attrs::new())?]);
    }
    // Only the axes from `axis` on get another shape, as in Caffe.
    let wanted = cx
        .constant(shape)
        .and_then(Tensor::ints)
        .ok_or_else(|| cx.wants_constant("shape"))?;
    let own = cx.dims(x)?;
    let rank = own.len() as i64;
    let first = if axis < 0 { axis + rank + 1 } else { axis };
    let last = if count == -1 { rank } else { first + count };
    if !(0..=rank).contains(&first) || !(first..=rank).contains(&last) {
        return Err(invalid(format!(
            "its attributes axis {axis} and num_axes {count} do not fit an input of {rank} dimensions"
        )));
    }
    let (first, last) = (first as usize, last as usize);
    let mut dims = own[..first].to_vec();
    for (at, &dim) in wanted.iter().enumerate() {
        dims.push(match dim {
            0 => *own.get(first + at).ok_or_else(|| {
                invalid("its input shape has a 0 where its input has no dimension to copy")
            })?,
            dim => dim,
        });
    }
    dims.extend_from_slice(&own[last..]);
    Ok(vec![cx.reshape(x, &dims)?])
}

fn pad(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let x = op.input("x")?;
    let value = match op.maybe("constant_values") {
        Some(value) => Some(cx.cast(value, {
            let dtype: DataType = cx.ty(x).dtype;
            dtype
        })?),
        None => None,
    };
    let attrs = op.attrs_for("PadV3")?;
    cx.add_node(
        "PadV3",
        &[Some(x), Some(op.input("paddings")?), value],
        attrs,
        1,
    )
}

/// Adds the gradients of padded elements to those of the elements that they were copied from.
fn pad_gradient(cx: &mut Cx, op: &Op<'_>) -> LoweredOutputs {
    let (x, mode) = (op.input("x")?, op.text("mode")?);
    let paddings = numbers(cx, op.input("paddings")?, "paddings")?;
    let dims = cx.dims(x)?;
    let rank = dims.len();
    if paddings.len() != 2 * rank || paddings.iter().any(|&padding| padding < 0) {
        return Err(invalid(format!(
            "its input paddings is {paddings:?}; it must have {} numbers that are not negative",
            2 * rank
        )));
    }
    let pairs = op.yes("paddings_contiguous")?;
    // For each axis, the index from which an element of the padded one was copied.
    let mut origins = Vec::with_capacity(rank);
    let mut own = Vec::with_capacity(rank);
    for (axis, &padded) in dims.iter().enumerate() {
        let (before, after) = if pairs {
            (paddings[2 * axis], paddings[2 * axis + 1])
        } else {
            (paddings[axis], paddings[rank + axis])
        };
        let size = padded - before - after;
        let most = match mode {
            "constant" | "edge" => i64::MAX,
            "reflect" => size - 1,
            "symmetric" | "circular" => size,
            other => {
                return Err(invalid(format!(
                    "its attribute mode is {other}; it must be constant, edge, reflect, symmetric or circular"
                )));
            }
        };
        if size < 1 || before.max(after) > most {
            return Err(invalid(format!(
                "axis {axis} of its input has {padded} elements, of which {before} and {after} are padding; mode {mode} cannot pad {size} elements so far"
            )));
        }
        let origin = |index: i64| {
            let at = index - before;
            if (0..size).contains(&at) {
                return Some(at);
            }
            match mode {
                "edge" => Some(at.clamp(0, size - 1)),
                "reflect" if at < 0 => Some(-at),
                "reflect" => Some(2 * (size - 1) - at),
                "symmetric" if at < 0 => Some(-at - 1),
                "symmetric" => Some(2 * size - 1 - at),
                "circular" => Some(at.rem_euclid(size)),
                _ => None,
            }
        };
        origins.push((0..padded).map(origin).collect::<Vec<_>>());
        own.push(size);
    }
    let mut indices = vec![Some(0)];
    for (axis, &size) in origins.iter().zip(&own) {
        indices = indices
            .iter()
            .flat_map(|index| {
                axis.iter()
                    .map(move |at| Some(index.as_ref()? * size + at.as_ref()?))
            })
            .collect();
    }
    let indices: Vec<i64> = indices
        .into_iter()
        .map(|index| index.unwrap_or(-1))
        .collect();
    let ids = cx.ints(&indices);
    let flat = cx.reshape(x, &[-1])?;
    let sums = summed(cx, flat, ids, own.iter().product())?;
    Ok(vec![cx.reshape(sums, &own)?])
}
