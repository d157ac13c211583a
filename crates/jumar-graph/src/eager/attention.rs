//! Attention, and products with weights that are restored or adapted.

use jumar_ops::{AttrDef, AttrKind, InputDef, OpError, TensorType, Types, UNKNOWN};
use jumar_types::dtype::DataType;

use super::shapes::{Shapes, invalid};
use super::{Argument, SingleOperator, definition, input, optional, output};

use Argument::{Attr, Input, Output, Part};

const LENGTHS: Types = Types::INDEX;

const fn lengths(name: &'static str) -> InputDef {
    InputDef::optional_constant(name, LENGTHS)
}

const SCORE_ATTRS: &[AttrDef] = &[
    AttrDef::float("scale_value", 1.0),
    AttrDef::float("keep_prob", 1.0),
    AttrDef::int("pre_tockens", 2_147_483_647),
    AttrDef::int("next_tockens", 2_147_483_647),
    AttrDef::required("head_num", AttrKind::Int),
    AttrDef::required("input_layout", AttrKind::Str),
    AttrDef::int("inner_precise", 0),
    AttrDef::int("sparse_mode", 0),
    AttrDef::int("pse_type", 1),
];

const SCORE_INPUTS: &[InputDef] = &[
    input("query"),
    input("key"),
    input("value"),
    optional("real_shift"),
    optional("drop_mask"),
    optional("padding_mask"),
    optional("atten_mask"),
    lengths("prefix"),
    lengths("actual_seq_qlen"),
    lengths("actual_seq_kvlen"),
    lengths("q_start_idx"),
    lengths("kv_start_idx"),
];

const SCORE_OUTPUTS: &[jumar_ops::OutputDef] = &[
    output("softmax_max"),
    output("softmax_sum"),
    output("softmax_out"),
    output("attention_out"),
];

