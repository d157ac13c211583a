//! Attention of sequences with the statistics that its gradient needs.

use jumar_types::dtype::DataType;

use super::layout::{Layout, Target};
use super::{Plan, Range, mask};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::fused::FLOATS;
use crate::view::View;

pub(super) fn score(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.tensor("query")?.dtype() == DataType::Float64 {
        // Tiles are float32; this type is computed by single steps.
        return crate::ops::network::composed_attention(cx);
    }
    plan(cx, 1, None)
}

pub(super) fn score_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(cx, kind, None)
}

pub(super) fn variable(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(
        cx,
        1,
        Some(("actualSeqQLenOptional", "actualSeqKvLenOptional")),
    )
}

pub(super) fn variable_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(
        cx,
        kind,
        Some(("actualSeqQLenOptional", "actualSeqKvLenOptional")),
    )
}

/// Refuses tensors and numbers whose effect is not computed.
pub(super) fn check_absent(cx: &Cx<'_>) -> Result<(), Refusal> {
    for (name, what) in [
        ("dropMaskOptional", "a dropout mask"),
        ("paddingMaskOptional", "a padding mask"),
    ] {
        if cx.optional(name)?.is_some_and(|mask| !mask.is_empty()) {
            return Err(cx.unsupported(format_args!(
                "{name}: attention with {what} is not computed"
            )));
        }
    }
    if cx
        .optional_ints("prefixOptional")?
        .is_some_and(|prefix| !prefix.is_empty())
    {
        return Err(cx.unsupported("prefixOptional is not computed"));
    }
    Ok(())
}

/// Returns the sequences that lie behind each other up to ends: their starts and lengths.
pub(super) fn joined(
    cx: &Cx<'_>,
    param: &str,
    ends: &[i64],
    length: usize,
) -> Result<Vec<(usize, usize)>, Refusal> {
    let mut start = 0i64;
    let mut parts = Vec::with_capacity(ends.len());
    for &end in ends {
        if end < start || end > length as i64 {
            return Err(cx.invalid(format_args!(
                "{param} is {ends:?}; the ends of sequences must not fall, and not lie behind {length}"
            )));
        }
        parts.push((start as usize, (end - start) as usize));
        start = end;
    }
    Ok(parts)
}

