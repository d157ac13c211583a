//! One tile of an output row: the portable version, and the choice between versions.

use super::{LANES, Level, Rounding, WIDE, WindowOp};
use crate::simd::convert::LowPrecision;
use crate::view::{BF16, F16};

/// Where a tile finds its operands. Distances are in numbers.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Column 0 of the row under the first tap, in the first block (or channel) of input.
    pub x: *const f32,
    pub blocks: usize,
    pub plane: usize,
    /// Rows of taps, all inside the image, and how far their image rows lie apart.
    pub rows: usize,
    pub row: usize,
    /// Taps across, and how many columns they lie apart.
    pub taps: usize,
    pub tap: usize,
    /// The column that pixel 0 sees through the first tap; columns from one pixel to the next; columns of the image.
    pub column: isize,
    pub stride: usize,
    pub width: usize,
    /// Numbers a column takes.
    pub lane: usize,
    /// Numbers that follow each other under one tap, each with its own weights.
    pub depth: usize,
    /// Those of them that count in the last block (or channel).
    pub last: usize,
    pub filter: *const f32,
    /// Where channels are picked: the first row of taps inside the image.
    pub filter_row: usize,
    /// Where channels are picked: the rows of taps.
    pub filter_block: usize,
    /// Null, or a mask for each block of input: of which channels of it there are weights at all.
    pub picks: *const i32,
    pub out: *mut f32,
    pub out_plane: usize,
    /// The sum continues from what the output holds.
    pub accumulate: bool,
    /// Null, or a number for each channel.
    pub bias: *const f32,
    /// Null, or laid out as the output.
    pub residual: *const f32,
    pub clamp: Option<(f32, f32)>,
    pub rounding: Option<Rounding>,
    /// What a mean is divided by, pixel by pixel.
    pub divide: [f32; WIDE],
}

#[repr(align(64))]
struct Line([f32; LANES]);

/// What a tile reads beside the image.
static ZEROS: Line = Line([0.0; LANES]);
static LOWEST: Line = Line([f32::NEG_INFINITY; LANES]);

impl Tile {
    /// Describes the tile that starts at pixel `x` of the row.
    pub fn at(&self, x: usize, column: isize) -> Tile {
        let ahead = |address: *const f32| match address.is_null() {
            true => address,
            false => address.wrapping_add(x * LANES),
        };
        Tile {
            column,
            out: self.out.wrapping_add(x * LANES),
            residual: ahead(self.residual),
            ..*self
        }
    }

    /// Describes the second block of a pair alone.
    pub fn block(&self, block: usize) -> Tile {
        let ahead = |address: *const f32, by: usize| match address.is_null() {
            true => address,
            false => address.wrapping_add(block * by),
        };
        Tile {
            filter: self.filter.wrapping_add(block * LANES),
            out: self.out.wrapping_add(block * self.out_plane),
            bias: ahead(self.bias, LANES),
            residual: ahead(self.residual, self.out_plane),
            ..*self
        }
    }

    /// Returns how many numbers count under a tap in a block (or channel) of input.
    #[inline(always)]
    pub fn steps(&self, input: usize) -> usize {
        if input + 1 < self.blocks {
            self.depth
        } else {
            self.last
        }
    }

    /// Returns how many of PIXELS pixels see nothing but padding through a tap: left of the image, and right of it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn outside<const PIXELS: usize>(&self, tap: usize) -> (usize, usize) {
        let (mut left, mut right) = (0, 0);
        for pixel in 0..PIXELS {
            let column = self.column + (tap * self.tap + pixel * self.stride) as isize;
            left += usize::from(column < 0);
            right += usize::from(column >= self.width as isize);
        }
        (left, right)
    }

    /// Finds what a pixel sees through a tap; beside the image, a line of zeros.
    #[inline(always)]
    pub fn seen(&self, line: *const f32, tap: usize, pixel: usize, max: bool) -> *const f32 {
        let column = self.column + (tap * self.tap + pixel * self.stride) as isize;
        let inside = line.wrapping_offset(column * self.lane as isize);
        let outside = if max {
            LOWEST.0.as_ptr()
        } else {
            ZEROS.0.as_ptr()
        };
        if (column as usize) < self.width {
            inside
        } else {
            outside
        }
    }
}

