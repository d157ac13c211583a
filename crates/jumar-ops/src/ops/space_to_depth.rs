//! Moves blocks of pixels to channels.

use super::depth_to_space::block_of;
use crate::kernels::data_movement::pick_as;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, InputDef, OnnxForm, OpError, Operator, TensorType, Types,
    UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "SpaceToDepth",
    onnx: &[OnnxForm::new("SpaceToDepth", 1, LATEST, |builder, node| {
        let size = node
            .int("blocksize")?
            .ok_or_else(|| OpError::invalid("the attribute blocksize is missing"))?;
        let attrs = Attrs::new()
            .with("block_size", size)
            .with("mode", node.str_or("mode", "DCR")?)
            .with("data_format", "NCHW");
        Ok(vec![builder.node("SpaceToDepth", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("block_size", AttrKind::Int),
        // Ours: ONNX can have a channel's pixels lie side by side.
        AttrDef::str("mode", "DCR"),
        AttrDef::str("data_format", "NHWC"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (input, block) = (cx.input(0)?, block_of(cx)?);
        if !["DCR", "CRD"].contains(&cx.attrs().str("mode")?) {
            return Err(OpError::invalid(format!(
                "the mode is {:?}; it can be DCR and CRD",
                cx.attrs().str("mode")?
            )));
        }
        let Some(rank) = input.rank() else {
            return Ok(vec![TensorType::new(input.dtype, [UNKNOWN; 4])]);
        };
        let (4, &[batch, channels, height, width]) = (rank, &input.shape[..]) else {
            return Err(OpError::invalid(format!(
                "{input} has other than 4 dimensions"
            )));
        };
        let part = |dim: i64| match dim {
            ..0 => Ok(UNKNOWN),
            _ if dim % block == 0 => Ok(dim / block),
            _ => Err(OpError::invalid(format!(
                "{input} has no blocks of {block} by {block}"
            ))),
        };
        let channels = if channels < 0 {
            UNKNOWN
        } else {
            channels.checked_mul(block * block).ok_or_else(|| {
                OpError::too_large(format!(
                    "{channels} channels times blocksize {block} squared"
                ))
            })?
        };
        Ok(vec![TensorType::new(
            input.dtype,
            [batch, channels, part(height)?, part(width)?],
        )])
    },
    prepare: |cx| {
        let &[batch, channels, height, width] = cx.shape(0)? else {
            return Err(OpError::internal("no image"));
        };
        let block = block_of(cx.infer())? as usize;
        let plane = height * width;
        let mut dims = [batch, block, block, channels, height / block, width / block];
        let mut strides =
            [channels * plane, width, 1, plane, block * width, block].map(|stride| stride as isize);
        if cx.attrs().str("mode")? == "CRD" {
            dims[1..4].rotate_right(1);
            strides[1..4].rotate_right(1);
        }
        pick_as(cx, &dims, &strides)
    },
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[1, 2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let attrs = || none().with("block_size", 2).with("data_format", "NCHW");
        let wanted = f32s(&[1, 8, 1, 1], &[0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
        check("SpaceToDepth", &[x()], attrs(), &wanted);
        let wanted = f32s(&[1, 8, 1, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        check("SpaceToDepth", &[x()], attrs().with("mode", "CRD"), &wanted);
        refuse(
            "SpaceToDepth",
            &[f32s(&[1, 1, 1, 2], &[0.0; 2])],
            attrs(),
            "no blocks",
        );
    }
}
