//! Products of quantised matrices with scales of blocks, with an activation behind them, or added in place.

use jumar_ops::minifloat::Rounding;
use jumar_types::dtype::DataType;

use super::super::matrix::multiply;
use super::blocks::{matrices, order};
use super::quantised::{Parameters, operand_of, plan};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::operands::FLOATS;
use crate::ops::quant::{EncodedOutput, Factor, decoded, decoded_scales, mx, quantised, symmetric};
use crate::view::View;

/// A product of int8 or int4 with scales of columns and rows, and GELU behind it.
pub(super) fn fused(cx: &mut Cx<'_>, blocked: bool) -> Result<(), Refusal> {
    for param in [
        "yScaleOptional",
        "x1OffsetOptional",
        "x2OffsetOptional",
        "yOffsetOptional",
        "x3Optional",
    ] {
        if cx.optional(param)?.is_some_and(|view| !view.is_empty()) {
            return Err(cx.invalid(format_args!("{param} must be null: it is reserved")));
        }
    }
    let function = match cx.text("fusedOpType")? {
        "gelu_tanh" => F::GeluTanh,
        "gelu_erf" => F::Gelu,
        other => {
            return Err(cx.invalid(format_args!(
                "fusedOpType is {other:?}; it must be gelu_tanh or gelu_erf"
            )));
        }
    };
    let size = cx.int("groupSizeOptional")?;
    if size != 0 {
        return Err(cx.invalid(format_args!("groupSizeOptional is {size}; it must be 0")));
    }
    let out = cx.out("out")?;
    cx.check_types(&out, &[DataType::Float16, DataType::BFloat16])?;
    let one = cx.tensor("x1")?;
    let one = operand_of(cx, "x1", one)?;
    let two = match blocked {
        true => {
            let (Some(&depth), Some(&columns)) = (one.dims().last(), out.dims().last()) else {
                return Err(cx.invalid("out has no dimensions; expected at least 2"));
            };
            let view = cx.tensor("x2")?;
            cx.check_types(&view, &[DataType::Int8, DataType::Int4, DataType::Int32])?;
            let rank = match view.rank() {
                2 | 3 => view.rank(),
                rank => rank.max(4) - 2,
            };
            matrices(cx, "x2", rank, [depth, columns])?
        }
        false => {
            let view = cx.tensor("x2")?;
            operand_of(cx, "x2", view)?
        }
    };
    let parameters = Parameters {
        scale: cx.tensor("x2Scale")?,
        row_scale: Some(cx.tensor("x1Scale")?),
        offset: None,
        bias: cx.optional("biasOptional")?,
    };
    let product = cx.temporary(DataType::Float32, out.dims())?;
    plan(cx, one, two, parameters, product)?;
    cx.map(
        function,
        DataType::Float32,
        &[Operand::Tensor(product)],
        out,
    )
}

/// Reads the sizes of groups of rows, columns and depth that an integer holds, and refuses others than those of blocks.
fn check_block_size(cx: &Cx<'_>, param: &str) -> Result<(), Refusal> {
    let size = cx.int(param)?;
    let (depth, columns, rows) = (size & 0xffff, size >> 16 & 0xffff, size >> 32);
    match [0, 32].contains(&depth) && [0, 1].contains(&columns) && [0, 1].contains(&rows) {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{param} stands for groups of {rows} rows, {columns} columns and a depth of {depth}; they must be 1, 1 and 32, or 0"
        ))),
    }
}

