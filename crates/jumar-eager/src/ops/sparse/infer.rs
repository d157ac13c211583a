//! The operator for inference: keys and values in pages.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::kernels::{Attend, Choose, Chosen, Importance, MaskRule, Sequence, Shape};
use super::{positive, windows};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::{dense, index};
use crate::view::View;

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// Tokens of a sequence that lie in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub sequence: usize,
    pub first: usize,
    pub count: usize,
}

/// Lists the rows of pages that parts of sequences consist of. Input: the pages of each sequence, dense int64. Output: rows of the cache,
/// int64.
pub(crate) struct PageRows {
    pub operator: &'static str,
    pub parts: Vec<Part>,
    /// Pages that a sequence can have, pages of the cache, and tokens of a page.
    pub columns: usize,
    pub pages: usize,
    pub size: usize,
}

impl Kernel for PageRows {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (table, out) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mut next = 0;
        for part in &self.parts {
            for token in part.first..part.first + part.count {
                let (column, sequence) = (token / self.size, part.sequence);
                let page = table.get(sequence * self.columns + column);
                let Some(own) = usize::try_from(page).ok().filter(|own| *own < self.pages) else {
                    let text = format!(
                        "{}: blockTableOptional[{sequence}][{column}] is {page}; it must be between 0 and {}",
                        self.operator,
                        self.pages as i64 - 1
                    );
                    return Err(OpError::new(OpErrorKind::Data, text));
                };
                out.set(next, (own * self.size + token % self.size) as i64);
                next += 1;
            }
        }
        Ok(())
    }
}

/// Returns a cache of pages as rows of heads and entries.
fn cache(
    cx: &mut Cx<'_>,
    param: &str,
    heads: usize,
    size: usize,
) -> Result<(View, usize), Refusal> {
    let view = cx.tensor(param)?;
    let (pages, width) = match view.dims() {
        &[pages, own, other, width] if own == size && other == heads => (pages, width),
        &[pages, own, all] if own == size && all.is_multiple_of(heads) => (pages, all / heads),
        dims => {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {dims:?}; expected pages of {size} tokens with {heads} heads"
            )));
        }
    };
    let rows = cx.reshaped(view, &[pages * size, heads * width])?;
    Ok((rows, width))
}

/// Returns the queries of each sequence as parts of all: of a batch, or joined. Lengths of joined sequences are their own, or their ends:
/// the document does not say which.
fn queries(cx: &Cx<'_>, dims: &[usize], batch: usize) -> Result<Vec<(usize, usize)>, Refusal> {
    let lens = cx.optional_ints("actualQSeqLenOptional")?;
    cx.check_planned("the sequences of blockTableOptional", batch)?;
    if let &[sequences, len] = dims {
        if sequences != batch {
            return Err(cx.invalid(format_args!(
                "query has {sequences} sequences and blockTableOptional {batch}; both must be equal"
            )));
        }
        let of = |sequence: usize| match lens.and_then(|lens| lens.get(sequence)) {
            Some(&own) => usize::try_from(own).unwrap_or(usize::MAX),
            None => len,
        };
        if (0..batch).any(|sequence| of(sequence) > len) {
            return Err(cx.invalid(format_args!(
                "actualQSeqLenOptional is {lens:?}; no sequence has more than {len} queries"
            )));
        }
        return Ok((0..batch)
            .map(|sequence| (sequence * len, sequence * len + of(sequence)))
            .collect());
    }
    let tokens = dims.iter().product::<usize>() as i64;
    let Some(lens) = lens else {
        return Err(cx.null("actualQSeqLenOptional"));
    };
    let sum = lens.iter().fold(0i64, |sum, len| sum.saturating_add(*len));
    let is_ends = sum != tokens;
    let mut start = 0i64;
    let mut parts = Vec::with_capacity(lens.len());
    for &len in lens {
        let end = if is_ends {
            len
        } else {
            start.saturating_add(len)
        };
        if end < start || end > tokens {
            break;
        }
        parts.push((start as usize, end as usize));
        start = end;
    }
    match parts.len() == batch && lens.len() == batch && start == tokens {
        true => Ok(parts),
        false => Err(cx.invalid(format_args!(
            "actualQSeqLenOptional is {lens:?}; it must divide {tokens} queries among {batch} sequences"
        ))),
    }
}

/// What both operators read: queries, and the keys and values of each sequence, which lie in pages.
struct Operands {
    query: View,
    out: View,
    /// The dimensions of the queries before heads and entries.
    outer: Vec<usize>,
    shape: Shape,
    /// Pages, and the rows of all sequences in them.
    key: View,
    value: View,
    table: View,
    pages: PageRows,
}

