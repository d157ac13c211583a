//! Comparison `x == y`.

use crate::kernels::elementwise::{PairTest, infer_pair_boolean, pair_test};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Equal",
    onnx: &[OnnxForm::new("Equal", 7, LATEST, |builder, node| {
        plain(builder, node, "Equal")
    })],
    inputs: &[
        InputDef::required("x1", Types::REAL),
        InputDef::required("x2", Types::REAL),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: infer_pair_boolean,
    prepare: |cx| pair_test(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl PairTest for Function {
    #[inline(always)]
    fn apply<T: PartialOrd>(&self, a: T, b: T) -> bool {
        a == b
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let (x, y) = (
            f32s(&[4], &[-1.0, 2.0, 2.0, f32::NAN]),
            f32s(&[4], &[1.0, 2.0, -3.0, f32::NAN]),
        );
        check(
            "Equal",
            &[x.clone(), y],
            none(),
            &bools(&[4], &[false, true, false, false]),
        );
        let (x2, y2) = (
            i64s(&[2], &[i64::MAX, i64::MAX]),
            i64s(&[2], &[i64::MAX - 1, i64::MAX]),
        );
        check("Equal", &[x2, y2], none(), &bools(&[2], &[false, true]));
        check(
            "Equal",
            &[f32s(&[0, 4], &[]), x],
            none(),
            &bools(&[0, 4], &[]),
        );
    }
}
