//! Convolutions and products in bfloat16: weights were rounded when the model was compiled, and what is multiplied with
//! them is rounded here; sums stay in float32. A precision mode that allows it makes these.

use jumar_types::dtype::DataType;

use super::blocked::{PARTS_EACH, WORTH, part_of, split};
use super::linear::{Activation, SPLIT};
use crate::simd::blocked::{Dense, LANES, PAIR};
use crate::simd::lowp::{Operands, Out, PANEL, convolve, product, round, to_bf16};
use crate::view::{BF16, Row, RowMut};
use crate::{Call, Kernel, OpError, Tensor, Workers};

/// Numbers that one thread rounds at a time.
const GRAIN: usize = 1 << 15;
/// Rows of the left side that are worked on at once: they stay in the second cache.
const ROWS: usize = 256;

fn round_all(workers: Workers<'_>, from: Row<'_, f32>, to: RowMut<'_, BF16>) {
    workers.ranges(from.len(), GRAIN, |start, len| {
        round(from.slice(start, len), to.slice(start, len));
    });
}

/// A convolution of images in blocks.
pub(crate) struct Convolution {
    pub dense: Dense,
    pub images: usize,
    pub bias: bool,
    pub residual: bool,
    pub clamp: Option<(f32, f32)>,
    /// Whether the image has to be rounded first, and whether the output is to be.
    pub wide_in: bool,
    pub bf16_out: bool,
}

impl Convolution {
    fn inputs(&self) -> usize {
        let [height, width] = self.dense.window.image;
        self.images * self.dense.groups * self.dense.inputs * height * width * LANES
    }
}

impl Kernel for Convolution {
    fn scratch_bytes(&self) -> usize {
        if self.wide_in {
            self.inputs() * size_of::<BF16>()
        } else {
            0
        }
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let workers = call.workers();
        let given = |given: bool, index: usize| match given {
            true => Ok::<_, OpError>(Some(call.input::<f32>(index)?.flat())),
            false => Ok(None),
        };
        let x = if self.wide_in {
            let rounded = call.scratch::<BF16>(0, self.inputs())?;
            round_all(workers, call.input::<f32>(0)?.flat(), rounded);
            rounded.as_row()
        } else {
            call.input::<BF16>(0)?.flat()
        };
        let operands = Operands {
            x,
            filter: call.input::<BF16>(1)?.flat(),
            bias: given(self.bias, 2)?,
            residual: given(self.residual, 3)?,
            clamp: self.clamp,
            out: match self.bf16_out {
                true => Out::Bf16(call.output::<BF16>(0)?.flat()),
                false => Out::Wide(call.output::<f32>(0)?.flat()),
            },
        };
        let Dense {
            window,
            groups,
            inputs,
            outputs,
            ..
        } = self.dense;
        let pairs = outputs.div_ceil(PAIR);
        let units = self.images * groups * pairs;
        let output = window.output;
        let factors = [
            output[0] * output[1],
            window.kernel[0] * window.kernel[1],
            inputs * PAIR * units * LANES * LANES,
        ];
        let cost = factors.into_iter().fold(1, usize::saturating_mul);
        let threads = if cost < WORTH { 1 } else { workers.threads() };
        let wanted = match threads {
            1 => 1,
            threads => (threads * PARTS_EACH).div_ceil(units.max(1)),
        };
        let (pieces, rows, columns) = split(output[0], output[1], wanted);
        let one = |index: usize| {
            let (piece, unit) = (index % pieces, index / pieces);
            let (pair, rest) = (unit % pairs, unit / pairs);
            let (group, image) = (rest % groups, rest / groups);
            let part = part_of(output, (rows, columns), image, piece);
            convolve(&self.dense, &operands, (group, pair), part);
        };
        if threads == 1 {
            (0..units * pieces).for_each(one);
        } else {
            workers.each(units * pieces, one);
        }
        Ok(())
    }
}

/// A product with a packed matrix, and what follows it.
pub(crate) struct Linear {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub activation: Activation,
}

struct Sides<'a> {
    a: Row<'a, BF16>,
    b: Row<'a, BF16>,
    c: RowMut<'a, f32>,
    bias: Option<Row<'a, f32>>,
    residual: Option<Row<'a, f32>>,
}

impl Linear {
    /// The inner dimension as it is packed: whole pairs.
    fn even(&self) -> usize {
        self.k.next_multiple_of(2)
    }

