//! Products of the tokens of experts, before or behind an exchange of the tokens.
//!
//! Both lists of counts have an entry for each rank and each of its experts: entry `rank * experts + expert`. A rank sends and
//! receives in this order. Products need the rows of one expert side by side: by expert first, and then by rank.

use super::{HALVES, group_of_size};
use crate::build::Cx;
use crate::ops::matrix::multiply;
use crate::view::View;
use crate::{Group, Refusal, Transfer};

/// What the operators of both directions take.
struct Call {
    group: Group,
    x: View,
    /// One matrix for each expert.
    weight: View,
    experts: usize,
    sent: Vec<usize>,
    received: Vec<usize>,
}

/// Returns an array of counts.
fn counts(cx: &Cx<'_>, param: &str, len: usize) -> Result<Vec<usize>, Refusal> {
    let values = cx.ints(param)?;
    let counts = values.iter().map(|&count| usize::try_from(count));
    match counts.collect::<Result<Vec<usize>, _>>() {
        Ok(counts)
            if counts.len() == len && counts.iter().all(|&count| count <= u32::MAX as usize) =>
        {
            Ok(counts)
        }
        _ => Err(cx.invalid(format_args!(
            "{param} is {values:?}; it must have {len} counts, one for each rank and each of its experts"
        ))),
    }
}

impl Call {
    fn new(cx: &Cx<'_>) -> Result<Call, Refusal> {
        for param in ["sendCountsTensorOptional", "recvCountsTensorOptional"] {
            if cx.optional(param)?.is_some() {
                return Err(cx.unsupported(format_args!(
                    "{param} is not supported: pass a null pointer"
                )));
            }
        }
        let (x, weight) = (cx.tensor("gmmX")?, cx.tensor("gmmWeight")?);
        cx.check_types(&x, HALVES)?;
        cx.check_dtype(&weight, x.dtype())?;
        let (&[_, depth], &[experts, rows, columns]) = (x.dims(), weight.dims()) else {
            return Err(cx.invalid(format_args!(
                "gmmX has the shape {:?} and gmmWeight {:?}; expected 2 and 3 dimensions",
                x.dims(),
                weight.dims()
            )));
        };
        let swapped = cx.flag("transGmmWeight")?;
        if (if swapped { columns } else { rows }) != depth || experts == 0 {
            return Err(cx.invalid(format_args!(
                "gmmX has the shape {:?} and gmmWeight {:?}: the products do not exist",
                x.dims(),
                weight.dims()
            )));
        }
        let weight = match swapped {
            true => weight.transpose(1, 2),
            false => weight,
        };
        let group = group_of_size(cx, "group", "epWorldSize")?;
        let len = experts * group.size as usize;
        let (sent, received) = (
            counts(cx, "sendCounts", len)?,
            counts(cx, "recvCounts", len)?,
        );
        let rows: usize = sent.iter().sum();
        if x.dims()[0] != rows {
            return Err(cx.invalid(format_args!(
                "gmmX has {} rows; sendCounts add up to {rows}",
                x.dims()[0]
            )));
        }
        Ok(Call {
            group,
            x,
            weight,
            experts,
            sent,
            received,
        })
    }

    fn columns(&self) -> usize {
        self.weight.dims()[2]
    }

    /// Moves rows between the ranks.
    fn exchange(&self, cx: &mut Cx<'_>, from: View, to: View) -> Result<(), Refusal> {
        let width = from.dims()[1];
        let by_rank = |counts: &[usize]| -> Vec<u64> {
            let ranks = counts.chunks(self.experts);
            ranks
                .map(|counts| (counts.iter().sum::<usize>() * width) as u64)
                .collect()
        };
        let transfer = Transfer::AllToAllV {
            send: by_rank(&self.sent),
            receive: by_rank(&self.received),
        };
        let mark = [self.experts, width];
        cx.exchange(&self.group, transfer, (Some(from), Some(to)), &mark)
    }

    /// Copies rows from the order of ranks to the order of experts, or back.
    fn reorder(
        &self,
        cx: &mut Cx<'_>,
        counts: &[usize],
        (by_rank, by_expert): (View, View),
        back: bool,
    ) -> Result<(), Refusal> {
        let starts: Vec<usize> = running(counts);
        let mut start = 0;
        for expert in 0..self.experts {
            for index in (expert..counts.len()).step_by(self.experts) {
                let count = counts[index];
                let one = by_rank.slice(0, starts[index], count, 1);
                let other = by_expert.slice(0, start, count, 1);
                match back {
                    true => cx.copy(other, one)?,
                    false => cx.copy(one, other)?,
                }
                start += count;
            }
        }
        Ok(())
    }

