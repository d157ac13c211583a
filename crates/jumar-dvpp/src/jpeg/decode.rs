//! JPEG to pixels. Samples stay what the file has: full range BT.601, without a conversion of colours.

use super::exif;
use super::header::{Header, Process, Sampling, read_header};
use super::library::{self, Rows};
use crate::error::refuse;
use crate::format::{Color, Format, halved};
use crate::image::{Image, Rect};
use crate::memory::{Sink, Source};
use crate::planar::{PlanarImage, Samples};
use crate::vpc::with_chroma;
use crate::{ImageError, Result, Scratch};

/// What happens to an odd width or height where chroma has half of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// It is rounded down along the axes that are halved.
    Down,
    /// It is rounded up along the axes that are halved.
    Up,
    /// It is rounded down along both axes.
    #[default]
    DownBoth,
}

impl Rounding {
    /// Finds the rounding for a value of `acldvppJpegdPrecisionMode`.
    ///
    /// # Errors
    /// No such value exists.
    pub fn from_number(number: u32) -> Result<Rounding> {
        Ok(match number {
            0 => Rounding::Down,
            1 => Rounding::Up,
            2 => Rounding::DownBoth,
            _ => refuse!("the precision mode is {number}; 0 to 2 exist"),
        })
    }

    fn round(self, length: usize, is_halved: bool, any_halved: bool) -> usize {
        match self {
            Rounding::Down if is_halved => length & !1,
            Rounding::DownBoth if any_halved => length & !1,
            Rounding::Up if is_halved => length.next_multiple_of(2),
            _ => length,
        }
    }
}

/// Returns the formats that an image can be decoded to, the one of its own sampling first.
///
/// # Errors
/// The sampling is not supported.
pub fn target_formats(sampling: Sampling) -> Result<&'static [Format]> {
    Ok(match sampling {
        Sampling::Yuv444 => &[Format::Nv42, Format::Nv24, Format::Nv21, Format::Nv12],
        Sampling::Yuv422 => &[Format::Nv61, Format::Nv16, Format::Nv21, Format::Nv12],
        Sampling::Yuv420 | Sampling::Gray => &[Format::Nv21, Format::Nv12],
        Sampling::Yuv440 => &[Format::Vn440, Format::Nv440, Format::Nv21, Format::Nv12],
        Sampling::Yuv411 | Sampling::Unknown => {
            refuse!(
                "the chroma sampling is {sampling:?}; 4:4:4, 4:2:2, 4:2:0, 4:4:0 and gray are supported"
            )
        }
    })
}

/// Returns the format to decode to; `None` asks for the one of the image's own sampling.
///
/// # Errors
/// The image cannot be decoded to the format.
pub fn output_format(sampling: Sampling, wanted: Option<Format>) -> Result<Format> {
    let formats = target_formats(sampling)?;
    match wanted {
        None => Ok(formats[0]),
        Some(format) if formats.contains(&format) => Ok(format),
        Some(format) => {
            let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
            Err(ImageError::new(format!(
                "a JPEG image of sampling {sampling:?} cannot be decoded to {}; it can be to {}",
                format.name(),
                names.join(", ")
            )))
        }
    }
}

/// How much of each edge of an image is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// The rows above the region.
    pub top: usize,
    /// The rows below it.
    pub bottom: usize,
    /// The columns on its left.
    pub left: usize,
    /// The columns on its right.
    pub right: usize,
}

impl Margins {
    /// Returns the region inside of the margins of an image.
    ///
    /// # Errors
    /// The margins leave less than two pixels along an axis.
    fn region(self, width: usize, height: usize) -> Result<Rect> {
        let inside = |length: usize, (before, behind): (usize, usize)| {
            let left = length.saturating_sub(before).saturating_sub(behind);
            (left >= 2).then_some(left)
        };
        let sizes = (
            inside(width, (self.left, self.right)),
            inside(height, (self.top, self.bottom)),
        );
        let (Some(inner_width), Some(inner_height)) = sizes else {
            refuse!(
                "the image has {width}x{height} pixels, and {} columns on the left, {} on the right, {} rows above and {} below are left out",
                self.left,
                self.right,
                self.top,
                self.bottom
            );
        };
        Ok(Rect {
            left: self.left,
            top: self.top,
            width: inner_width,
            height: inner_height,
        })
    }
}

