//! Selects one of two values for each element by a condition.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::choose;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, TensorType, Types, infer};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "SelectV2",
    onnx: &[OnnxForm::new("Where", 9, LATEST, |builder, node| {
        plain(builder, node, "SelectV2")
    })],
    inputs: &[
        InputDef::required("condition", Types::of(&[DataType::Bool])),
        InputDef::required("then", Types::ALL),
        InputDef::required("else", Types::ALL),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = cx.same_types([1, 2])?;
        let values = TensorType {
            dtype,
            shape: infer::broadcast(cx.input(1)?, cx.input(2)?)?,
        };
        Ok(vec![TensorType {
            dtype,
            shape: infer::broadcast(cx.input(0)?, &values)?,
        }])
    },
    prepare: choose,
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let condition = bools(&[2, 1], &[true, false]);
        let (x, y) = (f32s(&[3], &[1.0, 2.0, 3.0]), f32s(&[], &[9.0]));
        let wanted = f32s(&[2, 3], &[1.0, 2.0, 3.0, 9.0, 9.0, 9.0]);
        check(
            "SelectV2",
            &[condition.clone(), x.clone(), y],
            none(),
            &wanted,
        );
        refuse(
            "SelectV2",
            &[condition, x, i64s(&[1], &[1])],
            none(),
            "one type",
        );
    }
}
