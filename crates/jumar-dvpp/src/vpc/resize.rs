//! Interpolation.

use super::shuffle;
use crate::Result;
use crate::error::refuse;
use crate::memory::Source;
use crate::planar::Samples;

/// How samples between samples are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// Two by two neighbours, weighted by the distance of pixel centres, in the fixed point of OpenCV's INTER_LINEAR. AIPP scales
    /// pixels instead of planes and rounds otherwise (`ops/aipp.rs` in jumar-ops).
    Bilinear,
    /// The sample at or above on the left, as OpenCV's INTER_NEAREST.
    Nearest,
    /// Two by two neighbours, weighted by the distance of upper left corners, as TensorFlow without half_pixel_centers.
    CornerBilinear,
    /// The sample at or above on the left with a scale of single precision, as TensorFlow.
    CornerNearest,
}

impl Filter {
    /// Finds the filter for a value of `acldvppSetResizeConfigInterpolation`.
    ///
    /// # Errors
    /// No such value exists.
    pub fn from_number(number: u32) -> Result<Filter> {
        Ok(match number {
            // The filters of the cards for 0 and 5 are not public; bilinear is what later cards use for 0.
            0 | 1 | 5 => Filter::Bilinear,
            2 => Filter::Nearest,
            3 => Filter::CornerBilinear,
            4 => Filter::CornerNearest,
            _ => refuse!("the interpolation is {number}; 0 to 5 exist"),
        })
    }
}

/// The bits of a weight.
const WEIGHT_BITS: u32 = 11;
const ONE: i32 = 1 << WEIGHT_BITS;

/// Two samples along an axis and their weights.
#[derive(Clone, Copy, Debug)]
struct Tap {
    at: usize,
    next: usize,
    weights: [i32; 2],
    fraction: f32,
}

/// Returns the taps along an axis. Columns at an edge use one sample with the complete weight; rows keep both weights, as
/// the public definition of the filter does.
fn taps(filter: Filter, source: usize, target: usize, is_column: bool) -> Vec<Tap> {
    let last = source - 1;
    let scale = 1.0 / (target as f64 / source as f64);
    (0..target)
        .map(|index| match filter {
            Filter::Bilinear => {
                let position = ((index as f64 + 0.5) * scale - 0.5) as f32;
                let floor = position.floor();
                let mut fraction = position - floor;
                let floor = floor as i64;
                if is_column && (floor < 0 || floor >= last as i64) {
                    fraction = 0.0;
                }
                let inside = |at: i64| at.clamp(0, last as i64) as usize;
                let weight = |part: f32| (part * ONE as f32).round_ties_even() as i32;
                Tap {
                    at: inside(floor),
                    next: inside(floor + 1),
                    weights: [weight(1.0 - fraction), weight(fraction)],
                    fraction,
                }
            }
            Filter::CornerBilinear => {
                let position = index as f32 * (source as f32 / target as f32);
                let at = (position.floor() as usize).min(last);
                Tap {
                    at,
                    next: (at + 1).min(last),
                    weights: [ONE, 0],
                    fraction: position - position.floor(),
                }
            }
            Filter::Nearest | Filter::CornerNearest => {
                let position = if filter == Filter::Nearest {
                    (index as f64 * scale).floor() as usize
                } else {
                    (index as f32 * (source as f32 / target as f32)).floor() as usize
                };
                let at = position.min(last);
                Tap {
                    at,
                    next: at,
                    weights: [ONE, 0],
                    fraction: 0.0,
                }
            }
        })
        .collect()
}

/// A part of a plane in memory that is resized.
pub(crate) struct Part<'a> {
    pub(crate) memory: &'a dyn Source,
    /// The offset of the first sample.
    pub(crate) offset: usize,
    /// The bytes from a row to the next one.
    pub(crate) stride: usize,
    /// The samples of a component in a row.
    pub(crate) width: usize,
    /// The rows.
    pub(crate) height: usize,
    /// The interleaved components.
    pub(crate) count: usize,
}

