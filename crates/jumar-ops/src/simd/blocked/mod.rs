//! Convolution and pooling of images whose channels lie in blocks of sixteen: batch, block, row, column, channel.
//!
//! One vector holds one pixel of a block. A tile computes up to fourteen pixels of one or two blocks of output channels
//! and keeps them in registers while it goes over input channels and taps. Pixels beside the image are read from a line
//! of zeros, so that borders need no copy of the image.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod gathered;
mod order;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use gathered::{GatheredConvolution, convolve_gathered};
pub use order::{Share, convolve, together};

use super::{Level, size};
use crate::view::{Row, RowMut};
use tile::Tile;

/// Channels in a block.
pub const LANES: usize = 16;
/// Blocks of output channels whose weights lie together.
pub const PAIR: usize = 2;
/// Pixels of the largest tile.
const WIDE: usize = 14;
/// Pixels of a tile at a border.
const STANDARD: usize = 7;
/// Bytes of weights that one pass over the image uses.
const PASS_BYTES: usize = 64 << 10;

/// A 16-bit type to whose values results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To float16.
    Float16,
    /// To bfloat16.
    BFloat16,
}

/// A window over an image, with its padding.
#[derive(Clone, Copy, Debug)]
pub struct Sliding {
    /// Rows and columns of the image.
    pub image: [usize; 2],
    /// Rows and columns of the output.
    pub output: [usize; 2],
    /// Taps down and across.
    pub kernel: [usize; 2],
    /// Image pixels from one output pixel to the next.
    pub stride: [usize; 2],
    /// Image pixels from one tap to the next.
    pub dilation: [usize; 2],
    /// Rows above and columns left of the image.
    pub before: [usize; 2],
}

impl Sliding {
    pub(crate) fn pixels(&self) -> usize {
        size(self.image)
    }

    pub(crate) fn outputs(&self) -> usize {
        size(self.output)
    }

    pub(crate) fn taps(&self) -> usize {
        size(self.kernel)
    }

    /// Checks that positions under the window can be counted, so that what is calculated with them afterwards is exact: where they
    /// wrapped, a tap could seem to lie inside the image.
    ///
    /// # Panics
    /// A position is out of reach.
    pub(in crate::simd) fn assert_countable(&self) {
        // A tile reaches a few strides beyond its row.
        const MOST: usize = isize::MAX as usize >> 6;
        let is_countable = |axis: usize| {
            let reach = |count: usize, step: usize| count.saturating_sub(1).saturating_mul(step);
            let farthest = reach(self.output[axis], self.stride[axis])
                .saturating_add(reach(self.kernel[axis], self.dilation[axis]))
                .saturating_add(self.image[axis])
                .saturating_add(self.before[axis]);
            self.stride[axis] <= MOST && self.dilation[axis] <= MOST && farthest <= MOST
        };
        assert!(
            is_countable(0) && is_countable(1),
            "{self:?} reaches too far"
        );
    }

    /// Finds the image row of the first tap inside the image, which tap that is, and how many follow.
    pub(in crate::simd) fn rows(&self, y: usize) -> (usize, usize, usize) {
        let (stride, dilation, before) = (self.stride[0], self.dilation[0], self.before[0]);
        let top = y * stride;
        let first = before.saturating_sub(top).div_ceil(dilation);
        let end = (self.image[0] + before)
            .saturating_sub(top)
            .div_ceil(dilation)
            .min(self.kernel[0]);
        if first >= end {
            return (0, 0, 0);
        }
        (top + first * dilation - before, first, end - first)
    }

    /// Returns whether each output pixel sees one pixel of the image, the one at its position.
    pub(crate) fn is_one_pixel(&self) -> bool {
        self.kernel == [1, 1]
            && self.stride == [1, 1]
            && self.before == [0, 0]
            && self.output == self.image
    }

