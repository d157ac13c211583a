//! Maxima of windows and averages of adaptive windows, and their gradients.

use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::super::operands::MergedOutput;
use super::super::reduction::accumulator;
use super::{Real, pair, run_dense};
use crate::build::Cx;
use crate::element::any::{AnyView, AnyViewMut};
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
    /// The type of the input.
    dtype: DataType,
    /// The type of the result of the forward direction.
    out: DataType,
    pool: Pool,
    /// Planes, height and width of the input.
    input: [usize; 3],
    /// Height and width of the output.
    output: [usize; 2],
    backward: bool,
}

impl Kernel for MaxPool {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match (accumulator(self.dtype), self.backward) {
            (DataType::Float64, true) => self.add_gradients::<f64>(call),
            (DataType::Float64, false) => {
                let (x, out) = (call.input::<f64>(0)?, call.output::<f64>(0)?);
                self.find(
                    call,
                    [x.strides(), out.strides()],
                    |start, step, line| x.row(start, line.len(), step).load(line, |value| value),
                    |start, step, best| out.row(start, best.len(), step).store(best, |value| value),
                );
                Ok(())
            }
            (_, true) => self.add_gradients::<f32>(call),
            (_, false) => {
                let x = AnyView::new(call, 0, self.dtype)?;
                let out = AnyViewMut::new(call, 0, self.out)?;
                self.find(
                    call,
                    [x.layout().strides(), out.layout().strides()],
                    |start, step, line| x.load(start, step, RowMut::of(line)),
                    |start, step, best: &[f32]| out.store(start, step, Row::of(best)),
                );
                Ok(())
            }
        }
    }
}

/// What the taps across see: the columns of the output that see the image through a tap, and what the first of them sees.
type Taps = Vec<(usize, usize, usize)>;

impl MaxPool {
    fn taps(&self) -> Taps {
        let Pool {
            kernel,
            strides,
            pads,
            dilations,
            ..
        } = self.pool;
        let ([_, _, width], [_, columns]) = (self.input, self.output);
        (0..kernel[1])
            .filter_map(|tap| {
                let shift = tap * dilations[1];
                let from = pads[1].saturating_sub(shift).div_ceil(strides[1]);
                let reach = (width + pads[1]).saturating_sub(shift);
                let to = reach.div_ceil(strides[1]).min(columns);
                (from < to).then(|| (from, to, from * strides[1] + shift - pads[1]))
            })
            .collect()
    }

    /// Finds the greatest element of each window of a plane and its position, a row of windows at a time. `load` reads elements of
    /// the plane: their row, their first column, and as many as the slice has, the stride of the windows apart.
    fn rows<T: Real>(
        &self,
        taps: &Taps,
        load: impl Fn(usize, usize, &mut [T]),
        mut found: impl FnMut(usize, &[T], &[usize]),
    ) {
        let ([_, height, width], [rows, columns]) = (self.input, self.output);
        let (kernel, strides, pads) = (self.pool.kernel, self.pool.strides, self.pool.pads);
        let mut best = vec![T::of(f64::NEG_INFINITY); columns];
        let mut positions = vec![NOWHERE; columns];
        let mut line = vec![T::of(0.0); columns];
        for row in 0..rows {
            best.fill(T::of(f64::NEG_INFINITY));
            positions.fill(NOWHERE);
            for y in 0..kernel[0] {
                let y = row * strides[0] + y * self.pool.dilations[0];
                let Some(y) = y.checked_sub(pads[0]).filter(|&y| y < height) else {
                    continue;
                };
                for &(from, to, source) in taps {
                    let line = &mut line[..to - from];
                    load(y, source, line);
                    let own = best[from..to].iter_mut().zip(&mut positions[from..to]);
                    for (step, (&value, (best, position))) in line.iter().zip(own).enumerate() {
                        let is_nan = value.partial_cmp(&value).is_none();
                        let greater = value > *best || is_nan || *position == NOWHERE;
                        *best = if greater { value } else { *best };
                        *position = if greater {
                            y * width + source + step * strides[1]
                        } else {
                            *position
                        };
                    }
                }
            }
            found(row, &best, &positions);
        }
    }

    fn share(&self, call: &Call<'_>, one_plane: impl Fn(usize) + Sync) {
        let [rows, columns] = self.output;
        let kernel = self.pool.kernel;
        let grain = grain(rows * columns * kernel[0] * kernel[1]);
        call.workers().ranges(self.input[0], grain, |first, count| {
            (first..first + count).for_each(&one_plane);
        });
    }

    /// Writes the greatest elements. It reads and writes rows where they lie, by their start and their step.
    fn find<T: Real>(
        &self,
        call: &Call<'_>,
        [from, to]: [&[isize]; 2],
        load: impl Fn(usize, isize, &mut [T]) + Sync,
        store: impl Fn(usize, isize, &[T]) + Sync,
    ) {
        let taps = self.taps();
        let at = |strides: &[isize], plane: usize, row: usize, column: usize| {
            let index = [plane, row, column];
            let parts = index.iter().zip(strides);
            parts
                .map(|(&index, &stride)| index * stride as usize)
                .sum::<usize>()
        };
        let step = self.pool.strides[1] as isize * from[2];
        self.share(call, |plane| {
            self.rows(
                &taps,
                |y, x, line: &mut [T]| load(at(from, plane, y, x), step, line),
                |row, best, _| store(at(to, plane, row, 0), to[2], best),
            );
        });
    }

    /// Adds each gradient at the position of the greatest element of its window.
    fn add_gradients<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, gradient) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        let ([_, height, width], [rows, columns]) = (self.input, self.output);
        let (size, stride) = (height * width, self.pool.strides[1]);
        let taps = self.taps();
        self.share(call, |plane| {
            let (x, out) = (x.slice(plane * size, size), out.slice(plane * size, size));
            out.fill(T::of(0.0));
            self.rows(
                &taps,
                |row, column, line: &mut [T]| {
                    x.stepped(row * width + column, line.len(), stride)
                        .load(line, |value| value);
                },
                |row, _, positions| {
                    let first = (plane * rows + row) * columns;
                    for (column, &position) in positions.iter().enumerate() {
                        if position != NOWHERE {
                            let own = gradient.get(first + column).number();
                            out.set(position, T::of(out.get(position).number() + own));
                        }
                    }
                },
            );
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
    let mask = cx.optional("indices")?;
    if !out.is_empty() {
        find_greatest(cx, pool, input, out)?;
    }
    match mask {
        Some(mask) => cx.fill(Scalar::of_i64(0), mask),
        None => Ok(()),
    }
}

/// Plans the forward direction, without a workspace where strides can join batch and channels.
fn find_greatest(cx: &mut Cx<'_>, pool: Pool, input: View, out: View) -> Result<(), Refusal> {
    let x = planes(cx, input)?;
    let (&[count, height, width], &[.., rows, columns]) = (x.dims(), out.dims()) else {
        return Err(cx.defect("images have three dimensions"));
    };
    let result = MergedOutput::new(cx, out, &[count, rows, columns])?;
    let kernel = MaxPool {
        dtype: x.dtype(),
        out: out.dtype(),
        pool,
        input: [count, height, width],
        output: [rows, columns],
        backward: false,
    };
    cx.kernel(Box::new(kernel), &[Some(x)], &[result.rows], false)?;
    result.finish(cx)
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
        dtype: x.dtype(),
        out: compute,
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
