//! Dropout: masks of one bit an element, and their use.

use jumar_types::dtype::DataType;

use super::kernels::{Bits, Unpack};
use super::{Seed, check_chance, check_real, drawn, seed};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::Table;
use crate::ops::operands::FLOATS;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static DROPOUT: &Table = &[
    ("aclnnDropout", dropout),
    ("aclnnDropoutBackward", |cx| {
        backward(cx, "gradOutput", "out")
    }),
    ("aclnnDropoutDoMask", do_mask),
    ("aclnnDropoutGenMask", gen_mask),
    ("aclnnDropoutGenMaskV2", gen_mask),
    ("aclnnDropoutGenMaskV2Tensor", gen_mask),
    ("aclnnDropoutV3", dropout_v3),
    ("aclnnDropoutV3Grad", |cx| backward(cx, "gradY", "gradX")),
];

/// Refuses a mask that has no bit for each element.
fn check_mask(cx: &Cx<'_>, mask: &View, elements: usize) -> Result<(), Refusal> {
    cx.check_dtype(mask, DataType::UInt8)?;
    let bytes = elements.div_ceil(8);
    match mask.elements() >= bytes {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has {} bytes; it must have at least {bytes}, a bit for each of {elements} elements",
            cx.param_of(mask),
            mask.elements()
        ))),
    }
}

/// Draws a mask whose bits are 1 with the probability `keep`.
fn masked(cx: &mut Cx<'_>, keep: f64, len: usize, out: View) -> Result<(), Refusal> {
    let Seed { source, inputs } = seed(cx)?;
    let kernel = Bits {
        source,
        probability: keep,
        len,
    };
    drawn(cx, Box::new(kernel), &inputs, DataType::UInt8, out)
}

fn gen_mask(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, prob) = (cx.out("out")?, cx.float("prob")?);
    check_chance(cx, "prob", prob)?;
    let shape = cx.ints("shape")?;
    let elements = shape.iter().try_fold(1usize, |all, &dim| {
        all.checked_mul(usize::try_from(dim).ok()?)
    });
    let Some(elements) = elements else {
        return Err(cx.invalid(format_args!(
            "shape is {shape:?}; dimensions must be at least 0, and small enough to be multiplied"
        )));
    };
    check_mask(cx, &out, elements)?;
    masked(cx, 1.0 - prob, elements, out)
}

/// Writes elements times a factor where the mask has a 1, and zeros elsewhere.
fn kept(cx: &mut Cx<'_>, x: View, mask: View, scale: f64, out: View) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    let bits = cx.dense(mask)?;
    let keep = cx.temporary(DataType::Bool, x.dims())?;
    cx.kernel(Box::new(Unpack), &[Some(bits)], &[keep], false)?;
    let compute = match x.dtype() {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    };
    let product = cx.temporary(compute, x.dims())?;
    let factor = Operand::Scalar(Scalar::of_f64(scale));
    cx.map(F::Mul, compute, &[Operand::Tensor(x), factor], product)?;
    let zero = Operand::Scalar(Scalar::of_f64(0.0));
    let operands = [Operand::Tensor(keep), Operand::Tensor(product), zero];
    cx.map(F::Where, compute, &operands, out)
}

/// Returns what kept elements are multiplied by.
fn factor(prob: f64) -> f64 {
    if prob < 1.0 { 1.0 / (1.0 - prob) } else { 0.0 }
}

/// Returns the input and the output, which have one type and one shape.
fn ends(cx: &Cx<'_>) -> Result<(View, View), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.out("out")?);
    check_real(cx, &x)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    Ok((x, out))
}

fn do_mask(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let ((x, out), mask, prob) = (ends(cx)?, cx.tensor("mask")?, cx.float("prob")?);
    check_chance(cx, "prob", prob)?;
    check_mask(cx, &mask, x.elements())?;
    kept(cx, x, mask, factor(prob), out)
}

/// Outside of training the input is copied, and every bit of the mask is 1.
fn dropout(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let ((x, out), mask, prob) = (ends(cx)?, cx.out("maskOut")?, cx.float("p")?);
    check_chance(cx, "p", prob)?;
    check_mask(cx, &mask, x.elements())?;
    if !cx.flag("train")? {
        cx.fill(Scalar::of_i64(255), mask)?;
        return cx.copy(x, out);
    }
    dropped(cx, x, prob, mask, out)
}

/// Draws a mask and keeps what it says.
fn dropped(cx: &mut Cx<'_>, x: View, prob: f64, mask: View, out: View) -> Result<(), Refusal> {
    let bits = match mask.is_dense() {
        true => mask,
        false => cx.temporary(DataType::UInt8, mask.dims())?,
    };
    masked(cx, 1.0 - prob, x.elements(), bits)?;
    kept(cx, x, bits, factor(prob), out)?;
    cx.copy(bits, mask)
}

/// The mask is not written where nothing is drawn.
fn dropout_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, mask) = (cx.tensor("input")?, cx.out("out")?, cx.out("maskOut")?);
    let prob = cx.float("p")?;
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&out, FLOATS)?;
    cx.check_dtype(&mask, DataType::UInt8)?;
    check_chance(cx, "p", prob)?;
    cx.check_dims(&out, x.dims())?;
    let bytes = x.elements().div_ceil(128) * 16;
    if mask.elements() != bytes {
        return Err(cx.invalid(format_args!(
            "maskOut has the shape {:?}; it must have {bytes} bytes, a bit for each of {} elements in groups of 128",
            mask.dims(),
            x.elements()
        )));
    }
    if cx.optional("optionalNoiseShape")?.is_some() {
        return Err(cx.invalid("optionalNoiseShape must be null: it is reserved"));
    }
    if prob == 0.0 {
        return cx.copy(x, out);
    }
    if prob == 1.0 {
        return cx.fill(Scalar::of_i64(0), out);
    }
    dropped(cx, x, prob, mask, out)
}

/// The gradient of dropout. A scale of 1 means that nothing was dropped.
fn backward(cx: &mut Cx<'_>, gradient: &str, out: &str) -> Result<(), Refusal> {
    let (x, mask, out) = (cx.tensor(gradient)?, cx.tensor("mask")?, cx.out(out)?);
    let scale = cx.float("scale")?;
    check_real(cx, &x)?;
    cx.check_converts(x.dtype(), &out)?;
    cx.check_dims(&out, x.dims())?;
    check_mask(cx, &mask, x.elements())?;
    match scale {
        0.0 => cx.fill(Scalar::of_i64(0), out),
        1.0 => cx.copy(x, out),
        _ => kept(cx, x, mask, scale, out),
    }
}
