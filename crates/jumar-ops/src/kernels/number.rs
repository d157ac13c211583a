//! Arithmetic over element types.

use crate::simd::convert::LowPrecision;
use crate::view::{BF16, Element, F16};

/// A number that operators compute with in its own type.
///
/// Integers wrap around, as they do on the card and in NumPy. Half-precision numbers go through float32.
#[allow(dead_code, reason = "a complete set reads better than one with holes")]
pub(crate) trait Number: Element + PartialOrd {
    /// The type that sums of products are kept in: never narrower than float32.
    type Wide: Number;
    const LOWEST: Self;
    const HIGHEST: Self;
    fn wide(self) -> Self::Wide;
    fn from_wide(wide: Self::Wide) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// Divides. Integers are cut towards zero; by zero they give zero, where no standard says what they give.
    fn div(self, other: Self) -> Self;
    /// What a division that is cut towards zero leaves. Of integers by zero it leaves zero.
    fn rem(self, other: Self) -> Self;
    /// The larger one; not-a-number wins.
    fn max(self, other: Self) -> Self;
    /// The smaller one; not-a-number wins.
    fn min(self, other: Self) -> Self;
    fn pow(self, power: Self) -> Self;
    fn abs(self) -> Self;
    fn neg(self) -> Self;
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! floats {
    ($($type:ident, $float:ident;)*) => {$(
        impl Number for $type {
            type Wide = $type;
            const LOWEST: $type = $float::NEG_INFINITY;
            const HIGHEST: $type = $float::INFINITY;
            #[inline(always)] fn wide(self) -> $type { self }
            #[inline(always)] fn from_wide(wide: $type) -> $type { wide }
            #[inline(always)] fn add(self, other: $type) -> $type { self + other }
            #[inline(always)] fn sub(self, other: $type) -> $type { self - other }
            #[inline(always)] fn mul(self, other: $type) -> $type { self * other }
            #[inline(always)] fn div(self, other: $type) -> $type { self / other }
            #[inline(always)] fn rem(self, other: $type) -> $type { self % other }
            #[inline(always)] fn max(self, other: $type) -> $type {
                if self > other || self.is_nan() { self } else { other }
            }
            #[inline(always)] fn min(self, other: $type) -> $type {
                if self < other || self.is_nan() { self } else { other }
            }
            #[inline(always)] fn pow(self, power: $type) -> $type { $float::powf(self, power) }
            #[inline(always)] fn abs(self) -> $type { $float::abs(self) }
            #[inline(always)] fn neg(self) -> $type { -self }
            #[inline(always)] fn from_f64(value: f64) -> $type { value as $type }
            #[inline(always)] fn to_f64(self) -> f64 { self as f64 }
        }
    )*};
}

macro_rules! halves {
    ($($type:ident;)*) => {$(
        impl Number for $type {
            type Wide = f32;
            const LOWEST: $type = $type::NEG_INFINITY;
            const HIGHEST: $type = $type::INFINITY;
            #[inline(always)] fn wide(self) -> f32 { self.widen() }
            #[inline(always)] fn from_wide(wide: f32) -> $type { $type::rounded(wide) }
            #[inline(always)] fn add(self, other: $type) -> $type { $type::rounded(self.widen() + other.widen()) }
            #[inline(always)] fn sub(self, other: $type) -> $type { $type::rounded(self.widen() - other.widen()) }
            #[inline(always)] fn mul(self, other: $type) -> $type { $type::rounded(self.widen() * other.widen()) }
            #[inline(always)] fn div(self, other: $type) -> $type { $type::rounded(self.widen() / other.widen()) }
            #[inline(always)] fn rem(self, other: $type) -> $type { $type::rounded(self.widen() % other.widen()) }
            #[inline(always)] fn max(self, other: $type) -> $type {
                if self > other || $type::is_nan(self) { self } else { other }
            }
            #[inline(always)] fn min(self, other: $type) -> $type {
                if self < other || $type::is_nan(self) { self } else { other }
            }
            #[inline(always)] fn pow(self, power: $type) -> $type {
                $type::rounded(self.widen().powf(power.widen()))
            }
            #[inline(always)] fn abs(self) -> $type { $type::rounded(self.widen().abs()) }
            #[inline(always)] fn neg(self) -> $type { -self }
            #[inline(always)] fn from_f64(value: f64) -> $type { $type::from_f64(value) }
            #[inline(always)] fn to_f64(self) -> f64 { self.widen().into() }
        }
    )*};
}

/// Whole powers wrap around; a negative power of an integer is 0, except of 1 and -1.
macro_rules! integer_pow {
    ($type:ident, $base:expr, $power:expr) => {{
        let (mut base, mut result): ($type, $type) = ($base, 1);
        let mut power = match u64::try_from($power) {
            Ok(power) => power,
            // -1 and 1 are their own inverses.
            Err(_) if base == 1 || base == (0 as $type).wrapping_sub(1) => {
                2 + u64::from($power % 2 != 0)
            }
            Err(_) => return 0,
        };
        while power > 0 {
            if power & 1 == 1 {
                result = result.wrapping_mul(base);
            }
            base = base.wrapping_mul(base);
            power >>= 1;
        }
        result
    }};
}