/// Reads the operands. `layouts` lists the layouts of the queries, `lens` is the parameter with the lengths of the keys.
fn operands(cx: &mut Cx<'_>, layouts: &[&str], lens: &str) -> Result<Operands, Refusal> {
    let (query, out) = (cx.tensor("query")?, cx.out("output")?);
    cx.check_types(&query, HALVES)?;
    for param in ["key", "value", "output"] {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, query.dtype())?;
    }
    let (heads, key_heads) = (positive(cx, "numHeads")?, positive(cx, "numKeyValueHeads")?);
    if !heads.is_multiple_of(key_heads) {
        return Err(cx.invalid(format_args!(
            "numHeads is {heads}; it must be a multiple of numKeyValueHeads, {key_heads}"
        )));
    }
    let page = positive(cx, "pageBlockSize")?;
    let (key, width) = cache(cx, "key", key_heads, page)?;
    let (value, value_width) = cache(cx, "value", key_heads, page)?;
    if key.dims()[0] != value.dims()[0] {
        return Err(cx.invalid(format_args!(
            "key has {} pages and value {}; both must have as many",
            key.dims()[0],
            value.dims()[0]
        )));
    }
    let layout = match cx.text("layoutOptional")? {
        "" => "BSND",
        layout => layout,
    };
    let joined = match (layout, query.dims()) {
        ("BSND", &[_, _, own, other]) => own == heads && other == width,
        ("BSH", &[_, _, all]) => all == heads * width,
        ("TND", &[_, own, other]) => own == heads && other == width,
        _ => false,
    };
    if !layouts.contains(&layout) {
        return Err(cx.invalid(format_args!(
            "layoutOptional is {layout:?}; it must be one of {layouts:?}"
        )));
    }
    if !joined {
        return Err(cx.invalid(format_args!(
            "query has the shape {:?}; it does not belong to the layout {layout} with {heads} heads of {width} entries",
            query.dims()
        )));
    }
    let outer = query.dims()[..if layout == "TND" { 1 } else { 2 }].to_vec();
    let mut wanted = outer.clone();
    match layout {
        "BSH" => wanted.push(heads * value_width),
        _ => wanted.extend([heads, value_width]),
    }
    cx.check_dims(&out, &wanted)?;
    let table = cx.tensor("blockTableOptional")?;
    cx.check_dtype(&table, DataType::Int32)?;
    let &[batch, columns] = table.dims() else {
        return Err(cx.invalid(format_args!(
            "blockTableOptional has the shape {:?}; expected two dimensions",
            table.dims()
        )));
    };
    let given = cx.ints(lens)?;
    let parts: Vec<Part> = given
        .iter()
        .filter_map(|&len| usize::try_from(len).ok())
        .filter(|len| len.div_ceil(page) <= columns)
        .enumerate()
        .map(|(sequence, count)| Part {
            sequence,
            first: 0,
            count,
        })
        .collect();
    if parts.len() != batch || given.len() != batch {
        return Err(cx.invalid(format_args!(
            "{lens} is {given:?}; it must have a length for each of {batch} sequences, of at most {columns} pages"
        )));
    }
    let mut start = 0;
    let sequences = parts.iter().map(|part| {
        let key = (start, start + part.count);
        start += part.count;
        Sequence { query: (0, 0), key }
    });
    let shape = Shape {
        sequences: sequences.collect(),
        heads,
        key_heads,
        width,
        value_width,
        scale: cx.float("scaleValue")?,
        masked: MaskRule::None,
    };
    let pages = PageRows {
        operator: cx.name(),
        parts,
        columns,
        pages: key.dims()[0] / page,
        size: page,
    };
    Ok(Operands {
        query,
        out,
        outer,
        shape,
        key,
        value,
        table,
        pages,
    })
}

impl Operands {
    fn tokens(&self) -> usize {
        self.outer.iter().product()
    }

    /// Returns the dimensions of what each query and head of the keys has `count` of.
    fn by_head(&self, count: usize) -> Vec<usize> {
        let mut dims = self.outer.clone();
        dims.extend([self.shape.key_heads, count]);
        dims
    }

    /// Plans the attention to the chosen blocks, or to all keys, whose importance is added up.
    fn attend(
        self,
        cx: &mut Cx<'_>,
        chosen: Option<(View, Chosen)>,
        importance: Option<(View, Importance)>,
    ) -> Result<(), Refusal> {
        let (tokens, compute) = (self.tokens(), DataType::Float32);
        let Shape {
            heads,
            key_heads,
            width,
            value_width,
            ..
        } = self.shape;
        let total = self.pages.parts.iter().map(|part| part.count).sum();
        let rows = cx.temporary(DataType::Int64, &[total])?;
        let (key, value) = (
            cx.temporary(self.key.dtype(), &[total, key_heads * width])?,
            cx.temporary(self.key.dtype(), &[total, key_heads * value_width])?,
        );
        if total > 0 {
            let table = cx.cast(self.table, DataType::Int64)?;
            let table = cx.dense(table)?;
            cx.kernel(Box::new(self.pages), &[Some(table)], &[rows], false)?;
            index::rows_at(cx, self.key, rows, key)?;
            index::rows_at(cx, self.value, rows, value)?;
        }
        let statistics = (
            cx.temporary(compute, &[tokens, heads])?,
            cx.temporary(compute, &[tokens, heads])?,
        );
        let mut inputs = vec![(self.query, compute), (key, compute), (value, compute)];
        inputs.extend(chosen.map(|(indices, _)| (indices, DataType::Int64)));
        let mut outputs = vec![
            (statistics.0, compute),
            (statistics.1, compute),
            (self.out, compute),
        ];
        outputs.extend(importance.map(|(marks, _)| (marks, compute)));
        let body = Attend {
            shape: self.shape,
            chosen: chosen.map(|(_, chosen)| chosen),
            importance: importance.map(|(_, importance)| importance),
        };
        dense::run(cx, compute, body, &inputs, &outputs)
    }
}

