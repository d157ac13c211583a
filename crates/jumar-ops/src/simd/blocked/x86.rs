//! Tiles in AVX-512.

use std::arch::x86_64::*;

use super::tile::Tile;
use super::{LANES, Rounding, WindowOp};

/// Calls a tile function for as many pixels and blocks as there are.
macro_rules! by_size {
    ($function:ident, $pixels:expr, $count:expr, ($($argument:expr),*), $($more:tt),*) => {
        match ($pixels, $count) {
            (7, 2) => $function::<7, 2, $($more),*>($($argument),*),
            (6, 2) => $function::<6, 2, $($more),*>($($argument),*),
            (5, 2) => $function::<5, 2, $($more),*>($($argument),*),
            (4, 2) => $function::<4, 2, $($more),*>($($argument),*),
            (3, 2) => $function::<3, 2, $($more),*>($($argument),*),
            (2, 2) => $function::<2, 2, $($more),*>($($argument),*),
            (_, 2) => $function::<1, 2, $($more),*>($($argument),*),
            (7, _) => $function::<7, 1, $($more),*>($($argument),*),
            (6, _) => $function::<6, 1, $($more),*>($($argument),*),
            (5, _) => $function::<5, 1, $($more),*>($($argument),*),
            (4, _) => $function::<4, 1, $($more),*>($($argument),*),
            (3, _) => $function::<3, 1, $($more),*>($($argument),*),
            (2, _) => $function::<2, 1, $($more),*>($($argument),*),
            (_, _) => $function::<1, 1, $($more),*>($($argument),*),
        }
    };
}

/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn dense_avx512(tile: &Tile, pixels: usize, count: usize, wide: bool) {
    // SAFETY: the caller's word; the sizes are those that are passed on.
    unsafe {
        match (wide, count, tile.stride) {
            (true, 2, 1) => dense_tile::<14, 2, 1>(tile),
            (true, _, 1) => dense_tile::<14, 1, 1>(tile),
            (true, 2, _) => dense_tile::<14, 2, 2>(tile),
            (true, ..) => dense_tile::<14, 1, 2>(tile),
            (false, ..) => by_size!(dense_tile, pixels, count, (tile), 0),
        }
    }
}

/// # Safety
///
/// As `tile::planar`.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn planar_avx512(tile: &Tile, pixels: usize, count: usize) {
    // SAFETY: the caller's word.
    unsafe {
        match (pixels, count, tile.stride) {
            (14, 2, 1) => planar_tile::<14, 2, 1>(tile),
            (14, 2, 2) => planar_tile::<14, 2, 2>(tile),
            (14, 2, _) => planar_tile::<14, 2, 0>(tile),
            (14, ..) => planar_tile::<14, 1, 0>(tile),
            (.., 1) => by_size!(planar_tile, pixels, count, (tile), 1),
            (.., 2) => by_size!(planar_tile, pixels, count, (tile), 2),
            _ => by_size!(planar_tile, pixels, count, (tile), 0),
        }
    }
}

/// Computes PIXELS pixels of BLOCKS blocks from lines that hold all that the pixels see. STRIDE: columns from one pixel to the
/// next; 0 where only the tile says how many.
///
/// # Safety
///
/// As `tile::planar`.
#[target_feature(enable = "avx512f")]
unsafe fn planar_tile<const PIXELS: usize, const BLOCKS: usize, const STRIDE: usize>(tile: &Tile) {
    let stride = if STRIDE > 0 { STRIDE } else { tile.stride };
    let mut sums = [[_mm512_setzero_ps(); BLOCKS]; PIXELS];
    let first = tile.x.wrapping_offset(tile.column);
    let mut filter = tile.filter;
    for channel in 0..tile.blocks {
        for row in 0..tile.rows {
            let line = first.wrapping_add(channel * tile.plane + row * tile.row);
            for step in 0..tile.depth {
                let seen = line.wrapping_add(step);
                let mut weights = [_mm512_setzero_ps(); BLOCKS];
                for (block, weights) in weights.iter_mut().enumerate() {
                    // SAFETY: the weights of this step, by the caller's word.
                    *weights = unsafe { _mm512_loadu_ps(filter.add(block * LANES)) };
                }
                filter = filter.wrapping_add(BLOCKS * LANES);
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: the lines hold what each pixel sees, by the caller's word.
                    let value =
                        _mm512_set1_ps(unsafe { seen.add(pixel * stride).read_unaligned() });
                    for (sum, weights) in sums.iter_mut().zip(weights) {
                        *sum = _mm512_fmadd_ps(value, weights, *sum);
                    }
                }
            }
        }
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        for (block, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller's word.
            unsafe { finish_avx512(tile, block, pixel, sum) };
        }
    }
}

