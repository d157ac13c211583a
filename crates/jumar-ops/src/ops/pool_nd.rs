//! Pooling over any number of dimensions, with the indices of largest elements, and by other norms.
//!
//! Images of one and two dimensions go through `MaxPoolV3` and `AvgPoolV2` where those can do it. The attributes are
//! ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::generic::generic_kernel;
use crate::kernels::space::pool::{Kind, Pooling};
use crate::kernels::space::{Windows, window_defs};
use crate::onnx::{LATEST, alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, OutputDef,
    PrepareCx, TensorType, Types,
};

const STRIDES: AttrDef = window_defs()[0];
const PADS: AttrDef = window_defs()[1];
const DILATIONS: AttrDef = window_defs()[2];
const AUTO_PAD: AttrDef = window_defs()[3];
const KERNEL: AttrDef = AttrDef::ints("kernel_shape", &[]);
/// No image's window is larger, and a pooling has to end.
const MOST_TAPS: i64 = 1 << 24;
const CEIL: AttrDef = AttrDef::bool("ceil_mode", false);

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.MaxPool",
        onnx: &[],
        inputs: &[InputDef::required("x", Types::NUMBER)],
        outputs: &[OutputDef { name: "y" }, OutputDef { name: "indices" }],
        attrs: &[
            KERNEL,
            STRIDES,
            PADS,
            DILATIONS,
            AUTO_PAD,
            CEIL,
            AttrDef::bool("storage_order", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let y = infer(cx, false)?;
            let indices = TensorType::new(DataType::Int64, y.shape.clone());
            Ok(vec![y, indices])
        },
        prepare: |cx| {
            prepare(
                cx,
                Kind::Max {
                    column_major: cx.attrs().bool("storage_order")?,
                },
                false,
            )
        },
    },
    &Operator {
        name: "jumar.AveragePool",
        onnx: &[],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[
            KERNEL,
            STRIDES,
            PADS,
            DILATIONS,
            AUTO_PAD,
            CEIL,
            AttrDef::bool("count_include_pad", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| Ok(vec![infer(cx, false)?]),
        prepare: |cx| {
            prepare(
                cx,
                Kind::Mean {
                    padded: cx.attrs().bool("count_include_pad")?,
                },
                false,
            )
        },
    },
    &Operator {
        name: "jumar.LpPool",
        onnx: &[OnnxForm::new("LpPool", 2, LATEST, |builder, node| {
            alike(builder, node, "jumar.LpPool")
        })],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[
            KERNEL,
            STRIDES,
            PADS,
            DILATIONS,
            AUTO_PAD,
            CEIL,
            AttrDef::int("p", 2),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| Ok(vec![infer(cx, false)?]),
        prepare: |cx| prepare(cx, Kind::Power(cx.attrs().int("p")? as f64), false),
    },
    &Operator {
        name: "GlobalLpPool",
        onnx: &[OnnxForm::new("GlobalLpPool", 2, LATEST, |builder, node| {
            let attrs = Attrs::new().with("p", node.int_or("p", 2)? as f32);
            Ok(vec![builder.node("GlobalLpPool", node.inputs(), attrs)?])
        })],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::float("p", 2.0),
            STRIDES,
            PADS,
            DILATIONS,
            AUTO_PAD,
            CEIL,
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| Ok(vec![infer(cx, true)?]),
        prepare: |cx| prepare(cx, Kind::Power(cx.attrs().float("p")?.into()), true),
    },
];

fn infer(cx: &InferCx<'_>, global: bool) -> Result<TensorType, OpError> {
    let image = cx.input(0)?;
    let Some(rank) = image.rank() else {
        return Ok(TensorType::of_unknown_rank(image.dtype));
    };
    if rank < 3 {
        return Err(OpError::invalid(format!(
            "the image {image} has no spatial dimensions"
        )));
    }
    let kernel = cx.attrs().ints("kernel_shape").unwrap_or_default();
    let taps = kernel
        .iter()
        .fold(1i64, |product, &size| product.saturating_mul(size));
    if taps > MOST_TAPS {
        return Err(OpError::unsupported(format!(
            "a window of {taps} elements is not supported; up to {MOST_TAPS} are"
        )));
    }
    let spatial = if global {
        vec![1; rank - 2]
    } else {
        Windows::of(
            cx.attrs(),
            cx.attrs().ints("kernel_shape")?,
            cx.attrs().bool("ceil_mode")?,
        )?
        .output(&image.shape[2..])?
    };
    Ok(TensorType {
        dtype: image.dtype,
        shape: [&image.shape[..2], &spatial].concat(),
    })
}

fn prepare(cx: &PrepareCx<'_>, kind: Kind, global: bool) -> Result<Box<dyn Kernel>, OpError> {
    if let Kind::Power(power) = kind
        && power <= 0.0
    {
        return Err(OpError::invalid(format!(
            "p is {power}; it must be 1 or more"
        )));
    }
    let image = cx.shape(0)?;
    let kernel: Vec<i64> = if global {
        image[2..].iter().map(|&size| size.max(1) as i64).collect()
    } else {
        cx.attrs().ints("kernel_shape")?.to_vec()
    };
    let mut space = Windows::of(cx.attrs(), &kernel, cx.attrs().bool("ceil_mode")?)?;
    if global {
        // An image without elements is seen through a window that fits into its padding.
        for (window, &size) in space.0.iter_mut().zip(&image[2..]) {
            window.after[0] = usize::from(size == 0);
        }
    }
    let pooling = Pooling {
        planes: image[0] * image[1],
        space: space.fix(&image[2..])?,
        kind,
    };
    generic_kernel(cx, pooling, &[0], &[0])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("pool_nd");
    }

    #[test]
    fn windows_that_never_end_are_refused() {
        let attrs = none()
            .with("kernel_shape", vec![1 << 30, 1 << 30])
            .with("pads", vec![1 << 30; 4]);
        refuse(
            "jumar.LpPool",
            &[noise(&[1, 1, 2, 2], 1)],
            attrs,
            "window of",
        );
        refuse(
            "jumar.MaxPool",
            &[noise(&[1, 1, 2, 2], 1)],
            none().with("kernel_shape", vec![3, 3]),
            "does not fit",
        );
        refuse(
            "jumar.MaxPool",
            &[noise(&[1, 1, 2, 2], 1)],
            none(),
            "dimensions",
        );
    }
}
