//! Drops elements at random while training; in inference it returns its input.

use jumar_types::dtype::DataType;

use crate::kernels::data_movement;
use crate::kernels::elementwise::infer_same;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    Tensor, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Dropout",
    onnx: &[OnnxForm::new("Dropout", 7, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::FLOAT),
        // Ours: ONNX asks for training where these say so.
        InputDef::optional_constant("ratio", Types::FLOAT),
        InputDef::optional_constant("training_mode", Types::of(&[DataType::Bool])),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::float("dropout_ratio", 0.5),
        AttrDef::bool("scale_train", true),
        AttrDef::float("alpha", 1.0),
        AttrDef::float("beta", 0.0),
    ],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: |cx| {
        if draws(cx) == Some(true) {
            return Err(OpError::unsupported(
                "training_mode has to be false, or the ratio 0: only inference is supported",
            ));
        }
        infer_same(cx)
    },
    prepare: |cx| match draws(cx.infer()) {
        Some(false) => data_movement::copy(cx),
        _ => Err(OpError::unsupported(
            "training_mode and ratio have to be known",
        )),
    },
}];

/// Whether something is forgotten, which is drawn at random; `None` where that is not known yet.
fn draws(cx: &InferCx<'_>) -> Option<bool> {
    let other = |index: usize, default: f64| match cx.has(index) {
        true => cx
            .constant(index)
            .and_then(Tensor::floats)
            .map(|values| values.iter().any(|&value| value != 0.0)),
        false => Some(default != 0.0),
    };
    match (other(2, 0.0), other(1, 0.5)) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    // Before operator set 12 there is no training mode that a model could ask for.
    node.ignore("ratio");
    node.ignore("seed");
    let input = node.input(0)?;
    let inputs = [Some(input), node.optional(1), node.optional(2)];
    let y = builder.node("Dropout", &inputs, Attrs::new())?;
    if !node.uses_output(1) {
        return Ok(vec![y]);
    }
    // Nothing is forgotten: the mask is true everywhere. Before operator set 10 it had the input's type.
    let dtype = if node.opset < 10 {
        builder.ty(input).dtype
    } else {
        DataType::Bool
    };
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
        let inputs =
            |ratio: f32, training: bool| [x.clone(), f32s(&[], &[ratio]), bools(&[], &[training])];
        check("Dropout", &inputs(0.0, true), none(), &x);
        check("Dropout", &inputs(0.5, false), none(), &x);
        refuse("Dropout", &inputs(0.5, true), none(), "only inference");
    }
}
