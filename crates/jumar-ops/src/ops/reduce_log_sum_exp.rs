//! The logarithm of the sum of exponentials along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReduceLogSumExp",
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
    prepare: |cx| reduce::prepare(cx, reduce::Join::LogSumExp),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new(
    "ReduceLogSumExp",
    1,
    LATEST,
    |builder, node| reduce::lower(builder, node, "ReduceLogSumExp", 18),
)];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 1000.0, 1000.0, 1000.0]);
        check(
            "ReduceLogSumExp",
            &[x(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[3.407_606, 1_001.098_6]),
        );
        check(
            "ReduceLogSumExp",
            &[x(), i64s(&[1], &[0])],
            none(),
            &f32s(&[3], &[1000.0, 1000.0, 1000.0]),
        );
        let rows = f32s(
            &[2, 2],
            &[f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, 1.0],
        );
        let wanted = f32s(&[2], &[f32::NEG_INFINITY, f32::INFINITY]);
        check(
            "ReduceLogSumExp",
            &[rows, i64s(&[1], &[1])],
            none(),
            &wanted,
        );
        let empty = f32s(&[1], &[f32::NEG_INFINITY]);
        check(
            "ReduceLogSumExp",
            &[f32s(&[1, 0], &[]), i64s(&[1], &[1])],
            none(),
            &empty,
        );
    }
}
