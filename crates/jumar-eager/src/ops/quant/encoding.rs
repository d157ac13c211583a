//! Results of quantisation in any type: integers, and floating-point types of 4 and 8 bits.

use jumar_ops::minifloat::{self, Minifloat, Rounding};
use jumar_ops::view::RowMut;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::packed::{QuantisedOutput, unpacked};
use super::rounding::limited;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::largest_magnitude;
use crate::view::View;

/// Bytes that are worth a thread.
const GRAIN: usize = 1 << 14;

/// The floating-point types of 8 bits.
pub(crate) const BYTES: &[DataType] = &[
    DataType::Float8E4M3Fn,
    DataType::Float8E5M2,
    DataType::HiFloat8,
];

/// The floating-point types that elements of blocks with a common scale have.
pub(crate) const BLOCK_TYPES: &[DataType] = &[
    DataType::Float8E5M2,
    DataType::Float8E4M3Fn,
    DataType::Float4E2M1,
    DataType::Float4E1M2,
];

/// How a number is stored.
#[derive(Clone, Copy)]
pub(crate) enum Encoding {
    /// As an integer.
    Integer {
        limits: (f32, f32),
        rounding: Rounding,
    },
    /// As the code of a floating-point number.
    Float {
        format: Minifloat,
        rounding: Rounding,
    },
}

impl Encoding {
    /// Returns the largest value of the type.
    #[inline(always)]
    pub fn largest(self) -> f32 {
        match self {
            Encoding::Integer { limits, .. } => limits.1,
            Encoding::Float { format, .. } => format.largest(),
        }
    }

    /// Returns the number that a tensor of codes holds for a value: an integer, or a code.
    #[inline(always)]
    pub fn apply(self, value: f32) -> f32 {
        match self {
            Encoding::Integer { limits, rounding } => limited(rounding.apply(value), limits),
            Encoding::Float { format, rounding } => f32::from(format.encode(value, rounding)),
        }
    }

    /// As [`Encoding::apply`], as a byte.
    #[inline(always)]
    pub fn byte(self, value: f32) -> u8 {
        match self {
            Encoding::Integer { .. } => self.apply(value) as i8 as u8,
            Encoding::Float { format, rounding } => format.encode(value, rounding),
        }
    }

    /// Quantises the values of a row, which it holds, by its largest magnitude, which becomes `largest`. Returns the scale.
    #[inline(always)]
    pub fn by_largest(self, out: RowMut<'_, f32>, largest: f32) -> f32 {
        let scale = largest_magnitude(out.as_row()) / largest;
        out.map1(out.as_row(), |value| self.apply(quotient(value, scale)));
        scale
    }
}

/// Divides by a scale. Returns 0 where the scale is 0, for which the formula is not defined.
#[inline(always)]
pub(crate) fn quotient(value: f32, scale: f32) -> f32 {
    match scale == 0.0 {
        true => 0.0,
        false => value / scale,
    }
}

/// An output of any quantised type, and the tensor in which its numbers are computed.
#[derive(Clone, Copy)]
pub(crate) struct EncodedOutput {
    target: QuantisedOutput,
    pub encoding: Encoding,
}

impl EncodedOutput {
    /// Chooses the tensor in which an output of the shape `dims` is computed.
    pub fn new(
        cx: &mut Cx<'_>,
        out: View,
        dims: &[usize],
        rounding: Rounding,
    ) -> Result<EncodedOutput, Refusal> {
        let (target, encoding) = match Minifloat::of(out.dtype()) {
            Some(format) => (
                QuantisedOutput::codes(cx, out, dims, format.largest())?,
                Encoding::Float { format, rounding },
            ),
            None => {
                let target = QuantisedOutput::new(cx, out, dims)?;
                let limits = target.limits;
                (target, Encoding::Integer { limits, rounding })
            }
        };
        Ok(EncodedOutput { target, encoding })
    }

    /// Returns the tensor that takes the numbers of [`Encoding::apply`].
    pub fn rows(&self) -> View {
        self.target.rows
    }

    /// Returns the least and the largest value of the output's type.
    pub fn limits(&self) -> (f32, f32) {
        self.target.limits
    }

    /// Packs the result where the output needs it.
    pub fn finish(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        self.target.finish(cx)
    }
}

/// Returns how numbers are rounded to a type where no mode is given.
pub(crate) fn usual_rounding(dtype: DataType) -> Rounding {
    match dtype {
        DataType::HiFloat8 => Rounding::Away,
        _ => Rounding::Even,
    }
}

/// Reads how numbers are rounded to a type. Integers and float8 round halves to even, float4 by any of three modes, and
/// hifloat8 halves away from zero. An absent name stands for the mode of the type.
pub(crate) fn rounding_to(cx: &Cx<'_>, param: &str, dtype: DataType) -> Result<Rounding, Refusal> {
    let name = cx.text(param)?;
    let wanted = match dtype {
        DataType::HiFloat8 => match name {
            "" | "round" => return Ok(Rounding::Away),
            "hybrid" => {
                return Err(cx.unsupported(format_args!(
                    "{param} hybrid is not supported: its random bits are not documented"
                )));
            }
            _ => "round or hybrid",
        },
        DataType::Float4E2M1 | DataType::Float4E1M2 => match name {
            "" | "rint" => return Ok(Rounding::Even),
            "round" => return Ok(Rounding::Away),
            "floor" => return Ok(Rounding::Floor),
            _ => "rint, round or floor",
        },
        _ => match name {
            "" | "rint" => return Ok(Rounding::Even),
            _ => "rint",
        },
    };
    Err(cx.invalid(format_args!(
        "{param} is {name:?}; with results of {dtype} it must be {wanted}"
    )))
}

/// Reads codes as float32.
struct Decode {
    values: Box<[f32; 256]>,
}

impl Kernel for Decode {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<u8>(0)?.flat(), call.output::<f32>(0)?.flat());
        call.workers().ranges(input.len(), GRAIN, |first, count| {
            output
                .slice(first, count)
                .map1(input.slice(first, count), |code| {
                    self.values[usize::from(code)]
                });
        });
        Ok(())
    }
}

/// Returns the values of a tensor of a floating-point type of 4 or 8 bits, or of scales that are powers of two, as float32.
///
/// A tensor whose last two dimensions are swapped in memory stays so.
pub(crate) fn decoded(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    let dtype = view.dtype();
    let (bytes, mask) = match dtype.bits() {
        4 => (unpacked(cx, view)?.reinterpret(DataType::UInt8), 15),
        _ => (view.reinterpret(DataType::UInt8), 255),
    };
    let format = Minifloat::of(dtype);
    let values = std::array::from_fn(|code| match format {
        Some(format) => format.decode(code as u8 & mask),
        None => minifloat::decode_scale(code as u8),
    });
    let rank = bytes.rank();
    let swapped = rank >= 2 && bytes.transpose(rank - 2, rank - 1).is_dense();
    let source = match swapped {
        true => bytes.transpose(rank - 2, rank - 1),
        false => cx.dense(bytes)?,
    };
    let out = cx.temporary_of(&view, DataType::Float32, source.dims())?;
    if !out.is_empty() {
        let values = Box::new(values);
        cx.kernel(Box::new(Decode { values }), &[Some(source)], &[out], false)?;
    }
    Ok(match swapped {
        true => out.transpose(rank - 2, rank - 1),
        false => out,
    })
}
