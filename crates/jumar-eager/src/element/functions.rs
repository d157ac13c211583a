//! The functions of elements, and for each lane the loop over blocks that computes them.

use jumar_ops::math::{Fast, Float, Work, wide};

use super::lane::{C64, C128, Lane};
use super::number::{Analytic, Num, Ordered, Real, Whole};

/// A loop over blocks of one length: the first operand becomes the result.
pub(crate) type Block<L> = fn(&mut [L], &[&[L]]);

/// A lane with its functions.
pub(crate) trait Functions: Lane {
    /// Finds the loop of a function. `None`: the lane does not have the function.
    fn find(function: F) -> Option<Block<Self>>;
}

/// The loop over one lane. The class of a function says which lanes have it.
macro_rules! block {
    (fast $path:path, $($rest:ident)*) => {{
        fn block(first: &mut [f32], rest: &[&[f32]]) {
            struct Each<'a>(&'a mut [f32], &'a [&'a [f32]]);
            impl Work for Each<'_> {
                type Output = ();

                #[inline(always)]
                fn run<const FUSED: bool>(self) {
                    let &[$($rest),*] = self.1 else { unreachable!("operands were counted") };
                    let len = self.0.len();
                    $(let $rest = &$rest[..len];)*
                    for index in 0..len {
                        self.0[index] = $path(Fast::<FUSED>(self.0[index]), $(Fast::<FUSED>($rest[index])),*).0;
                    }
                }
            }
            wide(Each(first, rest));
        }
        Some(block as Block<f32>)
    }};
    (plain $lane:ident $path:path, $($rest:ident)*) => {{
        fn block(first: &mut [$lane], rest: &[&[$lane]]) {
            let &[$($rest),*] = rest else { unreachable!("operands were counted") };
            let len = first.len();
            $(let $rest = &$rest[..len];)*
            for index in 0..len {
                first[index] = $path(first[index], $($rest[index]),*);
            }
        }
        Some(block as Block<$lane>)
    }};
    (f32 whole $($any:tt)*) => { None };
    (f32 complex $($any:tt)*) => { None };
    (f32 $class:ident $($any:tt)*) => { block!(fast $($any)*) };
    (f64 whole $($any:tt)*) => { None };
    (f64 complex $($any:tt)*) => { None };
    (i64 number $($any:tt)*) => { block!(plain i64 $($any)*) };
    (i64 ordered $($any:tt)*) => { block!(plain i64 $($any)*) };
    (i64 whole $($any:tt)*) => { block!(plain i64 $($any)*) };
    (u64 number $($any:tt)*) => { block!(plain u64 $($any)*) };
    (u64 ordered $($any:tt)*) => { block!(plain u64 $($any)*) };
    (u64 whole $($any:tt)*) => { block!(plain u64 $($any)*) };
    (C64 number $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 analytic $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 complex $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C128 number $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 analytic $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 complex $($any:tt)*) => { block!(plain C128 $($any)*) };
    (f64 $class:ident $($any:tt)*) => { block!(plain f64 $($any)*) };
    ($lane:ident $class:ident $($any:tt)*) => { None };
}

macro_rules! functions {
    ($($class:ident $name:ident = $path:path, ($($rest:ident)*);)*) => {
        /// A function of elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum F { $($name,)* }

        impl F {
            /// Returns the number of operands.
            pub const fn arity(self) -> usize {
                match self { $(F::$name => 1 $(+ functions!(@one $rest))*,)* }
            }
        }

        functions! { @lanes f32 f64 i64 u64 C64 C128; { $($class $name = $path, ($($rest)*);)* } }
    };
    (@one $rest:ident) => { 1 };
    (@lanes $($lane:ident)*; $all:tt) => {
        $(functions! { @lane $lane; $all })*
    };
    (@lane $lane:ident; { $($class:ident $name:ident = $path:path, ($($rest:ident)*);)* }) => {
        impl Functions for $lane {
            fn find(function: F) -> Option<Block<$lane>> {
                match function {
                    $(F::$name => block!($lane $class $path, $($rest)*),)*
                }
            }
        }
    };
}

