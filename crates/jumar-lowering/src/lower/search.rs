//! Searching, counting and choosing by value, and scatters that reduce.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::formula::{Formula, of};
use super::index::scattered;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AsStrided", as_strided),
    ("Bucketize", |cx, op| {
        let x = op.input("x")?;
        let boundaries = match op.node.attrs.get("boundaries") {
            Some(super::Value::Floats(list)) => Tensor::from_floats(list),
            _ => {
                return Err(invalid(
                    "its attribute boundaries has to be a list of numbers",
                ));
            }
        };
        let boundaries = cx.add_constant(boundaries);
        let dtype = op.dtype("dtype")?;
        buckets(cx, boundaries, x, op.yes("right")?, dtype)
    }),
    ("BucketizeV2", |cx, op| {
        let (x, boundaries) = (op.input("x")?, op.input("boundaries")?);
        let dtype = if op.yes("out_int32")? {
            DataType::Int32
        } else {
            DataType::Int64
        };
        buckets(cx, boundaries, x, op.yes("right")?, dtype)
    }),
    ("CaseCondition", |cx, op| {
        let algorithm = op.text("algorithm")?;
        if algorithm != "LU" {
            return Err(invalid(format!(
                "its attribute algorithm is {algorithm}; it must be LU"
            )));
        }
        let x = op.input("x")?;
        if cx.dims(x)? != [3] {
            return Err(invalid(format!(
                "its input x has the shape {:?}; 3 numbers are required",
                cx.dims(x)?
            )));
        }
        let f = Formula::new(cx);
        let entry = |at: i64| {
            let inputs = [
                x,
                super::formula::scalar(&f, at)?,
                super::formula::scalar(&f, 0)?,
            ];
            f.node("GatherV2", &inputs, Attrs::new())
        };
        let (i, j, k) = (entry(0)?, entry(1)?, entry(2)?);
        let both = |a, b| f.node("LogicalAnd", &[a, b], Attrs::new());
        let (row, column) = (
            [f.equal(i, k)?, f.greater(i, k)?],
            [f.equal(j, k)?, f.greater(j, k)?],
        );
        let from = f.of("LogicalNot", f.less(i, k)?)?;
        let cases = [
            both(from, f.less(j, k)?)?,
            both(row[0], column[0])?,
            both(row[1], column[0])?,
            both(row[0], column[1])?,
            both(row[1], column[1])?,
        ];
        let number = |value: i64| f.cast(super::formula::scalar(&f, value)?, DataType::Int32);
        let mut y = number(5)?;
        for (index, holds) in cases.into_iter().enumerate().rev() {
            y = f.choose(holds, number(index as i64)?, y)?;
        }
        Ok(vec![y])
    }),
    ("CompareAndBitpack", |cx, op| {
        of(cx, op, ["x", "threshold"], |f, [x, limit]| {
            let mut dims = f.dims(x)?;
            match dims.last_mut() {
                Some(last) if *last % 8 == 0 => *last /= 8,
                _ => {
                    return Err(invalid(
                        "the last dimension of its input x has to be a multiple of 8",
                    ));
                }
            }
            // The first of eight is the highest bit.
            let bits = f.cast(f.greater(x, limit)?, DataType::Int32)?;
            let bits = f.reshape(bits, &[&dims[..], &[8]].concat())?;
            let weights = f.cast(f.ints(&[128, 64, 32, 16, 8, 4, 2, 1]), DataType::Int32)?;
            let sum = f.sum(f.mul(bits, weights)?, &[-1], false)?;
            Ok(vec![f.cast(sum, DataType::UInt8)?])
        })
    }),
    ("Cross", |cx, op| {
        let dim = op.int("dim")?;
        of(cx, op, ["x1", "x2"], |f, [a, b]| cross(f, a, b, dim))
    }),
    ("CumulativeLogsumexp", |cx, op| {
        let axis = constant_int(cx, op.input("axis")?, "axis")?;
        let attrs = op.attrs_for("CumulativeLogsumexp")?;
        let inputs = [op.input("x")?, cx.ints(&[axis])];
        Ok(vec![cx.one("CumulativeLogsumexp", &inputs, attrs)?])
    }),
    ("DataFormatDimMap", |cx, op| {
        let (source, target) = (op.text("src_format")?, op.text("dst_format")?);
        let map: Option<Vec<i64>> = source
            .chars()
            .map(|axis| target.find(axis).map(|at| at as i64))
            .collect();
        let map = map.filter(|map| map.len() == target.len() && !map.is_empty()).ok_or_else(|| {
            invalid(format!("its attributes src_format {source} and dst_format {target} have to name the same axes"))
        })?;
        let x = op.input("x")?;
        let count = cx.number(map.len() as f64, x)?;
        let dtype = cx.ty(x).dtype;
        let f = Formula::new(cx);
        let at = f.node("FloorMod", &[x, count], Attrs::new())?;
        let table = f.cast(f.ints(&map), dtype)?;
        Ok(vec![take(&f, table, at, 0)?])
    }),
    ("EmbeddingLookup", |cx, op| {
        let (table, indices) = (op.input("param")?, op.input("indices")?);
        let rank = cx.rank(indices)?;
        let dims = cx.dims(table)?;
        let Some((&count, row)) = dims.split_first() else {
            return Err(invalid("its input param is a scalar; rows are required"));
        };
        let offset = op.input("offset")?;
        let f = Formula::new(cx);
        let at = f.cast(indices, DataType::Int64)?;
        let at = f.sub(at, f.reshape(f.cast(offset, DataType::Int64)?, &[])?)?;
        // What lies outside of the part of a table is another device's: 0.
        let outside = f.node(
            "LogicalOr",
            &[f.below(at, 0.0)?, f.above(at, (count - 1) as f64)?],
            Attrs::new(),
        )?;
        let rows = take(&f, table, f.only(f.of("LogicalNot", outside)?, at)?, 0)?;
        let mut shape = f.dims(indices)?;
        shape.resize(rank + row.len(), 1);
        let outside = f.reshape(outside, &shape)?;
        Ok(vec![f.choose(outside, f.number(0.0, rows)?, rows)?])
    }),
    ("FillV2", |cx, op| {
        let value = cx.add_constant(Tensor::from_floats(&[op.float("value")?]));
        let value = cx.reshape(value, &[])?;
        Ok(vec![cx.one(
            "Fill",
            &[op.input("dims")?, value],
            Attrs::new(),
        )?])
    }),
    ("GetShape", |cx, op| {
        let attrs = || Attrs::new().with("dtype", i64::from(DataType::Int32.acl()));
        let mut shapes = Vec::new();
        for x in op.list("x")? {
            shapes.push(Some(cx.one("Shape", &[x], attrs())?));
        }
        cx.add_node("ConcatD", &shapes, Attrs::new().with("concat_dim", 0i64), 1)
    }),
    ("Histogram", |cx, op| {
        let bins = op.int("bins")?;
        let (low, high) = (op.float("min")?, op.float("max")?);
        let x = op.input("x")?;
        let described = op.node.outputs.first().map(|output| output.desc.dtype);
        let dtype = match described.and_then(DataType::from_acl) {
            Some(dtype) if DataType::from_acl(0) != Some(dtype) => dtype,
            _ if cx.ty(x).dtype.is_integer() => cx.ty(x).dtype,
            _ => DataType::Float32,
        };
        let f = Formula::new(cx);
        let x = f.cast(x, DataType::Float64)?;
        let bound = |value: f32| f.number(f64::from(value), x);
        binned(&f, x, (bound(low)?, bound(high)?), bins, dtype)
    }),
    ("HistogramFixedWidth", |cx, op| {
        let bins = constant_int(cx, op.input("nbins")?, "nbins")?;
        let dtype = op.dtype("dtype")?;
        of(cx, op, ["x", "range"], |f, [x, range]| {
            let (low, high) = (item(f, range, 0)?, item(f, range, 1)?);
            let at = f.div(f.sub(x, low)?, f.sub(high, low)?)?;
            let at = f.of("Floor", f.times(at, bins as f64)?)?;
            Ok(vec![histogram(f, at, bins, None, dtype)?])
        })
    }),
    ("HistogramV2", |cx, op| {
        let bins = op.int("bins")?;
        of(cx, op, ["x", "min", "max"], |f, [x, low, high]| {
            let (low, high) = (f.reshape(low, &[])?, f.reshape(high, &[])?);
            binned(f, x, (low, high), bins, DataType::Int32)
        })
    }),
    ("InplaceAdd", |cx, op| change_rows(cx, op, false)),
    ("InplaceAddD", |cx, op| change_rows(cx, op, false)),
    ("InplaceSub", |cx, op| change_rows(cx, op, true)),
    ("InplaceSubD", |cx, op| change_rows(cx, op, true)),
    ("InvertPermutation", |cx, op| {
        let x = op.input("x")?;
        let count = match cx.dims(x)?[..] {
            [count] => count,
            _ => return Err(invalid("its input x has to have one dimension")),
        };
        let dtype = cx.ty(x).dtype;
        let order: Vec<i64> = (0..count).collect();
        let order = cx.ints(&order);
        let order = cx.cast(order, dtype)?;
        // Each index is there once, so that nothing of the order stays.
        Ok(vec![scattered(cx, order, x, order, "none")?])
    }),
    ("PopulationCount", |cx, op| {
        let x = op.input("x")?;
        let wide = match cx.ty(x).dtype {
            DataType::Int16 | DataType::UInt16 => DataType::UInt16,
            other => {
                return Err(unsupported(format!(
                    "it counts the bits of int16 and uint16, and x is {other}"
                )));
            }
        };
        let f = Formula::new(cx);
        let bits = f.cast(f.cast(x, wide)?, DataType::UInt32)?;
        let mut sum = None;
        for at in 0..16 {
            let moved = f.node(
                "RightShift",
                &[bits, f.number(f64::from(at), bits)?],
                Attrs::new(),
            )?;
            let bit = f.node("BitwiseAnd", &[moved, f.number(1.0, bits)?], Attrs::new())?;
            sum = Some(match sum {
                Some(sum) => f.add(sum, bit)?,
                None => bit,
            });
        }
        let sum = sum.ok_or_else(|| invalid("it has no bits"))?;
        Ok(vec![f.cast(sum, DataType::UInt8)?])
    }),
    ("SearchSorted", |cx, op| {
        if op.maybe("sorter").is_some() {
            return Err(unsupported(
                "its input sorter is not supported: sort the sequence before",
            ));
        }
        let (mut both, dtype) = (
            [op.input("sorted_sequence")?, op.input("values")?],
            op.dtype("dtype")?,
        );
        cx.promote(&mut both)?;
        let right = op.yes("right")?;
        let f = Formula::new(cx);
        let [sequence, values] = both;
        let sequence = if f.rank(sequence)? == 1 {
            sequence
        } else {
            // Row by row.
            f.node(
                "Unsqueeze",
                &[sequence],
                Attrs::new().with("axes", vec![-2i64]),
            )?
        };
        Ok(vec![counted(&f, sequence, values, right, dtype)?])
    }),
    ("SliceLastDim", |cx, op| {
        let lists =
            [op.int("start")?, op.int("end")?, -1, op.int("stride")?].map(|one| cx.ints(&[one]));
        let x = op.input("x")?;
        let inputs: Vec<_> = std::iter::once(x).chain(lists).map(Some).collect();
        cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)
    }),
    ("SortWithIndex", |cx, op| {
        let (x, index, axis) = (op.input("x")?, op.input("index")?, op.int("axis")?);
        let dims = cx.dims(x)?;
        let at = if axis < 0 {
            axis + dims.len() as i64
        } else {
            axis
        };
        let count = usize::try_from(at)
            .ok()
            .and_then(|at| dims.get(at).copied())
            .ok_or_else(|| {
                invalid(format!(
                    "its attribute axis is {axis}, and its input has {} dimensions",
                    dims.len()
                ))
            })?;
        let attrs = Attrs::new()
            .with("sorted", true)
            .with("dim", axis)
            .with("largest", op.yes("descending")?);
        let count = cx.ints(&[count]);
        let sorted = cx.add_node("TopK", &[Some(x), Some(count)], attrs, 2)?;
        let inputs = [index, sorted[1]];
        let index = cx.one("GatherElements", &inputs, Attrs::new().with("dim", axis))?;
        Ok(vec![sorted[0], index])
    }),
    ("SparseToDense", |cx, op| {
        let (indices, values) = (op.input("indices")?, op.input("values")?);
        let default = cx.reshape(op.input("default_value")?, &[])?;
        let dense = cx.one("Fill", &[op.input("output_shape")?, default], Attrs::new())?;
        let attrs = Attrs::new().with("reduction", "none");
        let indices = match cx.rank(indices)? {
            2 => indices,
            _ => cx.one(
                "Unsqueeze",
                &[indices],
                Attrs::new().with("axes", vec![-1i64]),
            )?,
        };
        let count = cx.dims(indices)?[0];
        let count = cx.ints(&[count]);
        let values = cx.one("Expand", &[values, count], Attrs::new())?;
        Ok(vec![cx.one(
            "TensorScatterUpdate",
            &[dense, indices, values],
            attrs,
        )?])
    }),
    ("SqueezeV2", |cx, op| {
        let attrs = Attrs::new().with("axis", op.ints("axis")?.to_vec());
        Ok(vec![cx.one("Squeeze", &[op.input("x")?], attrs)?])
    }),
    ("StridedSliceV3", |cx, op| {
        let inputs = [
            Some(op.input("x")?),
            Some(op.input("begin")?),
            Some(op.input("end")?),
            op.maybe("axes"),
            op.maybe("strides"),
        ];
        cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)
    }),
    ("TileWithAxis", |cx, op| {
        let (x, axis, tiles) = (op.input("x")?, op.int("axis")?, op.int("tiles")?);
        let mut times = vec![1; cx.rank(x)?];
        let at = if axis < 0 {
            axis + times.len() as i64
        } else {
            axis
        };
        let count = times.len();
        *usize::try_from(at)
            .ok()
            .and_then(|at| times.get_mut(at))
            .ok_or_else(|| {
                invalid(format!(
                    "its attribute axis is {axis}, and its input has {count} dimensions"
                ))
            })? = tiles;
        let times = cx.ints(&times);
        Ok(vec![cx.one("Tile", &[x, times], Attrs::new())?])
    }),
    ("UnsortedSegmentMax", |cx, op| {
        segments(cx, op, "max", f64::NEG_INFINITY)
    }),
    ("UnsortedSegmentMin", |cx, op| {
        segments(cx, op, "min", f64::INFINITY)
    }),
    ("UnsortedSegmentProd", |cx, op| segments(cx, op, "mul", 1.0)),
    ("UnsqueezeV2", |cx, op| {
        let attrs = Attrs::new().with("axes", op.ints("axis")?.to_vec());
        Ok(vec![cx.one("Unsqueeze", &[op.input("x")?], attrs)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Takes slices of `x` at indices along an axis.
fn take(f: &Formula<'_>, x: ValueId, indices: ValueId, axis: i64) -> Result<ValueId, OpError> {
    let axis = f.reshape(f.ints(&[axis]), &[])?;
    f.node(
        "GatherV2",
        &[x, indices, axis],
        Attrs::new().with("negative_index_support", false),
    )
}

/// Returns an element of a list.
fn item(f: &Formula<'_>, list: ValueId, at: i64) -> Result<ValueId, OpError> {
    take(f, list, f.reshape(f.ints(&[at]), &[])?, 0)
}

fn buckets(cx: &mut Cx, boundaries: ValueId, x: ValueId, right: bool, dtype: DataType) -> Answer {
    let mut both = [boundaries, x];
    cx.promote(&mut both)?;
    let f = Formula::new(cx);
    Ok(vec![counted(&f, both[0], both[1], right, dtype)?])
}

/// For each value, counts the elements of the sorted sequence below it, and those equal to it if `right`.
fn counted(
    f: &Formula<'_>,
    sequence: ValueId,
    values: ValueId,
    right: bool,
    dtype: DataType,
) -> Result<ValueId, OpError> {
    let values = f.node(
        "Unsqueeze",
        &[values],
        Attrs::new().with("axes", vec![-1i64]),
    )?;
    let before = if right {
        f.node("LessEqual", &[sequence, values], Attrs::new())?
    } else {
        f.less(sequence, values)?
    };
    f.sum(f.cast(before, dtype)?, &[-1], false)
}

/// Counts the elements in bins of one width between two bounds.
fn binned(
    f: &Formula<'_>,
    x: ValueId,
    (low, high): (ValueId, ValueId),
    bins: i64,
    dtype: DataType,
) -> Result<Vec<ValueId>, OpError> {
    // Equal bounds stand for those of the elements.
    let none = f.equal(low, high)?;
    let low = f.choose(none, f.reduce("ReduceMin", x, &[], false)?, low)?;
    let high = f.choose(none, f.reduce("ReduceMax", x, &[], false)?, high)?;
    // Equal elements lie in the middle.
    let none = f.equal(low, high)?;
    let low = f.choose(none, f.plus(low, -1.0)?, low)?;
    let high = f.choose(none, f.plus(high, 1.0)?, high)?;
    let outside = f.node(
        "LogicalOr",
        &[f.less(x, low)?, f.greater(x, high)?],
        Attrs::new(),
    )?;
    let inside = f.of("LogicalNot", outside)?;
    let x = f.cast(x, DataType::Float64)?;
    let (low, high) = (
        f.cast(low, DataType::Float64)?,
        f.cast(high, DataType::Float64)?,
    );
    let at = f.div(f.sub(x, low)?, f.sub(high, low)?)?;
    let at = f.of("Floor", f.times(at, bins as f64)?)?;
    Ok(vec![histogram(f, at, bins, Some(inside), dtype)?])
}

/// Adds to rows, or subtracts from them. The rows are an input, or an attribute.
fn change_rows(cx: &mut Cx, op: &Op<'_>, subtracts: bool) -> Result<Vec<ValueId>, OpError> {
    let (x, mut v) = (op.input("x")?, op.input("v")?);
    if subtracts {
        v = cx.one("Neg", &[v], Attrs::new())?;
    }
    let indices = match op.maybe("indices") {
        Some(indices) => indices,
        None => cx.ints(op.ints("indices")?),
    };
    Ok(vec![scattered(cx, x, indices, v, "add")?])
}

/// Counts how often each bin is named; a bin out of range counts for the nearest one.
fn histogram(
    f: &Formula<'_>,
    at: ValueId,
    bins: i64,
    counts: Option<ValueId>,
    dtype: DataType,
) -> Result<ValueId, OpError> {
    if !(1..=1 << 20).contains(&bins) {
        return Err(invalid(format!(
            "the number of bins is {bins}; it must be from 1 to {}",
            1 << 20
        )));
    }
    let last = f.number((bins - 1) as f64, at)?;
    let at = f.min(f.max(at, f.number(0.0, at)?)?, last)?;
    let at = f.reshape(f.cast(at, DataType::Int64)?, &[-1, 1])?;
    let zeros = f.node(
        "Fill",
        &[
            f.ints(&[bins]),
            f.number(0.0, f.cast(f.ints(&[0]), dtype)?)?,
        ],
        Attrs::new(),
    )?;
    let ones = match counts {
        Some(counts) => f.reshape(f.cast(counts, dtype)?, &[-1])?,
        None => {
            let flat = f.reshape(at, &[-1])?;
            f.cast(f.equal(flat, flat)?, dtype)?
        }
    };
    f.node(
        "TensorScatterUpdate",
        &[zeros, at, ones],
        Attrs::new().with("reduction", "add"),
    )
}

/// The product of vectors of three elements; the first axis of three without a stated one.
fn cross(f: &Formula<'_>, a: ValueId, b: ValueId, dim: i64) -> Answer {
    const UNSTATED: i64 = -65530;
    let dims = f.dims(a)?;
    let at = if dim == UNSTATED {
        dims.iter().position(|&dim| dim == 3)
    } else {
        let at = if dim < 0 {
            dim + dims.len() as i64
        } else {
            dim
        };
        usize::try_from(at)
            .ok()
            .filter(|&at| dims.get(at) == Some(&3))
    };
    let at = at.ok_or_else(|| {
        invalid(format!(
            "x1 is {dims:?}; the axis of the product has to have three elements"
        ))
    })? as i64;
    let turned = |x: ValueId, order: [i64; 3]| take(f, x, f.ints(&order), at);
    let first = f.mul(turned(a, [1, 2, 0])?, turned(b, [2, 0, 1])?)?;
    let second = f.mul(turned(a, [2, 0, 1])?, turned(b, [1, 2, 0])?)?;
    Ok(vec![f.sub(first, second)?])
}

/// A view by sizes and strides: the elements are taken by their indexes.
fn as_strided(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let size = numbers(cx, op.input("size")?, "size")?;
    let stride = numbers(cx, op.input("stride")?, "stride")?;
    let offset = match op.maybe("storage_offset") {
        Some(offset) => constant_int(cx, offset, "storage_offset")?,
        None => 0,
    };
    let x = op.input("x")?;
    let count: i64 = cx.dims(x)?.iter().product();
    if size.len() != stride.len() || size.iter().any(|&dim| dim < 0) {
        return Err(invalid(format!(
            "size {size:?} and stride {stride:?} do not belong together"
        )));
    }
    let mut indices = vec![offset];
    for (&dim, &step) in size.iter().zip(&stride) {
        indices = indices
            .iter()
            .flat_map(|&from| (0..dim).map(move |at| from.saturating_add(at.saturating_mul(step))))
            .collect();
    }
    if let Some(wrong) = indices.iter().find(|&&at| at < 0 || at >= count) {
        return Err(invalid(format!(
            "size {size:?}, stride {stride:?} and offset {offset} reach element {wrong}, and x has {count}"
        )));
    }
    let flat = cx.reshape(x, &[-1])?;
    let f = Formula::new(cx);
    let taken = take(&f, flat, f.ints(&indices), 0)?;
    Ok(vec![f.reshape(taken, &size)?])
}

/// Reduces the elements of each segment; ids outside of the segments are dropped.
fn segments(cx: &mut Cx, op: &Op<'_>, how: &'static str, start: f64) -> Answer {
    let (x, ids) = (op.input("x")?, op.input("segment_ids")?);
    let count = constant_int(cx, op.input("num_segments")?, "num_segments")?;
    let (own, rank) = (cx.dims(x)?, cx.rank(ids)?);
    let rest = own
        .get(rank..)
        .ok_or_else(|| invalid("segment_ids has more dimensions than x"))?
        .to_vec();
    let dtype = cx.ty(x).dtype;
    let start = match (start.is_infinite(), integer_bounds(dtype)) {
        (true, Some((low, high))) => {
            if start < 0.0 {
                low
            } else {
                high
            }
        }
        // A segment without elements has the last finite number.
        (true, None) => start.signum() * largest(dtype),
        (false, _) => start,
    };
    let (fill, ids) = {
        let f = Formula::new(cx);
        let fill = f.node(
            "Fill",
            &[
                f.ints(&[&[count + 1], &rest[..]].concat()),
                f.number(start, x)?,
            ],
            Attrs::new(),
        )?;
        let (least, end) = (f.number(0.0, ids)?, f.number(count as f64, ids)?);
        (fill, f.min(f.choose(f.less(ids, least)?, end, ids)?, end)?)
    };
    let all = scattered(cx, fill, ids, x, how)?;
    let (begin, end, axes) = (cx.ints(&[0]), cx.ints(&[count]), cx.ints(&[0]));
    let inputs = [Some(all), Some(begin), Some(end), Some(axes)];
    cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)
}

/// Returns the bounds of an integer type that float64 holds exactly.
fn integer_bounds(dtype: DataType) -> Option<(f64, f64)> {
    Some(match dtype {
        DataType::Int8 => (-128.0, 127.0),
        DataType::Int16 => (-32_768.0, 32_767.0),
        DataType::Int32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        DataType::UInt8 => (0.0, 255.0),
        DataType::UInt16 => (0.0, 65_535.0),
        _ => return None,
    })
}

/// Returns the largest finite number of a float type.
fn largest(dtype: DataType) -> f64 {
    match dtype {
        DataType::Float16 => 65_504.0,
        DataType::BFloat16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DataType::Float64 => f64::MAX,
        _ => f64::from(f32::MAX),
    }
}