/// # Safety
///
/// As `tile::dense`, with masks.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn gathered_avx512(tile: &Tile, pixels: usize, count: usize, wide: bool) {
    // SAFETY: the caller's word; the sizes are those that are passed on.
    unsafe {
        match (wide && tile.stride == 1, count, pixels) {
            (true, 2, _) => gathered_tile::<14, 2, true>(tile),
            (true, ..) => gathered_tile::<14, 1, true>(tile),
            (false, 2, 14) => gathered_tile::<14, 2, false>(tile),
            (false, _, 14) => gathered_tile::<14, 1, false>(tile),
            (false, ..) => by_size!(gathered_tile, pixels, count, (tile), false),
        }
    }
}

/// Computes PIXELS pixels of BLOCKS blocks from the channels that are picked. INSIDE: all pixels see the image, at a stride of 1.
///
/// # Safety
///
/// As `tile::dense`, with masks.
#[target_feature(enable = "avx512f")]
unsafe fn gathered_tile<const PIXELS: usize, const BLOCKS: usize, const INSIDE: bool>(tile: &Tile) {
    let mut sums = [[_mm512_setzero_ps(); BLOCKS]; PIXELS];
    // SAFETY: the caller's word.
    unsafe { call_for::<PIXELS, BLOCKS>(tile) };
    let mut filter = tile.filter;
    for input in 0..tile.blocks {
        // SAFETY: there is a mask for each block, by the caller's word.
        let mask = unsafe { tile.picks.add(input).read() };
        if mask == 0 {
            continue;
        }
        let step = mask.count_ones() as usize * BLOCKS * LANES;
        for row in 0..tile.rows {
            let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
            for tap in 0..tile.taps {
                let mut weights_at =
                    filter.wrapping_add(((tile.filter_row + row) * tile.taps + tap) * step);
                let first = line.wrapping_offset((tile.column + (tap * tile.tap) as isize) * 16);
                let mut seen = [line; PIXELS];
                if !INSIDE {
                    for (pixel, seen) in seen.iter_mut().enumerate() {
                        *seen = tile.seen(line, tap, pixel, false);
                    }
                }
                let mut left = mask as u32;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let mut weights = [_mm512_setzero_ps(); BLOCKS];
                    for (block, weights) in weights.iter_mut().enumerate() {
                        // SAFETY: the weights of this channel, by the caller's word.
                        *weights = unsafe { _mm512_loadu_ps(weights_at.add(block * LANES)) };
                    }
                    weights_at = weights_at.wrapping_add(BLOCKS * LANES);
                    let own = first.wrapping_add(lane);
                    for (pixel, sums) in sums.iter_mut().enumerate() {
                        let at = if INSIDE {
                            own.wrapping_add(pixel * LANES)
                        } else {
                            seen[pixel].wrapping_add(lane)
                        };
                        // SAFETY: a pixel of the image under this tap, or a line of zeros.
                        let value = _mm512_set1_ps(unsafe { at.read_unaligned() });
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = _mm512_fmadd_ps(value, weights, *sum);
                        }
                    }
                }
            }
        }
        filter = filter.wrapping_add(tile.filter_block * tile.taps * step);
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        for (block, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller's word.
            unsafe { finish_avx512(tile, block, pixel, sum) };
        }
    }
}

/// Asks for what a tile adds and writes at its end, so that it is there by then.
///
/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn call_for<const PIXELS: usize, const BLOCKS: usize>(tile: &Tile) {
    for block in 0..BLOCKS {
        for pixel in 0..PIXELS {
            let at = block * tile.out_plane + pixel * LANES;
            _mm_prefetch::<_MM_HINT_ET0>(tile.out.wrapping_add(at).cast_const().cast());
            if !tile.residual.is_null() {
                _mm_prefetch::<_MM_HINT_T0>(tile.residual.wrapping_add(at).cast());
            }
        }
    }
}