// The classes: `number` every lane; `ordered` all but complex; `whole` integers; `real` float32 and float64; `analytic` real
// and complex; `complex` complex alone.
functions! {
    number Add = Num::plus, (b);
    number Sub = Num::minus, (b);
    number Mul = Num::times, (b);
    number Div = Num::over, (b);
    number Pow = Num::power, (b);
    number AddScaled = add_scaled, (b c);
    number SubScaled = sub_scaled, (b c);
    number Addcmul = addcmul, (b c d);
    number Addcdiv = addcdiv, (b c d);
    number Lerp = lerp, (b c);
    number Neg = Num::negated, ();
    number Square = square, ();
    number Cube = cube, ();
    number Where = choose, (b c);
    number MaskedFill = masked_fill, (b c);
    number Eq = eq, (b);
    number Ne = ne, (b);
    number LogicalAnd = logical_and, (b);
    number LogicalOr = logical_or, (b);
    number LogicalXor = logical_xor, (b);
    number LogicalNot = logical_not, ();

    ordered Lt = lt, (b);
    ordered Le = le, (b);
    ordered Gt = gt, (b);
    ordered Ge = ge, (b);
    ordered Max = max, (b);
    ordered Min = min, (b);
    ordered Clamp = clamp, (b c);
    ordered Abs = abs, ();
    ordered Sign = sign, ();
    ordered Relu = relu, ();
    ordered FloorDiv = floor_div, (b);
    ordered TruncDiv = trunc_div, (b);
    ordered Fmod = Ordered::rest, (b);
    ordered Remainder = remainder, (b);
    ordered Threshold = threshold, (b c);
    ordered ThresholdBackward = threshold_backward, (b c);
    ordered Heaviside = heaviside, (b);
    ordered HardtanhBackward = hardtanh_backward, (b c d);

    whole BitAnd = Whole::and, (b);
    whole BitOr = Whole::or, (b);
    whole BitXor = Whole::xor, (b);
    whole BitNot = Whole::not, ();
    whole Left = Whole::left, (b);
    whole Right = Whole::right, (b);
    whole Gcd = Whole::gcd, (b);

    analytic Exp = Analytic::a_exp, ();
    analytic Log = Analytic::a_log, ();
    analytic Sqrt = Analytic::a_sqrt, ();
    analytic Rsqrt = rsqrt, ();
    analytic Sin = Analytic::a_sin, ();
    analytic Cos = Analytic::a_cos, ();
    analytic Tan = Analytic::a_tan, ();
    analytic Asin = Analytic::a_asin, ();
    analytic Acos = Analytic::a_acos, ();
    analytic Atan = Analytic::a_atan, ();
    analytic Sinh = Analytic::a_sinh, ();
    analytic Cosh = Analytic::a_cosh, ();
    analytic Tanh = Analytic::a_tanh, ();
    analytic Asinh = Analytic::a_asinh, ();
    analytic Acosh = Analytic::a_acosh, ();
    analytic Atanh = Analytic::a_atanh, ();
    analytic Reciprocal = reciprocal, ();
    analytic Sigmoid = sigmoid, ();
    analytic Silu = silu, ();
    analytic TanhBackward = tanh_backward, (b);
    analytic SigmoidBackward = sigmoid_backward, (b);
    analytic SiluBackward = silu_backward, (b);

    complex ComplexAbs = ComplexOnly::size, ();
    complex ComplexSign = ComplexOnly::direction, ();
    complex ComplexAngle = ComplexOnly::angle, ();
    complex ComplexIsFinite = ComplexOnly::is_all_finite, ();
    complex ComplexIsInf = ComplexOnly::is_any_infinite, ();
    complex Join = ComplexOnly::join, (b);
    complex Polar = ComplexOnly::polar, (b);

    real Exp2 = Real::exp2, ();
    real Log2 = Real::log2, ();
    real Log10 = Real::log10, ();
    real Expm1 = Float::exp_m1, ();
    real Log1p = Float::ln_1p, ();
    real Erf = Float::erf, ();
    real Erfc = Float::erfc, ();
    real Erfinv = erfinv, ();
    real Ceil = Float::ceil, ();
    real Floor = Float::floor, ();
    real Trunc = Ordered::truncated, ();
    real Round = Float::round_ties_even, ();
    real RoundTo = round_to, (b);
    real Frac = frac, ();
    real Sinc = sinc, ();
    real Gelu = gelu, ();
    real GeluTanh = gelu_tanh, ();
    real GeluBackward = gelu_backward, (b);
    real GeluTanhBackward = gelu_tanh_backward, (b);
    real FastGelu = fast_gelu, ();
    real FastGeluBackward = fast_gelu_backward, (b);
    real Swish = swish, (b);
    real SwishBackward = swish_backward, (b c);
    real Hardsigmoid = hardsigmoid, ();
    real HardsigmoidBackward = hardsigmoid_backward, (b);
    real Hardswish = hardswish, ();
    real HardswishBackward = hardswish_backward, (b);
    real Mish = mish, ();
    real MishBackward = mish_backward, (b);
    real Elu = elu, (b c d);
    real EluBackward = elu_backward, (b c d e);
    real EluBackwardOfResult = elu_backward_of_result, (b c d e);
    real LeakyRelu = leaky_relu, (b);
    real LeakyReluBackward = leaky_relu_backward, (b c);
    real LogSigmoid = log_sigmoid, ();
    real LogSigmoidBackward = log_sigmoid_backward, (b);
    real Softplus = softplus, (b c);
    real SoftplusBackward = softplus_backward, (b c d);
    real Softshrink = softshrink, (b);
    real ShrinkBackward = shrink_backward, (b c);
    real Hardshrink = hardshrink, (b);
    real Logit = logit, ();
    real LogitClamped = logit_clamped, (b);
    real LogitBackward = logit_backward, (b c);
    real NanToNum = nan_to_num, (b c d);
    real Signbit = signbit, ();
    real IsFinite = is_finite, ();
    real IsInf = is_inf, ();
    real IsPosInf = is_pos_inf, ();
    real IsNegInf = is_neg_inf, ();
    real IsClose = is_close, (b c d e);
    real Atan2 = Real::atan2, (b);
    real LogAddExp = log_add_exp, (b);
    real LogAddExp2 = log_add_exp2, (b);
    real XLogY = xlogy, (b);
    real Angle = angle, ();
    real Lgamma = Real::lgamma, ();
    real Digamma = digamma, ();
    real SquaredRelu = squared_relu, ();
    real SeluBackward = selu_backward, (b);
    real Prelu = prelu, (b);
}

