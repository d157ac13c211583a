//! Products of matrices before or behind a collective.

use jumar_types::dtype::DataType;

use super::HALVES;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::matrix::multiply;
use crate::ops::products::{int8_product, matrix, restored_product};
use crate::ops::quant::limited;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Group, Refusal, Transfer};

/// Returns the communicator, after checking what all of these operators take.
fn group(cx: &Cx<'_>, reduces: bool) -> Result<Group, Refusal> {
    // A null pointer means the one value that exists.
    if reduces && !matches!(cx.text("reduceOp")?, "sum" | "") {
        return Err(cx.invalid(format_args!(
            "reduceOp is {:?}; it must be \"sum\"",
            cx.text("reduceOp")?
        )));
    }
    // Into how many parts the communication is divided does not change a result.
    if cx.int("commTurn")? < 0 {
        return Err(cx.invalid(format_args!(
            "commTurn is {}; it must be 0",
            cx.int("commTurn")?
        )));
    }
    match cx.int("streamMode")? {
        1 => cx.group("group").cloned(),
        mode => Err(cx.invalid(format_args!("streamMode is {mode}; it must be 1"))),
    }
}

/// Rows, depth and columns of a product.
struct Sizes {
    rows: usize,
    depth: usize,
    columns: usize,
}

/// Returns the sizes of a product of a matrix, or of a batch whose rows are those of one, with a matrix.
fn sizes(cx: &Cx<'_>, one: &View, two: &View, batch: bool) -> Result<Sizes, Refusal> {
    let fits = one.rank() == 2 || batch && one.rank() == 3;
    let (Some(&depth), &[own, columns], true) = (one.dims().last(), two.dims(), fits) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and x2 the shape {:?}; x1 must have 2{} dimensions and x2 must have 2",
            one.dims(),
            two.dims(),
            if batch { " or 3" } else { "" }
        )));
    };
    if depth != own || depth == 0 {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and x2 the shape {:?}: the product does not exist",
            one.dims(),
            two.dims()
        )));
    }
    let rows = one.dims()[..one.rank() - 1].iter().product();
    Ok(Sizes {
        rows,
        depth,
        columns,
    })
}

/// Checks the operands of a product that is not quantised.
fn plain(cx: &Cx<'_>, batch: bool) -> Result<(View, View, Sizes), Refusal> {
    let (one, two) = (cx.tensor("x1")?, cx.tensor("x2")?);
    cx.check_types(&one, HALVES)?;
    cx.check_dtype(&two, one.dtype())?;
    let sizes = sizes(cx, &one, &two, batch)?;
    Ok((one, two, sizes))
}

/// Returns the bias as a row of one number for each column.
fn bias(
    cx: &mut Cx<'_>,
    param: &str,
    types: &[DataType],
    columns: usize,
) -> Result<Option<View>, Refusal> {
    let Some(bias) = cx.optional(param)?.filter(|bias| !bias.is_empty()) else {
        return Ok(None);
    };
    cx.check_types(&bias, types)?;
    match bias.elements() == columns {
        true => cx.reshaped(bias, &[columns]).map(Some),
        false => Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; it must have {columns} elements",
            bias.dims()
        ))),
    }
}

/// Adds a row or a matrix to a result of float32 in place.
fn add(cx: &mut Cx<'_>, result: View, other: Option<View>) -> Result<(), Refusal> {
    match other {
        Some(other) => {
            let operands = [Operand::Tensor(result), Operand::Tensor(other)];
            cx.map(F::Add, DataType::Float32, &operands, result)
        }
        None => Ok(()),
    }
}

/// Returns the addend of a product, which has the shape of the result, as a matrix.
fn addend(
    cx: &mut Cx<'_>,
    param: &str,
    out: &View,
    sizes: &Sizes,
) -> Result<Option<View>, Refusal> {
    let Some(view) = cx.optional(param)?.filter(|view| !view.is_empty()) else {
        return Ok(None);
    };
    cx.check_dtype(&view, out.dtype())?;
    match view.elements() == out.elements() {
        true => cx.reshaped(view, &[sizes.rows, sizes.columns]).map(Some),
        false => Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; it must be {:?}",
            view.dims(),
            out.dims()
        ))),
    }
}