    /// Multiplies the rows of each expert with its matrix.
    fn products(
        &self,
        cx: &mut Cx<'_>,
        counts: &[usize],
        x: View,
        out: View,
    ) -> Result<(), Refusal> {
        let mut start = 0;
        for expert in 0..self.experts {
            let count = counts.iter().skip(expert).step_by(self.experts).sum();
            let (own, to) = (x.slice(0, start, count, 1), out.slice(0, start, count, 1));
            multiply(cx, own, self.weight.select(0, expert), to)?;
            start += count;
        }
        Ok(())
    }
}

/// Returns the sum of the numbers before each.
fn running(counts: &[usize]) -> Vec<usize> {
    let mut next = 0;
    let start = |count: &usize| {
        let start = next;
        next += count;
        start
    };
    counts.iter().map(start).collect()
}

/// Writes the product of the expert that all tokens go to, which this rank computes alone.
fn shared(cx: &mut Cx<'_>, call: &Call) -> Result<(), Refusal> {
    let (x, weight) = (
        cx.optional("mmXOptional")?,
        cx.optional("mmWeightOptional")?,
    );
    let (x, weight) = match (x, weight) {
        (Some(x), Some(weight)) => (x, weight),
        (None, None) => return Ok(()),
        (given, _) => {
            let (given, null) = match given {
                Some(_) => ("mmXOptional", "mmWeightOptional"),
                None => ("mmWeightOptional", "mmXOptional"),
            };
            return Err(cx.invalid(format_args!(
                "{given} is given and {null} is null; give both or none"
            )));
        }
    };
    let out = cx.tensor("mmYOptional")?;
    for view in [&x, &weight, &out] {
        cx.check_dtype(view, call.x.dtype())?;
        if view.rank() != 2 {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; expected 2 dimensions",
                cx.param_of(view),
                view.dims()
            )));
        }
    }
    let weight = match cx.flag("transMmWeight")? {
        true => weight.transpose(0, 1),
        false => weight,
    };
    multiply(cx, x, weight, out)
}

/// Receives the tokens of this rank's experts, and multiplies them.
pub(super) fn receive_and_multiply(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let call = Call::new(cx)?;
    let (rows, depth) = (call.received.iter().sum(), call.x.dims()[1]);
    let out = cx.out("gmmY")?;
    cx.check_dtype(&out, call.x.dtype())?;
    cx.check_dims(&out, &[rows, call.columns()])?;
    let wanted = match cx.flag("permuteOutFlag")? {
        true => Some(cx.tensor("permuteOutOptional")?),
        false => None,
    };
    if let Some(wanted) = &wanted {
        cx.check_dtype(wanted, call.x.dtype())?;
        cx.check_dims(wanted, &[rows, depth])?;
    }
    let own = cx.dense(call.x)?;
    let by_rank = cx.temporary(own.dtype(), &[rows, depth])?;
    call.exchange(cx, own, by_rank)?;
    let by_expert = match wanted {
        Some(wanted) => wanted,
        None => cx.temporary(own.dtype(), &[rows, depth])?,
    };
    call.reorder(cx, &call.received, (by_rank, by_expert), false)?;
    call.products(cx, &call.received, by_expert, out)?;
    shared(cx, &call)
}

/// Multiplies the tokens of this rank's experts, and sends the results back.
pub(super) fn multiply_and_send(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let call = Call::new(cx)?;
    let (rows, columns) = (call.received.iter().sum(), call.columns());
    let out = cx.out("y")?;
    cx.check_dtype(&out, call.x.dtype())?;
    cx.check_dims(&out, &[rows, columns])?;
    let dims = [call.x.dims()[0], columns];
    let by_expert = cx.temporary(call.x.dtype(), &dims)?;
    call.products(cx, &call.sent, call.x, by_expert)?;
    let by_rank = cx.temporary(call.x.dtype(), &dims)?;
    call.reorder(cx, &call.sent, (by_rank, by_expert), true)?;
    let got = match out.is_dense() {
        true => out,
        false => cx.temporary(out.dtype(), out.dims())?,
    };
    call.exchange(cx, by_rank, got)?;
    cx.copy(got, out)?;
    shared(cx, &call)
}