pub(super) fn selected(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let layouts = ["BSH", "BSND", "TND"];
    let mut of = operands(cx, &layouts, "actualKvSeqLenOptional")?;
    let (size, count) = (
        positive(cx, "selectBlockSize")?,
        positive(cx, "selectBlockCount")?,
    );
    let queries = queries(cx, &of.outer, of.shape.sequences.len())?;
    for (sequence, query) in of.shape.sequences.iter_mut().zip(queries) {
        sequence.query = query;
    }
    let indices = cx.tensor("topkIndices")?;
    cx.check_dtype(&indices, DataType::Int32)?;
    let key_heads = of.shape.key_heads;
    if indices.elements() != of.tokens() * key_heads * count
        || indices.dims().last() != Some(&count)
    {
        return Err(cx.invalid(format_args!(
            "topkIndices has the shape {:?}; it must have {count} blocks for each of {} queries and {key_heads} heads",
            indices.dims(),
            of.tokens()
        )));
    }
    if of.tokens() == 0 {
        return Ok(());
    }
    of.attend(cx, Some((indices, Chosen { size, count })), None)
}

/// Returns the queries of each sequence. Without lengths that are between 1 and 4 each, every sequence has one.
fn few_queries(cx: &Cx<'_>, outer: &[usize], batch: usize) -> Result<Vec<(usize, usize)>, Refusal> {
    let lens = cx.optional_ints("actualQSeqLenOptional")?;
    cx.check_planned("the sequences of blockTableOptional", batch)?;
    let usable = lens
        .is_some_and(|lens| lens.len() == batch && lens.iter().all(|len| (1..=4).contains(len)));
    match (usable, outer) {
        (true, _) => queries(cx, outer, batch),
        (false, &[tokens]) if tokens == batch => Ok((0..batch).map(|at| (at, at + 1)).collect()),
        (false, &[sequences, len]) if sequences == batch && len >= 1 => {
            Ok((0..batch).map(|at| (at * len, at * len + 1)).collect())
        }
        _ => Err(cx.invalid(format_args!(
            "query has the dimensions {outer:?} and actualQSeqLenOptional is {lens:?}; without lengths from 1 to 4 of all {batch} sequences, each has one query"
        ))),
    }
}

/// Attention to compressed keys in pages, and the blocks of keys that matter most to each query.
pub(super) fn compressed(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let lens = "actualCmpKvSeqLenOptional";
    let mut of = operands(cx, &["BSND", "TND"], lens)?;
    let batch = of.shape.sequences.len();
    let queries = few_queries(cx, &of.outer, batch)?;
    let several = queries.iter().any(|(start, end)| end - start > 1);
    if several && cx.optional("attentionMaskOptional")?.is_some() {
        return Err(cx.unsupported(
            "attentionMaskOptional is not supported with several queries of a sequence: its shape and modes are not documented",
        ));
    }
    for (sequence, query) in of.shape.sequences.iter_mut().zip(queries) {
        sequence.query = query;
    }
    let windows = windows(cx, "compressBlockStride")?;
    let count = positive(cx, "selectBlockCount")?;
    let before = cx
        .optional_ints("actualSelKvSeqLenOptional")?
        .unwrap_or(&[]);
    // The lengths before the compression are those that are given, where they belong to the compressed ones, and else the longest ones that
    // do. What is behind the last full block is a block as well.
    let blocks = of.pages.parts.iter().enumerate().map(|(sequence, part)| {
        let compressed = part.count;
        let longest = match compressed {
            0 => 0,
            _ => (compressed - 1) * windows.stride + windows.size,
        };
        let given = before
            .get(sequence)
            .and_then(|&len| usize::try_from(len).ok());
        let fits = |len: &usize| {
            before.len() == batch
                && *len >= windows.size
                && (len - windows.size) / windows.stride + 1 == compressed
        };
        given
            .filter(fits)
            .unwrap_or(longest)
            .div_ceil(windows.block)
    });
    let lens: Vec<usize> = blocks.collect();
    let indices = cx.out("topKOutput")?;
    cx.check_dtype(&indices, DataType::Int32)?;
    cx.check_dims(&indices, &of.by_head(count))?;
    if of.tokens() == 0 {
        return Ok(());
    }
    let blocks = lens.iter().copied().max().unwrap_or(0);
    let marks = cx.temporary(DataType::Float32, &of.by_head(blocks))?;
    let body = Choose {
        shape: of.shape.clone(),
        blocks,
        lens,
        count,
        masked: None,
    };
    of.attend(cx, None, Some((marks, windows.importance(blocks))))?;
    let inputs = [(marks, DataType::Float32)];
    let outputs = [(indices, DataType::Int64)];
    dense::run(cx, DataType::Float32, body, &inputs, &outputs)
}
