//! Reductions: sums, extremes, norms, moments, cumulative sums.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::Table;
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) static TABLE: &Table = &[
    ("aclnnAll", |cx| any_or_all(cx, "ReduceMin", true)),
    ("aclnnAmax", |cx| extreme_of_axes(cx, "ReduceMax")),
    ("aclnnAmin", |cx| extreme_of_axes(cx, "ReduceMin")),
    ("aclnnAny", |cx| any_or_all(cx, "ReduceMax", false)),
    ("aclnnArgMax", |cx| arg_extreme(cx, "ArgMaxV2")),
    ("aclnnArgMin", |cx| arg_extreme(cx, "ArgMin")),
    ("aclnnCumsum", cumsum),
    ("aclnnForeachNorm", foreach_norm),
    ("aclnnLinalgVectorNorm", vector_norm),
    ("aclnnLogSumExp", log_sum_exp),
    ("aclnnMax", |cx| extreme_of_all(cx, "ReduceMax")),
    ("aclnnMaxDim", |cx| {
        extreme_and_index(cx, "ReduceMax", "ArgMaxV2")
    }),
    ("aclnnMean", |cx| {
        sum_or_mean(cx, "dim", "keepDim", "ReduceMean")
    }),
    ("aclnnMin", |cx| extreme_of_all(cx, "ReduceMin")),
    ("aclnnMinDim", |cx| {
        extreme_and_index(cx, "ReduceMin", "ArgMin")
    }),
    ("aclnnProd", product),
    ("aclnnProdDim", product_of_axis),
    ("aclnnReduceSum", |cx| {
        sum_or_mean(cx, "dims", "keepDims", "ReduceSum")
    }),
    ("aclnnStd", |cx| {
        let correction = cx.int("correction")?;
        deviation(cx, correction, true)
    }),
    ("aclnnVar", |cx| {
        let correction = i64::from(cx.flag("unbiased")?);
        deviation(cx, correction, false)
    }),
    ("aclnnVarCorrection", |cx| {
        let correction = cx.int("correction")?;
        deviation(cx, correction, false)
    }),
];

/// Returns the shape that is left of a shape when axes are reduced.
pub(super) fn reduced_dims(dims: &[usize], axes: &[usize], keep: bool) -> Vec<usize> {
    let mut left = Vec::with_capacity(dims.len());
    for (axis, &dim) in dims.iter().enumerate() {
        match (axes.contains(&axis), keep) {
            (false, _) => left.push(dim),
            (true, true) => left.push(1),
            (true, false) => {}
        }
    }
    left
}

/// Returns the axes that a parameter names; all of them for an empty list or a null pointer.
pub(super) fn axes_of(cx: &Cx<'_>, param: &str, rank: usize) -> Result<Vec<usize>, Refusal> {
    match cx.optional_ints(param)? {
        Some(dims) if !dims.is_empty() => {
            let mut axes = cx.axes(param, dims, rank)?;
            axes.retain(|&axis| axis < rank);
            Ok(axes)
        }
        _ => Ok((0..rank).collect()),
    }
}

/// Returns the type in which sums of a type are accumulated: float32 for the 16-bit types.
pub(super) fn accumulator(dtype: DataType) -> DataType {
    match dtype {
        DataType::Float64 | DataType::Complex128 => DataType::Float64,
        _ => DataType::Float32,
    }
}

/// Refuses complex numbers.
fn check_real(cx: &Cx<'_>, x: &View) -> Result<(), Refusal> {
    match promote::is_complex(x.dtype()) {
        true => Err(cx.unsupported(format_args!(
            "reductions of {} are not supported",
            x.dtype()
        ))),
        false => Ok(()),
    }
}

/// Reduces axes of a view with an operator of jumar-ops. The output has the reduced shape.
pub(super) fn reduce(
    cx: &mut Cx<'_>,
    operator: &str,
    x: View,
    axes: &[usize],
    keep: bool,
    out: View,
) -> Result<(), Refusal> {
    cx.check_dims(&out, &reduced_dims(x.dims(), axes, keep))?;
    if let Some(parts) = x.parts()
        && matches!(operator, "ReduceSum" | "ReduceMean")
    {
        // Sums of complex numbers are those of their parts.
        let sum = match out.dtype() == x.dtype() {
            true => out,
            false => cx.temporary(x.dtype(), out.dims())?,
        };
        for (part, to) in parts.into_iter().zip(sum.parts().into_iter().flatten()) {
            reduce(cx, operator, part, axes, keep, to)?;
        }
        return cx.copy(sum, out);
    }
    check_real(cx, &x)?;
    if axes.is_empty() {
        return cx.copy(x, out);
    }
    let (x, axes, out) = in_order_of_memory(x, axes, keep, out);
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    let attrs = Attrs::new().with("keep_dims", keep);
    cx.op(operator, &[x.into(), Input::ints(&axes)], &attrs, &[out])
}

