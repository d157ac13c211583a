//! Natural logarithm.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Log",
    onnx: &[OnnxForm::new("Log", 6, LATEST, |builder, node| {
        plain(builder, node, "Log")
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
        x.ln()
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::LN_2;

    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Log",
            &[f32s(&[3], &[1.0, 2.0, 0.5])],
            none(),
            &f32s(&[3], &[0.0, LN_2, -LN_2]),
        );
    }
}
