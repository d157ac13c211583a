//! Sign: -1, 0 or 1.

use crate::kernels::elementwise::{NumberFunction, infer_same, number_map};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Sign",
    onnx: &[OnnxForm::new("Sign", 9, LATEST, |builder, node| {
        plain(builder, node, "Sign")
    })],
    inputs: &[InputDef::required("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| number_map(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl NumberFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, x: T) -> T {
        let zero = T::default();
        if x > zero {
            T::from_f64(1.0)
        } else if x < zero {
            T::from_f64(-1.0)
        } else {
            // Zero, or not a number.
            x
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[-3.5, 0.0, 2.0, f32::NAN]);
        check(
            "Sign",
            &[x],
            none(),
            &f32s(&[4], &[-1.0, 0.0, 1.0, f32::NAN]),
        );
        check(
            "Sign",
            &[i64s(&[3], &[-7, 0, 9])],
            none(),
            &i64s(&[3], &[-1, 0, 1]),
        );
    }
}
