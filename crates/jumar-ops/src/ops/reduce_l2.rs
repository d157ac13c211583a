//! The square root of the sum of squares along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.ReduceL2",
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
    prepare: |cx| reduce::prepare(cx, reduce::Join::L2),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new("ReduceL2", 1, LATEST, |builder, node| {
    reduce::lower(builder, node, "jumar.ReduceL2", 18)
})];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]);
        check(
            "jumar.ReduceL2",
            &[x(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[3.741_657_4, 8.774_964]),
        );
        check(
            "jumar.ReduceL2",
            &[x(), i64s(&[1], &[0])],
            none().with("keep_dims", true),
            &f32s(&[1, 3], &[4.123_105_5, 5.385_165, 6.708_204]),
        );
        check(
            "jumar.ReduceL2",
            &[f32s(&[2, 0], &[]), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[0.0, 0.0]),
        );
    }
}
