//! Products in low precision: bfloat16 summed in float32, and int8 summed in 32 bits.
//!
//! Four bytes of the left side, two numbers or four, are spread over a vector and multiplied with sixteen groups of
//! weights by one instruction. A matrix product is the convolution whose pixels are rows and whose window is one pixel.
//!
//! The sums of bfloat16 are the same to the last bit at every level of instructions but a matrix unit's: numbers are
//! rounded to the nearest (ties to even, denormal ones to zero), products are exact, and sums are rounded in one order.
//! Only denormal sums may differ, because processors flush them to zero. `matrix` describes the order of a matrix unit.

#[cfg(target_arch = "x86_64")]
mod matrix;
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::blocked::{Dense, LANES, PAIR, Part, Sliding};
use super::{extent, size};
use crate::simd::wide::{Work, wide_at};
use crate::view::{BF16, Row, RowMut};
use tile::{Dots, Engine, Floats, Int32Sums, Pairs, Quads, Reach, Tile};

/// Columns that lie together in a panel of weights.
pub const PANEL: usize = PAIR * LANES;
/// Groups of 32 bits of a pixel of a block of bfloat16.
const BLOCK: usize = LANES / 2;
/// What pixels of bfloat16 see beside the image.
static ZEROS: [u32; BLOCK] = [0; BLOCK];

/// Names what computes products here: of bfloat16, and of bytes.
pub fn engines() -> [&'static str; 2] {
    [
        Engine::best::<Pairs>().name("avx512_bf16"),
        Engine::best::<Quads>().name("avx512_vnni"),
    ]
}

/// Reports whether the processor has instructions for products of bfloat16: without them products in float32 are faster.
pub fn multiplies_bf16() -> bool {
    !matches!(Engine::best::<Pairs>(), Engine::Plain(_))
}

/// Rounds to bfloat16: to the nearest, ties to even; denormal numbers become zero.
#[inline(always)]
pub fn to_bf16(value: f32) -> BF16 {
    let bits = value.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16;
    let quiet = (bits >> 16) as u16 | 0x40;
    let zero = (bits >> 16) as u16 & 0x8000;
    BF16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        quiet
    } else if bits & 0x7f80_0000 == 0 {
        zero
    } else {
        rounded
    })
}

/// Rounds a row to bfloat16. Panics where the rows differ in length or are not dense.
pub fn round(from: Row<'_, f32>, to: RowMut<'_, BF16>) {
    round_at(Engine::best::<Pairs>(), from, to);
}

fn round_at(engine: Engine, from: Row<'_, f32>, to: RowMut<'_, BF16>) {
    let dense = from.is_dense() && to.as_row().is_dense();
    assert!(dense && from.len() == to.len(), "two dense rows alike");
    match engine {
        // A matrix unit does not round.
        Engine::Matrix if Pairs::native() => round_at(Engine::Native, from, to),
        Engine::Matrix => wide_at(super::Level::best(), Round(from, to)),
        // SAFETY: the engine says that the processor has the instruction; both rows hold as many numbers.
        #[cfg(target_arch = "x86_64")]
        Engine::Native => unsafe { x86::round(from.address(), to.address().cast(), from.len()) },
        #[cfg(not(target_arch = "x86_64"))]
        Engine::Native => wide_at(super::Level::Portable, Round(from, to)),
        Engine::Plain(level) => wide_at(level, Round(from, to)),
    }
}

struct Round<'a>(Row<'a, f32>, RowMut<'a, BF16>);

impl Work for Round<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for at in (0..self.0.len()).step_by(LANES) {
            let len = LANES.min(self.0.len() - at);
            let mut group = [0f32; LANES];
            self.0.slice(at, len).load(&mut group[..len], |value| value);
            let mut rounded = [BF16::ZERO; LANES];
            for (rounded, value) in rounded.iter_mut().zip(group) {
                *rounded = to_bf16(value);
            }
            self.1.slice(at, len).store(&rounded[..len], |value| value);
        }
    }
}

