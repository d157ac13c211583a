//! Attention: of whole sequences for training, and of caches of keys and values for inference. One tiled kernel computes
//! all forms.

mod backward;
mod backward_kernel;
mod infer;
mod kernel;
mod layout;
mod train;
mod transformer;
mod update;

pub(crate) use transformer::{latent, of_sequences, over_blocks, ring};

#[cfg(test)]
mod tests;

use jumar_types::dtype::DataType;

use super::Table;
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};
use kernel::{Band, CachePages, Dropout, Plane, Scaling, Sequence, Slopes, TiledAttention};

pub(crate) static TABLE: &Table = &[
    ("aclnnAttentionUpdate", update::parts),
    ("aclnnFlashAttentionScore", train::score),
    ("aclnnFlashAttentionScoreGrad", backward::score),
    ("aclnnFlashAttentionScoreGradV2", backward::score_v2),
    ("aclnnFlashAttentionScoreV2", train::score_v2),
    ("aclnnFlashAttentionUnpaddingScoreGrad", backward::variable),
    (
        "aclnnFlashAttentionUnpaddingScoreGradV2",
        backward::variable_v2,
    ),
    (
        "aclnnFlashAttentionUnpaddingScoreGradV3",
        backward::variable_v3,
    ),
    (
        "aclnnFlashAttentionUnpaddingScoreGradV4",
        backward::variable_v4,
    ),
    ("aclnnFlashAttentionVarLenScore", train::variable),
    ("aclnnFlashAttentionVarLenScoreV2", train::variable_v2),
    ("aclnnFlashAttentionVarLenScoreV3", train::variable_v3),
    ("aclnnFlashAttentionVarLenScoreV4", train::variable_v4),
    ("aclnnFusedInferAttentionScore", infer::fused),
    ("aclnnFusedInferAttentionScoreV2", infer::fused_v2),
    ("aclnnFusedInferAttentionScoreV3", infer::fused_v3),
    ("aclnnFusedInferAttentionScoreV4", infer::fused_v4),
    ("aclnnIncreFlashAttention", infer::incremental),
    ("aclnnIncreFlashAttentionV2", infer::incremental_v2),
    ("aclnnIncreFlashAttentionV3", infer::incremental_v3),
    ("aclnnIncreFlashAttentionV4", infer::incremental_v4),
    ("aclnnPromptFlashAttention", infer::prompt),
    ("aclnnPromptFlashAttentionV2", infer::prompt_v2),
    ("aclnnPromptFlashAttentionV3", infer::prompt_v3),
    ("aclnnRingAttentionUpdate", update::ring),
    ("aclnnRingAttentionUpdateV2", update::ring_v2),
];

/// A mask that names excluded columns, or the rule of one.
#[derive(Clone, Copy)]
struct Mask {
    /// A full mask: its last two dimensions are rows and columns.
    view: Option<View>,
    rule: Rule,
}

/// Which columns a row may see, whatever the mask says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    All,
    /// Columns from `row - before` to `row + after`.
    FromFirst {
        before: i64,
        after: i64,
    },
    /// The same, counted so that the last row is at the last column.
    FromLast {
        before: i64,
        after: i64,
    },
}

impl Rule {
    fn band(self, rows: usize, columns: usize) -> Option<Band> {
        let shift = columns as i64 - rows as i64;
        match self {
            Rule::All => None,
            Rule::FromFirst { before, after } => Some(Band {
                before,
                after,
                shift: 0,
            }),
            Rule::FromLast { before, after } => Some(Band {
                before,
                after,
                shift,
            }),
        }
    }
}

/// More tokens than any sequence has.
const UNLIMITED: i64 = i64::MAX / 4;

