//! The types that elements lie in memory as, and the few types that functions are computed in.
//!
//! A function built for each element type would be most of the library. So functions are written for float32, float64,
//! int64, uint64 and two complex types alone, the lanes. Elements are converted into a lane a block at a time, and back.

use half::slice::HalfFloatSliceExt;
use jumar_ops::math::{Work, wide};
use jumar_ops::view::{BF16, Bool8, Element, F16, Row, RowMut};
use jumar_types::dtype::DataType;
use num_complex::Complex;

use crate::Scalar;

/// Two binary32 numbers.
pub(crate) type C64 = Complex<f32>;
/// Two binary64 numbers.
pub(crate) type C128 = Complex<f64>;

/// A type that functions are computed in.
pub(crate) trait Lane:
    Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static
{
    fn of_f32(value: f32) -> Self;
    fn of_f64(value: f64) -> Self;
    fn of_i64(value: i64) -> Self;
    fn of_u64(value: u64) -> Self;
    fn of_complex(real: f64, imaginary: f64) -> Self;
    /// Converts to an integer type: reals are truncated and saturate, integers wrap around.
    fn i8(self) -> i8;
    fn i16(self) -> i16;
    fn i32(self) -> i32;
    fn i64(self) -> i64;
    fn u8(self) -> u8;
    fn u16(self) -> u16;
    fn u32(self) -> u32;
    fn u64(self) -> u64;
    fn f32(self) -> f32;
    fn f64(self) -> f64;
    fn f16(self) -> F16;
    fn bf16(self) -> BF16;
    fn imaginary(self) -> f64;
    /// Whether the value is not zero.
    fn truth(self) -> bool;

    /// Converts a host scalar.
    fn of_scalar(scalar: &Scalar) -> Self;
}

