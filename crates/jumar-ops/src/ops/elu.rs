//! Exponential linear unit: `x` above zero, `alpha * (exp(x) - 1)` below.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Elu",
    onnx: &[OnnxForm::new("Elu", 6, LATEST, lower)],
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
    Ok(vec![builder.node("Elu", node.inputs(), attrs)?])
}

#[derive(Clone, Copy)]
struct Function {
    alpha: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        if x < A::of(0.0) {
            A::of(self.alpha.into()) * x.exp_m1()
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
            "Elu",
            &[x],
            none().with("alpha", 2.0f32),
            &f32s(&[5], &[-1.729_329_5, -0.786_938_67, 0.0, 0.7, 3.0]),
        );
    }
}