/// `y += x1^T @ x2`, with scales of blocks of the depth, or one scale of each matrix.
pub(super) fn add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("x1")?, cx.tensor("x2")?, cx.out("yRef")?);
    let (one_scale, two_scale) = (
        cx.optional("x1ScaleOptional")?
            .ok_or_else(|| cx.null("x1ScaleOptional"))?,
        cx.tensor("x2Scale")?,
    );
    let eights = [DataType::Float8E4M3Fn, DataType::Float8E5M2];
    let single = one.dtype() == DataType::HiFloat8;
    match single {
        true => cx.check_dtype(&two, DataType::HiFloat8)?,
        false => {
            cx.check_types(&one, &eights)?;
            cx.check_types(&two, &eights)?;
        }
    }
    cx.check_dtype(&out, DataType::Float32)?;
    if !cx.flag("transposeX1")? || cx.flag("transposeX2")? {
        return Err(cx.invalid("transposeX1 must be true and transposeX2 false"));
    }
    let (&[depth, rows], &[own, columns]) = (one.dims(), two.dims()) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and x2 {:?}; expected matrices",
            one.dims(),
            two.dims()
        )));
    };
    if depth != own || out.dims() != [rows, columns] || depth == 0 || out.is_empty() {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?}, x2 {:?} and yRef {:?}: the product does not exist",
            one.dims(),
            two.dims(),
            out.dims()
        )));
    }
    let (one, two) = match single {
        true => {
            if cx.int("groupSize")? != 0 {
                return Err(cx.invalid("groupSize must be 0 if x1 has the type hifloat8"));
            }
            for scale in [&one_scale, &two_scale] {
                cx.check_dtype(scale, DataType::Float32)?;
                cx.check_dims(scale, &[1])?;
            }
            (decoded(cx, one)?, decoded(cx, two)?)
        }
        false => {
            check_block_size(cx, "groupSize")?;
            let mut restored = Vec::new();
            for (matrix, scale) in [(one, one_scale), (two, two_scale)] {
                let values = cx.temporary(DataType::Float32, matrix.dims())?;
                mx::restore(cx, matrix, scale, (0, mx::BLOCK), values)?;
                restored.push(values);
            }
            (restored[0], restored[1])
        }
    };
    let mut product = cx.temporary(DataType::Float32, out.dims())?;
    multiply(cx, one.transpose(0, 1), two, product)?;
    if single {
        for scale in [one_scale, two_scale] {
            let scaled = cx.temporary(DataType::Float32, out.dims())?;
            let operands = [Operand::Tensor(product), Operand::Tensor(scale)];
            cx.map(F::Mul, DataType::Float32, &operands, scaled)?;
            product = scaled;
        }
    }
    let operands = [Operand::Tensor(out), Operand::Tensor(product)];
    cx.map(F::Add, DataType::Float32, &operands, out)
}

/// A product of batches of quantised matrices, whose dimensions are reordered before and after it.
pub(super) fn transposed(cx: &mut Cx<'_>, blocked: bool) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("x1")?, cx.out("out")?);
    let (one_scale, two_scale) = (cx.tensor("x1Scale")?, cx.tensor("x2Scale")?);
    let types = [
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
        DataType::Float4E2M1,
    ];
    let two = cx.tensor("x2")?;
    cx.check_types(&one, &types)?;
    cx.check_types(&two, &types)?;
    cx.check_types(&out, &[DataType::Float16, DataType::BFloat16])?;
    if cx.optional("bias")?.is_some() {
        return Err(cx.invalid("bias must be null: it is reserved"));
    }
    if cx.int("batchSplitFactor")? > 1 {
        return Err(cx.unsupported("batchSplitFactor above 1 is not supported"));
    }
    let number = cx.int("dtype")?;
    if number != i64::from(out.dtype().acl()) {
        return Err(cx.invalid(format_args!(
            "dtype is {number}, and out has the type {}, which is {}",
            out.dtype(),
            out.dtype().acl()
        )));
    }
    if one.rank() != 3 || out.rank() != 3 {
        return Err(cx.invalid(format_args!(
            "x1 and out have {} and {} dimensions; expected 3",
            one.rank(),
            out.rank()
        )));
    }
    for param in ["permX1", "permY"] {
        let given = order(cx, param)?;
        if given != Some([1, 0, 2]) {
            return Err(cx.invalid(format_args!("{param} is {given:?}; it must be [1, 0, 2]")));
        }
    }
    let swapped = match order(cx, "permX2")? {
        None | Some([0, 1, 2]) => false,
        Some([0, 2, 1]) => true,
        other => {
            return Err(cx.invalid(format_args!(
                "permX2 is {other:?}; it must be [0, 1, 2] or [0, 2, 1]"
            )));
        }
    };
    let (&[rows, batch, depth], columns) = (one.dims(), out.dims()[2]) else {
        return Err(cx.defect("x1 was checked to have 3 dimensions"));
    };
    cx.check_dims(&out, &[rows, batch, columns])?;
    let stored = if swapped {
        [columns, depth]
    } else {
        [depth, columns]
    };
    let two = match blocked {
        true => matrices(cx, "x2", 3, stored)?,
        false => two,
    };
    cx.check_dims(&two, &[batch, stored[0], stored[1]])?;
    cx.check_elements(&[&one, &out])?;
    let in_blocks = one_scale.dtype() == DataType::Float8E8M0;
    let (one, two) = match in_blocks {
        true => {
            check_block_size(cx, "groupSize")?;
            let one_values = cx.temporary(DataType::Float32, one.dims())?;
            mx::restore(cx, one, one_scale, (2, mx::BLOCK), one_values)?;
            let two_values = cx.temporary(DataType::Float32, two.dims())?;
            let axis = if swapped { 2 } else { 1 };
            mx::restore(cx, two, two_scale, (axis, mx::BLOCK), two_values)?;
            (one_values, two_values)
        }
        false => {
            cx.check_dtype(&one_scale, DataType::Float32)?;
            cx.check_dtype(&two_scale, DataType::Float32)?;
            cx.check_dims(&one_scale, &[rows])?;
            cx.check_dims(&two_scale, &[columns])?;
            let two = match two.dtype() {
                DataType::Float32 => two,
                _ => decoded(cx, two)?,
            };
            (decoded(cx, one)?, two)
        }
    };
    let two = if swapped { two.transpose(1, 2) } else { two };
    let mut product = cx.temporary(DataType::Float32, &[batch, rows, columns])?;
    multiply(cx, one.transpose(0, 1), two, product)?;
    if !in_blocks {
        let factors = [cx.reshaped(one_scale, &[rows, 1])?, two_scale];
        for factor in factors {
            let scaled = cx.temporary(DataType::Float32, product.dims())?;
            let operands = [Operand::Tensor(product), Operand::Tensor(factor)];
            cx.map(F::Mul, DataType::Float32, &operands, scaled)?;
            product = scaled;
        }
    }
    cx.copy(product.transpose(0, 1), out)
}

