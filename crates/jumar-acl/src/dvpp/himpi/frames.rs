//! Frames to encode, and what the attributes of a channel say about them.

use jumar_dvpp::video::{EncoderSettings, Profile};
use jumar_dvpp::{Format, Image, jpeg, limits};
use jumar_types::{Error, ErrorKind, Result};

use super::super::encode::{LARGEST, complete};
use super::super::video::{VideoRequest, encoder_settings};
use super::super::{argument, refused};
use crate::generated::{enums, types};

/// What a channel encodes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coding {
    Video(EncoderSettings),
    /// Images of at most this width and height.
    Jpeg(usize, usize),
}

/// The smallest width and height of a JPEG image.
const LEAST_JPEG: u32 = 32;

fn unsupported(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::FeatureUnsupported, sentence)
}

/// Checks the attributes of a channel.
///
/// # Errors
/// `InvalidArgument`; `FeatureUnsupported`.
pub(super) fn coding(attributes: &types::hi_venc_chn_attr) -> Result<Coding> {
    let attr = &attributes.venc_attr;
    let (width, height) = (attr.pic_width, attr.pic_height);
    if width > attr.max_pic_width || height > attr.max_pic_height {
        return Err(argument(format!(
            "pic_width and pic_height are {width}x{height}, and max_pic_width and max_pic_height {}x{}",
            attr.max_pic_width, attr.max_pic_height
        ))
        .fix("Set the maximum to at least the size of the frames."));
    }
    match attr.r#type {
        enums::HI_PT_H264 | enums::HI_PT_H265 => video(attributes).map(Coding::Video),
        enums::HI_PT_JPEG => {
            let largest = (LARGEST.0 as u32, LARGEST.1 as u32);
            let fits = (LEAST_JPEG..=largest.0).contains(&attr.max_pic_width)
                && (LEAST_JPEG..=largest.1).contains(&attr.max_pic_height);
            if !fits {
                return Err(argument(format!(
                    "max_pic_width and max_pic_height are {}x{}; JPEG images have {LEAST_JPEG}x{LEAST_JPEG} to {}x{} pixels",
                    attr.max_pic_width, attr.max_pic_height, largest.0, largest.1
                )));
            }
            Ok(Coding::Jpeg(
                attr.max_pic_width as usize,
                attr.max_pic_height as usize,
            ))
        }
        other => Err(argument(format!(
            "the type is {other}; HI_PT_H264, HI_PT_H265 and HI_PT_JPEG can be encoded"
        ))),
    }
}

/// Checks the attributes of a channel for H.264 or H.265.
fn video(attributes: &types::hi_venc_chn_attr) -> Result<EncoderSettings> {
    let attr = &attributes.venc_attr;
    let is_h265 = attr.r#type == enums::HI_PT_H265;
    let profile = match attr.profile {
        0 if is_h265 => Profile::H265Main,
        1 if is_h265 => return Err(unsupported("the profile 1 (main 10) cannot be encoded")),
        other if is_h265 => {
            return Err(argument(format!(
                "the profile is {other}; it must be 0 (main) for H.265"
            )));
        }
        0 => Profile::Baseline,
        1 => Profile::Main,
        2 => Profile::High,
        3 => return Err(unsupported("the profile 3 (scalable) cannot be encoded")),
        other => {
            return Err(argument(format!(
                "the profile is {other}; it must be 0 (baseline), 1 (main) or 2 (high)"
            )));
        }
    };
    let rates = &attributes.rc_attr;
    // The members of the union are integers of 32 bits.
    let word = |index: usize| {
        let bytes = rates.anonymous.bytes.get(4 * index..4 * index + 4);
        bytes.map_or(0, |bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |value: u32, byte| value << 8 | u32::from(*byte))
        })
    };
    let (name, modes, quantizers) = match is_h265 {
        true => (
            "H265",
            enums::HI_VENC_RC_MODE_H265_CBR..=enums::HI_VENC_RC_MODE_H265_CVBR,
            [
                enums::HI_VENC_RC_MODE_H265_FIXQP,
                enums::HI_VENC_RC_MODE_H265_QPMAP,
            ],
        ),
        false => (
            "H264",
            enums::HI_VENC_RC_MODE_H264_CBR..=enums::HI_VENC_RC_MODE_H264_CVBR,
            [
                enums::HI_VENC_RC_MODE_H264_FIXQP,
                enums::HI_VENC_RC_MODE_H264_QPMAP,
            ],
        ),
    };
    let mode = rates.rc_mode;
    if quantizers.contains(&mode) {
        let mode_name = crate::generated::enums::name_of("hi_venc_rc_mode", i64::from(mode));
        return Err(unsupported(format!(
            "the rc_mode is {mode} ({}); quantizers of the program are not supported",
            mode_name.unwrap_or("")
        ))
        .fix(format!(
            "Use HI_VENC_RC_MODE_{name}_CBR or another mode with a bit rate."
        )));
    }
    if !modes.contains(&mode) {
        return Err(argument(format!(
            "the rc_mode is {mode}, which HI_PT_{name} does not have"
        ))
        .fix(format!(
            "Use HI_VENC_RC_MODE_{name}_CBR or another mode of HI_PT_{name}."
        )));
    }
    let (source, target, bits) = (word(2), word(3), word(4));
    if target != source {
        return Err(unsupported(format!(
            "src_frame_rate is {source} and dst_frame_rate {target}; frames are not dropped"
        ))
        .fix("Set both rates to the same value, and send only the frames to encode."));
    }
    encoder_settings(&VideoRequest {
        profile,
        width: attr.pic_width,
        height: attr.pic_height,
        interval: word(0),
        source_rate: source,
        bit_rate: bits,
    })
}

