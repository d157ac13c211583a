//! Blocks of numbers in the few types that are computed in.
//!
//! A kernel built for each element type and each function would be most of the library. So a function is written for
//! float32, float64, int64 and uint64 alone; elements of other types are brought into one of these a block at a time,
//! and back. What is brought back keeps its low bits, so that integers wrap around in their own type.

use std::cmp::Ordering;

use super::number::Number;
use super::reduce::Join;
pub use crate::float::Float;
use crate::simd::convert::LowPrecision;
use crate::view::{BF16, Bool8, Element, F16};

/// How many elements a block has.
pub(crate) const BLOCK: usize = 256;

/// A type that functions are written for.
pub(crate) trait ComputeType: Element + PartialOrd {
    /// Runs a function of one number over a block, in place.
    fn run1(function: &dyn Lanes1, x: &mut [Self]);
    /// Runs a function of two numbers over a block; the first operand becomes the result.
    fn run2(function: &dyn Lanes2, a: &mut [Self], b: &[Self]);
    /// Whether it stands for true.
    fn to_bool(self) -> bool;
}

/// A type that sums, products and comparisons over many elements are kept in.
pub(crate) trait Wide: ComputeType {
    const ZERO: Self;
    const ONE: Self;
    fn of(value: f64) -> Self;
    fn real(self) -> f64;
    fn size(self) -> Self;
    fn times(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    /// The quotient by a number of elements.
    fn over(self, count: usize) -> Self;
    /// Compares by value. What is not a number comes last, and is equal to itself.
    fn order(self, other: Self) -> Ordering {
        let odd = |x: Self| x.partial_cmp(&x).is_none();
        self.partial_cmp(&other)
            .unwrap_or_else(|| odd(self).cmp(&odd(other)))
    }
    /// Joins the elements of a block to one number: a sum, a product, the largest or the smallest.
    fn fold(join: Join, start: Self, block: &[Self]) -> Self;
    /// Joins two blocks, element by element; the first becomes the result.
    fn join(join: Join, own: &mut [Self], block: &[Self]);
}

/// A function of one number over blocks. A definition's list of types says which of these are called.
pub(crate) trait Lanes1: Send + Sync + 'static {
    fn f32(&self, _x: &mut [f32]) {}
    fn f64(&self, _x: &mut [f64]) {}
    fn i64(&self, _x: &mut [i64]) {}
    fn u64(&self, _x: &mut [u64]) {}
}

/// A function of two numbers over blocks; the first operand becomes the result.
pub(crate) trait Lanes2: Send + Sync + 'static {
    fn f32(&self, _a: &mut [f32], _b: &[f32]) {}
    fn f64(&self, _a: &mut [f64], _b: &[f64]) {}
    fn i64(&self, _a: &mut [i64], _b: &[i64]) {}
    fn u64(&self, _a: &mut [u64], _b: &[u64]) {}
}

macro_rules! compute {
    ($($type:ident)*) => {$(
        impl ComputeType for $type {
            fn run1(function: &dyn Lanes1, x: &mut [$type]) { function.$type(x) }
            fn run2(function: &dyn Lanes2, a: &mut [$type], b: &[$type]) { function.$type(a, b) }
            #[inline(always)] fn to_bool(self) -> bool { self != 0 as $type }
        }
    )*};
}

compute! { f32 f64 i64 u64 }

/// How many sums run side by side, so that a processor can add at once.
const SIDE: usize = 8;

macro_rules! wide {
    ($($type:ident)*) => {$(
        impl Wide for $type {
            const ZERO: $type = 0 as $type;
            const ONE: $type = 1 as $type;
            #[inline(always)] fn of(value: f64) -> $type { value as $type }
            #[inline(always)] fn real(self) -> f64 { self as f64 }
            #[inline(always)] fn size(self) -> $type { Number::abs(self) }
            #[inline(always)] fn times(self, other: $type) -> $type { Number::mul(self, other) }
            #[inline(always)] fn plus(self, other: $type) -> $type { Number::add(self, other) }
            #[inline(always)] fn over(self, count: usize) -> $type { Number::div(self, count as $type) }

            fn fold(join: Join, start: $type, block: &[$type]) -> $type {
                fn side(start: $type, idle: $type, block: &[$type], f: impl Fn($type, $type) -> $type) -> $type {
                    let mut sums = [idle; SIDE];
                    let groups = block.chunks_exact(SIDE);
                    let mut total = groups.remainder().iter().fold(start, |sum, &x| f(sum, x));
                    for group in groups {
                        for (sum, &x) in sums.iter_mut().zip(group) {
                            *sum = f(*sum, x);
                        }
                    }
                    for sum in sums {
                        total = f(total, sum);
                    }
                    total
                }
                match join {
                    Join::Product => side(start, Self::ONE, block, Number::mul),
                    Join::Most => side(start, start, block, Number::max),
                    Join::Least => side(start, start, block, Number::min),
                    _ => side(start, Self::ZERO, block, Number::add),
                }
            }

            fn join(join: Join, own: &mut [$type], block: &[$type]) {
                fn each(own: &mut [$type], block: &[$type], f: impl Fn($type, $type) -> $type) {
                    for (sum, &x) in own.iter_mut().zip(block) {
                        *sum = f(*sum, x);
                    }
                }
                match join {
                    Join::Product => each(own, block, Number::mul),
                    Join::Most => each(own, block, Number::max),
                    Join::Least => each(own, block, Number::min),
                    _ => each(own, block, Number::add),
                }
            }
        }
    )*};
}

