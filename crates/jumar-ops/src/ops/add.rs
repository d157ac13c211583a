//! Addition.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Add",
    onnx: &[OnnxForm::new("Add", 7, LATEST, |builder, node| {
        plain(builder, node, "Add")
    })],
    inputs: &[
        InputDef::required("x1", Types::NUMBER),
        InputDef::required("x2", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_pair,
    prepare: |cx| pair(cx, Function),
}];

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        a.add(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "Add",
            &[x.clone(), x.clone()],
            none(),
            &f32s(&[2, 3], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]),
        );
        check(
            "Add",
            &[x.clone(), f32s(&[3], &[10.0, 20.0, 30.0])],
            none(),
            &f32s(&[2, 3], &[11.0, 22.0, 33.0, 14.0, 25.0, 36.0]),
        );
        check(
            "Add",
            &[f32s(&[2, 1], &[1.0, 2.0]), f32s(&[3], &[1.0, 2.0, 3.0])],
            none(),
            &f32s(&[2, 3], &[2.0, 3.0, 4.0, 3.0, 4.0, 5.0]),
        );
        check(
            "Add",
            &[f32s(&[], &[1.0]), x.clone()],
            none(),
            &f32s(&[2, 3], &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        );
        check(
            "Add",
            &[i64s(&[2], &[i64::MAX, 1]), i64s(&[2], &[1, 1])],
            none(),
            &i64s(&[2], &[i64::MIN, 2]),
        );
        check(
            "Add",
            &[f32s(&[0, 3], &[]), f32s(&[3], &[1.0, 2.0, 3.0])],
            none(),
            &f32s(&[0, 3], &[]),
        );
        refuse(
            "Add",
            &[x.clone(), f32s(&[2], &[1.0, 2.0])],
            none(),
            "cannot be broadcast",
        );
        refuse("Add", &[x, i64s(&[3], &[1, 2, 3])], none(), "one type");
    }
}
