//! PNG images.

use crate::error::refuse;
use crate::format::{Color, Format};
use crate::planar::{PlanarImage, Samples};
use crate::{ImageError, Result, guarded};

/// What the header of a PNG image states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The columns.
    pub width: usize,
    /// The rows.
    pub height: usize,
    /// The components that an image decoded by the rules of [`decode`] has: 1 to 4, gray and gray with alpha being 1 and 2.
    pub components: usize,
}

/// The smallest and the largest width and height.
const SIZES: std::ops::RangeInclusive<usize> = 32..=4096;

/// The signature of a PNG file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Reads the header. What follows it may be missing.
///
/// # Errors
/// The bytes are not a PNG image, or end before its size.
pub fn read_header(data: &[u8]) -> Result<Header> {
    if !data.starts_with(SIGNATURE) {
        refuse!("the data does not begin with the signature of a PNG image");
    }
    let Some(header) = data
        .get(SIGNATURE.len()..SIGNATURE.len() + 21)
        .filter(|header| header[4..8] == *b"IHDR")
    else {
        refuse!(
            "the PNG data of {} bytes ends before its header",
            data.len()
        );
    };
    let number =
        |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|step| header[at + step])) as usize;
    let (width, height) = (number(8), number(12));
    if width == 0 || height == 0 {
        refuse!("the PNG header states a size of {width}x{height}");
    }
    let components = match header[17] {
        0 => 1,
        2 | 3 => 3,
        4 => 2,
        6 => 4,
        other => refuse!("the PNG header states color type {other}; 0, 2, 3, 4 and 6 exist"),
    };
    Ok(Header {
        width,
        height,
        components,
    })
}

/// Returns the format to decode to; `None` asks for RGB, or RGBA where the image has alpha.
///
/// # Errors
/// The image cannot be decoded to the format.
pub fn output_format(header: &Header, wanted: Option<Format>) -> Result<Format> {
    let has_alpha = matches!(header.components, 2 | 4);
    match wanted {
        None if has_alpha => Ok(Format::Rgba),
        None | Some(Format::Rgb) => Ok(Format::Rgb),
        Some(Format::Rgba) if has_alpha => Ok(Format::Rgba),
        Some(format) => refuse!(
            "a PNG image of {} components cannot be decoded to {}",
            header.components,
            format.name()
        ),
    }
}

/// Decodes an image. Palettes are expanded, samples of 16 bits lose their lower 8, alpha is dropped for RGB.
///
/// # Errors
/// The data is damaged, truncated or not supported.
pub fn decode(data: &[u8], wanted: Option<Format>) -> Result<(PlanarImage, Format)> {
    let header = read_header(data)?;
    for (name, length) in [("width", header.width), ("height", header.height)] {
        if !SIZES.contains(&length) {
            refuse!(
                "the {name} of the PNG image is {length}; it must be {} to {}",
                SIZES.start(),
                SIZES.end()
            );
        }
    }
    guarded("the PNG decoder", || pixels(data, &header, wanted))
}

fn pixels(data: &[u8], header: &Header, wanted: Option<Format>) -> Result<(PlanarImage, Format)> {
    let failed = |error: png::DecodingError| {
        ImageError::new(format!("the PNG data could not be decoded: {error}"))
    };
    // The largest image has 128 MiB with samples of 16 bits; the decoder needs a few rows and its window besides.
    let mut decoder =
        png::Decoder::new_with_limits(std::io::Cursor::new(data), png::Limits { bytes: 192 << 20 });
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(failed)?;
    let Some(bytes) = reader.output_buffer_size() else {
        refuse!("the PNG image exceeds the address space");
    };
    let mut samples = vec![0; bytes];
    let frame = reader.next_frame(&mut samples).map_err(failed)?;
    // What follows the image must be there, too: a file that ends early was truncated.
    reader.finish().map_err(failed)?;
    let count = frame.color_type.samples();
    let header = Header {
        components: count,
        ..*header
    };
    let format = output_format(&header, wanted)?;
    let (width, height) = (frame.width as usize, frame.height as usize);
    let component = |index: usize| {
        let index = match (count, index) {
            (1, _) | (2, 0..=2) => 0,
            (2, _) => 1,
            _ => index,
        };
        let rows = samples.chunks_exact(frame.line_size).take(height);
        let data = rows
            .flat_map(|row| row.chunks_exact(count).take(width))
            .map(|pixel| pixel[index])
            .collect();
        Samples {
            width,
            height,
            data,
        }
    };
    let color = format.color();
    let planes = (0..color.components()).map(component).collect();
    debug_assert!(matches!(color, Color::Rgb | Color::Rgba));
    Ok((
        PlanarImage {
            color,
            width,
            height,
            halves: (false, false),
            planes,
        },
        format,
    ))
}
