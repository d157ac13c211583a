//! Sum of any number of tensors; ONNX's `Mean` divides it by their number.

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::kernels::elementwise::infer_same;
use crate::kernels::loops::{Loops, broadcast_strides, dense_strides};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::{RowMut, View};
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, TensorType, Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "AccumulateNV2",
    onnx: &[
        OnnxForm::new("Sum", 6, LATEST, |builder, node| {
            lower(builder, node, false)
        }),
        OnnxForm::new("Mean", 6, LATEST, |builder, node| {
            lower(builder, node, true)
        }),
    ],
    inputs: &[InputDef::variadic("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("N", 1),
        // Ours: the sum is divided by the number of tensors before it is rounded.
        AttrDef::bool("mean", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = cx.same_types(0..cx.len())?;
        let mut joined = infer_same(cx)?.remove(0);
        for index in 1..cx.len() {
            joined = TensorType {
                dtype,
                shape: infer::broadcast(&joined, cx.input(index)?)?,
            };
        }
        Ok(vec![joined])
    },
    prepare: |cx| {
        let shape = cx.output_shape(0)?;
        let own = dense_strides(shape);
        let loops = (0..cx.inputs())
            .map(|index| {
                Ok(Loops::new(
                    shape,
                    [&own, &broadcast_strides(cx.shape(index)?, shape)],
                ))
            })
            .collect::<Result<Vec<_>, OpError>>()?;
        let (outputs, mean) = (shape.iter().product(), mean(cx.infer())?);
        for_carried!(cx.dtype(0)?, T => {
            Ok(Box::new(Accumulate::<T> { loops, outputs, mean, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn mean(cx: &InferCx<'_>) -> Result<bool, OpError> {
    cx.attrs().bool("mean")
}

fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    mean: bool,
) -> Result<Vec<ValueRef>, OpError> {
    let inputs = node.inputs();
    match inputs {
        // Two tensors are what most models add, and the fast way.
        [Some(_), Some(_)] if !mean => Ok(vec![builder.node("Add", inputs, Attrs::new())?]),
        _ => {
            let attrs = Attrs::new()
                .with("N", inputs.len() as i64)
                .with("mean", mean);
            Ok(vec![builder.node("AccumulateNV2", inputs, attrs)?])
        }
    }
}

struct Accumulate<T> {
    loops: Vec<Loops<2>>,
    outputs: usize,
    mean: bool,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Accumulate<T> {
    fn add(
        &self,
        loops: &Loops<2>,
        input: View<'_, T>,
        sums: RowMut<'_, T::Wide>,
    ) -> Result<(), OpError> {
        let (len, [to_step, from_step]) = (loops.row(), loops.steps());
        loops.each([0; 2], |[to, from]| {
            let row = input.row(from, len, from_step);
            for index in 0..len {
                let at = to + index * to_step as usize;
                sums.set(at, sums.get(at).plus(row.get(index).widen()));
            }
        });
        Ok(())
    }
}

impl<T: ConvertibleElement> Kernel for Accumulate<T> {
    fn scratch_bytes(&self) -> usize {
        self.outputs * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let out = call.output::<T>(0)?.flat();
        let sums = call.scratch::<T::Wide>(0, self.outputs)?;
        sums.fill(T::Wide::ZERO);
        for (index, loops) in self.loops.iter().enumerate() {
            self.add(loops, call.input::<T>(index)?, sums)?;
        }
        let count = if self.mean { self.loops.len() } else { 1 };
        for index in 0..out.len() {
            out.set(index, T::from_wide(sums.get(index).over(count)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let (x, y, z) = (
            f32s(&[2], &[1.0, 2.0]),
            f32s(&[2, 1], &[10.0, 20.0]),
            f32s(&[], &[100.0]),
        );
        let inputs = [x, y, z];
        check(
            "AccumulateNV2",
            &inputs,
            none(),
            &f32s(&[2, 2], &[111.0, 112.0, 121.0, 122.0]),
        );
        check(
            "AccumulateNV2",
            &inputs,
            none().with("mean", true),
            &f32s(&[2, 2], &[37.0, 37.333_332, 40.333_332, 40.666_668]),
        );
        check("AccumulateNV2", &inputs[..1], none(), &inputs[0]);
        refuse("AccumulateNV2", &[], none(), "missing");
    }
}
