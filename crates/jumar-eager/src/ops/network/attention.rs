//! Attention of float64 and its gradient, by single steps: for comparisons, with a matrix of all scores.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::super::matrix::multiply;
use super::super::normalization::{computed, number};
use super::super::reduction::{accumulator, reduce, reduce_kept};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

/// The operands of attention as batches of heads: batch, heads, length, width.
struct Heads {
    layout: String,
    heads: usize,
}

impl Heads {
    fn of(cx: &Cx<'_>) -> Result<Heads, Refusal> {
        let (layout, heads) = (cx.text("inputLayout")?.to_owned(), cx.int("headNum")?);
        match (layout.as_str(), usize::try_from(heads)) {
            ("BSH" | "SBH" | "BNSD" | "BSND", Ok(heads)) if heads > 0 => Ok(Heads { layout, heads }),
            ("TND", _) => Err(cx.unsupported("the layout TND is not supported")),
            _ => Err(cx.invalid(format_args!(
                "inputLayout is {layout:?} and headNum {heads}; expected BSH, SBH, BNSD, BSND or TND, and at least one head"
            ))),
        }
    }

    /// Views a tensor as batch, heads, length, width. `like` has the width of a head in layouts that do not say it.
    fn view(&self, cx: &mut Cx<'_>, view: View, width: Option<usize>) -> Result<View, Refusal> {
        let wrong = |cx: &Cx<'_>| {
            cx.invalid(format_args!(
                "{} has the shape {:?}, which does not fit the layout {} with {} heads",
                cx.param_of(&view),
                view.dims(),
                self.layout,
                self.heads
            ))
        };
        match (self.layout.as_str(), view.dims()) {
            ("BNSD", &[_, _, _, _]) => Ok(view),
            ("BSND", &[_, _, _, _]) => Ok(view.transpose(1, 2)),
            ("BSH", &[batch, length, all]) | ("SBH", &[length, batch, all]) => {
                let width = width.unwrap_or(all / self.heads);
                if width == 0 || all % width != 0 {
                    return Err(wrong(cx));
                }
                let split = match self.layout.as_str() {
                    "BSH" => cx.reshaped(view, &[batch, length, all / width, width])?,
                    _ => cx
                        .reshaped(view, &[length, batch, all / width, width])?
                        .permute(&[1, 0, 2, 3]),
                };
                Ok(split.transpose(1, 2))
            }
            _ => Err(wrong(cx)),
        }
    }
}

/// What both directions of attention share.
struct Attention {
    query: View,
    /// With as many heads as the query.
    key: View,
    value: View,
    /// Scores after the scale, the addend and the mask.
    scores: View,
    compute: DataType,
    scale: f64,
    /// How many heads of the query share a head of key and value.
    shared: usize,
}

/// Repeats each head as often as it is shared.
fn repeat_heads(cx: &mut Cx<'_>, view: View, shared: usize) -> Result<View, Refusal> {
    let &[batch, heads, length, width] = view.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    if shared == 1 {
        return Ok(view);
    }
    let repeated = view
        .unsqueeze(2)
        .expand(&[batch, heads, shared, length, width])
        .ok_or_else(|| cx.defect("a dimension of size 1 is repeated"))?;
    cx.reshaped(repeated, &[batch, heads * shared, length, width])
}