/// A product of float4 with scales of two levels, and a bias.
pub(super) fn two_levels(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    const OUTER: usize = 512;
    let (one, two, out) = (cx.tensor("x1")?, cx.tensor("x2")?, cx.out("out")?);
    cx.check_dtype(&one, DataType::Float4E2M1)?;
    cx.check_dtype(&two, DataType::Float4E2M1)?;
    cx.check_types(&out, &[DataType::Float16, DataType::BFloat16])?;
    if cx.flag("transposeX1")? || !cx.flag("transposeX2")? {
        return Err(cx.invalid("transposeX1 must be false and transposeX2 true"));
    }
    for (param, wanted) in [("level0GroupSize", OUTER), ("level1GroupSize", mx::BLOCK)] {
        let size = cx.int(param)?;
        if size != wanted as i64 {
            return Err(cx.invalid(format_args!("{param} is {size}; it must be {wanted}")));
        }
    }
    let (&[rows, depth], &[own, columns]) = (one.dims(), out.dims()) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and out {:?}; expected matrices",
            one.dims(),
            out.dims()
        )));
    };
    if rows != own || one.is_empty() || out.is_empty() {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and out {:?}; they must have elements, and as many rows",
            one.dims(),
            out.dims()
        )));
    }
    let two = matrices(cx, "x2", 2, [columns, depth])?;
    let mut operands = Vec::new();
    for (matrix, count, inner, outer) in [
        (one, rows, "x1Level1Scale", "x1Level0Scale"),
        (two, columns, "x2Level1Scale", "x2Level0Scale"),
    ] {
        let (inner, mut outer) = (cx.tensor(inner)?, cx.tensor(outer)?);
        cx.check_dtype(&outer, DataType::Float32)?;
        let groups = depth.div_ceil(OUTER);
        match operands.is_empty() {
            true => cx.check_dims(&outer, &[count, groups])?,
            // The scales of the second matrix are transposed, but not its other scales.
            false => {
                cx.check_dims(&outer, &[groups, count])?;
                outer = outer.transpose(0, 1);
            }
        }
        let values = cx.temporary(DataType::Float32, matrix.dims())?;
        mx::restore(cx, matrix, inner, (1, mx::BLOCK), values)?;
        operands.push(mx::scale_rows(cx, values, outer, OUTER)?);
    }
    let product = cx.temporary(DataType::Float32, &[rows, columns])?;
    multiply(cx, operands[0], operands[1].transpose(0, 1), product)?;
    match cx.optional("optionalBias")? {
        Some(bias) => {
            cx.check_dtype(&bias, DataType::Float32)?;
            cx.check_dims(&bias, &[columns])?;
            let operands = [Operand::Tensor(product), Operand::Tensor(bias)];
            cx.map(F::Add, DataType::Float32, &operands, out)
        }
        None => cx.copy(product, out),
    }
}