/// Returns the operands of a reduction with dimensions in the order in which the elements lie, where that makes the input dense. Copied
/// to a dense tensor, it would be read and written once more.
fn in_order_of_memory(x: View, axes: &[usize], keep: bool, out: View) -> (View, Vec<usize>, View) {
    let mut order: Vec<usize> = (0..x.rank()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(x.layout().strides()[axis]));
    let permuted = x.permute(&order);
    if x.is_dense() || !permuted.is_dense() {
        return (x, axes.to_vec(), out);
    }
    let position = |axis: &usize| order.iter().position(|own| own == axis);
    let own_axes: Vec<usize> = axes.iter().filter_map(position).collect();
    let out = match keep {
        true => out.permute(&order),
        false => {
            let is_kept = |axis: &usize| !axes.contains(axis);
            let kept: Vec<usize> = (0..x.rank()).filter(is_kept).collect();
            let left = order.iter().filter(|axis| is_kept(axis));
            let left = left.filter_map(|axis| kept.iter().position(|own| own == axis));
            out.permute(&left.collect::<Vec<_>>())
        }
    };
    (permuted, own_axes, out)
}

/// Reduces axes to a new temporary of the same type; the reduced dimensions stay with size 1.
pub(super) fn reduce_kept(
    cx: &mut Cx<'_>,
    operator: &str,
    x: View,
    axes: &[usize],
) -> Result<View, Refusal> {
    let out = cx.temporary(x.dtype(), &reduced_dims(x.dims(), axes, true))?;
    reduce(cx, operator, x, axes, true, out)?;
    Ok(out)
}

fn sum_or_mean(cx: &mut Cx<'_>, dims: &str, keep: &str, operator: &str) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let dtype = cx.dtype("dtype")?;
    let axes = axes_of(cx, dims, x.rank())?;
    cx.check_converts(dtype, &out)?;
    let keep = cx.flag(keep)?;
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        let identity = if operator == "ReduceMean" {
            f64::NAN
        } else {
            0.0
        };
        return cx.fill(Scalar::of_f64(identity), out);
    }
    if dtype == DataType::Bool {
        let x = is_not_zero(cx, x)?;
        return reduce(cx, "ReduceMax", x, &axes, keep, out);
    }
    let x = cx.cast(x, dtype)?;
    reduce(cx, operator, x, &axes, keep, out)
}

/// Compares with zero.
fn is_not_zero(cx: &mut Cx<'_>, x: View) -> Result<View, Refusal> {
    if x.dtype() == DataType::Bool {
        return Ok(x);
    }
    let out = cx.temporary(DataType::Bool, x.dims())?;
    let zero = Operand::Scalar(Scalar::of_i64(0));
    cx.test(F::Ne, x.dtype(), &[Operand::Tensor(x), zero], out)?;
    Ok(out)
}

fn any_or_all(cx: &mut Cx<'_>, operator: &str, identity: bool) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let keep = cx.flag("keepdim")?;
    cx.check_converts(DataType::Bool, &out)?;
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_bool(identity), out);
    }
    let x = is_not_zero(cx, x)?;
    reduce(cx, operator, x, &axes, keep, out)
}

/// Refuses an extreme of no elements, which has no identity.
fn check_not_empty(cx: &Cx<'_>, x: &View, out: &View) -> Result<(), Refusal> {
    if x.is_empty() && !out.is_empty() {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}: an extreme of no elements is not defined",
            x.dims()
        )));
    }
    Ok(())
}

fn extreme_of_axes(cx: &mut Cx<'_>, operator: &str) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    check_not_empty(cx, &x, &out)?;
    let keep = cx.flag("keepDim")?;
    reduce(cx, operator, x, &axes, keep, out)
}

/// Views an output of the shape [1] without dimensions: reductions over all elements accept both.
pub(super) fn without_dims(out: View) -> View {
    match out.dims() {
        [1] => out.squeeze(0),
        _ => out,
    }
}

fn extreme_of_all(cx: &mut Cx<'_>, operator: &str) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, without_dims(cx.out("out")?));
    check_not_empty(cx, &x, &out)?;
    let axes: Vec<usize> = (0..x.rank()).collect();
    reduce(cx, operator, x, &axes, false, out)
}

