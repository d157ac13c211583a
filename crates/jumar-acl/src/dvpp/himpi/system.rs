//! Initialization, memory, alignments and matrices.

use jumar_dvpp::limits::Family;
use jumar_dvpp::vpc::Matrix;
use jumar_dvpp::{Format, Image};
use jumar_types::{Error, ErrorKind, Result};

use super::super::{argument, refused};
use super::{channel, decoding};
use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, memory};

/// Nothing is set up here: devices are ready when they are first used. A repeated call is therefore harmless.
pub fn hi_mpi_sys_init(cx: &Cx<'_>) -> Result<()> {
    cx.context().map(drop)
}

pub fn hi_mpi_sys_exit(_cx: &Cx<'_>) -> Result<()> {
    Ok(())
}

/// Returns the error that this interface reports for memory: core has kinds of its own for an address that is not allocated.
fn as_argument(error: Error) -> Error {
    if [ErrorKind::InvalidValue, ErrorKind::InvalidHandle].contains(&error.kind()) {
        argument(error.sentence())
    } else {
        error
    }
}

pub fn hi_mpi_dvpp_malloc(cx: &Cx<'_>, device: u32, size: u64) -> Result<usize> {
    let current = cx.context()?.device().number();
    if device != current {
        return Err(Error::new(
            ErrorKind::InvalidDevice,
            format!("dev_id is {device}; it must be {current}, the current device"),
        )
        .fix("Call aclrtSetDevice with that number on this thread first."));
    }
    let size = usize::try_from(size)
        .map_err(|_| argument(format!("size is {size}, which is too large")))?;
    memory::acldvppMalloc(cx, size).map_err(as_argument)
}

pub fn hi_mpi_dvpp_free(cx: &Cx<'_>, address: usize) -> Result<()> {
    memory::acldvppFree(cx, address).map_err(as_argument)
}

/// Returns the alignments of the strides of an image for a module: bytes of a row, and rows.
fn alignment(module: u32, family: Family, format: Format) -> Result<(usize, usize)> {
    let bytes = format.pixel_bytes();
    Ok(match module {
        enums::HI_MOD_VPC => (family.stride_alignment(format), 2),
        // Both decoders belong to the module: images and video.
        enums::HI_MOD_VDEC => (family.jpeg_alignment() * bytes, 16),
        enums::HI_MOD_VENC => (16 * bytes, 16),
        enums::HI_MOD_PNGD => (128 * bytes, 16),
        _ => {
            return Err(argument(format!(
                "mod_type is {module}; it must be HI_MOD_VPC, HI_MOD_VDEC, HI_MOD_VENC or HI_MOD_PNGD"
            )));
        }
    })
}

/// The smallest strides that every module accepts.
const LEAST_STRIDE: (usize, usize) = (32, 6);

pub fn hi_mpi_sys_get_image_align_info(
    cx: &Cx<'_>,
    modules: Option<&[u32]>,
    count: u32,
    base: Option<&types::hi_img_base_info>,
) -> Result<types::hi_img_align_info> {
    let modules = modules.ok_or_else(|| null("mod_type"))?;
    let base = base.ok_or_else(|| null("img_base_info"))?;
    if count == 0 {
        return Err(argument("mod_num is 0; it must be at least 1"));
    }
    let format = Format::from_number(base.pixel_format).ok_or_else(|| {
        argument(format!(
            "the pixel_format is {}, which is not supported",
            base.pixel_format
        ))
    })?;
    let (width, height) = (base.width as usize, base.height as usize);
    if width == 0 || height == 0 {
        return Err(argument(format!("the image has {width}x{height} pixels")));
    }
    let family = Family::of_chip(&cx.context()?.device().profile().soc_name);
    // The alignments are a power of two of pixels, so that the largest one serves all modules.
    let (mut columns, mut rows) = (1, 1);
    for module in modules {
        let (wide, high) = alignment(*module, family, format)?;
        columns = columns.max(wide);
        rows = rows.max(high);
    }
    let image = Image {
        format,
        width,
        height,
        width_stride: format
            .row_bytes(width)
            .max(LEAST_STRIDE.0)
            .next_multiple_of(columns),
        height_stride: height.max(LEAST_STRIDE.1).next_multiple_of(rows),
    };
    let size = image.size().map_err(|error| refused(&error))?;
    let too_large = |_| argument(format!("an image of {width}x{height} exceeds 32 bits"));
    Ok(types::hi_img_align_info {
        width_stride: u32::try_from(image.width_stride).map_err(too_large)?,
        height_stride: u32::try_from(image.height_stride).map_err(too_large)?,
        img_buf_size: size as u64,
        reserved: [0; 2],
    })
}

pub fn hi_mpi_sys_set_chn_csc_matrix(
    cx: &Cx<'_>,
    module: u32,
    number: i32,
    matrix: u32,
    _coefficient: Raw,
) -> Result<()> {
    if ![enums::HI_ID_VPC, enums::HI_ID_VDEC].contains(&module) {
        return Err(argument(format!(
            "mode is {module}; HI_ID_VPC and HI_ID_VDEC have matrices"
        )));
    }
    if matrix == enums::HI_CSC_MATRIX_USER {
        return Err(Error::new(
            ErrorKind::FeatureUnsupported,
            "coefficients of the program (HI_CSC_MATRIX_USER) are not supported",
        ));
    }
    let matrix = Matrix::from_number(matrix).map_err(|error| refused(&error))?;
    if module == enums::HI_ID_VDEC {
        return decoding::set_matrix(cx, number, matrix);
    }
    channel::find(cx, number)?.set_matrix(matrix);
    Ok(())
}
