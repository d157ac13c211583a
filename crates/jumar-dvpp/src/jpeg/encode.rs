//! Pixels to JPEG: baseline, with the standard tables scaled by the quality.

use turbojpeg::{Subsamp, YuvPlanesImage};

use crate::error::refuse;
use crate::format::{Color, Format};
use crate::image::Image;
use crate::memory::Source;
use crate::planar::PlanarImage;
use crate::{ImageError, Result, guarded};

/// Returns the sampling that an image of the format is encoded with.
fn sampling(format: Format) -> Result<Subsamp> {
    Ok(match (format.color(), format.halves()) {
        (Color::Yuv, (true, true)) if matches!(format, Format::Nv12 | Format::Nv21) => {
            Subsamp::Sub2x2
        }
        (Color::Yuv, (true, false)) if (7..=10).contains(&format.number()) => Subsamp::Sub2x1,
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
    let subsamp = sampling(image.format)?;
    let own = turbojpeg::compressed_buf_len(image.width, image.height, subsamp)
        .map_err(|error| ImageError::new(format!("no bound for the JPEG image: {error}")))?;
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
    let subsamp = sampling(image.format)?;
    image.check_memory(from.bytes())?;
    let planar = PlanarImage::load(image, image.rect(), from);
    let quality = match quality {
        0 => 100,
        1..=100 => quality as i32,
        _ => refuse!("the level is {quality}; it must be 0 to 100"),
    };
    guarded("the JPEG encoder", || {
        let failed = |error: turbojpeg::Error| {
            ImageError::new(format!("the image could not be encoded: {error}"))
        };
        let mut encoder = turbojpeg::Compressor::new().map_err(failed)?;
        encoder.set_quality(quality).map_err(failed)?;
        encoder.set_subsamp(subsamp).map_err(failed)?;
        let [luma, u, v] = &planar.planes[..] else {
            return Err(ImageError::new("the image has no chroma"));
        };
        let planes = YuvPlanesImage {
            y_plane: &luma.data[..],
            u_plane: &u.data[..],
            v_plane: &v.data[..],
            width: planar.width,
            height: planar.height,
            y_stride: luma.width,
            u_stride: u.width,
            v_stride: v.width,
            subsamp,
        };
        encoder.compress_yuv_planes_to_vec(&planes).map_err(failed)
    })
}