/// Writes the index of the extreme of an axis.
fn index_of_extreme(
    cx: &mut Cx<'_>,
    operator: &str,
    x: View,
    axis: usize,
    keep: bool,
    out: View,
) -> Result<(), Refusal> {
    if x.rank() == 0 {
        cx.check_dims(&out, &[])?;
        return cx.fill(Scalar::of_i64(0), out);
    }
    cx.check_dims(&out, &reduced_dims(x.dims(), &[axis], keep))?;
    let target = if keep { out.squeeze(axis) } else { out };
    // The kernel has no boolean form.
    let x = match x.dtype() {
        DataType::Bool => cx.cast(x, DataType::UInt8)?,
        _ => x,
    };
    let attrs = Attrs::new().with("dtype", DataType::Int64);
    let axis = Input::ints(&[axis as i64]);
    cx.op(operator, &[x.into(), axis], &attrs, &[target])
}

fn arg_extreme(cx: &mut Cx<'_>, operator: &str) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    check_not_empty(cx, &x, &out)?;
    let keep = cx.flag("keepdim")?;
    index_of_extreme(cx, operator, x, axis, keep, out)
}

fn extreme_and_index(cx: &mut Cx<'_>, value: &str, index: &str) -> Result<(), Refusal> {
    let (x, out, indices) = (cx.tensor("self")?, cx.out("out")?, cx.out("indices")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    check_not_empty(cx, &x, &out)?;
    let keep = cx.flag("keepdim")?;
    index_of_extreme(cx, index, x, axis, keep, indices)?;
    let axes: &[usize] = if x.rank() == 0 { &[] } else { &[axis] };
    reduce(cx, value, x, axes, keep, out)
}

fn product(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dtype) = (cx.tensor("self")?, cx.out("out")?, cx.dtype("dtype")?);
    let axes: Vec<usize> = (0..x.rank()).collect();
    product_of(cx, x, &axes, false, dtype, without_dims(out))
}

fn product_of_axis(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dtype) = (cx.tensor("self")?, cx.out("out")?, cx.dtype("dtype")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let axes: &[usize] = if x.rank() == 0 { &[] } else { &[axis] };
    let keep = cx.flag("keepDim")?;
    product_of(cx, x, axes, keep, dtype, out)
}

fn product_of(
    cx: &mut Cx<'_>,
    x: View,
    axes: &[usize],
    keep: bool,
    dtype: DataType,
    out: View,
) -> Result<(), Refusal> {
    cx.check_converts(dtype, &out)?;
    cx.check_dims(&out, &reduced_dims(x.dims(), axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_i64(1), out);
    }
    if dtype == DataType::Bool {
        let x = is_not_zero(cx, x)?;
        return reduce(cx, "ReduceMin", x, axes, keep, out);
    }
    let x = cx.cast(x, dtype)?;
    if promote::is_complex(dtype) {
        return super::scan::product(cx, x, axes, out);
    }
    reduce(cx, "ReduceProd", x, axes, keep, out)
}

fn log_sum_exp(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let keep = cx.flag("keepDim")?;
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_f64(f64::NEG_INFINITY), out);
    }
    let x = cx.cast(x, promote::real(x.dtype()))?;
    match x.parts() {
        Some([real, _]) => log_sum_exp_of_complex(cx, x, real, &axes, out),
        None => reduce(cx, "ReduceLogSumExp", x, &axes, keep, out),
    }
}

