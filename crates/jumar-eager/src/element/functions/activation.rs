//! Activations and their gradients.

use jumar_ops::math::Float;

use super::super::number::{Analytic, OrderedNumber, Real};
use super::arithmetic::{clamp, max};
use super::k;

#[inline(always)]
pub(super) fn relu<A: OrderedNumber>(x: A) -> A {
    let zero = A::of(0.0);
    if x <= zero { zero } else { x }
}

#[inline(always)]
pub(super) fn threshold<A: OrderedNumber>(x: A, threshold: A, value: A) -> A {
    if x <= threshold { value } else { x }
}

#[inline(always)]
pub(super) fn threshold_backward<A: OrderedNumber>(gradient: A, x: A, threshold: A) -> A {
    if x <= threshold { A::of(0.0) } else { gradient }
}

#[inline(always)]
pub(super) fn hardtanh_backward<A: OrderedNumber>(gradient: A, x: A, low: A, high: A) -> A {
    if x <= low || x >= high {
        A::of(0.0)
    } else {
        gradient
    }
}

#[inline(always)]
pub(super) fn sigmoid<A: Analytic>(x: A) -> A {
    let one = A::of(1.0);
    one.over(one.plus(x.negated().a_exp()))
}

#[inline(always)]
pub(super) fn silu<A: Analytic>(x: A) -> A {
    x.over(A::of(1.0).plus(x.negated().a_exp()))
}

#[inline(always)]
pub(super) fn tanh_backward<A: Analytic>(gradient: A, y: A) -> A {
    gradient.times(A::of(1.0).minus(y.times(y)).conjugated())
}

#[inline(always)]
pub(super) fn sigmoid_backward<A: Analytic>(gradient: A, y: A) -> A {
    gradient.times(A::of(1.0).minus(y).times(y).conjugated())
}

#[inline(always)]
pub(super) fn silu_backward<A: Analytic>(gradient: A, x: A) -> A {
    let (one, s) = (A::of(1.0), sigmoid(x));
    let derivative = s.times(one.plus(x.times(one.minus(s))));
    gradient.times(derivative.conjugated())
}

#[inline(always)]
pub(super) fn logistic<A: Real>(x: A) -> A {
    k::<A>(1.0) / (k::<A>(1.0) + Float::exp(-x))
}

#[inline(always)]
pub(super) fn gelu<A: Real>(x: A) -> A {
    x * Float::normal_cdf(x)
}

/// sqrt(2 / pi).
const BETA: f64 = 0.797_884_560_802_865_4;
const KAPPA: f64 = 0.044_715;

#[inline(always)]
pub(super) fn gelu_tanh<A: Real>(x: A) -> A {
    let inner = k::<A>(BETA) * (x + k::<A>(KAPPA) * x * x * x);
    k::<A>(0.5) * x * (k::<A>(1.0) + Float::tanh(inner))
}

#[inline(always)]
pub(super) fn gelu_backward<A: Real>(gradient: A, x: A) -> A {
    let distribution = Float::normal_cdf(x);
    // 1 / sqrt(2 pi).
    let density = k::<A>(0.398_942_280_401_432_7) * Float::exp(x * x * k(-0.5));
    gradient * (distribution + x * density)
}

#[inline(always)]
pub(super) fn gelu_tanh_backward<A: Real>(gradient: A, x: A) -> A {
    let one = k::<A>(1.0);
    let t = Float::tanh(k::<A>(BETA) * (x + k::<A>(KAPPA) * x * x * x));
    let slope = k::<A>(BETA) * (one + k::<A>(3.0 * KAPPA) * x * x);
    gradient * (k::<A>(0.5) * (one + t) + k::<A>(0.5) * x * (one - t * t) * slope)
}

#[inline(always)]
pub(super) fn fast_gelu<A: Real>(x: A) -> A {
    x * logistic(x * k(1.702))
}

