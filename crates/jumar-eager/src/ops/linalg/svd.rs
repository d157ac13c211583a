//! Singular values and vectors: reflections lead to a matrix of two diagonals (Golub and Kahan), and rotations to the values.

use jumar_ops::math::{Work, wide};
use jumar_ops::{Call, OpError};

use super::{Matrix, batch_of, matrices};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::{Body, Real, run};
use crate::ops::reduction::accumulator;

/// Rotations through the matrix for one value. Some two suffice.
const PASSES: usize = 75;

struct Svd {
    sizes: [usize; 2],
    /// The columns of u and of v, if they are wanted.
    columns: Option<[usize; 2]>,
}

/// Columns of one length.
type Columns = Vec<Vec<f64>>;

/// Sums that are formed side by side.
const SUMS: usize = 16;

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Work for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let len = self.0.len().min(self.1.len());
        let (one, two) = (&self.0[..len], &self.1[..len]);
        let (ones, rest_one) = one.as_chunks::<SUMS>();
        let (twos, rest_two) = two.as_chunks::<SUMS>();
        let mut sums = [0.0; SUMS];
        for (one, two) in ones.iter().zip(twos) {
            for at in 0..SUMS {
                sums[at] += one[at] * two[at];
            }
        }
        let mut sum = 0.0;
        for own in sums {
            sum += own;
        }
        for (one, two) in rest_one.iter().zip(rest_two) {
            sum += one * two;
        }
        sum
    }
}

fn dot(one: &[f64], two: &[f64]) -> f64 {
    wide(Dot(one, two))
}

struct Add<'a>(&'a mut [f64], f64, &'a [f64]);

impl Work for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (to, from) in self.0.iter_mut().zip(self.2) {
            *to += self.1 * from;
        }
    }
}

/// Adds a multiple.
fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    wide(Add(to, factor, from));
}

struct Rotate<'a>(&'a mut [f64], &'a mut [f64], (f64, f64));

impl Work for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (c, s) = self.2;
        for (one, two) in self.0.iter_mut().zip(self.1) {
            let (a, b) = (*one, *two);
            *one = c * a - s * b;
            *two = s * a + c * b;
        }
    }
}

/// Rotates two columns: the first becomes `c * one - s * two`.
fn rotate(columns: &mut Columns, one: usize, two: usize, by: (f64, f64)) {
    if let Ok([one, two]) = columns.get_disjoint_mut([one, two]) {
        wide(Rotate(one, two, by));
    }
}

/// A reflection `I - tau * v * v^T`, with the entries of v from `first` on.
struct Reflection {
    first: usize,
    v: Vec<f64>,
    tau: f64,
}

impl Reflection {
    /// Creates the reflection that brings a vector to a multiple of the first unit vector, and returns the factor, too.
    fn of(first: usize, mut v: Vec<f64>) -> (Reflection, f64) {
        let alpha = v.first().copied().unwrap_or(0.0);
        // Scaled, so that squares are in range.
        let most = v.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if most == 0.0 || v.len() < 2 {
            return (Reflection { first, v, tau: 0.0 }, alpha);
        }
        let below: f64 = v[1..].iter().map(|x| (x / most) * (x / most)).sum();
        if below == 0.0 {
            return (Reflection { first, v, tau: 0.0 }, alpha);
        }
        let size = most * ((alpha / most) * (alpha / most) + below).sqrt();
        let beta = if alpha < 0.0 { size } else { -size };
        let pivot = alpha - beta;
        v[0] = 1.0;
        v[1..].iter_mut().for_each(|x| *x /= pivot);
        let tau = (beta - alpha) / beta;
        (Reflection { first, v, tau }, beta)
    }

    /// Reflects each column.
    fn apply(&self, columns: &mut [Vec<f64>]) {
        if self.tau == 0.0 {
            return;
        }
        for column in columns {
            let own = &mut column[self.first..];
            let share = self.tau * dot(&self.v, own);
            add(own, -share, &self.v);
        }
    }

    /// Reflects each row from `row` on.
    fn apply_to_rows(&self, columns: &mut [Vec<f64>], row: usize) {
        if self.tau == 0.0 {
            return;
        }
        let Some(len) = columns.first().map(|column| column.len() - row) else {
            return;
        };
        let mut sums = vec![0.0; len];
        let own = &mut columns[self.first..];
        for (column, &entry) in own.iter().zip(&self.v) {
            add(&mut sums, entry, &column[row..]);
        }
        for (column, &entry) in own.iter_mut().zip(&self.v) {
            add(&mut column[row..], -self.tau * entry, &sums);
        }
    }
}

/// A matrix of a diagonal and what lies right of it, and the reflections that lead to it.
struct Bidiagonal {
    diagonal: Vec<f64>,
    /// The element right of the diagonal's in the row before; the first is 0.
    beside: Vec<f64>,
    left: Vec<Reflection>,
    right: Vec<Reflection>,
}

impl Bidiagonal {
    fn of(columns: &mut Columns) -> Bidiagonal {
        let count = columns.len();
        let mut found = Bidiagonal {
            diagonal: Vec::with_capacity(count),
            beside: vec![0.0],
            left: Vec::with_capacity(count),
            right: Vec::with_capacity(count),
        };
        for at in 0..count {
            let (left, size) = Reflection::of(at, columns[at][at..].to_vec());
            left.apply(&mut columns[at + 1..]);
            found.diagonal.push(size);
            found.left.push(left);
            if at + 1 == count {
                break;
            }
            let row = columns[at + 1..].iter().map(|column| column[at]).collect();
            let (right, size) = Reflection::of(at + 1, row);
            right.apply_to_rows(columns, at + 1);
            found.beside.push(size);
            found.right.push(right);
        }
        found
    }
}

