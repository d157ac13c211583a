//! The larger of two elements.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Maximum",
    onnx: &[OnnxForm::new("Max", 8, LATEST, lower)],
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

/// ONNX takes any number of inputs; they are joined pair by pair.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let mut result = node.input(0)?;
    if node.inputs().len() == 1 {
        result = builder.node("Identity", &[Some(result)], Attrs::new())?;
    }
    for index in 1..node.inputs().len() {
        result = builder.node(
            "Maximum",
            &[Some(result), Some(node.input(index)?)],
            Attrs::new(),
        )?;
    }
    Ok(vec![result])
}

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        a.max(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Maximum",
            &[f32s(&[2], &[1.0, 2.0]), f32s(&[2], &[3.0, -1.0])],
            none(),
            &f32s(&[2], &[3.0, 2.0]),
        );
    }
}
