//! Whether an element is not a number (NaN).

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealTest, infer_boolean, real_test};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "IsNan",
    onnx: &[OnnxForm::new("IsNaN", 9, LATEST, |builder, node| {
        plain(builder, node, "IsNan")
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: infer_boolean,
    prepare: |cx| real_test(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl RealTest for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> bool {
        x.is_nan()
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[1.0, f32::NAN, f32::INFINITY, 0.0]);
        check(
            "IsNan",
            &[x],
            none(),
            &bools(&[4], &[false, true, false, false]),
        );
    }
}
