//! Matrices that are stored in blocks (FRACTAL_NZ), and products with further factors.
//!
//! A matrix of `rows` x `columns` is stored as `[column blocks, row blocks, rows of a block, columns of a block]`, filled up
//! with zeros.

use jumar_types::dtype::DataType;

use super::super::matrix::multiply;
use super::super::normalization::computed;
use super::super::reduction::accumulator;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::operands::FLOATS;
use crate::ops::quant::{decoded, unpacked};
use crate::view::View;
use crate::{Arg, Refusal, Scalar};

/// Rows of a block, whatever the type.
pub(super) const BLOCK_ROWS: usize = 16;

/// Returns the shape of the storage of a tensor argument.
pub(super) fn storage(
    cx: &Cx<'_>,
    (param, member): (&str, Option<usize>),
) -> Result<Vec<usize>, Refusal> {
    let tensor = match (cx.arg(param)?, member) {
        (Arg::Tensor(tensor), None) => Some(tensor),
        (Arg::Tensors(members), Some(index)) => members.get(index).and_then(Option::as_ref),
        _ => None,
    };
    let tensor = tensor.ok_or_else(|| cx.null(param))?;
    Ok(tensor
        .desc
        .storage
        .iter()
        .map(|&dim| usize::try_from(dim).unwrap_or(0))
        .collect())
}

/// Sees a dense tensor as blocks of 32 bytes by 16 rows where the matrices fill them: programs state no other shape than that of
/// the matrices then.
fn full_blocks(view: &View, rank: usize, [rows, columns]: [usize; 2]) -> Option<View> {
    let width = 32 * 8 / view.dtype().bits().max(1);
    let fits = view.rank() == rank
        && view.is_dense()
        && view.dims()[rank - 2..] == [rows, columns]
        && rows % BLOCK_ROWS == 0
        && columns % width == 0;
    let mut dims = view.dims()[..rank - 2].to_vec();
    dims.extend([columns / width, rows / BLOCK_ROWS, BLOCK_ROWS, width]);
    view.reshape(&dims).filter(|_| fits)
}

/// Returns the matrices of a tensor that is stored in blocks, under their own shape of `rank` dimensions.
///
/// The blocks are the view's own dimensions, or those of its storage. Of the first form the size of the matrix is that of all
/// blocks, cut to `wanted` rows and columns; a view that swaps its last dimensions is of the transposed matrix.
pub(crate) fn matrices(
    cx: &mut Cx<'_>,
    param: &str,
    rank: usize,
    wanted: [usize; 2],
) -> Result<View, Refusal> {
    matrices_of(cx, (param, None), rank, wanted)
}

/// As [`matrices`], where int32 is the type of the elements, and not of eight int4 each.
pub(crate) fn unpacked_matrices(
    cx: &mut Cx<'_>,
    param: &str,
    rank: usize,
    wanted: [usize; 2],
) -> Result<View, Refusal> {
    arranged(cx, (param, None), rank, wanted, |_, source| Ok(source))
}

/// As [`matrices`], of a tensor argument or of a member of a list.
pub(super) fn matrices_of(
    cx: &mut Cx<'_>,
    param: (&str, Option<usize>),
    rank: usize,
    wanted: [usize; 2],
) -> Result<View, Refusal> {
    // Elements of 4 bits are arranged as bytes, or as float32.
    arranged(cx, param, rank, wanted, |cx, source| match source.dtype() {
        DataType::Int4 | DataType::Int32 => unpacked(cx, source),
        DataType::Float4E2M1 => decoded(cx, source),
        _ => Ok(source),
    })
}

