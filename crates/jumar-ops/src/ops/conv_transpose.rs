//! Transposed convolution over any number of dimensions. The attributes are ONNX's.

use crate::kernels::generic::generic_kernel;
use crate::kernels::space::transposed::TransposedSpace;
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
        let algorithm = TransposedSpace {
            batch: image[0],
            groups,
            depth: filter[0] / groups,
            outputs: filter[1],
            space: space(cx)?,
        };
        if let Some(kernel) = algorithm.in_blocks(cx)? {
            return Ok(kernel);
        }
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
    use jumar_types::dtype::DataType;

    use crate::table::*;

    /// Image, filter, strides, padding above and to the left, dilations, what the output has beyond the windows, groups.
    type Case = (
        [usize; 4],
        [usize; 4],
        [i64; 2],
        [i64; 2],
        [i64; 2],
        [i64; 2],
        usize,
    );

    const CASES: &[Case] = &[
        // Through blocks: one convolution.
        (
            [2, 32, 13, 15],
            [32, 24, 3, 3],
            [1, 1],
            [1, 1],
            [1, 1],
            [0, 0],
            1,
        ),
        (
            [2, 24, 13, 9],
            [24, 27, 3, 2],
            [1, 1],
            [2, 0],
            [2, 3],
            [0, 0],
            1,
        ),
        (
            [2, 48, 14, 14],
            [48, 11, 1, 1],
            [1, 1],
            [0, 0],
            [1, 1],
            [0, 0],
            1,
        ),
        (
            [2, 64, 9, 14],
            [64, 16, 3, 3],
            [1, 1],
            [1, 1],
            [1, 1],
            [0, 0],
            2,
        ),
        // One for each remainder.
        (
            [2, 32, 13, 12],
            [32, 24, 3, 3],
            [2, 2],
            [1, 1],
            [1, 1],
            [1, 0],
            1,
        ),
        (
            [2, 32, 12, 12],
            [32, 24, 5, 4],
            [3, 2],
            [2, 1],
            [1, 1],
            [2, 1],
            1,
        ),
        (
            [2, 64, 9, 12],
            [64, 16, 3, 3],
            [2, 1],
            [1, 1],
            [1, 1],
            [1, 0],
            2,
        ),
        // Few channels are read where they are.
        (
            [2, 4, 30, 31],
            [4, 22, 7, 7],
            [1, 1],
            [3, 3],
            [1, 1],
            [0, 0],
            1,
        ),
        // Padding beyond the window, remainders without a tap, strides with dilations: not through blocks.
        (
            [2, 32, 13, 15],
            [32, 32, 3, 3],
            [1, 1],
            [3, 1],
            [1, 1],
            [0, 0],
            1,
        ),
        (
            [2, 48, 18, 18],
            [48, 32, 1, 1],
            [2, 2],
            [0, 0],
            [1, 1],
            [1, 1],
            1,
        ),
        (
            [2, 32, 12, 13],
            [32, 24, 3, 3],
            [2, 2],
            [1, 1],
            [2, 2],
            [1, 1],
            1,
        ),
    ];

    #[test]
    fn agrees_with_its_definition() {
        for (index, &(x, w, strides, pads, dilations, more, groups)) in CASES.iter().enumerate() {
            let (image, filter) = (noise(&x, 5 + index as u32), noise(&w, 40 + index as u32));
            let outputs = w[1] * groups;
            let bias = noise(&[outputs], 90);
            let size = |axis: usize| {
                (x[2 + axis] as i64 - 1) * strides[axis]
                    + dilations[axis] * (w[2 + axis] as i64 - 1)
                    + 1
                    - 2 * pads[axis]
                    + more[axis]
            };
            let (height, width) = (size(0) as usize, size(1) as usize);
            let attrs = none()
                .with("strides", strides.to_vec())
                .with("dilations", dilations.to_vec())
                .with("pads", [pads, pads].concat())
                .with("output_padding", more.to_vec())
                .with("group", groups as i64);
            let (xs, ws) = (image.floats().unwrap(), filter.floats().unwrap());
            let own = x[1] / groups;
            for bias in [None, Some(bias)] {
                let mut sums = vec![0f64; x[0] * outputs * height * width];
                if let Some(bias) = &bias {
                    let bias = bias.floats().unwrap();
                    for (at, sum) in sums.iter_mut().enumerate() {
                        *sum = bias[at / (height * width) % outputs];
                    }
                }
                for (at, value) in xs.iter().enumerate() {
                    let (y, z) = (at / x[3] % x[2], at % x[3]);
                    let (n, c) = (at / (x[1] * x[2] * x[3]), at / (x[2] * x[3]) % x[1]);
                    for (tap, weight) in ws[c * w[1] * w[2] * w[3]..][..w[1] * w[2] * w[3]]
                        .iter()
                        .enumerate()
                    {
                        let (o, i, j) = (tap / (w[2] * w[3]), tap / w[3] % w[2], tap % w[3]);
                        let row = y as i64 * strides[0] + i as i64 * dilations[0] - pads[0];
                        let column = z as i64 * strides[1] + j as i64 * dilations[1] - pads[1];
                        if (0..height as i64).contains(&row) && (0..width as i64).contains(&column)
                        {
                            let plane = n * outputs + c / own * w[1] + o;
                            sums[(plane * height + row as usize) * width + column as usize] +=
                                value * weight;
                        }
                    }
                }
                let sums: Vec<f32> = sums.iter().map(|&sum| sum as f32).collect();
                let wanted = f32s(&[x[0], outputs, height, width], &sums);
                let inputs: Vec<_> = [image.clone(), filter.clone()]
                    .into_iter()
                    .chain(bias)
                    .collect();
                check("jumar.ConvTranspose", &inputs, attrs.clone(), &wanted);
                let wide: Vec<_> = inputs.iter().map(|t| cast(t, DataType::Float64)).collect();
                let wanted = cast(&wanted, DataType::Float64);
                check_within("jumar.ConvTranspose", &wide, attrs.clone(), &wanted, 1e-6);
            }
        }
    }

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
