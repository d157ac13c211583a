//! Options of the process and of communicators, and what can be asked of them.

use std::ffi::{CStr, CString};

use jumar_types::{Error, ErrorKind, Result};

use super::wrong;
use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw};

/// The largest value of `HCCL_DETERMINISTIC`.
const STRICT: i32 = 2;

fn check_option(option: u32) -> Result<()> {
    if option == enums::HCCL_DETERMINISTIC {
        return Ok(());
    }
    wrong(format!(
        "option {option} is not a value of HcclConfig; HCCL_DETERMINISTIC (0) is the one option"
    ))
}

fn check_value(value: types::HcclConfigValue) -> Result<u32> {
    match value.value() {
        value @ 0..=STRICT => Ok(value.unsigned_abs()),
        other => wrong(format!(
            "{other} is not one of 0 to {STRICT}, the values of HCCL_DETERMINISTIC"
        )),
    }
}

fn to_value(deterministic: u32) -> types::HcclConfigValue {
    let mut value = types::HcclConfigValue::ZERO;
    value.set_value(deterministic.cast_signed());
    value
}

pub fn HcclSetConfig(cx: &Cx<'_>, option: u32, value: types::HcclConfigValue) -> Result<()> {
    check_option(option)?;
    *cx.process.communication.deterministic.lock() = Some(check_value(value)?);
    Ok(())
}

pub fn HcclGetConfig(cx: &Cx<'_>, option: u32) -> Result<types::HcclConfigValue> {
    check_option(option)?;
    cx.default_deterministic().map(to_value)
}

pub fn HcclSetCommConfig(
    cx: &Cx<'_>,
    comm: Raw,
    option: u32,
    value: types::HcclConfigValue,
) -> Result<()> {
    let comm = cx.comm(comm)?;
    check_option(option)?;
    *comm.deterministic.lock() = check_value(value)?;
    Ok(())
}

pub fn HcclGetCommConfig(cx: &Cx<'_>, comm: Raw, option: u32) -> Result<types::HcclConfigValue> {
    let comm = cx.comm(comm)?;
    check_option(option)?;
    Ok(to_value(*comm.deterministic.lock()))
}

/// Every field of the configuration is known: a capability is there if its number is smaller.
pub fn HcclGetCommConfigCapability(_cx: &Cx<'_>) -> Result<u32> {
    Ok(enums::HCCL_COMM_CONFIG_RESERVED)
}

pub fn HcclGetRankSize(cx: &Cx<'_>, comm: Raw) -> Result<u32> {
    Ok(cx.comm(comm)?.engine()?.size())
}

pub fn HcclGetRankId(cx: &Cx<'_>, comm: Raw) -> Result<u32> {
    Ok(cx.comm(comm)?.engine()?.rank())
}

pub fn HcclGetCommName(cx: &Cx<'_>, comm: Raw) -> Result<CString> {
    let comm = cx.comm(comm)?;
    CString::new(comm.engine()?.name())
        .map_err(|_| Error::new(ErrorKind::Internal, "a name with a zero byte"))
}

/// Finds the communicator of a name: of the current device, if the thread has one.
fn named(cx: &Cx<'_>, name: Option<&CStr>, what: &str) -> Result<u64> {
    cx.comm_settings()?;
    let name = name.ok_or_else(|| null(what))?.to_string_lossy();
    let device = cx.comm_device().ok();
    let comms = cx.process.communication.comms.all();
    let found = comms.iter().find(|comm| {
        let same = comm.engine.get().is_some_and(|one| one.name() == name);
        same && device.is_none_or(|device| device == comm.device)
    });
    match found {
        Some(comm) => Ok(comm.id),
        None => Err(Error::new(
            ErrorKind::CommUnknownName,
            format!("no communicator of the current device is named \"{name}\""),
        )),
    }
}

pub fn HcclCommGetHandleWithName(cx: &Cx<'_>, name: Option<&CStr>) -> Result<Raw> {
    named(cx, name, "commName").map(Raw)
}