/// What to decode.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// The wanted format; `None` is the one of the image's own sampling.
    pub format: Option<Format>,
    /// What happens to odd sizes.
    pub rounding: Rounding,
    /// What is left out of the image as it is seen, after its orientation is applied.
    pub margins: Margins,
    /// The largest width and height.
    pub largest: usize,
}

/// The smallest width and height.
const SMALLEST: usize = 32;

impl Decoder {
    /// Checks that an image of this header is supported.
    ///
    /// # Errors
    /// What is not supported.
    pub fn check(&self, header: &Header) -> Result<()> {
        match header.process {
            Process::Sequential => {}
            Process::Progressive => {
                refuse!("the JPEG image is progressive; baseline images are supported")
            }
            Process::Other => refuse!(
                "the JPEG image is lossless, hierarchical or coded arithmetically; baseline images are supported"
            ),
        }
        if header.precision != 8 {
            refuse!(
                "the JPEG image has samples of {} bits; 8 are supported",
                header.precision
            );
        }
        if header.is_rgb || header.components == 4 {
            refuse!(
                "the JPEG image has components of {}; YCbCr and gray are supported",
                if header.is_rgb { "RGB" } else { "CMYK or YCCK" }
            );
        }
        for (name, length) in [("width", header.width), ("height", header.height)] {
            if !(SMALLEST..=self.largest).contains(&length) {
                refuse!(
                    "the {name} of the JPEG image is {length}; it must be {SMALLEST} to {}",
                    self.largest
                );
            }
        }
        output_format(header.sampling, self.format).map(drop)
    }

    /// Decodes an image. The planes extend to even sizes even where width and height are odd.
    ///
    /// # Errors
    /// The data is damaged, truncated or not supported.
    pub fn decode(&self, data: &[u8]) -> Result<(PlanarImage, Format)> {
        let header = read_header(data)?;
        self.check(&header)?;
        let format = output_format(header.sampling, self.format)?;
        Ok((self.planar(data, &header, format)?, format))
    }

    /// Decodes an image to memory. `shape` returns how an image of a format and a size lies there.
    ///
    /// Samples beyond an odd size, up to the next even one, are written where the strides have space for them.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; the memory is smaller than the image.
    pub fn decode_to<Memory: Source + Sink>(
        &self,
        data: &[u8],
        shape: impl Fn(Format, (usize, usize)) -> Image,
        to: &Memory,
        scratch: &mut Scratch,
    ) -> Result<Image> {
        let header = read_header(data)?;
        self.check(&header)?;
        let format = output_format(header.sampling, self.format)?;
        if let Some((image, luma)) = self.in_place(&header, format, &shape, to) {
            let planes = library::decompress(data, &header, Some(luma), scratch)?;
            let chroma = with_planes(&header, planes);
            let rect = Rect {
                left: 0,
                top: 0,
                width: chroma.width,
                height: chroma.height,
            };
            for area in image.planes().iter().skip(1) {
                chroma.store_area(area, rect, to);
            }
            chroma.recycle(scratch);
            return Ok(image);
        }
        let mut planar = self.planar(data, &header, format)?;
        let image = shape(format, (planar.width, planar.height));
        image.check_memory(Sink::bytes(to))?;
        let complete = |length: usize, samples: usize, stride: usize| match samples > length {
            true if samples <= stride => samples,
            _ => length,
        };
        let luma = &planar.planes[0];
        (planar.width, planar.height) = (
            complete(image.width, luma.width, image.width_stride),
            complete(image.height, luma.height, image.height_stride),
        );
        let planar = planar.cropped();
        let larger = Image {
            width: planar.width,
            height: planar.height,
            ..image
        };
        larger.check_memory(Sink::bytes(to))?;
        planar.store(&larger, 0, 0, to, to);
        Ok(image)
    }

