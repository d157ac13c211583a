//! Rows that were ordered by a map of tokens and experts: their sums by token, and the gradients of the ordering.

use jumar_ops::view::Row;
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::permute::int64;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::index::{self, Update};
use crate::ops::operands::FLOATS;
use crate::view::View;
use crate::{Refusal, Scalar};

/// Finds the token and the probability of each row.
///
/// Inputs, dense: the sorted indices, int64, and the map as bytes if there is one. Outputs, dense int64: the token of each row; the
/// element of the probabilities that each row has; tokens in order; and the rows in the order of the tokens.
struct Origins {
    operator: &'static str,
    rows: usize,
    tokens: usize,
    experts: usize,
    /// Each expert has as many rows, and the indices are those of tokens. Otherwise the indices are those of rows; without a map each
    /// token has as many rows, and with one as many as its elements are true.
    padded: bool,
    mapped: bool,
}

impl Kernel for Origins {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let sorted = call.input::<i64>(0)?.flat();
        let (tokens, slots, ids, order) = (
            call.output::<i64>(0)?.flat(),
            call.output::<i64>(1)?.flat(),
            call.output::<i64>(2)?.flat(),
            call.output::<i64>(3)?.flat(),
        );
        tokens.fill(-1);
        slots.fill(-1);
        let limit = if self.padded { self.tokens } else { self.rows };
        let mut checked = Vec::with_capacity(self.rows);
        for at in 0..self.rows {
            let index = sorted.get(at);
            match usize::try_from(index) {
                Ok(own) if own < limit => checked.push(own),
                _ => {
                    let text = format!(
                        "{}: sortedIndices[{at}] is {index}; it must be between 0 and {}",
                        self.operator,
                        limit as i64 - 1
                    );
                    return Err(OpError::new(OpErrorKind::Data, text));
                }
            }
        }
        if self.padded {
            let capacity = (self.rows / self.experts).max(1);
            let mut by_token: Vec<usize> = (0..self.rows).collect();
            by_token.sort_by_key(|&row| checked[row]);
            for (at, &row) in by_token.iter().enumerate() {
                ids.set(at, checked[row] as i64);
                order.set(at, row as i64);
            }
            for (row, &token) in checked.iter().enumerate() {
                tokens.set(row, token as i64);
                slots.set(row, (token * self.experts + row / capacity) as i64);
            }
            return Ok(());
        }
        let map = match self.mapped {
            true => Some(call.input::<u8>(1)?.flat()),
            false => None,
        };
        let owners = self.owners(map)?;
        for ((at, &row), &token) in checked.iter().enumerate().zip(&owners) {
            tokens.set(row, token as i64);
            ids.set(at, token as i64);
            order.set(at, row as i64);
        }
        let Some(map) = map else { return Ok(()) };
        let mut row = 0;
        for expert in 0..self.experts {
            for token in 0..self.tokens {
                let element = token * self.experts + expert;
                if map.get(element) == 0 {
                    continue;
                }
                slots.set(row, element as i64);
                row += 1;
            }
        }
        Ok(())
    }
}

impl Origins {
    /// Returns the token of each row in the order of tokens.
    fn owners(&self, map: Option<Row<'_, u8>>) -> Result<Vec<usize>, OpError> {
        let Some(map) = map else {
            let each = self.rows / self.tokens;
            return Ok((0..self.rows).map(|at| at / each).collect());
        };
        let elements = (0..self.tokens * self.experts).filter(|&at| map.get(at) != 0);
        let owners: Vec<usize> = elements.map(|at| at / self.experts).collect();
        match owners.len() == self.rows {
            true => Ok(owners),
            false => Err(OpError::new(
                OpErrorKind::Data,
                format!(
                    "{}: routingMapOptional is true for {} elements; there are {} rows",
                    self.operator,
                    owners.len(),
                    self.rows
                ),
            )),
        }
    }
}

/// What [`Origins`] found.
struct Found {
    tokens: View,
    slots: View,
    ids: View,
    order: View,
}