/// Adds `steps` products to the sums of each pixel, except for LEFT pixels at the left end and RIGHT pixels at the right end, which see
/// padding. STRIDE: the pixels' distance, where numbers that lie `ahead` of theirs are fetched into the cache; 0 otherwise.
///
/// # Safety
///
/// Each element of `seen` points to sixteen numbers, `filter` to sixteen times BLOCKS lines.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn dense_tap<
    const PIXELS: usize,
    const BLOCKS: usize,
    const STRIDE: usize,
    const LEFT: usize,
    const RIGHT: usize,
>(
    sums: &mut [[__m512; BLOCKS]; PIXELS],
    seen: [*const f32; PIXELS],
    filter: *const f32,
    steps: usize,
    ahead: usize,
) {
    for step in 0..steps {
        if STRIDE > 0 && step < PIXELS {
            let pixel = seen[0].wrapping_add(step * STRIDE * LANES);
            _mm_prefetch::<_MM_HINT_T0>(pixel.wrapping_add(ahead).cast());
        }
        let mut weights = [_mm512_setzero_ps(); BLOCKS];
        for (block, weights) in weights.iter_mut().enumerate() {
            // SAFETY: the weights of this step, by the caller's word.
            *weights = unsafe { _mm512_loadu_ps(filter.add((step * BLOCKS + block) * LANES)) };
        }
        for pixel in LEFT..PIXELS.saturating_sub(RIGHT) {
            // SAFETY: the caller's word.
            let value = _mm512_set1_ps(unsafe { seen[pixel].add(step).read_unaligned() });
            for (sum, weights) in sums[pixel].iter_mut().zip(weights) {
                *sum = _mm512_fmadd_ps(value, weights, *sum);
            }
        }
    }
}

/// Computes PIXELS pixels of BLOCKS blocks. STRIDE: their distance where all see the image; 0 where some may not.
///
/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx512f")]
unsafe fn dense_tile<const PIXELS: usize, const BLOCKS: usize, const STRIDE: usize>(tile: &Tile) {
    let mut sums = [[_mm512_setzero_ps(); BLOCKS]; PIXELS];
    // SAFETY: the caller's word.
    unsafe { call_for::<PIXELS, BLOCKS>(tile) };
    for input in 0..tile.blocks {
        // The pixels of the next block are asked for while this one is computed.
        let ahead = if input + 1 < tile.blocks {
            tile.plane
        } else {
            PIXELS * STRIDE * LANES
        };
        let steps = tile.steps(input);
        for row in 0..tile.rows {
            let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
            let mut filter = tile
                .filter
                .wrapping_add(input * tile.filter_block + row * tile.filter_row);
            for tap in 0..tile.taps {
                let mut seen = [line; PIXELS];
                if STRIDE > 0 {
                    let first =
                        line.wrapping_offset((tile.column + (tap * tile.tap) as isize) * 16);
                    for (pixel, seen) in seen.iter_mut().enumerate() {
                        *seen = first.wrapping_add(pixel * STRIDE * LANES);
                    }
                    // SAFETY: all pixels see the image; the weights of this tap, by the caller's word.
                    unsafe {
                        dense_tap::<PIXELS, BLOCKS, STRIDE, 0, 0>(
                            &mut sums, seen, filter, steps, ahead,
                        );
                    }
                } else {
                    for (pixel, seen) in seen.iter_mut().enumerate() {
                        *seen = tile.seen(line, tap, pixel, false);
                    }
                    // A pixel beside the image adds nothing. Usually it is the first under the first tap, or the last under the last.
                    // SAFETY: what the pixels see, or a line of zeros; the weights of this tap, by the caller's word.
                    unsafe {
                        let sums = &mut sums;
                        match tile.outside::<PIXELS>(tap) {
                            (left, right) if left + right >= PIXELS => {}
                            (1, 0) => {
                                dense_tap::<PIXELS, BLOCKS, 0, 1, 0>(sums, seen, filter, steps, 0)
                            }
                            (0, 1) => {
                                dense_tap::<PIXELS, BLOCKS, 0, 0, 1>(sums, seen, filter, steps, 0)
                            }
                            _ => dense_tap::<PIXELS, BLOCKS, 0, 0, 0>(sums, seen, filter, steps, 0),
                        }
                    }
                }
                filter = filter.wrapping_add(LANES * BLOCKS * LANES);
            }
        }
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        for (block, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller's word.
            unsafe { finish_avx512(tile, block, pixel, sum) };
        }
    }
}

