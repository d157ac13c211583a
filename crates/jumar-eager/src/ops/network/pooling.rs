//! Maxima of windows and averages of adaptive windows, and their gradients.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::super::reduction::accumulator;
use super::{Real, pair, run_dense};
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

/// The window of a pooling.
#[derive(Clone, Copy)]
struct Pool {
    kernel: [usize; 2],
    strides: [usize; 2],
    pads: [usize; 2],
    dilations: [usize; 2],
    ceil: bool,
}

impl Pool {
    /// Returns the shape of the result for images with or without a batch.
    fn result_dims(&self, cx: &Cx<'_>, input: &View) -> Result<Vec<usize>, Refusal> {
        let mut dims = input.dims().to_vec();
        let Some(first) = dims
            .len()
            .checked_sub(2)
            .filter(|first| (1..=2).contains(first))
        else {
            return Err(cx.invalid(format_args!(
                "{} has the shape {dims:?}; 3 or 4 dimensions are required",
                cx.param_of(input)
            )));
        };
        for axis in 0..2 {
            let (size, stride, pad) = (dims[first + axis], self.strides[axis], self.pads[axis]);
            let reach = self.dilations[axis]
                .checked_mul(self.kernel[axis] - 1)
                .and_then(|reach| reach.checked_add(1));
            let Some(free) = reach.and_then(|reach| (size + 2 * pad).checked_sub(reach)) else {
                return Err(cx.invalid(format_args!(
                    "kernelSize {:?} with dilation {:?} is larger than the padded images of self with the shape {:?}",
                    self.kernel,
                    self.dilations,
                    input.dims()
                )));
            };
            let mut count = free / stride + 1;
            if self.ceil {
                count = free.div_ceil(stride) + 1;
                // A window that starts in the padding behind the image has no elements.
                if (count - 1) * stride >= size + pad {
                    count -= 1;
                }
            }
            dims[first + axis] = count;
        }
        Ok(dims)
    }
}

fn pool(cx: &Cx<'_>) -> Result<Pool, Refusal> {
    let kernel = pair(cx, "kernelSize")?;
    let strides = match cx.ints("stride")? {
        [] => kernel,
        _ => pair(cx, "stride")?,
    };
    let (pads, dilations) = (pair(cx, "padding")?, pair(cx, "dilation")?);
    let positive = kernel
        .iter()
        .chain(&strides)
        .chain(&dilations)
        .all(|&size| size > 0);
    let fits = pads
        .iter()
        .zip(&kernel)
        .all(|(&pad, &size)| pad >= 0 && pad <= size / 2);
    if !positive || !fits {
        return Err(cx.invalid(format_args!(
            "kernelSize {kernel:?}, stride {strides:?} and dilation {dilations:?} must be positive, and padding {pads:?} \
             from 0 to half the kernel"
        )));
    }
    let sizes = |sizes: [i64; 2]| sizes.map(|size| size as usize);
    Ok(Pool {
        kernel: sizes(kernel),
        strides: sizes(strides),
        pads: sizes(pads),
        dilations: sizes(dilations),
        ceil: cx.flag("ceilMode")?,
    })
}

/// Views images with or without a batch as planes: all leading dimensions, height, width.
fn planes(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    match view.dims() {
        &[channels, height, width] => cx.reshaped(view, &[channels, height, width]),
        &[batch, channels, height, width] => cx.reshaped(view, &[batch * channels, height, width]),
        dims => Err(cx.invalid(format_args!(
            "{} has the shape {dims:?}; expected 3 or 4 dimensions",
            cx.param_of(&view)
        ))),
    }
}

/// Elements that are worth a thread. Tests have few.
const GRAIN: usize = if cfg!(test) { 8 } else { 1 << 13 };

/// Returns how many planes are worth a thread, by the elements that one plane reads.
fn grain(elements: usize) -> usize {
    GRAIN.div_ceil(elements.max(1))
}

/// The position of the greatest element of a window that sees nothing but padding.
const NOWHERE: usize = usize::MAX;

/// Finds the greatest elements of windows, or adds gradients at their positions.
struct MaxPool {
    compute: DataType,
    pool: Pool,
    /// Planes, height and width of the input.
    input: [usize; 3],
    /// Height and width of the output.
    output: [usize; 2],
    backward: bool,
}

impl Kernel for MaxPool {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.run_in::<f64>(call),
            _ => self.run_in::<f32>(call),
        }
    }
}

