//! Merges dimensions, so that two remain.

use crate::kernels::data_movement;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, InputDef, OnnxForm, OpError, Operator, TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Flatten",
    onnx: &[OnnxForm::new("Flatten", 1, LATEST, |builder, node| {
        let attrs = Attrs::new().with("axis", node.int_or("axis", 1)?);
        Ok(vec![builder.node("Flatten", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", 1)],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let Some(rank) = input.rank() else {
            return Ok(vec![TensorType::new(input.dtype, [UNKNOWN, UNKNOWN])]);
        };
        // The axis may stand behind the last dimension.
        let axis = cx.attrs().int("axis")?;
        let at = if axis < 0 { axis + rank as i64 } else { axis };
        let Some(at) = usize::try_from(at).ok().filter(|&at| at <= rank) else {
            return Err(OpError::invalid(format!(
                "the axis {axis} is outside a tensor of {rank} dimensions"
            )));
        };
        let product = |dims: &[i64]| {
            dims.iter().try_fold(1i64, |product, &dim| {
                if dim < 0 {
                    None
                } else {
                    product.checked_mul(dim)
                }
            })
        };
        let part = |dims: &[i64]| product(dims).unwrap_or(UNKNOWN);
        Ok(vec![TensorType::new(
            input.dtype,
            [part(&input.shape[..at]), part(&input.shape[at..])],
        )])
    },
    prepare: data_movement::copy,
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = noise(&[2, 3, 4], 1);
        for (axis, dims) in [(0, [1, 24]), (1, [2, 12]), (3, [24, 1]), (-1, [6, 4])] {
            check(
                "Flatten",
                &[x.clone()],
                none().with("axis", axis),
                &x.reshaped(&dims).unwrap(),
            );
        }
        refuse("Flatten", &[x], none().with("axis", 4), "outside");
    }
}
