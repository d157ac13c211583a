//! Elements and rows that are written where one index tensor names.

use super::gather::{along, check_within, located};
use super::kernels::{Blocks, Update};
use super::{blocks, put, widened};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::Table;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static SCATTER: &Table = &[
    ("aclnnCoalesceSparse", coalesce),
    ("aclnnIndexAdd", index_add),
    ("aclnnIndexAddV2", index_add_v2),
    ("aclnnIndexFill", index_fill),
    ("aclnnIndexFillTensor", index_fill_by_list),
    ("aclnnInplaceIndexCopy", index_copy),
    ("aclnnInplaceIndexFill", index_fill),
    ("aclnnInplaceIndexFillTensor", index_fill_by_list),
    ("aclnnInplaceScatter", scatter),
    ("aclnnInplaceScatterValue", scatter_value),
    ("aclnnOneHot", one_hot),
    ("aclnnScatter", scatter),
    ("aclnnScatterAdd", scatter_add),
    ("aclnnScatterValue", scatter_value),
];

fn update(cx: &Cx<'_>) -> Result<Update, Refusal> {
    match cx.int("reduce")? {
        0 => Ok(Update::Set),
        1 => Ok(Update::Add),
        2 => Ok(Update::Multiply),
        other => Err(cx.invalid(format_args!(
            "reduce is {other}; it must be 0 (replace), 1 (add) or 2 (multiply)"
        ))),
    }
}

/// Returns the tensor, the index and the output, checked, and the dimension.
fn target(cx: &mut Cx<'_>) -> Result<(View, View, View, usize), Refusal> {
    let (x, index, out) = (cx.tensor_at(0)?, cx.tensor("index")?, cx.output()?);
    let index = widened(cx, index)?;
    cx.check_types(&index, &super::INDEX)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    Ok((x, index, out, axis))
}

fn scattered(cx: &mut Cx<'_>, update: Update) -> Result<(), Refusal> {
    let (x, index, out, axis) = target(cx)?;
    let source = cx.tensor("src")?;
    cx.check_dtype(&source, x.dtype())?;
    check_within(cx, &index, x.dims(), Some(axis), &cx.param_of(&x))?;
    check_within(cx, &index, source.dims(), None, "src")?;
    if index.is_empty() {
        return cx.copy(x, out);
    }
    let mut values = source;
    for (axis, &dim) in index.dims().iter().enumerate() {
        if axis < values.rank() {
            values = values.slice(axis, 0, dim, 1);
        }
    }
    let positions = along(cx, index, x.dims(), axis, false)?;
    let all = Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    };
    put(cx, x, (values, positions), (all, update), out)
}

fn scatter(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let update = update(cx)?;
    scattered(cx, update)
}

fn scatter_add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    scattered(cx, Update::Add)
}

/// Returns a tensor that holds one value.
fn filled(cx: &mut Cx<'_>, value: Scalar, like: &View, dims: &[usize]) -> Result<View, Refusal> {
    let values = cx.temporary(like.dtype(), dims)?;
    cx.fill(value, values)?;
    Ok(values)
}

fn scatter_value(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out, axis) = target(cx)?;
    let (value, update) = (cx.scalar("value")?, update(cx)?);
    check_within(cx, &index, x.dims(), Some(axis), &cx.param_of(&x))?;
    if index.is_empty() {
        return cx.copy(x, out);
    }
    let values = filled(cx, value, &x, index.dims())?;
    let positions = along(cx, index, x.dims(), axis, false)?;
    let all = Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    };
    put(cx, x, (values, positions), (all, update), out)
}

/// Returns the index as one dimension, and the shape of the rows that it names.
fn named_rows(
    cx: &mut Cx<'_>,
    x: &View,
    index: View,
    axis: usize,
) -> Result<(View, Vec<usize>), Refusal> {
    if index.rank() > 1 {
        return Err(cx.invalid(format_args!(
            "index has the shape {:?}; it must have one dimension",
            index.dims()
        )));
    }
    let mut dims = x.dims().to_vec();
    match dims.get_mut(axis) {
        Some(dim) => *dim = index.elements(),
        None if index.elements() != 1 => {
            return Err(cx.invalid(format_args!(
                "index has {} elements; it must have 1 for a tensor without dimensions",
                index.elements()
            )));
        }
        None => {}
    }
    Ok((cx.reshaped(index, &[index.elements()])?, dims))
}

/// Writes rows that have the shape of the tensor but for the dimension of the index.
fn rows(cx: &mut Cx<'_>, update: Update, alpha: Scalar) -> Result<(), Refusal> {
    let (x, index, out, axis) = target(cx)?;
    let mut source = cx.tensor("source")?;
    cx.check_dtype(&source, x.dtype())?;
    let (index, dims) = named_rows(cx, &x, index, axis)?;
    if source.elements() != 1 || dims.iter().product::<usize>() != 1 {
        cx.check_dims(&source, &dims)?;
    }
    if alpha.complex() != (1.0, 0.0) {
        let scaled = cx.temporary(super::compute(x.dtype(), update), source.dims())?;
        let operands = [Operand::Tensor(source), Operand::Scalar(alpha)];
        cx.map(F::Mul, scaled.dtype(), &operands, scaled)?;
        source = scaled;
    }
    let blocks = blocks(x.dims(), axis);
    let positions = located(cx, index, blocks.size)?;
    put(cx, x, (source, positions), (blocks, update), out)
}

