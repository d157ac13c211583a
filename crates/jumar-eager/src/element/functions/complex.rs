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
    fn exp2(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sinc(self) -> Self;
    fn log_add_exp(self, other: Self) -> Self;
    fn is_close(self, other: Self, relative: Self, absolute: Self, equal_nan: Self) -> Self;
}

/// `e^x - 1`, without the cancellation near 0.
fn exp_m1(x: C128) -> C128 {
    let half = (x.im / 2.0).sin();
    let real = x.re.exp_m1() * x.im.cos() - 2.0 * half * half;
    C128::new(real, x.re.exp() * x.im.sin())
}

/// `ln(1 + x)`, without the cancellation near 0.
fn ln_1p(x: C128) -> C128 {
    let angle = x.im.atan2(1.0 + x.re);
    // Near 0 the size of 1 + x is 1 and a little, which a sum would round away.
    let real = match x.norm() < 0.5 {
        true => 0.5 * (x.re * (2.0 + x.re) + x.im * x.im).ln_1p(),
        false => (x + 1.0).norm().ln(),
    };
    C128::new(real, angle)
}

/// `sin(pi x) / (pi x)`.
fn sinc(x: C128) -> C128 {
    match x == C128::new(0.0, 0.0) {
        true => C128::new(1.0, 0.0),
        false => {
            let angle = x * std::f64::consts::PI;
            angle.sin() / angle
        }
    }
}

/// `ln(e^x + e^y)`, relative to the number with the larger real part.
fn log_add_exp(x: C128, y: C128) -> C128 {
    let (small, large) = match x.re < y.re {
        true => (x, y),
        false => (y, x),
    };
    if x.is_nan() || y.is_nan() {
        return C128::new(f64::NAN, f64::NAN);
    }
    if !small.re.is_finite() && small.re == large.re {
        return match small.re < 0.0 {
            true => small,
            false => (small.exp() + large.exp()).ln(),
        };
    }
    ln_1p((small - large).exp()) + large
}

fn is_close(x: C128, y: C128, relative: f64, absolute: f64, equal_nan: bool) -> bool {
    if x == y || (equal_nan && x.is_nan() && y.is_nan()) {
        return true;
    }
    let distance = (x - y).norm();
    distance.is_finite() && distance <= absolute + (relative * y.norm()).abs()
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
            complex_only! { @wide $type: exp2 C128::exp2; log2 C128::log2; log10 C128::log10; exp_m1 exp_m1; ln_1p ln_1p; sinc sinc; }
            fn log_add_exp(self, other: Self) -> Self { <$type>::rounded(log_add_exp(self.wide(), other.wide())) }
            fn is_close(self, other: Self, relative: Self, absolute: Self, equal_nan: Self) -> Self {
                let (relative, absolute) = (relative.wide().re, absolute.wide().re);
                Self::of_bool(is_close(self.wide(), other.wide(), relative, absolute, Num::to_bool(equal_nan)))
            }
        }
    )*};
    // Functions whose steps would lose digits in the parts' own type.
    (@wide $type:ident: $($name:ident $path:path;)*) => {
        $(fn $name(self) -> Self { <$type>::rounded($path(self.wide())) })*
    };
}

/// Conversion to and from two binary64 numbers.
trait Wide {
    fn wide(self) -> C128;
    fn rounded(wide: C128) -> Self;
}

impl Wide for C64 {
    #[inline(always)]
    fn wide(self) -> C128 {
        C128::new(f64::from(self.re), f64::from(self.im))
    }

    #[inline(always)]
    fn rounded(wide: C128) -> C64 {
        C64::new(wide.re as f32, wide.im as f32)
    }
}

impl Wide for C128 {
    #[inline(always)]
    fn wide(self) -> C128 {
        self
    }

    #[inline(always)]
    fn rounded(wide: C128) -> C128 {
        wide
    }
}

complex_only! { C64 C128 }
