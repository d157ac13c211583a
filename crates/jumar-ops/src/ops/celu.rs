//! Continuously differentiable exponential linear unit: `alpha3 * x` above zero, `alpha1 * (exp(x / alpha2) - 1)` below.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Celu",
    onnx: &[OnnxForm::new("Celu", 12, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::float("alpha1", 1.0),
        AttrDef::float("alpha2", 1.0),
        AttrDef::float("alpha3", 1.0),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        let attrs = cx.attrs();
        let function = Function {
            alpha1: attrs.float("alpha1")?,
            alpha2: attrs.float("alpha2")?,
            alpha3: attrs.float("alpha3")?,
        };
        real_map(cx, function)
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("alpha1", node.float_or("alpha", 1.0)?)
        .with("alpha2", node.float_or("alpha", 1.0)?);
    Ok(vec![builder.node("Celu", node.inputs(), attrs)?])
}

#[derive(Clone, Copy)]
struct Function {
    alpha1: f32,
    alpha2: f32,
    alpha3: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        if x < A::of(0.0) {
            A::of(self.alpha1.into()) * (x / A::of(self.alpha2.into())).exp_m1()
        } else {
            A::of(self.alpha3.into()) * x
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-2.0, -0.5, 0.0, 0.7, 3.0]);
        check(
            "Celu",
            &[x],
            none().with("alpha1", 2.0f32).with("alpha2", 2.0f32),
            &f32s(&[5], &[-1.264_241_1, -0.442_398_43, 0.0, 0.7, 3.0]),
        );
    }
}
