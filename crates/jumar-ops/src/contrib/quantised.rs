//! What the quantiser writes: operators on numbers of 8 bits, which are computed in float32 between a dequantisation and a
//! quantisation, products of integers, and products whose weights have few bits.

use jumar_types::dtype::DataType;

use super::{Values, add_if, form, ints, one, plain, refuse_input, scaled, standard, transposed};
use crate::onnx::cast;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, Tensor, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("QuantizeLinear", |builder, node| {
        standard(builder, "QuantizeLinear", node.inputs(), &node.rest(&[]), 1)
    }),
    form("DequantizeLinear", |builder, node| {
        standard(
            builder,
            "DequantizeLinear",
            node.inputs(),
            &node.rest(&[]),
            1,
        )
    }),
    form("QLinearAdd", |builder, node| binary(builder, node, "Add")),
    form("QLinearMul", |builder, node| binary(builder, node, "Mul")),
    form("QLinearSigmoid", |builder, node| {
        unary(builder, node, "Sigmoid", &Attrs::new())
    }),
    form("QLinearLeakyRelu", |builder, node| {
        let attrs = Attrs::new().with("alpha", node.float_or("alpha", 0.01)?);
        unary(builder, node, "LeakyRelu", &attrs)
    }),
    form("QLinearSoftmax", |builder, node| {
        if node.int_or("opset", 13)? < 13 {
            return Err(OpError::unsupported(
                "the softmax of an operator set below 13 is not supported",
            ));
        }
        let attrs = Attrs::new().with("axis", node.int_or("axis", -1)?);
        unary(builder, node, "Softmax", &attrs)
    }),
    form("QLinearGlobalAveragePool", |builder, node| {
        pool(builder, node, "GlobalAveragePool", &Attrs::new())
    }),
    form("QLinearAveragePool", |builder, node| {
        let attrs = node.rest(&["channels_last"]);
        pool(builder, node, "AveragePool", &attrs)
    }),
    form("QLinearReduceMean", |builder, node| {
        let attrs = Attrs::new().with("keepdims", node.int_or("keepdims", 1)?);
        let x = node.input(0)?;
        let rank = builder.ty(x).rank().unwrap_or(0) as i64;
        let axes = match node.ints("axes")? {
            Some(axes) => axes.to_vec(),
            None => (0..rank).collect(),
        };
        let real = dequantised(builder, node, 0)?;
        let axes = ints(builder, &axes);
        let mean = one(builder, "ReduceMean", &[Some(real), Some(axes)], &attrs)?;
        quantised(builder, mean, (node.input(3)?, node.optional(4)), x)
    }),
    form("QLinearConcat", |builder, node| {
        let parts = node.inputs().get(2..).unwrap_or_default();
        if parts.is_empty() || !parts.len().is_multiple_of(3) {
            return Err(OpError::invalid(
                "its inputs have to be a scale, a zero point, and three for each part",
            ));
        }
        let mut real = Vec::with_capacity(parts.len() / 3);
        for index in (2..node.inputs().len()).step_by(3) {
            real.push(Some(dequantised(builder, node, index)?));
        }
        let attrs = Attrs::new().with("axis", node.int_or("axis", 1)?);
        let joined = one(builder, "Concat", &real, &attrs)?;
        let like = node.input(2)?;
        quantised(builder, joined, (node.input(0)?, node.optional(1)), like)
    }),
    form("QLinearWhere", |builder, node| {
        let (x, y) = (
            dequantised(builder, node, 1)?,
            dequantised(builder, node, 4)?,
        );
        let chosen = plain(builder, "Where", &[node.input(0)?, x, y])?;
        let like = node.input(1)?;
        quantised(builder, chosen, (node.input(7)?, node.optional(8)), like)
    }),
    form("QGemm", gemm),
    form("MatMulIntegerToFloat", |builder, node| {
        let zeros = (node.optional(4), node.optional(5));
        let scales = (node.input(2)?, node.input(3)?);
        let operands = (node.input(0)?, node.input(1)?);
        product(builder, operands, scales, zeros, node.optional(6))
    }),
    form("DynamicQuantizeMatMul", |builder, node| {
        let inputs = [Some(node.input(0)?)];
        let quantised = standard(builder, "DynamicQuantizeLinear", &inputs, &Attrs::new(), 3)?;
        let [a, scale, zero] = quantised[..] else {
            return Err(OpError::internal("a quantisation without a scale"));
        };
        let scales = (scale, node.input(2)?);
        let zeros = (Some(zero), node.optional(3));
        let operands = (a, node.input(1)?);
        product(builder, operands, scales, zeros, node.optional(4))
    }),
    form("DynamicQuantizeLSTM", lstm),
    form("MatMulNBits", few_bits),
];

