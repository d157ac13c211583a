//! Convolution taken backwards: each element of the image is spread over a window of the output.

use jumar_types::dtype::DataType;

use super::{Axis, MOST, Space};
use crate::kernels::blocked::{InPlanes, Sizes};
use crate::kernels::generic::{Algorithm, Io, Product, Working};
use crate::view::{Row, RowMut};
use crate::{Kernel, OpError, PrepareCx};

/// What the space describes is the convolution that leads back: its image is this output, and its output this image.
pub(crate) struct TransposedSpace {
    pub batch: usize,
    pub groups: usize,
    /// Input channels of one group.
    pub depth: usize,
    /// Output channels of one group.
    pub outputs: usize,
    pub space: Space,
}

impl TransposedSpace {
    /// Returns the kernel that goes through the convolutions of images in blocks, where that pays off.
    pub(crate) fn in_blocks(&self, cx: &PrepareCx<'_>) -> Result<Option<Box<dyn Kernel>>, OpError> {
        let &[rows, columns] = &self.space.axes[..] else {
            return Ok(None);
        };
        if cx.dtype(0)? != DataType::Float32 {
            return Ok(None);
        }
        let both = |get: fn(&Axis) -> usize| [get(&rows), get(&columns)];
        let sizes = Sizes {
            images: self.batch,
            groups: self.groups,
            depth: self.depth,
            outputs: self.outputs,
            image: both(|axis| axis.output),
            output: both(|axis| axis.image),
            kernel: both(|axis| axis.kernel),
            stride: both(|axis| axis.stride),
            dilation: both(|axis| axis.dilation),
            before: both(|axis| axis.before),
        };
        Ok(InPlanes::gradient(sizes, cx.has(2)).map(|kernel| Box::new(kernel) as Box<dyn Kernel>))
    }

    fn columns(&self) -> usize {
        let rows = (self.outputs * self.space.taps()).max(1);
        ((1 << 19) / rows)
            .clamp(32, 1024)
            .min(self.space.pixels().max(1))
    }

    fn product(&self, len: usize) -> Product {
        Product {
            ldb: self.space.pixels(),
            ..Product::dense(self.outputs * self.space.taps(), len, self.depth)
        }
    }
}

/// Adds columns `start..start + from.len()` of one channel and tap to the channel's image: what `patches` reads there.
pub(crate) fn spread<W: Working>(
    space: &Space,
    channel: RowMut<'_, W>,
    tap: usize,
    start: usize,
    from: Row<'_, W>,
) {
    let tap: [usize; MOST] = space.digits(tap, |axis| axis.kernel);
    let last = space.axes.len() - 1;
    let inner = space.axes[last];
    let mut done = 0;
    while done < from.len() {
        let at = space.digits(start + done, |axis| axis.output);
        let run = (inner.output - at[last]).min(from.len() - done);
        let row = from.slice(done, run);
        done += run;
        let mut line = 0;
        let mut inside = true;
        for (axis, window) in space.axes[..last].iter().enumerate() {
            match window.source(at[axis], tap[axis]) {
                Some(source) => line = line * window.image + source,
                None => inside = false,
            }
        }
        let (first, end) = inner.reach(tap[last], at[last], at[last] + run);
        if let (true, true, Some(source)) = (inside, end > first, inner.source(first, tap[last])) {
            channel
                .slice(line * inner.image, inner.image)
                .stepped(source, end - first, inner.stride)
                .update(row.slice(first - at[last], end - first), |sum, x| sum + x);
        }
    }
}

impl Algorithm for TransposedSpace {
    fn scratch(&self) -> usize {
        let (rows, columns) = (self.outputs * self.space.taps(), self.columns());
        rows * self.depth + rows * columns + self.product(columns).panels()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, filter, bias, out) =
            (io.input(0)?, io.input(1)?, io.optional(2)?, io.output(0)?);
        let (plane, pixels, taps) = (self.space.plane(), self.space.pixels(), self.space.taps());
        let (rows, columns) = (self.outputs * taps, self.columns());
        let scratch = io.scratch()?;
        let turned = scratch.slice(0, rows * self.depth);
        let matrix = scratch.slice(turned.len(), rows * columns);
        let panels = scratch.slice(
            turned.len() + matrix.len(),
            scratch.len() - turned.len() - matrix.len(),
        );
        for channel in 0..self.batch * self.groups * self.outputs {
            let first = bias.map_or(W::zero(), |bias| {
                bias.get(channel % (self.groups * self.outputs))
            });
            out.slice(channel * plane, plane).fill(first);
        }
        for group in 0..self.groups {
            let filter = filter.slice(group * self.depth * rows, self.depth * rows);
            for row in 0..rows {
                turned
                    .slice(row * self.depth, self.depth)
                    .copy_from(filter.stepped(row, self.depth, rows));
            }
            for batch in 0..self.batch {
                let index = batch * self.groups + group;
                let image = image.slice(index * self.depth * pixels, self.depth * pixels);
                let out = out.slice(index * self.outputs * plane, self.outputs * plane);
                for start in (0..pixels).step_by(columns) {
                    let len = columns.min(pixels - start);
                    let part = image.slice(start, image.len() - start);
                    let product = Product {
                        ldc: len,
                        ..self.product(len)
                    };
                    product.run(turned.as_row(), part, matrix, panels);
                    for row in 0..rows {
                        let channel = out.slice(row / taps * plane, plane);
                        spread(
                            &self.space,
                            channel,
                            row % taps,
                            start,
                            matrix.as_row().slice(row * len, len),
                        );
                    }
                }
            }
        }
        Ok(())
    }
}
