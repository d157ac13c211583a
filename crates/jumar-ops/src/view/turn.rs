//! Transposition: what lies side by side in several rows is written as rows.

use super::{Element, Row, RowMut};

/// How many rows ahead the next ones are asked for.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 24;

/// Part of a tensor, which is seen as one row, whose rows become the columns of another.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The offset of the first element.
    pub start: usize,
    /// The distance of the elements of a row.
    pub step: isize,
    /// The distance of rows.
    pub stride: isize,
    /// The elements of a row.
    pub len: usize,
    /// The rows.
    pub rows: usize,
    /// The rows from the first one on that exist: those after the part are going to be read next.
    pub known: usize,
}

/// Writes element `j` of row `i` of a part to `to[j * pitch + i]`. `to` is other memory than the tensor.
///
/// Rows often lie so far apart that the processor does not foresee which one is read next, and waits for each. So it is asked for the next
/// ones, also for those behind the part.
///
/// # Panics
///
/// Where the part is not inside `from`, or the result not inside `to`.
pub fn turn<T: Element>(from: Row<'_, T>, part: Part, to: RowMut<'_, T>, pitch: usize) {
    let Part { rows, len, .. } = part;
    if rows == 0 || len == 0 {
        return;
    }
    let done = blocks(from, part, to, pitch);
    let row = |index: usize, at: usize| {
        let way = part.stride * index as isize + part.step * at as isize;
        from.strided(part.start.wrapping_add_signed(way), len - at, part.step)
    };
    for index in 0..rows {
        let from = if index < done.rows { done.len } else { 0 };
        if from < len {
            let column = to.stepped(from * pitch + index, len - from, pitch);
            column.copy_from(row(index, from));
        }
    }
}

/// The first rows of a part, and the first elements of these.
struct Done {
    rows: usize,
    len: usize,
}

