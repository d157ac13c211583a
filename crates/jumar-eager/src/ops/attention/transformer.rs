//! Attention of the transformer library: sequences one behind the other, over keys and values that lie so too or in blocks of
//! a cache. Types, ranks and heads were checked by the forms of the operations.

use jumar_types::dtype::DataType;

use super::{Cache, Effects, Mask, Plan, Range, Rule, UNLIMITED};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::quant;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Scalar};

/// Each row sees the columns up to its own, counted so that the last row is at the last column.
const CAUSAL: Rule = Rule::FromLast {
    before: UNLIMITED,
    after: 0,
};

/// What is added to scores, or excludes them.
#[derive(Default)]
struct Bias {
    addend: Option<View>,
    excluded: Option<View>,
    /// Whether each sequence has an entry of its own, or rows of its own.
    by_sequence: bool,
    by_row: bool,
    causal: bool,
}

/// The keys and values of a call: page, heads, row, width; or batch, heads, row, width.
struct Keys {
    keys: View,
    values: View,
    extra: Option<View>,
    table: Option<View>,
}

/// Views joined tokens as batch, heads, length, width.
fn heads_of(cx: &mut Cx<'_>, view: View, heads: usize) -> Result<View, Refusal> {
    let tokens = view.dims()[0];
    let width = view.elements() / tokens.max(1) / heads.max(1);
    let split = cx.reshaped(view, &[tokens, heads, width])?;
    Ok(split.transpose(0, 1).unsqueeze(0))
}

/// Returns lengths as counts.
fn counts(cx: &Cx<'_>, name: &str, values: &[i64]) -> Result<Vec<usize>, Refusal> {
    let counts = values.iter().enumerate();
    counts
        .map(|(index, value)| {
            usize::try_from(*value).map_err(|_| {
                cx.invalid(format_args!(
                    "{name}[{index}] is {value}; a length is not negative"
                ))
            })
        })
        .collect()
}

/// Returns the sequences of a call from the lengths of queries and keys.
fn sequences(
    cx: &Cx<'_>,
    (rows, columns): (&[usize], &[usize]),
    (tokens, keys): (usize, &Keys),
    bias: &Bias,
) -> Result<Vec<Range>, Refusal> {
    if rows.len() != columns.len() {
        return Err(cx.invalid(format_args!(
            "there are {} lengths of queries and {} of keys; both have one for each sequence",
            rows.len(),
            columns.len()
        )));
    }
    let limit = match &keys.table {
        Some(table) => table.dims()[1].saturating_mul(keys.keys.dims()[2]),
        None => keys.keys.dims()[2],
    };
    if let Some(table) = &keys.table
        && table.dims()[0] < rows.len()
    {
        return Err(cx.invalid(format_args!(
            "blockTables has the shape {:?}; it must have a row for each of {} sequences",
            table.dims(),
            rows.len()
        )));
    }
    let (mut first_row, mut first_column) = (0usize, 0usize);
    let mut ranges = Vec::with_capacity(rows.len());
    for (index, (&rows, &columns)) in rows.iter().zip(columns).enumerate() {
        let end = match keys.table {
            Some(_) => columns,
            None => first_column.saturating_add(columns),
        };
        if end > limit {
            return Err(cx.invalid(format_args!(
                "sequence {index} has {columns} keys, which end at {end}; there are {limit}"
            )));
        }
        ranges.push(Range {
            batch: 0,
            first_row,
            rows,
            table_row: index,
            list: 0,
            key_batch: 0,
            first_column: if keys.table.is_some() {
                0
            } else {
                first_column
            },
            columns,
            bias_batch: if bias.by_sequence { index } else { 0 },
            bias_row: if bias.by_row { first_row } else { 0 },
        });
        first_row = first_row.saturating_add(rows);
        first_column = first_column.saturating_add(columns);
    }
    match first_row == tokens {
        true => Ok(ranges),
        false => Err(cx.invalid(format_args!(
            "the lengths of the sequences count {first_row} tokens, and query has {tokens}"
        ))),
    }
}

/// A call that was read.
struct Attention {
    query: View,
    extra: Option<View>,
    keys: Keys,
    rows: Vec<usize>,
    columns: Vec<usize>,
    bias: Bias,
    out: View,
    scale: f64,
    clamp: Option<(f32, f32)>,
    log_sum: Option<View>,
}

