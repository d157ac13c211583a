//! Two-dimensional pooling.
//!
//! A window is a rectangle, so its rows are joined first, whole image rows at a time, and then its columns.

use super::number::{Number, for_dtype};
use super::window::{FixedWindow, Format, Window};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, TensorType};

/// What is made of the elements in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The largest.
    Max,
    /// The mean of those inside the image.
    MeanInside,
    /// The mean of those inside the image and its padding, which counts as 0.
    MeanPadded,
    /// The sum divided by a fixed number.
    SumBy(u64),
}

pub(crate) fn window(
    cx: crate::attr::AttrReader<'_>,
    format: Format,
    image: Option<[i64; 2]>,
) -> Result<Window, OpError> {
    let kernel = if cx.bool("global_pooling")? {
        image.ok_or_else(|| OpError::unknown("global pooling needs the image's size"))?
    } else {
        let ksize = cx.ints("ksize")?;
        if ksize.len() != 4 {
            return Err(OpError::invalid(format!(
                "ksize has {} entries; it must have 4",
                ksize.len()
            )));
        }
        let [h, w] = format.spatial();
        [ksize[h], ksize[w]]
    };
    let mut window = Window::of(cx, format, kernel, cx.bool("ceil_mode")?)?;
    match cx.str("padding_mode")? {
        "CALCULATED" => {}
        "VALID" => window.auto = super::window::AutoPad::Valid,
        "SAME" => window.auto = super::window::AutoPad::SameUpper,
        other => {
            return Err(OpError::invalid(format!(
                "padding_mode {other} is not known"
            )));
        }
    }
    Ok(window)
}

/// Infers the output of pooling.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let image = cx.input(0)?;
    let format = Format::of(cx.attrs())?;
    match image.rank() {
        None => Ok(vec![TensorType::of_unknown_rank(image.dtype)]),
        Some(4) => {
            let [h, w] = format.spatial();
            let size = [image.shape[h], image.shape[w]];
            let global = cx.attrs().bool("global_pooling")?;
            if global && size.iter().any(|&dim| dim < 0) {
                let shape = format.shape(image.shape[0], image.shape[format.channel()], [1, 1]);
                return Ok(vec![TensorType::new(image.dtype, shape)]);
            }
            let window = window(cx.attrs(), format, Some(size))?;
            Ok(vec![TensorType {
                dtype: image.dtype,
                shape: window.infer(format, image, None)?,
            }])
        }
        Some(rank) => Err(OpError::invalid(format!(
            "the image {image} has {rank} dimensions, not 4"
        ))),
    }
}

