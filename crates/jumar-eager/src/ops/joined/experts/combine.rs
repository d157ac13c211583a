//! Results of experts on their way back.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::{Choices, Deployment, HALVES, data, either, has, mask};
use crate::build::Cx;
use crate::ops::index;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Transfer};

/// Lists the rows that go back to each rank: by rank, in parts of the largest size, by expert.
///
/// Input: the end of the rows of each expert and rank, int32. Output: for each row of the parts the row of the results, int64.
struct Return {
    of: Deployment,
    rows: usize,
}

impl Kernel for Return {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let of = &self.of;
        let ends = call.input::<i32>(0)?.flat();
        let out = call.output::<i64>(0)?.flat();
        out.fill(-1);
        let mut used = vec![0; of.ranks];
        let mut start = 0;
        for own in 0..of.own() {
            for (rank, used) in used.iter_mut().enumerate() {
                let end = ends.get(own * of.ranks + rank);
                let range = usize::try_from(end).ok().filter(|&end| {
                    end >= start && end <= self.rows && *used + (end - start) <= of.part()
                });
                let Some(end) = range else {
                    return Err(data(format!(
                        "{}: epSendCounts is {end} for expert {own} and rank {rank}; pass what the operator that sent the tokens wrote",
                        of.operator
                    )));
                };
                for row in start..end {
                    out.set(rank * of.part() + *used, row as i64);
                    *used += 1;
                }
                start = end;
            }
        }
        Ok(())
    }
}

/// Finds the results of each token among those that came back.
///
/// Input: the choices of this rank's tokens. Outputs: the row of each choice, and of each shared expert, int64 (-1: none).
struct Found(Deployment);

impl Kernel for Found {
    fn scratch_bytes(&self) -> usize {
        self.0.experts * size_of::<i64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let of = &self.0;
        let choices = call.input::<i32>(0)?.flat();
        let (rows, shared) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        // Where the rows of each expert begin in the part of its rank.
        let next = call.scratch::<i64>(0, of.experts)?;
        next.fill(0);
        let each_choice = |token: usize, slot: usize| {
            usize::try_from(choices.get(token * (of.each + 1) + slot)).ok()
        };
        for token in 0..of.tokens {
            for slot in 0..of.each {
                if let Some(expert) = each_choice(token, slot) {
                    next.set(expert, next.get(expert) + 1);
                }
            }
        }
        let mut start = 0;
        for expert in 0..of.experts {
            if expert.is_multiple_of(of.per_rank()) {
                start = 0;
            }
            let count = next.get(expert);
            next.set(expert, start);
            start += count;
        }
        let mut taking_part = 0;
        for token in 0..of.tokens {
            for slot in 0..of.each {
                let row = each_choice(token, slot).map_or(-1, |expert| {
                    let rank = of.shared_ranks + expert / of.per_rank();
                    let position = next.get(expert);
                    next.set(expert, position + 1);
                    (rank * of.part()) as i64 + position
                });
                rows.set(token * of.each + slot, row);
            }
            let takes_part = choices.get(token * (of.each + 1) + of.each) == 1;
            for expert in 0..shared.len() / of.tokens {
                let row = match takes_part {
                    true => (of.shared_rank(expert, of.me) * of.part() + taking_part) as i64,
                    false => -1,
                };
                shared.set(token * (shared.len() / of.tokens) + expert, row);
            }
            taking_part += usize::from(takes_part);
        }
        Ok(())
    }
}

// The operands of the function.
const RESULTS: usize = 0;
const SCALES: usize = 1;
const EXPERTS: usize = 2;
const SHARED: usize = 3;
const OWN: usize = 4;
const ORIGINAL: usize = 5;
const ALPHA: usize = 6;
const BETA: usize = 7;
const CONSTANT: usize = 8;
const MASK: usize = 9;

/// `out = sum of scale * result, shared results, and what experts that compute nothing stand for`.
struct Combine(Deployment);

