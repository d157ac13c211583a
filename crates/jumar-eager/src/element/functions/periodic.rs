//! Sine and cosine of float32: polynomials where all numbers of a block are near zero, the function of the system elsewhere.

use jumar_ops::math::{Fast, Float, LowPrecision, NEAR, Work, wide};
use jumar_ops::view::{Row, RowMut};

use super::super::direct::{self, Function, Operand};

/// Elements that are examined together.
const BLOCK: usize = 256;
/// Elements that are compared at once.
const GROUP: usize = 32;

/// A function for numbers near zero, and the same for any number.
pub(super) trait Periodic {
    type Near: Function<1>;
    type Far: Function<1>;
}

pub(super) enum Sine {}
pub(super) enum Cosine {}
pub(super) enum NearSine {}
pub(super) enum FarSine {}
pub(super) enum NearCosine {}
pub(super) enum FarCosine {}

macro_rules! periodic {
    ($($name:ident: $near:ident $near_path:path, $far:ident $far_path:path;)*) => {$(
        impl Periodic for $name {
            type Near = $near;
            type Far = $far;
        }

        impl Function<1> for $near {
            #[inline(always)]
            fn apply<const FUSED: bool>([x]: [Fast<FUSED>; 1]) -> Fast<FUSED> {
                $near_path(x)
            }
        }

        impl Function<1> for $far {
            #[inline(always)]
            fn apply<const FUSED: bool>([x]: [Fast<FUSED>; 1]) -> Fast<FUSED> {
                $far_path(x)
            }
        }
    )*};
}

periodic! {
    Sine: NearSine Fast::sin_near, FarSine Float::sin;
    Cosine: NearCosine Fast::cos_near, FarCosine Float::cos;
}

/// Computes the function over a row.
pub(super) fn row<T: LowPrecision, P: Periodic>(
    by: T::Instructions,
    to: RowMut<'_, T>,
    operands: &[Operand<'_, T>],
) {
    let &[Operand::Row(from)] = operands else {
        return direct::run::<T, P::Far, 1>(by, to, operands);
    };
    for start in (0..to.len()).step_by(BLOCK) {
        let len = BLOCK.min(to.len() - start);
        let (to, from) = (to.slice(start, len), from.slice(start, len));
        let operands = [Operand::Row(from)];
        match wide(AreNear::<T> { by, from }) {
            true => direct::run::<T, P::Near, 1>(by, to, &operands),
            false => direct::run::<T, P::Far, 1>(by, to, &operands),
        }
    }
}

/// Computes the function over a block, in place.
pub(super) fn block<P: Periodic>(first: &mut [f32], _rest: &[&[f32]]) {
    let to = RowMut::of(first);
    row::<f32, P>((), to, &[Operand::Row(to.as_row())]);
}

/// Reports whether all numbers of a row are near zero. Not-a-number is not.
struct AreNear<'a, T: LowPrecision> {
    by: T::Instructions,
    from: Row<'a, T>,
}

impl<T: LowPrecision> Work for AreNear<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let AreNear { by, from } = self;
        let grouped = from.len() / GROUP * GROUP;
        let mut most = [0.0f32; GROUP];
        for base in (0..grouped).step_by(GROUP) {
            let group: [f32; GROUP] = T::widen_group_by(by, from.group(base));
            for index in 0..GROUP {
                let size = group[index].abs();
                // Infinity stands for what is not a number.
                let size = if size <= NEAR { size } else { f32::INFINITY };
                most[index] = if size > most[index] {
                    size
                } else {
                    most[index]
                };
            }
        }
        let rest = (grouped..from.len()).all(|index| from.get(index).widen().abs() <= NEAR);
        rest && most.iter().all(|&size| size <= NEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers near and far, and what is none; the far ones in some blocks only.
    fn numbers(len: usize) -> Vec<f32> {
        let number = |index: usize| match index {
            300 => 1e20,
            301 => f32::NAN,
            302 => f32::INFINITY,
            900 => -0.0,
            index => (index as f32 - 700.0) * 0.37,
        };
        (0..len).map(number).collect()
    }

    #[test]
    fn blocks_with_numbers_of_any_size_agree_with_float64() {
        for len in [0, 1, 31, 33, 257, 1100] {
            let from = numbers(len);
            let check = |found: &[f32], exact: fn(f64) -> f64| {
                for (&x, &found) in from.iter().zip(found) {
                    let wanted = exact(f64::from(x));
                    let is_same = (f64::from(found) - wanted).abs() <= 2.5e-7 * wanted.abs()
                        || (found.is_nan() && wanted.is_nan());
                    assert!(is_same, "{x}: {found}, not {wanted}");
                }
            };
            let mut found = from.clone();
            block::<Sine>(&mut found, &[]);
            check(&found, f64::sin);
            let mut found = from.clone();
            block::<Cosine>(&mut found, &[]);
            check(&found, f64::cos);
        }
    }
}
