//! Convolution over height and width.
//!
//! `jumar.Conv2D` is what fusion makes of a convolution, a sum and bounds that follow it.

use jumar_types::dtype::DataType;

use crate::kernels::conv;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "Conv2D",
        onnx: &[OnnxForm::new("Conv", 1, LATEST, lower)],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("filter", Types::FLOAT),
            InputDef::optional("bias", Types::FLOAT),
            InputDef::optional("offset_w", Types::of(&[DataType::Int8])),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::required("strides", AttrKind::Ints),
            AttrDef::required("pads", AttrKind::Ints),
            AttrDef::ints("dilations", &[1, 1, 1, 1]),
            AttrDef::int("groups", 1),
            AttrDef::str("data_format", "NHWC"),
            AttrDef::int("offset_x", 0),
            // Ours: ONNX chooses padding by the image's size, which is known only after conversion.
            AttrDef::str("auto_pad", "NOTSET"),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            if cx.has(3) {
                return Err(OpError::unsupported("the input offset_w is not supported"));
            }
            conv::infer(cx)
        },
        prepare: |cx| {
            conv::prepare(
                cx,
                conv::Inputs {
                    bias: 2,
                    residual: None,
                },
                None,
            )
        },
    },
    &Operator {
        name: "jumar.Conv2D",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("filter", Types::FLOAT),
            InputDef::optional("bias", Types::FLOAT),
            InputDef::optional("residual", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::required("strides", AttrKind::Ints),
            AttrDef::required("pads", AttrKind::Ints),
            AttrDef::ints("dilations", &[1, 1, 1, 1]),
            AttrDef::int("groups", 1),
            AttrDef::str("data_format", "NHWC"),
            AttrDef::int("offset_x", 0),
            AttrDef::str("auto_pad", "NOTSET"),
            AttrDef::float("low", f32::NEG_INFINITY),
            AttrDef::float("high", f32::INFINITY),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let outputs = conv::infer(cx)?;
            if cx.has(3)
                && outputs
                    .iter()
                    .any(|ty| ty.elements().is_some() && ty != cx.inputs()[3].unwrap_or(ty))
            {
                return Err(OpError::invalid(
                    "the residual does not have the output's shape",
                ));
            }
            Ok(outputs)
        },
        prepare: |cx| {
            let (low, high) = (cx.attrs().float("low")?, cx.attrs().float("high")?);
            let bounded = low > f32::NEG_INFINITY || high < f32::INFINITY;
            conv::prepare(
                cx,
                conv::Inputs {
                    bias: 2,
                    residual: Some(3),
                },
                bounded.then_some((low, high)),
            )
        },
    },
];