wide! { f64 i64 u64 }

/// An element type that can be brought into the types that are computed in.
pub(crate) trait ConvertibleElement: Element {
    /// The type of functions of one and two numbers.
    type ComputeType: ComputeType;
    /// The type of sums and comparisons over many elements.
    type Wide: Wide;
    /// The smallest value, and the largest.
    const LEAST: Self::Wide;
    const MOST: Self::Wide;
    fn to_compute(self) -> Self::ComputeType;
    fn from_compute(value: Self::ComputeType) -> Self;
    fn widen(self) -> Self::Wide;
    fn from_wide(wide: Self::Wide) -> Self;
    fn from_real(value: f64) -> Self;
    fn from_signed(value: i64) -> Self;
    fn from_unsigned(value: u64) -> Self;
}

macro_rules! carried {
    ($($type:ident: $compute:ident, $wide:ident, $least:expr, $most:expr, $to_compute:expr, $from_compute:expr, $widen:expr, $from_wide:expr,
       $real:expr, $signed:expr, $unsigned:expr;)*) => {$(
        impl ConvertibleElement for $type {
            type ComputeType = $compute;
            type Wide = $wide;
            const LEAST: $wide = $least;
            const MOST: $wide = $most;
            #[inline(always)] fn to_compute(self) -> $compute { ($to_compute)(self) }
            #[inline(always)] fn from_compute(value: $compute) -> $type { ($from_compute)(value) }
            #[inline(always)] fn widen(self) -> $wide { ($widen)(self) }
            #[inline(always)] fn from_wide(wide: $wide) -> $type { ($from_wide)(wide) }
            #[inline(always)] fn from_real(value: f64) -> $type { ($real)(value) }
            #[inline(always)] fn from_signed(value: i64) -> $type { ($signed)(value) }
            #[inline(always)] fn from_unsigned(value: u64) -> $type { ($unsigned)(value) }
        }
    )*};
}

macro_rules! integer {
    ($($type:ident: $compute:ident;)*) => {
        carried! {$(
            $type: $compute, $compute, $type::MIN as $compute, $type::MAX as $compute,
                |x: $type| x as $compute, |x: $compute| x as $type, |x: $type| x as $compute, |x: $compute| x as $type,
                // Reals are cut towards zero and stop at the bounds; integers keep their low bits.
                |x: f64| x as $type, |x: i64| x as $type, |x: u64| x as $type;
        )*}
    };
}

integer! { i8: i64; i16: i64; i32: i64; i64: i64; u8: u64; u16: u64; u32: u64; u64: u64; }

carried! {
    f32: f32, f64, f64::NEG_INFINITY, f64::INFINITY,
        |x: f32| x, |x: f32| x, f64::from, |x: f64| x as f32, |x: f64| x as f32, |x: i64| x as f32, |x: u64| x as f32;
    f64: f64, f64, f64::NEG_INFINITY, f64::INFINITY,
        |x: f64| x, |x: f64| x, |x: f64| x, |x: f64| x, |x: f64| x, |x: i64| x as f64, |x: u64| x as f64;
    F16: f32, f64, f64::NEG_INFINITY, f64::INFINITY,
        LowPrecision::widen, <F16 as LowPrecision>::rounded, |x: F16| f64::from(LowPrecision::widen(x)), F16::from_f64, F16::from_f64,
        |x: i64| F16::from_f64(x as f64), |x: u64| F16::from_f64(x as f64);
    BF16: f32, f64, f64::NEG_INFINITY, f64::INFINITY,
        LowPrecision::widen, <BF16 as LowPrecision>::rounded, |x: BF16| f64::from(LowPrecision::widen(x)), BF16::from_f64, BF16::from_f64,
        |x: i64| BF16::from_f64(x as f64), |x: u64| BF16::from_f64(x as f64);
    Bool8: u64, u64, 0, 1,
        |x: Bool8| u64::from(x.get()), |x: u64| Bool8::from(x != 0), |x: Bool8| u64::from(x.get()), |x: u64| Bool8::from(x != 0),
        |x: f64| Bool8::from(x != 0.0), |x: i64| Bool8::from(x != 0), |x: u64| Bool8::from(x != 0);
}

/// Runs a body for any type that is carried.
macro_rules! for_carried {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::kernels::number::for_dtype!(
            $dtype,
            [
                Float32 => f32, Float64 => f64, Float16 => $crate::view::F16, BFloat16 => $crate::view::BF16,
                Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
                UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64, Bool => $crate::view::Bool8,
            ],
            $T => $body
        )
    };
}

pub(crate) use for_carried;
