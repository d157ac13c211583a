//! Absolute value.

use crate::kernels::elementwise::{NumberFunction, infer_same, number_map};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Abs",
    onnx: &[OnnxForm::new("Abs", 6, LATEST, |builder, node| {
        plain(builder, node, "Abs")
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
        x.abs()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Abs",
            &[f32s(&[3], &[-1.5, 0.0, 2.0])],
            none(),
            &f32s(&[3], &[1.5, 0.0, 2.0]),
        );
    }
}
