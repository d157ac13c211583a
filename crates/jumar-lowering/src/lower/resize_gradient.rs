//! Gradients of resized images. Resizing is linear along each axis: the gradient is a product with the transposed weights of the rows and
//! of the columns.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NHWC;
use super::filter::{backward, forward};
use super::formula::Formula;
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ResizeBilinearV2Grad", |cx, op| {
        let image = op.input("original_image")?;
        let (dims, dtype) = (cx.dims(image)?, cx.ty(image).dtype);
        let last = is_last(op);
        let size = match (&dims[..], last) {
            (&[_, rows, columns, _], true) | (&[_, _, rows, columns], false) => [rows, columns],
            _ => {
                return Err(invalid(format!(
                    "its input original_image has {} dimensions; it must have 4",
                    dims.len()
                )));
            }
        };
        gradient(cx, op, Way::Linear, size, dtype)
    }),
    ("ResizeNearestNeighborV2Grad", |cx, op| {
        let size = numbers(cx, op.input("size")?, "size")?;
        let &[rows, columns] = &size[..] else {
            return Err(invalid(format!(
                "its size is {size:?}; it must be [height, width]"
            )));
        };
        let dtype = cx.ty(op.input("grads")?).dtype;
        gradient(cx, op, Way::Nearest, [rows, columns], dtype)
    }),
];

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Linear,
    Nearest,
}

fn is_last(op: &Op<'_>) -> bool {
    op.desc("grads")
        .is_some_and(|desc| desc.format == FORMAT_NHWC)
}

/// Returns the share of each element of an axis in each element of the resized one: `to` rows of `from` numbers.
fn shares(way: Way, from: i64, to: i64, corners: bool, centers: bool) -> Vec<f32> {
    let mut shares = vec![0.0; (from * to) as usize];
    for index in 0..to {
        let moved = if centers { 0.5 } else { 0.0 };
        // As the resizing itself computes positions, so that both read the same elements.
        let at = match corners {
            true if to > 1 => index as f64 * (from - 1) as f64 / (to - 1) as f64,
            true => 0.0,
            false => (index as f64 + moved) / (to as f64 / from as f64),
        };
        let row = (index * from) as usize;
        let mut add = |element: i64, share: f64| {
            shares[row + element.clamp(0, from - 1) as usize] += share as f32;
        };
        match way {
            Way::Nearest if corners => add((at + 0.5).floor() as i64, 1.0),
            Way::Nearest => add(at.floor() as i64, 1.0),
            Way::Linear => {
                let at = (at - moved).max(0.0);
                let fraction = at - at.floor();
                add(at as i64, 1.0 - fraction);
                add(at as i64 + 1, fraction);
            }
        }
    }
    shares
}

/// Returns the gradient of an image of this size, from that of the resized image.
fn gradient(
    cx: &mut Cx,
    op: &Op<'_>,
    way: Way,
    [rows, columns]: [i64; 2],
    dtype: DataType,
) -> Result<Vec<ValueId>, OpError> {
    let (corners, centers) = (op.yes("align_corners")?, op.yes("half_pixel_centers")?);
    if corners && centers {
        return Err(invalid(
            "align_corners and half_pixel_centers exclude each other",
        ));
    }
    let grads = op.input("grads")?;
    let given = cx.dims(grads)?;
    if given.len() != 4 {
        return Err(invalid(format!(
            "its input grads has {} dimensions; it must have 4",
            given.len()
        )));
    }
    if rows < 1 || columns < 1 {
        return Err(invalid(format!(
            "the size of its image is {rows} x {columns}; both must be at least 1"
        )));
    }
    let last = is_last(op);
    let grads = forward(cx, grads, last, 2)?;
    let resized = cx.dims(grads)?;
    let of_rows = shares(way, rows, resized[2], corners, centers);
    let of_columns = shares(way, columns, resized[3], corners, centers);
    let f = Formula::new(cx);
    let of_rows = f.reshape(f.floats(&of_rows), &[resized[2], rows])?;
    let of_rows = f.transpose(of_rows, &[1, 0])?;
    let of_columns = f.reshape(f.floats(&of_columns), &[resized[3], columns])?;
    let grads = f.cast(grads, DataType::Float32)?;
    let y = f.node("BatchMatMulV2", &[grads, of_columns], Attrs::new())?;
    let y = f.node("BatchMatMulV2", &[of_rows, y], Attrs::new())?;
    let y = f.cast(y, dtype)?;
    Ok(vec![backward(cx, y, last, 2)?])
}
