//! Attributes and parameters of encoding channels, beyond those of JPEG.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::video::{Encoder, Profile};
use jumar_types::{Error, ErrorKind, Result};

use super::super::{argument, refused};
use super::decoded::{set_word, word};
use super::encoding::{Encoding, find};
use super::frames::{Coding, coding};
use crate::Cx;
use crate::error::null;
use crate::generated::{enums, types};

/// What the program has set for a channel.
pub(super) struct Parameters {
    attributes: types::hi_venc_chn_attr,
    channel: types::hi_venc_chn_param,
    rates: types::hi_venc_rc_param,
    h264_usability: types::hi_venc_h264_vui,
    h265_usability: types::hi_venc_h265_vui,
}

impl Parameters {
    /// Returns what a channel has before the program sets anything.
    pub(super) fn new(attributes: &types::hi_venc_chn_attr) -> Parameters {
        Parameters {
            attributes: *attributes,
            channel: types::hi_venc_chn_param {
                max_stream_cnt: u32::MAX,
                poll_wake_up_frame_cnt: 1,
                ..types::hi_venc_chn_param::ZERO
            },
            rates: usual_rates(attributes.rc_attr.rc_mode),
            h264_usability: types::hi_venc_h264_vui::ZERO,
            h265_usability: types::hi_venc_h265_vui::ZERO,
        }
    }

    /// Returns whether frames lose their colours.
    pub(super) fn is_gray(&self) -> bool {
        self.channel.color_to_grey_en == enums::HI_TRUE
    }
}

/// Returns the error of a function that JPEG has no use for.
fn jpeg_has_none(number: i32, what: &str) -> Error {
    argument(format!(
        "encoding channel {number} encodes JPEG, and has no {what}"
    ))
    .fix("Call it for a channel of HI_PT_H264 or HI_PT_H265.")
}

impl Encoding {
    /// Checks that the channel has usability information of a kind.
    fn check_usability(&self, number: i32, is_h265: bool) -> Result<()> {
        self.check_video(number, "usability information")?;
        let own = match self.coding {
            Coding::Video(settings) => settings.profile == Profile::H265Main,
            Coding::Jpeg(..) => false,
        };
        if own != is_h265 {
            let [own, other] = match own {
                true => ["h265", "h264"],
                false => ["h264", "h265"],
            };
            return Err(argument(format!(
                "encoding channel {number} has usability information of {own}, not of {other}"
            ))
            .fix(format!(
                "Call hi_mpi_venc_set_{own}_vui and hi_mpi_venc_get_{own}_vui."
            )));
        }
        Ok(())
    }

    fn check_video(&self, number: i32, what: &str) -> Result<()> {
        match self.coding {
            Coding::Video(_) => Ok(()),
            Coding::Jpeg(..) => Err(jpeg_has_none(number, what)),
        }
    }
}

fn unsupported(sentence: String) -> Error {
    Error::new(ErrorKind::FeatureUnsupported, sentence)
}

