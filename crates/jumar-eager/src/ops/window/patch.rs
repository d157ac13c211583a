//! Patches of images as columns and back, and the gradient of a tensor's windows.

use super::sizes_from;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::reduction::accumulator;
use crate::view::View;
use crate::{Scalar, promote};

/// The patches of images, and how they lie as columns.
struct Patches {
    kernel: Vec<usize>,
    dilation: Vec<usize>,
    padding: Vec<usize>,
    stride: Vec<usize>,
    /// The patches along both dimensions.
    counts: [usize; 2],
}

fn patches(cx: &Cx<'_>, sizes: [usize; 2]) -> Result<Patches, Refusal> {
    let mut patches = Patches {
        kernel: sizes_from(cx, "kernelSize", 2, 1)?,
        dilation: sizes_from(cx, "dilation", 2, 1)?,
        padding: sizes_from(cx, "padding", 2, 0)?,
        stride: sizes_from(cx, "stride", 2, 1)?,
        counts: [0; 2],
    };
    for axis in 0..2 {
        let reach = patches.dilation[axis].saturating_mul(patches.kernel[axis] - 1) + 1;
        let Some(free) = (sizes[axis] + 2 * patches.padding[axis]).checked_sub(reach) else {
            return Err(cx.invalid(format_args!(
                "kernelSize {:?} with dilation {:?} is larger than the padded images of {sizes:?}",
                patches.kernel, patches.dilation
            )));
        };
        patches.counts[axis] = free / patches.stride[axis] + 1;
    }
    Ok(patches)
}

/// The part of an image along one dimension that an entry of each patch reads: the first patch, their number, and the entry of
/// the image that the first one reads.
fn covered(patches: &Patches, axis: usize, entry: usize, size: usize) -> (usize, usize, usize) {
    let (stride, pad) = (patches.stride[axis], patches.padding[axis]);
    let shift = entry * patches.dilation[axis];
    let first = pad.saturating_sub(shift).div_ceil(stride);
    let behind = match (size + pad).checked_sub(shift + 1) {
        Some(last) => (last / stride + 1).min(patches.counts[axis]),
        None => 0,
    };
    (
        first,
        behind.saturating_sub(first),
        (first * stride + shift).saturating_sub(pad),
    )
}

/// Calls `body` with the parts of images `[batch, channels, height, width]` and of columns
/// `[batch, channels, rows, columns, patches, patches]` that hold the same elements.
fn each_entry(
    patches: &Patches,
    images: View,
    columns: View,
    mut body: impl FnMut(View, View) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let (height, width) = (images.dims()[2], images.dims()[3]);
    for row in 0..patches.kernel[0] {
        let (top, rows, y) = covered(patches, 0, row, height);
        for column in 0..patches.kernel[1] {
            let (left, count, x) = covered(patches, 1, column, width);
            if rows == 0 || count == 0 {
                continue;
            }
            let entry = columns.select(2, row).select(2, column);
            let entry = entry.slice(2, top, rows, 1).slice(3, left, count, 1);
            let image = images.slice(2, y, rows, patches.stride[0]);
            body(image.slice(3, x, count, patches.stride[1]), entry)?;
        }
    }
    Ok(())
}

/// Views images with or without a batch as four dimensions.
fn batched(cx: &Cx<'_>, images: View) -> Result<View, Refusal> {
    match images.dims() {
        &[_, height, width] if height > 0 && width > 0 => Ok(images.unsqueeze(0)),
        &[_, _, height, width] if height > 0 && width > 0 => Ok(images),
        dims => Err(cx.invalid(format_args!(
            "{} has the shape {dims:?}; 3 or 4 dimensions are required, the last two of which are not 0",
            cx.param_of(&images)
        ))),
    }
}

/// Entries of a patch. Each is a step of the plan.
const MAX_ENTRIES: usize = 1 << 12;

/// Returns the shape of the columns, in six dimensions and in the three of the interface.
fn column_dims(
    cx: &Cx<'_>,
    images: &View,
    patches: &Patches,
) -> Result<([usize; 6], [usize; 3]), Refusal> {
    let [batch, channels] = [images.dims()[0], images.dims()[1]];
    let ([rows, columns], [down, across]) =
        ([patches.kernel[0], patches.kernel[1]], patches.counts);
    let entries = rows.saturating_mul(columns);
    if entries > MAX_ENTRIES {
        return Err(cx.unsupported(format_args!(
            "patches of {entries} entries are not supported; at most {MAX_ENTRIES} are"
        )));
    }
    let joined = [batch, channels * entries, down.saturating_mul(across)];
    Ok(([batch, channels, rows, columns, down, across], joined))
}