/// An output in float32 or in bfloat16.
#[derive(Clone, Copy)]
pub enum Out<'a> {
    /// In float32.
    Wide(RowMut<'a, f32>),
    /// Rounded to bfloat16.
    Bf16(RowMut<'a, BF16>),
}

impl Out<'_> {
    fn len(&self) -> usize {
        match self {
            Out::Wide(row) => row.len(),
            Out::Bf16(row) => row.len(),
        }
    }

    fn is_dense(&self) -> bool {
        match self {
            Out::Wide(row) => row.as_row().is_dense(),
            Out::Bf16(row) => row.as_row().is_dense(),
        }
    }

    /// Returns the address of a number, and whether it is narrow.
    fn at(&self, index: usize) -> (*mut u8, bool) {
        match self {
            Out::Wide(row) => (row.address().wrapping_add(index).cast(), false),
            Out::Bf16(row) => (row.address().wrapping_add(index).cast(), true),
        }
    }
}

/// Operands of a convolution or a product.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    /// The images in blocks of sixteen channels, or rows of a matrix.
    pub x: Row<'a, BF16>,
    /// The packed weights.
    pub filter: Row<'a, BF16>,
    /// A number for each output channel.
    pub bias: Option<Row<'a, f32>>,
    /// What is added, laid out as the output.
    pub residual: Option<Row<'a, f32>>,
    /// Bounds of the result. Not-a-number stays.
    pub clamp: Option<(f32, f32)>,
    /// The output.
    pub out: Out<'a>,
}

impl Operands<'_> {
    fn check(&self, x: usize, filter: usize, channels: usize, out: usize) {
        let reaches = |dense: bool, len: usize, wanted: usize, what: &str| {
            assert!(
                dense && len >= wanted,
                "{what} has {len} numbers where {wanted} are needed"
            );
        };
        reaches(self.x.is_dense(), self.x.len(), x, "the left side");
        reaches(
            self.filter.is_dense(),
            self.filter.len(),
            filter,
            "the filter",
        );
        reaches(self.out.is_dense(), self.out.len(), out, "the output");
        if let Some(bias) = self.bias {
            reaches(bias.is_dense(), bias.len(), channels, "the bias");
        }
        if let Some(residual) = self.residual {
            reaches(residual.is_dense(), residual.len(), out, "the residual");
        }
    }
}

fn address(row: Option<Row<'_, f32>>, offset: usize) -> *const f32 {
    row.map_or(std::ptr::null(), |row| row.address().wrapping_add(offset))
}

/// Computes a part of the output of one pair of blocks of a group.
///
/// # Shapes
///
/// As [`blocked::convolve`](super::blocked::convolve), but that `filter` has both channels of a group side by side: pair
/// of output blocks, block of input, tap down, tap across, eight groups of channels, output block of the pair, output
/// channel, two input channels. Panics where an operand is too short.
pub fn convolve(dense: &Dense, operands: &Operands<'_>, (group, pair): (usize, usize), part: Part) {
    convolve_at(
        Engine::best::<Pairs>(),
        dense,
        operands,
        (group, pair),
        part,
    );
}

