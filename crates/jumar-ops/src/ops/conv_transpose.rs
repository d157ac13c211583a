//! Transposed convolution over any number of dimensions. The attributes are ONNX's.

use crate::kernels::generic::generic_kernel;
use crate::kernels::space::transposed::Transposed;
use crate::kernels::space::{Axis, MOST, Space, entries, window_defs};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, PrepareCx, TensorType,
    Types, UNKNOWN, attr::AttrReader,
};

const ATTRS: &[AttrDef] = {
    let [strides, pads, dilations, auto_pad] = window_defs();
    &[
        strides,
        pads,
        dilations,
        auto_pad,
        AttrDef::int("group", 1),
        AttrDef::ints("output_padding", &[]),
        AttrDef::ints("output_shape", &[]),
    ]
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.ConvTranspose",
    onnx: &[OnnxForm::new(
        "ConvTranspose",
        1,
        LATEST,
        |builder, node| super::conv_nd::lower(builder, node, "jumar.ConvTranspose"),
    )],
    inputs: &[
        InputDef::required("x", Types::FLOAT),
        InputDef::required("filter", Types::FLOAT),
        InputDef::optional("bias", Types::FLOAT),
    ],
    outputs: OUTPUT_Y,
    attrs: ATTRS,
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare: |cx| {
        let (image, filter) = (cx.shape(0)?, cx.shape(1)?);
        let groups = cx.attrs().int("group")?.max(1) as usize;
        let algorithm = Transposed {
            batch: image[0],
            groups,
            depth: filter[0] / groups,
            outputs: filter[1],
            space: space(cx)?,
        };
        generic_kernel(cx, algorithm, &[0, 1, 2], &[0])
    },
}];