#[inline(always)]
pub(super) fn fast_gelu_backward<A: Real>(gradient: A, x: A) -> A {
    swish_backward(gradient, x, k(1.702))
}

#[inline(always)]
pub(super) fn swish<A: Real>(x: A, beta: A) -> A {
    x * logistic(x * beta)
}

#[inline(always)]
pub(super) fn swish_backward<A: Real>(gradient: A, x: A, beta: A) -> A {
    let s = logistic(x * beta);
    gradient * (s + x * beta * s * (k::<A>(1.0) - s))
}

#[inline(always)]
pub(super) fn hardsigmoid<A: Real>(x: A) -> A {
    clamp(x + k(3.0), k(0.0), k(6.0)) / k(6.0)
}

#[inline(always)]
pub(super) fn hardsigmoid_backward<A: Real>(gradient: A, x: A) -> A {
    if x > k(-3.0) && x < k(3.0) {
        gradient / k(6.0)
    } else {
        k(0.0)
    }
}

#[inline(always)]
pub(super) fn hardswish<A: Real>(x: A) -> A {
    x * clamp(x + k(3.0), k(0.0), k(6.0)) / k(6.0)
}

#[inline(always)]
pub(super) fn hardswish_backward<A: Real>(gradient: A, x: A) -> A {
    if x < k(-3.0) {
        k(0.0)
    } else if x <= k(3.0) {
        gradient * (x / k(3.0) + k(0.5))
    } else {
        gradient
    }
}

/// log(1 + e^x) without overflow.
#[inline(always)]
pub(super) fn log_1p_exp<A: Real>(x: A) -> A {
    max(x, k(0.0)) + Float::ln_1p(Float::exp(-Float::abs(x)))
}

#[inline(always)]
pub(super) fn mish<A: Real>(x: A) -> A {
    x * Float::tanh(log_1p_exp(x))
}

#[inline(always)]
pub(super) fn mish_backward<A: Real>(gradient: A, x: A) -> A {
    let t = Float::tanh(log_1p_exp(x));
    gradient * (t + x * logistic(x) * (k::<A>(1.0) - t * t))
}

#[inline(always)]
pub(super) fn elu<A: Real>(x: A, alpha: A, scale: A, input_scale: A) -> A {
    if x > k(0.0) {
        x * scale
    } else {
        Float::exp_m1(x * input_scale) * alpha * scale
    }
}

#[inline(always)]
pub(super) fn elu_backward<A: Real>(gradient: A, x: A, alpha: A, scale: A, input_scale: A) -> A {
    if x > k(0.0) {
        gradient * scale
    } else {
        gradient * input_scale * alpha * scale * Float::exp(x * input_scale)
    }
}

#[inline(always)]
pub(super) fn elu_backward_of_result<A: Real>(
    gradient: A,
    y: A,
    alpha: A,
    scale: A,
    input_scale: A,
) -> A {
    if y > k(0.0) {
        gradient * scale
    } else {
        gradient * input_scale * (y + alpha * scale)
    }
}

#[inline(always)]
pub(super) fn leaky_relu<A: Real>(x: A, slope: A) -> A {
    if x > k(0.0) { x } else { x * slope }
}

#[inline(always)]
pub(super) fn leaky_relu_backward<A: Real>(gradient: A, x: A, slope: A) -> A {
    if x > k(0.0) {
        gradient
    } else {
        gradient * slope
    }
}

#[inline(always)]
pub(super) fn log_sigmoid<A: Real>(x: A) -> A {
    -log_1p_exp(-x)
}

#[inline(always)]
pub(super) fn log_sigmoid_backward<A: Real>(gradient: A, x: A) -> A {
    gradient * logistic(-x)
}

#[inline(always)]
pub(super) fn softplus<A: Real>(x: A, beta: A, threshold: A) -> A {
    let scaled = x * beta;
    if scaled > threshold {
        x
    } else {
        Float::ln_1p(Float::exp(scaled)) / beta
    }
}