fn convolve_at(
    engine: Engine,
    dense: &Dense,
    operands: &Operands<'_>,
    (group, pair): (usize, usize),
    part: Part,
) {
    let Dense {
        mut window,
        groups,
        inputs,
        outputs,
        ..
    } = *dense;
    let mut part = part;
    window.assert_countable();
    let (plane, out_plane) = (
        size([window.pixels(), BLOCK]),
        size([window.outputs(), LANES]),
    );
    let (all_in, all_out) = (size([groups, inputs]), size([groups, outputs]));
    let block = size([window.taps(), BLOCK, LANES]);
    let images = part.image.checked_add(1).expect("an image of a batch");
    assert!(
        part.rows.1 <= window.output[0] && part.columns.1 <= window.output[1],
        "{part:?} of {window:?}"
    );
    assert!(
        group < groups && pair < outputs.div_ceil(PAIR),
        "a pair of outputs"
    );
    operands.check(
        size([images, all_in, plane, 2]),
        size([all_out, inputs, block, 2]),
        size([all_out, LANES]),
        size([images, all_out, out_plane]),
    );
    let first = group * outputs + pair * PAIR;
    let count = PAIR.min(outputs - pair * PAIR);
    let x = operands.x.address().cast::<u32>();
    let x = x.wrapping_add((part.image * all_in + group * inputs) * plane);
    let filter = operands.filter.address().cast::<u32>();
    let filter = filter.wrapping_add(first * inputs * block);
    let out = (part.image * all_out + first) * out_plane;
    if engine == Engine::Matrix && window.is_one_pixel() && part.columns == (0, window.output[1]) {
        // Rows of pixels that see themselves alone are one row: a matrix unit takes more pixels than a small image is wide.
        let width = window.output[1];
        part.columns = (part.rows.0 * width, part.rows.1 * width);
        part.rows = (0, 1);
        window.image = [1, window.pixels()];
        window.output = window.image;
    }
    let tile_of = |y: usize| {
        let (line, tap, taps) = window.rows(y);
        let at = out + y * window.output[1] * LANES;
        let (to, bf16) = operands.out.at(at);
        Tile::<Pairs> {
            x: x.wrapping_add(line * window.image[1] * BLOCK),
            blocks: inputs,
            plane,
            rows: taps,
            row: window.dilation[0] * window.image[1] * BLOCK,
            taps: window.kernel[1],
            tap: window.dilation[1],
            column: 0,
            stride: window.stride[1],
            width: window.image[1],
            lane: BLOCK,
            depth: BLOCK,
            outside: ZEROS.as_ptr(),
            filter: filter.wrapping_add(tap * window.kernel[1] * BLOCK * count * LANES),
            filter_row: window.kernel[1] * BLOCK * count * LANES,
            filter_block: count * block,
            out: Floats {
                to,
                bf16,
                pixel: LANES,
                plane: out_plane,
                lanes: count * LANES,
                bias: address(operands.bias, first * LANES),
                residual: address(operands.residual, at),
                clamp: operands.clamp,
            },
        }
    };
    #[cfg(target_arch = "x86_64")]
    if engine == Engine::Matrix {
        let mut queue = matrix::Queue::new(count);
        for y in part.rows.0..part.rows.1 {
            // SAFETY: `check` saw that the operands cover the whole image; the rows of taps lie inside it.
            unsafe { queue.row(&tile_of(y), part.columns, window.before[1]) };
        }
        // SAFETY: as above.
        unsafe { queue.finish() };
        return;
    }
    for y in part.rows.0..part.rows.1 {
        // SAFETY: as above.
        unsafe {
            across(engine, &tile_of(y), count, &window, part.columns, true);
        }
    }
}

/// Goes along one output row. `tile` describes its pixel 0.
///
/// # Safety
///
/// As `tile::run`, for all pixels of the row.
unsafe fn across<D: Dots>(
    engine: Engine,
    tile: &Tile<D>,
    count: usize,
    window: &Sliding,
    (mut x, end): (usize, usize),
    blocks: bool,
) {
    const NEAR: usize = 14;
    const REGULAR: usize = 8;
    const CHECKED: usize = 7;
    while x < end {
        let column = (x * window.stride[1]) as isize - window.before[1] as isize;
        let left = end - x;
        let inside = |pixels: usize| {
            let reach =
                (pixels - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilation[1];
            column >= 0 && column as usize + reach < window.image[1]
        };
        // What is left is split evenly: a tile of few pixels waits for its sums.
        let even = left.div_ceil(left.div_ceil(REGULAR));
        let (pixels, reach) = if blocks && window.stride[1] == 1 && left >= NEAR && inside(NEAR) {
            (NEAR, Reach::Near)
        } else if count == PAIR && inside(even) {
            (even, Reach::Regular)
        } else {
            (left.min(CHECKED), Reach::Checked)
        };
        // SAFETY: the caller's word; a tile that may leave the image sideways is a checked one.
        unsafe { tile::run(engine, &tile.at(x, column), pixels, count, reach) };
        x += pixels;
    }
}

/// Computes `m` rows of up to 32 columns of a matrix product.
///
/// # Shapes
///
/// `x`: `m` rows of `k`, which is even. `filter`: `k / 2` pairs of rows, column by column (two blocks of sixteen), the
/// two numbers of a pair side by side. Output and residual: `m` rows of `n`, `stride` apart. Panics where an operand is
/// too short.
pub fn product((m, n, k): (usize, usize, usize), operands: &Operands<'_>, stride: usize) {
    product_at(Engine::best::<Pairs>(), (m, n, k), operands, stride);
}

fn product_at(
    engine: Engine,
    (m, n, k): (usize, usize, usize),
    operands: &Operands<'_>,
    stride: usize,
) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(n <= PANEL && k.is_multiple_of(2) && n <= stride, "a panel");
    operands.check(size([m, k]), size([k, PANEL]), n, extent(m, stride, n));
    let (to, bf16) = operands.out.at(0);
    let out = Floats {
        to,
        bf16,
        pixel: stride,
        plane: LANES,
        lanes: n,
        bias: address(operands.bias, 0),
        residual: address(operands.residual, 0),
        clamp: operands.clamp,
    };
    let (x, filter) = (
        operands.x.address().cast(),
        operands.filter.address().cast(),
    );
    let tile = rows::<Pairs>(x, filter, (m, k / 2), out);
    // SAFETY: `check` saw that the operands cover all rows and columns.
    unsafe { down(engine, &tile, m) };
}

