//! State that moves on by one step: sequences that are generated, statistics of devices, and offsets of joined batches.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnAdvanceStep", advance),
    ("aclnnAdvanceStepV2", advance_v2),
    ("aclnnExpandIntoJaggedPermute", expand),
    ("aclnnSyncBatchNormGatherStats", statistics),
];

const INDICES: &[DataType] = &[DataType::Int32, DataType::Int64];

fn data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// Moves sequences on. The slot of a token is not what the document's formula literally says, but what it is for: the page of the token's
/// position, from the table, and the position in the page.
///
/// Inputs, dense int64: sampled tokens, positions, lengths, the table of pages; and proposed tokens and the numbers of accepted ones, if
/// there are any. Outputs, dense int64: tokens, positions, lengths, slots.
struct Advance {
    operator: &'static str,
    queries: usize,
    columns: usize,
    page: usize,
    /// Proposed tokens of each sequence, in the form that has them.
    proposed: Option<usize>,
}

impl Kernel for Advance {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = |at: usize| call.input::<i64>(at).map(|view| view.flat());
        let output = |at: usize| call.output::<i64>(at).map(|view| view.flat());
        let (sampled, positions, lens, table) = (input(0)?, input(1)?, input(2)?, input(3)?);
        let (tokens, to_positions, to_lens, slots) =
            (output(0)?, output(1)?, output(2)?, output(3)?);
        let further = match self.proposed {
            Some(count) => Some((count, input(4)?, input(5)?)),
            None => None,
        };
        for row in 0..self.queries {
            let position = match further {
                None => {
                    tokens.set(row, sampled.get(row));
                    lens.get(row)
                }
                Some((count, proposed, accepted)) => {
                    let width = count + 1;
                    // The last token that is valid; the others are -1.
                    let own = (0..width).rev().map(|at| sampled.get(row * width + at));
                    let last = own.into_iter().find(|token| *token >= 0);
                    tokens.set(row * width, last.unwrap_or(-1));
                    for at in 0..count {
                        tokens.set(row * width + 1 + at, proposed.get(row * count + at));
                    }
                    positions.get(row).saturating_add(1 + accepted.get(row))
                }
            };
            let index = usize::try_from(position)
                .ok()
                .filter(|position| position / self.page < self.columns);
            let Some(index) = index else {
                return Err(data(format!(
                    "{}: sequence {row} has its next token at {position}; blockTables has {} pages of {} tokens",
                    self.operator, self.columns, self.page
                )));
            };
            to_positions.set(row, position);
            to_lens.set(row, position + 1);
            let page = table.get(row * self.columns + index / self.page);
            let slot = page.wrapping_mul(self.page as i64);
            slots.set(row, slot.wrapping_add((index % self.page) as i64));
        }
        Ok(())
    }
}

fn matrix_of(cx: &Cx<'_>, param: &str, rows: usize, columns: usize) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    cx.check_dtype(&view, DataType::Int64)?;
    let fits = match *view.dims() {
        [own] => own == rows && columns == 1,
        [own, other] => own == rows && other == columns,
        _ => false,
    };
    match fits {
        true => Ok(view),
        false => Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; it must have {rows} rows of {columns}",
            view.dims()
        ))),
    }
}

