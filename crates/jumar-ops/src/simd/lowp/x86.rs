//! Tiles by AVX-512's instructions for dot products: BF16 and VNNI.

use std::arch::x86_64::*;

use super::tile::{Floats, Int32Sums, Pairs, Quads, Reach, Tile};
use super::{BLOCK, LANES};

/// Pixels may look beside the image.
const CHECKED: usize = 0;
/// Pixels lie as far apart as the tile says.
const REGULAR: usize = usize::MAX;

macro_rules! native {
    ($run:ident, $tile:ident, $features:literal, $dots:ty, $zero:ident, $dot:ident, $finish:ident, $near:expr) => {
        /// # Safety
        ///
        /// As `tile::run`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $run(tile: &Tile<$dots>, pixels: usize, count: usize, reach: Reach) {
            // SAFETY: the caller's word; the sizes are those that are passed on.
            unsafe {
                match (reach, pixels, count) {
                    (Reach::Near, _, 2) => $tile::<14, 2, { $near }>(tile),
                    (Reach::Near, ..) => $tile::<14, 1, { $near }>(tile),
                    (Reach::Regular, 8, 2) => $tile::<8, 2, REGULAR>(tile),
                    (Reach::Regular, 7, 2) => $tile::<7, 2, REGULAR>(tile),
                    (Reach::Regular, 6, 2) => $tile::<6, 2, REGULAR>(tile),
                    (Reach::Regular, 5, 2) => $tile::<5, 2, REGULAR>(tile),
                    (Reach::Regular, 4, 2) => $tile::<4, 2, REGULAR>(tile),
                    (Reach::Regular, 3, 2) => $tile::<3, 2, REGULAR>(tile),
                    (Reach::Regular, 2, 2) => $tile::<2, 2, REGULAR>(tile),
                    (Reach::Regular, _, 2) => $tile::<1, 2, REGULAR>(tile),
                    (_, 8, _) => $tile::<8, 1, REGULAR>(tile),
                    (_, 7, 2) => $tile::<7, 2, CHECKED>(tile),
                    (_, 6, 2) => $tile::<6, 2, CHECKED>(tile),
                    (_, 5, 2) => $tile::<5, 2, CHECKED>(tile),
                    (_, 4, 2) => $tile::<4, 2, CHECKED>(tile),
                    (_, 3, 2) => $tile::<3, 2, CHECKED>(tile),
                    (_, 2, 2) => $tile::<2, 2, CHECKED>(tile),
                    (_, _, 2) => $tile::<1, 2, CHECKED>(tile),
                    (_, 7, _) => $tile::<7, 1, CHECKED>(tile),
                    (_, 6, _) => $tile::<6, 1, CHECKED>(tile),
                    (_, 5, _) => $tile::<5, 1, CHECKED>(tile),
                    (_, 4, _) => $tile::<4, 1, CHECKED>(tile),
                    (_, 3, _) => $tile::<3, 1, CHECKED>(tile),
                    (_, 2, _) => $tile::<2, 1, CHECKED>(tile),
                    _ => $tile::<1, 1, CHECKED>(tile),
                }
            }
        }

        /// Computes PIXELS pixels of BLOCKS blocks. STEP: groups from one pixel to the next, or how to find them.
        ///
        /// # Safety
        ///
        /// As `tile::run`.
        #[target_feature(enable = $features)]
        unsafe fn $tile<const PIXELS: usize, const BLOCKS: usize, const STEP: usize>(
            tile: &Tile<$dots>,
        ) {
            let mut sums = [[$zero(); BLOCKS]; PIXELS];
            for input in 0..tile.blocks {
                for row in 0..tile.rows {
                    let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
                    let mut filter = tile
                        .filter
                        .wrapping_add(input * tile.filter_block + row * tile.filter_row);
                    for tap in 0..tile.taps {
                        let mut seen = [line; PIXELS];
                        if STEP == CHECKED {
                            for (pixel, seen) in seen.iter_mut().enumerate() {
                                *seen = tile.seen(line, tap, pixel);
                            }
                        } else {
                            let column = tile.column + (tap * tile.tap) as isize;
                            let (lane, step) = match STEP {
                                REGULAR => (tile.lane, tile.stride * tile.lane),
                                _ => (STEP, STEP),
                            };
                            let first = line.wrapping_offset(column * lane as isize);
                            for (pixel, seen) in seen.iter_mut().enumerate() {
                                *seen = first.wrapping_add(pixel * step);
                            }
                        }
                        let depth = if STEP == BLOCK { BLOCK } else { tile.depth };
                        for step in 0..depth {
                            let mut weights = [_mm512_setzero_si512(); BLOCKS];
                            for (block, weights) in weights.iter_mut().enumerate() {
                                let at = filter.wrapping_add((step * BLOCKS + block) * LANES);
                                // SAFETY: the weights of this step, by the caller's word.
                                *weights = unsafe { _mm512_loadu_si512(at.cast()) };
                            }
                            for (sums, seen) in sums.iter_mut().zip(seen) {
                                let seen = seen.wrapping_add(step);
                                // SAFETY: a pixel of the image under this tap, or what lies beside it.
                                let value = unsafe { seen.read_unaligned() };
                                let value = _mm512_set1_epi32(value as i32);
                                for (sum, weights) in sums.iter_mut().zip(weights) {
                                    *sum = $dot(*sum, value, weights);
                                }
                            }
                        }
                        filter = filter.wrapping_add(depth * BLOCKS * LANES);
                    }
                }
            }
            for (pixel, sums) in sums.into_iter().enumerate() {
                for (block, sum) in sums.into_iter().enumerate() {
                    // SAFETY: the caller's word.
                    unsafe { $finish(&tile.out, pixel, block, sum) };
                }
            }
        }
    };
}