/// Returns what a channel cannot change after its creation.
fn fixed(attributes: &types::hi_venc_chn_attr) -> [(&'static str, u32); 8] {
    let attr = &attributes.venc_attr;
    [
        ("type", attr.r#type),
        ("max_pic_width", attr.max_pic_width),
        ("max_pic_height", attr.max_pic_height),
        ("buf_size", attr.buf_size),
        ("profile", attr.profile),
        ("is_by_frame", attr.is_by_frame),
        ("pic_width", attr.pic_width),
        ("pic_height", attr.pic_height),
    ]
}

/// Frames that were sent before are encoded with the attributes of that time.
pub fn hi_mpi_venc_set_chn_attr(
    cx: &Cx<'_>,
    number: i32,
    attributes: Option<&types::hi_venc_chn_attr>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let attributes = attributes.ok_or_else(|| null("attr"))?;
    let mut parameters = channel.parameters.lock();
    let pairs = fixed(&parameters.attributes)
        .into_iter()
        .zip(fixed(attributes));
    for ((name, known), (_, wanted)) in pairs {
        if known != wanted {
            return Err(Error::new(
                ErrorKind::Uninitialized,
                format!("{name} of encoding channel {number} is {known} and cannot become {wanted}"),
            )
            .fix("Change the rate control alone, or destroy the channel and create it with the other attributes."));
        }
    }
    if let Coding::Video(settings) = coding(attributes)? {
        let encoder = Encoder::new(settings).map_err(|error| refused(&error))?;
        // Tasks that are queued keep the encoder before it.
        *channel.encoder.lock() = Some(Arc::new(Mutex::new(encoder)));
    }
    if parameters.attributes.rc_attr.rc_mode != attributes.rc_attr.rc_mode {
        parameters.rates = usual_rates(attributes.rc_attr.rc_mode);
    }
    parameters.attributes = *attributes;
    Ok(())
}

pub fn hi_mpi_venc_get_chn_attr(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_chn_attr> {
    let channel = find(cx, number)?;
    let attributes = channel.parameters.lock().attributes;
    Ok(attributes)
}

pub fn hi_mpi_venc_set_chn_param(
    cx: &Cx<'_>,
    number: i32,
    wanted: Option<&types::hi_venc_chn_param>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let wanted = wanted.ok_or_else(|| null("chn_param"))?;
    for (name, value, most) in [
        ("color_to_grey_en", wanted.color_to_grey_en, 1),
        ("priority", wanted.priority, 1),
        ("crop_info.enable", wanted.crop_info.enable, 1),
    ] {
        check_range(name, i64::from(value), 0..=most)?;
    }
    if wanted.poll_wake_up_frame_cnt == 0 {
        return Err(argument(
            "poll_wake_up_frame_cnt is 0; it must be at least 1",
        ));
    }
    if wanted.poll_wake_up_frame_cnt > 1 {
        return Err(unsupported(format!(
            "poll_wake_up_frame_cnt is {}; the descriptor of a channel is readable from the first stream on",
            wanted.poll_wake_up_frame_cnt
        )));
    }
    if wanted.crop_info.enable == enums::HI_TRUE {
        return Err(unsupported("frames are not cropped before they are encoded".to_owned())
            .fix("Crop the image with hi_mpi_vpc_crop, and create the channel with the size of the result."));
    }
    let rates = &wanted.frame_rate;
    if rates.src_frame_rate != rates.dst_frame_rate {
        return Err(unsupported(format!(
            "src_frame_rate is {} and dst_frame_rate {}; frames are not dropped",
            rates.src_frame_rate, rates.dst_frame_rate
        ))
        .fix("Set both rates to the same value, and send only the frames to encode."));
    }
    if wanted.color_to_grey_en == enums::HI_TRUE {
        channel.check_video(number, "conversion to gray")?;
    }
    channel.parameters.lock().channel = *wanted;
    Ok(())
}

pub fn hi_mpi_venc_get_chn_param(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_chn_param> {
    let channel = find(cx, number)?;
    let parameters = channel.parameters.lock().channel;
    Ok(parameters)
}

/// The key frame is the next one that is sent, whether `instant` is set or not.
pub fn hi_mpi_venc_request_idr(cx: &Cx<'_>, number: i32, instant: u32) -> Result<()> {
    let channel = find(cx, number)?;
    channel.check_video(number, "key frames")?;
    check_range("instant", i64::from(instant), 0..=1)?;
    channel.request_key_frame();
    Ok(())
}

/// Where a structure of the rate control has the values that are checked, in integers of 32 bits.
struct Positions {
    /// When quantizers change, in percent of the bit rate.
    change: Option<usize>,
    /// The largest proportion of key frames; the smallest one follows.
    proportion: usize,
    /// How often a frame is encoded again.
    repeats: usize,
    /// The largest quantizer; the smallest one and those of key frames follow.
    quantizers: usize,
}

fn positions(mode: u32) -> Option<Positions> {
    let (change, proportion, repeats, quantizers) = match mode {
        enums::HI_VENC_RC_MODE_H264_CBR | enums::HI_VENC_RC_MODE_H265_CBR => (None, 0, 6, 2),
        enums::HI_VENC_RC_MODE_H264_VBR => (Some(0), 1, 3, 5),
        enums::HI_VENC_RC_MODE_H264_AVBR => (Some(0), 1, 3, 8),
        enums::HI_VENC_RC_MODE_H264_QVBR | enums::HI_VENC_RC_MODE_H264_CVBR => (None, 0, 2, 4),
        enums::HI_VENC_RC_MODE_H265_VBR => (Some(0), 1, 3, 4),
        enums::HI_VENC_RC_MODE_H265_AVBR => (Some(0), 1, 3, 7),
        enums::HI_VENC_RC_MODE_H265_QVBR | enums::HI_VENC_RC_MODE_H265_CVBR => (None, 0, 2, 5),
        _ => return None,
    };
    Some(Positions {
        change,
        proportion,
        repeats,
        quantizers,
    })
}

/// Returns the parameters of the rate control that a channel has before the program sets any.
fn usual_rates(mode: u32) -> types::hi_venc_rc_param {
    let mut rates = types::hi_venc_rc_param {
        first_frame_start_qp: -1,
        ..types::hi_venc_rc_param::ZERO
    };
    let mut set = |index, value| set_word(&mut rates.anonymous.bytes, index, value);
    if let Some(at) = positions(mode) {
        if let Some(change) = at.change {
            set(change, 90);
        }
        set(at.proportion, 100);
        set(at.proportion + 1, 1);
        for largest in [at.quantizers, at.quantizers + 2] {
            set(largest, *QUANTIZERS.end() as u32);
        }
    }
    rates
}

/// The quantizers of H.264 and H.265.
const QUANTIZERS: std::ops::RangeInclusive<i64> = 0..=51;

fn check_range(name: &str, value: i64, range: std::ops::RangeInclusive<i64>) -> Result<()> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(argument(format!(
            "{name} is {value}; it must be {} to {}",
            range.start(),
            range.end()
        ))),
    }
}

/// Checks a largest and a smallest value.
fn check_pair(
    [largest, smallest]: [&str; 2],
    [most, least]: [u32; 2],
    range: std::ops::RangeInclusive<i64>,
) -> Result<()> {
    check_range(largest, i64::from(most), range.clone())?;
    check_range(smallest, i64::from(least), range)?;
    if least > most {
        return Err(argument(format!(
            "{smallest} is {least}; it must not be greater than {largest}, which is {most}"
        )));
    }
    Ok(())
}

fn check_rates(mode: u32, rates: &types::hi_venc_rc_param) -> Result<()> {
    for (name, values) in [
        ("threshold_i", &rates.threshold_i),
        ("threshold_p", &rates.threshold_p),
        ("threshold_b", &rates.threshold_b),
    ] {
        for value in values {
            check_range(&format!("a value of {name}"), i64::from(*value), 0..=255)?;
        }
    }
    check_range("direction", i64::from(rates.direction), 0..=16)?;
    check_range("row_qp_delta", i64::from(rates.row_qp_delta), 0..=10)?;
    let first = i64::from(rates.first_frame_start_qp);
    check_range("first_frame_start_qp", first, -1..=*QUANTIZERS.end())?;
    let Some(at) = positions(mode) else {
        return Ok(());
    };
    let value = |index: usize| word(&rates.anonymous.bytes, index);
    if let Some(change) = at.change {
        let change = i64::from(value(change).cast_signed());
        check_range("chg_pos", change, 50..=100)?;
    }
    let repeats = i64::from(value(at.repeats).cast_signed());
    check_range("max_reencode_times", repeats, 0..=3)?;
    let pair = |first: usize| [value(first), value(first + 1)];
    let names = ["max_i_proportion", "min_i_proportion"];
    check_pair(names, pair(at.proportion), 1..=100)?;
    check_pair(["max_qp", "min_qp"], pair(at.quantizers), QUANTIZERS)?;
    let of_keys = pair(at.quantizers + 2);
    check_pair(["max_i_qp", "min_i_qp"], of_keys, QUANTIZERS)
}

pub fn hi_mpi_venc_set_rc_param(
    cx: &Cx<'_>,
    number: i32,
    rates: Option<&types::hi_venc_rc_param>,
) -> Result<()> {
    let channel = find(cx, number)?;
    channel.check_video(number, "rate control")?;
    let rates = rates.ok_or_else(|| null("rc_param"))?;
    let mut parameters = channel.parameters.lock();
    check_rates(parameters.attributes.rc_attr.rc_mode, rates)?;
    parameters.rates = *rates;
    Ok(())
}

pub fn hi_mpi_venc_get_rc_param(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_rc_param> {
    let channel = find(cx, number)?;
    channel.check_video(number, "rate control")?;
    let rates = channel.parameters.lock().rates;
    Ok(rates)
}

/// The parameters of each kind of encoder that the program has set.
pub(super) type Modules = BTreeMap<u32, types::hi_venc_mod_param>;

/// The bytes of user data in a stream.
const MOST_USER_DATA: i64 = 65_536;

/// Returns the values that the parameters of a kind of encoder have, in the order of the structure, with their largest ones.
fn module_ranges(kind: u32) -> Result<&'static [(&'static str, i64)]> {
    Ok(match kind {
        enums::HI_VENC_MOD_VENC => &[("buf_cache", 1), ("frame_buf_recycle", 1)],
        enums::HI_VENC_MOD_H264 => &[
            ("one_stream_buf", 1),
            ("mini_buf_mode", 1),
            ("low_power_mode", 1),
            ("vb_src", enums::HI_VB_SRC_USER as i64),
            ("qp_hist_en", 1),
            ("max_user_data_len", MOST_USER_DATA),
        ],
        enums::HI_VENC_MOD_H265 => &[
            ("one_stream_buf", 1),
            ("mini_buf_mode", 1),
            ("low_power_mode", 2),
            ("vb_src", enums::HI_VB_SRC_USER as i64),
            ("qp_hist_en", 1),
            ("max_user_data_len", MOST_USER_DATA),
        ],
        enums::HI_VENC_MOD_JPEG => &[
            ("one_stream_buf", 1),
            ("mini_buf_mode", 1),
            ("clear_stream_buf", 1),
            ("dering_mode", 1),
        ],
        other => {
            return Err(argument(format!(
                "mod_type is {other}; HI_VENC_MOD_VENC, HI_VENC_MOD_H264, HI_VENC_MOD_H265 and HI_VENC_MOD_JPEG have parameters"
            )));
        }
    })
}

pub fn hi_mpi_venc_set_mod_param(
    cx: &Cx<'_>,
    wanted: Option<&types::hi_venc_mod_param>,
) -> Result<()> {
    let wanted = wanted.ok_or_else(|| null("mod_param"))?;
    for (index, (name, most)) in module_ranges(wanted.mod_type)?.iter().enumerate() {
        let value = i64::from(word(&wanted.anonymous.bytes, index));
        check_range(name, value, 0..=*most)?;
    }
    let state = &cx.process.dvpp.himpi;
    let set = || {
        state.modules.lock().insert(wanted.mod_type, *wanted);
    };
    state.encoders.while_empty(set).map_err(|number| {
        Error::new(
            ErrorKind::Uninitialized,
            format!("encoding channel {number} exists; parameters of modules are set before the first channel is created"),
        )
        .fix("Call it earlier, or destroy the channels first.")
    })
}

pub fn hi_mpi_venc_get_mod_param(
    cx: &Cx<'_>,
    wanted: types::hi_venc_mod_param,
) -> Result<types::hi_venc_mod_param> {
    module_ranges(wanted.mod_type)?;
    let modules = cx.process.dvpp.himpi.modules.lock();
    let unset = types::hi_venc_mod_param {
        mod_type: wanted.mod_type,
        ..types::hi_venc_mod_param::ZERO
    };
    Ok(modules.get(&wanted.mod_type).copied().unwrap_or(unset))
}

/// Checks the flags that usability information of both kinds has.
fn check_flags(
    aspect: &types::hi_venc_vui_aspect_ratio,
    signal: &types::hi_venc_vui_video_signal,
    restriction: &types::hi_venc_vui_bitstream_restric,
) -> Result<()> {
    for (name, flag) in [
        (
            "aspect_ratio_info_present_flag",
            aspect.aspect_ratio_info_present_flag,
        ),
        (
            "overscan_info_present_flag",
            aspect.overscan_info_present_flag,
        ),
        (
            "overscan_appropriate_flag",
            aspect.overscan_appropriate_flag,
        ),
        (
            "video_signal_type_present_flag",
            signal.video_signal_type_present_flag,
        ),
        ("video_full_range_flag", signal.video_full_range_flag),
        (
            "colour_description_present_flag",
            signal.colour_description_present_flag,
        ),
        (
            "bitstream_restriction_flag",
            restriction.bitstream_restriction_flag,
        ),
    ] {
        check_range(name, i64::from(flag), 0..=1)?;
    }
    Ok(())
}

pub fn hi_mpi_venc_set_h264_vui(
    cx: &Cx<'_>,
    number: i32,
    usability: Option<&types::hi_venc_h264_vui>,
) -> Result<()> {
    let channel = find(cx, number)?;
    channel.check_usability(number, false)?;
    let usability = usability.ok_or_else(|| null("h264_vui"))?;
    check_flags(
        &usability.vui_aspect_ratio,
        &usability.vui_video_signal,
        &usability.vui_bitstream_restric,
    )?;
    let time = &usability.vui_time_info;
    for (name, flag) in [
        ("timing_info_present_flag", time.timing_info_present_flag),
        ("fixed_frame_rate_flag", time.fixed_frame_rate_flag),
    ] {
        check_range(name, i64::from(flag), 0..=1)?;
    }
    channel.parameters.lock().h264_usability = *usability;
    Ok(())
}

pub fn hi_mpi_venc_get_h264_vui(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_h264_vui> {
    let channel = find(cx, number)?;
    channel.check_usability(number, false)?;
    let usability = channel.parameters.lock().h264_usability;
    Ok(usability)
}

pub fn hi_mpi_venc_set_h265_vui(
    cx: &Cx<'_>,
    number: i32,
    usability: Option<&types::hi_venc_h265_vui>,
) -> Result<()> {
    let channel = find(cx, number)?;
    channel.check_usability(number, true)?;
    let usability = usability.ok_or_else(|| null("h265_vui"))?;
    check_flags(
        &usability.vui_aspect_ratio,
        &usability.vui_video_signal,
        &usability.vui_bitstream_restric,
    )?;
    let flag = usability.vui_time_info.timing_info_present_flag;
    check_range("timing_info_present_flag", i64::from(flag), 0..=1)?;
    channel.parameters.lock().h265_usability = *usability;
    Ok(())
}

pub fn hi_mpi_venc_get_h265_vui(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_h265_vui> {
    let channel = find(cx, number)?;
    channel.check_usability(number, true)?;
    let usability = channel.parameters.lock().h265_usability;
    Ok(usability)
}
