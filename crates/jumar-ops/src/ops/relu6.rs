//! Rectified linear unit with a limit: `min(max(x, 0), 6)`.

use crate::kernels::elementwise::{NumberFunction, infer_same, number_map};
use crate::kernels::number::Number;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Relu6",
    onnx: &[],
    inputs: &[InputDef::required("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| number_map(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl NumberFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, x: T) -> T {
        crate::kernels::conv::clamp(x, T::default(), T::from_f64(6.0))
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Relu6",
            &[f32s(&[3], &[-1.0, 3.0, 8.0])],
            none(),
            &f32s(&[3], &[0.0, 3.0, 6.0]),
        );
    }
}
