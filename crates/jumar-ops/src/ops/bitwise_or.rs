//! Bitwise or.

use crate::kernels::elementwise::{bits, infer_pair};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "BitwiseOr",
    onnx: &[OnnxForm::new("BitwiseOr", 18, LATEST, |builder, node| {
        plain(builder, node, "BitwiseOr")
    })],
    inputs: &[
        InputDef::required("x1", Types::INTEGER),
        InputDef::required("x2", Types::INTEGER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_pair,
    prepare: |cx| bits(cx, |a, b| a | b),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "BitwiseOr",
            &[i64s(&[3], &[12, -1, 5]), i64s(&[3], &[10, 7, -8])],
            none(),
            &i64s(&[3], &[14, -1, -3]),
        );
    }
}