macro_rules! integers {
    ($($type:ident, $wide:ident;)*) => {$(
        impl Number for $type {
            type Wide = $wide;
            const LOWEST: $type = $type::MIN;
            const HIGHEST: $type = $type::MAX;
            #[inline(always)] fn wide(self) -> $wide { $wide::from(self) }
            #[inline(always)] fn from_wide(wide: $wide) -> $type { wide as $type }
            #[inline(always)] fn add(self, other: $type) -> $type { self.wrapping_add(other) }
            #[inline(always)] fn sub(self, other: $type) -> $type { self.wrapping_sub(other) }
            #[inline(always)] fn mul(self, other: $type) -> $type { self.wrapping_mul(other) }
            #[inline(always)] fn div(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)] fn rem(self, other: $type) -> $type {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)] fn max(self, other: $type) -> $type { Ord::max(self, other) }
            #[inline(always)] fn min(self, other: $type) -> $type { Ord::min(self, other) }
            #[inline(always)] fn pow(self, power: $type) -> $type { integer_pow!($type, self, power) }
            #[inline(always)] fn abs(self) -> $type { if self.lt(&0) { self.neg() } else { self } }
            #[inline(always)] fn neg(self) -> $type { (0 as $type).wrapping_sub(self) }
            #[inline(always)] fn from_f64(value: f64) -> $type { value as $type }
            #[inline(always)] fn to_f64(self) -> f64 { self as f64 }
        }
    )*};
}

floats! { f32, f32; f64, f64; }
halves! { F16; BF16; }
integers! {
    i8, i32; i16, i32; i32, i32; i64, i64;
    u8, u32; u16, u32; u32, u32; u64, u64;
}

/// A float with the functions of analysis, computed in at least float32.
pub(crate) trait Real: Number<Wide: Analysis> {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for F16 {}
impl Real for BF16 {}

/// The functions of analysis, in float32 or float64.
#[allow(dead_code, reason = "a complete set reads better than one with holes")]
pub(crate) trait Analysis: Number<Wide = Self> + Copy {
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn abs(self) -> Self;
    fn constant(value: f64) -> Self;
}

macro_rules! analysis {
    ($($type:ident)*) => {$(
        impl Analysis for $type {
            #[inline(always)] fn exp(self) -> $type { $type::exp(self) }
            #[inline(always)] fn ln(self) -> $type { $type::ln(self) }
            #[inline(always)] fn sqrt(self) -> $type { $type::sqrt(self) }
            #[inline(always)] fn tanh(self) -> $type { $type::tanh(self) }
            #[inline(always)] fn abs(self) -> $type { $type::abs(self) }
            #[inline(always)] fn constant(value: f64) -> $type { value as $type }
        }
    )*};
}

analysis! { f32 f64 }

/// Runs a body with `$T` as the Rust type of a data type, among those listed.
macro_rules! for_dtype {
    ($dtype:expr, [$($variant:ident => $type:ty),* $(,)?], $T:ident => $body:expr) => {
        match $dtype {
            $(jumar_types::dtype::DataType::$variant => {
                type $T = $type;
                $body
            })*
            other => Err($crate::OpError::unsupported(format!("the type {other} is not supported"))),
        }
    };
}

/// Runs a body for any number type.
macro_rules! for_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::kernels::number::for_dtype!(
            $dtype,
            [
                Float32 => f32, Float64 => f64, Float16 => $crate::view::F16, BFloat16 => $crate::view::BF16,
                Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
                UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64,
            ],
            $T => $body
        )
    };
}

/// Runs a body for any real floating-point type.
macro_rules! for_real {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::kernels::number::for_dtype!(
            $dtype,
            [Float32 => f32, Float64 => f64, Float16 => $crate::view::F16, BFloat16 => $crate::view::BF16],
            $T => $body
        )
    };
}

/// Runs a body with an unsigned integer type as wide as the data type, for kernels that only move elements.
macro_rules! for_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match jumar_types::dtype::DataType::size($dtype) {
            Some(1) => {
                type $T = u8;
                $body
            }
            Some(2) => {
                type $T = u16;
                $body
            }
            Some(4) => {
                type $T = u32;
                $body
            }
            Some(8) => {
                type $T = u64;
                $body
            }
            Some(16) => {
                type $T = u128;
                $body
            }
            _ => Err($crate::OpError::unsupported(format!(
                "the type {} is not supported",
                $dtype
            ))),
        }
    };
}

pub(crate) use {for_dtype, for_number, for_real, for_width};
