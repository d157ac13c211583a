//! Normalisation of rows by their own mean and deviation, with a scale and an offset after it.

use super::generic::{Algorithm, Io, Working};
use super::loops::{Loops, broadcast_strides, dense_strides};
use crate::simd::wide::{Work, wide};
use crate::view::{PastCaches, Row, RowMut};
use crate::{InferCx, OpError, PrepareCx, TensorType, infer};

/// How many elements a thread takes at least, where several share the work.
const GRAIN: usize = 1 << 15;

/// From how many bytes on the result goes past the caches: it is longer than they are.
const PAST_BYTES: usize = 32 << 20;

/// What is normalised, and what comes after.
pub(crate) struct Normalise {
    pub rows: usize,
    pub len: usize,
    pub epsilon: f64,
    /// Whether the mean is taken away first.
    pub centre: bool,
    /// How scale and offset are repeated over the elements.
    pub affine: Loops<3>,
    /// Which outputs receive the mean and the inverse deviation.
    pub mean: Option<usize>,
    pub deviation: Option<usize>,
}

impl Algorithm for Normalise {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, y) = (io.input(0)?, io.output(0)?);
        let (scale, offset) = (io.optional(1)?, io.optional(2)?);
        let (affine_len, [_, scale_step, offset_step]) = (self.affine.row(), self.affine.steps());
        // Scale and offset that belong to the elements of a row, in order, are applied with the row.
        let beside = |given: Option<Row<'_, W>>, step: isize| {
            given.is_none_or(|row| step == 1 && row.len() == self.len && affine_len == self.len)
        };
        let joined = beside(scale, scale_step) && beside(offset, offset_step);
        let (factor, shift) = (scale.filter(|_| joined), offset.filter(|_| joined));
        let output = |index: Option<usize>| match index.filter(|&index| io.wants(index)) {
            Some(index) => io.output(index).map(Some),
            None => Ok(None),
        };
        let (means, deviations) = (output(self.mean)?, output(self.deviation)?);
        let grain = (GRAIN / self.len.max(1)).max(1);
        let is_past = y.len() * size_of::<W>() >= PAST_BYTES;
        io.call.workers().ranges(self.rows, grain, |start, count| {
            let past = is_past.then(PastCaches::default);
            for row in start..start + count {
                let of = |row: usize| x.slice(row * self.len, self.len);
                let (mean, inverse) = wide(NormalisedRow {
                    x: of(row),
                    y: y.slice(row * self.len, self.len),
                    epsilon: self.epsilon,
                    centre: self.centre,
                    scale: factor,
                    offset: shift,
                    ahead: (row + 1 < self.rows).then(|| of(row + 1)),
                    past: past.as_ref(),
                });
                if let Some(means) = means {
                    means.set(row, mean);
                }
                if let Some(deviations) = deviations {
                    deviations.set(row, inverse);
                }
            }
        });
        if joined || (scale.is_none() && offset.is_none()) {
            return Ok(());
        }
        let len = affine_len;
        self.affine.each([0; 3], |[at, from, by]| {
            let y = y.slice(at, len);
            if let Some(scale) = scale {
                match scale_step {
                    0 => {
                        let factor = scale.get(from);
                        y.map1(y.as_row(), |y| y * factor);
                    }
                    step => y.update(scale.stepped(from, len, step as usize), |y, factor| {
                        y * factor
                    }),
                }
            }
            if let Some(offset) = offset {
                match offset_step {
                    0 => {
                        let shift = offset.get(by);
                        y.map1(y.as_row(), |y| y + shift);
                    }
                    step => y.update(offset.stepped(by, len, step as usize), |y, shift| y + shift),
                }
            }
        });
        Ok(())
    }
}

