//! What goes before attention: queries, keys and values of one product; and softmax with biases of positions.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::normalization::{computed, number};
use crate::ops::operands::FLOATS;
use crate::view::View;

/// Adds the bias, scales the queries by the root of their width, and splits heads.
pub(super) fn split(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (joined, bias) = (cx.tensor("qkv")?, cx.tensor("qkvBias")?);
    cx.check_types(&joined, FLOATS)?;
    cx.check_dtype(&bias, joined.dtype())?;
    let heads = cx.int("numHeads")?;
    let parts = match (joined.dims(), usize::try_from(heads)) {
        (&[batch, length, all], Ok(heads @ 1..)) if all % (3 * heads) == 0 && all > 0 => {
            Some([batch, length, heads, all / (3 * heads)])
        }
        _ => None,
    };
    let Some([batch, length, heads, width]) = parts else {
        return Err(cx.invalid(format_args!(
            "qkv has the shape {:?} and numHeads is {heads}; batch, length and three times the width of all heads are required",
            joined.dims()
        )));
    };
    cx.check_dims(&bias, &[3 * heads * width])?;
    let joined = cx.reshaped(joined, &[batch, length, 3, heads, width])?;
    let bias = cx.reshaped(bias, &[3, heads, 1, width])?;
    for (index, param) in ["qOut", "kOut", "vOut"].into_iter().enumerate() {
        let out = cx.out(param)?;
        cx.check_dtype(&out, joined.dtype())?;
        cx.check_dims(&out, &[batch, heads, length, width])?;
        let own = joined.select(2, index).transpose(1, 2);
        let operands = [Operand::Tensor(own), Operand::Tensor(bias.select(0, index))];
        if index > 0 {
            cx.map(F::Add, DataType::Float32, &operands, out)?;
            continue;
        }
        let sum = computed(cx, F::Add, DataType::Float32, &operands, out.dims())?;
        let factor = number(1.0 / (width as f64).sqrt());
        cx.map(
            F::Mul,
            DataType::Float32,
            &[Operand::Tensor(sum), factor],
            out,
        )?;
    }
    Ok(())
}

/// Sees a mask or a bias under a shape of the scores: batch, windows, heads, rows, columns.
fn broadcast(
    cx: &mut Cx<'_>,
    view: View,
    dims: [usize; 5],
    own: &[usize],
) -> Result<View, Refusal> {
    let wanted: Vec<usize> = (0..5)
        .map(|axis| if own.contains(&axis) { dims[axis] } else { 1 })
        .collect();
    let squeezed =
        |dims: &[usize]| -> Vec<usize> { dims.iter().copied().filter(|&dim| dim != 1).collect() };
    if squeezed(view.dims()) != squeezed(&wanted) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must be {wanted:?} but for dimensions of size 1",
            cx.param_of(&view),
            view.dims()
        )));
    }
    cx.reshaped(view, &wanted)
}

/// `softmax(x * scale + mask + bias)` over the columns.
pub(super) fn softmax_with_bias(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, bias, out) = (
        cx.tensor("x")?,
        cx.tensor("relativePosBias")?,
        cx.out("out")?,
    );
    let mask = cx
        .optional("attenMaskOptional")?
        .filter(|mask| !mask.is_empty());
    cx.check_types(&x, FLOATS)?;
    cx.check_dtype(&bias, x.dtype())?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let dims = match (x.dims(), &mask) {
        (&[batch, windows, heads, rows, columns], _) => [batch, windows, heads, rows, columns],
        // Batch and windows are one dimension; the mask has one entry for each window.
        (&[all, heads, rows, columns], Some(mask)) => {
            let windows = mask.elements() / (rows * columns).max(1);
            match windows > 0 && all % windows == 0 {
                true => [all / windows, windows, heads, rows, columns],
                false => {
                    return Err(cx.invalid(format_args!(
                        "attenMaskOptional has the shape {:?}, which does not fit {:?} of x",
                        mask.dims(),
                        x.dims()
                    )));
                }
            }
        }
        (&[all, heads, rows, columns], None) => [all, 1, heads, rows, columns],
        (dims, _) => {
            return Err(cx.invalid(format_args!(
                "x has the shape {dims:?}; 4 or 5 dimensions are required"
            )));
        }
    };
    if out.is_empty() {
        return Ok(());
    }
    let bias = broadcast(cx, bias, dims, &[2, 3, 4])?;
    let compute = DataType::Float32;
    let x = cx.reshaped(x, &dims)?;
    let scores = [
        Operand::Tensor(bias),
        Operand::Tensor(x),
        number(cx.float("scaleValue")?),
    ];
    let scores = computed(cx, F::AddScaled, compute, &scores, &dims)?;
    if let Some(mask) = mask {
        cx.check_dtype(&mask, out.dtype())?;
        let mask = broadcast(cx, mask, dims, &[1, 3, 4])?;
        let operands = [Operand::Tensor(scores), Operand::Tensor(mask)];
        cx.map(F::Add, compute, &operands, scores)?;
    }
    let shares = cx.temporary(compute, &dims)?;
    let attrs = Attrs::new().with("axes", vec![4i64]);
    cx.op("SoftmaxV2", &[scores.into()], &attrs, &[shares])?;
    let shares = cx.reshaped(shares, out.dims())?;
    cx.copy(shares, out)
}
