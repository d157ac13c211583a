//! Decoding of JPEG images.

use jumar_dvpp::jpeg::{self, Decoder, Header, Margins, Rounding, Sampling};
use jumar_dvpp::limits::Family;
use jumar_dvpp::{Format, Image, ImageError, Scratch};
use jumar_types::Result;

use super::task::{self, Accesses, Done, Memory};
use super::{argument, channel, refused};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw};

/// Reads the header of an image in memory.
pub(super) fn header(data: Option<&[u8]>) -> Result<Header> {
    let data = data.ok_or_else(|| null("data"))?;
    if data.is_empty() {
        return Err(argument("the size of data is 0"));
    }
    jpeg::read_header(data).map_err(|error| refused(&error))
}

/// The size is that of the file: an orientation is not applied.
pub fn acldvppJpegGetImageInfo(
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

pub fn acldvppJpegGetImageInfoV2(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    size: u32,
) -> Result<(u32, u32, i32, u32)> {
    let (width, height, components) = acldvppJpegGetImageInfo(cx, data, size)?;
    let format = match header(data)?.sampling {
        Sampling::Yuv444 => enums::ACL_JPEG_CSS_444,
        Sampling::Yuv422 => enums::ACL_JPEG_CSS_422,
        Sampling::Yuv420 => enums::ACL_JPEG_CSS_420,
        Sampling::Gray => enums::ACL_JPEG_CSS_GRAY,
        Sampling::Yuv440 => enums::ACL_JPEG_CSS_440,
        Sampling::Yuv411 => enums::ACL_JPEG_CSS_411,
        Sampling::Unknown => enums::ACL_JPEG_CSS_UNKNOWN,
    };
    Ok((width, height, components, format))
}

/// Reads a wanted format; `None` is that of the image.
pub(super) fn wanted(format: u32, name: &str) -> Result<Option<Format>> {
    if format == enums::PIXEL_FORMAT_UNKNOWN {
        return Ok(None);
    }
    match Format::from_number(format) {
        Some(format) => Ok(Some(format)),
        None => Err(argument(format!(
            "{name} is {format} ({}), which is not supported",
            enums::name_of("acldvppPixelFormat", i64::from(format))
                .unwrap_or("no value of acldvppPixelFormat")
        ))),
    }
}

/// The prediction has the strides of the cards with the largest alignment, on every card: programs lay the image out that way
/// and allocate the prediction.
pub fn acldvppJpegPredictDecSize(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _size: u32,
    format: u32,
) -> Result<u32> {
    let header = header(data)?;
    let wanted = wanted(format, "outputPixelFormat")?;
    let format = jpeg::output_format(header.sampling, wanted).map_err(|error| refused(&error))?;
    let strides = (
        header.width.next_multiple_of(128),
        header.height.next_multiple_of(16),
    );
    format
        .size(strides.0, strides.1)
        .and_then(|size| u32::try_from(size).ok())
        .ok_or_else(|| {
            argument(format!(
                "the size of an image of {}x{} pixels in bytes does not fit into 32 bits",
                header.width, header.height
            ))
        })
}

/// Returns the shape of a decoded image: strides that the program states, or those of the chip.
pub(super) fn target(
    format: Format,
    (width, height): (usize, usize),
    strides: (u32, u32),
    alignment: (usize, usize),
) -> Image {
    let row = format.row_bytes(width.next_multiple_of(alignment.0));
    let rows = height.next_multiple_of(alignment.1);
    Image {
        format,
        width,
        height,
        width_stride: if strides.0 == 0 {
            row
        } else {
            strides.0 as usize
        },
        height_stride: if strides.1 == 0 {
            rows
        } else {
            strides.1 as usize
        },
    }
}

pub fn acldvppJpegDecodeAsync(
    cx: &Cx<'_>,
    channel: Raw,
    data: usize,
    size: u32,
    output: Raw,
    stream: Raw,
) -> Result<()> {
    let channel = channel::of_call(cx, channel)?;
    cx.with_stream(stream, |stream| {
        let settings = channel.admit(enums::DVPP_CHNMODE_JPEGD, stream)?;
        let (desc, fields) = task::desc(cx, output, "outputDesc")?;
        let from = task::memory(stream, data, size as usize, "data")?;
        let to = task::memory(stream, fields.data, fields.size as usize, "outputDesc")?;
        check_strides(&fields, "outputDesc")?;
        let family = task::family(cx, stream)?;
        let format = wanted(fields.format, "the format of outputDesc")?;
        let decoder = decoder(family, format, settings.precision, Margins::default())?;
        let strides = (fields.width_stride, fields.height_stride);
        let scratch = channel.scratch.clone();
        let work = move || -> Done {
            let done = task::with_scratch(&scratch, |scratch| {
                let data = from.copy(scratch);
                let done = decode(&decoder, &data, &to, (strides, alignment(family)), scratch);
                scratch.put(data);
                done
            });
            desc.fields.lock().describe_decoded(done)
        };
        let accesses = Accesses {
            reads: vec![from.0],
            writes: vec![to.0],
        };
        task::launch(cx, &channel, stream, &accesses, Box::new(work))
    })
}

/// Returns the decoder of a family of cards.
///
/// # Errors
/// `InvalidArgument`: there is no such precision.
pub(super) fn decoder(
    family: Family,
    format: Option<Format>,
    precision: u32,
    margins: Margins,
) -> Result<Decoder> {
    Ok(Decoder {
        format,
        rounding: Rounding::from_number(precision).map_err(|error| refused(&error))?,
        margins,
        largest: match family {
            Family::Second => 16384,
            Family::First | Family::Inference => 8192,
        },
    })
}

/// Returns the alignment of the strides of decoded images: pixels in a row, and rows.
pub(super) fn alignment(family: Family) -> (usize, usize) {
    (family.jpeg_alignment(), 16)
}

/// Checks strides that a program states for a decoded image against its size, as far as it states that.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_strides(fields: &super::images::ImageFields, image: &str) -> Result<()> {
    for (name, stride, alignment) in [
        ("width stride", fields.width_stride, 64),
        ("height stride", fields.height_stride, 2),
    ] {
        if stride % alignment != 0 {
            return Err(argument(format!(
                "the {name} of {image} is {stride}; it must be a multiple of {alignment}, or 0 for the alignment of the card"
            )));
        }
    }
    if fields.width_stride != 0 && fields.width_stride < fields.width {
        return Err(argument(format!(
            "the width stride of {image} is {} and its width {}",
            fields.width_stride, fields.width
        )));
    }
    Ok(())
}

/// Decodes an image to memory with strides that are stated, or 0. Returns its shape.
pub(super) fn decode(
    decoder: &Decoder,
    data: &[u8],
    to: &Memory,
    (strides, alignment): ((u32, u32), (usize, usize)),
    scratch: &mut Scratch,
) -> std::result::Result<Image, ImageError> {
    decoder.decode_to(
        data,
        |format, size| target(format, size, strides, alignment),
        to,
        scratch,
    )
}
