//! Sparse tensors, sums of the rows of segments, and counts.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::complex::conjugate;
use super::formula::Formula;
use super::image::columns;
use super::index::{owners, rows, scattered, summed, take_rows};
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Bincount", |cx, op| {
        let values = cx.reshape(op.input("array")?, &[-1])?;
        bins(cx, op, values, None, false)
    }),
    ("RaggedBinCount", |cx, op| {
        let (splits, values) = (op.input("splits")?, op.input("values")?);
        let count = match cx.dims(splits)?[..] {
            [count] if count >= 1 => count - 1,
            ref other => {
                return Err(invalid(format!(
                    "its input splits has the shape {other:?}; 1 dimension with 1 element at least is required"
                )));
            }
        };
        let values = cx.reshape(values, &[-1])?;
        let ends = rows(cx, splits, 1, count + 1)?;
        let all = cx.dims(values)?[0];
        let owners = owners(cx, ends, all)?;
        bins(
            cx,
            op,
            values,
            Some((owners, count)),
            op.yes("binary_output")?,
        )
    }),
    ("SegmentSum", |cx, op| {
        let (x, ids) = (op.input("x")?, op.input("segment_ids")?);
        let (dims, count) = (cx.dims(x)?, cx.dims(ids)?);
        if dims.is_empty() || count != dims[..1] || dims[0] == 0 {
            return Err(invalid(format!(
                "its inputs x and segment_ids have the shapes {dims:?} and {count:?}; an id for each row, and 1 row at least, are required"
            )));
        }
        let ids = cx.cast(ids, DataType::Int64)?;
        let f = Formula::new(cx);
        let rows = f.plus(f.reduce("ReduceMax", ids, &[0], true)?, 1.0)?;
        let shape = match dims.len() {
            1 => rows,
            _ => {
                let attrs = Attrs::new().with("concat_dim", 0i64).with("N", 2i64);
                f.node("ConcatD", &[rows, f.ints(&dims[1..])], attrs)?
            }
        };
        let zeros = f.node("Fill", &[shape, f.number(0.0, x)?], Attrs::new())?;
        Ok(vec![scattered(cx, zeros, ids, x, "add")?])
    }),
    ("SparseBincount", |cx, op| {
        let binary = op.yes("binary_output")?;
        let (indices, values) = (op.input("indices")?, op.input("values")?);
        let dims = numbers(cx, op.input("dense_shape")?, "dense_shape")?;
        let values = cx.reshape(values, &[-1])?;
        match dims[..] {
            [_] => bins(cx, op, values, None, binary),
            [count, _] => {
                let owners = columns(cx, indices, 0, 1)?;
                let owners = cx.reshape(owners, &[-1])?;
                bins(cx, op, values, Some((owners, count)), binary)
            }
            _ => Err(invalid(format!(
                "its input dense_shape is {dims:?}; 1 or 2 dimensions are required"
            ))),
        }
    }),
    ("SparseFillEmptyRows", fill_empty_rows),
    ("SparseReshape", sparse_reshape),
    ("SparseSegmentMean", |cx, op| segments(cx, op, true)),
    ("SparseSegmentMeanGrad", |cx, op| {
        segments_gradient(cx, op, "x", true)
    }),
    ("SparseSegmentSum", |cx, op| segments(cx, op, false)),
    ("SparseSegmentSumGrad", |cx, op| {
        segments_gradient(cx, op, "grad", false)
    }),
    ("SparseTensorDenseMatMul", |cx, op| {
        let (indices, values) = (op.input("x1_indices")?, op.input("x1_values")?);
        let &[height, width] = &numbers(cx, op.input("x1_shape")?, "x1_shape")?[..] else {
            return Err(invalid("its input x1_shape must have 2 numbers"));
        };
        let flat = positions(cx, indices, &[height, width])?;
        let dense = summed(cx, values, flat, height * width)?;
        let dense = cx.reshape(dense, &[height, width])?;
        let adjoint = [op.yes("adjoint_a")?, op.yes("adjoint_b")?];
        let attrs = Attrs::new()
            .with("transpose_x1", adjoint[0])
            .with("transpose_x2", adjoint[1]);
        let mut both = [dense, op.input("x2")?];
        cx.promote(&mut both)?;
        for (value, adjoint) in both.iter_mut().zip(adjoint) {
            if adjoint {
                *value = conjugate(cx, *value)?;
            }
        }
        Ok(vec![cx.one("MatMul", &both, attrs)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Returns the positions in memory of the elements of a sparse tensor, in int64, by their indices.
fn positions(cx: &mut Cx, indices: ValueId, dims: &[i64]) -> Result<ValueId, OpError> {
    let own = cx.dims(indices)?;
    if own.len() != 2 || own[1] != dims.len() as i64 {
        return Err(invalid(format!(
            "its indices have the shape {own:?}; [elements, {}] is required",
            dims.len()
        )));
    }
    let strides = cx.ints(&strides(dims));
    let f = Formula::new(cx);
    let parts = f.mul(f.cast(indices, DataType::Int64)?, strides)?;
    f.sum(parts, &[1], false)
}

/// Returns by how many elements an index moves, for each axis.
fn strides(dims: &[i64]) -> Vec<i64> {
    (0..dims.len())
        .map(|axis| dims[axis + 1..].iter().product())
        .collect()
}

/// Adds an element with a default value to each row without elements, and sorts all by their rows.
fn fill_empty_rows(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (indices, values) = (op.input("indices")?, op.input("values")?);
    let default = op.input("default_value")?;
    let dims = numbers(cx, op.input("dense_shape")?, "dense_shape")?;
    let own = cx.dims(indices)?;
    let fits = own.len() == 2 && own[1] == dims.len() as i64 && cx.dims(values)? == own[..1];
    let (true, Some(&count)) = (fits, dims.first()) else {
        return Err(invalid(format!(
            "its inputs indices and values have the shapes {own:?} and {:?}; [elements, {}] and [elements] are required",
            cx.dims(values)?,
            dims.len()
        )));
    };
    let total = own[0] + count;
    let row_ids = columns(cx, indices, 0, 1)?;
    let row_ids = cx.reshape(row_ids, &[-1])?;
    let (shape, one) = (cx.ints(&own[..1]), cx.number(1.0, row_ids)?);
    let ones = cx.one("Fill", &[shape, one], Attrs::new())?;
    let sizes = summed(cx, ones, row_ids, count)?;
    let empty = Formula::new(cx).below(sizes, 1.0)?;
    // Behind the elements, one for each row; what is not needed goes at the end.
    let join = |cx: &mut Cx, first: ValueId, second: ValueId| {
        let attrs = Attrs::new().with("concat_dim", 0i64).with("N", 2i64);
        cx.one("ConcatD", &[first, second], attrs)
    };
    let mut added = vec![0; (count * own[1]) as usize];
    for (row, entry) in added.chunks_mut(own[1] as usize).enumerate() {
        entry[0] = row as i64;
    }
    let added = cx.ints(&added);
    let added = cx.reshape(added, &[count, own[1]])?;
    let shape = cx.ints(&[count]);
    let default = cx.reshape(default, &[])?;
    let defaults = cx.one("Fill", &[shape, default], Attrs::new())?;
    let kept = cx.ints(&vec![1; own[0] as usize]);
    let needed = cx.cast(empty, DataType::Int64)?;
    let kept = join(cx, kept, needed)?;
    let indices = join(cx, indices, added)?;
    let values = join(cx, values, defaults)?;
    // By the row, and within a row by the original position.
    let all_rows = columns(cx, indices, 0, 1)?;
    let all_rows = cx.reshape(all_rows, &[-1])?;
    let positions = cx.ints(&(0..total).collect::<Vec<i64>>());
    let f = Formula::new(cx);
    let keys = f.add(f.times(all_rows, total as f64)?, positions)?;
    let attrs = Attrs::new()
        .with("sorted", true)
        .with("dim", 0i64)
        .with("largest", false)
        .with("indices_dtype", DataType::Int64);
    let most = cx.ints(&[total]);
    let order = cx.add_node("TopK", &[Some(keys), Some(most)], attrs, 2)?[1];
    let kept = take_rows(cx, kept, order)?;
    let axis = cx.ints(&[0]);
    let axis = cx.reshape(axis, &[])?;
    let attrs = Attrs::new().with("exclusive", true);
    let before = cx.one("Cumsum", &[kept, axis], attrs)?;
    let map = scattered(cx, before, order, before, "none")?;
    let map = rows(cx, map, 0, own[0])?;
    let kept = cx.cast(kept, DataType::Bool)?;
    let mut outputs = Vec::with_capacity(4);
    for all in [indices, values] {
        let sorted = take_rows(cx, all, order)?;
        let attrs = Attrs::new().with("axis", 0i64);
        outputs.push(cx.one("jumar.Compress", &[sorted, kept], attrs)?);
    }
    outputs.extend([empty, map]);
    Ok(outputs)
}

fn sparse_reshape(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (indices, shape) = (op.input("indices")?, op.input("new_shape")?);
    let dtype = cx.ty(indices).dtype;
    let old = numbers(cx, op.input("shape")?, "shape")?;
    let mut new = numbers(cx, shape, "new_shape")?;
    let total: i64 = old.iter().product();
    let known: i64 = new.iter().filter(|&&dim| dim != -1).product();
    let open = new.iter().filter(|&&dim| dim == -1).count();
    for dim in &mut new {
        if *dim == -1 && known != 0 {
            *dim = total / known;
        }
    }
    if open > 1 || new.iter().product::<i64>() != total || new.iter().any(|&dim| dim < 0) {
        return Err(invalid(format!(
            "a tensor with the shape {old:?} cannot have the shape {:?}; the number of elements must stay, and at most one dimension may be -1",
            numbers(cx, shape, "new_shape")?
        )));
    }
    let flat = positions(cx, indices, &old)?;
    let flat = cx.reshape(flat, &[-1, 1])?;
    let (steps, sizes) = (cx.ints(&strides(&new)), cx.ints(&new));
    let f = Formula::new(cx);
    let y = f.node("Div", &[flat, steps], Attrs::new())?;
    let y = f.node("Mod", &[y, sizes], Attrs::new())?;
    let y = f.cast(y, dtype)?;
    let result = f.ints(&new);
    Ok(vec![y, f.cast(result, f.dtype(shape))?])
}

/// Counts values, or sums their weights, for each value below `size`; in rows by the owners of the values, if there are any.
fn bins(
    cx: &mut Cx,
    op: &Op<'_>,
    values: ValueId,
    owners: Option<(ValueId, i64)>,
    binary: bool,
) -> Answer {
    let size = constant_int(cx, op.input("size")?, "size")?;
    if size < 0 {
        return Err(invalid(format!(
            "its input size is {size}; it must not be negative"
        )));
    }
    let weights = op.input("weights")?;
    let (dtype, given) = (cx.ty(weights).dtype, cx.dims(weights)?);
    let all = cx.dims(values)?[0];
    let weights = if binary || given.iter().product::<i64>() == 0 {
        let (shape, one) = (cx.ints(&[all]), cx.number(1.0, weights)?);
        cx.one("Fill", &[shape, one], Attrs::new())?
    } else if given.iter().product::<i64>() == all {
        cx.reshape(weights, &[-1])?
    } else {
        return Err(invalid(format!(
            "its input weights has the shape {given:?}; it must have {all} elements, or none"
        )));
    };
    let f = Formula::new(cx);
    let values = f.cast(values, DataType::Int64)?;
    let inside = f.node(
        "LogicalAnd",
        &[f.above(values, -1.0)?, f.below(values, size as f64)?],
        Attrs::new(),
    )?;
    let (flat, count) = match owners {
        Some((owners, count)) => {
            let begin = f.times(f.cast(owners, DataType::Int64)?, size as f64)?;
            (f.add(begin, values)?, count)
        }
        None => (values, 1),
    };
    let ids = f.choose(inside, flat, f.number(-1.0, flat)?)?;
    let mut sums = summed(cx, weights, ids, count * size)?;
    if binary {
        let f = Formula::new(cx);
        sums = f.cast(f.above(sums, 0.0)?, dtype)?;
    }
    let dims = match owners {
        Some(_) => vec![count, size],
        None => vec![size],
    };
    Ok(vec![cx.reshape(sums, &dims)?])
}

/// Returns how many elements each segment has, at least 1, as a column beside rows of so many dimensions.
fn sizes(cx: &mut Cx, like: ValueId, ids: ValueId, count: i64) -> Result<ValueId, OpError> {
    let (all, rank) = (cx.dims(ids)?, cx.rank(like)?);
    let (shape, one) = (cx.ints(&all), cx.number(1.0, like)?);
    let ones = cx.one("Fill", &[shape, one], Attrs::new())?;
    let sizes = summed(cx, ones, ids, count)?;
    let sizes = cx.one("Maximum", &[sizes, one], Attrs::new())?;
    let mut dims = vec![1; rank];
    dims[0] = count;
    cx.reshape(sizes, &dims)
}

/// Returns a value in which sums are not rounded after each addition.
fn widened(cx: &mut Cx, x: ValueId) -> Result<ValueId, OpError> {
    match cx.ty(x).dtype {
        DataType::Float16 | DataType::BFloat16 => cx.cast(x, DataType::Float32),
        _ => Ok(x),
    }
}

/// Sums or means of chosen rows for each segment.
fn segments(cx: &mut Cx, op: &Op<'_>, mean: bool) -> Answer {
    let (x, indices, ids) = (
        op.input("x")?,
        op.input("indices")?,
        op.input("segment_ids")?,
    );
    let dtype = cx.ty(x).dtype;
    let list = numbers(cx, ids, "segment_ids")?;
    if list.first().is_some_and(|&first| first < 0) || list.windows(2).any(|two| two[0] > two[1]) {
        return Err(invalid(format!(
            "its input segment_ids is {list:?}; the ids must ascend from 0"
        )));
    }
    let count = list.last().map_or(0, |last| last + 1);
    let chosen = take_rows(cx, x, indices)?;
    let chosen = widened(cx, chosen)?;
    let mut y = summed(cx, chosen, ids, count)?;
    if mean {
        let sizes = sizes(cx, chosen, ids, count)?;
        y = cx.one("RealDiv", &[y, sizes], Attrs::new())?;
    }
    Ok(vec![cx.cast(y, dtype)?])
}

/// Returns the gradient of the rows that segments were made of.
fn segments_gradient(cx: &mut Cx, op: &Op<'_>, name: &str, mean: bool) -> Answer {
    let (grad, indices, ids) = (
        op.input(name)?,
        op.input("indices")?,
        op.input("segment_ids")?,
    );
    let dtype = cx.ty(grad).dtype;
    let count = constant_int(cx, op.input("output_dim0")?, "output_dim0")?;
    if count < 0 {
        return Err(invalid(format!(
            "its input output_dim0 is {count}; it must not be negative"
        )));
    }
    let mut grad = widened(cx, grad)?;
    if mean {
        let all = cx.dims(grad)?[0];
        let sizes = sizes(cx, grad, ids, all)?;
        grad = cx.one("RealDiv", &[grad, sizes], Attrs::new())?;
    }
    let each = take_rows(cx, grad, ids)?;
    let y = summed(cx, each, indices, count)?;
    Ok(vec![cx.cast(y, dtype)?])
}
