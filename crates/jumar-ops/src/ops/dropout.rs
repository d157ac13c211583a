//! Forgets at random while training; in inference it gives its input.

use crate::kernels::elementwise::infer_same;
use crate::kernels::moves;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Dropout",
    onnx: &[OnnxForm::new("Dropout", 7, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::float("dropout_ratio", 0.5),
        AttrDef::bool("scale_train", true),
        AttrDef::float("alpha", 1.0),
        AttrDef::float("beta", 0.0),
    ],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: moves::copy,
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    node.only_output("mask")?;
    node.ignore("ratio");
    node.ignore("seed");
    if let Some(training) = node.optional(2) {
        let training = builder.constant(training).and_then(|tensor| tensor.ints());
        if !training.is_some_and(|values| values.iter().all(|&value| value == 0)) {
            return Err(OpError::unsupported("training_mode has to be the constant false: only inference is supported"));
        }
    }
    Ok(vec![builder.node("Dropout", &[Some(node.input(0)?)], Attrs::new())?])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn forgets_nothing_in_inference() {
        let x = noise(&[2, 3], 1);
        check("Dropout", &[x.clone()], none(), &x);
    }
}
