//! Rectified linear unit: `max(x, 0)`.

use crate::kernels::elementwise::{NumberFunction, infer_same, number_map};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Relu",
    onnx: &[OnnxForm::new("Relu", 6, LATEST, |builder, node| {
        plain(builder, node, "Relu")
    })],
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
        if x < T::default() { T::default() } else { x }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Relu",
            &[f32s(&[2, 2], &[-1.0, 0.0, 2.5, -0.5])],
            none(),
            &f32s(&[2, 2], &[0.0, 0.0, 2.5, 0.0]),
        );
        check(
            "Relu",
            &[i64s(&[3], &[-1, 0, 7])],
            none(),
            &i64s(&[3], &[0, 0, 7]),
        );
        let kept = run("Relu", &[f32s(&[1], &[f32::NAN])], none()).unwrap();
        assert!(kept[0].floats().unwrap()[0].is_nan());
    }
}