impl MaxPool {
    fn run_in<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let x = call.input::<T>(0)?.flat();
        let out = call.output::<T>(0)?.flat();
        let gradient = match self.backward {
            true => Some(call.input::<T>(1)?.flat()),
            false => None,
        };
        let ([planes, height, width], [rows, columns]) = (self.input, self.output);
        let Pool {
            kernel,
            strides,
            pads,
            dilations,
            ..
        } = self.pool;
        // For each tap across: the columns of the output that see the image through it, and what the first of them sees.
        let taps: Vec<(usize, usize, usize)> = (0..kernel[1])
            .filter_map(|tap| {
                let shift = tap * dilations[1];
                let from = pads[1].saturating_sub(shift).div_ceil(strides[1]);
                let reach = (width + pads[1]).saturating_sub(shift);
                let to = reach.div_ceil(strides[1]).min(columns);
                (from < to).then(|| (from, to, from * strides[1] + shift - pads[1]))
            })
            .collect();
        let one_plane = |plane: usize| {
            if self.backward {
                let size = height * width;
                out.slice(plane * size, size).fill(T::of(0.0));
            }
            // The greatest element of each window of a row, and its position in the plane; as many elements at one tap.
            let mut best = vec![T::of(f64::NEG_INFINITY); columns];
            let mut positions = vec![NOWHERE; columns];
            let mut line = vec![T::of(0.0); columns];
            for row in 0..rows {
                best.fill(T::of(f64::NEG_INFINITY));
                positions.fill(NOWHERE);
                for y in 0..kernel[0] {
                    let y = row * strides[0] + y * dilations[0];
                    let Some(y) = y.checked_sub(pads[0]).filter(|&y| y < height) else {
                        continue;
                    };
                    for (from, to, source) in &taps {
                        let (from, to, count) = (*from, *to, *to - *from);
                        let index = y * width + source;
                        x.slice(plane * height * width, height * width)
                            .stepped(index, count, strides[1])
                            .load(&mut line[..count], |value| value);
                        let found = best[from..to].iter_mut().zip(&mut positions[from..to]);
                        for (step, (&value, (best, position))) in
                            line[..count].iter().zip(found).enumerate()
                        {
                            let is_nan = value.partial_cmp(&value).is_none();
                            let greater = value > *best || is_nan || *position == NOWHERE;
                            *best = if greater { value } else { *best };
                            *position = if greater {
                                index + step * strides[1]
                            } else {
                                *position
                            };
                        }
                    }
                }
                let first = (plane * rows + row) * columns;
                let Some(gradient) = gradient else {
                    out.slice(first, columns).store(&best, |value| value);
                    continue;
                };
                for (column, &position) in positions.iter().enumerate() {
                    if position != NOWHERE {
                        let at = plane * height * width + position;
                        let sum = out.get(at).number() + gradient.get(first + column).number();
                        out.set(at, T::of(sum));
                    }
                }
            }
        };
        let grain = grain(rows * columns * kernel[0] * kernel[1]);
        call.workers().ranges(planes, grain, |first, count| {
            (first..first + count).for_each(one_plane);
        });
        Ok(())
    }
}

pub(super) fn max_pool(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, out) = (cx.tensor("self")?, cx.out("out")?);
    let pool = pool(cx)?;
    let dims = pool.result_dims(cx, &input)?;
    cx.check_dims(&out, &dims)?;
    // The format of the mask is the library's own. The gradient finds the positions in the input again.
    if let Some(mask) = cx.optional("indices")? {
        cx.fill(Scalar::of_i64(0), mask)?;
    }
    if out.is_empty() {
        return Ok(());
    }
    let x = planes(cx, input)?;
    let (&[count, height, width], &[.., rows, columns]) = (x.dims(), dims.as_slice()) else {
        return Err(cx.defect("images have three dimensions"));
    };
    let compute = accumulator(x.dtype());
    let kernel = MaxPool {
        compute,
        pool,
        input: [count, height, width],
        output: [rows, columns],
        backward: false,
    };
    let result = cx.temporary(compute, &[count, rows, columns])?;
    run_dense(cx, Box::new(kernel), compute, &[x], result)?;
    let result = cx.reshaped(result, &dims)?;
    cx.copy(result, out)
}

