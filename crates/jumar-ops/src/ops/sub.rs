//! Subtraction.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Sub",
    onnx: &[OnnxForm::new("Sub", 7, LATEST, |builder, node| {
        plain(builder, node, "Sub")
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
}];

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        a.sub(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        check(
            "Sub",
            &[x, f32s(&[2], &[10.0, 20.0])],
            none(),
            &f32s(&[2, 2], &[-9.0, -18.0, -7.0, -16.0]),
        );
    }
}
