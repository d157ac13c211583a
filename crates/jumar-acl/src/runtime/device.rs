//! Devices: set, reset, count, what they are.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::{Device, Stream};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::hooks::{AbortHook, DeviceStateHook};
use crate::{Cx, limit_ms, refuse};

pub fn aclrtSetDevice(cx: &Cx<'_>, device: i32) -> Result<()> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    notify(cx, device, enums::ACL_RT_DEVICE_STATE_SET_PRE);
    let context = runtime.retain_device(i64::from(device))?;
    cx.thread.set_current(Some(&context));
    notify(cx, device, enums::ACL_RT_DEVICE_STATE_SET_POST);
    Ok(())
}

/// Calls the registered functions for devices.
fn notify(cx: &Cx<'_>, device: i32, state: u32) {
    for callback in cx.process.hooks.devices.all() {
        callback(device, state);
    }
}

pub fn aclrtResetDevice(cx: &Cx<'_>, device: i32) -> Result<()> {
    release(cx, device, false)
}

pub fn aclrtResetDeviceForce(cx: &Cx<'_>, device: i32) -> Result<()> {
    release(cx, device, true)
}

fn release(cx: &Cx<'_>, device: i32, all: bool) -> Result<()> {
    let runtime = cx.runtime()?;
    let held = runtime.device(i64::from(device))?;
    let context = held.primary();
    let primary = context.as_ref().map(|context| context.id());
    if let Some(context) = &context {
        notify(cx, device, enums::ACL_RT_DEVICE_STATE_RESET_PRE);
        if all || held.uses() == 1 {
            crate::stream::notify_all(cx, context);
        }
    }
    drop(context);
    runtime.release_device(i64::from(device), all, &cx.caller())?;
    let gone = runtime.device(i64::from(device))?.primary().is_none();
    if gone && primary == Some(cx.thread.current_handle()) {
        cx.thread.set_current(None);
    }
    notify(cx, device, enums::ACL_RT_DEVICE_STATE_RESET_POST);
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
    match cx.process.settings()?.visible_devices().len() as u32 {
        0 => refuse(
            ErrorKind::NoDevice,
            "ASCEND_RT_VISIBLE_DEVICES leaves no device visible",
        ),
        count => Ok(count),
    }
}

pub fn aclrtSynchronizeDevice(cx: &Cx<'_>) -> Result<()> {
    let context = cx.context()?;
    crate::error::report_failure(cx, context.synchronize(None, &cx.caller()))
}

pub fn aclrtSynchronizeDeviceWithTimeout(cx: &Cx<'_>, timeout: i32) -> Result<()> {
    let limit = limit_ms(timeout, ErrorKind::InvalidValue)?;
    let context = cx.context()?;
    crate::error::report_failure(cx, context.synchronize(limit, &cx.caller()))
}

