//! Convolution over any number of dimensions, and in whole numbers.
//!
//! Images of one and two dimensions go through `Conv2D`, which is faster; this is what three and more become. The
//! attributes are ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::lift::{lift, lift_in};
use crate::kernels::space::conv::{Convolution, Inputs};
use crate::kernels::space::{Windows, window_defs};
use crate::onnx::{LATEST, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator, PrepareCx, TensorType,
    Types, ValueRef,
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
        prepare: |cx| lift(cx, prepare(cx, PLAIN)?, &[0, 1, 2], &[0]),
    },
    &Operator {
        name: "jumar.ConvInteger",
        onnx: &[OnnxForm::new("ConvInteger", 10, LATEST, |builder, node| lower(builder, node, "jumar.ConvInteger"))],
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
        prepare: |cx| lift(cx, prepare(cx, INTEGER)?, &[0, 1, 2, 3], &[0]),
    },
    &Operator {
        name: "jumar.QLinearConv",
        onnx: &[OnnxForm::new("QLinearConv", 10, LATEST, |builder, node| lower(builder, node, "jumar.QLinearConv"))],
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
            let bounds = if cx.output_dtype(0)? == DataType::Int8 { (-128.0, 127.0) } else { (0.0, 255.0) };
            let inputs = Inputs { bounds, ..QLINEAR };
            lift_in(cx, prepare(cx, inputs)?, &[0, 1, 2, 3, 4, 5, 6, 7, 8], &[0], true)
        },
    },
];

const PLAIN: Inputs = Inputs { image: 0, filter: 1, bias: 2, zeros: None, scales: None, bounds: (0.0, 0.0) };
const INTEGER: Inputs = Inputs { bias: usize::MAX, zeros: Some((2, 3)), ..PLAIN };
const QLINEAR: Inputs =
    Inputs { image: 0, filter: 3, bias: 8, zeros: Some((2, 5)), scales: Some((1, 4, 6, 7)), bounds: (0.0, 255.0) };

/// Checks what every convolution has to fulfil, and gives the number of groups.
pub(super) fn groups(cx: &InferCx<'_>, image: &TensorType, filter: &TensorType) -> Result<(), OpError> {
    let groups = cx.attrs().int("group")?;
    let (outputs, depth, channels) = (filter.shape[0], filter.shape[1], image.shape[1]);
    if groups < 1 || (outputs >= 0 && outputs % groups != 0) {
        return Err(OpError::invalid(format!("{outputs} output channels cannot be split into {groups} groups")));
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
        return Err(OpError::invalid(format!("image {image} and filter {filter} have to have as many dimensions, 3 or more")));
    }
    groups(cx, image, filter)?;
    if cx.has(inputs.bias) {
        let (bias, outputs) = (cx.input(inputs.bias)?, filter.shape[0]);
        if !matches!(bias.shape[..], [size] if size < 0 || outputs < 0 || size == outputs) {
            return Err(OpError::invalid(format!("the bias is {bias}; it needs {outputs} elements")));
        }
    }
    let one = |index: usize, most: i64| -> Result<(), OpError> {
        let ok = !cx.has(index)
            || cx.input(index)?.elements().is_none_or(|count| count == 1 || most < 0 || count as i64 == most);
        if ok {
            return Ok(());
        }
        Err(OpError::invalid(format!("input {index} is {}; it has to hold one number, or one a channel", cx.input(index)?)))
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
        shape.extend(Windows::of(cx.attrs(), &filter.shape[2..], false)?.output(&image.shape[2..])?);
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
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("conv_nd");
    }
}
