//! Notifies.

use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::{CountChange, CountNotify, CountWait};
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::ipc::{KEY_CAPACITY, Key, processes};
use crate::{Cx, Raw, refuse};

pub fn aclrtCreateNotify(cx: &Cx<'_>, flag: u64) -> Result<Raw> {
    if flag > 1 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the flag is {flag}; it must be 0 or 1"),
        );
    }
    cx.context()?.create_notify().map(|notify| Raw(notify.id()))
}

pub fn aclrtDestroyNotify(cx: &Cx<'_>, notify: Raw) -> Result<()> {
    cx.notify(notify)?.destroy(&cx.caller())
}

pub fn aclrtRecordNotify(cx: &Cx<'_>, notify: Raw, stream: Raw) -> Result<()> {
    let notify = cx.notify(notify)?;
    cx.with_stream(stream, |stream| notify.record(stream, &cx.caller()))
}

/// Reads a limit in seconds: 0 is forever, the largest number the process's own limit.
fn wait_limit(cx: &Cx<'_>, timeout: u32) -> Result<Option<Duration>> {
    Ok(match timeout {
        0 => None,
        u32::MAX => cx.runtime()?.wait_limit(),
        seconds => Some(Duration::from_secs(u64::from(seconds))),
    })
}

pub fn aclrtWaitAndResetNotify(cx: &Cx<'_>, notify: Raw, stream: Raw, timeout: u32) -> Result<()> {
    let notify = cx.notify(notify)?;
    let limit = wait_limit(cx, timeout)?;
    cx.with_stream(stream, |stream| {
        notify.wait_and_reset(stream, limit, &cx.caller())
    })
}

pub fn aclrtGetNotifyId(cx: &Cx<'_>, notify: Raw) -> Result<u32> {
    cx.notify(notify).map(|notify| notify.number() as u32)
}

fn value<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

/// Clears notifies at once; none is changed if one handle is not a notify.
pub fn aclrtNotifyBatchReset(cx: &Cx<'_>, notifies: Option<&[Raw]>, count: usize) -> Result<()> {
    let notifies = notifies.ok_or_else(|| null("notifies"))?;
    if count == 0 {
        return value("num is 0".into());
    }
    let found = notifies
        .iter()
        .enumerate()
        .map(|(index, notify)| match notify.is_null() {
            true => value(format!("notifies[{index}] is null")),
            false => cx.notify(*notify),
        })
        .collect::<Result<Vec<_>>>()?;
    for notify in found {
        notify.reset(&cx.caller())?;
    }
    Ok(())
}

pub fn aclrtNotifyGetExportKey(
    cx: &Cx<'_>,
    notify: Raw,
    capacity: usize,
    flags: u64,
) -> Result<CString> {
    let notify = cx.notify(notify)?;
    if capacity < KEY_CAPACITY {
        return value(format!("len is {capacity}; {KEY_CAPACITY} is the least"));
    }
    let listed_only = match flags {
        enums::ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT => true,
        enums::ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION => false,
        _ => return value(format!("flags are {flags}; they must be 0 or 2")),
    };
    Ok(Key::Notify(notify.export(listed_only)?).text())
}

pub fn aclrtNotifyImportByKey(cx: &Cx<'_>, key: Option<&CStr>, flags: u64) -> Result<Raw> {
    let key = key.ok_or_else(|| null("key"))?;
    if flags > 2 {
        return value(format!("flags are {flags}; they must be 0, 1 or 2"));
    }
    let Some(Key::Notify(number)) = Key::read(key) else {
        return value(format!(
            "\"{}\" is not a key of a notify",
            key.to_string_lossy()
        ));
    };
    let notify = cx.context()?.import_notify(number)?;
    Ok(Raw(notify.id()))
}

pub fn aclrtNotifySetImportPid(
    cx: &Cx<'_>,
    notify: Raw,
    pids: Option<&[i32]>,
    count: usize,
) -> Result<()> {
    let notify = cx.notify(notify)?;
    notify.admit(&processes(pids, count)?)
}

fn count_notify(cx: &Cx<'_>, notify: Raw) -> Result<Arc<CountNotify>> {
    cx.runtime()?.count_notifies().get(notify.0)
}

pub fn aclrtCntNotifyCreate(cx: &Cx<'_>, flag: u64) -> Result<Raw> {
    if flag > 1 {
        return value(format!("the flag is {flag}; it must be 0 or 1"));
    }
    cx.context()?
        .create_count_notify()
        .map(|notify| Raw(notify.id()))
}

pub fn aclrtCntNotifyDestroy(cx: &Cx<'_>, notify: Raw) -> Result<()> {
    count_notify(cx, notify)?.destroy(&cx.caller())
}

pub fn aclrtCntNotifyGetId(cx: &Cx<'_>, notify: Raw) -> Result<u32> {
    count_notify(cx, notify).map(|notify| notify.number() as u32)
}

pub fn aclrtCntNotifyRecord(
    cx: &Cx<'_>,
    notify: Raw,
    stream: Raw,
    info: Option<&types::aclrtCntNotifyRecordInfo>,
) -> Result<()> {
    let notify = count_notify(cx, notify)?;
    let info = info.ok_or_else(|| null("info"))?;
    let change = match info.mode {
        enums::ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE => CountChange::Set(info.value),
        enums::ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE => CountChange::Add(info.value),
        enums::ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE => CountChange::Or(info.value),
        enums::ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE => CountChange::And(info.value),
        mode => {
            return value(format!(
                "mode: {}",
                crate::not_a_value("aclrtCntNotifyRecordMode", mode)
            ));
        }
    };
    cx.with_stream(stream, |stream| notify.record(stream, change, &cx.caller()))
}

pub fn aclrtCntNotifyWaitWithTimeout(
    cx: &Cx<'_>,
    notify: Raw,
    stream: Raw,
    info: Option<&types::aclrtCntNotifyWaitInfo>,
) -> Result<()> {
    let notify = count_notify(cx, notify)?;
    let info = info.ok_or_else(|| null("info"))?;
    let wanted = match info.mode {
        enums::ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE => CountWait::Less(info.value),
        enums::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE => CountWait::Equal(info.value),
        enums::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE => CountWait::More(info.value),
        enums::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE => CountWait::AtLeast(info.value),
        enums::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE => CountWait::Bits(info.value),
        mode => {
            return value(format!(
                "mode: {}",
                crate::not_a_value("aclrtCntNotifyWaitMode", mode)
            ));
        }
    };
    if info.isClear > 1 {
        return value(format!("isClear is {}; it must be 0 or 1", info.isClear));
    }
    let limit = wait_limit(cx, info.timeout)?;
    cx.with_stream(stream, |stream| {
        notify.wait(stream, wanted, info.isClear == 1, limit, &cx.caller())
    })
}

pub fn aclrtCntNotifyReset(cx: &Cx<'_>, notify: Raw, stream: Raw) -> Result<()> {
    let notify = count_notify(cx, notify)?;
    cx.with_stream(stream, |stream| {
        notify.record(stream, CountChange::Set(0), &cx.caller())
    })
}
