//! Attention for inference: of prompts, and of new tokens over caches of keys and values.

use jumar_types::dtype::DataType;

use super::layout::{Further, Layout, Target};
use super::train::joined;
use super::{Cache, Effects, Mask, Plan, Range, Rule, mask};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::FLOATS;
use crate::view::View;

/// The names under which an operator has its parameters. An empty name: it has none.
struct Names {
    addend: &'static str,
    mask: &'static str,
    rows: &'static str,
    columns: &'static str,
    table: &'static str,
    /// Tensors whose effect is not computed.
    absent: &'static [&'static str],
    has_sparse_mode: bool,
    has_tokens: bool,
    lists: bool,
}

const QUANTISED: &[&str] = &[
    "deqScale1",
    "quantScale1",
    "deqScale2",
    "quantScale2",
    "quantOffset2",
];

const INCREMENTAL: &[&str] = &[
    "dequantScale1",
    "quantScale1",
    "dequantScale2",
    "quantScale2",
    "quantOffset2",
    "antiquantScale",
    "antiquantOffset",
    "kvPaddingSize",
];

const FUSED: &[&str] = &[
    "deqScale1",
    "quantScale1",
    "deqScale2",
    "quantScale2",
    "quantOffset2",
    "antiquantScale",
    "antiquantOffset",
    "queryPaddingSize",
    "kvPaddingSize",
];

const FUSED_OPTIONAL: &[&str] = &[
    "deqScale1Optional",
    "quantScale1Optional",
    "deqScale2Optional",
    "quantScale2Optional",
    "quantOffset2Optional",
    "antiquantScaleOptional",
    "antiquantOffsetOptional",
    "queryPaddingSizeOptional",
    "kvPaddingSizeOptional",
    "keyAntiquantScaleOptional",
    "keyAntiquantOffsetOptional",
    "valueAntiquantScaleOptional",
    "valueAntiquantOffsetOptional",
    "keySharedPrefixOptional",
    "valueSharedPrefixOptional",
    "keyRopeAntiquantScaleOptional",
    "dequantScaleQueryOptional",
    "learnableSinkOptional",
];

const PROMPT: Names = Names {
    addend: "pseShift",
    mask: "attenMask",
    rows: "actualSeqLengths",
    columns: "actualSeqLengthsKv",
    table: "",
    absent: QUANTISED,
    has_sparse_mode: true,
    has_tokens: true,
    lists: false,
};

const INCRE: Names = Names {
    addend: "pseShift",
    mask: "attenMask",
    rows: "",
    columns: "actualSeqLengths",
    table: "",
    absent: INCREMENTAL,
    has_sparse_mode: false,
    has_tokens: false,
    lists: true,
};

const FUSED_NEW: Names = Names {
    addend: "pseShiftOptional",
    mask: "attenMaskOptional",
    rows: "actualSeqLengthsOptional",
    columns: "actualSeqLengthsKvOptional",
    table: "blockTableOptional",
    absent: FUSED_OPTIONAL,
    has_sparse_mode: true,
    has_tokens: true,
    lists: true,
};

pub(super) fn prompt(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx
        .optional_ints("actualSeqLengths")?
        .is_some_and(|lengths| !lengths.is_empty())
    {
        return Err(cx.unsupported(
            "actualSeqLengths is not supported: what its entries count is not documented",
        ));
    }
    let names = Names {
        columns: "",
        has_sparse_mode: false,
        absent: &[],
        ..PROMPT
    };
    plan(cx, &names)
}

pub(super) fn prompt_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &PROMPT)
}

pub(super) fn prompt_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &PROMPT)
}

pub(super) fn incremental(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &INCRE)
}

pub(super) fn incremental_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &INCRE)
}

pub(super) fn incremental_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let names = Names {
        table: "blocktable",
        ..INCRE
    };
    plan(cx, &names)
}

pub(super) fn incremental_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    incremental_v3(cx)
}

pub(super) fn fused(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let names = Names {
        addend: "pseShift",
        mask: "attenMask",
        rows: "actualSeqLengths",
        columns: "actualSeqLengthsKv",
        table: "blockTable",
        absent: FUSED,
        ..FUSED_NEW
    };
    plan(cx, &names)
}

