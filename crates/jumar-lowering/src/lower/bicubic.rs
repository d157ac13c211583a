//! Images resized by TensorFlow's bicubic interpolation, whose weights come from a table.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NCHW;
use super::formula::{Formula, scalar};
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[("ResizeBicubic", resize)];

/// The steps between two pixels that have weights of their own.
const STEPS: usize = 1024;

/// How positions in the result become positions in the source.
#[derive(Clone, Copy)]
struct Way {
    corners: bool,
    centers: bool,
}

/// For each of four pixels next to a position: which pixel it is, and its weight, for all positions of an axis.
type Taps = [(Vec<i64>, Vec<f32>); 4];

impl Way {
    /// Returns where the pixel `at` of the result lies in the source.
    fn position(self, at: i64, own: i64, to: i64) -> f32 {
        let scale = match self.corners && to > 1 {
            true => (own - 1) as f32 / (to - 1) as f32,
            false => own as f32 / to as f32,
        };
        match self.centers {
            true => (at as f32 + 0.5) * scale - 0.5,
            false => at as f32 * scale,
        }
    }

    /// Returns the weight of a pixel `steps` away from a position.
    fn weight(self, steps: usize) -> f32 {
        let a: f32 = if self.centers { -0.5 } else { -0.75 };
        let x = steps as f32 / STEPS as f32;
        if steps <= STEPS {
            return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
        }
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    }

    fn taps(self, own: i64, to: i64) -> Taps {
        let mut taps = Taps::default();
        for at in 0..to {
            let position = self.position(at, own, to);
            let first = position.floor();
            let steps = ((position - first) * STEPS as f32).round_ties_even() as usize;
            let away = [STEPS + steps, steps, STEPS - steps, 2 * STEPS - steps];
            let mut weights = away.map(|steps| self.weight(steps));
            let pixels = [-1, 0, 1, 2].map(|more| first as i64 + more);
            let inside = pixels.map(|pixel| pixel.clamp(0, own - 1));
            if self.centers {
                // Pixels outside of the image have no weight, and the others share it.
                for (weight, (pixel, inside)) in weights.iter_mut().zip(pixels.iter().zip(inside)) {
                    if *pixel != inside {
                        *weight = 0.0;
                    }
                }
                let sum: f32 = weights.iter().sum();
                if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
                    weights = weights.map(|weight| weight / sum);
                }
            }
            for (tap, (pixel, weight)) in taps.iter_mut().zip(inside.into_iter().zip(weights)) {
                tap.0.push(pixel);
                tap.1.push(weight);
            }
        }
        taps
    }
}

fn resize(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>, OpError> {
    let images = op.input("images")?;
    let way = Way {
        corners: op.yes("align_corners")?,
        centers: op.yes("half_pixel_centers")?,
    };
    if way.corners && way.centers {
        return Err(invalid(
            "align_corners and half_pixel_centers exclude each other",
        ));
    }
    let dtype = op.dtype("dtype")?;
    if dtype != DataType::Float32 {
        return Err(unsupported(format!(
            "its attribute dtype is {dtype}; only float32 is supported, because no document says how others are rounded"
        )));
    }
    let size = numbers(cx, op.input("size")?, "size")?;
    let dims = cx.dims(images)?;
    let (&[height, width], 4) = (&size[..], dims.len()) else {
        return Err(invalid(format!(
            "its inputs images and size have the shape {dims:?} and the value {size:?}; 4 dimensions and [height, width] are required"
        )));
    };
    if height < 1 || width < 1 || dims.contains(&0) {
        return Err(invalid(format!(
            "images of the shape {dims:?} cannot become {height} x {width}; all sizes must be 1 or more"
        )));
    }
    let rows = match op.desc("images") {
        Some(desc) if desc.format == FORMAT_NCHW => 2,
        _ => 1,
    };
    let mut y = cx.cast(images, DataType::Float32)?;
    for (axis, to) in [(rows, height), (rows + 1, width)] {
        let mut along = [1; 4];
        along[axis] = to;
        let taps = way.taps(dims[axis], to);
        let weights = taps
            .each_ref()
            .map(|(_, weights)| cx.add_constant(Tensor::from_floats(weights)));
        let f = Formula::new(cx);
        let mut sum = None;
        for ((pixels, _), weights) in taps.iter().zip(weights) {
            let inputs = [y, f.ints(pixels), scalar(&f, axis as i64)?];
            let part = f.node("GatherV2", &inputs, Attrs::new())?;
            let part = f.mul(part, f.reshape(weights, &along)?)?;
            sum = Some(match sum {
                Some(sum) => f.add(sum, part)?,
                None => part,
            });
        }
        y = sum.ok_or_else(|| invalid("a position has four pixels"))?;
    }
    Ok(vec![y])
}
