//! Images as component planes of their own, between memory and memory.

use jumar_pixels::rows::{gather, interleave, scatter, separate};

use crate::format::{Color, Format, Layout, halved};
use crate::image::{Image, PlaneArea, Rect};
use crate::memory::{Sink, Source};
use crate::scratch::Scratch;

/// The samples of one component, row by row without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The samples of a row.
    pub width: usize,
    /// The rows.
    pub height: usize,
    /// The samples.
    pub data: Vec<u8>,
}

impl Samples {
    /// Creates a plane of one value.
    pub fn filled(width: usize, height: usize, value: u8) -> Samples {
        Samples {
            width,
            height,
            data: vec![value; width * height],
        }
    }

    /// Returns a row.
    pub fn row(&self, row: usize) -> &[u8] {
        &self.data[row * self.width..(row + 1) * self.width]
    }

    /// Returns a row for writing.
    pub fn row_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.data[row * self.width..(row + 1) * self.width]
    }

    /// Returns the plane with another size: cut, or continued by its last column and row.
    pub fn with_size(&self, width: usize, height: usize) -> Samples {
        let mut data = Vec::with_capacity(width * height);
        for row in 0..height {
            let from = self.row(row.min(self.height - 1));
            data.extend_from_slice(&from[..width.min(self.width)]);
            let last = from[self.width - 1];
            data.resize((row + 1) * width, last);
        }
        Samples {
            width,
            height,
            data,
        }
    }
}

/// An image in component planes. Chroma planes may be halved; the others have the image's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanarImage {
    /// What the components are.
    pub color: Color,
    /// The columns.
    pub width: usize,
    /// The rows.
    pub height: usize,
    /// Whether chroma planes have half of the width, and of the height.
    pub halves: (bool, bool),
    /// The components in the order of [`Color`].
    pub planes: Vec<Samples>,
}

/// Returns the part of a component's plane that belongs to a rectangle of pixels.
fn part(rect: Rect, halves: (bool, bool)) -> Rect {
    let start = |pixel: usize, is_halved: bool| pixel >> usize::from(is_halved);
    Rect {
        left: start(rect.left, halves.0),
        top: start(rect.top, halves.1),
        width: halved(rect.width, halves.0),
        height: halved(rect.height, halves.1),
    }
}

impl PlanarImage {
    /// Creates an image of one value in each component.
    pub fn filled(format: Format, width: usize, height: usize, values: [u8; 4]) -> PlanarImage {
        let (color, halves) = (format.color(), format.halves());
        let planes = (0..color.components())
            .map(|component| {
                let (width, height) = component_size(color, halves, component, width, height);
                Samples::filled(width, height, values[component])
            })
            .collect();
        PlanarImage {
            color,
            width,
            height,
            halves,
            planes,
        }
    }

    /// Returns the size of a component's plane for an image of this kind.
    pub fn plane_size(&self, component: usize, width: usize, height: usize) -> (usize, usize) {
        component_size(self.color, self.halves, component, width, height)
    }

    /// Copies a rectangle out of memory. The caller has checked the image and the rectangle.
    pub fn load(image: &Image, rect: Rect, from: &dyn Source) -> PlanarImage {
        let mut planar = PlanarImage::filled(image.format, rect.width, rect.height, [0; 4]);
        match image.format.layout() {
            Layout::Planes(_) => {
                for area in image.planes() {
                    planar.load_area(&area, rect, from);
                }
            }
            Layout::Packed422(positions) => {
                // A region that begins with the second pixel of a pair begins inside four bytes.
                let first = rect.left / 2;
                let skipped = rect.left % 2;
                let pairs = (rect.left + rect.width).div_ceil(2) - first;
                let mut bytes = vec![0; pairs * 4];
                for row in 0..rect.height {
                    from.read(
                        (rect.top + row) * image.width_stride + first * 4,
                        &mut bytes,
                    );
                    let luma = planar.planes[0].row_mut(row);
                    for (column, sample) in luma.iter_mut().enumerate() {
                        let at = column + skipped;
                        *sample = bytes[at / 2 * 4 + usize::from(positions[at % 2])];
                    }
                    for component in 1..3 {
                        let position = usize::from(positions[component + 1]);
                        gather(&bytes, 4, position, planar.planes[component].row_mut(row));
                    }
                }
            }
        }
        planar
    }

    /// Returns the image with planes of exactly its size; what they have beyond is cut.
    pub fn cropped(mut self) -> PlanarImage {
        for component in 0..self.planes.len() {
            let (width, height) = self.plane_size(component, self.width, self.height);
            let plane = &mut self.planes[component];
            if (plane.width, plane.height) != (width, height) {
                *plane = plane.with_size(width, height);
            }
        }
        self
    }

    /// Returns a rectangle of the image, which the caller has checked to lie inside. Chroma of an odd edge begins with the sample that
    /// covers it.
    pub fn region(&self, rect: Rect) -> PlanarImage {
        let mut result = PlanarImage {
            color: self.color,
            width: rect.width,
            height: rect.height,
            halves: self.halves,
            planes: Vec::new(),
        };
        for (component, plane) in self.planes.iter().enumerate() {
            let (width, height) = self.plane_size(component, rect.width, rect.height);
            // A plane of the image's own size is not halved.
            let is_luma = component == 0 || self.color != Color::Yuv;
            let halves = if is_luma { (false, false) } else { self.halves };
            let inside = part(rect, halves);
            let rows = inside.top..inside.top + height;
            let columns = inside.left..inside.left + width;
            let data = rows.flat_map(|row| &plane.row(row)[columns.clone()]);
            result.planes.push(Samples {
                width,
                height,
                data: data.copied().collect(),
            });
        }
        result
    }

