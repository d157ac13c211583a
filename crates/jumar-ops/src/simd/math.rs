//! Functions of float32 without branches, so that loops over them become vector instructions.
//!
//! Each polynomial was fitted to its function for the least largest error, in extended precision. Against float64 the
//! results are at most two units in the last place away; the test measures it over every exponent.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::float::Float;

/// A float32 whose functions are written here. `FUSED`: a product and a sum are one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Fast<const FUSED: bool>(
    /// The number.
    pub f32,
);

/// Added and taken away again, it leaves a small number rounded to a whole one, which its low bits hold meanwhile.
const ROUNDER: f32 = 12_582_912.0;
/// The logarithm of 2 in two parts; products of the first with small integers are exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

#[inline(always)]
fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The value of a polynomial; the highest coefficient comes first.
#[inline(always)]
fn polynomial<const FUSED: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    let mut index = 1;
    while index < N {
        sum = fma::<FUSED>(sum, x, coefficients[index]);
        index += 1;
    }
    sum
}

/// The value of a polynomial with an even number of coefficients, as [`polynomial`]. Even and odd powers are added side by side: a long
/// polynomial waits for half as many results.
#[inline(always)]
fn polynomial_in_halves<const FUSED: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    const { assert!(N.is_multiple_of(2)) };
    let square = x * x;
    let (mut odd, mut even) = (coefficients[0], coefficients[1]);
    let mut index = 2;
    while index < N {
        odd = fma::<FUSED>(odd, square, coefficients[index]);
        even = fma::<FUSED>(even, square, coefficients[index + 1]);
        index += 2;
    }
    fma::<FUSED>(odd, x, even)
}

/// Two to a whole power between -126 and 127.
#[inline(always)]
fn power_of_two(k: i32) -> f32 {
    f32::from_bits((k.wrapping_add(127) << 23) as u32)
}

/// Returns `e^r - 1` and `k`, where `x = k ln 2 + r`.
#[inline(always)]
fn exp_parts<const FUSED: bool>(x: f32) -> (f32, i32) {
    let shifted = fma::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDER);
    let n = shifted - ROUNDER;
    let k = (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let r = fma::<FUSED>(n, -LN2_LOW, fma::<FUSED>(n, -LN2_HIGH, x));
    // Off by a twentieth of a unit at most.
    let p = polynomial::<FUSED, 5>(
        r,
        [
            1.381_459_9e-3,
            8.368_717e-3,
            4.166_839e-2,
            0.166_665_2,
            0.499_999_94,
        ],
    );
    (fma::<FUSED>(p, r * r, r), k)
}

/// Multiplies by a power of two that may be outside what one number holds.
#[inline(always)]
fn scaled(x: f32, k: i32) -> f32 {
    let half = k >> 1;
    x * power_of_two(half) * power_of_two(k.wrapping_sub(half))
}

#[inline(always)]
fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Beyond these bounds the result is infinite or zero in any case.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -105.0 { -105.0 } else { x };
    let (e, k) = exp_parts::<FUSED>(x);
    scaled(1.0 + e, k)
}

/// The exponential of a number below 88. One factor brings in the power of two, so that results below the normal numbers are zero.
#[inline(always)]
fn exp_below_88<const FUSED: bool>(x: f32) -> f32 {
    let (e, k) = exp_parts::<FUSED>(x);
    let scale = power_of_two(k);
    let result = fma::<FUSED>(e, scale, scale);
    if x < -87.0 { 0.0 } else { result }
}

impl<const FUSED: bool> Fast<FUSED> {
    /// Returns the exponential of a number below 88, in less time than [`exp`](Float::exp). Of a number below -87 it is zero.
    #[inline(always)]
    pub fn exp_below_88(self) -> Self {
        Fast(exp_below_88::<FUSED>(self.0))
    }
}

#[inline(always)]
fn exp_m1<const FUSED: bool>(x: f32) -> f32 {
    let bounded = if x > 89.0 { 89.0 } else { x };
    let bounded = if bounded < -40.0 { -40.0 } else { bounded };
    let (e, k) = exp_parts::<FUSED>(bounded);
    let scale = power_of_two(k);
    let near = fma::<FUSED>(scale, e, scale - 1.0);
    let result = if x > 20.0 { scaled(1.0 + e, k) } else { near };
    result.copysign(x)
}

