//! Matrix products of 8-bit numbers with a number that stands for zero. The inputs are ONNX's.
//!
//! Sums are kept in 32 bits, by instructions for bytes where there are some. Where a scale is not float32, products are
//! computed in float64, which holds every sum of products of 8-bit numbers exactly.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Product, Working, generic_kernel_in};
use crate::kernels::int8;
use crate::kernels::loops::{Loops, broadcast_strides, dense_strides};
use crate::onnx::{LATEST, alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, PrepareCx, TensorType, Types,
    infer as check,
};

const BYTES: Types = Types::of(&[DataType::Int8, DataType::UInt8]);

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.MatMulInteger",
        onnx: &[OnnxForm::new(
            "MatMulInteger",
            10,
            LATEST,
            |builder, node| alike(builder, node, "jumar.MatMulInteger"),
        )],
        inputs: &[
            InputDef::required("a", BYTES),
            InputDef::required("b", BYTES),
            InputDef::optional("a_zero_point", BYTES),
            InputDef::optional("b_zero_point", BYTES),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, INTEGER, DataType::Int32),
        prepare: |cx| prepare(cx, INTEGER, &[0, 1, 2, 3]),
    },
    &Operator {
        name: "jumar.QLinearMatMul",
        onnx: &[OnnxForm::new(
            "QLinearMatMul",
            10,
            LATEST,
            |builder, node| alike(builder, node, "jumar.QLinearMatMul"),
        )],
        inputs: &[
            InputDef::required("a", BYTES),
            InputDef::required("a_scale", Types::FLOAT),
            InputDef::required("a_zero_point", BYTES),
            InputDef::required("b", BYTES),
            InputDef::required("b_scale", Types::FLOAT),
            InputDef::required("b_zero_point", BYTES),
            InputDef::required("y_scale", Types::FLOAT),
            InputDef::required("y_zero_point", BYTES),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let dtype = cx.input(7)?.dtype;
            infer(cx, QLINEAR, dtype)
        },
        prepare: |cx| prepare(cx, QLINEAR, &[0, 1, 2, 3, 4, 5, 6, 7]),
    },
];

/// Which input is which: the operands, what stands for zero in them, and the scales of operands and result.
#[derive(Clone, Copy)]
struct Inputs {
    operands: [usize; 2],
    zeros: [usize; 2],
    scales: Option<[usize; 3]>,
}

const INTEGER: Inputs = Inputs {
    operands: [0, 1],
    zeros: [2, 3],
    scales: None,
};
const QLINEAR: Inputs = Inputs {
    operands: [0, 3],
    zeros: [2, 5],
    scales: Some([1, 4, 6]),
};

/// Numbers of columns and rows of a tensor as a stack of matrices; a vector is a row on the left and a column on the
/// right.
fn matrix(shape: &[i64], left: bool) -> Result<(Vec<i64>, i64, i64), OpError> {
    match *shape {
        [] => Err(OpError::invalid(
            "a matrix product needs operands of at least one dimension",
        )),
        [len] if left => Ok((Vec::new(), 1, len)),
        [len] => Ok((Vec::new(), len, 1)),
        [ref batch @ .., rows, columns] => Ok((batch.to_vec(), rows, columns)),
    }
}

fn infer(cx: &InferCx<'_>, inputs: Inputs, dtype: DataType) -> Result<Vec<TensorType>, OpError> {
    let (a, b) = (cx.input(inputs.operands[0])?, cx.input(inputs.operands[1])?);
    if a.rank().is_none() || b.rank().is_none() {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    }
    let ((batch_a, m, k), (batch_b, k_b, n)) = (matrix(&a.shape, true)?, matrix(&b.shape, false)?);
    if k >= 0 && k_b >= 0 && k != k_b {
        return Err(OpError::invalid(format!(
            "{a} and {b} cannot be multiplied: {k} columns meet {k_b} rows"
        )));
    }
    let mut shape = check::broadcast(
        &TensorType::new(dtype, batch_a),
        &TensorType::new(dtype, batch_b),
    )?;
    if a.shape.len() > 1 {
        shape.push(m);
    }
    if b.shape.len() > 1 {
        shape.push(n);
    }
    let mut numbers = vec![(inputs.zeros[0], m), (inputs.zeros[1], n)];
    if let Some([a, b, y]) = inputs.scales {
        numbers.extend([(a, m), (b, n), (y, 1), (7, 1)]);
    }
    for (index, most) in numbers {
        let fits = |count: usize| count == 1 || most < 0 || count as i64 == most;
        if cx.has(index) && !cx.input(index)?.elements().is_none_or(fits) {
            let found = cx.input(index)?;
            return Err(OpError::unsupported(format!(
                "input {index} is {found}; it has to hold 1 number or {most}"
            )));
        }
    }
    Ok(vec![TensorType { dtype, shape }])
}

