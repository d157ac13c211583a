//! Moves elements towards zero; elements near zero become zero.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::onnx::{LATEST, through_float64};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Shrink",
    onnx: &[OnnxForm::new("Shrink", 9, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::float("lambd", 0.5), AttrDef::float("bias", 0.0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        let attrs = cx.attrs();
        let function = Function {
            lambd: attrs.float("lambd")?,
            bias: attrs.float("bias")?,
        };
        real_map(cx, function)
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("lambd", node.float_or("lambd", 0.5)?)
        .with("bias", node.float_or("bias", 0.0)?);
    let x = node.input(0)?;
    Ok(vec![through_float64(builder, x, |builder, x| {
        builder.node("Shrink", &[Some(x)], attrs)
    })?])
}

#[derive(Clone, Copy)]
struct Function {
    lambd: f32,
    bias: f32,
}

impl RealFunction for Function {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        let (width, bias) = (A::of(self.lambd.into()), A::of(self.bias.into()));
        if x < -width {
            x + bias
        } else if x > width {
            x - bias
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
        let x = f32s(&[5], &[-4.0, -0.5, 0.0, 0.7, 4.0]);
        check(
            "Shrink",
            &[x],
            none().with("lambd", 0.6f32).with("bias", 0.25f32),
            &f32s(&[5], &[-3.75, 0.0, 0.0, 0.45, 3.75]),
        );
    }
}