#[inline(always)]
fn ln<const FUSED: bool>(x: f32) -> f32 {
    // Numbers below the normal ones are brought up.
    let small = x < f32::MIN_POSITIVE;
    let y = if small { x * 8_388_608.0 } else { x };
    let bits = y.to_bits() as i32;
    // The mantissa lies between the root of a half and the root of two.
    let k = bits.wrapping_sub(0x3f35_04f3) >> 23;
    let f = f32::from_bits(bits.wrapping_sub(k << 23) as u32) - 1.0;
    let k = if small { k.wrapping_sub(23) } else { k } as f32;
    let p = polynomial::<FUSED, 9>(
        f,
        [
            6.915_595_4e-2,
            -0.117_940_92,
            0.118_750_76,
            -0.123_838,
            0.142_183_26,
            -0.166_692_7,
            0.200_022_43,
            -0.249_999_87,
            0.333_333_1,
        ],
    );
    let square = f * f;
    let rest = fma::<FUSED>(-0.5, square, fma::<FUSED>(k, LN2_LOW, square * f * p));
    let result = fma::<FUSED>(k, LN2_HIGH, f + rest);
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    let result = if x == f32::INFINITY { x } else { result };
    // Not-a-number is no less than zero, and stays through this.
    if x >= 0.0 { result } else { f32::NAN }
}

#[inline(always)]
fn ln_1p<const FUSED: bool>(x: f32) -> f32 {
    let sum = 1.0 + x;
    // What the sum has lost of x, to first order.
    let lost = (x - (sum - 1.0)) / sum;
    let log = ln::<FUSED>(sum);
    let result = if lost.is_finite() { log + lost } else { log };
    result.copysign(x)
}

#[inline(always)]
fn tanh<const FUSED: bool>(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let p = polynomial::<FUSED, 6>(
        square,
        [
            2.147_537e-3,
            -8.182_674e-3,
            2.170_296_8e-2,
            -5.394_720_3e-2,
            0.133_332_1,
            -0.333_333_3,
        ],
    );
    let near = fma::<FUSED>(x * square, p, x);
    let bounded = if size > 10.0 { 10.0 } else { size };
    let far = 1.0 - 2.0 / (exp_below_88::<FUSED>(2.0 * bounded) + 1.0);
    if size < 0.625 { near } else { far.copysign(x) }
}

#[inline(always)]
fn erf<const FUSED: bool>(x: f32) -> f32 {
    let size = x.abs();
    let near = polynomial::<FUSED, 8>(
        x * x,
        [
            -9.680_137e-6,
            1.127_054_5e-4,
            -8.484_711e-4,
            5.221_075e-3,
            -2.686_544_5e-2,
            0.112_837_83,
            -0.376_126_38,
            0.128_379_17,
        ],
    );
    let near = fma::<FUSED>(x, near, x);
    // Minus the logarithm of what is missing to one.
    let bounded = if size > 4.0 { 4.0 } else { size };
    let missing = polynomial::<FUSED, 8>(
        bounded,
        [
            2.168_685e-5,
            -4.413_363_6e-4,
            4.204_562e-3,
            -2.520_825_7e-2,
            0.108_418_58,
            0.633_219_9,
            1.129_578_5,
            -1.880_402_3e-4,
        ],
    );
    let far = 1.0 - exp_below_88::<FUSED>(-missing);
    if size < 1.0 { near } else { far.copysign(x) }
}