/// Plans a call. `ends` names the parameters with the ends of joined sequences.
fn plan(cx: &mut Cx<'_>, kind: i64, ends: Option<(&str, &str)>) -> Result<(), Refusal> {
    check_absent(cx)?;
    let addend_scaled = match kind {
        1 => true,
        0 => false,
        2 | 3 => {
            return Err(cx.unsupported(format_args!("pseType {kind} is not computed")));
        }
        other => {
            return Err(cx.invalid(format_args!(
                "pseType is {other}; it must be between 0 and 3"
            )));
        }
    };
    let (query, key, value) = (cx.tensor("query")?, cx.tensor("key")?, cx.tensor("value")?);
    cx.check_types(&query, FLOATS)?;
    cx.check_dtype(&key, query.dtype())?;
    cx.check_dtype(&value, query.dtype())?;
    let (name, heads) = (cx.text("inputLayout")?.to_owned(), cx.int("headNum")?);
    let (layout, heads) = match (Layout::named(&name), usize::try_from(heads)) {
        (Some(layout), Ok(heads)) if heads > 0 => (layout, heads),
        _ => {
            return Err(cx.invalid(format_args!(
                "inputLayout is {name:?} and headNum {heads}; BSH, SBH, BNSD, BSND or TND, and at least one head are wanted"
            )));
        }
    };
    if layout.is_joined() != ends.is_some() {
        return Err(cx.unsupported(format_args!(
            "the layout {name} is not computed by this operator"
        )));
    }
    let query = layout.view(cx, query, heads)?;
    let width = query.dims()[3];
    let key_heads = match layout.heads(&key) {
        Some(heads) => heads,
        None => key.dims().last().copied().unwrap_or(0) / width.max(1),
    };
    let key = layout.view(cx, key, key_heads)?;
    let value = layout.view(cx, value, key_heads)?;
    let (&[batch, _, rows, _], &[_, _, columns, value_width]) = (query.dims(), value.dims()) else {
        return Err(cx.defect("heads have four dimensions"));
    };
    let ranges: Vec<Range> = match ends {
        None if key.dims()[0] != batch => {
            return Err(cx.invalid(format_args!(
                "key has a batch of {}, and query of {batch}",
                key.dims()[0]
            )));
        }
        None => (0..batch)
            .map(|batch| Range {
                batch,
                first_row: 0,
                rows,
                table_row: 0,
                list: 0,
                key_batch: batch,
                first_column: 0,
                columns,
            })
            .collect(),
        Some((of_rows, of_columns)) => {
            let (row_ends, column_ends) = (cx.ints(of_rows)?, cx.ints(of_columns)?);
            if row_ends.len() != column_ends.len() {
                return Err(cx.invalid(format_args!(
                    "{of_rows} has {} entries and {of_columns} {}; both have one for each sequence",
                    row_ends.len(),
                    column_ends.len()
                )));
            }
            let row_parts = joined(cx, of_rows, row_ends, rows)?;
            let column_parts = joined(cx, of_columns, column_ends, columns)?;
            row_parts
                .into_iter()
                .zip(column_parts)
                .map(|((first_row, rows), (first_column, columns))| Range {
                    batch: 0,
                    first_row,
                    rows,
                    table_row: 0,
                    list: 0,
                    key_batch: 0,
                    first_column,
                    columns,
                })
                .collect()
        }
    };
    let addend = cx
        .optional("realShiftOptional")?
        .filter(|addend| !addend.is_empty());
    if ends.is_some() && addend.is_some() {
        return Err(cx.unsupported("realShiftOptional of joined sequences is not computed"));
    }
    if let Some(addend) = &addend {
        cx.check_types(addend, FLOATS)?;
        let fits = matches!(addend.dims(), &[_, _, own, _] if own == rows || own == 1);
        if !fits {
            return Err(cx.unsupported(format_args!(
                "realShiftOptional has the shape {:?}; four dimensions with {rows} rows or 1 are computed",
                addend.dims()
            )));
        }
    }
    let tokens = (cx.int("preTokens")?, cx.int("nextTokens")?);
    let mask = mask(cx, "attenMaskOptional", cx.int("sparseMode")?, tokens)?;
    if let Some(view) = mask.view
        && ends.is_none()
        && !view.dims().ends_with(&[rows, columns])
    {
        return Err(cx.invalid(format_args!(
            "attenMaskOptional has the shape {:?}; its last dimensions must be [{rows}, {columns}]",
            view.dims()
        )));
    }
    let out = cx.out("attentionOutOut")?;
    cx.check_types(&out, FLOATS)?;
    let target = Target::new(cx, layout, out, [batch, heads, rows, value_width])?;
    let statistics = [
        statistic(cx, layout, "softmaxMaxOut", [batch, heads, rows])?,
        statistic(cx, layout, "softmaxSumOut", [batch, heads, rows])?,
        None,
    ];
    let plan = Plan {
        query,
        keys: vec![key],
        values: vec![value],
        extra: None,
        out: target.view,
        ranges,
        cache: None,
        addend,
        addend_scaled,
        mask,
        mask_param: "attenMaskOptional",
        scale: cx.float("scaleValue")?,
        invalid_is_zero: false,
        statistics,
    };
    plan.run(cx)?;
    target.finish(cx)
}

/// Returns an output of statistics, which repeats each number in its last dimension, as batch, heads, length, copies.
fn statistic(
    cx: &Cx<'_>,
    layout: Layout,
    param: &str,
    [batch, heads, rows]: [usize; 3],
) -> Result<Option<View>, Refusal> {
    let Some(out) = cx.optional(param)?.filter(|out| !out.is_empty()) else {
        return Ok(None);
    };
    cx.check_dtype(&out, DataType::Float32)?;
    match (layout.is_joined(), out.dims()) {
        (false, &[own, own_heads, own_rows, _]) if [own, own_heads, own_rows] == [batch, heads, rows] => {
            Ok(Some(out))
        }
        (true, &[own_rows, own_heads, _]) if [own_heads, own_rows] == [heads, rows] => {
            Ok(Some(out.transpose(0, 1).unsqueeze(0)))
        }
        _ => Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; one row of copies for each of {heads} heads and {rows} rows is wanted",
            out.dims()
        ))),
    }
}
