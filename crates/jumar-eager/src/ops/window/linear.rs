//! Linear maps along single dimensions: averages of windows, interpolation, and the gradients of both.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use crate::build::Cx;
use crate::ops::data::kernels::Rule as Entry;
use crate::ops::dense::{Body, Real, run};
use crate::view::View;
use crate::{Refusal, Scalar};

/// Multiplications that are worth a thread.
const GRAIN: usize = 1 << 12;

/// How an entry of the output depends on entries of the input, along one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// One entry of the input.
    Moved(Entry),
    /// The mean of a share of the input; the shares cover it evenly.
    Adaptive,
    /// The sum of a window, divided.
    Window(Window),
    /// The entry whose position, rounded down, is nearest. `exact`: entries lie at the centres of their cells.
    Nearest { scale: Scale, exact: bool },
    /// Linear interpolation.
    Linear { scale: Scale, aligned: bool },
    /// Cubic interpolation.
    Cubic { scale: Scale, aligned: bool },
    /// Linear or cubic interpolation with a filter as wide as the distance of the outputs.
    Smoothed {
        scale: Scale,
        aligned: bool,
        cubic: bool,
    },
}

/// The number of outputs per input, where the program gave one. Otherwise it follows from the sizes.
pub(crate) type Scale = Option<f64>;

/// A window of an average pooling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub size: usize,
    pub stride: usize,
    pub pad: usize,
    /// What the sum is divided by.
    pub divisor: Divisor,
}

/// What the sum of a window is divided by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Divisor {
    /// The number of entries, those of the padding included.
    Padded,
    /// The number of entries, without those of the padding.
    Inside,
    /// A constant; 0 does not divide.
    Constant(i64),
}

/// One dimension of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub rule: Rule,
    /// The entries before and after the map.
    pub from: usize,
    pub to: usize,
}

/// The weighted entries of the input for each entry of the output.
struct Taps {
    ends: Vec<usize>,
    taps: Vec<(usize, f64)>,
}

impl Taps {
    fn row(&self, index: usize) -> &[(usize, f64)] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.taps[start..self.ends[index]]
    }

    /// Returns the map in the opposite direction: the gradient.
    fn transposed(&self, from: usize) -> Taps {
        let mut ends = vec![0; from + 1];
        for (entry, _) in &self.taps {
            ends[entry + 1] += 1;
        }
        for entry in 0..from {
            ends[entry + 1] += ends[entry];
        }
        let mut next = ends.clone();
        let mut taps = vec![(0, 0.0); self.taps.len()];
        for output in 0..self.ends.len() {
            for &(entry, weight) in self.row(output) {
                taps[next[entry]] = (output, weight);
                next[entry] += 1;
            }
        }
        ends.remove(0);
        Taps { ends, taps }
    }
}