struct IntegerProduct {
    inputs: Inputs,
    product: Product,
    /// Over batches: result, left and right operand, counted in matrices.
    loops: Loops<3>,
    /// Matrices of the operands.
    counts: [usize; 2],
    bounds: (f64, f64),
}

fn prepare(
    cx: &PrepareCx<'_>,
    inputs: Inputs,
    upcast: &[usize],
) -> Result<Box<dyn Kernel>, OpError> {
    let signed = |index: usize| {
        Ok::<_, OpError>(
            cx.shape(index)?
                .iter()
                .map(|&dim| dim as i64)
                .collect::<Vec<_>>(),
        )
    };
    let (a, b) = (signed(inputs.operands[0])?, signed(inputs.operands[1])?);
    let ((batch_a, m, k), (batch_b, _, n)) = (matrix(&a, true)?, matrix(&b, false)?);
    let unsigned = |dims: Vec<i64>| dims.into_iter().map(|dim| dim as usize).collect::<Vec<_>>();
    let (batch_a, batch_b) = (unsigned(batch_a), unsigned(batch_b));
    let out = cx.output_shape(0)?;
    let mut batch = out[..out.len() - usize::from(a.len() > 1) - usize::from(b.len() > 1)].to_vec();
    let mut strides = [
        dense_strides(&batch),
        broadcast_strides(&batch_a, &batch),
        broadcast_strides(&batch_b, &batch),
    ];
    batch.push(1);
    strides.iter_mut().for_each(|strides| strides.push(0));
    let product = Product::dense(m as usize, n as usize, k as usize);
    let bounds = match inputs.scales {
        None => (0.0, 0.0),
        Some(_) => super::quantize::bounds(cx.output_dtype(0)?)?,
    };
    let loops = Loops::new(&batch, [&strides[0], &strides[1], &strides[2]]);
    let counts = [batch_a.iter().product(), batch_b.iter().product()];
    let scales = inputs.scales.unwrap_or([0; 3]);
    let plain = inputs.scales.is_none();
    if plain
        || scales
            .iter()
            .all(|&index| matches!(cx.dtype(index), Ok(DataType::Float32)))
    {
        let signed = |index: usize| Ok::<_, OpError>(cx.dtype(index)? == DataType::Int8);
        return Ok(Box::new(int8::Product {
            m: product.m,
            n: product.n,
            k: product.k,
            loops,
            counts,
            operands: inputs.operands,
            zeros: inputs.zeros,
            signed: [signed(inputs.operands[0])?, signed(inputs.operands[1])?],
            scaled: (!plain).then_some(int8::SumScale {
                scales,
                zero: 7,
                bounds,
            }),
        }));
    }
    let product = IntegerProduct {
        inputs,
        product,
        loops,
        counts,
        bounds,
    };
    generic_kernel_in(cx, product, upcast, &[0], true)
}

