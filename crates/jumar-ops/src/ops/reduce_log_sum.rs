//! The logarithm of the sum along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReduceLogSum",
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
    prepare: |cx| reduce::prepare(cx, reduce::Join::LogSum),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new("ReduceLogSum", 1, LATEST, |builder, node| {
    reduce::lower(builder, node, "ReduceLogSum", 18)
})];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "ReduceLogSum",
            &[x, i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[1.791_759_5, 2.708_050_2]),
        );
        let empty = f32s(&[1], &[f32::NEG_INFINITY]);
        check(
            "ReduceLogSum",
            &[f32s(&[1, 0], &[]), i64s(&[1], &[1])],
            none(),
            &empty,
        );
    }
}
