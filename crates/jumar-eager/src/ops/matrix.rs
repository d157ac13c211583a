//! Products of matrices and vectors.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::Table;
use super::brain;
use super::normalization::computed;
use super::reduction::accumulator;
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) static TABLE: &Table = &[
    ("aclnnAddbmm", add_sum_of_products),
    ("aclnnAddmm", |cx| add_product(cx, "mat1", "mat2", [2, 2])),
    ("aclnnAddmv", |cx| add_product(cx, "mat", "vec", [2, 1])),
    ("aclnnBaddbmm", |cx| {
        add_product(cx, "batch1", "batch2", [3, 3])
    }),
    ("aclnnBatchMatMul", |cx| {
        product_of(cx, "self", "mat2", Some([3, 3]))
    }),
    ("aclnnDot", |cx| {
        product_of(cx, "self", "tensor", Some([1, 1]))
    }),
    ("aclnnFusedMatmul", fused_product),
    ("aclnnInplaceAddbmm", add_sum_of_products),
    ("aclnnInplaceAddmm", |cx| {
        add_product(cx, "mat1", "mat2", [2, 2])
    }),
    ("aclnnInplaceBaddbmm", |cx| {
        add_product(cx, "batch1", "batch2", [3, 3])
    }),
    ("aclnnMatmul", |cx| product_of(cx, "self", "mat2", None)),
    ("aclnnMm", |cx| product_of(cx, "self", "mat2", Some([2, 2]))),
    ("aclnnMv", |cx| product_of(cx, "self", "vec", Some([2, 1]))),
];

/// Returns a matrix as the kernel takes it: dense, or dense with its last two dimensions swapped, which the flag says.
fn operand(cx: &mut Cx<'_>, view: View) -> Result<(View, bool), Refusal> {
    if view.rank() >= 2 && !view.is_dense() {
        let swapped = view.transpose(view.rank() - 2, view.rank() - 1);
        if swapped.is_dense() {
            return Ok((swapped, true));
        }
    }
    Ok((cx.dense(view)?, false))
}

/// Returns the shape of a product by the rules of NumPy.
fn product_dims(cx: &Cx<'_>, one: &View, two: &View) -> Result<Vec<usize>, Refusal> {
    let mismatch = || {
        cx.invalid(format_args!(
            "{} has the shape {:?} and {} the shape {:?}: the product does not exist",
            cx.param_of(one),
            one.dims(),
            cx.param_of(two),
            two.dims()
        ))
    };
    if one.rank() == 0 || two.rank() == 0 {
        return Err(mismatch());
    }
    let (rows, depth) = match one.dims() {
        [.., rows, depth] => (Some(*rows), *depth),
        [depth] => (None, *depth),
        [] => return Err(mismatch()),
    };
    let (other, columns) = match two.dims() {
        [.., depth, columns] => (*depth, Some(*columns)),
        [depth] => (*depth, None),
        [] => return Err(mismatch()),
    };
    if depth != other {
        return Err(mismatch());
    }
    let batch = |view: &View| view.dims()[..view.rank().saturating_sub(2)].to_vec();
    let (dims, rank) = crate::view::broadcast(&batch(one), &batch(two)).ok_or_else(mismatch)?;
    let mut dims = dims[..rank].to_vec();
    dims.extend(rows);
    dims.extend(columns);
    Ok(dims)
}

/// Reports whether products of a type are sums in float32.
fn is_low_precision(dtype: DataType) -> bool {
    matches!(dtype, DataType::Float16 | DataType::BFloat16)
}

/// Writes a product. Both operands have the same type, and `out` the shape of the product.
pub(super) fn multiply(cx: &mut Cx<'_>, one: View, two: View, out: View) -> Result<(), Refusal> {
    let dims = product_dims(cx, &one, &two)?;
    cx.check_dims(&out, &dims)?;
    if let (Some(one), Some(two)) = (one.parts(), two.parts()) {
        return multiply_parts(cx, one, two, out);
    }
    if promote::is_complex(one.dtype()) || one.dtype() == DataType::Bool {
        return Err(cx.unsupported(format_args!(
            "products of {} are not supported",
            one.dtype()
        )));
    }
    if out.is_empty() {
        return Ok(());
    }
    if one.is_empty() || two.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    if is_low_precision(one.dtype()) {
        let product = match out.dtype() {
            DataType::Float32 if out.is_dense() => out,
            _ => cx.temporary(accumulator(one.dtype()), &dims)?,
        };
        multiply_wide(cx, one, two, product)?;
        return cx.copy(product, out);
    }
    // A vector is multiplied as a matrix of one row or one column. The result does not have that dimension.
    let (mut one, mut two, mut target) = (one, two, out);
    if two.rank() == 1 {
        (two, target) = (two.unsqueeze(1), target.unsqueeze(target.rank()));
    }
    if one.rank() == 1 {
        (one, target) = (one.unsqueeze(0), target.unsqueeze(target.rank() - 1));
    }
    let (one, out) = folded(cx, &one, &two, &target)?.unwrap_or((one, target));
    let ((one, one_swapped), (two, two_swapped)) = (operand(cx, one)?, operand(cx, two)?);
    let inputs: [Input; 2] = [one.into(), two.into()];
    if one.rank() <= 2 && two.rank() <= 2 {
        let attrs = Attrs::new()
            .with("transpose_x1", one_swapped)
            .with("transpose_x2", two_swapped);
        return cx.op("MatMulV2", &inputs, &attrs, &[out]);
    }
    let attrs = Attrs::new()
        .with("adj_x1", one_swapped)
        .with("adj_x2", two_swapped);
    cx.op("BatchMatMulV2", &inputs, &attrs, &[out])
}

