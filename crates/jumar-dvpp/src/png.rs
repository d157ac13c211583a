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
    /// The components: 1 to 4, gray and gray with alpha being 1 and 2. A palette counts as red, green and blue, and a color that is
    /// transparent (chunk tRNS) as alpha.
    pub components: usize,
}

impl Header {
    /// Returns whether the image has alpha.
    pub fn has_alpha(&self) -> bool {
        matches!(self.components, 2 | 4)
    }
}

/// The smallest and the largest width and height.
const SIZES: std::ops::RangeInclusive<usize> = 32..=4096;

/// The signature of a PNG file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Reads the header. What follows it may be missing; then transparency that it would state is not known.
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
        0 => 1 + usize::from(states_transparency(data)),
        2 | 3 => 3 + usize::from(states_transparency(data)),
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

/// Returns whether a chunk in front of the samples states which colors are transparent.
fn states_transparency(data: &[u8]) -> bool {
    // A chunk: the length of its content, its type, the content and a checksum.
    const FRAME: usize = 12;
    let mut at = SIGNATURE.len();
    while let Some([l0, l1, l2, l3, kind @ ..]) = data.get(at..at + 8) {
        match kind {
            b"tRNS" => return true,
            b"IDAT" | b"IEND" => return false,
            _ => {}
        }
        let length = u32::from_be_bytes([*l0, *l1, *l2, *l3]) as usize;
        at = at.saturating_add(length).saturating_add(FRAME);
    }
    false
}

/// Returns the format to decode to; `None` asks for RGB, or RGBA where the image has alpha.
///
/// # Errors
/// The image cannot be decoded to the format.
pub fn output_format(header: &Header, wanted: Option<Format>) -> Result<Format> {
    let has_alpha = header.has_alpha();
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

/// Decodes an image to what [`output_format`] returns for its header. Palettes are expanded, samples of 16 bits lose their lower 8, alpha is dropped for RGB.
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
    // The header alone decides, so that memory of the size that was predicted from it is sufficient.
    let format = output_format(header, wanted)?;
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
    let (width, height) = (frame.width as usize, frame.height as usize);
    let component = |index: usize| {
        let index = match (count, index) {
            // A chunk of transparency that the decoder does not apply, because it is damaged.
            (1 | 3, 3) => return Samples::filled(width, height, u8::MAX),
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