/// Finds the blocks of a tensor, converts their elements, and returns the matrices.
fn arranged(
    cx: &mut Cx<'_>,
    (param, member): (&str, Option<usize>),
    rank: usize,
    wanted: [usize; 2],
    convert: impl FnOnce(&mut Cx<'_>, View) -> Result<View, Refusal>,
) -> Result<View, Refusal> {
    let view = match member {
        Some(index) => cx.tensors(param)?[index],
        None => cx.tensor(param)?,
    };
    let held = storage(cx, (param, member))?;
    let (source, size, swapped) = if view.rank() == rank + 2 {
        (view, wanted, false)
    } else if view.rank() == rank && held.len() == rank + 2 && view.offset() == 0 {
        let source = cx.stored_member(param, member)?;
        let (rows, columns) = (view.dims()[rank - 2], view.dims()[rank - 1]);
        let swapped = view.strides()[rank - 2] == 1 && view.strides()[rank - 1] != 1;
        let size = if swapped {
            [columns, rows]
        } else {
            [rows, columns]
        };
        (source, size, swapped)
    } else if let Some(source) = full_blocks(&view, rank, wanted) {
        (source, wanted, false)
    } else {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?} and the storage {held:?}; expected {} dimensions in blocks",
            view.dims(),
            rank + 2
        )));
    };
    let source = convert(cx, source)?;
    let dims = source.dims().to_vec();
    let lead = rank - 2;
    let [wide, tall, rows, columns] = [dims[lead], dims[lead + 1], dims[lead + 2], dims[lead + 3]];
    let fits = rows == BLOCK_ROWS
        && columns > 0
        && tall * rows >= size[0]
        && wide * columns >= size[1]
        && (tall.max(1) - 1) * rows < size[0].max(1)
        && (wide.max(1) - 1) * columns < size[1].max(1);
    if !fits {
        return Err(cx.invalid(format_args!(
            "{param} has blocks of the shape {dims:?}; expected a matrix of {} x {} in blocks of {BLOCK_ROWS} rows",
            size[0], size[1]
        )));
    }
    // Row blocks, rows, column blocks, columns.
    let mut order: Vec<usize> = (0..lead).collect();
    order.extend([lead + 1, lead + 2, lead, lead + 3]);
    let mut flat = dims[..lead].to_vec();
    flat.extend([tall * rows, wide * columns]);
    let plain = cx.reshaped(source.permute(&order), &flat)?;
    let plain = plain
        .slice(lead, 0, size[0], 1)
        .slice(lead + 1, 0, size[1], 1);
    Ok(match swapped {
        true => plain.transpose(lead, lead + 1),
        false => plain,
    })
}

/// The product of a tensor and matrices in blocks.
pub(super) fn product(cx: &mut Cx<'_>, rank: usize) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_types(&one, FLOATS)?;
    if one.rank() != rank || out.rank() != rank {
        return Err(cx.invalid(format_args!(
            "self and out have {} and {} dimensions; expected {rank}",
            one.rank(),
            out.rank()
        )));
    }
    let two = cx.tensor("mat2")?;
    cx.check_dtype(&two, one.dtype())?;
    let wanted = [one.dims()[rank - 1], out.dims()[rank - 1]];
    let two = matrices(cx, "mat2", rank, wanted)?;
    cx.check_converts(one.dtype(), &out)?;
    multiply(cx, one, two, out)
}

/// `beta * self + alpha * product` with the second matrix in blocks.
pub(super) fn add_product(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("mat1")?, cx.out("out")?);
    cx.check_types(&one, FLOATS)?;
    let (2, 2) = (one.rank(), out.rank()) else {
        return Err(cx.invalid(format_args!(
            "mat1 has the shape {:?} and out {:?}; both must have 2 dimensions",
            one.dims(),
            out.dims()
        )));
    };
    let two = cx.tensor("mat2")?;
    cx.check_dtype(&two, one.dtype())?;
    let two = matrices(cx, "mat2", 2, [one.dims()[1], out.dims()[1]])?;
    let (alpha, beta) = (cx.scalar("alpha")?, cx.scalar("beta")?);
    let addend = cx.tensor("self")?;
    scaled(cx, one, two, addend, (alpha, beta), out)
}

/// `out = alpha * one @ two + beta * addend`, rounded once.
fn scaled(
    cx: &mut Cx<'_>,
    one: View,
    two: View,
    addend: View,
    (alpha, beta): (Scalar, Scalar),
    out: View,
) -> Result<(), Refusal> {
    let compute = accumulator(one.dtype());
    let (one, two) = (cx.cast(one, compute)?, cx.cast(two, compute)?);
    let product = cx.temporary(compute, out.dims())?;
    multiply(cx, one, two, product)?;
    if beta.complex() == (0.0, 0.0) {
        // The values of the addend do not count then, not even NaN.
        let operands = [Operand::Tensor(product), Operand::Scalar(alpha)];
        return cx.map(F::Mul, compute, &operands, out);
    }
    let operands = [Operand::Tensor(addend), Operand::Scalar(beta)];
    let addend = computed(cx, F::Mul, compute, &operands, out.dims())?;
    let operands = [
        Operand::Tensor(addend),
        Operand::Tensor(product),
        Operand::Scalar(alpha),
    ];
    cx.map(F::AddScaled, compute, &operands, out)
}

