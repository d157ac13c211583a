//! Gaussian error linear unit, exact or approximated by a hyperbolic tangent.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, Attrs, InputDef, OnnxForm, OpError, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "GeluV2",
        onnx: &[OnnxForm::new("Gelu", 20, LATEST, |builder, node| {
            let attrs = Attrs::new().with("approximate", node.str_or("approximate", "none")?);
            Ok(vec![builder.node("GeluV2", node.inputs(), attrs)?])
        })],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::str("approximate", "none")],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: |cx| match cx.attrs().str("approximate")? {
            "none" | "tanh" => infer_same(cx),
            other => Err(OpError::invalid(format!(
                "approximate is {other:?}; it can be none and tanh"
            ))),
        },
        prepare: |cx| match cx.attrs().str("approximate")? {
            "tanh" => real_map(cx, Approximate),
            _ => real_map(cx, Exact),
        },
    },
    &Operator {
        name: "Gelu",
        onnx: &[],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_same,
        prepare: |cx| real_map(cx, Approximate),
    },
];

#[derive(Clone, Copy)]
struct Exact;

impl RealFunction for Exact {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        A::of(0.5) * x * (A::of(1.0) + (x * A::of(std::f64::consts::FRAC_1_SQRT_2)).erf())
    }
}

#[derive(Clone, Copy)]
struct Approximate;

impl RealFunction for Approximate {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        // The root of 2 / pi, and the factor of the cube that fits best.
        let inner = A::of(0.797_884_560_802_865_4) * (x + A::of(0.044_715) * x * x * x);
        A::of(0.5) * x * (A::of(1.0) + inner.tanh())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[4], &[-2.0, -0.5, 0.5, 3.0]);
        let exact = f32s(
            &[4],
            &[-0.045_500_26, -0.154_268_77, 0.345_731_23, 2.995_950_3],
        );
        check("GeluV2", &[x()], none(), &exact);
        let near = f32s(&[4], &[-0.045_402_306, -0.154_286, 0.345_714, 2.996_362_7]);
        check("GeluV2", &[x()], none().with("approximate", "tanh"), &near);
        check("Gelu", &[x()], none(), &near);
        refuse("GeluV2", &[x()], none().with("approximate", "sin"), "tanh");
    }
}