/// Makes the kernel of a pooling operator.
pub(crate) fn prepare(cx: &PrepareCx<'_>, kind: Kind) -> Result<Box<dyn Kernel>, OpError> {
    let format = Format::of(cx.attrs())?;
    format.only_nchw()?;
    let &[batch, channels, height, width] = cx.shape(0)? else {
        return Err(OpError::internal("pooling of other than 4 dimensions"));
    };
    let window =
        window(cx.attrs(), format, Some([height as i64, width as i64]))?.fix([height, width])?;
    let planes = batch * channels;
    let dtype = cx.dtype(0)?;
    if kind == Kind::Max {
        for_dtype!(
            dtype,
            [
                Float32 => f32, Float64 => f64, Float16 => crate::view::F16, BFloat16 => crate::view::BF16,
                Int8 => i8, UInt8 => u8, Int16 => i16, UInt16 => u16, Int32 => i32, Int64 => i64,
            ],
            T => Ok(Box::new(Max::<T> { planes, window, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        )
    } else {
        for_dtype!(
            dtype,
            [Float32 => f32, Float64 => f64, Float16 => crate::view::F16, BFloat16 => crate::view::BF16],
            T => Ok(Box::new(Mean::<T> { planes, window, kind, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        )
    }
}

struct Max<T> {
    planes: usize,
    window: FixedWindow,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number> Kernel for Max<T> {
    fn scratch_bytes(&self) -> usize {
        self.window.image[1] * size_of::<T>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let window = &self.window;
        let (image, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let ([height, width], [output_h, output_w]) = (window.image, window.output);
        let line = call.scratch::<T>(0, width)?;
        let [kernel_h, kernel_w] = window.window.kernel;
        for plane in 0..self.planes {
            let image = image.slice(plane * height * width, height * width);
            for y in 0..output_h {
                line.fill(T::LOWEST);
                for tap in 0..kernel_h {
                    let rows = window.reach(0, tap, y, y + 1);
                    if rows.len == 1 {
                        line.update(image.slice(rows.source * width, width), |most, x| {
                            most.max(x)
                        });
                    }
                }
                let out = out.slice((plane * output_h + y) * output_w, output_w);
                out.fill(T::LOWEST);
                for tap in 0..kernel_w {
                    let reach = window.reach(1, tap, 0, output_w);
                    let seen =
                        line.as_row()
                            .stepped(reach.source, reach.len, window.window.stride[1]);
                    out.slice(reach.start, reach.len)
                        .update(seen, |most, x| most.max(x));
                }
            }
        }
        Ok(())
    }
}

struct Mean<T> {
    planes: usize,
    window: FixedWindow,
    kind: Kind,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T> Mean<T> {
    /// Returns how many positions along an axis count for output position `at`.
    fn count(&self, axis: usize, at: usize) -> usize {
        let window = &self.window.window;
        let first = at * window.stride[axis];
        let (low, high) = match self.kind {
            Kind::MeanPadded => (
                0,
                self.window.image[axis] + window.before[axis] + window.after[axis],
            ),
            Kind::Max | Kind::MeanInside | Kind::SumBy(_) => (
                window.before[axis],
                self.window.image[axis] + window.before[axis],
            ),
        };
        (0..window.kernel[axis])
            .map(|tap| first + tap * window.dilation[axis])
            .filter(|position| (low..high).contains(position))
            .count()
    }
}

impl<T: Number> Kernel for Mean<T> {
    fn scratch_bytes(&self) -> usize {
        (self.window.image[1] + self.window.output[1]) * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let window = &self.window;
        let (image, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let ([height, width], [output_h, output_w]) = (window.image, window.output);
        let all = call.scratch::<T::Wide>(0, width + output_w)?;
        let (line, sums) = (all.slice(0, width), all.slice(width, output_w));
        let [kernel_h, kernel_w] = window.window.kernel;
        for plane in 0..self.planes {
            let image = image.slice(plane * height * width, height * width);
            for y in 0..output_h {
                line.fill(T::Wide::default());
                for tap in 0..kernel_h {
                    let rows = window.reach(0, tap, y, y + 1);
                    if rows.len == 1 {
                        line.update(image.slice(rows.source * width, width), |sum, x| {
                            sum.add(x.wide())
                        });
                    }
                }
                sums.fill(T::Wide::default());
                for tap in 0..kernel_w {
                    let reach = window.reach(1, tap, 0, output_w);
                    let seen =
                        line.as_row()
                            .stepped(reach.source, reach.len, window.window.stride[1]);
                    sums.slice(reach.start, reach.len)
                        .update(seen, |sum, x| sum.add(x));
                }
                let out = out.slice((plane * output_h + y) * output_w, output_w);
                let rows = self.count(0, y);
                for x in 0..output_w {
                    let count = match self.kind {
                        Kind::SumBy(divisor) => divisor as f64,
                        _ => (rows * self.count(1, x)) as f64,
                    };
                    let sum = sums.get(x);
                    out.set(
                        x,
                        T::from_wide(if count > 0.0 {
                            sum.div(T::Wide::from_f64(count))
                        } else {
                            sum
                        }),
                    );
                }
            }
        }
        Ok(())
    }
}
