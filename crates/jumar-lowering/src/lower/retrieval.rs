//! The nearest entries of lists that are searched in parts.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("InplaceTopKDistance", merged),
    ("TopKPQDistance", nearest_of_lists),
    ("TopKPQDistanceV2", |cx, op| {
        let (x, count) = (op.input("pq_distance")?, op.int("k")?);
        let (values, index) = first(cx, op, x, count)?;
        Ok(vec![values, cx.cast(index, DataType::Int32)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Returns whether the largest entries come first.
fn descending(op: &Op<'_>) -> Result<bool, OpError> {
    let order = op.text("order")?;
    match order.to_ascii_uppercase().as_str() {
        "ASC" => Ok(false),
        "DES" | "DESC" => Ok(true),
        _ => Err(invalid(format!(
            "its attribute order is {order:?}; it must be ASC or DES"
        ))),
    }
}

/// Returns the first entries of the last axis in the order of the attribute, and where they were.
fn first(cx: &mut Cx, op: &Op<'_>, x: ValueId, count: i64) -> Result<(ValueId, ValueId), OpError> {
    let most = cx.dims(x)?.last().copied().unwrap_or(0);
    if !(1..=most).contains(&count) {
        return Err(invalid(format!(
            "it is to find {count} of {most} distances; it must be 1 to {most}"
        )));
    }
    let attrs = Attrs::new()
        .with("sorted", true)
        .with("dim", -1i64)
        .with("largest", descending(op)?);
    let count = cx.ints(&[count]);
    let all = cx.add_node("TopK", &[Some(x), Some(count)], attrs, 2)?;
    Ok((all[0], all[1]))
}

fn joined(cx: &mut Cx, parts: &[ValueId]) -> Result<ValueId, OpError> {
    let attrs = Attrs::new()
        .with("concat_dim", 0i64)
        .with("N", parts.len() as i64);
    cx.one("ConcatD", parts, attrs)
}

/// Returns a value for each of `count` entries: its own, or one for all.
fn spread(cx: &mut Cx, x: ValueId, count: i64, name: &str) -> Result<ValueId, OpError> {
    let dims = cx.dims(x)?;
    let own: i64 = dims.iter().product();
    if own != count && own != 1 {
        return Err(invalid(format!(
            "its input {name} has the shape {dims:?}; 1 number or {count} are required"
        )));
    }
    let x = cx.reshape(x, &[-1])?;
    let shape = cx.ints(&[count]);
    cx.one("Expand", &[x, shape], Attrs::new())
}

/// Chooses among the entries of several lists, of each of which only so many count.
fn nearest_of_lists(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let names = ["actual_count", "pq_distance", "pq_ivf", "pq_index"];
    let mut lists = Vec::with_capacity(4);
    for name in names {
        lists.push(op.list(name)?);
    }
    let count = lists[1].len();
    if count == 0 || lists.iter().any(|list| list.len() != count) {
        let found: Vec<usize> = lists.iter().map(Vec::len).collect();
        return Err(invalid(format!(
            "its inputs {} have {found:?} tensors; they must have equally many, and 1 at least",
            names.join(", ")
        )));
    }
    let worst = match descending(op)? {
        true => f64::NEG_INFINITY,
        false => f64::INFINITY,
    };
    let (mut distances, mut buckets, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for (at, &distance) in lists[1].iter().enumerate() {
        let distance = cx.reshape(distance, &[-1])?;
        let len = cx.dims(distance)?[0];
        let numbers: Vec<i64> = (0..len).collect();
        let numbers = cx.ints(&numbers);
        let limit = spread(cx, lists[0][at], 1, "actual_count")?;
        let f = Formula::new(cx);
        let counts = f.less(numbers, f.cast(limit, DataType::Int64)?)?;
        distances.push(f.choose(counts, distance, f.number(worst, distance)?)?);
        buckets.push(spread(cx, lists[2][at], len, "pq_ivf")?);
        indices.push(spread(cx, lists[3][at], len, "pq_index")?);
    }
    let distances = joined(cx, &distances)?;
    let (values, positions) = first(cx, op, distances, op.int("k")?)?;
    let mut answer = vec![values];
    for list in [buckets, indices] {
        let list = joined(cx, &list)?;
        answer.push(super::index::take_rows(cx, list, positions)?);
    }
    Ok(answer)
}

/// Merges new distances into those found before, which are replaced by the first of both.
fn merged(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (old, new) = (op.input("topk_pq_distance")?, op.input("pq_distance")?);
    let (kept, added) = (cx.dims(old)?, cx.dims(new)?);
    if kept.len() != 1 || added.len() != 1 {
        return Err(invalid(format!(
            "its inputs topk_pq_distance and pq_distance have the shapes {kept:?} and {added:?}; vectors are required"
        )));
    }
    let distances = joined(cx, &[old, new])?;
    let (values, positions) = first(cx, op, distances, kept[0])?;
    let mut updated = vec![("topk_pq_distance", values)];
    for (name, own) in [("topk_pq_index", "pq_index"), ("topk_pq_ivf", "pq_ivf")] {
        let old = spread(cx, op.input(name)?, kept[0], name)?;
        let new = spread(cx, op.input(own)?, added[0], own)?;
        let all = joined(cx, &[old, new])?;
        updated.push((name, super::index::take_rows(cx, all, positions)?));
    }
    for (name, value) in updated {
        write_or_pass(cx, op, name, value)?;
    }
    Ok(Vec::new())
}

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "InplaceTopKDistance" => &["topk_pq_distance", "topk_pq_index", "topk_pq_ivf"],
        _ => &[],
    }
}
