//! Converts the dimensions of a tensor from one format to another.
//!
//! Plain formats (NCHW, NHWC, ...) differ in the order of their axes. Blocked formats split the channels into blocks of `C0`
//! elements, which fill 32 bytes. Fractal formats also split the rows into blocks of 16. The last block is padded. A blocked format
//! cannot be converted back to a plain one, because its dimensions do not show how much of the last block is used.

use jumar_types::{Error, ErrorKind, Result};

use crate::generated::enums;

/// The number of rows of a fractal block.
const ROWS: i64 = 16;
/// The size of a row of a fractal block, in bytes.
const ROW_BYTES: usize = 32;

/// Returns the axes of a plain format in order; `None` for a format that is not plain.
fn axes(format: i32) -> Option<&'static [u8]> {
    Some(match format {
        enums::ACL_FORMAT_NCHW => b"NCHW",
        enums::ACL_FORMAT_NHWC => b"NHWC",
        enums::ACL_FORMAT_HWCN => b"HWCN",
        enums::ACL_FORMAT_NCDHW => b"NCDHW",
        enums::ACL_FORMAT_NDHWC => b"NDHWC",
        _ => return None,
    })
}

/// Returns the number of blocks that hold `length` elements; a dynamic (negative) length is returned unchanged.
fn blocks(length: i64, block: i64) -> i64 {
    match length {
        0.. => (length as u64).div_ceil(block as u64) as i64,
        dynamic => dynamic,
    }
}

/// Returns the product, -1 if a length is dynamic (negative), or `None` on overflow.
fn times(lengths: &[i64]) -> Option<i64> {
    if lengths.iter().any(|length| *length < 0) {
        return Some(-1);
    }
    let product = lengths.iter();
    product.copied().try_fold(1_i64, i64::checked_mul)
}

fn name(format: i32) -> String {
    let known = enums::name_of("aclFormat", i64::from(format));
    known.map_or_else(|| format.to_string(), str::to_owned)
}

/// Returns the dimensions in format `to` of a tensor that has the dimensions `given` in format `from` and elements of `element` bytes.
///
/// # Errors
/// `ModelFailure`: there is no conversion between the formats, or the number of dimensions does not fit `from`.
pub(super) fn dims(given: &[i64], from: i32, to: i32, element: usize) -> Result<Vec<i64>> {
    if from == to {
        return Ok(given.to_vec());
    }
    converted(given, from, to, element).ok_or_else(|| {
        Error::new(
            ErrorKind::ModelFailure,
            format!(
                "a tensor of {} dimensions in {} cannot be converted to {}",
                given.len(),
                name(from),
                name(to)
            ),
        )
        .fix("Describe the tensor in a plain format with all of its dimensions (NCHW, NHWC, HWCN, NCDHW, NDHWC, or ND for ACL_FORMAT_FRACTAL_NZ).")
    })
}

fn converted(given: &[i64], from: i32, to: i32, element: usize) -> Option<Vec<i64>> {
    let row = ROW_BYTES.checked_div(element).filter(|row| *row > 0)? as i64;
    let nz = match to {
        enums::ACL_FORMAT_FRACTAL_NZ => Some(row),
        enums::ACL_FORMAT_FRACTAL_NZ_C0_2 => Some(2),
        enums::ACL_FORMAT_FRACTAL_NZ_C0_4 => Some(4),
        enums::ACL_FORMAT_FRACTAL_NZ_C0_8 => Some(8),
        enums::ACL_FORMAT_FRACTAL_NZ_C0_16 => Some(16),
        enums::ACL_FORMAT_FRACTAL_NZ_C0_32 => Some(32),
        _ => None,
    };
    if let Some(c0) = nz {
        // The last two dimensions are the matrix, whatever their axes are in the plain format.
        axes(from)
            .map(|_| ())
            .or((from == enums::ACL_FORMAT_ND).then_some(()))?;
        let [outer @ .., rows, columns] = given else {
            return None;
        };
        let blocked = [blocks(*columns, c0), blocks(*rows, ROWS), ROWS, c0];
        return Some(outer.iter().copied().chain(blocked).collect());
    }
    let names = axes(from).filter(|axes| axes.len() == given.len())?;
    let axis = |wanted: u8| {
        let at = names.iter().position(|axis| *axis == wanted)?;
        given.get(at).copied()
    };
    if let Some(wanted) = axes(to) {
        return (wanted.len() == names.len())
            .then(|| wanted.iter().map(|wanted| axis(*wanted)).collect())?;
    }
    let (n, c, h, w) = (axis(b'N')?, axis(b'C')?, axis(b'H')?, axis(b'W')?);
    let depth = axis(b'D');
    Some(match (to, depth) {
        (enums::ACL_FORMAT_NC1HWC0, None) => vec![n, blocks(c, row), h, w, row],
        (enums::ACL_FORMAT_NC1HWC0_C04, None) => vec![n, blocks(c, 4), h, w, 4],
        (enums::ACL_FORMAT_FRACTAL_Z, None) => {
            vec![times(&[blocks(c, row), h, w])?, blocks(n, ROWS), ROWS, row]
        }
        (enums::ACL_FORMAT_NDC1HWC0, Some(d)) => vec![n, d, blocks(c, row), h, w, row],
        (enums::ACL_FRACTAL_Z_3D, Some(d)) => {
            vec![
                times(&[d, blocks(c, row), h, w])?,
                blocks(n, ROWS),
                ROWS,
                row,
            ]
        }
        _ => return None,
    })
}
