//! Rows that are scaled and shifted by a condition of their batch, as diffusion transformers do, and the gradient.

use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::computed;
use super::operands::FLOATS;
use super::reduction::reduce_kept;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnModulate", forward),
    ("aclnnModulateBackward", backward),
];

/// `x * (1 + scale) + shift`. Inputs: x, scale and shift.
struct Modulate;

impl RowFunction for Modulate {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out) = (rows.input(0), rows.output(0));
        match rows.optional(1) {
            Some(scale) => out.map2(x, scale, |x, scale| x * (1.0 + scale)),
            None => out.copy_from(x),
        }
        if let Some(shift) = rows.optional(2) {
            out.update(shift, |value, shift| value + shift);
        }
    }
}

/// Returns a condition `[batch, width]` or `[batch, 1, width]` under the shape that broadcasts.
fn condition(cx: &mut Cx<'_>, view: View, x: &View) -> Result<View, Refusal> {
    let &[batch, _, width] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; batch, rows and width are required",
            cx.param_of(x),
            x.dims()
        )));
    };
    cx.check_types(x, FLOATS)?;
    cx.check_dtype(&view, x.dtype())?;
    if view.rank() != 3 {
        cx.check_dims(&view, &[batch, width])?;
    } else {
        cx.check_dims(&view, &[batch, 1, width])?;
    }
    cx.reshaped(view, &[batch, 1, width])
}

fn forward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let mut conditions = [None; 2];
    for (own, param) in conditions
        .iter_mut()
        .zip(["scaleOptional", "shiftOptional"])
    {
        if let Some(view) = cx.optional(param)? {
            *own = Some(condition(cx, view, &x)?);
        }
    }
    cx.check_types(&x, FLOATS)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    cx.rows(
        Modulate,
        &[Some(x), conditions[0], conditions[1]],
        &[Some(out)],
    )
}

fn backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("grad_output")?, cx.tensor("input")?);
    let (scale, shift) = (cx.tensor("scale")?, cx.tensor("shift")?);
    let (to_x, to_scale, to_shift) = (
        cx.out("grad_input")?,
        cx.out("grad_scale")?,
        cx.out("grad_shift")?,
    );
    let scale_rows = condition(cx, scale, &x)?;
    condition(cx, shift, &x)?;
    for (view, like) in [
        (gradient, x),
        (to_x, x),
        (to_scale, scale),
        (to_shift, shift),
    ] {
        cx.check_dtype(&view, x.dtype())?;
        cx.check_dims(&view, like.dims())?;
    }
    let compute = DataType::Float32;
    let both = [Operand::Tensor(gradient), Operand::Tensor(x)];
    let products = computed(cx, F::Mul, compute, &both, x.dims())?;
    let wide = cx.cast(gradient, compute)?;
    for (terms, out) in [(products, to_scale), (wide, to_shift)] {
        if x.is_empty() {
            cx.fill(Scalar::of_i64(0), out)?;
            continue;
        }
        let sum = reduce_kept(cx, "ReduceSum", terms, &[1])?;
        let sum = cx.reshaped(sum, out.dims())?;
        cx.copy(sum, out)?;
    }
    cx.rows(Modulate, &[Some(gradient), Some(scale_rows)], &[Some(to_x)])
}