/// Checks the result of a product: the shape of x1 with the columns of x2.
fn check_result(cx: &Cx<'_>, out: &View, one: &View, sizes: &Sizes) -> Result<(), Refusal> {
    let mut dims = one.dims().to_vec();
    dims[one.rank() - 1] = sizes.columns;
    cx.check_dims(out, &dims)
}

/// `output = all_gather(x1) @ x2 + bias`
pub(super) fn all_gather(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, sizes) = plain(cx, false)?;
    let group = group(cx, false)?;
    if cx.int("gatherIndex")? != 0 {
        return Err(cx.invalid(format_args!(
            "gatherIndex is {}; it must be 0: only x1 is gathered",
            cx.int("gatherIndex")?
        )));
    }
    let rows = sizes.rows * group.size as usize;
    let bias = bias(cx, "bias", &[one.dtype()], sizes.columns)?;
    let out = cx.out("output")?;
    cx.check_dtype(&out, one.dtype())?;
    cx.check_dims(&out, &[rows, sizes.columns])?;
    // A program that does not need it passes an empty tensor.
    let wanted = cx.optional("gatherOut")?.filter(|view| !view.is_empty());
    if let Some(wanted) = &wanted {
        cx.check_dtype(wanted, one.dtype())?;
        cx.check_dims(wanted, &[rows, sizes.depth])?;
    }
    let gathered = match wanted {
        Some(wanted) if wanted.is_dense() => wanted,
        _ => cx.temporary(one.dtype(), &[rows, sizes.depth])?,
    };
    let own = cx.dense(one)?;
    let mark = [sizes.rows, sizes.depth];
    cx.exchange(
        &group,
        Transfer::AllGather,
        (Some(own), Some(gathered)),
        &mark,
    )?;
    if let Some(wanted) = wanted {
        cx.copy(gathered, wanted)?;
    }
    let product = cx.temporary(DataType::Float32, &[rows, sizes.columns])?;
    multiply(cx, gathered, two, product)?;
    add(cx, product, bias)?;
    cx.copy(product, out)
}

/// `output = all_reduce(x1 @ x2 + bias + x3)`
pub(super) fn all_reduce(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, sizes) = plain(cx, true)?;
    let group = group(cx, true)?;
    let bias = bias(cx, "bias", &[one.dtype()], sizes.columns)?;
    let out = cx.out("output")?;
    cx.check_dtype(&out, one.dtype())?;
    check_result(cx, &out, &one, &sizes)?;
    let other = match cx.params().iter().any(|param| param.name == "x3") {
        true => addend(cx, "x3", &out, &sizes)?,
        false => None,
    };
    let product = multiplied(cx, one, two, &sizes)?;
    add(cx, product, bias)?;
    add(cx, product, other)?;
    reduce(cx, &group, product, out)
}

/// Returns a product in float32, as a matrix.
fn multiplied(cx: &mut Cx<'_>, one: View, two: View, sizes: &Sizes) -> Result<View, Refusal> {
    let one = cx.reshaped(one, &[sizes.rows, sizes.depth])?;
    let product = cx.temporary(DataType::Float32, &[sizes.rows, sizes.columns])?;
    multiply(cx, one, two, product)?;
    Ok(product)
}

/// Writes the sum of a matrix of all ranks.
fn reduce(cx: &mut Cx<'_>, group: &Group, own: View, out: View) -> Result<(), Refusal> {
    let mark = own.dims().to_vec();
    cx.exchange(group, Transfer::AllReduce, (Some(own), Some(own)), &mark)?;
    let sum = cx.reshaped(own, out.dims())?;
    cx.copy(sum, out)
}

