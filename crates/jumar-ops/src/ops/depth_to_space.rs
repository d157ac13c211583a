//! Moves channels to blocks of pixels.

use crate::kernels::data_movement::pick_as;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType,
    Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "DepthToSpace",
    onnx: &[OnnxForm::new("DepthToSpace", 1, LATEST, |builder, node| {
        let size = node
            .int("blocksize")?
            .ok_or_else(|| OpError::invalid("the attribute blocksize is missing"))?;
        let attrs = Attrs::new()
            .with("block_size", size)
            .with("mode", node.str_or("mode", "DCR")?)
            .with("data_format", "NCHW");
        Ok(vec![builder.node("DepthToSpace", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("block_size", AttrKind::Int),
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
        if channels >= 0 && channels % (block * block) != 0 {
            return Err(OpError::invalid(format!(
                "{channels} channels are no blocks of {block} by {block}"
            )));
        }
        let times = |dim: i64| {
            if dim < 0 {
                Ok(UNKNOWN)
            } else {
                dim.checked_mul(block).ok_or_else(|| {
                    OpError::too_large(format!("an image of {dim} times blocksize {block}"))
                })
            }
        };
        let channels = if channels < 0 {
            UNKNOWN
        } else {
            channels / (block * block)
        };
        Ok(vec![TensorType::new(
            input.dtype,
            [batch, channels, times(height)?, times(width)?],
        )])
    },
    prepare: |cx| {
        let &[batch, channels, height, width] = cx.shape(0)? else {
            return Err(OpError::internal("no image"));
        };
        let block = block_of(cx.infer())? as usize;
        let (out, plane) = (channels / (block * block), height * width);
        // The step of a channel of the result, and of the two coordinates inside a block.
        let (channel, down, right) = match cx.attrs().str("mode")? {
            "CRD" => (block * block * plane, block * plane, plane),
            _ => (plane, block * out * plane, out * plane),
        };
        let strides =
            [channels * plane, channel, width, down, 1, right].map(|stride| stride as isize);
        pick_as(cx, &[batch, out, height, block, width, block], &strides)
    },
}];

/// The size of a block; checks what both operators have alike.
pub(super) fn block_of(cx: &InferCx<'_>) -> Result<i64, OpError> {
    if cx.attrs().str("data_format")? != "NCHW" {
        return Err(OpError::unsupported(
            "data_format other than NCHW is not supported",
        ));
    }
    match cx.attrs().int("block_size")? {
        size @ 1..=65536 => Ok(size),
        size => Err(OpError::invalid(format!("a block of {size}"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[1, 8, 1, 1], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let attrs = || none().with("block_size", 2).with("data_format", "NCHW");
        check(
            "DepthToSpace",
            &[x()],
            attrs(),
            &f32s(&[1, 2, 2, 2], &[0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0]),
        );
        let crd = attrs().with("mode", "CRD");
        check(
            "DepthToSpace",
            &[x()],
            crd,
            &f32s(&[1, 2, 2, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        );
        refuse(
            "DepthToSpace",
            &[f32s(&[1, 6, 1, 1], &[0.0; 6])],
            attrs(),
            "no blocks",
        );
        refuse("DepthToSpace", &[x()], none().with("block_size", 2), "NCHW");
    }
}