/// A row, and what the normalised one is written to.
pub struct NormalisedRow<'a, W> {
    /// The row.
    pub x: Row<'a, W>,
    /// The result, which may be the same memory.
    pub y: RowMut<'a, W>,
    /// What is added to the variance.
    pub epsilon: f64,
    /// Whether the mean is taken away first.
    pub centre: bool,
    /// What the normalised elements are multiplied by.
    pub scale: Option<Row<'a, W>>,
    /// What is added to these.
    pub offset: Option<Row<'a, W>>,
    /// The row to be read next.
    pub ahead: Option<Row<'a, W>>,
    /// Set where the result is too long for the caches.
    pub past: Option<&'a PastCaches>,
}

impl NormalisedRow<'_, f32> {
    /// Normalises the row. Returns its mean and its inverse deviation.
    #[inline(always)]
    pub fn run<const FUSED: bool>(self) -> (f32, f32) {
        Work::run::<FUSED>(self)
    }
}

impl<W: Working> Work for NormalisedRow<'_, W> {
    type Output = (W, W);

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> (W, W) {
        let NormalisedRow {
            x,
            y,
            scale,
            offset,
            ahead,
            ..
        } = self;
        let count = W::of(x.len() as f64);
        let add = |a: W, b: W| a + b;
        let mean = if self.centre {
            x.fold_long(W::zero(), add, add) / count
        } else {
            W::zero()
        };
        let square = x.fold_long(W::zero(), |sum, x| sum + (x - mean) * (x - mean), add);
        let inverse = W::one() / (square / count + W::of(self.epsilon)).sqrt();
        match (scale, offset) {
            (Some(scale), Some(offset)) => {
                let of = |x, factor, shift| (x - mean) * inverse * factor + shift;
                y.map3([x, scale, offset], ahead, self.past, of);
            }
            (Some(scale), None) => y.map2(x, scale, |x, factor| (x - mean) * inverse * factor),
            (None, Some(offset)) => y.map2(x, offset, |x, shift| (x - mean) * inverse + shift),
            (None, None) => y.map1(x, |x| (x - mean) * inverse),
        }
        (mean, inverse)
    }
}

/// Infers the outputs of a normalisation over the dimensions from `axis` on: the result, and the statistics of each
/// row as float32 (or as wide as the input where that is wider).
pub(crate) fn infer_from(
    cx: &InferCx<'_>,
    axis: i64,
    statistics: usize,
) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    let dtype = match x.dtype {
        jumar_types::dtype::DataType::Float64 => x.dtype,
        _ => jumar_types::dtype::DataType::Float32,
    };
    let mut outputs = vec![x.clone()];
    let shape = match x.rank() {
        None => x.shape.clone(),
        Some(rank) => {
            let axis = infer::axis(axis, rank)?;
            for index in 1..cx.len() {
                if cx.has(index)
                    && infer::broadcast(x, cx.input(index)?)? != x.shape
                    && x.elements().is_some()
                    && cx.input(index)?.rank().is_some()
                {
                    return Err(OpError::invalid(format!(
                        "input {index} is {}, which does not fit {x}",
                        cx.input(index)?
                    )));
                }
            }
            x.shape
                .iter()
                .enumerate()
                .map(|(at, &dim)| if at < axis { dim } else { 1 })
                .collect()
        }
    };
    outputs.extend((0..statistics).map(|_| TensorType::new(dtype, shape.clone())));
    Ok(outputs)
}

/// Makes the loops over the elements, a scale and an offset that are repeated as NumPy does.
pub(crate) fn affine(cx: &PrepareCx<'_>) -> Result<Loops<3>, OpError> {
    let shape = cx.shape(0)?;
    let strides = |index: usize| match cx.has(index) {
        true => Ok::<_, OpError>(broadcast_strides(cx.shape(index)?, shape)),
        false => Ok(vec![0; shape.len()]),
    };
    Ok(Loops::new(
        shape,
        [&dense_strides(shape), &strides(1)?, &strides(2)?],
    ))
}

/// Makes the loops over elements of which each middle index has a scale and an offset of its own.
pub(crate) fn affine_middle(shape: [usize; 3]) -> Loops<3> {
    Loops::new(&shape, [&dense_strides(&shape), &[0, 1, 0], &[0, 1, 0]])
}