    /// Copies the components of an image from `first` on out of memory, to buffers of `scratch`. Earlier ones have no samples. The caller
    /// has checked the image, whose planes have no component of an earlier one.
    pub(crate) fn load_from(
        first: usize,
        image: &Image,
        from: &dyn Source,
        scratch: &mut Scratch,
    ) -> PlanarImage {
        let mut planar = PlanarImage::filled(image.format, 0, 0, [0; 4]);
        (planar.width, planar.height) = (image.width, image.height);
        for component in first..planar.planes.len() {
            let (width, height) = planar.plane_size(component, image.width, image.height);
            planar.planes[component] = Samples {
                width,
                height,
                data: scratch.take(width * height),
            };
        }
        for area in image.planes().iter().skip(first) {
            planar.load_area(area, image.rect(), from);
        }
        planar
    }

    /// Returns the buffers of the planes to `scratch`.
    pub(crate) fn recycle(self, scratch: &mut Scratch) {
        let used = self
            .planes
            .into_iter()
            .filter(|plane| !plane.data.is_empty());
        used.for_each(|plane| scratch.put(plane.data));
    }

    /// Copies the part of a plane in memory that belongs to a rectangle into the planes of its components.
    pub(crate) fn load_area(&mut self, area: &PlaneArea, rect: Rect, from: &dyn Source) {
        let inside = part(rect, (area.plane.halves_width, area.plane.halves_height));
        let count = area.plane.components.len();
        let mut bytes = vec![0; inside.width * count];
        for row in 0..inside.height {
            let start = area.offset + (inside.top + row) * area.stride;
            if let [component] = area.plane.components {
                let to = self.planes[usize::from(*component)].row_mut(row);
                from.read(start + inside.left, to);
                continue;
            }
            from.read(start + inside.left * count, &mut bytes);
            if let [first, second] = *area.plane.components {
                let indices = [usize::from(first), usize::from(second)];
                if let Ok([first, second]) = self.planes.get_disjoint_mut(indices) {
                    separate(&bytes, first.row_mut(row), second.row_mut(row));
                }
                continue;
            }
            for (index, component) in area.plane.components.iter().enumerate() {
                let to = self.planes[usize::from(*component)].row_mut(row);
                gather(&bytes, count, index, to);
            }
        }
    }

    /// Copies the components of a plane in memory there, to a rectangle of the image's size.
    pub(crate) fn store_area(&self, area: &PlaneArea, rect: Rect, to: &dyn Sink) {
        let inside = part(rect, (area.plane.halves_width, area.plane.halves_height));
        let count = area.plane.components.len();
        let mut bytes = vec![0; inside.width * count];
        for row in 0..inside.height {
            let start = area.offset + (inside.top + row) * area.stride;
            let plane =
                |component: u8| &self.planes[usize::from(component)].row(row)[..inside.width];
            match *area.plane.components {
                [component] => {
                    to.write(start + inside.left, plane(component));
                    continue;
                }
                [first, second] => interleave(plane(first), plane(second), &mut bytes),
                ref components => {
                    for (index, component) in components.iter().enumerate() {
                        scatter(plane(*component), count, index, &mut bytes);
                    }
                }
            }
            to.write(start + inside.left * count, &bytes);
        }
    }

    /// Copies the image into memory, with its upper left corner at `left` and `top`. Other pixels stay as they are. The caller
    /// has checked that the image has the format's components and lies inside.
    pub fn store(&self, image: &Image, left: usize, top: usize, to: &dyn Sink, old: &dyn Source) {
        let rect = Rect {
            left,
            top,
            width: self.width,
            height: self.height,
        };
        match image.format.layout() {
            Layout::Planes(_) => {
                for area in image.planes() {
                    self.store_area(&area, rect, to);
                }
            }
            Layout::Packed422(positions) => {
                let first = left / 2;
                let skipped = left % 2;
                let pairs = (left + self.width).div_ceil(2) - first;
                let mut bytes = vec![0; pairs * 4];
                for row in 0..self.height {
                    let start = (top + row) * image.width_stride + first * 4;
                    // Luma of a neighbour may share the first or the last four bytes.
                    old.read(start, &mut bytes);
                    for (column, sample) in self.planes[0].row(row).iter().enumerate() {
                        let at = column + skipped;
                        bytes[at / 2 * 4 + usize::from(positions[at % 2])] = *sample;
                    }
                    for component in 1..3 {
                        let position = usize::from(positions[component + 1]);
                        scatter(self.planes[component].row(row), 4, position, &mut bytes);
                    }
                    to.write(start, &bytes);
                }
            }
        }
    }
}

/// Returns the size of a component's plane.
fn component_size(
    color: Color,
    halves: (bool, bool),
    component: usize,
    width: usize,
    height: usize,
) -> (usize, usize) {
    if color == Color::Yuv && component > 0 {
        (halved(width, halves.0), halved(height, halves.1))
    } else {
        (width, height)
    }
}