fn scores(cx: &mut Cx<'_>, heads: &Heads, key: &str, addend: &str) -> Result<Attention, Refusal> {
    let (query, key, value) = (cx.tensor("query")?, cx.tensor(key)?, cx.tensor("value")?);
    for (name, what) in [
        ("dropMaskOptional", "a dropout mask"),
        ("paddingMaskOptional", "a padding mask"),
    ] {
        if cx.optional(name)?.is_some_and(|mask| !mask.is_empty()) {
            return Err(cx.unsupported(format_args!(
                "{name}: attention with {what} is not supported"
            )));
        }
    }
    let compute = accumulator(query.dtype());
    let query = heads.view(cx, query, None)?;
    let width = query.dims()[3];
    let key = heads.view(cx, key, Some(width))?;
    // Key and value have equally many heads, whose widths may differ.
    let value_width = match value.dims() {
        &[_, _, all] => Some(all / key.dims()[1].max(1)),
        _ => None,
    };
    let value = heads.view(cx, value, value_width)?;
    let cast = |cx: &mut Cx<'_>, view: View| cx.cast(view, compute);
    let (query, key, value) = (cast(cx, query)?, cast(cx, key)?, cast(cx, value)?);
    let (&[batch, count, rows, _], &[_, key_heads, columns, _]) = (query.dims(), key.dims()) else {
        return Err(cx.defect("heads have four dimensions"));
    };
    if key_heads == 0 || count % key_heads != 0 {
        return Err(cx.invalid(format_args!(
            "{count} heads of the query cannot share {key_heads} of the key"
        )));
    }
    let shared = count / key_heads;
    let (key, value) = (
        repeat_heads(cx, key, shared)?,
        repeat_heads(cx, value, shared)?,
    );
    let scale = cx.float("scaleValue")?;
    let dims = [batch, count, rows, columns];
    let products = cx.temporary(compute, &dims)?;
    multiply(cx, query, key.transpose(2, 3), products)?;
    let mut sums = products;
    if let Some(addend) = cx.optional(addend)?.filter(|addend| !addend.is_empty()) {
        let operands = [Operand::Tensor(products), Operand::Tensor(addend)];
        sums = computed(cx, F::Add, compute, &operands, &dims)?;
    }
    let operands = [Operand::Tensor(sums), number(scale)];
    let mut scores = computed(cx, F::Mul, compute, &operands, &dims)?;
    if let Some(mask) = mask(cx, rows, columns)? {
        let operands = [
            Operand::Tensor(scores),
            Operand::Tensor(mask),
            number(-1e30),
        ];
        scores = computed(cx, F::MaskedFill, compute, &operands, &dims)?;
    }
    Ok(Attention {
        query,
        key,
        value,
        scores,
        compute,
        scale,
        shared,
    })
}

/// Returns the mask of a call: where it is not 0, the score does not count.
fn mask(cx: &mut Cx<'_>, rows: usize, columns: usize) -> Result<Option<View>, Refusal> {
    let mask = cx
        .optional("attenMaskOptional")?
        .filter(|mask| !mask.is_empty());
    let mode = cx.int("sparseMode")?;
    match (mask, mode) {
        (None, 0 | 1) => Ok(None),
        (Some(mask), 0 | 1) => {
            let mask = cx.cast(mask, DataType::Bool)?;
            let (have, wanted) = (mask.dims(), [rows, columns]);
            if !have.ends_with(&wanted) {
                return Err(cx.invalid(format_args!(
                    "attenMaskOptional has the shape {have:?}; its last dimensions must be {wanted:?}"
                )));
            }
            Ok(Some(mask))
        }
        // A compressed triangle of 2048 x 2048: 2 starts in the upper left corner, 3 ends in the lower right one.
        (_, 2 | 3) => {
            let first = if mode == 3 {
                columns as i64 - rows as i64
            } else {
                0
            };
            let line = |cx: &mut Cx<'_>, count: usize, start: i64| {
                cx.check_planned("the positions of a sequence", count)?;
                let values: Vec<i64> = (0..count as i64).map(|index| index + start).collect();
                cx.constant(&jumar_ops::Tensor::from_ints(&values))
            };
            let (row, column) = (line(cx, rows, first)?, line(cx, columns, 0)?);
            let out = cx.temporary(DataType::Bool, &[rows, columns])?;
            let operands = [
                Operand::Tensor(column.unsqueeze(0)),
                Operand::Tensor(row.unsqueeze(1)),
            ];
            cx.test(F::Gt, DataType::Int64, &operands, out)?;
            Ok(Some(out))
        }
        (_, mode) => Err(cx.unsupported(format_args!("sparseMode {mode} is not supported"))),
    }
}

/// Writes a view to an output if there is one with elements; statistics of softmax are repeated in their last dimension.
fn save(cx: &mut Cx<'_>, view: View, param: &str) -> Result<(), Refusal> {
    match cx.optional(param)? {
        Some(out) if !out.is_empty() && out.rank() == 4 => cx.copy(view, out),
        _ => Ok(()),
    }
}

