//! The largest element along axes.

use crate::kernels::reduce;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, Attrs, InputDef, OnnxForm, OpError, Operator, Tensor, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReduceMax",
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
    prepare: |cx| reduce::prepare(cx, reduce::Join::Most),
}];

const ONNX: &[OnnxForm] = &[
    OnnxForm::new("ReduceMax", 7, LATEST, |builder, node| {
        reduce::lower(builder, node, "ReduceMax", 18)
    }),
    OnnxForm::new("GlobalMaxPool", 1, LATEST, |builder, node| {
        let input = node.input(0)?;
        let rank = builder
            .ty(input)
            .rank()
            .ok_or_else(|| OpError::unknown("the input's rank has to be known"))?;
        let axes: Vec<i64> = (2..rank as i64).collect();
        let axes = builder.add_constant(Tensor::from_ints(&axes));
        let attrs = Attrs::new()
            .with("keep_dims", true)
            .with("noop_with_empty_axes", true);
        Ok(vec![builder.node(
            "ReduceMax",
            &[Some(input), Some(axes)],
            attrs,
        )?])
    }),
];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "ReduceMax",
            &[x.clone(), i64s(&[1], &[1])],
            none(),
            &f32s(&[2], &[3.0, 6.0]),
        );
        check(
            "ReduceMax",
            &[x.clone(), i64s(&[1], &[0])],
            none().with("keep_dims", true),
            &f32s(&[1, 3], &[4.0, 5.0, 6.0]),
        );
        check("ReduceMax", &[x], none(), &f32s(&[], &[6.0]));
    }
}
