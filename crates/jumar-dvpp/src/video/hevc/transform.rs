//! The transforms of residuals, with quantization (clauses 8.6.2 to 8.6.4).

/// The largest side of a block.
pub(super) const LARGEST: usize = 32;

/// The first column of the matrix of 32x32, from which all others follow by symmetry.
const COSINES: [i16; 32] = [
    64, 90, 90, 90, 89, 88, 87, 85, 83, 82, 80, 78, 75, 73, 70, 67, 64, 61, 57, 54, 50, 46, 43, 38,
    36, 31, 25, 22, 18, 13, 9, 4,
];

/// The matrix of 32x32. Those of smaller blocks are every second, fourth or eighth row of its left part.
const MATRIX: [[i16; LARGEST]; LARGEST] = matrix();

const fn matrix() -> [[i16; LARGEST]; LARGEST] {
    let mut result = [[64; LARGEST]; LARGEST];
    let mut row = 1;
    while row < LARGEST {
        let mut column = 0;
        while column < LARGEST {
            // The angle in steps of which 64 are a half turn.
            let angle = (2 * column + 1) * row % 128;
            let angle = if angle > 64 { 128 - angle } else { angle };
            result[row][column] = if angle < 32 {
                COSINES[angle]
            } else {
                -COSINES[64 - angle]
            };
            column += 1;
        }
        row += 1;
    }
    result
}

/// The factors of quantization and of its inverse, by the quantizer modulo 6.
const FACTORS: [i64; 6] = [26214, 23302, 20560, 18396, 16384, 14564];
const SCALES: [i64; 6] = [40, 45, 51, 57, 64, 72];

/// A square block of at most 32x32 values, row by row without gaps.
pub(super) type Block = [i16; LARGEST * LARGEST];

fn row(log2: u32, index: usize) -> &'static [i16] {
    &MATRIX[index << (5 - log2)][..1 << log2]
}

/// Transforms and quantizes a residual. Returns whether a level is not 0.
pub(super) fn forward(residual: &Block, log2: u32, quantizer: i32, levels: &mut Block) -> bool {
    let side = 1_usize << log2;
    let mut columns = [0_i16; LARGEST * LARGEST];
    let shift = log2 - 1;
    for (index, to) in columns.chunks_exact_mut(side).take(side).enumerate() {
        let mut sums = [0_i32; LARGEST];
        for (from, factor) in residual.chunks_exact(side).zip(row(log2, index)) {
            for (sum, value) in sums.iter_mut().zip(from) {
                *sum += i32::from(*value) * i32::from(*factor);
            }
        }
        for (to, sum) in to.iter_mut().zip(sums) {
            *to = ((sum + (1 << shift >> 1)) >> shift) as i16;
        }
    }
    let shift = log2 + 6;
    let bits = 29 + quantizer / 6 - 8 - log2 as i32;
    let factor = FACTORS[(quantizer % 6) as usize];
    // A third of a step: the usual rounding of intra blocks.
    let rounding = 171_i64 << (bits - 9);
    let mut is_coded = false;
    for (from, to) in columns
        .chunks_exact(side)
        .zip(levels.chunks_exact_mut(side))
        .take(side)
    {
        for (index, to) in to.iter_mut().enumerate() {
            let products = from.iter().zip(row(log2, index));
            let sum: i32 = products
                .map(|(value, factor)| i32::from(*value) * i32::from(*factor))
                .sum();
            let coefficient = i64::from((sum + (1 << (shift - 1))) >> shift);
            let level = (coefficient.abs() * factor + rounding) >> bits;
            *to = (level.min(32767) * coefficient.signum()) as i16;
            is_coded |= *to != 0;
        }
    }
    is_coded
}

/// Computes a residual from levels.
pub(super) fn inverse(levels: &Block, log2: u32, quantizer: i32, residual: &mut Block) {
    let side = 1_usize << log2;
    let limited = |value: i64| value.clamp(-32768, 32767) as i16;
    let shift = 3 + log2;
    let scale = (16 * SCALES[(quantizer % 6) as usize]) << (quantizer / 6);
    let mut rows = [0_i16; LARGEST * LARGEST];
    let mut sums = [[0_i32; LARGEST]; LARGEST];
    for (index, from) in levels.chunks_exact(side).take(side).enumerate() {
        if from.iter().all(|level| *level == 0) {
            continue;
        }
        let mut coefficients = [0_i16; LARGEST];
        for (to, level) in coefficients.iter_mut().zip(from) {
            *to = limited((i64::from(*level) * scale + (1 << (shift - 1))) >> shift);
        }
        for (sums, factor) in sums.iter_mut().zip(row(log2, index)) {
            for (sum, value) in sums.iter_mut().zip(&coefficients[..side]) {
                *sum += i32::from(*value) * i32::from(*factor);
            }
        }
    }
    for (to, sums) in rows.chunks_exact_mut(side).zip(&sums) {
        for (to, sum) in to.iter_mut().zip(sums) {
            *to = limited(i64::from((sum + 64) >> 7));
        }
    }
    for (from, to) in rows
        .chunks_exact(side)
        .zip(residual.chunks_exact_mut(side))
        .take(side)
    {
        let mut sums = [0_i32; LARGEST];
        for (index, value) in from.iter().enumerate().filter(|(_, value)| **value != 0) {
            for (sum, factor) in sums.iter_mut().zip(row(log2, index)) {
                *sum += i32::from(*value) * i32::from(*factor);
            }
        }
        for (to, sum) in to.iter_mut().zip(sums) {
            *to = limited(i64::from((sum + 2048) >> 12));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_has_rows_of_the_standard() {
        assert_eq!(row(2, 1), [83, 36, -36, -83]);
        assert_eq!(row(3, 1), [89, 75, 50, 18, -18, -50, -75, -89]);
        assert_eq!(row(3, 3), [75, -18, -89, -50, 50, 89, 18, -75]);
        assert_eq!(row(4, 15)[..4], [9, -25, 43, -57]);
        assert_eq!(MATRIX[31][..4], [4, -13, 22, -31]);
    }

    /// The smallest quantizer, whose step is below 1, loses almost nothing: the matrix is not quite orthogonal.
    #[test]
    fn the_inverse_restores_residuals() {
        let mut random = fastrand::Rng::with_seed(1);
        for log2 in 2..=5 {
            let count = 1 << (2 * log2);
            let mut residual = [0_i16; LARGEST * LARGEST];
            for value in &mut residual[..count] {
                *value = random.i16(-255..=255);
            }
            let (mut levels, mut found) = ([0; 1024], [0; 1024]);
            assert!(forward(&residual, log2, 0, &mut levels));
            inverse(&levels, log2, 0, &mut found);
            for (found, wanted) in found[..count].iter().zip(&residual) {
                assert!((found - wanted).abs() <= 4, "{log2}: {found} {wanted}");
            }
        }
    }
}
