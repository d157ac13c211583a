//! Tokens that go to experts on other ranks, and the results that come back.
//!
//! The first `sharedExpertRankNum` ranks have one expert each that all tokens go to; the others share the experts that tokens
//! choose. What `expandIdx`, `assistInfoForCombine` and `epRecvCounts` hold is not documented but for their sizes: here they
//! are the number of a token among those of its rank and expert; its rank, index and choice; and the end of the rows of each
//! expert and rank. The operator that combines reads only the last.
//!
//! A rank sends its tokens to all ranks, and each picks those of its experts: how many rows an expert gets is known only to the
//! data. Results come back in parts of the largest size.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::{HALVES, group_of_size};
use crate::build::Cx;
use crate::ops::index;
use crate::ops::quant::by_largest;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Group, Refusal, Scalar, Transfer};

fn data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// Where experts are, and how many tokens there are.
#[derive(Clone, Copy)]
struct Deployment {
    operator: &'static str,
    ranks: usize,
    me: usize,
    /// Ranks that have an expert which all tokens go to.
    shared_ranks: usize,
    /// Experts that all tokens go to. Each is on several ranks, which share the tokens.
    shared: usize,
    /// Experts that tokens choose.
    experts: usize,
    /// Experts that compute nothing: numbers behind those of the others.
    special: [usize; 3],
    /// Experts that each token chooses.
    each: usize,
    /// The tokens of this rank, and the most of any rank.
    tokens: usize,
    most: usize,
    width: usize,
}

/// Returns an integer of at least 0.
fn number(cx: &Cx<'_>, param: &str) -> Result<usize, Refusal> {
    let value = cx.int(param)?;
    match u32::try_from(value) {
        Ok(value) => Ok(value as usize),
        Err(_) => Err(cx.invalid(format_args!(
            "{param} is {value}; it must be between 0 and 2^32 - 1"
        ))),
    }
}

/// Returns the name that a parameter has in this form of the operator.
fn either(cx: &Cx<'_>, names: &[&'static str]) -> &'static str {
    let known = |name: &&&'static str| cx.params().iter().any(|param| param.name == **name);
    names.iter().find(known).copied().unwrap_or(names[0])
}

fn has(cx: &Cx<'_>, name: &str) -> bool {
    cx.params().iter().any(|param| param.name == name)
}

impl Deployment {
    fn new(cx: &Cx<'_>, x: &View, ids: &View) -> Result<(Group, Deployment), Refusal> {
        let group = group_of_size(cx, "groupEp", "epWorldSize")?;
        if cx.int("epRankId")? != i64::from(group.rank) {
            return Err(cx.invalid(format_args!(
                "epRankId is {}; the caller is rank {} of communicator \"{}\"",
                cx.int("epRankId")?,
                group.rank,
                group.name
            )));
        }
        if cx.int("tpWorldSize")? > 1 {
            return Err(cx.unsupported("tpWorldSize above 1 is not supported"));
        }
        if has(cx, "elasticInfoOptional") && cx.optional("elasticInfoOptional")?.is_some() {
            return Err(cx.unsupported("elasticInfoOptional is not supported: pass a null pointer"));
        }
        if cx.int("expertShardType")? != 0 {
            return Err(cx.invalid(format_args!(
                "expertShardType is {}; it must be 0: shared experts are on the first ranks",
                cx.int("expertShardType")?
            )));
        }
        cx.check_dtype(ids, DataType::Int32)?;
        let &[tokens, each] = ids.dims() else {
            return Err(cx.invalid(format_args!(
                "expertIds has the shape {:?}; expected a row for each token",
                ids.dims()
            )));
        };
        let ranks = group.size as usize;
        let mut special = [0; 3];
        for (slot, param) in
            special
                .iter_mut()
                .zip(["zeroExpertNum", "copyExpertNum", "constExpertNum"])
        {
            if has(cx, param) {
                *slot = number(cx, param)?;
            }
        }
        let global = number(cx, "globalBs")?;
        if !global.is_multiple_of(ranks) || (global > 0 && global / ranks < tokens) {
            return Err(cx.invalid(format_args!(
                "globalBs is {global}; it must be 0 or the largest number of tokens of any of the {ranks} ranks times their number, and this rank has {tokens}"
            )));
        }
        let deployment = Deployment {
            operator: cx.name(),
            ranks,
            me: group.rank as usize,
            shared_ranks: number(cx, "sharedExpertRankNum")?,
            shared: number(cx, "sharedExpertNum")?,
            experts: number(cx, "moeExpertNum")?,
            special,
            each,
            tokens,
            most: if global == 0 { tokens } else { global / ranks },
            width: x.dims().last().copied().unwrap_or(0),
        };
        deployment.check(cx)?;
        Ok((group, deployment))
    }

    fn check(&self, cx: &Cx<'_>) -> Result<(), Refusal> {
        let (shared, ranks) = (self.shared_ranks, self.ranks);
        if shared >= ranks
            || shared > 0 && (self.shared == 0 || !shared.is_multiple_of(self.shared))
        {
            return Err(cx.invalid(format_args!(
                "sharedExpertRankNum is {shared} and sharedExpertNum {}; the first must be below the {ranks} ranks and divisible by the second",
                self.shared
            )));
        }
        if self.experts == 0 || !self.experts.is_multiple_of(ranks - shared) {
            return Err(cx.invalid(format_args!(
                "moeExpertNum is {}; it must be divisible by {}, the number of ranks that have such experts",
                self.experts,
                ranks - shared
            )));
        }
        if self.each == 0 || self.tokens == 0 || self.width == 0 {
            return Err(cx.invalid("empty tensors are not allowed"));
        }
        let elements = [self.ranks, self.most, self.each + 1, self.width];
        let elements = elements
            .iter()
            .try_fold(1usize, |all, &one| all.checked_mul(one));
        match elements {
            Some(elements) if elements <= 1 << 40 => Ok(()),
            _ => Err(cx.invalid("globalBs and the number of ranks are too large")),
        }
    }

