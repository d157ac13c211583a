//! Histograms, look-up tables, and the step of a pyramid.

use crate::Result;
use crate::error::refuse;
use crate::format::{Color, Format};
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};

/// The values that a sample can have.
pub const HISTOGRAM_BINS: usize = 256;

/// How often each value occurs, for each of three components.
pub type Histogram = [[u32; HISTOGRAM_BINS]; 3];

/// The new value of each value, for each of three components.
pub type SampleTables = [[u8; HISTOGRAM_BINS]; 3];

/// Counts the values of each component, chroma at its own resolution.
///
/// # Errors
/// Memory is smaller than the image.
pub fn count(image: &Image, from: &dyn Source) -> Result<Histogram> {
    image.check_memory(from.bytes())?;
    let mut counts = [[0; HISTOGRAM_BINS]; 3];
    let planar = PlanarImage::load(image, image.rect(), from);
    for (counts, plane) in counts.iter_mut().zip(&planar.planes) {
        for sample in &plane.data {
            counts[usize::from(*sample)] += 1;
        }
    }
    Ok(counts)
}

/// Replaces each sample by the value that its component's table has for it. Alpha is copied.
///
/// # Errors
/// Memory is smaller than the image, or format or size of the images differ.
pub fn apply_tables(
    source: &Image,
    target: &Image,
    tables: &SampleTables,
    (from, to, old): (&dyn Source, &dyn Sink, &dyn Source),
) -> Result<()> {
    if source.format != target.format || source.rect() != target.rect() {
        refuse!("the output must have the input's format and size");
    }
    source.check_memory(from.bytes())?;
    target.check_memory(to.bytes())?;
    let mut planar = PlanarImage::load(source, source.rect(), from);
    for (table, plane) in tables.iter().zip(&mut planar.planes) {
        for sample in &mut plane.data {
            *sample = table[usize::from(*sample)];
        }
    }
    planar.store(target, 0, 0, to, old);
    Ok(())
}

/// The weights of the filter along an axis; their sum is 16.
const KERNEL: [u32; 5] = [1, 4, 6, 4, 1];

/// Smooths luma and keeps every other row and column.
///
/// # Errors
/// An image is not luma alone, the output is not half as large, or memory is too small.
pub fn pyramid_down(
    source: &Image,
    target: &Image,
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
    if source.width < 3 || source.height < 3 {
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
    let plane = &planar.planes[0];
    let mirrored = |at: isize, length: usize| {
        let last = length as isize - 1;
        let at = at.abs();
        (if at > last { 2 * last - at } else { at }) as usize
    };
    let mut data = Vec::with_capacity(size.0 * size.1);
    let mut sums = vec![0u32; source.width];
    for row in 0..size.1 {
        sums.fill(0);
        for (weight, step) in KERNEL.iter().zip(-2isize..) {
            let from = plane.row(mirrored(2 * row as isize + step, source.height));
            for (sum, sample) in sums.iter_mut().zip(from) {
                *sum += weight * u32::from(*sample);
            }
        }
        for column in 0..size.0 {
            let sum: u32 = KERNEL
                .iter()
                .zip(-2isize..)
                .map(|(weight, step)| {
                    weight * sums[mirrored(2 * column as isize + step, source.width)]
                })
                .sum();
            data.push(((sum + 128) >> 8) as u8);
        }
    }
    planar.planes = vec![Samples {
        width: size.0,
        height: size.1,
        data,
    }];
    (planar.width, planar.height) = size;
    planar.store(target, 0, 0, to, old);
    Ok(())
}