fn plan(cx: &mut Cx<'_>, proposed: Option<usize>) -> Result<(), Refusal> {
    let given = [
        cx.int("numSeqs")?,
        cx.int("numQueries")?,
        cx.int("blockSize")?,
    ];
    let [Ok(rows @ 1..), Ok(queries @ 1..), Ok(page @ 1..)] = given.map(u32::try_from) else {
        return Err(cx.invalid(format_args!(
            "numSeqs, numQueries and blockSize are {given:?}; all must be positive"
        )));
    };
    let (rows, queries, page) = (rows as usize, queries as usize, page as usize);
    if queries > rows {
        return Err(cx.invalid(format_args!(
            "numQueries is {queries}; it must not be above numSeqs, {rows}"
        )));
    }
    let width = proposed.map_or(1, |count| count + 1);
    let sampled_rows = match proposed {
        Some(_) => rows,
        None => queries,
    };
    let sampled = matrix_of(cx, "sampledTokenIds", sampled_rows, width)?;
    let tokens = matrix_of(cx, "inputTokens", rows, width)?;
    let (positions, lens, slots) = (
        matrix_of(cx, "inputPositions", rows, 1)?,
        matrix_of(cx, "seqLens", rows, 1)?,
        matrix_of(cx, "slotMapping", rows, 1)?,
    );
    let table = cx.tensor("blockTables")?;
    cx.check_dtype(&table, DataType::Int64)?;
    let &[own, columns] = table.dims() else {
        return Err(cx.invalid(format_args!(
            "blockTables has the shape {:?}; expected two dimensions",
            table.dims()
        )));
    };
    if own != rows {
        return Err(cx.invalid(format_args!(
            "blockTables has {own} rows; it must have {rows}"
        )));
    }
    let mut inputs = vec![sampled, positions, lens, table];
    if let Some(count) = proposed {
        inputs.push(matrix_of(cx, "specToken", rows, count)?);
        inputs.push(matrix_of(cx, "acceptedNum", rows, 1)?);
    }
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        operands.push(Some(cx.dense(input)?));
    }
    // Rows behind the queries stay as they are.
    let mut targets = Vec::new();
    for out in [tokens, positions, lens, slots] {
        let copy = cx.temporary(DataType::Int64, out.dims())?;
        cx.copy(out, copy)?;
        targets.push((out, copy));
    }
    let kernel = Advance {
        operator: cx.name(),
        queries,
        columns,
        page,
        proposed,
    };
    let copies: Vec<View> = targets.iter().map(|(_, copy)| *copy).collect();
    cx.kernel(Box::new(kernel), &operands, &copies, false)?;
    for (out, copy) in targets {
        cx.copy(copy, out)?;
    }
    Ok(())
}

fn advance(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, None)
}

fn advance_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let proposed = cx.tensor("specToken")?;
    match proposed.dims() {
        &[_, count] => plan(cx, Some(count)),
        dims => Err(cx.invalid(format_args!(
            "specToken has the shape {dims:?}; expected two dimensions"
        ))),
    }
}

/// Writes runs of numbers: run `i` begins where the offset of `permute[i]` says, and is as long as its part of the output.
struct Runs {
    operator: &'static str,
}

impl Kernel for Runs {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (permute, from, to) = (
            call.input::<i64>(0)?.flat(),
            call.input::<i64>(1)?.flat(),
            call.input::<i64>(2)?.flat(),
        );
        let out = call.output::<i64>(0)?.flat();
        out.fill(0);
        for run in 0..permute.len() {
            let source = usize::try_from(permute.get(run)).ok();
            let Some(source) = source.filter(|source| *source < from.len()) else {
                return Err(data(format!(
                    "{}: permute[{run}] is {}; it must be between 0 and {}",
                    self.operator,
                    permute.get(run),
                    from.len() as i64 - 1
                )));
            };
            let range = (to.get(run), to.get(run + 1));
            let (Ok(start), Ok(end)) = (usize::try_from(range.0), usize::try_from(range.1)) else {
                return Err(data(format!(
                    "{}: outputOffset[{run}] and the next are {range:?}; they must not be negative",
                    self.operator
                )));
            };
            if start > end || end > out.len() {
                return Err(data(format!(
                    "{}: outputOffset[{run}] and the next are {range:?}; they must not fall, nor lie behind {}",
                    self.operator,
                    out.len()
                )));
            }
            for at in start..end {
                out.set(at, from.get(source).wrapping_add((at - start) as i64));
            }
        }
        Ok(())
    }
}

