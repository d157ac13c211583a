//! The kernels: one query at a time, over the keys that it may attend to.

use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, OpError};

use crate::ops::dense::{Body, Real};

/// One sequence: its queries, and its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub query: (usize, usize),
    pub key: (usize, usize),
}

/// Which keys a mask takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskRule {
    None,
    /// Those behind the query.
    Later,
    /// Those that a mask with this many columns names.
    Given(usize),
}

/// What all kernels know of a call.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub sequences: Vec<Sequence>,
    /// Heads of the queries, and of the keys.
    pub heads: usize,
    pub key_heads: usize,
    /// Entries of a key, and of a value.
    pub width: usize,
    pub value_width: usize,
    pub scale: f64,
    pub masked: MaskRule,
}

/// The blocks of keys that each query attends to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub size: usize,
    pub count: usize,
}

impl Shape {
    /// Returns the queries as sequence and position, in order.
    fn queries(&self) -> impl Iterator<Item = (Sequence, usize)> + '_ {
        self.sequences.iter().flat_map(|sequence| {
            let (start, end) = sequence.query;
            (start..end).map(move |query| (*sequence, query))
        })
    }

    fn is_masked(&self, mask: Option<Row<'_, u8>>, query: usize, key: usize) -> bool {
        match (self.masked, mask) {
            (MaskRule::Later, _) => key > query,
            (MaskRule::Given(columns), Some(mask)) => mask.get(query * columns + key) != 0,
            _ => false,
        }
    }

    /// Computes the product of a query and a key, scaled.
    fn score<T: Real>(&self, query: Row<'_, T>, key: Row<'_, T>) -> f64 {
        let mut sum = 0.0;
        for at in 0..self.width {
            sum += query.get(at).number() * key.get(at).number();
        }
        sum * self.scale
    }
}

/// Lists the keys of a sequence that a query may attend to, by their positions in it.
fn keys(
    shape: &Shape,
    sequence: Sequence,
    query: usize,
    blocks: Option<(Chosen, Row<'_, i64>)>,
    mask: Option<Row<'_, u8>>,
    into: &mut Vec<usize>,
) {
    let len = sequence.key.1 - sequence.key.0;
    let position = query - sequence.query.0;
    into.clear();
    let allowed = |key: &usize| !shape.is_masked(mask, position, *key);
    match blocks {
        None => into.extend((0..len).filter(allowed)),
        Some((chosen, indices)) => {
            for slot in 0..chosen.count {
                // Indices that name no block stand for none.
                let Ok(block) = usize::try_from(indices.get(slot)) else {
                    continue;
                };
                let start = block.saturating_mul(chosen.size).min(len);
                let end = (start + chosen.size).min(len);
                into.extend((start..end).filter(allowed));
            }
        }
    }
}

/// Attention to the chosen blocks, or to all keys. Inputs: queries, keys, values, the chosen blocks (dense int64) if there are any, and
/// a mask of bytes if there is one. Outputs: the largest score, the sum of the powers, the result; and the importance of blocks, if it
/// is wanted: the sum of the probabilities of the heads of one key head, for each block.
pub(super) struct Attend {
    pub shape: Shape,
    pub chosen: Option<Chosen>,
    pub importance: Option<Importance>,
}

/// How the probabilities of compressed keys become those of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Importance {
    /// Compressed keys for each block, and for each compressed window.
    pub per_block: usize,
    pub per_window: usize,
    /// The most blocks of any sequence.
    pub blocks: usize,
}

