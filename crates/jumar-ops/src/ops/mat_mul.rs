//! The product of two matrices, with a bias a column. ONNX's Gemm becomes this and what its factors need.

use jumar_types::dtype::DataType;

use crate::kernels::matmul::{self, TransposedOperands};
use crate::onnx::{LATEST, cast};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "MatMulV2",
        onnx: &[OnnxForm::new("Gemm", 7, LATEST, lower)],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
            InputDef::optional("bias", Types::NUMBER),
            InputDef::optional("offset_w", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::bool("transpose_x1", false),
            AttrDef::bool("transpose_x2", false),
            AttrDef::int("offset_x", 0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_matrices,
        prepare: |cx| matmul::prepare(cx, transposed(cx.infer())?),
    },
    &Operator {
        name: "MatMul",
        onnx: &[],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
            InputDef::optional("bias", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::bool("transpose_x1", false),
            AttrDef::bool("transpose_x2", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_matrices,
        prepare: |cx| matmul::prepare(cx, transposed(cx.infer())?),
    },
];

fn transposed(cx: &InferCx<'_>) -> Result<TransposedOperands, OpError> {
    Ok(TransposedOperands {
        one: cx.attrs().bool("transpose_x1")?,
        two: cx.attrs().bool("transpose_x2")?,
    })
}

fn infer_matrices(cx: &InferCx<'_>) -> Result<Vec<crate::TensorType>, OpError> {
    if cx.has(3) {
        return Err(OpError::unsupported("the input offset_w is not supported"));
    }
    for index in 0..2 {
        let input = cx.input(index)?;
        if input.rank().is_some_and(|rank| rank != 2) {
            return Err(OpError::invalid(format!("{input} is not a matrix")));
        }
    }
    matmul::infer(cx, transposed(cx)?)
}

/// `alpha * A * B + beta * C`: the bias where C is one and the factors are 1, and otherwise a product and a sum.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let (alpha, beta) = (node.float_or("alpha", 1.0)?, node.float_or("beta", 1.0)?);
    let attrs = Attrs::new()
        .with("transpose_x1", node.bool_or("transA", false)?)
        .with("transpose_x2", node.bool_or("transB", false)?);
    let (a, b, c) = (
        node.input(0)?,
        node.input(1)?,
        node.optional(2).filter(|_| beta != 0.0),
    );
    let columns = builder
        .ty(b)
        .shape
        .get(usize::from(!node.bool_or("transB", false)?))
        .copied();
    let dtype = builder.ty(a).dtype;
    if !dtype.is_float() && [alpha, beta].iter().any(|factor| factor.fract() != 0.0) {
        // Factors that are no integers: in float64, and cut in the end.
        let (a, b) = (
            cast(builder, a, DataType::Float64)?,
            cast(builder, b, DataType::Float64)?,
        );
        let c = c.map(|c| cast(builder, c, DataType::Float64)).transpose()?;
        let product = builder.node("MatMulV2", &[Some(a), Some(b)], attrs)?;
        let sum = scaled_sum(builder, product, alpha, c, beta)?;
        return Ok(vec![cast(builder, sum, dtype)?]);
    }
    let is_bias = c.is_some_and(|c| columns.is_some_and(|n| n > 0 && builder.ty(c).shape == [n]));
    if is_bias && alpha == 1.0 && beta == 1.0 {
        return Ok(vec![builder.node(
            "MatMulV2",
            &[Some(a), Some(b), c],
            attrs,
        )?]);
    }
    let product = builder.node("MatMulV2", &[Some(a), Some(b)], attrs)?;
    Ok(vec![scaled_sum(builder, product, alpha, c, beta)?])
}

/// Returns `alpha * product + beta * c`.
fn scaled_sum(
    builder: &mut dyn Builder,
    product: ValueRef,
    alpha: f32,
    c: Option<ValueRef>,
    beta: f32,
) -> Result<ValueRef, OpError> {
    let mut times = |value: ValueRef, factor: f32| {
        if factor == 1.0 {
            Ok(value)
        } else {
            builder.node("Muls", &[Some(value)], Attrs::new().with("value", factor))
        }
    };
    let product = times(product, alpha)?;
    match c {
        None => Ok(product),
        Some(c) => {
            let c = times(c, beta)?;
            builder.node("Add", &[Some(product), Some(c)], Attrs::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn a_bias_is_added_to_each_row() {
        let (a, b) = (
            f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]),
            f32s(&[2, 2], &[1.0, 0.0, 0.0, 2.0]),
        );
        let bias = f32s(&[2], &[10.0, 20.0]);
        check(
            "MatMulV2",
            &[a.clone(), b.clone(), bias.clone()],
            none(),
            &f32s(&[2, 2], &[11.0, 24.0, 13.0, 28.0]),
        );
        let turned = none().with("transpose_x1", true);
        check(
            "MatMul",
            &[a.clone(), b.clone(), bias],
            turned,
            &f32s(&[2, 2], &[11.0, 26.0, 12.0, 28.0]),
        );
        check(
            "MatMulV2",
            &[i64s(&[1, 2], &[2, 3]), i64s(&[2, 1], &[4, 5])],
            none(),
            &i64s(&[1, 1], &[23]),
        );
        refuse(
            "MatMulV2",
            &[noise(&[2, 2, 2], 1), b],
            none(),
            "not a matrix",
        );
    }
}