/// # Safety
///
/// As `tile::dense`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn finish_avx512(tile: &Tile, block: usize, pixel: usize, sum: __m512) {
    let at = block * tile.out_plane + pixel * LANES;
    let mut sum = sum;
    // SAFETY: output, bias and residual hold sixteen numbers there, by the caller's word.
    unsafe {
        if tile.accumulate {
            sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile.out.add(at)));
        }
        if !tile.bias.is_null() {
            sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile.bias.add(block * LANES)));
        }
        if !tile.residual.is_null() {
            sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile.residual.add(at)));
        }
    }
    if let Some((low, high)) = tile.clamp {
        // The second operand is what comes out when one is not a number.
        sum = _mm512_min_ps(
            _mm512_set1_ps(high),
            _mm512_max_ps(_mm512_set1_ps(low), sum),
        );
    }
    match tile.rounding {
        None => {}
        Some(Rounding::Float16) => {
            sum = _mm512_cvtph_ps(_mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(sum));
        }
        Some(Rounding::BFloat16) => sum = round_to_bfloat16(sum),
    }
    // SAFETY: the output holds the pixel, by the caller's word.
    unsafe { _mm512_storeu_ps(tile.out.add(at), sum) };
}

/// Rounds to the nearest values of bfloat16, ties to even. A NaN becomes a quiet one.
#[target_feature(enable = "avx512f")]
#[inline]
fn round_to_bfloat16(x: __m512) -> __m512 {
    let bits = _mm512_castps_si512(x);
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
    let all = _mm512_mask_blend_epi32(nan, rounded, quiet);
    let high = _mm512_set1_epi32(0xffff_0000_u32.cast_signed());
    _mm512_castsi512_ps(_mm512_and_si512(all, high))
}

/// Writes the columns of a square of up to sixteen by sixteen numbers as rows. Each side is given by its address, the distance of
/// its rows, how many there are, and their length; what the source lacks becomes 0.
///
/// # Safety
///
/// The source is readable and the target writable as far as their sides say, sixteen rows of sixteen at most.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn turn_avx512(
    (from, from_step, rows, len): (*const f32, usize, usize, usize),
    (to, to_step, to_rows, to_len): (*mut f32, usize, usize, usize),
) {
    let mask = |len: usize| ((1u32 << len) - 1) as u16;
    let (load, store) = (mask(len), mask(to_len));
    let mut a = [_mm512_setzero_ps(); LANES];
    for (row, line) in a.iter_mut().enumerate().take(rows) {
        // SAFETY: the caller's word; what is masked out is not touched.
        *line = unsafe { _mm512_maskz_loadu_ps(load, from.add(row * from_step)) };
    }
    let mut b = a;
    for pair in 0..8 {
        b[2 * pair] = _mm512_unpacklo_ps(a[2 * pair], a[2 * pair + 1]);
        b[2 * pair + 1] = _mm512_unpackhi_ps(a[2 * pair], a[2 * pair + 1]);
    }
    let low = |one, two| {
        _mm512_castpd_ps(_mm512_unpacklo_pd(
            _mm512_castps_pd(one),
            _mm512_castps_pd(two),
        ))
    };
    let high = |one, two| {
        _mm512_castpd_ps(_mm512_unpackhi_pd(
            _mm512_castps_pd(one),
            _mm512_castps_pd(two),
        ))
    };
    for four in 0..4 {
        let at = 4 * four;
        a[at] = low(b[at], b[at + 2]);
        a[at + 1] = high(b[at], b[at + 2]);
        a[at + 2] = low(b[at + 1], b[at + 3]);
        a[at + 3] = high(b[at + 1], b[at + 3]);
    }
    // A quarter k of a[4 i + j] holds column 4 k + j of four rows now: even quarters, then odd ones.
    for j in 0..4 {
        let even = [
            _mm512_shuffle_f32x4::<0x88>(a[j], a[4 + j]),
            _mm512_shuffle_f32x4::<0x88>(a[8 + j], a[12 + j]),
        ];
        let odd = [
            _mm512_shuffle_f32x4::<0xdd>(a[j], a[4 + j]),
            _mm512_shuffle_f32x4::<0xdd>(a[8 + j], a[12 + j]),
        ];
        b[j] = _mm512_shuffle_f32x4::<0x88>(even[0], even[1]);
        b[8 + j] = _mm512_shuffle_f32x4::<0xdd>(even[0], even[1]);
        b[4 + j] = _mm512_shuffle_f32x4::<0x88>(odd[0], odd[1]);
        b[12 + j] = _mm512_shuffle_f32x4::<0xdd>(odd[0], odd[1]);
    }
    for (row, line) in b.into_iter().enumerate().take(to_rows) {
        // SAFETY: the caller's word; what is masked out is not touched.
        unsafe { _mm512_mask_storeu_ps(to.add(row * to_step), store, line) };
    }
}

