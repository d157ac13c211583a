//! The sum along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReduceSum",
    onnx: ONNX,
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::optional_constant("axes", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::bool("keep_dims", false),
        AttrDef::bool("noop_with_empty_axes", true),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: reduce::infer,
    prepare: |cx| reduce::prepare(cx, reduce::Join::Sum),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new("ReduceSum", 7, LATEST, |builder, node| {
    reduce::lower(builder, node, "ReduceSum", 13)
})];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "ReduceSum",
            &[x.clone(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[6.0, 15.0]),
        );
        check(
            "ReduceSum",
            &[x.clone(), i64s(&[1], &[0])],
            none().with("keep_dims", true),
            &f32s(&[1, 3], &[5.0, 7.0, 9.0]),
        );
        check("ReduceSum", &[x], none(), &f32s(&[], &[21.0]));
        check(
            "ReduceSum",
            &[f32s(&[2, 0], &[]), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[0.0, 0.0]),
        );
        let cube = f32s(&[2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        check(
            "ReduceSum",
            &[cube.clone(), i64s(&[2], &[0, -1])],
            none(),
            &f32s(&[2], &[14.0, 22.0]),
        );
        check(
            "ReduceSum",
            &[cube.clone(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2, 2], &[4.0, 6.0, 12.0, 14.0]),
        );
        refuse("ReduceSum", &[cube, i64s(&[1], &[3])], none(), "outside");
    }
}