/// Checks the map, which is needed for probabilities unless experts have equally many rows.
fn map(cx: &Cx<'_>, dims: [usize; 2]) -> Result<Option<View>, Refusal> {
    let Some(map) = cx.optional("routingMapOptional")? else {
        return Ok(None);
    };
    cx.check_types(&map, &[DataType::Bool, DataType::Int8])?;
    cx.check_dims(&map, &dims)?;
    Ok(Some(map.reinterpret(DataType::UInt8)))
}

fn origins(
    cx: &mut Cx<'_>,
    (rows, tokens, experts): (usize, usize, usize),
    padded: bool,
    map: Option<View>,
) -> Result<Found, Refusal> {
    let sorted = cx.tensor("sortedIndices")?;
    cx.check_dtype(&sorted, DataType::Int32)?;
    cx.check_dims(&sorted, &[rows])?;
    let divided = if padded { experts } else { tokens };
    let equal = padded || map.is_none();
    if divided == 0 || equal && !rows.is_multiple_of(divided) {
        return Err(cx.invalid(format_args!(
            "{rows} rows cannot be divided among {divided} {}",
            if padded { "experts" } else { "tokens" }
        )));
    }
    let map = map.filter(|_| !padded);
    let mut inputs = vec![Some(int64(cx, sorted)?)];
    if let Some(map) = map {
        inputs.push(Some(cx.dense(map)?));
    }
    let mut outputs = Vec::with_capacity(4);
    for _ in 0..4 {
        outputs.push(cx.temporary(DataType::Int64, &[rows])?);
    }
    let kernel = Origins {
        operator: cx.name(),
        rows,
        tokens,
        experts,
        padded,
        mapped: map.is_some(),
    };
    cx.kernel(Box::new(kernel), &inputs, &outputs, false)?;
    Ok(Found {
        tokens: outputs[0],
        slots: outputs[1],
        ids: outputs[2],
        order: outputs[3],
    })
}

/// Writes the sums of rows by token.
fn add_up(cx: &mut Cx<'_>, rows: View, tokens: View, out: View) -> Result<(), Refusal> {
    let sums = cx.temporary(DataType::Float32, out.dims())?;
    cx.fill(Scalar::of_i64(0), sums)?;
    let blocks = index::blocks(out.dims(), 0);
    index::put(cx, sums, (rows, tokens), (blocks, Update::Add), sums)?;
    cx.copy(sums, out)
}

fn matrix(cx: &Cx<'_>, param: &str) -> Result<(View, [usize; 2]), Refusal> {
    let view = cx.tensor(param)?;
    cx.check_types(&view, FLOATS)?;
    match view.dims() {
        &[rows, width] if rows > 0 && width > 0 => Ok((view, [rows, width])),
        dims => Err(cx.invalid(format_args!(
            "{param} has the shape {dims:?}; expected two dimensions that are not 0"
        ))),
    }
}

