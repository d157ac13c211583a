//! Singular values and vectors, by one-sided rotations (Jacobi).

use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, matrices};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::{Body, Real, run};
use crate::ops::reduction::accumulator;

/// Passes over all pairs of columns. Some ten suffice.
const PASSES: usize = 60;

struct Svd {
    sizes: [usize; 2],
    /// The columns of u and of v, if they are wanted.
    columns: Option<[usize; 2]>,
}

/// Columns of one length.
type Columns = Vec<Vec<f64>>;

fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| a * b).sum()
}

/// Rotates two columns: the first becomes `c * one - s * two`.
fn rotate(columns: &mut Columns, one: usize, two: usize, (c, s): (f64, f64)) {
    for at in 0..columns[one].len() {
        let (a, b) = (columns[one][at], columns[two][at]);
        columns[one][at] = c * a - s * b;
        columns[two][at] = s * a + c * b;
    }
}

/// Makes columns orthogonal. Returns the rotations that did it, as columns.
fn orthogonalize(columns: &mut Columns) -> Columns {
    let count = columns.len();
    let mut rotations: Columns = (0..count)
        .map(|own| {
            (0..count)
                .map(|at| f64::from(u8::from(at == own)))
                .collect()
        })
        .collect();
    for _ in 0..PASSES {
        let mut moved = false;
        for one in 0..count {
            for two in one + 1..count {
                let (a, b) = (
                    dot(&columns[one], &columns[one]),
                    dot(&columns[two], &columns[two]),
                );
                let product = dot(&columns[one], &columns[two]);
                if product.abs() <= f64::EPSILON * (a * b).sqrt() || product.is_nan() {
                    continue;
                }
                moved = true;
                let zeta = (b - a) / (2.0 * product);
                let sign = if zeta < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (zeta.abs() + zeta.hypot(1.0));
                let c = t.hypot(1.0).recip();
                rotate(columns, one, two, (c, c * t));
                rotate(&mut rotations, one, two, (c, c * t));
            }
        }
        if !moved {
            break;
        }
    }
    rotations
}

/// Adds columns to orthonormal ones until there are `count`.
fn complete(columns: &mut Columns, len: usize, count: usize) {
    let mut next = 0;
    while columns.len() < count && next < len {
        let mut column = vec![0.0; len];
        column[next] = 1.0;
        next += 1;
        // Twice, because the first pass loses digits.
        for _ in 0..2 {
            for other in columns.iter() {
                let share = dot(other, &column);
                for (to, from) in column.iter_mut().zip(other) {
                    *to -= share * from;
                }
            }
        }
        let size = dot(&column, &column).sqrt();
        if size > 1e-3 / (len as f64).sqrt() {
            column.iter_mut().for_each(|entry| *entry /= size);
            columns.push(column);
        }
    }
}

/// Returns u, the singular values and v of a matrix with at least as many rows as columns, given as columns.
fn decompose(mut columns: Columns, len: usize, full: usize) -> (Columns, Vec<f64>, Columns) {
    let rotations = orthogonalize(&mut columns);
    let sizes: Vec<f64> = columns.iter().map(|own| dot(own, own).sqrt()).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&one, &two| sizes[two].total_cmp(&sizes[one]));
    let values: Vec<f64> = order.iter().map(|&own| sizes[own]).collect();
    let v: Columns = order.iter().map(|&own| rotations[own].clone()).collect();
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON * len as f64;
    let mut u: Columns = Vec::with_capacity(full);
    for (&own, &size) in order.iter().zip(&values) {
        if size > least {
            u.push(columns[own].iter().map(|entry| entry / size).collect());
        }
    }
    // Directions without a singular value are any that are orthogonal to the others.
    complete(&mut u, len, full);
    (u, values, v)
}

impl Body for Svd {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let x = call.input::<T>(0)?.flat();
        let sigma = call.output::<T>(0)?.flat();
        let [rows, columns] = self.sizes;
        let (least, most) = (rows.min(columns), rows.max(columns));
        if least == 0 {
            return Ok(());
        }
        let vectors = match self.columns {
            Some(columns) => {
                let (u, v) = (call.output::<T>(1)?.flat(), call.output::<T>(2)?.flat());
                Some((u, v, columns))
            }
            None => None,
        };
        for index in 0..sigma.len() / least {
            // The columns of the matrix, or of its transpose, which has no more of them than entries in each.
            let own: Columns = (0..least)
                .map(|column| {
                    (0..most)
                        .map(|row| {
                            let at = match rows >= columns {
                                true => row * columns + column,
                                false => column * columns + row,
                            };
                            x.get(index * rows * columns + at).number()
                        })
                        .collect()
                })
                .collect();
            let full = vectors.map_or(least, |(_, _, [u, v])| u.max(v).max(least));
            let (long, values, short) = decompose(own, most, full.min(most));
            for (at, &value) in values.iter().enumerate() {
                sigma.set(index * least + at, T::of(value));
            }
            if let Some((u, v, wanted)) = &vectors {
                let (left, right) = match rows >= columns {
                    true => (&long, &short),
                    false => (&short, &long),
                };
                for (to, from, len, count) in
                    [(u, left, rows, wanted[0]), (v, right, columns, wanted[1])]
                {
                    let mut matrix = Matrix::<f64>::unit(len, count);
                    for (column, entries) in from.iter().take(count).enumerate() {
                        for (row, &entry) in entries.iter().enumerate() {
                            matrix.set(row, column, entry);
                        }
                    }
                    for (at, &element) in matrix.elements.iter().enumerate() {
                        to.set(index * len * count + at, T::of(element));
                    }
                }
            }
        }
        Ok(())
    }
}

pub(super) fn svd(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, sigma) = (cx.tensor("input")?, cx.out("sigma")?);
    let (batch, sizes) = matrices(cx, &x)?;
    let [rows, columns] = sizes;
    if !x.dtype().is_float() {
        return Err(cx.refuse_type("input", x.dtype(), "a floating-point type"));
    }
    let least = rows.min(columns);
    let mut dims = batch.clone();
    dims.push(least);
    cx.check_dims(&sigma, &dims)?;
    let compute = accumulator(x.dtype());
    let mut outputs = vec![(sigma, compute)];
    let wanted = match (cx.flag("computeUV")?, cx.flag("fullMatrices")?) {
        (false, _) => None,
        (true, false) => Some([least, least]),
        (true, true) => Some([rows, columns]),
    };
    if let Some([left, right]) = wanted {
        let (u, v) = (cx.out("u")?, cx.out("v")?);
        cx.check_dims(&u, &batch_of(&batch, [rows, left]))?;
        cx.check_dims(&v, &batch_of(&batch, [columns, right]))?;
        outputs.extend([(u, compute), (v, compute)]);
        if least == 0 {
            // All directions are as good.
            for (view, _) in &outputs[1..] {
                cx.fill(crate::Scalar::of_i64(0), *view)?;
                cx.fill(crate::Scalar::ONE, view.diagonal(0))?;
            }
            return Ok(());
        }
    }
    let body = Svd {
        sizes,
        columns: wanted,
    };
    run(cx, compute, body, &[(x, compute)], &outputs)
}
