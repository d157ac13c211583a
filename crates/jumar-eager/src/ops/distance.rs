//! Distances of the rows of matrices, and their gradients.

use jumar_ops::view::Row;
use jumar_ops::{Call, OpError};

use super::Table;
use super::dense::{Body, Real, bad_data, run};
use super::reduction::accumulator;
use crate::build::Cx;
use jumar_types::dtype::DataType;

use crate::view::{View, broadcast};
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnCdist", between),
    ("aclnnCdistBackward", between_backward),
    ("aclnnChamferDistanceBackward", nearest_backward),
    ("aclnnPdist", |cx| {
        let order = cx.float("p")?;
        within(cx, order)
    }),
    ("aclnnPdistForward", |cx| {
        let order = cx.scalar("pScalar")?.real();
        within(cx, order)
    }),
];

/// Differences that are worth a thread.
const GRAIN: usize = 1 << 12;

/// Returns the p-norm of the difference of two rows.
fn distance<T: Real>(one: Row<'_, T>, two: Row<'_, T>, order: f64) -> f64 {
    let differences = (0..one.len()).map(|at| (one.get(at).number() - two.get(at).number()).abs());
    if order == 0.0 {
        differences.filter(|&size| size != 0.0).count() as f64
    } else if order == 1.0 {
        differences.sum()
    } else if order == 2.0 {
        differences.map(|size| size * size).sum::<f64>().sqrt()
    } else if order == f64::INFINITY {
        differences.fold(0.0, |most, size| {
            if size > most || size.is_nan() {
                size
            } else {
                most
            }
        })
    } else {
        differences
            .map(|size| size.powf(order))
            .sum::<f64>()
            .powf(order.recip())
    }
}

/// Returns the derivative of a distance by a difference.
fn slope(difference: f64, distance: f64, order: f64) -> f64 {
    if distance == 0.0 || order == 0.0 || difference == 0.0 {
        return 0.0;
    }
    let sign = difference.signum();
    if order == 1.0 {
        sign
    } else if order == f64::INFINITY {
        if difference.abs() == distance {
            sign
        } else {
            0.0
        }
    } else if order == 2.0 {
        difference / distance
    } else {
        sign * (difference.abs() / distance).powf(order - 1.0)
    }
}

/// The distances of all rows of one matrix from all rows of another, for each matrix of a batch.
struct Between {
    batch: usize,
    rows: [usize; 2],
    width: usize,
    order: f64,
}

impl Body for Between {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (one, two) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        let (width, [rows, columns]) = (self.width, self.rows);
        let grain = GRAIN.div_ceil(columns * width.max(1));
        call.workers()
            .ranges(self.batch * rows, grain, |first, count| {
                for row in first..first + count {
                    let own = one.slice(row * width, width);
                    for column in 0..columns {
                        let other = two.slice((row / rows * columns + column) * width, width);
                        let value = distance(own, other, self.order);
                        out.set(row * columns + column, T::of(value));
                    }
                }
            });
        Ok(())
    }
}

/// The gradient of [`Between`] by its first matrix.
struct BetweenBackward(Between);

impl Body for BetweenBackward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = |index: usize| call.input::<T>(index).map(|input| input.flat());
        let (gradient, one, two, distances) = (input(0)?, input(1)?, input(2)?, input(3)?);
        let out = call.output::<T>(0)?.flat();
        let Between {
            batch,
            rows: [rows, columns],
            width,
            order,
        } = self.0;
        let grain = GRAIN.div_ceil(columns.max(1) * width);
        call.workers().ranges(batch * rows, grain, |first, count| {
            for row in first..first + count {
                for at in 0..width {
                    let own = one.get(row * width + at).number();
                    let mut sum = 0.0;
                    for column in 0..columns {
                        let other = two.get((row / rows * columns + column) * width + at);
                        let pair = row * columns + column;
                        let slope =
                            slope(own - other.number(), distances.get(pair).number(), order);
                        sum += slope * gradient.get(pair).number();
                    }
                    out.set(row * width + at, T::of(sum));
                }
            }
        });
        Ok(())
    }
}

