//! Rectified linear unit with a threshold: `x` above it, zero elsewhere.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.ThresholdedRelu",
    onnx: &[OnnxForm::new("ThresholdedRelu", 10, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::float("alpha", 1.0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        real_map(
            cx,
            Function {
                alpha: cx.attrs().float("alpha")?,
            },
        )
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new().with("alpha", node.float_or("alpha", 1.0)?);
    Ok(vec![builder.node(
        "jumar.ThresholdedRelu",
        node.inputs(),
        attrs,
    )?])
}

#[derive(Clone, Copy)]
struct Function {
    alpha: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        if x > A::of(self.alpha.into()) {
            x
        } else {
            A::of(0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 2.0, 2.5, 4.0]);
        check(
            "jumar.ThresholdedRelu",
            &[x],
            none().with("alpha", 2.0f32),
            &f32s(&[5], &[0.0, 0.0, 0.0, 2.5, 4.0]),
        );
    }
}