/// Returns the shape of a frame. A second plane says where the first one ends.
///
/// # Errors
/// `InvalidArgument`.
fn shape(frame: &types::hi_video_frame) -> Result<Image> {
    let format = Format::from_number(frame.pixel_format).ok_or_else(|| {
        argument(format!(
            "the pixel_format of the frame is {}, which is not supported",
            frame.pixel_format
        ))
    })?;
    let mut image = complete(Image {
        format,
        width: frame.width as usize,
        height: frame.height as usize,
        width_stride: frame.width_stride[0] as usize,
        height_stride: frame.height_stride[0] as usize,
    });
    let [luma, chroma, _] = frame.virt_addr;
    // A frame without pixels or rows is refused by the checks of its size.
    if chroma != 0 && chroma != luma && image.width_stride != 0 {
        let distance = chroma.checked_sub(luma);
        let rows = distance.filter(|distance| distance.is_multiple_of(image.width_stride));
        let Some(rows) = rows else {
            return Err(argument(format!(
                "virt_addr[1] of the frame is {chroma:#x}, and virt_addr[0] {luma:#x}; the second plane must follow the first one after whole rows of {} bytes",
                image.width_stride
            )));
        };
        image.height_stride = rows / image.width_stride;
    }
    Ok(image)
}

/// Returns the shape of a JPEG image to encode.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn jpeg_image(frame: &types::hi_video_frame, largest: (usize, usize)) -> Result<Image> {
    let image = shape(frame)?;
    limits::check_jpeg_input(&image, largest).map_err(|error| refused(&error))?;
    jpeg::bound(&image).map_err(|error| refused(&error))?;
    Ok(image)
}

impl Coding {
    /// Returns the shape of a frame of the channel.
    ///
    /// # Errors
    /// `InvalidArgument`: the channel does not encode such frames.
    pub(super) fn image(&self, frame: &types::hi_video_frame) -> Result<Image> {
        let settings = match *self {
            Coding::Jpeg(width, height) => return jpeg_image(frame, (width, height)),
            Coding::Video(settings) => settings,
        };
        let image = shape(frame)?;
        if !matches!(image.format, Format::Nv12 | Format::Nv21) {
            return Err(argument(format!(
                "the pixel_format of the frame is {}; it must be HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420 or HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420",
                image.format.name()
            )));
        }
        if (image.width, image.height) != (settings.width, settings.height) {
            return Err(argument(format!(
                "the frame has {}x{} pixels, and the channel encodes frames of {}x{}",
                image.width, image.height, settings.width, settings.height
            )));
        }
        if !image.width_stride.is_multiple_of(16) {
            return Err(argument(format!(
                "width_stride[0] of the frame is {}; it must be a multiple of 16",
                image.width_stride
            )));
        }
        Ok(image)
    }
}