const WEIGH: u8 = 0;
const MAX: u8 = 1;
const SUM: u8 = 2;

/// # Safety
///
/// As `tile::apply_window`.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn window_avx512(tile: &Tile, pixels: usize, what: WindowOp, wide: bool) {
    // SAFETY: the caller's word.
    unsafe {
        match what {
            WindowOp::Weigh => window_of::<WEIGH>(tile, pixels, wide),
            WindowOp::Max => window_of::<MAX>(tile, pixels, wide),
            WindowOp::MeanInside | WindowOp::MeanPadded(_) | WindowOp::SumBy(_) => {
                window_of::<SUM>(tile, pixels, wide);
            }
        }
    }
}

/// # Safety
///
/// As `tile::apply_window`.
#[target_feature(enable = "avx512f")]
unsafe fn window_of<const KIND: u8>(tile: &Tile, pixels: usize, wide: bool) {
    // SAFETY: the caller's word.
    unsafe {
        match (wide, tile.stride, pixels) {
            (true, 1, _) => window_tile::<14, 1, KIND>(tile),
            (true, ..) => window_tile::<14, 2, KIND>(tile),
            (false, _, 7) => window_tile::<7, 0, KIND>(tile),
            (false, _, 6) => window_tile::<6, 0, KIND>(tile),
            (false, _, 5) => window_tile::<5, 0, KIND>(tile),
            (false, _, 4) => window_tile::<4, 0, KIND>(tile),
            (false, _, 3) => window_tile::<3, 0, KIND>(tile),
            (false, _, 2) => window_tile::<2, 0, KIND>(tile),
            (false, ..) => window_tile::<1, 0, KIND>(tile),
        }
    }
}

/// Sweeps PIXELS pixels. STRIDE: their distance where all are inside the image; 0 where some may not be.
///
/// # Safety
///
/// As `tile::apply_window`.
#[target_feature(enable = "avx512f")]
unsafe fn window_tile<const PIXELS: usize, const STRIDE: usize, const KIND: u8>(tile: &Tile) {
    let start = if KIND == MAX { f32::NEG_INFINITY } else { 0.0 };
    let mut sums = [_mm512_set1_ps(start); PIXELS];
    for row in 0..tile.rows {
        let line = tile.x.wrapping_add(row * tile.row);
        for tap in 0..tile.taps {
            let weights = if KIND == WEIGH {
                let filter = tile
                    .filter
                    .wrapping_add(row * tile.filter_row + tap * LANES);
                // SAFETY: the tap's weights, by the caller's word.
                unsafe { _mm512_loadu_ps(filter) }
            } else {
                _mm512_setzero_ps()
            };
            let first = line.wrapping_offset((tile.column + (tap * tile.tap) as isize) * 16);
            for (pixel, sum) in sums.iter_mut().enumerate() {
                let seen = if STRIDE > 0 {
                    let own = first.wrapping_add(pixel * STRIDE * LANES);
                    if tap < STRIDE {
                        // What the next tile sees, where this one leaves the row.
                        let next = own.wrapping_add(PIXELS * STRIDE * LANES);
                        _mm_prefetch::<_MM_HINT_T0>(next.cast());
                    }
                    own
                } else {
                    tile.seen(line, tap, pixel, KIND == MAX)
                };
                // SAFETY: a pixel of the image, or a line of zeros (or of what is below everything).
                let seen = unsafe { _mm512_loadu_ps(seen) };
                *sum = match KIND {
                    WEIGH => _mm512_fmadd_ps(seen, weights, *sum),
                    // What is not a number never counts as larger.
                    MAX => _mm512_max_ps(seen, *sum),
                    _ => _mm512_add_ps(seen, *sum),
                };
            }
        }
    }
    for (pixel, sum) in sums.into_iter().enumerate() {
        let sum = match KIND {
            SUM => _mm512_div_ps(sum, _mm512_set1_ps(tile.divide[pixel])),
            _ => sum,
        };
        // SAFETY: the caller's word.
        unsafe { finish_avx512(tile, 0, pixel, sum) };
    }
}