/// Computes a tile of a convolution over blocks, or over channels that are picked from them; `count` is 1 or 2 blocks of output.
///
/// # Safety
///
/// Operands cover all that the tile describes; `wide` only where all `pixels` (fourteen) see the image through all taps, at
/// a stride of 1 or 2.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) unsafe fn dense(level: Level, tile: &Tile, pixels: usize, count: usize, wide: bool) {
    if !tile.picks.is_null() {
        // SAFETY: the level says what the processor has; the rest is the caller's word.
        return unsafe {
            match level {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => super::x86::gathered_avx512(tile, pixels, count, wide),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => super::avx2::gathered_avx2(tile, pixels, count),
                Level::Portable => gathered_portable(tile, pixels, count),
            }
        };
    }
    match level {
        // SAFETY: the level says what the processor has; the rest is the caller's word.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { super::x86::dense_avx512(tile, pixels, count, wide) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { super::avx2::dense_avx2(tile, pixels, count) },
        // SAFETY: the caller's word.
        Level::Portable => unsafe { dense_portable(tile, pixels, count) },
    }
}

/// Computes a tile of a convolution over planes.
///
/// # Safety
///
/// As [`dense`], and no pixel leaves the lines.
pub(super) unsafe fn planar(level: Level, tile: &Tile, pixels: usize, count: usize) {
    match level {
        // SAFETY: as in `dense`.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { super::x86::planar_avx512(tile, pixels, count) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { super::avx2::dense_avx2(tile, pixels, count) },
        // SAFETY: the caller's word.
        Level::Portable => unsafe { dense_portable(tile, pixels, count) },
    }
}

/// Computes a tile of a sweep.
///
/// # Safety
///
/// As [`dense`].
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
pub(super) unsafe fn apply_window(
    level: Level,
    tile: &Tile,
    pixels: usize,
    what: WindowOp,
    wide: bool,
) {
    match level {
        // SAFETY: as in `dense`.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { super::x86::window_avx512(tile, pixels, what, wide) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { super::avx2::window_avx2(tile, pixels, what) },
        // SAFETY: the caller's word.
        Level::Portable => unsafe { window_portable(tile, pixels, what) },
    }
}

type Lanes = [f32; LANES];

/// # Safety
///
/// Sixteen numbers lie at the address.
#[inline(always)]
unsafe fn load(address: *const f32) -> Lanes {
    // SAFETY: the caller's word.
    unsafe { address.cast::<Lanes>().read_unaligned() }
}

/// # Safety
///
/// As [`dense`].
pub(super) unsafe fn dense_portable(tile: &Tile, pixels: usize, count: usize) {
    for block in 0..count {
        let own = tile.block(block);
        for pixel in 0..pixels {
            let mut sums = [0f32; LANES];
            for input in 0..tile.blocks {
                for row in 0..tile.rows {
                    let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
                    for tap in 0..tile.taps {
                        let seen = tile.seen(line, tap, pixel, false);
                        let filter = own.filter.wrapping_add(
                            input * tile.filter_block
                                + row * tile.filter_row
                                + tap * tile.depth * count * LANES,
                        );
                        for step in 0..tile.steps(input) {
                            // SAFETY: the pixel's numbers under the tap and their weights, by the caller's word.
                            let (value, weights) = unsafe {
                                (
                                    seen.wrapping_add(step).read_unaligned(),
                                    load(filter.wrapping_add(step * count * LANES)),
                                )
                            };
                            for lane in 0..LANES {
                                sums[lane] += value * weights[lane];
                            }
                        }
                    }
                }
            }
            // SAFETY: the caller's word.
            unsafe { finish(&own, pixel, sums) };
        }
    }
}

/// Goes through the channels that a mask picks.
#[inline(always)]
pub(super) fn gathered(mask: i32) -> impl Iterator<Item = usize> {
    let mut left = mask as u32;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            lane
        })
    })
}

