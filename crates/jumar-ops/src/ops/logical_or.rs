//! Logical or.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::{bits, infer_pair};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "LogicalOr",
    onnx: &[OnnxForm::new("Or", 7, LATEST, |builder, node| {
        plain(builder, node, "LogicalOr")
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
    prepare: |cx| bits(cx, |a, b| a | b),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "LogicalOr",
            &[
                bools(&[4], &[false, false, true, true]),
                bools(&[4], &[false, true, false, true]),
            ],
            none(),
            &bools(&[4], &[false, true, true, true]),
        );
    }
}