impl Attention {
    fn run(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        let tokens = self.query.dims()[2];
        let ranges = sequences(
            cx,
            (&self.rows, &self.columns),
            (tokens, &self.keys),
            &self.bias,
        )?;
        let cache = self.keys.table.map(|table| Cache {
            table,
            size: self.keys.keys.dims()[2],
        });
        let rule = match self.bias.causal {
            true => CAUSAL,
            false => Rule::All,
        };
        let plan = Plan {
            query: self.query,
            keys: vec![self.keys.keys],
            values: vec![self.keys.values],
            extra: self.extra.zip(self.keys.extra),
            out: self.out,
            ranges,
            cache,
            addend: self.bias.addend,
            addend_scaled: false,
            effects: Effects::default(),
            mask: Mask {
                view: self.bias.excluded,
                rule,
            },
            mask_param: "mask",
            scale: self.scale,
            clamp: self.clamp,
            invalid_is_zero: true,
            statistics: [None, None, self.log_sum],
        };
        plan.run(cx)
    }
}

fn size(cx: &Cx<'_>, name: &str) -> Result<usize, Refusal> {
    let value = cx.int(name)?;
    usize::try_from(value).map_err(|_| cx.invalid(format_args!("{name} is {value}")))
}

/// Views a cache of blocks as page, heads, row, width.
fn paged(cx: &mut Cx<'_>, name: &str, blocked: bool) -> Result<View, Refusal> {
    let view = cx.tensor(name)?;
    let &[blocks, outer, rows, inner] = view.dims() else {
        return Err(cx.defect("a cache has four dimensions"));
    };
    match blocked {
        false => Ok(view.transpose(1, 2)),
        true => {
            let rows_first = view.permute(&[0, 2, 1, 3]);
            let joined = cx.reshaped(rows_first, &[blocks, rows, 1, outer * inner])?;
            Ok(joined.transpose(1, 2))
        }
    }
}

/// Reads a mask whose form is named by its kind and its rank.
fn bias(cx: &mut Cx<'_>, heads: usize) -> Result<Bias, Refusal> {
    let kind = cx.text("maskKind")?.to_owned();
    let mask = cx.optional("mask")?.filter(|_| !kind.is_empty());
    let Some(mask) = mask else {
        return Ok(Bias {
            causal: kind == "causal",
            ..Bias::default()
        });
    };
    let four = |view: View, wanted: &[usize]| {
        let mut view = view;
        for axis in wanted {
            view = view.unsqueeze(*axis);
        }
        view
    };
    let refuse = |cx: &Cx<'_>| {
        Err(cx.invalid(format_args!(
            "mask has the shape {:?}, which is none of those of its kind ({kind})",
            mask.dims()
        )))
    };
    match (kind.as_str(), mask.dims()) {
        // Of a compressed mask only its rule counts.
        ("causal", _) => Ok(Bias {
            causal: true,
            ..Bias::default()
        }),
        // One row for each token.
        ("rows", [_, _]) => Ok(Bias {
            addend: Some(four(mask, &[0, 0])),
            by_row: true,
            ..Bias::default()
        }),
        // For the one row of each sequence.
        ("columns", [1, _]) => Ok(Bias {
            addend: Some(four(mask, &[0, 0])),
            ..Bias::default()
        }),
        ("columns", [_, 1, _]) => Ok(Bias {
            addend: Some(four(mask, &[1])),
            by_sequence: true,
            ..Bias::default()
        }),
        ("heads", &[own, _, _]) if own == heads => Ok(Bias {
            addend: Some(four(mask, &[0])),
            ..Bias::default()
        }),
        ("heads", &[_, own, _, _]) if own == heads => Ok(Bias {
            addend: Some(mask),
            by_sequence: true,
            ..Bias::default()
        }),
        ("whole", [_, _] | [_, _, _]) => {
            let (view, by_sequence) = match mask.rank() {
                2 => (four(mask, &[0, 0]), false),
                _ => (four(mask, &[1]), true),
            };
            let mut bias = Bias {
                by_sequence,
                ..Bias::default()
            };
            if view.dtype() == DataType::Float16 {
                bias.addend = Some(view);
                return Ok(bias);
            }
            // Elsewhere a positive number excludes, and a negative one is added.
            let zero = Operand::Scalar(Scalar::of_i64(0));
            let operands = [Operand::Tensor(view), zero];
            let excluded = cx.temporary(DataType::Bool, view.dims())?;
            cx.test(F::Gt, DataType::Float32, &operands, excluded)?;
            let addend = cx.temporary(DataType::Float32, view.dims())?;
            cx.map(F::Min, DataType::Float32, &operands, addend)?;
            bias.excluded = Some(excluded);
            bias.addend = Some(addend);
            Ok(bias)
        }
        _ => refuse(cx),
    }
}

/// Multiplies each head of tokens by a row of factors that the heads share.
fn scaled(
    cx: &mut Cx<'_>,
    view: View,
    factors: View,
    (heads, key_heads): (usize, usize),
    out: View,
) -> Result<(), Refusal> {
    let tokens = view.dims()[0];
    let width = view.elements() / tokens.max(1) / heads;
    let dims = [tokens, key_heads, heads / key_heads, width];
    let factors = quant::decoded_scales(cx, factors)?;
    let factors = cx.reshaped(factors, &[key_heads, 1, width])?;
    let view = cx.reshaped(view, &dims)?;
    let out = cx.reshaped(out, &dims)?;
    let operands = [Operand::Tensor(view), Operand::Tensor(factors)];
    cx.map(F::Mul, DataType::Float32, &operands, out)
}

