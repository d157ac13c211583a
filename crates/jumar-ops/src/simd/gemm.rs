//! The float32 matrix product `C = start + A * B` with an epilogue, on a packed B.
//!
//! A stays where it is, row by row: its elements are read one at a time and spread over a vector, so packing it would
//! only cost a pass over the weights. B comes in panels of [`PANEL`] columns, row after row, which is what the
//! packers in `patches` write.

use super::{Level, extent, size};
use crate::view::{Row, RowMut};

/// Columns of B that lie together in a panel.
pub const PANEL: usize = 32;

/// What the product is added to.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// Nothing.
    Zero,
    /// What C holds.
    Accumulate,
    /// One value a row.
    RowBias(Row<'a, f32>),
    /// One value a column.
    ColumnBias(Row<'a, f32>),
}

/// What happens to C around the product.
#[derive(Clone, Copy)]
pub struct Epilogue<'a> {
    /// What the product is added to.
    pub start: Start<'a>,
    /// A matrix added at the end, laid out like C.
    pub residual: Option<Row<'a, f32>>,
    /// Bounds of the result. Not-a-number stays.
    pub clamp: Option<(f32, f32)>,
}

/// Sizes of a product: C is `m` x `n`, A is `m` x `k`.
#[derive(Clone, Copy)]
struct Sizes {
    m: usize,
    n: usize,
    k: usize,
    lda: usize,
    ldc: usize,
    /// From one panel of B to the next.
    panel: usize,
}

/// The operands as addresses, after their bounds were proven by [`gemm`].
#[derive(Clone, Copy)]
struct Raw {
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    accumulate: bool,
    row_bias: *const f32,
    column_bias: *const f32,
    residual: *const f32,
    clamp: Option<(f32, f32)>,
}

