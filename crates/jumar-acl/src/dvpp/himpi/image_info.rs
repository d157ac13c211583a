//! What the headers of images say, and how much memory the decoded images need.

use jumar_dvpp::jpeg::{self, Sampling};
use jumar_dvpp::limits::Family;
use jumar_dvpp::{Format, png};
use jumar_types::Result;

use super::super::png::ALIGNMENT;
use super::super::{argument, refused};
use crate::Cx;
use crate::generated::{enums, types};

/// Orientations that exchange columns and rows begin here.
const TURNED: u8 = 5;
/// Where the header of a PNG image states its colors.
const PNG_COLORS: usize = 25;

pub fn hi_mpi_dvpp_get_image_info(
    cx: &Cx<'_>,
    kind: u32,
    data: Option<&[u8]>,
) -> Result<types::hi_img_info> {
    match kind {
        enums::HI_PT_JPEG => jpeg_info(cx, data, None),
        enums::HI_PT_PNG => hi_mpi_png_get_image_info(cx, data),
        other => Err(argument(format!(
            "img_type is {other}; it must be HI_PT_JPEG or HI_PT_PNG"
        ))),
    }
}

pub fn hi_mpi_vdec_get_jpegd_output_info(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    format: u32,
) -> Result<types::hi_img_info> {
    jpeg_info(
        cx,
        data,
        super::super::jpeg::wanted(format, "output_format")?,
    )
}

/// The image is described as it is after its orientation is applied.
fn jpeg_info(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    wanted: Option<Format>,
) -> Result<types::hi_img_info> {
    let header = super::super::jpeg::header(data)?;
    let format = jpeg::output_format(header.sampling, wanted).map_err(|error| refused(&error))?;
    let raw = match header.sampling {
        Sampling::Yuv444 => enums::HI_JPEG_RAW_FORMAT_YUV444,
        Sampling::Yuv422 => enums::HI_JPEG_RAW_FORMAT_YUV422,
        Sampling::Yuv420 => enums::HI_JPEG_RAW_FORMAT_YUV420,
        Sampling::Yuv440 => enums::HI_JPEG_RAW_FORMAT_YUV440,
        Sampling::Gray => enums::HI_JPEG_RAW_FORMAT_YUV400,
        Sampling::Yuv411 => enums::HI_JPEG_RAW_FORMAT_YUV411,
        Sampling::Unknown => enums::HI_JPEG_RAW_FORMAT_MAX,
    };
    let size = match header.orientation {
        TURNED.. => (header.height, header.width),
        _ => (header.width, header.height),
    };
    let family = Family::of_chip(&cx.context()?.device().profile().soc_name);
    let alignment = super::super::jpeg::alignment(family);
    let mut info = describe(format, size, alignment)?;
    info.anonymous.set_pixel_format(raw);
    Ok(info)
}

pub fn hi_mpi_png_get_image_info(_cx: &Cx<'_>, data: Option<&[u8]>) -> Result<types::hi_img_info> {
    let header = super::super::png::header(data)?;
    let format = png::output_format(&header, None).map_err(|error| refused(&error))?;
    let mut info = describe(format, (header.width, header.height), ALIGNMENT)?;
    let colors = data.and_then(|data| data.get(PNG_COLORS)).copied();
    // The numbers of the interface are those of the header.
    info.anonymous
        .set_png_pixel_format(u32::from(colors.unwrap_or_default()));
    Ok(info)
}

fn describe(
    format: Format,
    (width, height): (usize, usize),
    alignment: (usize, usize),
) -> Result<types::hi_img_info> {
    let stride = format.row_bytes(width.next_multiple_of(alignment.0));
    let rows = height.next_multiple_of(alignment.1);
    let bytes = format.size(stride, rows);
    let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let Some(bytes) = bytes else {
        return Err(argument(format!(
            "the size of an image of {width}x{height} pixels in bytes does not fit into 32 bits"
        )));
    };
    Ok(types::hi_img_info {
        width: width as u32,
        height: height as u32,
        width_stride: stride as u32,
        height_stride: rows as u32,
        img_buf_size: bytes,
        ..types::hi_img_info::ZERO
    })
}
