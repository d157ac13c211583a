//! Images whose channels lie in blocks of sixteen. The layout pass makes these operators; no model names them.

use crate::kernels::{blocked, pool::Kind};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, InputDef, OpError, Operator, Types};
use jumar_types::dtype::DataType;

const FLOAT32: Types = Types::of(&[DataType::Float32]);

/// Where the filter is in bfloat16, so are the products, and the image may be.
const EITHER: Types = Types::of(&[DataType::Float32, DataType::BFloat16]);

const CONVOLUTION_INPUTS: &[InputDef] = &[
    InputDef::required("x", EITHER),
    InputDef::required("filter", EITHER),
    InputDef::optional("bias", FLOAT32),
    InputDef::optional("residual", FLOAT32),
];

const CONVOLUTION_ATTRS: &[AttrDef] = &[
    AttrDef::required("kernel", AttrKind::Ints),
    AttrDef::required("strides", AttrKind::Ints),
    AttrDef::required("pads", AttrKind::Ints),
    AttrDef::ints("dilations", &[1, 1, 1, 1]),
    AttrDef::int("groups", 1),
    // Channels of the image, where there is one group; 0: all that its blocks have.
    AttrDef::int("channels", 0),
    AttrDef::str("auto_pad", "NOTSET"),
    AttrDef::float("low", f32::NEG_INFINITY),
    AttrDef::float("high", f32::INFINITY),
    // The 16-bit type whose values the output is rounded to, as ACL numbers types; float32: none.
    AttrDef::int("rounding", 0),
    // Whether the output is rounded to bfloat16.
    AttrDef::bool("narrow", false),
];

const GATHERED_INPUTS: &[InputDef] = &[
    InputDef::required("x", FLOAT32),
    InputDef::required("filter", FLOAT32),
    InputDef::optional("bias", FLOAT32),
    InputDef::optional("residual", FLOAT32),
    // Which channels each part of the output reads.
    InputDef::required("units", Types::of(&[DataType::Int32])),
];

const GATHERED_ATTRS: &[AttrDef] = &[
    AttrDef::required("kernel", AttrKind::Ints),
    AttrDef::required("strides", AttrKind::Ints),
    AttrDef::required("pads", AttrKind::Ints),
    AttrDef::ints("dilations", &[1, 1, 1, 1]),
    AttrDef::str("auto_pad", "NOTSET"),
    // Blocks of the output.
    AttrDef::required("blocks", AttrKind::Int),
    AttrDef::int("rounding", 0),
    AttrDef::float("low", f32::NEG_INFINITY),
    AttrDef::float("high", f32::INFINITY),
];

const POOL_ATTRS: &[AttrDef] = &[
    AttrDef::required("ksize", AttrKind::Ints),
    AttrDef::required("strides", AttrKind::Ints),
    AttrDef::str("padding_mode", "CALCULATED"),
    AttrDef::ints("pads", &[0, 0, 0, 0]),
    AttrDef::str("data_format", "NCHW"),
    AttrDef::bool("global_pooling", false),
    AttrDef::bool("ceil_mode", false),
    AttrDef::bool("exclusive", true),
    AttrDef::int("divisor_override", 0),
    AttrDef::ints("dilations", &[1, 1, 1, 1]),
    AttrDef::str("auto_pad", "NOTSET"),
];

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Block",
        onnx: &[],
        inputs: &[InputDef::required("x", FLOAT32)],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: blocked::infer_block,
        prepare: blocked::prepare_block,
    },
    &Operator {
        name: "jumar.Unblock",
        onnx: &[],
        inputs: &[InputDef::required("x", FLOAT32)],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::required("channels", AttrKind::Int)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: blocked::infer_unblock,
        prepare: blocked::prepare_unblock,
    },
    &Operator {
        name: "jumar.BlockedConv2D",
        onnx: &[],
        inputs: CONVOLUTION_INPUTS,
        outputs: OUTPUT_Y,
        attrs: CONVOLUTION_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| blocked::infer_convolution(cx, false),
        prepare: |cx| blocked::prepare_convolution(cx, false),
    },
    &Operator {
        name: "jumar.BlockedDepthwiseConv2D",
        onnx: &[],
        inputs: CONVOLUTION_INPUTS,
        outputs: OUTPUT_Y,
        attrs: CONVOLUTION_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| blocked::infer_convolution(cx, true),
        prepare: |cx| blocked::prepare_convolution(cx, true),
    },
    &Operator {
        name: "jumar.BlockedPickedConv2D",
        onnx: &[],
        inputs: GATHERED_INPUTS,
        outputs: OUTPUT_Y,
        attrs: GATHERED_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: blocked::infer_gathered,
        prepare: |cx| blocked::prepare_convolution(cx, false),
    },
    &Operator {
        name: "jumar.BlockedMaxPool",
        onnx: &[],
        inputs: &[InputDef::required("x", FLOAT32)],
        outputs: OUTPUT_Y,
        attrs: POOL_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: blocked::infer_pool,
        prepare: |cx| blocked::prepare_pool(cx, Kind::Max),
    },
    &Operator {
        name: "jumar.BlockedAvgPool",
        onnx: &[],
        inputs: &[InputDef::required("x", FLOAT32)],
        outputs: OUTPUT_Y,
        attrs: POOL_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: blocked::infer_pool,
        prepare: |cx| {
            let kind = match (
                cx.attrs().int("divisor_override")?,
                cx.attrs().bool("exclusive")?,
            ) {
                (0, true) => Kind::MeanInside,
                (0, false) => Kind::MeanPadded,
                (divisor @ 1.., _) => Kind::SumBy(divisor as u64),
                (divisor, _) => {
                    return Err(OpError::invalid(format!(
                        "divisor_override is {divisor}; it must be 0 or more"
                    )));
                }
            };
            blocked::prepare_pool(cx, kind)
        },
    },
];
