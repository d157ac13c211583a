//! Pixels to JPEG: baseline, with the standard tables scaled by the quality.

use super::header::Sampling;
use super::library::{self, Encodable, Rows};
use crate::error::refuse;
use crate::format::{Color, Format};
use crate::image::Image;
use crate::memory::{Sink, Source};
use crate::planar::PlanarImage;
use crate::{Result, Scratch};

/// Returns the sampling that an image of the format is encoded with.
fn sampling(format: Format) -> Result<Sampling> {
    Ok(match (format.color(), format.halves()) {
        (Color::Yuv, (true, true)) if matches!(format, Format::Nv12 | Format::Nv21) => {
            Sampling::Yuv420
        }
        (Color::Yuv, (true, false)) if (7..=10).contains(&format.number()) => Sampling::Yuv422,
        _ => refuse!(
            "{} cannot be encoded; {}, {} and the packed 4:2:2 formats can",
            format.name(),
            Format::Nv12.name(),
            Format::Nv21.name()
        ),
    })
}

/// Returns a size that no encoded image of this size exceeds.
///
/// # Errors
/// The format cannot be encoded.
pub fn bound(image: &Image) -> Result<usize> {
    let own = library::bound(sampling(image.format)?, image.width, image.height)?;
    let pixels = image.width.next_multiple_of(16) * image.height.next_multiple_of(16);
    let samples = match image.format.halves() {
        (true, true) => pixels * 3 / 2,
        _ => pixels * 2,
    };
    Ok(own.max(samples + 4096))
}

/// Encodes an image. A quality of 0 is taken as 100.
///
/// # Errors
/// The format cannot be encoded, or memory is smaller than the image.
pub fn encode(image: &Image, quality: u32, from: &dyn Source) -> Result<Vec<u8>> {
    encodable(image, quality, from, &mut Scratch::default())?.compress(bound(image)?)
}

/// Encodes an image to memory. Returns the length.
///
/// # Errors
/// As [`encode`]; the memory is smaller than the encoded image.
pub fn encode_to(
    image: &Image,
    quality: u32,
    from: &dyn Source,
    to: &dyn Sink,
    scratch: &mut Scratch,
) -> Result<usize> {
    let bound = bound(image)?;
    let encodable = encodable(image, quality, from, scratch)?;
    let length = match to.span().filter(|span| span.bytes() >= bound) {
        Some(span) => encodable.compress_to(span)?,
        None => {
            let data = encodable.compress(bound)?;
            if data.len() > to.bytes() {
                refuse!(
                    "the JPEG image has {} bytes, and data {}",
                    data.len(),
                    to.bytes()
                );
            }
            to.write(0, &data);
            data.len()
        }
    };
    for plane in encodable.planes.into_iter().skip(1) {
        scratch.put(plane.data);
    }
    Ok(length)
}

/// Finds the planes of an image. Luma stays where it lies, if it may be read there.
fn encodable(
    image: &Image,
    quality: u32,
    from: &dyn Source,
    scratch: &mut Scratch,
) -> Result<Encodable> {
    let sampling = sampling(image.format)?;
    image.check_memory(from.bytes())?;
    let quality = match quality {
        0 => 100,
        1..=100 => quality,
        _ => refuse!("the level is {quality}; it must be 0 to 100"),
    };
    let memory = from.span().filter(|_| image.planes().len() > 1);
    let luma = memory.map(|memory| Rows {
        memory,
        stride: image.width_stride,
    });
    let planes = match luma {
        None => PlanarImage::load(image, image.rect(), from).planes,
        Some(_) => PlanarImage::load_from(1, image, from, scratch).planes,
    };
    Ok(Encodable {
        width: image.width,
        height: image.height,
        sampling,
        quality,
        luma,
        planes,
    })
}
