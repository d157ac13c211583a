//! Conversions between float32 and the 16-bit floating-point types.
//!
//! The functions have no branch and call nothing, so that a loop over them becomes vector instructions. The functions of the `half`
//! crate look for the processor's instructions at every call, which takes several times as long as the conversion.

use super::wide::{Work, wide};
use crate::view::{BF16, Element, F16, Row, RowMut};

/// A floating-point type whose values are all values of float32.
pub trait LowPrecision: Element {
    /// Returns the same value. A NaN becomes a quiet one.
    fn widen(self) -> f32;
    /// Rounds to the nearest value, ties to even. A NaN becomes a quiet one.
    fn rounded(value: f32) -> Self;

    /// A value of it proves that the processor has the instructions that convert groups.
    type Instructions: Copy + Send + Sync + 'static;

    /// Asks the processor for the instructions. A loop asks once: the answer in each group would split the loop, and its groups would
    /// lie in memory instead of registers.
    fn instructions() -> Option<Self::Instructions>;

    /// Widens values that lie side by side, by the processor's instructions.
    #[inline(always)]
    fn widen_group_by<const N: usize>(_by: Self::Instructions, group: [Self; N]) -> [f32; N] {
        each(group, Self::widen)
    }

    /// Widens values that are computed with. A NaN need not become a quiet one: the computation makes it one.
    #[inline(always)]
    fn operand_group_by<const N: usize>(by: Self::Instructions, group: [Self; N]) -> [f32; N] {
        Self::widen_group_by(by, group)
    }

    /// Rounds values that lie side by side, by the processor's instructions.
    #[inline(always)]
    fn rounded_group_by<const N: usize>(_by: Self::Instructions, group: [f32; N]) -> [Self; N] {
        each(group, Self::rounded)
    }

    /// Widens values that lie side by side.
    #[inline(always)]
    fn widen_group<const N: usize>(group: [Self; N]) -> [f32; N] {
        match Self::instructions() {
            Some(by) => Self::widen_group_by(by, group),
            None => each(group, Self::widen),
        }
    }

    /// Rounds values that lie side by side.
    #[inline(always)]
    fn rounded_group<const N: usize>(group: [f32; N]) -> [Self; N] {
        match Self::instructions() {
            Some(by) => Self::rounded_group_by(by, group),
            None => each(group, Self::rounded),
        }
    }
}

/// Converts each value. A map of the array would not become vector instructions.
#[inline(always)]
fn each<A: Copy, B: Copy + Default, const N: usize>(group: [A; N], f: impl Fn(A) -> B) -> [B; N] {
    let mut result = [B::default(); N];
    for index in 0..N {
        result[index] = f(group[index]);
    }
    result
}

impl LowPrecision for f32 {
    type Instructions = ();

    #[inline(always)]
    fn instructions() -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }

    #[inline(always)]
    fn rounded(value: f32) -> f32 {
        value
    }
}

/// The exponent of infinities and NaN of float32.
const SPECIAL: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
/// Makes a NaN of float32 quiet.
const QUIET: u32 = 0x0040_0000;

/// Returns one of two values, as a vector instruction can.
#[inline(always)]
fn select(condition: bool, yes: u32, no: u32) -> u32 {
    let mask = u32::from(condition).wrapping_neg();
    yes & mask | no & !mask
}

impl LowPrecision for BF16 {
    type Instructions = ();

    #[inline(always)]
    fn instructions() -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = u32::from(self.to_bits()) << 16;
        f32::from_bits(bits | select(bits & !SIGN > SPECIAL, QUIET, 0))
    }

    #[inline(always)]
    fn operand_group_by<const N: usize>(_by: (), group: [BF16; N]) -> [f32; N] {
        each(group, |value| {
            f32::from_bits(u32::from(value.to_bits()) << 16)
        })
    }

    #[inline(always)]
    fn rounded(value: f32) -> BF16 {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
        let quiet = bits | QUIET;
        BF16::from_bits((select(bits & !SIGN > SPECIAL, quiet, rounded) >> 16) as u16)
    }
}

