//! Greatest elements of windows with their positions, the gradients, and the inverse that puts elements back at positions.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::{Pool, check_images, resized, sizes_from};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::{bad_data, run_kernel};
use crate::ops::index::{INDEX, Keys, Update, everything, keys, put, take};
use crate::view::View;

/// Comparisons that are worth a thread.
const GRAIN: usize = 1 << 12;

/// The windows along one dimension: entries `start..end` in steps.
#[derive(Clone, Copy, Debug)]
enum Windows {
    /// Shares that cover the input evenly.
    Adaptive,
    Pool {
        size: usize,
        stride: usize,
        pad: usize,
        dilation: usize,
    },
}

impl Windows {
    /// Returns the first entry of a window, the end, and the distance of its entries.
    fn range(self, index: usize, from: usize, to: usize) -> (usize, usize, usize) {
        match self {
            Windows::Adaptive => (index * from / to, ((index + 1) * from).div_ceil(to), 1),
            Windows::Pool {
                size,
                stride,
                pad,
                dilation,
            } => {
                let start = (index * stride) as i64 - pad as i64;
                let end = start + ((size - 1) * dilation) as i64 + 1;
                let first = match start < 0 {
                    true => start + (-start).div_euclid(dilation as i64) * dilation as i64,
                    false => start,
                };
                let first = if first < 0 {
                    first + dilation as i64
                } else {
                    first
                };
                (first as usize, end.clamp(0, from as i64) as usize, dilation)
            }
        }
    }
}

/// Finds the greatest element of each window: its index in the plane, and its position in the tensor.
struct Greatest {
    keys: Keys,
    windows: [Windows; 3],
    from: [usize; 3],
    to: [usize; 3],
}

impl Greatest {
    /// Returns the index of the greatest element of a window. Of equal ones it is the first, and of several NaN the last.
    fn find(&self, keys: &[u64], output: [usize; 3]) -> usize {
        let range =
            |axis: usize| self.windows[axis].range(output[axis], self.from[axis], self.to[axis]);
        let [depths, rows, columns] = [range(0), range(1), range(2)];
        let [_, height, width] = self.from;
        let mut best = None;
        for z in (depths.0..depths.1).step_by(depths.2) {
            for y in (rows.0..rows.1).step_by(rows.2) {
                for x in (columns.0..columns.1).step_by(columns.2) {
                    let index = (z * height + y) * width + x;
                    let key = keys[index];
                    let better = best.is_none_or(|(greatest, _)| key > greatest);
                    if better || self.keys.is_nan(key) {
                        best = Some((key, index));
                    }
                }
            }
        }
        best.map_or(0, |(_, index)| index)
    }
}

impl Kernel for Greatest {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (indices, positions) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let (from, to): (usize, usize) = (self.from.iter().product(), self.to.iter().product());
        let cells = self.keys.cells(call)?;
        let planes = indices.len() / to;
        call.workers()
            .ranges(planes, GRAIN.div_ceil(from), |first, count| {
                let mut keys = vec![0; from];
                for plane in first..first + count {
                    cells.load(plane * from, &mut keys);
                    for window in 0..to {
                        let [_, rows, columns] = self.to;
                        let output = [
                            window / columns / rows,
                            window / columns % rows,
                            window % columns,
                        ];
                        let index = self.find(&keys, output);
                        indices.set(plane * to + window, index as i64);
                        positions.set(plane * to + window, (plane * from + index) as i64);
                    }
                }
            });
        Ok(())
    }
}

/// Returns the last sizes of a shape as three.
fn volume(dims: &[usize], space: usize) -> [usize; 3] {
    let mut sizes = [1; 3];
    sizes[3 - space..].copy_from_slice(&dims[dims.len() - space..]);
    sizes
}

/// Writes the greatest elements of windows, and their indices in the plane.
fn greatest(
    cx: &mut Cx<'_>,
    x: View,
    windows: &[Windows],
    (out, indices): (View, View),
) -> Result<(), Refusal> {
    cx.check_types(&indices, &INDEX)?;
    cx.check_dims(&indices, out.dims())?;
    let keys = keys(cx, &x)?;
    if out.is_empty() {
        return Ok(());
    }
    let mut all = [Windows::Adaptive; 3];
    all[3 - windows.len()..].copy_from_slice(windows);
    let kernel = Greatest {
        keys,
        windows: all,
        from: volume(x.dims(), windows.len()),
        to: volume(out.dims(), windows.len()),
    };
    let x = cx.dense(x)?;
    let positions = cx.temporary(DataType::Int64, out.dims())?;
    let int64 = DataType::Int64;
    run_kernel(
        cx,
        Box::new(kernel),
        &[(x, x.dtype())],
        &[(indices, int64), (positions, int64)],
    )?;
    take(cx, x, positions, everything(&x), out)
}

pub(super) fn adaptive(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("outputOut")?);
    let indices = cx.out("indicesOut")?;
    check_images(cx, &x, space)?;
    let counts = sizes_from(cx, "outputSize", space, 0)?;
    cx.check_dims(&out, &resized(&x, &counts))?;
    greatest(cx, x, &vec![Windows::Adaptive; space], (out, indices))
}