pub(super) fn fused_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &FUSED_NEW)
}

pub(super) fn fused_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &FUSED_NEW)
}

pub(super) fn fused_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, &FUSED_NEW)
}

/// Reports whether an operator has a parameter.
fn has(cx: &Cx<'_>, param: &str) -> bool {
    cx.params().iter().any(|own| own.name == param)
}

/// Returns a tensor of an operator that may not have the parameter.
fn given(cx: &Cx<'_>, param: &str) -> Result<Option<View>, Refusal> {
    match has(cx, param) {
        true => Ok(cx.optional(param)?.filter(|view| !view.is_empty())),
        false => Ok(None),
    }
}

fn lengths<'c>(cx: &'c Cx<'_>, param: &str) -> Result<Option<&'c [i64]>, Refusal> {
    match has(cx, param) {
        true => Ok(cx.optional_ints(param)?.filter(|values| !values.is_empty())),
        false => Ok(None),
    }
}

/// Returns the length of each sequence of a batch: as given, once for all, or its limit. Each has a limit of its own.
fn each_length(cx: &Cx<'_>, param: &str, limits: &[usize]) -> Result<Vec<usize>, Refusal> {
    let Some(values) = lengths(cx, param)? else {
        return Ok(limits.to_vec());
    };
    if values.len() != 1 && values.len() < limits.len() {
        return Err(cx.invalid(format_args!(
            "{param} has {} entries; expected 1 or {}",
            values.len(),
            limits.len()
        )));
    }
    let lengths = limits.iter().enumerate().map(|(index, &limit)| {
        let value = if values.len() == 1 {
            values[0]
        } else {
            values[index]
        };
        let length = usize::try_from(value).ok().filter(|&value| value <= limit);
        length.ok_or_else(|| {
            cx.invalid(format_args!(
                "{param} has the entry {value}; the length of sequence {index} must be between 0 and {limit}"
            ))
        })
    });
    lengths.collect()
}

/// The layouts of the inputs and of the result.
fn layouts(cx: &Cx<'_>) -> Result<(Layout, Layout), Refusal> {
    let name = cx.text("inputLayout")?;
    let (input, output) = name.split_once('_').unwrap_or((name, name));
    match (Layout::named(input), Layout::named(output)) {
        (Some(input), Some(output)) if input.is_joined() == output.is_joined() && input != Layout::Nbsd => Ok((input, output)),
        _ => Err(cx.invalid(format_args!(
            "inputLayout is {name:?}; expected BSH, BSND, BNSD, TND, NTD, or two of them with an underscore between them, of which the second may be NBSD"
        ))),
    }
}

fn heads(cx: &Cx<'_>) -> Result<(usize, usize), Refusal> {
    let (own, keys) = (cx.int("numHeads")?, cx.int("numKeyValueHeads")?);
    match (usize::try_from(own), usize::try_from(keys)) {
        (Ok(own), Ok(0)) if own > 0 => Ok((own, own)),
        (Ok(own), Ok(keys)) if own > 0 && own % keys == 0 => Ok((own, keys)),
        _ => Err(cx.invalid(format_args!(
            "{own} heads of the query (numHeads) cannot share {keys} of the key (numKeyValueHeads)"
        ))),
    }
}

/// Returns keys or values: one tensor, or one for each entry of the batch.
fn list(cx: &Cx<'_>, param: &str, lists: bool) -> Result<Vec<View>, Refusal> {
    let found = match lists {
        true => cx.tensors(param)?,
        false => vec![cx.tensor(param)?],
    };
    match found.is_empty() {
        true => Err(cx.null(param)),
        false => Ok(found),
    }
}