/// A pool of quantised images, whose channels may come last.
fn pool(builder: &mut dyn Builder, node: &OnnxNode<'_>, name: &str, attrs: &Attrs) -> Values {
    let real = dequantised(builder, node, 0)?;
    let pooled = match node.bool_or("channels_last", false)? {
        true => super::layout::channels_last(builder, real, |builder, x| {
            one(builder, name, &[Some(x)], attrs)
        })?[0],
        false => one(builder, name, &[Some(real)], attrs)?,
    };
    let like = node.input(0)?;
    quantised(builder, pooled, (node.input(3)?, node.optional(4)), like)
}

/// Turns an input, which its scale and its zero point follow, into floats.
fn dequantised(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    index: usize,
) -> Result<ValueRef, OpError> {
    let inputs = [
        Some(node.input(index)?),
        Some(node.input(index + 1)?),
        node.optional(index + 2),
    ];
    one(builder, "DequantizeLinear", &inputs, &Attrs::new())
}

/// Turns floats into the type of another value, with a scale and perhaps a zero point.
fn quantised(
    builder: &mut dyn Builder,
    real: ValueRef,
    (scale, zero): (ValueRef, Option<ValueRef>),
    like: ValueRef,
) -> Values {
    let zero = match zero {
        Some(zero) => zero,
        None => {
            let zero = Tensor::scalar(builder.ty(like).dtype, 0.0)?;
            builder.add_constant(zero)
        }
    };
    Ok(vec![plain(
        builder,
        "QuantizeLinear",
        &[real, scale, zero],
    )?])
}

fn binary(builder: &mut dyn Builder, node: &OnnxNode<'_>, name: &str) -> Values {
    let (a, b) = (
        dequantised(builder, node, 0)?,
        dequantised(builder, node, 3)?,
    );
    let result = plain(builder, name, &[a, b])?;
    let like = node.input(0)?;
    quantised(builder, result, (node.input(6)?, node.optional(7)), like)
}

fn unary(builder: &mut dyn Builder, node: &OnnxNode<'_>, name: &str, attrs: &Attrs) -> Values {
    let x = dequantised(builder, node, 0)?;
    let result = one(builder, name, &[Some(x)], attrs)?;
    let like = node.input(0)?;
    quantised(builder, result, (node.input(3)?, node.optional(4)), like)
}

fn gemm(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    let alpha = node.float_or("alpha", 1.0)?;
    let turned = [node.int_or("transA", 0)?, node.int_or("transB", 0)?];
    let a = dequantised(builder, node, 0)?;
    // A scale for each column of the product.
    let inputs = [Some(node.input(3)?), Some(node.input(4)?), node.optional(5)];
    let axis = Attrs::new().with("axis", i64::from(turned[1] == 0));
    let b = one(builder, "DequantizeLinear", &inputs, &axis)?;
    let attrs = Attrs::new()
        .with("transA", turned[0])
        .with("transB", turned[1]);
    let mut result = one(builder, "Gemm", &[Some(a), Some(b)], &attrs)?;
    if let Some(bias) = node.optional(6) {
        // The bias is counted in products of both scales.
        let unit = plain(builder, "Mul", &[node.input(1)?, node.input(4)?])?;
        let bias = cast(builder, bias, DataType::Float32)?;
        let bias = plain(builder, "Mul", &[bias, unit])?;
        result = plain(builder, "Add", &[result, bias])?;
    }
    let result = scaled(builder, result, alpha)?;
    match node.optional(7) {
        None => Ok(vec![result]),
        Some(scale) => {
            let like = node.input(0)?;
            quantised(builder, result, (scale, node.optional(8)), like)
        }
    }
}

/// The product of 8-bit integers as floats.
pub(super) fn product(
    builder: &mut dyn Builder,
    (a, b): (ValueRef, ValueRef),
    scales: (ValueRef, ValueRef),
    zeros: (Option<ValueRef>, Option<ValueRef>),
    bias: Option<ValueRef>,
) -> Values {
    let inputs = [Some(a), Some(b), zeros.0, zeros.1];
    let sums = one(builder, "MatMulInteger", &inputs, &Attrs::new())?;
    let real = cast(builder, sums, DataType::Float32)?;
    let scale = plain(builder, "Mul", &[scales.0, scales.1])?;
    let result = plain(builder, "Mul", &[real, scale])?;
    Ok(vec![add_if(builder, result, bias)?])
}

