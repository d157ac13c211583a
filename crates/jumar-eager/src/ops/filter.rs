//! Filters of the logits that a token is drawn from.

use jumar_ops::view::RowMut;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnApplyTopKTopP", top_k_top_p),
    // The name under which vLLM's plug-in calls it.
    ("aclnnApplyTopKTopPCustom", top_k_top_p),
];

/// Parts that the rows are split into, each with scratch memory of its own.
const PARTS: usize = 8;

/// Keeps the k largest logits of a row, and of those the largest whose probabilities exceed p together.
struct Filter {
    width: usize,
    rows: usize,
    /// The inputs with p and k.
    p: Option<usize>,
    k: Option<usize>,
}

/// Moves an entry of a heap down until neither of its two children is behind it in the order. The heap ends at `end`.
fn sink(row: RowMut<'_, i32>, start: usize, end: usize, before: &impl Fn(i32, i32) -> bool) {
    let mut parent = start;
    loop {
        let mut child = 2 * parent + 1;
        if child >= end {
            return;
        }
        if child + 1 < end && before(row.get(child), row.get(child + 1)) {
            child += 1;
        }
        let (one, two) = (row.get(parent), row.get(child));
        if !before(one, two) {
            return;
        }
        row.set(parent, two);
        row.set(child, one);
        parent = child;
    }
}

/// Moves the first `count` positions of an order to the front of a row, sorted. `before` says which of two comes first. What is behind
/// them means nothing. It is a heap sort, which needs no memory.
pub(super) fn sort_first(row: RowMut<'_, i32>, count: usize, before: impl Fn(i32, i32) -> bool) {
    let count = count.min(row.len());
    if count == 0 {
        return;
    }
    for start in (0..count / 2).rev() {
        sink(row, start, count, &before);
    }
    // The top of the heap is the last of the first so far.
    for at in count..row.len() {
        let own = row.get(at);
        if before(own, row.get(0)) {
            row.set(0, own);
            sink(row, 0, count, &before);
        }
    }
    for end in (1..count).rev() {
        let (first, last) = (row.get(0), row.get(end));
        row.set(0, last);
        row.set(end, first);
        sink(row, 0, end, &before);
    }
}

impl Filter {
    fn parts(&self) -> usize {
        PARTS.min(self.rows)
    }
}

impl Kernel for Filter {
    fn scratch_bytes(&self) -> usize {
        self.parts() * self.width * size_of::<i32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (call.input::<f32>(0)?.flat(), call.output::<f32>(0)?.flat());
        let p = match self.p {
            Some(input) => Some(call.input::<f32>(input)?.flat()),
            None => None,
        };
        let k = match self.k {
            Some(input) => Some(call.input::<i64>(input)?.flat()),
            None => None,
        };
        let (width, parts) = (self.width, self.parts());
        let scratch = call.scratch::<i32>(0, parts * width)?;
        call.workers().each(parts, |part| {
            let order = scratch.slice(part * width, width);
            for row in self.rows * part / parts..self.rows * (part + 1) / parts {
                let (x, out) = (x.slice(row * width, width), out.slice(row * width, width));
                for at in 0..width {
                    order.set(at, at as i32);
                }
                let value = |at: i32| x.get(at as usize);
                // Ascending; NaN is the largest.
                sort_first(order, width, |one, two| {
                    let (first, second) = (value(one), value(two));
                    let less = first < second || second.is_nan() && !first.is_nan();
                    let same = first == second || first.is_nan() && second.is_nan();
                    less || same && one < two
                });
                out.copy_from(x);
                let mut least = f32::NEG_INFINITY;
                if let Some(k) = k {
                    let count = k.get(row).clamp(1, width as i64) as usize;
                    least = value(order.get(width - count));
                }
                out.map1(x, |value| match value < least {
                    true => f32::NEG_INFINITY,
                    false => value,
                });
                let Some(p) = p else { continue };
                let most = value(order.get(width - 1));
                let power = |at: i32| match value(at) < least {
                    true => 0.0,
                    false => f64::from(value(at) - most).exp(),
                };
                let total: f64 = (0..width).map(|at| power(order.get(at))).sum();
                let limit = (1.0 - f64::from(p.get(row))) * total;
                let mut sum = 0.0;
                // The largest logit always stays.
                for at in 0..width - 1 {
                    let own = order.get(at);
                    sum += power(own);
                    if sum <= limit {
                        out.set(own as usize, f32::NEG_INFINITY);
                    }
                }
            }
        });
        Ok(())
    }
}

fn top_k_top_p(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (logits, out) = (cx.tensor("logits")?, cx.out("out")?);
    cx.check_types(&logits, FLOATS)?;
    cx.check_dtype(&out, logits.dtype())?;
    cx.check_dims(&out, logits.dims())?;
    let &[rows, width] = logits.dims() else {
        return Err(cx.invalid(format_args!(
            "logits has the shape {:?}; rows and entries are required",
            logits.dims()
        )));
    };
    if width > i32::MAX as usize {
        return Err(cx.invalid(format_args!(
            "logits has {width} entries a row; at most {} are supported",
            i32::MAX
        )));
    }
    let (p, k) = (cx.optional("p")?, cx.optional("k")?);
    if p.is_none() && k.is_none() {
        return Err(cx.null("p"));
    }
    let wide = cx.cast(logits, DataType::Float32)?;
    let mut inputs = vec![Some(cx.dense(wide)?)];
    let mut add = |view: Option<View>, types: &[DataType], dtype: DataType| match view {
        Some(view) => {
            cx.check_types(&view, types)?;
            cx.check_dims(&view, &[rows])?;
            let view = cx.cast(view, dtype)?;
            inputs.push(Some(cx.dense(view)?));
            Ok(Some(inputs.len() - 1))
        }
        None => Ok::<_, Refusal>(None),
    };
    let kernel = Filter {
        width,
        rows,
        p: add(p, FLOATS, DataType::Float32)?,
        k: add(k, &[DataType::Int32, DataType::Int64], DataType::Int64)?,
    };
    if out.is_empty() {
        return Ok(());
    }
    let result = cx.temporary(DataType::Float32, out.dims())?;
    cx.kernel(Box::new(kernel), &inputs, &[result], false)?;
    cx.copy(result, out)
}
