//! Attention over latent keys: in parts that a ring of devices passes on, and over a cache in blocks.

use jumar_types::dtype::DataType;

use super::attention::{heads, text};
use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::refused::Refused;
use crate::ops::attention;
use crate::{Arg, Signature};

static RING: Signature = signature!("RingMLAOperation":
    qNope In, qRope In, kNope In, kRope In, value In, mask In, seqLen Ints, prevOut In, prevLse In,
    output Out, softmaxLse Out, headNum Int, kvHeadNum Int, scale Float, causal Bool, joins Bool);

static PAGED: Signature = signature!("MLAOperation":
    qNope In, qRope In, ctKV In, kRope In, blockTables In, contextLens Ints, mask In, qSeqLen Ints,
    output Out, lse Out, headNum Int, scale Float, maskKind Text, inBlocks Bool);

const FLOAT: &[DataType] = &[DataType::Float32];
const FLOATS: &[DataType] = &[DataType::Float32, DataType::Float16, DataType::BFloat16];
const INT32: &[DataType] = &[DataType::Int32];

pub(super) fn ring(fields: &Fields<'_>) -> Result<Form, Refused> {
    let (heads, key_heads) = heads(fields)?;
    fields.choice("kernelType", &[(0, ()), (1, ())])?;
    fields.only("inputLayout", 0)?;
    let causal = fields.choice("maskType", &[(0, false), (1, true)])?;
    let joins = fields.choice("calcType", &[(0, true), (1, false)])?;
    let mask = Slot::new("mask", FLOATS, 2..=2);
    let before = |slot: Slot| if joins { slot } else { slot.optional() };
    Ok(Form {
        signature: &RING,
        inputs: vec![
            Slot::new("qNope", HALVES, 3..=3),
            Slot::new("qRope", HALVES, 3..=3).like("qNope"),
            Slot::new("kNope", HALVES, 3..=3).like("qNope"),
            Slot::new("kRope", HALVES, 3..=3).like("qNope"),
            Slot::new("value", HALVES, 3..=3).like("qNope"),
            if causal { mask } else { mask.optional() },
            Slot::host("seqLen", 1..=2),
            before(Slot::new("prevOut", HALVES, 3..=3).like("qNope")),
            before(Slot::new("prevLse", FLOAT, 2..=2)),
        ],
        outputs: vec![Slot::out("output"), Slot::out("softmaxLse")],
        values: vec![
            ("headNum", Arg::Int(heads)),
            ("kvHeadNum", Arg::Int(key_heads)),
            ("scale", Arg::Float(fields.float("qkScale")?)),
            ("causal", Arg::Bool(causal)),
            ("joins", Arg::Bool(joins)),
        ],
        infer: infer_ring,
        plan: attention::ring,
    })
}

fn infer_ring(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let (heads, key_heads) = (inputs.int("headNum"), inputs.int("kvHeadNum"));
    let (tokens, width) = (inputs.dims("qNope")[0], inputs.dims("qNope")[2]);
    let (keys, rope) = (inputs.dims("kNope")[0], inputs.dims("qRope")[2]);
    let value = inputs.dims("value")[2];
    for (name, wanted) in [
        ("qNope", [tokens, heads, width]),
        ("qRope", [tokens, heads, rope]),
        ("kNope", [keys, key_heads, width]),
        ("kRope", [keys, key_heads, rope]),
        ("value", [keys, key_heads, value]),
        ("prevOut", [tokens, heads, value]),
    ] {
        if inputs.has(name) && inputs.dims(name) != wanted {
            return Err(inputs.refuse(format!(
                "{name} has the shape {:?}; it must be {wanted:?}",
                inputs.dims(name)
            )));
        }
    }
    if inputs.has("prevLse") && inputs.dims("prevLse") != [heads, tokens] {
        return Err(inputs.refuse(format!(
            "prevLse has the shape {:?}; it must be [{heads}, {tokens}]",
            inputs.dims("prevLse")
        )));
    }
    Ok(vec![
        Described::new(inputs.dtype("qNope"), &[tokens, heads, value]),
        Described::new(DataType::Float32, &[heads, tokens]),
    ])
}

