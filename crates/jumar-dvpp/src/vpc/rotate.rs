//! Rotation and mirroring.

use crate::Result;
use crate::error::refuse;
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};

/// How far an image is rotated, clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// By 90 degrees.
    Quarter,
    /// By 180 degrees.
    Half,
    /// By 270 degrees.
    ThreeQuarters,
}

impl Rotation {
    /// Finds the rotation for a value of `hi_rotation`.
    ///
    /// # Errors
    /// No such value exists.
    pub fn from_number(number: u32) -> Result<Rotation> {
        Ok(match number {
            0 => Rotation::Quarter,
            1 => Rotation::Half,
            2 => Rotation::ThreeQuarters,
            _ => refuse!("the angle is {number}; 0 to 2 exist"),
        })
    }

    fn symmetry(self) -> Symmetry {
        match self {
            Rotation::Quarter => Symmetry {
                transposes: true,
                mirrors_columns: true,
                mirrors_rows: false,
            },
            Rotation::Half => Symmetry {
                transposes: false,
                mirrors_columns: true,
                mirrors_rows: true,
            },
            Rotation::ThreeQuarters => Symmetry {
                transposes: true,
                mirrors_columns: false,
                mirrors_rows: true,
            },
        }
    }
}

/// A rotation, a mirroring, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symmetry {
    /// Exchanges rows and columns, before the rest.
    pub(crate) transposes: bool,
    /// Exchanges left and right.
    pub(crate) mirrors_columns: bool,
    /// Exchanges above and below.
    pub(crate) mirrors_rows: bool,
}

/// Returns the turned image. Chroma that has half of the width has half of the height after an exchange of rows and columns.
pub(crate) fn transformed(planar: &PlanarImage, symmetry: Symmetry) -> PlanarImage {
    let turned = planar.planes.iter().map(|plane| {
        let (width, height) = match symmetry.transposes {
            true => (plane.height, plane.width),
            false => (plane.width, plane.height),
        };
        let mut data = Vec::with_capacity(width * height);
        for row in 0..height {
            let row = if symmetry.mirrors_rows {
                height - 1 - row
            } else {
                row
            };
            for column in 0..width {
                let column = if symmetry.mirrors_columns {
                    width - 1 - column
                } else {
                    column
                };
                data.push(match symmetry.transposes {
                    true => plane.data[column * plane.width + row],
                    false => plane.data[row * plane.width + column],
                });
            }
        }
        Samples {
            width,
            height,
            data,
        }
    });
    let planes = turned.collect();
    let (width, height, halves) = match symmetry.transposes {
        true => (
            planar.height,
            planar.width,
            (planar.halves.1, planar.halves.0),
        ),
        false => (planar.width, planar.height, planar.halves),
    };
    PlanarImage {
        color: planar.color,
        width,
        height,
        halves,
        planes,
    }
}

/// Rotates an image. Without memory, checks alone.
///
/// # Errors
/// The formats differ, the sizes do not fit, chroma is halved along one axis that becomes the other, or memory is too small.
pub fn rotate(
    source: &Image,
    target: &Image,
    rotation: Rotation,
    memory: Option<(&dyn Source, &dyn Sink, &dyn Source)>,
) -> Result<()> {
    if source.format != target.format {
        refuse!(
            "the input is {} and the output {}; a rotation keeps the format",
            source.format.name(),
            target.format.name()
        );
    }
    let turned = rotation.symmetry();
    let (halves_width, halves_height) = source.format.halves();
    if turned.transposes && halves_width != halves_height {
        refuse!(
            "{} has half of the chroma along one axis, and would have it along the other one after a rotation by 90 or 270 degrees",
            source.format.name()
        );
    }
    let size = match turned.transposes {
        true => (source.height, source.width),
        false => (source.width, source.height),
    };
    if (target.width, target.height) != size {
        refuse!(
            "the output is {}x{}; the rotated input of {}x{} has {}x{}",
            target.width,
            target.height,
            source.width,
            source.height,
            size.0,
            size.1
        );
    }
    let Some((from, to, old)) = memory else {
        return Ok(());
    };
    source.check_memory(from.bytes())?;
    target.check_memory(to.bytes())?;
    let planar = PlanarImage::load(source, source.rect(), from);
    transformed(&planar, turned).store(target, 0, 0, to, old);
    Ok(())
}