pub(super) fn image_to_columns(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let images = batched(cx, x)?;
    let patches = patches(cx, [images.dims()[2], images.dims()[3]])?;
    let (dims, joined) = column_dims(cx, &images, &patches)?;
    cx.check_dims(&out, &joined[4 - x.rank()..])?;
    cx.check_converts(x.dtype(), &out)?;
    if out.is_empty() {
        return Ok(());
    }
    let columns = cx.temporary(x.dtype(), &dims)?;
    if patches.padding.iter().any(|&pad| pad > 0) {
        cx.fill(Scalar::of_i64(0), columns)?;
    }
    each_entry(&patches, images, columns, |image, entry| {
        cx.copy(image, entry)
    })?;
    let columns = cx.reshaped(columns, out.dims().to_vec().as_slice())?;
    cx.copy(columns, out)
}

/// Adds a view to another of the same type.
fn add(cx: &mut Cx<'_>, what: View, to: View) -> Result<(), Refusal> {
    let operands = [Operand::Tensor(to), Operand::Tensor(what)];
    cx.map(F::Add, to.dtype(), &operands, to)
}

/// Returns the type in which gradients of a type are summed.
fn summed(dtype: jumar_types::dtype::DataType) -> jumar_types::dtype::DataType {
    match promote::is_complex(dtype) || dtype.is_integer() {
        true => dtype,
        false => accumulator(dtype),
    }
}

pub(super) fn columns_to_image(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor("gradOutput")?, cx.out("out")?);
    let size = sizes_from(cx, "inputSize", 2, 1)?;
    let images = batched(cx, out)?;
    cx.check_dims(&out, &super::resized(&out, &size))?;
    let patches = patches(cx, [size[0], size[1]])?;
    let (dims, joined) = column_dims(cx, &images, &patches)?;
    cx.check_dims(&gradient, &joined[4 - out.rank()..])?;
    if out.is_empty() {
        return Ok(());
    }
    let compute = summed(out.dtype());
    let columns = cx.cast(gradient, compute)?;
    let columns = cx.reshaped(columns, &dims)?;
    let sums = cx.temporary(compute, images.dims())?;
    cx.fill(Scalar::of_i64(0), sums)?;
    each_entry(&patches, sums, columns, |image, entry| {
        add(cx, entry, image)
    })?;
    cx.copy(sums, images)
}

/// Adds the gradient of each window to the entries that it covers.
pub(super) fn unfold_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor("gradOut")?, cx.out("gradIn")?);
    let dims = cx.ints("inputSizes")?;
    if dims.len() != out.rank() || dims.iter().zip(out.dims()).any(|(&a, &b)| a != b as i64) {
        return Err(cx.invalid(format_args!(
            "inputSizes is {dims:?}; it must be the shape {:?} of gradIn",
            out.dims()
        )));
    }
    let axis = cx.axis("dim", cx.int("dim")?, out.rank())?;
    let len = out.dims().get(axis).copied().unwrap_or(1);
    let (size, step) = (cx.int("size")?, cx.int("step")?);
    let sizes = (usize::try_from(size), usize::try_from(step));
    let (Ok(size), Ok(step @ 1..)) = sizes else {
        return Err(cx.invalid(format_args!(
            "size is {size} and step is {step}; size must not be negative, and step must be positive"
        )));
    };
    let Some(free) = len.checked_sub(size) else {
        return Err(cx.invalid(format_args!(
            "size is {size}; it must be at most the {len} entries of the dimension {axis}"
        )));
    };
    let count = free / step + 1;
    let mut windows = out.dims().to_vec();
    if let Some(dim) = windows.get_mut(axis) {
        *dim = count;
    }
    windows.push(size);
    cx.check_dims(&gradient, &windows)?;
    if out.is_empty() {
        return Ok(());
    }
    let target = if out.rank() == 0 {
        out.unsqueeze(0)
    } else {
        out
    };
    let gradient = if out.rank() == 0 {
        gradient.unsqueeze(0)
    } else {
        gradient
    };
    let compute = summed(out.dtype());
    let sums = cx.temporary(compute, target.dims())?;
    cx.fill(Scalar::of_i64(0), sums)?;
    let gradient = cx.cast(gradient, compute)?;
    let last = gradient.rank() - 1;
    // One step for each entry of the windows, or one for each window: whichever are fewer.
    if size.min(count) > MAX_ENTRIES {
        return Err(cx.unsupported(format_args!(
            "{count} windows of {size} entries are not supported"
        )));
    }
    if size <= count {
        for entry in 0..size {
            let part = gradient.select(last, entry);
            add(cx, part, sums.slice(axis, entry, count, step))?;
        }
    } else {
        for window in 0..count {
            let part = gradient.select(axis, window);
            let order: Vec<usize> = (0..axis).chain([last - 1]).chain(axis..last - 1).collect();
            add(
                cx,
                part.permute(&order),
                sums.slice(axis, window * step, size, 1),
            )?;
        }
    }
    cx.copy(sums, target)
}
