//! Grey-scale dilation: the maximum over a window of the image plus a filter; and its gradients. The definition is TensorFlow's.

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::operator::OUTPUT_Y;
use crate::view::Row;
use crate::{
    Aliasing, AttrDef, AttrKind, InferCx, InputDef, OpError, Operator, PrepareCx, TensorType, Types,
};

const ATTRS: &[AttrDef] = &[
    AttrDef::required("strides", AttrKind::Ints),
    AttrDef::required("rates", AttrKind::Ints),
    // Above, below, left and right; below and right they may be negative, where windows end before the border.
    AttrDef::required("pads", AttrKind::Ints),
];

const GRADIENT: &[InputDef] = &[
    InputDef::required("x", Types::NUMBER),
    InputDef::required("filter", Types::NUMBER),
    InputDef::required("grad", Types::NUMBER),
];

const fn gradient(
    name: &'static str,
    infer: fn(&InferCx<'_>) -> Result<Vec<TensorType>, OpError>,
    prepare: fn(&PrepareCx<'_>) -> Result<Box<dyn crate::Kernel>, OpError>,
) -> Operator {
    Operator {
        name,
        onnx: &[],
        inputs: GRADIENT,
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer,
        prepare,
    }
}

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Dilation2D",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::NUMBER),
            InputDef::required("filter", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let sizes = Sizes::of(cx)?;
            Ok(vec![TensorType::new(
                cx.input(0)?.dtype,
                sizes.result_dims(),
            )])
        },
        prepare: |cx| generic_kernel(cx, Forward(Sizes::of(cx.infer())?), &[0, 1], &[0]),
    },
    &gradient(
        "jumar.Dilation2DFilterGrad",
        |cx| {
            gradient_fits(cx)?;
            Ok(vec![cx.input(1)?.clone()])
        },
        |cx| {
            let sizes = Sizes::of(cx.infer())?;
            let backward = Backward {
                sizes,
                by_filter: true,
            };
            generic_kernel(cx, backward, &[0, 1, 2], &[0])
        },
    ),
    &gradient(
        "jumar.Dilation2DInputGrad",
        |cx| {
            gradient_fits(cx)?;
            Ok(vec![cx.input(0)?.clone()])
        },
        |cx| {
            let sizes = Sizes::of(cx.infer())?;
            let backward = Backward {
                sizes,
                by_filter: false,
            };
            generic_kernel(cx, backward, &[0, 1, 2], &[0])
        },
    ),
];

fn gradient_fits(cx: &InferCx<'_>) -> Result<(), OpError> {
    cx.same_types([0, 2])?;
    let (grad, wanted) = (cx.input(2)?, Sizes::of(cx)?.result_dims());
    if grad.shape != wanted {
        return Err(OpError::invalid(format!(
            "the gradient is {grad}; the shape {wanted:?} is required"
        )));
    }
    Ok(())
}

/// The sizes of a node, with channels last.
struct Sizes {
    image: [usize; 4],
    filter: [usize; 2],
    strides: [i64; 2],
    rates: [i64; 2],
    before: [i64; 2],
    result: [usize; 2],
}

impl Sizes {
    fn of(cx: &InferCx<'_>) -> Result<Sizes, OpError> {
        cx.same_types([0, 1])?;
        let (x, filter) = (cx.input(0)?, cx.input(1)?);
        let (Some(image), Some(window)) = (x.dims(), filter.dims()) else {
            return Err(OpError::unknown("the shapes have to be known"));
        };
        let (&[batch, height, width, channels], &[rows, columns, own]) = (&image[..], &window[..])
        else {
            return Err(OpError::invalid(format!(
                "the image is {x} and the filter {filter}; [batch, height, width, channels] and [height, width, channels] are required"
            )));
        };
        if height == 0 || width == 0 {
            return Err(OpError::invalid(format!(
                "the image is {x}; it must have rows and columns"
            )));
        }
        if own != channels {
            return Err(OpError::invalid(format!(
                "the filter has {own} channels, and the image {channels}; they must be equal"
            )));
        }
        let attrs = cx.attrs();
        let (strides, rates, pads) = (
            attrs.ints("strides")?,
            attrs.ints("rates")?,
            attrs.ints("pads")?,
        );
        let (&[down, over], &[rate_y, rate_x], &[top, bottom, left, right]) =
            (strides, rates, pads)
        else {
            return Err(OpError::invalid(format!(
                "strides, rates and pads are {strides:?}, {rates:?} and {pads:?}; 2, 2 and 4 numbers are required"
            )));
        };
        let small = |value: &i64| (1..1 << 20).contains(value);
        if ![down, over, rate_y, rate_x].iter().all(small)
            || pads.iter().any(|pad| pad.abs() >= 1 << 30)
        {
            return Err(OpError::invalid(format!(
                "strides, rates and pads are {strides:?}, {rates:?} and {pads:?}; strides and rates must be positive"
            )));
        }
        let size = |len: usize, around: i64, window: usize, rate: i64, stride: i64| {
            let space = len as i64 + around - (window as i64 - 1) * rate - 1;
            usize::try_from(space)
                .map(|space| space / stride as usize + 1)
                .map_err(|_| {
                    OpError::invalid(format!(
                        "a filter of {window} with the rate {rate} is larger than the image of {len} with {around} of padding"
                    ))
                })
        };
        Ok(Sizes {
            image: [batch, height, width, channels],
            filter: [rows, columns],
            strides: [down, over],
            rates: [rate_y, rate_x],
            before: [top, left],
            result: [
                size(height, top + bottom, rows, rate_y, down)?,
                size(width, left + right, columns, rate_x, over)?,
            ],
        })
    }

