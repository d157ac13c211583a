//! Logical not.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::{bits1, infer_same};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "LogicalNot",
    onnx: &[OnnxForm::new("Not", 1, LATEST, |builder, node| {
        plain(builder, node, "LogicalNot")
    })],
    inputs: &[InputDef::required("x", Types::of(&[DataType::Bool]))],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| bits1(cx, |a| a ^ 1),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "LogicalNot",
            &[bools(&[2], &[false, true])],
            none(),
            &bools(&[2], &[true, false]),
        );
    }
}
