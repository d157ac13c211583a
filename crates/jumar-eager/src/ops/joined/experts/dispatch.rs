//! Tokens on their way to the ranks of their experts.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::{Choices, Deployment, HALVES, data, either, has, mask};
use crate::build::Cx;
use crate::ops::index;
use crate::ops::quant::by_largest;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Group, Refusal, Scalar, Transfer};

/// Lists the tokens of all ranks that go to this rank's experts: by expert, by rank, in the order of the tokens.
///
/// Input: the choices of all ranks. Outputs, dense: for each row the token among those of all ranks, the choice among theirs, and
/// the row of the expert in a table of all experts (-1: no row), int64; rank, token and choice of each row, int32; the number of
/// rows of each expert, int64; and the end of the rows of each expert and rank, int32.
struct Receive(Deployment);

impl Kernel for Receive {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let of = &self.0;
        let choices = call.input::<i32>(0)?.flat();
        let (tokens, slots, tables) = (
            call.output::<i64>(0)?.flat(),
            call.output::<i64>(1)?.flat(),
            call.output::<i64>(2)?.flat(),
        );
        let origins = call.output::<i32>(3)?.flat();
        let counts = call.output::<i64>(4)?.flat();
        let ends = call.output::<i32>(5)?.flat();
        for positions in [tokens, slots, tables] {
            positions.fill(-1);
        }
        origins.fill(0);
        ends.fill(0);
        let mut row = 0;
        for own in 0..of.own() {
            let before = row;
            for rank in 0..of.ranks {
                for token in 0..of.most {
                    let base = (rank * of.most + token) * (of.each + 1);
                    for slot in 0..=of.each {
                        let wanted = match of.me.checked_sub(of.shared_ranks) {
                            Some(position) => {
                                let expert = position * of.per_rank() + own;
                                slot < of.each && choices.get(base + slot) == expert as i32
                            }
                            None => {
                                let expert = of.me / of.replicas().max(1);
                                slot == of.each
                                    && choices.get(base + slot) == 1
                                    && of.shared_rank(expert, rank) == of.me
                            }
                        };
                        if !wanted {
                            continue;
                        }
                        if row >= tokens.len() {
                            return Err(data(format!(
                                "{}: more than {} rows go to the experts of rank {}; expandX has no space for them",
                                of.operator,
                                tokens.len(),
                                of.me
                            )));
                        }
                        tokens.set(row, (rank * of.most + token) as i64);
                        if slot < of.each {
                            let choice = (rank * of.most + token) * of.each + slot;
                            slots.set(row, choice as i64);
                        }
                        let table = match of.me.checked_sub(of.shared_ranks) {
                            Some(position) => of.shared + position * of.per_rank() + own,
                            None => of.me / of.replicas().max(1),
                        };
                        tables.set(row, table as i64);
                        for (part, value) in [rank, token, slot].into_iter().enumerate() {
                            origins.set(row * 3 + part, value as i32);
                        }
                        row += 1;
                    }
                }
                ends.set(own * of.ranks + rank, row as i32);
            }
            counts.set(own, (row - before) as i64);
        }
        Ok(())
    }
}

/// `out = round(x * smooth / scale)`, and the scale: the largest magnitude through 127.
struct ByToken;

impl RowFunction for ByToken {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let out = rows.output(0);
        match rows.optional(1) {
            Some(smooth) => out.map2(rows.input(0), smooth, |value, smooth| value * smooth),
            None => out.copy_from(rows.input(0)),
        }
        rows.output(1).set(0, by_largest(out, (-127.0, 127.0)));
    }
}