/// By how much the mantissa of float32 is longer than that of float16.
const SHIFT: u32 = 13;
/// The difference of the exponents' biases.
const BIAS: u32 = 127 - 15;
/// Two to the power of [`BIAS`].
const SCALE: u32 = (127 + BIAS) << 23;
/// The first float32 that is too large for a finite float16 before rounding: two to the power of 16.
const TOO_LARGE: u32 = (127 + 16) << 23;
/// The smallest normal number of float16.
const LEAST_NORMAL: u32 = (127 - 14) << 23;
/// A float32 whose last digit is worth as much as that of the denormal numbers of float16.
const DENORMAL: u32 = (127 - 15 + (23 - 10) + 1) << 23;

/// Proves that the processor converts float16 as [`LowPrecision`] does: on x86-64 by instructions of its own, elsewhere by arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct HalfInstructions(());

impl LowPrecision for F16 {
    type Instructions = HalfInstructions;

    #[inline(always)]
    fn instructions() -> Option<HalfInstructions> {
        #[cfg(target_arch = "x86_64")]
        if !is_x86_feature_detected!("f16c") || !super::permits(super::Instructions::Avx2) {
            return None;
        }
        Some(HalfInstructions(()))
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let sign = (bits & 0x8000) << 16;
        let size = (bits & 0x7fff) << SHIFT;
        // The product is exact, and makes denormal numbers normal.
        let scaled = (f32::from_bits(size) * f32::from_bits(SCALE)).to_bits();
        let special = size | SPECIAL | select(size > 31 << 23, QUIET, 0);
        f32::from_bits(sign | select(size >= 31 << 23, special, scaled))
    }

    #[inline(always)]
    fn rounded(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits & SIGN) >> 16;
        let size = bits & !SIGN;
        let quiet = 0x7e00 | (size >> SHIFT & 0x3ff);
        let special = select(size > SPECIAL, quiet, 0x7c00);
        // The addition rounds to what the last digit of a denormal number is worth.
        let sum = f32::from_bits(size) + f32::from_bits(DENORMAL);
        let denormal = sum.to_bits().wrapping_sub(DENORMAL);
        let odd = size >> SHIFT & 1;
        let normal = size.wrapping_sub(BIAS << 23).wrapping_add(0xfff + odd) >> SHIFT;
        let finite = select(size < LEAST_NORMAL, denormal, normal);
        F16::from_bits((sign | select(size >= TOO_LARGE, special, finite)) as u16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn widen_group_by<const N: usize>(_by: HalfInstructions, group: [F16; N]) -> [f32; N] {
        // SAFETY: the argument proves that the processor has the instructions.
        unsafe { f16c::widen(group) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn rounded_group_by<const N: usize>(_by: HalfInstructions, group: [f32; N]) -> [F16; N] {
        // SAFETY: the argument proves that the processor has the instructions.
        unsafe { f16c::round(group) }
    }
}

/// Conversions by the processor's own instructions, which take a fifth of the time of the arithmetic.
#[cfg(target_arch = "x86_64")]
mod f16c {
    use std::arch::x86_64::{
        _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps,
        _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_ps,
    };

    use super::{F16, LowPrecision};

    /// Values of one instruction.
    const WIDTH: usize = 8;

    #[target_feature(enable = "avx,f16c")]
    #[inline]
    pub(super) fn widen<const N: usize>(group: [F16; N]) -> [f32; N] {
        let mut wide = [0.0; N];
        let (from, from_rest) = group.as_chunks::<WIDTH>();
        let (to, to_rest) = wide.as_chunks_mut::<WIDTH>();
        for (from, to) in from.iter().zip(to) {
            // SAFETY: eight values of two bytes are read, and eight of four bytes are written; any alignment will do.
            unsafe {
                _mm256_storeu_ps(
                    to.as_mut_ptr(),
                    _mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast())),
                );
            }
        }
        for (from, to) in from_rest.iter().zip(to_rest) {
            *to = from.widen();
        }
        wide
    }

    #[target_feature(enable = "avx,f16c")]
    #[inline]
    pub(super) fn round<const N: usize>(group: [f32; N]) -> [F16; N] {
        let mut halves = [F16::ZERO; N];
        let (from, from_rest) = group.as_chunks::<WIDTH>();
        let (to, to_rest) = halves.as_chunks_mut::<WIDTH>();
        for (from, to) in from.iter().zip(to) {
            // SAFETY: eight values of four bytes are read, and eight of two bytes are written; any alignment will do.
            unsafe {
                _mm_storeu_si128(
                    to.as_mut_ptr().cast(),
                    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from.as_ptr())),
                );
            }
        }
        for (from, to) in from_rest.iter().zip(to_rest) {
            *to = F16::rounded(*from);
        }
        halves
    }
}

