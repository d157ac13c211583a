//! The types that elements lie in memory as, and the few types that functions are computed in.
//!
//! A function built for each element type would be most of the library. So functions are written for float32, float64,
//! int64, uint64 and two complex types alone, the compute types. Elements are converted to a compute type a block at a time,
//! and back.

use std::marker::PhantomData;

use jumar_ops::math::{LowPrecision, Work, wide};
use jumar_ops::view::{BF16, Bool8, Element, F16, Row, RowMut};
use jumar_types::dtype::DataType;
use num_complex::Complex;

use crate::Scalar;

/// Two binary32 numbers.
pub(crate) type C64 = Complex<f32>;
/// Two binary64 numbers.
pub(crate) type C128 = Complex<f64>;

/// A type that functions are computed in.
pub(crate) trait Compute:
    Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static
{
    /// Whether its values are numbers of one part, whose loops are compiled for each level of instructions.
    const IS_REAL: bool;

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

    /// Converts values that lie side by side to float16.
    #[inline(always)]
    fn f16_group(values: [Self; GROUP]) -> [F16; GROUP] {
        each(values, Self::f16)
    }
    /// Whether the value is not zero.
    fn to_bool(self) -> bool;

    /// Converts a host scalar.
    fn of_scalar(scalar: &Scalar) -> Self;
}

