//! Operators that join the elements along some axes.

use super::loops::{Loops, dense_strides};
use super::number::{Number, for_number};
use crate::{
    Attrs, Builder, Call, InferCx, Kernel, OnnxNode, OpError, PrepareCx, Tensor, TensorType,
    UNKNOWN, ValueRef, infer,
};

/// How elements are joined.
pub(crate) trait Reduction<T: Number>: Copy + Send + Sync + 'static {
    /// The type in which elements are joined.
    type Sum: Number;
    const START: Self::Sum;
    fn lift(x: T) -> Self::Sum;
    fn join(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    fn finish(sum: Self::Sum, count: usize) -> T;
}

/// The axes to join: constant input 1, all of them where there is none.
pub(crate) fn axes_of(cx: &InferCx<'_>, rank: usize) -> Result<Option<Vec<usize>>, OpError> {
    if !cx.has(1) {
        return Ok(Some((0..rank).collect()));
    }
    let Some(list) = cx.ints(1)? else {
        return Ok(None);
    };
    if list.is_empty() {
        let noop = cx.attrs().bool("noop_with_empty_axes").unwrap_or(false);
        return Ok(Some(if noop {
            Vec::new()
        } else {
            (0..rank).collect()
        }));
    }
    infer::axes(&list, rank).map(Some)
}

/// Infers the output of a reduction.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    let keep = cx.attrs().bool("keep_dims")?;
    let Some(rank) = input.rank() else {
        return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
    };
    let Some(axes) = axes_of(cx, rank)? else {
        return Ok(vec![if keep {
            TensorType::new(input.dtype, vec![UNKNOWN; rank])
        } else {
            TensorType::of_unknown_rank(input.dtype)
        }]);
    };
    let mut shape = Vec::with_capacity(rank);
    for (axis, &dim) in input.shape.iter().enumerate() {
        match axes.contains(&axis) {
            false => shape.push(dim),
            true if keep => shape.push(1),
            true => {}
        }
    }
    Ok(vec![TensorType {
        dtype: input.dtype,
        shape,
    }])
}

struct Reduce<T: Number, R: Reduction<T>> {
    loops: Loops<2>,
    outputs: usize,
    count: usize,
    types: std::marker::PhantomData<fn(T, R)>,
}

/// Makes a reduction's kernel for one element type, over the axes that the node names.
fn prepare<T: Number, R: Reduction<T>>(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let axes = axes_of(cx.infer(), cx.shape(0)?.len())?
        .ok_or_else(|| OpError::unsupported("the axes have to be a constant"))?;
    over::<T, R>(cx, &axes)
}

/// Makes a reduction's kernel for one element type, over given axes.
fn over<T: Number, R: Reduction<T>>(
    cx: &PrepareCx<'_>,
    axes: &[usize],
) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let kept: Vec<usize> = shape
        .iter()
        .enumerate()
        .map(|(axis, &dim)| if axes.contains(&axis) { 1 } else { dim })
        .collect();
    let mut to = dense_strides(&kept);
    for &axis in axes {
        to[axis] = 0;
    }
    let loops = Loops::new(shape, [&dense_strides(shape), &to]);
    Ok(Box::new(Reduce::<T, R> {
        loops,
        outputs: kept.iter().product(),
        count: axes.iter().map(|&axis| shape[axis]).product(),
        types: std::marker::PhantomData,
    }))
}

impl<T: Number, R: Reduction<T>> Kernel for Reduce<T, R> {
    fn scratch_bytes(&self) -> usize {
        self.outputs * size_of::<R::Sum>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let sums = call.scratch::<R::Sum>(0, self.outputs)?;
        sums.fill(R::START);
        let (len, [step, to_step]) = (self.loops.row(), self.loops.steps());
        self.loops.each([0; 2], |[from, to]| {
            let row = if step == 1 {
                input.slice(from, len)
            } else {
                input.stepped(from, len, step as usize)
            };
            if to_step == 0 {
                let sum = row.fold_wide(R::START, |sum, x| R::join(sum, R::lift(x)), R::join);
                sums.set(to, R::join(sums.get(to), sum));
            } else {
                sums.stepped(to, len, to_step as usize)
                    .update(row, |sum, x| R::join(sum, R::lift(x)));
            }
            Ok(())
        })?;
        out.map1(sums.as_row(), |sum| R::finish(sum, self.count));
        Ok(())
    }
}

/// The sum, kept in float64 for float32 and in float32 or wide integers for the narrow types.
#[derive(Clone, Copy)]
pub(crate) struct Sum;
/// The mean.
#[derive(Clone, Copy)]
pub(crate) struct Mean;
/// The largest.
#[derive(Clone, Copy)]
pub(crate) struct Most;
/// The smallest.
#[derive(Clone, Copy)]
pub(crate) struct Least;
/// The product.
#[derive(Clone, Copy)]
pub(crate) struct Product;

