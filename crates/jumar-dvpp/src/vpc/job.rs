//! The pipeline of all forms of resizing and cropping: a region of the input is resized, converted and written to a region of
//! the output.

use super::border::{Border, surround};
use super::convert::{self, Matrix, convert};
use super::resize::{Filter, Part, resize, resize_samples};
use crate::Result;
use crate::error::refuse;
use crate::format::{Color, Format, Layout, halved};
use crate::image::{Image, Rect};
use crate::memory::{Sink, Source};
use crate::planar::PlanarImage;

/// One region that is cut, resized and pasted.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The input.
    pub source: Image,
    /// The region of the input.
    pub crop: Rect,
    /// The output.
    pub target: Image,
    /// The region of the output; with a border, what the border surrounds is smaller.
    pub paste: Rect,
    /// How the region is resized.
    pub filter: Filter,
    /// The matrix between YUV and RGB.
    pub matrix: Matrix,
    /// What surrounds the result inside `paste`.
    pub border: Option<Border>,
    /// Sets alpha to 0 where both images have it and their sizes differ, as the cards of the 310B and 910B families do.
    pub clears_alpha: bool,
}

impl Job {
    /// Creates the job that resizes a region of one image to a region of another.
    pub fn new(source: Image, crop: Rect, target: Image, paste: Rect) -> Job {
        Job {
            source,
            crop,
            target,
            paste,
            filter: Filter::Bilinear,
            matrix: Matrix::default(),
            border: None,
            clears_alpha: false,
        }
    }

    /// Checks that the regions lie inside their images and that the formats can be converted.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<()> {
        convert::check(self.source.format, self.target.format)?;
        self.source.check_inside(self.crop)?;
        self.target.check_inside(self.paste)?;
        if let Some(border) = &self.border {
            let (width, height) = (
                border.left.saturating_add(border.right),
                border.top.saturating_add(border.bottom),
            );
            if width >= self.paste.width || height >= self.paste.height {
                refuse!(
                    "borders of {width} columns and {height} rows leave nothing of an output of {}x{}",
                    self.paste.width,
                    self.paste.height
                );
            }
        }
        Ok(())
    }

    /// Runs the job. Pixels of the output outside its region stay as they are.
    ///
    /// # Errors
    /// The memory is smaller than the image; as [`Job::check`].
    pub fn run(&self, from: &dyn Source, to: &dyn Sink, old: &dyn Source) -> Result<()> {
        self.check()?;
        self.source.check_memory(from.bytes())?;
        self.target.check_memory(to.bytes())?;
        let swaps = swapped_chroma(self.source.format, self.target.format);
        if self.border.is_none() && (self.source.format == self.target.format || swaps) {
            let is_packed = matches!(self.source.format.layout(), Layout::Packed422(_));
            if !is_packed && !self.alpha_is_cleared() {
                self.run_on_planes(swaps, from, to);
                return Ok(());
            }
        }
        let mut planar = PlanarImage::load(&self.source, self.crop, from);
        let inner = match &self.border {
            Some(border) => (
                self.paste.width - border.left - border.right,
                self.paste.height - border.top - border.bottom,
            ),
            None => (self.paste.width, self.paste.height),
        };
        if inner != (planar.width, planar.height) {
            for component in 0..planar.planes.len() {
                let (width, height) = planar.plane_size(component, inner.0, inner.1);
                let plane = &planar.planes[component];
                planar.planes[component] = resize_samples(plane, width, height, self.filter);
            }
            (planar.width, planar.height) = inner;
            if self.alpha_is_cleared() {
                planar.planes[3].data.fill(0);
            }
        }
        let mut planar = convert(planar, self.target.format, self.matrix)?;
        if let Some(border) = &self.border {
            planar = surround(&planar, border, self.paste.width, self.paste.height);
        }
        planar.store(&self.target, self.paste.left, self.paste.top, to, old);
        Ok(())
    }

    fn alpha_is_cleared(&self) -> bool {
        let both = [self.source.format, self.target.format];
        self.clears_alpha
            && both.iter().all(|format| format.color() == Color::Rgba)
            && (self.crop.width, self.crop.height) != (self.paste.width, self.paste.height)
    }

    /// Resizes each plane of memory from row to row, without a copy of the image.
    fn run_on_planes(&self, swaps: bool, from: &dyn Source, to: &dyn Sink) {
        let areas = self.source.planes().into_iter().zip(self.target.planes());
        for (source, target) in areas {
            let plane = source.plane;
            let start = |pixel: usize, is_halved: bool| pixel >> usize::from(is_halved);
            let count = plane.components.len();
            let part = Part {
                memory: from,
                offset: source.offset
                    + start(self.crop.top, plane.halves_height) * source.stride
                    + start(self.crop.left, plane.halves_width) * count,
                stride: source.stride,
                width: halved(self.crop.width, plane.halves_width),
                height: halved(self.crop.height, plane.halves_height),
                count,
            };
            let offset = target.offset
                + start(self.paste.top, plane.halves_height) * target.stride
                + start(self.paste.left, plane.halves_width) * count;
            let size = (
                halved(self.paste.width, plane.halves_width),
                halved(self.paste.height, plane.halves_height),
            );
            let mut swapped = Vec::new();
            resize(&part, size, self.filter, |row, samples| {
                let at = offset + row * target.stride;
                if swaps && count == 2 {
                    swapped.clear();
                    swapped.extend(
                        samples
                            .as_chunks::<2>()
                            .0
                            .iter()
                            .flat_map(|[a, b]| [*b, *a]),
                    );
                    to.write(at, &swapped);
                } else {
                    to.write(at, samples);
                }
            });
        }
    }
}

/// Returns whether two formats differ only in the order of interleaved U and V.
fn swapped_chroma(from: Format, to: Format) -> bool {
    let is_semi_planar = |format: Format| matches!(format.layout(), Layout::Planes([_, chroma]) if chroma.components.len() == 2);
    from != to && is_semi_planar(from) && is_semi_planar(to) && from.halves() == to.halves()
}
