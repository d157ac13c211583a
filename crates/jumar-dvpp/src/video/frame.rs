//! A decoded frame.

use crate::format::Color;
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};
use crate::vpc::{self, Filter, Matrix};
use crate::{ImageError, Result};

/// A decoded frame: YUV with eight bits a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    planar: PlanarImage,
    /// The position in the order of display, since the period began.
    pub(super) position: i32,
}

impl Frame {
    /// Creates a frame from its planes.
    ///
    /// # Errors
    /// A plane has another size than the frame says.
    pub(super) fn new(
        size: (usize, usize),
        halves: (bool, bool),
        planes: [Vec<u8>; 3],
        position: i32,
    ) -> Result<Frame> {
        let mut planar = PlanarImage {
            color: Color::Yuv,
            width: size.0,
            height: size.1,
            halves,
            planes: Vec::with_capacity(3),
        };
        for (component, data) in planes.into_iter().enumerate() {
            let (width, height) = planar.plane_size(component, size.0, size.1);
            super::engine::check_plane(data.len(), width, height)?;
            planar.planes.push(Samples {
                width,
                height,
                data,
            });
        }
        Ok(Frame { planar, position })
    }

    /// Returns the columns.
    pub fn width(&self) -> usize {
        self.planar.width
    }

    /// Returns the rows.
    pub fn height(&self) -> usize {
        self.planar.height
    }

    /// Returns the planes Y, U and V.
    pub fn planes(&self) -> &[Samples] {
        &self.planar.planes
    }

    /// Writes the frame in the target's format and size. A target of another size is filled with the scaled frame.
    ///
    /// # Errors
    /// The memory is smaller than the target needs; the format cannot be written.
    pub fn store(
        self,
        target: &Image,
        matrix: Matrix,
        to: &dyn Sink,
        old: &dyn Source,
    ) -> Result<()> {
        target.check_memory(to.bytes())?;
        if target.width == 0 || target.height == 0 {
            return Err(ImageError::new("the output has no pixels"));
        }
        vpc::overwrite(self.planar, target, Filter::Bilinear, matrix, to, old)
    }
}
