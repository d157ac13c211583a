//! Tokens that go to experts on other ranks, and the results that come back.
//!
//! The first `sharedExpertRankNum` ranks have one expert each that all tokens go to; the others share the experts that tokens
//! choose.
//!
//! Not documented: what `expandIdx`, `assistInfoForCombine` and `epRecvCounts` hold, but for their sizes. Here they are the number of a token among those of its rank and expert; its rank, index and choice; and the end of the rows of each
//! expert and rank. The operator that combines reads only the last.
//!
//! A rank sends its tokens to all ranks, and each picks those of its experts: how many rows an expert gets is known only to the
//! data. Results come back in parts of the largest size.

mod combine;
mod dispatch;

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::{HALVES, group_of_size};
use crate::build::Cx;
use crate::view::View;
use crate::{Group, Refusal};

pub(super) use combine::{combine, combine_and_norm};
pub(super) use dispatch::dispatch;

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
            return Err(cx.invalid(format_args!(
                "there are {} tokens of {} values and {} experts for each; none may be 0",
                self.tokens, self.width, self.each
            )));
        }
        let elements = [self.ranks, self.most, self.each + 1, self.width];
        let elements = elements
            .iter()
            .try_fold(1usize, |all, &one| all.checked_mul(one));
        match elements {
            Some(elements) if elements <= 1 << 40 => Ok(()),
            _ => Err(cx.invalid(format_args!(
                "{} tokens of {} values on each of {} ranks are more than 2^40 values",
                self.most, self.width, self.ranks
            ))),
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

    /// Returns the rank that computes a shared expert for the tokens of a rank. Not documented: here, ranks take turns.
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
