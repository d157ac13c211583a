//! The sum of absolute values along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.ReduceL1",
    onnx: ONNX,
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::optional_constant("axes", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::bool("keep_dims", false),
        AttrDef::bool("noop_with_empty_axes", true),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: reduce::infer,
    prepare: |cx| reduce::prepare(cx, reduce::Join::L1),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new("ReduceL1", 1, LATEST, |builder, node| {
    reduce::lower(builder, node, "jumar.ReduceL1", 18)
})];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]);
        check(
            "jumar.ReduceL1",
            &[x(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[6.0, 15.0]),
        );
        check(
            "jumar.ReduceL1",
            &[x(), i64s(&[1], &[0])],
            none().with("keep_dims", true),
            &f32s(&[1, 3], &[5.0, 7.0, 9.0]),
        );
        check(
            "jumar.ReduceL1",
            &[f32s(&[2, 0], &[]), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[0.0, 0.0]),
        );
    }
}