/// Attention of new tokens over a cache in blocks.
pub(crate) fn over_blocks(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (heads, key_heads) = (size(cx, "headNum")?, size(cx, "kvHeadNum")?);
    let (mut query, out) = (cx.tensor("query")?, cx.out("output")?);
    let keys = paged(cx, "keyCache", false)?;
    let values = match cx.optional("valueCache")? {
        Some(_) => paged(cx, "valueCache", false)?,
        None => keys.slice(3, 0, size(cx, "valueWidth")?, 1),
    };
    // Factors of the keys belong to the query as well, and those of the values to the result: caches stay as they are.
    let descales = match (cx.optional("keyDescale")?, cx.optional("valueDescale")?) {
        (Some(key), Some(value)) => Some((key, value)),
        _ => None,
    };
    let mut target = out;
    if let Some((key, _)) = descales {
        let wide = cx.temporary(DataType::Float32, query.dims())?;
        scaled(cx, query, key, (heads, key_heads), wide)?;
        query = wide;
        target = cx.temporary(DataType::Float32, out.dims())?;
    }
    let columns = counts(cx, "contextLens", cx.ints("contextLens")?)?;
    let rows = match cx.optional_ints("qSeqLens")? {
        Some(rows) => counts(cx, "qSeqLens", rows)?,
        None => vec![1; columns.len()],
    };
    let bias = bias(cx, heads)?;
    let attention = Attention {
        query: heads_of(cx, query, heads)?,
        extra: None,
        keys: Keys {
            keys,
            values,
            extra: None,
            table: Some(cx.tensor("blockTables")?),
        },
        rows,
        columns,
        bias,
        out: heads_of(cx, target, heads)?,
        scale: cx.float("scale")?,
        clamp: None,
        log_sum: None,
    };
    attention.run(cx)?;
    match descales {
        Some((_, value)) => scaled(cx, target, value, (heads, key_heads), out),
        None => Ok(()),
    }
}

/// Attention of sequences over keys that lie one behind the other, or in blocks of a cache.
pub(crate) fn of_sequences(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (heads, key_heads) = (size(cx, "headNum")?, size(cx, "kvHeadNum")?);
    let (query, out) = (cx.tensor("query")?, cx.out("output")?);
    let tokens = query.dims()[0];
    let keys = match cx.optional("blockTables")? {
        Some(table) => Keys {
            keys: paged(cx, "key", false)?,
            values: paged(cx, "value", false)?,
            extra: None,
            table: Some(table),
        },
        None => {
            let (key, value) = (cx.tensor("key")?, cx.tensor("value")?);
            Keys {
                keys: heads_of(cx, key, key_heads)?,
                values: heads_of(cx, value, key_heads)?,
                extra: None,
                table: None,
            }
        }
    };
    let lengths = counts(cx, "seqLen", cx.ints("seqLen")?)?;
    let (rows, columns) = match cx.optional_ints("kvSeqLen")? {
        Some(columns) => (lengths, counts(cx, "kvSeqLen", columns)?),
        None => both_lengths(&lengths, tokens),
    };
    let clamp = match cx.flag("clamps")? {
        true => Some((cx.float("clampMin")? as f32, cx.float("clampMax")? as f32)),
        false => None,
    };
    let bias = bias(cx, heads)?;
    let attention = Attention {
        query: heads_of(cx, query, heads)?,
        extra: None,
        keys,
        rows,
        columns,
        bias,
        out: heads_of(cx, out, heads)?,
        scale: cx.float("scale")?,
        clamp,
        log_sum: None,
    };
    attention.run(cx)
}

/// Returns the lengths of queries and keys: one list for both, or a row for each.
fn both_lengths(lengths: &[usize], tokens: usize) -> (Vec<usize>, Vec<usize>) {
    let sum = |list: &[usize]| {
        list.iter()
            .fold(0usize, |sum, len| sum.saturating_add(*len))
    };
    let half = lengths.len() / 2;
    match sum(lengths) != tokens
        && lengths.len().is_multiple_of(2)
        && sum(&lengths[..half]) == tokens
    {
        true => (lengths[..half].to_vec(), lengths[half..].to_vec()),
        false => (lengths.to_vec(), lengths.to_vec()),
    }
}

/// Joins a result with that of earlier keys, by the logarithms of their sums. Infinity stands for no key.
struct Join;

