//! Products with weights of int8 or int4 that are dequantised on the way: `(weight + offset) * scale`.

use jumar_types::dtype::DataType;

use super::super::matrix::multiply;
use super::blocks::matrices;
use super::quantised::as_int8;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::quant::decoded_scales;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// Columns whose weights are dequantised at a time: memory does not grow with the size of the matrix.
const COLUMNS: usize = 1 << 10;

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// `out = (weight + offset) * scale`
struct Restore;

impl RowFunction for Restore {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, weight) = (rows.output(0), rows.input(0));
        match rows.optional(2) {
            Some(offset) => out.map2(weight, offset, |weight, offset| weight + offset),
            None => out.copy_from(weight),
        }
        out.update(rows.input(1), |value, scale| value * scale);
    }
}

/// Scales and offsets of a matrix of `depth` rows, as rows of one group each, for all columns or for one.
#[derive(Clone, Copy)]
struct Factors {
    scale: View,
    offset: Option<View>,
    /// Rows of the matrix for each row of the factors.
    group: usize,
}

/// Returns factors as a matrix of groups and columns.
fn factor(
    cx: &mut Cx<'_>,
    name: &str,
    view: View,
    (groups, columns): (usize, usize),
) -> Result<View, Refusal> {
    let shaped = match (view.dims(), view.elements()) {
        (_, 1) => cx.reshaped(view, &[1, 1])?,
        (&[own], _) if own == columns && groups == 1 => view.unsqueeze(0),
        (&[own, other], _) if own == groups && other == columns => view,
        (&[1, other], _) if other == columns => view,
        _ => {
            return Err(cx.invalid(format_args!(
                "{name} has the shape {:?}; expected one element, {columns} or {groups} x {columns}",
                view.dims()
            )));
        }
    };
    let shaped = cx.cast(shaped, DataType::Float32)?;
    shaped
        .expand(&[groups, columns])
        .ok_or_else(|| cx.defect("factors are repeated"))
}

/// Restores a part of the weights: its rows and columns from the first on.
fn restored(
    cx: &mut Cx<'_>,
    weight: View,
    factors: Factors,
    (first, count): (usize, usize),
) -> Result<View, Refusal> {
    let depth = weight.dims()[0];
    let part = weight.slice(1, first, count, 1);
    // Weights whose columns lie side by side in memory are restored along them, whatever the order of the view.
    let swapped = part.strides()[0] < part.strides()[1];
    let flip = |view: View| if swapped { view.transpose(0, 1) } else { view };
    let stored = flip(part);
    let out = cx.temporary(DataType::Float32, stored.dims())?;
    let full = depth / factors.group * factors.group;
    // The rows of full groups, and those of the last one, which may be smaller.
    for (start, rows, groups) in [
        (0, full, full / factors.group),
        (full, depth - full, usize::from(full < depth)),
    ] {
        if rows == 0 || count == 0 {
            continue;
        }
        let own = if start == 0 { factors.group } else { rows };
        let at = start / factors.group;
        let split = |view: View| {
            // Groups and their rows apart: `[groups, own, columns]`, or with the columns first.
            let axis = usize::from(swapped);
            let part = view.slice(axis, start, rows, 1);
            let dims = match swapped {
                true => [count, groups, own],
                false => [groups, own, count],
            };
            part.reshape(&dims)
        };
        let spread = |view: View| {
            let part = flip(view.slice(0, at, groups, 1).slice(1, first, count, 1));
            match swapped {
                true => part.unsqueeze(2),
                false => part.unsqueeze(1),
            }
        };
        let dims = match swapped {
            true => [count, groups, own],
            false => [groups, own, count],
        };
        let (Some(from), Some(to)) = (split(stored), split(out)) else {
            return Err(cx.unsupported(format_args!(
                "weights with the shape {:?} and the strides {:?} cannot be seen in groups of {}",
                weight.dims(),
                weight.strides(),
                factors.group
            )));
        };
        let widen = |cx: &Cx<'_>, view: View| {
            spread(view)
                .expand(&dims)
                .ok_or_else(|| cx.defect("factors are repeated"))
        };
        let scale = widen(cx, factors.scale)?;
        let offset = match factors.offset {
            Some(offset) => Some(widen(cx, offset)?),
            None => None,
        };
        cx.rows(Restore, &[Some(from), Some(scale), offset], &[Some(to)])?;
    }
    Ok(flip(out))
}

