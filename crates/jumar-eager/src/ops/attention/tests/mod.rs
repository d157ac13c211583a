//! Attention against its formula in float64: random orders of dimensions, shared heads, masks, bands, addends with infinities,
//! pages, lists, further entries and lengths. Sizes cross the borders of tiles.

mod inference;
mod training;
mod update;

use crate::trial::Trial;

const NEVER: f32 = f32::NEG_INFINITY;

/// A tensor of batch, heads, length and width.
#[derive(Clone)]
struct Heads {
    dims: [usize; 4],
    values: Vec<f32>,
}

impl Heads {
    fn random(random: &mut fastrand::Rng, dims: [usize; 4]) -> Heads {
        let count = dims.iter().product();
        let values = (0..count).map(|_| random.f32() * 2.0 - 1.0).collect();
        Heads { dims, values }
    }

    fn row(&self, batch: usize, head: usize, row: usize) -> &[f32] {
        let [_, heads, length, width] = self.dims;
        let start = ((batch * heads + head) * length + row) * width;
        &self.values[start..start + width]
    }

    /// Returns the shape in a layout, and for each element in the order of batch, heads, length and width where it lies.
    fn positions(dims: [usize; 4], layout: &str) -> (Vec<usize>, Vec<usize>) {
        let [batch, heads, length, width] = dims;
        let (shape, strides) = match layout {
            "BNSD" => (
                dims.to_vec(),
                [heads * length * width, length * width, width],
            ),
            "BSND" => (
                vec![batch, length, heads, width],
                [length * heads * width, width, heads * width],
            ),
            "BSH" => (
                vec![batch, length, heads * width],
                [length * heads * width, width, heads * width],
            ),
            "SBH" => (
                vec![length, batch, heads * width],
                [heads * width, width, batch * heads * width],
            ),
            other => panic!("{other}"),
        };
        let mut positions = Vec::new();
        for at in 0..dims.iter().product() {
            let (rest, entry) = (at / width, at % width);
            let (rest, row) = (rest / length, rest % length);
            let (entry_of_batch, head) = (rest / heads, rest % heads);
            positions
                .push(entry_of_batch * strides[0] + head * strides[1] + row * strides[2] + entry);
        }
        (shape, positions)
    }

    /// Returns the shape and the values in a layout.
    fn arranged(&self, layout: &str) -> (Vec<usize>, Vec<f32>) {
        let (shape, positions) = Heads::positions(self.dims, layout);
        let mut values = vec![0.0; self.values.len()];
        for (&value, at) in self.values.iter().zip(positions) {
            values[at] = value;
        }
        (shape, values)
    }

    fn from_layout(dims: [usize; 4], layout: &str, values: &[f32]) -> Heads {
        let (_, positions) = Heads::positions(dims, layout);
        Heads {
            dims,
            values: positions.into_iter().map(|at| values[at]).collect(),
        }
    }

    /// Returns the first columns of one entry of the batch.
    fn part(&self, batch: usize, length: usize) -> Heads {
        let [_, heads, _, width] = self.dims;
        let mut values = Vec::new();
        for head in 0..heads {
            for row in 0..length {
                values.extend_from_slice(self.row(batch, head, row));
            }
        }
        Heads {
            dims: [1, heads, length, width],
            values,
        }
    }
}

trait Tensors {
    fn heads(self, param: &str, layout: &str, heads: &Heads) -> Trial;
}

impl Tensors for Trial {
    fn heads(self, param: &str, layout: &str, heads: &Heads) -> Trial {
        let (shape, values) = heads.arranged(layout);
        self.floats(param, &shape, &values)
    }
}

/// What attention is computed from.
struct Problem {
    query: Heads,
    key: Heads,
    value: Heads,
    further: Option<(Heads, Heads)>,
    /// The rows and columns of each entry of the batch that count.
    lengths: Vec<(usize, usize)>,
    scale: f64,
    /// Added to the scores; dimensions of size 1 are repeated.
    addend: Option<Heads>,
    addend_scaled: bool,
    /// For batch, head, row and column whether a mask excludes it.
    masked: Box<dyn Fn(usize, usize, usize, usize) -> bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum RowKind {
    Usual,
    /// An addend of -inf excludes everything: the result and its gradients are 0.
    Excluded,
    /// A mask takes part in excluding everything, or the row does not count.
    Unchecked,
}

/// The results of a formula in float64.
struct ExpectedResults {
    out: Vec<f64>,
    log_sum: Vec<f64>,
    kinds: Vec<RowKind>,
    /// Of query, key, value and addend.
    gradients: [Vec<f64>; 4],
}

fn dot(one: &[f32], two: &[f32]) -> f64 {
    let products = one.iter().zip(two);
    products
        .map(|(&one, &two)| f64::from(one) * f64::from(two))
        .sum()
}

impl Problem {
    fn addend_at(&self, batch: usize, head: usize, row: usize, column: usize) -> f64 {
        let Some(addend) = &self.addend else {
            return 0.0;
        };
        let at = |index: usize, axis: usize| match addend.dims[axis] {
            1 => 0,
            _ => index,
        };
        f64::from(addend.row(at(batch, 0), at(head, 1), at(row, 2))[column])
    }

