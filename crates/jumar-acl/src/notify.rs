//! Notifies.

use std::time::Duration;

use jumar_types::{ErrorKind, Result};

use crate::{Cx, Raw, refuse};

pub fn aclrtCreateNotify(cx: &Cx<'_>, flag: u64) -> Result<Raw> {
    if flag > 1 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the flag is {flag}; it has to be 0 or 1"),
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

pub fn aclrtWaitAndResetNotify(cx: &Cx<'_>, notify: Raw, stream: Raw, timeout: u32) -> Result<()> {
    let notify = cx.notify(notify)?;
    let limit = match timeout {
        0 => None,
        u32::MAX => cx.runtime()?.wait_limit(),
        seconds => Some(Duration::from_secs(u64::from(seconds))),
    };
    cx.with_stream(stream, |stream| {
        notify.wait_and_reset(stream, limit, &cx.caller())
    })
}

pub fn aclrtGetNotifyId(cx: &Cx<'_>, notify: Raw) -> Result<u32> {
    cx.notify(notify).map(|notify| notify.number() as u32)
}