/// How many elements are converted together.
const GROUP: usize = 32;

/// Converts each element.
struct Convert<'a, A, B, F, G> {
    from: Row<'a, A>,
    to: RowMut<'a, B>,
    f: F,
    group: G,
}

impl<A, B, F, G> Work for Convert<'_, A, B, F, G>
where
    A: Element,
    B: Element,
    F: Fn(A) -> B,
    G: Fn([A; GROUP]) -> [B; GROUP],
{
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Convert { from, to, f, group } = self;
        if from.len() != to.len() {
            return to.map1_each(from, f);
        }
        let grouped = match from.is_dense() && to.as_row().is_dense() {
            true => from.len() / GROUP * GROUP,
            false => 0,
        };
        for base in (0..grouped).step_by(GROUP) {
            to.set_group(base, group(from.group(base)));
        }
        let (from, to) = (
            from.slice(grouped, from.len() - grouped),
            to.slice(grouped, to.len() - grouped),
        );
        to.map1_each(from, f);
    }
}

/// Returns a closure: the attribute that makes the compiler inline it is accepted in arguments alone. Out of line it would be compiled
/// for the least of all processors.
#[inline(always)]
fn inlined<A, B, G: Fn(A) -> B>(group: G) -> G {
    group
}

/// Converts a row to another type, with the best instructions of this processor. `f` is `#[inline(always)]` and has no branch. Panics
/// where the lengths differ.
#[inline]
pub fn convert<A: Element, B: Element>(from: Row<'_, A>, to: RowMut<'_, B>, f: impl Fn(A) -> B) {
    let group = inlined(
        #[inline(always)]
        |group: [A; GROUP]| each(group, &f),
    );
    wide(Convert {
        from,
        to,
        f: &f,
        group,
    });
}

/// Widens a row. Panics where the lengths differ.
pub fn widen<T: LowPrecision>(from: Row<'_, T>, to: RowMut<'_, f32>) {
    match T::instructions() {
        Some(by) => wide(Convert {
            from,
            to,
            f: T::widen,
            group: inlined(
                #[inline(always)]
                |group| T::widen_group_by(by, group),
            ),
        }),
        None => convert(from, to, T::widen),
    }
}

/// Rounds a row. Panics where the lengths differ.
pub fn round<T: LowPrecision>(from: Row<'_, f32>, to: RowMut<'_, T>) {
    match T::instructions() {
        Some(by) => wide(Convert {
            from,
            to,
            f: T::rounded,
            group: inlined(
                #[inline(always)]
                |group| T::rounded_group_by(by, group),
            ),
        }),
        None => convert(from, to, T::rounded),
    }
}

