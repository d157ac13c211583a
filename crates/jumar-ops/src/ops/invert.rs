//! Bitwise not.

use crate::kernels::elementwise::{bits1, infer_same};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Invert",
    onnx: &[OnnxForm::new("BitwiseNot", 18, LATEST, |builder, node| {
        plain(builder, node, "Invert")
    })],
    inputs: &[InputDef::required("x", Types::INTEGER)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| bits1(cx, |a| !a),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Invert",
            &[i64s(&[3], &[0, -1, 5])],
            none(),
            &i64s(&[3], &[-1, 0, -6]),
        );
    }
}