/// `output = reduce_scatter(x1 @ x2 + bias)`
pub(super) fn reduce_scatter(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, sizes) = plain(cx, false)?;
    let group = group(cx, true)?;
    let bias = bias(cx, "bias", &[one.dtype()], sizes.columns)?;
    let (ranks, out) = (group.size as usize, cx.out("output")?);
    cx.check_dtype(&out, one.dtype())?;
    if !sizes.rows.is_multiple_of(ranks) {
        return Err(cx.invalid(format_args!(
            "x1 has {} rows; they must be divisible by {ranks}, the number of ranks",
            sizes.rows
        )));
    }
    cx.check_dims(&out, &[sizes.rows / ranks, sizes.columns])?;
    let product = multiplied(cx, one, two, &sizes)?;
    add(cx, product, bias)?;
    let part = cx.temporary(DataType::Float32, &[sizes.rows / ranks, sizes.columns])?;
    let mark = [sizes.rows, sizes.columns];
    cx.exchange(
        &group,
        Transfer::ReduceScatter,
        (Some(product), Some(part)),
        &mark,
    )?;
    cx.copy(part, out)
}

/// `out = value / scale`, rounded to int8.
struct Quantise;

impl RowFunction for Quantise {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, value, scale) = (rows.output(0), rows.input(0), rows.input(1));
        out.map2(value, scale, |value, scale| {
            limited((value / scale).round_ties_even(), (-128.0, 127.0))
        });
    }
}

/// `out = value * first / second`, rounded to int8, times `second`.
struct Requantise;

impl RowFunction for Requantise {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, value) = (rows.output(0), rows.input(0));
        out.map2(rows.input(1), rows.input(2), |first, second| first / second);
        out.update(value, |factor, value| {
            limited((value * factor).round_ties_even(), (-128.0, 127.0))
        });
        out.update(rows.input(2), |value, second| value * second);
    }
}

/// Writes the sum of a matrix of all ranks that travels as int8: each rank's part is rounded by the first scale, and the sum by
/// the second. The sum of the rounded parts is exact, so that it does not matter in which form they travel.
fn reduce_rounded(
    cx: &mut Cx<'_>,
    group: &Group,
    own: View,
    scales: [View; 2],
    out: View,
) -> Result<(), Refusal> {
    let columns = own.dims()[1];
    let mut rows = [own; 2];
    for (row, scale) in rows.iter_mut().zip(scales) {
        cx.check_types(&scale, HALVES)?;
        cx.check_dtype(&scale, out.dtype())?;
        if scale.elements() != columns {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must have {columns} elements",
                cx.param_of(&scale),
                scale.dims()
            )));
        }
        *row = cx.reshaped(scale, &[columns])?;
    }
    let rounded = cx.temporary(DataType::Float32, own.dims())?;
    cx.rows(Quantise, &[Some(own), Some(rows[0])], &[Some(rounded)])?;
    let mark = own.dims().to_vec();
    cx.exchange(
        group,
        Transfer::AllReduce,
        (Some(rounded), Some(rounded)),
        &mark,
    )?;
    let result = cx.temporary(DataType::Float32, own.dims())?;
    let inputs = [Some(rounded), Some(rows[0]), Some(rows[1])];
    cx.rows(Requantise, &inputs, &[Some(result)])?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// The names of the parameters that differ between the forms.
struct Names {
    bias: &'static str,
    addend: &'static str,
    scale: &'static str,
    row_scale: Option<&'static str>,
}

/// `output = all_reduce(scale * row scale * (x1 @ x2 + bias) + x3)` of int8 matrices.
pub(super) fn quantised(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let names = match cx.name() {
        "aclnnQuantMatmulAllReduce" => Names {
            bias: "bias",
            addend: "x3",
            scale: "dequantScale",
            row_scale: None,
        },
        _ => Names {
            bias: "biasOptional",
            addend: "x3Optional",
            scale: "dequantScale",
            row_scale: Some("pertokenScaleOptional"),
        },
    };
    plan_quantised(cx, &names)
}