/// Returns the output's size along each dimension, and the padding before it.
fn sizes(attrs: AttrReader<'_>, image: &[i64], kernel: &[i64]) -> Result<Vec<(i64, i64)>, OpError> {
    let rank = image.len();
    let (strides, dilations) = (
        entries(attrs, "strides", rank, 1)?,
        entries(attrs, "dilations", rank, 1)?,
    );
    let (pads, more) = (
        entries(attrs, "pads", 2 * rank, 0)?,
        entries(attrs, "output_padding", rank, 0)?,
    );
    let wanted = match attrs.ints("output_shape")? {
        [] => None,
        list if list.len() >= rank => Some(&list[list.len() - rank..]),
        list => {
            return Err(OpError::invalid(format!(
                "output_shape is {list:?}; it must have {rank} entries"
            )));
        }
    };
    let auto = attrs.str("auto_pad")?;
    if !matches!(auto, "" | "NOTSET" | "VALID" | "SAME_UPPER" | "SAME_LOWER") {
        return Err(OpError::invalid(format!("auto_pad {auto} is not known")));
    }
    const LARGEST: i64 = 1 << 31;
    for (name, list, least) in [
        ("strides", &strides, 1),
        ("dilations", &dilations, 1),
        ("pads", &pads, 0),
        ("output_padding", &more, 0),
    ] {
        if list.iter().any(|value| !(least..LARGEST).contains(value)) {
            return Err(OpError::invalid(format!(
                "{name} is {list:?}; each entry has to be {least} or more"
            )));
        }
    }
    (0..rank)
        .map(|axis| {
            let (size, kernel) = (image[axis], kernel[axis]);
            if size < 0 || kernel < 0 {
                return Ok((wanted.map_or(UNKNOWN, |wanted| wanted[axis]), 0));
            }
            if !(1..LARGEST).contains(&kernel) {
                return Err(OpError::invalid(format!(
                    "the kernel has a size of {kernel}"
                )));
            }
            if size >= LARGEST {
                return Err(OpError::too_large(format!(
                    "an image of {size} pixels along one axis"
                )));
            }
            let reach =
                strides[axis] * (size - 1) + more[axis] + (kernel - 1) * dilations[axis] + 1;
            let same = matches!(auto, "SAME_UPPER" | "SAME_LOWER");
            let (output, before) = match wanted {
                None if !same => {
                    let (before, after) = if auto == "VALID" {
                        (0, 0)
                    } else {
                        (pads[axis], pads[rank + axis])
                    };
                    (reach - before - after, before)
                }
                _ => {
                    let output = wanted.map_or(size * strides[axis], |wanted| wanted[axis]);
                    let total = (reach - output).max(0);
                    let small = total / 2;
                    (
                        output,
                        if auto == "SAME_UPPER" {
                            small
                        } else {
                            total - small
                        },
                    )
                }
            };
            if size > 0 && !(1..LARGEST).contains(&output) {
                return Err(OpError::invalid(format!(
                    "the output would have a size of {output}"
                )));
            }
            Ok((output.max(0), before))
        })
        .collect()
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types(0..3)?;
    let (image, filter) = (cx.input(0)?, cx.input(1)?);
    let (Some(rank), Some(filter_rank)) = (image.rank(), filter.rank()) else {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    };
    if rank != filter_rank || !(3..=MOST + 2).contains(&rank) {
        return Err(OpError::invalid(format!(
            "image {image} and filter {filter} have to have as many dimensions, 3 or more"
        )));
    }
    let (groups, channels, depth) = (cx.attrs().int("group")?, image.shape[1], filter.shape[0]);
    if groups < 1 || (depth >= 0 && depth % groups != 0) {
        return Err(OpError::invalid(format!(
            "{depth} input channels cannot be split into {groups} groups"
        )));
    }
    if channels >= 0 && depth >= 0 && channels != depth {
        return Err(OpError::invalid(format!(
            "the image {image} has {channels} channels, and the filter {filter} needs {depth}"
        )));
    }
    let outputs = if filter.shape[1] < 0 {
        UNKNOWN
    } else {
        filter.shape[1].saturating_mul(groups)
    };
    if cx.has(2) {
        let bias = cx.input(2)?;
        if !matches!(bias.shape[..], [size] if size < 0 || outputs < 0 || size == outputs) {
            return Err(OpError::invalid(format!(
                "the bias is {bias}; it needs {outputs} elements"
            )));
        }
    }
    let mut shape = vec![image.shape[0], outputs];
    shape.extend(
        sizes(cx.attrs(), &image.shape[2..], &filter.shape[2..])?
            .iter()
            .map(|size| size.0),
    );
    Ok(vec![TensorType { dtype, shape }])
}

/// The convolution that leads back: from the output to the image.
fn space(cx: &PrepareCx<'_>) -> Result<Space, OpError> {
    let signed = |shape: &[usize]| {
        shape[2..]
            .iter()
            .map(|&size| size as i64)
            .collect::<Vec<_>>()
    };
    let (image, kernel) = (signed(cx.shape(0)?), signed(cx.shape(1)?));
    let rank = image.len();
    let strides = entries(cx.attrs(), "strides", rank, 1)?;
    let dilations = entries(cx.attrs(), "dilations", rank, 1)?;
    let sizes = sizes(cx.attrs(), &image, &kernel)?;
    let axes = (0..rank).map(|axis| Axis {
        kernel: kernel[axis] as usize,
        stride: strides[axis] as usize,
        dilation: dilations[axis] as usize,
        before: sizes[axis].1 as usize,
        after: 0,
        image: sizes[axis].0 as usize,
        output: image[axis] as usize,
    });
    Ok(Space {
        axes: axes.collect(),
    })
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("conv_transpose");
    }

    #[test]
    fn shapes_that_contradict_each_other_are_refused() {
        let (x, w) = (noise(&[1, 2, 3], 1), noise(&[3, 2, 2], 2));
        refuse("jumar.ConvTranspose", &[x.clone(), w], none(), "channels");
        let w = noise(&[2, 2, 2], 2);
        refuse(
            "jumar.ConvTranspose",
            &[x, w],
            none().with("pads", vec![5, 5]),
            "size",
        );
    }
}