/// The sum over the batch of products of int8 with scales of rows and columns.
pub(super) fn reduced(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("x1")?, cx.tensor("x2")?, cx.out("out")?);
    let (one_scale, two_scale) = (cx.tensor("x1Scale")?, cx.tensor("x2Scale")?);
    cx.check_dtype(&one, DataType::Int8)?;
    cx.check_dtype(&two, DataType::Int8)?;
    cx.check_dtype(&one_scale, DataType::Float32)?;
    cx.check_types(&two_scale, FLOATS)?;
    cx.check_dtype(&out, DataType::BFloat16)?;
    for param in ["yScale", "x1Offset", "x2Offset", "yOffset", "bias"] {
        if cx.optional(param)?.is_some_and(|view| !view.is_empty()) {
            return Err(cx.invalid(format_args!("{param} must be null: it is reserved")));
        }
    }
    if cx.flag("transposeX1")? || cx.flag("transposeX2")? || cx.flag("keepDims")? {
        return Err(cx.invalid("transposeX1, transposeX2 and keepDims must be false"));
    }
    if cx.ints("dims")? != [0] {
        return Err(cx.invalid(format_args!(
            "dims is {:?}; it must be [0]",
            cx.ints("dims")?
        )));
    }
    let (&[batch, rows, depth], &[own, columns]) = (one.dims(), out.dims()) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and out {:?}; expected 3 and 2 dimensions",
            one.dims(),
            out.dims()
        )));
    };
    cx.check_dims(&one_scale, &[batch, rows])?;
    cx.check_dims(&two_scale, &[columns])?;
    let two: View = matrices(cx, "x2", 3, [depth, columns])?;
    cx.check_dims(&two, &[batch, depth, columns])?;
    if own != rows || out.is_empty() || one.is_empty() {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and out {:?}; they must have elements, and as many rows",
            one.dims(),
            out.dims()
        )));
    }
    // The integer products of each batch are scaled by rows before they are added.
    let parameters = Parameters {
        scale: two_scale,
        row_scale: None,
        offset: None,
        bias: None,
    };
    let product = cx.temporary(DataType::Float32, &[batch, rows, columns])?;
    plan(cx, one, two, parameters, product)?;
    let scaled = cx.temporary(DataType::Float32, product.dims())?;
    let factors = cx.reshaped(one_scale, &[batch, rows, 1])?;
    let operands = [Operand::Tensor(product), Operand::Tensor(factors)];
    cx.map(F::Mul, DataType::Float32, &operands, scaled)?;
    crate::ops::reduction::reduce(cx, "ReduceSum", scaled, &[0], false, out)
}