impl Body for Attend {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let shape = &self.shape;
        let (query, key, value) = (
            call.input::<T>(0)?.flat(),
            call.input::<T>(1)?.flat(),
            call.input::<T>(2)?.flat(),
        );
        let mut next = 3;
        let indices = match self.chosen {
            Some(chosen) => {
                next += 1;
                Some((chosen, call.input::<i64>(3)?.flat()))
            }
            None => None,
        };
        let mask = match shape.masked {
            MaskRule::Given(_) => Some(call.input::<u8>(next)?.flat()),
            _ => None,
        };
        let (largest, sums, out) = (
            call.output::<T>(0)?.flat(),
            call.output::<T>(1)?.flat(),
            call.output::<T>(2)?.flat(),
        );
        let importance = match self.importance {
            Some(importance) => {
                let row = call.output::<T>(3)?.flat();
                row.fill(T::of(0.0));
                Some((importance, row))
            }
            None => None,
        };
        out.fill(T::of(0.0));
        largest.fill(T::of(0.0));
        sums.fill(T::of(0.0));
        let queries: Vec<(Sequence, usize)> = shape.queries().collect();
        let shared = shape.heads / shape.key_heads;
        let one = |part: usize| {
            let (sequence, position) = queries[part];
            let (mut seen, mut scores) = (Vec::new(), Vec::new());
            for head in 0..shape.heads {
                let key_head = head / shared;
                let blocks = indices.map(|(chosen, indices)| {
                    let start = (position * shape.key_heads + key_head) * chosen.count;
                    (chosen, indices.slice(start, chosen.count))
                });
                keys(shape, sequence, position, blocks, mask, &mut seen);
                let row = position * shape.heads + head;
                let own = query.slice(row * shape.width, shape.width);
                scores.clear();
                for &at in &seen {
                    let at = (sequence.key.0 + at) * shape.key_heads + key_head;
                    scores.push(shape.score(own, key.slice(at * shape.width, shape.width)));
                }
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut sum = 0.0;
                for score in &mut scores {
                    *score = (*score - most).exp();
                    sum += *score;
                }
                largest.set(row, T::of(if seen.is_empty() { 0.0 } else { most }));
                sums.set(row, T::of(sum));
                let mut result = vec![0.0; shape.value_width];
                for (&at, power) in seen.iter().zip(&scores) {
                    let at = (sequence.key.0 + at) * shape.key_heads + key_head;
                    let value = value.slice(at * shape.value_width, shape.value_width);
                    for (entry, to) in result.iter_mut().enumerate() {
                        *to += power / sum * value.get(entry).number();
                    }
                }
                for (entry, value) in result.into_iter().enumerate() {
                    out.set(row * shape.value_width + entry, T::of(value));
                }
                if let Some((importance, to)) = importance {
                    let start = (position * shape.key_heads + key_head) * importance.blocks;
                    let to = to.slice(start, importance.blocks);
                    importance.add(&seen, &scores, sum, to);
                }
            }
        };
        call.workers().each(queries.len(), one);
        Ok(())
    }
}

impl Importance {
    /// Adds the probabilities of compressed keys to the blocks that they count for:
    /// block `j` gets the keys `per_block * j - m - n` for all `m` and `n`, as the document says.
    fn add<T: Real>(&self, seen: &[usize], powers: &[f64], sum: f64, to: RowMut<'_, T>) {
        for (&key, power) in seen.iter().zip(powers) {
            for back in 0..self.per_block {
                for window in 0..self.per_window {
                    let at = key + back + window;
                    let block = at / self.per_block;
                    if at.is_multiple_of(self.per_block) && block < to.len() {
                        to.set(block, T::of(to.get(block).number() + power / sum));
                    }
                }
            }
        }
    }
}

/// Chooses the blocks with the largest importance, of equal ones the first. Inputs: the importance of all blocks, and a mask of bytes if
/// there is one, which puts blocks behind all others. Output: dense int64, in descending order; -1 where a sequence has no further block.
pub(super) struct Choose {
    pub shape: Shape,
    pub blocks: usize,
    /// The blocks of each sequence.
    pub lens: Vec<usize>,
    pub count: usize,
    /// The columns of the mask.
    pub masked: Option<usize>,
}

