//! Kernels that compute in float32 or float64, whatever their operands' types.
//!
//! An [`Algorithm`] is written once, for a working type; operands of another type are converted to and from scratch
//! memory around it. So a rare operator costs two instantiations and still takes every type. Floating-point types of
//! 32 bits and less, and integers that float32 holds exactly, are worked on in float32; the others in float64.

use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use jumar_types::dtype::DataType;

use super::compute_types::Float;
use super::matmul;
use super::number::for_dtype;
use crate::simd::convert::{self, LowPrecision};
use crate::simd::math::Fast;
use crate::view::{BF16, Bool8, Element, F16, Row, RowMut};
use crate::{Call, Kernel, OpError, PrepareCx};

/// The types that algorithms work in: float32 and float64.
pub(crate) trait Working:
    Element
    + WideMath
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    const LOWEST: Self;
    fn of(value: f64) -> Self;
    fn f64(self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
    fn tanh(self) -> Self;
    fn abs(self) -> Self;
    fn powf(self, power: Self) -> Self;
    fn floor(self) -> Self;

    /// Reads numbers of 16 bits.
    fn widen_row<T: LowPrecision + Convert>(from: Row<'_, T>, to: RowMut<'_, Self>);

    /// Writes numbers of 16 bits.
    fn round_row<T: LowPrecision + Convert>(from: Row<'_, Self>, to: RowMut<'_, T>);

    /// Multiplies matrices; see [`Product`].
    fn product(
        product: &Product,
        a: Row<'_, Self>,
        b: Row<'_, Self>,
        c: RowMut<'_, Self>,
        panels: RowMut<'_, Self>,
    );

    /// Returns the number of elements of a packed matrix of `n` rows of `k`; see [`Working::pack`].
    fn packed_len(n: usize, k: usize) -> usize;

    /// Packs `n` rows of `k` of `b` for [`Working::packed_product`].
    fn pack(n: usize, k: usize, b: Row<'_, Self>, packed: RowMut<'_, Self>);

    /// Computes `C = bias + A * B^T` with a packed B. `a`: `m` dense rows of `k`. `c`: `m` rows of `n`, `ldc` apart.
    fn packed_product(
        sizes: (usize, usize, usize),
        a: Row<'_, Self>,
        packed: Row<'_, Self>,
        bias: Option<Row<'_, Self>>,
        c: (RowMut<'_, Self>, usize),
    );

    fn zero() -> Self {
        Self::default()
    }

    fn one() -> Self {
        Self::of(1.0)
    }

    /// The larger one; not-a-number wins.
    fn most(self, other: Self) -> Self {
        if self > other || self.partial_cmp(&self).is_none() {
            self
        } else {
            other
        }
    }

    /// The smaller one; not-a-number wins.
    fn least(self, other: Self) -> Self {
        if self < other || self.partial_cmp(&self).is_none() {
            self
        } else {
            other
        }
    }

    /// The logistic function.
    fn sigmoid(self) -> Self {
        Self::one() / (Self::one() + (-self).exp())
    }
}

/// Functions inside loops that are compiled for each level of instructions; `FUSED` as in [`Work`](crate::simd::wide::Work).
pub(crate) trait WideMath {
    /// Returns the exponential.
    fn exp_at<const FUSED: bool>(self) -> Self;

    /// Returns the hyperbolic tangent.
    fn tanh_at<const FUSED: bool>(self) -> Self;
}

impl WideMath for f32 {
    #[inline(always)]
    fn exp_at<const FUSED: bool>(self) -> f32 {
        Float::exp(Fast::<FUSED>(self)).0
    }

    #[inline(always)]
    fn tanh_at<const FUSED: bool>(self) -> f32 {
        Float::tanh(Fast::<FUSED>(self)).0
    }
}

impl WideMath for f64 {
    #[inline(always)]
    fn exp_at<const FUSED: bool>(self) -> f64 {
        f64::exp(self)
    }

    #[inline(always)]
    fn tanh_at<const FUSED: bool>(self) -> f64 {
        f64::tanh(self)
    }
}

/// Converts one number at a time.
fn widen_each<T: Convert>(from: Row<'_, T>, to: RowMut<'_, f64>) {
    to.map1_each(from, T::raise);
}

/// Converts one number at a time.
fn round_each<T: Convert>(from: Row<'_, f64>, to: RowMut<'_, T>) {
    to.map1_each(from, T::lower);
}

macro_rules! working {
    ($($type:ident, $widen:expr, $round:expr, $product:expr, $packed_len:expr, $pack:expr, $packed_product:expr;)*) => {$(
        impl Working for $type {
            const LOWEST: $type = $type::NEG_INFINITY;
            #[inline(always)]
            fn of(value: f64) -> $type { value as $type }
            fn f64(self) -> f64 { f64::from(self) }
            fn exp(self) -> $type { $type::exp(self) }
            fn ln(self) -> $type { $type::ln(self) }
            fn sqrt(self) -> $type { $type::sqrt(self) }
            fn tanh(self) -> $type { $type::tanh(self) }
            fn abs(self) -> $type { $type::abs(self) }
            fn powf(self, power: $type) -> $type { $type::powf(self, power) }
            fn floor(self) -> $type { $type::floor(self) }

            fn widen_row<T: LowPrecision + Convert>(from: Row<'_, T>, to: RowMut<'_, $type>) {
                $widen(from, to);
            }

            fn round_row<T: LowPrecision + Convert>(from: Row<'_, $type>, to: RowMut<'_, T>) {
                $round(from, to);
            }

            fn product(
                product: &Product,
                a: Row<'_, $type>,
                b: Row<'_, $type>,
                c: RowMut<'_, $type>,
                panels: RowMut<'_, $type>,
            ) {
                $product(product, a, b, c, panels);
            }

            fn packed_len(n: usize, k: usize) -> usize {
                $packed_len(n, k)
            }

            fn pack(n: usize, k: usize, b: Row<'_, $type>, packed: RowMut<'_, $type>) {
                $pack(n, k, b, packed);
            }

            fn packed_product(
                sizes: (usize, usize, usize),
                a: Row<'_, $type>,
                packed: Row<'_, $type>,
                bias: Option<Row<'_, $type>>,
                c: (RowMut<'_, $type>, usize),
            ) {
                $packed_product(sizes, a, packed, bias, c);
            }
        }
    )*};
}

working! {
    f32, convert::widen, convert::round, matmul::product32, matmul::packed_len32, matmul::pack32, matmul::packed_product32;
    f64, widen_each, round_each, matmul::product64, matmul::packed_len64, matmul::pack64, matmul::packed_product64;
}

/// A matrix product `C = A * B`, or `C += A * B`. `a`: `m` rows of `k`, `lda` apart. `b`: `k` rows of `n`, `ldb`
/// apart, or where it is turned `n` rows of `k`. `c`: `m` rows of `n`, `ldc` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub lda: usize,
    pub ldb: usize,
    pub ldc: usize,
    pub turned: bool,
    pub accumulate: bool,
}

impl Product {
    /// Describes the product of dense matrices.
    pub fn dense(m: usize, n: usize, k: usize) -> Product {
        Product {
            m,
            n,
            k,
            lda: k,
            ldb: n,
            ldc: n,
            turned: false,
            accumulate: false,
        }
    }

    /// Takes B as `n` rows of `k`.
    pub fn turned(self) -> Product {
        Product {
            turned: true,
            ldb: self.k,
            ..self
        }
    }

    /// Adds to what C holds.
    pub fn adding(self) -> Product {
        Product {
            accumulate: true,
            ..self
        }
    }

    /// Returns the number of elements of panels that a product of these sizes needs.
    pub fn panels(&self) -> usize {
        matmul::panels32(self)
    }

    /// Computes. A and B are read as far as the sizes say.
    pub fn run<W: Working>(
        &self,
        a: Row<'_, W>,
        b: Row<'_, W>,
        c: RowMut<'_, W>,
        panels: RowMut<'_, W>,
    ) {
        if self.m > 0 && self.n > 0 {
            W::product(self, a, b, c, panels);
        }
    }
}

/// What computes an operator's outputs from its inputs, in a working type.
pub(crate) trait Algorithm: Send + Sync + 'static {
    /// Returns the number of elements of the working type that it needs besides its operands.
    fn scratch(&self) -> usize {
        0
    }

    /// Computes. Allocates nothing.
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError>;
}