/// The distances of each row of a matrix from all rows behind it.
struct Within {
    rows: usize,
    width: usize,
    order: f64,
}

impl Body for Within {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let mut next = 0;
        for one in 0..self.rows {
            for two in one + 1..self.rows {
                let row = |index: usize| x.slice(index * self.width, self.width);
                out.set(next, T::of(distance(row(one), row(two), self.order)));
                next += 1;
            }
        }
        Ok(())
    }
}

fn check_order(cx: &Cx<'_>, order: f64) -> Result<f64, Refusal> {
    match order >= 0.0 {
        true => Ok(order),
        false => Err(cx.invalid(format_args!("p is {order}; it must not be negative"))),
    }
}

/// Two batches of matrices.
struct Pair {
    one: View,
    two: View,
    /// The shape of the batch.
    batch: Vec<usize>,
    sizes: Between,
}

/// Reads two batches of matrices, expanded to one batch.
fn pair(cx: &Cx<'_>) -> Result<Pair, Refusal> {
    let (one, two) = (cx.tensor("x1")?, cx.tensor("x2")?);
    let mismatch = || {
        cx.invalid(format_args!(
            "x1 has the shape {:?} and x2 {:?}; both must have rows of the same width, and batches that broadcast",
            one.dims(),
            two.dims()
        ))
    };
    let ([front_one @ .., rows, width], [front_two @ .., columns, own]) = (one.dims(), two.dims())
    else {
        return Err(mismatch());
    };
    if width != own {
        return Err(mismatch());
    }
    let (batch, rank) = broadcast(front_one, front_two).ok_or_else(mismatch)?;
    let batch = batch[..rank].to_vec();
    let full = |rows: usize| [batch.as_slice(), &[rows, *width]].concat();
    let (Some(first), Some(second)) = (one.expand(&full(*rows)), two.expand(&full(*columns)))
    else {
        return Err(mismatch());
    };
    let sizes = Between {
        batch: batch.iter().product(),
        rows: [*rows, *columns],
        width: *width,
        order: check_order(cx, cx.float("p")?)?,
    };
    Ok(Pair {
        one: first,
        two: second,
        batch,
        sizes,
    })
}

fn between(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("out")?;
    let Pair {
        one,
        two,
        batch,
        sizes,
    } = pair(cx)?;
    cx.check_dims(&out, &[batch.as_slice(), &sizes.rows].concat())?;
    let compute = accumulator(one.dtype());
    run(
        cx,
        compute,
        sizes,
        &[(one, compute), (two, compute)],
        &[(out, compute)],
    )
}

fn between_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, distances) = (cx.tensor("grad")?, cx.tensor("cdist")?);
    let out = cx.out("out")?;
    let Pair {
        one,
        two,
        batch,
        sizes,
    } = pair(cx)?;
    let dims = [batch.as_slice(), &sizes.rows].concat();
    cx.check_dims(&gradient, &dims)?;
    cx.check_dims(&distances, &dims)?;
    cx.check_dims(&out, one.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    if gradient.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let compute = accumulator(one.dtype());
    run(
        cx,
        compute,
        BetweenBackward(sizes),
        &[
            (gradient, compute),
            (one, compute),
            (two, compute),
            (distances, compute),
        ],
        &[(out, compute)],
    )
}

fn within(cx: &mut Cx<'_>, order: f64) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let order = check_order(cx, order)?;
    let &[rows, width] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; 2 dimensions are required",
            x.dims()
        )));
    };
    let pairs = rows.saturating_mul(rows.saturating_sub(1)) / 2;
    cx.check_dims(&out, &[pairs])?;
    let compute = accumulator(x.dtype());
    let body = Within { rows, width, order };
    run(cx, compute, body, &[(x, compute)], &[(out, compute)])
}

/// The gradient of the squared distances between each point and the nearest one of the other set. Inputs: both sets of points, for each
/// point the index of the nearest one, and the gradients of the distances.
struct Nearest {
    batch: usize,
    counts: [usize; 2],
    width: usize,
}