impl Body for Choose {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let importance = call.input::<T>(0)?.flat();
        let mask = match self.masked {
            Some(_) => Some(call.input::<u8>(1)?.flat()),
            None => None,
        };
        let out = call.output::<i64>(0)?.flat();
        out.fill(-1);
        let sequences = self.shape.sequences.iter().zip(&self.lens);
        for (sequence, &len) in sequences {
            for position in sequence.query.0..sequence.query.1 {
                for head in 0..self.shape.key_heads {
                    let row = position * self.shape.key_heads + head;
                    let own = importance.slice(row * self.blocks, self.blocks);
                    let hidden = |block: usize| match (mask, self.masked) {
                        (Some(mask), Some(columns)) => {
                            mask.get((position - sequence.query.0) * columns + block) != 0
                        }
                        _ => false,
                    };
                    let mut order: Vec<usize> = (0..len.min(self.blocks)).collect();
                    order.sort_by(|&one, &two| {
                        let key = |block: usize| own.get(block).number();
                        let by_value = key(two).total_cmp(&key(one));
                        hidden(one).cmp(&hidden(two)).then(by_value)
                    });
                    for (slot, block) in order.into_iter().take(self.count).enumerate() {
                        out.set(row * self.count + slot, block as i64);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The gradients of attention to chosen blocks. Inputs: queries, keys, values, the result and its gradient, the largest scores and the sums
/// that the forward pass stored, the chosen blocks, and a mask of bytes if there is one. Outputs: the gradients of queries, keys and
/// values.
pub(super) struct Backward {
    pub shape: Shape,
    pub chosen: Chosen,
}

impl Body for Backward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let shape = &self.shape;
        let inputs = [0, 1, 2, 3, 4, 5, 6].map(|at| call.input::<T>(at));
        let mut rows = Vec::with_capacity(inputs.len());
        for input in inputs {
            rows.push(input?.flat());
        }
        let [query, key, value, result, gradient, largest, sums] = rows[..] else {
            return Ok(());
        };
        let indices = call.input::<i64>(7)?.flat();
        let mask = match shape.masked {
            MaskRule::Given(_) => Some(call.input::<u8>(8)?.flat()),
            _ => None,
        };
        let (to_query, to_key, to_value) = (
            call.output::<T>(0)?.flat(),
            call.output::<T>(1)?.flat(),
            call.output::<T>(2)?.flat(),
        );
        for out in [to_query, to_key, to_value] {
            out.fill(T::of(0.0));
        }
        let queries: Vec<(Sequence, usize)> = shape.queries().collect();
        let shared = shape.heads / shape.key_heads;
        // One head of the keys at a time: no two threads add to the same keys.
        let one = |key_head: usize| {
            let mut seen = Vec::new();
            for &(sequence, position) in &queries {
                let start = (position * shape.key_heads + key_head) * self.chosen.count;
                let own = indices.slice(start, self.chosen.count);
                let blocks = Some((self.chosen, own));
                keys(shape, sequence, position, blocks, mask, &mut seen);
                for head in key_head * shared..(key_head + 1) * shared {
                    let row = position * shape.heads + head;
                    let own = query.slice(row * shape.width, shape.width);
                    let at_value = |from: Row<'_, T>, entry: usize| {
                        from.get(row * shape.value_width + entry).number()
                    };
                    let mut delta = 0.0;
                    for entry in 0..shape.value_width {
                        delta += at_value(gradient, entry) * at_value(result, entry);
                    }
                    for &at in &seen {
                        let at = (sequence.key.0 + at) * shape.key_heads + key_head;
                        let other = key.slice(at * shape.width, shape.width);
                        let score = shape.score(own, other);
                        let weight =
                            (score - largest.get(row).number()).exp() / sums.get(row).number();
                        let mut to_weight = 0.0;
                        for entry in 0..shape.value_width {
                            let slot = at * shape.value_width + entry;
                            to_weight += at_value(gradient, entry) * value.get(slot).number();
                            let sum =
                                to_value.get(slot).number() + weight * at_value(gradient, entry);
                            to_value.set(slot, T::of(sum));
                        }
                        let to_score = weight * (to_weight - delta) * shape.scale;
                        for entry in 0..shape.width {
                            let (one, two) = (row * shape.width + entry, at * shape.width + entry);
                            let sum =
                                to_query.get(one).number() + to_score * other.get(entry).number();
                            to_query.set(one, T::of(sum));
                            let sum = to_key.get(two).number() + to_score * own.get(entry).number();
                            to_key.set(two, T::of(sum));
                        }
                    }
                }
            }
        };
        call.workers().each(shape.key_heads, one);
        Ok(())
    }
}
