//! The mean of each channel.

use crate::kernels::reduce;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, OnnxForm, OpError, Operator, TensorType, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "GlobalAveragePool",
    onnx: &[OnnxForm::new(
        "GlobalAveragePool",
        1,
        LATEST,
        |builder, node| plain(builder, node, "GlobalAveragePool"),
    )],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let shape = match input.rank() {
            None => return Ok(vec![input.clone()]),
            Some(0..=2) => {
                return Err(OpError::invalid(format!(
                    "the image {input} has no spatial dimensions"
                )));
            }
            Some(rank) => [&input.shape[..2], &vec![1; rank - 2]].concat(),
        };
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        reduce::over(
            cx,
            &(2..cx.shape(0)?.len()).collect::<Vec<_>>(),
            reduce::Join::Mean,
        )
    },
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[1, 2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0]);
        check(
            "GlobalAveragePool",
            &[x],
            none(),
            &f32s(&[1, 2, 1, 1], &[2.5, 25.0]),
        );
    }
}
