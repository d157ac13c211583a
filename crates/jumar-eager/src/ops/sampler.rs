//! Images read at the points of a grid, and the gradients by the image and by the grid.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Body, Real, run};
use super::reduction::accumulator;
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnGridSampler2D", |cx| sample(cx, 2)),
    ("aclnnGridSampler2DBackward", |cx| sample_backward(cx, 2)),
    ("aclnnGridSampler3D", |cx| sample(cx, 3)),
    ("aclnnGridSampler3DBackward", |cx| sample_backward(cx, 3)),
];

/// Multiplications that are worth a thread.
const GRAIN: usize = 1 << 11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Linear,
    Nearest,
    Cubic,
}

/// What stands for points outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

#[derive(Clone, Copy, Debug)]
struct Sampler {
    mode: Mode,
    padding: Padding,
    aligned: bool,
    /// Batch and channels.
    batch: usize,
    channels: usize,
    /// Depth, height and width of the image and of the grid.
    image: [usize; 3],
    grid: [usize; 3],
    space: usize,
}

/// An entry of the image along one dimension that takes part in a point.
#[derive(Clone, Copy, Debug, Default)]
struct Tap {
    index: usize,
    weight: f64,
    /// The derivative of the weight by the coordinate of the grid.
    slope: f64,
}

/// The entries along one dimension.
#[derive(Clone, Copy, Debug, Default)]
struct Taps {
    taps: [Tap; 4],
    len: usize,
}

impl Taps {
    fn push(&mut self, index: f64, size: usize, weight: f64, slope: f64) {
        if index >= 0.0 && index < size as f64 {
            self.taps[self.len] = Tap {
                index: index as usize,
                weight,
                slope,
            };
            self.len += 1;
        }
    }

    fn list(&self) -> &[Tap] {
        &self.taps[..self.len]
    }
}

/// The weights of four neighbours in a cubic interpolation, and their derivatives.
fn cubic(t: f64) -> [(f64, f64); 4] {
    let a = -0.75;
    let near = |x: f64| {
        (
            ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
            (3.0 * (a + 2.0) * x - 2.0 * (a + 3.0)) * x,
        )
    };
    let far = |x: f64| {
        (
            ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
            (3.0 * a * x - 10.0 * a) * x + 8.0 * a,
        )
    };
    let mirrored = |(weight, slope): (f64, f64)| (weight, -slope);
    [
        far(t + 1.0),
        near(t),
        mirrored(near(1.0 - t)),
        mirrored(far(2.0 - t)),
    ]
}

impl Sampler {
    /// Returns a coordinate of the image for one between -1 and 1, and the derivative.
    fn scaled(&self, coordinate: f64, size: usize) -> (f64, f64) {
        let size = size as f64;
        match self.aligned {
            true => ((coordinate + 1.0) / 2.0 * (size - 1.0), (size - 1.0) / 2.0),
            false => (((coordinate + 1.0) * size - 1.0) / 2.0, size / 2.0),
        }
    }

    /// Moves a coordinate into the image as the padding says. Returns it with the derivative.
    fn padded(&self, coordinate: f64, size: usize) -> (f64, f64) {
        let last = size as f64 - 1.0;
        let clipped = |coordinate: f64, slope: f64| {
            if coordinate <= 0.0 {
                (0.0, 0.0)
            } else if coordinate >= last {
                (last, 0.0)
            } else {
                (coordinate, slope)
            }
        };
        let (coordinate, slope) = match self.padding {
            Padding::Zeros => (coordinate, 1.0),
            Padding::Border => clipped(coordinate, 1.0),
            Padding::Reflection => {
                let (low, span) = match self.aligned {
                    true => (0.0, last),
                    false => (-0.5, size as f64),
                };
                if span == 0.0 {
                    (0.0, 0.0)
                } else {
                    let away = coordinate - low;
                    let sign = if away < 0.0 { -1.0 } else { 1.0 };
                    let rest = away.abs() % span;
                    let even = (away.abs() / span).floor() % 2.0 == 0.0;
                    let (reflected, slope) = match even {
                        true => (rest + low, sign),
                        false => (span - rest + low, -sign),
                    };
                    clipped(reflected, slope)
                }
            }
        };
        // No entry of the image is near.
        if !coordinate.is_finite() {
            return (-100.0, 0.0);
        }
        (coordinate, slope)
    }