/// Returns the first columns of a product of reflections.
fn product(reflections: &[Reflection], len: usize, count: usize) -> Columns {
    let unit = |own: usize| (0..len).map(|at| f64::from(u8::from(at == own))).collect();
    let mut columns: Columns = (0..count).map(unit).collect();
    for reflection in reflections.iter().rev() {
        reflection.apply(&mut columns);
    }
    columns
}

/// Brings a bidiagonal matrix to a diagonal one by rotations (Golub and Reinsch), which the columns of u and v follow. Values become
/// positive.
fn diagonalize(d: &mut [f64], e: &mut [f64], u: &mut Columns, v: &mut Columns) {
    let most = d
        .iter()
        .zip(e.iter())
        .fold(0.0_f64, |most, (d, e)| most.max(d.abs() + e.abs()));
    let small = |x: f64| x.abs() <= f64::EPSILON * most;
    let turn = |columns: &mut Columns, one: usize, two: usize, (c, s): (f64, f64)| {
        if !columns.is_empty() {
            rotate(columns, one, two, (c, -s));
        }
    };
    for last in (0..d.len()).rev() {
        for _ in 0..PASSES {
            // The part that is worked on ends at `last`, and begins where a neighbour is 0.
            let mut first = last;
            while first > 0 && !small(e[first]) && !small(d[first - 1]) {
                first -= 1;
            }
            if first > 0 && !small(e[first]) {
                // The value before is 0: the element beside it is rotated out.
                let (mut c, mut s) = (0.0, 1.0);
                for at in first..=last {
                    let f = s * e[at];
                    e[at] *= c;
                    if small(f) {
                        break;
                    }
                    let size = f.hypot(d[at]);
                    (c, s) = (d[at] / size, -f / size);
                    d[at] = size;
                    turn(u, first - 1, at, (c, s));
                }
            }
            if first == last {
                break;
            }
            // The shift: the eigenvalue of the last two by two elements that is nearer to the last one.
            let (x, y, z) = (d[first], d[last - 1], d[last]);
            let (g, h) = (e[last - 1], e[last]);
            let f = ((y - z) * (y + z) + (g - h) * (g + h)) / (2.0 * h * y);
            let size = f.hypot(1.0);
            let mut f = ((x - z) * (x + z) + h * (y / (f + size.copysign(f)) - h)) / x;
            let (mut c, mut s, mut x) = (1.0, 1.0, x);
            for at in first..last {
                let (mut g, mut h, mut y) = (c * e[at + 1], s * e[at + 1], d[at + 1]);
                let size = f.hypot(h);
                e[at] = size;
                (c, s) = (f / size, h / size);
                (f, g) = (x * c + g * s, g * c - x * s);
                (h, y) = (y * s, y * c);
                turn(v, at, at + 1, (c, s));
                let size = f.hypot(h);
                d[at] = size;
                if size != 0.0 {
                    (c, s) = (f / size, h / size);
                }
                (f, x) = (c * g + s * y, c * y - s * g);
                turn(u, at, at + 1, (c, s));
            }
            e[first] = 0.0;
            e[last] = f;
            d[last] = x;
        }
        if d[last] < 0.0 {
            d[last] = -d[last];
            if let Some(column) = v.get_mut(last) {
                column.iter_mut().for_each(|entry| *entry = -*entry);
            }
        }
    }
}

/// Returns the first of the elements with the largest magnitude.
fn largest(column: &[f64]) -> f64 {
    column.iter().fold(
        0.0,
        |largest: f64, &x| {
            if x.abs() > largest.abs() { x } else { largest }
        },
    )
}

/// Returns u, the singular values and v of a matrix with at least as many rows as columns, given as columns. u has `full` columns, and
/// both have none where that is `None`.
fn decompose(
    mut columns: Columns,
    len: usize,
    full: Option<usize>,
) -> (Columns, Vec<f64>, Columns) {
    let count = columns.len();
    let Bidiagonal {
        mut diagonal,
        mut beside,
        left,
        right,
    } = Bidiagonal::of(&mut columns);
    let (mut u, mut v) = match full {
        Some(full) => (product(&left, len, full), product(&right, count, count)),
        None => (Vec::new(), Vec::new()),
    };
    diagonalize(&mut diagonal, &mut beside, &mut u, &mut v);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &two| diagonal[two].total_cmp(&diagonal[one]));
    let values: Vec<f64> = order.iter().map(|&own| diagonal[own]).collect();
    let sorted = |columns: &mut Columns| -> Columns {
        let rest = columns.split_off(count.min(columns.len()));
        let own = order
            .iter()
            .filter_map(|&own| columns.get_mut(own).map(std::mem::take));
        own.chain(rest).collect()
    };
    let (mut u, mut v) = (sorted(&mut u), sorted(&mut v));
    // Which of the two signs a pair of vectors has, and a vector without a singular value, is free: the largest element is positive.
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON;
    let rank = values.iter().take_while(|&&value| value > least).count();
    let turn = |column: &mut Vec<f64>| column.iter_mut().for_each(|x| *x = -*x);
    for (u, v) in u.iter_mut().zip(&mut v).take(rank) {
        if largest(v) < 0.0 {
            turn(u);
            turn(v);
        }
    }
    for column in u.iter_mut().skip(rank).chain(v.iter_mut().skip(rank)) {
        if largest(column) < 0.0 {
            turn(column);
        }
    }
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
            let full = vectors.map(|(_, _, [u, v])| u.max(v).max(least).min(most));
            let (long, values, short) = decompose(own, most, full);
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