macro_rules! sums {
    ($($type:ty, $sum:ty, $lift:expr, $narrow:expr;)*) => {$(
        impl Reduction<$type> for Sum {
            type Sum = $sum;
            const START: $sum = 0 as $sum;
            #[inline(always)] fn lift(x: $type) -> $sum { $lift(x) }
            #[inline(always)] fn join(a: $sum, b: $sum) -> $sum { a.add(b) }
            #[inline(always)] fn finish(sum: $sum, _: usize) -> $type { $narrow(sum) }
        }
        impl Reduction<$type> for Mean {
            type Sum = $sum;
            const START: $sum = 0 as $sum;
            #[inline(always)] fn lift(x: $type) -> $sum { $lift(x) }
            #[inline(always)] fn join(a: $sum, b: $sum) -> $sum { a.add(b) }
            #[inline(always)] fn finish(sum: $sum, count: usize) -> $type {
                $narrow(sum.div(<$sum as Number>::from_f64(count as f64)))
            }
        }
        impl Reduction<$type> for Product {
            type Sum = $sum;
            const START: $sum = 1 as $sum;
            #[inline(always)] fn lift(x: $type) -> $sum { $lift(x) }
            #[inline(always)] fn join(a: $sum, b: $sum) -> $sum { a.mul(b) }
            #[inline(always)] fn finish(sum: $sum, _: usize) -> $type { $narrow(sum) }
        }
    )*};
}

sums! {
    f32, f64, f64::from, |sum: f64| sum as f32;
    f64, f64, |x: f64| x, |sum: f64| sum;
    crate::view::F16, f32, |x: crate::view::F16| x.to_f32(), crate::view::F16::from_f32;
    crate::view::BF16, f32, |x: crate::view::BF16| x.to_f32(), crate::view::BF16::from_f32;
    i8, i64, i64::from, |sum: i64| sum as i8;
    i16, i64, i64::from, |sum: i64| sum as i16;
    i32, i64, i64::from, |sum: i64| sum as i32;
    i64, i64, |x: i64| x, |sum: i64| sum;
    u8, u64, u64::from, |sum: u64| sum as u8;
    u16, u64, u64::from, |sum: u64| sum as u16;
    u32, u64, u64::from, |sum: u64| sum as u32;
    u64, u64, |x: u64| x, |sum: u64| sum;
}

impl<T: Number> Reduction<T> for Most {
    type Sum = T;
    const START: T = T::LOWEST;
    #[inline(always)]
    fn lift(x: T) -> T {
        x
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.max(b)
    }
    #[inline(always)]
    fn finish(sum: T, _: usize) -> T {
        sum
    }
}

impl<T: Number> Reduction<T> for Least {
    type Sum = T;
    const START: T = T::HIGHEST;
    #[inline(always)]
    fn lift(x: T) -> T {
        x
    }
    #[inline(always)]
    fn join(a: T, b: T) -> T {
        a.min(b)
    }
    #[inline(always)]
    fn finish(sum: T, _: usize) -> T {
        sum
    }
}

/// Makes the kernel of a sum.
pub(crate) fn prepare_sum(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => prepare::<T, Sum>(cx))
}

/// Makes the kernel of a mean over given axes.
pub(crate) fn prepare_mean_over(
    cx: &PrepareCx<'_>,
    axes: &[usize],
) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => over::<T, Mean>(cx, axes))
}

/// Makes the kernel of a mean.
pub(crate) fn prepare_mean(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => prepare::<T, Mean>(cx))
}

/// Makes the kernel of a product.
pub(crate) fn prepare_product(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => prepare::<T, Product>(cx))
}

/// Makes the kernel of a maximum.
pub(crate) fn prepare_most(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => prepare::<T, Most>(cx))
}

/// Makes the kernel of a minimum.
pub(crate) fn prepare_least(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => prepare::<T, Least>(cx))
}

/// Converts an ONNX reduction, whose axes became an input with operator set `input_since`.
pub(crate) fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
    input_since: i64,
) -> Result<Vec<ValueRef>, OpError> {
    let axes = if node.opset >= input_since {
        node.optional(1)
    } else {
        node.ints("axes")?
            .map(|axes| builder.add_constant(Tensor::from_ints(axes)))
    };
    let attrs = Attrs::new()
        .with("keep_dims", node.bool_or("keepdims", true)?)
        .with(
            "noop_with_empty_axes",
            node.bool_or("noop_with_empty_axes", false)?,
        );
    let noop = node.bool_or("noop_with_empty_axes", false)?;
    // Axes that are left out mean all of them, unless the node says that they mean none.
    let axes = match axes {
        None if noop => Some(builder.add_constant(Tensor::from_ints(&[]))),
        other => other,
    };
    Ok(vec![builder.node(
        operator,
        &[Some(node.input(0)?), axes],
        attrs,
    )?])
}
