//! Tiles in AVX2: up to six pixels of one block of output channels, or up to three of a pair, in twelve of the sixteen registers.

use std::arch::x86_64::*;

use super::tile::{Tile, gathered_portable};
use super::{LANES, Rounding, WindowOp};

/// Numbers of a vector.
const VECTOR: usize = 8;
/// Vectors of a block of channels.
const HALVES: usize = LANES / VECTOR;

/// A piece of a tile: where it differs from the whole.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first pixel, and the column that this one sees through the first tap.
    pixel: usize,
    column: isize,
    filter: *const f32,
    out: *mut f32,
    bias: *const f32,
    residual: *const f32,
}

impl Piece {
    #[inline(always)]
    fn of(tile: &Tile, pixel: usize, block: usize) -> Piece {
        let at = pixel * LANES + block * tile.out_plane;
        let ahead = |address: *const f32, by: usize| match address.is_null() {
            true => address,
            false => address.wrapping_add(by),
        };
        Piece {
            pixel,
            column: tile.column + (pixel * tile.stride) as isize,
            filter: tile.filter.wrapping_add(block * LANES),
            out: tile.out.wrapping_add(at),
            bias: ahead(tile.bias, block * LANES),
            residual: ahead(tile.residual, at),
        }
    }

    /// Returns whether all pixels see the image through all taps.
    #[inline(always)]
    fn is_inside<const PIXELS: usize>(&self, tile: &Tile) -> bool {
        let reach = (PIXELS - 1) * tile.stride + (tile.taps.max(1) - 1) * tile.tap;
        self.column >= 0 && self.column as usize + reach < tile.width
    }

    /// Finds what a pixel sees through a tap; beside the image, what [`Tile::seen`] finds there.
    #[inline(always)]
    fn seen(
        &self,
        tile: &Tile,
        line: *const f32,
        tap: usize,
        pixel: usize,
        max: bool,
    ) -> *const f32 {
        tile.seen(line, tap, self.pixel + pixel, max)
    }
}

/// Calls a function of pieces for each piece of a tile: up to six pixels of one block. The last of a pair of blocks, where it is no more
/// than three pixels, is computed for both blocks at once: fewer sums would wait for each other.
macro_rules! by_pieces {
    ($function:ident, $tile:expr, $pixels:expr, $count:expr) => {
        let (tile, all, count): (&Tile, usize, usize) = ($tile, $pixels, $count);
        let mut pixel = 0;
        while pixel < all {
            let rest = all - pixel;
            let width = rest.div_ceil(rest.div_ceil(6));
            if count == 2 && width <= 3 {
                let piece = Piece::of(tile, pixel, 0);
                match width {
                    3 => $function::<3, 2>(tile, piece, count),
                    2 => $function::<2, 2>(tile, piece, count),
                    _ => $function::<1, 2>(tile, piece, count),
                }
            } else {
                for block in 0..count {
                    let piece = Piece::of(tile, pixel, block);
                    match width {
                        6 => $function::<6, 1>(tile, piece, count),
                        5 => $function::<5, 1>(tile, piece, count),
                        4 => $function::<4, 1>(tile, piece, count),
                        3 => $function::<3, 1>(tile, piece, count),
                        2 => $function::<2, 1>(tile, piece, count),
                        _ => $function::<1, 1>(tile, piece, count),
                    }
                }
            }
            pixel += width;
        }
    };
}

/// The sums of a tile.
type Sums<const PIXELS: usize, const BLOCKS: usize> = [[[__m256; HALVES]; BLOCKS]; PIXELS];

/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn dense_avx2(tile: &Tile, pixels: usize, count: usize) {
    // SAFETY: the caller's word.
    unsafe {
        by_pieces!(dense_piece, tile, pixels, count);
    }
}

/// # Safety
///
/// As `tile::dense`, with masks.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn gathered_avx2(tile: &Tile, pixels: usize, count: usize) {
    // SAFETY: the caller's word. The loop is compiled for these instructions.
    unsafe { gathered_portable(tile, pixels, count) }
}

/// Computes PIXELS pixels of BLOCKS blocks. `count`: blocks whose weights lie together.
///
/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn dense_piece<const PIXELS: usize, const BLOCKS: usize>(
    tile: &Tile,
    piece: Piece,
    count: usize,
) {
    // SAFETY: the caller's word; the distance of pixels is that of the tile.
    unsafe {
        match (tile.lane * tile.stride, count) {
            (LANES, 2) if piece.is_inside::<PIXELS>(tile) => {
                dense_tile::<PIXELS, BLOCKS, LANES, 2>(tile, piece, count)
            }
            _ => dense_tile::<PIXELS, BLOCKS, 0, 0>(tile, piece, count),
        }
    }
}

/// Computes PIXELS pixels of BLOCKS blocks. STEP: how far apart they lie, where all see the image; 0 where some may not. COUNT: blocks
/// whose weights lie together; 0 where only the argument says how many.
///
/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn dense_tile<
    const PIXELS: usize,
    const BLOCKS: usize,
    const STEP: usize,
    const COUNT: usize,
