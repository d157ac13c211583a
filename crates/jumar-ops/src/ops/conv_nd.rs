//! Convolution over any number of dimensions, and in integers.
//!
//! Images of one and two dimensions go through `Conv2D`, which is faster; this is what three and more become. The
//! attributes are ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{generic_kernel, generic_kernel_in};
use crate::kernels::int8;
use crate::kernels::space::conv::{Convolution, Inputs};
use crate::kernels::space::{Axis, Windows, window_defs};
use crate::onnx::{LATEST, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::simd::blocked::Sliding;
use crate::{
    Aliasing, AttrDef, Builder, InferCx, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator,
    PrepareCx, TensorType, Types, ValueRef,
};

const BYTES: Types = Types::of(&[DataType::Int8, DataType::UInt8]);
const ATTRS: &[AttrDef] = {
    let [strides, pads, dilations, auto_pad] = window_defs();
    &[strides, pads, dilations, auto_pad, AttrDef::int("group", 1)]
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Conv",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("filter", Types::FLOAT),
            InputDef::optional("bias", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let dtype = cx.same_types(0..3)?;
            infer(cx, PLAIN, dtype)
        },
        prepare: |cx| generic_kernel(cx, prepare(cx, PLAIN)?, &[0, 1, 2], &[0]),
    },
    &Operator {
        name: "jumar.ConvInteger",
        onnx: &[OnnxForm::new("ConvInteger", 10, LATEST, |builder, node| {
            lower(builder, node, "jumar.ConvInteger")
        })],
        inputs: &[
            InputDef::required("x", BYTES),
            InputDef::required("filter", BYTES),
            InputDef::optional("x_zero_point", BYTES),
            InputDef::optional("filter_zero_point", BYTES),
        ],
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, INTEGER, DataType::Int32),
        prepare: |cx| match prepare_int8(cx, INTEGER)? {
            Some(kernel) => Ok(kernel),
            None => generic_kernel(cx, prepare(cx, INTEGER)?, &[0, 1, 2, 3], &[0]),
        },
    },
    &Operator {
        name: "jumar.QLinearConv",
        onnx: &[OnnxForm::new("QLinearConv", 10, LATEST, |builder, node| {
            lower(builder, node, "jumar.QLinearConv")
        })],
        inputs: &[
            InputDef::required("x", BYTES),
            InputDef::required("x_scale", Types::of(&[DataType::Float32])),
            InputDef::required("x_zero_point", BYTES),
            InputDef::required("filter", BYTES),
            InputDef::required("filter_scale", Types::of(&[DataType::Float32])),
            InputDef::required("filter_zero_point", BYTES),
            InputDef::required("y_scale", Types::of(&[DataType::Float32])),
            InputDef::required("y_zero_point", BYTES),
            InputDef::optional("bias", Types::of(&[DataType::Int32])),
        ],
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let dtype = cx.input(7)?.dtype;
            infer(cx, QLINEAR, dtype)
        },
        prepare: |cx| {
            let bounds = if cx.output_dtype(0)? == DataType::Int8 {
                (-128.0, 127.0)
            } else {
                (0.0, 255.0)
            };
            let inputs = Inputs { bounds, ..QLINEAR };
            if let Some(kernel) = prepare_int8(cx, inputs)? {
                return Ok(kernel);
            }
            generic_kernel_in(
                cx,
                prepare(cx, inputs)?,
                &[0, 1, 2, 3, 4, 5, 6, 7, 8],
                &[0],
                true,
            )
        },
    },
];

const PLAIN: Inputs = Inputs {
    image: 0,
    filter: 1,
    bias: 2,
    zeros: None,
    scales: None,
    bounds: (0.0, 0.0),
};
const INTEGER: Inputs = Inputs {
    bias: usize::MAX,
    zeros: Some((2, 3)),
    ..PLAIN
};
const QLINEAR: Inputs = Inputs {
    image: 0,
    filter: 3,
    bias: 8,
    zeros: Some((2, 5)),
    scales: Some((1, 4, 6, 7)),
    bounds: (0.0, 255.0),
};