/// Views a cache of pages as page, heads, row, width.
fn paged(cx: &mut Cx<'_>, view: View, heads: usize, size: usize) -> Result<View, Refusal> {
    let found = match *view.dims() {
        [_, own_heads, rows, _] if own_heads == heads && rows == size => Some(view),
        [pages, rows, all] if rows == size && heads > 0 && all.is_multiple_of(heads) => {
            let split = cx.reshaped(view, &[pages, rows, heads, all / heads])?;
            Some(split.transpose(1, 2))
        }
        _ => None,
    };
    found.ok_or_else(|| {
        cx.invalid(format_args!(
            "{} has the shape {:?}; expected pages of {size} rows for {heads} heads",
            cx.param_of(&view),
            view.dims()
        ))
    })
}

/// The sequences of a call.
fn ranges(
    cx: &Cx<'_>,
    names: &Names,
    joined_layout: bool,
    query: &View,
    keys: &[View],
    cache: Option<&Cache>,
) -> Result<Vec<Range>, Refusal> {
    let (batch, rows) = (query.dims()[0], query.dims()[2]);
    let limit = match cache {
        Some(cache) => cache.table.dims()[1].saturating_mul(cache.size),
        None => keys[0].dims()[2],
    };
    if joined_layout {
        let Some(ends) = lengths(cx, names.rows)? else {
            return Err(cx.invalid(format_args!(
                "{} is null; joined sequences have ends",
                names.rows
            )));
        };
        let row_parts = joined(cx, names.rows, ends, rows)?;
        let column_parts = match (cache, lengths(cx, names.columns)?) {
            (None, Some(ends)) => joined(cx, names.columns, ends, limit)?,
            (None, None) => {
                return Err(cx.invalid(format_args!(
                    "{} is null; joined sequences have ends",
                    names.columns
                )));
            }
            (Some(_), _) => each_length(cx, names.columns, &vec![limit; row_parts.len()])?
                .into_iter()
                .map(|length| (0, length))
                .collect(),
        };
        if row_parts.len() != column_parts.len() {
            return Err(cx.invalid(format_args!(
                "{} has {} entries and {} has {}; both have one for each sequence",
                names.rows,
                row_parts.len(),
                names.columns,
                column_parts.len()
            )));
        }
        // The table of pages has a row for each sequence.
        let parts = row_parts.into_iter().zip(column_parts);
        return Ok(parts
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
            .collect());
    }
    cx.check_planned("the sequences of query", batch)?;
    let row_lengths = each_length(cx, names.rows, &vec![rows; batch])?;
    let limits: Vec<usize> = match (cache, keys.len()) {
        (Some(_), _) | (None, 1) => vec![limit; batch],
        (None, _) => keys.iter().map(|key| key.dims()[2]).collect(),
    };
    let column_lengths = each_length(cx, names.columns, &limits)?;
    let lengths = row_lengths.into_iter().zip(column_lengths);
    let mut found = Vec::with_capacity(batch);
    for (index, (rows, columns)) in lengths.enumerate() {
        let (list, key_batch) = match keys.len() {
            1 => (0, index),
            _ => (index, 0),
        };
        found.push(Range {
            batch: index,
            first_row: 0,
            rows,
            table_row: index,
            list,
            key_batch: if cache.is_some() { 0 } else { key_batch },
            first_column: 0,
            columns,
            bias_batch: index,
            bias_row: 0,
        });
    }
    Ok(found)
}

