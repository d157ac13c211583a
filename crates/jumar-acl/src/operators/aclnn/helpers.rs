//! Functions beside the operators.

use jumar_types::dtype::DataType;

use super::status::Refused;
use super::tensor::known_type;
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
pub fn matmul_weight_elements(cx: &Cx<'_>, shape: Raw, data_type: i32) -> Result<u64, Refused> {
    let dtype = known_type(data_type)?;
    let shape = cx.process.operators.ints.get(shape.0)?;
    let name = cx.call.name;
    let [outer @ .., rows, columns] = &*shape.values else {
        let sentence = format!(
            "{name}: tensorShape has {} dimensions; a weight has two at least",
            shape.values.len()
        );
        return Err(Refused::invalid(sentence));
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
        Refused::invalid(sentence)
    })
}