/// Computes `C = start + A * B`, then adds the residual and clamps.
///
/// # Shapes
///
/// `a`: `m` rows of `k`, `lda` apart. `b`: `n / 32` panels (rounded up) of `k` rows of 32. `c` and the residual: `m`
/// rows of `n`, `ldc` apart. Panics where a row is too short.
pub fn gemm(
    (m, n, k): (usize, usize, usize),
    (a, lda): (Row<'_, f32>, usize),
    b: Row<'_, f32>,
    (c, ldc): (RowMut<'_, f32>, usize),
    epilogue: &Epilogue<'_>,
) {
    gemm_strided(
        (m, n, k),
        (a, lda),
        (b, size([k, PANEL])),
        (c, ldc),
        epilogue,
    );
}

/// Does as [`gemm`], with panels of B that lie `panel` elements apart: so that some of the rows of a larger B are
/// taken where they lie.
pub fn gemm_strided(
    (m, n, k): (usize, usize, usize),
    (a, lda): (Row<'_, f32>, usize),
    (b, panel): (Row<'_, f32>, usize),
    (c, ldc): (RowMut<'_, f32>, usize),
    epilogue: &Epilogue<'_>,
) {
    let sizes = Sizes {
        m,
        n,
        k,
        lda,
        ldc,
        panel,
    };
    gemm_at(Level::best(), sizes, a, b, c, epilogue);
}

fn gemm_at(
    level: Level,
    sizes: Sizes,
    a: Row<'_, f32>,
    b: Row<'_, f32>,
    c: RowMut<'_, f32>,
    epilogue: &Epilogue<'_>,
) {
    let Sizes {
        m,
        n,
        k,
        lda,
        ldc,
        panel,
    } = sizes;
    if m == 0 || n == 0 {
        return;
    }
    assert!(
        a.is_dense() && b.is_dense() && c.as_row().is_dense(),
        "matrices are dense rows"
    );
    assert!(
        extent(m, lda, k) <= a.len(),
        "A is {m} x {k} by {lda} in a row of {}",
        a.len()
    );
    assert!(
        extent(n.div_ceil(PANEL), panel, size([k, PANEL])) <= b.len(),
        "B is {k} x {n} in a row of {}",
        b.len()
    );
    assert!(
        extent(m, ldc, n) <= c.len(),
        "C is {m} x {n} by {ldc} in a row of {}",
        c.len()
    );
    let mut raw = Raw {
        a: a.address(),
        b: b.address(),
        c: c.address(),
        accumulate: false,
        row_bias: std::ptr::null(),
        column_bias: std::ptr::null(),
        residual: std::ptr::null(),
        clamp: epilogue.clamp,
    };
    match epilogue.start {
        Start::Zero => {}
        Start::Accumulate => raw.accumulate = true,
        Start::RowBias(bias) => {
            assert!(bias.is_dense() && bias.len() >= m, "a bias for {m} rows");
            raw.row_bias = bias.address();
        }
        Start::ColumnBias(bias) => {
            assert!(bias.is_dense() && bias.len() >= n, "a bias for {n} columns");
            raw.column_bias = bias.address();
        }
    }
    if let Some(residual) = epilogue.residual {
        assert!(
            residual.is_dense() && extent(m, ldc, n) <= residual.len(),
            "a residual laid out like C"
        );
        raw.residual = residual.address();
    }
    match level {
        // SAFETY: the level says that the processor has AVX-512 F; the operands' bounds were checked above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::gemm_avx512(sizes, raw) },
        // SAFETY: the level says that the processor has AVX2 and FMA; the operands' bounds were checked above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::gemm_avx2(sizes, raw) },
        // SAFETY: the operands' bounds were checked above.
        Level::Portable => unsafe { gemm_portable(sizes, raw) },
    }
}

/// # Safety
///
/// The operands are as [`gemm`] checks them.
unsafe fn gemm_portable(sizes: Sizes, raw: Raw) {
    const ROWS: usize = 4;
    for column in (0..sizes.n).step_by(PANEL) {
        let columns = PANEL.min(sizes.n - column);
        for row in (0..sizes.m).step_by(ROWS) {
            let rows = ROWS.min(sizes.m - row);
            let mut sums = [[0f32; PANEL]; ROWS];
            for p in 0..sizes.k {
                // SAFETY: panel `column / PANEL` holds `k` rows of PANEL elements.
                let b = unsafe {
                    raw.b
                        .add(column / PANEL * sizes.panel + p * PANEL)
                        .cast::<[f32; PANEL]>()
                        .read_unaligned()
                };
                for (r, sums) in sums[..rows].iter_mut().enumerate() {
                    // SAFETY: `row + r < m` and `p < k`.
                    let a = unsafe { raw.a.add((row + r) * sizes.lda + p).read_unaligned() };
                    for lane in 0..PANEL {
                        sums[lane] += a * b[lane];
                    }
                }
            }
            for (r, sums) in sums[..rows].iter().enumerate() {
                for (lane, &sum) in sums[..columns].iter().enumerate() {
                    // SAFETY: `row + r < m` and `column + lane < n`.
                    unsafe { finish(sizes, raw, row + r, column + lane, sum) };
                }
            }
        }
    }
}

/// Writes one element of C.
///
/// # Safety
///
/// The operands are as [`gemm`] checks them, `row < m` and `column < n`.
unsafe fn finish(sizes: Sizes, raw: Raw, row: usize, column: usize, sum: f32) {
    let at = row * sizes.ldc + column;
    let mut value = sum;
    // SAFETY: each pointer is null or was checked to cover `m` rows, `n` columns or C's layout.
    unsafe {
        if raw.accumulate {
            value += raw.c.add(at).read_unaligned();
        }
        if !raw.row_bias.is_null() {
            value += raw.row_bias.add(row).read_unaligned();
        }
        if !raw.column_bias.is_null() {
            value += raw.column_bias.add(column).read_unaligned();
        }
        if !raw.residual.is_null() {
            value += raw.residual.add(at).read_unaligned();
        }
    }
    if let Some((low, high)) = raw.clamp {
        value = if value < low { low } else { value };
        value = if value > high { high } else { value };
    }
    // SAFETY: C covers `at`.
    unsafe { raw.c.add(at).write_unaligned(value) };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{PANEL, Raw, Sizes, finish};

    /// # Safety
    ///
    /// The operands are as [`gemm`](super::gemm) checks them.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn gemm_avx512(sizes: Sizes, raw: Raw) {
        // A product of few rows waits for its sums: several panels side by side give it more of them.
        let panels = match sizes.m {
            1 => 4,
            2 | 3 => 2,
            _ => 1,
        };
        let mut first = 0;
        while panels > 1 && sizes.n - first > (panels - 1) * PANEL {
            let columns = (panels * PANEL).min(sizes.n - first);
            // SAFETY: the tile covers all rows and `columns` columns, all inside C; the last panel has some of them.
            unsafe {
                match sizes.m {
                    1 => tile_avx512::<1, 8>(sizes, raw, 0, first, columns),
                    2 => tile_avx512::<2, 4>(sizes, raw, 0, first, columns),
                    _ => tile_avx512::<3, 4>(sizes, raw, 0, first, columns),
                }
            };
            first += columns;
            if first == sizes.n {
                return;
            }
        }
        for column in (first..sizes.n).step_by(PANEL) {
            let columns = PANEL.min(sizes.n - column);
            let mut row = 0;
            while row < sizes.m {
                let left = sizes.m - row;
                // SAFETY: each tile covers `rows` rows from `row` on and `columns` columns, all inside C.
                row += unsafe {
                    if columns > PANEL / 2 {
                        match left {
                            8.. => tile_avx512::<8, 2>(sizes, raw, row, column, columns),
                            4.. => tile_avx512::<4, 2>(sizes, raw, row, column, columns),
                            2.. => tile_avx512::<2, 2>(sizes, raw, row, column, columns),
                            _ => tile_avx512::<1, 2>(sizes, raw, row, column, columns),
                        }
                    } else {
                        match left {
                            16.. => tile_avx512::<16, 1>(sizes, raw, row, column, columns),
                            8.. => tile_avx512::<8, 1>(sizes, raw, row, column, columns),
                            4.. => tile_avx512::<4, 1>(sizes, raw, row, column, columns),
                            2.. => tile_avx512::<2, 1>(sizes, raw, row, column, columns),
                            _ => tile_avx512::<1, 1>(sizes, raw, row, column, columns),
                        }
                    }
                };
            }
        }
    }

    /// Computes ROWS rows of one panel or several (VECTORS vectors of 16 columns) and returns ROWS.
    ///
    /// # Safety
    ///
    /// As [`gemm_avx512`]; `row + ROWS <= m`, and `columns` columns from `column` on lie inside C.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn tile_avx512<const ROWS: usize, const VECTORS: usize>(
        sizes: Sizes,
        raw: Raw,
        row: usize,
        column: usize,
        columns: usize,
    ) -> usize {
        let mut sums = [[_mm512_setzero_ps(); VECTORS]; ROWS];
        let a = raw.a.wrapping_add(row * sizes.lda);
        let b = raw.b.wrapping_add(column / PANEL * sizes.panel);
        for p in 0..sizes.k {
            let mut bs = [_mm512_setzero_ps(); VECTORS];
            for (v, b_vector) in bs.iter_mut().enumerate() {
                let at = v / 2 * sizes.panel + p * PANEL + v % 2 * 16;
                // SAFETY: each panel holds `k` rows of 32 elements.
                *b_vector = unsafe { _mm512_loadu_ps(b.add(at)) };
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                // SAFETY: `row + r < m` and `p < k`.
                let spread = _mm512_set1_ps(unsafe { a.add(r * sizes.lda + p).read_unaligned() });
                for (sum, b_vector) in sums.iter_mut().zip(bs) {
                    *sum = _mm512_fmadd_ps(spread, b_vector, *sum);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (v, sum) in sums.into_iter().enumerate() {
                let lanes = columns.saturating_sub(v * 16).min(16);
                let mask = ((1u32 << lanes) - 1) as __mmask16;
                let at = (row + r) * sizes.ldc + column + v * 16;
                let mut value = sum;
                // SAFETY: masked lanes are not touched; the others lie inside C, the residual and the biases.
                unsafe {
                    if raw.accumulate {
                        value = _mm512_add_ps(
                            value,
                            _mm512_maskz_loadu_ps(mask, raw.c.wrapping_add(at)),
                        );
                    }
                    if !raw.row_bias.is_null() {
                        value = _mm512_add_ps(
                            value,
                            _mm512_set1_ps(raw.row_bias.add(row + r).read_unaligned()),
                        );
                    }
                    if !raw.column_bias.is_null() {
                        let bias = raw.column_bias.wrapping_add(column + v * 16);
                        value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, bias));
                    }
                    if !raw.residual.is_null() {
                        value = _mm512_add_ps(
                            value,
                            _mm512_maskz_loadu_ps(mask, raw.residual.wrapping_add(at)),
                        );
                    }
                }
                if let Some((low, high)) = raw.clamp {
                    // The second operand is what comes out when one is not a number.
                    value = _mm512_min_ps(
                        _mm512_set1_ps(high),
                        _mm512_max_ps(_mm512_set1_ps(low), value),
                    );
                }
                // SAFETY: masked lanes are not touched; the others lie inside C.
                unsafe { _mm512_mask_storeu_ps(raw.c.wrapping_add(at), mask, value) };
            }
        }
        ROWS
    }

    /// Steps that are taken at a time in AVX2: half a panel of them stays in the first cache.
    const STEPS: usize = 320;
    /// Rows of a tile in AVX2: with two vectors of sums each, as many sums as registers allow.
    const ROWS: usize = 6;
    /// Numbers of a vector of AVX2, and vectors of a row of a panel.
    const VECTOR: usize = 8;
    const EACH: usize = PANEL / VECTOR;
    /// Steps of a tile's inner loop that are written out.
    const UNROLLED: usize = 4;

    /// # Safety
    ///
    /// The operands are as [`gemm`](super::gemm) checks them.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn gemm_avx2(sizes: Sizes, raw: Raw) {
        // Few rows read the right side once: nothing of it has to stay.
        let most = if sizes.m <= ROWS { sizes.k } else { STEPS };
        let pieces = sizes.k.div_ceil(most.max(1)).max(1);
        let each = sizes.k.div_ceil(pieces);
        for piece in 0..pieces {
            let from = (piece * each).min(sizes.k);
            let (first, last) = (piece == 0, piece + 1 == pieces);
            let only = |wanted: bool, address: *const f32| match wanted {
                true => address,
                false => std::ptr::null(),
            };
            let part = Raw {
                a: raw.a.wrapping_add(from),
                b: raw.b.wrapping_add(from * PANEL),
                c: raw.c,
                accumulate: raw.accumulate || !first,
                row_bias: only(first, raw.row_bias),
                column_bias: only(first, raw.column_bias),
                residual: only(last, raw.residual),
                clamp: raw.clamp.filter(|_| last),
            };
            let k = each.min(sizes.k - from);
            // SAFETY: the part reads some of the columns of A, and as many rows of each panel of B.
            unsafe { depth_avx2(Sizes { k, ..sizes }, part) };
        }
    }

    /// # Safety
    ///
    /// As [`gemm_avx2`].
    #[target_feature(enable = "avx2,fma")]
    unsafe fn depth_avx2(sizes: Sizes, raw: Raw) {
        // A product of few rows waits for its sums: more columns side by side give it more of them.
        let width = match sizes.m {
            1 => 2 * PANEL,
            2 | 3 => PANEL,
            _ => PANEL / 2,
        };
        for column in (0..sizes.n).step_by(width) {
            let columns = width.min(sizes.n - column);
            let mut row = 0;
            while row < sizes.m {
                let left = sizes.m - row;
                let rows = left.div_ceil(left.div_ceil(ROWS));
                // SAFETY: each tile covers rows from `row` on and `columns` columns, all inside C.
                unsafe {
                    let at = (row, column, columns);
                    match (sizes.m, rows) {
                        (1, _) if columns > PANEL => tile_avx2::<1, 8>(sizes, raw, at),
                        (1, _) => tile_avx2::<1, 4>(sizes, raw, at),
                        (2, _) => tile_avx2::<2, 4>(sizes, raw, at),
                        (3, _) => tile_avx2::<3, 4>(sizes, raw, at),
                        (_, 6) => tile_avx2::<6, 2>(sizes, raw, at),
                        (_, 5) => tile_avx2::<5, 2>(sizes, raw, at),
                        (_, 4) => tile_avx2::<4, 2>(sizes, raw, at),
                        (_, 3) => tile_avx2::<3, 2>(sizes, raw, at),
                        (_, 2) => tile_avx2::<2, 2>(sizes, raw, at),
                        _ => tile_avx2::<1, 2>(sizes, raw, at),
                    }
                }
                row += rows;
            }
        }
    }

    /// Computes ROWS rows of VECTORS vectors of columns, which begin at a vector of a panel; those that lie in panels behind the last one
    /// are left out.
    ///
    /// # Safety
    ///
    /// As [`gemm_avx2`]; `row + ROWS <= m`, and `columns` columns from `column` on lie inside C.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn tile_avx2<const ROWS: usize, const VECTORS: usize>(
        sizes: Sizes,
        raw: Raw,
        (row, column, columns): (usize, usize, usize),
    ) {
        let mut sums = [[_mm256_setzero_ps(); VECTORS]; ROWS];
        let a = raw.a.wrapping_add(row * sizes.lda);
        let inside = column / VECTOR % EACH;
        let b = raw
            .b
            .wrapping_add(column / PANEL * sizes.panel + inside * VECTOR);
        let rows: [*const f32; ROWS] = std::array::from_fn(|r| a.wrapping_add(r * sizes.lda));
        let unrolled = sizes.k / UNROLLED * UNROLLED;
        let mut p = 0;
        while p < unrolled {
            for step in p..p + UNROLLED {
                // SAFETY: `step < k`.
                unsafe { multiply_avx2(&mut sums, rows, (b, sizes.panel), step) };
            }
            p += UNROLLED;
        }
        for p in unrolled..sizes.k {
            // SAFETY: `p < k`.
            unsafe { multiply_avx2(&mut sums, rows, (b, sizes.panel), p) };
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (v, sum) in sums.into_iter().enumerate() {
                let lanes = columns.saturating_sub(v * VECTOR).min(VECTOR);
                let at = (row + r, column + v * VECTOR);
                // SAFETY: `row + r < m`, and so many columns lie inside C.
                unsafe { finish_avx2(&sizes, &raw, at, lanes, sum) };
            }
        }
    }

    /// Adds the products of one column of A with one row of B.
    ///
    /// # Safety
    ///
    /// Each element of `rows` points to `p + 1` numbers, and each panel of B, `panel` apart, has `p + 1` rows.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn multiply_avx2<const ROWS: usize, const VECTORS: usize>(
        sums: &mut [[__m256; VECTORS]; ROWS],
        rows: [*const f32; ROWS],
        (b, panel): (*const f32, usize),
        p: usize,
    ) {
        let line = |v: usize| {
            let at = v / EACH * panel + p * PANEL + v % EACH * VECTOR;
            // SAFETY: the caller's word.
            unsafe { _mm256_loadu_ps(b.add(at)) }
        };
        // SAFETY: the caller's word.
        let number = |r: usize| _mm256_set1_ps(unsafe { rows[r].add(p).read_unaligned() });
        // Of the numbers and the lines, those that are fewer stay in registers.
        if ROWS < VECTORS {
            let mut numbers = [_mm256_setzero_ps(); ROWS];
            for (r, own) in numbers.iter_mut().enumerate() {
                *own = number(r);
            }
            for v in 0..VECTORS {
                let line = line(v);
                for (sums, number) in sums.iter_mut().zip(numbers) {
                    sums[v] = _mm256_fmadd_ps(number, line, sums[v]);
                }
            }
            return;
        }
        let mut lines = [_mm256_setzero_ps(); VECTORS];
        for (v, own) in lines.iter_mut().enumerate() {
            *own = line(v);
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            let number = number(r);
            for (sum, line) in sums.iter_mut().zip(lines) {
                *sum = _mm256_fmadd_ps(number, line, *sum);
            }
        }
    }

    /// Writes up to eight elements of C. Out of line: among the code for each sum, the sums would not stay in registers.
    ///
    /// # Safety
    ///
    /// As [`gemm_avx2`]; `row < m`, and `lanes` columns from `column` on lie inside C.
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    unsafe fn finish_avx2(
        sizes: &Sizes,
        raw: &Raw,
        (row, column): (usize, usize),
        lanes: usize,
        sum: __m256,
    ) {
        if lanes < VECTOR {
            let mut all = [0f32; VECTOR];
            // SAFETY: the array holds a vector.
            unsafe { _mm256_storeu_ps(all.as_mut_ptr(), sum) };
            for (lane, &sum) in all[..lanes].iter().enumerate() {
                // SAFETY: the caller's word.
                unsafe { finish(*sizes, *raw, row, column + lane, sum) };
            }
            return;
        }
        let at = row * sizes.ldc + column;
        let mut value = sum;
        // SAFETY: each pointer is null or covers `m` rows, `n` columns or C's layout.
        unsafe {
            if raw.accumulate {
                value = _mm256_add_ps(value, _mm256_loadu_ps(raw.c.add(at)));
            }
            if !raw.row_bias.is_null() {
                let bias = raw.row_bias.add(row).read_unaligned();
                value = _mm256_add_ps(value, _mm256_set1_ps(bias));
            }
            if !raw.column_bias.is_null() {
                value = _mm256_add_ps(value, _mm256_loadu_ps(raw.column_bias.add(column)));
            }
            if !raw.residual.is_null() {
                value = _mm256_add_ps(value, _mm256_loadu_ps(raw.residual.add(at)));
            }
        }
        if let Some((low, high)) = raw.clamp {
            // The second operand is what comes out when one is not a number.
            value = _mm256_min_ps(
                _mm256_set1_ps(high),
                _mm256_max_ps(_mm256_set1_ps(low), value),
            );
        }
        // SAFETY: C covers eight elements there.
        unsafe { _mm256_storeu_ps(raw.c.add(at), value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::levels;
    use crate::view::{Block, Layout, View, ViewMut};

    fn noise(index: usize) -> f32 {
        ((index.wrapping_mul(2_654_435_761) >> 7) % 2001) as f32 / 1000.0 - 1.0
    }

    fn block(values: impl Iterator<Item = f32>) -> Block {
        let values: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        Block::of(&values)
    }

    #[test]
    fn every_level_agrees_with_sums_in_float64() {
        for (m, n, k) in [
            (1usize, 1usize, 1usize),
            (3, 5, 7),
            (8, 32, 16),
            (17, 49, 33),
            (31, 17, 1),
            (9, 64, 100),
            (1, 300, 20),
            (2, 200, 9),
            (3, 97, 40),
            (5, 33, 0),
        ] {
            let (lda, ldc) = (k + 3, n + 2);
            let mut a = block((0..m * lda).map(noise));
            let mut b = block((0..n.div_ceil(PANEL) * PANEL * (k + 1)).map(|i| noise(i + 77)));
            let mut bias = block((0..m.max(n)).map(|i| noise(i + 5)));
            let mut residual = block((0..m * ldc).map(|i| noise(i + 9)));
            for level in levels() {
                for case in 0..4 {
                    let mut c = block((0..m * ldc).map(|i| noise(i + 1)));
                    let before: Vec<u8> = c.bytes().to_vec();
                    let lay = |len: usize| Layout::dense(&[len]).unwrap();
                    let (la, lb, lc, lbias) = (
                        lay(m * lda),
                        lay(n.div_ceil(PANEL) * PANEL * (k + 1)),
                        lay(m * ldc),
                        lay(m.max(n)),
                    );
                    let a = View::<f32>::new(a.region(), &la).unwrap().flat();
                    let b = View::<f32>::new(b.region(), &lb).unwrap().flat();
                    let bias = View::<f32>::new(bias.region(), &lbias).unwrap().flat();
                    let residual = View::<f32>::new(residual.region(), &lc).unwrap().flat();
                    let c = ViewMut::<f32>::new(c.region(), &lc).unwrap().flat();
                    let epilogue = Epilogue {
                        start: [
                            Start::Zero,
                            Start::Accumulate,
                            Start::RowBias(bias),
                            Start::ColumnBias(bias),
                        ][case],
                        residual: (case % 2 == 1).then_some(residual),
                        clamp: (case > 1).then_some((-0.5, 1.5)),
                    };
                    let sizes = Sizes {
                        m,
                        n,
                        k,
                        lda,
                        ldc,
                        panel: (k + 1) * PANEL,
                    };
                    gemm_at(level, sizes, a, b, c, &epilogue);
                    for row in 0..m {
                        for column in 0..ldc {
                            let at = row * ldc + column;
                            let old =
                                f32::from_le_bytes(before[4 * at..4 * at + 4].try_into().unwrap());
                            let mut wanted = f64::from(old);
                            if column < n {
                                wanted = match case {
                                    0 => 0.0,
                                    1 => f64::from(old),
                                    2 => f64::from(bias.get(row)),
                                    _ => f64::from(bias.get(column)),
                                };
                                for p in 0..k {
                                    let panel = column / PANEL * PANEL * (k + 1)
                                        + p * PANEL
                                        + column % PANEL;
                                    wanted +=
                                        f64::from(a.get(row * lda + p)) * f64::from(b.get(panel));
                                }
                                if case % 2 == 1 {
                                    wanted += f64::from(residual.get(at));
                                }
                                if case > 1 {
                                    wanted = wanted.clamp(-0.5, 1.5);
                                }
                            }
                            let found = f64::from(c.get(at));
                            assert!(
                                (found - wanted).abs() < 1e-5,
                                "{level:?} {m}x{n}x{k} case {case} at {row},{column}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn not_a_number_stays_through_the_clamp() {
        for level in levels() {
            let mut a = block([f32::NAN].into_iter());
            let mut b = block((0..PANEL).map(|_| 1.0));
            let mut c = block([0.0; 4].into_iter());
            let (la, lb, lc) = (
                Layout::dense(&[1]).unwrap(),
                Layout::dense(&[PANEL]).unwrap(),
                Layout::dense(&[4]).unwrap(),
            );
            let c = ViewMut::<f32>::new(c.region(), &lc).unwrap().flat();
            let a = View::<f32>::new(a.region(), &la).unwrap().flat();
            let b = View::<f32>::new(b.region(), &lb).unwrap().flat();
            let epilogue = Epilogue {
                start: Start::Zero,
                residual: None,
                clamp: Some((0.0, f32::INFINITY)),
            };
            gemm_at(
                level,
                Sizes {
                    m: 1,
                    n: 4,
                    k: 1,
                    lda: 1,
                    ldc: 4,
                    panel: PANEL,
                },
                a,
                b,
                c,
                &epilogue,
            );
            assert!(c.get(0).is_nan() && c.get(3).is_nan(), "{level:?}");
        }
    }
}
