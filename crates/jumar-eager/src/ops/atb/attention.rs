//! Attention over caches in blocks, and over sequences that lie one behind the other.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Description, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::rejection::Rejection;
use crate::ops::attention;
use crate::{Arg, Signature};

static PAGED: Signature = signature!("PagedAttentionOperation":
    query In, keyCache In, valueCache In, blockTables In, contextLens Ints, mask In, qSeqLens Ints,
    keyDescale In, valueDescale In, output Out,
    headNum Int, kvHeadNum Int, scale Float, valueWidth Int, maskKind Text);

static OWN: Signature = signature!("SelfAttentionOperation":
    query In, key In, value In, blockTables In, mask In, seqLen Ints, kvSeqLen Ints, output Out,
    headNum Int, kvHeadNum Int, scale Float, clamps Bool, clampMin Float, clampMax Float, maskKind Text);

static PREFIX: Signature = Signature {
    name: "SelfAttentionPrefixEncoderOperation",
    params: OWN.params,
};

const INT32: &[DataType] = &[DataType::Int32];
const INT8: &[DataType] = &[DataType::Int8];
const SCALES: &[DataType] = &[DataType::Int64, DataType::UInt64, DataType::Float32];
/// The types of masks.
const MASKS: &[DataType] = &[
    DataType::Float16,
    DataType::BFloat16,
    DataType::Float32,
    DataType::Int8,
];

/// Returns the numbers of heads of queries and of keys. A number of 0 for the keys is that of the queries.
pub(super) fn heads(fields: &Fields<'_>) -> Result<(i64, i64), Rejection> {
    let heads = fields.positive("headNum")?;
    match fields.int("kvHeadNum")? {
        0 => Ok((heads, heads)),
        keys if keys > 0 && heads % keys == 0 => Ok((heads, keys)),
        keys => Err(Rejection::param(format!(
            "kvHeadNum is {keys}; it must be 0 or divide headNum, which is {heads}"
        ))),
    }
}

pub(super) fn text(value: &str) -> Arg {
    Arg::Text(value.to_owned())
}

pub(super) fn paged(fields: &Fields<'_>) -> Result<Form, Rejection> {
    let (heads, key_heads) = heads(fields)?;
    fields.only("compressType", 0)?;
    fields.only("scaleType", 0)?;
    fields.only("inputLayout", 0)?;
    fields.only("batchRunStatusEnable", 0)?;
    let own_scale = fields.float("qScale")?;
    if own_scale != 0.0 && own_scale != 1.0 {
        return Err(Rejection::param(format!(
            "qScale is {own_scale}, which is not supported; set qkScale"
        )));
    }
    let several = fields.choice("calcType", &[(0, false), (1, true)])?;
    let quantised = fields.choice("quantType", &[(0, false), (1, true)])?;
    if quantised {
        fields.only("hasQuantOffset", 0)?;
    }
    let latent = fields.int("mlaVHeadSize")?;
    let mask = fields.int("maskType")?;
    let kind = match (mask, several) {
        (0, _) => "",
        (1, false) => "columns",
        (2, false) => "heads",
        (3, true) => "rows",
        (5, true) => "causal",
        _ => {
            return Err(Rejection::param(format!(
                "maskType is {mask} and calcType {}, which is not supported; supported are maskType 0, 1 and 2 with calcType 0, and 0, 3 and 5 with calcType 1",
                u8::from(several)
            )));
        }
    };
    if latent < 0 || (latent > 0 && (quantised || key_heads != 1 && key_heads != heads)) {
        return Err(Rejection::param(format!(
            "mlaVHeadSize is {latent} with kvHeadNum {key_heads} and quantType {}; a latent cache has one head and is not quantised",
            u8::from(quantised)
        )));
    }
    let key_heads = if latent > 0 { 1 } else { key_heads };
    let out = fields.int("outDataType")?;
    if out != -1 && !quantised {
        return Err(Rejection::param(format!(
            "outDataType is {out}; it must be -1, that of query, unless quantType is 2 or 3"
        )));
    }
    let entries = if quantised { INT8 } else { HALVES };
    let cache = |name| {
        let slot = Slot::new(name, entries, 4..=4);
        if quantised { slot } else { slot.like("query") }
    };
    let mut inputs = vec![Slot::new("query", HALVES, 2..=3), cache("keyCache")];
    if latent == 0 {
        inputs.push(cache("valueCache"));
    }
    inputs.push(Slot::new("blockTables", INT32, 2..=2));
    inputs.push(Slot::host("contextLens", 1..=1));
    if mask != 0 {
        inputs.push(Slot::new("mask", MASKS, 2..=4));
    }
    if several {
        inputs.push(Slot::host("qSeqLens", 1..=1));
    }
    if quantised {
        inputs.push(Slot::new("keyDescale", SCALES, 1..=1));
        inputs.push(Slot::new("valueDescale", SCALES, 1..=1));
    }
    Ok(Form {
        signature: &PAGED,
        inputs,
        outputs: vec![Slot::out("output").any_shape()],
        values: vec![
            ("headNum", Arg::Int(heads)),
            ("kvHeadNum", Arg::Int(key_heads)),
            ("scale", Arg::Float(fields.float("qkScale")?)),
            ("valueWidth", Arg::Int(latent)),
            ("maskKind", text(kind)),
            ("several", Arg::Bool(several)),
        ],
        infer: infer_paged,
        plan: attention::over_blocks,
    })
}

