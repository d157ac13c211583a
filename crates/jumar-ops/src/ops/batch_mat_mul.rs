//! Matrix products with NumPy's rules: batches are broadcast, and operands of one dimension are vectors.

use crate::kernels::matmul::{self, TransposedOperands};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "BatchMatMulV2",
    onnx: &[OnnxForm::new("MatMul", 1, LATEST, |builder, node| {
        plain(builder, node, "BatchMatMulV2")
    })],
    inputs: &[
        InputDef::required("x1", Types::NUMBER),
        InputDef::required("x2", Types::NUMBER),
        InputDef::optional("bias", Types::NUMBER),
        InputDef::optional("offset_w", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::bool("adj_x1", false),
        AttrDef::bool("adj_x2", false),
        AttrDef::int("offset_x", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.has(3) {
            return Err(OpError::unsupported("the input offset_w is not supported"));
        }
        matmul::infer(cx, transposed(cx)?)
    },
    prepare: |cx| matmul::prepare(cx, transposed(cx.infer())?),
}];

/// Returns which of the two operands the attributes transpose.
fn transposed(cx: &InferCx<'_>) -> Result<TransposedOperands, OpError> {
    Ok(TransposedOperands {
        one: cx.attrs().bool("adj_x1")?,
        two: cx.attrs().bool("adj_x2")?,
    })
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::*;
    use jumar_types::dtype::DataType;

    /// Returns the product of two matrices by its definition, computed in float64.
    fn reference_product(a: &[f64], b: &[f64], (m, n, k): (usize, usize, usize)) -> Vec<f32> {
        (0..m * n)
            .map(|at| {
                (0..k)
                    .map(|p| a[at / n * k + p] * b[p * n + at % n])
                    .sum::<f64>() as f32
            })
            .collect()
    }

    /// Returns a transposed copy of a matrix.
    fn transposed_copy(x: &Tensor) -> Tensor {
        let dims = x.ty().dims().unwrap();
        let values = x.floats().unwrap();
        let (rows, columns) = (dims[0], dims[1]);
        let new: Vec<f32> = (0..rows * columns)
            .map(|at| values[at % rows * columns + at / rows] as f32)
            .collect();
        f32s(&[columns, rows], &new)
    }

    #[test]
    fn every_combination_of_transposed_operands_agrees_with_the_definition() {
        for (m, n, k) in [
            (1, 1, 1),
            (1, 10, 20),
            (2, 40, 300),
            (5, 33, 7),
            (20, 600, 270),
            (4, 3, 0),
            (64, 64, 64),
        ] {
            let (a, b) = (noise(&[m, k], 1), noise(&[k, n], 2));
            let wanted = f32s(
                &[m, n],
                &reference_product(&a.floats().unwrap(), &b.floats().unwrap(), (m, n, k)),
            );
            for case in 0..4 {
                let one = if case & 1 == 1 {
                    transposed_copy(&a)
                } else {
                    a.clone()
                };
                let two = if case & 2 == 2 {
                    transposed_copy(&b)
                } else {
                    b.clone()
                };
                let attrs = none()
                    .with("adj_x1", case & 1 == 1)
                    .with("adj_x2", case & 2 == 2);
                check_within(
                    "BatchMatMulV2",
                    &[one.clone(), two.clone()],
                    attrs.clone(),
                    &wanted,
                    2e-6,
                );
                let as_float64 = |t: &Tensor| cast(t, DataType::Float64);
                check(
                    "BatchMatMulV2",
                    &[as_float64(&one), as_float64(&two)],
                    attrs,
                    &as_float64(&wanted),
                );
            }
        }
    }

    #[test]
    fn batches_are_broadcast_and_vectors_lose_their_dimension() {
        let (a, b) = (noise(&[2, 1, 3, 4], 1), noise(&[5, 4, 6], 2));
        let (av, bv) = (a.floats().unwrap(), b.floats().unwrap());
        let mut wanted = Vec::new();
        for one in 0..2 {
            for two in 0..5 {
                wanted.extend(reference_product(
                    &av[one * 12..][..12],
                    &bv[two * 24..][..24],
                    (3, 6, 4),
                ));
            }
        }
        check(
            "BatchMatMulV2",
            &[a, b.clone()],
            none(),
            &f32s(&[2, 5, 3, 6], &wanted),
        );
        let v = noise(&[4], 3);
        let wanted: Vec<f32> = (0..5)
            .flat_map(|two| {
                reference_product(&v.floats().unwrap(), &bv[two * 24..][..24], (1, 6, 4))
            })
            .collect();
        check(
            "BatchMatMulV2",
            &[v.clone(), b],
            none(),
            &f32s(&[5, 6], &wanted),
        );
        let dot = reference_product(&v.floats().unwrap(), &v.floats().unwrap(), (1, 1, 4));
        check(
            "BatchMatMulV2",
            &[v.clone(), v.clone()],
            none(),
            &f32s(&[], &dot),
        );
        refuse(
            "BatchMatMulV2",
            &[v, noise(&[5, 2], 1)],
            none(),
            "cannot be multiplied",
        );
    }
}
