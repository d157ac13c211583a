//! Functions beside the operators.

use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind};

use super::status::PhaseError;
use super::tensor::{self, host_array, known_type};
use crate::{Cx, Raw};

/// Rows of a block of the layout that matrix products store weights in.
const BLOCK_ROWS: i64 = 16;

/// Columns of such a block: 32 bytes.
fn block_columns(dtype: DataType) -> i64 {
    match dtype.size() {
        Some(1) => 32,
        _ => 16,
    }
}

/// Counts the elements of a weight whose last two dimensions are rounded up to blocks.
///
/// # Errors
/// The shape is null, has fewer than two dimensions or is too large; the type is unknown.
pub fn matmul_weight_elements(cx: &Cx<'_>, shape: Raw, data_type: i32) -> Result<u64, PhaseError> {
    let dtype = known_type(data_type)?;
    let shape = cx.process.operators.ints.get(shape.0)?;
    let name = cx.call.name;
    let [outer @ .., rows, columns] = &*shape.values else {
        let sentence = format!(
            "{name}: tensorShape has {} dimensions; a weight has two at least",
            shape.values.len()
        );
        return Err(PhaseError::invalid(sentence));
    };
    let round_up = |dim: i64, block: i64| dim.checked_add(block - 1).map(|sum| sum / block * block);
    let rounded = [
        round_up(*rows, BLOCK_ROWS),
        round_up(*columns, block_columns(dtype)),
    ];
    let mut dims = outer.iter().copied().map(Some).chain(rounded);
    let elements = dims.try_fold(1u64, |product, dim| {
        product.checked_mul(u64::try_from(dim?).ok()?)
    });
    elements.ok_or_else(|| {
        let sentence = format!("{name}: tensorShape {:?} is not a shape", shape.values);
        PhaseError::invalid(sentence)
    })
}

/// The format of a tensor whose dimensions say how its elements lie.
const ND: i32 = 2;
/// The format of matrices in blocks.
const FRACTAL_NZ: i32 = 29;

/// Returns the shape that a tensor has after a cast to a format, as an array that the caller frees, and the format.
///
/// # Errors
/// The tensor is null, empty or has not 2 to 6 dimensions; the type is not one that blocks are made for; the format cannot be cast to.
pub fn format_cast_shape(
    cx: &Cx<'_>,
    source: Raw,
    format: i32,
    additional_type: i32,
) -> Result<((usize, u64), i32), PhaseError> {
    let desc = tensor::find(cx, source)?.content().desc;
    if !(2..=6).contains(&desc.dims.len()) || desc.dims.contains(&0) {
        let sentence = format!(
            "srcTensor has the shape {:?}; it must have 2 to 6 dimensions, and elements",
            desc.dims
        );
        return Err(PhaseError::invalid(sentence));
    }
    let blocks_of = match additional_type {
        // None is given: the tensor's own type.
        -1 => desc.dtype,
        number => known_type(number)?,
    };
    let Some(size @ (1 | 2 | 4)) = blocks_of.size() else {
        let sentence = format!(
            "additionalDtype is {}; blocks are made for types of 1, 2 or 4 bytes",
            blocks_of.name()
        );
        return Err(PhaseError::invalid(sentence));
    };
    let mut dims = desc.dims.to_vec();
    match format {
        ND => {}
        FRACTAL_NZ => {
            let columns = 32 / size as i64;
            let (last, rows) = (dims.pop().unwrap_or(1), dims.pop().unwrap_or(1));
            let counts = |all: i64, block: i64| all / block + i64::from(all % block != 0);
            dims.extend([
                counts(last, columns),
                counts(rows, BLOCK_ROWS),
                BLOCK_ROWS,
                columns,
            ]);
        }
        other => {
            let sentence =
                format!("dstFormat is {other}; casts to ND and FRACTAL_NZ are supported");
            return Err(PhaseError::runtime(Error::new(
                ErrorKind::NotImplemented,
                sentence,
            )));
        }
    }
    Ok((host_array(&dims), format))
}