/// The distribution function of the normal distribution. Below -5.65 it is zero.
#[inline(always)]
fn normal_cdf<const FUSED: bool>(x: f32) -> f32 {
    const LIMIT: f32 = 5.65;
    let size = x.abs();
    let bounded = if size > LIMIT { LIMIT } else { size };
    // Minus the logarithm, to base 2, of what is beyond the size.
    let p = polynomial_in_halves::<FUSED, 10>(
        bounded,
        [
            1.594_151e-8,
            -5.138_701_3e-7,
            7.088_299_4e-6,
            -5.262_237_3e-5,
            1.924_992_5e-4,
            1.938_536_1e-4,
            -7.204_256_5e-3,
            5.263_352_8e-2,
            0.459_149_36,
            1.151_114_3,
        ],
    );
    // The last step alone decides how exact the result is.
    let p = fma::<FUSED>(p, bounded, 0.999_999_76);
    let shifted = ROUNDER - p;
    let k = (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let r = (ROUNDER - shifted) - p;
    let power = polynomial::<FUSED, 6>(
        r,
        [
            1.340_998_4e-3,
            9.676_036e-3,
            5.550_297_3e-2,
            0.240_221_07,
            0.693_147_24,
            1.0,
        ],
    );
    let beyond = power * power_of_two(k);
    let beyond = if size > LIMIT { 0.0 } else { beyond };
    if x < 0.0 { beyond } else { 1.0 - beyond }
}

/// Up to this size of an argument [`Fast::sin_near`] and [`Fast::cos_near`] are as exact as the other functions.
pub const NEAR: f32 = 100_000.0;
/// A quarter of a turn in three parts, each the float32 that is nearest to what the others leave.
const QUARTER: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_124_5e-15];
/// A quarter of a turn in two parts. Products of the first with integers of 20 bits are exact in float64.
const QUARTER_HIGH: f64 = 1.570_796_326_734_125_6;
const QUARTER_LOW: f64 = 6.077_100_506_506_192e-11;

/// Returns the angle that is left of `x` after whole quarters of a turn, and their number.
#[inline(always)]
fn quarters<const FUSED: bool>(x: f32) -> (f32, i32) {
    let shifted = fma::<FUSED>(x, std::f32::consts::FRAC_2_PI, ROUNDER);
    let n = shifted - ROUNDER;
    let k = (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32);
    let [high, middle, low] = QUARTER;
    let rest = if FUSED {
        // The first difference is exact, the others are rounded to their own size.
        let rest = n.mul_add(-middle, n.mul_add(-high, x));
        n.mul_add(-low, rest)
    } else {
        let (x, n) = (f64::from(x), f64::from(n));
        (x - n * QUARTER_HIGH - n * QUARTER_LOW) as f32
    };
    (rest, k)
}

/// Returns the sine of an angle of at most an eighth of a turn, after `k` quarters.
#[inline(always)]
fn sine_after<const FUSED: bool>(x: f32, k: i32) -> f32 {
    let square = x * x;
    let p = polynomial::<FUSED, 3>(square, [-1.951_084e-4, 8.332_131e-3, -0.166_666_54]);
    let sine = fma::<FUSED>(x * square, p, x);
    let p = polynomial::<FUSED, 3>(square, [2.445_709_5e-5, -1.388_760_4e-3, 4.166_665_3e-2]);
    let cosine = fma::<FUSED>(square * square, p, fma::<FUSED>(-0.5, square, 1.0));
    let value = if k & 1 == 0 { sine } else { cosine };
    f32::from_bits(value.to_bits() ^ (k as u32 & 2) << 30)
}

impl<const FUSED: bool> Fast<FUSED> {
    /// Returns the sine of a number that is at most [`NEAR`] from zero. Of others the result is not defined.
    #[inline(always)]
    pub fn sin_near(self) -> Self {
        let (rest, k) = quarters::<FUSED>(self.0);
        let sine = sine_after::<FUSED>(rest, k);
        // -0.0 stays what it is.
        Fast(if self.0 == 0.0 { self.0 } else { sine })
    }

    /// Returns the cosine of a number that is at most [`NEAR`] from zero. Of others the result is not defined.
    #[inline(always)]
    pub fn cos_near(self) -> Self {
        let (rest, k) = quarters::<FUSED>(self.0);
        Fast(sine_after::<FUSED>(rest, k.wrapping_add(1)))
    }
}

impl<const FUSED: bool> PartialEq for Fast<FUSED> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<const FUSED: bool> PartialOrd for Fast<FUSED> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.0 < other.0
    }

    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.0 <= other.0
    }

    #[inline(always)]
    fn gt(&self, other: &Self) -> bool {
        self.0 > other.0
    }

    #[inline(always)]
    fn ge(&self, other: &Self) -> bool {
        self.0 >= other.0
    }
}

