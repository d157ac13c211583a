//! Clamps elements to two bounds.

use crate::kernels::conv::clamp;
use crate::kernels::elementwise::infer_same;
use crate::kernels::number::{Number, for_number};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator,
    Tensor, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ClipByValue",
    onnx: &[OnnxForm::new("Clip", 6, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::required("clip_value_min", Types::NUMBER),
        InputDef::required("clip_value_max", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: |cx| {
        cx.same_types(0..3)?;
        for index in 1..3 {
            if cx.input(index)?.elements().is_some_and(|count| count != 1) {
                return Err(OpError::unsupported(format!(
                    "a bound of {} is not one number",
                    cx.input(index)?
                )));
            }
        }
        infer_same(cx)
    },
    prepare: |cx| for_number!(cx.dtype(0)?, T => Ok(Box::new(Clip::<T>(std::marker::PhantomData)) as Box<dyn Kernel>)),
}];

/// Before operator set 11 the bounds were attributes; a bound that is left out becomes the type's own.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let input = node.input(0)?;
    let dtype = builder.ty(input).dtype;
    let mut bound = |index: usize, name: &str, limit: f64| -> Result<ValueRef, OpError> {
        let given = if node.opset < 11 {
            None
        } else {
            node.optional(index)
        };
        let value = if node.opset < 11 {
            node.float(name)?.map_or(limit, f64::from)
        } else {
            limit
        };
        match given {
            Some(value) => Ok(value),
            None => Ok(builder.add_constant(Tensor::scalar(dtype, value)?)),
        }
    };
    let low = bound(1, "min", f64::NEG_INFINITY)?;
    let high = bound(2, "max", f64::INFINITY)?;
    Ok(vec![builder.node(
        "ClipByValue",
        &[Some(input), Some(low), Some(high)],
        Attrs::new(),
    )?])
}

struct Clip<T>(std::marker::PhantomData<fn(T)>);

impl<T: Number> Kernel for Clip<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let low = call.input::<T>(1)?.flat().get(0);
        let high = call.input::<T>(2)?.flat().get(0);
        call.output::<T>(0)?
            .flat()
            .map1(call.input::<T>(0)?.flat(), |x| clamp(x, low, high));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let bounds = |low: f32, high: f32| [f32s(&[], &[low]), f32s(&[], &[high])];
        let [low, high] = bounds(0.0, 6.0);
        check(
            "ClipByValue",
            &[f32s(&[3], &[-1.0, 3.0, 9.0]), low, high],
            none(),
            &f32s(&[3], &[0.0, 3.0, 6.0]),
        );
        let [low, high] = bounds(5.0, 1.0);
        check(
            "ClipByValue",
            &[f32s(&[2], &[3.0, 9.0]), low, high],
            none(),
            &f32s(&[2], &[1.0, 1.0]),
        );
    }
}
