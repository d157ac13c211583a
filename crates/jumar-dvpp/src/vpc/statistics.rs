//! Histograms and look-up tables.

use crate::Result;
use crate::error::refuse;
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::PlanarImage;

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
