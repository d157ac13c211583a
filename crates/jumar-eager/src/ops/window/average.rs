//! Averages of windows and of adaptive windows, and their gradients.

use jumar_types::dtype::DataType;

use super::linear::{Axis, Divisor, Rule, Window, apply};
use super::{Pool, check_images, resized, sizes_from};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::reduction::accumulator;
use crate::view::View;

/// Returns the maps of an average pooling between images and their windows.
fn axes(
    cx: &Cx<'_>,
    pool: &Pool,
    images: &View,
    counts: &[usize],
    divisor: Option<i64>,
) -> Result<Vec<Axis>, Refusal> {
    let inside = match cx.flag("countIncludePad")? {
        true => Divisor::Padded,
        false => Divisor::Inside,
    };
    let space = counts.len();
    let sizes = &images.dims()[images.rank() - space..];
    Ok((0..space)
        .map(|axis| {
            let divisor = match divisor {
                // One of the dimensions divides.
                Some(divisor) if axis == 0 => Divisor::Constant(divisor),
                Some(_) => Divisor::Constant(0),
                None => inside,
            };
            Axis {
                rule: Rule::Window(Window {
                    size: pool.kernel[axis],
                    stride: pool.strides[axis],
                    pad: pool.pads[axis],
                    divisor,
                }),
                from: sizes[axis],
                to: counts[axis],
            }
        })
        .collect())
}

/// Returns the divisor that replaces the number of entries, if the call names one.
fn divisor(cx: &Cx<'_>) -> Result<Option<i64>, Refusal> {
    Ok(Some(cx.int("divisorOverride")?).filter(|&divisor| divisor != 0))
}

pub(super) fn pool(
    cx: &mut Cx<'_>,
    [x, stride, padding, out]: &[&str; 4],
    space: usize,
) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor(x)?, cx.out(out)?);
    check_images(cx, &x, space)?;
    let pool = Pool::new(cx, [stride, padding], None, space)?;
    let counts = pool.counts(cx, &x, cx.flag("ceilMode")?)?;
    cx.check_dims(&out, &resized(&x, &counts))?;
    let divisor = divisor(cx)?;
    if !x.dtype().is_integer() {
        let axes = axes(cx, &pool, &x, &counts, divisor)?;
        return apply(cx, accumulator(x.dtype()), &axes, false, x, out);
    }
    // Integers: exact sums, divided by the number of entries and truncated.
    let compute = DataType::Float64;
    let sum = cx.temporary(compute, out.dims())?;
    let sums = axes(cx, &pool, &x, &counts, Some(0))?;
    apply(cx, compute, &sums, false, x, sum)?;
    let count = match divisor {
        Some(divisor) => Operand::Scalar(crate::Scalar::of_i64(divisor)),
        None => {
            let ones = cx.temporary(compute, x.dims())?;
            cx.fill(crate::Scalar::of_i64(1), ones)?;
            let means = axes(cx, &pool, &x, &counts, None)?;
            let (share, number) = (
                cx.temporary(compute, out.dims())?,
                cx.temporary(compute, out.dims())?,
            );
            apply(cx, compute, &means, false, ones, share)?;
            apply(cx, compute, &sums, false, ones, number)?;
            let both = [Operand::Tensor(number), Operand::Tensor(share)];
            let quotient = cx.temporary(compute, out.dims())?;
            cx.map(F::Div, compute, &both, quotient)?;
            cx.map(F::Round, compute, &[Operand::Tensor(quotient)], quotient)?;
            Operand::Tensor(quotient)
        }
    };
    let quotient = cx.temporary(compute, out.dims())?;
    cx.map(F::Div, compute, &[Operand::Tensor(sum), count], quotient)?;
    cx.copy(quotient, out)
}

pub(super) fn pool_backward(
    cx: &mut Cx<'_>,
    [gradient, out]: [&str; 2],
    space: usize,
) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor(gradient)?, cx.tensor("self")?, cx.out(out)?);
    check_images(cx, &x, space)?;
    cx.check_dims(&out, x.dims())?;
    let pool = Pool::new(cx, ["stride", "padding"], None, space)?;
    let counts = pool.counts(cx, &x, cx.flag("ceilMode")?)?;
    cx.check_dims(&gradient, &resized(&x, &counts))?;
    let axes = axes(cx, &pool, &x, &counts, divisor(cx)?)?;
    apply(cx, accumulator(x.dtype()), &axes, true, gradient, out)
}

fn adaptive_axes(images: &View, counts: &[usize]) -> Vec<Axis> {
    let sizes = &images.dims()[images.rank() - counts.len()..];
    let axis = |(&from, &to): (&usize, &usize)| Axis {
        rule: Rule::Adaptive,
        from,
        to,
    };
    sizes.iter().zip(counts).map(axis).collect()
}

pub(super) fn adaptive(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    check_images(cx, &x, 3)?;
    let counts = sizes_from(cx, "outputSize", 3, 0)?;
    cx.check_dims(&out, &resized(&x, &counts))?;
    let axes = adaptive_axes(&x, &counts);
    apply(cx, accumulator(x.dtype()), &axes, false, x, out)
}

pub(super) fn adaptive_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor("gradOutput")?, cx.tensor("self")?, cx.out("out")?);
    check_images(cx, &x, 3)?;
    cx.check_dims(&out, x.dims())?;
    if gradient.rank() != x.rank() {
        cx.check_dims(&gradient, x.dims())?;
    }
    let counts = gradient.dims()[x.rank() - 3..].to_vec();
    cx.check_dims(&gradient, &resized(&x, &counts))?;
    let axes = adaptive_axes(&x, &counts);
    apply(cx, accumulator(x.dtype()), &axes, true, gradient, out)
}