#[inline(always)]
fn add_scaled<A: Num>(a: A, b: A, alpha: A) -> A {
    a.plus(alpha.times(b))
}

#[inline(always)]
fn sub_scaled<A: Num>(a: A, b: A, alpha: A) -> A {
    a.minus(alpha.times(b))
}

#[inline(always)]
fn addcmul<A: Num>(a: A, b: A, c: A, value: A) -> A {
    a.plus(value.times(b).times(c))
}

#[inline(always)]
fn addcdiv<A: Num>(a: A, b: A, c: A, value: A) -> A {
    a.plus(value.times(b).over(c))
}

#[inline(always)]
fn lerp<A: Num>(a: A, b: A, weight: A) -> A {
    a.plus(weight.times(b.minus(a)))
}

#[inline(always)]
fn square<A: Num>(x: A) -> A {
    x.times(x)
}

#[inline(always)]
fn cube<A: Num>(x: A) -> A {
    x.times(x).times(x)
}

#[inline(always)]
fn choose<A: Num>(condition: A, yes: A, no: A) -> A {
    if condition.truth() { yes } else { no }
}

#[inline(always)]
fn masked_fill<A: Num>(x: A, mask: A, value: A) -> A {
    if mask.truth() { value } else { x }
}

#[inline(always)]
fn eq<A: Num>(a: A, b: A) -> A {
    A::of_bool(a == b)
}

#[inline(always)]
fn ne<A: Num>(a: A, b: A) -> A {
    A::of_bool(a != b)
}

#[inline(always)]
fn logical_and<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.truth() & b.truth())
}

#[inline(always)]
fn logical_or<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.truth() | b.truth())
}

#[inline(always)]
fn logical_xor<A: Num>(a: A, b: A) -> A {
    A::of_bool(a.truth() != b.truth())
}

#[inline(always)]
fn logical_not<A: Num>(x: A) -> A {
    A::of_bool(!x.truth())
}

#[inline(always)]
fn lt<A: Ordered>(a: A, b: A) -> A {
    A::of_bool(a < b)
}

