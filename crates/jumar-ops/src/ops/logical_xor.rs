//! Logical exclusive or.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::{bits, infer_pair};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.LogicalXor",
    onnx: &[OnnxForm::new("Xor", 7, LATEST, |builder, node| {
        plain(builder, node, "jumar.LogicalXor")
    })],
    inputs: &[
        InputDef::required("x1", Types::of(&[DataType::Bool])),
        InputDef::required("x2", Types::of(&[DataType::Bool])),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_pair,
    prepare: |cx| bits(cx, |a, b| a ^ b),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "jumar.LogicalXor",
            &[
                bools(&[4], &[false, false, true, true]),
                bools(&[4], &[false, true, false, true]),
            ],
            none(),
            &bools(&[4], &[false, true, true, false]),
        );
    }
}