pub(super) static ALL: &[&SingleOperator] = &[
    &SingleOperator {
        operator: definition(
            "jumar.AddLora",
            &[
                input("y"),
                input("x"),
                input("weightB"),
                input("indices"),
                optional("weightA"),
            ],
            &[output("y_out")],
            &[
                AttrDef::int("layer_idx", 0),
                AttrDef::float("scale", 1e-3),
                AttrDef::int("y_offset", 0),
                AttrDef::int("y_slice_size", -1),
            ],
        ),
        function: "aclnnAddLora",
        arguments: &[("out", Output("y_out"))],
        infer: |cx| Ok(vec![cx.of("y")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "jumar.FlashAttentionScore",
            SCORE_INPUTS,
            SCORE_OUTPUTS,
            SCORE_ATTRS,
        ),
        function: "aclnnFlashAttentionScoreV2",
        arguments: &[
            ("preTokens", Attr("pre_tockens")),
            ("nextTokens", Attr("next_tockens")),
        ],
        infer: score,
    },
    &SingleOperator {
        operator: definition(
            "jumar.FlashAttentionVarLenScore",
            SCORE_INPUTS,
            SCORE_OUTPUTS,
            SCORE_ATTRS,
        ),
        function: "aclnnFlashAttentionVarLenScoreV2",
        arguments: &[
            ("preTokens", Attr("pre_tockens")),
            ("nextTokens", Attr("next_tockens")),
        ],
        infer: score,
    },
    &SingleOperator {
        operator: definition(
            "jumar.FusedInferAttentionScore",
            &[
                input("query"),
                optional("pse_shift"),
                optional("atten_mask"),
                lengths("actual_seq_lengths"),
                lengths("actual_seq_lengths_kv"),
                optional("dequant_scale1"),
                optional("quant_scale1"),
                optional("dequant_scale2"),
                optional("quant_scale2"),
                optional("quant_offset2"),
                optional("antiquant_scale"),
                optional("antiquant_offset"),
                optional("block_table"),
                optional("query_padding_size"),
                optional("kv_padding_size"),
                optional("key_antiquant_scale"),
                optional("key_antiquant_offset"),
                optional("value_antiquant_scale"),
                optional("value_antiquant_offset"),
                optional("key_shared_prefix"),
                optional("value_shared_prefix"),
                lengths("actual_shared_prefix_len"),
                optional("query_rope"),
                optional("key_rope"),
                optional("key_rope_antiquant_scale"),
                InputDef::variadic("key_value", Types::ALL),
            ],
            &[output("attention_out"), output("softmax_lse")],
            &[
                AttrDef::required("num_heads", AttrKind::Int),
                AttrDef::float("scale", 1.0),
                AttrDef::int("pre_tokens", 2_147_483_647),
                AttrDef::int("next_tokens", 2_147_483_647),
                AttrDef::str("input_layout", "BSH"),
                AttrDef::int("num_key_value_heads", 0),
                AttrDef::int("sparse_mode", 0),
                AttrDef::int("inner_precise", 1),
                AttrDef::int("block_size", 0),
                AttrDef::int("antiquant_mode", 0),
                AttrDef::bool("softmax_lse_flag", false),
                AttrDef::int("key_antiquant_mode", 0),
                AttrDef::int("value_antiquant_mode", 0),
            ],
        ),
        function: "aclnnFusedInferAttentionScoreV3",
        arguments: &[
            ("key", Part("key_value", 0)),
            ("value", Part("key_value", 1)),
            ("deqScale1Optional", Input("dequant_scale1")),
            ("deqScale2Optional", Input("dequant_scale2")),
            ("scaleValue", Attr("scale")),
            ("attentionOut", Output("attention_out")),
        ],
        infer: |cx| {
            let out = result(cx, "num_heads")?;
            let lse = match cx.flag("softmax_lse_flag")? {
                true => {
                    let layout = cx.text("input_layout")?;
                    let own = layout.split_once('_').map_or(&*layout, |(own, _)| own);
                    let heads = cx.int("num_heads")?;
                    let query = &cx.of("query")?.shape;
                    let dims = match (own, &query[..]) {
                        ("BSH", &[batch, length, _]) | ("BSND", &[batch, length, _, _]) => {
                            vec![batch, heads, length, 1]
                        }
                        ("BNSD", &[batch, _, length, _]) => vec![batch, heads, length, 1],
                        ("TND", &[length, _, _]) | ("NTD", &[_, length, _]) => {
                            vec![length, heads, 1]
                        }
                        _ => vec![UNKNOWN; 4],
                    };
                    TensorType::new(DataType::Float32, dims)
                }
                false => TensorType::new(DataType::Float32, vec![1]),
            };
            Ok(vec![out, lse])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.IncreFlashAttention",
            &[
                input("query"),
                optional("pse_shift"),
                optional("atten_mask"),
                lengths("actual_seq_lengths"),
                optional("dequant_scale1"),
                optional("quant_scale1"),
                optional("dequant_scale2"),
                optional("quant_scale2"),
                optional("quant_offset2"),
                optional("antiquant_scale"),
                optional("antiquant_offset"),
                optional("block_table"),
                optional("kv_padding_size"),
                InputDef::variadic("key_value", Types::ALL),
            ],
            &[output("attention_out")],
            &[
                AttrDef::required("num_heads", AttrKind::Int),
                AttrDef::float("scale_value", 1.0),
                AttrDef::str("input_layout", "BSH"),
                AttrDef::int("num_key_value_heads", 1),
                AttrDef::int("block_size", 0),
                AttrDef::int("inner_precise", 1),
            ],
        ),
        function: "aclnnIncreFlashAttentionV4",
        arguments: &[
            ("key", Part("key_value", 0)),
            ("value", Part("key_value", 1)),
            ("blocktable", Input("block_table")),
            ("attentionOut", Output("attention_out")),
        ],
        infer: |cx| Ok(vec![cx.of("query")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "jumar.PromptFlashAttention",
            &[
                input("query"),
                input("key"),
                input("value"),
                optional("pse_shift"),
                optional("atten_mask"),
                lengths("actual_seq_lengths"),
                lengths("actual_seq_lengths_kv"),
                optional("deq_scale1"),
                optional("quant_scale1"),
                optional("deq_scale2"),
                optional("quant_scale2"),
                optional("quant_offset2"),
            ],
            &[output("attention_out")],
            &[
                AttrDef::required("num_heads", AttrKind::Int),
                AttrDef::float("scale_value", 1.0),
                AttrDef::int("pre_tokens", 214_748_647),
                AttrDef::int("next_tokens", 0),
                AttrDef::str("input_layout", "BSH"),
                AttrDef::int("num_key_value_heads", 0),
                AttrDef::int("sparse_mode", 0),
                AttrDef::int("inner_precise", 1),
            ],
        ),
        function: "aclnnPromptFlashAttentionV3",
        arguments: &[("attentionOut", Output("attention_out"))],
        infer: |cx| Ok(vec![result(cx, "num_heads")?]),
    },
    &SingleOperator {
        operator: definition(
            "ScaledMaskedSoftmax",
            &[input("x"), optional("mask")],
            &[output("y")],
            &[
                AttrDef::float("scale", 1.0),
                AttrDef::bool("fixed_triu_mask", false),
            ],
        ),
        function: "aclnnScaledMaskedSoftmax",
        arguments: &[],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "ScaledMaskedSoftmaxGrad",
            &[input("y_grad"), input("y"), optional("mask")],
            &[output("x_grad")],
            &[
                AttrDef::float("scale", 1.0),
                AttrDef::bool("fixed_triu_mask", false),
            ],
        ),
        function: "aclnnScaledMaskedSoftmaxBackward",
        arguments: &[
            ("gradOutput", Input("y_grad")),
            ("fixTriuMask", Attr("fixed_triu_mask")),
            ("out", Output("x_grad")),
        ],
        infer: |cx| Ok(vec![cx.of("y")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "jumar.WeightQuantBatchMatmul",
            &[
                input("x"),
                input("weight"),
                input("antiquant_scale"),
                optional("antiquant_offset"),
                optional("quant_scale"),
                optional("quant_offset"),
                optional("bias"),
            ],
            &[output("y")],
            &[
                AttrDef::int("antiquant_group_size", 0),
                AttrDef::int("inner_precise", 0),
            ],
        ),
        function: "aclnnWeightQuantBatchMatmulV3",
        arguments: &[],
        infer: |cx| {
            let x = cx.of("x")?;
            let dtype = x.dtype;
            let columns = cx.of("weight")?.shape.last().copied().unwrap_or(UNKNOWN);
            let mut dims = cx.rows("x", 1, dtype)?.shape;
            dims.push(columns);
            Ok(vec![TensorType::new(dtype, dims)])
        },
    },
];

/// Returns the result of inference: as the query, in the order that the layout names last.
fn result(cx: &Shapes<'_, '_>, heads: &str) -> Result<TensorType, OpError> {
    let (query, layout) = (cx.of("query")?, cx.text("input_layout")?);
    let heads = cx.int(heads)?;
    let Some((from, to)) = layout.split_once('_') else {
        return Ok(query.clone());
    };
    let dims = match (from, &query.shape[..]) {
        _ if query.rank().is_none() => return Ok(query.clone()),
        ("BSH", &[batch, length, all]) if all >= 0 && heads > 0 => {
            [batch, heads, length, all / heads]
        }
        ("BSND", &[batch, length, heads, width]) => [batch, heads, length, width],
        ("BNSD", &[batch, heads, length, width]) => [batch, heads, length, width],
        ("TND", &[length, heads, width]) | ("NTD", &[heads, length, width]) => {
            [1, heads, length, width]
        }
        _ => {
            return Err(invalid(format!(
                "its input query is {query}, which does not fit input_layout {layout}"
            )));
        }
    };
    let [batch, heads, length, width] = dims;
    let dims = match to {
        "BSH" => vec![batch, length, heads.saturating_mul(width)],
        "BSND" => vec![batch, length, heads, width],
        "BNSD" => vec![batch, heads, length, width],
        "NBSD" => vec![heads, batch, length, width],
        "TND" => vec![length, heads, width],
        "NTD" => vec![heads, length, width],
        _ => return Ok(query.clone()),
    };
    Ok(TensorType::new(query.dtype, dims))
}

/// Infers the statistics of training, and the result with the width of the values.
fn score(cx: &Shapes<'_, '_>) -> Result<Vec<TensorType>, OpError> {
    let [query, key, value] = ["query", "key", "value"].map(|name| cx.of(name));
    let (query, key, value) = (query?, key?, value?);
    let (layout, heads) = (cx.text("input_layout")?, cx.int("head_num")?);
    let open = |rank: usize| vec![UNKNOWN; rank];
    let (statistics, mut out) = match (&*layout, &query.shape[..]) {
        ("BSH", &[batch, length, _]) | ("SBH", &[length, batch, _]) => {
            let all = query.shape[2];
            // Keys have the width of queries: values have as many heads as keys.
            let width = match (key.shape.get(2), value.shape.get(2)) {
                (Some(&keys), Some(&values)) if keys > 0 && values >= 0 && all >= 0 => {
                    all / heads.max(1) * values / keys * heads
                }
                _ => UNKNOWN,
            };
            let mut out = query.shape.clone();
            out[2] = width;
            (vec![batch, heads, length, 8], out)
        }
        ("BSND", &[batch, length, _, _]) => (vec![batch, heads, length, 8], query.shape.clone()),
        ("BNSD", &[batch, _, length, _]) => (vec![batch, heads, length, 8], query.shape.clone()),
        ("TND", &[length, _, _]) => (vec![length, heads, 8], query.shape.clone()),
        _ if query.rank().is_none() => (open(4), open(4)),
        _ => {
            return Err(invalid(format!(
                "its input query is {query}, which does not fit input_layout {layout}"
            )));
        }
    };
    if matches!(&*layout, "BSND" | "BNSD" | "TND")
        && let (Some(to), Some(&width)) = (out.last_mut(), value.shape.last())
    {
        *to = width;
    }
    let statistics = TensorType::new(DataType::Float32, statistics);
    Ok(vec![
        statistics.clone(),
        statistics,
        Shapes::nothing(query.dtype),
        TensorType::new(query.dtype, out),
    ])
}
