//! Quantisation behind an activation or behind products with small matrices, and before a write into a part of a tensor.

use jumar_ops::minifloat::Rounding;
use jumar_ops::view::Row;
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::by_rows::symmetric;
use super::by_scales::{Factor, quantised};
use super::encoding::{BYTES, EncodedOutput, rounding_to, usual_rounding};
use super::mx::{self, BLOCK, Choice, Shape};
use super::packed::check_number;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::matrix::multiply;
use crate::ops::operands::{FLOATS, entries};
use crate::rows::{RowFunction, Rows, largest_magnitude};

pub(super) fn gelu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("y")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&out, &[BYTES, &[DataType::Int8]].concat())?;
    check_number(cx, "dstType", &out)?;
    let Some(&width) = x.dims().last() else {
        return Err(cx.invalid("self has no dimensions; it must have at least one"));
    };
    let function = match cx.text("approximate")? {
        "none" => F::Gelu,
        "tanh" => F::GeluTanh,
        other => {
            return Err(cx.invalid(format_args!(
                "approximate is {other:?}; it must be none or tanh"
            )));
        }
    };
    let rounding = rounding_to(cx, "roundMode", out.dtype())?;
    let (scale, offset) = (
        cx.optional("inputScaleOptional")?,
        cx.optional("inputOffsetOptional")?,
    );
    for parameters in scale.iter().chain(&offset) {
        cx.check_types(parameters, FLOATS)?;
        if parameters.elements() != 1 && parameters.elements() != width {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must have 1 or {width} elements",
                cx.param_of(parameters),
                parameters.dims()
            )));
        }
    }
    let dynamic = match cx.text("quantMode")? {
        "static" => false,
        "dynamic" => true,
        other => {
            return Err(cx.invalid(format_args!(
                "quantMode is {other:?}; it must be static or dynamic"
            )));
        }
    };
    cx.check_dims(&out, x.dims())?;
    let activated = cx.temporary(DataType::Float32, x.dims())?;
    cx.map(
        function,
        DataType::Float32,
        &[Operand::Tensor(x)],
        activated,
    )?;
    if !dynamic {
        let scale = scale.ok_or_else(|| cx.null("inputScaleOptional"))?;
        let axis = x.rank() - 1;
        let how = (Factor::Times, rounding);
        return quantised(cx, activated, (scale, offset), axis, how, out);
    }
    let to = cx
        .optional("outScaleOptional")?
        .ok_or_else(|| cx.null("outScaleOptional"))?;
    cx.check_dtype(&to, DataType::Float32)?;
    let smooth = match scale {
        Some(scale) => Some(entries(cx, scale, width)?),
        None => None,
    };
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    let largest = coded.limits().1;
    symmetric(cx, activated, smooth, (coded, largest), to)
}

pub(super) fn flat(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    kronecker(cx, 0.0)
}

pub(super) fn flat_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.float("dstTypeMax")?;
    kronecker(cx, max)
}

