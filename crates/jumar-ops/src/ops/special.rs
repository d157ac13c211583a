//! Special functions, computed in float64 from series, continued fractions and asymptotic expansions.

use std::cmp::Ordering;
use std::f64::consts::{FRAC_2_SQRT_PI, FRAC_PI_2, PI, SQRT_2, TAU};

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{
    PairFunction, RealFunction, infer_pair, infer_same, pair, real_map,
};
use crate::kernels::generic::generic_kernel_in;
use crate::kernels::number::Number;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, Kernel, OpError, Operator, PrepareCx, Types};

use super::incomplete;

macro_rules! functions {
    ($($name:literal, $function:path;)*) => {
        pub(super) static OPERATORS: &[&Operator] = &[
            $(&Operator {
                name: $name,
                onnx: &[],
                inputs: &[InputDef::required("x", Types::FLOAT)],
                outputs: OUTPUT_Y,
                attrs: &[],
                aliasing: Aliasing::Elementwise,
                reads_only_shapes: false,
                infer: infer_same,
                prepare: |cx| real_map(cx, Special($function)),
            },)*
            &of_two("Zeta", &[InputDef::required("x", OF_TWO), InputDef::required("q", OF_TWO)], |cx| pair(cx, OfTwo(hurwitz_zeta))),
            &of_two("Igamma", &[InputDef::required("a", OF_TWO), InputDef::required("x", OF_TWO)], |cx| pair(cx, OfTwo(incomplete::lower_gamma))),
            &of_two("Igammac", &[InputDef::required("a", OF_TWO), InputDef::required("x", OF_TWO)], |cx| pair(cx, OfTwo(incomplete::upper_gamma))),
            &of_two("NextAfter", &[InputDef::required("x1", OF_TWO), InputDef::required("x2", OF_TWO)], |cx| pair(cx, NextAfter)),
            &Operator {
                name: "Betainc",
                onnx: &[],
                inputs: &[
                    InputDef::required("a", OF_TWO),
                    InputDef::required("b", OF_TWO),
                    InputDef::required("x", OF_TWO),
                ],
                outputs: OUTPUT_Y,
                attrs: &[],
                aliasing: Aliasing::Elementwise,
                reads_only_shapes: false,
                infer: incomplete::infer_beta,
                prepare: |cx| generic_kernel_in(cx, incomplete::Beta, &[0, 1, 2], &[0], true),
            },
        ];
    };
}

functions! {
    "BesselI0e", bessel_i0e;
    "BesselI1e", bessel_i1e;
    "Dawsn", dawson;
    "Expint", exponential_integral;
    "FresnelCos", fresnel_cos;
    "FresnelSin", fresnel_sin;
    "Ndtri", normal_quantile;
    "Spence", spence;
}

const OF_TWO: Types = Types::of(&[DataType::Float32, DataType::Float64]);

