//! Forgets at random while training; in inference it gives its input.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::infer_same;
use crate::kernels::moves;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Tensor, Types, ValueRef,
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
    let ratio = node.float_or("ratio", 0.5)?;
    node.ignore("seed");
    let input = node.input(0)?;
    if let Some(training) = node.optional(2) {
        let values = |value| builder.constant(value).and_then(|tensor: &Tensor| tensor.floats());
        let trains = values(training).is_none_or(|values| values.iter().any(|&value| value != 0.0));
        let ratio = node.optional(1).map_or(Some(vec![ratio.into()]), values);
        let forgets = ratio.is_none_or(|values| values.iter().any(|&value| value != 0.0));
        if trains && forgets {
            return Err(OpError::unsupported(
                "training_mode has to be the constant false, or the ratio 0: only inference is supported",
            ));
        }
    }
    let y = builder.node("Dropout", &[Some(input)], Attrs::new())?;
    if !node.uses_output(1) {
        return Ok(vec![y]);
    }
    // Nothing is forgotten: the mask is true everywhere. Before operator set 10 it had the input's type.
    let dtype = if node.opset < 10 { builder.ty(input).dtype } else { DataType::Bool };
    let attrs = Attrs::new().with("dtype", i64::from(DataType::Int64.acl()));
    let shape = builder.node("Shape", &[Some(input)], attrs)?;
    let kept = builder.add_constant(Tensor::scalar(dtype, 1.0)?);
    let mask = builder.node("Fill", &[Some(shape), Some(kept)], Attrs::new())?;
    Ok(vec![y, mask])
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