/// Multiplies matrices by one from the right and by one from the left, and quantises the result: each matrix by one scale to
/// int4, or in blocks to float4.
fn kronecker(cx: &mut Cx<'_>, max: f64) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("out")?, cx.out("quantScale")?);
    let (one, two) = (cx.tensor("kroneckerP1")?, cx.tensor("kroneckerP2")?);
    cx.check_types(&x, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_dtype(&one, x.dtype())?;
    cx.check_dtype(&two, x.dtype())?;
    let types = [DataType::Int4, DataType::Int32, DataType::Float4E2M1];
    cx.check_types(&out, &types)?;
    let &[count, rows, columns] = x.dims() else {
        return Err(cx.invalid(format_args!("x has {} dimensions; expected 3", x.rank())));
    };
    if rows > 256 || columns > 256 || count > 262_144 {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; its dimensions must be at most 262144, 256 and 256",
            x.dims()
        )));
    }
    cx.check_dims(&one, &[rows, rows])?;
    cx.check_dims(&two, &[columns, columns])?;
    let clip = cx.float("clipRatio")?;
    if !(clip > 0.0 && clip <= 1.0) {
        return Err(cx.invalid(format_args!(
            "clipRatio is {clip}; it must be positive and at most 1"
        )));
    }
    cx.check_elements(&[&x])?;
    let values = cx.cast(x, DataType::Float32)?;
    let (one, two) = (
        cx.cast(one, DataType::Float32)?,
        cx.cast(two, DataType::Float32)?,
    );
    let half = cx.temporary(DataType::Float32, x.dims())?;
    multiply(cx, values, two, half)?;
    let product = cx.temporary(DataType::Float32, x.dims())?;
    multiply(cx, one, half, product)?;
    let flat = cx.reshaped(product, &[count, rows * columns])?;
    if out.dtype() == DataType::Float4E2M1 {
        if max != 0.0 && !(6.0..=12.0).contains(&max) {
            return Err(cx.invalid(format_args!(
                "dstTypeMax is {max}; it must be 0, or from 6 to 12"
            )));
        }
        let choice = Choice {
            largest: ("dstTypeMax", max),
            ..Choice::plain("dstTypeMax", if max == 0.0 { 0 } else { 2 })
        };
        let rule = mx::rule(cx, out.dtype(), &choice)?;
        let shape = Shape {
            axis: 1,
            block: BLOCK,
            ends: None,
        };
        return mx::quantise(cx, flat, shape, (rule, Rounding::Even), (out, scale));
    }
    if max != 0.0 {
        return Err(cx.invalid(format_args!(
            "dstTypeMax is {max}; it must be 0 unless out has the type float4_e2m1"
        )));
    }
    cx.check_dtype(&scale, DataType::Float32)?;
    cx.check_dims(&scale, &[count])?;
    let coded = EncodedOutput::new(cx, out, x.dims(), Rounding::Even)?;
    symmetric(cx, flat, None, (coded, (7.0 / clip) as f32), scale)
}

/// Limits rows in blocks to a part of the largest magnitude of each block. A part that is not between 0 and 1 limits nothing.
struct Limit;

impl RowFunction for Limit {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, alpha) = (rows.input(0), rows.output(0), rows.input(1).get(0));
        if !(alpha > 0.0 && alpha < 1.0) {
            return out.copy_from(x);
        }
        let mut start = 0;
        while start < x.len() {
            let len = BLOCK.min(x.len() - start);
            let part = x.slice(start, len);
            let limit = alpha * largest_magnitude(part);
            out.slice(start, len)
                .map1(part, |value: f32| value.max(-limit).min(limit));
            start += len;
        }
    }
}

