//! Convolution over any number of dimensions: patches of the image become the columns of a matrix.
//!
//! Integer forms are computed in float64, which holds every sum of products of 8-bit numbers exactly.

use super::Space;
use crate::OpError;
use crate::kernels::generic::{Algorithm, Io, Product, Working};
use crate::view::{Row, RowMut};

/// Which input is which.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inputs {
    pub image: usize,
    pub filter: usize,
    pub bias: usize,
    /// The numbers that stand for zero in image and filter.
    pub zeros: Option<(usize, usize)>,
    /// The scales of image, filter and result, and the number that stands for zero in the result.
    pub scales: Option<(usize, usize, usize, usize)>,
    /// The bounds of the result, where it is scaled.
    pub bounds: (f64, f64),
}

pub(crate) struct Convolution {
    pub batch: usize,
    pub groups: usize,
    /// Input channels of one group.
    pub depth: usize,
    /// Output channels of one group.
    pub outputs: usize,
    pub space: Space,
    pub inputs: Inputs,
}

impl Convolution {
    fn columns(&self) -> usize {
        let k = (self.depth * self.space.taps()).max(1);
        ((1 << 19) / k)
            .clamp(32, 1024)
            .min(self.space.pixels().max(1))
    }

    fn product(&self, len: usize) -> Product {
        let k = self.depth * self.space.taps();
        Product {
            ldb: len,
            ldc: self.space.pixels(),
            ..Product::dense(self.outputs, len, k)
        }
    }
}

/// Writes what the output positions `start..start + to.len()` see of one channel through one tap.
pub(crate) fn patches<W: Working>(
    space: &Space,
    channel: Row<'_, W>,
    tap: usize,
    start: usize,
    to: RowMut<'_, W>,
) {
    let tap = space.digits(tap, |axis| axis.kernel);
    let last = space.axes.len() - 1;
    let inner = space.axes[last];
    let mut done = 0;
    while done < to.len() {
        let at = space.digits(start + done, |axis| axis.output);
        let run = (inner.output - at[last]).min(to.len() - done);
        let row = to.slice(done, run);
        done += run;
        row.fill(W::zero());
        let mut line = 0;
        let mut inside = true;
        for (axis, window) in space.axes[..last].iter().enumerate() {
            match window.source(at[axis], tap[axis]) {
                Some(source) => line = line * window.image + source,
                None => inside = false,
            }
        }
        let (from, end) = inner.reach(tap[last], at[last], at[last] + run);
        if let (true, true, Some(source)) = (inside, end > from, inner.source(from, tap[last])) {
            let seen = channel.slice(line * inner.image, inner.image).stepped(
                source,
                end - from,
                inner.stride,
            );
            row.slice(from - at[last], end - from).copy_from(seen);
        }
    }
}

impl Algorithm for Convolution {
    fn scratch(&self) -> usize {
        let columns = self.columns();
        self.depth * self.space.taps() * columns + self.product(columns).panels()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, filter) = (io.input(self.inputs.image)?, io.input(self.inputs.filter)?);
        let (bias, out) = (io.optional(self.inputs.bias)?, io.output(0)?);
        let (plane, pixels, taps) = (self.space.plane(), self.space.pixels(), self.space.taps());
        let k = self.depth * taps;
        if let Some((image_zero, filter_zero)) = self.inputs.zeros {
            if let Some(zero) = io.optional(image_zero)? {
                let zero = zero.get(0);
                let image = io.upcast_mut(self.inputs.image)?;
                image.map1(image.as_row(), |x| x - zero);
            }
            if let Some(zeros) = io.optional(filter_zero)? {
                for output in 0..self.groups * self.outputs {
                    let zero = zeros.get(if zeros.len() == 1 { 0 } else { output });
                    let filter = io.upcast_mut(self.inputs.filter)?.slice(output * k, k);
                    filter.map1(filter.as_row(), |x| x - zero);
                }
            }
        }
        let scratch = io.scratch()?;
        let columns = self.columns();
        let (matrix, panels) = (
            scratch.slice(0, k * columns),
            scratch.slice(k * columns, scratch.len() - k * columns),
        );
        for index in 0..self.batch * self.groups {
            let group = index % self.groups;
            let image = image.slice(index * self.depth * plane, self.depth * plane);
            let filter = filter.slice(group * self.outputs * k, self.outputs * k);
            let out = out.slice(index * self.outputs * pixels, self.outputs * pixels);
            for output in 0..self.outputs {
                let first = bias.map_or(W::zero(), |bias| bias.get(group * self.outputs + output));
                out.slice(output * pixels, pixels).fill(first);
            }
            for start in (0..pixels).step_by(columns) {
                let len = columns.min(pixels - start);
                for row in 0..k {
                    let channel = image.slice(row / taps * plane, plane);
                    patches(
                        &self.space,
                        channel,
                        row % taps,
                        start,
                        matrix.slice(row * len, len),
                    );
                }
                let part = out.slice(start, out.len() - start);
                self.product(len)
                    .adding()
                    .run(filter, matrix.as_row(), part, panels);
            }
        }
        self.scale(io, out)
    }
}

impl Convolution {
    /// Brings sums of integers to the scale of the result.
    fn scale<W: Working>(&self, io: &Io<'_, W>, out: RowMut<'_, W>) -> Result<(), OpError> {
        let Some((image_scale, filter_scale, scale, zero)) = self.inputs.scales else {
            return Ok(());
        };
        let (image_scale, filter_scale) = (io.input(image_scale)?.get(0), io.input(filter_scale)?);
        let (scale, zero) = (
            io.input(scale)?.get(0),
            io.optional(zero)?.map_or(W::zero(), |zero| zero.get(0)),
        );
        let pixels = self.space.pixels();
        let outputs = self.groups * self.outputs;
        for index in 0..self.batch * outputs {
            let own = filter_scale.get(if filter_scale.len() == 1 {
                0
            } else {
                index % outputs
            });
            // The definition's factor is a float32, and so is what is rounded.
            let factor = (image_scale.f64() as f32 * own.f64() as f32) / scale.f64() as f32;
            let row = out.slice(index * pixels, pixels);
            row.map1_each(row.as_row(), |sum| {
                let value = f64::from((sum.f64() as f32 * factor).round_ties_even()) + zero.f64();
                W::of(value.clamp(self.inputs.bounds.0, self.inputs.bounds.1))
            });
        }
        Ok(())
    }
}
