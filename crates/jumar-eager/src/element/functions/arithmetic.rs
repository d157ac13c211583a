//! Arithmetic, comparisons and bounds.

use jumar_ops::math::LowPrecision;

use super::super::number::{Analytic, Num, OrderedNumber, Real};

#[inline(always)]
pub(super) fn add_scaled<A: Num>(a: A, b: A, alpha: A) -> A {
    a.plus(alpha.times(b))
}

#[inline(always)]
pub(super) fn sub_scaled<A: Num>(a: A, b: A, alpha: A) -> A {
    a.minus(alpha.times(b))
}

#[inline(always)]
pub(super) fn addcmul<A: Num>(a: A, b: A, c: A, value: A) -> A {
    a.plus(value.times(b).times(c))
}

#[inline(always)]
pub(super) fn addcdiv<A: Num>(a: A, b: A, c: A, value: A) -> A {
    a.plus(value.times(b).over(c))
}

#[inline(always)]
pub(super) fn lerp<A: Num>(a: A, b: A, weight: A) -> A {
    a.plus(weight.times(b.minus(a)))
}

#[inline(always)]
pub(super) fn addr<A: Num>(a: A, b: A, c: A, beta: A, alpha: A) -> A {
    let product = alpha.times(b).times(c);
    // Not-a-number times 0 would stay.
    if beta.to_bool() {
        beta.times(a).plus(product)
    } else {
        product
    }
}

#[inline(always)]
pub(super) fn square<A: Num>(x: A) -> A {
    x.times(x)
}

#[inline(always)]
pub(super) fn cube<A: Num>(x: A) -> A {
    x.times(x).times(x)
}

#[inline(always)]
pub(super) fn choose<A: Num>(condition: A, yes: A, no: A) -> A {
    if condition.to_bool() { yes } else { no }
}

#[inline(always)]
pub(super) fn masked_fill<A: Num>(x: A, mask: A, value: A) -> A {
    if mask.to_bool() { value } else { x }
}

#[inline(always)]
pub(super) fn eq<A: Num>(a: A, b: A) -> A {
    A::of_bool(a == b)
}

#[inline(always)]
pub(super) fn ne<A: Num>(a: A, b: A) -> A {
    A::of_bool(a != b)
}

#[inline(always)]
pub(super) fn logical_and<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.to_bool() & b.to_bool())
}

#[inline(always)]
pub(super) fn logical_or<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.to_bool() | b.to_bool())
}

#[inline(always)]
pub(super) fn logical_xor<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.to_bool() != b.to_bool())
}

#[inline(always)]
pub(super) fn logical_not<A: Num>(x: A) -> A {
    A::of_bool(!x.to_bool())
}

#[inline(always)]
pub(super) fn lt<A: OrderedNumber>(a: A, b: A) -> A {
    A::of_bool(a < b)
}

#[inline(always)]
pub(super) fn le<A: OrderedNumber>(a: A, b: A) -> A {
    A::of_bool(a <= b)
}

#[inline(always)]
pub(super) fn gt<A: OrderedNumber>(a: A, b: A) -> A {
    A::of_bool(a > b)
}

#[inline(always)]
pub(super) fn ge<A: OrderedNumber>(a: A, b: A) -> A {
    A::of_bool(a >= b)
}

/// Not-a-number wins. (It is the only value that differs from itself.)
#[inline(always)]
#[allow(
    clippy::eq_op,
    reason = "the test for not-a-number that all types have"
)]
pub(super) fn max<A: OrderedNumber>(a: A, b: A) -> A {
    if a > b || a != a { a } else { b }
}

/// Not-a-number wins.
#[inline(always)]
#[allow(
    clippy::eq_op,
    reason = "the test for not-a-number that all types have"
)]
pub(super) fn min<A: OrderedNumber>(a: A, b: A) -> A {
    if a < b || a != a { a } else { b }
}

