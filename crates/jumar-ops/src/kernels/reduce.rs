//! Operators that join the elements along some axes.

use jumar_types::dtype::DataType;

use super::compute_types::{BLOCK, ConvertibleElement, Wide, for_carried};
use super::loops::{Loops, dense_strides};
use super::reduce_direct::Direct;
use crate::simd::convert::convert;
use crate::view::{BF16, F16, Row, RowMut};
use crate::{
    Attrs, Builder, Call, InferCx, Kernel, OnnxNode, OpError, PrepareCx, Tensor, TensorType,
    UNKNOWN, ValueRef, infer,
};

/// How elements are joined. Floats are joined in float64, integers in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The product.
    Product,
    /// The largest; not-a-number wins.
    Most,
    /// The smallest; not-a-number wins.
    Least,
    /// The sum of the sizes.
    L1,
    /// The root of the sum of squares.
    L2,
    /// The sum of squares.
    Squares,
    /// The logarithm of the sum.
    LogSum,
    /// The logarithm of the sum of exponentials.
    LogSumExp,
}

/// The axes to join: constant input 1, all of them where there is none.
pub(crate) fn axes_of(cx: &InferCx<'_>, rank: usize) -> Result<Option<Vec<usize>>, OpError> {
    let noop = cx.attrs().bool("noop_with_empty_axes").unwrap_or(false);
    let none = || {
        if noop {
            Vec::new()
        } else {
            (0..rank).collect()
        }
    };
    if !cx.has(1) {
        // Our own operators define that; ONNX's conversion passes an empty list.
        return Ok(Some((0..rank).collect()));
    }
    let Some(list) = cx.ints(1)? else {
        return Ok(None);
    };
    if list.is_empty() {
        return Ok(Some(none()));
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

/// A reduction of one element type.
struct Reduce {
    loops: Loops<2>,
    outputs: usize,
    count: usize,
    join: Join,
    run: fn(&Reduce, &Call<'_>) -> Result<(), OpError>,
}

impl Kernel for Reduce {
    fn scratch_bytes(&self) -> usize {
        // Sums, and for the logarithm of exponentials the largest elements, of eight bytes each.
        let rows = if self.join == Join::LogSumExp { 2 } else { 1 };
        self.outputs * rows * size_of::<u64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

/// Makes a reduction's kernel, over the axes that the node names.
pub(crate) fn prepare(cx: &PrepareCx<'_>, join: Join) -> Result<Box<dyn Kernel>, OpError> {
    let axes = axes_of(cx.infer(), cx.shape(0)?.len())?
        .ok_or_else(|| OpError::unsupported("the axes have to be a constant"))?;
    over(cx, &axes, join)
}

/// Makes a reduction's kernel, over given axes.
pub(crate) fn over(
    cx: &PrepareCx<'_>,
    axes: &[usize],
    join: Join,
) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let direct = match cx.dtype(0)? {
        DataType::Float32 => Direct::new::<f32>(shape, axes, join),
        DataType::Float16 => Direct::new::<F16>(shape, axes, join),
        DataType::BFloat16 => Direct::new::<BF16>(shape, axes, join),
        _ => None,
    };
    if let Some(kernel) = direct {
        return Ok(Box::new(kernel));
    }
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
    for_carried!(cx.dtype(0)?, T => Ok(Box::new(Reduce {
        loops,
        outputs: kept.iter().product(),
        count: axes.iter().map(|&axis| shape[axis]).product(),
        join,
        run: Reduce::run_typed::<T>,
    }) as Box<dyn Kernel>))
}

impl Reduce {
    fn run_typed<T: ConvertibleElement>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let sums = call.scratch::<T::Wide>(0, self.outputs)?;
        let mut join = self.join;
        if join == Join::LogSumExp {
            // Exponentials are taken of distances from the largest element, so that none overflows.
            let tops =
                call.scratch::<T::Wide>(self.outputs * size_of::<T::Wide>(), self.outputs)?;
            tops.fill(T::LEAST);
            self.pass::<T>(input, Join::Most, Before::Nothing, tops)?;
            sums.fill(T::Wide::ZERO);
            self.pass::<T>(input, Join::Sum, Before::Exponentials(tops), sums)?;
            for index in 0..out.len() {
                let top = base(tops.get(index));
                out.set(index, T::from_real(sums.get(index).real().ln() + top));
            }
            return Ok(());
        }
        sums.fill(match join {
            Join::Most => T::LEAST,
            Join::Least => T::MOST,
            Join::Product => T::Wide::ONE,
            _ => T::Wide::ZERO,
        });
        let before = match join {
            Join::L1 => Before::Sizes,
            Join::L2 | Join::Squares => Before::Squares,
            _ => Before::Nothing,
        };
        if !matches!(join, Join::Most | Join::Least | Join::Product) {
            join = Join::Sum;
        }
        self.pass::<T>(input, join, before, sums)?;
        for index in 0..out.len() {
            let sum = sums.get(index);
            out.set(
                index,
                match self.join {
                    Join::Mean => T::from_wide(sum.over(self.count)),
                    Join::L2 => T::from_real(sum.real().sqrt()),
                    Join::LogSum => T::from_real(sum.real().ln()),
                    _ => T::from_wide(sum),
                },
            );
        }
        Ok(())
    }

    /// Adds every element to the sum of its position, a block at a time.
    fn pass<T: ConvertibleElement>(
        &self,
        input: Row<'_, T>,
        join: Join,
        before: Before<'_, T::Wide>,
        sums: RowMut<'_, T::Wide>,
    ) -> Result<(), OpError> {
        let (len, [step, to_step]) = (self.loops.row(), self.loops.steps());
        let mut block = [T::Wide::ZERO; BLOCK];
        let mut own = [T::Wide::ZERO; BLOCK];
        self.loops.each([0; 2], |[from, to]| {
            let row = input.stepped(from, len, step as usize);
            for start in (0..len).step_by(BLOCK) {
                let len = BLOCK.min(len - start);
                let block = &mut block[..len];
                convert(row.slice(start, len), RowMut::of(block), T::widen);
                if to_step == 0 {
                    before.apply(block, |_| to);
                    sums.set(to, T::Wide::fold(join, sums.get(to), block));
                    continue;
                }
                let target = sums.stepped(to + start * to_step as usize, len, to_step as usize);
                before.apply(block, |index| to + (start + index) * to_step as usize);
                let own = &mut own[..len];
                target.as_row().load(own, |x| x);
                T::Wide::join(join, own, block);
                target.store(own, |x| x);
            }
        });
        Ok(())
    }
}

/// What exponentials are taken relative to: the largest, where it is a number.
fn base<W: Wide>(top: W) -> f64 {
    let top = top.real();
    if top.is_finite() { top } else { 0.0 }
}

/// What is made of the elements before they are joined.
#[derive(Clone, Copy)]
enum Before<'a, W> {
    Nothing,
    Sizes,
    Squares,
    /// The exponentials of their distances from the largest of their position.
    Exponentials(RowMut<'a, W>),
}

impl<W: Wide> Before<'_, W> {
    /// Changes a block; `position` returns the index of an element's sum.
    fn apply(self, block: &mut [W], position: impl Fn(usize) -> usize) {
        match self {
            Before::Nothing => {}
            Before::Sizes => block.iter_mut().for_each(|x| *x = x.size()),
            Before::Squares => block.iter_mut().for_each(|x| *x = x.times(*x)),
            Before::Exponentials(tops) => {
                for (index, x) in block.iter_mut().enumerate() {
                    *x = W::of((x.real() - base(tops.get(position(index)))).exp());
                }
            }
        }
    }
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
    let noop = node.bool_or("noop_with_empty_axes", false)?;
    let attrs = Attrs::new()
        .with("keep_dims", node.bool_or("keepdims", true)?)
        .with("noop_with_empty_axes", noop);
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
