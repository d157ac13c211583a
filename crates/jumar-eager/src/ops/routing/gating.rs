//! The choice of experts: the largest scores of a row.

use jumar_ops::math::{Fast, Float};
use jumar_ops::view::{Row, RowMut};
use jumar_types::dtype::DataType;

use super::kernels::ColumnNumbers;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::{FLOATS, MergedOutput};
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;

/// How scores become weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Norm {
    Softmax,
    Sigmoid,
    /// The root of the softplus.
    Softplus,
}

/// Groups of experts, of which only some may be chosen from.
#[derive(Clone, Copy)]
struct Groups {
    count: usize,
    chosen: usize,
    /// How many of its largest scores a group counts by.
    summed: usize,
}

/// Chooses the experts of one row.
struct Gating {
    experts: usize,
    k: usize,
    norm: Norm,
    groups: Groups,
    /// Whether the weights are divided by their sum.
    renormalised: bool,
    /// Whether the softmax is that of the chosen scores.
    behind: bool,
    epsilon: f32,
    factor: f32,
}

#[inline(always)]
fn soften<const FUSED: bool>(out: RowMut<'_, f32>, x: Row<'_, f32>) {
    let most = x.fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
    out.map1(x, |value| Fast::<FUSED>(value - most).exp().0);
    let total = sum(out.as_row());
    out.map1(out.as_row(), |value| value / total);
}

/// Returns the largest entry behind another in the order of falling values, where equal ones go by their index.
#[inline(always)]
pub(crate) fn next_largest(row: Row<'_, f32>, behind: Option<(f32, usize)>) -> (f32, usize) {
    let mut best: Option<(f32, usize)> = None;
    for index in 0..row.len() {
        // Not-a-number is the largest, as in a sort.
        let value = row.get(index);
        let value = if value.is_nan() { f32::INFINITY } else { value };
        let left = match behind {
            Some((last, at)) => value < last || (value == last && index > at),
            None => true,
        };
        if left && best.is_none_or(|(most, _)| value > most) {
            best = Some((value, index));
        }
    }
    best.unwrap_or((f32::NEG_INFINITY, 0))
}

/// Returns the sum of the largest entries of a row.
#[inline(always)]
pub(crate) fn sum_of_largest(row: Row<'_, f32>, count: usize) -> f32 {
    let mut last = next_largest(row, None);
    let mut sum = last.0;
    for _ in 1..count {
        last = next_largest(row, Some(last));
        sum += last.0;
    }
    sum
}

impl Gating {
    /// Excludes the experts of the groups that do not count.
    #[inline(always)]
    fn limit(&self, scores: RowMut<'_, f32>, marks: RowMut<'_, f32>) {
        let Groups {
            count,
            chosen,
            summed,
        } = self.groups;
        let size = self.experts / count;
        for group in 0..count {
            let own = scores.slice(group * size, size).as_row();
            marks.set(group, sum_of_largest(own, summed));
        }
        let marks = marks.slice(0, count).as_row();
        let mut last = None;
        for _ in 0..chosen {
            last = Some(next_largest(marks, last));
        }
        let Some((least, at)) = last else { return };
        for group in 0..count {
            let score = marks.get(group);
            if score < least || (score == least && group > at) {
                scores.slice(group * size, size).fill(f32::NEG_INFINITY);
            }
        }
    }
}