pub fn aclrtSetTsDevice(_cx: &Cx<'_>, ts: u32) -> Result<()> {
    if ts >= enums::ACL_TS_ID_RESERVED {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtTsId", ts),
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

/// The overflow mode is kept for the device; floating-point work here never saturates silently, whichever is chosen. Clients set the
/// mode before they set a device: then it is the mode of every device that is not given another one.
pub fn aclrtSetDeviceSatMode(cx: &Cx<'_>, mode: u32) -> Result<()> {
    let device = device_if_any(cx)?;
    if mode > enums::ACL_RT_OVERFLOW_MODE_INFNAN {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtFloatOverflowMode", mode),
        );
    }
    let mut parameters = cx.process.parameters.lock();
    match device {
        Some(device) => drop(parameters.overflow_modes.insert(device, mode)),
        None => parameters.usual_overflow_mode = Some(mode),
    }
    Ok(())
}

pub fn aclrtGetDeviceSatMode(cx: &Cx<'_>) -> Result<u32> {
    let device = device_if_any(cx)?;
    let parameters = cx.process.parameters.lock();
    let own = device.and_then(|device| parameters.overflow_modes.get(&device).copied());
    let set = own.or(parameters.usual_overflow_mode);
    drop(parameters);
    match set {
        Some(mode) => Ok(mode),
        None => Ok(usual_overflow_mode(
            &cx.process.settings()?.profile.soc_name,
        )),
    }
}

/// Returns the number of the calling thread's device, if it has one.
fn device_if_any(cx: &Cx<'_>) -> Result<Option<u32>> {
    if cx.thread.current_handle() == 0 && cx.process.default_device().is_none() {
        return Ok(None);
    }
    Ok(Some(cx.context()?.device().number()))
}

/// The mode that a chip starts with: the 910B and later ones compute with infinities and NaN, the ones before saturate.
fn usual_overflow_mode(chip: &str) -> u32 {
    let saturates = ["Ascend310", "Ascend610", "Ascend910A", "Ascend910Pro"];
    match saturates.iter().any(|name| chip.starts_with(name)) {
        true => enums::ACL_RT_OVERFLOW_MODE_SATURATION,
        false => enums::ACL_RT_OVERFLOW_MODE_INFNAN,
    }
}

pub fn aclrtRegDeviceStateCallback(
    cx: &Cx<'_>,
    name: Option<&CStr>,
    function: Option<DeviceStateHook>,
) -> Result<()> {
    cx.process.hooks.devices.set(name, function)
}

pub fn aclrtSetDeviceTaskAbortCallback(
    cx: &Cx<'_>,
    name: Option<&CStr>,
    function: Option<AbortHook>,
) -> Result<()> {
    cx.process.hooks.aborts.set(name, function)
}

/// The longest time limit of an abort: 36 minutes.
const LONGEST_ABORT_MS: u32 = 36 * 60 * 1000;

pub fn aclrtDeviceTaskAbort(cx: &Cx<'_>, device: i32, timeout: u32) -> Result<()> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    if timeout > LONGEST_ABORT_MS {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the timeout is {timeout} ms; it must be 0 (no limit) to {LONGEST_ABORT_MS}"),
        );
    }
    let limit = (timeout != 0).then(|| Duration::from_millis(u64::from(timeout)));
    notify_abort(cx, device, enums::ACL_RT_DEVICE_TASK_ABORT_PRE, timeout)?;
    runtime.abort_device(i64::from(device), limit)?;
    notify_abort(cx, device, enums::ACL_RT_DEVICE_TASK_ABORT_POST, timeout)
}

fn notify_abort(cx: &Cx<'_>, device: i32, stage: u32, timeout: u32) -> Result<()> {
    for callback in cx.process.hooks.aborts.all() {
        let answer = callback(device, stage, timeout);
        if answer != 0 {
            return refuse(
                ErrorKind::RuntimeInternal,
                format!(
                    "a function registered for aborts returned {answer} for device {device}; it must return 0"
                ),
            );
        }
    }
    Ok(())
}

/// What cannot be measured on a software device.
const NOT_COUNTED: i32 = -1;

pub fn aclrtGetDeviceUtilizationRate(
    cx: &Cx<'_>,
    device: i32,
    asked: types::aclrtUtilizationInfo,
) -> Result<types::aclrtUtilizationInfo> {
    if asked.utilizationExtend != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "utilizationExtend is reserved and has to be null",
        );
    }
    let (free, total) = cx.runtime()?.device(i64::from(device))?.memory_info();
    let used = (total - free).saturating_mul(100).checked_div(total);
    Ok(types::aclrtUtilizationInfo {
        cubeUtilization: NOT_COUNTED,
        vectorUtilization: NOT_COUNTED,
        aicpuUtilization: NOT_COUNTED,
        memoryUtilization: used.unwrap_or(0) as i32,
        utilizationExtend: 0,
    })
}

pub fn aclrtGetDeviceCapability(cx: &Cx<'_>, device: i32, feature: u32) -> Result<i32> {
    cx.runtime()?.device(i64::from(device))?;
    match feature {
        // Tasks of a captured graph can be updated whatever they run on.
        enums::ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV => Ok(enums::ACL_DEV_FEATURE_SUPPORT),
        // Queues send no events to other devices.
        enums::ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV => Ok(enums::ACL_DEV_FEATURE_NOT_SUPPORT),
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtDevFeatureType", feature),
        ),
    }
}

pub fn aclrtDeviceGetUuid(cx: &Cx<'_>, device: i32) -> Result<types::aclrtUuid> {
    let number = physical(cx, device)? as u32;
    let mut uuid = types::aclrtUuid::ZERO;
    uuid.bytes = jumar::config::device_uuid(number);
    Ok(uuid)
}

/// What a limit is before anybody sets it, in bytes.
fn limit_before(limit: u32) -> usize {
    match limit {
        enums::ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE => 32 << 10,
        _ => 1 << 20,
    }
}

