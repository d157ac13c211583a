//! Returns its input.

use jumar_types::dtype::DataType;

use crate::kernels::data_movement;
use crate::kernels::elementwise::infer_same;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Tensor, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Identity",
    onnx: &[
        OnnxForm::new("Identity", 1, LATEST, |builder, node| {
            plain(builder, node, "Identity")
        }),
        OnnxForm::new("Optional", 15, LATEST, given),
        OnnxForm::new("OptionalGetElement", 15, LATEST, given),
        OnnxForm::new("OptionalHasElement", 15, LATEST, |builder, node| {
            let is_given = Tensor::scalar(DataType::Bool, node.optional(0).is_some().into())?;
            Ok(vec![builder.add_constant(is_given)])
        }),
    ],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: data_movement::copy,
}];

/// What may be left out is known when a model is converted: it is there, or nothing names it.
fn given(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    if node.optional(0).is_none() {
        return Err(OpError::unsupported(
            "an optional without an element is not supported",
        ));
    }
    plain(builder, node, "Identity")
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn gives_what_it_gets() {
        let x = noise(&[2, 3], 1);
        check("Identity", &[x.clone()], none(), &x);
    }
}