    /// Counts the taps inside the image along an axis, the padding counted as well where it is given.
    fn count(&self, axis: usize, at: usize, padding: Option<usize>) -> usize {
        let (low, high) = match padding {
            Some(after) => (0, self.image[axis] + self.before[axis] + after),
            None => (self.before[axis], self.image[axis] + self.before[axis]),
        };
        (0..self.kernel[axis])
            .map(|tap| at * self.stride[axis] + tap * self.dilation[axis])
            .filter(|position| (low..high).contains(position))
            .count()
    }
}

/// The part of an output image that one call makes.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Which image of the batch.
    pub image: usize,
    /// From which row, and up to which.
    pub rows: (usize, usize),
    /// From which column, and up to which.
    pub columns: (usize, usize),
}

/// How far apart images of a batch lie, where something else lies between them.
///
/// # Units
///
/// Numbers from one image to the next; `None`: they lie one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchStrides {
    /// Of the images that are read.
    pub x: Option<usize>,
    /// Of what is added.
    pub residual: Option<usize>,
    /// Of the output.
    pub out: Option<usize>,
}

/// Operands of a convolution.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    /// The images.
    pub x: Row<'a, f32>,
    /// The packed weights.
    pub filter: Row<'a, f32>,
    /// A number for each output channel.
    pub bias: Option<Row<'a, f32>>,
    /// What is added, laid out as the output.
    pub residual: Option<Row<'a, f32>>,
    /// Bounds of the result. Not-a-number stays.
    pub clamp: Option<(f32, f32)>,
    /// What the result is rounded to; it is float32 all the same.
    pub rounding: Option<Rounding>,
    /// The output.
    pub out: RowMut<'a, f32>,
    /// How far apart images lie in each of them.
    pub batch_strides: BatchStrides,
}

/// Where an image begins in each operand.
#[derive(Clone, Copy)]
struct Begins {
    x: usize,
    residual: usize,
    out: usize,
}

/// The sizes of a convolution over all channels of a group.
#[derive(Clone, Copy, Debug)]
pub struct Dense {
    /// The window.
    pub window: Sliding,
    /// Groups of channels.
    pub groups: usize,
    /// Blocks of input channels of one group.
    pub inputs: usize,
    /// Channels of the last of these blocks, from 1 to 16; the weights of what follows them are zeros.
    pub last: usize,
    /// Blocks of output channels of one group.
    pub outputs: usize,
}

fn assert_inside(part: &Part, window: &Sliding) {
    window.assert_countable();
    assert!(
        part.rows.1 <= window.output[0] && part.columns.1 <= window.output[1],
        "{part:?} of {window:?}"
    );
}

fn assert_row(what: &str, row: Row<'_, f32>, len: usize) {
    assert!(
        row.is_dense() && row.len() >= len,
        "{what} has {} numbers where {len} are needed",
        row.len()
    );
}

impl Operands<'_> {
    /// Finds an image in each operand. `x` and `out` are numbers of one image. Panics where an operand is too short.
    fn check(
        &self,
        image: usize,
        (x, filter, channels, out): (usize, usize, usize, usize),
    ) -> Begins {
        let begin = |stride: Option<usize>, len: usize| {
            let begin = image.checked_mul(stride.unwrap_or(len));
            let end = begin.and_then(|begin| begin.checked_add(len));
            let [Some(begin), Some(end)] = [begin, end] else {
                panic!("image {image}, {stride:?} apart");
            };
            (begin, end)
        };
        let (image, added, made) = (
            begin(self.batch_strides.x, x),
            begin(self.batch_strides.residual, out),
            begin(self.batch_strides.out, out),
        );
        assert_row("the image", self.x, image.1);
        assert_row("the filter", self.filter, filter);
        if let Some(bias) = self.bias {
            assert_row("the bias", bias, channels);
        }
        if let Some(residual) = self.residual {
            assert_row("the residual", residual, added.1);
        }
        assert_row("the output", self.out.as_row(), made.1);
        Begins {
            x: image.0,
            residual: added.0,
            out: made.0,
        }
    }
}

impl Dense {
    /// Numbers of weights that one block of input channels has for one block of output channels.
    fn block(&self) -> usize {
        size([self.window.taps(), LANES, LANES])
    }