/// Rounds a row to what `T` holds; the two rows may be the same memory. Panics where the lengths differ.
pub fn round_to<T: LowPrecision>(from: Row<'_, f32>, to: RowMut<'_, f32>) {
    match T::instructions() {
        Some(by) => wide(Convert {
            from,
            to,
            f: inlined(
                #[inline(always)]
                |x: f32| T::rounded(x).widen(),
            ),
            group: inlined(
                #[inline(always)]
                |group| T::widen_group_by(by, T::rounded_group_by(by, group)),
            ),
        }),
        None => convert(
            from,
            to,
            #[inline(always)]
            |x| T::rounded(x).widen(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: f32, two: f32) -> bool {
        one.to_bits() == two.to_bits()
    }

    #[test]
    fn every_16_bit_number_widens_as_in_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (F16::from_bits(bits), BF16::from_bits(bits));
            assert!(same(half.widen(), half.to_f32_const()), "{bits:04x}");
            assert!(same(brain.widen(), brain.to_f32_const()), "{bits:04x}");
        }
    }

    #[test]
    fn groups_convert_as_single_values() {
        let mut all = (0..=u16::MAX).map(F16::from_bits);
        while let Some(first) = all.next() {
            let group: [F16; 19] = std::array::from_fn(|at| {
                if at == 0 {
                    first
                } else {
                    all.next().unwrap_or(first)
                }
            });
            let wide = F16::widen_group(group);
            for (one, two) in group.into_iter().zip(wide) {
                assert!(same(one.widen(), two), "{:04x}", one.to_bits());
            }
            for (value, half) in wide.into_iter().zip(F16::rounded_group(wide)) {
                assert_eq!(F16::rounded(value).to_bits(), half.to_bits());
            }
        }
        let numbers: Vec<u32> = interesting().collect();
        for numbers in numbers.chunks_exact(16) {
            let wide: [f32; 16] = std::array::from_fn(|at| f32::from_bits(numbers[at]));
            for (value, half) in wide.into_iter().zip(F16::rounded_group(wide)) {
                assert_eq!(F16::rounded(value).to_bits(), half.to_bits(), "{value:e}");
            }
        }
    }

    #[test]
    fn rows_of_any_step_convert() {
        for len in [0, 1, 31, 32, 100] {
            let from: Vec<f32> = (0..2 * len).map(|at| at as f32 / 4.0).collect();
            for step in [1, 2] {
                let mut to = vec![BF16::ZERO; len];
                let row = Row::of(&from).stepped(0, len, step);
                round(row, RowMut::of(&mut to));
                let wanted = (0..len).map(|at| BF16::from_f32(from[at * step]));
                assert!(wanted.eq(to.iter().copied()));
                let mut back = vec![0.0; len];
                widen(Row::of(&to), RowMut::of(&mut back));
                assert!(back.iter().zip(&to).all(|(back, to)| *back == to.to_f32()));
            }
        }
    }

    #[test]
    #[should_panic(expected = "rows of 4 and 3 elements")]
    fn rows_of_other_lengths_are_refused() {
        widen(Row::of(&[BF16::ONE; 3]), RowMut::of(&mut [0.0; 4]));
    }

    /// All signs, exponents and first digits, with what decides the rounding.
    fn interesting() -> impl Iterator<Item = u32> {
        let ends = [
            0, 1, 2, 0x7ff, 0x800, 0x801, 0xfff, 0x1000, 0x1001, 0x1fff, 0x7fff,
        ];
        (0..=u32::from(u16::MAX)).flat_map(move |high| {
            let ends = ends.into_iter().flat_map(|end| [end, end | 0x8000]);
            ends.map(move |low| high << 16 | low)
        })
    }

    #[test]
    fn numbers_round_as_in_the_half_crate() {
        for bits in interesting() {
            let value = f32::from_bits(bits);
            let half = F16::from_f32_const(value);
            let brain = BF16::from_f32_const(value);
            assert_eq!(F16::rounded(value).to_bits(), half.to_bits(), "{bits:08x}");
            assert_eq!(
                BF16::rounded(value).to_bits(),
                brain.to_bits(),
                "{bits:08x}"
            );
        }
    }
}
