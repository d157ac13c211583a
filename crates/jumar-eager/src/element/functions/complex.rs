//! Functions that only complex numbers have.

use super::super::compute::{C64, C128};
use super::super::number::Num;

/// Functions that only complex numbers have. Results that are real have an imaginary part of 0.
pub(super) trait ComplexOnly: Num {
    fn size(self) -> Self;
    fn direction(self) -> Self;
    fn angle(self) -> Self;
    fn is_all_finite(self) -> Self;
    fn is_any_infinite(self) -> Self;
    /// The real parts of two numbers as one number.
    fn join(self, imaginary: Self) -> Self;
    /// The number with this size and that angle.
    fn polar(self, angle: Self) -> Self;
}

macro_rules! complex_only {
    ($($type:ident)*) => {$(
        impl ComplexOnly for $type {
            #[inline(always)] fn size(self) -> Self { $type::new(self.norm(), 0.0) }
            #[inline(always)] fn direction(self) -> Self {
                if Num::to_bool(self) { self.unscale(self.norm()) } else { self }
            }
            #[inline(always)] fn angle(self) -> Self { $type::new(self.arg(), 0.0) }
            #[inline(always)] fn is_all_finite(self) -> Self { Self::of_bool(self.is_finite()) }
            #[inline(always)] fn is_any_infinite(self) -> Self { Self::of_bool(self.is_infinite()) }
            #[inline(always)] fn join(self, imaginary: Self) -> Self { $type::new(self.re, imaginary.re) }
            #[inline(always)] fn polar(self, angle: Self) -> Self { $type::from_polar(self.re, angle.re) }
        }
    )*};
}

complex_only! { C64 C128 }