    /// Returns the entries that take part along one dimension.
    fn taps(&self, coordinate: f64, size: usize) -> Taps {
        let mut taps = Taps::default();
        let (position, scale) = self.scaled(coordinate, size);
        match self.mode {
            Mode::Nearest => {
                let (position, _) = self.padded(position, size);
                taps.push(position.round_ties_even(), size, 1.0, 0.0);
            }
            Mode::Linear => {
                let (position, slope) = self.padded(position, size);
                let first = position.floor();
                let t = position - first;
                taps.push(first, size, 1.0 - t, -slope * scale);
                taps.push(first + 1.0, size, t, slope * scale);
            }
            Mode::Cubic => {
                let position = if position.is_finite() {
                    position
                } else {
                    -100.0
                };
                let first = position.floor();
                for (offset, (weight, slope)) in cubic(position - first).into_iter().enumerate() {
                    let (index, _) = self.padded(first - 1.0 + offset as f64, size);
                    taps.push(index, size, weight, slope * scale);
                }
            }
        }
        taps
    }

    /// Returns the entries along depth, height and width at a point of the grid.
    fn point<T: Real>(&self, grid: &jumar_ops::view::Row<'_, T>, point: usize) -> [Taps; 3] {
        let mut all = [Taps::default(); 3];
        // An image without depth has one entry there.
        all[0].push(0.0, 1, 1.0, 0.0);
        for axis in 0..self.space {
            // The last dimension comes first in the grid.
            let coordinate = grid.get(point * self.space + axis).number();
            all[2 - axis] = self.taps(coordinate, self.image[2 - axis]);
        }
        all
    }

    fn points(&self) -> usize {
        self.grid.iter().product()
    }

    fn elements(&self) -> usize {
        self.image.iter().product()
    }

    /// Calls `body` with the index in a plane of the image and the weights for each entry that takes part in a point.
    fn each(&self, point: &[Taps; 3], mut body: impl FnMut(usize, [&Tap; 3])) {
        let [_, height, width] = self.image;
        for z in point[0].list() {
            for y in point[1].list() {
                for x in point[2].list() {
                    body((z.index * height + y.index) * width + x.index, [z, y, x]);
                }
            }
        }
    }
}

struct Forward(Sampler);

impl Body for Forward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, grid) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        let sampler = self.0;
        let (points, elements) = (sampler.points(), sampler.elements());
        let grain = GRAIN.div_ceil(8 * sampler.channels.max(1));
        call.workers()
            .ranges(sampler.batch * points, grain, |first, count| {
                for at in first..first + count {
                    let taps = sampler.point(&grid, at);
                    let (item, point) = (at / points, at % points);
                    for channel in 0..sampler.channels {
                        let plane = item * sampler.channels + channel;
                        let mut sum = 0.0;
                        sampler.each(&taps, |index, [z, y, x_tap]| {
                            let weight = z.weight * y.weight * x_tap.weight;
                            sum += weight * x.get(plane * elements + index).number();
                        });
                        out.set(plane * points + point, T::of(sum));
                    }
                }
            });
        Ok(())
    }
}

struct Backward {
    sampler: Sampler,
    /// Whether the gradients by the image and by the grid are wanted.
    wanted: [bool; 2],
}

impl Body for Backward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = |index: usize| call.input::<T>(index).map(|input| input.flat());
        let (gradient, x, grid) = (input(0)?, input(1)?, input(2)?);
        let output = |index: usize| call.output::<T>(index).map(|output| output.flat());
        let to_x = if self.wanted[0] {
            Some(output(0)?)
        } else {
            None
        };
        let to_grid = match self.wanted[1] {
            true => Some(output(usize::from(self.wanted[0]))?),
            false => None,
        };
        if let Some(to_x) = &to_x {
            to_x.fill(T::of(0.0));
        }
        let sampler = self.sampler;
        let (points, elements) = (sampler.points(), sampler.elements());
        // Points of one image may add to the same entry, so that threads share the batch and not the points.
        call.workers().each(sampler.batch, |item| {
            for point in 0..points {
                let at = item * points + point;
                let taps = sampler.point(&grid, at);
                let mut slopes = [0.0; 3];
                for channel in 0..sampler.channels {
                    let plane = item * sampler.channels + channel;
                    let own = gradient.get(plane * points + point).number();
                    sampler.each(&taps, |index, [z, y, x_tap]| {
                        let index = plane * elements + index;
                        if let Some(to_x) = &to_x {
                            let weight = z.weight * y.weight * x_tap.weight;
                            to_x.set(index, T::of(to_x.get(index).number() + weight * own));
                        }
                        let value = x.get(index).number() * own;
                        slopes[0] += value * z.weight * y.weight * x_tap.slope;
                        slopes[1] += value * z.weight * y.slope * x_tap.weight;
                        slopes[2] += value * z.slope * y.weight * x_tap.weight;
                    });
                }
                if let Some(to_grid) = &to_grid {
                    for (axis, &slope) in slopes[..sampler.space].iter().enumerate() {
                        to_grid.set(at * sampler.space + axis, T::of(slope));
                    }
                }
            }
        });
        Ok(())
    }
}