    fn result_dims(&self) -> Vec<i64> {
        let [batch, _, _, channels] = self.image;
        [batch, self.result[0], self.result[1], channels]
            .map(|dim| dim as i64)
            .to_vec()
    }

    /// Calls `visit` for each element of the result: its index, its value, and the elements of image and filter that make it.
    fn walk<W: Working>(
        &self,
        x: Row<'_, W>,
        filter: Row<'_, W>,
        mut visit: impl FnMut(usize, W, usize, usize),
    ) {
        let [batch, height, width, channels] = self.image;
        let [rows, columns] = self.result;
        for at in 0..batch * rows * columns * channels {
            let (channel, rest) = (at % channels, at / channels);
            let (column, rest) = (rest % columns, rest / columns);
            let (row, image) = (rest % rows, rest / rows);
            let start = |at: usize, axis: usize| at as i64 * self.strides[axis] - self.before[axis];
            let (top, left) = (start(row, 0), start(column, 1));
            let pixel = |y: i64, x: i64| {
                ((image * height + y as usize) * width + x as usize) * channels + channel
            };
            // Where a window holds no pixel, its corner counts.
            let (mut most, mut from, mut tap) = (
                W::LOWEST,
                pixel(
                    top.clamp(0, height as i64 - 1),
                    left.clamp(0, width as i64 - 1),
                ),
                channel,
            );
            for i in 0..self.filter[0] {
                let y = top + i as i64 * self.rates[0];
                if !(0..height as i64).contains(&y) {
                    continue;
                }
                for j in 0..self.filter[1] {
                    let right = left + j as i64 * self.rates[1];
                    if !(0..width as i64).contains(&right) {
                        continue;
                    }
                    let (own, other) = (
                        pixel(y, right),
                        (i * self.filter[1] + j) * channels + channel,
                    );
                    let value = x.get(own) + filter.get(other);
                    if value > most {
                        (most, from, tap) = (value, own, other);
                    }
                }
            }
            visit(at, most, from, tap);
        }
    }
}

struct Forward(Sizes);

impl Algorithm for Forward {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, filter, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        self.0.walk(x, filter, |at, value, _, _| out.set(at, value));
        Ok(())
    }
}

struct Backward {
    sizes: Sizes,
    by_filter: bool,
}

impl Algorithm for Backward {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, filter, grad, out) = (io.input(0)?, io.input(1)?, io.input(2)?, io.output(0)?);
        out.fill(W::zero());
        self.sizes.walk(x, filter, |at, _, from, tap| {
            let to = if self.by_filter { tap } else { from };
            out.set(to, out.get(to) + grad.get(at));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let attrs = |pads: Vec<i64>| {
            none()
                .with("strides", vec![1, 1])
                .with("rates", vec![1, 1])
                .with("pads", pads)
        };
        let (x, filter) = (noise(&[1, 3, 3, 2], 1), noise(&[2, 2, 2], 2));
        let wide = noise(&[4, 2, 2], 3);
        let zeros = || attrs(vec![0, 0, 0, 0]);
        refuse("jumar.Dilation2D", &[x.clone(), wide], zeros(), "larger");
        let other = noise(&[2, 2, 3], 4);
        refuse(
            "jumar.Dilation2D",
            &[x.clone(), other],
            zeros(),
            "3 channels",
        );
        refuse(
            "jumar.Dilation2D",
            &[x.clone(), filter.clone()],
            attrs(vec![0]),
            "4 numbers",
        );
        refuse(
            "jumar.Dilation2DFilterGrad",
            &[x, filter, noise(&[1, 3, 3, 2], 5)],
            zeros(),
            "[1, 2, 2, 2] is required",
        );
    }
}
