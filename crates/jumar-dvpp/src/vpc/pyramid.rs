//! The step of a pyramid: an image is smoothed, and every other row and column is kept.

use super::border::{Border, BorderKind, surround};
use crate::Result;
use crate::error::refuse;
use crate::format::{Color, Format};
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};

/// The taps of the filter along an axis.
const TAPS: usize = 5;
/// What the filter reads beyond an edge.
const REACH: usize = TAPS / 2;

/// How a pyramid smooths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smoothing {
    /// The weights, row by row.
    pub kernel: [[i8; TAPS]; TAPS],
    /// What the sum is divided by: a power of two.
    pub divisor: u16,
    /// What lies beyond the edges.
    pub kind: BorderKind,
    /// The value beyond the edges for a constant border.
    pub value: u8,
}

impl Default for Smoothing {
    fn default() -> Smoothing {
        Smoothing {
            kernel: [
                [1, 4, 6, 4, 1],
                [4, 16, 24, 16, 4],
                [6, 24, 36, 24, 6],
                [4, 16, 24, 16, 4],
                [1, 4, 6, 4, 1],
            ],
            divisor: 256,
            kind: BorderKind::Reflect101,
            value: 0,
        }
    }
}

impl Smoothing {
    /// Returns the weights along rows and along columns, if the kernel is their product.
    fn factors(&self) -> Option<([i32; TAPS], [i32; TAPS])> {
        let kernel = self.kernel.map(|row| row.map(i32::from));
        if kernel[0][0] != 1 {
            return None;
        }
        let (rows, columns) = (kernel.map(|row| row[0]), kernel[0]);
        let is_product = (0..TAPS * TAPS).all(|at| {
            let (row, column) = (at / TAPS, at % TAPS);
            kernel[row][column] == rows[row] * columns[column]
        });
        is_product.then_some((rows, columns))
    }

    /// Returns the sample for a sum of weighted samples: the quotient, rounded half up.
    fn sample(&self, sum: i32) -> u8 {
        let divisor = i32::from(self.divisor);
        ((sum + divisor / 2) >> divisor.trailing_zeros()).clamp(0, 255) as u8
    }

    /// Returns the samples of every other row and column of a plane that has a border of [`REACH`].
    fn apply(&self, plane: &Samples, width: usize, height: usize) -> Vec<u8> {
        let mut data = Vec::with_capacity(width * height);
        let at_column = |sums: &[i32], weights: &[i32; TAPS], column: usize| -> i32 {
            let sums = &sums[2 * column..2 * column + TAPS];
            sums.iter()
                .zip(weights)
                .map(|(sum, weight)| sum * weight)
                .sum()
        };
        if let Some((rows, columns)) = self.factors() {
            let mut sums = vec![0i32; plane.width];
            for row in 0..height {
                sums.fill(0);
                for (step, weight) in rows.iter().enumerate() {
                    for (sum, sample) in sums.iter_mut().zip(plane.row(2 * row + step)) {
                        *sum += weight * i32::from(*sample);
                    }
                }
                data.extend(
                    (0..width).map(|column| self.sample(at_column(&sums, &columns, column))),
                );
            }
            return data;
        }
        let kernel = self.kernel.map(|row| row.map(i32::from));
        let mut samples = vec![0i32; plane.width];
        let mut sums = vec![0i32; width];
        for row in 0..height {
            sums.fill(0);
            for (step, weights) in kernel.iter().enumerate() {
                for (to, from) in samples.iter_mut().zip(plane.row(2 * row + step)) {
                    *to = i32::from(*from);
                }
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum += at_column(&samples, weights, column);
                }
            }
            data.extend(sums.iter().map(|sum| self.sample(*sum)));
        }
        data
    }
}

/// Smooths luma and keeps every other row and column. Without memory, checks alone.
///
/// # Errors
/// An image is not luma alone, the output is not half as large, the divisor is not a power of two, or memory is too small.
pub fn pyramid_down(
    source: &Image,
    target: &Image,
    smoothing: &Smoothing,
    memory: Option<(&dyn Source, &dyn Sink, &dyn Source)>,
) -> Result<()> {
    for (image, name) in [(source, "input"), (target, "output")] {
        if image.format.color() != Color::Gray {
            refuse!(
                "the {name} is {}; a pyramid takes and makes {}",
                image.format.name(),
                Format::Yuv400.name()
            );
        }
    }
    if !smoothing.divisor.is_power_of_two() {
        refuse!(
            "the divisor is {}; it must be a power of two",
            smoothing.divisor
        );
    }
    let size = (source.width / 2, source.height / 2);
    if (target.width, target.height) != size {
        refuse!(
            "the output is {}x{}; half of the input of {}x{} is {}x{}",
            target.width,
            target.height,
            source.width,
            source.height,
            size.0,
            size.1
        );
    }
    if source.width <= REACH || source.height <= REACH {
        refuse!(
            "the input is {}x{}; mirrored edges need at least 3x3",
            source.width,
            source.height
        );
    }
    let Some((from, to, old)) = memory else {
        return Ok(());
    };
    source.check_memory(from.bytes())?;
    target.check_memory(to.bytes())?;
    let mut planar = PlanarImage::load(source, source.rect(), from);
    let edges = Border {
        left: REACH,
        right: REACH,
        top: REACH,
        bottom: REACH,
        kind: smoothing.kind,
        values: [smoothing.value; 4],
    };
    let with_edges = surround(
        &planar,
        &edges,
        source.width + 2 * REACH,
        source.height + 2 * REACH,
    );
    planar.planes = vec![Samples {
        width: size.0,
        height: size.1,
        data: smoothing.apply(&with_edges.planes[0], size.0, size.1),
    }];
    (planar.width, planar.height) = size;
    planar.store(target, 0, 0, to, old);
    Ok(())
}
