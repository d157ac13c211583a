//! Devices: set, reset, count, what they are.

use jumar_types::{Error, ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, limit_ms, refuse};

pub fn aclrtSetDevice(cx: &Cx<'_>, device: i32) -> Result<()> {
    let context = cx.runtime()?.retain_device(i64::from(device))?;
    cx.thread.set_current(Some(&context));
    Ok(())
}

pub fn aclrtResetDevice(cx: &Cx<'_>, device: i32) -> Result<()> {
    release(cx, device, false)
}

pub fn aclrtResetDeviceForce(cx: &Cx<'_>, device: i32) -> Result<()> {
    release(cx, device, true)
}

fn release(cx: &Cx<'_>, device: i32, all: bool) -> Result<()> {
    let runtime = cx.runtime()?;
    let primary = runtime
        .device(i64::from(device))?
        .primary()
        .map(|context| context.id());
    runtime.release_device(i64::from(device), all, &cx.caller())?;
    let gone = runtime.device(i64::from(device))?.primary().is_none();
    if gone && primary == Some(cx.thread.current_handle()) {
        cx.thread.set_current(None);
    }
    Ok(())
}

pub fn aclrtGetDevice(cx: &Cx<'_>) -> Result<i32> {
    if cx.thread.current_handle() == 0
        && let Some(device) = cx.process.default_device()
    {
        return Ok(device);
    }
    Ok(cx.context()?.device().number() as i32)
}

pub fn aclrtGetRunMode(_cx: &Cx<'_>) -> Result<u32> {
    Ok(enums::ACL_HOST)
}

pub fn aclrtGetDeviceCount(cx: &Cx<'_>) -> Result<u32> {
    match cx.runtime()?.device_count() {
        0 => refuse(
            ErrorKind::NoDevice,
            "ASCEND_RT_VISIBLE_DEVICES leaves no device visible",
        ),
        count => Ok(count),
    }
}

pub fn aclrtSynchronizeDevice(cx: &Cx<'_>) -> Result<()> {
    let context = cx.context()?;
    crate::error::told(cx, context.synchronize(None, &cx.caller()))
}

pub fn aclrtSynchronizeDeviceWithTimeout(cx: &Cx<'_>, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidValue)?;
    let context = cx.context()?;
    crate::error::told(cx, context.synchronize(limit, &cx.caller()))
}

pub fn aclrtSetTsDevice(_cx: &Cx<'_>, ts: u32) -> Result<()> {
    if ts >= enums::ACL_TS_ID_RESERVED {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{ts} is no value of aclrtTsId"),
        );
    }
    Ok(())
}

pub fn aclrtQueryDeviceStatus(cx: &Cx<'_>, device: i32) -> Result<u32> {
    cx.runtime()?.device(i64::from(device))?;
    Ok(enums::ACL_RT_DEVICE_STATUS_NORMAL)
}

pub fn aclrtDeviceGetBareTgid(_cx: &Cx<'_>) -> Result<i32> {
    Ok(std::process::id() as i32)
}

pub fn aclrtGetDeviceInfo(cx: &Cx<'_>, device: u32, attribute: u32) -> Result<i64> {
    let device = cx.runtime()?.device(i64::from(device))?;
    let profile = device.profile();
    Ok(match attribute {
        enums::ACL_DEV_ATTR_AICPU_CORE_NUM => i64::from(profile.aicpu_cores),
        enums::ACL_DEV_ATTR_AICORE_CORE_NUM | enums::ACL_DEV_ATTR_CUBE_CORE_NUM => {
            i64::from(profile.cube_cores)
        }
        enums::ACL_DEV_ATTR_VECTOR_CORE_NUM => i64::from(profile.vector_cores),
        enums::ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE => profile.memory_bytes as i64,
        enums::ACL_DEV_ATTR_L2_CACHE_SIZE if profile.chip.l2_bytes.is_some() => {
            profile.chip.l2_bytes.unwrap_or(0) as i64
        }
        enums::ACL_DEV_ATTR_PHY_CHIP_ID => i64::from(device.number()),
        enums::ACL_DEV_ATTR_IS_VIRTUAL => 1,
        _ => {
            return refuse(
                ErrorKind::InvalidValue,
                format!(
                    "attribute {attribute} of aclrtDevAttr is not one that a software device has"
                ),
            );
        }
    })
}

/// Numbers of devices in a process are user ids throughout; the names with "logic" in them are a known naming mistake.
fn same_id(cx: &Cx<'_>, device: i32) -> Result<i32> {
    cx.runtime()?.device(i64::from(device))?;
    Ok(device)
}

fn physical(cx: &Cx<'_>, device: i32) -> Result<i32> {
    cx.runtime()?.device(i64::from(device))?;
    Ok(jumar::config::physical_number(device as u32) as i32)
}

fn from_physical(cx: &Cx<'_>, number: i32) -> Result<i32> {
    (0..cx.runtime()?.device_count())
        .find(|&device| i64::from(jumar::config::physical_number(device)) == i64::from(number))
        .map(|device| device as i32)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidDevice,
                format!("no visible device is physical device {number}"),
            )
        })
}

pub fn aclrtGetLogicDevIdByUserDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    same_id(cx, device)
}

pub fn aclrtGetUserDevIdByLogicDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    same_id(cx, device)
}

pub fn aclrtGetLogicDevIdByPhyDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    from_physical(cx, device)
}

pub fn aclrtGetPhyDevIdByLogicDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    physical(cx, device)
}

pub fn aclrtGetUserDevIdByPhyDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    from_physical(cx, device)
}

pub fn aclrtGetPhyDevIdByUserDevId(cx: &Cx<'_>, device: i32) -> Result<i32> {
    physical(cx, device)
}

/// The overflow mode is kept for the process; floating-point work here never saturates silently, whichever is chosen.
pub fn aclrtSetDeviceSatMode(cx: &Cx<'_>, mode: u32) -> Result<()> {
    cx.context()?;
    if mode > enums::ACL_RT_OVERFLOW_MODE_INFNAN {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{mode} is no value of aclrtFloatOverflowMode"),
        );
    }
    cx.process.parameters.lock().overflow_mode = mode;
    Ok(())
}

pub fn aclrtGetDeviceSatMode(cx: &Cx<'_>) -> Result<u32> {
    cx.context()?;
    Ok(cx.process.parameters.lock().overflow_mode)
}