#[inline(always)]
pub(super) fn softplus_backward<A: Real>(gradient: A, x: A, beta: A, threshold: A) -> A {
    let scaled = x * beta;
    if scaled > threshold {
        gradient
    } else {
        let z = Float::exp(scaled);
        gradient * z / (z + k(1.0))
    }
}

#[inline(always)]
pub(super) fn softshrink<A: Real>(x: A, lambda: A) -> A {
    if x > lambda {
        x - lambda
    } else if x < -lambda {
        x + lambda
    } else {
        // Not-a-number stays what it is.
        x * k(0.0)
    }
}

#[inline(always)]
pub(super) fn shrink_backward<A: Real>(gradient: A, x: A, lambda: A) -> A {
    if x >= -lambda && x <= lambda {
        k(0.0)
    } else {
        gradient
    }
}

#[inline(always)]
pub(super) fn hardshrink<A: Real>(x: A, lambda: A) -> A {
    if x >= -lambda && x <= lambda {
        k(0.0)
    } else {
        x
    }
}

#[inline(always)]
pub(super) fn squared_relu<A: Real>(x: A) -> A {
    let positive = relu(x);
    positive * positive
}

#[inline(always)]
pub(super) fn selu_backward<A: Real>(gradient: A, y: A) -> A {
    const SCALE: f64 = 1.050_700_987_355_480_5;
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    // At 0 the slope is that of negative numbers, as PyTorch has it.
    if y <= k(0.0) {
        gradient * (y + k(SCALE * ALPHA))
    } else {
        gradient * k(SCALE)
    }
}

#[inline(always)]
pub(super) fn prelu<A: Real>(x: A, weight: A) -> A {
    if x > k(0.0) { x } else { weight * x }
}

#[inline(always)]
pub(super) fn prelu_backward<A: Real>(gradient: A, x: A, weight: A) -> A {
    if x > k(0.0) {
        gradient
    } else {
        weight * gradient
    }
}

/// What an element adds to the gradient of its weight.
#[inline(always)]
pub(super) fn prelu_weight<A: Real>(gradient: A, x: A) -> A {
    if x > k(0.0) { k(0.0) } else { gradient * x }
}

#[inline(always)]
pub(super) fn glu<A: Real>(value: A, gate: A) -> A {
    value * logistic(gate)
}

#[inline(always)]
pub(super) fn glu_gate<A: Real>(gradient: A, value: A, gate: A) -> A {
    let s = logistic(gate);
    gradient * value * s * (k::<A>(1.0) - s)
}

#[inline(always)]
pub(super) fn swi_glu<A: Real>(gate: A, value: A) -> A {
    gate * logistic(gate) * value
}

#[inline(always)]
pub(super) fn swi_glu_gate<A: Real>(gradient: A, gate: A, value: A) -> A {
    swish_backward(gradient * value, gate, k(1.0))
}

#[inline(always)]
pub(super) fn ge_glu<A: Real>(value: A, gate: A) -> A {
    value * gelu(gate)
}

#[inline(always)]
pub(super) fn ge_glu_tanh<A: Real>(value: A, gate: A) -> A {
    value * gelu_tanh(gate)
}

#[inline(always)]
pub(super) fn ge_glu_gate<A: Real>(gradient: A, value: A, gate: A) -> A {
    gelu_backward(gradient * value, gate)
}

#[inline(always)]
pub(super) fn ge_glu_tanh_gate<A: Real>(gradient: A, value: A, gate: A) -> A {
    gelu_tanh_backward(gradient * value, gate)
}

#[inline(always)]
pub(super) fn shrink<A: Real>(x: A, lambda: A, bias: A) -> A {
    if x > lambda {
        x - bias
    } else if x < -lambda {
        x + bias
    } else {
        // Not-a-number stays what it is.
        x * k(0.0)
    }
}
