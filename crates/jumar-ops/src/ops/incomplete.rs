//! The regularised incomplete gamma and beta functions, in float64, from their series and continued fractions.

use crate::kernels::generic::{Algorithm, Io, Working};
use crate::{InferCx, OpError, TensorType};

/// Terms below this share of a sum do not change it.
const SMALL: f64 = 1e-17;

/// What a denominator is replaced by that would be 0.
const TINY: f64 = 1e-300;

/// The most terms: those that are needed grow with the square root of the parameter.
const MOST_TERMS: usize = 100_000;

/// Returns the share of the gamma function's integral below `x`.
pub(super) fn lower_gamma(a: f64, x: f64) -> f64 {
    match shares(a, x) {
        Some(Share::Below(share)) => share,
        Some(Share::Above(share)) => 1.0 - share,
        None => f64::NAN,
    }
}

/// Returns the share of the gamma function's integral above `x`.
pub(super) fn upper_gamma(a: f64, x: f64) -> f64 {
    match shares(a, x) {
        Some(Share::Below(share)) => 1.0 - share,
        Some(Share::Above(share)) => share,
        None => f64::NAN,
    }
}

/// The share that is computed; the other one is what is left of 1.
enum Share {
    Below(f64),
    Above(f64),
}

/// Returns the smaller share, roughly; nothing where the functions are not defined.
fn shares(a: f64, x: f64) -> Option<Share> {
    if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 || (a.is_infinite() && x.is_infinite()) {
        return None;
    }
    if x == 0.0 || a.is_infinite() {
        return Some(Share::Below(0.0));
    }
    if x.is_infinite() {
        return Some(Share::Above(0.0));
    }
    // x^a exp(-x) / Gamma(a)
    let front = (a * x.ln() - x - libm::lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for k in 1..MOST_TERMS {
            term *= x / (a + k as f64);
            sum += term;
            if term <= sum * SMALL {
                break;
            }
        }
        return Some(Share::Below((front * sum).min(1.0)));
    }
    let first = x + 1.0 - a;
    let fraction = continued(first, |k| (-k * (k - a), first + 2.0 * k));
    Some(Share::Above((front / fraction).min(1.0)))
}

/// Returns `first + n1 / (d1 + n2 / (d2 + ...))`, where `part` has each numerator and denominator, after Lentz.
fn continued(first: f64, part: impl Fn(f64) -> (f64, f64)) -> f64 {
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut value = nonzero(first);
    let (mut up, mut down) = (value, 0.0);
    for k in 1..MOST_TERMS {
        let (numerator, denominator) = part(k as f64);
        down = 1.0 / nonzero(denominator + numerator * down);
        up = nonzero(denominator + numerator / up);
        let change = up * down;
        value *= change;
        if (change - 1.0).abs() <= 1e-16 {
            break;
        }
    }
    value
}

/// Returns the share of the beta function's integral below `x`.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    let defined = a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x);
    if !defined || a.is_infinite() || b.is_infinite() {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(b, a, 1.0 - x);
    }
    beta_below(a, b, x)
}

fn beta_below(a: f64, b: f64, x: f64) -> f64 {
    let scale = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let front = (scale + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let fraction = continued(1.0, |k| {
        let half = (k / 2.0).floor();
        let numerator = if k % 2.0 == 0.0 {
            half * (b - half) * x / ((a + k - 1.0) * (a + k))
        } else {
            -(a + half) * (a + b + half) * x / ((a + k - 1.0) * (a + k))
        };
        (numerator, 1.0)
    });
    (front / fraction).min(1.0)
}

/// The regularised incomplete beta function of three tensors of one shape.
pub(super) struct Beta;

impl Algorithm for Beta {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (a, b, x, out) = (io.input(0)?, io.input(1)?, io.input(2)?, io.output(0)?);
        for at in 0..out.len() {
            let value = beta(a.get(at).f64(), b.get(at).f64(), x.get(at).f64());
            out.set(at, W::of(value));
        }
        Ok(())
    }
}

pub(super) fn infer_beta(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    cx.same_types([0, 1])?;
    cx.same_types([0, 2])?;
    let first = cx.input(0)?;
    for index in 1..3 {
        let other = cx.input(index)?;
        let fits = first.shape.len() == other.shape.len()
            && first
                .shape
                .iter()
                .zip(&other.shape)
                .all(|(&own, &other)| own < 0 || other < 0 || own == other);
        if first.rank().is_some() && other.rank().is_some() && !fits {
            return Err(OpError::invalid(format!(
                "its inputs are {first} and {other}; they must have one shape"
            )));
        }
    }
    Ok(vec![first.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64, what: &str) {
        let near = (found - wanted).abs() <= 1e-12 * wanted.abs();
        let same = found == wanted || (found.is_nan() && wanted.is_nan());
        assert!(near || same, "{what}: {found}, not {wanted}");
    }

    #[test]
    fn shares_of_the_gamma_function_are_those_of_its_closed_forms() {
        // Of a = 1: exp(-x). Of a = 1/2: erfc(sqrt(x)). Of an integer: exp(-x) times a sum.
        for x in [1e-5, 0.3, 1.0, 2.5, 17.0, 80.0] {
            near(upper_gamma(1.0, x), (-x).exp(), "1");
            near(upper_gamma(0.5, x), libm::erfc(x.sqrt()), "1/2");
            near(
                upper_gamma(3.0, x),
                (-x).exp() * (1.0 + x + x * x / 2.0),
                "3",
            );
            near(lower_gamma(1.0, x), -(-x).exp_m1(), "1 below");
        }
        near(lower_gamma(2.0, 0.0), 0.0, "nothing");
        near(upper_gamma(2.0, f64::INFINITY), 0.0, "all");
        near(lower_gamma(-1.0, 2.0), f64::NAN, "a negative parameter");
        near(lower_gamma(1.0, -2.0), f64::NAN, "a negative bound");
    }

    #[test]
    fn shares_of_the_beta_function_are_those_of_its_closed_forms() {
        for x in [1e-4, 0.2, 0.5, 0.77, 0.999] {
            near(beta(1.0, 1.0, x), x, "1, 1");
            near(beta(2.0, 1.0, x), x * x, "2, 1");
            near(beta(1.0, 3.0, x), 1.0 - (1.0 - x).powi(3), "1, 3");
            let arc = 2.0 / std::f64::consts::PI * x.sqrt().asin();
            near(beta(0.5, 0.5, x), arc, "1/2, 1/2");
        }
        near(beta(2.0, 3.0, 1.5), f64::NAN, "beyond 1");
        near(beta(0.0, 3.0, 0.5), f64::NAN, "no parameter");
    }
}
