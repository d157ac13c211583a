//! Leaky rectified linear unit: `x` above zero, `alpha * x` below.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, Attrs, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "LeakyRelu",
    onnx: &[OnnxForm::new("LeakyRelu", 6, LATEST, |builder, node| {
        let attrs = Attrs::new().with("negative_slope", node.float_or("alpha", 0.01)?);
        Ok(vec![builder.node("LeakyRelu", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::float("negative_slope", 0.0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        real_map(
            cx,
            Function {
                slope: cx.attrs().float("negative_slope")?,
            },
        )
    },
}];

#[derive(Clone, Copy)]
struct Function {
    slope: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        if x < A::of(0.0) {
            x * A::of(self.slope.into())
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
        let attrs = none().with("negative_slope", 0.1f32);
        check(
            "LeakyRelu",
            &[f32s(&[3], &[-2.0, 0.0, 3.0])],
            attrs,
            &f32s(&[3], &[-0.2, 0.0, 3.0]),
        );
    }
}