pub(super) fn gemm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, addend) = (cx.tensor("A")?, cx.tensor("B")?, cx.tensor("C")?);
    let out = cx.out("out")?;
    for view in [&one, &two, &out] {
        cx.check_types(view, FLOATS)?;
        if view.rank() != 2 {
            return Err(cx.invalid(format_args!(
                "{} has {} dimensions; expected 2",
                cx.param_of(view),
                view.rank()
            )));
        }
    }
    let dtype = cx.promote(one.dtype(), two.dtype())?;
    let (one, two) = (cx.cast(one, dtype)?, cx.cast(two, dtype)?);
    let turned = |view: View, flag: i64| match flag {
        0 => view,
        _ => view.transpose(0, 1),
    };
    let one = turned(one, cx.int("transA")?);
    let two = turned(two, cx.int("transB")?);
    if one.dims()[1] != two.dims()[0] || out.dims() != [one.dims()[0], two.dims()[1]] {
        return Err(cx.invalid(format_args!(
            "matrices of {:?} and {:?} have no product of the shape {:?}",
            one.dims(),
            two.dims(),
            out.dims()
        )));
    }
    let alpha = Scalar::of_f64(cx.float("alpha")?);
    let beta = Scalar::of_f64(cx.float("beta")?);
    scaled(cx, one, two, addend, (alpha, beta), out)
}

/// Reads the order of dimensions that a product takes an operand in.
pub(super) fn order(cx: &Cx<'_>, param: &str) -> Result<Option<[usize; 3]>, Refusal> {
    match cx.optional_ints(param)? {
        None | Some([]) => Ok(None),
        Some(&[one, two, three]) => {
            let axes = cx.axes(param, &[one, two, three], 3)?;
            Ok(Some([axes[0], axes[1], axes[2]]))
        }
        Some(other) => Err(cx.invalid(format_args!(
            "{param} has {} entries; expected 3",
            other.len()
        ))),
    }
}

/// A product of batches of matrices whose dimensions are reordered before and after it.
pub(super) fn transposed(cx: &mut Cx<'_>, blocked: bool) -> Result<(), Refusal> {
    let (one, out) = (cx.tensor("x1")?, cx.out("out")?);
    cx.check_types(&one, FLOATS)?;
    for (param, what) in [("bias", "a bias"), ("scale", "a scale")] {
        if cx.optional(param)?.is_some() {
            return Err(cx.unsupported(format_args!(
                "{param}: products with {what} are not supported"
            )));
        }
    }
    if cx.int("batchSplitFactor")? > 1 {
        return Err(cx.unsupported("batchSplitFactor above 1 is not supported"));
    }
    cx.check_types(&out, FLOATS)?;
    if one.rank() != 3 || out.rank() != 3 {
        return Err(cx.invalid(format_args!(
            "x1 and out have {} and {} dimensions; expected 3",
            one.rank(),
            out.rank()
        )));
    }
    let (before_one, before_two, behind) = (
        order(cx, "permX1")?,
        order(cx, "permX2")?,
        order(cx, "permY")?,
    );
    let arranged = |view: View, order: Option<[usize; 3]>| match order {
        Some(order) => view.permute(&order),
        None => view,
    };
    let one = arranged(one, before_one);
    let two = cx.tensor("x2")?;
    cx.check_dtype(&two, one.dtype())?;
    // The result is the product under the order `behind`: entry `axis` of it is dimension `behind[axis]` of the product.
    let mut target = out;
    if let Some(order) = behind {
        let mut inverse = [0; 3];
        for (axis, &from) in order.iter().enumerate() {
            inverse[from] = axis;
        }
        target = out.permute(&inverse);
    }
    let two = match blocked {
        true if before_two.is_some_and(|order| order != [0, 1, 2]) => {
            return Err(cx.unsupported("permX2 of matrices in blocks is not supported"));
        }
        true => matrices(cx, "x2", 3, [one.dims()[2], target.dims()[2]])?,
        false if two.rank() != 3 => {
            return Err(cx.invalid(format_args!("x2 has {} dimensions; expected 3", two.rank())));
        }
        false => arranged(two, before_two),
    };
    let product = cx.temporary(accumulator(one.dtype()), target.dims())?;
    let compute = product.dtype();
    let (one, two) = (cx.cast(one, compute)?, cx.cast(two, compute)?);
    multiply(cx, one, two, product)?;
    cx.copy(product, target)
}

/// Refuses a type that is not that of quantised matrices.
pub(super) fn check_integers(cx: &Cx<'_>, view: &View) -> Result<(), Refusal> {
    let types = [DataType::Int8, DataType::Int4, DataType::Int32];
    cx.check_types(view, &types)
}
