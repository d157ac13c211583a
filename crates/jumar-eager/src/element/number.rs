//! What functions of elements are written with.

use std::ops::Neg;

use jumar_ops::math::{Fast, Float, LowPrecision};

use super::compute::{C64, C128};

/// A number of any compute type.
pub(crate) trait Num: Copy + PartialEq {
    fn of(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Divides. Integers are truncated towards zero; a division by zero returns 0 there.
    fn over(self, other: Self) -> Self;
    fn negated(self) -> Self;
    fn power(self, exponent: Self) -> Self;

    #[inline(always)]
    fn of_bool(value: bool) -> Self {
        Self::of(f64::from(u8::from(value)))
    }

    #[inline(always)]
    fn to_bool(self) -> bool {
        self != Self::of(0.0)
    }
}

/// A number with an order: all but the complex ones.
pub(crate) trait OrderedNumber: Num + PartialOrd {
    /// The remainder of the division that is truncated towards zero. Of integers by zero it is 0.
    fn rest(self, other: Self) -> Self;
    /// The largest number that is not larger, and has no fraction.
    fn floored(self) -> Self;
    fn truncated(self) -> Self;
}

/// An integer compute type.
pub(crate) trait Integer: OrderedNumber + Eq {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn left(self, other: Self) -> Self;
    fn right(self, other: Self) -> Self;
    fn gcd(self, other: Self) -> Self;
}

/// A floating-point compute type, with the functions that [`Float`] lacks.
pub(crate) trait Real: Float + OrderedNumber {
    fn exp2(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn atan2(self, other: Self) -> Self;
    fn lgamma(self) -> Self;
    /// Whether the sign bit is set.
    fn is_negative(self) -> bool;
    /// Returns what the value becomes when it is stored in a narrower type.
    fn stored<T: LowPrecision>(self) -> Self;
}

/// A floating-point or complex compute type, with the functions that both have.
pub(crate) trait Analytic: Num {
    fn a_exp(self) -> Self;
    fn a_log(self) -> Self;
    fn a_sqrt(self) -> Self;
    fn a_sin(self) -> Self;
    fn a_cos(self) -> Self;
    fn a_tan(self) -> Self;
    fn a_asin(self) -> Self;
    fn a_acos(self) -> Self;
    fn a_atan(self) -> Self;
    fn a_sinh(self) -> Self;
    fn a_cosh(self) -> Self;
    fn a_tanh(self) -> Self;
    fn a_asinh(self) -> Self;
    fn a_acosh(self) -> Self;
    fn a_atanh(self) -> Self;
    /// The complex conjugate: a gradient is multiplied by that of the derivative.
    fn conjugated(self) -> Self;
}

impl<const FUSED: bool> Num for Fast<FUSED> {
    #[inline(always)]
    fn of(value: f64) -> Self {
        Fast(value as f32)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self / other
    }

    #[inline(always)]
    fn negated(self) -> Self {
        -self
    }

    #[inline(always)]
    fn power(self, exponent: Self) -> Self {
        Fast(self.0.powf(exponent.0))
    }
}

impl<const FUSED: bool> OrderedNumber for Fast<FUSED> {
    #[inline(always)]
    fn rest(self, other: Self) -> Self {
        Fast(self.0 % other.0)
    }

    #[inline(always)]
    fn floored(self) -> Self {
        Fast(self.0.floor())
    }

    #[inline(always)]
    fn truncated(self) -> Self {
        Fast(self.0.trunc())
    }
}

impl<const FUSED: bool> Real for Fast<FUSED> {
    #[inline(always)]
    fn stored<T: LowPrecision>(self) -> Self {
        Fast(T::rounded(self.0).widen())
    }

    #[inline(always)]
    fn exp2(self) -> Self {
        Fast(self.0.exp2())
    }

    #[inline(always)]
    fn log2(self) -> Self {
        Fast(self.0.log2())
    }

    #[inline(always)]
    fn log10(self) -> Self {
        Fast(self.0.log10())
    }

    #[inline(always)]
    fn atan2(self, other: Self) -> Self {
        Fast(self.0.atan2(other.0))
    }

    #[inline(always)]
    fn lgamma(self) -> Self {
        Fast(libm::lgamma(f64::from(self.0)) as f32)
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        self.0.is_sign_negative()
    }
}

impl Num for f64 {
    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: f64) -> f64 {
        self - other
    }

    #[inline(always)]
    fn times(self, other: f64) -> f64 {
        self * other
    }

    #[inline(always)]
    fn over(self, other: f64) -> f64 {
        self / other
    }

    #[inline(always)]
    fn negated(self) -> f64 {
        -self
    }

    #[inline(always)]
    fn power(self, exponent: f64) -> f64 {
        self.powf(exponent)
    }
}

impl OrderedNumber for f64 {
    #[inline(always)]
    fn rest(self, other: f64) -> f64 {
        self % other
    }

    #[inline(always)]
    fn floored(self) -> f64 {
        self.floor()
    }