    /// Pairs of output blocks of a group; the last may be a single one.
    pub fn pairs(&self) -> usize {
        self.outputs.div_ceil(PAIR)
    }

    /// Input blocks that a pass over the image takes. Sums are grouped by passes, so that nothing but the sizes of the convolution
    /// says how long they are.
    fn pass(&self) -> usize {
        let each = size([PAIR.min(self.outputs), self.block(), size_of::<f32>()]);
        let most = (PASS_BYTES / each.max(1)).clamp(1, self.inputs.max(1));
        // All passes are about as long: a short one would write the output once more for little.
        self.inputs
            .div_ceil(self.inputs.div_ceil(most).max(1))
            .max(1)
    }

    /// Passes over the image; one that adds nothing where there is no input.
    fn passes(&self) -> usize {
        self.inputs.div_ceil(self.pass()).max(1)
    }
}

/// Computes some passes of a part of the output of one pair of blocks of a group. Panics where an operand is too short.
fn convolve_at(
    level: Level,
    dense: &Dense,
    operands: &Operands<'_>,
    (group, pair): (usize, usize),
    part: Part,
    passes: (usize, usize),
) {
    let Dense {
        window,
        groups,
        inputs,
        last: last_lanes,
        outputs,
    } = *dense;
    let (plane, out_plane) = (
        size([window.pixels(), LANES]),
        size([window.outputs(), LANES]),
    );
    assert!(
        (1..=LANES).contains(&last_lanes),
        "a block of {last_lanes} channels"
    );
    let (all_in, all_out) = (size([groups, inputs]), size([groups, outputs]));
    let block = dense.block();
    assert_inside(&part, &window);
    assert!(
        group < groups && pair < outputs.div_ceil(PAIR),
        "a pair of outputs"
    );
    let begins = operands.check(
        part.image,
        (
            size([all_in, plane]),
            size([all_out, inputs, block]),
            size([all_out, LANES]),
            size([all_out, out_plane]),
        ),
    );
    let first = group * outputs + pair * PAIR;
    let count = PAIR.min(outputs - pair * PAIR);
    let x = begins.x + group * inputs * plane;
    let pass = dense.pass();
    for number in passes.0..passes.1 {
        let from = (number * pass).min(inputs);
        let blocks = pass.min(inputs - from);
        let last = from + blocks >= inputs;
        let here = first * inputs * block + from * count * block;
        for y in part.rows.0..part.rows.1 {
            let (line, tap, taps) = window.rows(y);
            let at = first * out_plane + y * window.output[1] * LANES;
            let tile = Tile {
                x: operands
                    .x
                    .address()
                    .wrapping_add(x + from * plane + line * window.image[1] * LANES),
                blocks,
                plane,
                rows: taps,
                row: window.dilation[0] * window.image[1] * LANES,
                taps: window.kernel[1],
                tap: window.dilation[1],
                column: 0,
                stride: window.stride[1],
                width: window.image[1],
                lane: LANES,
                depth: LANES,
                last: if last { last_lanes } else { LANES },
                filter: operands
                    .filter
                    .address()
                    .wrapping_add(here + tap * window.kernel[1] * LANES * count * LANES),
                filter_row: window.kernel[1] * LANES * count * LANES,
                filter_block: count * block,
                picks: std::ptr::null(),
                out: operands.out.address().wrapping_add(begins.out + at),
                out_plane,
                accumulate: from > 0,
                bias: address(operands.bias.filter(|_| from == 0), first * LANES),
                residual: address(operands.residual.filter(|_| last), begins.residual + at),
                clamp: operands.clamp.filter(|_| last),
                rounding: operands.rounding.filter(|_| last),
                divide: [1.0; WIDE],
            };
            across(level, &tile, count, &window, part.columns);
        }
    }
}

fn address(row: Option<Row<'_, f32>>, offset: usize) -> *const f32 {
    row.map_or(std::ptr::null(), |row| row.address().wrapping_add(offset))
}