    fn planar(&self, data: &[u8], header: &Header, format: Format) -> Result<PlanarImage> {
        let decoded = with_planes(
            header,
            library::decompress(data, header, None, &mut Scratch::default())?,
        );
        let mut turned = exif::turn(decoded, header.orientation);
        if self.margins != Margins::default() {
            let region = self.margins.region(turned.width, turned.height)?;
            turned = turned.region(region);
        }
        Ok(finish(turned, header, format, self.rounding))
    }

    /// Returns the shape of the image and where its luma lies, if the decoder can write luma there as it is coded.
    fn in_place(
        &self,
        header: &Header,
        format: Format,
        shape: &dyn Fn(Format, (usize, usize)) -> Image,
        to: &dyn Sink,
    ) -> Option<(Image, Rows)> {
        let halves = format.halves();
        let is_as_coded = header.orientation == 1
            && self.margins == Margins::default()
            && header.sampling != Sampling::Gray
            && header.sampling.halves() == halves;
        let coded = library::plane_sizes(header.sampling, header.width, header.height)[0];
        let any = halves.0 || halves.1;
        let is_complete = !any || (coded.0.is_multiple_of(2) && coded.1.is_multiple_of(2));
        if !is_as_coded || !is_complete {
            return None;
        }
        let image = shape(
            format,
            (
                self.rounding.round(header.width, halves.0, any),
                self.rounding.round(header.height, halves.1, any),
            ),
        );
        let larger = Image {
            width: coded.0,
            height: coded.1,
            ..image
        };
        larger.check_memory(to.bytes()).ok()?;
        let rows = Rows {
            memory: to.span()?,
            stride: image.width_stride,
        };
        Some((image, rows))
    }
}

/// Makes an image of the planes that the file has.
fn with_planes(header: &Header, planes: Vec<Samples>) -> PlanarImage {
    PlanarImage {
        color: Color::Yuv,
        width: header.width,
        height: header.height,
        halves: header.sampling.halves(),
        planes,
    }
}

/// Brings the planes to the wanted format and to even sizes.
fn finish(
    mut planar: PlanarImage,
    header: &Header,
    format: Format,
    rounding: Rounding,
) -> PlanarImage {
    let wanted = format.halves();
    let own = match header.sampling {
        // Gray images become 4:2:0.
        Sampling::Gray => wanted,
        _ => planar.halves,
    };
    let halves = (own.0 || wanted.0, own.1 || wanted.1);
    let any = halves.0 || halves.1;
    let (width, height) = (
        rounding.round(planar.width, halves.0, any),
        rounding.round(planar.height, halves.1, any),
    );
    // Data beyond the size up to the next even one: programs round odd sizes up and read it.
    let (full_width, full_height) = match any {
        true => (
            planar.width.next_multiple_of(2),
            planar.height.next_multiple_of(2),
        ),
        false => (planar.width, planar.height),
    };
    let luma = &mut planar.planes[0];
    if (luma.width, luma.height) != (full_width, full_height) {
        *luma = luma.with_size(full_width, full_height);
    }
    (planar.width, planar.height) = (full_width, full_height);
    if header.sampling == Sampling::Gray {
        let chroma = Samples::filled(
            halved(full_width, wanted.0),
            halved(full_height, wanted.1),
            128,
        );
        planar.planes.extend([chroma.clone(), chroma]);
        planar.halves = wanted;
    } else {
        for component in 1..3 {
            let (width, height) = planar.plane_size(component, full_width, full_height);
            let plane = &mut planar.planes[component];
            if (plane.width, plane.height) != (width, height) {
                *plane = plane.with_size(width, height);
            }
        }
        planar = with_chroma(planar, wanted);
    }
    (planar.width, planar.height) = (width, height);
    planar
}