fn expand(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (permute, from, to, out) = (
        cx.tensor("permute")?,
        cx.tensor("inputOffset")?,
        cx.tensor("outputOffset")?,
        cx.out("outputPermuteOut")?,
    );
    for view in [&permute, &from, &to, &out] {
        cx.check_types(view, INDICES)?;
        cx.check_dtype(view, permute.dtype())?;
        if view.rank() != 1 {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; expected one dimension",
                cx.param_of(view),
                view.dims()
            )));
        }
    }
    let (count, size) = (permute.elements(), cx.int("outputSize")?);
    if to.elements() != count + 1 || from.elements() != count + 1 {
        return Err(cx.invalid(format_args!(
            "inputOffset has {} elements and outputOffset {}; permute has {count}, so both must have {}",
            from.elements(),
            to.elements(),
            count + 1
        )));
    }
    if size <= 0 || out.elements() as i64 != size {
        return Err(cx.invalid(format_args!(
            "outputPermuteOut has {} elements and outputSize is {size}; both must be equal and positive",
            out.elements()
        )));
    }
    let mut operands = Vec::with_capacity(3);
    for view in [permute, from, to] {
        let view = cx.cast(view, DataType::Int64)?;
        operands.push(Some(cx.dense(view)?));
    }
    let target = cx.temporary(DataType::Int64, out.dims())?;
    let kernel = Runs {
        operator: cx.name(),
    };
    cx.kernel(Box::new(kernel), &operands, &[target], false)?;
    cx.copy(target, out)
}

/// Mean and deviation of one channel of all devices, and the running ones.
struct Gather {
    momentum: f64,
    epsilon: f64,
}

impl RowFunction for Gather {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (sums, squares, counts) = (rows.input(0), rows.input(1), rows.input(2));
        let (mut sum, mut square, mut count) = (0f64, 0f64, 0f64);
        for at in 0..sums.len() {
            sum += f64::from(sums.get(at));
            square += f64::from(squares.get(at));
            count += f64::from(counts.get(at));
        }
        let mean = sum / count;
        let variance = square / count - mean * mean;
        rows.output(0).set(0, mean as f32);
        rows.output(1)
            .set(0, (1.0 / (variance + self.epsilon).sqrt()) as f32);
        let moved = |old: f32, new: f64| {
            (f64::from(old) * (1.0 - self.momentum) + self.momentum * new) as f32
        };
        let (old_mean, old_variance) = (rows.input(3).get(0), rows.input(4).get(0));
        rows.output(2).set(0, moved(old_mean, mean));
        rows.output(3)
            .set(0, moved(old_variance, variance * (count / (count - 1.0))));
    }
}

fn statistics(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sums, squares, counts) = (
        cx.tensor("totalSum")?,
        cx.tensor("totalSquareSum")?,
        cx.tensor("sampleCount")?,
    );
    cx.check_types(&sums, FLOATS)?;
    let &[devices, channels] = sums.dims() else {
        return Err(cx.invalid(format_args!(
            "totalSum has the shape {:?}; expected two dimensions",
            sums.dims()
        )));
    };
    cx.check_dtype(&squares, sums.dtype())?;
    cx.check_dims(&squares, &[devices, channels])?;
    cx.check_dtype(&counts, DataType::Int32)?;
    cx.check_dims(&counts, &[devices])?;
    let mut channel = [sums; 4];
    for (slot, param) in channel
        .iter_mut()
        .zip(["batchMean", "batchInvstd", "mean", "variance"])
    {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, sums.dtype())?;
        cx.check_dims(&view, &[channels])?;
        *slot = view.unsqueeze(1);
    }
    cx.check_elements(&[&sums])?;
    let function = Gather {
        momentum: cx.float("momentum")?,
        epsilon: cx.float("eps")?,
    };
    let counts = counts.unsqueeze(0).expand(&[channels, devices]);
    let [mean, deviation, running, variance] = channel;
    let inputs = [
        Some(sums.transpose(0, 1)),
        Some(squares.transpose(0, 1)),
        counts,
        Some(running),
        Some(variance),
    ];
    let outputs = [mean, deviation, running, variance].map(Some);
    cx.rows(function, &inputs, &outputs)
}