/// Returns the number of pixels of the next tile, where `rest` pixels of a row remain.
///
/// Additions to one sum wait for each other, so that a tile of one pixel takes as long as one of four. Therefore the last two tiles
/// of a row have about the same width.
fn tile_width(rest: usize, allows_wide: bool) -> usize {
    if rest <= STANDARD {
        rest
    } else if rest < WIDE {
        rest.div_ceil(2)
    } else if allows_wide && !(WIDE + 1..WIDE + 4).contains(&rest) {
        WIDE
    } else {
        STANDARD
    }
}

/// Goes along one output row. `tile` describes its pixel 0.
fn across(level: Level, tile: &Tile, count: usize, window: &Sliding, (mut x, end): (usize, usize)) {
    while x < end {
        let column = (x * window.stride[1]) as isize - window.before[1] as isize;
        let reach = (WIDE - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1];
        let inside = column >= 0 && column as usize + reach < window.image[1];
        let pixels = match level.cuts_tiles() {
            true => end - x,
            false => tile_width(end - x, window.stride[1] <= 2 && inside),
        };
        let wide = pixels == WIDE && !level.cuts_tiles();
        let tile = tile.at(x, column);
        // SAFETY: the caller checked that the operands cover the whole image; the rows of taps lie inside it, and a tile
        // that may leave it sideways reads zeros there.
        unsafe { tile::dense(level, &tile, pixels, count, wide) };
        x += pixels;
    }
}

/// The sizes of a convolution of an image of few channels that lie in planes.
#[derive(Clone, Copy, Debug)]
pub struct Planar {
    /// The window; it has no dilation across.
    pub window: Sliding,
    /// Channels of the image.
    pub channels: usize,
    /// Blocks of output channels.
    pub outputs: usize,
}

/// Numbers of the lines that [`convolve_planar`] keeps on the stack.
const LINES: usize = 4096;
/// Numbers that are enough for the lines of a small image. Clearing [`LINES`] takes longer than its convolution.
const FEW_LINES: usize = 512;

impl Planar {
    /// Returns how many columns of the output are made at a time; 0: the window is too large.
    pub fn columns(&self) -> usize {
        let lines = size([self.channels, self.window.kernel[0]]);
        let each = LINES.checked_div(lines).unwrap_or(0);
        if each < self.window.kernel[1] {
            return 0;
        }
        let most = (each - self.window.kernel[1]) / self.window.stride[1] + 1;
        match most / STANDARD {
            0 => most,
            tiles => tiles * STANDARD,
        }
    }

    /// Returns for how many output rows [`LINES`] hold what they see in `width` columns. Only rows that see the same lines are
    /// computed together.
    fn rows_at_once(&self, width: usize) -> usize {
        let Sliding {
            kernel: [kernel, _],
            stride: [stride, _],
            dilation: [dilation, _],
            ..
        } = self.window;
        if dilation > 1 || stride >= kernel {
            return 1;
        }
        let lines = LINES / (self.channels * width).max(1);
        lines.saturating_sub(kernel) / stride + 1
    }

    /// Returns how many image rows are kept for some output rows, padding included.
    fn lines(&self, rows: usize) -> usize {
        rows.saturating_sub(1) * self.window.stride[0] + self.window.kernel[0]
    }
}

/// Computes a part of the output of all blocks.
///
/// # Shapes
///
/// `x`: batch, channel, row, column. `filter`: a pair of output blocks after the other; in each channel, tap down, tap
/// across, output block of the pair, output channel. Panics where an operand is too short.
pub fn convolve_planar(planar: &Planar, operands: &Operands<'_>, part: Part) {
    planar_at(Level::best(), planar, operands, part);
}

