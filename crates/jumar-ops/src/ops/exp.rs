//! The exponential function.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Exp",
    onnx: &[OnnxForm::new("Exp", 6, LATEST, |builder, node| {
        plain(builder, node, "Exp")
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| real_map(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        x.exp()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Exp",
            &[f32s(&[4], &[0.0, 1.0, -1.0, 3.5])],
            none(),
            &f32s(&[4], &[1.0, 2.718_281_7, 0.367_879_45, 33.115_45]),
        );
        check("Exp", &[f32s(&[0], &[])], none(), &f32s(&[0], &[]));
    }
}
