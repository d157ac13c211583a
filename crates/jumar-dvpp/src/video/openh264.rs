//! The encoder of the library OpenH264, through its C interface.
//!
//! The crate `openh264` is a safe interface of the same library. It refuses sizes that the library encodes, and has no arithmetic coding.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

use openh264_sys2::source::APILoader;
use openh264_sys2::{
    CAMERA_VIDEO_REAL_TIME, CONSTANT_ID, ENCODER_OPTION_BITRATE, ENCODER_OPTION_TRACE_LEVEL,
    ISVCEncoder, ISVCEncoderVtbl, LOW_COMPLEXITY, PRO_BASELINE, PRO_HIGH, PRO_MAIN,
    RC_BITRATE_MODE, SBitrateInfo, SEncParamExt, SFrameBSInfo, SM_SINGLE_SLICE, SPATIAL_LAYER_ALL,
    SSourcePicture, WELS_LOG_QUIET, videoFormatI420, videoFrameTypeIDR,
};

use super::encoder::{EncoderSettings, Packet, Profile};
use crate::error::refuse;
use crate::planar::Samples;
use crate::{ImageError, Result};

/// An encoder of the library.
pub(super) struct Library {
    encoder: NonNull<ISVCEncoder>,
    size: (usize, usize),
}

// SAFETY: the library stores no thread, and what it allocates belongs to this encoder alone.
unsafe impl Send for Library {}

/// The smallest quantizer that rate control of the library has, and the largest one of H.264.
pub(super) const LEAST_QUANTIZER: u8 = 12;
pub(super) const LARGEST_QUANTIZER: u8 = 51;
/// The most frames a second that the library knows.
const LARGEST_FRAME_RATE: u32 = 60;

/// Calls a function of the encoder's table, and turns its code into an error.
macro_rules! call {
    ($library:expr, $function:ident $(, $argument:expr)*) => {{
        let encoder = $library.encoder.as_ptr();
        // SAFETY: the encoder was created by the library and is alive, so that it begins with the address of its table.
        let table: &ISVCEncoderVtbl = unsafe { &**encoder };
        match table.$function {
            // SAFETY: the arguments are those that the function is documented with; they live during the call, and it keeps none of them.
            Some(function) => match unsafe { function(encoder $(, $argument)*) } {
                0 => Ok(()),
                code => Err(ImageError::new(format!(
                    "the H.264 encoder failed: {} returned {code}",
                    stringify!($function)
                ))),
            },
            None => Err(ImageError::new(format!(
                "the H.264 encoder has no function {}",
                stringify!($function)
            ))),
        }
    }};
}

impl Library {
    /// Creates an encoder whose quantizers are at least `least`.
    ///
    /// # Errors
    /// The library does not support the settings.
    pub(super) fn new(settings: &EncoderSettings, level: u8, least: u8) -> Result<Library> {
        let mut encoder: *mut ISVCEncoder = null_mut();
        // SAFETY: the function writes the address of a new encoder, or leaves null.
        let code = unsafe { APILoader::WelsCreateSVCEncoder(&raw mut encoder) };
        let Some(encoder) = NonNull::new(encoder) else {
            refuse!("the H.264 encoder cannot start: it returned {code}");
        };
        let library = Library {
            encoder,
            size: (settings.width, settings.height),
        };
        let mut quiet: c_int = WELS_LOG_QUIET;
        call!(
            library,
            SetOption,
            ENCODER_OPTION_TRACE_LEVEL,
            (&raw mut quiet).cast::<c_void>()
        )?;
        let mut parameters = SEncParamExt::default();
        call!(library, GetDefaultParams, &raw mut parameters)?;
        set(&mut parameters, settings, level, least);
        call!(library, InitializeExt, &raw const parameters)?;
        Ok(library)
    }

    /// Changes the mean bit rate from the next frame on to that of the settings.
    ///
    /// # Errors
    /// The library refuses the rate.
    pub(super) fn set_bit_rate(&mut self, settings: &EncoderSettings) -> Result<()> {
        let mut wanted = SBitrateInfo {
            iLayer: SPATIAL_LAYER_ALL,
            iBitrate: rates(settings.bit_rate, settings.frame_rate).1,
        };
        call!(
            self,
            SetOption,
            ENCODER_OPTION_BITRATE,
            (&raw mut wanted).cast::<c_void>()
        )
    }

