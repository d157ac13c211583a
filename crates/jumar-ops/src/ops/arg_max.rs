//! The index of the largest element along an axis.

use jumar_types::dtype::DataType;

use crate::kernels::arg;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ArgMaxV2",
    onnx: &[OnnxForm::new("ArgMax", 1, LATEST, |builder, node| {
        arg::lower(builder, node, "ArgMaxV2")
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
    prepare: |cx| arg::prepare(cx, false),
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 3.0, 3.0, 6.0, 5.0, 4.0]);
        check(
            "ArgMaxV2",
            &[x.clone(), i64s(&[], &[1])],
            none(),
            &i64s(&[2], &[1, 0]),
        );
        check(
            "ArgMaxV2",
            &[x.clone(), i64s(&[], &[0])],
            none(),
            &i64s(&[3], &[1, 1, 1]),
        );
        let last = none().with("select_last_index", true);
        check(
            "ArgMaxV2",
            &[x, i64s(&[], &[1])],
            last,
            &i64s(&[2], &[2, 0]),
        );
        let odd = f32s(&[4], &[1.0, f32::NAN, 9.0, f32::NAN]);
        check(
            "ArgMaxV2",
            &[odd, i64s(&[], &[0])],
            none(),
            &i64s(&[], &[1]),
        );
        refuse(
            "ArgMaxV2",
            &[f32s(&[2, 0], &[]), i64s(&[], &[1])],
            none(),
            "no element",
        );
    }
}
