//! Scaled exponential linear unit.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Selu",
    onnx: &[OnnxForm::new("Selu", 6, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        // Ours: ONNX lets them be set.
        AttrDef::float("alpha", 1.673_263_2),
        AttrDef::float("gamma", 1.050_701),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        let attrs = cx.attrs();
        let function = Function {
            alpha: attrs.float("alpha")?,
            gamma: attrs.float("gamma")?,
        };
        real_map(cx, function)
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("alpha", node.float_or("alpha", 1.673_263_2)?)
        .with("gamma", node.float_or("gamma", 1.050_701)?);
    Ok(vec![builder.node("Selu", node.inputs(), attrs)?])
}

#[derive(Clone, Copy)]
struct Function {
    alpha: f32,
    gamma: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        let (alpha, gamma) = (A::of(self.alpha.into()), A::of(self.gamma.into()));
        gamma
            * if x < A::of(0.0) {
                alpha * x.exp_m1()
            } else {
                x
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
            "Selu",
            &[x],
            none(),
            &f32s(
                &[5],
                &[-1.520_166_5, -0.691_758_2, 0.0, 0.735_490_7, 3.152_103],
            ),
        );
    }
}