/// Adds the tokens of other ranks to those of this one: dense, with as many rows for each rank.
fn gathered(cx: &mut Cx<'_>, group: &Group, of: &Deployment, own: View) -> Result<View, Refusal> {
    let (dtype, width) = (own.dtype(), own.dims()[1]);
    let sent = match of.tokens == of.most {
        true => cx.dense(own)?,
        false => {
            let padded = cx.temporary(dtype, &[of.most, width])?;
            let rest = padded.slice(0, of.tokens, of.most - of.tokens, 1);
            cx.fill(Scalar::of_i64(0), rest)?;
            cx.copy(own, padded.slice(0, 0, of.tokens, 1))?;
            padded
        }
    };
    let all = cx.temporary(dtype, &[of.ranks * of.most, width])?;
    cx.exchange(
        group,
        Transfer::AllGather,
        (Some(sent), Some(all)),
        &of.mark(),
    )?;
    Ok(all)
}

/// Writes the first elements of an output, and zeros behind them.
fn write_first(cx: &mut Cx<'_>, from: View, out: View) -> Result<(), Refusal> {
    let count = from.elements();
    if out.elements() < count {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have at least {count} elements",
            cx.param_of(&out),
            out.dims()
        )));
    }
    let total = out.elements();
    let all = match out.reshape(&[total]) {
        Some(all) => all,
        None => cx.temporary(out.dtype(), &[total])?,
    };
    cx.copy(from, all.slice(0, 0, count, 1))?;
    if total > count {
        cx.fill(Scalar::of_i64(0), all.slice(0, count, total - count, 1))?;
    }
    if all.base != out.base {
        let all = cx.reshaped(all, out.dims())?;
        cx.copy(all, out)?;
    }
    Ok(())
}

