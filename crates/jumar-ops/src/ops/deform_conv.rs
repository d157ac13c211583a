//! Deformable convolution: offsets move the taps. The attributes are ONNX's.

use crate::kernels::generic::generic_kernel;
use crate::kernels::space::deform::DeformableSpace;
use crate::kernels::space::{Windows, window_defs};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types};

const ATTRS: &[AttrDef] = {
    let [strides, pads, dilations, auto_pad] = window_defs();
    &[
        strides,
        pads,
        dilations,
        auto_pad,
        AttrDef::int("group", 1),
        AttrDef::int("offset_group", 1),
    ]
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.DeformConv",
    onnx: &[OnnxForm::new("DeformConv", 19, LATEST, |builder, node| {
        super::conv_nd::lower(builder, node, "jumar.DeformConv")
    })],
    inputs: &[
        InputDef::required("x", Types::FLOAT),
        InputDef::required("filter", Types::FLOAT),
        InputDef::required("offset", Types::FLOAT),
        InputDef::optional("bias", Types::FLOAT),
        InputDef::optional("mask", Types::FLOAT),
    ],
    outputs: OUTPUT_Y,
    attrs: ATTRS,
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare: |cx| {
        let (image, filter) = (cx.shape(0)?, cx.shape(1)?);
        let groups = cx.attrs().int("group")?.max(1) as usize;
        let kernel = [filter[2] as i64, filter[3] as i64];
        let algorithm = DeformableSpace {
            batch: image[0],
            groups,
            depth: filter[1],
            outputs: filter[0] / groups,
            offset_groups: cx.attrs().int("offset_group")?.max(1) as usize,
            space: Windows::of(cx.attrs(), &kernel, false)?.fix(&image[2..])?,
        };
        generic_kernel(cx, algorithm, &[0, 1, 2, 3, 4], &[0])
    },
}];

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types(0..5)?;
    let (image, filter, offset) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let (Some(image_rank), Some(filter_rank), Some(_)) =
        (image.rank(), filter.rank(), offset.rank())
    else {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    };
    if image_rank != 4 || filter_rank != 4 {
        return Err(OpError::unsupported(format!(
            "image {image} and filter {filter}: only 4 dimensions are supported"
        )));
    }
    super::conv_nd::groups(cx, image, filter)?;
    let groups = cx.attrs().int("offset_group")?;
    if groups < 1 || (image.shape[1] >= 0 && image.shape[1] % groups != 0) {
        return Err(OpError::invalid(format!(
            "the channels of {image} cannot be split into {groups} groups of offsets"
        )));
    }
    let mut shape = vec![image.shape[0], filter.shape[0]];
    if filter.shape[2..].iter().any(|&size| size < 0) {
        shape.extend([-1, -1]);
        return Ok(vec![TensorType { dtype, shape }]);
    }
    shape.extend(Windows::of(cx.attrs(), &filter.shape[2..], false)?.output(&image.shape[2..])?);
    let taps = filter.shape[2]
        .saturating_mul(filter.shape[3])
        .saturating_mul(groups);
    let fits = |index: usize, channels: i64| -> Result<(), OpError> {
        let ty = cx.input(index)?;
        let wanted = [shape[0], channels, shape[2], shape[3]];
        let agree = ty.rank().is_none()
            || ty.shape.len() == 4
                && ty
                    .shape
                    .iter()
                    .zip(wanted)
                    .all(|(&own, dim)| own < 0 || dim < 0 || own == dim);
        if agree {
            Ok(())
        } else {
            Err(OpError::invalid(format!(
                "input {index} is {ty}; it must have the shape {wanted:?}"
            )))
        }
    };
    fits(2, taps.saturating_mul(2))?;
    if cx.has(4) {
        fits(4, taps)?;
    }
    if cx.has(3)
        && !matches!(cx.input(3)?.shape[..], [size] if size < 0 || shape[1] < 0 || size == shape[1])
    {
        return Err(OpError::invalid(format!(
            "the bias is {}; it needs {} elements",
            cx.input(3)?,
            shape[1]
        )));
    }
    Ok(vec![TensorType { dtype, shape }])
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("deform_conv");
    }
}
