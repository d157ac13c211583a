//! The operator for inference: keys and values in pages.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::kernels::{Attend, Chosen, Masked, Sequence, Shape};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::{dense, index};
use crate::view::View;

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// Lists the rows of pages that sequences consist of. Input: the pages of each sequence, dense int64. Output: rows of the cache, int64.
struct Pages {
    operator: &'static str,
    /// The tokens of each sequence.
    lens: Vec<usize>,
    /// Pages that a sequence can have, pages of the cache, and tokens of a page.
    columns: usize,
    pages: usize,
    size: usize,
}

impl Kernel for Pages {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (table, out) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mut next = 0;
        for (sequence, &len) in self.lens.iter().enumerate() {
            for token in 0..len {
                let page = table.get(sequence * self.columns + token / self.size);
                let Some(own) = usize::try_from(page).ok().filter(|own| *own < self.pages) else {
                    let text = format!(
                        "{}: blockTableOptional[{sequence}][{}] is {page}; it must be between 0 and {}",
                        self.operator,
                        token / self.size,
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

fn positive(cx: &Cx<'_>, param: &str) -> Result<usize, Refusal> {
    let value = cx.int(param)?;
    match u32::try_from(value) {
        Ok(value @ 1..) => Ok(value as usize),
        _ => Err(cx.invalid(format_args!("{param} is {value}; it must be positive"))),
    }
}

/// Returns the queries of each sequence as parts of all: of a batch, or joined. Lengths of joined sequences are their own, or their ends:
/// the document does not say which.
fn queries(cx: &Cx<'_>, dims: &[usize], batch: usize) -> Result<Vec<(usize, usize)>, Refusal> {
    let lens = cx.optional_ints("actualQSeqLenOptional")?;
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

pub(super) fn selected(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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
    let (size, count, page) = (
        positive(cx, "selectBlockSize")?,
        positive(cx, "selectBlockCount")?,
        positive(cx, "pageBlockSize")?,
    );
    let (key, width) = cache(cx, "key", key_heads, page)?;
    let (value, value_width) = cache(cx, "value", key_heads, page)?;
    if key.dims()[0] != value.dims()[0] {
        return Err(cx.invalid("key and value have different numbers of pages"));
    }
    let layout = match cx.text("layoutOptional")? {
        "" => "BSND",
        layout => layout,
    };
    let joined = match (layout, query.dims()) {
        ("BSND", &[_, _, own, other]) => own == heads && other == width,
        ("BSH", &[_, _, all]) => all == heads * width,
        ("TND", &[_, own, other]) => own == heads && other == width,
        ("BSND" | "BSH" | "TND", _) => false,
        _ => {
            return Err(cx.invalid(format_args!(
                "layoutOptional is {layout:?}; it must be \"BSH\", \"BSND\" or \"TND\""
            )));
        }
    };
    if !joined {
        return Err(cx.invalid(format_args!(
            "query has the shape {:?}; it does not belong to the layout {layout} with {heads} heads of {width} entries",
            query.dims()
        )));
    }
    let outer = query.dims()[..if layout == "TND" { 1 } else { 2 }].to_vec();
    let tokens: usize = outer.iter().product();
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
    let lens = cx.ints("actualKvSeqLenOptional")?;
    let given: Vec<usize> = lens
        .iter()
        .filter_map(|&len| usize::try_from(len).ok())
        .filter(|len| len.div_ceil(page) <= columns)
        .collect();
    if given.len() != batch || lens.len() != batch {
        return Err(cx.invalid(format_args!(
            "actualKvSeqLenOptional is {lens:?}; it must have a length for each of {batch} sequences, of at most {columns} pages"
        )));
    }
    let queries = queries(cx, &outer, batch)?;
    let indices = cx.tensor("topkIndices")?;
    cx.check_dtype(&indices, DataType::Int32)?;
    if indices.elements() != tokens * key_heads * count || indices.dims().last() != Some(&count) {
        return Err(cx.invalid(format_args!(
            "topkIndices has the shape {:?}; it must have {count} blocks for each of {tokens} queries and {key_heads} heads",
            indices.dims()
        )));
    }
    let total: usize = given.iter().sum();
    if tokens == 0 {
        return Ok(());
    }
    let mut start = 0;
    let sequences = queries.iter().zip(&given).map(|(query, len)| {
        let key = (start, start + len);
        start += len;
        Sequence { query: *query, key }
    });
    let shape = Shape {
        sequences: sequences.collect(),
        heads,
        key_heads,
        width,
        value_width,
        scale: cx.float("scaleValue")?,
        masked: Masked::None,
    };
    let rows = cx.temporary(DataType::Int64, &[total])?;
    let kernel = Pages {
        operator: cx.name(),
        lens: given,
        columns,
        pages: key.dims()[0] / page,
        size: page,
    };
    let (own_key, own_value) = (
        cx.temporary(key.dtype(), &[total, key_heads * width])?,
        cx.temporary(key.dtype(), &[total, key_heads * value_width])?,
    );
    if total > 0 {
        let table = cx.cast(table, DataType::Int64)?;
        let table = cx.dense(table)?;
        cx.kernel(Box::new(kernel), &[Some(table)], &[rows], false)?;
        index::rows_at(cx, key, rows, own_key)?;
        index::rows_at(cx, value, rows, own_value)?;
    }
    let compute = DataType::Float32;
    let statistics = (
        cx.temporary(compute, &[tokens, heads])?,
        cx.temporary(compute, &[tokens, heads])?,
    );
    let inputs = [
        (query, compute),
        (own_key, compute),
        (own_value, compute),
        (indices, DataType::Int64),
    ];
    let outputs = [
        (statistics.0, compute),
        (statistics.1, compute),
        (out, compute),
    ];
    let body = Attend {
        shape,
        chosen: Some(Chosen { size, count }),
        importance: None,
    };
    dense::run(cx, compute, body, &inputs, &outputs)
}