fn plan(cx: &mut Cx<'_>, names: &Names) -> Result<(), Refusal> {
    for name in names.absent {
        if given(cx, name)?.is_some() {
            return Err(cx.unsupported(format_args!("attention with {name} is not supported")));
        }
    }
    let (query, out) = (cx.tensor("query")?, cx.out("attentionOut")?);
    cx.check_types(&query, FLOATS)?;
    cx.check_types(&out, FLOATS)?;
    let (layout, out_layout) = layouts(cx)?;
    let (heads, key_heads) = heads(cx)?;
    let (mut keys, mut values) = (
        list(cx, "key", names.lists)?,
        list(cx, "value", names.lists)?,
    );
    for view in keys.iter().chain(&values) {
        cx.check_dtype(view, query.dtype())?;
    }
    let query = layout.view(cx, query, heads)?;
    let batch = query.dims()[0];
    if keys.len() != values.len() || (keys.len() != 1 && keys.len() != batch) {
        return Err(cx.invalid(format_args!(
            "key has {} tensors and value {}; both have one, or one for each of {batch} entries of the batch",
            keys.len(),
            values.len()
        )));
    }
    let table = given(cx, names.table)?;
    let cache = match table {
        Some(table) => {
            cx.check_dtype(&table, DataType::Int32)?;
            let size = cx.int("blockSize")?;
            let (Ok(size), 2) = (usize::try_from(size), table.rank()) else {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {:?} and blockSize is {size}; expected two dimensions and pages with rows",
                    names.table,
                    table.dims()
                )));
            };
            if size == 0 || keys.len() != 1 || lengths(cx, names.columns)?.is_none() {
                return Err(cx.invalid(format_args!(
                    "blockSize is {size} and {} null or empty; pages have rows, and sequences in them lengths",
                    names.columns
                )));
            }
            Some(Cache { table, size })
        }
        None => None,
    };
    for view in keys.iter_mut().chain(values.iter_mut()) {
        *view = match &cache {
            Some(cache) => paged(cx, *view, key_heads, cache.size)?,
            None => layout.view(cx, *view, key_heads)?,
        };
    }
    if cache.is_none() && keys.len() == 1 && keys[0].dims()[0] != batch {
        return Err(cx.invalid(format_args!(
            "key has a batch of {}, and query of {batch}",
            keys[0].dims()[0]
        )));
    }
    if keys.len() > 1
        && let Some(index) = keys.iter().position(|key| key.dims()[0] != 1)
    {
        return Err(cx.invalid(format_args!(
            "key[{index}] has a batch of {}; a list has a tensor for each entry of the batch",
            keys[index].dims()[0]
        )));
    }
    let mut found = ranges(cx, names, layout.is_joined(), &query, &keys, cache.as_ref())?;
    if let Some(cache) = &cache {
        if cache.table.dims()[0] < found.len() {
            return Err(cx.invalid(format_args!(
                "{} has {} rows; expected one for each of {} sequences",
                names.table,
                cache.table.dims()[0],
                found.len()
            )));
        }
        if layout.is_joined() {
            // The row of the table goes by the sequence.
            for (index, range) in found.iter_mut().enumerate() {
                range.list = 0;
                range.key_batch = 0;
                range.table_row = index;
            }
        }
    }
    let extra = extra(cx, layout, &query, &keys, cache.as_ref())?;
    let value_width = values[0].dims()[3];
    let target = Target::new(
        cx,
        out_layout,
        out,
        [batch, heads, query.dims()[2], value_width],
    )?;
    let tokens = match names.has_tokens {
        true => (cx.int("preTokens")?, cx.int("nextTokens")?),
        false => (0, 0),
    };
    let mask = masked(cx, names, tokens, query.dims()[2])?;
    let addend = given(cx, names.addend)?;
    if let Some(addend) = &addend {
        cx.check_types(addend, FLOATS)?;
        if layout.is_joined() {
            return Err(cx.unsupported(format_args!(
                "{} of joined sequences is not supported",
                names.addend
            )));
        }
    }
    let log_sum = match has(cx, "softmaxLseFlag") && cx.flag("softmaxLseFlag")? {
        true => Some(log_sum(cx, layout, [batch, heads, query.dims()[2]])?),
        false => None,
    };
    let invalid_is_zero = has(cx, "innerPrecise") && matches!(cx.int("innerPrecise")?, 2 | 3);
    let plan = Plan {
        query,
        keys,
        values,
        extra,
        out: target.view,
        ranges: found,
        cache,
        addend,
        addend_scaled: false,
        effects: Effects::default(),
        mask,
        mask_param: names.mask,
        scale: cx.float("scaleValue")?,
        clamp: None,
        invalid_is_zero,
        statistics: [None, None, log_sum],
    };
    plan.run(cx)?;
    target.finish(cx)
}

