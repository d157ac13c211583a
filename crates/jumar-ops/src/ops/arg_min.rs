//! The index of the smallest element along an axis.

use jumar_types::dtype::DataType;

use crate::kernels::arg;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ArgMin",
    onnx: &[OnnxForm::new("ArgMin", 1, LATEST, |builder, node| {
        arg::lower(builder, node, "ArgMin")
    })],
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::constant("dimension", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::dtype("dtype", DataType::Int64),
        // Ours: ONNX can ask for the last of equal elements.
        AttrDef::bool("select_last_index", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: arg::infer,
    prepare: |cx| arg::prepare(cx, true),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[4.0, 3.0, 3.0, 6.0, 5.0, 7.0]);
        check(
            "ArgMin",
            &[x.clone(), i64s(&[], &[1])],
            none(),
            &i64s(&[2], &[1, 1]),
        );
        check(
            "ArgMin",
            &[x.clone(), i64s(&[], &[0])],
            none(),
            &i64s(&[3], &[0, 0, 0]),
        );
        let last = none().with("select_last_index", true);
        check("ArgMin", &[x, i64s(&[], &[1])], last, &i64s(&[2], &[2, 1]));
        let large = i64s(&[2], &[i64::MAX, i64::MAX - 1]);
        check(
            "ArgMin",
            &[large, i64s(&[], &[0])],
            none(),
            &i64s(&[], &[1]),
        );
    }
}
