//! Normalisation of rows by their own mean and deviation, with a scale and an offset after it.

use super::lift::{Algorithm, Io, Working};
use super::loops::{Loops, broadcast_strides, dense_strides};
use crate::{InferCx, OpError, PrepareCx, TensorType, infer};

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
        let count = W::of(self.len as f64);
        for row in 0..self.rows {
            let (x, y) = (
                x.slice(row * self.len, self.len),
                y.slice(row * self.len, self.len),
            );
            let mean = if self.centre {
                x.fold_wide(W::zero(), |sum, x| sum + x, |a, b| a + b) / count
            } else {
                W::zero()
            };
            let square = x.fold_wide(
                W::zero(),
                |sum, x| sum + (x - mean) * (x - mean),
                |a, b| a + b,
            );
            let inverse = W::one() / (square / count + W::of(self.epsilon)).sqrt();
            y.map1(x, |x| (x - mean) * inverse);
            if let Some(index) = self.mean.filter(|&index| io.wants(index)) {
                io.output(index)?.set(row, mean);
            }
            if let Some(index) = self.deviation.filter(|&index| io.wants(index)) {
                io.output(index)?.set(row, inverse);
            }
        }
        if scale.is_none() && offset.is_none() {
            return Ok(());
        }
        let (len, [_, scale_step, offset_step]) = (self.affine.row(), self.affine.steps());
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
            Ok(())
        })
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
