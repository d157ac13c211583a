//! The logarithm of softmax.

use crate::kernels::softmax;
use crate::onnx::LATEST;
use crate::{Aliasing, AttrDef, InputDef, OnnxForm, Operator, OutputDef, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "LogSoftmaxV2",
    onnx: &[OnnxForm::new("LogSoftmax", 1, LATEST, |builder, node| {
        super::softmax::lower(builder, node, "LogSoftmaxV2")
    })],
    inputs: &[InputDef::required("logits", Types::FLOAT)],
    outputs: &[OutputDef { name: "logsoftmax" }],
    attrs: &[
        AttrDef::ints("axes", &[-1]),
        // Ours: older ONNX takes all axes from the given one on together.
        AttrDef::bool("to_last", false),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: softmax::infer,
    prepare: softmax::prepare::<true>,
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let wanted = f32s(&[2], &[-1.313_261_7, -0.313_261_7]);
        check("LogSoftmaxV2", &[f32s(&[2], &[1.0, 2.0])], none(), &wanted);
    }
}
