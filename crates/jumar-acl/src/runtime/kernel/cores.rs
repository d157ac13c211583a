//! Which cores a thread's work may use, which task it submitted last, and what runs on this chip at all.

use std::ffi::CStr;

use jumar_types::{ErrorKind, Result};

use crate::device::{aclrtGetDeviceResLimit, stream_cores};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

pub fn aclrtGetThreadLastTaskId(cx: &Cx<'_>) -> Result<u32> {
    Ok(cx.thread.lookups.last_task() as u32)
}

pub fn aclrtUseStreamResInCurrentThread(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    let handle = cx.with_stream(stream, |stream| Ok(stream.id()))?;
    cx.thread.resource_stream.set(handle);
    Ok(())
}

pub fn aclrtUnuseStreamResInCurrentThread(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    let handle = cx.with_stream(stream, |stream| Ok(stream.id()))?;
    if cx.thread.resource_stream.get() == handle {
        cx.thread.resource_stream.set(0);
    }
    Ok(())
}

/// The limits of the stream that the thread works under, or of its device.
pub fn aclrtGetResInCurrentThread(cx: &Cx<'_>, kind: u32) -> Result<u32> {
    let context = cx.context()?;
    if kind != enums::ACL_RT_DEV_RES_CUBE_CORE && kind != enums::ACL_RT_DEV_RES_VECTOR_CORE {
        return refuse(
            ErrorKind::InvalidValue,
            crate::not_a_value("aclrtDevResLimitType", kind),
        );
    }
    // A destroyed stream has no limits.
    match cx.any_stream(Raw(cx.thread.resource_stream.get())) {
        Ok(stream) if cx.thread.resource_stream.get() != 0 => stream_cores(cx, &stream, kind),
        _ => aclrtGetDeviceResLimit(cx, context.device().number() as i32, kind),
    }
}

pub fn aclrtGetHardwareSyncAddr(cx: &Cx<'_>) -> Result<usize> {
    cx.context()?;
    refuse(
        ErrorKind::FeatureUnsupported,
        "blocks of a kernel run in no particular order here, so there is no address through which they could wait for each other",
    )
}

/// The name without the suffix that distinguishes chips of one build: `Ascend910B` of `Ascend910B1`.
fn family(soc: &str) -> &str {
    let long = soc.trim_end_matches(|c: char| c.is_ascii_digit());
    // A name that ends in its number alone has no variants.
    if long.ends_with(|c: char| c.is_ascii_uppercase()) {
        long
    } else {
        soc
    }
}

pub fn aclrtCheckArchCompatibility(cx: &Cx<'_>, soc: Option<&CStr>) -> Result<i32> {
    let Some(soc) = soc else {
        return Err(null("socVersion"));
    };
    let own = match cx.context() {
        Ok(context) => context.device().profile().soc_name.clone(),
        Err(_) => cx.runtime()?.device(0)?.profile().soc_name.clone(),
    };
    let asked = soc.to_string_lossy();
    Ok(i32::from(family(&asked) == family(&own)))
}