/// Reads what ONNX says about a sliding window, and says it as the Graph Engine does: four strides and dilations, and
/// pads in the order top, bottom, left, right. A one-dimensional window becomes one of height 1.
pub(crate) fn window_attrs(node: &OnnxNode<'_>, rank: usize) -> Result<Attrs, OpError> {
    if !(1..=2).contains(&rank) {
        return Err(OpError::unsupported(format!(
            "windows over {rank} dimensions are not supported; 1 and 2 are"
        )));
    }
    let two = |name: &str| -> Result<Vec<i64>, OpError> {
        match node.ints(name)? {
            None => Ok(vec![1; 4]),
            Some(list) if list.len() == rank => Ok([vec![1; 4 - rank], list.to_vec()].concat()),
            Some(list) => Err(OpError::invalid(format!(
                "{name} is {list:?}; it must have {rank} entries"
            ))),
        }
    };
    let pads = match node.ints("pads")? {
        None => vec![0; 4],
        Some(&[left, right]) if rank == 1 => vec![0, 0, left, right],
        Some(&[top, left, bottom, right]) if rank == 2 => vec![top, bottom, left, right],
        Some(list) => {
            return Err(OpError::invalid(format!(
                "pads is {list:?}; it must have {} entries",
                2 * rank
            )));
        }
    };
    Ok(Attrs::new()
        .with("strides", two("strides")?)
        .with("dilations", two("dilations")?)
        .with("pads", pads)
        .with("data_format", "NCHW")
        .with("auto_pad", node.str_or("auto_pad", "NOTSET")?))
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let (mut image, mut filter) = (node.input(0)?, node.input(1)?);
    let rank = builder
        .ty(filter)
        .rank()
        .or(builder.ty(image).rank())
        .ok_or_else(|| OpError::unknown("the filter's number of dimensions has to be known"))?;
    let spatial = rank.saturating_sub(2);
    if let (Some(kernel), Some(dims)) = (node.ints("kernel_shape")?, builder.ty(filter).dims()) {
        let own = dims.get(2..).unwrap_or_default();
        if !kernel.iter().copied().eq(own.iter().map(|&dim| dim as i64)) {
            return Err(OpError::invalid(format!(
                "kernel_shape is {kernel:?}, and the filter {}",
                builder.ty(filter)
            )));
        }
    }
    if spatial > 2 {
        return super::conv_nd::lower(builder, node, "jumar.Conv");
    }
    let attrs = window_attrs(node, spatial)?.with("groups", node.int_or("group", 1)?);
    if spatial == 1 {
        image = builder.node(
            "Unsqueeze",
            &[Some(image)],
            Attrs::new().with("axes", vec![2]),
        )?;
        filter = builder.node(
            "Unsqueeze",
            &[Some(filter)],
            Attrs::new().with("axes", vec![2]),
        )?;
    }
    let out = builder.node(
        "Conv2D",
        &[Some(image), Some(filter), node.optional(2)],
        attrs,
    )?;
    if spatial == 1 {
        return Ok(vec![builder.node(
            "Squeeze",
            &[Some(out)],
            Attrs::new().with("axis", vec![2]),
        )?]);
    }
    Ok(vec![out])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use crate::table::*;

    /// Returns the dimensions and the sums of a convolution without bias: its definition, seven loops deep, in float64.
    fn by_definition(
        x: &Tensor,
        w: &Tensor,
        strides: [i64; 2],
        pads: [i64; 4],
        dilations: [i64; 2],
        groups: usize,
    ) -> ([usize; 4], Vec<f64>) {
        let (xd, wd) = (x.ty().dims().unwrap(), w.ty().dims().unwrap());
        let (xv, wv) = (x.floats().unwrap(), w.floats().unwrap());
        let size = |axis: usize, before: i64, after: i64| {
            (xd[2 + axis] as i64 + before + after - dilations[axis] * (wd[2 + axis] as i64 - 1) - 1)
                / strides[axis]
                + 1
        };
        let (height, width) = (size(0, pads[0], pads[1]), size(1, pads[2], pads[3]));
        let mut out = Vec::new();
        for n in 0..xd[0] {
            for m in 0..wd[0] {
                let group = m / (wd[0] / groups);
                for y in 0..height {
                    for z in 0..width {
                        let mut sum = 0.0;
                        for c in 0..wd[1] {
                            for i in 0..wd[2] {
                                for j in 0..wd[3] {
                                    let row = y * strides[0] + i as i64 * dilations[0] - pads[0];
                                    let column = z * strides[1] + j as i64 * dilations[1] - pads[2];
                                    if (0..xd[2] as i64).contains(&row)
                                        && (0..xd[3] as i64).contains(&column)
                                    {
                                        let channel = group * wd[1] + c;
                                        let at =
                                            ((n * xd[1] + channel) * xd[2] + row as usize) * xd[3];
                                        sum += xv[at + column as usize]
                                            * wv[((m * wd[1] + c) * wd[2] + i) * wd[3] + j];
                                    }
                                }
                            }
                        }
                        out.push(sum);
                    }
                }
            }
        }
        ([xd[0], wd[0], height as usize, width as usize], out)
    }

    /// Returns sums as a tensor of float32.
    fn rounded((dims, sums): &([usize; 4], Vec<f64>)) -> Tensor {
        let values: Vec<f32> = sums.iter().map(|&sum| sum as f32).collect();
        f32s(dims, &values)
    }

    #[test]
    fn agrees_with_its_definition() {
        let cases = [
            ([1, 3, 8, 8], [8, 3, 3, 3], [1, 1], [1, 1, 1, 1], [1, 1], 1),
            ([2, 3, 9, 7], [5, 3, 3, 3], [2, 2], [0, 1, 1, 0], [1, 1], 1),
            (
                [1, 4, 10, 40],
                [6, 2, 3, 2],
                [1, 3],
                [2, 2, 3, 3],
                [2, 1],
                2,
            ),
            ([1, 6, 7, 7], [6, 1, 3, 3], [1, 1], [1, 1, 1, 1], [1, 1], 6),
            ([2, 6, 9, 9], [12, 1, 5, 5], [2, 2], [2, 2, 2, 2], [1, 1], 6),
            (
                [2, 33, 6, 6],
                [17, 33, 1, 1],
                [1, 1],
                [0, 0, 0, 0],
                [1, 1],
                1,
            ),
            ([1, 8, 6, 6], [9, 8, 1, 1], [2, 2], [0, 0, 0, 0], [1, 1], 1),
            (
                [1, 300, 5, 5],
                [8, 300, 1, 1],
                [1, 1],
                [0, 0, 0, 0],
                [1, 1],
                1,
            ),
            (
                [1, 70, 6, 5],
                [4, 70, 3, 3],
                [1, 1],
                [1, 1, 1, 1],
                [1, 1],
                1,
            ),
            (
                [1, 1, 30, 30],
                [4, 1, 7, 7],
                [2, 2],
                [3, 3, 3, 3],
                [1, 1],
                1,
            ),
            (
                [1, 2, 1, 100],
                [2, 2, 1, 5],
                [1, 1],
                [0, 0, 2, 2],
                [1, 1],
                1,
            ),
            ([1, 2, 3, 3], [4, 2, 3, 3], [1, 1], [4, 4, 4, 4], [1, 1], 1),
            ([0, 2, 3, 3], [4, 2, 3, 3], [1, 1], [1, 1, 1, 1], [1, 1], 1),
            // Large enough for images in blocks: blocks that are not full, strides, dilations, groups, few channels.
            (
                [2, 27, 15, 13],
                [24, 27, 3, 3],
                [1, 1],
                [1, 1, 1, 1],
                [1, 1],
                1,
            ),
            (
                [3, 32, 16, 18],
                [11, 32, 3, 3],
                [2, 1],
                [0, 1, 2, 0],
                [1, 2],
                1,
            ),
            (
                [2, 32, 14, 14],
                [96, 16, 3, 3],
                [1, 1],
                [1, 1, 1, 1],
                [1, 1],
                2,
            ),
            (
                [2, 3, 40, 41],
                [26, 3, 7, 7],
                [2, 2],
                [3, 3, 3, 3],
                [1, 1],
                1,
            ),
            (
                [2, 48, 11, 13],
                [40, 48, 1, 1],
                [1, 1],
                [0, 0, 0, 0],
                [1, 1],
                1,
            ),
            // Images that are in blocks one after the other.
            (
                [3, 16, 256, 200],
                [16, 16, 1, 1],
                [1, 1],
                [0, 0, 0, 0],
                [1, 1],
                1,
            ),
        ];
        for (index, (x, w, strides, pads, dilations, groups)) in cases.into_iter().enumerate() {
            let (x, w) = (noise(&x, 1 + index as u32), noise(&w, 50 + index as u32));
            let bias = noise(&[w.ty().dims().unwrap()[0]], 99);
            let attrs = none()
                .with("strides", vec![1, 1, strides[0], strides[1]])
                .with("pads", pads.to_vec())
                .with("dilations", vec![1, 1, dilations[0], dilations[1]])
                .with("groups", groups as i64)
                .with("data_format", "NCHW");
            let sums = by_definition(&x, &w, strides, pads, dilations, groups);
            let (biases, mut biased) = (bias.floats().unwrap(), sums.clone());
            let plane = (sums.0[2] * sums.0[3]).max(1);
            for (at, sum) in biased.1.iter_mut().enumerate() {
                *sum += biases[at / plane % sums.0[1]];
            }
            let wanted = rounded(&biased);
            check(
                "Conv2D",
                &[x.clone(), w.clone(), bias.clone()],
                attrs.clone(),
                &wanted,
            );
            let plain = rounded(&sums);
            check("Conv2D", &[x.clone(), w.clone()], attrs.clone(), &plain);
            let wide = |t: &Tensor| cast(t, DataType::Float64);
            check_within(
                "Conv2D",
                &[wide(&x), wide(&w)],
                attrs.clone(),
                &wide(&plain),
                1e-6,
            );
            let half = |t: &Tensor| cast(t, DataType::Float16);
            let halved = half(&rounded(&by_definition(
                &half(&x),
                &half(&w),
                strides,
                pads,
                dilations,
                groups,
            )));
            check_within(
                "Conv2D",
                &[half(&x), half(&w)],
                attrs.clone(),
                &halved,
                1e-3,
            );

            let residual = noise(&wanted.ty().dims().unwrap(), 7);
            let sums: Vec<f32> = wanted
                .floats()
                .unwrap()
                .iter()
                .zip(residual.floats().unwrap())
                .map(|(a, b)| (a + b).clamp(0.0, 1.5) as f32)
                .collect();
            let fused = f32s(&wanted.ty().dims().unwrap(), &sums);
            let attrs = attrs.with("low", 0f32).with("high", 1.5f32);
            // Bounds hide how large the sums were that were rounded.
            check_within("jumar.Conv2D", &[x, w, bias, residual], attrs, &fused, 1e-5);
        }
    }

    #[test]
    fn automatic_padding_keeps_the_size() {
        let attrs = |pad: &str| {
            none()
                .with("strides", vec![1, 1, 2, 2])
                .with("pads", vec![0; 4])
                .with("data_format", "NCHW")
                .with("auto_pad", pad)
        };
        let (x, w) = (noise(&[1, 1, 6, 6], 3), noise(&[1, 1, 3, 3], 4));
        for (pad, pads) in [
            ("SAME_UPPER", [0, 1, 0, 1]),
            ("SAME_LOWER", [1, 0, 1, 0]),
            ("VALID", [0; 4]),
        ] {
            let wanted = rounded(&by_definition(&x, &w, [2, 2], pads, [1, 1], 1));
            check("Conv2D", &[x.clone(), w.clone()], attrs(pad), &wanted);
        }
    }

    #[test]
    fn shapes_that_contradict_each_other_are_refused() {
        let attrs = none()
            .with("strides", vec![1; 4])
            .with("pads", vec![0; 4])
            .with("data_format", "NCHW");
        let x = noise(&[1, 3, 8, 8], 1);
        refuse(
            "Conv2D",
            &[x.clone(), noise(&[4, 2, 3, 3], 2)],
            attrs.clone(),
            "channels",
        );
        refuse(
            "Conv2D",
            &[x.clone(), noise(&[4, 3, 9, 9], 2)],
            attrs.clone(),
            "does not fit",
        );
        refuse(
            "Conv2D",
            &[x.clone(), noise(&[4, 3, 3, 3], 2), noise(&[3], 1)],
            attrs.clone(),
            "bias",
        );
        refuse(
            "Conv2D",
            &[x.clone(), noise(&[4, 3, 3, 3], 2)],
            none().with("pads", vec![0; 4]),
            "strides",
        );
        refuse(
            "Conv2D",
            &[x.clone(), noise(&[4, 3, 3, 3], 2)],
            attrs.clone().with("strides", vec![1, 1, 0, 1]),
            "strides",
        );
        refuse(
            "Conv2D",
            &[x, noise(&[4, 3, 3, 3], 2)],
            attrs.with("sparkle", 1),
            "sparkle",
        );
    }
}
