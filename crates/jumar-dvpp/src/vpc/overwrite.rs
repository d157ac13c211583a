//! Writing of an image that is not in memory yet.

use super::convert::{Matrix, convert};
use super::resize::{Filter, resize_samples};
use crate::Result;
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::PlanarImage;

/// Resizes and converts an image, and writes it over the target. The caller has checked the target's memory.
///
/// # Errors
/// The formats cannot be converted.
pub(crate) fn overwrite(
    mut planar: PlanarImage,
    target: &Image,
    filter: Filter,
    matrix: Matrix,
    to: &dyn Sink,
    old: &dyn Source,
) -> Result<()> {
    let size = (target.width, target.height);
    if size != (planar.width, planar.height) {
        for component in 0..planar.planes.len() {
            let (width, height) = planar.plane_size(component, size.0, size.1);
            let plane = &planar.planes[component];
            planar.planes[component] = resize_samples(plane, width, height, filter);
        }
        (planar.width, planar.height) = size;
    }
    let planar = convert(planar, target.format, matrix)?;
    planar.store(target, 0, 0, to, old);
    Ok(())
}