impl RowFunction for Combine {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (of, out) = (&self.0, rows.output(0));
        let (width, [zero, copy, _]) = (of.width, of.special);
        match rows.optional(OWN) {
            Some(own) => out.copy_from(own),
            None => out.fill(0.0),
        }
        if let Some(shared) = rows.optional(SHARED) {
            // There are no scales for these.
            for expert in 0..shared.len() / width {
                let result = shared.slice(expert * width, width);
                out.update(result, |value, result| value + result);
            }
        }
        let (scales, experts) = (rows.input(SCALES), rows.input(EXPERTS));
        for slot in 0..of.each {
            if rows
                .optional(MASK)
                .is_some_and(|mask| mask.get(slot) == 0.0)
            {
                continue;
            }
            let (scale, expert) = (scales.get(slot), experts.get(slot) as usize);
            if expert < of.experts {
                let result = rows.input(RESULTS).slice(slot * width, width);
                out.update(result, |value, result| value + scale * result);
                continue;
            }
            let (kind, Some(original)) = (expert - of.experts, rows.optional(ORIGINAL)) else {
                continue;
            };
            if kind >= zero && kind < zero + copy {
                out.update(original, |value, own| value + scale * own);
            } else if kind >= zero + copy
                && let (Some(alpha), Some(beta), Some(constant)) = (
                    rows.optional(ALPHA),
                    rows.optional(BETA),
                    rows.optional(CONSTANT),
                )
            {
                let start = (kind - zero - copy) * width;
                for at in 0..width {
                    let own = alpha.get(start + at) * original.get(at);
                    let other = beta.get(start + at) * constant.get(start + at);
                    out.set(at, out.get(at) + scale * (own + other));
                }
            }
        }
    }
}

/// Returns the tables of experts that stand for a constant, as one row each.
fn constants(cx: &mut Cx<'_>, of: &Deployment, x: &View) -> Result<[Option<View>; 3], Refusal> {
    let mut tables = [None; 3];
    let count = of.special[2];
    if count == 0 {
        return Ok(tables);
    }
    let params = [
        "constExpertAlpha1Optional",
        "constExpertAlpha2Optional",
        "constExpertVOptional",
    ];
    for (slot, param) in tables.iter_mut().zip(params) {
        let table = cx.tensor(param)?;
        cx.check_dtype(&table, x.dtype())?;
        cx.check_dims(&table, &[count, of.width])?;
        let row = cx.reshaped(table, &[1, count * of.width])?;
        *slot = row.expand(&[of.tokens, count * of.width]);
    }
    Ok(tables)
}

/// Returns the sum of the results of each token's experts, in float32.
fn combined(cx: &mut Cx<'_>) -> Result<(View, Deployment), Refusal> {
    let (x, ids) = (cx.tensor("expandX")?, cx.tensor("expertIds")?);
    cx.check_types(&x, HALVES)?;
    let (group, of) = Deployment::new(cx, &x, &ids)?;
    let rows = match x.dims() {
        &[rows, _] if rows >= of.rows() => rows,
        dims => {
            return Err(cx.invalid(format_args!(
                "expandX has the shape {dims:?}; it must have at least {} rows",
                of.rows()
            )));
        }
    };
    if !matches!(cx.int("commQuantMode")?, 0 | 2) {
        return Err(cx.invalid(format_args!(
            "commQuantMode is {}; it must be 0 or 2",
            cx.int("commQuantMode")?
        )));
    }
    // Not documented: how results are rounded that may travel as int8, with 2. Here they are not.
    let scales = cx.tensor("expertScales")?;
    cx.check_dtype(&scales, DataType::Float32)?;
    cx.check_dims(&scales, &[of.tokens, of.each])?;
    let ends = cx.tensor("epSendCounts")?;
    cx.check_dtype(&ends, DataType::Int32)?;
    let wanted = of.own() * of.ranks;
    if ends.elements() < wanted {
        return Err(cx.invalid(format_args!(
            "epSendCounts has the shape {:?}; it must have at least {wanted} elements",
            ends.dims()
        )));
    }
    let mask = mask(cx, &of)?;
    let own = match has(cx, "sharedExpertXOptional") {
        true => cx.optional("sharedExpertXOptional")?,
        false => None,
    };
    let own = match own {
        Some(own) if own.elements() == of.tokens * of.width => {
            cx.check_dtype(&own, x.dtype())?;
            Some(cx.reshaped(own, &[of.tokens, of.width])?)
        }
        Some(own) => {
            return Err(cx.invalid(format_args!(
                "sharedExpertXOptional has the shape {:?}; it must be [{}, {}]",
                own.dims(),
                of.tokens,
                of.width
            )));
        }
        None => None,
    };
    let original = match of.special[1] + of.special[2] > 0 {
        true => {
            let original = cx.tensor("oriXOptional")?;
            cx.check_dtype(&original, x.dtype())?;
            cx.check_dims(&original, &[of.tokens, of.width])?;
            Some(original)
        }
        false => None,
    };
    let [alpha, beta, constant] = constants(cx, &of, &x)?;

    let ids = cx.dense(ids)?;
    let choices = cx.temporary(DataType::Int32, &[of.most, of.each + 1])?;
    let mut inputs = vec![Some(ids)];
    if let Some(mask) = mask {
        inputs.push(Some(cx.dense(mask)?.reinterpret(DataType::UInt8)));
    }
    let kernel = Choices {
        of,
        masked: mask.is_some(),
    };
    cx.kernel(Box::new(kernel), &inputs, &[choices], false)?;
    let ends = cx.dense(ends)?;
    let parts = of.ranks * of.part();
    let positions = cx.temporary(DataType::Int64, &[parts])?;
    let kernel = Return { of, rows };
    cx.kernel(Box::new(kernel), &[Some(ends)], &[positions], false)?;
    let sent = cx.temporary(x.dtype(), &[parts, of.width])?;
    index::rows_at(cx, x, positions, sent)?;
    let received = cx.temporary(x.dtype(), &[parts, of.width])?;
    let both = (Some(sent), Some(received));
    cx.exchange(&group, Transfer::AllToAll, both, &of.mark())?;

    let shared = if of.shared_ranks > 0 { of.shared } else { 0 };
    let found = cx.temporary(DataType::Int64, &[of.tokens * of.each])?;
    let found_shared = cx.temporary(DataType::Int64, &[of.tokens * shared])?;
    let outputs = [found, found_shared];
    cx.kernel(Box::new(Found(of)), &[Some(choices)], &outputs, false)?;
    let gather = |cx: &mut Cx<'_>, positions: View, each: usize| -> Result<View, Refusal> {
        let rows = cx.temporary(x.dtype(), &[of.tokens, each * of.width])?;
        let flat = cx.reshaped(rows, &[of.tokens * each, of.width])?;
        index::rows_at(cx, received, positions, flat)?;
        Ok(rows)
    };
    let results = gather(cx, found, of.each)?;
    let shared = match shared {
        0 => None,
        count => Some(gather(cx, found_shared, count)?),
    };
    let sum = cx.temporary(DataType::Float32, &[of.tokens, of.width])?;
    let inputs = [
        Some(results),
        Some(scales),
        Some(ids),
        shared,
        own,
        original,
        alpha,
        beta,
        constant,
        mask,
    ];
    cx.rows(Combine(of), &inputs, &[Some(sum)])?;
    Ok((sum, of))
}