macro_rules! float_types {
    ($($own:ident, $scalar:expr;)*) => {$(
        impl Compute for $own {
            const IS_REAL: bool = true;
            #[inline(always)] fn of_f32(value: f32) -> $own { value as $own }
            #[inline(always)] fn of_f64(value: f64) -> $own { value as $own }
            #[inline(always)] fn of_i64(value: i64) -> $own { value as $own }
            #[inline(always)] fn of_u64(value: u64) -> $own { value as $own }
            #[inline(always)] fn of_complex(real: f64, _: f64) -> $own { real as $own }
            float_types! { @to $own: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
            #[inline(always)] fn f16(self) -> F16 { half_of!(f16 $own self) }
            #[inline(always)] fn bf16(self) -> BF16 { half_of!(bf16 $own self) }
            half_of!(group $own);
            #[inline(always)] fn imaginary(self) -> f64 { 0.0 }
            #[inline(always)] fn to_bool(self) -> bool { self != 0 as $own }
            fn of_scalar(scalar: &Scalar) -> $own { ($scalar)(scalar) }
        }
    )*};
    (@to $own:ident: $($name:ident)*) => {
        $(#[inline(always)] fn $name(self) -> $name { self as $name })*
    };
}

/// float32 converts in one step; the others go through float64.
macro_rules! half_of {
    (group f32) => {
        #[inline(always)]
        fn f16_group(values: [f32; GROUP]) -> [F16; GROUP] {
            F16::rounded_group(values)
        }
    };
    (group $own:ident) => {};
    (f16 f32 $value:ident) => {
        F16::rounded($value)
    };
    (bf16 f32 $value:ident) => {
        BF16::rounded($value)
    };
    (f16 $own:ident $value:ident) => {
        F16::from_f64($value as f64)
    };
    (bf16 $own:ident $value:ident) => {
        BF16::from_f64($value as f64)
    };
}

/// Integers keep all their bits; a floating-point scalar is truncated.
fn integer(scalar: &Scalar) -> i64 {
    scalar.int()
}

float_types! {
    f32, |scalar: &Scalar| if scalar.dtype().is_integer() { scalar.int() as f32 } else { scalar.real() as f32 };
    f64, |scalar: &Scalar| scalar.real();
    i64, integer;
    u64, |scalar: &Scalar| integer(scalar) as u64;
}

macro_rules! complex_types {
    ($($part:ident)*) => {$(
        impl Compute for Complex<$part> {
            const IS_REAL: bool = false;
            #[inline(always)] fn of_f32(value: f32) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_f64(value: f64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_i64(value: i64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_u64(value: u64) -> Self { Complex::new(value as $part, 0.0) }
            #[inline(always)] fn of_complex(real: f64, imaginary: f64) -> Self {
                Complex::new(real as $part, imaginary as $part)
            }
            complex_types! { @to $part: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
            #[inline(always)] fn f16(self) -> F16 { self.re.f16() }
            #[inline(always)] fn bf16(self) -> BF16 { self.re.bf16() }
            #[inline(always)] fn imaginary(self) -> f64 { self.im as f64 }
            #[inline(always)] fn to_bool(self) -> bool { self.re != 0.0 || self.im != 0.0 }
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

complex_types! { f32 f64 }

/// An element type of tensors in memory.
pub(crate) trait Cell: 'static {
    /// The plain type of the same width that memory is read as.
    type Raw: Element;
    /// Whether elements are numbers of one part.
    const IS_REAL: bool = true;
    fn upcast<L: Compute>(raw: Self::Raw) -> L;
    fn downcast<L: Compute>(value: L) -> Self::Raw;

    /// Converts elements that lie side by side.
    #[inline(always)]
    fn upcast_group<L: Compute>(raw: [Self::Raw; GROUP]) -> [L; GROUP] {
        each(raw, Self::upcast)
    }

    /// Converts to elements that lie side by side.
    #[inline(always)]
    fn downcast_group<L: Compute>(values: [L; GROUP]) -> [Self::Raw; GROUP] {
        each(values, Self::downcast)
    }
}

/// Converts each value. A map of the array would not become vector instructions.
#[inline(always)]
fn each<A: Copy, B: Copy + Default>(group: [A; GROUP], f: impl Fn(A) -> B) -> [B; GROUP] {
    let mut result = [B::default(); GROUP];
    for index in 0..GROUP {
        result[index] = f(group[index]);
    }
    result
}

/// How many elements are loaded or stored at once.
const GROUP: usize = 32;

macro_rules! cells {
    ($($type:ident, $upcast:expr, $downcast:ident;)*) => {$(
        impl Cell for $type {
            type Raw = $type;
            #[inline(always)] fn upcast<L: Compute>(raw: $type) -> L { ($upcast)(raw) }
            #[inline(always)] fn downcast<L: Compute>(value: L) -> $type { value.$downcast() }
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
    BF16, |raw: BF16| L::of_f32(raw.widen()), bf16;
}

impl Cell for F16 {
    type Raw = F16;

    #[inline(always)]
    fn upcast<L: Compute>(raw: F16) -> L {
        L::of_f32(raw.widen())
    }

    #[inline(always)]
    fn downcast<L: Compute>(value: L) -> F16 {
        value.f16()
    }

    #[inline(always)]
    fn upcast_group<L: Compute>(raw: [F16; GROUP]) -> [L; GROUP] {
        each(F16::widen_group(raw), L::of_f32)
    }

    #[inline(always)]
    fn downcast_group<L: Compute>(values: [L; GROUP]) -> [F16; GROUP] {
        L::f16_group(values)
    }
}

impl Cell for Bool8 {
    type Raw = Bool8;

    #[inline(always)]
    fn upcast<L: Compute>(raw: Bool8) -> L {
        L::of_u64(u64::from(raw.get()))
    }

    #[inline(always)]
    fn downcast<L: Compute>(value: L) -> Bool8 {
        Bool8::from(value.to_bool())
    }
}

/// A complex32 element.
pub(crate) enum Complex32 {}
/// A complex64 element.
pub(crate) enum Complex64 {}
/// A complex128 element.
pub(crate) enum Complex128 {}

impl Cell for Complex32 {
    const IS_REAL: bool = false;
    type Raw = u32;

    #[inline(always)]
    fn upcast<L: Compute>(raw: u32) -> L {
        let part = |bits: u32| F16::from_bits(bits as u16).to_f64();
        L::of_complex(part(raw), part(raw >> 16))
    }

    #[inline(always)]
    fn downcast<L: Compute>(value: L) -> u32 {
        let (real, imaginary) = (value.f16(), F16::from_f64(value.imaginary()));
        u32::from(real.to_bits()) | u32::from(imaginary.to_bits()) << 16
    }
}

impl Cell for Complex64 {
    const IS_REAL: bool = false;
    type Raw = u64;

    #[inline(always)]
    fn upcast<L: Compute>(raw: u64) -> L {
        let part = |bits: u64| f64::from(f32::from_bits(bits as u32));
        L::of_complex(part(raw), part(raw >> 32))
    }

    #[inline(always)]
    fn downcast<L: Compute>(value: L) -> u64 {
        let imaginary = (value.imaginary() as f32).to_bits();
        u64::from(value.f32().to_bits()) | u64::from(imaginary) << 32
    }
}

impl Cell for Complex128 {
    const IS_REAL: bool = false;
    type Raw = u128;

    #[inline(always)]
    fn upcast<L: Compute>(raw: u128) -> L {
        let part = |bits: u128| f64::from_bits(bits as u64);
        L::of_complex(part(raw), part(raw >> 64))
    }

    #[inline(always)]
    fn downcast<L: Compute>(value: L) -> u128 {
        u128::from(value.f64().to_bits()) | u128::from(value.imaginary().to_bits()) << 64
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
            Complex32 => $crate::element::compute::Complex32, Complex64 => $crate::element::compute::Complex64,
            Complex128 => $crate::element::compute::Complex128,
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

/// Does the work of a conversion. Vector instructions are no faster for complex numbers, whose parts alternate.
#[inline(always)]
fn convert<C: Cell, L: Compute>(work: impl Work<Output = ()>) {
    match C::IS_REAL && L::IS_REAL {
        true => wide(work),
        false => work.run::<false>(),
    }
}

/// Converts a row of elements into a block.
#[inline]
pub(crate) fn load<C: Cell, L: Compute>(row: Row<'_, C::Raw>, block: &mut [L]) {
    if !row.is_dense() {
        for (index, slot) in block.iter_mut().enumerate() {
            *slot = C::upcast(row.get(index));
        }
        return;
    }
    convert::<C, L>(Load::<C, L> { row, block });
}

struct Load<'a, C: Cell, L> {
    row: Row<'a, C::Raw>,
    block: &'a mut [L],
}

impl<C: Cell, L: Compute> Work for Load<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (groups, rest) = self.block.as_chunks_mut::<GROUP>();
        let grouped = groups.len() * GROUP;
        for (index, group) in groups.iter_mut().enumerate() {
            *group = C::upcast_group(self.row.group(index * GROUP));
        }
        for (index, slot) in rest.iter_mut().enumerate() {
            *slot = C::upcast(self.row.get(grouped + index));
        }
    }
}

/// Converts a block to a row of elements.
#[inline]
pub(crate) fn store<C: Cell, L: Compute>(row: RowMut<'_, C::Raw>, block: &[L]) {
    if !row.as_row().is_dense() {
        for (index, &value) in block.iter().enumerate() {
            row.set(index, C::downcast(value));
        }
        return;
    }
    convert::<C, L>(Store::<C, L> { row, block });
}

struct Store<'a, C: Cell, L> {
    row: RowMut<'a, C::Raw>,
    block: &'a [L],
}

impl<C: Cell, L: Compute> Work for Store<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (groups, rest) = self.block.as_chunks::<GROUP>();
        let grouped = groups.len() * GROUP;
        for (index, group) in groups.iter().enumerate() {
            self.row.set_group(index * GROUP, C::downcast_group(*group));
        }
        for (index, &value) in rest.iter().enumerate() {
            self.row.set(grouped + index, C::downcast(value));
        }
    }
}

/// Rounds the elements of a block to a type that is narrower than the compute type.
pub(crate) fn round<C: Cell, L: Compute>(block: &mut [L]) {
    convert::<C, L>(Round::<C, L> {
        block,
        to: PhantomData,
    });
}

struct Round<'a, C, L> {
    block: &'a mut [L],
    to: PhantomData<C>,
}

impl<C: Cell, L: Compute> Work for Round<'_, C, L> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for slot in self.block {
            *slot = C::upcast(C::downcast::<L>(*slot));
        }
    }
}
