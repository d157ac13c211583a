//! Descriptions of channels that decode video, and configurations of packets.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::Result;

use super::decoding::Decoding;
use super::parameters::{answer, check_member, check_range, long, word};
use super::{argument, fields, find, remove};
use crate::generated::enums;
use crate::{Cx, Raw};

/// A description of a decoding channel, and the channel while one is open.
pub struct DecodingDesc {
    id: u64,
    pub(super) fields: Mutex<DecodingFields>,
    pub(super) open: Mutex<Option<Arc<Decoding>>>,
}

/// What a program states about a decoding channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodingFields {
    pub(super) channel: u32,
    pub(super) thread: u64,
    /// The address of a function.
    pub(super) callback: usize,
    pub(super) coding: u32,
    pub(super) format: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) references: u32,
    pub(super) depth: u32,
    pub(super) mode: u32,
    pub(super) matrix: u32,
}

/// A configuration of a packet, which has nothing that could be set.
pub struct PacketConfig {
    id: u64,
}

/// The most reference frames that a program can plan for.
const MOST_REFERENCES: u32 = 16;

pub fn aclvdecCreateChannelDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.decoders.insert(|id| {
        Arc::new(DecodingDesc {
            id,
            fields: Mutex::new(DecodingFields {
                channel: 0,
                thread: 0,
                callback: 0,
                coding: enums::H265_MAIN_LEVEL,
                format: enums::PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                width: 0,
                height: 0,
                references: 8,
                depth: 8,
                mode: 0,
                matrix: enums::ACL_DVPP_CSC_MATRIX_BT601_WIDE,
            }),
            open: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub(super) fn of_call(cx: &Cx<'_>, desc: Raw) -> Result<Arc<DecodingDesc>> {
    find(&cx.process.dvpp.decoders, desc, "channelDesc")
}

pub fn aclvdecDestroyChannelDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    if of_call(cx, desc)?.open.lock().is_some() {
        return Err(argument("the channel of the description is open")
            .fix("Call aclvdecDestroyChannel first."));
    }
    remove(cx, &cx.process.dvpp.decoders, desc, "channelDesc").map(drop)
}

fields! {
    decoders, "channelDesc";
    aclvdecSetChannelDescChannelId aclvdecGetChannelDescChannelId channel: u32;
    aclvdecSetChannelDescThreadId aclvdecGetChannelDescThreadId thread: u64;
    aclvdecSetChannelDescCallback aclvdecGetChannelDescCallback callback: usize;
    aclvdecSetChannelDescOutPicWidth aclvdecGetChannelDescOutPicWidth width: u32;
    aclvdecSetChannelDescOutPicHeight aclvdecGetChannelDescOutPicHeight height: u32;
}

/// Defines a setter that checks the value, and a getter.
macro_rules! checked_fields {
    ($($set:ident $get:ident $field:ident, |$value:ident| $check:expr;)*) => {$(
        pub fn $set(cx: &Cx<'_>, desc: Raw, $value: u32) -> Result<()> {
            let found = of_call(cx, desc)?;
            $check?;
            found.fields.lock().$field = $value;
            Ok(())
        }

        pub fn $get(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
            let found = of_call(cx, desc)?;
            let value = found.fields.lock().$field;
            Ok(value)
        }
    )*};
}

checked_fields! {
    aclvdecSetChannelDescEnType aclvdecGetChannelDescEnType coding,
        |value| check_member("acldvppStreamFormat", value);
    aclvdecSetChannelDescOutPicFormat aclvdecGetChannelDescOutPicFormat format,
        |value| check_member("acldvppPixelFormat", value);
    aclvdecSetChannelDescRefFrameNum aclvdecGetChannelDescRefFrameNum references,
        |value| check_range("refFrameNum", value, 0..=MOST_REFERENCES);
    aclvdecSetChannelDescBitDepth aclvdecGetChannelDescBitDepth depth, |value| check_depth(value);
    aclvdecSetChannelDescOutMode aclvdecGetChannelDescOutMode mode,
        |value| check_range("outMode", value, 0..=1);
}

fn check_depth(depth: u32) -> Result<()> {
    match depth {
        8 | 10 => Ok(()),
        _ => Err(argument(format!("bitDepth is {depth}; it must be 8 or 10"))),
    }
}

pub fn aclvdecSetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    let found = of_call(cx, desc)?;
    let read = || word(value, length);
    match parameter {
        enums::ACL_VDEC_CSC_MATRIX_UINT32 => {
            let matrix = read()?;
            check_member("acldvppCscMatrix", matrix)?;
            found.fields.lock().matrix = matrix;
            Ok(())
        }
        enums::ACL_VDEC_OUT_MODE_UINT32 => aclvdecSetChannelDescOutMode(cx, desc, read()?),
        enums::ACL_VDEC_THREAD_ID_UINT64 => {
            aclvdecSetChannelDescThreadId(cx, desc, long(value, length)?)
        }
        enums::ACL_VDEC_CALLBACK_PTR => {
            aclvdecSetChannelDescCallback(cx, desc, long(value, length)? as usize)
        }
        enums::ACL_VDEC_CHANNEL_ID_UINT32 => aclvdecSetChannelDescChannelId(cx, desc, read()?),
        enums::ACL_VDEC_ENCODE_TYPE_UINT32 => aclvdecSetChannelDescEnType(cx, desc, read()?),
        enums::ACL_VDEC_OUT_PIC_FORMAT_UINT32 => {
            aclvdecSetChannelDescOutPicFormat(cx, desc, read()?)
        }
        enums::ACL_VDEC_OUT_PIC_WIDTH_UINT32 => aclvdecSetChannelDescOutPicWidth(cx, desc, read()?),
        enums::ACL_VDEC_OUT_PIC_HEIGHT_UINT32 => {
            aclvdecSetChannelDescOutPicHeight(cx, desc, read()?)
        }
        enums::ACL_VDEC_REF_FRAME_NUM_UINT32 => aclvdecSetChannelDescRefFrameNum(cx, desc, read()?),
        enums::ACL_VDEC_BIT_DEPTH_UINT32 => aclvdecSetChannelDescBitDepth(cx, desc, read()?),
        other => check_member("aclvdecChannelDescParamType", other),
    }
}

pub fn aclvdecGetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
) -> Result<(usize, Vec<u8>)> {
    let fields = *of_call(cx, desc)?.fields.lock();
    let word = |value: u32| value.to_ne_bytes().to_vec();
    let value = match parameter {
        enums::ACL_VDEC_CSC_MATRIX_UINT32 => word(fields.matrix),
        enums::ACL_VDEC_OUT_MODE_UINT32 => word(fields.mode),
        enums::ACL_VDEC_THREAD_ID_UINT64 => fields.thread.to_ne_bytes().to_vec(),
        enums::ACL_VDEC_CALLBACK_PTR => (fields.callback as u64).to_ne_bytes().to_vec(),
        enums::ACL_VDEC_CHANNEL_ID_UINT32 => word(fields.channel),
        enums::ACL_VDEC_ENCODE_TYPE_UINT32 => word(fields.coding),
        enums::ACL_VDEC_OUT_PIC_FORMAT_UINT32 => word(fields.format),
        enums::ACL_VDEC_OUT_PIC_WIDTH_UINT32 => word(fields.width),
        enums::ACL_VDEC_OUT_PIC_HEIGHT_UINT32 => word(fields.height),
        enums::ACL_VDEC_REF_FRAME_NUM_UINT32 => word(fields.references),
        enums::ACL_VDEC_BIT_DEPTH_UINT32 => word(fields.depth),
        other => {
            check_member("aclvdecChannelDescParamType", other)?;
            Vec::new()
        }
    };
    answer(value, length)
}

pub fn aclvdecCreateFrameConfig(cx: &Cx<'_>) -> Result<Raw> {
    let configs = &cx.process.dvpp.packet_configs;
    let made = configs.insert(|id| Arc::new(PacketConfig { id }))?;
    Ok(Raw(made.id))
}

pub fn aclvdecDestroyFrameConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    remove(
        cx,
        &cx.process.dvpp.packet_configs,
        config,
        "vdecFrameConfig",
    )
    .map(drop)
}