/// Reads the attributes and checks the shapes.
fn sampler(cx: &Cx<'_>, x: &View, grid: &View, space: usize) -> Result<Sampler, Refusal> {
    let rank = space + 2;
    let fits = x.rank() == rank
        && grid.rank() == rank
        && x.dims()[0] == grid.dims()[0]
        && grid.dims()[rank - 1] == space
        && !x.dims()[2..].contains(&0);
    if !fits {
        return Err(cx.invalid(format_args!(
            "input has the shape {:?} and grid {:?}; both must have {rank} dimensions and the same batch, grid {space} coordinates \
             in the last one, and input entries in each dimension of space",
            x.dims(),
            grid.dims()
        )));
    }
    let mode = match (cx.int("interpolationMode")?, space) {
        (0, _) => Mode::Linear,
        (1, _) => Mode::Nearest,
        (2, 2) => Mode::Cubic,
        (other, _) => {
            return Err(cx.invalid(format_args!(
                "interpolationMode is {other}; it must be 0 (linear) or 1 (nearest), or in two dimensions 2 (cubic)"
            )));
        }
    };
    let padding = match cx.int("paddingMode")? {
        0 => Padding::Zeros,
        1 => Padding::Border,
        2 => Padding::Reflection,
        other => {
            return Err(cx.invalid(format_args!(
                "paddingMode is {other}; it must be 0 (zeros), 1 (border) or 2 (reflection)"
            )));
        }
    };
    let volume = |dims: &[usize]| {
        let mut sizes = [1; 3];
        sizes[3 - space..].copy_from_slice(dims);
        sizes
    };
    Ok(Sampler {
        mode,
        padding,
        aligned: cx.flag("alignCorners")?,
        batch: x.dims()[0],
        channels: x.dims()[1],
        image: volume(&x.dims()[2..]),
        grid: volume(&grid.dims()[1..rank - 1]),
        space,
    })
}

/// Returns the shape of the result.
fn result_dims(x: &View, grid: &View) -> Vec<usize> {
    let mut dims = x.dims()[..2].to_vec();
    dims.extend(&grid.dims()[1..grid.rank() - 1]);
    dims
}

fn compute_of(x: &View, grid: &View) -> DataType {
    match grid.dtype() {
        DataType::Float64 => DataType::Float64,
        _ => accumulator(x.dtype()),
    }
}

fn sample(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (x, grid, out) = (cx.tensor("input")?, cx.tensor("grid")?, cx.out("out")?);
    let sampler = sampler(cx, &x, &grid, space)?;
    cx.check_dims(&out, &result_dims(&x, &grid))?;
    let compute = compute_of(&x, &grid);
    run(
        cx,
        compute,
        Forward(sampler),
        &[(x, compute), (grid, compute)],
        &[(out, compute)],
    )
}

fn sample_backward(cx: &mut Cx<'_>, space: usize) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("input")?);
    let grid = cx.tensor("grid")?;
    let sampler = sampler(cx, &x, &grid, space)?;
    cx.check_dims(&gradient, &result_dims(&x, &grid))?;
    let wanted = match cx.bools("outputMask")? {
        &[one, two] => [one, two],
        other => {
            return Err(cx.invalid(format_args!(
                "outputMask has {} flags; 2 are required",
                other.len()
            )));
        }
    };
    let compute = compute_of(&x, &grid);
    let mut outputs = Vec::new();
    for (name, like, wanted) in [("inputGrad", &x, wanted[0]), ("gridGrad", &grid, wanted[1])] {
        if wanted {
            let out = cx.out(name)?;
            cx.check_dims(&out, like.dims())?;
            outputs.push((out, compute));
        }
    }
    if gradient.is_empty() {
        for (out, _) in outputs {
            cx.fill(Scalar::of_i64(0), out)?;
        }
        return Ok(());
    }
    run(
        cx,
        compute,
        Backward { sampler, wanted },
        &[(gradient, compute), (x, compute), (grid, compute)],
        &outputs,
    )
}