/// Reads the mask of a call by its sparse mode.
fn mask(cx: &Cx<'_>, param: &str, mode: i64, (before, after): (i64, i64)) -> Result<Mask, Refusal> {
    let view = cx.optional(param)?.filter(|mask| !mask.is_empty());
    if let Some(mask) = &view {
        let types = [DataType::Bool, DataType::UInt8, DataType::Int8];
        cx.check_types(mask, &types)?;
    }
    let rule = match (mode, view.is_some()) {
        // Without a mask the numbers of tokens do not count.
        (0, false) | (1, _) => Rule::All,
        (0, true) => Rule::FromFirst { before, after },
        // Of a compressed mask only its rule counts.
        (2, _) => Rule::FromFirst {
            before: UNLIMITED,
            after: 0,
        },
        (3, _) => Rule::FromLast {
            before: UNLIMITED,
            after: 0,
        },
        (4, _) => Rule::FromLast { before, after },
        (other, _) => {
            return Err(cx.unsupported(format_args!("sparseMode {other} is not supported")));
        }
    };
    Ok(Mask {
        view: view.filter(|_| mode <= 1),
        rule,
    })
}

/// The part of a query and of keys that belong together.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// The entry of the batch, the first row in it, and the number of rows.
    batch: usize,
    first_row: usize,
    rows: usize,
    /// The row of a table of pages.
    table_row: usize,
    /// The tensor of keys, the entry of its batch, the first column and the number of columns.
    list: usize,
    key_batch: usize,
    first_column: usize,
    columns: usize,
    /// The entry of the batch, and the first row, of an addend or a mask.
    bias_batch: usize,
    bias_row: usize,
}

/// A table of pages of a cache.
#[derive(Clone, Copy)]
struct Cache {
    table: View,
    size: usize,
}

/// What training adds to attention.
#[derive(Default)]
struct Effects {
    /// Slopes as sequences, heads; and for each sequence what its first row is behind its first column.
    slopes: Option<(View, Vec<i64>)>,
    /// The bits of a dropout, dense, and the factor of what is kept.
    dropout: Option<(View, f32)>,
}

impl Effects {
    /// Adds the operands, and returns the effects on each sequence.
    fn of_sequences(
        &self,
        inputs: &mut Vec<View>,
        heads: usize,
        ranges: &[Range],
    ) -> Vec<(Option<Slopes>, Option<Dropout>)> {
        let mut add = |view: View| {
            inputs.push(view);
            inputs.len() - 1
        };
        let slopes = self.slopes.as_ref();
        let slopes = slopes.map(|(view, shifts)| (view, shifts, add(*view)));
        let dropout = self.dropout.map(|(view, factor)| (add(view), factor));
        let mut bit = 0usize;
        let effects = ranges.iter().enumerate().map(|(index, range)| {
            let slopes = slopes.map(|(view, shifts, operand)| Slopes {
                plane: Plane {
                    operand,
                    start: index * stride(view, 0),
                    heads: stride(view, 1),
                    rows: 0,
                    step: 1,
                },
                shift: shifts[index],
            });
            let start = bit;
            // The sizes are those that the program describes: the memory of the mask was not compared with them yet.
            let bits = heads
                .saturating_mul(range.rows)
                .saturating_mul(range.columns);
            bit = bit.saturating_add(bits);
            let dropout = dropout.map(|(operand, factor)| Dropout {
                operand,
                start,
                factor,
            });
            (slopes, dropout)
        });
        effects.collect()
    }
}

/// Everything that one call computes. Tensors are seen as batch, heads, length, width.
struct Plan {
    query: View,
    keys: Vec<View>,
    values: Vec<View>,
    extra: Option<(View, View)>,
    out: View,
    ranges: Vec<Range>,
    cache: Option<Cache>,
    addend: Option<View>,
    addend_scaled: bool,
    effects: Effects,
    mask: Mask,
    mask_param: &'static str,
    scale: f64,
    /// The limits of the scores, before anything is added to them.
    clamp: Option<(f32, f32)>,
    invalid_is_zero: bool,
    /// Largest score, sum and logarithm of the sum; each as batch, heads, length, copies.
    statistics: [Option<View>; 3],
}

/// Returns a dimension's stride, or 0 where one entry serves all.
fn stride(view: &View, axis: usize) -> usize {
    match view.dims()[axis] {
        1 => 0,
        _ => view.strides()[axis] as usize,
    }
}

fn plane(view: &View, operand: usize, batch: usize, row: usize) -> Plane {
    Plane {
        operand,
        start: batch * stride(view, 0) + row * stride(view, 2),
        heads: stride(view, 1),
        rows: stride(view, 2),
        step: view.strides()[3] as usize,
    }
}