impl Body for Nearest {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let points = [call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat()];
        let nearest = [call.input::<i64>(2)?.flat(), call.input::<i64>(3)?.flat()];
        let gradients = [call.input::<T>(4)?.flat(), call.input::<T>(5)?.flat()];
        let outputs = [call.output::<T>(0)?.flat(), call.output::<T>(1)?.flat()];
        for side in 0..2 {
            let (count, others) = (self.counts[side], self.counts[1 - side]);
            for at in 0..self.batch * count {
                let index = nearest[side].get(at);
                if usize::try_from(index)
                    .ok()
                    .is_none_or(|index| index >= others)
                {
                    let name = ["idx1", "idx2"][side];
                    return Err(bad_data(format!(
                        "{name} holds {index}; the other set has {others} points"
                    )));
                }
            }
        }
        let width = self.width;
        let one_batch = |batch: usize| {
            let mut sums = self.counts.map(|count| vec![0.0; count * width]);
            for side in 0..2 {
                let (count, others) = (self.counts[side], self.counts[1 - side]);
                for point in 0..count {
                    let index = nearest[side].get(batch * count + point) as usize;
                    let gradient = gradients[side].get(batch * count + point).number();
                    for axis in 0..width {
                        let own = points[side].get((batch * count + point) * width + axis);
                        let other = points[1 - side].get((batch * others + index) * width + axis);
                        let change = 2.0 * gradient * (own.number() - other.number());
                        sums[side][point * width + axis] += change;
                        sums[1 - side][index * width + axis] -= change;
                    }
                }
            }
            for side in 0..2 {
                let len = self.counts[side] * width;
                let out = outputs[side].slice(batch * len, len);
                out.store(&sums[side], T::of);
            }
        };
        let work = (self.counts[0] + self.counts[1]) * width;
        let grain = GRAIN.div_ceil(work.max(1));
        call.workers().ranges(self.batch, grain, |first, count| {
            (first..first + count).for_each(one_batch);
        });
        Ok(())
    }
}

fn nearest_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let points = [cx.tensor("xyz1")?, cx.tensor("xyz2")?];
    let nearest = [cx.tensor("idx1")?, cx.tensor("idx2")?];
    let gradients = [cx.tensor("gradDist1")?, cx.tensor("gradDist2")?];
    let outputs = [cx.out("gradXyz1")?, cx.out("gradXyz2")?];
    let (&[batch, count, width], &[other, others, wide]) = (points[0].dims(), points[1].dims())
    else {
        return Err(cx.invalid(format_args!(
            "xyz1 has the shape {:?} and xyz2 {:?}; batch, points and coordinates are required",
            points[0].dims(),
            points[1].dims()
        )));
    };
    if (batch, width) != (other, wide) {
        return Err(cx.invalid(format_args!(
            "xyz1 has the shape {:?} and xyz2 {:?}; batch and coordinates must be equal",
            points[0].dims(),
            points[1].dims()
        )));
    }
    let counts = [count, others];
    for side in 0..2 {
        cx.check_types(&nearest[side], &[DataType::Int32, DataType::Int64])?;
        cx.check_dims(&nearest[side], &[batch, counts[side]])?;
        cx.check_dims(&gradients[side], &[batch, counts[side]])?;
        cx.check_dims(&outputs[side], points[side].dims())?;
        for view in [&points[side], &gradients[side], &outputs[side]] {
            cx.check_dtype(view, points[0].dtype())?;
        }
    }
    let compute = accumulator(points[0].dtype());
    let body = Nearest {
        batch,
        counts,
        width,
    };
    let [one, two] = points.map(|view| (view, compute));
    let [near_one, near_two] = nearest.map(|view| (view, DataType::Int64));
    let [to_one, to_two] = gradients.map(|view| (view, compute));
    run(
        cx,
        compute,
        body,
        &[one, two, near_one, near_two, to_one, to_two],
        &outputs.map(|view| (view, compute)),
    )
}