/// Describes a product as a convolution: rows of the left side are pixels.
fn rows<D: Dots>(
    x: *const u32,
    filter: *const u32,
    (m, depth): (usize, usize),
    out: D::Out,
) -> Tile<D> {
    Tile {
        x,
        blocks: 1,
        plane: 0,
        rows: 1,
        row: 0,
        taps: 1,
        tap: 0,
        column: 0,
        stride: 1,
        width: m,
        lane: depth,
        depth,
        outside: std::ptr::null(),
        filter,
        filter_row: 0,
        filter_block: 0,
        out,
    }
}

/// Goes down the rows of a product.
///
/// # Safety
///
/// As `tile::run`, for all rows.
unsafe fn down<D: Dots>(engine: Engine, tile: &Tile<D>, m: usize) {
    #[cfg(target_arch = "x86_64")]
    if engine == Engine::Matrix {
        let mut queue = matrix::Queue::new(PAIR);
        // SAFETY: the caller's word; no row lies outside.
        unsafe {
            queue.row(tile, (0, m), 0);
            queue.finish();
        }
        return;
    }
    let mut row = 0;
    while row < m {
        let left = m - row;
        let count = left.div_ceil(left.div_ceil(8));
        let part = tile.at(row, row as isize);
        // SAFETY: the caller's word; no row lies outside.
        unsafe { tile::run(engine, &part, count, PAIR, Reach::Regular) };
        row += count;
    }
}