impl Algorithm for IntegerProduct {
    fn scratch(&self) -> usize {
        self.product.panels()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Product { m, n, k, .. } = self.product;
        let [a, b] = [
            io.upcast_mut(self.inputs.operands[0])?,
            io.upcast_mut(self.inputs.operands[1])?,
        ];
        if let Some(zeros) = io.optional(self.inputs.zeros[0])? {
            for row in 0..self.counts[0] * m {
                let zero = zeros.get(if zeros.len() == 1 { 0 } else { row % m });
                let row = a.slice(row * k, k);
                row.map1(row.as_row(), |x| x - zero);
            }
        }
        if let Some(zeros) = io.optional(self.inputs.zeros[1])? {
            for row in 0..self.counts[1] * k {
                let row = b.slice(row * n, n);
                if zeros.len() == 1 {
                    let zero = zeros.get(0);
                    row.map1(row.as_row(), |x| x - zero);
                } else {
                    row.update(zeros, |x, zero| x - zero);
                }
            }
        }
        let (out, panels) = (io.output(0)?, io.scratch()?);
        let (count, steps) = (self.loops.row(), self.loops.steps());
        self.loops.each([0; 3], |offsets| {
            for index in 0..count {
                let [to, one, two]: [usize; 3] = std::array::from_fn(|i| {
                    offsets[i].wrapping_add_signed(steps[i] * index as isize)
                });
                let out = out.slice(to * m * n, m * n);
                let (a, b) = (
                    a.as_row().slice(one * m * k, m * k),
                    b.as_row().slice(two * k * n, k * n),
                );
                self.product.run(a, b, out, panels);
            }
        });
        let Some([a_scale, b_scale, y_scale]) = self.inputs.scales else {
            return Ok(());
        };
        let (a_scale, b_scale, y_scale) = (
            io.input(a_scale)?,
            io.input(b_scale)?,
            io.input(y_scale)?.get(0),
        );
        let zero = io.input(7)?.get(0);
        for at in 0..out.len() {
            let pick = |scales: crate::view::Row<'_, W>, index: usize| {
                scales.get(if scales.len() == 1 { 0 } else { index })
            };
            let factor = pick(a_scale, at / n % m) * pick(b_scale, at % n) / y_scale;
            let value = (out.get(at) * factor).f64().round_ties_even() + zero.f64();
            out.set(at, W::of(value.clamp(self.bounds.0, self.bounds.1)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::*;
    use jumar_types::dtype::DataType;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("mat_mul_integer");
    }

    #[test]
    fn sums_of_bytes_are_exact() {
        for (m, n, k) in [
            (1usize, 40usize, 70usize),
            (5, 33, 7),
            (70, 64, 130),
            (3, 1, 1),
            (2, 5, 0),
            (9, 31, 1029),
        ] {
            for (kind_a, kind_b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for zeros in 0..3 {
                    let (a, ai) = bytes(&[m, k], kind_a, 3);
                    let (b, bi) = bytes(&[k, n], kind_b, 500);
                    let mut inputs = vec![a, b];
                    let (mut za, mut zb) = (vec![0; m], vec![0; n]);
                    if zeros > 0 {
                        let (rows, columns) = if zeros == 2 { (m, n) } else { (1, 1) };
                        let (one, ones) = bytes(&[rows], kind_a, 77);
                        let (two, twos) = bytes(&[columns], kind_b, 99);
                        za = (0..m).map(|i| ones[i % rows]).collect();
                        zb = (0..n).map(|j| twos[j % columns]).collect();
                        inputs.extend([one, two]);
                    }
                    let wanted: Vec<i32> = (0..m * n)
                        .map(|at| {
                            let (i, j) = (at / n, at % n);
                            (0..k)
                                .map(|p| (ai[i * k + p] - za[i]) * (bi[p * n + j] - zb[j]))
                                .sum()
                        })
                        .collect();
                    let wanted = wanted.iter().flat_map(|x| x.to_le_bytes()).collect();
                    let wanted = Tensor::new(DataType::Int32, &[m, n], wanted).unwrap();
                    check("jumar.MatMulInteger", &inputs, none(), &wanted);
                }
            }
        }
    }

    /// Bytes with (1) or without sign, as a tensor and as numbers.
    fn bytes(dims: &[usize], signed: usize, seed: usize) -> (Tensor, Vec<i32>) {
        let count: usize = dims.iter().product();
        let bytes: Vec<u8> = (0..count)
            .map(|i| ((i + seed).wrapping_mul(2_654_435_761) >> 9) as u8)
            .collect();
        let numbers = bytes
            .iter()
            .map(|&b| {
                if signed == 1 {
                    i32::from(b as i8)
                } else {
                    i32::from(b)
                }
            })
            .collect();
        let dtype = [DataType::UInt8, DataType::Int8][signed];
        (Tensor::new(dtype, dims, bytes).unwrap(), numbers)
    }
}