/// How the algorithm sees an operand.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// Not at all, or by way of the call.
    Other,
    /// Where it lies.
    Direct,
    /// Converted, in scratch memory.
    Upcast {
        dtype: DataType,
        at: usize,
        len: usize,
    },
}

/// How the algorithm sees all operands.
struct Slots {
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
}

impl Slots {
    /// Returns the slots, and the number of elements that converted operands take.
    fn find(
        cx: &PrepareCx<'_>,
        working: Option<DataType>,
        inputs: &[usize],
        outputs: &[usize],
    ) -> Result<(Slots, usize), OpError> {
        let mut end = 0usize;
        let mut slot = |dtype: DataType, shape: &[usize]| {
            if Some(dtype) == working {
                return Slot::Direct;
            }
            let (at, len) = (end, shape.iter().product());
            end += len;
            Slot::Upcast { dtype, at, len }
        };
        let mut slots = Slots {
            inputs: vec![Slot::Other; cx.inputs()],
            outputs: vec![Slot::Other; cx.outputs()],
        };
        for &index in inputs.iter().filter(|&&index| cx.has(index)) {
            slots.inputs[index] = slot(cx.dtype(index)?, cx.shape(index)?);
        }
        for &index in outputs.iter().filter(|&&index| index < cx.outputs()) {
            slots.outputs[index] = slot(cx.output_dtype(index)?, cx.output_shape(index)?);
        }
        Ok((slots, end))
    }
}