/// Sees an addend or a mask as batch, heads, rows, columns.
fn four(cx: &Cx<'_>, view: View) -> Result<View, Refusal> {
    match view.rank() {
        2 => Ok(view.unsqueeze(0).unsqueeze(0)),
        3 => Ok(view.unsqueeze(1)),
        4 => Ok(view),
        rank => Err(cx.invalid(format_args!(
            "{} has {rank} dimensions; expected between 2 and 4",
            cx.param_of(&view)
        ))),
    }
}

/// Refuses an addend or a mask that has no entry for a row and a column.
fn check_cover(
    cx: &Cx<'_>,
    (heads, ranges): (usize, &[Range]),
    view: &View,
    name: &str,
    given: &[usize],
) -> Result<(), Refusal> {
    for range in ranges {
        let dims = view.dims();
        let fits = (dims[0] == 1 || range.bias_batch < dims[0])
            && (dims[1] == 1 || dims[1] == heads)
            && (dims[2] == 1 || dims[2] >= range.bias_row.saturating_add(range.rows))
            && dims[3] >= range.columns;
        if !fits {
            return Err(cx.invalid(format_args!(
                "{name} has the shape {given:?}; it must broadcast to {heads} heads, {} rows and {} columns",
                range.rows, range.columns
            )));
        }
    }
    Ok(())
}

/// Returns the number of heads of the keys, and how many heads of the query share each of them.
fn shared_heads(
    cx: &Cx<'_>,
    query: &View,
    keys: &[View],
    values: &[View],
) -> Result<(usize, usize), Refusal> {
    let (heads, key_heads) = (query.dims()[1], keys[0].dims()[1]);
    if key_heads == 0 || !heads.is_multiple_of(key_heads) {
        return Err(cx.invalid(format_args!(
            "{heads} heads of the query cannot share {key_heads} of the key"
        )));
    }
    for (key, value) in keys.iter().zip(values) {
        if key.dims()[3] != query.dims()[3]
            || key.dims()[1] != key_heads
            || value.dims()[..3] != key.dims()[..3]
            || value.dims()[3] != values[0].dims()[3]
        {
            return Err(cx.invalid(format_args!(
                "query, key and value have the shapes {:?}, {:?} and {:?} as batch, heads, length and width; keys have the width of the query, and values the heads and lengths of the keys",
                query.dims(),
                key.dims(),
                value.dims()
            )));
        }
    }
    Ok((key_heads, heads / key_heads))
}

impl Plan {
    fn check(&self, cx: &Cx<'_>) -> Result<(usize, usize), Refusal> {
        let (query, value) = (&self.query, &self.values[0]);
        let found = shared_heads(cx, query, &self.keys, &self.values)?;
        let &[batch, heads, rows, _] = query.dims() else {
            return Err(cx.defect("heads have four dimensions"));
        };
        match self.out.dims() == [batch, heads, rows, value.dims()[3]] {
            true => Ok(found),
            false => Err(cx.defect("the result was not checked")),
        }
    }

