//! Forgets at random while training; in inference it gives its input.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::infer_same;
use crate::kernels::lift::{Algorithm, Io, Working, lift};
use crate::kernels::moves;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Bool8;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, OutputDef, TensorType, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
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
    },
    // With what ONNX adds: a mask, and training, as long as nothing is forgotten.
    &Operator {
        name: "jumar.Dropout",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::optional_constant("ratio", Types::FLOAT),
            InputDef::optional_constant("training_mode", Types::of(&[DataType::Bool])),
        ],
        outputs: &[OUTPUT_Y[0], OutputDef { name: "mask" }],
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let trains = cx.ints(2)?.is_some_and(|list| list.iter().any(|&value| value != 0));
            let ratio = match cx.constant(1) {
                None if cx.has(1) => None,
                None => Some(0.5),
                Some(ratio) => ratio.floats().and_then(|list| list.first().copied()),
            };
            if trains && ratio.is_some_and(|ratio| ratio != 0.0) {
                return Err(OpError::unsupported("training_mode is true and the ratio is not 0: random draws are not supported"));
            }
            let x = cx.input(0)?;
            Ok(vec![x.clone(), TensorType { dtype: DataType::Bool, shape: x.shape.clone() }])
        },
        prepare: |cx| {
            if (cx.has(2) && cx.infer().constant(2).is_none()) || (cx.has(1) && cx.infer().constant(1).is_none()) {
                return Err(OpError::unsupported("ratio and training_mode have to be known before the operator is planned"));
            }
            lift(cx, Remembered, &[0], &[0])
        },
    },
];

struct Remembered;

impl Algorithm for Remembered {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        io.output(0)?.copy_from(io.input(0)?);
        if io.wants(1) {
            io.call.output::<Bool8>(1)?.flat().fill(true.into());
        }
        Ok(())
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    node.ignore("ratio");
    node.ignore("seed");
    let infers = match node.optional(2) {
        None => true,
        Some(training) => {
            let values = builder.constant(training).and_then(|tensor| tensor.ints());
            values.is_some_and(|values| values.iter().all(|&value| value == 0))
        }
    };
    if infers && !node.uses_output(1) {
        return Ok(vec![builder.node("Dropout", &[Some(node.input(0)?)], Attrs::new())?]);
    }
    let inputs = if infers { &node.inputs()[..1] } else { node.inputs() };
    builder.add_node("jumar.Dropout", inputs, Attrs::new(), node.outputs.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use crate::table::*;

    #[test]
    fn forgets_nothing_in_inference() {
        let x = noise(&[2, 3], 1);
        check("Dropout", &[x.clone()], none(), &x);
        let outputs = run("jumar.Dropout", &[x.clone()], none()).unwrap();
        assert_eq!((&outputs[0], outputs[1].bytes()), (&x, &[1u8; 6][..]));
    }

    #[test]
    fn training_that_would_forget_is_refused() {
        let truth = Tensor::new(DataType::Bool, &[], vec![1]).unwrap();
        let (x, ratio) = (noise(&[2], 1), |ratio| f32s(&[], &[ratio]));
        check("jumar.Dropout", &[x.clone(), ratio(0.0), truth.clone()], none(), &x);
        refuse("jumar.Dropout", &[x, ratio(0.25), truth], none(), "random draws");
    }
}