/// The operands of an algorithm.
pub(crate) struct Io<'a, W> {
    /// The call, for operands that are not numbers to work on.
    pub call: &'a Call<'a>,
    slots: &'a Slots,
    own: (usize, usize),
    types: PhantomData<fn(W)>,
}

impl<'a, W: Working> Io<'a, W> {
    /// Returns whether an input was given.
    pub fn has(&self, index: usize) -> bool {
        self.call.has_input(index)
    }

    /// Returns whether an output is wanted.
    pub fn wants(&self, index: usize) -> bool {
        index < self.call.outputs()
    }

    /// Returns an input's elements.
    pub fn input(&self, index: usize) -> Result<Row<'a, W>, OpError> {
        match self.slots.inputs.get(index) {
            Some(&Slot::Upcast { at, len, .. }) => Ok(self.cut(at, len)?.as_row()),
            Some(Slot::Direct) => Ok(self.call.input::<W>(index)?.flat()),
            _ => Err(OpError::internal(format!("input {index} was not lifted"))),
        }
    }

    /// Returns an input's elements for writing, where they were converted: the memory is the kernel's own.
    pub fn upcast_mut(&self, index: usize) -> Result<RowMut<'a, W>, OpError> {
        match self.slots.inputs.get(index) {
            Some(&Slot::Upcast { at, len, .. }) => self.cut(at, len),
            _ => Err(OpError::internal(format!(
                "input {index} is not the kernel's own"
            ))),
        }
    }

    /// Returns an input's elements, if it was given.
    pub fn optional(&self, index: usize) -> Result<Option<Row<'a, W>>, OpError> {
        if self.has(index) {
            self.input(index).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns an output's elements.
    pub fn output(&self, index: usize) -> Result<RowMut<'a, W>, OpError> {
        match self.slots.outputs.get(index) {
            Some(&Slot::Upcast { at, len, .. }) => self.cut(at, len),
            Some(Slot::Direct) => Ok(self.call.output::<W>(index)?.flat()),
            _ => Err(OpError::internal(format!("output {index} was not lifted"))),
        }
    }

    /// Returns an output's elements, if it is wanted.
    pub fn wanted(&self, index: usize) -> Result<Option<RowMut<'a, W>>, OpError> {
        if self.wants(index) {
            self.output(index).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns the algorithm's own scratch memory.
    pub fn scratch(&self) -> Result<RowMut<'a, W>, OpError> {
        self.cut(self.own.0, self.own.1)
    }

    /// Returns the start of the algorithm's own scratch memory as bytes.
    pub fn bytes(&self, len: usize) -> Result<RowMut<'a, u8>, OpError> {
        self.call.scratch::<u8>(self.own.0 * size_of::<W>(), len)
    }

    /// Returns an input that holds integers.
    pub fn ints(&self, index: usize) -> Result<Ints<'a>, OpError> {
        Ints::of(self.call, index)
    }

    fn cut(&self, at: usize, len: usize) -> Result<RowMut<'a, W>, OpError> {
        self.call.scratch::<W>(at * size_of::<W>(), len)
    }
}