native!(
    pairs,
    pairs_tile,
    "avx512f,avx512bw,avx512vl,avx512bf16",
    Pairs,
    _mm512_setzero_ps,
    dot_pairs,
    finish_pairs,
    BLOCK
);
native!(
    quads,
    quads_tile,
    "avx512f,avx512bw,avx512vl,avx512vnni",
    Quads,
    _mm512_setzero_si512,
    dot_quads,
    finish_quads,
    REGULAR
);

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
#[inline]
fn as_pairs(groups: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes without meaning of their own.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(groups) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
#[inline]
fn dot_pairs(sum: __m512, value: __m512i, weights: __m512i) -> __m512 {
    _mm512_dpbf16_ps(sum, as_pairs(value), as_pairs(weights))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn dot_quads(sum: __m512i, value: __m512i, weights: __m512i) -> __m512i {
    _mm512_dpbusd_epi32(sum, value, weights)
}

/// # Safety
///
/// As `tile::run`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
#[inline]
unsafe fn finish_pairs(out: &Floats, pixel: usize, block: usize, sum: __m512) {
    let at = pixel * out.pixel + block * out.plane;
    let mask = ((1u32 << out.lanes(block)) - 1) as __mmask16;
    let mut value = sum;
    // SAFETY: masked lanes are not touched; bias and residual cover the others, by the caller's word.
    unsafe {
        if !out.bias.is_null() {
            let bias = out.bias.wrapping_add(block * LANES);
            value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, bias));
        }
        if !out.residual.is_null() {
            let residual = out.residual.wrapping_add(at);
            value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, residual));
        }
    }
    if let Some((low, high)) = out.clamp {
        // The second operand is what comes out when one is not a number.
        value = _mm512_min_ps(
            _mm512_set1_ps(high),
            _mm512_max_ps(_mm512_set1_ps(low), value),
        );
    }
    let to = out.to.wrapping_add(at * out.size());
    if out.bf16 {
        // SAFETY: both are 32 bytes without meaning of their own.
        let half = unsafe { std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(value)) };
        // SAFETY: masked lanes are not touched; the output covers the others, by the caller's word.
        unsafe { _mm256_mask_storeu_epi16(to.cast(), mask, half) };
    } else {
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_ps(to.cast(), mask, value) };
    }
}

/// # Safety
///
/// As `tile::run`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
unsafe fn finish_quads(out: &Int32Sums, pixel: usize, block: usize, sum: __m512i) {
    let mask = ((1u32 << out.lanes(block)) - 1) as __mmask16;
    let to = out.to.wrapping_add(pixel * out.pixel + block * LANES);
    // SAFETY: masked lanes are not touched; the output covers the others, by the caller's word.
    unsafe { _mm512_mask_storeu_epi32(to, mask, sum) };
}

/// # Safety
///
/// As `tile::run`; `sums` points to those of each pixel.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub(super) unsafe fn store_pairs(
    out: &Floats,
    pixels: usize,
    block: usize,
    sums: *const [f32; LANES],
) {
    for pixel in 0..pixels {
        // SAFETY: the caller's word.
        unsafe {
            let sum = _mm512_loadu_ps(sums.add(pixel).cast());
            finish_pairs(out, pixel, block, sum);
        }
    }
}

/// # Safety
///
/// As `tile::run`; `sums` points to those of each pixel.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) unsafe fn store_quads(
    out: &Int32Sums,
    pixels: usize,
    block: usize,
    sums: *const [i32; LANES],
) {
    for pixel in 0..pixels {
        // SAFETY: the caller's word.
        unsafe {
            let sum = _mm512_loadu_si512(sums.add(pixel).cast());
            finish_quads(out, pixel, block, sum);
        }
    }
}

/// Rounds numbers to bfloat16, sixteen at a time.
///
/// # Safety
///
/// `len` numbers lie at `from` and at `to`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
pub(super) unsafe fn round(from: *const f32, to: *mut u16, len: usize) {
    for at in (0..len).step_by(LANES) {
        let mask = ((1u32 << (len - at).min(LANES)) - 1) as __mmask16;
        // SAFETY: masked lanes are not touched; the others lie in the row, by the caller's word.
        let value = unsafe { _mm512_maskz_loadu_ps(mask, from.wrapping_add(at)) };
        // SAFETY: both are 32 bytes without meaning of their own.
        let half = unsafe { std::mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(value)) };
        // SAFETY: as above.
        unsafe { _mm256_mask_storeu_epi16(to.wrapping_add(at).cast(), mask, half) };
    }
}