/// As [`quantised`]; the modes of 8-bit floating-point types are not supported.
pub(super) fn quantised_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let one = cx.tensor("x1")?;
    if one.dtype() != DataType::Int8 && one.dtype().bits() <= 8 && one.dtype().is_float() {
        return Err(cx.unsupported(format_args!(
            "products of {} are not supported",
            one.dtype()
        )));
    }
    if cx.int("commQuantMode")? != 0 {
        return Err(cx.invalid(format_args!(
            "commQuantMode is {}; it must be 0 for matrices of int8",
            cx.int("commQuantMode")?
        )));
    }
    if cx.int("groupSize")? != 0 {
        return Err(cx.invalid(format_args!(
            "groupSize is {}; it must be 0 for matrices of int8",
            cx.int("groupSize")?
        )));
    }
    plan_quantised(
        cx,
        &Names {
            bias: "biasOptional",
            addend: "x3Optional",
            scale: "x2Scale",
            row_scale: Some("x1ScaleOptional"),
        },
    )
}

fn plan_quantised(cx: &mut Cx<'_>, names: &Names) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("x1")?, cx.out("output")?);
    cx.check_dtype(&one, DataType::Int8)?;
    cx.check_types(&out, HALVES)?;
    let (Some(&depth), Some(&columns)) = (one.dims().last(), out.dims().last()) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and output {:?}; both must have 2 or 3 dimensions",
            one.dims(),
            out.dims()
        )));
    };
    let two = matrix(cx, "x2", [depth, columns])?;
    cx.check_dtype(&two, DataType::Int8)?;
    let sizes = sizes(cx, &one, &two, true)?;
    let group = group(cx, true)?;
    check_result(cx, &out, &one, &sizes)?;
    cx.check_elements(&[&out])?;
    let bias = bias(cx, names.bias, &[DataType::Int32], sizes.columns)?;
    let other = addend(cx, names.addend, &out, &sizes)?;
    let row_scale = match names.row_scale {
        Some(param) => cx.optional(param)?,
        None => None,
    };
    let scale = cx.tensor(names.scale)?;
    let one = cx.reshaped(one, &[sizes.rows, sizes.depth])?;
    let result = cx.temporary(DataType::Float32, &[sizes.rows, sizes.columns])?;
    int8_product(cx, (one, two), (scale, row_scale), bias, result)?;
    add(cx, result, other)?;
    let rounding = ["commQuantScale1Optional", "commQuantScale2Optional"];
    let has_rounding = cx.params().iter().any(|param| param.name == rounding[0]);
    let scales = match has_rounding {
        true => (cx.optional(rounding[0])?, cx.optional(rounding[1])?),
        false => (None, None),
    };
    match scales {
        (None, None) => reduce(cx, &group, result, out),
        (Some(first), Some(second)) => reduce_rounded(cx, &group, result, [first, second], out),
        _ => Err(cx.invalid(format_args!(
            "{} and {} are given together or not at all",
            rounding[0], rounding[1]
        ))),
    }
}

/// `output = all_reduce(x1 @ ((x2 + offset) * scale) + bias + x3)` with x2 of int8 or int4.
pub(super) fn quantised_weight(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("x1")?, cx.out("output")?);
    cx.check_types(&one, HALVES)?;
    cx.check_dtype(&out, one.dtype())?;
    let (Some(&depth), Some(&columns)) = (one.dims().last(), out.dims().last()) else {
        return Err(cx.invalid(format_args!(
            "x1 has the shape {:?} and output {:?}; both must have 2 or 3 dimensions",
            one.dims(),
            out.dims()
        )));
    };
    let two = cx.tensor("x2")?;
    if two.dtype().is_float() && two.dtype().bits() <= 8 {
        return Err(cx.unsupported(format_args!("weights of {} are not supported", two.dtype())));
    }
    let two = matrix(cx, "x2", [depth, columns])?;
    let sizes = sizes(cx, &one, &two, true)?;
    let group = group(cx, true)?;
    check_result(cx, &out, &one, &sizes)?;
    cx.check_elements(&[&out])?;
    let bias = bias(cx, "bias", &[one.dtype()], sizes.columns)?;
    let other = addend(cx, "x3", &out, &sizes)?;
    let one = cx.reshaped(one, &[sizes.rows, sizes.depth])?;
    let (scale, offset) = ("antiquantScale", "antiquantOffset");
    let result = restored_product(cx, one, two, (scale, offset))?;
    add(cx, result, bias)?;
    add(cx, result, other)?;
    reduce(cx, &group, result, out)
}