/// Writes a product of 16-bit types that is not rounded.
fn multiply_wide(cx: &mut Cx<'_>, one: View, two: View, out: View) -> Result<(), Refusal> {
    if one.dtype() == DataType::BFloat16
        && let Some((one, out)) = folded(cx, &one, &two, &out)?
        && brain::multiply(cx, one, two, out)?
    {
        return Ok(());
    }
    if brain::multiply(cx, one, two, out)? {
        return Ok(());
    }
    let compute = accumulator(one.dtype());
    let (one, two) = (cx.cast(one, compute)?, cx.cast(two, compute)?);
    multiply(cx, one, two, out)
}

/// Returns a batch and the product of the batch with one matrix as matrices, unless the memory of the product does not allow it: the rows of
/// the batch are the rows of one matrix. As a batch, every entry would pack the other matrix again, which takes longer than a copy of the
/// batch.
fn folded(
    cx: &mut Cx<'_>,
    one: &View,
    two: &View,
    out: &View,
) -> Result<Option<(View, View)>, Refusal> {
    if one.rank() <= 2 || two.rank() != 2 {
        return Ok(None);
    }
    let (depth, columns) = (two.dims()[0], two.dims()[1]);
    let rows = one.elements() / depth;
    let Some(out) = out.reshape(&[rows, columns]) else {
        return Ok(None);
    };
    let matrix = match one.reshape(&[rows, depth]) {
        Some(matrix) => Some(matrix),
        None => cx.dense(*one)?.reshape(&[rows, depth]),
    };
    Ok(matrix.map(|matrix| (matrix, out)))
}

/// Writes a product of complex operands, given as real and imaginary parts.
fn multiply_parts(
    cx: &mut Cx<'_>,
    [re, im]: [View; 2],
    [other_re, other_im]: [View; 2],
    out: View,
) -> Result<(), Refusal> {
    let dims = out.dims().to_vec();
    let compute = accumulator(re.dtype());
    let mut product = |one: View, two: View| {
        let (one, two) = (cx.cast(one, compute)?, cx.cast(two, compute)?);
        let to = cx.temporary(compute, &dims)?;
        multiply(cx, one, two, to)?;
        Ok::<Operand, Refusal>(Operand::Tensor(to))
    };
    let real = [product(re, other_re)?, product(im, other_im)?];
    let imaginary = [product(re, other_im)?, product(im, other_re)?];
    let target = match out.parts() {
        Some(_) => out,
        None => cx.temporary(complex_of(compute), &dims)?,
    };
    if let Some([to_re, to_im]) = target.parts() {
        cx.map(F::Sub, compute, &real, to_re)?;
        cx.map(F::Add, compute, &imaginary, to_im)?;
    }
    cx.copy(target, out)
}

/// Returns the complex type with parts of a type.
fn complex_of(part: DataType) -> DataType {
    match part {
        DataType::Float64 => DataType::Complex128,
        _ => DataType::Complex64,
    }
}

/// Returns both operands in the type that they are promoted to.
fn promoted(cx: &mut Cx<'_>, one: View, two: View) -> Result<(View, View), Refusal> {
    let dtype = cx.promote(one.dtype(), two.dtype())?;
    Ok((cx.cast(one, dtype)?, cx.cast(two, dtype)?))
}

/// Refuses operands with other numbers of dimensions.
fn check_ranks(cx: &Cx<'_>, views: [&View; 2], ranks: [usize; 2]) -> Result<(), Refusal> {
    for (view, rank) in views.into_iter().zip(ranks) {
        if view.rank() != rank {
            return Err(cx.invalid(format_args!(
                "{} has {} dimensions; {rank} are wanted",
                cx.param_of(view),
                view.rank()
            )));
        }
    }
    Ok(())
}