/// Quantises `x` to int8 by rows or by given scales, multiplies it by int8 matrices, and scales the result back.
///
/// Scales of 64 bits are those of both operands; then no other scale is multiplied.
pub(super) fn dequantised(cx: &mut Cx<'_>, grouped: bool) -> Result<(), Refusal> {
    let (x, weight, out) = (cx.tensor("x")?, cx.tensor("weight")?, cx.out("out")?);
    let scale = cx.tensor("weightScale")?;
    cx.check_dtype(&x, DataType::Float16)?;
    cx.check_dtype(&weight, DataType::Int8)?;
    cx.check_types(&scale, &[DataType::Float32, DataType::Int64])?;
    cx.check_dtype(&out, DataType::Float16)?;
    for param in ["biasOptional", "xOffsetOptional"] {
        if cx.optional(param)?.is_some() {
            return Err(cx.invalid(format_args!("{param} must be null: it is reserved")));
        }
    }
    let (&[rows, depth], &[own, columns]) = (x.dims(), out.dims()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and out {:?}; expected matrices",
            x.dims(),
            out.dims()
        )));
    };
    if rows != own || x.is_empty() || depth % 16 != 0 || columns % 16 != 0 || out.is_empty() {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and out {:?}; they must have as many rows, and multiples of 16 columns",
            x.dims(),
            out.dims()
        )));
    }
    let by_rows = match cx.text("xQuantMode")? {
        "pertoken" => true,
        "pertensor" => false,
        other => {
            return Err(cx.invalid(format_args!(
                "xQuantMode is {other:?}; it must be pertoken or pertensor"
            )));
        }
    };
    let transposed = cx.flag("transposeWeight")?;
    let stored = if transposed {
        [columns, depth]
    } else {
        [depth, columns]
    };
    let rank = if grouped { 3 } else { 2 };
    let weight = match weight.rank() == rank {
        true => weight,
        false => matrices(cx, "weight", rank, stored)?,
    };
    let count = if grouped { weight.dims()[0] } else { 1 };
    let lead = if grouped { vec![count] } else { vec![] };
    cx.check_dims(&weight, &[lead.as_slice(), &stored].concat())?;
    cx.check_dims(&scale, &[lead.as_slice(), &[columns]].concat())?;
    let weight = match transposed {
        true => weight.transpose(rank - 2, rank - 1),
        false => weight,
    };
    let smooth = match cx
        .optional("smoothScaleOptional")?
        .filter(|own| !own.is_empty())
    {
        Some(smooth) => {
            cx.check_dtype(&smooth, DataType::Float16)?;
            cx.check_dims(&smooth, &[depth])?;
            Some(cx.cast(smooth, DataType::Float32)?)
        }
        None => None,
    };
    let given = cx.optional("xScaleOptional")?.filter(|own| !own.is_empty());
    let joined = scale.dtype() == DataType::Int64;
    let wanted = if joined {
        DataType::Float16
    } else {
        DataType::Float32
    };
    if joined && (by_rows || given.is_none()) {
        return Err(cx.invalid(
            "weightScale has the type int64; xQuantMode must be pertensor then, and xScaleOptional a scale",
        ));
    }
    let numbers = cx.temporary(DataType::Int8, &[rows, depth])?;
    let values = cx.cast(x, DataType::Float32)?;
    let row_scale = match given {
        Some(given) => {
            cx.check_dtype(&given, wanted)?;
            let shape = if by_rows { [rows, 1] } else { [1, 1] };
            cx.check_dims(&given, &shape[..1])?;
            let given = cx.cast(given, DataType::Float32)?;
            let given = cx.reshaped(given, &shape)?;
            let smoothed = match smooth {
                Some(smooth) => {
                    let smoothed = cx.temporary(DataType::Float32, &[rows, depth])?;
                    let operands = [Operand::Tensor(values), Operand::Tensor(smooth)];
                    cx.map(F::Mul, DataType::Float32, &operands, smoothed)?;
                    smoothed
                }
                None => values,
            };
            let how = (Factor::Over, Rounding::Even);
            quantised(cx, smoothed, (given, None), 1, how, numbers)?;
            given
        }
        None => {
            if !by_rows {
                return Err(cx.invalid("xScaleOptional is null; xQuantMode must be pertoken then"));
            }
            let factors = cx.temporary(DataType::Float32, &[rows])?;
            let coded = EncodedOutput::new(cx, numbers, &[rows, depth], Rounding::Even)?;
            symmetric(cx, values, smooth, (coded, 127.0), factors)?;
            cx.reshaped(factors, &[rows, 1])?
        }
    };
    let row_scale = match joined {
        true => None,
        false => row_scale.expand(&[rows, 1]),
    };
    if !grouped {
        let parameters = Parameters {
            scale,
            row_scale: match row_scale {
                Some(scale) => Some(cx.dense(scale)?),
                None => None,
            },
            offset: None,
            bias: None,
        };
        return plan(cx, numbers, weight, parameters, out);
    }
    let scale = decoded_scales(cx, scale)?;
    let scale = cx.reshaped(scale, &[count * columns])?;
    super::routed::scaled_groups(cx, (numbers, weight), (scale, row_scale), out)
}
