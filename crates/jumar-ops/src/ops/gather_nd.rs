//! Gathers slices of a tensor by the indices of several axes.

use crate::kernels::data_movement::{Tuples, tuples};
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "GatherNd",
    onnx: &[OnnxForm::new("GatherND", 11, LATEST, |builder, node| {
        let attrs = Attrs::new()
            .with("batch_dims", node.int_or("batch_dims", 0)?)
            .with("negative_index_support", true);
        Ok(vec![builder.node("GatherNd", node.inputs(), attrs)?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("indices", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::bool("negative_index_support", false),
        // Ours: ONNX can take the first dimensions of both together.
        AttrDef::int("batch_dims", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (input, indices) = (cx.input(0)?, cx.input(1)?);
        let (Some(rank), Some(depth)) = (input.rank(), indices.rank()) else {
            return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
        };
        let batch = batch(cx)?;
        let wrong = || {
            OpError::invalid(format!(
                "the indices are {indices}, and the tensor is {input}"
            ))
        };
        if depth == 0 || batch >= depth || batch >= rank {
            return Err(wrong());
        }
        let width = indices.shape[depth - 1];
        if width == UNKNOWN {
            return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
        }
        let from = usize::try_from(width)
            .ok()
            .map(|width| batch + width)
            .filter(|&from| from <= rank)
            .ok_or_else(wrong)?;
        let differ = |(a, b): (&i64, &i64)| *a >= 0 && *b >= 0 && a != b;
        if input.shape[..batch]
            .iter()
            .zip(&indices.shape[..batch])
            .any(differ)
        {
            return Err(wrong());
        }
        let shape = [&indices.shape[..depth - 1], &input.shape[from..]].concat();
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let batch = batch(cx.infer())?;
        let negative = cx.attrs().bool("negative_index_support")?;
        let tuples = tuples(cx.shape(0)?, cx.shape(1)?, batch, negative, cx.dtype(1)?);
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Gather::<T> { tuples, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn batch(cx: &InferCx<'_>) -> Result<usize, OpError> {
    let batch = cx.attrs().int("batch_dims")?;
    usize::try_from(batch).map_err(|_| OpError::invalid(format!("batch_dims is {batch}")))
}

struct Gather<T> {
    tuples: Tuples,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Gather<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let slice = self.tuples.slice;
        self.tuples.each(call, 1, |tuple, from| {
            out.slice(tuple * slice, slice)
                .copy_from(input.slice(from, slice));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let attrs = || none().with("negative_index_support", true);
        check(
            "GatherNd",
            &[x(), i64s(&[2, 2], &[0, 1, 1, -2])],
            attrs(),
            &f32s(&[2, 2], &[2.0, 3.0, 4.0, 5.0]),
        );
        check(
            "GatherNd",
            &[x(), i64s(&[1, 3], &[1, 0, 1])],
            attrs(),
            &f32s(&[1], &[5.0]),
        );
        let batched = attrs().with("batch_dims", 1);
        check(
            "GatherNd",
            &[x(), i64s(&[2, 1], &[1, 0])],
            batched,
            &f32s(&[2, 2], &[2.0, 3.0, 4.0, 5.0]),
        );
        refuse("GatherNd", &[x(), i64s(&[1, 1], &[2])], attrs(), "is 2");
        refuse("GatherNd", &[x(), i64s(&[1, 1], &[-1])], none(), "is -1");
        refuse(
            "GatherNd",
            &[x(), i64s(&[1, 4], &[0; 4])],
            none(),
            "the indices are",
        );
    }
}