pub(crate) fn attention(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let heads = Heads::of(cx)?;
    let parts = scores(cx, &heads, "key", "realShiftOptional")?;
    let (compute, all) = (parts.compute, parts.scores.dims().to_vec());
    let greatest = reduce_kept(cx, "ReduceMax", parts.scores, &[3])?;
    let operands = [Operand::Tensor(parts.scores), Operand::Tensor(greatest)];
    let distances = computed(cx, F::Sub, compute, &operands, &all)?;
    let powers = computed(cx, F::Exp, compute, &[Operand::Tensor(distances)], &all)?;
    let sum = reduce_kept(cx, "ReduceSum", powers, &[3])?;
    let shares = computed(
        cx,
        F::Div,
        compute,
        &[Operand::Tensor(powers), Operand::Tensor(sum)],
        &all,
    )?;
    let out = cx.out("attentionOutOut")?;
    let mut dims = all.clone();
    dims[3] = parts.value.dims()[3];
    let result = cx.temporary(compute, &dims)?;
    multiply(cx, shares, parts.value, result)?;
    write_heads(cx, &heads, result, out)?;
    save(cx, greatest, "softmaxMaxOut")?;
    save(cx, sum, "softmaxSumOut")
}

/// Writes batches of heads to an output in the layout of the call.
fn write_heads(cx: &mut Cx<'_>, heads: &Heads, result: View, out: View) -> Result<(), Refusal> {
    let arranged = match heads.layout.as_str() {
        "BNSD" => result,
        "BSND" | "BSH" => result.permute(&[0, 2, 1, 3]),
        _ => result.permute(&[2, 0, 1, 3]),
    };
    let dims = match (heads.layout.as_str(), arranged.dims()) {
        ("BSH" | "SBH", &[one, two, count, width]) => vec![one, two, count * width],
        (_, dims) => dims.to_vec(),
    };
    cx.check_dims(&out, &dims)?;
    let arranged = cx.reshaped(arranged, &dims)?;
    cx.copy(arranged, out)
}

/// Adds the gradients of heads that share one.
fn add_shared(cx: &mut Cx<'_>, view: View, shared: usize) -> Result<View, Refusal> {
    let &[batch, heads, length, width] = view.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    if shared == 1 {
        return Ok(view);
    }
    let split = cx.reshaped(view, &[batch, heads / shared, shared, length, width])?;
    let out = cx.temporary(view.dtype(), &[batch, heads / shared, length, width])?;
    reduce(cx, "ReduceSum", split, &[2], false, out)?;
    Ok(out)
}

pub(crate) fn attention_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let heads = Heads::of(cx)?;
    let gradient = cx.tensor("dy")?;
    let parts = scores(cx, &heads, "keyIn", "pseShiftOptional")?;
    let (compute, all) = (parts.compute, parts.scores.dims().to_vec());
    let gradient = heads.view(cx, gradient, None)?;
    let gradient = cx.cast(gradient, compute)?;
    let shares = cx.temporary(compute, &all)?;
    let attrs = Attrs::new().with("axes", vec![3i64]);
    cx.op("SoftmaxV2", &[parts.scores.into()], &attrs, &[shares])?;
    let to_value = cx.temporary(compute, parts.value.dims())?;
    multiply(cx, shares.transpose(2, 3), gradient, to_value)?;
    let to_shares = cx.temporary(compute, &all)?;
    multiply(cx, gradient, parts.value.transpose(2, 3), to_shares)?;
    let products = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(shares), Operand::Tensor(to_shares)],
        &all,
    )?;
    let sum = reduce_kept(cx, "ReduceSum", products, &[3])?;
    let distances = computed(
        cx,
        F::Sub,
        compute,
        &[Operand::Tensor(to_shares), Operand::Tensor(sum)],
        &all,
    )?;
    let to_scores = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(distances), Operand::Tensor(shares)],
        &all,
    )?;
    let scaled = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(to_scores), number(parts.scale)],
        &all,
    )?;
    let to_query = cx.temporary(compute, parts.query.dims())?;
    multiply(cx, scaled, parts.key, to_query)?;
    let to_key = cx.temporary(compute, parts.key.dims())?;
    multiply(cx, scaled.transpose(2, 3), parts.query, to_key)?;
    let (dq, dk, dv) = (cx.out("dqOut")?, cx.out("dkOut")?, cx.out("dvOut")?);
    write_heads(cx, &heads, to_query, dq)?;
    let to_key = add_shared(cx, to_key, parts.shared)?;
    write_heads(cx, &heads, to_key, dk)?;
    let to_value = add_shared(cx, to_value, parts.shared)?;
    write_heads(cx, &heads, to_value, dv)?;
    match cx.optional("dpseOut")? {
        Some(out) if !out.is_empty() => {
            cx.check_dims(&out, &all)?;
            cx.copy(scaled, out)
        }
        _ => Ok(()),
    }
}
