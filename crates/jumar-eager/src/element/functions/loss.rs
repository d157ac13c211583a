//! Losses of single elements and their derivatives.

use jumar_ops::math::Float;

use super::super::number::Real;
use super::activation::{log_sigmoid, logistic};
use super::arithmetic::max;
use super::k;
use super::special::xlogy;

/// Quadratic near zero, and linear beyond `beta`.
#[inline(always)]
pub(super) fn smooth_l1<A: Real>(distance: A, beta: A) -> A {
    let size = Float::abs(distance);
    if size < beta {
        k::<A>(0.5) * size * size / beta
    } else {
        size - k::<A>(0.5) * beta
    }
}

#[inline(always)]
pub(super) fn smooth_l1_backward<A: Real>(distance: A, beta: A) -> A {
    if Float::abs(distance) < beta {
        distance / beta
    } else if distance > k(0.0) {
        k(1.0)
    } else if distance < k(0.0) {
        k(-1.0)
    } else {
        distance
    }
}

/// The binary cross entropy of a probability. Logarithms are at least -100.
#[inline(always)]
pub(super) fn cross_entropy<A: Real>(x: A, target: A) -> A {
    let at_least = |logarithm: A| max(logarithm, k(-100.0));
    (target - k(1.0)) * at_least(Float::ln_1p(-x)) - target * at_least(Float::ln(x))
}

#[inline(always)]
pub(super) fn cross_entropy_backward<A: Real>(x: A, target: A) -> A {
    (x - target) / max((k::<A>(1.0) - x) * x, k(1e-12))
}

/// The binary cross entropy of a logit, with a weight of the positive answers.
#[inline(always)]
pub(super) fn logit_entropy<A: Real>(x: A, target: A, positive: A) -> A {
    let weight = (positive - k(1.0)) * target + k(1.0);
    (k::<A>(1.0) - target) * x - weight * log_sigmoid(x)
}

#[inline(always)]
pub(super) fn logit_entropy_backward<A: Real>(x: A, target: A, positive: A) -> A {
    let weighted = positive * target;
    (weighted + k(1.0) - target) * logistic(x) - weighted
}

/// The derivative by the target.
#[inline(always)]
pub(super) fn logit_entropy_target<A: Real>(x: A, positive: A) -> A {
    -x - (positive - k(1.0)) * log_sigmoid(x)
}

#[inline(always)]
pub(super) fn soft_margin<A: Real>(x: A, target: A) -> A {
    Float::ln_1p(Float::exp(-target * x))
}

#[inline(always)]
pub(super) fn soft_margin_backward<A: Real>(x: A, target: A) -> A {
    let z = Float::exp(-target * x);
    -target * z / (z + k(1.0))
}

/// The divergence of a target from a logarithm.
#[inline(always)]
pub(super) fn divergence<A: Real>(x: A, target: A) -> A {
    xlogy(target, target) - target * x
}

/// The derivative by the target.
#[inline(always)]
pub(super) fn divergence_target<A: Real>(x: A, target: A) -> A {
    Float::ln(target) + k(1.0) - x
}

/// The divergence of a target that is itself a logarithm.
#[inline(always)]
pub(super) fn log_divergence<A: Real>(x: A, target: A) -> A {
    Float::exp(target) * (target - x)
}

/// The derivative by the target.
#[inline(always)]
pub(super) fn log_divergence_target<A: Real>(x: A, target: A) -> A {
    Float::exp(target) * (target - x + k(1.0))
}