/// Brings the results of experts back to the ranks of their tokens, and adds them up.
pub(in super::super) fn combine(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sum, of) = combined(cx)?;
    let out = cx.out(either(cx, &["xOut", "x"]))?;
    let x = cx.tensor("expandX")?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, &[of.tokens, of.width])?;
    cx.copy(sum, out)
}

/// `x = sum + residual`, `rstd = 1 / sqrt(mean(x^2) + eps)`, `y = x * rstd * gamma`
struct AddNorm {
    width: usize,
    epsilon: f32,
}

impl RowFunction for AddNorm {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (y, rstd, x) = (rows.output(0), rows.output(1), rows.output(2));
        x.map2(rows.input(0), rows.input(1), |sum, residual| sum + residual);
        let mut squares = 0f64;
        for at in 0..self.width {
            squares += f64::from(x.get(at)) * f64::from(x.get(at));
        }
        let mean = (squares / self.width as f64) as f32;
        let factor = 1.0 / (mean + self.epsilon).sqrt();
        rstd.set(0, factor);
        y.map2(x.as_row(), rows.input(2), |value, gamma| {
            value * factor * gamma
        });
    }
}

/// As [`combine`], with a residual and a norm behind it.
pub(in super::super) fn combine_and_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sum, of) = combined(cx)?;
    let (x, gamma) = (cx.tensor("expandX")?, cx.tensor("gamma")?);
    let mut rows = [None; 3];
    for (slot, param) in rows.iter_mut().zip(["residualX", "yOut", "xOut"]) {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, x.dtype())?;
        let shaped = view.reshape(&[of.tokens, of.width]);
        let fits = matches!(view.rank(), 2 | 3) && view.dims().last() == Some(&of.width);
        match shaped.filter(|_| fits) {
            Some(shaped) => *slot = Some(shaped),
            None => {
                return Err(cx.invalid(format_args!(
                    "{param} has the shape {:?}; it must be [{}, 1, {}]",
                    view.dims(),
                    of.tokens,
                    of.width
                )));
            }
        }
    }
    cx.check_dtype(&gamma, x.dtype())?;
    cx.check_dims(&gamma, &[of.width])?;
    let rstd = cx.out("rstdOut")?;
    cx.check_dtype(&rstd, DataType::Float32)?;
    let Some(rstd) = rstd.reshape(&[of.tokens, 1]) else {
        return Err(cx.invalid(format_args!(
            "rstdOut has the shape {:?}; it must be [{}, 1, 1]",
            rstd.dims(),
            of.tokens
        )));
    };
    let gamma = gamma.unsqueeze(0).expand(&[of.tokens, of.width]);
    let [residual, y, out] = rows;
    let function = AddNorm {
        width: of.width,
        epsilon: cx.float("normEps")? as f32,
    };
    cx.rows(
        function,
        &[Some(sum), residual, gamma],
        &[y, Some(rstd), out],
    )
}
