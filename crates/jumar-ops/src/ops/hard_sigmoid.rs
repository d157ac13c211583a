//! Hard sigmoid: a linear function clamped to 0 and 1.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, between, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "HardSigmoid",
    onnx: &[OnnxForm::new("HardSigmoid", 6, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::float("alpha", 0.166_666_66),
        AttrDef::float("beta", 0.5),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        let attrs = cx.attrs();
        let function = Function {
            alpha: attrs.float("alpha")?,
            beta: attrs.float("beta")?,
        };
        real_map(cx, function)
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("alpha", node.float_or("alpha", 0.2)?)
        .with("beta", node.float_or("beta", 0.5)?);
    Ok(vec![builder.node("HardSigmoid", node.inputs(), attrs)?])
}

#[derive(Clone, Copy)]
struct Function {
    alpha: f32,
    beta: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        between(
            A::of(self.alpha.into()) * x + A::of(self.beta.into()),
            A::of(0.0),
            A::of(1.0),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "HardSigmoid",
            &[x],
            none().with("alpha", 0.25f32).with("beta", 0.5f32),
            &f32s(&[5], &[0.0, 0.375, 0.5, 0.675, 1.0]),
        );
    }
}