/// The weights of four neighbours in a cubic interpolation.
fn cubic_weights(t: f64, a: f64) -> [f64; 4] {
    let near = |x: f64| ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

impl Axis {
    /// Returns the inputs per output.
    fn ratio(&self, scale: Scale, aligned: bool) -> f64 {
        match (aligned, scale) {
            (true, _) if self.to <= 1 => 0.0,
            (true, _) => (self.from - 1) as f64 / (self.to - 1) as f64,
            (false, Some(scale)) => scale.recip(),
            (false, None) => self.from as f64 / self.to as f64,
        }
    }

    /// Returns the position of an output among the inputs.
    fn source(ratio: f64, index: usize, aligned: bool) -> f64 {
        match aligned {
            true => ratio * index as f64,
            false => ratio * (index as f64 + 0.5) - 0.5,
        }
    }

    /// Returns the weights. `single`: positions are computed in float32, as PyTorch does but for float64 tensors.
    fn taps(&self, single: bool) -> Taps {
        let last = self.from as i64 - 1;
        let inside = |index: i64| index.clamp(0, last) as usize;
        let mut taps = Taps {
            ends: Vec::with_capacity(self.to),
            taps: Vec::new(),
        };
        for index in 0..self.to {
            let list = &mut taps.taps;
            match self.rule {
                Rule::Moved(entry) => list.push((entry.entry(index, self.from), 1.0)),
                Rule::Adaptive => {
                    let start = index * self.from / self.to;
                    let end = ((index + 1) * self.from).div_ceil(self.to);
                    let share = ((end - start) as f64).recip();
                    list.extend((start..end).map(|entry| (entry, share)));
                }
                Rule::Window(window) => {
                    let start = (index * window.stride) as i64 - window.pad as i64;
                    let end = (start + window.size as i64).min((self.from + window.pad) as i64);
                    let (first, behind) = (start.max(0), end.min(self.from as i64));
                    let count = match window.divisor {
                        Divisor::Padded => end - start,
                        Divisor::Inside => behind - first,
                        Divisor::Constant(0) => 1,
                        Divisor::Constant(value) => value,
                    };
                    let share = (count as f64).recip();
                    list.extend((first..behind).map(|entry| (entry as usize, share)));
                }
                _ if self.is_copy() => list.push((index, 1.0)),
                Rule::Nearest { scale, exact } => {
                    let ratio = self.ratio(scale, false);
                    let shift = if exact { 0.5 } else { 0.0 };
                    let position = match single {
                        true => f64::from((index as f32 + shift as f32) * ratio as f32),
                        false => (index as f64 + shift) * ratio,
                    };
                    list.push((inside(position.floor() as i64), 1.0));
                }
                Rule::Linear { scale, aligned } => {
                    let ratio = self.ratio(scale, aligned);
                    let position = Axis::source(ratio, index, aligned).max(0.0);
                    let first = (position as i64).min(last);
                    let weight = (position - first as f64).clamp(0.0, 1.0);
                    list.push((first as usize, 1.0 - weight));
                    list.push((inside(first + 1), weight));
                }
                Rule::Cubic { scale, aligned } => {
                    let position = Axis::source(self.ratio(scale, aligned), index, aligned);
                    let first = (position.floor() as i64).min(last);
                    let t = (position - first as f64).clamp(0.0, 1.0);
                    for (offset, weight) in cubic_weights(t, -0.75).into_iter().enumerate() {
                        list.push((inside(first - 1 + offset as i64), weight));
                    }
                }
                Rule::Smoothed {
                    scale,
                    aligned,
                    cubic,
                } => self.smoothed(scale, aligned, cubic, index, list),
            }
            taps.ends.push(taps.taps.len());
        }
        taps
    }

    /// Adds the weights of a filter that is scaled with the distance of the outputs.
    fn smoothed(
        &self,
        scale: Scale,
        aligned: bool,
        cubic: bool,
        index: usize,
        list: &mut Vec<(usize, f64)>,
    ) {
        let ratio = self.ratio(scale, aligned);
        let shift = 0.5;
        let reach = if cubic { 2.0 } else { 1.0 } * ratio.max(1.0);
        let compression = ratio.max(1.0).recip();
        let centre = ratio * (index as f64 + shift);
        let first = ((centre - reach + shift) as i64).max(0);
        let behind = ((centre + reach + shift) as i64).min(self.from as i64);
        let start = list.len();
        let mut total = 0.0;
        for entry in first..behind {
            let x = ((entry as f64 - centre + shift) * compression).abs();
            let weight = match cubic {
                false => (1.0 - x).max(0.0),
                true if x < 1.0 => cubic_weights(x, -0.5)[1],
                true if x < 2.0 => cubic_weights(x - 1.0, -0.5)[0],
                true => 0.0,
            };
            total += weight;
            list.push((entry as usize, weight));
        }
        if total != 0.0 {
            for (_, weight) in &mut list[start..] {
                *weight /= total;
            }
        }
    }

    /// Reports whether interpolation between as many entries leaves them unchanged.
    fn is_copy(&self) -> bool {
        matches!(self.rule, Rule::Nearest { .. } | Rule::Linear { .. }) && self.from == self.to
    }
}

/// The map along one dimension of a dense tensor, seen as `[outer, axis, inner]`.
struct AlongAxis {
    outer: usize,
    inner: usize,
    axis: Axis,
    backward: bool,
}

impl Body for AlongAxis {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let taps = self.axis.taps(T::of(0.1).number() != 0.1);
        let (taps, from, to) = match self.backward {
            false => (taps, self.axis.from, self.axis.to),
            true => (
                taps.transposed(self.axis.from),
                self.axis.to,
                self.axis.from,
            ),
        };
        let inner = self.inner;
        let work = inner * (taps.taps.len() / to.max(1) + 1);
        let grain = GRAIN.div_ceil(work.max(1));
        call.workers()
            .ranges(self.outer * to, grain, |first, count| {
                for row in first..first + count {
                    let (block, entry) = (row / to, row % to);
                    let row_taps = taps.row(entry);
                    for column in 0..inner {
                        let mut sum = 0.0;
                        for &(tap, weight) in row_taps {
                            let value = x.get((block * from + tap) * inner + column).number();
                            sum += weight * value;
                        }
                        out.set(row * inner + column, T::of(sum));
                    }
                }
            });
        Ok(())
    }
}

/// Applies maps along the last dimensions: from `x` to `out`, or the gradients from the shape of `out` to that of `x`.
pub(crate) fn apply(
    cx: &mut Cx<'_>,
    compute: DataType,
    axes: &[Axis],
    backward: bool,
    x: View,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    if x.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let first = x.rank() - axes.len();
    let mut current = x;
    for (index, &axis) in axes.iter().enumerate() {
        let at = first + index;
        let mut dims = current.dims().to_vec();
        dims[at] = if backward { axis.from } else { axis.to };
        let target = match index + 1 == axes.len() {
            true => out,
            false => cx.temporary(compute, &dims)?,
        };
        let body = AlongAxis {
            outer: dims[..at].iter().product(),
            inner: dims[at + 1..].iter().product(),
            axis,
            backward,
        };
        run(
            cx,
            compute,
            body,
            &[(current, compute)],
            &[(target, compute)],
        )?;
        current = target;
    }
    Ok(())
}