/// Transposes as many elements as fill blocks of vectors.
fn blocks<T: Element>(from: Row<'_, T>, part: Part, to: RowMut<'_, T>, pitch: usize) -> Done {
    #[cfg(target_arch = "x86_64")]
    if part.step == 1 && part.stride > 0 && from.is_dense() {
        use std::arch::x86_64::{
            _mm_unpackhi_epi8, _mm_unpackhi_epi16, _mm_unpackhi_epi32, _mm_unpackhi_epi64,
            _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
        };
        macro_rules! by {
            ($side:literal, $low:ident, $high:ident) => {
                vectors::blocks::<T, $side>(
                    (from, part),
                    (to, pitch),
                    #[inline(always)]
                    // SAFETY: each x86-64 processor has the instruction.
                    |one, two| unsafe { $low(one, two) },
                    #[inline(always)]
                    // SAFETY: as above.
                    |one, two| unsafe { $high(one, two) },
                )
            };
        }
        return match size_of::<T>() {
            1 => by!(16, _mm_unpacklo_epi8, _mm_unpackhi_epi8),
            2 => by!(8, _mm_unpacklo_epi16, _mm_unpackhi_epi16),
            4 => by!(4, _mm_unpacklo_epi32, _mm_unpackhi_epi32),
            8 => by!(2, _mm_unpacklo_epi64, _mm_unpackhi_epi64),
            _ => Done { rows: 0, len: 0 },
        };
    }
    let _ = (from, part, to, pitch);
    Done { rows: 0, len: 0 }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::{
        __m128i, _MM_HINT_T1, _mm_loadu_si128, _mm_prefetch, _mm_setzero_si128, _mm_storeu_si128,
    };

    use super::super::CACHE_LINE;
    use super::{AHEAD, Done, Element, Part, Row, RowMut};

    /// Transposes blocks of `SIDE` rows and as many columns, which are as many vectors. `low` and `high` interleave the elements of
    /// the lower, and of the upper halves of two vectors.
    #[inline(always)]
    pub(super) fn blocks<T: Element, const SIDE: usize>(
        (from, part): (Row<'_, T>, Part),
        (to, pitch): (RowMut<'_, T>, usize),
        low: impl Fn(__m128i, __m128i) -> __m128i,
        high: impl Fn(__m128i, __m128i) -> __m128i,
    ) -> Done {
        // Known when it is compiled, as is the size that the caller matches.
        assert!(SIDE * size_of::<T>() == size_of::<__m128i>());
        let done = Done {
            rows: part.rows / SIDE * SIDE,
            len: part.len / SIDE * SIDE,
        };
        if done.rows == 0 || done.len == 0 {
            return done;
        }
        let stride = part.stride as usize;
        let known = part.known.max(part.rows);
        // The two rows prove that all elements lie inside.
        let source = from.slice(part.start, (known - 1) * stride + part.len);
        let target = to.slice(0, (done.len - 1) * pitch + done.rows);
        assert!(target.as_row().is_dense(), "a target of steps");
        let (source, target) = (source.address(), target.address());
        let lines = (part.len * size_of::<T>()).div_ceil(CACHE_LINE);
        for first in (0..done.rows).step_by(SIDE) {
            for row in first + AHEAD..(first + AHEAD + SIDE).min(known) {
                let row = source.wrapping_add(row * stride).cast::<i8>();
                for line in 0..lines {
                    // Into the second cache: rows a power of two apart share few lines of the first one, and would displace each other.
                    // SAFETY: nothing is accessed; any address may be asked for.
                    unsafe { _mm_prefetch::<_MM_HINT_T1>(row.wrapping_add(line * CACHE_LINE)) };
                }
            }
            let source = source.wrapping_add(first * stride);
            for column in (0..done.len).step_by(SIDE) {
                // SAFETY: each x86-64 processor has the instruction.
                let mut block = [unsafe { _mm_setzero_si128() }; SIDE];
                for (index, vector) in block.iter_mut().enumerate() {
                    let from = source.wrapping_add(index * stride + column);
                    // SAFETY: SIDE elements lie there, before the end of a row of the source.
                    *vector = unsafe { _mm_loadu_si128(from.cast()) };
                }
                // Each step interleaves vectors that are half a block apart: the index of a row moves into that of a column, bit by bit.
                for _ in 0..SIDE.ilog2() {
                    let from = block;
                    for index in 0..SIDE / 2 {
                        let (one, two) = (from[index], from[index + SIDE / 2]);
                        block[2 * index] = low(one, two);
                        block[2 * index + 1] = high(one, two);
                    }
                }
                for (index, &vector) in block.iter().enumerate() {
                    let to = target.wrapping_add((column + index) * pitch + first);
                    // SAFETY: SIDE elements lie there, before the end of the target.
                    unsafe { _mm_storeu_si128(to.cast(), vector) };
                }
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
        for (rows, len, step, stride) in [
            (0, 3, 1, 7),
            (1, 1, 1, 1),
            (16, 16, 1, 16),
            (32, 64, 1, 71),
            (33, 67, 1, 70),
            (15, 40, 1, 40),
            (17, 0, 1, 1),
            (20, 9, 3, 30),
            (18, 33, 1, 0),
        ] {
            let reach = (rows * stride + len * step).max(1);
            let values: Vec<T> = (0..reach).map(&value).collect();
            let pitch = rows + 5;
            let mut to = vec![value(0); len * pitch + 1];
            let part = Part {
                start: 0,
                step: step as isize,
                stride: stride as isize,
                len,
                rows,
                known: rows,
            };
            turn(Row::of(&values), part, RowMut::of(&mut to), pitch);
            for (at, found) in to.iter().enumerate() {
                let (column, index) = (at / pitch, at % pitch);
                let wanted = match index < rows && column < len {
                    true => values[index * stride + column * step],
                    false => value(0),
                };
                assert_eq!(*found, wanted, "{rows} rows of {len}, at {at}");
            }
        }
    }

    #[test]
    fn elements_of_each_size_are_transposed() {
        check(|at| (at * 37 + at / 251) as u8);
        check(|at| (at * 257) as u16);
        check(|at| at as f32);
        check(|at| at as u64);
        check(|at| at as u128);
    }
}