>(
    tile: &Tile,
    piece: Piece,
    count: usize,
) {
    let count = if COUNT > 0 { COUNT } else { count };
    let mut sums: Sums<PIXELS, BLOCKS> = [[[_mm256_setzero_ps(); HALVES]; BLOCKS]; PIXELS];
    for input in 0..tile.blocks {
        let steps = tile.steps(input);
        for row in 0..tile.rows {
            let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
            let mut filter = piece
                .filter
                .wrapping_add(input * tile.filter_block + row * tile.filter_row);
            for tap in 0..tile.taps {
                let mut seen = [line; PIXELS];
                if STEP > 0 {
                    let column = piece.column + (tap * tile.tap) as isize;
                    let first = line.wrapping_offset(column * LANES as isize);
                    for (pixel, seen) in seen.iter_mut().enumerate() {
                        *seen = first.wrapping_add(pixel * STEP);
                    }
                } else {
                    for (pixel, seen) in seen.iter_mut().enumerate() {
                        *seen = piece.seen(tile, line, tap, pixel, false);
                    }
                }
                // Whole blocks are what most images have: four steps at a time take fewer instructions.
                // Of a pair, all registers are in use, and numbers that are loaded early would be spilled.
                let unrolled = if BLOCKS == 1 { steps / 4 * 4 } else { 0 };
                let mut step = 0;
                while step < unrolled {
                    for ahead in 0..4 {
                        let weights = filter.wrapping_add(ahead * count * LANES);
                        // SAFETY: what the pixels see under this tap, or a line of zeros, and the weights of this step.
                        unsafe { multiply(&mut sums, seen, step + ahead, weights) };
                    }
                    filter = filter.wrapping_add(4 * count * LANES);
                    step += 4;
                }
                while step < steps {
                    // SAFETY: as above.
                    unsafe { multiply(&mut sums, seen, step, filter) };
                    filter = filter.wrapping_add(count * LANES);
                    step += 1;
                }
                filter = filter.wrapping_add((tile.depth - steps) * count * LANES);
            }
        }
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        for (block, sums) in sums.into_iter().enumerate() {
            // SAFETY: the caller's word.
            unsafe { finish(tile, &piece, block, pixel, sums) };
        }
    }
}

/// Adds the products of one number of each pixel with its weights.
///
/// # Safety
///
/// There are `step + 1` numbers at each element of `seen`, and BLOCKS lines of weights.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn multiply<const PIXELS: usize, const BLOCKS: usize>(
    sums: &mut Sums<PIXELS, BLOCKS>,
    seen: [*const f32; PIXELS],
    step: usize,
    weights: *const f32,
) {
    // Of numbers and weights, those that are fewer stay in registers.
    if BLOCKS == 1 {
        // SAFETY: the caller's word.
        let lines = unsafe {
            [
                _mm256_loadu_ps(weights),
                _mm256_loadu_ps(weights.add(VECTOR)),
            ]
        };
        for (sums, seen) in sums.iter_mut().zip(seen) {
            // SAFETY: the caller's word.
            let value = _mm256_set1_ps(unsafe { seen.add(step).read_unaligned() });
            for (sum, line) in sums[0].iter_mut().zip(lines) {
                *sum = _mm256_fmadd_ps(value, line, *sum);
            }
        }
        return;
    }
    let mut values = [_mm256_setzero_ps(); PIXELS];
    for (value, seen) in values.iter_mut().zip(seen) {
        // SAFETY: the caller's word.
        *value = _mm256_set1_ps(unsafe { seen.add(step).read_unaligned() });
    }
    for block in 0..BLOCKS {
        for half in 0..HALVES {
            // SAFETY: the caller's word.
            let line = unsafe { _mm256_loadu_ps(weights.add(block * LANES + half * VECTOR)) };
            for (sums, value) in sums.iter_mut().zip(values) {
                sums[block][half] = _mm256_fmadd_ps(value, line, sums[block][half]);
            }
        }
    }
}

/// Adds what is to be added to a pixel, and writes it.
///
/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn finish(tile: &Tile, piece: &Piece, block: usize, pixel: usize, sums: [__m256; HALVES]) {
    for (half, mut sum) in sums.into_iter().enumerate() {
        let channel = block * LANES + half * VECTOR;
        let at = block * tile.out_plane + pixel * LANES + half * VECTOR;
        // SAFETY: output, bias and residual hold eight numbers there, by the caller's word.
        unsafe {
            if tile.accumulate {
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(piece.out.add(at)));
            }
            if !piece.bias.is_null() {
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(piece.bias.add(channel)));
            }
            if !piece.residual.is_null() {
                sum = _mm256_add_ps(sum, _mm256_loadu_ps(piece.residual.add(at)));
            }
        }
        if let Some((low, high)) = tile.clamp {
            // The second operand is what comes out when one is not a number.
            sum = _mm256_min_ps(
                _mm256_set1_ps(high),
                _mm256_max_ps(_mm256_set1_ps(low), sum),
            );
        }
        match tile.rounding {
            None => {}
            Some(Rounding::Float16) => {
                sum = _mm256_cvtph_ps(_mm256_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(sum));
            }
            Some(Rounding::BFloat16) => sum = round_to_bfloat16(sum),
        }
        // SAFETY: the output holds the pixel, by the caller's word.
        unsafe { _mm256_storeu_ps(piece.out.add(at), sum) };
    }
}