/// Multiplies parts of rows by a matrix, or each by a matrix of its own, and quantises the result: rows by one scale each, or in
/// blocks.
pub(super) fn rotate(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, rotation) = (cx.tensor("x")?, cx.tensor("rotation")?);
    let (out, scale) = (cx.out("yOut")?, cx.out("scaleOut")?);
    cx.check_types(&x, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_dtype(&rotation, x.dtype())?;
    let types = [
        DataType::Int8,
        DataType::Int32,
        DataType::Float4E2M1,
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
    ];
    cx.check_types(&out, &types)?;
    let Some((&width, lead)) = x.dims().split_last().filter(|_| x.rank() < 8) else {
        return Err(cx.invalid(format_args!(
            "x has {} dimensions; expected 1 to 7",
            x.rank()
        )));
    };
    let rows: usize = lead.iter().product();
    let size = rotation.dims().last().copied().unwrap_or(0);
    let fits = size > 0
        && width.is_multiple_of(size)
        && (rotation.dims() == [size, size] || rotation.dims() == [width / size, size, size]);
    if !fits || x.is_empty() {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and rotation {:?}; the last dimension of x must be a multiple of a square matrix",
            x.dims(),
            rotation.dims()
        )));
    }
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    if axis + 1 != x.rank() || cx.flag("trans")? {
        return Err(cx.invalid("axis must be the last dimension, and trans false"));
    }
    let (algorithm, max) = (cx.int("scaleAlg")?, cx.float("dstTypeMax")?);
    let by_rows = matches!(out.dtype(), DataType::Int8 | DataType::Int32);
    let rounding = match by_rows {
        false => rounding_to(cx, "roundMode", out.dtype())?,
        true => match cx.text("roundMode")? {
            "" | "rint" => Rounding::Even,
            "round" => Rounding::Away,
            "floor" => Rounding::Floor,
            other => {
                return Err(cx.invalid(format_args!(
                    "roundMode is {other:?}; it must be rint, round or floor"
                )));
            }
        },
    };
    let alpha = match cx.optional("alpha")? {
        Some(alpha) => {
            cx.check_dtype(&alpha, DataType::BFloat16)?;
            cx.check_dims(&alpha, &[1])?;
            Some(alpha)
        }
        None => None,
    };
    let parts = width / size;
    let values = cx.cast(x, DataType::Float32)?;
    let values = cx.reshaped(values, &[rows, parts, size])?;
    let rotation = cx.cast(rotation, DataType::Float32)?;
    let product = cx.temporary(DataType::Float32, &[rows, parts, size])?;
    match rotation.rank() {
        2 => multiply(cx, values, rotation, product)?,
        _ => multiply(
            cx,
            values.transpose(0, 1),
            rotation,
            product.transpose(0, 1),
        )?,
    }
    let mut product = cx.reshaped(product, &[rows, width])?;
    if let Some(alpha) = alpha {
        let limited = cx.temporary(DataType::Float32, &[rows, width])?;
        cx.rows(Limit, &[Some(product), Some(alpha)], &[Some(limited)])?;
        product = limited;
    }
    if by_rows {
        if algorithm != 0 || max != 0.0 {
            return Err(cx.invalid(format_args!(
                "scaleAlg is {algorithm} and dstTypeMax {max}; with results of {} they must be 0",
                out.dtype()
            )));
        }
        cx.check_dtype(&scale, DataType::Float32)?;
        cx.check_dims(&scale, lead)?;
        let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
        let largest = coded.limits().1;
        return symmetric(cx, product, None, (coded, largest), scale);
    }
    if algorithm == 2 && max == 0.0 {
        return Err(cx.invalid("dstTypeMax is 0; with scaleAlg 2 it must be from 6 to 12"));
    }
    let choice = Choice {
        largest: ("dstTypeMax", max),
        ..Choice::plain("scaleAlg", algorithm)
    };
    let rule = mx::rule(cx, out.dtype(), &choice)?;
    let product = cx.reshaped(product, x.dims())?;
    let shape = Shape {
        axis,
        block: BLOCK,
        ends: None,
    };
    mx::quantise(cx, product, shape, (rule, rounding), (out, scale))
}

/// Writes tensors of bytes into parts of another: each to an entry of the first dimension, from a position of another on.
///
/// Inputs: the bytes, dense, and the positions as dense int64, with the entries before them if `pairs`.
struct PartWriter {
    dims: Vec<usize>,
    axis: usize,
    pairs: bool,
}

impl PartWriter {
    /// Returns the entry and the position that an index names, inside the target.
    fn position(&self, index: Row<'_, i64>, item: usize, to: &[usize]) -> Option<(usize, usize)> {
        let (entry, start) = match self.pairs {
            true => (
                usize::try_from(index.get(2 * item)).ok()?,
                index.get(2 * item + 1),
            ),
            false => (item, index.get(item)),
        };
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(self.dims[self.axis])?;
        (entry < to[0] && end <= to[self.axis]).then_some((entry, start))
    }
}

impl Kernel for PartWriter {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, index) = (call.input::<u8>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<u8>(0)?;
        let (shape, strides) = (out.layout().shape(), out.layout().strides());
        let last = self.dims.len() - 1;
        let width = self.dims[last];
        let lines: usize = self.dims[1..last].iter().product();
        for item in 0..self.dims[0] {
            let Some((entry, start)) = self.position(index, item, shape) else {
                return Err(OpError::new(
                    OpErrorKind::Data,
                    format!(
                        "indices[{item}] names a part outside of selfRef, whose shape is {shape:?}"
                    ),
                ));
            };
            for line in 0..lines {
                let mut at = entry * strides[0] as usize;
                let mut rest = line;
                for axis in (1..last).rev() {
                    let own = rest % self.dims[axis] + if axis == self.axis { start } else { 0 };
                    rest /= self.dims[axis];
                    at += own * strides[axis] as usize;
                }
                out.row(at, width, strides[last])
                    .copy_from(from.slice((item * lines + line) * width, width));
            }
        }
        Ok(())
    }
}

