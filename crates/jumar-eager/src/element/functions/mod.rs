//! The functions of elements, and for each compute type the loop over blocks that computes them.

mod activation;
mod arithmetic;
mod complex;
mod loss;
mod periodic;
mod special;

use jumar_ops::math::{Fast, Float, LowPrecision, Work, wide};
use jumar_ops::view::{BF16, F16};

use super::compute::{C64, C128, Compute};
use super::direct::{self, Direct};
use super::number::{Analytic, Integer, Num, OrderedNumber, Real};

/// A loop over blocks of one length: the first operand becomes the result.
pub(crate) type Block<L> = fn(&mut [L], &[&[L]]);

/// A compute type with its functions.
pub(crate) trait Functions: Compute {
    /// Finds the loop of a function. `None`: the type does not have the function.
    fn find(function: F) -> Option<Block<Self>>;
}

/// The loop over one compute type. The class of a function says which types have it.
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
    (plain $own:ident $path:path, $($rest:ident)*) => {{
        fn block(first: &mut [$own], rest: &[&[$own]]) {
            let &[$($rest),*] = rest else { unreachable!("operands were counted") };
            let len = first.len();
            $(let $rest = &$rest[..len];)*
            for index in 0..len {
                first[index] = $path(first[index], $($rest[index]),*);
            }
        }
        Some(block as Block<$own>)
    }};
    (f32 integer $($any:tt)*) => { None };
    (f32 complex $($any:tt)*) => { None };
    (f32 sine $($any:tt)*) => { Some(periodic::block::<periodic::Sine> as Block<f32>) };
    (f32 cosine $($any:tt)*) => { Some(periodic::block::<periodic::Cosine> as Block<f32>) };
    (f32 $class:ident $($any:tt)*) => { block!(fast $($any)*) };
    (f64 integer $($any:tt)*) => { None };
    (f64 complex $($any:tt)*) => { None };
    (i64 number $($any:tt)*) => { block!(plain i64 $($any)*) };
    (i64 ordered $($any:tt)*) => { block!(plain i64 $($any)*) };
    (i64 integer $($any:tt)*) => { block!(plain i64 $($any)*) };
    (u64 number $($any:tt)*) => { block!(plain u64 $($any)*) };
    (u64 ordered $($any:tt)*) => { block!(plain u64 $($any)*) };
    (u64 integer $($any:tt)*) => { block!(plain u64 $($any)*) };
    (C64 number $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 analytic $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 sine $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 cosine $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C64 complex $($any:tt)*) => { block!(plain C64 $($any)*) };
    (C128 number $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 analytic $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 sine $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 cosine $($any:tt)*) => { block!(plain C128 $($any)*) };
    (C128 complex $($any:tt)*) => { block!(plain C128 $($any)*) };
    (f64 $class:ident $($any:tt)*) => { block!(plain f64 $($any)*) };
    ($own:ident $class:ident $($any:tt)*) => { None };
}

/// The loop in one pass. Integers and complex numbers have none.
macro_rules! direct {
    (sine $($any:tt)*) => { Some(periodic::row::<T, periodic::Sine> as Direct<T>) };
    (cosine $($any:tt)*) => { Some(periodic::row::<T, periodic::Cosine> as Direct<T>) };
    ($class:ident $path:path, $($rest:ident)*) => {{
        struct One;
        impl direct::Function<{ 1 $(+ functions!(@one $rest))* }> for One {
            #[inline(always)]
            fn apply<const FUSED: bool>(
                [first $(, $rest)*]: [Fast<FUSED>; 1 $(+ functions!(@one $rest))*],
            ) -> Fast<FUSED> {
                $path(first, $($rest),*)
            }
        }
        Some(direct::run::<T, One, { 1 $(+ functions!(@one $rest))* }> as Direct<T>)
    }};
}

