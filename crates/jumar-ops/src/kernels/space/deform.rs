//! Convolution whose taps are moved by offsets of their own, each read between four pixels.

use super::Space;
use crate::OpError;
use crate::kernels::generic::{Algorithm, Io, Product, Working};
use crate::view::Row;

/// Inputs: image, filter, offsets, bias, mask.
pub(crate) struct DeformableSpace {
    pub batch: usize,
    pub groups: usize,
    pub depth: usize,
    pub outputs: usize,
    /// Groups of channels that share offsets.
    pub offset_groups: usize,
    pub space: Space,
}

impl DeformableSpace {
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

/// A pixel that takes part in the value between four pixels.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// The index of the pixel in its channel.
    pub index: usize,
    /// The part of the value that it has.
    pub weight: f64,
    /// The derivatives of the weight by the position, downwards and to the right.
    pub slopes: [f64; 2],
}

/// Returns the pixels around a position (y, x), of at most four, with their weights. Outside the image there are none: it is 0 there.
pub fn corners([height, width]: [usize; 2], [y, x]: [f64; 2]) -> impl Iterator<Item = Corner> {
    let (top, left) = (y.floor(), x.floor());
    let (down, right) = (y - top, x - left);
    let (top, left) = (top as i64, left as i64);
    let rows = [(top, 1.0 - down, -1.0), (top.saturating_add(1), down, 1.0)];
    let columns = [
        (left, 1.0 - right, -1.0),
        (left.saturating_add(1), right, 1.0),
    ];
    rows.into_iter().flat_map(move |(row, by, down)| {
        columns
            .into_iter()
            .filter(move |(column, ..)| {
                (0..height as i64).contains(&row) && (0..width as i64).contains(column)
            })
            .map(move |(column, along, right)| Corner {
                index: row as usize * width + column as usize,
                weight: by * along,
                slopes: [down * along, by * right],
            })
    })
}

/// Reads between pixels.
fn between<W: Working>(channel: Row<'_, W>, size: [usize; 2], y: W, x: W) -> W {
    let mut sum = W::zero();
    for corner in corners(size, [y.f64(), x.f64()]) {
        sum += channel.get(corner.index) * W::of(corner.weight);
    }
    sum
}

impl Algorithm for DeformableSpace {
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
