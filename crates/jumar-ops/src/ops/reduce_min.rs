//! The smallest element along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReduceMin",
    onnx: ONNX,
    inputs: &[
        InputDef::required("x", Types::REAL),
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
    prepare: |cx| reduce::prepare(cx, reduce::Join::Least),
}];

const ONNX: &[OnnxForm] = &[OnnxForm::new("ReduceMin", 7, LATEST, |builder, node| {
    reduce::lower(builder, node, "ReduceMin", 18)
})];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "ReduceMin",
            &[x.clone(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[1.0, 4.0]),
        );
        check(
            "ReduceMin",
            &[x.clone(), i64s(&[1], &[0])],
            none().with("keep_dims", true),
            &f32s(&[1, 3], &[1.0, 2.0, 3.0]),
        );
        check("ReduceMin", &[x], none(), &f32s(&[], &[1.0]));
    }
}