pub(super) fn plain(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let weight = cx.tensor("weight")?;
    let weight = as_int8(cx, weight)?;
    plan(cx, weight)
}

/// The weights are stored in blocks.
pub(super) fn blocked(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, weight, out) = (cx.tensor("x")?, cx.tensor("weight")?, cx.out("y")?);
    if weight.dtype() != DataType::Int8 {
        return Err(cx.unsupported(format_args!(
            "weights of {} in blocks are not supported",
            weight.dtype()
        )));
    }
    let (Some(&depth), Some(&columns)) = (x.dims().last(), out.dims().last()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and y {:?}; both must have 2 dimensions",
            x.dims(),
            out.dims()
        )));
    };
    let weight = matrices(cx, "weight", 2, [depth, columns])?;
    plan(cx, weight)
}

fn plan(cx: &mut Cx<'_>, weight: View) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("y")?);
    cx.check_types(&x, HALVES)?;
    for param in ["quantScaleOptional", "quantOffsetOptional"] {
        if cx.optional(param)?.is_some() {
            return Err(
                cx.unsupported(format_args!("{param}: quantised results are not supported"))
            );
        }
    }
    cx.check_types(&out, HALVES)?;
    let (&[rows, depth], &[own, columns]) = (x.dims(), weight.dims()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and weight {:?}; expected two dimensions each",
            x.dims(),
            weight.dims()
        )));
    };
    if depth != own {
        return Err(cx.invalid(format_args!(
            "x has {depth} columns and weight {own} rows: the product does not exist"
        )));
    }
    cx.check_dims(&out, &[rows, columns])?;
    let bias = match cx.optional("biasOptional")? {
        Some(bias) if bias.elements() == columns => Some(cx.reshaped(bias, &[columns])?),
        Some(bias) => {
            return Err(cx.invalid(format_args!(
                "biasOptional has the shape {:?}; it must have {columns} elements",
                bias.dims()
            )));
        }
        None => None,
    };
    if out.is_empty() {
        return Ok(());
    }
    let names = ("antiquantScale", "antiquantOffsetOptional");
    let product = product(cx, x, weight, names)?;
    match bias {
        Some(bias) => {
            use crate::build::Operand;
            let operands = [Operand::Tensor(product), Operand::Tensor(bias)];
            cx.map(crate::element::F::Add, DataType::Float32, &operands, out)
        }
        None => cx.copy(product, out),
    }
}

/// Returns the product of a matrix and a weight that is dequantised, in float32. The arguments of these names are scales and offsets.
pub(crate) fn product(
    cx: &mut Cx<'_>,
    x: View,
    weight: View,
    (scale_param, offset_param): (&str, &str),
) -> Result<View, Refusal> {
    let (&[rows, _], &[depth, columns]) = (x.dims(), weight.dims()) else {
        return Err(cx.defect("both operands are matrices"));
    };
    let group = cx.int("antiquantGroupSize")?;
    let group = match usize::try_from(group) {
        Ok(0) => depth.max(1),
        Ok(group) => group,
        Err(_) => {
            return Err(cx.invalid(format_args!(
                "antiquantGroupSize is {group}; it must not be negative"
            )));
        }
    };
    let groups = depth.div_ceil(group).max(1);
    let scale = cx.tensor(scale_param)?;
    let scale = decoded_scales(cx, scale)?;
    let scale = factor(cx, scale_param, scale, (groups, columns))?;
    let offset = match cx.optional(offset_param)? {
        Some(offset) => Some(factor(cx, offset_param, offset, (groups, columns))?),
        None => None,
    };
    let factors = Factors {
        scale,
        offset,
        group,
    };
    let x = cx.cast(x, DataType::Float32)?;
    let product = cx.temporary(DataType::Float32, &[rows, columns])?;
    cx.check_planned("the columns of the weights", columns)?;
    let mut first = 0;
    while first < columns {
        let count = COLUMNS.min(columns - first);
        let part = restored(cx, weight, factors, (first, count))?;
        multiply(cx, x, part, product.slice(1, first, count, 1))?;
        first += count;
    }
    Ok(product)
}
