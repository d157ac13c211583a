//! Rows and elements that one index tensor names.

use jumar_types::dtype::DataType;

use super::kernels::{Along, Blocks, Locate};
use super::{blocks, indices, no_kernel, take, widened};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::view::View;

pub(crate) static GATHER: &Table = &[
    ("aclnnGather", gather),
    ("aclnnGatherV2", gather_v2),
    ("aclnnIndexSelect", index_select),
    ("aclnnTake", take_flat),
];

/// Turns the indices into one dimension into positions.
pub(crate) fn located(cx: &mut Cx<'_>, index: View, size: usize) -> Result<View, Refusal> {
    let index = indices(cx, index)?;
    let positions = cx.temporary(DataType::Int64, index.dims())?;
    let kernel = Locate {
        operator: cx.name(),
        dims: vec![size],
        padded: false,
    };
    cx.kernel(Box::new(kernel), &[Some(index)], &[positions], false)?;
    Ok(positions)
}

/// Turns indices along a dimension of `dims` into positions, where the index along the others is the element's own.
pub(super) fn along(
    cx: &mut Cx<'_>,
    index: View,
    dims: &[usize],
    axis: usize,
    lenient: bool,
) -> Result<View, Refusal> {
    let mut index = indices(cx, index)?;
    let mut dims = dims.to_vec();
    if dims.is_empty() {
        dims.push(1);
    }
    if index.rank() == 0 {
        index = index.unsqueeze(0);
    }
    let positions = cx.temporary(DataType::Int64, index.dims())?;
    let operator = cx.name();
    let kernel = Along {
        operator,
        dims,
        axis,
        lenient,
    };
    cx.kernel(Box::new(kernel), &[Some(index)], &[positions], false)?;
    Ok(positions)
}

/// Refuses indices whose shape does not lie inside another but for one dimension.
pub(super) fn check_within(
    cx: &Cx<'_>,
    index: &View,
    dims: &[usize],
    axis: Option<usize>,
    param: &str,
) -> Result<(), Refusal> {
    let rank = |dims: &[usize]| dims.len().max(1);
    let fits = rank(index.dims()) == rank(dims)
        && (index.dims().iter().zip(dims).enumerate())
            .all(|(own, (one, two))| Some(own) == axis || one <= two);
    match fits || index.is_empty() {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "index has the shape {:?}; it must have as many dimensions as {param} with the shape {dims:?}, none of them larger{}",
            index.dims(),
            if axis.is_some() { " but that of dim" } else { "" }
        ))),
    }
}

fn gather(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("index")?, cx.out("out")?);
    cx.check_dtype(&out, x.dtype())?;
    let index = widened(cx, index)?;
    cx.check_types(&index, &super::INDEX)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    check_within(cx, &index, x.dims(), Some(axis), "self")?;
    cx.check_dims(&out, index.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    let positions = along(cx, index, x.dims(), axis, false)?;
    let all = Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    };
    take(cx, x, positions, all, out)
}

/// Reads entries of a dimension; the dimensions of `index` replace it.
fn selected(cx: &mut Cx<'_>, x: View, axis: usize, index: View, out: View) -> Result<(), Refusal> {
    cx.check_dtype(&out, x.dtype())?;
    cx.check_types(&index, &super::INDEX)?;
    let blocks = blocks(x.dims(), axis);
    let mut dims = x.dims().to_vec();
    if !dims.is_empty() {
        dims.splice(axis..axis + 1, index.dims().iter().copied());
    }
    cx.check_dims(&out, &dims)?;
    let positions = located(cx, index, blocks.size)?;
    take(cx, x, positions, blocks, out)
}

fn index_select(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("index")?, cx.out("out")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    if index.rank() > 1 || (x.rank() == 0 && index.elements() != 1) {
        return Err(cx.invalid(format_args!(
            "index has the shape {:?}; it must have one dimension, and one element where self has no dimensions",
            index.dims()
        )));
    }
    let index = cx.reshaped(index, &[index.elements()])?;
    selected(cx, x, axis, index, out)
}

fn gather_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("index")?, cx.out("out")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    if x.rank() == 0 {
        return Err(no_dimensions(cx));
    }
    selected(cx, x, axis, index, out)
}

fn no_dimensions(cx: &Cx<'_>) -> Refusal {
    cx.invalid("self has no dimensions; it must have at least 1")
}

/// The elements in row-major order.
fn take_flat(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("index")?, cx.out("out")?);
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, index.dims())?;
    let all = Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    };
    if x.dtype().size().is_none() {
        return Err(no_kernel(cx, x.dtype()));
    }
    let positions = located(cx, index, x.elements())?;
    take(cx, x, positions, all, out)
}