fn windows(cx: &Cx<'_>, space: usize) -> Result<Pool, Refusal> {
    Pool::new(cx, ["stride", "padding"], Some("dilation"), space)
}

pub(super) fn pool(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (x, out, indices) = (cx.tensor("self")?, cx.out("out")?, cx.out("indices")?);
    check_images(cx, &x, space)?;
    let pool = windows(cx, space)?;
    let counts = pool.counts(cx, &x, cx.flag("ceilMode")?)?;
    cx.check_dims(&out, &resized(&x, &counts))?;
    let windows: Vec<Windows> = (0..space)
        .map(|axis| Windows::Pool {
            size: pool.kernel[axis],
            stride: pool.strides[axis],
            pad: pool.pads[axis],
            dilation: pool.dilations[axis],
        })
        .collect();
    greatest(cx, x, &windows, (out, indices))
}

/// Turns indices in planes into positions in a tensor.
struct InPlanes {
    operator: &'static str,
    /// The indices and the elements of each plane.
    indices: usize,
    elements: usize,
}

impl Kernel for InPlanes {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (indices, positions) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        for entry in 0..indices.len() {
            let index = indices.get(entry);
            let inside = usize::try_from(index).is_ok_and(|index| index < self.elements);
            if !inside {
                return Err(bad_data(format!(
                    "{}: the index {index} lies outside a plane of {} elements",
                    self.operator, self.elements
                )));
            }
            positions.set(entry, (entry / self.indices * self.elements) as i64 + index);
        }
        Ok(())
    }
}

/// Returns positions in `large`, the planes of which have other sizes than those of the indices.
fn positions(cx: &mut Cx<'_>, indices: View, large: &View, space: usize) -> Result<View, Refusal> {
    cx.check_types(&indices, &INDEX)?;
    let count = |view: &View| volume(view.dims(), space).iter().product();
    let kernel = InPlanes {
        operator: cx.name(),
        indices: count(&indices),
        elements: count(large),
    };
    let out = cx.temporary(DataType::Int64, indices.dims())?;
    let int64 = DataType::Int64;
    run_kernel(cx, Box::new(kernel), &[(indices, int64)], &[(out, int64)])?;
    Ok(out)
}

/// Refuses tensors that differ in more than the sizes of space.
fn check_planes(cx: &Cx<'_>, small: &View, large: &View, space: usize) -> Result<(), Refusal> {
    let kept = small.rank().saturating_sub(space);
    if small.rank() == large.rank() && small.dims()[..kept] == large.dims()[..kept] {
        return Ok(());
    }
    Err(cx.invalid(format_args!(
        "{} has the shape {:?} and {} {:?}; they must be equal but for the last {space} dimensions",
        cx.param_of(small),
        small.dims(),
        cx.param_of(large),
        large.dims()
    )))
}

/// Writes values at positions, and zero elsewhere.
fn update_at(
    cx: &mut Cx<'_>,
    (values, positions): (View, View),
    update: Update,
    out: View,
) -> Result<(), Refusal> {
    let zero = cx.temporary(out.dtype(), &[])?;
    cx.fill(crate::Scalar::of_i64(0), zero)?;
    let all = everything(&out);
    match values.is_empty() {
        true => cx.copy(zero, out),
        false => put(cx, zero, (values, positions), (all, update), out),
    }
}

pub(super) fn backward(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (indices, out) = (cx.tensor("indices")?, cx.out("gradInput")?);
    check_images(cx, &x, space)?;
    cx.check_dims(&out, x.dims())?;
    check_planes(cx, &gradient, &x, space)?;
    cx.check_dims(&indices, gradient.dims())?;
    let positions = positions(cx, indices, &out, space)?;
    update_at(cx, (gradient, positions), Update::Add, out)
}

/// Reads the two tensors whose planes have the sizes `outputSize` and those of the indices.
fn unpooled(cx: &Cx<'_>, small: &View, large: &View, space: usize) -> Result<(), Refusal> {
    check_images(cx, small, space)?;
    let sizes = sizes_from(cx, "outputSize", space, 1)?;
    cx.check_dims(large, &resized(small, &sizes))
}

pub(super) fn unpool(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (x, indices, out) = (cx.tensor("self")?, cx.tensor("indices")?, cx.output()?);
    unpooled(cx, &x, &out, space)?;
    cx.check_dims(&indices, x.dims())?;
    cx.check_dtype(&out, x.dtype())?;
    let positions = positions(cx, indices, &out, space)?;
    update_at(cx, (x, positions), Update::Set, out)
}

pub(super) fn unpool_backward(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (indices, out) = (cx.tensor("indices")?, cx.out("out")?);
    unpooled(cx, &x, &gradient, space)?;
    cx.check_dims(&indices, x.dims())?;
    cx.check_dims(&out, x.dims())?;
    let positions = positions(cx, indices, &gradient, space)?;
    take(cx, gradient, positions, everything(&gradient), out)
}