/// Rounds to the nearest values of bfloat16, ties to even. A NaN becomes a quiet one.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn round_to_bfloat16(x: __m256) -> __m256 {
    let bits = _mm256_castps_si256(x);
    let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
    let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
    let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x);
    let all = _mm256_blendv_ps(
        _mm256_castsi256_ps(rounded),
        _mm256_castsi256_ps(quiet),
        nan,
    );
    let high = _mm256_set1_epi32(0xffff_0000_u32.cast_signed());
    _mm256_and_ps(all, _mm256_castsi256_ps(high))
}

const WEIGH: u8 = 0;
const MAX: u8 = 1;
const SUM: u8 = 2;

/// # Safety
///
/// As `tile::apply_window`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn window_avx2(tile: &Tile, pixels: usize, what: WindowOp) {
    // SAFETY: the caller's word.
    unsafe {
        match what {
            WindowOp::Weigh => {
                by_pieces!(weigh_piece, tile, pixels, 1);
            }
            WindowOp::Max => {
                by_pieces!(max_piece, tile, pixels, 1);
            }
            WindowOp::MeanInside | WindowOp::MeanPadded(_) | WindowOp::SumBy(_) => {
                by_pieces!(sum_piece, tile, pixels, 1);
            }
        }
    }
}

macro_rules! window_piece {
    ($name:ident, $kind:ident) => {
        /// # Safety
        ///
        /// As `tile::apply_window`.
        #[target_feature(enable = "avx2,fma,f16c")]
        unsafe fn $name<const PIXELS: usize, const BLOCKS: usize>(
            tile: &Tile,
            piece: Piece,
            _: usize,
        ) {
            // SAFETY: the caller's word; the distance of pixels is that of the tile.
            unsafe {
                match tile.stride {
                    1 if piece.is_inside::<PIXELS>(tile) => {
                        window_tile::<PIXELS, 1, $kind>(tile, piece)
                    }
                    2 if piece.is_inside::<PIXELS>(tile) => {
                        window_tile::<PIXELS, 2, $kind>(tile, piece)
                    }
                    _ => window_tile::<PIXELS, 0, $kind>(tile, piece),
                }
            }
        }
    };
}

window_piece!(weigh_piece, WEIGH);
window_piece!(max_piece, MAX);
window_piece!(sum_piece, SUM);

/// Sweeps PIXELS pixels of one block. STRIDE: their distance where all see the image; 0 where some may not.
///
/// # Safety
///
/// As `tile::apply_window`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn window_tile<const PIXELS: usize, const STRIDE: usize, const KIND: u8>(
    tile: &Tile,
    piece: Piece,
) {
    let start = if KIND == MAX { f32::NEG_INFINITY } else { 0.0 };
    let mut sums = [[_mm256_set1_ps(start); HALVES]; PIXELS];
    for row in 0..tile.rows {
        let line = tile.x.wrapping_add(row * tile.row);
        for tap in 0..tile.taps {
            let mut weights = [_mm256_setzero_ps(); HALVES];
            if KIND == WEIGH {
                let filter = tile
                    .filter
                    .wrapping_add(row * tile.filter_row + tap * LANES);
                for (half, weights) in weights.iter_mut().enumerate() {
                    // SAFETY: the tap's weights, by the caller's word.
                    *weights = unsafe { _mm256_loadu_ps(filter.add(half * VECTOR)) };
                }
            }
            let column = piece.column + (tap * tile.tap) as isize;
            let first = line.wrapping_offset(column * LANES as isize);
            for (pixel, sums) in sums.iter_mut().enumerate() {
                let seen = match STRIDE {
                    0 => piece.seen(tile, line, tap, pixel, KIND == MAX),
                    _ => first.wrapping_add(pixel * STRIDE * LANES),
                };
                for (half, (sum, weights)) in sums.iter_mut().zip(weights).enumerate() {
                    // SAFETY: a pixel of the image, or a line of zeros (or of what is below everything).
                    let seen = unsafe { _mm256_loadu_ps(seen.wrapping_add(half * VECTOR)) };
                    *sum = match KIND {
                        WEIGH => _mm256_fmadd_ps(seen, weights, *sum),
                        // What is not a number never counts as larger.
                        MAX => _mm256_max_ps(seen, *sum),
                        _ => _mm256_add_ps(seen, *sum),
                    };
                }
            }
        }
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        let mut sums = sums;
        if KIND == SUM {
            let divide = _mm256_set1_ps(tile.divide[piece.pixel + pixel]);
            for sum in &mut sums {
                *sum = _mm256_div_ps(*sum, divide);
            }
        }
        // SAFETY: the caller's word.
        unsafe { finish(tile, &piece, 0, pixel, sums) };
    }
}