    /// Codes a frame. `is_key` makes it a key frame, from which the interval counts again.
    ///
    /// # Errors
    /// The planes do not have the size of the frame; the library fails, and cannot be used afterwards.
    pub(super) fn encode(&mut self, planes: [&Samples; 3], is_key: bool) -> Result<Packet> {
        let (width, height) = self.size;
        let halves = (width / 2, height / 2);
        for (plane, size) in planes.iter().zip([(width, height), halves, halves]) {
            if (plane.width, plane.height) != size || plane.data.len() != size.0 * size.1 {
                refuse!(
                    "a plane of the frame has {}x{} samples",
                    plane.width,
                    plane.height
                );
            }
        }
        if is_key {
            call!(self, ForceIntraFrame, true)?;
        }
        let mut source = SSourcePicture {
            iColorFormat: videoFormatI420,
            iPicWidth: width as c_int,
            iPicHeight: height as c_int,
            ..SSourcePicture::default()
        };
        for (index, plane) in planes.iter().enumerate() {
            source.iStride[index] = plane.width as c_int;
            // The library only reads them.
            source.pData[index] = plane.data.as_ptr().cast_mut();
        }
        let mut coded = SFrameBSInfo::default();
        call!(self, EncodeFrame, &raw const source, &raw mut coded)?;
        let data = bytes(&coded);
        if data.is_empty() {
            refuse!("the H.264 encoder skipped the frame");
        }
        Ok(Packet {
            data,
            is_key: coded.eFrameType == videoFrameTypeIDR,
        })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // An encoder that was not initialised has nothing to release, and answers with an error.
        let _ = call!(self, Uninitialize);
        // SAFETY: the encoder was created by the library, and is not used afterwards.
        unsafe { APILoader::WelsDestroySVCEncoder(self.encoder.as_ptr()) };
    }
}

/// Copies the units of a coded frame.
fn bytes(coded: &SFrameBSInfo) -> Vec<u8> {
    let mut data = Vec::new();
    let layers = usize::try_from(coded.iLayerNum).unwrap_or(0);
    for layer in coded.sLayerInfo.iter().take(layers) {
        let count = usize::try_from(layer.iNalCount).unwrap_or(0);
        if count == 0 || layer.pNalLengthInByte.is_null() || layer.pBsBuf.is_null() {
            continue;
        }
        // SAFETY: the library states that there are `iNalCount` lengths, and keeps them until the next call.
        let lengths = unsafe { std::slice::from_raw_parts(layer.pNalLengthInByte, count) };
        let length = lengths.iter().map(|length| (*length).max(0) as usize).sum();
        // SAFETY: the units of a layer follow each other in its buffer, which lives until the next call.
        data.extend_from_slice(unsafe { std::slice::from_raw_parts(layer.pBsBuf, length) });
    }
    data
}

/// Returns the frames and the bits a second that rate control of the library counts with.
fn rates(bit_rate: u32, frame_rate: u32) -> (f32, c_int) {
    // It counts frames: above what the library has, as many of them get their share.
    let counted = frame_rate.min(LARGEST_FRAME_RATE);
    let share = u64::from(bit_rate) * u64::from(counted) / u64::from(frame_rate);
    (counted as f32, c_int::try_from(share).unwrap_or(c_int::MAX))
}

/// Sets what differs from the defaults of the library.
fn set(parameters: &mut SEncParamExt, settings: &EncoderSettings, level: u8, least: u8) {
    let (width, height) = (settings.width as c_int, settings.height as c_int);
    let (frame_rate, bit_rate) = rates(settings.bit_rate, settings.frame_rate);
    parameters.iUsageType = CAMERA_VIDEO_REAL_TIME;
    parameters.iPicWidth = width;
    parameters.iPicHeight = height;
    parameters.iTargetBitrate = bit_rate;
    parameters.fMaxFrameRate = frame_rate;
    parameters.iRCMode = RC_BITRATE_MODE;
    parameters.iMinQp = least.into();
    parameters.iMaxQp = LARGEST_QUANTIZER.into();
    parameters.uiIntraPeriod = settings.key_interval;
    parameters.iComplexityMode = LOW_COMPLEXITY;
    parameters.eSpsPpsIdStrategy = CONSTANT_ID;
    parameters.iEntropyCodingModeFlag = c_int::from(settings.profile != Profile::Baseline);
    // Each frame is coded, by the thread that calls, and key frames come at their interval alone.
    parameters.bEnableFrameSkip = false;
    parameters.iMultipleThreadIdc = 1;
    parameters.bEnableSceneChangeDetect = false;
    let layer = &mut parameters.sSpatialLayers[0];
    layer.iVideoWidth = width;
    layer.iVideoHeight = height;
    layer.fFrameRate = frame_rate;
    layer.iSpatialBitrate = bit_rate;
    layer.uiProfileIdc = match settings.profile {
        Profile::Baseline => PRO_BASELINE,
        Profile::Main => PRO_MAIN,
        Profile::High | Profile::H265Main => PRO_HIGH,
    };
    layer.uiLevelIdc = level.into();
    layer.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
    layer.sSliceArgument.uiSliceNum = 1;
}
