//! What frameworks report to the profiler about their own work. The reports are checked and dropped: a profile shows the runtime's
//! operations, and the names of a framework's operators reach it through `aclprofRangePushEx` and `aclprofMarkEx`.

use std::ffi::CStr;

use jumar_types::Result;

use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw};

/// What a reporting function answers when it accepts a report.
const ACCEPTED: i32 = 0;

fn accept(name: &str, is_null: bool) -> Result<i32> {
    match is_null {
        true => Err(null(name)),
        false => Ok(ACCEPTED),
    }
}

pub fn MsprofRegisterCallback(_cx: &Cx<'_>, _module: u32, address: usize) -> Result<i32> {
    accept("handle", address == 0)
}

pub fn MsprofReportApi(_cx: &Cx<'_>, _flag: u32, api: Option<&types::MsprofApi>) -> Result<i32> {
    accept("api", api.is_none())
}

pub fn MsprofReportEvent(_cx: &Cx<'_>, _flag: u32, event: Raw) -> Result<i32> {
    accept("event", event.is_null())
}

pub fn MsprofReportCompactInfo(_cx: &Cx<'_>, _flag: u32, data: usize, _length: u32) -> Result<i32> {
    accept("data", data == 0)
}

pub fn MsprofReportAdditionalInfo(
    _cx: &Cx<'_>,
    _flag: u32,
    data: usize,
    _length: u32,
) -> Result<i32> {
    accept("data", data == 0)
}

pub fn MsprofReportBatchAdditionalInfo(
    _cx: &Cx<'_>,
    _flag: u32,
    data: usize,
    _length: u32,
) -> Result<i32> {
    accept("data", data == 0)
}

pub fn MsprofReportData(
    _cx: &Cx<'_>,
    _module: u32,
    _kind: u32,
    data: usize,
    _length: u32,
) -> Result<i32> {
    accept("data", data == 0)
}

pub fn MsprofRegTypeInfo(_cx: &Cx<'_>, _level: u16, _id: u32, name: Option<&CStr>) -> Result<i32> {
    accept("typeName", name.is_none())
}

/// FNV-1a: a fixed function, so that every process has the same number for a text.
fn hash(text: Option<&[u8]>) -> Result<u64> {
    let text = text.ok_or_else(|| null("hashInfo"))?;
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // 0 is the answer to an error.
    Ok(hash.max(1))
}

pub fn MsprofGetHashId(_cx: &Cx<'_>, text: Option<&[u8]>, _length: usize) -> Result<u64> {
    hash(text)
}

pub fn MsprofStr2Id(_cx: &Cx<'_>, text: Option<&[u8]>, _length: usize) -> Result<u64> {
    hash(text)
}

pub fn MsprofSysCycleTime(_cx: &Cx<'_>) -> Result<u64> {
    Ok(jumar::engine::now_ns())
}

/// The model can be subscribed to from then on. It has no records: what other runtimes execute is not Jumar's to time.
pub fn MsprofSetDeviceIdByGeModelIdx(cx: &Cx<'_>, model: u32, device: u32) -> Result<i32> {
    cx.process.prof.report_model(model, device, true);
    Ok(ACCEPTED)
}

pub fn MsprofUnsetDeviceIdByGeModelIdx(cx: &Cx<'_>, model: u32, device: u32) -> Result<i32> {
    cx.process.prof.report_model(model, device, false);
    Ok(ACCEPTED)
}

pub fn MsprofNotifySetDevice(_cx: &Cx<'_>, _chip: u32, _device: u32, _open: u8) -> Result<i32> {
    Ok(ACCEPTED)
}
