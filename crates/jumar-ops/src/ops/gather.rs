//! Gathers slices of a tensor by index.

use crate::kernels::number::{for_dtype, for_width};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, Tensor,
    TensorType, Types, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "GatherV2",
    onnx: &[OnnxForm::new("Gather", 1, LATEST, |builder, node| {
        let axis =
            builder.add_constant(Tensor::from_ints(&[node.int_or("axis", 0)?]).reshaped(&[])?);
        let inputs = [Some(node.input(0)?), Some(node.input(1)?), Some(axis)];
        Ok(vec![builder.node(
            "GatherV2",
            &inputs,
            Attrs::new().with("negative_index_support", true),
        )?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("indices", Types::INDEX),
        InputDef::constant("axis", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("batch_dims", 0),
        AttrDef::bool("is_preprocessed", false),
        AttrDef::bool("negative_index_support", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().int("batch_dims")? != 0 {
            return Err(OpError::unsupported(
                "batch_dims other than 0 is not supported",
            ));
        }
        let (input, indices) = (cx.input(0)?, cx.input(1)?);
        let unknown = || Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
        let (Some(rank), Some(_), Some(axis)) = (input.rank(), indices.rank(), cx.ints(2)?) else {
            return unknown();
        };
        let &[axis] = &axis[..] else {
            return Err(OpError::invalid(format!(
                "the axis has {} numbers; it must have one",
                axis.len()
            )));
        };
        let axis = infer::axis(axis, rank)?;
        let shape = [
            &input.shape[..axis],
            &indices.shape[..],
            &input.shape[axis + 1..],
        ]
        .concat();
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let axis = infer::axis(cx.ints(2)?.first().copied().unwrap_or(0), shape.len())?;
        let sizes = Sizes {
            outer: shape[..axis].iter().product(),
            axis: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            negative: cx.attrs().bool("negative_index_support")?,
        };
        for_width!(cx.dtype(0)?, T => for_dtype!(cx.dtype(1)?, [Int32 => i32, Int64 => i64], I => {
            Ok(Box::new(Gather::<T, I> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        }))
    },
}];

#[derive(Clone, Copy)]
struct Sizes {
    outer: usize,
    axis: usize,
    inner: usize,
    negative: bool,
}

struct Gather<T, I> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T, I)>,
}

impl<T: Element, I: Element + Into<i64>> Kernel for Gather<T, I> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            outer,
            axis,
            inner,
            negative,
        } = self.sizes;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let indices = call.input::<I>(1)?.flat();
        let mut at = 0;
        for step in 0..outer {
            for position in 0..indices.len() {
                let index: i64 = indices.get(position).into();
                let wrapped = if index < 0 && negative {
                    index + axis as i64
                } else {
                    index
                };
                let Some(from) = usize::try_from(wrapped).ok().filter(|&from| from < axis) else {
                    return Err(OpError::data(format!(
                        "element {position} of the indices is {index}, and the axis has {axis} elements"
                    )));
                };
                out.slice(at, inner)
                    .copy_from(input.slice((step * axis + from) * inner, inner));
                at += inner;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let attrs = || none().with("negative_index_support", true);
        let axis = |axis: i64| i64s(&[], &[axis]);
        let rows = f32s(&[2, 2], &[5.0, 6.0, 1.0, 2.0]);
        check(
            "GatherV2",
            &[x.clone(), i64s(&[2], &[-1, 0]), axis(0)],
            attrs(),
            &rows,
        );
        check(
            "GatherV2",
            &[x.clone(), i64s(&[], &[1]), axis(-1)],
            attrs(),
            &f32s(&[3], &[2.0, 4.0, 6.0]),
        );
        refuse(
            "GatherV2",
            &[x.clone(), i64s(&[1], &[3]), axis(0)],
            attrs(),
            "is 3",
        );
        refuse(
            "GatherV2",
            &[x, i64s(&[1], &[-1]), axis(0)],
            none(),
            "is -1",
        );
    }
}
