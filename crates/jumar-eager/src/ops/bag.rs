//! Sums, means and maxima of bags of rows that indices name.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Body, Real, bad_data, run};
use super::index::INDEX;
use super::reduction::accumulator;
use crate::Refusal;
use crate::build::Cx;

pub(crate) static TABLE: &Table = &[("aclnnEmbeddingBag", embedding_bag)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Sum,
    Mean,
    Maximum,
}

/// Inputs: rows, indices, the start of each bag, weights of the indices. Outputs: one row a bag, the bag of each index, the
/// indices of each bag, and for each bag and column the index of the greatest element.
struct Bags {
    mode: Mode,
    rows: usize,
    width: usize,
    /// The index that no bag counts; a negative one names none.
    skipped: i64,
    weighted: bool,
    /// The elements of the last output for each bag: one, or one a column.
    greatest: usize,
}

impl Body for Bags {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, indices) = (call.input::<T>(0)?.flat(), call.input::<i64>(1)?.flat());
        let offsets = call.input::<i64>(2)?.flat();
        let weights = match self.weighted {
            true => Some(call.input::<T>(3)?.flat()),
            false => None,
        };
        let out = call.output::<T>(0)?.flat();
        let output = |index: usize| call.output::<i64>(index).map(|output| output.flat());
        let (bags, sizes, greatest) = (output(1)?, output(2)?, output(3)?);
        let count = sizes.len();
        let mut sums = vec![0.0f64; self.width];
        greatest.fill(if self.mode == Mode::Maximum { -1 } else { 0 });
        for bag in 0..count {
            let limit = |at: usize| match at < offsets.len() {
                true => offsets.get(at),
                false => indices.len() as i64,
            };
            let (start, end) = (limit(bag), limit(bag + 1));
            let valid = start >= 0 && start <= end && end <= indices.len() as i64;
            if !valid {
                return Err(bad_data(format!(
                    "aclnnEmbeddingBag: the bag {bag} reaches from {start} to {end}; there are {} indices",
                    indices.len()
                )));
            }
            sums.fill(0.0);
            let mut members = 0;
            for at in start as usize..end as usize {
                if at < bags.len() {
                    bags.set(at, bag as i64);
                }
                let index = indices.get(at);
                let Some(row) = usize::try_from(index).ok().filter(|&row| row < self.rows) else {
                    return Err(bad_data(format!(
                        "aclnnEmbeddingBag: the index {index} names none of {} rows",
                        self.rows
                    )));
                };
                if index == self.skipped {
                    continue;
                }
                let weight = weights
                    .as_ref()
                    .map_or(1.0, |weights| weights.get(at).number());
                for (column, sum) in sums.iter_mut().enumerate() {
                    let value = x.get(row * self.width + column).number();
                    if self.mode != Mode::Maximum {
                        *sum += value * weight;
                    } else if members == 0 || value > *sum || value.is_nan() {
                        *sum = value;
                        if column < self.greatest {
                            greatest.set(bag * self.greatest + column, index);
                        }
                    }
                }
                members += 1;
            }
            sizes.set(bag, members);
            let divisor = match self.mode {
                Mode::Mean => members.max(1) as f64,
                _ => 1.0,
            };
            for (column, sum) in sums.iter().enumerate() {
                out.set(bag * self.width + column, T::of(sum / divisor));
            }
        }
        for at in 0..bags.len().min(offsets.get(0).max(0) as usize) {
            bags.set(at, 0);
        }
        Ok(())
    }
}

fn embedding_bag(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, indices, offsets) = (
        cx.tensor("weight")?,
        cx.tensor("indices")?,
        cx.tensor("offsets")?,
    );
    let weights = cx.optional("perSampleWeights")?;
    let weights = weights.filter(|weights| !weights.is_empty());
    let (out, bags) = (cx.out("output")?, cx.out("offset2bag")?);
    let (sizes, greatest) = (cx.out("bagSize")?, cx.out("maxIndices")?);
    let (&[rows, width], 1, 1) = (x.dims(), indices.rank(), offsets.rank()) else {
        return Err(cx.invalid(format_args!(
            "weight has the shape {:?}, indices {:?} and offsets {:?}; 2, 1 and 1 dimensions are required",
            x.dims(),
            indices.dims(),
            offsets.dims()
        )));
    };
    for view in [&indices, &offsets, &bags, &sizes, &greatest] {
        cx.check_types(view, &INDEX)?;
    }
    let last = usize::from(cx.flag("includeLastOffset")?);
    let Some(count) = offsets
        .elements()
        .checked_sub(last.max(1))
        .map(|rest| rest + 1 - last)
    else {
        return Err(cx.invalid("offsets is empty; it must have an entry for each bag"));
    };
    let mode = match cx.int("mode")? {
        0 => Mode::Sum,
        1 => Mode::Mean,
        2 => Mode::Maximum,
        other => {
            return Err(cx.invalid(format_args!(
                "mode is {other}; it must be 0 (sum), 1 (mean) or 2 (maximum)"
            )));
        }
    };
    if let Some(weights) = &weights {
        cx.check_dims(weights, indices.dims())?;
        if mode != Mode::Sum {
            return Err(cx.invalid("perSampleWeights is given; mode must then be 0 (sum)"));
        }
    }
    cx.check_dims(&out, &[count, width])?;
    cx.check_dims(&sizes, &[count])?;
    if greatest.dims() != [count, width] && greatest.elements() > count {
        cx.check_dims(&greatest, &[count, width])?;
    }
    if bags.elements() > indices.elements() {
        cx.check_dims(&bags, indices.dims())?;
    }
    let body = Bags {
        mode,
        rows,
        width,
        skipped: cx.int("paddingIdx")?,
        weighted: weights.is_some(),
        greatest: greatest.elements() / count.max(1),
    };
    let (compute, int64) = (accumulator(x.dtype()), DataType::Int64);
    let mut inputs = vec![(x, compute), (indices, int64), (offsets, int64)];
    inputs.extend(weights.map(|weights| (weights, compute)));
    run(
        cx,
        compute,
        body,
        &inputs,
        &[
            (out, compute),
            (bags, int64),
            (sizes, int64),
            (greatest, int64),
        ],
    )
}
