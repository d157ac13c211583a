//! The operators, in alphabetical order.

use jumar_ops::{AttrDef, AttrKind, InputDef, OpError, TensorType, Types, UNKNOWN};
use jumar_types::dtype::DataType;

use super::shapes::{Shapes, invalid, product, unsupported};
use super::{Argument, SingleOperator, definition, input, optional, output};

use Argument::{
    Attr, Bool, Choice, Counter, Flags, Input, Null, Output, Pair, Text, TypeOf, Update,
};

const INT: AttrKind = AttrKind::Int;
const INTS: AttrKind = AttrKind::Ints;

pub(super) static ALL: &[&SingleOperator] = &[
    &SingleOperator {
        operator: definition(
            "AdaptiveAvgPool2d",
            &[input("x")],
            &[output("y")],
            &[AttrDef::required("output_size", INTS)],
        ),
        function: "aclnnAdaptiveAvgPool2d",
        arguments: &[("self", Input("x")), ("out", Output("y"))],
        infer: |cx| Ok(vec![resized(cx)?]),
    },
    &SingleOperator {
        operator: definition(
            "AdaptiveMaxPool2d",
            &[input("x")],
            &[output("y"), output("argmax")],
            &[AttrDef::required("output_size", INTS)],
        ),
        function: "aclnnAdaptiveMaxPool2d",
        arguments: &[
            ("self", Input("x")),
            ("outputOut", Output("y")),
            ("indicesOut", Output("argmax")),
        ],
        infer: |cx| {
            let y = resized(cx)?;
            let argmax = TensorType::new(DataType::Int64, y.shape.clone());
            Ok(vec![y, argmax])
        },
    },
    &SingleOperator {
        operator: definition(
            "ApplyRotaryPosEmb",
            &[input("query"), input("key"), input("cos"), input("sin")],
            &[output("query"), output("key")],
            &[AttrDef::int("layout", 1)],
        ),
        function: "aclnnApplyRotaryPosEmb",
        arguments: &[],
        infer: |cx| Ok(vec![cx.of("query")?.clone(), cx.of("key")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "AscendQuantV2",
            &[input("x"), input("scale"), optional("offset")],
            &[output("y")],
            &[
                AttrDef::bool("sqrt_mode", false),
                AttrDef::str("round_mode", "round"),
                AttrDef::int("dst_type", 2),
                AttrDef::int("axis", -1),
            ],
        ),
        function: "aclnnAscendQuantV3",
        arguments: &[],
        infer: |cx| Ok(vec![cx.with("x", cx.dtype("dst_type")?)?]),
    },
    &SingleOperator {
        operator: definition(
            "CIoU",
            &[input("bboxes"), input("gtboxes")],
            &[output("overlap"), output("atan_sub")],
            &[
                AttrDef::bool("trans", false),
                AttrDef::bool("is_cross", true),
                AttrDef::str("mode", "iou"),
                // The difference of the angles is always computed.
                AttrDef::bool("atan_sub_flag", false),
            ],
        ),
        function: "aclnnCIoU",
        arguments: &[],
        infer: |cx| {
            let boxes = cx.of("bboxes")?;
            let count = cx.dims("bboxes")?.map_or(UNKNOWN, |[_, count]| count);
            let row = TensorType::new(boxes.dtype, vec![1, count]);
            Ok(vec![row.clone(), row])
        },
    },
    &SingleOperator {
        operator: definition(
            "DropOutV3",
            &[
                input("x"),
                optional("noise_shape"),
                InputDef::constant("p", Types::FLOAT),
                InputDef::constant("seed", Types::INDEX),
                InputDef::constant("offset", Types::INDEX),
            ],
            &[output("y"), output("mask")],
            &[],
        ),
        function: "aclnnDropout",
        arguments: &[
            ("input", Input("x")),
            ("train", Bool(true)),
            ("offset", Counter("offset")),
            ("out", Output("y")),
        ],
        infer: |cx| {
            if cx.has("noise_shape") {
                return Err(unsupported(
                    "its input noise_shape is given, which is not supported: it is reserved",
                ));
            }
            let x = cx.of("x")?;
            // One bit for each element, in blocks of 16 bytes.
            let bytes = match x.elements() {
                Some(count) => count.div_ceil(128) as i64 * 16,
                None => UNKNOWN,
            };
            Ok(vec![
                x.clone(),
                TensorType::new(DataType::UInt8, vec![bytes]),
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "DynamicQuant",
            &[
                input("x"),
                optional("smooth_scales"),
                optional("group_index"),
            ],
            &[output("y"), output("scale")],
            &[AttrDef::int("dst_type", 2)],
        ),
        function: "aclnnDynamicQuantV2",
        arguments: &[("offsetOut", Null)],
        infer: |cx| {
            Ok(vec![
                cx.with("x", cx.dtype("dst_type")?)?,
                cx.rows("x", 1, DataType::Float32)?,
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "EmbeddingBag",
            &[
                input("weight"),
                input("indices"),
                optional("offsets"),
                optional("per_sample_weights"),
            ],
            &[
                output("y"),
                output("offset2bag"),
                output("bag_size"),
                output("max_indices"),
            ],
            &[
                AttrDef::str("mode", "mean"),
                AttrDef::bool("scale_grad_by_freq", false),
                AttrDef::bool("sparse", false),
                AttrDef::bool("include_last_offset", false),
                AttrDef::int("padding_idx", -1),
            ],
        ),
        function: "aclnnEmbeddingBag",
        arguments: &[
            ("mode", Choice("mode", &["sum", "mean", "max"])),
            ("output", Output("y")),
        ],
        infer: |cx| {
            if !cx.has("offsets") {
                return Err(unsupported(
                    "its input offsets is missing; bags without offsets are not supported",
                ));
            }
            let weight = cx.of("weight")?;
            let indices = cx.of("indices")?;
            let last = i64::from(cx.flag("include_last_offset")?);
            let bags = match cx.dims("offsets")? {
                Some([count]) if count > last => count - last,
                Some([count]) if count >= 0 => {
                    return Err(invalid(format!(
                        "its input offsets has {count} entries; it must have one for each bag"
                    )));
                }
                _ => UNKNOWN,
            };
            let width = cx.dims("weight")?.map_or(UNKNOWN, |[_, width]| width);
            let greatest = match cx.text("mode")?.as_str() {
                "max" => vec![bags, width],
                _ => vec![bags],
            };
            Ok(vec![
                TensorType::new(weight.dtype, vec![bags, width]),
                indices.clone(),
                TensorType::new(indices.dtype, vec![bags]),
                TensorType::new(indices.dtype, greatest),
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "GeluQuant",
            &[
                input("x"),
                optional("input_scale"),
                optional("input_offset"),
            ],
            &[output("y"), output("out_scale")],
            &[
                AttrDef::str("approximate", "none"),
                AttrDef::str("quant_mode", "dynamic"),
            ],
        ),
        function: "aclnnGeluQuant",
        arguments: &[
            ("self", Input("x")),
            ("roundMode", Text("rint")),
            ("dstType", TypeOf("y")),
        ],
        infer: |cx| {
            let scale = match cx.text("quant_mode")?.as_str() {
                "static" => Shapes::nothing(DataType::Float32),
                _ => cx.rows("x", 1, DataType::Float32)?,
            };
            Ok(vec![cx.with("x", DataType::Int8)?, scale])
        },
    },
    &SingleOperator {
        operator: definition(
            "Im2col",
            &[input("x")],
            &[output("y")],
            &[
                AttrDef::required("ksizes", INTS),
                AttrDef::ints("strides", &[1]),
                AttrDef::ints("dilations", &[1]),
                AttrDef::str("padding_mode", "CALCULATED"),
                AttrDef::ints("pads", &[0]),
            ],
        ),
        function: "aclnnIm2col",
        arguments: &[
            ("self", Input("x")),
            ("kernelSize", Pair("ksizes")),
            ("dilation", Pair("dilations")),
            ("padding", Pair("pads")),
            ("stride", Pair("strides")),
            ("out", Output("y")),
        ],
        infer: |cx| {
            let mode = cx.text("padding_mode")?;
            if mode != "CALCULATED" {
                return Err(unsupported(format!(
                    "its attribute padding_mode is {mode}; only CALCULATED is supported"
                )));
            }
            let dtype = cx.of("x")?.dtype;
            let Some([images, channels, rows, columns]) = cx.dims("x")? else {
                return Ok(vec![TensorType::new(dtype, vec![UNKNOWN; 3])]);
            };
            let kernel = cx.pair("ksizes")?;
            let counts = windows(
                cx,
                ["strides", "dilations", "pads"],
                [rows, columns],
                kernel,
            )?;
            let windows = product(&counts);
            let depth = product(&[channels, kernel[0].saturating_mul(kernel[1])]);
            Ok(vec![TensorType::new(dtype, vec![images, depth, windows])])
        },
    },
    &SingleOperator {
        operator: definition(
            "InterleaveRope",
            &[input("x"), input("cos"), input("sin")],
            &[output("y")],
            &[],
        ),
        function: "aclnnInterleaveRope",
        arguments: &[("out", Output("y"))],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "MaskedScatter",
            &[input("x"), input("mask"), input("updates")],
            &[output("y")],
            &[],
        ),
        function: "aclnnInplaceMaskedScatter",
        arguments: &[("selfRef", Update("x", "y")), ("source", Input("updates"))],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "MaskedSoftmaxWithRelPosBias",
            &[
                input("x"),
                optional("atten_mask"),
                input("relative_pos_bias"),
            ],
            &[output("y")],
            &[
                AttrDef::float("scale_value", 1.0),
                AttrDef::int("inner_precision_mode", 0),
            ],
        ),
        function: "aclnnMaskedSoftmaxWithRelPosBias",
        arguments: &[("out", Output("y"))],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "MoeGatingTopK",
            &[input("x"), optional("bias")],
            &[output("y"), output("expert_idx"), output("out")],
            &[
                AttrDef::required("k", INT),
                AttrDef::int("k_group", 1),
                AttrDef::int("group_count", 1),
                AttrDef::int("group_select_mode", 0),
                AttrDef::int("renorm", 0),
                AttrDef::int("norm_type", 0),
                AttrDef::bool("out_flag", false),
                AttrDef::float("routed_scaling_factor", 1.0),
                AttrDef::float("eps", 1e-20),
            ],
        ),
        function: "aclnnMoeGatingTopK",
        arguments: &[],
        infer: |cx| {
            let all = match cx.flag("out_flag")? {
                true => cx.with("x", DataType::Float32)?,
                false => Shapes::nothing(DataType::Float32),
            };
            let [y, experts] = chosen(cx)?;
            Ok(vec![y, experts, all])
        },
    },
    &SingleOperator {
        operator: definition(
            "MoeGatingTopKSoftmax",
            &[input("x"), optional("finished")],
            &[output("y"), output("expert_idx"), output("row_idx")],
            &[AttrDef::required("k", INT)],
        ),
        function: "aclnnMoeGatingTopKSoftmax",
        arguments: &[],
        infer: |cx| {
            let [y, experts] = chosen(cx)?;
            Ok(vec![y, experts.clone(), experts])
        },
    },
    &SingleOperator {
        operator: definition(
            "MoeInitRoutingV3",
            &[
                input("x"),
                input("expert_idx"),
                optional("scale"),
                optional("offset"),
            ],
            &[
                output("expanded_x"),
                output("expanded_row_idx"),
                output("expert_tokens_count_or_cumsum"),
                output("expanded_scale"),
            ],
            &[
                AttrDef::int("active_num", -1),
                AttrDef::int("expert_capacity", -1),
                AttrDef::int("expert_num", -1),
                AttrDef::int("drop_pad_mode", 0),
                AttrDef::int("expert_tokens_num_type", 0),
                AttrDef::bool("expert_tokens_num_flag", false),
                AttrDef::int("quant_mode", -1),
                AttrDef::ints("active_expert_range", &[]),
                AttrDef::int("row_idx_type", 0),
            ],
        ),
        function: "aclnnMoeInitRoutingV3",
        arguments: &[],
        infer: |cx| {
            for name in ["scale", "offset"] {
                if cx.has(name) {
                    return Err(unsupported(format!(
                        "its input {name} is given, which is not supported: how it enters the result is not documented"
                    )));
                }
            }
            let rows = match cx.dims("expert_idx")? {
                Some([tokens, each]) => product(&[tokens, each]),
                None => UNKNOWN,
            };
            let width = cx.dims("x")?.map_or(UNKNOWN, |[_, width]| width);
            let experts = match cx.ints("active_expert_range")?[..] {
                [first, end] => end.saturating_sub(first).max(0),
                _ => cx.int("expert_num")?.max(0),
            };
            let (dtype, scale) = match cx.int("quant_mode")? {
                -1 => (cx.of("x")?.dtype, 0),
                _ => (DataType::Int8, rows),
            };
            let counts = if cx.flag("expert_tokens_num_flag")? {
                experts
            } else {
                0
            };
            Ok(vec![
                TensorType::new(dtype, vec![rows, width]),
                TensorType::new(DataType::Int32, vec![rows]),
                TensorType::new(DataType::Int64, vec![counts]),
                TensorType::new(DataType::Float32, vec![scale]),
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "MultilabelMarginLoss",
            &[input("x"), input("target")],
            &[output("y"), output("is_target")],
            &[AttrDef::str("reduction", "mean")],
        ),
        function: "aclnnMultilabelMarginLoss",
        arguments: &[
            ("self", Input("x")),
            ("reduction", Choice("reduction", &["none", "mean", "sum"])),
            ("out", Output("y")),
        ],
        infer: |cx| {
            let dtype = cx.of("x")?.dtype;
            let y = match cx.text("reduction")?.as_str() {
                "none" => cx.rows("x", 1, dtype)?,
                _ => TensorType::new(dtype, vec![1]),
            };
            Ok(vec![y, cx.of("target")?.clone()])
        },
    },
    &SingleOperator {
        operator: definition(
            "QuantBatchMatmulV3",
            &[
                input("x1"),
                input("x2"),
                input("scale"),
                optional("offset"),
                optional("bias"),
                optional("pertoken_scale"),
            ],
            &[output("y")],
            &[
                AttrDef::required("dtype", INT),
                AttrDef::bool("transpose_x1", false),
                AttrDef::bool("transpose_x2", false),
            ],
        ),
        function: "aclnnQuantMatmulV4",
        arguments: &[("out", Output("y"))],
        infer: |cx| {
            let dtype = cx.dtype("dtype")?;
            let (one, two) = (cx.of("x1")?, cx.of("x2")?);
            let (Some(rank), Some(other)) = (one.rank(), two.rank()) else {
                return Ok(vec![TensorType::of_unknown_rank(dtype)]);
            };
            if rank < 2 || other < 2 {
                return Err(invalid(format!(
                    "its inputs x1 and x2 are {one} and {two}; both must have at least 2 dimensions"
                )));
            }
            let rows = one.shape[rank - if cx.flag("transpose_x1")? { 1 } else { 2 }];
            let columns = two.shape[other - if cx.flag("transpose_x2")? { 2 } else { 1 }];
            let longest = rank.max(other);
            let size = |ty: &TensorType, own: usize, axis: usize| match axis + own >= longest {
                true => ty.shape[axis + own - longest],
                false => 1,
            };
            let mut shape: Vec<i64> = (0..longest - 2)
                .map(
                    |axis| match (size(one, rank, axis), size(two, other, axis)) {
                        (1, size) | (size, 1) => size,
                        (UNKNOWN, size) | (size, _) => size,
                    },
                )
                .collect();
            shape.extend([rows, columns]);
            Ok(vec![TensorType::new(dtype, shape)])
        },
    },
    &SingleOperator {
        operator: definition(
            "Quantize",
            &[input("x"), input("scales"), optional("zero_points")],
            &[output("y")],
            &[
                AttrDef::required("dtype", AttrKind::Str),
                AttrDef::int("axis", 1),
            ],
        ),
        function: "aclnnQuantize",
        arguments: &[("dtype", TypeOf("y")), ("out", Output("y"))],
        infer: |cx| {
            let dtype = match cx.text("dtype")?.as_str() {
                "torch.qint8" => DataType::Int8,
                "torch.quint8" => DataType::UInt8,
                "torch.qint32" => DataType::Int32,
                other => {
                    return Err(invalid(format!(
                        "its attribute dtype is {other:?}; it must be torch.qint8, torch.quint8 or torch.qint32"
                    )));
                }
            };
            Ok(vec![cx.with("x", dtype)?])
        },
    },
    &SingleOperator {
        operator: definition(
            "Renorm",
            &[input("x")],
            &[output("y")],
            &[
                AttrDef::required("p", AttrKind::Float),
                AttrDef::required("dim", INT),
                AttrDef::required("maxnorm", AttrKind::Float),
            ],
        ),
        function: "aclnnRenorm",
        arguments: &[("self", Input("x")), ("out", Output("y"))],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "RepeatInterleaveGrad",
            &[input("y_grad"), input("repeats")],
            &[output("x_grad")],
            &[AttrDef::int("axis", -1)],
        ),
        function: "aclnnRepeatInterleaveGrad",
        arguments: &[("out", Output("x_grad"))],
        infer: |cx| {
            let gradient = cx.of("y_grad")?;
            let Some(rank) = gradient.rank() else {
                return Ok(vec![gradient.clone()]);
            };
            let axis = cx.int("axis")?;
            let own = if axis < 0 { axis + rank as i64 } else { axis };
            let Some(size) = usize::try_from(own)
                .ok()
                .and_then(|own| gradient.shape.get(own))
            else {
                return Err(invalid(format!(
                    "its attribute axis is {axis}, and its input y_grad has {rank} dimensions"
                )));
            };
            let entries = match cx.of("repeats")?.elements() {
                None => UNKNOWN,
                // One number for all entries.
                Some(1) => match cx.values("repeats") {
                    Some(list) if list[0] > 0 && *size >= 0 => *size / list[0],
                    Some(list) if list[0] <= 0 => {
                        return Err(invalid(format!(
                            "its input repeats is {}; it must be positive",
                            list[0]
                        )));
                    }
                    Some(_) | None => UNKNOWN,
                },
                Some(count) => count as i64,
            };
            let mut ty = gradient.clone();
            ty.shape[own as usize] = entries;
            Ok(vec![ty])
        },
    },
    &SingleOperator {
        operator: definition(
            "RmsNormDynamicQuant",
            &[
                input("x"),
                input("gamma"),
                optional("smooth_scales"),
                optional("beta"),
            ],
            &[output("y"), output("scale")],
            &[AttrDef::float("epsilon", 1e-6), AttrDef::int("dst_type", 2)],
        ),
        function: "aclnnRmsNormDynamicQuant",
        arguments: &[],
        infer: |cx| {
            Ok(vec![
                cx.with("x", cx.dtype("dst_type")?)?,
                cx.rows("x", 1, DataType::Float32)?,
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "StridedSliceAssignV2",
            &[
                input("var"),
                input("input_value"),
                InputDef::constant("begin", Types::INDEX),
                InputDef::constant("end", Types::INDEX),
                InputDef::constant("strides", Types::INDEX),
                InputDef::optional_constant("axes", Types::INDEX),
            ],
            &[output("var")],
            &[],
        ),
        function: "aclnnStridedSliceAssignV2",
        arguments: &[],
        infer: |cx| Ok(vec![cx.of("var")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "SwigluGroupGrad",
            &[
                input("grad_y"),
                input("x"),
                optional("weight"),
                optional("y_origin"),
                optional("group_index"),
            ],
            &[output("grad_x"), output("grad_weight")],
            &[AttrDef::float("clamp_limit", 0.0)],
        ),
        function: "aclnnSwigluGroupQuantGrad",
        arguments: &[],
        infer: |cx| {
            let weight = match cx.has("weight") && cx.has("y_origin") {
                true => cx.with("weight", DataType::Float32)?,
                false => Shapes::nothing(DataType::Float32),
            };
            Ok(vec![cx.of("x")?.clone(), weight])
        },
    },
    &SingleOperator {
        operator: definition(
            "TransQuantParamV2",
            &[input("scale"), optional("offset")],
            &[output("y")],
            &[],
        ),
        function: "aclnnTransQuantParamV2",
        arguments: &[("out", Output("y"))],
        infer: |cx| {
            let mut ty = cx.with("scale", DataType::UInt64)?;
            if ty.rank() == Some(1) && cx.has("offset") {
                ty.shape[0] = match (ty.elements(), cx.of("offset")?.elements()) {
                    (Some(one), Some(two)) => one.max(two) as i64,
                    _ => UNKNOWN,
                };
            }
            Ok(vec![ty])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.AddRmsNormDynamicQuant",
            &[
                input("x1"),
                input("x2"),
                input("gamma"),
                optional("smooth_scale1"),
                optional("smooth_scale2"),
                optional("beta"),
            ],
            &[
                output("y1"),
                output("y2"),
                output("x"),
                output("scale1"),
                output("scale2"),
            ],
            &[
                AttrDef::float("epsilon", 1e-6),
                AttrDef::bool("first", true),
                AttrDef::bool("second", false),
            ],
        ),
        function: "aclnnAddRmsNormDynamicQuantV2",
        arguments: &[("outputMask", Flags(&["first", "second"]))],
        infer: |cx| {
            let wanted = |flag: &str, ty: TensorType| {
                Ok(if cx.flag(flag)? {
                    ty
                } else {
                    Shapes::nothing(ty.dtype)
                })
            };
            let y = cx.with("x1", DataType::Int8)?;
            let scale = cx.rows("x1", 1, DataType::Float32)?;
            Ok(vec![
                wanted("first", y.clone())?,
                wanted("second", y)?,
                cx.of("x1")?.clone(),
                wanted("first", scale.clone())?,
                wanted("second", scale)?,
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.Iou",
            &[input("bboxes"), input("gtboxes")],
            &[output("overlap")],
            &[
                AttrDef::str("mode", "iou"),
                AttrDef::float("eps", 1.0),
                AttrDef::bool("aligned", false),
            ],
        ),
        function: "aclnnIou",
        arguments: &[],
        infer: |cx| {
            let boxes = cx.of("bboxes")?;
            let count = |name| Ok(cx.dims(name)?.map_or(UNKNOWN, |[count, _]| count));
            let columns = match cx.flag("aligned")? {
                true => 1,
                false => count("gtboxes")?,
            };
            Ok(vec![TensorType::new(
                boxes.dtype,
                vec![count("bboxes")?, columns],
            )])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.QuantConv2D",
            &[
                input("x"),
                input("filter"),
                input("scale"),
                optional("bias"),
            ],
            &[output("y")],
            &[
                AttrDef::required("dtype", INT),
                AttrDef::required("strides", INTS),
                AttrDef::required("pads", INTS),
                AttrDef::required("dilations", INTS),
                AttrDef::int("groups", 1),
                AttrDef::int("offset_x", 0),
                AttrDef::str("round_mode", "rint"),
            ],
        ),
        function: "aclnnQuantConvolution",
        arguments: &[
            ("input", Input("x")),
            ("weight", Input("filter")),
            ("offset", Null),
            ("stride", Attr("strides")),
            ("padding", Attr("pads")),
            ("dilation", Attr("dilations")),
            ("transposed", Bool(false)),
            ("outputPadding", Null),
            ("offsetx", Attr("offset_x")),
            ("output", Output("y")),
        ],
        infer: |cx| {
            let dtype = cx.dtype("dtype")?;
            let (Some([images, _, rows, columns]), Some([filters, _, height, width])) =
                (cx.dims("x")?, cx.dims("filter")?)
            else {
                return Ok(vec![TensorType::new(dtype, vec![UNKNOWN; 4])]);
            };
            let windows = windows(
                cx,
                ["strides", "dilations", "pads"],
                [rows, columns],
                [height, width],
            )?;
            let shape = vec![images, filters, windows[0], windows[1]];
            Ok(vec![TensorType::new(dtype, shape)])
        },
    },
];

/// Returns the type of images with other sizes of rows and columns.
fn resized(cx: &Shapes<'_, '_>) -> Result<TensorType, OpError> {
    let mut ty = cx.of("x")?.clone();
    let size = cx.ints("output_size")?;
    let (Some(rank), &[rows, columns]) = (ty.rank(), &size[..]) else {
        return match size.len() {
            2 => Ok(ty),
            _ => Err(invalid(format!(
                "its attribute output_size is {size:?}; it must have 2 entries"
            ))),
        };
    };
    if !(3..=4).contains(&rank) {
        return Err(invalid(format!(
            "its input x is {ty}; it must have 3 or 4 dimensions"
        )));
    }
    ty.shape[rank - 2..].copy_from_slice(&[rows.max(0), columns.max(0)]);
    Ok(ty)
}

/// Returns the types of the `k` largest entries of each row, and of their indices.
fn chosen(cx: &Shapes<'_, '_>) -> Result<[TensorType; 2], OpError> {
    let k = cx.int("k")?;
    if k < 1 {
        return Err(invalid(format!(
            "its attribute k is {k}; it must be at least 1"
        )));
    }
    let with_k = |dtype: DataType| -> Result<TensorType, OpError> {
        let mut ty = cx.rows("x", 1, dtype)?;
        if ty.rank().is_some() {
            ty.shape.push(k);
        }
        Ok(ty)
    };
    Ok([with_k(cx.of("x")?.dtype)?, with_k(DataType::Int32)?])
}

/// Returns how many windows there are along rows and columns. The names are those of strides, dilations and pads.
fn windows(
    cx: &Shapes<'_, '_>,
    [steps, gaps, pads]: [&str; 3],
    size: [i64; 2],
    kernel: [i64; 2],
) -> Result<[i64; 2], OpError> {
    let (steps, gaps, pads) = (cx.pair(steps)?, cx.pair(gaps)?, cx.pair(pads)?);
    let mut counts = [UNKNOWN; 2];
    for (axis, count) in counts.iter_mut().enumerate() {
        if size[axis] < 0 || kernel[axis] < 0 {
            continue;
        }
        let reach = gaps[axis].checked_mul(kernel[axis] - 1);
        let pad = pads[axis].checked_mul(2);
        let rest = match (reach, pad) {
            (Some(reach), Some(pad)) if steps[axis] > 0 && kernel[axis] > 0 => size[axis]
                .saturating_add(pad)
                .saturating_sub(reach)
                .saturating_sub(1),
            _ => -1,
        };
        if rest < 0 {
            return Err(invalid(format!(
                "its input x is {}, and no window of {kernel:?} with strides {steps:?} and dilations {gaps:?} fits into it",
                cx.of("x")?
            )));
        }
        *count = rest / steps[axis] + 1;
    }
    Ok(counts)
}
