//! The quotient. `RealDiv` is what ONNX uses; `Div` is the older spelling. Both cut integers towards zero.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "RealDiv",
        onnx: &[OnnxForm::new("Div", 7, LATEST, |builder, node| {
            plain(builder, node, "RealDiv")
        })],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| pair(cx, Function),
    },
    &Operator {
        name: "Div",
        onnx: &[],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| pair(cx, Function),
    },
];

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        a.div(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "RealDiv",
            &[f32s(&[3], &[1.0, 9.0, -1.0]), f32s(&[], &[2.0])],
            none(),
            &f32s(&[3], &[0.5, 4.5, -0.5]),
        );
        check(
            "Div",
            &[i64s(&[3], &[7, -7, 7]), i64s(&[3], &[2, 2, 0])],
            none(),
            &i64s(&[3], &[3, -3, 0]),
        );
    }
}