/// Computes `m` rows of up to 32 columns of a product of bytes: without sign on the left, with one on the right.
///
/// # Shapes
///
/// `x`: `m` rows of `k`, a multiple of 4. `filter`: `k / 4` groups of rows, column by column (two blocks of sixteen),
/// the four bytes of a group side by side. `out`: `m` rows of `n`, `stride` apart. Sums wrap around. Panics where an
/// operand is too short.
pub fn int8_product(
    (m, n, k): (usize, usize, usize),
    (x, filter): (Row<'_, u8>, Row<'_, u8>),
    (out, stride): (RowMut<'_, i32>, usize),
) {
    int8_product_at(
        Engine::best::<Quads>(),
        (m, n, k),
        (x, filter),
        (out, stride),
    );
}

fn int8_product_at(
    engine: Engine,
    (m, n, k): (usize, usize, usize),
    (x, filter): (Row<'_, u8>, Row<'_, u8>),
    (out, stride): (RowMut<'_, i32>, usize),
) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(n <= PANEL && k.is_multiple_of(4) && n <= stride, "a panel");
    assert!(x.is_dense() && x.len() >= size([m, k]), "the left side");
    assert!(
        filter.is_dense() && filter.len() >= size([k, PANEL]),
        "a panel"
    );
    assert!(
        out.as_row().is_dense() && out.len() >= extent(m, stride, n),
        "the output"
    );
    let to = Int32Sums {
        to: out.address(),
        pixel: stride,
        lanes: n,
    };
    let tile = rows::<Quads>(x.address().cast(), filter.address().cast(), (m, k / 4), to);
    // SAFETY: the operands cover all rows and columns, as was checked.
    unsafe { down(engine, &tile, m) };
}

/// A convolution of bytes over images that have their padding with them, and whose channels lie side by side.
#[derive(Clone, Copy, Debug)]
pub struct Int8Convolution {
    /// The window; nothing lies before the image.
    pub window: Sliding,
    /// Bytes from one pixel to the next, a multiple of 4.
    pub pixel: usize,
    /// Bytes of a pixel that count, a multiple of 4.
    pub depth: usize,
}

/// Computes one output row in up to 32 channels.
///
/// # Shapes
///
/// `x`: row, column, channel. `filter`: tap down, tap across, group of four channels, output channel (two blocks of
/// sixteen), four channels. `out`: pixel of the row, channel, `stride` apart. Sums wrap around. Panics where an operand
/// is too short, and where a tap leaves the image.
pub fn int8_convolve(
    convolution: &Int8Convolution,
    (x, filter): (Row<'_, u8>, Row<'_, u8>),
    (out, stride, channels): (RowMut<'_, i32>, usize, usize),
    y: usize,
) {
    let engine = Engine::best::<Quads>();
    int8_convolve_at(engine, convolution, (x, filter), (out, stride, channels), y);
}

fn int8_convolve_at(
    engine: Engine,
    convolution: &Int8Convolution,
    (x, filter): (Row<'_, u8>, Row<'_, u8>),
    (out, stride, channels): (RowMut<'_, i32>, usize, usize),
    y: usize,
) {
    let Int8Convolution {
        window,
        pixel,
        depth,
    } = *convolution;
    let pixels = window.output[1];
    if pixels == 0 || channels == 0 {
        return;
    }
    assert!(y < window.output[0], "row {y} of {window:?}");
    window.assert_countable();
    for axis in 0..2 {
        // The pixel behind the last one that the last tap of the last output sees.
        let taps = extent(window.kernel[axis], window.dilation[axis], 1);
        let reach = (window.output[axis] - 1) * window.stride[axis] + taps.max(1) - 1;
        assert!(
            window.before[axis] == 0 && reach < window.image[axis],
            "{window:?} leaves the image"
        );
    }
    assert!(
        depth.is_multiple_of(4) && pixel.is_multiple_of(4) && depth <= pixel,
        "groups of four"
    );
    assert!(channels <= PANEL && channels <= stride, "a panel");
    let columns = window.image[1];
    let reach = extent(window.pixels(), pixel, depth);
    assert!(x.is_dense() && x.len() >= reach, "the image");
    assert!(
        filter.is_dense() && filter.len() >= size([window.taps(), depth, PANEL]),
        "the filter"
    );
    assert!(
        out.as_row().is_dense() && out.len() >= extent(pixels, stride, channels),
        "the output"
    );
    let (lane, depth) = (pixel / 4, depth / 4);
    let line = y * window.stride[0] * columns * lane;
    let tile = Tile::<Quads> {
        x: x.address().cast::<u32>().wrapping_add(line),
        blocks: 1,
        plane: 0,
        rows: window.kernel[0],
        row: window.dilation[0] * columns * lane,
        taps: window.kernel[1],
        tap: window.dilation[1],
        column: 0,
        stride: window.stride[1],
        width: columns,
        lane,
        depth,
        outside: std::ptr::null(),
        filter: filter.address().cast(),
        filter_row: window.kernel[1] * depth * PANEL,
        filter_block: 0,
        out: Int32Sums {
            to: out.address(),
            pixel: stride,
            lanes: channels,
        },
    };
    #[cfg(target_arch = "x86_64")]
    if engine == Engine::Matrix {
        let mut queue = matrix::Queue::new(PAIR);
        // SAFETY: operands cover the image, the filter and the row, as was checked; no tap leaves the image.
        unsafe {
            queue.row(&tile, (0, pixels), 0);
            queue.finish();
        }
        return;
    }
    // SAFETY: as above.
    unsafe { across(engine, &tile, PAIR, &window, (0, pixels), false) };
}

#[cfg(test)]
mod tests;
