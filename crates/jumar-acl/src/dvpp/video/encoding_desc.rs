//! Descriptions of channels that encode video, and configurations of frames.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::Result;

use super::encoding::Encoding;
use super::parameters::{answer, check_member, check_range, long, word};
use super::{argument, fields, find, remove};
use crate::generated::enums;
use crate::{Cx, Raw};

/// A description of an encoding channel, and the channel while one is open.
pub struct EncodingDesc {
    id: u64,
    pub(super) fields: Mutex<EncodingFields>,
    pub(super) open: Mutex<Option<Arc<Encoding>>>,
}

/// What a program states about an encoding channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodingFields {
    pub(super) thread: u64,
    /// The address of a function.
    pub(super) callback: usize,
    pub(super) coding: u32,
    pub(super) format: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) interval: u32,
    pub(super) buffer: usize,
    pub(super) buffer_size: u32,
    /// 0 is what the card does by itself, 1 a variable and 2 a constant bit rate.
    pub(super) rate_mode: u32,
    /// Frames a second; 0 are 30.
    pub(super) source_rate: u32,
    /// Thousands of bits a second; 0 are 2000.
    pub(super) bit_rate: u32,
    pub(super) key_ratio: u32,
}

/// A configuration of a frame.
pub struct FrameConfig {
    id: u64,
    pub(super) fields: Mutex<FrameSettings>,
}

/// What a program states about a frame that is encoded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameSettings {
    pub(super) eos: u8,
    pub(super) is_key: u8,
}

/// The largest ratio of key frames to others.
const LARGEST_RATIO: u32 = 100;

