//! Multiplication by a scalar.

use crate::kernels::elementwise::{NumberFunction, infer_same, number_map};
use crate::kernels::number::Number;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, InputDef, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Muls",
    onnx: &[],
    inputs: &[InputDef::required("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::required("value", AttrKind::Float)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| {
        number_map(
            cx,
            Function {
                value: cx.attrs().float("value")?,
            },
        )
    },
}];

#[derive(Clone, Copy)]
struct Function {
    value: f32,
}

impl NumberFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, x: T) -> T {
        x.mul(T::from_f64(self.value.into()))
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Muls",
            &[f32s(&[2], &[1.0, -2.0])],
            none().with("value", 2.5f32),
            &f32s(&[2], &[2.5, -5.0]),
        );
        refuse("Muls", &[f32s(&[2], &[1.0, -2.0])], none(), "value");
    }
}