/// Checks what every convolution has to fulfil. Returns the number of groups.
pub(super) fn groups(
    cx: &InferCx<'_>,
    image: &TensorType,
    filter: &TensorType,
) -> Result<(), OpError> {
    let groups = cx.attrs().int("group")?;
    let (outputs, depth, channels) = (filter.shape[0], filter.shape[1], image.shape[1]);
    if groups < 1 || (outputs >= 0 && outputs % groups != 0) {
        return Err(OpError::invalid(format!(
            "{outputs} output channels cannot be split into {groups} groups"
        )));
    }
    if channels >= 0 && depth >= 0 && depth.checked_mul(groups) != Some(channels) {
        return Err(OpError::invalid(format!(
            "the image {image} has {channels} channels, and the filter {filter} in {groups} groups needs {}",
            depth.saturating_mul(groups)
        )));
    }
    Ok(())
}

fn infer(cx: &InferCx<'_>, inputs: Inputs, dtype: DataType) -> Result<Vec<TensorType>, OpError> {
    let (image, filter) = (cx.input(inputs.image)?, cx.input(inputs.filter)?);
    let (Some(rank), Some(filter_rank)) = (image.rank(), filter.rank()) else {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    };
    if rank != filter_rank || rank < 3 {
        return Err(OpError::invalid(format!(
            "image {image} and filter {filter} have to have as many dimensions, 3 or more"
        )));
    }
    groups(cx, image, filter)?;
    if cx.has(inputs.bias) {
        let (bias, outputs) = (cx.input(inputs.bias)?, filter.shape[0]);
        if !matches!(bias.shape[..], [size] if size < 0 || outputs < 0 || size == outputs) {
            return Err(OpError::invalid(format!(
                "the bias is {bias}; it needs {outputs} elements"
            )));
        }
    }
    let one = |index: usize, most: i64| -> Result<(), OpError> {
        let ok = !cx.has(index)
            || cx
                .input(index)?
                .elements()
                .is_none_or(|count| count == 1 || most < 0 || count as i64 == most);
        if ok {
            return Ok(());
        }
        Err(OpError::invalid(format!(
            "input {index} is {}; it has to hold one number, or one a channel",
            cx.input(index)?
        )))
    };
    if let Some((zero, filter_zero)) = inputs.zeros {
        one(zero, 1)?;
        one(filter_zero, filter.shape[0])?;
    }
    if let Some((scale, filter_scale, y_scale, y_zero)) = inputs.scales {
        one(scale, 1)?;
        one(filter_scale, filter.shape[0])?;
        one(y_scale, 1)?;
        one(y_zero, 1)?;
    }
    let mut shape = vec![image.shape[0], filter.shape[0]];
    if filter.shape[2..].iter().any(|&size| size < 0) {
        shape.extend(vec![-1; rank - 2]);
    } else {
        shape
            .extend(Windows::of(cx.attrs(), &filter.shape[2..], false)?.output(&image.shape[2..])?);
    }
    Ok(vec![TensorType { dtype, shape }])
}

fn prepare(cx: &PrepareCx<'_>, inputs: Inputs) -> Result<Convolution, OpError> {
    let (image, filter) = (cx.shape(inputs.image)?, cx.shape(inputs.filter)?);
    let groups = cx.attrs().int("group")?.max(1) as usize;
    let kernel: Vec<i64> = filter[2..].iter().map(|&size| size as i64).collect();
    Ok(Convolution {
        batch: image[0],
        groups,
        depth: filter[1],
        outputs: filter[0] / groups,
        space: Windows::of(cx.attrs(), &kernel, false)?.fix(&image[2..])?,
        inputs,
    })
}

/// Makes the kernel for bytes: over one or two dimensions, and where a group has channels enough to multiply at once.
fn prepare_int8(cx: &PrepareCx<'_>, inputs: Inputs) -> Result<Option<Box<dyn Kernel>>, OpError> {
    let Convolution {
        batch,
        groups,
        depth,
        outputs,
        space,
        inputs,
    } = prepare(cx, inputs)?;
    if space.axes.len() > 2 || (groups > 1 && depth < 4) {
        return Ok(None);
    }
    let of = |one: fn(&Axis) -> usize, missing: usize| match space.axes[..] {
        [ref axis] => [missing, one(axis)],
        _ => [one(&space.axes[0]), one(&space.axes[1])],
    };
    let window = Sliding {
        image: of(|axis| axis.image, 1),
        output: of(|axis| axis.output, 1),
        kernel: of(|axis| axis.kernel, 1),
        stride: of(|axis| axis.stride, 1),
        dilation: of(|axis| axis.dilation, 1),
        before: of(|axis| axis.before, 0),
    };
    let signed = |index: usize| Ok::<_, OpError>(cx.dtype(index)? == DataType::Int8);
    let signed = [signed(inputs.image)?, signed(inputs.filter)?];
    Ok(Some(Box::new(int8::Convolution {
        batch,
        groups,
        depth,
        outputs,
        window,
        inputs,
        signed,
    })))
}

