//! Queries, keys and values of a product, rotated by position, and the quantised keys and values in a cache.

use jumar_ops::minifloat::Rounding;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::rotary::{Pairing, rotate};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::bad_data;
use crate::ops::index;
use crate::ops::quant::{Factor, quantised};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// `out = (x + integer bias) * scale * row scale + bias`
struct Restore {
    /// Whether the bias is an integer, which is added to the sums.
    integer: bool,
}

impl RowFunction for Restore {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, bias) = (rows.output(0), rows.optional(3));
        out.copy_from(rows.input(0));
        if let Some(bias) = bias.filter(|_| self.integer) {
            out.update(bias, |value, bias| value + bias);
        }
        out.update(rows.input(1), |value, scale| value * scale);
        if let Some(factor) = rows.optional(2) {
            let factor = factor.get(0);
            out.map1(out.as_row(), |value| value * factor);
        }
        if let Some(bias) = bias.filter(|_| !self.integer) {
            out.update(bias, |value, bias| value + bias);
        }
    }
}

/// Computes the rows of a cache that tokens go to. Input: where each sequence starts in its part of the cache, or the row of each token,
/// dense int64. Output: a row for each token.
struct Slots {
    operator: &'static str,
    /// The tokens of a sequence, and the rows of its part; or 1, and the rows of the cache.
    tokens: usize,
    rows: usize,
    /// Whether each sequence has a part of its own.
    by_sequence: bool,
}

impl Kernel for Slots {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (starts, out) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        for index in 0..starts.len() {
            let start = starts.get(index);
            let inside = usize::try_from(start)
                .ok()
                .filter(|start| *start <= self.rows - self.tokens);
            let Some(start) = inside else {
                return Err(bad_data(format!(
                    "{}: indices[{index}] is {start}; it must be between 0 and {}",
                    self.operator,
                    self.rows - self.tokens
                )));
            };
            let first = if self.by_sequence {
                index * self.rows
            } else {
                0
            };
            for token in 0..self.tokens {
                out.set(index * self.tokens + token, (first + start + token) as i64);
            }
        }
        Ok(())
    }
}

/// Returns the values of a product, restored where they are integers.
fn restored(cx: &mut Cx<'_>, x: View) -> Result<View, Refusal> {
    if x.dtype() != DataType::Int32 {
        return Ok(x);
    }
    let width = x.dims()[x.rank() - 1];
    let tokens = x.elements() / width.max(1);
    let scale = cx
        .optional("weightScaleOptional")?
        .ok_or_else(|| cx.null("weightScaleOptional"))?;
    cx.check_dtype(&scale, DataType::Float32)?;
    cx.check_dims(&scale, &[width])?;
    let factor = match cx.optional("activationScaleOptional")? {
        Some(factor) => {
            cx.check_dtype(&factor, DataType::Float32)?;
            cx.check_dims(&factor, &[tokens])?;
            let mut dims = x.dims().to_vec();
            dims[x.rank() - 1] = 1;
            Some(cx.reshaped(factor, &dims)?)
        }
        None => None,
    };
    let bias = cx.optional("biasOptional")?;
    if let Some(bias) = &bias {
        cx.check_types(
            bias,
            &[HALVES, &[DataType::Float32, DataType::Int32]].concat(),
        )?;
        cx.check_dims(bias, &[width])?;
    }
    let out = cx.temporary(DataType::Float32, x.dims())?;
    // Not documented: a bias of integers belongs to the sums, and any other to the result, as in aclnnDequantBias.
    let function = Restore {
        integer: bias.is_some_and(|bias| bias.dtype() == DataType::Int32),
    };
    cx.rows(
        function,
        &[Some(x), Some(scale), factor, bias],
        &[Some(out)],
    )?;
    Ok(out)
}

/// Refuses a text that is not one of those that are known. An absent one is the first.
fn check_text(cx: &Cx<'_>, param: &str, known: &[&str]) -> Result<usize, Refusal> {
    let text = cx.text(param)?;
    match known.iter().position(|own| *own == text) {
        Some(at) => Ok(at),
        None if text.is_empty() => Ok(0),
        None => Err(cx.invalid(format_args!(
            "{param} is {text:?}; it must be one of {known:?}"
        ))),
    }
}

