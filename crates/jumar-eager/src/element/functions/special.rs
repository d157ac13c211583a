//! Special functions and tests of floats.

use jumar_ops::math::Float;

use super::super::number::Real;
use super::arithmetic::max;
use super::k;

/// The inverse of the error function: an approximation (Giles), and steps of Newton's method.
#[inline(always)]
pub(super) fn erfinv<A: Real>(x: A) -> A {
    let size = Float::abs(x);
    if size > k(1.0) {
        return k(f64::NAN);
    }
    if size == k(1.0) {
        return x * k(f64::INFINITY);
    }
    let w = -Float::ln((k::<A>(1.0) - x) * (k::<A>(1.0) + x));
    let polynomial = |coefficients: [f64; 9], w: A| {
        coefficients
            .iter()
            .fold(k::<A>(0.0), |sum, &coefficient| sum * w + k(coefficient))
    };
    let p = if w < k(5.0) {
        polynomial(
            [
                2.810_226_36e-8,
                3.432_739_39e-7,
                -3.523_387_7e-6,
                -4.391_506_54e-6,
                0.000_218_580_87,
                -0.001_253_725_03,
                -0.004_177_681_64,
                0.246_640_727,
                1.501_409_41,
            ],
            w - k(2.5),
        )
    } else {
        polynomial(
            [
                -0.000_200_214_257,
                0.000_100_950_558,
                0.001_349_343_22,
                -0.003_673_428_44,
                0.005_739_507_73,
                -0.007_622_461_3,
                0.009_438_870_47,
                1.001_674_06,
                2.832_976_82,
            ],
            Float::sqrt(w) - k(3.0),
        )
    };
    let mut y = p * size;
    // The approximation has digits for numbers of float32; next to 1 in double precision it is off by some percent.
    let steps = if size_of::<A>() > 4 { 6 } else { 3 };
    for _ in 0..steps {
        // The slope of erf is 2 / sqrt(pi) * exp(-y^2).
        let slope = k::<A>(std::f64::consts::FRAC_2_SQRT_PI) * Float::exp(-(y * y));
        // Near 1, erf has no digits left, and its complement has all of them. The logarithm of that is nearly a parabola, on which Newton's method is fast.
        let off = if size < k(0.5) {
            Float::erf(y) - size
        } else {
            let (left, held) = (k::<A>(1.0) - size, Float::erfc(y));
            -Float::ln(held / left) * held
        };
        if slope > k(0.0) {
            y = y - off / slope;
        }
    }
    if x.is_negative() { -y } else { y }
}

#[inline(always)]
pub(super) fn frac<A: Real>(x: A) -> A {
    x - x.truncated()
}

/// Rounds at a power of ten: to this many digits after the point, or before it.
#[inline(always)]
pub(super) fn round_to<A: Real>(x: A, digits: A) -> A {
    let power: A = k::<A>(10.0).power(Float::abs(digits));
    if digits < k(0.0) {
        Float::round_ties_even(x / power) * power
    } else {
        Float::round_ties_even(x * power) / power
    }
}

#[inline(always)]
pub(super) fn sinc<A: Real>(x: A) -> A {
    let angle = x * k(std::f64::consts::PI);
    if x == k(0.0) {
        k(1.0)
    } else {
        Float::sin(angle) / angle
    }
}

#[inline(always)]
pub(super) fn logit<A: Real>(x: A) -> A {
    Float::ln(x / (k::<A>(1.0) - x))
}

#[inline(always)]
pub(super) fn logit_clamped<A: Real>(x: A, eps: A) -> A {
    let (low, high) = (eps, k::<A>(1.0) - eps);
    // Of an eps above one half, the lower limit is the greater one. It wins below it.
    logit(if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    })
}

/// A negative `eps` means that nothing was clamped.
#[inline(always)]
pub(super) fn logit_backward<A: Real>(x: A, gradient: A, eps: A) -> A {
    let one = k::<A>(1.0);
    if eps < k(0.0) {
        if x < k(0.0) || x > one {
            return k(f64::NAN);
        }
    } else if x < eps || x > one - eps {
        return k(0.0);
    }
    gradient / (x * (one - x))
}