/// Adds the rows of each token up, times their probabilities.
///
/// Not documented: `outIndex` and `permuteTokenId` where each token has as many rows. Here they satisfy the formula of the other mode,
/// `out[permuteTokenId[i]] += rows[outIndex[i]]`.
pub(super) fn unpermute(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (rows, [count, width]) = matrix(cx, "permutedTokens")?;
    let out = cx.out("unpermutedTokens")?;
    cx.check_dtype(&out, rows.dtype())?;
    let (&[tokens, own], padded) = (out.dims(), cx.flag("paddedMode")?) else {
        return Err(cx.invalid(format_args!(
            "unpermutedTokens has the shape {:?}; expected two dimensions",
            out.dims()
        )));
    };
    let shape = cx.optional_ints("restoreShapeOptional")?;
    if own != width || shape.is_some_and(|shape| *shape != [tokens as i64, own as i64]) {
        return Err(cx.invalid(format_args!(
            "unpermutedTokens has the shape {:?}; it must have {width} columns, and the shape restoreShapeOptional, {shape:?}",
            out.dims()
        )));
    }
    let probabilities = cx.optional("probsOptional")?;
    let given = cx.optional("routingMapOptional")?;
    let experts = match &probabilities {
        Some(probabilities) => {
            cx.check_dtype(probabilities, rows.dtype())?;
            match probabilities.dims() {
                &[own, experts] if own == tokens && experts > 0 => experts,
                dims => {
                    return Err(cx.invalid(format_args!(
                        "probsOptional has the shape {dims:?}; it must have {tokens} rows"
                    )));
                }
            }
        }
        // Without a map nothing depends on the experts then.
        None => given.map_or(1, |map| map.dims().last().copied().unwrap_or(1)),
    };
    let map = map(cx, [tokens, experts])?;
    if probabilities.is_some() && !padded && map.is_none() {
        return Err(cx.null("routingMapOptional"));
    }
    let found = origins(cx, (count, tokens, experts), padded, map)?;
    let mut scaled = cx.cast(rows, DataType::Float32)?;
    if let Some(probabilities) = probabilities {
        let own = cx.temporary(probabilities.dtype(), &[count, 1])?;
        let flat = cx.reshaped(probabilities, &[tokens * experts, 1])?;
        index::rows_at(cx, flat, found.slots, own)?;
        let to = cx.out("permuteProbs")?;
        cx.check_dtype(&to, probabilities.dtype())?;
        let row = cx.reshaped(own, &[count])?;
        cx.check_dims(&to, &[count])?;
        cx.copy(row, to)?;
        let product = cx.temporary(DataType::Float32, &[count, width])?;
        let operands = [Operand::Tensor(scaled), Operand::Tensor(own)];
        cx.map(F::Mul, DataType::Float32, &operands, product)?;
        scaled = product;
    }
    for (param, from) in [("outIndex", found.order), ("permuteTokenId", found.ids)] {
        let to = cx.out(param)?;
        cx.check_dtype(&to, DataType::Int32)?;
        cx.check_dims(&to, &[count])?;
        cx.copy(from, to)?;
    }
    add_up(cx, scaled, found.tokens, out)
}

/// The gradients of ordering tokens, and their probabilities, by a map.
pub(super) fn permute_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, [count, width]) = matrix(cx, "permutedTokenOutputGrad")?;
    let given = [cx.int("tokensNum")?, cx.int("numExperts")?];
    let [Ok(tokens @ 1..), Ok(experts @ 1..)] = given.map(u32::try_from) else {
        return Err(cx.invalid(format_args!(
            "tokensNum and numExperts are {given:?}; both must be positive"
        )));
    };
    let (tokens, experts) = (tokens as usize, experts as usize);
    let (out, padded) = (cx.out("tokensGradOut")?, cx.flag("dropAndPad")?);
    cx.check_dtype(&out, gradient.dtype())?;
    cx.check_dims(&out, &[tokens, width])?;
    let map = map(cx, [tokens, experts])?;
    let to_probabilities = cx.optional("probsGradOutOptional")?;
    let from = cx.optional("permutedProbsOutputGradOptional")?;
    let found = origins(cx, (count, tokens, experts), padded, map)?;
    let rows = cx.cast(gradient, DataType::Float32)?;
    add_up(cx, rows, found.tokens, out)?;
    let (from, to) = match (from, to_probabilities) {
        (Some(from), Some(to)) => (from, to),
        _ => return Ok(()),
    };
    if !padded && map.is_none() {
        return Err(cx.null("routingMapOptional"));
    }
    cx.check_dtype(&from, gradient.dtype())?;
    cx.check_dims(&from, &[count])?;
    cx.check_dtype(&to, gradient.dtype())?;
    cx.check_dims(&to, &[tokens, experts])?;
    let flat = cx.temporary(to.dtype(), &[tokens * experts, 1])?;
    index::rows_to(cx, from.unsqueeze(1), found.slots, flat)?;
    let flat = cx.reshaped(flat, &[tokens, experts])?;
    cx.copy(flat, to)
}
