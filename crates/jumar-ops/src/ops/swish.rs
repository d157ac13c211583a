//! Swish: `x * sigmoid(scale * x)`.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Swish",
    onnx: &[
        OnnxForm::new("Swish", 24, LATEST, |builder, node| {
            Ok(vec![lower(builder, node)?])
        }),
        OnnxForm::new("SwiGLU", 28, LATEST, |builder, node| {
            let (gate, value) = (node.input(0)?, node.input(1)?);
            if let (Some(a), Some(b)) = (builder.ty(gate).dims(), builder.ty(value).dims())
                && a != b
            {
                return Err(OpError::invalid(format!(
                    "its inputs are {} and {}; they have to have one shape",
                    builder.ty(gate),
                    builder.ty(value)
                )));
            }
            let gate = lower(builder, node)?;
            Ok(vec![builder.node(
                "Mul",
                &[Some(gate), Some(value)],
                Attrs::new(),
            )?])
        }),
    ],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::float("scale", 1.0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        real_map(
            cx,
            Function {
                scale: cx.attrs().float("scale")?,
            },
        )
    },
}];

/// The first input through the function, with the attribute alpha.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<ValueRef, OpError> {
    let attrs = Attrs::new().with("scale", node.float_or("alpha", 1.0)?);
    builder.node("Swish", &[Some(node.input(0)?)], attrs)
}

#[derive(Clone, Copy)]
struct Function {
    scale: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        x * super::sigmoid::logistic(A::of(self.scale.into()) * x)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "Swish",
            &[x],
            none().with("scale", 2.0f32),
            &f32s(
                &[5],
                &[
                    -0.001_341_400_6,
                    -0.134_470_72,
                    0.0,
                    0.561_528_7,
                    3.998_658_7,
                ],
            ),
        );
    }
}