#[inline(always)]
pub(super) fn nan_to_num<A: Real>(x: A, nan: A, positive: A, negative: A) -> A {
    if Float::is_nan(x) {
        nan
    } else if x == k(f64::INFINITY) {
        positive
    } else if x == k(f64::NEG_INFINITY) {
        negative
    } else {
        x
    }
}

#[inline(always)]
pub(super) fn signbit<A: Real>(x: A) -> A {
    A::of_bool(x.is_negative())
}

#[inline(always)]
pub(super) fn is_finite<A: Real>(x: A) -> A {
    A::of_bool(!Float::is_nan(x) && !Float::is_infinite(x))
}

#[inline(always)]
pub(super) fn is_inf<A: Real>(x: A) -> A {
    A::of_bool(Float::is_infinite(x))
}

#[inline(always)]
pub(super) fn is_pos_inf<A: Real>(x: A) -> A {
    A::of_bool(x == k(f64::INFINITY))
}

#[inline(always)]
pub(super) fn is_neg_inf<A: Real>(x: A) -> A {
    A::of_bool(x == k(f64::NEG_INFINITY))
}

#[inline(always)]
pub(super) fn is_close<A: Real>(a: A, b: A, relative: A, absolute: A, equal_nan: A) -> A {
    if a == b {
        return k(1.0);
    }
    if Float::is_nan(a) || Float::is_nan(b) {
        return A::of_bool(equal_nan.to_bool() && Float::is_nan(a) && Float::is_nan(b));
    }
    let distance = Float::abs(a - b);
    let allowed = absolute + Float::abs(relative * b);
    A::of_bool(!Float::is_infinite(distance) && distance <= allowed)
}

#[inline(always)]
pub(super) fn log_add_exp<A: Real>(a: A, b: A) -> A {
    // Equal infinities have no difference.
    if Float::is_infinite(a) && a == b {
        return a;
    }
    max(a, b) + Float::ln_1p(Float::exp(-Float::abs(a - b)))
}

#[inline(always)]
pub(super) fn log_add_exp2<A: Real>(a: A, b: A) -> A {
    if Float::is_infinite(a) && a == b {
        return a;
    }
    let log2_e = k::<A>(std::f64::consts::LOG2_E);
    max(a, b) + Float::ln_1p(Real::exp2(-Float::abs(a - b))) * log2_e
}

#[inline(always)]
pub(super) fn xlogy<A: Real>(x: A, y: A) -> A {
    if Float::is_nan(y) {
        y
    } else if x == k(0.0) {
        k(0.0)
    } else {
        x * Float::ln(y)
    }
}

#[inline(always)]
pub(super) fn angle<A: Real>(x: A) -> A {
    if Float::is_nan(x) {
        x
    } else if x < k(0.0) {
        k(std::f64::consts::PI)
    } else {
        k(0.0)
    }
}

/// Recurrence up to 10, then the asymptotic series; the reflection formula below 0.
#[inline(always)]
pub(super) fn digamma<A: Real>(x: A) -> A {
    if x == k(0.0) {
        return if x.is_negative() {
            k(f64::INFINITY)
        } else {
            k(f64::NEG_INFINITY)
        };
    }
    let (mut x, mut result) = (x, k::<A>(0.0));
    if x < k(0.0) {
        if x == x.truncated() {
            return k(f64::NAN);
        }
        let pi = k::<A>(std::f64::consts::PI);
        result = result - pi / Float::tan(pi * (x - x.truncated()));
        x = k::<A>(1.0) - x;
    }
    while x < k(10.0) {
        result = result - k::<A>(1.0) / x;
        x = x + k(1.0);
    }
    let z = k::<A>(1.0) / (x * x);
    let series = [
        8.333_333_333_333_333e-2,
        -2.109_279_609_279_609_3e-2,
        7.575_757_575_757_576e-3,
        -4.166_666_666_666_667e-3,
        3.968_253_968_253_968e-3,
        -8.333_333_333_333_333e-3,
        8.333_333_333_333_333e-2,
    ]
    .iter()
    .fold(k::<A>(0.0), |sum, &coefficient| sum * z + k(coefficient));
    result + Float::ln(x) - k::<A>(0.5) / x - z * series
}