/// Returns the entries of each head of a tensor with a row for each token.
fn width(inputs: &Inputs<'_>, name: &str, heads: i64) -> Result<i64, Rejection> {
    match *inputs.dims(name) {
        [_, own, width] if own == heads => Ok(width),
        [_, all] if all % heads == 0 => Ok(all / heads),
        ref dims => Err(inputs.refuse(format!(
            "{name} has the shape {dims:?}; expected tokens of {heads} heads"
        ))),
    }
}

/// Returns the entries of each head of a cache.
fn cache_width(inputs: &Inputs<'_>, name: &str, heads: i64) -> Result<i64, Rejection> {
    match *inputs.dims(name) {
        [_, _, own, width] if own == heads => Ok(width),
        ref dims => Err(inputs.refuse(format!(
            "{name} has the shape {dims:?}; expected blocks, rows of a block, {heads} heads and their entries"
        ))),
    }
}

/// Refuses keys whose heads have other entries than those of the query, and values with other blocks than the keys.
fn check_keys(
    inputs: &Inputs<'_>,
    (own, wanted): (i64, i64),
    names: [&str; 2],
    shared: usize,
) -> Result<(), Rejection> {
    let (key, value) = (inputs.dims(names[0]), inputs.dims(names[1]));
    if own != wanted {
        return Err(inputs.refuse(format!(
            "{} has heads of {own} entries and query of {wanted}; both must be equal",
            names[0]
        )));
    }
    match key[..shared] == value[..shared] {
        true => Ok(()),
        false => Err(inputs.refuse(format!(
            "{} has the shape {key:?} and {} {value:?}; they differ in the last dimension only",
            names[0], names[1]
        ))),
    }
}

/// The result: a row for each token, as the query has.
fn result(inputs: &Inputs<'_>, query: &str, heads: i64, width: i64) -> Vec<Description> {
    let dims = inputs.dims(query);
    let dims = match dims.len() {
        2 => vec![dims[0], heads * width],
        _ => vec![dims[0], heads, width],
    };
    vec![Description::new(inputs.dtype(query), &dims)]
}

fn infer_paged(inputs: &Inputs<'_>) -> Result<Vec<Description>, Rejection> {
    let (heads, key_heads) = (inputs.int("headNum"), inputs.int("kvHeadNum"));
    let own = width(inputs, "query", heads)?;
    let key = cache_width(inputs, "keyCache", key_heads)?;
    let value = match inputs.int("valueWidth") {
        0 => cache_width(inputs, "valueCache", key_heads)?,
        width if width <= key => width,
        width => {
            return Err(inputs.refuse(format!(
                "mlaVHeadSize is {width} and keyCache has rows of {key} entries"
            )));
        }
    };
    let values = if inputs.has("valueCache") {
        "valueCache"
    } else {
        "keyCache"
    };
    check_keys(inputs, (key, own), ["keyCache", values], 3)?;
    for (name, width) in [("keyDescale", key), ("valueDescale", value)] {
        if inputs.has(name) && inputs.dims(name) != [key_heads * width] {
            return Err(inputs.refuse(format!(
                "{name} has the shape {:?}; it must be [{}], a factor for each entry of {key_heads} heads",
                inputs.dims(name),
                key_heads * width
            )));
        }
    }
    Ok(result(inputs, "query", heads, value))
}

/// Returns the kind of a mask of sequences, by `maskType`.
fn mask_of_sequences(mask: i64) -> Result<&'static str, Rejection> {
    match mask {
        0 => Ok(""),
        1 => Ok("whole"),
        2 => Ok("heads"),
        3 | 9 => Ok("causal"),
        other => Err(Rejection::param(format!(
            "maskType is {other}, which is not supported; supported are 0 (none), 1 (NORM), 2 (ALIBI), 3 (NORM_COMPRESS), and 9 (CAUSAL_MASK) for PREFIX_ENCODER"
        ))),
    }
}

/// `calcType`: sequences one behind the other.
const PA_ENCODER: i64 = 3;
/// `calcType`: sequences whose keys lie in blocks of a cache.
const PREFIX_ENCODER: i64 = 4;
/// `maskType`: causal, without a tensor.
const CAUSAL: i64 = 9;

