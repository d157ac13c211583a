//! Returns its input.

use crate::kernels::data_movement;
use crate::kernels::elementwise::infer_same;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Identity",
    onnx: &[OnnxForm::new("Identity", 1, LATEST, |builder, node| {
        plain(builder, node, "Identity")
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: data_movement::copy,
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn gives_what_it_gets() {
        let x = noise(&[2, 3], 1);
        check("Identity", &[x.clone()], none(), &x);
    }
}