pub fn aclvencCreateChannelDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.encoders.insert(|id| {
        Arc::new(EncodingDesc {
            id,
            fields: Mutex::new(EncodingFields {
                thread: 0,
                callback: 0,
                coding: enums::H265_MAIN_LEVEL,
                format: enums::PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                width: 0,
                height: 0,
                interval: 0,
                buffer: 0,
                buffer_size: 0,
                rate_mode: 0,
                source_rate: 0,
                bit_rate: 0,
                key_ratio: 0,
            }),
            open: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub(super) fn of_call(cx: &Cx<'_>, desc: Raw) -> Result<Arc<EncodingDesc>> {
    find(&cx.process.dvpp.encoders, desc, "channelDesc")
}

pub fn aclvencDestroyChannelDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    if of_call(cx, desc)?.open.lock().is_some() {
        return Err(argument("the channel of the description is open")
            .fix("Call aclvencDestroyChannel first."));
    }
    remove(cx, &cx.process.dvpp.encoders, desc, "channelDesc").map(drop)
}

fields! {
    encoders, "channelDesc";
    aclvencSetChannelDescThreadId aclvencGetChannelDescThreadId thread: u64;
    aclvencSetChannelDescCallback aclvencGetChannelDescCallback callback: usize;
    aclvencSetChannelDescPicWidth aclvencGetChannelDescPicWidth width: u32;
    aclvencSetChannelDescPicHeight aclvencGetChannelDescPicHeight height: u32;
    aclvencSetChannelDescKeyFrameInterval aclvencGetChannelDescKeyFrameInterval interval: u32;
    aclvencSetChannelDescBufAddr aclvencGetChannelDescBufAddr buffer: usize;
    aclvencSetChannelDescBufSize aclvencGetChannelDescBufSize buffer_size: u32;
    aclvencSetChannelDescSrcRate aclvencGetChannelDescSrcRate source_rate: u32;
    aclvencSetChannelDescMaxBitRate aclvencGetChannelDescMaxBitRate bit_rate: u32;
}

/// Returns the number of the open channel, or 0.
pub fn aclvencGetChannelDescChannelId(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let open = of_call(cx, desc)?.open.lock().clone();
    Ok(open.map_or(0, |channel| channel.number()))
}

pub fn aclvencSetChannelDescEnType(cx: &Cx<'_>, desc: Raw, coding: u32) -> Result<()> {
    let found = of_call(cx, desc)?;
    check_member("acldvppStreamFormat", coding)?;
    found.fields.lock().coding = coding;
    Ok(())
}

pub fn aclvencGetChannelDescEnType(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let coding = of_call(cx, desc)?.fields.lock().coding;
    Ok(coding)
}

pub fn aclvencSetChannelDescPicFormat(cx: &Cx<'_>, desc: Raw, format: u32) -> Result<()> {
    let found = of_call(cx, desc)?;
    check_member("acldvppPixelFormat", format)?;
    found.fields.lock().format = format;
    Ok(())
}

pub fn aclvencGetChannelDescPicFormat(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let format = of_call(cx, desc)?.fields.lock().format;
    Ok(format)
}

pub fn aclvencSetChannelDescRcMode(cx: &Cx<'_>, desc: Raw, mode: u32) -> Result<()> {
    let found = of_call(cx, desc)?;
    check_range("rcMode", mode, 0..=2)?;
    found.fields.lock().rate_mode = mode;
    Ok(())
}

pub fn aclvencGetChannelDescRcMode(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let mode = of_call(cx, desc)?.fields.lock().rate_mode;
    Ok(mode)
}

pub fn aclvencSetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    let found = of_call(cx, desc)?;
    let read = || word(value, length);
    match parameter {
        enums::ACL_VENC_THREAD_ID_UINT64 => {
            aclvencSetChannelDescThreadId(cx, desc, long(value, length)?)
        }
        enums::ACL_VENC_CALLBACK_PTR => {
            aclvencSetChannelDescCallback(cx, desc, long(value, length)? as usize)
        }
        enums::ACL_VENC_PIXEL_FORMAT_UINT32 => aclvencSetChannelDescPicFormat(cx, desc, read()?),
        enums::ACL_VENC_ENCODE_TYPE_UINT32 => aclvencSetChannelDescEnType(cx, desc, read()?),
        enums::ACL_VENC_PIC_WIDTH_UINT32 => aclvencSetChannelDescPicWidth(cx, desc, read()?),
        enums::ACL_VENC_PIC_HEIGHT_UINT32 => aclvencSetChannelDescPicHeight(cx, desc, read()?),
        enums::ACL_VENC_KEY_FRAME_INTERVAL_UINT32 => {
            aclvencSetChannelDescKeyFrameInterval(cx, desc, read()?)
        }
        enums::ACL_VENC_BUF_ADDR_PTR => {
            aclvencSetChannelDescBufAddr(cx, desc, long(value, length)? as usize)
        }
        enums::ACL_VENC_BUF_SIZE_UINT32 => aclvencSetChannelDescBufSize(cx, desc, read()?),
        enums::ACL_VENC_RC_MODE_UINT32 => aclvencSetChannelDescRcMode(cx, desc, read()?),
        enums::ACL_VENC_SRC_RATE_UINT32 => aclvencSetChannelDescSrcRate(cx, desc, read()?),
        enums::ACL_VENC_MAX_BITRATE_UINT32 => aclvencSetChannelDescMaxBitRate(cx, desc, read()?),
        enums::ACL_VENC_MAX_IP_PROP_UINT32 => {
            let ratio = read()?;
            check_range(
                "the ratio of key frames to others",
                ratio,
                0..=LARGEST_RATIO,
            )?;
            found.fields.lock().key_ratio = ratio;
            Ok(())
        }
        other => check_member("aclvencChannelDescParamType", other),
    }
}

pub fn aclvencGetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
) -> Result<(usize, Vec<u8>)> {
    let fields = *of_call(cx, desc)?.fields.lock();
    let word = |value: u32| value.to_ne_bytes().to_vec();
    let long = |value: u64| value.to_ne_bytes().to_vec();
    let value = match parameter {
        enums::ACL_VENC_THREAD_ID_UINT64 => long(fields.thread),
        enums::ACL_VENC_CALLBACK_PTR => long(fields.callback as u64),
        enums::ACL_VENC_PIXEL_FORMAT_UINT32 => word(fields.format),
        enums::ACL_VENC_ENCODE_TYPE_UINT32 => word(fields.coding),
        enums::ACL_VENC_PIC_WIDTH_UINT32 => word(fields.width),
        enums::ACL_VENC_PIC_HEIGHT_UINT32 => word(fields.height),
        enums::ACL_VENC_KEY_FRAME_INTERVAL_UINT32 => word(fields.interval),
        enums::ACL_VENC_BUF_ADDR_PTR => long(fields.buffer as u64),
        enums::ACL_VENC_BUF_SIZE_UINT32 => word(fields.buffer_size),
        enums::ACL_VENC_RC_MODE_UINT32 => word(fields.rate_mode),
        enums::ACL_VENC_SRC_RATE_UINT32 => word(fields.source_rate),
        enums::ACL_VENC_MAX_BITRATE_UINT32 => word(fields.bit_rate),
        enums::ACL_VENC_MAX_IP_PROP_UINT32 => word(fields.key_ratio),
        other => {
            check_member("aclvencChannelDescParamType", other)?;
            Vec::new()
        }
    };
    answer(value, length)
}

pub fn aclvencCreateFrameConfig(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.frame_configs.insert(|id| {
        Arc::new(FrameConfig {
            id,
            fields: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclvencDestroyFrameConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    remove(cx, &cx.process.dvpp.frame_configs, config, "config").map(drop)
}

fields! {
    frame_configs, "config";
    aclvencSetFrameConfigEos aclvencGetFrameConfigEos eos: u8;
    aclvencSetFrameConfigForceIFrame aclvencGetFrameConfigForceIFrame is_key: u8;
}
