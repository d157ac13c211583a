//! Repeats a tensor up to a larger shape.

use crate::kernels::data_movement;
use crate::kernels::loops::broadcast_strides;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, OpError, Operator, TensorType, Types, UNKNOWN, infer};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Expand",
    onnx: &[OnnxForm::new("Expand", 8, LATEST, |builder, node| {
        plain(builder, node, "Expand")
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("shape", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let shape = match (cx.ints(1)?, cx.input(1)?.elements()) {
            (Some(shape), _) => shape,
            (None, Some(rank)) => vec![UNKNOWN; rank],
            (None, None) => return Ok(vec![TensorType::of_unknown_rank(input.dtype)]),
        };
        if cx.constant(1).is_some() && shape.iter().any(|&dim| dim < 0) {
            return Err(OpError::invalid(format!(
                "the shape {shape:?} has a negative dimension"
            )));
        }
        let shape = infer::broadcast(input, &TensorType::new(input.dtype, shape))?;
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| data_movement::pick(cx, 0, &broadcast_strides(cx.shape(0)?, cx.output_shape(0)?)),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 1], &[1.0, 2.0]);
        let wanted = f32s(&[2, 2, 2], &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
        check(
            "Expand",
            &[x.clone(), i64s(&[3], &[2, 1, 2])],
            none(),
            &wanted,
        );
        check(
            "Expand",
            &[x.clone(), i64s(&[2], &[2, 0])],
            none(),
            &f32s(&[2, 0], &[]),
        );
        refuse("Expand", &[x, i64s(&[1], &[-3])], none(), "negative");
    }
}