pub(super) fn own(fields: &Fields<'_>) -> Result<Form, Rejection> {
    let calc = fields.int("calcType")?;
    if calc != PA_ENCODER && calc != PREFIX_ENCODER {
        return Err(Rejection::param(format!(
            "calcType is {calc}, which is not supported; supported are 3 (PA_ENCODER) and 4 (PREFIX_ENCODER)"
        )));
    }
    for name in [
        "quantType",
        "batchRunStatusEnable",
        "kvcacheCfg",
        "scaleType",
        "inputLayout",
        "mlaVHeadSize",
        "cacheType",
        "windowSize",
    ] {
        fields.only(name, 0)?;
    }
    fields.only("outDataType", -1)?;
    fields.choice("isTriuMask", &[(0, ()), (1, ())])?;
    // Everything is computed in float32, which is at least as precise as each of them.
    fields.choice("kernelType", &[(0, ()), (1, ()), (2, ())])?;
    let clamps = fields.choice("clampType", &[(0, false), (1, true)])?;
    let (low, high) = (fields.float("clampMin")?, fields.float("clampMax")?);
    if clamps && (low > high || low.is_nan() || high.is_nan()) {
        return Err(Rejection::param(format!(
            "clampMin is {low} and clampMax {high}; the first is at most the second"
        )));
    }
    let mask = fields.int("maskType")?;
    let prefix = calc == PREFIX_ENCODER;
    let kind = mask_of_sequences(mask)?;
    if (prefix && mask != 3 && mask != CAUSAL) || (!prefix && mask == CAUSAL) {
        return Err(Rejection::param(format!(
            "maskType is {mask} with calcType {calc}, which is not supported; PREFIX_ENCODER has 3 (NORM_COMPRESS) or 9 (CAUSAL_MASK), and PA_ENCODER 0 to 3"
        )));
    }
    let scale = fields.float("qScale")? * fields.float("qkScale")?;
    build(
        fields,
        &OWN,
        (prefix, mask, kind),
        scale,
        (clamps, low, high),
    )
}

pub(super) fn prefix(fields: &Fields<'_>) -> Result<Form, Rejection> {
    let mask = fields.int("maskType")?;
    if mask != 3 && mask != CAUSAL {
        return Err(Rejection::param(format!(
            "maskType is {mask}, which is not supported; supported are 3 (NORM_COMPRESS) and 9 (CAUSAL_MASK)"
        )));
    }
    let scale = fields.float("qkScale")?;
    let mut form = build(
        fields,
        &PREFIX,
        (true, mask, "causal"),
        scale,
        (false, 0.0, 0.0),
    )?;
    // The function has a parameter for each tensor, with null for one that is not given.
    form.inputs.retain(|slot| slot.name != "mask");
    let mask_slot = Slot::new("mask", MASKS, 2..=4);
    form.inputs.insert(
        4,
        if mask == CAUSAL {
            mask_slot.optional()
        } else {
            mask_slot
        },
    );
    Ok(form)
}

fn build(
    fields: &Fields<'_>,
    signature: &'static Signature,
    (prefix, mask, kind): (bool, i64, &str),
    scale: f64,
    (clamps, low, high): (bool, f64, f64),
) -> Result<Form, Rejection> {
    let (heads, key_heads) = heads(fields)?;
    let ranks = if prefix { 4..=4 } else { 2..=3 };
    let mut inputs = vec![
        Slot::new("query", HALVES, 2..=3),
        Slot::new("key", HALVES, ranks.clone()).like("query"),
        Slot::new("value", HALVES, ranks).like("query"),
    ];
    if prefix {
        inputs.push(Slot::new("blockTables", INT32, 2..=2));
    }
    if mask != 0 && mask != CAUSAL {
        inputs.push(Slot::new("mask", MASKS, 2..=4));
    }
    inputs.push(Slot::host("seqLen", 1..=2));
    if prefix {
        inputs.push(Slot::host("kvSeqLen", 1..=1));
    }
    Ok(Form {
        signature,
        inputs,
        outputs: vec![Slot::out("output").any_shape()],
        values: vec![
            ("headNum", Arg::Int(heads)),
            ("kvHeadNum", Arg::Int(key_heads)),
            ("scale", Arg::Float(scale)),
            ("clamps", Arg::Bool(clamps)),
            ("clampMin", Arg::Float(low)),
            ("clampMax", Arg::Float(high)),
            ("maskKind", text(kind)),
            ("prefix", Arg::Bool(prefix)),
        ],
        infer: infer_own,
        plan: attention::of_sequences,
    })
}

fn infer_own(inputs: &Inputs<'_>) -> Result<Vec<Description>, Rejection> {
    let (heads, key_heads) = (inputs.int("headNum"), inputs.int("kvHeadNum"));
    let own = width(inputs, "query", heads)?;
    let prefix = inputs.int("prefix") != 0;
    let of = |name: &str| match prefix {
        true => cache_width(inputs, name, key_heads),
        false => width(inputs, name, key_heads),
    };
    let (key, value) = (of("key")?, of("value")?);
    let shared = if prefix { 3 } else { 1 };
    check_keys(inputs, (key, own), ["key", "value"], shared)?;
    Ok(result(inputs, "query", heads, value))
}