/// Writes the logarithm of a sum of exponentials, relative to the largest real part.
fn log_sum_exp_of_complex(
    cx: &mut Cx<'_>,
    x: View,
    real: View,
    axes: &[usize],
    out: View,
) -> Result<(), Refusal> {
    let dtype = x.dtype();
    let number = |value: f64| Operand::Scalar(Scalar::of_f64(value));
    let largest = reduce_kept(cx, "ReduceMax", real, axes)?;
    // An infinite one would leave a difference that is not a number.
    let finite = cx.temporary(DataType::Bool, largest.dims())?;
    cx.test(
        F::IsFinite,
        largest.dtype(),
        &[Operand::Tensor(largest)],
        finite,
    )?;
    let shift = cx.temporary(largest.dtype(), largest.dims())?;
    cx.map(
        F::Where,
        largest.dtype(),
        &[
            Operand::Tensor(finite),
            Operand::Tensor(largest),
            number(0.0),
        ],
        shift,
    )?;
    let shifted = cx.temporary(dtype, x.dims())?;
    let operands = [Operand::Tensor(x), Operand::Tensor(shift)];
    cx.map(F::Sub, dtype, &operands, shifted)?;
    let powers = cx.temporary(dtype, x.dims())?;
    cx.map(F::Exp, dtype, &[Operand::Tensor(shifted)], powers)?;
    let sum = reduce_kept(cx, "ReduceSum", powers, axes)?;
    let logarithm = cx.temporary(dtype, sum.dims())?;
    cx.map(F::Log, dtype, &[Operand::Tensor(sum)], logarithm)?;
    let result = cx.temporary(dtype, sum.dims())?;
    let operands = [Operand::Tensor(logarithm), Operand::Tensor(shift)];
    cx.map(F::Add, dtype, &operands, result)?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// Writes the p-norm over axes, computed in the type of `x`.
pub(super) fn norm(
    cx: &mut Cx<'_>,
    x: View,
    order: f64,
    axes: &[usize],
    keep: bool,
    out: View,
) -> Result<(), Refusal> {
    let dtype = x.dtype();
    let new = |cx: &mut Cx<'_>, function, operands: &[Operand], dims: &[usize]| {
        let to = cx.temporary(dtype, dims)?;
        cx.map(function, dtype, operands, to)?;
        Ok::<View, Refusal>(to)
    };
    let number = |value: f64| Operand::Scalar(Scalar::of_f64(value));
    let size = new(cx, F::Abs, &[Operand::Tensor(x)], x.dims())?;
    if order == f64::INFINITY {
        return reduce(cx, "ReduceMax", size, axes, keep, out);
    }
    if order == f64::NEG_INFINITY {
        return reduce(cx, "ReduceMin", size, axes, keep, out);
    }
    if order == 0.0 {
        let counted = cx.temporary(dtype, x.dims())?;
        cx.test(F::Ne, dtype, &[Operand::Tensor(x), number(0.0)], counted)?;
        return reduce(cx, "ReduceSum", counted, axes, keep, out);
    }
    if order == 1.0 {
        return reduce(cx, "ReduceSum", size, axes, keep, out);
    }
    if order == 2.0 {
        return reduce(cx, "jumar.ReduceL2", size, axes, keep, out);
    }
    let powers = new(
        cx,
        F::Pow,
        &[Operand::Tensor(size), number(order)],
        x.dims(),
    )?;
    let sum = cx.temporary(dtype, &reduced_dims(x.dims(), axes, keep))?;
    reduce(cx, "ReduceSum", powers, axes, keep, sum)?;
    cx.map(
        F::Pow,
        dtype,
        &[Operand::Tensor(sum), number(order.recip())],
        out,
    )
}

/// Returns the absolute values of complex elements, and other elements unchanged, in at least float32.
pub(super) fn real_part_or_size(
    cx: &mut Cx<'_>,
    x: View,
    dtype: DataType,
) -> Result<View, Refusal> {
    if promote::is_complex(x.dtype()) {
        let to = cx.temporary(accumulator(dtype), x.dims())?;
        cx.map(F::ComplexAbs, x.dtype(), &[Operand::Tensor(x)], to)?;
        return Ok(to);
    }
    let dtype = match dtype {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    };
    cx.cast(x, dtype)
}

fn vector_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let dtype = cx.dtype("dtype")?;
    norm_of(cx, ["ord", "dims", "keepDims"], Some(dtype))
}

/// Writes the norm over axes. `params` are the parameters of its order, of the axes, and of whether they stay.
pub(super) fn norm_of(
    cx: &mut Cx<'_>,
    [order, axes, keep]: [&str; 3],
    dtype: Option<DataType>,
) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = axes_of(cx, axes, x.rank())?;
    let (keep, order) = (cx.flag(keep)?, cx.scalar(order)?.real());
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        if order < 0.0 || order == f64::INFINITY {
            return check_not_empty(cx, &x, &out);
        }
        return cx.fill(Scalar::of_i64(0), out);
    }
    let x = real_part_or_size(cx, x, dtype.unwrap_or(x.dtype()))?;
    norm(cx, x, order, &axes, keep, out)
}

fn foreach_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (inputs, outputs) = (cx.tensors("x")?, cx.tensors("out")?);
    let order = cx.scalar("scalar")?.real();
    if inputs.len() != outputs.len() {
        return Err(cx.invalid(format_args!(
            "x has {} tensors and out has {}; they must be as many",
            inputs.len(),
            outputs.len()
        )));
    }
    for (x, out) in inputs.into_iter().zip(outputs) {
        let axes: Vec<usize> = (0..x.rank()).collect();
        // A list of tensors writes outputs of one element, with or without a dimension.
        let target = out.reshape(&[]).ok_or_else(|| {
            cx.invalid(format_args!(
                "out has the shape {:?}; expected one element",
                out.dims()
            ))
        })?;
        if x.is_empty() {
            cx.fill(Scalar::of_i64(0), target)?;
            continue;
        }
        let x = real_part_or_size(cx, x, x.dtype())?;
        norm(cx, x, order, &axes, false, target)?;
    }
    Ok(())
}