/// The lower bound wins where it lies above the upper one.
#[inline(always)]
pub(super) fn clamp<A: OrderedNumber>(x: A, low: A, high: A) -> A {
    min(max(x, low), high)
}

#[inline(always)]
pub(super) fn abs<A: OrderedNumber>(x: A) -> A {
    let zero = A::of(0.0);
    if x < zero {
        x.negated()
    } else if x == zero {
        // -0.0 becomes 0.0.
        zero
    } else {
        x
    }
}

#[inline(always)]
pub(super) fn sign<A: OrderedNumber>(x: A) -> A {
    let zero = A::of(0.0);
    if x > zero {
        A::of(1.0)
    } else if x < zero {
        A::of(1.0).negated()
    } else {
        // Of not-a-number, too, as in PyTorch.
        zero
    }
}

/// Integers by zero give 0. Reals are corrected for the rounding of the quotient, as in Python.
#[inline(always)]
pub(super) fn floor_div<A: OrderedNumber>(a: A, b: A) -> A {
    let zero = A::of(0.0);
    let quotient = a.over(b);
    if b == zero {
        return quotient;
    }
    let rest = a.rest(b);
    let integer = a.minus(rest).over(b);
    let integer = if rest != zero && ((b < zero) != (rest < zero)) {
        integer.minus(A::of(1.0))
    } else {
        integer
    };
    if integer == zero {
        // With the sign of the quotient.
        return zero.times(quotient);
    }
    let floor = integer.floored();
    if integer.minus(floor) > A::of(0.5) {
        floor.plus(A::of(1.0))
    } else {
        floor
    }
}

/// As [`floor_div`] of tensors of a narrower type: every step is rounded to it, as PyTorch does.
#[inline(always)]
pub(super) fn floor_div_stored<A: Real, T: LowPrecision>(a: A, b: A) -> A {
    let zero = <A as Num>::of(0.0);
    let quotient = a.over(b).stored::<T>();
    if b == zero {
        return quotient;
    }
    let rest = a.rest(b);
    let integer = a.minus(rest).stored::<T>().over(b).stored::<T>();
    let integer = if rest != zero && ((b < zero) != (rest < zero)) {
        integer.minus(<A as Num>::of(1.0)).stored::<T>()
    } else {
        integer
    };
    if integer == zero {
        return zero.times(quotient);
    }
    let floor = integer.floored();
    if integer.minus(floor).stored::<T>() > <A as Num>::of(0.5) {
        floor.plus(<A as Num>::of(1.0))
    } else {
        floor
    }
}

/// Truncates a quotient that was rounded to a narrower type.
#[inline(always)]
pub(super) fn trunc_div_stored<A: Real, T: LowPrecision>(a: A, b: A) -> A {
    a.over(b).stored::<T>().truncated()
}

#[inline(always)]
pub(super) fn trunc_div<A: OrderedNumber>(a: A, b: A) -> A {
    a.over(b).truncated()
}

/// The remainder with the sign of the divisor.
#[inline(always)]
pub(super) fn remainder<A: OrderedNumber>(a: A, b: A) -> A {
    let zero = A::of(0.0);
    let rest = a.rest(b);
    if rest != zero && ((b < zero) != (rest < zero)) {
        rest.plus(b)
    } else {
        rest
    }
}

#[inline(always)]
pub(super) fn heaviside<A: OrderedNumber>(x: A, value: A) -> A {
    let zero = A::of(0.0);
    if x == zero {
        value
    } else {
        A::of_bool(x > zero)
    }
}

#[inline(always)]
pub(super) fn rsqrt<A: Analytic>(x: A) -> A {
    A::of(1.0).over(x.a_sqrt())
}

#[inline(always)]
pub(super) fn reciprocal<A: Analytic>(x: A) -> A {
    A::of(1.0).over(x)
}

#[inline(always)]
pub(super) fn add_scaled_relu<A: OrderedNumber>(a: A, b: A, alpha: A) -> A {
    max(add_scaled(a, b, alpha), A::of(0.0))
}