fn planar_at(level: Level, planar: &Planar, operands: &Operands<'_>, part: Part) {
    let Planar {
        window,
        channels,
        outputs,
    } = *planar;
    let [kernel_h, kernel_w] = window.kernel;
    let (plane, out_plane) = (window.pixels(), size([window.outputs(), LANES]));
    let steps = size([channels, window.taps()]);
    assert_inside(&part, &window);
    assert!(window.dilation[1] == 1, "no dilation across");
    let begins = operands.check(
        part.image,
        (
            size([channels, plane]),
            size([outputs, steps, LANES]),
            size([outputs, LANES]),
            size([outputs, out_plane]),
        ),
    );
    let columns = planar.columns();
    assert!(
        columns > 0,
        "a window of {kernel_h} x {kernel_w} x {channels}"
    );
    // What the pixels of the longest strip see.
    let strip = columns.min(part.columns.1.saturating_sub(part.columns.0));
    let width = strip.saturating_sub(1) * window.stride[1] + kernel_w;
    let rows = planar
        .rows_at_once(width)
        .min(part.rows.1.saturating_sub(part.rows.0));
    let (height, pairs) = (planar.lines(rows), outputs.div_ceil(PAIR));
    let (mut few, mut many);
    let lines: &mut [f32] = match size([channels, height, width]) {
        0..=FEW_LINES => {
            few = [0f32; FEW_LINES];
            &mut few
        }
        _ => {
            many = [0f32; LINES];
            &mut many
        }
    };
    let mut top = part.rows.0;
    while top < part.rows.1 {
        let bottom = part.rows.1.min(top + rows);
        let mut start = part.columns.0;
        while start < part.columns.1 {
            let end = part.columns.1.min(start + columns);
            // What the window sees from here on, with zeros beside the image.
            let from = (start * window.stride[1]) as isize - window.before[1] as isize;
            let len = (end - 1 - start) * window.stride[1] + kernel_w;
            let skip = (-from).clamp(0, len as isize) as usize;
            let source = from.max(0) as usize;
            let seen = window.image[1].saturating_sub(source).min(len - skip);
            for channel in 0..channels {
                for line in 0..planar.lines(bottom - top) {
                    let to = &mut lines[(channel * height + line) * width..][..len];
                    let below = top * window.stride[0] + line * window.dilation[0];
                    let image_row = below.wrapping_sub(window.before[0]);
                    if image_row >= window.image[0] || seen == 0 {
                        to.fill(0.0);
                        continue;
                    }
                    let at = begins.x + channel * plane + image_row * window.image[1] + source;
                    to[..skip].fill(0.0);
                    to[skip + seen..].fill(0.0);
                    let row = operands.x.slice(at, seen);
                    row.load(&mut to[skip..skip + seen], |value| value);
                }
            }
            for (y, pair) in (top..bottom).flat_map(|y| (0..pairs).map(move |pair| (y, pair))) {
                let first = pair * PAIR;
                let count = PAIR.min(outputs - first);
                let at = first * out_plane + y * window.output[1] * LANES;
                let tile = Tile {
                    x: lines
                        .as_ptr()
                        .wrapping_add((y - top) * window.stride[0] * width),
                    blocks: channels,
                    plane: height * width,
                    rows: kernel_h,
                    row: width,
                    taps: 1,
                    tap: 0,
                    column: 0,
                    stride: window.stride[1],
                    width,
                    lane: 1,
                    depth: kernel_w,
                    last: kernel_w,
                    filter: operands
                        .filter
                        .address()
                        .wrapping_add(first * steps * LANES),
                    filter_row: kernel_w * count * LANES,
                    filter_block: kernel_h * kernel_w * count * LANES,
                    picks: std::ptr::null(),
                    out: operands.out.address().wrapping_add(begins.out + at),
                    out_plane,
                    accumulate: false,
                    bias: address(operands.bias, first * LANES),
                    residual: address(operands.residual, begins.residual + at),
                    clamp: operands.clamp,
                    rounding: operands.rounding,
                    divide: [1.0; WIDE],
                };
                let mut x = start;
                while x < end {
                    let pixels = match level.cuts_tiles() {
                        true => end - x,
                        false => tile_width(end - x, true),
                    };
                    let tile = tile.at(x, ((x - start) * window.stride[1]) as isize);
                    // SAFETY: the lines hold `len` numbers for each channel and row, which is what the pixels up to `end` see;
                    // the other operands were checked above.
                    unsafe { tile::planar(level, &tile, pixels, count) };
                    x += pixels;
                }
            }
            start = end;
        }
        top = bottom;
    }
}

