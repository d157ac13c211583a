//! Operators that read and write elements at positions which tensors hold.

mod advanced;
mod combine;
mod distinct;
mod gather;
mod kernels;
mod mask;
mod repeat;
mod scatter;
mod sort;
mod starts;

use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;
pub(super) use kernels::{Blocks, Update};
pub(super) use sort::{Keys, keys};

pub(crate) use advanced::ADVANCED;
pub(crate) use combine::COMBINE;
pub(crate) use distinct::DISTINCT;
pub(crate) use gather::{GATHER, located};
pub(crate) use mask::MASK;
pub(crate) use repeat::REPEAT;
pub(crate) use scatter::SCATTER;
pub(crate) use sort::SORT;
pub(crate) use starts::STARTS;

/// The types of indices.
pub(super) const INDEX: [DataType; 2] = [DataType::Int64, DataType::Int32];

/// Returns an index whose uint8 elements were converted. PyTorch's processor backend takes indices of this type.
pub(super) fn widened(cx: &mut Cx<'_>, index: View) -> Result<View, Refusal> {
    match index.dtype() {
        DataType::UInt8 => cx.cast(index, DataType::Int64),
        _ => Ok(index),
    }
}

/// Returns dense int64 indices.
pub(super) fn indices(cx: &mut Cx<'_>, index: View) -> Result<View, Refusal> {
    cx.check_types(&index, &INDEX)?;
    let index = cx.cast(index, DataType::Int64)?;
    cx.dense(index)
}

/// Returns the shape of a view around a dimension as blocks; a tensor without dimensions has one of size 1.
pub(super) fn blocks(dims: &[usize], axis: usize) -> Blocks {
    Blocks {
        outer: dims[..axis.min(dims.len())].iter().product(),
        size: dims.get(axis).copied().unwrap_or(1),
        row: dims.iter().skip(axis + 1).product(),
    }
}

/// Returns a tensor as one row of elements.
pub(super) fn everything(x: &View) -> Blocks {
    Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    }
}

pub(super) fn no_kernel(cx: &Cx<'_>, dtype: DataType) -> Refusal {
    cx.unsupported(format_args!(
        "tensors of the type {dtype} are not supported"
    ))
}

/// Reads the rows of `x` at positions. `out` has as many elements as there are rows.
pub(super) fn take(
    cx: &mut Cx<'_>,
    x: View,
    positions: View,
    blocks: Blocks,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    let Some(kernel) = kernels::take(x.dtype(), blocks) else {
        return Err(no_kernel(cx, x.dtype()));
    };
    let x = cx.dense(x)?;
    let target = match out.is_dense() && out.dtype() == x.dtype() {
        true => out,
        false => cx.temporary(x.dtype(), out.dims())?,
    };
    cx.kernel(kernel, &[Some(x), Some(positions)], &[target], false)?;
    cx.copy(target, out)
}

/// Reads the rows of a table at positions: dense int64, of which negative ones read zeros. `out` has one row for each.
pub(crate) fn rows_at(
    cx: &mut Cx<'_>,
    table: View,
    positions: View,
    out: View,
) -> Result<(), Refusal> {
    let size = table.dims()[0];
    let row = table.dims()[1..].iter().product();
    let blocks = Blocks {
        outer: 1,
        size,
        row,
    };
    take(cx, table, positions, blocks, out)
}

/// Writes rows to positions of a table of zeros: dense int64, of which negative ones write nothing.
pub(crate) fn rows_to(
    cx: &mut Cx<'_>,
    rows: View,
    positions: View,
    out: View,
) -> Result<(), Refusal> {
    let blocks = Blocks {
        outer: 1,
        size: out.dims()[0],
        row: out.dims()[1..].iter().product(),
    };
    let zeros = cx.temporary(out.dtype(), out.dims())?;
    cx.fill(crate::Scalar::of_i64(0), zeros)?;
    put(cx, zeros, (rows, positions), (blocks, Update::Set), out)
}

/// Writes rows to positions of a table, of which the other rows stay: dense int64, of which negative ones write nothing.
pub(crate) fn rows_in(
    cx: &mut Cx<'_>,
    rows: View,
    positions: View,
    table: View,
) -> Result<(), Refusal> {
    let blocks = Blocks {
        outer: 1,
        size: table.dims()[0],
        row: table.dims()[1..].iter().product(),
    };
    put(cx, table, (rows, positions), (blocks, Update::Set), table)
}

/// Returns the type that updates of a tensor are computed in.
fn compute(dtype: DataType, update: Update) -> DataType {
    match dtype {
        DataType::Float16 | DataType::BFloat16 if update != Update::Set => DataType::Float32,
        dtype => dtype,
    }
}

/// Writes `x` to `out` with rows replaced or changed. `values` has one row for each position and block.
pub(super) fn put(
    cx: &mut Cx<'_>,
    x: View,
    (values, positions): (View, View),
    (blocks, update): (Blocks, Update),
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    if let (Update::Add, Some(to)) = (update, out.parts()) {
        // Sums of complex numbers are those of their parts.
        let (x, values) = (cx.cast(x, out.dtype())?, cx.cast(values, out.dtype())?);
        for (index, part) in to.into_iter().enumerate() {
            if let (Some(x), Some(values)) = (x.parts(), values.parts()) {
                put(
                    cx,
                    x[index],
                    (values[index], positions),
                    (blocks, update),
                    part,
                )?;
            }
        }
        return Ok(());
    }
    let dtype = compute(out.dtype(), update);
    let Some(kernel) = kernels::put(dtype, update, blocks) else {
        return Err(no_kernel(cx, dtype));
    };
    let values = cx.cast(values, dtype)?;
    let values = cx.dense(values)?;
    let target = match out.is_dense() && out.dtype() == dtype {
        true => out,
        false => cx.temporary(dtype, out.dims())?,
    };
    cx.copy(x, target)?;
    cx.kernel(kernel, &[Some(values), Some(positions)], &[target], false)?;
    cx.copy(target, out)
}