    /// Computes some rows of some panels.
    fn part(&self, sides: &Sides<'_>, rows: (usize, usize), panels: (usize, usize)) {
        let (n, k) = (self.n, self.even());
        for row in (rows.0..rows.1).step_by(ROWS) {
            let count = ROWS.min(rows.1 - row);
            for panel in panels.0..panels.1 {
                let column = panel * PANEL;
                let len = PANEL.min(n - column);
                let (at, reach) = (row * n + column, (count - 1) * n + len);
                let to = sides.c.slice(at, reach);
                let operands = Operands {
                    x: sides.a.slice(row * k, count * k),
                    filter: sides.b.slice(panel * k * PANEL, k * PANEL),
                    bias: sides.bias.map(|bias| bias.slice(column, len)),
                    residual: sides.residual.map(|residual| residual.slice(at, reach)),
                    clamp: None,
                    out: Out::Wide(to),
                };
                product((count, len, k), &operands, n);
                self.activation.apply(to, (count, n), len);
            }
        }
    }
}

impl Kernel for Linear {
    fn scratch_bytes(&self) -> usize {
        self.m * self.even() * size_of::<BF16>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Linear { m, n, k, .. } = *self;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (workers, even) = (call.workers(), self.even());
        let optional = |index: usize| match call.has_input(index) {
            true => Ok::<_, OpError>(Some(call.input::<f32>(index)?.flat())),
            false => Ok(None),
        };
        let (x, a) = (
            call.input::<f32>(0)?.flat(),
            call.scratch::<BF16>(0, m * even)?,
        );
        if k == even {
            round_all(workers, x, a);
        } else {
            for row in 0..m {
                round(x.slice(row * k, k), a.slice(row * even, k));
                a.set(row * even + k, BF16::ZERO);
            }
        }
        let sides = Sides {
            a: a.as_row(),
            b: call.input::<BF16>(1)?.flat(),
            c: call.output::<f32>(0)?.flat(),
            bias: optional(2)?,
            residual: optional(3)?,
        };
        let panels = n.div_ceil(PANEL);
        if workers.threads() < 2 || m.saturating_mul(n).saturating_mul(k) < SPLIT {
            self.part(&sides, (0, m), (0, panels));
        } else if panels >= 4 * workers.threads() {
            workers.ranges(panels, 1, |start, len| {
                self.part(&sides, (0, m), (start, start + len));
            });
        } else {
            workers.ranges(m, 8, |start, len| {
                self.part(&sides, (start, start + len), (0, panels));
            });
        }
        Ok(())
    }
}

fn tensor(dims: &[usize], numbers: Vec<BF16>) -> Option<Tensor> {
    let bytes = numbers.into_iter().flat_map(BF16::to_le_bytes).collect();
    Tensor::new(DataType::BFloat16, dims, bytes).ok()
}

/// Rounds a packed filter to bfloat16, the weights of two input channels side by side.
///
/// # Shapes
///
/// `packed`: as [`pack_filter`](super::blocked::pack_filter) makes it for images in blocks. `None` for anything else.
pub fn bf16_filter(packed: &Tensor, groups: usize) -> Option<Tensor> {
    let (dims, values) = (packed.ty().dims()?, packed.values::<f32>()?);
    let &[blocks, steps, LANES] = &dims[..] else {
        return None;
    };
    if groups == 0 || !blocks.is_multiple_of(groups) || !steps.is_multiple_of(LANES) {
        return None;
    }
    let own = blocks / groups;
    let mut numbers = Vec::with_capacity(values.len());
    for group in 0..groups {
        for first in (0..own).step_by(PAIR) {
            let count = PAIR.min(own - first);
            let from = &values[(group * own + first) * steps * LANES..][..count * steps * LANES];
            for pair in from.chunks_exact(2 * count * LANES) {
                let (one, two) = pair.split_at(count * LANES);
                for (&one, &two) in one.iter().zip(two) {
                    numbers.extend([to_bf16(one), to_bf16(two)]);
                }
            }
        }
    }
    tensor(&dims, numbers)
}

/// Rounds a packed matrix to bfloat16, two rows side by side; one of zeros fills the last pair up.
///
/// # Shapes
///
/// `packed`: as [`pack_matrix`](super::pack_matrix) makes it. `None` for anything else.
pub fn bf16_matrix(packed: &Tensor) -> Option<Tensor> {
    let (dims, values) = (packed.ty().dims()?, packed.values::<f32>()?);
    let &[panels, k, PANEL] = &dims[..] else {
        return None;
    };
    let even = k.next_multiple_of(2);
    let mut numbers = Vec::with_capacity(panels * even * PANEL);
    for panel in values.chunks_exact(k * PANEL) {
        for pair in panel.chunks(2 * PANEL) {
            for lane in 0..PANEL {
                let second = pair.get(PANEL + lane).copied().unwrap_or(0.0);
                numbers.extend([to_bf16(pair[lane]), to_bf16(second)]);
            }
        }
    }
    tensor(&[panels, even, PANEL], numbers)
}