pub(super) fn paged(fields: &Fields<'_>) -> Result<Form, Refused> {
    let heads = fields.positive("headNum")?;
    fields.only("kvHeadNum", 1)?;
    let in_blocks = match fields.int("cacheMode")? {
        1 => false,
        3 => true,
        other => {
            return Err(Refused::param(format!(
                "cacheMode is {other}, which is not supported; supported are 1 (ND) and 3 (FRACTAL_NZ)"
            )));
        }
    };
    let (several, has_log) = fields.choice(
        "calcType",
        &[(0, (false, false)), (1, (true, false)), (2, (false, true))],
    )?;
    let kind = match (fields.int("maskType")?, several) {
        (0, _) => "",
        (1, true) => "rows",
        (other, _) => {
            return Err(Refused::param(format!(
                "maskType is {other} with calcType {}, which is not supported; supported are 0 (none), and 1 (SPEC) with calcType 1 (SPEC)",
                fields.int("calcType")?
            )));
        }
    };
    let cache = |name| {
        let slot = Slot::new(name, HALVES, 4..=4).like("qNope");
        if in_blocks { slot.blocked() } else { slot }
    };
    let mask = Slot::new("mask", FLOATS, 2..=2);
    let rows = Slot::host("qSeqLen", 1..=1);
    let mut outputs = vec![Slot::out("output")];
    if has_log {
        outputs.push(Slot::out("lse").any_type());
    }
    Ok(Form {
        signature: &PAGED,
        inputs: vec![
            Slot::new("qNope", HALVES, 3..=3),
            Slot::new("qRope", HALVES, 3..=3).like("qNope"),
            cache("ctKV"),
            cache("kRope"),
            Slot::new("blockTables", INT32, 2..=2),
            Slot::host("contextLens", 1..=1),
            if kind.is_empty() {
                mask.optional()
            } else {
                mask
            },
            if several { rows } else { rows.optional() },
        ],
        outputs,
        values: vec![
            ("headNum", Arg::Int(heads)),
            ("scale", Arg::Float(fields.float("qkScale")?)),
            ("maskKind", text(kind)),
            ("inBlocks", Arg::Bool(in_blocks)),
            ("hasLog", Arg::Bool(has_log)),
        ],
        infer: infer_paged,
        plan: attention::latent,
    })
}

fn infer_paged(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let heads = inputs.int("headNum");
    let (query, rope) = (inputs.dims("qNope"), inputs.dims("qRope"));
    let (tokens, width) = (query[0], query[2]);
    let fits = query[1] == heads && rope[..2] == [tokens, heads];
    let in_blocks = inputs.int("inBlocks") != 0;
    let row = |name: &str| {
        let dims = inputs.dims(name);
        match in_blocks {
            // Blocks, pieces of 16 entries, rows of a block, entries of a piece.
            true => ([dims[0], dims[2]], dims[1].saturating_mul(dims[3])),
            false => ([dims[0], dims[1]], dims[2].saturating_mul(dims[3])),
        }
    };
    let (latent, own) = (row("ctKV"), row("kRope"));
    if !fits || latent.1 != width || own.1 != rope[2] || latent.0 != own.0 {
        return Err(inputs.refuse(format!(
            "qNope has the shape {query:?}, qRope {rope:?}, ctKV {:?} and kRope {:?}; expected tokens of {heads} heads, and caches of the same blocks with rows as long as those of the queries",
            inputs.dims("ctKV"),
            inputs.dims("kRope")
        )));
    }
    let dtype = inputs.dtype("qRope");
    let mut outputs = vec![Described::new(dtype, &[tokens, heads, width])];
    if inputs.int("hasLog") != 0 {
        outputs.push(Described::new(dtype, &[tokens, heads, 1]));
    }
    Ok(outputs)
}
