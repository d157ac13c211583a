//! Elements where a mask is true. Shapes of results depend on data.

use jumar_ops::Kernel;
use jumar_types::dtype::DataType;

use super::kernels::{Blocks, NONE, Order, Trues, Update};
use super::{put, take};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::Table;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static MASK: &Table = &[
    ("aclnnInplaceMaskedScatter", masked_scatter),
    ("aclnnMaskedSelect", masked_select),
    ("aclnnNonzero", |cx| nonzero(cx, false)),
    ("aclnnNonzeroV2", |cx| nonzero(cx, true)),
];

/// Returns a dense boolean tensor that is true where elements are not zero.
pub(super) fn as_booleans(cx: &mut Cx<'_>, x: View) -> Result<View, Refusal> {
    if x.dtype() == DataType::Bool {
        return cx.dense(x);
    }
    let mask = cx.temporary(DataType::Bool, x.dims())?;
    let operands = [Operand::Tensor(x), Operand::Scalar(Scalar::of_bool(false))];
    cx.test(F::Ne, x.dtype(), &operands, mask)?;
    Ok(mask)
}

/// An empty list of dimensions reports nothing.
pub(super) fn run_trues(
    cx: &mut Cx<'_>,
    mask: View,
    trues: Trues,
    out: View,
) -> Result<Option<View>, Refusal> {
    let mut outputs = vec![out];
    if !trues.report.is_empty() {
        outputs.push(cx.temporary(DataType::Int64, &[trues.report.len()])?);
    }
    let kernel: Box<dyn Kernel> = Box::new(trues);
    cx.kernel(kernel, &[Some(mask)], &outputs, false)?;
    Ok(outputs.get(1).copied())
}

fn nonzero(cx: &mut Cx<'_>, transposed: bool) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_dtype(&out, DataType::Int64)?;
    let (rank, elements) = (x.rank(), x.elements());
    let capacity = match (transposed, out.dims()) {
        (false, &[capacity, own]) | (true, &[own, capacity]) if own == rank => capacity,
        _ => {
            let wanted = if transposed {
                [rank, elements]
            } else {
                [elements, rank]
            };
            return Err(cx.invalid(format_args!(
                "out has the shape {:?}; it must be {wanted:?} for self with the shape {:?}",
                out.dims(),
                x.dims()
            )));
        }
    };
    let mask = as_booleans(cx, x)?;
    let coordinates = cx.temporary(DataType::Int64, out.dims())?;
    let trues = Trues {
        operator: cx.name(),
        dims: x.dims().to_vec(),
        order: if transposed {
            Order::ByDimension
        } else {
            Order::ByElement
        },
        capacity,
        exact: false,
        rest: 0,
        report: match transposed {
            true => vec![Some(rank as i64), None],
            false => vec![None, Some(rank as i64)],
        },
    };
    let dims = run_trues(cx, mask, trues, coordinates)?;
    cx.copy(coordinates, out)?;
    match dims {
        Some(dims) => cx.report_dims(&out, dims),
        None => Ok(()),
    }
}

/// Returns the positions of true elements in row-major order, and the shape `[number]`.
fn positions(
    cx: &mut Cx<'_>,
    mask: View,
    capacity: usize,
) -> Result<(View, Option<View>), Refusal> {
    let positions = cx.temporary(DataType::Int64, &[capacity])?;
    let trues = Trues {
        operator: cx.name(),
        dims: vec![mask.elements()],
        order: Order::Spaced,
        capacity,
        exact: false,
        rest: NONE,
        report: vec![None],
    };
    let dims = run_trues(cx, mask, trues, positions)?;
    Ok((positions, dims))
}

const MASKS: [DataType; 2] = [DataType::Bool, DataType::UInt8];

fn expanded(cx: &Cx<'_>, view: View, dims: &[usize]) -> Result<View, Refusal> {
    view.expand(dims).ok_or_else(|| {
        cx.invalid(format_args!(
            "{} has the shape {:?}, which cannot be broadcast to {dims:?}",
            cx.param_of(&view),
            view.dims()
        ))
    })
}

fn masked_select(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, mask, out) = (cx.tensor("self")?, cx.tensor("mask")?, cx.out("out")?);
    cx.check_types(&mask, &MASKS)?;
    cx.check_dtype(&out, x.dtype())?;
    let (dims, rank) = cx.broadcast(&[x, mask])?;
    let x = expanded(cx, x, &dims[..rank])?;
    let mask = expanded(cx, mask, &dims[..rank])?;
    let mask = as_booleans(cx, mask)?;
    let mask = cx.dense(mask)?;
    let (positions, dims) = positions(cx, mask, out.elements())?;
    let all = Blocks {
        outer: 1,
        size: x.elements(),
        row: 1,
    };
    take(cx, x, positions, all, out)?;
    match dims {
        Some(dims) => cx.report_dims(&out, dims),
        None => Ok(()),
    }
}

/// The true elements take the elements of the source, both in row-major order.
fn masked_scatter(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, mask, source) = (cx.output()?, cx.tensor("mask")?, cx.tensor("source")?);
    cx.check_types(&mask, &MASKS)?;
    cx.check_dtype(&source, out.dtype())?;
    let mask = expanded(cx, mask, out.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    let mask = as_booleans(cx, mask)?;
    let mask = cx.dense(mask)?;
    let (positions, _) = positions(cx, mask, source.elements())?;
    let all = Blocks {
        outer: 1,
        size: out.elements(),
        row: 1,
    };
    put(cx, out, (source, positions), (all, Update::Set), out)
}