macro_rules! functions {
    (
        one_pass { $($direct_class:ident $direct:ident = $direct_path:path, ($($direct_rest:ident)*);)* }
        blocks { $($all:tt)* }
    ) => {
        /// Finds the loop of a function in one pass. `None`: there is none.
        pub(super) fn find_direct<T: LowPrecision>(function: F) -> Option<Direct<T>> {
            match function {
                $(F::$direct => direct!($direct_class $direct_path, $($direct_rest)*),)*
                _ => None,
            }
        }

        functions! { @all $($direct_class $direct = $direct_path, ($($direct_rest)*);)* $($all)* }
    };
    (@all $($class:ident $name:ident = $path:path, ($($rest:ident)*);)*) => {
        /// A function of elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum F { $($name,)* }

        impl F {
            /// Returns the number of operands.
            pub const fn arity(self) -> usize {
                match self { $(F::$name => 1 $(+ functions!(@one $rest))*,)* }
            }
        }

        functions! { @values f32 f64 i64 u64 C64 C128; { $($class $name = $path, ($($rest)*);)* } }
    };
    (@one $rest:ident) => { 1 };
    (@values $($own:ident)*; $all:tt) => {
        $(functions! { @value $own; $all })*
    };
    (@value $own:ident; { $($class:ident $name:ident = $path:path, ($($rest:ident)*);)* }) => {
        impl Functions for $own {
            fn find(function: F) -> Option<Block<$own>> {
                match function {
                    $(F::$name => block!($own $class $path, $($rest)*),)*
                }
            }
        }
    };
}

