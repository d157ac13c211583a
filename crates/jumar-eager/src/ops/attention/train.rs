//! Attention of sequences with the statistics that its gradient needs.

use jumar_types::dtype::DataType;

use super::layout::{Further, Layout, Target};
use super::{Effects, Mask, Plan, Range, mask};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::FLOATS;
use crate::view::View;

/// The names of parameters that differ between the operators of both directions.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub key: &'static str,
    pub addend: &'static str,
    /// The ends of joined sequences, of queries and of keys.
    pub ends: Option<(&'static str, &'static str)>,
    /// Further entries of queries and keys.
    pub extra: Option<(&'static str, &'static str)>,
}

pub(super) const ENDS: Option<(&str, &str)> =
    Some(("actualSeqQLenOptional", "actualSeqKvLenOptional"));

const NAMES: Names = Names {
    key: "key",
    addend: "realShiftOptional",
    ends: None,
    extra: None,
};

pub(super) fn score(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.tensor("query")?.dtype() == DataType::Float64 {
        // Tiles are float32; this type is computed by single steps.
        return crate::ops::network::composed_attention(cx);
    }
    plan(cx, 1, NAMES)
}

pub(super) fn score_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(cx, kind, NAMES)
}

pub(super) fn variable(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(
        cx,
        1,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

pub(super) fn variable_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(
        cx,
        kind,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

pub(super) fn variable_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    let names = Names {
        ends: ENDS,
        extra: Some(("queryRope", "keyRope")),
        ..NAMES
    };
    plan(cx, kind, names)
}

pub(super) fn variable_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    check_statistics_layout(cx, "softmaxOutLayout")?;
    plan(
        cx,
        1,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

/// Refuses orders of the statistics other than the one of the queries.
pub(super) fn check_statistics_layout(cx: &Cx<'_>, param: &str) -> Result<(), Refusal> {
    match cx.text(param)? {
        "" | "same_as_input" => Ok(()),
        other => Err(cx.invalid(format_args!(
            "{param} is {other:?}; it must be empty or \"same_as_input\""
        ))),
    }
}

/// Refuses tensors and numbers whose effect is not computed.
fn check_absent(cx: &Cx<'_>) -> Result<(), Refusal> {
    let padding = cx.optional("paddingMaskOptional")?;
    if padding.is_some_and(|mask| !mask.is_empty()) {
        return Err(
            cx.unsupported("paddingMaskOptional: attention with a padding mask is not supported")
        );
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

/// The operands that both directions read. Tensors are seen as batch, heads, length, width.
pub(super) struct Operands {
    pub layout: Layout,
    pub query: View,
    pub key: View,
    pub value: View,
    pub extra: Option<(View, View)>,
    pub ranges: Vec<Range>,
    pub addend: Option<View>,
    pub addend_scaled: bool,
    pub effects: Effects,
    pub mask: Mask,
    pub scale: f64,
}

impl Operands {
    /// Reads and checks the operands of a call. `kind` is its `pseType`.
    pub fn new(cx: &mut Cx<'_>, kind: i64, names: Names) -> Result<Operands, Refusal> {
        check_absent(cx)?;
        let addend_scaled = match kind {
            1 => true,
            0 | 2 => false,
            3 => {
                return Err(cx.unsupported(
                    "pseType 3 is not supported: the documents do not state its formula",
                ));
            }
            other => {
                return Err(cx.invalid(format_args!(
                    "pseType is {other}; it must be between 0 and 3"
                )));
            }
        };
        let (query, key) = (cx.tensor("query")?, cx.tensor(names.key)?);
        let value = cx.tensor("value")?;
        cx.check_types(&query, FLOATS)?;
        cx.check_dtype(&key, query.dtype())?;
        cx.check_dtype(&value, query.dtype())?;
        let (layout, heads) = layout_of(cx, names.ends.is_some())?;
        let query = layout.view(cx, query, heads)?;
        let width = query.dims()[3];
        let key_heads = match layout.heads(&key) {
            Some(heads) => heads,
            None => key.dims().last().copied().unwrap_or(0) / width.max(1),
        };
        let key = layout.view(cx, key, key_heads)?;
        let value = layout.view(cx, value, key_heads)?;
        let extra = match names.extra {
            Some((of_query, of_key)) => {
                let dtype = query.dtype();
                let further = |cx: &Cx<'_>, param, of, like: &View| {
                    Ok(Further {
                        param,
                        view: cx.tensor(param)?,
                        dims: std::array::from_fn(|axis| like.dims()[axis]),
                        of,
                    })
                };
                let both = [
                    further(cx, of_query, "query", &query)?,
                    further(cx, of_key, names.key, &key)?,
                ];
                Some(layout.further(cx, dtype, both)?)
            }
            None => None,
        };
        let ranges = ranges(cx, &query, &key, names.ends)?;
        let (rows, columns) = (query.dims()[2], value.dims()[2]);
        let addend = cx
            .optional(names.addend)?
            .filter(|addend| !addend.is_empty());
        let (addend, slopes) = match (kind, addend) {
            (2, Some(view)) => (
                None,
                Some(slopes(cx, names.addend, view, (heads, ranges.len()))?),
            ),
            (2, None) => return Err(cx.null(names.addend)),
            (_, addend) => (addend, None),
        };
        let dropout = dropout(cx, heads, &ranges)?;
        if names.ends.is_some() && addend.is_some() {
            return Err(cx.unsupported(format_args!(
                "{} of joined sequences is not computed",
                names.addend
            )));
        }
        if let Some(addend) = &addend {
            cx.check_types(addend, FLOATS)?;
            let fits = matches!(addend.dims(), &[_, _, own, _] if own == rows || own == 1);
            if !fits {
                return Err(cx.unsupported(format_args!(
                    "{} has the shape {:?}; four dimensions with {rows} rows or 1 are computed",
                    names.addend,
                    addend.dims()
                )));
            }
        }
        let tokens = (cx.int("preTokens")?, cx.int("nextTokens")?);
        let mask = mask(cx, "attenMaskOptional", cx.int("sparseMode")?, tokens)?;
        if let Some(view) = mask.view
            && names.ends.is_none()
            && !view.dims().ends_with(&[rows, columns])
        {
            return Err(cx.invalid(format_args!(
                "attenMaskOptional has the shape {:?}; its last dimensions must be [{rows}, {columns}]",
                view.dims()
            )));
        }
        Ok(Operands {
            layout,
            query,
            key,
            value,
            extra,
            ranges,
            addend,
            addend_scaled,
            effects: Effects { slopes, dropout },
            mask,
            scale: cx.float("scaleValue")?,
        })
    }
}

/// Returns a slope for each sequence and head, and the distance of the first row from the first column of each sequence.
fn slopes(
    cx: &Cx<'_>,
    param: &str,
    view: View,
    (heads, sequences): (usize, usize),
) -> Result<(View, Vec<i64>), Refusal> {
    cx.check_dtype(&view, DataType::Float32)?;
    let view = match view.dims() {
        &[own] if own == heads => view.unsqueeze(0),
        &[1, own] if own == heads => view,
        &[of_batch, own] if of_batch == sequences && own == heads => view,
        dims => {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {dims:?}; pseType 2 takes a slope for each of {heads} heads, or [{sequences}, {heads}] slopes"
            )));
        }
    };
    let mut shifts = vec![0i64; sequences];
    for (name, sign) in [("qStartIdxOptional", 1), ("kvStartIdxOptional", -1)] {
        let starts = cx.optional_ints(name)?.unwrap_or(&[]);
        if starts.len() > 1 && starts.len() != sequences {
            return Err(cx.invalid(format_args!(
                "{name} is {starts:?}; one position, or one for each of {sequences} sequences, is required"
            )));
        }
        for (index, shift) in shifts.iter_mut().enumerate() {
            let start = starts.get(index).or(starts.first()).copied().unwrap_or(0);
            if !(0..=i64::from(u32::MAX)).contains(&start) {
                return Err(cx.invalid(format_args!(
                    "{name} is {starts:?}; positions from 0 to {} are required",
                    u32::MAX
                )));
            }
            *shift += sign * start;
        }
    }
    Ok((view, shifts))
}

/// Returns the bits of a dropout and the factor of what is kept.
fn dropout(
    cx: &mut Cx<'_>,
    heads: usize,
    ranges: &[Range],
) -> Result<Option<(View, f32)>, Refusal> {
    let keep = cx.float("keepProb")?;
    if !(keep > 0.0 && keep <= 1.0) {
        return Err(cx.invalid(format_args!(
            "keepProb is {keep}; it must be above 0 and at most 1"
        )));
    }
    let Some(mask) = cx
        .optional("dropMaskOptional")?
        .filter(|mask| !mask.is_empty())
    else {
        return match keep < 1.0 {
            true => Err(cx.invalid(format_args!(
                "keepProb is {keep} and dropMaskOptional is empty; pass the mask that aclnnDropoutGenMask draws"
            ))),
            false => Ok(None),
        };
    };
    cx.check_dtype(&mask, DataType::UInt8)?;
    let bits: usize = ranges.iter().map(|range| range.rows * range.columns).sum();
    let bytes = (bits * heads).div_ceil(8);
    if mask.elements() < bytes {
        return Err(cx.invalid(format_args!(
            "dropMaskOptional has {} bytes; it must have at least {bytes}, a bit for each of {} probabilities",
            mask.elements(),
            bits * heads
        )));
    }
    Ok(Some((cx.dense(mask)?, (1.0 / keep) as f32)))
}

/// Returns the order of dimensions and the number of heads of the query.
fn layout_of(cx: &Cx<'_>, joined: bool) -> Result<(Layout, usize), Refusal> {
    let (name, heads) = (cx.text("inputLayout")?, cx.int("headNum")?);
    let (layout, heads) = match (Layout::named(name), usize::try_from(heads)) {
        (Some(layout), Ok(heads)) if heads > 0 => (layout, heads),
        _ => {
            return Err(cx.invalid(format_args!(
                "inputLayout is {name:?} and headNum {heads}; BSH, SBH, BNSD, BSND or TND, and at least one head are wanted"
            )));
        }
    };
    if layout.is_joined() != joined {
        return Err(cx.unsupported(format_args!(
            "the layout {name} is not computed by this operator"
        )));
    }
    Ok((layout, heads))
}

/// Returns the rows and columns that belong together. `ends` names the parameters with the ends of joined sequences.
fn ranges(
    cx: &Cx<'_>,
    query: &View,
    key: &View,
    ends: Option<(&str, &str)>,
) -> Result<Vec<Range>, Refusal> {
    let (batch, rows, columns) = (query.dims()[0], query.dims()[2], key.dims()[2]);
    let Some((of_rows, of_columns)) = ends else {
        if key.dims()[0] != batch {
            return Err(cx.invalid(format_args!(
                "key has a batch of {}, and query of {batch}",
                key.dims()[0]
            )));
        }
        let range = |batch| Range {
            batch,
            first_row: 0,
            rows,
            table_row: 0,
            list: 0,
            key_batch: batch,
            first_column: 0,
            columns,
            bias_batch: batch,
            bias_row: 0,
        };
        cx.check_planned("the sequences of query", batch)?;
        return Ok((0..batch).map(range).collect());
    };
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
    let parts = row_parts.into_iter().zip(column_parts);
    Ok(parts
        .map(|((first_row, rows), (first_column, columns))| Range {
            batch: 0,
            first_row,
            rows,
            table_row: 0,
            list: 0,
            key_batch: 0,
            first_column,
            columns,
            bias_batch: 0,
            bias_row: 0,
        })
        .collect())
}

fn plan(cx: &mut Cx<'_>, kind: i64, names: Names) -> Result<(), Refusal> {
    let operands = Operands::new(cx, kind, names)?;
    let (layout, value_width) = (operands.layout, operands.value.dims()[3]);
    let &[batch, heads, rows, _] = operands.query.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    let out = cx.out("attentionOutOut")?;
    cx.check_types(&out, FLOATS)?;
    let target = Target::new(cx, layout, out, [batch, heads, rows, value_width])?;
    let statistics = [
        statistic(cx, layout, "softmaxMaxOut", [batch, heads, rows])?,
        statistic(cx, layout, "softmaxSumOut", [batch, heads, rows])?,
        None,
    ];
    let plan = Plan {
        query: operands.query,
        keys: vec![operands.key],
        values: vec![operands.value],
        extra: operands.extra,
        out: target.view,
        ranges: operands.ranges,
        cache: None,
        addend: operands.addend,
        addend_scaled: operands.addend_scaled,
        effects: operands.effects,
        mask: operands.mask,
        mask_param: "attenMaskOptional",
        scale: operands.scale,
        clamp: None,
        invalid_is_zero: false,
        statistics,
    };
    plan.run(cx)?;
    target.finish(cx)
}

/// Returns a tensor of statistics, which repeats each number in its last dimension, as batch, heads, length, copies.
pub(super) fn statistic(
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