    fn solve(&self, gradient: Option<&Heads>) -> ExpectedResults {
        let [batch, heads, rows, width] = self.query.dims;
        let [_, key_heads, columns, _] = self.key.dims;
        let value_width = self.value.dims[3];
        let mut wanted = ExpectedResults {
            out: vec![0.0; batch * heads * rows * value_width],
            log_sum: vec![f64::INFINITY; batch * heads * rows],
            kinds: vec![RowKind::Unchecked; batch * heads * rows],
            gradients: [
                vec![0.0; self.query.values.len()],
                vec![0.0; self.key.values.len()],
                vec![0.0; self.value.values.len()],
                vec![0.0; batch * heads * rows * columns],
            ],
        };
        for entry in 0..batch {
            let (own_rows, own_columns) = self.lengths[entry];
            for head in 0..heads {
                let key_head = head / (heads / key_heads);
                for row in 0..own_rows {
                    let number = (entry * heads + head) * rows + row;
                    let query = self.query.row(entry, head, row);
                    let mut any_masked = false;
                    let mut scores = Vec::new();
                    for column in 0..own_columns {
                        if (self.masked)(entry, head, row, column) {
                            any_masked = true;
                            scores.push(f64::NEG_INFINITY);
                            continue;
                        }
                        let mut score = dot(query, self.key.row(entry, key_head, column));
                        if let Some((more, other)) = &self.further {
                            score += dot(
                                more.row(entry, head, row),
                                other.row(entry, key_head, column),
                            );
                        }
                        let addend = self.addend_at(entry, head, row, column);
                        scores.push(match self.addend_scaled {
                            true => (score + addend) * self.scale,
                            false => score * self.scale + addend,
                        });
                    }
                    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    if most == f64::NEG_INFINITY {
                        if !any_masked {
                            wanted.kinds[number] = RowKind::Excluded;
                        }
                        continue;
                    }
                    wanted.kinds[number] = RowKind::Usual;
                    let powers: Vec<f64> =
                        scores.iter().map(|score| (score - most).exp()).collect();
                    let sum: f64 = powers.iter().sum();
                    wanted.log_sum[number] = most + sum.ln();
                    let shares: Vec<f64> = powers.iter().map(|power| power / sum).collect();
                    for (column, share) in shares.iter().enumerate() {
                        let value = self.value.row(entry, key_head, column);
                        for (at, &value) in value.iter().enumerate() {
                            wanted.out[number * value_width + at] += share * f64::from(value);
                        }
                    }
                    let Some(gradient) = gradient else { continue };
                    let upstream = gradient.row(entry, head, row);
                    let to_shares: Vec<f64> = (0..own_columns)
                        .map(|column| dot(upstream, self.value.row(entry, key_head, column)))
                        .collect();
                    let inner: f64 = shares.iter().zip(&to_shares).map(|(a, b)| a * b).sum();
                    for column in 0..own_columns {
                        let to_score = shares[column] * (to_shares[column] - inner);
                        let factor = if self.addend_scaled { self.scale } else { 1.0 };
                        wanted.gradients[3][number * columns + column] = to_score * factor;
                        let key_row = (entry * key_heads + key_head) * columns + column;
                        let key = self.key.row(entry, key_head, column);
                        for at in 0..width {
                            let scaled = to_score * self.scale;
                            wanted.gradients[0][number * width + at] += scaled * f64::from(key[at]);
                            wanted.gradients[1][key_row * width + at] +=
                                scaled * f64::from(query[at]);
                        }
                        for (at, &upstream) in upstream.iter().enumerate() {
                            wanted.gradients[2][key_row * value_width + at] +=
                                shares[column] * f64::from(upstream);
                        }
                    }
                }
            }
        }
        wanted
    }
}

/// Compares rows of numbers, of which some are not checked.
#[track_caller]
fn check(what: &str, found: &[f32], wanted: &[f64], is_checked: impl Fn(usize) -> bool) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (at, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
        let equal = f64::from(found) == wanted;
        let near = (f64::from(found) - wanted).abs() <= 2e-4 + 2e-4 * wanted.abs();
        assert!(
            equal || near || !is_checked(at),
            "{what}: element {at} is {found}; the formula says {wanted}"
        );
    }
}

fn pick<T: Copy>(random: &mut fastrand::Rng, values: &[T]) -> T {
    values[random.usize(..values.len())]
}

/// A mask that excludes what lies above the diagonal, in the size that compressed masks have.
fn triangle() -> Vec<u8> {
    (0..2048 * 2048)
        .map(|at| u8::from(at % 2048 > at / 2048))
        .collect()
}

/// How the columns that a row sees are limited.
#[derive(Clone, Copy, Debug)]
struct Limits {
    mode: i64,
    tokens: (i64, i64),
    has_mask: bool,
}

impl Limits {
    /// Reports whether the rule of the mode excludes a column.
    fn excludes(self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> bool {
        let (row, column) = (row as i64, column as i64);
        let last = row + columns as i64 - rows as i64;
        let (before, after) = self.tokens;
        match self.mode {
            0 => self.has_mask && (column < row - before || column > row + after),
            1 => false,
            2 => column > row,
            3 => column > last,
            _ => column < last - before || column > last + after,
        }
    }
}

/// Adds -inf to the first columns of all rows, to random columns, or to all columns of some rows.
fn exclude(random: &mut fastrand::Rng, addend: &mut Heads) {
    let [.., columns] = addend.dims;
    let kind = random.usize(..4);
    let first = random.usize(..columns);
    for row in addend.values.chunks_mut(columns) {
        let all = kind == 2 && random.bool();
        for (column, value) in row.iter_mut().enumerate() {
            let excluded = match kind {
                0 => column < first,
                1 => random.usize(..4) == 0,
                2 => all,
                _ => false,
            };
            if excluded {
                *value = NEVER;
            }
        }
    }
}

const UNLIMITED: Limits = Limits {
    mode: 0,
    tokens: (65_536, 65_536),
    has_mask: false,
};