/// Sends the tokens to the ranks of their experts.
pub(in super::super) fn dispatch(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, ids) = (cx.tensor("x")?, cx.tensor("expertIds")?);
    cx.check_types(&x, HALVES)?;
    let (group, of) = Deployment::new(cx, &x, &ids)?;
    cx.check_dims(&x, &[of.tokens, of.width])?;
    let quantised = match cx.int("quantMode")? {
        0 => false,
        2 => true,
        mode => {
            return Err(cx.invalid(format_args!(
                "quantMode is {mode}; it must be 0 or 2 (by the largest magnitude of a token)"
            )));
        }
    };
    let kind = cx.int("expertTokenNumsType")?;
    if !(0..=1).contains(&kind) {
        return Err(cx.invalid(format_args!(
            "expertTokenNumsType is {kind}; it must be 0 (ends) or 1 (counts)"
        )));
    }
    let mask = mask(cx, &of)?;
    let out = cx.out(either(cx, &["expandXOut", "expandX"]))?;
    cx.check_dtype(&out, if quantised { DataType::Int8 } else { x.dtype() })?;
    let rows = match out.dims() {
        &[rows, width] if width == of.width && rows >= of.rows() => rows,
        dims => {
            return Err(cx.invalid(format_args!(
                "{} has the shape {dims:?}; it must have at least {} rows of {}",
                cx.param_of(&out),
                of.rows(),
                of.width
            )));
        }
    };
    let smooth = cx.optional(either(cx, &["scalesOptional", "scales"]))?;
    let smooth = smooth.filter(|_| quantised);
    if let Some(smooth) = &smooth {
        cx.check_dtype(smooth, DataType::Float32)?;
        cx.check_dims(smooth, &[of.shared + of.experts, of.width])?;
    }
    let nums = cx.out(either(cx, &["expertTokenNumsOut", "expertTokenNums"]))?;
    cx.check_dtype(&nums, DataType::Int64)?;
    cx.check_dims(&nums, &[of.own()])?;
    let ends = cx.out(either(cx, &["epRecvCountsOut", "epRecvCounts"]))?;
    cx.check_dtype(&ends, DataType::Int32)?;

    // The choices first: they are few, and wrong ones end the call before anything else is sent.
    let first = has(cx, "expandIdx");
    let choices = cx.temporary(DataType::Int32, &[of.most, of.each + 1])?;
    let ids = cx.dense(ids)?;
    let mut inputs = vec![Some(ids)];
    if let Some(mask) = mask {
        inputs.push(Some(cx.dense(mask)?.reinterpret(DataType::UInt8)));
    }
    let mut outputs = vec![choices];
    if first {
        let numbers = cx.temporary(DataType::Int32, &[of.tokens * of.each])?;
        outputs.push(numbers);
    }
    let kernel = Choices {
        of,
        masked: mask.is_some(),
    };
    cx.kernel(Box::new(kernel), &inputs, &outputs, false)?;
    if first {
        let to = cx.out("expandIdx")?;
        cx.check_dtype(&to, DataType::Int32)?;
        write_first(cx, outputs[1], to)?;
    }
    let all_choices = cx.temporary(DataType::Int32, &[of.ranks * of.most, of.each + 1])?;
    let both = (Some(choices), Some(all_choices));
    cx.exchange(&group, Transfer::AllGather, both, &of.mark())?;
    let all = gathered(cx, &group, &of, x)?;
    let weights = cx.optional(either(cx, &["expertScalesOptional", "expertScales"]))?;
    let weights_out = cx.optional(either(cx, &["expandScalesOut", "expandScales"]))?;
    let weights = match (weights, weights_out) {
        (Some(weights), Some(out)) if !out.is_empty() => {
            cx.check_dtype(&weights, DataType::Float32)?;
            cx.check_dims(&weights, &[of.tokens, of.each])?;
            cx.check_dtype(&out, DataType::Float32)?;
            Some((gathered(cx, &group, &of, weights)?, out))
        }
        _ => None,
    };

    let temporary = |cx: &mut Cx<'_>, dtype, len: usize| cx.temporary(dtype, &[len]);
    let (tokens, slots, tables) = (
        temporary(cx, DataType::Int64, rows)?,
        temporary(cx, DataType::Int64, rows)?,
        temporary(cx, DataType::Int64, rows)?,
    );
    let origins = temporary(cx, DataType::Int32, 3 * rows)?;
    let counts = temporary(cx, DataType::Int64, of.own())?;
    let own_ends = temporary(cx, DataType::Int32, of.own() * of.ranks)?;
    let outputs = [tokens, slots, tables, origins, counts, own_ends];
    cx.kernel(Box::new(Receive(of)), &[Some(all_choices)], &outputs, false)?;
    match quantised {
        false => index::rows_at(cx, all, tokens, out)?,
        true => {
            let own = cx.temporary(x.dtype(), &[rows, of.width])?;
            index::rows_at(cx, all, tokens, own)?;
            let smooth = match smooth {
                Some(table) => {
                    let own = cx.temporary(DataType::Float32, &[rows, of.width])?;
                    index::rows_at(cx, table, tables, own)?;
                    Some(own)
                }
                None => None,
            };
            let scales = cx.out(either(cx, &["dynamicScalesOut", "dynamicScales"]))?;
            cx.check_dtype(&scales, DataType::Float32)?;
            cx.check_dims(&scales, &[rows])?;
            let scales = scales.unsqueeze(1);
            cx.rows(ByToken, &[Some(own), smooth], &[Some(out), Some(scales)])?;
        }
    }
    if let Some((weights, out)) = weights {
        let flat = cx.reshaped(weights, &[of.ranks * of.most * of.each, 1])?;
        let own = cx.temporary(DataType::Float32, &[rows, 1])?;
        index::rows_at(cx, flat, slots, own)?;
        let own = cx.reshaped(own, &[rows])?;
        write_first(cx, own, out)?;
    }
    if !first {
        let to = cx.out("assistInfoForCombineOut")?;
        cx.check_dtype(&to, DataType::Int32)?;
        write_first(cx, origins, to)?;
    }
    let counts = match kind {
        0 => {
            let sums = cx.temporary(DataType::Int64, &[of.own()])?;
            cx.kernel(
                Box::new(crate::ops::routing::RunningSum),
                &[Some(counts)],
                &[sums],
                false,
            )?;
            sums
        }
        _ => counts,
    };
    cx.copy(counts, nums)?;
    write_first(cx, own_ends, ends)
}