macro_rules! real_lanes {
    ($($lane:ident, $scalar:expr;)*) => {$(
        impl Lane for $lane {
            #[inline(always)] fn of_f32(value: f32) -> $lane { value as $lane }
            #[inline(always)] fn of_f64(value: f64) -> $lane { value as $lane }
            #[inline(always)] fn of_i64(value: i64) -> $lane { value as $lane }
            #[inline(always)] fn of_u64(value: u64) -> $lane { value as $lane }
            #[inline(always)] fn of_complex(real: f64, _: f64) -> $lane { real as $lane }
            real_lanes! { @to $lane: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
            #[inline(always)] fn f16(self) -> F16 { half_of!(f16 $lane self) }
            #[inline(always)] fn bf16(self) -> BF16 { half_of!(bf16 $lane self) }
            #[inline(always)] fn imaginary(self) -> f64 { 0.0 }
            #[inline(always)] fn truth(self) -> bool { self != 0 as $lane }
            fn of_scalar(scalar: &Scalar) -> $lane { ($scalar)(scalar) }
        }
    )*};
    (@to $lane:ident: $($name:ident)*) => {
        $(#[inline(always)] fn $name(self) -> $name { self as $name })*
    };
}

/// float32 converts in one step; the others go through float64.
macro_rules! half_of {
    (f16 f32 $value:ident) => {
        F16::from_f32($value)
    };
    (bf16 f32 $value:ident) => {
        BF16::from_f32($value)
    };
    (f16 $lane:ident $value:ident) => {
        F16::from_f64($value as f64)
    };
    (bf16 $lane:ident $value:ident) => {
        BF16::from_f64($value as f64)
    };
}

/// Integers keep all their bits; a real scalar in an integer lane is truncated.
fn whole(scalar: &Scalar) -> i64 {
    scalar.int()
}

real_lanes! {
    f32, |scalar: &Scalar| if scalar.dtype().is_integer() { scalar.int() as f32 } else { scalar.real() as f32 };
    f64, |scalar: &Scalar| scalar.real();
    i64, whole;
    u64, |scalar: &Scalar| whole(scalar) as u64;
}

macro_rules! complex_lanes {
    ($($part:ident)*) => {$(
        impl Lane for Complex<$part> {
            #[inline(always)] fn of_f32(value: f32) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_f64(value: f64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_i64(value: i64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_u64(value: u64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_complex(real: f64, imaginary: f64) -> Self {
                Complex::new(real as $part, imaginary as $part)
            }
            complex_lanes! { @to $part: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
            #[inline(always)] fn f16(self) -> F16 { self.re.f16() }
            #[inline(always)] fn bf16(self) -> BF16 { self.re.bf16() }
            #[inline(always)] fn imaginary(self) -> f64 { self.im as f64 }
            #[inline(always)] fn truth(self) -> bool { self.re != 0.0 || self.im != 0.0 }
            fn of_scalar(scalar: &Scalar) -> Self {
                let (real, imaginary) = scalar.complex();
                Complex::new(real as $part, imaginary as $part)
            }
        }
    )*};
    (@to $part:ident: $($name:ident)*) => {
        $(#[inline(always)] fn $name(self) -> $name { self.re as $name })*
    };
}

complex_lanes! { f32 f64 }

/// An element type of tensors in memory.
pub(crate) trait Cell: 'static {
    /// The plain type of the same width that memory is read as.
    type Raw: Element;
    fn lift<L: Lane>(raw: Self::Raw) -> L;
    fn land<L: Lane>(lane: L) -> Self::Raw;

    /// Converts elements that lie side by side.
    #[inline(always)]
    fn lift_group<L: Lane>(raw: [Self::Raw; GROUP]) -> [L; GROUP] {
        raw.map(
            #[inline(always)]
            |raw| Self::lift(raw),
        )
    }

    /// Converts to elements that lie side by side.
    #[inline(always)]
    fn land_group<L: Lane>(lanes: [L; GROUP]) -> [Self::Raw; GROUP] {
        lanes.map(
            #[inline(always)]
            |lane| Self::land(lane),
        )
    }
}

/// How many elements are loaded or stored at once.
const GROUP: usize = 16;

macro_rules! cells {
    ($($type:ident, $lift:expr, $land:ident;)*) => {$(
        impl Cell for $type {
            type Raw = $type;
            #[inline(always)] fn lift<L: Lane>(raw: $type) -> L { ($lift)(raw) }
            #[inline(always)] fn land<L: Lane>(lane: L) -> $type { lane.$land() }
        }
    )*};
}

cells! {
    f32, L::of_f32, f32;
    f64, L::of_f64, f64;
    i8, |raw| L::of_i64(i64::from(raw)), i8;
    i16, |raw| L::of_i64(i64::from(raw)), i16;
    i32, |raw| L::of_i64(i64::from(raw)), i32;
    i64, L::of_i64, i64;
    u8, |raw| L::of_u64(u64::from(raw)), u8;
    u16, |raw| L::of_u64(u64::from(raw)), u16;
    u32, |raw| L::of_u64(u64::from(raw)), u32;
    u64, L::of_u64, u64;
    BF16, |raw: BF16| L::of_f32(f32::from(raw)), bf16;
}

impl Cell for F16 {
    type Raw = F16;

    #[inline(always)]
    fn lift<L: Lane>(raw: F16) -> L {
        L::of_f32(f32::from(raw))
    }

    #[inline(always)]
    fn land<L: Lane>(lane: L) -> F16 {
        lane.f16()
    }

    #[inline(always)]
    fn lift_group<L: Lane>(raw: [F16; GROUP]) -> [L; GROUP] {
        let mut wide = [0.0f32; GROUP];
        raw.convert_to_f32_slice(&mut wide);
        wide.map(L::of_f32)
    }
}

impl Cell for Bool8 {
    type Raw = Bool8;

    #[inline(always)]
    fn lift<L: Lane>(raw: Bool8) -> L {
        L::of_u64(u64::from(raw.get()))
    }

    #[inline(always)]
    fn land<L: Lane>(lane: L) -> Bool8 {
        Bool8::from(lane.truth())
    }
}

/// A complex32 element.
pub(crate) enum Complex32 {}
/// A complex64 element.
pub(crate) enum Complex64 {}
/// A complex128 element.
pub(crate) enum Complex128 {}

impl Cell for Complex32 {
    type Raw = u32;

    #[inline(always)]
    fn lift<L: Lane>(raw: u32) -> L {
        let part = |bits: u32| F16::from_bits(bits as u16).to_f64();
        L::of_complex(part(raw), part(raw >> 16))
    }

    #[inline(always)]
    fn land<L: Lane>(lane: L) -> u32 {
        let (real, imaginary) = (lane.f16(), F16::from_f64(lane.imaginary()));
        u32::from(real.to_bits()) | u32::from(imaginary.to_bits()) << 16
    }
}

impl Cell for Complex64 {
    type Raw = u64;

    #[inline(always)]
    fn lift<L: Lane>(raw: u64) -> L {
        let part = |bits: u64| f64::from(f32::from_bits(bits as u32));
        L::of_complex(part(raw), part(raw >> 32))
    }

    #[inline(always)]
    fn land<L: Lane>(lane: L) -> u64 {
        let imaginary = (lane.imaginary() as f32).to_bits();
        u64::from(lane.f32().to_bits()) | u64::from(imaginary) << 32
    }
}

impl Cell for Complex128 {
    type Raw = u128;

    #[inline(always)]
    fn lift<L: Lane>(raw: u128) -> L {
        let part = |bits: u128| f64::from_bits(bits as u64);
        L::of_complex(part(raw), part(raw >> 64))
    }

    #[inline(always)]
    fn land<L: Lane>(lane: L) -> u128 {
        u128::from(lane.f64().to_bits()) | u128::from(lane.imaginary().to_bits()) << 64
    }
}

/// Runs a body with the cell type of a data type; `$other` for types that elementwise operators do not know.
macro_rules! for_cell {
    ($dtype:expr, $C:ident => $body:expr, $other:expr) => {{
        use jumar_types::dtype::DataType as D;
        for_cell! { @match $dtype, $C => $body, $other;
            Float32 => f32, Float64 => f64, Float16 => jumar_ops::view::F16, BFloat16 => jumar_ops::view::BF16,
            Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
            UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64, Bool => jumar_ops::view::Bool8,
            Complex32 => $crate::element::lane::Complex32, Complex64 => $crate::element::lane::Complex64,
            Complex128 => $crate::element::lane::Complex128,
        }
    }};
    (@match $dtype:expr, $C:ident => $body:expr, $other:expr; $($name:ident => $type:ty,)*) => {
        match $dtype {
            $(D::$name => {
                type $C = $type;
                $body
            })*
            _ => $other,
        }
    };
}

pub(crate) use for_cell;

/// Reports whether elementwise operators know a type.
pub(crate) const fn is_cell(dtype: DataType) -> bool {
    dtype.is_float()
        || dtype.is_integer()
        || matches!(
            dtype,
            DataType::Bool | DataType::Complex32 | DataType::Complex64 | DataType::Complex128
        )
}

/// Converts a row of elements into a block.
#[inline]
pub(crate) fn load<C: Cell, L: Lane>(row: Row<'_, C::Raw>, block: &mut [L]) {
    if !row.is_dense() {
        row.load(block, C::lift);
        return;
    }
    wide(Load::<C, L> { row, block });
}

struct Load<'a, C: Cell, L> {
    row: Row<'a, C::Raw>,
    block: &'a mut [L],
}

impl<C: Cell, L: Lane> Work for Load<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (groups, rest) = self.block.as_chunks_mut::<GROUP>();
        let grouped = groups.len() * GROUP;
        for (index, group) in groups.iter_mut().enumerate() {
            *group = C::lift_group(self.row.group::<GROUP>(index * GROUP));
        }
        for (index, slot) in rest.iter_mut().enumerate() {
            *slot = C::lift(self.row.get(grouped + index));
        }
    }
}

/// Converts a block to a row of elements.
#[inline]
pub(crate) fn store<C: Cell, L: Lane>(row: RowMut<'_, C::Raw>, block: &[L]) {
    if !row.as_row().is_dense() {
        row.store(block, C::land);
        return;
    }
    wide(Store::<C, L> { row, block });
}

struct Store<'a, C: Cell, L> {
    row: RowMut<'a, C::Raw>,
    block: &'a [L],
}

impl<C: Cell, L: Lane> Work for Store<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (groups, rest) = self.block.as_chunks::<GROUP>();
        let grouped = groups.len() * GROUP;
        for (index, group) in groups.iter().enumerate() {
            self.row
                .set_group::<GROUP>(index * GROUP, C::land_group(*group));
        }
        for (index, &lane) in rest.iter().enumerate() {
            self.row.set(grouped + index, C::land(lane));
        }
    }
}

/// Rounds the elements of a block to a type that is narrower than the lane.
pub(crate) fn round<C: Cell, L: Lane>(block: &mut [L]) {
    for slot in block {
        *slot = C::lift(C::land::<L>(*slot));
    }
}
