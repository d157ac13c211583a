//! Finds what the imitated device does with images and video, and other products do not.
//!
//! # Source
//! The tables of functions, formats and attributes in the documentation of the image and video interface.

use jumar::check::{Check, Finding};
use jumar::engine::Profile;
use jumar_dvpp::{Format, Image, limits};

use super::CompletedCall;
use super::portability::Family;
use crate::generated::enums;
use crate::process;

/// The products of the first generation.
const FIRST: &[Family] = &[Family::A310, Family::A910];
/// The products without pyramids of images.
const NO_PYRAMID: &[Family] = &[Family::A310, Family::A910, Family::B310, Family::B910];
/// The products without a video encoder.
const NO_ENCODER: &[Family] = &[Family::A910, Family::B910];
/// The largest width and height of a frame that the 310 encodes.
const LARGEST_ENCODED_310: u64 = 1920;

/// Returns what a call uses that not every product has, and the families that lack it.
pub(super) fn lacking(seen: &CompletedCall) -> Option<(String, &'static [Family])> {
    let name = seen.call.name;
    let word = seen.words[1];
    let called = |enumeration: &str| {
        let known = i64::try_from(word)
            .ok()
            .and_then(|word| enums::name_of(enumeration, word));
        known.map_or_else(|| word.to_string(), str::to_owned)
    };
    Some(match name {
        "acldvppVpcConvertColorAsync"
        | "acldvppVpcMakeBorderAsync"
        | "acldvppVpcBatchCropResizeMakeBorderAsync"
        | "acldvppVpcEqualizeHistAsync"
        | "acldvppVpcCalcHistAsync"
        | "acldvppSetChannelDescMode"
        | "acldvppSetChannelDescParam" => (name.to_owned(), FIRST),
        "acldvppVpcPyrDownAsync" => (name.to_owned(), NO_PYRAMID),
        "aclvencCreateChannel" => ("video encoder (VENC)".to_owned(), NO_ENCODER),
        "aclvencSetChannelDescPicWidth" | "aclvencSetChannelDescPicHeight"
            if word > LARGEST_ENCODED_310 =>
        {
            let side = match name.ends_with("Width") {
                true => "width",
                false => "height",
            };
            let what = format!(
                "video encoder for a {side} of {word}; the largest is {LARGEST_ENCODED_310}"
            );
            (what, &[Family::A310])
        }
        "aclvdecSetChannelDescOutPicFormat"
            if [enums::PIXEL_FORMAT_RGB_888, enums::PIXEL_FORMAT_BGR_888]
                .map(u64::from)
                .contains(&word) =>
        {
            let what = format!("decoding of video to {}", called("acldvppPixelFormat"));
            (what, FIRST)
        }
        "aclvdecSetChannelDescParam" if word == u64::from(enums::ACL_VDEC_CSC_MATRIX_UINT32) => {
            ("colour matrix of a video decoder".to_owned(), FIRST)
        }
        "acldvppSetResizeConfigInterpolation" => {
            let families: &[Family] = match word {
                3 | 4 => &[Family::P310],
                5 => &[Family::A310, Family::A910, Family::P310],
                _ => return None,
            };
            (format!("interpolation {word}"), families)
        }
        _ if name.starts_with("hi_mpi_") => (name.to_owned(), FIRST),
        _ => return None,
    })
}

/// The arguments of calls with one image in and one out: input, output.
const ONE_TO_ONE: &[&str] = &[
    "acldvppVpcResizeAsync",
    "acldvppVpcCropAsync",
    "acldvppVpcCropResizeAsync",
    "acldvppVpcCropAndPasteAsync",
    "acldvppVpcCropResizePasteAsync",
];

/// Compares the images of a call that went well with the formats, sizes and alignments of the requested products.
pub(super) fn inspect_images(check: &Check, seen: &CompletedCall, profiles: &[Profile]) {
    if !ONE_TO_ONE.contains(&seen.call.name) {
        return;
    }
    let images = [1, 2].map(|index| process::get().dvpp.image(seen.words[index]));
    let [Some(input), Some(output)] = images else {
        return;
    };
    let mut refusals: Vec<(String, Vec<&str>)> = Vec::new();
    for profile in profiles {
        let Err(reason) = accepts(limits::Family::of_chip(&profile.soc_name), &input, &output)
        else {
            continue;
        };
        let name = profile.soc_name.as_str();
        match refusals.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => refusals.push((reason, vec![name])),
        }
    }
    if refusals.is_empty() {
        return;
    }
    let reasons: Vec<String> = refusals
        .iter()
        .map(|(reason, names)| format!("{} refuses the images: {reason}", names.join(", ")))
        .collect();
    check.find(Finding::now("JMR-PORT-001", reasons.join("; ")));
}

/// Checks the images of a call against the rules of a family.
///
/// # Errors
/// What the family refuses.
fn accepts(family: limits::Family, input: &Image, output: &Image) -> Result<(), String> {
    limits::check_input(input, family).map_err(|error| format!("input: {error}"))?;
    limits::check_output(output, family).map_err(|error| format!("output: {error}"))?;
    let is_semiplanar = matches!(output.format, Format::Nv12 | Format::Nv21);
    if family == limits::Family::First && !is_semiplanar {
        let format = output.format.name();
        return Err(format!(
            "output: the format is {format}; it must be PIXEL_FORMAT_YUV_SEMIPLANAR_420 or PIXEL_FORMAT_YVU_SEMIPLANAR_420"
        ));
    }
    Ok(())
}
