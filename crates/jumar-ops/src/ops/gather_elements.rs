//! Gathers single elements along an axis by index.

use crate::kernels::data_movement::{Indices, checked_index};
use crate::kernels::loops::{Loops, dense_strides};
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType,
    Types, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "GatherElements",
    onnx: &[OnnxForm::new(
        "GatherElements",
        11,
        LATEST,
        |builder, node| {
            let attrs = Attrs::new().with("dim", node.int_or("axis", 0)?);
            Ok(vec![builder.node(
                "GatherElements",
                node.inputs(),
                attrs,
            )?])
        },
    )],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("index", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("dim", 0)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (input, index) = (cx.input(0)?, cx.input(1)?);
        if let (Some(rank), Some(other)) = (input.rank(), index.rank()) {
            let axis = infer::axis(cx.attrs().int("dim")?, rank)?;
            let beyond =
                |at: usize| at != axis && input.shape[at] >= 0 && index.shape[at] > input.shape[at];
            if rank != other || (0..rank).any(beyond) {
                return Err(OpError::invalid(format!(
                    "the indices are {index}, and the tensor is {input}"
                )));
            }
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape: index.shape.clone(),
        }])
    },
    prepare: |cx| {
        let (shape, to) = (cx.shape(0)?, cx.shape(1)?);
        let axis = infer::axis(cx.attrs().int("dim")?, shape.len())?;
        let mut from = dense_strides(shape);
        let step = std::mem::replace(&mut from[axis], 0) as usize;
        let (loops, size, index) = (
            Loops::new(to, [&dense_strides(to), &from]),
            shape[axis],
            cx.dtype(1)?,
        );
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Gather::<T> { loops, size, step, index, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

struct Gather<T> {
    loops: Loops<2>,
    /// Elements along the axis, and the distance between two of them.
    size: usize,
    step: usize,
    index: jumar_types::dtype::DataType,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Gather<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let indices = Indices::of(call, 1, self.index)?;
        let (len, [to_step, from_step]) = (self.loops.row(), self.loops.steps());
        self.loops.try_each([0; 2], |[to, from]| {
            for position in 0..len {
                let to = to + position * to_step as usize;
                let at = checked_index(indices.get(to), self.size, to)?;
                out.set(
                    to,
                    input.get(from + position * from_step as usize + at * self.step),
                );
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let index = || i64s(&[2, 2], &[0, -1, 1, 0]);
        check(
            "GatherElements",
            &[x(), index()],
            none().with("dim", 1),
            &f32s(&[2, 2], &[1.0, 3.0, 5.0, 4.0]),
        );
        check(
            "GatherElements",
            &[x(), index()],
            none(),
            &f32s(&[2, 2], &[1.0, 5.0, 4.0, 2.0]),
        );
        refuse(
            "GatherElements",
            &[x(), i64s(&[1, 1], &[2])],
            none(),
            "is 2",
        );
        refuse(
            "GatherElements",
            &[x(), i64s(&[3, 1], &[0; 3])],
            none().with("dim", 1),
            "indices are",
        );
    }
}