fn check_limit(limit: u32) -> Result<()> {
    match limit {
        enums::ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE
        | enums::ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE => Ok(()),
        enums::ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE
        | enums::ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE
        | enums::ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE => refuse(
            ErrorKind::FeatureUnsupported,
            format!("limit {limit} is for chips with SIMT cores, which no profile has"),
        ),
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtDeviceLimit", limit),
        ),
    }
}

/// The limit is kept for the whole process. No kernel of a CPU needs it.
pub fn aclrtDeviceSetLimit(cx: &Cx<'_>, limit: u32, value: usize) -> Result<()> {
    if u32::try_from(value).is_err() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the value is {value}; {} is the most", u32::MAX),
        );
    }
    check_limit(limit)?;
    cx.runtime()?.device(0)?;
    cx.process.cores.lock().limits.insert(limit, value);
    Ok(())
}

pub fn aclrtDeviceGetLimit(cx: &Cx<'_>, limit: u32) -> Result<usize> {
    check_limit(limit)?;
    cx.runtime()?.device(0)?;
    let limits = &cx.process.cores.lock().limits;
    Ok(limits
        .get(&limit)
        .copied()
        .unwrap_or_else(|| limit_before(limit)))
}

/// The PCI domain in which software devices sit. The system numbers its own from 0, so that nothing real is found there.
const PCI_DOMAIN: &str = "ffff";
/// The smallest buffer for a device's bus id, with the terminating zero.
const PCI_CAPACITY: i32 = 13;

pub fn aclrtDeviceGetPCIBusId(cx: &Cx<'_>, device: i32, capacity: i32) -> Result<CString> {
    if capacity < PCI_CAPACITY {
        return refuse(
            ErrorKind::InvalidValue,
            format!("len is {capacity}; {PCI_CAPACITY} is the least"),
        );
    }
    let number = physical(cx, device)?;
    Ok(CString::new(format!("{PCI_DOMAIN}:{number:02x}:00.0")).unwrap_or_default())
}

pub fn aclrtDeviceGetByPCIBusId(cx: &Cx<'_>, bus_id: Option<&CStr>) -> Result<i32> {
    let bus_id = bus_id.ok_or_else(|| null("pciBusId"))?.to_string_lossy();
    let number = bus_id
        .to_ascii_lowercase()
        .strip_prefix(PCI_DOMAIN)
        .and_then(|rest| rest.strip_prefix(':')?.strip_suffix(":00.0"))
        .filter(|number| number.len() == 2)
        .and_then(|number| i32::from_str_radix(number, 16).ok());
    let Some(number) = number else {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "no device has the bus id \"{bus_id}\"; software devices have {PCI_DOMAIN}:NN:00.0"
            ),
        );
    };
    from_physical(cx, number)
}

/// Reads which atomic operations work, for each that is asked for: those of the processor, on memory that both sides share.
pub(crate) fn atomics(operations: Option<&[u32]>, count: u32) -> Result<Vec<u32>> {
    let operations = operations.ok_or_else(|| null("operations"))?;
    if count == 0 {
        return refuse(ErrorKind::InvalidArgument, "count is 0");
    }
    let words = enums::ACL_RT_ATOMIC_CAPABILITY_SCALAR32 | enums::ACL_RT_ATOMIC_CAPABILITY_SCALAR64;
    let all =
        words | enums::ACL_RT_ATOMIC_CAPABILITY_SCALAR8 | enums::ACL_RT_ATOMIC_CAPABILITY_SCALAR16;
    let signs = enums::ACL_RT_ATOMIC_CAPABILITY_SIGNED | enums::ACL_RT_ATOMIC_CAPABILITY_UNSIGNED;
    let capability = |operation: &u32| match *operation {
        enums::ACL_RT_ATOMIC_OPERATION_INTEGER_ADD
            ..=enums::ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT => Ok(signs | all),
        enums::ACL_RT_ATOMIC_OPERATION_AND..=enums::ACL_RT_ATOMIC_OPERATION_CAS => {
            Ok(enums::ACL_RT_ATOMIC_CAPABILITY_UNSIGNED | all)
        }
        // Processors have no atomic operations on floats, and no copy engine takes part.
        enums::ACL_RT_ATOMIC_OPERATION_FLOAT_ADD..=enums::ACL_RT_ATOMIC_OPERATION_FLOAT_MAX
        | enums::ACL_RT_ATOMIC_OPERATION_DMA_ADD..=enums::ACL_RT_ATOMIC_OPERATION_DMA_MAX
        | enums::ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD
            ..=enums::ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH => Ok(0),
        other => refuse(
            ErrorKind::InvalidValue,
            crate::not_a_value("aclrtAtomicOperation", other),
        ),
    };
    operations.iter().map(capability).collect()
}

