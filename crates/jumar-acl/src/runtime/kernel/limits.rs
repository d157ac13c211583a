//! How long kernels may take.
//!
//! The card counts in steps of its own, of which there are 254 at most; limits are rounded up to them. Code of the processor
//! cannot be stopped: a kernel that takes longer is run to its end and then reported.

use std::time::Duration;

use jumar::engine::sync::{AtomicU64, Ordering};
use jumar_types::Result;

use crate::Cx;

/// The limit that the program set, in microseconds; 0 is the longest.
#[derive(Default)]
pub(super) struct Limits {
    micros: AtomicU64,
}

const MOST_STEPS: u64 = 254;

/// The step of a chip, in microseconds: what makes 254 of them the documented longest limit.
fn step(soc: &str) -> u64 {
    if soc.starts_with("Ascend310P") {
        2_147_483
    } else if soc == "Ascend910A" || soc == "Ascend910" {
        268_435
    } else {
        4_294_967
    }
}

/// The step of the current device; without one, that of the first.
fn current_step(cx: &Cx<'_>) -> u64 {
    let soc = cx
        .context()
        .map(|context| context.device().profile().soc_name.clone())
        .or_else(|_| {
            Ok::<_, jumar_types::Error>(cx.runtime()?.device(0)?.profile().soc_name.clone())
        });
    step(soc.as_deref().unwrap_or_default())
}

fn rounded(micros: u64, step: u64) -> u64 {
    match micros {
        0 => step * MOST_STEPS,
        _ => step * micros.div_ceil(step).clamp(1, MOST_STEPS),
    }
}

/// The current time limit of kernels without their own. `None` if none was set: the longest limit is then not
/// worth reading the clock for.
pub(super) fn current(cx: &Cx<'_>) -> Option<Duration> {
    match cx.process.kernels.limits.micros.load(Ordering::Relaxed) {
        0 => None,
        micros => Some(Duration::from_micros(rounded(micros, current_step(cx)))),
    }
}

fn set(cx: &Cx<'_>, micros: u64) {
    cx.process
        .kernels
        .limits
        .micros
        .store(micros, Ordering::Relaxed);
}

pub fn aclrtSetOpExecuteTimeOut(cx: &Cx<'_>, seconds: u32) -> Result<()> {
    set(cx, u64::from(seconds) * 1_000_000);
    Ok(())
}

pub fn aclrtSetOpExecuteTimeOutWithMs(cx: &Cx<'_>, millis: u32) -> Result<()> {
    set(cx, u64::from(millis) * 1_000);
    Ok(())
}

pub fn aclrtSetOpExecuteTimeOutV2(cx: &Cx<'_>, micros: u64) -> Result<u64> {
    cx.context()?;
    set(cx, micros);
    Ok(rounded(micros, current_step(cx)))
}

pub fn aclrtGetOpTimeOutInterval(cx: &Cx<'_>) -> Result<u64> {
    cx.context()?;
    Ok(current_step(cx))
}

pub fn aclrtGetOpExecuteTimeout(cx: &Cx<'_>) -> Result<u32> {
    let set = cx.process.kernels.limits.micros.load(Ordering::Relaxed);
    let millis = rounded(set, current_step(cx)) / 1_000;
    Ok(u32::try_from(millis).unwrap_or(u32::MAX))
}
