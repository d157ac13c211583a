//! Floating-point numbers of the two types that functions of analysis are written for.

/// A floating-point type that the mathematical functions are written for: float32 and float64.
#[allow(missing_docs, reason = "the functions are known by their names")]
pub trait Float:
    Copy
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    /// Returns the number in float64.
    fn to_f64(self) -> f64;
    fn abs(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn erf(self) -> Self;
    fn erfc(self) -> Self;

    /// Returns the distribution function of the normal distribution.
    #[inline(always)]
    fn normal_cdf(self) -> Self
    where
        Self: std::ops::Add<Output = Self> + std::ops::Mul<Output = Self>,
    {
        let scaled = self * Self::of(std::f64::consts::FRAC_1_SQRT_2);
        Self::of(0.5) * (Self::of(1.0) + scaled.erf())
    }
}

macro_rules! float {
    ($($type:ident, $erf:path, $erfc:path, $asinh:path, $acosh:path, $atanh:path;)*) => {$(
        impl Float for $type {
            #[inline(always)] fn of(value: f64) -> $type { value as $type }
            #[inline(always)] fn to_f64(self) -> f64 { self.into() }
            #[inline(always)] fn erf(self) -> $type { $erf(self) }
            #[inline(always)] fn erfc(self) -> $type { $erfc(self) }
            // Those of the standard library overflow for large numbers, and lose digits near 1 and -1.
            #[inline(always)] fn asinh(self) -> $type { $asinh(self) }
            #[inline(always)] fn acosh(self) -> $type {
                // libm's is a number below -1, where there is none.
                if self < 1.0 { $type::NAN } else { $acosh(self) }
            }
            #[inline(always)] fn atanh(self) -> $type { $atanh(self) }
            float! { @same $type: abs sqrt exp exp_m1 ln ln_1p sin cos tan asin acos atan sinh cosh tanh
                floor ceil round_ties_even }
            #[inline(always)] fn is_nan(self) -> bool { $type::is_nan(self) }
            #[inline(always)] fn is_infinite(self) -> bool { $type::is_infinite(self) }
        }
    )*};
    (@same $type:ident: $($name:ident)*) => {
        $(#[inline(always)] fn $name(self) -> $type { $type::$name(self) })*
    };
}

float! {
    f32, libm::erff, libm::erfcf, libm::asinhf, libm::acoshf, libm::atanhf;
    f64, libm::erf, libm::erfc, libm::asinh, libm::acosh, libm::atanh;
}

#[cfg(test)]
mod tests {
    use super::Float;

    /// Compares with values that were computed with 50 digits.
    #[test]
    fn inverse_hyperbolic_functions_keep_their_digits_near_1_and_do_not_overflow() {
        let near = |found: f32, wanted: f64| {
            assert!(
                (f64::from(found) - wanted).abs() <= 3e-7 * wanted.abs(),
                "{found} is not {wanted}"
            );
        };
        near(Float::acosh(1.006_269_7_f32), 0.111_920_979);
        near(Float::acosh(f32::MAX), 89.415_986_232_628_3);
        near(Float::asinh(f32::MIN), -89.415_986_232_628_3);
        near(Float::atanh(-0.987_363_4_f32), -2.528_983_298_058_9);
        near(Float::atanh(0.987_363_4_f32), 2.528_983_298_058_9);
        for none in [-1.0, -1.5, -128.0, -1e30, f32::NEG_INFINITY, 0.999] {
            assert!(Float::acosh(none).is_nan(), "acosh({none})");
            assert!(Float::acosh(f64::from(none)).is_nan(), "acosh({none})");
        }
        let large = Float::asinh(f64::MIN);
        assert!((large + 710.475_860_073_944).abs() < 1e-9, "{large}");
    }
}