/// The elements of an input that holds integers, whatever their width.
#[derive(Clone, Copy)]
pub(crate) enum Ints<'a> {
    I64(Row<'a, i64>),
    I32(Row<'a, i32>),
    I16(Row<'a, i16>),
    I8(Row<'a, i8>),
    U8(Row<'a, u8>),
    U16(Row<'a, u16>),
    Bool(Row<'a, Bool8>),
}

impl<'a> Ints<'a> {
    pub fn of(call: &Call<'a>, index: usize) -> Result<Ints<'a>, OpError> {
        Ok(match call.input_dtype(index) {
            Some(DataType::Int64) => Ints::I64(call.input(index)?.flat()),
            Some(DataType::Int32) => Ints::I32(call.input(index)?.flat()),
            Some(DataType::Int16) => Ints::I16(call.input(index)?.flat()),
            Some(DataType::Int8) => Ints::I8(call.input(index)?.flat()),
            Some(DataType::UInt8) => Ints::U8(call.input(index)?.flat()),
            Some(DataType::UInt16) => Ints::U16(call.input(index)?.flat()),
            Some(DataType::Bool) => Ints::Bool(call.input(index)?.flat()),
            _ => {
                return Err(OpError::internal(format!(
                    "input {index} does not hold integers"
                )));
            }
        })
    }

    pub fn len(&self) -> usize {
        match self {
            Ints::I64(row) => row.len(),
            Ints::I32(row) => row.len(),
            Ints::I16(row) => row.len(),
            Ints::I8(row) => row.len(),
            Ints::U8(row) => row.len(),
            Ints::U16(row) => row.len(),
            Ints::Bool(row) => row.len(),
        }
    }

    pub fn get(&self, index: usize) -> i64 {
        match self {
            Ints::I64(row) => row.get(index),
            Ints::I32(row) => row.get(index).into(),
            Ints::I16(row) => row.get(index).into(),
            Ints::I8(row) => row.get(index).into(),
            Ints::U8(row) => row.get(index).into(),
            Ints::U16(row) => row.get(index).into(),
            Ints::Bool(row) => row.get(index).get().into(),
        }
    }
}

struct GenericKernel<A, W> {
    algorithm: A,
    slots: Slots,
    /// The algorithm's own scratch memory: where it begins, behind converted operands, and its length, in elements of the working type.
    own: (usize, usize),
    types: PhantomData<fn(W)>,
}

macro_rules! for_any {
    ($dtype:expr, $T:ident => $body:expr) => {
        for_dtype!(
            $dtype,
            [
                Float32 => f32, Float64 => f64, Bool => Bool8,
                Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
                UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64,
            ],
            $T => $body
        )
    };
}

/// The way between an element type and float64.
pub(crate) trait Convert: Element {
    fn raise(self) -> f64;
    fn lower(value: f64) -> Self;
}

macro_rules! convert {
    ($($type:ident: $raise:expr, $lower:expr;)*) => {$(
        impl Convert for $type {
            #[inline(always)]
            fn raise(self) -> f64 {
                $raise(self)
            }
            #[inline(always)]
            fn lower(value: f64) -> $type {
                $lower(value)
            }
        }
    )*};
}

convert! {
    f32: f64::from, |value| value as f32;
    f64: |value| value, |value| value;
    F16: f64::from, F16::from_f64;
    BF16: f64::from, BF16::from_f64;
    Bool8: |value: Bool8| f64::from(u8::from(value.get())), |value| Bool8::from(value != 0.0);
    i8: f64::from, |value| value as i8;
    i16: f64::from, |value| value as i16;
    i32: f64::from, |value| value as i32;
    i64: |value| value as f64, |value| value as i64;
    u8: f64::from, |value| value as u8;
    u16: f64::from, |value| value as u16;
    u32: f64::from, |value| value as u32;
    u64: |value| value as f64, |value| value as u64;
}

/// Reads an input as numbers of the working type.
pub(crate) fn load<W: Working>(
    call: &Call<'_>,
    index: usize,
    to: RowMut<'_, W>,
) -> Result<(), OpError> {
    let dtype = call
        .input_dtype(index)
        .ok_or_else(|| OpError::internal(format!("input {index} is not there")))?;
    match dtype {
        DataType::Float16 => W::widen_row(call.input::<F16>(index)?.flat(), to),
        DataType::BFloat16 => W::widen_row(call.input::<BF16>(index)?.flat(), to),
        _ => for_any!(dtype, T => {
            to.map1_each(call.input::<T>(index)?.flat(), |x: T| W::of(x.raise()));
            Ok::<_, OpError>(())
        })?,
    }
    Ok(())
}

/// Writes numbers of the working type as an output's own; integers are cut towards zero.
fn store<W: Working>(
    call: &Call<'_>,
    index: usize,
    dtype: DataType,
    from: Row<'_, W>,
) -> Result<(), OpError> {
    match dtype {
        DataType::Float16 => W::round_row(from, call.output::<F16>(index)?.flat()),
        DataType::BFloat16 => W::round_row(from, call.output::<BF16>(index)?.flat()),
        _ => for_any!(dtype, T => {
            call.output::<T>(index)?.flat().map1_each(from, |x: W| T::lower(x.f64()));
            Ok::<_, OpError>(())
        })?,
    }
    Ok(())
}

impl<A: Algorithm, W: Working> Kernel for GenericKernel<A, W> {
    fn scratch_bytes(&self) -> usize {
        (self.own.0 + self.own.1) * size_of::<W>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let io = Io::<W> {
            call,
            slots: &self.slots,
            own: self.own,
            types: PhantomData,
        };
        io.load()?;
        self.algorithm.run(&io)?;
        io.store()
    }
}

impl<W: Working> Io<'_, W> {
    /// Converts the inputs.
    fn load(&self) -> Result<(), OpError> {
        for (index, slot) in self.slots.inputs.iter().enumerate() {
            if let Slot::Upcast { at, len, .. } = *slot {
                load(self.call, index, self.cut(at, len)?)?;
            }
        }
        Ok(())
    }

    /// Converts the outputs.
    fn store(&self) -> Result<(), OpError> {
        for (index, slot) in self.slots.outputs.iter().enumerate() {
            if let Slot::Upcast { dtype, at, len } = *slot {
                store(self.call, index, dtype, self.cut(at, len)?.as_row())?;
            }
        }
        Ok(())
    }
}

/// Returns whether a type's values need float64 to be worked on.
fn needs_f64(dtype: DataType) -> bool {
    matches!(
        dtype,
        DataType::Float64 | DataType::Int32 | DataType::Int64 | DataType::UInt32 | DataType::UInt64
    )
}

/// Makes the kernel of an algorithm that works on these inputs and outputs as numbers; those that are not there are
/// skipped. All others it reads by way of the call.
pub(crate) fn generic_kernel<A: Algorithm>(
    cx: &PrepareCx<'_>,
    algorithm: A,
    inputs: &[usize],
    outputs: &[usize],
) -> Result<Box<dyn Kernel>, OpError> {
    generic_kernel_in(cx, algorithm, inputs, outputs, false)
}

/// Makes the kernel of an algorithm as [`generic_kernel`] does; where `wide`, it works in float64 in any case.
pub(crate) fn generic_kernel_in<A: Algorithm>(
    cx: &PrepareCx<'_>,
    algorithm: A,
    inputs: &[usize],
    outputs: &[usize],
    wide: bool,
) -> Result<Box<dyn Kernel>, OpError> {
    match wide || needs_wide(cx, inputs, outputs)? {
        true => boxed::<A, f64>(cx, algorithm, inputs, outputs),
        false => boxed::<A, f32>(cx, algorithm, inputs, outputs),
    }
}

/// Returns whether an operand's values need float64 to be worked on.
fn needs_wide(cx: &PrepareCx<'_>, inputs: &[usize], outputs: &[usize]) -> Result<bool, OpError> {
    let mut wide = false;
    for &index in inputs.iter().filter(|&&index| cx.has(index)) {
        wide |= needs_f64(cx.dtype(index)?);
    }
    for &index in outputs.iter().filter(|&&index| index < cx.outputs()) {
        wide |= needs_f64(cx.output_dtype(index)?);
    }
    Ok(wide)
}

fn boxed<A: Algorithm, W: Working>(
    cx: &PrepareCx<'_>,
    algorithm: A,
    inputs: &[usize],
    outputs: &[usize],
) -> Result<Box<dyn Kernel>, OpError> {
    let (slots, end) = Slots::find(cx, W::DTYPE, inputs, outputs)?;
    Ok(Box::new(GenericKernel::<A, W> {
        slots,
        own: (end, algorithm.scratch()),
        algorithm,
        types: PhantomData,
    }))
}

#[cfg(test)]
mod tests {
    use crate::table::*;
    use crate::{Attrs, InferCx, Tensor, TensorType, UNKNOWN};
    use jumar_types::dtype::DataType;

    #[test]
    fn shapes_that_are_not_known_yet_are_no_mistake() {
        let names = "LayerNormV3 RmsNorm LRN jumar.LpNormalization jumar.BatchNormTraining jumar.Conv \
                     jumar.ConvInteger jumar.QLinearConv jumar.ConvTranspose jumar.DeformConv jumar.MaxPool \
                     jumar.AveragePool jumar.LpPool GlobalLpPool jumar.RNN CommonGRU CommonLSTM jumar.Attention \
                     jumar.RotaryEmbedding jumar.QuantizeLinear jumar.DequantizeLinear jumar.DynamicQuantizeLinear \
                     jumar.MatMulInteger jumar.QLinearMatMul jumar.GridSample jumar.AffineGrid jumar.RoiAlign \
                     jumar.MaxUnpool NonMaxSuppressionV6 NLLLoss SoftmaxCrossEntropyLoss MatrixDeterminant \
                     jumar.Col2Im jumar.DFT jumar.STFT jumar.Window jumar.MelWeightMatrix jumar.Adam jumar.Adagrad \
                     jumar.Momentum";
        let mut refusals = Vec::new();
        for name in names.split_whitespace() {
            let operator = crate::find(name).unwrap_or_else(|| panic!("no operator {name}"));
            let types: Vec<TensorType> = operator
                .inputs
                .iter()
                .map(|input| {
                    let fits = |dtype: &&DataType| input.types.contains(**dtype);
                    let dtype = [
                        DataType::Float32,
                        DataType::Int64,
                        DataType::UInt8,
                        DataType::Int32,
                        DataType::Float64,
                    ];
                    TensorType::of_unknown_rank(*dtype.iter().find(fits).expect("a type"))
                })
                .collect();
            let inputs: Vec<_> = types.iter().map(Some).collect();
            let outputs = operator.infer(&InferCx::new(&inputs, &[], &none()));
            match outputs {
                Ok(outputs) if outputs.len() == operator.outputs.len() => {}
                Ok(outputs) => refusals.push(format!("{name}: {} outputs", outputs.len())),
                Err(error) => refusals.push(error.to_string()),
            }
        }
        assert!(refusals.is_empty(), "{}", refusals.join("\n"));
        let (x, unknown) = (
            TensorType::new(DataType::Float32, [2, 3]),
            TensorType::of_unknown_rank(DataType::Float32),
        );
        let norm = crate::find("LayerNormV3").unwrap();
        let found = norm
            .infer(&InferCx::new(&[Some(&x), Some(&unknown)], &[], &none()))
            .unwrap();
        assert_eq!(found[0], x);
        let partly = TensorType::new(DataType::Float32, [UNKNOWN, 3]);
        let found = norm
            .infer(&InferCx::new(
                &[Some(&partly), Some(&unknown)],
                &[],
                &none(),
            ))
            .unwrap();
        assert_eq!(found[0], partly);
    }

    #[test]
    fn tensors_without_elements_are_valid_everywhere() {
        let x = |dims: &[usize]| noise(dims, 1);
        let window = || none().with("kernel_shape", vec![2, 2]);
        let cases: Vec<(&str, Vec<Tensor>, Attrs)> = vec![
            (
                "LayerNormV3",
                vec![x(&[0, 3]), x(&[3])],
                none().with("begin_norm_axis", -1),
            ),
            ("RmsNorm", vec![x(&[2, 0]), x(&[0])], none()),
            (
                "GroupNorm",
                vec![x(&[0, 4, 2]), x(&[4]), x(&[4])],
                none().with("num_groups", 2).with("data_format", "NCHW"),
            ),
            (
                "InstanceNorm",
                vec![x(&[2, 0, 2]), x(&[0]), x(&[0])],
                none().with("data_format", "NCHW"),
            ),
            ("LRN", vec![x(&[2, 3, 0])], none()),
            ("jumar.LpNormalization", vec![x(&[2, 0])], none()),
            (
                "jumar.Conv",
                vec![x(&[0, 1, 2, 2, 2]), x(&[1, 1, 1, 1, 1])],
                none(),
            ),
            (
                "jumar.Conv",
                vec![x(&[1, 0, 2, 2, 2]), x(&[3, 0, 1, 1, 1])],
                none(),
            ),
            (
                "jumar.ConvTranspose",
                vec![x(&[0, 1, 2]), x(&[1, 1, 2])],
                none(),
            ),
            (
                "jumar.ConvTranspose",
                vec![x(&[1, 0, 2]), x(&[0, 1, 2])],
                none(),
            ),
            ("jumar.MaxPool", vec![x(&[0, 1, 2, 2])], window()),
            ("jumar.LpPool", vec![x(&[1, 0, 2, 2])], window()),
            ("GlobalLpPool", vec![x(&[1, 1, 0])], none()),
            (
                "CommonLSTM",
                vec![x(&[0, 1, 3]), x(&[1, 8, 3]), x(&[1, 8, 2])],
                none(),
            ),
            (
                "CommonGRU",
                vec![x(&[2, 0, 3]), x(&[1, 6, 3]), x(&[1, 6, 2])],
                none(),
            ),
            (
                "jumar.Attention",
                vec![x(&[0, 2, 3, 4]), x(&[0, 2, 3, 4]), x(&[0, 2, 3, 4])],
                none(),
            ),
            (
                "jumar.Attention",
                vec![x(&[1, 2, 3, 4]), x(&[1, 2, 0, 4]), x(&[1, 2, 0, 4])],
                none(),
            ),
            (
                "jumar.Attention",
                vec![x(&[1, 2, 0, 4]), x(&[1, 2, 3, 4]), x(&[1, 2, 3, 4])],
                none(),
            ),
            ("jumar.QuantizeLinear", vec![x(&[0]), x(&[])], none()),
            ("jumar.DynamicQuantizeLinear", vec![x(&[0])], none()),
            (
                "jumar.GridSample",
                vec![x(&[1, 1, 2, 2]), x(&[1, 0, 2, 2])],
                none(),
            ),
            (
                "jumar.RoiAlign",
                vec![x(&[1, 1, 2, 2]), x(&[0, 4]), i64s(&[0], &[])],
                none(),
            ),
            (
                "NonMaxSuppressionV6",
                vec![x(&[1, 0, 4]), x(&[1, 1, 0]), i64s(&[], &[3])],
                none(),
            ),
            (
                "Einsum",
                vec![x(&[2, 0]), x(&[0, 3])],
                none().with("equation", "ij,jk->ik"),
            ),
            (
                "Einsum",
                vec![x(&[0, 2]), x(&[2, 3])],
                none().with("equation", "ij,jk->ik"),
            ),
            ("MatrixDeterminant", vec![x(&[2, 0, 0])], none()),
            ("jumar.DFT", vec![x(&[0, 4, 1])], none()),
            (
                "NLLLoss",
                vec![x(&[0, 3]), i64s(&[0], &[])],
                none().with("reduction", "sum"),
            ),
            (
                "jumar.BatchNormTraining",
                vec![x(&[0, 1]), x(&[1]), x(&[1]), x(&[1]), x(&[1])],
                none(),
            ),
        ];
        for (operator, inputs, attrs) in cases {
            let shapes: Vec<_> = inputs.iter().map(|input| input.ty().to_string()).collect();
            if let Err(error) = run(operator, &inputs, attrs) {
                panic!("{operator} of {shapes:?}: {error}");
            }
        }
        // A sum over nothing is 0, and a determinant of nothing 1.
        let sums = none().with("equation", "ij,jk->ik");
        check(
            "Einsum",
            &[x(&[2, 0]), x(&[0, 1])],
            sums,
            &f32s(&[2, 1], &[0.0, 0.0]),
        );
        check(
            "MatrixDeterminant",
            &[x(&[0, 0])],
            none(),
            &f32s(&[], &[1.0]),
        );
    }
}
