//! Tensors of 4-bit integers: two in a byte, the first in the low half, or eight in an int32.

use jumar_ops::view::Layout;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

/// Bytes that are worth a thread.
const GRAIN: usize = 1 << 14;

/// Reads bytes as pairs of 4-bit integers.
struct Unpack;

impl Kernel for Unpack {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<u8>(0)?.flat(), call.output::<i8>(0)?.flat());
        call.workers().ranges(input.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let byte = input.get(index);
                output.set(2 * index, (byte << 4) as i8 >> 4);
                output.set(2 * index + 1, byte as i8 >> 4);
            }
        });
        Ok(())
    }
}

/// Writes pairs of 4-bit integers as bytes.
struct Pack;

impl Kernel for Pack {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<i8>(0)?.flat(), call.output::<u8>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let (low, high) = (input.get(2 * index), input.get(2 * index + 1));
                output.set(index, low as u8 & 15 | (high as u8) << 4);
            }
        });
        Ok(())
    }
}

/// Views the bytes of a dense tensor of int4, or of int32 with eight int4 each.
fn bytes(cx: &Cx<'_>, view: &View) -> Result<View, Refusal> {
    let (start, count) = match view.dtype() {
        DataType::Int32 => (view.offset() * 4, view.elements() * 4),
        _ => (view.offset() / 2, view.elements() / 2),
    };
    let aligned = view.dtype() == DataType::Int32
        || (view.offset().is_multiple_of(2) && view.elements().is_multiple_of(2));
    match Layout::dense(&[count]) {
        Some(layout) if aligned && view.is_dense() => {
            Ok(View::new(view.base, DataType::UInt8, start, layout))
        }
        _ => Err(cx.unsupported(format_args!(
            "{} has the shape {:?}, the strides {:?} and the offset {}; tensors of int4 must be dense and start and end at a byte",
            cx.param_of(view),
            view.dims(),
            view.strides(),
            view.offset()
        ))),
    }
}

/// Returns a tensor of 4-bit integers as int8: of int4, or of int32 with eight int4 along its last dimension.
///
/// The tensor is dense, or dense with its last two dimensions swapped; of int32, the dimension whose entries lie side by side
/// holds eight times as many.
pub(crate) fn unpacked(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    let rank = view.rank();
    let swapped = rank >= 2 && !view.is_dense();
    let source = match swapped {
        true => view.transpose(rank - 2, rank - 1),
        false => view,
    };
    let packed = bytes(cx, &source)?;
    let mut dims = source.dims().to_vec();
    if view.dtype() == DataType::Int32
        && let Some(last) = dims.last_mut()
    {
        *last *= 8;
    }
    let out = cx.temporary_of(&view, DataType::Int8, &dims)?;
    if !out.is_empty() {
        cx.kernel(Box::new(Unpack), &[Some(packed)], &[out], false)?;
    }
    Ok(match swapped {
        true => out.transpose(rank - 2, rank - 1),
        false => out,
    })
}

/// An integer output of a quantisation, and the int8 tensor that the result is computed in.
#[derive(Clone, Copy)]
pub(crate) struct QuantisedOutput {
    out: View,
    /// The tensor that a kernel writes, of the shape of the values.
    pub rows: View,
    /// The least and the largest value.
    pub limits: (f32, f32),
}

impl QuantisedOutput {
    /// Chooses the tensor in which a quantised output of the shape `dims` is computed. An int32 output holds eight int4.
    pub fn new(cx: &mut Cx<'_>, out: View, dims: &[usize]) -> Result<QuantisedOutput, Refusal> {
        let mut own = dims.to_vec();
        match out.dtype() {
            DataType::Int8 => {
                cx.check_dims(&out, dims)?;
                return Ok(QuantisedOutput {
                    out,
                    rows: out,
                    limits: (-128.0, 127.0),
                });
            }
            DataType::Int4 => {}
            DataType::Int32 => match own.last_mut() {
                Some(last) if last.is_multiple_of(8) => *last /= 8,
                _ => {
                    return Err(cx.invalid(format_args!(
                        "eight int4 are written to an int32: the last dimension of {dims:?} must be a multiple of 8"
                    )));
                }
            },
            other if other.bits() <= 8 => {
                return Err(cx.unsupported(format_args!(
                    "results of the type {other} are not supported"
                )));
            }
            other => {
                return Err(cx.refuse_type(&cx.param_of(&out), other, "int8, int4 or int32"));
            }
        }
        cx.check_dims(&out, &own)?;
        bytes(cx, &out)?;
        let rows = cx.temporary(DataType::Int8, dims)?;
        Ok(QuantisedOutput {
            out,
            rows,
            limits: (-8.0, 7.0),
        })
    }

    /// Chooses the tensor in which the codes of an output of 4 or 8 bits are computed: the output itself, or one byte for each.
    ///
    /// # Errors
    /// Invalid if the output has another shape, or 4 bits and an odd last dimension.
    pub fn codes(
        cx: &mut Cx<'_>,
        out: View,
        dims: &[usize],
        largest: f32,
    ) -> Result<QuantisedOutput, Refusal> {
        cx.check_dims(&out, dims)?;
        let limits = (-largest, largest);
        if out.dtype().bits() == 8 {
            let out = out.reinterpret(DataType::UInt8);
            return Ok(QuantisedOutput {
                out,
                rows: out,
                limits,
            });
        }
        if !dims.last().is_some_and(|last| last.is_multiple_of(2)) {
            return Err(cx.invalid(format_args!(
                "{} has the shape {dims:?}; the last dimension of a tensor of {} must be even",
                cx.param_of(&out),
                out.dtype()
            )));
        }
        bytes(cx, &out)?;
        let rows = cx.temporary(DataType::Int8, dims)?;
        Ok(QuantisedOutput { out, rows, limits })
    }

    /// Packs the result where the output needs it.
    pub fn finish(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        if self.rows == self.out || self.out.is_empty() {
            return Ok(());
        }
        let out = bytes(cx, &self.out)?;
        cx.kernel(Box::new(Pack), &[Some(self.rows)], &[out], false)
    }
}

/// Refuses a number of an output type (`dstType`) that is not the type of the output.
pub(crate) fn check_number(cx: &Cx<'_>, param: &str, out: &View) -> Result<(), Refusal> {
    let number = cx.int(param)?;
    // An int32 output holds eight int4: programs name either type.
    let own = i64::from(out.dtype().acl());
    let packed = out.dtype() == DataType::Int32 && number == i64::from(DataType::Int4.acl());
    match number == own || packed {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{param} is {number}, and {} has the type {}, which is {own}",
            cx.param_of(out),
            out.dtype()
        ))),
    }
}