pub fn HcclCommGetStatus(cx: &Cx<'_>, name: Option<&CStr>) -> Result<u32> {
    let comm = cx.comm(Raw(named(cx, name, "commId")?))?;
    Ok(match comm.engine()?.is_suspended() {
        true => enums::HCCL_COMM_STATUS_SUSPENDING,
        false => enums::HCCL_COMM_STATUS_READY,
    })
}

pub fn HcclGetCommAsyncError(cx: &Cx<'_>, comm: Raw) -> Result<u32> {
    let comm = cx.comm(comm)?;
    let failed = comm.engine.get().and_then(|engine| engine.failure());
    Ok(match failed {
        Some(_) => enums::HCCL_E_REMOTE,
        None => enums::HCCL_SUCCESS,
    })
}

pub fn HcclConfigGetInfo(cx: &Cx<'_>, comm: Raw, of: i32, length: u32) -> Result<Vec<u8>> {
    let comm = cx.comm(comm)?;
    let mut bytes = match of {
        enums::HCCL_CONFIG_TYPE_OP_EXPANSION_MODE => comm.expansion.to_ne_bytes().to_vec(),
        enums::HCCL_CONFIG_TYPE_HCCL_ALGO => {
            let mut text = comm.algorithm.clone().into_bytes();
            text.push(0);
            text
        }
        other => return wrong(crate::not_a_value("HcclConfigType", other)),
    };
    let length = length as usize;
    if bytes.len() > length {
        return wrong(format!(
            "infoLen is {length}; the information has {} bytes",
            bytes.len()
        ));
    }
    bytes.resize(length, 0);
    Ok(bytes)
}

pub fn HcclCommSuspend(cx: &Cx<'_>, comm: Raw) -> Result<()> {
    cx.comm(comm)?.engine()?.suspend();
    Ok(())
}

pub fn HcclCommResume(cx: &Cx<'_>, comm: Raw) -> Result<()> {
    cx.comm(comm)?.engine()?.resume();
    Ok(())
}

/// The text of every number: programs print it without a look.
pub fn HcclGetErrorString(_cx: &Cx<'_>, code: u32) -> Result<&'static CStr> {
    Ok(match code {
        enums::HCCL_SUCCESS => c"no error",
        enums::HCCL_E_PARA => c"an argument is not valid",
        enums::HCCL_E_PTR => c"a pointer is null",
        enums::HCCL_E_MEMORY => c"host memory could not be used",
        enums::HCCL_E_INTERNAL => c"internal error",
        enums::HCCL_E_NOT_SUPPORT => c"not supported",
        enums::HCCL_E_NOT_FOUND => c"not found",
        enums::HCCL_E_UNAVAIL => c"the communicator or a resource is not available",
        enums::HCCL_E_SYSCALL => c"a system call failed",
        enums::HCCL_E_TIMEOUT => c"time limit exceeded",
        enums::HCCL_E_OPEN_FILE_FAILURE => c"a file could not be opened",
        enums::HCCL_E_TCP_CONNECT => c"the root could not be reached",
        enums::HCCL_E_ROCE_CONNECT => c"a connection between devices failed",
        enums::HCCL_E_TCP_TRANSFER => c"a transfer between hosts failed",
        enums::HCCL_E_ROCE_TRANSFER => c"a transfer between devices failed",
        enums::HCCL_E_RUNTIME => c"a call of the runtime failed",
        enums::HCCL_E_DRV => c"a call of the driver failed",
        enums::HCCL_E_PROFILING => c"a call of the profiler failed",
        enums::HCCL_E_CCE => c"a call of the compiler failed",
        enums::HCCL_E_NETWORK => c"a call of the network failed",
        enums::HCCL_E_AGAIN => c"the communicator is in use, try again",
        enums::HCCL_E_REMOTE => c"another rank failed",
        enums::HCCL_E_SUSPENDING => c"the communicator is suspended",
        enums::HCCL_E_OPRETRY_FAIL => c"an operation could not be repeated",
        enums::HCCL_E_OOM => c"out of memory",
        enums::HCCL_E_IN_STATUS => c"the state does not allow it",
        _ => c"unknown code",
    })
}