impl RowFunction for Gating {
    fn scratch(&self) -> usize {
        2 * self.experts + self.groups.count
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, scratch) = (rows.input(0), rows.scratch());
        let weights = scratch.slice(0, self.experts);
        let scores = scratch.slice(self.experts, self.experts);
        match (self.behind, self.norm) {
            (true, _) => weights.copy_from(x),
            (false, Norm::Softmax) => soften::<FUSED>(weights, x),
            (false, Norm::Sigmoid) => {
                weights.map1(x, |value| 1.0 / (1.0 + Fast::<FUSED>(-value).exp().0))
            }
            (false, Norm::Softplus) => weights.map1(x, |value| {
                (value.max(0.0) + Fast::<FUSED>(-value.abs()).exp().ln_1p().0).sqrt()
            }),
        }
        if let Some(all) = rows.wanted(2) {
            match self.behind {
                true => soften::<FUSED>(all, x),
                false => all.copy_from(weights.as_row()),
            }
        }
        match rows.optional(1) {
            Some(bias) => scores.map2(weights.as_row(), bias, |weight, bias| weight + bias),
            None => scores.copy_from(weights.as_row()),
        }
        if self.groups.count > 1 {
            self.limit(scores, scratch.slice(2 * self.experts, self.groups.count));
        }
        let finished = rows.optional(2).is_some_and(|flag| flag.get(0) != 0.0);
        let (y, chosen) = (rows.output(0), rows.output(1));
        let mut last = None;
        for slot in 0..self.k {
            let next = next_largest(scores.as_row(), last);
            y.set(slot, weights.get(next.1));
            chosen.set(slot, if finished { self.experts } else { next.1 } as f32);
            last = Some(next);
        }
        if self.behind {
            soften::<FUSED>(y, y.as_row());
        }
        if self.renormalised {
            let total = sum(y.as_row()) + self.epsilon;
            y.map1(y.as_row(), |value| value / total);
        }
        let factor = self.factor;
        y.map1(y.as_row(), |value| value * factor);
    }
}

/// The scores, and the outputs that all forms have.
struct Chosen {
    x: View,
    experts: usize,
    k: usize,
    dims: Vec<usize>,
    y: View,
    indices: View,
}

fn chosen(cx: &Cx<'_>) -> Result<Chosen, Refusal> {
    let (x, y, indices) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("expertIdxOut")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&y, FLOATS)?;
    cx.check_dtype(&indices, DataType::Int32)?;
    let k = cx.int("k")?;
    let (Some((&experts, leading)), Ok(count)) = (x.dims().split_last(), usize::try_from(k)) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and k is {k}; expected at least one dimension and one expert",
            x.dims()
        )));
    };
    if count == 0 || count > experts {
        return Err(cx.invalid(format_args!(
            "k is {k}; it must be between 1 and the number of experts, {experts}"
        )));
    }
    // Indices pass through float32.
    if experts >= 1 << 24 {
        return Err(cx.invalid(format_args!(
            "{experts} experts are too many; expected fewer than 2^24"
        )));
    }
    let dims = [leading, &[count]].concat();
    cx.check_dims(&y, &dims)?;
    cx.check_dims(&indices, &dims)?;
    Ok(Chosen {
        x,
        experts,
        k: count,
        dims,
        y,
        indices,
    })
}

/// Returns the flags of rows that are finished, one for each row.
fn finished(cx: &mut Cx<'_>, x: &View) -> Result<Option<View>, Refusal> {
    let Some(flags) = cx.optional("finishedOptional")? else {
        return Ok(None);
    };
    cx.check_dtype(&flags, DataType::Bool)?;
    let mut dims = x.dims()[..x.rank() - 1].to_vec();
    cx.check_dims(&flags, &dims)?;
    dims.push(1);
    Ok(Some(cx.reshaped(flags, &dims)?))
}

fn plain(parts: &Chosen) -> Gating {
    Gating {
        experts: parts.experts,
        k: parts.k,
        norm: Norm::Softmax,
        groups: Groups {
            count: 1,
            chosen: 1,
            summed: 1,
        },
        renormalised: false,
        behind: false,
        epsilon: 0.0,
        factor: 1.0,
    }
}

/// The largest entries of the softmax, their experts, and for each the number of its row and column.
pub(super) fn softmax(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parts = chosen(cx)?;
    let flags = finished(cx, &parts.x)?;
    let numbers = cx.out("rowIdxOut")?;
    cx.check_dtype(&numbers, DataType::Int32)?;
    cx.check_dims(&numbers, &parts.dims)?;
    let inputs = [Some(parts.x), None, flags];
    cx.rows(
        plain(&parts),
        &inputs,
        &[Some(parts.y), Some(parts.indices)],
    )?;
    if numbers.is_empty() {
        return Ok(());
    }
    let rows = numbers.elements() / parts.k;
    let merged = MergedOutput::new(cx, numbers, &[rows, parts.k])?;
    cx.kernel(Box::new(ColumnNumbers), &[], &[merged.rows], false)?;
    merged.finish(cx)
}