fn product_of(
    cx: &mut Cx<'_>,
    one: &str,
    two: &str,
    ranks: Option<[usize; 2]>,
) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor(one)?, cx.tensor(two)?, cx.out("out")?);
    if let Some(ranks) = ranks {
        check_ranks(cx, [&one, &two], ranks)?;
    }
    let (one, two) = promoted(cx, one, two)?;
    cx.check_converts(one.dtype(), &out)?;
    multiply(cx, one, two, out)
}

/// beta * self + alpha * product
fn add_product(cx: &mut Cx<'_>, one: &str, two: &str, ranks: [usize; 2]) -> Result<(), Refusal> {
    let (one, two) = (cx.tensor(one)?, cx.tensor(two)?);
    check_ranks(cx, [&one, &two], ranks)?;
    add(cx, one, two)
}

/// beta * self + alpha * the sum of the products of a batch, which is one product of longer rows.
fn add_sum_of_products(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two) = (cx.tensor("batch1")?, cx.tensor("batch2")?);
    check_ranks(cx, [&one, &two], [3, 3])?;
    let (&[batch, rows, depth], &[other, own, columns]) = (one.dims(), two.dims()) else {
        return Err(cx.defect("ranks were checked"));
    };
    if batch != other || depth != own {
        return Err(cx.invalid(format_args!(
            "batch1 has the shape {:?} and batch2 {:?}: the products do not exist",
            one.dims(),
            two.dims()
        )));
    }
    let one = cx.reshaped(one.permute(&[1, 0, 2]), &[rows, batch * depth])?;
    let two = cx.reshaped(two, &[batch * depth, columns])?;
    add(cx, one, two)
}

/// beta * the first argument + alpha * a product
fn add(cx: &mut Cx<'_>, one: View, two: View) -> Result<(), Refusal> {
    let (addend, beta, alpha) = (cx.tensor_at(0)?, cx.scalar("beta")?, cx.scalar("alpha")?);
    let out = cx.output()?;
    let (one, two) = promoted(cx, one, two)?;
    let dims = product_dims(cx, &one, &two)?;
    cx.check_dims(&out, &dims)?;
    // Rounded once, at the end.
    let compute = match is_low_precision(one.dtype()) {
        true => accumulator(one.dtype()),
        false => one.dtype(),
    };
    let product = cx.temporary(compute, &dims)?;
    multiply(cx, one, two, product)?;
    if beta.complex() == (0.0, 0.0) {
        // The values of self do not count then, not even NaN.
        let operands = [Operand::Tensor(product), Operand::Scalar(alpha)];
        return cx.map(F::Mul, compute, &operands, out);
    }
    let operands = [Operand::Tensor(addend), Operand::Scalar(beta)];
    let scaled = computed(cx, F::Mul, compute, &operands, &dims)?;
    let operands = [
        Operand::Tensor(scaled),
        Operand::Tensor(product),
        Operand::Scalar(alpha),
    ];
    cx.map(F::AddScaled, compute, &operands, out)
}

/// A product with a bias, and a function of it or of it and another tensor.
fn fused_product(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("x1")?, cx.tensor("x2")?, cx.out("y")?);
    let (bias, other) = (cx.optional("bias")?, cx.optional("x3")?);
    cx.check_dtype(&two, one.dtype())?;
    let (function, reads_other) = match cx.text("fusedOpType")? {
        "" | "16cast32" => (None, false),
        "add" => (Some(F::Add), true),
        "mul" => (Some(F::Mul), true),
        "relu" => (Some(F::Relu), false),
        "gelu_erf" => (Some(F::Gelu), false),
        "gelu_tanh" => (Some(F::GeluTanh), false),
        name => {
            return Err(cx.invalid(format_args!(
                "fusedOpType is {name:?}; it must be empty, \"16cast32\", \"add\", \"mul\", \"relu\", \"gelu_erf\" or \"gelu_tanh\""
            )));
        }
    };
    let dims = product_dims(cx, &one, &two)?;
    cx.check_dims(&out, &dims)?;
    let compute = accumulator(one.dtype());
    let (one, two) = (cx.cast(one, compute)?, cx.cast(two, compute)?);
    let result = cx.temporary(compute, &dims)?;
    multiply(cx, one, two, result)?;
    if let Some(bias) = bias.filter(|bias| !bias.is_empty()) {
        let operands = [Operand::Tensor(result), Operand::Tensor(bias)];
        cx.map(F::Add, compute, &operands, result)?;
    }
    match function {
        None => cx.copy(result, out),
        Some(function) if reads_other => {
            let other = other.ok_or_else(|| cx.null("x3"))?;
            cx.check_dims(&other, &dims)?;
            let operands = [Operand::Tensor(result), Operand::Tensor(other)];
            cx.map(function, compute, &operands, out)
        }
        Some(function) => cx.map(function, compute, &[Operand::Tensor(result)], out),
    }
}
