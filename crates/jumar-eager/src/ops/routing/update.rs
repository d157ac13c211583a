//! Instances of experts on several ranks, of which each assignment gets one, and assignments that are dropped.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::permute::int64;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::{Body, Real, bad_data, run};
use crate::ops::operands::FLOATS;

/// How one of several instances is chosen.
#[derive(Clone, Copy, Debug)]
enum Balance {
    /// By the rank of the caller, and the number of ranks.
    Rank(usize, usize),
    /// By the number of the token.
    Token,
}

/// Replaces experts by their instances. Inputs: the experts of each token and the table, dense int64. A row of the table has the number of
/// instances of an expert, and the instances. Output: dense int64.
struct Instances {
    operator: &'static str,
    /// The experts of a token.
    each: usize,
    experts: usize,
    columns: usize,
    balance: Balance,
}

impl Kernel for Instances {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (experts, table) = (call.input::<i64>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<i64>(0)?.flat();
        for at in 0..experts.len() {
            let expert = experts.get(at);
            let Some(own) = usize::try_from(expert)
                .ok()
                .filter(|own| *own < self.experts)
            else {
                return Err(bad_data(format!(
                    "{}: expertIds has the expert {expert} at element {at}; it must be between 0 and {}",
                    self.operator,
                    self.experts as i64 - 1
                )));
            };
            let row = table.slice(own * self.columns, self.columns);
            let count = row.get(0);
            let Some(count) = usize::try_from(count)
                .ok()
                .filter(|count| (1..self.columns).contains(count))
            else {
                return Err(bad_data(format!(
                    "{}: eplbTable has {count} instances of the expert {own}; it must have 1 to {}",
                    self.operator,
                    self.columns - 1
                )));
            };
            // The document counts from the first column for tokens, which holds the number of instances and no instance.
            let slot = match self.balance {
                Balance::Rank(rank, ranks) => rank / ranks.div_ceil(count),
                Balance::Token => at / self.each % count,
            };
            out.set(at, row.get(1 + slot));
        }
        Ok(())
    }
}

/// Drops assignments whose weight is below a part of the sum of the weights of the token. Inputs: the weights, the parts, and whether each
/// token counts, if that is given. Output: 1 for each assignment that stays.
struct Prune {
    each: usize,
    masked: bool,
}

impl Body for Prune {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (weights, parts) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let mask = match self.masked {
            true => Some(call.input::<u8>(2)?.flat()),
            false => None,
        };
        let out = call.output::<u8>(0)?.flat();
        for token in 0..out.len() / self.each {
            let own = weights.slice(token * self.each, self.each);
            let sum: f64 = (0..self.each).map(|at| own.get(at).number()).sum();
            let counts = mask.is_none_or(|mask| mask.get(token) != 0);
            for at in 0..self.each {
                // One of the documents says that the smaller ones stay, in contradiction to its own text.
                let stays = counts && own.get(at).number() >= sum * parts.get(at).number();
                out.set(token * self.each + at, u8::from(stays));
            }
        }
        Ok(())
    }
}

pub(super) fn experts(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (ids, table) = (cx.tensor("expertIds")?, cx.tensor("eplbTable")?);
    let (out, mask_out) = (cx.out("balancedExpertIds")?, cx.out("balancedActiveMask")?);
    cx.check_types(&ids, &[DataType::Int32, DataType::Int64])?;
    cx.check_dtype(&table, DataType::Int32)?;
    cx.check_dtype(&out, ids.dtype())?;
    cx.check_dtype(&mask_out, DataType::Bool)?;
    let (&[tokens, each], &[experts, columns]) = (ids.dims(), table.dims()) else {
        return Err(cx.invalid(format_args!(
            "expertIds has the shape {:?} and eplbTable {:?}; both must have two dimensions",
            ids.dims(),
            table.dims()
        )));
    };
    if each == 0 || each > experts || columns < 2 {
        return Err(cx.invalid(format_args!(
            "expertIds has {each} experts a token, and eplbTable the shape {:?}; it must have at least as many rows, and two columns",
            table.dims()
        )));
    }
    for view in [&out, &mask_out] {
        cx.check_dims(view, ids.dims())?;
    }
    let (rank, ranks) = (cx.int("localRankId")?, cx.int("worldSize")?);
    let balance = match cx.int("balanceMode")? {
        0 if (2..=768).contains(&ranks) && (0..ranks).contains(&rank) => {
            Balance::Rank(rank as usize, ranks as usize)
        }
        0 => {
            return Err(cx.invalid(format_args!(
                "localRankId is {rank} and worldSize {ranks}; with balanceMode 0 there are 2 to 768 ranks, of which localRankId is one"
            )));
        }
        1 => Balance::Token,
        other => {
            return Err(cx.invalid(format_args!("balanceMode is {other}; it must be 0 or 1")));
        }
    };
    let (weights, parts, active) = (
        cx.optional("expertScalesOptional")?,
        cx.optional("pruningThresholdOptional")?,
        cx.optional("activeMaskOptional")?,
    );
    if weights.is_some() != parts.is_some() || active.is_some() && weights.is_none() {
        return Err(cx.invalid(
            "expertScalesOptional and pruningThresholdOptional must be given together, and activeMaskOptional only with them",
        ));
    }
    if ids.is_empty() {
        return Ok(());
    }
    let kernel = Instances {
        operator: cx.name(),
        each,
        experts,
        columns,
        balance,
    };
    let (ids, table) = (int64(cx, ids)?, int64(cx, table)?);
    let chosen = cx.temporary(DataType::Int64, out.dims())?;
    cx.kernel(
        Box::new(kernel),
        &[Some(ids), Some(table)],
        &[chosen],
        false,
    )?;
    cx.copy(chosen, out)?;
    let (Some(weights), Some(parts)) = (weights, parts) else {
        return Ok(());
    };
    cx.check_types(&weights, FLOATS)?;
    cx.check_dims(&weights, &[tokens, each])?;
    cx.check_dtype(&parts, DataType::Float32)?;
    if parts.dims() != [each] && parts.dims() != [1, each] {
        return Err(cx.invalid(format_args!(
            "pruningThresholdOptional has the shape {:?}; it must be [{each}] or [1, {each}]",
            parts.dims()
        )));
    }
    let mut inputs = vec![(weights, DataType::Float32), (parts, DataType::Float32)];
    if let Some(active) = active {
        cx.check_dtype(&active, DataType::Bool)?;
        cx.check_dims(&active, &[tokens])?;
        inputs.push((active.reinterpret(DataType::UInt8), DataType::UInt8));
    }
    let body = Prune {
        each,
        masked: active.is_some(),
    };
    let outputs = [(mask_out.reinterpret(DataType::UInt8), DataType::UInt8)];
    run(cx, DataType::Float32, body, &inputs, &outputs)
}
