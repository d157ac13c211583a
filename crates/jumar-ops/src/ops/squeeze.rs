//! Removes dimensions of size 1. `Squeeze` takes the axes from an attribute, `SqueezeV3` from an input.

use crate::kernels::data_movement;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types,
    UNKNOWN, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "Squeeze",
        onnx: &[OnnxForm::new("Squeeze", 1, 12, |builder, node| {
            let attrs = Attrs::new().with("axis", node.ints("axes")?.unwrap_or_default());
            Ok(vec![builder.node("Squeeze", node.inputs(), attrs)?])
        })],
        inputs: &[InputDef::required("x", Types::ALL)],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::ints("axis", &[])],
        aliasing: Aliasing::View,
        reads_only_shapes: false,
        infer: |cx| dropped(cx, Some(cx.attrs().ints("axis")?)),
        prepare: data_movement::copy,
    },
    &Operator {
        name: "SqueezeV3",
        onnx: &[OnnxForm::new("Squeeze", 13, LATEST, |builder, node| {
            Ok(vec![builder.node(
                "SqueezeV3",
                node.inputs(),
                Attrs::new(),
            )?])
        })],
        inputs: &[
            InputDef::required("x", Types::ALL),
            InputDef::optional_constant("axes", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::View,
        reads_only_shapes: false,
        infer: |cx| {
            if !cx.has(1) {
                return dropped(cx, Some(&[]));
            }
            dropped(cx, cx.ints(1)?.as_deref())
        },
        prepare: data_movement::copy,
    },
];

/// Without axes, every dimension of 1 is dropped.
fn dropped(cx: &InferCx<'_>, axes: Option<&[i64]>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    let (Some(rank), Some(axes)) = (input.rank(), axes) else {
        return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
    };
    if axes.is_empty() && input.shape.contains(&UNKNOWN) {
        return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
    }
    let named = infer::axes(axes, rank)?;
    let mut shape = Vec::with_capacity(rank);
    for (axis, &dim) in input.shape.iter().enumerate() {
        let drop = if named.is_empty() {
            dim == 1
        } else {
            named.contains(&axis)
        };
        match dim {
            _ if !drop => shape.push(dim),
            1 | UNKNOWN => {}
            _ => {
                return Err(OpError::invalid(format!(
                    "dimension {axis} of {input} is {dim}, and only 1 can be dropped"
                )));
            }
        }
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
        let x = noise(&[1, 2, 1, 3], 1);
        check(
            "Squeeze",
            &[x.clone()],
            none(),
            &x.reshaped(&[2, 3]).unwrap(),
        );
        check(
            "Squeeze",
            &[x.clone()],
            none().with("axis", vec![-2]),
            &x.reshaped(&[1, 2, 3]).unwrap(),
        );
        check(
            "SqueezeV3",
            &[x.clone(), i64s(&[1], &[0])],
            none(),
            &x.reshaped(&[2, 1, 3]).unwrap(),
        );
        check(
            "SqueezeV3",
            &[x.clone()],
            none(),
            &x.reshaped(&[2, 3]).unwrap(),
        );
        refuse(
            "Squeeze",
            &[x.clone()],
            none().with("axis", vec![1]),
            "only 1 can be dropped",
        );
        refuse("Squeeze", &[x], none().with("axis", vec![0, -4]), "twice");
    }
}