#[inline(always)]
fn le<A: Ordered>(a: A, b: A) -> A {
    A::of_bool(a <= b)
}

#[inline(always)]
fn gt<A: Ordered>(a: A, b: A) -> A {
    A::of_bool(a > b)
}

#[inline(always)]
fn ge<A: Ordered>(a: A, b: A) -> A {
    A::of_bool(a >= b)
}

/// Not-a-number wins. (It is the only value that differs from itself.)
#[inline(always)]
#[allow(
    clippy::eq_op,
    reason = "the test for not-a-number that all lanes have"
)]
fn max<A: Ordered>(a: A, b: A) -> A {
    if a > b || a != a { a } else { b }
}

/// Not-a-number wins.
#[inline(always)]
#[allow(
    clippy::eq_op,
    reason = "the test for not-a-number that all lanes have"
)]
fn min<A: Ordered>(a: A, b: A) -> A {
    if a < b || a != a { a } else { b }
}

/// The lower bound wins where it lies above the upper one.
#[inline(always)]
fn clamp<A: Ordered>(x: A, low: A, high: A) -> A {
    max(min(x, high), low)
}

#[inline(always)]
fn abs<A: Ordered>(x: A) -> A {
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
fn sign<A: Ordered>(x: A) -> A {
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

#[inline(always)]
fn relu<A: Ordered>(x: A) -> A {
    let zero = A::of(0.0);
    if x <= zero { zero } else { x }
}

/// Integers by zero give 0. Reals are corrected for the rounding of the quotient, as in Python.
#[inline(always)]
fn floor_div<A: Ordered>(a: A, b: A) -> A {
    let zero = A::of(0.0);
    let quotient = a.over(b);
    if b == zero {
        return quotient;
    }
    let rest = a.rest(b);
    let whole = a.minus(rest).over(b);
    let whole = if rest != zero && ((b < zero) != (rest < zero)) {
        whole.minus(A::of(1.0))
    } else {
        whole
    };
    let floor = whole.floored();
    if whole.minus(floor) > A::of(0.5) {
        floor.plus(A::of(1.0))
    } else {
        floor
    }
}

#[inline(always)]
fn trunc_div<A: Ordered>(a: A, b: A) -> A {
    a.over(b).truncated()
}

/// The remainder with the sign of the divisor.
#[inline(always)]
fn remainder<A: Ordered>(a: A, b: A) -> A {
    let zero = A::of(0.0);
    let rest = a.rest(b);
    if rest != zero && ((b < zero) != (rest < zero)) {
        rest.plus(b)
    } else {
        rest
    }
}

#[inline(always)]
fn threshold<A: Ordered>(x: A, threshold: A, value: A) -> A {
    if x <= threshold { value } else { x }
}

#[inline(always)]
fn threshold_backward<A: Ordered>(gradient: A, x: A, threshold: A) -> A {
    if x <= threshold { A::of(0.0) } else { gradient }
}

#[inline(always)]
fn heaviside<A: Ordered>(x: A, value: A) -> A {
    let zero = A::of(0.0);
    if x == zero {
        value
    } else {
        A::of_bool(x > zero)
    }
}

#[inline(always)]
fn hardtanh_backward<A: Ordered>(gradient: A, x: A, low: A, high: A) -> A {
    if x <= low || x >= high {
        A::of(0.0)
    } else {
        gradient
    }
}

#[inline(always)]
fn rsqrt<A: Analytic>(x: A) -> A {
    A::of(1.0).over(x.a_sqrt())
}

#[inline(always)]
fn reciprocal<A: Analytic>(x: A) -> A {
    A::of(1.0).over(x)
}

#[inline(always)]
fn sigmoid<A: Analytic>(x: A) -> A {
    let one = A::of(1.0);
    one.over(one.plus(x.negated().a_exp()))
}

#[inline(always)]
fn silu<A: Analytic>(x: A) -> A {
    x.over(A::of(1.0).plus(x.negated().a_exp()))
}

#[inline(always)]
fn tanh_backward<A: Analytic>(gradient: A, y: A) -> A {
    gradient.times(A::of(1.0).minus(y.times(y)))
}

#[inline(always)]
fn sigmoid_backward<A: Analytic>(gradient: A, y: A) -> A {
    gradient.times(A::of(1.0).minus(y)).times(y)
}

#[inline(always)]
fn silu_backward<A: Analytic>(gradient: A, x: A) -> A {
    let (one, s) = (A::of(1.0), sigmoid(x));
    gradient.times(s).times(one.plus(x.times(one.minus(s))))
}

/// Functions that only complex numbers have. Results that are real have an imaginary part of 0.
trait ComplexOnly: Num {
    fn size(self) -> Self;
    fn direction(self) -> Self;
    fn angle(self) -> Self;
    fn is_all_finite(self) -> Self;
    fn is_any_infinite(self) -> Self;
    /// The real parts of two numbers as one number.
    fn join(self, imaginary: Self) -> Self;
    /// The number with this size and that angle.
    fn polar(self, angle: Self) -> Self;
}

macro_rules! complex_only {
    ($($type:ident)*) => {$(
        impl ComplexOnly for $type {
            #[inline(always)] fn size(self) -> Self { $type::new(self.norm(), 0.0) }
            #[inline(always)] fn direction(self) -> Self {
                if Num::truth(self) { self.unscale(self.norm()) } else { self }
            }
            #[inline(always)] fn angle(self) -> Self { $type::new(self.arg(), 0.0) }
            #[inline(always)] fn is_all_finite(self) -> Self { Self::of_bool(self.is_finite()) }
            #[inline(always)] fn is_any_infinite(self) -> Self { Self::of_bool(self.is_infinite()) }
            #[inline(always)] fn join(self, imaginary: Self) -> Self { $type::new(self.re, imaginary.re) }
            #[inline(always)] fn polar(self, angle: Self) -> Self { $type::from_polar(self.re, angle.re) }
        }
    )*};
}

complex_only! { C64 C128 }

/// A constant.
#[inline(always)]
fn k<A: Real>(value: f64) -> A {
    <A as Num>::of(value)
}

/// The inverse of the error function: an approximation (Giles), and two steps of Newton's method.
#[inline(always)]
fn erfinv<A: Real>(x: A) -> A {
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
    let mut y = p * x;
    for _ in 0..2 {
        // The slope of erf is 2 / sqrt(pi) * exp(-y^2).
        let slope = k::<A>(std::f64::consts::FRAC_2_SQRT_PI) * Float::exp(-(y * y));
        if slope > k(0.0) {
            y = y - (Float::erf(y) - x) / slope;
        }
    }
    y
}

#[inline(always)]
fn frac<A: Real>(x: A) -> A {
    x - x.truncated()
}

/// Rounds at a power of ten: to this many places after the point, or before it.
#[inline(always)]
fn round_to<A: Real>(x: A, places: A) -> A {
    let power: A = k::<A>(10.0).power(Float::abs(places));
    if places < k(0.0) {
        Float::round_ties_even(x / power) * power
    } else {
        Float::round_ties_even(x * power) / power
    }
}

#[inline(always)]
fn sinc<A: Real>(x: A) -> A {
    let angle = x * k(std::f64::consts::PI);
    if x == k(0.0) {
        k(1.0)
    } else {
        Float::sin(angle) / angle
    }
}

#[inline(always)]
fn logistic<A: Real>(x: A) -> A {
    k::<A>(1.0) / (k::<A>(1.0) + Float::exp(-x))
}

#[inline(always)]
fn gelu<A: Real>(x: A) -> A {
    let half = x * k(0.5);
    half * (k::<A>(1.0) + Float::erf(x * k(std::f64::consts::FRAC_1_SQRT_2)))
}

/// sqrt(2 / pi).
const BETA: f64 = 0.797_884_560_802_865_4;
const KAPPA: f64 = 0.044_715;

#[inline(always)]
fn gelu_tanh<A: Real>(x: A) -> A {
    let inner = k::<A>(BETA) * (x + k::<A>(KAPPA) * x * x * x);
    k::<A>(0.5) * x * (k::<A>(1.0) + Float::tanh(inner))
}

#[inline(always)]
fn gelu_backward<A: Real>(gradient: A, x: A) -> A {
    let distribution =
        k::<A>(0.5) * (k::<A>(1.0) + Float::erf(x * k(std::f64::consts::FRAC_1_SQRT_2)));
    // 1 / sqrt(2 pi).
    let density = k::<A>(0.398_942_280_401_432_7) * Float::exp(x * x * k(-0.5));
    gradient * (distribution + x * density)
}

#[inline(always)]
fn gelu_tanh_backward<A: Real>(gradient: A, x: A) -> A {
    let one = k::<A>(1.0);
    let t = Float::tanh(k::<A>(BETA) * (x + k::<A>(KAPPA) * x * x * x));
    let slope = k::<A>(BETA) * (one + k::<A>(3.0 * KAPPA) * x * x);
    gradient * (k::<A>(0.5) * (one + t) + k::<A>(0.5) * x * (one - t * t) * slope)
}

#[inline(always)]
fn fast_gelu<A: Real>(x: A) -> A {
    x * logistic(x * k(1.702))
}

#[inline(always)]
fn fast_gelu_backward<A: Real>(gradient: A, x: A) -> A {
    swish_backward(gradient, x, k(1.702))
}

#[inline(always)]
fn swish<A: Real>(x: A, beta: A) -> A {
    x * logistic(x * beta)
}

#[inline(always)]
fn swish_backward<A: Real>(gradient: A, x: A, beta: A) -> A {
    let s = logistic(x * beta);
    gradient * (s + x * beta * s * (k::<A>(1.0) - s))
}

#[inline(always)]
fn hardsigmoid<A: Real>(x: A) -> A {
    clamp(x + k(3.0), k(0.0), k(6.0)) / k(6.0)
}

#[inline(always)]
fn hardsigmoid_backward<A: Real>(gradient: A, x: A) -> A {
    if x > k(-3.0) && x < k(3.0) {
        gradient / k(6.0)
    } else {
        k(0.0)
    }
}

#[inline(always)]
fn hardswish<A: Real>(x: A) -> A {
    x * clamp(x + k(3.0), k(0.0), k(6.0)) / k(6.0)
}

#[inline(always)]
fn hardswish_backward<A: Real>(gradient: A, x: A) -> A {
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
fn log_1p_exp<A: Real>(x: A) -> A {
    max(x, k(0.0)) + Float::ln_1p(Float::exp(-Float::abs(x)))
}

#[inline(always)]
fn mish<A: Real>(x: A) -> A {
    x * Float::tanh(log_1p_exp(x))
}

#[inline(always)]
fn mish_backward<A: Real>(gradient: A, x: A) -> A {
    let t = Float::tanh(log_1p_exp(x));
    gradient * (t + x * logistic(x) * (k::<A>(1.0) - t * t))
}

#[inline(always)]
fn elu<A: Real>(x: A, alpha: A, scale: A, input_scale: A) -> A {
    if x > k(0.0) {
        x * scale
    } else {
        Float::exp_m1(x * input_scale) * alpha * scale
    }
}

#[inline(always)]
fn elu_backward<A: Real>(gradient: A, x: A, alpha: A, scale: A, input_scale: A) -> A {
    if x > k(0.0) {
        gradient * scale
    } else {
        gradient * input_scale * alpha * scale * Float::exp(x * input_scale)
    }
}

#[inline(always)]
fn elu_backward_of_result<A: Real>(gradient: A, y: A, alpha: A, scale: A, input_scale: A) -> A {
    if y > k(0.0) {
        gradient * scale
    } else {
        gradient * input_scale * (y + alpha * scale)
    }
}

#[inline(always)]
fn leaky_relu<A: Real>(x: A, slope: A) -> A {
    if x > k(0.0) { x } else { x * slope }
}

#[inline(always)]
fn leaky_relu_backward<A: Real>(gradient: A, x: A, slope: A) -> A {
    if x > k(0.0) {
        gradient
    } else {
        gradient * slope
    }
}

#[inline(always)]
fn log_sigmoid<A: Real>(x: A) -> A {
    -log_1p_exp(-x)
}

#[inline(always)]
fn log_sigmoid_backward<A: Real>(gradient: A, x: A) -> A {
    gradient * logistic(-x)
}

#[inline(always)]
fn softplus<A: Real>(x: A, beta: A, threshold: A) -> A {
    let scaled = x * beta;
    if scaled > threshold {
        x
    } else {
        Float::ln_1p(Float::exp(scaled)) / beta
    }
}

#[inline(always)]
fn softplus_backward<A: Real>(gradient: A, x: A, beta: A, threshold: A) -> A {
    let scaled = x * beta;
    if scaled > threshold {
        gradient
    } else {
        let z = Float::exp(scaled);
        gradient * z / (z + k(1.0))
    }
}

#[inline(always)]
fn softshrink<A: Real>(x: A, lambda: A) -> A {
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
fn shrink_backward<A: Real>(gradient: A, x: A, lambda: A) -> A {
    if x >= -lambda && x <= lambda {
        k(0.0)
    } else {
        gradient
    }
}

#[inline(always)]
fn hardshrink<A: Real>(x: A, lambda: A) -> A {
    if x >= -lambda && x <= lambda {
        k(0.0)
    } else {
        x
    }
}

#[inline(always)]
fn logit<A: Real>(x: A) -> A {
    Float::ln(x / (k::<A>(1.0) - x))
}

#[inline(always)]
fn logit_clamped<A: Real>(x: A, eps: A) -> A {
    logit(clamp(x, eps, k::<A>(1.0) - eps))
}

/// A negative `eps` means that nothing was clamped.
#[inline(always)]
fn logit_backward<A: Real>(x: A, gradient: A, eps: A) -> A {
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
fn nan_to_num<A: Real>(x: A, nan: A, positive: A, negative: A) -> A {
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
fn signbit<A: Real>(x: A) -> A {
    A::of_bool(x.is_negative())
}

#[inline(always)]
fn is_finite<A: Real>(x: A) -> A {
    A::of_bool(!Float::is_nan(x) && !Float::is_infinite(x))
}

#[inline(always)]
fn is_inf<A: Real>(x: A) -> A {
    A::of_bool(Float::is_infinite(x))
}

#[inline(always)]
fn is_pos_inf<A: Real>(x: A) -> A {
    A::of_bool(x == k(f64::INFINITY))
}

#[inline(always)]
fn is_neg_inf<A: Real>(x: A) -> A {
    A::of_bool(x == k(f64::NEG_INFINITY))
}

#[inline(always)]
fn is_close<A: Real>(a: A, b: A, relative: A, absolute: A, equal_nan: A) -> A {
    if a == b {
        return k(1.0);
    }
    if Float::is_nan(a) || Float::is_nan(b) {
        return A::of_bool(equal_nan.truth() && Float::is_nan(a) && Float::is_nan(b));
    }
    let distance = Float::abs(a - b);
    let allowed = absolute + Float::abs(relative * b);
    A::of_bool(!Float::is_infinite(distance) && distance <= allowed)
}

#[inline(always)]
fn log_add_exp<A: Real>(a: A, b: A) -> A {
    // Equal infinities have no difference.
    if Float::is_infinite(a) && a == b {
        return a;
    }
    max(a, b) + Float::ln_1p(Float::exp(-Float::abs(a - b)))
}

#[inline(always)]
fn log_add_exp2<A: Real>(a: A, b: A) -> A {
    if Float::is_infinite(a) && a == b {
        return a;
    }
    let log2_e = k::<A>(std::f64::consts::LOG2_E);
    max(a, b) + Float::ln_1p(Real::exp2(-Float::abs(a - b))) * log2_e
}

#[inline(always)]
fn xlogy<A: Real>(x: A, y: A) -> A {
    if Float::is_nan(y) {
        y
    } else if x == k(0.0) {
        k(0.0)
    } else {
        x * Float::ln(y)
    }
}

#[inline(always)]
fn angle<A: Real>(x: A) -> A {
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
fn digamma<A: Real>(x: A) -> A {
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

#[inline(always)]
fn squared_relu<A: Real>(x: A) -> A {
    let positive = relu(x);
    positive * positive
}

#[inline(always)]
fn selu_backward<A: Real>(gradient: A, y: A) -> A {
    const SCALE: f64 = 1.050_700_987_355_480_5;
    const ALPHA: f64 = 1.673_263_242_354_377_2;
    if y < k(0.0) {
        gradient * (y + k(SCALE * ALPHA))
    } else {
        gradient * k(SCALE)
    }
}

#[inline(always)]
fn prelu<A: Real>(x: A, weight: A) -> A {
    if x > k(0.0) { x } else { weight * x }
}
