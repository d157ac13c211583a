//! Bitwise shift. The attribute of ONNX's `BitShift` sets the direction.

use crate::kernels::elementwise::{bits, infer_pair};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, Attrs, InputDef, OnnxForm, OpError, Operator, Types};

const UNSIGNED: Types = Types::of(&[
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
]);

use jumar_types::dtype::DataType;

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "LeftShift",
        onnx: &[OnnxForm::new("BitShift", 11, LATEST, |builder, node| {
            let operator = match node.str_or("direction", "")? {
                "LEFT" => "LeftShift",
                "RIGHT" => "RightShift",
                other => {
                    return Err(OpError::invalid(format!(
                        "the direction {other:?} is neither LEFT nor RIGHT"
                    )));
                }
            };
            Ok(vec![builder.node(operator, node.inputs(), Attrs::new())?])
        })],
        inputs: &[
            InputDef::required("x", UNSIGNED),
            InputDef::required("y", UNSIGNED),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        // A distance beyond the type leaves nothing.
        prepare: |cx| bits(cx, |a, b| if b < 64 { a << b } else { 0 }),
    },
    &Operator {
        name: "RightShift",
        onnx: &[],
        inputs: &[
            InputDef::required("x", UNSIGNED),
            InputDef::required("y", UNSIGNED),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| bits(cx, |a, b| if b < 64 { a >> b } else { 0 }),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let bytes = |values: &[i64]| cast(&i64s(&[values.len()], values), DataType::UInt8);
        let (x, y) = (bytes(&[1, 3, 255, 7]), bytes(&[1, 7, 9, 0]));
        check(
            "LeftShift",
            &[x.clone(), y.clone()],
            none(),
            &bytes(&[2, 128, 0, 7]),
        );
        check("RightShift", &[x, y], none(), &bytes(&[0, 0, 0, 7]));
        refuse(
            "LeftShift",
            &[i64s(&[1], &[1]), i64s(&[1], &[1])],
            none(),
            "it can be",
        );
    }
}