/// The parts of queries and keys that hold their positions.
fn extra(
    cx: &mut Cx<'_>,
    layout: Layout,
    query: &View,
    keys: &[View],
    cache: Option<&Cache>,
) -> Result<Option<(View, View)>, Refusal> {
    let (of_query, of_keys) = match (
        given(cx, "queryRopeOptional")?,
        given(cx, "keyRopeOptional")?,
    ) {
        (Some(query), Some(key)) => (query, key),
        (None, None) => return Ok(None),
        (query, _) => {
            let (one, other) = match query {
                Some(_) => ("queryRopeOptional", "keyRopeOptional"),
                None => ("keyRopeOptional", "queryRopeOptional"),
            };
            return Err(cx.invalid(format_args!(
                "{one} is a tensor and {other} is null or empty; pass both or neither"
            )));
        }
    };
    if let Some(cache) = cache {
        return extra_in_pages(
            cx,
            (layout, query, &keys[0]),
            (of_query, of_keys),
            cache.size,
        )
        .map(Some);
    }
    // One tensor belongs to all keys of a list, and is as long as the longest.
    let longest = keys.iter().map(|key| key.dims()[2]).max().unwrap_or(0);
    let key_batch = match keys.len() {
        1 => keys[0].dims()[0],
        count => count,
    };
    let both = [
        Further {
            param: "queryRopeOptional",
            view: of_query,
            dims: std::array::from_fn(|axis| query.dims()[axis]),
            of: "query",
        },
        Further {
            param: "keyRopeOptional",
            view: of_keys,
            dims: [key_batch, keys[0].dims()[1], longest],
            of: "key",
        },
    ];
    layout.further(cx, query.dtype(), both).map(Some)
}

/// As [`extra`], where keys and their positions are in the same pages.
fn extra_in_pages(
    cx: &mut Cx<'_>,
    (layout, query, key): (Layout, &View, &View),
    (of_query, of_keys): (View, View),
    size: usize,
) -> Result<(View, View), Refusal> {
    for view in [of_query, of_keys] {
        cx.check_dtype(&view, query.dtype())?;
    }
    let of_query = layout.view(cx, of_query, query.dims()[1])?;
    let of_keys = paged(cx, of_keys, key.dims()[1], size)?;
    if of_query.dims()[..3] != query.dims()[..3] {
        return Err(cx.invalid(format_args!(
            "queryRopeOptional has a batch of {}, {} heads and the length {}; it must have those of query, {:?}",
            of_query.dims()[0],
            of_query.dims()[1],
            of_query.dims()[2],
            &query.dims()[..3]
        )));
    }
    if of_keys.dims()[0] != key.dims()[0] || of_keys.dims()[3] != of_query.dims()[3] {
        return Err(cx.invalid(format_args!(
            "keyRopeOptional has {} pages of {} entries for each row; key has {} pages, and queryRopeOptional {} entries",
            of_keys.dims()[0],
            of_keys.dims()[3],
            key.dims()[0],
            of_query.dims()[3]
        )));
    }
    Ok((of_query, of_keys))
}

/// Reads the mask. The one of a single row names columns alone.
fn masked(cx: &Cx<'_>, names: &Names, tokens: (i64, i64), rows: usize) -> Result<Mask, Refusal> {
    let mode = match names.has_sparse_mode {
        true => cx.int("sparseMode")?,
        false if names.has_tokens => 0,
        false => 1,
    };
    // One row is at the end of its sequence: all that a causal rule says of it is that it sees everything.
    let mut found = mask(cx, names.mask, mode, tokens)?;
    if rows == 1 && mode != 4 {
        found.rule = Rule::All;
    }
    if let Some(view) = found.view
        && rows == 1
        && view.rank() == 2
    {
        // Batch and columns.
        found.view = Some(view.unsqueeze(1).unsqueeze(1));
    }
    Ok(found)
}

fn log_sum(cx: &Cx<'_>, layout: Layout, [batch, heads, rows]: [usize; 3]) -> Result<View, Refusal> {
    let out = cx.out("softmaxLse")?;
    cx.check_dtype(&out, DataType::Float32)?;
    let wanted = match layout.is_joined() {
        true => vec![rows, heads, 1],
        false => vec![batch, heads, rows, 1],
    };
    cx.check_dims(&out, &wanted)?;
    Ok(match layout.is_joined() {
        true => out.transpose(0, 1).unsqueeze(0),
        false => out,
    })
}