/// Returns the mean over axes, which stay with size 1, and the squares of the distances from it.
pub(super) fn mean_and_squares(
    cx: &mut Cx<'_>,
    x: View,
    axes: &[usize],
) -> Result<(View, View), Refusal> {
    let mean = reduce_kept(cx, "ReduceMean", x, axes)?;
    let distances = cx.temporary(x.dtype(), x.dims())?;
    let operands = [Operand::Tensor(x), Operand::Tensor(mean)];
    cx.map(F::Sub, x.dtype(), &operands, distances)?;
    let squares = cx.temporary(x.dtype(), x.dims())?;
    cx.map(F::Square, x.dtype(), &[Operand::Tensor(distances)], squares)?;
    Ok((mean, squares))
}

/// Returns the means over axes, which stay with size 1: one for each part of complex elements. With them, the sums of the
/// squares of the distances from the mean.
pub(super) fn spread(
    cx: &mut Cx<'_>,
    x: View,
    axes: &[usize],
) -> Result<(Vec<View>, View), Refusal> {
    let Some([real, imaginary]) = x.parts() else {
        let (mean, squares) = mean_and_squares(cx, x, axes)?;
        return Ok((vec![mean], reduce_kept(cx, "ReduceSum", squares, axes)?));
    };
    let (means, sum) = spread(cx, real, axes)?;
    let (more, other) = spread(cx, imaginary, axes)?;
    let total = cx.temporary(sum.dtype(), sum.dims())?;
    let both = [Operand::Tensor(sum), Operand::Tensor(other)];
    cx.map(F::Add, sum.dtype(), &both, total)?;
    Ok(([means, more].concat(), total))
}

/// Returns the type in which moments of a type are computed: complex types stay complex.
pub(super) fn moment_type(dtype: DataType) -> DataType {
    match dtype {
        DataType::Complex32 => DataType::Complex64,
        dtype if promote::is_complex(dtype) => dtype,
        dtype => accumulator(dtype),
    }
}

/// Writes the variance, or its root. `correction` is subtracted from the number of elements.
fn deviation(cx: &mut Cx<'_>, correction: i64, root: bool) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let keep = cx.flag("keepdim")?;
    let dims = reduced_dims(x.dims(), &axes, keep);
    cx.check_dims(&out, &dims)?;
    let count: usize = axes.iter().map(|&axis| x.dims()[axis]).product();
    let freedom = (count as f64 - correction as f64).max(0.0);
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_f64(f64::NAN), out);
    }
    let x = cx.cast(x, moment_type(x.dtype()))?;
    let (_, sum) = spread(cx, x, &axes)?;
    let sum = cx.reshaped(sum, &dims)?;
    deviation_of(cx, sum, freedom, root, out)
}

/// Writes a sum of squares over a number of degrees of freedom, or the root of that.
pub(super) fn deviation_of(
    cx: &mut Cx<'_>,
    sum: View,
    freedom: f64,
    root: bool,
    out: View,
) -> Result<(), Refusal> {
    let operands = [
        Operand::Tensor(sum),
        Operand::Scalar(Scalar::of_f64(freedom)),
    ];
    if !root {
        return cx.map(F::Div, sum.dtype(), &operands, out);
    }
    let variance = cx.temporary(sum.dtype(), sum.dims())?;
    cx.map(F::Div, sum.dtype(), &operands, variance)?;
    cx.map(F::Sqrt, sum.dtype(), &[Operand::Tensor(variance)], out)
}

fn cumsum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dtype) = (cx.tensor("self")?, cx.out("out")?, cx.dtype("dtype")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_converts(dtype, &out)?;
    cx.check_dims(&out, x.dims())?;
    if x.rank() == 0 {
        return cx.copy(x, out);
    }
    // Sums of 16-bit numbers are kept in float32 between the elements.
    let compute = match dtype {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        DataType::Bool => DataType::Int64,
        dtype => dtype,
    };
    let x = cx.cast(x, compute)?;
    let axis = Input::ints(&[axis as i64]);
    let Some(parts) = x.parts() else {
        return cx.op("Cumsum", &[x.into(), axis], &Attrs::new(), &[out]);
    };
    let sums = cx.temporary(x.dtype(), x.dims())?;
    for (part, to) in parts.into_iter().zip(sums.parts().into_iter().flatten()) {
        cx.op("Cumsum", &[part.into(), axis.clone()], &Attrs::new(), &[to])?;
    }
    cx.copy(sums, out)
}