    /// Adds the steps.
    fn run(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        let (heads, shared) = self.check(cx)?;
        if self.out.is_empty() {
            return Ok(());
        }
        let mut inputs: Vec<View> = vec![self.query];
        let mut add = |view: View| {
            inputs.push(view);
            inputs.len() - 1
        };
        let keys: Vec<usize> = self.keys.iter().map(|view| add(*view)).collect();
        let values: Vec<usize> = self.values.iter().map(|view| add(*view)).collect();
        let extra = self.extra.map(|(query, key)| (add(query), add(key)));
        let addend = match self.addend {
            Some(view) => {
                let wide = four(cx, view)?;
                let (name, heads) = (cx.param_of(&view), self.query.dims()[1]);
                check_cover(cx, (heads, &self.ranges), &wide, &name, view.dims())?;
                Some((wide, add(wide)))
            }
            None => None,
        };
        let mask = match self.mask.view {
            Some(view) => {
                let wide = four(cx, view)?;
                let covered = (self.query.dims()[1], self.ranges.as_slice());
                check_cover(cx, covered, &wide, self.mask_param, view.dims())?;
                Some((wide, add(wide)))
            }
            None => None,
        };
        let cache = match self.cache {
            Some(cache) => {
                let table = cx.dense(cache.table)?;
                Some((cache, table, add(table)))
            }
            None => None,
        };
        let effects = self
            .effects
            .of_sequences(&mut inputs, self.query.dims()[1], &self.ranges);
        let mut outputs = vec![self.out];
        let mut copies = Vec::new();
        let mut statistics = [None; 3];
        for (slot, view) in statistics.iter_mut().zip(self.statistics) {
            let Some(view) = view else { continue };
            // The copies of a number are written in one go.
            let target = match view.dims()[3] == 1 || view.strides()[3] == 1 {
                true => view,
                false => {
                    let target = cx.temporary(view.dtype(), view.dims())?;
                    copies.push((target, view));
                    target
                }
            };
            *slot = Some((target, outputs.len()));
            outputs.push(target);
        }
        let mut sequences = Vec::with_capacity(self.ranges.len());
        for (range, (slopes, dropout)) in self.ranges.iter().zip(effects) {
            let (key, value) = (&self.keys[range.list], &self.values[range.list]);
            let pages = cache.map(|(cache, table, operand)| CachePages {
                table: operand,
                start: range.table_row * table.dims()[1],
                entries: table.dims()[1],
                size: cache.size,
                count: key.dims()[0],
                key_stride: key.strides()[0] as usize,
                value_stride: value.strides()[0] as usize,
                extra_stride: self.extra.map_or(0, |(_, key)| key.strides()[0] as usize),
            });
            // Further entries are one tensor, also where the keys are a list of tensors.
            let further_batch = match self.keys.len() {
                1 => range.key_batch,
                _ => range.batch,
            };
            let statistic = |slot: usize| {
                statistics[slot].map(|(view, operand): (View, usize)| Plane {
                    step: view.dims()[3],
                    ..plane(&view, operand, range.batch, range.first_row)
                })
            };
            let bias = |(view, operand): (View, usize)| {
                plane(&view, operand, range.bias_batch, range.bias_row)
            };
            sequences.push(Sequence {
                rows: range.rows,
                columns: range.columns,
                query: plane(&self.query, 0, range.batch, range.first_row),
                key: plane(key, keys[range.list], range.key_batch, range.first_column),
                value: plane(
                    value,
                    values[range.list],
                    range.key_batch,
                    range.first_column,
                ),
                out: plane(&self.out, 0, range.batch, range.first_row),
                extra: self.extra.zip(extra).map(|((query, key), (own, other))| {
                    (
                        plane(&query, own, range.batch, range.first_row),
                        plane(&key, other, further_batch, range.first_column),
                    )
                }),
                addend: addend.map(bias),
                slopes,
                dropout,
                mask: mask.map(bias),
                largest: statistic(0),
                sum: statistic(1),
                log_sum: statistic(2),
                pages,
                band: self.mask.rule.band(range.rows, range.columns),
            });
        }
        let written: usize = self.ranges.iter().map(|range| range.rows).sum();
        if written < self.query.dims()[0] * self.query.dims()[2] {
            // Rows behind the end of a sequence have no meaning; zeros make the result the same from run to run.
            cx.fill(Scalar::of_i64(0), self.out)?;
            for (view, _) in statistics.iter().flatten() {
                cx.fill(Scalar::of_i64(0), *view)?;
            }
        }
        let kernel = TiledAttention {
            operator: cx.name(),
            sequences,
            heads,
            shared,
            width: self.query.dims()[3],
            extra_width: self.extra.map_or(0, |(query, _)| query.dims()[3]),
            value_width: self.values[0].dims()[3],
            scaling: Scaling {
                factor: self.scale as f32,
                addend: self.addend_scaled,
                clamp: self.clamp,
            },
            invalid_is_zero: self.invalid_is_zero,
            inputs: inputs.iter().map(View::dtype).collect(),
            outputs: outputs.iter().map(View::dtype).collect(),
        };
        let inputs: Vec<Option<View>> = inputs.into_iter().map(Some).collect();
        cx.kernel(Box::new(kernel), &inputs, &outputs, false)?;
        for (from, to) in copies {
            cx.copy(from, to)?;
        }
        Ok(())
    }
}