    /// Returns the number of experts on a rank that has some of those that tokens choose.
    fn per_rank(&self) -> usize {
        self.experts / (self.ranks - self.shared_ranks)
    }

    /// Returns the number of this rank's experts.
    fn own(&self) -> usize {
        if self.me < self.shared_ranks {
            1
        } else {
            self.per_rank()
        }
    }

    /// Returns the ranks that have the same shared expert.
    fn replicas(&self) -> usize {
        self.shared_ranks.checked_div(self.shared).unwrap_or(0)
    }

    /// Returns the most rows that this rank can get.
    fn rows(&self) -> usize {
        let all = self.most * self.ranks;
        match self.me < self.shared_ranks {
            true => all / self.replicas().max(1),
            false => all * self.per_rank().min(self.each),
        }
    }

    /// Returns the most rows that one rank can send to another on the way back.
    fn part(&self) -> usize {
        self.most * self.per_rank().min(self.each)
    }

    /// Returns the rank that computes a shared expert for the tokens of a rank. Undocumented: ranks take turns.
    fn shared_rank(&self, expert: usize, of: usize) -> usize {
        expert * self.replicas() + of % self.replicas().max(1)
    }

    /// Numbers that are equal on all ranks.
    fn mark(&self) -> [usize; 8] {
        let [zero, copy, constant] = self.special;
        [
            self.most,
            self.each,
            self.width,
            self.experts,
            self.shared,
            self.shared_ranks,
            zero + copy,
            constant,
        ]
    }

    /// Returns the checked choice of a token: `None` for an expert that computes nothing.
    fn chosen(&self, expert: i32, token: usize) -> Result<Option<usize>, OpError> {
        let all = self.experts + self.special.iter().sum::<usize>();
        match usize::try_from(expert) {
            Ok(expert) if expert < self.experts => Ok(Some(expert)),
            Ok(expert) if expert < all => Ok(None),
            _ => Err(data(format!(
                "{}: expertIds is {expert} for token {token}; it must be between 0 and {}",
                self.operator,
                all - 1
            ))),
        }
    }
}

/// Checks the mask of the tokens that take part: one boolean for each, or for each choice.
fn mask(cx: &Cx<'_>, deployment: &Deployment) -> Result<Option<View>, Refusal> {
    let param = either(cx, &["xActiveMaskOptional", "xActiveMask"]);
    let Some(mask) = cx.optional(param)?.filter(|mask| !mask.is_empty()) else {
        return Ok(None);
    };
    cx.check_dtype(&mask, DataType::Bool)?;
    let (tokens, each) = (deployment.tokens, deployment.each);
    match mask.dims() {
        &[own] if own == tokens => Ok(mask.unsqueeze(1).expand(&[tokens, each])),
        &[own, other] if own == tokens && other == each => Ok(Some(mask)),
        dims => Err(cx.invalid(format_args!(
            "{param} has the shape {dims:?}; it must be [{tokens}] or [{tokens}, {each}]"
        ))),
    }
}

/// Writes the choices of this rank's tokens for all ranks: `each` experts, -1 for none, and whether the token takes part.
///
/// Inputs, dense: the experts, and a mask of bytes if there is one. Output 0: the choices. Output 1, if there is one: the number
/// of each choice among those of the same expert.
struct Choices {
    of: Deployment,
    masked: bool,
}

impl Kernel for Choices {
    fn scratch_bytes(&self) -> usize {
        self.of.experts * size_of::<i64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Deployment { each, tokens, .. } = self.of;
        let experts = call.input::<i32>(0)?.flat();
        let mask = match self.masked {
            true => Some(call.input::<u8>(1)?.flat()),
            false => None,
        };
        let out = call.output::<i32>(0)?.flat();
        let numbers = match call.outputs() > 1 {
            true => Some(call.output::<i32>(1)?.flat()),
            false => None,
        };
        let counts = call.scratch::<i64>(0, self.of.experts)?;
        counts.fill(0);
        out.fill(-1);
        for token in 0..tokens {
            let mut takes_part = false;
            for slot in 0..each {
                let index = token * each + slot;
                let is_active = mask.is_none_or(|mask| mask.get(index) != 0);
                takes_part |= is_active;
                let chosen = match is_active {
                    true => self.of.chosen(experts.get(index), token)?,
                    false => None,
                };
                let mut number = 0;
                if let Some(expert) = chosen {
                    number = counts.get(expert);
                    counts.set(expert, number + 1);
                    out.set(token * (each + 1) + slot, expert as i32);
                }
                if let Some(numbers) = numbers {
                    numbers.set(index, number as i32);
                }
            }
            out.set(token * (each + 1) + each, i32::from(takes_part));
        }
        Ok(())
    }
}

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
                            if let Some(at) =
                                (row * 3 + part < origins.len()).then_some(row * 3 + part)
                            {
                                origins.set(at, value as i32);
                            }
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
pub(super) fn dispatch(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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
    // With 2, results may travel as int8. How they are rounded is not documented; here they are not.
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
pub(super) fn combine(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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
pub(super) fn combine_and_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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