pub(super) fn max_pool_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let out = cx.out("gradInput")?;
    cx.check_dims(&out, input.dims())?;
    let pool = pool(cx)?;
    let dims = pool.result_dims(cx, &input)?;
    cx.check_dims(&gradient, &dims)?;
    if out.is_empty() {
        return Ok(());
    }
    let (x, gradient) = (planes(cx, input)?, planes(cx, gradient)?);
    let (&[count, height, width], &[_, rows, columns]) = (x.dims(), gradient.dims()) else {
        return Err(cx.defect("images have three dimensions"));
    };
    let compute = accumulator(x.dtype());
    let kernel = MaxPool {
        compute,
        pool,
        input: [count, height, width],
        output: [rows, columns],
        backward: true,
    };
    let result = cx.temporary(compute, x.dims())?;
    run_dense(cx, Box::new(kernel), compute, &[x, gradient], result)?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// Averages windows that share the input evenly, or spreads gradients over them.
struct AdaptiveAverage {
    compute: DataType,
    planes: usize,
    input: [usize; 2],
    output: [usize; 2],
    backward: bool,
}

impl Kernel for AdaptiveAverage {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.run_in::<f64>(call),
            _ => self.run_in::<f32>(call),
        }
    }
}

impl AdaptiveAverage {
    fn run_in<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let ([height, width], [rows, columns]) = (self.input, self.output);
        let range = |index: usize, of: usize, size: usize| {
            (index * size / of, ((index + 1) * size).div_ceil(of))
        };
        let one_plane = |plane: usize| {
            if self.backward {
                let size = height * width;
                to.slice(plane * size, size).fill(T::of(0.0));
            }
            for row in 0..rows {
                let (top, bottom) = range(row, rows, height);
                for column in 0..columns {
                    let (left, right) = range(column, columns, width);
                    let share = (((bottom - top) * (right - left)) as f64).recip();
                    let window = (plane * rows + row) * columns + column;
                    let mut sum = 0.0;
                    for y in top..bottom {
                        for x in left..right {
                            let index = (plane * height + y) * width + x;
                            match self.backward {
                                true => {
                                    let part = from.get(window).number() * share;
                                    to.set(index, T::of(to.get(index).number() + part));
                                }
                                false => sum += from.get(index).number(),
                            }
                        }
                    }
                    if !self.backward {
                        to.set(window, T::of(sum * share));
                    }
                }
            }
        };
        let grain = grain((height * width).max(rows * columns));
        call.workers().ranges(self.planes, grain, |first, count| {
            (first..first + count).for_each(one_plane);
        });
        Ok(())
    }
}

fn adaptive(
    cx: &mut Cx<'_>,
    small: View,
    large: View,
    backward: bool,
    from: View,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    if from.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let last = |view: &View| match view.dims() {
        [.., height, width] => Ok([*height, *width]),
        dims => Err(cx.invalid(format_args!("the shape {dims:?} has no height and width"))),
    };
    let (output, input) = (last(&small)?, last(&large)?);
    let compute = accumulator(large.dtype());
    let kernel = AdaptiveAverage {
        compute,
        planes: large.elements() / (input[0] * input[1]),
        input,
        output,
        backward,
    };
    run_dense(cx, Box::new(kernel), compute, &[from], out)
}

pub(super) fn adaptive_average(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let [rows, columns] = pair(cx, "outputSize")?;
    let mut dims = x.dims().to_vec();
    let rank = dims.len();
    if !(3..=4).contains(&rank) || dims[rank - 3..].contains(&0) || rows < 0 || columns < 0 {
        return Err(cx.invalid(format_args!(
            "self has the shape {dims:?} and outputSize is [{rows}, {columns}]; self must have 3 or 4 dimensions, of which only \
             the batch may be 0, and the sizes must not be negative"
        )));
    }
    (dims[rank - 2], dims[rank - 1]) = (rows as usize, columns as usize);
    cx.check_dims(&out, &dims)?;
    adaptive(cx, out, x, false, x, out)
}

pub(super) fn adaptive_average_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor("gradOutput")?, cx.tensor("self")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    let fits = (3..=4).contains(&x.rank())
        && gradient.rank() == x.rank()
        && gradient.dims()[..x.rank() - 2] == x.dims()[..x.rank() - 2];
    if !fits {
        return Err(cx.invalid(format_args!(
            "gradOutput has the shape {:?} and self {:?}; both must have 3 or 4 dimensions, equal but for the last two",
            gradient.dims(),
            x.dims()
        )));
    }
    adaptive(cx, gradient, x, true, gradient, out)
}