macro_rules! arithmetic {
    ($($trait:ident, $name:ident, $sign:tt;)*) => {$(
        impl<const FUSED: bool> $trait for Fast<FUSED> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Fast(self.0 $sign other.0)
            }
        }
    )*};
}

arithmetic! { Add, add, +; Sub, sub, -; Mul, mul, *; Div, div, /; }

impl<const FUSED: bool> Neg for Fast<FUSED> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Fast(-self.0)
    }
}

macro_rules! functions {
    (here: $($own:ident)*; scalar: $($name:ident)*) => {
        impl<const FUSED: bool> Float for Fast<FUSED> {
            #[inline(always)]
            fn of(value: f64) -> Self {
                Fast(value as f32)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.0.into()
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.0.is_nan()
            }

            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.0.is_infinite()
            }

            #[inline(always)]
            fn erfc(self) -> Self {
                Fast(libm::erfcf(self.0))
            }

            $(#[inline(always)] fn $own(self) -> Self { Fast($own::<FUSED>(self.0)) })*
            $(#[inline(always)] fn $name(self) -> Self { Fast(Float::$name(self.0)) })*
        }
    };
}

functions! {
    here: exp exp_m1 ln ln_1p tanh erf normal_cdf;
    scalar: abs sqrt sin cos tan asin acos atan sinh cosh asinh acosh atanh floor ceil round_ties_even
}

#[cfg(test)]
mod tests {
    use crate::simd::wide::{Work, wide_at};
    use crate::simd::{Level, levels};

    trait Function: Copy {
        fn fast<const FUSED: bool>(self, x: f32) -> f32;
    }

    struct Each<'a, F>(F, &'a mut [f32]);

    impl<F: Function> Work for Each<'_, F> {
        type Output = ();

        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            for x in self.1 {
                *x = self.0.fast::<FUSED>(*x);
            }
        }
    }

    /// Every sign and exponent, with many mantissas: their first, their last, and a walk between.
    fn all_exponents() -> Vec<f32> {
        let mut numbers = Vec::new();
        for high in 0..512u32 {
            for step in 0..701u32 {
                let mantissa = step.wrapping_mul(11_983) & 0x7f_ffff;
                numbers.push(f32::from_bits(high << 23 | mantissa));
            }
            numbers.push(f32::from_bits(high << 23 | 0x7f_ffff));
        }
        numbers
    }

    /// The distance in units of the last place of what is wanted.
    fn distance(found: f32, wanted: f64) -> f64 {
        let nearest = wanted as f32;
        if nearest.is_nan() || found.is_nan() {
            return if nearest.is_nan() && found.is_nan() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        if nearest == found {
            return 0.0;
        }
        if nearest.is_infinite() || found.is_infinite() {
            return f64::INFINITY;
        }
        let size = (nearest.abs().to_bits().max(0x0080_0000)) & 0x7f80_0000;
        let unit = f64::from(f32::from_bits(size)) * f64::from(f32::EPSILON);
        (f64::from(found) - wanted).abs() / unit
    }

    fn worst<F: Function>(level: Level, function: F, exact: fn(f64) -> f64) -> (f64, f32) {
        let numbers = all_exponents();
        let mut found = numbers.clone();
        wide_at(level, Each(function, &mut found));
        let mut worst = (0.0, 0.0);
        for (&x, &found) in numbers.iter().zip(&found) {
            let own = distance(found, exact(f64::from(x)));
            if own > worst.0 {
                worst = (own, x);
            }
        }
        worst
    }

    macro_rules! accurate {
        ($($name:ident: $exact:expr, $fused:expr, $plain:expr;)*) => {$(
            #[test]
            fn $name() {
                #[derive(Clone, Copy)]
                struct Own;
                impl Function for Own {
                    #[inline(always)]
                    fn fast<const FUSED: bool>(self, x: f32) -> f32 {
                        super::$name::<FUSED>(x)
                    }
                }
                for level in levels() {
                    let bound = if level == Level::Portable { $plain } else { $fused };
                    let (worst, at) = worst(level, Own, $exact);
                    assert!(worst <= bound, "{level:?}: {worst} units at {at:e}");
                }
            }
        )*};
    }

    accurate! {
        exp: f64::exp, 1.5, 2.0;
        exp_m1: f64::exp_m1, 2.0, 3.0;
        ln: f64::ln, 1.5, 2.0;
        ln_1p: f64::ln_1p, 2.0, 2.5;
        tanh: f64::tanh, 2.0, 2.5;
        erf: libm::erf, 2.0, 2.5;
    }

    #[test]
    fn exponentials_below_88_are_accurate_and_become_zero() {
        #[derive(Clone, Copy)]
        struct Own;
        impl Function for Own {
            #[inline(always)]
            fn fast<const FUSED: bool>(self, x: f32) -> f32 {
                super::exp_below_88::<FUSED>(x)
            }
        }
        let mut numbers = all_exponents();
        numbers.extend((-88_000..88_000).map(|at| at as f32 / 1000.0));
        numbers.retain(|&x| x < 88.0 || x.is_nan());
        for level in levels() {
            let bound = if level == Level::Portable { 2.0 } else { 1.5 };
            let mut found = numbers.clone();
            wide_at(level, Each(Own, &mut found));
            for (&x, &found) in numbers.iter().zip(&found) {
                if x < -87.0 {
                    assert_eq!(found, 0.0, "{level:?} at {x:e}");
                    continue;
                }
                let units = distance(found, f64::from(x).exp());
                assert!(units <= bound, "{level:?}: {units} units at {x:e}");
            }
        }
    }

    #[test]
    fn the_normal_distribution_is_accurate() {
        #[derive(Clone, Copy)]
        struct Own;
        impl Function for Own {
            #[inline(always)]
            fn fast<const FUSED: bool>(self, x: f32) -> f32 {
                super::normal_cdf::<FUSED>(x)
            }
        }
        let mut numbers = all_exponents();
        numbers.extend((-6000..6000).map(|at| at as f32 / 1000.0));
        for level in levels() {
            let mut found = numbers.clone();
            wide_at(level, Each(Own, &mut found));
            for (&x, &found) in numbers.iter().zip(&found) {
                let wanted = libm::erfc(-f64::from(x) / std::f64::consts::SQRT_2) / 2.0;
                let error = (f64::from(found) - wanted).abs();
                // Where little is left, the error is small relative to it, down to 1e-8.
                let bound = (4e-6 * wanted).clamp(1e-8, 2e-7);
                let is_near = error <= bound || (x.is_nan() && found.is_nan());
                assert!(is_near, "{level:?}: {found:e}, not {wanted:e}, at {x:e}");
            }
        }
    }

    #[test]
    fn sine_and_cosine_are_accurate_near_zero() {
        #[derive(Clone, Copy)]
        struct Near<const SINE: bool>;
        impl<const SINE: bool> Function for Near<SINE> {
            #[inline(always)]
            fn fast<const FUSED: bool>(self, x: f32) -> f32 {
                let x = super::Fast::<FUSED>(x);
                if SINE { x.sin_near().0 } else { x.cos_near().0 }
            }
        }
        let exponents = all_exponents().into_iter();
        let mut numbers: Vec<f32> = exponents.filter(|x| x.abs() <= super::NEAR).collect();
        // Next to multiples of a quarter of a turn most of the argument cancels out.
        let last = (f64::from(super::NEAR) / std::f64::consts::FRAC_PI_2) as i32 - 1;
        for quarter in -last..=last {
            let near = (f64::from(quarter) * std::f64::consts::FRAC_PI_2) as f32;
            numbers.extend([near.next_down(), near, near.next_up()]);
        }
        for level in levels() {
            for (exact, sine) in [(f64::sin as fn(f64) -> f64, true), (f64::cos, false)] {
                let mut found = numbers.clone();
                match sine {
                    true => wide_at(level, Each(Near::<true>, &mut found)),
                    false => wide_at(level, Each(Near::<false>, &mut found)),
                }
                for (&x, &found) in numbers.iter().zip(&found) {
                    let units = distance(found, exact(f64::from(x)));
                    assert!(units <= 2.0, "{level:?}: {units} units at {x:e}");
                    let is_zero = x == 0.0 && sine;
                    assert!(!is_zero || found.to_bits() == x.to_bits());
                }
            }
        }
    }
}
