//! Images in memory: a format, a size and strides.

use crate::error::refuse;
use crate::format::{Format, Layout, Plane};
use crate::{ImageError, Result};

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// The first column.
    pub left: usize,
    /// The first row.
    pub top: usize,
    /// The columns.
    pub width: usize,
    /// The rows.
    pub height: usize,
}

impl Rect {
    /// Creates the rectangle from its inclusive edges. Returns `None` where one edge lies beyond its opposite.
    pub fn of_edges(left: u32, right: u32, top: u32, bottom: u32) -> Option<Rect> {
        let [left, right, top, bottom] = [left, right, top, bottom].map(|edge| edge as usize);
        (left <= right && top <= bottom).then(|| Rect {
            left,
            top,
            width: right - left + 1,
            height: bottom - top + 1,
        })
    }
}

/// The shape of an image in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The pixel format.
    pub format: Format,
    /// The columns.
    pub width: usize,
    /// The rows.
    pub height: usize,
    /// The bytes from a row of the first plane to the next one.
    pub width_stride: usize,
    /// The rows of the first plane in memory.
    pub height_stride: usize,
}

/// A plane of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneArea {
    /// What the plane has.
    pub(crate) plane: Plane,
    /// The offset of its first byte.
    pub(crate) offset: usize,
    /// The bytes from a row to the next one.
    pub(crate) stride: usize,
}

impl Image {
    /// Returns the image as a rectangle.
    pub fn rect(&self) -> Rect {
        Rect {
            left: 0,
            top: 0,
            width: self.width,
            height: self.height,
        }
    }

    /// Returns the bytes that the image takes.
    ///
    /// # Errors
    /// The strides exceed the address space.
    pub fn size(&self) -> Result<usize> {
        self.format
            .size(self.width_stride, self.height_stride)
            .ok_or_else(|| {
                ImageError::new(format!(
                    "the strides {} and {} exceed the address space",
                    self.width_stride, self.height_stride
                ))
            })
    }

    /// Lists the planes; none for a format that packs 4:2:2 into one.
    pub(crate) fn planes(&self) -> Vec<PlaneArea> {
        let Layout::Planes(planes) = self.format.layout() else {
            return Vec::new();
        };
        let mut offset = 0;
        planes
            .iter()
            .map(|plane| {
                let area = PlaneArea {
                    plane: *plane,
                    offset,
                    stride: plane.stride(self.width_stride),
                };
                offset += area.stride * plane.rows(self.height_stride);
                area
            })
            .collect()
    }

    /// Checks that rows fit into their strides and the image into `bytes`.
    ///
    /// # Errors
    /// The field, its value, and the least value.
    pub fn check_memory(&self, bytes: usize) -> Result<()> {
        let row = self.format.row_bytes(self.width);
        if self.width_stride < row {
            refuse!(
                "the width stride is {}; a row of {} pixels of {} has {row} bytes",
                self.width_stride,
                self.width,
                self.format.name()
            );
        }
        let (_, halves_height) = self.format.halves();
        let rows = match halves_height {
            true => self.height.next_multiple_of(2),
            false => self.height,
        };
        if self.height_stride < rows {
            refuse!(
                "the height stride is {}; an image of {} rows needs {rows}",
                self.height_stride,
                self.height
            );
        }
        if halves_height && !self.height_stride.is_multiple_of(2) {
            refuse!(
                "the height stride is {}; it must be even for {}",
                self.height_stride,
                self.format.name()
            );
        }
        // A chroma row of a planar format has half the bytes of a luma row.
        let (halves_width, _) = self.format.halves();
        if halves_width && !self.width_stride.is_multiple_of(2) {
            refuse!(
                "the width stride is {}; it must be even for {}",
                self.width_stride,
                self.format.name()
            );
        }
        let needed = self.size()?;
        if bytes < needed {
            refuse!(
                "the size is {bytes}; {} of {}x{} with strides {} and {} needs {needed} bytes",
                self.format.name(),
                self.width,
                self.height,
                self.width_stride,
                self.height_stride
            );
        }
        Ok(())
    }

    /// Checks that a rectangle lies inside.
    ///
    /// # Errors
    /// The rectangle and the image's size.
    pub fn check_inside(&self, rect: Rect) -> Result<()> {
        let fits = |start: usize, length: usize, total: usize| {
            length > 0 && start.checked_add(length).is_some_and(|end| end <= total)
        };
        if !fits(rect.left, rect.width, self.width) || !fits(rect.top, rect.height, self.height) {
            refuse!(
                "the region with left {}, top {}, width {} and height {} does not lie inside the image of {}x{}",
                rect.left,
                rect.top,
                rect.width,
                rect.height,
                self.width,
                self.height
            );
        }
        Ok(())
    }
}
