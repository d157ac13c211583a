//! Parts of tensors by numbers of parts, their inverses, and comparisons of neighbours.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::image::columns;
use super::index::{owners, rows, scattered, take_rows};
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AddRowRanges", add_row_ranges),
    ("AdjacentDifference", adjacent_difference),
    ("BroadcastGradientArgs", broadcast_axes),
    ("DataCompare", |cx, op| {
        let (atol, rtol) = (f64::from(op.float("atol")?), f64::from(op.float("rtol")?));
        let values = [op.input("x1")?, op.input("x2")?];
        let f = Formula::new(cx);
        let a = f.cast(values[0], DataType::Float64)?;
        let b = f.cast(values[1], DataType::Float64)?;
        let limit = f.plus(f.times(f.of("Abs", b)?, rtol)?, atol)?;
        let far = f.greater(f.of("Abs", f.sub(a, b)?)?, limit)?;
        let count = f.sum(f.cast(far, DataType::Float64)?, &[], false)?;
        Ok(vec![f.cast(count, DataType::Float32)?])
    }),
    ("DynamicPartition", dynamic_partition),
    ("DynamicStitch", dynamic_stitch),
    ("FeedsRepeat", feeds_repeat),
    ("ForeachAddcmulList", |cx, op| {
        let (first, second, third) = (op.list("x1")?, op.list("x2")?, op.list("x3")?);
        let count = first.len();
        if second.len() != count || third.len() != count {
            return Err(invalid(format!(
                "its lists x1, x2 and x3 have {count}, {} and {} tensors; they must have the same number",
                second.len(),
                third.len()
            )));
        }
        let scalars = cx.reshape(op.input("scalars")?, &[-1])?;
        if cx.dims(scalars)? != [count as i64] {
            return Err(invalid(format!(
                "its input scalars has the shape {:?}; {count} numbers are required",
                cx.dims(scalars)?
            )));
        }
        let mut sums = Vec::with_capacity(count);
        for (at, (a, (b, c))) in (0..).zip(first.into_iter().zip(second.into_iter().zip(third))) {
            let factor = rows(cx, scalars, at, at + 1)?;
            let factor = cx.reshape(factor, &[])?;
            let f = Formula::new(cx);
            let [a, b, c, factor] = f.promoted([a, b, c, factor])?;
            sums.push(f.add(a, f.mul(f.mul(b, c)?, factor)?)?);
        }
        Ok(sums)
    }),
    ("ForeachBinaryOp", |cx, op| {
        let (first, second) = (op.list("x1")?, op.list("x2")?);
        if first.len() != second.len() {
            return Err(invalid(format!(
                "its lists x1 and x2 have {} and {} tensors; they must have the same number",
                first.len(),
                second.len()
            )));
        }
        let code = op.int("op_code")?;
        let name = match code {
            0 => "Add",
            1 => "Sub",
            2 => "Mul",
            3 => "Div",
            other => {
                return Err(invalid(format!(
                    "its attribute op_code is {other}; it must be 0 (add), 1 (sub), 2 (mul) or 3 (div)"
                )));
            }
        };
        let f = Formula::new(cx);
        first
            .into_iter()
            .zip(second)
            .map(|(a, b)| f.node(name, &f.promoted([a, b])?, Attrs::new()))
            .collect()
    }),
    ("GetDynamicDims", dynamic_dims),
    ("StrideAdd", |cx, op| {
        let length = op.int("c1_len")?;
        let mut parts = Vec::with_capacity(2);
        for (name, offset) in [("x1", "x1_c1_offset"), ("x2", "x2_c1_offset")] {
            let (x, from) = (op.input(name)?, op.int(offset)?);
            let dims = cx.dims(x)?;
            let fits = dims.len() == 5 && from >= 0 && length > 0 && from + length <= dims[1];
            if !fits {
                return Err(invalid(format!(
                    "its input {name} has the shape {dims:?}; 5 dimensions are required, of which the second one holds {length} blocks from {from} on"
                )));
            }
            parts.push(columns(cx, x, from, from + length)?);
        }
        cx.promote(&mut parts)?;
        Ok(vec![cx.one("Add", &parts, Attrs::new())?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Joins values along the first axis.
fn joined(cx: &mut Cx, values: &[ValueId]) -> Result<ValueId, OpError> {
    let attrs = Attrs::new()
        .with("concat_dim", 0i64)
        .with("N", values.len() as i64);
    cx.one("ConcatD", values, attrs)
}

/// Returns a tensor of zeros.
fn zeros(cx: &mut Cx, dims: &[i64], like: ValueId) -> Result<ValueId, OpError> {
    let (shape, zero) = (cx.ints(dims), cx.number(0.0, like)?);
    cx.one("Fill", &[shape, zero], Attrs::new())
}

/// Adds to each row the sum of the rows of another matrix from a first one up to a last one. The sums are differences of two
/// sums from the first row on, in float64.
fn add_row_ranges(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, src, indices) = (op.input("x")?, op.input("src")?, op.input("indices")?);
    let (own, other, pairs) = (cx.dims(x)?, cx.dims(src)?, cx.dims(indices)?);
    let fits = own.len() == 2 && other.len() == 2 && own[1] == other[1] && pairs == [own[0], 2];
    if !fits {
        return Err(invalid(format!(
            "its inputs x, src and indices have the shapes {own:?}, {other:?} and {pairs:?}; [M, N], [K, N] and [M, 2] are required"
        )));
    }
    let axis = cx.add_constant(Tensor::scalar(DataType::Int64, 0.0)?);
    let wide = cx.cast(src, DataType::Float64)?;
    let sums = cx.one("Cumsum", &[wide, axis], Attrs::new())?;
    let nothing = zeros(cx, &[1, own[1]], sums)?;
    let sums = joined(cx, &[nothing, sums])?;
    let mut bounds = Vec::with_capacity(2);
    for at in [0, 1] {
        let bound = columns(cx, indices, at, at + 1)?;
        bounds.push(cx.reshape(bound, &[-1])?);
    }
    // An empty range is from 0 to 0.
    let f = Formula::new(cx);
    let ordered = f.less(bounds[0], bounds[1])?;
    let begun = f.above(bounds[0], -1.0)?;
    let some = f.node("LogicalAnd", &[ordered, begun], Attrs::new())?;
    let bounds = [f.only(some, bounds[0])?, f.only(some, bounds[1])?];
    let before = take_rows(cx, sums, bounds[0])?;
    let until = take_rows(cx, sums, bounds[1])?;
    let f = Formula::new(cx);
    let sum = f.sub(until, before)?;
    let new = f.add(f.cast(x, DataType::Float64)?, sum)?;
    write_or_pass(cx, op, "x", new)
}

/// Marks elements that differ from the one before, in the order of memory; the first one is not marked.
fn adjacent_difference(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, dtype) = (op.input("x")?, op.dtype("y_dtype")?);
    let dims = cx.dims(x)?;
    let count: i64 = dims.iter().product();
    let flat = cx.reshape(x, &[-1])?;
    let marks = if count > 1 {
        let (now, before) = (rows(cx, flat, 1, count)?, rows(cx, flat, 0, count - 1)?);
        let marks = cx.one("NotEqual", &[now, before], Attrs::new())?;
        let marks = cx.cast(marks, dtype)?;
        let first = zeros(cx, &[1], marks)?;
        joined(cx, &[first, marks])?
    } else {
        let marks = cx.cast(flat, dtype)?;
        zeros(cx, &[count], marks)?
    };
    Ok(vec![cx.reshape(marks, &dims)?])
}

/// Returns the axes over which the gradients of two broadcast tensors are summed, by their shapes.
fn broadcast_axes(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let both = [op.input("x1")?, op.input("x2")?];
    let dtype = cx.ty(both[0]).dtype;
    let mut ranks = Vec::with_capacity(2);
    for shape in both {
        match cx.dims(shape)?[..] {
            [rank] => ranks.push(rank),
            ref other => {
                return Err(invalid(format!(
                    "its inputs are shapes and must have 1 dimension; one has {}",
                    other.len()
                )));
            }
        }
    }
    let rank = ranks[0].max(ranks[1]);
    let axes: Vec<i64> = (0..rank).collect();
    let axes = cx.ints(&axes);
    let axes = cx.cast(axes, dtype)?;
    let mut found = Vec::with_capacity(2);
    for (shape, own) in both.into_iter().zip(ranks) {
        let one = cx.number(1.0, shape)?;
        let mut shape = shape;
        if own < rank {
            let missing = cx.ints(&[rank - own]);
            let ones = cx.one("Fill", &[missing, one], Attrs::new())?;
            shape = joined(cx, &[ones, shape])?;
        }
        let summed = cx.one("Equal", &[shape, one], Attrs::new())?;
        let attrs = Attrs::new().with("axis", 0i64);
        found.push(cx.one("jumar.Compress", &[axes, summed], attrs)?);
    }
    Ok(found)
}

/// Puts rows into as many tensors as there are partitions, by the number of each row's partition.
fn dynamic_partition(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, partitions) = (op.input("x")?, op.input("partitions")?);
    let count = op.int("num_partitions")?;
    if count < 1 || count as usize != op.outputs() {
        return Err(invalid(format!(
            "its attribute num_partitions is {count}, and it has {} outputs; they must agree, and be 1 at least",
            op.outputs()
        )));
    }
    let (dims, own) = (cx.dims(x)?, cx.dims(partitions)?);
    let rest = dims
        .strip_prefix(&own[..])
        .ok_or_else(|| {
            invalid(format!(
                "its inputs x and partitions have the shapes {dims:?} and {own:?}; the first must begin with the second"
            ))
        })?
        .to_vec();
    let total: i64 = own.iter().product();
    let x = cx.reshape(x, &[&[total], &rest[..]].concat())?;
    let partitions = cx.reshape(partitions, &[-1])?;
    (0..count)
        .map(|number| {
            let number = cx.number(number as f64, partitions)?;
            let chosen = cx.one("Equal", &[partitions, number], Attrs::new())?;
            let attrs = Attrs::new().with("axis", 0i64);
            cx.one("jumar.Compress", &[x, chosen], attrs)
        })
        .collect()
}

/// Puts the rows of several tensors at the positions that they name; of several for one position, the last one stays.
fn dynamic_stitch(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (indices, data) = (op.list("indices")?, op.list("x")?);
    if indices.len() != data.len() || indices.is_empty() {
        return Err(invalid(format!(
            "it has {} inputs indices and {} inputs x; there must be as many, and at least one",
            indices.len(),
            data.len()
        )));
    }
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    let mut rest: Option<Vec<i64>> = None;
    for (index, value) in indices.into_iter().zip(data) {
        let (own, dims) = (cx.dims(index)?, cx.dims(value)?);
        let tail = dims.strip_prefix(&own[..]).map(<[i64]>::to_vec);
        let fits = tail.is_some() && (rest.is_none() || rest == tail);
        if !fits {
            return Err(invalid(format!(
                "one of its inputs indices has the shape {own:?} and its input x {dims:?}; x must begin with the shape of indices and continue as the others do"
            )));
        }
        let tail = rest.insert(tail.unwrap_or_default());
        let shape = [&[own.iter().product()], &tail[..]].concat();
        values.push(cx.reshape(value, &shape)?);
        positions.push(cx.reshape(index, &[-1])?);
    }
    let rest = rest.unwrap_or_default();
    let positions = joined(cx, &positions)?;
    cx.promote(&mut values)?;
    let values = joined(cx, &values)?;
    let axis = cx.ints(&[0]);
    let attrs = Attrs::new().with("keep_dims", true);
    let last = cx.one("ReduceMax", &[positions, axis], attrs)?;
    let last = cx.cast(last, DataType::Int64)?;
    let one = cx.ints(&[1]);
    let count = cx.one("Add", &[last, one], Attrs::new())?;
    let mut shape = count;
    if !rest.is_empty() {
        let tail = cx.ints(&rest);
        shape = joined(cx, &[count, tail])?;
    }
    let zero = cx.number(0.0, values)?;
    let empty = cx.one("Fill", &[shape, zero], Attrs::new())?;
    Ok(vec![scattered(cx, empty, positions, values, "none")?])
}

/// Repeats rows, each as often as it says, and adds rows of zeros behind them.
fn feeds_repeat(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (feeds, times) = (op.input("feeds")?, op.input("feeds_repeat_times")?);
    let size = op.int("output_feeds_size")?;
    let (dims, counts) = (cx.dims(feeds)?, cx.dims(times)?);
    let Some((&count, rest)) = dims.split_first() else {
        return Err(invalid(
            "its input feeds has no dimensions; 1 at least is required",
        ));
    };
    if counts != [count] || size < 0 {
        return Err(invalid(format!(
            "its input feeds has {count} rows, feeds_repeat_times the shape {counts:?}, and output_feeds_size is {size}; a number for each row is required, and a size that is not negative"
        )));
    }
    let times = cx.cast(times, DataType::Int64)?;
    if let Some(list) = cx.constant(times).and_then(Tensor::ints) {
        let total: i64 = list.iter().sum();
        if total > size || list.iter().any(|&times| times < 0) {
            return Err(invalid(format!(
                "its input feeds_repeat_times is {list:?}, and output_feeds_size {size}; the times may not be negative, nor together more than that"
            )));
        }
    }
    let axis = cx.add_constant(Tensor::scalar(DataType::Int64, 0.0)?);
    let ends = cx.one("Cumsum", &[times, axis], Attrs::new())?;
    let sources = owners(cx, ends, size)?;
    let nothing = zeros(cx, &[&[1], rest].concat(), feeds)?;
    let all = joined(cx, &[feeds, nothing])?;
    Ok(vec![take_rows(cx, all, sources)?])
}

/// Returns the entries of shapes that were open when the graph was built.
fn dynamic_dims(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let shapes = op.list("input")?;
    let (count, mut info) = (op.int("N")?, op.ints("shape_info")?);
    if count != shapes.len() as i64 {
        return Err(invalid(format!(
            "its attribute N is {count}, and it has {} inputs",
            shapes.len()
        )));
    }
    let wrong = || {
        invalid(format!(
            "its attribute shape_info is {:?}; for each of {count} inputs it must have the number of entries, and then the entries",
            op.ints("shape_info").unwrap_or_default()
        ))
    };
    let mut found = Vec::new();
    for shape in shapes {
        let (&rank, rest) = info.split_first().ok_or_else(wrong)?;
        let rank = usize::try_from(rank).map_err(|_| wrong())?;
        let (dims, rest) = rest.split_at_checked(rank).ok_or_else(wrong)?;
        if cx.dims(shape)? != [rank as i64] {
            return Err(wrong());
        }
        for at in (0..rank).filter(|&at| dims[at] == -1) {
            found.push(rows(cx, shape, at as i64, at as i64 + 1)?);
        }
        info = rest;
    }
    if !info.is_empty() || found.is_empty() {
        return Err(wrong());
    }
    cx.promote(&mut found)?;
    Ok(vec![joined(cx, &found)?])
}