/// Defines a function of two numbers, with broadcasting.
const fn of_two(
    name: &'static str,
    inputs: &'static [InputDef],
    prepare: fn(&PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError>,
) -> Operator {
    Operator {
        name,
        onnx: &[],
        inputs,
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare,
    }
}

/// Terms below this share of a sum do not change it.
const SMALL: f64 = 1e-17;

/// No series here needs more terms; the loops of what is not a number end here.
const MOST_TERMS: usize = 500;

#[derive(Clone, Copy)]
struct Special(fn(f64) -> f64);

impl RealFunction for Special {
    #[inline(always)]
    fn apply<A: Float>(&self, x: A) -> A {
        A::of((self.0)(x.to_f64()))
    }
}

#[derive(Clone, Copy)]
struct OfTwo(fn(f64, f64) -> f64);

impl PairFunction for OfTwo {
    const LIGHT: bool = false;

    fn apply<T: Number>(&self, a: T, b: T) -> T {
        T::from_f64((self.0)(a.to_f64(), b.to_f64()))
    }
}

/// The next number of the type in the direction of another one.
#[derive(Clone, Copy)]
struct NextAfter;

impl PairFunction for NextAfter {
    const LIGHT: bool = false;

    fn apply<T: Number>(&self, from: T, to: T) -> T {
        let (from, to) = (from.to_f64(), to.to_f64());
        let is_single = size_of::<T>() == size_of::<f32>();
        T::from_f64(match from.partial_cmp(&to) {
            None => f64::NAN,
            Some(Ordering::Equal) => to,
            Some(Ordering::Less) if is_single => (from as f32).next_up().into(),
            Some(Ordering::Less) => from.next_up(),
            Some(Ordering::Greater) if is_single => (from as f32).next_down().into(),
            Some(Ordering::Greater) => from.next_down(),
        })
    }
}

/// Returns the sum of a series whose terms follow from one another by a factor. An asymptotic series ends before its terms grow.
fn series(first: f64, factor: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (first, first);
    for k in 1..MOST_TERMS {
        let next = term * factor(k as f64);
        sum += next;
        if next.abs() <= sum.abs() * SMALL {
            break;
        }
        term = next;
    }
    sum
}

fn asymptotic(factor: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..MOST_TERMS {
        let next: f64 = term * factor(k as f64);
        if next.abs() >= f64::abs(term) || next.abs() <= SMALL {
            break;
        }
        sum += next;
        term = next;
    }
    sum
}

/// Returns `exp(-|x|) I(x)` for the modified Bessel function of an order, for `x >= 0`.
fn bessel(order: f64, x: f64) -> f64 {
    if x <= 20.0 {
        let square = x * x / 4.0;
        let first = if order == 0.0 { 1.0 } else { x / 2.0 };
        return series(first, |k| square / (k * (k + order))) * (-x).exp();
    }
    let sum = asymptotic(|k| {
        let odd = 2.0 * k - 1.0;
        -(4.0 * order * order - odd * odd) / (k * 8.0 * x)
    });
    sum / (TAU * x).sqrt()
}

fn bessel_i0e(x: f64) -> f64 {
    bessel(0.0, x.abs())
}

fn bessel_i1e(x: f64) -> f64 {
    bessel(1.0, x.abs()).copysign(x)
}

/// Returns Dawson's integral, `exp(-x^2)` times the integral of `exp(t^2)` from 0 to x.
fn dawson(x: f64) -> f64 {
    let a = x.abs();
    let y = if a < 1.0 {
        series(a, |k| -2.0 * a * a / (2.0 * k + 1.0))
    } else if a < 10.0 {
        // A sum of equally spaced samples converges exponentially (Rybicki).
        const STEP: f64 = 0.2;
        let middle = (a / STEP / 2.0).round() as i32;
        let sum: f64 = (middle - 18..=middle + 18)
            .map(|half| {
                let odd = f64::from(2 * half + 1);
                (-(a - odd * STEP).powi(2)).exp() / odd
            })
            .sum();
        sum * FRAC_2_SQRT_PI / 2.0
    } else {
        asymptotic(|k| (2.0 * k - 1.0) / (2.0 * a * a)) / (2.0 * a)
    };
    y.copysign(x)
}

/// Returns the integral of `exp(t) / t` from minus infinity to x, which is defined for positive numbers.
fn exponential_integral(x: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if x < 0.0 {
        f64::NAN
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x <= 40.0 {
        let sum = series(x, |k| x * k / ((k + 1.0) * (k + 1.0)));
        EULER + x.ln() + sum
    } else {
        // In two steps, because the exponential alone overflows earlier.
        let half = (x / 2.0).exp();
        half * (half / x * asymptotic(|k| k / x))
    }
}

/// Returns both Fresnel integrals of `x >= 0`: of `cos(pi t^2 / 2)` and `sin(pi t^2 / 2)` from 0 to x.
fn fresnel(x: f64) -> (f64, f64) {
    if x < 1.6 {
        let angle = FRAC_PI_2 * x * x;
        // The powers of the angle over the factorials, with alternating signs in pairs.
        let (mut term, mut cos, mut sin) = (x, 0.0, 0.0);
        for k in 0..60 {
            let part = term / f64::from(2 * k + 1);
            match k % 4 {
                0 => cos += part,
                1 => sin += part,
                2 => cos -= part,
                _ => sin -= part,
            }
            term *= angle / f64::from(k + 1);
        }
        return (cos, sin);
    }
    if x > 1e8 {
        return (0.5, 0.5);
    }
    // By the continued fraction of the complementary error function at z = sqrt(pi) (1 - i) x / 2.
    let z = x * PI.sqrt() / 2.0;
    let (mut re, mut im) = (z, -z);
    for k in (1..=160).rev() {
        let factor = f64::from(k) / 2.0 / (re * re + im * im);
        (re, im) = (z + factor * re, -z - factor * im);
    }
    // The rest is exp(i pi x^2 / 2) / (sqrt(pi) (re + i im)).
    let angle = FRAC_PI_2 * ((x * x) % 4.0);
    let (sin, cos) = angle.sin_cos();
    let size = PI.sqrt() * (re * re + im * im);
    let (rest_re, rest_im) = ((cos * re + sin * im) / size, (sin * re - cos * im) / size);
    let (re, im) = (1.0 - rest_re, -rest_im);
    ((re - im) / 2.0, (re + im) / 2.0)
}

fn fresnel_cos(x: f64) -> f64 {
    fresnel(x.abs()).0.copysign(x)
}

fn fresnel_sin(x: f64) -> f64 {
    fresnel(x.abs()).1.copysign(x)
}

/// Returns the number below which a standard normal variable lies with probability `p`.
fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let low = p.min(1.0 - p);
    if low == 0.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    // A start by a rational function (Abramowitz and Stegun 26.2.23), then steps of third order.
    let t = (-2.0 * low.ln()).sqrt();
    let up = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let down = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = up / down - t;
    for _ in 0..3 {
        let ratio = (libm::erfc(-x / SQRT_2) / 2.0 - low) * TAU.sqrt() * (x * x / 2.0).exp();
        x -= ratio / (1.0 + x * ratio / 2.0);
    }
    if p > 0.5 { -x } else { x }
}

/// Returns the integral of `-ln(t) / (t - 1)` from 1 to x, which is the dilogarithm of `1 - x`.
fn spence(x: f64) -> f64 {
    const AT_0: f64 = PI * PI / 6.0;
    if x < 0.0 {
        f64::NAN
    } else if x == 0.0 {
        AT_0
    } else if x < 0.5 {
        AT_0 - x.ln() * (-x).ln_1p() - dilogarithm(x)
    } else if x <= 1.5 {
        dilogarithm(1.0 - x)
    } else {
        // The argument (x - 1) / x is from 1/3 to 1; its upper half goes by reflection.
        let (log, z) = (x.ln(), 1.0 - 1.0 / x);
        let other = if z <= 0.5 {
            dilogarithm(z)
        } else {
            AT_0 + log * z.ln() - dilogarithm(1.0 / x)
        };
        -other - log * log / 2.0
    }
}

/// Returns the sum of `z^k / k^2`, for z from -1/2 to 1/2.
fn dilogarithm(z: f64) -> f64 {
    if z == 0.0 {
        return 0.0;
    }
    series(z, |k| z * (k / (k + 1.0)).powi(2))
}

/// Returns the sum of `(q + k)^-x` over all k from 0, by Euler's and Maclaurin's formula.
fn hurwitz_zeta(x: f64, q: f64) -> f64 {
    /// `B(2k) / (2k)!`.
    const SHARES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        -3617.0 / 10_670_622_842_880_000.0,
    ];
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let (mut sum, mut a) = (0.0, q);
    for _ in 0..MOST_TERMS {
        if a >= 10.0 {
            break;
        }
        sum += a.powf(-x);
        a += 1.0;
    }
    let power = a.powf(-x);
    sum += power * (a / (x - 1.0) + 0.5);
    let mut factor = power * x / a;
    for (k, share) in SHARES.iter().enumerate() {
        sum += share * factor;
        let next = (2 * k + 1) as f64;
        factor *= (x + next) * (x + next + 1.0) / (a * a);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    /// A function, and pairs of an argument and the value there.
    type Values = (fn(f64) -> f64, &'static [(f64, f64)]);

    #[test]
    fn values_are_those_of_scipy() {
        let functions: &[Values] = &[
            (
                bessel_i0e,
                &[
                    (0.0, 1.0),
                    (0.001, 0.9990007495835156),
                    (0.5, 0.64503527044915),
                    (-3.0, 0.24300035416182536),
                    (19.5, 0.09093943209515647),
                    (20.5, 0.08866442901574523),
                    (700.0, 0.015081295651531355),
                ],
            ),
            (
                bessel_i1e,
                &[
                    (0.001, 0.0004995003123542213),
                    (0.5, 0.15642080318487173),
                    (-3.0, -0.19682671329730084),
                    (19.5, 0.08857608609431485),
                    (20.5, 0.08647411349408725),
                    (700.0, 0.015070519444716846),
                ],
            ),
            (
                dawson,
                &[
                    (0.001, 0.0009999993333336),
                    (0.5, 0.4244363835020223),
                    (-0.99, -0.5387945468144979),
                    (1.01, 0.5372720839445049),
                    (3.3, 0.15978858047449507),
                    (-9.9, -0.0507667506518047),
                    (10.1, 0.04975125661082981),
                    (1000.0, 0.000500000250000375),
                ],
            ),
            (
                exponential_integral,
                &[
                    (0.001, -6.329539364025038),
                    (0.5, 0.45421990486317354),
                    (1.0, 1.895117816355937),
                    (4.1, 21.048466568323178),
                    (39.0, 2280446200301900.5),
                    (41.0, 1.6006649143244784e+16),
                    (715.0, f64::INFINITY),
                    (-1.0, f64::NAN),
                    (0.0, f64::NEG_INFINITY),
                ],
            ),
            (
                fresnel_cos,
                &[
                    (0.001, 0.0009999999999997533),
                    (0.5, 0.4923442258714464),
                    (-1.59, -0.37202645922223937),
                    (1.61, 0.3592841534732351),
                    (2.5, 0.45741300964177706),
                    (7.7, 0.46278209682263255),
                    (-30.0, -0.4999962473706099),
                    (f64::INFINITY, 0.5),
                ],
            ),
            (
                fresnel_sin,
                &[
                    (0.01, 5.235987746754932e-07),
                    (0.5, 0.06473243285999929),
                    (-1.59, -0.6464297519859867),
                    (1.61, 0.6310253086563824),
                    (2.5, 0.6191817558195929),
                    (7.7, 0.4820141680759847),
                    (-30.0, -0.4893896744421938),
                    (f64::INFINITY, 0.5),
                ],
            ),
            (
                normal_quantile,
                &[
                    (1e-300, -37.0470962993612),
                    (1e-09, -5.9978070150076865),
                    (0.025, -1.9599639845400545),
                    (0.3, -0.5244005127080409),
                    (0.49999, -2.5066282748960008e-05),
                    (0.7, 0.5244005127080407),
                    (0.999, 3.090232306167813),
                    (0.0, f64::NEG_INFINITY),
                    (1.0, f64::INFINITY),
                    (-0.1, f64::NAN),
                ],
            ),
            (
                spence,
                &[
                    (0.0, 1.6449340668482264),
                    (0.001, 1.6370226052761176),
                    (0.3, 0.8893776242860385),
                    (0.7, 0.3261295100754763),
                    (1.3, -0.280074333759583),
                    (1.6, -0.5281071740446668),
                    (2.5, -1.1473806603755703),
                    (1000.0, -25.495564102428908),
                    (-0.5, f64::NAN),
                ],
            ),
        ];
        for (index, (function, pairs)) in functions.iter().enumerate() {
            for &(x, wanted) in *pairs {
                let y = function(x);
                let near = (y - wanted).abs() <= 2e-14 * wanted.abs().max(1e-3);
                assert!(
                    near || y == wanted || (y.is_nan() && wanted.is_nan()),
                    "function {index} of {x}: {y}, not {wanted}"
                );
            }
        }
    }

    #[test]
    fn zeta_is_that_of_scipy() {
        for (x, q, wanted) in [
            (2.0, 1.0, 1.6449340668482266),
            (1.5, 0.3, 8.237761671459724),
            (3.0, 25.0, 0.0008326396592112342),
            (1.01, 2.0, 99.57794333849681),
            (40.0, 1.5, 9.043772695905903e-08),
            (2.0, -0.5, 8.934802200544679),
            (2.0, -1.0, f64::INFINITY),
            (1.0, 3.0, f64::INFINITY),
            (0.5, 2.0, f64::NAN),
            (2.5, -0.5, f64::NAN),
        ] {
            let y = hurwitz_zeta(x, q);
            assert!(
                (y - wanted).abs() <= 1e-13 * wanted.abs()
                    || y == wanted
                    || (y.is_nan() && f64::is_nan(wanted)),
                "{x}, {q}: {y}, not {wanted}"
            );
        }
    }

    #[test]
    fn the_next_number_is_that_of_the_type() {
        let of = |list: &[f32]| f32s(&[list.len()], list);
        // NumPy: np.nextafter in float32
        check(
            "NextAfter",
            &[of(&[1.0, 0.0, 1.0, 2.0]), of(&[2.0, -1.0, 1.0, 0.0])],
            none(),
            &of(&[1.000_000_1, -1e-45, 1.0, 1.999_999_9]),
        );
    }

    #[test]
    fn types_without_these_functions_are_refused() {
        refuse("Dawsn", &[i64s(&[1], &[1])], none(), "int64");
        let halves = || f32s(&[1], &[2.0]);
        check(
            "Zeta",
            &[halves(), f32s(&[], &[1.0])],
            none(),
            &f32s(&[1], &[1.644_934]),
        );
    }
}
