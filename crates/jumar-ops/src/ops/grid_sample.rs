//! Images sampled at the positions of a grid, and the grid of an affine map. The attributes are ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, alike, attrs_alike, cast};
use crate::operator::OUTPUT_Y;
use crate::view::Row;
use crate::{Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.GridSample",
        onnx: &[OnnxForm::new("GridSample", 16, LATEST, |builder, node| {
            let mut attrs = attrs_alike(node, "jumar.GridSample")?;
            // Before operator set 20 the modes were named after their forms in two dimensions.
            let mode = match node.str_or("mode", "linear")? {
                "bilinear" => "linear",
                "bicubic" => "cubic",
                mode => mode,
            };
            attrs.set("mode", mode);
            let x = node.input(0)?;
            if builder.ty(x).dtype != DataType::Bool {
                return Ok(vec![builder.node(
                    "jumar.GridSample",
                    node.inputs(),
                    attrs,
                )?]);
            }
            if mode != "nearest" {
                return Err(OpError::unsupported(format!(
                    "the mode {mode:?} between booleans is not supported; nearest is"
                )));
            }
            let counted = cast(builder, x, DataType::UInt8)?;
            let taken = builder.node(
                "jumar.GridSample",
                &[Some(counted), node.optional(1)],
                attrs,
            )?;
            Ok(vec![cast(builder, taken, DataType::Bool)?])
        })],
        inputs: &[
            InputDef::required("x", Types::NUMBER),
            InputDef::required("grid", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::str("mode", "linear"),
            AttrDef::str("padding_mode", "zeros"),
            AttrDef::bool("align_corners", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer,
        prepare: |cx| {
            let (x, grid) = (cx.shape(0)?, cx.shape(1)?);
            let sample = Sample {
                batch: x[0],
                channels: x[1],
                image: x[2..].to_vec(),
                points: grid[1..grid.len() - 1].iter().product(),
                mode: mode(cx.infer())?,
                padding: padding(cx.infer())?,
                align: cx.attrs().bool("align_corners")?,
            };
            if sample.points > 0 && sample.batch > 0 && sample.image.contains(&0) {
                return Err(OpError::invalid(
                    "an image without elements cannot be read from",
                ));
            }
            generic_kernel(cx, sample, &[0, 1], &[0])
        },
    },
    &Operator {
        name: "jumar.AffineGrid",
        onnx: &[OnnxForm::new("AffineGrid", 20, LATEST, |builder, node| {
            alike(builder, node, "jumar.AffineGrid")
        })],
        inputs: &[
            InputDef::required("theta", Types::FLOAT),
            InputDef::constant("size", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::bool("align_corners", false)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_affine,
        prepare: |cx| {
            let size: Vec<usize> = cx.ints(1)?[2..].iter().map(|&size| size as usize).collect();
            generic_kernel(
                cx,
                Affine {
                    batch: cx.shape(0)?[0],
                    size,
                    align: cx.attrs().bool("align_corners")?,
                },
                &[0],
                &[0],
            )
        },
    },
];

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

fn mode(cx: &InferCx<'_>) -> Result<Mode, OpError> {
    match cx.attrs().str("mode")? {
        "nearest" => Ok(Mode::Nearest),
        "linear" => Ok(Mode::Linear),
        "cubic" => Ok(Mode::Cubic),
        other => Err(OpError::invalid(format!(
            "mode is {other}; it must be nearest, linear or cubic"
        ))),
    }
}

fn padding(cx: &InferCx<'_>) -> Result<Padding, OpError> {
    match cx.attrs().str("padding_mode")? {
        "zeros" => Ok(Padding::Zeros),
        "border" => Ok(Padding::Border),
        "reflection" => Ok(Padding::Reflection),
        other => Err(OpError::invalid(format!(
            "padding_mode is {other}; it must be zeros, border or reflection"
        ))),
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let (x, grid) = (cx.input(0)?, cx.input(1)?);
    mode(cx)?;
    padding(cx)?;
    let (Some(rank), Some(grid_rank)) = (x.rank(), grid.rank()) else {
        return Ok(vec![TensorType::of_unknown_rank(x.dtype)]);
    };
    let differ = |a: i64, b: i64| a >= 0 && b >= 0 && a != b;
    if rank < 3
        || rank != grid_rank
        || differ(x.shape[0], grid.shape[0])
        || differ(grid.shape[rank - 1], rank as i64 - 2)
    {
        return Err(OpError::invalid(format!(
            "the grid {grid} does not fit the image {x}"
        )));
    }
    Ok(vec![TensorType::new(
        x.dtype,
        [&x.shape[..2], &grid.shape[1..rank - 1]].concat(),
    )])
}

struct Sample {
    batch: usize,
    channels: usize,
    image: Vec<usize>,
    points: usize,
    mode: Mode,
    padding: Padding,
    align: bool,
}

/// Folds a coordinate back into the image, as a mirror at each end does.
fn reflect<W: Working>(x: W, len: usize, align: bool) -> W {
    let (low, high) = if align {
        (0.0, len as f64 - 1.0)
    } else {
        (-0.5, len as f64 - 0.5)
    };
    let range = high - low;
    let x = x.f64();
    if range <= 0.0 {
        return W::of(0.0);
    }
    if (low..=high).contains(&x) {
        return W::of(x);
    }
    let way = (if x < low { low - x } else { x - high }) % (2.0 * range);
    // Where it came in, going back and forth.
    let way = if way > range { 2.0 * range - way } else { way };
    W::of(if x < low { low + way } else { high - way })
}

impl Sample {
    /// Returns the pixel that a tap at an integer position reads along an axis; `None` where it reads 0.
    fn pixel<W: Working>(&self, position: W, len: usize) -> Option<usize> {
        let inside = |x: f64| (x >= 0.0 && x < len as f64).then_some(x as usize);
        match self.padding {
            Padding::Zeros => inside(position.f64()),
            Padding::Border => inside(position.f64().max(0.0).min(len as f64 - 1.0)),
            Padding::Reflection => {
                let x = reflect(position, len, self.align).f64().round_ties_even();
                inside(x.max(0.0).min(len as f64 - 1.0))
            }
        }
    }

    /// Returns the coordinate of a point along an axis, and brings it into the image where padding does that first.
    fn coordinate<W: Working>(&self, point: W, len: usize) -> W {
        let size = W::of(len as f64);
        let (one, half) = (W::one(), W::of(0.5));
        let x = if self.align {
            (point + one) * half * (size - one)
        } else {
            ((point + one) * size - one) * half
        };
        match (self.mode, self.padding) {
            // A cubic's taps are brought in one by one.
            (Mode::Cubic, _) | (_, Padding::Zeros) => x,
            (_, Padding::Border) => x.most(W::zero()).least(size - one),
            (_, Padding::Reflection) => reflect(x, len, self.align)
                .most(W::zero())
                .least(size - one),
        }
    }
}

/// Weights of the four taps of a cubic at a distance behind the second.
fn cubic<W: Working>(t: W) -> [W; 4] {
    let a = -0.75;
    let t = t.f64();
    let near = |x: f64| ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
    [
        W::of(far(1.0 + t)),
        W::of(near(t)),
        W::of(near(1.0 - t)),
        W::of(far(2.0 - t)),
    ]
}

impl Algorithm for Sample {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, grid, out) = (io.input(0)?, io.input(1)?, io.output(0)?);
        let rank = self.image.len();
        let plane: usize = self.image.iter().product();
        let taps = match self.mode {
            Mode::Nearest => 1,
            Mode::Linear => 2,
            Mode::Cubic => 4,
        };
        const MOST: usize = crate::kernels::space::MOST;
        for batch in 0..self.batch {
            for point in 0..self.points {
                let location = grid.slice((batch * self.points + point) * rank, rank);
                // For each axis and tap the pixel and its weight.
                let mut seen = [[(None, W::zero()); 4]; MOST];
                for (axis, &len) in self.image.iter().enumerate() {
                    // The grid names the last axis first.
                    let x: W = self.coordinate(location.get(rank - 1 - axis), len);
                    if self.mode == Mode::Nearest {
                        let x = W::of(x.f64().round_ties_even());
                        seen[axis][0] = (self.pixel(x, len), W::one());
                        continue;
                    }
                    let floor = x.floor();
                    let t = x - floor;
                    let (first, weights) = match self.mode {
                        Mode::Cubic => (floor - W::one(), cubic(t)),
                        _ => (floor, [W::one() - t, t, W::zero(), W::zero()]),
                    };
                    for tap in 0..taps {
                        seen[axis][tap] =
                            (self.pixel(first + W::of(tap as f64), len), weights[tap]);
                    }
                }
                for channel in 0..self.channels {
                    let image = x.slice((batch * self.channels + channel) * plane, plane);
                    let sum = self.weigh(image, &seen, taps);
                    out.set((batch * self.channels + channel) * self.points + point, sum);
                }
            }
        }
        Ok(())
    }
}

impl Sample {
    fn weigh<W: Working>(
        &self,
        image: Row<'_, W>,
        seen: &[[(Option<usize>, W); 4]],
        taps: usize,
    ) -> W {
        let rank = self.image.len();
        let mut sum = W::zero();
        for number in 0..taps.pow(rank as u32) {
            let (mut rest, mut weight, mut at) = (number, W::one(), Some(0));
            for (axis, &len) in self.image.iter().enumerate() {
                let (pixel, own) = seen[axis][rest % taps];
                rest /= taps;
                weight = weight * own;
                at = at.and_then(|line| Some(line * len + pixel?));
            }
            if let Some(at) = at {
                sum += image.get(at) * weight;
            }
        }
        sum
    }
}

fn infer_affine(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let theta = cx.input(0)?;
    let Some(size) = cx.ints(1)? else {
        return Ok(vec![TensorType::of_unknown_rank(theta.dtype)]);
    };
    let rank = size.len() as i64 - 2;
    if !(2..=3).contains(&rank) || size.iter().any(|&size| size < 0) {
        return Err(OpError::invalid(format!(
            "size is {size:?}; it must be N, C, H, W or N, C, D, H, W"
        )));
    }
    let wanted = [size[0], rank, rank + 1];
    let fits = theta.shape.len() == 3
        && theta
            .shape
            .iter()
            .zip(wanted)
            .all(|(&own, dim)| own < 0 || own == dim);
    if theta.rank().is_some() && !fits {
        return Err(OpError::invalid(format!(
            "theta is {theta}; it must have the shape {wanted:?}"
        )));
    }
    Ok(vec![TensorType::new(
        theta.dtype,
        [&size[..1], &size[2..], &[rank]].concat(),
    )])
}

struct Affine {
    batch: usize,
    size: Vec<usize>,
    align: bool,
}

impl Algorithm for Affine {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (theta, out) = (io.input(0)?, io.output(0)?);
        let rank = self.size.len();
        let points: usize = self.size.iter().product();
        for batch in 0..self.batch {
            let theta = theta.slice(batch * rank * (rank + 1), rank * (rank + 1));
            for point in 0..points {
                let mut location = [W::one(); 4];
                let mut rest = point;
                for axis in (0..rank).rev() {
                    let len = self.size[axis] as f64;
                    let at = (rest % self.size[axis]) as f64;
                    rest /= self.size[axis];
                    // The last axis comes first.
                    location[rank - 1 - axis] = W::of(match (self.align, len > 1.0) {
                        (true, true) => 2.0 * at / (len - 1.0) - 1.0,
                        (true, false) => -1.0,
                        (false, _) => (2.0 * at + 1.0) / len - 1.0,
                    });
                }
                for row in 0..rank {
                    let mut sum = W::zero();
                    for (column, &x) in location[..=rank].iter().enumerate() {
                        sum += theta.get(row * (rank + 1) + column) * x;
                    }
                    out.set((batch * points + point) * rank + row, sum);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("grid_sample");
    }

    #[test]
    fn grids_that_do_not_fit_are_refused() {
        refuse(
            "jumar.GridSample",
            &[noise(&[1, 1, 2, 2], 1), noise(&[1, 2, 2, 3], 2)],
            none(),
            "does not fit",
        );
        refuse(
            "jumar.AffineGrid",
            &[noise(&[1, 2, 3], 1), i64s(&[3], &[1, 1, 2])],
            none(),
            "size is",
        );
    }
}