pub(super) fn softmax_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parts = chosen(cx)?;
    let flags = finished(cx, &parts.x)?;
    let behind = match cx.int("renorm")? {
        0 => false,
        1 => true,
        other => return Err(cx.invalid(format_args!("renorm is {other}; it must be 0 or 1"))),
    };
    let all = match cx.flag("outputSoftmaxResultFlag")? && !behind {
        true => {
            let all = cx.out("softmaxResultOutOptional")?;
            cx.check_dtype(&all, DataType::Float32)?;
            cx.check_dims(&all, parts.x.dims())?;
            Some(all)
        }
        false => None,
    };
    let function = Gating {
        behind,
        ..plain(&parts)
    };
    let inputs = [Some(parts.x), None, flags];
    cx.rows(
        function,
        &inputs,
        &[Some(parts.y), Some(parts.indices), all],
    )
}

/// Reads a positive number.
fn positive(cx: &Cx<'_>, param: &str) -> Result<usize, Refusal> {
    let value = cx.int(param)?;
    match usize::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(cx.invalid(format_args!("{param} is {value}; it must be at least 1"))),
    }
}

/// A choice of experts by sigmoids with a bias, from the best groups.
pub(crate) struct Gates {
    pub k: usize,
    pub groups: usize,
    /// Groups that are chosen from.
    pub kept: usize,
    /// How many of its largest scores a group counts by.
    pub summed: usize,
    pub renormalised: bool,
    pub factor: f32,
}

/// Chooses experts. Types and shapes were checked.
pub(crate) fn sigmoid_top_k(
    cx: &mut Cx<'_>,
    (x, bias): (View, View),
    gates: Gates,
    (y, indices): (View, View),
) -> Result<(), Refusal> {
    let function = Gating {
        experts: x.dims()[x.rank() - 1],
        k: gates.k,
        norm: Norm::Sigmoid,
        groups: Groups {
            count: gates.groups,
            chosen: gates.kept,
            summed: gates.summed,
        },
        renormalised: gates.renormalised,
        behind: false,
        epsilon: 0.0,
        factor: gates.factor,
    };
    let inputs = [Some(x), Some(bias), None];
    cx.rows(function, &inputs, &[Some(y), Some(indices), None])
}

pub(super) fn top_k(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let parts = chosen(cx)?;
    let (count, kept) = (positive(cx, "groupCount")?, positive(cx, "kGroup")?);
    let by_two = match cx.int("groupSelectMode")? {
        0 => false,
        1 => true,
        other => {
            return Err(cx.invalid(format_args!(
                "groupSelectMode is {other}; it must be 0 or 1"
            )));
        }
    };
    let (experts, k) = (parts.experts, parts.k);
    let size = experts / count;
    if experts % count != 0 || kept > count || k > size * kept || size <= usize::from(by_two) {
        return Err(cx.invalid(format_args!(
            "{experts} experts in {count} groups, of which {kept} are chosen from, cannot give {k} experts by groupSelectMode {}",
            u8::from(by_two)
        )));
    }
    let norm = match cx.int("normType")? {
        0 => Norm::Softmax,
        1 => Norm::Sigmoid,
        2 => Norm::Softplus,
        other => {
            return Err(cx.invalid(format_args!("normType is {other}; it must be 0, 1 or 2")));
        }
    };
    let renormalised = match (norm, cx.int("renorm")?) {
        (Norm::Softmax, 0) => false,
        (_, 0 | 1) => true,
        (_, other) => return Err(cx.invalid(format_args!("renorm is {other}; it must be 0 or 1"))),
    };
    let bias = cx.optional("biasOptional")?;
    if let Some(bias) = &bias {
        cx.check_types(bias, FLOATS)?;
        cx.check_dims(bias, &[experts])?;
    }
    let all = match cx.flag("outFlag")? {
        true => {
            let all = cx.out("outOut")?;
            cx.check_dtype(&all, DataType::Float32)?;
            cx.check_dims(&all, parts.x.dims())?;
            Some(all)
        }
        false => None,
    };
    let function = Gating {
        norm,
        groups: Groups {
            count,
            chosen: kept,
            summed: 1 + usize::from(by_two),
        },
        renormalised,
        epsilon: cx.float("eps")? as f32,
        factor: cx.float("routedScalingFactor")? as f32,
        ..plain(&parts)
    };
    let inputs = [Some(parts.x), bias, None];
    cx.rows(
        function,
        &inputs,
        &[Some(parts.y), Some(parts.indices), all],
    )
}