// A function has a loop in one pass if it does little for each element, or if networks call it much: such a loop is compiled nine times,
// for three types and three levels of instructions. All others are computed over blocks.
//
// The classes: `number` every type; `ordered` all but complex; `integer` integers; `real` float32 and float64; `analytic` real
// and complex, `sine` and `cosine` as well; `complex` complex alone.
functions! {
    one_pass {
        number Add = Num::plus, (b);
        number Sub = Num::minus, (b);
        number Mul = Num::times, (b);
        number Div = Num::over, (b);
        number Pow = Num::power, (b);
        number AddScaled = arithmetic::add_scaled, (b c);
        number SubScaled = arithmetic::sub_scaled, (b c);
        number Addcmul = arithmetic::addcmul, (b c d);
        number Addcdiv = arithmetic::addcdiv, (b c d);
        number Lerp = arithmetic::lerp, (b c);
        number Square = arithmetic::square, ();
        number Where = arithmetic::choose, (b c);
        number MaskedFill = arithmetic::masked_fill, (b c);
        ordered Max = arithmetic::max, (b);
        ordered Min = arithmetic::min, (b);
        ordered Clamp = arithmetic::clamp, (b c);
        ordered AddScaledRelu = arithmetic::add_scaled_relu, (b c);
        ordered Relu = activation::relu, ();
        ordered Threshold = activation::threshold, (b c);
        ordered ThresholdBackward = activation::threshold_backward, (b c);
        analytic Exp = Analytic::a_exp, ();
        analytic Log = Analytic::a_log, ();
        analytic Sqrt = Analytic::a_sqrt, ();
        analytic Rsqrt = arithmetic::rsqrt, ();
        sine Sin = Analytic::a_sin, ();
        cosine Cos = Analytic::a_cos, ();
        analytic Tanh = Analytic::a_tanh, ();
        analytic Reciprocal = arithmetic::reciprocal, ();
        analytic Sigmoid = activation::sigmoid, ();
        analytic Silu = activation::silu, ();
        analytic TanhBackward = activation::tanh_backward, (b);
        analytic SigmoidBackward = activation::sigmoid_backward, (b);
        analytic SiluBackward = activation::silu_backward, (b);
        real Erf = Float::erf, ();
        real Gelu = activation::gelu, ();
        real GeluTanh = activation::gelu_tanh, ();
        real GeluBackward = activation::gelu_backward, (b);
        real GeluTanhBackward = activation::gelu_tanh_backward, (b);
        real FastGelu = activation::fast_gelu, ();
        real Swish = activation::swish, (b);
        real Hardsigmoid = activation::hardsigmoid, ();
        real Hardswish = activation::hardswish, ();
        real Elu = activation::elu, (b c d);
        real LeakyRelu = activation::leaky_relu, (b);
        real LeakyReluBackward = activation::leaky_relu_backward, (b c);
        real SwiGlu = activation::swi_glu, (b);
        real GeGlu = activation::ge_glu, (b);
        real GeGluTanh = activation::ge_glu_tanh, (b);
    }
    blocks {
        number Addr = arithmetic::addr, (b c d e);
        number Neg = Num::negated, ();
        number Cube = arithmetic::cube, ();
        number Eq = arithmetic::eq, (b);
        number Ne = arithmetic::ne, (b);
        number LogicalAnd = arithmetic::logical_and, (b);
        number LogicalOr = arithmetic::logical_or, (b);
        number LogicalXor = arithmetic::logical_xor, (b);
        number LogicalNot = arithmetic::logical_not, ();

        ordered Lt = arithmetic::lt, (b);
        ordered Le = arithmetic::le, (b);
        ordered Gt = arithmetic::gt, (b);
        ordered Ge = arithmetic::ge, (b);
        ordered Abs = arithmetic::abs, ();
        ordered Sign = arithmetic::sign, ();
        ordered FloorDiv = arithmetic::floor_div, (b);
        ordered TruncDiv = arithmetic::trunc_div, (b);
        ordered Fmod = OrderedNumber::rest, (b);
        ordered Remainder = arithmetic::remainder, (b);
        ordered Heaviside = arithmetic::heaviside, (b);
        ordered HardtanhBackward = activation::hardtanh_backward, (b c d);

        integer BitAnd = Integer::and, (b);
        integer BitOr = Integer::or, (b);
        integer BitXor = Integer::xor, (b);
        integer BitNot = Integer::not, ();
        integer Left = Integer::left, (b);
        integer Right = Integer::right, (b);
        integer Gcd = Integer::gcd, (b);

        analytic Tan = Analytic::a_tan, ();
        analytic Asin = Analytic::a_asin, ();
        analytic Acos = Analytic::a_acos, ();
        analytic Atan = Analytic::a_atan, ();
        analytic Sinh = Analytic::a_sinh, ();
        analytic Cosh = Analytic::a_cosh, ();
        analytic Asinh = Analytic::a_asinh, ();
        analytic Acosh = Analytic::a_acosh, ();
        analytic Atanh = Analytic::a_atanh, ();

        complex ComplexAbs = complex::ComplexOnly::size, ();
        complex ComplexSign = complex::ComplexOnly::direction, ();
        complex ComplexAngle = complex::ComplexOnly::angle, ();
        complex ComplexIsFinite = complex::ComplexOnly::is_all_finite, ();
        complex ComplexIsInf = complex::ComplexOnly::is_any_infinite, ();
        complex Join = complex::ComplexOnly::join, (b);
        complex Polar = complex::ComplexOnly::polar, (b);
        complex ComplexExp2 = complex::ComplexOnly::exp2, ();
        complex ComplexLog2 = complex::ComplexOnly::log2, ();
        complex ComplexLog10 = complex::ComplexOnly::log10, ();
        complex ComplexExpm1 = complex::ComplexOnly::exp_m1, ();
        complex ComplexLog1p = complex::ComplexOnly::ln_1p, ();
        complex ComplexSinc = complex::ComplexOnly::sinc, ();
        complex ComplexLogAddExp = complex::ComplexOnly::log_add_exp, (b);
        complex ComplexIsClose = complex::ComplexOnly::is_close, (b c d e);

        real FloorDivF16 = arithmetic::floor_div_stored::<_, F16>, (b);
        real FloorDivBf16 = arithmetic::floor_div_stored::<_, BF16>, (b);
        real TruncDivF16 = arithmetic::trunc_div_stored::<_, F16>, (b);
        real TruncDivBf16 = arithmetic::trunc_div_stored::<_, BF16>, (b);
        real Exp2 = Real::exp2, ();
        real Log2 = Real::log2, ();
        real Log10 = Real::log10, ();
        real Expm1 = Float::exp_m1, ();
        real Log1p = Float::ln_1p, ();
        real Erfc = Float::erfc, ();
        real Erfinv = special::erfinv, ();
        real Ceil = Float::ceil, ();
        real Floor = Float::floor, ();
        real Trunc = OrderedNumber::truncated, ();
        real Round = Float::round_ties_even, ();
        real RoundTo = special::round_to, (b);
        real Frac = special::frac, ();
        real Sinc = special::sinc, ();
        real FastGeluBackward = activation::fast_gelu_backward, (b);
        real SwishBackward = activation::swish_backward, (b c);
        real HardsigmoidBackward = activation::hardsigmoid_backward, (b);
        real HardswishBackward = activation::hardswish_backward, (b);
        real Mish = activation::mish, ();
        real MishBackward = activation::mish_backward, (b);
        real EluBackward = activation::elu_backward, (b c d e);
        real EluBackwardOfResult = activation::elu_backward_of_result, (b c d e);
        real LogSigmoid = activation::log_sigmoid, ();
        real LogSigmoidBackward = activation::log_sigmoid_backward, (b);
        real Softplus = activation::softplus, (b c);
        real SoftplusBackward = activation::softplus_backward, (b c d);
        real Softshrink = activation::softshrink, (b);
        real Shrink = activation::shrink, (b c);
        real ShrinkBackward = activation::shrink_backward, (b c);
        real Hardshrink = activation::hardshrink, (b);
        real Logit = special::logit, ();
        real LogitClamped = special::logit_clamped, (b);
        real LogitBackward = special::logit_backward, (b c);
        real NanToNum = special::nan_to_num, (b c d);
        real Signbit = special::signbit, ();
        real IsFinite = special::is_finite, ();
        real IsInf = special::is_inf, ();
        real IsPosInf = special::is_pos_inf, ();
        real IsNegInf = special::is_neg_inf, ();
        real IsClose = special::is_close, (b c d e);
        real Atan2 = Real::atan2, (b);
        real LogAddExp = special::log_add_exp, (b);
        real LogAddExp2 = special::log_add_exp2, (b);
        real XLogY = special::xlogy, (b);
        real Angle = special::angle, ();
        real Lgamma = Real::lgamma, ();
        real Digamma = special::digamma, ();
        real SquaredRelu = activation::squared_relu, ();
        real SeluBackward = activation::selu_backward, (b);
        real Prelu = activation::prelu, (b);
        real PreluBackward = activation::prelu_backward, (b c);
        real PreluWeight = activation::prelu_weight, (b);
        real Glu = activation::glu, (b);
        real GluGate = activation::glu_gate, (b c);
        real SwiGluGate = activation::swi_glu_gate, (b c);
        real GeGluGate = activation::ge_glu_gate, (b c);
        real GeGluTanhGate = activation::ge_glu_tanh_gate, (b c);
        real SmoothL1 = loss::smooth_l1, (b);
        real SmoothL1Backward = loss::smooth_l1_backward, (b);
        real CrossEntropy = loss::cross_entropy, (b);
        real CrossEntropyBackward = loss::cross_entropy_backward, (b);
        real LogitEntropy = loss::logit_entropy, (b c);
        real LogitEntropyBackward = loss::logit_entropy_backward, (b c);
        real LogitEntropyTarget = loss::logit_entropy_target, (b);
        real SoftMargin = loss::soft_margin, (b);
        real SoftMarginBackward = loss::soft_margin_backward, (b);
        real Divergence = loss::divergence, (b);
        real DivergenceTarget = loss::divergence_target, (b);
        real LogDivergence = loss::log_divergence, (b);
        real LogDivergenceTarget = loss::log_divergence_target, (b);
    }
}

impl F {
    /// Returns whether a host scalar has the type of the tensors before the function sees it. Others compute with the scalar as it is
    /// and round the result alone, as PyTorch does on accelerators: a sum with 0.1 is that with float32's 0.1.
    pub const fn rounds_scalars(self) -> bool {
        matches!(
            self,
            F::Eq
                | F::Ne
                | F::Lt
                | F::Le
                | F::Gt
                | F::Ge
                | F::Fmod
                | F::Remainder
                | F::Pow
                | F::Hardshrink
                | F::Softshrink
                | F::ShrinkBackward
                | F::FloorDivF16
                | F::FloorDivBf16
                | F::TruncDivF16
                | F::TruncDivBf16
        )
    }
}

/// A constant.
#[inline(always)]
fn k<A: Real>(value: f64) -> A {
    <A as Num>::of(value)
}