/// What is made of the pixels under a window, channel by channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowOp {
    /// Their products with the filter, summed.
    Weigh,
    /// The largest.
    Max,
    /// The mean of those inside the image.
    MeanInside,
    /// The mean of those inside the image and its padding, given below and right of it.
    MeanPadded([usize; 2]),
    /// The sum divided by a number.
    SumBy(u64),
}

/// Computes a part of the output of one block from the same block of the image.
///
/// # Shapes
///
/// `filter`: block, tap down, tap across, channel; empty unless it [weighs](WindowOp::Weigh). Panics where an operand is
/// too short.
pub fn apply_window(
    window: &Sliding,
    what: WindowOp,
    (block, blocks): (usize, usize),
    operands: &Operands<'_>,
    part: Part,
) {
    apply_window_at(Level::best(), window, what, (block, blocks), operands, part);
}

fn apply_window_at(
    level: Level,
    window: &Sliding,
    what: WindowOp,
    (block, blocks): (usize, usize),
    operands: &Operands<'_>,
    part: Part,
) {
    let (plane, out_plane) = (
        size([window.pixels(), LANES]),
        size([window.outputs(), LANES]),
    );
    let filter = if what == WindowOp::Weigh {
        size([window.taps(), LANES])
    } else {
        0
    };
    assert_inside(&part, window);
    assert!(block < blocks, "block {block} of {blocks}");
    let begins = operands.check(
        part.image,
        (
            size([blocks, plane]),
            size([blocks, filter]),
            size([blocks, LANES]),
            size([blocks, out_plane]),
        ),
    );
    for y in part.rows.0..part.rows.1 {
        let (line, tap, taps) = window.rows(y);
        let at = block * out_plane + y * window.output[1] * LANES;
        let tile = Tile {
            x: operands
                .x
                .address()
                .wrapping_add(begins.x + block * plane + line * window.image[1] * LANES),
            blocks: 1,
            plane,
            rows: taps,
            row: window.dilation[0] * window.image[1] * LANES,
            taps: window.kernel[1],
            tap: window.dilation[1],
            column: 0,
            stride: window.stride[1],
            width: window.image[1],
            lane: LANES,
            depth: 1,
            last: 1,
            filter: operands
                .filter
                .address()
                .wrapping_add(block * filter + tap * window.kernel[1] * LANES),
            filter_row: window.kernel[1] * LANES,
            filter_block: 0,
            picks: std::ptr::null(),
            out: operands.out.address().wrapping_add(begins.out + at),
            out_plane,
            accumulate: false,
            bias: address(operands.bias, block * LANES),
            residual: address(operands.residual, begins.residual + at),
            clamp: operands.clamp,
            rounding: operands.rounding,
            divide: [1.0; WIDE],
        };
        let down = match what {
            WindowOp::MeanPadded([after, _]) => window.count(0, y, Some(after)),
            WindowOp::Weigh | WindowOp::Max | WindowOp::MeanInside | WindowOp::SumBy(_) => {
                window.count(0, y, None)
            }
        };
        let mut x = part.columns.0;
        while x < part.columns.1 {
            let column = (x * window.stride[1]) as isize - window.before[1] as isize;
            let reach = (WIDE - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1];
            let inside = column >= 0 && column as usize + reach < window.image[1];
            let wide = window.stride[1] <= 2 && inside && part.columns.1 - x >= WIDE;
            let most = if wide || level.cuts_tiles() {
                WIDE
            } else {
                STANDARD
            };
            let pixels = most.min(part.columns.1 - x);
            let mut tile = tile.at(x, column);
            if !matches!(what, WindowOp::Weigh | WindowOp::Max) {
                for (pixel, divide) in tile.divide[..pixels].iter_mut().enumerate() {
                    let across = |padding| window.count(1, x + pixel, padding);
                    let count = match what {
                        WindowOp::SumBy(number) => number as f32,
                        WindowOp::MeanPadded([_, after]) => (down * across(Some(after))) as f32,
                        _ => (down * across(None)) as f32,
                    };
                    *divide = if count > 0.0 { count } else { 1.0 };
                }
            }
            // SAFETY: as in `across`.
            unsafe { tile::apply_window(level, &tile, pixels, what, wide) };
            x += pixels;
        }
    }
}

