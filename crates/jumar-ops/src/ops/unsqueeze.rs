//! Adds dimensions of size 1. `Unsqueeze` takes the axes from an attribute, `UnsqueezeV3` from an input.

use crate::kernels::data_movement;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::MAX_RANK;
use crate::{
    Aliasing, AttrDef, Attrs, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types,
    UNKNOWN, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "Unsqueeze",
        onnx: &[OnnxForm::new("Unsqueeze", 1, 12, |builder, node| {
            let axes = node
                .ints("axes")?
                .ok_or_else(|| OpError::invalid("the attribute axes is missing"))?;
            Ok(vec![builder.node(
                "Unsqueeze",
                node.inputs(),
                Attrs::new().with("axes", axes),
            )?])
        })],
        inputs: &[InputDef::required("x", Types::ALL)],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::ints("axes", &[])],
        aliasing: Aliasing::View,
        reads_only_shapes: false,
        infer: |cx| with_unit_dims(cx, Some(cx.attrs().ints("axes")?)),
        prepare: data_movement::copy,
    },
    &Operator {
        name: "UnsqueezeV3",
        onnx: &[OnnxForm::new("Unsqueeze", 13, LATEST, |builder, node| {
            Ok(vec![builder.node(
                "UnsqueezeV3",
                node.inputs(),
                Attrs::new(),
            )?])
        })],
        inputs: &[
            InputDef::required("x", Types::ALL),
            InputDef::constant("axes", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::View,
        reads_only_shapes: false,
        infer: |cx| {
            if cx.ints(1)?.is_none()
                && let (Some(rank), Some(count)) = (cx.input(0)?.rank(), cx.input(1)?.elements())
            {
                return Ok(vec![TensorType::new(
                    cx.input(0)?.dtype,
                    vec![UNKNOWN; rank + count],
                )]);
            }
            with_unit_dims(cx, cx.ints(1)?.as_deref())
        },
        prepare: data_movement::copy,
    },
];

/// Returns the type of the input with dimensions of size 1 inserted at `axes`, which is `None` if the axes are not known yet.
fn with_unit_dims(cx: &InferCx<'_>, axes: Option<&[i64]>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    let (Some(rank), Some(axes)) = (input.rank(), axes) else {
        return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
    };
    if rank + axes.len() > MAX_RANK {
        return Err(OpError::too_large(format!(
            "{} dimensions are added to {input}; the result may have at most {MAX_RANK}",
            axes.len()
        )));
    }
    let mut shape = input.shape.clone();
    // Axes refer to the result; they are inserted in ascending order.
    for axis in infer::axes(axes, rank + axes.len())? {
        shape.insert(axis, 1);
    }
    Ok(vec![TensorType {
        dtype: input.dtype,
        shape,
    }])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = noise(&[2, 3], 1);
        check(
            "Unsqueeze",
            &[x.clone()],
            none().with("axes", vec![0, 3]),
            &x.reshaped(&[1, 2, 3, 1]).unwrap(),
        );
        check(
            "Unsqueeze",
            &[x.clone()],
            none().with("axes", vec![-1]),
            &x.reshaped(&[2, 3, 1]).unwrap(),
        );
        check(
            "UnsqueezeV3",
            &[x.clone(), i64s(&[1], &[1])],
            none(),
            &x.reshaped(&[2, 1, 3]).unwrap(),
        );
        refuse("Unsqueeze", &[x], none().with("axes", vec![3]), "outside");
    }
}