/// # Safety
///
/// As [`dense`]; there is a mask for each block of input.
#[inline(always)]
pub(super) unsafe fn gathered_portable(tile: &Tile, pixels: usize, count: usize) {
    for block in 0..count {
        let own = tile.block(block);
        for pixel in 0..pixels {
            let mut sums = [0f32; LANES];
            let mut filter = own.filter;
            for input in 0..tile.blocks {
                // SAFETY: the caller's word.
                let mask = unsafe { tile.picks.add(input).read() };
                let step = mask.count_ones() as usize * count * LANES;
                for row in 0..tile.rows {
                    let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
                    for tap in 0..tile.taps {
                        let seen = tile.seen(line, tap, pixel, false);
                        let at = ((tile.filter_row + row) * tile.taps + tap) * step;
                        for (index, lane) in gathered(mask).enumerate() {
                            let weights = filter.wrapping_add(at + index * count * LANES);
                            // SAFETY: the pixel's number under the tap and its weights, by the caller's word.
                            let (value, weights) = unsafe {
                                (seen.wrapping_add(lane).read_unaligned(), load(weights))
                            };
                            for lane in 0..LANES {
                                sums[lane] += value * weights[lane];
                            }
                        }
                    }
                }
                filter = filter.wrapping_add(tile.filter_block * tile.taps * step);
            }
            // SAFETY: the caller's word.
            unsafe { finish(&own, pixel, sums) };
        }
    }
}

/// Adds what is to be added to a pixel, and writes it.
///
/// # Safety
///
/// As [`dense`].
pub(super) unsafe fn finish(tile: &Tile, pixel: usize, mut sums: Lanes) {
    let at = pixel * LANES;
    let mut add = |address: *const f32| {
        // SAFETY: bias, residual and output hold sixteen numbers there, by the caller's word.
        let more = unsafe { load(address) };
        for lane in 0..LANES {
            sums[lane] += more[lane];
        }
    };
    if tile.accumulate {
        add(tile.out.wrapping_add(at));
    }
    if !tile.bias.is_null() {
        add(tile.bias);
    }
    if !tile.residual.is_null() {
        add(tile.residual.wrapping_add(at));
    }
    if let Some((low, high)) = tile.clamp {
        for sum in &mut sums {
            *sum = if *sum < low { low } else { *sum };
            *sum = if *sum > high { high } else { *sum };
        }
    }
    if let Some(rounding) = tile.rounding {
        for sum in &mut sums {
            *sum = match rounding {
                Rounding::Float16 => F16::rounded(*sum).widen(),
                Rounding::BFloat16 => BF16::rounded(*sum).widen(),
            };
        }
    }
    // SAFETY: the output holds the pixel, by the caller's word.
    unsafe {
        tile.out
            .wrapping_add(at)
            .cast::<Lanes>()
            .write_unaligned(sums);
    }
}

/// # Safety
///
/// As [`apply_window`].
unsafe fn window_portable(tile: &Tile, pixels: usize, what: WindowOp) {
    let max = what == WindowOp::Max;
    for pixel in 0..pixels {
        let mut sums = [if max { f32::NEG_INFINITY } else { 0.0 }; LANES];
        for row in 0..tile.rows {
            let line = tile.x.wrapping_add(row * tile.row);
            for tap in 0..tile.taps {
                // SAFETY: a pixel of the image or a line of zeros.
                let seen = unsafe { load(tile.seen(line, tap, pixel, max)) };
                if what == WindowOp::Weigh {
                    let filter = tile
                        .filter
                        .wrapping_add(row * tile.filter_row + tap * LANES);
                    // SAFETY: the tap's weights, by the caller's word.
                    let weights = unsafe { load(filter) };
                    for lane in 0..LANES {
                        sums[lane] += seen[lane] * weights[lane];
                    }
                } else {
                    for lane in 0..LANES {
                        let x = seen[lane];
                        sums[lane] = match max {
                            true if x > sums[lane] => x,
                            true => sums[lane],
                            false => sums[lane] + x,
                        };
                    }
                }
            }
        }
        for sum in &mut sums {
            *sum /= tile.divide[pixel];
        }
        // SAFETY: the caller's word.
        unsafe { finish(tile, pixel, sums) };
    }
}