pub(super) fn rotate_and_quantise(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, cos, sin) = (cx.tensor("x")?, cx.tensor("cos")?, cx.tensor("sin")?);
    cx.check_types(&x, &[HALVES, &[DataType::Int32]].concat())?;
    cx.check_types(&cos, HALVES)?;
    cx.check_dtype(&sin, cos.dtype())?;
    if x.dtype() != DataType::Int32 {
        cx.check_dtype(&cos, x.dtype())?;
    }
    check_text(cx, "quantModeOptional", &["static"])?;
    check_text(cx, "layoutOptional", &["BSND"])?;
    let paged = check_text(cx, "cacheModeOptional", &["contiguous", "page"])? == 1;
    let (batch, len, width) = match x.dims() {
        &[batch, len, width] => (batch, len, width),
        &[batch, width] => (batch, 1, width),
        dims => {
            return Err(cx.invalid(format_args!(
                "x has the shape {dims:?}; expected two or three dimensions"
            )));
        }
    };
    let caches = [cx.tensor("kCacheRef")?, cx.tensor("vCacheRef")?];
    let &[first, second, heads, size] = caches[0].dims() else {
        return Err(cx.invalid(format_args!(
            "kCacheRef has the shape {:?}; expected 4 dimensions",
            caches[0].dims()
        )));
    };
    for cache in &caches {
        cx.check_dtype(cache, DataType::Int8)?;
        cx.check_dims(cache, &[first, second, heads, size])?;
    }
    let splits = cx.ints("sizeSplits")?.to_vec();
    let own = heads * size;
    let fits = own > 0
        && width.checked_sub(2 * own).is_some_and(|queries| {
            queries.is_multiple_of(size) && splits == [queries as i64, own as i64, own as i64]
        });
    if !fits {
        return Err(cx.invalid(format_args!(
            "sizeSplits is {splits:?}; the {width} columns of x must divide into queries, and twice {own} for the {heads} heads of {size} entries of the caches"
        )));
    }
    let queries = (width - 2 * own) / size;
    let mut lead = x.dims()[..x.rank() - 1].to_vec();
    // Sines and cosines are the same for all heads.
    let mut table = lead.clone();
    table.extend(if x.rank() == 3 {
        vec![1, size]
    } else {
        vec![size]
    });
    let mut tables = [cos, sin];
    for view in &mut tables {
        cx.check_dims(view, &table)?;
        if x.rank() == 2 {
            *view = view.unsqueeze(1);
        }
    }
    lead.extend([queries, size]);
    let q_out = cx.out("qOut")?;
    cx.check_dtype(&q_out, cos.dtype())?;
    cx.check_dims(&q_out, &lead)?;
    let rank = lead.len();
    lead[rank - 2] = heads;
    let mut outs = [None; 2];
    if cx.flag("kvOutput")? {
        for (slot, param) in outs.iter_mut().zip(["kOut", "vOut"]) {
            let out = cx.out(param)?;
            cx.check_dtype(&out, cos.dtype())?;
            cx.check_dims(&out, &lead)?;
            *slot = Some(out);
        }
    }
    let indices = cx.tensor("indices")?;
    cx.check_dtype(&indices, DataType::Int32)?;
    let (starts, kernel) = match paged {
        true => (
            batch * len,
            Slots {
                operator: cx.name(),
                tokens: 1,
                rows: first * second,
                by_sequence: false,
            },
        ),
        false => (
            batch,
            Slots {
                operator: cx.name(),
                tokens: len,
                rows: second,
                by_sequence: true,
            },
        ),
    };
    if indices.elements() != starts || kernel.tokens > kernel.rows || !paged && batch > first {
        return Err(cx.invalid(format_args!(
            "indices has the shape {:?}; it must have {starts} elements, and caches of the shape {:?} space for {batch} sequences of {len} tokens",
            indices.dims(),
            caches[0].dims()
        )));
    }
    if x.is_empty() {
        return Ok(());
    }
    let values = restored(cx, x)?;
    let axis = x.rank() - 1;
    let part = |cx: &mut Cx<'_>, start: usize, heads: usize| {
        let mut dims = lead.clone();
        dims[rank - 2] = heads;
        cx.reshaped(values.slice(axis, start, heads * size, 1), &dims)
    };
    let query = part(cx, 0, queries)?;
    let tables = (tables[0], tables[1]);
    if queries > 0 {
        rotate(cx, Pairing::Half, query, tables, q_out)?;
    }
    let key = part(cx, queries * size, heads)?;
    let rotated = cx.temporary(DataType::Float32, &lead)?;
    rotate(cx, Pairing::Half, key, tables, rotated)?;
    let value = part(cx, queries * size + own, heads)?;
    let indices = index::indices(cx, indices)?;
    let rows = cx.temporary(DataType::Int64, &[batch * len])?;
    cx.kernel(Box::new(kernel), &[Some(indices)], &[rows], false)?;
    let names = [("scaleK", "offsetKOptional"), ("scaleV", "offsetVOptional")];
    for (index, from) in [rotated, value].into_iter().enumerate() {
        if let Some(out) = outs[index] {
            cx.copy(from, out)?;
        }
        let (scale, offset) = names[index];
        let scale = parameters(cx, scale, [heads, size])?;
        let offset = match cx.optional(offset)? {
            Some(_) => Some(parameters(cx, offset, [heads, size])?),
            None => None,
        };
        let quantised_rows = cx.temporary(DataType::Int8, &lead)?;
        // Not documented: how scales enter. They divide, as those of aclnnInplaceQuantScatter, which writes to caches as well.
        let how = (Factor::Over, Rounding::Even);
        quantised(cx, from, (scale, offset), rank - 1, how, quantised_rows)?;
        let table = caches[index];
        if !table.is_dense() {
            return Err(cx.invalid(format_args!(
                "{} has the strides {:?}; it must be dense",
                cx.param_of(&table),
                table.strides()
            )));
        }
        let table = cx.reshaped(table, &[first * second, own])?;
        index::rows_in(cx, quantised_rows, rows, table)?;
    }
    Ok(())
}

/// Returns a scale or an offset for each head and entry. The example of the document has one dimension.
fn parameters(cx: &mut Cx<'_>, param: &str, dims: [usize; 2]) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    cx.check_dtype(&view, DataType::Float32)?;
    let flat = dims[0] * dims[1];
    if view.dims() != dims && view.dims() != [flat] {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; it must be {dims:?}",
            view.dims()
        )));
    }
    cx.reshaped(view, &dims)
}
