//! Whether an element is infinite.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealTest, infer_boolean, real_test};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, Attrs, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "IsInf",
    onnx: &[OnnxForm::new("IsInf", 10, LATEST, |builder, node| {
        let attrs = Attrs::new()
            .with("detect_negative", node.bool_or("detect_negative", true)?)
            .with("detect_positive", node.bool_or("detect_positive", true)?);
        Ok(vec![builder.node("IsInf", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    // Ours: ONNX can ask for one sign alone.
    attrs: &[
        AttrDef::bool("detect_negative", true),
        AttrDef::bool("detect_positive", true),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: infer_boolean,
    prepare: |cx| {
        let attrs = cx.attrs();
        real_test(
            cx,
            Function {
                negative: attrs.bool("detect_negative")?,
                positive: attrs.bool("detect_positive")?,
            },
        )
    },
}];

#[derive(Clone, Copy)]
struct Function {
    negative: bool,
    positive: bool,
}

impl RealTest for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> bool {
        x.is_infinite()
            && if x < A::of(0.0) {
                self.negative
            } else {
                self.positive
            }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[4], &[1.0, f32::NEG_INFINITY, f32::INFINITY, f32::NAN]);
        check(
            "IsInf",
            &[x()],
            none(),
            &bools(&[4], &[false, true, true, false]),
        );
        check(
            "IsInf",
            &[x()],
            none().with("detect_negative", false),
            &bools(&[4], &[false, false, true, false]),
        );
        check(
            "IsInf",
            &[x()],
            none().with("detect_positive", false),
            &bools(&[4], &[false, true, false, false]),
        );
    }
}
