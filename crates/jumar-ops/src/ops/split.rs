//! Splits a tensor into parts along an axis.

use crate::kernels::loops::dense_strides;
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm,
    OnnxNode, OpError, Operator, OutputView, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "SplitV",
    onnx: &[OnnxForm::new("Split", 2, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::ALL),
        // Left out, the parts are of one size, and the last may be smaller.
        InputDef::optional_constant("size_splits", Types::INDEX),
        InputDef::constant("split_dim", Types::INDEX),
    ],
    // One a part.
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::required("num_split", AttrKind::Int)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (input, parts) = (cx.input(0)?, parts(cx)?);
        let Some((rank, axis)) = input.rank().zip(cx.ints(2)?) else {
            return Ok(vec![TensorType::of_unknown_rank(input.dtype); parts]);
        };
        let axis = infer::axis(axis.first().copied().unwrap_or(0), rank)?;
        let sizes = match usize::try_from(input.shape[axis]) {
            Ok(dim) => sizes(cx, dim, parts)?,
            Err(_) => None,
        };
        let part = |index: usize| {
            let mut shape = input.shape.clone();
            shape[axis] = sizes.as_ref().map_or(UNKNOWN, |sizes| sizes[index] as i64);
            TensorType {
                dtype: input.dtype,
                shape,
            }
        };
        Ok((0..parts).map(part).collect())
    },
    prepare: |cx| {
        let (shape, parts) = (cx.shape(0)?, parts(cx.infer())?);
        let axis = infer::axis(cx.ints(2)?.first().copied().unwrap_or(0), shape.len())?;
        let inner: usize = shape[axis + 1..].iter().product();
        let sizes = sizes(cx.infer(), shape[axis], parts)?
            .ok_or_else(|| OpError::unsupported("the sizes of the parts have to be known"))?;
        let (outer, row) = (shape[..axis].iter().product(), shape[axis] * inner);
        let parts = sizes.into_iter().map(|size| size * inner).collect();
        for_width!(cx.dtype(0)?, T => {
            let strides = dense_strides(shape);
            Ok(Box::new(Split::<T> { outer, row, parts, strides, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

/// More parts than this are a mistake.
const MOST: i64 = 1 << 16;

fn parts(cx: &InferCx<'_>) -> Result<usize, OpError> {
    match cx.attrs().int("num_split")? {
        count @ 1..=MOST => Ok(count as usize),
        count => Err(OpError::invalid(format!("{count} parts"))),
    }
}

/// The size of each part; `None` where the sizes are given and not known yet.
fn sizes(cx: &InferCx<'_>, dim: usize, parts: usize) -> Result<Option<Vec<usize>>, OpError> {
    let wrong = |sizes: &[i64]| {
        OpError::invalid(format!(
            "an axis of {dim} cannot be cut into {parts} parts of {sizes:?}"
        ))
    };
    if !cx.has(1) {
        let size = dim.div_ceil(parts);
        return Ok(Some(
            (0..parts)
                .map(|part| size.min(dim.saturating_sub(part * size)))
                .collect(),
        ));
    }
    let Some(list) = cx.ints(1)? else {
        return Ok(None);
    };
    let sizes: Option<Vec<usize>> = list
        .iter()
        .map(|&size| usize::try_from(size).ok())
        .collect();
    match sizes {
        Some(sizes)
            if sizes.len() == parts
                && sizes
                    .iter()
                    .try_fold(0usize, |sum, &size| sum.checked_add(size))
                    == Some(dim) =>
        {
            Ok(Some(sizes))
        }
        _ => Err(wrong(&list)),
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let axis = builder.add_constant(Tensor::from_ints(&[node.int_or("axis", 0)?]).reshaped(&[])?);
    let sizes = if node.opset < 13 {
        node.ints("split")?
            .map(|sizes| builder.add_constant(Tensor::from_ints(sizes)))
    } else {
        node.optional(1)
    };
    let parts = node.int_or("num_outputs", node.outputs as i64)?;
    if parts != node.outputs as i64 {
        return Err(OpError::invalid(format!(
            "num_outputs is {parts}, and the node has {} outputs",
            node.outputs
        )));
    }
    let attrs = Attrs::new().with("num_split", parts);
    builder.add_node(
        "SplitV",
        &[Some(node.input(0)?), sizes, Some(axis)],
        attrs,
        node.outputs,
    )
}

struct Split<T> {
    outer: usize,
    /// Elements of the input a step of the outer dimensions.
    row: usize,
    /// The same of each part.
    parts: Vec<usize>,
    strides: Vec<isize>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Split<T> {
    fn as_view_of_input(&self, output: usize) -> Option<OutputView> {
        self.parts.get(output)?;
        Some(OutputView {
            start: self.parts[..output].iter().sum(),
            strides: self.strides.clone(),
        })
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = call.input::<T>(0)?.flat();
        let mut at = 0;
        for (index, &part) in self.parts.iter().enumerate().take(call.outputs()) {
            let out = call.output::<T>(index)?.flat();
            for outer in 0..self.outer {
                out.slice(outer * part, part)
                    .copy_from(input.slice(outer * self.row + at, part));
            }
            at += part;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let axis = || i64s(&[], &[-1]);
        let parts = run(
            "SplitV",
            &[x(), i64s(&[2], &[1, 2]), axis()],
            none().with("num_split", 2),
        )
        .unwrap();
        assert_eq!(
            parts,
            [
                f32s(&[2, 1], &[1.0, 4.0]),
                f32s(&[2, 2], &[2.0, 3.0, 5.0, 6.0])
            ]
        );
        let sizes = |list: &[i64]| i64s(&[list.len()], list);
        refuse(
            "SplitV",
            &[x(), sizes(&[1, 1]), axis()],
            none().with("num_split", 2),
            "cannot be cut",
        );
        refuse(
            "SplitV",
            &[x(), sizes(&[3]), axis()],
            none().with("num_split", 2),
            "cannot be cut",
        );
        refuse(
            "SplitV",
            &[x(), sizes(&[3]), axis()],
            none().with("num_split", 0),
            "0 parts",
        );
    }
}