/// Brings up to sixteen planes into a block; channels that are missing become 0.
///
/// # Shapes
///
/// `planes`: channel, pixel. `block`: pixel, channel. Panics where the block is too short.
pub fn interleave(planes: Row<'_, f32>, block: RowMut<'_, f32>, pixels: usize) {
    interleave_at(Level::best(), planes, block, pixels);
}

fn interleave_at(level: Level, planes: Row<'_, f32>, block: RowMut<'_, f32>, pixels: usize) {
    let channels = planes.len().checked_div(pixels).unwrap_or(0);
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 && channels <= LANES && planes.is_dense() {
        assert_row("the block", block.as_row(), size([pixels, LANES]));
        for pixel in (0..pixels).step_by(LANES) {
            let count = LANES.min(pixels - pixel);
            let (from, to) = (planes.address(), block.address());
            // SAFETY: each plane holds `pixels` numbers, and the block sixteen for each pixel, as was checked.
            unsafe {
                x86::turn_avx512(
                    (from.wrapping_add(pixel), pixels, channels, count),
                    (to.wrapping_add(pixel * LANES), LANES, count, LANES),
                );
            }
        }
        return;
    }
    let _ = level;
    let mut pixel = 0;
    while pixel < pixels {
        let count = LANES.min(pixels - pixel);
        let mut square = [[0f32; LANES]; LANES];
        for channel in 0..channels {
            let row = planes.slice(channel * pixels + pixel, count);
            let mut line = [0f32; LANES];
            row.load(&mut line[..count], |value| value);
            for (turned, value) in square.iter_mut().zip(line) {
                turned[channel] = value;
            }
        }
        let to = block.slice(pixel * LANES, count * LANES);
        to.store(&square.as_flattened()[..count * LANES], |value| value);
        pixel += count;
    }
}

/// Takes up to sixteen planes out of a block.
///
/// # Shapes
///
/// As [`interleave`].
pub fn separate(block: Row<'_, f32>, planes: RowMut<'_, f32>, pixels: usize) {
    separate_at(Level::best(), block, planes, pixels);
}

fn separate_at(level: Level, block: Row<'_, f32>, planes: RowMut<'_, f32>, pixels: usize) {
    let channels = planes.len().checked_div(pixels).unwrap_or(0);
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 && channels <= LANES && planes.as_row().is_dense() {
        assert_row("the block", block, size([pixels, LANES]));
        for pixel in (0..pixels).step_by(LANES) {
            let count = LANES.min(pixels - pixel);
            let (from, to) = (block.address(), planes.address());
            // SAFETY: as in `interleave_at`.
            unsafe {
                x86::turn_avx512(
                    (from.wrapping_add(pixel * LANES), LANES, count, LANES),
                    (to.wrapping_add(pixel), pixels, channels, count),
                );
            }
        }
        return;
    }
    let _ = level;
    let mut pixel = 0;
    while pixel < pixels {
        let count = LANES.min(pixels - pixel);
        let mut square = [[0f32; LANES]; LANES];
        let from = block.slice(pixel * LANES, count * LANES);
        from.load(&mut square.as_flattened_mut()[..count * LANES], |value| {
            value
        });
        for channel in 0..channels {
            let mut line = [0f32; LANES];
            for (to, pixel) in line.iter_mut().zip(&square) {
                *to = pixel[channel];
            }
            let row = planes.slice(channel * pixels + pixel, count);
            row.store(&line[..count], |value| value);
        }
        pixel += count;
    }
}

#[cfg(test)]
mod tests;
