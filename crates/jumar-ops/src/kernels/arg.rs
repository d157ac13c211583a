//! The index of the largest or the smallest element along an axis.

use jumar_types::dtype::DataType;

use super::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::{
    Attrs, Builder, Call, InferCx, Kernel, OnnxNode, OpError, PrepareCx, Tensor, TensorType,
    ValueRef, infer,
};

/// Infers the shape of the indices: input 0 without the axis that constant input 1 names.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    let dtype = cx.attrs().dtype("dtype")?;
    if !crate::Types::INDEX.contains(dtype) {
        return Err(OpError::invalid(format!("indices of type {dtype}")));
    }
    let (Some(rank), Some(axis)) = (input.rank(), cx.ints(1)?) else {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    };
    let &[axis] = &axis[..] else {
        return Err(OpError::invalid(format!(
            "the dimension has {} numbers; it must have one",
            axis.len()
        )));
    };
    let axis = infer::axis(axis, rank)?;
    if input.shape[axis] == 0 {
        return Err(OpError::invalid(format!(
            "{input} has no element along axis {axis}"
        )));
    }
    let mut shape = input.shape.clone();
    shape.remove(axis);
    Ok(vec![TensorType { dtype, shape }])
}

/// Makes the kernel: of the smallest, or of the largest.
pub(crate) fn prepare(cx: &PrepareCx<'_>, smallest: bool) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let axis = infer::axis(cx.ints(1)?.first().copied().unwrap_or(0), shape.len())?;
    let sizes = Sizes {
        outer: shape[..axis].iter().product(),
        len: shape[axis],
        inner: shape[axis + 1..].iter().product(),
        last: cx.attrs().bool("select_last_index")?,
        smallest,
        wide: cx.output_dtype(0)? == DataType::Int64,
    };
    for_carried!(cx.dtype(0)?, T => {
        Ok(Box::new(ArgKernel::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}

/// Converts ONNX's node; the result keeps the axis unless the node says otherwise.
pub(crate) fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    let axis = node.int_or("axis", 0)?;
    let dimension = builder.add_constant(Tensor::from_ints(&[axis]).reshaped(&[])?);
    let attrs = Attrs::new().with(
        "select_last_index",
        node.bool_or("select_last_index", false)?,
    );
    let out = builder.node(operator, &[Some(node.input(0)?), Some(dimension)], attrs)?;
    if node.bool_or("keepdims", true)? {
        let attrs = Attrs::new().with("axes", vec![axis]);
        return Ok(vec![builder.node("Unsqueeze", &[Some(out)], attrs)?]);
    }
    Ok(vec![out])
}

struct Sizes {
    outer: usize,
    len: usize,
    inner: usize,
    last: bool,
    smallest: bool,
    wide: bool,
}

struct ArgKernel<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

/// Whether an element replaces the best so far. The first that is not a number stays.
fn better<W: Wide>(x: W, best: W, sizes: &Sizes) -> bool {
    let odd = |x: W| x.partial_cmp(&x).is_none();
    if odd(best) || odd(x) {
        return !odd(best) || (sizes.last && odd(x));
    }
    (if sizes.smallest { x < best } else { x > best }) || (sizes.last && x == best)
}

impl<T: ConvertibleElement> Kernel for ArgKernel<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let sizes = &self.sizes;
        let input = call.input::<T>(0)?.flat();
        for step in 0..sizes.outer {
            for column in 0..sizes.inner {
                let start = step * sizes.len * sizes.inner + column;
                let row = input.stepped(start, sizes.len, sizes.inner);
                let (mut best_index, mut best) = (0, row.get(0).widen());
                for index in 1..sizes.len {
                    let x = row.get(index).widen();
                    if better(x, best, sizes) {
                        (best_index, best) = (index, x);
                    }
                }
                let to = step * sizes.inner + column;
                if sizes.wide {
                    call.output::<i64>(0)?.flat().set(to, best_index as i64);
                } else {
                    call.output::<i32>(0)?.flat().set(to, best_index as i32);
                }
            }
        }
        Ok(())
    }
}