/// Passes an ONNX convolution on as it is.
pub(super) fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    // The filter says it, and was compared where both are known.
    node.ignore("kernel_shape");
    let attrs = attrs_alike(node, operator)?;
    Ok(vec![builder.node(operator, node.inputs(), attrs)?])
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::*;
    use jumar_types::dtype::DataType;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("conv_nd");
    }

    #[test]
    fn sums_of_bytes_are_exact() {
        // Image, kernel, stride, dilation, padding before and after, groups, channels of a group in and out.
        for (image, kernel, stride, dilation, pads, groups, depth, outputs) in [
            (
                [9usize, 37usize],
                [3usize, 3usize],
                1usize,
                1usize,
                (1usize, 1usize),
                1usize,
                20usize,
                33usize,
            ),
            ([8, 11], [3, 2], 2, 1, (1, 0), 2, 5, 16),
            ([1, 40], [1, 1], 1, 1, (0, 0), 1, 64, 31),
            ([7, 7], [2, 2], 1, 2, (2, 1), 1, 3, 4),
            ([5, 6], [3, 3], 1, 1, (1, 1), 3, 1, 2),
        ] {
            for (kind_x, kind_w) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let size = |axis: usize| {
                    (image[axis] + pads.0 + pads.1 - (kernel[axis] - 1) * dilation - 1) / stride + 1
                };
                let (output, channels, all) =
                    ([size(0), size(1)], groups * depth, groups * outputs);
                let (x, xi) = bytes(&[2, channels, image[0], image[1]], kind_x, 5);
                let (w, wi) = bytes(&[all, depth, kernel[0], kernel[1]], kind_w, 70);
                let (zx, zxi) = bytes(&[], kind_x, 900);
                let (zw, zwi) = bytes(&[all], kind_w, 1234);
                let mut wanted = Vec::new();
                for at in 0..2 * all * output[0] * output[1] {
                    let (column, rest) = (at % output[1], at / output[1]);
                    let (line, rest) = (rest % output[0], rest / output[0]);
                    let (out, batch) = (rest % all, rest / all);
                    let mut sum = 0i32;
                    for p in 0..depth {
                        for tap in 0..kernel[0] * kernel[1] {
                            let y =
                                (line * stride + tap / kernel[1] * dilation).wrapping_sub(pads.0);
                            let z =
                                (column * stride + tap % kernel[1] * dilation).wrapping_sub(pads.0);
                            if y < image[0] && z < image[1] {
                                let channel = out / outputs * depth + p;
                                let from =
                                    ((batch * channels + channel) * image[0] + y) * image[1] + z;
                                let weight = (out * depth + p) * kernel[0] * kernel[1] + tap;
                                sum += (xi[from] - zxi[0]) * (wi[weight] - zwi[out]);
                            }
                        }
                    }
                    wanted.extend(sum.to_le_bytes());
                }
                let wanted =
                    Tensor::new(DataType::Int32, &[2, all, output[0], output[1]], wanted).unwrap();
                let (before, after) = (pads.0 as i64, pads.1 as i64);
                let attrs = none()
                    .with("group", groups as i64)
                    .with("strides", vec![stride as i64; 2])
                    .with("dilations", vec![dilation as i64; 2])
                    .with("pads", vec![before, before, after, after]);
                check("jumar.ConvInteger", &[x, w, zx, zw], attrs, &wanted);
            }
        }
    }

    /// Bytes with (1) or without sign, as a tensor and as numbers.
    fn bytes(dims: &[usize], signed: usize, seed: usize) -> (Tensor, Vec<i32>) {
        let count: usize = dims.iter().product();
        let bytes: Vec<u8> = (0..count)
            .map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 9) as u8)
            .collect();
        let numbers = bytes
            .iter()
            .map(|&b| {
                if signed == 1 {
                    i32::from(b as i8)
                } else {
                    i32::from(b)
                }
            })
            .collect();
        let dtype = [DataType::UInt8, DataType::Int8][signed];
        (Tensor::new(dtype, dims, bytes).unwrap(), numbers)
    }
}