impl RowFunction for Join {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let number = |index: usize| match rows.input(index).get(0) {
            value if value == f32::INFINITY => f32::NEG_INFINITY,
            value => value,
        };
        let (before, new) = (number(1), number(3));
        let largest = before.max(new);
        let (out, log) = (rows.output(0), rows.output(1));
        if largest == f32::NEG_INFINITY {
            out.fill(0.0);
            log.set(0, f32::INFINITY);
            return;
        }
        let sum = largest + ((before - largest).exp() + (new - largest).exp()).ln();
        let (first, second) = ((before - sum).exp(), (new - sum).exp());
        out.map2(rows.input(0), rows.input(2), |one, two| {
            // What has no share may be anything.
            let part = |value: f32, share: f32| if share == 0.0 { 0.0 } else { value * share };
            part(one, first) + part(two, second)
        });
        log.set(0, sum);
    }
}

/// Attention of sequences with keys in two parts, joined with the result over earlier keys.
pub(crate) fn ring(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (heads, key_heads) = (size(cx, "headNum")?, size(cx, "kvHeadNum")?);
    let (query, query_rope) = (cx.tensor("qNope")?, cx.tensor("qRope")?);
    let (key, key_rope, value) = (
        cx.tensor("kNope")?,
        cx.tensor("kRope")?,
        cx.tensor("value")?,
    );
    let (out, log_sum) = (cx.out("output")?, cx.out("softmaxLse")?);
    let lengths = counts(cx, "seqLen", cx.ints("seqLen")?)?;
    let (rows, columns) = both_lengths(&lengths, query.dims()[0]);
    let earlier = match (cx.optional("prevOut")?, cx.optional("prevLse")?) {
        (Some(out), Some(log)) if cx.flag("joins")? => Some((out, log)),
        _ => None,
    };
    let (target, log_target) = match earlier {
        Some(_) => (
            cx.temporary(DataType::Float32, out.dims())?,
            cx.temporary(DataType::Float32, log_sum.dims())?,
        ),
        None => (out, log_sum),
    };
    // Heads and tokens, as batch, heads, length, copies.
    let numbers = |view: View| view.unsqueeze(0).unsqueeze(3);
    let attention = Attention {
        query: heads_of(cx, query, heads)?,
        extra: Some(heads_of(cx, query_rope, heads)?),
        keys: Keys {
            keys: heads_of(cx, key, key_heads)?,
            values: heads_of(cx, value, key_heads)?,
            extra: Some(heads_of(cx, key_rope, key_heads)?),
            table: None,
        },
        rows,
        columns,
        bias: Bias {
            causal: cx.flag("causal")?,
            ..Bias::default()
        },
        out: heads_of(cx, target, heads)?,
        scale: cx.float("scale")?,
        clamp: None,
        log_sum: Some(numbers(log_target)),
    };
    attention.run(cx)?;
    let Some((before, before_log)) = earlier else {
        return Ok(());
    };
    let inputs = [
        Some(heads_of(cx, before, heads)?),
        Some(numbers(before_log)),
        Some(heads_of(cx, target, heads)?),
        Some(numbers(log_target)),
    ];
    let outputs = [Some(heads_of(cx, out, heads)?), Some(numbers(log_sum))];
    cx.rows(Join, &inputs, &outputs)
}

/// Attention over a latent cache in blocks, whose rows are keys and values for all heads.
pub(crate) fn latent(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let heads = size(cx, "headNum")?;
    let (query, query_rope) = (cx.tensor("qNope")?, cx.tensor("qRope")?);
    let (out, log_sum) = (cx.out("output")?, cx.optional("lse")?);
    let blocked = cx.flag("inBlocks")?;
    let keys = paged(cx, "ctKV", blocked)?;
    let rope = paged(cx, "kRope", blocked)?;
    let columns = counts(cx, "contextLens", cx.ints("contextLens")?)?;
    let rows = match cx.optional_ints("qSeqLen")? {
        Some(rows) => counts(cx, "qSeqLen", rows)?,
        None => vec![1; columns.len()],
    };
    let log_target = match log_sum {
        Some(log) => Some(cx.temporary(DataType::Float32, log.dims())?),
        None => None,
    };
    let bias = bias(cx, heads)?;
    let attention = Attention {
        query: heads_of(cx, query, heads)?,
        extra: Some(heads_of(cx, query_rope, heads)?),
        keys: Keys {
            keys,
            values: keys,
            extra: Some(rope),
            table: Some(cx.tensor("blockTables")?),
        },
        rows,
        columns,
        bias,
        out: heads_of(cx, out, heads)?,
        scale: cx.float("scale")?,
        clamp: None,
        log_sum: match log_target {
            Some(log) => Some(heads_of(cx, log, heads)?),
            None => None,
        },
    };
    attention.run(cx)?;
    match log_target.zip(log_sum) {
        Some((from, to)) => cx.copy(from, to),
        None => Ok(()),
    }
}