pub fn aclrtDeviceGetHostAtomicCapabilities(
    cx: &Cx<'_>,
    operations: Option<&[u32]>,
    count: u32,
    device: i32,
) -> Result<Vec<u32>> {
    let capabilities = atomics(operations, count)?;
    cx.runtime()?.device(i64::from(device))?;
    Ok(capabilities)
}

/// Limits that are set and read back: what kernels may use.
#[derive(Default)]
pub struct CoreLimits {
    limits: HashMap<u32, usize>,
    /// By device and `aclrtDevResLimitType`.
    devices: HashMap<(u32, u32), u32>,
    /// By the stream's handle and type.
    streams: HashMap<(u64, u32), u32>,
}

fn cores(device: &Device, resource: u32) -> Result<u32> {
    match resource {
        enums::ACL_RT_DEV_RES_CUBE_CORE => Ok(device.profile().cube_cores),
        enums::ACL_RT_DEV_RES_VECTOR_CORE => Ok(device.profile().vector_cores),
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtDevResLimitType", resource),
        ),
    }
}

fn check_cores(device: &Device, resource: u32, value: u32) -> Result<()> {
    let most = cores(device, resource)?;
    if (1..=most).contains(&value) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidValue,
        format!(
            "{value} cores are asked for; device {} has {most}, and 1 is the least",
            device.number()
        ),
    )
}

pub fn aclrtSetDeviceResLimit(cx: &Cx<'_>, device: i32, resource: u32, value: u32) -> Result<()> {
    let device = cx.runtime()?.device(i64::from(device))?;
    check_cores(&device, resource, value)?;
    let key = (device.number(), resource);
    cx.process.cores.lock().devices.insert(key, value);
    Ok(())
}

pub fn aclrtGetDeviceResLimit(cx: &Cx<'_>, device: i32, resource: u32) -> Result<u32> {
    let device = cx.runtime()?.device(i64::from(device))?;
    let all = cores(&device, resource)?;
    let limits = cx.process.cores.lock();
    Ok(limits
        .devices
        .get(&(device.number(), resource))
        .copied()
        .unwrap_or(all))
}

pub fn aclrtResetDeviceResLimit(cx: &Cx<'_>, device: i32) -> Result<()> {
    let number = cx.runtime()?.device(i64::from(device))?.number();
    cx.process
        .cores
        .lock()
        .devices
        .retain(|(of, _), _| *of != number);
    Ok(())
}

/// The device of a stream, whose limits its own come before.
fn device_of(cx: &Cx<'_>, stream: &Stream) -> Result<Arc<Device>> {
    cx.runtime()?.device(i64::from(stream.device()))
}

pub(crate) fn set_stream_cores(
    cx: &Cx<'_>,
    stream: &Stream,
    resource: u32,
    value: u32,
) -> Result<()> {
    check_cores(&*device_of(cx, stream)?, resource, value)?;
    let mut limits = cx.process.cores.lock();
    limits.streams.insert((stream.id(), resource), value);
    Ok(())
}

/// How many cores a stream may use: its own limit, or its device's.
pub(crate) fn stream_cores(cx: &Cx<'_>, stream: &Stream, resource: u32) -> Result<u32> {
    cores(&*device_of(cx, stream)?, resource)?;
    let own = cx
        .process
        .cores
        .lock()
        .streams
        .get(&(stream.id(), resource))
        .copied();
    own.map_or_else(
        || aclrtGetDeviceResLimit(cx, stream.device() as i32, resource),
        Ok,
    )
}

pub(crate) fn reset_stream_cores(cx: &Cx<'_>, stream: u64) {
    cx.process
        .cores
        .lock()
        .streams
        .retain(|(of, _), _| *of != stream);
}

/// Memory of a software device has no cache of its own in front of it: what was written is there.
pub fn aclrtDeviceL2CacheFlush(cx: &Cx<'_>, reserved: usize) -> Result<()> {
    if reserved != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "rsv is reserved and has to be null",
        );
    }
    cx.context().map(drop)
}
