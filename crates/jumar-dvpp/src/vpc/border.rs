//! Borders around images.

use crate::Result;
use crate::error::refuse;
use crate::format::Color;
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};

/// What a border consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BorderKind {
    /// One value for each component.
    Constant,
    /// The nearest sample of the image.
    Replicate,
    /// The image mirrored, with its edge.
    Reflect,
    /// The image mirrored, without its edge.
    Reflect101,
}

impl BorderKind {
    /// Finds the kind for a value of `acldvppBorderType`.
    ///
    /// # Errors
    /// No such value exists.
    pub fn from_number(number: u32) -> Result<BorderKind> {
        Ok(match number {
            0 => BorderKind::Constant,
            1 => BorderKind::Replicate,
            2 => BorderKind::Reflect,
            3 => BorderKind::Reflect101,
            _ => refuse!("the border type is {number}; 0 to 3 exist"),
        })
    }
}

/// A border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The columns on the left.
    pub left: usize,
    /// The columns on the right.
    pub right: usize,
    /// The rows above.
    pub top: usize,
    /// The rows below.
    pub bottom: usize,
    /// What it consists of.
    pub kind: BorderKind,
    /// The value of each component for a constant border: Y, U, V, or red, green, blue, alpha.
    pub values: [u8; 4],
}

/// Returns the sample that a position before, in or behind `length` samples takes; `None` outside for a constant border.
fn source_of(position: isize, length: usize, kind: BorderKind) -> Option<usize> {
    let last = length as isize - 1;
    let inside = match kind {
        _ if (0..=last).contains(&position) => position,
        BorderKind::Constant => return None,
        BorderKind::Replicate => position.clamp(0, last),
        BorderKind::Reflect if position < 0 => -position - 1,
        BorderKind::Reflect => 2 * last + 1 - position,
        BorderKind::Reflect101 if position < 0 => -position,
        BorderKind::Reflect101 => 2 * last - position,
    };
    // A chroma plane may be one sample shorter than its border wants.
    Some(inside.clamp(0, last) as usize)
}

/// Returns an image with a border; `width` and `height` are those of the result.
pub(crate) fn surround(
    planar: &PlanarImage,
    border: &Border,
    width: usize,
    height: usize,
) -> PlanarImage {
    let planes = planar.planes.iter().enumerate().map(|(component, plane)| {
        let (new_width, new_height) = planar.plane_size(component, width, height);
        let is_chroma = planar.color == Color::Yuv && component > 0;
        let shift = |halved: bool| usize::from(is_chroma && halved);
        let left = (border.left >> shift(planar.halves.0)) as isize;
        let top = (border.top >> shift(planar.halves.1)) as isize;
        let columns: Vec<Option<usize>> = (0..new_width as isize)
            .map(|column| source_of(column - left, plane.width, border.kind))
            .collect();
        let value = border.values[component];
        let mut data = Vec::with_capacity(new_width * new_height);
        for row in 0..new_height as isize {
            match source_of(row - top, plane.height, border.kind) {
                None => data.resize(data.len() + new_width, value),
                Some(row) => {
                    let from = plane.row(row);
                    data.extend(
                        columns
                            .iter()
                            .map(|column| column.map_or(value, |at| from[at])),
                    );
                }
            }
        }
        Samples {
            width: new_width,
            height: new_height,
            data,
        }
    });
    PlanarImage {
        planes: planes.collect(),
        width,
        height,
        ..*planar
    }
}

/// Copies an image into one that is larger by a border.
///
/// # Errors
/// The formats differ, the sizes do not fit, a mirrored border is not smaller than the image, or memory is too small.
pub fn make_border(
    source: &Image,
    target: &Image,
    border: &Border,
    memory: Option<(&dyn Source, &dyn Sink, &dyn Source)>,
) -> Result<()> {
    if source.format != target.format {
        refuse!(
            "the input is {} and the output {}; a border keeps the format",
            source.format.name(),
            target.format.name()
        );
    }
    let sum = |parts: [usize; 3]| parts.into_iter().fold(0, usize::saturating_add);
    let width = sum([border.left, source.width, border.right]);
    let height = sum([border.top, source.height, border.bottom]);
    if (target.width, target.height) != (width, height) {
        refuse!(
            "the output is {}x{}; the input of {}x{} with its borders has {width}x{height}",
            target.width,
            target.height,
            source.width,
            source.height
        );
    }
    if matches!(border.kind, BorderKind::Reflect | BorderKind::Reflect101) {
        let widest = border.left.max(border.right);
        let highest = border.top.max(border.bottom);
        if widest >= source.width || highest >= source.height {
            refuse!(
                "a mirrored border of {widest} columns and {highest} rows is not smaller than the image of {}x{}",
                source.width,
                source.height
            );
        }
    }
    let Some((from, to, old)) = memory else {
        return Ok(());
    };
    source.check_memory(from.bytes())?;
    target.check_memory(to.bytes())?;
    let planar = PlanarImage::load(source, source.rect(), from);
    surround(&planar, border, width, height).store(target, 0, 0, to, old);
    Ok(())
}