/// Resizes a part of a plane and passes each row of the result to `write`.
pub(crate) fn resize(
    part: &Part<'_>,
    (width, height): (usize, usize),
    filter: Filter,
    mut write: impl FnMut(usize, &[u8]),
) {
    let mut source = vec![0; part.width * part.count];
    let read = |row: usize, to: &mut [u8]| {
        part.memory.read(part.offset + row * part.stride, to);
    };
    if (part.width, part.height) == (width, height) {
        for row in 0..height {
            read(row, &mut source);
            write(row, &source);
        }
        return;
    }
    let columns = taps(filter, part.width, width, true);
    let rows = taps(filter, part.height, height, false);
    let mut out = vec![0; width * part.count];
    match filter {
        Filter::Nearest | Filter::CornerNearest => {
            let mut known = None;
            for (index, row) in rows.iter().enumerate() {
                if known != Some(row.at) {
                    read(row.at, &mut source);
                    let groups = out.chunks_exact_mut(part.count);
                    for (to, tap) in groups.zip(&columns) {
                        let at = tap.at * part.count;
                        to.copy_from_slice(&source[at..at + part.count]);
                    }
                    known = Some(row.at);
                }
                write(index, &out);
            }
        }
        Filter::Bilinear => {
            // Four samples are written at once.
            let mut lines = Lines::new(out.len().next_multiple_of(4));
            let mut columns = Columns::new(&columns, part.count);
            // One more group, whose weight is 0: each column has a neighbour on its right.
            source.resize(source.len() + part.count + shuffle::READ_BEHIND, 0);
            let samples = part.width * part.count;
            for (index, row) in rows.iter().enumerate() {
                let [upper, lower] = lines.get([row.at, row.next], |at, line| {
                    read(at, &mut source[..samples]);
                    columns.blend(&source, line);
                });
                blend_rows(upper, lower, row.weights, &mut out);
                write(index, &out);
            }
        }
        Filter::CornerBilinear => {
            let mut lines = Lines::new(out.len());
            for (index, row) in rows.iter().enumerate() {
                let [upper, lower] = lines.get([row.at, row.next], |at, line| {
                    read(at, &mut source);
                    let groups = line.chunks_exact_mut(part.count);
                    for (to, tap) in groups.zip(&columns) {
                        let (at, next) = (tap.at * part.count, tap.next * part.count);
                        for (component, to) in to.iter_mut().enumerate() {
                            let left = f32::from(source[at + component]);
                            let right = f32::from(source[next + component]);
                            *to = left + (right - left) * tap.fraction;
                        }
                    }
                });
                for ((to, upper), lower) in out.iter_mut().zip(upper).zip(lower) {
                    *to = (upper + (lower - upper) * row.fraction + 0.5).floor() as u8;
                }
                write(index, &out);
            }
        }
    }
}

/// The last two rows that were interpolated along their columns, so that each source row is read once.
struct Lines<T> {
    rows: [Option<usize>; 2],
    data: [Vec<T>; 2],
}

impl<T: Clone + Default> Lines<T> {
    fn new(length: usize) -> Lines<T> {
        Lines {
            rows: [None; 2],
            data: [vec![T::default(); length], vec![T::default(); length]],
        }
    }

    /// Returns two rows, computed by `fill` where they are not known.
    fn get(&mut self, wanted: [usize; 2], mut fill: impl FnMut(usize, &mut [T])) -> [&[T]; 2] {
        if self.rows[0] != Some(wanted[0]) && self.rows[1] == Some(wanted[0]) {
            self.rows.swap(0, 1);
            self.data.swap(0, 1);
        }
        for (index, row) in wanted.into_iter().enumerate() {
            if self.rows[index] != Some(row) {
                fill(row, &mut self.data[index]);
                self.rows[index] = Some(row);
            }
        }
        [&self.data[0], &self.data[1]]
    }
}

/// Bits that are dropped from a sample between both passes, so that it has 16 bits.
const DROPPED_BITS: u32 = 4;

/// The taps along the columns.
enum Columns {
    Shuffled(shuffle::Plan),
    Gathered(GatheredTaps),
}

impl Columns {
    fn new(taps: &[Tap], count: usize) -> Columns {
        let of_tap = |tap: &Tap| {
            let (at, weights) = (tap.at * count, tap.weights);
            (0..count).map(move |index| ([at + index, at + index + count], weights))
        };
        let samples: Vec<_> = taps.iter().flat_map(of_tap).collect();
        if let Some(plan) = shuffle::Plan::new(&samples) {
            return Columns::Shuffled(plan);
        }
        Columns::Gathered(GatheredTaps::new(taps, count))
    }

    /// Interpolates a row, which has one more group than the image, and [`shuffle::READ_BEHIND`] bytes.
    fn blend(&mut self, source: &[u8], line: &mut [u16]) {
        match self {
            Columns::Shuffled(plan) => plan.blend(source, line),
            Columns::Gathered(gathered) => gathered.blend(source, line),
        }
    }
}

