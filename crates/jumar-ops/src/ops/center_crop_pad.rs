//! Cuts the middle out of a tensor, or puts the tensor in the middle of zeros, axis by axis.

use crate::kernels::loops::{Loops, dense_strides};
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator,
    TensorType, Types, UNKNOWN, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.CenterCropPad",
    onnx: &[OnnxForm::new(
        "CenterCropPad",
        18,
        LATEST,
        |builder, node| {
            let mut attrs = Attrs::new();
            if let Some(axes) = node.ints("axes")? {
                attrs = attrs.with("axes", axes).with("all", false);
            }
            Ok(vec![builder.node(
                "jumar.CenterCropPad",
                node.inputs(),
                attrs,
            )?])
        },
    )],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("shape", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::ints("axes", &[]), AttrDef::bool("all", true)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let Some(rank) = input.rank() else {
            return Ok(vec![input.clone()]);
        };
        let axes = axes(cx, rank)?;
        let mut shape = input.shape.clone();
        let Some(wanted) = cx.ints(1)? else {
            axes.iter().for_each(|&axis| shape[axis] = UNKNOWN);
            return Ok(vec![TensorType {
                dtype: input.dtype,
                shape,
            }]);
        };
        if wanted.len() != axes.len() || wanted.iter().any(|&dim| dim < 0) {
            return Err(OpError::invalid(format!(
                "{wanted:?} is not a shape of {} axes",
                axes.len()
            )));
        }
        for (&axis, &dim) in axes.iter().zip(&wanted) {
            shape[axis] = dim;
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let (from, to) = (cx.shape(0)?, cx.output_shape(0)?);
        let (own, other) = (dense_strides(to), dense_strides(from));
        let mut starts = [0usize; 2];
        let mut shared = Vec::with_capacity(to.len());
        for axis in 0..to.len() {
            // The larger of the two has half of the difference in front.
            starts[0] += to[axis].saturating_sub(from[axis]) / 2 * own[axis] as usize;
            starts[1] += from[axis].saturating_sub(to[axis]) / 2 * other[axis] as usize;
            shared.push(to[axis].min(from[axis]));
        }
        let loops = Loops::new(&shared, [&own, &other]);
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Center::<T> { loops, starts, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn axes(cx: &InferCx<'_>, rank: usize) -> Result<Vec<usize>, OpError> {
    if cx.attrs().bool("all")? {
        return Ok((0..rank).collect());
    }
    let list = cx.attrs().ints("axes")?;
    infer::axes(list, rank)?;
    list.iter().map(|&axis| infer::axis(axis, rank)).collect()
}

struct Center<T> {
    loops: Loops<2>,
    starts: [usize; 2],
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Center<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?, call.output::<T>(0)?);
        out.flat().fill(T::default());
        let (len, [to_step, from_step]) = (self.loops.row(), self.loops.steps());
        self.loops.each(self.starts, |[to, from]| {
            out.row(to, len, to_step)
                .copy_from(input.row(from, len, from_step));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = || f32s(&[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let wanted = f32s(
            &[4, 3],
            &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 0.0, 0.0, 0.0],
        );
        check(
            "jumar.CenterCropPad",
            &[x(), i64s(&[2], &[4, 3])],
            none(),
            &wanted,
        );
        let attrs = none().with("axes", vec![-1]).with("all", false);
        let wanted = f32s(&[2, 5], &[1.0, 2.0, 3.0, 4.0, 0.0, 5.0, 6.0, 7.0, 8.0, 0.0]);
        check(
            "jumar.CenterCropPad",
            &[x(), i64s(&[1], &[5])],
            attrs,
            &wanted,
        );
        refuse(
            "jumar.CenterCropPad",
            &[x(), i64s(&[1], &[5])],
            none(),
            "not a shape",
        );
    }
}