    #[inline(always)]
    fn truncated(self) -> f64 {
        self.trunc()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn stored<T: LowPrecision>(self) -> f64 {
        f64::from(T::rounded(self as f32).widen())
    }

    #[inline(always)]
    fn exp2(self) -> f64 {
        self.exp2()
    }

    #[inline(always)]
    fn log2(self) -> f64 {
        self.log2()
    }

    #[inline(always)]
    fn log10(self) -> f64 {
        self.log10()
    }

    #[inline(always)]
    fn atan2(self, other: f64) -> f64 {
        self.atan2(other)
    }

    #[inline(always)]
    fn lgamma(self) -> f64 {
        libm::lgamma(self)
    }

    #[inline(always)]
    fn is_negative(self) -> bool {
        self.is_sign_negative()
    }
}

macro_rules! integers {
    ($($type:ident, $positive:expr;)*) => {$(
        impl Num for $type {
            #[inline(always)] fn of(value: f64) -> $type { value as $type }
            #[inline(always)] fn plus(self, other: $type) -> $type { self.wrapping_add(other) }
            #[inline(always)] fn minus(self, other: $type) -> $type { self.wrapping_sub(other) }
            #[inline(always)] fn times(self, other: $type) -> $type { self.wrapping_mul(other) }
            #[inline(always)] fn over(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)] fn negated(self) -> $type { self.wrapping_neg() }

            /// Wraps around. A negative power is 0, except of 1 and -1.
            #[inline(always)]
            fn power(self, exponent: $type) -> $type {
                let (mut base, mut result): ($type, $type) = (self, 1);
                let mut exponent = match u64::try_from(exponent) {
                    Ok(exponent) => exponent,
                    Err(_) if self == 1 || self.wrapping_add(1) == 0 => 2 + u64::from(exponent % 2 != 0),
                    Err(_) => return 0,
                };
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                result
            }
        }

        impl OrderedNumber for $type {
            #[inline(always)] fn rest(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)] fn floored(self) -> $type { self }
            #[inline(always)] fn truncated(self) -> $type { self }
        }

        impl Integer for $type {
            #[inline(always)] fn and(self, other: $type) -> $type { self & other }
            #[inline(always)] fn or(self, other: $type) -> $type { self | other }
            #[inline(always)] fn xor(self, other: $type) -> $type { self ^ other }
            #[inline(always)] fn not(self) -> $type { !self }
            #[inline(always)] fn left(self, other: $type) -> $type {
                if (0..64).contains(&other) { self << other } else { 0 }
            }
            #[inline(always)] fn right(self, other: $type) -> $type {
                if (0..64).contains(&other) { self >> other } else { self >> 63 }
            }
            #[inline(always)] fn gcd(self, other: $type) -> $type {
                let (mut a, mut b) = (self, other);
                while b != 0 {
                    (a, b) = (b, a.wrapping_rem(b));
                }
                ($positive)(a)
            }
        }
    )*};
}

integers! {
    i64, i64::wrapping_abs;
    u64, |value: u64| value;
}

macro_rules! complex {
    ($($type:ident, $part:ident;)*) => {$(
        impl Num for $type {
            #[inline(always)] fn of(value: f64) -> $type { $type::new(value as $part, 0.0) }
            #[inline(always)] fn plus(self, other: $type) -> $type { self + other }
            #[inline(always)] fn minus(self, other: $type) -> $type { self - other }
            #[inline(always)] fn times(self, other: $type) -> $type { self * other }
            #[inline(always)] fn over(self, other: $type) -> $type { self / other }
            #[inline(always)] fn negated(self) -> $type { self.neg() }

            /// Small integer powers are products, so that they have no rounding of logarithms.
            #[inline(always)]
            fn power(self, exponent: $type) -> $type {
                if exponent.im == 0.0 && exponent.re == exponent.re.trunc() && exponent.re.abs() <= 64.0 {
                    return self.powi(exponent.re as i32);
                }
                self.powc(exponent)
            }
        }
    )*};
}

complex! { C64, f32; C128, f64; }

macro_rules! analytic {
    (real $($type:ty),*; $($name:ident = $real:ident $complex:ident;)*) => {
        impl<const FUSED: bool> Analytic for Fast<FUSED> {
            $(#[inline(always)] fn $name(self) -> Self { Float::$real(self) })*
            #[inline(always)] fn conjugated(self) -> Self { self }
        }

        impl Analytic for f64 {
            $(#[inline(always)] fn $name(self) -> Self { Float::$real(self) })*
            #[inline(always)] fn conjugated(self) -> Self { self }
        }

        $(impl_complex! { $type; })*
    };
}

macro_rules! impl_complex {
    ($type:ty;) => {
        impl Analytic for $type {
            impl_complex! { @ a_exp exp; a_log ln; a_sqrt sqrt; a_sin sin; a_cos cos; a_tan tan; a_asin asin; a_acos acos;
                a_atan atan; a_sinh sinh; a_cosh cosh; a_tanh tanh; a_asinh asinh; a_acosh acosh; a_atanh atanh; }
        }
    };
    (@ $($name:ident $complex:ident;)*) => {
        $(#[inline(always)] fn $name(self) -> Self { self.$complex() })*
        #[inline(always)] fn conjugated(self) -> Self { self.conj() }
    };
}

analytic! { real C64, C128;
    a_exp = exp exp; a_log = ln ln; a_sqrt = sqrt sqrt; a_sin = sin sin; a_cos = cos cos; a_tan = tan tan;
    a_asin = asin asin; a_acos = acos acos; a_atan = atan atan; a_sinh = sinh sinh; a_cosh = cosh cosh;
    a_tanh = tanh tanh; a_asinh = asinh asinh; a_acosh = acosh acosh; a_atanh = atanh atanh;
}