/// Taps whose samples are gathered first, so that vectors compute the products.
struct GatheredTaps {
    /// The first group of each tap; the second one is its neighbour on the right.
    at: Vec<usize>,
    /// The weights of both groups, for each sample.
    weights: [Vec<i16>; 2],
    /// The samples of both groups: the second one in the upper half.
    pairs: Vec<u16>,
    count: usize,
}

impl GatheredTaps {
    /// A tap at an edge has one group with the complete weight, and the weight of the other is 0.
    fn new(taps: &[Tap], count: usize) -> GatheredTaps {
        let weights = |index: usize| {
            let each = taps.iter().map(|tap| tap.weights[index] as i16);
            each.flat_map(|weight| std::iter::repeat_n(weight, count))
                .collect()
        };
        GatheredTaps {
            at: taps.iter().map(|tap| tap.at).collect(),
            weights: [weights(0), weights(1)],
            pairs: vec![0; taps.len() * count],
            count,
        }
    }

    fn blend(&mut self, source: &[u8], line: &mut [u16]) {
        match self.count {
            1 => self.gather::<1>(source),
            2 => self.gather::<2>(source),
            3 => self.gather::<3>(source),
            _ => self.gather::<4>(source),
        }
        let product = |sample: u16, weight: i16| i32::from(sample as i16) * i32::from(weight);
        let weights = self.weights[0].iter().zip(&self.weights[1]);
        for ((to, pair), (first, second)) in line.iter_mut().zip(&self.pairs).zip(weights) {
            let sum = product(pair & 0xFF, *first) + product(pair >> 8, *second);
            *to = (sum >> DROPPED_BITS) as u16;
        }
    }

    fn gather<const COUNT: usize>(&mut self, source: &[u8]) {
        let (groups, _) = source.as_chunks::<COUNT>();
        let (pairs, _) = self.pairs.as_chunks_mut::<COUNT>();
        for (to, at) in pairs.iter_mut().zip(&self.at) {
            if let Some([first, second]) = groups.get(*at..at + 2) {
                *to =
                    std::array::from_fn(|index| u16::from_le_bytes([first[index], second[index]]));
            }
        }
    }
}

/// Interpolates between two rows.
fn blend_rows(upper: &[u16], lower: &[u16], weights: [i32; 2], out: &mut [u8]) {
    let [first, second] = weights.map(|weight| weight as u16);
    // The upper half of a product of 16 bits without sign, which every vector unit computes in one instruction.
    let high = |sample: u16, weight: u16| ((u32::from(sample) * u32::from(weight)) >> 16) as u16;
    for ((to, upper), lower) in out.iter_mut().zip(upper).zip(lower) {
        let sum = high(*upper, first) + high(*lower, second);
        *to = ((sum + 2) >> 2).min(255) as u8;
    }
}

/// Resizes a component's plane.
pub(crate) fn resize_samples(
    from: &Samples,
    width: usize,
    height: usize,
    filter: Filter,
) -> Samples {
    let mut to = Samples::filled(width, height, 0);
    let part = Part {
        memory: &from.data,
        offset: 0,
        stride: from.width,
        width: from.width,
        height: from.height,
        count: 1,
    };
    resize(&part, (width, height), filter, |row, samples| {
        to.row_mut(row).copy_from_slice(samples);
    });
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instructions of the processor compute what plain code computes, for each number of components and scales of both kinds.
    #[test]
    fn shuffled_and_gathered_rows_are_equal() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut shuffled_sizes = 0;
        for _ in 0..400 {
            let count = random.usize(1..=4);
            let (width, target) = (random.usize(2..200), random.usize(1..200));
            let taps = taps(Filter::Bilinear, width, target, true);
            let mut source: Vec<u8> = (0..width * count).map(|_| random.u8(..)).collect();
            source.resize(source.len() + count + shuffle::READ_BEHIND, 0);
            let mut lines = [(); 2].map(|()| vec![0; (target * count).next_multiple_of(4)]);
            let mut columns = Columns::new(&taps, count);
            shuffled_sizes += usize::from(matches!(columns, Columns::Shuffled(_)));
            columns.blend(&source, &mut lines[0]);
            GatheredTaps::new(&taps, count).blend(&source, &mut lines[1]);
            assert_eq!(
                lines[0][..target * count],
                lines[1][..target * count],
                "{count} components, {width} to {target}"
            );
        }
        assert_eq!(shuffled_sizes > 100, shuffle::is_supported());
    }
}