/// An LSTM whose weights have 8 bits, and whose input and state are rounded to 8 bits before each product.
fn lstm(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    let mut weights = Vec::new();
    for (index, zero) in [(1, 9), (2, 11)] {
        let float = cast(builder, node.input(index)?, DataType::Float32)?;
        let zero = node.input(zero)?;
        let axes = match builder.ty(zero).rank() {
            // One a direction, or one a direction and column.
            Some(1) => ints(builder, &[1, 2]),
            Some(2) => ints(builder, &[1]),
            _ => {
                return Err(OpError::unsupported(
                    "zero points of weights have to have 1 or 2 dimensions",
                ));
            }
        };
        let zero = cast(builder, zero, DataType::Float32)?;
        let zero = plain(builder, "Unsqueeze", &[zero, axes])?;
        let centred = plain(builder, "Sub", &[float, zero])?;
        weights.push(transposed(builder, centred, vec![0, 2, 1])?);
    }
    let mut inputs = vec![Some(node.input(0)?), Some(weights[0]), Some(weights[1])];
    inputs.extend((3..8).map(|index| node.optional(index)));
    inputs.extend([Some(node.input(8)?), Some(node.input(10)?)]);
    builder.add_node("jumar.QuantisedLSTM", &inputs, node.rest(&[]), 3)
}

/// A product with weights of 2, 4 or 8 bits, which become float32 here.
fn few_bits(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    node.ignore("accuracy_level");
    refuse_input(node, 4, "g_idx")?;
    let size = |name: &str| {
        let value = node
            .int(name)?
            .and_then(|value| usize::try_from(value).ok());
        value
            .filter(|&value| value > 0)
            .ok_or_else(|| OpError::invalid(format!("the attribute {name} has to be above 0")))
    };
    let (k, n, block) = (size("K")?, size("N")?, size("block_size")?);
    let bits = usize::try_from(node.int_or("bits", 4)?).unwrap_or(0);
    if ![2, 4, 8].contains(&bits) {
        return Err(OpError::unsupported(format!(
            "weights of {bits} bits are not supported; 2, 4 and 8 are"
        )));
    }
    let constant = |index: usize, name: &str| {
        let value = node.input(index)?;
        builder
            .constant(value)
            .cloned()
            .ok_or_else(|| OpError::unsupported(format!("the input {name} has to be a constant")))
    };
    let (packed, scales) = (constant(1, "B")?, constant(2, "scales")?);
    let zeros = match node.optional(3) {
        None => None,
        Some(_) => Some(constant(3, "zero_points")?),
    };
    let blocks = k.div_ceil(block);
    let row = |count: usize| (count * bits).div_ceil(8);
    let wrong = || {
        OpError::invalid(format!(
            "B is {}, and {n} rows of {blocks} blocks of {block} numbers of {bits} bits are expected",
            packed.ty()
        ))
    };
    let expected = n
        .checked_mul(blocks)
        .and_then(|count| count.checked_mul(row(block)));
    if expected != Some(packed.bytes().len()) {
        return Err(wrong());
    }
    let scales = scales.floats().filter(|list| list.len() == n * blocks);
    let scales = scales.ok_or_else(|| {
        OpError::invalid(format!(
            "scales must have {} numbers, one for each of {blocks} blocks of {n} rows",
            n * blocks
        ))
    })?;
    let number = |bytes: &[u8], at: usize| {
        let per_byte = 8 / bits;
        let shift = at % per_byte * bits;
        (bytes[at / per_byte] >> shift) & ((1u16 << bits) - 1) as u8
    };
    let zeros: Vec<f64> = match zeros {
        None => vec![f64::from(1u16 << (bits - 1)); n * blocks],
        Some(zeros) if zeros.ty().dtype == DataType::UInt8 => {
            if zeros.bytes().len() != n * row(blocks) {
                return Err(OpError::invalid(format!(
                    "zero_points has {} bytes; it must have {}, {bits} bits for each of {blocks} blocks of {n} rows",
                    zeros.bytes().len(),
                    n * row(blocks)
                )));
            }
            let rows = zeros.bytes().chunks_exact(row(blocks));
            rows.flat_map(|row| (0..blocks).map(move |at| f64::from(number(row, at))))
                .collect()
        }
        Some(zeros) => zeros
            .floats()
            .filter(|list| list.len() == n * blocks)
            .ok_or_else(|| OpError::invalid("there is not one zero point a block"))?,
    };
    let mut weights = vec![0f32; k * n];
    for (block_index, bytes) in packed.bytes().chunks_exact(row(block)).enumerate() {
        let (column, first) = (block_index / blocks, block_index % blocks * block);
        for at in 0..block.min(k - first) {
            let centred = f64::from(number(bytes, at)) - zeros[block_index];
            weights[(first + at) * n + column] = (centred * scales[block_index]) as f32;
        }
    }
    let weights = builder.add_constant(Tensor::from_floats(&weights).reshaped(&[k, n])?);
    let a = node.input(0)?;
    let dtype = builder.ty(a).dtype;
    let weights = cast(builder, weights, dtype)?;
    let result = plain(builder, "MatMul", &[a, weights])?;
    Ok(vec![add_if(builder, result, node.optional(5))?])
}