fn index_add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let alpha = cx.scalar("alpha")?;
    rows(cx, Update::Add, alpha)
}

/// The mode chooses between precision and speed; results are the same here.
fn index_add_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.int("mode")? {
        0 | 1 => index_add(cx),
        other => Err(cx.invalid(format_args!("mode is {other}; it must be 0 or 1"))),
    }
}

/// Adds the values of a sparse tensor whose indices are equal. `uniqueIndices` has the position of each index among the different ones,
/// of which `uniqueLen` has one element each.
fn coalesce(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (unique, position) = (cx.tensor("uniqueLen")?, cx.tensor("uniqueIndices")?);
    let (indices, values) = (cx.tensor("indices")?, cx.tensor("values")?);
    let (new_indices, new_values) = (cx.out("newIndices")?, cx.out("newValues")?);
    let (given, count) = (position.elements(), unique.elements());
    cx.check_dims(&position, &[given])?;
    for (from, to) in [(indices, new_indices), (values, new_values)] {
        cx.check_dtype(&to, from.dtype())?;
        if from.rank() == 0 {
            return Err(cx.invalid(format_args!(
                "{} has no dimension; its first must have the {given} entries of uniqueIndices",
                cx.param_of(&from)
            )));
        }
        let mut dims = from.dims().to_vec();
        dims[0] = given;
        cx.check_dims(&from, &dims)?;
        dims[0] = count;
        cx.check_dims(&to, &dims)?;
    }
    for (from, to, update) in [
        (indices, new_indices, Update::Set),
        (values, new_values, Update::Add),
    ] {
        cx.fill(Scalar::of_i64(0), to)?;
        if !from.is_empty() && !to.is_empty() {
            let blocks = blocks(to.dims(), 0);
            let positions = located(cx, position, blocks.size)?;
            put(cx, to, (from, positions), (blocks, update), to)?;
        }
    }
    Ok(())
}

fn index_copy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    rows(cx, Update::Set, Scalar::ONE)
}

fn index_fill(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out, axis) = target(cx)?;
    let value = cx.scalar("value")?;
    let (index, dims) = named_rows(cx, &x, index, axis)?;
    let values = filled(cx, value, &x, &dims)?;
    let blocks = blocks(x.dims(), axis);
    let positions = located(cx, index, blocks.size)?;
    put(cx, x, (values, positions), (blocks, Update::Set), out)
}

/// The indices are a host array, in spite of the name.
fn index_fill_by_list(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    let value = cx.scalar("value")?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let size = x.dims().get(axis).copied().unwrap_or(1);
    let mut entries = Vec::new();
    for &index in cx.ints("index")? {
        let entry = if index < 0 {
            index + size as i64
        } else {
            index
        };
        match usize::try_from(entry) {
            Ok(entry) if entry < size => entries.push(entry),
            _ => {
                return Err(cx.invalid(format_args!(
                    "index holds {index}; dimension {axis} has {size} entries"
                )));
            }
        }
    }
    cx.copy(x, out)?;
    if x.rank() == 0 {
        return match entries.is_empty() {
            true => Ok(()),
            false => cx.fill(value, out),
        };
    }
    // Entries that follow one another are filled in one step.
    entries.sort_unstable();
    entries.dedup();
    for run in entries.chunk_by(|one, two| one + 1 == *two) {
        cx.fill(value, out.slice(axis, run[0], run.len(), 1))?;
    }
    Ok(())
}

/// Indices outside the classes leave their row at the off value.
fn one_hot(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (index, out) = (cx.tensor("self")?, cx.out("out")?);
    let (on, off) = (cx.tensor("onValue")?, cx.tensor("offValue")?);
    let classes = cx.int("numClasses")?;
    let axis = cx.axis("axis", cx.int("axis")?, index.rank() + 1)?;
    let Ok(size) = usize::try_from(classes) else {
        return Err(cx.invalid(format_args!(
            "numClasses is {classes}; it must be at least 0"
        )));
    };
    for value in [on, off] {
        cx.check_dtype(&value, out.dtype())?;
        if value.is_empty() {
            return Err(cx.invalid(format_args!("{} has no element", cx.param_of(&value))));
        }
    }
    let mut dims = index.dims().to_vec();
    dims.insert(axis, size);
    cx.check_dims(&out, &dims)?;
    let first = |view: View| (0..view.rank()).fold(view, |view, _| view.select(0, 0));
    cx.copy(first(off), out)?;
    if out.is_empty() {
        return Ok(());
    }
    let index = match index.dtype() {
        jumar_types::dtype::DataType::UInt8 => {
            cx.cast(index, jumar_types::dtype::DataType::Int64)?
        }
        _ => index,
    };
    let index = index.unsqueeze(axis);
    let Some(values) = first(on).expand(index.dims()) else {
        return Err(cx.defect("a value cannot be broadcast"));
    };
    let positions = along(cx, index, &dims, axis, true)?;
    let all = Blocks {
        outer: 1,
        size: out.elements(),
        row: 1,
    };
    put(cx, out, (values, positions), (all, Update::Set), out)
}