pub(super) fn scatter(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let rounding = usual_rounding(cx.out("selfRef")?.dtype());
    quantise_and_write(cx, rounding)
}

pub(super) fn scatter_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let rounding = rounding_to(cx, "roundMode", cx.out("selfRef")?.dtype())?;
    quantise_and_write(cx, rounding)
}

/// Quantises updates along their last dimension and writes them where indices say.
fn quantise_and_write(cx: &mut Cx<'_>, rounding: Rounding) -> Result<(), Refusal> {
    let (out, index, updates) = (
        cx.out("selfRef")?,
        cx.tensor("indices")?,
        cx.tensor("updates")?,
    );
    let (scale, offset) = (cx.tensor("quantScales")?, cx.optional("quantZeroPoints")?);
    cx.check_types(&out, &[BYTES, &[DataType::Int8]].concat())?;
    cx.check_types(&index, &[DataType::Int32, DataType::Int64])?;
    cx.check_types(&updates, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_types(&scale, &[DataType::Float32, DataType::BFloat16])?;
    if let Some(offset) = &offset {
        cx.check_types(offset, &[DataType::Int32, DataType::BFloat16])?;
    }
    let rank = out.rank();
    if rank < 3 || updates.rank() != rank {
        return Err(cx.invalid(format_args!(
            "selfRef and updates have {rank} and {} dimensions; expected as many, at least 3",
            updates.rank()
        )));
    }
    let (axis, last) = (cx.axis("axis", cx.int("axis")?, rank)?, rank - 1);
    if axis == 0 || axis == last {
        return Err(cx.invalid(format_args!(
            "axis is {axis}; it must be neither the first nor the last dimension"
        )));
    }
    let quant_axis = cx.axis("quantAxis", cx.int("quantAxis")?, rank)?;
    let reduction = cx.int("reduction")?;
    if quant_axis != last || reduction != 1 {
        return Err(cx.invalid(format_args!(
            "quantAxis is {quant_axis} and reduction {reduction}; they must be the last dimension, and 1"
        )));
    }
    let pairs = match *index.dims() {
        [own] if own == updates.dims()[0] => false,
        [own, 2] if own == updates.dims()[0] => true,
        ref dims => {
            return Err(cx.invalid(format_args!(
                "indices has the shape {dims:?}; expected {} entries, or as many pairs",
                updates.dims()[0]
            )));
        }
    };
    let fits = (0..rank).all(|own| {
        let (size, of) = (updates.dims()[own], out.dims()[own]);
        if own == 0 || own == axis {
            size <= of
        } else {
            size == of
        }
    });
    if !fits {
        return Err(cx.invalid(format_args!(
            "updates has the shape {:?}, which does not fit {:?} of selfRef",
            updates.dims(),
            out.dims()
        )));
    }
    let width = updates.dims()[last];
    let mut parameters = Vec::new();
    for view in [Some(scale), offset].into_iter().flatten() {
        if view.elements() != width {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must have {width} elements",
                cx.param_of(&view),
                view.dims()
            )));
        }
        parameters.push(cx.reshaped(view, &[width])?);
    }
    if updates.is_empty() {
        return Ok(());
    }
    let bytes = cx.temporary(out.dtype(), updates.dims())?;
    let factors = (parameters[0], parameters.get(1).copied());
    quantised(cx, updates, factors, last, (Factor::Over, rounding), bytes)?;
    let index = cx.cast(index, DataType::Int64)?;
    let index = cx.dense(index)?;
    let kernel = PartWriter {
        dims: updates.dims().to_vec(),
        axis,
        pairs,
    };
    let from = bytes.reinterpret(DataType::UInt8);
    let target = out.reinterpret(DataType::UInt8);
    cx.kernel(
        Box::new(kernel),
        &[Some(from), Some(index)],
        &[target],
        false,
    )
}
