//! Convolution whose taps are moved by offsets of their own, each read between four pixels.

use super::Space;
use crate::OpError;
use crate::kernels::generic::{Algorithm, Io, Product, Working};
use crate::view::Row;

/// Inputs: image, filter, offsets, bias, mask.
pub(crate) struct Deformed {
    pub batch: usize,
    pub groups: usize,
    pub depth: usize,
    pub outputs: usize,
    /// Groups of channels that share offsets.
    pub offset_groups: usize,
    pub space: Space,
}

impl Deformed {
    fn columns(&self) -> usize {
        let k = (self.depth * self.space.taps()).max(1);
        ((1 << 19) / k)
            .clamp(32, 1024)
            .min(self.space.pixels().max(1))
    }

    fn product(&self, len: usize) -> Product {
        Product {
            ldc: self.space.pixels(),
            ..Product::dense(self.outputs, len, self.depth * self.space.taps())
        }
    }
}

/// Reads between pixels; outside the image there is 0.
fn between<W: Working>(channel: Row<'_, W>, [height, width]: [usize; 2], y: W, x: W) -> W {
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let (top, left) = (top.f64() as i64, left.f64() as i64);
    let mut sum = W::zero();
    for (row, by) in [(top, W::one() - down), (top.saturating_add(1), down)] {
        for (column, along) in [(left, W::one() - right), (left.saturating_add(1), right)] {
            if (0..height as i64).contains(&row) && (0..width as i64).contains(&column) {
                sum += channel.get(row as usize * width + column as usize) * by * along;
            }
        }
    }
    sum
}

impl Algorithm for Deformed {
    fn scratch(&self) -> usize {
        let columns = self.columns();
        self.depth * self.space.taps() * columns + self.product(columns).panels()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, filter, offsets) = (io.input(0)?, io.input(1)?, io.input(2)?);
        let (bias, mask, out) = (io.optional(3)?, io.optional(4)?, io.output(0)?);
        let (plane, pixels, taps) = (self.space.plane(), self.space.pixels(), self.space.taps());
        let [vertical, horizontal] = [self.space.axes[0], self.space.axes[1]];
        let (k, columns) = (self.depth * taps, self.columns());
        let channels = self.groups * self.depth;
        let scratch = io.scratch()?;
        let (matrix, panels) = (
            scratch.slice(0, k * columns),
            scratch.slice(k * columns, scratch.len() - k * columns),
        );
        for index in 0..self.batch * self.groups {
            let (batch, group) = (index / self.groups, index % self.groups);
            let filter = filter.slice(group * self.outputs * k, self.outputs * k);
            let out = out.slice(index * self.outputs * pixels, self.outputs * pixels);
            for output in 0..self.outputs {
                let first = bias.map_or(W::zero(), |bias| bias.get(group * self.outputs + output));
                out.slice(output * pixels, pixels).fill(first);
            }
            for start in (0..pixels).step_by(columns) {
                let len = columns.min(pixels - start);
                for row in 0..k {
                    let (channel, tap) = (group * self.depth + row / taps, row % taps);
                    let moved =
                        batch * self.offset_groups + channel / (channels / self.offset_groups);
                    let channel = image.slice((batch * channels + channel) * plane, plane);
                    let (tap_y, tap_x) = (tap / horizontal.kernel, tap % horizontal.kernel);
                    let to = matrix.slice(row * len, len);
                    for at in 0..len {
                        let pixel = start + at;
                        let offset = |part: usize| {
                            offsets.get(((moved * taps + tap) * 2 + part) * pixels + pixel)
                        };
                        let position = |at: usize, tap: usize, axis: &super::Axis| {
                            W::of(
                                (at * axis.stride + tap * axis.dilation) as f64
                                    - axis.before as f64,
                            )
                        };
                        let y = position(pixel / horizontal.output, tap_y, &vertical) + offset(0);
                        let x = position(pixel % horizontal.output, tap_x, &horizontal) + offset(1);
                        let mut value = between(channel, [vertical.image, horizontal.image], y, x);
                        if let Some(mask) = mask {
                            value = value * mask.get((moved * taps + tap) * pixels + pixel);
                        }
                        to.set(at, value);
                    }
                }
                let part = out.slice(start, out.len() - start);
                self.product(len)
                    .adding()
                    .run(filter, matrix.as_row(), part, panels);
            }
        }
        Ok(())
    }
}
