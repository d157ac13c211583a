//! Decoding of PNG images.

use jumar_dvpp::png::{self, Header};
use jumar_dvpp::{Format, Image, ImageError, Scratch};
use jumar_types::Result;

use super::images::ImageFields;
use super::jpeg::{target, wanted};
use super::task::{self, Accesses, Done, Memory};
use super::{argument, channel, refused};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw};

pub(super) fn header(data: Option<&[u8]>) -> Result<Header> {
    let data = data.ok_or_else(|| null("data"))?;
    png::read_header(data).map_err(|error| refused(&error))
}

pub fn acldvppPngGetImageInfo(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _size: u32,
) -> Result<(u32, u32, i32)> {
    let header = header(data)?;
    Ok((
        header.width as u32,
        header.height as u32,
        header.components as i32,
    ))
}

/// The strides of decoded images: pixels in a row, and rows.
pub(super) const ALIGNMENT: (usize, usize) = (128, 16);

pub fn acldvppPngPredictDecSize(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _size: u32,
    format: u32,
) -> Result<u32> {
    let header = header(data)?;
    let wanted = wanted(format, "outputPixelFormat")?;
    let format = png::output_format(&header, wanted).map_err(|error| refused(&error))?;
    let row = format.row_bytes(header.width.next_multiple_of(ALIGNMENT.0));
    format
        .size(row, header.height.next_multiple_of(ALIGNMENT.1))
        .and_then(|size| u32::try_from(size).ok())
        .ok_or_else(|| {
            argument(format!(
                "the size of an image of {}x{} pixels in bytes does not fit into 32 bits",
                header.width, header.height
            ))
        })
}

/// Reads and checks what a program states about a decoded image. Returns its format; `None` is that of the data.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn output_format(fields: &ImageFields, image: &str) -> Result<Option<Format>> {
    let wanted = wanted(fields.format, &format!("the format of {image}"))?;
    if !matches!(wanted, None | Some(Format::Rgb | Format::Rgba)) {
        return Err(argument(format!(
            "the format of {image} is {}; a PNG image is decoded to PIXEL_FORMAT_RGB_888 or PIXEL_FORMAT_RGBA_8888",
            fields.format
        )));
    }
    if !fields.width_stride.is_multiple_of(16) {
        return Err(argument(format!(
            "the width stride of {image} is {}; it must be a multiple of 16, or 0",
            fields.width_stride
        )));
    }
    Ok(wanted)
}

/// Decodes an image to memory with strides that are stated, or 0. Returns its shape.
pub(super) fn decode(
    data: &[u8],
    to: &Memory,
    wanted: Option<Format>,
    strides: (u32, u32),
) -> std::result::Result<Image, ImageError> {
    let (planar, format) = png::decode(data, wanted)?;
    let size = (planar.width, planar.height);
    let image = target(format, size, strides, ALIGNMENT);
    image.check_memory(to.0.bytes())?;
    planar.store(&image, 0, 0, to, to);
    Ok(image)
}

pub fn acldvppPngDecodeAsync(
    cx: &Cx<'_>,
    channel: Raw,
    data: usize,
    size: u32,
    output: Raw,
    stream: Raw,
) -> Result<()> {
    let channel = channel::of_call(cx, channel)?;
    cx.with_stream(stream, |stream| {
        channel.admit(enums::DVPP_CHNMODE_PNGD, stream)?;
        let (desc, fields) = task::desc(cx, output, "outputDesc")?;
        let from = task::memory(stream, data, size as usize, "data")?;
        let to = task::memory(stream, fields.data, fields.size as usize, "outputDesc")?;
        let wanted = output_format(&fields, "outputDesc")?;
        let strides = (fields.width_stride, fields.height_stride);
        let work = move || -> Done {
            let data = from.copy(&mut Scratch::default());
            let done = decode(&data, &to, wanted, strides);
            desc.fields.lock().describe_decoded(done)
        };
        let accesses = Accesses {
            reads: vec![from.0],
            writes: vec![to.0],
        };
        task::launch(cx, &channel, stream, &accesses, Box::new(work))
    })
}
